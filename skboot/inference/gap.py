"""The difference of the two subgroups that are furthest apart, with a simultaneous interval.

Each of the two has limits of its own, at a critical value that is simultaneous over all pairs of
subgroups. The limits of their difference follow from these by recovery of the variances (Zou &
Donner 2008, equations 7 and 8; Newcombe 1998, method 10, for two proportions):

    low = d - sqrt((a - low_a)^2 - 2 r (a - low_a) (high_b - b) + (high_b - b)^2)

with r the correlation of the two over the resamples, 0 where they have no unit in common. So a
subgroup without errors, whose replicates never vary, is as uncertain as its own interval is wide,
and no limit is outside the range of a difference.

The limits of a subgroup are, by its ``shape``:

* ``"wilson"``: of a proportion of independent rows;
* ``"tango"``: of a difference of two proportions on the same rows;
* ``"effective"``: Wilson's with the size at which a proportion would vary as the replicates do;
* ``"spread"``: Student's t with the spread of the replicates, or its correction for their skewness
  (Hall 1992, Journal of the Royal Statistical Society B 54, 221-228) where that is wider.

`SubgroupGap` holds enough for an interval of any level.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, stdtrit

from .proportions import Discordant, score_limits, tango_limits

Floats = NDArray[np.float64]

# Nodes (standard deviations) at which the distribution of the range is integrated; the error of
# this step is below that of floats.
_NODES = np.linspace(-8.5, 8.5, 273)
_DENSITY = np.exp(-(_NODES**2) / 2) / np.sqrt(2 * np.pi) * (_NODES[1] - _NODES[0])
# Probability below which the integral is rounding and Bonferroni's bound is as accurate.
_SMALL_TAIL = 1e-9
# Share of the largest value below which the range of replicates is rounding.
_RANGE_ROUNDING = 1e-12


class SubgroupEstimate(NamedTuple):
    """One of the two subgroups.

    Attributes
    ----------
    estimate : float
        Its value.
    bounds : tuple of float
        Range of the value.
    shape : {"wilson", "tango", "effective", "spread"}
        How its limits are made.
    counts : tuple of numbers
        Numbers that the shape is made of. "wilson": hits, rows, and whether the value is F1 and
        whether it is negated, as 0 or 1. "tango": rows that the first alone has right, the second
        alone, all. "effective": smallest and largest size that it may have. "spread": n for which
        the limits are at least q^2 / (n + q^2) of half the range away, as those of a difference of
        n rows without a discordant one, infinite for none; and whether skewness counts, as 0 or 1.
    degrees_of_freedom : float
        Degrees of freedom of Student's t.
    """

    estimate: float
    bounds: tuple[float, float]
    shape: str
    counts: tuple[float, ...]
    degrees_of_freedom: float


class SubgroupGap(NamedTuple):
    """The two subgroups of a gap, and the family that its interval is simultaneous over.

    Attributes
    ----------
    sides : tuple of SubgroupEstimate
        The larger and the smaller; empty if the gap is undefined.
    n_subgroups : int
        Number of subgroups that the pair was chosen from.
    n_families : int
        Number of such choices that the interval is simultaneous over (pairs of systems).
    separate : bool
        Whether no unit has rows in two subgroups.
    replicates : ndarray of shape (n_resamples,) or None
        Replicates of the first side; None where no limit needs them.
    """

    sides: tuple[SubgroupEstimate, ...]
    n_subgroups: int
    n_families: int
    separate: bool
    replicates: Floats | None

    @classmethod
    def of_stored(cls, stored: tuple[Any, ...]) -> SubgroupGap:
        """Return the gap of plain tuples, as files hold them."""
        sides, *fields = stored
        return cls(tuple(SubgroupEstimate(*side) for side in sides), *fields)


def gap_limits(
    gap: SubgroupGap, differences: Floats, confidence_level: float
) -> tuple[float, float]:
    """Limits of the first side minus the second.

    Parameters
    ----------
    gap : SubgroupGap
        With two sides.
    differences : ndarray of shape (n_resamples,)
        Replicates of the difference.
    confidence_level : float
        In (0, 1); simultaneous.

    Returns
    -------
    low, high : float
        Within the range of a difference.
    """
    c = critical_value(gap.n_subgroups, gap.n_families, confidence_level)
    side_a, side_b = gap.sides
    draws_a, draws_b, r = gap.replicates, None, 0.0
    if draws_a is not None:
        draws_b = draws_a - differences
        if not gap.separate and draws_a.std() != 0 and draws_b.std() != 0:
            r = float(np.corrcoef(draws_a, draws_b)[0, 1])
    low_a, high_a = side_limits(side_a, draws_a, c)
    low_b, high_b = side_limits(side_b, draws_b, c)
    d = side_a.estimate - side_b.estimate
    below = _recover_distance(side_a.estimate - low_a, high_b - side_b.estimate, r)
    above = _recover_distance(high_a - side_a.estimate, side_b.estimate - low_b, r)
    return d - below, d + above


def _recover_distance(reach_a: float, reach_b: float, correlation: float) -> float:
    """Return the distance of a limit of the difference from the two sides' distances."""
    if np.isinf(reach_a) or np.isinf(reach_b):
        return np.inf
    return float(np.sqrt(max(reach_a**2 - 2 * correlation * reach_a * reach_b + reach_b**2, 0.0)))


# ------------------------------------------------------------------ critical value


@lru_cache(maxsize=256)
def critical_value(n_subgroups: int, n_families: int, confidence_level: float) -> float:
    """Normal quantile that is simultaneous over all pairs of independent subgroups.

    Parameters
    ----------
    n_subgroups : int
        At least 2.
    n_families : int
        Number of sets of pairs; the error is shared out among them evenly (Bonferroni).
    confidence_level : float
        In (0, 1).

    Returns
    -------
    float
        Quantile of the range of ``n_subgroups`` standard normal values, by sqrt(2) (Tukey 1953).
        For two subgroups the ordinary normal quantile. With unequal standard errors the pairs'
        joint level is higher than stated (Hayter 1984).
    """
    tail = (1 - confidence_level) / n_families
    n_pairs = n_subgroups * (n_subgroups - 1) / 2
    widest = float(-ndtri(tail / (2 * n_pairs)))
    if n_subgroups == 2 or tail < _SMALL_TAIL:
        return widest

    def excess(c: float) -> float:
        inside = (ndtr(_NODES) - ndtr(_NODES - c * np.sqrt(2))) ** (n_subgroups - 1)
        return float(1 - n_subgroups * (_DENSITY @ inside)) - tail

    narrowest = float(-ndtri(tail / 2))
    return float(brentq(excess, narrowest, widest, xtol=1e-10))


# ------------------------------------------------------------------ one subgroup


def side_limits(side: SubgroupEstimate, replicates: Floats | None, c: float) -> tuple[float, float]:
    """Limits of one subgroup at a critical value.

    Parameters
    ----------
    side : SubgroupEstimate
        The subgroup.
    replicates : ndarray of shape (n_resamples,) or None
        Its value on each resample; used by "effective" and "spread".
    c : float
        Normal quantile. Student's t takes the quantile of the same level.

    Returns
    -------
    low, high : float
        On the scale of its value, within its bounds.
    """
    low, high = side.bounds
    if side.shape == "wilson":
        # Wilson's limits of a proportion, or of F1 = 2 q / (1 + q) with q the Jaccard index, which
        # is monotone, so that the limits map.
        hits, n, is_f1, negated = side.counts
        low, high = score_limits(hits / n, n, c)
        if is_f1:
            low, high = 2 * low / (1 + low), 2 * high / (1 + high)
        return (-high, -low) if negated else (low, high)
    if side.shape == "tango":
        return tango_limits(Discordant(*map(int, side.counts)), c)
    assert replicates is not None
    df = side.degrees_of_freedom
    q = float(-stdtrit(df, ndtr(-c)))
    # The variance of the replicates is too small by (df + 1) / df. Those of the second side are
    # first less difference, and hold the rounding of both.
    constant = np.ptp(replicates) <= _RANGE_ROUNDING * np.abs(replicates).max()
    variance = 0.0 if constant else float(replicates.var(ddof=1)) * (df + 1) / df
    if side.shape == "effective":
        # Wilson's limits at n = p (1 - p) / se^2, p the value as a share of its range.
        reach = high - low
        share = (side.estimate - low) / reach
        fewest, most = side.counts
        variance /= reach**2
        n = share * (1 - share) / variance if variance > 0 else fewest
        limits = score_limits(share, float(np.clip(n, fewest, most)), q)
        return low + reach * limits[0], low + reach * limits[1]
    # t limits from the replicates' spread, widened for skewness and for few rows.
    error, (n, skewed) = np.sqrt(variance), side.counts
    skewness, scale = 0.0, replicates.std()
    if skewed and scale > 0:
        skewness = float(np.mean((replicates - replicates.mean()) ** 3) / scale**3)
    below = error * max(q, _unskew_quantile(q, skewness))
    above = error * max(q, -_unskew_quantile(-q, skewness))
    if np.isfinite(n):
        without_spread = (high - low) / 2 * q**2 / (n + q**2)
        below, above = max(below, without_spread), max(above, without_spread)
    return max(side.estimate - float(below), low), min(side.estimate + float(above), high)


def _unskew_quantile(quantile: float, skewness: float) -> float:
    """Return the quantile of a t statistic whose numerator has this skewness (Hall 1992).

    The inverse of t + s t^2 / 3 + s^2 t^3 / 27 + s / 6 at the normal quantile.
    """
    if abs(skewness) < 1e-6:
        return quantile
    return float(3 / skewness * (np.cbrt(1 + skewness * (quantile - skewness / 6)) - 1))
