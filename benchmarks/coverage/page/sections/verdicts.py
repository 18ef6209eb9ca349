"""The table at the top, and every cell outside at the end."""

from ..formats import table
from ..registry import section, verdict_rows


@section("verdicts")
def verdicts() -> str:
    """One line for each study."""
    header = (
        "study",
        "cells judged + left out",
        "93 % in % of cells",
        "lowest",
        "widest kind",
        "passes",
    )
    return table(header, [row[:6] for row in verdict_rows()])


@section("outside")
def outside() -> str:
    """Every cell that misses a bound, and every kind that is too wide."""
    lines = [(row.study, *line) for row in verdict_rows() for line in row.outside]
    return table(("study", "cell", "measured", "why it is here"), lines)
