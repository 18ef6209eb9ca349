"""Resamples that lack one unit: the jackknife of a design, in closed form where there is one."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .block import Block, Crossing, Floats, Gap, UnitBlock, search
from .membership import Membership


class LeaveOneOutBlock(UnitBlock):
    """The data with one unit taken out per line.

    Parameters
    ----------
    membership : Membership
        The statistic's codes.
    multiplicity : ndarray of shape (n_atoms,)
        Units in each atom.
    atoms : ndarray of shape (n_lines,)
        Atom that loses a unit in each line.
    strata : ndarray of shape (n_atoms,), optional
        Stratum of each atom, numbered from 0.
    """

    def __init__(
        self,
        membership: Membership,
        multiplicity: NDArray[np.int64],
        atoms: NDArray[np.intp],
        strata: NDArray[np.intp] | None = None,
    ) -> None:
        Block.__init__(self, membership)
        self.multiplicity = multiplicity
        self.atoms = atoms
        self.strata = strata

    @cached_property
    def counts(self) -> NDArray[Any]:  # type: ignore[override]
        counts = np.repeat(self.multiplicity[None], len(self.atoms), axis=0)
        counts[np.arange(len(self.atoms)), self.atoms] -= 1
        return counts

    @property
    def n_lines(self) -> int:
        """Number of units left out, one after the other."""
        return len(self.atoms)

    def _lines(self, lines: slice) -> LeaveOneOutBlock:
        return LeaveOneOutBlock(self.membership, self.multiplicity, self.atoms[lines], self.strata)

    @cached_property
    def _whole(self) -> UnitBlock:
        return UnitBlock(self.membership, self.multiplicity[None])

    def sums(self, terms: Any = None) -> Floats:
        """Sums of all rows less those of the unit."""
        if terms is None:
            return super().sums()
        left_out = self.membership.totals(terms)[self.atoms]
        left_out = left_out.toarray() if sparse.issparse(left_out) else left_out
        return self._whole.sums(terms) - left_out

    def pairs(
        self,
        upper: Floats,
        lower: Floats,
        level: NDArray[np.intp] | None = None,
        order: NDArray[np.intp] | None = None,
    ) -> tuple[Floats, Floats]:
        """Pairs of all rows, less those of the unit with all, plus those within the unit.

        The form is bilinear in the weights: B(w - e, w - e) = B(w, w) - B(e, w) - B(w, e)
        + B(e, e).
        """
        level = np.arange(len(upper)) if level is None else level
        if order is not None:
            # Codes that the order leaves out count on neither side, so any level will do.
            upper, lower, level = (
                _by_code(values, order, self.n_codes) for values in (upper, lower, level)
            )
        weight = self._whole.sums()[0]
        n_levels = int(level.max()) + 1
        up = np.bincount(level, weight * upper, n_levels)
        low = np.bincount(level, weight * lower, n_levels)
        lower_below = np.cumsum(low) - 0.5 * low
        upper_above = up.sum() - np.cumsum(up) + 0.5 * up
        with_all = upper * lower_below[level] + lower * upper_above[level]
        totals = self.membership.totals(with_all[:, None])[:, 0]
        within = self._pairs_within_units(upper, lower, level)
        own = self.membership.totals(np.column_stack((upper, lower)))
        all_pairs = (up.sum() - own[:, 0]) * (low.sum() - own[:, 1])
        in_order = up @ lower_below - totals + within
        return in_order[self.atoms], all_pairs[self.atoms]

    def _pairs_within_units(self, upper: Floats, lower: Floats, level: NDArray[np.intp]) -> Floats:
        """Pairs of rows of one unit, for each atom, (n_atoms,)."""
        member = self.membership
        if member.code_of_atom is not None:
            # A single code pairs with itself alone, and none counts on both sides.
            return np.zeros(member.n_atoms[0])
        code = member.code_of_entry
        atom = np.arange(len(code)) if member.units is None else member.units[:, 0]
        times = np.ones(len(code)) if member.times is None else member.times
        by = np.lexsort((level[code], atom))
        atom, code, times = atom[by], code[by], times[by]
        new = np.flatnonzero(np.r_[True, (np.diff(atom) != 0) | (np.diff(level[code]) != 0)])
        up = np.add.reduceat(times * upper[code], new)
        low = np.add.reduceat(times * lower[code], new)
        atom = atom[new]
        running = np.cumsum(low)
        before_atom = (running - low)[np.searchsorted(atom, atom)]
        pairs = up * (running - 0.5 * low - before_atom)
        return np.bincount(atom, pairs, member.n_atoms[0]).astype(np.float64)

    def crossing(
        self, terms: Floats, *gaps: Gap, ends: NDArray[np.intp] | None = None
    ) -> tuple[Crossing, ...]:
        """Search in running sums of all rows, less the unit's own."""
        code = self.membership.code_of_atom
        if code is None:
            return super().crossing(terms, *gaps, ends=ends)
        ends = np.arange(self.n_codes) if ends is None else ends
        running = np.cumsum(self._whole.sums()[0][:, None] * terms, axis=0)
        code = code[self.atoms]
        own = np.vstack((terms, np.zeros(terms.shape[1])))[code]

        def running_at(end: NDArray[np.intp]) -> Floats:
            return running[ends[end]] - own * (code <= ends[end])[:, None]

        total = running[-1] - own
        return tuple(search(running_at, total, len(ends), gap) for gap in gaps)


def _by_code(values: NDArray[Any], order: NDArray[np.intp], n_codes: int) -> NDArray[Any]:
    by_code = np.zeros(n_codes, dtype=values.dtype)
    by_code[order] = values
    return by_code
