"""Gaps of subgroups."""

from __future__ import annotations

from ...runner import RESULTS, read
from ..formats import table
from ..registry import section


@section("gaps", "studies/subgroups", "gaps")
def gaps() -> str:
    """How often equal subgroups are told apart."""
    lines = [
        (row["cell"], row["told_apart"], row["before"] or "–") for row in read(RESULTS / "gaps.csv")
    ]
    return table(("design", "disparity excludes 0, %", "by resamples alone, %"), lines)
