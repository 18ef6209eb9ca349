"""Intervals of one of several differences, which hold for all of them at once."""

from __future__ import annotations

from ..evidence import Evidence
from . import registered


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
    from ..multiplicity import max_t_quantile, t_quantile_of_normal

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
    from ..subgroup_gap import SubgroupGap, gap_limits

    assert evidence.gap is not None
    return gap_limits(SubgroupGap.of_stored(evidence.gap), evidence.replicates, confidence_level)
