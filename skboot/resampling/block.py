"""A block of resamples, and the ways a statistic can read it.

A statistic numbers its interchangeable rows by *codes*; a block knows how often each code occurs
in each of its resamples, and gives that in the form the statistic asks for:

* `Block.sums`: weighted sums of terms, for functions of sums;
* `Block.running`: running sums of terms along the codes, for curves over thresholds;
* `Block.sum_over_thresholds`: the sum of a function of these, for areas under curves;
* `Block.pairs`: weighted number of ordered pairs, for the area under the ROC curve;
* `Block.crossing`: running sums on both sides of where a monotone gap changes sign, for
  thresholds and quantiles;
* `Block.reached`: the same where a running sum reaches many shares of its total, for curves;
* `Block.rows`: repeated row indices, for any callable.

`Block` derives all of them from the weights of consecutive codes. `UnitBlock`, of units of one
factor (rows, groups, or atoms of interchangeable rows), and the blocks of other modules (crossed
factors, resamples drawn when they are read, resamples that lack a unit) override the readings to
which they have a shorter way.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._tuning import (
    ATOMS_PER_CODE,
    BY_UNIT_RESAMPLES,
    CACHED_COUNTS,
    CANCELLED_SHARE,
    CODES_OF_ATOMS,
    ENTRIES_PER_WEIGHT,
    EXACT_SINGLE,
    INFLUENCE_ATOMS,
    PRODUCT_TERMS,
    ROUNDING_SHARE,
    SEARCH_WEIGHTS,
    SHARED_TERMS,
    SPARSE_TILES,
    TIED_SHARE,
    TILE_ELEMENTS,
    TILE_WIDTH,
)
from .coding import UnitsOfCodes, pairs_of_terms
from .draws import AtomCounts, tiles_of_strata
from .prefix_sums import (
    Gap,
    SignChange,
    SumsAtShares,
    as_bytes,
    as_flags,
    columns_of,
    ends_and_sides,
    ends_within,
    halved_order,
    in_mixed_levels,
    joined,
    pairs_by_halves,
    pairs_by_level,
    pairs_in_order,
    reach,
    running_sums,
    search_tiles,
    starts_of_levels,
    sum_of_first,
    sums_before_tiles,
)

Array = NDArray[Any]
Floats = NDArray[np.float64]
AddedAtEnds = Callable[[Floats, Floats], Floats]


class Block(ABC):
    """Some resamples, as one statistic reads them.

    Parameters
    ----------
    units_of_codes : UnitsOfCodes
        The statistic's codes.
    n_resamples : int
        Number of resamples in the block.

    Notes
    -----
    A subclass gives `_weights_by_entry` and `_part`, and overrides a reading to
    which its design has a shorter way. Every override must pass the block contract tests.
    """

    # Whether its sums are those of two counts, the same however many resamples are read together.
    of_two_codes = False
    # Whether a variance of its sums will be asked for.
    with_variance = False

    def __init__(self, units_of_codes: UnitsOfCodes, n_resamples: int) -> None:
        self.units_of_codes = units_of_codes
        self.n_resamples = n_resamples

    @abstractmethod
    def _weights_by_entry(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        """Return weights of entries, (n_entries, n_resamples), as integers of any type."""

    def _entry_weights(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        """Return weights of entries, (n_resamples, n_entries)."""
        return np.ascontiguousarray(self._weights_by_entry(entries).T)

    @abstractmethod
    def _part(self, resamples: slice) -> Block:
        """Return the block of some of the resamples."""

    @property
    def n_codes(self) -> int:
        """Number of codes."""
        return self.units_of_codes.n_codes

    def _weights(self, codes: slice | NDArray[np.intp]) -> NDArray[Any]:
        """Return weights of codes, (n_resamples, n_codes), in whatever type they come."""
        first_entries, times = self.units_of_codes.entry_starts, self.units_of_codes.times
        if first_entries is None and times is None:
            return self._entry_weights(codes)
        if first_entries is None:
            first_entries = np.arange(self.n_codes + 1)
        if isinstance(codes, slice):
            entries: slice | Array = slice(
                int(first_entries[codes.start]), int(first_entries[codes.stop])
            )
            starts = first_entries[codes] - first_entries[codes.start]
        else:
            size = first_entries[codes + 1] - first_entries[codes]
            starts = np.cumsum(size) - size
            entries = np.arange(size.sum()) + np.repeat(first_entries[codes] - starts, size)
        # The weights of the entries of each code are added up.
        weights = self._weights_by_entry(entries)
        n = len(weights)
        ends = np.append(starts, n).astype(np.int32)
        entry_times = np.ones(n) if times is None else times[entries]
        # Sums of small integers are exact in single precision.
        largest = 255.0 * int(np.diff(ends).max()) * int(entry_times.max())
        exact = weights.dtype == np.uint8 and largest < EXACT_SINGLE
        dtype = np.float32 if exact else np.float64
        columns = np.arange(n, dtype=np.int32)
        adder = sparse.csr_matrix(
            (entry_times.astype(dtype), columns, ends), shape=(len(starts), n)
        )
        sums = adder @ weights.astype(dtype)
        return np.ascontiguousarray((as_bytes(sums) if exact else sums).T)

    def _pieces(
        self, order: NDArray[np.intp] | None = None, n_terms: int = 1
    ) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield consecutive codes, in code order or in the given one, and their weights."""
        # A piece is made of whole tiles of running sums, so that it need not be filled up with 0.
        width = max(
            TILE_WIDTH, TILE_ELEMENTS // n_terms // self.n_resamples // TILE_WIDTH * TILE_WIDTH
        )
        entry_starts, n = (
            self.units_of_codes.entry_starts,
            self.n_codes if order is None else len(order),
        )
        start = 0
        while start < n:
            stop = min(start + width, n)
            if entry_starts is not None and order is None:
                # A piece holds fewer codes where reading their entries takes longer than the
                # arithmetic on their weights.
                fitting = entry_starts[start] + ENTRIES_PER_WEIGHT * width
                last = int(np.searchsorted(entry_starts, fitting)) // TILE_WIDTH * TILE_WIDTH
                stop = min(stop, max(last, start // TILE_WIDTH * TILE_WIDTH + TILE_WIDTH))
            at = slice(start, stop)
            yield at, self._weights(at if order is None else order[at])
            start = stop

    def _derived(self, make: Callable[..., Any], of: tuple[Any, ...], order: Array | None) -> Any:
        """Return what is made of arrays of the data, kept for the next block.

        With an order there may be others for each of several classes, which are made anew.
        """
        if order is not None:
            return make(*of)
        return self.units_of_codes.kept(make.__name__, of, partial(make, *of))

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
        # With an order there are terms for each of several classes, which are not kept.
        cached, of = self.units_of_codes.kept, (terms, ends)
        read = (
            cached("read", of, lambda: columns_of(terms, ends))
            if order is None
            else columns_of(terms, ends)
        )
        below = np.zeros((len(read), self.n_resamples))
        for at, weights in self._pieces(order, len(read)):
            which, inside = ends_within(ends, at)
            weights_at_ends = weights if inside is None else weights.take(inside, axis=1)
            sums = np.empty((len(read), *weights_at_ends.shape))
            for k, (column, is_flag, at_ends) in enumerate(read):
                if at_ends and not weights_at_ends.size:
                    continue
                weights_read, positions = (weights_at_ends, which) if at_ends else (weights, at)
                upto = running_sums(weights_read, column[positions], is_flag, below[k])
                # The last sums are copied, because the reader may change what it is given.
                below[k] = upto[:, -1]
                sums[k] = upto if at_ends or inside is None else upto.take(inside, axis=1)
            if weights_at_ends.size:
                yield which, sums
            # Memory that is freed before more is allocated is used again by the allocator.
            del sums

    def sum_over_thresholds(
        self,
        terms: Floats,
        added: AddedAtEnds,
        ends: NDArray[np.intp] | None = None,
        order: NDArray[np.intp] | None = None,
    ) -> tuple[Floats, Floats]:
        """Add up a function of the running sums on both sides of each end.

        Parameters
        ----------
        terms, ends, order
            As for `running`.
        added : callable
            ``added(before, sums)``: from the sums before some consecutive ends,
            (n_terms, n_resamples), and those at each of them, (n_terms, n_resamples, n_ends),
            which it may change, to what these ends add, (n_resamples,).

        Returns
        -------
        total : ndarray of shape (n_resamples,)
            The sum over all ends.
        last : ndarray of shape (n_terms, n_resamples)
            Running sums at the last end.
        """
        total = np.zeros(self.n_resamples)
        before = np.zeros((terms.shape[1], self.n_resamples))
        for _, sums in self.running(terms, ends, order):
            last = sums[:, :, -1].copy()
            total += added(before, sums)
            before = last
            del sums
        return total, before

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
            total += times_terms(weights.astype(np.float64, copy=False), terms[codes])
        return total

    def pairs(
        self,
        upper: Array,
        lower: Array,
        level: NDArray[np.intp] | None = None,
        order: NDArray[np.intp] | None = None,
    ) -> tuple[Floats, Floats]:
        """Sum ``upper`` times ``lower`` over pairs of rows whose upper one comes later.

        Parameters
        ----------
        upper, lower : ndarray of shape (n_positions,)
            What a row of each position counts for on each side, as floats, or flags where that is
            0 or 1; none counts on both.
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
        tied: Array = np.empty(0, np.intp)
        if level is not None:
            tied = self._derived(in_mixed_levels, (upper, lower, level), order)
            if len(tied) > TIED_SHARE * len(level):
                return self._pairs_by_level(upper, lower, level, order)
        flags = as_flags(upper), as_flags(lower)
        in_order, above, below = self._pairs_in_order((upper, lower), flags, order)
        if level is not None and len(tied):
            in_order -= 0.5 * self._tied_pairs(upper, lower, level, tied, order)
        return in_order, above * below

    def _pairs_in_order(
        self, sides: tuple[Array, Array], flags: tuple[Any, Any], order: Array | None
    ) -> tuple[Floats, Floats, Floats]:
        """Return `pairs` where ties count whole, and the sums of both sides.

        ``flags`` are the sides as bytes, None for one that has other values than 0 and 1.
        """
        in_order, above, below = np.zeros((3, self.n_resamples))
        for at, weights in self._pieces(order):
            up, low = (
                (side[at], None if flag is None else flag[at])
                for side, flag in zip(sides, flags, strict=True)
            )
            pairs, more_above, more_below = pairs_in_order(weights, up, low, below)
            in_order += pairs
            above += more_above
            below += more_below
        return in_order, above, below

    def _pairs_by_level(
        self, upper: Array, lower: Array, level: Array, order: Array | None
    ) -> tuple[Floats, Floats]:
        """Return `pairs` from running sums at the ends of levels."""
        up_flags, low_flags = as_flags(upper), as_flags(lower)
        if up_flags is not None and low_flags is not None:
            starts = self._derived(starts_of_levels, (level,), order)
            in_order, n_upper = np.zeros((2, self.n_resamples))
            below_levels = np.zeros((2, self.n_resamples))
            for at, weights in self._pieces(order):
                pairs, n_more, below_levels = pairs_by_level(
                    weights, up_flags[at], low_flags[at], starts[at] - at.start, below_levels
                )
                in_order += pairs
                n_upper += n_more
            return in_order, n_upper * below_levels[1]
        in_order, above, below = np.zeros((3, self.n_resamples))
        ends, sides = self._derived(ends_and_sides, (upper, lower, level), order)
        for _, (up, low) in self.running(sides, ends, order):
            up_of_level, half_of_level = np.empty_like(up), np.empty_like(low)
            for upto, before, of_level in ((up, above, up_of_level), (low, below, half_of_level)):
                np.subtract(upto[:, 0], before, out=of_level[:, 0])
                np.subtract(upto[:, 1:], upto[:, :-1], out=of_level[:, 1:])
            above, below = up[:, -1].copy(), low[:, -1].copy()
            half_of_level *= 0.5
            low -= half_of_level
            in_order += np.einsum("ij,ij->i", up_of_level, low)
        return in_order, above * below

    def _tied_pairs(
        self, upper: Array, lower: Array, level: Array, tied: Array, order: Array | None
    ) -> Floats:
        """Return pairs within the levels at positions ``tied``, (n_resamples,)."""
        pairs = np.zeros(self.n_resamples)
        starts = np.concatenate(([0], np.flatnonzero(np.diff(level[tied])) + 1, [len(tied)]))
        # Each step takes whole levels, of about as many codes as a tile holds.
        lowest = 0
        while lowest < len(starts) - 1:
            fitting = starts[lowest] + TILE_ELEMENTS // self.n_resamples
            last = max(lowest + 1, int(np.searchsorted(starts, fitting, side="right")) - 1)
            positions = tied[starts[lowest] : starts[last]]
            weights = self._weights(positions if order is None else order[positions])
            begin = starts[lowest:last] - starts[lowest]
            up, low = (
                np.add.reduceat(weights * side[positions].astype(np.float64), begin, axis=1)
                for side in (upper, lower)
            )
            pairs += np.einsum("ij,ij->i", up, low)
            lowest = last
        return pairs

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
        step = max(1, SEARCH_WEIGHTS // self.n_codes)
        pieces = []
        for part in self._parts_of_width(step):
            weights = part._all_weights()
            before = sums_before_tiles(weights, terms)
            total = sum_of_first(weights, terms, before, self.n_codes)
            pieces.append([search_tiles(weights, terms, before, ends, total, gap) for gap in gaps])
        return joined(pieces)

    def reached(
        self, terms: Floats, shares: Floats, ends: NDArray[np.intp] | None
    ) -> Iterator[SumsAtShares]:
        """Find where the running sum of the first term reaches shares of its total.

        Parameters
        ----------
        terms : ndarray of shape (n_codes, n_terms)
            What is summed along the codes.
        shares : ndarray of shape (n_shares,)
            In [0, 1].
        ends : ndarray of shape (n_ends,), or None
            Codes after which a threshold can lie, the last code among them; None: every code.

        Yields
        ------
        SumsAtShares
            Sums on both sides of the first end at which each share is reached, of some resamples
            after the others, as many as fit the cache.
        """
        step = max(1, SEARCH_WEIGHTS // max(self.n_codes, TILE_WIDTH * len(shares)))
        weights = (part._all_weights() for part in self._parts_of_width(step))
        return reach(weights, terms, shares, ends)

    def _parts_of_width(self, width: int) -> Iterator[Block]:
        for start in range(0, self.n_resamples, width):
            yield self._part(slice(start, start + width))

    def _all_weights(self) -> NDArray[Any]:
        """Return weights of all codes, (n_resamples, n_codes)."""
        pieces = [piece for _, piece in self._pieces()]
        return pieces[0] if len(pieces) == 1 else np.hstack(pieces)

    def rows(self) -> Iterator[NDArray[np.intp]]:
        """Yield the codes of the rows of each resample, each code as often as it occurs.

        Meant for statistics whose codes are the rows.
        """
        width = max(1, 8 * TILE_ELEMENTS // self.n_codes)
        codes = np.arange(self.n_codes)
        for part in self._parts_of_width(width):
            for weights in part._weights(slice(0, self.n_codes)):
                yield np.repeat(codes, weights.astype(np.intp))

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
        How often each of its atoms was drawn.
    strata : ndarray of shape (n_atoms,), optional
        Stratum of each of its atoms, numbered from 0.
    all_atoms : AtomCounts, optional
        The atoms of the binding where it has a part of them.

    Attributes
    ----------
    key_of_atoms : hashable
        The same for blocks of the same atoms; None for all.
    keeps_totals : bool
        Whether the sums of the rows of each atom are kept for the next block.
    has_few_atoms : bool
        Whether the influences of all atoms are computed in one piece.
    """

    key_of_atoms: Any = None
    keeps_totals = True
    # The last terms and their sums, or those of products of each two of them;
    # `Binding.share_sums` computes those of several statistics together.
    known_sums: tuple[Any, Floats] | None = None
    known_products: tuple[Any, Floats] | None = None

    def __init__(
        self,
        units_of_codes: UnitsOfCodes,
        counts: NDArray[Any],
        strata: NDArray[np.intp] | None = None,
        all_atoms: AtomCounts | None = None,
    ) -> None:
        super().__init__(units_of_codes, len(counts))
        self.counts = counts
        self.strata = strata
        self._all_atoms = all_atoms
        n_atoms = counts.shape[1]
        is_alone = n_atoms == units_of_codes.n_codes == 2 and units_of_codes.codes_are_atoms
        self.of_two_codes = is_alone and strata is None
        self.has_few_atoms = n_atoms <= INFLUENCE_ATOMS and counts.size <= TILE_ELEMENTS

    @classmethod
    def of_each(
        cls,
        units_of_codes: Sequence[UnitsOfCodes],
        counts: NDArray[Any],
        strata: NDArray[np.intp] | None = None,
    ) -> list[Self]:
        """Return the block of each statistic, of its own atoms."""
        if strata is None and all(
            units.atoms is None and not units.counts_own_codes for units in units_of_codes
        ):
            return [cls(units, counts) for units in units_of_codes]
        atom_counts, blocks = AtomCounts(counts, strata), []
        for units in units_of_codes:
            own_counts = units.own(atom_counts)
            blocks.append(cls(units, own_counts.counts, own_counts.strata, atom_counts))
            blocks[-1].key_of_atoms = id(own_counts)
        return blocks

    @property
    def all_atoms(self) -> AtomCounts:
        """The atoms of the binding."""
        return AtomCounts(self.counts, self.strata) if self._all_atoms is None else self._all_atoms

    def _entry_weights(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        units = self.units_of_codes.units
        if units is None and isinstance(entries, slice):
            return self.counts[:, entries]
        if units is not None and self.counts.size <= CACHED_COUNTS:
            return self._byte_counts.take(units[entries, 0], axis=1)
        return super()._entry_weights(entries)

    def _weights_by_entry(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        units = self.units_of_codes.units
        if units is not None:
            return self._counts_by_unit.take(units[entries, 0], axis=0)
        return self._counts_by_unit[entries]

    def _pairs_in_order(
        self, sides: tuple[Array, Array], flags: tuple[Any, Any], order: Array | None
    ) -> tuple[Floats, Floats, Floats]:
        """See `Block`; flags of codes of one unit each are read by unit, in halves of a piece."""
        units, (upper, lower) = self.units_of_codes, flags
        has_one_each = units.entry_starts is None and units.times is None
        if not has_one_each or units.units is None or upper is None or lower is None:
            return super()._pairs_in_order(sides, flags, order)
        counts = self._counts_by_unit if self.n_resamples >= BY_UNIT_RESAMPLES else self.counts
        if self.n_resamples < BY_UNIT_RESAMPLES or counts.dtype != np.uint8:
            return super()._pairs_in_order(sides, flags, order)
        unit = units.units[:, 0] if order is None else units.units[order, 0]
        largest, n = int(counts.max(initial=0)), len(unit)
        width = 1 << ((TILE_ELEMENTS // self.n_resamples).bit_length() - 1)
        in_order, above, below = np.zeros((3, self.n_resamples))
        for start in range(0, n, width):
            # The last piece is filled up with codes that count on neither side.
            at = start + halved_order(min(width, 1 << (n - start - 1).bit_length()))
            is_inside = at < n
            at = np.minimum(at, n - 1)
            up, low = upper[at] * is_inside, lower[at] * is_inside
            weights = counts.take(unit[at], axis=0)
            pairs, more_above, more_below = pairs_by_halves(weights, up, low, largest)
            in_order += pairs
            in_order += more_above * below
            above += more_above
            below += more_below
        return in_order, above, below

    @cached_property
    def _counts_by_unit(self) -> NDArray[Any]:
        """Counts by atom, (n_atoms, n_resamples), since whole rows are read fast in any order."""
        return np.ascontiguousarray(self._byte_counts.T)

    @cached_property
    def _byte_counts(self) -> NDArray[Any]:
        """The counts, as bytes if they fit."""
        return as_bytes(self.counts)

    def _part(self, resamples: slice) -> UnitBlock:
        atom_counts = None if self._all_atoms is None else self._all_atoms.part(resamples)
        return UnitBlock(self.units_of_codes, self.counts[resamples], self.strata, atom_counts)

    def with_counts(self, counts: NDArray[Any]) -> UnitBlock:
        """Return other resamples of the same atoms, (n_resamples, n_atoms)."""
        return UnitBlock(self.units_of_codes, counts)

    def parts(self, starts: NDArray[np.intp]) -> list[UnitBlock]:
        """Return the same resamples of each of some ranges of codes, as blocks of their own.

        Parameters
        ----------
        starts : ndarray of shape (n_ranges + 1,)
            Range k holds the codes from ``starts[k]`` to ``starts[k + 1]``; in its block they are
            numbered from 0, as are the atoms that occur in it.
        """
        return UnitBlock.of_each(self.units_of_codes.divided(starts), self.counts)

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        """Whether a resample holds none of the atoms, (n_resamples,)."""
        nothing: NDArray[np.bool_] = np.logical_not(self.counts.any(axis=1))
        return nothing

    def sums(self, terms: Any = None) -> Floats:
        """Weighted sums of terms: counts of atoms times the sums of their rows."""
        if terms is None:
            return super().sums()
        if self.known_sums is None or self.known_sums[0] is not terms:
            units = self.units_of_codes
            totals = units.totals(terms) if self.keeps_totals else units.totals_of(terms)
            is_mean = self.with_variance and totals.shape[1] == 2 and self.n_resamples > 1
            if is_mean and self._is_small and self.reads_products(totals):
                # The sums of the variance of a mean are made in the same time beside its own, and
                # round as they do by themselves, where the processor has AVX; those of other terms
                # do not.
                sums = self.sums_of_atoms(units.with_products(terms))
                self.known_sums, self.known_products = (terms, sums[:, :2]), (terms, sums[:, 2:])
            else:
                self.known_sums = terms, self.sums_of_atoms(totals)
        return self.known_sums[1]

    @property
    def _is_small(self) -> bool:
        """Whether all counts are read at once."""
        return self.counts.size <= TILE_ELEMENTS and self.counts.shape[1] <= TILE_ELEMENTS >> 7

    def sums_of_atoms(self, totals: Any) -> Floats:
        """Weighted sums, (n_resamples, n_terms), of totals of each atom, (n_atoms, n_terms)."""
        if self._is_small and not sparse.issparse(totals):
            return self._combined(totals.T, self.counts)
        return weighted_sums(self.counts, totals)

    def variance(self, terms: Any, gradient: Floats) -> Floats:
        """Variance by the infinitesimal jackknife over units; see `Block.variance`."""
        totals = self.units_of_codes.totals(terms)
        if self.has_few_atoms and self.strata is None and not sparse.issparse(totals):
            influence = self._combined(totals, gradient)
            influence *= influence
            influence *= self.counts
            return influence.sum(axis=1)
        if self.reads_products(totals):
            return self._variance_by_products(terms, gradient)
        return self._variance_by_influence(totals, gradient)

    def reads_products(self, totals: Any) -> bool:
        """Whether a variance is made of sums of products of each two of these terms of atoms.

        Influences of few atoms are squared as they are, and those of many terms atom by atom.
        """
        dense = self.strata is None and not sparse.issparse(totals)
        return dense and not self.has_few_atoms and totals.shape[1] <= PRODUCT_TERMS

    def _variance_by_products(self, terms: Any, gradient: Floats) -> Floats:
        """Return the squared influences as a quadratic form of the gradient."""
        units = self.units_of_codes
        if self.known_products is None or self.known_products[0] is not terms:
            self.known_products = terms, self.sums_of_atoms(units.products(terms))
        term_a, term_b = pairs_of_terms(gradient.shape[1])
        variance, size = np.zeros((2, self.n_resamples))
        for k, (i, j) in enumerate(zip(term_a.tolist(), term_b.tolist(), strict=True)):
            part = gradient[:, i] * gradient[:, j]
            part *= self.known_products[1][:, k]
            if i != j:
                part *= 2.0
            variance += part
            size += np.abs(part)
        # Where the parts cancel, their sum is mostly rounding.
        cancelled = np.flatnonzero(variance <= CANCELLED_SHARE * size)
        if cancelled.size:
            resamples = UnitBlock(units, self.counts[cancelled])
            variance[cancelled] = resamples._variance_by_influence(
                units.totals(terms), gradient[cancelled]
            )
        return variance

    def _variance_by_influence(self, totals: Any, gradient: Floats) -> Floats:
        """Return the weighted sum of squared influences, centred within strata."""
        variance = np.zeros(self.n_resamples)
        if self.strata is None:
            for tile in atom_tiles(self.counts.shape):
                variance += self._influences(tile, totals, gradient)[1]
            return variance
        units_drawn = self.all_atoms.of_strata
        sums = np.zeros(units_drawn.shape)
        for atoms, starts, strata in tiles_of_strata(self.strata, self.n_resamples):
            weighted, squares = self._influences(atoms, totals, gradient)
            variance += squares
            sums[:, strata] += np.add.reduceat(weighted, starts, axis=1)
        between = np.sum(sums**2 / np.maximum(units_drawn, 1), axis=1)
        with np.errstate(invalid="ignore"):
            # A class that a resample lacks has influences without bound.
            within = variance - between
        # Where each stratum has one influence, the difference of the two is rounding.
        return np.where(within <= ROUNDING_SHARE * variance, 0.0, within)

    def _influences(self, atoms: Any, totals: Any, gradient: Floats) -> tuple[Floats, Floats]:
        """Return weighted influences of some atoms, and the weighted sum of their squares."""
        weighted = self.counts[:, atoms].astype(np.float64)
        influence = times_terms(gradient, totals[atoms].T)
        weighted *= influence
        return weighted, np.einsum("ij,ij->i", weighted, influence)

    def _combined(self, matrix: Floats, columns: NDArray[Any]) -> Floats:
        """Return ``columns @ matrix.T``, (n_resamples, n_rows), contiguous by column for formulas.

        With two atoms a resample must have the same sums however many others there are, because
        its block may be cut (record 0015); libraries for matrix products do not promise that.
        """
        if self.counts.shape[1] != 2:
            return (matrix @ columns.astype(np.float64, copy=False).T).T
        combined = np.empty((len(matrix), len(columns)))
        for factors, row in zip(matrix.tolist(), combined, strict=True):
            np.multiply(columns[:, 0], factors[0], out=row)
            for k in range(1, len(factors)):
                row += columns[:, k] * factors[k]
        return combined.T


def weighted_sums(counts: NDArray[Any], totals: Any) -> NDArray[np.float64]:
    """Return ``counts @ totals``, (n_resamples, n_terms), of totals of atoms, dense or sparse."""
    n_resamples, n_terms = len(counts), totals.shape[1]
    if sparse.issparse(totals):
        # A sparse product is fastest with the resamples of an atom side by side.
        by_term = np.zeros((n_terms, n_resamples))
        for atoms in atom_tiles(counts.shape, SPARSE_TILES):
            weights = counts[:, atoms].astype(np.float64, order="F")
            by_term += totals[atoms].T @ weights.T
        return np.ascontiguousarray(by_term.T)
    sums = np.zeros((n_resamples, n_terms))
    for atoms in atom_tiles(counts.shape, n_terms=n_terms):
        sums += counts[:, atoms].astype(np.float64) @ totals[atoms]
    return sums


def atom_tiles(shape: tuple[int, ...], times: int = 1, n_terms: int = 1) -> Iterator[slice]:
    """Yield some atoms at a time, whose counts and terms stay in the cache.

    Parameters
    ----------
    shape : tuple of int
        Numbers of resamples and of atoms.
    times : int
        How many times as many as stay there.
    n_terms : int
        Number of terms that are read beside the counts.
    """
    n_resamples, n_atoms = shape
    most = TILE_ELEMENTS // max(8, n_terms)
    width = max(1, times * min(TILE_ELEMENTS // n_resamples, most))
    return (slice(start, min(start + width, n_atoms)) for start in range(0, n_atoms, width))


def times_terms(weights: Floats, terms: Any) -> Floats:
    """Return ``weights @ terms``, (n_resamples, n_terms)."""
    if sparse.issparse(terms):
        return np.ascontiguousarray((terms.T @ weights.T).T)
    return weights @ terms


# Read the counts of a block once for all statistics that are computed together.
#
# * `SharedSums`: the terms of functions of sums, and products of their terms, are summed in one
#   product with the counts, which is wide enough to be quick: 16 means of 100,000 rows with their
#   variances take a third of the time;
# * `CountedCodes`: the units of the codes of many statistics of few codes are counted in one
# product.


class ReadTerms(NamedTuple):
    """What a statistic of sums asks its blocks for.

    Attributes
    ----------
    terms : ndarray or sparse matrix of shape (n_codes, n_terms)
        Terms of its sums.
    with_variance : bool
        Whether it asks for a variance, which is made of sums of products of its terms.
    """

    terms: Any
    with_variance: bool


class SharedSums(NamedTuple):
    """The columns that several statistics of the same atoms sum, each of them once.

    So statistics with equal terms have equal sums to the last bit.

    Attributes
    ----------
    columns : ndarray or SideBySide of shape (n_atoms, n_columns)
        Distinct columns of terms, and of products of each two of them, of atoms.
    terms : list of ndarray
        The terms of each statistic.
    of_terms, of_products : list of ndarray
        Which columns are those of a statistic's terms, and of its products, which may be none.
    """

    columns: Floats | SideBySide
    terms: list[Floats]
    of_terms: list[NDArray[np.intp]]
    of_products: list[NDArray[np.intp]]

    @classmethod
    def of(cls, blocks: Sequence[UnitBlock], read: Sequence[ReadTerms]) -> SharedSums:
        """Find them for the statistics of these blocks.

        Parameters
        ----------
        blocks : sequence of UnitBlock
            One per statistic, of the same atoms.
        read : sequence of ReadTerms
            What each will ask for.
        """
        totals, products = [], []
        for block, (terms, with_variance) in zip(blocks, read, strict=True):
            atom_totals = block.units_of_codes.totals(terms)
            multiplied = with_variance and block.reads_products(atom_totals)
            totals.append(atom_totals)
            products.append(
                block.units_of_codes.products(terms) if multiplied else atom_totals[:, :0]
            )
        distinct, numbers = distinct_columns([*totals, *products])
        are_few = len(distinct) * len(distinct[0]) <= SHARED_TERMS
        columns = np.column_stack(distinct) if are_few else SideBySide(distinct)
        n = len(blocks)
        return cls(columns, [reader.terms for reader in read], numbers[:n], numbers[n:])

    def hand_out(self, blocks: Sequence[UnitBlock]) -> None:
        """Sum them in the resamples of these blocks, and let each know what it will be asked."""
        sums = blocks[0].sums_of_atoms(self.columns)
        for block, terms, numbers, products in zip(blocks, *self[1:], strict=True):
            block.known_sums = terms, sums[:, numbers]
            if len(products):
                block.known_products = terms, sums[:, products]


class SideBySide:
    """Columns that are put side by side for some atoms at a time: all take much memory.

    Parameters
    ----------
    columns : list of ndarray of shape (n_atoms,)
    """

    def __init__(self, columns: list[Floats]) -> None:
        self.columns = columns
        self.shape = len(columns[0]), len(columns)

    def __getitem__(self, atoms: Any) -> Floats:
        return np.stack([column[atoms] for column in self.columns]).T

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self[:].astype(dtype or np.float64, copy=False)


def distinct_columns(
    matrices: Sequence[NDArray[Any]],
) -> tuple[list[NDArray[Any]], list[NDArray[np.intp]]]:
    """Return the distinct columns of some matrices, and the numbers of those in each matrix."""
    distinct: list[NDArray[Any]] = []
    numbers_by_key: dict[bytes, list[int]] = {}
    columns = []
    for matrix in matrices:
        matrix_numbers = []
        for column in matrix.T:
            # Columns whose keys differ are different; only the others are compared as a whole.
            key = hashlib.blake2b((column + 0.0).tobytes(), digest_size=16).digest()
            numbers = numbers_by_key.setdefault(key, [])
            equal = [k for k in numbers if np.array_equal(distinct[k], column)]
            if not equal:
                equal = [len(distinct)]
                numbers.append(len(distinct))
                distinct.append(column)
            matrix_numbers.append(equal[0])
        columns.append(np.array(matrix_numbers, dtype=np.intp))
    return distinct, columns


# ------------------------------------------------------------------ few codes among many atoms


@dataclass(frozen=True, eq=False)
class CountedCodes(UnitsOfCodes):
    """A statistic of few codes among many atoms: its own atoms are its codes.

    Many statistics together have many atoms, of which each tells a few sets apart: the recall of
    one of 500 classes two of some thousand cells. Once the units of these sets are counted, in one
    product, a statistic costs what its codes cost, and no pass over the atoms.

    Attributes
    ----------
    counting : sparse matrix of shape (n_atoms, n_counted)
        Of all such statistics: a one where the units of an atom are counted for a code.
    first_counted : int
        Column of the statistic's first code in it.
    largest : int
        The code of most atoms, or one past the last for those without a code: its units are not
        counted, since they are those that the other codes leave.
    """

    counting: Any = None
    first_counted: int = 0
    largest: int = 0
    counts_own_codes: ClassVar[bool] = True

    def own(self, atom_counts: AtomCounts) -> AtomCounts:
        """See `UnitsOfCodes.own`."""
        counts: AtomCounts = atom_counts.kept(
            id(self), lambda: AtomCounts(self._counts(atom_counts))
        )
        return counts

    def _counts(self, atom_counts: AtomCounts) -> Floats:
        all_counts = atom_counts.kept(
            id(self.counting), lambda: weighted_sums(atom_counts.counts, self.counting)
        )
        counted = all_counts[:, self.first_counted : self.first_counted + self.n_codes]
        counts = np.empty((len(counted), self.n_codes + 1), order="F")
        counts[:, : self.largest] = counted[:, : self.largest]
        counts[:, self.largest + 1 :] = counted[:, self.largest :]
        counts[:, self.largest] = atom_counts.n_units - counted.sum(axis=1)
        return counts[:, :-1]


def with_few_codes_counted(units_of_codes: Sequence[UnitsOfCodes]) -> list[UnitsOfCodes]:
    """Return the units of some statistics of one factor, with `CountedCodes` where these are quick.

    They are where several statistics have few codes among many atoms.
    """
    units_counted, n_atoms = list(units_of_codes), units_of_codes[0].n_atoms[0]
    chosen = [
        k
        for k, units in enumerate(units_of_codes)
        if units.reads == "sums"
        and units.atoms is None
        and units.n_codes * ATOMS_PER_CODE <= n_atoms
    ]
    n_codes = [units_of_codes[k].n_codes for k in chosen]
    if len(chosen) < 2 or sum(n_codes) * n_atoms <= CODES_OF_ATOMS:
        return units_counted
    largest, atoms, columns = [], [], []
    starts = np.concatenate(([0], np.cumsum(n_codes)))
    for k, start in zip(chosen, starts, strict=False):
        code = units_of_codes[k].code_of_atom
        # An atom of rows has one code at most.
        assert code is not None
        largest_code = int(np.argmax(np.bincount(code, minlength=units_of_codes[k].n_codes + 1)))
        counted = np.flatnonzero(code != largest_code)
        largest.append(largest_code)
        atoms.append(counted)
        columns.append(start + code[counted] - (code[counted] > largest_code))
    at = np.concatenate(atoms), np.concatenate(columns)
    counting = sparse.csr_matrix((np.ones(len(at[0])), at), shape=(n_atoms, int(starts[-1])))
    for k, largest_code, start in zip(chosen, largest, starts.tolist(), strict=False):
        n = units_of_codes[k].n_codes
        units_counted[k] = CountedCodes(
            n, (n,), reads="sums", counting=counting, first_counted=start, largest=largest_code
        )
    return units_counted
