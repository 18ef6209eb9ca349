"""Subgroups and their largest gap."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from ... import acceptance
from ...acceptance import DEFAULT, NULL, Measured, measured
from ...runner import RESULTS
from ..formats import percent, span, table, with_error
from ..registry import CaseRow, VerdictRow, cases, section, verdict

STUDY = "subgroups"
OWN = ("smallest", "largest")


def _is_null(row: Measured) -> bool:
    """Whether nothing differs."""
    return row.target == NULL and row.kind == "equal"


def _given(rows: list[Measured]) -> list[Measured]:
    """Without data sets that have no gap; none where most have none."""
    found = []
    for row in rows:
        if row.target != "gap" or row.tool != DEFAULT:
            found.append(row)
        elif 2 * row.without < row.repetitions:
            n = row.repetitions - row.without
            found.append(replace(row, repetitions=n, missed=row.missed - row.without, without=0))
    return found


def _rows() -> list[Measured]:
    return _given(measured(RESULTS / f"{STUDY}.csv"))


@section(STUDY, "studies/subgroups", STUDY)
def subgroups() -> str:
    """Intervals of subgroups, and what the largest gap finds."""
    rows = _rows()
    lines = []
    for cell in dict.fromkeys(row.cell for row in rows):
        own = {row.target: row for row in rows if (row.cell, row.tool) == (cell, DEFAULT)}
        others = [
            f"{row.tool} {percent(1 - row.coverage)}"
            for row in rows
            if row.cell == cell and row.tool != DEFAULT and row.target == NULL
        ]
        one = [percent(own[name].coverage) if name in own else "" for name in (*OWN, "gap")]
        told = with_error(1 - own[NULL].coverage, own[NULL].error)
        lines.append((cell, told, one[2], f"{one[0]} / {one[1]}".strip(" /"), "; ".join(others)))
    header = (
        "subgroups",
        "disparity significant, %",
        "disparity covers",
        "smallest / largest subgroup covers",
        "other tools: significant, %",
    )
    return table(header, lines)


@verdict(STUDY)
def verdict_row() -> VerdictRow:
    """Their line of the verdicts."""
    rows = _rows()
    ours = [row for row in rows if row.tool == DEFAULT]
    above = [row for row in ours if _is_null(row) and row.tells_too_often]
    found = acceptance.judge(STUDY, rows)
    planned = len(import_module(f"benchmarks.coverage.studies.{STUDY}").STUDY.cells)
    n_run = len({row.cell for row in ours})
    breaks = above or found.under_all or found.share < acceptance.SHARE_OF_CELLS
    lowest = min(found.cells, key=lambda row: row.coverage)
    outside = [(row, "equal ones significant in over 5 %") for row in above]
    outside += [
        (row, f"coverage under {91 if row in found.under_all else 93}") for row in found.under_most
    ]
    outside += [(row, "excluded: skboot warns") for row in found.left_out]
    return VerdictRow(
        "subgroups and their largest disparity",
        f"{n_run} of {planned}, {len(found.cells)} + {len(found.left_out)} intervals",
        percent(found.share),
        f"{with_error(lowest.coverage, lowest.error)} ({lowest.target}: {lowest.cell})",
        "",
        "**no**" if breaks else "yes" if n_run == planned else "so far",
        tuple((f"{row.target}: {row.cell}", _number(row), why) for row, why in outside),
    )


def _number(row: Measured) -> str:
    return with_error(1 - row.coverage if row.target == NULL else row.coverage, row.error)


@cases(STUDY)
def case_rows() -> list[CaseRow]:
    """Their lines of the cases."""
    ours = [row for row in _rows() if row.tool == DEFAULT]
    kept = [row.coverage for row in ours if row.target in OWN and not row.is_excepted]
    told = [1 - row.coverage for row in ours if _is_null(row)]
    return [
        CaseRow("one subgroup", "as for the score", span(kept), "under 10 rows: left out"),
        CaseRow(
            "largest disparity between subgroups",
            "combined limits of the subgroups",
            f"{span(told)} significant by mistake, 5 nominal",
            "small subgroups: low power",
        ),
    ]
