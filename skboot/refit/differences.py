"""Differences of the errors of methods that were trained on the same samples.

Row by row and sample by sample, the loss of one method less that of the other is the loss of their
difference, so that what is hard for both cancels out: of the rows left out of bootstrap samples
(`difference_error`), and of the folds of cross-validation (`cross_validated_difference`). Samples,
repeats and folds on which a method has no error are left out for all methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.values import read_only
from ..method_error.cv_bootstrap import (
    MethodsDifference,
    cross_validated_variance,
    group_influence,
    share_of_training,
    slope_of_root,
)
from ..method_error.learning_curve import errors_by_size
from ..method_error.out_of_bag import OutOfBagError, out_of_bag_error, out_of_bag_metric
from .estimates import (
    Computed,
    UsableRows,
    by_unit,
    losses_of,
    n_effective_of,
    of_folds,
    over_seeds,
    replicates_of,
    usable_rows,
)
from .run_metrics import RowRunMetric, RunMetric, RunRecords
from .training import Record

Array = NDArray[Any]
Floats = NDArray[np.float64]

# Share of an error up to which a difference is a matter of rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class OutOfBagLosses:
    """Errors of one method on the rows that its runs left out, averaged over seeds.

    Attributes
    ----------
    metric : RunMetric
    kept : RunRecords
    used : ndarray of shape (n_used,)
        Numbers of the training samples.
    losses : ndarray of shape (n_used, n_samples) or None
        Linearised for functions of means; None for rank metrics and callables.
    influence : ndarray of shape (n_used, n_units) or None
        Of rank metrics and callables.
    value : float
        Error of a function of means; NaN for the others, whose error is a mean.
    scores : ndarray of shape (n_used,) or None
        Error on the rows that each sample left out; None for means of losses.
    rows : UsableRows or None
        What was kept of the runs; None for rank metrics and callables.
    """

    metric: RunMetric
    kept: RunRecords
    used: Array
    losses: Array | None
    influence: Array | None
    value: float
    scores: Array | None
    rows: UsableRows | None = None

    @property
    def degrees_of_freedom(self) -> int:
        """Of a t interval; see `skboot.refit.estimates`."""
        return n_effective_of(self.metric, self.kept) - 1


def out_of_bag_losses(
    metrics: Sequence[RunMetric], runs: Sequence[RunRecords]
) -> list[OutOfBagLosses]:
    """Return the errors of each method on the rows left out, of samples that served them all.

    Parameters
    ----------
    metrics, runs : sequence
        Of each method; the samples are the same.

    Returns
    -------
    list of OutOfBagLosses
    """
    found = [_left_out(*each) for each in zip(metrics, runs, strict=True)]
    every = found[0].used
    for one in found[1:]:
        every = np.intersect1d(every, one.used)
    if all(len(one.used) == len(every) for one in found):
        return found
    # Without the runs on other training samples.
    n_seeds, n_boot = runs[0].samples.n_seeds, runs[0].samples.n_bootstrap_runs
    samples, only = set(every.tolist()), []
    for kept in runs:
        records = [
            record if k >= n_boot or k // n_seeds in samples else {}
            for k, record in enumerate(kept.records)
        ]
        only.append(replace(kept, records=records))
    return [_left_out(*each) for each in zip(metrics, only, strict=True)]


def difference_error(first: OutOfBagLosses, second: OutOfBagLosses) -> OutOfBagError:
    """Out-of-bag error of the first method less that of the second, with its standard error.

    Parameters
    ----------
    first, second : OutOfBagLosses
        From one call of `out_of_bag_losses`, with at least two samples.

    Returns
    -------
    OutOfBagError
        Replicates that differ by rounding alone are 0.
    """
    kept, is_metric = first.kept, first.losses is None
    change: Any = None if first.scores is None else _less(first.scores, second.scores)
    if is_metric:
        assert first.influence is not None
        assert second.influence is not None
        influence = first.influence - second.influence
        error = out_of_bag_metric(change, kept.samples.counts[first.used], influence)
    else:
        losses = _less(first.losses, second.losses)
        error = out_of_bag_error(losses, kept.row_counts[first.used], groups=kept.target.unit)
        if change is not None:
            value = first.value - second.value
            by_row = error.by_row - error.error + value
            error = replace(error, error=value, by_row=by_row, replicates=change)
    of_both: list[Any] = [
        one.losses if one.scores is None else one.scores for one in (first, second)
    ]
    size = max(float(np.nanmax(np.abs(own), initial=0.0)) for own in of_both)
    alike = np.abs(error.replicates) <= _ROUNDING * size
    return replace(error, replicates=read_only(np.where(alike, 0.0, error.replicates)))


def out_of_bag_difference(
    first: OutOfBagLosses, second: OutOfBagLosses, error: OutOfBagError
) -> MethodsDifference:
    """Score of the first method less that of the second, on the rows left out.

    Parameters
    ----------
    first, second : OutOfBagLosses
    error : OutOfBagError
        Of the same two, by `difference_error`.

    Returns
    -------
    MethodsDifference
    """
    values: list[Any] = [
        one.scores if one.losses is None else one.losses for one in (first, second)
    ]
    two_valued = all(is_two_valued(first.metric, own) for own in values)
    size = max(float(np.abs(own).mean(dtype=float)) for own in values)
    return _difference((first, second), error.error, error.standard_error, size, two_valued)


# ------------------------------------------------------------------ cross-validation


@dataclass(frozen=True, eq=False)
class FoldsOfMethod:
    """Error of one method by repeated cross-validation, with the influence of each unit.

    Attributes
    ----------
    left_out : OutOfBagLosses
        What its bootstrap samples say.
    centre : float
        Error by repeated cross-validation.
    influence : ndarray of shape (n_units,)
        On that error, averaged over repeats.
    two_valued : bool
        Whether each loss is the least or the largest that there can be, as for right and wrong.
    """

    left_out: OutOfBagLosses
    centre: float
    influence: Array
    two_valued: bool


def cross_validated_by_all(parts: Mapping[str, OutOfBagLosses]) -> dict[str, FoldsOfMethod] | None:
    """Return the cross-validated error of each method, on folds that served them all.

    Parameters
    ----------
    parts : dict of str to OutOfBagLosses
        By method, from one call of `out_of_bag_losses`.

    Returns
    -------
    dict of str to FoldsOfMethod, or None
        None where no repeat of cross-validation is whole for all methods.
    """
    every = list(parts.values())
    # Errors of each repeat, (n_repeats,), and losses, (n_repeats, n_samples), of means of losses;
    # for rank metrics and callables, which are no means, one error and the influence on it.
    errors: list[Any] = []
    losses: list[Array] = []
    for part, kept in zip(every, _with_common_folds(every), strict=True):
        if isinstance(part.metric, RowRunMetric):
            data = kept.of_folds(part.metric.key)
            if not len(data):
                return None
            errors_of_repeats, values = part.metric.linearised(
                data, np.ones(data.shape[:2], dtype=bool)
            )
            errors.append(errors_of_repeats)
        else:
            folds = of_folds(part.metric, kept)
            if folds is None:
                return None
            values = folds.influence
            errors.append(folds.centre)
        losses.append(values)
    by_row = isinstance(every[0].metric, RowRunMetric)
    good: Any = np.isfinite(errors).all(axis=0) if by_row else None
    if by_row and not good.any():
        return None
    several = {}
    for (name, part), of_repeats, values in zip(parts.items(), errors, losses, strict=True):
        centre, influence = of_repeats, values.mean(axis=0)
        if by_row:
            centre = float(of_repeats[good].mean())
            influence = (values - of_repeats[:, None])[good].mean(axis=0)
        unit = part.kept.target.unit
        if unit is not None:
            influence = group_influence(influence, unit, part.kept.n_units)
        two_valued = by_row and is_two_valued(part.metric, values)
        several[name] = FoldsOfMethod(part, centre, influence, two_valued)
    return several


def cross_validated_difference(
    first: FoldsOfMethod,
    second: FoldsOfMethod,
    out_of_bag: OutOfBagError,
    resubstitution: tuple[float, float],
) -> MethodsDifference:
    """Score of the first method less that of the second, by repeated cross-validation.

    Parameters
    ----------
    first, second : FoldsOfMethod
        From one call of `cross_validated_by_all`.
    out_of_bag : OutOfBagError
        Of the same two, by `difference_error`.
    resubstitution : tuple of float
        Error of each on the rows trained on.

    Returns
    -------
    MethodsDifference
    """
    part, both = first.left_out, (first, second)
    (scores, influence, share), (other_scores, other_influence, other_share) = (
        _sample_errors(one, error) for one, error in zip(both, resubstitution, strict=True)
    )
    variance = cross_validated_variance(
        first.influence - second.influence,
        part.kept.samples.counts[part.used],
        scores - other_scores,
        influence - other_influence,
        left_out=out_of_bag.standard_error**2,
        share=max(share, other_share),
    )
    size = max(abs(first.centre), abs(second.centre))
    two_valued = first.two_valued and second.two_valued
    change = first.centre - second.centre
    parts = (part, second.left_out)
    return _difference(parts, change, float(np.sqrt(variance)), size, two_valued)


def _with_common_folds(parts: Sequence[OutOfBagLosses]) -> list[RunRecords]:
    """The runs of each method, without the folds that failed, or have no score, for any."""
    first = parts[0].kept.samples.n_bootstrap_runs
    every = [list(part.kept.records[first:]) for part in parts]
    keys = [f"{part.metric.key}: error" for part in parts]
    for fold, records in enumerate(zip(*every, strict=True)):
        if any(record.get("error") is not None for record in records):
            empty: Record = {}
            changed = [empty for _ in records]
        elif all(np.isfinite(r.get(key, 0.0)) for r, key in zip(records, keys, strict=True)):
            continue
        else:
            changed = [{**r, key: np.nan} for r, key in zip(records, keys, strict=True)]
        for own, record in zip(every, changed, strict=True):
            own[fold] = record
    return [
        replace(part.kept, records=[*part.kept.records[:first], *own])
        for part, own in zip(parts, every, strict=True)
    ]


def _sample_errors(method: FoldsOfMethod, resubstitution: float) -> tuple[Array, Array, float]:
    """Errors on the rows left out, and the influence of units on them, averaged over seeds.

    With them the share of the training variance that is left at the full size. The square root of
    a mean is that of its first order about the centre.
    """
    part, centre, slope = method.left_out, method.centre, 1.0
    if part.rows is None:
        assert part.scores is not None
        assert part.influence is not None
        share = share_of_training(resubstitution, centre, float(np.median(part.scores)))
        return part.scores, part.influence, share
    rows, n_seeds = part.rows, part.kept.samples.n_seeds
    inner = part.metric.under_root
    if inner is not None:
        rows, resubstitution = usable_rows(inner, part.kept), resubstitution * abs(resubstitution)
        centre, slope = centre * abs(centre), slope_of_root(centre * abs(centre))
    errors = over_seeds(rows.errors, rows.runs, n_seeds)
    influence = over_seeds(by_unit(rows, part.kept)(slice(None)), rows.runs, n_seeds)
    share = share_of_training(resubstitution, centre, float(np.median(errors)))
    return slope * errors, slope * influence, share


# ------------------------------------------------------------------ steps of both


def _difference(
    parts: tuple[OutOfBagLosses, OutOfBagLosses],
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
        return 0.0 if abs(value) <= _ROUNDING * size else float(value)

    return MethodsDifference(
        known(0.0 - part.metric.sign * change),
        known(standard_error),
        # Those of an average over classes depend on the answers, and must not on the order of both.
        min(one.degrees_of_freedom for one in parts),
        n_units=part.kept.n_units,
        span=float(high - low) if two_valued else None,
    )


def is_two_valued(metric: RunMetric, losses: Any) -> bool:
    """Whether each loss of a mean is the least or the largest there can be, as right and wrong."""
    if not metric.is_mean:
        return False
    return bool(np.isfinite(metric.bounds).all() and np.isin(losses, metric.bounds).all())


def _left_out(metric: RunMetric, kept: RunRecords) -> OutOfBagLosses:
    n_seeds = kept.samples.n_seeds
    if isinstance(metric, RowRunMetric):
        rows = usable_rows(metric, kept)
        used = np.unique(rows.runs // n_seeds)
        if not len(used):
            return OutOfBagLosses(metric, kept, used, None, None, np.nan, None)
        losses, value, scores = losses_of(metric, kept, rows)
        return OutOfBagLosses(metric, kept, used, losses, None, value, scores, rows)
    runs, errors, influence = replicates_of(metric, kept)
    outside = kept.samples.counts[runs // n_seeds] == 0
    influence = Computed.of(influence, outside).filled(1.0, slice(None))
    influence = over_seeds(influence, runs, n_seeds)
    used = np.unique(runs // n_seeds)
    return OutOfBagLosses(
        metric, kept, used, None, influence, np.nan, over_seeds(errors, runs, n_seeds)
    )


def _less(first: Any, second: Any) -> Array:
    """First minus second, in numbers that small integers do not overflow."""
    return np.subtract(first, second, dtype=np.result_type(first, second, np.int16))


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
        return np.asarray(error <= _ROUNDING * np.abs(self.estimate))


def scores_by_size(
    metrics: Sequence[RunMetric], runs: Sequence[RunRecords], n_sizes: int
) -> list[ScoresBySize]:
    """Return the scores of each method, and of exactly two their difference, first minus second.

    Parameters
    ----------
    metrics, runs : sequence
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
        for kept in runs:
            n_samples = len(kept.samples.counts) // n_sizes
            own = slice(k * n_samples, (k + 1) * n_samples)
            samples = replace(kept.samples, counts=kept.samples.counts[own])
            of_size.append(replace(kept, samples=samples, records=kept.records[own]))
        by_size.append(out_of_bag_losses(metrics, of_size))
    scores, errors, centres = [], [], []
    for metric, kept, losses in zip(metrics, runs, zip(*by_size, strict=True), strict=True):
        values = np.array([_errors_of_units(own) for own in losses])
        # The error of all runs together where it is no mean over units; NaN for those.
        centre = np.array([own.value for own in losses])
        for k, own in enumerate(losses):
            if own.rows is None and own.scores is not None and len(own.used):
                centre[k] = own.scores.mean()
        is_share = metric.bounds in ((0.0, 1.0), (-1.0, 0.0)) and all(
            own.losses is not None and is_two_valued(metric, own.losses) for own in losses
        )
        n_rows, n_effective = kept.n_rows if is_share else 0, n_effective_of(metric, kept)
        scores.append(_scores(metric, values, centre, n_effective, n_rows))
        errors.append(values)
        centres.append(centre)
    if len(scores) == 2:
        # The first method's scores less those of the second, unit by unit.
        change, centre = errors[0] - errors[1], centres[0] - centres[1]
        n_effective = min(own.n_effective for own in scores)
        floor, (low, high) = None, scores[0].bounds
        if scores[0].behind is not None and scores[1].behind is not None:
            # Where both always agree: paired shares with half a row more in each cell.
            floor = 1 / (np.minimum(scores[0].behind, scores[1].behind) + 2)
        difference = _scores(metrics[0], change, centre, n_effective, 0)
        scores.append(difference._replace(floor=floor, bounds=(low - high, high - low)))
    return scores


def training_scores(metric: RunMetric, kept: RunRecords, n_sizes: int) -> Floats:
    """Return the score of each run on the rows that it was trained on, (n_sizes, n_repeats).

    Parameters
    ----------
    metric : RunMetric
    kept : RunRecords
        With answers for all rows.
    n_sizes : int
    """
    errors = np.full(len(kept.records), np.nan)
    if isinstance(metric, RowRunMetric):
        data, runs = kept.of_bootstrap(metric.key)
        if len(runs):
            errors[runs] = metric.errors(data, kept.row_counts[runs].astype(float))
    else:
        key = f"{metric.key}: inside"
        errors[:] = [record.get(key, np.nan) for record in kept.records]
    return np.asarray(metric.score(errors)).reshape(n_sizes, -1)


def _errors_of_units(losses: OutOfBagLosses) -> Floats:
    """Return the error of each unit outside of each subsample, (n_samples, n_units)."""
    counts = losses.kept.samples.counts
    values = np.full(counts.shape, np.nan)
    if not len(losses.used):
        return values
    if losses.rows is None:
        assert losses.scores is not None
        assert losses.influence is not None
        scores, influence = losses.scores, losses.influence
    else:
        scores, influence = losses.rows.errors, by_unit(losses.rows, losses.kept)(slice(None))
    values[losses.used] = np.where(counts[losses.used] == 0, scores[:, None] + influence, np.nan)
    return values


def _scores(
    metric: RunMetric, values: Floats, centre: Floats, n_effective: int, n_rows: int
) -> ScoresBySize:
    """Return errors of units, (n_sizes, n_samples, n_units), as scores; shares of ``n_rows`` rows.

    ``n_rows`` is 0 where they are no shares.
    """
    n_sizes, _, n_units = values.shape
    known = (~np.isnan(values).all(axis=2)).sum(axis=1) >= 2
    estimate, covariance = np.full(n_sizes, np.nan), np.full((n_sizes, n_sizes), np.nan)
    if known.any():
        found = errors_by_size(values[known], is_mean=metric.is_mean)
        estimate[known] = found.estimate
        covariance[np.ix_(known, known)] = found.covariance
        estimate = np.where(known & ~np.isnan(centre), centre, estimate)
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
