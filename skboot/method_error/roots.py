"""The square root of a mean of losses, whose spread is that of the mean to first order.

The mean is where rows and training samples add up, so that variances are taken there. A root has
half the relative standard error of its mean, and the interval on the log scale, which errors
without an upper bound get, is the root of the interval of the mean.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .cv_bootstrap import CVBootstrap

_VARIANCES = (
    "variance_cv",
    "variance_cv_averaged",
    "variance_training",
    "variance_jackknife",
    "variance_training_robust",
    "covariance_training",
    "covariance_presence",
    "variance_cap",
)


def square_root(error: Any) -> Any:
    """Square root of errors; of negative ones, which are minus a mean, minus that of the mean."""
    return np.sign(error) * np.sqrt(np.abs(error))


def slope_of_root(error: float) -> float:
    """Derivative of the square root of an error; 0 at 0, where no row or training sample errs."""
    return float(0.5 / np.sqrt(abs(error))) if error else 0.0


def root_of_cv(cv: CVBootstrap, centre: float) -> CVBootstrap:
    """The parts of the "cv-bootstrap" interval of the square root of a mean.

    Parameters
    ----------
    cv : CVBootstrap
        Of the mean.
    centre : float
        Mean over repeats of the root, about the root of ``cv.centre``.

    Returns
    -------
    CVBootstrap
    """
    # From the mean of the roots, so that the relative standard error is half that of the mean.
    slope = 0.5 * centre / cv.centre if cv.centre else 0.0
    return replace(
        cv,
        centre=centre,
        standard_error=slope * cv.standard_error,
        standard_error_conservative=slope * cv.standard_error_conservative,
        guard=None,
        **{name: slope**2 * getattr(cv, name) for name in _VARIANCES},
    )
