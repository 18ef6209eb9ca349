"""Several runs on one test set."""

from __future__ import annotations

from ...runner import RESULTS, read
from ..formats import table
from ..registry import section


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
