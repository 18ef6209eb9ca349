"""Blocks of columns: what is not out-of-bag does not count, and sums of variances."""

import numpy as np
import pytest

from skboot.method_error._columns import sum_of_variances, where_outside


def test_what_stands_in_a_resample_does_not_count_not_even_nan_or_infinity():
    rng = np.random.default_rng(0)
    outside = rng.random((40, 60)) < 0.4
    values = rng.normal(size=(40, 60))
    expected = np.where(outside, values, 0.0)
    for inside in (values, 7.0, np.nan, np.inf):
        found = where_outside(np.where(outside, values, inside), outside)
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(where_outside(outside.astype(np.int8), outside), outside)


def test_the_sum_of_variances_is_that_of_numpy():
    values = 1e3 + np.random.default_rng(0).normal(size=(40, 60))
    expected = np.var(values, axis=0, ddof=1).sum()
    assert sum_of_variances(values.copy()) == pytest.approx(expected, rel=1e-10)
