"""The contract of metrics of hard decisions: functions of the confusion matrix.

`LabelMetric` reduces rows to the cells of the matrix; a subclass gives what a row of each cell adds
to which sum (`CellTerms`), and the formula. Rows in cells that add the same to every sum are
interchangeable: F1 of two classes draws three numbers a resample, balanced accuracy two a class.

Metrics of single classes and their averages are in `class_metrics`, coefficients of agreement in
`agreement`. Accuracy, a mean of rows, is in `additive`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._base.checks import numbered
from ._tuning import CONSTANTS_AT_ONCE, DENSE_TERMS, FEW_CELLS
from .additive import SumsStatistic
from .cells import Cells, SharedCells, WeightedCodes, label_counts
from .statistic import Columns, Floats, ReducedData, Response, Sketch


class CellTerms(NamedTuple):
    """What a row of each cell adds to which sum; the first sum is the number of rows.

    Attributes
    ----------
    columns : ndarray of shape (n_cells, n_added)
        Numbers of the sums that a row of the cell adds to.
    values : ndarray of shape (n_cells, n_added)
        What it adds to them; 0 where a cell adds to fewer sums.
    n_terms : int
        Number of sums.
    """

    columns: NDArray[np.intp]
    values: Floats
    n_terms: int

    def accumulate(self, bin_of_cell: NDArray[np.intp], n_bins: int) -> Floats:
        """Sum what the cells of each bin add to each sum, (n_bins, n_terms)."""
        at = bin_of_cell[:, None] * self.n_terms + self.columns
        sums = np.bincount(at.ravel(), self.values.ravel(), n_bins * self.n_terms)
        return sums.astype(np.float64, copy=False).reshape(n_bins, self.n_terms)

    def terms_matrix(self, weights: Floats | None = None) -> Any:
        """Terms (n_cells, n_terms), sparse if large; sums over rows follow if weights can be 0."""
        n_cells = len(self.columns)
        both = weights is not None and bool(np.any(weights == 0))
        weighted = self if weights is None else self.weighted(weights)
        matrices = [weighted, self] if both else [weighted]
        if n_cells * self.n_terms * len(matrices) <= DENSE_TERMS:
            every = np.arange(n_cells)
            return np.hstack([terms.accumulate(every, n_cells) for terms in matrices])
        sparse_terms = [terms._sparse() for terms in matrices]
        return sparse.csr_matrix(sparse.hstack(sparse_terms)) if both else sparse_terms[0]

    def of(self, cell_of_row: NDArray[np.intp]) -> CellTerms:
        """The terms of rows instead of cells."""
        return CellTerms(self.columns[cell_of_row], self.values[cell_of_row], self.n_terms)

    def weighted(self, weights: Floats) -> CellTerms:
        """The terms of rows of these weights, (n_cells,)."""
        return self._replace(values=self.values * weights[:, None])

    def _sparse(self) -> Any:
        n_cells, n_added = self.columns.shape
        cell = np.repeat(np.arange(n_cells), n_added)
        entries = (self.values.ravel(), (cell, self.columns.ravel()))
        terms = sparse.csr_matrix(entries, shape=(n_cells, self.n_terms))
        terms.eliminate_zeros()
        return terms


class LabelMetric(SumsStatistic):
    """A function of the confusion matrix.

    Notes
    -----
    Subclasses give `cell_terms` (what a cell adds to which sum) and `formula`. A label is present
    in a resample if one of its rows is, even if that row has weight zero, as in scikit-learn; so
    with weights of zero every sum is also taken over rows.
    """

    response: Response = "labels"
    bounds: tuple[float, float] = (0.0, 1.0)
    adds_by_row = True
    cells: SharedCells | None = None

    @property
    def sketch(self) -> Sketch:  # type: ignore[override]
        """Pairs of labels; of several labels a row, nothing less than the rows."""
        return "cells" if self.response == "labels" else ""

    @abstractmethod
    def cell_terms(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> CellTerms:
        """What a row of each cell adds to each sum; the first sum is the number of rows."""

    @abstractmethod
    def formula(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """Value from weighted sums and from sums over rows, (n_resamples, n_terms) each."""

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Code rows by what they add; with many weights each row is its own code."""
        assert y_true is not None
        cells = (self.cells or Cells).of(y_true, y_pred)
        by_cell = self.cell_terms(cells.truth, cells.decision, cells.labels)
        data = {
            "n_terms": by_cell.n_terms,
            **self._data(cells.truth, cells.decision, cells.labels),
        }
        distinct, of_cell = _distinct_rows(np.hstack((by_cell.columns, by_cell.values)))
        counts = np.bincount(of_cell, cells.counts).astype(np.int64)
        order = np.argsort(-counts, kind="stable")
        narrow = bool if len(order) == 2 else np.min_scalar_type(len(order))
        number = np.empty(len(order), dtype=narrow)
        number[order] = np.arange(len(order))
        columns, values = equal_column_blocks(distinct[order], 2)
        of_code = CellTerms(columns.astype(np.intp), values, by_cell.n_terms)
        code = cells.rows(number[of_cell])
        if sample_weight is not None:
            return _weighted(code, of_code, sample_weight, data)
        terms = of_code.terms_matrix()
        # Rows of the rarest pair of labels.
        n_pairs = len(cells.counts) if len(cells.labels) > 1 else 0
        data["fewest"] = cells.counts.min() if n_pairs == len(cells.labels) ** 2 else 0
        data["truth_counts"] = cells.of_truth()
        data["observed"] = np.asarray(counts[order] @ terms).reshape(-1)
        return ReducedData(code, len(order), terms, MappingProxyType(data), counts[order])

    def combine(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Apply the formula; a resample without rows has no value."""
        n_terms = reduced.data["n_terms"]
        rows = sums[:, -n_terms:]
        with np.errstate(invalid="ignore", divide="ignore"):
            values = self.formula(sums[:, :n_terms], rows, reduced.data)
        return np.where(rows[:, 0] > 0, values, np.nan)

    def gradient(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Derivative of the formula by each sum; 0 where a sum has no rows."""
        n_terms = reduced.data["n_terms"]
        with np.errstate(invalid="ignore", divide="ignore"):
            gradient = self._gradient(sums[:, :n_terms], sums[:, -n_terms:], reduced.data)
        if not (all_positive(sums) and np.isfinite(gradient).all()):
            gradient = np.where(sums[:, :n_terms] > 0, np.nan_to_num(gradient), 0.0)
        if sums.shape[1] == n_terms:
            return gradient
        return np.hstack((gradient, np.zeros((len(sums), sums.shape[1] - n_terms))))

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Value of the best system that always gives the same label."""
        if reduced is not None and "truth_counts" in reduced.data:
            return self._best_constant(*reduced.data["truth_counts"])
        y_true, _, sample_weight = rows
        if y_true is None:
            return None
        return self._best_constant(*label_counts(y_true, sample_weight))

    def _best_constant(self, labels: NDArray[Any], counts: Floats) -> float | None:
        chosen, step = self._different(labels), self._naive_step(len(labels))
        values = np.concatenate(
            [
                self._constant(chosen[start : start + step], labels, counts)
                for start in range(0, len(chosen), step)
            ]
        )
        defined = [value for value in values if not np.isnan(value)]
        return float(max(defined)) if defined else None

    def _different(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        """Positions of labels among which is one of each value that a constant decision has."""
        return np.arange(len(labels))

    def _naive_step(self, n_labels: int) -> int:
        """Maximum number of constant decisions that are evaluated together."""
        return max(1, CONSTANTS_AT_ONCE // n_labels)

    def _constant(self, chosen: NDArray[np.intp], labels: NDArray[Any], counts: Floats) -> Floats:
        """Value of the metric if each of the chosen labels is always decided, (n_chosen,)."""
        truth = np.tile(np.arange(len(labels)), len(chosen))
        decision = np.repeat(chosen, len(labels))
        by_cell = self.cell_terms(truth, decision, labels).weighted(counts[truth])
        bin_of_cell = np.repeat(np.arange(len(chosen)), len(labels))
        sums = by_cell.accumulate(bin_of_cell, len(chosen))
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.formula(sums, sums, self._data(truth, decision, labels))

    def _data(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> dict[str, Any]:
        """Whatever else the formula needs of the cells."""
        return {"n_labels": len(labels)}

    @abstractmethod
    def _gradient(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """Derivative of the formula by each weighted sum."""


def equal_column_blocks(sums: Floats, n_blocks: int) -> list[Floats]:
    """Blocks of columns of equal width; `numpy.split` takes longer than the formulas."""
    width = sums.shape[1] // n_blocks
    return [sums[:, k * width : (k + 1) * width] for k in range(n_blocks)]


def all_positive(values: Floats) -> bool:
    """Whether there are values, and all are above 0."""
    return bool(values.size) and bool(values.min() > 0)


def _weighted(
    code: NDArray[Any], of_code: CellTerms, sample_weight: Floats, data: dict[str, Any]
) -> ReducedData:
    """Reduce rows of these codes by their weights too, or each row by itself."""
    split = WeightedCodes.of(code, len(of_code.columns), sample_weight)
    known = MappingProxyType(data)
    if split is None:
        terms = of_code.of(code.astype(np.intp)).terms_matrix(sample_weight)
        return ReducedData(None, len(code), terms, known)
    terms = of_code.of(split.first).terms_matrix(split.weights)
    return ReducedData(split.code, len(split.first), terms, known, split.counts)


def _distinct_rows(rows: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Distinct rows in rising order, and the number of each row among them."""
    if len(rows) <= FEW_CELLS:
        as_tuples = [tuple(row) for row in rows.tolist()]
        number = {row: k for k, row in enumerate(sorted(set(as_tuples)))}
        return np.array(list(number)), np.array([number[row] for row in as_tuples])
    # Numbers of a few values are put together much faster than whole rows are sorted.
    of_row = np.zeros(len(rows), dtype=np.intp)
    for column in rows.T[rows.min(axis=0) < rows.max(axis=0)]:
        # Nearly all terms are small whole numbers, which need not be sorted.
        whole = column.astype(np.int64)
        values, place = numbered(whole if np.array_equal(whole, column) else column)
        of_row = numbered(of_row * len(values) + place)[1]
    first = np.empty(int(of_row.max()) + 1, dtype=np.intp)
    first[of_row] = np.arange(len(rows))
    return rows[first], of_row
