"""Which labels, and which pairs of truth and decision, occur: a few passes over the rows.

Sorting the labels of ten million rows takes seconds. They are counted instead: by comparison
where few values occur, by a table where they are small integers, and by sorting otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.checks import fail, numbered
from ._tuning import (
    COLUMNS_HELD,
    FEW_LABELS,
    FIRST_LOOK,
    ROWS_AT_ONCE,
    ROWS_PER_VALUE,
    SMALL_TABLE,
    TABLE,
    TABLE_ENTRIES_PER_ROW,
)


def label_counts(
    y: NDArray, sample_weight: NDArray | None = None
) -> tuple[NDArray, NDArray[np.float64]]:
    """Count the rows of each label.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels.
    sample_weight : ndarray of shape (n_samples,), optional
        Weights to sum instead.

    Returns
    -------
    labels : ndarray of shape (n_labels,)
        Sorted.
    counts : ndarray of shape (n_labels,)
        Their rows, or the weight of these.
    """
    if sample_weight is None:
        counted = _few_integers(y) if _is_integer(y) else _few_counts(y)
        if counted is not None:
            return counted
    values, code = _small_integers(y)
    counts = np.zeros(len(values), dtype=np.int64)
    for rows in _chunks(len(y)):
        counts += np.bincount(code(0, rows), minlength=len(values))
    occurring = counts > 0
    if sample_weight is not None:
        weight = np.zeros(len(values))
        for rows in _chunks(len(y)):
            weight += np.bincount(code(0, rows), sample_weight[rows], minlength=len(values))
        return values[occurring], weight[occurring]
    return values[occurring], counts[occurring].astype(np.float64)


def encode(y: NDArray, labels: NDArray) -> NDArray[np.intp]:
    """Position of each row's label in ``labels``, -1 where it is not among them.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels of rows.
    labels : ndarray of shape (n_labels,)
        Known labels, in any order.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    # Unsigned integers of 64 bits are beyond signed ones, or they would be signed: `as_array`.
    is_signed = np.uint64 not in (y.dtype, labels.dtype)
    if is_signed and y.dtype.kind in "biu" and labels.dtype.kind in "biu":
        low, high = int(labels.min()), int(labels.max())
        if high - low < TABLE:
            # Entries at both ends are of labels out of range, which are no nearer where they wrap.
            table = np.full(high - low + 3, -1)
            lowest = np.int64(low)
            table[labels.astype(np.int64) - lowest + 1] = np.arange(len(labels))
            code = np.empty(len(y), dtype=np.intp)
            for rows in _chunks(len(y)):
                place = y[rows].astype(np.int64)
                place -= lowest
                place += 1
                table.take(place, mode="clip", out=code[rows])
            return code
    order = np.argsort(labels)
    place = np.searchsorted(labels[order], y)
    position = order[np.minimum(place, len(labels) - 1)]
    return np.where(labels[position] == y, position, -1)


@dataclass(frozen=True, eq=False)
class Cells:
    """The pairs of truth and decision that occur.

    Attributes
    ----------
    labels : ndarray of shape (n_labels,)
        Labels of the truth or of decisions, sorted.
    truth, decision : ndarray of shape (n_cells,)
        Positions in ``labels``.
    counts : ndarray of shape (n_cells,)
        Rows of each cell, positive.
    """

    labels: NDArray
    truth: NDArray[np.intp]
    decision: NDArray[np.intp]
    counts: NDArray[np.int64]
    # Number of each row's pair of values, (n_samples,), of a narrow type, and the numbers of the
    # pairs that are cells, of so many; or, where there are too many pairs, the cell of each row.
    _pair_of_row: NDArray[np.integer] | None
    _pairs: NDArray[np.intp]
    _n_pairs: int
    _cell_of_row: NDArray[np.intp] | None

    @classmethod
    def of(cls, y_true: NDArray, y_pred: NDArray) -> Cells:
        """Find the cells of labels ``y_true`` and decisions ``y_pred``, (n_samples,) each."""
        values, code = _small_integers(y_true, y_pred)
        n, n_values, n_pairs = len(y_true), len(values), len(values) ** 2
        pair_of_row: NDArray[Any] | None = None
        cell_of_row: NDArray[np.intp] | None = None
        if n_pairs <= 256:
            # Keys that fit a byte: comparing bytes takes a fraction of the time of a look-up.
            width = np.uint8(n_values)
            rows_of_pairs = np.zeros(n_pairs, dtype=np.int64)
            pair_of_row = np.empty(n, dtype=np.uint8)
            for rows in _chunks(n):
                key = pair_of_row[rows]
                np.multiply(code.bytes(0, rows), width, out=key)
                key += code.bytes(1, rows)
                rows_of_pairs += _counted_bytes(key, n_pairs)
            pairs = np.flatnonzero(rows_of_pairs)
            counts = rows_of_pairs[pairs]
        elif n_pairs > max(SMALL_TABLE, TABLE_ENTRIES_PER_ROW * n) or n_pairs > TABLE:
            every = slice(0, n)
            keys = code(0, every) * n_values + code(1, every)
            pairs, cell_of_row, counts = np.unique(keys, return_inverse=True, return_counts=True)
        else:
            rows_of_pairs = np.zeros(n_pairs, dtype=np.int64)
            pair_of_row = np.empty(n, dtype=np.min_scalar_type(n_pairs))
            for rows in _chunks(n):
                key = code(0, rows) * n_values
                key += code(1, rows)
                rows_of_pairs += np.bincount(key, minlength=n_pairs)
                pair_of_row[rows] = key
            pairs = np.flatnonzero(rows_of_pairs)
            counts = rows_of_pairs[pairs]
        truth, decision = np.divmod(pairs, n_values)
        present = np.flatnonzero(np.bincount(np.concatenate((truth, decision))))
        position = np.searchsorted(present, (truth, decision))
        cells = values[present], position[0], position[1], counts
        return cls(*cells, pair_of_row, pairs, n_pairs, cell_of_row)

    def of_truth(self) -> tuple[NDArray, NDArray]:
        """Labels of the truth and their rows, as `label_counts` of it."""
        return self._counts_of(self.truth)

    def of_decision(self) -> tuple[NDArray, NDArray]:
        """Labels of the decisions and their rows, as `label_counts` of them."""
        return self._counts_of(self.decision)

    def _counts_of(self, positions: NDArray) -> tuple[NDArray, NDArray]:
        rows = np.bincount(positions, self.counts)
        occurring = np.flatnonzero(rows)
        return self.labels[occurring], rows[occurring]

    def rows(self, values: NDArray) -> NDArray:
        """Value of each row's cell: from (n_cells,) to (n_samples,)."""
        if self._pair_of_row is None:
            return values[self._cell_of_row]
        if len(self._pairs) <= FEW_LABELS and values.dtype in (np.uint8, bool):
            flags = np.zeros(len(self._pair_of_row), dtype=np.uint8)
            pairs = self._pairs.astype(self._pair_of_row.dtype)
            for pair, value in zip(pairs, values.view(np.uint8), strict=True):
                if value:
                    flags += (self._pair_of_row == pair).view(np.uint8) * value
            return flags.view(values.dtype)
        table = np.zeros(self._n_pairs, dtype=values.dtype)
        table[self._pairs] = values
        return table.take(self._pair_of_row)


class WeightedCodes(NamedTuple):
    """Codes of rows that also have the same weight.

    Attributes
    ----------
    code : ndarray of shape (n_samples,)
        Code of each row; every code occurs.
    unweighted : ndarray of shape (n_codes,)
        The code that these rows have without regard to weights.
    weights : ndarray of shape (n_codes,)
        Their weight.
    counts : ndarray of shape (n_codes,)
        How many they are.
    """

    code: NDArray[np.integer]
    unweighted: NDArray[np.intp]
    weights: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, code: NDArray, n_codes: int, sample_weight: NDArray) -> WeightedCodes | None:
        """Tell rows of one of ``n_codes`` codes apart by weight; None where weights are many."""
        most = len(code) // (ROWS_PER_VALUE * n_codes)
        if len(np.unique(sample_weight[:FIRST_LOOK])) > most:
            return None
        integers = sample_weight.astype(np.int64)
        distinct, number = numbered(
            integers if np.array_equal(integers, sample_weight) else sample_weight
        )
        if len(distinct) > most:
            return None
        number += code.astype(np.intp) * len(distinct)
        counts = np.bincount(number, minlength=n_codes * len(distinct))
        occurring = np.flatnonzero(counts)
        position = np.zeros(len(counts), dtype=np.min_scalar_type(len(occurring)))
        position[occurring] = np.arange(len(occurring))
        codes, weight = np.divmod(occurring, len(distinct))
        weights = distinct[weight].astype(np.float64)
        return cls(position.take(number), codes, weights, counts[occurring])


@dataclass(frozen=True, eq=False)
class CellCodes:
    """Codes of rows that are those of their cells; written out for the rows where they are read.

    Statistics with the same cells have no rows to pass over: together they divide the cells.

    Attributes
    ----------
    cells : Cells
    code_of_cell : ndarray of shape (n_cells,)
    """

    cells: Cells
    code_of_cell: NDArray

    @cached_property
    def of_rows(self) -> NDArray:
        """Code of each row, (n_samples,)."""
        return self.cells.rows(self.code_of_cell)


class SharedCells:
    """The labels and cells of the rows that metrics of one call have in common, found once."""

    def __init__(self) -> None:
        # By the place of their columns in memory, which are held, so that no others come there.
        self._cells: dict[Any, tuple[NDArray, NDArray, Cells]] = {}
        self._label_counts: dict[Any, tuple[NDArray, Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        # A worker reads reduced data, which need no rows.
        return SharedCells().__dict__

    def of(self, y_true: NDArray, y_pred: NDArray) -> Cells:
        """Find the cells of these columns, or return those found before; see `Cells.of`."""
        key = _place(y_true), _place(y_pred)
        if key not in self._cells:
            _make_room(self._cells)
            self._cells[key] = (y_true, y_pred, Cells.of(y_true, y_pred))
        return self._cells[key][2]

    def label_counts(self, y: NDArray) -> tuple[NDArray, NDArray[np.float64]]:
        """Count the rows of each label, or return those counted before; see `label_counts`.

        The cells of a column of truth say them, where there are some: no row is passed over again.
        """
        key = _place(y)
        if key not in self._label_counts:
            _make_room(self._label_counts)
            same_truth = (cells for (truth, _), (*_, cells) in self._cells.items() if truth == key)
            cells = next((cells for cells in same_truth if cells.labels.dtype == y.dtype), None)
            self._label_counts[key] = (y, label_counts(y) if cells is None else cells.of_truth())
        return self._label_counts[key][1]

    def labels(self, y_true: NDArray, y_pred: NDArray) -> NDArray:
        """Labels of the truth or of decisions, sorted."""
        if are_exact(y_true, y_pred):
            return self.of(y_true, y_pred).labels
        return np.union1d(self.label_counts(y_true)[0], self.label_counts(y_pred)[0])


def are_exact(y_true: NDArray, y_pred: NDArray) -> bool:
    """Whether columns are integers whose cells tell the same rows apart as comparisons."""
    return (
        y_true.dtype.kind in "iu"
        and _is_integer(y_true)
        and (y_pred.dtype.kind in "iu" and _is_integer(y_pred))
    )


def _place(y: NDArray) -> Any:
    """What tells a column from others that are held: views of the same rows are the same."""
    return y.__array_interface__["data"][0], y.shape, y.strides, y.dtype


def _make_room(columns: dict[Any, Any]) -> None:
    """Let go of the columns that came first, where there are `COLUMNS_HELD`."""
    if len(columns) == COLUMNS_HELD:
        del columns[next(iter(columns))]


@dataclass(frozen=True, eq=False)
class _Positions:
    """Position of each row's value, for one or several arrays of rows."""

    arrays: tuple[NDArray, ...]
    low: int = 0

    def __call__(self, which: int, rows: slice) -> NDArray[np.intp]:
        codes = self.arrays[which][rows].astype(np.intp, copy=False)
        return codes - self.low if self.low else codes

    def bytes(self, which: int, rows: slice) -> NDArray[np.uint8]:
        """The same positions as bytes, if they fit."""
        codes = self.arrays[which][rows].astype(np.uint8, copy=False)
        # Bytes are integers modulo 256, and so is their difference.
        return codes - np.uint8(self.low % 256) if self.low else codes


def _small_integers(*arrays: NDArray) -> tuple[NDArray, _Positions]:
    """Candidate values, sorted, and the position of each row's value among them."""
    if all(map(_is_integer, arrays)):
        arrays = tuple(y.view(np.uint8) if y.dtype == bool else y for y in arrays)
        low = min(int(y.min()) for y in arrays)
        span = max(int(y.max()) for y in arrays) - low + 1
        if span <= 256 or span <= min(TABLE, len(arrays[0])):
            dtype = np.result_type(*arrays)
            # The end of the range may be beyond the type.
            return np.arange(span).astype(dtype) + dtype.type(low), _Positions(arrays, low)
    # Each array is numbered by itself, because a copy of the text of all takes as long.
    distinct, codes = zip(*map(numbered, arrays), strict=True)
    values, place = np.unique(np.concatenate(distinct), return_inverse=True)
    places = np.split(place.reshape(-1), np.cumsum([len(column) for column in distinct])[:-1])
    return values, _Positions(
        tuple(column.take(code) for column, code in zip(places, codes, strict=True))
    )


def _is_integer(y: NDArray) -> bool:
    """Whether all values are integers of 64 bits at most, or booleans."""
    return y.dtype.kind in "bi" or (y.dtype.kind == "u" and y.dtype.itemsize < 8)


def _counted_bytes(values: NDArray[np.uint8], n: int) -> NDArray[np.int64]:
    """Number of occurrences of each value from 0 to n - 1; all values are among these, (n,)."""
    if n > FEW_LABELS:
        return np.bincount(values, minlength=n)
    counts = [np.count_nonzero(values == np.uint8(value)) for value in range(1, n)]
    return np.array([len(values) - sum(counts), *counts])


def _few_integers(y: NDArray) -> tuple[NDArray, NDArray[np.float64]] | None:
    """Labels and counts by one comparison per integer; None if their range is not small."""
    counts: dict[int, int] = {}
    for rows in _chunks(len(y)):
        part = y[rows].view(np.uint8) if y.dtype == bool else y[rows]
        low, n = int(part.min()), int(part.max()) - int(part.min()) + 1
        if n > FEW_LABELS:
            return None
        if n == 2:
            n_upper = int(np.count_nonzero(part == low + 1))
            n_rows = [len(part) - n_upper, n_upper]
        else:
            # Modulo 256 the few values of the range stay different.
            distance = part.astype(np.uint8, copy=False) - np.uint8(low % 256)
            n_rows = _counted_bytes(distance, n).tolist()
        for label, count in enumerate(n_rows, low):
            counts[label] = counts.get(label, 0) + count
    occurring = [label for label in sorted(counts) if counts[label]]
    if len(occurring) > FEW_LABELS:
        return None
    labels = np.array(occurring, dtype=y.dtype)
    return labels, np.array([counts[label] for label in occurring], dtype=np.float64)


def _few_counts(y: NDArray) -> tuple[NDArray, NDArray[np.float64]] | None:
    """Labels and counts by one comparison per label; None if the labels are many."""
    counts: dict = {}
    # Most labels occur among the first rows, so that no large chunk has to be sorted.
    for rows in [slice(0, FIRST_LOOK), *_chunks(len(y), FIRST_LOOK)]:
        part = y[rows]
        n_left = len(part)
        for label in counts:
            n_equal = int(np.count_nonzero(part == label))
            counts[label] += n_equal
            n_left -= n_equal
            if n_left == 0:
                break
        if n_left:
            labels, found_of = np.unique(part, return_counts=True)
            for label, count in zip(labels.tolist(), found_of.tolist(), strict=True):
                if label not in counts:
                    counts[label] = count
            if len(counts) > FEW_LABELS:
                return None
    labels = np.array(sorted(counts), dtype=y.dtype)
    return labels, np.array([counts[label] for label in labels.tolist()], dtype=np.float64)


def _chunks(n: int, begin: int = 0) -> list[slice]:
    return [slice(start, min(start + ROWS_AT_ONCE, n)) for start in range(begin, n, ROWS_AT_ONCE)]


# ------------------------------------------------------------------ shared checks


def known_labels(labels: Any, y_true: NDArray[Any]) -> NDArray[Any]:
    """Labels of the columns: those given, which must hold those of the truth, or these."""
    occurring = label_counts(y_true)[0]
    if labels is None:
        return occurring
    check_among("y_true", occurring, np.asarray(labels))
    return np.asarray(labels)


def check_among(name: str, occurring: NDArray[Any], all_labels: NDArray[Any]) -> None:
    """Refuse labels that are not among all labels."""
    unknown = [label for label in occurring.tolist() if label not in all_labels.tolist()]
    if unknown:
        advice = "Give all labels, in the order of the columns, as labels=."
        raise fail(name, f"hold labels among {all_labels.tolist()}", f"also {unknown[:5]}", advice)


def check_columns(y_pred: NDArray[Any], all_labels: NDArray[Any]) -> None:
    """Refuse predictions that do not have a column for each label."""
    if y_pred.ndim == 1 or y_pred.shape[1] != len(all_labels):
        must = (
            f"have one column for each of the {len(all_labels)} labels {all_labels.tolist()[:20]}"
        )
        advice = "Give all labels, in the order of the columns, as labels=."
        raise fail("y_pred", must, f"shape {y_pred.shape}", advice)


# Sums of two columns that differ by more, of the largest score or 1, are no rounding: that of
# probabilities to 8 bits (bfloat16) is 2**-8 in each.
_LEAST_SPREAD = 0.01


def check_two_columns(argument: str, scores: NDArray[Any], must: str) -> None:
    """Refuse two columns of which the second alone does not order the rows.

    Probabilities sum to one, and scores of both classes of many models to 0. Those of two systems,
    and logits, have sums that vary: the second column is then no score of the positive class.
    """
    if scores.ndim != 2 or not are_no_classes(scores):
        return
    sums = scores.sum(axis=1, dtype=np.float64)
    got = f"two columns with sums from {sums.min():.4g} to {sums.max():.4g}"
    raise fail(argument, must, got, _ONE_SCORE, about="systems")


def are_no_classes(scores: NDArray[Any]) -> bool:
    """Whether columns are two whose sums vary by more than rounding."""
    if scores.shape[1] != 2 or scores.dtype.kind not in "biuf":
        return False
    sums = scores.sum(axis=1, dtype=np.float64)
    return bool(np.ptp(sums) > _LEAST_SPREAD * max(float(np.abs(scores).max()), 1.0))


_ONE_SCORE = (
    "Give the scores of one system as one column; for two systems give a dict, "
    "{'A': a, 'B': b}, to compare_systems or bootstrap_curve; for logits give their difference, "
    "y_pred[:, 1] - y_pred[:, 0]."
)


def sums_to_one(prob: NDArray[Any]) -> bool:
    """Whether rows sum to one, to the tolerance of scikit-learn."""
    floating = prob if prob.dtype.kind == "f" else prob.astype(np.float64)
    tolerance = np.sqrt(np.finfo(floating.dtype).eps)
    return bool(np.allclose(floating.sum(axis=1), 1, rtol=tolerance))


SAME_KIND = "Convert one of them: as text by numpy.asarray(y).astype(str)."


def check_same_kind(name: str, truth: NDArray[Any], column: NDArray[Any]) -> None:
    """Refuse labels that cannot be those of the truth, such as text beside numbers."""
    kind_of_truth, kind = (
        "numbers" if array.dtype.kind in "biuf" else array.dtype.name for array in (truth, column)
    )
    if kind_of_truth.rstrip("0123456789") != kind.rstrip("0123456789"):
        must = f"hold labels of the same kind as y_true, here {kind_of_truth}"
        raise fail(name, must, kind, SAME_KIND)


def class_of(pair: NDArray[Any], pos_label: Any, negative: bool) -> Any:
    """The positive one of two labels, by default the greater, or the other."""
    labels = pair.tolist()
    positive = max(labels) if pos_label is None else pos_label
    chosen = [label for label in labels if (label == positive) != negative]
    if not chosen:
        advice = "Give both labels, or leave labels out."
        raise fail("labels", "hold both of two classes", f"{labels}", advice)
    return chosen[0]
