"""Which units make up the codes of several statistics: what a plan needs to draw for them together.

One function for each kind of design: rows, whole groups of rows, pairs of members of two factors.
Each takes a `CodedRows` of every statistic, and returns a `Bound`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]

# Distinct rows of terms that are handled one by one.
MOST_TYPES = 8
# Things made of terms that are kept at most.
_KEPT = 6


class CodedRows(NamedTuple):
    """What a plan must know of a statistic.

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
        Rows of each code, if they are known and every row has one.
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
        if self.first is None:
            return np.arange(self.n_codes)
        return np.repeat(np.arange(self.n_codes), np.diff(self.first))

    @cached_property
    def code_of_atom(self) -> NDArray[np.intp] | None:
        """Code of each atom, ``n_codes`` where it has none; None if an atom has several."""
        if self.times is not None:
            return None
        if self.units is None:
            return self.code_of_entry
        atoms = self.units[:, 0]
        if np.bincount(atoms).max(initial=0) > 1:
            return None
        code = np.full(self.n_atoms[0], self.n_codes)
        code[atoms] = self.code_of_entry
        return code

    def kept(self, purpose: str, of: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """What was made for this purpose of the same objects before, or else made now."""
        for known, known_of, value in self._cache:
            if known == purpose and all(map(_same, known_of, of)):
                return value
        value = make()
        self._cache[:] = [*self._cache[1 - _KEPT :], (purpose, of, value)]
        return value

    def totals(self, terms: Any) -> Any:
        """Sum the terms of each atom's rows: (n_atoms, n_terms), sparse if ``terms`` is."""
        return self.kept("totals", (terms,), lambda: self._totals(terms))

    def _totals(self, terms: Any) -> Any:
        if self.units is None and self.first is None:
            return terms
        if not sparse.issparse(terms) and self.code_of_atom is not None:
            return np.vstack((terms, np.zeros((1, terms.shape[1]))))[self.code_of_atom]
        n_entries = len(self.code_of_entry)
        atoms = np.arange(n_entries) if self.units is None else self.units[:, 0]
        times = np.ones(n_entries) if self.times is None else self.times
        shape = (self.n_atoms[0], self.n_codes)
        return sparse.csr_matrix((times, (atoms, self.code_of_entry)), shape=shape) @ terms


def _same(one: Any, other: Any) -> bool:
    """Whether these are one object; bound methods are made anew at each mention."""
    return one is other or (callable(one) and one == other)


def types_of(terms: Floats) -> tuple[NDArray[np.uint8], Floats] | None:
    """Type of each code by its row of terms, (n_codes,), and the rows, (n_types, n_terms).

    None if there are more than a few, `MOST_TYPES`.
    """
    number = np.zeros(len(terms), dtype=np.uint8)
    left = np.ones(len(terms), dtype=bool)
    values: list[Floats] = []
    columns = np.ascontiguousarray(terms.T)
    while left.any():
        if len(values) == MOST_TYPES:
            return None
        value = terms[np.argmax(left)]
        same = np.logical_and.reduce(
            [column == v for column, v in zip(columns, value, strict=True)]
        )
        if values:
            # As an assignment where they are the same, at a fraction of its time.
            number += same.view(np.uint8) * np.uint8(len(values))
        values.append(value)
        left &= ~same
    return number, np.array(values)


# Memberships of the codes, multiplicity of the atoms of each factor, strata of the atoms.
Bound = tuple[list[UnitsOfCodes], tuple[NDArray[np.int64], ...], NDArray[np.intp] | None]


def bind_rows(
    codings: Sequence[CodedRows],
    n_samples: int,
    strata: NDArray[np.intp] | None,
    as_rows: bool = False,
) -> Bound:
    """Atoms are rows, or the distinct joint codes where rows are interchangeable."""
    n = n_samples
    if not as_rows and strata is None and len(codings) == 1:
        only = codings[0]
        if only.code is not None:
            multiplicity = _occurrences(only)
            if multiplicity is not None:
                member = UnitsOfCodes(only.n_codes, (only.n_codes,), reads=only.reads)
                return [member], (multiplicity,), None
    as_rows = as_rows or any(coding.n_codes >= n for coding in codings)
    first, multiplicity = (None, None) if as_rows else _joint_codes(codings, n, strata)
    # Single rows are drawn faster than that many cells of a few rows.
    if first is None or multiplicity is None or len(first) > n // 4:
        members = [_of_atoms(coding, coding.code, n) for coding in codings]
        return members, (np.ones(n, dtype=np.int64),), strata
    members = [_of_atoms(coding, np.asarray(coding.code)[first], len(first)) for coding in codings]
    return members, (multiplicity,), None if strata is None else strata[first]


def _occurrences(coding: CodedRows) -> NDArray[np.int64] | None:
    """Rows of each code; None if some rows have no code or each has its own."""
    code = coding.code
    assert code is not None
    if coding.counts is not None:
        return coding.counts
    if code.dtype == bool:
        n_true = np.count_nonzero(code)
        return np.array([len(code) - n_true, n_true])
    if code.min() < 0:
        return None
    return np.bincount(code, minlength=coding.n_codes)


def _joint_codes(
    codings: Sequence[CodedRows], n_samples: int, strata: NDArray[np.intp] | None
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """First row of each distinct combination of stratum and codes, and how many rows have it."""
    columns = [] if strata is None else [strata]
    columns += [np.asarray(coding.code, dtype=np.intp) for coding in codings]
    joint = np.zeros(n_samples, dtype=np.intp)
    for column in columns:
        joint = joint * (int(column.max()) + 2) + (column + 1)
        _, joint = np.unique(joint, return_inverse=True)
    _, first, multiplicity = np.unique(joint, return_index=True, return_counts=True)
    return first, multiplicity


def _of_atoms(coding: CodedRows, code: NDArray[Any] | None, n_atoms: int) -> UnitsOfCodes:
    """UnitsOfCodes when every atom has one code, or none (-1)."""
    if code is None:
        return UnitsOfCodes(coding.n_codes, (n_atoms,), reads=coding.reads)
    used = np.arange(n_atoms) if code.dtype == bool else np.flatnonzero(code >= 0)
    atoms = used[_counting_sort(code[used], coding.n_codes)]
    return _entries(coding, code[atoms], atoms[:, None], (n_atoms,), None)


def bind_groups(
    codings: Sequence[CodedRows],
    groups: NDArray[np.signedinteger],
    n_groups: int,
    strata: NDArray[np.intp] | None,
) -> Bound:
    """Atoms are groups; the rows of a group that share a code are one entry."""
    members = []
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
        members.append(_entries(coding, entry[0], entry[1], (n_groups,), entry[2]))
    return members, (np.ones(n_groups, dtype=np.int64),), strata


def bind_pairs(
    codings: Sequence[CodedRows],
    pairs: NDArray[np.signedinteger],
    n_members: tuple[int, ...],
    n_units: tuple[int, ...],
) -> Bound:
    """Atoms are the members of each factor; every row is an entry."""
    members = []
    for coding in codings:
        rows, code = _seen(coding, len(pairs))
        order = _counting_sort(code, coding.n_codes)
        by_code = code[order] if len(code) > coding.n_codes else code
        order = order if len(rows) == len(pairs) else rows[order]
        units = pairs.take(order, axis=0).astype(np.int32, copy=False)
        members.append(_entries(coding, by_code, units, n_members, None))
    ones = tuple(np.ones(n, dtype=np.int64) for n in n_units)
    return members, ones, None


def _seen(coding: CodedRows, n_samples: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Rows the statistic sees, and their codes."""
    if coding.code is None:
        return np.arange(n_samples), np.arange(n_samples)
    if coding.code.dtype == bool:
        return np.arange(n_samples), coding.code.astype(np.intp)
    rows = np.flatnonzero(coding.code >= 0)
    return rows, coding.code[rows]


def _counted(keys: NDArray[np.intp], n_keys: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Sorted distinct keys from 0 and how often each occurs, counted where they are dense."""
    if n_keys > 4 * len(keys):
        return np.unique(keys, return_counts=True)
    times = np.bincount(keys, minlength=n_keys)
    occurring = np.flatnonzero(times)
    return occurring, times[occurring]


def _counting_sort(code: NDArray[Any], n_codes: int) -> NDArray[np.intp]:
    """Positions in rising order of codes, equal codes in their own order; O(n)."""
    n = len(code)
    if n == n_codes:
        order = np.empty(n, dtype=np.intp)
        order[code.astype(np.intp, copy=False)] = np.arange(n)
        return order
    # Rows of a sparse matrix are gathered by counting.
    by_code = sparse.coo_matrix((np.ones(n, np.int8), (code, np.arange(n))), shape=(n_codes, n))
    return by_code.tocsr().indices.astype(np.intp)


def _entries(
    coding: CodedRows,
    code: NDArray[np.integer],
    units: NDArray[np.signedinteger],
    n_atoms: tuple[int, ...],
    times: NDArray[np.intp] | None,
) -> UnitsOfCodes:
    """UnitsOfCodes from entries sorted by code."""
    first = None
    if len(code) != coding.n_codes:
        first = np.searchsorted(code, np.arange(coding.n_codes + 1))
    return UnitsOfCodes(coding.n_codes, n_atoms, first, units, times, reads=coding.reads)
