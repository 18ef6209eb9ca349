"""The logistic line through probabilities, against other solvers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from skboot import bootstrap_score
from skboot.metrics import calibration_intercept, calibration_slope


def rows(n, seed, decimals=None):
    rng = np.random.default_rng(seed)
    x = 1.5 * rng.normal(size=n)
    y = (rng.random(n) < expit(0.7 * x - 0.4)).astype(int)
    prob = expit(x)
    return y, prob if decimals is None else np.round(prob, decimals)


@pytest.mark.parametrize("n", [60, 3000])
@pytest.mark.parametrize("weighted", [False, True])
def test_slope_and_intercept_are_those_of_other_solvers(n, weighted):
    y, prob = rows(n, 1)
    weights = np.random.default_rng(2).random(n) if weighted else None
    x = logit(prob)
    free = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(x[:, None], y, weights)
    found = calibration_slope(y, prob, sample_weight=weights)
    assert found == pytest.approx(free.coef_[0, 0], rel=1e-5)
    shift = brentq(lambda a: np.average(y - expit(x + a), weights=weights), -5, 5, xtol=1e-13)
    found = calibration_intercept(y, prob, sample_weight=weights)
    assert found == pytest.approx(shift, abs=1e-10)


@pytest.mark.parametrize(
    ("y", "prob"),
    [
        ([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9]),
        ([1, 1, 0, 0], [0.1, 0.2, 0.7, 0.9]),
        ([0, 0, 1, 1, 0], [0.1, 0.2, 0.5, 0.9, 0.5]),
        ([0, 1, 0, 1], [0.3, 0.3, 0.3, 0.3]),
    ],
    ids=["apart", "apart the other way", "but for one score", "one score"],
)
def test_there_is_no_slope_where_a_threshold_tells_the_classes_apart(y, prob):
    assert np.isnan(calibration_slope(y, prob))
    assert np.isfinite(calibration_intercept(y, prob))


def test_replicates_of_many_rows_are_the_slopes_of_repeated_rows():
    y, prob = rows(5000, 4)
    drawn = np.random.default_rng(5).integers(0, 5000, (12, 5000))
    options = {"resamples": drawn, "interval": "percentile", "confidence_level": 0.5}
    result = bootstrap_score(y, prob, metric=calibration_slope, **options)
    expected = [calibration_slope(y[one], prob[one]) for one in drawn]
    assert_allclose(result.bootstrap_distribution, expected, rtol=1e-11)


def test_probabilities_that_say_nothing_have_a_slope_of_0():
    assert calibration_slope([0, 1, 0, 1], [0.2, 0.2, 0.7, 0.7]) == pytest.approx(0, abs=1e-12)


def test_probabilities_of_0_and_1_are_moved_inwards():
    y, prob = rows(400, 6, decimals=1)
    assert {0.0, 1.0} & set(prob)
    assert np.isfinite(calibration_slope(y, prob))
