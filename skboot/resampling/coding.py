"""Which units make up the codes of several statistics, for a plan to draw for them together.

`bind_rows`, `bind_groups` and `bind_pairs` take the `CodedRows` of every statistic, and return
`UnitsOfCodes` of each: codes in terms of atoms, sets of units that are drawn as one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._tuning import CACHED_ARRAYS, EXACT_INTEGER, KEYS_PER_ROW, ROWS_PER_ATOM, TYPES
from .draws import single_units

Floats = NDArray[np.float64]


class CodedRows(NamedTuple):
    """The code of each row for one statistic, and how the statistic reads blocks.

    Attributes
    ----------
    code : ndarray of shape (n_samples,) or None
        Numbers interchangeable rows from 0, every number in use; -1 marks rows that the
        statistic does not see; None: every row has its own code.
    n_codes : int
        Number of codes.
    reads : str
        How the statistic will read the blocks: "sums", "pairs", "crossing", "thresholds",
        "running" or "rows".
    counts : ndarray of shape (n_codes,) or None
        Rows of each code, if they were counted and every row has a code.
    """

    code: NDArray[np.integer] | NDArray[np.bool_] | None
    n_codes: int
    reads: str
    counts: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class UnitsOfCodes:
    """Which units make up each code: entries sorted by code.

    Attributes
    ----------
    n_codes : int
        Number of codes, all of them in use.
    first : ndarray of shape (n_codes + 1,) or None
        Entries ``first[c]`` to ``first[c + 1]`` belong to code c; None: entry c is code c.
    units : ndarray of shape (n_entries, n_factors) or None
        Atom of each entry in each factor; None: entry e is atom e.
    times : ndarray of shape (n_entries,) or None
        How many rows the entry stands for; None: one each.
    n_atoms : tuple of int
        Number of atoms of each factor.
    reads : str
        The reading the statistic will ask for: "sums", "pairs", "crossing", "thresholds",
        "running" or "rows".
    """

    n_codes: int
    n_atoms: tuple[int, ...]
    first: NDArray[np.intp] | None = None
    units: NDArray[np.signedinteger] | None = None
    times: NDArray[np.intp] | None = None
    reads: str = "running"
    _cache: list[tuple[str, tuple[Any, ...], Any]] = field(default_factory=list, repr=False)

    @property
    def n_entries(self) -> int:
        """Number of entries."""
        return self.n_codes if self.first is None else int(self.first[-1])

    @cached_property
    def code_of_entry(self) -> NDArray[np.intp]:
        """Code of each entry, (n_entries,)."""
        if self.first is None:
            return np.arange(self.n_codes)
        return np.repeat(np.arange(self.n_codes), np.diff(self.first))

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
        code[atoms] = numbers if self.first is None else self.code_of_entry
        return code

    @property
    def has_one_code_each(self) -> bool:
        """Whether every atom has one code at most."""
        return self.times is None and (self.units is None or self.code_of_atom is not None)

    @property
    def codes_are_atoms(self) -> bool:
        """Whether each code is the atom of the same number."""
        return self.units is None and self.first is None

    def kept(self, purpose: str, of: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return the array that was derived for this purpose from the same objects, or make it."""
        for known_purpose, known_of, value in self._cache:
            if known_purpose == purpose and all(map(_same, known_of, of)):
                return value
        value = make()
        self._cache[:] = [*self._cache[1 - CACHED_ARRAYS :], (purpose, of, value)]
        return value

    def forget(self) -> None:
        """Let go of the arrays that were derived."""
        self._cache.clear()

    def divided(
        self, starts: NDArray[np.intp]
    ) -> list[tuple[UnitsOfCodes, slice | NDArray[np.intp]]]:
        """Return the units of each range of codes, numbered anew, and the atoms these are.

        Parameters
        ----------
        starts : ndarray of shape (n_ranges + 1,)
            Range k holds the codes from ``starts[k]`` to ``starts[k + 1]``, which are numbered
            from 0 in it, as are the atoms that occur in it.
        """
        return self.kept("divided", (starts,), lambda: self._divided(starts.tolist()))

    def _divided(self, starts: list[int]) -> list[tuple[UnitsOfCodes, slice | NDArray[np.intp]]]:
        assert self.units is None or self.units.shape[1] == 1
        ranges: list[tuple[UnitsOfCodes, slice | NDArray[np.intp]]] = []
        for start, stop in itertools.pairwise(starts):
            first, entries = None, slice(start, stop)
            if self.first is not None:
                entries = slice(int(self.first[start]), int(self.first[stop]))
                first = self.first[start : stop + 1] - self.first[start]
            units, used = None, entries
            if self.units is not None:
                used, units = np.unique(self.units[entries, 0], return_inverse=True)
                if used[-1] - used[0] == len(used) - 1:
                    # Consecutive atoms are read without a copy of their counts.
                    used = slice(int(used[0]), int(used[-1]) + 1)
                units = units[:, None]
            times = None if self.times is None else self.times[entries]
            n_atoms = (stop - start,) if units is None else (int(units.max()) + 1,)
            ranges.append((UnitsOfCodes(stop - start, n_atoms, first, units, times), used))
        return ranges

    def totals(self, terms: Any) -> Any:
        """Sum the terms of each atom's rows: (n_atoms, n_terms), sparse if ``terms`` is."""
        return self.kept("totals", (terms,), lambda: self._totals(terms))

    def products(self, terms: Floats) -> Floats:
        """Products of each two terms of each atom, (n_atoms, n_pairs), kept for the next block."""
        return self.kept("products", (terms,), lambda: self._products(self.totals(terms)))

    @staticmethod
    def _products(totals: Floats) -> Floats:
        pairs = list(zip(*pairs_of_terms(totals.shape[1]), strict=True))
        products = np.empty((len(totals), len(pairs)))
        for k, (first, second) in enumerate(pairs):
            np.multiply(totals[:, first], totals[:, second], out=products[:, k])
        return products

    def _totals(self, terms: Any) -> Any:
        if self.codes_are_atoms:
            return terms
        if not sparse.issparse(terms) and self.code_of_atom is not None:
            return np.vstack((terms, np.zeros((1, terms.shape[1]))))[self.code_of_atom]
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


def _same(one: Any, other: Any) -> bool:
    """Whether two objects are the same; a bound method is a new object at each mention."""
    return one is other or (callable(one) and one == other)


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
        same = np.logical_and.reduce(
            [column == v for column, v in zip(columns, value, strict=True)]
        )
        if values:
            # Numbers are still 0 where the rows are the same, so the sum assigns them; an
            # assignment by mask takes several times as long.
            number += same.view(np.uint8) * np.uint8(len(values))
        values.append(value)
        unnumbered &= ~same
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
        if coding.code is not None:
            multiplicity = occurrences(coding)
            if multiplicity is not None:
                every_code = UnitsOfCodes(coding.n_codes, (coding.n_codes,), reads=coding.reads)
                return [every_code], (multiplicity,), None
    as_rows = as_rows or any(coding.n_codes >= n for coding in codings)
    first, multiplicity = (None, None) if as_rows else _joint_codes(codings, n, strata)
    # Single rows are drawn faster than many atoms of few rows.
    if first is None or multiplicity is None or len(first) > n // ROWS_PER_ATOM:
        units_of_codes = [_of_atoms(coding, coding.code, n) for coding in codings]
        return units_of_codes, (single_units(n),), strata
    units_of_codes = [
        _of_atoms(coding, np.asarray(coding.code)[first], len(first)) for coding in codings
    ]
    return units_of_codes, (multiplicity,), None if strata is None else strata[first]


def occurrences(coding: CodedRows) -> NDArray[np.int64] | None:
    """Return the number of rows of each code; None if a row has no code, or each its own."""
    code = coding.code
    if coding.counts is not None or code is None:
        return coding.counts
    if code.dtype == bool:
        n_true = np.count_nonzero(code)
        return np.array([len(code) - n_true, n_true])
    if coding.n_codes == len(code):
        # Every code is in use, so that each row has its own.
        return single_units(len(code))
    if code.min() < 0:
        return None
    return np.bincount(code, minlength=coding.n_codes)


def _joint_codes(
    codings: Sequence[CodedRows], n_samples: int, strata: NDArray[np.intp] | None
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the first row of each combination of stratum and codes, and its number of rows."""
    columns = [] if strata is None else [strata]
    columns += [np.asarray(coding.code, dtype=np.intp) for coding in codings]
    joint = np.zeros(n_samples, dtype=np.intp)
    for column in columns:
        joint = joint * (int(column.max()) + 2) + (column + 1)
        _, joint = np.unique(joint, return_inverse=True)
    _, first, multiplicity = np.unique(joint, return_index=True, return_counts=True)
    return first, multiplicity


def _of_atoms(coding: CodedRows, code: NDArray[Any] | None, n_atoms: int) -> UnitsOfCodes:
    """Return the units of codes when every atom has one code, or none (-1)."""
    if code is None:
        return UnitsOfCodes(coding.n_codes, (n_atoms,), reads=coding.reads)
    if code.dtype == bool or int(code.min()) >= 0:
        atoms = _counting_sort(code, coding.n_codes)
    else:
        used = np.flatnonzero(code >= 0)
        atoms = used[_counting_sort(code[used], coding.n_codes)]
    atoms = atoms.astype(narrow_type(n_atoms), copy=False)
    return _entries(coding, code[atoms], atoms[:, None], (n_atoms,), None)


def bind_groups(
    codings: Sequence[CodedRows],
    groups: NDArray[np.signedinteger],
    n_groups: int,
    strata: NDArray[np.intp] | None,
) -> Bound:
    """Bind to groups; the rows of a group that share a code are one entry."""
    units_of_codes = []
    for coding in codings:
        rows, code = _seen(coding, len(groups))
        if coding.n_codes >= len(rows):
            order = _counting_sort(code, coding.n_codes)
            entry: tuple[Any, Any, Any] = (code[order], groups[rows][order][:, None], None)
        else:
            key = code.astype(np.intp) * n_groups + groups[rows]
            pair, times = _counted(key, coding.n_codes * n_groups)
            several = times if times.max() > 1 else None
            entry = (pair // n_groups, (pair % n_groups)[:, None], several)
        units_of_codes.append(_entries(coding, entry[0], entry[1], (n_groups,), entry[2]))
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
        rows, code = _seen(coding, len(pairs))
        order = _counting_sort(code, coding.n_codes)
        by_code = code[order] if len(code) > coding.n_codes else code
        order = order if len(rows) == len(pairs) else rows[order]
        units = pairs.take(order, axis=0).astype(np.int32, copy=False)
        units_of_codes.append(_entries(coding, by_code, units, n_members, None))
    ones = tuple(np.ones(n, dtype=np.int64) for n in n_units)
    return units_of_codes, ones, None


def _seen(coding: CodedRows, n_samples: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the rows that the statistic sees, and their codes."""
    if coding.code is None:
        return np.arange(n_samples), np.arange(n_samples)
    if coding.code.dtype == bool:
        return np.arange(n_samples), coding.code.astype(np.intp)
    rows = np.flatnonzero(coding.code >= 0)
    return rows, coding.code[rows]


def _counted(keys: NDArray[np.intp], n_keys: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct keys in rising order, and how often each occurs."""
    if n_keys > KEYS_PER_ROW * len(keys):
        return np.unique(keys, return_counts=True)
    times = np.bincount(keys, minlength=n_keys)
    occurring = np.flatnonzero(times)
    return occurring, times[occurring]


def _counting_sort(code: NDArray[Any], n_codes: int) -> NDArray[np.signedinteger]:
    """Return positions in rising order of codes, equal codes in their own order, in O(n)."""
    n = len(code)
    if n == n_codes:
        order: NDArray[Any] = np.empty(n, dtype=narrow_type(n))
        order[code.astype(np.intp, copy=False)] = np.arange(n, dtype=order.dtype)
        return order
    # scipy gathers the rows of a sparse matrix by counting, without comparisons.
    by_code = sparse.coo_matrix((np.ones(n, np.int8), (code, np.arange(n))), shape=(n_codes, n))
    return by_code.tocsr().indices.astype(np.intp)


def _entries(
    coding: CodedRows,
    code: NDArray[np.integer],
    units: NDArray[np.signedinteger],
    n_atoms: tuple[int, ...],
    times: NDArray[np.intp] | None,
) -> UnitsOfCodes:
    """Return the units of codes from entries that are sorted by code."""
    first = None
    if len(code) != coding.n_codes:
        first = np.searchsorted(code, np.arange(coding.n_codes + 1))
    return UnitsOfCodes(coding.n_codes, n_atoms, first, units, times, reads=coding.reads)


def one_hot(numbers: NDArray[np.intp], n: int) -> Any:
    """Return a sparse (len(numbers), n) matrix with a one in each row."""
    ones = np.ones(len(numbers))
    return sparse.csr_matrix((ones, (np.arange(len(numbers)), numbers)), shape=(len(numbers), n))
