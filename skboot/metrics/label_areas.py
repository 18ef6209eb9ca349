"""Areas under the curves of the scores of each label, of which a row has several or none.

* `LabelsRocAuc`: area under the ROC curve, averaged over the labels;
* `LabelsAveragePrecision`: average precision, averaged over the labels.

The orders and curves are those of classes in `ranking`. Labels are those of the columns: none
leaves an average because a resample lacks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .label_rankings import AreaOfRows, average_precision_of_rows
from .ranking import AveragePrecision, RocAuc
from .registry import Request, fast_path
from .statistic import Columns, Floats, ReducedData, Response, Statistic


@dataclass(frozen=True, eq=False)
class LabelsRocAuc(RocAuc):
    """Area under the ROC curve of the scores of each label, averaged over the labels.

    Parameters
    ----------
    name, average
        As of `RocAuc`.

    Notes
    -----
    NaN where all rows have a label or none has it; weighted, a label that none has counts for
    nothing, and where none has any the mean is 0 (both as in scikit-learn).
    """

    multi_class: Literal["ovr", "ovo"] | None = "ovr"
    response: Response = "label_scores"
    sketch = ""
    lacks_labels = False

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Keep an order of the rows for each label."""
        assert y_true is not None
        return self._reduce_classes(y_true, y_pred, sample_weight)

    def _averaged(self, areas: Floats, totals: Floats) -> Floats:
        return _mean_over_labels(areas, totals, self.average)


@dataclass(frozen=True, eq=False)
class LabelsAveragePrecision(AveragePrecision):
    """Average precision of the scores of each label, averaged over the labels.

    Parameters
    ----------
    name, average
        As of `AveragePrecision`.

    Notes
    -----
    0 for a label that no row has, as in scikit-learn.
    """

    response: Response = "label_scores"
    sketch = ""

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Keep a falling order of the rows for each label."""
        assert y_true is not None
        return self._reduce_classes(y_true, y_pred, sample_weight)

    def _averaged(self, areas: Floats, sizes: Floats) -> Floats:
        return _mean_over_labels(np.where(sizes > 0, areas, 0.0).T, sizes.T, self.average)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """One score for all rows has the share of the rows that have a label as its precision."""
        y_true, _, sample_weight = rows
        if y_true is None:
            return None
        share = np.average(y_true == 1, axis=0, weights=sample_weight)
        return float(_mean_over_labels(share[None], share[None], self.average)[0])


def _mean_over_labels(values: Floats, sizes: Floats, average: str) -> Floats:
    """Mean over labels, plain or by the rows that have them, of (n_resamples, n_labels)."""
    if average == "macro":
        return np.asarray(values.mean(axis=1))
    total = sizes.sum(axis=1)
    mean = np.where(sizes > 0, values * sizes, 0.0).sum(axis=1)
    return np.divide(mean, total, out=np.zeros(len(total)), where=total > 0)


@fast_path("roc_auc_score", response="label_scores", several_outputs=True)
def _roc_auc(
    request: Request, *, average: Any = "macro", multi_class: Any = "raise", labels: Any = None
) -> Statistic | None:
    # How classes would be averaged, and in which order, is of no matter to labels.
    if average == "samples":
        return AreaOfRows(request.name)
    known = average in ("macro", "weighted")
    return LabelsRocAuc(request.name, average=average) if known else None


@fast_path("average_precision_score", response="label_scores", several_outputs=True)
def _average_precision(request: Request, *, average: Any = "macro") -> Any:
    if average == "samples":
        return average_precision_of_rows(request.name)
    known = average in ("macro", "weighted")
    return LabelsAveragePrecision(request.name, average=average) if known else None
