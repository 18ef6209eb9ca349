"""Metrics of single classes, and their averages over classes.

* `SetRatio`: precision, recall, F-beta or Jaccard of one class, or of all pooled ("micro");
* `TwoClassRatio`: sensitivity, specificity and predictive values;
* `SetAverage`: the same, averaged over classes ("macro", "weighted");
* `BalancedAccuracy`: the mean recall.

A class of few rows weighs as much as one of many in macro averages and balanced accuracy, so that
their intervals ask for the rows of each class (`averaged_sizes`); metrics that pool all rows do
not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import fail
from .additive import accuracy
from .cells import SharedCells, encode, label_counts
from .doubts import refuse_other_labels
from .facts import Facts, Proportion
from .labels import CellTerms, LabelMetric, all_positive, equal_column_blocks
from .registry import Factory, Request, fast_path
from .statistic import Columns, Floats, MatrixRule, ReducedData, Statistic
from .two_class import check_two_labels, class_of


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
    cells : SharedCells or None
        Those of the rows, if other metrics of the call have them too.
    """

    name: str
    ratio: SetFormula
    classes: NDArray[Any] | None = None
    zero_division: float = 0.0
    binary: bool = False
    cells: SharedCells | None = None

    matrix_rule = "sets"

    @property
    def reads_decisions(self) -> bool:  # type: ignore[override]
        """Whether it has a positive class."""
        return self.pos_label is not None

    @property
    def positive_by_default(self) -> str:  # type: ignore[override]
        """The function of the ratio."""
        names = {PRECISION: "precision", RECALL: "recall", JACCARD: "jaccard", f_beta(1.0): "f1"}
        return f"sklearn.metrics.{names.get(self.ratio, 'fbeta')}_score"

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Refuse more than two labels where one of two is positive."""
        if not self.binary or self.pos_label is None:
            return
        labels = np.union1d(label_counts(y_true)[0], label_counts(y_pred)[0])
        if len(labels) <= 2:
            return
        refuse_other_labels(y_true, y_pred, self.name)
        advice = (
            f"Average over classes: metric='{self.name.removesuffix('_score')}_macro', or "
            "functools.partial of the function with average='macro'."
        )
        must = f"hold at most two labels for the metric {self.name!r}"
        raise fail("y_true", must, f"{len(labels)} labels", advice)

    @property
    def pools_classes(self) -> bool:  # type: ignore[override]
        """Whether the sets of all classes are pooled."""
        return self.classes is None

    @property
    def pos_label(self) -> Any:
        """The positive one of two labels; None for sets that are pooled."""
        return self.classes.tolist()[0] if self.binary and self.classes is not None else None

    def cell_terms(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> CellTerms:
        """Sums: rows, numerator, denominator."""
        counted = np.ones(len(labels))
        if self.classes is not None:
            counted = (encode(labels, np.asarray(self.classes)) >= 0).astype(np.float64)
        hit = np.where(truth == decision, counted[truth], 0.0)
        below = self.ratio.by_tp * hit
        below += self.ratio.by_true * counted[truth] + self.ratio.by_predicted * counted[decision]
        values = np.column_stack((np.ones(len(truth)), self.ratio.of_tp * hit, below))
        return CellTerms(np.tile(np.arange(3), (len(truth), 1)), values, 3)

    def _different(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        """The pooled labels, and one of the others, which are all alike."""
        if self.classes is None:
            return super()._different(labels)
        pooled = encode(labels, np.asarray(self.classes)) >= 0
        return np.append(np.flatnonzero(pooled), np.flatnonzero(~pooled)[:1])

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
        _, above, below = reduced.data["observed"]
        hits, f1 = round(above / self.ratio.of_tp), self.ratio == f_beta(1.0)
        if below == 0 or not (f1 or self.ratio in (PRECISION, RECALL, JACCARD)):
            return None
        members = round(below) - hits if f1 else round(below)
        return Proportion(hits, members, exact=False, scale="f1" if f1 else "identity")

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Those of any metric, and the proportion that it is."""
        known = super().facts(reduced, rows, members)
        return replace(known, proportion=self.proportion(reduced))

    def of_all_rows(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> Statistic:
        """The share of right rows, where each row is a member of a set that is pooled."""
        fixed = super().of_all_rows(y_true, y_pred)
        if self.binary or self.classes is None or self.ratio == JACCARD:
            return fixed
        sets = ((self.ratio.by_true, y_true), (self.ratio.by_predicted, y_pred))
        pooled = all(
            np.isin(label_counts(y)[0], self.classes).all() for counts, y in sets if counts
        )
        return accuracy(self.name) if pooled else fixed


@dataclass(frozen=True, eq=False)
class TwoClassRatio(SetRatio):
    """Precision or recall of the positive or the negative one of two classes.

    Parameters
    ----------
    pos_label : label or None
        The positive class; None: the greater label.
    negative : bool
        Whether the ratio is that of the other class.
    labels : ndarray of shape (n_labels,) or None
        Both labels, of which a resample or subgroup may lack one.
    """

    greater_is_positive = True
    zero_division: float = np.nan
    binary: bool = True
    pos_label: Any = None
    negative: bool = False
    labels: NDArray[Any] | None = None

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Refuse other than two labels."""
        check_two_labels(self, y_true, y_pred)
        super().check(y_true, y_pred)

    def __post_init__(self) -> None:
        # The labels follow when the rows are known: see `of_all_rows`.
        if self.labels is not None:
            chosen = class_of(self.labels, self.pos_label, self.negative)
            object.__setattr__(self, "classes", np.array([chosen]))


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

    @property
    def pools_classes(self) -> bool:  # type: ignore[override]
        """Whether classes weigh by their size."""
        return self.weighted

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Those of any metric, and the sizes of classes that weigh alike."""
        sizes = None if self.weighted else averaged_sizes(self, reduced, rows[0])
        return replace(super().facts(reduced, rows, members), class_sizes=sizes)

    def cell_terms(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> CellTerms:
        """Sums: rows; hits, true members and predicted members of each class."""
        column = np.arange(len(labels))
        n_classes = len(labels)
        if self.classes is not None:
            column = encode(labels, np.asarray(self.classes))
            n_classes = len(self.classes)
        of_truth, of_decision = column[truth], column[decision]
        used = (of_truth >= 0, of_decision >= 0)
        hit = used[0] & (truth == decision)
        columns = np.column_stack(
            (
                np.zeros(len(truth), np.intp),
                np.where(hit, 1 + of_truth, 0),
                np.where(used[0], 1 + n_classes + of_truth, 0),
                np.where(used[1], 1 + 2 * n_classes + of_decision, 0),
            )
        )
        values = np.column_stack((np.ones(len(truth)), hit, *used)).astype(np.float64)
        return CellTerms(columns, values, 1 + 3 * n_classes)

    def formula(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """Average over classes; scikit-learn falls back to an even one when no weight is left."""
        share, value, below = self._parts(sums, rows)
        mean: Floats = np.sum(share * value, axis=1)
        if not all_positive(below):
            mean[~share.any(axis=1)] = np.nan
        return mean

    def _parts(self, sums: Floats, rows: Floats) -> tuple[Floats, Floats, Floats]:
        """Share, value and denominator of each class, (n_resamples, n_classes) each."""
        tp, true, predicted = equal_column_blocks(sums[:, 1:], 3)
        below = self.ratio.by_true * true + self.ratio.by_predicted * predicted
        if self.ratio.by_tp:
            below += self.ratio.by_tp * tp
        if all_positive(below) and not self.weighted:
            # Every class has a value in every resample, and no class need be masked; macro F1 of
            # 100 classes takes a tenth less of its time.
            share = np.broadcast_to(1 / below.shape[1], below.shape)
            return share, self.ratio.of_tp * tp / below, below
        value = np.where(below > 0, self.ratio.of_tp * tp / below, self.zero_division)
        included = ~np.isnan(value)
        if self.classes is None:
            included &= self._occur(rows)
        weight = included.astype(np.float64)
        if self.weighted:
            by_size = np.where(included, true, 0.0)
            weight = np.where(by_size.any(axis=1, keepdims=True), by_size, weight)
        total = weight.sum(axis=1, keepdims=True)
        share = np.where(total > 0, weight / np.where(total > 0, total, 1.0), 0.0)
        return share, np.where(share > 0, value, 0.0), below

    def _occur(self, rows: Floats) -> Any:
        """Which classes are true or predicted in each resample: the others leave the average."""
        _, true_rows, predicted_rows = equal_column_blocks(rows[:, 1:], 3)
        return true_rows + predicted_rows > 0

    def _gradient(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        share, value, below = self._parts(sums, rows)
        slope = share / below
        if not all_positive(below):
            slope = np.where((below > 0) & (share > 0), slope, 0.0)
        by_below = slope * value
        # Columns are contiguous, because block.variance reads the gradient sum by sum.
        gradient: Floats = np.zeros(sums.shape, order="F")
        by_tp, by_true, by_predicted = equal_column_blocks(gradient[:, 1:], 3)
        by_tp[:] = self.ratio.of_tp * slope - self.ratio.by_tp * by_below
        by_true[:] = -self.ratio.by_true * by_below
        if self.weighted:
            true = np.where(share > 0, equal_column_blocks(sums[:, 1:], 3)[1], 0.0)
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

    @property
    def bounds(self) -> tuple[float, float]:  # type: ignore[override]
        """From 0, or from the lowest adjusted value, which is that of two classes."""
        return (-1.0 if self.adjusted else 0.0, 1.0)

    @property
    def matrix_rule(self) -> MatrixRule:  # type: ignore[override]
        """Recalls of the classes, and whether chance is scaled to 0."""
        return "adjusted recalls" if self.adjusted else "recalls"

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Those of any metric, and the sizes of the classes.

        Adjusted, K classes of the truth without a hit have 1 / (1 - K).
        """
        known, n_classes = super().facts(reduced, rows, members), reduced.data["n_classes"]
        known = replace(known, class_sizes=averaged_sizes(self, reduced, rows[0]))
        lowest = self.adjusted and n_classes > 1
        return replace(known, bounds=(1 / (1 - n_classes), 1.0)) if lowest else known

    def _data(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> dict[str, Any]:
        return {"n_labels": len(labels), "n_classes": int(np.count_nonzero(np.bincount(truth)))}

    def cell_terms(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> CellTerms:
        """Sums: rows; rows of each class, hits of each class."""
        hit = truth == decision
        ones = np.ones(len(truth))
        columns = np.column_stack((0 * truth, 1 + truth, np.where(hit, 1 + len(labels) + truth, 0)))
        return CellTerms(columns, np.column_stack((ones, ones, hit)), 1 + 2 * len(labels))

    def formula(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """Mean of hits by rows."""
        size, hits = equal_column_blocks(sums[:, 1:], 2)
        n_classes = np.count_nonzero(size > 0, axis=1)
        mean = np.where(size > 0, hits / size, 0.0).sum(axis=1) / n_classes
        return (mean - 1 / n_classes) / (1 - 1 / n_classes) if self.adjusted else mean

    def _gradient(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        size, hits = equal_column_blocks(sums[:, 1:], 2)
        n_classes = np.count_nonzero(size > 0, axis=1)
        # Of one class the adjusted value is undefined, and so is what a row adds to it.
        scale = np.where(n_classes > 1, n_classes - 1.0, np.nan) if self.adjusted else n_classes
        by_hit = 1 / (size * scale[:, None])
        return np.hstack((np.zeros((len(sums), 1)), -by_hit * hits / size, by_hit))


def _two_class(formula: SetFormula, negative: bool) -> Factory:
    def factory(
        request: Request, *, pos_label: Any = None, labels: ArrayLike | None = None
    ) -> TwoClassRatio:
        both = None if labels is None else np.unique(np.asarray(labels))
        return TwoClassRatio(
            request.name, formula, pos_label=pos_label, negative=negative, labels=both
        )

    return factory


fast_path("sensitivity", response="labels")(_two_class(RECALL, negative=False))
fast_path("specificity", response="labels")(_two_class(RECALL, negative=True))
fast_path("ppv", response="labels")(_two_class(PRECISION, negative=False))
fast_path("npv", response="labels")(_two_class(PRECISION, negative=True))


def _set_metric(formula: SetFormula) -> Factory:
    """Factory of a ratio of set sizes for one class, pooled over classes, or averaged over them."""

    def factory(
        request: Request,
        *,
        labels: ArrayLike | None = None,
        pos_label: Any = 1,
        average: str = "binary",
        zero_division: Any = "warn",
    ) -> Statistic | None:
        undefined = 0.0 if isinstance(zero_division, str) else float(zero_division)
        classes = None if labels is None else np.asarray(labels)
        if average == "weighted" and formula == RECALL:
            # Weighted by their true members, the hits of all classes are shared by these.
            average = "micro"
        if average == "micro" and classes is None and formula != JACCARD:
            # Each row is a true member, and a predicted one, of one class.
            return accuracy(request.name)
        if average == "binary":
            positive = np.array([pos_label])
            return SetRatio(request.name, formula, positive, undefined, binary=True)
        if average == "micro":
            return SetRatio(request.name, formula, classes, undefined, cells=request.cells)
        if average in ("macro", "weighted"):
            return SetAverage(request.name, formula, average == "weighted", classes, undefined)
        return None

    return factory


fast_path("precision_score", response="labels")(_set_metric(PRECISION))
fast_path("recall_score", response="labels")(_set_metric(RECALL))
fast_path("jaccard_score", response="labels")(_set_metric(JACCARD))
fast_path("f1_score", response="labels")(_set_metric(f_beta(1.0)))


@fast_path("fbeta_score", response="labels")
def _f_beta(
    request: Request,
    *,
    beta: float,
    labels: ArrayLike | None = None,
    pos_label: Any = 1,
    average: str = "binary",
    zero_division: Any = "warn",
) -> Statistic | None:
    options = {"labels": labels, "pos_label": pos_label, "average": average}
    return _set_metric(f_beta(beta))(request, **options, zero_division=zero_division)


@fast_path("balanced_accuracy_score", response="labels")
def _balanced_accuracy(request: Request, *, adjusted: bool = False) -> BalancedAccuracy:
    return BalancedAccuracy(request.name, adjusted)


def averages_classes(statistic: Statistic) -> bool:
    """Whether a metric is an average over classes, evenly or by their rows."""
    return isinstance(statistic, SetAverage | BalancedAccuracy)


def class_weights(statistic: Statistic, labels: NDArray[Any], sizes: NDArray[Any]) -> Floats:
    """Weight of each class in an average over classes.

    Parameters
    ----------
    statistic : Statistic
        One of which `averages_classes` holds.
    labels : ndarray of shape (n_classes,)
    sizes : ndarray of shape (n_classes,)
        Rows of each class.

    Returns
    -------
    ndarray of shape (n_classes,)
        With sum 1; all zero where none of the classes that the metric averages occurs.
    """
    weights = (np.asarray(sizes) > 0).astype(np.float64)
    classes = getattr(statistic, "classes", None)
    if classes is not None:
        weights *= np.isin(labels, classes)
    if getattr(statistic, "weighted", False):
        weights *= sizes
    return weights / weights.sum() if weights.any() else weights


def averaged_sizes(
    statistic: SetAverage | BalancedAccuracy, reduced: ReducedData, y_true: NDArray[Any] | None
) -> NDArray[np.int64] | None:
    """Rows of each class in an average that weighs them evenly, (n_classes,); None without any."""
    if y_true is None:
        return None
    labels, counts = reduced.data.get("truth_counts") or label_counts(y_true)
    averaged = class_weights(statistic, labels, counts) > 0
    return np.asarray(counts[averaged], dtype=np.int64) if averaged.any() else None
