"""Metrics that are functions of weighted sums: ``combine(block.sums(terms))``.

`RowMean` is a mean of per-row values, or a function of one: accuracy, errors, deviances. The value
of a row of `PosteriorMean` is one of the scores of all classes: log loss, Brier score, top-k
accuracy. `Coefficient` is a ratio of sums of squares: R2, explained variance. A new function of
sums gives the terms and the formula; a new mean of rows is one more loss below.
"""

from __future__ import annotations

import math
import operator
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from .._base.errors import Note, fail, tell
from ._tuning import (
    FEW_BEYOND,
    FEW_SPREAD,
    FEW_VALUES,
    FEWEST_SPREAD,
    FIRST_LOOK,
    MOST_SPREAD,
    ROWS_AT_ONCE,
    ROWS_PER_VALUE,
)
from .cells import (
    CellCodes,
    SharedCells,
    WeightedCodes,
    are_exact,
    encode,
    known_labels,
    label_counts,
)
from .statistic import (
    Columns,
    Factory,
    Facts,
    Floats,
    MetricRequest,
    Proportion,
    ReadableBlock,
    Reading,
    ReducedData,
    Response,
    Statistic,
    SumsOfRows,
    TermColumns,
    fast_path,
)


class SumsStatistic(Statistic):
    """A function of weighted sums: ``combine(sums)``.

    Notes
    -----
    Subclasses give `reduce` (the terms) and `combine` (the formula); `gradient` has a numerical
    default. The function must not change when all weights are multiplied by the same number;
    ``varies_smoothly`` says that its second derivatives may be neglected.
    """

    reads: Reading = "sums"
    varies_smoothly: ClassVar[bool] = False

    def as_sums(self, reduced: ReducedData) -> tuple[Statistic, ReducedData] | None:
        """Return the statistic itself, where it varies smoothly; see `Statistic.as_sums`."""
        return (self, reduced) if self.varies_smoothly else None

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
        return 2.0 * reduced.n_terms


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
    varies_smoothly = True
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

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Code few-valued rows by their value, others by row; terms are weight and value."""
        if self.shared_cells is not None and sample_weight is None and y_true is not None:
            reduced = self._of_cells(self.shared_cells, y_true, y_pred)
            if reduced is not None:
                return reduced
        return self.of_values(self.row_values_of(y_true, y_pred), sample_weight)

    def _of_cells(
        self, shared_cells: SharedCells, y_true: NDArray[Any], y_pred: NDArray[Any]
    ) -> ReducedData | None:
        """Reduce rows of values 0 and 1 by the cells of other metrics; None where all are equal."""
        if not are_exact(y_true, y_pred):
            return None
        cells = shared_cells.of(y_true, y_pred)
        flags = np.asarray(self.row_values(cells.truth, cells.decision))
        counts = np.array([int(cells.counts[~flags].sum()), int(cells.counts[flags].sum())])
        if not counts.all():
            return None
        terms = np.array([(1.0, 0.0), (1.0, 1.0)])
        return ReducedData(CellCodes(cells, flags), 2, terms, _ABOUT_ZERO, counts)

    def row_values_of(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> NDArray[Any]:
        """Return the value of each row before its sign, (n_samples,), real or boolean."""
        return self.row_values(y_true, y_pred)

    def signed_values(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Floats:
        """See `Statistic.signed_values`."""
        return self.sign * np.asarray(self.row_values(y_true, y_pred), dtype=np.float64)

    def as_share(self, columns: Columns) -> tuple[Statistic, Columns] | None:
        """See `Statistic.as_share`; of errors without a bound more than 0 and 1 may occur."""
        if self.root or np.isinf(self.bounds).sum() == 1:
            return None
        y_true, y_pred, weights = columns
        values = self.row_values_of(y_true, y_pred)
        if not _are_all(values, lambda part: (part == 0) | (part == 1)):
            return None
        share = RowMean(self.name, given_values, bounds=self.bounds, sign=self.sign)
        share.set_facts(labels=(0, 1))
        return share, (np.ones(len(values), dtype=np.intp), values.astype(np.intp), weights)

    def added_by_rows(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> Floats:
        """Return the value of each row."""
        return np.asarray(self.row_values_of(y_true, y_pred), dtype=np.float64)[None]

    def of_sums(self, sums: Floats) -> Floats:
        """See `Statistic.of_sums`."""
        return self.combine(sums.T, ReducedData(None, 0, data=_ABOUT_ZERO))

    def facts_of_sums(self, rows: SumsOfRows) -> Facts:
        """Facts of any metric, whether the values are 0 and 1, or one of them is large."""
        proportion = None
        if rows.zero_one and not self.root and not rows.weighted:
            proportion = Proportion(round(rows.sums[1]), rows.n_rows, exact=True, sign=self.sign)
        facts = replace(super().facts_of_sums(rows), proportion=proportion)
        if self.beyond is not None:
            facts = replace(facts, of_kind=self.beyond * rows.n_rows, few_of_kind=FEW_BEYOND)
        return replace(facts, largest_share=rows.largest_share)

    def of_values(self, values: NDArray[Any], sample_weight: Floats | None) -> ReducedData:
        """Reduce rows of these values, (n_samples,); see `reduce`."""
        if sample_weight is None and values.dtype == bool:
            # Flags are their own codes, counted once; the terms are those of `_reduced`.
            n, n_true = len(values), int(np.count_nonzero(values))
            is_mixed = 0 < n_true < n
            occurring = (0.0, 1.0) if is_mixed else (float(n_true > 0),)
            terms = np.array([(1.0, value) for value in occurring])
            codes = values if is_mixed else np.zeros(n, dtype=np.uint8)
            n_rows = np.array([n - n_true, n_true] if is_mixed else [n])
            return ReducedData(codes, len(n_rows), terms, _ABOUT_ZERO, n_rows)
        code, distinct, counts = _code_rows(values)
        if code is not None:
            if sample_weight is None:
                return self._reduced(code, distinct, None, counts)
            split = WeightedCodes.of(code, len(distinct), sample_weight)
            if split is not None:
                return self._reduced(
                    split.code, distinct[split.unweighted], split.weights, split.counts
                )
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

    def _reduced(
        self,
        code: NDArray[Any] | None,
        values: Floats,
        weights: Floats | None,
        counts: NDArray[np.int64] | None = None,
    ) -> ReducedData:
        """Reduce the value of each code, which stands for ``counts`` rows, or of each row."""
        # The common point of all values that sums are taken about, 0 among others: sums of squares
        # about it lose no digits to a large mean. All values lie on one side of it, so that no
        # resample loses digits to a large value that it lacks. Whole numbers are taken about 0,
        # because their sums are exact.
        centre = 0.0
        if not self.root:
            low, high = float(values.min()), float(values.max())
            if not (low <= 0 <= high or _are_all(values, lambda part: part == np.rint(part))):
                centre = low if low > 0 else high
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
        if self.root or reduced.data["centre"]:
            return None
        if not _are_all(values, lambda part: (part == 0) | (part == 1)):
            return None
        if not _are_all(weights, lambda part: part == 1):
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
        if reduced.coded is not None:
            sizes *= reduced.rows_of_codes if reduced.counts is None else reduced.counts
        return largest / float(sizes.sum()) if largest > 0 else None

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Facts of any metric, and whether values are few, 0 and 1, or one of them is large."""
        values, n_rows = reduced.terms[:, 1], len(rows[1])
        # Values that are all on one side of 0 are taken about one of them, or are whole.
        both_signs = not reduced.data["centre"] and bool(values.min() < 0 < values.max())
        # A mean of few distinct values is no mean of continuous ones.
        has_many = rows[2] is not None or reduced.n_codes > min(20, n_rows / 2)
        facts = replace(
            super().facts(reduced, rows, members),
            row_mean=not self.root and has_many,
            both_signs=not self.root and both_signs,
            largest_share=self.largest_share(reduced),
        )
        if self.beyond is None:
            return facts
        return replace(facts, of_kind=self.beyond * n_rows, few_of_kind=FEW_BEYOND)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Mean of the best constant prediction, if the metric has a formula for it."""
        y_true, _, sample_weight = rows
        if self.constant is None or y_true is None:
            return None
        label_counts = {}
        if self.shared_cells is not None and sample_weight is None:
            label_counts["counts"] = self.shared_cells.label_counts(y_true)[1]
        mean = self.constant(y_true, sample_weight, **label_counts)
        return self.sign * (float(np.sqrt(mean)) if self.root else float(mean))


def _code_rows(
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


def _are_all(values: Floats, test: Callable[[Floats], NDArray[np.bool_]]) -> bool:
    """Whether all values pass a test; most that do not show it among the first."""
    if len(values) <= FIRST_LOOK:
        return bool(test(values).all())
    starts = [0, *range(FIRST_LOOK, len(values), ROWS_AT_ONCE)]
    stops = [*starts[1:], len(values)]
    return all(bool(test(values[a:b]).all()) for a, b in zip(starts, stops, strict=True))


# ------------------------------------------------------------------ decisions, and given values


class HitRate(RowMean):
    """The share of right decisions, or of wrong ones: beside other metrics a function of cells."""

    reads_cells = True


def accuracy(name: str = "accuracy", *, error: bool = False) -> RowMean:
    """Share of right decisions, or of wrong ones."""
    return HitRate(
        name,
        operator.ne if error else operator.eq,
        greater_is_better=not error,
        response="labels",
        bounds=(0.0, 1.0),
        constant=partial(_share_of_largest_class, error=error),
    )


def _share_of_largest_class(
    y_true: NDArray[Any],
    sample_weight: Floats | None,
    *,
    error: bool,
    counts: Floats | None = None,
) -> float:
    """Accuracy, or error, where the most frequent class is always decided."""
    if counts is None:
        counts = label_counts(y_true, sample_weight)[1]
    share = float(counts.max() / counts.sum())
    return 1.0 - share if error else share


fast_path("accuracy_score", response="labels")(
    lambda request, *, normalize=True: accuracy(request.name) if normalize else None
)
fast_path("zero_one_loss", "hamming_loss", response="labels")(
    lambda request, *, normalize=True: accuracy(request.name, error=True) if normalize else None
)


class MeanOfGiven(RowMean):
    """The mean of the predictions, which are the values of the rows."""

    of_given_values = True


def mean_of_values(name: str = "mean") -> RowMean:
    """Mean of per-row values that are given as predictions: losses, hits, ratings."""
    return MeanOfGiven(name, given_values, greater_is_better=None, bounds=(-np.inf, np.inf))


def given_values(y_true: Any, y_pred: NDArray[Any]) -> NDArray[Any]:
    """The values themselves; there is no truth."""
    return y_pred


# ------------------------------------------------------------------ losses of real values


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


def _real(y: NDArray[Any]) -> Floats:
    return np.asarray(y, dtype=np.float64)


def _log1p(y: NDArray[Any]) -> Floats:
    _check_range(np.min(y) > -1, "logarithmic errors", "values above -1")
    return np.log1p(_real(y))


def _check_range(inside: Any, noun: str, need: str) -> None:
    if not inside:
        raise ValueError(f"Mean {noun} can only be used with {need} in y_true and y_pred.")


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


def _pinball(y_true: NDArray[Any], y_pred: NDArray[Any], *, alpha: float) -> Floats:
    above = _real(y_true) - _real(y_pred)
    return np.maximum(alpha * above, (alpha - 1) * above)


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


def _loss_at_quantile(
    y_true: NDArray[Any],
    sample_weight: Floats | None,
    *,
    loss: RowValues,
    level: float = 0.5,
    relative: bool = False,
) -> float:
    """Mean loss of the best constant where that is a quantile of the truth."""
    truth, pull = _real(y_true), sample_weight
    if relative:
        weights = 1.0 if sample_weight is None else sample_weight
        pull = weights / np.maximum(np.abs(truth), np.finfo(np.float64).eps)
    if pull is None:
        # The smallest value up to which at least this share of the weight lies.
        n = len(truth)
        position = min(max(math.ceil(level * n * (1 - 1e-12)) - 1, 0), n - 1)
        constant = np.partition(truth, position)[position]
    else:
        order = np.argsort(truth)
        reached = np.cumsum(pull[order])
        position = int(np.searchsorted(reached, level * reached[-1] * (1 - 1e-12)))
        constant = truth[order[min(position, len(truth) - 1)]]
    return float(np.average(loss(truth, np.array(float(constant))), weights=sample_weight))


def _loss_at_mean(y_true: NDArray[Any], sample_weight: Floats | None, *, loss: RowValues) -> float:
    mean = np.average(y_true, weights=sample_weight)
    if mean <= 0:
        return 0.0
    return float(np.average(loss(y_true, np.full(len(y_true), mean)), weights=sample_weight))


def _mean_loss(
    loss: RowValues, constant: Callable[..., Any], *, kind: type[RowMean] = RowMean, **options: Any
) -> Factory:
    """Factory of the mean of a loss, where the function takes no options."""
    return lambda request: kind(request.name, loss, constant=constant, **options)


_SQUARED = partial(_squared_errors, scale=_real), partial(_variance, scale=_real)
_SQUARED_LOGS = partial(_squared_errors, scale=_log1p), partial(_variance, scale=_log1p)
_ABSOLUTE = partial(_absolute_errors, relative=False)
_RELATIVE = partial(_absolute_errors, relative=True)
fast_path("mean_squared_error", response="values")(_mean_loss(*_SQUARED))
fast_path("mean_squared_log_error", response="values")(_mean_loss(*_SQUARED_LOGS))
fast_path("root_mean_squared_error", response="values")(_mean_loss(*_SQUARED, root=True))
fast_path("root_mean_squared_log_error", response="values")(_mean_loss(*_SQUARED_LOGS, root=True))
fast_path("mean_absolute_error", response="values")(
    _mean_loss(_ABSOLUTE, partial(_loss_at_quantile, loss=_ABSOLUTE))
)
fast_path("mean_absolute_percentage_error", response="values")(
    _mean_loss(
        _RELATIVE, partial(_loss_at_quantile, loss=_RELATIVE, relative=True), kind=PercentageError
    )
)
fast_path("mean_poisson_deviance", response="values")(
    _mean_loss(_poisson, partial(_loss_at_mean, loss=_poisson))
)
fast_path("mean_gamma_deviance", response="values")(
    _mean_loss(_gamma, partial(_loss_at_mean, loss=_gamma))
)


@fast_path("mean_pinball_loss", response="values")
def _pinball_loss(request: MetricRequest, *, alpha: float = 0.5) -> RowMean:
    losses, beyond = partial(_pinball, alpha=alpha), min(alpha, 1 - alpha)
    constant = partial(_loss_at_quantile, loss=losses, level=alpha)
    return RowMean(request.name, losses, constant=constant, beyond=beyond)


@fast_path("mean_tweedie_deviance", response="values")
def _tweedie_deviance(request: MetricRequest, *, power: float = 0) -> RowMean | None:
    if 0 < power < 1:
        # No distribution has it, which the function says.
        return None
    losses = partial(_tweedie, power=power)
    return RowMean(request.name, losses, constant=partial(_loss_at_mean, loss=losses))


# ------------------------------------------------------------------ range of double precision

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
    is_free_of_loss = largest == 0 and (y_true is None or np.array_equal(y_true, y_pred))
    if is_free_of_loss or _LOSSES[0] <= largest <= _LOSSES[1]:
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


# ------------------------------------------------------------------ coefficients of determination


# Threshold of a sum of squares about the mean (share of the sum of squares); below it the truth is
# taken as constant, because the difference is rounding.
_SQUARES_ROUNDING = 1e-14
# Largest square of the mean of the truth by its variance at which sums about zero keep ten digits.
_FAR_FROM_ZERO = 1e4


@dataclass(frozen=True, eq=False)
class Coefficient(SumsStatistic):
    """R2 or explained variance: one less the residual by the total sum of squares.

    Parameters
    ----------
    name : str
        How results call it.
    about_mean : bool
        Residuals about their mean (explained variance) instead of about zero (R2).
    force_finite : bool
        Whether a constant truth gives 1 for perfect predictions and 0 for others, as in
        scikit-learn, instead of NaN and minus infinity.

    Notes
    -----
    A truth counts as constant where its variance is below the rounding of its sums.
    """

    adds_by_row = True
    varies_smoothly = True
    sketch = "sums"
    n_sums = 4
    # The mean of the truth explains nothing of it.
    without_skill = 0.0

    name: str = "r2"
    about_mean: bool = False
    force_finite: bool = True
    bounds: tuple[float, float] = (-np.inf, 1.0)
    response: Response = "values"

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Reduce each row to six terms: 1, w, w (y - m), w (y - m)^2, w r and w r^2.

        w is the weight, m a middle truth, and r = y - prediction; for the explained variance less a
        middle residual.
        """
        assert y_true is not None
        truth, predicted = in_ordinary_range(
            np.asarray(y_true, dtype=np.float64), np.asarray(y_pred, dtype=np.float64)
        )
        return self.reduce_scaled(truth, predicted, sample_weight)

    def reduce_scaled(
        self, truth: Floats, predicted: Floats, sample_weight: Floats | None
    ) -> ReducedData:
        """Reduce columns whose squares are in the range of floats; see `reduce`."""
        # The origin is a data point, so that the sums of a constant truth are exactly zero; it is
        # the median, because outliers, which a resample may lack, do not move it.
        centre, bias = _middle(truth), 0.0
        if self.about_mean:
            bias = _middle(_deviations(truth, predicted, 0.0, None))
        about = partial(_deviations, truth, centre, 0.0, sample_weight)
        residual = partial(_deviations, truth, predicted, bias, sample_weight)
        sums = [partial(part, power=power) for part in (about, residual) for power in (1, 2)]
        weight: Any = 1.0
        if sample_weight is not None:
            weight = partial(np.array, sample_weight, dtype=np.float64)
        return ReducedData(None, len(truth), TermColumns(len(truth), (1.0, weight, *sums)))

    def reduce_about(
        self, y_true: NDArray[Any], y_pred: NDArray[Any], origin: NDArray[Any]
    ) -> ReducedData:
        """Reduce rows without weights to the terms of `reduce`; see `Statistic.reduce_about`."""
        truth, residual, ones = y_true - origin, y_true - y_pred, np.ones(len(y_true))
        sums = (ones, ones, truth, truth**2, residual, residual**2)
        return ReducedData(None, len(y_true), np.column_stack(sums))

    def added_by_rows(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> Floats:
        """Return truth, its square, residual and its square, all about zero."""
        truth = np.asarray(y_true, dtype=np.float64)
        residual = truth - np.asarray(y_pred, dtype=np.float64)
        return np.stack((truth, truth**2, residual, residual**2))

    def of_sums(self, sums: Floats) -> Floats:
        """See `Statistic.of_sums`; refuse a truth whose sums about zero have lost its variance."""
        mean, square = sums[1, 0] / sums[0, 0], sums[2, 0] / sums[0, 0]
        if mean**2 > _FAR_FROM_ZERO * (square - mean**2) > 0:
            raise ValueError(
                f"The metric {self.name!r} of a stream must have a truth that varies about zero. "
                f"Got values about {mean:.4g}. Subtract this from y_true and y_pred: the metric "
                "stays the same."
            )
        return self.combine(np.vstack((sums[:1], sums)).T, ReducedData(None, 0))

    def combine(self, sums: Floats, reduced: ReducedData) -> Floats:
        """One less the ratio of sums of squares."""
        with np.errstate(invalid="ignore", divide="ignore"):
            total = about_mean(sums[:, 1], sums[:, 2], sums[:, 3])
            residual = sums[:, 5]
            if self.about_mean:
                residual = about_mean(sums[:, 1], sums[:, 4], sums[:, 5])
            value = 1 - residual / total
            if self.force_finite:
                value = np.where(total > 0, value, np.where(residual > 0, 0.0, 1.0))
        fewest = 1 if self.about_mean else 2
        return np.where((sums[:, 0] >= fewest) & (sums[:, 1] > 0), value, np.nan)

    def gradient(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Derivative of a ratio of sums of squares; 0 where the truth is constant."""
        gradient = np.zeros_like(sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = sums[:, 1]
            total = about_mean(weight, sums[:, 2], sums[:, 3])
            residual = sums[:, 5]
            if self.about_mean:
                residual = about_mean(weight, sums[:, 4], sums[:, 5])
                mean = sums[:, 4] / weight
                gradient[:, 1], gradient[:, 4] = -(mean**2), 2 * mean
            ratio, mean = residual / total, sums[:, 2] / weight
            gradient[:, 1] += ratio * mean**2
            gradient[:, 2], gradient[:, 3], gradient[:, 5] = -2 * ratio * mean, ratio, -1.0
            gradient /= total[:, None]
        return np.where((total > 0)[:, None], gradient, 0.0)

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Facts of any metric, and the largest share of the variation that one row carries."""
        facts, about = super().facts(reduced, rows, members), reduced.column(2)
        weights: Any = 1.0 if rows[2] is None else reduced.column(1)
        mean = about.sum() / (len(about) if rows[2] is None else np.sum(weights))
        # The truth is squared about its mean; in place, because there may be many rows.
        about *= 2 * mean
        np.subtract(reduced.column(3), about, out=about)
        about += mean**2 * weights
        n_varying, n_few = self.rows_that_vary(about)
        share = self.largest_share(reduced)
        return replace(facts, largest_share=share, of_kind=n_varying, few_of_kind=n_few)

    def rows_that_vary(self, squares: Floats) -> tuple[float, float]:
        """Rows that carry the variance, of which these are the squares, and how many are few."""
        n_few = float(np.clip(len(squares) / FEW_SPREAD, FEWEST_SPREAD, MOST_SPREAD))
        return (float(squares.sum() ** 2 / np.sum(squares**2)) if squares.any() else np.inf), n_few

    def largest_share(self, reduced: ReducedData) -> float | None:
        """Share of the squared residuals that one row carries, whose tail is that of the score."""
        squares = reduced.column(5)
        total = float(squares.sum())
        return float(squares.max()) / total if total > 0 else None


fast_path("r2_score", response="values")(
    lambda request, *, force_finite=True: Coefficient(request.name, False, force_finite)
)
fast_path("explained_variance_score", response="values")(
    lambda request, *, force_finite=True: Coefficient(request.name, True, force_finite)
)


def _deviations(
    values: Floats, origin: Floats | float, bias: float, weight: Floats | None, power: int = 1
) -> Floats:
    """Values less an origin and a bias, squared for a power of 2, times the weight."""
    deviations: Floats = np.subtract(values, origin)
    if bias:
        deviations -= bias
    if power == 2:
        deviations *= deviations
    if weight is not None:
        deviations *= weight
    return deviations


def about_mean(weight: Floats, total: Floats, squares: Floats) -> Floats:
    """Sum of squares about the mean, from sums about any origin."""
    about = squares - total**2 / weight
    return np.where(about > _SQUARES_ROUNDING * squares, about, 0.0)


def _middle(values: Floats) -> float:
    """The lower median, which is one of the values."""
    position = (len(values) - 1) // 2
    return float(np.partition(values, position)[position])


# ------------------------------------------------------------------ scores of all classes


@dataclass(frozen=True, eq=False)
class PosteriorMean(RowMean):
    """Weighted mean of a loss of the probabilities of all classes.

    ``row_values`` takes the class of each row and the probabilities of all, ``constant`` the
    shares of the classes.

    Parameters
    ----------
    labels : ndarray of shape (n_classes,) or None
        Labels of the columns; None: those of ``y_true``, sorted.
    pos_label : label, optional
        The class of one column of probabilities, of two classes; None: the second of ``labels``.
    columns_suffice : bool
        Whether two columns give the same value whichever class is called positive.
    halved_of_two : bool
        Whether the loss of two classes is half of that of several, and so is its range.
    of_one_class : bool
        Whether one column of probabilities says enough of rows that are all of one of two classes.
    """

    greater_is_positive = True
    response: Response = "probabilities"
    labels: NDArray[Any] | None = None
    pos_label: Any = None
    columns_suffice: bool = True
    halved_of_two: bool = False
    of_one_class: bool = False

    def of_all_rows(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Statistic:
        """See `Statistic.of_all_rows`; of two classes one may lack rows, as in scikit-learn."""
        fixed = super().of_all_rows(y_true, y_pred)
        if not self.of_one_class or y_pred.ndim == 2 or len(fixed.labels) != 1:
            return fixed
        [label], positive = fixed.labels.tolist(), self.pos_label
        if positive is None:
            positive = 1 if label in (0, -1) else label
        # A class without rows and without a name needs one that differs.
        differs = f"not {label}" if isinstance(label, str) else label - 1
        pair = np.array([differs if positive == label else label, positive])
        return replace(fixed, labels=pair, pos_label=positive)  # type: ignore[type-var]

    @property
    def lacks_labels(self) -> bool:  # type: ignore[override]
        """Whether the labels of the columns are those of the truth."""
        return self.labels is None

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Facts of any mean, in half of the range where the loss of two classes is halved."""
        facts, (low, high) = super().facts(reduced, rows, members), self.bounds
        has_two_classes = self.halved_of_two and self.labels is not None and len(self.labels) == 2
        return replace(facts, bounds=(low / 2, high / 2)) if has_two_classes else facts

    def row_values_of(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> NDArray[Any]:
        """Return the loss of each row before its sign, (n_samples,)."""
        assert y_true is not None
        labels, prob = oriented(y_pred, self.labels, self.pos_label)
        classes = classes_of(y_true, labels, prob.shape[1])
        return self.row_values(classes, prob)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Loss of the class shares, given as the posterior of every row."""
        y_true, y_pred, sample_weight = rows
        if y_true is None or self.constant is None:
            return None
        labels, prob = oriented(y_pred[:1], self.labels, self.pos_label)
        n_classes = prob.shape[1]
        classes = classes_of(y_true, labels, n_classes)
        weight = np.bincount(classes, sample_weight, n_classes)
        return self.sign * float(self.constant(weight / weight.sum()))


class _ScoreMean(PosteriorMean):
    """A mean over rows of a value of the scores of all classes, or of the one column of two."""

    def row_values_of(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> NDArray[Any]:
        """Return the value of each row before its sign, (n_samples,)."""
        assert y_true is not None
        labels, n_classes = self.labels, 2
        if y_pred.ndim == 2:
            n_classes = y_pred.shape[1]
        else:
            labels, _ = oriented(y_pred[:1], labels, self.pos_label)
        if y_pred.ndim == 2 and labels is not None and np.any(labels[1:] < labels[:-1]):
            # Columns are sorted by label: that order may decide between equal scores.
            order = np.argsort(labels)
            labels, y_pred = labels[order], y_pred[:, order]
        classes = classes_of(y_true, labels, n_classes)
        return self.row_values(classes, y_pred)


@dataclass(frozen=True, eq=False)
class TopAccuracy(_ScoreMean):
    """Share of rows whose class is among the k that score highest.

    Ties are as in scikit-learn: of three or more classes, the one of the last label comes first; of
    two, the first. One column of scores is compared with a threshold, which is that of the whole
    test set, also for resamples that hold no score outside [0, 1].

    Parameters
    ----------
    k : int
        How many classes count.
    """

    ranks_columns = True

    greater_is_better: bool | None = True
    response: Response = "scores"
    k: int = 2

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Warn where the right class is always among the k."""
        n_classes = len(known_labels(self.labels, y_true))
        if self.k >= n_classes:
            text = (
                f"the right class is always among the {self.k} that score highest of "
                f"{n_classes}: this top-k accuracy is 1 whatever the predictions. Use a smaller k."
            )
            tell(Note("undefined", text))

    def of_all_rows(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Statistic:
        """See `Statistic.of_all_rows`; the threshold of one column is that of these rows, too."""
        fixed = super().of_all_rows(y_true, y_pred)
        if y_pred.ndim > 1:
            return fixed
        hits = partial(top_hits, k=self.k, threshold=threshold_of(y_pred))
        return replace(fixed, row_values=hits)  # type: ignore[type-var]


class HingeLoss(_ScoreMean):
    """Mean of how far the decision of each row's class is from beating the best other one by 1.

    The decision of one column counts for the second of two classes, and against the first.
    """

    averages_columns = True

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Refuse two columns, which decision functions of two classes do not have."""
        if y_pred.ndim == 2 and y_pred.shape[1] == 2:
            must = f"be one decision per row of two classes for the metric {self.name!r}"
            advice = "Give what decision_function returns."
            raise fail("y_pred", must, f"shape {y_pred.shape}", advice)


fast_path("hinge_loss", response="scores")(
    lambda request, *, labels=None: HingeLoss(
        request.name,
        hinge_losses,
        response="scores",
        labels=request.columns(labels),
        pos_label=request.pos_label,
    )
)
fast_path("log_loss", response="probabilities")(
    lambda request, *, labels=None, normalize=True: (
        log_loss_statistic(request.name, request.columns(labels), pos_label=request.pos_label)
        if normalize
        else None
    )
)
fast_path("brier_score_loss", response="probabilities")(
    lambda request, *, labels=None, scale_by_half="auto", pos_label=None: brier_statistic(
        request.name,
        request.columns(labels),
        None if scale_by_half == "auto" else bool(scale_by_half),
        pos_label=pos_label,
    )
)


@fast_path("top_k_accuracy_score", response="scores")
def _top_k_accuracy(
    request: MetricRequest, *, k: int = 2, normalize: bool = True, labels: ArrayLike | None = None
) -> TopAccuracy | None:
    if not normalize:
        return None
    return TopAccuracy(
        request.name,
        partial(top_hits, k=k),
        bounds=(0.0, 1.0),
        constant=partial(_largest_classes, k=k),
        labels=request.columns(labels),
        pos_label=request.pos_label,
        k=k,
    )


def log_loss_statistic(
    name: str, labels: NDArray[Any] | None, *, pos_label: Any = None
) -> PosteriorMean:
    """Mean negative log probability of the truth."""
    return PosteriorMean(name, log_losses, constant=entropy, labels=labels, pos_label=pos_label)


def brier_statistic(
    name: str, labels: NDArray[Any] | None, halve: bool | None = None, *, pos_label: Any = None
) -> PosteriorMean:
    """Mean squared distance of the probabilities from the truth; see `squared_distances`."""
    two = labels is not None and len(labels) == 2 if halve is None else halve
    return PosteriorMean(
        name,
        partial(squared_distances, halve=halve),
        bounds=(0.0, 1.0 if two else 2.0),
        # Labels may be known later than here, from the rows.
        halved_of_two=halve is None and not two,
        of_one_class=True,
        constant=partial(gini, halve=halve),
        labels=labels,
        pos_label=pos_label,
    )


def classes_of(
    y_true: NDArray[Any], labels: NDArray[Any] | None, n_classes: int
) -> NDArray[np.intp]:
    """Class of each row, (n_samples,): its column among ``n_classes``."""
    all_labels = label_counts(y_true)[0] if labels is None else np.asarray(labels)
    if len(all_labels) != n_classes:
        listed_labels = all_labels.tolist()
        raise ValueError(
            f"There are probabilities of {n_classes} classes, but the labels {listed_labels}. "
            "Give all labels, in the order of the columns, as labels=."
        )
    return encode(y_true, all_labels)


def all_columns(y_prob: NDArray[Any]) -> NDArray[Any]:
    """Probabilities (n_samples, n_classes) in floating point, from the second of two if alone."""
    prob = y_prob if y_prob.dtype.kind == "f" else y_prob.astype(np.float64)
    if prob.ndim == 2 and prob.shape[1] > 1:
        return prob
    column = prob.reshape(-1)
    return np.column_stack((1 - column, column))


def oriented(
    y_prob: NDArray[Any], labels: NDArray[Any] | None, pos_label: Any
) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    """Labels and columns of `all_columns`, those of a positive class that is named second."""
    prob = all_columns(y_prob)
    if pos_label is None or labels is None or len(labels) != 2 or labels[0] != pos_label:
        return labels, prob
    has_one_column = y_prob.ndim == 1 or y_prob.shape[1] == 1
    return labels[::-1], prob if has_one_column else prob[:, ::-1]


def log_losses(classes: NDArray[np.intp], prob: NDArray[Any]) -> NDArray[Any]:
    """Negative log probability of the truth, clipped as `sklearn.metrics.log_loss` does."""
    epsilon = np.finfo(prob.dtype).eps
    truth_prob = prob[np.arange(len(classes)), classes]
    np.clip(truth_prob, epsilon, 1 - epsilon, out=truth_prob)
    np.log(truth_prob, out=truth_prob)
    return np.negative(truth_prob, out=truth_prob)


def squared_distances(
    classes: NDArray[np.intp], prob: NDArray[Any], halve: bool | None = None
) -> NDArray[Any]:
    """Squared distance from the truth; by default halved for two classes."""
    distance = prob.copy()
    distance[np.arange(len(classes)), classes] -= 1
    squares = np.einsum("ij,ij->i", distance, distance)
    return squares / 2 if halved(prob, halve) else squares


def hinge_losses(classes: NDArray[np.intp], decision: NDArray[Any]) -> Floats:
    """How far the margin of each row's class is below 1, (n_samples,), and 0 above."""
    if decision.ndim == 1:
        margin = np.where(classes == 1, decision, -decision)
    else:
        at = np.arange(len(classes)), classes
        rivals = decision.astype(np.float64)
        rivals[at] = -np.inf
        margin = decision[at] - rivals.max(axis=1)
    return np.maximum(1.0 - margin, 0.0)


def entropy(shares: Floats) -> Floats:
    """Entropy of class shares (..., n_classes), in nats: the log loss of the shares."""
    return -np.sum(xlogy(shares, shares), axis=-1) + 0.0


def gini(shares: Floats, halve: bool | None = None) -> Floats:
    """Brier score of class shares (..., n_classes)."""
    impurity = 1 - np.sum(shares**2, axis=-1)
    # The impurity of a single class is zero, also if its share is not 1 by rounding.
    impurity = np.where(np.count_nonzero(shares, axis=-1) > 1, impurity, 0.0)
    return impurity / 2 if halved(shares, halve) else impurity


def halved(columns: NDArray[Any], halve: bool | None) -> bool:
    """Whether squared distances are halved: as ``halve`` says, else those of two columns."""
    return columns.shape[-1] == 2 if halve is None else halve


def top_hits(
    classes: NDArray[np.intp], scores: NDArray[Any], *, k: int, threshold: float | None = None
) -> NDArray[np.bool_]:
    """Whether the class of each row is among the k that score highest, (n_samples,).

    Counting who scores higher needs no sorting of the columns.
    """
    if scores.ndim == 1 or scores.shape[1] == 2:
        if k > 1:
            return np.ones(len(scores), dtype=bool)
        if scores.ndim == 2:
            return np.asarray((scores[:, 1] > scores[:, 0]) == (classes == 1))
        threshold = threshold_of(scores) if threshold is None else threshold
        return np.asarray((scores > threshold) == (classes == 1))
    score_of_truth = scores[np.arange(len(classes)), classes][:, None]
    rank = np.count_nonzero(scores > score_of_truth, axis=1)
    tied = scores == score_of_truth
    if np.count_nonzero(tied) > len(classes):
        last = np.arange(scores.shape[1]) > classes[:, None]
        rank += np.count_nonzero(tied & last, axis=1)
    return rank < k


def threshold_of(scores: NDArray[Any]) -> float:
    """Threshold of one column of scores, as in scikit-learn: 1/2 for probabilities, else 0."""
    return 0.5 if scores.min() >= 0 and scores.max() <= 1 else 0.0


def _largest_classes(shares: Floats, k: int) -> float:
    return float(np.sort(shares)[::-1][:k].sum())
