"""Predictions that a metric takes, or refuses, but that are hardly what was meant.

Labels of another coding than the truth's, decisions in the place of scores, truth and scores
exchanged, percent in the place of probabilities. A few rows are looked at before all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.checks import fail
from .._base.warnings import Note, only_advises
from .cells import label_counts
from .statistic import Statistic

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
_ROUNDING = 2**-8
# Labels that are counted one by one; of more the set is made.
_LABELS_COUNTED = 8
_LABELS = "labels that do not meet"


class _Unmet(NamedTuple):
    """Labels of the truth and of the predictions, as texts, and what share the truth lacks."""

    truth: str
    predicted: str
    share: float


# A metric as it was asked for, with no labels but those that the user named; truth and predictions
# as it reads them; the labels that the call names, which its rows may lack; and what the user calls
# the predictions.
LookedAt = tuple[Statistic, NDArray[Any] | None, NDArray[Any], NDArray[Any] | None, str]


@only_advises()
def doubts(looked_at: Iterable[LookedAt], *, of_part: bool = False) -> list[Note]:
    """Return warnings of predictions that a metric takes but that are hardly what was meant.

    Parameters
    ----------
    looked_at : iterable of LookedAt
        Each metric on each system.
    of_part : bool
        Whether other rows may hold other labels and scores, as those of other batches may.

    Returns
    -------
    list of Note
        The first of each sort.
    """
    found: dict[str, Note] = {}
    for statistic, y_true, y_pred, labels, argument in looked_at:
        inner = statistic.unsigned or statistic
        note = None
        if inner.response == "scores" and not of_part:
            note = note_on_scores(inner, y_pred, argument, len(y_pred))
        elif inner.response == "labels" and y_true is not None and y_true.ndim == 1:
            known = [own for own in (labels, inner.labels) if own is not None]
            if _LABELS not in found and inner.names_classes:
                note = _note_on_labels(_unmet_labels(y_true, y_pred, known, of_part), argument)
        if note is not None:
            found.setdefault(note.about, note)
    return list(found.values())


# ------------------------------------------------------------------ labels


def _unmet_labels(
    y_true: NDArray[Any], y_pred: NDArray[Any], known: Sequence[Any], of_part: bool
) -> _Unmet | None:
    """Return the labels of both columns where these hardly name the same classes."""
    step = -(-len(y_true) // _ROWS_LOOKED_AT)
    found = _unmet(y_true[::step], y_pred[::step], known, of_part)
    return found if found is None or step == 1 else _unmet(y_true, y_pred, known, of_part)


def _unmet(
    truth: NDArray[Any], decision: NDArray[Any], known: Sequence[Any], of_part: bool
) -> _Unmet | None:
    """Return labels where none is in both columns, where most predictions are never true, or
    where a notable share of them is never true, and of the truth never predicted.
    """
    n, missed = len(truth), truth != decision
    fewest = max(_SMALLEST_SHARE * n, _ROWS_BY_LABEL)
    if np.count_nonzero(missed) < fewest:
        return None
    few = slice(None, None, -(-n // _FIRST_LOOK))
    hits = set(truth[few][~missed[few]].tolist())
    if len(hits) <= _LABELS_COUNTED:
        # Counting is much cheaper than sorting where labels are few.
        n_known = sum(int(np.count_nonzero(decision == label)) for label in hits)
        if n - n_known < fewest:
            return None
    elif set(decision[missed].tolist()) <= hits:
        return None
    true, predicted = (
        dict(zip(*map(np.ndarray.tolist, label_counts(y)), strict=True)) for y in (truth, decision)
    )
    named = set().union(*(np.asarray(own).tolist() for own in known))
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
        are_most = 2 * n_foreign > n and not of_part
        if not (are_most or (unpredicted and exchanged)):
            return None
    return _Unmet(_listed(true), _listed(predicted), n_foreign / n)


def _listed(labels: Iterable[Any]) -> str:
    """Return the first labels as a text of moderate length."""
    texts = [text if len(text) <= 20 else f"{text[:17]}..." for text in map(repr, labels)]
    more = ["..."] if len(texts) > _LABELS_SHOWN else []
    return f"[{', '.join(texts[:_LABELS_SHOWN] + more)}]"


def _note_on_labels(found: _Unmet | None, argument: str) -> Note | None:
    """Return a warning of labels that do not meet."""
    if found is None:
        return None
    text = (
        f"{100 * found.share:.0f} % of {argument} are labels that do not occur in y_true: y_true "
        f"holds {found.truth}, {argument} holds {found.predicted}. Use the same labels in both."
    )
    return Note("caution", text, about=_LABELS)


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
        return _note_on_ratios(statistic, y_pred, argument, n_rows)
    if not statistic.of_order:
        return None
    scores = y_pred[:, 1] if y_pred.ndim == 2 and y_pred.shape[1] == 2 else y_pred.ravel()
    what = "balanced accuracy" if statistic.reads == "pairs" else "one point of a curve"
    return note_on_decisions(scores, argument, f"{statistic.name} is then {what}", n_rows)


def _note_on_ratios(
    statistic: Statistic, y_pred: NDArray[Any], argument: str, n_rows: int
) -> Note | None:
    """Return a warning of probabilities in the place of log-likelihood ratios."""
    low, high = y_pred.min(), y_pred.max()
    if n_rows < _FEWEST_SCORES or low < 0 or high > 1 or low == high:
        return None
    text = (
        f"{argument} lies in [0, 1], as probabilities do: {statistic.name} takes log-likelihood "
        "ratios. Give scipy.special.logit(p), less the logit of the share of positives that the "
        "probabilities assume."
    )
    return Note("caution", text, about="probabilities")


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
    others = scores[scores != scores[0]]
    if not len(others):
        return at_most
    return bool((others == others[0]).all())


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
    every = slice(None, None, -(-len(y_true) // _ROWS_LOOKED_AT))
    scores, labels = y_true[every], y_pred[every]
    if scores.ndim == 2 and not np.allclose(scores.sum(axis=1), 1, atol=1e-3):
        return False
    if not (scores != np.floor(scores)).any() or len(np.unique(scores)) <= 2:
        return False
    # Of floats two alone are labels; of other values so few that they repeat.
    most = 2 if labels.dtype.kind == "f" else len(labels) // _ROWS_BY_LABEL
    return len(label_counts(labels)[0]) <= max(most, 2)


def advice_on_range(low: float, high: float, function: str) -> str:
    """Return how numbers outside of [0, 1] become probabilities."""
    of_logits = f"scipy.special.{function}"
    if low >= -_ROUNDING and high <= 1 + _ROUNDING:
        return "If rounding put them beyond 0 and 1: np.clip(y_pred, 0, 1)."
    if low >= 0 and high <= 100:
        return f"Divide percent by 100; convert logits to probabilities by {of_logits}."
    return f"Convert logits to probabilities by {of_logits}."
