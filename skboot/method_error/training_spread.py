"""Variance of the error of a method between training samples, from bootstrap samples.

The out-of-bag scores of two bootstrap samples differ for two reasons: their models were trained on
other units, and they are scored on other units. `training_spread` removes the second by means of
the influence values and gives the first in the forms that `skboot.method_error.cv_bootstrap` adds
up. `within_fences` is applied before where the scores of single training samples may be far larger
than the others, as those of least squares on hardly more distinct rows than there are columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._columns import Array, Reader, check_influence, column_blocks, sum_of_variances, where_outside
from ._tuning import FENCE

# Interquartile range of a standard normal variable, and its density at the quartiles.
_NORMAL_IQR = 1.349
_NORMAL_DENSITY = 0.3178


class TrainingSpread(NamedTuple):
    """Spread of the error between training samples, without the sampling of the out-of-bag units.

    Attributes
    ----------
    residual : ndarray of shape (n_used,)
        r_b: score less its mean and less the mean influence of the units out-of-bag; centred.
    sampling : ndarray of shape (n_used,)
        w_b: variance of r_b that is due to which units are out-of-bag, and to seeds; NaN where it
        is one unit.
    effect : ndarray of shape (n_units,)
        T_i = Cov_b(N_i, r_b): effect of a unit through training.
    presence : ndarray of shape (n_units,)
        P_i: mean r_b of samples with the unit once, less that of samples without it; 0 where there
        are none of either.
    jackknife : float
        V_IJ: infinitesimal jackknife of both effects of a unit, Monte Carlo noise removed.
    moves_effect, moves_presence, moves_jackknife : ndarray of shape (n_used,)
        How far a sample moves (2 / n) sum_i IF_i T_i, (2 / n) sum_i IF_i P_i and V_IJ: their Monte
        Carlo variance is that of these values over n_used.
    """

    residual: Array
    sampling: Array
    effect: Array
    presence: Array
    jackknife: float
    moves_effect: Array
    moves_presence: Array
    moves_jackknife: Array

    @property
    def variance(self) -> float:
        """s_T^2: variance between training samples; infinite where it is too large for a float."""
        with np.errstate(invalid="ignore", over="ignore"):
            noise = float(np.mean(self._noise)) if len(self._noise) else 0.0
            variance = float(self.residual.var(ddof=1)) - noise
        return np.inf if np.isnan(variance) else max(variance, 0.0)

    @property
    def robust_variance(self) -> float:
        """s_rob^2: the same from the interquartile range of the residuals."""
        first, _, third = quartiles(self.residual)
        noise = quartiles(self._noise)[1] if len(self._noise) else 0.0
        return max(((third - first) / _NORMAL_IQR) ** 2 - noise, 0.0)

    @property
    def moves_robust(self) -> Array:
        """How far a sample moves s_rob^2, (n_used,), as if residuals were normal."""
        first, _, third = quartiles(self.residual)
        beyond = (self.residual < first) | (self.residual > third)
        scale = ((third - first) / _NORMAL_IQR) ** 2
        return 2 * scale * (beyond - 0.5) / (_NORMAL_IQR * _NORMAL_DENSITY)

    @property
    def _noise(self) -> Array:
        return self.sampling[~np.isnan(self.sampling)]


def quartiles(values: Array) -> tuple[float, float, float]:
    """First quartile, median and third quartile, linear between order statistics."""
    ordered = np.sort(values)
    at = np.array((0.25, 0.5, 0.75)) * (len(ordered) - 1)
    below = at.astype(np.intp)
    step = ordered[np.minimum(below + 1, len(ordered) - 1)] - ordered[below]
    first, median, third = (ordered[below] + (at - below) * step).tolist()
    return first, median, third


def within_fences(scores: Array) -> tuple[Array, Array]:
    """Move scores beyond the fences of a box plot to the fence.

    Parameters
    ----------
    scores : ndarray of shape (n_used,)

    Returns
    -------
    moved : ndarray of shape (n_used,)
        Fences are 1.5 interquartile ranges beyond the quartiles (linear percentiles).
    factors : ndarray of shape (n_used,)
        Share of its distance from the median that each score keeps; 1 where none was moved.
    """
    first, median, third = quartiles(scores)
    factors = np.ones(len(scores))
    reach = FENCE * (third - first)
    if not reach > 0:
        return scores, factors
    fence = np.clip(scores, first - reach, third + reach)
    beyond = fence != scores
    factors[beyond] = (fence[beyond] - median) / (scores[beyond] - median)
    return fence, factors


def training_spread(
    cv_influence: Array,
    counts: Array,
    scores: Array,
    read: Reader,
    factors: Array | None = None,
    seed_variance: float = 0.0,
) -> TrainingSpread:
    """Take the sampling of the out-of-bag units out of the out-of-bag scores.

    Parameters
    ----------
    cv_influence : ndarray of shape (n_units,)
        Influence values of the cross-validated error, averaged over repeats.
    counts : ndarray of shape (n_used, n_units)
        How often each unit was drawn.
    scores : ndarray of shape (n_used,)
        Finite.
    read : callable
        From a slice of columns to those columns of the influence values, (n_used, n_columns).
    factors : ndarray of shape (n_used,), optional
        Factor of the influence values of each score.
    seed_variance : float, default=0
        Variance of each score that is due to the seeds of its runs.

    Returns
    -------
    TrainingSpread
    """
    n_used, n_units = counts.shape
    size, shift, first, second = np.zeros((4, n_used))
    # Squares of very large scores may be infinite; `TrainingSpread.variance` is infinite then.
    with np.errstate(over="ignore", invalid="ignore"):
        for columns in column_blocks(n_used, n_units):
            outside = counts[:, columns] == 0
            influence = where_outside(read(columns), outside)
            if factors is not None:
                influence *= factors[:, None]
            mean = influence.sum(axis=0) / np.maximum(outside.sum(axis=0), 1)
            size += outside.sum(axis=1)
            shift += outside @ mean
            deviations = where_outside(influence - mean, outside)
            first += deviations.sum(axis=1)
            second += np.einsum("ij,ij->i", deviations, deviations)
        check_influence(shift)
        residual = scores - shift / np.maximum(size, 1)
        residual -= residual.mean()
        within = (second - first**2 / np.maximum(size, 1)) / np.maximum(size - 1, 1)
        sampling = np.where(size > 1, within / np.maximum(size, 1) + seed_variance, np.nan)
        effect, jackknife, moves_effect, moves_jackknife = _jackknife(
            cv_influence, counts, residual
        )
        presence, moves_presence = _presence(cv_influence, counts, residual)
    return TrainingSpread(
        residual,
        sampling,
        effect,
        presence,
        jackknife,
        moves_effect,
        moves_presence,
        moves_jackknife,
    )


def _jackknife(
    cv_influence: Array, counts: Array, residual: Array
) -> tuple[Array, float, Array, Array]:
    """Return T_i, (n_units,), V_IJ without Monte Carlo noise, how far samples move both."""
    n_used, n_units = counts.shape
    effect, total = np.empty(n_units), 0.0
    on_testing, on_training = np.zeros((2, n_used))
    for columns in column_blocks(n_used, n_units):
        products = counts[:, columns].astype(float)
        products -= products.mean(axis=0)
        products *= residual[:, None]
        effect[columns] = products.mean(axis=0)
        on_testing += products @ cv_influence[columns]
        on_training += products @ effect[columns]
        total += float(np.sum((cv_influence[columns] / n_units + effect[columns]) ** 2))
        total -= sum_of_variances(products) / n_used
    on_testing *= 2 / n_units
    return effect, total, on_testing, on_testing + 2 * on_training


def _presence(cv_influence: Array, counts: Array, residual: Array) -> tuple[Array, Array]:
    """Return P_i, (n_units,): what units do by being in a sample once; how far samples move it."""
    n_used, n_units = counts.shape
    presence, moves = np.empty(n_units), np.zeros(n_used)
    for columns in column_blocks(n_used, n_units):
        own = [(counts[:, columns] == times).astype(float) for times in (0, 1)]
        sizes = [of.sum(axis=0) for of in own]
        means = [residual @ of / np.maximum(n, 1) for of, n in zip(own, sizes, strict=True)]
        known = (sizes[0] > 0) & (sizes[1] > 0)
        presence[columns] = np.where(known, means[1] - means[0], 0.0)
        for of, n, sign in zip(own, sizes, (-1, 1), strict=True):
            moves += of @ np.where(known, sign * cv_influence[columns] / np.maximum(n, 1), 0.0)
    return presence, 2 * n_used / n_units * moves * residual
