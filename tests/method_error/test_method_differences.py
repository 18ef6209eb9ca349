"""Differences of methods: limits where nothing varies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from skboot import compare_methods
from skboot.inference import tango_interval

N = 25
LABEL, VALUE = np.arange(N) % 2, np.linspace(0, 1, N)
FEW = {"n_train_resamples": 20, "n_cv_repeats": 1, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore:compare_methods")


class Reads(ClassifierMixin, BaseEstimator):
    """Answers what stands in the first column, or the other label."""

    def __init__(self, is_wrong=False):
        self.is_wrong = is_wrong

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, 0].astype(int) ^ self.is_wrong


class Shifts(RegressorMixin, BaseEstimator):
    """Answers what stands in the first column, and more."""

    def __init__(self, by=0.0):
        self.by = by

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return X[:, 0] + self.by


def pair_of(first, second, y, **options):
    X = np.column_stack((y, np.arange(N))).astype(float)
    result = compare_methods({"first": first, "second": second}, X, y, **FEW, **options)
    return result.pairs[0]


@pytest.mark.parametrize("wins", [0, N, -N])
def test_limits_without_spread_are_tangos(wins):
    methods = Reads(is_wrong=wins < 0), Reads(is_wrong=wins > 0)
    for level in (0.8, 0.95):
        pair = pair_of(*methods, LABEL, confidence_level=level)
        expected = tango_interval(max(wins, 0), max(-wins, 0), N, confidence_level=level)
        assert (pair.difference, pair.standard_error) == (wins / N, 0)
        assert_allclose(pair.confidence_interval[:2], expected[:2], atol=1e-8)
        # McNemar's statistic is the root of the number of discordant pairs.
        assert_allclose(pair.p_value, 2 * stats.norm.sf(np.sqrt(abs(wins))))
    number = pair_of(Shifts(wins < 0), Shifts(wins > 0), VALUE, scoring="neg_mean_absolute_error")
    assert number.difference == wins / N
    assert np.isnan(number.confidence_interval[:2]).all()
    assert number.reason
    assert number.p_value == 1 if wins == 0 else np.isnan(number.p_value)
