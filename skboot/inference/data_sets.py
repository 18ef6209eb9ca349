"""Means over several data sets: of new data sets like these, or of these alone.

* `MeansOfDrawn`: the data sets are a sample. The mean over them is judged by their spread and their
  skewness, see `skboot.inference.skewed_t`; resamples show how else it might have come out.
* `mean_of_these`: the data sets are all there is. The mean is as uncertain as the scores on each.

Tests of ranks over data sets are in `skboot.inference.data_set_ranks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .variance import satterthwaite

Floats = NDArray[np.float64]

# Share of drawn values, or of their squares, below which a mean, or a variance, is rounding.
_ROUNDING = 1e-12


# ------------------------------------------------------------------ new data sets


@dataclass(frozen=True, eq=False)
class MeansOfDrawn:
    """Means of several columns over data sets that are a sample, and the same on resamples.

    Attributes
    ----------
    values : ndarray of shape (n_datasets, n_columns)
        A number per data set: scores, differences.
    counts : ndarray of shape (n_resamples, n_datasets)
        How often each resample holds each data set.
    """

    values: Floats
    counts: NDArray[np.integer]

    @cached_property
    def means(self) -> Floats:
        """Over the data sets, (n_columns,)."""
        return np.asarray(self.values.mean(axis=0))

    @cached_property
    def deviations(self) -> Floats:
        """Standard deviation over the data sets, (n_columns,); 0 where they differ by rounding."""
        spread = self.values.std(axis=0, ddof=1)
        return np.where(spread <= _ROUNDING * np.abs(self.values).max(axis=0), 0.0, spread)

    @property
    def standard_errors(self) -> Floats:
        """Of the means, (n_columns,)."""
        return np.asarray(self.deviations / np.sqrt(len(self.values)))

    @property
    def accelerations(self) -> Floats:
        """Skewness over the data sets by 6 times the root of their number, (n_columns,)."""
        scale = np.where(self.deviations > 0, self.deviations, np.inf)
        cubes = (((self.values - self.means) / scale) ** 3).sum(axis=0)
        return np.asarray(cubes / (6 * (len(self.values) - 1) ** 1.5))

    @cached_property
    def _resampled(self) -> tuple[Floats, Floats]:
        """Deviation of the mean on each resample, and its variance there."""
        n = len(self.values)
        centred = np.where(self.deviations > 0, self.values - self.means, 0.0)
        weights = self.counts / n
        shift, squares = weights @ centred, weights @ centred**2
        variance = squares - shift**2
        variance[variance <= _ROUNDING * squares] = 0.0
        return shift, variance / (n - 1)

    @cached_property
    def replicates(self) -> Floats:
        """Means on the resamples, (n_resamples, n_columns)."""
        found = self._resampled[0] + self.means
        # Ties of two methods are exact, so that each counts half.
        found[np.abs(found) <= _ROUNDING * np.abs(self.values).max(axis=0)] = 0.0
        return found

    @cached_property
    def replicate_standard_errors(self) -> Floats:
        """Standard error of the mean in each resample, (n_resamples, n_columns)."""
        return np.asarray(np.sqrt(self._resampled[1]))


# ------------------------------------------------------------------ these data sets


def mean_of_these(errors: Floats, degrees_of_freedom: Floats) -> tuple[Floats, Floats]:
    """Standard error of a mean over given data sets, from the standard error on each.

    Parameters
    ----------
    errors : ndarray of shape (n_datasets, n_columns)
        Standard error on each data set.
    degrees_of_freedom : ndarray of shape (n_datasets, n_columns)
        Of each of them; infinite where it is known exactly.

    Returns
    -------
    standard_errors : ndarray of shape (n_columns,)
        The square root of sum se_k^2, by the number of data sets.
    degrees_of_freedom : ndarray of shape (n_columns,)
        (sum se_k^2)^2 / sum(se_k^4 / df_k) (Satterthwaite 1946); at least the smallest of them.
    """
    total = (errors**2).sum(axis=0)
    freedom = [
        satterthwaite(
            float(total[k]),
            list(zip(errors[:, k] ** 2, degrees_of_freedom[:, k], strict=True)),
            otherwise=float(degrees_of_freedom[:, k].min()),
        )
        for k in range(errors.shape[1])
    ]
    return np.sqrt(total) / len(errors), np.array(freedom)


def between_deviation(deviations: Floats, errors: Floats) -> Floats:
    """Standard deviation of true values over data sets, from that of estimates and their errors.

    Parameters
    ----------
    deviations : ndarray of shape (n_columns,)
        Standard deviation of the estimates over the data sets.
    errors : ndarray of shape (n_datasets, n_columns)
        Standard error of each estimate.

    Returns
    -------
    ndarray of shape (n_columns,)
        The root of what the mean squared error leaves of the variance; 0 where it leaves nothing.
    """
    return np.sqrt(np.maximum(deviations**2 - (errors**2).mean(axis=0), 0.0))
