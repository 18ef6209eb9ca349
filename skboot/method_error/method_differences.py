"""Difference of two methods at this training-set size, from one data set.

Both were trained on the same bootstrap samples and the same folds. Repeated cross-validation gives
the centre, at (almost) this sample size; bootstrap samples give the spread. Errors, and their
difference, are in loss direction; units are rows, or whole groups of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .cv_bootstrap import cv_bootstrap

Floats = NDArray[np.float64]


class MethodsDifference(NamedTuple):
    """Difference of two methods, with its standard error and degrees of freedom.

    Attributes
    ----------
    difference : float
        Of scores, first less second; NaN if undefined.
    standard_error : float
        NaN if undefined; 0 where no loss differs between the two methods, or all differ alike.
    degrees_of_freedom : float
        Of the t interval.
    n_units : int
        Rows or groups that were drawn from.
    span : float or None
        Largest difference of two losses where every loss is one of two values, such as 1 for right
        and wrong; None otherwise.
    """

    difference: float
    standard_error: float
    degrees_of_freedom: float
    n_units: int = 0
    span: float | None = None

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Limits of the t interval, or of Tango's where nothing varies; NaN without either.

        Tango's score interval of n pairs (1998, Statistics in Medicine 17:891) has the limits
        -/+ z^2 / (n + z^2) where no pair differs, and (n - z^2) / (n + z^2) and 1 where all do.
        """
        tail = 0.5 + confidence_level / 2
        if self.standard_error != 0:
            half = float(special.stdtrit(self.degrees_of_freedom, tail)) * self.standard_error
            return self.difference - half, self.difference + half
        if self.span is None:
            return np.nan, np.nan
        square = float(special.ndtri(tail)) ** 2
        half = (self.span + abs(self.difference)) * square / (self.n_units + square)
        low, high = self.difference - half, self.difference + half
        return max(low, -self.span), min(high, self.span)

    @property
    def reason(self) -> str:
        """Why there is no interval; empty where there is one, or no difference."""
        if self.standard_error == 0 and self.span is None:
            return (
                "the difference varies neither over rows nor over training samples, so the data "
                "do not show how far it may be from 0 on others"
            )
        return ""

    @property
    def p_value(self) -> float:
        """Two-sided: the smallest 1 - level whose interval leaves out 0; 1 for a difference of 0
        without any spread, and NaN where there is no interval.
        """
        if self.standard_error != 0:
            t = abs(self.difference) / self.standard_error
            return float(2 * special.stdtr(self.degrees_of_freedom, -t))
        if self.difference == 0:
            return 1.0
        if self.span is None:
            return np.nan
        return float(2 * special.ndtr(-np.sqrt(self.n_units * abs(self.difference) / self.span)))


def cross_validated_variance(
    influence: Floats,
    counts: NDArray[np.integer],
    scores: Floats,
    oob_influence: Floats,
    *,
    left_out: float,
    share: float,
) -> float:
    """Variance of the difference of two cross-validated errors.

    Parameters
    ----------
    influence : ndarray of shape (n_units,)
        On the out-of-fold difference, averaged over repeats.
    counts : ndarray of shape (n_resamples, n_units)
        How often each unit is in each bootstrap sample.
    scores : ndarray of shape (n_resamples,)
        Difference of the errors on the units that each sample left out.
    oob_influence : ndarray of shape (n_resamples, n_units)
        Of the units left out, on that difference.
    left_out : float
        Variance of the out-of-bag difference, from the same samples.
    share : float
        The larger `share_of_training` of the two methods.

    Returns
    -------
    float
        ``max(V_fl, left_out + share (V_IJ - left_out))``: V_fl the sampling variance of the
        out-of-fold differences, V_IJ the infinitesimal jackknife of sampling and training together
        (`cv_bootstrap`) where it is larger than `left_out`. With fewer than 4 sqrt(n_units) samples
        there is no jackknife, and it is left out.

    Notes
    -----
    The jackknife is needed where single models vary much, as nearest neighbours do: the out-of-bag
    loss of a row is a mean over some .37 n_resamples models and its out-of-fold loss one over a
    few, so that the cross-validated difference varies more than the out-of-bag one. For smooth
    learners it is too large. The decision record 0035 holds the measurements.
    """
    variances = cv_bootstrap(0.0, influence[None], counts, scores, oob_influence)
    more = variances.variance_jackknife - left_out
    return max(variances.variance_cv_averaged, left_out + (share * more if more > 0 else 0.0))
