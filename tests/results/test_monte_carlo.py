"""The Monte Carlo error is the spread of limits over other resamples."""

import math

import numpy as np
import pytest
from in_turn import in_turn
from made_results import RESAMPLED, ROWS, accuracy_result, mean_evidence, mean_result, subgroups

from skboot.inference import ConfidenceInterval


@pytest.fixture(scope="module")
def runs():
    return [mean_evidence(n_resamples=499, seed=seed) for seed in range(300)]


@in_turn(method=["percentile", "basic", "normal", "t", "bca", "studentized"])
def test_monte_carlo_error_is_the_spread_of_limits_over_bootstrap_runs(method, runs):
    # 300 runs know a spread to 4%, the mean of 30 estimates to about 5%: a false alarm at
    # 20% in one of twelve comparisons is less likely than 1 in 50 (fixed seeds).
    limits = np.array([mean_result(method, 0.9, run).confidence_interval[:2] for run in runs])
    errors = [mean_result(method, 0.9, run).monte_carlo_error for run in runs[:30]]
    np.testing.assert_allclose(np.mean(errors, axis=0), limits.std(axis=0, ddof=1), rtol=0.2)


@pytest.mark.parametrize("method", ["wilson", "wald", "clopper-pearson"])
def test_intervals_without_resamples_have_no_monte_carlo_error(method):
    assert accuracy_result(method=method).monte_carlo_error == (0, 0)


def test_monte_carlo_error_is_the_same_at_each_call_and_says_nothing_on_stderr():
    too_few = mean_evidence(n_resamples=19)
    with pytest.warns(UserWarning, match="too few"):
        results = [mean_result("percentile", 0.95, too_few) for _ in range(2)]
    assert results[0].monte_carlo_error == results[1].monte_carlo_error


def test_limits_cut_at_the_range_do_not_move_there():
    evidence = mean_evidence(bounds=(2.0, np.inf), estimate=2.0)
    interval = ConfidenceInterval(2.0, 3.0, 0.95, "percentile")
    cut = mean_result(evidence=evidence, confidence_interval=interval, _automatic=True)
    assert cut.monte_carlo_error.low == 0


def test_monte_carlo_error_exists_for_every_method():
    for method in RESAMPLED:
        # Percentiles are drawn in to half of the variance that the resamples have.
        robust = ROWS.var() / len(ROWS) / 2 if method == "two-way" else None
        # The logit is of a place between two ends.
        ends = (0.0, 100.0) if method == "logit-t" else (-np.inf, np.inf)
        smoothed = mean_evidence(seed=1).replicates[None].repeat(2, axis=0)
        known = {"left_out": (0.0, 0.0), "bounds": ends, "smoothed": smoothed}
        evidence = mean_evidence(robust_variance=robust, **known)
        assert min(mean_result(method, evidence=evidence).monte_carlo_error) > 0
    assert min(subgroups()["gap"].monte_carlo_error) > 0


def test_monte_carlo_error_is_unknown_where_the_interval_cannot_be_made_again():
    result = mean_result(confidence_interval=ConfidenceInterval(0, 1, 0.95, "components"))
    assert all(map(math.isnan, result.monte_carlo_error))
    assert "cannot be made again" in result.summary()
