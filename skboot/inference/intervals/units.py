"""Intervals from the influence of the units, on the data or on each resample."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, ndtr, ndtri, stdtrit

from ..evidence import Evidence
from ..skewed_t import SkewedT
from . import INTERVALS, ROUNDING, needs_replicates, quantile, registered


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
