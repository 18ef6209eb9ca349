"""Which units make up the codes of several statistics, for a plan to draw for them together.

`bind_rows`, `bind_groups` and `bind_pairs` take the `CodedRows` of every statistic, and return
`UnitsOfCodes` of each: codes in terms of atoms, sets of units that are drawn as one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._base.checks import order_of
from ._tuning import (
    CACHED_ARRAYS,
    EXACT_INTEGER,
    FEW_ROWS,
    KEYS_PER_ROW,
    ROWS_PER_ATOM,
    TYPES,
)
from .draws import AtomCounts, single_units

Floats = NDArray[np.float64]


class CodedRows(NamedTuple):
    """The code of each row for one statistic, and how the statistic reads blocks.

    Attributes
    ----------
    coded : ndarray of shape (n_seen,), CellCodes or None
        Numbers interchangeable rows from 0, every number in use, or the cells that they are of
        (`skboot.metrics.cells.CellCodes`); None: every row has its own code.
    n_codes : int
        Number of codes.
    reads : str
        How the statistic will read the blocks: "sums", "pairs", "crossing", "thresholds",
        "running" or "rows".
    counts : ndarray of shape (n_codes,) or None
        Rows of each code, if they were counted.
    rows : ndarray of shape (n_seen,) or None
        Rows that the statistic sees, rising, such as those of a subgroup; None: all.
    """

    coded: Any
    n_codes: int
    reads: str
    counts: NDArray[np.int64] | None = None
    rows: NDArray[np.intp] | None = None

    @property
    def code(self) -> NDArray[Any] | None:
        """Code of each row, (n_seen,); None: every row has its own."""
        return getattr(self.coded, "of_rows", self.coded)


class _Derived(NamedTuple):
    """An array that was derived for some purpose, with the objects that it was derived from."""

    purpose: str
    sources: tuple[Any, ...]
    array: Any


# Some of the atoms of a binding, rising; None: all of them.
Atoms = slice | NDArray[np.intp] | None


@dataclass(frozen=True, eq=False)
class UnitsOfCodes:
    """Which units make up each code: entries sorted by code.

    Attributes
    ----------
    n_codes : int
        Number of codes, all of them in use.
    entry_starts : ndarray of shape (n_codes + 1,) or None
        Entries ``entry_starts[c]`` to ``entry_starts[c + 1]`` belong to code c; None: entry c is
        code c.
    units : ndarray of shape (n_entries, n_factors) or None
        Atom of each entry in each factor; None: entry e is atom e.
    times : ndarray of shape (n_entries,) or None
        How many rows the entry stands for; None: one each.
    n_atoms : tuple of int
        Number of atoms of each factor.
    atoms : slice, ndarray of shape (n_atoms,) or None
        Which atoms of the binding these are, numbered anew; None: all of them.
    reads : str
        The reading the statistic will ask for: "sums", "pairs", "crossing", "thresholds",
        "running" or "rows".
    counts_own_codes : bool
        Whether its atoms are its codes, and not atoms of the binding.
    """

    n_codes: int
    n_atoms: tuple[int, ...]
    entry_starts: NDArray[np.intp] | None = None
    units: NDArray[np.signedinteger] | None = None
    times: NDArray[np.intp] | None = None
    reads: str = "running"
    atoms: Atoms = None
    counts_own_codes: ClassVar[bool] = False
    _cache: list[_Derived] = field(default_factory=list, repr=False)

    @property
    def n_entries(self) -> int:
        """Number of entries."""
        return self.n_codes if self.entry_starts is None else int(self.entry_starts[-1])

    @cached_property
    def code_of_entry(self) -> NDArray[np.intp]:
        """Code of each entry, (n_entries,)."""
        if self.entry_starts is None:
            return np.arange(self.n_codes)
        return np.repeat(np.arange(self.n_codes), np.diff(self.entry_starts))

    @cached_property
    def code_of_atom(self) -> NDArray[np.signedinteger] | None:
        """Code of each atom, ``n_codes`` where it has none; None if an atom has several."""
        if self.times is not None:
            return None
        if self.units is None:
            return self.code_of_entry
        atoms = self.units[:, 0]
        if np.bincount(atoms).max(initial=0) > 1:
            return None
        narrow = narrow_type(self.n_codes)
        code: NDArray[Any] = np.full(self.n_atoms[0], self.n_codes, narrow)
        numbers: NDArray[Any] = np.arange(self.n_codes, dtype=narrow)
        code[atoms] = numbers if self.entry_starts is None else self.code_of_entry
        return code

    @property
    def has_one_code_each(self) -> bool:
        """Whether every atom has one code at most."""
        return self.times is None and (self.units is None or self.code_of_atom is not None)

    @property
    def codes_are_atoms(self) -> bool:
        """Whether each code is the atom of the same number."""
        return self.units is None and self.entry_starts is None

    def kept(self, purpose: str, of: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return the array that was derived for this purpose from the same objects, or make it."""
        for derived in self._cache:
            # A bound method is a new object at each mention.
            if derived.purpose == purpose and all(
                a is b or (callable(a) and a == b)
                for a, b in zip(derived.sources, of, strict=False)
            ):
                return derived.array
        array = make()
        self._cache[:] = [*self._cache[1 - CACHED_ARRAYS :], _Derived(purpose, of, array)]
        return array

    def forget(self) -> None:
        """Let go of the arrays that were derived."""
        self._cache.clear()

    def among_all(self, n_atoms: int) -> UnitsOfCodes:
        """Number the units by all atoms of the binding."""
        if self.atoms is None:
            return self
        units: NDArray[Any] = np.arange(n_atoms, dtype=narrow_type(n_atoms))[self.atoms]
        if self.units is not None:
            units = units[self.units[:, 0]]
        units = units[:, None]
        return UnitsOfCodes(
            self.n_codes, (n_atoms,), self.entry_starts, units, self.times, self.reads
        )

    def with_unseen(self, n_unseen: int) -> UnitsOfCodes:
        """Add further atoms, which have no code, to those of the units."""
        n_atoms = self.n_atoms[0]
        units = np.arange(n_atoms)[:, None] if self.units is None else self.units[:, :1]
        n_atoms += n_unseen
        return UnitsOfCodes(
            self.n_codes, (n_atoms,), self.entry_starts, units, self.times, self.reads
        )

    def own(self, counts: AtomCounts) -> AtomCounts:
        """Return how often the statistic's atoms were drawn, from how often all of them were."""
        return counts if self.atoms is None else counts.of(self.atoms)

    def divided(self, starts: NDArray[np.intp]) -> list[UnitsOfCodes]:
        """Return the units of each range of codes, in numbers of their own.

        Parameters
        ----------
        starts : ndarray of shape (n_ranges + 1,)
            Range k holds the codes from ``starts[k]`` to ``starts[k + 1]``, which are numbered
            from 0 in it, as are the atoms that occur in it.
        """
        return self.kept("divided", (starts,), lambda: self._divided(starts.tolist()))

    def _divided(self, starts: list[int]) -> list[UnitsOfCodes]:
        assert self.units is None or self.units.shape[1] == 1
        ranges: list[UnitsOfCodes] = []
        for start, stop in itertools.pairwise(starts):
            entry_starts, entries = None, slice(start, stop)
            if self.entry_starts is not None:
                entries = slice(int(self.entry_starts[start]), int(self.entry_starts[stop]))
                entry_starts = self.entry_starts[start : stop + 1] - self.entry_starts[start]
            times = None if self.times is None else self.times[entries]
            atoms, units = entries, None
            if self.units is not None:
                atoms, units = _own(self.units[entries, 0])
                if times is None and np.array_equal(units, np.arange(_n_of(atoms))):
                    units = None
            entry_units = None if units is None else units[:, None]
            ranges.append(
                UnitsOfCodes(
                    stop - start, (_n_of(atoms),), entry_starts, entry_units, times, atoms=atoms
                )
            )
        return ranges

    def totals(self, terms: Any) -> Any:
        """Sum the terms of each atom's rows, and keep the sums for the next block."""
        if self.codes_are_atoms:
            return terms
        return self.kept("totals", (terms,), lambda: self.totals_of(terms))

    def products(self, terms: Floats) -> Floats:
        """Products of each two terms of each atom, (n_atoms, n_pairs), kept for the next block."""
        return self.kept("products", (terms,), lambda: self._products(self.totals(terms)))

    def with_products(self, terms: Floats) -> Floats:
        """Terms of each atom beside their products, (n_atoms, n_terms + n_pairs), kept likewise."""
        totals = self.totals(terms)
        return self.kept(
            "with products",
            (terms,),
            lambda: np.column_stack((totals, self._products(totals))),
        )

    @staticmethod
    def _products(totals: Floats) -> Floats:
        pairs = list(zip(*pairs_of_terms(totals.shape[1]), strict=True))
        products = np.empty((len(totals), len(pairs)))
        for k, (i, j) in enumerate(pairs):
            np.multiply(totals[:, i], totals[:, j], out=products[:, k])
        return products

    def totals_of(self, terms: Any) -> Any:
        """Sum the terms of each atom's rows: (n_atoms, n_terms), sparse if ``terms`` is."""
        if self.codes_are_atoms:
            return terms
        if not sparse.issparse(terms) and self.code_of_atom is not None:
            if self.units is not None and len(self.units) < self.n_atoms[0]:
                # Atoms without a code have one past the last.
                terms = np.vstack((terms, np.zeros((1, terms.shape[1]))))
            return terms.take(self.code_of_atom, axis=0)
        n_entries = len(self.code_of_entry)
        atoms = np.arange(n_entries) if self.units is None else self.units[:, 0]
        times = np.ones(n_entries) if self.times is None else self.times
        shape = (self.n_atoms[0], self.n_codes)
        return sparse.csr_matrix((times, (atoms, self.code_of_entry)), shape=shape) @ terms


def narrow_type(n: int) -> type:
    """Type of the numbers up to n: half as large where it does."""
    return np.int32 if n < EXACT_INTEGER else np.int64


@cache
def pairs_of_terms(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Each two of n terms, a term with itself included."""
    return np.triu_indices(n)


def types_of(terms: Floats) -> tuple[NDArray[np.uint8], Floats] | None:
    """Number the distinct rows of terms.

    Returns the number of each code's row, (n_codes,), and the distinct rows, (n_types, n_terms);
    None if there are more than `TYPES`.
    """
    number = np.zeros(len(terms), dtype=np.uint8)
    unnumbered = np.ones(len(terms), dtype=bool)
    values: list[Floats] = []
    columns = terms.T
    while unnumbered.any():
        if len(values) == TYPES:
            return None
        value = terms[np.argmax(unnumbered)]
        is_same_type = np.logical_and.reduce(
            [column == v for column, v in zip(columns, value, strict=True)]
        )
        if values:
            # Numbers are still 0 where the rows are the same, so the sum assigns them; an
            # assignment by mask takes several times as long.
            number += is_same_type.view(np.uint8) * np.uint8(len(values))
        values.append(value)
        unnumbered &= ~is_same_type
    return number, np.array(values, dtype=np.float64)


# Units of each statistic's codes; multiplicity of the atoms of each factor; strata of the atoms.
Bound = tuple[list[UnitsOfCodes], tuple[NDArray[np.int64], ...], NDArray[np.intp] | None]


def bind_rows(
    codings: Sequence[CodedRows],
    n_samples: int,
    strata: NDArray[np.intp] | None,
    as_rows: bool = False,
) -> Bound:
    """Bind to rows, or to sets of rows that are interchangeable for every statistic."""
    n = n_samples
    if not as_rows and strata is None and len(codings) == 1:
        (coding,) = codings
        multiplicity = None if coding.coded is None else occurrences(coding)
        if multiplicity is not None:
            every_code = UnitsOfCodes(coding.n_codes, (coding.n_codes,), reads=coding.reads)
            return [every_code], (multiplicity,), None
    # Single rows are drawn faster than many atoms of few rows.
    as_rows = as_rows or any(coding.n_codes > n // ROWS_PER_ATOM for coding in codings)
    joint = None if as_rows else _joint_codes(codings, n, strata)
    units_of_codes = []
    if joint is not None:
        codes, multiplicity, stratum = joint
        for coding, code in zip(codings, codes, strict=True):
            atoms: Atoms = None
            if coding.rows is not None:
                atoms = _slice_or_array(np.flatnonzero(code >= 0))
                code = code[atoms]
            units_of_codes.append(_coded_units(coding, code, len(code), atoms))
        return units_of_codes, (multiplicity,), stratum
    # Those of a stratum stand side by side, where they are drawn together.
    order = None if strata is None else order_of(strata)
    for coding in codings:
        code, by = coding.code, order
        atoms = None if coding.rows is None else _slice_or_array(coding.rows)
        if coding.rows is not None and order is not None:
            # The rows by stratum, and where they then stand among all.
            assert strata is not None
            place = np.empty(len(order), dtype=np.intp)
            place[order] = np.arange(len(order))
            by = order_of(strata[coding.rows])
            atoms = _slice_or_array(place[coding.rows if by is None else coding.rows[by]])
        if by is not None:
            code = by if code is None else code[by]
        n_atoms = n if coding.rows is None else len(coding.rows)
        units_of_codes.append(_coded_units(coding, code, n_atoms, atoms))
    if order is not None and strata is not None:
        # Narrow numbers, since there is one for each row.
        strata = strata.astype(np.min_scalar_type(int(strata.max())))[order]
    return units_of_codes, (single_units(n),), strata


def occurrences(coding: CodedRows) -> NDArray[np.int64] | None:
    """Return the number of rows of each code; None if some rows are unseen, or each has its own."""
    if coding.rows is not None:
        return None
    if coding.counts is not None or (code := coding.code) is None:
        return coding.counts
    if code.dtype == bool:
        n_true = np.count_nonzero(code)
        return np.array([len(code) - n_true, n_true])
    if coding.n_codes == len(code):
        # Every code is in use, so that each row has its own.
        return single_units(len(code))
    return np.bincount(code, minlength=coding.n_codes)


def side_by_side(
    units_of_codes: Sequence[UnitsOfCodes],
) -> tuple[list[UnitsOfCodes], NDArray[np.intp] | None]:
    """Number the atoms of parts anew, so that those of each part stand side by side.

    A part of a single statistic has them in the order of its codes, but for sums, which round by
    the order of their terms.

    Returns
    -------
    units_of_codes : list of UnitsOfCodes
        The same units of the renumbered atoms.
    order : ndarray of shape (n_atoms,) or None
        The atoms in this order; None, and the units as they are, unless each atom is of one part.
    """
    numbers: list[NDArray[np.intp]] = []
    places: dict[Any, slice] = {}
    renumbered, n_placed = [], 0
    # Statistics of one part have its atoms, the same object.
    keys: list[Any] = [
        (units.atoms.start, units.atoms.stop) if isinstance(units.atoms, slice) else id(units.atoms)
        for units in units_of_codes
    ]
    n_statistics = Counter(keys)
    for units, key in zip(units_of_codes, keys, strict=True):
        atoms, entry_units = units.atoms, units.units
        assert atoms is not None
        if key not in places:
            places[key] = slice(n_placed, n_placed + units.n_atoms[0])
            n_placed = places[key].stop
            if isinstance(atoms, slice):
                atoms = np.arange(atoms.start, atoms.stop)
            if entry_units is not None and n_statistics[key] == 1 and units.reads != "sums":
                atoms, entry_units = atoms[entry_units[:, 0]], None
            numbers.append(atoms)
        renumbered.append(replace(units, units=entry_units, atoms=places[key], _cache=[]))
    order = np.concatenate(numbers)
    if not np.array_equal(np.bincount(order), np.ones(len(order))):
        return list(units_of_codes), None
    return renumbered, order


def _joint_codes(
    codings: Sequence[CodedRows], n_samples: int, strata: NDArray[np.intp] | None
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.intp] | None] | None:
    """Number the combinations of stratum and codes that occur; None if rows are drawn faster.

    Returns for each combination, in rising order, its code in each coding or -1, how many rows it
    has, and its stratum. Each statistic splits the sets of rows that those before it made, and
    reads the rows alone that it sees, so that many subgroups take as long as one statistic of all
    rows. Statistics of the same cells of rows split these first, and pass over the rows once.
    """
    # By the cells, and the rows that are seen: the numbers of codings that share them.
    sharing: dict[tuple[Any, ...], list[int]] = {}
    for k, coding in enumerate(codings):
        cells = getattr(coding.coded, "cells", coding)
        sharing.setdefault((id(cells), id(coding.rows)), []).append(k)
    if len(sharing) < len(codings):
        return _joint_codes_by_cells(codings, list(sharing.values()), n_samples, strata)
    rows_of_parts = [coding.rows for coding in codings if coding.rows is not None]
    if len(rows_of_parts) == len(codings) > 1 and strata is None:
        rows_seen = np.concatenate(rows_of_parts)
        if len(rows_seen) <= n_samples and int(np.bincount(rows_seen).max()) == 1:
            return _joint_codes_of_parts(codings, n_samples)
    sizes, number = np.array([n_samples]), np.zeros(n_samples, dtype=np.uint8)
    if strata is not None:
        sizes = np.bincount(strata)
        number = strata.astype(np.min_scalar_type(len(sizes)))
    # Sets of rows that each statistic made: the number of the set each is of, and its code in it.
    n_strata, parents, codes_within = len(sizes), [np.full(len(sizes), -1)], [np.arange(len(sizes))]
    # Numbers of rows are those of their sets from this one on: those before have no rows left.
    offset = 0
    for coding in codings:
        rows = slice(None) if coding.rows is None else coding.rows
        key: NDArray[Any] = np.arange(coding.n_codes)
        if coding.code is not None:
            key = coding.code.astype(np.intp, copy=False)
        set_of_code: NDArray[Any] = np.zeros(coding.n_codes, number.dtype)
        are_divided = False
        if len(sizes) > 1:
            set_of_row = number[rows]
            set_of_code[key] = set_of_row
            are_divided = not np.array_equal(set_of_code[key], set_of_row)
        if are_divided:
            key = set_of_row.astype(np.intp) * coding.n_codes + key
            pair, times, place = count_keys(key, len(sizes) * coding.n_codes)
            parent, code = np.divmod(pair, coding.n_codes)
        else:
            # Each code lies in one set: codes are put in order, and not rows.
            code = np.argsort(set_of_code, kind="stable")
            places = np.empty(coding.n_codes, np.intp)
            places[code] = np.arange(coding.n_codes)
            parent, place = set_of_code[code].astype(np.intp), places[key]
            times = np.bincount(place, minlength=coding.n_codes)
        parents.append(offset + parent)
        codes_within.append(code)
        remaining = sizes - np.bincount(parent, times, len(sizes)).astype(np.int64)
        if not remaining.any():
            offset += len(remaining)
            remaining = remaining[:0]
        sizes = np.concatenate((remaining, times))
        if np.count_nonzero(sizes) > n_samples // ROWS_PER_ATOM:
            return None
        # In narrow numbers of rows more of them are in the cache.
        number = number.astype(np.min_scalar_type(len(sizes)), copy=False)
        number[rows] = place + len(remaining)
    last = np.flatnonzero(sizes)
    # Stratum and codes of the sets that are left, from those they were split off.
    coding_of_set = np.repeat(np.arange(len(parents)) - 1, [len(code) for code in codes_within])
    parent_of_set, code_of_set = np.concatenate(parents), np.concatenate(codes_within)
    codes = np.full((len(codings), len(last)), -1)
    stratum = offset + last
    while len(inner := np.flatnonzero(stratum >= n_strata)):
        at = stratum[inner]
        codes[coding_of_set[at], inner] = code_of_set[at]
        stratum[inner] = parent_of_set[at]
    order = np.lexsort((*codes[::-1], stratum))
    atom_strata = None if strata is None else stratum[order]
    return codes[:, order], sizes[last[order]], atom_strata


def _joint_codes_of_parts(
    codings: Sequence[CodedRows], n_samples: int
) -> tuple[NDArray[np.intp], NDArray[np.int64], None] | None:
    """As `_joint_codes`, of codings that share no rows: each code is a set of rows by itself.

    First come the rows that none sees, if there are some, and then the codes of the last coding.
    """
    sizes_of_parts: list[NDArray[np.int64]] = []
    for coding in codings:
        counts, code = coding.counts, coding.code
        if counts is None:
            counts = (
                np.ones(coding.n_codes, np.int64)
                if code is None
                else np.bincount(code, minlength=coding.n_codes)
            )
        sizes_of_parts.append(counts)
    n_unseen = n_samples - sum(int(counts.sum()) for counts in sizes_of_parts)
    starts = np.cumsum([int(n_unseen > 0), *(len(counts) for counts in sizes_of_parts[::-1])])
    if starts[-1] > n_samples // ROWS_PER_ATOM:
        return None
    codes = np.full((len(codings), starts[-1]), -1)
    for number, start, stop in zip(range(len(codings))[::-1], starts, starts[1:], strict=False):
        codes[number, start:stop] = np.arange(stop - start)
    unseen = [np.array([n_unseen])] if n_unseen else []
    return codes, np.concatenate([*unseen, *sizes_of_parts[::-1]]), None


def _joint_codes_by_cells(
    codings: Sequence[CodedRows],
    sharing: Sequence[Sequence[int]],
    n_samples: int,
    strata: NDArray[np.intp] | None,
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.intp] | None] | None:
    """As `_joint_codes`, where ``sharing`` holds the numbers of codings of the same cells."""
    divided, codes_of_joint = [], []
    for numbers in sharing:
        first = codings[numbers[0]]
        if len(numbers) == 1:
            divided.append(first)
            codes_of_joint.append(np.arange(first.n_codes)[None])
            continue
        cells = first.coded.cells
        of_cells = np.array([codings[k].coded.code_of_cell for k in numbers], dtype=np.intp)
        codes, joint = np.unique(of_cells, axis=1, return_inverse=True)
        joint, n_joint = joint.reshape(-1), codes.shape[1]
        counts = np.bincount(joint, cells.counts).astype(np.int64)
        codes_of_joint.append(codes)
        coded = replace(first.coded, code_of_cell=joint.astype(np.min_scalar_type(n_joint)))
        divided.append(CodedRows(coded, n_joint, first.reads, counts, first.rows))
    if len(divided) == 1 and strata is None and divided[0].rows is None:
        # The cells are of all rows, of which none is read.
        [coding] = divided
        if coding.n_codes > n_samples // ROWS_PER_ATOM:
            return None
        assert coding.counts is not None
        return codes_of_joint[0], coding.counts, None
    joint_codes = _joint_codes(divided, n_samples, strata)
    if joint_codes is None:
        return None
    of_atoms, sizes, stratum = joint_codes
    codes = np.empty((len(codings), len(sizes)), dtype=np.intp)
    for numbers, joint, known in zip(sharing, of_atoms, codes_of_joint, strict=True):
        codes[numbers] = np.where(joint < 0, -1, known[:, joint])
    order = np.lexsort((*codes[::-1], *([] if stratum is None else [stratum])))
    return codes[:, order], sizes[order], None if stratum is None else stratum[order]


def _coded_units(
    coding: CodedRows, code: NDArray[Any] | None, n_atoms: int, atoms: Atoms
) -> UnitsOfCodes:
    """Return the units of codes when every atom has one code."""
    if code is None:
        return UnitsOfCodes(coding.n_codes, (n_atoms,), reads=coding.reads, atoms=atoms)
    # The ends tell most orders from that of the codes, without as many numbers as rows.
    are_ends_sorted = n_atoms == coding.n_codes and code[0] == 0 and code[-1] == n_atoms - 1
    if are_ends_sorted and np.array_equal(code, np.arange(n_atoms)):
        return UnitsOfCodes(coding.n_codes, (n_atoms,), reads=coding.reads, atoms=atoms)
    units: NDArray[Any] = counting_sort(code, coding.n_codes)
    units = units.astype(narrow_type(n_atoms), copy=False)
    return _entries(coding, code[units], units[:, None], (n_atoms,), None, atoms)


def bind_groups(
    codings: Sequence[CodedRows],
    groups: NDArray[np.signedinteger],
    n_groups: int,
    strata: NDArray[np.intp] | None,
) -> Bound:
    """Bind to groups; the rows of a group that share a code are one entry."""
    units_of_codes = []
    for coding in codings:
        code = _code_of_seen(coding, len(groups))
        row_atoms, n_atoms, atoms = groups, n_groups, None
        if coding.rows is not None:
            atoms, row_atoms = _own(groups[coding.rows])
            n_atoms = _n_of(atoms)
        if coding.n_codes >= len(code):
            order = counting_sort(code, coding.n_codes)
            entry: tuple[Any, Any, Any] = (code[order], row_atoms[order][:, None], None)
        else:
            key = code.astype(np.intp) * n_atoms + row_atoms
            pair, times, _ = count_keys(key, coding.n_codes * n_atoms)
            several = times if times.max() > 1 else None
            entry = (pair // n_atoms, (pair % n_atoms)[:, None], several)
        units_of_codes.append(_entries(coding, entry[0], entry[1], (n_atoms,), entry[2], atoms))
    return units_of_codes, (single_units(n_groups),), strata


def bind_pairs(
    codings: Sequence[CodedRows],
    pairs: NDArray[np.signedinteger],
    n_members: tuple[int, ...],
    n_units: tuple[int, ...],
) -> Bound:
    """Bind to the members of each factor; every row is an entry."""
    units_of_codes = []
    for coding in codings:
        code = _code_of_seen(coding, len(pairs))
        order = counting_sort(code, coding.n_codes)
        by_code = code[order] if len(code) > coding.n_codes else code
        order = order if coding.rows is None else coding.rows[order]
        units = pairs.take(order, axis=0).astype(np.int32, copy=False)
        units_of_codes.append(_entries(coding, by_code, units, n_members, None, None))
    ones = tuple(np.ones(n, dtype=np.int64) for n in n_units)
    return units_of_codes, ones, None


def _code_of_seen(coding: CodedRows, n_samples: int) -> NDArray[Any]:
    """Return the code of each row that the statistic sees, as an integer."""
    if coding.code is None:
        return np.arange(n_samples if coding.rows is None else len(coding.rows))
    narrow = coding.code.dtype.itemsize < 4
    return coding.code.astype(np.intp) if narrow else coding.code


def count_keys(
    keys: NDArray[Any], n_keys: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct keys in rising order, how often each occurs, and the place of each."""
    if n_keys > KEYS_PER_ROW * len(keys):
        distinct, place, times = np.unique(keys, return_inverse=True, return_counts=True)
        return distinct, times, place
    times = np.bincount(keys, minlength=n_keys)
    distinct = np.flatnonzero(times)
    places = np.empty(n_keys, dtype=np.intp)
    places[distinct] = np.arange(len(distinct))
    return distinct, times[distinct], places.take(keys)


def _own(numbers: NDArray[Any]) -> tuple[Any, NDArray[np.intp]]:
    """Return the atoms that occur among some, in rising order, and the place of each of these."""
    low = int(numbers.min())
    distinct, _, place = count_keys(numbers.astype(np.intp) - low, int(numbers.max()) - low + 1)
    return _slice_or_array(distinct + low), place


def _slice_or_array(atoms: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    """Return rising numbers as a slice if they are consecutive: it is read without a copy."""
    low, last = int(atoms[0]), int(atoms[-1])
    return slice(low, last + 1) if last - low == len(atoms) - 1 else atoms


def _n_of(atoms: slice | NDArray[np.intp]) -> int:
    return atoms.stop - atoms.start if isinstance(atoms, slice) else len(atoms)


def counting_sort(code: NDArray[Any], n_codes: int) -> NDArray[np.signedinteger]:
    """Return positions in rising order of codes, equal codes in their own order, in O(n)."""
    n = len(code)
    if n == n_codes:
        order: NDArray[Any] = np.empty(n, dtype=narrow_type(n))
        order[code.astype(np.intp, copy=False)] = np.arange(n, dtype=order.dtype)
        return order
    if n <= FEW_ROWS:
        return np.argsort(code, kind="stable")
    # scipy gathers the rows of a sparse matrix by counting, without comparisons.
    by_code = sparse.coo_matrix((np.ones(n, np.int8), (code, np.arange(n))), shape=(n_codes, n))
    return by_code.tocsr().indices.astype(np.intp)


def _entries(
    coding: CodedRows,
    code: NDArray[np.integer],
    units: NDArray[np.signedinteger],
    n_atoms: tuple[int, ...],
    times: NDArray[np.intp] | None,
    atoms: Atoms,
) -> UnitsOfCodes:
    """Return the units of codes from entries that are sorted by code."""
    starts = None
    if len(code) != coding.n_codes:
        starts = np.searchsorted(code, np.arange(coding.n_codes + 1))
    return UnitsOfCodes(coding.n_codes, n_atoms, starts, units, times, coding.reads, atoms)
