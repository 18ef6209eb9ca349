"""How often atoms were drawn, as statistics of all of them or of some read it.

A statistic of a subgroup has a part of the atoms. Their counts are taken out of those of all once
for every statistic that has these. Sums within strata are sums of runs of atoms, side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.arrays import order_of
from ._tuning import TILE_ELEMENTS


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
        self._parts: dict[Any, AtomCounts] = {}

    def of(self, atoms: slice | NDArray[np.intp]) -> AtomCounts:
        """Return the counts of some atoms, the same object for all that ask for these."""
        key = (atoms.start, atoms.stop) if isinstance(atoms, slice) else id(atoms)
        if key not in self._parts:
            if isinstance(atoms, slice):
                own = self.counts[:, atoms]
            else:
                own = self.counts.take(atoms, axis=1)
            strata = None if self.strata is None else self.strata[atoms]
            self._parts[key] = AtomCounts(own, strata)
        return self._parts[key]

    def part(self, resamples: slice) -> AtomCounts:
        """Return the counts of some of the resamples."""
        return AtomCounts(self.counts[resamples], self.strata)

    @cached_property
    def of_strata(self) -> NDArray[np.float64]:
        """Units drawn of each stratum, (n_resamples, n_strata)."""
        assert self.strata is not None
        n_resamples = len(self.counts)
        drawn = np.zeros((n_resamples, int(self.strata.max()) + 1))
        for atoms, first, strata in tiles_of_strata(self.strata, n_resamples):
            weights = self.counts[:, atoms].astype(np.float64)
            drawn[:, strata] += np.add.reduceat(weights, first, axis=1)
        return drawn


class StratumTile(NamedTuple):
    """Some atoms by stratum, the first one of each stratum among them, and which strata."""

    atoms: slice | NDArray[np.intp]
    first: NDArray[np.intp]
    strata: NDArray[np.intp]


def tiles_of_strata(strata: NDArray[np.intp], n_resamples: int) -> Iterator[StratumTile]:
    """Yield all atoms, those of a stratum side by side, some whose weights stay in the cache."""
    order = order_of(strata)
    width = max(1, min(TILE_ELEMENTS // n_resamples, TILE_ELEMENTS >> 3))
    for start in range(0, len(strata), width):
        at = slice(start, min(start + width, len(strata)))
        atoms = at if order is None else order[at]
        stratum = strata[atoms]
        first = np.array([0])
        if stratum[0] != stratum[-1]:
            first = np.append(first, np.flatnonzero(stratum[1:] != stratum[:-1]) + 1)
        yield StratumTile(atoms, first, stratum[first])
