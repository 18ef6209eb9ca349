"""Bands of curves of a stream, whose scores are counted in intervals."""

from __future__ import annotations

from ...acceptance import DEFAULT, MOST, Measured, measured
from ...runner import RESULTS
from ...studies import streamed_curves as study
from ..formats import percent, span, table, with_error
from ..registry import CaseRow, VerdictRow, cases, section, verdict

STUDY = "streamed_curves"
# How far the mean width may be from that of the same rows together.
MOST_WIDER = 0.1


def _found() -> dict[str, dict[str, Measured]]:
    """Cells and tools, in the order of the study."""
    found: dict[str, dict[str, Measured]] = {cell.name: {} for cell in study.STUDY.cells}
    for row in measured(RESULTS / f"{STUDY}.csv"):
        found[row.cell][row.tool] = row
    return {cell: own for cell, own in found.items() if set(study.TOOLS) <= set(own)}


@section(STUDY, "studies/streams", STUDY)
def streamed_curves() -> str:
    """Coverage of bands with 1024 and with 64 intervals, and beside those of the rows together."""
    lines = []
    for cell, own in _found().items():
        covered = [with_error(own[tool].coverage, own[tool].error) for tool in study.TOOLS]
        together = own[DEFAULT].width
        widths = [f"{own[tool].width / together:.2f}" for tool in (study.STREAM, study.FEWER)]
        lines.append((cell, *covered, *widths))
    intervals = ("1024 intervals", f"{study.FEW} intervals")
    return table(("curve", *intervals, "together", "width", f"width, {study.FEW}"), lines)


def _outside(cell: str, own: dict[str, Measured]) -> list[tuple[str, str, str]]:
    found = []
    for tool, name in ((study.STREAM, "1024 intervals"), (study.FEWER, f"{study.FEW} intervals")):
        if not own[tool].covers(MOST):
            covered = with_error(own[tool].coverage, own[tool].error)
            found.append((f"{cell}, {name}", covered, f"coverage under {100 * MOST:.0f}"))
    ratio = own[study.STREAM].width / own[DEFAULT].width
    if abs(ratio - 1) > MOST_WIDER:
        found.append((cell, f"width {ratio:.2f}", "of that of the same rows together"))
    return found


@verdict(STUDY)
def verdict_row() -> VerdictRow:
    """Their line of the verdicts."""
    found = _found()
    judged = [own[tool] for own in found.values() for tool in (study.STREAM, study.FEWER)]
    outside = [line for cell, own in found.items() for line in _outside(cell, own)]
    lowest = min(judged, key=lambda row: row.coverage)
    widest = max(own[study.STREAM].width / own[DEFAULT].width for own in found.values())
    whole = "yes" if len(found) == len(study.STUDY.cells) else "so far"
    return VerdictRow(
        "curves of a stream",
        f"{len(found)} of {len(study.STUDY.cells)}",
        percent(sum(row.covers(MOST) for row in judged) / len(judged)),
        f"{with_error(lowest.coverage, lowest.error)} ({lowest.cell})",
        f"{widest:.2f}",
        "**no**" if outside else whole,
        tuple(outside),
    )


@cases(STUDY)
def case_rows() -> list[CaseRow]:
    """Their line of the cases."""
    found = list(_found().values())
    few = span([own[study.FEWER].coverage for own in found])
    return [
        CaseRow(
            "curves of batches, dask, files larger than memory",
            "simultaneous band, wider by what intervals of scores hide",
            span([own[study.STREAM].coverage for own in found]),
            f"a sixteenth of the intervals: {few} covered",
        )
    ]
