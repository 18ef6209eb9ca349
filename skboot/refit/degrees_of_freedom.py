"""How many independent units stand behind the error of a method, by metric.

The t quantile of an interval, the clip of the logit scale and the guards near a bound ask for this
number; the degrees of freedom are one less. `n_effective_of` answers by the kind of metric:

| metric | number |
|---|---|
| means of rows; accuracy, micro averages, Matthews' coefficient, kappa | units |
| averages over classes | from the variance that each class brings: `class_average_df` |
| two classes' balanced error; one class's F1, precision, recall; ranks; callables | rarest class |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.class_metrics import averages_classes, class_weights
from .run_metrics import LabelRunMetric, RowRunMetric, RunMetric
from .run_records import RunRecords

Floats = NDArray[np.float64]


def n_effective_of(metric: RunMetric, runs: RunRecords) -> int:
    """Degrees of freedom plus one, at least 2; at most the number of units.

    Parameters
    ----------
    metric : RunMetric
    runs : RunRecords
        Records of its runs.

    Returns
    -------
    int
    """
    rarest = runs.target.smallest_class
    of_rows = isinstance(metric, RowRunMetric) and metric.statistic.is_row_mean
    if rarest is None or of_rows:
        return runs.n_units
    if isinstance(metric, LabelRunMetric):
        by_class = averages_classes(metric.statistic)
        if metric.statistic.pools_classes and not by_class:
            return runs.n_units
        # Balanced errors of two classes keep the rule they were measured with (record 0021).
        if by_class and not _is_balanced_binary(metric):
            return _of_class_average(metric, runs)
    return max(min(runs.n_units, rarest), 2)


def class_average_df(
    variances: Floats, sizes: Floats, hits: Floats, weights: Floats, most: float
) -> float:
    """Degrees of freedom of an average over classes.

    Parameters
    ----------
    variances : ndarray of shape (n_classes,)
        Part of each true class in the variance of the average.
    sizes : ndarray of shape (n_classes,)
        Independent units of each class, at least 1.
    hits : ndarray of shape (n_classes,)
        How many of them are right.
    weights : ndarray of shape (n_classes,)
        Weight of each class in the average.
    most : float
        Upper limit, at least 2.

    Returns
    -------
    float
        V^2 / sum_k V_k^2 / max(n_k - 1, 1) with V = sum_k V_k, between 2 and `most`.

    Notes
    -----
    Satterthwaite (1946, Biometrics Bulletin 2:110) for the sum of independent variances. The rows
    of a rare class may all be right by luck, and then have no variance to show; so no V_k is less
    than w_k^2 p (1 - p) / n_k at p = (hits + 2) / (n_k + 4), the rate of Agresti and Coull (1998,
    American Statistician 52:119).
    """
    rate = (hits + 2) / (sizes + 4)
    least = weights**2 * rate * (1 - rate) / sizes
    parts = np.maximum(variances, least)
    by_part = float(np.sum(parts**2 / np.maximum(sizes - 1, 1)))
    df = float(parts.sum()) ** 2 / by_part if by_part > 0 else most
    return min(max(df, 2.0), most)


def _is_balanced_binary(metric: LabelRunMetric) -> bool:
    return metric.statistic.matrix_rule.endswith("recalls") and len(metric.labels) <= 2


def _of_class_average(metric: LabelRunMetric, runs: RunRecords) -> int:
    """Return degrees of freedom plus one, rounded down because fewer give the wider interval."""
    data, weights = _answers_once(metric, runs)
    of_class = _by_class(metric, weights)
    present = of_class > 0
    if not present.any():
        return 2
    _, influence = metric.together(data, weights)
    mean = _by_class(metric, weights * influence) / np.maximum(of_class, 1e-300)
    spread = _by_class(metric, weights * (influence - mean[metric.codes]) ** 2)
    sizes = _units_of_classes(metric, runs)
    scale = sizes / np.maximum(sizes - 1, 1)
    rows = np.bincount(metric.codes, minlength=len(sizes))
    weights_of_classes = class_weights(metric.statistic, metric.labels, rows)
    hits = _by_class(metric, weights * (data == metric.codes)) / np.maximum(of_class, 1e-300)
    df = class_average_df(
        (scale * spread)[present],
        sizes[present],
        (hits * sizes)[present],
        weights_of_classes[present],
        max(runs.n_units - 1, 2),
    )
    return min(int(df) + 1, runs.n_units)


def _answers_once(metric: LabelRunMetric, runs: RunRecords) -> tuple[Any, Floats]:
    """Return answers out-of-fold, or else out-of-bag, at weights by which each row counts once."""
    data = runs.of_folds(metric.key)
    if len(data):
        return data, np.full(data.shape, 1 / len(data))
    data, numbers = runs.of_bootstrap(metric.key)
    outside = runs.row_counts[numbers // runs.samples.n_seeds] == 0
    return data, outside / np.maximum(outside.sum(axis=0), 1)


def _by_class(metric: LabelRunMetric, values: Floats) -> Floats:
    """Sum values of runs and rows over the rows of each true class, (n_classes,)."""
    sums = values.sum(axis=0, dtype=np.float64)
    return np.bincount(metric.codes, sums, len(metric.labels)).astype(np.float64)


def _units_of_classes(metric: LabelRunMetric, runs: RunRecords) -> Floats:
    """Return the number of rows, or groups, that hold each class, (n_classes,)."""
    codes, unit = metric.codes, runs.target.unit
    if unit is None:
        return np.bincount(codes, minlength=len(metric.labels)).astype(float)
    held: Any = np.zeros((len(metric.labels), runs.n_units), dtype=bool)
    held[codes, unit] = True
    return held.sum(axis=1).astype(float)
