"""How a metric reads a stream: which sums it needs of each batch, and its value from the sums.

What suffices, its statistic says in ``sketch``:

* `SumsReading`: the sums of what each row adds;
* `CellsReading`: functions of the confusion matrix, from the pairs of labels that occur;
* `ScoresReading`: metrics of the order of scores, from the weight of each class at each score,
  of which there are more for the data than for resamples;
* `ColumnsReading`: their averages over several classes, from the same for each column of scores.

A metric that needs all rows together has none, and is refused by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.arrays import EXACT
from .._base.checks import fail
from .._base.warnings import collected
from ..metrics.adapters import Negated, without_sign
from ..metrics.cells import label_counts
from ..metrics.checks import check_two_columns
from ..metrics.facts import Facts, SumsOfRows
from ..metrics.responses import check_response
from ..metrics.score_order import positive_scores, rank
from ..metrics.statistic import Floats, ReducedData, Statistic
from ..resampling.block import Block
from ..resampling.coding import UnitsOfCodes
from ..study.measured import Measured
from ..study.rows import Rows
from .tables import Table

# Labels of one column of probabilities, if none are given.
ZERO_ONE = np.array([0, 1])
# Kinds of tables; that of fine scores has the weights of the data alone, and comes first.
LABELS, SCORES, FINE_SCORES = "labels", "scores", "fine scores"
# Bytes of the weights of cells that are read at once.
_BYTES_AT_ONCE = 1 << 26
_NO_CELLS = ReducedData(None, 0)


@dataclass(frozen=True, eq=False)
class Read(Measured):
    """A metric on the data and on every resample of a stream.

    Its rows are the cells, each with its weight, where there are cells; its statistic has the
    labels of all rows.

    Attributes
    ----------
    values : ndarray of shape (1 + n_resamples,)
        Value on the data, then on each resample.
    facts : Facts
        What it knows of the rows.
    reduced : ReducedData
        The cells, reduced as rows are.
    error : float
        Largest error of the estimate that intervals of scores leave.
    intervals : {"", "all", "finer"}
        Whether scores of resamples were counted in intervals, and those of the data in finer ones.
    hidden : float
        How far the order of rows in the intervals of resamples might move the value.
    """

    values: Floats
    facts: Facts
    reduced: ReducedData = _NO_CELLS
    error: float = 0.0
    intervals: str = ""
    hidden: float = 0.0


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept of a metric of a system.

    Attributes
    ----------
    sums : ndarray of shape (1 + n_terms, 2 + n_resamples)
        Of weights, then of what rows add; see `StreamState`.
    largest : ndarray of shape (n_terms,)
        Largest size of what one row adds.
    zero_one : bool
        Whether each row of weight 1 adds 0 or 1.
    tables : sequence of Table
    n_rows : int
    weighted : bool
        Whether rows carry weights.
    """

    sums: Floats
    largest: Floats
    zero_one: bool
    tables: Sequence[Table]
    n_rows: int
    weighted: bool


class Reading(ABC):
    """What one metric reads of a stream."""

    # Names of the tables that it shares with other metrics of the system; none for sums of terms.
    tables: tuple[str, ...] = ()
    # Number of sums of terms, beside that of the weights.
    n_terms = 0
    # Whether the labels are 0 and 1 because none were given.
    assumes_zero_one = False

    def __init__(self, statistic: Statistic) -> None:
        self.statistic = statistic
        self.inner: Any = without_sign(statistic)

    @abstractmethod
    def check(self, rows: Rows, argument: str) -> None:
        """Refuse rows of a batch that the metric cannot take."""

    @abstractmethod
    def read(self, kept: Kept) -> Read:
        """Return the metric from what is kept of all rows."""

    def terms(self, rows: Rows) -> Floats:
        """Return what each row adds to each sum, before its weight, (n_terms, n_rows)."""
        return np.empty((0, rows.n_samples))

    def _predicted(self, rows: Rows) -> NDArray[Any]:
        return rows.predicted_for(self.statistic)


class SumsReading(Reading):
    """A metric of sums to which each row adds what it adds in any sample."""

    def __init__(self, statistic: Statistic) -> None:
        super().__init__(statistic)
        self.n_terms = self.inner.n_sums

    def check(self, rows: Rows, argument: str) -> None:
        """Refuse rows that the metric cannot take, and top-k accuracy of one column of scores."""
        predicted = self._predicted(rows)
        with collected():  # the batch is looked at as a whole
            check_response(self.statistic, rows.y_true, predicted, argument)
        if self.inner.ranks_columns and rows.y_pred.ndim == 1:
            must = "have a column for each class for a top-k accuracy of a stream"
            advice = "The threshold of one column depends on all rows together."
            raise fail(argument, must, "one column", advice)

    def terms(self, rows: Rows) -> Floats:
        """See `Reading.terms`."""
        added: Floats = self.inner.added_by_rows(rows.y_true, self._predicted(rows))
        return added

    def read(self, kept: Kept) -> Read:
        """See `Reading.read`."""
        sums = kept.sums
        values = self.inner.of_sums(sums[:, 1:])
        size = float(sums[1:, 0].sum())
        share = float(kept.largest.max()) / size if size > 0 else None
        rows = SumsOfRows(sums[:, 1], kept.n_rows, share, kept.zero_one, kept.weighted)
        facts = self.statistic.facts_of_sums(rows)
        values = values if self.inner is self.statistic else 0.0 - values
        return Read(Rows(None, np.empty(0), None, None), self.statistic, values, facts)


class _Tabled(Reading):
    """A metric of the weights of cells."""

    def columns(self, rows: Rows, kind: str) -> tuple[NDArray[Any] | None, NDArray[Any]]:
        """Return the truth, and decisions or scores, as the table of this kind has them."""
        return rows.y_true, self._predicted(rows)


class _OneTable(_Tabled):
    """A metric of the weights of the cells of one table."""

    def read(self, kept: Kept) -> Read:
        """See `Reading.read`."""
        [table] = kept.tables
        return self._of_table(table, weighted=kept.weighted)

    def _of_table(self, table: Table, *, weighted: bool) -> Read:
        truth, weights = table.labels[table.truth], table.sums.values()
        decision = self._other(table)
        argument = "y_pred"
        with collected():  # the batch is looked at as a whole
            statistic = check_response(self.statistic, truth, decision, argument)
        reduced, by_code = _coded(statistic, truth, decision, weights)
        values = statistic.evaluate(WeightsBlock(by_code.T, statistic.reads), reduced)
        known = statistic.facts(reduced, (truth, decision, None))
        facts = replace(known, row_mean=False)
        if weighted:
            # The weight of a row is not known where rows were counted by cells.
            facts = Facts(known.bounds, statistic.reads == "sums", weighted=True)
        cells = Rows(truth, self._predictions(table), weights[:, 0], None)
        return Read(cells, statistic, values, facts, reduced)

    @abstractmethod
    def _other(self, table: Table) -> NDArray[Any]:
        """Return what the metric reads in the place of the predictions of the cells."""

    def _predictions(self, table: Table) -> NDArray[Any]:
        """Return the predictions of the cells, or the least in their interval."""
        return self._other(table)


class CellsReading(_OneTable):
    """A function of the confusion matrix."""

    tables = (LABELS,)

    def check(self, rows: Rows, argument: str) -> None:
        """Refuse other predictions than labels; the labels are checked when all are known."""
        predicted = self._predicted(rows)
        if predicted.ndim != 1 or (predicted.dtype.kind == "f" and np.any(predicted % 1)):
            must = f"hold class labels for the metric {self.statistic.name!r}"
            raise fail(argument, must, "scores or probabilities", "Decide first.")

    def _other(self, table: Table) -> NDArray[Any]:
        return np.asarray(table.labels[table.other.astype(np.intp)])


def _check_exact(argument: str, scores: NDArray[Any]) -> None:
    """Refuse integers that floats merge, as which the scores of a stream are counted."""
    if scores.dtype.kind in "iu" and max(int(scores.max()), -int(scores.min())) > EXACT:
        must = "hold scores that floats of 64 bits tell apart, in a stream"
        got = f"integers such as {int(scores[np.argmax(np.abs(scores))])}"
        raise fail(argument, must, got, "Subtract the same number from the scores of all batches.")


class ScoresReading(_OneTable):
    """A metric of the order in which scores put the rows of two classes."""

    tables = (SCORES, FINE_SCORES)

    def check(self, rows: Rows, argument: str) -> None:
        """Refuse other predictions than one score a row."""
        y_pred = rows.y_pred
        _check_exact(argument, y_pred)
        if y_pred.dtype.kind not in "biuf" or (y_pred.ndim == 2 and y_pred.shape[1] != 2):
            must = f"hold one score per row for the metric {self.statistic.name!r} of a stream"
            got = f"an array of shape {y_pred.shape}"
            if y_pred.ndim != 2:
                raise fail(argument, must, got)
            advice = "For the scores of several systems use compare_systems."
            raise fail(argument, must, got, advice, about="systems")
        must = f"be one score per row, or probabilities of two classes, for {self.inner.name!r}"
        check_two_columns(argument, y_pred, must)

    def _other(self, table: Table) -> NDArray[Any]:
        # The metrics know the order of scores alone.
        return table.rank()

    def _predictions(self, table: Table) -> NDArray[Any]:
        return table.edges()[0]

    def columns(self, rows: Rows, kind: str) -> tuple[NDArray[Any] | None, NDArray[Any]]:
        """See `_Tabled.columns`."""
        return rows.y_true, positive_scores(rows.y_pred, self.inner.labels, self.inner.pos_label)

    def read(self, kept: Kept) -> Read:
        """See `Reading.read`; an interval of scores may hold rows in any order.

        The estimate is that of the finer intervals. Resamples lie around it as they do around that
        of the intervals in which they were counted.
        """
        coarse, finer = kept.tables
        found, fine = (self._of_table(one, weighted=kept.weighted) for one in (coarse, finer))
        if not coarse.shift:
            return found
        estimate = fine.values[0]
        values = np.clip(found.values + (estimate - found.values[0]), *found.statistic.bounds)
        values[0] = estimate
        error, hidden = (_movement(*of) for of in ((fine, finer), (found, coarse)))
        facts = replace(fine.facts, delong=None if error else fine.facts.delong)
        return replace(
            fine, values=values, facts=facts, error=error, intervals="finer", hidden=hidden
        )


class ColumnsReading(_Tabled):
    """An area averaged over several classes, each of which has a column of scores.

    A table has the scores of one column, beside the true class of pairs of classes, or else beside
    whether the class of the column is the true one.
    """

    def __init__(self, statistic: Statistic) -> None:
        super().__init__(statistic)
        self.labels: NDArray[Any] = np.asarray(self.inner.labels)
        self.by_pairs = self.inner.sketch == "pairs of columns"
        beside = ("all classes" for _ in self.labels)
        if not self.by_pairs:
            beside = (f"the class {label!r}" for label in self.labels.tolist())
        self.tables = tuple(f"column {k} beside {name}" for k, name in enumerate(beside))

    @property
    def n_sides(self) -> int:
        """Classes that a table tells apart."""
        return len(self.labels) if self.by_pairs else 2

    def check(self, rows: Rows, argument: str) -> None:
        """Refuse other predictions than a column for each class, and weights of pairs."""
        with collected():  # the batch is looked at as a whole
            check_response(self.statistic, rows.y_true, rows.y_pred, argument)
        if rows.sample_weight is not None and not self.statistic.takes_weights:
            must = f"be None with the metric {self.statistic.name!r}"
            advice = "Pairs of classes have no weights in scikit-learn: use 'roc_auc_ovr'."
            raise fail("sample_weight", must, "weights", advice)

    def columns(self, rows: Rows, kind: str) -> tuple[NDArray[Any] | None, NDArray[Any]]:
        """See `_Tabled.columns`."""
        column = self.tables.index(kind)
        assert rows.y_true is not None
        truth = rows.y_true if self.by_pairs else rows.y_true == self.labels[column]
        return truth, rows.y_pred[:, column]

    def read(self, kept: Kept) -> Read:
        """See `Reading.read`; some of the resamples at a time."""
        tables = kept.tables
        n_codes = sum(table.n_cells for table in tables)
        member = self._member(tables)
        reduced = self._reduced(tables, member, [table.rank() for table in tables])
        n_values = tables[0].sums.digits.shape[2]
        step = max(_BYTES_AT_ONCE // (8 * n_codes), 1)
        values = np.empty(n_values)
        for start in range(0, n_values, step):
            some = slice(start, start + step)
            values[some] = self._evaluated(self._weights(tables, some), reduced)
        on_data = self._weights(tables, slice(1))
        sizes = on_data[:, 0] @ self._sizes(tables, member)
        cells = Rows(self.labels, np.zeros((len(self.labels),) * 2), sizes, None)
        facts = Facts(self.statistic.bounds, weighted=kept.weighted)
        found = Read(cells, self.statistic, values, facts)
        if not any(table.shift for table in tables) or np.isnan(values[0]):
            return found
        extremes = self._extremes(tables, member, on_data)
        error = max(abs(value - values[0]) for value in extremes)
        return replace(found, error=error, intervals="all", hidden=error)

    def _evaluated(self, weights: Floats, reduced: ReducedData) -> Floats:
        return self.statistic.evaluate(WeightsBlock(weights.T, self.statistic.reads), reduced)

    def _weights(self, tables: Sequence[Table], columns: slice) -> Floats:
        return np.concatenate([table.sums.values(columns) for table in tables])

    def _member(self, tables: Sequence[Table]) -> NDArray[np.bool_]:
        """Which cells of all tables belong to each class, (n_classes, n_cells)."""
        found = []
        for column, table in enumerate(tables):
            truth = table.labels[table.truth]
            is_class = np.arange(len(self.labels)) == column
            own = truth == self.labels[:, None] if self.by_pairs else truth & is_class[:, None]
            found.append(own)
        return np.concatenate(found, axis=1)

    def _sizes(self, tables: Sequence[Table], member: NDArray[np.bool_]) -> Floats:
        """What each cell adds to the size of each class, (n_cells, n_classes)."""
        counted = np.arange(member.shape[1]) < tables[0].n_cells if self.by_pairs else True
        return np.where(counted, member, False).T.astype(np.float64)

    def _reduced(
        self, tables: Sequence[Table], member: NDArray[np.bool_], scores: Sequence[Floats]
    ) -> ReducedData:
        """Return the cells of all tables as rows, each table in the order of its scores."""
        starts = np.cumsum([0, *(table.n_cells for table in tables)])
        ranked = []
        for column, score in enumerate(scores):
            own = rank(member[column, starts[column] : starts[column + 1]], score)
            ranked.append(own._replace(order=own.order + starts[column]))
        found: ReducedData = self.inner.of_ranked(ranked, member, self._sizes(tables, member))
        return found

    def _extremes(
        self, tables: Sequence[Table], member: NDArray[np.bool_], on_data: Floats
    ) -> list[float]:
        """Values with each class above the others in every interval of its scores, and below."""
        starts = np.cumsum([table.n_cells for table in tables])[:-1]
        sides = [own[k] for k, own in enumerate(np.split(member, starts, axis=1))]
        found = []
        for is_upper in (True, False):
            scores = [
                2 * table.rank() + ((side == is_upper) & _movable(table))
                for table, side in zip(tables, sides, strict=True)
            ]
            reduced = self._reduced(tables, member, scores)
            found.append(float(self._evaluated(on_data, reduced)[0]))
        weights = np.split(on_data[:, 0], starts)
        of_class = [
            self.inner.least_in_intervals(side, table.rank(), own, _movable(table))
            for table, side, own in zip(tables, sides, weights, strict=True)
        ]
        if None not in of_class:
            sizes = [own @ side for own, side in zip(weights, sides, strict=True)]
            by_size = sizes if self.inner.average == "weighted" else None
            found[1] = float(np.average(of_class, weights=by_size))
        return found


_READINGS: Mapping[str, type[Reading]] = {
    "sums": SumsReading,
    "cells": CellsReading,
    "scores": ScoresReading,
    "columns": ColumnsReading,
    "pairs of columns": ColumnsReading,
}


def reading_of(statistic: Statistic, *, counted: bool = False) -> Reading:
    """Return how a metric reads a stream, of labels by their pairs alone if these are counted.

    A metric that needs all rows together is refused.
    """
    if counted:
        return CellsReading(statistic)
    inner: Any = without_sign(statistic)
    if inner.lacks_labels and inner.response == "probabilities":
        own = replace(inner, labels=ZERO_ONE)
        found = reading_of(own if inner is statistic else Negated(own))
        found.assumes_zero_one = True
        return found
    if inner.lacks_labels:
        must = f"be given for the metric {statistic.name!r} of a stream"
        advice = "Give all labels, in the order of the columns: a batch may lack some."
        raise fail("labels", must, "None", advice)
    if inner.sketch:
        return _READINGS[inner.sketch](statistic)
    must = "hold metrics that can be computed from sums, or from the order of scores"
    advice = (
        "Batches are not kept. Give a mean of rows, a metric of labels, R2, the area under the ROC "
        "curve, average precision or an error rate at a threshold; others need all rows as arrays: "
        "skboot.bootstrap_score."
    )
    raise fail("metric", must, f"{statistic.name!r}, which needs all rows", advice)


class WeightsBlock(Block):
    """Resamples of which the weight of every code is known, (n_resamples, n_codes)."""

    def __init__(self, weights: Floats, reads: str) -> None:
        n = weights.shape[1]
        super().__init__(UnitsOfCodes(n, (n,), reads=reads), len(weights))
        self._by_resample = weights

    def _weights_by_entry(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        return self._by_resample[:, entries].T

    def _entry_weights(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        return np.ascontiguousarray(self._by_resample[:, entries])

    def _part(self, resamples: slice) -> WeightsBlock:
        return WeightsBlock(self._by_resample[resamples], self.units_of_codes.reads)


def _coded(
    statistic: Statistic, truth: NDArray[Any], other: NDArray[Any], weights: Floats
) -> tuple[ReducedData, Floats]:
    """Reduce cells as rows; return also the weight of each code, (n_codes, 1 + n_resamples)."""
    reduced = statistic.reduce(truth, other, None)
    code = np.arange(len(truth)) if reduced.code is None else reduced.code.astype(np.intp)
    by_code = np.zeros((reduced.n_codes, weights.shape[1]))
    np.add.at(by_code, code, weights)
    data, observed = dict(reduced.data), by_code[:, 0]
    if "observed" in data:
        data["observed"] = np.asarray(observed @ reduced.terms).reshape(-1)
        data["truth_counts"] = label_counts(truth, weights[:, 0])
    counts = observed.astype(np.int64)
    return replace(reduced, data=MappingProxyType(data), counts=counts), by_code


def _movable(table: Table) -> NDArray[np.bool_]:
    """Return whether the rows of each cell may lie on either side of others in their interval."""
    low, high = table.edges()
    return np.asarray(low < high)


def _movement(read: Read, table: Table) -> float:
    """How far the value moves at most with the order of rows in the intervals of a table."""
    statistic, rank, movable = read.statistic, table.rank(), _movable(table)
    if not movable.any():
        return 0.0
    truth, weights = read.rows.y_true, read.rows.sample_weight
    assert truth is not None
    assert weights is not None
    positive = truth == _positive_label(statistic, truth)
    found = []
    for upper in (positive, ~positive):
        scores = 2 * rank + (upper & movable)
        reduced, by_code = _coded(statistic, truth, scores, weights[:, None])
        block = WeightsBlock(by_code.T, statistic.reads)
        found.append(float(statistic.evaluate(block, reduced)[0]))
    inner = without_sign(statistic)
    least = inner.least_in_intervals(positive, rank, weights, movable)
    if least is not None:
        found[1] = least if inner is statistic else -least
    return max(abs(value - float(read.values[0])) for value in found)


def _positive_label(statistic: Statistic, truth: NDArray[Any]) -> Any:
    given = without_sign(statistic).pos_label
    return truth.max() if given is None else given
