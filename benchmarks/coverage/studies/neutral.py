"""The neutral benchmark of intervals for the generalization error, with "cv-bootstrap" in it.

Question: where does "cv-bootstrap", as a user gets it, stand among the methods of Schulz-Kuempel et
al. (arXiv 2409.18836), on their processes, learners, losses and targets? Written before the run
(record 0140).

Design. Their nine processes that need no download, with the effects that their seeds drew
(`neutral.processes`), and their four learners in the form of scikit-learn that is nearest
(`neutral.learners`, which says what differs). n = 100 with all learners, n = 500 without the
forest; 200 data sets a cell, with the forest and in cells apart 100. A data set has all methods, on
the same trainings where they can share them (`neutral.data_sets`); learners have the same data
sets. Rounds: all cells have their first sets before any has many, and the table says how many each
has.

Methods: those of the paper that need at most 400 trainings, with its settings. Not run, because
they need more: repeated replace-one cross-validation (1300), two-stage bootstrap (2200), bootstrap
case cross-validation (100 n, with and without bias correction), nested cross-validation 200 x 5; at
n = 500 leave-one-out and replace-one (1260). Ours: "cv-bootstrap" with 111 trainings (80 samples, 3
repeats: the default), with 251 (200, 5) and 71 (60, 1), "cv-bootstrap-conservative" (200, 3: its
default), and the "adjusted" intervals of .632+ and out-of-bag (200), by
`skboot.inference.prediction_error`.

Losses: zero-one and squared are in the tables; log loss and absolute loss, of the same models, are
in the CSV. Risk R of the model of all rows: mean over 20,000 (n = 500: 50,000) fresh rows of the
loss that is expected given the row, so that what a target adds by chance is integrated. Expected
risk ER: mean over the models of all data sets, of four more training sets for each, and of a
hundred more for the cell.

Apart, named before the run, and in no mean: a linear model without penalty with as many columns as
rows (bates_classif_100, bates_regr_100 at n = 100: no such model is defined); and chen_10_null,
whose target is lognormal with sigma 4: its variance is 2.4e13, and 100 rows show 1e7, so that no
interval of any method comes near the risk.

Rule.

1. Methods are ordered as in the paper: by undercoverage of ER, the mean over cells of
   .95 - min(coverage, .95). Beside it stand that of R, the lowest cell (ER), the median over cells
   of the width, and the trainings. Widths are medians of a cell over 3.92 standard deviations of
   one estimate, that of five times ten folds, for all methods.
2. A is *better* than B where neither undercoverage of A, of ER or R, is higher by more than twice
   its Monte Carlo error, and A is either lower in that of ER by more than this, or its median width
   is smaller by 5 % or more. Where each has something, neither is better, and the page says what
   each has.
3. A method *holds* a cell where its coverage of ER is at least 93 %, up to 2.6 Monte Carlo errors.
   Ours *loses* a cell where it does not hold it and another does, or where it is wider by more than
   1.3 times than the narrowest that holds it, among methods that hold at least nine in ten cells of
   its size: what is short because it fails elsewhere does not count. A loss gets a reason.
4. No cell is left out afterwards. What is chosen on seeds 1 is confirmed on seeds 2 (the second
   table, `neutral_seeds_2.csv`), and a mend on a family that it was not found on. Where nothing is
   chosen, seeds 2 are a replicate.

Sets of few data have a floor: a method that holds 95 % exactly has an undercoverage by chance,
which the page gives beside the table.
"""

from __future__ import annotations

import csv
import gzip
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np

from .. import code_marks
from ..neutral.data_sets import (
    AT_100_ONLY,
    METHODS,
    N_TRAINED,
    Cell,
    expected_risks,
    outcomes,
)
from ..neutral.processes import PROCESSES
from ..runner import LEVEL, PART_MINUTES, RESULTS, append

HEADER = (
    "process",
    "learner",
    "loss",
    "n",
    "method",
    "trainings",
    "sets",
    "cover_er",
    "cover_r",
    "mc_error",
    "below",
    "above",
    "width",
    "er",
    "er_error",
    "apart",
)
AT_100 = [Cell(name, learner, 100) for name in PROCESSES for learner in ("linear", "ridge", "tree")]
FORESTS = [Cell(name, "forest", 100) for name in PROCESSES]
AT_500 = [cell._replace(n=500) for cell in AT_100]


def why_apart(cell: Cell) -> str:
    """Why a cell is in no mean; empty where it is."""
    if cell.learner == "linear" and PROCESSES[cell.process].n_columns >= cell.n:
        return "as many columns as rows"
    return "lognormal target" if cell.process == "chen_10_null" else ""


QUICK = [cell for cell in AT_100 if not why_apart(cell)]
FOREST = [cell for cell in FORESTS if not why_apart(cell)]
MORE_ROWS = [cell for cell in AT_500 if not why_apart(cell)]
APART = [cell for cell in (*AT_100, *FORESTS, *AT_500) if why_apart(cell)]
# Cells, and how many data sets they have after the round.
ROUNDS = (
    (QUICK, 5),
    (QUICK, 25),
    (APART, 5),
    (FOREST, 5),
    (QUICK, 75),
    (MORE_ROWS, 5),
    (QUICK, 100),
    (FOREST, 10),
    (MORE_ROWS, 10),
    (QUICK, 200),
    (FOREST, 25),
    (MORE_ROWS, 50),
    (APART, 25),
    (FOREST, 50),
    (MORE_ROWS, 100),
    (FOREST, 100),
    (MORE_ROWS, 200),
    (APART, 100),
)
# Data sets that are made and written down together.
BLOCK = 10


@dataclass(frozen=True)
class Neutral:
    """The study with one set of seeds: data sets one by one in a file, and the table made of it."""

    seeds: int

    @property
    def path(self) -> Path:
        """Where the table is."""
        return RESULTS / ("neutral.csv" if self.seeds == 1 else f"neutral_seeds_{self.seeds}.csv")

    @property
    def sets_path(self) -> Path:
        """Where the data sets are: limits, risks and estimates of each."""
        return RESULTS / f"neutral_sets_{self.seeds}.csv.gz"

    def run(
        self,
        minutes: float = PART_MINUTES,
        n_jobs: int = 1,
        cells: str = "",
        tools: str = "",
    ) -> bool:
        """Go on for some time, write the table, and return whether all is finished.

        With `cells` only with those whose process, learner or size has that text.
        """
        end = time.monotonic() + 60 * minutes
        done, trained = self.n_done()
        is_open = False
        with joblib.Parallel(n_jobs) as parallel:
            for cell, first, last in blocks(done, cells):
                for own in (*list(done), cell):
                    if own not in trained and time.monotonic() < end:
                        self._keep_risks(own)
                        trained.add(own)
                if time.monotonic() > end:
                    is_open = True
                    break
                job = joblib.delayed(outcomes)
                made = parallel(job(cell, self.seeds, number) for number in range(first, last))
                self._keep(cell, first, made)
                done[cell] = last
        rows = table(self.sets_path)
        part = self.path.with_suffix(".part")
        part.unlink(missing_ok=True)
        append(part, rows, HEADER)
        part.replace(self.path)
        print(_progress(done))
        return not is_open

    def n_done(self) -> tuple[Counter[Cell], set[Cell]]:
        """Data sets that the file has, by cell, and cells whose risk it has more models for."""
        done: Counter[Cell] = Counter()
        trained = set()
        for line in _lines(self.sets_path):
            cell, number = _cell_of(line), int(line["set"])
            if number == TRAINED:
                trained.add(cell)
            else:
                done[cell] = max(done[cell], number + 1)
        return done, trained

    def _keep(self, cell, first, made):
        """Write a block down, as a part of the file that ends with a whole line."""
        lines = []
        for number, found in enumerate(made, first):
            for loss, own in found.items():
                numbers = [own.risk, own.risk_error, *own.more, own.estimate]
                for name in METHODS:
                    numbers += own.limits.get(name, ("", ""))[:2]
                lines.append((number, loss, numbers))
        self._write(cell, lines)

    def _keep_risks(self, cell):
        """Write down mean and standard deviation of the risks of more models."""
        found = expected_risks(cell, self.seeds)
        blank = [""] * (len(SETS_HEADER) - 8)
        lines = [
            (TRAINED, loss, [own.mean(), own.std(ddof=1), *blank]) for loss, own in found.items()
        ]
        self._write(cell, lines)

    def _write(self, cell, lines):
        is_new = not self.sets_path.exists()
        mark = code_marks.mark_in(RESULTS)
        with gzip.open(self.sets_path, "at", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if is_new:
                writer.writerow(SETS_HEADER)
            for number, loss, numbers in lines:
                shown = (value if value == "" else f"{value:.5g}" for value in numbers)
                writer.writerow([*cell, number, loss, mark, *shown])


# In the place of the number of a data set: a line of risks alone.
TRAINED = -1
N_MORE_NAMES = tuple(f"more {k}" for k in range(4))
SETS_HEADER = (
    *("process", "learner", "n", "set", "loss", code_marks.COLUMN, "risk", "risk_error"),
    *N_MORE_NAMES,
    "estimate",
    *(f"{side} {name}" for name in METHODS for side in ("low", "high")),
)


def blocks(done: Counter[Cell], cells: str = "") -> Iterator[tuple[Cell, int, int]]:
    """What is left: a cell, its first data set, and the one after the last."""
    ahead = Counter(done)
    for some, upto in ROUNDS:
        while left := [
            cell for cell in some if ahead[cell] < upto and any(cells in str(part) for part in cell)
        ]:
            for cell in left:
                last = min(upto, ahead[cell] + BLOCK)
                yield cell, ahead[cell], last
                ahead[cell] = last


def _lines(path):
    if not path.exists():
        return []
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def _cell_of(line):
    return Cell(line["process"], line["learner"], int(line["n"]))


def _progress(done):
    """How many data sets each kind of cell has, and how many it is to have."""
    told = []
    kinds = {"n 100": QUICK, "n 100, forest": FOREST, "n 500": MORE_ROWS, "apart": APART}
    for name, some in kinds.items():
        numbers = [done[cell] for cell in some]
        planned = max((upto for cells, upto in ROUNDS if cells is some), default=0)
        told.append(f"{name}: {min(numbers)} to {max(numbers)} of {planned} data sets a cell")
    return "; ".join(told)


# ------------------------------------------------------------------ the table


def table(path: Path) -> list[dict[str, object]]:
    """Lines of the table from the data sets of a file, in the order of the rounds."""
    found, rows = sets_of(path), []
    for cell in (*AT_100, *FORESTS, *AT_500):
        for loss in PROCESSES[cell.process].losses:
            if (cell, loss) in found:
                rows += _rows_of(cell, loss, found[cell, loss])
    return rows


class Sets(NamedTuple):
    """The data sets of a cell and a loss.

    `numbers` has arrays by column of the file, (n_sets,); `trained` mean and standard deviation of
    the risks of `N_TRAINED` more models, or nothing.
    """

    numbers: dict[str, np.ndarray]
    trained: tuple[float, ...]

    @classmethod
    def of(cls, lines: Sequence[dict[str, str]]) -> Sets:
        """Lines of the file, as numbers; NaN where a method has no limits."""
        more = [line for line in lines if int(line["set"]) == TRAINED]
        lines = [line for line in lines if int(line["set"]) != TRAINED]
        trained = tuple(float(line[name]) for line in more for name in ("risk", "risk_error"))
        names = SETS_HEADER[6:]
        return cls(
            {k: np.array([float(line[k] or np.nan) for line in lines]) for k in names}, trained
        )

    @property
    def expected(self) -> tuple[float, float]:
        """Expected risk, and its error from the number of models and of fresh rows."""
        risks = np.concatenate([self.numbers[k] for k in ("risk", *N_MORE_NAMES)])
        mean, n, spread = risks.mean(), len(risks), risks.std(ddof=1)
        if self.trained:
            mean = (n * mean + N_TRAINED * self.trained[0]) / (n + N_TRAINED)
            spread, n = np.hypot(spread, self.trained[1]) / np.sqrt(2), n + N_TRAINED
        return mean, np.hypot(spread / np.sqrt(n), self.numbers["risk_error"].mean())

    def hits(self, method: str) -> tuple[np.ndarray, np.ndarray]:
        """Whether the limits hold the expected risk, and the risk; no limits hold nothing."""
        low, high = self.numbers[f"low {method}"], self.numbers[f"high {method}"]
        return tuple(
            (low <= truth) & (truth <= high) for truth in (self.expected[0], self.numbers["risk"])
        )


def sets_of(path: Path) -> dict[tuple[Cell, str], Sets]:
    """Data sets of a file, by cell and loss."""
    by_cell = defaultdict(list)
    for line in _lines(path):
        by_cell[_cell_of(line), line["loss"]].append(line)
    # Before the first data sets there are risks alone.
    return {key: Sets.of(lines) for key, lines in by_cell.items() if len(lines) > 2}


def _rows_of(cell, loss, sets):
    numbers = sets.numbers
    expected, error = sets.expected
    spread = numbers["estimate"].std(ddof=1)
    for name, trainings in METHODS.items():
        if cell.n > 100 and name in AT_100_ONLY:
            continue
        low, high = numbers[f"low {name}"], numbers[f"high {name}"]
        below, above = expected < low, expected > high
        holds, holds_risk = sets.hits(name)
        share, n = holds.mean(), len(low)
        safe = min(max(share, 0.5 / n), 1 - 0.5 / n)
        yield {
            "process": cell.process,
            "learner": cell.learner,
            "loss": loss,
            "n": cell.n,
            "method": name,
            "trainings": trainings,
            "sets": n,
            "cover_er": f"{share:.4f}",
            "cover_r": f"{holds_risk.mean():.4f}",
            "mc_error": f"{np.sqrt(safe * (1 - safe) / n):.4f}",
            "below": f"{below.mean():.4f}",
            "above": f"{above.mean():.4f}",
            "width": f"{np.nanmedian(high - low) / (3.92 * spread):.4f}",
            "er": f"{expected:.5g}",
            "er_error": f"{error / spread:.3f}",
            "apart": why_apart(cell),
        }


def undercoverage(shares, axis=-1):
    """Mean over cells of what coverage is short of the level."""
    return np.mean(LEVEL - np.minimum(shares, LEVEL), axis=axis)


STUDY = (Neutral(1), Neutral(2))
