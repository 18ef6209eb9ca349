"""Two methods at one training-set size, by us and by the tests in use."""

from __future__ import annotations

from importlib import import_module

from ...acceptance import DEFAULT, MOST, NULL, Measured, is_shown, measured
from ...runner import RESULTS
from ..formats import counted_row, percent, span, table, with_error
from ..registry import CaseRow, VerdictRow, cases, section, verdict

STUDY, OF_FEW_ROWS = "methods_compared", "close_methods"


def _of(target: str, tool: str = DEFAULT, study: str = STUDY) -> list[Measured]:
    rows = measured(RESULTS / f"{study}.csv")
    return [row for row in rows if (row.target, row.tool) == (target, tool)]


def _equal() -> set[str]:
    """Cells whose methods are equal, but for the error of a truth by simulation."""
    return {row.cell for row in _of("difference") if abs(row.truth) < 0.002}


@section(STUDY, "studies/method_comparisons", STUDY)
def methods_compared() -> str:
    """How often methods are told apart, and the difference held."""
    rows = measured(RESULTS / f"{STUDY}.csv")
    tools = list(dict.fromkeys(row.tool for row in rows))
    lines = []
    for cell in dict.fromkeys(row.cell for row in rows):
        own = {(row.tool, row.target): row for row in rows if row.cell == cell}
        lines.append((cell, *(_both(own, tool) for tool in tools)))
    return table(("methods", *tools), lines)


def _both(own: dict[tuple[str, str], Measured], tool: str) -> str:
    told = own.get((tool, NULL))
    if told is None:
        return ""
    held = own.get((tool, "difference"))
    covers = f" / {percent(held.coverage)}" if held else ""
    return f"{percent(1 - told.coverage)}{covers}"


@verdict(STUDY)
def verdict_row() -> VerdictRow:
    """Their line of the verdicts."""
    held = _of("difference")
    outside = [
        (row.cell, with_error(1 - row.coverage, row.error), "equal ones significant in over 5 %")
        for row in _of(NULL)
        if row.cell in _equal() and row.tells_too_often
    ]
    outside += [
        (row.cell, with_error(row.coverage, row.error), "coverage under 93")
        for row in held
        if not row.covers(MOST)
    ]
    worst = min(held, key=lambda row: row.coverage)
    planned = len(import_module(f"benchmarks.coverage.studies.{STUDY}").STUDY.cells)
    return counted_row(
        "two methods compared",
        len(held),
        f"{with_error(worst.coverage, worst.error)} ({worst.cell})",
        outside,
        planned=planned,
        n_outside=len({line[0] for line in outside}),
    )


@cases(STUDY)
def case_rows() -> list[CaseRow]:
    """Their line of the cases."""
    return [
        CaseRow(
            "difference of two learning algorithms, no test set",
            "cross-validation, spread of bootstrap training samples",
            span([row.coverage for row in _of("difference")]),
            "",
        )
    ]


# ------------------------------------------------------------------ nearly equal methods


@section(OF_FEW_ROWS, "studies/method_comparisons", OF_FEW_ROWS)
def close_methods() -> str:
    """How often the difference is held, and methods are told apart."""
    told = {row.cell: 1 - row.coverage for row in _of(NULL, study=OF_FEW_ROWS)}
    lines = [
        (
            row.cell,
            f"{row.truth:+.4f}",
            with_error(row.coverage, row.error),
            f"{row.width:.3f}",
            percent(told[row.cell]),
        )
        for row in _of("difference", study=OF_FEW_ROWS)
    ]
    header = ("methods", "true difference of errors", "covered, %", "mean width", "significant, %")
    return table(header, lines)


@verdict(OF_FEW_ROWS)
def close_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    held = _of("difference", study=OF_FEW_ROWS)
    outside = [
        (row.cell, with_error(row.coverage, row.error), "not shown to be 93 %")
        for row in held
        if not is_shown(MOST, row.repetitions - row.missed, row.repetitions)
    ]
    worst = min(held, key=lambda row: row.coverage)
    planned = len(import_module(f"benchmarks.coverage.studies.{OF_FEW_ROWS}").STUDY.cells)
    return counted_row(
        "nearly equal methods, few rows",
        len(held),
        f"{with_error(worst.coverage, worst.error)} ({worst.cell})",
        outside,
        planned=planned,
        widest="no rule",
    )
