"""Weights of rows by what they hold: pairs of labels, or labels and intervals of a score.

A `Table` of labels has a cell for each pair of truth and decision that occurs. One of scores has a
cell for each class in each interval of the score. While the distinct scores fit, each has its own;
then intervals are those of equal leading bits of the floating-point number, and one bit is dropped
wherever they become too many. Which bits are left depends on the set of scores alone, so that a
table does not depend on the order of rows, batches or shards. Between one half and one the bits are
those of the distance from one, so that probabilities have intervals as fine near one as near zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.arrays import EXACT
from .exact_sums import ExactSums

# Pairs of keys per row up to which those that occur are counted, and not sorted.
_KEYS_PER_ROW = 4
_SIGN = np.uint64(1 << 63)
# Of numbers from one half to one the distances from one take 52 binades more, which are made up for
# where numbers are largest: of those from 2**950 on the last two bits are not told apart.
_MORE = np.uint64(52 << 52)
_HALF, _ONE, _LARGE = (np.float64(x).view(np.uint64) for x in (0.5, 1.0, 2.0**950))
# The distance that one has from itself, below that of all other numbers.
_LEAST_DISTANCE = 2.0**-54


@dataclass(frozen=True, eq=False)
class Table:
    """Sums of cells, in rising order of their keys.

    Attributes
    ----------
    labels : ndarray of shape (n_labels,)
        Labels that occur, sorted.
    truth : ndarray of shape (n_cells,)
        Number of the true label of each cell.
    other : ndarray of shape (n_cells,)
        Number of the decision, or the leading bits of the score.
    sums : ExactSums
        Of (n_cells, 1 + n_resamples): the weight in the data, then in each resample.
    shift : int or None
        Bits of a score that are dropped; None for decisions.
    ends : ndarray of shape (2, n_cells) or None
        All bits of the least and of the greatest score of each cell.
    """

    labels: NDArray[Any]
    truth: NDArray[np.int64]
    other: NDArray[np.uint64]
    sums: ExactSums
    shift: int | None = None
    ends: NDArray[np.uint64] | None = None

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.truth)

    def __add__(self, other: Table) -> Table:
        """Return the table of the rows of both, of scores still in as many intervals."""
        labels = joined_labels(self.labels, other.labels)
        both = [one._in(labels) for one in (self, other)]
        shift = self.shift
        if shift is not None and other.shift is not None:
            shift = max(shift, other.shift)
            both = [one.coarser(shift) for one in both]
        truth, kept, at = distinct_cells(
            np.concatenate([one.truth for one in both]), np.concatenate([one.other for one in both])
        )
        own, its = np.split(at, [both[0].n_cells])
        sums = both[0].sums.added_at(own, both[1].sums, its, len(truth))
        ends = None
        if both[0].ends is not None and both[1].ends is not None:
            ends = joined_ends(np.hstack([both[0].ends, both[1].ends]), at, len(truth))
        return Table(labels, truth, kept, sums, shift, ends)

    def _in(self, labels: NDArray[Any]) -> Table:
        """Return the table with numbers among more labels."""
        number = np.searchsorted(labels, self.labels)
        decision = self.other
        if self.shift is None:
            decision = number[self.other.astype(np.intp)].astype(np.uint64)
        return replace(self, labels=labels, truth=number[self.truth], other=decision)

    def coarser(self, shift: int) -> Table:
        """Return the table with at least so many bits dropped."""
        if self.shift is None or shift <= self.shift:
            return self
        truth, kept, at = distinct_cells(self.truth, self.other >> np.uint64(shift - self.shift))
        ends = None if self.ends is None else joined_ends(self.ends, at, len(truth))
        return Table(self.labels, truth, kept, self.sums.placed(at, len(truth)), shift, ends)

    def within(self, n_bins: int) -> Table:
        """Return the table with as few bits dropped as leave no more than ``n_bins`` intervals."""
        assert self.shift is not None
        return self.coarser(self.shift + spare_bits(np.unique(self.other), n_bins))

    def edges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least and the greatest score in the interval of each cell, (n_cells,) each."""
        assert self.ends is not None
        interval = self.rank().astype(np.intp)
        ends = joined_ends(self.ends, interval, int(interval.max(initial=-1)) + 1)
        low, high = (scores_of(end)[interval] for end in ends)
        return low, high

    def rank(self) -> NDArray[np.float64]:
        """Return the number of the interval of each cell, (n_cells,): a score of the same order."""
        return np.unique(self.other, return_inverse=True)[1].reshape(-1).astype(np.float64)


def joined_ends(ends: NDArray[np.uint64], at: NDArray[np.intp], n: int) -> NDArray[np.uint64]:
    """Return the least of the least, and the greatest of the greatest, at each of n places."""
    found = np.empty((2, n), dtype=np.uint64)
    found[0], found[1] = ~np.uint64(0), 0
    np.minimum.at(found[0], at, ends[0])
    np.maximum.at(found[1], at, ends[1])
    return found


def distinct_cells(
    truth: NDArray[np.int64], other: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.intp]]:
    """Return both keys of each cell that occurs, in rising order, and the cell of each row."""
    values, number = np.unique(other, return_inverse=True)
    return cells_of(truth, values, number.reshape(-1))


def cells_of(
    truth: NDArray[np.int64], values: NDArray[np.uint64], number: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.intp]]:
    """Return the same for rows whose second keys are numbered in rising order."""
    key, n_values = truth * len(values) + number, max(len(values), 1)
    n_keys = n_values * (int(truth.max(initial=0)) + 1)
    if n_keys <= _KEYS_PER_ROW * len(key):
        occurs = np.bincount(key, minlength=n_keys) > 0
        cells, at = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[key]
    else:
        cells, at = np.unique(key, return_inverse=True)
    first, second = np.divmod(cells, n_values)
    return first, values[second], at.reshape(-1)


class CodedScores(NamedTuple):
    """Cells of scores: what a `Table` has of them, and the cell of each row."""

    truth: NDArray[np.int64]
    other: NDArray[np.uint64]
    shift: int
    ends: NDArray[np.uint64]
    at: NDArray[np.intp]


def cells_within(
    truth: NDArray[np.int64], bits: NDArray[np.uint64], shift: int, n_bins: int
) -> CodedScores:
    """Return cells of scores in at most so many intervals, of at least ``shift`` dropped bits."""
    distinct, number = np.unique(bits, return_inverse=True)
    kept = distinct >> np.uint64(shift)
    spare = spare_bits(np.unique(kept), n_bins)
    kept = kept >> np.uint64(spare)
    starts = np.flatnonzero(np.append(True, kept[1:] != kept[:-1])[: len(kept)])
    interval = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(kept))))
    first, second, at = cells_of(truth, kept[starts], interval[number.reshape(-1)])
    ends = joined_ends(np.broadcast_to(bits, (2, len(bits))), at, len(first))
    return CodedScores(first, second, shift + spare, ends, at)


def joined_labels(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return the labels of both, sorted; all are numbers, or all are text."""
    if "U" in (first.dtype.kind, second.dtype.kind) and first.dtype.kind != second.dtype.kind:
        if len(first) and len(second):
            raise ValueError("Labels are numbers in one batch and text in another.")
        return first if len(first) else second
    for one, other in ((first, second), (second, first)):
        if not (one.dtype.kind == "f" and other.dtype.kind in "iu" and len(one) and len(other)):
            continue
        # numpy would make floats of all of them, which merge large integers.
        if max(float(np.abs(one).max()), abs(int(other.max())), abs(int(other.min()))) >= EXACT:
            raise ValueError("Labels of 2**53 or more are floats in one batch, not in another.")
    return np.union1d(first, second)


def in_text(labels: Any) -> Any:
    """Return labels in bytes as text, and any others as they are."""
    if labels is None or labels.ndim != 1 or labels.dtype.kind not in "SO":
        return labels
    of_bytes = labels.dtype.kind == "S" or all(isinstance(one, bytes) for one in labels)
    return np.char.decode(labels.astype(bytes), "latin-1") if of_bytes else labels


def bits_of(scores: NDArray[Any]) -> NDArray[np.uint64]:
    """Return integers in the order of the scores, whose leading bits are those of the scores."""
    # Adding zero makes the negative zero the positive one.
    numbers = scores.astype(np.float64) + 0.0
    bits = numbers.view(np.uint64)
    is_negative = bits >= _SIGN
    found = np.where(is_negative, ~bits, bits | _SIGN)
    upper = np.flatnonzero(~is_negative & (bits > _HALF))
    if len(upper):
        own = bits[upper]
        distance = np.maximum(1.0 - numbers[upper], _LEAST_DISTANCE).view(np.uint64)
        beyond = np.where(own < _LARGE, own, _LARGE + ((own - _LARGE) >> np.uint64(2))) + _MORE
        found[upper] = np.where(own < _ONE, (_HALF << np.uint64(1)) - distance, beyond) | _SIGN
    return found


def scores_of(bits: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the scores whose `bits_of` are given; between two of them the one above."""
    own = bits & ~_SIGN
    # Some are of no number: they are the edges of intervals that hold the largest ones.
    distance = ((_HALF << np.uint64(1)) - own).view(np.float64)
    beyond = own - _MORE
    beyond = np.where(beyond < _LARGE, beyond, _LARGE + ((beyond - _LARGE) << np.uint64(2)))
    with np.errstate(invalid="ignore"):
        upper = np.where(own < _ONE + _MORE, 1.0 - distance, beyond.view(np.float64))
    positive = np.where(own > _HALF, upper, own.view(np.float64))
    return np.where(bits & _SIGN, positive, (~bits).view(np.float64))


def spare_bits(distinct: NDArray[np.uint64], n_bins: int) -> int:
    """Return how many bits must be dropped to leave no more than ``n_bins`` different keys."""
    spare = 0
    while len(distinct) > n_bins:
        distinct = distinct >> np.uint64(1)
        distinct = distinct[np.append(True, distinct[1:] != distinct[:-1])]
        spare += 1
    return spare
