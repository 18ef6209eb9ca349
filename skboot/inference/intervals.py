"""Confidence intervals for one number, from its bootstrap distribution and facts about the data.

Each interval is a pure function ``(evidence, confidence_level) -> (low, high)``, registered where
it stands with its needs and its words; `confidence_interval` checks the needs and calls it. To add
an interval, put a module into this folder with the function under `registered`: public functions
accept its name, summaries use its words, and tests/inference/test_interval_contract.py holds it to
the contract.

Levels are quantiles of the bootstrap distribution at ``(n_resamples + 1) * level``, interpolated
on the normal scale (Davison & Hinkley 1997, equation 5.8), as R's boot does: with 1999 resamples
the usual levels are order statistics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtr, ndtri, stdtrit

from .._base.checks import check_count, fail
from .._base.errors import say, tell
from .._base.values import spread_of
from ._tuning import (
    FEWEST_FREEDOM_AT_LOOK,
    FEWEST_GROUPS_AT_LOOK,
    FEWEST_ROWS_AT_LOOK,
    RARE_ROWS_AT_LOOK,
)
from .cautions import few_groups_interval, too_few_resamples, value_range
from .evidence import ConfidenceInterval, Evidence, within_range
from .proportions import SHARE_LIMITS, area_limits, distance_limits
from .tables import beta_limits

Floats = NDArray[np.float64]

# Share of the estimate's size below which a difference from it is rounding.
ROUNDING = 1e-14
# Share of the farther limit below which a limit of a difference differs from 0 by rounding.
_ROUNDING_OF_LIMITS = 1e-10


@dataclass(frozen=True, eq=False)
class Interval:
    """An interval that a caller can ask for by name.

    Attributes
    ----------
    name : str
        The name.
    limits : callable
        From evidence and a confidence level to the pair of limits.
    needs : callable
        From evidence to the reason why the interval cannot be made, "" where it can.
    words : str
        Name in a summary.
    title : str
        Name in a table, where ``words`` do not have it.
    uses_resamples : bool
        Whether the limits depend on the replicates; else they are made of counts, or of a standard
        error on the data.
    of_standard_errors : bool
        Whether it needs the influence of units on the data, or on each resample.
    leaves_out : bool
        Whether it needs the metric without each unit.
    for_one_score : bool
        Whether a caller may ask for it for one score; else it is one of several differences.
    for_difference : bool
        Whether a paired difference has it as well.
    no_difference : str
        Why a paired difference does not have it, to be read after its name.
    """

    name: str
    limits: Callable[[Evidence, float], tuple[Any, Any]]
    needs: Callable[[Evidence], str]
    words: str
    title: str = ""
    uses_resamples: bool = True
    of_standard_errors: bool = False
    leaves_out: bool = False
    for_one_score: bool = True
    for_difference: bool = False
    no_difference: str = ""


INTERVALS: dict[str, Interval] = {}
"""Every interval of one number, by name."""


def registered(
    name: str, words: str, needs: Callable[[Evidence], str], **facts: Any
) -> Callable[[Callable[[Evidence, float], tuple[Any, Any]]], Any]:
    """Register a function as an interval; ``facts`` are those of `Interval`."""

    def register(
        limits: Callable[[Evidence, float], tuple[Any, Any]],
    ) -> Callable[[Evidence, float], tuple[Any, Any]]:
        INTERVALS[name] = Interval(name, limits, needs, words, **facts)
        return limits

    return register


ALTERNATIVES = ("two-sided", "greater", "less")
"""What an interval or a p-value of a difference is against, in scipy's words."""

MIRRORED = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
"""The same of the difference with the other sign."""


def confidence_interval(
    evidence: Evidence,
    method: str,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
) -> ConfidenceInterval:
    """Confidence interval by the named method.

    Parameters
    ----------
    evidence : Evidence
        Of the score.
    method : str
        A key of `INTERVALS`.
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "greater", "less"}
        "greater": the lower limit alone, the upper one is infinite; "less": the reverse.

    Returns
    -------
    ConfidenceInterval
        Cut at the range of the metric. NaN limits if the metric is undefined on the data, or one
        unit was drawn.

    Raises
    ------
    ValueError
        If the method is unknown or the evidence does not support it.
    """
    if method not in INTERVALS:
        raise ValueError(
            f"The interval must be one of {sorted(INTERVALS)} or 'auto'. Got {method!r}."
        )
    if not evidence.drawn.varies:
        return ConfidenceInterval(np.nan, np.nan, confidence_level, method)
    problem = problem_with(method, evidence)
    if problem:
        raise ValueError(f"The interval {method!r} {problem}")
    if np.isnan(evidence.estimate):
        return ConfidenceInterval(np.nan, np.nan, confidence_level, method)
    low, high = limits_of(evidence, method, confidence_level, alternative)
    if 0 < high - low <= ROUNDING * abs(evidence.estimate):
        # Replicates that differ by rounding alone are one value: the interval has no width.
        low = high = evidence.estimate
    interval = ConfidenceInterval(float(low), float(high), confidence_level, method)
    return within_range(interval, evidence.facts.bounds, alternative)


def problem_with(method: str, evidence: Evidence) -> str:
    """Return why evidence has no interval by a method, to be read after its name; "" if it has."""
    if evidence.facts.bins is not None and method != "bins":
        return (
            "is not for a sum of distances: resamples inflate it, and their limits exclude the 0 "
            "of a calibrated system. Use interval='bins'."
        )
    return INTERVALS[method].needs(evidence)


def error_without_resamples(evidence: Evidence, method: str) -> float | None:
    """Return the standard error in closed form beside limits that use no resamples; else None."""
    if method not in WITHOUT_RESAMPLES or method == "bins" or np.isnan(evidence.estimate):
        return None
    facts = evidence.facts
    if method == "ewc" and evidence.over_time is not None:
        return evidence.over_time[0]
    if evidence.independent_rows and facts.proportion is not None:
        return facts.proportion.standard_error
    if evidence.independent_rows and facts.delong is not None:
        return facts.delong.standard_error
    return evidence.standard_error


def limits_of(
    evidence: Evidence, method: str, confidence_level: float, alternative: str = "two-sided"
) -> tuple[Any, Any]:
    """Limits by a method whose needs are met, of one number or of a batch of differences."""
    limits = INTERVALS[method].limits
    if alternative == "two-sided":
        return limits(evidence, confidence_level)
    # The limit of one side is that of the two-sided interval which leaves out twice as much. Below
    # a level of .5 its two limits change places, and each is still the one of its side.
    low, high = limits(evidence, 2 * confidence_level - 1)
    infinite = np.full(np.shape(low), np.inf)[()]
    return (low, infinite) if alternative == "greater" else (-infinite, high)


def quantile(ordered: Floats, level: float) -> Any:
    """Quantile at (B + 1) * level, interpolated on the normal scale.

    Parameters
    ----------
    ordered : ndarray of shape (B,) or (n_differences, B)
        Replicates in rising order; of several differences they are finite.
    level : float
        In [0, 1].

    Returns
    -------
    float or ndarray of shape (n_differences,)
        The extreme replicate, with a warning, where B is too small for the level; NaN for B < 2.
    """
    n = ordered.shape[-1]
    if n < 2:
        return np.nan
    rank = (n + 1) * level
    below = int(np.floor(rank + 1e-9))
    if below < 1 or below > n or (below == n and rank > n + 1e-9):
        tell(too_few_resamples(n, level))
        return _number_or_array(ordered[..., 0 if below < 1 else -1])
    if abs(rank - below) < 1e-9:
        return _number_or_array(ordered[..., below - 1])
    lower, upper = ndtri(below / (n + 1)), ndtri((below + 1) / (n + 1))
    share = (ndtri(level) - lower) / (upper - lower)
    start, stop = ordered[..., below - 1], ordered[..., below]
    if ordered.ndim == 1 and (infinite := [float(x) for x in (start, stop) if np.isinf(x)]):
        # Pivots of groups without spread; between two values the one further out is taken.
        return min(infinite) if level < 0.5 else max(infinite)
    return _number_or_array(start + share * (stop - start))


def _number_or_array(value: Any) -> Any:
    """Return a number as a float, and an array as it is."""
    return value if value.ndim else float(value)


def snapped(low: Any, high: Any) -> tuple[Any, Any]:
    """Return limits that are 0 where they differ from 0 by rounding: their sign decides.

    Limits of several differences are arrays (n_differences,). An infinite limit, of a one-sided
    interval, has no rounding.
    """
    one_sided = np.isinf(low) | np.isinf(high)
    size = np.where(one_sided, 0.0, _ROUNDING_OF_LIMITS * np.maximum(abs(low), abs(high)))
    low, high = (np.where(abs(end) <= size, 0.0, end) for end in (low, high))
    return _number_or_array(low), _number_or_array(high)


def needs_replicates(evidence: Evidence) -> str:
    """What an interval of replicates needs, for `registered`."""
    if np.isnan(evidence.estimate) or len(evidence.sorted_replicates) >= 2:
        return ""
    return "needs at least two resamples on which the metric is defined."


# Intervals from quantiles of the replicates.


def _needs_robust_variance(evidence: Evidence) -> str:
    if evidence.robust_variance is not None:
        return needs_replicates(evidence)
    if evidence.drawn.design.n_factors == 1:
        return "is for crossed groups, of shape (n_samples, 2). Use interval='expanded'."
    return (
        "needs the metric without each pair of members: a function of sums, or the area under the "
        "ROC curve, that is defined without any of them. Use interval='percentile'."
    )


@registered("percentile", "percentile bootstrap interval", needs_replicates, for_difference=True)
def _percentile(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    tail = (1 - confidence_level) / 2
    ordered = evidence.sorted_replicates
    return quantile(ordered, tail), quantile(ordered, 1 - tail)


@registered(
    "expanded", "expanded percentile bootstrap interval", needs_replicates, for_difference=True
)
def _expanded(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Percentiles at Phi(sqrt(n / df) t_df) (Hesterberg 2015, section 3.3)."""
    t = stdtrit(evidence.drawn.degrees_of_freedom, (1 - confidence_level) / 2)
    tail = float(ndtr(np.sqrt(evidence.drawn.inflation) * t))
    ordered = evidence.sorted_replicates
    return quantile(ordered, tail), quantile(ordered, 1 - tail)


@registered(
    "two-way",
    "two-way percentile bootstrap interval",
    _needs_robust_variance,
    for_difference=True,
)
def _two_way(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Percentiles drawn in to the mean of the resamples, for the robust variance of two factors.

    Their distances from it are multiplied by t_df / z times the robust standard error over that of
    the resamples, but never by more than 1.
    """
    assert evidence.robust_variance is not None
    low, high = _percentile(evidence, confidence_level)
    ordered, tail = evidence.sorted_replicates, (1 - confidence_level) / 2
    centre, spread = ordered.mean(), ordered.std(ddof=1) if len(ordered) > 1 else 0.0
    robust = np.sqrt(evidence.robust_variance)
    # The median of resamples, at a level of 0, stays where it is.
    ratio = stdtrit(evidence.drawn.degrees_of_freedom, tail) / ndtri(tail) if tail != 0.5 else 1.0
    share = min(float(ratio * robust / spread), 1.0) if spread > 0 else 1.0
    return centre + share * (low - centre), centre + share * (high - centre)


@registered("basic", "basic bootstrap interval", needs_replicates, for_difference=True)
def _basic(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    low, high = _percentile(evidence, confidence_level)
    return 2 * evidence.estimate - high, 2 * evidence.estimate - low


# Intervals from the spread of the replicates.


# Least distance of an estimate from an end (share of the range) at which it has a logit.
_FROM_AN_END = 1e-6


@registered("normal", "normal bootstrap interval", needs_replicates, for_difference=True)
def _normal(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Estimate without its bias, -/+ z standard deviations of the replicates."""
    z = ndtri(0.5 + confidence_level / 2)
    replicates = evidence.sorted_replicates
    centre = 2 * evidence.estimate - replicates.mean(axis=-1)
    half = z * spread_of(replicates, -1)
    return centre - half, centre + half


@registered("t", "t interval with bootstrap standard error", needs_replicates, for_difference=True)
def _t(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    spread = spread_of(evidence.sorted_replicates, -1) * np.sqrt(evidence.drawn.inflation)
    half = stdtrit(evidence.drawn.degrees_of_freedom, 0.5 + confidence_level / 2) * spread
    return evidence.estimate - half, evidence.estimate + half


def _needs_ends(evidence: Evidence) -> str:
    """Return why there is no logit; "" where there is one."""
    if not np.isfinite(evidence.facts.bounds).all():
        return "needs a metric whose smallest and largest value are known. Use 't'."
    return needs_replicates(evidence)


@registered("logit-t", "t interval on the logit scale", _needs_ends)
def _logit_t(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """As "t" of log(p / (1 - p)), with p the place of the estimate between both ends.

    With labels of a judge an estimate near an end counts as 1 of n + 2 from it, for n units of
    equal size; without them one at an end does not vary, and has no such interval.
    """
    low, high = evidence.facts.bounds
    judged = evidence.facts.proxy_weight is not None
    nearest = 1 / (evidence.drawn.degrees_of_freedom + 3) if judged else _FROM_AN_END
    place = np.clip((evidence.estimate - low) / (high - low), nearest, 1 - nearest)
    limits = np.array(_t(evidence, confidence_level))
    slope = 1 / ((high - low) * place * (1 - place))
    on_logits = logit(place) + (limits - evidence.estimate) * slope
    return tuple((low + (high - low) * expit(on_logits)).tolist())


# Not for a difference: the biases of two systems are nearly equal.
@registered("bias-corrected", "t interval about the bias-corrected estimate", needs_replicates)
def _bias_corrected(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """As "t" about 2 t - mean t*, the estimate without its bias (Davison & Hinkley 1997, 2.1.2)."""
    low, high = _t(evidence, confidence_level)
    bias = evidence.sorted_replicates.mean() - evidence.estimate
    return low - bias, high - bias


# Student's t that reaches farther on the side of the long tail.
#
# The law of t about the mean of n values of skewness g differs from Student's by g (2 t^2 + 1) /
# (6 sqrt(n)) at first (Johnson 1978, Journal of the American Statistical Association 73:536; Hall
# 1992, Journal of the Royal Statistical Society B 54:221): the mean is too low more often than too
# high where large values are few. Formulas that move both limits by it, and equal tails of a
# studentized bootstrap, trust the skewness of the sample. Of few values it is noise, and what it
# takes off the other side is missing there. So the term is added on the side of the long tail
# alone.


class SkewedT(NamedTuple):
    """An estimate that is judged by its standard error, and by how skewed the values are.

    Attributes
    ----------
    difference : float
        The estimate; mostly a mean difference.
    standard_error : float
        Of it.
    degrees_of_freedom : float
        Of the standard error.
    acceleration : float
        Skewness of the n values by 6 sqrt(n), as of BCa; above 0 the upper limit is the farther.
    """

    difference: float
    standard_error: float
    degrees_of_freedom: float
    acceleration: float

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided limits; below a level of 0 they change places."""
        t = float(special.stdtrit(self.degrees_of_freedom, 0.5 + confidence_level / 2))
        below, above = (_reach(t, max(side * self.acceleration, 0.0)) for side in (-1, 1))
        error = self.standard_error
        return self.difference - below * error, self.difference + above * error

    @property
    def statistic(self) -> float:
        """Value that Student's t would need for the same p-value; NaN without any spread."""
        if self.standard_error == 0:
            return np.nan
        t = self.difference / self.standard_error
        # The limit between the estimate and 0 counts: the lower one of an estimate above 0.
        tail = max(-np.sign(t) * self.acceleration, 0.0)
        return float(np.sign(t) * max(_without_tail(abs(t), tail), 0.0))

    @property
    def p_value(self) -> float:
        """Two-sided, at most 1 - level exactly if the interval excludes 0; 1 without any spread."""
        if self.standard_error == 0:
            return 1.0
        return float(2 * special.stdtr(self.degrees_of_freedom, -abs(self.statistic)))


def _reach(t: float, tail: float) -> float:
    """Standard errors from the estimate to a limit, rising in t."""
    return t + tail * (2 * max(t, 0.0) ** 2 + 1)


def _without_tail(reach: float, tail: float) -> float:
    """The t of a reach."""
    over = reach - tail
    return over if over < 0 else float(2 * over / (1 + np.sqrt(1 + 8 * tail * over)))


# Intervals from the influence of the units, on the data or on each resample.


def _needs_acceleration(evidence: Evidence) -> str:
    design = evidence.drawn.design
    if design.no_jackknife:
        return (
            f"is not defined for {design.groups_in_messages}: {design.no_jackknife}. "
            "Use interval='percentile' or 'expanded'."
        )
    if evidence.acceleration is None:
        return (
            "needs the jackknife, which is computed when interval is 'bca' or 'auto' "
            "chooses it. Run again with interval='bca'."
        )
    if np.isnan(evidence.acceleration):
        return (
            "needs the metric without each unit, and that is undefined for at least one unit. "
            "Use interval='percentile'."
        )
    return needs_replicates(evidence)


def _needs_left_out(evidence: Evidence) -> str:
    problem = _needs_acceleration(evidence)
    if not problem and evidence.left_out is None:
        return (
            "needs the jackknife's bias, which is known for metrics that do not change in "
            "jumps. Use interval='bias-corrected'."
        )
    return problem


def _needs_influence(evidence: Evidence) -> str:
    design = evidence.drawn.design
    if design.no_jackknife:
        named = design.groups_in_messages
        return f"is not defined for {named}. Use interval='percentile' or 'expanded'."
    if not evidence.facts.additive:
        return "needs influence values, which exist for functions of sums only. Use interval='bca'."
    return ""


def _needs_standard_errors(evidence: Evidence) -> str:
    if problem := _needs_influence(evidence):
        return problem
    if evidence.replicate_standard_errors is None or evidence.standard_error is None:
        return (
            "needs a standard error on each resample, which was not computed. Run again with "
            "interval='studentized', and without resamples= that split groups."
        )
    return needs_replicates(evidence)


def _needs_skewness(evidence: Evidence) -> str:
    if problem := _needs_influence(evidence):
        return problem
    if evidence.standard_error is None or evidence.acceleration is None:
        return (
            "needs the standard error and the skewness of the units, which were not computed. Run "
            "again with interval='skewed-t', and without resamples= that split groups."
        )
    if np.isnan(evidence.acceleration):
        return (
            "needs the metric without each unit, and that is undefined for at least one unit. "
            "Use interval='percentile'."
        )
    return ""


def _needs_time(evidence: Evidence) -> str:
    if not evidence.drawn.design.units_are_blocks:
        return "is for rows in time. Give block_length='auto', or use interval='auto'."
    if evidence.over_time is None:
        return (
            "needs the influence of each row, which is known for functions of sums, areas "
            "under ROC curves and average precision, if they vary. Use interval='expanded'."
        )
    return ""


@registered(
    "skewed-t",
    "t interval that is longer on the side of the tail",
    _needs_skewness,
    uses_resamples=False,
    of_standard_errors=True,
    no_difference="needs influence values of the difference, which are not kept",
)
def _skewed_t(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Student's t with the first term of skewness, outwards alone; see `SkewedT`."""
    assert evidence.standard_error is not None
    assert evidence.acceleration is not None
    error = evidence.standard_error * np.sqrt(evidence.drawn.inflation)
    df = evidence.drawn.degrees_of_freedom
    return SkewedT(evidence.estimate, error, df, evidence.acceleration).interval(confidence_level)


@registered(
    "studentized",
    "bootstrap-t interval",
    _needs_standard_errors,
    title="bootstrap-t",
    of_standard_errors=True,
    no_difference="needs influence values of the difference on each resample, which are not kept",
)
def _studentized(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Bootstrap t (Efron & Tibshirani 1993, section 12.5).

    Resamples of rows whose standard error is 0 are left out, as R's boot does; pivots of groups are
    then plus or minus infinity and stay, since with few groups such resamples are many. Where the
    remaining pivots do not vary, as with two rows, Student's t takes the place of their quantiles.
    """
    assert evidence.replicate_standard_errors is not None
    assert evidence.standard_error is not None
    defined = ~np.isnan(evidence.replicates)
    shift = evidence.replicates[defined] - evidence.estimate
    errors = evidence.replicate_standard_errors[defined]
    with np.errstate(divide="ignore", invalid="ignore"):
        pivots = np.where(shift == 0, 0.0, shift / errors)
    if evidence.drawn.design.units_are_rows:
        pivots = pivots[errors > 0]
        if not len(pivots) or np.ptp(pivots) == 0:
            t = stdtrit(evidence.drawn.degrees_of_freedom, 0.5 + confidence_level / 2)
            half = t * np.sqrt(evidence.drawn.inflation) * evidence.standard_error
            return evidence.estimate - half, evidence.estimate + half
    pivots = np.sort(pivots)
    tail = (1 - confidence_level) / 2
    low, high = quantile(pivots, 1 - tail), quantile(pivots, tail)
    # The pivots of unequal groups have heavier tails, but no standard error knows of their sizes.
    error = evidence.standard_error * np.sqrt(evidence.drawn.unequal)
    with np.errstate(invalid="ignore"):
        return (
            evidence.estimate - error * low,
            evidence.estimate - error * high,
        )


# Not for a difference: the biases of two systems are nearly equal.
@registered(
    "jackknife",
    "t interval about the jackknife's estimate",
    _needs_left_out,
    leaves_out=True,
)
def _jackknife(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Student's t about the estimate without its jackknife bias, by the larger standard error.

    Quenouille (1956); rows that are drawn twice, or that are the only ones of their kind, change a
    metric otherwise than others, which resamples do not show.
    """
    assert evidence.left_out is not None
    bias, error = evidence.left_out
    spread = max(error, evidence.sorted_replicates.std(ddof=1))
    quantile = stdtrit(evidence.drawn.degrees_of_freedom, 0.5 + confidence_level / 2)
    half = quantile * np.sqrt(evidence.drawn.inflation) * spread
    return evidence.estimate - bias - half, evidence.estimate - bias + half


@registered(
    "ewc",
    "t interval from equal-weighted cosines",
    _needs_time,
    uses_resamples=False,
    no_difference="needs the influence of each row on the difference, which is not kept",
)
def _cosines(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Student's t of `OverTime`; on the logit scale of the range of a metric that has two ends."""
    assert evidence.over_time is not None
    error, df, _ = evidence.over_time
    half = stdtrit(df, 0.5 + confidence_level / 2) * error
    least, greatest = evidence.facts.bounds
    extent, share = greatest - least, (evidence.estimate - least) / (greatest - least)
    if not (np.isfinite(extent) and 0 < share < 1):
        return evidence.estimate - half, evidence.estimate + half
    reach = half / (extent * share * (1 - share))
    limits = expit(np.log(share / (1 - share)) + np.array([-reach, reach]))
    return float(least + extent * limits[0]), float(least + extent * limits[1])


@registered(
    "bca", "BCa bootstrap interval", _needs_acceleration, leaves_out=True, for_difference=True
)
def _bca(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Bias-corrected and accelerated (Efron 1987), ties of the bias correction counted half."""
    ordered = evidence.sorted_replicates
    # Replicates that differ from the estimate by rounding alone are ties.
    rounding = 1e-10 * ordered.std() + ROUNDING * abs(evidence.estimate)
    below = np.searchsorted(ordered, evidence.estimate - rounding, side="left")
    up_to = np.searchsorted(ordered, evidence.estimate + rounding, side="right")
    share = (below + up_to) / (2 * len(ordered)) if len(ordered) else np.nan
    if not 0 < share < 1:
        # Every replicate lies on one side of the estimate: the bias correction is infinite.
        return INTERVALS["percentile"].limits(evidence, confidence_level)
    bias, a = ndtri(share), evidence.acceleration
    tail = (1 - confidence_level) / 2
    z = bias + ndtri([tail, 1 - tail])
    # The level tends to 0 or 1 as a z tends to 1; beyond that the formula has no meaning.
    stretch = 1 - a * z
    within = stretch > 0
    levels = ndtr(np.where(within, bias + z / np.where(within, stretch, 1), np.copysign(np.inf, z)))
    return quantile(ordered, float(levels[0])), quantile(ordered, float(levels[1]))


# Intervals of a proportion, from its counts, and of other functions of a table of counts.


def _needs_proportion(evidence: Evidence) -> str:
    if evidence.facts.proportion is None or not evidence.independent_rows:
        return (
            "needs 0/1 values of independent, unweighted, unstratified rows. "
            "Use interval='bca', or 'studentized' with groups."
        )
    return ""


def _needs_mean(evidence: Evidence) -> str:
    share = evidence.facts.proportion
    problem = _needs_proportion(evidence)
    if not problem and share is not None and not share.exact:
        return "is for proportions of a fixed number of rows. Use interval='smoothed'."
    return problem


_SINGLE = "is for a single proportion"


def _of_proportion(
    limits: Callable[[int, int, float], tuple[float, float]], evidence: Evidence, level: float
) -> tuple[float, float]:
    """Return limits of hits / n on the scale of the metric."""
    share = evidence.facts.proportion
    assert share is not None
    # F1 = 2 q / (1 + q) with q the Jaccard index is monotone, so the limits map.
    low, high = map(share.to_metric, limits(share.hits, share.n, level))
    return (low, high) if share.sign > 0 else (high, low)


for _name in ("wald", "wilson", "clopper-pearson"):
    registered(
        _name,
        f"{_name.title()} interval",
        _needs_proportion,
        uses_resamples=False,
        no_difference=_SINGLE,
    )(partial(_of_proportion, SHARE_LIMITS[_name]))


@registered(
    "beta",
    "interval from Beta distributions",
    _needs_mean,
    title="Beta",
    uses_resamples=False,
    no_difference=_SINGLE,
)
def _beta(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Limits of smoothed tables of right and wrong rows, in closed form (record 0116)."""
    return _of_proportion(beta_limits, evidence, confidence_level)


def _needs_table(evidence: Evidence) -> str:
    if evidence.smoothed is not None:
        return ""
    return (
        "is for functions of the table of truth and decision, on rows that are not in groups, and "
        "is drawn when it is asked for. Use interval='bca', or 'expanded' with groups."
    )


@registered("smoothed", "interval from smoothed tables", _needs_table, for_difference=True)
def _smoothed(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Outer percentiles of tables drawn with less and with more beyond the data (record 0116)."""
    tail, ordered = (1 - confidence_level) / 2, evidence.sorted_smoothed
    # A perfect score is at the end of what is possible, and tables with more in all cells are not.
    low, high = min(quantile(ordered, tail)), max(quantile(ordered, 1 - tail))
    return min(low, evidence.estimate), max(high, evidence.estimate)


# Intervals of other metrics than proportions that use no resamples.


def _needs_delong(evidence: Evidence) -> str:
    if evidence.facts.delong is not None and np.isnan(evidence.facts.delong.standard_error):
        return "needs at least two rows of each class."
    if evidence.facts.delong is None or not evidence.independent_rows:
        return (
            "needs the area under the ROC curve of two classes, on independent, unweighted "
            "rows. Use interval='bca', or 'expanded' with groups."
        )
    return ""


def _needs_bins(evidence: Evidence) -> str:
    if evidence.facts.bins is None:
        return "is for the expected calibration error."
    if evidence.drawn.kind not in ("rows", "groups", "crossed", "one population"):
        return "knows rows, groups and crossed groups alone."
    return ""


@registered("delong", "DeLong interval", _needs_delong, uses_resamples=False)
def _delong(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """AUC -/+ z standard errors of DeLong et al. (1988)."""
    assert evidence.facts.delong is not None
    half = ndtri(0.5 + confidence_level / 2) * evidence.facts.delong.standard_error
    return evidence.estimate - half, evidence.estimate + half


@registered(
    "bins",
    "interval from exact limits of all bins at once",
    _needs_bins,
    uses_resamples=False,
    no_difference="is made of the bins of one system",
)
def _bins(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Smallest and largest sum of distances of shares within their simultaneous limits.

    The limits of each bin are those of Clopper & Pearson (1934) at the level of one in all (Sidak
    1967), as a quantile of Student's t where groups were drawn.
    """
    assert evidence.facts.bins is not None
    single = ndtri(0.5 + confidence_level ** (1 / evidence.facts.bins.shape[1]) / 2)
    if not evidence.drawn.design.units_are_rows:
        # Imported here, because few calls have groups and bins.
        from .multiplicity import t_quantile_of_normal

        single = t_quantile_of_normal(
            single, evidence.drawn.degrees_of_freedom, evidence.drawn.inflation
        )
    least, greatest = distance_limits(evidence.facts.bins, float(2 * ndtr(single) - 1))
    # Of a negated error the range ends at 0.
    return (-greatest, -least) if evidence.facts.bounds[1] <= 0 else (least, greatest)


# Intervals of one of several differences, which hold for all of them at once.


def _needs_max_t(evidence: Evidence) -> str:
    if evidence.max_t is None:
        return "needs the joint bootstrap of several differences."
    return ""


def _needs_gap(evidence: Evidence) -> str:
    if evidence.gap is None:
        return "needs the largest disparity between subgroups."
    return ""


@registered(
    "max-t",
    "simultaneous max-t bootstrap interval",
    _needs_max_t,
    for_one_score=False,
    no_difference="is the simultaneous interval, which adjust='max-t' gives beside the other",
)
def _max_t(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Simultaneous interval from the joint bootstrap of several differences."""
    # Imported here, as below, because few calls have several differences.
    from .multiplicity import max_t_quantile, t_quantile_of_normal

    assert evidence.max_t is not None
    standard_error, deviations = evidence.max_t
    largest = max_t_quantile(deviations, confidence_level)
    wide = t_quantile_of_normal(
        largest, evidence.drawn.degrees_of_freedom, evidence.drawn.inflation
    )
    half = float(wide) * standard_error
    return evidence.estimate - half, evidence.estimate + half


@registered(
    "simultaneous",
    "simultaneous interval from the limits of each subgroup",
    _needs_gap,
    for_one_score=False,
)
def _simultaneous(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Simultaneous interval of the largest gap, over all pairs of subgroups."""
    from .gap import SubgroupGap, gap_limits

    assert evidence.gap is not None
    return gap_limits(SubgroupGap.of_stored(evidence.gap), evidence.replicates, confidence_level)


# Looks that may be repeated: how far an interval must reach to hold at all of them at once.
#
# A fixed-sample interval at the quantile z holds at one look. At every look from the first one on
# holds the same interval at sqrt(a^2 + log(t / m)), with m units at the first look and t at this
# one
# (Robbins & Siegmund 1970): of a Brownian motion it is left with the probability 2 (1 - Phi(a) + a
# phi(a)), which is 5 % at a = 2.7955. Limits are made about the values that the data do not
# contradict, not about the estimate: a variance at the estimate is too small just where the
# estimate
# is too good.


# Quantile of the normal beyond which no level in double precision tells it from 1.
_FARTHEST = 8.0


def checked_first_look(interval: Any, first_look: Any, **refused: Any) -> int | None:
    """Accept a number of units with the interval "anytime", and None with all others.

    Parameters
    ----------
    interval : str
        That is asked for.
    first_look : int or None
        Units at the first look.
    **refused : optional
        Arguments that this interval does not have, by name: None or False where not given.

    Returns
    -------
    int or None
    """
    if interval != "anytime":
        if first_look is None:
            return None
        must = f"be None with interval={interval!r}"
        advice = "It is for looks that may be repeated: interval='anytime'."
        raise fail("first_look", must, repr(first_look), advice)
    if first_look is None:
        must = "be the number of rows, or groups, at the first look with interval='anytime'"
        advice = (
            "Fix it before the data are seen: the interval is narrowest there, and does not hold "
            f"before it. Use first_look={FEWEST_ROWS_AT_LOOK} to look from {FEWEST_ROWS_AT_LOOK} "
            "rows on."
        )
        raise fail("first_look", must, "None", advice)
    for name, value in refused.items():
        if value is not None and value is not False:
            advice = "No interval that holds at every look is known for it: use interval='auto'."
            got = repr(value) if isinstance(value, str) else type(value).__name__
            raise fail(name, "not be given with interval='anytime'", got, advice)
    return check_count("first_look", first_look, FEWEST_GROUPS_AT_LOOK)


def least_units(evidence: Evidence) -> int:
    """Return the fewest rows, or groups, at which an interval may be looked at."""
    return FEWEST_ROWS_AT_LOOK if evidence.drawn.design.units_are_rows else FEWEST_GROUPS_AT_LOOK


def level_at_look(evidence: Evidence, confidence_level: float) -> float:
    """Level of the fixed-sample interval that is as wide as the one which holds at every look.

    Parameters
    ----------
    evidence : Evidence
        Of at least as many units as at the first look.
    confidence_level : float
        Of all looks together, of two sides; at most 0 for a side at a level below .5.

    Returns
    -------
    float
        Of two sides.
    """
    first, drawn = evidence.first_look, evidence.drawn
    assert first is not None
    say("choice", f"Intervals hold at all looks at once, from {first} {drawn.design.unit}s on.")
    a = boundary(confidence_level)
    z = min(np.sqrt(a * a + np.log(drawn.n_units[0] / first)), _FARTHEST)
    return float(1 - 2 * ndtr(-z))


# A call has one level, and a study many limits at it.
@lru_cache(maxsize=64)
def boundary(confidence_level: float) -> float:
    """Quantile at the first look: a of 2 (1 - Phi(a) + a phi(a)) = 1 - level.

    Parameters
    ----------
    confidence_level : float
        Below 1; 0 for one that is smaller.

    Returns
    -------
    float
    """
    rest = 1 - max(confidence_level, 0.0)

    def too_wide(a: float) -> float:
        density = np.exp(-a * a / 2) / np.sqrt(2 * np.pi)
        return float(2 * (ndtr(-a) + a * density) - rest)

    return float(brentq(too_wide, 0.0, 40.0, xtol=1e-13)) if rest < 1 else 0.0


# The interval that holds at every look at growing data.


def _needs_looks(evidence: Evidence) -> str:
    """Return what is missing, the plan of the looks first, then the data of this one."""
    design, facts = evidence.drawn.design, evidence.facts
    if evidence.first_look is None:
        return (
            "needs first_look=, the number of units at the first look, which functions of frozen "
            "systems take. Use interval='auto'."
        )
    if design.averages_tasks or design.n_factors > 1 or design.units_are_blocks:
        return "is for independent rows and for groups. Use interval='auto'."
    if evidence.drawn.n_strata > 1:
        return "is for rows and groups without strata, whose sizes grow with the data."
    if facts.optimized or not (
        facts.additive or facts.proportion is not None or facts.delong is not None
    ):
        return (
            "needs influence values, which exist for functions of sums and areas under ROC curves. "
            "Use interval='auto'."
        )
    if problem := _too_few(evidence):
        return problem
    if not _is_closed(evidence) and evidence.left_out is None:
        return (
            "needs the metric without each unit, unless it is a share of rows. Give all rows so "
            "far to a function that takes them at once."
        )
    return ""


def _too_few(evidence: Evidence) -> str:
    """Return which units are too few for a look."""
    unit, n_units = evidence.drawn.design.unit, evidence.drawn.n_units[0]
    first, least = evidence.first_look, least_units(evidence)
    assert first is not None
    if first < least:
        return f"needs a first_look of at least {least} {unit}s, and has {first}."
    if n_units < first:
        return (
            f"holds from {first} {unit}s on, and there are {n_units} so far. Look again when there "
            "are more."
        )
    facts = evidence.facts
    few = [facts.smaller_class, facts.delong and facts.delong.smaller_class]
    if facts.class_sizes is not None:
        few.append(int(facts.class_sizes.min()))
    if facts.proportion is not None and not facts.proportion.exact:
        few.append(facts.proportion.n)
    fewest = min((size for size in few if size is not None), default=RARE_ROWS_AT_LOOK)
    if fewest < RARE_ROWS_AT_LOOK:
        return (
            f"holds from {RARE_ROWS_AT_LOOK} rows of the rarer class on, and there are {fewest} so "
            "far. Look again when there are more."
        )
    return ""


def _is_closed(evidence: Evidence) -> bool:
    """Return whether counts of independent rows, or areas of them, have a closed form."""
    known = evidence.facts.proportion is not None or evidence.facts.delong is not None
    return known and evidence.independent_rows


@registered(
    "anytime",
    "interval that holds at every look",
    _needs_looks,
    uses_resamples=False,
    leaves_out=True,
)
def _anytime(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Fixed-sample interval that suits, at the level of the boundary; see `level_at_look`."""
    level = level_at_look(evidence, confidence_level)
    facts = evidence.facts
    if facts.proportion is not None and evidence.independent_rows:
        return INTERVALS["wilson"].limits(evidence, level)
    if facts.delong is not None and evidence.independent_rows:
        negated = facts.bounds[1] <= 0
        low, high = area_limits(abs(evidence.estimate), *facts.delong, ndtri(0.5 + level / 2))
        return (-high, -low) if negated else (low, high)
    if evidence.group_influence is not None and np.all(np.isfinite(value_range(evidence))):
        low, high = few_groups_interval(evidence, level)
        return low, high
    return _by_influence(evidence, level)


def _by_influence(evidence: Evidence, level: float) -> tuple[float, float]:
    """Skewed t with the standard error by leaving out units, and its degrees of freedom.

    The whole range where few units carry the variation: the next ones may carry more than these.
    """
    assert evidence.left_out is not None
    assert evidence.acceleration is not None
    error, freedom = evidence.left_out[1], evidence.error_freedom
    if not error > 0 or freedom is None or not freedom >= FEWEST_FREEDOM_AT_LOOK:
        say(
            "caution",
            f"Too few {evidence.drawn.design.unit}s carry the variation at this look: the limits "
            "are the ends of the range.",
        )
        return evidence.facts.bounds
    drawn = evidence.drawn
    freedom = min(freedom, drawn.degrees_of_freedom)
    error *= np.sqrt(drawn.inflation)
    return SkewedT(evidence.estimate, error, freedom, evidence.acceleration).interval(level)


# ------------------------------------------------------------------ what the registry holds

FOR_ONE_SCORE = tuple(name for name, interval in INTERVALS.items() if interval.for_one_score)
"""Names that a caller may ask for, for one score."""

WITHOUT_RESAMPLES = frozenset(
    {"score"} | {name for name, interval in INTERVALS.items() if not interval.uses_resamples}
)
"""Intervals that would be the same with other resamples; "score" is that of few groups."""


OF_STANDARD_ERRORS = frozenset(
    name for name, interval in INTERVALS.items() if interval.of_standard_errors
)
"""Intervals that need standard errors by the influence of the units."""

LEAVING_OUT = frozenset(name for name, interval in INTERVALS.items() if interval.leaves_out)
"""Intervals that need the metric without each unit."""


def words_of(name: str) -> str:
    """Return the name of an interval in a summary."""
    return INTERVALS[name].words if name in INTERVALS else f"{name} interval"


def title_of(name: str, words: str | None = None) -> str:
    """Return the name of an interval as papers print it, such as "BCa", from its words."""
    words = words_of(name) if words is None else words
    written = (word for word in re.findall(r"[\w-]+", words) if word.lower() == name)
    known = INTERVALS[name].title if name in INTERVALS else ""
    return known or next(written, name)


def interval_named(name: Any, also: Sequence[str] = ()) -> Any:
    """Return the name that a caller may give of an interval as tables or summaries print it.

    What no interval is called, none of these nor of those that differences have, stays as it is.
    """
    if not isinstance(name, str) or name in ("auto", *INTERVALS, *also):
        return name
    for own in (*INTERVALS, *also):
        printed = (own, title_of(own), words_of(own))
        if name.lower() in map(str.lower, printed):
            return own
    return name
