"""Rows in time that are slow, few or seasonal, before and after, beside other standard errors."""

from __future__ import annotations

from ...acceptance import is_shown
from ...runner import RESULTS, read
from ...studies import slow_series as study
from ..formats import table, with_error
from ..registry import VerdictRow, section, verdict

STUDY = "slow_series"
# What the rule asks: points that may be lost, where a warning is due and how often, in percent, and
# the width by Wilson's of independent rows.
MOST_LOST, BREAKS, WARNED, WIDEST = 1.5, 90.0, 80.0, 1.2
INDEPENDENT = "accuracy 0.97, coefficient 0.0, n 300"
PEERS = ("EWC", "Newey-West", "Diebold-Mariano", "Wilson", "one season")


def found() -> dict[str, dict[tuple[str, str], dict[str, str]]]:
    """Rows by cell, and within by tool and version."""
    by_cell: dict[str, dict[tuple[str, str], dict[str, str]]] = {}
    for row in read(RESULTS / f"{STUDY}.csv"):
        by_cell.setdefault(row["cell"], {})[row["tool"], row["version"]] = row
    return by_cell


def _covered(row: dict[str, str]) -> str:
    return with_error(float(row["coverage %"]) / 100, float(row["Monte Carlo error"]) / 100)


@section(STUDY, "studies/series", STUDY)
def slow_series() -> str:
    """Coverage with width, and the share of data sets that warned."""
    lines = []
    for cell, own in found().items():
        before, after = own["skboot", "before"], own["skboot", "after"]
        peers = "<br>".join(
            f"{name} {own[name, 'after']['coverage %']}, {own[name, 'after']['width']}"
            for name in PEERS
            if (name, "after") in own
        )
        pair = (f"{_covered(row)}, {row['width']}" for row in (before, after))
        lines.append((cell, *pair, f"{before['warned %']}, {after['warned %']}", peers))
    header = ("rows in time", "before, width", "after, width", "warned, %", "others, width")
    return table(header, lines)


def outside(cell: str, own: dict[tuple[str, str], dict[str, str]]) -> list[tuple[str, str, str]]:
    """What of a cell does not meet the rule."""
    before, after = own["skboot", "before"], own["skboot", "after"]
    share, n = float(after["coverage %"]), int(after["data sets"])
    lines = []
    aim = study.AIMS.get(cell)
    if aim is not None and not is_shown(aim / 100, round(share * n / 100), n):
        said = f"{_covered(after)}, lower limit {after['lower limit']}"
        lines.append((cell, said, f"lower limit under {aim - 2} %"))
    if share < float(before["coverage %"]) - MOST_LOST:
        lines.append((cell, f"{_covered(before)}, then {_covered(after)}", "coverage lost"))
    if share < BREAKS and float(after["warned %"]) < WARNED:
        lines.append(
            (cell, f"{_covered(after)}, warned {after['warned %']} %", "warned too seldom")
        )
    if cell == INDEPENDENT:
        ratio = float(after["width"]) / float(own["Wilson", "after"]["width"])
        if ratio > WIDEST:
            lines.append((cell, f"{ratio:.2f} times Wilson's width", f"over {WIDEST} times"))
    return lines


@verdict(STUDY)
def slow_series_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    cells = found()
    missed = [line for cell, own in cells.items() for line in outside(cell, own)]
    lowest = min(
        (own["skboot", "after"] for own in cells.values()), key=lambda row: float(row["coverage %"])
    )
    share = 1 - len({line[0] for line in missed}) / len(cells)
    return VerdictRow(
        "slow, few and seasonal errors in time",
        f"{len(cells)} of {len(study.CELLS)}",
        f"{100 * share:.1f}",
        f"{_covered(lowest)} ({lowest['cell']})",
        "",
        "**no**" if missed else "yes" if len(cells) == len(study.CELLS) else "so far",
        tuple(missed),
    )
