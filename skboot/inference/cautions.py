"""Warnings about test data on which no interval does well, from one run or from several.

`cautions_of` looks at what is resampled: few groups or members, and few units that decide a score
(`few_deciding`), such as a small class or a heavy tail. `automatic` and `run_intervals` show what
it finds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from .._base.errors import Note, collected, say, thousands
from ..resampling.design import equal_units
from ._tuning import (
    DEGREES_BEYOND_CARRIERS,
    FEW_BLOCKS,
    FEW_CARRIERS,
    FEW_CARRY,
    FEW_EQUAL_GROUPS,
    FEW_GROUPS,
    FEW_IN_CLASS,
    FEW_MEMBERS,
    FEW_MISRANKED,
    FEW_OF_CLASS,
    MOST_CARRY,
    SMALL_CLASS,
    UNITS_CARRY,
)
from .evidence import ConfidenceInterval, Evidence, Premises, deciding_units
from .proportions import wilson_limits

# Resamples above which more are not advised: their values would take minutes and gigabytes.
MOST_RESAMPLES = 10**6

# The numbers are those of `benchmarks/coverage/studies/biased_scores.py`.
_OF_DISTANCES = (
    "This metric sums distances and is biased upwards, more so on resamples: 95 % intervals of "
    "differences, averages and runs covered 0 to 92 %. Compare by log loss or Brier score."
)


def cautions_of(evidence: Evidence, *, of_runs: bool = False) -> list[Note]:
    """Warnings about the data that an interval stands on.

    Parameters
    ----------
    evidence : Evidence
        Of the score; of any one run where there are several.
    of_runs : bool
        Whether there are several: a score interval of few groups is of one score.

    Returns
    -------
    list of Note
        None for averages over tasks.
    """
    design = evidence.drawn.design
    if design.averages_tasks:
        return caution_of_distances(evidence)
    with collected() as notes:
        if evidence.facts.optimized:
            say(
                "caution",
                "The best threshold was chosen on these rows, so the value is optimistic: 95 % "
                "intervals, corrected in part, covered 76 to 96 %, those of differences 92 to "
                "96 %.",
            )
        if design.units_are_rows:
            _tell_of_rows(evidence)
        elif design.n_factors == 1:
            tell_of_groups(evidence, of_runs=of_runs)
        else:
            _tell_of_members(evidence)
    return notes


def caution_of_distances(evidence: Evidence) -> list[Note]:
    """Warning that a sum of distances is biased where its interval is not made of its bins.

    Parameters
    ----------
    evidence : Evidence
        Of the score; of any one run, task or system where there are several.

    Returns
    -------
    list of Note
        Empty for other metrics.
    """
    return [Note("caution", _OF_DISTANCES)] if evidence.facts.of_distances else []


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
        beyond = f"{100 * tail:.3g} %"
        advice = f"Use n_resamples={math.ceil(1 / tail - 1e-6) - 1} or more."
    text = (
        f"{n_resamples} resamples are too few for a quantile with {beyond} beyond it: the most "
        f"extreme is used. {advice}"
    )
    return Note("resamples", text)


def few_deciding(evidence: Evidence) -> str:
    """Return how few units decide a score, and how many would be enough; "" if there are as many.

    One threshold for each use: rows of a class that an area hangs on, that another score of two
    classes does, or an average over classes; rows that the metric knows to decide; and of all
    others, unless the interval is exact for any number, units that carry the variation.
    """
    facts, number, unit = evidence.facts, evidence.n_deciding, evidence.drawn.design.unit
    of_class = facts.of_class
    if evidence.smoothed is not None and (facts.class_sizes is None or len(facts.class_sizes) < 3):
        # Tables that are drawn smoothed hold for any number of rows of two classes (record 0116).
        return ""
    if of_class is not None and evidence.drawn.design.units_are_rows:
        uses = (facts.delong, SMALL_CLASS), (facts.smaller_class, FEW_OF_CLASS)
        enough = next((few for known, few in uses if known is not None), FEW_IN_CLASS)
        if of_class < enough:
            words = "row of the smaller class decides"
            if of_class > 1:
                words = "rows of the smaller class decide"
            rows = f"The {of_class:.0f} {words}"
            if facts.class_sizes is not None:
                rows = f"About {min(round(of_class), enough - 1)} rows of each class decide"
            return f"{rows} {{}} (fewer than {enough})"
    if number is None or (facts.proportion is not None and evidence.independent_rows):
        return ""
    few: float = FEW_CARRIERS
    if number == facts.of_kind or evidence.drawn.design.units_are_rows:
        few = facts.few_of_kind or (FEW_CARRY if facts.delong is None else FEW_MISRANKED)
        if few == FEW_CARRY and not np.isfinite(facts.bounds).all():
            few = min(max(evidence.drawn.n_units[0] / UNITS_CARRY, FEW_CARRY), MOST_CARRY)
    if round(number, 6) >= few:
        return ""
    of_all = f"of the {thousands(evidence.drawn.n_units[0])} {unit}s"
    if number < 0.5:
        return f"None {of_all} moves {{}}, so that nothing shows how much others would"
    about = min(round(number), math.ceil(few) - 1)
    decide = "decides" if about == 1 else "decide"
    return f"About {about} {of_all} {decide} {{}} (fewer than {few:.0f})"


def _tell_of_rows(evidence: Evidence) -> None:
    """Add warnings of errors that may not have been seen, and of few rows that decide."""
    facts = evidence.facts
    if facts.proportion is not None and np.isinf(facts.bounds).sum() == 1:
        say(
            "caution",
            "All errors of these rows are 0 or 1, and the interval assumes that no other errors "
            "occur.",
        )
    if text := few_deciding(evidence):
        say("few", f"{text.format('this score')}: expect less coverage than stated.")


def tell_of_groups(evidence: Evidence, *, of_runs: bool = False) -> None:
    """Tell of few groups, of few that count for their size, or of few that decide the score.

    Parameters
    ----------
    evidence : Evidence
        Of groups, or blocks of rows in time.
    of_runs : bool
        See `cautions_of`.
    """
    drawn, unit = evidence.drawn, evidence.drawn.design.unit
    n_groups, expect = drawn.n_units[0], "expect less coverage than stated."
    n_equal = n_groups if drawn.freedom is None else drawn.freedom[0] + drawn.n_strata
    if n_equal < FEW_EQUAL_GROUPS and round(n_equal) < n_groups:
        say(
            "few",
            f"The {thousands(n_groups)} resampled {unit}s differ in size and are equivalent to "
            f"{math.floor(n_equal)} of equal size (fewer than {FEW_EQUAL_GROUPS}): {expect}",
        )
        return
    enough = FEW_BLOCKS if drawn.design.units_are_blocks else FEW_GROUPS
    if n_groups < enough:
        say(
            "few",
            f"Only {n_groups} {unit}s were resampled (fewer than {enough}): {expect}",
        )
        return
    # A score interval of few groups says itself how many carry the variation.
    if (of_runs or evidence.group_influence is None) and (text := few_deciding(evidence)):
        say("few", f"{text.format('this score')}: {expect}")


def _tell_of_members(evidence: Evidence) -> None:
    """Add warnings of few members on one side, and of what a design is known to cover."""
    fewest = min(evidence.drawn.n_units)
    if fewest < FEW_MEMBERS:
        side = "" if evidence.drawn.design.same_population else " on one side"
        say(
            "few",
            f"Only {fewest} members were resampled{side} (fewer than {FEW_MEMBERS}): "
            "expect less coverage than stated.",
        )
    elif caution := evidence.drawn.design.coverage_caution(evidence.drawn.n_units):
        say("caution", caution)


# Score intervals of grouped data, for when a few groups carry most of the variation.
#
# Where one to three groups make all errors, many resamples hold none of them, and a studentized
# interval reaches to the end of the range. A score interval needs no resamples: it holds the values
# that the estimate does not contradict, each with the variance that it would have (Wilson 1927).
#
# * Where both ends of the range are known (accuracy, F1), a value x has variance
#   (x - low) (high - x) / n. That is Wilson's interval at an effective number of rows n.
# * Where one end is known (losses), the variance is proportional to the distance from that end.
# Where none is, the lowest group mean stands for it, or the highest where the long tail is on
# that
# side. Influences without skewness, as those of two groups, show no side: the variance is
# constant.


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


def value_range(evidence: Premises) -> tuple[float, float]:
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
