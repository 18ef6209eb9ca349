"""Weights of rows by what they hold: pairs of labels, or labels and intervals of a score.

A `Table` of labels has a cell for each pair of truth and decision that occurs. One of scores has a
cell for each class in each interval of the score. While the distinct scores fit, each has its own;
then intervals are those of equal leading bits of the floating-point number, and one bit is dropped
wherever they become too many. Which bits are left depends on the set of scores alone, so that a
table does not depend on the order of rows, batches or shards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import EXACT
from .exact_sums import ExactSums

_SIGN = np.uint64(1 << 63)


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
    """

    labels: NDArray[Any]
    truth: NDArray[np.int64]
    other: NDArray[np.uint64]
    sums: ExactSums
    shift: int | None = None

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
        parts = np.split(at, [both[0].n_cells])
        first, second = (
            one.sums.placed(rows, len(truth)) for one, rows in zip(both, parts, strict=True)
        )
        return Table(labels, truth, kept, first + second, shift)

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
        return Table(self.labels, truth, kept, self.sums.placed(at, len(truth)), shift)

    def within(self, n_bins: int) -> Table:
        """Return the table with as few bits dropped as leave no more than ``n_bins`` intervals."""
        assert self.shift is not None
        return self.coarser(self.shift + spare_bits(np.unique(self.other), n_bins))

    def rank(self) -> NDArray[np.float64]:
        """Return the number of the interval of each cell, (n_cells,): a score of the same order."""
        return np.unique(self.other, return_inverse=True)[1].reshape(-1).astype(np.float64)


def distinct_cells(
    truth: NDArray[np.int64], other: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.intp]]:
    """Return both keys of each cell that occurs, in rising order, and the cell of each row."""
    values, number = np.unique(other, return_inverse=True)
    cells, at = np.unique(truth * len(values) + number.reshape(-1), return_inverse=True)
    first, second = np.divmod(cells, max(len(values), 1))
    return first, values[second], at.reshape(-1)


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


def bits_of(scores: NDArray[Any]) -> NDArray[np.uint64]:
    """Return integers in the order of the scores, whose leading bits are those of the scores."""
    # Adding zero makes the negative zero the positive one.
    bits = (scores.astype(np.float64) + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def spare_bits(distinct: NDArray[np.uint64], n_bins: int) -> int:
    """Return how many bits must be dropped to leave no more than ``n_bins`` different keys."""
    spare = 0
    while len(distinct) > n_bins:
        distinct = distinct >> np.uint64(1)
        distinct = distinct[np.append(True, distinct[1:] != distinct[:-1])]
        spare += 1
    return spare
