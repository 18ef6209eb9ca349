"""Coefficients of the agreement of two labellings: Matthews' and Cohen's kappa."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .cells import encode
from .labels import CellTerms, LabelMetric, equal_column_blocks
from .registry import Request, fast_path
from .statistic import Floats


class _Agreement(LabelMetric):
    """A function of hits and of the two margins."""

    bounds = (-1.0, 1.0)
    pools_classes = True

    def cell_terms(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> CellTerms:
        """Sums: rows; hits; rows of each truth, rows of each decision."""
        hit, ones = truth == decision, np.ones(len(truth))
        columns = np.column_stack((0 * truth, hit, 2 + truth, 2 + len(labels) + decision))
        values = np.column_stack((ones, hit, ones, ones))
        return CellTerms(columns.astype(np.intp), values, 2 + 2 * len(labels))


@dataclass(frozen=True, eq=False)
class MatthewsCoefficient(_Agreement):
    """Matthews correlation coefficient; 0 where truth or decision is constant.

    Parameters
    ----------
    name : str
        How results call it.

    References
    ----------
    Gorodkin, J. (2004). Comparing two K-category assignments by a K-category correlation
    coefficient. Computational Biology and Chemistry 28, 367-374, equation 8.
    """

    matrix_rule = "matthews"

    name: str = "matthews_corrcoef"

    def formula(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """Covariance of truth and decision by their standard deviations."""
        covariance, of_truth, of_decision, varied = self._parts(sums)
        return np.where(varied, covariance / np.sqrt(of_truth * of_decision), 0.0)

    def _parts(self, sums: Floats) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
        truth, decision = equal_column_blocks(sums[:, 2:], 2)
        covariance = sums[:, 1] * sums[:, 0] - np.einsum("ij,ij->i", truth, decision)
        of_truth, of_decision = (
            margin.sum(axis=1) ** 2 - np.einsum("ij,ij->i", margin, margin)
            for margin in (truth, decision)
        )
        return covariance, of_truth, of_decision, (of_truth > 0) & (of_decision > 0)

    def _gradient(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        covariance, of_truth, of_decision, varied = self._parts(sums)
        truth, decision = equal_column_blocks(sums[:, 2:], 2)
        n, hits = sums[:, :1], sums[:, 1:2]
        scale = np.sqrt(of_truth * of_decision)[:, None]
        half = 0.5 * covariance[:, None] / scale
        # Chain rule: the derivative of the covariance, less that of the two variances.
        by_total = hits / scale - half * (2 * n / of_truth[:, None] + 2 * n / of_decision[:, None])
        by_truth = -decision / scale + half * 2 * truth / of_truth[:, None]
        by_decision = -truth / scale + half * 2 * decision / of_decision[:, None]
        gradient = np.hstack((by_total, n / scale, by_truth, by_decision))
        return np.where(varied[:, None], gradient, 0.0)


@dataclass(frozen=True, eq=False)
class Kappa(_Agreement):
    """Cohen's kappa, unweighted; NaN where only one label occurs.

    Parameters
    ----------
    name : str
        How results call it.

    References
    ----------
    Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and
    Psychological Measurement 20, 37-46.
    """

    matrix_rule = "kappa"

    name: str = "cohen_kappa_score"

    def formula(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """One less observed by expected disagreement."""
        observed, expected, several = self._parts(sums)
        return np.where(several, 1 - observed / expected, np.nan)

    def _parts(self, sums: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        truth, decision = equal_column_blocks(sums[:, 2:], 2)
        observed = sums[:, 0] * (sums[:, 0] - sums[:, 1])
        expected = sums[:, 0] ** 2 - np.einsum("ij,ij->i", truth, decision)
        return observed, expected, np.count_nonzero(truth + decision > 0, axis=1) > 1

    def _gradient(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        observed, expected, several = self._parts(sums)
        truth, decision = equal_column_blocks(sums[:, 2:], 2)
        n, hits = sums[:, :1], sums[:, 1:2]
        ratio = (observed / expected)[:, None]
        by_observed = np.hstack((2 * n - hits, -n, 0 * truth, 0 * decision))
        by_expected = np.hstack((2 * n, 0 * n, -decision, -truth))
        gradient = (ratio * by_expected - by_observed) / expected[:, None]
        return np.where(several[:, None], gradient, 0.0)


@dataclass(frozen=True, eq=False)
class WeightedKappa(LabelMetric):
    """Cohen's kappa with disagreement weighted by how far the labels are apart.

    Distances are positions among the labels present in the resample, as in scikit-learn.

    Parameters
    ----------
    name : str
        How results call it.
    weights : {"linear", "quadratic"}
        Distance, or its square.
    order : array-like or None
        The labels in the order of their categories; None: they are sorted.

    References
    ----------
    Cohen, J. (1968). Weighted kappa: nominal scale agreement with provision for scaled
    disagreement or partial credit. Psychological Bulletin 70, 213-220.
    """

    matrix_rule = "kappa"
    pools_classes = True
    orders_labels = True

    name: str = "cohen_kappa_score"
    weights: Literal["linear", "quadratic"] = "linear"
    order: Any = None
    bounds = (-1.0, 1.0)

    def cell_terms(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> CellTerms:
        """Sums: rows; rows of each cell that occurs."""
        each = np.arange(len(truth))
        return CellTerms(
            np.column_stack((0 * each, 1 + each)), np.ones((len(each), 2)), 1 + len(each)
        )

    def _naive_step(self, n_labels: int) -> int:
        # The cells that occur, and so the sums, differ between constant decisions.
        return 1

    def _data(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> dict[str, Any]:
        if self.order is not None:
            place = np.argsort(np.argsort(encode(labels, np.asarray(self.order))))
            truth, decision = place[truth], place[decision]
        each = np.arange(len(truth))
        shape = (len(truth), len(labels))
        margins = [
            sparse.csr_matrix((np.ones(len(each)), (each, side)), shape=shape)
            for side in (truth, decision)
        ]
        return {"truth": truth, "decision": decision, "margins": margins}

    def formula(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """One less observed by expected disagreement."""
        observed, expected, several, _, _ = self._parts(sums, rows, data)
        return np.where(several, 1 - observed / expected, np.nan)

    def _parts(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> tuple[Any, ...]:
        cells = sums[:, 1:]
        to_truth, to_decision = data["margins"]
        truth, decision = cells @ to_truth, cells @ to_decision
        present = rows[:, 1:] @ (to_truth + to_decision) > 0
        place = np.cumsum(present, axis=1) - 1.0
        apart = np.abs(place[:, data["truth"]] - place[:, data["decision"]])
        apart = apart if self.weights == "linear" else apart**2
        # Summed distance of each label from all decisions, and from all truths.
        from_decisions = self._distances(place, present, decision)
        from_truths = self._distances(place, present, truth)
        observed = sums[:, 0] * np.einsum("ij,ij->i", cells, apart)
        expected = np.einsum("ij,ij->i", truth, from_decisions)
        several = np.count_nonzero(truth + decision > 0, axis=1) > 1
        by_cell = from_decisions[:, data["truth"]] + from_truths[:, data["decision"]]
        return observed, expected, several, apart, by_cell

    def _distances(self, place: Floats, present: NDArray[np.bool_], margin: Floats) -> Floats:
        """Summed distance of each label from the rows of a margin, (n_resamples, n_labels)."""
        n = margin.sum(axis=1, keepdims=True)
        if self.weights == "quadratic":
            mean = np.sum(margin * place, axis=1, keepdims=True)
            square = np.sum(margin * place**2, axis=1, keepdims=True)
            return n * place**2 - 2 * place * mean + square
        # |a - b| counts the present labels t with a <= t < b or b <= t < a.
        below = np.where(present, np.cumsum(margin, axis=1), 0.0)
        above = np.where(present, n, 0.0) - below
        up_to = np.cumsum(below, axis=1) - below
        return up_to + above.sum(axis=1, keepdims=True) - (np.cumsum(above, axis=1) - above)

    def _gradient(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        observed, expected, several, apart, by_expected = self._parts(sums, rows, data)
        ratio = (observed / expected)[:, None]
        by_cell = (ratio * by_expected - sums[:, :1] * apart) / expected[:, None]
        by_total = -np.einsum("ij,ij->i", sums[:, 1:], apart) / expected
        return np.where(several[:, None], np.column_stack((by_total, by_cell)), 0.0)


@fast_path("matthews_corrcoef", response="labels")
def _matthews(request: Request) -> MatthewsCoefficient:
    return MatthewsCoefficient(request.name)


@fast_path("cohen_kappa_score", response="labels")
def _kappa(request: Request, *, weights: Any = None) -> Kappa | WeightedKappa:
    if weights is None:
        return Kappa(request.name)
    return WeightedKappa(request.name, weights, request.order)
