"""From the runs on subsamples of several sizes to the score at each size, and how it varies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..method_error.learning_curve import errors_by_size
from .degrees_of_freedom import n_effective_of
from .differences import OutOfBagLosses, is_two_valued, out_of_bag_losses
from .estimates import by_unit
from .run_metrics import RowRunMetric, RunMetric
from .run_records import RunRecords

Floats = NDArray[np.float64]

# Share of a score below which a standard error is rounding.
_ROUNDING = 1e-12


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


class _ErrorsOfUnits(NamedTuple):
    """Errors of a method on the units outside of its subsamples.

    Attributes
    ----------
    metric : RunMetric
    values : ndarray of shape (n_sizes, n_samples, n_units)
        NaN inside, and without a score.
    centre : ndarray of shape (n_sizes,)
        Error of all runs together, where it is no mean over units; NaN for those.
    n_effective : int
    n_rows : int
        Of how many rows it is a share; 0 where it is none.
    """

    metric: RunMetric
    values: Floats
    centre: Floats
    n_effective: int
    n_rows: int


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
    errors = _errors_of_units(metrics, runs, n_sizes)
    found = [_scores(own, own.values, own.centre) for own in errors]
    if len(errors) == 2:
        found.append(_difference(errors, found))
    return found


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
    return np.asarray(0.0 - metric.sign * errors).reshape(n_sizes, -1)


def _difference(errors: Sequence[_ErrorsOfUnits], scores: Sequence[ScoresBySize]) -> ScoresBySize:
    """Return the first method's scores less those of the second, unit by unit."""
    first, second = errors
    change = _scores(first, first.values - second.values, first.centre - second.centre)
    behind = [own.behind for own in scores]
    floor = None
    if behind[0] is not None and behind[1] is not None:
        # Where both always agree: paired shares with half a row more in each cell.
        floor = 1 / (np.minimum(behind[0], behind[1]) + 2)
    low, high = scores[0].bounds
    n_effective = min(own.n_effective for own in scores)
    return change._replace(
        behind=None, floor=floor, n_effective=n_effective, bounds=(low - high, high - low)
    )


def _errors_of_units(
    metrics: Sequence[RunMetric], runs: Sequence[RunRecords], n_sizes: int
) -> list[_ErrorsOfUnits]:
    by_size = [
        out_of_bag_losses(metrics, [_of_size(kept, k, n_sizes) for kept in runs])
        for k in range(n_sizes)
    ]
    several = []
    for metric, kept, own in zip(metrics, runs, zip(*by_size, strict=True), strict=True):
        values = np.array([_values(losses) for losses in own])
        centre = np.array([_centre(losses) for losses in own])
        is_share = metric.bounds in ((0.0, 1.0), (-1.0, 0.0)) and all(
            losses.losses is not None and is_two_valued(metric, losses.losses) for losses in own
        )
        n_rows = kept.n_rows if is_share else 0
        several.append(_ErrorsOfUnits(metric, values, centre, n_effective_of(metric, kept), n_rows))
    return several


def _of_size(kept: RunRecords, k: int, n_sizes: int) -> RunRecords:
    """Return the runs on the subsamples of one size."""
    n_samples = len(kept.samples.counts) // n_sizes
    own = slice(k * n_samples, (k + 1) * n_samples)
    samples = replace(kept.samples, counts=kept.samples.counts[own])
    return replace(kept, samples=samples, records=kept.records[own])


def _values(losses: OutOfBagLosses) -> Floats:
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


def _centre(losses: OutOfBagLosses) -> float:
    """Return the error of all runs together where it is no mean over units; NaN for those."""
    if losses.rows is None and len(losses.used):
        assert losses.scores is not None
        return float(losses.scores.mean())
    return float(losses.value)


def _scores(errors: _ErrorsOfUnits, values: Floats, centre: Floats) -> ScoresBySize:
    """Return errors of units as scores."""
    metric, n_sizes = errors.metric, len(values)
    known = (~np.isnan(values).all(axis=2)).sum(axis=1) >= 2
    estimate, covariance = np.full(n_sizes, np.nan), np.full((n_sizes, n_sizes), np.nan)
    if known.any():
        found = errors_by_size(values[known], is_mean=metric.is_mean)
        estimate[known] = found.estimate
        covariance[np.ix_(known, known)] = found.covariance
        estimate = np.where(known & ~np.isnan(centre), centre, estimate)
    low, high = metric.bounds
    bounds = (0.0 - high, 0.0 - low) if metric.sign > 0 else (low, high)
    return ScoresBySize(
        0.0 - metric.sign * estimate,
        covariance,
        _behind(estimate - low, np.diag(covariance), errors.n_rows, values.shape[2]),
        errors.n_effective,
        bounds,
    )


def _behind(share: Floats, variance: Floats, n_rows: int, n_units: int) -> Floats | None:
    """Return how many independent rows a share with such a variance is of, at most all rows."""
    if not n_rows:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.where(variance > 0, share * (1 - share) / variance, n_units)
    return np.clip(np.nan_to_num(rows, nan=n_units), 1.0, n_rows)
