"""`CriticalDifferenceDisplay`: mean ranks, and bars that join those which do not differ."""

from itertools import pairwise

import numpy as np
import pytest

from skboot import compare_across
from skboot.plots import CriticalDifferenceDisplay

pytest.importorskip("matplotlib")

RANKS = {"A": 3.5, "B": 1.2, "C": 2.0, "D": 3.3}


def display(cd=1.0, **options):
    shown = CriticalDifferenceDisplay(
        mean_ranks=list(RANKS.values()), names=list(RANKS), critical_difference=cd
    )
    return shown.plot(**options)


def test_bars_join_the_methods_that_are_less_than_the_critical_difference_apart():
    assert display().groups_ == [("B", "C"), ("D", "A")]
    # Demsar (2006, section 3.2.2): longest runs, none inside another.
    assert display(1.35).groups_ == [("B", "C"), ("C", "D"), ("D", "A")]
    assert display(3).groups_ == [("B", "C", "D", "A")]
    assert display(0.1).groups_ == []


def test_a_bar_reaches_from_its_first_to_its_last_mean_rank():
    shown = display(1.35)
    assert [tuple(bar.get_xdata()) for bar in shown.bars_] == [(1.2, 2.0), (2.0, 3.3), (3.3, 3.5)]
    heights = [bar.get_ydata()[0] for bar in shown.bars_]
    assert len(set(heights)) == 3


def test_the_best_is_first_and_each_line_starts_at_its_mean_rank():
    shown = display()
    assert [line.get_xdata()[0] for line in shown.lines_] == sorted(RANKS.values())
    assert [text.get_text() for text in shown.texts_] == [
        "B  1.20",
        "C  2.00",
        "3.30  D",
        "3.50  A",
    ]


def test_the_scale_has_the_length_of_the_critical_difference():
    start, stop = display().scale_.get_xdata()
    assert stop - start == 1


def test_a_comparison_brings_its_mean_ranks_and_critical_difference():
    scores = np.random.default_rng(0).normal(np.arange(3), size=(12, 3))
    result = compare_across(
        scores, datasets=range(12), methods=["A", "B", "$C$"], greater_is_better=True
    )
    shown = CriticalDifferenceDisplay.from_result(result, name="rank")
    ranks = result.mean_ranks()
    assert shown.critical_difference == ranks.critical_difference
    assert shown.names == list(ranks)
    assert shown.ax_.get_title() == "rank"
    assert any(r"\$C\$" in text.get_text() for text in shown.texts_)


@pytest.mark.parametrize("n", [5, 60])
def test_long_names_leave_room_for_the_axis_and_its_numbers_do_not_touch(n):
    names = [f"a method with a long name that goes on and on, number {k}" for k in range(n)]
    ranks = np.linspace(1.2, n - 0.2, n)
    shown = CriticalDifferenceDisplay(mean_ranks=ranks, names=names, critical_difference=1.5).plot()
    figure, axes = shown.figure_, shown.ax_
    figure.canvas.draw()
    assert axes.get_window_extent().width / figure.dpi > 2.5
    numbers = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert all(one.x1 < other.x0 for one, other in pairwise(numbers))
    # The names differ at their ends, which are kept.
    assert len({text.get_text() for text in shown.texts_}) == n
    scale = axes.texts[-1].get_window_extent()
    assert not any(scale.overlaps(each) for each in numbers)


def test_axes_of_the_caller_are_used():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    shown = display(ax=ax, line_kwargs={"linewidth": 3}, bar_kwargs={"color": "red"})
    assert shown.ax_ is ax
    assert shown.figure_ is ax.figure
    assert shown.lines_[0].get_linewidth() == 3
    assert shown.bars_[0].get_color() == "red"


def test_the_critical_difference_is_that_of_autorank():
    autorank = pytest.importorskip("autorank")
    pandas = pytest.importorskip("pandas")
    scores = np.random.default_rng(1).exponential(size=(15, 5)) + np.arange(5) / 2
    result = compare_across(
        scores, datasets=range(15), methods=list("ABCDE"), greater_is_better=True
    )
    frame = pandas.DataFrame(scores, columns=list("ABCDE"))
    theirs = autorank.autorank(frame, verbose=False, force_mode="nonparametric", order="descending")
    ours = result.mean_ranks()
    assert ours.critical_difference == pytest.approx(theirs.cd, rel=1e-4)
    for name, row in ours.items():
        assert row.mean_rank == pytest.approx(theirs.rankdf.loc[name, "meanrank"])


def test_the_critical_difference_parts_what_scikit_posthocs_parts():
    posthocs = pytest.importorskip("scikit_posthocs")
    for seed in range(3):
        scores = np.random.default_rng(seed).normal(size=(15, 5)) + np.arange(5) / 2
        result = compare_across(
            scores, datasets=range(15), methods=list("ABCDE"), greater_is_better=True
        )
        p = posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
        ranks = np.array([result.mean_ranks()[name].mean_rank for name in "ABCDE"])
        apart = np.abs(ranks[:, None] - ranks) > result.mean_ranks().critical_difference
        assert np.array_equal(apart, p < 0.05)
