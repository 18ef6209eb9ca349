"""What a call gives of rows: how they are resampled, columns of one length, and subgroups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks as check
from .._base.checks import category_order, declared_categories, is_column, is_dask, order_of
from .._base.errors import Note
from .._base.work import Workers
from ..metrics.responses import positive_note
from ..metrics.statistic import Statistic

_DECIDED = Note(
    "advice",
    "Class labels were taken from the columns: in each row that of the largest, of equal ones the "
    "first.",
)


# Arguments with a value for each row, beside truth and predictions.
_BY_ROW = ("groups", "strata", "by", "average_over", "sample_weight")


class Sampling(NamedTuple):
    """Arguments of what is drawn, of the names that they have in public; not checked.

    A function leaves those as they are here which it does not take. ``system`` names the system
    whose rows they are, where each has its own.
    """

    groups: Any = None
    strata: Any = None
    average_over: Any = None
    block_length: Any = None
    sample_weight: Any = None
    by: Any = None
    same_population: Any = False
    resamples: Any = None
    n_resamples: Any = 1999
    random_state: Any = None
    system: str | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """What has a value for each row, or none, by what messages call it."""
        key = "" if self.system is None else f"[{self.system!r}]"
        return {f"{name}{key}": getattr(self, name) for name in _BY_ROW}

    @property
    def streamed(self) -> dict[str, Any]:
        """The columns that a stream can have."""
        return {"groups": self.groups, "sample_weight": self.sample_weight}

    @property
    def not_streamed(self) -> dict[str, Any]:
        """What a stream cannot have."""
        names = ("strata", "average_over", "block_length", "by", "same_population", "resamples")
        return {name: getattr(self, name) for name in names}

    def settings(self, n_resamples: int) -> dict[str, Any]:
        """Return what results hold of it."""
        given = {name: getattr(self, name) is not None for name in (*_BY_ROW, "resamples")}
        del given["average_over"]
        own = {"n_resamples": n_resamples, "same_population": bool(self.same_population)}
        return given | own


class Wanted(NamedTuple):
    """What is wanted of each score, checked.

    Attributes
    ----------
    interval : str
        "auto" or the name of a method.
    confidence_level : float
    workers : Workers
    adjust : "max-t" or None
        Whether the intervals of all scores hold at once.
    first_look : int or None
        Units at the first of the looks that the intervals shall hold at.
    """

    interval: str
    confidence_level: float
    workers: Workers
    adjust: str | None = None
    first_look: int | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What results hold of it."""
        more = {name: getattr(self, name) for name in ("adjust", "first_look")}
        given = {name: value for name, value in more.items() if value is not None}
        return {"confidence_level": self.confidence_level, "interval": self.interval, **given}


class Judge(NamedTuple):
    """What a call was given of a judge.

    Attributes
    ----------
    proxy : array-like, or mapping of str to array-like
    weight : float or "auto"
    """

    proxy: Any
    weight: Any

    @property
    def settings(self) -> dict[str, Any]:
        """What results hold of it."""
        return {"proxy": True, "proxy_weight": self.weight}


# ------------------------------------------------------------------ rows


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a call: arrays of n_samples, and the labels of probability columns."""

    y_true: NDArray[Any] | None
    y_pred: NDArray[Any]
    sample_weight: NDArray[np.float64] | None
    labels: NDArray[Any] | None
    _in_order: list[tuple[Any, Any, Any]] = field(default_factory=list, repr=False)

    @property
    def n_samples(self) -> int:
        return len(self.y_pred)

    @property
    def has_outputs(self) -> bool:
        """Whether the truth has several columns."""
        return self.y_true is not None and self.y_true.ndim == 2

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
        truth, few = self.y_true, slice(100)
        if truth is None or truth.dtype.kind in "VO" or truth.shape != self.y_pred.shape:
            # Objects need not compare as values do; labels in objects are numbers and texts by now.
            return False
        # Most calls are done with the first rows.
        return np.array_equal(truth[few], self.y_pred[few]) and np.array_equal(truth, self.y_pred)

    @cached_property
    def are_constant(self) -> bool:
        """Whether the predictions of a truth are the same on every row."""
        few, answers = slice(100), self.y_pred
        if self.y_true is None or answers.dtype.kind in "VO" or len(answers) < 2:
            return False
        # Most calls are done with the first rows.
        return bool((answers[few] == answers[:1]).all() and (answers == answers[:1]).all())

    @cached_property
    def decisions(self) -> NDArray[Any]:
        """The most probable class of each row, of equal ones the first."""
        assert self.labels is not None
        return self.labels[np.argmax(self.y_pred, axis=1)]

    def predicted_for(self, statistic: Statistic) -> NDArray[Any]:
        """Predictions as the metric reads them: probabilities or scores, or the decisions."""
        return self.decisions if self.decides(statistic) else self.y_pred

    def of(
        self,
        statistic: Statistic,
        rows: NDArray[np.intp] | slice | None,
        order: NDArray[np.intp] | None = None,
    ) -> tuple[Any, Any, Any]:
        """Arguments of `Statistic.reduce` on some rows (all when None), or places in an order."""
        columns = (self.y_true, self.predicted_for(statistic), self.sample_weight)
        if rows is None:
            return columns
        y_true, y_pred, weights = (
            None if c is None else (c if order is None else self._by_part(c, order))[rows]
            for c in columns
        )
        return y_true, y_pred, weights

    def _by_part(self, column: NDArray[Any], order: NDArray[np.intp]) -> NDArray[Any]:
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
        """What a reader must know of how the metric reads these predictions."""
        positive = positive_note(statistic, self.y_true, self.y_pred)
        decided = (_DECIDED,) if self.decides(statistic) else ()
        return decided if positive is None else (*decided, positive)

    def beside(self, predicted: NDArray[Any], name: str) -> Rows:
        """Return the same rows with other predictions, which are checked already."""
        return rows_of(self.y_true, predicted, self.sample_weight, self.labels, name)


@dataclass(frozen=True, eq=False)
class Part:
    """A subgroup: its name, and where its rows stand in an order of all (None: these are all)."""

    name: Any
    order: NDArray[np.intp] | None
    at: slice | None

    @cached_property
    def rows(self) -> NDArray[np.intp] | None:
        """Its rows, rising; None: all."""
        return None if self.order is None else self.order[self.at]


WHOLE = (Part(None, None, None),)


def is_lazy(*columns: Any) -> bool:
    """Whether a column is read in parts: one of dask, or of a scanned data set."""
    return any(
        getattr(one, "is_scanned", False) is True
        or (hasattr(type(one), "__dask_graph__") and is_dask(one))
        for one in columns
    )


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
    known = None if labels is None else check.check_labels(labels, truth)
    weights = None if weights is None else check.unequal(weights)
    return rows_of(truth, predicted, weights, known, name)


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
        return Rows(truth, predicted, weights, labels)
    if labels is None and predicted.ndim == 2:
        labels = labels_of_columns(truth, predicted.shape[1])
    if predicted.ndim == 1 and truth.dtype != predicted.dtype:
        truth, predicted = check.check_integers(name, truth, predicted)
    return Rows(truth, predicted, weights, labels)


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
        raise check.fail(name, must, f"{len(column)} rows", advice)


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


def part_of_each_row(parts: Sequence[Part]) -> NDArray[np.intp]:
    """Return the number of the subgroup that each row is in, (n_samples,)."""
    rows = [part.rows for part in parts if part.rows is not None]
    number = np.empty(sum(map(len, rows)), dtype=np.intp)
    for k, own in enumerate(rows):
        number[own] = k
    return number
