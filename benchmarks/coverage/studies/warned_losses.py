"""How many data sets would a warning of heavy tails meet, for each bound that it could have?

The rule is that of `at_the_bounds`. The data sets of `frozen_systems` and `real_predictions` that
are scored by losses of rows are drawn again, 1000 of each cell, with the same seeds; their coverage
is in the results of those studies. Run as a script it writes percent of the data sets that show
each sign:

    python -m benchmarks.coverage.studies.warned_losses
"""

from __future__ import annotations

import csv
from importlib import import_module

import numpy as np
from scipy.stats import kurtosis

from ..runner import RESULTS, seeds_of
from ..scores import squares

TABLE = RESULTS / "warned_losses.csv"
N_DATA_SETS = 1000
# Share of the sum that one row has, kurtosis and number of rows; the first two are as stated.
SIGNS = {
    "share > .05": lambda share, peak, n: share > 0.05,
    "kurtosis > 10": lambda share, peak, n: peak > 10,
    "both": lambda share, peak, n: share > 0.05 and peak > 10,
    "share > .1 and 10 / n": lambda share, peak, n: share > max(0.1, 10 / n),
    "share > .1": lambda share, peak, n: share > 0.1,
    "share > .05 and 10 / n": lambda share, peak, n: share > max(0.05, 10 / n),
    "share > .1 and 8 / n": lambda share, peak, n: share > max(0.1, 8 / n),
    "share > .08 and 8 / n": lambda share, peak, n: share > max(0.08, 8 / n),
    "kurtosis > 10 and n / 4": lambda share, peak, n: peak > max(10, n / 4),
    "kurtosis > n / 8": lambda share, peak, n: peak > n / 8,
}


def shares_of(study: str, cell) -> list[float]:
    """Share of the data sets of a cell that show each sign."""
    found = []
    for repetition in range(N_DATA_SETS):
        sample = cell.draw(seeds_of(study, cell.name, repetition)[0])
        losses = (sample.score.losses or squares)(sample.y_true, sample.y_pred)
        share, peak = losses.max() / losses.sum(), kurtosis(losses, fisher=False)
        found.append([sign(share, peak, len(losses)) for sign in SIGNS.values()])
    return list(np.mean(found, axis=0))


def rows():
    """Lines of the table, cell by cell."""
    for study in ("frozen_systems", "real_predictions"):
        for cell in import_module(f"benchmarks.coverage.studies.{study}").STUDY.cells:
            sample = cell.draw(np.random.default_rng(0))
            if sample.score.is_loss and sample.groups is None:
                shares = shares_of(study, cell)
                yield [study, cell.name, *(f"{100 * share:.1f}" for share in shares)]


if __name__ == "__main__":
    with TABLE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["study", "cell", *SIGNS])
        for row in rows():
            print(", ".join(row), flush=True)
            writer.writerow(row)
