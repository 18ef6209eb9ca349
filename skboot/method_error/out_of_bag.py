"""Out-of-bag error of a method and its standard error.

`out_of_bag_error` is for a mean of losses, `out_of_bag_metric` for any other metric. Errors are in
loss direction: smaller is better. No array is larger than the inputs, (n_resamples, n_samples).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import fail
from .._base.values import read_only, same_values
from ._columns import (
    Array,
    Reader,
    check_influence,
    column_blocks,
    columns_of,
    sum_of_variances,
    where_outside,
)
from ._tuning import FEW_RESAMPLES

ReadRows = Callable[[Any], Array]


@dataclass(frozen=True, eq=False)
class OutOfBagError:
    """Out-of-bag error of a method with its standard error.

    Attributes
    ----------
    error : float
    by_row : ndarray of shape (n_samples,)
        Mean out-of-bag loss of each row, NaN if never out-of-bag; empty for a metric.
    replicates : ndarray of shape (n_resamples,)
        Error on the out-of-bag rows of each resample; NaN where undefined.
    influence : ndarray of shape (n_units,)
        Infinitesimal-jackknife values D: the sum of their squares is the unadjusted variance.
    standard_error, standard_error_unadjusted : float
        With and without the Monte Carlo noise removed.
    standard_error_floored : bool
        Whether the standard error is the spread of the per-unit errors alone.
    form : {"centred", "et97"}
    n_units, n_resamples : int
    notes : tuple of str
    cautions : tuple of str
        Those of the notes that make the standard error unreliable.
    """

    error: float
    by_row: Array
    replicates: Array
    influence: Array
    standard_error: float
    standard_error_unadjusted: float
    standard_error_floored: bool
    form: str
    n_units: int
    n_resamples: int
    notes: tuple[str, ...]
    cautions: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return same_values(self, other)


def out_of_bag_error(
    losses: ArrayLike, weights: ArrayLike, *, groups: ArrayLike | None = None, form: str = "centred"
) -> OutOfBagError:
    """Out-of-bag error Err(1) of an additive loss and its standard error.

    Parameters
    ----------
    losses, weights : array-like of shape (n_resamples, n_samples)
        As in `prediction_error`. Differences of the losses of two methods trained on the same
        samples give their paired difference.
    groups : array-like of shape (n_samples,), optional
    form : {"centred", "et97"}

    Returns
    -------
    OutOfBagError

    Notes
    -----
    "et97": Efron and Tibshirani (1997, equations 35, 36, 39, 42, 43). "centred": losses centred per
    row before their
    covariance with the counts is taken, D_i = (E_i - Err) / n + e_n Cov_b(N_i, mean_i I_i (Q_i -
    E_i)); the Monte Carlo variance is that of the linearisation of D_i in the resamples. A group
    sums its rows' first terms.
    """
    array, counts = np.asarray(losses), np.asarray(weights)
    return additive_error(array, counts, Units.of(groups, array.shape[1]), form)


def out_of_bag_metric(
    scores: ArrayLike, counts: ArrayLike, influence: ArrayLike | Reader
) -> OutOfBagError:
    """Out-of-bag error of any metric: the mean over resamples, for rank metrics and callables.

    Parameters
    ----------
    scores : array-like of shape (n_resamples,)
        Error of model b on its out-of-bag rows; NaN where undefined (such resamples are left out).
    counts : array-like of shape (n_resamples, n_units)
        How often each unit (row or group) was drawn.
    influence : array-like of shape (n_resamples, n_units), or callable
        Influence values of that error over the m out-of-bag units, e.g. (m - 1) (error - error
        without the unit); in-bag entries are ignored. A callable is given a slice of columns and
        returns those columns.

    Returns
    -------
    OutOfBagError

    Notes
    -----
    With psi_i the mean influence of unit i and u_b the score less the mean psi of its out-of-bag
    units, D_i = psi_i / n + Cov_b(N_i, u_b). For groups the standard error is still low under about
    40 groups.
    """
    values, drawn = np.asarray(scores, dtype=float), np.asarray(counts)
    lines = np.flatnonzero(np.isfinite(values))
    if len(lines) < 2:
        must = "be finite in at least two resamples"
        advice = "Use more resamples, or resample within strata, so that every class is out-of-bag."
        raise fail("scores", must, repr(len(lines)), advice)
    read = columns_of(influence)
    result = _metric_error(
        values[lines],
        lambda columns: drawn[lines, columns],
        lambda columns: read(columns)[lines],
        drawn.shape[1],
    )
    notes = result.notes
    if len(lines) < len(values):
        left_out = len(values) - len(lines)
        notes += (f"{left_out} of {len(values)} resamples have no defined score and are left out.",)
    return replace(result, replicates=read_only(values), notes=notes)


class UnitChunk(NamedTuple):
    """Consecutive units and the columns of their rows."""

    units: slice
    rows: Any  # columns of the rows, unit after unit
    offsets: Array | None  # first of these columns of each unit; None where units are rows

    def sum(self, values: Array) -> Array:
        """Return the sum over the rows of each unit, (..., n_units)."""
        return values if self.offsets is None else np.add.reduceat(values, self.offsets, axis=-1)

    def first(self, values: Array) -> Array:
        """Return the value of the first row of each unit, (..., n_units)."""
        return values if self.offsets is None else values[..., self.offsets]


@dataclass(frozen=True, eq=False)
class Units:
    """Units that are drawn: rows, or groups of rows.

    Attributes
    ----------
    order : ndarray of shape (n_rows,) or None
        Rows sorted by group; None where units are rows.
    starts : ndarray of shape (n_units + 1,)
        Place in `order` of the first row of each unit, and the number of rows.
    """

    order: Array | None
    starts: Array

    @classmethod
    def of(cls, groups: ArrayLike | None, n_rows: int) -> Units:
        """Return the groups as units, or the rows without groups."""
        if groups is None:
            return cls(None, np.arange(n_rows + 1))
        codes = np.unique(np.asarray(groups), return_inverse=True)[1]
        ends = np.cumsum(np.bincount(codes))
        return cls(np.argsort(codes, kind="stable"), np.concatenate([[0], ends]))

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> Array:
        """Rows of each unit, (n_units,)."""
        return np.diff(self.starts)

    def chunks(self, n_lines: int) -> Iterator[UnitChunk]:
        """Yield consecutive units, so many that `n_lines` lines of their rows fit the cache."""
        if self.order is None:
            for columns in column_blocks(n_lines, self.n_units):
                yield UnitChunk(columns, columns, None)
            return
        # Groups of average size: the rows of a chunk make about one block of columns.
        per_group = max(1, round(self.starts[-1] / self.n_units))
        for units in column_blocks(n_lines * per_group, self.n_units):
            first, last = self.starts[units.start], self.starts[units.stop]
            offsets = self.starts[units] - first
            yield UnitChunk(units, self.order[first:last], offsets)


class _FirstPass(NamedTuple):
    """Sums over columns that the influence values are made of."""

    by_row: Array  # (n_samples,) E_i; NaN if never out-of-bag
    replicates: Array  # (n_resamples,) mean out-of-bag loss
    raw: Array  # (n_resamples,) q_b: mean over rows of I_i Q_i
    centred: Array  # (n_resamples,) q'_b: mean over rows of I_i (Q_i - E_i)
    noise: Array  # (n_resamples,) q'_b with each row over its share of out-of-bag resamples


def additive_error(losses: Array, weights: Array, units: Units, form: str) -> OutOfBagError:
    """Return the `out_of_bag_error` of checked arrays and units."""

    def read(columns: Any) -> Array:
        return losses[:, columns].astype(float)

    first = _first_pass(read, weights, units)
    if form == "et97":
        return _published(read, weights, first)
    return _centred(read, weights, units, first)


def _first_pass(read: ReadRows, weights: Array, units: Units) -> _FirstPass:
    """Return the errors by row and by resample, and the slopes of the influence values."""
    by_row = np.full(weights.shape[1], np.nan)
    raw, centred, noise, size = np.zeros((4, len(weights)))
    for chunk in units.chunks(len(weights)):
        outside = weights[:, chunk.rows] == 0
        losses = where_outside(read(chunk.rows), outside)
        times = outside.sum(axis=0)
        with np.errstate(invalid="ignore"):
            by_row[chunk.rows] = losses.sum(axis=0) / times
        deviations = where_outside(losses - by_row[chunk.rows], outside)
        raw += losses.sum(axis=1)
        size += outside.sum(axis=1)
        centred += deviations.sum(axis=1)
        noise += deviations @ (len(weights) / np.maximum(times, 1))
    n_used = np.count_nonzero(np.isfinite(by_row))
    with np.errstate(invalid="ignore"):
        replicates = raw / size
    return _FirstPass(by_row, replicates, raw / n_used, centred / n_used, noise / n_used)


def _centred(read: ReadRows, weights: Array, units: Units, first: _FirstPass) -> OutOfBagError:
    """Return the error with the standard error of losses centred per row."""
    error = float(np.nanmean(first.by_row))
    n_used = np.count_nonzero(np.isfinite(first.by_row))

    def noise_of_unit(chunk: UnitChunk) -> Array:
        outside = weights[:, chunk.rows] == 0
        times = np.maximum(outside.sum(axis=0), 1)
        deviations = where_outside(read(chunk.rows) - first.by_row[chunk.rows], outside)
        deviations *= len(weights) / (n_used * times)
        return chunk.sum(deviations)

    by_row = np.nan_to_num(first.by_row - error)
    base = np.concatenate([chunk.sum(by_row[chunk.rows]) for chunk in units.chunks(1)]) / n_used
    influence, noise = _influence_values(
        base=base,
        slope=inverse_share(units.n_units) * first.centred,
        noise=first.noise,
        drawn=lambda chunk: chunk.first(weights[:, chunk.rows]),
        noise_of_unit=noise_of_unit,
        units=units,
    )
    return standard_error_of(
        error, first.by_row, first.replicates, influence, noise, base, "centred"
    )


def _metric_error(scores: Array, drawn: Reader, influence: Reader, n_units: int) -> OutOfBagError:
    """Return the mean of defined scores with its standard error."""
    units = Units.of(None, n_units)
    mean = np.zeros(n_units)
    size, shift, noise = np.zeros((3, len(scores)))

    def noise_of_unit(chunk: UnitChunk) -> Array:
        outside = drawn(chunk.rows) == 0
        times = np.maximum(outside.sum(axis=0), 1)
        deviations = where_outside(influence(chunk.rows) - mean[chunk.rows], outside)
        deviations *= len(scores) / (n_units * times)
        return deviations

    for chunk in units.chunks(len(scores)):
        outside = drawn(chunk.rows) == 0
        total = where_outside(influence(chunk.rows), outside).sum(axis=0)
        mean[chunk.rows] = total / np.maximum(outside.sum(axis=0), 1)
        size += outside.sum(axis=1)
        shift += outside @ mean[chunk.rows]
        noise += noise_of_unit(chunk).sum(axis=1)
    check_influence(mean)
    base = (mean - mean.mean()) / n_units
    values, variance = _influence_values(
        base=base,
        slope=scores - shift / np.maximum(size, 1),
        noise=noise,
        drawn=lambda chunk: drawn(chunk.rows),
        noise_of_unit=noise_of_unit,
        units=units,
    )
    error = float(scores.mean())
    return standard_error_of(error, np.empty(0), scores, values, variance, base, "centred")


def _influence_values(
    *,
    base: Array,
    slope: Array,
    noise: Array,
    drawn: Callable[[UnitChunk], Array],
    noise_of_unit: Callable[[UnitChunk], Array],
    units: Units,
) -> tuple[Array, float]:
    """Return the values D, (n_units,), and the Monte Carlo variance of the sum of their squares.

    D = base + Cov_b(N, slope). Its linearisation in the resamples has three parts: the covariance
    itself; the noise of the unit's own mean, which counts once in `base` and again (1 + 1 / (n - 1)
    times) because that mean centres `slope`; and the noise of the overall mean.
    """
    n_lines, n_units = len(slope), units.n_units
    slope = slope - slope.mean()
    share = units.sizes / units.sizes.sum() + 1 / (n_units - 1)
    values, variance = base.copy(), 0.0
    for chunk in units.chunks(n_lines):
        moves = drawn(chunk).astype(float)
        moves -= moves.mean(axis=0)
        moves *= slope[:, None]
        values[chunk.units] += moves.mean(axis=0)
        linear = noise_of_unit(chunk)
        linear *= 2 + 1 / (n_units - 1)
        linear += moves
        linear -= np.outer(noise, share[chunk.units])
        variance += sum_of_variances(linear)
    return values, variance / n_lines


def _published(read: ReadRows, weights: Array, first: _FirstPass) -> OutOfBagError:
    """Efron and Tibshirani (1997), equations 35 to 43, without their loop over resamples."""
    n_lines, n_rows = weights.shape
    error = float(np.nanmean(first.by_row))
    n_used = np.count_nonzero(np.isfinite(first.by_row))
    factor, scale = 2 + 1 / (n_rows - 1), inverse_share(n_rows)
    raw = first.raw - first.raw.mean()
    base = np.nan_to_num(first.by_row - error) / n_used
    errors = np.zeros(n_lines)
    for columns in column_blocks(n_lines, n_rows):
        errors += np.nan_to_num(_without_one(read, weights, first, columns)).sum(axis=1) / n_used
    values, internal = np.empty(n_rows), 0.0
    for columns in column_blocks(n_lines, n_rows):
        counts = weights[:, columns].astype(float)
        moves = (counts - counts.mean(axis=0)) * raw[:, None]
        covariance = moves.sum(axis=0) / (n_lines - 1)
        values[columns] = factor * base[columns] + scale * covariance
        left = ((n_lines - 1) * covariance - n_lines / (n_lines - 1) * moves) / (n_lines - 2)
        gaps = _without_one(read, weights, first, columns) - errors[:, None]
        replicates = factor * np.nan_to_num(gaps) / n_used + scale * left
        internal += float(replicates.var(axis=0).sum()) * (n_lines - 1)
    return standard_error_of(error, first.by_row, first.replicates, values, internal, base, "et97")


def _without_one(read: ReadRows, weights: Array, first: _FirstPass, columns: slice) -> Array:
    """Return E_i without resample b, (n_resamples, n_columns); E_i if no other leaves i out."""
    outside = weights[:, columns] == 0
    losses = where_outside(read(columns), outside)
    left = outside.sum(axis=0) - outside
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(left > 0, (losses.sum(axis=0) - losses) / left, first.by_row[columns])


def inverse_share(n_units: int) -> float:
    """Return one over the probability that a unit is out-of-bag."""
    return float((1 - 1 / n_units) ** -n_units)


def standard_error_of(
    error: float,
    by_row: Array,
    replicates: Array,
    influence: Array,
    noise: float,
    base: Array,
    form: str,
) -> OutOfBagError:
    """Return an error with the standard error that its influence values give.

    Parameters
    ----------
    error : float
    by_row : ndarray of shape (n_samples,)
    replicates : ndarray of shape (n_resamples,)
    influence : ndarray of shape (n_units,)
    noise : float
        Monte Carlo variance of the sum of the squared influence values.
    base : ndarray of shape (n_units,)
        Influence values without the effect through training: their squares are the floor.
    form : {"centred", "et97"}

    Returns
    -------
    OutOfBagError
    """
    unadjusted = float(np.sum(influence**2))
    floor = float(np.sum(base**2))
    floored = not unadjusted - noise >= floor
    notes = _result_notes(by_row, len(replicates), floored)
    return OutOfBagError(
        error=error,
        by_row=read_only(by_row),
        replicates=read_only(replicates),
        influence=read_only(influence),
        standard_error=float(np.sqrt(floor if floored else unadjusted - noise)),
        standard_error_unadjusted=float(np.sqrt(unadjusted)),
        standard_error_floored=floored,
        form=form,
        n_units=len(influence),
        n_resamples=len(replicates),
        notes=notes,
        cautions=_few_resamples(len(replicates)),
    )


def _result_notes(by_row: Array, n_resamples: int, floored: bool) -> tuple[str, ...]:
    """Return notes on rows and resamples that limit the standard error."""
    notes = []
    never = int(np.count_nonzero(np.isnan(by_row)))
    if never:
        notes.append(
            f"{never} of {len(by_row)} rows were never out-of-bag and are left out of the "
            "out-of-bag error; use more resamples."
        )
    notes += _few_resamples(n_resamples)
    if floored:
        notes.append(
            "The standard error is floored at the spread of the per-unit errors: the part of the "
            "training sample is smaller than the Monte Carlo noise of these resamples."
        )
    return tuple(notes)


def _few_resamples(n_resamples: int) -> tuple[str, ...]:
    """Return a note on the standard error of few resamples; nothing if they are enough."""
    if n_resamples >= FEW_RESAMPLES:
        return ()
    return (f"{n_resamples} resamples are too few for a stable standard error; use 200.",)
