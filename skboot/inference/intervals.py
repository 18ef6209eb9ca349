"""Confidence intervals for one number, from its bootstrap distribution and facts about the data.

Each interval is a pure function ``(evidence, confidence_level) -> (low, high)``, registered where
it stands with its needs and its words; `confidence_interval` checks the needs and calls it. To add
an interval, write the function under `registered`: public functions accept its name, summaries use
its words, and tests/inference/test_interval_contract.py holds it to the contract.

Levels are quantiles of the bootstrap distribution at ``(n_resamples + 1) * level``, interpolated
on the normal scale (Davison & Hinkley 1997, equation 5.8), as R's boot does: with 1999 resamples
the usual levels are order statistics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from .._base.warnings import tell
from .cautions import too_few_resamples
from .confidence_interval import ConfidenceInterval
from .evidence import Evidence
from .multiplicity import max_t_quantile, t_quantile_of_normal
from .proportions import clopper_pearson_limits, distance_limits, wald_limits, wilson_limits
from .subgroup_gap import SubgroupGap, gap_limits

Floats = NDArray[np.float64]

# Share of the estimate's size below which a difference from it is rounding.
ROUNDING = 1e-14
# Share of the farther limit below which a limit of a difference differs from 0 by rounding.
_ROUNDING_OF_LIMITS = 1e-10


@dataclass(frozen=True)
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
    uses_resamples : bool
        Whether the limits depend on the replicates; else they are made of counts, or of a standard
        error on the data.
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
    uses_resamples: bool = True
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
        NaN limits if the metric is undefined on the data.

    Raises
    ------
    ValueError
        If the method is unknown or the evidence does not support it.
    """
    if method not in INTERVALS:
        raise ValueError(
            f"The interval must be one of {sorted(INTERVALS)} or 'auto'. Got {method!r}."
        )
    problem = problem_with(method, evidence)
    if problem:
        raise ValueError(f"The interval {method!r} {problem}")
    if np.isnan(evidence.estimate):
        return ConfidenceInterval(np.nan, np.nan, confidence_level, method)
    low, high = limits_of(evidence, method, confidence_level, alternative)
    if 0 < high - low <= ROUNDING * abs(evidence.estimate):
        # Replicates that differ by rounding alone are one value: the interval has no width.
        low = high = evidence.estimate
    return ConfidenceInterval(float(low), float(high), confidence_level, method)


def problem_with(method: str, evidence: Evidence) -> str:
    """Return why evidence has no interval by a method, to be read after its name; "" if it has."""
    if evidence.facts.bins is not None and method != "bins":
        return (
            "is not for a sum of distances: resamples raise it, and limits made of them leave out "
            "the 0 of a calibrated system. Use interval='bins'."
        )
    return INTERVALS[method].needs(evidence)


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


# ------------------------------------------------------------------ needs


def _needs_replicates(evidence: Evidence) -> str:
    if np.isnan(evidence.estimate) or len(evidence.sorted_replicates) >= 2:
        return ""
    return "needs at least two resamples on which the metric is defined."


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
    return _needs_replicates(evidence)


def _needs_standard_errors(evidence: Evidence) -> str:
    design = evidence.drawn.design
    if design.no_jackknife:
        named = design.groups_in_messages
        return f"is not defined for {named}. Use interval='percentile' or 'expanded'."
    if not evidence.facts.additive:
        return "needs influence values, which exist for functions of sums only. Use interval='bca'."
    if evidence.replicate_standard_errors is None or evidence.standard_error is None:
        return (
            "needs a standard error on each resample, which was not computed. Run again with "
            "interval='studentized', and without resamples= that split groups."
        )
    return _needs_replicates(evidence)


def _needs_delong(evidence: Evidence) -> str:
    if evidence.facts.delong is not None and np.isnan(evidence.facts.delong.standard_error):
        return "needs at least two rows of each class."
    if evidence.facts.delong is None or not evidence.independent_rows:
        return (
            "needs the area under the ROC curve of two classes, on independent, unweighted "
            "rows. Use interval='bca', or 'expanded' with groups."
        )
    return ""


def _needs_max_t(evidence: Evidence) -> str:
    if evidence.max_t is None:
        return "needs the joint bootstrap of several differences."
    return ""


def _needs_gap(evidence: Evidence) -> str:
    if evidence.gap is None:
        return "needs the largest gap between subgroups."
    return ""


def _needs_robust_variance(evidence: Evidence) -> str:
    if evidence.robust_variance is not None:
        return _needs_replicates(evidence)
    if evidence.drawn.design.n_factors == 1:
        return "is for crossed groups, of shape (n_samples, 2). Use interval='expanded'."
    return (
        "needs the metric without each pair of members: a function of sums, or the area under the "
        "ROC curve, that is defined without any of them. Use interval='percentile'."
    )


def _needs_bins(evidence: Evidence) -> str:
    if evidence.facts.bins is None:
        return "is for the expected calibration error."
    if evidence.drawn.kind not in ("rows", "groups", "crossed", "one population"):
        return "knows rows, groups and crossed groups alone."
    return ""


def _needs_proportion(evidence: Evidence) -> str:
    if evidence.facts.proportion is None or not evidence.independent_rows:
        return (
            "needs 0/1 values of independent, unweighted, unstratified rows. "
            "Use interval='bca', or 'studentized' with groups."
        )
    return ""


# ------------------------------------------------------------------ proportions

_SINGLE = "is for a single proportion"


def _of_proportion(
    evidence: Evidence, limits: Callable[[int, int, float], tuple[float, float]], level: float
) -> tuple[float, float]:
    """Return limits of hits / n on the scale of the metric."""
    share = evidence.facts.proportion
    assert share is not None
    # F1 = 2 q / (1 + q) with q the Jaccard index is monotone, so the limits map.
    low, high = map(share.to_metric, limits(share.hits, share.n, level))
    return (low, high) if share.sign > 0 else (high, low)


@registered("wald", "Wald interval", _needs_proportion, uses_resamples=False, no_difference=_SINGLE)
def _wald(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    return _of_proportion(evidence, wald_limits, confidence_level)


@registered(
    "wilson", "Wilson interval", _needs_proportion, uses_resamples=False, no_difference=_SINGLE
)
def _wilson(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    return _of_proportion(evidence, wilson_limits, confidence_level)


@registered(
    "clopper-pearson",
    "Clopper-Pearson interval",
    _needs_proportion,
    uses_resamples=False,
    no_difference=_SINGLE,
)
def _clopper_pearson(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    return _of_proportion(evidence, clopper_pearson_limits, confidence_level)


# ------------------------------------------------------------------ quantiles of the replicates


@registered("percentile", "percentile bootstrap interval", _needs_replicates, for_difference=True)
def _percentile(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    tail = (1 - confidence_level) / 2
    ordered = evidence.sorted_replicates
    return quantile(ordered, tail), quantile(ordered, 1 - tail)


@registered(
    "expanded", "expanded percentile bootstrap interval", _needs_replicates, for_difference=True
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


@registered("basic", "basic bootstrap interval", _needs_replicates, for_difference=True)
def _basic(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    low, high = _percentile(evidence, confidence_level)
    return 2 * evidence.estimate - high, 2 * evidence.estimate - low


# ------------------------------------------------------------------ spread of the replicates


@registered("normal", "normal bootstrap interval", _needs_replicates, for_difference=True)
def _normal(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Estimate without its bias, -/+ z standard deviations of the replicates."""
    z = ndtri(0.5 + confidence_level / 2)
    replicates = evidence.sorted_replicates
    centre = 2 * evidence.estimate - replicates.mean(axis=-1)
    half = z * replicates.std(axis=-1, ddof=1)
    return centre - half, centre + half


@registered("t", "t interval with bootstrap standard error", _needs_replicates, for_difference=True)
def _t(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    spread = evidence.sorted_replicates.std(axis=-1, ddof=1) * np.sqrt(evidence.drawn.inflation)
    half = stdtrit(evidence.drawn.degrees_of_freedom, 0.5 + confidence_level / 2) * spread
    return evidence.estimate - half, evidence.estimate + half


# Not for a difference: the biases of two systems are nearly equal.
@registered("bias-corrected", "t interval about the bias-corrected estimate", _needs_replicates)
def _bias_corrected(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """As "t" about 2 t - mean t*, the estimate without its bias (Davison & Hinkley 1997, 2.1.2)."""
    low, high = _t(evidence, confidence_level)
    bias = evidence.sorted_replicates.mean() - evidence.estimate
    return low - bias, high - bias


# ------------------------------------------------------------------ influence of the units


@registered(
    "studentized",
    "studentized bootstrap interval",
    _needs_standard_errors,
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
    with np.errstate(invalid="ignore"):
        return (
            evidence.estimate - evidence.standard_error * low,
            evidence.estimate - evidence.standard_error * high,
        )


@registered("bca", "BCa bootstrap interval", _needs_acceleration, for_difference=True)
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
        return _percentile(evidence, confidence_level)
    bias, a = ndtri(share), evidence.acceleration
    tail = (1 - confidence_level) / 2
    z = bias + ndtri([tail, 1 - tail])
    # The level tends to 0 or 1 as a z tends to 1; beyond that the formula has no meaning.
    stretch = 1 - a * z
    within = stretch > 0
    levels = ndtr(np.where(within, bias + z / np.where(within, stretch, 1), np.copysign(np.inf, z)))
    return quantile(ordered, float(levels[0])), quantile(ordered, float(levels[1]))


@registered("delong", "DeLong interval", _needs_delong, uses_resamples=False)
def _delong(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """AUC -/+ z standard errors of DeLong et al. (1988), cut at the bounds."""
    assert evidence.facts.delong is not None
    half = ndtri(0.5 + confidence_level / 2) * evidence.facts.delong.standard_error
    low, high = evidence.estimate - half, evidence.estimate + half
    return max(low, evidence.facts.bounds[0]), min(high, evidence.facts.bounds[1])


# ------------------------------------------------------------------ bins


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
        single = t_quantile_of_normal(
            single, evidence.drawn.degrees_of_freedom, evidence.drawn.inflation
        )
    least, greatest = distance_limits(evidence.facts.bins, float(2 * ndtr(single) - 1))
    # Of a negated error the range ends at 0.
    return (-greatest, -least) if evidence.facts.bounds[1] <= 0 else (least, greatest)


# ------------------------------------------------------------------ one of several differences


@registered(
    "max-t",
    "simultaneous max-t bootstrap interval",
    _needs_max_t,
    for_one_score=False,
    no_difference="is the simultaneous interval, which adjust='max-t' gives beside the other",
)
def _max_t(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Simultaneous interval from the joint bootstrap of several differences."""
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
    assert evidence.gap is not None
    return gap_limits(SubgroupGap.of_stored(evidence.gap), evidence.replicates, confidence_level)


# ------------------------------------------------------------------ what the registry holds


FOR_ONE_SCORE = tuple(name for name, interval in INTERVALS.items() if interval.for_one_score)
"""Names that a caller may ask for, for one score."""

WITHOUT_RESAMPLES = frozenset(
    {"score"} | {name for name, interval in INTERVALS.items() if not interval.uses_resamples}
)
"""Intervals that would be the same with other resamples; "score" is that of few groups."""


def words_of(name: str) -> str:
    """Return the name of an interval in a summary."""
    return INTERVALS[name].words if name in INTERVALS else f"{name} interval"
