"""Draws from a normal law with a given covariance that are the same on every machine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Share of the largest variance of a combination below which one is rounding.
_NO_VARIANCE = 1e-12


def symmetric_root(covariance: Floats) -> Floats:
    """Return the symmetric matrix whose square is a covariance.

    Parameters
    ----------
    covariance : ndarray of shape (n, n)
        Symmetric; variances below zero, or all but, are rounding and become 0.

    Returns
    -------
    ndarray of shape (n, n)
        Unlike a triangular root, or eigenvectors, it does not depend on the order of a
        decomposition, on signs, or on the last digits of a covariance that has no inverse. So
        ``standard_normal((n_draws, n)) @ root`` are the same draws whichever library decomposes.
    """
    values, vectors = _variances(covariance)
    return np.asarray((vectors * np.sqrt(values)) @ vectors.T)


class LowRankRoot(NamedTuple):
    """The symmetric root of a covariance of many numbers that few parts make up.

    Differences of some methods are as many as their pairs, but vary as the methods do.

    Attributes
    ----------
    vectors : ndarray of shape (n, n_parts)
        Of unit length, orthogonal.
    deviations : ndarray of shape (n_parts,)
        Root of the variance along each.
    """

    vectors: Floats
    deviations: Floats

    @classmethod
    def of(cls, loadings: Floats, covariance: Floats) -> LowRankRoot:
        """Return the root of ``loadings @ covariance @ loadings.T``, (n, n), without that matrix.

        Parameters
        ----------
        loadings : ndarray of shape (n, n_parts)
            What each number is made of.
        covariance : ndarray of shape (n_parts, n_parts)
            Of the parts; see `symmetric_root`.
        """
        basis, parts = np.linalg.qr(loadings)
        values, vectors = _variances(parts @ covariance @ parts.T)
        return cls(basis @ vectors[:, values > 0], np.sqrt(values[values > 0]))

    def times(self, normal: Floats) -> Floats:
        """Return ``normal @ root``, draws with the covariance, (n_draws, n)."""
        return np.asarray((normal @ self.vectors * self.deviations) @ self.vectors.T)


def _variances(covariance: Floats) -> tuple[Floats, Floats]:
    """Return the variances along the eigenvectors, and these; what is rounding is 0."""
    values, vectors = np.linalg.eigh(covariance)
    values[values <= _NO_VARIANCE * values[-1]] = 0.0
    return values, vectors
