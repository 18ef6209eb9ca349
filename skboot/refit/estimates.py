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

from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..method_error._columns import Reader, column_blocks, columns_less, columns_of, where_outside
from ..method_error.cv_bootstrap import CVBootstrap, cv_bootstrap, group_influence
from ..method_error.error632 import PredictionError, error632, optimism
from ..method_error.out_of_bag import OutOfBagError, out_of_bag_error, out_of_bag_metric
from ..method_error.roots import root_of_cv, slope_of_root, square_root
from . import cross_validated
from .degrees_of_freedom import n_effective_of
from .guards import guard_of
from .run_metrics import RowRunMetric, RunMetric
from .run_records import RunRecords

Array = NDArray[Any]
_Values = TypeVar("_Values", Array, Reader)

_NO_COMPONENTS = dict.fromkeys(("training", "seed", "test", "interaction"), np.nan)
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
    error : PredictionError or None
        None where fewer than two bootstrap samples gave a value.
    reason : str
        Why there is none.
    optimism : float
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
    error: PredictionError | None
    reason: str
    optimism: float
    full_errors: Array
    run_errors: Array
    components: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def method_error(metric: RunMetric, kept: RunRecords, no_information: float) -> MethodError:
    """Error of the method by one metric.

    Parameters
    ----------
    metric : RunMetric
    kept : RunRecords
    no_information : float

    Returns
    -------
    MethodError
    """
    inner = metric.under_root
    straight = metric if inner is None else inner
    spread = (
        _of_rows(straight, kept)
        if isinstance(straight, RowRunMetric)
        else _of_replicates(straight, kept)
    )
    parts = spread if inner is None else _root_of_parts(spread, kept)
    run_errors = np.full(kept.samples.n_bootstrap_runs, np.nan)
    run_errors[parts.runs] = parts.errors
    said = (metric.positive_note, metric.no_information_note)
    notes = tuple(note for note in said if note is not None)
    point = optimism_error(metric, kept, float(parts.full.mean()))
    if parts.out_of_bag is None:
        reason = "fewer than two training samples gave a value on the rows left out"
        return MethodError(
            metric, None, reason, point, parts.full, run_errors, {**_NO_COMPONENTS}, notes
        )
    assert spread.out_of_bag is not None
    seeds = _seed_variance(kept, spread) if kept.samples.n_seeds > 1 else (0.0, np.nan)
    # Variance of the mean score of a training sample that is due to seeds; 0 if unknown.
    of_score = 0.0 if np.isnan(seeds[0]) else seeds[0] / kept.samples.n_seeds
    cv = _cv(straight, kept, spread, of_score)
    components = _components(kept, spread, cv, of_score, metric.bounds)
    if kept.samples.n_seeds > 1:
        components["seed"], components["interaction"] = seeds
    if inner is not None:
        slope = slope_of_root(spread.out_of_bag.error if cv is None else cv.centre)
        components = {name: slope**2 * value for name, value in components.items()}
        cv = None if cv is None else root_of_cv(cv, _centre_of_root(inner, kept))
    error = error632(
        parts.out_of_bag,
        resubstitution=float(parts.full.mean()),
        no_information_rate=no_information,
        bounds=metric.bounds,
        n_effective=n_effective_of(metric, kept),
        cv=cv,
    )
    if kept.samples.n_seeds > 1 and _same_for_all_seeds(run_errors, kept.samples.n_seeds):
        notes = (*notes, _NO_SEED)
    return MethodError(metric, error, "", point, parts.full, run_errors, components, notes)


def optimism_error(metric: RunMetric, kept: RunRecords, resubstitution: float) -> float:
    """Resubstitution plus the mean optimism of the bootstrap samples (Efron 1983)."""
    if not kept.all_rows:
        return np.nan
    if isinstance(metric, RowRunMetric):
        data, runs = kept.of_bootstrap(metric.key)
        if not len(runs):
            return np.nan
        counts = kept.row_counts[runs // kept.samples.n_seeds].astype(float)
        inside = metric.errors(data, counts)
        on_all = metric.errors(data, np.ones_like(counts))
    else:
        records = kept.records[: kept.samples.n_bootstrap_runs]
        inside, on_all = (
            np.array([one.get(f"{metric.key}: {part}", np.nan) for one in records], dtype=float)
            for part in ("inside", "all")
        )
    usable = np.isfinite(inside) & np.isfinite(on_all)
    return resubstitution + optimism(inside[usable], on_all[usable]) if usable.any() else np.nan


# ------------------------------------------------------------------ out-of-bag


@dataclass(frozen=True, eq=False)
class _Parts:
    """Errors of the runs on the rows left out.

    Only runs with a finite error are in `runs`, and their bootstrap samples in `used`.
    """

    runs: Array  # (n_runs,) numbers of runs
    errors: Array  # (n_runs,)
    influence: Reader  # some columns of (n_runs, n_units): on each run's own error
    used: Array  # (n_used,) numbers of samples
    full: Array  # (n_seeds,) errors of the runs on all rows
    out_of_bag: OutOfBagError | None

    def averaged(self, n_seeds: int) -> tuple[Array, Reader]:
        """Errors (n_used,) and influence values (n_used, n_units), averaged over seeds."""
        return (
            over_seeds(self.errors, self.runs, n_seeds),
            over_seeds(self.influence, self.runs, n_seeds),
        )


def _of_rows(metric: RowRunMetric, kept: RunRecords) -> _Parts:
    """Means of losses and functions of means."""
    answers = np.array([one[metric.key] for one in kept.full])
    full = np.asarray(metric.errors(answers, np.ones(answers.shape[:2])), dtype=float)
    rows = usable_rows(metric, kept)
    used = np.unique(rows.runs // kept.samples.n_seeds)
    out_of_bag = _out_of_bag_rows(metric, kept, rows) if len(used) >= 2 else None
    influence = by_unit(rows, kept)
    return _Parts(rows.runs, rows.errors, influence, used, full, out_of_bag)


def _root_of_parts(parts: _Parts, kept: RunRecords) -> _Parts:
    """Errors that are the square roots of those of the parts; of the first order where spread."""
    errors, full, error = square_root(parts.errors), square_root(parts.full), parts.out_of_bag
    if error is not None:
        slope, value = slope_of_root(error.error), float(square_root(error.error))
        error = replace(
            error,
            error=value,
            by_row=value + slope * (error.by_row - error.error),
            replicates=over_seeds(errors, parts.runs, kept.samples.n_seeds),
            influence=slope * error.influence,
            standard_error=slope * error.standard_error,
            standard_error_unadjusted=slope * error.standard_error_unadjusted,
        )
    return replace(parts, errors=errors, full=full, out_of_bag=error)


class UsableRows(NamedTuple):
    """What was kept of the runs that give an error on the rows they left out.

    Attributes
    ----------
    data : ndarray of shape (n_runs, n_samples, ...) or None
        None for means, of which the losses say all.
    runs : ndarray of shape (n_runs,)
        Numbers of the runs.
    outside : ndarray of shape (n_runs, n_samples)
        Which rows each left out.
    errors : ndarray of shape (n_runs,)
    linear : ndarray of shape (n_runs, n_samples)
        Losses linearised at each run's own error.
    """

    data: Array | None
    runs: Array
    outside: Array
    errors: Array
    linear: Array


def usable_rows(metric: RowRunMetric, kept: RunRecords) -> UsableRows:
    """Leave out runs whose error on these rows, or its gradient, is undefined."""
    data, runs = kept.of_bootstrap(metric.key)
    failed_error = metric.error_of(kept.failed_score)
    if not len(runs):
        none = np.empty((0, kept.n_rows))
        return UsableRows(data, runs, none == 0, np.empty(0), none)
    outside = kept.row_counts[runs // kept.samples.n_seeds] == 0
    errors, linear = metric.linearised(data, outside)
    good = np.isfinite(errors)
    if not good.all():
        data, runs, outside, errors, linear = (
            of_runs[good] for of_runs in (data, runs, outside, errors, linear)
        )
    if len(failed := kept.failed_bootstrap()):
        # Of a mean of losses; on each row such a run has the loss that it counts with.
        order = np.argsort(np.append(runs, failed))
        runs, added = np.append(runs, failed)[order], np.full(len(failed), failed_error)
        errors = np.append(errors, added)[order]
        linear = np.vstack([linear, np.full((len(failed), kept.n_rows), failed_error)])[order]
        outside = kept.row_counts[runs // kept.samples.n_seeds] == 0
    return UsableRows(None if metric.is_mean else data, runs, outside, errors, linear)


def _out_of_bag_rows(metric: RowRunMetric, kept: RunRecords, rows: UsableRows) -> OutOfBagError:
    """Err(1) with its standard error; of a function of means by its linearised losses."""
    counts = kept.row_counts[np.unique(rows.runs // kept.samples.n_seeds)]
    losses, value, replicates = losses_of(metric, kept, rows)
    error = out_of_bag_error(losses, counts, groups=kept.target.unit)
    if replicates is None:
        return error
    by_row = error.by_row - error.error + value
    return replace(error, error=value, by_row=by_row, replicates=replicates)


def losses_of(metric: RowRunMetric, kept: RunRecords, rows: UsableRows) -> tuple[Array, float, Any]:
    """Losses (n_used, n_samples) of each training sample, averaged over its runs.

    For a function of means they are linearised; with them its value, and its value on the rows
    that each sample left out, (n_used,).
    """
    data, runs, outside, errors, linear = rows
    n_seeds = kept.samples.n_seeds
    if data is None:
        return over_seeds(linear, runs, n_seeds), np.nan, None
    # Each row once, by the mean of its terms over the runs that left it out.
    times = np.maximum(outside.sum(axis=0), 1)
    rows_used = np.count_nonzero(outside.any(axis=0))
    value, moves = metric.together(data, outside * (kept.n_rows / (times * rows_used)))
    moves *= kept.n_rows
    return over_seeds(moves, runs, n_seeds), value, over_seeds(errors, runs, n_seeds)


def by_unit(rows: UsableRows, kept: RunRecords) -> Reader:
    """Influence of each unit on each run's error: some columns of (n_runs, n_units)."""
    unit = kept.target.unit
    if unit is None:
        return columns_less(rows.linear, rows.errors)
    influence = np.zeros((len(rows.runs), kept.n_units))
    for run, outside in enumerate(rows.outside):
        gaps = rows.linear[run, outside] - rows.errors[run]
        influence[run] = group_influence(gaps, unit[outside], kept.n_units)
    return columns_of(influence)


def _of_replicates(metric: RunMetric, kept: RunRecords) -> _Parts:
    """Rank metrics and callables: the mean over bootstrap samples."""
    runs, errors, influence = replicates_of(metric, kept)
    n_seeds = kept.samples.n_seeds
    outside = kept.samples.counts[runs // n_seeds] == 0
    computed = Computed.of(influence, outside)
    used = np.unique(runs // n_seeds)
    full = np.array([one[f"{metric.key}: error"] for one in kept.full], dtype=float)
    out_of_bag = None
    if len(used) >= 2:
        out_of_bag = out_of_bag_metric(
            over_seeds(errors, runs, n_seeds),
            kept.samples.counts[used],
            over_seeds(partial(computed.filled, 1.0), runs, n_seeds),
        )
    return _Parts(runs, errors, partial(computed.filled, 0.5), used, full, out_of_bag)


def replicates_of(metric: RunMetric, kept: RunRecords) -> tuple[Array, Array, Array]:
    """Numbers of the runs with a value, their errors, and the influence of each unit.

    Influence values are (n_runs, n_units), NaN where they were not computed.
    """
    records = kept.records[: kept.samples.n_bootstrap_runs]
    errors = np.array([one.get(f"{metric.key}: error", np.nan) for one in records], dtype=float)
    failed = kept.failed_bootstrap()
    errors[failed] = metric.error_of(kept.failed_score)
    runs = np.flatnonzero(np.isfinite(errors))
    counts = kept.samples.counts[runs // kept.samples.n_seeds]
    influence = np.full((len(runs), kept.n_units), np.nan)
    for run, k in enumerate(runs.tolist()):
        # The score that a failed run counts with does not hang on its rows.
        influence[run, counts[run] == 0] = records[k].get(f"{metric.key}: influence", 0.0)
    return runs, errors[runs], influence


class Computed(NamedTuple):
    """Influence values, of which functions that have to be called leave some out.

    Attributes
    ----------
    influence : ndarray of shape (n_runs, n_units)
        NaN where they were not computed.
    outside : ndarray of shape (n_runs, n_units)
        Which units each run left out.
    everywhere : bool
        Whether all of these were computed.
    """

    influence: Array
    outside: Array
    everywhere: bool

    @classmethod
    def of(cls, influence: Array, outside: Array) -> Computed:
        """Look whether all were computed."""
        blocks = column_blocks(*influence.shape)
        known = (np.isfinite(influence[:, own]) | ~outside[:, own] for own in blocks)
        return cls(influence, outside, all(own.all() for own in known))

    def filled(self, power: float, columns: slice) -> Array:
        """Influence values with the unit's mean where they were not computed.

        Those that were are moved away from that mean by (times left out / times computed) ** power:
        1 keeps the variance of the mean over runs, 1/2 the variance within a run.
        """
        influence, outside = self.influence[:, columns], self.outside[:, columns]
        if self.everywhere:
            return where_outside(influence, outside)
        known = outside & np.isfinite(influence)
        n_known = known.sum(axis=0)
        # Run after run, so that the mean of a unit does not depend on the columns beside it.
        mean = reduce(np.add, np.where(known, influence, 0.0)) / np.maximum(n_known, 1)
        scale = (outside.sum(axis=0) / np.maximum(n_known, 1)) ** power
        return np.where(known, mean + scale * (influence - mean), mean)


def _read_over_seeds(read: Reader, runs: Array, n_seeds: int, columns: slice) -> Array:
    return over_seeds(read(columns), runs, n_seeds)


def over_seeds(values: _Values, runs: Array, n_seeds: int) -> _Values:
    """Mean over the runs of each training sample, of an array or of the columns that are read."""
    if n_seeds == 1:
        return values
    if callable(values):
        read: Any = partial(_read_over_seeds, values, runs, n_seeds)
        return read
    sample, number, times = np.unique(runs // n_seeds, return_inverse=True, return_counts=True)
    sums = np.zeros((len(sample), *values.shape[1:]))
    np.add.at(sums, number, values)
    return sums / times.reshape(-1, *[1] * (values.ndim - 1))


# ------------------------------------------------------------------ cross-validation


def _cv(
    metric: RunMetric, kept: RunRecords, parts: _Parts, seed_variance: float
) -> CVBootstrap | None:
    """Parts of the cv-bootstrap interval; None without a whole repeat of cross-validation."""
    if not len(kept.samples.folds):
        return None
    of_folds = (
        _cv_rows(metric, kept)
        if isinstance(metric, RowRunMetric)
        else cross_validated.of_folds(metric, kept)
    )
    if of_folds is None:
        return None
    centre, influence, extra = of_folds
    n_rows = influence.shape[1]
    if kept.target.unit is not None:
        influence = group_influence(influence, kept.target.unit, kept.n_units)
    errors, oob_influence = parts.averaged(kept.samples.n_seeds)
    return cv_bootstrap(
        centre,
        influence,
        kept.samples.counts[parts.used],
        errors,
        oob_influence,
        bounds=metric.bounds,
        n_rows=n_rows,
        n_effective=n_effective_of(metric, kept),
        resubstitution=float(parts.full.mean()),
        seed_variance=seed_variance,
        **extra,
    )


def _cv_rows(metric: RowRunMetric, kept: RunRecords) -> cross_validated.CrossValidated | None:
    """Centre, influence values (n_repeats, n_samples) and guard, from out-of-fold answers.

    A function of sums is taken of the sums over all rows of a repeat: a fold has too few rows for
    an R2 or an F1 of its own.
    """
    data = kept.of_folds(metric.key)
    if not len(data):
        return None
    errors, linear = metric.linearised(data, np.ones(data.shape[:2], dtype=bool))
    if kept.counts_failures:
        failed = kept.failed_in_folds(metric.key)
        linear = np.where(failed, metric.error_of(kept.failed_score), linear)
        errors = linear.mean(axis=1)
    good = np.isfinite(errors)
    if not good.any():
        return None
    influence = (linear - errors[:, None])[good]
    return cross_validated.CrossValidated(
        float(errors[good].mean()), influence, guard_of(metric, kept, data, linear)
    )


def _centre_of_root(inner: RowRunMetric, kept: RunRecords) -> float:
    """Mean over the repeats of the square root of the error on all rows."""
    data = kept.of_folds(inner.key)
    errors = square_root(inner.errors(data, np.ones(data.shape[:2])))
    return float(errors[np.isfinite(errors)].mean())


# ------------------------------------------------------------------ components


def _components(
    kept: RunRecords,
    parts: _Parts,
    cv: CVBootstrap | None,
    seed_variance: float,
    bounds: tuple[float, float],
) -> dict[str, float]:
    """Variances of the error of one run: training sample, seed, n test rows, their interaction."""
    components = {**_NO_COMPONENTS}
    assert parts.out_of_bag is not None
    errors, influence = parts.averaged(kept.samples.n_seeds)
    counts = kept.samples.counts[parts.used]
    mean = _mean_outside(influence, counts == 0)
    without_cv = cv_bootstrap(
        parts.out_of_bag.error,
        mean[None] - mean.mean(),
        counts,
        errors,
        influence,
        bounds=bounds,
        seed_variance=seed_variance,
    )
    cv = without_cv if cv is None else cv
    components["training"], components["test"] = cv.variance_training, cv.variance_cv
    return components


def _same_for_all_seeds(run_errors: Array, n_seeds: int) -> bool:
    """Whether the runs of each training sample gave one error; those that failed do not count."""
    by_sample = run_errors.reshape(-1, n_seeds)
    by_sample = by_sample[np.isfinite(by_sample).all(axis=1)]
    return len(by_sample) > 0 and bool((by_sample == by_sample[:, :1]).all())


def _mean_outside(read: Reader, outside: Array) -> Array:
    """Mean of each column where `outside` holds; 0 where it never does."""
    sums = [
        where_outside(read(columns), outside[:, columns]).sum(axis=0)
        for columns in column_blocks(*outside.shape)
    ]
    return np.concatenate(sums) / np.maximum(outside.sum(axis=0), 1)


def _seed_variance(kept: RunRecords, parts: _Parts) -> tuple[float, float]:
    """Variance between runs of one training sample, without and with that of its rows left out."""
    n_seeds, between, within = kept.samples.n_seeds, [], []
    sample, influence = parts.runs // n_seeds, parts.influence(slice(None))
    for k in parts.used:
        own = np.flatnonzero(sample == k)
        outside = kept.samples.counts[k] == 0
        m = np.count_nonzero(outside)
        if len(own) < 2 or m < 2:
            continue
        gaps = influence[own][:, outside]
        gaps = gaps - gaps.mean(axis=0)
        between.append(parts.errors[own].var(ddof=1))
        per_row = np.sum(gaps**2) / ((len(own) - 1) * (m - 1))
        within.append((per_row / m, per_row / kept.n_units))
    if not between:
        return np.nan, np.nan
    on_test, interaction = np.mean(within, axis=0)
    return max(float(np.mean(between) - on_test), 0.0), float(interaction)
