"""Draw how often each atom occurs in a resample: exact multinomial counts, a block at a time.

An *atom* is a set of interchangeable units; its multiplicity is their number. A resample of
``n`` units is one draw of Multinomial(n, multiplicity / n).

`multinomial_counts` takes the cheapest of these ways, all of them exact:

* few heavy atoms: conditional binomials, one per atom;
* many heavy atoms of equal multiplicity: one binomial for all of them, and a table of their counts;
* many rare atoms: independent Poisson counts, topped up to the total, by table look-up or, for
  single units, by comparing bytes;
* few units: place them one by one.

`AtomCounts` holds what was drawn: a statistic of a subgroup has a part of the atoms.

Every function is a pure function of the generator's state and its arguments, so one stream per
block of resamples makes results independent of how blocks are spread over processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .._base.checks import order_of
from .._base.values import repeated
from ._tuning import (
    EQUAL_ATOMS,
    FILL_BYTES,
    HEAVY_ENTRIES,
    LAW_CELLS,
    PLACED_ATOMS,
    POISSON_FILL_UNITS,
    SHORTFALL,
    SHORTFALL_OF_HEAVY,
    STRATA_IN_TURN,
    TABLE_ENTRIES,
    TABLE_UNITS,
    TILE_ELEMENTS,
)

# Byte that stands for a count which a look-up table leaves open.
_OPEN = np.iinfo(np.uint8).max


def multinomial_counts(
    rng: np.random.Generator,
    n_resamples: int,
    multiplicity: NDArray[np.int64],
    strata: Strata | None = None,
) -> NDArray[np.integer]:
    """Draw multinomial counts of atoms, independently for each resample.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness; advanced by the call.
    n_resamples : int
        Number of resamples.
    multiplicity : ndarray of shape (n_atoms,)
        Number of units in each atom, positive.
    strata : Strata, optional
        As many units as a stratum holds are drawn within it.

    Returns
    -------
    ndarray of shape (n_resamples, n_atoms)
        Unsigned or signed integer counts; each resample sums to ``multiplicity.sum()``.
    """
    if strata is not None:
        if len(strata.sizes) > STRATA_IN_TURN and int(multiplicity.max()) == 1:
            return _many_small_strata(rng, n_resamples, strata)
        by_stratum = multiplicity if strata.order is None else multiplicity[strata.order]
        pieces = [
            multinomial_counts(rng, n_resamples, stratum_multiplicity)
            for stratum_multiplicity in np.split(by_stratum, np.cumsum(strata.sizes)[:-1])
        ]
        return strata.in_place(np.concatenate(pieces, axis=1))
    if len(multiplicity) == 2:
        # The resamples are drawn one after the other, so fewer of them are the first of these.
        n = int(multiplicity.sum())
        counts: NDArray[np.int64] = np.empty((n_resamples, 2), dtype=np.int64, order="F")
        # The rarer atom is drawn: the distribution of p up to 1/2 is tabulated without
        # cancellation.
        rare = int(np.argmin(multiplicity))
        if n < POISSON_FILL_UNITS:
            law = special.bdtr(np.arange(n), n, multiplicity[rare] / n)
            uniform = rng.random(n_resamples)
            # Most cells of (0, 1) hold no value of the law: all numbers in one have the same count.
            in_cell = np.bincount((LAW_CELLS * law).astype(np.intp), minlength=LAW_CELLS + 1)
            cell = (LAW_CELLS * uniform).astype(np.intp)
            counts[:, rare] = (np.cumsum(in_cell) - in_cell).take(cell)
            unsure = np.flatnonzero(in_cell.take(cell))
            counts[unsure, rare] = np.searchsorted(law, uniform[unsure], side="right")
        else:
            counts[:, rare] = rng.binomial(n, multiplicity[rare] / n, size=n_resamples)
        counts[:, 1 - rare] = n - counts[:, rare]
        return counts
    n = n_units_of(multiplicity)
    if n == len(multiplicity):
        return _rare(rng, np.full(n_resamples, n), single_units(n), n)
    return _heavy_then_rare(rng, n_resamples, multiplicity)


class Strata(NamedTuple):
    """The atoms of each stratum, sorted once for all blocks.

    Attributes
    ----------
    sizes : ndarray of shape (n_strata,)
        Number of atoms of each.
    order : ndarray of shape (n_atoms,) or None
        Atoms by stratum; None where they come so.
    """

    sizes: NDArray[np.int64]
    order: NDArray[np.intp] | None

    @classmethod
    def of(cls, stratum: NDArray[np.intp]) -> Strata:
        """Sort atoms by stratum; ``stratum`` (n_atoms,) numbers that of each from 0."""
        return cls(np.bincount(stratum), order_of(stratum))

    def in_place(self, counts: NDArray[np.integer]) -> NDArray[np.integer]:
        """Put counts by stratum, (n_resamples, n_atoms), where the atoms are."""
        if self.order is None:
            return counts
        atom_counts = np.empty_like(counts)
        for resample, by_stratum in zip(atom_counts, counts, strict=True):
            resample[self.order] = by_stratum
        return atom_counts


def single_units(n: int) -> NDArray[np.int64]:
    """A unit in each of n atoms: one number that is read n times, which takes no memory."""
    return repeated(1, n)


def n_units_of(multiplicity: NDArray[np.int64]) -> int:
    """Return the sum, without a pass over `single_units`."""
    if multiplicity.strides == (0,):
        return len(multiplicity) * int(multiplicity[0])
    return int(multiplicity.sum())


def _heavy_then_rare(
    rng: np.random.Generator, n_resamples: int, multiplicity: NDArray[np.int64]
) -> NDArray[np.integer]:
    """Draw heavy atoms by conditional binomials in falling order, then the rare ones together."""
    n = pool = int(multiplicity.sum())
    rare = multiplicity <= TABLE_UNITS
    heavy = np.flatnonzero(~rare)
    heavy = heavy[np.argsort(-multiplicity[heavy], kind="stable")]
    remaining: NDArray[np.int64] | int = n
    dtype = np.int32 if n < np.iinfo(np.int32).max else np.int64
    are_many = len(heavy) >= EQUAL_ATOMS
    # Without rare atoms, few counts are written and read atom by atom.
    order: Literal["C", "F"] = "C" if are_many or rare.any() else "F"
    counts: NDArray[np.integer] = np.empty((n_resamples, len(multiplicity)), dtype, order)
    sets = list(heavy[:, None])
    if are_many:
        # Many equal atoms are drawn as one, single others each.
        sets = []
        for equal in np.split(heavy, np.flatnonzero(np.diff(multiplicity[heavy])) + 1):
            sets += [equal] if len(equal) >= EQUAL_ATOMS else list(equal[:, None])
    for atoms in sets:
        size = int(multiplicity[atoms].sum())
        # The first atom is drawn from the same number of units in all resamples, and numpy prepares
        # the distribution of a single number once.
        taken = (
            remaining if size == pool else rng.binomial(remaining, size / pool, size=n_resamples)
        )
        if len(atoms) == 1:
            counts[:, atoms[0]] = taken
        else:
            totals = taken + np.zeros(n_resamples, np.int64)
            start, last = int(atoms[0]), int(atoms[-1])
            # Consecutive atoms are a slice, which is written faster.
            are_side_by_side = last - start == len(atoms) - 1
            at = slice(start, last + 1) if are_side_by_side else atoms
            counts[:, at] = _poisson_fill(rng, totals, multiplicity[atoms], n)
        remaining = remaining - taken
        pool -= size
    if pool:
        rare_counts = _rare(rng, remaining + np.zeros(n_resamples, np.int64), multiplicity[rare], n)
        if not len(heavy):
            return rare_counts
        # Codes are mostly numbered in falling order; the rare ones are then the last, and a slice
        # writes them faster than a mask.
        last = len(multiplicity) - rare_counts.shape[1]
        counts[:, slice(last, None) if rare[last:].all() else rare] = rare_counts
    return counts


def _rare(
    rng: np.random.Generator, totals: NDArray[np.int64], multiplicity: NDArray[np.int64], n: int
) -> NDArray[np.integer]:
    """Draw ``totals[resample]`` units of the pool of rare atoms, a share of ``n`` units."""
    if n_units_of(multiplicity) >= POISSON_FILL_UNITS:
        return _poisson_fill(rng, totals, multiplicity, n)
    # Few units are placed one by one.
    n_resamples, n_atoms = len(totals), len(multiplicity)
    if n_atoms > PLACED_ATOMS or not totals.all():
        placed = np.empty((n_resamples, n_atoms), np.min_scalar_type(int(totals.max(initial=0))))
        # Some resamples at a time, whose numbers stay in the cache.
        step = max(1, FILL_BYTES // 8 // max(n_atoms, n_units_of(multiplicity)))
        for start in range(0, n_resamples, step):
            part = placed[start : start + step]
            picks = _picked(rng, totals[start : start + step], multiplicity)
            part[:] = np.bincount(picks, minlength=part.size).reshape(part.shape)
        return placed
    # The same counts from the same numbers, by a comparison for each atom.
    ends = np.cumsum(multiplicity)
    # Numbers of 32 bits are drawn from the same random bits as those of 64, in half the memory.
    picks = rng.integers(0, int(ends[-1]), size=int(totals.sum()), dtype=np.int32)
    starts = np.cumsum(totals) - totals
    counts = np.empty((n_resamples, n_atoms), dtype=np.int64)
    below: NDArray[np.int64] | int = 0
    for atom, end in enumerate(ends[:-1]):
        up_to = np.add.reduceat(picks < end, starts, dtype=np.int64)
        counts[:, atom] = up_to - below
        below = up_to
    counts[:, -1] = totals - below
    return counts


def _picked(
    rng: np.random.Generator, totals: NDArray[np.int64], multiplicity: NDArray[np.int64]
) -> NDArray[np.intp]:
    """Draw ``totals[resample]`` units one by one; return their places in the flattened counts."""
    n_resamples, n_atoms = len(totals), len(multiplicity)
    n_units = n_units_of(multiplicity)
    picks = rng.integers(0, n_units, size=int(totals.sum()))
    if n_units > n_atoms:
        picks = np.repeat(np.arange(n_atoms), multiplicity)[picks]
    picks += np.repeat(np.arange(n_resamples) * n_atoms, totals)
    return picks


def _many_small_strata(
    rng: np.random.Generator, n_resamples: int, strata: Strata
) -> NDArray[np.integer]:
    """Draw single units in all strata at once, by one uniform number for each unit.

    The count of a unit is about a Poisson count of mean 1, which fits a byte (record 0010).
    """
    sizes, n = strata.sizes, int(strata.sizes.sum())
    width = np.repeat(sizes, sizes).astype(np.float64)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    counts = np.empty((n_resamples, n), dtype=np.uint8)
    # Some resamples at a time, whose numbers stay in the cache.
    step = max(1, FILL_BYTES // 8 // n)
    for start in range(0, n_resamples, step):
        part = counts[start : start + step]
        picks = (rng.random(part.shape) * width).astype(np.intp)
        picks += starts
        picks += np.arange(len(part))[:, None] * n
        part[:] = np.bincount(picks.ravel(), minlength=part.size).reshape(part.shape)
    return strata.in_place(counts)


def _poisson_fill(
    rng: np.random.Generator, totals: NDArray[np.int64], multiplicity: NDArray[np.int64], n: int
) -> NDArray[np.integer]:
    """Draw independent Poisson counts, then one by one the units that lack to the totals.

    Given its total, a vector of Poisson counts is multinomial, and so is its sum with units that
    are placed at random. Resamples that are fuller than their total are drawn again; this depends
    on the two totals alone, so that the distribution of the counts given these totals is unchanged.
    Heavy atoms are all of one multiplicity.
    """
    n_units, n_resamples = n_units_of(multiplicity), len(totals)
    # A pool that is part of n units has totals that vary as well.
    spread = np.sqrt((2.0 - n_units / n) / n_units)
    heavy = int(multiplicity[0]) > TABLE_UNITS
    rate = max(1.0 - (SHORTFALL_OF_HEAVY if heavy else SHORTFALL) * spread, 0.25)
    single = n_units == len(multiplicity)
    law = None if single else multiplicity.astype(np.int32)
    dtype: Any = np.int32 if heavy else np.uint8

    def fresh(n_resamples: int, out: NDArray[Any]) -> NDArray[np.int64]:
        if law is None:
            _poisson_bytes(rng, rate, out.reshape(-1))
        elif heavy:
            _poisson_heavy(rng, rate * float(multiplicity[0]), out.reshape(-1))
        else:
            _poisson_cells(rng, rate, law, out)
        # Sums in 32 bits take half the time of sums in 64 bits (record 0010).
        return out.sum(axis=1, dtype=np.uint32).astype(np.int64)

    counts = np.empty((n_resamples, len(multiplicity)), dtype=dtype)
    missing = totals - fresh(n_resamples, counts)
    while (again := np.flatnonzero(missing < 0)).size:
        redrawn = np.empty((len(again), len(multiplicity)), dtype=dtype)
        missing[again] = totals[again] - fresh(len(again), redrawn)
        counts[again] = redrawn
    if heavy:
        # As many at a time as the cache holds pick their atoms one by one.
        n_atoms = counts.shape[1]
        narrow = np.min_scalar_type(n_atoms - 1)
        step = max(1, FILL_BYTES // max(1, int(missing.max())))
        for start in range(0, n_resamples, step):
            n_placed = missing[start : start + step]
            picks = np.repeat(np.arange(len(n_placed)) * n_atoms, n_placed)
            picks += rng.integers(0, n_atoms, size=len(picks), dtype=narrow)
            placed = np.bincount(picks, minlength=len(n_placed) * n_atoms)
            counts[start : start + step] += placed.reshape(-1, n_atoms)
        return counts
    np.add.at(counts.reshape(-1), _picked(rng, missing, multiplicity), np.uint8(1))
    return counts


def _poisson_heavy(rng: np.random.Generator, mean: float, counts: NDArray[np.int32]) -> None:
    """Write Poisson counts of one large mean, drawn from a table by 16 random bits each."""
    table, residual, least = _heavy_law(mean)
    for start in range(0, len(counts), FILL_BYTES // 2):
        part = counts[start : start + FILL_BYTES // 2]
        raw = _random_bits(rng, len(part), "<u2")
        np.take(table, raw, out=part, mode="clip")
        unsettled = np.flatnonzero(part < 0)
        part[unsettled] = least + np.searchsorted(residual, rng.random(len(unsettled)), "right")


@lru_cache(maxsize=8)
def _heavy_law(mean: float) -> tuple[NDArray[np.int32], NDArray[np.float64], int]:
    """Table of Poisson counts, -1 where an entry is open; cumulative shares of the open ones."""
    least, last = (int(np.ceil(special.pdtrik(q, mean))) for q in (1e-18, 1 - 1e-16))
    entries = HEAVY_ENTRIES * _poisson(np.arange(least, last + 1), mean)
    n_entries = np.floor(entries).astype(np.intp)
    table = np.full(HEAVY_ENTRIES, -1, np.int32)
    table[: n_entries.sum()] = np.repeat(np.arange(least, last + 1), n_entries)
    residual = np.cumsum(entries - n_entries)
    return table, residual[:-1] / residual[-1], least


def _poisson_bytes(rng: np.random.Generator, rate: float, counts: NDArray[np.uint8]) -> None:
    """Write Poisson counts drawn from 8 random bits each, or from 12 more where these do not do."""
    starts, n_settled, table, residual = _byte_law(rate)
    above = np.empty(FILL_BYTES, dtype=bool)
    for begin in range(0, len(counts), FILL_BYTES):
        part = counts[begin : begin + FILL_BYTES]
        raw = _random_bits(rng, len(part), "u1")
        flag = above[: len(part)]
        np.greater_equal(raw, starts[0], out=part.view(bool))
        for start in starts[1:]:
            np.greater_equal(raw, start, out=flag)
            part += flag.view(np.uint8)
        np.greater_equal(raw, n_settled, out=flag)
        unsettled = np.flatnonzero(flag)
        settled = table.take(_entries(rng, len(unsettled)))
        still_open = np.flatnonzero(settled == _OPEN)
        uniform = rng.random(len(still_open))
        settled[still_open] = np.searchsorted(residual, uniform, side="right")
        part[unsettled] = settled


def _entries(rng: np.random.Generator, n: int) -> NDArray[np.uint16]:
    """Draw entries of a look-up table, (n,)."""
    return _random_bits(rng, n, "<u2") & np.uint16(TABLE_ENTRIES - 1)


def _random_bits(rng: np.random.Generator, n: int, dtype: str) -> NDArray[Any]:
    """Draw numbers of one or two bytes, (n,): the first has the lowest bits on every machine."""
    n_words = -(-n * np.dtype(dtype).itemsize // 8)
    return rng.bit_generator.random_raw(n_words).astype("<u8", copy=False).view(dtype)[:n]


@lru_cache(maxsize=64)
def _byte_law(
    rate: float,
) -> tuple[list[np.uint8], np.uint8, NDArray[np.uint8], NDArray[np.float64]]:
    """Split the 256 values of a byte: floor(256 p_k) of them mean count k, the rest are open.

    Returns the first byte of counts 1, 2, ..., and the first open byte; then a table of counts
    given an open byte, split likewise, and the cumulative law given an open entry of it.
    """
    p = _poisson(np.arange(40), rate)
    n_bytes = np.floor(256 * p).astype(int)
    cumulative = np.cumsum(n_bytes)
    starts = [np.uint8(c) for c in cumulative[:-1][n_bytes[1:] > 0]]
    open_law = 256 * p - n_bytes
    open_law /= open_law.sum()
    n_entries = np.floor(TABLE_ENTRIES * open_law).astype(int)
    table = np.full(TABLE_ENTRIES, _OPEN, dtype=np.uint8)
    table[: n_entries.sum()] = np.repeat(np.arange(40), n_entries)
    residual = np.cumsum(TABLE_ENTRIES * open_law - n_entries)
    return starts, np.uint8(cumulative[-1]), table, residual[:-1] / residual[-1]


def _poisson_cells(
    rng: np.random.Generator, rate: float, multiplicity: NDArray[np.int32], out: NDArray[np.uint8]
) -> None:
    """Write Poisson counts of means ``rate * multiplicity``, drawn from one table for each mean."""
    largest = int(multiplicity.max())
    law, multiplicities = multiplicity, range(1, largest + 1)
    if out.size < largest * TABLE_ENTRIES:
        # Fewer counts than entries: the tables of means that do not occur would cost more.
        multiplicities = np.unique(multiplicity).tolist()
        law = (np.searchsorted(multiplicities, multiplicity) + 1).astype(np.int32)
    table, residual = _table_law(rate, tuple(multiplicities))
    offset = (law - 1) * np.int32(TABLE_ENTRIES)
    n_resamples, n_atoms = out.shape
    step = max(1, FILL_BYTES // 2 // n_atoms)
    for begin in range(0, n_resamples, step):
        part = out[begin : begin + step]
        entry = offset + _entries(rng, part.size).reshape(part.shape)
        np.take(table, entry, out=part, mode="clip")
        flat = part.reshape(-1)
        unsettled = np.flatnonzero(flat == _OPEN)
        law_of_open = law[unsettled % n_atoms]
        # The cumulative laws stand in one array, law number k between k and k + 1. The uniform
        # number has 40 bits, because with 53 its sum with k could be rounded up to k + 1.
        uniform = rng.integers(0, 1 << 40, size=len(law_of_open)) / (1 << 40)
        place = np.searchsorted(residual, uniform + law_of_open, side="right")
        flat[unsettled] = place - law_of_open * _OPEN


# Strata of other sizes have other laws, and every block draws from all of them; the tables of a law
# take up to .6 MB, mostly a third of it.
@lru_cache(maxsize=64)
def _table_law(
    rate: float, multiplicities: tuple[int, ...]
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Tables of counts for some multiplicities, and laws for their open entries.

    Returns the tables, (n_laws * TABLE_ENTRIES,), in which floor(TABLE_ENTRIES p_k) entries mean
    count k and the rest are open; and the cumulative laws of counts 0 to 254 given an open entry,
    raised by the number of the law, which counts from 1; there is none of number 0.
    """
    n_laws = len(multiplicities)
    p = _poisson(np.arange(_OPEN), rate * np.array(multiplicities)[:, None])
    n_entries: NDArray[np.intp] = np.floor(TABLE_ENTRIES * p).astype(np.intp)
    n_entries = np.column_stack((n_entries, TABLE_ENTRIES - n_entries.sum(axis=1)))
    values = np.tile(np.arange(_OPEN + 1, dtype=np.uint8), n_laws)
    table = np.repeat(values, n_entries.ravel())
    residual = np.ones((n_laws + 1, _OPEN))
    residual[1:] = np.cumsum(TABLE_ENTRIES * p - n_entries[:, :-1], axis=1)
    residual /= residual[:, -1:]
    return table, (residual + np.arange(n_laws + 1)[:, None]).ravel()


def _poisson(counts: NDArray[np.intp], mean: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Probabilities of counts; those of scipy, whose checks take longer than the numbers."""
    probabilities: NDArray[np.float64] = np.exp(
        special.xlogy(counts, mean) - special.gammaln(counts + 1) - mean
    )
    return probabilities


# ------------------------------------------------------------------ counts of all atoms, or some


class AtomCounts:
    """How often some atoms were drawn.

    Parameters
    ----------
    counts : ndarray of shape (n_resamples, n_atoms)
        How often each atom was drawn.
    strata : ndarray of shape (n_atoms,), optional
        Stratum of each atom, numbered from 0.
    """

    def __init__(self, counts: NDArray[Any], strata: NDArray[np.intp] | None = None) -> None:
        self.counts = counts
        self.strata = strata
        self._kept: dict[Any, Any] = {}

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what was made of the counts under this key, or make it."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def of(self, atoms: slice | NDArray[np.intp]) -> AtomCounts:
        """Return the counts of some atoms, the same object for all that ask for these."""
        key = (atoms.start, atoms.stop) if isinstance(atoms, slice) else id(atoms)
        if key not in self._kept:
            is_slice = isinstance(atoms, slice)
            counts = self.counts[:, atoms] if is_slice else np.take(self.counts, atoms, axis=1)  # type: ignore[arg-type]
            strata = None if self.strata is None else self.strata[atoms]
            self._kept[key] = AtomCounts(counts, strata)
        part: AtomCounts = self._kept[key]
        return part

    def part(self, resamples: slice) -> AtomCounts:
        """Return the counts of some of the resamples."""
        return AtomCounts(self.counts[resamples], self.strata)

    @cached_property
    def n_units(self) -> NDArray[np.float64]:
        """Units drawn, (n_resamples,)."""
        return self.counts.sum(axis=1, dtype=np.float64)

    @cached_property
    def of_strata(self) -> NDArray[np.float64]:
        """Units drawn of each stratum, (n_resamples, n_strata)."""
        assert self.strata is not None
        n_resamples = len(self.counts)
        units = np.zeros((n_resamples, int(self.strata.max()) + 1))
        for atoms, starts, strata in tiles_of_strata(self.strata, n_resamples):
            weights = self.counts[:, atoms].astype(np.float64)
            units[:, strata] += np.add.reduceat(weights, starts, axis=1)
        return units


def tiles_of_strata(
    strata: NDArray[np.intp], n_resamples: int
) -> Iterator[tuple[slice | NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]]:
    """Go through all atoms stratum by stratum, as many at a time as have weights in the cache.

    Parameters
    ----------
    strata : ndarray of shape (n_atoms,)
        Stratum of each atom, numbered from 0.
    n_resamples : int
        Weights of each atom.

    Yields
    ------
    atoms : slice or ndarray
        Some atoms, those of a stratum side by side; a stratum may go on in the next tile.
    starts : ndarray of shape (n_strata_of_tile,)
        Place among these atoms at which each of their strata begins, as `numpy.add.reduceat` reads
        it.
    numbers : ndarray of shape (n_strata_of_tile,)
        Which strata these are.
    """
    order = order_of(strata)
    width = max(1, min(TILE_ELEMENTS // n_resamples, TILE_ELEMENTS // 8))
    for start in range(0, len(strata), width):
        at = slice(start, min(start + width, len(strata)))
        atoms = at if order is None else order[at]
        stratum = strata[atoms]
        starts = np.array([0])
        if stratum[0] != stratum[-1]:
            starts = np.append(starts, np.flatnonzero(stratum[1:] != stratum[:-1]) + 1)
        yield atoms, starts, stratum[starts]
