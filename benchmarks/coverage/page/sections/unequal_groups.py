"""Groups of unequal size, before and after they counted like fewer."""

from __future__ import annotations

from ...runner import RESULTS, read
from ..formats import table, with_error
from ..registry import VerdictRow, section, verdict

STUDY = "unequal_groups"
# Least lower limits of coverage in percent, of one score and of no wrong pair; effective groups.
LEAST, LEAST_PAIRS, FEWEST = 90.5, 92.0, 12.0


def _rows(version: str) -> list[dict[str, str]]:
    return [row for row in read(RESULTS / f"{STUDY}.csv") if row["version"] == version]


def _covered(row: dict[str, str]) -> str:
    return with_error(float(row["coverage %"]) / 100, float(row["Monte Carlo error"]) / 100)


@section(STUDY, STUDY)
def unequal_groups() -> str:
    """What intervals of one score, and of differences, cover, beside what they did."""
    header = ("cell", "seed", "counts like", "before, %", "after, %", "widths", "warned, %")
    before = {(row["cell"], row["seed"]): row for row in _rows("before")}
    lines = []
    for row in _rows("after"):
        old = before[row["cell"], row["seed"]]
        widths = f"{old['width']}, {row['width']}"
        named = (row["cell"], row["seed"], row["effective groups"])
        lines.append((*named, _covered(old), _covered(row), widths, row["warned %"]))
    return table(header, lines)


@verdict(STUDY)
def unequal_groups_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    rows = [row for row in _rows("after") if float(row["effective groups"]) >= FEWEST]
    outside = tuple(
        (
            f"{row['cell']}, seed {row['seed']}",
            f"{_covered(row)}, lower limit {row['lower limit']}",
            "lower limit under 90.5 %, of no wrong pair under 92 %",
        )
        for row in rows
        if float(row["lower limit"]) < (LEAST_PAIRS if "systems" in row["cell"] else LEAST)
    )
    lowest = min(rows, key=lambda row: float(row["coverage %"]))
    return VerdictRow(
        "groups of unequal size",
        str(len(rows)),
        f"{100 * (1 - len(outside) / len(rows)):.1f}",
        f"{_covered(lowest)} ({lowest['cell']})",
        "",
        "**no**" if outside else "yes",
        outside,
    )
