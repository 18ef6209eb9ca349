"""Coverage of simultaneous intervals of ranks, by simulation.

An hour for the whole table. The rule, written before the run: over all data sets of a cell the
intervals hold all true ranks at once in at least 94 %, and their mean width is at most that of
Bonferroni's rule with t tests plus .03 ranks. A cell that fails is reported as it is; one of sixty
systems whose first 400 data sets are below 94 gets 1200 more, from the next seeds.

Beside them are those of Mogstad, Romano, Shaikh and Wilhelm (2024) as the R package csranks has
them, on the same data sets; added later, and not part of the rule.

Values of a row have an effect that all systems share, and are normal; or they are right and wrong,
by the same normal values. True ranks are 1 + the number of systems that are strictly better.
Ranks of right and wrong rows depend on no resamples, so that 99 are drawn for them.
"""

import warnings

import numpy as np
from scipy import stats

from skboot import compare_systems

from ..references import csranks
from ..runner import TableStudy, one_line

HEADER = (
    "values",
    "shape",
    "n_systems",
    "n_rows",
    "repetitions",
    "coverage",
    "error",
    "width",
    "width_bonferroni",
    "coverage_csranks",
    "width_csranks",
)
LEVEL = 0.95
# Data sets of a cell, by the number of systems.
REPETITIONS = {10: 1000, 60: 400}
# Of the cells that were below 94 in their first.
MORE = {("0/1", "equal", 60, 100): 1600}
N_ROWS = (100, 41)
# Step between neighbours, in standard deviations of a value.
SHAPES = {
    "equal": lambda k: np.zeros(k),
    "three levels": lambda k: np.repeat([0.0, 0.5, 1.0], [k - 2 * (k // 3), k // 3, k // 3]),
    "evenly spaced": lambda k: np.linspace(0.0, 1.5, k),
}
VALUES = ("normal", "0/1")
N_RESAMPLES = {"normal": 999, "0/1": 99}


def data_set(rng, shape, n_systems, n_rows, values):
    """Values of each system (n_systems, n_rows), and its true rank."""
    level = SHAPES[shape](n_systems)
    noise = rng.normal(size=n_rows) + rng.normal(size=(n_systems, n_rows))
    rows = level[:, None] + noise / np.sqrt(2)
    true = 1 + (level[None, :] > level[:, None] + 1e-12).sum(axis=1)
    return (rows > 0).astype(float) if values == "0/1" else rows, true


def by_bonferroni(rows):
    """Width of each rank's interval where every pair has a t test at the level by their number."""
    n_systems, n = rows.shape
    n_pairs = n_systems * (n_systems - 1) // 2
    covariance = np.cov(rows)
    variance = np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance
    difference = rows.mean(axis=1)[:, None] - rows.mean(axis=1)
    critical = stats.t.ppf(1 - (1 - LEVEL) / 2 / n_pairs, n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = difference / np.sqrt(np.maximum(variance, 0) / n)
    told = (t > critical).sum(axis=1) + (t < -critical).sum(axis=1)
    return n_systems - 1 - told


def one(seed, shape, n_systems, n_rows, values, n_resamples):
    """Whether all true ranks are held, the mean width, that of Bonferroni's rule; csranks' both."""
    rows, true = data_set(np.random.default_rng(seed), shape, n_systems, n_rows, values)
    systems = {f"s{k}": row for k, row in enumerate(rows)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = compare_systems(
            None,
            systems,
            metric="mean",
            greater_is_better=True,
            n_resamples=n_resamples,
            random_state=seed,
        )
    ranks = result.ranks()
    low, high = np.array([(ranks[name].low, ranks[name].high) for name in systems]).T
    published = csranks(rows.mean(axis=1), np.cov(rows) / n_rows, np.random.default_rng([seed, 1]))
    bonferroni = float(np.mean(by_bonferroni(rows)))
    return *_held(low, high, true), bonferroni, *_held(*published, true)


def _held(low, high, true):
    """Whether all true ranks are held, and the mean width."""
    # Systems of equal merit share the better rank, as estimates do.
    return bool(np.all((low <= true) & (true <= high))), float(np.mean(high - low))


def n_sets(values, shape, n_systems, n_rows):
    """Number of data sets of a cell."""
    return MORE.get((values, shape, n_systems, n_rows), REPETITIONS[n_systems])


def cell(values, shape, n_systems, n_rows, repetitions=None, n_resamples=None):
    """Coverage in percent with its standard error, both mean widths, and csranks' numbers."""
    repetitions = repetitions or n_sets(values, shape, n_systems, n_rows)
    n_resamples = n_resamples or N_RESAMPLES[values]
    found = [one(s, shape, n_systems, n_rows, values, n_resamples) for s in range(repetitions)]
    held, width, bonferroni, theirs, their_width = np.mean(found, axis=0)
    error = np.sqrt(max(held * (1 - held), 1e-4) / repetitions)
    numbers = 100 * held, 100 * error, width, bonferroni, 100 * theirs, their_width
    return repetitions, *(f"{number:.2f}" for number in numbers)


CELLS = [
    (values, shape, n_systems, n_rows)
    for n_systems in REPETITIONS
    for values in VALUES
    for shape in SHAPES
    for n_rows in N_ROWS
]


def is_enough(row):
    """Whether a row of the table has all its data sets, and the other intervals."""
    named = row["values"], row["shape"], int(row["n_systems"]), int(row["n_rows"])
    return int(row["repetitions"]) >= n_sets(*named) and bool(row.get("width_csranks"))


STUDY = TableStudy("ranks", HEADER, CELLS, one_line(cell), is_enough)
