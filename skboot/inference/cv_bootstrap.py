"""The "cv-bootstrap" interval for a method: centre from cross-validation, spread from bootstrap
training samples.

Use it when there is one data set and no test set. Repeated cross-validation estimates the error of
the method at (almost) this sample size; bootstrap training samples show how much that error moves
with the training data, which cross-validation cannot. Everything here is a pure function of arrays
in which smaller is better: 0/1 losses, squared errors, 1 - AUC, 1 - R2. Units are rows, or whole
groups of rows.

An *influence value* is the first-order effect of one unit on a metric, scaled so that the metric's
sampling variance is about ``influence.var() / n``. The ``*_influence`` functions give it for the
usual metrics, both for out-of-fold predictions (all rows) and for one resample's out-of-bag rows.
For any other metric use the jackknife: ``(m - 1) * (metric - metric_without_unit)`` over the m
units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtri, stdtrit

from .intervals import score_limits

Array = NDArray[Any]
Reader = Callable[[slice], Array]
Bounds = tuple[float, float]

BLOCK_SIZE = 1 << 18
"""Elements of a block of columns held at once: 2 MB, so only the inputs are large."""

HEAVY_TAIL_SHARE = 0.5
"""Share of the squared influence that one unit may carry before losses are called heavy-tailed.

Squared errors of 80 rows pass it in 4 % of samples with normal errors, 54 % with t3 errors.
"""


class _Limits(NamedTuple):
    low: float
    high: float


class ErrorInterval(_Limits):
    """Limits of an interval, `low, high`, with its confidence level, its method and what to know
    about it.

    It unpacks and compares as the pair `(low, high)`; `confidence_level`, `method` and `notes` (a
    tuple of sentences) are attributes.
    """

    confidence_level: float
    method: str
    notes: tuple[str, ...]

    def __new__(
        cls,
        low: float,
        high: float,
        confidence_level: float = 0.95,
        method: str = "",
        notes: tuple[str, ...] = (),
    ) -> ErrorInterval:
        """Hold the pair and what is known of it."""
        self = super().__new__(cls, float(low), float(high))
        self.confidence_level = confidence_level
        self.method = method
        self.notes = notes
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.low, self.high, self.confidence_level, self.method, self.notes)

    def __repr__(self) -> str:
        return (
            f"ErrorInterval(low={self.low:.6g}, high={self.high:.6g}, "
            f"confidence_level={self.confidence_level:g}, method={self.method!r})"
        )


@dataclass(frozen=True, eq=False)
class CVBootstrap:
    """Centre, standard error and interval of the "cv-bootstrap" strategy; made by `cv_bootstrap`.

    Attributes
    ----------
    centre : float
        Cross-validated error.
    standard_error : float
        Square root of the largest of `variance_jackknife`, `variance_cv_averaged` and
        `variance_cv + variance_training`.
    variance_cv : float
        Test-sampling variance of one cross-validation, averaged over repeats.
    variance_cv_averaged : float
        The same from influence values averaged over repeats first.
    variance_training : float
        Variance between training samples, the sampling of the out-of-bag rows removed.
    variance_jackknife : float
        Infinitesimal jackknife of both together, Monte Carlo noise removed; NaN when left out.
    bounds : tuple of float
        Smallest and largest possible value of the metric; infinite where there is none.
    n_units, n_rows, n_effective, n_resamples, n_repeats : int
        Units drawn, rows, the number that decides the degrees of freedom (n_effective - 1) and the
        clip of the logit scale (the smaller class for AUC and balanced error), resamples used,
        repeats.
    guard : {None, "proportion", "balanced"}
        Score-type interval that the interval always contains.
    class_errors, class_sizes : ndarray of shape (n_classes,)
        Error rates and row counts of the classes for the "balanced" guard; empty otherwise.
    notes : tuple of str
    """

    centre: float
    standard_error: float
    variance_cv: float
    variance_cv_averaged: float
    variance_training: float
    variance_jackknife: float
    bounds: Bounds
    n_units: int
    n_rows: int
    n_effective: int
    n_resamples: int
    n_repeats: int
    guard: str | None
    class_errors: Array
    class_sizes: Array
    notes: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        return same_values(self, other)

    def interval(self, confidence_level: float = 0.95) -> ErrorInterval:
        """Interval for the expected error of the method at this sample size.

        A t interval on the logit scale (two finite bounds), the log scale (one) or as it is (none),
        widened to contain the guard. With no variation at all it is the exact interval for no
        event.
        """
        tail = (1 - confidence_level) / 2
        if self._has_no_spread():
            low, high, notes = self._limits_without_spread(tail)
            return ErrorInterval(low, high, confidence_level, "cv-bootstrap", self.notes + notes)
        quantile = float(stdtrit(self.n_effective - 1, 1 - tail))
        low, high = limits_on_scale(
            self.centre, self.standard_error, quantile, self.bounds, self.n_effective
        )
        guard = self._guard_limits(float(ndtri(1 - tail)))
        if guard is not None:
            low, high = min(low, guard[0]), max(high, guard[1])
        return ErrorInterval(low, high, confidence_level, "cv-bootstrap", self.notes)

    def _has_no_spread(self) -> bool:
        return self.standard_error <= 1e-12 * abs(self.centre)

    def _limits_without_spread(self, tail: float) -> tuple[float, float, tuple[str, ...]]:
        lo, hi = self.bounds
        if not (np.isfinite(lo) and np.isfinite(hi)):
            note = "No variation between rows or training samples: the interval has no width."
            return self.centre, self.centre, (note,)
        n = min(self.n_units, self.n_effective)
        exact = 1 - tail ** (1 / n)
        note = f"No variation between rows or training samples: limits from {n} independent units."
        if self.centre <= lo:
            return lo, lo + (hi - lo) * exact, (note,)
        if self.centre >= hi:
            return hi - (hi - lo) * exact, hi, (note,)
        # A constant prediction has balanced error 1/2 without spread: not an interval for no event.
        low, high = score_limits((self.centre - lo) / (hi - lo), n, float(ndtri(1 - tail)))
        return lo + (hi - lo) * low, lo + (hi - lo) * high, (note,)

    def _guard_limits(self, z: float) -> tuple[float, float] | None:
        lo, hi = self.bounds
        if self.guard == "proportion":
            share = (self.centre - lo) / (hi - lo)
            spread = self.variance_cv / (hi - lo) ** 2
            n = share * (1 - share) / spread if spread > 0 else self.n_units
            low, high = score_limits(share, min(max(n, self.n_units), self.n_rows), z)
            return lo + (hi - lo) * low, lo + (hi - lo) * high
        if self.guard == "balanced":
            low, high = mover_limits(self.class_errors, self.class_sizes, z)
            return lo + (hi - lo) * low, lo + (hi - lo) * high
        return None


def cv_bootstrap(
    centre: float,
    cv_influence: ArrayLike,
    counts: ArrayLike,
    oob_scores: ArrayLike,
    oob_influence: ArrayLike | Reader,
    *,
    bounds: Bounds = (0.0, 1.0),
    n_rows: int | None = None,
    n_effective: int | None = None,
    guard: str | None = None,
    class_errors: ArrayLike = (),
    class_sizes: ArrayLike = (),
) -> CVBootstrap:
    """Standard error of a cross-validated error from bootstrap training samples.

    Parameters
    ----------
    centre : float
        The cross-validated error c: mean over all folds and repeats of the fold's metric.
    cv_influence : array-like of shape (n_repeats, n_units)
        Influence values of the out-of-fold metric, per repeat.
    counts : array-like of shape (n_resamples, n_units)
        How often each unit was drawn into training sample b.
    oob_scores : array-like of shape (n_resamples,)
        Metric of model b on its out-of-bag rows; NaN where undefined (such resamples are left out).
    oob_influence : array-like of shape (n_resamples, n_units), or callable
        Influence values of that metric over the out-of-bag units; in-bag entries are ignored. A
        callable is given a slice of columns and returns those columns, so that the array never
        exists as a whole.
    bounds : tuple of float
        Smallest and largest possible value of the metric, infinite where there is none.
    n_rows : int, optional
        Rows behind the units; `n_units` by default.
    n_effective : int, optional
        Number behind the degrees of freedom and the clip; `n_units` by default. The smaller class
        for AUC and balanced error.
    guard : {None, "proportion", "balanced"}
        "proportion" for the mean of 0/1 losses: never inside Wilson's. "balanced" for the mean of
        class error rates: never inside the MOVER-Wilson interval of `class_errors` and
        `class_sizes`.
    class_errors, class_sizes : array-like of shape (n_classes,)

    Returns
    -------
    CVBootstrap

    Notes
    -----
    With r_b the out-of-bag score less its mean and less the mean influence of the units that
    happened to be out-of-bag, T_i = Cov_b(N_i, r_b) is the effect of unit i through training. The
    variance is the largest of the infinitesimal jackknife sum_i (IF_i / n + T_i)^2 less its Monte
    Carlo noise, the test-sampling variance, and test-sampling plus training variance. The
    infinitesimal jackknife of bagged quantities is from Efron (2014, JASA 109:991), its Monte Carlo
    noise from Wager, Hastie and Efron (2014, JMLR 15:1625). The infinitesimal jackknife needs about
    8 sqrt(n_units) resamples and is left out below 4 sqrt(n_units).

    In a pre-registered simulation of 56 cells the 95 % interval covered 94.1 to 100 % with 200
    resamples and 100 fits of cross-validation. It is wide (98 to 99.5) for smooth learners, and
    covered 88 % for squared losses with heavy tails.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot.inference.cv_bootstrap import cv_bootstrap
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.multinomial(40, np.full(40, 1 / 40), size=100)
    >>> losses = (rng.random((100, 40)) < 0.25).astype(float)
    >>> outside = np.where(counts == 0, losses, np.nan)
    >>> scores = np.nanmean(outside, axis=1)
    >>> cv_losses = (rng.random((5, 40)) < 0.25).astype(float)
    >>> result = cv_bootstrap(
    ...     cv_losses.mean(), cv_losses - cv_losses.mean(axis=1, keepdims=True),
    ...     counts, scores, outside - scores[:, None], guard="proportion")
    >>> low, high = result.interval(0.95)
    >>> bool(low < cv_losses.mean() < high)
    True
    """
    cv = np.atleast_2d(np.asarray(cv_influence, dtype=float))
    scores = np.asarray(oob_scores, dtype=float)
    counts = np.asarray(counts)
    n_units = counts.shape[1]
    lines = np.flatnonzero(np.isfinite(scores))
    read = columns_of(oob_influence)
    residual, training = _training_residual(counts, scores, read, lines)
    variances = {
        "variance_cv": float(cv.var(axis=1, ddof=1).mean() / n_units),
        "variance_cv_averaged": float(cv.mean(axis=0).var(ddof=1) / n_units),
        "variance_training": training,
        "variance_jackknife": _jackknife_variance(cv.mean(axis=0), counts, residual, lines),
    }
    return CVBootstrap(
        centre=float(centre),
        standard_error=_standard_error(**variances),
        **variances,
        bounds=(float(bounds[0]), float(bounds[1])),
        n_units=n_units,
        n_rows=n_units if n_rows is None else int(n_rows),
        n_effective=n_units if n_effective is None else int(n_effective),
        n_resamples=len(lines),
        n_repeats=len(cv),
        guard=guard,
        class_errors=read_only(np.asarray(class_errors, dtype=float)),
        class_sizes=read_only(np.asarray(class_sizes, dtype=float)),
        notes=_notes(cv, len(lines), len(scores), bounds),
    )


def mean_influence(losses: ArrayLike) -> tuple[float, Array]:
    """Mean loss and its influence values: ``losses - mean``. Shape (n,) to (n,)."""
    values = np.asarray(losses, dtype=float)
    value = float(values.mean())
    return value, values - value


def balanced_error_influence(losses: ArrayLike, y_true: ArrayLike) -> tuple[float, Array]:
    """Mean over classes of the class's mean loss, and its influence values.

    Parameters
    ----------
    losses : array-like of shape (n,)
    y_true : array-like of shape (n,)
        Class of each row; classes without rows do not count.

    Returns
    -------
    value : float
    influence : ndarray of shape (n,)
        ``n / (K n_k) * (loss - mean loss of class k)``.
    """
    values = np.asarray(losses, dtype=float)
    classes, codes, sizes = np.unique(np.asarray(y_true), return_inverse=True, return_counts=True)
    means = np.bincount(codes, weights=values) / sizes
    scale = len(values) / (len(classes) * sizes)
    return float(means.mean()), scale[codes] * (values - means[codes])


def auc_error_influence(positive: ArrayLike, y_score: ArrayLike) -> tuple[float, Array]:
    """1 - AUC and its influence values, in O(n log n); NaN when a class is absent.

    Parameters
    ----------
    positive : array-like of shape (n,)
        True for the rows of the positive class.
    y_score : array-like of shape (n,)

    Returns
    -------
    value : float
    influence : ndarray of shape (n,)
        Minus the placement values of DeLong, DeLong and Clarke-Pearson (1988, Biometrics 44:837),
        less the AUC, times n / n_class.
    """
    is_positive = np.asarray(positive, dtype=bool)
    scores = np.asarray(y_score, dtype=float)
    high, low = np.sort(scores[is_positive]), np.sort(scores[~is_positive])
    if len(high) == 0 or len(low) == 0:
        return float("nan"), np.full(len(scores), np.nan)
    placement = np.empty(len(scores))
    placement[is_positive] = _share_below(low, scores[is_positive])
    placement[~is_positive] = 1 - _share_below(high, scores[~is_positive])
    auc = float(placement[is_positive].mean())
    class_size = np.where(is_positive, len(high), len(low))
    return 1 - auc, -(placement - auc) * len(scores) / class_size


def unexplained_variance_influence(
    squared_errors: ArrayLike, y_true: ArrayLike
) -> tuple[float, Array]:
    """1 - R2 and its influence values.

    Parameters
    ----------
    squared_errors : array-like of shape (n,)
    y_true : array-like of shape (n,)

    Returns
    -------
    value : float
        Mean squared error over the variance of `y_true` (denominator n); NaN when `y_true` is
        constant.
    influence : ndarray of shape (n,)
        ``((loss - mean loss) - value * (deviation - variance)) / variance`` (delta method of a
        ratio).
    """
    losses = np.asarray(squared_errors, dtype=float)
    targets = np.asarray(y_true, dtype=float)
    deviation = (targets - targets.mean()) ** 2
    variance = float(deviation.mean())
    if variance == 0:
        return float("nan"), np.full(len(losses), np.nan)
    value = float(losses.mean()) / variance
    return value, ((losses - losses.mean()) - value * (deviation - variance)) / variance


def group_influence(influence: ArrayLike, codes: ArrayLike, n_groups: int) -> Array:
    """Influence values of whole groups from those of their rows.

    Parameters
    ----------
    influence : array-like of shape (..., n_rows)
        Row influences; for an out-of-bag set, give only its rows.
    codes : array-like of shape (n_rows,)
        Group number, 0 to n_groups - 1, of each row.
    n_groups : int

    Returns
    -------
    ndarray of shape (..., n_groups)
        Sum over the group's rows times (groups present) / n_rows; 0 for a group without rows. First
        order only: for rank metrics with few groups, leave one group out instead.
    """
    values = np.asarray(influence, dtype=float)
    groups = np.asarray(codes)
    flat = values.reshape(-1, values.shape[-1])
    sums = np.stack([np.bincount(groups, weights=line, minlength=n_groups) for line in flat])
    present = np.count_nonzero(np.bincount(groups, minlength=n_groups))
    return (sums * (present / values.shape[-1])).reshape(*values.shape[:-1], n_groups)


def limits_on_scale(
    point: float, standard_error: float, quantile: float, bounds: Bounds, n_effective: int
) -> tuple[float, float]:
    """`point` -/+ `quantile` standard errors on the scale that the bounds of the metric ask for.

    Two finite bounds: logit of the position between them, clipped to [.5 / n, 1 - .5 / n]; a
    clipped point takes its bound as limit. One finite bound: log of the distance to it. None: as it
    is.
    """
    lo, hi = bounds
    half = quantile * standard_error
    if np.isfinite(lo) and np.isfinite(hi):
        span, edge = hi - lo, 0.5 / n_effective
        share = (point - lo) / span
        clipped = min(max(share, edge), 1 - edge)
        step = half / span / (clipped * (1 - clipped))
        low = 0.0 if share <= edge else float(expit(logit(clipped) - step))
        high = 1.0 if share >= 1 - edge else float(expit(logit(clipped) + step))
        return lo + span * low, lo + span * high
    if np.isfinite(lo):
        return _log_limits(point - lo, half, lo)
    if np.isfinite(hi):
        nearest, farthest = _log_limits(hi - point, half, 0.0)
        return hi - farthest, hi - nearest
    return point - half, point + half


def mover_limits(rates: Array, sizes: Array, quantile: float) -> tuple[float, float]:
    """Interval for the mean of independent proportions from their Wilson limits.

    Method of variance estimates recovery (Newcombe 1998, Stat. Med. 17:873; Zou and Donner 2008,
    Stat. Med. 27:1693). `rates` and `sizes` have shape (n_classes,).
    """
    limits = np.array([score_limits(p, n, quantile) for p, n in zip(rates, sizes, strict=True)])
    centre = float(np.mean(rates))
    below = np.sqrt(np.sum((rates - limits[:, 0]) ** 2)) / len(rates)
    above = np.sqrt(np.sum((limits[:, 1] - rates) ** 2)) / len(rates)
    return max(centre - float(below), 0.0), min(centre + float(above), 1.0)


def column_blocks(n_lines: int, n_columns: int) -> Iterator[slice]:
    """Slices of consecutive columns, about `BLOCK_SIZE` elements of `n_lines` lines each."""
    width = max(1, BLOCK_SIZE // max(n_lines, 1))
    for start in range(0, n_columns, width):
        yield slice(start, min(start + width, n_columns))


def columns_of(values: ArrayLike | Reader) -> Reader:
    """A function of a slice of columns, from such a function or an array."""
    if callable(values):
        return values
    array = np.asarray(values)
    return lambda columns: array[:, columns]


def where_outside(values: Array, outside: Array) -> Array:
    """Values where `outside` holds and 0 elsewhere, whatever stands there."""
    # A product is ten times as fast as a choice at random places, but keeps NaN.
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.multiply(values, outside, dtype=float)
        return found if np.isfinite(found.sum()) else np.where(outside, values, 0.0)


def sum_of_variances(values: Array) -> float:
    """Sum over columns of the variance (denominator n - 1) within each; values are moved there."""
    values -= values.mean(axis=0)
    return float(np.vdot(values, values)) / (len(values) - 1)


def check_influence(sums: Array) -> None:
    """Refuse influence values that are not finite where they count."""
    if not np.isfinite(sums).all():
        raise ValueError(
            "Influence values must be finite for out-of-bag units wherever the score is finite. "
            "Got NaN or infinity. Set the score of that resample to NaN to leave it out."
        )


def read_only(values: Array) -> Array:
    """The same values in an array nobody can write to."""
    frozen = np.array(values)
    frozen.setflags(write=False)
    return frozen


def same_values(first: Any, second: Any) -> bool:
    """Whether two dataclass values hold equal fields; arrays by element, NaN equal to NaN."""
    if type(first) is not type(second):
        return False
    pairs = ((getattr(first, f.name), getattr(second, f.name)) for f in fields(first))
    return all(_equal(a, b) for a, b in pairs)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray | float) and isinstance(b, np.ndarray | float):
        return bool(np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True))
    return bool(a == b)


def _training_residual(
    counts: Array, scores: Array, read: Reader, lines: Array
) -> tuple[Array, float]:
    """r_b, shape (n_used,), centred, and the between-training-samples variance s_T^2."""
    n_used = len(lines)
    size, shift, first, second = np.zeros((4, n_used))
    for columns in column_blocks(len(counts), counts.shape[1]):
        outside = counts[lines, columns] == 0
        influence = where_outside(read(columns)[lines], outside)
        mean = influence.sum(axis=0) / np.maximum(outside.sum(axis=0), 1)
        size += outside.sum(axis=1)
        shift += outside @ mean
        own = where_outside(influence - mean, outside)
        first += own.sum(axis=1)
        second += np.einsum("ij,ij->i", own, own)
    check_influence(shift)
    residual = scores[lines] - shift / np.maximum(size, 1)
    residual -= residual.mean()
    enough = size > 1
    within = (second[enough] - first[enough] ** 2 / size[enough]) / (size[enough] - 1)
    sampling = float(np.mean(within / size[enough])) if enough.any() else 0.0
    return residual, max(float(residual.var(ddof=1)) - sampling, 0.0)


def _jackknife_variance(influence: Array, counts: Array, residual: Array, lines: Array) -> float:
    """V_IJ, Monte Carlo noise removed; NaN with fewer than 4 sqrt(n_units) resamples."""
    n_used, n_units = len(lines), counts.shape[1]
    if n_used < 4 * np.sqrt(n_units):
        return float("nan")
    total = 0.0
    for columns in column_blocks(len(counts), n_units):
        products = counts[lines, columns].astype(float)
        products -= products.mean(axis=0)
        products *= residual[:, None]
        total += float(np.sum((influence[columns] / n_units + products.mean(axis=0)) ** 2))
        total -= sum_of_variances(products) / n_used
    return total


def _standard_error(
    *,
    variance_cv: float,
    variance_cv_averaged: float,
    variance_training: float,
    variance_jackknife: float,
) -> float:
    candidates = [variance_cv_averaged, variance_cv + variance_training]
    if np.isfinite(variance_jackknife):
        candidates.append(variance_jackknife)
    return float(np.sqrt(max(candidates)))


def _notes(cv: Array, n_used: int, n_given: int, bounds: Bounds) -> tuple[str, ...]:
    notes = []
    n_units = cv.shape[1]
    if n_used < n_given:
        notes.append(
            f"{n_given - n_used} of {n_given} resamples have no defined out-of-bag score and are "
            "left out."
        )
    needed = int(np.ceil(4 * np.sqrt(n_units)))
    if n_used < needed:
        notes.append(
            f"{n_used} resamples are too few for the infinitesimal jackknife on {n_units} units, "
            f"which is left out; draw at least {needed}, better {2 * needed}."
        )
    squares = cv.mean(axis=0) ** 2
    unbounded = not (np.isfinite(bounds[0]) and np.isfinite(bounds[1]))
    if unbounded and squares.max() > HEAVY_TAIL_SHARE * squares.sum() > 0:
        notes.append(
            "One unit carries more than half of the variance: the losses are heavy-tailed, and the "
            "interval may cover less than it says (88 % was measured at 95 %)."
        )
    return tuple(notes)


def _share_below(sorted_values: Array, queries: Array) -> Array:
    """Share of `sorted_values` below each query, ties half."""
    left = np.searchsorted(sorted_values, queries, side="left")
    right = np.searchsorted(sorted_values, queries, side="right")
    return (left + right) / (2 * len(sorted_values))


def _log_limits(distance: float, half: float, bound: float) -> tuple[float, float]:
    if distance <= 0:
        return bound, bound + half
    with np.errstate(over="ignore"):
        factor = float(np.exp(half / distance))
    return bound + distance / factor, bound + distance * factor
