"""Expected cost, cross entropy and Brier score as functions of sums per class.

With priors, or relative to the best answer that ignores the input, these metrics are not means of
rows: they need the weight and the loss of each class (`ClassCosts`). Without either they are means
of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._base.checks import arguments_named
from ._tuning import DENSE_CLASSES, FEW_VALUES
from .additive import RowMean, SumsStatistic, accuracy
from .cells import Cells, encode, label_counts
from .checks import check_among, known_labels
from .cost_metrics import check_costs, check_priors, numbers
from .facts import Facts
from .posteriors import (
    brier_statistic,
    classes_of,
    log_loss_statistic,
    log_losses,
    oriented,
    squared_distances,
)
from .registry import Factory, Request, fast_path
from .statistic import Columns, Floats, ReducedData, Response, Sketch, Statistic


@dataclass(frozen=True, eq=False)
class ClassCosts(SumsStatistic):
    """Mean loss under class priors, or relative to the best answer that ignores the input.

    Parameters
    ----------
    name : str
        How results call it.
    loss : callable
        From classes (n_samples,) and predictions to the loss of each row.
    best : callable
        From class shares (n_resamples, n_classes) to the loss of the best answer without input on
        rows of each class, (n_resamples, n_classes).
    response : {"labels", "probabilities"}
        What predictions it takes.
    priors : array-like of shape (n_classes,), optional
        Probability of each class; by default their shares in the resample.
    labels : ndarray of shape (n_classes,), optional
        All labels, in the order of ``priors``; by default those that occur, sorted.
    relative : bool
        Whether to divide by the reference.
    skill : bool
        Whether the value is one less the relative loss (D2 of scikit-learn).
    pos_label : label, optional
        The class of one column of probabilities, of two classes; None: the second of ``labels``.
    of_decisions : bool
        Whether losses are those of decisions, which are few values.

    Notes
    -----
    NaN on a resample that lacks a class with a prior, or whose reference is 0.
    """

    name: str
    loss: Callable[[NDArray[np.intp], NDArray[Any]], NDArray[Any]]
    best: Callable[[Floats], Floats]
    response: Response = "probabilities"
    priors: ArrayLike | None = None
    labels: NDArray[Any] | None = None
    relative: bool = False
    skill: bool = False
    orders_labels = True
    greater_is_better: bool | None = False
    bounds: tuple[float, float] = (0.0, np.inf)
    pos_label: Any = None
    of_decisions: bool = False

    @property
    def greater_is_positive(self) -> bool:  # type: ignore[override]
        """Whether scores or probabilities in one column are those of the greater label."""
        return self.response != "labels"

    @property
    def sketch(self) -> Sketch:  # type: ignore[override]
        """Pairs of labels, or the weight and loss of each class."""
        return "cells" if self.response == "labels" else "sums"

    @property
    def n_sums(self) -> int:  # type: ignore[override]
        """Weight and loss of each class."""
        return 2 * len(self.labels) if self.labels is not None else 0

    @property
    def lacks_labels(self) -> bool:  # type: ignore[override]
        """Whether there are columns, whose labels are those of the truth."""
        return self.response == "probabilities" and self.labels is None

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Refuse labels that are not among those given, priors of others, and costs of others."""
        if self.response == "labels":
            labels = checked_decisions(y_true, y_pred, self.labels)
            check_priors(self.priors, len(labels))
            self.best(np.full((1, len(labels)), 1 / len(labels)))
        elif self.response == "probabilities":
            check_priors(self.priors, len(known_labels(self.labels, y_true)))

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Terms: weight of each class, weighted loss of each class."""
        assert y_true is not None
        code = None
        if self.response == "labels":
            labels = decision_labels(y_true, y_pred, self.labels)
            cells = Cells.of(y_true, y_pred)
            position = encode(cells.labels, labels)
            classes, n_classes = position[cells.truth], len(labels)
            loss = self.loss(classes, position[cells.decision])
            if sample_weight is None:
                code, classes, loss = _merged(cells, classes, loss)
            else:
                classes, loss = cells.rows(classes), cells.rows(loss)
        else:
            order, prob = oriented(y_pred, self.labels, self.pos_label)
            # Priors are in the order of the labels.
            prob = prob if order is self.labels else prob[:, ::-1]
            n_classes = prob.shape[1]
            classes = classes_of(y_true, self.labels, n_classes)
            loss = self.loss(classes, prob).astype(np.float64)
        weights = np.ones(len(classes)) if sample_weight is None else sample_weight
        terms = sums_by_class(classes, loss, weights, n_classes)
        return ReducedData(code, len(classes), terms, self._priors(n_classes))

    def _priors(self, n_classes: int) -> Mapping[str, Floats | None]:
        """Return what the formula reads beside sums."""
        with arguments_named({}, self.name):
            return MappingProxyType({"priors": check_priors(self.priors, n_classes)})

    def added_by_rows(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> Floats:
        """Return the weight and the loss of each row, in the places of its class."""
        terms = self.reduce(y_true, y_pred, None).terms
        dense = terms if isinstance(terms, np.ndarray) else terms.toarray()
        return np.ascontiguousarray(dense.T)

    def of_sums(self, sums: Floats) -> Floats:
        """See `Statistic.of_sums`."""
        return self.combine(sums[1:].T, ReducedData(None, 0, data=self._priors(self.n_sums // 2)))

    def combine(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Mean of the class means, or of all rows, by that of the best answer without input."""
        loss = self._loss(sums, reduced)
        return 1 - loss if self.skill else loss

    def _loss(self, sums: Floats, reduced: ReducedData) -> Floats:
        weight, loss = np.split(sums, 2, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            scale, shares = self._scale(weight, reduced.data["priors"])
            mean = np.where(scale > 0, scale * loss, 0.0).sum(axis=1)
            lost = (scale.max(axis=1) == np.inf) | (weight.sum(axis=1) == 0)
            if self.relative:
                reference = np.sum(shares * self._best(shares), axis=1)
                mean = np.where(reference > 0, mean / reference, np.nan)
        return np.where(lost, np.nan, mean)

    def _scale(self, weight: Floats, priors: Floats | None) -> tuple[Floats, Floats]:
        """Factor of the loss of each class, and its share, (n_resamples, n_classes) each."""
        if priors is None:
            total = weight.sum(axis=1, keepdims=True)
            # The quotient is exactly 1 where only one class occurs; the product need not be.
            return np.broadcast_to(1 / total, weight.shape), weight / total
        scale = np.where(priors > 0, priors / weight, 0.0)
        return scale, np.broadcast_to(priors, weight.shape)

    def _best(self, shares: Floats) -> Floats:
        return np.where(shares > 0, self.best(np.nan_to_num(shares)), 0.0)

    def gradient(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Derivative; that of the best answer is its loss, by the envelope theorem."""
        weight, loss = np.split(sums, 2, axis=1)
        priors = reduced.data["priors"]
        value = self._loss(sums, reduced)[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            scale, shares = self._scale(weight, priors)
            best = self._best(shares)
            reference = np.sum(shares * best, axis=1, keepdims=True) if self.relative else 1.0
            by_loss = scale / reference
            if priors is not None:
                by_weight = -by_loss * loss / weight
            elif self.relative:
                by_weight = -by_loss * value * best
            else:
                by_weight = -by_loss * value
        gradient = np.hstack([np.where(weight > 0, part, 0.0) for part in (by_weight, by_loss)])
        return -gradient if self.skill else gradient

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Those of any metric, and of losses under priors that they are means within classes."""
        known = super().facts(reduced, rows, members)
        priors = reduced.data["priors"]
        if priors is None or self.of_decisions or reduced.code is not None:
            return known
        weights = reduced.terms[:, : len(priors)]
        sizes: NDArray[np.int64] = np.asarray((weights != 0).sum(axis=0)).ravel()[priors > 0]
        if len(sizes) == 2:
            return replace(known, row_mean=True, smaller_class=int(sizes.min()))
        return replace(known, row_mean=True, class_sizes=sizes)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Loss of the best answer without input: 1 if relative, which is no skill."""
        y_true, _, sample_weight = rows
        if self.relative:
            return 0.0 if self.skill else 1.0
        if y_true is None:
            return None
        if self.priors is not None:
            shares = np.asarray(self.priors, dtype=np.float64)
        else:
            labels, counts = label_counts(y_true, sample_weight)
            all_labels = labels if self.labels is None else np.asarray(self.labels)
            shares = np.zeros(len(all_labels))
            shares[encode(labels, all_labels)] = counts / counts.sum()
        with np.errstate(divide="ignore"):
            return float(np.sum(shares * self._best(shares[None])[0]))


@fast_path("expected_cost", response="labels")
def expected_cost_statistic(
    request: Request,
    *,
    costs: ArrayLike | None = None,
    priors: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    relative: bool = False,
) -> Statistic:
    """Expected cost as a mean of rows where it is one, else from the sums of each class."""
    all_labels = _all_labels(request, labels)
    if priors is None and not relative:
        if costs is None:
            return accuracy(request.name, error=True)
        return MeanCost(
            request.name,
            response="labels",
            bounds=_range_of_costs(request.name, costs, relative),
            costs=costs,
            labels=all_labels,
        )
    matrix = None if costs is None else numbers("costs", costs)
    return ClassCosts(
        request.name,
        partial(_cost, costs=matrix),
        partial(cost_of_best, costs=matrix),
        response="labels",
        priors=priors,
        labels=all_labels,
        relative=relative,
        bounds=_range_of_costs(request.name, costs, relative),
    )


def _range_of_costs(name: str, costs: ArrayLike | None, relative: bool) -> tuple[float, float]:
    """Range of a mean of costs, or of it over the cost of the best answer without input."""
    if costs is None:
        return (0.0, np.inf if relative else 1.0)
    matrix = numbers("costs", costs)
    least, greatest = float(matrix.min()), float(matrix.max())
    if relative:
        return (-np.inf if least < 0 else 0.0, np.inf)
    return least, greatest


def _posterior_loss(
    mean_of_rows: Callable[..., Statistic], loss: Callable[..., Any], best: Callable[..., Any]
) -> Factory:
    """Factory of a loss as a mean of rows where it is one, else from the sums of each class."""

    def factory(
        request: Request,
        *,
        priors: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        relative: bool = False,
    ) -> Statistic:
        name, all_labels = request.name, _all_labels(request, labels)
        if priors is None and not relative:
            return mean_of_rows(name, all_labels, pos_label=request.pos_label)
        return ClassCosts(
            name,
            loss,
            best,
            priors=priors,
            labels=all_labels,
            relative=relative,
            pos_label=request.pos_label,
        )

    return factory


def _all_labels(request: Request, labels: ArrayLike | None) -> NDArray[Any] | None:
    """All labels, in the order that the caller gave them, or in that of the categories."""
    given = request.labels if labels is None else labels
    given = request.order if given is None else given
    return None if given is None else np.asarray(given)


@dataclass(frozen=True, eq=False)
class MeanCost(RowMean):
    """Mean cost of hard decisions; rows of equal cost are interchangeable.

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_classes)
        ``costs[i][j]``: truth i, decision j.
    labels : ndarray of shape (n_classes,), optional
        Labels of rows and columns; by default those that occur, sorted.
    """

    # Costs are those of the labels that occur, if none are given.
    orders_labels = True
    adds_by_row = False
    sketch = "cells"  # type: ignore[assignment]

    # Costs are looked up by cell.
    row_values: Any = None
    costs: Any = None
    labels: NDArray[Any] | None = None

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Refuse labels that are not among those given, and costs of others."""
        check_costs(self.costs, len(checked_decisions(y_true, y_pred, self.labels)))

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Code rows by their cost, looked up and counted by cell."""
        cells, costs = self._cells_and_costs(y_true, y_pred)
        distinct, of_cell = np.unique(costs, return_inverse=True)
        if sample_weight is not None or len(distinct) > FEW_VALUES:
            return self.of_values(cells.rows(costs), sample_weight)
        code = cells.rows(of_cell.astype(np.min_scalar_type(len(distinct))))
        counts = np.bincount(of_cell, cells.counts).astype(np.int64)
        return self._reduced(code, distinct, None, counts)

    def row_values_of(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> NDArray[Any]:
        """Return the cost of each row, (n_samples,)."""
        cells, costs = self._cells_and_costs(y_true, y_pred)
        return cells.rows(costs)

    def _cells_and_costs(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]
    ) -> tuple[Cells, Floats]:
        """Pairs of truth and decision that occur, and the cost of each."""
        assert y_true is not None
        labels = decision_labels(y_true, y_pred, self.labels)
        with arguments_named({}, self.name):
            costs = check_costs(self.costs, len(labels))
        cells = Cells.of(y_true, y_pred)
        position = encode(cells.labels, labels)
        return cells, costs[position[cells.truth], position[cells.decision]]

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Cost of the best decision that is the same for every row."""
        y_true, y_pred, sample_weight = rows
        assert y_true is not None
        all_labels = decision_labels(y_true, y_pred, self.labels)
        with arguments_named({}, self.name):
            costs = check_costs(self.costs, len(all_labels))
        labels, counts = label_counts(y_true, sample_weight)
        return self.sign * float((counts @ costs[encode(labels, all_labels)]).min() / counts.sum())


def decision_labels(
    y_true: NDArray[Any], y_pred: NDArray[Any], labels: NDArray[Any] | None
) -> NDArray[Any]:
    """Return all labels in the order of the costs: those given, else those that occur, sorted."""
    if labels is not None:
        return labels
    return np.union1d(label_counts(y_true)[0], label_counts(y_pred)[0])


def checked_decisions(
    y_true: NDArray[Any], y_pred: NDArray[Any], labels: NDArray[Any] | None
) -> NDArray[Any]:
    """Return all labels, as `decision_labels`, and refuse rows that hold others."""
    found = decision_labels(y_true, y_pred, labels)
    for name, y in (("y_true", y_true), ("y_pred", y_pred)):
        check_among(name, label_counts(y)[0], found)
    return found


def _merged(
    cells: Cells, classes: NDArray[np.intp], loss: Floats
) -> tuple[NDArray[Any], NDArray[np.intp], Floats]:
    """Code of each row, class and loss of each code, numbered by falling count."""
    distinct, of_cell = np.unique(np.column_stack((classes, loss)), axis=0, return_inverse=True)
    of_cell = of_cell.reshape(-1)
    order = np.argsort(-np.bincount(of_cell, cells.counts), kind="stable")
    number = np.empty(len(order), dtype=np.min_scalar_type(len(order)))
    number[order] = np.arange(len(order))
    return cells.rows(number[of_cell]), distinct[order, 0].astype(np.intp), distinct[order, 1]


def sums_by_class(classes: NDArray[np.intp], loss: Floats, weights: Floats, n_classes: int) -> Any:
    """Terms (n_codes, 2 n_classes): weights, then weighted losses, in the column of the class."""
    each = np.arange(len(classes))
    values = np.concatenate((weights, weights * loss))
    where = (np.concatenate((each, each)), np.concatenate((classes, n_classes + classes)))
    terms = sparse.csr_matrix((values, where), shape=(len(classes), 2 * n_classes))
    return terms.toarray() if n_classes <= DENSE_CLASSES else terms


def _cost(
    classes: NDArray[np.intp], decisions: NDArray[np.intp], *, costs: Floats | None
) -> Floats:
    costs_of_rows = classes != decisions if costs is None else costs[classes, decisions]
    return np.asarray(costs_of_rows, dtype=np.float64)


def cost_of_best(shares: Floats, *, costs: Floats | None) -> Floats:
    """Cost of the best decision without input, by class, (n_resamples, n_classes)."""
    matrix = check_costs(costs, shares.shape[1])
    return matrix.T[(shares @ matrix).argmin(axis=1)]


def _entropy_of_best(shares: Floats) -> Floats:
    return -np.log(shares)


def _brier_of_best(shares: Floats) -> Floats:
    distance = 1 - 2 * shares + np.sum(shares**2, axis=1, keepdims=True)
    return distance / 2 if shares.shape[1] == 2 else distance


fast_path("cross_entropy", response="probabilities")(
    _posterior_loss(log_loss_statistic, log_losses, _entropy_of_best)
)
fast_path("brier_score", response="probabilities")(
    _posterior_loss(brier_statistic, squared_distances, _brier_of_best)
)


def _skill(loss: Callable[..., Any], best: Callable[..., Any]) -> Factory:
    """Factory of the share of the loss of the class shares that the predictions save."""

    def factory(
        request: Request, *, labels: ArrayLike | None = None, pos_label: Any = None
    ) -> ClassCosts:
        return ClassCosts(
            request.name,
            loss,
            best,
            labels=request.columns(labels),
            relative=True,
            skill=True,
            greater_is_better=True,
            bounds=(-np.inf, 1.0),
            pos_label=request.pos_label if pos_label is None else pos_label,
        )

    return factory


fast_path("d2_log_loss_score", response="probabilities")(_skill(log_losses, _entropy_of_best))
fast_path("d2_brier_score", response="probabilities")(_skill(squared_distances, _brier_of_best))
