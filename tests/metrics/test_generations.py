"""pass@k is the share of sets of k generations that hold a correct one."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skboot.metrics import pass_at_k


@pytest.mark.parametrize("k", [1, 2, 5])
def test_it_is_the_share_of_the_sets_of_k_that_hold_a_correct_one(k):
    for n in range(k, 8):
        for c in range(n + 1):
            sets = list(combinations([1] * c + [0] * (n - c), k))
            assert_allclose(pass_at_k([c], n, k), [np.mean([max(one) for one in sets])], atol=1e-15)


@pytest.mark.parametrize(
    ("c", "n", "k"),
    [(1, 10**6, 1), (1, 10**5, 100), (3, 5000, 7), (2000, 5000, 3), (4999, 5000, 1)],
)
def test_it_keeps_its_digits_where_it_is_small_or_generations_are_many(c, n, k):
    exact = 1 - Fraction(comb(n - c, k), comb(n, k))
    assert_allclose(pass_at_k([c], [n], k), [float(exact)], rtol=1e-12)


def test_questions_may_have_different_numbers_of_generations():
    values = pass_at_k([0, 3, 4, 3], [5, 6, 4, 30], 4)
    exact = [1 - comb(n - c, 4) / comb(n, 4) for c, n in [(0, 5), (3, 6), (4, 4), (3, 30)]]
    assert_allclose(values, exact, rtol=1e-14)
    assert not np.signbit(values[0])


def test_it_is_unbiased():
    # The mean over all outcomes of 8 generations that are each correct with probability .3.
    weights = [comb(8, c) * 0.3**c * 0.7 ** (8 - c) for c in range(9)]
    assert_allclose(pass_at_k(range(9), 8, 3) @ weights, 1 - 0.7**3, rtol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (([1, 2], 4, 5), "n_samples.*at least k, 5.*Got 4"),
        (([1, 5], 4, 1), "n_correct.*at most n_samples.*Got 5 for question 1"),
        (([1, 2], [4, 4, 4], 1), "n_samples.*3 numbers"),
        (([0.5], 4, 1), "n_correct.*whole numbers"),
        (([-1], 4, 1), "n_correct.*whole numbers"),
        (([1], 4, 0), "k.*at least 1"),
        (([[1, 2]], 4, 1), "n_correct"),
        (([1], "four", 1), "n_samples"),
    ],
)
def test_counts_that_cannot_be_are_refused(arguments, match):
    with pytest.raises(ValueError, match=f"(?s){match}"):
        pass_at_k(*arguments)
