"""Rows in time."""

from __future__ import annotations

from ...acceptance import DEFAULT, LIMIT, Measured, measured
from ...runner import RESULTS
from ...studies import series as study
from ..formats import counted_row, percent, span, table, with_error
from ..registry import CaseRow, VerdictRow, cases, section, verdict

STUDY = "series"
ROWS, NEWEY_WEST = "skboot, rows", "Newey-West"
COLUMNS = (
    DEFAULT,
    *(f"{DEFAULT}: {name}" for name in ("expanded", "percentile", "t", "bca")),
    ROWS,
    NEWEY_WEST,
)
# What the rule asks of two cells, and how much independent rows may lose.
LEAST = {"MAE, coefficient 0.85, n 400": 0.90, "MAE, coefficient 0.5, n 400": 0.92}
MOST_LOST = 0.015
# Other cells are named where they cover less.
NAMED = 0.90
INDEPENDENT = "coefficient 0.0,"


def _found() -> dict[str, dict[str, Measured]]:
    """Cells and tools, in the order of the study."""
    found: dict[str, dict[str, Measured]] = {cell.name: {} for cell in study.STUDY.cells}
    for row in measured(RESULTS / f"{STUDY}.csv"):
        found[row.cell][row.tool] = row
    return {cell: own for cell, own in found.items() if DEFAULT in own}


@section(STUDY, "studies/series", STUDY)
def series() -> str:
    """Coverage by intervals of the same resamples, with rows and the customary interval beside."""
    lines = []
    for cell, own in _found().items():
        ours = own[DEFAULT]
        shares = [percent(own[tool].coverage) if tool in own else "" for tool in COLUMNS[1:]]
        width = f"{ours.width / own[ROWS].width:.2f}"
        lines.append((cell, with_error(ours.coverage, ours.error), *shares, width))
    names = [tool.removeprefix(f"{DEFAULT}: ").removeprefix("skboot, ") for tool in COLUMNS[1:]]
    return table(("rows in time", "default", *names, "width relative to rows"), lines)


def _outside(cell: str, own: dict[str, Measured]) -> list[tuple[str, str, str]]:
    ours = own[DEFAULT]
    found = []
    least = LEAST.get(cell, NAMED)
    if not ours.covers(least):
        bound = f"coverage under {100 * least:.0f}"
        found.append((cell, with_error(ours.coverage, ours.error), bound))
    if INDEPENDENT in cell:
        lost = own[ROWS].coverage - ours.coverage
        if lost - LIMIT * ours.error > MOST_LOST:
            found.append((cell, percent(lost), "lost on independent rows"))
    return found


@verdict(STUDY)
def verdict_row() -> VerdictRow:
    """Their line of the verdicts."""
    found = _found()
    outside = [line for cell, own in found.items() for line in _outside(cell, own)]
    lowest = min((own[DEFAULT] for own in found.values()), key=lambda row: row.coverage)
    planned = len(study.STUDY.cells)
    return counted_row(
        "rows in time",
        len(found),
        f"{with_error(lowest.coverage, lowest.error)} ({lowest.cell})",
        outside,
        planned=planned,
        n_outside=len({line[0] for line in outside}),
    )


@cases(STUDY)
def case_rows() -> list[CaseRow]:
    """Their lines of the cases."""
    chosen = {
        "forecasts and other rows in time, `block_length`": (
            ("MAE", "accuracy", "panel"),
            "bootstrap-t; score interval where few rows or blocks vary",
            "slow errors: 93 %; under 25 blocks: warns",
        ),
        "areas under curves in time, two forecasts": (
            ("AUC", "difference of MSE"),
            "EWC; expanded percentile for differences",
            "very slow errors behind quick ones: 78 %; under 25 blocks: warns",
        ),
    }
    found = list(_found().values())
    lines = []
    for case, (kinds, choice, fails) in chosen.items():
        own = [tools for tools in found if tools[DEFAULT].kind in kinds]
        covers = span([tools[DEFAULT].coverage for tools in own])
        lines.append(CaseRow(case, choice, covers, fails))
    return lines
