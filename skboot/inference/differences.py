"""Paired differences: intervals, p-values that agree with them, and adjustment for many.

* `delong_test`: two areas under ROC curves on the same rows;
* `difference_interval`, `p_value`: any metric, from the bootstrap of the difference.

Several differences at once are in `skboot.inference.multiplicity`.

A p-value here is the smallest 1 - level whose interval of the same method excludes 0, so the two
never disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from .._base.checks import check_column, check_same_length, fail
from .._base.doors import door
from .._base.warnings import collected
from ..metrics.ranking import delong_covariance
from ._tuning import FEW_DISCORDANT, FEW_EVENTS
from .confidence_interval import ConfidenceInterval
from .evidence import Drawn, Evidence
from .intervals import (
    INTERVALS,
    confidence_interval,
    limits_of,
    snapped,
    words_of,
)
from .looks import level_at_look
from .p_values import p_of_interval
from .proportions import (
    Discordant,
    TwoProportions,
    newcombe_limits,
    quantile_at_zero,
    tango_limits,
    tango_statistic,
)
from .two_areas import TwoAreas, delong_error

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Difference:
    """Evidence of the difference of two systems.

    Attributes
    ----------
    evidence : Evidence
        Of the first minus the second: estimate, replicates, design.
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
        Of the difference.
    z : float
        Difference by standard error; 0 where both are 0.
    p_value : float
        Two-sided, from the normal distribution.
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


def planned_method(
    drawn: Drawn,
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
    return "t" if drawn.of_few else "expanded"


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
    drawn = difference.evidence.drawn
    method = planned_method(drawn, difference.discordant, difference.proportions, difference.areas)
    is_smoothed = difference.evidence.smoothed is not None and method not in CLOSED_FORM
    return "smoothed" if is_smoothed else method


class ClosedForm(NamedTuple):
    """An interval of a difference that uses no resamples, and its p-value.

    Attributes
    ----------
    interval : callable
        From the difference, a confidence level and an alternative to the interval.
    p_value : callable
        From the difference and an alternative to its p-value.
    words : str
        Name in a summary.
    """

    interval: Callable[[Difference, float, str], ConfidenceInterval]
    p_value: Callable[[Difference, str], float]
    words: str


def _tango_interval(
    difference: Difference, confidence_level: float, alternative: str
) -> ConfidenceInterval:
    """Return Tango's interval of a difference of proportions."""
    if difference.discordant is None:
        raise ValueError(
            "The interval 'tango' needs 0/1 values (right or wrong) of independent, unweighted, "
            "unstratified rows. Use interval='expanded'."
        )
    limits = score_interval(
        partial(tango_limits, difference.discordant), confidence_level, alternative
    )
    return ConfidenceInterval(*limits, confidence_level, "tango")


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


def _tango_p_value(difference: Difference, alternative: str) -> float:
    """Return the p-value of Tango's statistic at 0, which is McNemar's."""
    assert difference.discordant is not None
    return normal_p_value(tango_statistic(difference.discordant, 0.0), alternative)


def _newcombe_interval(
    difference: Difference, confidence_level: float, alternative: str
) -> ConfidenceInterval:
    """Return Newcombe's interval of a difference of independent proportions."""
    assert difference.proportions is not None
    limits = score_interval(
        partial(newcombe_limits, difference.proportions), confidence_level, alternative
    )
    return ConfidenceInterval(*limits, confidence_level, "newcombe")


def _newcombe_p_value(difference: Difference, alternative: str) -> float:
    """Return the p-value at which Newcombe's interval reaches 0."""
    assert difference.proportions is not None
    statistic = quantile_at_zero(partial(newcombe_limits, difference.proportions))
    return normal_p_value(statistic, alternative)


def _delong_interval(
    difference: Difference, confidence_level: float, alternative: str
) -> ConfidenceInterval:
    """Return DeLong's interval of a difference of two areas."""
    return _snapped(
        confidence_interval(difference.evidence, "delong", confidence_level, alternative)
    )


def _delong_p_value(difference: Difference, alternative: str) -> float:
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


def _logit_delong_interval(
    difference: Difference, confidence_level: float, alternative: str
) -> ConfidenceInterval:
    """Return DeLong's interval, widened by limits of both areas on the logit scale."""
    if difference.areas is None:
        return ConfidenceInterval(np.nan, np.nan, confidence_level, "logit-delong")
    limits = score_interval(difference.areas.limits, confidence_level, alternative)
    return ConfidenceInterval(*snapped(*limits), confidence_level, "logit-delong")


def _logit_delong_p_value(difference: Difference, alternative: str) -> float:
    """Return the p-value at which the widened interval reaches 0."""
    if difference.areas is None:
        return np.nan
    return normal_p_value(quantile_at_zero(difference.areas.limits), alternative)


def _anytime_interval(
    difference: Difference, confidence_level: float, alternative: str
) -> ConfidenceInterval:
    """Return the fixed-sample interval that suits, at the level of the boundary of all looks."""
    evidence, of_pairs = difference.evidence, "tango" if difference.discordant else "logit-delong"
    if difference.discordant is None and difference.areas is None:
        # Its needs are those of the systems, which have such intervals themselves.
        limits = snapped(*limits_of(evidence, "anytime", confidence_level, alternative))
        return ConfidenceInterval(*limits, confidence_level, "anytime")
    two_sided = alternative == "two-sided"
    level = level_at_look(evidence, confidence_level if two_sided else 2 * confidence_level - 1)
    level = level if two_sided else (1 + level) / 2
    low, high = CLOSED_FORM[of_pairs].interval(difference, level, alternative)
    return ConfidenceInterval(low, high, confidence_level, "anytime")


def _no_p_value(difference: Difference, alternative: str) -> float:
    """Return NaN: a p-value is of one look."""
    return np.nan


CLOSED_FORM: Mapping[str, ClosedForm] = {
    "tango": ClosedForm(_tango_interval, _tango_p_value, "Tango's score interval"),
    "delong": ClosedForm(
        _delong_interval, _delong_p_value, "DeLong's interval of the paired difference"
    ),
    "logit-delong": ClosedForm(
        _logit_delong_interval,
        _logit_delong_p_value,
        "logit-DeLong interval of the paired difference",
    ),
    "newcombe": ClosedForm(
        _newcombe_interval, _newcombe_p_value, "Newcombe's interval of independent proportions"
    ),
    "anytime": ClosedForm(
        _anytime_interval, _no_p_value, "interval of the paired difference that holds at every look"
    ),
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
    return _snapped(confidence_interval(difference.evidence, method, confidence_level, alternative))


def _snapped(interval: ConfidenceInterval) -> ConfidenceInterval:
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
        Of the interval that is shown: the p-value is at most 1 - level exactly if it excludes 0.
    alternative : {"two-sided", "greater", "less"}
        Of the interval.

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
