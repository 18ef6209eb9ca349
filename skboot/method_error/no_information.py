"""No-information rates: the error if labels were independent of predictions.

`no_information_squared` and `no_information_absolute` are means over all pairs of a target and a
prediction, in closed form. `NO_INFORMATION_SCORE` holds scores that are the same whatever the
predictions are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._columns import Array

NO_INFORMATION_SCORE = {"roc_auc": 0.5, "matthews_corrcoef": 0.0, "cohen_kappa": 0.0}
"""Scores of predictions permuted over many rows, whatever the predictions are."""


def no_information_squared(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Mean squared error over all pairs of a target and a prediction, in O(n).

    Divided by the variance of `y_true` it is the no-information rate of 1 - R2.
    """
    y, f = np.asarray(y_true, dtype=float), np.asarray(y_pred, dtype=float)
    weight = _shares(len(y), sample_weight)
    mean_y, mean_f = weight @ y, weight @ f
    # As variances, not mean(y^2) - 2 mean(y) mean(f) + mean(f^2): no cancellation far from zero.
    return float(weight @ (y - mean_y) ** 2 + weight @ (f - mean_f) ** 2 + (mean_y - mean_f) ** 2)


def no_information_absolute(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Mean absolute error over all pairs of a target and a prediction, in O(n log n)."""
    y, f = np.asarray(y_true, dtype=float), np.asarray(y_pred, dtype=float)
    weight = _shares(len(y), sample_weight)
    order = np.argsort(f)
    mass = np.concatenate([[0.0], np.cumsum(weight[order])])
    moment = np.concatenate([[0.0], np.cumsum((weight * f)[order])])
    at = np.searchsorted(f[order], y)
    per_row = y * (2 * mass[at] - mass[-1]) - (2 * moment[at] - moment[-1])
    return float(weight @ per_row)


def _shares(n_rows: int, sample_weight: ArrayLike | None) -> Array:
    if sample_weight is None:
        return np.full(n_rows, 1 / n_rows)
    weight = np.asarray(sample_weight, dtype=float)
    return weight / weight.sum()
