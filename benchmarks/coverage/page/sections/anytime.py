"""Looks that may be repeated: paths that ever leave out the truth, and where a gate stops."""

from __future__ import annotations

from ...runner import RESULTS, read
from ...studies import anytime as study
from ..formats import counted_row, table
from ..registry import VerdictRow, section, verdict

STUDY, STOPPING = "anytime", "anytime_stopping"
# What the rule asks, in percent of the paths, by how many sides count.
MOST = {"2": 5.5, "1": 2.8}


@section(STUDY, "studies/looks", STUDY)
def anytime() -> str:
    """The share of paths of each cell, beside both peers."""
    lines = [
        (
            row["cell"],
            f"{row['ever %']} ({row['Monte Carlo error']})",
            row["truth below %"],
            row["truth above %"],
            row["each at 95 %"],
            row["plug-in"],
        )
        for row in read(RESULTS / f"{STUDY}.csv")
    ]
    header = (
        "paths",
        "ever missed, %",
        "truth below",
        "above",
        "each look at 95 %",
        "plug-in variance",
    )
    return table(header, lines)


@section(STOPPING, "studies/looks", STOPPING)
def anytime_stopping() -> str:
    """What each plan of looks decides, and at how many rows."""
    lines = [
        tuple(row[name] for name in study.STOPPING if name != "paths")
        for row in read(RESULTS / f"{STOPPING}.csv")
    ]
    return table(tuple(name for name in study.STOPPING if name != "paths"), lines)


@verdict(STUDY)
def anytime_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    rows = read(RESULTS / f"{STUDY}.csv")
    missed = tuple(
        (row["cell"], f"{row['ever %']} % ever missed", f"over {MOST[row['sides']]} %")
        for row in rows
        if float(row["ever %"]) > MOST[row["sides"]]
    )
    worst = max(rows, key=lambda row: float(row["ever %"]) / MOST[row["sides"]])
    planned = len(study.cells())
    return counted_row(
        "repeated looks",
        len(rows),
        f"{worst['ever %']} % ever missed ({worst['cell']})",
        missed,
        planned=planned,
    )
