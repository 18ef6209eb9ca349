"""Rows in time: circular blocks of consecutive rows, drawn within each series.

The rows of a series (all rows, or those of a stratum) stand in time order on a circle. A resample
puts ceil(n / L) blocks of L consecutive rows together, whose first rows are drawn with replacement;
the last block is cut, so that a resample has n rows (Politis & Romano 1992). A row's weight is the
number of blocks that hold it, so that every reading of a resample works as for rows. Weighted sums
are quicker: those of each possible block are added up before drawing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._base.errors import Note
from ._tuning import PLACES_AT_ONCE, STARTS_AT_ONCE
from .block import Block, Floats, UnitBlock
from .coding import Bound, CodedRows, UnitsOfCodes, bind_groups, bind_rows
from .design import SERIES, SamplingDesign
from .draws import Strata
from .jackknife import JackknifeResamples, ObservedBlock, leave_one_out


@dataclass(frozen=True, eq=False)
class Circles:
    """Where the rows of each series stand on its circle.

    Attributes
    ----------
    length : int
        Rows in a block.
    sizes : ndarray of shape (n_series,)
        Rows of each series, none of them fewer than ``length``.
    order : ndarray of shape (n_samples,) or None
        Rows series by series, in time order; None where they come so.
    """

    length: int
    sizes: NDArray[np.intp]
    order: NDArray[np.intp] | None

    @cached_property
    def offsets(self) -> NDArray[np.intp]:
        """Position of the first row of each series, (n_series,)."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def n_blocks(self) -> NDArray[np.intp]:
        """Blocks of each series in a resample, (n_series,)."""
        return -(-self.sizes // self.length)

    @cached_property
    def last_length(self) -> NDArray[np.intp]:
        """Rows in the last block of each series, (n_series,)."""
        return self.sizes - self.length * (self.n_blocks - 1)

    @cached_property
    def last_block(self) -> NDArray[np.intp]:
        """Number of the last block of each series, (n_series,)."""
        return np.cumsum(self.n_blocks) - 1

    @cached_property
    def rows_of_block(self) -> NDArray[np.intp]:
        """Rows in each block of a resample, (n_blocks,)."""
        rows = np.full(int(self.n_blocks.sum()), self.length)
        rows[self.last_block] = self.last_length
        return rows

    @cached_property
    def block_of_row(self) -> NDArray[np.intp]:
        """Block that each row is cut into, (n_samples,)."""
        position = np.arange(int(self.sizes.sum())) - np.repeat(self.offsets, self.sizes)
        before = np.cumsum(self.n_blocks) - self.n_blocks
        return self.by_row(np.repeat(before, self.sizes) + position // self.length)

    def centred(self, influence: Floats) -> Floats:
        """Influences of blocks (..., n_blocks) about the mean of their series, row by row.

        A resample has as many rows of a series as the data, so that a block varies about the mean
        of as many rows as it has: the last one of a series may be shorter.
        """
        starts = np.cumsum(self.n_blocks) - self.n_blocks
        row_means = np.add.reduceat(influence, starts, axis=-1) / self.sizes
        return influence - np.repeat(row_means, self.n_blocks, axis=-1) * self.rows_of_block

    @cached_property
    def series_of_block(self) -> NDArray[np.intp]:
        """Series of each block of a resample, (n_blocks,)."""
        return np.repeat(np.arange(len(self.sizes)), self.n_blocks)

    @cached_property
    def at(self) -> NDArray[np.intp] | slice:
        """Place of each position on circles that were cut open, a block's length apart."""
        if len(self.sizes) == 1:
            return slice(0, int(self.sizes[0]))
        gap = np.repeat(np.arange(len(self.sizes)) * (self.length - 1), self.sizes)
        return np.arange(int(self.sizes.sum())) + gap

    @cached_property
    def n_places(self) -> int:
        """Places of all series, each with what sticks out beyond its end."""
        return int(self.sizes.sum()) + len(self.sizes) * (self.length - 1)

    def in_time(self, values: Any) -> Any:
        """Put values of rows (n_samples, ...) in the order of the series."""
        return values if self.order is None else values[self.order]

    def by_row(self, values: NDArray[Any]) -> NDArray[Any]:
        """Put values of positions (..., n_samples) in the order of the rows."""
        if self.order is None:
            return values
        row_values = np.empty_like(values)
        row_values[..., self.order] = values
        return row_values

    def block_sums(self, totals: Floats, length: NDArray[np.intp] | int) -> Floats:
        """Sum totals (n_samples, n_terms) in time over the block that begins at each position.

        ``length`` is that of the blocks, or of those of each series. The sums are returned term by
        term, (n_terms, n_samples).
        """
        sums = np.empty((totals.shape[1], len(totals)))
        lengths = np.broadcast_to(length, self.sizes.shape).tolist()
        for start, size, block_length in zip(self.offsets, self.sizes, lengths, strict=True):
            series_totals = totals[start : start + size].T
            # On the circle the first rows follow the last.
            beyond_end = series_totals[:, : block_length - 1]
            around = np.concatenate((series_totals, beyond_end), axis=1)
            moving = moving_sums(around, block_length)
            sums[:, start : start + size] = moving[:, block_length - 1 :]
        return sums


def moving_sums(values: NDArray[Any], length: int) -> NDArray[Any]:
    """Sum each value and those before it, ``length`` in all, along the last axis.

    Sums of doubled length are sums of two: the rounding of all values before does not enter.
    """
    sums: NDArray[Any] | None = None
    doubled, done, size = values, 0, 1
    while True:
        if length & size:
            sums = doubled if sums is None else _with_earlier(sums, doubled, done)
            done += size
        if done == length:
            assert sums is not None
            return sums
        doubled = _with_earlier(doubled, doubled, size)
        size *= 2


def _with_earlier(sums: NDArray[Any], earlier: NDArray[Any], distance: int) -> NDArray[Any]:
    """Add to each sum the one that stands ``distance`` places before it, if there is one."""
    added = sums.copy()
    np.add(sums[..., distance:], earlier[..., :-distance], out=added[..., distance:])
    return added


class Starts:
    """The blocks that some resamples are made of.

    Parameters
    ----------
    circles : Circles
    positions : ndarray of shape (n_resamples, n_blocks)
        Position at which each block begins; the blocks of a series stand together, and the last
        of each series is cut.
    """

    def __init__(self, circles: Circles, positions: NDArray[np.integer]) -> None:
        self.circles = circles
        self.positions = positions

    @cached_property
    def weights(self) -> NDArray[np.uint8]:
        """How many blocks hold each row, (n_resamples, n_samples).

        A weight is about a Poisson count of mean 1, which fits a byte (record 0010).
        """
        circles, n_resamples = self.circles, len(self.positions)
        opened = np.zeros((n_resamples, circles.n_places), dtype=np.uint8)
        shift = circles.series_of_block * (circles.length - 1)
        cut = np.flatnonzero(circles.last_length < circles.length)
        # One addition for all resamples has to number their places anew, which costs more than the
        # calls for each where these are many.
        at_once = max(1, PLACES_AT_ONCE // circles.n_places)
        for start in range(0, n_resamples, at_once):
            opened_at_once = opened[start : start + at_once]
            places = self.positions[start : start + at_once]
            if shift[-1]:
                places = places + shift
            if len(cut):
                several = len(circles.sizes) > 1
                last = circles.last_block[cut]
                places = np.delete(places, last, 1) if several else places[:, :-1]
            if at_once > 1:
                places = places + np.arange(len(opened_at_once))[:, None] * circles.n_places
            np.add.at(opened_at_once.reshape(-1), places.reshape(-1), np.uint8(1))
        # What sticks out beyond a series ends before the next begins, so that all are one array.
        opened = moving_sums(opened.reshape(-1), circles.length).reshape(opened.shape)
        for k in cut.tolist():
            last = circles.last_block[k]
            rows = np.arange(circles.last_length[k]) + shift[last]
            last_rows = self.positions[:, last, None] + rows
            last_rows += np.arange(n_resamples)[:, None] * circles.n_places
            np.add.at(opened.reshape(-1), last_rows.reshape(-1), np.uint8(1))
        beyond = circles.length - 1
        if beyond:
            for k, (begin, size) in enumerate(zip(circles.offsets, circles.sizes, strict=True)):
                start = int(begin + k * beyond)
                end = start + int(size)
                opened[:, start : start + beyond] += opened[:, end : end + beyond]
        return circles.by_row(opened[:, circles.at])


class SeriesBlock(UnitBlock):
    """Resamples of blocks of rows in time.

    Parameters
    ----------
    units_of_codes : UnitsOfCodes
        The statistic's codes; atoms are rows.
    starts : Starts
        The blocks of each resample.
    """

    def __init__(self, units_of_codes: UnitsOfCodes, starts: Starts) -> None:
        super().__init__(units_of_codes, starts.positions)
        del self.counts
        self.starts = starts

    @cached_property
    def counts(self) -> NDArray[Any]:  # type: ignore[override]
        return self.starts.weights

    def _entry_weights(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        return self._weights_of_entries[:, entries]

    @cached_property
    def _weights_of_entries(self) -> NDArray[Any]:
        """Weights of all entries, (n_resamples, n_entries).

        One resample after the other is read, since the weights of one stay in the cache.
        """
        units = self.units_of_codes.units
        # Units are rows here. All numbers are inside: "clip" saves the check of each.
        return self.counts if units is None else self.counts.take(units[:, 0], axis=1, mode="clip")

    def sums_of_atoms(self, totals: Any) -> Floats:
        """Weighted sums: the sums of all blocks that can be drawn, looked up for those that are."""
        if sparse.issparse(totals):
            return super().sums_of_atoms(totals)
        sums = np.empty((self.n_resamples, totals.shape[1]))
        for k, block_sums in enumerate(self._block_sums(totals)):
            if block_sums.constant is not None:
                sums[:, k] = block_sums.constant
                continue
            for resamples in self._tiles():
                sums[resamples, k] = self._looked_up(block_sums, resamples).sum(axis=1)
        return sums

    def variance(self, terms: Any, gradient: Floats) -> Floats:
        """Sum of the squared influences of the blocks of each resample; see `Block.variance`.

        They are centred within series where there are several, as units are within strata.
        """
        totals = self.units_of_codes.totals(terms)
        totals = totals.toarray() if sparse.issparse(totals) else totals
        sums_of_terms = self._block_sums(totals)
        variance = np.empty(self.n_resamples)
        for resamples in self._tiles():
            influence = np.zeros(self.starts.positions[resamples].shape)
            for k, block_sums in enumerate(sums_of_terms):
                is_constant = block_sums.constant is not None
                sums_of_block = self._sums_of_any if is_constant else self._looked_up
                influence += gradient[resamples, k, None] * sums_of_block(block_sums, resamples)
            if len(self.starts.circles.sizes) > 1:
                influence = self.starts.circles.centred(influence)
            variance[resamples] = np.einsum("ij,ij->i", influence, influence)
        return variance

    def reads_products(self, totals: Any) -> bool:
        """Whether a variance is made of products: never, of the squared sums of blocks."""
        return False

    def _block_sums(self, totals: Floats) -> list[_BlockSums]:
        """Return the sums of each block, for each term, cached for the next block of resamples."""
        circles = self.starts.circles
        sums_of_terms: list[_BlockSums] = self.units_of_codes.kept(
            "block sums", (totals, circles), lambda: _sums_of_blocks(circles, totals)
        )
        return sums_of_terms

    def _tiles(self) -> Iterator[slice]:
        """Yield resamples whose blocks are looked up together."""
        step = max(1, STARTS_AT_ONCE // self.starts.positions.shape[1])
        return (
            slice(start, min(start + step, self.n_resamples))
            for start in range(0, self.n_resamples, step)
        )

    def _looked_up(self, block_sums: _BlockSums, resamples: slice) -> Floats:
        """Return the sum of each block of some resamples, (n_some, n_blocks)."""
        starts, last = self.starts.positions[resamples], self.starts.circles.last_block
        drawn_sums = block_sums.full.take(starts, mode="clip")
        if block_sums.cut is not block_sums.full:
            drawn_sums[:, last] = block_sums.cut[starts[:, last]]
        return drawn_sums

    def _sums_of_any(self, block_sums: _BlockSums, resamples: slice) -> Floats:
        """Return the sum of each block where rows do not differ, wherever the blocks begin.

        One resample, (1, n_blocks), stands for all.
        """
        circles = self.starts.circles
        resample_sums = np.full((1, self.starts.positions.shape[1]), block_sums.full[0])
        resample_sums[:, circles.last_block] = block_sums.cut[circles.offsets]
        return resample_sums


class _BlockSums(NamedTuple):
    """Sums of a term over the block that begins at each position, (n_samples,) each.

    ``full`` are those of blocks of full length, ``cut`` those of the last block of each series,
    the same array where none is shorter. ``constant`` is the sum over a resample if it is the same
    for all, as is the number of rows.
    """

    full: Floats
    cut: Floats
    constant: float | None


def _sums_of_blocks(circles: Circles, totals: Floats) -> list[_BlockSums]:
    """Sum each term of rows (n_samples, n_terms) over every block that can be drawn."""
    in_time = circles.in_time(np.asarray(totals))
    full = circles.block_sums(in_time, circles.length)
    some_are_cut = bool(np.any(circles.last_length != circles.length))
    cut = circles.block_sums(in_time, circles.last_length) if some_are_cut else full
    is_constant = np.all(in_time == in_time[0], axis=0)
    sums_of_terms = []
    for k, column in enumerate(in_time.T):
        full_of_term = full[k]
        cut_of_term = cut[k] if some_are_cut else full_of_term
        constant = float(column.sum()) if is_constant[k] else None
        sums_of_terms.append(_BlockSums(full_of_term, cut_of_term, constant))
    return sums_of_terms


class ObservedSeries(ObservedBlock):
    """One resample, the data as they are, of rows in time.

    Parameters
    ----------
    units_of_codes : UnitsOfCodes
        The statistic's codes; atoms are rows.
    counts : ndarray of shape (1, n_samples)
        Ones.
    design : SeriesDesign
        Where the rows stand.
    """

    def __init__(
        self, units_of_codes: UnitsOfCodes, counts: NDArray[Any], design: SeriesDesign
    ) -> None:
        super().__init__(units_of_codes, counts)
        self.design = design

    def influence(self, terms: Any, gradient: Floats) -> Floats:
        """Influence of each of the blocks that series are cut into; see `Block.influence`."""
        row_influence = super().influence(terms, gradient)
        influence = np.bincount(self.design.circles.block_of_row, row_influence).astype(np.float64)
        circles = self.design.circles
        return influence if self.design.strata is None else circles.centred(influence)

    def variance(self, terms: Any, gradient: Floats) -> Floats:
        """Variance over resamples of a function that is linear in the sums, (1,).

        The sum over the blocks of a resample of the mean squared influence of all that can be
        drawn in its place, centred within series.
        """
        circles = self.design.circles
        row_influence = super().influence(terms, gradient)
        [(full, cut, _)] = _sums_of_blocks(circles, row_influence[:, None])
        variance = 0.0
        for start, size, n in zip(circles.offsets, circles.sizes, circles.n_blocks, strict=True):
            at = slice(int(start), int(start + size))
            variance += (n - 1) * np.var(full[at]) + np.var(cut[at])
        return np.array([variance])


@dataclass(frozen=True, eq=False, kw_only=True)
class SeriesDesign(SamplingDesign):
    """Blocks of consecutive rows, or of the rows of consecutive times, drawn within each series.

    Attributes
    ----------
    circles : Circles
        Where the rows, or their times, stand.
    times : ndarray of shape (n_samples,), optional
        Number of the time of each row, from 0, where several rows of a series have the same; what
        is said of rows here and in `Circles` is then so of times, each with all of its rows.

    Notes
    -----
    The units are the blocks into which each series is cut from its first row on. They count the
    degrees of freedom, and the jackknife leaves them out one by one.
    """

    circles: Circles
    times: NDArray[np.intp] | None = None

    @classmethod
    def of(
        cls,
        n_samples: int,
        block_length: int,
        series: NDArray[np.intp] | None = None,
        times: NDArray[np.intp] | None = None,
    ) -> SeriesDesign:
        """Rows in time order; ``series`` (n_samples,) numbers the series of each row from 0."""
        n_times, noun = n_samples, "rows"
        if times is not None:
            noun, first_row = "dates", np.unique(times, return_index=True)[1]
            n_times, series = len(first_row), None if series is None else series[first_row]
        sizes, order = np.array([n_times]), None
        if series is not None:
            sizes = np.bincount(series)
            if np.any(np.diff(series) < 0):
                order = np.argsort(series, kind="stable")
        circles = Circles(block_length, sizes, order)
        block = circles.block_of_row
        strata, held_fixed, within = None, tuple[str, ...](), ""
        if len(sizes) > 1:
            strata, held_fixed = circles.series_of_block, ("the length of each series",)
            within = f" within each of {len(sizes)} series"
        text = f"Circular blocks of {block_length} consecutive {noun} were resampled{within}."
        return cls(
            n_samples,
            (int(circles.n_blocks.sum()),),
            (block if times is None else block[times])[:, None],
            strata,
            held_fixed,
            circles=circles,
            times=times,
            **(vars(SERIES) | {"remarks": (Note("choice", text),)}),
        )

    @cached_property
    def row_by_row(self) -> SeriesDesign:
        """Return the same series in blocks of one row, numbered series by series in time."""
        circles, series = self.circles, None
        if len(circles.sizes) > 1:
            series = circles.by_row(np.repeat(np.arange(len(circles.sizes)), circles.sizes))
            series = series if self.times is None else series[self.times]
        return self.of(self.n_samples, 1, series, self.times)

    def bind(self, codings: Sequence[CodedRows], *, as_rows: bool = False) -> Bound:
        """See `SamplingDesign.bind`; atoms are single rows, or times with all of their rows.

        Units are blocks, but any row may begin one: `draw` draws where blocks begin, and a
        `SeriesBlock` counts how many of them hold each row. So statistics are bound to rows, also
        those of a subgroup to all rows, since a block may hold some of it and others.
        """
        n_atoms = int(self.circles.sizes.sum())
        if self.times is None:
            units_of_codes, multiplicity, strata = bind_rows(codings, n_atoms, None, as_rows=True)
        else:
            units_of_codes, multiplicity, strata = bind_groups(codings, self.times, n_atoms, None)
        return [units.among_all(n_atoms) for units in units_of_codes], multiplicity, strata

    def draw(
        self,
        rng: np.random.Generator,
        n_resamples: int,
        multiplicity: tuple[NDArray[np.int64], ...],
        strata: Strata | None,
    ) -> tuple[NDArray[np.integer], ...]:
        """Draw the position at which each block begins, (n_resamples, n_blocks).

        Any position of the block's series, by one random integer; see `Starts`.
        """
        circles = self.circles
        sizes = circles.sizes[circles.series_of_block]
        # A single size is drawn faster than one for each block.
        high: Any = int(sizes[0]) if len(circles.sizes) == 1 else sizes
        starts = rng.integers(0, high, size=(n_resamples, len(sizes)))
        if len(circles.sizes) > 1:
            starts += circles.offsets[circles.series_of_block]
        return (starts,)

    def blocks(
        self,
        units_of_codes: Sequence[UnitsOfCodes],
        counts: tuple[NDArray[np.integer], ...],
        strata: NDArray[np.intp] | None,
    ) -> list[Block]:
        """See `SamplingDesign.blocks`; all statistics share the weights of the rows."""
        starts = Starts(self.circles, counts[0])
        return [SeriesBlock(units, starts) for units in units_of_codes]

    def observed(
        self,
        units_of_codes: Sequence[UnitsOfCodes],
        multiplicity: tuple[NDArray[np.int64], ...],
        strata: NDArray[np.intp] | None,
    ) -> list[Block]:
        """See `SamplingDesign.observed`."""
        counts = multiplicity[0][None]
        return [ObservedSeries(units, counts, self) for units in units_of_codes]

    def jackknife_resamples(
        self,
        units_of_codes: Sequence[UnitsOfCodes],
        multiplicity: tuple[NDArray[np.int64], ...],
        strata: NDArray[np.intp] | None,
        n_sets: int,
    ) -> Iterator[JackknifeResamples]:
        """Yield the data without each block; see `SamplingDesign.jackknife_resamples`."""
        block, n_blocks = self.circles.block_of_row, self.n_units[0]
        units_as_blocks = [
            replace(
                units,
                units=block[
                    np.arange(units.n_entries) if units.units is None else units.units[:, 0]
                ][:, None],
                n_atoms=(n_blocks,),
                _cache=[],
            )
            for units in units_of_codes
        ]
        times = np.ones(n_blocks, dtype=np.int64)
        return leave_one_out(units_as_blocks, times, self.strata, n_sets)
