"""Metrics that are functions of weighted sums: ``combine(block.sums(terms))``.

`RowMean` is a mean of per-row values, or a function of one (accuracy, errors, losses). Means over
rows of probabilities are in `posteriors`, R2 in `coefficients`, functions of the confusion matrix
in `labels`. A new function of sums gives the terms and the formula; a new mean of rows is one more
factory below.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from .._base.errors import Note, fail, tell
from ._tuning import FEW_BEYOND, FEW_VALUES, FIRST_LOOK, ROWS_AT_ONCE, ROWS_PER_VALUE
from .cells import WeightedCodes, label_counts
from .statistic import (
    Columns,
    Factory,
    Facts,
    Floats,
    Proportion,
    ReadableBlock,
    Reading,
    ReducedData,
    Request,
    Response,
    Statistic,
    SumsOfRows,
    fast_path,
)


class SumsStatistic(Statistic):
    """A function of weighted sums: ``combine(sums)``.

    Notes
    -----
    Subclasses give `reduce` (the terms) and `combine` (the formula); `gradient` has a numerical
    default. The function must not change when all weights are multiplied by the same number.
    """

    reads: Reading = "sums"

    @abstractmethod
    def combine(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Formula: from sums (n_resamples, n_terms) to values (n_resamples,)."""

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Value on each resample of the block."""
        return self.combine(block.sums(reduced.terms), reduced)

    def gradient(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Derivative of the formula by each sum, by central differences."""
        gradient = np.empty_like(sums)
        scale = np.abs(sums).max(axis=1)
        for k in range(sums.shape[1]):
            step = 1e-6 * scale
            up, down = sums.copy(), sums.copy()
            up[:, k] += step
            down[:, k] -= step
            gradient[:, k] = (self.combine(up, reduced) - self.combine(down, reduced)) / (2 * step)
        return gradient

    def variance(self, block: ReadableBlock, reduced: ReducedData) -> Floats | None:
        """Infinitesimal-jackknife variance by the gradient (delta method)."""
        return block.variance(*self._terms_and_gradient(block, reduced))

    def influence(self, block: ReadableBlock, reduced: ReducedData) -> Floats | None:
        """Influence of each unit by the gradient (delta method)."""
        return block.influence(*self._terms_and_gradient(block, reduced))

    def _terms_and_gradient(self, block: ReadableBlock, reduced: ReducedData) -> tuple[Any, Floats]:
        """Terms of the sums, and the derivative of the formula at the sums of each resample."""
        sums = block.sums(reduced.terms)
        terms = np.eye(reduced.n_codes) if reduced.terms is None else reduced.terms
        return terms, self.gradient(sums, reduced)

    def variance_cost(self, reduced: ReducedData) -> float:
        """Flops per resample and atom: one product per term."""
        return 2.0 * (reduced.n_codes if reduced.terms is None else reduced.terms.shape[1])


RowValues = Callable[[Any, Any], NDArray[Any]]

# What the formula of a mean reads where values are taken about 0.
_ABOUT_ZERO = MappingProxyType({"centre": 0.0})


@dataclass(frozen=True, eq=False)
class RowMean(SumsStatistic):
    """Weighted mean of a value per row, or a smooth function of that mean.

    Parameters
    ----------
    name : str
        How results call it.
    row_values : callable
        From (y_true, y_pred) to the value of each row, (n_samples,), real or boolean.
    greater_is_better : bool or None
        Direction.
    response : {"labels", "scores", "probabilities", "values", "any"}
        What predictions it takes.
    bounds : tuple of float
        Range of the result.
    sign : float
        1.0, or -1.0 for a loss that scikit-learn's scoring name negates.
    root : bool
        Whether the result is the square root of the mean.
    constant : callable, optional
        From (y_true, sample_weight) to the mean of the best system that ignores its inputs.
    beyond : float, optional
        Share of the rows that lie beyond a forecast that is right, on the side of the few.
    """

    of_row_values = True
    adds_by_row = True
    sketch = "sums"
    n_sums = 1

    name: str
    row_values: RowValues
    greater_is_better: bool | None = False
    response: Response = "values"
    bounds: tuple[float, float] = (0.0, np.inf)
    sign: float = 1.0
    root: bool = False
    constant: Callable[..., Any] | None = None
    beyond: float | None = None

    @property
    def is_row_mean(self) -> bool:  # type: ignore[override]
        """Whether the value is the mean itself."""
        return not self.root

    @property
    def under_root(self) -> RowMean | None:
        """The mean of which it is the root; None if it is none."""
        return replace(self, root=False) if self.root else None

    def as_sums(self, reduced: ReducedData) -> tuple[Statistic, ReducedData] | None:
        """See `Statistic.as_sums`."""
        return self, reduced

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Code few-valued rows by their value, others by row; terms are weight and value."""
        return self.of_values(self.row_values_of(y_true, y_pred), sample_weight)

    def row_values_of(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> NDArray[Any]:
        """Return the value of each row before its sign, (n_samples,), real or boolean."""
        return self.row_values(y_true, y_pred)

    def signed_values(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Floats:
        """See `Statistic.signed_values`."""
        return self.sign * np.asarray(self.row_values(y_true, y_pred), dtype=np.float64)

    def added_by_rows(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> Floats:
        """Return the value of each row."""
        return np.asarray(self.row_values_of(y_true, y_pred), dtype=np.float64)[None]

    def of_sums(self, sums: Floats) -> Floats:
        """See `Statistic.of_sums`."""
        return self.combine(sums.T, ReducedData(None, 0, data=_ABOUT_ZERO))

    def facts_of_sums(self, rows: SumsOfRows) -> Facts:
        """Those of any metric, whether the values are 0 and 1, or one of them is large."""
        share = None
        if rows.zero_one and not self.root and not rows.weighted:
            share = Proportion(round(rows.sums[1]), rows.n_rows, exact=True, sign=self.sign)
        known = replace(super().facts_of_sums(rows), **self._beyond(rows.n_rows))
        return replace(known, proportion=share, largest_share=rows.largest_share)

    def _beyond(self, n_rows: int) -> dict[str, Any]:
        """Rows that are to be expected beyond a forecast."""
        if self.beyond is None:
            return {}
        return {"of_kind": self.beyond * n_rows, "few_of_kind": FEW_BEYOND}

    def of_values(self, values: NDArray[Any], sample_weight: Floats | None) -> ReducedData:
        """Reduce rows of these values, (n_samples,); see `reduce`."""
        if sample_weight is None and values.dtype == bool:
            return self._of_flags(values)
        code, distinct, counts = _coded(values)
        if code is not None:
            if sample_weight is None:
                return self._reduced(code, distinct, None, counts)
            of = WeightedCodes.of(code, len(distinct), sample_weight)
            if of is not None:
                return self._reduced(of.code, distinct[of.first], of.weights, of.counts)
        return self._reduced(None, np.asarray(values, dtype=np.float64), sample_weight)

    def values_of(self, reduced: ReducedData) -> NDArray[Any]:
        """Return the value of each row before its sign, (n_samples,); boolean where 0 or 1.

        The value of a row without weight is not known, and the one nearest to 0 stands for it.
        """
        weights, deviations = reduced.terms[:, 0], np.zeros(len(reduced.terms))
        np.divide(reduced.terms[:, 1], weights, out=deviations, where=weights > 0)
        values = reduced.data["centre"] + deviations
        if reduced.code is not None and reduced.code.dtype == bool and tuple(values) == (0, 1):
            return np.asarray(reduced.code)
        if np.all((values == 0) | (values == 1)):
            values = values == 1
        return np.asarray(values if reduced.code is None else values[reduced.code.astype(np.intp)])

    def _of_flags(self, values: NDArray[np.bool_]) -> ReducedData:
        """The same as `_reduced` gives for 0 and 1: flags are their own codes, counted once."""
        n, n_true = len(values), int(np.count_nonzero(values))
        both = 0 < n_true < n
        distinct = (0.0, 1.0) if both else (float(n_true > 0),)
        terms = np.array([(1.0, value) for value in distinct])
        counts = np.array([n - n_true, n_true] if both else [n])
        code = values if both else np.zeros(n, dtype=np.uint8)
        return ReducedData(code, len(counts), terms, _ABOUT_ZERO, counts)

    def _reduced(
        self,
        code: NDArray[Any] | None,
        values: Floats,
        weights: Floats | None,
        counts: NDArray[np.int64] | None = None,
    ) -> ReducedData:
        """Reduce the value of each code, which stands for ``counts`` rows, or of each row."""
        centre = 0.0 if self.root else _nearest_to_zero(values)
        # Written in place: there may be as many values as memory holds a few times.
        terms = np.empty((len(values), 2))
        terms[:, 0] = 1.0 if weights is None else weights
        np.subtract(values, centre, out=terms[:, 1])
        if weights is not None:
            terms[:, 1] *= weights
        data = MappingProxyType({"centre": centre}) if centre else _ABOUT_ZERO
        return ReducedData(code, len(values), terms, data, counts)

    def combine(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Mean, its root where asked, with the sign."""
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = reduced.data["centre"] + sums[:, 1] / sums[:, 0]
            return self.sign * (np.sqrt(np.maximum(mean, 0.0)) if self.root else mean)

    def gradient(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Derivative of a ratio, or of its root; NaN where the root is 0 and has no derivative."""
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = self.sign / sums[:, 0]
            if self.root:
                value = self.combine(sums, reduced)
                slope = 0.5 / (np.where(value == 0, np.nan, value) * sums[:, 0])
            return np.array((-slope * sums[:, 1] / sums[:, 0], slope)).T

    def proportion(self, reduced: ReducedData) -> Proportion | None:
        """A mean of 0/1 values of equally weighted rows is the proportion of its ones."""
        weights, values = reduced.terms.T
        if self.root or reduced.data["centre"] or not _are_all(values, _is_zero_or_one):
            return None
        if not _are_all(weights, _is_one):
            return None
        counts = reduced.rows_of_codes if reduced.counts is None else reduced.counts
        return Proportion(
            int(counts[values == 1].sum()), int(counts.sum()), exact=True, sign=self.sign
        )

    def largest_share(self, reduced: ReducedData) -> float | None:
        """Share of the sum of (absolute) row values that one row carries."""
        weights, sizes = reduced.terms.T
        if reduced.data["centre"]:
            sizes = sizes + reduced.data["centre"] * weights
        sizes = np.abs(sizes)
        largest = float(sizes.max())
        if reduced.code is not None:
            sizes *= reduced.rows_of_codes if reduced.counts is None else reduced.counts
        return largest / float(sizes.sum()) if largest > 0 else None

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Those of any metric, and whether the values are few, 0 and 1, or one of them is large."""
        values = reduced.terms[:, 1]
        # Values that are all on one side of 0 are taken about one of them, or are whole.
        both_signs = not reduced.data["centre"] and bool(values.min() < 0 < values.max())
        own: dict[str, Any] = {
            # A mean of few distinct values is no mean of continuous ones.
            "row_mean": self.is_row_mean
            and (rows[2] is not None or reduced.n_codes > min(20, len(rows[1]) / 2)),
            "both_signs": self.is_row_mean and both_signs,
            "proportion": self.proportion(reduced),
            "largest_share": self.largest_share(reduced),
            **self._beyond(len(rows[1])),
        }
        return replace(super().facts(reduced, rows, members), **own)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Mean of the best constant prediction, if the metric has a formula for it."""
        y_true, _, sample_weight = rows
        if self.constant is None or y_true is None:
            return None
        mean = self.constant(y_true, sample_weight)
        return self.sign * (float(np.sqrt(mean)) if self.root else float(mean))


def _coded(
    values: NDArray[Any],
) -> tuple[NDArray[Any] | None, Floats, NDArray[np.int64] | None]:
    """Code of each row, value and rows of each code in rising order; no code if values are many."""
    if values.dtype == bool:
        counts = np.bincount(values, minlength=2)
        occurring = np.flatnonzero(counts)
        if len(occurring) == 2:
            return values, occurring.astype(np.float64), counts
    if len(np.unique(values[:FIRST_LOOK])) <= FEW_VALUES:
        distinct, code, counts = np.unique(values, return_inverse=True, return_counts=True)
        if len(distinct) <= max(FEW_VALUES, len(values) // ROWS_PER_VALUE):
            return code, distinct.astype(np.float64), counts
    return None, values, None


def _nearest_to_zero(values: Floats) -> float:
    """The common point of all values that sums are taken about, 0 among others.

    Sums of squares about it lose no digits to a large mean. All values lie on one side of it, so
    that no resample loses digits to a large value that it lacks. Whole numbers are taken about 0,
    because their sums are exact.
    """
    low, high = float(values.min()), float(values.max())
    if low <= 0 <= high or _are_all(values, _is_whole):
        return 0.0
    return low if low > 0 else high


def _is_whole(values: Floats) -> NDArray[np.bool_]:
    return values == np.rint(values)


def _is_zero_or_one(values: Floats) -> NDArray[np.bool_]:
    return (values == 0) | (values == 1)


def _is_one(values: Floats) -> NDArray[np.bool_]:
    return values == 1


def _are_all(values: Floats, test: Callable[[Floats], NDArray[np.bool_]]) -> bool:
    """Whether all values pass a test; most that do not show it among the first."""
    starts = [0, *range(FIRST_LOOK, len(values), ROWS_AT_ONCE)]
    stops = [*starts[1:], len(values)]
    return all(bool(test(values[a:b]).all()) for a, b in zip(starts, stops, strict=True))


# ------------------------------------------------------------------ values of rows


def accuracy(name: str = "accuracy", *, error: bool = False) -> RowMean:
    """Share of right decisions, or of wrong ones."""
    return RowMean(
        name,
        _differs if error else _equals,
        greater_is_better=not error,
        response="labels",
        bounds=(0.0, 1.0),
        constant=_least_error if error else _largest_class,
    )


def mean_of_values(name: str = "mean") -> RowMean:
    """Mean of per-row values that are given as predictions: losses, hits, ratings."""
    return MeanOfGiven(name, given_values, greater_is_better=None, bounds=(-np.inf, np.inf))


class MeanOfGiven(RowMean):
    """The mean of the predictions, which are the values of the rows."""

    of_given_values = True


def given_values(y_true: Any, y_pred: NDArray[Any]) -> NDArray[Any]:
    """The values themselves; there is no truth."""
    return y_pred


@fast_path("accuracy_score", response="labels")
def _accuracy_score(request: Request, *, normalize: bool = True) -> RowMean | None:
    return accuracy(request.name) if normalize else None


@fast_path("zero_one_loss", "hamming_loss", response="labels")
def _error_rate(request: Request, *, normalize: bool = True) -> RowMean | None:
    return accuracy(request.name, error=True) if normalize else None


def _squared_error(*, root: bool = False, log: bool = False) -> Factory:
    """Factory of the mean squared error, of its root, or of the same of ``log(1 + y)``."""

    def factory(request: Request) -> RowMean:
        scale = _log1p if log else _real
        losses, constant = partial(_squared_errors, scale=scale), partial(_variance, scale=scale)
        return RowMean(request.name, losses, root=root, constant=constant)

    return factory


fast_path("mean_squared_error", response="values")(_squared_error())
fast_path("mean_squared_log_error", response="values")(_squared_error(log=True))
fast_path("root_mean_squared_error", response="values")(_squared_error(root=True))
fast_path("root_mean_squared_log_error", response="values")(_squared_error(root=True, log=True))


def _absolute_error(*, relative: bool) -> Factory:
    """Factory of the mean absolute error, or of that relative to the truth."""

    def factory(request: Request) -> RowMean:
        losses = partial(_absolute_errors, relative=relative)
        constant = partial(_least_absolute_error, relative=relative)
        kind = PercentageError if relative else RowMean
        return kind(request.name, losses, constant=constant)

    return factory


class PercentageError(RowMean):
    """The mean absolute error relative to the truth."""

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Warn of rows that scikit-learn divides by the smallest number."""
        n = np.count_nonzero((y_true == 0) & (y_pred != 0))
        if n:
            text = (
                f"y_true is 0 in {n} of {len(y_true)} rows, where scikit-learn divides by 2e-16: "
                "these rows decide the value. Leave them out, or use 'mean_absolute_error'."
            )
            tell(Note("caution", text, about="relative errors of 0"))


fast_path("mean_absolute_error", response="values")(_absolute_error(relative=False))
fast_path("mean_absolute_percentage_error", response="values")(_absolute_error(relative=True))


@fast_path("mean_pinball_loss", response="values")
def _pinball_loss(request: Request, *, alpha: float = 0.5) -> RowMean:
    constant = partial(_least_pinball, alpha=alpha)
    losses, beyond = partial(_pinball, alpha=alpha), min(alpha, 1 - alpha)
    return RowMean(request.name, losses, constant=constant, beyond=beyond)


@fast_path("mean_poisson_deviance", response="values")
def _poisson_deviance(request: Request) -> RowMean:
    return RowMean(request.name, _poisson, constant=partial(_at_mean, loss=_poisson))


@fast_path("mean_gamma_deviance", response="values")
def _gamma_deviance(request: Request) -> RowMean:
    return RowMean(request.name, _gamma, constant=partial(_at_mean, loss=_gamma))


@fast_path("mean_tweedie_deviance", response="values")
def _tweedie_deviance(request: Request, *, power: float = 0) -> RowMean | None:
    if 0 < power < 1:
        # No law has it, which the function says.
        return None
    losses = partial(_tweedie, power=power)
    return RowMean(request.name, losses, constant=partial(_at_mean, loss=losses))


def _equals(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(y_true == y_pred)


def _differs(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(y_true != y_pred)


def _largest_class(y_true: NDArray[Any], sample_weight: Floats | None) -> float:
    counts = label_counts(y_true, sample_weight)[1]
    return float(counts.max() / counts.sum())


def _least_error(y_true: NDArray[Any], sample_weight: Floats | None) -> float:
    return 1.0 - _largest_class(y_true, sample_weight)


def _real(y: NDArray[Any]) -> Floats:
    return np.asarray(y, dtype=np.float64)


def _log1p(y: NDArray[Any]) -> Floats:
    _check_range(np.min(y) > -1, "logarithmic errors", "values above -1")
    return np.log1p(_real(y))


def _check_range(inside: Any, what: str, need: str) -> None:
    if not inside:
        raise ValueError(f"Mean {what} can only be used with {need} in y_true and y_pred.")


def _squared_errors(y_true: NDArray[Any], y_pred: NDArray[Any], *, scale: Any) -> Floats:
    error = np.asarray(scale(y_true) - scale(y_pred))
    error *= error
    return error


def _variance(y_true: NDArray[Any], sample_weight: Floats | None, *, scale: Any) -> float:
    values = scale(y_true)
    mean = np.average(values, weights=sample_weight)
    return float(np.average((values - mean) ** 2, weights=sample_weight))


def _absolute_errors(y_true: NDArray[Any], y_pred: NDArray[Any], *, relative: bool) -> Floats:
    truth = _real(y_true)
    error = np.asarray(_real(y_pred) - truth)
    np.abs(error, out=error)
    # scikit-learn guards in the same way against a truth of zero.
    return error / np.maximum(np.abs(truth), np.finfo(np.float64).eps) if relative else error


def _least_absolute_error(
    y_true: NDArray[Any], sample_weight: Floats | None, *, relative: bool
) -> float:
    truth, pull = _real(y_true), sample_weight
    if relative:
        weights = 1.0 if sample_weight is None else sample_weight
        pull = weights / np.maximum(np.abs(truth), np.finfo(np.float64).eps)
    constant = np.array(_quantile(truth, pull, 0.5))
    errors = _absolute_errors(truth, constant, relative=relative)
    return float(np.average(errors, weights=sample_weight))


def _pinball(y_true: NDArray[Any], y_pred: NDArray[Any], *, alpha: float) -> Floats:
    above = _real(y_true) - _real(y_pred)
    return np.maximum(alpha * above, (alpha - 1) * above)


def _least_pinball(y_true: NDArray[Any], sample_weight: Floats | None, *, alpha: float) -> float:
    truth = _real(y_true)
    constant = np.array(_quantile(truth, sample_weight, alpha))
    return float(np.average(_pinball(truth, constant, alpha=alpha), weights=sample_weight))


def _quantile(values: Floats, weights: Floats | None, level: float) -> float:
    """Smallest value up to which at least this share of the weight lies."""
    if weights is None:
        n = len(values)
        at = min(max(math.ceil(level * n * (1 - 1e-12)) - 1, 0), n - 1)
        return float(np.partition(values, at)[at])
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    at = np.searchsorted(reached, level * reached[-1] * (1 - 1e-12))
    return float(values[order[min(at, len(values) - 1)]])


def _poisson(y_true: NDArray[Any], y_pred: NDArray[Any]) -> Floats:
    truth, mean = _real(y_true), _real(y_pred)
    inside = truth.min() >= 0 and mean.min() > 0
    _check_range(inside, "Poisson deviance", "non-negative and positive values")
    return np.asarray(2 * (xlogy(truth, truth / mean) - truth + mean))


def _gamma(y_true: NDArray[Any], y_pred: NDArray[Any]) -> Floats:
    truth, mean = _real(y_true), _real(y_pred)
    _check_range(truth.min() > 0 and mean.min() > 0, "gamma deviance", "positive values")
    return 2 * (np.log(mean / truth) + truth / mean - 1)


def _tweedie(y_true: NDArray[Any], y_pred: NDArray[Any], *, power: float) -> Floats:
    truth, mean, p = _real(y_true), _real(y_pred), power
    if p == 0:
        return _squared_errors(truth, mean, scale=_real)
    if p in (1, 2):
        return _poisson(truth, mean) if p == 1 else _gamma(truth, mean)
    need = "values, above 0 in y_pred," if p < 0 else "non-negative and positive values"
    need = "positive values" if p > 2 else need
    inside = mean.min() > 0 and (p < 0 or truth.min() > (0 if p > 2 else -1e-300))
    _check_range(inside, f"Tweedie deviance of power {p:g}", need)
    above = np.maximum(truth, 0.0) ** (2 - p) / ((1 - p) * (2 - p))
    return 2 * (above - truth * mean ** (1 - p) / (1 - p) + mean ** (2 - p) / (2 - p))


def _at_mean(y_true: NDArray[Any], sample_weight: Floats | None, *, loss: Any) -> float:
    mean = np.average(y_true, weights=sample_weight)
    if mean <= 0:
        return 0.0
    return float(np.average(loss(y_true, np.full(len(y_true), mean)), weights=sample_weight))


# Values so large or small that their squares or cubes leave the range of double precision.
#
# A coefficient such as R2 does not depend on the unit, so its values are scaled into range. A loss
# depends on it: no double holds the squared error of values of 1e200, so that they are refused.


# Range of the sum of squares of a column; within it losses are not looked at, because neither they
# nor sums of their cubes leave the range of double precision.
_ORDINARY_SQUARES = (1e-40, 1e80)
# Range of the largest loss of a row; within it sums of cubes of 1e12 losses are in range.
_LOSSES = (1e-90, 1e90)


def check_losses(statistic: Statistic, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> None:
    """Refuse losses of rows that are too large or too small to be added up.

    Parameters
    ----------
    statistic : Statistic
        The metric; only the losses of a mean over rows are checked.
    y_true : ndarray of shape (n_samples,) or None
        Truth.
    y_pred : ndarray of shape (n_samples,)
        Predictions, or the losses themselves.

    Raises
    ------
    ValueError
        Says how large the losses are.
    """
    columns = [y_pred] if y_true is None else [y_true, y_pred]
    if not statistic.of_row_values or all(map(_is_ordinary, columns)):
        return
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        largest = float(np.abs(statistic.row_values_of(y_true, y_pred)).max())
    # A largest loss of 0 is true only if no prediction differs: squares may have underflowed.
    none = largest == 0 and (y_true is None or np.array_equal(y_true, y_pred))
    if none or _LOSSES[0] <= largest <= _LOSSES[1]:
        return
    low, high = _LOSSES
    raise fail(
        "y_pred",
        f"give losses between {low:g} and {high:g} in size for the metric {statistic.name!r}",
        f"losses up to {largest:g}",
        "Measure in another unit: multiply the values by the same number.",
    )


def in_ordinary_range(*columns: Floats) -> tuple[Floats, ...]:
    """The columns, (n_samples,), all times one power of two if their squares leave the range."""
    if all(map(_is_ordinary, columns)):
        return columns
    exponent = int(np.frexp(max(float(np.abs(column).max()) for column in columns))[1])
    return tuple(np.ldexp(column, -exponent) for column in columns)


def _is_ordinary(values: NDArray[Any]) -> bool:
    if values.dtype.kind != "f":
        return True
    values = values.ravel()
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = float(np.dot(values, values))
    return _ORDINARY_SQUARES[0] < squares < _ORDINARY_SQUARES[1]
