"""Gaps of subgroups."""

from __future__ import annotations

from ...runner import RESULTS, read
from ..formats import table
from ..registry import CaseRow, cases, section


@section("gaps", "studies/subgroups", "gaps")
def gaps() -> str:
    """How often equal subgroups are told apart."""
    lines = [
        (row["cell"], row["told_apart"], row["before"] or "–") for row in read(RESULTS / "gaps.csv")
    ]
    return table(("design", "gap excludes 0, %", "by resamples alone, %"), lines)


@cases("gaps")
def case_rows() -> list[CaseRow]:
    """Its line of the cases."""
    rows = [row for row in read(RESULTS / "gaps.csv") if not row["cell"].startswith("power")]
    ours, before = (
        [float(row[name]) for row in rows if row[name]] for name in ("told_apart", "before")
    )
    return [
        CaseRow(
            "largest gap of subgroups",
            "limits of each subgroup, put together",
            f"{min(ours)} to {max(ours)} found by mistake, 5 meant ({len(ours)})",
            "",
            f"resamples alone: {min(before)} to {max(before)} found",
            "small subgroups: seldom finds a gap",
        )
    ]
