"""Checks of labels and of columns that several metrics share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.checks import fail
from .cells import label_counts


def known_labels(labels: Any, y_true: NDArray[Any]) -> NDArray[Any]:
    """Labels of the columns: those given, which must hold those of the truth, or these."""
    occurring = label_counts(y_true)[0]
    if labels is None:
        return occurring
    check_among("y_true", occurring, np.asarray(labels))
    return np.asarray(labels)


def check_among(name: str, occurring: NDArray[Any], all_labels: NDArray[Any]) -> None:
    """Refuse labels that are not among all labels."""
    others = [label for label in occurring.tolist() if label not in all_labels.tolist()]
    if others:
        advice = "Give all labels, in the order of the columns, as labels=."
        raise fail(name, f"hold labels among {all_labels.tolist()}", f"also {others[:5]}", advice)


def check_columns(y_pred: NDArray[Any], all_labels: NDArray[Any]) -> None:
    """Refuse predictions that do not have a column for each label."""
    if y_pred.ndim == 1 or y_pred.shape[1] != len(all_labels):
        must = (
            f"have one column for each of the {len(all_labels)} labels {all_labels.tolist()[:20]}"
        )
        advice = "Give all labels, in the order of the columns, as labels=."
        raise fail("y_pred", must, f"shape {y_pred.shape}", advice)


# Sums of two columns that differ by more, of the largest score or 1, are no rounding: that of
# probabilities to 8 bits (bfloat16) is 2**-8 in each.
_LEAST_SPREAD = 0.01


def check_two_columns(argument: str, scores: NDArray[Any], must: str) -> None:
    """Refuse two columns of which the second alone does not order the rows.

    Probabilities sum to one, and scores of both classes of many models to 0. Those of two systems,
    and logits, have sums that vary: the second column is then no score of the positive class.
    """
    if scores.ndim != 2 or not are_no_classes(scores):
        return
    sums = scores.sum(axis=1, dtype=np.float64)
    got = f"two columns with sums from {sums.min():.4g} to {sums.max():.4g}"
    raise fail(argument, must, got, _ONE_SCORE, about="systems")


def are_no_classes(scores: NDArray[Any]) -> bool:
    """Whether columns are two whose sums vary by more than rounding."""
    if scores.shape[1] != 2 or scores.dtype.kind not in "biuf":
        return False
    sums = scores.sum(axis=1, dtype=np.float64)
    return bool(np.ptp(sums) > _LEAST_SPREAD * max(float(np.abs(scores).max()), 1.0))


_ONE_SCORE = (
    "Give the scores of one system as one column; for two systems give a dict, "
    "{'A': a, 'B': b}, to compare_systems or bootstrap_curve; for logits give their difference, "
    "y_pred[:, 1] - y_pred[:, 0]."
)


def sums_to_one(prob: NDArray[Any]) -> bool:
    """Whether rows sum to one, to the tolerance of scikit-learn."""
    floating = prob if prob.dtype.kind == "f" else prob.astype(np.float64)
    tolerance = np.sqrt(np.finfo(floating.dtype).eps)
    return bool(np.allclose(floating.sum(axis=1), 1, rtol=tolerance))
