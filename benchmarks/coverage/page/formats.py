"""How numbers are written on the page, and what several sections read from the results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from importlib import import_module

from .. import acceptance
from ..acceptance import DEFAULT, Measured, width_ratio
from .registry import VerdictRow

# Studies of one score.
SCORES_ALONE = {
    "frozen_systems": "simulated systems",
    "real_predictions": "real predictions",
    "grouped_systems": "groups, crossed factors",
}
# What our widths are put beside.
WIDTHS = ("our width to the best that covers", "our width to others' (their lowest coverage, %)")


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.1f}"


def with_error(share: float, error: float) -> str:
    """A share and its Monte Carlo error, in percent."""
    return f"{percent(share)} ({percent(error)})"


def span(values: Sequence[float]) -> str:
    """From the lowest to the highest, and in how many cells."""
    if not values:
        return ""
    low, high = percent(min(values)), percent(max(values))
    return f"{low} ({len(values)})" if low == high else f"{low} to {high} ({len(values)})"


def table(header: tuple[str, ...], lines: Sequence[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    rule = "|" + "---|" * len(header)
    return "\n".join([f"| {' | '.join(header)} |", rule, *(f"| {' | '.join(x)} |" for x in lines)])


def judged_row(study: str, title: str) -> VerdictRow:
    """The line of a study that `acceptance` judges."""
    planned = len(import_module(f"benchmarks.coverage.studies.{study}").STUDY.cells)
    return row_of(title, acceptance.judge(study), planned)


def row_of(title: str, found: acceptance.Verdict, planned: int) -> VerdictRow:
    """The line of a verdict, with the number of cells that were planned.

    Without ratios the study has no rule about widths.
    """
    whole = len(found.cells) + len(found.left_out) == planned
    lowest = min(found.cells, key=lambda cell: cell.coverage)
    widest = ""
    if found.ratios:
        kind, (tool, ratio) = max(found.ratios.items(), key=lambda item: _or_zero(item[1][1]))
        widest = f"{ratio:.2f} ({kind}; {tool})"
    return VerdictRow(
        title,
        f"{len(found.cells)} + {len(found.left_out)} of {planned}",
        percent(found.share),
        f"{percent(lowest.coverage)} ({lowest.cell})",
        widest,
        ("yes" if whole else "so far") if found.passes else "**no**",
        tuple(_outside(found)),
    )


def counted_row(
    title: str,
    n_cells: int,
    lowest: str,
    outside: Iterable[tuple[str, str, str]],
    *,
    planned: int | None = None,
    n_outside: int | None = None,
    widest: str = "",
) -> VerdictRow:
    """The line of a study that counts the cells outside a rule of its own.

    `planned` is the number of cells that it will have; `n_outside` how many cells are outside,
    where that is not how many lines are listed.
    """
    outside = tuple(outside)
    n_outside = len(outside) if n_outside is None else n_outside
    whole = "yes" if planned in (None, n_cells) else "so far"
    return VerdictRow(
        title,
        str(n_cells) if planned is None else f"{n_cells} of {planned}",
        percent(1 - n_outside / n_cells),
        lowest,
        widest,
        "**no**" if outside else whole,
        outside,
    )


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def _outside(found: acceptance.Verdict):
    for cell in found.under_most:
        bound = "91" if cell in found.under_all else "93"
        yield cell.cell, with_error(cell.coverage, cell.error), f"coverage under {bound}"
    for kind, (tool, ratio) in found.too_wide.items():
        yield kind, f"{ratio:.2f}", f"wider than 1.3 times {tool}"
    for cell, ratio in found.flagged:
        yield cell.cell, f"{ratio:.2f}", "flagged: wider than twice the normal interval"
    for cell in found.left_out:
        yield cell.cell, percent(cell.coverage), "excluded: skboot warns"


def pairs_with(rows: list[Measured], tool: str, kind: str | None = None):
    """Cells of another tool with the default's beside them."""
    ours = {(row.cell, row.target): row for row in rows if row.tool == DEFAULT}
    return [
        (ours[row.cell, row.target], row)
        for row in rows
        if row.tool == tool
        and kind in (None, row.kind)
        and not ours[row.cell, row.target].is_excepted
    ]


def names_of_others(rows: list[Measured]) -> list[str]:
    """Tools other than our intervals."""
    return [
        name
        for name in dict.fromkeys(row.tool for row in rows)
        if not name.startswith(DEFAULT) or name == "skboot, rows"
    ]


def best_of(found: tuple[str, float]) -> str:
    """The narrowest tool that covers in every cell, and our width by its."""
    tool, ratio = found
    if math.isnan(ratio):
        return "none covers" if tool else ""
    return "itself" if tool == DEFAULT else f"{ratio:.2f} ({tool.removeprefix('skboot: ')})"


def others_of(kind: str, rows: list[Measured]) -> str:
    """Our width by that of each tool that was run."""
    told = []
    for tool in names_of_others(rows):
        if pairs := pairs_with(rows, tool, kind):
            lowest = min(theirs.coverage for _, theirs in pairs)
            ratio = width_ratio(*map(list, zip(*pairs, strict=True)))
            told.append(f"{tool} {ratio:.2f} ({percent(lowest)})")
    return "<br>".join(told)
