"""Sensitivity, specificity and predictive values of decisions between two classes.

And which of the two is positive, for those whose scores say the opposite.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.arrays import category_order
from .._base.checks import (
    check_integers,
    check_labels,
    check_same_length,
    check_weights,
    fail,
    is_among,
)
from .._base.doors import door
from .._base.warnings import Note, NoteKind, only_advises
from .cells import label_counts
from .cost_metrics import check_same_kind, label_column, labels_in_order
from .doubts import refuse_other_labels
from .score_order import positive_scores
from .statistic import Columns, Statistic

__all__ = ["npv", "ppv", "sensitivity", "specificity"]

# One side of the usual 5 %.
_CHANCE = 0.025


@door("sensitivity")
def sensitivity(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the positives that are decided positive: the recall of the positive class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, of two classes.
    y_pred : array-like of shape (n_samples,)
        Decisions.
    pos_label : label, optional
        The positive class; by default the greater label.
    labels : array-like of shape (2,), optional
        Both labels, where rows may lack one.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        NaN if there are no positives.

    Raises
    ------
    ValueError
        If there are not two classes.

    Examples
    --------
    >>> from skboot.metrics import sensitivity
    >>> sensitivity(["no", "no", "no", "yes", "yes"], ["no", "no", "yes", "yes", "no"])
    0.5
    """
    return _share("sensitivity", y_true, y_pred, pos_label, labels, sample_weight)


@door("specificity")
def specificity(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the negatives that are decided negative: the recall of the negative class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, of two classes.
    y_pred : array-like of shape (n_samples,)
        Decisions.
    pos_label : label, optional
        The positive class; by default the greater label.
    labels : array-like of shape (2,), optional
        Both labels, where rows may lack one.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        NaN if there are no negatives.

    Raises
    ------
    ValueError
        If there are not two classes.

    Examples
    --------
    >>> from skboot.metrics import specificity
    >>> specificity(["no", "no", "no", "no", "yes"], ["no", "no", "no", "yes", "no"])
    0.75
    """
    return _share("specificity", y_true, y_pred, pos_label, labels, sample_weight)


@door("ppv")
def ppv(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Positive predictive value: share of true positives among positive decisions (precision).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, of two classes.
    y_pred : array-like of shape (n_samples,)
        Decisions.
    pos_label : label, optional
        The positive class; by default the greater label.
    labels : array-like of shape (2,), optional
        Both labels, where rows may lack one.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        NaN if no decision is positive. It is valid at the share of positives of these rows.

    Raises
    ------
    ValueError
        If there are not two classes.

    Examples
    --------
    >>> from skboot.metrics import ppv
    >>> ppv(["no", "no", "no", "yes", "yes"], ["no", "no", "yes", "yes", "no"])
    0.5
    """
    return _share("ppv", y_true, y_pred, pos_label, labels, sample_weight)


@door("npv")
def npv(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Negative predictive value: share of true negatives among negative decisions.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, of two classes.
    y_pred : array-like of shape (n_samples,)
        Decisions.
    pos_label : label, optional
        The positive class; by default the greater label.
    labels : array-like of shape (2,), optional
        Both labels, where rows may lack one.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        NaN if no decision is negative. It is valid at the share of positives of these rows.

    Raises
    ------
    ValueError
        If there are not two classes.

    Examples
    --------
    >>> from skboot.metrics import npv
    >>> npv(["no", "no", "no", "yes", "yes"], ["no", "no", "no", "yes", "no"])
    0.75
    """
    return _share("npv", y_true, y_pred, pos_label, labels, sample_weight)


def class_of(both: NDArray[Any], pos_label: Any, negative: bool) -> Any:
    """The positive one of two labels, by default the greater, or the other."""
    labels = both.tolist()
    positive = max(labels) if pos_label is None else pos_label
    chosen = [label for label in labels if (label == positive) != negative]
    if not chosen:
        advice = "Give both labels, or leave labels out."
        raise fail("labels", "hold both of two classes", f"{labels}", advice)
    return chosen[0]


def check_two_classes(name: str, occurring: NDArray[Any], pos_label: Any, metric: str) -> None:
    """Refuse other than two labels, and a positive label that is not among them."""
    labels = occurring.tolist()
    if len(labels) != 2:
        must = f"hold two classes for the metric {metric!r}"
        advice = "Name both by functools.partial of the metric function and labels=."
        if len(labels) > 2:
            advice = "Compare one class with the others: y_true == label, y_pred == label."
        noun = "label" if len(labels) == 1 else "labels"
        raise fail(name, must, f"{len(labels)} {noun}, {labels[:5]}", advice)
    if pos_label is not None and not is_among(pos_label, labels):
        advice = "Without it the greater label is positive."
        raise fail("pos_label", f"be one of {labels}", repr(pos_label), advice)


def check_two_labels(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    """Refuse rows of other than two labels, for a metric of decisions between two classes."""
    occurring = np.union1d(label_counts(y_true)[0], label_counts(y_pred)[0])
    both = occurring if statistic.labels is None else np.union1d(occurring, statistic.labels)
    if len(both) > 2:
        refuse_other_labels(y_true, y_pred, statistic.name)
    check_two_classes("y_true", both, statistic.pos_label, statistic.name)


def name_the_positive(function: str, label: Any, response: str = "") -> str:
    """Advice to name the positive class, in a call and in ``scoring=``."""
    options = f"{function}, pos_label={label!r}{response}"
    return (
        f"Name yours: pos_label={label!r}, or in a BootstrapScorer "
        f"scoring=sklearn.metrics.make_scorer({options})."
    )


@only_advises(None)
def positive_note(
    statistic: Statistic,
    y_true: NDArray[Any] | None,
    y_pred: NDArray[Any],
    kind: NoteKind = "advice",
) -> Note | None:
    """Say which of two labels in text is the positive one, where the user did not name it."""
    inner = statistic.unsigned or statistic
    if not inner.greater_is_positive or inner.pos_label is not None:
        return None
    if y_true is None or y_true.dtype.kind not in "USO" or y_true.ndim != 1:
        return None
    decides = _decides(inner)
    if not decides and y_pred.ndim == 2 and inner.columns_suffice:
        return None
    own = inner.labels
    labels = (label_counts(y_true)[0] if own is None else np.asarray(own)).tolist()
    if len(labels) != 2 or not all(isinstance(label, str | bytes) for label in labels):
        return None
    other, positive = sorted(labels)
    must = ": larger values of y_pred must mean it" if y_pred.ndim == 1 and not decides else ""
    return Note(
        kind,
        f"The positive class is {positive!r}, the greater label{must}. "
        f"Say so with pos_label={positive!r}, or give pos_label={other!r}.",
    )


def _decides(statistic: Statistic) -> bool:
    """Whether a metric reads labels in the predictions."""
    return statistic.response == "labels" or statistic.reads_decisions


class PositiveClass(NamedTuple):
    """The one positive class of the metrics of a call, none of which names it.

    Attributes
    ----------
    label : label
        The greater label where a metric takes it; else 1, scikit-learn's default.
    other : label
        The other of both.
    are_both : bool
        Whether some metrics take 1 by themselves and others the greater label.
    """

    label: Any
    other: Any
    are_both: bool

    def note(self, advice: str = "") -> Note:
        """Return a warning that says which class it is, and how to name one."""
        by = ("the greater label", "scikit-learn's default")[:: 1 if self.other == 1 else -1]
        text = f"The positive class is {self.label!r}, {by[0]}, and not {self.other!r}, {by[1]}. "
        default = f"Say so with pos_label={self.label!r}, or give pos_label={self.other!r}."
        return Note("caution", text + (advice or default))


def positive_of_call(
    statistics: Iterable[Statistic], columns: Iterable[Columns]
) -> PositiveClass | None:
    """Return the positive class where scikit-learn's default 1 is the lesser of two labels.

    Parameters
    ----------
    statistics : iterable of Statistic
        Those that do not name one.
    columns : iterable of tuple
        Truth, predictions and weights of each system.

    Returns
    -------
    PositiveClass or None
        None where both are the same class, and where no metric has one.
    """
    inner = [one.unsigned or one for one in statistics]
    by_default = [one for one in inner if one.positive_by_default and one.pos_label == 1]
    by_order = [one for one in inner if one.greater_is_positive and one.pos_label is None]
    labels: set[Any] = set()
    for y_true, y_pred, _ in columns:
        if y_true is None or y_true.ndim != 1 or y_true.dtype.kind not in "iuf":
            return None
        if y_pred.ndim == 2:
            by_order = [one for one in by_order if _decides(one) or not one.columns_suffice]
        if not by_default and not by_order:
            return None
        decides = y_pred.ndim == 1 and any(map(_decides, by_default + by_order))
        for labels_of_rows in (y_true, y_pred) if decides else (y_true,):
            if labels_of_rows.dtype.kind not in "iuf" or not len(labels_of_rows):
                continue
            if labels_of_rows.max() == 1:
                continue
            labels.update(label_counts(labels_of_rows)[0].tolist())
    labels.add(1)
    if len(labels) != 2 or max(labels) == 1:
        return None
    greater = max(labels)
    label, other = (greater, 1) if by_order else (1, greater)
    return PositiveClass(label, other, bool(by_default and by_order))


def of_no_positive(statistics: Iterable[Statistic], pos_label: Any) -> Note | None:
    """Say that a positive class that was named plays no part in any of the metrics."""
    given = list(statistics)
    inner = [one.unsigned or one for one in given]
    if pos_label is None or any(one.pos_label is not None for one in inner):
        return None
    names = " and ".join(repr(one.name) for one in given[:3])
    return Note(
        "caution",
        f"pos_label={pos_label!r} changes nothing: {names} {_HAS[len(given) > 1]} no positive "
        "class. Your own function has one if it has an argument pos_label.",
    )


_HAS = {False: "has", True: "have"}


def _share(
    metric: str,
    y_true: ArrayLike,
    y_pred: ArrayLike,
    pos_label: Any,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> float:
    """Weight of the rows that are of a class and decided so, by that of its members."""
    truth, decision = (
        label_column(name, own) for name, own in (("y_true", y_true), ("y_pred", y_pred))
    )
    truth, decision = check_integers("y_pred", truth, decision)
    weights = check_weights(sample_weight)
    check_same_length(y_true=truth, y_pred=decision, sample_weight=weights)
    check_same_kind("y_pred", truth, decision)
    all_labels = labels_in_order(truth, decision)
    known = check_labels(labels, truth)
    if known is not None:
        check_same_kind("labels", truth, known)
        all_labels = np.union1d(all_labels, known)
    check_two_classes("y_true", all_labels, pos_label, metric)
    if pos_label is None and category_order(truth) is not None:
        pos_label = all_labels.tolist()[-1]
    chosen = class_of(all_labels, pos_label, metric in ("specificity", "npv"))
    members = (truth if metric in ("sensitivity", "specificity") else decision) == chosen
    hits = (truth == chosen) & (decision == chosen)
    if weights is None:
        weights = np.ones(len(truth))
    total = float(weights[members].sum())
    return float(weights[hits].sum()) / total if total > 0 else float("nan")


@only_advises()
def of_reversed_scores(
    statistic: Statistic, rows: Columns, naive: float | None, limits: tuple[float, float]
) -> tuple[Note, ...]:
    """Say which class is positive where scores are surely worse than any that ignore the input.

    Losses can be that with the classes in the right order; they are told where it is reversed.
    """
    y_true, y_pred, _ = rows
    inner, better = statistic.unsigned or statistic, statistic.greater_is_better
    if naive is None or better is None or y_true is None or y_true.ndim != 1:
        return ()
    of_scores = inner.response in ("scores", "probabilities")
    if not of_scores or not (limits[1] < naive if better else limits[0] > naive):
        return ()
    labels, given = label_counts(y_true)[0], inner.pos_label
    n_columns = 1 if y_pred.ndim == 1 else y_pred.shape[1]
    if len(labels) != 2 or n_columns > 2 or given not in (None, *labels.tolist()):
        return ()
    positive, other = (class_of(labels, given, negative) for negative in (False, True))
    score = positive_scores(y_pred, inner.labels, given)
    if not inner.of_order and not _are_lower(score[y_true == positive], score[y_true == other]):
        return ()
    why = ", the greater label" if given is None else ""
    instead = f"pos_label={other!r}"
    if n_columns == 2:
        columns = (labels if inner.labels is None else np.asarray(inner.labels)).tolist()
        why, instead = "", f"labels={columns[::-1]}, as the columns are"
    text = (
        f"Worse than scores that ignore the input. Larger scores must mean {positive!r}{why}; if "
        f"they mean {other!r}, give {instead}."
    )
    return (Note("caution", text),)


def _are_lower(scores: NDArray[Any], others: NDArray[Any]) -> bool:
    """Whether scores rank below others by more than chance explains."""
    # Imported here, because few calls come here.
    from scipy.stats import mannwhitneyu

    found = mannwhitneyu(scores, others, alternative="less", method="asymptotic")
    return bool(found.pvalue < _CHANCE)


@only_advises("")
def advice_on_reals(values: NDArray[Any], y_true: NDArray[Any] | None) -> str:
    """Return what to do with real numbers where labels are asked for.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        The numbers.
    y_true : ndarray of shape (n_samples,) or None
        Truth, if the numbers are predictions of it; None if they are the truth itself.
    """
    if y_true is None:
        return "Use a metric of real values such as 'r2' or 'mean_absolute_error'."
    advice = (
        "Compare scores with a threshold, or use a metric of scores such as 'roc_auc', or of "
        "real values such as 'mean_absolute_error' or 'r2'."
    )
    if values.min() < 0 or values.max() > 1 or len(label_counts(y_true)[0]) != 2:
        return advice
    return (
        "If p holds probabilities of the second class, give both columns, "
        "np.column_stack((1 - p, p)): metrics of labels then take the more probable class, "
        f"and metrics of probabilities stay as they are. {advice}"
    )
