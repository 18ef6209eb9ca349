"""Numbers that results hold, and sizes that they are divided by."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skboot._base.values import power_of_two, repeated, size_of


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("n", [0, 1, 1000])
def test_a_number_is_read_many_times_and_stands_once_in_memory(number, n):
    values = repeated(number, n)
    assert_array_equal(values, np.full(n, number, np.int64), strict=True)
    assert values.strides == (0,)
    with pytest.raises(ValueError, match="read-only"):
        values[:] = 2


@pytest.mark.parametrize("size", [5e-324, 1e-300, 0.3, 1.0, 1.5, 1e300, 1.7e308])
def test_a_size_is_within_a_factor_of_two_of_the_power_above_it(size):
    above = power_of_two(size)
    assert math.frexp(above)[0] == 0.5
    assert 0.5 <= size / above < 2
    assert size_of([-size, 0.0]) == size_of((size,)) == above


@pytest.mark.parametrize("size", [0.0, np.inf, np.nan])
def test_what_has_no_size_is_divided_by_one(size):
    assert power_of_two(size) == size_of([size]) == 1.0
