"""Metrics of runs: the arrays that each keeps of a run, and the metric computed from them.

* `LabelRunMetric`: functions of the confusion matrix, accuracy included; keeps the predicted label
  of each row, one small integer for all such metrics together.
* `ValueRunMetric`: functions of values predicted (squared error, R2), or of several a row, labels
  that it has or lacks among them; keeps the values.
* `LossRunMetric`: means of a loss of probabilities, or of hits; keeps the loss of each row.
* `ReplicateRunMetric`: anything else (AUC, any function): keeps its value on the rows left out, and
  the influence of each of these on it.
* `ScorerRunMetric`: a callable of estimator, X and y; likewise.

The first three are of one kind, `RowRunMetric`: the statistic at weights of rows, which are 1 for
those left out and 0 for the others, and its derivative by them. What differs is what is kept of a
row, and how such rows are reduced.

Everything is in loss direction, smaller is better, as minus the score where larger is better.

Rows may have weights (`sample_weight` of a scorer). A weighted mean is no mean of losses, but a
function of two sums: it goes the way of other functions of sums.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import sklearn.metrics
from numpy.typing import NDArray

from .._base.work import Workers
from ..inference.distribution import BoundStatistic, over_blocks
from ..method_error.cv_bootstrap import auc_error_influence
from ..method_error.out_of_bag import (
    column_blocks,
    no_information_absolute,
    no_information_squared,
)
from ..metrics.means import PosteriorMean, SumsStatistic
from ..metrics.statistic import ReducedData, Statistic, as_number
from ..resampling.design import (
    ROWS,
    DesignWords,
    GroupDesign,
    RowDesign,
    SamplingDesign,
)
from ..resampling.plan import Binding, ResamplingPlan
from .lending import copy_of_rows
from .samples import TrainingSamples
from .training import Answers, Record, ScoredRows

Array = NDArray[Any]

# ------------------------------------------------------------------ influence of units
#
# The influence of a unit is ``(m - 1) * (value - value without the unit)`` over the m units left
# out (the jackknife): in closed form where the metric has one, for the AUC of two classes by its
# placement values, for functions of labels once per cell of the confusion matrix, else by calling
# the metric again. Functions that have to be called are called for at most `MOST_LEFT_OUT` rows
# of a run, chosen at random: over many runs each row gets its turn.


# Maximum number of calls of a function per run that leave one row out; of more rows it takes some.
MOST_LEFT_OUT = 64
# Maximum number of counts (resamples x units) of a block of resamples that lack one unit each.
_BLOCK = 1 << 21
# Bytes of answers of all runs that are kept together for the next metric (bytes): where there are
# more, to put them together again takes little beside what a metric makes of them.
_MOST_PUT_TOGETHER = 1 << 21
# The runs are what is worked off in parallel, and reported.
_ALONE = Workers(n_jobs=1, verbose=0)


@dataclass(frozen=True, eq=False)
class ErrorFunction:
    """A statistic as an error: ``factor`` times its value; NaN where it is undefined.

    Attributes
    ----------
    statistic : Statistic
    factor : float
    classes : ndarray of shape (n_classes,) or None
    """

    statistic: Statistic
    factor: float
    classes: Array | None

    def __call__(self, y: Array, y_pred: Array, weights: Array | None = None) -> float:
        """Error on some rows."""
        if len(y) == 0 or (weights is not None and not weights.any()):
            return np.nan
        if self.statistic.calls_function:
            return self._values_on(y, y_pred, weights, [np.arange(len(y))])[0]
        quick = self.statistic.value_on_rows(y, y_pred) if weights is None else None
        if quick is not None:
            return self.factor * quick
        reduced = self.statistic.reduce(y, y_pred, weights)
        binding = _binding(self.statistic, reduced, RowDesign.of(len(y)))
        value = float(self.statistic.evaluate(binding.observed()[0], reduced)[0])
        return self.factor * value if np.isfinite(value) else np.nan

    def without_each(
        self, y: Array, y_pred: Array, units: Array, weights: Array | None = None
    ) -> Array:
        """Error without each unit, numbered from 0: (n_units,)."""
        n_units = int(units.max()) + 1
        if self.statistic.calls_function:
            rows = (np.flatnonzero(units != unit) for unit in range(n_units))
            return np.array(self._values_on(y, y_pred, weights, rows))
        reduced = self.statistic.reduce(y, y_pred, weights)
        design = GroupDesign.of(units.astype(np.intp))
        values = np.empty(n_units)
        n_resamples = max(1, _BLOCK // n_units)
        for start in range(0, n_units, n_resamples):
            some = np.arange(start, min(start + n_resamples, n_units))
            n_drawn = np.ones((len(some), n_units), dtype=np.int64)
            n_drawn[np.arange(len(some)), some] = 0
            binding = _binding(self.statistic, reduced, design, n_drawn)
            blocks = over_blocks(binding, _block_values, (binding, self.statistic, reduced), _ALONE)
            values[some] = np.concatenate(blocks)[: len(some)]
        return self.factor * values

    def _values_on(self, y: Array, y_pred: Array, weights: Array | None, rows: Any) -> list[float]:
        reduced = self.statistic.reduce(y, y_pred, weights)
        blocks = (_Rows(numbers, reduced) for numbers in rows)
        values = [self.statistic.evaluate(block, reduced)[0] for block in blocks]  # type: ignore[arg-type]
        return [self.factor * float(v) if np.isfinite(v) else np.nan for v in values]


class _Rows:
    """A block of one resample, for a statistic that reads rows, or counts of their codes."""

    n_resamples = 1

    def __init__(self, rows: Array, reduced: ReducedData) -> None:
        self._rows, self._reduced = rows, reduced

    def rows(self) -> Iterator[Array]:
        yield self._rows

    def sums(self) -> Array:
        assert self._reduced.code is not None
        return np.bincount(self._reduced.code[self._rows], minlength=self._reduced.n_codes)[None]


def replicate(
    function: ErrorFunction,
    y: Array,
    y_pred: Array,
    units: Array | None,
    number: int,
    weights: Array | None = None,
) -> tuple[float, Array]:
    """Error and the influence of each unit on it.

    Parameters
    ----------
    function : ErrorFunction
    y, y_pred : ndarray of shape (m_rows, ...)
        Rows left out.
    units : ndarray of shape (m_rows,) or None
        Unit of each row; None: rows are units.
    number : int
        Of the run: chooses the rows that are left out one by one.
    weights : ndarray of shape (m_rows,), optional
        Weight of each row.

    Returns
    -------
    error : float
    influence : ndarray of shape (m_units,)
        In the order of rows, or of sorted units; NaN where it was not computed.
    """
    statistic, is_label = function.statistic, y_pred.dtype.kind not in "fc" and y_pred.ndim == 1
    are_plain = units is None and weights is None
    classes: Any = () if function.classes is None else function.classes
    is_pairs = statistic.reads == "pairs" and y_pred.ndim == 1 and len(classes) == 2
    if are_plain and is_pairs:
        value, influence = auc_error_influence(y == classes[1], y_pred)
        return abs(function.factor) * (value - 1), abs(function.factor) * influence
    by_one_sort = statistic.without_each_row(y, y_pred) if are_plain else None
    if by_one_sort is not None:
        value, without_row = function.factor * by_one_sort[0], function.factor * by_one_sort[1]
        if not np.isfinite(value) or len(y) < 2:
            return np.nan, np.full(len(y), np.nan)
        return value, (len(y) - 1) * (value - without_row)
    # Of labels without weights it is enough to leave out one row of each cell; see below.
    by_cell = is_label and are_plain
    if units is None and statistic.calls_function and not by_cell:

        def error(rows: Array) -> float:
            return function(y[rows], y_pred[rows], None if weights is None else weights[rows])

        return replicate_rows(error, len(y), None, number)
    value = function(y, y_pred, weights)
    codes = np.arange(len(y))
    if units is not None:
        codes = np.unique(units, return_inverse=True)[1]
    elif is_label and statistic.calls_function:
        truth = np.unique(y, return_inverse=True)[1]
        labels, decision = np.unique(y_pred, return_inverse=True)
        codes = np.unique(truth * len(labels) + decision, return_inverse=True)[1]
    n_units = len(y) if units is None else int(codes.max()) + 1
    if not np.isfinite(value) or n_units < 2:
        return np.nan, np.full(n_units, np.nan)
    if by_cell and statistic.calls_function:
        # Rows of one cell are interchangeable: it is enough to leave one of each out.
        first_of_cell = np.unique(codes, return_index=True)[1]
        without = [function(np.delete(y, row), np.delete(y_pred, row)) for row in first_of_cell]
        return value, (n_units - 1) * (value - np.array(without))[codes]
    return value, (n_units - 1) * (value - function.without_each(y, y_pred, codes, weights))


def replicate_rows(
    evaluate: Callable[[Array], float], n_rows: int, units: Array | None, number: int
) -> tuple[float, Array]:
    """As `replicate`, for a function of row positions."""
    every = np.arange(n_rows)
    value = evaluate(every)
    codes = every if units is None else np.unique(units, return_inverse=True)[1]
    n_units = int(codes.max()) + 1 if n_rows else 0
    influence = np.full(n_units, np.nan)
    if not np.isfinite(value) or n_units < 2:
        return np.nan, influence
    left_out = every[:n_units]
    if units is None and n_units > MOST_LEFT_OUT:
        left_out = np.random.default_rng(number).permutation(n_units)[:MOST_LEFT_OUT]
    for unit in left_out:
        influence[unit] = (n_units - 1) * (value - evaluate(every[codes != unit]))
    return value, influence


def _block_values(shared: tuple[Binding, Statistic, ReducedData], number: int) -> Array:
    """Return the values of a statistic on the resamples of a block."""
    binding, statistic, reduced = shared
    return statistic.evaluate(binding.block(number)[0], reduced)


def _binding(
    statistic: Statistic, reduced: Any, design: SamplingDesign, n_drawn: Array | None = None
) -> Any:
    n_resamples = 1 if n_drawn is None else len(n_drawn)
    plan = ResamplingPlan(design, n_resamples, np.random.SeedSequence(0), unit_counts=n_drawn)
    return plan.bind([BoundStatistic.of(statistic, reduced).coding])


# ------------------------------------------------------------------ metrics

# Permutations for a no-information error without a closed form.
N_PERMUTATIONS = 100


@dataclass(frozen=True, eq=False)
class Targets:
    """The targets, and the units that they are drawn in.

    Attributes
    ----------
    y : ndarray of shape (n_samples, ...) or None
        True values or labels.
    classes : ndarray of shape (n_classes,) or None
        Sorted labels, for classification.
    codes : ndarray of shape (n_samples,) or None
        Position of each label among them.
    unit : ndarray of shape (n_samples,) or None
        Group of each row; None where rows are drawn.
    words : DesignWords
        Of what is drawn.
    """

    y: Array | None
    classes: Array | None
    codes: Array | None
    unit: Array | None
    words: DesignWords = ROWS

    @property
    def smallest_class(self) -> int | None:
        """Rows of the rarest class, or groups that hold it."""
        if self.codes is None:
            return None
        if self.unit is None:
            return int(np.bincount(self.codes).min())
        classes = [np.unique(self.unit[self.codes == k]) for k in range(int(self.codes.max()) + 1)]
        return min(map(len, classes))


@dataclass(frozen=True, eq=False)
class RunMetricArguments:
    """What every run metric is made of.

    Attributes
    ----------
    name : str
    target : Targets
    sign, factor : float
        The error is ``-sign`` times the score, and ``factor`` times the statistic's value.
    bounds : tuple of float
        Smallest and largest possible error.
    function : callable or None
        The metric function behind it.
    methods : sequence of str
        Responses of the estimator that it takes.
    positive : int
        Position of the positive one of two classes.
    weights : ndarray of shape (n_samples,) or None
        Of each row, not negative.
    by_row, params : mapping
        Metadata that a callable is given: those with a value for each row, and others.
    """

    name: str
    target: Targets
    sign: float = 1.0
    factor: float = -1.0
    bounds: tuple[float, float] = (-np.inf, np.inf)
    function: Any = None
    methods: Sequence[str] = ()
    positive: int = 1
    weights: Array | None = None
    by_row: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)


class RunMetric(ABC):
    """A metric of the runs of a method, in loss direction.

    Attributes
    ----------
    name : str
        How results call it.
    key : str
        Under which its arrays are kept.
    sign : float
        Error is ``-sign`` times the score; 1.0 where larger scores are better.
    bounds : tuple of float
        Smallest and largest possible error.
    target : Targets
    weights : ndarray of shape (n_samples,) or None
        Of each row, not negative.
    no_information_note : str or None
        How the no-information error was found, where not exactly.
    positive_note : str or None
        Which of two classes is the positive one, where the user did not name it.
    is_mean : bool
        Whether the error is the mean of one loss per row.
    under_root : RowRunMetric or None
        The mean that the error is the square root of, from the same answers; None where it is none.
    """

    key: str
    no_information_note: str | None = None
    positive_note: str | None = None
    is_mean: bool = False
    under_root: RowRunMetric | None = None

    def __init__(self, arguments: RunMetricArguments) -> None:
        self.name, self.target = arguments.name, arguments.target
        self.sign, self.bounds = arguments.sign, arguments.bounds
        self.weights = arguments.weights

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights in the error."""
        return self.weights is not None

    def weights_of(self, rows: Any) -> Array | None:
        """Weights of some rows."""
        return None if self.weights is None else self.weights[rows]

    @abstractmethod
    def keep(self, answers: Answers, scored: ScoredRows) -> Mapping[str, Any]:
        """Arrays to keep of a run, by name."""

    @abstractmethod
    def no_information(self, answers: Answers, rng: np.random.Generator) -> float:
        """Error if targets were independent of the answers of the model of all rows."""

    def score(self, error: Any) -> Any:
        """From an error, or an array of them, to the metric's own scale and direction."""
        return 0.0 - self.sign * error

    def error_of(self, score: float) -> float:
        """From a score to the error."""
        return 0.0 - self.sign * score

    @property
    def pools_runs(self) -> bool:
        """Whether answers of all runs, or folds, are read as one: a run has no share of its own."""
        return False


class RowRunMetric(RunMetric):
    """A function of sums over rows, from what each run keeps of each; ``is_mean`` of their losses.

    ``data`` below are the answers kept, (n_runs, n_samples, ...), and ``weights`` those of the rows
    of each run: the out-of-bag error is that at 1 for the rows left out, and 0 for the others.
    """

    def __init__(self, arguments: RunMetricArguments, statistic: SumsStatistic) -> None:
        super().__init__(arguments)
        self.statistic, self.factor = statistic, arguments.factor
        self.is_mean = statistic.is_row_mean and self.weights is None

    @property
    def pools_runs(self) -> bool:
        return not self.is_mean

    @abstractmethod
    def losses(self, data: Array) -> Array:
        """Loss of each run and row, (n_runs, n_samples); for means."""

    def reduced(self, answers: Array) -> ReducedData:
        """The rows of one run, about points that are those of all runs; for functions of means."""
        raise TypeError(f"{type(self).__name__} has losses only, whose mean needs no sums.")

    def errors(self, data: Array, weights: Array) -> Array:
        """Error of each run, (n_runs,)."""
        weights = self._weighed(weights)
        if self.statistic.is_row_mean:
            return _means(self.losses(data), weights)
        return self._at(self._sums(data, weights))[0]

    def linearised(self, data: Array, weights: Array) -> tuple[Array, Array]:
        """Error of each run, and values of its rows whose mean it is, to first order of others.

        The values are (n_runs, n_samples); those of a mean are its losses.
        """
        if self.is_mean:
            losses = self.losses(data)
            return _means(losses, weights), losses
        if self.statistic.is_row_mean:
            losses, weighed = self.losses(data), self._weighed(weights)
            errors = _means(losses, weighed)
            linear, offset = self._moves_of_mean(losses, weighed, errors[:, None]), -errors
        else:
            sums = self._sums(data, self._weighed(weights))
            errors, gradient = self._at(sums)
            offset = np.einsum("ij,ij->i", sums, gradient) - errors
            return errors, self._linear(data, gradient, weights.sum(axis=1), offset)
        linear *= weights.sum(axis=1)[:, None]
        linear -= offset[:, None]
        return errors, linear

    def together(self, data: Array, weights: Array) -> tuple[float, Array]:
        """Error of the rows of all runs as one table, and its derivative by the weight of each."""
        weighed = self._weighed(weights)
        if self.statistic.is_row_mean:
            losses = self.losses(data)
            value = float(np.sum(weighed * losses) / weighed.sum())
            return value, self._moves_of_mean(losses, weighed.reshape(1, -1), value)
        values, gradient = self._at(self._sums(data, weighed).sum(axis=0)[None])
        slopes, ones = np.broadcast_to(gradient, (len(data), gradient.shape[1])), np.ones(len(data))
        return float(values[0]), self._linear(data, slopes, ones, ones - 1)

    def _weighed(self, weights: Array) -> Array:
        return weights if self.weights is None else weights * self.weights

    def _moves_of_mean(self, losses: Array, weighed: Array, errors: Any) -> Array:
        """Derivative of a weighted mean by how often each row counts, (n_runs, n_samples)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.weights * (losses - errors) / weighed.sum(axis=1)[:, None]

    def _sums(self, data: Array, weights: Array) -> Array:
        """Weighted sums of each run, (n_runs, n_terms)."""
        runs = zip(map(self.reduced, data), weights, strict=True)
        return np.array([_sums_of(rows, weight) for rows, weight in runs])

    def _at(self, sums: Array) -> tuple[Array, Array]:
        """Error of each run by its sums, and its derivative by each of them."""
        with np.errstate(all="ignore"):
            errors = self.factor * self.statistic.combine(sums, self._like)
            return errors, self.factor * self.statistic.gradient(sums, self._like)

    def _linear(self, data: Array, gradient: Array, factors: Array, offsets: Array) -> Array:
        """Derivative of each run's error by the weight of each row, (n_runs, n_samples).

        Times a factor of each run, less an offset.
        """
        derivatives = np.empty(data.shape[:2])
        for of_run, answers, slopes in zip(derivatives, data, gradient, strict=True):
            rows = self.reduced(answers)
            of_codes = np.asarray(rows.terms @ slopes)
            of_run[:] = of_codes if rows.code is None else of_codes.take(rows.code)
        if self.weights is not None:
            derivatives *= self.weights
        derivatives *= factors[:, None]
        derivatives -= offsets[:, None]
        return derivatives

    @cached_property
    def _like(self) -> ReducedData:
        """Rows of a run that answers the truth, for the data that the formula needs beside sums."""
        return self.reduced(np.asarray(self.target.y, dtype=np.float64))


def _means(losses: Array, weights: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.einsum("ij,ij->i", losses, weights, dtype=float) / weights.sum(axis=1)


def _sums_of(rows: ReducedData, weights: Array) -> Array:
    of_codes = weights if rows.code is None else np.bincount(rows.code, weights, rows.n_codes)
    return np.asarray(of_codes @ rows.terms)


class LabelRunMetric(RowRunMetric):
    """A function of the confusion matrix."""

    key = "labels"

    def __init__(
        self, arguments: RunMetricArguments, statistic: SumsStatistic, labels: Array
    ) -> None:
        super().__init__(arguments, statistic)
        self.labels = labels
        self.codes = np.searchsorted(labels, np.asarray(arguments.target.y))
        # Numbers of cells have the smallest type that holds them: there is one per row and run.
        of_type = np.min_scalar_type(len(labels) ** 2 - 1)
        self._first_cell = (self.codes * len(labels)).astype(of_type)

    def keep(self, answers: Answers, scored: ScoredRows) -> Mapping[str, Any]:
        """Keep the position of each predicted label."""
        predicted = answers.predicted
        code = np.minimum(np.searchsorted(self.labels, predicted), len(self.labels) - 1)
        if not np.array_equal(self.labels[code], predicted):
            raise ValueError("The estimator predicts labels that y does not hold.")
        return {self.key: code.astype(np.min_scalar_type(len(self.labels) - 1))}

    @cached_property
    def _labels_of_cells(self) -> tuple[Array, Array]:
        truth, decision = np.divmod(np.arange(len(self.labels) ** 2), len(self.labels))
        return self.labels[truth], self.labels[decision]

    @cached_property
    def _like(self) -> ReducedData:
        """All cells of the matrix, reduced."""
        return self.statistic.reduce(*self._labels_of_cells, None)

    @cached_property
    def _cell_losses(self) -> Array:
        table = self.factor * self.statistic.signed_values(*self._labels_of_cells)
        # Whole numbers have a small type.
        small = table.astype(np.int8)
        return small if np.array_equal(small, table) else table

    def losses(self, data: Array) -> Array:
        """Loss of each row's cell."""
        losses = np.empty(data.shape, self._cell_losses.dtype)
        for of_run, answers in zip(losses, data, strict=True):
            # All numbers are those of cells: "clip" saves the check of each.
            self._cell_losses.take(self._first_cell + answers, out=of_run, mode="clip")
        return losses

    @cached_property
    def _code(self) -> Array:
        """Code of each cell, (n_cells,)."""
        code = self._like.code
        return np.arange(len(self.labels) ** 2) if code is None else code.astype(np.intp)

    def _codes_of_runs(self, data: Array) -> Iterator[Array]:
        """Yield the code of the cell of each row, (n_samples,), of run after run."""
        return (self._code.take(self._first_cell + answers, mode="clip") for answers in data)

    def _sums(self, data: Array, weights: Array) -> Array:
        n_codes, terms = self._like.n_codes, self._like.terms
        runs = zip(self._codes_of_runs(data), weights, strict=True)
        # A run has the same sums to the last bit whichever others there are.
        return np.array([np.asarray(np.bincount(*of_run, n_codes) @ terms) for of_run in runs])

    def _linear(self, data: Array, gradient: Array, factors: Array, offsets: Array) -> Array:
        values = np.array([np.asarray(self._like.terms @ slopes) for slopes in gradient])
        if self.weights is None:
            # Of each code before they are put in place.
            values = values * factors[:, None] - offsets[:, None]
        linear = np.empty(data.shape)
        for of_run, codes, of_codes in zip(linear, self._codes_of_runs(data), values, strict=True):
            of_codes.take(codes, out=of_run, mode="clip")
        if self.weights is not None:
            linear *= self.weights
            linear *= factors[:, None]
            linear -= offsets[:, None]
        return linear

    def no_information(self, answers: Answers, rng: np.random.Generator) -> float:
        """The metric at the confusion matrix of labels and predictions that are independent."""
        size = len(self.labels)
        predicted = np.searchsorted(self.labels, answers.predicted)
        of_true, of_predicted = (
            np.bincount(codes, self.weights, size) for codes in (self.codes, predicted)
        )
        n = of_true.sum()
        cells = np.outer(of_true / n, of_predicted).ravel()
        if self.statistic.is_row_mean:
            return float(cells @ self._cell_losses / n)
        return float(self._at(_sums_of(self._like, cells)[None])[0][0])


class ValueRunMetric(RowRunMetric):
    """A function of predicted values, or of several a row: means of a loss, their roots, R2.

    Of labels that a row has or lacks the predictions are kept as flags.
    """

    def __init__(self, arguments: RunMetricArguments, statistic: SumsStatistic) -> None:
        super().__init__(arguments, statistic)
        self.key = "flags" if statistic.response == "indicators" else "values"
        self._function = arguments.function
        self._y = np.asarray(arguments.target.y)
        # Of all rows: the median, which the outliers that a run may lack do not move.
        self._origin = np.median(self._y, axis=0)
        mean: Any = statistic.under_root
        self.under_root = None if mean is None else ValueRunMetric(arguments, mean)

    def keep(self, answers: Answers, scored: ScoredRows) -> Mapping[str, Any]:
        """Keep the predicted values."""
        values = np.asarray(answers.predicted, dtype=np.float64)
        return {self.key: values == 1 if self.key == "flags" else values}

    def losses(self, data: Array) -> Array:
        """Loss of each run and row."""
        losses = np.empty(data.shape[:2])
        for of_run, predicted in zip(losses, data, strict=True):
            of_run[:] = self.statistic.signed_values(self._y, predicted)
        losses *= self.factor
        return losses

    def reduced(self, answers: Array) -> ReducedData:
        """The rows about the median of the truth."""
        return self.statistic.reduce_about(self._y, answers, self._origin)

    def no_information(self, answers: Answers, rng: np.random.Generator) -> float:
        """Closed form for squared and absolute errors, R2 and explained variance."""
        y, predicted = self._y.astype(float), np.asarray(answers.predicted, dtype=float)
        weighed = {"sample_weight": self.weights}

        def variance(values: Array) -> float:
            mean = np.average(values, weights=self.weights)
            return float(np.average((values - mean) ** 2, weights=self.weights))

        closed_forms: dict[Any, Any] = {
            sklearn.metrics.mean_squared_error: lambda: no_information_squared(
                y, predicted, **weighed
            ),
            sklearn.metrics.root_mean_squared_error: lambda: np.sqrt(
                no_information_squared(y, predicted, **weighed)
            ),
            sklearn.metrics.mean_absolute_error: lambda: no_information_absolute(
                y, predicted, **weighed
            ),
            sklearn.metrics.mean_squared_log_error: lambda: no_information_squared(
                np.log1p(y), np.log1p(predicted), **weighed
            ),
            sklearn.metrics.r2_score: lambda: (
                1 - no_information_squared(y, predicted, **weighed) / variance(y)
            ),
            sklearn.metrics.explained_variance_score: lambda: -variance(predicted) / variance(y),
        }
        if y.ndim == 1 and self._function in closed_forms:
            return float(self.factor * self.statistic.sign * closed_forms[self._function]())
        self.no_information_note = _permuted("predicted values")
        ones = np.ones((1, len(y)))
        every = (rng.permutation(len(y)) for _ in range(N_PERMUTATIONS))
        return float(np.mean([self.errors(predicted[order][None], ones) for order in every]))


class LossRunMetric(RowRunMetric):
    """The mean of a loss of the probabilities, or scores, of all classes."""

    def __init__(self, arguments: RunMetricArguments, posterior_mean: PosteriorMean) -> None:
        super().__init__(arguments, posterior_mean)
        self.key = f"loss of {arguments.name}"
        self._methods, self._positive = arguments.methods, arguments.positive

    @property
    def probability_key(self) -> str | None:
        """Under which the probability of the second of two classes is kept; None if it is not."""
        classes = self.target.classes
        is_known = self.statistic.response == "probabilities"
        return "probability" if is_known and classes is not None and len(classes) == 2 else None

    def _columns(self, answers: Answers) -> Array:
        return answers.response(self.statistic.response, self._methods, self._positive)

    def keep(self, answers: Answers, scored: ScoredRows) -> Mapping[str, Any]:
        """Keep the loss of each row, and the probability behind it."""
        assert self.target.codes is not None
        columns = self._columns(answers)
        losses = self._row_losses(self.target.codes[scored.rows], columns)
        if not np.isfinite(losses).all():
            raise ValueError(f"{self.name} is not finite on rows that were left out.")
        key = self.probability_key
        return {self.key: losses} if key is None else {self.key: losses, key: columns[:, 1].copy()}

    def _row_losses(self, codes: Array, columns: Array) -> Array:
        return self.factor * self.statistic.signed_values(codes, columns)

    def losses(self, data: Array) -> Array:
        """The kept losses."""
        return data

    def no_information(self, answers: Answers, rng: np.random.Generator) -> float:
        """Mean loss over all pairs of a class and an answer."""
        assert self.target.codes is not None
        shares = np.bincount(self.target.codes, self.weights)
        shares = shares / shares.sum()
        columns = self._columns(answers)
        means = [
            np.average(
                self._row_losses(np.full(len(self.target.codes), k), columns), weights=self.weights
            )
            for k in range(len(shares))
        ]
        return float(shares @ means)


class ReplicateRunMetric(RunMetric):
    """Any metric of predictions, by its value on the rows left out and their influence on it."""

    def __init__(
        self, arguments: RunMetricArguments, statistic: Statistic, limit: float | None
    ) -> None:
        super().__init__(arguments)
        self.statistic, self.key = statistic, f"replicate of {arguments.name}"
        self.function = ErrorFunction(statistic, arguments.factor, arguments.target.classes)
        self._limit, self._methods = limit, arguments.methods
        self._positive = arguments.positive

    def responses(self, answers: Answers) -> Array:
        """Answers that the metric takes."""
        response = answers.response(self.statistic.response, self._methods, self._positive)
        return np.array(response.tolist()) if response.dtype.hasobject else response

    @property
    def reads_folds_together(self) -> bool:
        """Whether the answers of all folds are read as one; areas under the ROC curve need not."""
        return self.statistic.reads != "pairs"

    @property
    def pools_runs(self) -> bool:
        return self.reads_folds_together

    def keep(self, answers: Answers, scored: ScoredRows) -> Mapping[str, Any]:
        """Keep error and influence; the responses too where folds are pooled afterwards."""
        y, y_pred = self._truth(scored.rows), self.responses(answers)
        weights = self.weights_of(scored.rows)
        arrays: dict[str, Any] = {}
        if scored.kind == "fold":
            arrays[f"{self.key}: response"] = y_pred
            arrays[f"{self.key}: error"] = self.function(y, y_pred, weights)
            # Answers on a scale that the models of all folds share, where there is one.
            comparable: Array | None = None
            if self.reads_folds_together and self.statistic.response == "probabilities":
                comparable = answers.probabilities
            elif self.reads_folds_together:
                comparable = answers.comparable(self._methods, self._positive)
            if comparable is not None:
                has_objects = comparable.dtype.hasobject
                comparable = np.array(comparable.tolist()) if has_objects else comparable
                arrays[f"{self.key}: comparable"] = comparable
            return arrays
        if scored.kind == "full":
            return {f"{self.key}: error": self.function(y, y_pred, weights)}
        if scored.train is not None:
            arrays[f"{self.key}: all"] = self.function(y, y_pred, weights)
            arrays[f"{self.key}: inside"] = self.function(
                self._truth(scored.train), y_pred[scored.train], self.weights_of(scored.train)
            )
        units = None if scored.units is None else scored.units[scored.outside]
        y, y_pred = y[scored.outside], y_pred[scored.outside]
        weights = None if weights is None else weights[scored.outside]
        error, influence = replicate(self.function, y, y_pred, units, scored.number, weights)
        return {**arrays, f"{self.key}: error": error, f"{self.key}: influence": influence}

    def _truth(self, rows: Array) -> Array:
        assert self.target.y is not None
        return self.target.y[rows]

    def no_information(self, answers: Answers, rng: np.random.Generator) -> float:
        """The limit over permutations where the metric has one, or the mean of some of them."""
        if self._limit is not None:
            return float(self.function.factor * self._limit)
        self.no_information_note = _permuted("targets")
        y_pred, n = self.responses(answers), len(answers.predicted)
        draws = (self._truth(rng.permutation(n)) for _ in range(N_PERMUTATIONS))
        return _mean_defined([self.function(y, y_pred, self.weights) for y in draws])


class ScorerRunMetric(RunMetric):
    """A callable of estimator, X and y."""

    def __init__(self, arguments: RunMetricArguments, scorer: Callable[..., float]) -> None:
        super().__init__(arguments)
        self.scorer, self.key = scorer, f"score of {arguments.name}"
        self._by_row, self._params = arguments.by_row, arguments.params

    @property
    def is_weighted(self) -> bool:
        return "sample_weight" in self._by_row

    def error(self, answers: Answers, scored: Array, rows: Any = None, y: Any = None) -> float:
        """Error on some of the rows answered for, all of which ``scored`` numbers.

        NaN where it is not finite. ``y`` are the rows whose targets are taken in their place.
        """
        at = scored if rows is None else scored[rows]
        by_row = {name: copy_of_rows(values, at) for name, values in self._by_row.items()}
        call = partial(self.scorer, answers.estimator, **{**self._params, **by_row})
        y_rows = rows if y is None else y
        targets = answers.y
        if y_rows is not None and targets is not None:
            targets = copy_of_rows(targets, y_rows)
        if rows is None:
            lent = (answers.X,) if targets is None else (answers.X, targets)
            value = as_number(answers.lender.call(call, *lent))
        else:
            X = copy_of_rows(answers.X, rows)
            value = as_number(call(X) if targets is None else call(X, targets))
        return 0.0 - self.sign * value if np.isfinite(value) else np.nan

    def keep(self, answers: Answers, scored: ScoredRows) -> Mapping[str, Any]:
        """Keep error and influence; for bootstrap runs on the rows left out."""
        if scored.kind == "full":
            return {f"{self.key}: error": self.error(answers, scored.rows)}
        arrays: dict[str, Any] = {}
        if scored.train is not None:
            arrays[f"{self.key}: all"] = self.error(answers, scored.rows)
            arrays[f"{self.key}: inside"] = self.error(answers, scored.rows, scored.train)
        outside = np.flatnonzero(scored.outside)
        units = None if scored.units is None else scored.units[outside]
        error, influence = replicate_rows(
            lambda rows: self.error(answers, scored.rows, outside[rows]),
            len(outside),
            units,
            scored.number,
        )
        return {**arrays, f"{self.key}: error": error, f"{self.key}: influence": influence}

    def no_information(self, answers: Answers, rng: np.random.Generator) -> float:
        """Mean over permutations of y; NaN without y."""
        if answers.y is None:
            return np.nan
        self.no_information_note = _permuted("targets")
        every = np.arange(len(np.asarray(answers.y)))
        draws = (rng.permutation(len(every)) for _ in range(N_PERMUTATIONS))
        return _mean_defined([self.error(answers, every, None, rows) for rows in draws])


def _permuted(what: str) -> str:
    return f"The no-information score is the mean over {N_PERMUTATIONS} permutations of the {what}."


def _mean_defined(values: Sequence[float]) -> float:
    defined = [value for value in values if np.isfinite(value)]
    return float(np.mean(defined)) if defined else np.nan


# ------------------------------------------------------------------ what was kept of all runs


@dataclass(frozen=True, eq=False)
class RunRecords:
    """What was kept of all runs.

    Attributes
    ----------
    target : Targets
    samples : TrainingSamples
    full_records : list of dict
        Records of the runs on all rows, one per seed.
    sample_records : list of dict
        Records of the other runs, on bootstrap samples and on folds, in their order.
    all_rows : bool
        Whether bootstrap runs answered for all rows.
    failed_score : float
        Score that a failed run counts with; NaN: it is left out.
    """

    target: Targets
    samples: TrainingSamples
    full_records: Sequence[Record]
    sample_records: Sequence[Record]
    all_rows: bool
    failed_score: float = np.nan
    # Made anew by `replace`, whose records may be others.
    _put_together: dict[str, tuple[Array, Array]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return self.samples.folds.shape[1]

    @property
    def n_units(self) -> int:
        """Number of rows or groups that were drawn from."""
        return int(self.samples.counts.shape[1])

    @cached_property
    def row_counts(self) -> Array:
        """How often each row is in each bootstrap sample, (n_resamples, n_samples)."""
        unit = self.target.unit
        return self.samples.counts if unit is None else self.samples.counts[:, unit]

    def of_bootstrap(self, key: str) -> tuple[Array, Array]:
        """Values kept per row, (n_runs, n_samples, ...), and the numbers of these runs.

        Those of all metrics of labels are put together once.
        """
        if key in self._put_together:
            return self._put_together[key]
        records = self.sample_records[: self.samples.n_bootstrap_runs]
        runs = np.array([k for k, record in enumerate(records) if key in record], dtype=np.intp)
        if not len(runs):
            return np.empty((0, self.n_rows)), runs
        like = records[runs[0]][key]
        data = np.zeros((len(runs), self.n_rows, *like.shape[1:]), dtype=like.dtype)
        for values, k in zip(data, runs, strict=True):
            counts = self.row_counts[k // self.samples.n_seeds]
            rows = slice(None) if self.all_rows else np.flatnonzero(counts == 0)
            answers = records[k][key]
            # Rows without an answer weigh nothing. They hold one of the run's answers, since not
            # every loss takes a zero.
            values[:] = answers[0] if len(answers) else 0
            values[rows] = answers
        if key == LabelRunMetric.key and data.nbytes <= _MOST_PUT_TOGETHER:
            data.flags.writeable = False
            self._put_together[key] = data, runs
        return data, runs

    def by_rows(self, key: str) -> Iterator[tuple[slice, Array, Array]]:
        """Yield what bootstrap runs kept of consecutive rows.

        Read in blocks, the answers of many runs never are one array.

        Yields
        ------
        rows : slice
        data : ndarray of shape (n_runs, n_rows, ...)
            0 where a run kept nothing of a row.
        outside : ndarray of shape (n_runs, n_rows)
            Which of them each run left out.
        """
        records = self.sample_records[: self.samples.n_bootstrap_runs]
        runs = np.array([k for k, of_run in enumerate(records) if key in of_run], dtype=np.intp)
        if not len(runs):
            return
        samples, of_runs = runs // self.samples.n_seeds, [records[k][key] for k in runs]
        like, n_read = of_runs[0], np.zeros(len(runs), dtype=np.intp)
        blocks = [*column_blocks(len(runs), self.n_rows)]
        for rows in blocks:
            units = rows if self.target.unit is None else self.target.unit[rows]
            outside = self.samples.counts[:, units][samples] == 0
            answered = np.ones_like(outside) if self.all_rows else outside
            data = np.zeros((*answered.shape, *like.shape[1:]), dtype=like.dtype)
            ends = n_read + answered.sum(axis=1)
            for of_run, values, has_answer, start, end in zip(
                data, of_runs, answered, n_read, ends, strict=True
            ):
                of_run[has_answer] = values[start:end]
            n_read = ends
            yield rows, data, outside

    @cached_property
    def counts_failures(self) -> bool:
        """Whether failed runs count with a score of their own."""
        return bool(np.isfinite(self.failed_score))

    def failed_bootstrap(self) -> Array:
        """Numbers of the bootstrap runs that failed; for runs that count then."""
        records = self.sample_records[: self.samples.n_bootstrap_runs]
        failed = [k for k, record in enumerate(records) if record.get("failure") is not None]
        return np.array(failed, dtype=np.intp)

    def of_folds(self, key: str) -> Array:
        """Values kept per row in each whole repeat, (n_repeats x n_seeds, n_samples, ...).

        Repeats with folds that failed are whole where these count; rows of such folds then hold an
        answer of another one, and are those of `failed_in_folds`.
        """
        repeats = []
        for fold_of, records in self._repeats(key):
            like = next(record[key] for record in records if key in record)
            data = np.zeros((self.n_rows, *like.shape[1:]), dtype=like.dtype)
            for fold, record in enumerate(records):
                data[fold_of == fold] = record.get(key, like[:1])
            repeats.append(data)
        return np.array(repeats)

    def failed_in_folds(self, key: str) -> Array:
        """Which rows of `of_folds` are in a fold that failed, (n_repeats x n_seeds, n_samples)."""
        return np.array(
            [
                np.array([key not in record for record in records])[fold_of]
                for fold_of, records in self._repeats(key)
            ]
        )

    def _repeats(self, key: str) -> Iterator[tuple[Array, list[Record]]]:
        """Yield the fold of each row, and the records of the folds, of each whole repeat."""
        for repeat, fold_of in enumerate(self.samples.folds):
            for s in range(self.samples.n_seeds):
                records = self.fold_records(repeat, s)
                n_known = sum(key in record for record in records)
                if n_known == len(records) or (self.counts_failures and n_known):
                    yield fold_of, records

    def fold_values(self, key: str, failed: float = np.nan) -> Array:
        """Numbers kept per fold, (n_repeats, n_seeds, n_folds); ``failed`` where a run failed."""
        shape = (len(self.samples.folds), self.samples.n_seeds)
        values = [
            [record.get(key, failed) for record in self.fold_records(repeat, s)]
            for repeat in range(shape[0])
            for s in range(shape[1])
        ]
        return np.array(values, dtype=float).reshape(*shape, self.samples.n_folds)

    def fold_records(self, repeat: int, s: int) -> list[Record]:
        """Records of the folds of a repeat, for one seed."""
        n_seeds, n_folds = self.samples.n_seeds, self.samples.n_folds
        first_fold = self.samples.n_bootstrap_runs + repeat * n_folds * n_seeds + s
        return [self.sample_records[first_fold + fold * n_seeds] for fold in range(n_folds)]
