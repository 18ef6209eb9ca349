"""What is said of the largest gap between subgroups: of a system, or of a difference of systems.

The pair was chosen for being the furthest apart, so its interval is simultaneous over all pairs,
and the words say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..inference.subgroup_gap import SubgroupGap

if TYPE_CHECKING:
    from .result import EvaluationResult


def is_gap(result: EvaluationResult) -> bool:
    """Whether the result is the largest of several differences."""
    evidence = result.evidence
    # By max-t in files that an older version saved.
    return evidence.gap is not None or evidence.max_t is not None


def uses_no_resamples(result: EvaluationResult) -> bool:
    """Whether the interval is made of closed forms."""
    if result.evidence.gap is None or result.confidence_interval.method != "simultaneous":
        return False
    gap = SubgroupGap.of_stored(result.evidence.gap)
    return bool(gap.sides) and gap.replicates is None


def estimand(result: EvaluationResult) -> str:
    """Say what the interval is for."""
    if _of_systems(result):
        return (
            "largest change between subgroups of the difference of two trained systems, on new "
            "data from the same source"
        )
    return (
        "largest difference between subgroups for this trained system, on new data from the same "
        "source"
    )


def method_name(result: EvaluationResult) -> str:
    """Name the interval, and what it is simultaneous over."""
    pairs = "all pairs of subgroups"
    if _of_systems(result):
        pairs += " and all differences of systems"
    if result.confidence_interval.method == "max-t":
        return f"simultaneous over {pairs}, max-t bootstrap"
    return f"simultaneous over {pairs}, from the limits of each subgroup"


def claim_of(result: EvaluationResult, name: str, score: str, rows: str, interval: str) -> str:
    """Say the result in a sentence for a paper."""
    metric, _, pair = name.partition(" gap (")
    what = f"difference in {metric} between subgroups"
    if _of_systems(result):
        what = f"change between subgroups of a difference in {metric}"
    low, high = result.confidence_interval
    told = "This does not show that subgroups differ, nor that they are equal."
    if low > 0 or high < 0:
        told = "On new data from the same source these two differ."
    where = f"({pair.removesuffix(')')}) on {rows}"
    return f"The largest {what} was {score} {where} ({interval}). {told}"


def _of_systems(result: EvaluationResult) -> bool:
    """Whether differences of systems were compared, not scores."""
    return "adjust" in result.settings
