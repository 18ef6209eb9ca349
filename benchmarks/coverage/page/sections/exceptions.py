"""Ladders across the bounds of the exceptions."""

from __future__ import annotations

from ...acceptance import measured
from ...runner import RESULTS
from ..formats import table, with_error
from ..registry import section


@section("at_the_bounds", "at_the_bounds")
def at_the_bounds() -> str:
    """Coverage of the default at each rung."""
    rows = measured(RESULTS / "at_the_bounds.csv")
    lines = [(row.kind, row.cell, with_error(row.coverage, row.error)) for row in rows]
    # As the study has them, whatever was run first.
    kinds = list(dict.fromkeys(row.kind for row in rows))
    return table(
        ("exception", "cell", "covers, %"), sorted(lines, key=lambda line: kinds.index(line[0]))
    )
