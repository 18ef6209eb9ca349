"""Three to ten systems at once."""

from __future__ import annotations

from importlib import import_module

from ...acceptance import DEFAULT, Measured, measured
from ...runner import RESULTS
from ..formats import percent, span, table, with_error
from ..registry import CaseRow, VerdictRow, cases, section, verdict

STUDY = "several_systems"
LEVEL, POWER = "all pairs", "best"


def _rows(target: str) -> dict[str, dict[str, Measured]]:
    """What was measured, by cell and tool."""
    found: dict[str, dict[str, Measured]] = {}
    for row in measured(RESULTS / f"{STUDY}.csv"):
        if row.target == target:
            found.setdefault(row.cell, {})[row.tool] = row
    return found


@section(STUDY, "studies/comparisons", STUDY)
def several_systems() -> str:
    """How often any two equal ones are told apart, and a better one from all others."""
    level, power = _rows(LEVEL), _rows(POWER)
    lines = []
    for cell, by_tool in level.items():
        best = power.get(cell, {})
        others = [_other(row, best.get(tool)) for tool, row in by_tool.items() if tool != DEFAULT]
        mark = " (excluded)" if by_tool[DEFAULT].is_excepted else ""
        lines.append(
            (
                cell + mark,
                with_error(1 - by_tool[DEFAULT].coverage, by_tool[DEFAULT].error),
                percent(1 - best[DEFAULT].coverage) if best else "",
                "; ".join(others),
            )
        )
    header = ("systems", "any wrong, %", "better one significant, %", "others: wrong / significant")
    return table(header, lines)


def _other(row: Measured, best: Measured | None) -> str:
    told = f" / {percent(1 - best.coverage)}" if best else ""
    return f"{row.tool} {percent(1 - row.coverage)}{told}"


@verdict(STUDY)
def verdict_row() -> VerdictRow:
    """Their line of the verdicts."""
    ours = [by_tool[DEFAULT] for by_tool in _rows(LEVEL).values()]
    kept = [row for row in ours if not row.is_excepted]
    above = [row for row in kept if row.tells_too_often]
    worst = min(kept, key=lambda row: row.coverage)
    planned = len(import_module(f"benchmarks.coverage.studies.{STUDY}").STUDY.cells)
    passes = "**no**" if above else "yes" if len(ours) == planned else "so far"
    return VerdictRow(
        "three to ten models",
        f"{len(kept)} + {len(ours) - len(kept)} of {planned}",
        percent(1 - len(above) / len(kept)),
        f"{with_error(1 - worst.coverage, worst.error)} any wrong ({worst.cell})",
        "",
        passes,
        tuple(
            (row.cell, with_error(1 - row.coverage, row.error), "any pair wrong in over 5 %")
            for row in above
        )
        + tuple(
            (row.cell, percent(1 - row.coverage), "excluded: skboot warns")
            for row in ours
            if row.is_excepted
        ),
    )


@cases(STUDY)
def case_rows() -> list[CaseRow]:
    """Their line of the cases."""
    found = _rows(LEVEL)
    kept = [by_tool[DEFAULT] for by_tool in found.values() if not by_tool[DEFAULT].is_excepted]
    return [
        CaseRow(
            "three to ten models, all pairs at once",
            "max-t over the joint resamples",
            f"{span([1 - row.coverage for row in kept])} any pair wrong, 5 nominal",
            "",
        )
    ]
