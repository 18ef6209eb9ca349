"""Metric functions that scikit-learn lacks, to call or to give as ``metric=`` and ``scoring=``.

* `expected_cost`: hard decisions, any cost of any error, any class priors;
* `cross_entropy`, `brier_score`: posteriors, likewise with priors and relative to the best
  posterior that ignores the input;
* `bayes_decisions`: from posteriors to the decisions of least expected cost, so that posteriors
  can be judged by cost;
* `equal_error_rate`, `false_positive_rate_at`: one operating point of a detector;
* `get_scorer`: the same as scorers, for scikit-learn.

How they are resampled is in `cost_statistics` and `crossing`.

References
----------
Ferrer, L. (2022). Analysis and comparison of classification metrics. arXiv:2209.05355.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.arrays import category_order
from .._base.checks import (
    check_column,
    check_flag,
    check_integers,
    check_labels,
    check_rows,
    check_same_length,
    check_weights,
    converted,
    fail,
    is_among,
    numbered_labels,
)
from .._base.doors import door
from .cells import encode
from .posteriors import all_columns, entropy, gini, log_losses, squared_distances

Floats = NDArray[np.float64]
SAME_KIND = "Convert one of them: as text by numpy.asarray(y).astype(str)."


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
    given = check_labels(labels, None)
    all_labels = np.arange(prob.shape[1]) if given is None else given
    _check_columns(prob, all_labels)
    return all_labels[(prob @ check_costs(costs, len(all_labels))).argmin(axis=1)]


@door("equal_error_rate")
def equal_error_rate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Error rate of a detector at the threshold where both kinds of error are equally frequent.

    The rates of false negatives and false positives are equal there. They are taken at the
    operating points of all thresholds (equal scores move together), with linear interpolation
    between the two neighbouring points.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Scores, larger for the positive class.
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Smaller is better; 0.5 is useless.

    Raises
    ------
    ValueError
        If there are not exactly two classes.

    References
    ----------
    Brummer, N. and de Villiers, E. (2011). The BOSARIS toolkit. arXiv:1304.2865. (There the
    points are first replaced by their convex hull; here they are taken as they are.)

    Examples
    --------
    >>> from skboot.metrics import equal_error_rate
    >>> equal_error_rate([0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.5, 0.9])
    0.333...
    """
    false_positives, false_negatives = error_rates(y_true, y_score, pos_label, sample_weight)
    gap = false_negatives - false_positives
    end = int(np.argmax(gap <= 0))
    # The gap is 1 at the first point, so that `end` is at least 1.
    share = gap[end - 1] / (gap[end - 1] - gap[end])
    return float(
        false_positives[end - 1] + share * (false_positives[end] - false_positives[end - 1])
    )


@door("false_positive_rate_at")
def false_positive_rate_at(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    false_negative_rate: float,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Smallest false-positive rate of a detector with at most the given false-negative rate.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Scores, larger for the positive class.
    false_negative_rate : float
        Largest share of the positives that may be missed, in [0, 1].
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        False-positive rate of an attained threshold; there is no interpolation.

    Raises
    ------
    ValueError
        If there are not exactly two classes.

    Examples
    --------
    >>> from skboot.metrics import false_positive_rate_at
    >>> y_true, y_score = [0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.5, 0.9]
    >>> false_positive_rate_at(y_true, y_score, false_negative_rate=0.5)
    0.0
    >>> false_positive_rate_at(y_true, y_score, false_negative_rate=0.1)
    0.333...
    """
    rate: Any = false_negative_rate
    if not (isinstance(rate, Real) and 0 <= float(rate) <= 1):
        raise fail("false_negative_rate", "be in [0, 1]", repr(false_negative_rate))
    false_positives, false_negatives = error_rates(y_true, y_score, pos_label, sample_weight)
    return float(false_positives[np.argmax(false_negatives <= false_negative_rate)])


# The statistics of `cost_statistics`, and the metrics of `detection`, share what follows.


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


def _real(name: str, values: ArrayLike) -> NDArray[Any]:
    """Real numbers in single or double precision."""
    array = check_rows(name, values)
    if array.dtype.kind not in "biuf":
        raise fail(name, "hold numbers", f"an array of {array.dtype}")
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _probability_columns(y_prob: ArrayLike) -> NDArray[Any]:
    prob = _real("y_prob", y_prob)
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


def check_same_kind(name: str, truth: NDArray[Any], other: NDArray[Any]) -> None:
    """Refuse labels that cannot be those of the truth, such as text beside numbers."""
    own, found = (
        "numbers" if array.dtype.kind in "biuf" else array.dtype.name for array in (truth, other)
    )
    if own.rstrip("0123456789") != found.rstrip("0123456789"):
        must = f"hold labels of the same kind as y_true, here {own}"
        raise fail(name, must, found, SAME_KIND)


def _positions(name: str, y: NDArray[Any], all_labels: NDArray[Any]) -> NDArray[np.intp]:
    """Position of each label among all labels, (n_samples,)."""
    position = encode(y, all_labels)
    if np.any(position < 0):
        others = np.unique(y[position < 0]).tolist()
        must = f"hold labels among {all_labels.tolist()}"
        raise fail(name, must, f"also {others}", "Give all labels as labels=.")
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
    given = check_priors(priors, len(all_labels))
    if given is None:
        return weight / weight.sum(), float(total.sum() / weight.sum())
    missing = (weight == 0) & (given > 0)
    if missing.any():
        must = "hold rows of each class that has a prior"
        advice = "Give classes without rows the prior 0."
        raise fail("y_true", must, f"none of {all_labels[missing].tolist()}", advice)
    used = given > 0
    return given, float(np.sum(given[used] * total[used] / weight[used]))


def relative_cost(mean: float, relative: bool, reference: float) -> float:
    """The mean, or divided by the reference if ``relative``."""
    if not check_flag("relative", relative):
        return mean
    if reference == 0:
        must = "be False where the best answer that ignores the input is free of loss"
        raise fail("relative", must, "True", "There is no loss to divide by.")
    return mean / reference


def detected(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: Any,
    sample_weight: ArrayLike | None,
) -> tuple[NDArray[np.bool_], NDArray[Any], Floats]:
    """Which rows are positive, their scores and their weights, (n_samples,) each, checked."""
    truth, score = label_column("y_true", y_true), _real("y_score", y_score)
    if score.ndim != 1:
        raise fail("y_score", "be of shape (n_samples,)", f"shape {score.shape}")
    given = check_weights(sample_weight)
    check_same_length(y_true=truth, y_score=score, sample_weight=given)
    all_labels = labels_in_order(truth)
    if len(all_labels) != 2:
        raise fail("y_true", "hold two classes", f"the labels {all_labels.tolist()}")
    if pos_label is not None and not is_among(pos_label, all_labels.tolist()):
        raise fail("pos_label", f"be one of {all_labels.tolist()}", repr(pos_label))
    positive = truth == (all_labels[1] if pos_label is None else pos_label)
    weights = np.ones(len(score)) if given is None else given
    if not (weights[positive].any() and weights[~positive].any()):
        raise fail("sample_weight", "be positive for rows of both classes", "zeros")
    return positive, score, weights


def error_rates(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: Any,
    sample_weight: ArrayLike | None,
) -> tuple[Floats, Floats]:
    """Rates of false positives and false negatives at every threshold, the strictest first."""
    positive, score, weights = detected(y_true, y_score, pos_label, sample_weight)
    order = np.argsort(-score, kind="stable")
    last_of_tie = np.flatnonzero(np.diff(score[order], append=np.inf))
    accepted = [
        np.r_[0.0, np.cumsum(np.where(side, weights, 0.0)[order])[last_of_tie]]
        for side in (~positive, positive)
    ]
    false_positives = accepted[0] / accepted[0][-1]
    # Counts first: 1 - hits / positives would miss a rate such as 0.29 by a rounding.
    false_negatives = (accepted[1][-1] - accepted[1]) / accepted[1][-1]
    return false_positives, false_negatives
