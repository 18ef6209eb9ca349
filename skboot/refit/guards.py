"""Which score-type interval the "cv-bootstrap" interval of a metric always contains.

| metric | guard |
|---|---|
| means of 0/1 losses | Wilson |
| balanced error | Wilson of each class, put together |
| precision, recall, F-beta, Jaccard of a class, micro averages | Wilson of the share of misses |
| Matthews' coefficient and kappa of two classes | Wilson of each class, put together |

`guard_of` computes their arguments from the out-of-fold answers. Where groups were drawn, the
number of rows behind a proportion is the number at which it would vary as it does between the
groups: at least the groups, at most the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.cells import encode
from .run_metrics import LabelRunMetric, RowRunMetric
from .run_records import RunRecords

Array = NDArray[Any]


def guard_of(metric: RowRunMetric, runs: RunRecords, data: Array, losses: Array) -> dict[str, Any]:
    """Arguments of `skboot.method_error.cv_bootstrap.cv_bootstrap` that make the guard.

    Parameters
    ----------
    metric : RowRunMetric
    runs : RunRecords
    data : ndarray of shape (n_repeats, n_samples)
        Values kept of the rows in the folds that left them out.
    losses : ndarray of shape (n_repeats, n_samples)
        Their losses, for means.

    Returns
    -------
    dict
        Empty for metrics without a guard.
    """
    if metric.weights is not None:
        # Score-type intervals are those of proportions of rows that count alike.
        return {}
    if metric.is_mean:
        return {"guard": "proportion"} if np.isin(losses, metric.bounds).all() else {}
    if not isinstance(metric, LabelRunMetric):
        return {}
    rule = metric.statistic.matrix_rule
    if rule == "recalls":
        return _balanced(metric, data)
    if metric.factor != -1.0:
        return {}
    if rule == "sets":
        return _set_ratio(metric.statistic, metric, data, runs.target.unit)
    if len(metric.labels) == 2 and rule in ("matthews", "kappa"):
        return _agreement(metric, data, runs.target.unit)
    return {}


def _balanced(metric: LabelRunMetric, data: Array) -> dict[str, Any]:
    wrong = metric.codes != data
    n_classes = len(metric.labels)
    sizes = np.bincount(metric.codes, minlength=n_classes)
    rates = np.array([np.bincount(metric.codes, w, n_classes) for w in wrong]).mean(axis=0)
    present = sizes > 0
    return {
        "guard": "balanced",
        "class_sizes": sizes[present],
        "class_errors": (rates / np.maximum(sizes, 1))[present],
    }


def _set_ratio(
    statistic: Any, metric: LabelRunMetric, data: Array, unit: Array | None
) -> dict[str, Any]:
    ratio, wrong = statistic.ratio, metric.codes != data
    if statistic.classes is None:
        # Pooled over all classes, each row is one hit, or one miss of both kinds.
        misses, members = wrong.astype(float), np.ones(data.shape)
        weight = ratio.by_true + ratio.by_predicted
    else:
        counted = encode(metric.labels, np.asarray(statistic.classes)) >= 0
        of_class, called_so = counted[metric.codes], counted[data]
        missed = (wrong & of_class) * float(ratio.by_true > 0)
        added = (wrong & called_so) * float(ratio.by_predicted > 0)
        misses = missed + added
        members = misses + (~wrong & of_class)
        # The two kinds of misses weigh differently in F-beta; the weight is their observed mean.
        weight = max(ratio.by_true, ratio.by_predicted)
        if misses.any():
            total = ratio.by_true * missed.sum() + ratio.by_predicted * added.sum()
            weight = total / misses.sum()
    return {
        "guard": "set ratio",
        "class_sizes": [_share_and_size(misses, members, unit)[1]],
        "guard_weights": [weight, ratio.of_tp],
    }


def _agreement(metric: LabelRunMetric, data: Array, unit: Array | None) -> dict[str, Any]:
    shares = np.bincount(metric.codes, minlength=2) / len(metric.codes)
    if not shares.all():
        return {}
    wrong, of_class = metric.codes != data, metric.codes == np.arange(2)[:, None]
    by_class = [
        _share_and_size((wrong & members).astype(float), np.tile(members, (len(data), 1)), unit)
        for members in of_class
    ]
    return {
        "guard": metric.statistic.matrix_rule,
        "class_errors": [share for share, _ in by_class],
        "class_sizes": [size for _, size in by_class],
        "guard_weights": shares,
    }


def _share_and_size(misses: Array, members: Array, unit: Array | None) -> tuple[float, float]:
    """Return the share of misses among members, and the number of independent rows behind it.

    `misses` and `members`, (n_repeats, n_samples), hold how often each row counts.
    """
    size = float(members.sum(axis=1).mean())
    if size == 0:
        return 0.0, 0.0
    share = float(misses.sum() / members.sum())
    if unit is None:
        return share, size
    n_groups = np.mean([np.count_nonzero(np.bincount(unit, times)) for times in members])
    gaps = np.array([np.bincount(unit, residual) for residual in misses - share * members])
    variance = np.mean(np.sum(gaps**2, axis=1)) / size**2 * n_groups / max(n_groups - 1, 1)
    effective = share * (1 - share) / variance if variance > 0 else n_groups
    return share, float(min(max(effective, n_groups), size))
