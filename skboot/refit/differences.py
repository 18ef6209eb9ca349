"""Differences of the errors of methods that were trained on the same samples.

Row by row and sample by sample, the loss of one method less that of the other is the loss of their
difference, so that what is hard for both cancels out: of the rows left out of bootstrap samples
(`difference_error`), and of the folds of cross-validation (`cross_validated_difference`). Samples,
repeats and folds on which a method has no error are left out for all methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.values import read_only
from ..method_error.cv_bootstrap import (
    MethodsDifference,
    cross_validated_variance,
    group_influence,
    optimism_of,
    share_of_training,
    slope_of_root,
)
from ..method_error.learning_curve import errors_by_size
from ..method_error.out_of_bag import OutOfBagError, out_of_bag_error, out_of_bag_metric
from .estimates import (
    LeftOutErrors,
    cross_validated_replicates,
    left_out_errors,
    n_effective_of,
)
from .run_metrics import RowRunMetric, RunMetric, RunRecords
from .training import Record

Array = NDArray[Any]
Floats = NDArray[np.float64]

# Share of an error up to which a difference is a matter of rounding.
_ERROR_ROUNDING = 1e-12


def common_left_out_errors(
    metrics: Sequence[RunMetric], records_of_methods: Sequence[RunRecords]
) -> list[LeftOutErrors]:
    """Return the errors of each method on the rows left out, of samples that served them all.

    Parameters
    ----------
    metrics, records_of_methods : sequence
        Of each method; the samples are the same.

    Returns
    -------
    list of LeftOutErrors
    """
    errors = [left_out_errors(*method) for method in zip(metrics, records_of_methods, strict=True)]
    common = errors[0].sample_numbers
    for errors_of_method in errors[1:]:
        common = np.intersect1d(common, errors_of_method.sample_numbers)
    if all(len(errors_of_method.sample_numbers) == len(common) for errors_of_method in errors):
        return errors
    # Without the runs on other training samples.
    n_seeds, n_boot = (
        records_of_methods[0].samples.n_seeds,
        records_of_methods[0].samples.n_bootstrap_runs,
    )
    samples, only = set(common.tolist()), []
    for run_records in records_of_methods:
        records = [
            record if k >= n_boot or k // n_seeds in samples else {}
            for k, record in enumerate(run_records.sample_records)
        ]
        only.append(replace(run_records, sample_records=records))
    return [left_out_errors(*method) for method in zip(metrics, only, strict=True)]


def difference_error(losses_a: LeftOutErrors, losses_b: LeftOutErrors) -> OutOfBagError:
    """Out-of-bag error of the first method less that of the second, with its standard error.

    Parameters
    ----------
    losses_a, losses_b : LeftOutErrors
        From one call of `common_left_out_errors`, with at least two samples.

    Returns
    -------
    OutOfBagError
        Replicates that differ by rounding alone are 0.
    """
    run_records, numbers = losses_a.run_records, losses_a.sample_numbers
    change = _less(losses_a.sample_errors, losses_b.sample_errors)
    if losses_a.losses is None:
        influence = losses_a.replicate_influence - losses_b.replicate_influence
        error = out_of_bag_metric(change, run_records.samples.counts[numbers], influence)
    else:
        losses = _less(losses_a.losses, losses_b.losses)
        error = out_of_bag_error(
            losses, run_records.row_counts[numbers], groups=run_records.target.unit
        )
        if not losses_a.metric.is_mean:
            value = losses_a.value - losses_b.value
            by_row = error.by_row - error.error + value
            error = replace(error, error=value, by_row=by_row, replicates=change)
    of_both: list[Any] = [
        of_method.losses if of_method.metric.is_mean else of_method.sample_errors
        for of_method in (losses_a, losses_b)
    ]
    size = max(float(np.nanmax(np.abs(values), initial=0.0)) for values in of_both)
    alike = np.abs(error.replicates) <= _ERROR_ROUNDING * size
    return replace(error, replicates=read_only(np.where(alike, 0.0, error.replicates)))


def out_of_bag_difference(
    losses_a: LeftOutErrors, losses_b: LeftOutErrors, error: OutOfBagError
) -> MethodsDifference:
    """Score of the first method less that of the second, on the rows left out.

    Parameters
    ----------
    losses_a, losses_b : LeftOutErrors
    error : OutOfBagError
        Of the same two, by `difference_error`.

    Returns
    -------
    MethodsDifference
    """
    values: list[Any] = [
        of_method.sample_errors if of_method.losses is None else of_method.losses
        for of_method in (losses_a, losses_b)
    ]
    two_valued = all(is_two_valued(losses_a.metric, of_samples) for of_samples in values)
    size = max(float(np.abs(of_samples).mean(dtype=float)) for of_samples in values)
    return _method_difference(
        (losses_a, losses_b), error.error, error.standard_error, size, two_valued
    )


# ------------------------------------------------------------------ cross-validation


@dataclass(frozen=True, eq=False)
class FoldsOfMethod:
    """Error of one method by repeated cross-validation, with the influence of each unit.

    Attributes
    ----------
    left_out : LeftOutErrors
        What its bootstrap samples say.
    centre : float
        Error by repeated cross-validation.
    influence : ndarray of shape (n_repeats, n_units)
        On that error, by repeat.
    two_valued : bool
        Whether each loss is the least or the largest that there can be, as for right and wrong.
    """

    left_out: LeftOutErrors
    centre: float
    influence: Array
    two_valued: bool


def cross_validated_by_all(parts: Mapping[str, LeftOutErrors]) -> dict[str, FoldsOfMethod] | None:
    """Return the cross-validated error of each method, on folds that served them all.

    Parameters
    ----------
    parts : dict of str to LeftOutErrors
        By method, from one call of `common_left_out_errors`.

    Returns
    -------
    dict of str to FoldsOfMethod, or None
        None where no repeat of cross-validation is whole for all methods.
    """
    all_parts = list(parts.values())
    # Errors of each repeat, (n_repeats,), and losses, (n_repeats, n_samples), of means of losses;
    # for rank metrics and callables, which are no means, one error and the influence on it.
    errors: list[Any] = []
    losses: list[Array] = []
    for part, run_records in zip(all_parts, _with_common_folds(all_parts), strict=True):
        if isinstance(part.metric, RowRunMetric):
            data = run_records.of_folds(part.metric.key)
            if not len(data):
                return None
            errors_of_repeats, values = part.metric.linearised(
                data, np.ones(data.shape[:2], dtype=bool)
            )
            errors.append(errors_of_repeats)
        else:
            folds = cross_validated_replicates(part.metric, run_records)
            if folds is None:
                return None
            values = folds.influence
            errors.append(folds.centre)
        losses.append(values)
    by_row = isinstance(all_parts[0].metric, RowRunMetric)
    good: Any = np.isfinite(errors).all(axis=0) if by_row else None
    if by_row and not good.any():
        return None
    several = {}
    for (name, part), of_repeats, values in zip(parts.items(), errors, losses, strict=True):
        centre, influence = of_repeats, np.atleast_2d(values)
        if by_row:
            centre = float(of_repeats[good].mean())
            influence = (values - of_repeats[:, None])[good]
        unit = part.run_records.target.unit
        if unit is not None:
            influence = group_influence(influence, unit, part.run_records.n_units)
        two_valued = by_row and is_two_valued(part.metric, values)
        several[name] = FoldsOfMethod(part, centre, influence, two_valued)
    return several


def cross_validated_difference(
    folds_a: FoldsOfMethod,
    folds_b: FoldsOfMethod,
    out_of_bag: OutOfBagError,
    resubstitution: tuple[float, float],
) -> MethodsDifference:
    """Score of the first method less that of the second, by repeated cross-validation.

    Parameters
    ----------
    folds_a, folds_b : FoldsOfMethod
        From one call of `cross_validated_by_all`.
    out_of_bag : OutOfBagError
        Of the same two, by `difference_error`.
    resubstitution : tuple of float
        Error of each on the rows trained on.

    Returns
    -------
    MethodsDifference
    """
    part, folds = folds_a.left_out, (folds_a, folds_b)
    (scores, influence, share), (other_scores, other_influence, other_share) = (
        _sample_errors(method, error) for method, error in zip(folds, resubstitution, strict=True)
    )
    variance = cross_validated_variance(
        folds_a.influence - folds_b.influence,
        part.run_records.samples.counts[part.sample_numbers],
        scores - other_scores,
        influence - other_influence,
        left_out=out_of_bag.standard_error**2,
        share=max(share, other_share),
        optimism=sum(
            optimism_of(error, method.centre)
            for method, error in zip(folds, resubstitution, strict=True)
        ),
    )
    size = max(abs(folds_a.centre), abs(folds_b.centre))
    two_valued = folds_a.two_valued and folds_b.two_valued
    change = folds_a.centre - folds_b.centre
    parts = (part, folds_b.left_out)
    return _method_difference(parts, change, float(np.sqrt(variance)), size, two_valued)


def _with_common_folds(parts: Sequence[LeftOutErrors]) -> list[RunRecords]:
    """The runs of each method, without the folds that failed, or have no score, for any."""
    first_fold = parts[0].run_records.samples.n_bootstrap_runs
    fold_records = [list(part.run_records.sample_records[first_fold:]) for part in parts]
    keys = [f"{part.metric.key}: error" for part in parts]
    for fold, records in enumerate(zip(*fold_records, strict=True)):
        if any(record.get("failure") is not None for record in records):
            empty: Record = {}
            changed = [empty for _ in records]
        elif all(np.isfinite(r.get(key, 0.0)) for r, key in zip(records, keys, strict=True)):
            continue
        else:
            changed = [{**r, key: np.nan} for r, key in zip(records, keys, strict=True)]
        for records_of_method, record in zip(fold_records, changed, strict=True):
            records_of_method[fold] = record
    return [
        replace(
            part.run_records,
            sample_records=[*part.run_records.sample_records[:first_fold], *records_of_method],
        )
        for part, records_of_method in zip(parts, fold_records, strict=True)
    ]


def _sample_errors(method: FoldsOfMethod, resubstitution: float) -> tuple[Array, Array, float]:
    """Errors on the rows left out, and the influence of units on them, averaged over seeds.

    With them the share of the training variance that is left at the full size. The square root of
    a mean is that of its first order about the centre.
    """
    part, centre, slope = method.left_out, method.centre, 1.0
    under_root = part.metric.under_root
    if under_root is not None:
        part, resubstitution = (
            left_out_errors(under_root, part.run_records),
            resubstitution * abs(resubstitution),
        )
        centre, slope = centre * abs(centre), slope_of_root(centre * abs(centre))
    share = share_of_training(resubstitution, centre, float(np.median(part.sample_errors)))
    if part.losses is None:
        return part.sample_errors, part.replicate_influence, share
    return slope * part.sample_errors, slope * part.mean_influence(slice(None)), share


# ------------------------------------------------------------------ steps of both


def _method_difference(
    parts: tuple[LeftOutErrors, LeftOutErrors],
    change: float,
    standard_error: float,
    size: float,
    two_valued: bool,
) -> MethodsDifference:
    """Return the difference of scores; under a rounding of ``size`` its parts are 0."""
    part = parts[0]
    low, high = part.metric.bounds

    def known(value: float) -> float:
        # The same predictions from sums in another order differ by rounding alone.
        return 0.0 if abs(value) <= _ERROR_ROUNDING * size else float(value)

    return MethodsDifference(
        known(0.0 - part.metric.sign * change),
        known(standard_error),
        # Those of an average over classes depend on the answers, and must not on the order of both.
        min(losses.degrees_of_freedom for losses in parts),
        n_units=part.run_records.n_units,
        span=float(high - low) if two_valued else None,
    )


def is_two_valued(metric: RunMetric, losses: Any) -> bool:
    """Whether each loss of a mean is the least or the largest there can be, as right and wrong."""
    if not metric.is_mean:
        return False
    return bool(np.isfinite(metric.bounds).all() and np.isin(losses, metric.bounds).all())


def _less(values_a: Any, values_b: Any) -> Array:
    """First minus second, in numbers that small integers do not overflow."""
    return np.subtract(values_a, values_b, dtype=np.result_type(values_a, values_b, np.int16))


# ------------------------------------------------------------------ sizes


class ScoresBySize(NamedTuple):
    """Score of a method at some training-set sizes, or the difference of two.

    Attributes
    ----------
    estimate : ndarray of shape (n_sizes,)
        NaN where fewer than two subsamples have a score.
    covariance : ndarray of shape (n_sizes, n_sizes)
        Of the estimates; NaN there.
    behind : ndarray of shape (n_sizes,) or None
        Independent rows that each score is a share of; None where it is none.
    floor : ndarray of shape (n_sizes,) or None
        Smallest standard errors that are believed of a difference of shares.
    n_effective : int
        One more than the degrees of freedom.
    bounds : tuple of float
        Range of the scores.
    """

    estimate: Floats
    covariance: Floats
    behind: Floats | None
    n_effective: int
    bounds: tuple[float, float]
    floor: Floats | None = None

    @property
    def is_constant(self) -> NDArray[np.bool_]:
        """Where all trainings gave the same score, but for rounding, (n_sizes,)."""
        error = np.sqrt(np.diag(self.covariance))
        return np.asarray(error <= _ERROR_ROUNDING * np.abs(self.estimate))


def scores_by_size(
    metrics: Sequence[RunMetric], records_of_methods: Sequence[RunRecords], n_sizes: int
) -> list[ScoresBySize]:
    """Return the scores of each method, and of exactly two their difference, first minus second.

    Parameters
    ----------
    metrics, records_of_methods : sequence
        Of each method; the subsamples are the same, those of one size after another.
    n_sizes : int

    Returns
    -------
    list of ScoresBySize
        Methods are scored on the subsamples that served them all.
    """
    by_size = []
    for k in range(n_sizes):
        of_size = []
        for run_records in records_of_methods:
            n_samples = len(run_records.samples.counts) // n_sizes
            part = slice(k * n_samples, (k + 1) * n_samples)
            samples = replace(run_records.samples, counts=run_records.samples.counts[part])
            records = run_records.sample_records[part]
            of_size.append(replace(run_records, samples=samples, sample_records=records))
        by_size.append(common_left_out_errors(metrics, of_size))
    scores, errors, centres = list[ScoresBySize](), list[Callable[[int], Floats]](), list[Floats]()
    for metric, run_records, losses in zip(
        metrics, records_of_methods, zip(*by_size, strict=True), strict=True
    ):
        # The error of all runs together where it is no mean over units; NaN for those.
        centre = np.array([part.value for part in losses])
        for k, part in enumerate(losses):
            if part.losses is None and len(part.sample_numbers):
                centre[k] = part.sample_errors.mean()
        is_share = metric.bounds in ((0.0, 1.0), (-1.0, 0.0)) and all(
            part.losses is not None and is_two_valued(metric, part.losses) for part in losses
        )
        n_rows, n_effective = (
            run_records.n_rows if is_share else 0,
            n_effective_of(metric, run_records),
        )
        errors.append(partial(_errors_outside, losses))
        scores.append(_scores(metric, errors[-1], centre, n_effective, n_rows))
        centres.append(centre)
    if len(scores) == 2:
        # The first method's scores less those of the second, unit by unit.
        centre = centres[0] - centres[1]
        n_effective = min(part.n_effective for part in scores)
        floor, (low, high) = None, scores[0].bounds
        if scores[0].behind is not None and scores[1].behind is not None:
            # Where both always agree: paired shares with half a row more in each cell.
            floor = 1 / (np.minimum(scores[0].behind, scores[1].behind) + 2)
        difference = _scores(
            metrics[0], lambda k: errors[0](k) - errors[1](k), centre, n_effective, 0
        )
        scores.append(difference._replace(floor=floor, bounds=(low - high, high - low)))
    return scores


def _errors_outside(losses: Sequence[LeftOutErrors], k: int) -> Floats:
    """Error of each unit outside of each subsample of size k, (n_samples, n_units); NaN inside."""
    part = losses[k]
    counts = part.run_records.samples.counts
    errors = np.full(counts.shape, np.nan)
    errors_of_units = part.sample_errors[:, None] + part.mean_influence(slice(None))
    outside = counts[part.sample_numbers] == 0
    errors[part.sample_numbers] = np.where(outside, errors_of_units, np.nan)
    return errors


def training_scores(metric: RunMetric, run_records: RunRecords, n_sizes: int) -> Floats:
    """Return the score of each run on the rows that it was trained on, (n_sizes, n_repeats).

    Parameters
    ----------
    metric : RunMetric
    run_records : RunRecords
        With answers for all rows.
    n_sizes : int
    """
    errors = np.full(len(run_records.sample_records), np.nan)
    if isinstance(metric, RowRunMetric):
        data, runs = run_records.of_bootstrap(metric.key)
        if len(runs):
            errors[runs] = metric.errors(data, run_records.row_counts[runs].astype(float))
    else:
        key = f"{metric.key}: inside"
        errors[:] = [record.get(key, np.nan) for record in run_records.sample_records]
    return np.asarray(metric.score(errors)).reshape(n_sizes, -1)


def _scores(
    metric: RunMetric,
    errors: Callable[[int], Floats],
    centre: Floats,
    n_effective: int,
    n_rows: int,
) -> ScoresBySize:
    """Return errors of units, (n_samples, n_units) of each size, as scores; shares of `n_rows`.

    ``n_rows`` is 0 where they are no shares.
    """
    n_sizes, n_units = len(centre), 0
    is_known = np.zeros(n_sizes, dtype=bool)

    def errors_of_known() -> Iterator[Floats]:
        nonlocal n_units
        for k in range(n_sizes):
            values = errors(k)
            n_units = values.shape[1]
            if np.count_nonzero(~np.isnan(values).all(axis=1)) >= 2:
                is_known[k] = True
                yield values

    by_size = errors_by_size(errors_of_known(), is_mean=metric.is_mean)
    estimate, covariance = np.full(n_sizes, np.nan), np.full((n_sizes, n_sizes), np.nan)
    estimate[is_known] = by_size.estimate
    covariance[np.ix_(is_known, is_known)] = by_size.covariance
    estimate = np.where(is_known & ~np.isnan(centre), centre, estimate)
    low, high = metric.bounds
    behind = None
    if n_rows:
        share, variance = estimate - low, np.diag(covariance)
        # How many independent rows a share with such a variance is of, at most all rows.
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = np.where(variance > 0, share * (1 - share) / variance, n_units)
        behind = np.clip(np.nan_to_num(rows, nan=n_units), 1.0, n_rows)
    bounds = (0.0 - high, 0.0 - low) if metric.sign > 0 else (low, high)
    return ScoresBySize(metric.score(estimate), covariance, behind, n_effective, bounds)
