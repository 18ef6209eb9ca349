"""Which drawn units make up the codes of a statistic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]

# Distinct rows of terms that are handled one by one.
MOST_TYPES = 8
# Things made of terms that are kept at most.
_KEPT = 6


@dataclass(frozen=True, eq=False)
class Membership:
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
        The reading the statistic will ask for: "sums", "pairs", "crossing", "steps", "tiles" or
        "rows".
    """

    n_codes: int
    n_atoms: tuple[int, ...]
    first: NDArray[np.intp] | None = None
    units: NDArray[np.signedinteger] | None = None
    times: NDArray[np.intp] | None = None
    reads: str = "tiles"
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
