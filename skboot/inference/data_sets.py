"""Means over several data sets: of new data sets like these, or of these alone.

* `MeansOfDrawn`: the data sets are a sample. The mean over them is studentized by their spread, and
  the law of the pivot comes from resamples of the data sets; `pivot_interval` and `simultaneous`
  make intervals and p-values of it.
* `mean_of_these`: the data sets are all there is. The mean is as uncertain as the scores on each.

Tests of ranks over data sets are in `skboot.inference.data_set_ranks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.warnings import tell
from .cautions import too_few_resamples
from .intervals import snapped
from .multiplicity import JointDeviations, max_t_adjusted, max_t_quantile, step_down
from .variance import satterthwaite

Floats = NDArray[np.float64]

# Share of drawn values, or of their squares, below which a mean, or a variance, is rounding.
_ROUNDING = 1e-12
# Share of a pivot below which two of them differ by rounding alone.
_ROUNDING_OF_PIVOTS = 1e-10


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

    @cached_property
    def pivots(self) -> Floats:
        """Studentized deviations, (n_resamples, n_columns).

        Infinite where a resample holds the same value over and over: such resamples stay, since
        with few data sets they are many.
        """
        shift, errors = self._resampled[0], self.replicate_standard_errors
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(shift == 0, 0.0, shift / errors)

    @property
    def statistics(self) -> Floats:
        """Mean by its standard error, (n_columns,); NaN where nothing varies."""
        errors = self.standard_errors
        return np.divide(self.means, errors, out=np.full_like(errors, np.nan), where=errors > 0)


class Intervals(NamedTuple):
    """Limits and p-values, arrays of shape (n_columns,)."""

    low: Floats
    high: Floats
    p_values: Floats


def pivot_intervals(
    drawn: MeansOfDrawn, confidence_level: float, alternative: str = "two-sided"
) -> Intervals:
    """Studentized bootstrap intervals of the means, and p-values that agree with them.

    Parameters
    ----------
    drawn : MeansOfDrawn
        Means over a sample of data sets.
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "greater", "less"}
        What intervals and p-values are against; the other limit of one side is infinite.

    Returns
    -------
    Intervals
        Limits at whole ranks of the pivots, so that a p-value is at most 1 - level exactly if the
        interval excludes 0. Where nothing varies [0, 0] with p = 1 for a mean of 0, and else the
        whole line with p = 1: equal values do not show how much others would differ.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 12.5.
    """
    sides = 2 if alternative == "two-sided" else 1
    tail = (1 - confidence_level) / sides
    n_resamples = len(drawn.counts)
    if tail * (n_resamples + 1) < 1 - 1e-9:
        tell(too_few_resamples(n_resamples, 1 - tail))
    pivots = np.sort(drawn.pivots, axis=0)
    errors = drawn.standard_errors
    with np.errstate(invalid="ignore"):
        low = drawn.means - errors * _at_rank(pivots, 1 - tail)
        high = drawn.means + errors * _at_rank(-pivots[::-1], 1 - tail)
    infinite = np.full_like(low, np.inf)
    low = -infinite if alternative == "less" else low
    high = infinite if alternative == "greater" else high
    low, high = snapped(low, high)
    above, below = _tails(drawn)
    p = {"greater": above, "less": below, "two-sided": 2 * np.minimum(above, below)}[alternative]
    return _without_spread(drawn, Intervals(low, high, np.minimum(p, 1.0)))


def _at_rank(ordered: Floats, level: float) -> Floats:
    """Value at a whole rank of each column; of too few resamples the extreme one."""
    n = len(ordered)
    rank = int(np.ceil((n + 1) * level - 1e-9))
    return np.asarray(ordered[min(max(rank, 1), n) - 1])


def _tails(drawn: MeansOfDrawn) -> tuple[Floats, Floats]:
    """Share of pivots at least as large as each statistic, and at most as large."""
    t = drawn.statistics
    with np.errstate(invalid="ignore"):
        tie = _ROUNDING_OF_PIVOTS * np.abs(t)
        above = (drawn.pivots >= t - tie).sum(axis=0)
        below = (drawn.pivots <= t + tie).sum(axis=0)
    n = len(drawn.counts)
    return (1 + above) / (n + 1), (1 + below) / (n + 1)


def _without_spread(drawn: MeansOfDrawn, found: Intervals) -> Intervals:
    """Put limits and p-values where the values of all data sets are the same."""
    flat = drawn.deviations == 0
    if not flat.any():
        return found
    widest = np.where(drawn.means == 0, 0.0, np.inf)
    low = np.where(flat & np.isfinite(found.low), -widest, found.low)
    high = np.where(flat & np.isfinite(found.high), widest, found.high)
    return Intervals(low, high, np.where(flat, 1.0, found.p_values))


class Simultaneous(NamedTuple):
    """Intervals and p-values of several means at once.

    Attributes
    ----------
    intervals : Intervals
        Never inside those of each mean by itself.
    signs : ndarray of shape (n_columns,)
        What step-down tests tell: 1 above 0, -1 below, 0 neither.
    """

    intervals: Intervals
    signs: NDArray[np.int8]


def simultaneous(
    drawn: MeansOfDrawn,
    alone: Intervals,
    confidence_level: float,
    alternative: str = "two-sided",
) -> Simultaneous:
    """Adjust the intervals of several means for being several, by the largest pivot.

    Parameters
    ----------
    drawn : MeansOfDrawn
        Means over a sample of data sets.
    alone : Intervals
        Of each mean by itself.
    confidence_level : float
        Of all intervals together.
    alternative : {"two-sided", "greater", "less"}
        What the intervals are against.

    Returns
    -------
    Simultaneous

    References
    ----------
    Westfall & Young (1993), Resampling-Based Multiple Testing, section 2.3; Romano & Wolf (2005),
    Journal of the American Statistical Association 100:94.
    """
    errors, means = drawn.standard_errors, drawn.means
    signs = {"two-sided": None, "greater": np.ones_like(means), "less": -np.ones_like(means)}[
        alternative
    ]
    towards = np.abs(drawn.pivots) if signs is None else drawn.pivots * signs
    flat = errors == 0
    # A column that does not vary has pivots of 0: it is never the largest, of one side neither.
    largest = towards.max(axis=1) if flat.all() else towards[:, ~flat].max(axis=1)
    half = max_t_quantile(largest, confidence_level) * errors
    with np.errstate(invalid="ignore"):
        low = np.where(np.isinf(alone.low), -np.inf, np.minimum(alone.low, means - half))
        high = np.where(np.isinf(alone.high), np.inf, np.maximum(alone.high, means + half))
    low, high = np.where(flat, alone.low, low), np.where(flat, alone.high, high)
    p = max_t_adjusted(alone.p_values, means, errors, largest, signs)
    joint = JointDeviations(largest, (drawn.pivots.astype(np.float32),), np.empty(0))
    told = step_down(drawn.statistics, joint, confidence_level, lambda n_left: np.inf)
    return Simultaneous(Intervals(*snapped(low, high), p), told)


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
