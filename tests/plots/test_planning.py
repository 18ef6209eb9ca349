"""PlanDisplay: what other sizes would reach, and the size that is planned."""

import numpy as np
import pytest
from displayed import labels_of

from skboot import bootstrap_runs, bootstrap_score, plan_evaluation
from skboot.plots import PlanDisplay

Y = np.tile([0, 1, 1], 50)


def test_the_lines_meet_the_target_at_the_planned_size():
    pytest.importorskip("matplotlib")
    # Twenty errors, none of which follow each other.
    y_pred = np.where(77 * np.arange(150) % 150 < 20, 1 - Y, Y)
    plan = plan_evaluation(bootstrap_score(Y, y_pred), half_width=0.03)
    display = plan.plot()
    [line] = display.lines_
    at = np.interp(np.log(plan.n_units), np.log(line.get_xdata()), line.get_ydata())
    assert at == pytest.approx(0.03, rel=0.01)
    assert display.point_.get_xdata() == [plan.n_units]
    assert display.point_.get_ydata() == [0.03]
    band = display.band_.get_extents().transformed(display.ax_.transData.inverted())
    assert (band.x0, band.x1) == pytest.approx(plan.n_units_range, rel=1e-6)
    assert display.figure_ is display.ax_.figure
    assert display.plot(display.ax_).ax_ is display.ax_


def test_there_is_a_line_per_number_of_runs():
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    losses = rng.normal(size=200) + 0.1 * rng.normal(size=(10, 1)) + rng.normal(size=(10, 200))
    pilot = bootstrap_runs(None, losses, metric="mean", n_resamples=99, random_state=0)
    plan = plan_evaluation(pilot, half_width=0.17)
    display = PlanDisplay.from_result(plan)
    labels = labels_of(display.ax_.get_legend())
    assert [f"{runs} runs" for runs in plan._curves] == labels[: len(plan._curves)]
    assert str(plan.n_runs) in plan._curves
    ends = [line.get_ydata()[-1] for line in display.lines_]
    assert ends == sorted(ends, reverse=True)


def test_without_a_pilot_there_is_no_band():
    pytest.importorskip("matplotlib")
    display = plan_evaluation(proportion=0.9, half_width=0.02).plot(name="Test set")
    assert display.band_ is None
    assert display.ax_.get_title() == "Test set"
