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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._streams import child_seed
from .block import Block, UnitBlock
from .coding import CodedRows, UnitsOfCodes, bind_rows
from .design import SamplingDesign
from .jackknife import JackknifeResamples
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
        units_of_codes, multiplicity, strata = self.design.bind(
            codings, as_rows=self.resamples is not None
        )
        by_row = any(coding.reads == "rows" for coding in codings)
        most = _BLOCK_LINES_OF_ROWS if by_row else _BLOCK_LINES
        draws_rows = self.design.draws_independent_rows and self.resamples is None
        # One search reads nothing but the places it passes, if its codes are what is drawn.
        reads = [coding.reads for coding in codings]
        on_demand = draws_rows and reads == ["crossing"] and units_of_codes[0].units is None
        n_counts = 1 if on_demand else max(sum(len(m) for m in multiplicity), _read(units_of_codes))
        block_size = 1 << (max(1, min(most, _BLOCK_COUNTS // n_counts)).bit_length() - 1)
        # Resamples of two atoms are drawn, and summed, one after the other.
        prefix_stable = draws_rows and len(multiplicity[0]) == 2 and set(reads) <= {"sums"}
        return Binding(
            self,
            units_of_codes,
            multiplicity,
            strata,
            block_size=_BLOCK_LINES_OF_TWO if prefix_stable else block_size,
            codes_of_given_rows=None
            if self.resamples is None
            else bind_rows(codings, self.design.n_samples, None, as_rows=True)[0],
            on_demand=on_demand,
            draws_are_prefix_stable=prefix_stable,
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
        return self.plan.design.observed(self.units_of_codes, self.multiplicity, self.strata)

    @property
    def fits_one_block(self) -> bool:
        """Whether all that is asked for is sums of a few atoms that are drawn."""
        given = self.plan.resamples is not None or self.plan.drawn is not None
        n_counts = self.block_size * len(self.multiplicity[0])
        return (
            self.plan.design.units_are_rows
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
        counts = self.plan.design.draw(rng, n_resamples, self.multiplicity, self.strata)
        if with_jackknife:
            counts = (_with_jackknife(counts[0], self.multiplicity[0]),)
        return [
            block._part(slice(0, wanted)) if block.units_of_codes.reads == "rows" else block
            for block in self._blocks(counts)
        ]

    def left_out(self) -> Iterator[JackknifeResamples]:
        """Yield the data without each unit, or without each of many sets of units."""
        return self.plan.design.left_out(self.units_of_codes, self.multiplicity, self.strata)

    def _blocks(self, counts: tuple[NDArray[np.integer], ...]) -> list[Block]:
        return self.plan.design.blocks(self.units_of_codes, counts, self.strata)

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
