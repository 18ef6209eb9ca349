"""Several runs on one test set."""

from __future__ import annotations

from ...runner import RESULTS, read
from ..formats import table
from ..registry import CaseRow, cases, section


@section("several_runs", "method_next_run")
def several_runs() -> str:
    """Several runs on one test set."""
    lines = [
        (
            row["design"],
            f"{row['n_test']}",
            row["method"],
            row["next_run"],
            row["pooled_method"],
            row["pooled_next_run"],
        )
        for row in read(RESULTS / "method_next_run.csv")
    ]
    header = (
        "design",
        "test rows",
        '"components": method',
        "next run",
        "pooled: method",
        "next run",
    )
    return table(header, lines)


@cases("several_runs")
def case_rows() -> list[CaseRow]:
    """Its line of the cases."""
    rows = read(RESULTS / "method_next_run.csv")
    ours, pooled = (
        [float(row[name]) for row in rows for name in names]
        for names in (("method", "next_run"), ("pooled_method", "pooled_next_run"))
    )
    return [
        CaseRow(
            "several runs of a method on a test set",
            "components",
            f"{min(ours):.1f} to {max(ours):.1f} ({len(ours)})",
            "",
            f"resamples of all runs: {min(pooled):.1f} to {max(pooled):.1f}",
            "under 10 runs: warns",
        )
    ]
