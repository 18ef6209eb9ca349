"""Whether a metric can take the predictions, asked before any work.

`check_response` refuses what no metric of this kind takes; `doubts` are of what it takes but is
hardly what was meant; `positive_note` and its like say which of two classes is positive. They read
as little as they can: the integer labels of ten million rows are read only for metrics that depend
on the set of labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.checks import (
    AS_INDICATORS,
    EXACT,
    fail,
    is_among,
    is_sequence,
    numbered_labels,
)
from .._base.errors import Note, NoteKind, only_advises, tell
from .callables import Negated
from .cells import (
    SAME_KIND,
    are_no_classes,
    check_among,
    check_columns,
    check_two_columns,
    class_of,
    known_labels,
    label_counts,
    sums_to_one,
)
from .means import check_losses
from .statistic import Columns, Statistic

# ------------------------------------------------------------------ doubts
#
# Labels of another coding than the truth's, decisions in the place of scores, truth and scores
# exchanged, percent in the place of probabilities. A few rows are looked at before all of them.


# Rows that are looked at, evenly spaced; all are only where these disagree.
_ROWS_LOOKED_AT = 10_000
# Rows among which the labels of hits are looked for first: nearly always they are all labels.
_FIRST_LOOK = 100
# Minimum number of rows by label of the truth, on average: with fewer, a test set of many classes
# lacks most of those that a model predicts wrongly.
_ROWS_BY_LABEL = 5
# Minimum share of rows whose label the other column lacks, where both columns have such rows.
_SMALLEST_SHARE = 0.05
# Below so many rows two distinct scores are no sign of decisions.
_FEWEST_SCORES = 10
_LABELS_SHOWN = 5
# Maximum distance of a probability from [0, 1] that rounding explains, also in half precision.
_PROBABILITY_ROUNDING = 2**-8
# Labels that are counted one by one; of more the set is made.
_LABELS_COUNTED = 8
_LABELS = "labels that do not meet"


# A metric as it was asked for, with no labels but those that the user named; truth and predictions
# as it reads them; the labels that the call names, which its rows may lack; and what the user calls
# the predictions.
LookedAt = tuple[Statistic, NDArray[Any] | None, NDArray[Any], NDArray[Any] | None, str]


@only_advises()
def doubts(looked_at: Iterable[LookedAt], *, is_part: bool = False) -> list[Note]:
    """Return warnings of predictions that a metric takes but that are hardly what was meant.

    Parameters
    ----------
    looked_at : iterable of LookedAt
        Each metric on each system.
    is_part : bool
        Whether other rows may hold other labels and scores, as those of other batches may.

    Returns
    -------
    list of Note
        The first of each sort.
    """
    notes: dict[str, Note] = {}
    for statistic, y_true, y_pred, labels, argument in looked_at:
        inner = statistic.unsigned or statistic
        note = None
        if inner.response == "scores" and not is_part:
            note = note_on_scores(inner, y_pred, argument, len(y_pred))
        elif (
            (inner.response == "labels" and inner.names_classes and _LABELS not in notes)
            and y_true is not None
            and y_true.ndim == 1
        ):
            named = [names for names in (labels, inner.labels) if names is not None]
            step = -(-len(y_true) // _ROWS_LOOKED_AT)
            note = _note_on_labels(y_true[::step], y_pred[::step], named, argument, is_part)
            if note is not None and step > 1:
                note = _note_on_labels(y_true, y_pred, named, argument, is_part)
        if note is not None:
            notes.setdefault(note.about, note)
    return list(notes.values())


# ------------------------------------------------------------------ labels


def _note_on_labels(
    truth: NDArray[Any],
    decision: NDArray[Any],
    labels_named: Sequence[Any],
    argument: str,
    is_part: bool,
) -> Note | None:
    """Return a warning of labels that hardly name the same classes in both columns.

    None of them is in both, most predictions are never true, or a notable share of them is never
    true, and of the truth never predicted.
    """
    n, missed = len(truth), truth != decision
    fewest = max(_SMALLEST_SHARE * n, _ROWS_BY_LABEL)
    if np.count_nonzero(missed) < fewest:
        return None
    sample = slice(None, None, -(-n // _FIRST_LOOK))
    hits = set(truth[sample][~missed[sample]].tolist())
    if len(hits) <= _LABELS_COUNTED:
        # Counting is much cheaper than sorting where labels are few.
        n_hit_labels = sum(int(np.count_nonzero(decision == label)) for label in hits)
        if n - n_hit_labels < fewest:
            return None
    elif set(decision[missed].tolist()) <= hits:
        return None
    true, predicted = (
        dict(zip(*map(np.ndarray.tolist, label_counts(y)), strict=True)) for y in (truth, decision)
    )
    named = set().union(*(np.asarray(labels).tolist() for labels in labels_named))
    n_foreign = sum(predicted[label] for label in predicted.keys() - true.keys() - named)
    if len(true) < 2 or n_foreign < fewest:
        return None
    unpredicted = true.keys() - predicted.keys()
    if len(unpredicted) < len(true):
        # Some labels are in both.
        if n < _ROWS_BY_LABEL * len(true):
            return None
        n_unpredicted = sum(true[label] for label in unpredicted)
        exchanged = n_unpredicted >= max(fewest, _ROWS_BY_LABEL * len(unpredicted))
        are_most = 2 * n_foreign > n and not is_part
        if not (are_most or (unpredicted and exchanged)):
            return None
    text = (
        f"{100 * n_foreign / n:.0f}% of {argument} are labels that do not occur in y_true: y_true "
        f"holds {_listed(true)}, {argument} holds {_listed(predicted)}. Use the same labels in "
        "both."
    )
    return Note("caution", text, about=_LABELS)


def _listed(labels: Iterable[Any]) -> str:
    """Return the first labels as a text of moderate length."""
    texts = [text if len(text) <= 20 else f"{text[:17]}..." for text in map(repr, labels)]
    more = ["..."] if len(texts) > _LABELS_SHOWN else []
    return f"[{', '.join(texts[:_LABELS_SHOWN] + more)}]"


def refuse_other_labels(y_true: NDArray[Any], y_pred: NDArray[Any], metric: str) -> None:
    """Refuse more than two labels where the truth has no more: predictions name others."""
    true, predicted = (label_counts(y)[0].tolist() for y in (y_true, y_pred))
    if len(true) <= 2:
        must = f"hold the labels of y_true, {_listed(true)}, for the metric {metric!r}"
        advice = "Truth and predictions must name the two classes alike."
        raise fail("y_pred", must, _listed(predicted), advice)


# ------------------------------------------------------------------ scores


@only_advises(None)
def note_on_scores(
    statistic: Statistic, y_pred: NDArray[Any], argument: str, n_rows: int
) -> Note | None:
    """Return a warning of decisions or probabilities in the place of scores.

    A metric of rankings takes no decisions, and one of log-likelihood ratios no probabilities.
    """
    if statistic.takes_ratios:
        low, high = y_pred.min(), y_pred.max()
        if n_rows < _FEWEST_SCORES or low < 0 or high > 1 or low == high:
            return None
        text = (
            f"{argument} lies in [0, 1], as probabilities do: {statistic.name} takes "
            "log-likelihood ratios. Give scipy.special.logit(p), less the logit of the share of "
            "positives that the probabilities assume."
        )
        return Note("caution", text, about="probabilities")
    if not statistic.of_order:
        return None
    scores = y_pred[:, 1] if y_pred.ndim == 2 and y_pred.shape[1] == 2 else y_pred.ravel()
    noun = "balanced accuracy" if statistic.reads == "pairs" else "one point of a curve"
    return note_on_decisions(scores, argument, f"{statistic.name} is then {noun}", n_rows)


@only_advises(None)
def note_on_decisions(
    scores: NDArray[Any], argument: str, consequence: str, n_rows: int
) -> Note | None:
    """Return a warning of scores that have exactly two distinct values."""
    if n_rows < _FEWEST_SCORES or not _are_two(scores[:_FIRST_LOOK], at_most=True):
        return None
    if not _are_two(scores):
        return None
    text = (
        f"{argument} holds two distinct values, as decisions do: {consequence}. Give scores, such "
        "as predict_proba or decision_function returns."
    )
    return Note("caution", text, about="decisions")


def _are_two(scores: NDArray[Any], at_most: bool = False) -> bool:
    """Whether scores have exactly two distinct values, or at most two."""
    remaining = scores[scores != scores[0]]
    if not len(remaining):
        return at_most
    return bool((remaining == remaining[0]).all())


def refuse_exchanged(
    y_true: NDArray[Any], y_pred: NDArray[Any], metric: str, argument: str = "y_pred"
) -> None:
    """Refuse scores in the place of a truth of labels, and these in the place of the scores.

    Parameters
    ----------
    y_true, y_pred : ndarray
        As they were given.
    metric : str
        What needs labels, for messages.
    argument : str
        What the user calls the predictions.
    """
    if are_exchanged(y_true, y_pred):
        got = f"real numbers, and labels in {argument}"
        raise fail("y_true", f"hold class labels for {metric}", got, EXCHANGED)


EXCHANGED = "Truth and scores seem to be swapped: the truth comes first."


def are_exchanged(y_true: NDArray[Any], y_pred: NDArray[Any]) -> bool:
    """Whether scores or probabilities stand first, and labels second."""
    if y_true.dtype.kind != "f" or y_pred.ndim != 1 or len(y_pred) != len(y_true):
        return False
    rows_looked_at = slice(None, None, -(-len(y_true) // _ROWS_LOOKED_AT))
    scores, labels = y_true[rows_looked_at], y_pred[rows_looked_at]
    if scores.ndim == 2 and not np.allclose(scores.sum(axis=1), 1, atol=1e-3):
        return False
    if not (scores != np.floor(scores)).any() or len(np.unique(scores)) <= 2:
        return False
    # Of floats two alone are labels; of other values so few that they repeat.
    most = 2 if labels.dtype.kind == "f" else len(labels) // _ROWS_BY_LABEL
    return len(label_counts(labels)[0]) <= max(most, 2)


def advice_on_range(low: float, high: float, function: str) -> str:
    """Return how numbers outside of [0, 1] become probabilities."""
    logit_function = f"scipy.special.{function}"
    if low >= -_PROBABILITY_ROUNDING and high <= 1 + _PROBABILITY_ROUNDING:
        return "If rounding put them beyond 0 and 1: np.clip(y_pred, 0, 1)."
    if low >= 0 and high <= 100:
        return f"Divide percent by 100; convert logits to probabilities by {logit_function}."
    return f"Convert logits to probabilities by {logit_function}."


# ------------------------------------------------------------------ truths of several columns
#
# The columns are labels that a row has or lacks (1 or 0), outputs, or relevances of items; records,
# such as event times, are for functions of the user. Predictions have the same columns, whatever
# the metric of scikit-learn; a function of the user may take any.


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
            advice = f"{_OF_ARRAYS} {_OF_RUNS}" if name == "y_pred" else _OF_ARRAYS
            raise fail(name, must, f"shape {y.shape}", advice)
        kind = type(y.flat[0])
        advice = _AS_TEXT.format(name) if kind is tuple else f"{AS_INDICATORS} {_OF_ARRAYS}"
        raise fail(name, must, f"{kind.__name__}s", advice)


def _is_of_user(statistic: Statistic) -> bool:
    return statistic.calls_function and not statistic.calls_library


# Responses of metrics that take a truth of several columns.
_OF_COLUMNS = ("indicators", "label_scores", "relevances", "outputs")


def check_columns_of_truth(statistic: Any, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
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
    if statistic.response not in _OF_COLUMNS and not statistic.calls_library:
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
    if statistic.response == "indicators":
        advice = "Use a metric of real values such as 'r2' or 'neg_mean_absolute_error'."
        _check_zero_one("y_true", statistic, y_true, advice)
        advice = "Decide first: y_pred >= 0.5, or take a metric of scores such as 'roc_auc'."
        _check_zero_one("y_pred", statistic, y_pred, _if_one_hot(y_true) or advice)
    elif statistic.response == "label_scores":
        advice = "For graded relevances use sklearn.metrics.ndcg_score."
        _check_zero_one("y_true", statistic, y_true, advice)
    elif statistic.response == "relevances" and y_true.min() < 0:
        must = f"hold relevances of at least 0 for the metric {statistic.name!r}"
        raise fail("y_true", must, f"{y_true.min():g}", "Subtract the smallest of them.")
    elif statistic.response == "outputs":
        check_losses(statistic, y_true, y_pred)
    statistic.check(y_true, y_pred)
    if statistic.calls_library:
        # What the function refuses of the data, it says.
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


_AS_TEXT = "Make labels from tuples: [str(label) for label in {0}]."
_OF_ARRAYS = (
    "Reduce each row to counts or to a value, or give a callable of the rows: see "
    "docs/guide/images.md."
)
_OF_RUNS = "Predictions of several runs, the runs first, go to bootstrap_runs(y_true, y_preds)."


def _if_one_hot(y_true: NDArray[Any]) -> str:
    """Advice for a truth whose rows have one label each; "" for another."""
    if y_true.dtype.kind not in "biuf" or not np.isin(y_true, (0, 1)).all():
        return ""
    one_hot = bool((y_true.sum(axis=1) == 1).all())
    return "Convert one-hot rows to labels by y_true.argmax(axis=1)." if one_hot else ""


def _check_zero_one(name: str, statistic: Statistic, y: NDArray[Any], advice: str) -> None:
    is_other = (y != 0) & (y != 1)
    if is_other.any():
        must = f"hold 0 or 1 for each label for the metric {statistic.name!r}"
        got = f"numbers such as {y[is_other][0]:g}"
        raise fail(name, must, got, advice)


# ------------------------------------------------------------------ the positive class


# One side of the usual 5%.
_CHANCE = 0.025


def name_the_positive(function: str, label: Any, response: str = "") -> str:
    """Advice to name the positive class, in a call and in ``scoring=``."""
    options = f"{function}, pos_label={label!r}{response}"
    return (
        f"Name yours: pos_label={label!r}, or in a BootstrapScorer "
        f"scoring=sklearn.metrics.make_scorer({options})."
    )


# How to name the positive class, and the other one, in the arguments of a call.
_IN_A_CALL = "Say so with pos_label={0!r}, or give pos_label={1!r}."


@only_advises(None)
def positive_note(
    statistic: Statistic,
    y_true: NDArray[Any] | None,
    y_pred: NDArray[Any],
    kind: NoteKind = "advice",
    advice: str = _IN_A_CALL,
) -> Note | None:
    """Say which of two labels in text is the positive one, where the user did not name it.

    ``advice`` says how to name it, with fields for this label and the other one.
    """
    inner = statistic.unsigned or statistic
    if not inner.greater_is_positive or inner.pos_label is not None:
        return None
    if y_true is None or y_true.dtype.kind not in "USO" or y_true.ndim != 1:
        return None
    decides = _decides(inner)
    if not decides and y_pred.ndim == 2 and inner.columns_suffice:
        return None
    column_labels = inner.labels
    labels = (
        label_counts(y_true)[0] if column_labels is None else np.asarray(column_labels)
    ).tolist()
    if len(labels) != 2 or not all(isinstance(label, str | bytes) for label in labels):
        return None
    negative, positive = sorted(labels)
    must = ": larger values of y_pred must mean it" if y_pred.ndim == 1 and not decides else ""
    return Note(
        kind,
        f"The positive class is {positive!r}, the greater label{must}. "
        f"{advice.format(positive, negative)}",
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
    negative : label
        The other of both.
    are_both : bool
        Whether some metrics take 1 by themselves and others the greater label.
    """

    label: Any
    negative: Any
    are_both: bool

    def note(self, advice: str = _IN_A_CALL) -> Note:
        """Return a warning that says which class it is, and how to name one."""
        by = ("the greater label", "scikit-learn's default")[:: 1 if self.negative == 1 else -1]
        text = (
            f"The positive class is {self.label!r}, {by[0]}, and not {self.negative!r}, {by[1]}. "
        )
        return Note("caution", text + advice.format(self.label, self.negative))


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
    inner = [statistic.unsigned or statistic for statistic in statistics]
    default_metrics = [
        statistic
        for statistic in inner
        if statistic.positive_by_default and statistic.pos_label == 1
    ]
    ordered_metrics = [
        statistic
        for statistic in inner
        if statistic.greater_is_positive and statistic.pos_label is None
    ]
    labels: set[Any] = set()
    for y_true, y_pred, _ in columns:
        if y_true is None or y_true.ndim != 1 or y_true.dtype.kind not in "iuf":
            return None
        if y_pred.ndim == 2:
            ordered_metrics = [
                statistic
                for statistic in ordered_metrics
                if _decides(statistic) or not statistic.columns_suffice
            ]
        if not default_metrics and not ordered_metrics:
            return None
        decides = y_pred.ndim == 1 and any(map(_decides, default_metrics + ordered_metrics))
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
    label, negative = (greater, 1) if ordered_metrics else (1, greater)
    return PositiveClass(label, negative, bool(default_metrics and ordered_metrics))


def note_on_unused_positive(statistics: Iterable[Statistic], pos_label: Any) -> Note | None:
    """Say that a positive class that was named plays no part in any of the metrics."""
    metrics = list(statistics)
    inner = [statistic.unsigned or statistic for statistic in metrics]
    if pos_label is None or any(statistic.pos_label is not None for statistic in inner):
        return None
    names = " and ".join(repr(statistic.name) for statistic in metrics[:3])
    return Note(
        "caution",
        f"pos_label={pos_label!r} changes nothing: {names} {_HAS[len(metrics) > 1]} no positive "
        "class. Your own function has one if it has an argument pos_label.",
    )


_HAS = {False: "has", True: "have"}


@only_advises()
def notes_on_reversed_scores(
    statistic: Statistic, rows: Columns, naive: float | None, limits: tuple[float, float]
) -> tuple[Note, ...]:
    """Say which class is positive where scores are surely worse than any that ignore the input.

    Losses can be that with the classes in the right order; they are warned of where it is reversed.
    """
    y_true, y_pred, _ = rows
    inner, better = statistic.unsigned or statistic, statistic.greater_is_better
    if naive is None or better is None or y_true is None or y_true.ndim != 1:
        return ()
    reads_scores = inner.response in ("scores", "probabilities")
    if not reads_scores or not (limits[1] < naive if better else limits[0] > naive):
        return ()
    labels, pos_label = label_counts(y_true)[0], inner.pos_label
    n_columns = 1 if y_pred.ndim == 1 else y_pred.shape[1]
    if len(labels) != 2 or n_columns > 2 or pos_label not in (None, *labels.tolist()):
        return ()
    positive, negative_label = (class_of(labels, pos_label, negative) for negative in (False, True))
    # Imported here, because few metrics are of rankings.
    from .ranking import positive_scores

    score = positive_scores(y_pred, inner.labels, pos_label)
    if not inner.of_order:
        # Imported here, because few calls come here.
        from scipy.stats import mannwhitneyu

        sides = score[y_true == positive], score[y_true == negative_label]
        test = mannwhitneyu(*sides, alternative="less", method="asymptotic")
        if not test.pvalue < _CHANCE:
            return ()
    why = ", the greater label" if pos_label is None else ""
    instead = f"pos_label={negative_label!r}"
    if n_columns == 2:
        columns = (labels if inner.labels is None else np.asarray(inner.labels)).tolist()
        why, instead = "", f"labels={columns[::-1]}, as the columns are"
    text = (
        f"Worse than scores that ignore the input. Larger scores must mean {positive!r}{why}; if "
        f"they mean {negative_label!r}, give {instead}."
    )
    return (Note("caution", text),)


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
        return "Use a metric of real values such as 'r2' or 'neg_mean_absolute_error'."
    advice = (
        "Compare scores with a threshold, or use a metric of scores such as 'roc_auc', or of "
        "real values such as 'neg_mean_absolute_error' or 'r2'."
    )
    if values.min() < 0 or values.max() > 1 or len(label_counts(y_true)[0]) != 2:
        return advice
    return (
        "If p holds probabilities of the second class, give both columns, "
        "np.column_stack((1 - p, p)): metrics of labels then take the more probable class, "
        f"and metrics of probabilities stay as they are. {advice}"
    )


# ------------------------------------------------------------------ truths of one column


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
    # A truth of real numbers can only be a mistake there.
    needs_labels = inner.response in ("labels", "scores", "probabilities")
    # Labels are sorted; functions of the user take any values.
    reads_labels = needs_labels or inner.calls_library
    if y_true.dtype.kind == "f" and y_true.ndim == 1 and needs_labels:
        refuse_exchanged(y_true, y_pred, f"the metric {inner.name!r}", argument)
    if y_true.ndim != 1 or y_true.dtype.kind == "V":
        check_columns_of_truth(inner, y_true, y_pred)
        return statistic
    if y_true.dtype.kind == "O" and reads_labels:
        numbered_labels("y_true", y_true)
    if inner.response == "labels":
        _check_labels(inner, y_true, y_pred)
    elif inner.response == "scores":
        _check_scores(inner, y_true, y_pred)
    elif inner.response == "probabilities":
        _check_probabilities(inner, y_true, y_pred)
    elif inner.response == "values":
        must = f"hold one real number per row for the metric {inner.name!r}"
        for name, y in (("y_true", y_true), ("y_pred", y_pred)):
            if y.ndim != 1 or y.dtype.kind not in "biuf":
                advice = "For class labels use a metric such as 'accuracy'."
                raise fail(name, must, _described(y), advice)
        check_losses(inner, y_true, y_pred)
    inner.check(y_true, y_pred)
    if inner.pos_label is not None and (inner.reads_decisions or reads_labels):
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
    for name, y in (("y_true", y_true), ("y_pred", y_pred)):
        if y.dtype.kind == "f" and (fractional := y != np.floor(y)).any():
            got = f"real numbers such as {y[np.argmax(fractional)]:g}"
            advice = advice_on_reals(y, y_true if name == "y_pred" else None)
            raise fail(name, must, got, advice)
    are_whole = y_true.dtype.kind in "biu" and y_pred.dtype.kind in "biu"
    if statistic.names_classes and not are_whole:
        kinds = [_kind(y) for y in (y_true, y_pred)]
        if kinds[0] != kinds[1]:
            must = f"hold labels of the same kind as y_true, here {kinds[0]}"
            raise fail("y_pred", must, f"{kinds[1]}", _decisions_as_text(y_true, y_pred))
        if {y_true.dtype.kind, y_pred.dtype.kind} & {"i", "u"}:
            for name, y in (("y_true", y_true), ("y_pred", y_pred)):
                if y.dtype.kind == "f" and float(np.abs(y).max()) >= EXACT:
                    got = f"floats such as {y[np.abs(y).argmax()]:.17g}"
                    must = "hold labels below 2**53 if they are floats beside integers"
                    raise fail(name, must, got, "Keep ids as integers or text throughout.")
    if y_pred.dtype.kind == "O":
        numbered_labels("y_pred", y_pred)
        if y_true.dtype.kind == "O":
            numbered_labels("y_pred", np.concatenate((y_true, y_pred)))


@only_advises(SAME_KIND)
def _decisions_as_text(y_true: NDArray[Any], y_pred: NDArray[Any]) -> str:
    """How to make decisions labels as those of the truth: which are positive is not known."""
    labels = np.unique(y_true) if y_pred.dtype.kind == "b" and _kind(y_true) == "text" else ()
    if len(labels) != 2:
        return SAME_KIND
    no, yes = map(str, labels)
    return (
        f"Give np.where(y_pred, {yes!r}, {no!r}) if True means {yes!r}, else "
        f"np.where(y_pred, {no!r}, {yes!r})."
    )


def _check_positive(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    """Refuse a positive class that is none of two labels."""
    labels = statistic.labels_in(y_true, y_pred if statistic.reads_decisions else None)
    labels = labels if statistic.labels is None else np.union1d(labels, statistic.labels)
    occurring, positive = labels.tolist(), statistic.pos_label
    function = statistic.positive_by_default if positive == 1 else ""
    if function and (len(occurring) != 2 or is_among(positive, occurring)):
        return
    if function:
        response = "" if statistic.reads_decisions else ", response_method='predict_proba'"
        advice = name_the_positive(function, occurring[-1], response)
        must = f"hold the positive label {positive!r} of the metric {statistic.name!r}"
        raise fail("y_true", must, f"the labels {occurring}", advice)
    if len(occurring) > 2:
        must = f"be None for a metric of {len(occurring)} classes"
        advice = "Score one class against the others: y_true == label."
        raise fail("pos_label", must, repr(positive), advice)
    if len(occurring) == 2 and not is_among(positive, occurring):
        raise fail("pos_label", f"be one of {occurring}", repr(positive))


# ------------------------------------------------------------------ scores and probabilities


def _check_scores(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    must = f"hold scores for the metric {statistic.name!r}, larger for the positive class"
    if y_pred.dtype.kind not in "biuf":
        advice = "Give what predict_proba returns."
        with suppress(TypeError, ValueError):
            if np.isfinite(float(y_pred.flat[0])):
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
        if y_pred.ndim == 2 and y_pred.shape[1] != 2:
            must = f"be of shape (n_samples,) or (n_samples, 2) for the metric {statistic.name!r}"
            raise fail("y_pred", must, f"shape {y_pred.shape}")
        if y_pred.ndim == 2:
            must = f"be one score per row, or probabilities of two classes, for {statistic.name!r}"
            check_two_columns("y_pred", y_pred, must)
        return
    if not statistic.averages_columns:
        raise _error_of_two_classes(statistic, all_labels)
    check_columns(y_pred, all_labels)


_ONE_CLASS = "Rows of one class do not show how well classes are separated: add the other."
_ONE_OF_SEVERAL = "Score a class against the others: y_true == label, and its column of y_pred."


def _error_of_two_classes(statistic: Statistic, all_labels: NDArray[Any]) -> ValueError:
    must = f"hold two classes for the metric {statistic.name!r}"
    advice = statistic.advice_on_several or _ONE_OF_SEVERAL
    return fail("y_true", must, f"{len(all_labels)} classes", advice)


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
        raise _error_of_two_classes(statistic, all_labels)
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
    value = y.ravel()[0]
    if isinstance(value, str | bytes):
        return "text" if isinstance(value, str) else "bytes"
    return "numbers" if isinstance(value, Real) else f"{type(value).__name__} objects"
