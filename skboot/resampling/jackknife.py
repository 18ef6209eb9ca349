"""The data as they are, and without one unit: the jackknife, in closed form where there is one.

`leave_one_out` yields all of them for designs of one factor. Closed forms, and searches on demand,
start from running counts of the data, which `ObservedBlock` caches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._base.values import repeated
from ._tuning import (
    FEWEST_LEFT_OUT,
    JACKKNIFE_COUNTS,
    JACKKNIFE_SUMS,
    JACKKNIFE_TERMS,
    JACKKNIFE_UNITS,
    TILE_ELEMENTS,
)
from .block import AddedAtEnds, Block, Floats, UnitBlock
from .coding import UnitsOfCodes, counting_sort, narrow_type, types_of
from .draws import n_units_of
from .prefix_sums import Gap, SignChange, joined, pairs_with_all, search

# ------------------------------------------------------------------ units of a few types
#
# Two units of one type, a distinct row of terms, change the sums alike, so that all of them need
# one pass for each type: a sum over thresholds without a unit hangs on its type and the end from
# which it counts, and so does where a gap changes sign.


class Types(NamedTuple):
    """Running counts of the units of each type, a distinct row of terms.

    Attributes
    ----------
    number : ndarray of shape (n_positions,), uint8
        Type of each code, in reading order.
    values : ndarray of shape (n_types, n_terms)
        The distinct rows of terms.
    upto : ndarray of shape (n_ends + 1, n_types)
        Units of each type before the first end, and up to each; of a narrow type.
    """

    number: NDArray[np.uint8]
    values: Floats
    upto: NDArray[np.signedinteger]

    def running_at(self, end: NDArray[np.intp]) -> Floats:
        """Return running sums of the data at some ends, (len(end), n_terms)."""
        return self.upto[end + 1] @ self.values


class SumsWithoutUnits(NamedTuple):
    """Sums over thresholds without a unit, by its type and its end.

    Attributes
    ----------
    sums : ndarray of shape (n_types * n_ends + 1,)
        What all ends add without a unit of each type and end, and with all units.
    last : ndarray of shape (n_terms, n_types + 1)
        Running sums at the last end without a unit of each type, and with all units.
    place : ndarray of shape (n_atoms,)
        Where the sum without a unit of each atom is.
    unit_type : ndarray of shape (n_atoms,), uint8
        Type of a unit of each atom; one past the last for one that counts nowhere.
    """

    sums: Floats
    last: Floats
    place: NDArray[np.signedinteger]
    unit_type: NDArray[np.uint8]

    def of(self, units: slice) -> tuple[Floats, Floats]:
        """Return the sums without some units, (n_units,), and the last ones, (n_terms, n_units)."""
        return self.sums[self.place[units]], self.last.take(self.unit_type[units], axis=1)


def sums_without_units(
    types: Types,
    added: AddedAtEnds,
    unit_end: NDArray[np.signedinteger],
    unit_type: NDArray[np.uint8],
) -> SumsWithoutUnits:
    """Sum over the ends before a unit, its own end, and those after it, for each type.

    Parameters
    ----------
    types : Types
        Running counts of the data.
    added : callable
        As for `Block.sum_over_thresholds`.
    unit_end : ndarray of shape (n_atoms,)
        The end from which a unit of each atom counts; past all for none.
    unit_type : ndarray of shape (n_atoms,)
        Its type.

    Returns
    -------
    SumsWithoutUnits
    """
    n_types, n_ends = len(types.values), len(types.upto) - 1
    no_units = np.zeros((types.values.shape[1], 1))
    up_to = np.append(0.0, np.cumsum(_added_along(added, types, no_units, no_units)))
    sums = np.empty(n_types * n_ends + 1)
    sums[-1] = up_to[-1]
    for type_sums, value in zip(sums[:-1].reshape(n_types, n_ends), types.values, strict=True):
        less = value[:, None]
        # Some ends that no unit of the type has are undefined; see `_added_along`.
        with np.errstate(invalid="ignore"):
            np.add(up_to[:-1], _added_along(added, types, no_units, less), out=type_sums)
            after = _added_along(added, types, less, less)
            type_sums[:-1] += np.cumsum(after[:0:-1])[::-1]
    # A unit past the last end is in no sum, as one of no type is.
    unit_type = np.where(unit_end < n_ends, unit_type, np.uint8(n_types))
    place: NDArray[Any] = unit_type.astype(narrow_type(len(sums)))
    place *= n_ends
    place += unit_end
    place[unit_type == n_types] = n_types * n_ends
    total = types.running_at(np.array([n_ends - 1]))
    last = (total - np.vstack((types.values, np.zeros(len(no_units))))).T
    return SumsWithoutUnits(sums, last, place, unit_type)


def _added_along(added: AddedAtEnds, types: Types, less_before: Floats, less_at: Floats) -> Floats:
    """Return what each end adds where the sums before it, and at it, are less by these, (n_ends,).

    Ends before the unit are computed as well, but never used; there the running sums less the unit
    may be 0, or negative, and what is added undefined.
    """
    values = np.empty(len(types.upto) - 1)
    with np.errstate(all="ignore"):
        for start in range(0, len(values), TILE_ELEMENTS):
            stop = min(start + TILE_ELEMENTS, len(values))
            running = (types.upto[start : stop + 1] @ types.values).T
            at = (running[:, 1:] - less_at)[:, :, None]
            values[start:stop] = added(running[:, :-1] - less_before, at)
    return values


def change_without_units(
    types: Types, gap: Gap, unit_end: NDArray[np.intp], unit_type: NDArray[np.uint8]
) -> SignChange:
    """Return the sign changes without each unit, which have a few outcomes for each type.

    A unit is missing from its own end on. If the sums with it change sign before that end, they do
    so without it; otherwise the sign changes where the sums without it do, or at its own end if
    that comes later.
    """
    n_ends = len(types.upto) - 1
    values = np.vstack((types.values, np.zeros(types.values.shape[1])))
    totals = types.running_at(np.array([n_ends - 1])) - values
    # The sums with the unit and those without it are searched together.
    less = np.vstack((np.zeros_like(values), values))

    def running_less(end: NDArray[np.intp]) -> Floats:
        return types.running_at(end) - less

    changes = search(running_less, np.vstack((totals, totals)), n_ends, gap)
    lasts, firsts = np.split(changes.end, 2)
    # The outcomes of a type: before the unit, after it, and each of the ends that a unit may have
    # where the sign changes at its own end.
    n_outcomes = np.maximum(lasts - firsts, 0) + 1
    end_type = np.repeat(np.arange(len(values)), n_outcomes)
    at = np.arange(n_outcomes.sum()) - np.repeat(
        np.cumsum(n_outcomes) - n_outcomes - firsts, n_outcomes
    )
    before = np.where((at > 0)[:, None], types.running_at(np.maximum(at - 1, 0)), 0.0)
    at_own = SignChange(at, before, types.running_at(at) - values[end_type], totals[end_type])
    (change,) = joined([[changes], [at_own]])
    n_types = len(values)
    first_own = 2 * n_types + np.cumsum(n_outcomes) - n_outcomes
    number = unit_end + (first_own - firsts)[unit_type]
    after = unit_end < firsts[unit_type]
    number[after] = n_types + unit_type[after]
    crossed = unit_end > lasts[unit_type]
    number[crossed] = unit_type[crossed]
    return change._replace(outcome=number)


class JackknifeResamples(NamedTuple):
    """Some of the resamples that lack one unit.

    Attributes
    ----------
    blocks : list of Block
        One per statistic; each resample lacks one unit, or one random set of units.
    times : ndarray of shape (n_resamples,)
        Number of units without which the data are this resample.
    strata : ndarray of shape (n_resamples,)
        Stratum of the unit.
    sizes : ndarray of shape (n_resamples,) or None
        Units that each resample lacks; None where each lacks one.
    """

    blocks: list[Block]
    times: NDArray[np.int64]
    strata: NDArray[np.intp]
    sizes: NDArray[np.intp] | None = None

    def parts(self, k: int, n_sums: int | None) -> Iterator[tuple[slice, Block]]:
        """Yield consecutive resamples of one statistic, few where each takes many sums.

        None stands for a statistic that derives arrays from the data for each block, so that its
        resamples come together.
        """
        block, n_resamples = self.blocks[k], len(self.times)
        step = n_resamples
        if n_sums is not None:
            step = max(FEWEST_LEFT_OUT, JACKKNIFE_SUMS // n_sums)
        for start in range(0, n_resamples, step):
            resamples = slice(start, min(start + step, n_resamples))
            yield resamples, block._part(resamples) if step < n_resamples else block


def leave_one_out(
    units_of_codes: Sequence[UnitsOfCodes],
    multiplicity: NDArray[np.int64],
    strata: NDArray[np.intp] | None,
    n_sets: int,
) -> Iterator[JackknifeResamples]:
    """Yield the data without one unit, for designs of one factor.

    Every unit is left out where every statistic has a closed form or the units are few; else about
    ``n_sets`` random sets of units are, dealt out within strata.
    """
    n = len(multiplicity)
    cheap = has_closed_forms(units_of_codes)
    # The data without one unit of an atom are the same for all its units, so atoms are counted.
    if not cheap and n > JACKKNIFE_UNITS:
        yield from _leave_sets_out(units_of_codes, multiplicity, strata, n_sets)
        return
    atoms_seen = units_of_codes[0].atoms
    have_parts = any(units.atoms is not None for units in units_of_codes)
    if have_parts and len(units_of_codes) > 1:
        units_of_codes = [units.among_all(n) for units in units_of_codes]
    elif have_parts:
        # A statistic of a subgroup: what it has no rows of is one atom of each stratum, since all
        # of these units have the same value without them.
        seen, strata_seen = multiplicity[atoms_seen], None
        unseen = np.array([n_units_of(multiplicity) - n_units_of(seen)])
        if strata is not None:
            strata_seen, n_strata = strata[atoms_seen], int(strata.max()) + 1
            n_seen = np.bincount(strata_seen, seen, n_strata)
            unseen = (np.bincount(strata, multiplicity) - n_seen).astype(np.int64)
        further = np.flatnonzero(unseen)
        units_of_codes = [units_of_codes[0].with_unseen(len(further))]
        multiplicity = np.concatenate((seen, unseen[further]))
        strata = None if strata_seen is None else np.concatenate((strata_seen, further))
        n = len(multiplicity)
    stratum = repeated(0, n) if strata is None else strata
    step = n if cheap else max(1, JACKKNIFE_COUNTS // n)
    for start in range(0, n, step):
        atoms = range(start, min(start + step, n))
        blocks: list[Block] = [
            JackknifeBlock(units, multiplicity, atoms, strata) for units in units_of_codes
        ]
        at = slice(atoms.start, atoms.stop)
        yield JackknifeResamples(blocks, multiplicity[at], stratum[at])


def has_closed_forms(units_of_codes: Sequence[UnitsOfCodes]) -> bool:
    """Whether leaving out one unit after the other needs no pass over the rows for each."""
    return all(
        units.reads in ("sums", "pairs")
        or (units.reads in ("crossing", "thresholds") and units.has_one_code_each)
        for units in units_of_codes
    )


def _leave_sets_out(
    units_of_codes: Sequence[UnitsOfCodes],
    multiplicity: NDArray[np.int64],
    strata: NDArray[np.intp] | None,
    n_sets: int,
) -> Iterator[JackknifeResamples]:
    """Yield the data without each of ``n_sets`` or so random sets, dealt out within strata."""
    n_atoms = len(multiplicity)
    atom = np.repeat(np.arange(n_atoms), multiplicity)
    stratum = np.zeros(len(atom), np.intp) if strata is None else strata[atom]
    # A fixed stream, because the sets are part of the method and not of the resampling.
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(len(atom))
    order = shuffled[np.argsort(stratum[shuffled], kind="stable")]
    sizes = np.bincount(stratum)
    n_sets_of_stratum = np.maximum(2, np.round(n_sets * sizes / sizes.sum())).astype(int)
    sets, set_strata = [], []
    for h, units in enumerate(np.split(order, np.cumsum(sizes)[:-1])):
        dealt = np.array_split(units, min(n_sets_of_stratum[h], len(units)))
        sets.extend(dealt)
        set_strata.extend([h] * len(dealt))
    step = max(1, JACKKNIFE_COUNTS // n_atoms)
    for start in range(0, len(sets), step):
        block_sets = sets[start : start + step]
        counts = np.repeat(multiplicity[None], len(block_sets), axis=0)
        for resample, units in enumerate(block_sets):
            counts[resample] -= np.bincount(atom[units], minlength=n_atoms)
        yield JackknifeResamples(
            list[Block](UnitBlock.of_each(units_of_codes, counts, strata)),
            np.ones(len(block_sets), np.int64),
            np.array(set_strata[start : start + step], dtype=np.intp),
            np.array([len(units) for units in block_sets], dtype=np.intp),
        )


class ObservedBlock(UnitBlock):
    """One resample, the data as they are.

    Parameters
    ----------
    units_of_codes : UnitsOfCodes
        The statistic's codes.
    counts : ndarray of shape (1, n_atoms)
        Units in each atom.
    strata : ndarray of shape (n_atoms,), optional
        Stratum of each atom, numbered from 0.
    """

    # The data are read once.
    keeps_totals = False

    def influence(self, terms: Any, gradient: Floats) -> Floats:
        """Influence of a unit of each atom of the binding; see `Block.influence`."""
        influence: Floats = np.asarray(self.units_of_codes.totals(terms) @ gradient[0])
        counts, strata = self.all_atoms.counts[0], self.all_atoms.strata
        if self.units_of_codes.atoms is not None:
            atom_influence, influence = influence, np.zeros(len(counts))
            influence[self.units_of_codes.atoms] = atom_influence
        if strata is not None:
            means = np.bincount(strata, counts * influence) / np.bincount(strata, counts)
            influence = influence - means[strata]
        return influence

    def crossing(
        self, terms: Floats, *gaps: Gap, ends: NDArray[np.intp] | None = None
    ) -> tuple[SignChange, ...]:
        """Search in running counts of each type, where types are few; see `Block.crossing`."""
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
        """Return running counts of each type, cached; None if there are more than `TYPES`."""
        return self.units_of_codes.kept(
            "types", (terms, ends, order), lambda: self._types_along(terms, ends, order)
        )

    def _types_along(
        self, terms: Floats, ends: NDArray[np.intp] | None, order: NDArray[np.intp] | None
    ) -> Types | None:
        numbered = types_of(terms)
        if numbered is None:
            return None
        number, values = numbered
        weights = self._weights(slice(0, self.n_codes))[0]
        weights = weights if order is None else weights[order]
        ones = int(weights.max()) == 1
        narrow = narrow_type(int(weights.sum()))
        n_ends = len(terms) if ends is None else len(ends)
        upto: NDArray[Any] = np.zeros((n_ends + 1, len(values)), narrow)
        for k in range(len(values)):
            is_type = number == k
            running: NDArray[Any] = np.cumsum(is_type if ones else is_type * weights, dtype=narrow)
            upto[1:, k] = running if ends is None else running[ends]
        return Types(number, values, upto)


class JackknifeBlock(UnitBlock):
    """The data without one unit; each resample lacks a unit of another atom.

    Parameters
    ----------
    units_of_codes : UnitsOfCodes
        The statistic's codes.
    multiplicity : ndarray of shape (n_atoms,)
        Units in each atom.
    atoms : range
        The atom that lacks a unit, for each resample.
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
        # One resample for each atom, whose counts are made when they are read.
        Block.__init__(self, units_of_codes, len(atoms))
        self._all_atoms, self.has_few_atoms = None, False
        self.multiplicity = multiplicity
        self.atoms = atoms
        self.strata = strata
        # The same atoms as an index.
        self._left_out_atom = slice(atoms.start, atoms.stop)

    @cached_property
    def counts(self) -> NDArray[Any]:  # type: ignore[override]
        counts = np.repeat(self.multiplicity[None], len(self.atoms), axis=0)
        counts[np.arange(len(self.atoms)), np.array(self.atoms)] -= 1
        return counts

    def _part(self, resamples: slice) -> JackknifeBlock:
        part = JackknifeBlock(
            self.units_of_codes, self.multiplicity, self.atoms[resamples], self.strata
        )
        # All parts of the resamples share one block of the data, which holds their sums.
        part._observed = self._observed
        return part

    @cached_property
    def _observed(self) -> ObservedBlock:
        return ObservedBlock(self.units_of_codes, self.multiplicity[None])

    def sums(self, terms: Any = None) -> Floats:
        """Sums of the data less the sums of the unit that is left out; see `Block.sums`."""
        if terms is None:
            return super().sums()
        data_sums, units = self._observed.sums(terms), self.units_of_codes
        code = None
        if not (units.codes_are_atoms or sparse.issparse(terms)):
            code = units.code_of_atom
        if code is None:
            unit_sums = units.totals(terms)[self._left_out_atom]
            unit_sums = unit_sums.toarray() if sparse.issparse(unit_sums) else unit_sums
        else:
            # Each unit is left out once, so that the sums of all atoms are not kept for it.
            code = code[self._left_out_atom]
            unit_sums = terms.take(code, axis=0, mode="clip")
            unit_sums[code == len(terms)] = 0.0
        if unit_sums.shape[1] > JACKKNIFE_TERMS:
            return data_sums - unit_sums
        # Few terms are subtracted column by column, because numpy is slow along short rows.
        sums = np.empty((unit_sums.shape[1], len(unit_sums)))
        for k, column in enumerate(sums):
            np.subtract(data_sums[0, k], unit_sums[:, k], out=column)
        return sums.T

    def pairs(
        self,
        upper: NDArray[Any],
        lower: NDArray[Any],
        level: NDArray[np.intp] | None = None,
        order: NDArray[np.intp] | None = None,
    ) -> tuple[Floats, Floats]:
        """Pairs of the data, less those of the unit with the data, plus those within the unit.

        The form is bilinear in the weights: B(w - e, w - e) = B(w, w) - B(e, w) - B(w, e)
        + B(e, e).
        """
        units = self.units_of_codes
        if order is not None:
            # Codes that the order leaves out count on neither side, so that their level is free.
            level = np.arange(len(upper)) if level is None else level
            ordered = upper, lower, level
            upper, lower, level = (np.zeros(self.n_codes, values.dtype) for values in ordered)
            for by_code, values in zip((upper, lower, level), ordered, strict=True):
                by_code[order] = values
        weight = self.multiplicity if units.codes_are_atoms else self._observed.sums()[0]
        step = TILE_ELEMENTS if order is None else len(upper)
        with_all, all_in_order, n_upper, n_lower = pairs_with_all(weight, upper, lower, level, step)
        # There may be as many numbers as memory holds a few times.
        del weight
        if units.has_one_code_each:
            # The rows of a unit share one code, and no code counts on both sides.
            code = self._codes
            with_all = _values_of_codes(with_all, code)
            up, low = _values_of_codes(upper, code), _values_of_codes(lower, code)
            in_order = np.subtract(all_in_order, with_all, out=with_all)
        else:
            sides = np.column_stack((with_all, upper, lower))
            totals, up, low = units.totals(sides)[self._left_out_atom].T
            in_order = all_in_order - totals + self._pairs_within_units(upper, lower, level)
        all_pairs = n_upper - up
        all_pairs *= n_lower - low
        return in_order, all_pairs

    def _pairs_within_units(
        self, upper: NDArray[Any], lower: NDArray[Any], level: NDArray[np.intp] | None
    ) -> Floats:
        """Return pairs of rows of one unit, for each resample; each code is a level if None."""
        units = self.units_of_codes
        code = units.code_of_entry
        atom = np.arange(len(code)) if units.units is None else units.units[:, 0]
        times = np.ones(len(code)) if units.times is None else units.times
        # Entries are sorted by code.
        level_of_entry = code if level is None else level[code]
        if level is None or np.all(level_of_entry[1:] >= level_of_entry[:-1]):
            # No two atoms more than entries, so that equal atoms are not taken for different ones.
            # As many atoms as entries would be taken for one entry each.
            by = counting_sort(atom, max(units.n_atoms[0], len(atom) + 1))
        else:
            by = np.lexsort((level_of_entry, atom))
        atom, code, times = atom[by], code[by], times[by]
        up, low = times * upper[code], times * lower[code]
        if level is not None:
            new = np.flatnonzero(np.r_[True, (np.diff(atom) != 0) | (np.diff(level[code]) != 0)])
            up, low, atom = np.add.reduceat(up, new), np.add.reduceat(low, new), atom[new]
        running = np.cumsum(low)
        begins = np.r_[True, atom[1:] != atom[:-1]]
        before_atom = (running - low)[np.flatnonzero(begins)[np.cumsum(begins) - 1]]
        pairs = up * (running - 0.5 * low - before_atom)
        return np.bincount(atom, pairs, units.n_atoms[0])[self._left_out_atom].astype(np.float64)

    def crossing(
        self, terms: Floats, *gaps: Gap, ends: NDArray[np.intp] | None = None
    ) -> tuple[SignChange, ...]:
        """Search where each gap changes its sign without each unit; see `Block.crossing`.

        Units of several codes are searched for like any resample. Units of one code and few types
        (equal rows of terms) are searched for once for all of a type that stand on one side of the
        change; those of many types in the running sums of the data less the terms of the unit.
        """
        if not self.units_of_codes.has_one_code_each:
            return super().crossing(terms, *gaps, ends=ends)
        types = self._observed.types_along(terms, ends)
        if types is None:
            return self._crossing_of_many_types(terms, gaps, ends)
        unit_end, unit_type = self._unit_ends(types, ends, order=None)
        ends_and_types = unit_end[self._left_out_atom], unit_type[self._left_out_atom]
        return tuple(change_without_units(types, gap, *ends_and_types) for gap in gaps)

    def _crossing_of_many_types(
        self, terms: Floats, gaps: Sequence[Gap], ends: NDArray[np.intp] | None
    ) -> tuple[SignChange, ...]:
        """Search in running sums of the data less the terms of the unit of each resample."""
        code = self.units_of_codes.code_of_atom
        assert code is not None
        ends = np.arange(self.n_codes) if ends is None else ends
        running = np.cumsum(self._observed.sums()[0][:, None] * terms, axis=0)
        code = code[self._left_out_atom]
        # A unit without a code has the one past the last, whose terms are 0.
        unit_terms = np.vstack((terms, np.zeros(terms.shape[1])))[code]

        def running_at(end: NDArray[np.intp]) -> Floats:
            return running[ends[end]] - unit_terms * (code <= ends[end])[:, None]

        total = running[-1] - unit_terms
        return tuple(search(running_at, total, len(ends), gap) for gap in gaps)

    def _unit_ends(
        self, types: Types, ends: NDArray[np.intp] | None, order: NDArray[np.intp] | None
    ) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
        """Return the end from which a unit of each atom counts, past all for none, and its type."""
        n_positions, n_ends = len(types.number), len(types.upto) - 1
        unit_end: NDArray[Any] = np.arange(
            n_positions, dtype=np.int64 if n_positions >> 31 else np.int32
        )
        if ends is not None:
            numbers = np.arange(n_ends + 1, dtype=unit_end.dtype)
            unit_end = np.repeat(numbers, np.diff(ends, prepend=-1, append=n_positions - 1))
        position: Any = slice(None)
        if not self.units_of_codes.codes_are_atoms:
            position = self.units_of_codes.code_of_atom
        elif order is None:
            return unit_end, types.number
        if order is not None:
            at = np.full(self.n_codes + 1, n_positions)
            at[order] = np.arange(n_positions)
            position = at[position]
        unit_end = np.append(unit_end, n_ends + 1)[position]
        return unit_end, np.append(types.number, np.uint8(len(types.values)))[position]

    @cached_property
    def _codes(self) -> slice | NDArray[np.signedinteger]:
        """Code of the unit that each resample lacks, as an index; past the last for none."""
        if self.units_of_codes.codes_are_atoms:
            return self._left_out_atom
        code = self.units_of_codes.code_of_atom
        assert code is not None
        return code[self._left_out_atom]

    def sum_over_thresholds(
        self,
        terms: Floats,
        added: AddedAtEnds,
        ends: NDArray[np.intp] | None = None,
        order: NDArray[np.intp] | None = None,
    ) -> tuple[Floats, Floats]:
        """Sum over the ends before the unit, its own end, and those after it, for each type."""
        units = self.units_of_codes
        sums = None
        if units.has_one_code_each:
            # Parts of the resamples look up what all of them share.
            of = (terms, added, ends, order)
            sums = units.kept("without units", of, lambda: self._sums_without_each(*of))
        if sums is None:
            return super().sum_over_thresholds(terms, added, ends, order)
        return sums.of(self._left_out_atom)

    def _sums_without_each(
        self,
        terms: Floats,
        added: AddedAtEnds,
        ends: NDArray[np.intp] | None,
        order: NDArray[np.intp] | None,
    ) -> SumsWithoutUnits | None:
        """Return the sums over the ends without a unit of each atom, if types are few."""
        types = self._observed._types_along(terms, ends, order)
        if types is None:
            return None
        return sums_without_units(types, added, *self._unit_ends(types, ends, order))


def _values_of_codes(values: NDArray[Any], code: slice | NDArray[np.signedinteger]) -> NDArray[Any]:
    """Return the value of each code; 0 where the code is one past the last, which is none."""
    if isinstance(code, slice):
        return values[code]
    result = np.empty((len(code), *values.shape[1:]), values.dtype)
    for start in range(0, len(code), TILE_ELEMENTS):
        part = slice(start, start + TILE_ELEMENTS)
        result[part] = values.take(code[part], axis=0, mode="clip")
    result[code == len(values)] = 0
    return result
