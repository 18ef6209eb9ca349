"""Check before any work that a metric takes a truth of several columns, or of records.

The columns are labels that a row has or lacks (1 or 0), outputs, or relevances of items; records,
such as event times, are for functions of the user. Predictions have the same columns, whatever the
metric of scikit-learn; a function of the user may take any.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.arrays import is_sequence
from .._base.checks import AS_INDICATORS, fail
from .doubts import EXCHANGED, are_exchanged
from .magnitudes import check_losses
from .statistic import Statistic


def check_shapes(statistic: Statistic, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> None:
    """Refuse rows that hold arrays, lists or tuples, which only callables read.

    Parameters
    ----------
    statistic : Statistic
        The metric, without sign.
    y_true : ndarray of shape (n_samples, ...), or None
        Truth of the whole test set.
    y_pred : ndarray of shape (n_samples, ...)
        Predictions.

    Raises
    ------
    ValueError
        Says how to give tuples as labels, or metrics of images and lists.
    """
    for name, y in (("y_true", y_true), ("y_pred", y_pred)):
        if y is None or (y.ndim < 3 and not (y.dtype.kind == "O" and is_sequence(y.flat[0]))):
            continue
        if _is_of_user(statistic):
            return
        must = f"hold a label or number for each row, or columns, for the metric {statistic.name!r}"
        if y.ndim > 2:
            raise fail(name, must, f"shape {y.shape}", _OF_ARRAYS)
        kind = type(y.flat[0])
        advice = _AS_TEXT.format(name) if kind is tuple else f"{AS_INDICATORS} {_OF_ARRAYS}"
        raise fail(name, must, f"{kind.__name__}s", advice)


def _is_of_user(statistic: Statistic) -> bool:
    return statistic.calls_function and not statistic.calls_library


def check_columns_of_truth(
    statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]
) -> None:
    """Refuse a truth of several columns or records, or its predictions.

    Parameters
    ----------
    statistic : Statistic
        The metric, without sign.
    y_true : ndarray of shape (n_samples, n_outputs), or of records of shape (n_samples,)
        Truth of the whole test set.
    y_pred : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Predictions.

    Raises
    ------
    ValueError
        Says what the metric takes, what it was given, and what to do.
    """
    if _is_of_user(statistic):
        return
    if y_true.ndim == 1:
        must = f"hold a label or number for each row for the metric {statistic.name!r}"
        got = f"records of {list(y_true.dtype.names or ())}"
        raise fail("y_true", must, got, "Records are for callables that take them.")
    if statistic.response not in _CHECKS and not statistic.calls_library:
        must = f"be of shape (n_samples,) for the metric {statistic.name!r}"
        advice = "Score each column by itself: y_true[:, k], y_pred[:, k]."
        raise fail("y_true", must, f"shape {y_true.shape}", _if_one_hot(y_true) or advice)
    if y_pred.shape != y_true.shape:
        must = f"have the shape of y_true, {y_true.shape}, for the metric {statistic.name!r}"
        advice = EXCHANGED if are_exchanged(y_true, y_pred) else _if_one_hot(y_true)
        raise fail("y_pred", must, f"shape {y_pred.shape}", advice)
    for name, y in (("y_true", y_true), ("y_pred", y_pred)):
        if y.dtype.kind not in "biuf":
            must = f"hold numbers in its columns for the metric {statistic.name!r}"
            advice = f"{AS_INDICATORS} {_AS_TEXT.format(name)}"
            raise fail(name, must, f"{y.ravel()[:1].tolist()[0]!r}", advice)
    if statistic.response in _CHECKS:
        _CHECKS[statistic.response](statistic, y_true, y_pred)
    statistic.check(y_true, y_pred)
    if statistic.calls_library:
        _check_call(statistic, y_true, y_pred)


_AS_TEXT = "Make labels from tuples: [str(label) for label in {0}]."
_OF_ARRAYS = (
    "Reduce each row to counts or to a value, or give a callable of the rows: see "
    "docs/guide/images.md."
)


def _if_one_hot(y_true: NDArray[Any]) -> str:
    """Advice for a truth whose rows have one label each; "" for another."""
    if y_true.dtype.kind not in "biuf" or not np.isin(y_true, (0, 1)).all():
        return ""
    one_hot = bool((y_true.sum(axis=1) == 1).all())
    return "Convert one-hot rows to labels by y_true.argmax(axis=1)." if one_hot else ""


def _check_indicators(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    advice = "Use a metric of real values such as 'r2' or 'mean_absolute_error'."
    _check_zero_one("y_true", statistic, y_true, advice)
    advice = "Decide first: y_pred >= 0.5, or take a metric of scores such as 'roc_auc'."
    _check_zero_one("y_pred", statistic, y_pred, _if_one_hot(y_true) or advice)


def _check_zero_one(name: str, statistic: Statistic, y: NDArray[Any], advice: str) -> None:
    others = (y != 0) & (y != 1)
    if others.any():
        must = f"hold 0 or 1 for each label for the metric {statistic.name!r}"
        got = f"numbers such as {y[others][0]:g}"
        raise fail(name, must, got, advice)


def _check_label_scores(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    advice = "For graded relevances use sklearn.metrics.ndcg_score."
    _check_zero_one("y_true", statistic, y_true, advice)


def _check_relevances(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    if y_true.min() < 0:
        must = f"hold relevances of at least 0 for the metric {statistic.name!r}"
        raise fail("y_true", must, f"{y_true.min():g}", "Subtract the smallest of them.")


_CHECKS: Mapping[str, Callable[[Any, NDArray[Any], NDArray[Any]], None]] = {
    "indicators": _check_indicators,
    "label_scores": _check_label_scores,
    "relevances": _check_relevances,
    "outputs": check_losses,
}


def _check_call(statistic: Any, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    """Refuse what a function of scikit-learn refuses, by a call on the data."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statistic.function(y_true, y_pred)
    except (ValueError, TypeError) as error:
        kind, text = type(error).__name__, str(error).rstrip(".")
        got = f"{statistic.name!r}, which raises a {kind} on it: {text}"
        advice = (
            "Give it other options, or score each column by itself: y_true[:, k], y_pred[:, k]."
        )
        raise fail("metric", "take a y_true of several columns", got, advice) from error
