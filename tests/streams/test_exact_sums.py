"""Sums of floats are exact, and so the same in any order."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skboot.streams.exact_sums import ExactSums

NUMBERS = st.floats(-1e40, 1e40, allow_nan=False) | st.integers(-(2**52), 2**52).map(float)


def total(values):
    """Sum of one value at a time."""
    result = ExactSums.zeros(1, 1)
    for value in values:
        result = result + ExactSums.of(np.array([[value]]))
    return result


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(NUMBERS, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_sums_are_exact_and_do_not_depend_on_the_order(values, random):
    exact = float(sum(map(Fraction, values)))
    shuffled = values[:]
    random.shuffle(shuffled)
    one, other = total(values).values(), total(shuffled).values()
    assert one == other
    # Digits are rounded one by one as they are put together: a few last places at most.
    np.testing.assert_allclose(one, [[exact]], rtol=1e-15)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_digits_themselves_are_the_same_in_any_order(values, random):
    shuffled = values[:]
    random.shuffle(shuffled)
    one, other = total(values), total(shuffled)
    assert one.lowest == other.lowest
    np.testing.assert_array_equal(one.digits, other.digits)


def test_integers_take_one_digit_and_losses_three():
    assert ExactSums.of(np.array([[3, -4]])).digits.shape == (1, 1, 2)
    assert ExactSums.of(np.array([[3.0, -4e15]])).digits.shape == (1, 1, 2)
    assert ExactSums.of(np.array([[0.1, 2e3 / 7]])).digits.shape == (3, 1, 2)


def test_sums_are_placed_at_rows_and_added_up_where_rows_are_equal():
    sums = ExactSums.of(np.array([[0.25, 1.0], [0.5, -3.0], [7.0, 2.0]]))
    placed = sums.placed(np.array([2, 0, 2]), 4)
    expected = [[0.5, -3.0], [0.0, 0.0], [7.25, 3.0], [0.0, 0.0]]
    np.testing.assert_array_equal(placed.values(), expected)
