"""Cells, seeds, parts that resume, and the CSV.

Repetition r of a cell draws its data from (study, cell, r), whatever tool looks at them and in
whatever order: tools are compared on the same data sets, and more repetitions can be added later.
"""

from __future__ import annotations

import csv
import math
import platform
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np
from scipy.stats import beta

from . import code_marks

RESULTS = Path(__file__).parent / "results"
LEVEL = 0.95
PART_MINUTES = 40.0
# Repetitions after which what was found is written down.
CHUNK = 1000


class Limits(NamedTuple):
    """An interval; NaN where a tool gives none."""

    low: float
    high: float


Answer = tuple[float, float] | Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Tool:
    """What makes intervals of a sample.

    `call(sample, seed)` returns limits by name of the interval; the name "" is the tool's default.
    Limits are for all targets of the sample, or a dict of limits by target: a test has no interval,
    and says of the null hypothesis alone whether it leaves it out (see `decision`).
    `note` tells how it is called: resamples, options.
    """

    name: str
    call: Callable[[object, int], Mapping[str, Answer]]
    package: str = "skboot"
    note: str = ""


@dataclass(frozen=True)
class Cell:
    """One line of a study.

    Cells of one `kind` are what one rule of choice has to serve: the narrowest tool is looked for
    among those that cover in all of them. `tools` maps names to numbers of repetitions.
    """

    name: str
    kind: str
    draw: Callable[[np.random.Generator], object]
    tools: Mapping[str, int]


@dataclass(frozen=True)
class Study:
    """Cells, and the tools they name. What decides is in the docstring of the study's module."""

    name: str
    cells: tuple[Cell, ...]
    tools: Mapping[str, Tool]
    chunk: int = CHUNK
    bounds: Callable[[object], tuple[float, float]] = field(
        default=lambda sample: (-np.inf, np.inf)
    )

    @property
    def path(self) -> Path:
        """Where the results are."""
        return RESULTS / f"{self.name}.csv"

    def run(
        self,
        minutes: float = PART_MINUTES,
        n_jobs: int = 1,
        cells: str = "",
        tools: str = "",
    ) -> bool:
        """Go on for some time; return whether it is finished.

        With `cells` or `tools` only with those whose name has that text.
        """
        end = time.monotonic() + 60 * minutes
        for cell, tool, first, n in open_tasks(self):
            if cells in cell.name and tools in tool.name:
                if time.monotonic() > end:
                    return False
                append(self.path, rows_of(self, cell, tool, first, n, n_jobs))
        return True


@dataclass(frozen=True)
class TableStudy:
    """A study with a table of its own, for intervals that share their trainings or have no tool.

    The first columns of `header` name the cell, by the values that `cells` has of it; `rows_of` is
    given these, and returns the other columns of each line. A cell with a line that is not enough,
    of too few data sets, is made anew in its place: the data sets are drawn from the same seeds,
    and more follow. To run a study again from its start, take its table away.
    """

    name: str
    header: Sequence[str]
    cells: Sequence[tuple[object, ...]]
    rows_of: Callable[..., Iterable[Sequence[object]]]
    is_enough: Callable[[Mapping[str, str]], bool] = field(default=lambda row: True)

    @property
    def path(self) -> Path:
        """Where the results are."""
        return RESULTS / f"{self.name}.csv"

    def run(
        self,
        minutes: float = PART_MINUTES,
        n_jobs: int = 1,
        cells: str = "",
        tools: str = "",
    ) -> bool:
        """Go on for some time; return whether it is finished.

        With `cells` only with those of which a name has that text. There are no tools to choose
        from, and one process.
        """
        end = time.monotonic() + 60 * minutes
        for cell in self.cells:
            if not any(cells in str(name) for name in cell):
                continue
            rows = read(self.path)
            named = dict(zip(self.header, map(str, cell), strict=False))
            at = [k for k, row in enumerate(rows) if named.items() <= row.items()]
            if at and all(self.is_enough(rows[k]) for k in at):
                continue
            if time.monotonic() > end:
                return False
            lines = [
                dict(zip(self.header, (*cell, *line), strict=True)) for line in self.rows_of(*cell)
            ]
            if at:
                self._replace(rows, at, lines)
            else:
                append(self.path, lines, self.header)
        return True

    def _replace(self, rows, at, lines):
        """Write the table with other lines in the place of some."""
        rows = [{code_marks.COLUMN: ""} | row for row in rows]
        before, after = rows[: at[0]], rows[at[0] :]
        after = [row for k, row in enumerate(after, at[0]) if k not in at]
        part = self.path.with_suffix(".part")
        part.unlink(missing_ok=True)
        append(part, [*before, *lines, *after], self.header)
        part.replace(self.path)


def titled(
    name: str,
    header: Sequence[str],
    cells: Mapping[str, object],
    rows_of: Callable[[int, object], Iterable[Sequence[object]]],
) -> TableStudy:
    """A study whose cells have titles: `rows_of` is given the number of a cell, and the cell."""
    numbers = {title: number for number, title in enumerate(cells)}
    return TableStudy(
        name,
        header,
        [(title,) for title in cells],
        lambda title: rows_of(numbers[title], cells[title]),
    )


def one_line(row_of: Callable[..., Sequence[object]]) -> Callable[..., list[Sequence[object]]]:
    """What makes the only line of a cell, as what makes its lines."""
    return lambda *cell: [row_of(*cell)]


HEADER = (
    "cell",
    "kind",
    "target",
    "tool",
    "first",
    "repetitions",
    "coverage %",
    "Monte Carlo error",
    "width",
    "truth below",
    "truth above",
    "no interval",
    "warned",
    "excepted",
    "excepted and warned",
    "truth",
    "seconds",
    "versions",
    "command",
)


def open_tasks(study: Study) -> Iterator[tuple[Cell, Tool, int, int]]:
    """What is left: cell, tool, first repetition, how many; the first tool of all cells first."""
    done = finished(study.path)
    tasks = [
        (place, number, name, repetitions)
        for number, cell in enumerate(study.cells)
        for place, (name, repetitions) in enumerate(cell.tools.items())
    ]
    for _, number, name, repetitions in sorted(tasks):
        cell = study.cells[number]
        first = done.get((cell.name, name), 0)
        while first < repetitions:
            n = min(study.chunk, repetitions - first)
            yield cell, study.tools[name], first, n
            first += n


def finished(path: Path) -> dict[tuple[str, str], int]:
    """Repetitions that the CSV has, by cell and tool."""
    done: dict[tuple[str, str], int] = {}
    for row in read(path):
        key = row["cell"], row["tool"].partition(": ")[0]
        done[key] = max(done.get(key, 0), int(row["first"]) + int(row["repetitions"]))
    return done


def read(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV; none before the first part."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def append(
    path: Path, rows: Sequence[Mapping[str, object]], header: Sequence[str] = HEADER
) -> None:
    """Write rows at the end; those that have no mark of the code that made them get today's."""
    path.parent.mkdir(exist_ok=True)
    old = read(path)
    is_new = not old or code_marks.COLUMN not in old[0]
    mark = code_marks.mark_in(path.parent)
    header = tuple(dict.fromkeys((*header, code_marks.COLUMN)))
    with path.open("w" if is_new else "a", newline="") as file:
        writer = csv.DictWriter(file, header, lineterminator="\n")
        if is_new:
            writer.writeheader()
            writer.writerows(old)
        writer.writerows({code_marks.COLUMN: mark} | dict(row) for row in rows)


def seeds_of(study: str, cell: str, repetition: int) -> tuple[np.random.Generator, int]:
    """Generator of the data, and the seed that tools get."""
    key = [zlib.crc32(study.encode()), zlib.crc32(cell.encode()), repetition]
    data, tool = np.random.SeedSequence(key).spawn(2)
    return np.random.default_rng(data), int(tool.generate_state(1)[0] >> 1)


class Outcome(NamedTuple):
    """What one interval of one repetition was."""

    target: str
    interval: str
    low: float
    high: float
    truth: float
    warned: bool
    excepted: bool


def outcomes(study: Study, cell: Cell, tool: Tool, repetition: int) -> tuple[list[Outcome], float]:
    """All intervals of one repetition, and the CPU time of the tool."""
    rng, seed = seeds_of(study.name, cell.name, repetition)
    sample = cell.draw(rng)
    least, greatest = study.bounds(sample)
    started = time.process_time()
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        found = tool.call(sample, seed)
    seconds = time.process_time() - started
    caught = [
        one for one in caught if not issubclass(one.category, DeprecationWarning | FutureWarning)
    ]
    return [
        Outcome(
            target,
            name,
            max(float(low), least) if low == low else math.nan,
            min(float(high), greatest) if high == high else math.nan,
            truth,
            bool(caught),
            bool(sample.exception),
        )
        for name, answer in found.items()
        for target, (low, high), truth in _by_target(answer, sample.truth)
    ], seconds


def _by_target(answer: Answer, truth: Mapping[str, float]) -> Iterator[tuple]:
    """Limits and truth of each target that an answer speaks of."""
    for target, value in truth.items():
        if not isinstance(answer, Mapping):
            yield target, answer, value
        elif target in answer:
            yield target, answer[target], value


def decision(is_different: bool, sign: float = 1.0) -> tuple[float, float]:
    """What a test says of a difference: everything, or all numbers of one sign."""
    if not is_different:
        return -math.inf, math.inf
    least = sys.float_info.min
    return (least, math.inf) if sign >= 0 else (-math.inf, -least)


def rows_of(
    study: Study, cell: Cell, tool: Tool, first: int, n: int, n_jobs: int = 1
) -> list[dict[str, object]]:
    """Rows of the CSV for some repetitions of a cell by a tool."""
    job = joblib.delayed(outcomes)
    told = joblib.Parallel(n_jobs)(job(study, cell, tool, first + r) for r in range(n))
    found: dict[tuple[str, str], list[Outcome]] = {}
    for many, _ in told:
        for one in many:
            found.setdefault((one.target, one.interval), []).append(one)
    seconds = float(np.mean([second for _, second in told]))
    return [
        {
            "cell": cell.name,
            "kind": cell.kind,
            "target": target,
            "tool": f"{tool.name}: {interval}" if interval else tool.name,
            "first": first,
            "repetitions": n,
            **summary(many, n),
            "seconds": f"{seconds:.2g}",
            "versions": versions_of(tool.package),
            "command": " ".join(["python -m benchmarks.coverage", *sys.argv[1:]]),
        }
        for (target, interval), many in found.items()
    ]


def summary(found: list[Outcome], n: int) -> dict[str, object]:
    """Counts and means of repetitions; an interval that is missing does not cover."""
    given = [one for one in found if one.low == one.low and one.high == one.high]
    below = sum(one.truth < one.low for one in given)
    above = sum(one.truth > one.high for one in given)
    covered = (len(given) - below - above) / n
    width = np.mean([one.high - one.low for one in given]) if given else math.nan
    return {
        "coverage %": f"{100 * covered:.2f}",
        "Monte Carlo error": f"{100 * monte_carlo_error(covered, n):.2f}",
        "width": f"{width:.5g}",
        "truth below": below,
        "truth above": above,
        "no interval": n - len(given),
        "warned": sum(one.warned for one in found),
        "excepted": sum(one.excepted for one in found),
        "excepted and warned": sum(one.excepted and one.warned for one in found),
        "truth": f"{np.mean([one.truth for one in found]):.6g}",
    }


def monte_carlo_error(coverage: float, n: int) -> float:
    """Standard error of a coverage; never less than that of one miss."""
    return math.sqrt(max(coverage * (1 - coverage), 1 / n * (1 - 1 / n)) / n)


def shown_coverage(covered: int, n: int) -> tuple[str, str, str]:
    """Coverage in percent, its error, and its exact one-sided lower limit at 95 %."""
    return (
        f"{100 * covered / n:.1f}",
        f"{100 * monte_carlo_error(covered / n, n):.1f}",
        f"{100 * beta.ppf(0.05, covered, n - covered + 1):.2f}",
    )


def percent_and_error(hits: Sequence[bool]) -> tuple[float, float]:
    """Percent of data sets in which something is so, and its standard error."""
    share = float(np.mean(hits))
    return 100 * share, 100 * math.sqrt(max(share * (1 - share), 1e-4) / len(hits))


def versions_of(package: str) -> str:
    """Versions that the numbers were made with."""
    names = dict.fromkeys((package, "numpy", "scipy", "scikit-learn"))
    return ", ".join([*(f"{n} {version(n)}" for n in names), f"Python {platform.python_version()}"])
