"""Statistics made of others: a negated statistic, and scikit-learn's functions on repeated rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.sklearn_compat import unchecked
from ._tuning import ROWS_PER_CELL
from .cells import Cells, label_counts
from .statistic import (
    CallableStatistic,
    Columns,
    Evaluated,
    Facts,
    Floats,
    Proportion,
    ReadableBlock,
    Reading,
    ReducedData,
    Response,
    Statistic,
)


class Negated(Statistic):
    """The negative of a statistic, as scikit-learn's scorers of losses are.

    Parameters
    ----------
    statistic : Statistic
        The loss.
    """

    def __init__(self, statistic: Statistic) -> None:
        self.statistic = self.unsigned = statistic
        self.name = statistic.name
        better = statistic.greater_is_better
        self.greater_is_better = None if better is None else not better
        low, high = statistic.bounds
        self.bounds = (0.0 - high, 0.0 - low)
        self.response = statistic.response
        self.reads = statistic.reads
        self.takes_weights = statistic.takes_weights
        self.is_row_mean = statistic.is_row_mean
        self.adds_distances = statistic.adds_distances

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Delegate to the negated statistic: the sign changes nothing here."""
        return self.statistic.reduce(y_true, y_pred, sample_weight)

    def as_sums(self, reduced: ReducedData) -> tuple[Statistic, ReducedData] | None:
        """Negative of the form of sums of the negated statistic; None where it has none."""
        sums = self.statistic.as_sums(reduced)
        return None if sums is None else (Negated(sums[0]), sums[1])

    def in_cells(self, reduced: ReducedData) -> ReducedData | None:
        """Delegate to the negated statistic: the sign changes nothing here."""
        return self.statistic.in_cells(reduced)

    def adds_without_rounding(self, reduced: ReducedData) -> bool:
        """The same as for the negated statistic."""
        return self.statistic.adds_without_rounding(reduced)

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Values of the negated statistic with the other sign."""
        return 0.0 - self.statistic.evaluate(block, reduced)

    def reading(self, reduced: ReducedData) -> Reading:
        """Delegate to the negated statistic: the sign changes nothing here."""
        return self.statistic.reading(reduced)

    def variance(self, block: ReadableBlock, reduced: ReducedData) -> Floats | None:
        """Delegate to the negated statistic: the sign changes nothing here."""
        return self.statistic.variance(block, reduced)

    def influence(self, block: ReadableBlock, reduced: ReducedData) -> Floats | None:
        """The negated influence."""
        influence = self.statistic.influence(block, reduced)
        return None if influence is None else -influence

    def variance_cost(self, reduced: ReducedData) -> float:
        """Delegate to the negated statistic: the sign changes nothing here."""
        return self.statistic.variance_cost(reduced)

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Facts of the negated statistic, with the range and the proportion turned around."""
        facts = self.statistic.facts(reduced, rows, members)
        low, high = facts.bounds
        proportion = _turned_around(facts.proportion)
        return replace(facts, bounds=(0.0 - high, 0.0 - low), proportion=proportion)

    def proportion(self, reduced: ReducedData) -> Proportion | None:
        """Proportion of the negated statistic, of which the value is the negative."""
        return _turned_around(self.statistic.proportion(reduced))

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Negated value of the best system that ignores its inputs."""
        value = self.statistic.naive(reduced, rows)
        return None if value is None else 0.0 - value


def _turned_around(proportion: Proportion | None) -> Proportion | None:
    """Return the proportion of which the negated metric is the negative."""
    return None if proportion is None else replace(proportion, sign=-proportion.sign)


@dataclass(frozen=True, eq=False)
class LibraryCallable(CallableStatistic):
    """A metric function of scikit-learn, or a scorer's, on repeated rows.

    Its checks of parameters and its warnings, once per resample otherwise, are switched off.

    Parameters
    ----------
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of ``y_pred``; by default those of ``y_true``, sorted.
    takes_labels : bool
        Whether ``function`` gets the labels of the whole test set, because resamples may lack
        some.
    two_class : {"labels", "scores", "probabilities", None}
        What predictions ``function`` takes if it has no argument for the positive class, and takes
        the greater of two labels: of a class that is named it gets 1, and 0 of the other.

    Notes
    -----
    Of two columns it gets that of ``pos_label``, by default the second.
    """

    calls_library = True

    labels: Any = None
    takes_labels: bool = False
    two_class: Response | None = None

    def __post_init__(self) -> None:
        # Of two labels it takes the greater as positive.
        reads_labels = self.two_class == "labels"
        self.set_facts(greater_is_positive=self.two_class is not None, reads_decisions=reads_labels)

    def of_all_rows(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Statistic:
        """See `Statistic.of_all_rows`; functions of values need no labels."""
        if self.response in ("values", "any") and not self.takes_labels:
            return self
        return super().of_all_rows(y_true, y_pred)

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Keep the rows as the function takes them, and the labels of its columns."""
        labels: Any = None
        positive = self.pos_label
        if y_true is not None:
            has_columns = y_true.ndim == 1 and y_pred.ndim == 2
            if self.response in ("values", "outputs"):
                # Values are floats: unsigned integers wrap, and booleans have no difference.
                y_true, y_pred = (y if y.dtype.kind == "f" else y * 1.0 for y in (y_true, y_pred))
            if has_columns or self.takes_labels:
                labels = label_counts(y_true)[0] if self.labels is None else np.asarray(self.labels)
            if self.two_class is not None and positive is not None:
                # It takes the greater label as positive: 1 stands for the class that is named.
                if self.two_class == "labels":
                    y_pred = (y_pred == positive).astype(np.intp)
                elif has_columns and labels[0] == positive:
                    y_pred = y_pred[:, ::-1]
                y_true = (y_true == positive).astype(np.intp)
                labels, positive = None if labels is None else np.array([0, 1]), None
            has_two_columns = has_columns and len(labels) == 2 and y_pred.shape[1] == 2
            if has_two_columns and self.response in ("scores", "any"):
                # One column says all: that of the positive class, by default the second.
                column = labels.tolist().index(positive) if positive in labels else 1
                y_pred = y_pred[:, column]
            elif labels is not None:
                # scikit-learn has columns in the order of sorted labels.
                order = np.argsort(labels)
                labels, y_pred = labels[order], y_pred[:, order] if has_columns else y_pred
        reduced = super().reduce(y_true, y_pred, sample_weight)
        return replace(reduced, data=MappingProxyType({**reduced.data, "labels": labels}))

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Call the function once per resample on its repeated rows."""
        with unchecked(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().evaluate(block, reduced)

    def _call_on_rows(self, data: Mapping[str, Any], rows: NDArray[np.intp]) -> Any:
        if len(rows) == 0:
            return np.nan
        options = {}
        if self.takes_labels:
            options["labels"] = data["labels"]
        if data["sample_weight"] is not None:
            options["sample_weight"] = data["sample_weight"][rows]
        return self.function(data["y_true"][rows], data["y_pred"][rows], **options)

    def returned(self, reduced: ReducedData) -> tuple[partial[Any], Any]:
        """A call of the function on the data, and what it returns; None if it raises."""
        with unchecked(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().returned(reduced)


class _ByCells(CallableStatistic):
    """A callable on the pairs of labels that occur, weighted by their counts.

    A resample then costs a call on a few rows, whatever the number of rows in the data. Cells that
    a resample lacks are left out of the call, so that their classes are absent. The function is
    tried on the data and on one resample: if weighted cells do not give the value of repeated rows,
    rows are repeated.
    """

    takes_labels = False

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Code rows by cell, if that saves time and gives the same values."""
        reduced_rows = super().reduce(y_true, y_pred, sample_weight)
        cells = None if sample_weight is not None else _few_cells(y_true, y_pred)
        if cells is None or y_true is None:
            return reduced_rows
        n_cells = len(cells.counts)
        code = cells.rows(np.arange(n_cells, dtype=np.min_scalar_type(n_cells)))
        examples = np.unique(code, return_index=True)[1]
        data = {**reduced_rows.data, "cells": (y_true[examples], y_pred[examples])}
        reduced = ReducedData(code, n_cells, data=MappingProxyType(data))
        return reduced if self._is_invariant(reduced, cells.counts) else reduced_rows

    def _is_invariant(self, reduced: ReducedData, counts: NDArray[np.int64]) -> bool:
        """Whether weighted cells give the numbers of repeated rows, on the data and a resample."""
        n = int(counts.sum())
        # The stream is fixed, because the choice of the path is not part of the resampling.
        resample = np.random.default_rng(0).multinomial(n, counts / n)
        truth, decision = reduced.data["cells"]
        content = (reduced.data.get("content"), "cells")
        rows = {**reduced.data, "y_true": truth, "y_pred": decision, "content": content}
        with unchecked(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for cell_counts in (counts, resample):
                try:
                    cell_value = self._number(
                        partial(self._call_on_cells, reduced.data, cell_counts)
                    )
                    repeated = np.repeat(np.arange(len(cell_counts)), cell_counts)
                    row_value = self._number(partial(self._call_on_rows, rows, repeated))
                except Exception:
                    return False
                if not np.isclose(cell_value, row_value, rtol=1e-9, atol=1e-12, equal_nan=True):
                    return False
        return True

    def _calls(self, block: ReadableBlock, reduced: ReducedData) -> Iterator[partial[Any]]:
        if "cells" not in reduced.data:
            yield from super()._calls(block, reduced)
            return
        for weights in block.sums():
            yield partial(self._call_on_cells, reduced.data, weights)

    def _call_on_cells(self, data: Mapping[str, Any], weights: NDArray[Any]) -> Any:
        is_in_use = weights > 0
        if not is_in_use.any():
            return np.nan
        truth, decision = (side[is_in_use] for side in data["cells"])
        options = {"labels": data["labels"]} if self.takes_labels else {}
        return self.function(truth, decision, sample_weight=weights[is_in_use], **options)


class CellsCallable(_ByCells, LibraryCallable):
    """A label metric of scikit-learn, on the cells of the confusion matrix."""


class WeightedCallable(_ByCells):
    """A user's function that takes ``sample_weight``, on the pairs of labels that occur."""


def n_cells_with_weights(evaluated: Evaluated, reduced: ReducedData) -> int | None:
    """Return on how many rows a function would be called if it had ``sample_weight``.

    None where it would not be called on fewer, because it has the argument or reads other values
    than labels.
    """
    statistic = evaluated.unsigned or evaluated
    if type(statistic) is not CallableStatistic or statistic.takes_weights:
        return None
    cells = _few_cells(reduced.data["y_true"], reduced.data["y_pred"])
    return None if cells is None else len(cells.counts)


def _few_cells(y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> Cells | None:
    """Return the pairs of labels that occur, if rows share them; None for other values."""
    if y_true is None or y_true.ndim != 1 or y_pred.ndim != 1:
        return None
    if y_true.dtype.kind in "fc" or y_pred.dtype.kind in "fc":
        return None
    try:
        cells = Cells.of(y_true, y_pred)
    except (TypeError, ValueError):
        # Objects need not have an order, and arrays have one that is no answer.
        return None
    return cells if len(cells.counts) * ROWS_PER_CELL <= len(y_pred) else None
