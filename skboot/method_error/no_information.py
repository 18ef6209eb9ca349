"""No-information rates: the error if labels were independent of predictions.

`no_information_zero_one`, `_squared`, `_absolute` and `_classwise` are means over all pairs of a
label and a prediction, in closed form. `no_information_confusion` serves any metric of a confusion
matrix, and `NO_INFORMATION_SCORE` holds scores that are the same whatever the predictions are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._columns import Array

NO_INFORMATION_SCORE = {"roc_auc": 0.5, "matthews_corrcoef": 0.0, "cohen_kappa": 0.0}
"""Scores of predictions permuted over many rows, whatever the predictions are."""


def no_information_zero_one(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Error rate if labels were independent of predictions: sum_k p_k (1 - q_k), in O(n log n).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels, and predictions of the model of all rows.
    sample_weight : array-like of shape (n_samples,), optional
    """
    return float(
        1 - np.trace(no_information_confusion(y_true, y_pred, sample_weight=sample_weight))
    )


def no_information_confusion(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> Array:
    """Confusion matrix, in shares, of predictions independent of the labels.

    Any metric of a confusion matrix, taken at this one, is the limit of that metric over
    permutations of the labels: F1 is 2 p q / (p + q), balanced accuracy 1 / n_classes, Cohen's
    kappa and Matthews' correlation 0.

    Returns
    -------
    ndarray of shape (n_labels, n_labels)
        Rows are true, columns predicted labels, both sorted over the union of the two.
    """
    truth, guess = np.asarray(y_true), np.asarray(y_pred)
    labels, codes = np.unique(np.concatenate([truth, guess]), return_inverse=True)
    weight = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
    p = np.bincount(codes[: len(truth)], weights=weight, minlength=len(labels))
    q = np.bincount(codes[len(truth) :], weights=weight, minlength=len(labels))
    return np.outer(p, q) / weight.sum() ** 2


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


def no_information_classwise(
    class_losses: ArrayLike, y_true_codes: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Mean loss over all pairs for a loss of a class and a prediction (log loss, cost), in O(n K).

    Parameters
    ----------
    class_losses : array-like of shape (n_samples, n_classes)
        Loss of each prediction, were its label class k.
    y_true_codes : array-like of shape (n_samples,)
        Class number, 0 to n_classes - 1, of each row.
    sample_weight : array-like of shape (n_samples,), optional
    """
    table = np.asarray(class_losses, dtype=float)
    weight = _shares(len(table), sample_weight)
    p = np.bincount(np.asarray(y_true_codes), weights=weight, minlength=table.shape[1])
    return float(p @ (weight @ table))


def _shares(n_rows: int, sample_weight: ArrayLike | None) -> Array:
    if sample_weight is None:
        return np.full(n_rows, 1 / n_rows)
    weight = np.asarray(sample_weight, dtype=float)
    return weight / weight.sum()
