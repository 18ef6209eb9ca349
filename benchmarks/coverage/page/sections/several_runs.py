"""Several runs on one test set."""

from __future__ import annotations

from dataclasses import replace

from ... import acceptance
from ...acceptance import DEFAULT, Measured, measured
from ...runner import RESULTS
from ...studies.seeds_training_test import DESIGNS, STUDY, TOOL
from ..formats import percent, row_of, span, table
from ..registry import CaseRow, VerdictRow, cases, section, verdict

# Our intervals by what they claim.
CLAIMS = {"skboot": "method", "skboot, next run": "next run"}
KINDS = {
    "seed": "Seeds on one training set. The claim is the expected score on *this* set. The last "
    'column is how often "method" covers that of any training set, which it does not claim.',
    "training": "Bootstrap samples of one training set, and a run on the full set.",
    "both": "Several seeds on each bootstrap sample, and as many on the full training set.",
    "independent": "A fresh training set for each run.",
}
OTHERS = (
    ("mean -/+ 1.96 sd / sqrt(runs)", "1.96 sd / sqrt(runs)", "method"),
    ("t over runs", "t over runs", "method"),
    ("one run's test rows", "one run's test rows", "method"),
    ("pooled", "pooled", "method"),
    ("next run by pooled", "pooled", "next run"),
    ("next run by mean -/+ 1.96 sd", "1.96 sd", "next run"),
)


def results() -> list[Measured]:
    """What was measured, tools by the names of their intervals."""
    rows = measured(RESULTS / f"{STUDY.name}.csv")
    return [replace(row, tool=row.tool.removeprefix(f"{TOOL.name}: ")) for row in rows]


def judged() -> acceptance.Verdict:
    """Our intervals, judged by what they claim."""
    rows = [
        replace(row, tool=DEFAULT, cell=f"{row.cell}: {row.target}")
        for row in results()
        if CLAIMS.get(row.tool) == row.target
    ]
    return replace(acceptance.judge(STUDY.name, rows), ratios={})


@section("several_runs", "studies/runs", "seeds_training_test")
def several_runs() -> str:
    """A table for each thing that runs differ in."""
    found = {(row.cell, row.tool, row.target): row for row in results()}
    parts = []
    for kind, caption in KINDS.items():
        names = [one.name for one in DESIGNS if one.varied == kind]
        columns = [
            ("method", "skboot", "method"),
            ("next run", "skboot, next run", "next run"),
            *OTHERS,
        ]
        if kind == "seed":
            columns.append(("method, any training set", "skboot", "any training list"))
        lines = [
            (name, *(percent(found[name, tool, target].coverage) for _, tool, target in columns))
            for name in names
            if (name, "skboot", "method") in found
        ]
        header = ("runs", *(title for title, *_ in columns))
        if lines:
            parts.append(f"{caption}\n\n{table(header, lines)}")
    return "\n\n".join(parts)


@verdict("several_runs")
def of_rule() -> VerdictRow:
    """What came of the rule: two claims a cell."""
    return row_of("several runs", judged(), 2 * len(STUDY.cells))


@cases("several_runs")
def case_rows() -> list[CaseRow]:
    """Its line of the cases."""
    return [
        CaseRow(
            "several training runs on one test set",
            "variance components",
            span([row.coverage for row in judged().cells]),
            "under 10 runs: warns",
        )
    ]
