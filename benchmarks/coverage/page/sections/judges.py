"""Scores with a judge, beside human labels alone and forms that others have published."""

from __future__ import annotations

from ...acceptance import is_shown
from ...runner import RESULTS, read
from ...studies import judges as study
from ..formats import table, with_error
from ..registry import VerdictRow, section, verdict

STUDY = "judges"


def _rows() -> list[dict[str, str]]:
    """Rows of the table, in the order of the cells."""
    by_cell = {row["cell"]: row for row in read(RESULTS / f"{STUDY}.csv")}
    return [by_cell[name] for name in sorted(study.CELLS) if name in by_cell]


def _covered(row: dict[str, str]) -> str:
    return with_error(float(row["coverage %"]) / 100, float(row["Monte Carlo error"]) / 100)


def _peer(row: dict[str, str], name: str) -> str:
    return f"{row[f'{name} %']}, {row[f'{name} width']}" if row[f"{name} %"] else ""


@section(STUDY, "studies/judges", STUDY)
def judges() -> str:
    """Coverage and width with the judge, of human labels alone, and of peers."""
    lines = [
        (
            row["cell"],
            f"{_covered(row)}, {row['width']}",
            f"{row['labels alone %']}, {row['labels alone width']}",
            f"{row['ratio']}, {row['median ratio']}",
            row["weight"],
            _peer(row, "PPI++"),
            _peer(row, "strata"),
        )
        for row in _rows()
    ]
    ours = ("covered, width", "human labels alone", "ratio of widths, median", "weight")
    return table(("score, judge, labels", *ours, "PPI++", "strata"), lines)


def outside(row: dict[str, str]) -> list[tuple[str, str, str]]:
    """What of a cell does not meet the rule."""
    n, lines = int(row["data sets"]), []
    if not is_shown(study.AIM / 100, round(float(row["coverage %"]) * n / 100), n):
        said = f"{_covered(row)}, lower limit {row['lower limit']}"
        lines.append((row["cell"], said, f"lower limit under {study.AIM - 2} %"))
    if float(row["ratio"]) > study.WIDEST:
        said = f"{row['ratio']} times the width of labels alone"
        lines.append((row["cell"], said, f"over {study.WIDEST} times"))
    return lines


@verdict(STUDY)
def judges_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    rows = _rows()
    missed = [line for row in rows for line in outside(row)]
    lowest = min(rows, key=lambda row: float(row["coverage %"]))
    widest = max(rows, key=lambda row: float(row["ratio"]))
    share = 1 - len({line[0] for line in missed}) / len(rows)
    return VerdictRow(
        "few human labels and a judge's",
        f"{len(rows)} of {len(study.CELLS)}",
        f"{100 * share:.1f}",
        f"{_covered(lowest)} ({lowest['cell']})",
        f"{widest['ratio']} times labels alone",
        "**no**" if missed else "yes" if len(rows) == len(study.CELLS) else "so far",
        tuple(missed),
    )
