"""A block of resamples, and the ways a statistic can read it.

A statistic numbers its interchangeable rows by *codes*; a block knows how often each code occurs
in each of its resamples, and gives that in the form the statistic asks for:

* `Block.sums`: weighted sums of terms, for functions of sums;
* `Block.running`: running sums of terms along the codes, for curves over thresholds;
* `Block.sum_over_thresholds`: the sum of a function of these, for areas under curves;
* `Block.pairs`: weighted number of ordered pairs, for the area under the ROC curve;
* `Block.crossing`: running sums on both sides of where a monotone gap changes sign, for
  thresholds and quantiles;
* `Block.rows`: repeated row indices, for any callable.

`Block` derives all of them from the weights of consecutive codes. `UnitBlock` (rows and groups)
overrides what has a shorter way, as do the blocks of other modules (crossed designs, resamples
drawn when they are read, resamples that lack a unit).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .coding import UnitsOfCodes
from .prefix_sums import (
    EXACT,
    WIDTH,
    Gap,
    SignChange,
    as_bytes,
    as_flags,
    ends_within,
    joined,
    pairs_in_order,
    running_sums,
    search_tiles,
    sum_of_first,
    sums_before_tiles,
)

Floats = NDArray[np.float64]
Steps = Callable[[Floats, Floats], Floats]

# Elements a tile holds at most: 1 MB of float64, which stays in the cache.
_TILE = 1 << 17
# Tiles that are multiplied at once by a sparse matrix.
_SPARSE_TILES = 4
# Entries of a code that are read as quickly as what follows on its weight.
_ENTRIES_PER_WEIGHT = 8
# Weights held at once where all codes of a resample are needed together.
_WHOLE = 1 << 20
# Terms whose products are summed for a variance, and the share of the parts of such a sum below
# which it is mostly rounding.
_FEW_TERMS = 4
# Atoms whose influences are looked at one by one.
_FEW_ATOMS = 16
_CANCELLED = 1e-8
# Share of positions in levels with both sides up to which ties are corrected for afterwards.
_FEW_TIED = 0.125


class Block(ABC):
    """Some resamples, as one statistic reads them.

    Parameters
    ----------
    units_of_codes : UnitsOfCodes
        The statistic's codes.

    Notes
    -----
    A subclass gives `n_resamples`, `_weights_by_entry` and `_part`, and overrides a reading to
    which its design has a shorter way. Every override must pass the block contract tests.
    """

    def __init__(self, units_of_codes: UnitsOfCodes) -> None:
        self.units_of_codes = units_of_codes

    @property
    @abstractmethod
    def n_resamples(self) -> int:
        """Number of resamples in the block."""

    @abstractmethod
    def _weights_by_entry(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        """Weights of entries, (n_entries, n_resamples), as integers of any type."""

    def _entry_weights(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        """Weights of entries, (n_resamples, n_entries)."""
        return np.ascontiguousarray(self._weights_by_entry(entries).T)

    @abstractmethod
    def _part(self, resamples: slice) -> Block:
        """The block of some of the resamples."""

    @property
    def n_codes(self) -> int:
        """Number of codes."""
        return self.units_of_codes.n_codes

    def _weights(self, codes: slice | NDArray[np.intp]) -> NDArray[Any]:
        """Weights of codes, (n_resamples, n_codes), in the type they have."""
        first, times = self.units_of_codes.first, self.units_of_codes.times
        if first is None and times is None:
            return self._entry_weights(codes)
        if first is None:
            first = np.arange(self.n_codes + 1)
        if isinstance(codes, slice):
            entries: slice | NDArray[np.intp] = slice(
                int(first[codes.start]), int(first[codes.stop])
            )
            starts = first[codes] - first[codes.start]
        else:
            size = first[codes + 1] - first[codes]
            starts = np.cumsum(size) - size
            entries = np.arange(size.sum()) + np.repeat(first[codes] - starts, size)
        return self._added_up(entries, starts)

    def _added_up(
        self, entries: slice | NDArray[np.intp], starts: NDArray[np.intp]
    ) -> NDArray[Any]:
        """Weights of codes whose entries begin at ``starts``, (n_resamples, n_codes)."""
        lanes, times = self._weights_by_entry(entries), self.units_of_codes.times
        n = len(lanes)
        ends = np.append(starts, n).astype(np.int32)
        of_entry = np.ones(n) if times is None else times[entries]
        # Sums of small integers are exact in single precision.
        largest = 255.0 * int(np.diff(ends).max()) * int(of_entry.max())
        exact = lanes.dtype == np.uint8 and largest < EXACT
        dtype = np.float32 if exact else np.float64
        columns = np.arange(n, dtype=np.int32)
        adder = sparse.csr_matrix((of_entry.astype(dtype), columns, ends), shape=(len(starts), n))
        sums = adder @ lanes.astype(dtype)
        return np.ascontiguousarray((as_bytes(sums) if exact else sums).T)

    def _pieces(
        self, order: NDArray[np.intp] | None = None, n_terms: int = 1
    ) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Consecutive codes, in code order or in the given one, and their weights."""
        # Pieces of whole tiles of running sums need no filling up.
        width = max(WIDTH, _TILE // n_terms // self.n_resamples // WIDTH * WIDTH)
        first, n = self.units_of_codes.first, self.n_codes if order is None else len(order)
        start = 0
        while start < n:
            stop = min(start + width, n)
            if first is not None and order is None:
                # Codes of many entries come in shorter pieces.
                fitting = first[start] + _ENTRIES_PER_WEIGHT * width
                last = int(np.searchsorted(first, fitting)) // WIDTH * WIDTH
                stop = min(stop, max(last, start // WIDTH * WIDTH + WIDTH))
            at = slice(start, stop)
            yield at, self._weights(at if order is None else order[at])
            start = stop

    def running(
        self,
        terms: Floats,
        ends: NDArray[np.intp] | None = None,
        order: NDArray[np.intp] | None = None,
    ) -> Iterator[tuple[slice, Floats]]:
        """Yield running sums of terms along the codes.

        Parameters
        ----------
        terms : ndarray of shape (n_positions, n_terms)
            What a row of each position adds to each sum; not negative.
        ends : ndarray of shape (n_ends,), optional
            Positions at which the sums are wanted, rising; None: every position.
        order : ndarray of shape (n_positions,), optional
            Codes in reading order; positions refer to it.

        Yields
        ------
        which : slice
            Which ends.
        sums : ndarray of shape (n_terms, n_resamples, n_which)
            Sums up to and with these ends.
        """
        columns = list(np.ascontiguousarray(terms.T))
        # A term that is 0 between the ends needs the weights at the ends alone.
        own = [
            ends is not None and np.count_nonzero(column[ends]) == np.count_nonzero(column)
            for column in columns
        ]
        columns = [column[ends] if o else column for column, o in zip(columns, own, strict=True)]
        flags = [as_flags(column) for column in columns]
        below = np.zeros((len(columns), self.n_resamples))
        for at, weights in self._pieces(order, len(columns)):
            which, inside = ends_within(ends, at)
            wanted = weights if inside is None else weights.take(inside, axis=1)
            sums = np.empty((len(columns), *wanted.shape))
            for k, (column, flag) in enumerate(zip(columns, flags, strict=True)):
                if own[k] and not wanted.size:
                    continue
                read, some = (wanted, which) if own[k] else (weights, at)
                part = None if flag is None else flag[some]
                upto = running_sums(read, column[some], part, below[k])
                # A copy: the sums are the reader's, to change as it likes.
                below[k] = upto[:, -1]
                sums[k] = upto if own[k] or inside is None else upto.take(inside, axis=1)
            if wanted.size:
                yield which, sums
            # Memory given back before more is asked for is used again, not fetched anew.
            del sums

    def sum_over_thresholds(
        self,
        terms: Floats,
        steps: Steps,
        ends: NDArray[np.intp] | None = None,
        order: NDArray[np.intp] | None = None,
    ) -> tuple[Floats, Floats]:
        """Add up a function of the running sums on both sides of each end.

        Parameters
        ----------
        terms, ends, order
            As for `running`.
        steps : callable
            ``steps(before, sums)``: from the sums before some consecutive ends,
            (n_terms, n_resamples), and those at each of them, (n_terms, n_resamples, n_ends),
            which it may change, to what these ends add, (n_resamples,).

        Returns
        -------
        found : ndarray of shape (n_resamples,)
            The sum over all ends.
        last : ndarray of shape (n_terms, n_resamples)
            Running sums at the last end.
        """
        found = np.zeros(self.n_resamples)
        before = np.zeros((terms.shape[1], self.n_resamples))
        for _, sums in self.running(terms, ends, order):
            last = sums[:, :, -1].copy()
            found += steps(before, sums)
            before = last
            del sums
        return found, before

    def sums(self, terms: Any = None) -> Floats:
        """Weighted sums of terms.

        Parameters
        ----------
        terms : ndarray or sparse matrix of shape (n_codes, n_terms), optional
            Value of each term for a row of each code; None gives the weights of the codes.

        Returns
        -------
        ndarray of shape (n_resamples, n_terms)
        """
        if terms is None:
            return self._weights(slice(0, self.n_codes)).astype(np.float64)
        total = np.zeros((self.n_resamples, terms.shape[1]))
        for codes, weights in self._pieces():
            total += _times(weights.astype(np.float64, copy=False), terms[codes])
        return total

    def pairs(
        self,
        upper: Floats,
        lower: Floats,
        level: NDArray[np.intp] | None = None,
        order: NDArray[np.intp] | None = None,
    ) -> tuple[Floats, Floats]:
        """Sum ``upper`` times ``lower`` over pairs of rows whose upper one comes later.

        Parameters
        ----------
        upper, lower : ndarray of shape (n_positions,)
            What a row of each position counts for on each side; none counts on both.
        level : ndarray of shape (n_positions,), optional
            Level of each position, not falling; within a level, all that counts as lower comes
            first, and its pairs with the upper ones count half. None: each position is a level.
        order : ndarray of shape (n_positions,), optional
            Codes in reading order; positions refer to it. Codes left out count nowhere.

        Returns
        -------
        in_order : ndarray of shape (n_resamples,)
            The sum over those pairs.
        all_pairs : ndarray of shape (n_resamples,)
            The sum over all pairs of an upper and a lower one.
        """
        if level is not None:
            tied = _in_mixed_levels(upper, lower, level)
            if tied.mean() > _FEW_TIED:
                return self._pairs_by_level(upper, lower, level, order)
        found, above, below = np.zeros((3, self.n_resamples))
        flags = as_flags(upper), as_flags(lower)
        for at, weights in self._pieces(order):
            up, low = (
                (side[at], None if flag is None else flag[at])
                for side, flag in zip((upper, lower), flags, strict=True)
            )
            pairs, more_above, more_below = pairs_in_order(weights, up, low, below)
            found += pairs
            above += more_above
            below += more_below
        if level is not None and tied.any():
            found -= 0.5 * self._tied_pairs(upper, lower, level, np.flatnonzero(tied), order)
        return found, above * below

    def _pairs_by_level(
        self, upper: Floats, lower: Floats, level: NDArray[np.intp], order: NDArray[np.intp] | None
    ) -> tuple[Floats, Floats]:
        """`pairs` by running sums at the ends of levels."""
        found, above, below = np.zeros((3, self.n_resamples))
        ends = np.flatnonzero(np.append(np.diff(level), 1))
        for _, (up, low) in self.running(np.column_stack((upper, lower)), ends, order):
            own = np.diff(low, axis=1, prepend=below[:, None])
            up_own = np.diff(up, axis=1, prepend=above[:, None])
            above, below = up[:, -1].copy(), low[:, -1].copy()
            low -= 0.5 * own
            found += np.einsum("ij,ij->i", up_own, low)
        return found, above * below

    def _tied_pairs(
        self,
        upper: Floats,
        lower: Floats,
        level: NDArray[np.intp],
        tied: NDArray[np.intp],
        order: NDArray[np.intp] | None,
    ) -> Floats:
        """Pairs within levels that have both sides, at positions ``tied``: (n_resamples,)."""
        found = np.zeros(self.n_resamples)
        starts = np.concatenate(([0], np.flatnonzero(np.diff(level[tied])) + 1, [len(tied)]))
        # Whole levels at a time, about as many codes as a tile holds.
        first = 0
        while first < len(starts) - 1:
            fitting = starts[first] + _TILE // self.n_resamples
            last = max(first + 1, int(np.searchsorted(starts, fitting, side="right")) - 1)
            part = tied[starts[first] : starts[last]]
            weights = self._weights(part if order is None else order[part])
            begin = starts[first:last] - starts[first]
            up, low = (
                np.add.reduceat(weights * side[part], begin, axis=1) for side in (upper, lower)
            )
            found += np.einsum("ij,ij->i", up, low)
            first = last
        return found

    def crossing(
        self, terms: Floats, *gaps: Gap, ends: NDArray[np.intp] | None = None
    ) -> tuple[SignChange, ...]:
        """Find where monotone gaps change sign along the codes.

        Parameters
        ----------
        terms : ndarray of shape (n_codes, n_terms)
            What is summed along the codes.
        *gaps : callable
            ``gap(running, total)``: from sums (n, n_terms) to (n,) values that do not fall
            along the codes.
        ends : ndarray of shape (n_ends,), optional
            Codes after which a threshold can lie, the last code among them; None: every code.

        Returns
        -------
        tuple of SignChange
            One per gap; if a gap is negative throughout, that is the last end.
        """
        ends = np.arange(self.n_codes) if ends is None else ends
        step = max(1, _WHOLE // self.n_codes)
        parts = [
            self._part(slice(start, start + step))._crossing(terms, gaps, ends)
            for start in range(0, self.n_resamples, step)
        ]
        return joined(parts)

    def _crossing(
        self, terms: Floats, gaps: tuple[Gap, ...], ends: NDArray[np.intp]
    ) -> list[SignChange]:
        """Search in the weights of all codes."""
        pieces = [piece for _, piece in self._pieces()]
        weights = pieces[0] if len(pieces) == 1 else np.hstack(pieces)
        before = sums_before_tiles(weights, terms)
        total = sum_of_first(weights, terms, before, self.n_codes)
        return [search_tiles(weights, terms, before, ends, total, gap) for gap in gaps]

    def rows(self) -> Iterator[NDArray[np.intp]]:
        """Yield, resample by resample, the codes of a resample's rows, each as often as it occurs.

        Meant for statistics whose codes are the rows.
        """
        width = max(1, 8 * _TILE // self.n_codes)
        every = np.arange(self.n_codes)
        for start in range(0, self.n_resamples, width):
            resamples = self._part(slice(start, start + width))
            for weights in resamples._weights(slice(0, self.n_codes)):
                yield np.repeat(every, weights.astype(np.intp))

    def variance(self, terms: Any, gradient: Floats) -> Floats:
        """Variance of a function of sums by the infinitesimal jackknife over units.

        Sum over units of weight times squared influence, the influence of a unit being the
        gradient times the sums of its rows (Efron 1982, section 6.1); centred within strata.

        Parameters
        ----------
        terms : ndarray or sparse matrix of shape (n_codes, n_terms)
            The terms of the sums.
        gradient : ndarray of shape (n_resamples, n_terms)
            Derivative of the function by the sums, at each resample's sums.

        Returns
        -------
        ndarray of shape (n_resamples,)
        """
        raise TypeError("A crossed design has no influence values of single units.")

    def influence(self, terms: Any, gradient: Floats) -> Floats:
        """Influence of a unit of each atom on a function of sums, for the data as they are.

        Parameters
        ----------
        terms : ndarray or sparse matrix of shape (n_codes, n_terms)
            The terms of the sums.
        gradient : ndarray of shape (1, n_terms)
            Derivative of the function by the sums.

        Returns
        -------
        ndarray of shape (n_atoms,)
            The gradient times the sums of the unit's rows, centred within strata; `variance` is
            the sum of their squares over all units.
        """
        raise TypeError("Influences are those of the data as they are, drawn by rows or groups.")


class UnitBlock(Block):
    """Resamples of rows or groups.

    Parameters
    ----------
    units_of_codes : UnitsOfCodes
        The statistic's codes.
    counts : ndarray of shape (n_resamples, n_atoms)
        How often each atom was drawn.
    strata : ndarray of shape (n_atoms,), optional
        Stratum of each atom, numbered from 0.
    """

    def __init__(
        self,
        units_of_codes: UnitsOfCodes,
        counts: NDArray[Any],
        strata: NDArray[np.intp] | None = None,
    ) -> None:
        super().__init__(units_of_codes)
        self.counts = counts
        self.strata = strata
        # The last terms and their sums; those of several statistics are computed together.
        self.known_sums: tuple[Any, Floats] | None = None

    @property
    def n_resamples(self) -> int:
        """Number of resamples in the block."""
        return len(self.counts)

    def _entry_weights(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        if self.units_of_codes.units is None and isinstance(entries, slice):
            return self.counts[:, entries]
        return super()._entry_weights(entries)

    def _weights_by_entry(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        units = self.units_of_codes.units
        if units is not None:
            return self._counts_by_unit.take(units[entries, 0], axis=0)
        return self._counts_by_unit[entries]

    @cached_property
    def _counts_by_unit(self) -> NDArray[Any]:
        """The counts of each atom side by side: then whole rows are read out of order."""
        return np.ascontiguousarray(as_bytes(self.counts).T)

    def _part(self, resamples: slice) -> UnitBlock:
        return UnitBlock(self.units_of_codes, self.counts[resamples], self.strata)

    def sums(self, terms: Any = None) -> Floats:
        """Weighted sums of terms: counts of atoms times the sums of their rows."""
        if terms is None:
            return super().sums()
        if self.known_sums is None or self.known_sums[0] is not terms:
            self.known_sums = terms, self.sums_of_atoms(self.units_of_codes.totals(terms))
        return self.known_sums[1]

    def sums_of_atoms(self, totals: Any) -> Floats:
        """Weighted sums of terms given per atom, (n_atoms, n_terms): (n_resamples, n_terms)."""
        if sparse.issparse(totals):
            # Sparse products want lanes of resamples, and few of them.
            lanes = np.zeros((totals.shape[1], self.n_resamples))
            for atoms in self._atom_tiles(_SPARSE_TILES):
                weights = self.counts[:, atoms].astype(np.float64, order="F")
                lanes += totals[atoms].T @ weights.T
            return np.ascontiguousarray(lanes.T)
        if self.counts.size <= _TILE and self.counts.shape[1] <= _TILE >> 7:
            return self._combined(totals.T, self.counts)
        sums = np.zeros((self.n_resamples, totals.shape[1]))
        for atoms in self._atom_tiles():
            sums += self.counts[:, atoms].astype(np.float64) @ totals[atoms]
        return sums

    def variance(self, terms: Any, gradient: Floats) -> Floats:
        """Variance by the infinitesimal jackknife over units; see `Block.variance`."""
        totals = self.units_of_codes.totals(terms)
        few = self.counts.size <= _TILE and self.counts.shape[1] <= _FEW_ATOMS
        if self.strata is None and few and not sparse.issparse(totals):
            influence = self._combined(totals, gradient)
            influence *= influence
            influence *= self.counts
            return influence.sum(axis=1)
        if self.strata is not None or sparse.issparse(totals) or totals.shape[1] > _FEW_TERMS:
            return self._variance_by_influence(totals, gradient)
        # The square of the influence is a form in products of terms, whose sums are quick.
        first, second = _pairs_of(totals.shape[1])
        sums = self.sums_of_atoms(self._products(terms, totals))
        variance, size = np.zeros((2, self.n_resamples))
        for k, (i, j) in enumerate(zip(first, second, strict=True)):
            part = gradient[:, i] * gradient[:, j] * sums[:, k]
            part *= 1.0 if i == j else 2.0
            variance += part
            size += np.abs(part)
        # Parts that cancel leave nothing but their rounding.
        cancelled = np.flatnonzero(variance <= _CANCELLED * size)
        if cancelled.size:
            resamples = UnitBlock(self.units_of_codes, self.counts[cancelled])
            variance[cancelled] = resamples._variance_by_influence(totals, gradient[cancelled])
        return variance

    def _products(self, terms: Any, totals: Floats) -> Floats:
        """Products of each two terms, (n_atoms, n_pairs), kept for the next block."""
        first, second = _pairs_of(totals.shape[1])
        return self.units_of_codes.kept(
            "products", (terms,), lambda: totals[:, first] * totals[:, second]
        )

    def _variance_by_influence(self, totals: Any, gradient: Floats) -> Floats:
        """Weighted sum over units of their squared influence, centred within strata."""
        n_strata = 0 if self.strata is None else int(self.strata.max()) + 1
        variance = np.zeros(self.n_resamples)
        sums, drawn = np.zeros((2, self.n_resamples, n_strata))
        for atoms in self._atom_tiles():
            weights = self.counts[:, atoms].astype(np.float64)
            influence = _times(gradient, totals[atoms].T)
            variance += np.einsum("ij,ij,ij->i", weights, influence, influence)
            if self.strata is not None:
                within = _one_hot(self.strata[atoms], n_strata)
                sums += (weights * influence) @ within
                drawn += weights @ within
        variance -= np.sum(sums**2 / np.maximum(drawn, 1), axis=1)
        return np.maximum(variance, 0.0)

    def _combined(self, matrix: Floats, columns: NDArray[Any]) -> Floats:
        """``columns @ matrix.T``, (n_resamples, n_rows), each column of it in one piece of memory.

        Formulas work on whole columns. With two atoms a resample has the same sums however many
        others there are, which libraries for matrix products do not promise.
        """
        if self.counts.shape[1] != 2:
            return (matrix @ columns.astype(np.float64, copy=False).T).T
        found = np.empty((len(matrix), len(columns)))
        for factors, row in zip(matrix.tolist(), found, strict=True):
            np.multiply(columns[:, 0], factors[0], out=row)
            for k in range(1, len(factors)):
                row += columns[:, k] * factors[k]
        return found.T

    def _atom_tiles(self, times: int = 1) -> Iterator[slice]:
        width = max(1, times * min(_TILE // self.n_resamples, _TILE >> 3))
        n_atoms = self.counts.shape[1]
        return (slice(start, min(start + width, n_atoms)) for start in range(0, n_atoms, width))


@cache
def _pairs_of(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(n)


def _times(weights: Floats, terms: Any) -> Floats:
    if sparse.issparse(terms):
        return np.ascontiguousarray((terms.T @ weights.T).T)
    return weights @ terms


def _one_hot(numbers: NDArray[np.intp], n: int) -> Any:
    """Sparse (len(numbers), n) matrix with a one in each row."""
    ones = np.ones(len(numbers))
    return sparse.csr_matrix((ones, (np.arange(len(numbers)), numbers)), shape=(len(numbers), n))


def _in_mixed_levels(upper: Floats, lower: Floats, level: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether the level of each position has both sides."""
    with_upper, with_lower = (np.bincount(level, side != 0) > 0 for side in (upper, lower))
    tied: NDArray[np.bool_] = (with_upper & with_lower)[level]
    return tied
