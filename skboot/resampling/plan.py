"""Turn a design and a seed into blocks of resamples.

A `ResamplingPlan` is bound to the codes of one or several statistics; the `Binding` then yields
blocks, each holding the same resamples as every statistic reads them, and the leave-one-unit-out
blocks of the same design. Nothing of size n_resamples x n_samples is ever stored.

Each block draws from its own stream, the child of the plan's seed whose spawn key is the block's
number, and is always drawn whole. So the first 100 of 1999 resamples are the 100 of a plan with
``n_resamples=100``, whichever process draws them.

A block costs the same however few of its resamples are wanted, so where a resample has many counts
the first block is shorter: 199 resamples cost a fifth of 999.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.work import child_seed
from ._tuning import (
    BLOCK_COUNTS,
    BLOCK_RESAMPLES,
    BLOCK_RESAMPLES_BY_ROW,
    BLOCK_RESAMPLES_OF_TWO_ATOMS,
    ENTRIES_PER_COUNT,
    FEWEST_SETS,
    FIRST_RESAMPLES,
    HALVED_COUNTS,
    JACKKNIFE_UNITS,
    JOINED_COUNTS,
    NARROW_COUNTS,
    ON_DEMAND_COUNTS,
    ROUND_RESAMPLES,
    TILE_ELEMENTS,
    UNDIVIDED_COUNTS,
    UNDIVIDED_COUNTS_OF_STRATUM,
)
from .block import Block, Floats, ReadTerms, SharedSums, UnitBlock, with_few_codes_counted
from .coding import CodedRows, UnitsOfCodes, bind_rows, occurrences, side_by_side
from .design import SamplingDesign
from .draws import Strata, multinomial_counts
from .jackknife import JackknifeResamples, ObservedBlock, has_closed_forms
from .prefix_sums import Gap, SignChange, joined

# Resamples that are drawn only where a search reads them.
#
# A search for a sign change needs the running sums at some twenty places of a resample, not the
# counts of all rows. The number of units on each side of a place is a binomial split of those
# around it, so a search can draw the splits it passes and leave the rest open: the resample has the
# same distribution, at a cost that grows with the logarithm of the number of rows.


Counts = NDArray[np.int64]


class OnDemandBlock(UnitBlock):
    """Resamples of codes, drawn when they are read, which can be done once.

    Parameters
    ----------
    units_of_codes : UnitsOfCodes
        The statistic's codes, which are the atoms.
    multiplicity : ndarray of shape (n_codes,)
        Units in each atom.
    n_resamples : int
        Number of resamples.
    rng : numpy.random.Generator
        The block's own stream.
    """

    def __init__(
        self,
        units_of_codes: UnitsOfCodes,
        multiplicity: NDArray[np.int64],
        n_resamples: int,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(units_of_codes, np.empty((n_resamples, 0)))
        del self.counts
        self._multiplicity = multiplicity
        self._rng: np.random.Generator | None = rng

    @cached_property
    def counts(self) -> NDArray[Any]:  # type: ignore[override]
        return multinomial_counts(self._stream(), self.n_resamples, self._multiplicity)

    def _stream(self) -> np.random.Generator:
        rng, self._rng = self._rng, None
        if rng is None:
            raise RuntimeError("A block whose resamples are drawn when read can be read once.")
        return rng

    def crossing(
        self, terms: Floats, *gaps: Gap, ends: NDArray[np.intp] | None = None
    ) -> tuple[SignChange, ...]:
        """Search for the sign change, and draw only the counts that the search passes.

        Units of a type, a distinct row of terms, are split by binomial draws between the halves of
        the ends; with too many types whole resamples are drawn. See `Block.crossing`.
        """
        if "counts" in self.__dict__:
            # They have been drawn for another reader.
            return super().crossing(terms, *gaps, ends=ends)
        rng = self._stream()
        observed = ObservedBlock(self.units_of_codes, self._multiplicity[None])
        types = observed.types_along(terms, ends)
        if types is None:
            # In whole resamples, as many at a time as memory should hold.
            ends = np.arange(self.n_codes) if ends is None else ends
            step, pieces = max(1, ON_DEMAND_COUNTS // self.n_codes), []
            for start in range(0, self.n_resamples, step):
                n_resamples = min(step, self.n_resamples - start)
                counts = multinomial_counts(rng, n_resamples, self._multiplicity)
                block = UnitBlock(self.units_of_codes, counts)
                pieces.append(block.crossing(terms, *gaps, ends=ends))
            return joined(pieces)
        values, upto = types.values, types.upto
        n_of_types = upto[-1].astype(np.int64)
        n_drawn = multinomial_counts(rng, self.n_resamples, n_of_types).astype(np.int64)
        total = n_drawn @ values
        # Nodes count ends from 1.
        return tuple(
            SignChange(
                node.high - 1, node.below @ values, (node.below + node.inside) @ values, total
            )
            for node in _descend(rng, upto, n_drawn, values, gaps)
        )


class _Node(NamedTuple):
    """The ends between which the search of each resample stands, and the units drawn there.

    ``low`` and ``high`` (n_resamples,) count ends from 1, 0 is before the first; ``below`` and
    ``inside`` (n_resamples, n_types) are units up to ``low``, and from there to ``high``.
    """

    low: NDArray[np.intp]
    high: NDArray[np.intp]
    below: Counts
    inside: Counts


def _descend(
    rng: np.random.Generator,
    upto: NDArray[np.signedinteger],
    n_drawn: Counts,
    values: Floats,
    gaps: Sequence[Gap],
) -> list[_Node]:
    """Halve the ends around each sign change, drawing how many units lie on the left."""
    n_resamples = len(n_drawn)
    total = n_drawn @ values
    root = _Node(
        np.zeros(n_resamples, dtype=np.intp),
        np.full(n_resamples, len(upto) - 1, dtype=np.intp),
        np.zeros_like(n_drawn),
        n_drawn,
    )
    nodes = [root for _ in gaps]
    # All intervals of one step have about the same length, and the longest is `span`.
    span = len(upto) - 1
    while span > 1:
        lefts: list[Counts] = []
        for k, node in enumerate(nodes):
            # How many of the units inside lie in the left half.
            at_low, at_middle = upto[node.low], upto[(node.low + node.high) // 2]
            units = np.maximum(upto[node.high] - at_low, 1)
            in_left_half: Counts = rng.binomial(node.inside, (at_middle - at_low) / units)
            for earlier, left_of_other in zip(nodes[:k], lefts, strict=True):
                # Two searches that stand between the same ends must read the same resample.
                shared = (earlier.low == node.low) & (earlier.high == node.high)
                in_left_half = np.where(shared[:, None], left_of_other, in_left_half)
            lefts.append(in_left_half)
        for k, (node, in_left_half, gap) in enumerate(zip(nodes, lefts, gaps, strict=True)):
            # The half that holds the sign change.
            middle = (node.low + node.high) // 2
            reached = (middle > node.low) & (gap((node.below + in_left_half) @ values, total) >= 0)
            in_left = reached[:, None]
            nodes[k] = _Node(
                np.where(reached, node.low, middle),
                np.where(reached, middle, node.high),
                np.where(in_left, node.below, node.below + in_left_half),
                np.where(in_left, in_left_half, node.inside - in_left_half),
            )
        span -= span // 2
    return nodes


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
    resamples : sequence of ndarray, or None
        Row indices to use instead of drawing; the design then only names the jackknife's units.
    unit_counts : ndarray of shape (n_resamples, n_units) or None
        How often each unit occurs, to use instead of drawing.
    """

    design: SamplingDesign
    n_resamples: int
    seed: np.random.SeedSequence
    resamples: Sequence[NDArray[np.integer]] | None = None
    unit_counts: NDArray[np.int64] | None = None

    def bind(self, codings: Sequence[CodedRows]) -> Binding:
        """Prepare to draw for these statistics together.

        Fixes what a seed draws, the sizes of blocks and their streams, and in which layout it is
        read.

        Parameters
        ----------
        codings : sequence of CodedRows
            One per statistic.

        Returns
        -------
        Binding
        """
        draws_rows = self.design.draws_independent_rows and self.resamples is None
        units_of_codes, multiplicity, strata = self.design.bind(
            codings, as_rows=self.resamples is not None
        )
        by_row = any(coding.reads == "rows" for coding in codings)
        max_resamples = BLOCK_RESAMPLES_BY_ROW if by_row else BLOCK_RESAMPLES
        reads = [coding.reads for coding in codings]
        # A search reads its resamples at a few places alone, so a single search over codes that are
        # themselves the atoms can draw there and nowhere else.
        on_demand = draws_rows and reads == ["crossing"] and units_of_codes[0].units is None
        n_counts = 1
        if not on_demand:
            # As many counts as are drawn in the time to read the entries.
            n_entries = [
                0 if units.units is None or units.reads == "sums" else len(units.units)
                for units in units_of_codes
            ]
            n_counts = max(
                1, sum(map(len, multiplicity)), max(n_entries, default=0) // ENTRIES_PER_COUNT
            )
        block_size = 1 << (max(1, min(max_resamples, BLOCK_COUNTS // n_counts)).bit_length() - 1)
        as_drawn = units_of_codes
        if len(codings) > 1 and self.design.draws_independent_rows:
            as_drawn = with_few_codes_counted(units_of_codes)
        n_streams, atom_order = 1, None
        are_parts = all(units.atoms is not None for units in units_of_codes)
        if are_parts and draws_rows and self.unit_counts is None and not by_row:
            # Small parts of the rows, each of which is read in a few calls of numpy, are read on
            # the resamples of several streams: as many as keep the counts of a part in the cache.
            largest = max(units.n_atoms[0] for units in units_of_codes)
            fitting = min(
                max_resamples // block_size,
                TILE_ELEMENTS // (block_size * largest),
                JOINED_COUNTS // (block_size * n_counts),
            )
            n_streams = 1 << (max(1, fitting).bit_length() - 1)
            if multiplicity[0].strides == (0,):
                # `single_units`: the atoms are the rows, and may be put in any order.
                as_drawn, atom_order = side_by_side(as_drawn)
        block_size *= n_streams
        first_block_size = block_size
        is_long_draw = n_counts > max(
            UNDIVIDED_COUNTS, UNDIVIDED_COUNTS_OF_STRATUM * self.design.n_strata
        )
        if n_streams == 1 and is_long_draw and block_size >= BLOCK_RESAMPLES // 2:
            # Where counts take the time, and not the calls that draw those of each stratum, a call
            # for few resamples does not pay for a whole block.
            block_size = block_size * ROUND_RESAMPLES // BLOCK_RESAMPLES
            first_block_size = block_size // 2 if n_counts <= HALVED_COUNTS else FIRST_RESAMPLES
        # Resamples of two atoms are drawn, and summed, one after the other, so that the first of a
        # block are the same whether they are drawn alone or with those that follow.
        prefix_stable = draws_rows and len(multiplicity[0]) == 2 and set(reads) <= {"sums"}
        if prefix_stable:
            block_size = first_block_size = BLOCK_RESAMPLES_OF_TWO_ATOMS
        n_blocks = 1
        if self.n_resamples > first_block_size:
            n_blocks = -(-self.n_resamples // block_size) + (first_block_size < block_size)
        return Binding(
            self,
            units_of_codes,
            as_drawn,
            multiplicity,
            strata,
            block_size=block_size,
            first_block_size=first_block_size,
            n_blocks=n_blocks,
            codes_of_given_rows=None
            if self.resamples is None
            else bind_rows(codings, self.design.n_samples, None, as_rows=True)[0],
            on_demand=on_demand,
            draws_are_prefix_stable=prefix_stable,
            n_streams=n_streams,
            atom_order=atom_order,
        )

    def counts_of_two(self, codings: Sequence[CodedRows]) -> list[NDArray[np.integer] | None]:
        """Draw for each coding of two codes alone, as its own binding would.

        Parameters
        ----------
        codings : sequence of CodedRows

        Returns
        -------
        list of ndarray of shape (n_resamples + 1, 2), or None
            Rows of each code in every resample, and in the data; None for other codings.
        """
        is_given = self.resamples is not None or self.unit_counts is not None
        draws_rows = self.design.draws_independent_rows and not is_given
        if not draws_rows or self.n_resamples > BLOCK_RESAMPLES_OF_TWO_ATOMS:
            return [None] * len(codings)
        multiplicities = [
            occurrences(coding) if coding.n_codes == 2 and coding.reads == "sums" else None
            for coding in codings
        ]
        child, smallest = child_seed(self.seed, 0), np.min_scalar_type(self.design.n_samples)
        counts_of_each: list[NDArray[np.integer] | None] = []
        for multiplicity in multiplicities:
            counts = None
            if multiplicity is not None:
                rng = np.random.Generator(np.random.SFC64(child))
                resampled = multinomial_counts(rng, self.n_resamples, multiplicity)
                # The counts of all codings are held at once, so their type is small.
                counts = np.vstack((resampled, multiplicity)).astype(smallest)
            counts_of_each.append(counts)
        return counts_of_each


class BlockRows(NamedTuple):
    """Which rows of a block that holds the data as well are what; see `Binding.rows_with_data`.

    Attributes
    ----------
    resamples : slice
        Of the plan; a block that is drawn whole may have more behind them.
    data : int
        The data, in which every unit occurs once.
    without_unit : slice
        The data without one unit of each atom.
    """

    resamples: slice
    data: int
    without_unit: slice


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
    first_block_size : int
        Resamples in block 0; where they are fewer, block 1 has the rest of ``block_size``.
    n_blocks : int
        Number of blocks that hold the plan's resamples.
    units_as_drawn : list of UnitsOfCodes
        Codes of each statistic in terms of what its resamples count: atoms, or its codes.
    codes_of_given_rows : list of UnitsOfCodes or None
        Codes in terms of rows, when resamples are given.
    on_demand : bool
        Whether resamples are drawn only where a search reads them.
    draws_are_prefix_stable : bool
        Whether the first resamples of a block are the same if they are drawn alone.
    n_streams : int
        Number of streams that the resamples of a block are drawn from, equally many from each.
    atom_order : ndarray of shape (n_atoms,) or None
        Order in which counts are read, where the rows of each part stand side by side; None: as
        they are drawn.
    """

    plan: ResamplingPlan
    units_of_codes: list[UnitsOfCodes]
    units_as_drawn: list[UnitsOfCodes]
    multiplicity: tuple[NDArray[np.int64], ...]
    strata: NDArray[np.intp] | None
    block_size: int
    first_block_size: int
    n_blocks: int
    codes_of_given_rows: list[UnitsOfCodes] | None
    on_demand: bool = False
    draws_are_prefix_stable: bool = False
    n_streams: int = 1
    atom_order: NDArray[np.intp] | None = None
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def block_starts(self) -> list[int]:
        """First resample of each block, and the end of the last one, which may have more."""
        is_divided = self.first_block_size < self.block_size
        n_whole = self.n_blocks - is_divided
        whole = range(0, self.block_size * n_whole + 1, self.block_size)
        return sorted({0, self.first_block_size, *whole})

    def only(self, which: Sequence[int]) -> Binding:
        """Return the binding of the statistics at some positions."""
        return replace(
            self,
            units_of_codes=[self.units_of_codes[k] for k in which],
            units_as_drawn=[self.units_as_drawn[k] for k in which],
            codes_of_given_rows=None
            if self.codes_of_given_rows is None
            else [self.codes_of_given_rows[k] for k in which],
            _cache={},
        )

    def share_sums(self, blocks: Sequence[Block], read: Sequence[ReadTerms | None]) -> None:
        """Compute the sums of several statistics at once, for their blocks to hand out.

        Parameters
        ----------
        blocks : sequence of Block
            The blocks of one number, one per statistic.
        read : sequence of ReadTerms or None
            What each statistic will ask for; None where it asks for no sums.
        """
        readers_by_atoms: dict[Any, list[tuple[UnitBlock, ReadTerms]]] = {}
        for block, terms_read in zip(blocks, read, strict=True):
            # Sparse terms are summed by themselves.
            if terms_read is None or not isinstance(terms_read.terms, np.ndarray):
                continue
            if isinstance(block, UnitBlock):
                readers_by_atoms.setdefault(block.key_of_atoms, []).append((block, terms_read))
        for readers in readers_by_atoms.values():
            if len(readers) < 2:
                continue
            sharing, terms = zip(*readers, strict=True)
            # The data are read by units, and given resamples of groups by rows.
            key = tuple(block.units_of_codes for block in sharing)
            if key not in self._cache:
                self._cache[key] = SharedSums.of(sharing, terms)
            self._cache[key].hand_out(sharing)

    def forget(self) -> None:
        """Let go of what was made of terms for blocks of resamples: as much memory as they take."""
        self._cache.clear()
        for units in (*self.units_of_codes, *self.units_as_drawn):
            units.forget()

    def observed(self) -> list[Block]:
        """Return blocks of one resample, the data, in which every unit occurs once."""
        return self.plan.design.observed(self.units_as_drawn, self.multiplicity, self.strata)

    @cached_property
    def drawn_within(self) -> Strata | None:
        """The atoms of each stratum."""
        return None if self.strata is None else Strata.of(self.strata)

    @cached_property
    def rows_with_data(self) -> BlockRows | None:
        """Rows of block 0 ``with_data``; None unless it is of few counts, drawn for sums alone."""
        is_given = self.plan.resamples is not None or self.plan.unit_counts is not None
        n_atoms, n_resamples = len(self.multiplicity[0]), self.plan.n_resamples
        if (
            is_given
            or not self.plan.design.units_are_rows
            or self.block_starts[1] * n_atoms > NARROW_COUNTS
            or any(units.reads != "sums" for units in self.units_of_codes)
        ):
            return None
        n_drawn = self.block_starts[1]
        if self.draws_are_prefix_stable:
            n_drawn = min(n_drawn, n_resamples)
        without_unit = slice(n_drawn + 1, n_drawn + 1 + n_atoms)
        return BlockRows(slice(0, min(n_drawn, n_resamples)), n_drawn, without_unit)

    def block(self, number: int, *, with_data: bool = False) -> list[Block]:
        """Return block ``number``, whole, as each statistic reads it.

        The last block may hold more resamples than the plan asks for, since its stream is that of
        a whole block: the caller cuts the results. Only blocks that are drawn, or read, resample
        by resample are cut here. Block 0 ``with_data`` has the rows `rows_with_data`: the data, and
        the data without one unit of each atom, cost less there than in blocks of their own.
        """
        start, stop = self.block_starts[number : number + 2]
        resamples, n_whole = slice(start, stop), stop - start
        if self.codes_of_given_rows is not None:
            assert self.plan.resamples is not None
            picks, n = self.plan.resamples[resamples], self.plan.design.n_samples
            # Lists of rows may be of unequal length.
            resample = np.repeat(np.arange(len(picks)), [len(rows) for rows in picks])
            shifted = np.concatenate(picks).astype(np.intp) + resample * n
            row_counts = np.bincount(shifted, minlength=len(picks) * n).reshape(len(picks), n)
            # Atoms are rows here, of which groups may have some in a resample and others not.
            strata = self.plan.design.strata if self.plan.design.units_are_rows else None
            return list[Block](UnitBlock.of_each(self.codes_of_given_rows, row_counts, strata))
        if self.plan.unit_counts is not None:
            given_counts = (self.plan.unit_counts[resamples],)
            return self.plan.design.blocks(self.units_as_drawn, given_counts, self.strata)
        if self.on_demand:
            rng = np.random.Generator(np.random.SFC64(child_seed(self.plan.seed, number)))
            multiplicity = self.multiplicity[0]
            return [OnDemandBlock(self.units_of_codes[0], multiplicity, n_whole, rng)]
        n_wanted = self.plan.n_resamples - start
        n_resamples = n_whole // self.n_streams
        if self.draws_are_prefix_stable:
            n_resamples = min(n_resamples, n_wanted)
        within = None if self.strata is None else self.drawn_within
        joined: NDArray[Any] | None = None
        for stream in range(self.n_streams):
            at = slice(stream * n_resamples, (stream + 1) * n_resamples)
            if joined is not None and at.start >= n_wanted:
                # Resamples that are not asked for are copies of others, so that the shape of
                # products does not depend on the number of resamples.
                joined[at] = joined[:n_resamples]
                continue
            seed = child_seed(self.plan.seed, number * self.n_streams + stream)
            rng = np.random.Generator(np.random.SFC64(seed))
            counts = self.plan.design.draw(rng, n_resamples, self.multiplicity, within)
            if self.n_streams == 1 and self.atom_order is None:
                break
            if joined is None:
                joined = np.empty((n_whole, counts[0].shape[1]), counts[0].dtype)
            assert joined.dtype == counts[0].dtype
            if self.atom_order is None:
                joined[at] = counts[0]
                continue
            for resample, in_order in zip(counts[0], joined[at], strict=True):
                resample.take(self.atom_order, out=in_order, mode="clip")
        if joined is not None:
            counts = (joined,)
        if with_data:
            # In the order of `rows_with_data`: resamples, the data, the data without each unit.
            multiplicity = self.multiplicity[0]
            less = np.eye(len(multiplicity) + 1, len(multiplicity), -1, dtype=np.int64)
            data_counts = (multiplicity - less).astype(counts[0].dtype)
            counts = (np.concatenate((counts[0], data_counts)),)
        blocks = self.plan.design.blocks(self.units_as_drawn, counts, self.strata)
        return [
            block._part(slice(0, n_wanted)) if block.units_of_codes.reads == "rows" else block
            for block in blocks
        ]

    def parts_of_two_without_units(self) -> dict[int, JackknifeResamples]:
        """Return the data without one unit, for statistics of parts of two codes.

        Such are the right and the wrong rows of a subgroup. What it has no rows of is a third atom.
        By the number of the statistic; none where other units than single rows are left out.
        """
        if not self.plan.design.draws_independent_rows or not has_closed_forms(self.units_of_codes):
            return {}
        n, less = self.plan.design.n_samples, np.eye(3, 2, dtype=np.int64)
        of_two = {}
        for k, units in enumerate(self.units_of_codes):
            if units.atoms is None or units.reads != "sums" or not units.codes_are_atoms:
                continue
            seen = self.multiplicity[0][units.atoms]
            n_unseen = n - int(seen.sum())
            if len(seen) == 2 and n_unseen:
                block, times = UnitBlock(units, seen - less), np.append(seen, n_unseen)
                # Statistics of the same part share its sums.
                block.key_of_atoms = id(units.atoms)
                of_two[k] = JackknifeResamples([block], times, np.zeros(3, np.intp))
        return of_two

    def jackknife_bindings(self, done: Container[int]) -> list[tuple[Binding, list[int]]]:
        """Return which statistics read the same resamples that lack a unit, and their binding.

        A statistic of a subgroup needs none without a row of another, if each unit is left out.
        Those whose numbers are ``done`` are left out.
        """
        statistics = [k for k in range(len(self.units_of_codes)) if k not in done]
        parts = [k for k in statistics if self.units_of_codes[k].atoms is not None]
        if not has_closed_forms(self.units_of_codes):
            return [(self, statistics)]
        without_parts = [k for k in statistics if k not in set(parts)]
        return [
            (self.only(which), which) for which in (without_parts, *([k] for k in parts)) if which
        ]

    def jackknife_resamples(self) -> Iterator[JackknifeResamples]:
        """Yield the data without each unit, or without each of many sets of units."""
        n_sets = min(JACKKNIFE_UNITS, max(FEWEST_SETS, self.plan.n_resamples))
        return self.plan.design.jackknife_resamples(
            self.units_of_codes, self.multiplicity, self.strata, n_sets
        )
