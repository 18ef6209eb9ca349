"""Bands of curves."""

from __future__ import annotations

import math
from typing import NamedTuple

from ...acceptance import LIMIT
from ...runner import RESULTS, read
from ...studies import curve_bands
from ..formats import percent, table, with_error
from ..registry import CaseRow, VerdictRow, cases, section, verdict

LEAST, LEAST_NEAR_ONE, WIDEST = 0.93, 0.91, 1.3
OURS, NEAR_ONE = "skboot", "AUC 0.95, n 200,"


class _Found(NamedTuple):
    """What a tool did in a cell, over all parts."""

    coverage: float
    width: float
    error: float
    repetitions: int
    below: int
    above: int

    def covers(self, least: float) -> bool:
        """Whether the upper Monte Carlo limit reaches so far."""
        return self.coverage + LIMIT * self.error >= least


def _found() -> dict[str, dict[str, _Found]]:
    """Cells and tools, in the order of the study."""
    parts: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in read(RESULTS / "curve_bands.csv"):
        parts.setdefault((row["cell"], row["tool"]), []).append(row)
    found: dict[str, dict[str, _Found]] = {}
    for cell in curve_bands.STUDY.cells:
        for tool in cell.tools:
            rows = parts.get((cell.name, tool), [])
            n = sum(int(row["repetitions"]) for row in rows)
            if not n:
                continue
            below, above = (
                sum(int(row[f"truth {side}"]) for row in rows) for side in ("below", "above")
            )
            width = sum(float(row["width"]) * int(row["repetitions"]) for row in rows) / n
            share = 1 - (below + above) / n
            error = math.sqrt(max(share * (1 - share), 1 / n * (1 - 1 / n)) / n)
            one = _Found(share, width, error, n, below, above)
            found.setdefault(cell.name, {})[tool] = one
    return {cell: by_tool for cell, by_tool in found.items() if OURS in by_tool}


def _least(cell: str) -> float:
    return LEAST_NEAR_ONE if NEAR_ONE in cell else LEAST


def _best(cell: str, by_tool: dict[str, _Found]) -> tuple[str, float] | None:
    """The narrowest of the other tools that cover, and our width by its."""
    others = {t: one for t, one in by_tool.items() if t != OURS and one.covers(_least(cell))}
    if not others:
        return None
    tool = min(others, key=lambda name: others[name].width)
    return tool, by_tool[OURS].width / others[tool].width


@section("curve_bands", "curve_bands")
def curve_bands_table() -> str:
    """Coverage of whole curves, and mean widths of the band and of other regions."""
    others = [name for name in curve_bands.TOOLS if name != OURS]
    header = ("curve", "whole curve held, %", "mean width", *(f"{name}: width" for name in others))
    lines = []
    for cell, by_tool in _found().items():
        ours = by_tool[OURS]
        beside = [
            f"{by_tool[name].width:.3f} ({percent(by_tool[name].coverage)})"
            if name in by_tool
            else ""
            for name in others
        ]
        share = with_error(ours.coverage, ours.error)
        lines.append((cell, share, f"{ours.width:.3f}", *beside))
    return table(header, lines)


@verdict("curve_bands")
def curve_bands_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    found = _found()
    outside, ratios = [], {}
    for cell, by_tool in found.items():
        ours, best = by_tool[OURS], _best(cell, by_tool)
        if not ours.covers(_least(cell)):
            bound = f"under {100 * _least(cell):.0f} %"
            outside.append((cell, with_error(ours.coverage, ours.error), bound))
        if best is not None:
            ratios[cell] = best
            if best[1] > WIDEST:
                outside.append((cell, f"{best[1]:.2f}", f"wider than {WIDEST} times {best[0]}"))
    lowest = min(found, key=lambda cell: found[cell][OURS].coverage)
    widest = max(ratios, key=lambda cell: ratios[cell][1])
    planned = len(curve_bands.STUDY.cells)
    return VerdictRow(
        "bands of curves",
        f"{len(found)} of {planned}",
        percent(1 - len({cell for cell, *_ in outside}) / len(found)),
        f"{percent(found[lowest][OURS].coverage)} ({lowest})",
        f"{ratios[widest][1]:.2f} ({widest}; {ratios[widest][0]})",
        "**no**" if outside else "yes" if len(found) == planned else "so far",
        tuple(outside),
    )


@cases("curve_bands")
def curve_rows() -> list[CaseRow]:
    """Their lines of the cases."""
    found = _found()
    held = [by_tool[OURS].coverage for by_tool in found.values()]
    ratios = {
        name: [
            by_tool[OURS].width / by_tool[name].width
            for by_tool in found.values()
            if name in by_tool
        ]
        for name in ("Campbell", "Working-Hotelling")
    }
    words = "; ".join(
        f"{name} {min(values):.2f} to {max(values):.2f}"
        for name, values in ratios.items()
        if values
    )
    return [
        CaseRow(
            "a whole curve",
            "simultaneous band, `bootstrap_curve`",
            f"{percent(min(held))} to {percent(max(held))} ({len(held)})",
            words,
            "",
            "few rows above a threshold with a large weight",
        )
    ]
