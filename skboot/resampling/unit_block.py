"""Blocks of resamples of units of one factor: rows, groups, or atoms of interchangeable rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._tuning import (
    CANCELLED_SHARE,
    INFLUENCE_ATOMS,
    PRODUCT_TERMS,
    SPARSE_TILES,
    TILE_ELEMENTS,
)
from .block import Block, Floats, times_terms
from .coding import UnitsOfCodes
from .prefix_sums import as_bytes


class UnitBlock(Block):
    """Resamples of rows or groups.

    Parameters
    ----------
    units_of_codes : UnitsOfCodes
        The statistic's codes.
    counts : ndarray of shape (n_resamples, n_atoms)
        How often each atom was drawn.
    strata : ndarray of shape (n_atoms,), optional
        Stratum of each atom, numbered from 0.
    """

    def __init__(
        self,
        units_of_codes: UnitsOfCodes,
        counts: NDArray[Any],
        strata: NDArray[np.intp] | None = None,
    ) -> None:
        super().__init__(units_of_codes)
        self.counts = counts
        self.strata = strata
        # The last terms and their sums; `Binding.share_sums` computes those of several statistics
        # together.
        self.known_sums: tuple[Any, Floats] | None = None

    @property
    def n_resamples(self) -> int:
        """Number of resamples in the block."""
        return len(self.counts)

    def _entry_weights(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        if self.units_of_codes.units is None and isinstance(entries, slice):
            return self.counts[:, entries]
        return super()._entry_weights(entries)

    def _weights_by_entry(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        units = self.units_of_codes.units
        if units is not None:
            return self._counts_by_unit.take(units[entries, 0], axis=0)
        return self._counts_by_unit[entries]

    @cached_property
    def _counts_by_unit(self) -> NDArray[Any]:
        """Counts by atom, (n_atoms, n_resamples), since whole rows are read fast in any order."""
        return np.ascontiguousarray(as_bytes(self.counts).T)

    def _part(self, resamples: slice) -> UnitBlock:
        return UnitBlock(self.units_of_codes, self.counts[resamples], self.strata)

    def sums(self, terms: Any = None) -> Floats:
        """Weighted sums of terms: counts of atoms times the sums of their rows."""
        if terms is None:
            return super().sums()
        if self.known_sums is None or self.known_sums[0] is not terms:
            self.known_sums = terms, self.sums_of_atoms(self.units_of_codes.totals(terms))
        return self.known_sums[1]

    def sums_of_atoms(self, totals: Any) -> Floats:
        """Weighted sums, (n_resamples, n_terms), of totals of each atom, (n_atoms, n_terms)."""
        if sparse.issparse(totals):
            # A sparse product is fastest with the resamples of an atom side by side.
            by_term = np.zeros((totals.shape[1], self.n_resamples))
            for atoms in self._atom_tiles(SPARSE_TILES):
                weights = self.counts[:, atoms].astype(np.float64, order="F")
                by_term += totals[atoms].T @ weights.T
            return np.ascontiguousarray(by_term.T)
        if self.counts.size <= TILE_ELEMENTS and self.counts.shape[1] <= TILE_ELEMENTS >> 7:
            return self._combined(totals.T, self.counts)
        sums = np.zeros((self.n_resamples, totals.shape[1]))
        for atoms in self._atom_tiles():
            sums += self.counts[:, atoms].astype(np.float64) @ totals[atoms]
        return sums

    def variance(self, terms: Any, gradient: Floats) -> Floats:
        """Variance by the infinitesimal jackknife over units; see `Block.variance`."""
        totals = self.units_of_codes.totals(terms)
        few = self.counts.size <= TILE_ELEMENTS and self.counts.shape[1] <= INFLUENCE_ATOMS
        if self.strata is None and few and not sparse.issparse(totals):
            influence = self._combined(totals, gradient)
            influence *= influence
            influence *= self.counts
            return influence.sum(axis=1)
        if self.strata is not None or sparse.issparse(totals) or totals.shape[1] > PRODUCT_TERMS:
            return self._variance_by_influence(totals, gradient)
        # The squared influence is a quadratic form, a sum of products of two terms each.
        first, second = _pairs_of(totals.shape[1])
        sums = self.sums_of_atoms(self._products(terms, totals))
        variance, size = np.zeros((2, self.n_resamples))
        for k, (i, j) in enumerate(zip(first, second, strict=True)):
            part = gradient[:, i] * gradient[:, j] * sums[:, k]
            part *= 1.0 if i == j else 2.0
            variance += part
            size += np.abs(part)
        # Where the parts cancel, their sum is mostly rounding.
        cancelled = np.flatnonzero(variance <= CANCELLED_SHARE * size)
        if cancelled.size:
            resamples = UnitBlock(self.units_of_codes, self.counts[cancelled])
            variance[cancelled] = resamples._variance_by_influence(totals, gradient[cancelled])
        return variance

    def _products(self, terms: Any, totals: Floats) -> Floats:
        """Return products of each two terms, (n_atoms, n_pairs), cached for the next block."""
        first, second = _pairs_of(totals.shape[1])
        return self.units_of_codes.kept(
            "products", (terms,), lambda: totals[:, first] * totals[:, second]
        )

    def _variance_by_influence(self, totals: Any, gradient: Floats) -> Floats:
        """Return the weighted sum of squared influences, centred within strata."""
        n_strata = 0 if self.strata is None else int(self.strata.max()) + 1
        variance = np.zeros(self.n_resamples)
        sums, drawn = np.zeros((2, self.n_resamples, n_strata))
        for atoms in self._atom_tiles():
            weights = self.counts[:, atoms].astype(np.float64)
            influence = times_terms(gradient, totals[atoms].T)
            variance += np.einsum("ij,ij,ij->i", weights, influence, influence)
            if self.strata is not None:
                within = _one_hot(self.strata[atoms], n_strata)
                sums += (weights * influence) @ within
                drawn += weights @ within
        variance -= np.sum(sums**2 / np.maximum(drawn, 1), axis=1)
        return np.maximum(variance, 0.0)

    def _combined(self, matrix: Floats, columns: NDArray[Any]) -> Floats:
        """Return ``columns @ matrix.T``, (n_resamples, n_rows), contiguous by column for formulas.

        With two atoms a resample must have the same sums however many others there are, because
        its block may be cut (record 0015); libraries for matrix products do not promise that.
        """
        if self.counts.shape[1] != 2:
            return (matrix @ columns.astype(np.float64, copy=False).T).T
        combined = np.empty((len(matrix), len(columns)))
        for factors, row in zip(matrix.tolist(), combined, strict=True):
            np.multiply(columns[:, 0], factors[0], out=row)
            for k in range(1, len(factors)):
                row += columns[:, k] * factors[k]
        return combined.T

    def _atom_tiles(self, times: int = 1) -> Iterator[slice]:
        width = max(1, times * min(TILE_ELEMENTS // self.n_resamples, TILE_ELEMENTS >> 3))
        n_atoms = self.counts.shape[1]
        return (slice(start, min(start + width, n_atoms)) for start in range(0, n_atoms, width))


@cache
def _pairs_of(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(n)


def _one_hot(numbers: NDArray[np.intp], n: int) -> Any:
    """Return a sparse (len(numbers), n) matrix with a one in each row."""
    ones = np.ones(len(numbers))
    return sparse.csr_matrix((ones, (np.arange(len(numbers)), numbers)), shape=(len(numbers), n))
