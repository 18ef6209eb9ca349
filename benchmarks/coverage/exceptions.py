"""Data sets on which no coverage is promised; on each of them skboot must warn.

They are those that the project states: losses of sample kurtosis above 10 or with one row above
5 % of the sum, under 20 groups or under 5 erring groups, under 40 members a side, a minority class
under 20, AUC above .98. A data set is in an exception by what it shows, so that a user can tell.
Whether a cell counts is decided by its share of such data sets *that carry our warning*: an
exception without a warning excuses nothing.
"""

from __future__ import annotations

import numpy as np

from .scores import Score, squares

LARGEST_KURTOSIS, LARGEST_SHARE = 10.0, 0.05
FEWEST_GROUPS, FEWEST_ERRING, FEWEST_MEMBERS = 20, 5, 40
SMALLEST_CLASS, LARGEST_AUC = 20, 0.98
OF_BOTH_CLASSES = ("AUC", "average precision", "F1", "MCC")


def exception_of(
    score: Score,
    y_true: np.ndarray,
    y_pred: np.ndarray,
    groups: np.ndarray | None = None,
    same_population: bool = False,
) -> str:
    """Which stated exception a data set is in; empty: none."""
    found = _of_groups(score, y_true, y_pred, groups)
    if score.is_loss:
        losses = (score.losses or squares)(y_true, y_pred)
        if losses.max() > LARGEST_SHARE * losses.sum():
            found.append("one row above 5 % of the sum")
        if kurtosis(losses) > LARGEST_KURTOSIS:
            found.append("kurtosis above 10")
    elif score.name in OF_BOTH_CLASSES and y_true.max() < 2:
        n_positives = int(np.count_nonzero(y_true))
        if min(n_positives, len(y_true) - n_positives) < SMALLEST_CLASS:
            found.append("minority class under 20")
        if score.name == "AUC" and score.function(y_true, y_pred) > LARGEST_AUC:
            found.append("AUC above .98")
    return ", ".join(found)


def _of_groups(score, y_true, y_pred, groups):
    if groups is None:
        return []
    if groups.ndim == 2:
        fewest = min(len(np.unique(side)) for side in groups.T)
        return ["under 40 members a side"] if fewest < FEWEST_MEMBERS else []
    found = []
    names = np.unique(groups)
    if len(names) < FEWEST_GROUPS:
        found.append("under 20 groups")
    if score.name in ("accuracy", "F1", "macro F1"):
        erring = len(np.unique(groups[y_true != y_pred]))
        if min(erring, len(np.unique(groups[y_true == y_pred]))) < FEWEST_ERRING:
            found.append("under 5 erring groups")
    return found


def kurtosis(losses: np.ndarray) -> float:
    """Fourth standardized moment: 3 for normal values."""
    centred = losses - losses.mean()
    variance = np.mean(centred**2)
    return float(np.mean(centred**4) / variance**2) if variance > 0 else 0.0
