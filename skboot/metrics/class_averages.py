"""Which metrics are averages over classes, and what each class weighs in them.

A class of few rows weighs as much as one of many in macro averages and balanced accuracy, so that
their intervals ask for the rows of each class; metrics that pool all rows do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import label_counts
from .labels import BalancedAccuracy, SetAverage
from .statistic import Floats, ReducedData, Statistic


def averages_classes(statistic: Statistic) -> bool:
    """Whether a metric is an average over classes, evenly or by their rows."""
    return isinstance(statistic, SetAverage | BalancedAccuracy)


def class_weights(statistic: Statistic, labels: NDArray[Any], sizes: NDArray[Any]) -> Floats:
    """Weight of each class in an average over classes.

    Parameters
    ----------
    statistic : Statistic
        One of which `averages_classes` holds.
    labels : ndarray of shape (n_classes,)
    sizes : ndarray of shape (n_classes,)
        Rows of each class.

    Returns
    -------
    ndarray of shape (n_classes,)
        With sum 1; all zero where none of the classes that the metric averages occurs.
    """
    weights = (np.asarray(sizes) > 0).astype(np.float64)
    classes = getattr(statistic, "classes", None)
    if classes is not None:
        weights *= np.isin(labels, classes)
    if getattr(statistic, "weighted", False):
        weights *= sizes
    return weights / weights.sum() if weights.any() else weights


def averaged_sizes(
    statistic: Statistic, reduced: ReducedData, y_true: NDArray[Any] | None, weights: Any
) -> NDArray[np.int64] | None:
    """Rows of each class in an average that weighs them evenly.

    Parameters
    ----------
    statistic : Statistic
    reduced : ReducedData
        Of the rows below; without weights it holds their counts.
    y_true : ndarray of shape (n_samples,) or None
    weights : ndarray of shape (n_samples,) or None

    Returns
    -------
    ndarray of shape (n_classes,) or None
        None for other metrics.
    """
    evenly = averages_classes(statistic) and not getattr(statistic, "weighted", False)
    if y_true is None or not evenly:
        return None
    known = reduced.data.get("truth_counts") if weights is None else None
    labels, counts = known or label_counts(y_true)
    averaged = class_weights(statistic, labels, counts) > 0
    return np.asarray(counts[averaged], dtype=np.int64) if averaged.any() else None
