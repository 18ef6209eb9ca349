"""Learning curves: their bands, and what an inverse power law makes of them."""

from __future__ import annotations

from typing import NamedTuple

from scipy.stats import beta

from ...runner import RESULTS, read
from ...studies import learning_curves as study
from ..formats import percent, table
from ..registry import VerdictRow, section, verdict

# Lowest exact limit of a coverage (%), and the range of the mean standard error, that pass.
LEAST, RANGE = 90.0, (0.9, 1.4)


class _Cell(NamedTuple):
    """A cell: coverage of the band, and by size of the points, with standard errors."""

    name: str
    kind: str
    n_sets: int
    whole: float
    points: list[float]
    errors: list[float]
    widths: list[float]
    peers: list[float]

    @property
    def reasons(self) -> list[str]:
        """Which parts of the rule it misses."""
        found = []
        if least_coverage(self.whole, self.n_sets) < LEAST:
            found.append(f"band {self.whole:.1f} %")
        low = min(self.points)
        if least_coverage(low, self.n_sets) < LEAST:
            found.append(f"a size {low:.1f} %")
        if not (RANGE[0] <= min(self.errors) and max(self.errors) <= RANGE[1]):
            found.append(f"standard errors {_range(self.errors, 2)} of the deviation")
        return found


def _range(values: list[float], digits: int) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def least_coverage(covered: float, n_sets: int) -> float:
    """Exact one-sided 95 % lower limit of a coverage, in percent (Clopper & Pearson 1934)."""
    hits = round(n_sets * covered / 100)
    return 100 * float(beta.ppf(0.05, hits, n_sets - hits + 1)) if hits else 0.0


def cells() -> list[_Cell]:
    """What was found in each cell."""
    rows = read(RESULTS / "learning_curves.csv")
    found = []
    for name in dict.fromkeys(row["cell"] for row in rows):
        own = [row for row in rows if row["cell"] == name]
        columns = ("covered %", "mean standard error over sd", "width", "scikit-learn covered %")
        points, errors, widths, peers = ([float(row[c]) for row in own] for c in columns)
        first = own[0]
        whole, n_sets = float(first["all sizes covered %"]), int(first["data sets"])
        found.append(_Cell(name, first["kind"], n_sets, whole, points, errors, widths, peers))
    return found


@section("learning_curves", "studies/learning_curves", "learning_curves")
def learning_curves() -> str:
    """What bands and points cover, cell by cell."""
    header = (
        "methods and rows",
        "band covers (%)",
        "points cover (%)",
        "mean standard error by the deviation",
        "t over five folds covers (%)",
    )
    lines = [
        (
            each.name + ("" if each.kind == "chosen on" else " (not looked at)"),
            f"{each.whole:.1f}",
            _range(each.points, 1),
            _range(each.errors, 2),
            _range(each.peers, 0),
        )
        for each in cells()
    ]
    return table(header, lines)


@verdict("learning_curves")
def verdict_row() -> VerdictRow:
    """The line of learning curves."""
    found = cells()
    outside = tuple(
        (each.name, "; ".join(each.reasons), "listed") for each in found if each.reasons
    )
    passed = len(found) - len(outside)
    lowest = min(found, key=lambda each: each.whole)
    return VerdictRow(
        "learning curves",
        f"{len(found)} of {len(study.CELLS)}",
        percent(passed / len(found)),
        f"{percent(lowest.whole / 100)} ({lowest.name})",
        "",
        "**no**" if outside else "yes",
        outside,
    )


@section("more_rows", "studies/learning_curves", "more_rows")
def more_rows() -> str:
    """What a fitted power law says of twice the rows."""
    header = (
        "data and method",
        "n",
        "score at .9 n",
        "score at 2 n",
        "fitted at 2 n",
        "fitted covers (%)",
        "its width",
        "the curve at .9 n covers that of 2 n (%)",
        "its width",
    )
    lines = [
        (
            row["cell"],
            row["n"],
            f"{float(row['score at .9 n']):.3f}",
            f"{float(row['score at 2 n']):.3f}",
            f"{float(row['fitted at 2 n']):.3f}",
            row["fitted covered %"],
            f"{float(row['fitted width']):.3f}",
            row["last covered %"],
            f"{float(row['last width']):.3f}",
        )
        for row in read(RESULTS / "more_rows.csv")
    ]
    return table(header, lines)
