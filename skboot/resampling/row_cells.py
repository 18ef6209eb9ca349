"""Cells of nearly equal rows, which are drawn in place of many rows.

A function of sums hardly tells rows apart that add nearly the same. `row_cells` puts them into some
thousand cells of equal size, along a path through what they add, and lets a row of each cell add
their mean. The sums of the data stay what they are. What resamples would lack, the covariance
within cells, is given back: the means of cells lie further from that of all by as much, so that all
sums together have the covariance that rows have, in every direction. Rows far from the others,
which decide how skewed the sums are, are cells of their own. Record 0083 has the errors.

`CellsDesign` draws the cells by the counts that codes of label metrics are drawn by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ._tuning import (
    COLUMN_ROUNDING,
    EQUAL_CELLS,
    FAR_ROWS,
    FEWEST_PLACES,
    MOST_DIRECTIONS,
    MOST_WITHIN,
    PLACES,
    ROWS_AT_ONCE,
    ROWS_LOOKED_AT,
    STRIP_STEPS,
    UNSEEN_SHARE,
)
from .coding import Bound, CodedRows, UnitsOfCodes
from .design import RowDesign, SamplingDesign

Floats = NDArray[np.float64]


class RowCells(NamedTuple):
    """Cells of nearly equal rows.

    Attributes
    ----------
    multiplicity : ndarray of shape (n_cells,)
        Rows of each.
    columns : ndarray of shape (n_columns, n_cells)
        What a row of each adds to each sum.
    strata : ndarray of shape (n_cells,) or None
        Stratum of each.
    """

    multiplicity: NDArray[np.int64]
    columns: Floats
    strata: NDArray[np.intp] | None


@dataclass(frozen=True, eq=False, kw_only=True)
class CellsDesign(RowDesign):
    """Independent rows that are drawn by cells.

    Attributes
    ----------
    multiplicity : ndarray of shape (n_atoms,)
        Rows of each cell: of those of each part of the rows, one part after the other, then of
        those that hold the rows of no part.
    cell_strata : ndarray of shape (n_atoms,) or None
        Stratum of each.
    n_cells : tuple of int
        Cells of each part.
    """

    multiplicity: NDArray[np.int64]
    cell_strata: NDArray[np.intp] | None
    n_cells: tuple[int, ...]

    @classmethod
    def by(
        cls,
        design: SamplingDesign,
        cells: Sequence[RowCells],
        rows: Sequence[NDArray[np.intp] | None],
    ) -> Self:
        """Return a design of the same rows whose statistics have cells as codes.

        Parameters
        ----------
        design : SamplingDesign
            Independent rows.
        cells : sequence of RowCells
            Of the rows of each part, which are no others'.
        rows : sequence of ndarray, or None
            Rows of each part; None: all.
        """
        attributes = {item.name: getattr(design, item.name) for item in fields(design)}
        n_parts = np.zeros(design.n_samples, dtype=np.int8)
        for part in rows:
            n_parts[slice(None) if part is None else part] += 1
        assert n_parts.max() <= 1
        is_outside = n_parts == 0
        stratum, n_outside = np.unique(
            np.zeros(is_outside.sum(), np.intp)
            if design.strata is None
            else design.strata[is_outside],
            return_counts=True,
        )
        multiplicity = np.concatenate([*(item.multiplicity for item in cells), n_outside])
        strata = None
        if design.strata is not None:
            strata = np.concatenate([*(item.strata for item in cells), stratum])
        n_cells = tuple(len(item.multiplicity) for item in cells)
        return cls(multiplicity=multiplicity, cell_strata=strata, n_cells=n_cells, **attributes)

    @property
    def n_atoms(self) -> int:
        """Number of cells."""
        return len(self.multiplicity)

    def atoms_of_parts(self) -> list[NDArray[np.intp] | None]:
        """Cells of each part; None: all of them."""
        if self.n_cells == (self.n_atoms,):
            return [None]
        ends = np.cumsum(self.n_cells)
        return [np.arange(end - n, end) for end, n in zip(ends, self.n_cells, strict=True)]

    def bind(self, codings: Sequence[CodedRows], *, as_rows: bool = False) -> Bound:
        """See `SamplingDesign.bind`; atoms are the cells, and the rows of a coding are some."""
        units = [
            UnitsOfCodes(
                coding.n_codes,
                (coding.n_codes,),
                reads=coding.reads,
                atoms=None
                if coding.rows is None
                else slice(int(coding.rows[0]), int(coding.rows[-1]) + 1),
            )
            for coding in codings
        ]
        return units, (self.multiplicity,), self.cell_strata


def row_cells(
    columns: Sequence[Floats | Callable[[], Floats]], strata: NDArray[np.intp] | None
) -> RowCells | None:
    """Put rows into cells.

    Parameters
    ----------
    columns : sequence of (ndarray of shape (n_rows,), or callable)
        What each row adds to each sum, without equal columns. What a callable returns is
        overwritten: there may be as many numbers as memory holds a few times.
    strata : ndarray of shape (n_rows,) or None
        Stratum of each row, from 0; the rows of a cell are of one.

    Returns
    -------
    RowCells or None
        None where cells would hold too much of the variance: of many unlike columns, or where
        strata are too small for several cells each.
    """
    directions = _Directions.of(columns)
    if directions is None:
        return None
    stratum = strata
    if stratum is None:
        stratum = np.broadcast_to(np.intp(0), len(directions.values[0]))
    path = _Path.through(directions.values, int(stratum.max()) + 1)
    filled = _Filled.of(directions.values, stratum, path)
    sizes, values, stratum_of_cell = filled.cells()
    means_of_strata = filled.means
    larger = filled.given_back(sizes, values, stratum_of_cell, means_of_strata)
    if larger is None:
        return None
    means = means_of_strata[:, stratum_of_cell]
    at = np.hstack((means + larger @ (values - means), filled.far))
    stratum = np.concatenate((stratum_of_cell, filled.far_stratum))
    return RowCells(
        np.concatenate((sizes, np.ones(filled.far.shape[1], np.int64))),
        directions.means[:, None] + directions.loadings @ at,
        None if strata is None else stratum,
    )


# ------------------------------------------------------------------ directions


class _Directions(NamedTuple):
    """Uncorrelated directions of mean 0 and variance 1 in which rows differ.

    Attributes
    ----------
    values : list of ndarray of shape (n_rows,)
        Of each direction.
    means : ndarray of shape (n_columns,)
    loadings : ndarray of shape (n_columns, n_directions)
        The columns are the means, and loadings times values.
    """

    values: list[Floats]
    means: Floats
    loadings: Floats

    @classmethod
    def of(cls, columns: Sequence[Floats | Callable[[], Floats]]) -> Self | None:
        """Orthogonalize the columns one after the other; None if none differ, or too many do.

        None too where values are not finite, or most are lost beside few large ones.
        """
        values = list[Floats]()
        means, loadings = np.empty(len(columns)), np.zeros((len(columns), MOST_DIRECTIONS))
        for k, maker in enumerate(columns):
            column = maker() if callable(maker) else maker
            n, low, high = len(column), float(column.min()), float(column.max())
            means[k] = low
            if low == high:
                continue
            span = high - low
            if not np.isfinite(span):
                return None
            if _are_nearly_equal(column[_rows_looked_at(n)], COLUMN_ROUNDING * span):
                return None
            means[k] = column.mean()
            direction = np.subtract(column, means[k], out=column if callable(maker) else None)
            direction /= span
            spread = np.sqrt(direction @ direction / n)
            for j, earlier in enumerate(values):
                shared = earlier @ direction / n
                direction -= shared * earlier
                loadings[k, j] = shared * span
            residual = np.sqrt(direction @ direction / n)
            if residual <= COLUMN_ROUNDING * spread:
                continue
            if len(values) == MOST_DIRECTIONS:
                return None
            direction /= residual
            loadings[k, len(values)] = residual * span
            values.append(direction)
        return cls(values, means, loadings[:, : len(values)]) if values else None


@lru_cache(maxsize=1)
def _rows_looked_at(n: int) -> NDArray[np.intp]:
    """Random rows, of a fixed stream: cells are part of the method and not of the resampling."""
    rows: NDArray[np.intp] = np.random.default_rng(0).integers(0, n, ROWS_LOOKED_AT)
    rows.flags.writeable = False
    return rows


def _are_nearly_equal(sample: Floats, rounding: float) -> bool:
    """Whether most values, of which some differ, differ by no more than rounding of the others."""
    # Ten of the first hundred that are below eighty of them show it, if a fiftieth of all is.
    few_rows = np.sort(sample[:100])
    low, high = few_rows[9], few_rows[-10]
    if high - low >= rounding:
        n_shown = len(sample) // 50
        if min(np.count_nonzero(sample <= low), np.count_nonzero(sample >= high)) >= n_shown:
            return False
    inner_low, inner_high = np.quantile(sample, (0.01, 0.99))
    return bool(0 < inner_high - inner_low < rounding)


# ------------------------------------------------------------------ a path through them


class _Path(NamedTuple):
    """A path on which nearly equal rows are close: back and forth through strips of strips.

    Attributes
    ----------
    bound : float
        Size of a value beyond which a row is far from the others.
    low, per_step : ndarray of shape (n_directions,)
        Least value, and steps by unit of value.
    strips : list of ndarray of shape (n_steps,)
        Strip of each step, of all directions but the last, whose steps are places.
    widths : list of int
        Strips, or places, of each direction.
    """

    bound: float
    low: Floats
    per_step: Floats
    strips: list[NDArray[np.int32]]
    widths: list[int]

    @classmethod
    def through(cls, values: Sequence[Floats], n_strata: int) -> Self:
        """Lay a path through what is seen of some random rows, of the values of each direction."""
        n_directions, n = len(values), len(values[0])
        sampled = np.array([column[_rows_looked_at(n)] for column in values])
        distance = np.abs(sampled).max(axis=0)
        bound = float(np.quantile(distance, max(1 - FAR_ROWS / n, 0.0)))
        # The last direction has places, which no numbers of rows are asked for.
        sampled = np.sort(sampled[:-1, distance <= bound])
        low = np.maximum([column.min() for column in values], -bound)
        span = np.minimum([column.max() for column in values], bound) - low
        n_strips = max(1, round(EQUAL_CELLS ** (1 / n_directions)))
        widths = [n_strips] * (n_directions - 1)
        widths.append(max(FEWEST_PLACES, PLACES // n_strata // n_strips ** (n_directions - 1)))
        middles = (np.arange(STRIP_STEPS) + 0.5) / STRIP_STEPS
        strips = [
            # Between equal width and equal numbers of rows: tails have some of their own.
            (n_strips * (below + middles) / 2).astype(np.int32)
            for below in (
                np.searchsorted(sampled[k], low[k] + span[k] * middles) / len(sampled[k])
                for k in range(n_directions - 1)
            )
        ]
        steps = np.array([STRIP_STEPS] * (n_directions - 1) + widths[-1:])
        return cls(bound, low, steps / span, strips, widths)

    @property
    def n_places(self) -> int:
        """Number of places on it."""
        return int(np.prod(self.widths))

    def places(self, values: Floats) -> NDArray[np.int32]:
        """Return the place of each row, (n_rows,), that is not far from the others."""
        place: Any = 0
        for k, (column, width) in enumerate(zip(values, self.widths, strict=True)):
            step = ((column - self.low[k]) * self.per_step[k]).astype(np.int32)
            if k < len(self.strips):
                np.clip(step, 0, STRIP_STEPS - 1, out=step)
                step = self.strips[k].take(step)
            else:
                np.clip(step, 0, width - 1, out=step)
            # Every other strip is walked backwards, so that its end is where the next begins.
            step = step if k == 0 else np.where(place & 1, width - 1 - step, step)
            place = place * np.int32(width) + step
        return np.asarray(place)


# ------------------------------------------------------------------ cells on it


class _Filled(NamedTuple):
    """What lies at each place, stratum by stratum, and the rows far from all.

    Attributes
    ----------
    rows : ndarray of shape (n_strata, n_places)
        Their number.
    sums : ndarray of shape (n_directions, n_strata, n_places)
        Their values, added up.
    squares : ndarray of shape (n_directions, n_directions)
        Sums of products of the values of all of them.
    far : ndarray of shape (n_directions, n_far)
        Values of the others.
    far_stratum : ndarray of shape (n_far,)
    """

    rows: NDArray[np.int64]
    sums: Floats
    squares: Floats
    far: Floats
    far_stratum: NDArray[np.intp]

    @classmethod
    def of(cls, values: Sequence[Floats], stratum: NDArray[np.integer], path: _Path) -> Self:
        """Go along the path with all rows, given the values of each direction."""
        n_directions, n = len(values), len(values[0])
        n_strata, n_places = int(stratum.max()) + 1, path.n_places
        size = n_strata * n_places
        rows, sums = np.zeros(size, np.int64), np.zeros((n_directions, size))
        squares, far = np.zeros((n_directions, n_directions)), list[NDArray[np.intp]]()
        near_values = np.empty((n_directions, min(n, ROWS_AT_ONCE)))
        for start in range(0, n, ROWS_AT_ONCE):
            within = stratum[start : start + ROWS_AT_ONCE]
            near = np.ones(len(within), dtype=bool)
            for column in values:
                near &= np.abs(column[start : start + ROWS_AT_ONCE]) <= path.bound
            piece = near_values[:, : np.count_nonzero(near)]
            if piece.shape[1] < len(near):
                far.append(start + np.flatnonzero(~near))
                within = within[near]
            for part, column in zip(piece, values, strict=True):
                part[:] = column[start : start + ROWS_AT_ONCE][near]
            place = path.places(piece)
            if n_strata > 1:
                place = place + within * n_places
            rows += np.bincount(place, minlength=size)
            for k, added in enumerate(piece):
                sums[k] += np.bincount(place, added, size)
            squares += piece @ piece.T
        at: Any = np.concatenate(far) if far else slice(0)
        shape = (n_strata, n_places)
        return cls(
            rows.reshape(shape),
            sums.reshape(n_directions, *shape),
            squares,
            np.array([column[at] for column in values]),
            stratum[at].astype(np.intp),
        )

    @property
    def means(self) -> Floats:
        """Means of the rows on the path, (n_directions, n_strata)."""
        return self.sums.sum(axis=2) / np.maximum(self.rows.sum(axis=1), 1)

    def cells(self) -> tuple[NDArray[np.int64], Floats, NDArray[np.intp]]:
        """Cut the path of each stratum into cells of equal size, but for its last.

        Return the rows of each cell, their mean values (n_directions, n_cells), and its stratum.
        """
        size = max(1, int(self.rows.sum()) // EQUAL_CELLS)
        sizes, sums, strata = list[Any](), list[Any](), list[Any]()
        for h, rows in enumerate(self.rows):
            # Flags are looked through faster than numbers.
            cells_in_use = np.flatnonzero(rows != 0)
            if not len(cells_in_use):
                continue
            upto = np.append(0, np.cumsum(rows[cells_in_use]))
            cuts = np.append(np.arange(0, upto[-1], size), upto[-1])
            # The rows of a place that is cut go to both cells in proportion.
            sums.append(
                [
                    np.diff(
                        np.interp(
                            cuts, upto, np.append(0.0, np.cumsum(direction_sums[h, cells_in_use]))
                        )
                    )
                    for direction_sums in self.sums
                ]
            )
            sizes.append(np.diff(cuts))
            strata.append(np.full(len(cuts) - 1, h))
        n_rows = np.concatenate(sizes)
        return n_rows, np.hstack(sums) / n_rows, np.concatenate(strata)

    def given_back(
        self,
        sizes: NDArray[np.int64],
        values: Floats,
        stratum: NDArray[np.intp],
        means: Floats,
    ) -> Floats | None:
        """Return the map of deviations of cells that gives back what they lack.

        Covariances are those within strata, whose sizes are fixed. They are looked at where the
        rows on the path have more than a trace of the variance of all rows.

        Parameters
        ----------
        sizes, values, stratum
            The cells, see `cells`.
        means : ndarray of shape (n_directions, n_strata)

        Returns
        -------
        ndarray of shape (n_directions, n_directions), or None
            None where cells lack too much to be believed.
        """
        n_path = self.rows.sum(axis=1)
        row_squares = self.squares - (means * n_path) @ means.T
        away = values - means[:, stratum]
        between = (away * sizes) @ away.T
        n_far = np.bincount(self.far_stratum, minlength=len(n_path))
        total = means * n_path
        for k, far_values in enumerate(self.far):
            total[k] += np.bincount(self.far_stratum, far_values, len(n_path))
        all_squares = self.squares + self.far @ self.far.T - (total / (n_path + n_far)) @ total.T
        scale = _root(all_squares, COLUMN_ROUNDING**2 * len(all_squares) * (n_path + n_far).sum())
        if not scale.shape[1]:
            return None
        unscale = np.linalg.pinv(scale)
        parts = _root(unscale @ row_squares @ unscale.T, UNSEEN_SHARE)
        whiten = np.linalg.pinv(parts) @ unscale
        shares, turn = np.linalg.eigh(whiten @ between @ whiten.T)
        if np.any(shares < 1 - MOST_WITHIN):
            return None
        larger = (turn / np.sqrt(shares)) @ turn.T - np.eye(len(shares))
        return np.eye(len(all_squares)) + scale @ parts @ larger @ whiten


def _root(covariance: Floats, least: float) -> Floats:
    """Return R with R R' the covariance, in the directions where it has more than the least."""
    size, turn = np.linalg.eigh(covariance)
    is_large = size > least
    return turn[:, is_large] * np.sqrt(size[is_large])
