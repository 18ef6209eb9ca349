"""The neutral benchmark with "cv-bootstrap" in it: the methods' order, and where ours loses."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from ...neutral.data_sets import METHODS
from ...neutral.processes import HERE, PROCESSES
from ...runner import LEVEL, read
from ...studies.neutral import FOREST, MORE_ROWS, QUICK, Neutral, sets_of, undercoverage
from ..formats import counted_row, percent, table
from ..registry import VerdictRow, section, verdict

STUDY, PAGE, OURS = "neutral", "studies/neutral", "cv-bootstrap"
STUDIES = {seeds: Neutral(seeds) for seeds in (1, 2)}
HELD, ERRORS = 0.93, 2.6
NINE_IN_TEN, TOO_WIDE = 0.9, 1.3
LEAST = 70  # percent that the picture begins at
ENOUGH = 50  # data sets: a cell of fewer is shown, and not judged yet
OF_SKBOOT = [name for name in METHODS if name.startswith(("cv-bootstrap", "skboot"))]
# The settings that stand for each method in the picture and where few columns fit.
SHOWN = {
    "cv-bootstrap": "cvb",
    "corrected t 25": "t",
    "conservative z 10 x 5": "z 5",
    "conservative z 10 x 15": "z 15",
    "nested 3 x 5": "n 3",
    "nested 10 x 5": "n 10",
    "10 folds": "10",
    "leave-one-out": "1",
    "5 x 2": "5x2",
    "out-of-bag 100": "oob",
    ".632+ 100": ".632+",
    "holdout .9": "h .9",
    "replace-one": "r",
}


KINDS = {
    "100 rows": (100, ("linear", "ridge", "tree")),
    "forests": (100, ("forest",)),
    "500 rows": (500, ()),
}
# Methods that the page speaks of, beside ours on both sets of seeds.
REPLICATED = (
    OURS,
    "cv-bootstrap-conservative",
    "nested 10 x 5",
    "nested 3 x 5",
    "conservative z 10 x 5",
    "corrected t 25",
    "corrected t 50",
    "corrected t 100",
    "10 folds",
    "skboot .632+",
    "skboot out-of-bag",
)


class Place(NamedTuple):
    """A cell of the study."""

    process: str
    learner: str
    n: int


class Cell(NamedTuple):
    """What one method did in one cell."""

    process: str
    learner: str
    n: int
    method: str
    sets: int
    cover_er: float
    cover_r: float
    mc_error: float
    below: float
    above: float
    width: float
    apart: str

    @property
    def name(self) -> str:
        """Process, learner and rows."""
        return f"{self.process}, {self.learner}, n {self.n}"

    @property
    def place(self) -> Place:
        """Which cell of the study."""
        return Place(self.process, self.learner, self.n)

    @property
    def is_held(self) -> bool:
        """Whether coverage of the expected risk is at least 93 %, up to its Monte Carlo error."""
        return self.cover_er + ERRORS * self.mc_error >= HELD


@cache
def _cells(seeds: int = 1) -> list[Cell]:
    """Cells of the table's losses, zero-one and squared; a cell of one data set has no width."""
    found = []
    for row in read(STUDIES[seeds].path):
        if row["loss"] == PROCESSES[row["process"]].losses[0]:
            own = {name: row[name] for name in Cell._fields}
            numbers = ("cover_er", "cover_r", "mc_error", "below", "above", "width")
            own |= {name: float(row[name]) for name in numbers}
            found.append(Cell(**own | {"n": int(row["n"]), "sets": int(row["sets"])}))
    return found


def _of(
    n: int, learners: Sequence[str] = (), apart: bool = False, seeds: int = 1
) -> dict[str, list[Cell]]:
    """Cells of a size by method; those apart, or the others."""
    found: dict[str, list[Cell]] = {name: [] for name in METHODS}
    for cell in _cells(seeds):
        if cell.n == n and bool(cell.apart) == apart and cell.learner in (learners or cell.learner):
            found[cell.method].append(cell)
    return {name: own for name, own in found.items() if own}


# ------------------------------------------------------------------ undercoverage


N_DRAWS = 400


@cache
def _hits(seeds: int) -> dict[Place, np.ndarray]:
    """Whether each method holds ER and R in each data set, (n_sets, n_methods, 2), by cell."""
    return {
        Place(*cell): np.stack(
            [np.stack(sets.hits(method), axis=-1) for method in METHODS], axis=1
        ).astype(float)
        for (cell, loss), sets in sets_of(STUDIES[seeds].sets_path).items()
        if loss == PROCESSES[cell.process].losses[0]
    }


def _drawn(places: Sequence[Place], seeds: int) -> np.ndarray:
    """Undercoverage of ER and R of resampled data sets, (N_DRAWS, n_methods, 2).

    Learners of a process have the same data sets, and are resampled together.
    """
    rng, shares = np.random.default_rng(0), []
    orders: dict[tuple[str, int], np.ndarray] = {}
    for place in places:
        hits = _hits(seeds)[place]
        key = place.process, place.n
        if key not in orders:
            orders[key] = rng.random((N_DRAWS, 1000))
        taken = (orders[key][:, : len(hits)] * len(hits)).astype(int)
        weights = np.stack([np.bincount(own, minlength=len(hits)) for own in taken]) / len(hits)
        shares.append(np.einsum("ds,smt->dmt", weights, hits))
    return undercoverage(np.array(shares), axis=0)


def _by_chance(cells: Sequence[Cell]) -> tuple[float, float]:
    """Mean undercoverage of a method that covers 95 % exactly, and its Monte Carlo error."""
    means, variances = [], []
    for cell in cells:
        counts = np.arange(cell.sets + 1)
        short = np.maximum(LEVEL - counts / cell.sets, 0)
        chances = binom.pmf(counts, cell.sets, LEVEL)
        means.append(chances @ short)
        variances.append(chances @ short**2 - means[-1] ** 2)
    return float(np.mean(means)), float(np.sqrt(np.sum(variances)) / len(cells))


class Line(NamedTuple):
    """A method over the cells of a table."""

    method: str
    mean: float  # coverage of ER
    er: float
    er_error: float
    r: float
    r_error: float
    gap_errors: tuple[float, float]  # of ER and R less those of ours
    lowest: Cell
    n_held: int
    n_cells: int
    width: float
    ratio: float  # geometric mean of ours over its width

    @property
    def trainings(self) -> int:
        """Trainings of the method."""
        return METHODS[self.method]


def _lines(n: int, learners: Sequence[str] = (), seeds: int = 1) -> list[Line]:
    """Methods, in the order of the undercoverage of the expected risk."""
    by_method = _of(n, learners, seeds=seeds)
    if not by_method:
        return []
    ours = {cell.place: cell.width for cell in by_method[OURS]}
    drawn = _drawn(list(ours), seeds)
    at = list(METHODS)
    # Where every data set is held, resampled ones say that nothing varies.
    least = _by_chance(by_method[OURS])[1]
    lines = []
    for method, cells in by_method.items():
        own = drawn[:, at.index(method)]
        lines.append(
            Line(
                method,
                float(np.mean([cell.cover_er for cell in cells])),
                float(undercoverage([cell.cover_er for cell in cells])),
                max(least, float(own[:, 0].std())),
                float(undercoverage([cell.cover_r for cell in cells])),
                max(least, float(own[:, 1].std())),
                tuple(np.maximum(least, (own - drawn[:, at.index(OURS)]).std(axis=0))),
                min(cells, key=lambda cell: cell.cover_er),
                sum(cell.is_held for cell in cells),
                len(cells),
                float(np.median([cell.width for cell in cells])),
                _mean_ratio([(ours[cell.place], cell.width) for cell in cells]),
            )
        )
    return sorted(lines, key=lambda line: (line.er, line.r))


def _mean_ratio(pairs) -> float:
    """Geometric mean of ratios; NaN where a median width is not a positive number."""
    if not all(0 < second < np.inf for _, second in pairs):
        return np.nan
    return float(np.exp(np.mean([np.log(first / second) for first, second in pairs])))


def beside_ours(ours: Line, line: Line) -> str:
    """Rule 2 of the study: no more undercoverage, and less of it or a smaller width."""
    if line.method == OURS:
        return ""
    gaps = np.array([line.er - ours.er, line.r - ours.r])
    errors = 2 * np.array(line.gap_errors)
    for sign, first, second, words in (
        (1, line, ours, "**better than ours**"),
        (-1, ours, line, "ours better"),
    ):
        no_more = (sign * gaps <= errors).all()
        is_narrower = first.width <= 0.95 * second.width
        is_wider = second.width <= 0.95 * first.width  # Then each has something.
        if no_more and (is_narrower or (sign * gaps[0] < -errors[0] and not is_wider)):
            return words
    return "neither"


def _points(share: float, error: float) -> str:
    return f"{100 * share:.2f} ({100 * error:.2f})"


def _order(n: int, learners: Sequence[str] = ()) -> str:
    lines = _lines(n, learners)
    if not lines:
        return "Not run yet."
    ours = next(line for line in lines if line.method == OURS)
    header = (
        *("method", "trainings", "undercoverage of ER", "of R", "covers ER", "lowest cell"),
        *("cells held", "width", "ours over its width", "beside cv-bootstrap"),
    )
    shown = [
        (
            f"**{line.method}**" if line.method in OF_SKBOOT else line.method,
            str(line.trainings),
            _points(line.er, line.er_error),
            _points(line.r, line.r_error),
            percent(line.mean),
            f"{percent(line.lowest.cover_er)} ({line.lowest.process}, {line.lowest.learner})",
            f"{line.n_held} of {line.n_cells}",
            f"{line.width:.2f}",
            "" if np.isnan(line.ratio) else f"{line.ratio:.2f}",
            beside_ours(ours, line),
        )
        for line in lines
    ]
    cells = _of(n, learners)[OURS]
    sets = sorted({cell.sets for cell in cells})
    told = f"{sets[0]} to {sets[-1]}" if len(sets) > 1 else str(sets[0])
    floor = f"{100 * _by_chance(cells)[0]:.2f}"
    return (
        f"{len(cells)} cells, {told} data sets a cell. A method that covers 95 % exactly has an "
        f"undercoverage of {floor} points by chance.\n\n{table(header, shown)}"
    )


@section("neutral_100", PAGE, STUDY)
def at_100() -> str:
    """All cells of 100 rows but those of the forest."""
    return _order(*KINDS["100 rows"])


@section("neutral_forest", PAGE, STUDY)
def of_forests() -> str:
    """Cells of the forest."""
    return _order(*KINDS["forests"])


@section("neutral_500", PAGE, STUDY)
def at_500() -> str:
    """All cells of 500 rows."""
    return _order(*KINDS["500 rows"])


@section("neutral_learners", PAGE, STUDY)
def by_learner() -> str:
    """Undercoverage of ER, and width, by learner at 100 rows."""
    learners = ("linear", "ridge", "tree", "forest")
    by_learner = {name: {line.method: line for line in _lines(100, (name,))} for name in learners}
    lines = []
    for method in (*OF_SKBOOT, *(name for name in SHOWN if name not in OF_SKBOOT)):
        own = [by_learner[name].get(method) for name in learners]
        shown = (f"{100 * line.er:.2f} / {line.width:.2f}" if line else "" for line in own)
        lines.append((method, *shown))
    return table(("undercoverage of ER, points / width", *learners), lines)


@section("neutral_apart", PAGE, STUDY)
def apart() -> str:
    """Cells that are in no mean."""
    methods = (OURS, "corrected t 25", "conservative z 10 x 5", "nested 3 x 5", "10 folds")
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for cell in _cells():
        if cell.apart and cell.method in methods:
            told = f"{percent(cell.cover_er)} / {cell.width:.2f}"
            rows.setdefault((f"{cell.name} ({cell.sets})", cell.apart), {})[cell.method] = told
    lines = [
        (name, why, *(own.get(method, "") for method in methods))
        for (name, why), own in rows.items()
    ]
    return table(("cell (data sets)", "why apart", *methods), lines)


@section("neutral_replicate", PAGE, STUDY)
def replicate() -> str:
    """Both sets of seeds beside each other, for methods that the page speaks of."""
    shown = []
    for kind, (n, learners) in KINDS.items():
        sets = [_of(n, learners, seeds=seeds).get(OURS, []) for seeds in STUDIES]
        least = [min((cell.sets for cell in cells), default=0) for cells in sets]
        if min(least) < ENOUGH or len({len(cells) for cells in sets}) > 1:
            # Some of the cells alone would say something else.
            continue
        tables = [{line.method: line for line in _lines(n, learners, seeds)} for seeds in STUDIES]
        for method in REPLICATED:
            lines = [by_method[method] for by_method in tables]
            beside = [beside_ours(by_method[OURS], by_method[method]) for by_method in tables]
            shown.append(
                (
                    f"{kind} ({least[0]}, {least[1]})" if method == OURS else "",
                    method,
                    ", ".join(f"{100 * line.er:.2f} / {100 * line.r:.2f}" for line in lines),
                    ", ".join(percent(line.mean) for line in lines),
                    ", ".join(f"{line.width:.2f}" for line in lines),
                    ", ".join(dict.fromkeys(beside)),
                )
            )
    if not shown:
        return "Not run yet."
    header = ("cells (data sets)", "method", "undercoverage of ER / R", "covers ER", "width")
    return table((*header, "beside cv-bootstrap"), shown)


# ------------------------------------------------------------------ where ours loses


class Loss(NamedTuple):
    """A cell that ours loses, by the rule."""

    cell: Cell
    other: Cell
    is_of_coverage: bool

    @property
    def told(self) -> str:
        """By what it is lost."""
        if self.is_of_coverage:
            return "coverage under 93"
        return f"{self.cell.width / self.other.width:.2f} times as wide"


def losses() -> list[Loss]:
    """Rule 3 of the study, among the methods of the paper."""
    found = []
    for n, learners in KINDS.values():
        by_method = _of(n, learners)
        others = {name: own for name, own in by_method.items() if name not in OF_SKBOOT}
        sure = {
            name
            for name, own in others.items()
            if np.mean([cell.is_held for cell in own]) >= NINE_IN_TEN
        }
        for cell in by_method.get(OURS, []):
            if cell.sets < ENOUGH:
                continue
            same = [own for cells in others.values() for own in cells if own.place == cell.place]
            held = [own for own in same if own.is_held]
            if not cell.is_held and held:
                found.append(Loss(cell, max(held, key=lambda own: own.cover_er), True))
            narrow = [own for own in held if own.method in sure]
            if narrow:
                least = min(narrow, key=lambda own: own.width)
                if cell.width > TOO_WIDE * least.width:
                    found.append(Loss(cell, least, False))
    return found


def _told(cell: Cell) -> str:
    return f"{percent(cell.cover_er)}, {percent(cell.cover_r)} / {cell.width:.2f}"


@section("neutral_losses", PAGE, STUDY)
def where_ours_loses() -> str:
    """Each lost cell, with the method that it is lost to."""
    lines = [
        (
            loss.cell.name,
            loss.told,
            _told(loss.cell),
            f"{loss.other.method}: {_told(loss.other)}",
        )
        for loss in losses()
    ]
    if not lines:
        return "None by the rule."
    return table(("cell", "lost by", "cv-bootstrap: ER, R / width", "the other"), lines)


@verdict("neutral_100")
def verdict_row() -> VerdictRow:
    """Its line of the verdicts: cells that are not held although another method holds them."""
    every = [cell for n in (100, 500) for cell in _of(n).get(OURS, [])]
    cells = [cell for cell in every if cell.sets >= ENOUGH] or every
    lowest = min(cells, key=lambda cell: cell.cover_er)
    lost = losses()
    outside = [
        (
            loss.cell.name,
            f"{percent(loss.cell.cover_er)} ({percent(loss.cell.mc_error)})",
            f"{loss.told}; {loss.other.method} holds",
        )
        for loss in lost
    ]
    return counted_row(
        "the neutral benchmark",
        len(cells),
        f"{percent(lowest.cover_er)} ({percent(lowest.mc_error)}) ({lowest.name})",
        outside,
        planned=len(QUICK) + len(FOREST) + len(MORE_ROWS),
        n_outside=len({loss.cell.place for loss in lost}),
    )


# ------------------------------------------------------------------ numbers that are not ours


@cache
def _outside() -> dict[tuple[str, str, int, str], tuple[float, float]]:
    """Coverage of ER and R in 500 data sets of the paper, by process, learner, rows, method."""
    with (HERE / "outside.csv").open(newline="") as file:
        return {
            (row["process"], row["learner"], int(row["n"]), row["method"]): (
                float(row["cover_er"]),
                float(row["cover_r"]),
            )
            for row in csv.DictReader(file)
            if row["cover_er"]
        }


# glmnet and glm of R leave the models that are defined, by rounding: see `neutral.learners`.
def _is_comparable(cell: Cell) -> bool:
    is_logistic = cell.learner == "linear" and PROCESSES[cell.process].is_labels
    return not cell.apart and not (is_logistic and cell.process != "bates_classif_20")


class Agreement(NamedTuple):
    """A method here and in the paper, over the cells that both have."""

    method: str
    n_cells: int
    ours: float
    theirs: float
    error: float
    farthest: float


def agreements(target: int = 0) -> list[Agreement]:
    """Mean coverage of each method in both, of the expected risk (0) or the risk (1)."""
    found = []
    for method in METHODS:
        pairs = [
            (cell, _outside()[key][target])
            for cell in _cells()
            if cell.method == method
            and _is_comparable(cell)
            and (key := (cell.process, cell.learner, cell.n, method)) in _outside()
        ]
        if not pairs:
            continue
        ours = np.array([(cell.cover_er, cell.cover_r)[target] for cell, _ in pairs])
        theirs = np.array([share for _, share in pairs])
        sets = np.array([cell.sets for cell, _ in pairs])
        both = (ours * sets + theirs * 500) / (sets + 500)
        both = np.clip(both, 0.5 / 500, 1 - 0.5 / 500)
        spread = np.sqrt(both * (1 - both) * (1 / sets + 1 / 500))
        by_process: dict[str, float] = {}
        for (cell, _), own in zip(pairs, spread, strict=True):
            key = f"{cell.process} {cell.n}"
            by_process[key] = by_process.get(key, 0.0) + own
        error = np.sqrt(sum(own**2 for own in by_process.values())) / len(pairs)
        farthest = float(np.abs((ours - theirs) / spread).max())
        found.append(
            Agreement(method, len(pairs), ours.mean(), theirs.mean(), float(error), farthest)
        )
    return found


@section("neutral_outside", PAGE, STUDY)
def agreement() -> str:
    """Coverage of the methods here and in the paper."""
    lines = [
        (
            own.method,
            str(own.n_cells),
            percent(own.ours),
            percent(own.theirs),
            f"{100 * (own.ours - own.theirs):+.1f} ({100 * own.error:.1f})",
            f"{own.farthest:.1f}",
        )
        for own in agreements()
    ]
    header = ("method", "cells", "here", "in the paper", "difference", "farthest cell, in errors")
    return table(header, lines)


# Medians over the paper's processes of the coverage of R and ER at 500 rows, read off its last
# figure to half a point.
FIGURE = {
    "conservative z 10 x 5": {"linear": (96.0, 95.5), "ridge": (95.0, 95.5), "tree": (95.5, 96.0)},
    "nested 3 x 5": {"linear": (96.5, 97.0), "ridge": (96.5, 97.0), "tree": (94.5, 95.5)},
    "corrected t 25": {"linear": (93.0, 94.5), "ridge": (94.0, 95.0), "tree": (94.0, 94.0)},
}


def medians_at_500(method: str, learner: str) -> tuple[float, float]:
    """Medians over the processes of the coverage of R and ER in percent; NaN where not run."""
    cells = _of(500, (learner,)).get(method, [])
    shares = [(100 * cell.cover_r, 100 * cell.cover_er) for cell in cells]
    return tuple(np.median(shares, axis=0)) if shares else (np.nan, np.nan)


@section("neutral_figure", PAGE, STUDY)
def beside_the_figure() -> str:
    """Medians of the recommended methods at 500 rows, here and in the paper."""
    lines = []
    for method, by_learner in FIGURE.items():
        for learner, theirs in by_learner.items():
            ours = medians_at_500(method, learner)
            shown = (f"{mine:.1f}, {own:.1f}" for mine, own in zip(ours, theirs, strict=True))
            lines.append((method, learner, *shown))
    return table(("method", "learner", "R: here, paper", "ER: here, paper"), lines)


# ------------------------------------------------------------------ the picture


def picture(path: Path) -> None:
    """Draw coverage against width by learner; a line goes down to the lowest cell of a method."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    learners = [name for name in ("tree", "linear", "forest", "ridge") if _of(100, (name,))]
    figure, axes = plt.subplots(
        2, 2, figsize=(9, 7.5), sharex=True, sharey=True, layout="constrained"
    )
    for panel, learner in zip(axes.flat, learners, strict=False):
        for method, code in SHOWN.items():
            cells = _of(100, (learner,)).get(method)
            if not cells:
                continue
            shares = [100 * cell.cover_er for cell in cells]
            width = float(np.median([cell.width for cell in cells]))
            ours, mean = method == OURS, max(np.mean(shares), LEAST)
            color, marker, size = ("#0072B2", "o", 7) if ours else ("#555555", "D", 4)
            panel.plot([width, width], [mean, max(min(shares), LEAST)], color=color, lw=0.7)
            panel.plot(width, mean, marker, color=color, ms=size)
            place = {"xytext": (1, 5), "textcoords": "offset points", "rotation": 60}
            panel.annotate(code, (width, mean), fontsize=7, color=color, **place)
        panel.axhline(95, color="black", linewidth=0.8, zorder=0)
        panel.set(title=learner, xscale="log", xlim=(0.6, 7), ylim=(LEAST, 104))
        panel.set_xticks([0.7, 1, 1.5, 2, 3, 5], ["0.7", "1", "1.5", "2", "3", "5"])
        panel.minorticks_off()
    figure.supxlabel("width, in spreads of the estimate", fontsize=10)
    figure.supylabel("coverage of the expected risk, %: mean, and lowest cell", fontsize=10)
    figure.savefig(path, dpi=130)
    plt.close(figure)
