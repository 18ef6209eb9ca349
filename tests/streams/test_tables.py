"""Parts of a state: tables of labels and of scores, ranges of rows, few rows."""

import numpy as np
import pytest

from skboot.streams.state import FewRows, joined_ranges
from skboot.streams.sums import (
    CellTable,
    ExactSums,
    bits_of,
    distinct_cells,
    joined_labels,
    scores_of,
    spare_bits,
)
from skboot.study.rows import Rows


def table_of(truth, scores, n_bins):
    labels, number = np.unique(truth, return_inverse=True)
    bits = bits_of(scores)
    spare = spare_bits(np.unique(bits), n_bins)
    first, second, code = distinct_cells(number, bits >> np.uint64(spare))
    sums = ExactSums.of(np.bincount(code)[:, None])
    return CellTable(labels, first, second, sums, spare)


def added(batches, n_bins):
    tables = [table_of(*batch, n_bins) for batch in batches]
    total = tables[0]
    for table in tables[1:]:
        total = (total + table).within(n_bins)
    return total


def test_bits_have_the_order_of_the_scores():
    scores = np.array([-np.inf, -1e300, -2.5, -1e-310, 0.0, 5e-324, 0.1, 2.0, 1e300, np.inf])
    bits = bits_of(scores)
    assert np.all(bits[1:] > bits[:-1])
    assert bits_of(np.array([-0.0])) == bits_of(np.array([0.0]))
    np.testing.assert_array_equal(bits_of(np.array([-2.5], np.float32)), bits[2:3])


def test_bits_tell_all_numbers_apart_and_give_them_back():
    rng = np.random.default_rng(0)
    steps = [np.nextafter(x, side) for x in (0.5, 1.0, 2.0**950) for side in (0, np.inf)]
    numbers = [
        rng.integers(0, 2**64, 100_000, dtype=np.uint64).view(np.float64),
        rng.random(50_000),
        1 - np.exp(-40 * rng.random(50_000)),
        1 + np.exp(-40 * rng.random(50_000)),
        [0.0, 0.5, 1.0, 2.0**950, np.finfo(float).max, np.finfo(float).tiny, *steps[:4]],
    ]
    scores = np.concatenate(numbers)
    scores = np.unique(scores[np.isfinite(scores)] + 0.0)
    bits = bits_of(scores)
    # From 2**950 on the last two bits are lost.
    told = scores < 2.0**950
    assert np.all(np.diff(bits[told].astype(object)) > 0)
    assert np.all(bits[1:] >= bits[:-1])
    np.testing.assert_array_equal(scores_of(bits)[told], scores[told])


def test_probabilities_near_one_are_told_apart_like_those_near_zero():
    away = np.geomspace(1e-12, 0.4, 400)
    for n_bins in (20, 100):
        sides = [bits_of(scores) for scores in (away, 1 - away)]
        counts = [len(np.unique(bits >> np.uint64(spare_bits(bits, n_bins)))) for bits in sides]
        assert abs(counts[0] - counts[1]) <= 2


def test_as_few_bits_are_dropped_as_leave_enough_room():
    distinct = np.arange(40, dtype=np.uint64)
    assert [spare_bits(distinct, n) for n in (40, 39, 20, 19, 10, 2)] == [0, 1, 1, 2, 2, 5]


@pytest.mark.parametrize("n_bins", [2, 17, 256, 5000])
def test_the_intervals_depend_on_the_set_of_scores_alone(n_bins):
    rng = np.random.default_rng(1)
    scores, truth = (
        rng.normal(size=1500) * 10.0 ** rng.integers(-3, 4, 1500),
        rng.integers(0, 2, 1500),
    )
    whole = table_of(truth, scores, n_bins)
    assert len(np.unique(whole.keys)) <= n_bins
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(1500)
        cuts = np.sort(np.random.default_rng(seed + 9).integers(1, 1500, 6))
        batches = [(truth[rows], scores[rows]) for rows in np.split(order, cuts) if len(rows)]
        found = added(batches, n_bins)
        assert found.shift == whole.shift
        np.testing.assert_array_equal(found.truth, whole.truth)
        np.testing.assert_array_equal(found.keys, whole.keys)
        np.testing.assert_array_equal(found.sums.digits, whole.sums.digits)


def test_distinct_scores_that_fit_have_intervals_of_their_own():
    scores = np.array([0.1, 0.1 + 1e-16, 0.3, np.nextafter(0.3, 1)])
    table = table_of(np.zeros(4, dtype=int), scores, 4)
    assert (table.shift, table.n_cells) == (0, len(np.unique(scores)))


def test_labels_of_decisions_are_numbered_anew_when_more_are_met():
    one = CellTable(
        np.array(["b", "d"]),
        np.array([0, 1]),
        np.array([1, 1], dtype=np.uint64),
        ExactSums.of(np.array([[3], [4]])),
    )
    other = CellTable(
        np.array(["a", "b", "d"]),
        np.array([0, 1]),
        np.array([2, 2], dtype=np.uint64),
        ExactSums.of(np.array([[10], [20]])),
    )
    both = one + other
    pairs = zip(both.labels[both.truth], both.labels[both.keys.astype(int)], strict=True)
    counted = dict(zip(pairs, both.sums.values()[:, 0], strict=True))
    assert counted == {("a", "d"): 10, ("b", "d"): 23, ("d", "d"): 4}


def test_labels_of_two_kinds_are_refused():
    with pytest.raises(ValueError, match="numbers in one batch and text"):
        joined_labels(np.array([0, 1]), np.array(["0", "1"]))


def test_a_million_batches_that_follow_one_another_are_one_range():
    found = np.array([[0, 9]])
    for k in range(1, 1000):
        found = joined_ranges(found, np.array([[10 * k, 10 * k + 9]]))
    many = np.column_stack((np.arange(10_000, 10**7, 10), np.arange(10_009, 10**7, 10)))
    every_other = joined_ranges(many[::2], many[1::2])
    assert joined_ranges(found, every_other).tolist() == [[0, 10**7 - 1]]


def test_what_is_neither_number_nor_text_is_not_kept():
    pairs = np.empty(2, dtype=object)
    pairs[:] = [(0, 1), (1, 0)]
    assert FewRows.of([Rows(pairs, pairs, None, None)], np.arange(2)) is None
