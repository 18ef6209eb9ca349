"""Differences of methods: limits where nothing varies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from skboot.inference import tango_interval
from skboot.method_error.method_differences import MethodsDifference


@pytest.mark.parametrize("wins", [0, 25, -25])
def test_limits_without_spread_are_tangos(wins):
    n = 25
    found = MethodsDifference(wins / n, 0.0, n - 1, n_units=n, span=1.0)
    for level in (0.8, 0.95):
        expected = tango_interval(max(wins, 0), max(-wins, 0), n, confidence_level=level)
        assert_allclose(found.interval(level), expected[:2], atol=1e-8)
    # McNemar's statistic is the root of the number of discordant pairs.
    assert_allclose(found.p_value, 2 * stats.norm.sf(np.sqrt(abs(wins))))
    number = MethodsDifference(wins / n, 0.0, n - 1, n_units=n)
    assert np.isnan(number.interval(0.95)).all()
    assert number.reason
    assert number.p_value == 1 if wins == 0 else np.isnan(number.p_value)
