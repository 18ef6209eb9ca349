"""Expected cost of decisions, and cross entropy and Brier score of posteriors.

* `expected_cost`: hard decisions, any cost of any error, any class priors;
* `cross_entropy`, `brier_score`: posteriors, likewise with priors and relative to the best
  posterior that ignores the input;
* `bayes_decisions`: from posteriors to the decisions of least expected cost, so that posteriors
  can be judged by cost.

With priors, or relative to the best answer that ignores the input, these metrics need the weight
and the loss of each class (`ClassCosts`). Without either they are means of rows.

References
----------
Ferrer, L. (2022). Analysis and comparison of classification metrics. arXiv:2209.05355.
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

from .._base.checks import (
    OF_MISSING_PREDICTIONS,
    arguments_named,
    category_order,
    check_column,
    check_flag,
    check_integers,
    check_labels,
    check_rows,
    check_same_length,
    check_weights,
    converted,
    fail,
    numbered_labels,
)
from .._base.doors import door
from ._tuning import DENSE_CLASSES, FEW_VALUES
from .cells import Cells, check_among, check_same_kind, encode, known_labels, label_counts
from .means import (
    RowMean,
    SumsStatistic,
    accuracy,
    all_columns,
    brier_statistic,
    classes_of,
    entropy,
    gini,
    log_loss_statistic,
    log_losses,
    oriented,
    squared_distances,
)
from .statistic import (
    Columns,
    Factory,
    Facts,
    Floats,
    MetricRequest,
    ReducedData,
    Response,
    Sketch,
    Statistic,
    fast_path,
)


@door("expected_cost")
def expected_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    costs: ArrayLike | None = None,
    priors: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    relative: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average cost of hard decisions.

    The error rate by default. ``costs`` weigh each kind of error, and ``priors`` are the
    frequencies of the classes where the system will be used.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_pred : array-like of shape (n_samples,)
        Decisions: labels.
    costs : array-like of shape (n_classes, n_classes), optional
        ``costs[i][j]`` is the cost of deciding j when the truth is i, in the order of ``labels``.
        1 for each error by default.
    priors : array-like of shape (n_classes,), optional
        Probability of each class where the system will be used; by default the shares of the
        classes in ``y_true``.
    labels : array-like of shape (n_classes,), optional
        All labels; by default those of ``y_true`` and ``y_pred``, sorted.
    relative : bool, default=False
        Divide by the cost of the best decision that ignores the input; 1 is then useless.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Smaller is better.

    Raises
    ------
    ValueError
        If a class with a prior has no row, or ``relative=True`` and a decision without input is
        free of cost.

    References
    ----------
    Ferrer (2022), arXiv:2209.05355, equations 2 (expected cost), 8 (class-conditional) and 10
    (normalised).

    Examples
    --------
    >>> from skboot.metrics import expected_cost
    >>> y_true = ["ham", "ham", "ham", "spam"]
    >>> y_pred = ["ham", "ham", "spam", "spam"]
    >>> expected_cost(y_true, y_pred)
    0.25
    >>> expected_cost(y_true, y_pred, costs=[[0, 5], [1, 0]])  # a lost mail costs 5
    1.25
    >>> expected_cost(y_true, y_pred, relative=True)
    1.0
    """
    truth, decision = label_column("y_true", y_true), label_column("y_pred", y_pred)
    truth, decision = check_integers("y_pred", truth, decision)
    weights = check_weights(sample_weight)
    check_same_length(y_true=truth, y_pred=decision, sample_weight=weights)
    all_labels = _labels_of(labels, truth, decision)
    matrix = check_costs(costs, len(all_labels))
    classes = _positions("y_true", truth, all_labels)
    chosen = _positions("y_pred", decision, all_labels)
    shares, mean = _class_means(matrix[classes, chosen], classes, all_labels, priors, weights)
    return relative_cost(mean, relative, float((shares @ matrix).min()))


@door("cross_entropy")
def cross_entropy(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    priors: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    relative: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average negative logarithm of the probability given to the truth, in nats.

    `sklearn.metrics.log_loss`, with the options of `expected_cost`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_prob : array-like of shape (n_samples, n_classes) or (n_samples,)
        Probability of each class, in the order of ``labels``; or of the second of two classes.
    priors : array-like of shape (n_classes,), optional
        Probability of each class where the system will be used; by default the shares of the
        classes in ``y_true``.
    labels : array-like of shape (n_classes,), optional
        All labels, in the order of the columns; by default those of ``y_true``, sorted.
    relative : bool, default=False
        Divide by the entropy of the classes, the cross entropy of the best posterior that ignores
        the input; 1 is then useless.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Smaller is better.

    Raises
    ------
    ValueError
        If the columns do not fit the labels, a class with a prior has no row, or
        ``relative=True`` with a single class.

    References
    ----------
    Ferrer (2022), arXiv:2209.05355, section 4 (cross entropy and its normalisation).

    Examples
    --------
    >>> from skboot.metrics import cross_entropy
    >>> y_true = ["ham", "ham", "ham", "spam"]
    >>> y_prob = [[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.3, 0.7]]
    >>> round(cross_entropy(y_true, y_prob), 3)
    0.299
    >>> round(cross_entropy(y_true, y_prob, relative=True), 3)
    0.532
    """
    classes, prob, all_labels, weights = posteriors_of(y_true, y_prob, labels, sample_weight)
    loss = log_losses(classes, prob)
    shares, mean = _class_means(loss, classes, all_labels, priors, weights)
    return relative_cost(mean, relative, float(entropy(shares)))


@door("brier_score")
def brier_score(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    priors: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    relative: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average squared distance of the probabilities from the truth.

    `sklearn.metrics.brier_score_loss`, with the options of `expected_cost`; for two classes it is
    halved, as is usual, and lies in [0, 1], for more classes in [0, 2].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_prob : array-like of shape (n_samples, n_classes) or (n_samples,)
        Probability of each class, in the order of ``labels``; or of the second of two classes.
    priors : array-like of shape (n_classes,), optional
        Probability of each class where the system will be used; by default the shares of the
        classes in ``y_true``.
    labels : array-like of shape (n_classes,), optional
        All labels, in the order of the columns; by default those of ``y_true``, sorted.
    relative : bool, default=False
        Divide by the score of the best posterior that ignores the input; 1 is then useless.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Smaller is better.

    Raises
    ------
    ValueError
        If the columns do not fit the labels, a class with a prior has no row, or
        ``relative=True`` with a single class.

    References
    ----------
    Brier, G. W. (1950). Verification of forecasts expressed in terms of probability. Monthly
    Weather Review 78, 1-3.
    Ferrer (2022), arXiv:2209.05355, section 4 (normalisation).

    Examples
    --------
    >>> from skboot.metrics import brier_score
    >>> y_true = ["ham", "ham", "ham", "spam"]
    >>> y_prob = [[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.3, 0.7]]
    >>> round(brier_score(y_true, y_prob), 3)
    0.075
    >>> round(brier_score(y_true, y_prob, relative=True), 3)
    0.4
    """
    classes, prob, all_labels, weights = posteriors_of(y_true, y_prob, labels, sample_weight)
    loss = squared_distances(classes, prob)
    shares, mean = _class_means(loss, classes, all_labels, priors, weights)
    return relative_cost(mean, relative, float(gini(shares)))


@door("bayes_decisions")
def bayes_decisions(
    y_prob: ArrayLike, *, costs: ArrayLike | None = None, labels: ArrayLike | None = None
) -> NDArray[Any]:
    """Decide for the least expected cost under the given posteriors (Bayes decisions).

    Parameters
    ----------
    y_prob : array-like of shape (n_samples, n_classes) or (n_samples,)
        Probability of each class, in the order of ``labels``; or of the second of two classes.
    costs : array-like of shape (n_classes, n_classes), optional
        ``costs[i][j]`` is the cost of deciding j when the truth is i; 1 for each error by
        default, so that the most probable class is chosen.
    labels : array-like of shape (n_classes,), optional
        Label of each class; 0 to n_classes - 1 by default.

    Returns
    -------
    ndarray of shape (n_samples,)
        Labels; the first of several equally good ones.

    Raises
    ------
    ValueError
        If the columns, the labels and the costs do not fit.

    References
    ----------
    Ferrer (2022), arXiv:2209.05355, equation 4 (Bayes decisions).

    Examples
    --------
    >>> from skboot.metrics import bayes_decisions
    >>> y_prob = [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]]
    >>> bayes_decisions(y_prob)
    array([0, 0, 1])
    >>> bayes_decisions(y_prob, costs=[[0, 1], [5, 0]])  # missing class 1 costs 5
    array([0, 1, 1])
    """
    prob = _probability_columns(y_prob)
    checked = check_labels(labels, None)
    all_labels = np.arange(prob.shape[1]) if checked is None else checked
    _check_columns(prob, all_labels)
    return all_labels[(prob @ check_costs(costs, len(all_labels))).argmin(axis=1)]


# ------------------------------------------------------------------ checked arguments


def check_costs(costs: ArrayLike | None, n_classes: int) -> Floats:
    """Cost matrix (n_classes, n_classes) as float64; that of the total error by default."""
    if costs is None:
        return 1.0 - np.eye(n_classes)
    matrix = numbers("costs", costs)
    if matrix.shape != (n_classes, n_classes) or not np.isfinite(matrix).all():
        must = f"be finite and of shape (n_classes, n_classes), here ({n_classes}, {n_classes})"
        advice = "costs[i][j] is the cost of deciding j when the truth is i, in order of labels."
        raise fail("costs", must, f"an array of shape {matrix.shape}", advice)
    return matrix


def check_priors(priors: ArrayLike | None, n_classes: int) -> Floats | None:
    """Class priors (n_classes,) as float64, if given."""
    if priors is None:
        return None
    shares = numbers(
        "priors", priors, f"For equal priors give priors=[1 / {n_classes}] * {n_classes}."
    )
    proper = shares.shape == (n_classes,) and np.all(shares >= 0)
    if not proper or abs(shares.sum() - 1) > 1e-6:
        must = f"hold one probability for each of {n_classes} classes, with sum 1"
        raise fail("priors", must, repr(priors))
    return shares


def numbers(name: str, values: ArrayLike, advice: str = "") -> Floats:
    """The values as float64, if they are numbers."""
    if isinstance(values, str):
        raise fail(name, "hold numbers", repr(values), advice)
    array = converted(name, values)
    if array.dtype.kind not in "biuf":
        raise fail(name, "hold numbers", f"an array of {array.dtype}", advice)
    return array.astype(np.float64)


def label_column(name: str, values: ArrayLike) -> NDArray[Any]:
    """One label or score for each row."""
    column = check_column(name, values)
    if column.dtype.kind == "O":
        numbered_labels(name, column)
    return column


def real_numbers(name: str, values: ArrayLike) -> NDArray[Any]:
    """Real numbers in single or double precision."""
    array = check_rows(name, values, OF_MISSING_PREDICTIONS)
    if array.dtype.kind not in "biuf":
        raise fail(name, "hold numbers", f"an array of {array.dtype}")
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _probability_columns(y_prob: ArrayLike) -> NDArray[Any]:
    prob = real_numbers("y_prob", y_prob)
    if prob.min() < 0 or prob.max() > 1:
        got = f"values from {prob.min():g} to {prob.max():g}"
        raise fail("y_prob", "hold probabilities in [0, 1]", got)
    return all_columns(prob)


def _check_columns(prob: NDArray[Any], all_labels: NDArray[Any]) -> None:
    if prob.shape[1] != len(all_labels):
        must = f"have one column for each of the {len(all_labels)} labels {all_labels.tolist()}"
        advice = "Give all labels, in the order of the columns, as labels=."
        raise fail("y_prob", must, f"{prob.shape[1]} columns", advice)


def posteriors_of(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> tuple[NDArray[np.intp], NDArray[Any], NDArray[Any], Floats | None]:
    """Class of each row, (n_samples,), probabilities of all classes, labels, and weights."""
    truth = label_column("y_true", y_true)
    prob, weights = _probability_columns(y_prob), check_weights(sample_weight)
    check_same_length(y_true=truth, y_prob=prob, sample_weight=weights)
    all_labels = _labels_of(labels, truth)
    _check_columns(prob, all_labels)
    return _positions("y_true", truth, all_labels), prob, all_labels, weights


def _labels_of(labels: ArrayLike | None, *arrays: NDArray[Any]) -> NDArray[Any]:
    all_labels = check_labels(labels, arrays[0])
    if all_labels is not None:
        return all_labels
    for array in arrays[1:]:
        check_same_kind("y_pred", arrays[0], array)
    return labels_in_order(*arrays)


def labels_in_order(*columns: NDArray[Any]) -> NDArray[Any]:
    """Labels that occur, sorted, or in the order of the categories of the first column."""
    order = category_order(*columns)
    occurring = np.unique(np.concatenate([np.unique(column) for column in columns]))
    return occurring if order is None or len(order) < len(occurring) else order


def _positions(name: str, y: NDArray[Any], all_labels: NDArray[Any]) -> NDArray[np.intp]:
    """Position of each label among all labels, (n_samples,)."""
    position = encode(y, all_labels)
    if np.any(position < 0):
        unknown = np.unique(y[position < 0]).tolist()
        must = f"hold labels among {all_labels.tolist()}"
        raise fail(name, must, f"also {unknown}", "Give all labels as labels=.")
    return position


def _class_means(
    loss: NDArray[Any],
    classes: NDArray[np.intp],
    all_labels: NDArray[Any],
    priors: ArrayLike | None,
    sample_weight: Floats | None,
) -> tuple[Floats, float]:
    """Share of each class, and the mean loss under these shares."""
    weights = np.ones(len(loss)) if sample_weight is None else sample_weight
    weight = np.bincount(classes, weights, len(all_labels))
    total = np.bincount(classes, weights * loss, len(all_labels))
    prior_shares = check_priors(priors, len(all_labels))
    if prior_shares is None:
        return weight / weight.sum(), float(total.sum() / weight.sum())
    missing = (weight == 0) & (prior_shares > 0)
    if missing.any():
        must = "hold rows of each class that has a prior"
        advice = "Give classes without rows the prior 0."
        raise fail("y_true", must, f"none of {all_labels[missing].tolist()}", advice)
    is_in_use = prior_shares > 0
    return prior_shares, float(
        np.sum(prior_shares[is_in_use] * total[is_in_use] / weight[is_in_use])
    )


def relative_cost(mean: float, relative: bool, reference: float) -> float:
    """The mean, or divided by the reference if ``relative``."""
    if not check_flag("relative", relative):
        return mean
    if reference == 0:
        must = "be False where the best answer that ignores the input is free of loss"
        raise fail("relative", must, "True", "There is no loss to divide by.")
    return mean / reference


# ------------------------------------------------------------------ statistics


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

    def __post_init__(self) -> None:
        n_labels = len(self.labels) if self.labels is not None else 0
        sketches: dict[str, Sketch] = {"labels": "cells", "probabilities": "sums"}
        self.set_facts(
            # Scores or probabilities in one column are those of the greater label.
            greater_is_positive=self.response != "labels",
            sketch=sketches.get(self.response, ""),
            # Weight and loss of each class.
            n_sums=2 * n_labels,
            lacks_labels=self.response == "probabilities" and self.labels is None,
        )

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
                # Cells of one class and loss share a code, numbered by falling count.
                pairs = np.column_stack((classes, loss))
                distinct, number_of_cell = np.unique(pairs, axis=0, return_inverse=True)
                number_of_cell = number_of_cell.reshape(-1)
                order = np.argsort(-np.bincount(number_of_cell, cells.counts), kind="stable")
                number = np.empty(len(order), dtype=np.min_scalar_type(len(order)))
                number[order] = np.arange(len(order))
                code = cells.rows(number[number_of_cell])
                classes, loss = distinct[order, 0].astype(np.intp), distinct[order, 1]
            else:
                classes, loss = cells.rows(classes), cells.rows(loss)
        else:
            column_labels, prob = oriented(y_pred, self.labels, self.pos_label)
            # Priors are in the order of the labels.
            prob = prob if column_labels is self.labels else prob[:, ::-1]
            n_classes = prob.shape[1]
            classes = classes_of(y_true, self.labels, n_classes)
            loss = self.loss(classes, prob).astype(np.float64)
        weights = np.ones(len(classes)) if sample_weight is None else sample_weight
        terms = sums_by_class(classes, loss, weights, n_classes)
        return ReducedData(code, len(classes), terms, self._priors(n_classes))

    def _priors(self, n_classes: int) -> Mapping[str, Floats | None]:
        """Return the priors, checked, which the formula reads beside sums."""
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
        """Facts of any metric; losses under priors are means within classes, of these sizes."""
        facts = super().facts(reduced, rows, members)
        priors = reduced.data["priors"]
        if priors is None or self.of_decisions or reduced.coded is not None:
            return facts
        weights = reduced.terms[:, : len(priors)]
        sizes: NDArray[np.int64] = np.asarray((weights != 0).sum(axis=0)).ravel()[priors > 0]
        if len(sizes) == 2:
            return replace(facts, row_mean=True, smaller_class=int(sizes.min()))
        return replace(facts, row_mean=True, class_sizes=sizes)

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
    request: MetricRequest,
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
            bounds=_range_of_costs(costs, relative),
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
        bounds=_range_of_costs(costs, relative),
    )


def _range_of_costs(costs: ArrayLike | None, relative: bool) -> tuple[float, float]:
    """Range of a mean cost, or of its ratio to the cost of the best answer without input."""
    if costs is None:
        return (0.0, np.inf if relative else 1.0)
    matrix = numbers("costs", costs)
    least, greatest = float(matrix.min()), float(matrix.max())
    if relative:
        return (-np.inf if least < 0 else 0.0, np.inf)
    return least, greatest


def _posterior_loss(
    request: MetricRequest,
    *,
    mean_of_rows: Callable[..., Statistic],
    loss: Callable[..., Any],
    best: Callable[..., Any],
    priors: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    relative: bool = False,
) -> Statistic:
    """A loss as a mean of rows where it is one, else from the sums of each class."""
    name, all_labels, pos_label = request.name, _all_labels(request, labels), request.pos_label
    if priors is None and not relative:
        return mean_of_rows(name, all_labels, pos_label=pos_label)
    class_options = {"priors": priors, "labels": all_labels, "pos_label": pos_label}
    return ClassCosts(name, loss, best, relative=relative, **class_options)


def _all_labels(request: MetricRequest, labels: ArrayLike | None) -> NDArray[Any] | None:
    """All labels, in the order that the caller gave them, or in that of the categories."""
    order = request.labels if labels is None else labels
    order = request.order if order is None else order
    return None if order is None else np.asarray(order)


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
        distinct, number_of_cell = np.unique(costs, return_inverse=True)
        if sample_weight is not None or len(distinct) > FEW_VALUES:
            return self.of_values(cells.rows(costs), sample_weight)
        code = cells.rows(number_of_cell.astype(np.min_scalar_type(len(distinct))))
        counts = np.bincount(number_of_cell, cells.counts).astype(np.int64)
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
    all_labels = decision_labels(y_true, y_pred, labels)
    for name, y in (("y_true", y_true), ("y_pred", y_pred)):
        check_among(name, label_counts(y)[0], all_labels)
    return all_labels


def sums_by_class(classes: NDArray[np.intp], loss: Floats, weights: Floats, n_classes: int) -> Any:
    """Terms (n_codes, 2 n_classes): weights, then weighted losses, in the column of the class."""
    rows = np.arange(len(classes))
    values = np.concatenate((weights, weights * loss))
    where = (np.concatenate((rows, rows)), np.concatenate((classes, n_classes + classes)))
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
    partial(
        _posterior_loss,
        mean_of_rows=log_loss_statistic,
        loss=log_losses,
        best=_entropy_of_best,
    )
)
fast_path("brier_score", response="probabilities")(
    partial(
        _posterior_loss,
        mean_of_rows=brier_statistic,
        loss=squared_distances,
        best=_brier_of_best,
    )
)


def _skill(loss: Callable[..., Any], best: Callable[..., Any]) -> Factory:
    """Factory of the share of the loss of the class shares that the predictions save."""
    return lambda request, *, labels=None, pos_label=None: ClassCosts(
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


fast_path("d2_log_loss_score", response="probabilities")(_skill(log_losses, _entropy_of_best))
fast_path("d2_brier_score", response="probabilities")(_skill(squared_distances, _brier_of_best))
