"""BootstrapDistributionDisplay: the picture of one result."""

import numpy as np
import pytest
from displayed import labels_of, result
from made_results import accuracy_result

from skboot.inference import ConfidenceInterval
from skboot.plots import BootstrapDistributionDisplay

plt = pytest.importorskip("matplotlib.pyplot")


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
    for said in ("estimate 0.800", "95% CI 0.", "(percentile)", "baseline 0.700"):
        assert said in labels


def test_a_baseline_far_away_is_named_but_does_not_squeeze_the_picture():
    display = result(naive_estimate=0.1).plot()
    assert display.naive_line_ is None
    assert display.ax_.get_xlim()[0] > 0.5
    assert any(label.startswith("← baseline 0.1") for label in labels_of(display.legend_))


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


def test_bars_that_the_interval_does_not_use_are_named_as_such():
    name = "scores on resamples, which the interval does not use"
    wilson = accuracy_result().plot()
    assert (wilson.histogram_name, labels_of(wilson.legend_)[-1]) == (name, name)
    used = result().plot()
    assert used.histogram_name == ""
    assert not [label for label in labels_of(used.legend_) if "resamples" in label]
    interval = ConfidenceInterval(1.0, 2.0, 0.9, "t")
    numbers = {"replicates": [1, 2, 3], "estimate": 1.5, "confidence_interval": interval}
    own = BootstrapDistributionDisplay(**numbers, histogram_name="my draws").plot()
    assert labels_of(own.legend_)[-1] == "my draws"
