"""Tables of truth and decision that are drawn with a part of a row in each cell.

Resamples repeat the rows of the data: where few rows decide a metric, cells that are empty by
chance stay empty, and limits come too close. Here the shares of the cells are drawn instead, from a
Dirichlet distribution at the rows of each cell and an amount beyond, so that a perfect table has
limits as well. `benchmarks/coverage/studies/tables.py` counts all tables of 20, 40 and 80 rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from .._base.work import child_seed
from ..metrics.cells import encode, label_counts
from ..metrics.statistic import Columns, Floats, ReducedData, Statistic
from ._tuning import FEW_IN_TABLE
from .evidence import deciding_units

# Rows beyond those of the data in each cell of two classes (rows, record 0116): limits are the
# outer ones of both. Fewer are too sure of what was not seen, more are drawn too far to the middle.
AMOUNTS = (0.3, 0.5)
# Maximum number of cells: of more labels few rows do not decide a metric by itself.
_MOST_CELLS = 1 << 12
# Key of the stream that tables are drawn from, beyond those of the blocks of resamples.
_STREAM = (1 << 31) - 1


@dataclass(frozen=True, eq=False)
class ConfusionTable:
    """Rows of each cell: truth by decision, or by the decisions of two systems.

    Attributes
    ----------
    labels : ndarray of shape (n_labels,)
        Sorted.
    cells : ndarray of shape (1 + n_systems, n_cells)
        Positions in ``labels`` of the truth and of the decisions of each cell.
    rows : ndarray of shape (n_strata, n_cells)
        Rows of equal weight that are worth those of each cell (Kish 1965), and no more than they
        would be if they weighed as the rows of their class do.
    weights : ndarray of shape (n_strata, n_cells)
        Weight of such a row.
    amounts : ndarray of shape (n_strata, n_cells)
        Such rows that are added to each cell, as multiples of `AMOUNTS`.
    counted : ndarray of shape (n_strata,)
        Share of its rows by which each stratum is drawn.
    task : ndarray of shape (n_strata,)
        Task of each stratum, of which a metric is the average; all 0 without tasks.
    """

    labels: NDArray[Any]
    cells: NDArray[np.intp]
    rows: Floats
    weights: Floats
    amounts: Floats
    counted: Floats
    task: NDArray[np.intp]

    @classmethod
    def of(
        cls,
        y_true: NDArray[Any],
        answers: Sequence[NDArray[Any]],
        sample_weight: Floats | None = None,
        strata: NDArray[np.intp] | None = None,
        labels: NDArray[Any] | None = None,
        task: NDArray[np.intp] | None = None,
    ) -> ConfusionTable | None:
        """Count the rows of each cell; None where very many labels occur.

        ``answers`` are decisions of one system or of two, ``labels`` some that may not occur.
        ``task`` is that of each row; strata lie within tasks, and all tasks weigh alike.
        """
        columns = [y_true, *answers]
        occurring = [label_counts(y)[0] for y in columns]
        labels = np.unique(np.concatenate([*occurring, *([] if labels is None else [labels])]))
        if len(labels) == 1:
            # What was not seen has another label.
            any_label = labels[0] if labels.dtype.kind in "mM" else labels.tolist()[0]
            added = _unseen(any_label)
            if added is None:
                return None
            labels = np.array(
                sorted([any_label, added]), dtype=object if labels.dtype == object else None
            )
        n_labels, n_columns = len(labels), len(columns)
        n_tasks = 1 if task is None else int(task.max()) + 1
        if n_labels**n_columns * n_tasks > _MOST_CELLS:
            return None
        if task is not None:
            of_task = np.bincount(task, sample_weight)
            sample_weight = (1.0 if sample_weight is None else sample_weight) / of_task[task]
        at = np.zeros(len(y_true), dtype=np.intp)
        for column in columns:
            at = at * n_labels + encode(column, labels)
        n_cells = n_labels**n_columns
        shape = (1 if strata is None else int(strata.max()) + 1, n_cells)
        at = at if strata is None else at + n_cells * strata
        n_rows = np.bincount(at, minlength=shape[0] * n_cells).reshape(shape).astype(np.float64)
        rows, weights = n_rows, np.ones(shape)
        mean = 1.0
        if sample_weight is not None:
            sums, squares = (
                np.bincount(at, w, n_rows.size).reshape(shape)
                for w in (sample_weight, sample_weight**2)
            )
            mean = float(sample_weight.mean())
            # A row of a cell weighs as its own rows do, or as those of its class where these weigh
            # more: few rows of a cell do not show how heavy others would be.
            weights = np.full((2, *shape), mean)
            np.divide(squares, sums, out=weights[0], where=sums > 0)
            by_class = np.stack((sums, squares)).sum(axis=1).reshape(2, n_labels, -1).sum(axis=2)
            class_sums, class_squares = np.repeat(by_class, n_cells // n_labels, axis=1)
            where = np.broadcast_to(class_sums > 0, shape)
            np.divide(class_squares, class_sums, out=weights[1], where=where)
            weights = weights.max(axis=0)
            rows = sums / weights
        cells = np.indices((n_labels,) * n_columns).reshape(n_columns, n_cells)
        # As much for the rows that are right, or wrong, in each system: those of two classes have
        # two cells of each.
        right = (cells[1:] == cells[0]).T @ (1 << np.arange(n_columns - 1))
        amounts = 2 / np.bincount(right)[right]
        # A class of the truth is added where it occurs: strata may be the classes.
        occurs = np.stack([n_rows[:, cells[0] == t].sum(axis=1) > 0 for t in range(n_labels)], 1)
        task_of_stratum = np.zeros(shape[0], dtype=np.intp)
        if task is not None:
            # Rows are drawn within tasks: each stratum is of one.
            assert strata is not None
            task_of_stratum[strata] = task
        shared = occurs / np.maximum(occurs.sum(axis=0), 1)
        shared[:, ~occurs.any(axis=0)] = 1 / shape[0]
        added = amounts * shared[:, cells[0]] * mean / weights
        # Shares of a stratum vary as those of its rows less one, which a Dirichlet distribution has
        # at its rows less two; of one stratum alone the amounts make up for it.
        beyond_one = 1 - 1 / shape[0]
        counted = np.maximum(1 - 2 * beyond_one / n_rows.sum(axis=1), 1 / shape[0])
        return cls(labels, cells, rows, weights, added, counted, task_of_stratum)

    def draw_masses(self, n_draws: int, seed: np.random.SeedSequence) -> Floats:
        """Draw weights of the cells of each task by `AMOUNTS`, (2, n_draws, n_tasks, n_cells).

        The first of many draws are those of few.
        """
        rng = np.random.Generator(np.random.SFC64(child_seed(seed, _STREAM)))
        less, more = AMOUNTS
        masses = np.zeros((2, n_draws, int(self.task.max()) + 1, self.rows.shape[1]))
        rngs = [rng] if len(self.rows) == 1 else rng.spawn(len(self.rows))
        columns = self.rows, self.weights, self.amounts, self.counted, self.task
        for stratum_rng, rows, weights, amounts, counted, task in zip(rngs, *columns, strict=True):
            shapes = counted * np.stack((rows + less * amounts, (more - less) * amounts))
            less_and_more = stratum_rng.standard_gamma(shapes, size=(n_draws, *shapes.shape))
            less_and_more *= weights
            cell_masses = np.empty((2, n_draws, len(rows)))
            cell_masses[0] = less_and_more[:, 0]
            np.add(cell_masses[0], less_and_more[:, 1], out=cell_masses[1])
            if len(self.rows) > 1:
                # The share of each stratum is that of the data.
                size = cell_masses.sum(axis=2, keepdims=True)
                cell_masses *= rows @ weights / np.where(size > 0, size, 1.0)
            masses[:, :, task] += cell_masses
        return masses

    def values(self, metric: MetricOfTable, masses: Floats, system: int = 0) -> Floats:
        """Return a metric on drawn tables, (2, n_draws)."""
        plain, reduced, terms = self._metric_of_cells(metric, system)
        values = plain.combine(masses.reshape(-1, masses.shape[-1]) @ terms, reduced)
        values = values if plain is metric.statistic else 0.0 - values
        return values.reshape(masses.shape[:3]).mean(axis=2)

    def is_decided_by_few(self, *metrics: MetricOfTable) -> bool:
        """Return whether few rows, those added among them, carry the variation of a metric.

        Of two systems it is that of the difference.
        """
        rows = self.rows + AMOUNTS[1] * self.amounts
        masses = _sums_of_tasks(rows * self.weights, self.task)
        rows = _sums_of_tasks(rows, self.task)
        if rows.min() >= FEW_IN_TABLE:
            # There are at least as many as in any cell.
            return False
        # A task may lack a class, whose cells then have no rows.
        weights = np.divide(masses, rows, out=np.zeros(rows.shape), where=rows > 0)
        influence = np.zeros(rows.shape)
        for system, metric in enumerate(metrics):
            plain, reduced, terms = self._metric_of_cells(metric, system)
            gradient = plain.gradient((rows * weights) @ terms, reduced)
            influence += (-1) ** system * weights * (gradient @ terms.T)
        return deciding_units(influence.ravel(), rows.ravel()) < FEW_IN_TABLE

    def _metric_of_cells(self, metric: MetricOfTable, system: int) -> MetricOfCells:
        """Return a metric on the cells of this table, of one system or of two."""
        on_cells = metric.on_cells(self.labels)
        if len(self.cells) > 2:
            cells = self.cells[0] * len(self.labels) + self.cells[1 + system]
            on_cells = on_cells._replace(terms=on_cells.terms[cells])
        return on_cells


def _sums_of_tasks(of_strata: NDArray[Any], task: NDArray[np.intp]) -> Floats:
    """Sum over the strata of each task, (n_tasks, n_columns)."""
    sums = np.zeros((int(task.max()) + 1, of_strata.shape[1]))
    np.add.at(sums, task, of_strata)
    return sums


def _unseen(label: Any) -> Any:
    """Return another label of the same type; None where its type has no sums."""
    if isinstance(label, bool | np.bool_):
        return not label
    if isinstance(label, float):
        return math.nextafter(label, math.inf)
    if isinstance(label, int) and label >= 2**63 - 1:
        # The next may have no type of 64 bits in common.
        return label - 1
    for step in ("'", b"'", 1, timedelta(days=1)):
        with suppress(TypeError, OverflowError):
            return label + step
    return None


class MetricOfCells(NamedTuple):
    """A metric on the cells of a table.

    Attributes
    ----------
    statistic : Statistic
        The metric without its sign.
    reduced : ReducedData
        One row of truth and decision a cell of one system.
    terms : ndarray of shape (n_cells, n_sums)
        What a row of each cell adds to the sums of the metric.
    """

    statistic: Any
    reduced: ReducedData
    terms: Floats


@dataclass(frozen=True, eq=False)
class MetricOfTable:
    """A metric of a system that is a function of a table.

    Attributes
    ----------
    statistic : Statistic
    columns : tuple of ndarray
        Truth, decisions and weights of its rows.
    task : ndarray of shape (n_samples,) or None
        Task of each row, where the metric within tasks is averaged over these.
    strata : ndarray of shape (n_samples,) or None
    """

    statistic: Statistic
    columns: Columns
    task: NDArray[np.intp] | None
    strata: NDArray[np.intp] | None
    _on_cells: dict[tuple[Any, ...], MetricOfCells] = field(default_factory=dict)

    def on_cells(self, labels: NDArray[Any]) -> MetricOfCells:
        """Return the metric with truth by decision as its rows."""
        key = tuple(labels.tolist())
        if key not in self._on_cells:
            plain: Any = self.statistic.unsigned or self.statistic
            truth, decision = labels[np.indices((len(labels),) * 2).reshape(2, -1)]
            reduced = plain.reduce(truth, decision, None)
            terms = reduced.terms
            terms = terms if isinstance(terms, np.ndarray) else terms.toarray()
            terms = terms if reduced.code is None else terms[reduced.code.astype(np.intp)]
            self._on_cells[key] = MetricOfCells(plain, reduced, terms)
        return self._on_cells[key]

    def table(self, second_system: MetricOfTable | None = None) -> ConfusionTable | None:
        """Return its table, or that of two systems on the same rows."""
        systems = [self] if second_system is None else [self, second_system]
        y_true, _, weights = self.columns
        assert y_true is not None
        plain = [system.statistic.unsigned or system.statistic for system in systems]
        labels = [
            label for system in plain for label in (() if system.labels is None else system.labels)
        ]
        labels += [system.pos_label for system in plain if system.pos_label is not None]
        return ConfusionTable.of(
            y_true,
            [system.columns[1] for system in systems],
            weights,
            self.strata,
            np.array(labels) if labels else None,
            self.task,
        )

    def difference(
        self,
        second_system: MetricOfTable,
        n_draws: int,
        seed: np.random.SeedSequence,
        *,
        always: bool,
    ) -> Floats | None:
        """Return the values of a difference on drawn tables, (2, n_draws).

        None where many rows decide it, unless it is wanted ``always``.
        """
        table = self.table(second_system)
        if table is None:
            return None
        if not always and not table.is_decided_by_few(self, second_system):
            return None
        masses = table.draw_masses(n_draws, seed)
        values_a, values_b = (
            table.values(system, masses, k) for k, system in enumerate((self, second_system))
        )
        return values_a - values_b


def beta_limits(hits: float, n: float, confidence_level: float) -> tuple[float, float]:
    """Return the limits that draws of hits / n tend to, those of Beta distributions."""
    tail, added = (1 - confidence_level) / 2, 2 * np.array(AMOUNTS)
    low, high = (betaincinv(hits + added, n - hits + added, level) for level in (tail, 1 - tail))
    # No or all hits are at the end of what is possible.
    return min(float(low.min()), hits / n), max(float(high.max()), hits / n)
