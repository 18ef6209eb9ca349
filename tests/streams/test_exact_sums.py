"""Sums of floats are exact, and so the same in any order."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skboot.streams.sums import ExactSums

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


# ------------------------------------------------------------------ memory


@pytest.mark.parametrize("value", [2**31 - 1, -(2**31), 2**31, -(2**31) - 1, 2**60])
def test_digits_take_four_bytes_where_all_of_them_fit(value):
    for values in (np.array([[value, 1]]), np.array([[float(value), 1.0]])):
        sums = ExactSums.of(values)
        fits = -(2**31) <= value < 2**31
        assert sums.digits.dtype == (np.int32 if fits else np.int64)
        np.testing.assert_array_equal(sums.values(), [[float(value), 1.0]])
    assert ExactSums.of(np.array([[0.1, 2e3 / 7]])).digits.dtype == np.int32


def test_sums_that_outgrow_four_bytes_take_eight_and_go_back():
    large = ExactSums.of(np.full((300, 999), 2**31 - 1, dtype=np.int32))
    both = large + large
    assert both.digits.dtype == np.int64
    np.testing.assert_array_equal(both.values(), np.full((300, 999), 2.0**32 - 2))
    less = both + ExactSums.of(np.full((300, 999), -(2**31)))
    assert less.digits.dtype == np.int32
    np.testing.assert_array_equal(less.digits[0], np.full((300, 999), 2**31 - 2))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 5), NUMBERS), min_size=1, max_size=9), st.integers(0, 8))
def test_both_are_added_up_at_their_rows_as_fractions_are(placed, n_first):
    expected = [Fraction(0)] * 6
    for row, value in placed:
        expected[row] += Fraction(value)
    parts = []
    for own in (placed[:n_first], placed[n_first:]):
        rows = np.array([row for row, _ in own], dtype=np.intp)
        parts.append((ExactSums.of(np.array([[value] for _, value in own]).reshape(-1, 1)), rows))
    (first, rows), (second, its_rows) = parts
    found = first.added_at(rows, second, its_rows, 6)
    np.testing.assert_allclose(found.values()[:, 0], [float(one) for one in expected], rtol=1e-15)


@pytest.mark.parametrize("kind", [np.int32, np.float64])
def test_adding_needs_little_more_memory_than_the_sums_themselves(kind):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 1000, (2000, 1000)).astype(kind)
    if kind == np.float64:
        values /= 7
    one, other = ExactSums.of(values), ExactSums.of(values[:1990])
    # Some rows are in one of both alone, as new intervals of scores are.
    rows = np.delete(np.arange(2010), np.arange(0, 2000, 200))
    tracemalloc.start()
    try:
        both = one.added_at(rows, other, np.arange(5, 1995), 2010)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert both.digits.itemsize == 4
    assert peak < 1.5 * both.digits.nbytes
