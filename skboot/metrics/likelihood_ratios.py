"""Likelihood ratios of decisions between two classes, as scikit-learn defines them.

The positive one is sensitivity / (1 - specificity), the negative one (1 - sensitivity) /
specificity. Both are ratios of products of two sums, so that one formula gives them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.sklearn_compat import unchecked
from .labels import CellTerms, LabelMetric
from .registry import Factory, Request, fast_path
from .statistic import Floats
from .two_class import check_two_labels, class_of


@dataclass(frozen=True, eq=False)
class LikelihoodRatio(LabelMetric):
    """Share of one decision among the positives, by its share among the negatives.

    Parameters
    ----------
    name : str
        How results call it.
    of_negative : bool
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
    of_negative: bool
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
        decided = positive[decision] != self.of_negative
        column = np.where(decided, 1, 3) + np.where(positive[truth], 0, 1)
        columns = np.column_stack((np.zeros(len(truth), np.intp), column))
        return CellTerms(columns, np.ones((len(truth), 2)), 5)

    def formula(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        """Hits times negatives, by false alarms times positives."""
        _, hits, alarms, other_positives, other_negatives = sums.T
        ratio = hits * (alarms + other_negatives) / (alarms * (hits + other_positives))
        ratio = np.where(alarms > 0, ratio, self.if_undefined)
        return np.where(self._has_both_labels(rows), ratio, np.nan)

    def _has_both_labels(self, rows: Floats) -> NDArray[np.bool_]:
        """Whether not all rows are true positives, or all true negatives, (n_resamples,)."""
        right = (3, 2) if self.of_negative else (1, 4)
        return (rows[:, right[0]] < rows[:, 0]) & (rows[:, right[1]] < rows[:, 0])

    def _gradient(self, sums: Floats, rows: Floats, data: Mapping[str, Any]) -> Floats:
        _, hits, alarms, other_positives, other_negatives = sums.T
        positives, negatives = hits + other_positives, alarms + other_negatives
        share, of_alarms = hits / positives, alarms / negatives
        by_positive, by_negative = 1 / (of_alarms * positives), share / (of_alarms * alarms)
        # The derivatives of a / (a + b) are (1 - share) / (a + b) and -share / (a + b).
        gradient = (
            np.zeros(len(sums)),
            by_positive * (1 - share),
            -by_negative * (1 - of_alarms),
            -by_positive * share,
            by_negative * of_alarms,
        )
        return np.column_stack(gradient)


def _likelihood_ratio(of_negative: bool) -> Factory:
    def factory(request: Request) -> LikelihoodRatio:
        undefined = _value_without_alarms(request.function, of_negative)
        better = not of_negative
        return LikelihoodRatio(
            request.name,
            of_negative,
            undefined,
            greater_is_better=better,
            pos_label=request.pos_label,
        )

    return factory


fast_path("positive_likelihood_ratio", response="labels")(_likelihood_ratio(of_negative=False))
fast_path("negative_likelihood_ratio", response="labels")(_likelihood_ratio(of_negative=True))


@lru_cache(maxsize=8)
def _value_without_alarms(function: Any, of_negative: bool) -> float:
    """Number of scikit-learn where no negative is decided so: NaN, and 1 from version 1.7 on."""
    with unchecked(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function([0, 1, 1], [1, 0, 1] if of_negative else [0, 0, 1]))
