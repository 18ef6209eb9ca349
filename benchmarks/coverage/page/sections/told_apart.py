"""Differences of two systems."""

from __future__ import annotations

from functools import partial

from ...acceptance import NULL, measured
from ...runner import RESULTS
from ..formats import judged_row, percent, table
from ..registry import section, verdict


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
