"""The metrics of a call as statistics, each checked against the rows that it is evaluated on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.checks import category_order
from .._base.errors import Note, rename, tell
from ..metrics.cells import label_counts
from ..metrics.lookup import KnownLabels, NotGiven, averaging, resolve_metrics, unnamed_positives
from ..metrics.responses import (
    LookedAt,
    check_decidable,
    check_response,
    doubts,
    of_no_positive,
    positive_note,
    positive_of_call,
)
from ..metrics.statistic import CallableStatistic, Statistic
from .rows import Rows

OF_MISSING = (
    "The metric has no value on these rows: let it leave missing values out, as np.nanmean does, "
    "or remove the rows from every argument."
)
# Maximum number of different numbers that a truth of labels has without a doubt.
_MANY_NUMBERS = 30
_ROWS_LOOKED_AT = 10_000
_EXACT_HITS = Note(
    "caution",
    f"y_true holds more than {_MANY_NUMBERS} different numbers, and accuracy counts exact hits. "
    "Give metric='mean_absolute_error', 'neg_mean_absolute_error' or 'r2'; of classes 'accuracy'.",
)


class Places(NamedTuple):
    """Where the results of metrics belong.

    Attributes
    ----------
    single : bool
        Whether one metric alone was asked for.
    paths : dict of str to tuple
        Keys of the result of each statistic: the metric, and its entry where it has several.
    alone : bool
        Whether there is one result, with nothing to tell it apart from.
    """

    single: bool
    paths: dict[str, tuple[Any, ...]]
    alone: bool


class _OfScorers:
    """In place of a positive class: scorers name theirs, and estimators answer for it."""


OF_SCORERS = _OfScorers()


class Scoring(NamedTuple):
    """What is scored by which metric, as it was given.

    Attributes
    ----------
    metric : str, callable, list or dict
    greater_is_better : bool or None
    pos_label : label or None
        The positive class of metrics that have one. `OF_SCORERS`: their estimators answer for it,
        and nothing is doubted.
    labels : array-like or None
        Of the columns of probabilities.
    several : bool
        Whether a metric may return several numbers, each of which has a statistic.
    """

    metric: Any
    greater_is_better: Any = None
    pos_label: Any = OF_SCORERS
    labels: Any = None
    several: bool = True

    @property
    def settings(self) -> dict[str, Any]:
        """What results hold of the positive class: nothing where none is named."""
        return positive_setting(self.pos_label)


@dataclass(frozen=True, eq=False)
class Measured:
    """A statistic, and the rows that it is of."""

    rows: Rows
    statistic: Statistic


# By metric, and by system or method; several for the runs of a method.
Scores = Mapping[str, Mapping[str, Sequence[Measured]]]


def measured_by(
    scoring: Scoring,
    rows: Mapping[str, Sequence[tuple[str, Rows]]],
    truths: Mapping[str, str] = MappingProxyType({}),
) -> tuple[dict[str, dict[str, list[Measured]]], Places]:
    """Return statistics checked against the rows, and where their results belong.

    The metric is looked up once; each statistic is fixed to the labels of its own predictions.

    Parameters
    ----------
    scoring : Scoring
    rows : mapping of str to sequence of tuple (str, Rows)
        By system or method: the rows of each run, after the argument that its predictions came in.
    truths : mapping of str to str
        The argument that the truth of an array came in, where it is not ``y_true``.

    Returns
    -------
    scores : Scores
    places : Places
    """
    named = [one for own in rows.values() for one in own]
    found, places, columns = _statistics_of_each(scoring, named, truths)
    scores = {}
    for metric, statistics in found.items():
        every = [own for _, own in named]
        if metric in columns:
            # A metric of one column of the predictions, against a truth of its own.
            every = [
                replace(own, y_true=truth, y_pred=predicted, labels=None, _in_order=[])
                for own, (truth, predicted) in zip(every, columns[metric], strict=True)
            ]
        following = map(Measured, every, statistics)
        scores[metric] = {name: [next(following) for _ in own] for name, own in rows.items()}
    return scores, places


def _statistics_of_each(
    scoring: Scoring, rows: Sequence[tuple[str, Rows]], truths: Mapping[str, str]
) -> tuple[dict[str, list[Statistic]], Places, Mapping[str, Any]]:
    """Return statistics by metric, one for each array, and where their results belong.

    Last the truth and predictions of those that read one column.
    """
    better = scoring.greater_is_better
    if better is not None:
        check.check_direction(better)
    pos_label, not_given = scoring.pos_label, isinstance(scoring.metric, NotGiven)
    metric = str(scoring.metric) if not_given else scoring.metric
    asked: dict[str, Any] = {"greater_is_better": better, "several": scoring.several}
    if pos_label is not OF_SCORERS and pos_label is not None:
        asked["pos_label"] = pos_label = check.check_label("pos_label", pos_label)
    arrays = [own for _, own in rows]
    read = [arrays[0].y_true, *(own.y_pred for own in arrays)]
    has_order = any(own is not None and own.dtype.metadata is not None for own in read)
    order = category_order(*read) if has_order else None
    one_column = scoring.labels is not None and any(own.y_pred.ndim == 1 for own in arrays)
    of_rows = KnownLabels(order=order, averaged=arrays[0].labels if one_column else None)
    if order is not None and len(order) == 2 and pos_label is not OF_SCORERS:
        of_rows = of_rows._replace(positive=order.tolist()[1])
    resolved: dict[str, Statistic] = {}
    single, labels = True, None
    found: dict[str, list[Statistic]] = {}
    looked_at: list[LookedAt] = []
    complete: set[int] = set()
    of_truth: set[tuple[str, int]] = set()
    for argument, own in rows:
        if not resolved or own.labels is not labels:
            labels = own.labels
            asked |= {"labels": labels, "several_outputs": own.has_outputs}
            resolved, single = resolve_metrics(metric, of_rows=of_rows, **asked)
            positive = None
            truth = own.y_true
            if (
                pos_label is None
                and truth is not None
                and truth.dtype.kind in "iuf"
                and truth.max() > 1
            ):
                columns = [(one.y_true, one.y_pred, None) for one in arrays]
                positive = positive_of_call(unnamed_positives(metric, resolved), columns)
            if positive is not None and positive.are_both:
                of_rows = of_rows._replace(positive=positive.label)
                resolved, single = resolve_metrics(metric, of_rows=of_rows, **asked)
        try:
            for name, statistic in resolved.items():
                if one_column:
                    check_averaged(statistic, own, name in averaging(metric, resolved))
                takes_any = statistic.calls_function and not statistic.calls_library
                for column, values in (("y_true", own.y_true), ("y_pred", own.y_pred)):
                    if values is not None and id(values) not in complete and not takes_any:
                        check.check_no_missing(column, values)
                        complete.add(id(values))
                predicted = own.y_pred
                if predicted.ndim == 2:
                    predicted = checked_columns(own, statistic, argument)
                checked = check_response(statistic, own.y_true, predicted, argument)
                # The runs of a call share their truth.
                truth = own.y_true
                if truth is not None and truth.ndim == 1 and (name, id(truth)) not in of_truth:
                    of_truth.add((name, id(truth)))
                    (checked.unsigned or checked).check_all(truth)
                looked_at.append((statistic, own.y_true, predicted, own.labels, argument))
                if own.sample_weight is not None and not checked.takes_weights:
                    raise _refused_weights(checked)
                if takes_any:
                    _check_defined(checked, own)
                found.setdefault(name, []).append(checked)
        except ValueError as error:
            names = {"y_pred": argument, "y_true": truths.get(argument, "y_true")}
            rename(error, names)
            raise
    if not_given and _hardly_labels([own for _, own in rows]):
        tell(_EXACT_HITS)
    if pos_label is not OF_SCORERS:
        notes = doubts(looked_at) + _of_positive(arrays, found, pos_label)
        tell(*notes, *([] if positive is None else [positive.note()]))
    if order is not None and scoring.labels is None:
        _tell_of_columns(arrays)
    if not scoring.several or not any(own[0].calls_function for own in found.values()):
        return found, Places(single, {name: (name,) for name in found}, single), {}
    return _of_each_entry(found, single, [own for _, own in rows])


def check_averaged(statistic: Statistic, own: Rows, averages: bool) -> None:
    """Refuse labels beside one label or number a row that the metric cannot mean."""
    inner = statistic.unsigned or statistic
    truth = own.truth_column
    if own.labels is None or own.y_pred.ndim != 1 or truth is None:
        return
    if inner.response == "values":
        must = f"be None for the metric {inner.name!r} of numbers"
        raise check.fail("labels", must, f"{own.labels.tolist()[:5]}")
    if inner.response != "labels" or not inner.names_classes:
        return
    true, predicted = (set(label_counts(y)[0].tolist()) for y in (truth, own.y_pred))
    labels = own.labels.tolist()
    if averages and true.isdisjoint(labels):
        must = f"hold a label of y_true for the metric {inner.name!r}"
        raise check.fail("labels", must, f"{labels[:5]}")
    others = [] if averages else [one for one in true | predicted if one not in labels]
    if others:
        must = f"hold each label that occurs for the metric {inner.name!r}, which averages no part"
        advice = "Leave labels out, or remove the rows of other labels from every argument."
        raise check.fail("labels", must, f"{labels[:5]} without {others[:5]}", advice)


def _check_defined(statistic: Statistic, own: Rows) -> None:
    """Refuse rows with missing values where a function of the user's has no value on them."""
    for name, values in (("y_true", own.y_true), ("y_pred", own.y_pred)):
        try:
            if values is not None:
                check.check_no_missing(name, values, OF_MISSING)
        except ValueError:
            reduced = statistic.reduce(*own.of(statistic, None))
            value = cast(CallableStatistic, statistic).returned(reduced)[1]
            numbers = list(value.values()) if isinstance(value, Mapping) else value
            if not np.isfinite(np.asarray(numbers, dtype=np.float64)).any():
                raise
            return


def _tell_of_columns(rows: Sequence[Rows]) -> None:
    """Warn of columns in the order of categories where scikit-learn sorts the labels."""
    for own in rows:
        labels = [] if own.labels is None or own.y_pred.ndim != 2 else own.labels.tolist()
        if labels != sorted(labels):
            text = (
                f"The columns of y_pred are taken in the order of the categories of y_true, "
                f"{labels[:5]}. Those of scikit-learn are sorted: give labels=model.classes_."
            )
            tell(Note("caution", text, about="columns"))
            return


def _of_each_entry(
    found: Mapping[str, Sequence[Statistic]], single: bool, rows: Sequence[Rows]
) -> tuple[dict[str, list[Statistic]], Places, Mapping[str, Any]]:
    """Return the statistics with one for each number of those that return several."""
    # Imported here, because few metrics are functions of which nothing is known.
    from ..metrics.outputs import each_entry

    columns = {
        name: [own.of(one, None) for own, one in zip(rows, statistics, strict=True)]
        for name, statistics in found.items()
    }
    entries = each_entry(found, columns)
    alone = single and all(len(path) == 1 for path in entries.paths.values())
    return entries.statistics, Places(single, entries.paths, alone), entries.columns


def _refused_weights(statistic: Statistic) -> ValueError:
    """Return the error of weights of rows for a metric that takes none."""
    must = f"be None with the metric {statistic.name!r}"
    advice = "The metric has no sample_weight argument: give it one, or leave weights out."
    return check.fail("sample_weight", must, "weights", advice)


def _of_positive(
    rows: Sequence[Rows], found: Mapping[str, Sequence[Statistic]], pos_label: Any
) -> list[Note]:
    """Warn of a class that is positive because nobody named it, or named where none is."""
    if pos_label is not None:
        note = of_no_positive([own[0] for own in found.values()], pos_label)
        return [] if note is None else [note]
    truth = rows[0].y_true
    if truth is None or truth.dtype.kind not in "USO":
        return []
    for statistics in found.values():
        for own, one in zip(rows, statistics, strict=True):
            note = positive_note(one, own.y_true, own.predicted_for(one), "caution")
            if note is not None:
                return [note]
    return []


def positive_setting(pos_label: Any) -> dict[str, Any]:
    """Return what settings hold of a positive class: nothing where none is named."""
    if pos_label is None or pos_label is OF_SCORERS:
        return {}
    pos_label = check.check_label("pos_label", pos_label)
    return {"pos_label": pos_label if isinstance(pos_label, str | int | float) else repr(pos_label)}


def checked_columns(own: Rows, statistic: Statistic, argument: str) -> NDArray[Any]:
    """Return two-dimensional predictions as the metric reads them."""
    if own.decides(statistic):
        assert own.labels is not None
        check_decidable(statistic.name, own.y_true, own.y_pred, own.labels, argument)
    return own.predicted_for(statistic)


def _hardly_labels(rows: Sequence[Rows]) -> bool:
    """Whether the truth takes many numbers that nobody predicts exactly in half of the rows.

    Ten thousand rows, evenly spaced, are looked at.
    """
    truth = rows[0].y_true
    if truth is None or truth.dtype.kind not in "iuf":
        return False
    every = slice(None, None, -(-len(truth) // _ROWS_LOOKED_AT))
    looked_at = truth[every]
    for own in rows:
        if own.y_pred.ndim == 2:
            return False
        if 2 * np.count_nonzero(looked_at == own.y_pred[every]) >= len(looked_at):
            return False
    return len(np.unique(looked_at)) > _MANY_NUMBERS
