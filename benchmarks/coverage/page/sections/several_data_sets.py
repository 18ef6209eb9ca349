"""Methods compared over several data sets."""

from __future__ import annotations

from ...acceptance import LIMIT, Measured, measured
from ...runner import RESULTS
from ..formats import counted_row, percent, table, with_error
from ..registry import CaseRow, VerdictRow, cases, section, verdict

# Least and greatest level that the rule allows.
NORMAL, OTHERS, HEAVY = (0.035, 0.065), (0.0, 0.075), (0.0, 0.06)
JUDGED = {"two": "skboot", "five": "skboot: max-t"}


def _rows() -> list[Measured]:
    return measured(RESULTS / "several_data_sets.csv")


@section("several_data_sets", "studies/data_sets", "several_data_sets")
def several_data_sets() -> str:
    """How often each way finds what is not there."""
    rows = _rows()
    lines = []
    for cell in dict.fromkeys(row.cell for row in rows):
        own = [row for row in rows if row.cell == cell]
        ours = [_told(row) for row in own if row.tool.startswith("skboot")]
        others = [_told(row) for row in own if not row.tool.startswith("skboot")]
        lines.append((cell, "; ".join(ours), "; ".join(others)))
    return table(("methods, differences, data sets", "skboot, %", "others, %"), lines)


def _told(row: Measured) -> str:
    name = row.tool.removeprefix("skboot").removeprefix(": ")
    return f"{name} {with_error(1 - row.coverage, row.error)}".strip()


def _is_outside(row: Measured) -> bool:
    low, high = NORMAL if "normal," in row.cell.replace("lognormal", "") else OTHERS
    if any(f" {law}," in row.cell for law in ("scales", "collapse")):
        low, high = HEAVY
    low = 0.0 if row.kind == "five" else low
    level, room = 1 - row.coverage, LIMIT * row.error
    return not low - room <= level <= high + room


@verdict("several_data_sets")
def verdict_row() -> VerdictRow:
    """Their line of the verdicts."""
    judged = [row for row in _rows() if row.tool == JUDGED.get(row.kind)]
    outside = [row for row in judged if _is_outside(row)]
    far = max(judged, key=lambda row: 1 - row.coverage)
    return counted_row(
        "methods over several data sets",
        len(judged),
        f"{with_error(1 - far.coverage, far.error)} significant ({far.cell})",
        [(row.cell, percent(1 - row.coverage), "level, 5 nominal") for row in outside],
    )


@cases("several_data_sets")
def case_rows() -> list[CaseRow]:
    """Their line of the cases."""
    rows = [row for row in _rows() if row.kind == "two" and row.tool == "skboot"]
    ours = [100 * (1 - row.coverage) for row in rows]
    return [
        CaseRow(
            "two learning algorithms on several data sets",
            "Student's t, farther on the side of the long tail",
            f"{min(ours):.1f} to {max(ours):.1f} significant by mistake, 5 nominal ({len(ours)})",
            "skewed differences of under 10 data sets: warns",
        )
    ]
