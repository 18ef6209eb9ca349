"""`RankDisplay`: what it draws."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skboot import compare_systems
from skboot.plots import RankDisplay

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    systems = {f"s$_{k}$": rng.normal(0.15 * k, 1.0, size=300) for k in range(8)}
    options = {"metric": "mean", "greater_is_better": True, "random_state": 0}
    return compare_systems(None, systems, **options)


def test_every_system_is_drawn_with_its_interval(result):
    display = RankDisplay.from_result(result)
    rows = result.ranks().rows
    drawn = np.concatenate([each.get_xdata() for each in display.points_])
    assert sorted(drawn) == sorted(row.rank for row in rows)
    segments = [part for each in display.intervals_ for part in each.get_segments()]
    limits = sorted(tuple(part[:, 0]) for part in segments)
    assert limits == sorted((row.low, row.high) for row in rows)
    assert len(display.texts_) == 8
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[0] == r"s\$_7\$"


def test_those_that_may_be_the_best_are_apart(result):
    display = RankDisplay.from_result(result, show_values=False)
    best = [row.rank for row in result.ranks().rows if row.low == 1]
    assert_array_equal(display.points_[0].get_xdata(), best)
    assert display.texts_ == []


def test_given_axes_are_used(result):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    display = RankDisplay.from_result(result, ax, name="place")
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert ax.get_xlabel() == "place"


def test_the_legend_lies_within_the_figure(result):
    display = RankDisplay.from_result(result)
    display.figure_.canvas.draw()
    legend, figure = display.legend_.get_window_extent(), display.figure_.bbox
    assert figure.x0 <= legend.x0 < legend.x1 <= figure.x1
    assert "simultaneous 95% interval" in display.ax_.get_xlabel()
