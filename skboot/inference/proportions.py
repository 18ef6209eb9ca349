"""Limits in closed form of proportions, of areas under ROC curves, or of differences of two.

`proportion_interval`, `tango_interval` and `mcnemar_exact` are public: all they need are counts.
Score limits are made for a quantile, so that simultaneous intervals can use them. `TwoAreas` is of
two systems on the same independent rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import expm1, hypot, log, sqrt
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, stdtrit

from .._base.checks import check_choice, check_confidence_level, counted, fail
from .._base.doors import door
from .._base.typing import ProportionInterval
from .evidence import ConfidenceInterval

Floats = NDArray[np.float64]

# Tail area below which quantiles of Student's t overflow.
_LEAST_TAIL = 1e-300
# Share of the quantile below which a limit on the logit scale is a straight line.
_STRAIGHT = 1e-6
# Quantile of the normal beyond which tail areas are 0 in double precision.
_FARTHEST = 64.0


class Discordant(NamedTuple):
    """Rows on which two systems differ in being right.

    Attributes
    ----------
    first_only : int
        Rows on which the first is right and the second wrong.
    second_only : int
        Rows on which the second is right and the first wrong.
    n : int
        All rows.
    """

    first_only: int
    second_only: int
    n: int

    @property
    def standard_error(self) -> float:
        """Standard error of the difference of the shares of right rows."""
        ahead = self.first_only - self.second_only
        return float(np.sqrt(self.first_only + self.second_only - ahead**2 / self.n)) / self.n

    def mirrored(self) -> Discordant:
        """Return the counts of the second and the first."""
        return Discordant(self.second_only, self.first_only, self.n)

    @classmethod
    def of_spread(cls, difference: float, variance: float, n: int) -> Discordant:
        """Return the counts that have this difference and this variance; they need not be whole.

        For streams, which know the replicates of a difference, but not which rows differ. With b
        and c discordant rows of n the variance is (b + c - (b - c)^2 / n) / n^2.
        """
        net = n * difference
        n_discordant = min(max(n * (n * variance + difference**2), abs(net)), n)
        return cls((n_discordant + net) / 2, (n_discordant - net) / 2, n)  # type: ignore[arg-type]


# ------------------------------------------------------------------ one proportion


def score_limits(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Score interval of a proportion (Wilson 1927), for a quantile of the normal or of t."""
    square = quantile**2 / n
    centre = (share + square / 2) / (1 + square)
    half = quantile * np.sqrt(share * (1 - share) / n + square / (4 * n)) / (1 + square)
    low = 0.0 if share <= 0 else max(float(centre - half), 0.0)
    return low, 1.0 if share >= 1 else min(float(centre + half), 1.0)


def wilson_limits(hits: float, n: float, confidence_level: float) -> tuple[float, float]:
    """Limits of the score interval of hits / n; n may be an effective size."""
    return score_limits(hits / n, n, float(ndtri(0.5 + confidence_level / 2)))


def clopper_pearson_limits(hits: float, n: float, confidence_level: float) -> tuple[float, float]:
    """Limits of the exact interval of a proportion (Clopper & Pearson 1934)."""
    tail = (1 - confidence_level) / 2
    low = 0.0 if hits == 0 else float(stats.beta.ppf(tail, hits, n - hits + 1))
    high = 1.0 if hits == n else float(stats.beta.ppf(1 - tail, hits + 1, n - hits))
    return low, high


def distance_limits(bins: Floats, confidence_level: float) -> tuple[float, float]:
    """Smallest and largest weighted sum of |share - expected| over bins, within exact limits.

    ``bins``, (4, n_bins), has the weight of each, its share, what it should be, and its rows; the
    level is that of a single bin.
    """
    weight, share, expected, rows = bins
    pairs = zip(share.tolist(), rows.tolist(), strict=True)
    limits = [clopper_pearson_limits(p * n, n, confidence_level) for p, n in pairs]
    low, high = np.array(limits).T - expected
    least = weight @ np.maximum(0.0, np.maximum(low, -high))
    return float(least), float(weight @ np.maximum(np.abs(low), np.abs(high)))


def wald_limits(hits: float, n: float, confidence_level: float) -> tuple[float, float]:
    """Limits of the normal interval of a proportion, which collapses at 0 and 1."""
    p = hits / n
    half = ndtri(0.5 + confidence_level / 2) * np.sqrt(p * (1 - p) / n)
    return p - half, p + half


SHARE_LIMITS: Mapping[str, Callable[[Any, Any, float], tuple[float, float]]] = {
    "wilson": wilson_limits,
    "clopper-pearson": clopper_pearson_limits,
    "wald": wald_limits,
}


@door("proportion_interval")
def proportion_interval(
    k: int, n: int, *, method: ProportionInterval = "wilson", confidence_level: float = 0.95
) -> ConfidenceInterval:
    """Confidence interval of a published proportion, such as an accuracy and a test-set size.

    Parameters
    ----------
    k : int
        Number of hits, 0 to n. For a published accuracy: ``round(accuracy * n)``.
    n : int
        Number of independent test rows, at least 1.
    method : {"wilson", "clopper-pearson", "wald"}
        "wilson" covers close to the level on average; "clopper-pearson" never covers less, at
        the cost of width; "wald" is the textbook normal interval, which collapses near 0 and 1.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    ConfidenceInterval
        The pair ``(low, high)``, with ``confidence_level`` and ``method``. Limits of "wald" beyond
        0 and 1 are cut there; ``uncut`` has them as published.

    Raises
    ------
    ValueError
        If k, n, the method or the level is out of range.

    References
    ----------
    Wilson (1927), JASA 22, 209-212; Clopper & Pearson (1934), Biometrika 26, 404-413.

    Examples
    --------
    >>> from skboot.inference import proportion_interval
    >>> print(f"{proportion_interval(50, 50):.3f}")
    0.929 to 1.000
    """
    counts: dict[str, Any] = {"k": k, "n": n}
    for name, value in counts.items():
        # Rows of different lengths have no shape.
        if not isinstance(value, list | tuple) and not np.ndim(value):
            continue
        advice = (
            "Of one proportion give two counts: k=186, n=200. Of many call it for each; of rows "
            "that are right or wrong use skboot.bootstrap_score(None, right, metric='mean')."
        )
        raise fail(name, "be an integer", "an array", advice)
    n, share = whole_number("n", n), cast(Any, k)
    if isinstance(share, float) and 0 < share < 1 and n > 1:
        hits = f"k={round(share * n)}, n={n}"
        advice = f"k counts the hits: for a share of {share:g} of {counted(n, 'row')} use {hits}."
        raise fail("k", "be an integer", repr(share), advice)
    k = whole_number("k", k)
    if n < 1 or not 0 <= k <= n:
        advice = "For an accuracy of 0.93 on 200 rows use k=186, n=200."
        must = "be between 0 and n, and n at least 1"
        raise fail("k", must, f"k={k}, n={n}", advice)
    check_choice("method", method, list(SHARE_LIMITS))
    confidence_level = check_confidence_level(confidence_level)
    low, high = SHARE_LIMITS[method](k, n, confidence_level)
    interval = ConfidenceInterval(float(low), float(high), confidence_level, method)
    return interval._within(0.0, 1.0)


# ------------------------------------------------------------------ two on rows of their own


class TwoProportions(NamedTuple):
    """Hits among independent rows of two systems, each on a test set of its own.

    Attributes
    ----------
    first_hits, first_n, second_hits, second_n : int
        Hits and rows.
    sign : float
        -1 where the metric is minus the share of hits.
    """

    first_hits: int
    first_n: int
    second_hits: int
    second_n: int
    sign: float = 1.0

    @property
    def standard_error(self) -> float:
        """Standard error of the difference of the shares."""
        sides = (self.first_hits, self.first_n), (self.second_hits, self.second_n)
        return float(np.sqrt(sum(hits * (n - hits) / n**3 for hits, n in sides)))

    @property
    def fewest_events(self) -> int:
        """The fewest hits or misses of a system."""
        misses_1, misses_2 = self.first_n - self.first_hits, self.second_n - self.second_hits
        return min(self.first_hits, misses_1, self.second_hits, misses_2)


def newcombe_limits(counts: TwoProportions, quantile: float) -> tuple[float, float]:
    """Limits of the difference of two independent proportions, for a quantile of the normal.

    From the score limits of each (Newcombe 1998, Statistics in Medicine 17, 873-890, method 10).
    """
    share_1 = counts.first_hits / counts.first_n
    share_2 = counts.second_hits / counts.second_n
    low_1, high_1 = score_limits(share_1, counts.first_n, quantile)
    low_2, high_2 = score_limits(share_2, counts.second_n, quantile)
    low = share_1 - share_2 - float(np.hypot(share_1 - low_1, high_2 - share_2))
    high = share_1 - share_2 + float(np.hypot(high_1 - share_1, share_2 - low_2))
    return (low, high) if counts.sign > 0 else (-high, -low)


def quantile_at_zero(limits: Callable[[float], tuple[float, float]]) -> float:
    """Quantile at which a limit reaches 0, with the sign of the difference."""
    low, high = limits(0.0)
    if low <= 0 <= high:
        return 0.0
    side, sign = (0, 1.0) if low > 0 else (1, -1.0)

    def above(quantile: float) -> float:
        return sign * limits(quantile)[side]

    far = 8.0
    while above(far) > 0:
        far *= 2
        if far > _FARTHEST:
            return sign * float(np.inf)
    return sign * float(brentq(above, 0.0, far, xtol=1e-12))


# ------------------------------------------------------------------ two on the same rows


def tango_statistic(counts: Discordant, difference: float) -> float:
    """Score statistic of a difference of paired proportions; falls as the difference rises.

    Parameters
    ----------
    counts : Discordant
        Discordant rows.
    difference : float
        Hypothesis, in (-1, 1).

    Returns
    -------
    float
        Standard normal under the hypothesis; Tango (1998), equation 26. At 0 it is McNemar's
        (b - c) / sqrt(b + c).
    """
    b, c, n = counts
    linear = -b - c + (2 * n - b + c) * difference
    constant = -c * difference * (1 - difference)
    root = np.sqrt(max(linear * linear - 8 * n * constant, 0.0))
    q = (root - linear) / (4 * n)
    variance = n * (2 * q + difference * (1 - difference))
    score = b - c - n * difference
    if variance <= 0:
        return 0.0 if score == 0 else float(np.copysign(np.inf, score))
    return float(score / np.sqrt(variance))


# Many systems on few rows have few different counts, and each takes some 200 evaluations.
@lru_cache(maxsize=4096)
def tango_limits(counts: Discordant, quantile: float) -> tuple[float, float]:
    """Limits of Tango's score interval, for a quantile of the normal."""
    if counts.second_only > counts.first_only:
        # The mirror image, so that exchanging the systems changes nothing but the sign.
        low, high = tango_limits(Discordant(counts[1], counts[0], counts.n), quantile)
        return -high, -low
    estimate = (counts.first_only - counts.second_only) / counts.n
    edge = 1 - 1e-12

    def limit(sign: float, start: float, stop: float) -> float:
        def gap(difference: float) -> float:
            # Infinite where the variance vanishes; a finite bound keeps the search going.
            return float(np.clip(tango_statistic(counts, difference), -1e6, 1e6)) - sign * quantile

        if gap(start) * gap(stop) >= 0:
            return stop if abs(gap(stop)) < abs(gap(start)) else start
        return float(brentq(gap, start, stop, xtol=1e-15, rtol=1e-14))

    low = limit(1.0, -edge, estimate)
    if counts.first_only == counts.second_only:
        return low, -low
    return low, 1.0 if estimate == 1 else limit(-1.0, estimate, edge)


@door("tango_interval")
def tango_interval(
    first_only: int, second_only: int, n: int, *, confidence_level: float = 0.95
) -> ConfidenceInterval:
    """Score interval for the difference of two proportions on the same rows.

    Use it for two accuracies on one test set with few discordant rows, on which one system alone is
    right: bootstrap intervals are unreliable below about ten of them.

    Parameters
    ----------
    first_only : int
        Rows on which only the first system is right.
    second_only : int
        Rows on which only the second system is right.
    n : int
        All rows, including those on which both are right or both wrong.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    ConfidenceInterval
        For the first proportion minus the second.

    Raises
    ------
    ValueError
        If the counts are negative or more than n, or the level is out of range.

    Notes
    -----
    The limits are the differences d at which (b - c - n d) / sqrt(n (2 q + d (1 - d))) is -/+ z,
    with q the maximum-likelihood estimate of the second discordant probability under d.

    References
    ----------
    Tango (1998), Statistics in Medicine 17, 891-908.

    Examples
    --------
    >>> from skboot.inference import tango_interval
    >>> print(f"{tango_interval(1, 7, 21):.3f}")
    -0.517 to -0.026
    """
    counts = Discordant(
        whole_number("first_only", first_only, minimum=0),
        whole_number("second_only", second_only, minimum=0),
        whole_number("n", n, minimum=0),
    )
    if sum(counts[:2]) > counts.n or counts.n == 0:
        must = "be the number of all rows, at least first_only + second_only"
        got = f"n={n!r}, first_only={first_only!r}, second_only={second_only!r}"
        raise fail("n", must, got)
    confidence_level = check_confidence_level(confidence_level)
    low, high = tango_limits(counts, float(ndtri(0.5 + confidence_level / 2)))
    return ConfidenceInterval(low, high, confidence_level, "tango")


@door("mcnemar_exact")
def mcnemar_exact(first_only: int, second_only: int) -> float:
    """Exact p-value that two systems are right equally often, from the same rows.

    Parameters
    ----------
    first_only : int
        Rows on which only the first system is right.
    second_only : int
        Rows on which only the second system is right.

    Returns
    -------
    float
        Two-sided binomial p-value of the smaller count among both, 1 without discordant rows.

    Raises
    ------
    ValueError
        If a count is negative or no integer.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157, in its exact form.

    Examples
    --------
    >>> from skboot.inference import mcnemar_exact
    >>> mcnemar_exact(2, 8)
    0.109375
    """
    first_only = whole_number("first_only", first_only, minimum=0)
    second_only = whole_number("second_only", second_only, minimum=0)
    [p] = mcnemar_p_values(np.array([first_only]), np.array([second_only]))
    return float(p)


def mcnemar_p_values(
    first_only: NDArray[np.int64],
    second_only: NDArray[np.int64],
    alternative: str = "two-sided",
) -> Floats:
    """Return exact p-values that systems are right equally often; see `mcnemar_exact`."""
    n_discordant = first_only + second_only
    fewer = {
        "two-sided": np.minimum(first_only, second_only),
        "greater": second_only,
        "less": first_only,
    }[alternative]
    tails = np.asarray(stats.binom.cdf(fewer, n_discordant, 0.5), dtype=np.float64)
    return np.minimum(2 * tails, 1.0) if alternative == "two-sided" else tails


def discordant_t(first_only: NDArray[np.int64], second_only: NDArray[np.int64], n: int) -> Floats:
    """Return sizes of the paired t statistics of right and wrong rows; NaN where none differ."""
    difference = np.abs(first_only - second_only) / n
    variance = (first_only + second_only) / n - difference**2
    with np.errstate(divide="ignore", invalid="ignore"):
        t = difference / np.sqrt(np.maximum(variance, 0.0) / (n - 1))
    # Where they differ on every row, in one direction, the number of rows is the evidence, as of a
    # sign test.
    return np.where(difference == 1, -stdtrit(n - 1, 0.5**n), t)


def whole_number(name: str, value: Any, minimum: int | None = None) -> int:
    """Accept a whole number, also as a float: ``round(accuracy * n)`` of numpy is one."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool
    )
    if is_number and value % 1 == 0 and (minimum is None or value >= minimum):
        if abs(value) < 2**53:
            return int(value)
        raise fail(name, "be below 2**53, which floats count exactly", repr(value))
    must = "be an integer" if minimum is None else f"be an integer of at least {minimum}"
    raise fail(name, must, repr(value))


# ------------------------------------------------------------------ two areas on the same rows
#
# DeLong's interval is symmetric, and near an area of 1 its standard error is smallest where the
# area came out too large, so that a worse system passes for a better one. `TwoAreas.limits` widens
# it to hold what limits of both areas on the logit scale allow (record 0090).


class TwoAreas(NamedTuple):
    """Areas of two systems on the same independent rows, and how far they may be off.

    Attributes
    ----------
    first, second : float
        Areas.
    first_error, second_error : float
        Standard errors after DeLong et al. (1988).
    error : float
        Standard error of the difference.
    correlation : float
        Correlation of both areas; 0 where one of them has no error.
    smaller_class : float
        Rows of the smaller class, at least 2; no whole number where a size is planned.
    """

    first: float
    second: float
    first_error: float
    second_error: float
    error: float
    correlation: float
    smaller_class: float

    def mirrored(self) -> TwoAreas:
        """Return the areas with the systems exchanged."""
        return TwoAreas(self.second, self.first, self.second_error, self.first_error, *self[4:])

    def as_if_equal(self) -> TwoAreas:
        """Return two areas at the mean of both whose difference is as sure as this one."""
        area = (self.first + self.second) / 2
        error = hypot(self.first_error, self.second_error) / sqrt(2)
        correlation = 1 - (self.error / error) ** 2 / 2 if error > 0 else 0.0
        return TwoAreas(area, area, error, error, self.error, correlation, self.smaller_class)

    def on_rows(self, times: float, inflation: float = 1.0) -> TwoAreas:
        """Return equal areas on so many times the rows, with so many times the variance."""
        factor = sqrt(inflation / times)
        return self._replace(
            first_error=factor * self.first_error,
            second_error=factor * self.second_error,
            error=factor * self.error,
            smaller_class=max(times * self.smaller_class, 2.0),
        )

    def limits(self, quantile: float) -> tuple[float, float]:
        """Limits of the first area minus the second, for a quantile of the normal of at least 0.

        The outer of d -/+ q s and of the limits that are recovered from those of both areas (MOVER;
        Zou & Donner 2008, Statistics in Medicine 27, 1693, equation 6, with the correlation of both
        as Zou 2007, Psychological Methods 12, 399). The limits of an area lie at
        expit(logit(a) -/+ k q s / (a (1 - a))), and their distances are divided by
        k = (1 - r^2)^(1/4): what both areas have in common cannot move them apart. q is the
        quantile of Student's t with one less than the rows of the smaller class.
        """
        q = _quantile_of_t(quantile, self.smaller_class)
        share = max(1 - self.correlation**2, 0.0) ** 0.25
        down_1, up_1 = _reach(self.first, self.first_error, q, share, self.smaller_class)
        down_2, up_2 = _reach(self.second, self.second_error, q, share, self.smaller_class)
        difference, half = self.first - self.second, q * self.error
        below = max(half, _joint(down_1, up_2, self.correlation))
        above = max(half, _joint(up_1, down_2, self.correlation))
        return max(difference - below, -1.0), min(difference + above, 1.0)


def area_limits(
    area: float, error: float, smaller_class: float, quantile: float
) -> tuple[float, float]:
    """Limits of one area on the logit scale, for a quantile of the normal of at least 0.

    Of a perfect ranking they are those of no error on the smaller class. The quantile is taken as
    in `TwoAreas.limits`.
    """
    q = _quantile_of_t(quantile, smaller_class)
    down, up = _reach(area, error, q, 1.0, smaller_class)
    return max(area - down, 0.0), min(area + up, 1.0)


def _quantile_of_t(quantile: float, smaller_class: float) -> float:
    """Quantile of Student's t at the level of a normal one; classes of one row count as of two."""
    tail = max(float(ndtr(-quantile)), _LEAST_TAIL)
    return -float(stdtrit(max(smaller_class, 2) - 1, tail))


def _reach(area: float, error: float, q: float, share: float, n: float) -> tuple[float, float]:
    """Distances from an area down and up to its limits, for a share of the quantile."""
    if not 0 < area < 1:
        # All n rows are in order, or none: the score limit of a share without any error.
        reach = (q / hypot(sqrt(n), q)) ** 2
        return (reach, 0.0) if area >= 1 else (0.0, reach)
    if share < _STRAIGHT:
        return q * error, q * error
    if area < 0.5:
        return _reach(1 - area, error, q, share, n)[::-1]
    moved, to_half = share * q * error / (area * (1 - area)), log(area / (1 - area))
    # a - expit(logit(a) - x) = a (1 - a) (1 - e^-x) / (a e^-x + 1 - a), and its mirror image.
    # Beyond 1/2 it goes on as a straight line: where it slowed down, the joint distance of two
    # correlated areas would fall, and a higher level have the shorter interval.
    down = area - 0.5 + (moved - to_half) / 4
    if moved < to_half:
        down = -area * (1 - area) * expm1(-moved) / (1 + area * expm1(-moved))
    up = -area * (1 - area) * expm1(-moved) / (1 + (1 - area) * expm1(-moved))
    return down / share, up / share


def _joint(reach_a: float, reach_b: float, correlation: float) -> float:
    """Distance that two distances in opposite directions make together."""
    return sqrt(
        max(reach_a * reach_a + reach_b * reach_b - 2 * correlation * reach_a * reach_b, 0.0)
    )


@dataclass(frozen=True, eq=False)
class AreasOfSystems:
    """Areas under ROC curves of several systems on the same independent rows.

    Attributes
    ----------
    areas : ndarray of shape (n_systems,)
    covariance : ndarray of shape (n_systems, n_systems)
        After DeLong et al. (1988); NaN with fewer than two rows of a class.
    smaller_class : int
        Rows of the smaller class.
    """

    areas: Floats
    covariance: Floats
    smaller_class: int

    def error(self, system_a: int, system_b: int) -> float:
        """Standard error of the difference of two systems."""
        return delong_error(self.covariance, system_a, system_b)

    def pair(self, system_a: int, system_b: int) -> TwoAreas | None:
        """Return two of them; None with fewer than two rows of a class."""
        if self.smaller_class < 2:
            return None
        error_a, error_b = (sqrt(float(self.covariance[k, k])) for k in (system_a, system_b))
        r = (
            float(self.covariance[system_a, system_b]) / (error_a * error_b)
            if error_a * error_b > 0
            else 0.0
        )
        return TwoAreas(
            float(self.areas[system_a]),
            float(self.areas[system_b]),
            error_a,
            error_b,
            self.error(system_a, system_b),
            min(max(r, -1.0), 1.0),
            self.smaller_class,
        )


def delong_error(covariance: Floats, a: int, b: int) -> float:
    """Standard error of a difference of two areas, from their covariance matrix."""
    variances = covariance[a, a] + covariance[b, b]
    variance = variances - 2 * covariance[a, b]
    # The difference of two systems with the same ranks is rounding.
    return 0.0 if variance <= 1e-14 * variances else float(np.sqrt(variance))
