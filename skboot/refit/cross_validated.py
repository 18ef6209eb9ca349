"""Centre and influence values from cross-validation, for metrics that are no function of row sums.

The metric of one fold may be far from that of many rows: the average precision of 30 rows, of which
one or two are positive, is .50 where that of new data is .32. So the answers of all folds of a
repeat are read together wherever the models of different folds answer on one scale (predicted
labels and values, probabilities). Areas under the ROC curve are means over pairs of rows, unbiased
on any fold with both classes, and stay means over folds. So does what cannot be read together:
decision values without probabilities, and callables of estimator, X and y.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .influence import replicate
from .run_metrics import ReplicateRunMetric, RunMetric
from .run_records import RunRecords

Array = NDArray[Any]


class CrossValidated(NamedTuple):
    """What cross-validation says of a metric.

    Attributes
    ----------
    centre : float
        Cross-validated error.
    influence : ndarray of shape (n_repeats, n_samples)
        Influence of each row, per repeat (and seed).
    extra : dict
        Further arguments of `skboot.method_error.cv_bootstrap.cv_bootstrap`.
    """

    centre: float
    influence: Array
    extra: dict[str, Any]


def of_folds(metric: RunMetric, kept: RunRecords) -> CrossValidated | None:
    """Centre and influence of a metric that keeps a value per fold.

    Parameters
    ----------
    metric : ReplicateRunMetric or ScorerRunMetric
    kept : RunRecords

    Returns
    -------
    CrossValidated or None
        None where no repeat gives a value.
    """
    errors = kept.fold_values(f"{metric.key}: error")
    if isinstance(metric, ReplicateRunMetric):
        return _of_responses(metric, kept, errors)
    if not np.isfinite(errors).any():
        return None
    influence = _within_folds(metric, kept)
    if not len(influence):
        return None
    rows = kept.n_rows // kept.samples.n_folds
    note = (
        f"A callable of estimator, X and y is averaged over folds of about {rows} rows; if it is "
        "biased on so few, as average precision and R2 are, so is the estimate. Metrics by name "
        "read all folds of a repeat together."
    )
    return CrossValidated(float(np.nanmean(errors)), influence, {"notes": (note,)})


def _of_responses(
    metric: ReplicateRunMetric, kept: RunRecords, errors: Array
) -> CrossValidated | None:
    """From what all models of a repeat answered: read together, or the mean over folds."""
    comparable = kept.of_folds(f"{metric.key}: comparable")
    pooled = metric.reads_folds_together and len(comparable) > 0
    given = comparable if pooled else kept.of_folds(f"{metric.key}: response")
    found = [_together(metric, own, number) for number, own in enumerate(given)]
    found = [(value, own) for value, own in found if np.isfinite(own).all()]
    if not found or not (pooled or np.isfinite(errors).any()):
        return None
    together = float(np.mean([value for value, _ in found]))
    influence = np.array([own for _, own in found])
    if pooled:
        return CrossValidated(together, influence, {"pooled": True})
    centre = float(np.nanmean(errors))
    notes = (_mean_over_folds(metric, centre, together),) if metric.reads_folds_together else ()
    return CrossValidated(centre, influence, {"notes": notes})


def _mean_over_folds(metric: ReplicateRunMetric, centre: float, together: float) -> str:
    mean, all_rows = metric.score(centre), metric.score(together)
    return (
        f"The estimate {mean:.4g} is the mean over folds, because decision values of different "
        "models are on different scales. It is biased where folds have few rows of a class: taken "
        f"as one scale the folds give {all_rows:.4g} together, so that it may be off by about "
        f"{abs(mean - all_rows):.2g}, which the interval does not hold. An estimator with "
        "predict_proba (CalibratedClassifierCV) has no such bias."
    )


def _together(metric: ReplicateRunMetric, given: Array, number: int) -> tuple[float, Array]:
    """Metric of all out-of-fold answers of a repeat, and the influence of each row on it."""
    assert metric.target.y is not None
    value, influence = replicate(metric.function, metric.target.y, given, None, number)
    known = np.isfinite(influence)
    if known.all() or not known.any():
        return value, influence
    # Rows that were not left out one by one get the mean; the variance is that of the others.
    mean = influence[known].mean()
    scale = np.sqrt(len(known) / np.count_nonzero(known))
    return value, np.where(known, mean + scale * (influence - mean), mean)


def _within_folds(metric: RunMetric, kept: RunRecords) -> Array:
    """Influence of each row within its fold, on the mean over folds."""
    found = []
    for repeat, fold_of in enumerate(kept.samples.folds):
        for s in range(kept.samples.n_seeds):
            values = np.full(kept.n_rows, np.nan)
            for fold, record in enumerate(kept.fold_records(repeat, s)):
                own = record.get(f"{metric.key}: influence")
                rows = np.flatnonzero(fold_of == fold)
                if own is None:
                    continue
                if kept.target.unit is not None:
                    # A group's influence, shared by its rows.
                    code, size = np.unique(
                        kept.target.unit[rows], return_inverse=True, return_counts=True
                    )[1:]
                    own = (own / size * (len(rows) / len(size)))[code]
                values[rows] = own
            known = np.isfinite(values)
            if known.sum() > 1:
                spread = (values - values[known].mean())[known]
                # Rows without a value get none; the variance is that of the others.
                filled = np.zeros(kept.n_rows)
                filled[known] = spread * np.sqrt(kept.n_rows / known.sum())
                found.append(filled)
    return np.array(found)
