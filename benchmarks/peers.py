"""Compare skboot with other packages and plain loops: time, memory, and that answers agree.

Run ``make bench``. Every row does the same work in the same run on one core: the tool and its
peer take turns, the ratio of their median times is shown, and the answers must agree. Peers that
are plain loops over resamples are run with fewer resamples and scaled. Absolute times depend on
the machine; ratios much less.

With ``--write`` the tables go to docs/studies/benchmarks.md and the pictures beside it, to
benchmarks.png and growth.png.
"""

from __future__ import annotations

import argparse
import platform
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from growth import draw, draw_growth, single_scores
from harness import Timing, measure
from workloads import WORKLOADS

DOCS = Path(__file__).parents[1] / "docs" / "studies"
PACKAGES = (
    "skboot",
    "numpy",
    "scipy",
    "scikit-learn",
    "confidence_intervals",
    "confidenceinterval",
    "mlxtend",
)

HEAD = """# How fast it is

A bootstrap interval should cost about as much as the metric itself. This page is written by
`make bench`: one core, both sides in the same run, medians of {repeats} measurements of CPU time.
Peers that loop over resamples ran fewer of them, and their time was scaled. Times are those of one
(shared) machine: read the ratios. Those move by a fifth from run to run, so that a row near its
goal can fall on either side of it. Peak memory is what a call takes beyond its inputs.

{versions}.

## How many single scores an interval costs

The time of `bootstrap_score` with its 1,999 resamples over that of scikit-learn's function on the
same rows, a median of 3. Below 1 the interval costs less than the score. From 20,000 rows on, rows
of nearly equal values are drawn together ([why](../decisions/speed-of-resamples.md)).

{single_scores}
## How the time grows

With rows, classes, groups, pairs of systems and subgroups, on logarithmic axes. The number beside a
name is the steepest slope between two points: 1 is growth in proportion.

:::{{container}} wide
![Time of a call against rows, classes, groups, pairs of systems and subgroups](growth.png)
:::

## Beside other packages

:::{{container}} wide
![Time of a call against the number of rows, and of resamples](benchmarks.png)
:::

| workload | against | skboot | peer | ratio | goal | peak memory | answers |
|---|---|---|---|---|---|---|---|
"""


def report(timings: list[Timing], repeats: int) -> str:
    """Write the page."""
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    head = HEAD.format(
        repeats=repeats,
        versions=f"{versions}, Python {platform.python_version()}",
        single_scores=single_scores(),
    )
    return head + "".join(line(timing) for timing in timings)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"


def line(timing: Timing) -> str:
    """Write a row of the table."""
    row = timing.row
    missed = [
        what
        for what, held in (("time", timing.fast_enough), ("memory", timing.small_enough))
        if not held
    ]
    cells = (
        row.workload,
        "" if row.peer is None else row.peer.name,
        duration(timing.ours),
        "" if timing.theirs is None else duration(timing.theirs),
        ratio_of(timing),
        row.goal.text + (f" (**missed: {', '.join(missed)}**)" if missed else ""),
        "" if timing.peak is None else f"{timing.peak:.3g} MB",
        timing.agreement,
    )
    return f"| {' | '.join(cells)} |\n"


def ratio_of(timing: Timing) -> str:
    """Describe how both times compare, in the direction of the goal."""
    if timing.theirs is None:
        return ""
    goal = timing.row.goal
    if goal.over is not None:
        return f"{1e3 * (timing.ours - timing.theirs):+.0f} ms"
    if goal.at_most is not None:
        return f"{timing.ours / timing.theirs:.2f} of it"
    times = timing.theirs / timing.ours
    return f"{times:,.0f}x" if times >= 10 else f"{times:.2g}x"


def duration(seconds: float) -> str:
    """Write seconds with a unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def main() -> None:
    """Measure the chosen workloads, print the table, and write it into the docs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=WORKLOADS, nargs="+", default=list(WORKLOADS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the page and the plot")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    timings = []
    for name in options.only:
        for row in WORKLOADS[name]():
            timings.append(measure(row, options.repeats))
            print(line(timings[-1]), end="", file=sys.stderr, flush=True)
    if options.write:
        (DOCS / "benchmarks.md").write_text(report(timings, options.repeats))
        draw(DOCS / "benchmarks.png")
        draw_growth(DOCS / "growth.png")
    else:
        print("".join(map(line, timings)))


if __name__ == "__main__":
    main()
