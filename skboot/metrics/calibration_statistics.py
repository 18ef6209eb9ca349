"""Calibration of probabilities of two classes, at rows of weights.

* `CalibrationLine`: slope or intercept on the scale of logits, from sums over points or pieces;
* `CalibrationError`: mean distance in bins, from a sum a bin;
* the net benefit at a threshold is a mean of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import check_count
from .additive import SumsStatistic
from .calibration_line import fitted_lines, logits_of, terms_of
from .calibration_metrics import benefits, bins_of, check_threshold
from .facts import Facts
from .posteriors import PosteriorMean, classes_of, oriented
from .registry import Request, fast_path
from .statistic import Columns, Floats, ReadableBlock, ReducedData, Response, Statistic

# Top-label calibration, as of Guo et al. (2017).
_ONE_OF_SEVERAL = (
    "Score a class against the others, y_true == label and its column of y_pred; or the most "
    "probable class: (y_true == labels[y_pred.argmax(axis=1)]) and y_pred.max(axis=1), with the "
    "labels of the columns."
)


@dataclass(frozen=True, eq=False)
class CalibrationLine(Statistic):
    """Slope or intercept of the truth on the logits of the probabilities.

    Parameters
    ----------
    name : str
        How results call it.
    of_intercept : bool
        Whether it is the intercept at a slope of 1, else the slope.
    labels : ndarray of shape (2,) or None
        Labels of the columns; None: those of ``y_true``, sorted.
    pos_label : label, optional
        The positive class; None: the second of ``labels``.
    """

    name: str
    of_intercept: bool
    labels: NDArray[Any] | None = None
    pos_label: Any = None
    greater_is_better: bool | None = None
    response: Response = "probabilities"
    # Sums of so many terms without each unit would take longer than those of the resamples.
    reads = "running"
    greater_is_positive = True
    advice_on_several = _ONE_OF_SEVERAL

    @property
    def columns_suffice(self) -> bool:  # type: ignore[override]
        """Whether it is the slope, which is that of either class."""
        return not self.of_intercept

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Terms are those of `terms_of`."""
        classes, prob = _of_positive(y_true, y_pred, self.labels, self.pos_label)
        weights = np.ones(len(classes)) if sample_weight is None else sample_weight
        points, terms = terms_of(logits_of(prob), classes, weights)
        return ReducedData(None, len(classes), terms, MappingProxyType({"points": points}))

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Solve the equations of all resamples together."""
        sums = block.sums(reduced.terms)
        lines = fitted_lines(reduced.data["points"], sums, of_intercept=self.of_intercept)
        return lines[:, 0 if self.of_intercept else 1]

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """The share of positives as the probability of all rows is right on average."""
        return 0.0 if self.of_intercept else None


@fast_path("calibration_slope", response="probabilities")
def _calibration_slope(request: Request, *, labels: ArrayLike | None = None) -> CalibrationLine:
    return CalibrationLine(request.name, False, request.columns(labels), request.pos_label)


@fast_path("calibration_intercept", response="probabilities")
def _calibration_intercept(request: Request, *, labels: ArrayLike | None = None) -> CalibrationLine:
    return CalibrationLine(request.name, True, request.columns(labels), request.pos_label)


@dataclass(frozen=True, eq=False)
class CalibrationError(SumsStatistic):
    """Sum over bins of the distance of the positives from what their probabilities add up to.

    Parameters
    ----------
    name : str
        How results call it.
    n_bins : int
        Number of bins of equal width.
    labels : ndarray of shape (2,) or None
        Labels of the columns; None: those of ``y_true``, sorted.
    pos_label : label, optional
        The positive class; None: the second of ``labels``.
    """

    adds_distances = True
    greater_is_positive = True
    advice_on_several = _ONE_OF_SEVERAL
    name: str
    n_bins: int = 10
    labels: NDArray[Any] | None = None
    pos_label: Any = None
    greater_is_better: bool | None = False
    response: Response = "probabilities"
    bounds: tuple[float, float] = (0.0, 1.0)

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Terms: the gap of a row in the column of its bin, and its weight."""
        classes, prob = _of_positive(y_true, y_pred, self.labels, self.pos_label)
        weights = np.ones(len(classes)) if sample_weight is None else sample_weight
        occurs, number = np.unique(bins_of(prob, self.n_bins), return_inverse=True)
        number = number.reshape(-1)
        terms = np.zeros((len(classes), len(occurs) + 1))
        terms[np.arange(len(classes)), number] = weights * (classes - prob)
        terms[:, -1] = weights
        data = {"bin": number, "class": classes, "prob": prob, "weights": weights}
        return ReducedData(None, len(classes), terms, MappingProxyType(data))

    def combine(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Add up the distances."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.abs(sums[:, :-1]).sum(axis=1) / sums[:, -1])

    def gradient(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Each distance has the derivative of its sign."""
        with np.errstate(invalid="ignore", divide="ignore"):
            by_gap = np.sign(sums[:, :-1]) / sums[:, -1:]
            return np.column_stack((by_gap, -self.combine(sums, reduced) / sums[:, -1]))

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Those of any metric, and the bins."""
        known = super().facts(reduced, rows, members)
        return replace(known, bins=self._bins(reduced, members))

    def _bins(self, reduced: ReducedData, members: NDArray[Any] | None) -> Floats:
        """Weight, share of positives, mean probability and worth in rows of each bin."""
        data = reduced.data
        number, weights, classes = data["bin"], data["weights"], data["class"]
        total, of_hits, of_prob, of_squares = (
            np.bincount(number, weights * value) for value in (1.0, classes, data["prob"], weights)
        )
        kept = total > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            share, mean, rows = of_hits / total, of_prob / total, total**2 / of_squares
        if members is not None:
            rows = rows / _design_effect(
                number,
                weights * (classes - share[number]),
                members,
                (share * (1 - share) * total**2 / rows),
            )
        return np.array([total / total.sum(), share, mean, rows])[:, kept]

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """The share of positives as the probability of all rows is calibrated."""
        return 0.0


def _design_effect(
    number: NDArray[np.intp], residual: Floats, members: NDArray[Any], of_rows: Floats
) -> float:
    """How much larger the variance in bins is than that of independent rows, at least 1."""
    n_bins, variance = len(of_rows), 0.0
    for factor in members.T:
        _, code = np.unique(factor, return_inverse=True)
        sums = np.bincount(code.reshape(-1) * n_bins + number, residual)
        variance += float(np.sum(sums**2))
    return max(1.0, variance / float(np.nansum(of_rows))) if np.nansum(of_rows) > 0 else 1.0


@fast_path("expected_calibration_error", response="probabilities")
def _expected_calibration_error(
    request: Request, *, n_bins: int = 10, labels: ArrayLike | None = None
) -> CalibrationError:
    n_bins = check_count("n_bins", n_bins, 1)
    return CalibrationError(request.name, n_bins, request.columns(labels), request.pos_label)


class NetBenefit(PosteriorMean):
    """Mean over rows of what treating each is worth, of two classes."""

    advice_on_several = "Score a class against the others: y_true == label, and its column."


@fast_path("net_benefit", response="probabilities")
def _net_benefit(
    request: Request, *, threshold: float, labels: ArrayLike | None = None
) -> NetBenefit:
    threshold = check_threshold(threshold)
    return NetBenefit(
        request.name,
        partial(_benefits_of_columns, threshold=threshold),
        greater_is_better=True,
        bounds=(-threshold / (1 - threshold), 1.0),
        constant=partial(_benefit_of_all, threshold=threshold),
        labels=request.columns(labels),
        pos_label=request.pos_label,
        columns_suffice=False,
    )


def _benefits_of_columns(
    classes: NDArray[np.intp], prob: NDArray[Any], *, threshold: float
) -> Floats:
    return benefits(classes, prob[:, 1], threshold)


def _benefit_of_all(shares: Floats, *, threshold: float) -> float:
    """Net benefit of treating all rows, or none."""
    return max(0.0, float(shares[1] - shares[0] * threshold / (1 - threshold)))


def _of_positive(
    y_true: NDArray[Any] | None,
    y_pred: NDArray[Any],
    labels: NDArray[Any] | None,
    pos_label: Any,
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Class of each row, 1 if positive, and its probability of the positive class."""
    assert y_true is not None
    order, prob = oriented(y_pred, labels, pos_label)
    return classes_of(y_true, order, 2), prob[:, 1]
