"""Averages over tasks: the metric within each task, every task with the same weight.

`TaskAverage` evaluates a statistic on the rows of each fixed task, in every resample. Where tasks
are drawn, a task has the same value in all resamples that hold it, and `DrawnTaskAverage` is a mean
of these values.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.checks import fail, order_of
from ._tuning import ROWS_PER_TASK_CELL
from .means import SumsStatistic
from .statistic import Columns, Floats, ReadableBlock, Reading, ReducedData, Statistic

# Maximum share of the resamples on which a task may be undefined; above it those that are left say
# too little of what new data would bring.
MOST_UNDEFINED = 0.01


@dataclass(frozen=True, eq=False)
class Tasks:
    """The tasks of the rows of a call.

    Attributes
    ----------
    names : tuple
        Name of each task.
    number : ndarray of shape (n_samples,)
        Task of each row, from 0.
    """

    names: tuple[Any, ...]
    number: NDArray[np.intp]

    @cached_property
    def order(self) -> NDArray[np.intp] | slice:
        """Rows of the first task, of the second, and so on."""
        order = order_of(self.number)
        return slice(None) if order is None else order

    @cached_property
    def ends(self) -> list[int]:
        """Where the rows of each task but the last end in this order."""
        sizes = np.bincount(self.number, minlength=len(self.names))
        return np.cumsum(sizes)[:-1].tolist()

    def among(self, rows: NDArray[np.intp]) -> Tasks:
        """Return the tasks of some of the rows, in which every task occurs."""
        return Tasks(self.names, self.number[rows])


# What is known of an average over tasks as of the metric within each.
_OF_THE_METRIC = (
    "name",
    "greater_is_better",
    "bounds",
    "response",
    "adds_distances",
    "takes_weights",
)


class OverTasks(Statistic):
    """A statistic that averages ``inner`` over ``tasks``, as which it is named."""

    inner: Statistic
    tasks: Tasks

    @abstractmethod
    def task_values(self, block: Any, reduced: ReducedData) -> Floats:
        """Value of each task on each resample, (n_tasks, n_resamples)."""

    def check_parts(
        self,
        reduced: ReducedData,
        estimate: float,
        observed: Callable[[], Sequence[Any]],
        undefined: tuple[int, int],
        blocks: Iterable[Any],
    ) -> None:
        """Refuse a task without a value, by its name; see `Statistic.check_parts`."""
        advice = "Leave the task out, merge it with another, or give it more rows."
        must = f"hold tasks on which the metric {self.name!r} is defined"
        if np.isnan(estimate):
            is_undefined = np.isnan(self.task_values(observed()[0], reduced)[:, 0])
            got = f"{self._named(is_undefined)}, where it is not"
            raise fail("average_over", must, got, advice)
        n_undefined, n_resamples = undefined
        if n_undefined <= MOST_UNDEFINED * n_resamples or self.parts == "drawn":
            return
        values = np.hstack([self.task_values(block, reduced) for block in blocks])
        share = np.isnan(values[:, :n_resamples]).mean(axis=1)
        if np.any(share > MOST_UNDEFINED):
            must += f" in at least {1 - MOST_UNDEFINED:.0%} of the resamples"
            got = f"{self._named(share > MOST_UNDEFINED)}, undefined in up to {share.max():.1%}"
            raise fail("average_over", must, got, advice)

    def _named(self, is_named: NDArray[np.bool_]) -> str:
        """Return the first few of some tasks, and how many there are."""
        named = [repr(self.tasks.names[k]) for k in np.flatnonzero(is_named)]
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        return f"the task{'s' if len(named) > 1 else ''} {', '.join(named[:3])}{more}"

    def __post_init__(self) -> None:
        # The average is named, read and bounded as the metric; rows have weights within tasks.
        self.set_facts(
            **{attribute: getattr(self.inner, attribute) for attribute in _OF_THE_METRIC}
        )

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Average over tasks of the best system that ignores its inputs in each."""
        if reduced is None:
            return None
        values = [
            self.inner.naive(part, some)
            for part, some in zip(reduced.data["of_tasks"], self._columns(rows), strict=True)
        ]
        return None if None in values else float(np.mean(values))  # type: ignore[arg-type]

    def _columns(self, rows: Columns) -> list[Any]:
        """Truth, predictions and weights of each task."""
        y_true, y_pred, weights = (
            [None] * len(self.tasks.names)
            if column is None
            else np.split(column[self.tasks.order], self.tasks.ends)
            for column in rows
        )
        return list(zip(y_true, y_pred, weights, strict=True))


@dataclass(frozen=True, eq=False)
class TaskAverage(OverTasks):
    """Average of a metric over fixed tasks, with the rows of a resample in each.

    Parameters
    ----------
    inner : Statistic
        The metric within a task.
    tasks : Tasks
        Tasks of the rows.
    reads : str
        "rows" if the metric is called on repeated rows, else "running".
    """

    parts = "fixed"

    inner: Statistic
    tasks: Tasks
    reads: Reading = "running"

    @classmethod
    def of(cls, inner: Statistic, tasks: Tasks) -> TaskAverage:
        """Average a metric over tasks."""
        return cls(inner, tasks, "rows" if inner.reads == "rows" else "running")

    def on_rows(self, rows: NDArray[np.intp]) -> Statistic:
        """See `Statistic.on_rows`."""
        return TaskAverage.of(self.inner, self.tasks.among(rows))

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Reduce the rows of each task; its codes come after those of the tasks before it."""
        columns = self._columns((y_true, y_pred, sample_weight))
        return self._joined([self.inner.reduce(*part) for part in columns])

    def _joined(self, reduced_tasks: Sequence[ReducedData]) -> ReducedData:
        """Number the codes of each task after those of the tasks before it."""
        starts = np.concatenate(([0], np.cumsum([part.n_codes for part in reduced_tasks])))
        code = np.empty(len(self.tasks.number), dtype=np.intp)
        code[self.tasks.order] = np.concatenate(
            [
                start + (np.arange(part.n_codes) if part.code is None else part.code)
                for part, start in zip(reduced_tasks, starts, strict=False)
            ]
        )
        data = {"of_tasks": reduced_tasks, "starts": starts}
        return ReducedData(code, int(starts[-1]), data=MappingProxyType(data))

    def as_table(
        self, columns: Columns
    ) -> tuple[Statistic, Columns, NDArray[np.intp] | None] | None:
        """See `Statistic.as_table`; metrics but shares are biased in small tasks (record 0167)."""
        share = self.inner.as_share(columns)
        return None if share is None else (*share, self.tasks.number)

    def in_cells(self, reduced: ReducedData) -> ReducedData | None:
        """Cells of the rows of each task, if its metric has them and they hold several rows."""
        cells_of_tasks: list[ReducedData] = []
        for reduced_task in reduced.data["of_tasks"]:
            cells = self.inner.in_cells(reduced_task)
            if cells is None or cells.code is None:
                return None
            if cells.n_codes * ROWS_PER_TASK_CELL > len(cells.code):
                return None
            cells_of_tasks.append(cells)
        return self._joined(cells_of_tasks)

    def adds_without_rounding(self, reduced: ReducedData) -> bool:
        """The same as for the metric within each task."""
        return all(map(self.inner.adds_without_rounding, reduced.data["of_tasks"]))

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Average on each resample; NaN where a task has no row or no value."""
        return self.task_values(block, reduced).mean(axis=0)

    def task_values(self, block: Any, reduced: ReducedData) -> Floats:
        """Value of each task on each resample, (n_tasks, n_resamples)."""
        values = np.empty((len(self.tasks.names), block.n_resamples))
        parts = block.parts(reduced.data["starts"])
        for k, (part, reduced_task) in enumerate(zip(parts, reduced.data["of_tasks"], strict=True)):
            with np.errstate(invalid="ignore", divide="ignore"):
                values[k] = self.inner.evaluate(part, reduced_task)
            # Of no rows some metrics have a value, such as that of zero_division.
            values[k, part.is_empty] = np.nan
        return values


@dataclass(frozen=True, eq=False)
class DrawnTaskAverage(OverTasks, SumsStatistic):
    """Average of a metric over tasks that are drawn, each with all its rows.

    Parameters
    ----------
    inner : Statistic
        The metric within a task.
    tasks : Tasks
        Tasks of the rows.
    value_of : callable
        From the metric and the reduced rows of a task to its value.
    """

    parts = "drawn"

    inner: Statistic
    tasks: Tasks
    value_of: Callable[[Statistic, ReducedData], float]
    reads: Reading = "sums"

    def on_rows(self, rows: NDArray[np.intp]) -> Statistic:
        """See `Statistic.on_rows`."""
        return DrawnTaskAverage(self.inner, self.tasks.among(rows), self.value_of)

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Code rows by task; all rows of a task together add 1, and its value."""
        columns = self._columns((y_true, y_pred, sample_weight))
        reduced_tasks = [self.inner.reduce(*part) for part in columns]
        values = np.array([self.value_of(self.inner, part) for part in reduced_tasks])
        counts = np.bincount(self.tasks.number, minlength=len(values))
        # Values are centred, because their squared deviations lose no digits to a large mean.
        centre = float(np.mean(values))
        terms = np.column_stack((np.ones(len(values)), values - centre)) / counts[:, None]
        data = {"of_tasks": reduced_tasks, "values": values, "centre": centre}
        return ReducedData(
            self.tasks.number, len(values), terms, MappingProxyType(data), counts.astype(np.int64)
        )

    def task_values(self, block: Any, reduced: ReducedData) -> Floats:
        """Value of each task, the same on every resample that holds it."""
        return np.repeat(reduced.data["values"][:, None], block.n_resamples, axis=1)

    def combine(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Mean of the values of the tasks that were drawn."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(reduced.data["centre"] + sums[:, 1] / sums[:, 0])

    def gradient(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Derivative of a ratio."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.array((-sums[:, 1] / sums[:, 0] ** 2, 1 / sums[:, 0])).T
