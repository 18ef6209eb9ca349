"""Ladders across the bounds of the exclusions."""

from __future__ import annotations

from ...acceptance import measured
from ...runner import RESULTS, read
from ..formats import table, with_error
from ..registry import section


@section("at_the_bounds", "studies/exclusions", "at_the_bounds")
def at_the_bounds() -> str:
    """Coverage of the default at each rung."""
    rows = measured(RESULTS / "at_the_bounds.csv")
    lines = [(row.kind, row.cell, with_error(row.coverage, row.error)) for row in rows]
    # As the study has them, whatever was run first.
    kinds = list(dict.fromkeys(row.kind for row in rows))
    return table(
        ("exclusion", "cell", "covers, %"), sorted(lines, key=lambda line: kinds.index(line[0]))
    )


@section("method_thresholds", "studies/exclusions", "method_thresholds")
def method_thresholds() -> str:
    """Coverage of .632+ and .632 against the share of the error that training rows show."""
    rows = [row for row in read(RESULTS / "method_thresholds.csv") if row["part"] == "near_perfect"]
    lines = [
        (row["cell"], row["at"], row["covered .632+ %"], row["covered .632 %"])
        for row in sorted(rows, key=lambda row: float(row["at"]))
    ]
    return table(
        (
            "learner",
            "error on training rows / out-of-bag error",
            ".632+ covers, %",
            ".632 covers, %",
        ),
        lines,
    )
