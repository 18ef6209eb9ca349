"""Error of a method at several training-set sizes, from nested subsamples, with its covariance.

The error at m of n units is the mean over training sets of that size. It is estimated by the mean
over subsamples, each scored on the units outside of it: a U-statistic, whose variance is that of
what each unit adds as a test unit, as a training unit, and of the two together, since units that
are hard to predict also mislead when they are trained on (Hoeffding 1948, Annals of Mathematical
Statistics 19, 293-325).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Share of the units up to which the training variance is as reliable as its estimate: beyond it,
# f / (1 - f) multiplies what is not linear in the units, too (record 0098).
_HALF = 0.5
# Powers of an inverse power law that are tried: the fit is linear in the rest.
_POWERS = np.linspace(0.1, 2, 39)


class ErrorsBySize(NamedTuple):
    """Error of a method at some sizes.

    Attributes
    ----------
    estimate : ndarray of shape (n_sizes,)
        Mean over subsamples and units.
    covariance : ndarray of shape (n_sizes, n_sizes)
        Of the estimates, over data sets.
    """

    estimate: Floats
    covariance: Floats


def errors_by_size(values: Iterable[Floats], *, is_mean: bool = True) -> ErrorsBySize:
    """Estimate the errors at some sizes, and how they vary together over data sets.

    Parameters
    ----------
    values : iterable of ndarray of shape (n_samples, n_units)
        Of each size the error of each unit outside of a subsample, so that their mean is that of
        the subsample; NaN inside, and for subsamples without a value. Sizes rise. Each is read
        before the next is made, because all together can be larger than the data.
    is_mean : bool
        Whether the error is a mean of one value per unit, however few are tested.

    Returns
    -------
    ErrorsBySize
        With f the share of units trained on and R subsamples, the variance at a size is

            V1 + V2 + s^2 / R + 2 rho sqrt(V1 V2),    V2 = s^2 f / (1 - f)

        V1 is the variance of the mean over units of each unit's mean; s^2 the variance of
        subsamples, less what their test units make of it, as of a mean of n f of n units drawn
        without replacement; and rho the correlation of a subsample's error with the mean difficulty
        of the units that it trains on, over all sizes up to half of the units. Beyond half of them
        V2 is at most the largest up to there, unless s^2 is larger; and the variance of an error
        that is no mean at least that of the last size up to there, since few units are tested.
    """
    # Of each size: the error; the share trained on; variances of the mean over units, of
    # subsamples, and of the mean difficulty of the units trained on, with the covariance of these
    # two; number of subsamples with a value.
    numbers = list[tuple[float, ...]]()
    # The deviation of each unit's mean, and the error of each subsample beside that of its test
    # units; NaN without a value.
    units_by_size, samples_by_size = list[Floats](), list[Floats]()
    for of_size in values:
        is_outside = ~np.isnan(of_size)
        is_scored = is_outside.any(axis=1)
        of_scored: Any = slice(None) if is_scored.all() else is_scored
        errors, outside = of_size[of_scored], is_outside[of_scored]
        n_times = outside.sum(axis=0)
        tested = n_times > 0
        mean = np.where(outside, errors, 0.0).sum(axis=0) / np.maximum(n_times, 1)
        estimate_of_size = float(mean[tested].mean())
        units_of_size = np.where(tested, mean - estimate_of_size, 0.0)
        residuals = errors - mean
        residuals[~outside] = 0.0
        n_outside = outside.sum(axis=1)
        samples_of_size = np.full(len(of_size), np.nan)
        samples_of_size[is_scored] = residuals.sum(axis=1) / n_outside
        # What the units' own scatter makes of a subsample's mean.
        residuals *= residuals
        scatter = residuals.sum() / max(float((n_times - 1)[tested].sum()), 1.0)
        of_units = (outside * (1 - 1 / np.maximum(n_times, 1))).sum(axis=1)
        noise = float((of_units / n_outside**2).mean())
        variance_of_samples = float(samples_of_size[is_scored].var(ddof=1))
        inside = ~outside & tested
        difficulty = (inside * units_of_size).sum(axis=1) / np.maximum(inside.sum(axis=1), 1)
        covariances = np.cov(difficulty, samples_of_size[is_scored])
        n_tested = int(tested.sum())
        numbers.append(
            (
                estimate_of_size,
                float((~outside).mean()),
                float((units_of_size**2).sum()) / max(n_tested - 1, 1) / n_tested,
                max(variance_of_samples - scatter * noise, 0.0),
                covariances[0, 0],
                covariances[0, 1],
                len(errors),
            )
        )
        units_by_size.append(units_of_size)
        samples_by_size.append(samples_of_size)
    if not numbers:
        return ErrorsBySize(np.empty(0), np.empty((0, 0)))
    estimate, share, on_tests, between, spread, shared, times = np.array(numbers).T
    units, samples = np.array(units_by_size), np.array(samples_by_size)
    trusted = np.asarray(share <= _HALF)
    n_trusted = int(trusted.sum())
    trusted = trusted if n_trusted else ~trusted
    training = between * share / (1 - share)
    most = np.maximum(training[trusted].max(), between)
    training = np.where(trusted, training, np.minimum(training, most))
    scale = np.sqrt(between * spread)[trusted].sum()
    rho = np.clip(shared[trusted].sum() / scale, -1.0, 1.0) if scale > 0 else 0.0
    of_training = training + between / times
    variance = on_tests + of_training + 2 * rho * np.sqrt(on_tests * training)
    if n_trusted and not is_mean:
        variance[n_trusted:] = np.maximum(variance[n_trusted:], variance[n_trusted - 1])
    # The parts of units, and of subsamples, are correlated over sizes as they are seen to be.
    together = units @ units.T / max(units.shape[1] - 1, 1) / units.shape[1]
    root = np.sqrt(of_training)
    together += root[:, None] * root * _correlation(samples)
    by = np.sqrt(np.diag(together))
    factor = np.divide(np.sqrt(variance), by, out=np.zeros_like(by), where=by > 0)
    return ErrorsBySize(estimate, together * factor[:, None] * factor)


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
    least, continued = np.full(len(values), np.inf), np.zeros(len(values))
    root = np.sqrt(weights)
    for power in _POWERS:
        design = np.column_stack([np.ones(len(x)), x**-power]) * root[:, None]
        fitted = values * root @ np.linalg.pinv(design).T
        residual = ((fitted @ design.T - values * root) ** 2).sum(axis=1)
        better = residual < least
        least[better] = residual[better]
        continued[better] = (fitted @ np.array([1.0, at**-power]))[better]
    return continued


def _correlation(of_samples: Floats) -> Floats:
    """Return the correlation over subsamples that have a value at every size; 0 if it has none."""
    complete = of_samples[:, ~np.isnan(of_samples).any(axis=0)]
    centred = complete - complete.mean(axis=1, keepdims=True) if complete.shape[1] else complete
    length = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    unit = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    correlation = unit @ unit.T
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)
