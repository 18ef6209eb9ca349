"""Rows that are drawn one by one, as a stream."""

from __future__ import annotations

from ...acceptance import ALL, DEFAULT, MOST, SHARE_OF_CELLS, Measured, measured
from ...runner import RESULTS
from ...studies import streamed_systems as study
from ..formats import percent, span, table, with_error
from ..registry import CaseRow, VerdictRow, cases, section, verdict

STUDY = "streamed_systems"
# How far from the default of the same rows together, in cells of so many units.
LEAST_UNITS, MOST_APART, MOST_NARROWER = 200, 0.015, 0.05
TOGETHER = "together"


def _found() -> dict[str, dict[str, Measured]]:
    """Cells and tools, in the order of the study."""
    found: dict[str, dict[str, Measured]] = {cell.name: {} for cell in study.STUDY.cells}
    for row in measured(RESULTS / f"{STUDY}.csv"):
        found[row.cell][row.tool] = row
    return {cell: own for cell, own in found.items() if {study.STREAM, DEFAULT} <= set(own)}


@section(STUDY, "studies/streams", STUDY)
def streamed_systems() -> str:
    """Coverage as a stream by intervals, and beside that of the same rows together."""
    lines = []
    for cell, own in _found().items():
        ours, together = own[study.STREAM], own[DEFAULT]
        named = [percent(own[f"{study.STREAM}: {name}"].coverage) for name in study.BY_NAME]
        width = f"{ours.width / together.width:.2f}"
        covered = with_error(ours.coverage, ours.error)
        lines.append((cell, covered, *named, percent(together.coverage), width))
    last = (TOGETHER, f"width relative to {TOGETHER}")
    return table(("rows of a stream", "default", *study.BY_NAME, *last), lines)


def _n_units(cell: str) -> int:
    """Number of rows, or of groups, that the name of a cell ends with or begins with."""
    words = cell.split()
    return int(words[words.index("groups") - 1] if "groups" in words else words[-1])


def _outside(cell: str, own: dict[str, Measured]) -> list[tuple[str, str, str]]:
    ours, together = own[study.STREAM], own[DEFAULT]
    found = []
    if not ours.is_excepted and not ours.covers(MOST):
        covered = with_error(ours.coverage, ours.error)
        found.append((cell, covered, f"coverage under {100 * MOST:.0f}"))
    if _n_units(cell) < LEAST_UNITS:
        return found
    apart, ratio = ours.coverage - together.coverage, ours.width / together.width
    if abs(apart) > MOST_APART:
        found.append((cell, f"{100 * apart:+.1f}", "from the same rows together"))
    if abs(ratio - 1) > MOST_NARROWER:
        found.append((cell, f"width {ratio:.2f}", "of that of the same rows together"))
    return found


@verdict(STUDY)
def verdict_row() -> VerdictRow:
    """Their line of the verdicts."""
    found = _found()
    judged = [own[study.STREAM] for own in found.values() if not own[study.STREAM].is_excepted]
    outside = [line for cell, own in found.items() for line in _outside(cell, own)]
    kept = sum(row.covers(MOST) for row in judged) / len(judged)
    passes = kept >= SHARE_OF_CELLS and all(row.covers(ALL) for row in judged)
    lowest = min(judged, key=lambda row: row.coverage)
    whole = "yes" if len(found) == len(study.STUDY.cells) else "so far"
    return VerdictRow(
        "rows of a stream",
        f"{len(judged)} of {len(study.STUDY.cells)}",
        percent(kept),
        f"{with_error(lowest.coverage, lowest.error)} ({lowest.cell})",
        "",
        whole if passes else "**no**",
        tuple(outside),
    )


@cases(STUDY)
def case_rows() -> list[CaseRow]:
    """Their line of the cases."""
    of_rows = [own[study.STREAM].coverage for own in _found().values()]
    return [
        CaseRow(
            "batches, dask, files larger than memory",
            "score interval of 0/1 rows; expanded percentile",
            span(of_rows),
            "heavy tails: 91 % of 200 rows; no bootstrap-t exists",
        )
    ]
