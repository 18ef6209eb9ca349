"""Score intervals of grouped data, for when a few groups carry most of the variation.

Where one to three groups make all errors, many resamples hold none of them, and a studentized
interval reaches to the end of the range. A score interval needs no resamples: it holds the values
that the estimate does not contradict, each with the variance that it would have (Wilson 1927).

* Where both ends of the range are known (accuracy, F1), a value x has variance
  (x - low) (high - x) / n. That is Wilson's interval at an effective number of rows n.
* Where one end is known (losses), the variance is proportional to the distance from that end.
  Where none is, the lowest group mean stands for it, or the highest where the long tail is on that
  side. Influences without skewness, as those of two groups, show no side: the variance is constant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from ..resampling.design import equal_units
from ._tuning import DEGREES_BEYOND_CARRIERS
from .confidence_interval import ConfidenceInterval
from .evidence import Evidence, deciding_units
from .proportions import wilson_limits

# Share of the estimate's size below which an influence is rounding.
_ROUNDING = 1e-12
# Sum of cubed influences, the largest of which is 1, below which they show no side.
_SYMMETRIC = 1e-9


class GroupVariation(NamedTuple):
    """How much a score varies over groups, and how many of them make it vary.

    Attributes
    ----------
    variance : float
        Of the estimate, by the infinitesimal jackknife over groups, times the inflation: the groups
        of the data vary about their own mean.
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
    if not largest > _ROUNDING * abs(evidence.estimate):
        return None
    relative = influence / largest
    return GroupVariation(
        largest**2 * float(np.sum(relative**2)) * evidence.drawn.inflation,
        deciding_units(influence),
        float(np.sum(relative**3)),
    )


def value_range(evidence: Evidence) -> tuple[float, float]:
    """Return the range of the metric: that of proportions for a mean of zeros and ones."""
    bounds, share = evidence.facts.bounds, evidence.facts.proportion
    # Values that are all 0 can be losses without a largest value as well as proportions.
    if share is None or np.all(np.isfinite(bounds)) or not share.is_mean or share.hits == 0:
        return bounds
    return share.bounds


def effective_size(evidence: Evidence, confidence_level: float) -> float:
    """Rows of Wilson's interval for a score with two known ends.

    Parameters
    ----------
    evidence : Evidence
        Of a function of sums on groups.
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
        (`skboot.inference.dependence.over_time`).
    """
    tail = 0.5 + confidence_level / 2
    z, most = float(ndtri(tail)), evidence.drawn.degrees_of_freedom
    of_all_groups = (z / float(stdtrit(most, tail))) ** 2
    low, high = value_range(evidence)
    in_time = _rows_in_time(evidence)
    if evidence.estimate in (low, high) or evidence.group_weight is None:
        return min(evidence.drawn.n_equal * of_all_groups, in_time)
    assert evidence.n_effective_rows is not None
    varies = variation(evidence)
    if varies is None:
        return evidence.n_effective_rows * of_all_groups
    of_one_row = (evidence.estimate - low) * (high - evidence.estimate)
    n_rows = min(of_one_row / varies.variance, evidence.n_effective_rows)
    t = float(stdtrit(min(varies.n_carriers + DEGREES_BEYOND_CARRIERS, most), tail))
    n_groups = min(n_rows, equal_units(evidence.group_weight))
    n_rows = max(n_rows * (z / t) ** 2, n_groups * of_all_groups)
    return min(n_rows, _rows_of_any_groups(evidence, of_one_row) * of_all_groups, in_time)


def few_groups_interval(evidence: Evidence, confidence_level: float) -> ConfidenceInterval:
    """Score interval of a function of sums on groups.

    Parameters
    ----------
    evidence : Evidence
        Of a score that varies over groups, or whose range is known.
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
    sign, distance = _from_end(evidence, varies)
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


def _from_end(evidence: Evidence, varies: GroupVariation) -> tuple[int, float]:
    """Return the direction away from the known or assumed end, 0 without one, and the distance."""
    low, high = value_range(evidence)
    if np.isfinite(low):
        return 1, evidence.estimate - low
    if np.isfinite(high):
        return -1, high - evidence.estimate
    if abs(varies.skewness) <= _SYMMETRIC:
        return 0, np.inf
    assert evidence.group_influence is not None
    assert evidence.group_weight is not None
    has_weight = evidence.group_weight > 0
    # The influence of a group on a mean is the share of its weight times the deviation of its mean.
    deviations = evidence.group_influence[has_weight] / evidence.group_weight[has_weight]
    deviations *= evidence.group_weight.sum()
    sign = -1 if varies.skewness < 0 else 1
    # Influences are centred within strata: those of a subgroup without groups in some stratum can
    # all lie on one side of 0.
    return sign, max(float(np.max(-sign * deviations)), np.sqrt(varies.variance))


def _rows_in_time(evidence: Evidence) -> float:
    """Rows that rows in time are worth by the correlation of consecutive ones; else infinity.

    Where few rows are wrong blocks do not show that these stand together; single rows do.
    """
    if evidence.over_time is None or evidence.n_effective_rows is None:
        return np.inf
    correlation = evidence.over_time[2]
    return evidence.n_effective_rows * (1 - correlation) / (1 + correlation)


def _rows_of_any_groups(evidence: Evidence, of_one_row: float) -> float:
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
    correlation = np.clip((between / of_one_row - n_groups) / (n_rows - n_groups), 0.0, 1.0)
    return float(n_rows / (1 + (n_rows / equal_units(share) - 1) * correlation))
