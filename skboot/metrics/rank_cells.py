"""Cells of consecutive scores, which ranking metrics read in place of many scores.

Rows of a cell are counted together, positives and negatives. Precision then is known between cells,
and within one it is taken at the mean share of its rows that a positive has above it. Cells are
fine where few rows decide: at the top of each class, and where recall or precision is lost. What
they leave of the law of resamples is in record 0083.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ._tuning import RANK_CELLS, ROWS_AT_ONCE, ROWS_BY_THEMSELVES
from .statistic import Floats, ReadableBlock, ReducedData

# Thresholds at a time; there are some twenty arrays of as many.
_AT_ONCE = ROWS_AT_ONCE >> 3
_TINY = np.finfo(np.float64).tiny


class CellCodes(NamedTuple):
    """Codes of cells: the negatives and then the positives of each.

    Attributes
    ----------
    number : ndarray of shape (n_codes_before,)
        Code of what had a code each before.
    terms : ndarray of shape (n_codes, 2), bool
        Whether each is of positives, and of negatives.
    rows : ndarray of shape (n_codes,)
        Rows of each.
    """

    number: NDArray[np.int16]
    terms: NDArray[np.bool_]
    rows: NDArray[np.int64]


class RankCells(NamedTuple):
    """Cells of consecutive scores, from the highest down.

    Attributes
    ----------
    last : ndarray of shape (n_cells,)
        Last threshold of each.
    size : ndarray of shape (2, n_cells)
        Its positives and negatives.
    shares : ndarray of shape (2, n_cells)
        Share of these that its positives have at or above them.
    apart : ndarray of shape (n_cells,)
        Mean precision at its positives, less the precision at these shares.
    second : ndarray of shape (n_cells,)
        What rows within it that are drawn again add, by squared deviation of its positives.
    """

    last: NDArray[np.intp]
    size: Floats
    shares: Floats
    apart: Floats
    second: Floats

    @classmethod
    def of(
        cls, rows: NDArray[np.integer], positive: NDArray[np.bool_], ends: NDArray[np.intp]
    ) -> Self:
        """Put thresholds into cells.

        Parameters
        ----------
        rows : ndarray of shape (n_codes,)
            Rows of each code, from the highest score down.
        positive : ndarray of shape (n_codes,), bool
            Class of each code.
        ends : ndarray of shape (n_thresholds,)
            Last code of each score that has positives.
        """
        found = _sums_of_cells(rows, positive, ends)
        n_thresholds, gained, added, hits, every, precision, once, twice = found
        size = np.array((gained, added - gained))
        before = np.cumsum(size, axis=1) - size
        reached = np.array((hits, every - hits)) / gained
        shares = (reached - before) / np.maximum(size, 1.0)
        apart = precision / gained - hits / every
        # A row that is drawn again is above itself: to second order the precision at a threshold
        # rises by that of one more positive, times the share of the cell that comes later.
        second = np.maximum((before[0] + gained) * once - twice, 0.0) / gained**2
        last = np.cumsum(n_thresholds).astype(np.intp) - 1
        return cls(last, size, shares, apart, second)

    def codes(
        self, rows: NDArray[np.integer], positive: NDArray[np.bool_], ends: NDArray[np.intp]
    ) -> CellCodes:
        """Return the codes of the cells that were made of these arrays; see `of`."""
        # Negatives below all positives are a cell that is not read.
        length = np.diff(ends[self.last], prepend=-1, append=len(positive) - 1)
        counts = np.append(self.size[::-1].T, (rows[ends[-1] + 1 :].sum(), 0)).astype(np.int64)
        used = np.flatnonzero(counts)
        number = np.zeros(len(counts), np.int16)
        number[used] = np.arange(len(used))
        side = np.repeat(np.arange(0, len(counts), 2, dtype=np.int16), length)
        side += positive
        terms = np.array((used % 2 == 1, used % 2 == 0)).T
        return CellCodes(number[side], terms, counts[used])

    def area(
        self, block: ReadableBlock, terms: NDArray[Any], ends: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Sum over cells of precision times positives, and all positives, (n_resamples,) each.

        Parameters
        ----------
        block : Block
        terms : ndarray of shape (n_codes, 2), bool
            Whether each code is of positives, and of negatives.
        ends : ndarray of shape (n_cells,)
            Last code of each cell.
        """
        area, above = np.zeros(block.n_resamples), np.zeros((2, block.n_resamples, 1))
        for which, upto in block.running(terms, ends):
            area += self._area(which, np.concatenate((above, upto[:, :, :-1]), axis=2), upto)
            above = upto[:, :, -1:]
        positives = above[0, :, 0]
        return np.minimum(area, positives), positives

    def _area(self, which: slice, before: Floats, upto: Floats) -> Floats:
        """Return the sum over some cells, from the rows of each class above them, and with them."""
        drawn = upto - before
        reached = before + self.shares[:, None, which] * drawn
        precision = reached[0] / np.maximum(reached.sum(axis=0), _TINY)
        precision += self.apart[which]
        area: Floats = np.einsum("ij,ij->i", drawn[0], precision)
        # Counts are as far from those of the data, in any resample, as rows are drawn again.
        away = drawn[0]
        away -= self.size[0, which]
        away *= away
        area += away @ self.second[which]
        return area


def _sums_of_cells(
    rows: NDArray[Any], positive: NDArray[np.bool_], ends: NDArray[np.intp]
) -> Floats:
    """Return sums over the thresholds of each cell, (8, n_cells): see `RankCells.of`."""
    lost_at_all = sum(float(g @ (1.0 - h / e)) for g, _, h, e in _pieces(rows, positive, ends))
    n_positive = float(np.sum(rows, where=positive))
    parts, n_cells, lost, along, large = list[tuple[int, Floats]](), 0, 0.0, -1.0, False
    for gained, added, hits, every in _pieces(rows, positive, ends):
        precision = hits / every
        losses = gained * (1.0 - precision)
        lost_upto = lost + np.cumsum(losses)
        # How many cells there are up to each threshold.
        upto = RANK_CELLS / 2 * (hits / n_positive + lost_upto / max(lost_at_all, _TINY))
        for above in (hits, every - hits):
            upto += ROWS_BY_THEMSELVES * np.log1p(above / ROWS_BY_THEMSELVES)
        # A score of many rows ends its cell.
        ended = np.append(large, np.diff(upto, prepend=along) >= 1)
        new = (np.diff(np.floor(upto), prepend=np.floor(along)) > 0) | ended[:-1]
        cell = np.cumsum(new) + (n_cells - 1)
        slopes = losses / every
        of_each: list[Floats] = [np.ones(len(cell)), gained, added, gained * hits, gained * every]
        of_each += [gained * precision, slopes, slopes * hits]
        parts.append((cell[0], np.array([np.bincount(cell - cell[0], own) for own in of_each])))
        n_cells, lost, along, large = int(cell[-1]) + 1, lost_upto[-1], upto[-1], ended[-1]
    sums = np.zeros((8, n_cells))
    for first, own in parts:
        sums[:, first : first + own.shape[1]] += own
    return sums


def _pieces(
    rows: NDArray[Any], positive: NDArray[np.bool_], ends: NDArray[np.intp]
) -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
    """Yield positives and rows that consecutive thresholds add, and those at or above each."""
    above, first = np.zeros((2, 1)), 0
    for start in range(0, len(ends), _AT_ONCE):
        last = ends[start : start + _AT_ONCE]
        codes = slice(first, int(last[-1]) + 1)
        own = rows[codes] * np.array((positive[codes], np.ones(codes.stop - first, dtype=bool)))
        upto = above + np.cumsum(own, axis=1)[:, last - first]
        yield (*np.diff(upto, axis=1, prepend=above), *upto)
        above, first = upto[:, -1:], codes.stop


# ------------------------------------------------------------------ for areas under ROC curves


def cells_of_areas(
    rows: NDArray[np.integer], upper: NDArray[np.bool_], level: NDArray[np.intp] | None
) -> ReducedData:
    """Codes of cells that share both classes, and pairs out of order, evenly.

    Parameters
    ----------
    rows : ndarray of shape (n_codes_before,)
        Rows of each code, from the lowest score up.
    upper : ndarray of shape (n_codes_before,), bool
        Whether each is of positives.
    level : ndarray of shape (n_codes_before,) or None
        Number of its score; None: each has its own.

    Returns
    -------
    ReducedData
        ``code`` has the new code of each code before. A cell is a level of its negatives and
        positives; what the area of the scores has beyond that of the levels is "apart".
    """
    level = np.arange(len(rows)) if level is None else level
    sides = np.array([np.bincount(level, rows * side) for side in (upper, ~upper)])
    before, total = np.cumsum(sides, axis=1) - sides, sides.sum(axis=1, keepdims=True)
    # Pairs out of order, half of which each of their rows loses.
    lost = sides[0] * (total[1] - before[1]) + sides[1] * before[0]
    lost_before = (np.cumsum(lost) - lost) / max(lost.sum(), _TINY)
    along = RANK_CELLS / 2 * ((before / total).sum(axis=0) + lost_before)
    cell = np.unique(np.floor(along), return_inverse=True)[1]
    in_cells = np.array([np.bincount(cell, side) for side in sides])
    key = 2 * cell[level] + upper
    counts = np.bincount(key, rows).astype(np.int64)
    used = np.flatnonzero(counts)
    number = np.zeros(len(counts), np.intp)
    number[used] = np.arange(len(used))
    of_codes = {
        "upper": used % 2 == 1,
        "lower": used % 2 == 0,
        "level": used // 2,
        "apart": _area_of(*sides) - _area_of(*in_cells),
    }
    return ReducedData(number[key], len(used), None, MappingProxyType(of_codes), counts[used])


def _area_of(upper: Floats, lower: Floats) -> float:
    """Area under the ROC curve of positives and negatives at rising levels."""
    below = np.cumsum(lower) - lower / 2
    return float(upper @ below / (upper.sum() * lower.sum()))
