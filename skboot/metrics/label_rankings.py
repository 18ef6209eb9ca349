"""Metrics of how each row ranks its labels or items: means over rows.

The labels of a row are sorted by their scores once; labels of equal score make up a tie, whose ends
say how many labels score as much or more. A row of L labels costs L log L, a few rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.checks import fail
from ._tuning import RANKED_AT_ONCE
from .additive import RowMean
from .registry import Request, fast_path
from .statistic import Floats, Response

Array = NDArray[Any]


class _Ranked(NamedTuple):
    """Labels of each row, the largest score first, (n_rows, n_labels) each.

    Attributes
    ----------
    truth : ndarray
        Truth of the label at each place.
    start, end : ndarray
        First and last place of the tie that it is in.
    """

    truth: Array
    start: NDArray[np.intp]
    end: NDArray[np.intp]

    @classmethod
    def of(cls, truth: Array, score: Array) -> _Ranked:
        """Sort the labels of each row."""
        order = np.argsort(-score, axis=1, kind="stable")
        ordered = np.take_along_axis(score, order, axis=1)
        n_labels = score.shape[1]
        differs = ordered[:, 1:] != ordered[:, :-1]
        edge = np.ones((len(score), 1), dtype=bool)
        place = np.arange(n_labels)
        start = np.maximum.accumulate(np.where(np.hstack((edge, differs)), place, 0), axis=1)
        last = np.where(np.hstack((differs, edge)), place, n_labels)
        end = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
        return cls(np.take_along_axis(truth, order, axis=1), start, end)


def _in_pieces(row_values: Callable[..., Floats]) -> Callable[..., Floats]:
    """The values of rows, a few of them at a time, because each has several temporary arrays."""

    def values(y_true: Array, y_pred: Array, **options: Any) -> Floats:
        step = max(1, RANKED_AT_ONCE // y_true.shape[1])
        truth, score = (y.astype(np.float64, copy=False) for y in (y_true, y_pred))
        pieces = (slice(start, start + step) for start in range(0, len(truth), step))
        return np.concatenate([row_values(truth[at], score[at], **options) for at in pieces])

    return values


@_in_pieces
def _precision_of_row(truth: Array, score: Array, *, without: float = 1.0) -> Floats:
    """Mean over the labels of a row of the share of its labels among those that score as much.

    A row without labels has the value ``without``.
    """
    ranked = _Ranked.of(truth, score)
    hits = np.take_along_axis(np.cumsum(ranked.truth, axis=1), ranked.end, axis=1)
    total = np.sum(ranked.truth * hits / (ranked.end + 1), axis=1)
    n_true = truth.sum(axis=1)
    value = np.divide(total, n_true, out=np.full(len(truth), without), where=n_true > 0)
    # Where a row has all labels their order has no meaning either.
    return np.where(n_true == truth.shape[1], 1.0, value)


@_in_pieces
def _loss_of_row(truth: Array, score: Array) -> Floats:
    """Share of the pairs of a label of the row and another that are out of order or tied."""
    ranked = _Ranked.of(truth, score)
    n_true = truth.sum(axis=1)
    above = np.cumsum(ranked.truth, axis=1) - ranked.truth
    before = np.take_along_axis(above, ranked.start, axis=1)
    wrong = np.sum((1 - ranked.truth) * (n_true[:, None] - before), axis=1)
    n_pairs = n_true * (truth.shape[1] - n_true)
    return np.divide(wrong, n_pairs, out=np.zeros(len(truth)), where=n_pairs > 0)


@_in_pieces
def _area_of_row(truth: Array, score: Array) -> Floats:
    """Share of the pairs of a label of the row and another that are in order; a tie is half."""
    ranked = _Ranked.of(truth, score)
    n_true = truth.sum(axis=1)
    others = np.cumsum(1 - ranked.truth, axis=1)
    upto = np.take_along_axis(others, ranked.end, axis=1)
    before = np.take_along_axis(others - (1 - ranked.truth), ranked.start, axis=1)
    wrong = np.sum(ranked.truth * (before + upto), axis=1) / 2
    n_pairs = n_true * (truth.shape[1] - n_true)
    return 1 - np.divide(wrong, n_pairs, out=np.full(len(truth), np.nan), where=n_pairs > 0)


@_in_pieces
def _coverage_of_row(truth: Array, score: Array) -> Floats:
    """How far to go down the ranking of a row to cover its labels."""
    lowest = np.min(np.where(truth == 1, score, np.inf), axis=1, keepdims=True)
    return np.count_nonzero(score >= lowest, axis=1).astype(np.float64)


@_in_pieces
def _gain_of_row(
    truth: Array, score: Array, *, discount: Callable[[int], Floats], ignore_ties: bool
) -> Floats:
    """Discounted cumulative gain; items of equal score share the mean of their discounts."""
    discounts = discount(truth.shape[1])
    if ignore_ties:
        # As scikit-learn does: the last of equal scores comes first.
        order = np.argsort(score, axis=1)[:, ::-1]
        return np.asarray(np.take_along_axis(truth, order, axis=1) @ discounts)
    ranked = _Ranked.of(truth, score)
    upto = np.append(0.0, np.cumsum(discounts))
    shared = (upto[ranked.end + 1] - upto[ranked.start]) / (ranked.end + 1 - ranked.start)
    return np.asarray(np.sum(ranked.truth * shared, axis=1))


def _share_of_best_gain(y_true: Array, y_pred: Array, **options: Any) -> Floats:
    """Gain of a row by that of the best ranking; 0 where no item is relevant."""
    gain = _gain_of_row(y_true, y_pred, **options)
    best = _gain_of_row(y_true, y_true, **(options | {"ignore_ties": True}))
    return np.divide(gain, best, out=np.zeros(len(gain)), where=best > 0)


def _discounts(n_items: int, *, k: int | None, log_base: float) -> Floats:
    discount = 1 / (np.log(np.arange(n_items) + 2) / np.log(log_base))
    if k is not None:
        discount[k:] = 0
    return np.asarray(discount)


@fast_path("label_ranking_average_precision_score", response="label_scores", several_outputs=True)
def _average_precision(request: Request) -> RowMean:
    return RowMean(request.name, _precision_of_row, True, "label_scores", (0.0, 1.0))


def average_precision_of_rows(name: str) -> RowMean:
    """Average precision of the labels of each row, 0 where it has none, averaged over rows."""
    values = partial(_precision_of_row, without=0.0)
    return RowMean(name, values, True, "label_scores", (0.0, 1.0))


@dataclass(frozen=True, eq=False)
class AreaOfRows(RowMean):
    """Area under the ROC curve of the labels of each row, averaged over rows."""

    row_values: Any = _area_of_row
    greater_is_better: bool | None = True
    response: Response = "label_scores"
    bounds: tuple[float, float] = (0.0, 1.0)

    def check(self, y_true: Array, y_pred: Array) -> None:
        """Refuse rows that have all labels or none, which have no area."""
        n_true = y_true.sum(axis=1)
        bad = np.flatnonzero((n_true == 0) | (n_true == y_true.shape[1]))
        if len(bad):
            must = f"hold a label and lack one in each row for the metric {self.name!r}"
            got = f"{len(bad)} rows with all labels or none, the first in row {bad[0]}"
            raise fail("y_true", must, got, "Leave these rows out, or take average='macro'.")


@fast_path("label_ranking_loss", response="label_scores", several_outputs=True)
def _ranking_loss(request: Request) -> RowMean:
    return RowMean(request.name, _loss_of_row, False, "label_scores", (0.0, 1.0))


@fast_path("coverage_error", response="label_scores", several_outputs=True)
def _coverage_error(request: Request) -> RowMean:
    return RowMean(request.name, _coverage_of_row, False, "label_scores")


@fast_path("ndcg_score", response="relevances", several_outputs=True)
def _ndcg(request: Request, *, k: Any = None, ignore_ties: bool = False) -> RowMean | None:
    options = _options(k, 2, ignore_ties)
    if options is None:
        return None
    values = partial(_share_of_best_gain, **options)
    return RowMean(request.name, values, True, "relevances", (0.0, 1.0))


@fast_path("dcg_score", response="outputs", several_outputs=True)
def _dcg(
    request: Request, *, k: Any = None, log_base: Any = 2, ignore_ties: bool = False
) -> RowMean | None:
    options = _options(k, log_base, ignore_ties)
    if options is None:
        return None
    return RowMean(
        request.name, partial(_gain_of_row, **options), True, "outputs", (-np.inf, np.inf)
    )


def _options(k: Any, log_base: Any, ignore_ties: bool) -> dict[str, Any] | None:
    """Options of gains; None for those that scikit-learn refuses."""
    if k is not None and (isinstance(k, bool) or not isinstance(k, Integral) or int(k) < 1):
        return None
    if not isinstance(log_base, Real) or log_base <= 0:
        return None
    discount = partial(_discounts, k=None if k is None else int(k), log_base=float(log_base))
    return {"discount": discount, "ignore_ties": bool(ignore_ties)}
