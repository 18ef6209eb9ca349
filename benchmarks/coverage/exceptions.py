"""Data sets on which no coverage is promised; on each of them skboot warns.

They are the stated exceptions of the promise, each drawn in to where a warning is due (decision
record 0050): one row that carries a tenth of the sum of losses and ten times the average row, under
20 groups, under 15 members a side, a class of under 20 rows that are
ranked, an AUC above .98. A data set is in an exception by what it shows, so that a user can tell.
Whether a cell counts is decided by its share of such data sets *that carry our warning*: an
exception without a warning excuses nothing.
"""

from __future__ import annotations

import numpy as np

from .scores import Score, squares

LARGEST_SHARE, LARGEST_ROW = 0.1, 10
FEWEST_GROUPS, FEWEST_MEMBERS = 20, 15
# In one population, as it was stated.
FEWEST_OF_ONE_POPULATION = 40
SMALLEST_CLASS, LARGEST_AUC = 20, 0.98
OF_BOTH_CLASSES = ("AUC", "average precision")


def exception_of(
    score: Score,
    y_true: np.ndarray,
    y_pred: np.ndarray,
    groups: np.ndarray | None = None,
    same_population: bool = False,
) -> str:
    """Which stated exception a data set is in; empty: none."""
    if groups is not None:
        return ", ".join(_of_groups(score, y_true, y_pred, groups, same_population))
    found = []
    if score.is_loss:
        losses = (score.losses or squares)(y_true, y_pred)
        if losses.max() > max(LARGEST_SHARE, LARGEST_ROW / len(losses)) * losses.sum():
            found.append("one row above a tenth of the sum")
    elif score.name in OF_BOTH_CLASSES and y_true.max() < 2:
        n_positives = int(np.count_nonzero(y_true))
        if min(n_positives, len(y_true) - n_positives) < SMALLEST_CLASS:
            found.append("minority class under 20")
        if score.name == "AUC" and score.function(y_true, y_pred) > LARGEST_AUC:
            found.append("AUC above .98")
    return ", ".join(found)


def _of_groups(score, y_true, y_pred, groups, same_population):
    if groups.ndim == 2:
        fewest = min(len(np.unique(side)) for side in groups.T)
        least = FEWEST_OF_ONE_POPULATION if same_population else FEWEST_MEMBERS
        return [f"under {least} members a side"] if fewest < least else []
    found = []
    names = np.unique(groups)
    if len(names) < FEWEST_GROUPS:
        found.append("under 20 groups")
    return found
