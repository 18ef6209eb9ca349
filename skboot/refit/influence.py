"""The value of a metric on the rows left out of a run, and the influence of each unit on it.

The influence of a unit is ``(m - 1) * (value - value without the unit)`` over the m units left out
(the jackknife): in closed form where the metric has one, for the AUC of two classes by its
placement values, for functions of labels once per cell of the confusion matrix, else by calling
the metric again. Functions that have to be called are called for at most `MOST_LEFT_OUT` rows of a
run, chosen at random: over many runs each row gets its turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.workers import Workers
from ..inference.distribution import BoundStatistic, over_blocks
from ..method_error.cv_bootstrap import auc_error_influence
from ..metrics.statistic import ReducedData, Statistic, as_number
from ..resampling.design import GroupDesign, RowDesign, SamplingDesign
from ..resampling.plan import Binding, ResamplingPlan
from .lending import copy_of_rows
from .training import Answers

Array = NDArray[Any]

# Maximum number of calls of a function per run that leave one row out; of more rows it takes some.
MOST_LEFT_OUT = 64
# Maximum number of counts (resamples x units) of a block of resamples that lack one unit each.
_BLOCK = 1 << 21
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

    def __call__(self, y: Array, given: Array, weights: Array | None = None) -> float:
        """Error on some rows."""
        if len(y) == 0 or (weights is not None and not weights.any()):
            return np.nan
        if self.statistic.calls_function:
            return self._of_rows(y, given, weights, [np.arange(len(y))])[0]
        reduced = self.statistic.reduce(y, given, weights)
        binding = _binding(self.statistic, reduced, RowDesign.of(len(y)))
        value = float(self.statistic.evaluate(binding.observed()[0], reduced)[0])
        return self.factor * value if np.isfinite(value) else np.nan

    def without_each(
        self, y: Array, given: Array, units: Array, weights: Array | None = None
    ) -> Array:
        """Error without each unit, numbered from 0: (n_units,)."""
        n_units = int(units.max()) + 1
        if self.statistic.calls_function:
            others = (np.flatnonzero(units != unit) for unit in range(n_units))
            return np.array(self._of_rows(y, given, weights, others))
        reduced = self.statistic.reduce(y, given, weights)
        design = GroupDesign.of(units.astype(np.intp))
        values = np.empty(n_units)
        n_resamples = max(1, _BLOCK // n_units)
        for start in range(0, n_units, n_resamples):
            some = np.arange(start, min(start + n_resamples, n_units))
            drawn = np.ones((len(some), n_units), dtype=np.int64)
            drawn[np.arange(len(some)), some] = 0
            binding = _binding(self.statistic, reduced, design, drawn)
            blocks = over_blocks(binding, _of_block, (binding, self.statistic, reduced), _ALONE)
            values[some] = np.concatenate(blocks)[: len(some)]
        return self.factor * values

    def _of_rows(self, y: Array, given: Array, weights: Array | None, rows: Any) -> list[float]:
        reduced = self.statistic.reduce(y, given, weights)
        blocks = (_Rows(each, reduced) for each in rows)
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
    given: Array,
    units: Array | None,
    number: int,
    weights: Array | None = None,
) -> tuple[float, Array]:
    """Error and the influence of each unit on it.

    Parameters
    ----------
    function : ErrorFunction
    y, given : ndarray of shape (m_rows, ...)
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
    statistic, is_label = function.statistic, given.dtype.kind not in "fc" and given.ndim == 1
    are_plain = units is None and weights is None
    is_pairs = statistic.reads == "pairs" and given.ndim == 1 and _is_binary(function)
    if are_plain and is_pairs:
        assert function.classes is not None
        value, influence = auc_error_influence(y == function.classes[1], given)
        return abs(function.factor) * (value - 1), abs(function.factor) * influence
    # Of labels without weights it is enough to leave out one row of each cell; see below.
    by_cell = is_label and are_plain
    if units is None and statistic.calls_function and not by_cell:

        def error(rows: Array) -> float:
            return function(y[rows], given[rows], None if weights is None else weights[rows])

        return replicate_rows(error, len(y), None, number)
    value = function(y, given, weights)
    codes = _unit_codes(units, y, given, is_label and statistic.calls_function)
    n_units = len(y) if units is None else int(codes.max()) + 1
    if not np.isfinite(value) or n_units < 2:
        return np.nan, np.full(n_units, np.nan)
    if by_cell and statistic.calls_function:
        # Rows of one cell are interchangeable: it is enough to leave one of each out.
        first = np.unique(codes, return_index=True)[1]
        without = [function(np.delete(y, row), np.delete(given, row)) for row in first]
        return value, (n_units - 1) * (value - np.array(without))[codes]
    return value, (n_units - 1) * (value - function.without_each(y, given, codes, weights))


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
    for unit in _chosen(n_units, units, number):
        influence[unit] = (n_units - 1) * (value - evaluate(every[codes != unit]))
    return value, influence


def call_scorer(
    scorer: Any,
    answers: Answers,
    rows: Array | None,
    y_rows: Array | None,
    params: Mapping[str, Any],
) -> float:
    """Call a scorer on some of the rows answered for, with the targets of others if asked."""
    call = partial(scorer, answers.estimator, **params)
    y_rows = rows if y_rows is None else y_rows
    y = answers.y if y_rows is None or answers.y is None else copy_of_rows(answers.y, y_rows)
    if rows is None:
        lent = (answers.X,) if y is None else (answers.X, y)
        return as_number(answers.lender.call(call, *lent))
    X = copy_of_rows(answers.X, rows)
    return as_number(call(X) if y is None else call(X, y))


def _chosen(n_units: int, units: Array | None, number: int) -> Array:
    """Return the units that are left out one by one: all groups, and not more rows than that."""
    if units is not None or n_units <= MOST_LEFT_OUT:
        return np.arange(n_units)
    return np.random.default_rng(number).permutation(n_units)[:MOST_LEFT_OUT]


def _is_binary(function: ErrorFunction) -> bool:
    return function.classes is not None and len(function.classes) == 2


def _unit_codes(units: Array | None, y: Array, given: Array, by_cell: bool) -> Array:
    if units is not None:
        return np.unique(units, return_inverse=True)[1]
    if not by_cell:
        return np.arange(len(y))
    truth = np.unique(y, return_inverse=True)[1]
    labels, decision = np.unique(given, return_inverse=True)
    return np.unique(truth * len(labels) + decision, return_inverse=True)[1]


def _of_block(shared: tuple[Binding, Statistic, ReducedData], number: int) -> Array:
    """Return the values of a statistic on the resamples of a block."""
    binding, statistic, reduced = shared
    return statistic.evaluate(binding.block(number)[0], reduced)


def _binding(
    statistic: Statistic, reduced: Any, design: SamplingDesign, drawn: Array | None = None
) -> Any:
    n_resamples = 1 if drawn is None else len(drawn)
    plan = ResamplingPlan(design, n_resamples, np.random.SeedSequence(0), drawn=drawn)
    return plan.bind([BoundStatistic.of(statistic, reduced).coding])
