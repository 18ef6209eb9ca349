"""Plans of evaluations."""

from __future__ import annotations

from ...acceptance import is_shown
from ...runner import RESULTS, read
from ...studies import planning as studied
from ..formats import percent, table
from ..registry import VerdictRow, section, verdict

WIDTHS, POWERS = 0.05, 4.0
# Data sets of a row of "pilots".
N_FOLLOWING = studied.N_PILOTS_OF_LABELS * studied.N_FOLLOWING


def _off(row: dict[str, str]) -> float:
    """How far an evaluation is from what was promised, as a share of what is allowed."""
    if row["kind"] == "pilots":
        least, shown = studied.LEAST_POWER, float(row["shown"])
        held = is_shown(least / 100, round(shown * N_FOLLOWING / 100), N_FOLLOWING)
        # Over 1 where the rule is missed, by how much in points.
        return 0.5 if shown >= least and held else 1 + max(least - shown, 0.0)
    off = abs(float(row["shown"]) - float(row["promised"]))
    return off / (POWERS if row["kind"] == "power" else WIDTHS)


@section("planning", "studies/plans", "planning")
def planning() -> str:
    """What was promised, what evaluations of that size showed."""
    lines = []
    for row in read(RESULTS / "planning.csv"):
        told = {
            "width": "half-width",
            "few": "half-width, few units",
            "power": "power, %",
            "pilots": "power from pilots, %",
        }
        outside = f"{float(row['low']) + float(row['high']):.1f}" if row["low"] else ""
        lines.append(
            (
                row["cell"],
                told[row["kind"]],
                row["units"],
                row["promised"],
                row["shown"],
                row["error"],
                outside,
            )
        )
    header = (
        "pilot",
        "asked for",
        "units planned",
        "planned",
        "attained",
        "Monte Carlo error",
        "size outside the printed range, %",
    )
    return table(header, lines)


@verdict("planning")
def verdict_row() -> VerdictRow:
    """Their line of the verdicts."""
    rows = read(RESULTS / "planning.csv")
    judged = [row for row in rows if row["kind"] != "few"]
    outside = [row for row in judged if _off(row) > 1]
    far = max(judged, key=_off)
    return VerdictRow(
        "plans from pilots",
        f"{len(judged)} + {len(rows) - len(judged)} of {len(rows)}",
        percent(1 - len(outside) / len(judged)),
        f"{far['shown']}, {far['promised']} planned ({far['cell']})",
        "",
        "**no**" if outside else "yes",
        tuple((row["cell"], row["shown"], f"{row['promised']} planned") for row in outside),
    )
