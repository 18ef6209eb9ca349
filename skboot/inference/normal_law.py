"""Draws from a normal law with a given covariance that are the same on every machine."""

from __future__ import annotations

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
    values, vectors = np.linalg.eigh(covariance)
    values[values <= _NO_VARIANCE * values[-1]] = 0.0
    return np.asarray((vectors * np.sqrt(values)) @ vectors.T)
