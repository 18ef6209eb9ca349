"""The rule that judges a study: ``python -m benchmarks.coverage.acceptance [STUDY ...]``.

Defaults at 95 %: at least 93 % in at least 90 % of the cells, at least 91 % in all; a cell is
below where its upper Monte Carlo limit, coverage + 2.6 standard errors, is. Left out are cells of
which at least half of the data sets are in a stated exception and carry a warning. Mean widths are
at most 1.3 times those of the narrowest tool among those that were run in every cell of a kind and
cover at least 93 % there, as geometric means over the cells of the kind.

A cell is flagged where the mean width is over twice that of the normal interval of the same
resamples: covering is not enough. A flag is no failure, since a skewed law may ask for it.

Studies since record 0089 fix the number of data sets and pass by `is_shown`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scipy import special

from .runner import RESULTS, monte_carlo_error, read

DEFAULT = "skboot"
MOST, ALL = 0.93, 0.91
SHARE_OF_CELLS, WIDEST = 0.90, 1.3
# The interval that widths are held against in every cell, and the ratio above which one is flagged.
NORMAL, TWICE = "skboot: normal", 2.0
LIMIT = 2.6
# Share of the data sets in which what is equal may be told apart.
LEVEL_OF_TESTS = 0.05
JUDGED = ("frozen_systems", "real_predictions", "grouped_systems", "told_apart")
# How far under an aim what is shown of a share may lie, and the level at which it is shown.
LEEWAY, SHOWN_AT = 0.02, 0.05
# A target that is no truth but a null hypothesis: its coverage is 100 % less the power.
NULL = "zero"


def is_shown(aim: float, held: int, n: int) -> bool:
    """Whether a share is shown to be at most two points under an aim.

    The exact one-sided 95 % lower limit (Clopper & Pearson 1934) of ``held`` of ``n`` data sets is.
    """
    lowest = float(special.betaincinv(held, n - held + 1, SHOWN_AT)) if held else 0.0
    return lowest >= aim - LEEWAY


@dataclass(frozen=True)
class Measured:
    """What a tool did in a cell, over all parts."""

    cell: str
    kind: str
    target: str
    tool: str
    repetitions: int
    missed: int
    without: int
    width: float
    excepted: int
    warned_of: int
    truth: float

    @property
    def coverage(self) -> float:
        """Share of the repetitions whose interval holds the truth."""
        return 1 - self.missed / self.repetitions

    @property
    def error(self) -> float:
        """Monte Carlo standard error of the coverage."""
        return monte_carlo_error(self.coverage, self.repetitions)

    @property
    def tells_too_often(self) -> bool:
        """Whether more than 5 % of null hypotheses are rejected, beyond Monte Carlo error."""
        allowed = LIMIT * monte_carlo_error(LEVEL_OF_TESTS, self.repetitions)
        return 1 - self.coverage > LEVEL_OF_TESTS + allowed

    def covers(self, least: float) -> bool:
        """Whether the upper Monte Carlo limit reaches a coverage."""
        return self.coverage + LIMIT * self.error >= least

    @property
    def is_excepted(self) -> bool:
        """Whether at least half of the data sets are in a stated exception and carry a warning."""
        return 2 * self.warned_of >= self.repetitions


def measured(path: Path) -> list[Measured]:
    """Rows of a CSV, with the parts of a cell put together."""
    parts: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in read(path):
        parts.setdefault((row["cell"], row["target"], row["tool"]), []).append(row)
    return [_together(key, rows) for key, rows in parts.items()]


def _together(key, rows) -> Measured:
    cell, target, tool = key

    def total(name):
        return sum(int(row[name]) for row in rows)

    def mean(name):
        return sum(float(row[name]) * int(row["repetitions"]) for row in rows) / n

    n = total("repetitions")
    return Measured(
        cell,
        rows[0]["kind"],
        target,
        tool,
        n,
        total("truth below") + total("truth above") + total("no interval"),
        total("no interval"),
        mean("width"),
        total("excepted"),
        total("excepted and warned"),
        mean("truth"),
    )


@dataclass(frozen=True)
class Verdict:
    """A study, judged."""

    study: str
    cells: tuple[Measured, ...]
    left_out: tuple[Measured, ...]
    under_most: tuple[Measured, ...]
    under_all: tuple[Measured, ...]
    ratios: dict[str, tuple[str, float]]
    flagged: tuple[tuple[Measured, float], ...] = ()

    @property
    def share(self) -> float:
        """Share of the cells that reach the first bound."""
        return 1 - len(self.under_most) / len(self.cells)

    @property
    def too_wide(self) -> dict[str, tuple[str, float]]:
        """Kinds whose intervals are too wide, with the narrowest tool and the ratio to it."""
        return {kind: found for kind, found in self.ratios.items() if found[1] > WIDEST}

    @property
    def passes(self) -> bool:
        """Whether every bound is held."""
        return self.share >= SHARE_OF_CELLS and not self.under_all and not self.too_wide


def judge(study: str, rows: list[Measured] | None = None) -> Verdict:
    """Judge the default of a study."""
    rows = measured(RESULTS / f"{study}.csv") if rows is None else rows
    rows = [row for row in rows if row.target != NULL]
    default = [row for row in rows if row.tool == DEFAULT]
    cells = tuple(row for row in default if not row.is_excepted)
    return Verdict(
        study,
        cells,
        tuple(row for row in default if row.is_excepted),
        tuple(row for row in cells if not row.covers(MOST)),
        tuple(row for row in cells if not row.covers(ALL)),
        {kind: narrowest(kind, cells, rows) for kind in dict.fromkeys(c.kind for c in cells)},
        tuple(twice_the_normal(default, rows)),
    )


def twice_the_normal(
    default: list[Measured], rows: list[Measured]
) -> Iterator[tuple[Measured, float]]:
    """Cells whose mean width is over twice that of the normal interval, and the ratio."""
    normal = {(row.cell, row.target): row.width for row in rows if row.tool == NORMAL}
    for cell in default:
        width = normal.get((cell.cell, cell.target), math.nan)
        if cell.width > TWICE * width:
            yield cell, cell.width / width if width > 0 else math.inf


def narrowest(kind: str, cells: tuple[Measured, ...], rows: list[Measured]) -> tuple[str, float]:
    """The narrowest tool that covers in every cell of a kind, and how much wider the default is."""
    ours = {(cell.cell, cell.target): cell for cell in cells if cell.kind == kind}
    found = {}
    for tool in dict.fromkeys(row.tool for row in rows if row.kind == kind):
        own = {
            (row.cell, row.target): row
            for row in rows
            if row.tool == tool and (row.cell, row.target) in ours
        }
        if len(own) == len(ours) and all(row.covers(MOST) for row in own.values()):
            found[tool] = width_ratio(list(ours.values()), [own[key] for key in ours])
    if not found:
        return "none covers", math.nan
    tool = max(found, key=found.get)
    return tool, found[tool]


def width_ratio(ours: list[Measured], theirs: list[Measured]) -> float:
    """Geometric mean of the ratios of widths."""
    logs = [math.log(a.width / b.width) for a, b in zip(ours, theirs, strict=True)]
    return math.exp(sum(logs) / len(logs))


def described(verdict: Verdict) -> str:
    """The verdict as lines of text."""
    lowest = min(verdict.cells, key=lambda cell: cell.coverage)
    lines = [
        f"{verdict.study}: {'passes' if verdict.passes else 'does not pass'}",
        f"  at least 93 % in {verdict.share:.1%} of {len(verdict.cells)} cells (90 % asked for), "
        f"lowest {lowest.coverage:.1%} ({lowest.cell})",
        f"  {len(verdict.left_out)} cells left out: in a stated exception, and warned of",
    ]
    lines += [
        f"  below {'91' if cell in verdict.under_all else '93'} %: {cell.cell}: "
        f"{cell.coverage:.1%} ({cell.error:.1%})"
        for cell in verdict.under_most
    ]
    lines += [
        f"  flagged: {cell.cell}: {ratio:.2f} times the width of the normal interval"
        for cell, ratio in verdict.flagged
    ]
    for kind, (tool, ratio) in verdict.ratios.items():
        mark = "too wide: " if ratio > WIDEST else ""
        lines.append(f"  {mark}{kind}: {ratio:.2f} times the width of {tool}")
    return "\n".join(lines)


def run_so_far() -> tuple[str, ...]:
    """Studies that have results."""
    return tuple(name for name in JUDGED if (RESULTS / f"{name}.csv").exists())


if __name__ == "__main__":
    for name in sys.argv[1:] or run_so_far():
        print(described(judge(name)))
