"""How many data sets would a warning of heavy tails meet, for each bound that it could have?

The rule is that of `at_the_bounds`. The data sets of `frozen_systems` and `real_predictions` that
are scored by losses of rows are drawn again, 1000 of each cell, with the same seeds; their coverage
is in the results of those studies. The table has percent of the data sets that show each sign:

    make coverage-study STUDY=warned_losses
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
from scipy.stats import kurtosis

from ..runner import TableStudy, one_line, seeds_of
from ..scores import squares

N_DATA_SETS = 1000
# First words of the kinds that are scored by losses of rows.
LOSSES = ("MSE", "MAE", "pinball", "RMSE", "R2", "log loss")
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


def row_of(study, name):
    """Line of the table for one cell."""
    return [f"{100 * share:.1f}" for share in shares_of(study, CELLS[study, name])]


CELLS = {
    (study, cell.name): cell
    for study in ("frozen_systems", "real_predictions")
    for cell in import_module(f"benchmarks.coverage.studies.{study}").STUDY.cells
    if cell.kind.partition(",")[0] in LOSSES
}
STUDY = TableStudy("warned_losses", ("study", "cell", *SIGNS), [*CELLS], one_line(row_of))
