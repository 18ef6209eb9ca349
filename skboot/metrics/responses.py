"""Check before any work that a metric can take the predictions.

`check_response` reads as little as it can: the integer labels of ten million rows are read only for
metrics that depend on the set of labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.arrays import EXACT
from .._base.checks import fail, is_among, numbered_labels
from .._base.warnings import Note, only_advises, tell
from .adapters import Negated
from .cells import label_counts
from .checks import (
    are_no_classes,
    check_among,
    check_columns,
    check_two_columns,
    known_labels,
    sums_to_one,
)
from .cost_metrics import SAME_KIND
from .doubts import advice_on_range, refuse_exchanged
from .magnitudes import check_losses
from .output_responses import check_columns_of_truth, check_shapes
from .statistic import Statistic
from .two_class import advice_on_reals, name_the_positive


def check_response(
    statistic: Statistic,
    y_true: NDArray[Any] | None,
    y_pred: NDArray[Any],
    argument: str = "y_pred",
) -> Statistic:
    """Refuse predictions that the metric cannot take.

    Parameters
    ----------
    statistic : Statistic
        The metric.
    y_true : ndarray of shape (n_samples,) or (n_samples, n_outputs), or None
        Truth of the whole test set.
    y_pred : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_outputs)
        Predictions.
    argument : str
        What the user calls the predictions.

    Returns
    -------
    Statistic
        The same; if it must know all labels, as of the whole test set, also in subgroups.

    Raises
    ------
    ValueError
        Says what the metric takes, what it was given, and what to do.
    """
    inner = statistic.unsigned or statistic
    if any(y is not None and (y.ndim > 2 or y.dtype.kind == "O") for y in (y_true, y_pred)):
        check_shapes(inner, y_true, y_pred)
    if y_true is None:
        _check_without_truth(inner, y_pred)
        if inner.response == "values":
            check_losses(inner, None, y_pred)
        return statistic
    if inner.of_given_values:
        advice = "y_pred holds a value per row; for predictions give a metric such as 'accuracy'."
        raise fail("y_true", "be None with metric='mean'", "an array", advice)
    if y_true.dtype.kind == "f" and y_true.ndim == 1 and _needs_labels(inner):
        refuse_exchanged(y_true, y_pred, f"the metric {inner.name!r}", argument)
    if y_true.ndim != 1 or y_true.dtype.kind == "V":
        check_columns_of_truth(inner, y_true, y_pred)
        return statistic
    if y_true.dtype.kind == "O" and _reads_labels(inner):
        numbered_labels("y_true", y_true)
    if inner.response in _CHECKS:
        _CHECKS[inner.response](inner, y_true, y_pred)
    inner.check(y_true, y_pred)
    if inner.pos_label is not None:
        _check_positive(inner, y_true, y_pred)
    if inner.calls_library and y_pred.ndim == 2:
        check_columns(y_pred, known_labels(inner.labels, y_true))
    if inner.response == "probabilities" and y_pred.ndim == 2 and not sums_to_one(y_pred):
        tell(_note_on_sums(y_pred, argument))
    fixed = inner.of_all_rows(y_true, y_pred)
    return fixed if inner is statistic else Negated(fixed)


def check_decidable(
    metric: str,
    y_true: NDArray[Any] | None,
    y_pred: NDArray[Any],
    labels: NDArray[Any],
    argument: str = "y_pred",
) -> None:
    """Refuse columns whose largest is not the most probable class, and doubt those of two systems.

    Parameters
    ----------
    metric : str
        Name of a metric of labels, for messages.
    y_true : ndarray of shape (n_samples,) or None
        Truth.
    y_pred : ndarray of shape (n_samples, n_columns)
        Predictions.
    labels : ndarray of shape (n_classes,)
        Labels of the columns.
    argument : str
        What the user calls the predictions.

    Raises
    ------
    ValueError
        If the columns are not those of the labels, or hold other things than probabilities, such
        as the labels that several systems predict.
    """
    must = f"hold labels, or probabilities of all classes, for the metric {metric!r}"
    if y_pred.dtype.kind not in "biuf":
        got = f"{_kind(y_pred)} of shape {y_pred.shape}"
        raise fail("y_pred", must, got, _DECISIONS_OF_SEVERAL, about="systems")
    if y_pred.dtype.kind != "f" and not sums_to_one(y_pred):
        got = f"integers of shape {y_pred.shape} that do not sum to 1 in each row"
        raise fail("y_pred", must, got, _DECISIONS_OF_SEVERAL, about="systems")
    if y_true is not None:
        check_among("y_true", label_counts(y_true)[0], labels)
    check_columns(y_pred, labels)
    # Logits of two classes have any sums, and their largest is right.
    if are_no_classes(y_pred) and y_pred.min() >= 0 and y_pred.max() <= 1:
        tell(_note_on_sums(y_pred, argument))


_DECISIONS_OF_SEVERAL = (
    "For the labels that several systems predict use compare_systems, for those of several runs "
    "bootstrap_runs."
)


def _note_on_sums(y_pred: NDArray[Any], argument: str) -> Note:
    """Return a warning of probabilities that do not sum to one."""
    sums = y_pred.sum(axis=1, dtype=np.float64)
    text = (
        f"the rows of {argument} do not sum to one, but to {sums.min():.4g} to "
        f"{sums.max():.4g}: make sure that they are probabilities of all classes."
    )
    if np.abs(sums - 1).max() < _HALF_PRECISION:
        text += " Half precision rounds like this; a softmax in single precision does not."
    elif y_pred.shape[1] == 2 and not argument.startswith("y_preds"):
        text += " Two systems go to compare_systems."
    return Note("caution", text, about="sums")


def _needs_labels(statistic: Statistic) -> bool:
    """Whether a truth of real numbers can only be a mistake."""
    return statistic.response in ("labels", "scores", "probabilities")


def _reads_labels(statistic: Statistic) -> bool:
    """Whether the truth is labels, which are sorted, and not any values for a user's function."""
    return _needs_labels(statistic) or statistic.calls_library


def _check_without_truth(statistic: Statistic, y_pred: NDArray[Any]) -> None:
    if statistic.of_given_values:
        if y_pred.ndim != 1 or y_pred.dtype.kind not in "biuf":
            must = "hold one number per row for metric='mean'"
            advice = (
                "For labels, and for columns of probabilities, give y_true and another metric. A "
                "column for each system goes to compare_systems(None, values, metric='mean')."
            )
            raise fail("y_pred", must, _described(y_pred), advice)
    elif not statistic.calls_function or statistic.calls_library:
        advice = "Only metric='mean' and callables of predictions alone need no y_true."
        if y_pred.ndim == 1 and y_pred.dtype.kind in "biuf":
            advice = (
                "If y_pred holds a value of each row, such as 1 where a system is right and 0 "
                f"where it is wrong, give metric='mean'. {advice}"
            )
        must = f"hold the true labels or values for the metric {statistic.name!r}"
        raise fail("y_true", must, "None", advice)


# ------------------------------------------------------------------ labels


def _check_labels(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    must = f"hold class labels for the metric {statistic.name!r}"
    if y_pred.ndim != 1:
        advice = (
            "Decide first (skboot.metrics.bayes_decisions), or use a metric of probabilities "
            "such as 'neg_log_loss'."
        )
        raise fail("y_pred", must, _described(y_pred), advice)
    # A real target says more of what was meant than real predictions, which may be scores.
    _check_discrete("y_true", y_true, must)
    _check_discrete("y_pred", y_pred, must, y_true)
    if statistic.names_classes:
        _check_same_kind(y_true, y_pred)
    if y_pred.dtype.kind == "O":
        numbered_labels("y_pred", y_pred)
        if y_true.dtype.kind == "O":
            numbered_labels("y_pred", np.concatenate((y_true, y_pred)))


def _check_discrete(
    name: str, y: NDArray[Any], must: str, y_true: NDArray[Any] | None = None
) -> None:
    if y.dtype.kind != "f":
        return
    fractional = y != np.floor(y)
    if fractional.any():
        got = f"real numbers such as {y[np.argmax(fractional)]:g}"
        advice = advice_on_reals(y, y_true)
        raise fail(name, must, got, advice)


@only_advises(SAME_KIND)
def _as_text(y_true: NDArray[Any], y_pred: NDArray[Any]) -> str:
    """How to make decisions labels as those of the truth: which are positive is not known."""
    labels = np.unique(y_true) if y_pred.dtype.kind == "b" and _kind(y_true) == "text" else ()
    if len(labels) != 2:
        return SAME_KIND
    no, yes = map(str, labels)
    return (
        f"Give np.where(y_pred, {yes!r}, {no!r}) if True means {yes!r}, else "
        f"np.where(y_pred, {no!r}, {yes!r})."
    )


def _check_same_kind(y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    kinds = [_kind(y) for y in (y_true, y_pred)]
    if kinds[0] != kinds[1]:
        must = f"hold labels of the same kind as y_true, here {kinds[0]}"
        raise fail("y_pred", must, f"{kinds[1]}", _as_text(y_true, y_pred))
    if {y_true.dtype.kind, y_pred.dtype.kind} & {"i", "u"}:
        for name, y in (("y_true", y_true), ("y_pred", y_pred)):
            if y.dtype.kind == "f" and float(np.abs(y).max()) >= EXACT:
                got = f"floats such as {y[np.abs(y).argmax()]:.17g}"
                must = "hold labels below 2**53 if they are floats beside integers"
                raise fail(name, must, got, "Keep ids as integers or text throughout.")


def _check_positive(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    """Refuse a positive class that is none of two labels."""
    if not (statistic.reads_decisions or _reads_labels(statistic)):
        return  # a function of the user's knows its labels itself
    labels = label_counts(y_true)[0]
    if statistic.reads_decisions:
        labels = np.union1d(labels, label_counts(y_pred)[0])
    labels = labels if statistic.labels is None else np.union1d(labels, statistic.labels)
    known, positive = labels.tolist(), statistic.pos_label
    function = statistic.positive_by_default if positive == 1 else ""
    if function and (len(known) != 2 or is_among(positive, known)):
        return
    if function:
        response = "" if statistic.reads_decisions else ", response_method='predict_proba'"
        advice = name_the_positive(function, known[-1], response)
        must = f"hold the positive label {positive!r} of the metric {statistic.name!r}"
        raise fail("y_true", must, f"the labels {known}", advice)
    if len(known) > 2:
        must = f"be None for a metric of {len(known)} classes"
        advice = "Score one class against the others: y_true == label."
        raise fail("pos_label", must, repr(positive), advice)
    if len(known) == 2 and not is_among(positive, known):
        raise fail("pos_label", f"be one of {known}", repr(positive))


# ------------------------------------------------------------------ scores and probabilities


def _check_scores(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    must = f"hold scores for the metric {statistic.name!r}, larger for the positive class"
    if y_pred.dtype.kind not in "biuf":
        advice = "Give what predict_proba returns."
        if _is_number(y_pred.flat[0]):
            advice = "Convert text: np.asarray(y_pred, dtype=float)."
        raise fail("y_pred", must, _described(y_pred), advice)
    all_labels = known_labels(statistic.labels, y_true)
    if statistic.calls_library:
        return
    if statistic.ranks_columns:
        if y_pred.ndim == 2 or len(all_labels) != 2:
            check_columns(y_pred, all_labels)
        return
    if len(all_labels) < 2:
        must = f"hold two classes for the metric {statistic.name!r}"
        raise fail("y_true", must, f"the label {all_labels.tolist()[0]!r} alone", _ONE_CLASS)
    if len(all_labels) == 2:
        _check_two_classes(statistic, y_pred, all_labels)
        return
    if not statistic.averages_columns:
        raise _of_two_classes(statistic, all_labels)
    check_columns(y_pred, all_labels)


_ONE_CLASS = "Rows of one class do not show how well classes are separated: add the other."
_ONE_OF_SEVERAL = "Score a class against the others: y_true == label, and its column of y_pred."


def _of_two_classes(statistic: Statistic, all_labels: NDArray[Any]) -> ValueError:
    must = f"hold two classes for the metric {statistic.name!r}"
    advice = statistic.advice_on_several or _ONE_OF_SEVERAL
    return fail("y_true", must, f"{len(all_labels)} classes", advice)


def _is_number(text: Any) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except (TypeError, ValueError):
        return False


def _check_two_classes(
    statistic: Statistic, y_pred: NDArray[Any], all_labels: NDArray[Any]
) -> None:
    if y_pred.ndim == 2 and y_pred.shape[1] != 2:
        must = f"be of shape (n_samples,) or (n_samples, 2) for the metric {statistic.name!r}"
        raise fail("y_pred", must, f"shape {y_pred.shape}")
    if y_pred.ndim == 2:
        must = f"be one score per row, or probabilities of two classes, for {statistic.name!r}"
        check_two_columns("y_pred", y_pred, must)


def _check_probabilities(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    must = f"hold probabilities of all classes for the metric {statistic.name!r}"
    hard = y_pred.ndim == 1 and y_pred.dtype.kind in "biu"
    if y_pred.dtype.kind not in "biuf" or hard:
        advice = "Give what predict_proba returns, or use a metric of labels such as 'accuracy'."
        if hard and len(label_counts(y_pred)[0]) > max(2, len(label_counts(y_true)[0])):
            advice = advice_on_range(float(y_pred.min()), float(y_pred.max()), "expit(y_pred)")
        raise fail("y_pred", must, _described(y_pred), advice)
    all_labels = known_labels(statistic.labels, y_true)
    if len(all_labels) > 2 and statistic.advice_on_several:
        raise _of_two_classes(statistic, all_labels)
    if statistic.of_one_class and y_pred.ndim == 1 and len(all_labels) == 1:
        [label], positive = all_labels.tolist(), statistic.pos_label
        if positive is None and label not in (0, 1, -1):
            must = f"be given for the metric {statistic.name!r} where y_true holds one class"
            raise fail("pos_label", must, f"None, with the label {label!r} alone")
    elif y_pred.ndim == 2 or len(all_labels) != 2:
        check_columns(y_pred, all_labels)
    low, high = float(y_pred.min()), float(y_pred.max())
    if low < 0 or high > 1:
        advice = advice_on_range(
            low, high, "softmax(y_pred, axis=1)" if y_pred.ndim == 2 else "expit(y_pred)"
        )
        if y_pred.ndim == 1:
            advice += " Other scores are for a metric such as 'roc_auc'."
        raise fail("y_pred", must, f"values from {low:.8g} to {high:.8g}", advice)


# Largest distance of a sum of probabilities from one that rounding to 8 bits (bfloat16) explains:
# each is off by 2**-8 of itself at most, all in one direction at worst.
_HALF_PRECISION = 2**-8


# ------------------------------------------------------------------ real values


def _check_values(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    must = f"hold one real number per row for the metric {statistic.name!r}"
    for name, y in (("y_true", y_true), ("y_pred", y_pred)):
        if y.ndim != 1 or y.dtype.kind not in "biuf":
            advice = "For class labels use a metric such as 'accuracy'."
            raise fail(name, must, _described(y), advice)
    check_losses(statistic, y_true, y_pred)


_CHECKS: Mapping[str, Callable[[Any, NDArray[Any], NDArray[Any]], None]] = {
    "labels": _check_labels,
    "scores": _check_scores,
    "probabilities": _check_probabilities,
    "values": _check_values,
}


def _described(y: NDArray[Any]) -> str:
    if y.ndim != 1:
        return f"an array of shape {y.shape}"
    return f"{_kind(y)} such as {y[:1].tolist()[0]!r}" if len(y) else "nothing"


_KINDS = {"U": "text", "S": "bytes", "M": "dates", "m": "durations"}


def _kind(y: NDArray[Any]) -> str:
    """Kind of the values in words: numbers, text, or the name of their type."""
    if y.dtype.kind in "biuf":
        return "numbers"
    if y.dtype.kind in _KINDS:
        return _KINDS[y.dtype.kind]
    # Arrays from estimators are not converted and may hold text as objects.
    first = y.ravel()[0]
    if isinstance(first, str | bytes):
        return "text" if isinstance(first, str) else "bytes"
    return "numbers" if isinstance(first, Real) else f"{type(first).__name__} objects"
