"""IntervalDisplay: results one below the other."""

from dataclasses import replace

import numpy as np
import pytest
from displayed import labels_of, overlaps, result
from made_results import subgroups

from skboot.inference import ConfidenceInterval
from skboot.plots import IntervalDisplay
from skboot.results import ResultTable

plt = pytest.importorskip("matplotlib.pyplot")


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
    gap = replace(gap, _basis=replace(subgroups()["gap"]._basis, evidence=gap._evidence))
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


def test_baselines_far_away_become_arrows():
    display = many(2, naive_estimate=-20.0).plot()
    assert len(display.naive_points_[0].get_xdata()) == 0
    assert display.ax_.get_xlim()[0] > 0
    assert "baseline, off the axis" in labels_of(display.legend_)
    without = many(2, naive_estimate=-20.0).plot(show_naive=False)
    assert labels_of(without.legend_) == ["estimate and 95% CI"]


def test_names_are_shown_as_they_are_and_long_ones_are_cut():
    display = IntervalDisplay.from_results([result(), result()], names=["$a_b$", "x" * 99])
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == [r"\$a_b\$", "x" * 20 + "…" + "x" * 19]


def test_a_list_or_one_result_can_be_drawn():
    assert len(IntervalDisplay.from_results([result(), result()]).texts_) == 2
    display = IntervalDisplay.from_result(result(), show_values=False, name="share")
    assert display.texts_ == []
    assert display.ax_.get_xlabel() == "share"


def test_different_levels_are_written_beside_the_intervals():
    low = result(interval=ConfidenceInterval(0.7, 0.9, 0.8, "t"))
    display = IntervalDisplay.from_results([result(), low])
    assert "(80% CI 0.70 to 0.90)" in display.texts_[1].get_text()
    assert labels_of(display.legend_)[-1] == "estimate and interval"


def test_wrong_input_is_refused_with_what_to_give():
    with pytest.raises(ValueError, match="must hold a result"):
        IntervalDisplay.from_results([])
    with pytest.raises(ValueError, match="Got 1 name for 2 results"):
        IntervalDisplay.from_results([result(), result()], names=["a"])
