"""Averages over tasks."""

from __future__ import annotations

from math import sqrt

from ...acceptance import LIMIT, MOST
from ...runner import RESULTS, read
from ..formats import counted_row, percent, span, table, with_error
from ..registry import CaseRow, VerdictRow, cases, section, verdict

NAMES = {"accuracy": "accuracy", "f1_macro": "macro F1", "roc_auc": "area under the ROC curve"}
TASKS = {"fixed": "fixed", "drawn": "resampled"}


def _rows():
    """Lines of the results, with the coverage and its error as shares."""
    for row in read(RESULTS / "task_averages.csv"):
        coverage = float(row["coverage"]) / 100
        row = row | {"tasks": TASKS[row["tasks"]]}
        yield row, coverage, sqrt(coverage * (1 - coverage) / int(row["sets"]))


@section("task_averages", "studies/tasks", "task_averages")
def task_averages() -> str:
    """Coverage by number and size of tasks."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for row, coverage, _ in _rows():
        cell = found.setdefault((row["tasks"], row["n"], row["rows"]), {})
        cell[row["metric"]] = percent(coverage)
    lines = [(*cell, *(values.get(name, "") for name in NAMES)) for cell, values in found.items()]
    return table(("tasks are", "tasks", "rows a task", *NAMES.values()), lines)


@verdict("task_averages")
def verdict_row() -> VerdictRow:
    """Their line of the verdicts."""
    found = list(_rows())
    outside = tuple(
        (_name(row), with_error(coverage, error), "coverage under 93")
        for row, coverage, error in found
        if coverage + LIMIT * error < MOST
    )
    lowest, coverage, error = min(found, key=lambda one: one[1])
    return counted_row(
        "averages over tasks",
        len(found),
        f"{with_error(coverage, error)} ({_name(lowest)})",
        outside,
    )


def _name(row: dict[str, str]) -> str:
    return f"{NAMES[row['metric']]}, {row['n']} {row['tasks']} tasks of {row['rows']} rows"


@cases("task_averages")
def case_rows() -> list[CaseRow]:
    """Their lines of the cases."""
    chosen = {
        "fixed": (
            "average over fixed tasks",
            "expanded; corrected for bias; accuracy: `smoothed` where under 30 rows decide",
            "macro F1 of 10 rows a task: 92 %",
        ),
        "resampled": ("average over tasks like these", "t over tasks", "under 10 tasks: warns"),
    }
    return [
        CaseRow(name, choice, span([c for row, c, _ in _rows() if row["tasks"] == tasks]), fails)
        for tasks, (name, choice, fails) in chosen.items()
    ]
