"""Resamples of two crossed factors: a row weighs the product of the weights of its two members.

Sums over rows are then bilinear forms u' L v of the members' weights, which are much quicker than
weights of single rows. A search for a sign change takes two such forms for the running sums at the
sign change of the data, and weighs the rows around it alone.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._tuning import EXACT_SINGLE, FULL_SHARE, TILE_WIDTH, WINDOW_ROWS, WINDOW_SHARE
from .block import Block, Floats
from .coding import UnitsOfCodes
from .prefix_sums import (
    Gap,
    SignChange,
    as_bytes,
    search_tiles,
    sum_of_first,
    sums_before_tiles,
)


class _Form(NamedTuple):
    """A term, summed over the rows of each pair of members.

    ``matrix`` (n_first, n_second) leaves out pairs of a member with itself in one population;
    ``diagonal`` (n_members,) holds these. ``largest`` bounds the sums of ``matrix`` over one side.
    """

    matrix: Any
    diagonal: Floats | None
    largest: float


class CrossedBlock(Block):
    """Resamples of two crossed factors, or of one population on both sides.

    Parameters
    ----------
    units_of_codes : UnitsOfCodes
        The statistic's codes; units (n_entries, 2).
    counts : tuple of two ndarrays of shape (n_resamples, n_members)
        How often each member was drawn; the same array twice for one population.
    """

    def __init__(
        self, units_of_codes: UnitsOfCodes, counts: tuple[NDArray[Any], NDArray[Any]]
    ) -> None:
        super().__init__(units_of_codes, len(counts[0]))
        self.counts = counts

    @property
    def _one_population(self) -> bool:
        return self.counts[0] is self.counts[1]

    def _weights_by_entry(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        units = self.units_of_codes.units
        assert units is not None
        members_a, members_b = units[entries].T
        sides = self._counts_by_unit
        weights = sides[0].take(members_a, axis=0)
        weights *= sides[1].take(members_b, axis=0)
        if self._one_population:
            # A member paired with itself was sampled once: it weighs w, not w squared.
            with_itself = np.flatnonzero(members_a == members_b)
            weights[with_itself] = sides[0][members_a[with_itself]]
        return weights

    @cached_property
    def _counts_by_unit(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Counts by member, (n_members, n_resamples) for each side, as bytes if products fit."""
        sides = [as_bytes(side) for side in self.counts]
        if int(sides[0].max(initial=0)) * int(sides[1].max(initial=0)) > 255:
            sides = [side.astype(np.int64) for side in sides]
        side_a, side_b = (np.ascontiguousarray(side.T) for side in sides)
        return side_a, side_b

    def _part(self, resamples: slice) -> CrossedBlock:
        side_a = self.counts[0][resamples]
        side_b = side_a if self._one_population else self.counts[1][resamples]
        return CrossedBlock(self.units_of_codes, (side_a, side_b))

    # ------------------------------------------------------------------ bilinear forms

    def sums(self, terms: Any = None) -> Floats:
        """Weighted sums as bilinear forms u' L v, one matrix L of row sums per term."""
        if terms is None:
            return super().sums()
        right = self.counts[1].astype(np.float64)
        sums = np.empty((self.n_resamples, terms.shape[1]))
        # Kept for the next block.
        forms = self.units_of_codes.kept(
            "forms", (terms,), lambda: [self._form(terms, k) for k in range(terms.shape[1])]
        )
        for k, form in enumerate(forms):
            exact = (
                form.matrix.dtype == np.float32
                and self._largest_count * form.largest < EXACT_SINGLE
            )
            dtype = np.float32 if exact else np.float64
            counts: NDArray[Any] = self.counts[0].astype(dtype)
            sums[:, k] = np.einsum(
                "ij,ij->i", counts @ form.matrix.astype(dtype, copy=False), right
            )
            if form.diagonal is not None:
                sums[:, k] += counts @ form.diagonal
        return sums

    @cached_property
    def _largest_count(self) -> int:
        return int(self.counts[0].max(initial=0))

    def _form(self, terms: Any, k: int) -> _Form:
        """Return the form of one term."""
        units, (height, width) = self.units_of_codes.units, self.units_of_codes.n_atoms
        assert units is not None
        value = terms[:, k].toarray()[:, 0] if sparse.issparse(terms) else terms[:, k]
        if self.units_of_codes.entry_starts is not None:
            value = np.repeat(value, np.diff(self.units_of_codes.entry_starts))
        n_nonzero = np.count_nonzero(value)
        dense = n_nonzero > FULL_SHARE * height * width
        if not dense:
            nonzero = np.flatnonzero(value)
            units, value = units.take(nonzero, axis=0), value[nonzero]
        diagonal: Floats | None = None
        if self._one_population:
            with_itself = units[:, 0] == units[:, 1]
            diagonal = np.bincount(units[with_itself, 0], value[with_itself], height).astype(
                np.float64
            )
            value = np.where(with_itself, 0.0, value)
        matrix: Any
        if dense:
            # Members are numbered in 32 bits, which the number of a pair may exceed.
            at = units[:, 0] * np.intp(width)
            at += units[:, 1]
            matrix = np.bincount(at, value, height * width).reshape(height, width)
            del at
        else:
            matrix = sparse.csr_matrix((value, units.T), shape=(height, width))
        size = matrix if value.min(initial=0.0) >= 0 else abs(matrix)
        largest = float(np.max(size.sum(axis=0))) if n_nonzero else 0.0
        # Small sums of integers are exact in single precision, whose products take half the time.
        if largest < EXACT_SINGLE and np.array_equal(value, np.rint(value)):
            matrix = matrix.astype(np.float32)
        return _Form(matrix, diagonal, largest)

    # ------------------------------------------------------------------ searching

    def crossing(
        self, terms: Floats, *gaps: Gap, ends: NDArray[np.intp] | None = None
    ) -> tuple[SignChange, ...]:
        """Search the rows around the sign change of the data; see `Block.crossing`."""
        if self.units_of_codes.n_entries < WINDOW_ROWS:
            return super().crossing(terms, *gaps, ends=ends)
        return tuple(self._crossing_near(terms, gap, ends) for gap in gaps)

    def _crossing_near(self, terms: Floats, gap: Gap, ends: NDArray[np.intp] | None) -> SignChange:
        """Double a window around ``middle`` until it holds the sign changes of all resamples."""
        key, ends = (terms, gap, ends), np.arange(self.n_codes) if ends is None else ends
        middle, on_both_sides = self.units_of_codes.kept(
            "middle", key, lambda: self._middle(terms, gap, ends)
        )
        at_middle, beyond = np.hsplit(self.sums(on_both_sides), 2)
        total = at_middle + beyond
        radius = max(TILE_WIDTH, int(WINDOW_SHARE * len(ends)))
        while True:
            low, high = max(middle - radius, 0), min(middle + radius, len(ends) - 1)
            start = int(ends[low - 1]) + 1 if low else 0
            codes = slice(start, int(ends[high]) + 1)
            weights = self._weights(codes)
            inside_terms = terms[codes]
            before = sums_before_tiles(weights, inside_terms)
            up_to = int(ends[middle]) + 1 - start
            below = at_middle - sum_of_first(weights, inside_terms, before, up_to)
            after = below + sum_of_first(weights, inside_terms, before, weights.shape[1])
            inside = (low == 0) | (gap(below, total) < 0)
            inside &= (high == len(ends) - 1) | (gap(after, total) >= 0)
            if inside.all():
                break
            radius *= 2
        local = ends[low : high + 1] - start
        before += below[:, None, :]
        change = search_tiles(weights, inside_terms, before, local, total, gap, below)
        return change._replace(end=change.end + low)

    def _middle(
        self, terms: Floats, gap: Gap, ends: NDArray[np.intp]
    ) -> tuple[int, NDArray[np.float64]]:
        """Return the end of the sign change of the data, and its terms up to there and beyond."""
        starts = self.units_of_codes.entry_starts
        times = 1 if starts is None else np.diff(starts)
        running = np.cumsum(terms.T * times, axis=1).T[ends]
        reached = gap(running, np.broadcast_to(running[-1], running.shape)) >= 0
        middle = int(np.argmax(reached)) if reached.any() else len(ends) - 1
        on_both_sides = np.hstack((terms, terms))
        on_both_sides[ends[middle] + 1 :, : terms.shape[1]] = 0.0
        on_both_sides[: ends[middle] + 1, terms.shape[1] :] = 0.0
        return middle, on_both_sides
