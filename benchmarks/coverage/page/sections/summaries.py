"""Tables that span the page: cases and verdicts at the top, every cell outside at the end."""

from ..formats import table
from ..registry import case_rows, section, verdict_rows


@section("cases", "guide/trust")
def cases() -> str:
    """One line for each case."""
    header = (
        "metric, data or comparison",
        '"auto" takes',
        "covers, % (cells)",
        "when it fails",
    )
    return table(header, [(f"**{row.case}**", *row[1:]) for row in case_rows()])


@section("verdicts", "studies/index")
def verdicts() -> str:
    """One line for each study."""
    header = ("study", "cells", "cells within the rule, %", "worst", "widest kind", "passes")
    return table(header, [row[:6] for row in verdict_rows()])


@section("outside", "studies/outside")
def outside() -> str:
    """Every cell that misses a bound, and every kind that is too wide."""
    lines = [(row.study, *line) for row in verdict_rows() for line in row.outside]
    return table(("study", "cell", "measured", "why it is here"), lines)
