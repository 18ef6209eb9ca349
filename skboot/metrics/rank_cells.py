"""Cells of consecutive scores, which average precision reads in place of many scores.

Rows of a cell are counted together, positives and negatives. Precision then is known between cells,
and within one it is taken at the mean share of its rows that a positive has above it. Cells are
fine where few rows decide: at the top of each class, and where recall or precision is lost. What
they leave of the law of resamples is in record 0083.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ._tuning import RANK_CELLS, ROWS_BY_THEMSELVES

Floats = NDArray[np.float64]


class RankCells(NamedTuple):
    """Cells of consecutive scores, from the highest down.

    Attributes
    ----------
    last : ndarray of shape (n_cells,)
        Last threshold of each.
    shares : ndarray of shape (2, n_cells)
        Share of its positives, and of its negatives, that its positives have at or above them.
    apart : ndarray of shape (n_cells,)
        Mean precision at its positives, less the precision at these shares.
    size : ndarray of shape (n_cells,)
        Its positives.
    second : ndarray of shape (n_cells,)
        What repeated rows within it add, by squared deviation of its positives.
    """

    last: NDArray[np.intp]
    shares: Floats
    apart: Floats
    size: Floats
    second: Floats

    @classmethod
    def of(cls, hits: NDArray[np.integer], every: NDArray[np.integer]) -> Self:
        """Put thresholds into cells.

        Parameters
        ----------
        hits, every : ndarray of shape (n_thresholds,)
            Positives, and all rows, at or above each threshold that adds positives.
        """
        gained, precision = np.diff(hits, prepend=0).astype(np.float64), hits / every
        first = _first_thresholds(hits, every, gained, precision)
        last = np.append(first[1:], len(hits)) - 1
        upto = np.array((hits[last], every[last] - hits[last]), dtype=np.float64)
        size = np.diff(upto, axis=1, prepend=0.0)

        of_hits, of_every = (
            np.add.reduceat(gained * each, first) / size[0] for each in (hits, every)
        )
        reached = np.array((of_hits, of_every - of_hits))
        shares = (reached - upto + size) / np.maximum(size, 1.0)
        apart = np.add.reduceat(gained * precision, first) / size[0] - of_hits / of_every

        # A row that is drawn again is above itself: to second order the precision at a threshold
        # rises by that of one more positive, times the share of the cell that comes later.
        precision *= gained
        squared = np.add.reduceat(precision * (hits / every), first)
        gained -= precision
        gained /= every
        later = upto[0] * np.add.reduceat(gained, first)
        later -= np.add.reduceat(precision, first) - squared
        return cls(last, shares, apart, size[0], np.maximum(later, 0.0) / size[0] ** 2)

    def area(self, which: slice, before: Floats, upto: Floats) -> Floats:
        """Sum over cells of precision times positives, (n_resamples,).

        Parameters
        ----------
        which : slice
            Consecutive cells.
        before, upto : ndarray of shape (2, n_resamples, n_cells)
            Positives and negatives above each of these cells, and with it.
        """
        drawn = upto - before
        reached = before + self.shares[:, None, which] * drawn
        precision = reached[0] / np.maximum(reached.sum(axis=0), np.finfo(np.float64).tiny)
        precision += self.apart[which]
        area: Floats = np.einsum("ij,ij->i", drawn[0], precision)
        # Counts are as far from those of the data in any resample as rows are drawn again.
        drawn[0] -= self.size[which]
        drawn[0] *= drawn[0]
        area += drawn[0] @ self.second[which]
        return area


def _first_thresholds(
    hits: NDArray[np.integer], every: NDArray[np.integer], gained: Floats, precision: Floats
) -> NDArray[np.intp]:
    """Return the first threshold of each cell."""
    # How many cells there are up to each threshold.
    along = np.cumsum(gained * (1.0 - precision))
    along *= RANK_CELLS / 2 / max(along[-1], np.finfo(np.float64).tiny)
    along += hits * (RANK_CELLS / 2 / hits[-1])
    for rows in (hits, every - hits):
        along += ROWS_BY_THEMSELVES * np.log1p(rows / ROWS_BY_THEMSELVES)
    # A score of many rows ends its cell.
    large = np.diff(along, prepend=0.0) >= 1
    np.floor(along, out=along)
    new = along[1:] != along[:-1]
    new |= large[:-1]
    return np.append(0, np.flatnonzero(new) + 1)
