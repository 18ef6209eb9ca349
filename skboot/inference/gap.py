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

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, stdtrit

from ..metrics.means import mean_of_values
from ..resampling.design import GroupDesign
from ..resampling.plan import ResamplingPlan
from .distribution import BoundStatistic, bootstrap
from .intervals import quantile
from .proportions import Discordant, score_limits, tango_limits

Floats = NDArray[np.float64]
Limits = tuple[float, float]

# Nodes (standard deviations) at which the distribution of the range is integrated; the error of
# this step is below that of floats.
_NODES = np.linspace(-8.5, 8.5, 273)
_DENSITY = np.exp(-(_NODES**2) / 2) / np.sqrt(2 * np.pi) * (_NODES[1] - _NODES[0])
# Probability below which the integral is rounding and Bonferroni's bound is as accurate.
_SMALL_TAIL = 1e-9
# Share of the largest value below which the range of replicates is rounding.
_ROUNDING = 1e-12


class Side(NamedTuple):
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
        Of Student's t.
    """

    estimate: float
    bounds: Limits
    shape: str
    counts: tuple[float, ...]
    degrees_of_freedom: float


class SubgroupGap(NamedTuple):
    """The two subgroups of a gap, and the family that its interval is simultaneous over.

    Attributes
    ----------
    sides : tuple of Side
        The larger and the smaller; empty if the gap is undefined.
    n_subgroups : int
        Number of subgroups that the pair was chosen from.
    n_families : int
        Number of such choices that the interval is simultaneous over (pairs of systems).
    separate : bool
        Whether no unit has rows in two subgroups.
    replicates : ndarray of shape (n_resamples,) or None
        Of the first side; None where no limit needs them.
    """

    sides: tuple[Side, ...]
    n_subgroups: int
    n_families: int
    separate: bool
    replicates: Floats | None

    @classmethod
    def of_stored(cls, stored: tuple[Any, ...]) -> SubgroupGap:
        """Return the gap of plain tuples, as files hold them."""
        sides, *rest = stored
        return cls(tuple(Side(*side) for side in sides), *rest)


def gap_limits(gap: SubgroupGap, differences: Floats, confidence_level: float) -> Limits:
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
    first, second = gap.sides
    draws: tuple[Floats | None, Floats | None] = None, None
    if gap.replicates is not None:
        draws = gap.replicates, gap.replicates - differences
    low_a, high_a = side_limits(first, draws[0], c)
    low_b, high_b = side_limits(second, draws[1], c)
    r = 0.0 if gap.separate else _correlation(*draws)
    d = first.estimate - second.estimate
    below = _recovered(first.estimate - low_a, high_b - second.estimate, r)
    above = _recovered(high_a - first.estimate, second.estimate - low_b, r)
    return d - below, d + above


def _recovered(first: float, second: float, correlation: float) -> float:
    """Return the distance of a limit of the difference from the two sides' distances."""
    if np.isinf(first) or np.isinf(second):
        return np.inf
    return float(np.sqrt(max(first**2 - 2 * correlation * first * second + second**2, 0.0)))


def _correlation(first: Floats | None, second: Floats | None) -> float:
    """Return the correlation of replicates, 0 where one side has none or does not vary."""
    if first is None or second is None or first.std() == 0 or second.std() == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


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


def side_limits(side: Side, replicates: Floats | None, c: float) -> Limits:
    """Limits of one subgroup at a critical value.

    Parameters
    ----------
    side : Side
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
    return _SHAPES[side.shape](side, replicates, c)


def _wilson(side: Side, replicates: Floats | None, c: float) -> Limits:
    """Return Wilson's limits of a proportion, or of F1."""
    hits, n, is_f1, negated = side.counts
    low, high = score_limits(hits / n, n, c)
    if is_f1:
        # F1 = 2 q / (1 + q) with q the Jaccard index: monotone, so the limits map.
        low, high = 2 * low / (1 + low), 2 * high / (1 + high)
    return (-high, -low) if negated else (low, high)


def _tango(side: Side, replicates: Floats | None, c: float) -> Limits:
    """Return Tango's limits of a difference of paired proportions."""
    first_only, second_only, n = map(int, side.counts)
    return tango_limits(Discordant(first_only, second_only, n), c)


def _effective(side: Side, replicates: Floats | None, c: float) -> Limits:
    """Return Wilson's limits at n = p (1 - p) / se^2, p the value as a share of its range."""
    assert replicates is not None
    low, high = side.bounds
    reach = high - low
    share = (side.estimate - low) / reach
    fewest, most = side.counts
    variance = _variance(side, replicates) / reach**2
    n = share * (1 - share) / variance if variance > 0 else fewest
    limits = score_limits(share, float(np.clip(n, fewest, most)), _student(side, c))
    return low + reach * limits[0], low + reach * limits[1]


def _spread(side: Side, replicates: Floats | None, c: float) -> Limits:
    """Return t limits from the replicates' spread, widened for skewness and for few rows."""
    assert replicates is not None
    q = _student(side, c)
    error = np.sqrt(_variance(side, replicates))
    n, skewed = side.counts
    skewness = _skewness(replicates) if skewed else 0.0
    below = error * max(q, _unskewed(q, skewness))
    above = error * max(q, -_unskewed(-q, skewness))
    if np.isfinite(n):
        without_spread = (side.bounds[1] - side.bounds[0]) / 2 * q**2 / (n + q**2)
        below, above = max(below, without_spread), max(above, without_spread)
    low, high = side.bounds
    return max(side.estimate - float(below), low), min(side.estimate + float(above), high)


_SHAPES: Mapping[str, Callable[[Side, Floats | None, float], Limits]] = {
    "wilson": _wilson,
    "tango": _tango,
    "effective": _effective,
    "spread": _spread,
}


def _student(side: Side, c: float) -> float:
    """Return the quantile of Student's t at the level of a normal one."""
    return float(-stdtrit(side.degrees_of_freedom, ndtr(-c)))


def _variance(side: Side, replicates: Floats) -> float:
    """Return the variance of the replicates times (df + 1) / df, by which it is too small."""
    df = side.degrees_of_freedom
    # Replicates of the second side are first less difference, and hold the rounding of both.
    constant = np.ptp(replicates) <= _ROUNDING * np.abs(replicates).max()
    return 0.0 if constant else float(replicates.var(ddof=1)) * (df + 1) / df


def _skewness(replicates: Floats) -> float:
    """Return the standardized third moment of the replicates, 0 if they do not vary."""
    deviations = replicates - replicates.mean()
    scale = replicates.std()
    return float(np.mean(deviations**3) / scale**3) if scale > 0 else 0.0


def _unskewed(quantile: float, skewness: float) -> float:
    """Return the quantile of a t statistic whose numerator has this skewness (Hall 1992).

    The inverse of t + s t^2 / 3 + s^2 t^3 / 27 + s / 6 at the normal quantile.
    """
    if abs(skewness) < 1e-6:
        return quantile
    return float(3 / skewness * (np.cbrt(1 + skewness * (quantile - skewness / 6)) - 1))


# How often one method beats another: P(A > B) over runs that belong together.
#
# The difference of expected scores says which method is better on average; P(A > B) says how
# often a
# run of the first beats a run of the second that was trained on the same sample. Two methods of
# nearly equal mean can differ in it, and a large difference of means can come from few runs: report
# both.


MEANINGFUL = 0.75
"""P(A > B) from which a method is called meaningfully better (Bouthillier et al. 2021)."""


class Outperformance(NamedTuple):
    """P(A > B) of two methods over paired runs.

    Attributes
    ----------
    probability : float
        Share of the pairs of runs in which the first method scored better, ties half.
    low, high : float
        Percentile interval over bootstrap samples of the pairs.
    confidence_level : float
    n_pairs : int
    """

    probability: float
    low: float
    high: float
    confidence_level: float
    n_pairs: int

    @property
    def is_significant(self) -> bool:
        """Whether the interval lies on one side of .5."""
        return self.low > 0.5 or self.high < 0.5

    @property
    def verdict(self) -> str:
        """By the rule of Bouthillier et al. (2021), in favour of whichever method it is.

        "not significant" where the interval holds .5; "significant, not meaningful" where it does
        not reach beyond .75 (.25); else "significant and meaningful".
        """
        if not self.is_significant:
            return "not significant"
        farthest = max(self.high, 1 - self.low)
        return f"significant{', not' if farthest <= MEANINGFUL else ' and'} meaningful"

    def mirrored(self) -> Outperformance:
        """Return P(B > A) with its interval."""
        return self._replace(probability=1 - self.probability, low=1 - self.high, high=1 - self.low)


def outperformance(
    first: ArrayLike,
    second: ArrayLike,
    *,
    samples: ArrayLike | None = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    seed: np.random.SeedSequence,
) -> Outperformance:
    """P(A > B) with its bootstrap interval.

    Parameters
    ----------
    first, second : array-like of shape (n_runs,)
        Scores of paired runs, larger is better; pairs with a NaN are left out.
    samples : array-like of shape (n_runs,), optional
        Training sample of each pair: pairs of one sample are drawn together.
    n_resamples : int
    confidence_level : float
    seed : numpy.random.SeedSequence

    Returns
    -------
    Outperformance
        All NaN without a pair. Where one method wins all pairs, every resample equals the data: the
        interval is then Wilson's, and [.5, .5] if all pairs are ties.

    References
    ----------
    Bouthillier et al. (2021), MLSys 3: section on P(A > B), with the percentile bootstrap.
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    defined = np.isfinite(a) & np.isfinite(b)
    n_pairs = int(np.count_nonzero(defined))
    if n_pairs == 0:
        return Outperformance(np.nan, np.nan, np.nan, confidence_level, 0)
    wins = np.where(a > b, 1.0, np.where(a == b, 0.5, 0.0))[defined]
    codes = np.arange(n_pairs)
    if samples is not None:
        codes = np.unique(np.asarray(samples)[defined], return_inverse=True)[1]
    share = float(wins.mean())
    if np.all(wins == wins[0]):
        low, high = share, share
        if wins[0] != 0.5:
            normal = float(ndtri(0.5 + confidence_level / 2))
            low, high = score_limits(share, int(codes.max()) + 1, normal)
        return Outperformance(share, low, high, confidence_level, n_pairs)
    shares = np.sort(_bootstrapped(wins, codes, n_resamples, seed))
    low, high = (quantile(shares, (1 + side * confidence_level) / 2) for side in (-1, 1))
    return Outperformance(share, low, high, confidence_level, n_pairs)


def pairs_needed(
    probability: float = MEANINGFUL, *, level: float = 0.05, power: float = 0.95
) -> int:
    """Number of paired runs that distinguishes P(A > B) from one half.

    Parameters
    ----------
    probability : float
        P(A > B) that a test is to find.
    level, power : float
        Of the one-sided test.

    Returns
    -------
    int
        29 at the defaults.

    References
    ----------
    Noether (1987), JASA 82:645-647, for the sign test.
    """
    size = (ndtri(1 - level) + ndtri(power)) / (np.sqrt(6) * (0.5 - probability))
    return ceil(float(size**2))


def too_few_pairs(outperformances: Iterable[Outperformance | None]) -> list[str]:
    """Return a note where the fewest pairs of runs cannot distinguish .75 from one half."""
    fewest = min((shares.n_pairs for shares in outperformances if shares is not None), default=None)
    needed = pairs_needed()
    if fewest is None or fewest >= needed:
        return []
    return [
        f"P(A > B) is estimated from {fewest} pairs of runs: {needed} are needed to detect "
        f"{MEANINGFUL} against .5 with 5 % errors of both kinds."
    ]


def _bootstrapped(
    wins: NDArray[np.float64],
    codes: NDArray[np.intp],
    n_resamples: int,
    seed: np.random.SeedSequence,
) -> NDArray[np.float64]:
    """Return the share of wins on each resample of the pairs, (n_resamples,)."""
    statistic = mean_of_values()
    reduced = statistic.reduce(None, wins, None)
    plan = ResamplingPlan(GroupDesign.of(codes), n_resamples, seed)
    subject = BoundStatistic.of(statistic, reduced)
    [distribution] = bootstrap(plan.bind([subject.coding]), [subject])
    return distribution.replicates
