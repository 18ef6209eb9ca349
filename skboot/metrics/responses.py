"""Check before any work that a metric can take the predictions.

`check_response` reads as little as it can: the integer labels of ten million rows are read only for
metrics that depend on the set of labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import EXACT
from .._checks import fail, is_among, numbered_labels
from .._warnings import Note, tell
from .adapters import LibraryCallable, Negated
from .additive import given_values
from .cells import label_counts
from .class_metrics import SetRatio, TwoClassRatio, function_name
from .clusterings import ClusteringScore
from .cost_metrics import SAME_KIND, check_costs, check_priors
from .cost_statistics import ClassCosts, MeanCost, decision_labels
from .doubts import (
    advice_on_range,
    refuse_exchanged,
    refuse_other_labels,
)
from .likelihood_ratios import LikelihoodRatio
from .magnitudes import check_losses
from .output_responses import check_columns_of_truth, check_shapes
from .posteriors import TopAccuracy
from .ranking import AveragePrecision
from .statistic import CallableStatistic, Statistic
from .two_class import advice_on_reals, check_two_classes, name_the_positive


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
    inner = statistic.statistic if isinstance(statistic, Negated) else statistic
    if any(y is not None and (y.ndim > 2 or y.dtype.kind == "O") for y in (y_true, y_pred)):
        check_shapes(inner, y_true, y_pred)
    if y_true is None:
        _check_without_truth(inner, y_pred)
        if inner.response == "values":
            check_losses(inner, None, y_pred)
        return statistic
    if getattr(inner, "row_values", None) is given_values:
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
    if inner.pos_label is not None:
        _check_positive(inner, y_true, y_pred)
    if isinstance(inner, LibraryCallable) and y_pred.ndim == 2:
        _check_columns(y_pred, _known_labels(inner, y_true))
    if (note := _suspicion(inner, y_true, y_pred, argument)) is not None:
        tell(note)
    fixed = _with_labels(inner, y_true, y_pred)
    if isinstance(fixed, TopAccuracy):
        fixed = fixed.with_threshold(y_pred)
    return Negated(fixed) if isinstance(statistic, Negated) else fixed


def check_decidable(
    metric: str,
    y_true: NDArray[Any] | None,
    y_pred: NDArray[Any],
    labels: NDArray[Any],
) -> None:
    """Refuse columns whose largest is not the most probable class.

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

    Raises
    ------
    ValueError
        If the columns are not those of the labels, or hold other things than probabilities, such
        as the labels that several systems predict.
    """
    must = f"hold labels, or probabilities of all classes, for the metric {metric!r}"
    if y_pred.dtype.kind not in "biuf":
        got = f"{_kind(y_pred)} of shape {y_pred.shape}"
        raise fail("y_pred", must, got, _DECISIONS_OF_SEVERAL)
    if y_true is not None:
        _check_among("y_true", label_counts(y_true)[0], labels)
    _check_columns(y_pred, labels)
    if y_pred.dtype.kind != "f" and not _sums_to_one(y_pred):
        got = "integers that do not sum to 1 in each row"
        raise fail("y_pred", must, got, _DECISIONS_OF_SEVERAL)


_DECISIONS_OF_SEVERAL = (
    "For the labels that several systems predict use compare_systems, for those of several runs "
    "bootstrap_runs."
)


def _suspicion(
    statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any], argument: str
) -> Note | None:
    """Return a warning of predictions that the metric takes but that are hardly what was meant."""
    if statistic.response == "probabilities" and y_pred.ndim == 2 and not _sums_to_one(y_pred):
        sums = y_pred.sum(axis=1, dtype=np.float64)
        text = (
            f"the rows of {argument} do not sum to one, but to {sums.min():.4g} to "
            f"{sums.max():.4g}: make sure that they are probabilities of all classes."
        )
        if np.abs(sums - 1).max() < _HALF_PRECISION:
            text += " Half precision rounds so; a softmax in single precision does not."
        return Note("caution", text)
    if isinstance(statistic, TopAccuracy):
        n_classes = len(_known_labels(statistic, y_true))
        if statistic.k >= n_classes:
            return Note(
                "undefined",
                f"the right class is always among the {statistic.k} that score highest of "
                f"{n_classes}: this top-k accuracy is 1 whatever the predictions. Use a smaller k.",
            )
    return None


def _needs_labels(statistic: Statistic) -> bool:
    """Whether a truth of real numbers can only be a mistake."""
    return statistic.response in ("labels", "scores", "probabilities")


def _reads_labels(statistic: Statistic) -> bool:
    """Whether the truth is labels, which are sorted, and not any values for a user's function."""
    return _needs_labels(statistic) or isinstance(statistic, LibraryCallable)


def _check_without_truth(statistic: Statistic, y_pred: NDArray[Any]) -> None:
    is_mean = getattr(statistic, "row_values", None) is given_values
    if is_mean:
        if y_pred.ndim != 1 or y_pred.dtype.kind not in "biuf":
            must = "hold one number per row for metric='mean'"
            advice = "For labels, and for columns of probabilities, give y_true and another metric."
            raise fail("y_pred", must, _described(y_pred), advice)
    elif not isinstance(statistic, CallableStatistic) or isinstance(statistic, LibraryCallable):
        advice = "Only metric='mean' and callables of predictions alone need no y_true."
        if y_pred.ndim == 1 and y_pred.dtype.kind in "biuf":
            advice = (
                "If y_pred holds a value of each row, such as 1 where a system is right and 0 "
                f"where it is wrong, give metric='mean'. {advice}"
            )
        must = f"hold the true labels or values for the metric {statistic.name!r}"
        raise fail("y_true", must, "None", advice)


def _with_labels(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Statistic:
    """Fix the labels of probabilities and of costs, which a subgroup may lack."""
    unneeded = statistic.response in ("values", "any") and not getattr(
        statistic, "takes_labels", False
    )
    if unneeded or getattr(statistic, "labels", 0) is not None:
        return statistic
    all_labels = label_counts(y_true)[0]
    if statistic.response == "labels":
        all_labels = np.union1d(all_labels, label_counts(y_pred)[0])
    return replace(statistic, labels=all_labels)  # type: ignore[type-var]


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
    if not isinstance(statistic, ClusteringScore):
        _check_same_kind(y_true, y_pred)
    if y_pred.dtype.kind == "O":
        numbered_labels("y_pred", y_pred)
    if isinstance(statistic, TwoClassRatio | LikelihoodRatio):
        occurring = np.union1d(label_counts(y_true)[0], label_counts(y_pred)[0])
        both = occurring if statistic.labels is None else np.union1d(occurring, statistic.labels)
        if len(both) > 2:
            refuse_other_labels(y_true, y_pred, statistic.name)
        check_two_classes("y_true", both, statistic.pos_label, statistic.name)
    if isinstance(statistic, ClassCosts | MeanCost):
        _check_costs(statistic, y_true, y_pred)


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


def _check_same_kind(y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    kinds = [_kind(y) for y in (y_true, y_pred)]
    if kinds[0] != kinds[1]:
        must = f"hold labels of the same kind as y_true, here {kinds[0]}"
        raise fail("y_pred", must, f"{kinds[1]}", SAME_KIND)
    if {y_true.dtype.kind, y_pred.dtype.kind} & {"i", "u"}:
        for name, y in (("y_true", y_true), ("y_pred", y_pred)):
            if y.dtype.kind == "f" and float(np.abs(y).max()) >= EXACT:
                got = f"floats such as {y[np.abs(y).argmax()]:.17g}"
                must = "hold labels below 2**53 if they are floats beside integers"
                raise fail(name, must, got, "Keep ids as integers or text throughout.")


def _check_positive(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    """Refuse a positive class that is none of two labels."""
    of_labels = isinstance(statistic, SetRatio | LikelihoodRatio)
    if not (of_labels or _reads_labels(statistic)):
        return  # a function of the user's knows its labels itself
    labels = label_counts(y_true)[0]
    if of_labels or getattr(statistic, "two_class", None) == "labels":
        labels = np.union1d(labels, label_counts(y_pred)[0])
    if isinstance(statistic, SetRatio) and statistic.binary and len(labels) > 2:
        _refuse_several(statistic, y_true, y_pred, len(labels))
    own = getattr(statistic, "labels", None)
    labels = labels if own is None else np.union1d(labels, own)
    known, positive = labels.tolist(), statistic.pos_label
    by_default = isinstance(statistic, SetRatio | AveragePrecision) and positive == 1
    if by_default and (len(known) != 2 or is_among(positive, known)):
        return
    if by_default:
        function = "sklearn.metrics.average_precision_score"
        response = ", response_method='predict_proba'"
        if isinstance(statistic, SetRatio):
            function, response = f"sklearn.metrics.{function_name(statistic)}", ""
        advice = name_the_positive(function, known[-1], response)
        must = f"hold the positive label {positive!r} of the metric {statistic.name!r}"
        raise fail("y_true", must, f"the labels {known}", advice)
    if len(known) > 2:
        must = f"be None for a metric of {len(known)} classes"
        advice = "Score one class against the others: y_true == label."
        raise fail("pos_label", must, repr(positive), advice)
    if len(known) == 2 and not is_among(positive, known):
        raise fail("pos_label", f"be one of {known}", repr(positive))


def _refuse_several(
    statistic: SetRatio, y_true: NDArray[Any], y_pred: NDArray[Any], n_labels: int
) -> None:
    """Refuse more than two labels: others than the truth's, or several classes."""
    refuse_other_labels(y_true, y_pred, statistic.name)
    advice = (
        f"Average over classes: metric='{statistic.name.removesuffix('_score')}_macro', or "
        "functools.partial of the function with average='macro'."
    )
    must = f"hold at most two labels for the metric {statistic.name!r}"
    raise fail("y_true", must, f"{n_labels} labels", advice)


def _check_costs(
    statistic: ClassCosts | MeanCost, y_true: NDArray[Any], y_pred: NDArray[Any]
) -> None:
    all_labels = decision_labels(y_true, y_pred, statistic.labels)
    for name, y in (("y_true", y_true), ("y_pred", y_pred)):
        _check_among(name, label_counts(y)[0], all_labels)
    if isinstance(statistic, MeanCost):
        check_costs(statistic.costs, len(all_labels))
    else:
        check_priors(statistic.priors, len(all_labels))
        statistic.best(np.full((1, len(all_labels)), 1 / len(all_labels)))


# ------------------------------------------------------------------ scores and probabilities


def _check_scores(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    must = f"hold scores for the metric {statistic.name!r}, larger for the positive class"
    if y_pred.dtype.kind not in "biuf":
        advice = "Give what predict_proba returns."
        if _is_number(y_pred.flat[0]):
            advice = "Convert text: np.asarray(y_pred, dtype=float)."
        raise fail("y_pred", must, _described(y_pred), advice)
    all_labels = _known_labels(statistic, y_true)
    if isinstance(statistic, LibraryCallable):
        return
    if isinstance(statistic, TopAccuracy):
        if y_pred.ndim == 2 or len(all_labels) != 2:
            _check_columns(y_pred, all_labels)
        return
    if len(all_labels) < 2:
        must = f"hold two classes for the metric {statistic.name!r}"
        raise fail("y_true", must, f"the label {all_labels.tolist()[0]!r} alone", _ONE_CLASS)
    if len(all_labels) == 2:
        _check_two_classes(statistic, y_pred, all_labels)
        return
    # The area under the ROC curve is defined for several classes only by an option.
    lacks_option = getattr(statistic, "multi_class", "") is None
    if lacks_option or not hasattr(statistic, "average"):
        advice = "Use 'roc_auc_ovr' or 'roc_auc_ovo'." if lacks_option else _ONE_OF_SEVERAL
        must = f"hold two classes for the metric {statistic.name!r}"
        raise fail("y_true", must, f"{len(all_labels)} classes", advice)
    _check_columns(y_pred, all_labels)
    if hasattr(statistic, "multi_class") and not _sums_to_one(y_pred):
        must = f"hold probabilities, with sum 1 in each row, for the metric {statistic.name!r}"
        raise fail("y_pred", must, "other sums", "Give what predict_proba returns.")


_ONE_CLASS = "Test rows of one class say nothing of how classes are told apart: add the other's."
_ONE_OF_SEVERAL = "Score a class against the others: y_true == label, and its column of y_pred."


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


def _check_probabilities(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    must = f"hold probabilities of all classes for the metric {statistic.name!r}"
    hard = y_pred.ndim == 1 and y_pred.dtype.kind in "biu"
    if y_pred.dtype.kind not in "biuf" or hard:
        advice = "Give what predict_proba returns, or use a metric of labels such as 'accuracy'."
        if hard and len(label_counts(y_pred)[0]) > max(2, len(label_counts(y_true)[0])):
            advice = advice_on_range(float(y_pred.min()), float(y_pred.max()), "expit(y_pred)")
        raise fail("y_pred", must, _described(y_pred), advice)
    all_labels = _known_labels(statistic, y_true)
    if y_pred.ndim == 2 or len(all_labels) != 2:
        _check_columns(y_pred, all_labels)
    low, high = float(y_pred.min()), float(y_pred.max())
    if low < 0 or high > 1:
        advice = advice_on_range(
            low, high, "softmax(y_pred, axis=1)" if y_pred.ndim == 2 else "expit(y_pred)"
        )
        if y_pred.ndim == 1:
            advice += " Other scores are for a metric such as 'roc_auc'."
        raise fail("y_pred", must, f"values from {low:g} to {high:g}", advice)
    if isinstance(statistic, ClassCosts):
        check_priors(statistic.priors, len(all_labels))


def _known_labels(statistic: Statistic, y_true: NDArray[Any]) -> NDArray[Any]:
    """Labels of the columns, checked to hold those of the truth."""
    occurring = label_counts(y_true)[0]
    labels = getattr(statistic, "labels", None)
    if labels is None:
        return occurring
    _check_among("y_true", occurring, np.asarray(labels))
    return np.asarray(labels)


def _check_among(name: str, occurring: NDArray[Any], all_labels: NDArray[Any]) -> None:
    others = [label for label in occurring.tolist() if label not in all_labels.tolist()]
    if others:
        advice = "Give all labels, in the order of the columns, as labels=."
        raise fail(name, f"hold labels among {all_labels.tolist()}", f"also {others[:5]}", advice)


def _check_columns(y_pred: NDArray[Any], all_labels: NDArray[Any]) -> None:
    if y_pred.ndim == 1 or y_pred.shape[1] != len(all_labels):
        must = (
            f"have one column for each of the {len(all_labels)} labels {all_labels.tolist()[:20]}"
        )
        advice = "Give all labels, in the order of the columns, as labels=."
        raise fail("y_pred", must, f"shape {y_pred.shape}", advice)


# Largest distance of a sum of probabilities from one that rounding to 8 bits (bfloat16) explains:
# each is off by 2**-8 of itself at most, all in one direction at worst.
_HALF_PRECISION = 2**-8


def _sums_to_one(prob: NDArray[Any]) -> bool:
    """Whether rows sum to one, to the tolerance of scikit-learn."""
    floating = prob if prob.dtype.kind == "f" else prob.astype(np.float64)
    tolerance = np.sqrt(np.finfo(floating.dtype).eps)
    return bool(np.allclose(floating.sum(axis=1), 1, rtol=tolerance))


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
