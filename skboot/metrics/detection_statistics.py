"""Detection costs and the cost of log-likelihood ratios, at rows of weights.

* `DetectionLoss`: means of losses of the two classes under priors (`cllr`, the actual cost);
* `MinimumDetectionCost`: the smallest cost over all thresholds, from running sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .cost_statistics import ClassCosts, cost_of_best, sums_by_class
from .detection import application_costs, check_application, llr_losses
from .facts import Facts
from .registry import Request, fast_path
from .score_order import positive_rows, positive_scores, score_codes
from .statistic import Columns, Floats, ReadableBlock, ReducedData, Response, Statistic


@dataclass(frozen=True, eq=False)
class DetectionLoss(ClassCosts):
    """Mean loss of scores of two classes under priors, negatives first."""

    columns_suffice = False
    takes_ratios = True
    sketch = ""
    response: Response = "scores"

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


@fast_path("cllr", response="scores")
def _cllr(request: Request, *, pos_label: Any = None) -> DetectionLoss:
    return DetectionLoss(
        request.name,
        llr_losses,
        np.ones_like,
        priors=(0.5, 0.5),
        labels=request.columns(None),
        pos_label=pos_label,
    )


@fast_path("actual_detection_cost", response="scores")
def _actual_detection_cost(
    request: Request,
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
        Of negatives and positives.
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
            terms = terms * sample_weight[codes.first][:, None]
        data = MappingProxyType({"ends": codes.ends})
        return ReducedData(codes.code, len(codes.first), terms, data)

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
        """Those of any metric; the threshold is the best on the same rows, which is too good."""
        return replace(super().facts(reduced, rows, members), optimized=True)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """The cost of the cheaper of the two decisions."""
        return 1.0 if self.relative else float((self.priors @ self.costs).min())


@fast_path("minimum_detection_cost", response="scores")
def _minimum_detection_cost(
    request: Request,
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
