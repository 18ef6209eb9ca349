"""Other tools over the studies of one score."""

from __future__ import annotations

from ...acceptance import MOST, Measured, measured, width_ratio
from ...runner import RESULTS
from ..formats import SCORES_ALONE, names_of_others, pairs_with, percent, table
from ..registry import section


@section("tools", "studies/other_tools")
def tools() -> str:
    """Each other tool over the studies: where it covers, and what it costs there."""
    found: dict[str, list[tuple[Measured, Measured]]] = {}
    for study in SCORES_ALONE:
        rows = measured(RESULTS / f"{study}.csv")
        for tool in names_of_others(rows):
            found.setdefault(tool, []).extend(pairs_with(rows, tool))
    lines = []
    for tool, pairs in found.items():
        if not pairs:
            continue
        covering = [(ours, theirs) for ours, theirs in pairs if theirs.covers(MOST)]
        both = [(ours, theirs) for ours, theirs in covering if ours.covers(MOST)]
        lowest = min(pairs, key=lambda pair: pair[1].coverage)[1]
        better = [pair for pair in both if pair[1].width < 0.98 * pair[0].width]
        ratio = f"{width_ratio(*map(list, zip(*both, strict=True))):.2f}" if both else ""
        ours = sum(ours.covers(MOST) for ours, _ in pairs)
        lines.append(
            (
                tool,
                str(len(pairs)),
                f"{len(covering)}",
                f"{ours}",
                f"{percent(lowest.coverage)} ({lowest.cell})",
                ratio,
                f"{len(better)}",
            )
        )
    header = (
        "tool",
        "cells",
        "it covers in",
        "skboot covers in",
        "its lowest",
        "our width relative to its, where both cover",
        "narrower by 2 % and covers in",
    )
    return table(header, lines)
