"""Confidence intervals for one number, from its bootstrap distribution and what is known of it.

Each method is a pure function ``(evidence, confidence_level) -> (low, high)`` in `METHODS`, and
declares what it needs in `NEEDS`; `confidence_interval` checks the needs and calls it. To add a
method, write the function and register it in both.

Levels are quantiles of the bootstrap distribution at ``(n_resamples + 1) * level``, interpolated
on the normal scale (Davison & Hinkley 1997, equation 5.8), as R's boot does: with 1999 resamples
the usual levels are order statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from .._warnings import warn_user
from ..resampling.design import DESIGNS, SamplingDesign
from .confidence_interval import ConfidenceInterval
from .multiplicity import t_quantile_of_normal
from .proportions import clopper_pearson_limits, wald_limits, wilson_limits
from .subgroup_gap import SubgroupGap, gap_limits

Floats = NDArray[np.float64]

# Differences below this share of the size of the estimate are rounding.
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that an interval for one score can use.

    Attributes
    ----------
    estimate : float
        The metric on the data.
    replicates : ndarray of shape (n_resamples,)
        The metric on each resample; NaN where undefined.
    kind : {"rows", "groups", "crossed", "one population"}
        What was resampled.
    n_units : tuple of int
        How many units, one number a factor.
    n_strata : int
        Number of strata, 1 without.
    bounds : tuple of float
        Range of the metric.
    additive : bool
        Whether the metric is a function of weighted sums.
    row_mean : bool
        Whether it is a mean of one value per row.
    weighted : bool
        Whether rows carry weights.
    standard_error : float or None
        Infinitesimal-jackknife standard error of the estimate.
    replicate_standard_errors : ndarray of shape (n_resamples,) or None
        The same on each resample.
    acceleration : float or None
        Of BCa, by leaving out units; NaN where a value without a unit is undefined; None if not
        computed.
    proportion : tuple (hits, n, exact, scale, sign) or None
        See `skboot.metrics.statistic.Proportion`.
    delong : tuple (standard error, size of the smaller class) or None
        For the area under the ROC curve of independent rows.
    largest_share : float or None
        Share of the sum of the row values that one row carries.
    class_sizes : ndarray of shape (n_classes,) or None
        Rows of each true class, for averages over classes of rows.
    jackknife : tuple (standard error, number of values, number of lines) or None
        Of a metric that need not be smooth, on rows that nearly all differ; see
        `skboot.inference.distribution.Jackknife`.
    max_t : tuple (standard error, ndarray of shape (n_resamples,)) or None
        For one of several differences: the standard error it is studentized by, and the largest
        studentized deviation over all of them in each resample, as a normal quantile.
    gap : tuple or None
        For the difference of the two subgroups that are furthest apart: a
        `skboot.inference.subgroup_gap.SubgroupGap`, or its values as plain tuples.
    group_influence : ndarray of shape (n_groups,) or None
        For functions of sums on groups: influence of each group on the estimate.
    group_weight : ndarray of shape (n_groups,) or None
        Summed weight of each group's rows, where ``group_influence`` is known.
    n_effective_rows : float or None
        Rows of equal weight that are worth the rows (Kish 1965): (sum w)^2 / sum w^2.
    """

    estimate: float
    replicates: Floats
    kind: str
    n_units: tuple[int, ...]
    n_strata: int = 1
    bounds: tuple[float, float] = (-np.inf, np.inf)
    additive: bool = False
    row_mean: bool = False
    weighted: bool = False
    standard_error: float | None = None
    replicate_standard_errors: Floats | None = None
    acceleration: float | None = None
    proportion: tuple[int, int, bool, str, float] | None = None
    delong: tuple[float, int] | None = None
    largest_share: float | None = None
    class_sizes: NDArray[np.int64] | None = None
    jackknife: tuple[float, int, int] | None = None
    max_t: tuple[float, Floats] | None = None
    gap: tuple[Any, ...] | None = None
    group_influence: Floats | None = None
    group_weight: Floats | None = None
    n_effective_rows: float | None = None

    @cached_property
    def sorted_replicates(self) -> Floats:
        """Defined replicates in rising order, (n_defined,)."""
        return np.sort(self.replicates[~np.isnan(self.replicates)])

    @property
    def degrees_of_freedom(self) -> int:
        """Units less strata, of the factor with the fewest units; at least 1."""
        return max(min(self.n_units) - self.n_strata, 1)

    @property
    def independent_rows(self) -> bool:
        """Whether rows were drawn one by one, without strata or weights."""
        return self.design.units_are_rows and self.n_strata == 1 and not self.weighted

    @property
    def design(self) -> type[SamplingDesign]:
        """Words and rules of what was resampled."""
        return DESIGNS[self.kind]


def confidence_interval(
    evidence: Evidence, method: str, confidence_level: float = 0.95
) -> ConfidenceInterval:
    """Confidence interval by the named method.

    Parameters
    ----------
    evidence : Evidence
        What is known of the score.
    method : str
        A key of `METHODS`.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    ConfidenceInterval
        NaN limits if the metric is undefined on the data.

    Raises
    ------
    ValueError
        If the method is unknown or the evidence does not support it.
    """
    if method not in METHODS:
        raise ValueError(
            f"The interval must be one of {sorted(METHODS)} or 'auto'. Got {method!r}."
        )
    problem = NEEDS[method](evidence)
    if problem:
        raise ValueError(f"The interval {method!r} {problem}")
    if np.isnan(evidence.estimate):
        return ConfidenceInterval(np.nan, np.nan, confidence_level, method)
    low, high = METHODS[method](evidence, confidence_level)
    if 0 < high - low <= ROUNDING * abs(evidence.estimate):
        # Replicates that differ by rounding alone are one value, and the width is said to be zero.
        low = high = evidence.estimate
    return ConfidenceInterval(float(low), float(high), confidence_level, method)


def quantile(ordered: Floats, level: float) -> float:
    """Quantile at (B + 1) * level, interpolated on the normal scale.

    Parameters
    ----------
    ordered : ndarray of shape (B,)
        Replicates in rising order.
    level : float
        In [0, 1].

    Returns
    -------
    float
        The extreme replicate, with a warning, where B is too small for the level; NaN for B < 2.
    """
    n = len(ordered)
    if n < 2:
        return np.nan
    rank = (n + 1) * level
    below = int(np.floor(rank + 1e-9))
    if below < 1 or below > n or (below == n and rank > n + 1e-9):
        warn_user(
            f"{n} resamples are too few for a quantile at level {level:.3g}: the extreme one is "
            f"used. Raise n_resamples."
        )
        return float(ordered[0] if below < 1 else ordered[-1])
    if abs(rank - below) < 1e-9:
        return float(ordered[below - 1])
    lower, upper = ndtri(below / (n + 1)), ndtri((below + 1) / (n + 1))
    share = (ndtri(level) - lower) / (upper - lower)
    start, stop = float(ordered[below - 1]), float(ordered[below])
    if infinite := [end for end in (start, stop) if np.isinf(end)]:
        # Pivots of groups without spread; between two values the one further out is taken.
        return min(infinite) if level < 0.5 else max(infinite)
    return float(start + share * (stop - start))


# ------------------------------------------------------------------ quantiles of the replicates


def _percentile(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    tail = (1 - confidence_level) / 2
    ordered = evidence.sorted_replicates
    return quantile(ordered, tail), quantile(ordered, 1 - tail)


def _expanded(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Percentiles at Phi(sqrt(n / df) t_df) (Hesterberg 2015, section 3.3)."""
    df = evidence.degrees_of_freedom
    stretch = np.sqrt((df + evidence.n_strata) / df)
    tail = float(ndtr(stretch * stdtrit(df, (1 - confidence_level) / 2)))
    ordered = evidence.sorted_replicates
    return quantile(ordered, tail), quantile(ordered, 1 - tail)


def _basic(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    low, high = _percentile(evidence, confidence_level)
    return 2 * evidence.estimate - high, 2 * evidence.estimate - low


def _bca(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Bias-corrected and accelerated (Efron 1987), ties of the bias correction counted half."""
    ordered = evidence.sorted_replicates
    # Replicates that differ from the estimate by rounding alone are ties.
    rounding = 1e-10 * ordered.std() + ROUNDING * abs(evidence.estimate)
    below = np.searchsorted(ordered, evidence.estimate - rounding, side="left")
    up_to = np.searchsorted(ordered, evidence.estimate + rounding, side="right")
    share = (below + up_to) / (2 * len(ordered)) if len(ordered) else np.nan
    if not 0 < share < 1:
        # Every replicate lies on one side of the estimate: no bias correction can be read off.
        return _percentile(evidence, confidence_level)
    bias, a = ndtri(share), evidence.acceleration
    tail = (1 - confidence_level) / 2
    z = bias + ndtri([tail, 1 - tail])
    # The level rises to its end where a z rises to 1; beyond that the formula starts over.
    stretch = 1 - a * z
    within = stretch > 0
    levels = ndtr(np.where(within, bias + z / np.where(within, stretch, 1), np.copysign(np.inf, z)))
    return quantile(ordered, float(levels[0])), quantile(ordered, float(levels[1]))


def _studentized(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Bootstrap t (Efron & Tibshirani 1993, section 12.5).

    Resamples of rows whose standard error is 0 are left out, as R's boot does; resamples of
    groups are kept at plus or minus infinity, since with few groups they are many. Where those
    that are left do not vary, as with two rows, Student's t stands for their distribution.
    """
    assert evidence.replicate_standard_errors is not None
    assert evidence.standard_error is not None
    defined = ~np.isnan(evidence.replicates)
    shift = evidence.replicates[defined] - evidence.estimate
    errors = evidence.replicate_standard_errors[defined]
    with np.errstate(divide="ignore", invalid="ignore"):
        pivots = np.where(shift == 0, 0.0, shift / errors)
    if evidence.design.units_are_rows:
        pivots = pivots[errors > 0]
        if not len(pivots) or np.ptp(pivots) == 0:
            df = evidence.degrees_of_freedom
            stretch = np.sqrt((df + evidence.n_strata) / df)
            half = stdtrit(df, 0.5 + confidence_level / 2) * stretch * evidence.standard_error
            return evidence.estimate - half, evidence.estimate + half
    pivots = np.sort(pivots)
    tail = (1 - confidence_level) / 2
    low, high = quantile(pivots, 1 - tail), quantile(pivots, tail)
    with np.errstate(invalid="ignore"):
        return (
            evidence.estimate - evidence.standard_error * low,
            evidence.estimate - evidence.standard_error * high,
        )


# ------------------------------------------------------------------ from standard errors


def _normal(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    z = ndtri(0.5 + confidence_level / 2)
    replicates = evidence.sorted_replicates
    centre = 2 * evidence.estimate - replicates.mean()
    half = z * replicates.std(ddof=1)
    return centre - half, centre + half


def _t(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    df = evidence.degrees_of_freedom
    spread = evidence.sorted_replicates.std(ddof=1) * np.sqrt((df + evidence.n_strata) / df)
    half = stdtrit(df, 0.5 + confidence_level / 2) * spread
    return evidence.estimate - half, evidence.estimate + half


def _bias_corrected(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """As "t" about 2 t - mean t*, the estimate without its bias (Davison & Hinkley 1997, 2.1.2)."""
    low, high = _t(evidence, confidence_level)
    bias = evidence.sorted_replicates.mean() - evidence.estimate
    return low - bias, high - bias


def _max_t(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Simultaneous interval from the joint bootstrap of several differences."""
    assert evidence.max_t is not None
    standard_error, deviations = evidence.max_t
    ordered = np.sort(deviations[~np.isnan(deviations)])
    # Not between two of them, so that adjusted p-values, which count them, agree.
    rank = np.ceil((len(ordered) + 1) * confidence_level - 1e-9)
    largest = quantile(ordered, float(rank / (len(ordered) + 1)))
    df, n_strata = evidence.degrees_of_freedom, evidence.n_strata
    half = float(t_quantile_of_normal(largest, df, n_strata)) * standard_error
    return evidence.estimate - half, evidence.estimate + half


def _simultaneous(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Of the largest gap between subgroups, over all pairs of them."""
    assert evidence.gap is not None
    return gap_limits(SubgroupGap.of_stored(evidence.gap), evidence.replicates, confidence_level)


def _delong(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """AUC -/+ z standard errors of DeLong et al. (1988), cut at the bounds."""
    assert evidence.delong is not None
    half = ndtri(0.5 + confidence_level / 2) * evidence.delong[0]
    low, high = evidence.estimate - half, evidence.estimate + half
    return max(low, evidence.bounds[0]), min(high, evidence.bounds[1])


# ------------------------------------------------------------------ proportions


def _of_proportion(
    limits: Callable[[int, int, float], tuple[float, float]],
) -> Callable[[Evidence, float], tuple[float, float]]:
    def interval(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
        assert evidence.proportion is not None
        hits, n, _, scale, sign = evidence.proportion
        low, high = limits(hits, n, confidence_level)
        if scale == "f1":
            # F1 = 2 q / (1 + q) with q the Jaccard index: monotone, so the limits map.
            low, high = 2 * low / (1 + low), 2 * high / (1 + high)
        return (low, high) if sign > 0 else (-high, -low)

    return interval


# ------------------------------------------------------------------ registry


def _needs_replicates(evidence: Evidence) -> str:
    if np.isnan(evidence.estimate) or len(evidence.sorted_replicates) >= 2:
        return ""
    return "needs at least two resamples on which the metric is defined."


def _needs_acceleration(evidence: Evidence) -> str:
    design = evidence.design
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
    design = evidence.design
    if design.no_jackknife:
        named = design.groups_in_messages
        return f"is not defined for {named}. Use interval='percentile' or 'expanded'."
    if not evidence.additive:
        return "needs influence values, which exist for functions of sums only. Use interval='bca'."
    if evidence.replicate_standard_errors is None or evidence.standard_error is None:
        return (
            "needs a standard error on each resample, which was not computed. Run again with "
            "interval='studentized', and without resamples= that split groups."
        )
    return _needs_replicates(evidence)


def _needs_delong(evidence: Evidence) -> str:
    if evidence.delong is not None and np.isnan(evidence.delong[0]):
        return "needs at least two rows of each class."
    if evidence.delong is None or not evidence.independent_rows:
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


def _needs_proportion(evidence: Evidence) -> str:
    if evidence.proportion is None or not evidence.independent_rows:
        return (
            "needs 0/1 values of independent, unweighted, unstratified rows. "
            "Use interval='bca', or 'studentized' with groups."
        )
    return ""


METHODS: Mapping[str, Callable[[Evidence, float], tuple[Any, Any]]] = {
    "wald": _of_proportion(wald_limits),
    "wilson": _of_proportion(wilson_limits),
    "clopper-pearson": _of_proportion(clopper_pearson_limits),
    "percentile": _percentile,
    "expanded": _expanded,
    "basic": _basic,
    "normal": _normal,
    "t": _t,
    "bias-corrected": _bias_corrected,
    "studentized": _studentized,
    "bca": _bca,
    "delong": _delong,
    "max-t": _max_t,
    "simultaneous": _simultaneous,
}

# What a caller may ask for; the others are of one of several differences.
FOR_ONE_SCORE = tuple(name for name in METHODS if name not in ("max-t", "simultaneous"))

NEEDS: Mapping[str, Callable[[Evidence], str]] = {
    "wald": _needs_proportion,
    "wilson": _needs_proportion,
    "clopper-pearson": _needs_proportion,
    "percentile": _needs_replicates,
    "expanded": _needs_replicates,
    "basic": _needs_replicates,
    "normal": _needs_replicates,
    "t": _needs_replicates,
    "bias-corrected": _needs_replicates,
    "studentized": _needs_standard_errors,
    "bca": _needs_acceleration,
    "delong": _needs_delong,
    "max-t": _needs_max_t,
    "simultaneous": _needs_gap,
}

# Made of counts or of a standard error on the data: no resample is looked at.
WITHOUT_REPLICATES = frozenset(
    name for name, needs in NEEDS.items() if needs in (_needs_proportion, _needs_delong)
)
