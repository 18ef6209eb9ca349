"""Metrics of the labels that a row has, of which there are several (multilabel indicators).

* `LabelSetAverage`: precision, recall, F-beta or Jaccard of each label, averaged over labels;
* `LabelSetRatio`: the same of all labels pooled ("micro");
* means over rows: subset accuracy, Hamming loss, and the ratios of each row's set ("samples").

The sums and formulas are those of classes in `class_metrics`. Labels are those of the columns: none
leaves an average because a resample lacks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._base.checks import fail
from .._base.warnings import Note, tell
from ._tuning import FIRST_LOOK, ROWS_PER_MERGED_CODE, SPARSE_SHARE
from .additive import RowMean
from .class_metrics import JACCARD, PRECISION, RECALL, SetAverage, SetFormula, SetRatio, f_beta
from .posteriors import halved
from .registry import Factory, Request, fast_path
from .statistic import Columns, Floats, ReducedData, Response, Statistic

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LabelSetAverage(SetAverage):
    """Precision, recall, F-beta or Jaccard of each label, averaged over the labels.

    Parameters
    ----------
    name, ratio, weighted, zero_division
        As of `SetAverage`.
    """

    response: Response = "indicators"

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Terms: row; hits, true and predicted members of each label."""
        truth, decision = _sets(y_true, y_pred, self.classes)
        flags = np.hstack((np.ones((len(truth), 1), bool), truth & decision, truth, decision))
        # The hits follow from the others.
        key = None if sample_weight is not None else _bits(flags[:, 1 + truth.shape[1] :])
        sizes = truth.sum(axis=0)
        columns = np.arange(len(sizes)) if self.classes is None else self.classes
        counted = {"truth_counts": (columns, sizes)}
        return _reduced(flags, key, sample_weight, counted)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Value where each label is always decided, or never, whichever is better."""
        share = _shares(rows, self.classes)
        if share is None:
            return None
        always, never = (
            _ratio(self.ratio, hits, share, decided, self.zero_division)
            for hits, decided in ((share, 1.0), (0.0, 0.0))
        )
        values = np.fmax(always, never)
        weight = np.where(np.isnan(values), 0.0, share if self.weighted and share.any() else 1.0)
        return float(np.nansum(weight * values) / weight.sum()) if weight.any() else None

    def _occur(self, rows: Floats) -> Any:
        """Every label is in the average, whatever the resample."""
        return True


@dataclass(frozen=True, eq=False)
class LabelSetRatio(SetRatio):
    """Precision, recall, F-beta or Jaccard of all labels pooled.

    Parameters
    ----------
    name, ratio, zero_division
        As of `SetRatio`.
    """

    response: Response = "indicators"

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Terms: row, numerator, denominator."""
        assert y_true is not None
        hits, true, predicted = _sizes_of_rows(y_true, y_pred, self.classes)
        above, below = _sides(self.ratio, hits, true, predicted)
        key = None
        if sample_weight is None:
            n = y_true.shape[1] + 1
            key = (hits * n + true) * n + predicted
        terms = np.column_stack((np.ones(len(hits)), above, below))
        observed = {} if sample_weight is not None else {"observed": terms.sum(axis=0)}
        return _reduced(terms, key, sample_weight, observed)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Value of the best set that is always decided: the most frequent labels, of some number.

        Of two sets of one size, the one whose labels are more frequent has more hits.
        """
        share = _shares(rows, self.classes)
        if share is None:
            return None
        hits = np.append(0.0, np.cumsum(np.sort(share)[::-1]))
        values = _ratio(self.ratio, hits, share.sum(), np.arange(len(hits)), self.zero_division)
        return None if np.isnan(values).all() else float(np.nanmax(values))


def _sets(
    y_true: NDArray[Any] | None, y_pred: NDArray[Any], columns: NDArray[Any] | None
) -> tuple[Flags, Flags]:
    """Whether each row has each label, and whether that is decided, (n_samples, n_labels)."""
    assert y_true is not None
    if columns is not None:
        n = y_true.shape[1]
        if columns.min() < 0 or columns.max() >= n:
            must = f"have labels= that are numbers of columns, from 0 to {n - 1}"
            raise fail("metric", must, f"labels={columns.tolist()}")
        y_true, y_pred = y_true[:, columns], y_pred[:, columns]
    return y_true == 1, y_pred == 1


def _sizes_of_rows(
    y_true: NDArray[Any], y_pred: NDArray[Any], columns: NDArray[Any] | None
) -> list[NDArray[np.intp]]:
    """Hits, true and decided labels of each row."""
    truth, decision = _sets(y_true, y_pred, columns)
    return [np.count_nonzero(flags, axis=1) for flags in (truth & decision, truth, decision)]


def _shares(rows: Columns, columns: NDArray[Any] | None) -> Floats | None:
    """Share of the rows, by their weights, that have each label."""
    y_true, _, sample_weight = rows
    if y_true is None or (sample_weight is not None and not sample_weight.any()):
        return None
    truth, _ = _sets(y_true, y_true, columns)
    return np.asarray(np.average(truth, axis=0, weights=sample_weight))


def _sides(ratio: SetFormula, hits: Any, true: Any, predicted: Any) -> tuple[Any, Any]:
    """Numerator and denominator from the sizes of the sets."""
    below = ratio.by_tp * hits + ratio.by_true * true + ratio.by_predicted * predicted
    return ratio.of_tp * hits, below


def _ratio(ratio: SetFormula, hits: Any, true: Any, predicted: Any, undefined: float) -> Floats:
    above, below = np.broadcast_arrays(*_sides(ratio, hits, true, predicted))
    return np.divide(above, below, out=np.full(above.shape, float(undefined)), where=below > 0)


def _bits(flags: Flags) -> NDArray[Any]:
    """One value for each row of flags, equal for equal rows."""
    packed = np.ascontiguousarray(np.packbits(flags, axis=1))
    return packed.view(f"V{packed.shape[1]}").ravel()


def _reduced(
    terms: NDArray[Any], key: NDArray[Any] | None, sample_weight: Floats | None, data: Any
) -> ReducedData:
    """Rows by what they add; those of equal keys share a code where they are many."""
    data = MappingProxyType({"n_terms": terms.shape[1], **data})
    n_rows = len(terms)
    if key is not None and len(np.unique(key[:FIRST_LOOK])) * ROWS_PER_MERGED_CODE <= n_rows:
        _, first, code, counts = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        if len(first) * ROWS_PER_MERGED_CODE <= n_rows:
            return ReducedData(code.ravel(), len(first), _matrix(terms[first], None), data, counts)
    return ReducedData(None, n_rows, _matrix(terms, sample_weight), data)


def _matrix(terms: NDArray[Any], weights: Floats | None) -> Any:
    """Terms times weights, sparse where most are 0."""
    if np.count_nonzero(terms) < SPARSE_SHARE * terms.size:
        entries = sparse.csr_matrix(terms, dtype=np.float64)
        return entries if weights is None else sparse.csr_matrix(entries.multiply(weights[:, None]))
    return terms.astype(np.float64) if weights is None else terms * weights[:, None]


# ------------------------------------------------------------------ means over rows


@fast_path("accuracy_score", response="indicators", several_outputs=True)
def _accuracy(request: Request, *, normalize: bool = True) -> RowMean | None:
    return _of_whole_sets(request, _all_right, _largest_set) if normalize else None


@fast_path("zero_one_loss", response="indicators", several_outputs=True)
def _zero_one_loss(request: Request, *, normalize: bool = True) -> RowMean | None:
    return _of_whole_sets(request, _any_wrong, _outside_largest_set) if normalize else None


@fast_path("hamming_loss", response="indicators", several_outputs=True)
def _hamming_loss(request: Request) -> RowMean:
    return _of_whole_sets(request, _share_wrong, _least_share_wrong)


def _of_whole_sets(request: Request, row_values: Any, constant: Any) -> RowMean:
    return RowMean(
        request.name,
        row_values,
        greater_is_better=row_values is _all_right,
        response="indicators",
        bounds=(0.0, 1.0),
        constant=constant,
    )


def _all_right(y_true: NDArray[Any], y_pred: NDArray[Any]) -> Flags:
    return np.asarray((y_true == y_pred).all(axis=1))


def _any_wrong(y_true: NDArray[Any], y_pred: NDArray[Any]) -> Flags:
    return np.asarray((y_true != y_pred).any(axis=1))


def _share_wrong(y_true: NDArray[Any], y_pred: NDArray[Any]) -> Floats:
    return np.count_nonzero(y_true != y_pred, axis=1) / y_true.shape[1]


def _largest_set(y_true: NDArray[Any], sample_weight: Floats | None) -> float:
    which = np.unique(_bits(y_true == 1), return_inverse=True)[1].ravel()
    weights = np.bincount(which, sample_weight)
    return float(weights.max() / weights.sum())


def _outside_largest_set(y_true: NDArray[Any], sample_weight: Floats | None) -> float:
    return 1.0 - _largest_set(y_true, sample_weight)


def _least_share_wrong(y_true: NDArray[Any], sample_weight: Floats | None) -> float:
    share = np.average(y_true == 1, axis=0, weights=sample_weight)
    return float(np.minimum(share, 1 - share).mean())


@dataclass(frozen=True, eq=False)
class RatioOfRows(RowMean):
    """Mean over rows of the ratio of a row's sets, which counts as 0 where it has no value."""

    # It takes the value of rows without labels, too.
    row_values: Any = None

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Warn of rows without labels to divide by, as scikit-learn does."""
        n = np.count_nonzero(np.isnan(self.row_values(y_true, y_pred, undefined=np.nan)))
        if n:
            text = (
                f"{self.name} counts as 0 in {n} of {len(y_true)} rows, which have no labels to "
                "divide by: choose by a functools.partial of the function with average='samples' "
                "and zero_division=0 or 1."
            )
            tell(Note("undefined", text, about="rows without labels"))


def _ratio_of_row(
    y_true: NDArray[Any],
    y_pred: NDArray[Any],
    *,
    ratio: SetFormula,
    columns: NDArray[Any] | None,
    undefined: float,
) -> Floats:
    hits, true, predicted = _sizes_of_rows(y_true, y_pred, columns)
    return _ratio(ratio, hits, true, predicted, undefined)


@dataclass(frozen=True, eq=False)
class LossOfSets(RowMean):
    """Mean over rows of a loss of the probability of each of a row's labels."""

    response: Response = "label_scores"

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Refuse other numbers than probabilities."""
        if y_pred.min() < 0 or y_pred.max() > 1:
            must = f"hold probabilities for the metric {self.name!r}"
            raise fail("y_pred", must, f"numbers from {y_pred.min():g} to {y_pred.max():g}")


@fast_path("log_loss", response="label_scores", several_outputs=True)
def _log_loss(request: Request) -> RowMean:
    return LossOfSets(request.name, _log_losses)


@fast_path("brier_score_loss", response="label_scores", several_outputs=True)
def _brier_score_loss(request: Request, *, scale_by_half: Any = "auto") -> RowMean:
    halve = None if scale_by_half == "auto" else bool(scale_by_half)
    return LossOfSets(request.name, partial(_squared_distances, halve=halve))


def _log_losses(y_true: NDArray[Any], y_pred: NDArray[Any]) -> Floats:
    """As in scikit-learn, labels that a row lacks count for nothing."""
    prob = y_pred if y_pred.dtype.kind == "f" else y_pred.astype(np.float64)
    epsilon = np.finfo(prob.dtype).eps
    logs = np.log(np.clip(prob, epsilon, 1 - epsilon))
    return -np.where(y_true == 1, logs, 0.0).sum(axis=1, dtype=np.float64)


def _squared_distances(y_true: NDArray[Any], y_pred: NDArray[Any], *, halve: bool | None) -> Floats:
    squares = ((y_true - y_pred.astype(np.float64)) ** 2).sum(axis=1)
    return squares / 2 if halved(y_pred, halve) else squares


# ------------------------------------------------------------------ ratios


def _set_metric(
    request: Request, ratio: SetFormula, average: str, zero_division: Any, labels: Any
) -> Statistic | None:
    undefined = 0.0 if isinstance(zero_division, str) else float(zero_division)
    columns = None if labels is None else np.asarray(labels)
    if columns is not None and (columns.ndim != 1 or columns.dtype.kind not in "iu"):
        # What is no list of columns, or an empty one, the function refuses.
        return None
    if average == "micro":
        return LabelSetRatio(request.name, ratio, columns, undefined)
    if average in ("macro", "weighted"):
        weighted = average == "weighted"
        return LabelSetAverage(request.name, ratio, weighted, columns, undefined)
    if average != "samples" or np.isnan(undefined):
        # Rows of undefined ratios then leave the average.
        return None
    values = partial(_ratio_of_row, ratio=ratio, columns=columns, undefined=undefined)
    kind = RatioOfRows if isinstance(zero_division, str) else RowMean
    return kind(request.name, values, True, "indicators", (0.0, 1.0))


def _of_ratio(ratio: SetFormula) -> Factory:
    def factory(
        request: Request,
        *,
        labels: ArrayLike | None = None,
        pos_label: Any = 1,
        average: str = "binary",
        zero_division: Any = "warn",
    ) -> Statistic | None:
        # Averages over labels have no positive one; scorers give None for it.
        return _set_metric(request, ratio, average, zero_division, labels)

    return factory


for _name, _formula in {
    "precision_score": PRECISION,
    "recall_score": RECALL,
    "jaccard_score": JACCARD,
    "f1_score": f_beta(1.0),
}.items():
    fast_path(_name, response="indicators", several_outputs=True)(_of_ratio(_formula))


@fast_path("fbeta_score", response="indicators", several_outputs=True)
def _f_beta(
    request: Request,
    *,
    beta: float,
    labels: ArrayLike | None = None,
    pos_label: Any = 1,
    average: str = "binary",
    zero_division: Any = "warn",
) -> Statistic | None:
    return _set_metric(request, f_beta(beta), average, zero_division, labels)
