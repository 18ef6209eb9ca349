"""Compare skboot with other packages and plain loops: time, memory, and that answers agree.

Run ``make bench``. Every row does the same work in the same run on one core: the tool and its
peer take turns, the ratio of their median times is shown, and the answers must agree. Peers that
are plain loops over resamples are run with fewer resamples and scaled. Absolute times depend on
the machine; ratios much less.

With ``--write`` the numbers go to bench.csv, memory.csv, single_scores.csv and growth.csv, and from
these to docs/studies/benchmarks.md and the pictures beside it. ``--only`` measures some groups of
workloads, and leaves the others as they are; ``--page`` measures nothing.
"""

from __future__ import annotations

import argparse
import csv
import platform
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from everyday import EVERYDAY
from growth import draw, draw_growth, growth_times, single_scores, steepest_table
from harness import Timing, measure
from memory import measured as memory_measured
from workloads import WORKLOADS

TABLES = Path(__file__).parent
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

# Groups of workloads in the order of the page, and the other tables.
GROUPS = EVERYDAY | WORKLOADS
OTHERS = ("memory", "single scores", "growth", "pictures")
COLUMNS = (
    "group",
    "workload",
    "against",
    "skboot",
    "peer",
    "ratio",
    "goal",
    "missed",
    "memory",
    "answers",
)

HEAD = """# How fast it is

A bootstrap interval should cost about as much as the metric itself; of the {n_goals} goals below
{n_held} are held, and the others are marked.

`make bench` measures on one core, both sides in the same run, medians of {repeats} measurements of
CPU time. Peers that loop over resamples ran fewer of them, and their time was scaled. Times are
those of one (shared) machine: read the ratios. Those move by a fifth from run to run, so that a
row near its goal can fall on either side of it. Peak memory is what a call takes beyond its inputs.
This page is written from the tables `bench.csv`, `memory.csv`, `single_scores.csv` and
`growth.csv` in `benchmarks/`; parts of it can be measured at different times.

{versions}.

## How many single scores an interval costs

The time of `bootstrap_score` with its 1,999 resamples over that of scikit-learn's function on the
same rows, a median of 3. Below 1 the interval costs less than the score. From 20,000 rows on, rows
of nearly equal values are drawn together ([why](../decisions/speed-of-resamples.md)).

{single_scores}
## How much memory a call takes

What the process held at most beyond what it held before, by the size of its input (labels as
integers and scores as floats, of 8 bytes each); of trainings what each of two workers holds of its
own, beside an estimator that copies nothing. A training set is a copy of rows of X, as it is in
scikit-learn.

{memory}
## How the time grows

With rows, classes, groups, pairs of systems, subgroups and metrics, on logarithmic axes. The number
beside a name is the steepest slope between two points: 1 is growth in proportion, and 1.1 the goal.

:::{{container}} wide
![Time of a call against rows, classes, groups, pairs of systems and subgroups](growth.png)
:::

{growth}
## Beside other packages

:::{{container}} wide
![Time of a call against the number of rows, and of resamples](benchmarks.png)
:::

| workload | against | skboot | peer | ratio | goal | peak memory | answers |
|---|---|---|---|---|---|---|---|
"""


def report(repeats: int) -> str:
    """Write the page from the tables."""
    versions = ", ".join(f"{row['package']} {row['version']}" for row in _versions())
    rows, memory = _read("bench.csv"), _read("memory.csv")
    missed = [bool(row["missed"]) for row in rows if row["ratio"] or row["skboot"]]
    missed += [float(row["skboot"]) > float(row["goal"]) for row in memory]
    head = HEAD.format(
        repeats=repeats,
        versions=f"{versions}, Python {platform.python_version()}",
        n_goals=len(missed),
        n_held=missed.count(False),
        single_scores=_single_scores_table(_read("single_scores.csv")),
        memory=_memory_table(memory),
        growth=steepest_table(_read("growth.csv")),
    )
    return head + "".join(map(line, rows))


def _read(name: str) -> list[dict[str, str]]:
    path = TABLES / name
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _write(name: str, rows: list[dict]) -> None:
    with (TABLES / name).open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def _single_scores_table(rows: list[dict[str, str]]) -> str:
    sizes = list(dict.fromkeys(row["rows"] for row in rows))
    text = f"| metric | {' | '.join(f'{int(n):,} rows' for n in sizes)} |\n"
    text += "|---|" + "--:|" * len(sizes) + "\n"
    for name in dict.fromkeys(row["metric"] for row in rows):
        cells = [row["scores"] for row in rows if row["metric"] == name]
        text += f"| {name} | {' | '.join(cells)} |\n"
    return text


def _memory_table(rows: list[dict[str, str]]) -> str:
    text = "| call | skboot | goal | against | peer |\n|---|--:|--:|---|--:|\n"
    for row in rows:
        missed = " (**missed**)" if float(row["skboot"]) > float(row["goal"]) else ""
        text += (
            f"| {row['workload']} | {row['skboot']} | {row['goal']}{missed} | {row['peer']} | "
            f"{row['of_peer']} |\n"
        )
    return text


def _versions() -> list[dict[str, str]]:
    """Versions of packages; of one that is not installed that with which it was last measured."""
    last = {row["package"]: row["version"] for row in _read("versions.csv")}
    found = []
    for name in PACKAGES:
        try:
            measured = version(name)
        except PackageNotFoundError:
            measured = last.get(name, "(not installed)")
        found.append({"package": name, "version": measured})
    return found


def record(group: str, timing: Timing) -> dict[str, str]:
    """Return a row of bench.csv."""
    row = timing.row
    missed = [
        what
        for what, held in (("time", timing.fast_enough), ("memory", timing.small_enough))
        if not held
    ]
    cells = (
        group,
        row.workload,
        "" if row.peer is None else row.peer.name,
        duration(timing.ours),
        "" if timing.theirs is None else duration(timing.theirs),
        ratio_of(timing),
        row.goal.text,
        ", ".join(missed),
        "" if timing.peak is None else f"{timing.peak:.3g} MB",
        timing.agreement,
    )
    return dict(zip(COLUMNS, cells, strict=True))


def line(row: dict[str, str]) -> str:
    """Write a row of the table."""
    goal = row["goal"] + (f" (**missed: {row['missed']}**)" if row["missed"] else "")
    names = ("workload", "against", "skboot", "peer", "ratio")
    cells = [*(row[name] for name in names), goal, row["memory"], row["answers"]]
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
    parser.add_argument("--only", choices=[*GROUPS, *OTHERS], nargs="+")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the tables, page and pictures")
    parser.add_argument("--page", action="store_true", help="write the page from the tables")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [] if options.page else options.only or [*GROUPS, *OTHERS]
    rows = []
    for name in names:
        for row in GROUPS[name]() if name in GROUPS else ():
            rows.append(record(name, measure(row, options.repeats)))
            print(line(rows[-1]), end="", file=sys.stderr, flush=True)
    if not (options.write or options.page):
        print("".join(map(line, rows)))
        return
    _write("versions.csv", _versions())
    if rows:
        before = [row for row in _read("bench.csv") if row["group"] not in names]
        order = list(GROUPS)
        _write("bench.csv", sorted(before + rows, key=lambda row: order.index(row["group"])))
    if "memory" in names:
        _write("memory.csv", memory_measured())
    if "single scores" in names:
        _write("single_scores.csv", single_scores())
    if "growth" in names:
        times: list[dict] = []
        for rows_of_call in growth_times():
            times += rows_of_call
            _write("growth.csv", times)
    if "pictures" in names:
        draw(DOCS / "benchmarks.png")
    if "growth" in names:
        draw_growth(_read("growth.csv"), DOCS / "growth.png")
    (DOCS / "benchmarks.md").write_text(report(options.repeats), encoding="utf-8")


if __name__ == "__main__":
    main()
