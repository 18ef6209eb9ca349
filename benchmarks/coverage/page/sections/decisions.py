"""Releases that pass or fail, and ranks."""

from __future__ import annotations

from math import sqrt

from ...acceptance import LIMIT
from ...runner import RESULTS, read
from ...studies import gates as releases
from ..formats import percent, table, with_error
from ..registry import CaseRow, VerdictRow, cases, section, verdict

LEAST_RANKS, MORE_RANKS = 94.0, 0.03
POWER = (76.0, 84.0)


@section("gates", "gates")
def gates() -> str:
    """How often a release passes or fails that should not."""
    header = (
        "release",
        "passes, worse by the margin, %",
        "fails, where equal, %",
        "fails, worse by the margin, %",
        "passes the detectable margin, where equal, %",
    )
    lines = [
        (row["release"], row["passed"], row["failed_equal"], row["failed_worse"], row["power"])
        for row in read(RESULTS / "gates.csv")
    ]
    return table(header, lines)


def _broken(row: dict[str, str]) -> str:
    """Which part of its rule a release breaks."""
    wrong = max(float(row["passed"]), float(row["failed_equal"]))
    if row["repetitions"] == "exact":
        return "above 2.5 %, exactly" if wrong > 2.5 else ""
    limit = releases.LIMITS[row["release"]]
    room = 100 * LIMIT * sqrt(limit / 100 * (1 - limit / 100) / int(row["repetitions"]))
    if wrong > limit + room:
        return f"above {limit} %"
    return "" if POWER[0] <= float(row["power"]) <= POWER[1] else "power outside 76 to 84 %"


@verdict("gates")
def gates_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    rows = read(RESULTS / "gates.csv")
    outside = tuple(
        (row["release"], f"{row['passed']} / {row['power'] or '–'}", broken)
        for row in rows
        if (broken := _broken(row))
    )
    worst = max(rows, key=lambda row: float(row["passed"]))
    return VerdictRow(
        "releases against a margin",
        str(len(rows)),
        percent(1 - len(outside) / len(rows)),
        f"{worst['passed']} pass ({worst['release']})",
        "",
        "**no**" if outside else "yes",
        outside,
    )


@section("ranks", "ranks")
def ranks() -> str:
    """Whether all ranks are held at once, and the width beside Bonferroni's rule."""
    header = (
        "values",
        "systems",
        "rows",
        "true means",
        "all ranks held, %",
        "mean width",
        "by t tests and Bonferroni",
    )
    lines = [
        (
            row["values"],
            row["n_systems"],
            row["n_rows"],
            row["shape"],
            _of_ranks(row),
            row["width"],
            row["width_bonferroni"],
        )
        for row in read(RESULTS / "ranks.csv")
    ]
    return table(header, lines)


def _of_ranks(row: dict[str, str]) -> str:
    return with_error(float(row["coverage"]) / 100, float(row["error"]) / 100)


@verdict("ranks")
def ranks_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    rows = read(RESULTS / "ranks.csv")
    outside = tuple(
        (
            f"{row['n_systems']} systems, {row['values']}, {row['n_rows']} rows, {row['shape']}",
            f"{_of_ranks(row)}, width {row['width']}",
            "ranks held in under 94 %, or wider than Bonferroni's rule",
        )
        for row in rows
        if float(row["coverage"]) < LEAST_RANKS
        or float(row["width"]) > float(row["width_bonferroni"]) + MORE_RANKS
    )
    lowest = min(rows, key=lambda row: float(row["coverage"]))
    name = f"{lowest['n_systems']} systems, {lowest['n_rows']} rows, {lowest['shape']}"
    return VerdictRow(
        "ranks of systems",
        str(len(rows)),
        percent(1 - len(outside) / len(rows)),
        f"{_of_ranks(lowest)} ({name})",
        "",
        "**no**" if outside else "yes",
        outside,
    )


@cases("gates")
def case_rows() -> list[CaseRow]:
    """Their lines of the cases."""
    wrong = [float(row["passed"]) for row in read(RESULTS / "gates.csv")]
    return [
        CaseRow(
            "does a release pass a margin?",
            "the interval of the difference",
            f"{min(wrong)} to {max(wrong)} pass by mistake, 2.5 meant ({len(wrong)})",
            "",
            "",
            "20 groups: 3.5 % pass",
        )
    ]


@cases("ranks")
def rank_rows() -> list[CaseRow]:
    """Their lines of the cases."""
    rows = read(RESULTS / "ranks.csv")
    held = [float(row["coverage"]) for row in rows]
    ratio = [float(row["width"]) / float(row["width_bonferroni"]) for row in rows]
    return [
        CaseRow(
            "ranks of many systems",
            "step-down tests of resamples",
            f"{min(held)} to {max(held)} ({len(rows)}), all ranks at once",
            "",
            f"{min(ratio):.2f} to {max(ratio):.2f} t tests and Bonferroni",
            "few rows: ranks stay open",
        )
    ]
