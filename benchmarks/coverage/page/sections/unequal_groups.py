"""Groups of unequal size, before and after they counted like fewer."""

from __future__ import annotations

from ...runner import RESULTS, read
from ..formats import counted_row, table, with_error
from ..registry import VerdictRow, section, verdict

STUDY = "unequal_groups"
# Least lower limits of coverage in percent, of one score and of no wrong pair; effective groups.
LEAST, LEAST_PAIRS, FEWEST = 90.5, 92.0, 12.0


def _rows(version: str) -> list[dict[str, str]]:
    return [row for row in read(RESULTS / f"{STUDY}.csv") if row["version"] == version]


def _covered(row: dict[str, str]) -> str:
    return with_error(float(row["coverage %"]) / 100, float(row["Monte Carlo error"]) / 100)


def _is_shown(row: dict[str, str]) -> bool:
    """Whether the lower limit of the coverage is what the rule asks for."""
    return float(row["lower limit"]) >= (LEAST_PAIRS if "systems" in row["cell"] else LEAST)


def _better(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """The narrower of those that keep their limit."""
    kept = {"CV3": theirs, "ours": ours}
    kept = {name: row for name, row in kept.items() if _is_shown(row)}
    return min(kept, key=lambda name: float(kept[name]["width"])) if kept else "neither"


@section(STUDY, "studies/grouped_systems", STUDY)
def unequal_groups() -> str:
    """What intervals of one score, and of differences, cover, beside what they did and CV3."""
    header = (
        "cell",
        "seed",
        "counts like",
        "before, %",
        "after, %",
        "CV3, %",
        "widths",
        "narrowest that is shown to cover",
        "warned, %",
    )
    before, peers = (
        {(row["cell"], row["seed"]): row for row in _rows(version)} for version in ("before", "CV3")
    )
    lines, better = [], []
    for row in _rows("after"):
        named = row["cell"], row["seed"]
        beside = (before[named], row, peers[named])
        better.append(_better(row, peers[named]))
        lines.append(
            (
                *named,
                row["effective groups"],
                *map(_covered, beside),
                ", ".join(each["width"] for each in beside),
                better[-1],
                row["warned %"],
            )
        )
    shown = [sum(map(_is_shown, rows)) for rows in (_rows("after"), peers.values())]
    told = (
        f"Of the {len(lines)} cells ours is shown to cover in {shown[0]}, CV3 in {shown[1]}. CV3 "
        f"is the narrower one in {better.count('CV3')}, ours in {better.count('ours')}."
    )
    return f"{table(header, lines)}\n\n{told}"


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
        if not _is_shown(row)
    )
    lowest = min(rows, key=lambda row: float(row["coverage %"]))
    return counted_row(
        "groups of unequal size", len(rows), f"{_covered(lowest)} ({lowest['cell']})", outside
    )
