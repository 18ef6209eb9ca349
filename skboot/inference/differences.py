"""Differences of two systems: intervals, with p-values that agree with them.

A p-value here is the smallest 1 - level whose interval of the same method excludes 0, so the two
never disagree. `difference_interval` and `p_value` are of any metric, from the bootstrap of the
difference or, by `CLOSED_FORM`, without resamples; `delong_test` is of two areas under ROC curves,
`outcome_of` and `detectable_margin` are what a verdict is made of. Several differences at once are
in `skboot.inference.multiplicity`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special
from scipy.special import ndtr, ndtri, stdtr

from .._base.checks import check_column, check_same_length, fail
from .._base.doors import door
from .._base.errors import collected
from .._base.values import spread_of
from ..metrics.ranking import delong_covariance
from ._tuning import FEW_DISCORDANT, FEW_EVENTS
from .evidence import ConfidenceInterval, DrawnUnits, Evidence
from .intervals import (
    INTERVALS,
    confidence_interval,
    level_at_look,
    limits_of,
    snapped,
    words_of,
)
from .proportions import (
    Discordant,
    TwoAreas,
    TwoProportions,
    delong_error,
    newcombe_limits,
    quantile_at_zero,
    tango_limits,
    tango_statistic,
)

Floats = NDArray[np.float64]

TAILS = ("percentile", "expanded", "basic", "normal", "t")
"""Intervals of which it is known in closed form where a limit reaches 0, also of a batch."""

# Degrees of freedom below which Student's t quantiles do not add up, and the noncentral
# distribution is used: at 10 the two differ by less than 1%.
FEW_DEGREES = 10.0
# Probability with which a detectable margin passes if both are equal.
POWER = 0.8
# Quantile beyond which scipy's noncentral distribution loses its digits, and an asymptotic form,
# which is right to 1% there, takes its place.
_FAR_QUANTILE = 30.0


# ------------------------------------------------------------------ p-values of an interval
#
# The smallest 1 - level whose interval excludes 0. `smallest_excluding_zero` finds it for any
# interval by bisection. Where the limits are quantiles of the replicates, or an estimate with a
# multiple of its standard error, `TAILS` gives the tail area at which a limit reaches 0 in closed
# form. Both take one difference or, in closed form, a batch of them: an `Evidence` whose estimate
# is an array (n_differences,) and whose replicates are (n_differences, n_resamples).


def p_of_interval(
    evidence: Evidence, method: str, confidence_level: float, alternative: str = "two-sided"
) -> Any:
    """Smallest 1 - level whose interval excludes 0, at least what the resamples resolve.

    Parameters
    ----------
    evidence : Evidence
        With at least two resamples that are defined; a batch of differences for methods in `TAILS`.
    method : str
        A key of `skboot.inference.intervals.INTERVALS` that uses resamples.
    confidence_level : float
        Confidence level of the interval that is shown: the p-value is at most 1 - level exactly if
        it excludes 0. So it is at 95%.
    alternative : {"two-sided", "greater", "less"}

    Returns
    -------
    float or ndarray of shape (n_differences,)
        At least 2 / (n_resamples + 1), or half of it for one side.
    """
    sides = 2 if alternative == "two-sided" else 1
    floor = sides / (evidence.sorted_replicates.shape[-1] + 1)
    if method not in TAILS and method != "smoothed":
        return smallest_excluding_zero(evidence, method, floor, confidence_level, alternative)
    below, above = _tails_of_zero(evidence, method)
    tail = {"two-sided": np.minimum(below, above), "greater": below, "less": above}[alternative]
    p = np.clip(sides * tail, floor, 1.0)
    for level in dict.fromkeys((0.95, confidence_level)):
        alpha = round(1 - level, 12)
        if floor <= alpha < 1:
            # Rounding cannot put the number on the wrong side of these two.
            excludes = _excludes_zero(evidence, method, level, alternative)
            corrected = np.where(excludes, alpha, np.nextafter(alpha, 1.0))
            p = np.where(excludes == (p <= alpha), p, corrected)
    return p if p.ndim else float(p)


def _excludes_zero(evidence: Evidence, method: str, level: float, alternative: str) -> Any:
    low, high = snapped(*limits_of(evidence, method, level, alternative))
    return (low > 0) | (high < 0)


def smallest_excluding_zero(
    evidence: Evidence,
    method: str,
    floor: float,
    confidence_level: float,
    alternative: str = "two-sided",
) -> float:
    """Return the smallest 1 - level, at least ``floor``, whose interval excludes 0.

    The shown level and 95% are tried first, so that rounding cannot put the number on their wrong
    side.
    """

    def excludes(level: float) -> bool:
        return bool(_excludes_zero(evidence, method, level, alternative))

    if excludes(1 - floor):
        return floor
    holding, excluding = floor, 1.0
    for level in (0.95, confidence_level):
        alpha = round(1 - level, 12)
        if holding < alpha < excluding:
            holding, excluding = (holding, alpha) if excludes(level) else (alpha, excluding)
    if excluding == 1.0 and not excludes(1e-9):
        return 1.0
    for _ in range(34):
        middle = (holding + excluding) / 2
        if excludes(1 - middle):
            excluding = middle
        else:
            holding = middle
    return excluding


# ------------------------------------------------------------------ closed forms


def _levels_of_zero(ordered: Floats) -> tuple[Floats, Floats]:
    """Level above which the quantile of sorted values is above 0, and that of the upper one below.

    See `skboot.inference.intervals.quantile`. The second is the first of the values with the other
    sign, without a copy of all of them.
    """
    n, levels = ordered.shape[-1], []
    for rising, sign in ((ordered, 1), (ordered[..., ::-1], -1)):
        n_below = np.count_nonzero(rising <= 0 if sign > 0 else rising >= 0, axis=-1)
        between = np.clip(n_below, 1, n - 1)
        lines = tuple(np.indices(between.shape, sparse=True))
        start, stop = sign * rising[*lines, between - 1], sign * rising[*lines, between]
        lower, upper = ndtri(between / (n + 1)), ndtri((between + 1) / (n + 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            level = ndtr(lower - start / (stop - start) * (upper - lower))
        # The extreme value stands for all levels beyond it.
        levels.append(np.where(n_below == 0, 0.0, np.where(n_below == n, 1.0, level)))
    return levels[0], levels[1]


def _tails_of_zero(evidence: Evidence, method: str) -> tuple[Any, Any]:
    """Tail areas at which the lower limit reaches 0 from below, and the upper one from above."""
    units, estimate = evidence.drawn, evidence.estimate
    if method == "smoothed":
        # The outer one of both draws, and of the estimate.
        below, above = (tail.max() for tail in _levels_of_zero(evidence.sorted_smoothed))
        return 1.0 if estimate <= 0 else below, 1.0 if estimate >= 0 else above
    replicates, df = evidence.sorted_replicates, units.degrees_of_freedom
    if method in ("normal", "t"):
        value, error = estimate, spread_of(replicates, -1)
        if method == "normal":
            value = 2 * estimate - replicates.mean(axis=-1)
        else:
            error = error * np.sqrt(units.inflation)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Of a value of 0 without error it is 0.
            t = np.where(np.equal(value, 0), 0.0, np.divide(value, error))
        return (ndtr(-t), ndtr(t)) if method == "normal" else (stdtr(df, -t), stdtr(df, t))
    if method == "basic":
        replicates = 2 * np.expand_dims(estimate, -1) - replicates[..., ::-1]
    below, above = _levels_of_zero(replicates)
    if method == "expanded":
        stretch = np.sqrt(units.inflation)
        return stdtr(df, ndtri(below) / stretch), stdtr(df, ndtri(above) / stretch)
    return below, above


@dataclass(frozen=True, eq=False)
class Difference:
    """Evidence of the difference of two systems.

    Attributes
    ----------
    evidence : Evidence
        Evidence of the first minus the second: estimate, replicates, design.
    discordant : Discordant or None
        For means of 0/1 values of independent rows.
    identical : bool
        Whether both systems predict the same on every row.
    proportions : TwoProportions or None
        For means of 0/1 values of independent rows, of each system its own.
    areas : TwoAreas or None
        For areas under ROC curves on the same independent rows.
    """

    evidence: Evidence
    discordant: Discordant | None = None
    identical: bool = False
    proportions: TwoProportions | None = None
    areas: TwoAreas | None = None

    @property
    def closed_error(self) -> float:
        """Standard error in closed form, which stands beside intervals that use no resamples."""
        for counted in (self.discordant, self.proportions):
            if counted is not None:
                return counted.standard_error
        if self.areas is not None:
            return self.areas.error
        area = self.evidence.facts.delong
        return np.nan if area is None else area.standard_error

    @property
    def varies(self) -> bool:
        """Whether two resamples gave different differences."""
        ordered = self.evidence.sorted_replicates
        return len(ordered) > 1 and bool(ordered[0] < ordered[-1])


# ------------------------------------------------------------------ areas under ROC curves


class DelongTest(NamedTuple):
    """Paired test of two areas under ROC curves.

    Attributes
    ----------
    difference : float
        First area minus second.
    standard_error : float
        Standard error of the difference.
    z : float
        Difference by standard error; 0 where both are 0.
    p_value : float
        Two-sided, from the normal distribution.

    Examples
    --------
    >>> from skboot.inference import delong_test
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> test = delong_test(y, [0.1, 0.4, 0.35, 0.8, 0.7, 0.9], [0.3, 0.1, 0.6, 0.5, 0.7, 0.2])
    >>> round(test.difference, 3), round(test.standard_error, 3)
    (0.333, 0.272)
    """

    difference: float
    standard_error: float
    z: float
    p_value: float


@door("delong_test")
def delong_test(y_positive: ArrayLike, first: ArrayLike, second: ArrayLike) -> DelongTest:
    """Test whether two systems have the same area under the ROC curve, on the same rows.

    Parameters
    ----------
    y_positive : array-like of shape (n_samples,)
        Which rows are positive: booleans, or 0 and 1.
    first : array-like of shape (n_samples,)
        Scores of the first system, larger for the positive class.
    second : array-like of shape (n_samples,)
        Scores of the second.

    Returns
    -------
    DelongTest
        NaN with fewer than two rows of either class.

    Raises
    ------
    ValueError
        For arguments that cannot be right; the message says what to do.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44, 837-845.

    Examples
    --------
    >>> from skboot.inference import delong_test
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> test = delong_test(y, [0.1, 0.4, 0.35, 0.8, 0.7, 0.9], [0.3, 0.1, 0.6, 0.5, 0.7, 0.2])
    >>> round(test.difference, 3), round(test.p_value, 3)
    (0.333, 0.221)
    """
    positive = check_column("y_positive", y_positive)
    if positive.dtype.kind not in "biuf" or not np.isin(positive, (0, 1)).all():
        got = f"values such as {positive[:3].tolist()}"
        advice = "Make them from labels by y_true == label."
        raise fail("y_positive", "be booleans, or 0 and 1", got, advice)
    columns = {"first": check_column("first", first)}
    columns["second"] = check_column("second", second)
    for name, column in columns.items():
        if column.dtype.kind not in "biuf":
            raise fail(name, "hold numbers", f"an array of {column.dtype}")
    check_same_length(y_positive=positive, **columns)
    areas, covariance = delong_covariance(positive == 1, np.stack(list(columns.values())))
    difference = float(areas[0] - areas[1])
    error = delong_error(covariance, 0, 1)
    if error == 0:
        z = 0.0 if difference == 0 else float(np.copysign(np.inf, difference))
    else:
        z = difference / error
    return DelongTest(difference, error, z, 2 * float(ndtr(-abs(z))))


# ------------------------------------------------------------------ any difference


def planned_difference_method(
    units: DrawnUnits,
    discordant: Discordant | None = None,
    proportions: TwoProportions | None = None,
    areas: TwoAreas | None = None,
) -> str:
    """Return the method that "auto" takes: "expanded", but for areas and where few units decide.

    "tango" under ten discordant rows, "newcombe" under ten hits or misses on rows of their own,
    "logit-delong" for areas under ROC curves, "t" of others under ten units, or as few that differ.
    """
    if areas is not None:
        return "logit-delong"
    if discordant is not None and sum(discordant[:2]) < FEW_DISCORDANT:
        return "tango"
    if proportions is not None and proportions.fewest_events < FEW_EVENTS:
        return "newcombe"
    return "t" if units.are_few else "expanded"


def automatic_method(difference: Difference) -> str:
    """Method that "auto" takes, given the resamples.

    Parameters
    ----------
    difference : Difference
        With replicates.

    Returns
    -------
    str
        "tango" as well where right and wrong rows are known but the resamples do not vary, and
        "smoothed" where few rows of a table decide.
    """
    if difference.discordant is not None and not difference.varies:
        return "tango"
    units = difference.evidence.drawn
    method = planned_difference_method(
        units, difference.discordant, difference.proportions, difference.areas
    )
    is_smoothed = difference.evidence.smoothed is not None and method not in CLOSED_FORM
    return "smoothed" if is_smoothed else method


def score_interval(
    limits: Callable[[float], tuple[float, float]], confidence_level: float, alternative: str
) -> tuple[float, float]:
    """Limits that are known for any positive quantile of the normal, of two sides or of one."""
    if alternative == "two-sided":
        return limits(float(ndtri(0.5 + confidence_level / 2)))
    quantile = float(ndtri(confidence_level))
    low, high = limits(abs(quantile))
    # Below a level of .5 the limit lies on the other side of the estimate.
    low, high = (low, high) if quantile >= 0 else (high, low)
    return (low, np.inf) if alternative == "greater" else (-np.inf, high)


def normal_p_value(z: float, alternative: str) -> float:
    """P-value of a statistic that is standard normal where there is no difference."""
    tail = {"two-sided": -abs(z), "greater": -z, "less": z}[alternative]
    return float(ndtr(tail)) * (2 if alternative == "two-sided" else 1)


class ClosedForm(ABC):
    """An interval of a difference that uses no resamples, and its p-value.

    Attributes
    ----------
    words : str
        Name in a summary.
    """

    words: str

    @abstractmethod
    def interval(
        self, difference: Difference, confidence_level: float, alternative: str
    ) -> ConfidenceInterval:
        """Return the interval; NaN limits where what it is made of is unknown."""

    @abstractmethod
    def p_value(self, difference: Difference, alternative: str) -> float:
        """Return the smallest 1 - level whose interval excludes 0; NaN where there is none."""


class Tango(ClosedForm):
    """All differences of proportions that the discordant rows do not contradict (Tango 1998)."""

    words = "Tango's score interval"

    def interval(
        self, difference: Difference, confidence_level: float, alternative: str
    ) -> ConfidenceInterval:
        """See `ClosedForm.interval`."""
        if difference.discordant is None:
            raise ValueError(
                "The interval 'tango' needs 0/1 values (right or wrong) of independent, "
                "unweighted, unstratified rows. Use interval='expanded'."
            )
        limits = partial(tango_limits, difference.discordant)
        low, high = score_interval(limits, confidence_level, alternative)
        return ConfidenceInterval(low, high, confidence_level, "tango")

    def p_value(self, difference: Difference, alternative: str) -> float:
        """Return the p-value of Tango's statistic at 0, which is McNemar's."""
        assert difference.discordant is not None
        return normal_p_value(tango_statistic(difference.discordant, 0.0), alternative)


class DeLongDifference(ClosedForm):
    """Difference of two areas -/+ z standard errors of DeLong et al. (1988)."""

    words = "DeLong's interval of the paired difference"

    def interval(
        self, difference: Difference, confidence_level: float, alternative: str
    ) -> ConfidenceInterval:
        """See `ClosedForm.interval`."""
        evidence = difference.evidence
        return _snap_to_zero(confidence_interval(evidence, "delong", confidence_level, alternative))

    def p_value(self, difference: Difference, alternative: str) -> float:
        """Return the p-value of DeLong's test; NaN without a standard error."""
        evidence = difference.evidence
        assert evidence.facts.delong is not None
        error = evidence.facts.delong.standard_error
        if np.isnan(error):
            return np.nan
        if error == 0:
            z = 0.0 if evidence.estimate == 0 else float(np.copysign(np.inf, evidence.estimate))
            return 1.0 if z == 0 else normal_p_value(z, alternative)
        return normal_p_value(evidence.estimate / error, alternative)


class LogitDeLong(ClosedForm):
    """DeLong's, widened by limits of both areas on the logit scale; see `TwoAreas.limits`."""

    words = "logit-DeLong interval of the paired difference"

    def interval(
        self, difference: Difference, confidence_level: float, alternative: str
    ) -> ConfidenceInterval:
        """See `ClosedForm.interval`."""
        if difference.areas is None:
            return ConfidenceInterval(np.nan, np.nan, confidence_level, "logit-delong")
        limits = score_interval(difference.areas.limits, confidence_level, alternative)
        return ConfidenceInterval(*snapped(*limits), confidence_level, "logit-delong")

    def p_value(self, difference: Difference, alternative: str) -> float:
        """See `ClosedForm.p_value`."""
        if difference.areas is None:
            return np.nan
        return normal_p_value(quantile_at_zero(difference.areas.limits), alternative)


class Newcombe(ClosedForm):
    """Difference of independent proportions by the score limits of each (Newcombe 1998)."""

    words = "Newcombe's interval of independent proportions"

    def interval(
        self, difference: Difference, confidence_level: float, alternative: str
    ) -> ConfidenceInterval:
        """See `ClosedForm.interval`."""
        assert difference.proportions is not None
        limits = partial(newcombe_limits, difference.proportions)
        low, high = score_interval(limits, confidence_level, alternative)
        return ConfidenceInterval(low, high, confidence_level, "newcombe")

    def p_value(self, difference: Difference, alternative: str) -> float:
        """See `ClosedForm.p_value`."""
        assert difference.proportions is not None
        statistic = quantile_at_zero(partial(newcombe_limits, difference.proportions))
        return normal_p_value(statistic, alternative)


class AnytimeDifference(ClosedForm):
    """Fixed-sample interval that suits, at the level of the boundary of all looks."""

    words = "interval of the paired difference that holds at every look"

    def interval(
        self, difference: Difference, confidence_level: float, alternative: str
    ) -> ConfidenceInterval:
        """See `ClosedForm.interval`."""
        evidence = difference.evidence
        fixed_sample = "tango" if difference.discordant else "logit-delong"
        if difference.discordant is None and difference.areas is None:
            # Its needs are those of the systems, which have such intervals themselves.
            limits = snapped(*limits_of(evidence, "anytime", confidence_level, alternative))
            return ConfidenceInterval(*limits, confidence_level, "anytime")
        two_sided = alternative == "two-sided"
        level = level_at_look(evidence, confidence_level if two_sided else 2 * confidence_level - 1)
        level = level if two_sided else (1 + level) / 2
        low, high = CLOSED_FORM[fixed_sample].interval(difference, level, alternative)
        return ConfidenceInterval(low, high, confidence_level, "anytime")

    def p_value(self, difference: Difference, alternative: str) -> float:
        """Return NaN: a p-value is of one look."""
        return np.nan


CLOSED_FORM: Mapping[str, ClosedForm] = {
    "tango": Tango(),
    "delong": DeLongDifference(),
    "logit-delong": LogitDeLong(),
    "newcombe": Newcombe(),
    "anytime": AnytimeDifference(),
}
"""Intervals of a difference without resamples, by name."""

HOLDS_FOR_FEW = frozenset(("tango", "newcombe", "anytime", "smoothed"))
"""Intervals of a difference that attain their coverage however few units decide it."""

DIFFERENCE_METHODS = (
    *(name for name, interval in INTERVALS.items() if interval.for_difference),
    "tango",
    "delong",
    "logit-delong",
    "anytime",
)
"""Names that a caller may ask for, for a paired difference."""

PROBLEMS: Mapping[str, str] = {
    name: interval.no_difference for name, interval in INTERVALS.items() if interval.no_difference
}
"""Why intervals of one score are not offered for a difference."""


def words_of_difference(method: str, *, paired: bool = True) -> str:
    """Return the name of an interval of a difference in a summary."""
    if method in CLOSED_FORM:
        words = CLOSED_FORM[method].words
    else:
        words = f"{words_of(method).removesuffix(' interval')} interval of the paired difference"
    return words if paired else words.replace("of the paired", "of the")


def difference_interval(
    difference: Difference, method: str, confidence_level: float, alternative: str = "two-sided"
) -> ConfidenceInterval:
    """Interval for a difference by the named method.

    Parameters
    ----------
    difference : Difference
        With replicates.
    method : str
        One of `DIFFERENCE_METHODS`.
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "greater", "less"}
        "greater": the lower limit alone, the upper one is infinite; "less": the reverse.

    Returns
    -------
    ConfidenceInterval
        [0, 0] for systems that predict the same on every row.

    Raises
    ------
    ValueError
        If the evidence does not support the method.
    """
    if difference.identical:
        low = -np.inf if alternative == "less" else 0.0
        high = np.inf if alternative == "greater" else 0.0
        return ConfidenceInterval(low, high, confidence_level, method)
    if method in CLOSED_FORM:
        return CLOSED_FORM[method].interval(difference, confidence_level, alternative)
    return _snap_to_zero(
        confidence_interval(difference.evidence, method, confidence_level, alternative)
    )


def _snap_to_zero(interval: ConfidenceInterval) -> ConfidenceInterval:
    """Return an interval whose limits are 0 where they differ from it by rounding."""
    uncut = snapped(*interval.uncut) if interval.is_cut else None
    level, method = interval.confidence_level, interval.method
    return ConfidenceInterval(*snapped(*interval), level, method, uncut)


def p_value(
    difference: Difference,
    method: str,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
) -> float:
    """Smallest 1 - level whose interval excludes 0.

    Parameters
    ----------
    difference : Difference
        With replicates.
    method : str
        One of `DIFFERENCE_METHODS`.
    confidence_level : float
        Confidence level of the interval that is shown: the p-value is at most 1 - level exactly if
        it excludes 0.
    alternative : {"two-sided", "greater", "less"}
        Alternative of the interval.

    Returns
    -------
    float
        At least 2 / (n_resamples + 1) for methods that use the resamples, and half of it for one
        side; NaN if undefined.
    """
    evidence = difference.evidence
    if np.isnan(evidence.estimate):
        return np.nan
    if difference.identical:
        return 1.0
    if method in CLOSED_FORM:
        return CLOSED_FORM[method].p_value(difference, alternative)
    if len(evidence.sorted_replicates) < 2:
        return np.nan
    # Bisection visits extreme levels on purpose: that resamples are too few for them is ignored.
    with collected():
        return float(p_of_interval(evidence, method, confidence_level, alternative))


# ------------------------------------------------------------------ several differences


def share_won(differences: ArrayLike, greater_is_better: bool | None) -> float:
    """Share of differences in favour of the first, ties half; undefined ones are left out.

    Parameters
    ----------
    differences : array-like of shape (n_resamples,)
        First minus second.
    greater_is_better : bool or None
        None: the share of differences above 0, whether that is good or bad.

    Returns
    -------
    float
        NaN if no difference is defined.
    """
    values = np.asarray(differences, dtype=float)
    values = values[~np.isnan(values)]
    if greater_is_better is False:
        values = -values
    wins = np.count_nonzero(values > 0) + 0.5 * np.count_nonzero(values == 0)
    return float(wins / len(values)) if len(values) else float("nan")


# ------------------------------------------------------------------ verdicts
#
# Is the first not worse than the second by more than a margin? An interval decides: the first
# passes where the lower limit of its advantage is above minus the margin, and fails where the upper
# limit is below it. What one comparison could have shown, had both been equal, is the
# `detectable_margin`.


def outcome_of(low: float, high: float, margin: float) -> str:
    """Outcome by the limits of the advantage of the first.

    Parameters
    ----------
    low, high : float
        Limits, on the scale where larger is better for the first; NaN if undefined.
    margin : float
        At least 0.

    Returns
    -------
    {"pass", "fail", "inconclusive"}
    """
    if low > -margin:
        return "pass"
    return "fail" if high < -margin else "inconclusive"


def detectable_margin(half_width: float, standard_error: float, degrees_of_freedom: float) -> float:
    """Margin that an interval passes with 80% probability where both systems are equal.

    Parameters
    ----------
    half_width : float
        Distance from the estimate to the lower limit.
    standard_error : float
        Standard error of the difference.
    degrees_of_freedom : float
        Degrees of freedom of the standard error; infinite for the normal distribution.

    Returns
    -------
    float
        NaN where one of these is; the half-width where nothing varies, and 0 where any passes.

    Notes ----- ``half_width + t_.8 se``, with t the quantile of Student's distribution. Under ten
    degrees of freedom the noncentrality at which the lower limit passes with 80% is solved for
    instead, because the width then varies as much as the estimate (3.76 standard errors at four
    degrees of freedom, 5.65 at two, for a half-width of the 97.5% quantile).
    """
    if not standard_error > 0 or not np.isfinite(half_width):
        return half_width if standard_error == 0 else np.nan
    if degrees_of_freedom >= FEW_DEGREES:
        return half_width + float(special.stdtrit(degrees_of_freedom, POWER)) * standard_error
    quantile = half_width / standard_error
    if quantile > _FAR_QUANTILE:
        # The distribution is then that of the standard error alone.
        spread = special.chdtri(degrees_of_freedom, 1 - POWER) / degrees_of_freedom
        return float(np.hypot(quantile * np.sqrt(spread), special.ndtri(POWER))) * standard_error

    def short_of_power(noncentrality: float) -> float:
        below = special.nctdtr(degrees_of_freedom, noncentrality, quantile)
        return float(below) - (1 - POWER)

    start, stop = 0.0, quantile + 2.0
    if short_of_power(start) <= 0:
        # A limit of very few resamples is hardly below the estimate, or above it.
        return 0.0
    while short_of_power(stop) > 0:
        stop *= 2
    return float(optimize.brentq(short_of_power, start, stop, xtol=1e-10)) * standard_error
