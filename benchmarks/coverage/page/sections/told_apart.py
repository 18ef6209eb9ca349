"""Differences of two systems."""

from __future__ import annotations

from functools import partial

from ...acceptance import DEFAULT, NULL, Measured, measured, width_ratio
from ...runner import RESULTS
from ..formats import judged_row, percent, span, table
from ..registry import CaseRow, cases, section, verdict

WHOLE = "difference"


@section("told_apart", "studies/comparisons", "told_apart")
def told_apart() -> str:
    """Coverage of differences, level and power, by kind of cell."""
    rows = measured(RESULTS / "told_apart.csv")
    lines = []
    for kind in dict.fromkeys(row.kind for row in rows):
        own = [row for row in rows if row.kind == kind]
        ours = [row for row in own if row.tool == DEFAULT]
        covers = [row for row in ours if row.target == WHOLE]
        kept = [row.coverage for row in covers if not row.is_excepted]
        out = [row.coverage for row in covers if row.is_excepted]
        equal = {row.cell for row in covers if row.truth == 0}
        told = {row.cell: 1 - row.coverage for row in ours if row.target == NULL}
        lines.append(
            (
                kind,
                span(kept),
                span(out),
                span([share for cell, share in told.items() if cell in equal]),
                span([share for cell, share in told.items() if cell not in equal]),
                _others(own),
            )
        )
    header = (
        "systems",
        "covers",
        "covers, excluded",
        "equal: significant",
        "unequal: significant",
        "other intervals: our width to theirs, their lowest coverage",
    )
    return table(header, lines)


def _others(rows: list[Measured]) -> str:
    """Our width by that of each other interval, and the lowest coverage of each."""
    ours = {row.cell: row for row in rows if (row.tool, row.target) == (DEFAULT, WHOLE)}
    found: dict[str, list[Measured]] = {}
    for row in rows:
        if row.target == WHOLE and row.tool != DEFAULT:
            found.setdefault(row.tool, []).append(row)
    return "; ".join(
        f"{width_ratio([ours[row.cell] for row in theirs], theirs):.2f} {tool}, "
        f"{percent(min(row.coverage for row in theirs))}"
        for tool, theirs in found.items()
    )


@section("told_apart_tools", "studies/comparisons", "told_apart")
def tools() -> str:
    """How often each tool tells equal systems apart, and unequal ones beside the default."""
    rows = measured(RESULTS / "told_apart.csv")
    unequal = {row.cell for row in rows if row.target == WHOLE and row.truth != 0}
    null = [row for row in rows if row.target == NULL]
    ours = {row.cell: 1 - row.coverage for row in null if row.tool == DEFAULT}
    lines = []
    for tool in dict.fromkeys(row.tool for row in null):
        own = {row.cell: row for row in null if row.tool == tool}
        level = [row for cell, row in own.items() if cell not in unequal]
        above = sum(row.tells_too_often for row in level)
        gains = [1 - row.coverage - ours[cell] for cell, row in own.items() if cell in unequal]
        power = f"{100 * sum(gains) / len(gains):+.1f} ({len(gains)})" if gains else ""
        shares = span([1 - row.coverage for row in level])
        lines.append((tool, shares, str(above), "" if tool == DEFAULT else power))
    header = (
        "tool",
        "equal: significant (cells)",
        "cells above 5 %",
        "power less ours, mean (cells)",
    )
    return table(header, lines)


verdict("told_apart")(partial(judged_row, "told_apart", "differences of two models"))


@cases("told_apart")
def case_rows() -> list[CaseRow]:
    """Their line of the cases."""
    rows = measured(RESULTS / "told_apart.csv")
    own = [row for row in rows if (row.tool, row.target) == (DEFAULT, WHOLE)]
    kept = [row.coverage for row in own if not row.is_excepted]
    choice = (
        "expanded percentile; logit-DeLong for areas; Tango under ten rows with disagreement; "
        "`smoothed` where under 30 rows decide another function of a table; t under ten units"
    )
    fails = "few units that differ: t, and warns"
    return [CaseRow("difference of two models", choice, span(kept), fails)]
