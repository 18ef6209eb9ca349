"""Error of a method at several training-set sizes, from nested subsamples, with its covariance.

The error at m of n units is the mean over training sets of that size. It is estimated by the mean
over subsamples, each scored on the units outside of it: a U-statistic, whose variance is that of
what each unit adds as a test unit, as a training unit, and of the two together, since units that
are hard to predict also mislead when they are trained on (Hoeffding 1948, Annals of Mathematical
Statistics 19, 293-325).
"""

from __future__ import annotations

from typing import NamedTuple

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


def errors_by_size(values: Floats, *, is_mean: bool = True) -> ErrorsBySize:
    """Estimate the errors at some sizes, and how they vary together over data sets.

    Parameters
    ----------
    values : ndarray of shape (n_sizes, n_samples, n_units)
        Error of each unit outside of a subsample, so that their mean is that of the subsample; NaN
        inside, and for subsamples without a value. Sizes rise.
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
    found = [_at_one_size(own) for own in values]
    share, on_tests, between, shared, spread, times = np.array([one.numbers for one in found]).T
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
    units = np.array([one.of_units for one in found])
    together = units @ units.T / max(units.shape[1] - 1, 1) / units.shape[1]
    root = np.sqrt(of_training)
    together += root[:, None] * root * _correlation(np.array([one.of_samples for one in found]))
    by = np.sqrt(np.diag(together))
    factor = np.divide(np.sqrt(variance), by, out=np.zeros_like(by), where=by > 0)
    return ErrorsBySize(
        np.array([one.estimate for one in found]), together * factor[:, None] * factor
    )


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


class _AtOneSize(NamedTuple):
    """What the subsamples of one size say.

    Attributes
    ----------
    estimate : float
    numbers : tuple of float
        Share trained on; variance of the mean over units; variance of subsamples; covariance of
        these with the mean difficulty of the units trained on, and the variance of that; number of
        subsamples with a value.
    of_units : ndarray of shape (n_units,)
        Deviation of each unit's mean.
    of_samples : ndarray of shape (n_samples,)
        Error of each subsample beside that of its test units; NaN without a value.
    """

    estimate: float
    numbers: tuple[float, float, float, float, float, int]
    of_units: Floats
    of_samples: Floats


def _at_one_size(values: Floats) -> _AtOneSize:
    n_samples, outside = len(values), ~np.isnan(values)
    used = outside.any(axis=1)
    values, outside = values[used], outside[used]
    times = outside.sum(axis=0)
    tested = times > 0
    filled = np.where(outside, values, 0.0)
    mean = filled.sum(axis=0) / np.maximum(times, 1)
    estimate = float(mean[tested].mean())
    deviation = np.where(tested, mean - estimate, 0.0)
    rest = np.where(outside, values - mean, 0.0)
    n_outside = outside.sum(axis=1)
    of_samples = rest.sum(axis=1) / n_outside
    # What the units' own scatter makes of a subsample's mean.
    scatter = (rest**2).sum() / max(float((times - 1)[tested].sum()), 1.0)
    noise = float(((outside * (1 - 1 / np.maximum(times, 1))).sum(axis=1) / n_outside**2).mean())
    between = max(float(of_samples.var(ddof=1)) - scatter * noise, 0.0)
    inside = ~outside & tested
    difficulty = (inside * deviation).sum(axis=1) / np.maximum(inside.sum(axis=1), 1)
    shared = np.cov(difficulty, of_samples)
    n_tested = int(tested.sum())
    on_tests = float((deviation**2).sum()) / max(n_tested - 1, 1) / n_tested
    share = float((~outside).mean())
    every = np.full(n_samples, np.nan)
    every[used] = of_samples
    numbers = (share, on_tests, between, float(shared[0, 1]), float(shared[0, 0]), len(values))
    return _AtOneSize(estimate, numbers, deviation, every)


def _correlation(of_samples: Floats) -> Floats:
    """Return the correlation over subsamples that have a value at every size; 0 if it has none."""
    whole = of_samples[:, ~np.isnan(of_samples).any(axis=0)]
    centred = whole - whole.mean(axis=1, keepdims=True) if whole.shape[1] else whole
    length = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    unit = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    correlation = unit @ unit.T
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)
