"""The rows of a call, checked against what is asked of them.

Columns become arrays of one length (`checked_rows`), a metric becomes a statistic that is checked
against each array of predictions (`measured_by`), subgroups become parts of the rows, and warnings
are given of an order of rows that says something: alike neighbours, dates, indexes that differ.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._base import checks as check
from .._base.arguments import Anytime, Trials, TwoColumns
from .._base.checks import (
    category_order,
    declared_categories,
    is_column,
    order_of,
)
from .._base.errors import Note, amend, only_advises, parts_of, rename, tell
from .._base.typing import ArrayLike
from .._base.work import Workers
from ..inference._tuning import FEWEST_ROWS
from ..inference.dependence import neighbours_are_alike
from ..inference.intervals import method_of
from ..metrics.cells import label_counts
from ..metrics.lookup import KnownLabels, NotGiven, averaging, resolve_metrics, unnamed_positives
from ..metrics.responses import (
    LookedAt,
    PositiveClass,
    check_decidable,
    check_response,
    doubts,
    note_on_unused_positive,
    positive_note,
    positive_of_call,
)
from ..metrics.statistic import CallableStatistic, ReducedData, Statistic

if TYPE_CHECKING:
    from ..metrics.tasks import Tasks


_DECIDED = Note(
    "advice",
    "Class labels were taken from the columns: in each row the label of the largest value, and the "
    "first of equal values.",
)


# Arguments with a value for each row, beside truth and predictions.
_BY_ROW = ("groups", "strata", "by", "average_over", "sample_weight")


class Sampling(NamedTuple):
    """Arguments of what is drawn, of the names that they have in public, as they were given.

    Each is checked once, by the step that reads it, since what it must be depends on the rows:
    weights with the columns, others for the plan, the parts or the tasks. A function leaves those
    as they are here which it does not take. ``system`` names the system whose rows they are, where
    each has its own.
    """

    groups: Any = None
    strata: Any = None
    average_over: Any = None
    block_length: Any = None
    sample_weight: Any = None
    by: Any = None
    resamples: Any = None
    n_resamples: Any = 1999
    random_state: Any = None
    system: str | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """Columns with a value for each row, or None, by the name that messages give them."""
        key = "" if self.system is None else f"[{self.system!r}]"
        return {f"{name}{key}": getattr(self, name) for name in _BY_ROW}

    @property
    def streamed(self) -> dict[str, Any]:
        """The columns that a stream can have."""
        return {"groups": self.groups, "sample_weight": self.sample_weight}

    @property
    def not_streamed(self) -> dict[str, Any]:
        """Arguments that a stream cannot have."""
        names = ("strata", "average_over", "block_length", "by", "resamples")
        crossed = self.groups if isinstance(self.groups, TwoColumns) else None
        return {name: getattr(self, name) for name in names} | {"groups": crossed}

    def settings(self, n_resamples: int) -> dict[str, Any]:
        """Return the settings of the sampling that results hold."""
        return {
            "groups": self.groups is not None,
            "strata": self.strata is not None,
            "by": self.by is not None,
            "sample_weight": self.sample_weight is not None,
            "resamples": self.resamples is not None,
            "n_resamples": n_resamples,
            "same_population": isinstance(self.groups, Trials),
        }


class Arguments(NamedTuple):
    """Rows as the arguments of a function that takes all of them at once.

    Attributes
    ----------
    y_true : array-like of shape (n_samples,) or None
    y_preds : array-like, or mapping of str to array-like
        Predictions of one system that has no name, or by system.
    sampling : Sampling
    """

    y_true: Any
    y_preds: Any
    sampling: Sampling


class IntervalOptions(NamedTuple):
    """Options of intervals and workers for each score, checked.

    Attributes
    ----------
    interval : str or Anytime
        "auto" or the name of a method, or the first of the looks that the intervals shall hold at.
    confidence_level : float
    workers : Workers
    adjust : "max-t" or None
        Whether the intervals of all scores hold at once.
    """

    interval: str | Anytime
    confidence_level: float
    workers: Workers
    adjust: str | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of intervals that results hold."""
        settings: dict[str, Any] = {
            "confidence_level": self.confidence_level,
            "interval": method_of(self.interval),
        }
        if self.adjust is not None:
            settings["adjust"] = self.adjust
        if isinstance(self.interval, Anytime):
            settings["first_look"] = self.interval.first_look
        return settings


# ------------------------------------------------------------------ rows


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a call: arrays of n_samples, and the labels of probability columns.

    Messages call the predictions by ``argument``, and the truth by ``truth_argument``.
    """

    y_true: NDArray[Any] | None
    y_pred: NDArray[Any]
    sample_weight: NDArray[np.float64] | None
    labels: NDArray[Any] | None
    argument: str = "y_pred"
    truth_argument: str = "y_true"
    _in_order: list[tuple[Any, Any, Any]] = field(default_factory=list, repr=False)

    @property
    def n_samples(self) -> int:
        return len(self.y_pred)

    @property
    def truth_column(self) -> NDArray[Any] | None:
        """The truth where it holds one label or number a row; None for columns and records."""
        return self.y_true if is_column(self.y_true) else None

    def decides(self, statistic: Statistic) -> bool:
        """Whether the metric reads labels and the predictions are probabilities of classes."""
        return self.y_pred.ndim == 2 and statistic.response == "labels" and self.labels is not None

    @cached_property
    def are_truth(self) -> bool:
        """Whether the predictions equal the truth on every row."""
        truth, first_rows = self.y_true, slice(100)
        if truth is None or truth.dtype.kind in "VO" or truth.shape != self.y_pred.shape:
            # Objects need not compare as values do; labels in objects are numbers and texts by now.
            return False
        # Most calls are done with the first rows.
        return np.array_equal(truth[first_rows], self.y_pred[first_rows]) and np.array_equal(
            truth, self.y_pred
        )

    @cached_property
    def are_constant(self) -> bool:
        """Whether the predictions of a truth are the same on every row."""
        first_rows, answers = slice(100), self.y_pred
        if self.y_true is None or answers.dtype.kind in "VO" or len(answers) < 2:
            return False
        # Most calls are done with the first rows.
        return bool((answers[first_rows] == answers[:1]).all() and (answers == answers[:1]).all())

    @cached_property
    def decisions(self) -> NDArray[Any]:
        """The most probable class of each row, and the first of equally probable ones."""
        assert self.labels is not None
        return self.labels[np.argmax(self.y_pred, axis=1)]

    def predicted_for(self, statistic: Statistic) -> NDArray[Any]:
        """Predictions as the metric reads them: probabilities or scores, or the decisions."""
        return self.decisions if self.decides(statistic) else self.y_pred

    def of(
        self,
        statistic: Statistic,
        at: NDArray[np.intp] | slice | None,
        order: NDArray[np.intp] | None = None,
    ) -> tuple[Any, Any, Any]:
        """Arguments of `Statistic.reduce` on some rows (all when None), or places in an order."""
        y_pred = self.y_pred if self.y_pred.ndim == 1 else self.predicted_for(statistic)
        columns = (self.y_true, y_pred, self.sample_weight)
        if at is None:
            return columns
        truth, predicted, weights = (
            None if c is None else (c if order is None else self._column_by_part(c, order))[at]
            for c in columns
        )
        return truth, predicted, weights

    def _column_by_part(self, column: NDArray[Any], order: NDArray[np.intp]) -> NDArray[Any]:
        """Return a column in the order of the parts, kept for the next part."""
        for known_column, known_order, value in self._in_order:
            if known_column is column and known_order is order:
                return value
        value = column[order]
        self._in_order.append((column, order, value))
        return value

    def forget(self) -> None:
        """Let go of the columns in the order of parts: as much memory as the rows take."""
        self._in_order.clear()

    def notes_for(self, statistic: Statistic) -> tuple[Note, ...]:
        """Notes on how the metric reads these predictions, for readers of its result."""
        positive = positive_note(statistic, self.y_true, self.y_pred)
        decided = (_DECIDED,) if self.y_pred.ndim == 2 and self.decides(statistic) else ()
        return decided if positive is None else (*decided, positive)


@dataclass(frozen=True, eq=False)
class Part:
    """A subgroup: its name, and where its rows stand in an order of all (None: these are all)."""

    name: Any
    order: NDArray[np.intp] | None
    at: slice | None

    @cached_property
    def rows(self) -> NDArray[np.intp] | None:
        """Numbers of the rows of the part, rising; None where it is all rows."""
        return None if self.order is None else self.order[self.at]


WHOLE = (Part(None, None, None),)


def checked_rows(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    sample_weight: ArrayLike | None,
    labels: ArrayLike | None,
    name: str = "y_pred",
) -> Rows:
    """Check the columns of a call and pair them by row order; ``name`` is that of ``y_pred``."""
    truth = check_truth(y_true)
    predicted = check.check_answers(name, y_pred)
    weights = None if sample_weight is None else check.check_weights(sample_weight)
    check.check_same_length(**{name: predicted, "y_true": truth, "sample_weight": weights})
    class_labels = None if labels is None else check.check_labels(labels, truth)
    weights = None if weights is None else check.unequal(weights)
    return rows_of(truth, predicted, weights, class_labels, name)


def check_truth(y_true: ArrayLike | None) -> NDArray[Any] | None:
    """Convert as `check_rows` does; records, such as event times, are kept as they are."""
    if y_true is None:
        return None
    names = getattr(getattr(y_true, "dtype", None), "names", None)
    if names is None or not isinstance(y_true, np.ndarray) or y_true.ndim != 1:
        return check.check_answers("y_true", y_true)
    if len(y_true) == 0:
        raise check.fail("y_true", "hold at least one row", "an empty array")
    return y_true


def rows_of(
    truth: NDArray[Any] | None,
    predicted: NDArray[Any],
    weights: NDArray[np.float64] | None,
    labels: NDArray[Any] | None,
    name: str = "y_pred",
) -> Rows:
    """Pair checked columns; labels of probabilities are those of the truth unless given."""
    if truth is None or not is_column(truth):
        return Rows(truth, predicted, weights, labels, name)
    if labels is None and predicted.ndim == 2:
        labels = labels_of_columns(truth, predicted.shape[1])
    if predicted.ndim == 1 and truth.dtype != predicted.dtype:
        truth, predicted = check.check_integers(name, truth, predicted)
    return Rows(truth, predicted, weights, labels, name)


def labels_of_columns(truth: NDArray[Any], n_columns: int) -> NDArray[Any]:
    """Return the labels that columns of probabilities stand for: those of the truth, rising.

    The order of categories is theirs, and all of them may have a column.
    """
    categories = declared_categories(truth)
    if categories is not None and len(categories) == n_columns:
        return categories
    occurring = category_order(truth)
    return check.numbered_labels("y_true", truth)[0] if occurring is None else occurring


def check_row_each(name: str, column: Any, n_samples: int) -> None:
    """Refuse a column that has not one value for each of the rows that are predicted."""
    if column is not None and len(column) != n_samples:
        must = f"have a row for each of the {n_samples} rows that are predicted"
        advice = "Row order is what pairs them; an index is never used."
        raise check.fail(name, must, check.counted(len(column), "row"), advice)


@only_advises(None)
def name_all_missing(
    error: ValueError,
    columns: Mapping[str, Any],
    *,
    runs: Collection[str] = (),
    complete: Collection[str] | None = None,
) -> None:
    """Have an error of missing values in one argument name all that have some, and drop the rows.

    Parameters
    ----------
    error : ValueError
        Of any kind; others stay as they are.
    columns : mapping of str to array-like
        What was given for the rows, by argument; systems by name, and None for what was not given.
    runs : collection of str
        Arguments that hold several runs, each with a value for each row.
    complete : collection of str, optional
        Arguments that must not have missing values; all when None. Others lose the same rows.
    """
    bad = parts_of(error)
    if bad is None or bad.about != "missing":
        return
    missing, present, arguments, values = {}, [], [], []
    for argument, given in columns.items():
        if given is None:
            continue
        is_frame = argument == "y_preds" and hasattr(given, "columns") and argument not in runs
        by_system = given if isinstance(given, Mapping) else {None: given}
        if is_frame:
            by_system = {name: given[name] for name in given.columns}
        are_runs = False
        for name, column in by_system.items():
            if complete is not None and argument not in complete:
                continue
            place = argument if name is None else f"{argument}[{name!r}]"
            array = check.converted(place, column)
            are_runs = argument in runs and array.ndim > 1
            # Of each run, or of the only column.
            at = check.missing_rows(array)
            at_each: list[NDArray[Any]] = [] if at is None else list(at) if are_runs else [at]
            for run, at_run in enumerate(at_each):
                if at_run.any():
                    key = f"{place}[{run}]" if are_runs else place
                    missing[key] = at_run.reshape(len(at_run), -1).any(axis=1)
            if at is not None:
                # Frames and their columns as arrays: pandas would pair rows by its index.
                is_plain = isinstance(column, np.ndarray | list)
                read = array if is_plain else np.asarray(column)
                is_present = "np.isfinite" if read.dtype.kind == "f" else "pandas.notna"
                values_at = place if is_plain and not are_runs else f"np.asarray({place})"
                code = f"{is_present}({values_at})"
                # All runs, and all columns of a row.
                axis = (("0", "(0, 2)") if are_runs else ("", "1"))[array.ndim > 1 + are_runs]
                present.append(f"{code}.all(axis={axis})" if axis else code)
        arguments.append(argument)
        if is_frame or None in by_system:
            values.append(_code_of_kept(argument, [given], are_runs))
        else:
            rows_code = _code_of_kept("p", list(by_system.values()), are_runs)
            values.append(f"{{k: {rows_code} for k, p in {argument}.items()}}")
    if len(missing) < 2:
        return
    n_rows = int(np.any([*missing.values()], axis=0).sum())
    counts = ", ".join(f"{int(rows.sum())} in {place}" for place, rows in missing.items())
    advice = (
        f"Drop {check.counted(n_rows, 'row')}: keep = {' & '.join(present)}; "
        f"{', '.join(arguments)} = {', '.join(values)}. Or say what the system predicts for them."
    )
    amend(error, bad._replace(got=f"rows with such values in several: {counts}", advice=advice))


def _is_of_polars(column: Any) -> bool:
    return type(column).__module__.partition(".")[0] == "polars"


def _code_of_kept(place: str, columns: Sequence[Any], are_runs: bool) -> str:
    """Return the code that takes the rows to keep from columns of one kind, or from any."""
    if are_runs:
        are_arrays = all(isinstance(column, np.ndarray) for column in columns)
        return f"{place}[:, keep]" if are_arrays else f"np.asarray({place})[:, keep]"
    if all(map(_is_of_polars, columns)):
        return f"{place}.filter(keep)"
    # Trials in an array would be two factors.
    are_indexed = all(
        isinstance(column, TwoColumns)
        or ((hasattr(column, "dtype") or hasattr(column, "iloc")) and not _is_of_polars(column))
        for column in columns
    )
    return f"{place}[keep]" if are_indexed else f"np.asarray({place})[keep]"


def subgroups(by: ArrayLike | None, rows: Rows) -> Sequence[Part]:
    """Return the subgroups of ``by``; without it one part of all rows, without a name."""
    if by is None:
        return WHOLE
    advice = "For subgroups of several columns give a name for each row: by=list(zip(a, b))."
    labels = check.check_names("by", by, advice)
    check_row_each("by", labels, rows.n_samples)
    distinct, codes = check.numbered_labels("by", labels, "subgroup name")
    names = distinct.tolist()
    if len(names) < 2 or "gap" in names:
        raise check.fail("by", "name at least two subgroups, none of them 'gap'", f"{names}")
    check.check_parts_weigh(rows.sample_weight, codes, names)
    order = order_of(codes)
    order = np.arange(len(codes)) if order is None else order
    ends = np.cumsum(np.bincount(codes)).tolist()
    places = map(slice, [0, *ends], ends)
    return [Part(name, order, at) for name, at in zip(names, places, strict=True)]


# The metrics of a call as statistics, each checked against the rows that it is evaluated on.


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
        Whether there is one result, which needs no name.
    """

    single: bool
    paths: dict[str, tuple[Any, ...]]
    alone: bool


class _OfScorers:
    """In place of a positive class: scorers name theirs, and estimators answer for it."""


OF_SCORERS = _OfScorers()


class Scoring(NamedTuple):
    """The metric and its options, as the user gave them.

    Attributes
    ----------
    metric : str, callable, list or dict
    greater_is_better : bool or None
    pos_label : label or None
        The positive class of metrics that have one. `OF_SCORERS`: their estimators answer for it,
        and nothing is doubted.
    labels : array-like or None
        Labels of the columns of probabilities.
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
        """The positive class as results hold it; empty where none is named."""
        if self.pos_label is None or self.pos_label is OF_SCORERS:
            return {}
        label = check.check_label("pos_label", self.pos_label)
        return {"pos_label": label if isinstance(label, str | int | float) else repr(label)}


@dataclass(frozen=True, eq=False)
class Measured:
    """A statistic, and the rows that it is of."""

    rows: Rows
    statistic: Statistic

    @cached_property
    def reduced(self) -> ReducedData:
        """All rows as the statistic reads them."""
        return self.statistic.reduce(*self.rows.of(self.statistic, None))


# By metric, and by system or method; several for the runs of a method.
Scores = Mapping[str, Mapping[str, Sequence[Measured]]]


class CallScores(NamedTuple):
    """The metrics of a call as statistics of its rows, and where their results belong."""

    scores: Scores
    places: Places


def measured_by(scoring: Scoring, rows_by_name: Mapping[str, Sequence[Rows]]) -> CallScores:
    """Return statistics checked against the rows, and where their results belong.

    The metric is looked up once; each statistic is fixed to the labels of its own predictions.

    Parameters
    ----------
    scoring : Scoring
    rows_by_name : mapping of str to sequence of Rows
        Rows by system or method: the rows of each run.
    """
    every = [rows for runs in rows_by_name.values() for rows in runs]
    better, pos_label = scoring.greater_is_better, scoring.pos_label
    if better is not None:
        check.check_direction(better)
    metric = str(scoring.metric) if isinstance(scoring.metric, NotGiven) else scoring.metric
    options: dict[str, Any] = {
        "greater_is_better": better,
        "several": scoring.several,
        "share_cells": True,
    }
    if pos_label is not OF_SCORERS and pos_label is not None:
        options["pos_label"] = pos_label = check.check_label("pos_label", pos_label)
    # What the columns say of the labels: an order of categories, of two the last is positive.
    answers = [every[0].y_true, *(rows.y_pred for rows in every)]
    has_order = any(values is not None and values.dtype.metadata is not None for values in answers)
    order = category_order(*answers) if has_order else None
    one_column = scoring.labels is not None and any(rows.y_pred.ndim == 1 for rows in every)
    known_labels = KnownLabels(order=order, averaged=every[0].labels if one_column else None)
    if order is not None and len(order) == 2 and pos_label is not OF_SCORERS:
        known_labels = known_labels._replace(positive=order.tolist()[1])
    # Rows of other labels have the metric looked up anew; each are checked by it.
    resolved: dict[str, Statistic] = {}
    single, labels, positive = True, None, None
    statistics: dict[str, list[Statistic]] = {}
    looked_at: list[LookedAt] = []
    seen: set[Any] = set()
    for rows in every:
        truth = rows.y_true
        if not resolved or rows.labels is not labels:
            labels = rows.labels
            options["labels"] = labels
            options["several_outputs"] = truth is not None and truth.ndim == 2
            resolved, single = resolve_metrics(metric, row_labels=known_labels, **options)
            positive = None
            is_numeric = truth is not None and truth.dtype.kind in "iuf"
            if pos_label is None and truth is not None and is_numeric and truth.max() > 1:
                columns = [(of_any.y_true, of_any.y_pred, None) for of_any in every]
                positive = positive_of_call(unnamed_positives(metric, resolved), columns)
            if positive is not None and positive.are_both:
                known_labels = known_labels._replace(positive=positive.label)
                resolved, single = resolve_metrics(metric, row_labels=known_labels, **options)
        try:
            for name, statistic in resolved.items():
                if one_column:
                    check_averaged(statistic, rows, name in averaging(metric, resolved))
                checked = _checked_on(statistic, rows, seen)
                predicted = rows.y_pred
                if predicted.ndim > 1:
                    predicted = rows.predicted_for(statistic)
                looked_at.append((statistic, truth, predicted, rows.labels, rows.argument))
                statistics.setdefault(name, []).append(checked)
        except ValueError as error:
            rename(error, {"y_pred": rows.argument, "y_true": rows.truth_argument})
            raise
    _tell_doubts(scoring, every, statistics, looked_at, positive)
    if scoring.several and any(entry.calls_function for entry, *_ in statistics.values()):
        return _scores_of_entries(statistics, rows_by_name, single)
    scores = {}
    for name, of_rows in statistics.items():
        following = map(Measured, every, of_rows)
        scores[name] = {key: [next(following) for _ in runs] for key, runs in rows_by_name.items()}
    return CallScores(scores, Places(single, {name: (name,) for name in statistics}, single))


def _scores_of_entries(
    statistics: Mapping[str, Sequence[Statistic]],
    rows_by_name: Mapping[str, Sequence[Rows]],
    single: bool,
) -> CallScores:
    """Return the scores of functions that may return several numbers: a statistic of each."""
    # Imported here, because few metrics are functions of which nothing is known.
    from ..metrics.outputs import each_entry

    every = [rows for runs in rows_by_name.values() for rows in runs]
    columns = {
        name: [rows.of(statistic, None) for rows, statistic in zip(every, of_rows, strict=True)]
        for name, of_rows in statistics.items()
    }
    entries = each_entry(statistics, columns)
    scores = {}
    for name, of_rows in entries.statistics.items():
        rows_of_entry = every
        if name in entries.columns:
            # A metric of one column of the predictions, against a truth of its own.
            rows_of_entry = [
                replace(rows, y_true=truth, y_pred=predicted, labels=None, _in_order=[])
                for rows, (truth, predicted) in zip(every, entries.columns[name], strict=True)
            ]
        following = map(Measured, rows_of_entry, of_rows)
        scores[name] = {key: [next(following) for _ in runs] for key, runs in rows_by_name.items()}
    alone = single and all(len(path) == 1 for path in entries.paths.values())
    return CallScores(scores, Places(single, entries.paths, alone))


def _checked_on(statistic: Statistic, rows: Rows, seen: set[Any]) -> Statistic:
    """Return a statistic that is checked against rows.

    ``seen`` holds which columns, and which truths by which metric, have been checked before: runs
    share them.
    """
    truth, predicted = rows.y_true, rows.y_pred
    takes_any = statistic.calls_function and not statistic.calls_library
    if not takes_any:
        if truth is not None and id(truth) not in seen:
            check.check_no_missing("y_true", truth)
        if id(predicted) not in seen:
            check.check_no_missing("y_pred", predicted, check.OF_MISSING_PREDICTIONS)
        seen |= {id(truth), id(predicted)}
    if predicted.ndim == 2:
        check_columns(rows, statistic)
        predicted = rows.predicted_for(statistic)
    checked = check_response(statistic, truth, predicted, rows.argument)
    of_truth = (id(statistic), id(truth))
    if truth is not None and truth.ndim == 1 and of_truth not in seen:
        seen.add(of_truth)
        (checked.unsigned or checked).check_all(truth)
    if rows.sample_weight is not None and not checked.takes_weights:
        must = f"be None with the metric {checked.name!r}"
        advice = "The metric has no sample_weight argument: give it one, or leave weights out."
        raise check.fail("sample_weight", must, "weights", advice)
    if takes_any:
        _check_defined(checked, rows)
    return checked


def _tell_doubts(
    scoring: Scoring,
    every: Sequence[Rows],
    statistics: Mapping[str, Sequence[Statistic]],
    looked_at: Sequence[LookedAt],
    positive: PositiveClass | None,
) -> None:
    """Warn of what a metric takes but what is hardly meant."""
    truth, pos_label = every[0].y_true, scoring.pos_label
    # Accuracy, since no metric was named, of many numbers of which nobody predicts half exactly.
    # Ten thousand rows, evenly spaced, are looked at.
    if isinstance(scoring.metric, NotGiven) and truth is not None and truth.dtype.kind in "iuf":
        spaced = slice(None, None, -(-len(truth) // _ROWS_LOOKED_AT))
        some = truth[spaced]
        if (
            all(rows.y_pred.ndim != 2 for rows in every)
            and all(2 * np.count_nonzero(some == r.y_pred[spaced]) < len(some) for r in every)
            and len(np.unique(some)) > _MANY_NUMBERS
        ):
            tell(_EXACT_HITS)
    # Predictions that are no scores or labels of these classes, and the positive class: named for
    # metrics that have none, or positive because nobody named it.
    if pos_label is not OF_SCORERS:
        notes = doubts(looked_at)
        if pos_label is not None:
            unused = note_on_unused_positive(
                [statistic for statistic, *_ in statistics.values()], pos_label
            )
            notes += [] if unused is None else [unused]
        elif truth is not None and truth.dtype.kind in "USO":
            named = (
                positive_note(checked, rows.y_true, rows.predicted_for(checked), "caution")
                for of_rows in statistics.values()
                for rows, checked in zip(every, of_rows, strict=True)
            )
            notes += [note for note in named if note is not None][:1]
        tell(*notes, *([] if positive is None else [positive.note()]))
    if scoring.labels is None and any(rows.y_pred.ndim == 2 for rows in every):
        _tell_order_of_columns(every)


def _tell_order_of_columns(every: Sequence[Rows]) -> None:
    """Warn of columns in the order of categories, where scikit-learn sorts the labels."""
    if category_order(every[0].y_true, *(rows.y_pred for rows in every)) is None:
        return
    of_columns = [r.labels for r in every if r.labels is not None and r.y_pred.ndim == 2]
    for labels in map(np.ndarray.tolist, of_columns):
        if labels != sorted(labels):
            text = (
                f"The columns of y_pred are taken in the order of the categories of y_true, "
                f"{labels[:5]}. Those of scikit-learn are sorted: give labels=model.classes_."
            )
            tell(Note("caution", text, about="columns"))
            return


def check_averaged(statistic: Statistic, array: Rows, averages: bool) -> None:
    """Refuse labels beside one label or number a row that the metric cannot mean."""
    inner = statistic.unsigned or statistic
    truth = array.truth_column
    if array.labels is None or array.y_pred.ndim != 1 or truth is None:
        return
    if inner.response == "values":
        must = f"be None for the metric {inner.name!r} of numbers"
        raise check.fail("labels", must, f"{array.labels.tolist()[:5]}")
    if inner.response != "labels" or not inner.names_classes:
        return
    true, predicted = (set(label_counts(y)[0].tolist()) for y in (truth, array.y_pred))
    labels = array.labels.tolist()
    if averages and true.isdisjoint(labels):
        must = f"hold a label of y_true for the metric {inner.name!r}"
        raise check.fail("labels", must, f"{labels[:5]}")
    not_named = [] if averages else [label for label in true | predicted if label not in labels]
    if not_named:
        must = f"hold each label that occurs for the metric {inner.name!r}, which averages no part"
        advice = "Leave labels out, or remove the rows of other labels from every argument."
        raise check.fail("labels", must, f"{labels[:5]} without {not_named[:5]}", advice)


def _check_defined(statistic: Statistic, array: Rows) -> None:
    """Refuse rows with missing values where a function of the user's has no value on them."""
    for name, values in (("y_true", array.y_true), ("y_pred", array.y_pred)):
        try:
            if values is not None:
                check.check_no_missing(name, values, OF_MISSING)
        except ValueError:
            reduced = statistic.reduce(*array.of(statistic, None))
            value = cast(CallableStatistic, statistic).returned(reduced)[1]
            numbers = list(value.values()) if isinstance(value, Mapping) else value
            if not np.isfinite(np.asarray(numbers, dtype=np.float64)).any():
                raise
            return


def check_columns(rows: Rows, statistic: Statistic) -> None:
    """Refuse two-dimensional predictions that the metric cannot read."""
    if rows.decides(statistic):
        assert rows.labels is not None
        check_decidable(statistic.name, rows.y_true, rows.y_pred, rows.labels, rows.argument)


# Rows whose order says something: alike neighbours, dates, indexes in different orders.


# Pairs of neighbouring rows whose values are compared, for systems of a metric up to this number.
_PAIRS_LOOKED_AT = 1000
_MOST_LOOKED_AT = 10
# By how much values must correlate more by their labels than by the order of rows, times the
# square root of their number: more than chance in values that have nothing in common.
_PLAINLY = 5

HAS_DATES = Note(
    "caution",
    "The rows have an index of dates, and intervals are too short where rows depend on those "
    "before them. Give block_length='auto', or the values without their index.",
)
_ARE_SIMILAR = Note(
    "caution",
    "Neighbouring rows have similar values of the metric. If you did not sort them, intervals are "
    "too short: give block_length='auto' for rows in time, groups= for rows of one source.",
)


@only_advises(None)
def note_on_order(
    scores: Scores, strata: NDArray[np.intp] | None, parts: Sequence[Part], tasks: Tasks | None
) -> Note | None:
    """Return the caution where neighbouring rows of one kind have similar values of a metric.

    Pairs of many rows are a sample, and so are systems. Few rows are not reduced a second time.
    """
    kinds = [] if strata is None else [strata]
    if len(parts) > 1:
        rows_of_parts = [part.rows for part in parts if part.rows is not None]
        subgroup = np.empty(sum(map(len, rows_of_parts)), dtype=np.intp)
        for k, rows_of_part in enumerate(rows_of_parts):
            subgroup[rows_of_part] = k
        kinds.append(subgroup)
    if tasks is not None:
        kinds.append(tasks.number)
    looked_at = [
        runs[0]
        for by_name in scores.values()
        for runs in itertools.islice(by_name.values(), _MOST_LOOKED_AT)
    ]
    for measured in looked_at:
        statistic = measured.statistic.unsigned or measured.statistic
        n = len(measured.rows.y_pred)
        if not statistic.of_row_values or n < FEWEST_ROWS:
            continue
        some: NDArray[np.intp] | slice = slice(None)
        if n <= 2 * _PAIRS_LOOKED_AT:
            upper: NDArray[np.intp] = np.arange(n - 1)
            lower = upper + 1
        else:
            start = np.linspace(0, n - 2, _PAIRS_LOOKED_AT).astype(np.intp)
            some = np.concatenate((start, start + 1))
            upper, lower = np.split(np.arange(len(some)), 2)
        if n <= 2 * _PAIRS_LOOKED_AT and measured.rows.sample_weight is None:
            y_true, values = measured.rows.y_true, statistic.values_of(measured.reduced)
        else:
            y_true, y_pred, _ = measured.rows.of(statistic, some)
            values = statistic.row_values_of(y_true, y_pred)
        columns: list[Any] = [np.asarray(kind)[some] for kind in kinds]
        if statistic.response in ("labels", "probabilities"):
            # Rows are often sorted by their class, and classes differ in how hard they are.
            columns.append(y_true)
        kind: Any = None
        for column in columns:
            if column.dtype.kind == "i" and int(column.max()) - (least := int(column.min())) < n:
                # Small integers number themselves.
                number = column.astype(np.intp) - least
            else:
                number = np.unique(column, return_inverse=True)[1]
            if kind is not None:
                number = np.unique(kind * (number.max() + 1) + number, return_inverse=True)[1]
            kind = number
        if neighbours_are_alike(values, upper, lower, kind, len(looked_at)):
            return _ARE_SIMILAR
    return None


# ------------------------------------------------------------------ indexes of pandas


def dates_of_each(answers: Mapping[str, Any]) -> list[NDArray[np.int64]]:
    """Return each index of dates as numbers; of several levels the first that holds dates."""
    indexes = []
    for _, index, _ in labelled(answers):
        for level in range(index.nlevels):
            dates = index.get_level_values(level)
            if isinstance(numbers := getattr(dates, "asi8", None), np.ndarray):
                indexes.append(numbers)
                break
            if getattr(dates, "inferred_type", "") == "date":
                days: NDArray[Any] = np.asarray(dates, dtype="datetime64[D]")
                indexes.append(days.view(np.int64))
                break
    return indexes


@only_advises(None)
def warn_of_orders(*tables: Mapping[str, Any]) -> None:
    """Warn once if two columns of a table have the same labels in different orders, or none.

    Labels are those of rows, and of the columns of frames.

    Parameters
    ----------
    *tables : mapping of str to array-like, or mapping or list of these
        What was given for some rows, by argument; columns without an index are passed over.
    """
    notes = [_note(table, axis) for table in tables for axis in ("index", "columns")]
    if contradictions := [note for note in notes if note is not None]:
        tell(*contradictions)


def _note(columns: Mapping[str, Any], axis: str) -> Note | None:
    """Return the note on the first column whose labels contradict those of one before it."""
    seen: list[_Labelled] = []
    for column in labelled(columns, axis):
        index = column.index
        if any(index is before.index or index.equals(before.index) for before in seen):
            continue
        counted = [(before, _counts_of_labels(before.index, index)) for before in seen]
        for before, counts in counted:
            # The same labels, each as often, which are not just numbers of rows.
            if counts is None or (counts[0] != counts[1]).any():
                continue
            are_numbers = before.is_numbered or column.is_numbered
            if are_numbers and not _pair_by_label(before, column):
                continue
            what, name = (
                ("row", f"{column.name}.loc") if axis == "index" else ("column", column.name)
            )
            aligned = f"{name}[{before.name}.{axis}]" if index.is_unique else "sort both alike"
            text = (
                f"{before.name} and {column.name} have the same {_LABELS[axis]} in different "
                f"orders, and {what} order pairs them. Align them, {aligned}, or give .to_numpy() "
                "of each if their order is right."
            )
            return Note("caution", text, about=f"order of {axis}")
        for before, counts in counted if axis == "index" else []:
            # No label of one is one of the other's. Every third row of a table, or its first half,
            # is in the order of the table.
            if counts is None or (counts[0] * counts[1]).any():
                continue
            if any(either.is_numbered or _is_in_steps(either.index) for either in (before, column)):
                continue
            text = (
                f"{before.name} and {column.name} have no index label in common: row order pairs "
                "them. Pair a long table by table.pivot(index=<row>, columns=<system>), or give "
                ".to_numpy() of each."
            )
            return Note("caution", text, about=f"order of {axis}")
        seen.append(column)
    return None


_LABELS = {"index": "index labels", "columns": "column labels"}


class _Labelled(NamedTuple):
    """A column of pandas, and the labels of its rows or columns."""

    name: str
    index: Any
    values: Any

    @property
    def is_numbered(self) -> bool:
        """Whether the labels are those that pandas gives by itself."""
        return bool(self.index.equals(sys.modules["pandas"].RangeIndex(len(self.index))))


def labelled(columns: Mapping[str, Any], axis: str = "index") -> Iterator[_Labelled]:
    """Yield each column of pandas, also of those in a mapping or a list."""
    # While pandas is imported it has no such class yet.
    of_pandas = getattr(sys.modules.get("pandas"), "Index", None)
    if of_pandas is None:
        return
    for name, values in columns.items():
        if values is None or isinstance(values, np.ndarray) or sparse.issparse(values):
            continue
        index = getattr(values, axis, None)
        if isinstance(index, of_pandas):
            yield _Labelled(name, index, values)
        elif isinstance(values, TwoColumns):
            yield from labelled(
                {f"{name}.a": values.columns[0], f"{name}.b": values.columns[1]}, axis
            )
        elif isinstance(values, Mapping):
            yield from labelled({f"{name}[{key!r}]": values[key] for key in values}, axis)
        elif isinstance(values, list | tuple) and values and hasattr(values[0], "iloc"):
            yield from labelled({f"{name}[{k}]": value for k, value in enumerate(values)}, axis)


def _pair_by_label(column_a: _Labelled, right: _Labelled) -> bool:
    """Whether values go together by their labels, and not in the order of rows.

    A fresh column of predictions, or a shuffled one, has numbers for labels: values show which.
    """
    values = [np.asarray(ranks_left.values) for ranks_left in (column_a, right)]
    if any(column.ndim != 1 for column in values):
        return False
    try:
        ranks = np.unique(np.concatenate(values), return_inverse=True)[1].astype(np.float64)
    except TypeError:
        # Values that cannot be sorted.
        return False
    ranks_left, ranks_right = np.split(ranks, 2)
    if np.ptp(ranks_left) == 0 or np.ptp(ranks_right) == 0:
        return False
    by_label = np.corrcoef(ranks_left, ranks_right[right.index.get_indexer(column_a.index)])[0, 1]
    by_row = np.corrcoef(ranks_left, ranks_right)[0, 1]
    return bool(by_label - by_row > _PLAINLY / np.sqrt(len(ranks_left)))


def _is_in_steps(index: Any) -> bool:
    """Whether labels are numbers that rise by equal steps."""
    if not len(index) or index.nlevels > 1 or getattr(index.dtype, "kind", "O") not in "iu":
        return not len(index)
    steps = np.diff(index.to_numpy())
    return bool((steps > 0).all() and (steps == steps[:1]).all())


def _counts_of_labels(index: Any, right: Any) -> list[NDArray[np.intp]] | None:
    """Return how often each index has each label of both; None if they cannot be compared."""
    if len(index) != len(right) or index.nlevels != right.nlevels:
        return None
    try:
        codes, labels = index.append(right).factorize(use_na_sentinel=False)
    except TypeError:
        # Labels that cannot be hashed.
        return None
    halves = (codes[: len(index)], codes[len(index) :])
    return [np.bincount(half, minlength=len(labels)) for half in halves]
