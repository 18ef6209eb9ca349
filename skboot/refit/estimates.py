"""From what was kept of the runs to the error of the method, with all that intervals need.

For each metric: resubstitution, out-of-bag and no-information errors, the .632 family, standard
errors (`skboot.method_error.error632`), and the parts of the "cv-bootstrap" interval
(`skboot.method_error.cv_bootstrap`). Runs of one training sample that differ by their seed are
averaged first. A run that failed, or whose error is not finite, is left out everywhere.

Of the square root of a mean, all variances are those of the mean, and then of its root to first
order: the mean of the few rows that one sample leaves out is far from that of all rows, where the
root is not straight, and what it is bent would count as the training sample's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, reduce
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..method_error.cv_bootstrap import (
    CVBootstrap,
    cv_bootstrap,
    group_influence,
    root_of_cv,
    sampling_variances,
    slope_of_root,
    square_root,
)
from ..method_error.error632 import PredictionError, error632, optimism
from ..method_error.out_of_bag import (
    OutOfBagError,
    Reader,
    column_blocks,
    columns_less,
    out_of_bag_error,
    out_of_bag_metric,
    training_spread,
    where_outside,
)
from ..metrics.cells import encode
from ..metrics.labels import averages_classes, class_weights
from .run_metrics import (
    LabelRunMetric,
    ReplicateRunMetric,
    RowRunMetric,
    RunMetric,
    RunRecords,
    replicate,
)

Array = NDArray[Any]
_ArrayOrReader = TypeVar("_ArrayOrReader", Array, Reader)

# ------------------------------------------------------------------ folds
# Centre and influence values from cross-validation, for metrics that are no function of row sums.
#
# The metric of one fold may be far from that of many rows: the average precision of 30 rows, of
# which one or two are positive, is .50 where that of new data is .32. So the answers of all folds
# of a repeat are read together wherever the models of different folds answer on one scale
# (predicted labels and values, probabilities). Areas under the ROC curve are means over pairs of
# rows, unbiased on any fold with both classes, and stay means over folds. So does what cannot be
# read together: decision values without probabilities, and callables of estimator, X and y.


class CrossValidated(NamedTuple):
    """A metric by repeated cross-validation.

    Attributes
    ----------
    centre : float
        Cross-validated error.
    influence : ndarray of shape (n_repeats, n_samples)
        Influence of each row, per repeat (and seed).
    guard : dict
        Arguments of `skboot.method_error.cv_bootstrap.cv_bootstrap` that make the guard.
    is_pooled : bool
        Whether the answers of all folds of a repeat were read as one.
    notes : tuple of str
    """

    centre: float
    influence: Array
    guard: Mapping[str, Any] = MappingProxyType({})
    is_pooled: bool = False
    notes: tuple[str, ...] = ()


def cross_validated(metric: RunMetric, run_records: RunRecords) -> CrossValidated | None:
    """Return the error of the folds; None where no repeat gives a value.

    A function of sums is taken of the sums over all rows of a repeat: a fold has too few rows for
    an R2 or an F1 of its own.
    """
    if not isinstance(metric, RowRunMetric):
        return cross_validated_replicates(metric, run_records)
    data = run_records.of_folds(metric.key)
    if not len(data):
        return None
    errors, linear = metric.linearised(data, np.ones(data.shape[:2], dtype=bool))
    if run_records.counts_failures:
        failed = run_records.failed_in_folds(metric.key)
        linear = np.where(failed, metric.error_of(run_records.failed_score), linear)
        errors = linear.mean(axis=1)
    good = np.isfinite(errors)
    if not good.any():
        return None
    return CrossValidated(
        float(errors[good].mean()),
        (linear - errors[:, None])[good],
        guard_of(metric, run_records, data, linear),
    )


def cross_validated_replicates(metric: RunMetric, run_records: RunRecords) -> CrossValidated | None:
    """Return the error of the folds by a metric that keeps a value per fold.

    Parameters
    ----------
    metric : ReplicateRunMetric or ScorerRunMetric
    run_records : RunRecords

    Returns
    -------
    CrossValidated or None
        None where no repeat gives a value.
    """
    failed_error = metric.error_of(run_records.failed_score)
    errors = run_records.fold_values(f"{metric.key}: error", failed_error)
    if isinstance(metric, ReplicateRunMetric):
        return _folds_of_responses(metric, run_records, errors)
    if not np.isfinite(errors).any():
        return None
    influence = _influence_within_folds(metric, run_records)
    if not len(influence):
        return None
    rows = run_records.n_rows // run_records.samples.n_folds
    subject, pooling = "A callable of estimator, X and y", "Metrics by name pool"
    if run_records.target.y is not None and run_records.target.y.ndim > 1:
        subject, pooling = (
            "A metric of targets of several columns",
            "Metrics of one column pool",
        )
    note = (
        f"{subject} is averaged over folds of about {rows} rows; if it is biased on so few, as "
        f"average precision and R2 are, so is the estimate. {pooling} all folds of a repeat."
    )
    return CrossValidated(float(np.nanmean(errors)), influence, notes=(note,))


def _folds_of_responses(
    replicate_metric: ReplicateRunMetric, run_records: RunRecords, errors: Array
) -> CrossValidated | None:
    """Return the metric of all answers of a repeat read together, or its mean over folds."""
    comparable = run_records.of_folds(f"{replicate_metric.key}: comparable")
    is_pooled = replicate_metric.reads_folds_together and len(comparable) > 0
    answers_of_repeats = (
        comparable if is_pooled else run_records.of_folds(f"{replicate_metric.key}: response")
    )
    # The metric of all out-of-fold answers of each repeat, and each row's influence on it.
    values, influence_of_repeats = [], []
    assert replicate_metric.target.y is not None
    for number, answers in enumerate(answers_of_repeats):
        value, influence = replicate(
            replicate_metric.function,
            replicate_metric.target.y,
            answers,
            None,
            number,
            replicate_metric.weights,
        )
        computed = np.isfinite(influence)
        if computed.any() and not computed.all():
            # Rows that were not left out one by one get the mean; the variance is that of the
            # others.
            mean = influence[computed].mean()
            scale = np.sqrt(len(computed) / np.count_nonzero(computed))
            influence = np.where(computed, mean + scale * (influence - mean), mean)
        if np.isfinite(influence).all():
            values.append(value)
            influence_of_repeats.append(influence)
    if not values or not (is_pooled or np.isfinite(errors).any()):
        return None
    together, influence = float(np.mean(values)), np.array(influence_of_repeats)
    if is_pooled:
        return CrossValidated(together, influence, is_pooled=True)
    centre = float(np.nanmean(errors))
    if not replicate_metric.reads_folds_together:
        return CrossValidated(centre, influence)
    mean, all_rows = replicate_metric.score(centre), replicate_metric.score(together)
    note = (
        f"The estimate {mean:.4g} is the mean over folds, because decision values of different "
        "models are on different scales. It is biased where folds have few rows of a class: taken "
        f"as one scale the folds give {all_rows:.4g} together, so that it may be off by about "
        f"{abs(mean - all_rows):.2g}, which the interval does not include. An estimator with "
        "predict_proba (CalibratedClassifierCV) has no such bias."
    )
    return CrossValidated(centre, influence, notes=(note,))


def _influence_within_folds(metric: RunMetric, run_records: RunRecords) -> Array:
    """Return the influence of each row, within its fold, on the mean over folds, by repeat."""
    repeats = []
    for repeat, fold_of in enumerate(run_records.samples.folds):
        for s in range(run_records.samples.n_seeds):
            values = np.full(run_records.n_rows, np.nan)
            for fold, record in enumerate(run_records.fold_records(repeat, s)):
                influence = record.get(f"{metric.key}: influence")
                rows = np.flatnonzero(fold_of == fold)
                if influence is None:
                    continue
                if run_records.target.unit is not None:
                    # The rows of a group share its influence.
                    code, size = np.unique(
                        run_records.target.unit[rows], return_inverse=True, return_counts=True
                    )[1:]
                    influence = (influence / size * (len(rows) / len(size)))[code]
                values[rows] = influence
            defined = np.isfinite(values)
            if defined.sum() > 1:
                centred = (values - values[defined].mean())[defined]
                # Rows without a value have no influence; the variance is that of the others.
                filled = np.zeros(run_records.n_rows)
                filled[defined] = centred * np.sqrt(run_records.n_rows / defined.sum())
                repeats.append(filled)
    return np.array(repeats)


# ------------------------------------------------------------------ degrees of freedom
# How many independent units stand behind the error of a method, by metric. The t quantile of an
# interval, the clip of the logit scale and the guards near a bound ask for this number; the degrees
# of freedom are one less. `n_effective_of` answers by the kind of metric:
#
# | metric | number |
# |---|---|
# | means of rows; accuracy, micro averages, Matthews' coefficient, kappa | units |
# | averages over classes | from the variance that each class brings: `class_average_df` |
# | two classes' balanced error; F1, precision, recall of a class; ranks; callables | rarest class |


Floats = NDArray[np.float64]


def n_effective_of(metric: RunMetric, run_records: RunRecords) -> int:
    """Degrees of freedom plus one, at least 2; at most the number of units.

    Parameters
    ----------
    metric : RunMetric
    run_records : RunRecords
        Records of its run_records.

    Returns
    -------
    int
    """
    rarest = run_records.target.smallest_class
    of_rows = isinstance(metric, RowRunMetric) and metric.statistic.is_row_mean
    if rarest is None or of_rows:
        return run_records.n_units
    if isinstance(metric, LabelRunMetric):
        by_class = averages_classes(metric.statistic)
        if metric.statistic.pools_classes and not by_class:
            return run_records.n_units
        # Balanced errors of two classes keep the rule they were measured with (record 0021).
        is_recall = metric.statistic.matrix_rule.endswith("recalls")
        if by_class and not (is_recall and len(metric.labels) <= 2):
            return _n_effective_of_class_average(metric, run_records)
    return max(min(run_records.n_units, rarest), 2)


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


def _n_effective_of_class_average(label_metric: LabelRunMetric, run_records: RunRecords) -> int:
    """Return degrees of freedom plus one, rounded down because fewer give the wider interval."""
    # Answers out-of-fold, or else out-of-bag, at weights by which each row counts once.
    data = run_records.of_folds(label_metric.key)
    if len(data):
        weights = np.full(data.shape, 1 / len(data))
    else:
        data, numbers = run_records.of_bootstrap(label_metric.key)
        outside = run_records.row_counts[numbers // run_records.samples.n_seeds] == 0
        weights = outside / np.maximum(outside.sum(axis=0), 1)
    of_class = _class_sums(label_metric, weights)
    present = of_class > 0
    if not present.any():
        return 2
    _, influence = label_metric.together(data, weights)
    mean = _class_sums(label_metric, weights * influence) / np.maximum(of_class, 1e-300)
    spread = _class_sums(label_metric, weights * (influence - mean[label_metric.codes]) ** 2)
    # The number of rows, or groups, that hold each class.
    sizes = np.bincount(label_metric.codes, minlength=len(label_metric.labels)).astype(float)
    if run_records.target.unit is not None:
        holds = np.zeros((len(label_metric.labels), run_records.n_units), dtype=bool)
        holds[label_metric.codes, run_records.target.unit] = True
        sizes = holds.sum(axis=1).astype(float)
    scale = sizes / np.maximum(sizes - 1, 1)
    rows = np.bincount(label_metric.codes, minlength=len(sizes))
    weights_of_classes = class_weights(label_metric.statistic, label_metric.labels, rows)
    hits = _class_sums(label_metric, weights * (data == label_metric.codes)) / np.maximum(
        of_class, 1e-300
    )
    df = class_average_df(
        (scale * spread)[present],
        sizes[present],
        (hits * sizes)[present],
        weights_of_classes[present],
        max(run_records.n_units - 1, 2),
    )
    return min(int(df) + 1, run_records.n_units)


def _class_sums(label_metric: LabelRunMetric, values: Floats) -> Floats:
    """Sum values of runs and rows over the rows of each true class, (n_classes,)."""
    sums = values.sum(axis=0, dtype=np.float64)
    return np.bincount(label_metric.codes, sums, len(label_metric.labels)).astype(np.float64)


# ------------------------------------------------------------------ guards
# Which score-type interval the "cv-bootstrap" interval of a metric always contains.
#
# | metric | guard |
# |---|---|
# | means of 0/1 losses | Wilson |
# | balanced error | Wilson of each class, put together |
# | precision, recall, F-beta, Jaccard of a class, micro averages | Wilson of the share of misses |
# | Matthews' coefficient and kappa of two classes | Wilson of each class, put together |
#
# `guard_of` computes their arguments from the out-of-fold answers. Where groups were drawn, the
# number of rows behind a proportion is the number at which it would vary as it does between the
# groups: at least the groups, at most the rows.


def guard_of(
    metric: RowRunMetric, run_records: RunRecords, data: Array, losses: Array
) -> dict[str, Any]:
    """Arguments of `skboot.method_error.cv_bootstrap.cv_bootstrap` that make the guard.

    Parameters
    ----------
    metric : RowRunMetric
    run_records : RunRecords
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
        n_classes = len(metric.labels)
        sizes = np.bincount(metric.codes, minlength=n_classes)
        misses = [np.bincount(metric.codes, wrong, n_classes) for wrong in metric.codes != data]
        rates, present = np.array(misses).mean(axis=0) / np.maximum(sizes, 1), sizes > 0
        return {
            "guard": "balanced",
            "class_sizes": sizes[present],
            "class_errors": rates[present],
        }
    if metric.factor != -1.0:
        return {}
    if rule == "sets":
        return _set_ratio(metric.statistic, metric, data, run_records.target.unit)
    if len(metric.labels) == 2 and rule in ("matthews", "kappa"):
        return _agreement(metric, data, run_records.target.unit)
    return {}


def _set_ratio(
    statistic: Any, label_metric: LabelRunMetric, data: Array, unit: Array | None
) -> dict[str, Any]:
    ratio, wrong = statistic.ratio, label_metric.codes != data
    if statistic.classes is None:
        # Pooled over all classes, each row is one hit, or one miss of both kinds.
        misses, members = wrong.astype(float), np.ones(data.shape)
        weight = ratio.by_true + ratio.by_predicted
    else:
        counted = encode(label_metric.labels, np.asarray(statistic.classes)) >= 0
        of_class, called_so = counted[label_metric.codes], counted[data]
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


def _agreement(label_metric: LabelRunMetric, data: Array, unit: Array | None) -> dict[str, Any]:
    shares = np.bincount(label_metric.codes, minlength=2) / len(label_metric.codes)
    if not shares.all():
        return {}
    wrong, of_class = label_metric.codes != data, label_metric.codes == np.arange(2)[:, None]
    by_class = [
        _share_and_size((wrong & members).astype(float), np.tile(members, (len(data), 1)), unit)
        for members in of_class
    ]
    return {
        "guard": label_metric.statistic.matrix_rule,
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


# ------------------------------------------------------------------ errors

NO_COMPONENTS = dict.fromkeys(("training", "seed", "test", "interaction"), np.nan)
_NO_SEED = (
    "The seed component is 0: runs that differ only in their seed gave the same scores, as a "
    "method without randomness does. More seeds would add nothing."
)


@dataclass(frozen=True, eq=False)
class MethodError:
    """Error of the method by one metric.

    Attributes
    ----------
    metric : RunMetric
    prediction_error : PredictionError or None
        None where fewer than two bootstrap samples gave a value.
    reason : str
        Why there is none.
    optimism_corrected : float
        Resubstitution plus mean optimism; NaN if the strategy did not ask for it.
    full_errors : ndarray of shape (n_seeds,)
        Of the runs on all rows, on all rows.
    run_errors : ndarray of shape (n_bootstrap_runs,)
        Out-of-bag error of each run, NaN if it failed.
    components : dict
        Variances due to training sample, seed, test rows and their interaction.
    notes : tuple of str
    """

    metric: RunMetric
    prediction_error: PredictionError | None
    reason: str
    optimism_corrected: float
    full_errors: Array
    run_errors: Array
    components: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def method_error(metric: RunMetric, run_records: RunRecords, no_information: float) -> MethodError:
    """Error of the method by one metric.

    Parameters
    ----------
    metric : RunMetric
    run_records : RunRecords
    no_information : float

    Returns
    -------
    MethodError
    """
    samples, n_seeds = run_records.samples, run_records.samples.n_seeds
    # Of a square root, what adds up over rows and training samples is that of the mean under it.
    under_root = metric.under_root
    mean_metric: RunMetric = metric if under_root is None else under_root

    # Errors of the runs on all rows, and of those on bootstrap samples on the rows left out.
    records = run_records.full_records
    if isinstance(mean_metric, RowRunMetric):
        answers = np.array([record[mean_metric.key] for record in records])
        mean_of_all_rows = np.asarray(
            mean_metric.errors(answers, np.ones(answers.shape[:2])), float
        )
    else:
        mean_of_all_rows = np.array([record[f"{metric.key}: error"] for record in records], float)
    left_out = left_out_errors(mean_metric, run_records)
    mean_out_of_bag = left_out.out_of_bag() if len(left_out.sample_numbers) >= 2 else None
    full_errors, errors, out_of_bag = mean_of_all_rows, left_out.errors, mean_out_of_bag
    if under_root is not None:
        full_errors, errors = square_root(full_errors), square_root(errors)
        if out_of_bag is not None:
            replicates = over_seeds(errors, left_out.run_numbers, n_seeds)
            out_of_bag = _root_of_out_of_bag(out_of_bag, replicates)
    run_errors = np.full(samples.n_bootstrap_runs, np.nan)
    run_errors[left_out.run_numbers] = errors
    resubstitution, optimism_corrected = float(full_errors.mean()), np.nan
    if run_records.all_rows:
        optimism_corrected = resubstitution + _mean_optimism(metric, run_records)
    notes = tuple(filter(None, (metric.positive_note, metric.no_information_note)))
    if out_of_bag is None or mean_out_of_bag is None:
        return MethodError(
            metric,
            None,
            "fewer than two training samples gave a value on the rows left out",
            optimism_corrected,
            full_errors,
            run_errors,
            {**NO_COMPONENTS},
            notes,
        )

    # Variances of the error of one run: training sample, seed, n test rows, their interaction.
    between, interaction = _seed_variance(left_out) if n_seeds > 1 else (0.0, np.nan)
    folds = cross_validated(mean_metric, run_records) if len(samples.folds) else None
    seed_variance, cv = 0.0 if np.isnan(between) else between / n_seeds, None
    centre, n_effective = mean_out_of_bag.error, n_effective_of(mean_metric, run_records)
    if folds is None:
        of_training, of_test = _variances_out_of_bag(left_out, seed_variance)
    else:
        inside = float(mean_of_all_rows.mean())
        cv = _variances_of_mean(left_out, folds, inside, seed_variance, n_effective)
        centre, of_training, of_test = cv.centre, cv.variance_training, cv.variance_cv
    components = {**NO_COMPONENTS, "training": of_training, "test": of_test}
    if n_seeds > 1:
        components["seed"], components["interaction"] = between, interaction
        # Those that failed do not count.
        by_sample = run_errors.reshape(-1, n_seeds)
        by_sample = by_sample[np.isfinite(by_sample).all(axis=1)]
        if len(by_sample) and (by_sample == by_sample[:, :1]).all():
            notes = (*notes, _NO_SEED)
    if under_root is not None:
        slope = slope_of_root(centre)
        components = {name: slope**2 * value for name, value in components.items()}
        n_effective = n_effective_of(metric, run_records)
        if cv is not None:
            # Mean over the repeats of the square root of the error on all rows.
            data = run_records.of_folds(under_root.key)
            roots = square_root(under_root.errors(data, np.ones(data.shape[:2])))
            cv = root_of_cv(cv, float(roots[np.isfinite(roots)].mean()))
    # With the .632 family, which summaries and attributes show whatever the strategy.
    prediction_error = error632(
        out_of_bag,
        resubstitution=resubstitution,
        no_information_rate=no_information,
        bounds=metric.bounds,
        n_effective=n_effective,
        cv=cv,
    )
    return MethodError(
        metric, prediction_error, "", optimism_corrected, full_errors, run_errors, components, notes
    )


def _variances_out_of_bag(left_out: LeftOutErrors, seed_variance: float) -> tuple[float, float]:
    """Return the variances due to training samples and to test rows, where no folds are tested on.

    Parameters
    ----------
    left_out : LeftOutErrors
    seed_variance : float
        Of the error of a training sample.
    """
    run_records = left_out.run_records
    spread = training_spread(
        None,
        run_records.samples.counts[left_out.sample_numbers],
        left_out.sample_errors,
        over_seeds(left_out.influence, left_out.run_numbers, run_records.samples.n_seeds),
        seed_variance=seed_variance,
    )
    return spread.variance, sampling_variances(spread.test_influence[None])[0]


def _variances_of_mean(
    left_out: LeftOutErrors,
    folds: CrossValidated,
    resubstitution: float,
    seed_variance: float,
    n_effective: int,
) -> CVBootstrap:
    """Return the variances due to training samples and to test rows.

    Parameters
    ----------
    left_out : LeftOutErrors
    folds : CrossValidated
    resubstitution : float
        Error on the rows trained on.
    seed_variance : float
        Of the error of a training sample.
    n_effective : int
        By `n_effective_of`.
    """
    run_records, n_seeds = left_out.run_records, left_out.run_records.samples.n_seeds
    sample_influence = over_seeds(left_out.influence, left_out.run_numbers, n_seeds)
    if run_records.target.unit is not None:
        influence = group_influence(folds.influence, run_records.target.unit, run_records.n_units)
        folds = folds._replace(influence=influence)
    return cv_bootstrap(
        folds.centre,
        folds.influence,
        run_records.samples.counts[left_out.sample_numbers],
        left_out.sample_errors,
        sample_influence,
        bounds=left_out.metric.bounds,
        n_rows=run_records.n_rows,
        n_effective=n_effective,
        resubstitution=resubstitution,
        pooled=folds.is_pooled,
        seed_variance=seed_variance,
        notes=folds.notes,
        **folds.guard,
    )


def _mean_optimism(metric: RunMetric, run_records: RunRecords) -> float:
    """Return the mean optimism of the bootstrap samples (Efron 1983); NaN if none has a value."""
    if isinstance(metric, RowRunMetric):
        data, run_numbers = run_records.of_bootstrap(metric.key)
        if not len(run_numbers):
            return np.nan
        counts = run_records.row_counts[run_numbers // run_records.samples.n_seeds].astype(float)
        inside = metric.errors(data, counts)
        on_all = metric.errors(data, np.ones_like(counts))
    else:
        records = run_records.sample_records[: run_records.samples.n_bootstrap_runs]
        inside, on_all = (
            np.array(
                [record.get(f"{metric.key}: {part}", np.nan) for record in records], dtype=float
            )
            for part in ("inside", "all")
        )
    usable = np.isfinite(inside) & np.isfinite(on_all)
    return optimism(inside[usable], on_all[usable]) if usable.any() else np.nan


def _root_of_out_of_bag(error: OutOfBagError, replicates: Array) -> OutOfBagError:
    """Return the square root of a mean; of the first order where it is spread."""
    slope, value = slope_of_root(error.error), float(square_root(error.error))
    return replace(
        error,
        error=value,
        by_row=value + slope * (error.by_row - error.error),
        replicates=replicates,
        influence=slope * error.influence,
        standard_error=slope * error.standard_error,
        standard_error_unadjusted=slope * error.standard_error_unadjusted,
    )


def _seed_variance(left_out: LeftOutErrors) -> tuple[float, float]:
    """Variance between runs of one training sample, without and with that of its rows left out."""
    run_records = left_out.run_records
    n_seeds, between, within = run_records.samples.n_seeds, [], []
    sample, influence = left_out.run_numbers // n_seeds, left_out.influence(slice(None))
    for k in left_out.sample_numbers:
        runs_of_sample = np.flatnonzero(sample == k)
        outside = run_records.samples.counts[k] == 0
        m = np.count_nonzero(outside)
        if len(runs_of_sample) < 2 or m < 2:
            continue
        gaps = influence[runs_of_sample][:, outside]
        gaps = gaps - gaps.mean(axis=0)
        between.append(left_out.errors[runs_of_sample].var(ddof=1))
        per_row = np.sum(gaps**2) / ((len(runs_of_sample) - 1) * (m - 1))
        within.append((per_row / m, per_row / run_records.n_units))
    if not between:
        return np.nan, np.nan
    on_test, interaction = np.mean(within, axis=0)
    return max(float(np.mean(between) - on_test), 0.0), float(interaction)


# ------------------------------------------------------------------ rows left out


@dataclass(frozen=True, eq=False)
class LeftOutErrors:
    """Errors of the runs on the rows that each left out, and of training samples over their seeds.

    Runs without a finite error are left out, and samples without a run.

    Attributes
    ----------
    metric : RunMetric
    run_records : RunRecords
    run_numbers : ndarray of shape (n_runs,)
    errors : ndarray of shape (n_runs,)
    influence : callable
        Some columns of (n_runs, n_units): of the units on each run's own error.
    sample_numbers : ndarray of shape (n_used,)
        Numbers of the training samples.
    sample_errors : ndarray of shape (n_used,)
    mean_influence : callable
        Some columns of (n_used, n_units): of the units on the mean error of the samples.
    losses : ndarray of shape (n_used, n_samples) or None
        Of rows; linearised for functions of means. None for rank metrics and callables, and where
        no run has an error.
    value : float
        Error of a function of means; NaN for the others, whose error is a mean.
    """

    metric: RunMetric
    run_records: RunRecords
    run_numbers: Array
    errors: Array
    influence: Reader
    sample_numbers: Array
    sample_errors: Array
    mean_influence: Reader
    losses: Array | None
    value: float

    @property
    def degrees_of_freedom(self) -> int:
        """Of a t interval."""
        return n_effective_of(self.metric, self.run_records) - 1

    @cached_property
    def replicate_influence(self) -> Array:
        """All columns of the mean influence, for metrics that are no functions of means."""
        return self.mean_influence(slice(None))

    def out_of_bag(self) -> OutOfBagError:
        """Out-of-bag error, with its standard error; of at least two samples."""
        run_records, numbers = self.run_records, self.sample_numbers
        if self.losses is None:
            counts = run_records.samples.counts[numbers]
            return out_of_bag_metric(self.sample_errors, counts, self.mean_influence)
        error = out_of_bag_error(
            self.losses, run_records.row_counts[numbers], groups=run_records.target.unit
        )
        if self.metric.is_mean:
            return error
        by_row = error.by_row - error.error + self.value
        return replace(error, error=self.value, by_row=by_row, replicates=self.sample_errors)


def left_out_errors(metric: RunMetric, run_records: RunRecords) -> LeftOutErrors:
    """Return the errors of runs on the rows left out, of any metric."""
    if isinstance(metric, RowRunMetric):
        return _errors_of_rows(metric, run_records)
    # Rank metrics and callables: the error of each run, and the influence of each unit on it.
    samples = run_records.samples
    records = run_records.sample_records[: samples.n_bootstrap_runs]
    errors = np.array(
        [record.get(f"{metric.key}: error", np.nan) for record in records], dtype=float
    )
    if run_records.counts_failures:
        errors[run_records.failed_bootstrap()] = metric.error_of(run_records.failed_score)
    run_numbers = np.flatnonzero(np.isfinite(errors))
    errors, outside = errors[run_numbers], samples.counts[run_numbers // samples.n_seeds] == 0
    influence = np.full((len(run_numbers), run_records.n_units), np.nan)
    for run, k in enumerate(run_numbers.tolist()):
        # The score that a failed run counts with does not hang on its rows.
        influence[run, outside[run]] = records[k].get(f"{metric.key}: influence", 0.0)
    return LeftOutErrors(
        metric,
        run_records,
        run_numbers,
        errors,
        filled_influence(influence, outside, 0.5),
        np.unique(run_numbers // samples.n_seeds),
        over_seeds(errors, run_numbers, samples.n_seeds),
        over_seeds(filled_influence(influence, outside, 1.0), run_numbers, samples.n_seeds),
        None,
        np.nan,
    )


def _errors_of_rows(metric: RowRunMetric, run_records: RunRecords) -> LeftOutErrors:
    """Means of losses and functions of means.

    Runs whose error on these rows, or its gradient, is undefined are left out.
    """
    n_seeds, unit = run_records.samples.n_seeds, run_records.target.unit
    data, run_numbers = run_records.of_bootstrap(metric.key)
    outside = run_records.row_counts[run_numbers // n_seeds] == 0
    # Losses of each run's rows, linearised at its own error.
    errors, linear, has_runs = np.empty(0), np.empty((0, run_records.n_rows)), len(run_numbers) > 0
    if has_runs:
        errors, linear = metric.linearised(data, outside)
    good = np.isfinite(errors)
    if not good.all():
        data, run_numbers, outside, errors, linear = (
            of_runs[good] for of_runs in (data, run_numbers, outside, errors, linear)
        )
    failed = run_records.failed_bootstrap() if run_records.counts_failures and has_runs else ()
    if len(failed):
        failed_error = metric.error_of(run_records.failed_score)
        # Of a mean of losses; on each row such a run has the loss that it counts with.
        order = np.argsort(np.append(run_numbers, failed))
        run_numbers = np.append(run_numbers, failed)[order]
        errors = np.append(errors, np.full(len(failed), failed_error))[order]
        of_failed = np.full((len(failed), run_records.n_rows), failed_error)
        linear = np.vstack([linear, of_failed])[order]
        outside = run_records.row_counts[run_numbers // n_seeds] == 0
    influence: Reader = columns_less(linear, errors)
    if unit is not None:

        @cache
        def of_groups() -> Array:
            # Read by few of the callers, and then more than once.
            values = np.zeros((len(run_numbers), run_records.n_units))
            for run, rows in enumerate(outside):
                gaps = linear[run, rows] - errors[run]
                values[run] = group_influence(gaps, unit[rows], run_records.n_units)
            return values

        def columns_of_groups(columns: slice) -> Array:
            return of_groups()[:, columns]

        influence = columns_of_groups
    losses, value = None, np.nan
    if len(run_numbers):
        moves = linear
        if not metric.is_mean:
            # Each row once, by the mean of its terms over the runs that left it out.
            times = outside.sum(axis=0)
            share = run_records.n_rows / (np.maximum(times, 1) * np.count_nonzero(times))
            value, moves = metric.together(data, outside * share)
            moves *= run_records.n_rows
        losses = over_seeds(moves, run_numbers, n_seeds)
    return LeftOutErrors(
        metric,
        run_records,
        run_numbers,
        errors,
        influence,
        np.unique(run_numbers // n_seeds),
        over_seeds(errors, run_numbers, n_seeds),
        over_seeds(influence, run_numbers, n_seeds),
        losses,
        value,
    )


def filled_influence(influence: Array, outside: Array, power: float) -> Reader:
    """Influence values with the unit's mean where functions that have to be called left some out.

    Parameters
    ----------
    influence : ndarray of shape (n_runs, n_units)
        NaN where they were not computed.
    outside : ndarray of shape (n_runs, n_units)
        Which units each run left out.
    power : float
        Values that were computed are moved away from the unit's mean by (times left out / times
        computed) ** power: 1 keeps the variance of the mean over runs, 1/2 that within a run.

    Returns
    -------
    callable
        Some columns of (n_runs, n_units).
    """
    blocks = column_blocks(*influence.shape)
    is_computed = (np.isfinite(influence[:, columns]) | ~outside[:, columns] for columns in blocks)
    is_complete = all(columns.all() for columns in is_computed)

    def filled(columns: slice) -> Array:
        values, left_out = influence[:, columns], outside[:, columns]
        if is_complete:
            return where_outside(values, left_out)
        is_computed = left_out & np.isfinite(values)
        n_computed = is_computed.sum(axis=0)
        # Run after run, so that the mean of a unit does not depend on the columns beside it.
        mean = reduce(np.add, np.where(is_computed, values, 0.0)) / np.maximum(n_computed, 1)
        scale = (left_out.sum(axis=0) / np.maximum(n_computed, 1)) ** power
        return np.where(is_computed, mean + scale * (values - mean), mean)

    return filled


def over_seeds(values: _ArrayOrReader, runs: Array, n_seeds: int) -> _ArrayOrReader:
    """Mean over the runs of each training sample, of an array or of the columns that are read."""
    if n_seeds == 1:
        return values
    if callable(values):
        reader: Any = values

        def averaged(columns: slice) -> Any:
            return over_seeds(reader(columns), runs, n_seeds)

        return averaged  # type: ignore[return-value]
    sample, number, times = np.unique(runs // n_seeds, return_inverse=True, return_counts=True)
    sums = np.zeros((len(sample), *values.shape[1:]))
    np.add.at(sums, number, values)
    return sums / times.reshape(-1, *[1] * (values.ndim - 1))
