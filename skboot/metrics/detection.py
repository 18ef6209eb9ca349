"""Costs of the decisions of detectors, by their scores or log-likelihood ratios.

* `cllr`: how good log-likelihood ratios are at all thresholds;
* `actual_detection_cost`, `minimum_detection_cost`: what decisions cost at the threshold that
  log-likelihood ratios imply, and at the best one.

The first two are means of losses of the two classes under priors (`DetectionLoss`), the third is
the smallest cost over all thresholds, from running sums (`MinimumDetectionCost`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import fail
from .._base.doors import door
from .costs import (
    ClassCosts,
    check_costs,
    check_priors,
    cost_of_best,
    relative_cost,
    sums_by_class,
)
from .crossing import detected, error_rates
from .ranking import positive_rows, positive_scores, score_codes
from .statistic import (
    Columns,
    Facts,
    Floats,
    MetricRequest,
    ReadableBlock,
    ReducedData,
    Response,
    Statistic,
    fast_path,
)

__all__ = [
    "actual_detection_cost",
    "cllr",
    "minimum_detection_cost",
]


@door("cllr")
def cllr(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Cost of log-likelihood ratios, averaged over all thresholds, in bits.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Natural logarithms of likelihood ratios, of the positive class over the other.
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Smaller is better; 1 for ratios that are always 1, which are uninformative.

    Raises
    ------
    ValueError
        If there are not exactly two classes.

    Notes
    -----
    Half of the mean of log2(1 + exp(-s)) over the positives plus half of that of log2(1 + exp(s))
    over the negatives, whatever the shares of the two.

    References
    ----------
    Brummer & du Preez (2006), Computer Speech and Language 20, 230-275, equation 10.

    Examples
    --------
    >>> from skboot.metrics import cllr
    >>> round(cllr([0, 0, 0, 1, 1], [-3.0, -2.0, 0.5, 1.0, 4.0]), 3)
    0.396
    >>> cllr([0, 0, 0, 1, 1], [0, 0, 0, 0, 0])
    1.0
    """
    positive, score, weights = detected(y_true, y_score, pos_label, sample_weight)
    loss = llr_losses(positive.astype(np.intp), score)
    means = (np.average(loss[side], weights=weights[side]) for side in (~positive, positive))
    return float(sum(means)) / 2


@door("actual_detection_cost")
def actual_detection_cost(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    priors: ArrayLike,
    costs: ArrayLike | None = None,
    relative: bool = False,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Expected cost of the decisions that log-likelihood ratios imply.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Natural logarithms of likelihood ratios, of the positive class over the other.
    priors : array-like of shape (2,)
        Probability of the negatives and of the positives where the detector will be used.
    costs : array-like of shape (2, 2), optional
        ``costs[i][j]`` is the cost of deciding j when the truth is i, negatives first; 1 for each
        error by default.
    relative : bool, default=False
        Divide by the cost of the best decision that ignores the input; 1 is then useless.
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Smaller is better. The excess over `minimum_detection_cost` is the cost of miscalibration.

    Raises
    ------
    ValueError
        If there are not exactly two classes, or priors and costs do not fit.

    References
    ----------
    Brummer & du Preez (2006), Computer Speech and Language 20, 230-275, section 3.

    Examples
    --------
    >>> from skboot.metrics import actual_detection_cost
    >>> y_true, llr = [0, 0, 0, 1, 1], [-3.0, -2.0, 0.5, 1.0, 4.0]
    >>> actual_detection_cost(y_true, llr, priors=[0.9, 0.1], relative=True)
    0.5
    """
    positive, score, weights = detected(y_true, y_score, pos_label, sample_weight)
    matrix, shares = check_application(costs, priors)
    cost = application_costs(positive.astype(np.intp), score, costs=matrix, priors=shares)
    means = [np.average(cost[side], weights=weights[side]) for side in (~positive, positive)]
    return relative_cost(float(shares @ means), relative, float((shares @ matrix).min()))


@door("minimum_detection_cost")
def minimum_detection_cost(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    priors: ArrayLike,
    costs: ArrayLike | None = None,
    relative: bool = False,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Expected cost of decisions at the threshold that is best on these rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Scores, larger for the positive class.
    priors : array-like of shape (2,)
        Probability of the negatives and of the positives where the detector will be used.
    costs : array-like of shape (2, 2), optional
        ``costs[i][j]`` is the cost of deciding j when the truth is i, negatives first; 1 for each
        error by default.
    relative : bool, default=False
        Divide by the cost of the best decision that ignores the input; 1 is then useless.
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Smaller is better. It is optimistic, because the threshold was chosen on these rows; the
        interval of `skboot.bootstrap_score` corrects for a part of that, as its warning says.

    Raises
    ------
    ValueError
        If there are not exactly two classes, or priors and costs do not fit.

    Examples
    --------
    >>> from skboot.metrics import minimum_detection_cost
    >>> y_true, score = [0, 0, 0, 1, 1], [-3.0, -2.0, 2.5, 1.0, 4.0]
    >>> round(minimum_detection_cost(y_true, score, priors=[0.5, 0.5]), 4)
    0.1667
    """
    columns = (y_true, y_score, pos_label, sample_weight)
    false_positives, false_negatives = error_rates(*columns)
    matrix, shares = check_application(costs, priors)
    negative_costs = matrix[0, 0] + (matrix[0, 1] - matrix[0, 0]) * false_positives
    positive_costs = matrix[1, 1] + (matrix[1, 0] - matrix[1, 1]) * false_negatives
    least = float((shares[0] * negative_costs + shares[1] * positive_costs).min())
    return relative_cost(least, relative, float((shares @ matrix).min()))


def check_application(costs: ArrayLike | None, priors: ArrayLike) -> tuple[Floats, Floats]:
    """Costs (2, 2) and priors (2,) under which right decisions are cheaper than wrong ones."""
    shares = check_priors(priors, 2)
    if shares is None:
        advice = "They are those where the detector is used: priors=[0.99, 0.01]."
        raise fail("priors", "be given", "None", advice)
    matrix = check_costs(costs, 2)
    if not (matrix[0, 1] > matrix[0, 0] and matrix[1, 0] > matrix[1, 1]):
        must = "make each error cost more than the right decision"
        raise fail("costs", must, f"{matrix.tolist()}")
    return matrix, shares


def llr_losses(classes: NDArray[np.intp], score: NDArray[Any]) -> Floats:
    """Logarithmic loss of log-likelihood ratios at even priors, in bits, (n_samples,)."""
    sign = np.where(classes == 1, -1.0, 1.0)
    return np.asarray(np.logaddexp(0.0, sign * score) / np.log(2.0))


def application_costs(
    classes: NDArray[np.intp], score: NDArray[Any], *, costs: Floats, priors: Floats
) -> Floats:
    """Cost of the decision that each log-likelihood ratio implies, (n_samples,)."""
    # The log-likelihood ratio from which on a positive decision costs less.
    with np.errstate(divide="ignore"):
        error_logs = np.log(priors) + np.log([costs[0, 1] - costs[0, 0], costs[1, 0] - costs[1, 1]])
    accepted = score >= float(error_logs[0] - error_logs[1])
    return np.asarray(costs[classes, accepted.astype(np.intp)])


# ------------------------------------------------------------------ statistics


class DetectionLoss(ClassCosts):
    """Mean loss of scores of two classes under priors, negatives first."""

    columns_suffice = False
    takes_ratios = True

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Terms: weight of each class, weighted loss of each class."""
        assert y_true is not None
        classes = positive_rows(y_true, self.pos_label).astype(np.intp)
        score = positive_scores(y_pred, self.labels, self.pos_label)
        loss = self.loss(classes, score).astype(np.float64)
        weights = np.ones(len(classes)) if sample_weight is None else sample_weight
        data = {"priors": np.asarray(self.priors, dtype=np.float64)}
        terms = sums_by_class(classes, loss, weights, 2)
        return ReducedData(None, len(classes), terms, MappingProxyType(data))


fast_path("cllr", response="scores")(
    lambda request, *, pos_label=None: DetectionLoss(
        request.name,
        llr_losses,
        np.ones_like,
        response="scores",
        priors=(0.5, 0.5),
        labels=request.columns(None),
        pos_label=pos_label,
    )
)


@fast_path("actual_detection_cost", response="scores")
def _actual_detection_cost(
    request: MetricRequest,
    *,
    priors: ArrayLike,
    costs: ArrayLike | None = None,
    relative: bool = False,
    pos_label: Any = None,
) -> DetectionLoss:
    matrix, shares = check_application(costs, priors)
    return DetectionLoss(
        request.name,
        partial(application_costs, costs=matrix, priors=shares),
        partial(cost_of_best, costs=matrix),
        response="scores",
        priors=shares,
        labels=request.columns(None),
        relative=relative,
        pos_label=pos_label,
        of_decisions=True,
        bounds=(float(matrix.min()) if not relative else 0.0, np.inf),
    )


@dataclass(frozen=True, eq=False)
class MinimumDetectionCost(Statistic):
    """Smallest expected cost of the decisions at any threshold.

    Parameters
    ----------
    name : str
        How results call it.
    costs : ndarray of shape (2, 2)
        ``costs[i][j]``: truth i, decision j, negatives first.
    priors : ndarray of shape (2,)
        Priors of negatives and positives.
    relative : bool
        Whether to divide by the cost of the best decision that ignores the input.
    pos_label : label, optional
        The positive class; None: the larger label.
    response : {"scores", "probabilities"}
        What predictions it takes.
    labels : array-like of shape (2,), optional
        Label of each column; by default they rise.

    Notes
    -----
    A minimum over thresholds is lower than the cost of the best threshold, because it is found on
    the same rows, and lower still on resamples of them. NaN where a class is absent.
    """

    name: str
    costs: Floats
    priors: Floats
    relative: bool = False
    pos_label: Any = None
    response: Response = "scores"
    labels: Any = None
    greater_is_better: bool | None = False
    reads = "running"
    greater_is_positive = True
    columns_suffice = False
    of_order = True

    @property
    def bounds(self) -> tuple[float, float]:  # type: ignore[override]
        """From no cost to that of ignoring the input."""
        most = float((self.priors @ self.costs).min())
        least = float(min(0.0, self.costs.min()))
        return (least / most, 1.0) if self.relative and most > 0 else (least, most)

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Number rows in rising order of scores; terms are negatives and positives."""
        assert y_true is not None
        positive = positive_rows(y_true, self.pos_label)
        score = positive_scores(y_pred, self.labels, self.pos_label)
        codes = score_codes(positive, score, merge=sample_weight is None)
        terms = np.column_stack((~codes.positive, codes.positive)).astype(np.float64)
        if sample_weight is not None:
            terms = terms * sample_weight[codes.row_of_code][:, None]
        data = MappingProxyType({"ends": codes.ends})
        return ReducedData(codes.code, len(codes.row_of_code), terms, data)

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Smallest cost over the operating points; before the first all rows are accepted."""
        total = block.sums(reduced.terms)
        (right, alarm), (miss, hit) = self.costs
        saved, lost = self.priors[0] * (alarm - right), self.priors[1] * (miss - hit)
        factors = np.divide((saved, lost), total, out=np.zeros_like(total), where=total > 0)
        least = np.zeros(block.n_resamples)
        for _, (negatives, positives) in block.running(reduced.terms, reduced.data["ends"]):
            positives *= factors[:, 1:]
            negatives *= factors[:, :1]
            positives -= negatives
            np.minimum(least, positives.min(axis=1), out=least)
        value = self.priors @ self.costs[:, 1] + least
        if self.relative:
            value = value / (self.priors @ self.costs).min()
        return np.where((total > 0).all(axis=1), value, np.nan)

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Facts of any metric; the threshold is the best on the same rows, which is too good."""
        return replace(super().facts(reduced, rows, members), optimized=True)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """The cost of the cheaper of the two decisions."""
        return 1.0 if self.relative else float((self.priors @ self.costs).min())


@fast_path("minimum_detection_cost", response="scores")
def _minimum_detection_cost(
    request: MetricRequest,
    *,
    priors: ArrayLike,
    costs: ArrayLike | None = None,
    relative: bool = False,
    pos_label: Any = None,
) -> MinimumDetectionCost:
    matrix, shares = check_application(costs, priors)
    return MinimumDetectionCost(
        request.name, matrix, shares, relative, pos_label, labels=request.labels
    )
