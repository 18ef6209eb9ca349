"""Out-of-bag, .632 and .632+ error of a method from the losses of models trained anywhere.

`prediction_error` is public. It checks the losses and counts, takes the out-of-bag error of
`out_of_bag` and the cross-validated one of `cv_bootstrap`, and gives both to `error632`. Shapes:
(n_resamples, n_samples) unless stated; no array is larger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import check_choice, check_groups, check_size, converted, fail
from .._base.doors import door
from .._base.typing import Clipping, SpreadForm
from ..inference.automatic import IntervalWithNotes
from ..inference.evidence import ConfidenceInterval
from .cv_bootstrap import CV_INTERVALS, Bounds, CVBootstrap, cv_bootstrap, with_texts
from .error632 import POINTS, ErrorSummary, PredictionError, error632
from .out_of_bag import Array, Reader, Units, columns_less, columns_of, out_of_bag_error


@door("prediction_error")
def prediction_error(
    losses: ArrayLike,
    weights: ArrayLike,
    *,
    resubstitution_losses: ArrayLike,
    no_information_rate: float,
    groups: ArrayLike | None = None,
    bounds: Bounds = (0, 1),
    clipping: Clipping = "full",
    form: SpreadForm = "centred",
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
        Groups that were resampled as wholes.
    bounds : tuple of float, default=(0, 1)
        Smallest and largest possible loss; infinite (or None) where there is none. They decide the
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
    then omits what the number of rows per stratum adds through training.

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
    limits = _checked_bounds(bounds)
    check_choice("clipping", clipping, ("full", "literal"))
    check_choice("form", form, ("centred", "et97"))
    if form == "et97" and groups is not None:
        must = "be 'centred' with groups"
        raise fail("form", must, repr(form), "Leave form at its default.")
    rate: Any = no_information_rate
    is_number = isinstance(rate, Real) and np.isfinite(float(rate))
    if not (is_number and limits[0] <= rate <= limits[1]):
        must = f"be a finite float within bounds={limits}"
        advice = "Give the mean loss over all pairs of a label and a prediction."
        raise fail("no_information_rate", must, repr(rate), advice)
    array, counts, full = _checked_losses(losses, weights, resubstitution_losses, limits, form)
    n_rows, group_labels = array.shape[1], None
    if groups is not None:
        group_labels = _flat_column(converted("groups", groups))
        if group_labels.shape != (n_rows,):
            must, got = f"be an array of shape ({n_rows},)", repr(group_labels.shape)
            raise fail("groups", must, got, "Give the group of each row.")
        group_labels = check_groups(group_labels)
    units = Units.of(group_labels, n_rows)
    _check_lines(array, counts, units, limits)
    out_of_bag = out_of_bag_error(array, counts, units=units, form=form)
    resubstitution, cv = float(full.mean()), None
    if cv_losses is not None:
        out_of_fold = np.atleast_2d(_number_array("cv_losses", cv_losses)).astype(float)
        is_table = out_of_fold.ndim == 2 and out_of_fold.shape[1] == n_rows
        if not is_table or not np.isfinite(out_of_fold).all():
            must = f"be finite numbers of shape (n_repeats, {n_rows})"
            advice = (
                "Give the out-of-fold loss of every row, one line per repeat of cross-validation."
            )
            raise fail("cv_losses", must, repr(out_of_fold.shape), advice)
        _check_in_bounds("cv_losses", out_of_fold, limits)
        parts = _cv_parts(array, counts, units, out_of_fold, out_of_bag.replicates)
        cv = cv_bootstrap(
            *parts,
            bounds=limits,
            n_rows=n_rows,
            guard="proportion" if np.isin(out_of_fold, limits).all() else None,
            resubstitution=resubstitution,
        )
    return error632(
        out_of_bag,
        resubstitution=resubstitution,
        no_information_rate=float(rate),
        bounds=limits,
        clipping=clipping,
        cv=cv,
    )


# ------------------------------------------------------------------ checks


def _checked_losses(
    losses: ArrayLike,
    weights: ArrayLike,
    resubstitution_losses: ArrayLike,
    bounds: Bounds,
    form: str,
) -> tuple[Array, Array, Array]:
    """Return losses and counts, (n_resamples, n_samples), and losses of all rows, (n_samples,)."""
    array, counts = _number_array("losses", losses), _number_array("weights", weights)
    least = 3 if form == "et97" else 2
    if array.ndim != 2 or array.shape[0] < least or array.shape[1] < 2:
        must = f"be an array of shape (n_resamples >= {least}, n_samples >= 2)"
        advice = "Give one line per model, one column per row."
        raise fail("losses", must, repr(array.shape), advice)
    if counts.shape != array.shape:
        must = f"be an array of the shape of losses, {array.shape}"
        advice = (
            "Give how often each row was in each training sample: np.bincount(rows, minlength=n)."
        )
        raise fail("weights", must, repr(counts.shape), advice)
    full = _flat_column(_number_array("resubstitution_losses", resubstitution_losses))
    if full.shape != array.shape[1:] or not np.isfinite(full).all():
        must = f"be finite numbers of shape {array.shape[1:]}"
        advice = "Give the losses, on all rows, of the model trained on all rows."
        raise fail("resubstitution_losses", must, repr(full.shape), advice)
    _check_in_bounds("resubstitution_losses", full, bounds)
    return array, counts, full


def _number_array(name: str, values: ArrayLike) -> Array:
    array = converted(name, values)
    if array.dtype.kind not in "biuf":
        advice = "Convert it to numbers; rows must be of equal length."
        raise fail(name, "be an array of numbers", repr(array.dtype.name), advice)
    check_size(name, array)
    return array


def _flat_column(array: Array) -> Array:
    """Return the entries of a table of one column, which data frames give, or the array."""
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _checked_bounds(bounds: Any) -> Bounds:
    """Return the pair of bounds, infinite where there is none."""
    must = "be a pair of numbers"
    advice = "Use (0, 1) for 0/1 losses, (0, np.inf) for squared errors."
    try:
        low, high = bounds
        low = -np.inf if low is None else float(low)
        high = np.inf if high is None else float(high)
    except (TypeError, ValueError) as error:
        raise fail("bounds", must, repr(bounds), advice) from error
    if not low < high:
        raise fail("bounds", f"{must}, the smaller first", repr(bounds), advice)
    return low, high


def _check_in_bounds(name: str, values: Array, bounds: Bounds) -> None:
    if values.size and not (values.min() >= bounds[0] and values.max() <= bounds[1]):
        got = f"{values.min():g} to {values.max():g}"
        advice = "Give bounds=(0, np.inf) for squared errors, or the bounds of the loss."
        raise fail(name, f"be within bounds={bounds}", got, advice)


def _check_lines(losses: Array, weights: Array, units: Units, bounds: Bounds) -> None:
    """Refuse weights that are no counts of a bootstrap, and out-of-bag losses out of bounds."""
    n_draws, any_outside = np.zeros(len(losses)), False
    for chunk in units.chunks(len(losses)):
        counts_of_rows = weights[:, chunk.rows]
        are_whole = np.isfinite(counts_of_rows).all() and (counts_of_rows % 1 == 0).all()
        if not (are_whole and (counts_of_rows >= 0).all()):
            advice = "Give how often each row was in each training sample."
            raise fail("weights", "be counts: 0, 1, 2, ...", "other numbers", advice)
        counts_of_units = chunk.first(counts_of_rows)
        if chunk.offsets is not None:
            sizes = units.sizes[chunk.units]
            if not np.array_equal(np.repeat(counts_of_units, sizes, axis=1), counts_of_rows):
                advice = "Draw whole groups, or leave groups out."
                raise fail("weights", "be equal within a group", "different counts", advice)
        n_draws += counts_of_units.sum(axis=1)
        outside = counts_of_rows == 0
        left_out = losses[:, chunk.rows][outside]
        any_outside = any_outside or bool(outside.any())
        if np.isnan(left_out).any():
            must = "be free of NaN where weights are 0 (out-of-bag)"
            advice = "Leave out the lines of failed models, in losses and weights."
            raise fail("losses", must, "NaN", advice)
        _check_in_bounds("losses", left_out, bounds)
    n_units = units.n_units
    if not (n_draws == n_units).all():
        line = int(np.flatnonzero(n_draws != n_units)[0])
        must = f"be counts of {n_units} draws per line, as many as there are rows or groups"
        got = f"{n_draws[line]:g} in line {line}"
        raise fail("weights", must, got, "Other sample sizes need other formulas.")
    if not any_outside:
        advice = "Draw more resamples."
        raise fail("weights", "be 0 somewhere", "no row out-of-bag", advice)


def _cv_parts(
    losses: Array, weights: Array, units: Units, cv: Array, scores: Array
) -> tuple[float, Array, Array, Array, Reader]:
    """Return centre, influence, counts, scores and their influence, of rows or groups.

    The cross-validated error of a mean loss, with the spread of the training samples.
    """
    deviations = cv - cv.mean(axis=1, keepdims=True)
    chunks = list(units.chunks(max(len(scores), len(cv))))
    cv_influence = np.concatenate([c.sum(deviations[:, c.rows]) for c in chunks], axis=1)
    counts, influence = weights, columns_less(losses, scores)
    if units.order is not None:
        counts = np.concatenate([c.first(weights[:, c.rows]) for c in chunks], axis=1)
        # The influence of each group on the out-of-bag mean of each resample.
        outside = counts == 0
        rows_per_group = outside @ units.sizes / np.maximum(outside.sum(axis=1), 1)
        sums = [chunk.sum(losses[:, chunk.rows].astype(float)) for chunk in chunks]
        gaps = np.concatenate(sums, axis=1) - np.outer(scores, units.sizes)
        influence = columns_of(gaps / np.maximum(rows_per_group, 1)[:, None])
    cv_influence = cv_influence * (units.n_units / cv.shape[1])
    return float(cv.mean()), cv_influence, counts, scores, influence


# ------------------------------------------------------------------ intervals
# Intervals for the performance of a method, from what a result stores of its runs.
#
# `MethodErrorSummary` is what a result stores: an error by a strategy, with the errors and standard
# errors of `skboot.method_error.error632` and `skboot.method_error.cv_bootstrap`, without the runs
# themselves. `method_interval` makes any of the intervals for the estimand "method" from it, on the
# metric's own scale.


STRATEGIES = ("cv-bootstrap", "oob", ".632", ".632+", "optimism")
METHOD_INTERVALS = (*CV_INTERVALS, "adjusted", "hull", "normal", "t", "percentile")


@dataclass(frozen=True, eq=False)
class MethodErrorSummary:
    """The error of a method by a strategy, with all that intervals for its score are made of.

    Attributes
    ----------
    strategy : {"cv-bootstrap", "oob", ".632", ".632+", "optimism"}
        Where the point estimate comes from.
    sign : float
        The score is ``-sign`` times the error.
    optimism_corrected : float
        Error by the optimism correction, NaN if unknown.
    prediction_error : skboot.method_error.error632.ErrorSummary
        What intervals are made of.
    """

    strategy: str
    sign: float
    optimism_corrected: float
    prediction_error: ErrorSummary

    def to_parts(self) -> dict[str, Any]:
        """Return its fields, to be written to a file."""
        summary, cv = self.prediction_error, self.prediction_error.cv
        error = {f.name.removeprefix("_"): getattr(summary, f.name) for f in fields(summary)}
        if cv is not None:
            error["cv"] = {f.name: getattr(cv, f.name) for f in fields(cv)}
        return {
            "strategy": self.strategy,
            "sign": self.sign,
            "optimism": self.optimism_corrected,
            "error": error,
        }

    @classmethod
    def from_parts(cls, parts: Mapping[str, Any]) -> MethodErrorSummary:
        """Return the equal of the object whose ``to_parts`` are given."""
        error = dict(parts["error"])
        error["_cautions"] = error.pop("cautions", ())
        if error["cv"] is not None:
            # Files of before have a variance that no form of today is made of.
            cv = {name: part for name, part in error["cv"].items() if name != "covariance_presence"}
            error["cv"] = CVBootstrap(**cv)
        return cls(parts["strategy"], parts["sign"], parts["optimism"], ErrorSummary(**error))

    @property
    def point(self) -> float:
        """Error by the strategy."""
        if self.strategy == "cv-bootstrap":
            cv = self.prediction_error.cv
            return np.nan if cv is None else float(cv.centre)
        if self.strategy == "optimism":
            return self.optimism_corrected
        return float(getattr(self.prediction_error, POINTS[self.strategy]))

    def standard_error_for(self, interval: str) -> float:
        """Standard error of the point as an interval has it."""
        if self.strategy == "cv-bootstrap":
            cv = self.prediction_error.cv
            return np.nan if cv is None else cv.standard_error_of(interval)
        return np.nan if self.strategy == "optimism" else self.prediction_error.standard_error


def method_interval(
    summary: MethodErrorSummary, method: str, confidence_level: float
) -> IntervalWithNotes:
    """Interval for the score of a method at its training-set size.

    Parameters
    ----------
    summary : MethodErrorSummary
    method : {"auto", "cv-bootstrap", "cv-bootstrap-conservative", "adjusted", "hull", "normal", \
"t", "percentile"}
    confidence_level : float
        In (0, 1).

    Returns
    -------
    IntervalWithNotes
        On the scale of the score, with its notes.

    Raises
    ------
    ValueError
        If the interval is unknown, or the runs do not support it.
    """
    if method == "auto":
        method = "cv-bootstrap" if summary.strategy == "cv-bootstrap" else "adjusted"
    lacking = () if summary.strategy == "cv-bootstrap" else CV_INTERVALS
    if method in lacking:
        raise ValueError(
            f"The interval {method!r} needs the cross-validation fits of "
            "strategy='cv-bootstrap'. Use 'adjusted' or 'hull'."
        )
    check_choice("method", method, ["auto", *(n for n in METHOD_INTERVALS if n not in lacking)])
    if np.isnan(summary.point):
        return IntervalWithNotes(ConfidenceInterval(np.nan, np.nan, confidence_level, method))
    if summary.strategy == "optimism":
        why = "No standard error of the optimism-corrected score is known; use another strategy."
        return with_texts(ConfidenceInterval(np.nan, np.nan, confidence_level, method), (why,))
    error = summary.prediction_error
    if method == "adjusted":
        # About the point of the strategy, whichever it is.
        error = replace(error, point632_plus=summary.point)
    limits, notes = error.interval_with_notes(method, confidence_level)
    if method not in ("hull", *CV_INTERVALS) and summary.strategy not in (".632", ".632+"):
        # Without the notes on the .632 points, where another point is the estimate.
        about_points = error._point_notes
        notes = tuple(note for note in notes if note.text not in about_points)
    # Scores are minus the error where larger is better. Mirrored twice, a limit of -0.0 is
    # 0.0.
    limits = limits._mirrored() if summary.sign > 0 else limits._mirrored()._mirrored()
    return IntervalWithNotes(limits, notes)
