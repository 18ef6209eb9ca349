"""Resamples that lack one unit: the jackknife of a design, in closed form where there is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .block import Block, Floats, Steps, UnitBlock
from .coding import UnitsOfCodes, types_of
from .prefix_sums import Gap, SignChange, joined, search

# Sums without a unit that are taken at once: their temporaries stay in the cache.
_LEFT_OUT_SUMS = 1 << 15
# Units left out one by one at most when each costs a pass over the rows; more are left out in
# random sets, whose third and second moments estimate the same acceleration.
_MOST_UNITS = 1000
# Counts of resamples without a unit that are held at once.
_COUNTS = 1 << 19
# Terms that are subtracted one by one.
_FEW_TERMS = 16


class JackknifeResamples(NamedTuple):
    """Some resamples of the leave-one-unit-out resamples.

    Attributes
    ----------
    blocks : list of Block
        One per statistic; each resample lacks one unit (or one random group of units).
    times : ndarray of shape (n_resamples,)
        Number of units that would give the same resample.
    strata : ndarray of shape (n_resamples,)
        Stratum of the unit.
    """

    blocks: list[Block]
    times: NDArray[np.int64]
    strata: NDArray[np.intp]

    def parts(self, k: int, n_terms: int) -> Iterator[tuple[slice, Block]]:
        """Yield consecutive resamples of one statistic, few where it takes sums of many terms.

        Readings other than sums know of all rows what is worth more than memory that stays in
        the cache; their resamples come together.
        """
        block, n_resamples = self.blocks[k], len(self.times)
        by_parts = block.units_of_codes.reads == "sums"
        step = max(1, _LEFT_OUT_SUMS // n_terms) if by_parts else n_resamples
        for start in range(0, n_resamples, step):
            resamples = slice(start, min(start + step, n_resamples))
            yield resamples, block._part(resamples) if step < n_resamples else block


def leave_one_out(
    units_of_codes: Sequence[UnitsOfCodes],
    multiplicity: NDArray[np.int64],
    strata: NDArray[np.intp] | None,
) -> Iterator[JackknifeResamples]:
    """Yield the data without one unit, for designs of one factor.

    Every unit is left out where every statistic has a closed form or the units are few; else
    about a thousand random sets of units are, dealt out within strata.
    """
    cheap = all(
        each.reads in ("sums", "pairs")
        or (each.reads in ("crossing", "thresholds") and each.code_of_atom is not None)
        for each in units_of_codes
    )
    n = len(multiplicity)
    # Units of one atom give the same resample.
    if not cheap and n > _MOST_UNITS:
        yield from _sets_left_out(units_of_codes, multiplicity, strata)
        return
    stratum = np.broadcast_to(np.intp(0), n) if strata is None else strata
    step = n if cheap else max(1, _COUNTS // n)
    for start in range(0, n, step):
        atoms = range(start, min(start + step, n))
        blocks: list[Block] = [
            JackknifeBlock(each, multiplicity, atoms, strata) for each in units_of_codes
        ]
        at = slice(atoms.start, atoms.stop)
        yield JackknifeResamples(blocks, multiplicity[at], stratum[at])


def _sets_left_out(
    units_of_codes: Sequence[UnitsOfCodes],
    multiplicity: NDArray[np.int64],
    strata: NDArray[np.intp] | None,
) -> Iterator[JackknifeResamples]:
    """Yield the data without random sets of units, dealt out within each stratum."""
    n_atoms = len(multiplicity)
    atom = np.repeat(np.arange(n_atoms), multiplicity)
    stratum = np.zeros(len(atom), np.intp) if strata is None else strata[atom]
    # A fixed stream, because the sets are part of the method and not of the resampling.
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(len(atom))
    order = shuffled[np.argsort(stratum[shuffled], kind="stable")]
    sizes = np.bincount(stratum)
    n_sets = np.maximum(2, np.round(_MOST_UNITS * sizes / sizes.sum())).astype(int)
    sets, of_stratum = [], []
    for h, units in enumerate(np.split(order, np.cumsum(sizes)[:-1])):
        dealt = np.array_split(units, min(n_sets[h], len(units)))
        sets.extend(dealt)
        of_stratum.extend([h] * len(dealt))
    step = max(1, _COUNTS // n_atoms)
    for start in range(0, len(sets), step):
        some = sets[start : start + step]
        counts = np.repeat(multiplicity[None], len(some), axis=0)
        for resample, units in enumerate(some):
            counts[resample] -= np.bincount(atom[units], minlength=n_atoms)
        yield JackknifeResamples(
            [UnitBlock(each, counts, strata) for each in units_of_codes],
            np.ones(len(some), np.int64),
            np.array(of_stratum[start : start + step], dtype=np.intp),
        )


class Types(NamedTuple):
    """Units of each distinct row of terms, along the ends.

    Attributes
    ----------
    number : ndarray of shape (n_positions,), uint8
        Type of each code, in reading order.
    values : ndarray of shape (n_types, n_terms)
        The distinct rows of terms.
    upto : ndarray of shape (n_ends + 1, n_types)
        Units of each type before the first end, and up to each.
    """

    number: NDArray[np.uint8]
    values: Floats
    upto: NDArray[np.int64]

    def running_at(self, end: NDArray[np.intp]) -> Floats:
        """Running sums of all units at some ends, (len(end), n_terms)."""
        return self.upto[end + 1] @ self.values


class ObservedBlock(UnitBlock):
    """The data as they are.

    Parameters
    ----------
    units_of_codes : UnitsOfCodes
        The statistic's codes.
    multiplicity : ndarray of shape (n_atoms,)
        Units in each atom.
    strata : ndarray of shape (n_atoms,), optional
        Stratum of each atom, numbered from 0.
    """

    def __init__(
        self,
        units_of_codes: UnitsOfCodes,
        multiplicity: NDArray[np.int64],
        strata: NDArray[np.intp] | None = None,
    ) -> None:
        super().__init__(units_of_codes, multiplicity[None], strata)

    def influence(self, terms: Any, gradient: Floats) -> Floats:
        """Influence of a unit of each atom; see `Block.influence`."""
        influence: Floats = np.asarray(self.units_of_codes.totals(terms) @ gradient[0])
        if self.strata is not None:
            n_units = np.bincount(self.strata, self.counts[0])
            means = np.bincount(self.strata, self.counts[0] * influence) / n_units
            influence = influence - means[self.strata]
        return influence

    def crossing(
        self, terms: Floats, *gaps: Gap, ends: NDArray[np.intp] | None = None
    ) -> tuple[SignChange, ...]:
        """Search in running counts of the few kinds of units there are."""
        types = self.types_along(terms, ends)
        if types is None:
            return super().crossing(terms, *gaps, ends=ends)
        n_ends = len(types.upto) - 1
        total = types.running_at(np.array([n_ends - 1]))
        return tuple(search(types.running_at, total, n_ends, gap) for gap in gaps)

    def types_along(
        self,
        terms: Floats,
        ends: NDArray[np.intp] | None = None,
        order: NDArray[np.intp] | None = None,
    ) -> Types | None:
        """Running counts of each type, kept; None if there are more than a few types."""
        return self.units_of_codes.kept(
            "types", (terms, ends), lambda: self._types_along(terms, ends, order)
        )

    def _types_along(
        self, terms: Floats, ends: NDArray[np.intp] | None, order: NDArray[np.intp] | None
    ) -> Types | None:
        found = types_of(terms)
        if found is None:
            return None
        number, values = found
        weights = self._weights(slice(0, self.n_codes))[0]
        weights = weights if order is None else weights[order]
        ones = int(weights.max()) == 1
        upto = np.zeros((len(values), (len(terms) if ends is None else len(ends)) + 1), np.int64)
        for k in range(len(values)):
            of_type = number == k
            running = np.cumsum(of_type if ones else of_type * weights, dtype=np.int64)
            upto[k, 1:] = running if ends is None else running[ends]
        return Types(number, values, np.ascontiguousarray(upto.T))


class JackknifeBlock(UnitBlock):
    """The data with one unit taken out per resample.

    Parameters
    ----------
    units_of_codes : UnitsOfCodes
        The statistic's codes.
    multiplicity : ndarray of shape (n_atoms,)
        Units in each atom.
    atoms : range
        Atoms that lose a unit, one in each resample.
    strata : ndarray of shape (n_atoms,), optional
        Stratum of each atom, numbered from 0.
    """

    def __init__(
        self,
        units_of_codes: UnitsOfCodes,
        multiplicity: NDArray[np.int64],
        atoms: range,
        strata: NDArray[np.intp] | None = None,
    ) -> None:
        Block.__init__(self, units_of_codes)
        self.multiplicity = multiplicity
        self.atoms = atoms
        self.strata = strata

    @cached_property
    def counts(self) -> NDArray[Any]:  # type: ignore[override]
        counts = np.repeat(self.multiplicity[None], len(self.atoms), axis=0)
        counts[np.arange(len(self.atoms)), np.array(self.atoms)] -= 1
        return counts

    @property
    def n_resamples(self) -> int:
        """Number of units left out, one after the other."""
        return len(self.atoms)

    def _part(self, resamples: slice) -> JackknifeBlock:
        return JackknifeBlock(
            self.units_of_codes, self.multiplicity, self.atoms[resamples], self.strata
        )

    @property
    def _at(self) -> slice:
        """The atoms, for indexing."""
        return slice(self.atoms.start, self.atoms.stop)

    @cached_property
    def _whole(self) -> ObservedBlock:
        # One for all parts of the resamples: it knows the sums of all rows.
        member, whole = self.units_of_codes, self.multiplicity
        return member.kept("whole", (whole,), lambda: ObservedBlock(member, whole))

    def sums(self, terms: Any = None) -> Floats:
        """Sums of all rows less those of the unit."""
        if terms is None:
            return super().sums()
        left_out = self.units_of_codes.totals(terms)[self._at]
        left_out = left_out.toarray() if sparse.issparse(left_out) else left_out
        whole = self._whole.sums(terms)
        if left_out.shape[1] > _FEW_TERMS:
            return whole - left_out
        # One column after the other: numpy is slow along a few terms.
        found = np.empty((left_out.shape[1], len(left_out)))
        for k, column in enumerate(found):
            np.subtract(whole[0, k], left_out[:, k], out=column)
        return found.T

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
        totals = self.units_of_codes.totals(with_all[:, None])[:, 0]
        within = self._pairs_within_units(upper, lower, level)
        own = self.units_of_codes.totals(np.column_stack((upper, lower)))
        all_pairs = (up.sum() - own[:, 0]) * (low.sum() - own[:, 1])
        in_order = up @ lower_below - totals + within
        return in_order[self._at], all_pairs[self._at]

    def _pairs_within_units(self, upper: Floats, lower: Floats, level: NDArray[np.intp]) -> Floats:
        """Pairs of rows of one unit, for each atom, (n_atoms,)."""
        member = self.units_of_codes
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
    ) -> tuple[SignChange, ...]:
        """Search once for all units that add the same, wherever they stand."""
        if self.units_of_codes.code_of_atom is None:
            return super().crossing(terms, *gaps, ends=ends)
        types = self._whole.types_along(terms, ends)
        if types is None:
            return self._search_lines(terms, gaps, ends)
        own = self._own(types, ends, None)
        return tuple(_without_units(types, gap, *own) for gap in gaps)

    def _search_lines(
        self, terms: Floats, gaps: tuple[Gap, ...], ends: NDArray[np.intp] | None
    ) -> tuple[SignChange, ...]:
        """Search in running sums of all rows, less the unit's own."""
        code = self.units_of_codes.code_of_atom
        assert code is not None
        ends = np.arange(self.n_codes) if ends is None else ends
        running = np.cumsum(self._whole.sums()[0][:, None] * terms, axis=0)
        code = code[self._at]
        own = np.vstack((terms, np.zeros(terms.shape[1])))[code]

        def running_at(end: NDArray[np.intp]) -> Floats:
            return running[ends[end]] - own * (code <= ends[end])[:, None]

        total = running[-1] - own
        return tuple(search(running_at, total, len(ends), gap) for gap in gaps)

    def _own(
        self, types: Types, ends: NDArray[np.intp] | None, order: NDArray[np.intp] | None
    ) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
        """The end from which each unit is counted, and its type; past the last for none."""
        n_positions = len(types.number)
        position = self.units_of_codes.code_of_atom
        assert position is not None
        if order is not None:
            at = np.full(self.n_codes + 1, n_positions)
            at[order] = np.arange(n_positions)
            position = at[position]
        own_end = np.arange(n_positions)
        if ends is not None:
            own_end = np.searchsorted(ends, own_end)
        position = position[self._at]
        own_end = np.append(own_end, len(types.upto))[position]
        return own_end, np.append(types.number, np.uint8(len(types.values)))[position]

    def sum_over_thresholds(
        self,
        terms: Floats,
        steps: Steps,
        ends: NDArray[np.intp] | None = None,
        order: NDArray[np.intp] | None = None,
    ) -> tuple[Floats, Floats]:
        """Sums over the ends before the unit, its own, and those after it, for each type."""
        known = self.units_of_codes.code_of_atom is not None
        types = self._whole.types_along(terms, ends, order) if known else None
        if types is None:
            return super().sum_over_thresholds(terms, steps, ends, order)
        own_end, own_type = self._own(types, ends, order)
        running = (types.upto @ types.values).T
        before, at = running[:, :-1], running[:, 1:, None]
        n_ends = at.shape[1]
        up_to = np.append(0.0, np.cumsum(steps(before, at.copy())))
        found = np.full(self.n_resamples, up_to[-1])
        last = np.repeat(running[:, -1:], self.n_resamples, axis=1)
        for kind, value in enumerate(types.values):
            resamples = np.flatnonzero((own_type == kind) & (own_end < n_ends))
            end, less = own_end[resamples], value[:, None]
            # What is never looked at, as the unit is not there yet, may be undefined.
            with np.errstate(invalid="ignore", divide="ignore"):
                at_own = steps(before, at - less[:, :, None])
                after = steps(before - less, at - less[:, :, None])
            beyond = np.append(np.cumsum(after[::-1])[::-1], 0.0)
            found[resamples] = up_to[end] + at_own[end] + beyond[end + 1]
            last[:, resamples] -= less
        return found, last


def _without_units(
    types: Types, gap: Gap, own_end: NDArray[np.intp], own_type: NDArray[np.uint8]
) -> SignChange:
    """Crossings without each unit: a few outcomes of each type.

    A unit is missing from its own end on. If the sums with it cross before that, there is the
    crossing; otherwise it lies where the sums without it cross, but not before its own end.
    """
    n_ends = len(types.upto) - 1
    values = np.vstack((types.values, np.zeros(types.values.shape[1])))
    totals = types.running_at(np.array([n_ends - 1])) - values
    # All searches at once: those with the unit, and those without it.
    less = np.vstack((np.zeros_like(values), values))
    both = search(partial(_less, types, less), np.vstack((totals, totals)), n_ends, gap)
    lasts, firsts = np.split(both.end, 2)
    # Outcomes of each type: crossed before the unit; after it; and at its own end.
    n_own = np.maximum(lasts - firsts, 0) + 1
    kind = np.repeat(np.arange(len(values)), n_own)
    at = np.arange(n_own.sum()) - np.repeat(np.cumsum(n_own) - n_own - firsts, n_own)
    before = np.where((at > 0)[:, None], types.running_at(np.maximum(at - 1, 0)), 0.0)
    at_own = SignChange(at, before, types.running_at(at) - values[kind], totals[kind])
    (found,) = joined([[both], [at_own]])
    n_types = len(values)
    first_own = 2 * n_types + np.cumsum(n_own) - n_own
    number = own_end + (first_own - firsts)[own_type]
    after = own_end < firsts[own_type]
    number[after] = n_types + own_type[after]
    crossed = own_end > lasts[own_type]
    number[crossed] = own_type[crossed]
    return found._replace(outcome=number)


def _less(types: Types, values: Floats, end: NDArray[np.intp]) -> Floats:
    return types.running_at(end) - values


def _by_code(values: NDArray[Any], order: NDArray[np.intp], n_codes: int) -> NDArray[Any]:
    by_code = np.zeros(n_codes, dtype=values.dtype)
    by_code[order] = values
    return by_code
