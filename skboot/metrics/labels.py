"""Metrics of hard decisions: functions of the confusion matrix.

`LabelMetric` reduces rows to the cells of the matrix; a subclass gives what a row of each cell adds
to which sum (`CellTerms`), and the formula. Rows in cells that add the same to every sum are
interchangeable: F1 of two classes draws three numbers a resample, balanced accuracy two a class.

* `sensitivity`, `specificity`, `ppv`, `npv`: ratios of one of two classes (`TwoClassRatio`);
* precision, recall, F-beta, Jaccard: of one class, or of all pooled (`SetRatio`), or averaged over
  classes (`SetAverage`); balanced accuracy, the mean recall;
* coefficients of agreement: Matthews' and Cohen's kappa;
* likelihood ratios of the decisions between two classes.

Accuracy, a mean of rows, is in `means`.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._base.checks import (
    category_order,
    check_integers,
    check_labels,
    check_same_length,
    check_weights,
    fail,
    is_among,
    numbered,
)
from .._base.doors import door
from .._base.sklearn_compat import unchecked
from ._tuning import (
    CONSTANTS_AT_ONCE,
    DENSE_TERMS,
    FEW_CELLS,
    FEW_DECIDED,
)
from .cells import (
    CellCodes,
    Cells,
    WeightedCodes,
    check_same_kind,
    class_of,
    encode,
    label_counts,
)
from .costs import label_column, labels_in_order
from .means import SumsStatistic, accuracy
from .responses import refuse_other_labels
from .statistic import (
    Columns,
    Factory,
    Facts,
    Floats,
    MatrixRule,
    MetricRequest,
    Proportion,
    ReducedData,
    Response,
    Sketch,
    Statistic,
    fast_path,
)


@door("sensitivity")
def sensitivity(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the positives that are decided positive: the recall of the positive class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, of two classes.
    y_pred : array-like of shape (n_samples,)
        Decisions.
    pos_label : label, optional
        The positive class; by default the greater label.
    labels : array-like of shape (2,), optional
        Both labels, where rows may lack one.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        NaN if there are no positives.

    Raises
    ------
    ValueError
        If there are not two classes.

    Examples
    --------
    >>> from skboot.metrics import sensitivity
    >>> sensitivity(["no", "no", "no", "yes", "yes"], ["no", "no", "yes", "yes", "no"])
    0.5
    """
    return _share("sensitivity", y_true, y_pred, pos_label, labels, sample_weight)


@door("specificity")
def specificity(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the negatives that are decided negative: the recall of the negative class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, of two classes.
    y_pred : array-like of shape (n_samples,)
        Decisions.
    pos_label : label, optional
        The positive class; by default the greater label.
    labels : array-like of shape (2,), optional
        Both labels, where rows may lack one.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        NaN if there are no negatives.

    Raises
    ------
    ValueError
        If there are not two classes.

    Examples
    --------
    >>> from skboot.metrics import specificity
    >>> specificity(["no", "no", "no", "no", "yes"], ["no", "no", "no", "yes", "no"])
    0.75
    """
    return _share("specificity", y_true, y_pred, pos_label, labels, sample_weight)


@door("ppv")
def ppv(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Positive predictive value: share of true positives among positive decisions (precision).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, of two classes.
    y_pred : array-like of shape (n_samples,)
        Decisions.
    pos_label : label, optional
        The positive class; by default the greater label.
    labels : array-like of shape (2,), optional
        Both labels, where rows may lack one.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        NaN if no decision is positive. It is valid at the share of positives of these rows.

    Raises
    ------
    ValueError
        If there are not two classes.

    Examples
    --------
    >>> from skboot.metrics import ppv
    >>> ppv(["no", "no", "no", "yes", "yes"], ["no", "no", "yes", "yes", "no"])
    0.5
    """
    return _share("ppv", y_true, y_pred, pos_label, labels, sample_weight)


@door("npv")
def npv(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Negative predictive value: share of true negatives among negative decisions.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, of two classes.
    y_pred : array-like of shape (n_samples,)
        Decisions.
    pos_label : label, optional
        The positive class; by default the greater label.
    labels : array-like of shape (2,), optional
        Both labels, where rows may lack one.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        NaN if no decision is negative. It is valid at the share of positives of these rows.

    Raises
    ------
    ValueError
        If there are not two classes.

    Examples
    --------
    >>> from skboot.metrics import npv
    >>> npv(["no", "no", "no", "yes", "yes"], ["no", "no", "no", "yes", "no"])
    0.75
    """
    return _share("npv", y_true, y_pred, pos_label, labels, sample_weight)


def _share(
    metric: str,
    y_true: ArrayLike,
    y_pred: ArrayLike,
    pos_label: Any,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> float:
    """Weight of the rows that are of a class and decided so, by that of its members."""
    truth, decision = (
        label_column(name, column) for name, column in (("y_true", y_true), ("y_pred", y_pred))
    )
    truth, decision = check_integers("y_pred", truth, decision)
    weights = check_weights(sample_weight)
    check_same_length(y_true=truth, y_pred=decision, sample_weight=weights)
    check_same_kind("y_pred", truth, decision)
    all_labels = labels_in_order(truth, decision)
    checked = check_labels(labels, truth)
    if checked is not None:
        check_same_kind("labels", truth, checked)
        all_labels = np.union1d(all_labels, checked)
    check_two_classes("y_true", all_labels, pos_label, metric)
    if pos_label is None and category_order(truth) is not None:
        pos_label = all_labels.tolist()[-1]
    chosen = class_of(all_labels, pos_label, metric in ("specificity", "npv"))
    members = (truth if metric in ("sensitivity", "specificity") else decision) == chosen
    hits = (truth == chosen) & (decision == chosen)
    if weights is None:
        weights = np.ones(len(truth))
    total = float(weights[members].sum())
    return float(weights[hits].sum()) / total if total > 0 else float("nan")


def check_two_classes(name: str, occurring: NDArray[Any], pos_label: Any, metric: str) -> None:
    """Refuse other than two labels, and a positive label that is not among them."""
    labels = occurring.tolist()
    if len(labels) != 2:
        must = f"hold two classes for the metric {metric!r}"
        advice = "Name both by functools.partial of the metric function and labels=."
        if len(labels) > 2:
            advice = "Compare one class with the others: y_true == label, y_pred == label."
        noun = "label" if len(labels) == 1 else "labels"
        raise fail(name, must, f"{len(labels)} {noun}, {labels[:5]}", advice)
    if pos_label is not None and not is_among(pos_label, labels):
        advice = "Without it the greater label is positive."
        raise fail("pos_label", f"be one of {labels}", repr(pos_label), advice)


def check_two_labels(statistic: Statistic, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
    """Refuse rows of other than two labels, for a metric of decisions between two classes."""
    occurring = statistic.labels_in(y_true, y_pred)
    all_labels = occurring if statistic.labels is None else np.union1d(occurring, statistic.labels)
    if len(all_labels) > 2:
        refuse_other_labels(y_true, y_pred, statistic.name)
    check_two_classes("y_true", all_labels, statistic.pos_label, statistic.name)


class CellTerms(NamedTuple):
    """What a row of each cell adds to which sum; the first sum is the number of rows.

    Attributes
    ----------
    columns : ndarray of shape (n_cells, n_added)
        Numbers of the sums that a row of the cell adds to.
    values : ndarray of shape (n_cells, n_added)
        What it adds to them; 0 where a cell adds to fewer sums.
    n_terms : int
        Number of sums.
    """

    columns: NDArray[np.intp]
    values: Floats
    n_terms: int

    def accumulate(self, bin_of_cell: NDArray[np.intp], n_bins: int) -> Floats:
        """Sum what the cells of each bin add to each sum, (n_bins, n_terms)."""
        at = bin_of_cell[:, None] * self.n_terms + self.columns
        sums = np.bincount(at.ravel(), self.values.ravel(), n_bins * self.n_terms)
        return sums.astype(np.float64, copy=False).reshape(n_bins, self.n_terms)

    def terms_matrix(self, weights: Floats | None = None) -> Any:
        """Terms (n_cells, n_terms), sparse if large; sums over rows follow if weights can be 0."""
        n_cells = len(self.columns)
        has_zeros = weights is not None and bool(np.any(weights == 0))
        weighted = self if weights is None else self.weighted(weights)
        matrices = [weighted, self] if has_zeros else [weighted]
        if n_cells * self.n_terms * len(matrices) <= DENSE_TERMS:
            every = np.arange(n_cells)
            return np.hstack([terms.accumulate(every, n_cells) for terms in matrices])
        sparse_terms = []
        for cell_terms in matrices:
            n_added = cell_terms.columns.shape[1]
            cell = np.repeat(np.arange(n_cells), n_added)
            entries = (cell_terms.values.ravel(), (cell, cell_terms.columns.ravel()))
            matrix = sparse.csr_matrix(entries, shape=(n_cells, self.n_terms))
            matrix.eliminate_zeros()
            sparse_terms.append(matrix)
        return sparse.csr_matrix(sparse.hstack(sparse_terms)) if has_zeros else sparse_terms[0]

    def of(self, cell_of_row: NDArray[np.intp]) -> CellTerms:
        """The terms of rows instead of cells."""
        return CellTerms(self.columns[cell_of_row], self.values[cell_of_row], self.n_terms)

    def weighted(self, weights: Floats) -> CellTerms:
        """The terms of rows of these weights, (n_cells,)."""
        return self._replace(values=self.values * weights[:, None])


class LabelMetric(SumsStatistic):
    """A function of the confusion matrix.

    Notes
    -----
    Subclasses give `cell_terms` (what a cell adds to which sum) and `formula`. A label is present
    in a resample if one of its rows is, even if that row has weight zero, as in scikit-learn; so
    with weights of zero every sum is also taken over rows. ``constants_share_sums`` says that
    several constant decisions may be evaluated together.
    """

    response: Response = "labels"
    bounds: tuple[float, float] = (0.0, 1.0)
    adds_by_row = True
    constants_share_sums: ClassVar[bool] = True
    reads_cells = True

    @property
    def sketch(self) -> Sketch:  # type: ignore[override]
        """Pairs of labels; of several labels a row, nothing less than the rows."""
        return "cells" if self.response == "labels" else ""

    @abstractmethod
    def cell_terms(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> CellTerms:
        """What a row of each cell adds to each sum; the first sum is the number of rows."""

    @abstractmethod
    def formula(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        """Value from weighted sums and from sums over rows, (n_resamples, n_terms) each."""

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Code rows by what they add; with many weights each row is its own code."""
        assert y_true is not None
        cells = (self.shared_cells or Cells).of(y_true, y_pred)
        terms_of_cells = self.cell_terms(cells.truth, cells.decision, cells.labels)
        data = {
            "n_terms": terms_of_cells.n_terms,
            **self._data(cells.truth, cells.decision, cells.labels),
        }
        distinct, code_of_cell = _distinct_rows(
            np.hstack((terms_of_cells.columns, terms_of_cells.values))
        )
        counts = np.bincount(code_of_cell, cells.counts).astype(np.int64)
        order = np.argsort(-counts, kind="stable")
        narrow = bool if len(order) == 2 else np.min_scalar_type(len(order))
        number = np.empty(len(order), dtype=narrow)
        number[order] = np.arange(len(order))
        columns, values = equal_column_blocks(distinct[order], 2)
        terms_of_codes = CellTerms(columns.astype(np.intp), values, terms_of_cells.n_terms)
        coded = CellCodes(cells, number[code_of_cell])
        if sample_weight is not None:
            code = coded.of_rows
            # Codes are split by weight, or each row is reduced by itself where weights are many.
            split = WeightedCodes.of(code, len(terms_of_codes.columns), sample_weight)
            if split is None:
                terms = terms_of_codes.of(code.astype(np.intp)).terms_matrix(sample_weight)
                return ReducedData(None, len(code), terms, MappingProxyType(data))
            terms = terms_of_codes.of(split.unweighted).terms_matrix(split.weights)
            frozen = MappingProxyType(data)
            return ReducedData(split.code, len(split.unweighted), terms, frozen, split.counts)
        terms = terms_of_codes.terms_matrix()
        # Rows of the rarest pair of labels.
        n_pairs = len(cells.counts) if len(cells.labels) > 1 else 0
        data["fewest"] = cells.counts.min() if n_pairs == len(cells.labels) ** 2 else 0
        data["truth_counts"], data["decision_counts"] = cells.of_truth(), cells.of_decision()
        data["observed"] = np.asarray(counts[order] @ terms).reshape(-1)
        return ReducedData(coded, len(order), terms, MappingProxyType(data), counts[order])

    def combine(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Apply the formula; a resample without rows has no value."""
        n_terms = reduced.data["n_terms"]
        row_sums = sums[:, -n_terms:]
        with np.errstate(invalid="ignore", divide="ignore"):
            values = self.formula(sums[:, :n_terms], row_sums, reduced.data)
        return np.where(row_sums[:, 0] > 0, values, np.nan)

    def gradient(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Derivative of the formula by each sum; 0 where a sum has no rows."""
        n_terms = reduced.data["n_terms"]
        with np.errstate(invalid="ignore", divide="ignore"):
            gradient = self._gradient(sums[:, :n_terms], sums[:, -n_terms:], reduced.data)
        if not (all_positive(sums) and np.isfinite(gradient).all()):
            gradient = np.where(sums[:, :n_terms] > 0, np.nan_to_num(gradient), 0.0)
        if sums.shape[1] == n_terms:
            return gradient
        return np.hstack((gradient, np.zeros((len(sums), sums.shape[1] - n_terms))))

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Value of the best system that always gives the same label."""
        y_true, _, sample_weight = rows
        if reduced is not None and "truth_counts" in reduced.data:
            labels, counts = reduced.data["truth_counts"]
        elif y_true is not None:
            labels, counts = label_counts(y_true, sample_weight)
        else:
            return None
        chosen, values = self._different(labels), list[float]()
        step = max(1, CONSTANTS_AT_ONCE // len(labels)) if self.constants_share_sums else 1
        for start in range(0, len(chosen), step):
            # If each of some labels is always decided: its cells, summed by decision.
            decisions = chosen[start : start + step]
            truth = np.tile(np.arange(len(labels)), len(decisions))
            decision = np.repeat(decisions, len(labels))
            terms_of_cells = self.cell_terms(truth, decision, labels).weighted(counts[truth])
            bin_of_cell = np.repeat(np.arange(len(decisions)), len(labels))
            sums = terms_of_cells.accumulate(bin_of_cell, len(decisions))
            with np.errstate(invalid="ignore", divide="ignore"):
                values += self.formula(sums, sums, self._data(truth, decision, labels)).tolist()
        return max((value for value in values if not np.isnan(value)), default=None)

    def _different(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        """Positions of labels among which is one of each value that a constant decision has."""
        return np.arange(len(labels))

    def _data(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> dict[str, Any]:
        """Whatever else the formula needs of the cells."""
        return {"n_labels": len(labels)}

    @abstractmethod
    def _gradient(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        """Derivative of the formula by each weighted sum."""


def equal_column_blocks(sums: Floats, n_blocks: int) -> list[Floats]:
    """Blocks of columns of equal width; `numpy.split` takes longer than the formulas."""
    width = sums.shape[1] // n_blocks
    return [sums[:, k * width : (k + 1) * width] for k in range(n_blocks)]


def all_positive(values: Floats) -> bool:
    """Whether there are values, and all are above 0."""
    return bool(values.size) and bool(values.min() > 0)


def _distinct_rows(rows: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Distinct rows in rising order, and the number of each row among them."""
    if len(rows) <= FEW_CELLS:
        tuples = [tuple(row) for row in rows.tolist()]
        number = {row: k for k, row in enumerate(sorted(set(tuples)))}
        return np.array(list(number)), np.array([number[row] for row in tuples])
    # Numbers of a few values are put together much faster than whole rows are sorted.
    number_of_row = np.zeros(len(rows), dtype=np.intp)
    for column in rows.T[rows.min(axis=0) < rows.max(axis=0)]:
        # Nearly all terms are small whole numbers, which need not be sorted.
        integers = column.astype(np.int64)
        values, place = numbered(integers if np.array_equal(integers, column) else column)
        number_of_row = numbered(number_of_row * len(values) + place)[1]
    examples = np.empty(int(number_of_row.max()) + 1, dtype=np.intp)
    examples[number_of_row] = np.arange(len(rows))
    return rows[examples], number_of_row


# ------------------------------------------------------------------ ratios of sets
#
# A class of few rows weighs as much as one of many in macro averages and balanced accuracy, so that
# their intervals ask for the rows of each class (`averaged_sizes`); metrics that pool all rows do
# not.


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

    matrix_rule = "sets"

    def __post_init__(self) -> None:
        names = {PRECISION: "precision", RECALL: "recall", JACCARD: "jaccard", f_beta(1.0): "f1"}
        self.set_facts(
            pools_classes=self.classes is None,
            positive_by_default=f"sklearn.metrics.{names.get(self.ratio, 'fbeta')}_score",
            # It has a positive class.
            reads_decisions=self.pos_label is not None,
        )

    @property
    def pos_label(self) -> Any:
        """The positive one of two labels; None for sets that are pooled."""
        return self.classes.tolist()[0] if self.binary and self.classes is not None else None

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Refuse more than two labels where one of two is positive."""
        if not self.binary or self.pos_label is None:
            return
        labels = self.labels_in(y_true, y_pred)
        if len(labels) <= 2:
            return
        refuse_other_labels(y_true, y_pred, self.name)
        advice = (
            f"Average over classes: '{self.name.removesuffix('_score')}_macro', or the function "
            "with average='macro'."
        )
        must = f"hold at most two labels for the metric {self.name!r}"
        raise fail("y_true", must, f"{len(labels)} labels", advice)

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

    def formula(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        """Ratio of the two sums."""
        return np.where(sums[:, 2] > 0, sums[:, 1] / sums[:, 2], self.zero_division)

    def _gradient(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
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
            self.set_facts(classes=np.array([chosen]))
        super().__post_init__()


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
        sizes = None if self.weighted else averaged_sizes(self, reduced, rows)
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
        truth_column, decision_column = column[truth], column[decision]
        used = (truth_column >= 0, decision_column >= 0)
        hit = used[0] & (truth == decision)
        columns = np.column_stack(
            (
                np.zeros(len(truth), np.intp),
                np.where(hit, 1 + truth_column, 0),
                np.where(used[0], 1 + n_classes + truth_column, 0),
                np.where(used[1], 1 + 2 * n_classes + decision_column, 0),
            )
        )
        values = np.column_stack((np.ones(len(truth)), hit, *used)).astype(np.float64)
        return CellTerms(columns, values, 1 + 3 * n_classes)

    def formula(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        """Average over classes; scikit-learn falls back to an even one when no weight is left."""
        share, value, below = self._parts(sums, row_sums)
        mean: Floats = np.sum(share * value, axis=1)
        if not all_positive(below):
            mean[~share.any(axis=1)] = np.nan
        return mean

    def _parts(self, sums: Floats, row_sums: Floats) -> tuple[Floats, Floats, Floats]:
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
            included &= self._occur(row_sums)
        weight = included.astype(np.float64)
        if self.weighted:
            by_size = np.where(included, true, 0.0)
            weight = np.where(by_size.any(axis=1, keepdims=True), by_size, weight)
        total = weight.sum(axis=1, keepdims=True)
        share = np.where(total > 0, weight / np.where(total > 0, total, 1.0), 0.0)
        return share, np.where(share > 0, value, 0.0), below

    def _occur(self, row_sums: Floats) -> Any:
        """Which classes are true or predicted in each resample: the others leave the average."""
        _, true_rows, predicted_rows = equal_column_blocks(row_sums[:, 1:], 3)
        return true_rows + predicted_rows > 0

    def _gradient(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        share, value, below = self._parts(sums, row_sums)
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

    def __post_init__(self) -> None:
        # The lowest adjusted value is that of two classes.
        rule: MatrixRule = "adjusted recalls" if self.adjusted else "recalls"
        self.set_facts(bounds=(-1.0 if self.adjusted else 0.0, 1.0), matrix_rule=rule)

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Those of any metric, and the sizes of the classes.

        Adjusted, K classes of the truth without a hit have 1 / (1 - K).
        """
        facts, n_classes = super().facts(reduced, rows, members), reduced.data["n_classes"]
        facts = replace(facts, class_sizes=averaged_sizes(self, reduced, rows))
        lowest = self.adjusted and n_classes > 1
        return replace(facts, bounds=(1 / (1 - n_classes), 1.0)) if lowest else facts

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

    def formula(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        """Mean of hits by rows."""
        size, hits = equal_column_blocks(sums[:, 1:], 2)
        n_classes = np.count_nonzero(size > 0, axis=1)
        mean = np.where(size > 0, hits / size, 0.0).sum(axis=1) / n_classes
        return (mean - 1 / n_classes) / (1 - 1 / n_classes) if self.adjusted else mean

    def _gradient(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        size, hits = equal_column_blocks(sums[:, 1:], 2)
        n_classes = np.count_nonzero(size > 0, axis=1)
        # Of one class the adjusted value is undefined, and so is what a row adds to it.
        scale = np.where(n_classes > 1, n_classes - 1.0, np.nan) if self.adjusted else n_classes
        by_hit = 1 / (size * scale[:, None])
        return np.hstack((np.zeros((len(sums), 1)), -by_hit * hits / size, by_hit))


def _two_class(formula: SetFormula, negative: bool) -> Factory:
    """Factory of a ratio of one of two classes."""
    return lambda request, *, pos_label=None, labels=None: TwoClassRatio(
        request.name,
        formula,
        pos_label=pos_label,
        negative=negative,
        labels=None if labels is None else np.unique(np.asarray(labels)),
    )


fast_path("sensitivity", response="labels")(_two_class(RECALL, negative=False))
fast_path("specificity", response="labels")(_two_class(RECALL, negative=True))
fast_path("ppv", response="labels")(_two_class(PRECISION, negative=False))
fast_path("npv", response="labels")(_two_class(PRECISION, negative=True))


def _set_metric(
    request: MetricRequest,
    *,
    ratio_formula: SetFormula | None = None,
    beta: float = 1.0,
    labels: ArrayLike | None = None,
    pos_label: Any = 1,
    average: str = "binary",
    zero_division: Any = "warn",
) -> Statistic | None:
    """A ratio of set sizes for one class, pooled over classes, or averaged over them.

    Without a formula it is that of F-beta.
    """
    ratio_formula = f_beta(beta) if ratio_formula is None else ratio_formula
    undefined = 0.0 if isinstance(zero_division, str) else float(zero_division)
    classes = None if labels is None else np.asarray(labels)
    if average == "weighted" and ratio_formula == RECALL:
        # Weighted by their true members, the hits of all classes are shared by these.
        average = "micro"
    if average == "micro" and classes is None and ratio_formula != JACCARD:
        # Each row is a true member, and a predicted one, of one class.
        return accuracy(request.name)
    if average == "binary":
        positive = np.array([pos_label])
        return SetRatio(request.name, ratio_formula, positive, undefined, binary=True)
    if average == "micro":
        return SetRatio(request.name, ratio_formula, classes, undefined)
    if average in ("macro", "weighted"):
        return SetAverage(request.name, ratio_formula, average == "weighted", classes, undefined)
    return None


fast_path("precision_score", response="labels")(partial(_set_metric, ratio_formula=PRECISION))
fast_path("recall_score", response="labels")(partial(_set_metric, ratio_formula=RECALL))
fast_path("jaccard_score", response="labels")(partial(_set_metric, ratio_formula=JACCARD))
fast_path("f1_score", "fbeta_score", response="labels")(_set_metric)
fast_path("balanced_accuracy_score", response="labels")(
    lambda request, *, adjusted=False: BalancedAccuracy(request.name, adjusted)
)


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
    statistic: SetAverage | BalancedAccuracy, reduced: ReducedData, rows: Columns
) -> NDArray[np.int64] | None:
    """Rows of each class in an average that weighs them evenly, (n_classes,); None without any.

    A class that is never true has a value that does not vary, but few rows that are decided for it
    decide whether it is in the average at all: then they are its rows.
    """
    y_true, y_pred = rows[:2]
    if y_true is None:
        return None
    labels, counts = reduced.data.get("truth_counts") or label_counts(y_true)
    averaged = class_weights(statistic, labels, counts) > 0
    if not averaged.any():
        return None
    sizes = np.asarray(counts[averaged], dtype=np.int64)
    if isinstance(statistic, SetAverage):
        decided, n_decided = reduced.data.get("decision_counts") or label_counts(y_pred)
        never_true = decided if statistic.classes is None else np.unique(statistic.classes)
        never_true = never_true[~np.isin(never_true, labels[averaged])]
        n_rows = np.zeros(len(never_true), dtype=np.int64)
        at = encode(never_true, decided)
        n_rows[at >= 0] = n_decided[at[at >= 0]]
        # Where its value is undefined a class leaves the average.
        defined = not np.isnan(statistic.zero_division)
        has_value = (n_rows > 0) & (statistic.ratio.by_predicted > 0) | defined
        sizes = np.append(sizes, n_rows[has_value & (n_rows < FEW_DECIDED)])
    return sizes


# ------------------------------------------------------------------ coefficients of agreement


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

    def formula(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        """Covariance of truth and decision by their standard deviations."""
        covariance, truth_variance, decision_variance, varied = self._parts(sums)
        return np.where(varied, covariance / np.sqrt(truth_variance * decision_variance), 0.0)

    def _parts(self, sums: Floats) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
        truth, decision = equal_column_blocks(sums[:, 2:], 2)
        covariance = sums[:, 1] * sums[:, 0] - np.einsum("ij,ij->i", truth, decision)
        truth_variance, decision_variance = (
            margin.sum(axis=1) ** 2 - np.einsum("ij,ij->i", margin, margin)
            for margin in (truth, decision)
        )
        return (
            covariance,
            truth_variance,
            decision_variance,
            (truth_variance > 0) & (decision_variance > 0),
        )

    def _gradient(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        covariance, truth_variance, decision_variance, varied = self._parts(sums)
        truth, decision = equal_column_blocks(sums[:, 2:], 2)
        n, hits = sums[:, :1], sums[:, 1:2]
        scale = np.sqrt(truth_variance * decision_variance)[:, None]
        half = 0.5 * covariance[:, None] / scale
        # Chain rule: the derivative of the covariance, less that of the two variances.
        by_total = hits / scale - half * (
            2 * n / truth_variance[:, None] + 2 * n / decision_variance[:, None]
        )
        by_truth = -decision / scale + half * 2 * truth / truth_variance[:, None]
        by_decision = -truth / scale + half * 2 * decision / decision_variance[:, None]
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

    def formula(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        """One less observed by expected disagreement."""
        observed, expected, several = self._parts(sums)
        return np.where(several, 1 - observed / expected, np.nan)

    def _parts(self, sums: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        truth, decision = equal_column_blocks(sums[:, 2:], 2)
        observed = sums[:, 0] * (sums[:, 0] - sums[:, 1])
        expected = sums[:, 0] ** 2 - np.einsum("ij,ij->i", truth, decision)
        return observed, expected, np.count_nonzero(truth + decision > 0, axis=1) > 1

    def _gradient(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
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
    # The cells that occur, and so the sums, differ between constant decisions.
    constants_share_sums = False

    name: str = "cohen_kappa_score"
    weights: Literal["linear", "quadratic"] = "linear"
    order: Any = None
    bounds = (-1.0, 1.0)

    def cell_terms(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> CellTerms:
        """Sums: rows; rows of each cell that occurs."""
        cell = np.arange(len(truth))
        return CellTerms(
            np.column_stack((0 * cell, 1 + cell)), np.ones((len(cell), 2)), 1 + len(cell)
        )

    def _data(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> dict[str, Any]:
        if self.order is not None:
            place = np.argsort(np.argsort(encode(labels, np.asarray(self.order))))
            truth, decision = place[truth], place[decision]
        cell = np.arange(len(truth))
        shape = (len(truth), len(labels))
        margins = [
            sparse.csr_matrix((np.ones(len(cell)), (cell, side)), shape=shape)
            for side in (truth, decision)
        ]
        return {"truth": truth, "decision": decision, "margins": margins}

    def formula(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        """One less observed by expected disagreement."""
        observed, expected, several, _, _ = self._parts(sums, row_sums, data)
        return np.where(several, 1 - observed / expected, np.nan)

    def _parts(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> tuple[Any, ...]:
        cells = sums[:, 1:]
        to_truth, to_decision = data["margins"]
        truth, decision = cells @ to_truth, cells @ to_decision
        present = row_sums[:, 1:] @ (to_truth + to_decision) > 0
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

    def _gradient(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        observed, expected, several, apart, by_expected = self._parts(sums, row_sums, data)
        ratio = (observed / expected)[:, None]
        by_cell = (ratio * by_expected - sums[:, :1] * apart) / expected[:, None]
        by_total = -np.einsum("ij,ij->i", sums[:, 1:], apart) / expected
        return np.where(several[:, None], np.column_stack((by_total, by_cell)), 0.0)


fast_path("matthews_corrcoef", response="labels")(lambda request: MatthewsCoefficient(request.name))
fast_path("cohen_kappa_score", response="labels")(
    lambda request, *, weights=None: (
        Kappa(request.name)
        if weights is None
        else WeightedKappa(request.name, weights, request.order)
    )
)


# ------------------------------------------------------------------ likelihood ratios
#
# The positive one is sensitivity / (1 - specificity), the negative one (1 - sensitivity) /
# specificity. Both are ratios of products of two sums, so that one formula gives them.


@dataclass(frozen=True, eq=False)
class LikelihoodRatio(LabelMetric):
    """Share of one decision among the positives, by its share among the negatives.

    Parameters
    ----------
    name : str
        How results call it.
    negative_decision : bool
        Whether the decision is the negative one.
    if_undefined : float
        Value where no negative is decided so, as in scikit-learn.
    labels : ndarray of shape (n_labels,) or None
        Labels of the whole test set, of which a resample or subgroup may lack one.
    pos_label : label, optional
        The positive class; None: the greater label.
    """

    greater_is_positive = True
    reads_decisions = True

    name: str
    negative_decision: bool
    if_undefined: float
    labels: NDArray[Any] | None = None
    greater_is_better: bool | None = None
    bounds: tuple[float, float] = (0.0, np.inf)
    pos_label: Any = None

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Refuse other than two labels."""
        check_two_labels(self, y_true, y_pred)

    def cell_terms(
        self, truth: NDArray[np.intp], decision: NDArray[np.intp], labels: NDArray[Any]
    ) -> CellTerms:
        """Sums: rows; positives and negatives decided so, and those decided otherwise."""
        all_labels = labels if self.labels is None else self.labels
        positive = labels == class_of(all_labels, self.pos_label, negative=False)
        decided = positive[decision] != self.negative_decision
        column = np.where(decided, 1, 3) + np.where(positive[truth], 0, 1)
        columns = np.column_stack((np.zeros(len(truth), np.intp), column))
        return CellTerms(columns, np.ones((len(truth), 2)), 5)

    def formula(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        """Hits times negatives, by false alarms times positives."""
        _, hits, alarms, other_positives, other_negatives = sums.T
        ratio = hits * (alarms + other_negatives) / (alarms * (hits + other_positives))
        ratio = np.where(alarms > 0, ratio, self.if_undefined)
        # Both labels occur where not all rows are true positives, or all true negatives.
        right = (3, 2) if self.negative_decision else (1, 4)
        has_both = (row_sums[:, right[0]] < row_sums[:, 0]) & (
            row_sums[:, right[1]] < row_sums[:, 0]
        )
        return np.where(has_both, ratio, np.nan)

    def _gradient(self, sums: Floats, row_sums: Floats, data: Mapping[str, Any]) -> Floats:
        _, hits, alarms, other_positives, other_negatives = sums.T
        positives, negatives = hits + other_positives, alarms + other_negatives
        share, alarm_share = hits / positives, alarms / negatives
        by_positive, by_negative = 1 / (alarm_share * positives), share / (alarm_share * alarms)
        # The derivatives of a / (a + b) are (1 - share) / (a + b) and -share / (a + b).
        gradient = (
            np.zeros(len(sums)),
            by_positive * (1 - share),
            -by_negative * (1 - alarm_share),
            -by_positive * share,
            by_negative * alarm_share,
        )
        return np.column_stack(gradient)


def _likelihood_ratio(negative_decision: bool) -> Factory:
    """Factory of the ratio of positive, or of negative decisions."""
    return lambda request: LikelihoodRatio(
        request.name,
        negative_decision,
        _value_without_alarms(request.function, negative_decision),
        greater_is_better=not negative_decision,
        pos_label=request.pos_label,
    )


fast_path("positive_likelihood_ratio", response="labels")(
    _likelihood_ratio(negative_decision=False)
)
fast_path("negative_likelihood_ratio", response="labels")(_likelihood_ratio(negative_decision=True))


@lru_cache(maxsize=8)
def _value_without_alarms(function: Any, negative_decision: bool) -> float:
    """Number of scikit-learn where no negative is decided so: NaN, and 1 from version 1.7 on."""
    with unchecked(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function([0, 1, 1], [1, 0, 1] if negative_decision else [0, 0, 1]))
