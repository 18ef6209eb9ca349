"""Metrics of hard decisions: functions of the confusion matrix.

* `SetRatio`: precision, recall, F-beta and Jaccard of one class, or of all pooled ("micro");
* `SetAverage`: the same, averaged over classes ("macro", "weighted");
* `BalancedAccuracy`, `MatthewsCoefficient`, `Kappa`.

Rows in cells of the matrix that add the same to every sum are interchangeable: F1 of two classes
draws three numbers a resample, balanced accuracy two a class. Accuracy, a mean of rows, is in
`additive`. To add a metric, give what each cell adds to which sum, and the formula.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .additive import SumsStatistic
from .cells import Cells, encode, label_counts
from .layout import Layout, added, distinct_rows, matrix, side_by_side
from .statistic import Floats, Proportion, ReducedData, Response

# Rows of labels that constant decisions are evaluated on at once.
_ROWS = 1 << 14


class LabelMetric(SumsStatistic):
    """A function of the confusion matrix.

    Notes
    -----
    Subclasses give `layout` (what a cell adds to which sum) and `formula`. A label is present in a
    resample if one of its rows is, whatever these weigh, as in scikit-learn; so with weights of
    zero every sum is also taken over rows.
    """

    response: Response = "labels"
    bounds: tuple[float, float] = (0.0, 1.0)

    @abstractmethod
    def layout(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> Layout:
        """What a row of each cell adds to each sum, the first being the number of rows."""

    @abstractmethod
    def formula(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """Value from weighted sums and from sums over rows, (n_lines, n_terms) each."""

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Code rows by what they add; with weights each row is its own code."""
        assert y_true is not None
        cells = Cells.of(y_true, y_pred)
        layout = self.layout(cells.truth, cells.decision, cells.labels)
        data = {"n_terms": layout.n_terms, **self._data(cells.truth, cells.decision, cells.labels)}
        if sample_weight is not None:
            every = cells.rows(np.arange(len(cells.counts)))
            of_rows = Layout(layout.slots[every], layout.values[every], layout.n_terms)
            terms = matrix(of_rows, sample_weight)
            return ReducedData(None, len(y_pred), terms, MappingProxyType(data))
        distinct, of_cell = distinct_rows(np.hstack((layout.slots, layout.values)))
        counts = np.bincount(of_cell, cells.counts).astype(np.int64)
        order = np.argsort(-counts, kind="stable")
        narrow = bool if len(order) == 2 else np.min_scalar_type(len(order))
        number = np.empty(len(order), dtype=narrow)
        number[order] = np.arange(len(order))
        slots, values = side_by_side(distinct[order], 2)
        terms = matrix(Layout(slots.astype(np.intp), values, layout.n_terms))
        data["truth_counts"] = cells.of_truth()
        data["observed"] = np.asarray(counts[order] @ terms).reshape(-1)
        code = cells.rows(number[of_cell])
        return ReducedData(code, len(order), terms, MappingProxyType(data), counts[order])

    def combine(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Apply the formula; a resample without rows has no value."""
        n_terms = reduced.data["n_terms"]
        rows = sums[:, -n_terms:]
        with np.errstate(invalid="ignore", divide="ignore"):
            values = self.formula(sums[:, :n_terms], rows, reduced.data)
        return np.where(rows[:, 0] > 0, values, np.nan)

    def gradient(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Derivative of the formula; 0 by a sum that has no rows, whose units weigh nothing."""
        n_terms = reduced.data["n_terms"]
        with np.errstate(invalid="ignore", divide="ignore"):
            found = self._gradient(sums[:, :n_terms], sums[:, -n_terms:], reduced.data)
        if not (_all_positive(sums) and np.isfinite(found).all()):
            found = np.where(sums[:, :n_terms] > 0, np.nan_to_num(found), 0.0)
        if sums.shape[1] == n_terms:
            return found
        return np.hstack((found, np.zeros((len(sums), sums.shape[1] - n_terms))))

    def naive(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> float | None:
        """Value of the best system that always gives the same label."""
        if y_true is None:
            return None
        return self._best_constant(*label_counts(y_true, sample_weight))

    def naive_of(
        self,
        reduced: ReducedData | None,
        y_true: NDArray[Any] | None,
        y_pred: NDArray[Any],
        sample_weight: Floats | None,
    ) -> float | None:
        """As `naive`; the rows of each label were counted with the cells."""
        if reduced is None or "truth_counts" not in reduced.data:
            return self.naive(y_true, y_pred, sample_weight)
        return self._best_constant(*reduced.data["truth_counts"])

    def _best_constant(self, labels: NDArray[Any], counts: Floats) -> float | None:
        step = self._naive_step(len(labels))
        values = np.concatenate(
            [
                self._constant(np.arange(start, min(start + step, len(labels))), labels, counts)
                for start in range(0, len(labels), step)
            ]
        )
        defined = [value for value in values if not np.isnan(value)]
        return float(max(defined)) if defined else None

    def _naive_step(self, n_labels: int) -> int:
        """Constant decisions that are evaluated at once."""
        return max(1, _ROWS // n_labels)

    def _constant(self, chosen: NDArray[np.intp], labels: NDArray[Any], counts: Floats) -> Floats:
        """Value if one label is always decided, for some labels."""
        truth = np.tile(np.arange(len(labels)), len(chosen))
        decision = np.repeat(chosen, len(labels))
        layout = self.layout(truth, decision, labels)
        line = np.repeat(np.arange(len(chosen)), len(labels))
        values = layout.values * counts[truth][:, None]
        sums = added(layout._replace(values=values), line, len(chosen))
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.formula(sums, sums, self._data(truth, decision, labels))

    def _data(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> dict[str, Any]:
        return {"n_labels": len(labels)}

    @abstractmethod
    def _gradient(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """Derivative of the formula by each weighted sum."""


class SetFormula(NamedTuple):
    """A ratio of set sizes of one class: true positives (tp), true and predicted members.

    Attributes
    ----------
    of_tp : float
        Numerator: this times tp.
    by_tp, by_true, by_predicted : float
        Denominator: the sum of these times their sizes.
    """

    of_tp: float
    by_tp: float
    by_true: float
    by_predicted: float


PRECISION = SetFormula(1.0, 0.0, 0.0, 1.0)
RECALL = SetFormula(1.0, 0.0, 1.0, 0.0)
JACCARD = SetFormula(1.0, -1.0, 1.0, 1.0)


def f_beta(beta: float) -> SetFormula:
    """F-beta: the weighted harmonic mean of precision and recall (van Rijsbergen 1979)."""
    if np.isposinf(beta):
        return RECALL
    return PRECISION if beta == 0 else SetFormula(1 + beta**2, 0.0, beta**2, 1.0)


@dataclass(frozen=True, eq=False)
class SetRatio(LabelMetric):
    """Precision, recall, F-beta or Jaccard of one class, or of several pooled.

    Parameters
    ----------
    name : str
        How results call it.
    ratio : SetFormula
        Which of them.
    classes : ndarray of shape (n_classes,) or None
        Labels whose sets are pooled; None: all, as in scikit-learn's ``average="micro"``.
    zero_division : float
        Value where the denominator is zero.
    binary : bool
        Whether ``classes`` is the positive one of two labels, and more are an error.
    """

    name: str
    ratio: SetFormula
    classes: NDArray[Any] | None = None
    zero_division: float = 0.0
    binary: bool = False

    def layout(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> Layout:
        """Sums: rows, numerator, denominator."""
        counted = np.ones(len(labels))
        if self.classes is not None:
            counted = (encode(labels, np.asarray(self.classes)) >= 0).astype(np.float64)
        hit = np.where(truth == decision, counted[truth], 0.0)
        below = self.ratio.by_tp * hit
        below += self.ratio.by_true * counted[truth] + self.ratio.by_predicted * counted[decision]
        values = np.column_stack((np.ones(len(truth)), self.ratio.of_tp * hit, below))
        return Layout(np.tile(np.arange(3), (len(truth), 1)), values, 3)

    def formula(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """Ratio of the two sums."""
        return np.where(sums[:, 2] > 0, sums[:, 1] / sums[:, 2], self.zero_division)

    def _gradient(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        ratio = sums[:, 1] / sums[:, 2]
        return np.column_stack((np.zeros(len(sums)), 1 / sums[:, 2], -ratio / sums[:, 2]))

    def proportion(self, reduced: ReducedData) -> Proportion | None:
        """Hits among the members of the sets; F1 as a function of the Jaccard index."""
        if "observed" not in reduced.data:
            return None
        n_rows, above, below = reduced.data["observed"]
        hits, f1 = round(above / self.ratio.of_tp), self.ratio == f_beta(1.0)
        if below == 0 or not (f1 or self.ratio in (PRECISION, RECALL, JACCARD)):
            return None
        if self.classes is None and self.ratio != JACCARD:
            # Pooled over all classes each row is one member of each set: the accuracy.
            return Proportion(hits, round(n_rows), exact=True)
        members = round(below) - hits if f1 else round(below)
        return Proportion(hits, members, exact=False, scale="f1" if f1 else "identity")


@dataclass(frozen=True, eq=False)
class SetAverage(LabelMetric):
    """Precision, recall, F-beta or Jaccard, averaged over classes.

    Parameters
    ----------
    name : str
        How results call it.
    ratio : SetFormula
        Which of them.
    weighted : bool
        Average by the number of true members instead of evenly.
    classes : ndarray of shape (n_classes,) or None
        Labels to average over; None: those present in the resample.
    zero_division : float
        Value of a class whose denominator is zero; NaN leaves it out.
    """

    name: str
    ratio: SetFormula
    weighted: bool = False
    classes: NDArray[Any] | None = None
    zero_division: float = 0.0

    def layout(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> Layout:
        """Sums: rows; hits, true members and predicted members of each class."""
        column = np.arange(len(labels))
        n_classes = len(labels)
        if self.classes is not None:
            column = encode(labels, np.asarray(self.classes))
            n_classes = len(self.classes)
        of_truth, of_decision = column[truth], column[decision]
        used = (of_truth >= 0, of_decision >= 0)
        hit = used[0] & (truth == decision)
        slots = np.column_stack(
            (
                np.zeros(len(truth), np.intp),
                np.where(hit, 1 + of_truth, 0),
                np.where(used[0], 1 + n_classes + of_truth, 0),
                np.where(used[1], 1 + 2 * n_classes + of_decision, 0),
            )
        )
        values = np.column_stack((np.ones(len(truth)), hit, *used)).astype(np.float64)
        return Layout(slots, values, 1 + 3 * n_classes)

    def formula(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """Average over classes; scikit-learn falls back to an even one when no weight is left."""
        share, value, below = self._parts(sums, rows)
        found: Floats = np.sum(share * value, axis=1)
        if not _all_positive(below):
            found[~share.any(axis=1)] = np.nan
        return found

    def _parts(self, sums: Floats, rows: Floats) -> tuple[Floats, Floats, Floats]:
        """Share, value and denominator of each class, (n_lines, n_classes) each."""
        tp, true, predicted = side_by_side(sums[:, 1:], 3)
        below = self.ratio.by_true * true + self.ratio.by_predicted * predicted
        if self.ratio.by_tp:
            below += self.ratio.by_tp * tp
        if _all_positive(below) and not self.weighted:
            # As below, where every class of every line has a value.
            share = np.broadcast_to(1 / below.shape[1], below.shape)
            return share, self.ratio.of_tp * tp / below, below
        value = np.where(below > 0, self.ratio.of_tp * tp / below, self.zero_division)
        included = ~np.isnan(value)
        if self.classes is None:
            _, true_rows, predicted_rows = side_by_side(rows[:, 1:], 3)
            included &= true_rows + predicted_rows > 0
        weight = included.astype(np.float64)
        if self.weighted:
            by_size = np.where(included, true, 0.0)
            weight = np.where(by_size.any(axis=1, keepdims=True), by_size, weight)
        total = weight.sum(axis=1, keepdims=True)
        share = np.where(total > 0, weight / np.where(total > 0, total, 1.0), 0.0)
        return share, np.where(share > 0, value, 0.0), below

    def _gradient(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        share, value, below = self._parts(sums, rows)
        slope = share / below
        if not _all_positive(below):
            slope = np.where((below > 0) & (share > 0), slope, 0.0)
        by_below = slope * value
        # Sums are read, and so written, one after the other.
        gradient: Floats = np.zeros(sums.shape, order="F")
        by_tp, by_true, by_predicted = side_by_side(gradient[:, 1:], 3)
        by_tp[:] = self.ratio.of_tp * slope - self.ratio.by_tp * by_below
        by_true[:] = -self.ratio.by_true * by_below
        if self.weighted:
            true = np.where(share > 0, side_by_side(sums[:, 1:], 3)[1], 0.0)
            mean = np.einsum("ij,ij->i", share, value)[:, None]
            by_true += np.where(share > 0, value - mean, 0.0) / true.sum(axis=1, keepdims=True)
        by_predicted[:] = -self.ratio.by_predicted * by_below
        return gradient


@dataclass(frozen=True, eq=False)
class BalancedAccuracy(LabelMetric):
    """Mean recall of the classes that have rows.

    Parameters
    ----------
    name : str
        How results call it.
    adjusted : bool
        Whether chance is scaled to 0 (and can be undershot).
    """

    name: str = "balanced_accuracy"
    adjusted: bool = False

    def layout(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> Layout:
        """Sums: rows; rows of each class, hits of each class."""
        hit = truth == decision
        ones = np.ones(len(truth))
        slots = np.column_stack((0 * truth, 1 + truth, np.where(hit, 1 + len(labels) + truth, 0)))
        return Layout(slots, np.column_stack((ones, ones, hit)), 1 + 2 * len(labels))

    def formula(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """Mean of hits by rows."""
        size, hits = side_by_side(sums[:, 1:], 2)
        n_classes = np.count_nonzero(size > 0, axis=1)
        mean = np.where(size > 0, hits / size, 0.0).sum(axis=1) / n_classes
        return (mean - 1 / n_classes) / (1 - 1 / n_classes) if self.adjusted else mean

    def _gradient(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        size, hits = side_by_side(sums[:, 1:], 2)
        n_classes = np.count_nonzero(size > 0, axis=1)
        scale = n_classes - 1 if self.adjusted else n_classes
        by_hit = 1 / (size * scale[:, None])
        return np.hstack((np.zeros((len(sums), 1)), -by_hit * hits / size, by_hit))


class _Agreement(LabelMetric):
    """A function of hits and of the two margins."""

    bounds = (-1.0, 1.0)

    def layout(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> Layout:
        """Sums: rows; hits; rows of each truth, rows of each decision."""
        hit, ones = truth == decision, np.ones(len(truth))
        slots = np.column_stack((0 * truth, hit, 2 + truth, 2 + len(labels) + decision))
        values = np.column_stack((ones, hit, ones, ones))
        return Layout(slots.astype(np.intp), values, 2 + 2 * len(labels))


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

    name: str = "matthews_corrcoef"

    def formula(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """Covariance of truth and decision by their standard deviations."""
        covariance, of_truth, of_decision, varied = self._parts(sums)
        return np.where(varied, covariance / np.sqrt(of_truth * of_decision), 0.0)

    def _parts(self, sums: Floats) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
        truth, decision = side_by_side(sums[:, 2:], 2)
        covariance = sums[:, 1] * sums[:, 0] - np.einsum("ij,ij->i", truth, decision)
        of_truth, of_decision = (
            margin.sum(axis=1) ** 2 - np.einsum("ij,ij->i", margin, margin)
            for margin in (truth, decision)
        )
        n_truths, n_decisions = (np.count_nonzero(m > 0, axis=1) for m in (truth, decision))
        return covariance, of_truth, of_decision, (n_truths > 1) & (n_decisions > 1)

    def _gradient(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        covariance, of_truth, of_decision, varied = self._parts(sums)
        truth, decision = side_by_side(sums[:, 2:], 2)
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

    name: str = "cohen_kappa_score"

    def formula(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """One less observed by expected disagreement."""
        observed, expected, several = self._parts(sums)
        return np.where(several, 1 - observed / expected, np.nan)

    def _parts(self, sums: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        truth, decision = side_by_side(sums[:, 2:], 2)
        observed = sums[:, 0] * (sums[:, 0] - sums[:, 1])
        expected = sums[:, 0] ** 2 - np.einsum("ij,ij->i", truth, decision)
        return observed, expected, np.count_nonzero(truth + decision > 0, axis=1) > 1

    def _gradient(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        observed, expected, several = self._parts(sums)
        truth, decision = side_by_side(sums[:, 2:], 2)
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

    References
    ----------
    Cohen, J. (1968). Weighted kappa: nominal scale agreement with provision for scaled
    disagreement or partial credit. Psychological Bulletin 70, 213-220.
    """

    name: str = "cohen_kappa_score"
    weights: Literal["linear", "quadratic"] = "linear"
    bounds = (-1.0, 1.0)

    def layout(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> Layout:
        """Sums: rows; rows of each cell that occurs."""
        each = np.arange(len(truth))
        return Layout(np.column_stack((0 * each, 1 + each)), np.ones((len(each), 2)), 1 + len(each))

    def _naive_step(self, n_labels: int) -> int:
        # The sums are those of the cells, which differ between decisions.
        return 1

    def _data(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> dict[str, Any]:
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
        # Distance of each label from all decisions, and from all truths.
        from_decisions = self._distances(place, present, decision)
        from_truths = self._distances(place, present, truth)
        observed = sums[:, 0] * np.einsum("ij,ij->i", cells, apart)
        expected = np.einsum("ij,ij->i", truth, from_decisions)
        several = np.count_nonzero(truth + decision > 0, axis=1) > 1
        by_cell = from_decisions[:, data["truth"]] + from_truths[:, data["decision"]]
        return observed, expected, several, apart, by_cell

    def _distances(self, place: Floats, present: NDArray[np.bool_], margin: Floats) -> Floats:
        """Summed distance of each label from the rows of a margin, (n_lines, n_labels)."""
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


def _all_positive(values: Floats) -> bool:
    return bool(values.size) and bool(values.min() > 0)
