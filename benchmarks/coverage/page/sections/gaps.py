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
    return table(("design", "disparity excludes 0, %", "by resamples alone, %"), lines)


@cases("gaps")
def case_rows() -> list[CaseRow]:
    """Its line of the cases."""
    rows = [row for row in read(RESULTS / "gaps.csv") if not row["cell"].startswith("power")]
    ours, before = (
        [float(row[name]) for row in rows if row[name]] for name in ("told_apart", "before")
    )
    return [
        CaseRow(
            "largest disparity between subgroups",
            "combined limits of the subgroups",
            f"{min(ours)} to {max(ours)} significant by mistake, 5 nominal ({len(ours)})",
            "",
            f"resamples alone: {min(before)} to {max(before)} significant",
            "small subgroups: low power",
        )
    ]
