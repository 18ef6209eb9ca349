"""Metrics of targets of several columns, which are predicted once a run.

Where the columns hold 0 and 1 (several labels per row), accuracy, losses of it, F, precision,
recall and Jaccard scores are functions of sums over rows: of row hits, or of the true positives,
false positives and false negatives of each label. A row is then left out by a subtraction; the
functions of scikit-learn spend milliseconds on checks and sparse matrices at every call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import sklearn.metrics
from numpy.typing import NDArray

from .._base.sklearn_compat import scorer_parts
from ..metrics.statistic import as_number
from .influence import replicate_sums
from .run_metrics import RunMetricArguments, ScorerRunMetric
from .training import Answers

Array = NDArray[Any]


class OutputsRunMetric(ScorerRunMetric):
    """A metric function of scikit-learn on several outputs."""

    def __init__(self, arguments: RunMetricArguments, scorer: Callable[..., float]) -> None:
        super().__init__(arguments, scorer)
        self._parts = scorer_parts(scorer)
        parts = self._parts
        self._sums = None if parts is None else _function_of_sums(parts.function, parts.options)

    def _value(self, answers: Answers, rows: Any, y: Any) -> float:
        parts, predicted = self._parts, answers.predicted
        if parts is None or predicted.ndim != 2 or predicted.dtype.kind not in "biuf":
            # Sparse matrices, for example, are left to the scorer.
            return super()._value(answers, rows, y)
        truth = np.asarray(answers.y)
        rows = slice(None) if rows is None else rows
        truth, predicted = truth[rows if y is None else y], predicted[rows]
        if self._sums is not None and _are_indicators(truth, predicted):
            sums = self._sums.terms(truth == 1, predicted == 1).sum(axis=0)
            if not self._sums.warns(sums):
                return parts.sign * float(self._sums.combine(sums[None])[0])
        return as_number(parts.sign * parts.function(truth, predicted, **parts.options))

    def replicate(
        self, answers: Answers, outside: Array, units: Array | None, number: int
    ) -> tuple[float, Array]:
        """Leave rows out by subtracting what they add to the sums."""
        truth, predicted = np.asarray(answers.y), answers.predicted
        if self._parts is None or self._sums is None or not _are_indicators(truth, predicted):
            return super().replicate(answers, outside, units, number)
        terms = self._sums.terms(truth[outside] == 1, predicted[outside] == 1)
        scale, combine = -self.sign * self._parts.sign, self._sums.combine
        value = self.error(answers, outside)
        return value, replicate_sums(
            lambda sums: scale * combine(sums), value, terms, units, number
        )


class _FunctionOfSums(NamedTuple):
    """A metric of indicator matrices by sums of terms over rows.

    Attributes
    ----------
    terms : callable
        From truth and decision, both boolean (n_rows, n_labels), to (n_rows, n_terms).
    combine : callable
        From sums (n, n_terms) to values (n,).
    warns : callable
        Whether scikit-learn warns of a ratio without a denominator at sums (n_terms,).
    """

    terms: Callable[[Array, Array], Array]
    combine: Callable[[Array], Array]
    warns: Callable[[Array], bool]


def _function_of_sums(function: Any, options: Mapping[str, Any]) -> _FunctionOfSums | None:
    """Return the metric as a function of sums; None for functions and options not known here."""
    if not options and function in _ROW_TERMS:
        return _FunctionOfSums(_ROW_TERMS[function], _mean_of_rows, lambda sums: False)
    options = dict(options)
    average, zero_division = options.pop("average", None), options.pop("zero_division", "warn")
    if options.get("pos_label") in (None, 1):
        # The positive one of two classes: averages over labels do not read it.
        options.pop("pos_label", None)
    beta = options.pop("beta", 1.0) if function is sklearn.metrics.fbeta_score else 1.0
    share = _shares(beta).get(function)
    known = average in ("micro", "macro", "weighted", "samples") and share is not None
    # An undefined ratio that is left out of the average (NaN) changes what is averaged over.
    if options or not known or zero_division not in ("warn", 0, 1) or not 0 < beta < np.inf:
        return None
    assert share is not None
    at_zero, is_told = float(zero_division == 1), zero_division == "warn"
    if average == "samples":
        return _by_row(share, at_zero, is_told)
    return _by_label(share, average, at_zero, is_told)


# ------------------------------------------------------------------ means over rows


def _hits(truth: Array, decision: Array) -> Array:
    hit = (truth == decision).all(axis=1)
    return np.column_stack((np.ones(len(hit)), hit))


def _misses(truth: Array, decision: Array) -> Array:
    miss = (truth != decision).any(axis=1)
    return np.column_stack((np.ones(len(miss)), miss))


def _differing_labels(truth: Array, decision: Array) -> Array:
    differing = np.count_nonzero(truth != decision, axis=1)
    return np.column_stack((np.full(len(truth), float(truth.shape[1])), differing))


def _mean_of_rows(sums: Array) -> Array:
    return np.asarray(sums[:, 1] / sums[:, 0])


_ROW_TERMS: dict[Any, Callable[[Array, Array], Array]] = {
    sklearn.metrics.accuracy_score: _hits,
    sklearn.metrics.zero_one_loss: _misses,
    sklearn.metrics.hamming_loss: _differing_labels,
}


# ------------------------------------------------------------------ ratios of counts


class _Share(NamedTuple):
    """The ratio ``tp TP / (tp TP + fp FP + fn FN)`` by its coefficients."""

    tp: float
    fp: float
    fn: float

    def of(self, counts: Array, at_zero: float) -> tuple[Array, Array]:
        """Ratios of counts (3, ...), and which of them have no denominator."""
        numerator = self.tp * counts[0]
        denominator = numerator + self.fp * counts[1] + self.fn * counts[2]
        undefined = denominator == 0
        return np.where(undefined, at_zero, numerator / np.where(undefined, 1, denominator)), (
            undefined
        )


def _shares(beta: float) -> dict[Any, _Share]:
    f = _Share(1 + beta**2, 1.0, beta**2)
    return {
        sklearn.metrics.f1_score: f,
        sklearn.metrics.fbeta_score: f,
        sklearn.metrics.precision_score: _Share(1.0, 1.0, 0.0),
        sklearn.metrics.recall_score: _Share(1.0, 0.0, 1.0),
        sklearn.metrics.jaccard_score: _Share(1.0, 1.0, 1.0),
    }


def _counted(truth: Array, decision: Array) -> Array:
    """Return true positives, false positives and false negatives, (3, n_rows, n_labels)."""
    return np.array((truth & decision, ~truth & decision, truth & ~decision))


def _by_row(share: _Share, at_zero: float, is_told: bool) -> _FunctionOfSums:
    """Return the mean over rows of the ratio of each row's labels."""

    def terms(truth: Array, decision: Array) -> Array:
        ratio, undefined = share.of(_counted(truth, decision).sum(axis=2), at_zero)
        return np.column_stack((np.ones(len(ratio)), ratio, undefined))

    return _FunctionOfSums(terms, _mean_of_rows, lambda sums: is_told and bool(sums[2] > 0))


def _by_label(share: _Share, average: str, at_zero: float, is_told: bool) -> _FunctionOfSums:
    """Return an average over labels of the ratio of each label's rows."""

    def terms(truth: Array, decision: Array) -> Array:
        return np.hstack(list(_counted(truth, decision).astype(np.float64)))

    def counts(sums: Array) -> Array:
        by_label = np.array(np.split(sums, 3, axis=1))
        return by_label.sum(axis=2, keepdims=True) if average == "micro" else by_label

    def combine(sums: Array) -> Array:
        by_label = counts(sums)
        ratio, _ = share.of(by_label, at_zero)
        if average != "weighted":
            return np.asarray(ratio.mean(axis=1))
        true = by_label[0] + by_label[2]
        # Without any true label all labels weigh the same, as in scikit-learn.
        weights = np.where(true.sum(axis=1, keepdims=True) > 0, true, 1.0)
        return np.asarray((ratio * weights).sum(axis=1) / weights.sum(axis=1))

    def warns(sums: Array) -> bool:
        return is_told and bool(share.of(counts(sums[None]), at_zero)[1].any())

    return _FunctionOfSums(terms, combine, warns)


def _are_indicators(truth: Array, predicted: Array) -> bool:
    """Whether both hold 0 and 1 in several columns, as scikit-learn takes several labels."""
    return truth.shape == predicted.shape and all(
        values.ndim == 2
        and values.shape[1] > 1
        and len(values) > 0
        and bool(((values == 0) | (values == 1)).all())
        for values in (truth, predicted)
    )
