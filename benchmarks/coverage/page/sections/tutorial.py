"""The tutorial's table."""

from __future__ import annotations

import math

from ...acceptance import LIMIT, MOST, Measured, measured, monte_carlo_error
from ...runner import RESULTS
from ...studies.tutorial import CELLS, PUBLISHED, PUBLISHED_REPETITIONS, TOOL
from ..formats import percent, table, with_error
from ..registry import section

SWAPPED, RIGHT = "2.3 .632 as published", ".632, right weights"
# Intervals of ours by what they are for.
OURS = {
    "skboot": "system",
    "skboot, test rows": "method",
    "skboot, no test rows": "method",
}
ORDER = (
    *sorted(PUBLISHED),
    RIGHT,
    ".632 of Efron",
    ".632+ as published",
    ".632+, right weights",
    "corrected t",
    "CV per row",
    "CV, naive t",
    *OURS,
    "skboot, .632+",
)


def results() -> dict[tuple[str, str, str], Measured]:
    """What was measured, by cell, interval and target."""
    rows = measured(RESULTS / "tutorial.csv")
    return {(row.cell, row.tool.removeprefix(f"{TOOL.name}: "), row.target): row for row in rows}


@section("tutorial", "studies/tutorial", "tutorial")
def tutorial() -> str:
    """The tutorial's cell: published, made again, and the rows that it lacks."""
    found, cell = results(), CELLS[0].name
    lines = []
    for name in ORDER:
        both = [found[cell, name, target] for target in ("system", "method")]
        shares = [with_error(row.coverage, row.error) for row in both]
        lines.append((name, str(PUBLISHED.get(name, "")), *shares, f"{both[0].width:.3f}"))
    header = (
        f"interval ({both[0].repetitions} data sets)",
        "published",
        "covers this tree's accuracy",
        "covers the expected accuracy of such trees",
        "width",
    )
    return table(header, lines)


@section("tutorial_elsewhere", "studies/tutorial", "tutorial")
def elsewhere() -> str:
    """The same intervals with fewer rows, and with full trees."""
    found = results()
    cells = [cell.name for cell in CELLS[1:] if (cell.name, "skboot", "system") in found]
    lines = []
    for name in ORDER:
        line = [name]
        for cell in cells:
            both = [found[cell, name, target] for target in ("system", "method")]
            shares = " / ".join(percent(row.coverage) for row in both)
            line.append(f"{shares}, {both[0].width:.3f}")
        lines.append(tuple(line))
    numbers = [found[cell, "skboot", "system"].repetitions for cell in cells]
    titles = [
        f"{cell} ({n} data sets): tree / such trees, width"
        for cell, n in zip(cells, numbers, strict=True)
    ]
    return table(("interval", *titles), lines)


@section("tutorial_rule", "studies/tutorial", "tutorial")
def rule() -> str:
    """What came of the rule of the study."""
    found, cell = results(), CELLS[0].name
    far = {
        name: standard_errors(found[cell, name, "system"], value)
        for name, value in PUBLISHED.items()
    }
    worst = max(far, key=far.get)
    swapped, right = found[cell, SWAPPED, "system"], found[cell, RIGHT, "system"]
    error = math.hypot(swapped.error, right.error)
    gain = right.coverage - swapped.coverage
    below = [
        f"{name} in {one.name}: {percent(row.coverage)}"
        for name, target in OURS.items()
        for one in CELLS
        if (row := found.get((one.name, name, target))) and not row.covers(MOST)
    ]
    lowest = min(
        (row for (_, name, target), row in found.items() if OURS.get(name) == target),
        key=lambda row: row.coverage,
    )
    reproduced = "are" if far[worst] <= LIMIT else "are **not** all"
    held = "reach" if not below else f"do **not** all reach ({'; '.join(below)})"
    left = [one.name for one in CELLS if (one.name, "skboot", "system") not in found]
    return "\n".join(
        (
            f"* The five published numbers {reproduced} reproduced: the largest difference, of "
            f'"{worst}", is {far[worst]:.1f} standard errors.',
            "* With its two weights swapped, the .632 interval covers the tree's accuracy in "
            f"{percent(swapped.coverage)} % of the data sets; with correct weights, in "
            f"{percent(right.coverage)} %. The difference is {gain / error:.1f} standard errors; "
            f"the widths are {swapped.width:.3f} and {right.width:.3f}.",
            f"* skboot's own intervals {held} 93 % for what they are for, within 2.6 Monte Carlo "
            f"errors, in every cell; the lowest is {with_error(lowest.coverage, lowest.error)} "
            f"({lowest.cell})." + (f" Not run yet: {', '.join(left)}." if left else ""),
        )
    )


def standard_errors(row: Measured, published: float) -> float:
    """Distance of a published percentage from what was measured here."""
    theirs = monte_carlo_error(published / 100, PUBLISHED_REPETITIONS)
    return abs(row.coverage - published / 100) / math.hypot(row.error, theirs)
