"""Pictures show the numbers of the results, and stay readable."""

import sys

import numpy as np
import pytest

from skboot.inference.confidence_interval import ConfidenceInterval
from skboot.inference.intervals import Evidence, confidence_interval
from skboot.plots import BootstrapDistributionDisplay, IntervalDisplay
from skboot.results import EvaluationResult, ResultTable, drawing

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def result(estimate=0.8, replicates=None, interval=None, **changes):
    if replicates is None:
        replicates = np.random.default_rng(0).binomial(100, estimate, 499) / 100
    bounds = changes.pop("bounds", (0.0, 1.0))
    evidence = Evidence(
        estimate=estimate, replicates=replicates, kind="rows", n_units=(100,), bounds=bounds
    )
    known = {
        "metric": "accuracy",
        "estimand": "system",
        "evidence": evidence,
        "confidence_interval": interval or confidence_interval(evidence, "percentile", 0.95),
        "automatic": False,
        "n_samples": 100,
        "unit": "row",
        "greater_is_better": True,
        "naive_estimate": 0.7,
    }
    return EvaluationResult(**{**known, **changes})


def labels_of(legend):
    return [text.get_text() for text in legend.get_texts()]


def overlaps(artists):
    """Pairs of artists whose boxes overlap in the drawn figure."""
    boxes = [artist.get_window_extent().shrunk(0.98, 0.9) for artist in artists]
    return [
        (a, b) for a in range(len(boxes)) for b in range(a) if boxes[a].overlaps(boxes[b])
    ]  # fmt: skip


# ------------------------------------------------------------------ one distribution


def test_the_bars_hold_every_defined_replicate():
    replicates = np.r_[np.nan, np.random.default_rng(0).binomial(100, 0.8, 498) / 100]
    display = result(replicates=replicates).plot()
    assert sum(bar.get_height() for bar in display.bars_) == 498
    assert "1 without a value left out" in display.ax_.get_ylabel()
    for bar in display.bars_:
        low, high = bar.get_x(), bar.get_x() + bar.get_width()
        assert bar.get_height() == np.sum((replicates > low) & (replicates < high))


def test_lines_stand_at_the_numbers_of_the_result():
    r = result()
    display = BootstrapDistributionDisplay.from_result(r)
    assert set(display.estimate_line_.get_xdata()) == {r.estimate}
    assert set(display.naive_line_.get_xdata()) == {0.7}
    box = display.interval_span_.get_extents().transformed(display.ax_.transData.inverted())
    np.testing.assert_allclose((box.x0, box.x1), r.confidence_interval[:2])
    low, high = display.ax_.get_xlim()
    assert low < 0.7 < r.confidence_interval.high < high


def test_the_picture_says_what_it_shows():
    display = result(n_samples=100).plot()
    assert display.ax_.get_xlabel() == "Accuracy on 100 test rows (larger is better)"
    assert "Number of resamples" in display.ax_.get_ylabel()
    labels = " ".join(labels_of(display.legend_))
    for said in ("estimate 0.800", "95 % CI 0.", "(percentile)", "naive reference 0.700"):
        assert said in labels


def test_a_reference_far_away_is_named_but_does_not_squeeze_the_picture():
    display = result(naive_estimate=0.1).plot()
    assert display.naive_line_ is None
    assert display.ax_.get_xlim()[0] > 0.5
    assert any(label.startswith("← naive reference 0.1") for label in labels_of(display.legend_))


def test_the_legend_covers_no_bar():
    for size in ((6.4, 4.8), (4, 3)):
        figure, ax = plt.subplots(figsize=size, layout="constrained")
        display = result().plot(ax=ax)
        assert display.figure_ is figure
        figure.draw_without_rendering()
        legend = display.legend_.get_window_extent()
        highest = max(bar.get_window_extent().y1 for bar in display.bars_)
        assert legend.y0 >= highest


def test_equal_replicates_are_one_bar_with_room_beside_it():
    r = result(1.0, np.ones(99), ConfidenceInterval(1.0, 1.0, 0.95, "percentile"))
    display = r.plot()
    assert [bar.get_height() for bar in display.bars_] == [99]
    low, high = display.ax_.get_xlim()
    assert low < 1 < high
    assert display.bars_[0].get_width() < (high - low) / 3
    assert any("no width" in label for label in labels_of(display.legend_))


@pytest.mark.parametrize(
    ("low", "high"), [(-np.inf, 0.9), (0.7, np.inf), (np.nan, np.nan), (0.7, 0.9)]
)
def test_limits_that_are_no_numbers_can_be_drawn(low, high):
    display = result(interval=ConfidenceInterval(low, high, 0.95, "studentized")).plot()
    assert np.isfinite(display.ax_.get_xlim()).all()
    display.figure_.draw_without_rendering()
    assert (display.interval_span_ is None) == np.isnan(low)


def test_a_result_without_a_value_is_drawn_as_such():
    undefined = ConfidenceInterval(np.nan, np.nan, 0.95, "undefined")
    display = result(np.nan, np.full(9, np.nan), undefined, naive_estimate=None).plot()
    display.figure_.draw_without_rendering()
    assert any("undefined" in label for label in labels_of(display.legend_))


def test_style_and_bins_can_be_chosen():
    display = result().plot(
        bins=7,
        name="share",
        show_naive=False,
        hist_kwargs={"color": "red"},
        line_kwargs={"linewidth": 5},
        interval_kwargs={"alpha": 0.9},
    )
    assert len(display.bars_) == 7
    assert display.bars_[0].get_facecolor()[:3] == (1, 0, 0)
    assert display.estimate_line_.get_linewidth() == 5
    assert display.interval_span_.get_alpha() == 0.9
    assert display.naive_line_ is None
    assert display.ax_.get_xlabel() == "share"


def test_a_display_can_be_made_from_numbers():
    interval = ConfidenceInterval(1.0, 2.0, 0.9, "t")
    display = BootstrapDistributionDisplay(
        replicates=[1, 2, 3], estimate=1.5, confidence_interval=interval, name="$x$"
    ).plot()
    assert display.ax_.get_xlabel() == r"\$x\$"


@pytest.mark.parametrize("n_rows", [20, 200, 1000, 30_000])
def test_each_bar_of_a_proportion_holds_as_many_possible_values(n_rows):
    # Bins that beat with the lattice would make a comb of an even distribution.
    values = np.arange(int(0.8 * n_rows), int(0.9 * n_rows)) / n_rows
    _, heights, widths = drawing.bars(np.repeat(values, 3))
    assert len(heights) <= 60
    assert heights.sum() == 3 * len(values)
    assert len(set(heights[:-1])) <= 1
    np.testing.assert_allclose(widths, widths[0])


def test_values_off_any_lattice_are_binned():
    values = np.random.default_rng(0).normal(size=1999)
    centres, heights, widths = drawing.bars(values)
    assert heights.sum() == 1999
    assert 10 < len(centres) < 200
    np.testing.assert_allclose(centres[0] - widths[0] / 2, values.min())


# ------------------------------------------------------------------ several intervals


def many(n, **changes):
    return ResultTable(
        {
            f"speaker number {k}": result(
                0.7 + 0.01 * k, metric=f"accuracy (speaker number {k})", **changes
            )
            for k in range(n)
        }
    )


@pytest.mark.parametrize("n", [1, 2, 20])
def test_intervals_and_points_are_those_of_the_results(n):
    table = many(n)
    display = table.plot()
    [points], [lines] = display.points_, display.intervals_
    np.testing.assert_array_equal(points.get_xdata(), [r.estimate for r in table.values()])
    np.testing.assert_array_equal(points.get_ydata(), np.arange(n))
    drawn = [segment[:, 0] for segment in lines.get_segments()]
    np.testing.assert_array_equal(drawn, [r.confidence_interval[:2] for r in table.values()])
    np.testing.assert_array_equal(display.naive_points_[0].get_xdata(), [0.7] * n)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == list(table)
    top, bottom = display.ax_.transData.transform([(0, 0), (0, 1)])[:, 1]
    assert top > bottom  # the first on top


@pytest.mark.parametrize("n", [2, 20])
@pytest.mark.parametrize("size", [None, (7, 5)])
def test_no_labels_overlap(n, size):
    ax = plt.subplots(figsize=size, layout="constrained")[1] if size else None
    display = IntervalDisplay.from_results(many(n), ax)
    display.figure_.draw_without_rendering()
    assert not overlaps(display.ax_.get_yticklabels())
    assert not overlaps(display.texts_)
    width = display.ax_.get_window_extent().width
    assert width > 0.3 * display.figure_.bbox.width
    figure = display.figure_.bbox
    for text in (*display.texts_, *display.ax_.get_yticklabels(), display.legend_):
        box = text.get_window_extent()
        assert figure.x0 <= box.x0 < box.x1 <= figure.x1


def subgroup_results():
    gap = result(
        0.05,
        np.random.default_rng(0).normal(0.05, 0.02, 99),
        ConfidenceInterval(0.01, 0.09, 0.95, "max-t"),
        metric="accuracy gap (women - men)",
        bounds=(-1.0, 1.0),
        greater_is_better=None,
        naive_estimate=None,
    )
    groups = {
        name: result(value, metric=f"accuracy ({name})")
        for name, value in (("women", 0.85), ("men", 0.8))
    }
    return ResultTable({**groups, "gap": gap})


def test_a_gap_has_its_own_axis_that_shows_zero():
    display = subgroup_results().plot()
    scores, gap = display.axes_
    assert scores.get_xlabel() == "accuracy (larger is better)"
    assert gap.get_xlabel() == "difference between two subgroups"
    assert gap.get_xlim()[0] < 0
    assert [text.get_text() for text in gap.get_yticklabels()] == ["accuracy gap (women - men)"]
    assert display.ax_ is scores


def test_metrics_of_one_range_share_an_axis_and_others_do_not():
    table = ResultTable(
        {
            "accuracy": result(),
            "roc_auc": result(metric="roc_auc"),
            "rmse": result(metric="rmse", bounds=(0, np.inf), greater_is_better=False),
        }
    )
    display = table.plot()
    assert [axes.get_xlabel() for axes in display.axes_] == [
        "score (larger is better)",
        "RMSE (smaller is better)",
    ]
    names = [text.get_text() for text in display.axes_[0].get_yticklabels()]
    assert names == ["accuracy", "ROC AUC"]


def test_nested_results_are_told_apart():
    table = ResultTable({"accuracy": subgroup_results(), "f1": result(metric="f1")})
    display = table.plot()
    names = [text.get_text() for text in display.axes_[0].get_yticklabels()]
    assert names == ["accuracy, women", "accuracy, men", "F1"]


def test_several_panels_divide_the_axes_that_are_given():
    figure, ax = plt.subplots(1, 2)
    display = subgroup_results().plot(ax=ax[0])
    place = ax[0].get_subplotspec().get_position(figure)
    for axes in display.axes_:
        box = axes.get_position()
        assert place.x0 <= box.x0 <= box.x1 <= place.x1 + 1e-9
        assert place.y0 - 1e-9 <= box.y0 <= box.y1 <= place.y1 + 1e-9


def test_infinite_and_undefined_limits_are_drawn_as_such():
    table = ResultTable(
        {
            "low": result(interval=ConfidenceInterval(-np.inf, 0.9, 0.95, "t")),
            "high": result(interval=ConfidenceInterval(0.7, np.inf, 0.95, "t")),
            "none": result(interval=ConfidenceInterval(np.nan, np.nan, 0.95, "t")),
            "nothing": result(np.nan, np.full(9, np.nan)),
        }
    )
    display = table.plot()
    display.figure_.draw_without_rendering()
    assert len(display.intervals_[0].get_segments()) == 2
    assert np.isfinite(display.ax_.get_xlim()).all()
    texts = [text.get_text() for text in display.texts_]
    assert texts[2].endswith("(no interval)")
    assert texts[3] == "undefined"


def test_references_far_away_become_arrows():
    display = many(2, naive_estimate=-20.0).plot()
    assert len(display.naive_points_[0].get_xdata()) == 0
    assert display.ax_.get_xlim()[0] > 0
    assert "naive reference, off the axis" in labels_of(display.legend_)
    without = many(2, naive_estimate=-20.0).plot(show_naive=False)
    assert labels_of(without.legend_) == ["estimate and 95 % CI"]


def test_names_are_shown_as_they_are_and_long_ones_are_cut():
    display = IntervalDisplay.from_results([result(), result()], names=["$a_b$", "x" * 99])
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == [r"\$a_b\$", "x" * 39 + "…"]


def test_a_list_or_one_result_can_be_drawn():
    assert len(IntervalDisplay.from_results([result(), result()]).texts_) == 2
    display = IntervalDisplay.from_result(result(), show_values=False, name="share")
    assert display.texts_ == []
    assert display.ax_.get_xlabel() == "share"


def test_different_levels_are_written_beside_the_intervals():
    low = result(interval=ConfidenceInterval(0.7, 0.9, 0.8, "t"))
    display = IntervalDisplay.from_results([result(), low])
    assert "(80 % CI 0.70 to 0.90)" in display.texts_[1].get_text()
    assert labels_of(display.legend_)[-1] == "estimate and interval"


def test_wrong_input_is_refused_with_what_to_give():
    with pytest.raises(ValueError, match="must hold a result"):
        IntervalDisplay.from_results([])
    with pytest.raises(ValueError, match="Got 1 names for 2 results"):
        IntervalDisplay.from_results([result(), result()], names=["a"])


def test_without_matplotlib_displays_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (BootstrapDistributionDisplay.from_result, IntervalDisplay.from_result):
        with pytest.raises(ImportError, match=r"Display.plot needs matplotlib.*skboot\[plot\]"):
            draw(result())
