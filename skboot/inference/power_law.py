"""Inverse power laws of learning curves, fitted to many draws of a curve at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Powers that are tried: the fit is linear in the rest.
_POWERS = np.linspace(0.1, 2, 39)


def extended(x: Floats, values: Floats, weights: Floats, at: float) -> Floats:
    """Continue curves by a + b x^-c, fitted by weighted least squares.

    Parameters
    ----------
    x : ndarray of shape (n_grid,)
        Where the curves are known; positive.
    values : ndarray of shape (n_curves, n_grid)
    weights : ndarray of shape (n_grid,)
        Of the squared deviations.
    at : float
        Where the fitted curves are wanted.

    Returns
    -------
    ndarray of shape (n_curves,)
        With the power of each curve that leaves the least, among .1, .15, ..., 2.
    """
    least, found = np.full(len(values), np.inf), np.zeros(len(values))
    root = np.sqrt(weights)
    for power in _POWERS:
        design = np.column_stack([np.ones(len(x)), x**-power]) * root[:, None]
        fitted = values * root @ np.linalg.pinv(design).T
        left = ((fitted @ design.T - values * root) ** 2).sum(axis=1)
        better = left < least
        least[better] = left[better]
        found[better] = (fitted @ np.array([1.0, at**-power]))[better]
    return found
