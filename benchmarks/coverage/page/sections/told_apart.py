"""Differences of two systems."""

from __future__ import annotations

from functools import partial

from ...acceptance import DEFAULT, NULL, measured
from ...runner import RESULTS
from ..formats import judged_row, percent, span, table
from ..registry import CaseRow, cases, section, verdict


@section("told_apart", "told_apart")
def told_apart() -> str:
    """Coverage, level and power of differences."""
    rows = measured(RESULTS / "told_apart.csv")
    names = list(dict.fromkeys(row.tool for row in rows))
    lines = []
    for cell in dict.fromkeys(row.cell for row in rows):
        line = [cell]
        for name in names:
            both = {row.target: row for row in rows if (row.cell, row.tool) == (cell, name)}
            if not both:
                line.append("")
                continue
            covers, null = both["difference"], both[NULL]
            line.append(f"{percent(covers.coverage)} / {percent(1 - null.coverage)}")
        lines.append(tuple(line))
    return table(("systems", *names), lines)


verdict("told_apart")(partial(judged_row, "told_apart", "differences of two systems"))


@cases("told_apart")
def case_rows() -> list[CaseRow]:
    """Its line of the cases."""
    rows = measured(RESULTS / "told_apart.csv")
    covered = [row.coverage for row in rows if (row.tool, row.target) == (DEFAULT, "difference")]
    choice = "expanded percentile; Tango under ten rows that tell them apart"
    return [CaseRow("difference of two systems", choice, span(covered), "", "", "")]
