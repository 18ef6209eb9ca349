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
    """A metric by repeated cross-validation.

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


def of_folds(metric: RunMetric, runs: RunRecords) -> CrossValidated | None:
    """Centre and influence of a metric that keeps a value per fold.

    Parameters
    ----------
    metric : ReplicateRunMetric or ScorerRunMetric
    runs : RunRecords

    Returns
    -------
    CrossValidated or None
        None where no repeat gives a value.
    """
    errors = runs.fold_values(f"{metric.key}: error", metric.error_of(runs.failed_score))
    if isinstance(metric, ReplicateRunMetric):
        return _of_responses(metric, runs, errors)
    if not np.isfinite(errors).any():
        return None
    influence = _within_folds(metric, runs)
    if not len(influence):
        return None
    rows = runs.n_rows // runs.samples.n_folds
    what, others = "A callable of estimator, X and y", "Metrics by name pool"
    if runs.target.y is not None and runs.target.y.ndim > 1:
        what, others = "A metric of targets of several columns", "Metrics of one column pool"
    note = (
        f"{what} is averaged over folds of about {rows} rows; if it is biased on so few, as "
        f"average precision and R2 are, so is the estimate. {others} all folds of a repeat."
    )
    return CrossValidated(float(np.nanmean(errors)), influence, {"notes": (note,)})


def _of_responses(
    metric: ReplicateRunMetric, runs: RunRecords, errors: Array
) -> CrossValidated | None:
    """Return the metric of all answers of a repeat read together, or its mean over folds."""
    comparable = runs.of_folds(f"{metric.key}: comparable")
    pooled = metric.reads_folds_together and len(comparable) > 0
    given = comparable if pooled else runs.of_folds(f"{metric.key}: response")
    by_repeat = [_together(metric, answers, number) for number, answers in enumerate(given)]
    defined = [(value, values) for value, values in by_repeat if np.isfinite(values).all()]
    if not defined or not (pooled or np.isfinite(errors).any()):
        return None
    together = float(np.mean([value for value, _ in defined]))
    influence = np.array([values for _, values in defined])
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
        f"{abs(mean - all_rows):.2g}, which the interval does not include. An estimator with "
        "predict_proba (CalibratedClassifierCV) has no such bias."
    )


def _together(metric: ReplicateRunMetric, given: Array, number: int) -> tuple[float, Array]:
    """Return the metric of all out-of-fold answers of a repeat, and each row's influence on it."""
    assert metric.target.y is not None
    value, influence = replicate(
        metric.function, metric.target.y, given, None, number, metric.weights
    )
    computed = np.isfinite(influence)
    if computed.all() or not computed.any():
        return value, influence
    # Rows that were not left out one by one get the mean; the variance is that of the others.
    mean = influence[computed].mean()
    scale = np.sqrt(len(computed) / np.count_nonzero(computed))
    return value, np.where(computed, mean + scale * (influence - mean), mean)


def _within_folds(metric: RunMetric, runs: RunRecords) -> Array:
    """Return the influence of each row, within its fold, on the mean over folds, by repeat."""
    repeats = []
    for repeat, fold_of in enumerate(runs.samples.folds):
        for s in range(runs.samples.n_seeds):
            values = np.full(runs.n_rows, np.nan)
            for fold, record in enumerate(runs.fold_records(repeat, s)):
                influence = record.get(f"{metric.key}: influence")
                rows = np.flatnonzero(fold_of == fold)
                if influence is None:
                    continue
                if runs.target.unit is not None:
                    # The rows of a group share its influence.
                    code, size = np.unique(
                        runs.target.unit[rows], return_inverse=True, return_counts=True
                    )[1:]
                    influence = (influence / size * (len(rows) / len(size)))[code]
                values[rows] = influence
            defined = np.isfinite(values)
            if defined.sum() > 1:
                centred = (values - values[defined].mean())[defined]
                # Rows without a value have no influence; the variance is that of the others.
                filled = np.zeros(runs.n_rows)
                filled[defined] = centred * np.sqrt(runs.n_rows / defined.sum())
                repeats.append(filled)
    return np.array(repeats)
