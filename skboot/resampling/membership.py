"""Which drawn units make up the codes of a statistic."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


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
        The reading the statistic will ask for: "sums", "pairs", "crossing", "tiles" or "rows".
    """

    n_codes: int
    n_atoms: tuple[int, ...]
    first: NDArray[np.intp] | None = None
    units: NDArray[np.intp] | None = None
    times: NDArray[np.intp] | None = None
    reads: str = "tiles"
    _cache: list[tuple[Any, Any]] = field(default_factory=list, repr=False)

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

    def totals(self, terms: Any) -> Any:
        """Sum the terms of each atom's rows: (n_atoms, n_terms), sparse if ``terms`` is."""
        for known, totals in self._cache:
            if known is terms:
                return totals
        totals = self._totals(terms)
        self._cache[:] = [*self._cache[-3:], (terms, totals)]
        return totals

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
