"""Inverse power laws, against curves that follow them and scipy's fits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import curve_fit

from skboot.inference.power_law import extended

X = np.array([40.0, 66.0, 100.0, 140.0, 180.0])


@pytest.mark.parametrize("power", [0.1, 0.5, 1.0, 2.0])
def test_a_law_of_a_power_of_the_grid_is_continued(power):
    values = np.array([0.2 + 3 * X**-power, 0.9 - 2 * X**-power])
    expected = [0.2 + 3 * 400**-power, 0.9 - 2 * 400**-power]
    assert_allclose(extended(X, values, np.ones(5), 400.0), expected, rtol=1e-9)


def test_a_noisy_curve_is_fitted_as_by_scipy():
    rng = np.random.default_rng(0)
    values = 0.3 + 2 * X**-0.7 + rng.normal(scale=2e-4, size=5)
    weights = np.array([1.0, 2.0, 3.0, 2.0, 1.0])

    def law(x, a, b, c):
        return a + b * x**-c

    bounds = ([-np.inf, -np.inf, 0.1], [np.inf, np.inf, 2.0])
    found = curve_fit(law, X, values, [0.3, 1.0, 0.5], sigma=weights**-0.5, bounds=bounds)[0]
    assert_allclose(extended(X, values[None], weights, 360.0), law(360.0, *found), atol=2e-4)


def test_values_may_be_shifted_and_scaled():
    values = np.random.default_rng(1).normal(size=(3, 5))
    one = extended(X, values, np.arange(1.0, 6), 300.0)
    assert_allclose(extended(X, 5 - 2 * values, np.arange(1.0, 6), 300.0), 5 - 2 * one, rtol=1e-8)


def test_a_level_curve_stays_level():
    assert_allclose(extended(X, np.full((1, 5), 0.7), np.ones(5), 400.0), 0.7)
