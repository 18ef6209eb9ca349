"""Confidence intervals for one number, from its bootstrap distribution and facts about the data.

Each interval is a class under `registered`: its name and words, what it needs of the design and the
facts (`Interval.needs_before`, asked before resampling), what it needs of that which is computed
(`Interval.needs`), and its limits (`Interval.limits`) with the formula and its source. Three flags
say which part of the evidence the limits are made of: the replicates (`uses_resamples`), standard
errors of the data and of each resample (`of_standard_errors`), the metric without each unit
(`leaves_out`); Wilson's limits are made of counts and need none of them. What an interval needs is
computed. So are replicates in any case, and the rest where it costs next to nothing: a result may
be asked for another interval (`EvaluationResult.interval`), also after it was saved.
`confidence_interval` checks the needs and makes the limits. To add an interval, add a class: public
functions accept its name, summaries use its words, and tests/inference/test_interval_contract.py
holds it to the contract.

Levels are quantiles of the bootstrap distribution at ``(n_resamples + 1) * level``, interpolated
on the normal scale (Davison & Hinkley 1997, equation 5.8), as R's boot does: with 1999 resamples
the usual levels are order statistics.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtr, ndtri, stdtrit

from .._base import checks as check
from .._base.arguments import FEWEST_GROUPS_AT_LOOK, FEWEST_ROWS_AT_LOOK, Anytime
from .._base.errors import Note, say, tell
from .._base.values import equal_units, spread_of
from ._tuning import (
    DEGREES_BEYOND_CARRIERS,
    FEWEST_FREEDOM_AT_LOOK,
    RARE_ROWS_AT_LOOK,
)
from .evidence import (
    ConfidenceInterval,
    Evidence,
    Premises,
    deciding_units,
    within_range,
)
from .proportions import (
    area_limits,
    clopper_pearson_limits,
    distance_limits,
    wald_limits,
    wilson_limits,
)
from .tables import beta_limits

Floats = NDArray[np.float64]

# Share of the estimate's size below which a difference from it is rounding.
ROUNDING = 1e-14
# Share of the farther limit below which a limit of a difference differs from 0 by rounding.
_ROUNDING_OF_LIMITS = 1e-10
# Resamples above which more are not advised: their values would take minutes and gigabytes.
MOST_RESAMPLES = 10**6
# Least distance of an estimate from an end (share of the range) at which it has a logit.
_FROM_AN_END = 1e-6
# Share of the estimate's size below which the influence of a group is rounding.
_ROUNDING_OF_INFLUENCE = 1e-12
# Sum of cubed influences, the largest of which is 1, below which they show no side.
_SYMMETRIC = 1e-9
# What a caller gives for looks that may be repeated, as messages advise it.
OF_LOOKS = f"skboot.Anytime(first_look={FEWEST_ROWS_AT_LOOK})"
# Quantile of the normal beyond which no level in double precision distinguishes it from 1.
_FARTHEST = 8.0

ALTERNATIVES = ("two-sided", "greater", "less")
"""Alternative hypotheses of an interval or a p-value of a difference, in scipy's words."""

MIRRORED = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
"""Alternative of the difference with the other sign, by that of the difference."""


class Interval(ABC):
    """An interval that a caller can ask for by name.

    Attributes
    ----------
    name : str
        The name.
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
    words: str
    title = ""
    uses_resamples = True
    of_standard_errors = False
    leaves_out = False
    for_one_score = True
    for_difference = False
    no_difference = ""

    def needs_before(self, premises: Premises) -> str:
        """Return what the design or the facts lack, whatever is computed; "" where nothing."""
        return ""

    def needs(self, evidence: Evidence) -> str:
        """Return what was not computed, or is undefined; "" where the interval can be made."""
        if not self.uses_resamples or np.isnan(evidence.estimate):
            return ""
        if len(evidence.sorted_replicates) >= 2:
            return ""
        return "needs at least two resamples on which the metric is defined."

    @abstractmethod
    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[Any, Any]:
        """Return the pair of limits, of evidence that has what the interval needs."""


INTERVALS: dict[str, Interval] = {}
"""Every interval of one number, by name."""

_Class = TypeVar("_Class", bound=type[Interval])


def registered(interval: _Class) -> _Class:
    """Enter an interval in `INTERVALS`."""
    INTERVALS[interval.name] = interval()
    return interval


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
        Evidence of the score.
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
        # Names that this score has no interval by would be the next error.
        names = [name for name in INTERVALS if not problem_with(name, evidence)]
        check.check_choice("method", method, ["auto", *names])
    if not evidence.drawn.varies:
        return ConfidenceInterval(np.nan, np.nan, confidence_level, method)
    problem = problem_with(method, evidence)
    if problem:
        raise ValueError(f"The interval {method!r} {problem}")
    if np.isnan(evidence.estimate):
        return ConfidenceInterval(np.nan, np.nan, confidence_level, method)
    if alternative == "two-sided":
        low, high = INTERVALS[method].limits(evidence, confidence_level)
    else:
        low, high = limits_of(evidence, method, confidence_level, alternative)
    if 0 < high - low <= ROUNDING * abs(evidence.estimate):
        # Replicates that differ by rounding alone are one value: the interval has no width.
        low = high = evidence.estimate
    interval = ConfidenceInterval(float(low), float(high), confidence_level, method)
    return within_range(interval, evidence.facts.bounds, alternative)


def problem_before(method: str, premises: Premises) -> str:
    """Return why no resamples can give an interval by a method; as `problem_with`."""
    if premises.facts.bins is not None and method != "bins":
        return (
            "is not for a sum of distances: resamples inflate it, and their limits exclude the 0 "
            "of a calibrated system. Use interval='bins'."
        )
    return INTERVALS[method].needs_before(premises)


def problem_with(method: str, evidence: Evidence) -> str:
    """Return why evidence has no interval by a method, to be read after its name; "" if it has."""
    return problem_before(method, evidence) or INTERVALS[method].needs(evidence)


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


# ------------------------------------------------------------------ what limits are made with


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
        value = ordered[..., 0 if below < 1 else -1]
    elif abs(rank - below) < 1e-9:
        value = ordered[..., below - 1]
    else:
        lower, upper = ndtri(below / (n + 1)), ndtri((below + 1) / (n + 1))
        share = (ndtri(level) - lower) / (upper - lower)
        start, stop = ordered[..., below - 1], ordered[..., below]
        if ordered.ndim == 1 and (infinite := [float(x) for x in (start, stop) if np.isinf(x)]):
            # Pivots of groups without spread; between two values the one further out is taken.
            return min(infinite) if level < 0.5 else max(infinite)
        value = start + share * (stop - start)
    return value if value.ndim else float(value)


def too_few_resamples(n_resamples: int, level: float) -> Note:
    """Return the note that the extreme resample stands for a quantile further out.

    Parameters
    ----------
    n_resamples : int
        Resamples that have a value.
    level : float
        In [0, 1]; of the quantile.

    Returns
    -------
    Note
    """
    tail = min(level, 1 - level)
    beyond = "so little"
    advice = "No practical number of resamples is enough: use more data, or another interval."
    if tail * (MOST_RESAMPLES + 1) >= 1:
        beyond = f"{100 * tail:.3g}%"
        advice = f"Use n_resamples={math.ceil(1 / tail - 1e-6) - 1} or more."
    text = (
        f"{n_resamples} resamples are too few for a quantile with {beyond} beyond it: the most "
        f"extreme is used. {advice}"
    )
    return Note("resamples", text)


def snapped(low: Any, high: Any) -> tuple[Any, Any]:
    """Return limits that are 0 where they differ from 0 by rounding: their sign decides.

    Limits of several differences are arrays (n_differences,). An infinite limit, of a one-sided
    interval, has no rounding.
    """
    one_sided = np.isinf(low) | np.isinf(high)
    size = np.where(one_sided, 0.0, _ROUNDING_OF_LIMITS * np.maximum(abs(low), abs(high)))
    low, high = (np.where(abs(end) <= size, 0.0, end) for end in (low, high))
    return (low, high) if size.ndim else (float(low), float(high))


class SkewedT(NamedTuple):
    """An estimate that is judged by its standard error, and by how skewed the values are.

    Attributes
    ----------
    difference : float
        The estimate; mostly a mean difference.
    standard_error : float
        Standard error of the estimate.
    degrees_of_freedom : float
        Degrees of freedom of the standard error.
    acceleration : float
        Skewness of the n values by 6 sqrt(n), as of BCa; above 0 the upper limit is the farther.

    Notes
    -----
    The distribution of t about the mean of n values of skewness g differs from Student's by
    g (2 t^2 + 1) / (6 sqrt(n)) at first (Johnson 1978, Journal of the American Statistical
    Association 73:536; Hall 1992, Journal of the Royal Statistical Society B 54:221): the mean is
    too low more often than too high where large values are few. Formulas that move both limits by
    it, and equal tails of a studentized bootstrap, trust the skewness of the sample. Of few values
    it is noise, and what it takes off the other side is missing there. So the term is added on the
    side of the long tail alone.
    """

    difference: float
    standard_error: float
    degrees_of_freedom: float
    acceleration: float

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided limits; below a level of 0 they change places."""
        t = float(special.stdtrit(self.degrees_of_freedom, 0.5 + confidence_level / 2))
        # Standard errors from the estimate to a limit, rising in t.
        below, above = (
            t + max(side * self.acceleration, 0.0) * (2 * max(t, 0.0) ** 2 + 1) for side in (-1, 1)
        )
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
        over = abs(t) - tail
        without_tail = over if over < 0 else float(2 * over / (1 + np.sqrt(1 + 8 * tail * over)))
        return float(np.sign(t) * max(without_tail, 0.0))

    @property
    def p_value(self) -> float:
        """Two-sided, at most 1 - level exactly if the interval excludes 0; 1 without any spread."""
        if self.standard_error == 0:
            return 1.0
        return float(2 * special.stdtr(self.degrees_of_freedom, -abs(self.statistic)))


# ------------------------------------------------------------------ quantiles of the replicates


@registered
class Percentile(Interval):
    """Quantiles at half the error on each side (Efron & Tibshirani 1993, section 13.3)."""

    name, words = "percentile", "percentile bootstrap interval"
    for_difference = True

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[Any, Any]:
        """See `Interval.limits`."""
        tail = (1 - confidence_level) / 2
        ordered = evidence.sorted_replicates
        return quantile(ordered, tail), quantile(ordered, 1 - tail)


@registered
class Expanded(Interval):
    """Percentiles at Phi(sqrt(n / df) t_df) (Hesterberg 2015, section 3.3)."""

    name, words = "expanded", "expanded percentile bootstrap interval"
    for_difference = True

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[Any, Any]:
        """See `Interval.limits`."""
        t = stdtrit(evidence.drawn.degrees_of_freedom, (1 - confidence_level) / 2)
        tail = float(ndtr(np.sqrt(evidence.drawn.inflation) * t))
        ordered = evidence.sorted_replicates
        return quantile(ordered, tail), quantile(ordered, 1 - tail)


@registered
class TwoWay(Percentile):
    """Percentiles drawn in to the mean of the resamples, for the robust variance of two factors.

    Their distances from it are multiplied by t_df / z times the robust standard error over that of
    the resamples, but never by more than 1.
    """

    name, words = "two-way", "two-way percentile bootstrap interval"
    for_difference = True

    def needs_before(self, premises: Premises) -> str:
        """See `Interval.needs_before`."""
        if premises.has_pairs_left_out:
            return ""
        if premises.drawn.design.n_factors == 1:
            return "is for crossed groups, of shape (n_samples, 2). Use interval='expanded'."
        return (
            "needs the metric without each pair of members: a function of sums, or the area under "
            "the ROC curve, that is defined without any of them. Use interval='percentile'."
        )

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[Any, Any]:
        """See `Interval.limits`."""
        assert evidence.robust_variance is not None
        low, high = super().limits(evidence, confidence_level)
        ordered, tail = evidence.sorted_replicates, (1 - confidence_level) / 2
        centre, spread = ordered.mean(), ordered.std(ddof=1) if len(ordered) > 1 else 0.0
        robust = np.sqrt(evidence.robust_variance)
        df = evidence.drawn.degrees_of_freedom
        # The median of resamples, at a level of 0, stays where it is.
        ratio = stdtrit(df, tail) / ndtri(tail) if tail != 0.5 else 1.0
        share = min(float(ratio * robust / spread), 1.0) if spread > 0 else 1.0
        return centre + share * (low - centre), centre + share * (high - centre)


@registered
class Basic(Percentile):
    """Percentiles mirrored at the estimate (Davison & Hinkley 1997, equation 5.6)."""

    name, words = "basic", "basic bootstrap interval"
    for_difference = True

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[Any, Any]:
        """See `Interval.limits`."""
        low, high = super().limits(evidence, confidence_level)
        return 2 * evidence.estimate - high, 2 * evidence.estimate - low


# ------------------------------------------------------------------ spread of the replicates


@registered
class Normal(Interval):
    """Estimate without its bias, -/+ z standard deviations of the replicates."""

    name, words = "normal", "normal bootstrap interval"
    for_difference = True

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[Any, Any]:
        """See `Interval.limits`."""
        z = ndtri(0.5 + confidence_level / 2)
        replicates = evidence.sorted_replicates
        centre = 2 * evidence.estimate - replicates.mean(axis=-1)
        half = z * spread_of(replicates, -1)
        return centre - half, centre + half


@registered
class StudentT(Interval):
    """Estimate -/+ t_df standard deviations of the replicates, times sqrt(n / df)."""

    name, words = "t", "t interval with bootstrap standard error"
    for_difference = True

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[Any, Any]:
        """See `Interval.limits`."""
        spread = spread_of(evidence.sorted_replicates, -1) * np.sqrt(evidence.drawn.inflation)
        half = stdtrit(evidence.drawn.degrees_of_freedom, 0.5 + confidence_level / 2) * spread
        return evidence.estimate - half, evidence.estimate + half


@registered
class LogitT(StudentT):
    """Student's t interval of log(p / (1 - p)), with p the place of the estimate between both ends.

    With labels of a judge an estimate near an end counts as 1 of n + 2 from it, for n units of
    equal size; without them one at an end does not vary, and has no such interval.
    """

    name, words = "logit-t", "t interval on the logit scale"
    for_difference = False

    def needs_before(self, premises: Premises) -> str:
        """See `Interval.needs_before`."""
        if not np.isfinite(premises.facts.bounds).all():
            return "needs a metric whose smallest and largest value are known. Use 't'."
        return ""

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[Any, Any]:
        """See `Interval.limits`."""
        low, high = evidence.facts.bounds
        judged = evidence.facts.proxy_weight is not None
        nearest = 1 / (evidence.drawn.degrees_of_freedom + 3) if judged else _FROM_AN_END
        place = np.clip((evidence.estimate - low) / (high - low), nearest, 1 - nearest)
        limits = np.array(super().limits(evidence, confidence_level))
        slope = 1 / ((high - low) * place * (1 - place))
        on_logits = logit(place) + (limits - evidence.estimate) * slope
        return tuple((low + (high - low) * expit(on_logits)).tolist())


@registered
class BiasCorrected(StudentT):
    """Student's t interval about 2 t - mean t*, the estimate without its bias.

    See Davison & Hinkley (1997), 2.1.2.
    """

    name, words = "bias-corrected", "t interval about the bias-corrected estimate"
    # The biases of two systems are nearly equal.
    for_difference = False

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[Any, Any]:
        """See `Interval.limits`."""
        low, high = super().limits(evidence, confidence_level)
        bias = evidence.sorted_replicates.mean() - evidence.estimate
        return low - bias, high - bias


# ------------------------------------------------------------------ influence of the units


class _OfInfluence(Interval):
    """An interval of the influence of each unit, which functions of sums have."""

    of_standard_errors = True

    def needs_before(self, premises: Premises) -> str:
        """See `Interval.needs_before`."""
        design = premises.drawn.design
        if design.no_jackknife:
            named = design.groups_in_messages
            return f"is not defined for {named}. Use interval='percentile' or 'expanded'."
        if not premises.facts.additive:
            return (
                "needs influence values, which exist for functions of sums only. Use "
                "interval='bca'."
            )
        return ""


class _LeavingOut(Interval):
    """An interval of the metric without each unit."""

    leaves_out = True

    def needs_before(self, premises: Premises) -> str:
        """See `Interval.needs_before`."""
        design = premises.drawn.design
        if design.no_jackknife:
            return (
                f"is not defined for {design.groups_in_messages}: {design.no_jackknife}. "
                "Use interval='percentile' or 'expanded'."
            )
        return ""

    def needs(self, evidence: Evidence) -> str:
        """See `Interval.needs`."""
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
        return super().needs(evidence)


@registered
class SkewedTInterval(_OfInfluence):
    """Student's t with the first term of skewness, outwards alone; see `SkewedT`."""

    name, words = "skewed-t", "t interval that is longer on the side of the tail"
    uses_resamples = False
    no_difference = "needs influence values of the difference, which are not kept"

    def needs(self, evidence: Evidence) -> str:
        """See `Interval.needs`."""
        if evidence.standard_error is None or evidence.acceleration is None:
            return (
                "needs the standard error and the skewness of the units, which were not computed. "
                "Run again with interval='skewed-t', and without resamples= that split groups."
            )
        if np.isnan(evidence.acceleration):
            return (
                "needs the metric without each unit, and that is undefined for at least one unit. "
                "Use interval='percentile'."
            )
        return ""

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[float, float]:
        """See `Interval.limits`."""
        assert evidence.standard_error is not None
        assert evidence.acceleration is not None
        error = evidence.standard_error * np.sqrt(evidence.drawn.inflation)
        df = evidence.drawn.degrees_of_freedom
        skewed = SkewedT(evidence.estimate, error, df, evidence.acceleration)
        return skewed.interval(confidence_level)


@registered
class Studentized(_OfInfluence):
    """Bootstrap t (Efron & Tibshirani 1993, section 12.5).

    Resamples of rows whose standard error is 0 are left out, as R's boot does; pivots of groups are
    then plus or minus infinity and stay, since with few groups such resamples are many. Where the
    remaining pivots do not vary, as with two rows, Student's t takes the place of their quantiles.
    """

    name, words, title = "studentized", "bootstrap-t interval", "bootstrap-t"
    no_difference = "needs influence values of the difference on each resample, which are not kept"

    def needs(self, evidence: Evidence) -> str:
        """See `Interval.needs`."""
        if evidence.replicate_standard_errors is None or evidence.standard_error is None:
            return (
                "needs a standard error on each resample, which was not computed. Run again with "
                "interval='studentized', and without resamples= that split groups."
            )
        return super().needs(evidence)

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[float, float]:
        """See `Interval.limits`."""
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
        # The pivots of unequal groups have heavier tails, but no standard error knows their sizes.
        error = evidence.standard_error * np.sqrt(evidence.drawn.unequal)
        with np.errstate(invalid="ignore"):
            return evidence.estimate - error * low, evidence.estimate - error * high


@registered
class JackknifeInterval(_LeavingOut):
    """Student's t about the estimate without its jackknife bias, by the larger standard error.

    Quenouille (1956); rows that are drawn twice, or that are the only ones of their kind, change a
    metric otherwise than others, which resamples do not show. A difference does not have it: the
    biases of two systems are nearly equal.
    """

    name, words = "jackknife", "t interval about the jackknife's estimate"

    def needs(self, evidence: Evidence) -> str:
        """See `Interval.needs`."""
        problem = super().needs(evidence)
        if not problem and evidence.jackknife_bias is None:
            return (
                "needs the jackknife's bias, which is known for metrics that do not change in "
                "jumps. Use interval='bias-corrected'."
            )
        return problem

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[float, float]:
        """See `Interval.limits`."""
        assert evidence.jackknife_bias is not None
        bias, error = evidence.jackknife_bias
        spread = max(error, evidence.sorted_replicates.std(ddof=1))
        t = stdtrit(evidence.drawn.degrees_of_freedom, 0.5 + confidence_level / 2)
        half = t * np.sqrt(evidence.drawn.inflation) * spread
        return evidence.estimate - bias - half, evidence.estimate - bias + half


@registered
class Cosines(Interval):
    """Student's t of `skboot.inference.dependence.OverTime`.

    On the logit scale of the range of a metric that has two ends.
    """

    name, words = "ewc", "t interval from equal-weighted cosines"
    uses_resamples = False
    no_difference = "needs the influence of each row on the difference, which is not kept"

    def needs_before(self, premises: Premises) -> str:
        """See `Interval.needs_before`."""
        if not premises.drawn.design.units_are_blocks:
            return "is for rows in time. Give block_length='auto', or use interval='auto'."
        return ""

    def needs(self, evidence: Evidence) -> str:
        """See `Interval.needs`."""
        if evidence.over_time is None:
            return (
                "needs the influence of each row, which is known for functions of sums, areas "
                "under ROC curves and average precision, if they vary. Use interval='expanded'."
            )
        return ""

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[float, float]:
        """See `Interval.limits`."""
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


@registered
class BCa(_LeavingOut):
    """Bias-corrected and accelerated (Efron 1987), ties of the bias correction counted half."""

    name, words = "bca", "BCa bootstrap interval"
    for_difference = True

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[float, float]:
        """See `Interval.limits`."""
        ordered = evidence.sorted_replicates
        # Replicates that differ from the estimate by rounding alone are ties.
        rounding = 1e-10 * evidence.spread + ROUNDING * abs(evidence.estimate)
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
        beyond = np.copysign(np.inf, z)
        levels = ndtr(np.where(within, bias + z / np.where(within, stretch, 1), beyond))
        return quantile(ordered, float(levels[0])), quantile(ordered, float(levels[1]))


# ------------------------------------------------------------------ counts


class _OfProportion(Interval):
    """Limits of hits / n on the scale of a metric that is a proportion, or a function of one.

    The counts are those of `Facts.proportion`: nothing that was drawn enters.
    """

    uses_resamples = False
    no_difference = "is for a single proportion"
    share_limits: Callable[[Any, Any, float], tuple[float, float]]

    def needs_before(self, premises: Premises) -> str:
        """See `Interval.needs_before`."""
        if premises.facts.proportion is None or not premises.independent_rows:
            return (
                "needs 0/1 values of independent, unweighted, unstratified rows. "
                "Use interval='bca', or 'studentized' with groups."
            )
        return ""

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[float, float]:
        """See `Interval.limits`."""
        share = evidence.facts.proportion
        assert share is not None
        low, high = self.share_limits(share.hits, share.n, confidence_level)
        # F1 = 2 q / (1 + q) with q the Jaccard index is monotone, so the limits map.
        low, high = share.to_metric(low), share.to_metric(high)
        return (low, high) if share.sign > 0 else (high, low)


@registered
class Wald(_OfProportion):
    """The textbook's: p -/+ z standard errors at p."""

    name, words = "wald", "Wald interval"
    share_limits = staticmethod(wald_limits)


@registered
class Wilson(_OfProportion):
    """The score interval: all shares that p does not contradict (Wilson 1927)."""

    name, words = "wilson", "Wilson interval"
    share_limits = staticmethod(wilson_limits)


@registered
class ClopperPearson(_OfProportion):
    """The exact one, from tails of binomial distributions (Clopper & Pearson 1934)."""

    name, words = "clopper-pearson", "Clopper-Pearson interval"
    share_limits = staticmethod(clopper_pearson_limits)


@registered
class Beta(_OfProportion):
    """Limits of smoothed tables of right and wrong rows, in closed form (record 0116)."""

    name, words, title = "beta", "interval from Beta distributions", "Beta"
    share_limits = staticmethod(beta_limits)

    def needs_before(self, premises: Premises) -> str:
        """See `Interval.needs_before`."""
        share = premises.facts.proportion
        problem = super().needs_before(premises)
        if not problem and share is not None and not share.exact:
            return "is for proportions of a fixed number of rows. Use interval='smoothed'."
        return problem


@registered
class Smoothed(Interval):
    """Outer percentiles of tables drawn with less and with more beyond the data (record 0116)."""

    name, words = "smoothed", "interval from smoothed tables"
    for_difference = True

    def needs_before(self, premises: Premises) -> str:
        """See `Interval.needs_before`."""
        if premises.has_tables:
            return ""
        return (
            "is for functions of the table of truth and decision, on rows that are not in groups, "
            "and is drawn when it is asked for. Use interval='bca', or 'expanded' with groups."
        )

    def needs(self, evidence: Evidence) -> str:
        """Return "": it is made of tables, whose values are all defined."""
        return ""

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[Any, Any]:
        """See `Interval.limits`."""
        tail, ordered = (1 - confidence_level) / 2, evidence.sorted_smoothed
        # A perfect score is at the end of what is possible; tables with more in all cells are not.
        low, high = min(quantile(ordered, tail)), max(quantile(ordered, 1 - tail))
        return min(low, evidence.estimate), max(high, evidence.estimate)


@registered
class DeLong(Interval):
    """AUC -/+ z standard errors of DeLong et al. (1988)."""

    name, words = "delong", "DeLong interval"
    uses_resamples = False

    def needs_before(self, premises: Premises) -> str:
        """See `Interval.needs_before`."""
        if premises.facts.delong is not None and np.isnan(premises.facts.delong.standard_error):
            return "needs at least two rows of each class."
        if premises.facts.delong is None or not premises.independent_rows:
            return (
                "needs the area under the ROC curve of two classes, on independent, unweighted "
                "rows. Use interval='bca', or 'expanded' with groups."
            )
        return ""

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[float, float]:
        """See `Interval.limits`."""
        assert evidence.facts.delong is not None
        half = ndtri(0.5 + confidence_level / 2) * evidence.facts.delong.standard_error
        return evidence.estimate - half, evidence.estimate + half


@registered
class Bins(Interval):
    """Smallest and largest sum of distances of shares within their simultaneous limits.

    The limits of each bin are those of Clopper & Pearson (1934) at the level of one in all (Sidak
    1967), as a quantile of Student's t where groups were drawn.
    """

    name, words = "bins", "interval from exact limits of all bins at once"
    uses_resamples = False
    no_difference = "is made of the bins of one system"

    def needs_before(self, premises: Premises) -> str:
        """See `Interval.needs_before`."""
        if premises.facts.bins is None:
            return "is for the expected calibration error."
        if premises.drawn.kind not in ("rows", "groups", "crossed", "one population"):
            return "knows rows, groups and crossed groups alone."
        return ""

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[float, float]:
        """See `Interval.limits`."""
        assert evidence.facts.bins is not None
        single = ndtri(0.5 + confidence_level ** (1 / evidence.facts.bins.shape[1]) / 2)
        units = evidence.drawn
        if not units.design.units_are_rows:
            # Imported here, because few calls have groups and bins.
            from .multiplicity import t_quantile_of_normal

            single = t_quantile_of_normal(single, units.degrees_of_freedom, units.inflation)
        least, greatest = distance_limits(evidence.facts.bins, float(2 * ndtr(single) - 1))
        # Of a negated error the range ends at 0.
        return (-greatest, -least) if evidence.facts.bounds[1] <= 0 else (least, greatest)


# ------------------------------------------------------------------ several differences at once


@registered
class MaxT(Interval):
    """Simultaneous interval from the joint bootstrap of several differences."""

    name, words = "max-t", "simultaneous max-t bootstrap interval"
    for_one_score = False
    no_difference = "is the simultaneous interval, which adjust='max-t' gives beside the other"

    def needs(self, evidence: Evidence) -> str:
        """See `Interval.needs`."""
        if evidence.max_t is not None:
            return ""
        return "needs the joint bootstrap of several differences."

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[Any, Any]:
        """See `Interval.limits`."""
        # Imported here, as below, because few calls have several differences.
        from .multiplicity import max_t_quantile, t_quantile_of_normal

        assert evidence.max_t is not None
        standard_error, deviations = evidence.max_t
        largest, units = max_t_quantile(deviations, confidence_level), evidence.drawn
        wide = t_quantile_of_normal(largest, units.degrees_of_freedom, units.inflation)
        half = float(wide) * standard_error
        return evidence.estimate - half, evidence.estimate + half


@registered
class Simultaneous(Interval):
    """Simultaneous interval of the largest gap, over all pairs of subgroups."""

    name, words = "simultaneous", "simultaneous interval from the limits of each subgroup"
    for_one_score = False

    def needs(self, evidence: Evidence) -> str:
        """See `Interval.needs`."""
        if evidence.gap is None:
            return "needs the largest disparity between subgroups."
        return ""

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[float, float]:
        """See `Interval.limits`."""
        from .gap import SubgroupGap, gap_limits

        assert evidence.gap is not None
        gap = SubgroupGap.of_stored(evidence.gap)
        return gap_limits(gap, evidence.replicates, confidence_level)


# ------------------------------------------------------------------ score intervals of few groups
#
# Where one to three groups make all errors, many resamples hold none of them, and a studentized
# interval reaches to the end of the range. A score interval needs no resamples: it holds the values
# that the estimate does not contradict, each with the variance that it would have (Wilson 1927).
#
# * Where both ends of the range are known (accuracy, F1), a value x has variance
#   (x - low) (high - x) / n. That is Wilson's interval at an effective number of rows n.
# * Where one end is known (losses), the variance is proportional to the distance from that end.
#   Where none is, the lowest group mean stands for it, or the highest where the long tail is on
#   that side. Influences without skewness, as those of two groups, show no side: the variance is
#   constant.


class GroupVariation(NamedTuple):
    """How much a score varies over groups, and how many of them make it vary.

    Attributes
    ----------
    variance : float
        Variance of the estimate, by the infinitesimal jackknife over groups, times the inflation:
        the groups of the data vary about their own mean.
    n_carriers : float
        Groups of equal influence that would vary as much: (sum u^2)^2 / sum u^4.
    skewness : float
        Sum of the cubed influences; its sign is that of the long tail.
    """

    variance: float
    n_carriers: float
    skewness: float


def variation(evidence: Evidence) -> GroupVariation | None:
    """Return how a score varies over groups; None where influences are unknown or all are 0."""
    influence = evidence.group_influence
    if influence is None:
        return None
    largest = float(np.abs(influence).max())
    if not largest > _ROUNDING_OF_INFLUENCE * abs(evidence.estimate):
        return None
    relative = influence / largest
    return GroupVariation(
        largest**2 * float(np.sum(relative**2)) * evidence.drawn.inflation,
        deciding_units(influence),
        float(np.sum(relative**3)),
    )


def value_range(premises: Premises) -> tuple[float, float]:
    """Return the range of the metric: that of proportions for a mean of zeros and ones."""
    bounds, share = premises.facts.bounds, premises.facts.proportion
    # Values that are all 0 can be losses without a largest value as well as proportions.
    if share is None or np.all(np.isfinite(bounds)) or not share.is_mean or share.hits == 0:
        return bounds
    return share.bounds


def effective_size(evidence: Evidence, confidence_level: float) -> float:
    """Rows of Wilson's interval for a score with two known ends.

    Parameters
    ----------
    evidence : Evidence
        Evidence of a function of sums on groups.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    float
        For groups that all are perfect n_groups (z / t)^2, with t of n_groups - 1 degrees of
        freedom; unequal groups count like n_groups of equal size. Else n (z / t')^2, where n
        independent rows have the same variance and t' has two degrees more than there are groups
        that carry it; but at least as many as perfect groups give, or n if that is fewer; and at
        most m (z / t)^2, where m independent rows have the variance of any groups of these sizes.
        Rows in time are at most n (1 - r) / (1 + r), with r the correlation of consecutive rows
        (`skboot.inference.dependence.over_time`): where few rows are wrong blocks do not show that
        these stand together, but single rows do.
    """
    tail = 0.5 + confidence_level / 2
    z, most = float(ndtri(tail)), evidence.drawn.degrees_of_freedom
    shrinkage = (z / float(stdtrit(most, tail))) ** 2
    low, high = value_range(evidence)
    in_time = np.inf
    if evidence.over_time is not None and evidence.n_effective_rows is not None:
        correlation = evidence.over_time[2]
        in_time = evidence.n_effective_rows * (1 - correlation) / (1 + correlation)
    if evidence.estimate in (low, high) or evidence.group_weight is None:
        return min(evidence.drawn.n_equal * shrinkage, in_time)
    assert evidence.n_effective_rows is not None
    varies = variation(evidence)
    if varies is None:
        return evidence.n_effective_rows * shrinkage
    row_variance = (evidence.estimate - low) * (high - evidence.estimate)
    n_rows = min(row_variance / varies.variance, evidence.n_effective_rows)
    t = float(stdtrit(min(varies.n_carriers + DEGREES_BEYOND_CARRIERS, most), tail))
    n_groups = min(n_rows, equal_units(evidence.group_weight))
    n_rows = max(n_rows * (z / t) ** 2, n_groups * shrinkage)
    return min(n_rows, _rows_of_any_groups(evidence, row_variance) * shrinkage, in_time)


def _rows_of_any_groups(evidence: Evidence, row_variance: float) -> float:
    """Rows that are worth groups of these sizes, with the correlation that all groups show.

    Where the large groups happen to be alike the variance is too small, but not the correlation
    within groups (Fleiss & Cuzick 1979), to which each group counts by its rows. Of groups of equal
    size this is n / (n - 1) times the rows by their variance, for n groups.
    """
    weight, n_rows = evidence.group_weight, evidence.n_effective_rows
    assert weight is not None
    assert evidence.group_influence is not None
    assert n_rows is not None
    has_weight = weight > 0
    share = weight[has_weight] / weight.sum()
    n_groups = len(share)
    if n_rows <= n_groups:
        return n_rows
    between = n_rows * float(np.sum(evidence.group_influence[has_weight] ** 2 / share))
    correlation = np.clip((between / row_variance - n_groups) / (n_rows - n_groups), 0.0, 1.0)
    return float(n_rows / (1 + (n_rows / equal_units(share) - 1) * correlation))


def few_groups_interval(evidence: Evidence, confidence_level: float) -> ConfidenceInterval:
    """Score interval of a function of sums on groups.

    Parameters
    ----------
    evidence : Evidence
        Evidence of a score that varies over groups, or whose range is known.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    ConfidenceInterval
        "wilson" where both ends of the range are known, else "score".
    """
    low, high = value_range(evidence)
    if np.isfinite(low) and np.isfinite(high):
        n = effective_size(evidence, confidence_level)
        return wilson_on_range(evidence.estimate, (low, high), n, confidence_level)
    varies = variation(evidence)
    assert varies is not None
    # The direction away from the known or assumed end, 0 without one, and the distance from it.
    sign, distance = 0, np.inf
    if np.isfinite(low):
        sign, distance = 1, evidence.estimate - low
    elif np.isfinite(high):
        sign, distance = -1, high - evidence.estimate
    elif abs(varies.skewness) > _SYMMETRIC:
        assert evidence.group_influence is not None
        assert evidence.group_weight is not None
        has_weight = evidence.group_weight > 0
        # The influence of a group on a mean is the share of its weight times the deviation of its
        # mean.
        deviations = evidence.group_influence[has_weight] / evidence.group_weight[has_weight]
        deviations *= evidence.group_weight.sum()
        sign = -1 if varies.skewness < 0 else 1
        # Influences are centred within strata: those of a subgroup without groups in some stratum
        # can all lie on one side of 0.
        distance = max(float(np.max(-sign * deviations)), np.sqrt(varies.variance))
    freedom = min(varies.n_carriers + DEGREES_BEYOND_CARRIERS, evidence.drawn.degrees_of_freedom)
    square = float(stdtrit(freedom, 0.5 + confidence_level / 2)) ** 2
    # Roots of (distance - x)^2 = square x variance / distance.
    shift = square * varies.variance / (2 * distance)
    half = np.sqrt(square * varies.variance + shift**2)
    centre = evidence.estimate + sign * shift
    return ConfidenceInterval(centre - half, centre + half, confidence_level, "score")


def wilson_on_range(
    estimate: float, ends: tuple[float, float], n: float, confidence_level: float
) -> ConfidenceInterval:
    """Return Wilson's interval of so many rows for a score between two ends."""
    low, high = ends
    limits = wilson_limits(n * ((estimate - low) / (high - low)), n, confidence_level)
    low, high = (low + (high - low) * limit for limit in limits)
    return ConfidenceInterval(low, high, confidence_level, "wilson")


# ------------------------------------------------------------------ looks that may be repeated
#
# A fixed-sample interval at the quantile z holds at one look. At every look from the first one on
# holds the same interval at sqrt(a^2 + log(t / m)), with m units at the first look and t at this
# one (Robbins & Siegmund 1970): of a Brownian motion it is left with the probability
# 2 (1 - Phi(a) + a phi(a)), which is 5% at a = 2.7955. Limits are made about the values that the
# data do not contradict, not about the estimate: a variance at the estimate is too small just where
# the estimate is too good.


def level_at_look(evidence: Evidence, confidence_level: float) -> float:
    """Level of the fixed-sample interval that is as wide as the one which holds at every look.

    Parameters
    ----------
    evidence : Evidence
        Evidence of at least as many units as at the first look.
    confidence_level : float
        Confidence level of all looks together, of two sides; at most 0 for a side at a level below
        .5.

    Returns
    -------
    float
        Of two sides.
    """
    first_look, units = evidence.first_look, evidence.drawn
    assert first_look is not None
    say(
        "choice", f"Intervals hold at all looks at once, from {first_look} {units.design.unit}s on."
    )
    a = boundary(confidence_level)
    z = min(np.sqrt(a * a + np.log(units.n_units[0] / first_look)), _FARTHEST)
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
    alpha = 1 - max(confidence_level, 0.0)

    def too_wide(a: float) -> float:
        density = np.exp(-a * a / 2) / np.sqrt(2 * np.pi)
        return float(2 * (ndtr(-a) + a * density) - alpha)

    return float(brentq(too_wide, 0.0, 40.0, xtol=1e-13)) if alpha < 1 else 0.0


@registered
class AtEveryLook(Interval):
    """Fixed-sample interval that suits, at the level of the boundary; see `level_at_look`.

    Without counts of independent rows or areas, and without groups of a score with two ends, it is
    skewed t with the standard error by leaving out units, and its degrees of freedom. It is the
    whole range where few units carry the variation: the next ones may carry more than these.
    """

    name, words = "anytime", "interval that holds at every look"
    uses_resamples = False
    leaves_out = True

    def needs_before(self, premises: Premises) -> str:
        """Return what is missing, the plan of the looks first, then the data of this one."""
        design, facts = premises.drawn.design, premises.facts
        first_look = premises.first_look
        if first_look is None:
            return (
                "needs the number of units at the first look, which the call of trained systems "
                f"takes: interval={OF_LOOKS}. Use interval='auto'."
            )
        if design.averages_tasks or design.n_factors > 1 or design.units_are_blocks:
            return "is for independent rows and for groups. Use interval='auto'."
        if premises.drawn.n_strata > 1:
            return "is for rows and groups without strata, whose sizes grow with the data."
        is_counted = facts.proportion is not None or facts.delong is not None
        if facts.optimized or not (facts.additive or is_counted):
            return (
                "needs influence values, which exist for functions of sums and areas under ROC "
                "curves. Use interval='auto'."
            )
        # Units may be too few for a look.
        unit, n_units = design.unit, premises.drawn.n_units[0]
        least = FEWEST_ROWS_AT_LOOK if design.units_are_rows else FEWEST_GROUPS_AT_LOOK
        if first_look < least:
            return f"needs a first_look of at least {least} {unit}s, and has {first_look}."
        if n_units < first_look:
            return (
                f"holds from {first_look} {unit}s on, and there are {n_units} so far. Look again "
                "when there are more."
            )
        sizes = [facts.smaller_class, facts.delong and facts.delong.smaller_class]
        if facts.class_sizes is not None:
            sizes.append(int(facts.class_sizes.min()))
        if facts.proportion is not None and not facts.proportion.exact:
            sizes.append(facts.proportion.n)
        fewest = min((size for size in sizes if size is not None), default=RARE_ROWS_AT_LOOK)
        if fewest < RARE_ROWS_AT_LOOK:
            return (
                f"holds from {RARE_ROWS_AT_LOOK} rows of the rarer class on, and there are "
                f"{fewest} so far. Look again when there are more."
            )
        return ""

    def needs(self, evidence: Evidence) -> str:
        """See `Interval.needs`."""
        facts = evidence.facts
        is_counted = facts.proportion is not None or facts.delong is not None
        if not (is_counted and evidence.independent_rows) and evidence.jackknife_bias is None:
            return (
                "needs the metric without each unit, unless it is a share of rows. Give all rows "
                "so far to a function that takes them at once."
            )
        return ""

    def limits(self, evidence: Evidence, confidence_level: float) -> tuple[float, float]:
        """See `Interval.limits`."""
        level = level_at_look(evidence, confidence_level)
        facts, units = evidence.facts, evidence.drawn
        if facts.proportion is not None and evidence.independent_rows:
            return INTERVALS["wilson"].limits(evidence, level)
        if facts.delong is not None and evidence.independent_rows:
            negated = facts.bounds[1] <= 0
            low, high = area_limits(abs(evidence.estimate), *facts.delong, ndtri(0.5 + level / 2))
            return (-high, -low) if negated else (low, high)
        if evidence.group_influence is not None and np.all(np.isfinite(value_range(evidence))):
            low, high = few_groups_interval(evidence, level)
            return low, high
        assert evidence.jackknife_bias is not None
        assert evidence.acceleration is not None
        error, freedom = evidence.jackknife_bias.standard_error, evidence.error_freedom
        if not error > 0 or freedom is None or not freedom >= FEWEST_FREEDOM_AT_LOOK:
            say(
                "caution",
                f"Too few {units.design.unit}s carry the variation at this look: the limits "
                "are the ends of the range.",
            )
            return facts.bounds
        freedom = min(freedom, units.degrees_of_freedom)
        error *= np.sqrt(units.inflation)
        return SkewedT(evidence.estimate, error, freedom, evidence.acceleration).interval(level)


# ------------------------------------------------------------------ what the registry holds

FOR_ONE_SCORE = tuple(name for name, interval in INTERVALS.items() if interval.for_one_score)
"""Names of the intervals of one score, of which "anytime" is asked for by `Anytime`."""
FOR_ONE_LOOK = tuple(name for name in FOR_ONE_SCORE if name != "anytime")
"""Those that a caller may ask for by their name."""

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
    title = INTERVALS[name].title if name in INTERVALS else ""
    return title or next(written, name)


def canonical_interval(name: Any, also: Sequence[str] = ()) -> Any:
    """Return the name that a caller may give of an interval as tables or summaries print it.

    What no interval is called, none of these nor of those that differences have, stays as it is.
    """
    if not isinstance(name, str) or name in ("auto", *INTERVALS, *also):
        return name
    for interval in (*INTERVALS, *also):
        printed = (interval, title_of(interval), words_of(interval))
        if name.lower() in map(str.lower, printed):
            return interval
    return name


def checked_interval(
    interval: Any, names: Sequence[str], problems: Mapping[str, str] | None = None, **refused: Any
) -> str | Anytime:
    """Accept the name of an interval that is made at one look, or one that holds at every look.

    Parameters
    ----------
    interval : str or Anytime
        That is asked for.
    names : sequence of str
        What can be asked for; with "anytime" also `Anytime`.
    problems : mapping of str, optional
        Why other intervals are none of a paired difference.
    refused : dict
        Arguments, by name, for which no interval that holds at every look is known.
    """
    if isinstance(interval, str) and interval in names and interval != "anytime":
        return interval
    name = canonical_interval(interval, names)
    if problems and isinstance(name, str) and name in problems:
        must = "be one that a paired difference has"
        got = f"{name!r}, which {problems[name]}"
        raise check.fail("interval", must, got, f"Known: {[*names]}.")
    if isinstance(interval, Anytime) or interval is Anytime or check.is_among(name, ["anytime"]):
        if "anytime" not in names:
            must = "be one that holds at one look"
            advice = (
                "Looks may be repeated in bootstrap_score, compare_systems, assert_not_worse and "
                "BootstrapAccumulator."
            )
            raise check.fail("interval", must, repr(interval), advice)
        if not isinstance(interval, Anytime):
            must = "say at how many rows, or groups, you look first"
            advice = (
                f"Use interval={OF_LOOKS}, to look from {FEWEST_ROWS_AT_LOOK} rows on: fix the "
                "number before the data are seen."
            )
            raise check.fail("interval", must, repr(name), advice)
        for argument, value in refused.items():
            if value is not None:
                advice = (
                    "No interval that holds at every look is known for it: use interval='auto'."
                )
                got = repr(value) if isinstance(value, str) else type(value).__name__
                raise check.fail(argument, f"not be given with interval={interval}", got, advice)
        return interval
    return check.check_choice("interval", name, [method for method in names if method != "anytime"])


def method_of(interval: str | Anytime) -> str:
    """Return the name of the method of an interval that is asked for."""
    return "anytime" if isinstance(interval, Anytime) else interval


def first_look_of(interval: str | Anytime) -> int | None:
    """Return the number of units at the first of several looks, None where there is one look."""
    return interval.first_look if isinstance(interval, Anytime) else None
