"""ComparisonDisplay: what is drawn, for two systems and for twenty."""

from itertools import pairwise

import numpy as np
import pytest

from skboot import compare_systems

plt = pytest.importorskip("matplotlib.pyplot")

from skboot.plots import ComparisonDisplay  # noqa: E402


def compared(n_systems, **options):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=400)
    hard = rng.random(400) < 0.4
    systems = {
        f"system {k}": y ^ (hard & (rng.random(400) < 0.3 + 0.02 * k)) for k in range(n_systems)
    }
    return compare_systems(y, systems, n_resamples=199, random_state=0, **options)


def test_what_is_drawn_is_the_result():
    result = compared(3)
    display = ComparisonDisplay.from_result(result)
    drawn = {(x, y) for line in display.points_ for x, y in zip(*line.get_data(), strict=True)}
    assert drawn == {(pair.difference, k) for k, pair in enumerate(result.pairs)}
    segments = [s for lines in display.intervals_ for s in lines.get_segments()]
    limits = {tuple(segment[:, 0]) for segment in segments}
    assert limits == {pair.confidence_interval[:2] for pair in result.pairs}
    wide = [s for lines in display.simultaneous_intervals_ for s in lines.get_segments()]
    assert {tuple(segment[:, 0]) for segment in wide} == {
        pair.simultaneous_interval[:2] for pair in result.pairs
    }


def test_zero_is_always_in_sight():
    start, stop = ComparisonDisplay.from_result(compared(2)).ax_.get_xlim()
    assert start < 0 < stop


def overlaps(display):
    display.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    boxes.sort(key=lambda box: box.y0)
    return [lower.y1 - upper.y0 for lower, upper in pairwise(boxes)]


@pytest.mark.parametrize(("n_systems", "given"), [(2, False), (5, False), (20, False), (5, True)])
def test_labels_do_not_overlap_and_fit_the_figure(n_systems, given):
    ax = plt.subplots()[1] if given else None
    display = ComparisonDisplay.from_result(compared(n_systems), ax=ax)
    assert all(gap <= 1 for gap in overlaps(display))
    box = display.figure_.get_tightbbox()
    width, height = display.figure_.get_size_inches()
    assert box.x0 >= -0.01 and box.x1 <= width + 0.01  # noqa: PT018
    assert box.y0 >= -0.01 and box.y1 <= height + 0.01  # noqa: PT018


def test_of_twenty_systems_those_with_the_best_are_drawn():
    result = compared(20)
    display = ComparisonDisplay.from_result(result)
    assert len(display.differences) == 19
    assert display.names == list(result.ranking[1:])
    assert display.ax_.get_xlabel().startswith(f"{result.best} minus")
    assert len(ComparisonDisplay.from_result(result, pairs="all").differences) == 190


def test_a_reference_is_what_all_are_drawn_against():
    display = ComparisonDisplay.from_result(compared(4, reference="system 2"))
    assert len(display.differences) == 3


def test_systems_told_apart_have_another_marker():
    result = compared(5)
    display = ComparisonDisplay.from_result(result)
    told = sum(result.is_distinguishable(pair) for pair in result.pairs)
    assert 0 < told < len(result.pairs)
    assert [len(line.get_xdata()) for line in display.points_] == [told, 10 - told]
    assert len({line.get_marker() for line in display.points_}) == 2


def test_it_draws_into_given_axes_with_given_style():
    figure, ax = plt.subplots()
    display = compared(2).plot(ax=ax, name="gain", show_values=False)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert ax.get_xlabel() == "gain"
    assert display.texts_ == []


def test_unadjusted_comparisons_show_one_kind_of_interval():
    display = ComparisonDisplay.from_result(compared(3, adjust=None))
    labels = [text.get_text() for text in display.legend_.get_texts()]
    assert not any("simultaneous" in label for label in labels)


def metrics(**options):
    return compared(3, metric=["accuracy", "f1"], **options)


def test_several_comparisons_have_a_panel_each():
    table = metrics()
    display = table.plot()
    assert isinstance(display, ComparisonDisplay)
    assert [axes.get_xlabel() for axes in display.axes_] == [
        "difference in accuracy (larger is better)",
        "difference in F1 (larger is better)",
    ]
    assert display.ax_ is display.axes_[0]
    every = [pair for result in table.values() for pair in result.pairs]
    assert list(display.differences) == [pair.difference for pair in every]
    drawn = [x for line in display.points_ for x in line.get_xdata()]
    assert sorted(drawn) == sorted(pair.difference for pair in every)
    for axes, result in zip(display.axes_, table.values(), strict=True):
        places = {y for line in axes.lines if line in display.points_ for y in line.get_ydata()}
        assert places == set(range(len(result.pairs)))


def test_panels_of_subgroups_are_named_and_gaps_are_left_out():
    display = compared(2, by=np.arange(400) % 2).plot()
    labels = [axes.get_xlabel().partition(":")[0] for axes in display.axes_]
    assert labels == ["0", "1"]


def test_labels_of_panels_do_not_overlap_and_fit_the_figure():
    display = metrics().plot()
    display.figure_.canvas.draw()
    bottoms = [axes.get_tightbbox() for axes in display.axes_]
    assert bottoms[0].y0 >= bottoms[1].y1
    box = display.figure_.get_tightbbox()
    width, height = display.figure_.get_size_inches()
    assert box.x0 >= -0.01 and box.x1 <= width + 0.01  # noqa: PT018
    assert box.y0 >= -0.01 and box.y1 <= height + 0.01  # noqa: PT018


def test_results_without_a_comparison_are_refused():
    with pytest.raises(ValueError, match="must hold a comparison"):
        ComparisonDisplay.from_results({"A": compared(2).systems["system 0"]})


def test_unknown_pairs_are_refused():
    with pytest.raises(ValueError, match="'auto', 'all' or 'best'"):
        ComparisonDisplay.from_result(compared(2), pairs="some")
