"""Out-of-bag error of a method and its standard error.

`out_of_bag_error` is for a mean of losses, `out_of_bag_metric` for any other metric. Errors are in
loss direction: smaller is better. No array is larger than the inputs, (n_resamples, n_samples).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import fail
from .._base.values import read_only, same_values

# Every threshold of this package, with its unit, what changes at it, and the record of it. The
# first table is part of the methods: another value makes another interval or note. The other one
# bounds memory, and changes numbers by rounding alone.

# ------------------------------------------------------------------ intervals and their notes

# Maximum variance of an interval (test-sampling variances) without the note that it is wide because
# of the training samples: it is then 1.7 times as wide as the test rows alone make it (record
# 0034).
UNSTABLE_RATIO = 3.0
# Maximum share of the squared influence that one unit may carry (share of the sum) without the note
# of heavy tails. Squared errors of 80 rows pass it in 4% of samples with normal errors, in 54%
# with t3 errors.
HEAVY_TAIL_SHARE = 0.5
# Minimum ratio of the resubstitution to the out-of-bag error (ratio) without the note that .632 and
# .632+ are optimistic.
NEAR_PERFECT = 0.25
# Minimum number of resamples (resamples) for a stable standard error of the out-of-bag error;
# below it a note asks for 200.
FEW_RESAMPLES = 50
# Minimum number of resamples for the infinitesimal jackknife (resamples per square root of the
# units); with fewer its Monte Carlo noise is too large, and it is left out.
JACKKNIFE_RESAMPLES = 4
# Minimum degrees of freedom (number) that are left where losses without an upper bound are skewed;
# with fewer the quantile, and with it the width, would grow faster than the coverage (record 0043).
LEAST_DF = 6.0
# Distance from the quartiles (interquartile ranges) beyond which an out-of-bag score is an outlier
# and moved to this fence (Tukey 1977; record 0034).
FENCE = 1.5
# Draws for the Monte Carlo error of the standard error (draws): its own relative error is 3%.
MONTE_CARLO_DRAWS = 500

# ------------------------------------------------------------------ memory

# Elements of a block of columns that are worked on at a time (elements, 2 MB): so only the inputs
# are large.
ELEMENTS_AT_ONCE = 1 << 18
# Counts of units that are worked on at a time (counts): their temporaries stay in the cache.
COUNTS_AT_ONCE = 1 << 16


# ------------------------------------------------------------------ blocks of columns

Array = NDArray[Any]
Reader = Callable[[slice], Array]


def column_blocks(n_lines: int, n_columns: int) -> Iterator[slice]:
    """Yield slices of consecutive columns, about `ELEMENTS_AT_ONCE` elements of `n_lines` lines."""
    width = max(1, ELEMENTS_AT_ONCE // max(n_lines, 1))
    for start in range(0, n_columns, width):
        yield slice(start, min(start + width, n_columns))


def columns_of(values: ArrayLike | Reader) -> Reader:
    """Return a function from a slice of columns to these columns of an array; or the function."""
    if callable(values):
        return values
    array = np.asarray(values)
    return lambda columns: array[:, columns]


def columns_less(values: Array, less: Array) -> Reader:
    """Return a function from a slice of columns to these columns, less a number of each line."""
    return lambda columns: values[:, columns] - less[:, None]


def where_outside(values: Array, outside: Array) -> Array:
    """Return the values where `outside` is not 0, and 0 elsewhere, in place of NaN as well."""
    return sums_outside(values, outside, 0)[0]


def sums_outside(
    values: Array, outside: Array, axis: int, *, in_place: bool = False
) -> tuple[Array, Array]:
    """Return the values where `outside` is not 0, and 0 elsewhere, with their sums along an axis.

    Of flags as floats the product is twice as fast as of bools; `in_place` it takes the place of
    the values.
    """
    # A product is ten times as fast as numpy.where, but NaN and infinity times 0 are NaN.
    with np.errstate(invalid="ignore", over="ignore"):
        product = np.multiply(values, outside, out=values if in_place else None, dtype=float)
        sums = product.sum(axis=axis)
        if not np.isfinite(sums).all():
            product = np.where(outside, product, 0.0)
            sums = product.sum(axis=axis)
        return product, sums


def lines_of(read: Reader, lines: Array) -> Reader:
    """Return a function from a slice of columns to some lines of these columns."""
    return lambda columns: read(columns)[lines]


def sum_of_variances(values: Array) -> float:
    """Return the sum of the variances (divisor n - 1) of columns, which are centred in place."""
    values -= values.mean(axis=0)
    return float(np.vdot(values, values)) / (len(values) - 1)


def check_influence(sums: Array) -> None:
    """Refuse influence values whose sums are not finite."""
    if not np.isfinite(sums).all():
        raise ValueError(
            "Influence values must be finite for out-of-bag units wherever the score is finite. "
            "Got NaN or infinity. Set the score of that resample to NaN to leave it out."
        )


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
    losses: ArrayLike,
    weights: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    form: str = "centred",
    units: Units | None = None,
) -> OutOfBagError:
    """Out-of-bag error Err(1) of an additive loss and its standard error.

    Parameters
    ----------
    losses, weights : array-like of shape (n_resamples, n_samples)
        As in `prediction_error`. Differences of the losses of two methods trained on the same
        samples give their paired difference.
    groups : array-like of shape (n_samples,), optional
    form : {"centred", "et97"}
    units : Units, optional
        In place of groups, where they are known.

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
    n_lines, n_rows = counts.shape
    units = Units.of(groups, n_rows) if units is None else units
    by_row = np.full(n_rows, np.nan)  # E_i; NaN if never out-of-bag
    # Of each resample: sum of the out-of-bag losses Q, of Q - E_i, and of these over the share of
    # out-of-bag resamples of their row; number of rows out-of-bag.
    raw, centred, noise, size = np.zeros((4, n_lines))
    for chunk in units.chunks(n_lines):
        outside = (counts[:, chunk.rows] == 0).astype(np.float64)
        left_out, total = sums_outside(array[:, chunk.rows], outside, 0)
        times = outside.sum(axis=0)
        with np.errstate(invalid="ignore"):
            by_row[chunk.rows] = total / times
        gaps = left_out - by_row[chunk.rows]
        deviations, sums = sums_outside(gaps, outside, 1, in_place=True)
        raw += left_out.sum(axis=1)
        size += outside.sum(axis=1)
        centred += sums
        noise += deviations @ (n_lines / np.maximum(times, 1))
    n_used = np.count_nonzero(np.isfinite(by_row))
    with np.errstate(invalid="ignore"):
        replicates = raw / size
    if form == "et97":
        return _published(array, counts, by_row, replicates, raw / n_used)
    error = float(np.nanmean(by_row))

    def noise_of_units() -> Iterator[Array]:
        for chunk in units.chunks(n_lines):
            outside = (counts[:, chunk.rows] == 0).astype(np.float64)
            gaps = array[:, chunk.rows] - by_row[chunk.rows]
            deviations, _ = sums_outside(gaps, outside, 1, in_place=True)
            deviations *= n_lines / (n_used * np.maximum(outside.sum(axis=0), 1))
            yield chunk.sum(deviations)

    gaps = np.nan_to_num(by_row - error)
    base = np.concatenate([chunk.sum(gaps[chunk.rows]) for chunk in units.chunks(1)]) / n_used
    influence, variance = _influence_values(
        base=base,
        slope=inverse_share(units.n_units) * (centred / n_used),
        noise=noise / n_used,
        counts=counts,
        units=units,
        noise_of_units=noise_of_units(),
    )
    return standard_error_of(error, by_row, replicates, influence, variance, base, "centred")


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
    values, counts = np.asarray(scores, dtype=float), np.asarray(counts)
    lines, read = np.flatnonzero(np.isfinite(values)), columns_of(influence)
    if len(lines) < 2:
        must = "be finite in at least two resamples"
        advice = "Use more resamples, or resample within strata, so that every class is out-of-bag."
        raise fail("scores", must, repr(len(lines)), advice)
    if len(lines) < len(values):
        counts, read = counts[lines], lines_of(read, lines)
    scores, (n_lines, n_units) = values[lines], counts.shape
    mean, (size, shift, noise) = np.zeros(n_units), np.zeros((3, n_lines))

    def blocks() -> Iterator[tuple[slice, Array, Array]]:
        """Yield columns, where they are out-of-bag, and the noise of the mean of each unit."""
        for columns in column_blocks(n_lines, n_units):
            outside = (counts[:, columns] == 0).astype(np.float64)
            left_out, total = sums_outside(read(columns), outside, 0)
            times = np.maximum(outside.sum(axis=0), 1)
            mean[columns] = total / times
            left_out -= mean[columns]
            deviations, _ = sums_outside(left_out, outside, 1, in_place=True)
            deviations *= n_lines / (n_units * times)
            yield columns, outside, deviations

    for columns, outside, deviations in blocks():
        size += outside.sum(axis=1)
        shift += outside @ mean[columns]
        noise += deviations.sum(axis=1)
    check_influence(mean)
    base = (mean - mean.mean()) / n_units
    moves, variance = _influence_values(
        base=base,
        slope=scores - shift / np.maximum(size, 1),
        noise=noise,
        counts=counts,
        units=Units.of(None, n_units),
        noise_of_units=(deviations for *_, deviations in blocks()),
    )
    error = float(scores.mean())
    result = standard_error_of(error, np.empty(0), scores, moves, variance, base, "centred")
    notes = result.notes
    if len(lines) < len(values):
        n_undefined = len(values) - len(lines)
        notes += (
            f"{n_undefined} of {len(values)} resamples have no defined score and are left out.",
        )
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
            start, last = self.starts[units.start], self.starts[units.stop]
            offsets = self.starts[units] - start
            yield UnitChunk(units, self.order[start:last], offsets)


def _influence_values(
    *,
    base: Array,
    slope: Array,
    noise: Array,
    counts: Array,
    units: Units,
    noise_of_units: Iterable[Array],
) -> tuple[Array, float]:
    """Return the values D, (n_units,), and the Monte Carlo variance of the sum of their squares.

    D = base + Cov_b(N, slope). Its linearisation in the resamples has three parts: the covariance
    itself; the noise of the unit's own mean, which counts once in `base` and again (1 + 1 / (n - 1)
    times) because that mean centres `slope`; and the noise of the overall mean. `noise_of_units`
    are of the chunks of units, and are written into.
    """
    n_lines, n_units = len(slope), units.n_units
    slope = slope - slope.mean()
    share = units.sizes / units.sizes.sum() + 1 / (n_units - 1)
    values, variance = base.copy(), 0.0
    for chunk, linear in zip(units.chunks(n_lines), noise_of_units, strict=True):
        moves = chunk.first(counts[:, chunk.rows]).astype(np.float64)
        moves -= moves.mean(axis=0)
        moves *= slope[:, None]
        values[chunk.units] += moves.mean(axis=0)
        linear *= 2 + 1 / (n_units - 1)
        linear += moves
        # Of rows the share is the same, and one column stands for all.
        linear -= np.outer(noise, share[:1] if units.order is None else share[chunk.units])
        variance += sum_of_variances(linear)
    return values, variance / n_lines


def _published(
    losses: Array, weights: Array, by_row: Array, replicates: Array, means: Array
) -> OutOfBagError:
    """Efron and Tibshirani (1997), equations 35 to 43, without their loop over resamples.

    ``means`` are q_b, the mean over all rows of I_i Q_i.
    """
    n_lines, n_rows = weights.shape
    error = float(np.nanmean(by_row))
    n_used = np.count_nonzero(np.isfinite(by_row))
    factor, scale = 2 + 1 / (n_rows - 1), inverse_share(n_rows)
    raw = means - means.mean()
    base = np.nan_to_num(by_row - error) / n_used
    errors = np.zeros(n_lines)
    for columns in column_blocks(n_lines, n_rows):
        without = _errors_less_one(losses, weights, by_row, columns)
        errors += np.nan_to_num(without).sum(axis=1) / n_used
    values, internal = np.empty(n_rows), 0.0
    for columns in column_blocks(n_lines, n_rows):
        counts = weights[:, columns].astype(float)
        moves = (counts - counts.mean(axis=0)) * raw[:, None]
        covariance = moves.sum(axis=0) / (n_lines - 1)
        values[columns] = factor * base[columns] + scale * covariance
        without_run = ((n_lines - 1) * covariance - n_lines / (n_lines - 1) * moves) / (n_lines - 2)
        gaps = _errors_less_one(losses, weights, by_row, columns) - errors[:, None]
        moved = factor * np.nan_to_num(gaps) / n_used + scale * without_run
        internal += float(moved.var(axis=0).sum()) * (n_lines - 1)
    return standard_error_of(error, by_row, replicates, values, internal, base, "et97")


def _errors_less_one(losses: Array, weights: Array, by_row: Array, columns: slice) -> Array:
    """Return E_i without resample b, (n_resamples, n_columns); E_i if no other leaves i out."""
    outside = weights[:, columns] == 0
    left_out = where_outside(losses[:, columns].astype(float), outside)
    n_others = outside.sum(axis=0) - outside
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n_others > 0, (left_out.sum(axis=0) - left_out) / n_others, by_row[columns])


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
    n_resamples, notes, cautions = len(replicates), [], []
    never = int(np.count_nonzero(np.isnan(by_row)))
    if never:
        notes.append(
            f"{never} of {len(by_row)} rows were never out-of-bag and are left out of the "
            "out-of-bag error; use more resamples."
        )
    if n_resamples < FEW_RESAMPLES:
        cautions = [f"{n_resamples} resamples are too few for a stable standard error; use 200."]
        notes += cautions
    if floored:
        notes.append(
            "The standard error is floored at the spread of the per-unit errors: the part of the "
            "training sample is smaller than the Monte Carlo noise of these resamples."
        )
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
        n_resamples=n_resamples,
        notes=tuple(notes),
        cautions=tuple(cautions),
    )


# ------------------------------------------------------------------ training spread
# Variance of the error of a method between training samples, from bootstrap samples.
#
# The out-of-bag scores of two bootstrap samples differ for two reasons: their models were trained
# on other units, and they are scored on other units. `training_spread` removes the second by means
# of the influence values and gives the first in the forms that `cv_bootstrap` adds up.
# `within_fences` is applied before where the scores of single training samples may be far larger
# than the others, as those of least squares on hardly more distinct rows than there are columns.


# Interquartile range of a standard normal variable, and its density at the quartiles.
_NORMAL_IQR = 1.349
_NORMAL_DENSITY = 0.3178


@dataclass(frozen=True, eq=False)
class TrainingSpread:
    """Spread of the error between training samples, without the sampling of the out-of-bag units.

    Attributes
    ----------
    residual : ndarray of shape (n_used,)
        r_b: score less its mean and less the mean influence of the units out-of-bag; centred.
    sampling : ndarray of shape (n_used,)
        w_b: variance of r_b that is due to which units are out-of-bag, and to seeds; NaN where it
        is one unit.
    test_influence : ndarray of shape (n_units,)
        Influence values of units as those tested on.
    effect : ndarray of shape (n_units,)
        T_i = Cov_b(N_i, r_b): effect of a unit through training.
    jackknife : float
        V_IJ: infinitesimal jackknife of both effects of a unit, Monte Carlo noise removed.
    moves_effect : ndarray of shape (n_used,)
        How far a sample moves (2 / n) sum_i IF_i T_i. The Monte Carlo variance of this is that of
        these values over n_used.
    """

    residual: Array
    sampling: Array
    test_influence: Array
    effect: Array
    jackknife: float
    moves_effect: Array

    @property
    def variance(self) -> float:
        """s_T^2: variance between training samples; infinite where it is too large for a float."""
        with np.errstate(invalid="ignore", over="ignore"):
            variances = self.sampling[~np.isnan(self.sampling)]
            noise = float(np.mean(variances)) if len(variances) else 0.0
            variance = float(self.residual.var(ddof=1)) - noise
        return np.inf if np.isnan(variance) else max(variance, 0.0)

    @property
    def robust_variance(self) -> float:
        """s_rob^2: the same from the interquartile range of the residuals."""
        lower, _, upper = quartiles(self.residual)
        variances = self.sampling[~np.isnan(self.sampling)]
        noise = quartiles(variances)[1] if len(variances) else 0.0
        return max(((upper - lower) / _NORMAL_IQR) ** 2 - noise, 0.0)

    @property
    def moves_robust(self) -> Array:
        """How far a sample moves s_rob^2, (n_used,), as if residuals were normal."""
        lower, _, upper = quartiles(self.residual)
        beyond = (self.residual < lower) | (self.residual > upper)
        scale = ((upper - lower) / _NORMAL_IQR) ** 2
        return 2 * scale * (beyond - 0.5) / (_NORMAL_IQR * _NORMAL_DENSITY)


def quartiles(values: Array) -> tuple[float, float, float]:
    """First quartile, median and third quartile, linear between order statistics."""
    ordered = np.sort(values)
    at = np.array((0.25, 0.5, 0.75)) * (len(ordered) - 1)
    below = at.astype(np.intp)
    step = ordered[np.minimum(below + 1, len(ordered) - 1)] - ordered[below]
    lower, median, upper = (ordered[below] + (at - below) * step).tolist()
    return lower, median, upper


def within_fences(scores: Array) -> tuple[Array, Array]:
    """Move scores beyond the fences of a box plot to the fence.

    Parameters
    ----------
    scores : ndarray of shape (n_used,)

    Returns
    -------
    moved : ndarray of shape (n_used,)
        Fences are 1.5 interquartile ranges beyond the quartiles (linear percentiles).
    factors : ndarray of shape (n_used,)
        Share of its distance from the median that each score keeps; 1 where none was moved.
    """
    lower, median, upper = quartiles(scores)
    factors = np.ones(len(scores))
    reach = FENCE * (upper - lower)
    if not reach > 0:
        return scores, factors
    fence = np.clip(scores, lower - reach, upper + reach)
    beyond = fence != scores
    factors[beyond] = (fence[beyond] - median) / (scores[beyond] - median)
    return fence, factors


def training_spread(
    cv_influence: Array | None,
    counts: Array,
    scores: Array,
    read: Reader,
    factors: Array | None = None,
    seed_variance: float = 0.0,
) -> TrainingSpread:
    """Take the sampling of the out-of-bag units out of the out-of-bag scores.

    Parameters
    ----------
    cv_influence : ndarray of shape (n_units,) or None
        Influence values of the cross-validated error, averaged over repeats; None: the mean of each
        unit over the samples that left it out.
    counts : ndarray of shape (n_used, n_units)
        How often each unit was drawn.
    scores : ndarray of shape (n_used,)
        Finite.
    read : callable
        From a slice of columns to those columns of the influence values, (n_used, n_columns).
    factors : ndarray of shape (n_used,), optional
        Factor of the influence values of each score.
    seed_variance : float, default=0
        Variance of each score that is due to the seeds of its runs.

    Returns
    -------
    TrainingSpread
    """
    n_used, n_units = counts.shape
    mean, (size, shift, sums, squares) = np.zeros(n_units), np.zeros((4, n_used))
    # Squares of very large scores may be infinite; `TrainingSpread.variance` is infinite then.
    with np.errstate(over="ignore", invalid="ignore"):
        for columns in column_blocks(n_used, n_units):
            outside = (counts[:, columns] == 0).astype(np.float64)
            influence, total = sums_outside(read(columns), outside, 0)
            if factors is not None:
                influence *= factors[:, None]
                total = influence.sum(axis=0)
            mean[columns] = total / np.maximum(outside.sum(axis=0), 1)
            size += outside.sum(axis=1)
            shift += np.ascontiguousarray(outside) @ mean[columns]
            influence -= mean[columns]
            deviations, sums_of_lines = sums_outside(influence, outside, 1, in_place=True)
            sums += sums_of_lines
            squares += np.einsum("ij,ij->i", deviations, deviations)
        check_influence(shift)
        residual = scores - shift / np.maximum(size, 1)
        residual -= residual.mean()
        within = (squares - sums**2 / np.maximum(size, 1)) / np.maximum(size - 1, 1)
        sampling = np.where(size > 1, within / np.maximum(size, 1) + seed_variance, np.nan)
        test_influence = mean - mean.mean() if cv_influence is None else cv_influence
        effect, jackknife, moves_effect = np.empty(n_units), 0.0, np.zeros(n_used)
        for columns in column_blocks(n_used, n_units):
            of_units = test_influence[columns]
            products = counts[:, columns].astype(np.float64)
            products -= products.mean(axis=0)
            products *= residual[:, None]
            effect[columns] = products.mean(axis=0)
            moves_effect += products @ of_units
            jackknife += float(np.sum((of_units / n_units + effect[columns]) ** 2))
            jackknife -= sum_of_variances(products) / n_used
        moves_effect *= 2 / n_units
    return TrainingSpread(residual, sampling, test_influence, effect, jackknife, moves_effect)


# ------------------------------------------------------------------ selection
# Out-of-bag error of the selection of the best of several candidates, from blocks of resamples. It
# is the `out_of_bag_error` of models each of which is one of a few candidates. The losses are then
# a table of candidates and units, and two passes over the resamples give the sums that the standard
# error is made of. No array has n_resamples x n_samples elements.


Floats = NDArray[np.float64]
Blocks = Callable[[], Iterable[NDArray[np.integer]]]


# Where no resample leaves a row out there is no error: NaN.
@np.errstate(invalid="ignore", divide="ignore")
def out_of_bag_error_of_selection(
    losses: Floats,
    chosen: NDArray[np.intp],
    count_blocks: Blocks,
    *,
    sample_weight: Floats | None = None,
    unit: NDArray[np.integer] | None = None,
) -> OutOfBagError:
    """Out-of-bag error Err(1) where the fit is the selection of a candidate.

    Parameters
    ----------
    losses : ndarray of shape (n_candidates, n_samples)
        Loss of each candidate on each row.
    chosen : ndarray of shape (n_resamples,)
        Number of the candidate that each resample chose.
    count_blocks : callable
        ``count_blocks()`` yields how often each unit occurs in consecutive resamples, (n_lines,
        n_units) a block. It is called twice and must give the same both times.
    sample_weight : ndarray of shape (n_samples,), optional
        Weight of each row in all means. A whole number stands for as many copies of a row, which
        are drawn together.
    unit : ndarray of shape (n_samples,), optional
        Number of the unit of each row, where whole groups are drawn.

    Returns
    -------
    OutOfBagError
        ``by_row`` is the error of the row's unit.

    Notes
    -----
    All rows of a unit are left out together, so they enter by their sums. The terms are those of
    `out_of_bag_error`; the mean of the slopes is 0, since each unit's losses are centred over the
    resamples that leave it out, and so the second pass needs only what the first has summed.
    """
    # Sums of the weighted losses over the rows of each unit, and of the weights.
    sizes = np.ones(losses.shape[1]) if sample_weight is None else sample_weight
    sums = losses if sample_weight is None else losses * sizes
    if unit is not None:
        sums = np.array([np.bincount(unit, sizes * row) for row in losses])
        sizes = np.bincount(unit, sizes).astype(np.float64)
    n_lines, n_units = len(chosen), len(sizes)
    # Of each unit: losses, number of resamples that leave it out, number of times it was drawn; of
    # each resample: loss and number of rows.
    total, times, counts = np.zeros((3, n_units))
    raw, size = np.empty((2, n_lines))
    for at, lines in _parts(count_blocks(), n_lines):
        outside = lines == 0
        left_out = np.where(outside, sums[chosen[at]], 0.0)
        raw[at] = left_out.sum(axis=1)
        # The rounding of a matrix product would depend on the number of resamples in a part.
        size[at] = np.where(outside, sizes, 0.0).sum(axis=1)
        total += left_out.sum(axis=0)
        times += np.count_nonzero(outside, axis=0)
        counts += lines.sum(axis=0)
    means = np.divide(total, times, out=np.zeros_like(total), where=times > 0)
    counts /= n_lines
    n_used = float(sizes[times > 0].sum())
    error = float(means.sum() / n_used)
    base = np.where(times > 0, means - sizes * error, 0.0) / n_used
    weight = n_lines / (n_used * np.maximum(times, 1))
    share = sizes / sizes.sum() + 1 / (n_units - 1)
    moved, linear_sum, square_sum = np.zeros((3, n_units))
    for at, lines in _parts(count_blocks(), n_lines):
        deviations = np.where(lines == 0, sums[chosen[at]] - means, 0.0)
        slope = inverse_share(n_units) * deviations.sum(axis=1) / n_used
        linear = (lines - counts) * slope[:, None]
        moved += linear.sum(axis=0)
        deviations *= weight
        linear -= np.outer(deviations.sum(axis=1), share)
        deviations *= 2 + 1 / (n_units - 1)
        linear += deviations
        linear_sum += linear.sum(axis=0)
        square_sum += np.einsum("ij,ij->j", linear, linear)
    noise = float(np.sum(square_sum - linear_sum**2 / n_lines)) / (n_lines - 1) / n_lines
    influence = base + moved / n_lines
    # The loss of a unit without weight is 0; that of a unit that was never left out is undefined.
    by_unit = np.where(times > 0, 0.0, np.nan)
    np.divide(means, sizes, out=by_unit, where=(times > 0) & (sizes > 0))
    by_row = by_unit if unit is None else by_unit[unit]
    return standard_error_of(error, by_row, raw / size, influence, noise, base, "centred")


def _parts(
    blocks: Iterable[NDArray[np.integer]], n_lines: int
) -> Iterator[tuple[slice, NDArray[np.integer]]]:
    """Yield which resamples come next, and the counts of a few of them at a time."""
    start = 0
    for block in blocks:
        step = max(1, COUNTS_AT_ONCE // block.shape[1])
        # The last block may hold more resamples than were chosen for.
        for first_line in range(0, min(len(block), n_lines - start), step):
            lines = block[first_line : min(first_line + step, n_lines - start)]
            yield slice(start + first_line, start + first_line + len(lines)), lines
        start += len(block)


# ------------------------------------------------------------------ no-information rates
# The error if labels were independent of predictions.
#
# `no_information_squared` and `no_information_absolute` are means over all pairs of a target and a
# prediction, in closed form. `NO_INFORMATION_SCORE` holds scores that are the same whatever the
# predictions are.


NO_INFORMATION_SCORE = {"roc_auc": 0.5, "matthews_corrcoef": 0.0, "cohen_kappa": 0.0}
"""Scores of predictions permuted over many rows, whatever the predictions are."""


def no_information_squared(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Mean squared error over all pairs of a target and a prediction, in O(n).

    Divided by the variance of `y_true` it is the no-information rate of 1 - R2.
    """
    y, f = np.asarray(y_true, dtype=float), np.asarray(y_pred, dtype=float)
    weight = _shares(len(y), sample_weight)
    mean_y, mean_f = weight @ y, weight @ f
    # As variances, not mean(y^2) - 2 mean(y) mean(f) + mean(f^2): no cancellation far from zero.
    return float(weight @ (y - mean_y) ** 2 + weight @ (f - mean_f) ** 2 + (mean_y - mean_f) ** 2)


def no_information_absolute(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Mean absolute error over all pairs of a target and a prediction, in O(n log n)."""
    y, f = np.asarray(y_true, dtype=float), np.asarray(y_pred, dtype=float)
    weight = _shares(len(y), sample_weight)
    order = np.argsort(f)
    mass = np.concatenate([[0.0], np.cumsum(weight[order])])
    moment = np.concatenate([[0.0], np.cumsum((weight * f)[order])])
    at = np.searchsorted(f[order], y)
    per_row = y * (2 * mass[at] - mass[-1]) - (2 * moment[at] - moment[-1])
    return float(weight @ per_row)


def _shares(n_rows: int, sample_weight: ArrayLike | None) -> Array:
    if sample_weight is None:
        return np.full(n_rows, 1 / n_rows)
    weight = np.asarray(sample_weight, dtype=float)
    return weight / weight.sum()
