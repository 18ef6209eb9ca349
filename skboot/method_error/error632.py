"""Error of a method from bootstrap training samples: out-of-bag, .632, .632+, their intervals.

`prediction_error` takes the losses of all models on all rows, from any framework. `error632` takes
an `OutOfBagError`, of any metric, and the no-information rate.

Errors are in loss direction everywhere: smaller is better. Minus a score will do, or 1 minus it:
the answers are the same. Resubstitution is the error of the model of *all* rows on all rows.
Nothing is larger than the inputs, which are (n_resamples, n_samples).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from .._checks import check_confidence_level, check_groups, check_size, converted
from ..inference.intervals import score_limits
from ._columns import Array, Reader, columns_of, same_values
from .cv_bootstrap import (
    CV_INTERVALS,
    Bounds,
    CVBootstrap,
    ErrorInterval,
    cv_bootstrap,
    limits_on_scale,
)
from .out_of_bag import OutOfBagError, UnitChunk, Units, additive_error, bad_argument

NEAR_PERFECT = 0.25
"""Resubstitution under this share of the out-of-bag error: .632 and .632+ are optimistic."""


_POINTS = {"oob": "oob", ".632": "point632", ".632+": "point632_plus"}


_METHODS = ("adjusted", "hull", *CV_INTERVALS, "t", "percentile")


_REPLICATE_NOTES = {
    "t": (
        "Mean -/+ t standard deviations of the out-of-bag scores of single resamples: measured to "
        "cover the method's error in 98.2 to 100 % at 95 % (trees and logistic regression, 40 to "
        "1000 rows); too wide."
    ),
    "percentile": (
        "Percentiles of the out-of-bag scores of single resamples: measured to cover the method's "
        "error in 97.5 to 100 % at 95 % (trees and logistic regression, 40 to 1000 rows), 87 to "
        "100 % on other designs."
    ),
}


def prediction_error(
    losses: ArrayLike,
    weights: ArrayLike,
    *,
    resubstitution_losses: ArrayLike,
    no_information_rate: float,
    groups: ArrayLike | None = None,
    bounds: Bounds = (0, 1),
    clipping: str = "full",
    form: str = "centred",
    cv_losses: ArrayLike | None = None,
) -> PredictionError:
    """Out-of-bag, .632 and .632+ error of a method, for models trained anywhere.

    Parameters
    ----------
    losses : array-like of shape (n_resamples, n_samples)
        Loss of model b on every row. Entries of rows that model b was trained on are not used and
        may be NaN.
    weights : array-like of shape (n_resamples, n_samples)
        How often each row was in training sample b: the counts of a bootstrap of all rows, or of
        all groups.
    resubstitution_losses : array-like of shape (n_samples,)
        Loss, on every row, of the model trained on all rows.
    no_information_rate : float
        Mean loss if labels were independent of predictions: over all pairs of a label and a
        prediction of the model trained on all rows.
    groups : array-like of shape (n_samples,), optional
        Groups that were drawn as wholes.
    bounds : tuple of float, default=(0, 1)
        Smallest and largest possible loss; infinite (or None) where there is none. They choose the
        scale of the interval: logit, log, or none.
    clipping : {"full", "literal"}, default="full"
        "full" replaces an out-of-bag error above the no-information rate by that rate, throughout
        .632+; "literal" does so only in the last term, as R's ipred does, and can pass the rate.
    form : {"centred", "et97"}, default="centred"
        Standard error with losses centred per row, or as published; equal for infinitely many
        resamples, but the first has far less Monte Carlo noise. "et97" is defined for rows only.
    cv_losses : array-like of shape (n_repeats, n_samples), optional
        Out-of-fold losses of repeated cross-validation (10 folds; whole groups, if groups were
        drawn); they make the "cv-bootstrap" intervals available.

    Returns
    -------
    PredictionError
        The point estimates, their standard error, and intervals by its `interval` method.

    Notes
    -----
    Efron (1983, JASA 78:316) for Err(1) and .632; Efron and Tibshirani (1997, JASA 92:548) for
    .632+ and the standard error (section 5, equations 35 to 43). The standard error of the .632 and
    .632+ points is that of the out-of-bag error, unscaled: their ratio as a factor covers less.

    With samples drawn within strata, weights are read as if drawn from all rows: the standard error
    then leaves out what the number of rows per stratum adds through training.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot.inference import prediction_error
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=60)
    >>> x = y + rng.normal(size=60)
    >>> def predict(rows):
    ...     middle = (x[rows][y[rows] == 0].mean() + x[rows][y[rows] == 1].mean()) / 2
    ...     return (x > middle).astype(int)
    >>> samples = rng.integers(60, size=(200, 60))
    >>> full = predict(np.arange(60))
    >>> result = prediction_error(
    ...     [predict(rows) != y for rows in samples],
    ...     [np.bincount(rows, minlength=60) for rows in samples],
    ...     resubstitution_losses=full != y,
    ...     no_information_rate=np.mean(y[:, None] != full))
    >>> low, high = result.interval()
    >>> bool(low < result.point632_plus < high)
    True
    """
    limits = _validated_bounds(bounds)
    _check_choice("clipping", clipping, ("full", "literal"))
    _check_choice("form", form, ("centred", "et97"))
    if form == "et97" and groups is not None:
        raise bad_argument("form", "'centred' with groups", form, "Leave form at its default.")
    data = _validated(
        losses, weights, resubstitution_losses, no_information_rate, groups, limits, form
    )
    out_of_bag = additive_error(data.losses, data.weights, data.units, form)
    cv = None
    if cv_losses is not None:
        out_of_fold = _validated_cv_losses(cv_losses, data.losses.shape[1], limits)
        cv = _additive_cv_bootstrap(data, out_of_fold, out_of_bag, limits)
    return error632(
        out_of_bag,
        resubstitution=float(data.resubstitution.mean()),
        no_information_rate=float(no_information_rate),
        bounds=limits,
        clipping=clipping,
        cv=cv,
    )


@dataclass(frozen=True, eq=False)
class PredictionError:
    """Error of a method at this sample size; made by `prediction_error` or `error632`.

    Attributes
    ----------
    resubstitution : float
        Error of the model of all rows on all rows.
    oob : float
        Out-of-bag error Err(1): averaged per row over the models not trained on it, then over rows.
    no_information_rate : float
    relative_overfitting_rate : float
        R of .632+, as clipped.
    weight : float
        w = .632 / (1 - .368 R).
    point632, point632_plus : float
    standard_error : float
        Of the out-of-bag error, Monte Carlo noise removed.
    standard_error_unadjusted : float
        The same with the Monte Carlo noise of finitely many resamples left in.
    bounds : tuple of float
        Smallest and largest possible error; infinite where there is none.
    clipping : {"full", "literal"}
    n_effective : int
        Degrees of freedom plus one: rows, groups, or the smaller class of a rank metric.
    out_of_bag : OutOfBagError
        Per-row errors, out-of-bag scores per resample, influence values.
    cv : CVBootstrap or None
        What the "cv-bootstrap" interval is made of.
    notes : tuple of str
        What to know before these numbers are used.

    Examples
    --------
    A model that is right on every row it was trained on, and wrong on a fifth of the others:

    >>> import numpy as np
    >>> from skboot.inference import prediction_error
    >>> rng = np.random.default_rng(0)
    >>> weights = rng.multinomial(50, np.full(50, 1 / 50), size=200)
    >>> losses = np.where(weights > 0, 0.0, np.arange(50) < 10)
    >>> error = prediction_error(
    ...     losses, weights, resubstitution_losses=np.zeros(50), no_information_rate=0.5)
    >>> float(round(error.oob, 3)), float(round(error.point632, 3))
    (0.2, 0.126)
    """

    resubstitution: float
    oob: float
    no_information_rate: float
    relative_overfitting_rate: float
    weight: float
    point632: float
    point632_plus: float
    standard_error: float
    standard_error_unadjusted: float
    bounds: Bounds
    clipping: str
    n_effective: int
    out_of_bag: OutOfBagError
    cv: CVBootstrap | None
    notes: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        return same_values(self, other)

    def interval(
        self, method: str = "adjusted", confidence_level: float = 0.95, *, point: str = ".632+"
    ) -> ErrorInterval:
        """Interval for the expected error of the method at this sample size.

        Parameters
        ----------
        method : {"adjusted", "hull", "cv-bootstrap", "cv-bootstrap-conservative", "t", \
"percentile"}
            "adjusted": `point` -/+ t standard errors, on the scale of the bounds, never inside
            Wilson's interval where the point is within half an error of a bound. "hull": from the
            lower limit of the smaller to the upper limit of the larger of the out-of-bag and .632+
            errors. "cv-bootstrap" and its wider form "cv-bootstrap-conservative": need
            cross-validation losses. "t" and "percentile": of the out-of-bag scores of single
            resamples.
        confidence_level : float
            In (0, 1).
        point : {".632+", ".632", "oob"}
            The point of "adjusted"; not used by the others.

        Returns
        -------
        ErrorInterval
            The pair (low, high) with `confidence_level`, `method` and `notes`.
        """
        where = "PredictionError.interval"
        _check_choice("method", method, _METHODS, where)
        _check_choice("point", point, tuple(_POINTS), where)
        confidence_level = check_confidence_level(confidence_level, where)
        if method in CV_INTERVALS:
            if self.cv is None:
                do = "Give cv_losses to prediction_error, or use 'adjusted' or 'hull'."
                raise bad_argument("method", "one that the data allow", method, do, where)
            return self.cv.interval(confidence_level, method)
        if method in _REPLICATE_NOTES:
            return self._replicate_limits(method, confidence_level)
        value = getattr(self, _POINTS[point])
        points = (value, value) if method == "adjusted" else (self.oob, self.point632_plus)
        return self._limits(min(points), max(points), method, confidence_level)

    def _limits(
        self, smaller: float, larger: float, method: str, confidence_level: float
    ) -> ErrorInterval:
        quantile = float(stdtrit(self.n_effective - 1, (1 + confidence_level) / 2))
        scale = (self.standard_error, quantile, self.bounds, self.n_effective)
        low = limits_on_scale(smaller, *scale)[0]
        high = limits_on_scale(larger, *scale)[1]
        notes = self.notes
        lo, hi = self.bounds
        if np.isfinite(lo) and np.isfinite(hi):
            edge = 0.5 / self.n_effective
            for value in {smaller, larger}:
                share = (value - lo) / (hi - lo)
                # No spread, or under half an error: the standard error knows nothing of the rate.
                if self.standard_error == 0 or share <= edge or share >= 1 - edge:
                    guard = score_limits(min(max(share, 0), 1), self.n_effective, quantile)
                    low = min(low, lo + (hi - lo) * guard[0])
                    high = max(high, lo + (hi - lo) * guard[1])
        elif low == high:
            notes = (*notes, "The losses do not vary: the interval has no width.")
        return ErrorInterval(low, high, confidence_level, method, notes)

    def _replicate_limits(self, method: str, confidence_level: float) -> ErrorInterval:
        scores = self.out_of_bag.replicates
        scores = scores[np.isfinite(scores)]
        tails = [(1 - confidence_level) / 2, (1 + confidence_level) / 2]
        if method == "percentile":
            low, high = np.quantile(scores, tails, method="weibull")
        else:
            half = stdtrit(len(scores) - 1, tails[1]) * scores.std(ddof=1)
            low = max(scores.mean() - half, self.bounds[0])
            high = min(scores.mean() + half, self.bounds[1])
        notes = (*self.notes, _REPLICATE_NOTES[method])
        return ErrorInterval(low, high, confidence_level, method, notes)


def error632(
    out_of_bag: OutOfBagError,
    *,
    resubstitution: float,
    no_information_rate: float,
    bounds: Bounds = (0, 1),
    clipping: str = "full",
    n_effective: int | None = None,
    cv: CVBootstrap | None = None,
) -> PredictionError:
    """Put an out-of-bag error, a resubstitution error and a no-information rate together.

    Parameters
    ----------
    out_of_bag : OutOfBagError
    resubstitution, no_information_rate : float
        In loss direction, on the scale of the out-of-bag error.
    bounds : tuple of float
    clipping : {"full", "literal"}
    n_effective : int, optional
        Degrees of freedom plus one; the number of units by default. For AUC, the smaller class.
    cv : CVBootstrap, optional

    Returns
    -------
    PredictionError
    """
    gamma = no_information_rate
    rate, weight, plus = point632_plus(resubstitution, out_of_bag.error, gamma, clipping)
    n_effective = out_of_bag.n_units if n_effective is None else n_effective
    notes = _point_notes(resubstitution, out_of_bag.error, gamma, bounds)
    return PredictionError(
        resubstitution=resubstitution,
        oob=out_of_bag.error,
        no_information_rate=gamma,
        relative_overfitting_rate=rate,
        weight=weight,
        point632=point632(resubstitution, out_of_bag.error),
        point632_plus=plus,
        standard_error=out_of_bag.standard_error,
        standard_error_unadjusted=out_of_bag.standard_error_unadjusted,
        bounds=(float(bounds[0]), float(bounds[1])),
        clipping=clipping,
        n_effective=n_effective,
        out_of_bag=out_of_bag,
        cv=cv,
        notes=out_of_bag.notes + notes,
    )


def point632(resubstitution: float, oob: float) -> float:
    """.368 resubstitution + .632 out-of-bag (Efron 1983): a resample holds .632 of the rows."""
    return 0.368 * resubstitution + 0.632 * oob


def point632_plus(
    resubstitution: float, oob: float, no_information_rate: float, clipping: str = "full"
) -> tuple[float, float, float]:
    """Relative overfitting rate, weight and .632+ error.

    Parameters
    ----------
    resubstitution, oob, no_information_rate : float
        In loss direction.
    clipping : {"full", "literal"}
        "full": the out-of-bag error is clipped to the larger of the other two throughout, so R is
        in [0, 1] and the result never above that. "literal": R and the .632 term from the unclipped
        error, as in R's ipred.

    Returns
    -------
    relative_overfitting_rate, weight, point : float

    Notes
    -----
    Efron and Tibshirani (1997, clipping: equations 31, 32). R is 0 where either difference is not
    positive. "full" clips to the no-information rate, as R's pec and peperr do, except where
    resubstitution is above it: there their result can fall below both errors.
    """
    clipped = min(oob, no_information_rate)
    if clipping == "full":
        clipped = min(oob, max(no_information_rate, resubstitution))
    used = clipped if clipping == "full" else oob
    rate = 0.0
    if used > resubstitution and no_information_rate > resubstitution:
        rate = (used - resubstitution) / (no_information_rate - resubstitution)
    weight = 0.632 / (1 - 0.368 * rate)
    if clipping == "full":
        return rate, weight, (1 - weight) * resubstitution + weight * clipped
    extra = (clipped - resubstitution) * 0.368 * weight * rate
    return rate, weight, point632(resubstitution, oob) + extra


def optimism(in_sample: ArrayLike, on_all_rows: ArrayLike) -> float:
    """Mean optimism of resubstitution, to be added to the resubstitution error.

    Parameters
    ----------
    in_sample : array-like of shape (n_resamples,)
        Error of model b on its own training sample, copies counted.
    on_all_rows : array-like of shape (n_resamples,)
        Error of model b on all rows, each once.

    Returns
    -------
    float
        Mean of `on_all_rows - in_sample` over resamples where both are defined (Efron 1983).
    """
    gap = np.asarray(on_all_rows, dtype=float) - np.asarray(in_sample, dtype=float)
    return float(np.nanmean(gap))


class _Data(NamedTuple):
    losses: Array  # (n_resamples, n_samples), as given
    weights: Array  # (n_resamples, n_samples), as given
    resubstitution: Array  # (n_samples,)
    units: Units


def _check_choice(
    name: str, value: Any, choices: tuple[str, ...], where: str = "prediction_error"
) -> None:
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise bad_argument(name, f"one of {known}", value, f"Use {name}={choices[0]!r}.", where)


def _validated(
    losses: ArrayLike,
    weights: ArrayLike,
    resubstitution_losses: ArrayLike,
    no_information_rate: float,
    groups: ArrayLike | None,
    bounds: Bounds,
    form: str,
) -> _Data:
    array, counts = _numbers("losses", losses), _numbers("weights", weights)
    few = 3 if form == "et97" else 2
    if array.ndim != 2 or array.shape[0] < few or array.shape[1] < 2:
        must = f"an array of shape (n_resamples >= {few}, n_samples >= 2)"
        raise bad_argument(
            "losses", must, array.shape, "Give one line per model, one column per row."
        )
    if counts.shape != array.shape:
        must = f"an array of the shape of losses, {array.shape}"
        do = "Give how often each row was in each training sample: np.bincount(rows, minlength=n)."
        raise bad_argument("weights", must, counts.shape, do)
    full = _numbers("resubstitution_losses", resubstitution_losses)
    if full.shape != array.shape[1:] or not np.isfinite(full).all():
        must = f"finite numbers of shape {array.shape[1:]}"
        do = "Give the losses, on all rows, of the model trained on all rows."
        raise bad_argument("resubstitution_losses", must, full.shape, do)
    rate: Any = no_information_rate
    number = isinstance(rate, Real) and np.isfinite(float(rate))
    if not number or not bounds[0] <= rate <= bounds[1]:
        must = f"a finite float within bounds={bounds}"
        do = "Give the mean loss over all pairs of a label and a prediction."
        raise bad_argument("no_information_rate", must, rate, do)
    _check_in_bounds("resubstitution_losses", full, bounds)
    data = _Data(
        array, counts, full, Units.of(_validated_groups(groups, array.shape[1]), array.shape[1])
    )
    _check_blocks(data, bounds)
    return data


def _numbers(name: str, values: ArrayLike) -> Array:
    array = converted(name, values, "prediction_error")
    if array.dtype.kind not in "biuf":
        do = "Convert it to numbers; rows must be of equal length."
        raise bad_argument(name, "an array of numbers", array.dtype.name, do)
    check_size(name, array, "prediction_error")
    return array


def _validated_bounds(bounds: Any) -> Bounds:
    do = "Use (0, 1) for 0/1 losses, (0, np.inf) for squared errors."
    try:
        low, high = bounds
        low = -np.inf if low is None else float(low)
        high = np.inf if high is None else float(high)
    except (TypeError, ValueError) as error:
        raise bad_argument("bounds", "a pair of numbers", bounds, do) from error
    if not low < high:
        raise bad_argument("bounds", "a pair of numbers, the smaller first", bounds, do)
    return low, high


def _validated_groups(groups: ArrayLike | None, n_rows: int) -> Array | None:
    if groups is None:
        return None
    labels = converted("groups", groups, "prediction_error")
    if labels.shape != (n_rows,):
        do = "Give the group of each row."
        raise bad_argument("groups", f"an array of shape ({n_rows},)", labels.shape, do)
    return check_groups(labels, "prediction_error")


def _check_in_bounds(name: str, values: Array, bounds: Bounds) -> None:
    if values.size and not (values.min() >= bounds[0] and values.max() <= bounds[1]):
        got = f"{values.min():g} to {values.max():g}"
        do = "Give bounds=(0, np.inf) for squared errors, or the bounds of the loss."
        raise bad_argument(name, f"within bounds={bounds}", got, do)


def _check_blocks(data: _Data, bounds: Bounds) -> None:
    n_lines, total, any_outside = len(data.losses), np.zeros(len(data.losses)), False
    for block in data.units.blocks(n_lines):
        weights = data.weights[:, block.rows]
        if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights % 1 == 0).all()):
            do = "Give how often each row was in each training sample."
            raise bad_argument("weights", "counts: 0, 1, 2, ...", "other numbers", do)
        counts = block.first(weights)
        if block.offsets is not None:
            sizes = data.units.sizes[block.units]
            if not np.array_equal(np.repeat(counts, sizes, axis=1), weights):
                do = "Draw whole groups, or leave groups out."
                raise bad_argument("weights", "equal within a group", "different counts", do)
        total += counts.sum(axis=1)
        outside = weights == 0
        losses = data.losses[:, block.rows][outside]
        any_outside = any_outside or outside.any()
        if np.isnan(losses).any():
            do = "Leave out the lines of failed models, in losses and weights."
            raise bad_argument("losses", "free of NaN where weights are 0 (out-of-bag)", "NaN", do)
        _check_in_bounds("losses", losses, bounds)
    if not (total == data.units.n_units).all():
        line = int(np.flatnonzero(total != data.units.n_units)[0])
        must = f"counts of {data.units.n_units} draws per line, as many as there are rows or groups"
        do = "Other sample sizes need other formulas."
        raise bad_argument("weights", must, f"{total[line]:g} in line {line}", do)
    if not any_outside:
        raise bad_argument("weights", "0 somewhere", "no row out-of-bag", "Draw more resamples.")


def _validated_cv_losses(cv_losses: ArrayLike, n_rows: int, bounds: Bounds) -> Array:
    cv = np.atleast_2d(_numbers("cv_losses", cv_losses)).astype(float)
    if cv.ndim != 2 or cv.shape[1] != n_rows or not np.isfinite(cv).all():
        must = f"finite numbers of shape (n_repeats, {n_rows})"
        do = "Give the out-of-fold loss of every row, one line per repeat of cross-validation."
        raise bad_argument("cv_losses", must, cv.shape, do)
    _check_in_bounds("cv_losses", cv, bounds)
    return cv


def _additive_cv_bootstrap(
    data: _Data, cv: Array, out_of_bag: OutOfBagError, bounds: Bounds
) -> CVBootstrap:
    units, scores = data.units, out_of_bag.replicates
    gaps = cv - cv.mean(axis=1, keepdims=True)
    blocks = list(units.blocks(max(len(scores), len(cv))))
    cv_influence = np.concatenate([b.sum(gaps[:, b.rows]) for b in blocks], axis=1)
    counts, influence = data.weights, _row_influence(data.losses, scores)
    if units.order is not None:
        counts = np.concatenate([b.first(data.weights[:, b.rows]) for b in blocks], axis=1)
        influence = columns_of(_group_influence(data, counts, scores, blocks))
    return cv_bootstrap(
        float(cv.mean()),
        cv_influence * (units.n_units / cv.shape[1]),
        counts,
        scores,
        influence,
        bounds=bounds,
        n_rows=cv.shape[1],
        guard="proportion" if np.isin(cv, bounds).all() else None,
        resubstitution=float(data.resubstitution.mean()),
    )


def _row_influence(losses: Array, scores: Array) -> Reader:
    return lambda columns: losses[:, columns] - scores[:, None]


def _group_influence(data: _Data, counts: Array, scores: Array, blocks: list[UnitChunk]) -> Array:
    """Influence of group g on the out-of-bag mean, shape (n_resamples, n_groups)."""
    outside = counts == 0
    rows_per_group = outside @ data.units.sizes / np.maximum(outside.sum(axis=1), 1)
    sums = [block.sum(data.losses[:, block.rows].astype(float)) for block in blocks]
    gaps = np.concatenate(sums, axis=1) - np.outer(scores, data.units.sizes)
    return gaps / np.maximum(rows_per_group, 1)[:, None]


def _point_notes(
    resubstitution: float, oob: float, no_information_rate: float, bounds: Bounds
) -> tuple[str, ...]:
    notes = []
    if resubstitution - bounds[0] < NEAR_PERFECT * (oob - bounds[0]):
        notes.append(
            "The resubstitution error is under a quarter of the out-of-bag error: .632 and .632+ "
            "are optimistic (.632+ by .03 to .05 for forests, boosting and support vectors on 500 "
            "rows); prefer 'oob' or 'cv-bootstrap'."
        )
    if no_information_rate <= resubstitution:
        notes.append(
            "The no-information rate is not above the resubstitution error: the relative "
            "overfitting rate is undefined and taken as 0."
        )
    return tuple(notes)
