"""Turn a design and a seed into blocks of resamples.

A `ResamplingPlan` is bound to the codes of one or several statistics; the `Binding` then yields
blocks, each holding the same resamples as every statistic reads them, and the leave-one-unit-out
blocks of the same design. Nothing of size n_resamples x n_samples is ever stored.

Each block draws from its own stream, the child of the plan's seed whose spawn key is the block's
number, and is always drawn whole. So the first 100 of 1999 resamples are the 100 of a plan with
``n_resamples=100``, whichever process draws them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._streams import child_seed
from .block import Block, UnitBlock
from .coding import CodedRows, UnitsOfCodes, bind_groups, bind_pairs, bind_rows
from .design import SamplingDesign
from .draws import multinomial_counts
from .jackknife import JackknifeBlock, ObservedBlock
from .on_demand import OnDemandBlock

# Counts a block holds at most (4 MB of uint8, 32 MB of int64), and resamples at most.
_BLOCK_COUNTS = 1 << 22
_BLOCK_LINES = 1 << 10
# Resamples of two atoms are drawn one after the other, so that the first of a block are the same
# when they are drawn alone. Such a block need not be drawn whole and may be long.
_BLOCK_LINES_OF_TWO = 1 << 14
# Entries of a code that a few units make up are read this many times faster than counts are drawn:
# a block of few units and many rows is kept short, as it is always evaluated whole.
_ENTRIES_PER_COUNT = 1 << 3
# A block that is read row by row is a unit of progress and of parallel work: keep it short.
_BLOCK_LINES_OF_ROWS = 1 << 5
# Counts of a block up to which its sums are nothing beside what a call costs in any case.
_NARROW_COUNTS = 1 << 15
# Terms of all atoms that are put side by side at most (128 MB).
_SHARED_TERMS = 1 << 24
# Sums without a unit that are taken at once: their temporaries stay in the cache.
_LEFT_OUT_SUMS = 1 << 15
# Units left out one by one at most when each costs a pass over the rows; more are left out in
# random groups, whose third and second moments estimate the same acceleration.
_JACKKNIFE_LINES = 1000


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


@dataclass(frozen=True, eq=False)
class ResamplingPlan:
    """A design, a number of resamples and a seed.

    Attributes
    ----------
    design : SamplingDesign
        What is drawn.
    n_resamples : int
        Number of resamples.
    seed : numpy.random.SeedSequence
        Root of the streams; never spawned from, so the same plan gives the same resamples.
    resamples : ndarray of shape (n_resamples, n_samples) or None
        Row indices to use instead of drawing; the design then only names the jackknife's units.
    drawn : ndarray of shape (n_resamples, n_units) or None
        How often each unit occurs, to use instead of drawing.
    """

    design: SamplingDesign
    n_resamples: int
    seed: np.random.SeedSequence
    resamples: NDArray[np.integer] | None = None
    drawn: NDArray[np.int64] | None = None

    def bind(self, codings: Sequence[CodedRows]) -> Binding:
        """Prepare to draw for these statistics together.

        Parameters
        ----------
        codings : sequence of CodedRows
            One per statistic; code (n_samples,) numbers interchangeable rows from 0, -1 marks
            rows the statistic does not see, None means that every row has its own code.

        Returns
        -------
        Binding
        """
        if self.design.is_crossed:
            bound = bind_pairs(self.design, codings)
        elif self.design.kind == "groups":
            bound = bind_groups(self.design, codings)
        else:
            bound = bind_rows(self.design, codings, as_rows=self.resamples is not None)
        units_of_codes, multiplicity, strata = bound
        by_row = any(coding.reads == "rows" for coding in codings)
        most = _BLOCK_LINES_OF_ROWS if by_row else _BLOCK_LINES
        on_demand = self._is_on_demand(codings, units_of_codes, strata)
        n_counts = 1 if on_demand else max(sum(len(m) for m in multiplicity), _read(units_of_codes))
        resamples = 1 << (max(1, min(most, _BLOCK_COUNTS // n_counts)).bit_length() - 1)
        draws_are_prefix_stable = self._draws_are_prefix_stable(codings, multiplicity, strata)
        resamples = _BLOCK_LINES_OF_TWO if draws_are_prefix_stable else resamples
        codes_of_given_rows = None
        if self.resamples is not None:
            codes_of_given_rows = bind_rows(
                SamplingDesign.of_rows(self.design.n_samples), codings, True
            )[0]
        return Binding(
            self,
            units_of_codes,
            multiplicity,
            strata,
            resamples,
            codes_of_given_rows,
            on_demand,
            draws_are_prefix_stable,
        )

    def _draws_are_prefix_stable(
        self,
        codings: Sequence[CodedRows],
        multiplicity: tuple[NDArray[np.int64], ...],
        strata: NDArray[np.intp] | None,
    ) -> bool:
        """Whether resamples are drawn, and summed, one after the other: sums of two atoms are."""
        return (
            self.design.kind == "rows"
            and strata is None
            and self.resamples is None
            and len(multiplicity[0]) == 2
            and all(coding.reads == "sums" for coding in codings)
        )

    def _is_on_demand(
        self,
        codings: Sequence[CodedRows],
        units_of_codes: Sequence[UnitsOfCodes],
        strata: NDArray[np.intp] | None,
    ) -> bool:
        """Whether one search is all that reads the resamples, and its codes are what is drawn."""
        return (
            len(codings) == 1
            and codings[0].reads == "crossing"
            and self.design.kind == "rows"
            and strata is None
            and self.resamples is None
            and units_of_codes[0].units is None
        )


@dataclass(frozen=True, eq=False)
class Binding:
    """A plan bound to statistics: yields their blocks.

    Attributes
    ----------
    plan : ResamplingPlan
        Where the resamples come from.
    units_of_codes : list of UnitsOfCodes
        Codes of each statistic in terms of atoms.
    multiplicity : tuple of ndarrays of shape (n_atoms,)
        Units in each atom, for each factor.
    strata : ndarray of shape (n_atoms,) or None
        Stratum of each atom.
    block_size : int
        Resamples in a block; depends on the data alone, so streams do not shift with
        ``n_resamples``.
    codes_of_given_rows : list of UnitsOfCodes or None
        Codes in terms of rows, when resamples are given.
    on_demand : bool
        Whether resamples are drawn only where they are looked at.
    draws_are_prefix_stable : bool
        Whether some resamples of a block are the same drawn alone or with those that follow.
    """

    plan: ResamplingPlan
    units_of_codes: list[UnitsOfCodes]
    multiplicity: tuple[NDArray[np.int64], ...]
    strata: NDArray[np.intp] | None
    block_size: int
    codes_of_given_rows: list[UnitsOfCodes] | None
    on_demand: bool = False
    draws_are_prefix_stable: bool = False
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def n_blocks(self) -> int:
        """Number of blocks that hold the plan's resamples."""
        return -(-self.plan.n_resamples // self.block_size)

    def only(self, which: Sequence[int]) -> Binding:
        """The same binding for some of its statistics, by position."""
        return replace(
            self,
            units_of_codes=[self.units_of_codes[k] for k in which],
            codes_of_given_rows=None
            if self.codes_of_given_rows is None
            else [self.codes_of_given_rows[k] for k in which],
            _cache={},
        )

    def share_sums(self, blocks: Sequence[Block], terms: Sequence[Any]) -> None:
        """Compute the sums of several statistics at once, for their blocks to hand out.

        Parameters
        ----------
        blocks : sequence of Block
            Those of one number, one per statistic.
        terms : sequence of ndarray of shape (n_codes, n_terms), or None
            What each statistic will ask the sums of; None where it asks for none.

        Notes
        -----
        The counts are read once for all statistics, and the products are wide enough to be quick:
        20 accuracies on 100,000 rows take a quarter of the time. Equal columns are one, so that
        statistics with equal terms have equal sums to the last bit.
        """
        members = self.codes_of_given_rows or self.units_of_codes
        which = [k for k, each in enumerate(terms) if isinstance(each, np.ndarray)]
        if not which or not all(isinstance(blocks[k], UnitBlock) for k in which):
            return
        width = sum(terms[k].shape[1] for k in which)
        n_atoms = members[which[0]].n_atoms[0]
        if len(which) < 2 or width * n_atoms > _SHARED_TERMS:
            return
        if not self._cache:
            every = [members[k].totals(terms[k]) for k in which]
            self._cache["totals"], self._cache["columns"] = _distinct_columns(every)
        first = blocks[which[0]]
        assert isinstance(first, UnitBlock)
        sums = first.sums_of_atoms(self._cache["totals"])
        for k, columns in zip(which, self._cache["columns"], strict=True):
            blocks[k].known_sums = (terms[k], sums[:, columns])  # type: ignore[attr-defined]

    def observed(self) -> list[Block]:
        """The data as they are: one resample in which every unit occurs once."""
        if not self.plan.design.is_crossed:
            whole = self.multiplicity[0]
            return [ObservedBlock(member, whole, self.strata) for member in self.units_of_codes]
        return self._blocks(tuple(m[None] for m in self.multiplicity))

    @property
    def fits_one_block(self) -> bool:
        """Whether all that is asked for is sums of a few atoms that are drawn."""
        given = self.plan.resamples is not None or self.plan.drawn is not None
        n_counts = self.block_size * len(self.multiplicity[0])
        return (
            self.plan.design.kind == "rows"
            and not given
            and n_counts <= _NARROW_COUNTS
            and all(member.reads == "sums" for member in self.units_of_codes)
        )

    def block(self, number: int, *, with_jackknife: bool = False) -> list[Block]:
        """Block ``number``, whole, as each statistic reads it.

        The last block may hold more resamples than the plan asks for: cut the results, not the
        draws. Only what is drawn, or read, resample by resample is cut here. Where
        `fits_one_block`, further resamples can come along for less than a block of their own: the
        data as they are, and the data without one unit of each atom.
        """
        if self.codes_of_given_rows is not None:
            return self._explicit_block(number)
        if self.plan.drawn is not None:
            first = number * self.block_size
            return self._blocks((self.plan.drawn[first : first + self.block_size],))
        rng = np.random.Generator(np.random.SFC64(child_seed(self.plan.seed, number)))
        if self.on_demand:
            multiplicity = self.multiplicity[0]
            return [OnDemandBlock(self.units_of_codes[0], multiplicity, self.block_size, rng)]
        wanted = self.plan.n_resamples - number * self.block_size
        n_resamples = (
            min(self.block_size, wanted) if self.draws_are_prefix_stable else self.block_size
        )
        counts: tuple[NDArray[np.integer], ...] = tuple(
            multinomial_counts(rng, n_resamples, m, self.strata) for m in self.multiplicity
        )
        if with_jackknife:
            counts = (_with_jackknife(counts[0], self.multiplicity[0]),)
        return [
            block._part(slice(0, wanted)) if block.units_of_codes.reads == "rows" else block
            for block in self._blocks(counts)
        ]

    def left_out(self) -> Iterator[JackknifeResamples]:
        """Yield leave-one-unit-out resamples of the design (rows or groups).

        All of them where every statistic has a closed form or the units are few; else units
        are left out in about a thousand random groups, within strata.
        """
        multiplicity = self.multiplicity[0]
        cheap = all(
            member.reads in ("sums", "pairs")
            or (member.reads in ("crossing", "thresholds") and member.code_of_atom is not None)
            for member in self.units_of_codes
        )
        # Units of one atom give the same resample.
        if not cheap and len(multiplicity) > _JACKKNIFE_LINES:
            yield from self._groups_left_out()
            return
        strata = self.strata
        if strata is None:
            strata = np.broadcast_to(np.intp(0), len(multiplicity))
        n = len(multiplicity)
        step = n if cheap else max(1, _BLOCK_COUNTS // (8 * n))
        for start in range(0, len(multiplicity), step):
            atoms = range(start, min(start + step, len(multiplicity)))
            blocks: list[Block] = [
                JackknifeBlock(member, multiplicity, atoms, self.strata)
                for member in self.units_of_codes
            ]
            at = slice(atoms.start, atoms.stop)
            yield JackknifeResamples(blocks, multiplicity[at], strata[at])

    def _groups_left_out(self) -> Iterator[JackknifeResamples]:
        """Random groups of units, dealt out within each stratum."""
        multiplicity = self.multiplicity[0]
        unit_atom = np.repeat(np.arange(len(multiplicity)), multiplicity)
        stratum = (
            np.zeros(len(unit_atom), np.intp) if self.strata is None else self.strata[unit_atom]
        )
        # A fixed stream: the grouping is part of the method, not of the resampling.
        rng = np.random.default_rng(0)
        shuffled = rng.permutation(len(unit_atom))
        order = shuffled[np.argsort(stratum[shuffled], kind="stable")]
        sizes = np.bincount(stratum)
        n_groups = np.maximum(2, np.round(_JACKKNIFE_LINES * sizes / sizes.sum())).astype(int)
        groups, strata = [], []
        for h, units in enumerate(np.split(order, np.cumsum(sizes)[:-1])):
            parts = np.array_split(units, min(n_groups[h], len(units)))
            groups.extend(parts)
            strata.extend([h] * len(parts))
        step = max(1, _BLOCK_COUNTS // (8 * len(multiplicity)))
        for start in range(0, len(groups), step):
            some = groups[start : start + step]
            counts = np.repeat(multiplicity[None], len(some), axis=0)
            for resample, units in enumerate(some):
                counts[resample] -= np.bincount(unit_atom[units], minlength=len(multiplicity))
            yield JackknifeResamples(
                self._blocks((counts,)),
                np.ones(len(some), np.int64),
                np.array(strata[start : start + step], dtype=np.intp),
            )

    def _blocks(self, counts: tuple[NDArray[np.integer], ...]) -> list[Block]:
        design = self.plan.design
        if design.is_crossed:
            # Imported where it is needed, as few calls do.
            from .crossed import CrossedBlock

            sides = (counts[0], counts[-1])
            return [CrossedBlock(member, sides) for member in self.units_of_codes]
        return [UnitBlock(member, counts[0], self.strata) for member in self.units_of_codes]

    def _explicit_block(self, number: int) -> list[Block]:
        assert self.plan.resamples is not None
        assert self.codes_of_given_rows is not None
        start = number * self.block_size
        picks = np.asarray(self.plan.resamples[start : start + self.block_size], dtype=np.intp)
        n = self.plan.design.n_samples
        shifted = picks + np.arange(len(picks))[:, None] * n
        counts = np.bincount(shifted.ravel(), minlength=len(picks) * n).reshape(len(picks), n)
        return [UnitBlock(member, counts) for member in self.codes_of_given_rows]


def _with_jackknife(counts: NDArray[Any], multiplicity: NDArray[np.int64]) -> NDArray[Any]:
    """Counts, followed by those of all units and by those without a unit of each atom."""
    less = np.eye(len(multiplicity) + 1, len(multiplicity), -1, dtype=np.int64)
    return np.concatenate((counts, (multiplicity - less).astype(counts.dtype)))


def _distinct_columns(
    matrices: Sequence[NDArray[Any]],
) -> tuple[NDArray[Any], list[NDArray[np.intp]]]:
    """Distinct columns of some matrices side by side, and which of them make up each matrix."""
    kept: list[NDArray[Any]] = []
    alike: dict[tuple[float, ...], list[int]] = {}
    columns = []
    for matrix in matrices:
        own = []
        for column in matrix.T:
            # Only columns that agree here are compared number by number.
            key = (float(column[0]), float(column[-1]), float(column.sum()))
            numbers = alike.setdefault(key, [])
            same = [k for k in numbers if np.array_equal(kept[k], column)]
            if not same:
                same = [len(kept)]
                numbers.append(len(kept))
                kept.append(column)
            own.append(same[0])
        columns.append(np.array(own, dtype=np.intp))
    return np.column_stack(kept), columns


def _read(units_of_codes: Sequence[UnitsOfCodes]) -> int:
    """Counts that are as much work to draw as it is to read the entries of a resample."""
    of_entries = [
        1 if m.units is None else len(m.units) for m in units_of_codes if m.reads != "sums"
    ]
    return max([1, *(n // _ENTRIES_PER_COUNT for n in of_entries)])
