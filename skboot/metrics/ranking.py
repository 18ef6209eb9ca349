"""Metrics of the order in which scores put the rows.

* `RocAuc`: area under the ROC curve, of two classes or averaged over several;
* `AveragePrecision`: area under the precision-recall curve, as a step function;
* `delong_covariance`: variances and covariances of areas, without resampling.

Codes are numbered in the order of the scores. Consecutive scores of one class are merged where
that leaves few codes (rare positives, rounded scores): their order among themselves does not change
these metrics, and counts of merged codes are cheaper to draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import fail
from ._tuning import SECOND_ORDER_SHARE
from .additive import mean_of_values
from .cells import label_counts
from .checks import known_labels, sums_to_one
from .facts import DeLong, Facts
from .rank_cells import RankCells, cells_of_areas
from .registry import Request, fast_path
from .score_order import (
    Ranked,
    delong_variance,
    falling,
    falling_codes,
    level_ends,
    positive_rows,
    positive_scores,
    rank,
    score_codes,
    shares_in_order,
)
from .statistic import (
    Columns,
    Floats,
    ReadableBlock,
    Reading,
    ReducedData,
    Response,
    Sketch,
    Statistic,
)


def _sides(
    positive: NDArray[np.bool_], sample_weight: Floats | None, rows: NDArray[np.intp]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """What each position counts for as a positive and as a negative; flags without weights."""
    if sample_weight is None:
        return positive, ~positive
    weights = sample_weight[rows]
    return weights * positive, weights * ~positive


def _class_columns(y_true: NDArray[Any], labels: Any) -> NDArray[np.bool_]:
    """Which rows belong to each class, or have each label, (n_classes, n_samples)."""
    if y_true.ndim == 2:
        return np.asarray(y_true == 1).T
    classes = np.unique(y_true) if labels is None else np.asarray(labels)
    return y_true[None, :] == classes[:, None]


@dataclass(frozen=True, eq=False)
class RocAuc(Statistic):
    """Area under the ROC curve: P(score of a positive > score of a negative), ties half.

    Parameters
    ----------
    name : str
        How results call it.
    multi_class : {"ovr", "ovo"}, optional
        How several classes are averaged: each against the rest, or pair by pair (Hand & Till
        2001); as in `sklearn.metrics.roc_auc_score` with ``labels=``. Scores of one class, or two
        columns, are those of two classes in any case.
    average : {"macro", "weighted"}
        Plain mean over classes (pairs), or weighted by how many rows they have.
    labels : sequence, optional
        Class of each column, sorted; None: the sorted labels of ``y_true``.
    pos_label : label, optional
        Positive one of two classes; None: the larger.
    response : {"scores", "probabilities"}
        What predictions it takes.

    Notes
    -----
    NaN where a class is absent; pair by pair, absent classes are left out, and in a weighted mean
    over classes they weigh nothing (both as in scikit-learn).
    """

    name: str = "roc_auc"
    multi_class: Literal["ovr", "ovo"] | None = None
    average: Literal["macro", "weighted"] = "macro"
    labels: Any = None
    pos_label: Any = None
    response: Response = "scores"
    bounds = (0.0, 1.0)
    reads = "pairs"
    greater_is_positive = True
    of_order = True
    advice_on_several = "Use 'roc_auc_ovr' or 'roc_auc_ovo'."

    def __post_init__(self) -> None:
        if self.average not in ("macro", "weighted"):
            raise ValueError(f"average must be 'macro' or 'weighted'. Got {self.average!r}.")

    @property
    def sketch(self) -> Sketch:  # type: ignore[override]
        """Scores of two classes, or each column of several."""
        of_two = self.multi_class is None or (self.labels is not None and len(self.labels) < 3)
        if of_two:
            return "scores"
        return "pairs of columns" if self.multi_class == "ovo" else "columns"

    @property
    def averages_columns(self) -> bool:  # type: ignore[override]
        """Whether it was told how."""
        return self.multi_class is not None

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Refuse columns of several classes that are no probabilities, as scikit-learn does."""
        of_scores = self.averages_columns and self.response == "scores"
        several = of_scores and len(known_labels(self.labels, y_true)) > 2
        if several and not sums_to_one(y_pred):
            must = f"hold probabilities, with sum 1 in each row, for the metric {self.name!r}"
            raise fail("y_pred", must, "other sums", "Give what predict_proba returns.")

    def check_all(self, y_true: NDArray[Any]) -> None:
        """Refuse a class without a row, beside which no area is defined."""
        several = self.averages_columns and len(known_labels(self.labels, y_true)) > 2
        leaves_out = several and (self.multi_class == "ovo" or self.average == "weighted")
        if self.labels is not None and not leaves_out:
            occurring = label_counts(y_true)[0].tolist()
            missing = [
                label for label in np.asarray(self.labels).tolist() if label not in occurring
            ]
            if missing:
                must = f"hold rows of each class for the metric {self.name!r}"
                advice = "Add rows of it, or leave out its label and its column."
                raise fail("y_true", must, f"none of {missing[:5]}", advice)

    @property
    def lacks_labels(self) -> bool:  # type: ignore[override]
        """Whether several classes are averaged, and none was named."""
        return self.multi_class is not None and self.labels is None

    @property
    def takes_weights(self) -> bool:  # type: ignore[override]
        """Whether rows may carry weights; pair by pair they may not, as in scikit-learn."""
        return self.multi_class != "ovo"

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Number rows in score order; with several classes, keep an order for each."""
        assert y_true is not None
        if self.multi_class is not None and y_pred.ndim == 2 and y_pred.shape[1] > 2:
            return self._reduce_classes(y_true, y_pred, sample_weight)
        positive = positive_rows(y_true, self.pos_label)
        score = positive_scores(y_pred, self.labels, self.pos_label)
        codes = score_codes(positive, score, merge=sample_weight is None)
        upper, lower = _sides(codes.positive, sample_weight, codes.first)
        data = {"upper": upper, "lower": lower, "level": codes.level, "apart": 0.0}
        return ReducedData(codes.code, len(codes.first), data=MappingProxyType(data))

    def _reduce_classes(
        self, y_true: NDArray[Any], y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        member = _class_columns(y_true, self.labels)
        weights = np.ones(len(y_true)) if sample_weight is None else sample_weight
        ranked = [rank(of, y_pred[:, k]) for k, of in enumerate(member)]
        terms = member.T * weights[:, None]
        return self.of_ranked(ranked, member, terms, sample_weight)

    def of_ranked(
        self,
        ranked: Sequence[Ranked],
        member: NDArray[np.bool_],
        terms: Floats,
        sample_weight: Floats | None = None,
    ) -> ReducedData:
        """Reduce codes of several classes that have been put in order, for each by its scores.

        Parameters
        ----------
        ranked : sequence of Ranked
            Order of codes by the scores of each class.
        member : ndarray of shape (n_classes, n_codes), bool
            Which codes belong to each class.
        terms : ndarray of shape (n_codes, n_classes)
            What each code adds to the size of each class.
        sample_weight : ndarray of shape (n_codes,), optional
        """
        data = {"member": member, "sample_weight": sample_weight, "ranked": ranked}
        return ReducedData(None, len(terms), terms, MappingProxyType(data))

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Share of the pairs of a positive and a negative that are in order."""
        data = reduced.data
        with np.errstate(invalid="ignore", divide="ignore"):
            if "ranked" not in data:
                in_order, all_pairs = block.pairs(data["upper"], data["lower"], data["level"])
                return np.clip(in_order / all_pairs + data["apart"], 0.0, 1.0)
            totals = block.sums(reduced.terms)
            if self.multi_class == "ovr":
                return self._one_against_rest(block, data, totals)
            return self._pair_by_pair(block, data, totals)

    def _one_against_rest(self, block: ReadableBlock, data: Any, totals: Floats) -> Floats:
        areas = np.empty_like(totals)
        for k, ranked in enumerate(data["ranked"]):
            upper, lower = _sides(ranked.positive, data["sample_weight"], ranked.order)
            in_order, all_pairs = block.pairs(upper, lower, ranked.level, ranked.order)
            areas[:, k] = in_order / all_pairs
        return self._averaged(areas, totals)

    def _averaged(self, areas: Floats, totals: Floats) -> Floats:
        """Mean over classes, by their sizes where asked, (n_resamples,)."""
        if self.average == "macro":
            return areas.mean(axis=1)
        return np.where(totals > 0, areas * totals, 0.0).sum(axis=1) / totals.sum(axis=1)

    def _pair_by_pair(self, block: ReadableBlock, data: Any, totals: Floats) -> Floats:
        """Mean area over ordered pairs of classes that both occur."""
        area, total_weight = np.zeros((2, len(totals)))
        member = data["member"]
        for one, other in permutations(range(len(member)), 2):
            ranked = data["ranked"][one]
            among = np.flatnonzero((member[one] | member[other])[ranked.order])
            upper = ranked.positive[among]
            level = None if ranked.level is None else ranked.level[among]
            in_order, all_pairs = block.pairs(upper, ~upper, level, ranked.order[among])
            share = totals[:, one] + totals[:, other] if self.average == "weighted" else 1.0
            weight = np.where(all_pairs > 0, share, 0.0)
            area += weight * in_order / np.maximum(all_pairs, 1.0)
            total_weight += weight
        return area / total_weight

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Those of any metric, and the standard error of rows without weights."""
        known = super().facts(reduced, rows, members)
        if "ranked" in reduced.data:
            return replace(known, class_sizes=sizes_of_columns(rows))
        delong = None if known.weighted else self._delong(reduced)
        return replace(known, delong=delong, smaller_class=smaller_class(rows, self.pos_label))

    def _delong(self, reduced: ReducedData) -> DeLong | None:
        """Standard error of the area of two classes, and the size of the smaller class."""
        if reduced.code is None:
            return None
        rows, data = reduced.rows_of_codes, reduced.data
        sides = data["upper"], data["lower"]
        # Rows of a stream are counted already: as many codes as entries are then no single rows.
        if reduced.counts is not None or len(rows) < len(reduced.code):
            sides = rows * sides[0], rows * sides[1]
        sizes = [float(side.sum()) for side in sides]
        n_smaller = int(min(sizes))
        if n_smaller < 2:
            return DeLong(np.nan, 1) if n_smaller else None
        variance = delong_variance(sides[0], sides[1], data["level"])
        return DeLong(float(np.sqrt(variance)), n_smaller)

    def as_sums(self, reduced: ReducedData) -> tuple[Statistic, ReducedData] | None:
        """The area of two classes, and the mean of what rows change it by to first order.

        That is in proportion to the share of the other class that is in order with the row (DeLong
        et al. 1988). What is left out has at most the variance of a pair by the number of pairs.
        """
        data = reduced.data
        if "ranked" in data:
            return None
        rows, sides = reduced.rows_of_codes, (data["upper"], data["lower"])
        terms = np.empty((reduced.n_codes, 2))
        weights, values = terms.T
        np.add(*sides, out=weights)
        if reduced.n_codes < len(weights if reduced.code is None else reduced.code):
            sides = rows * sides[0], rows * sides[1]
        sizes = [float(side.sum()) for side in sides]
        if 0 in sizes:
            return None
        start = 0
        for (up, _), (of_upper, of_lower) in shares_in_order(*sides, data["level"]):
            values[start : start + len(up)] = np.where(up > 0, of_upper, of_lower)
            start += len(up)
        area = float(np.einsum("i,i->", sides[0], values)) / sizes[0]
        values -= area
        of_pairs = area * (1 - area)
        for side, size in zip(sides, sizes, strict=True):
            np.multiply(values, sum(sizes) / size, out=values, where=side > 0)
            of_pairs *= float(np.einsum("i,i->", side, weights)) / size**2
        values *= weights
        variance = float(np.einsum("i,i,i->", rows, values, values)) / sum(sizes) ** 2
        if of_pairs > SECOND_ORDER_SHARE * variance:
            return None
        about = MappingProxyType({"centre": area})
        return mean_of_values(self.name), replace(reduced, terms=terms, data=about)

    def in_cells(self, reduced: ReducedData) -> ReducedData | None:
        """Rows of consecutive scores as two codes: the negatives and the positives of each cell."""
        code, data = reduced.code, reduced.data
        if code is None or "ranked" in data or data["upper"].dtype != bool:
            return None
        of_cells = cells_of_areas(reduced.rows_of_codes, data["upper"], data["level"])
        assert of_cells.code is not None
        return replace(of_cells, code=of_cells.code[code])

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Scores that do not depend on the input put pairs in order half the time."""
        return 0.5


def equal_rows(weights: Floats) -> float:
    """Rows of equal weight that are worth these: (sum w)^2 / sum w^2; 0 without any."""
    largest = weights.max(initial=0.0)
    if largest == 0:
        return 0.0
    relative = weights / largest
    return float(relative.sum() ** 2 / np.sum(relative**2))


def smaller_class(rows: Columns, pos_label: Any) -> int | None:
    """Rows of the smaller of two classes; of weighted rows as many as they are worth (Kish 1965).

    None where a class is absent, or the truth is not known row by row.
    """
    y_true, _, weights = rows
    if y_true is None or y_true.ndim > 1:
        return None
    positive = positive_rows(y_true, pos_label)
    sides = [positive, ~positive]
    if weights is None:
        return min(int(np.count_nonzero(side)) for side in sides) or None
    return min(int(equal_rows(weights[side]) + 1e-9) for side in sides) or None


def sizes_of_columns(rows: Columns) -> NDArray[np.int64] | None:
    """Rows of each class, or label, or all others if these are fewer, (n_classes,); at least 1."""
    y_true = rows[0]
    if y_true is None:
        return None
    counts = np.unique(y_true, return_counts=True)[1] if y_true.ndim == 1 else y_true.sum(axis=0)
    return np.maximum(np.minimum(counts, len(y_true) - counts), 1).astype(np.int64)


@fast_path("roc_auc_score", response="scores")
def _roc_auc(
    request: Request,
    *,
    average: Any = "macro",
    multi_class: Any = "raise",
    labels: ArrayLike | None = None,
) -> RocAuc | None:
    if average not in ("macro", "weighted"):
        return None
    several = None if multi_class == "raise" else multi_class
    return RocAuc(request.name, several, average, request.columns(labels), request.pos_label)


@dataclass(frozen=True, eq=False)
class AveragePrecision(Statistic):
    """Average precision: precision at each threshold, weighted by the recall it adds.

    Parameters
    ----------
    name : str
        How results call it.
    average : {"macro", "weighted"}
        With several classes, the mean of each against the rest: plain, or weighted by how many
        rows they have; as in `sklearn.metrics.average_precision_score`.
    labels : sequence, optional
        Class of each column, sorted; None: the sorted labels of ``y_true``.
    pos_label : label, optional
        Positive one of two classes; None: the larger.
    response : {"scores", "probabilities"}
        What predictions it takes.

    Notes
    -----
    NaN without positives; with several classes, where a class is absent.
    """

    name: str = "average_precision"
    average: Literal["macro", "weighted"] = "macro"
    labels: Any = None
    pos_label: Any = None
    response: Response = "scores"
    bounds = (0.0, 1.0)
    reads = "running"
    of_order = True
    averages_columns = True
    positive_by_default = "sklearn.metrics.average_precision_score"

    def __post_init__(self) -> None:
        if self.average not in ("macro", "weighted"):
            raise ValueError(f"average must be 'macro' or 'weighted'. Got {self.average!r}.")

    @property
    def sketch(self) -> Sketch:  # type: ignore[override]
        """Scores of two classes, or each column of several."""
        return "scores" if self.labels is None or len(self.labels) < 3 else "columns"

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Number rows in falling order of scores; with several classes, keep an order for each."""
        assert y_true is not None
        if y_pred.ndim == 2 and y_pred.shape[1] > 2:
            return self._reduce_classes(y_true, y_pred, sample_weight)
        positive = positive_rows(y_true, self.pos_label)
        score = positive_scores(y_pred, self.labels, self.pos_label)
        codes = falling_codes(positive, score, merge=sample_weight is None)
        # Flags take an eighth of the memory of numbers.
        terms: NDArray[Any] = np.ones((len(codes.positive), 2), dtype=bool, order="F")
        terms[:, 0] = codes.positive
        if sample_weight is not None:
            terms = terms * sample_weight[codes.first][:, None]
        curve = _Curve(terms, _ends_of_positives(codes.positive, codes.level), None)
        data = {"curves": [curve], "equal_weights": sample_weight is None}
        return ReducedData(codes.code, len(codes.first), terms, MappingProxyType(data))

    def _reduce_classes(
        self, y_true: NDArray[Any], y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        member = _class_columns(y_true, self.labels)
        ranked = [rank(of, y_pred[:, k]) for k, of in enumerate(member)]
        return self.of_ranked(ranked, member, member.T, sample_weight)

    def of_ranked(
        self,
        ranked: Sequence[Ranked],
        member: NDArray[np.bool_],
        terms: NDArray[Any],
        sample_weight: Floats | None = None,
    ) -> ReducedData:
        """Reduce codes of several classes that have been put in order, for each by its scores.

        Parameters
        ----------
        ranked : sequence of Ranked
            Order of codes by the scores of each class.
        member, terms : ndarray
            See `RocAuc.of_ranked`; here one row of ``terms`` for each code is all that is read.
        sample_weight : ndarray of shape (n_codes,), optional
        """
        weights = np.ones(len(terms)) if sample_weight is None else sample_weight
        curves = []
        for one in ranked:
            down = falling(one)
            of_codes = weights[down.order]
            terms = np.column_stack((of_codes * down.positive, of_codes))
            ends = _ends_of_positives(down.positive, down.level)
            curves.append(_Curve(terms, ends, down.order))
        data = {"curves": curves, "equal_weights": sample_weight is None}
        return ReducedData(None, len(terms), data=MappingProxyType(data))

    def reading(self, reduced: ReducedData) -> Reading:
        """Units of equal weight have few terms, and so a closed form without one of them."""
        return "thresholds" if reduced.data["equal_weights"] else "running"

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Those of any metric, and how many are in the smaller class of rows without weights."""
        known = super().facts(reduced, rows, members)
        if len(reduced.data["curves"]) > 1:
            return replace(known, class_sizes=sizes_of_columns(rows))
        return replace(known, smaller_class=smaller_class(rows, self.pos_label))

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Sum over thresholds of precision times recall added, averaged over classes."""
        areas, positives = zip(
            *(_area_under(block, curve) for curve in reduced.data["curves"]), strict=True
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            return self._averaged(np.stack(areas), np.stack(positives))

    def _averaged(self, areas: Floats, sizes: Floats) -> Floats:
        """Mean over classes, by their sizes where asked, of (n_classes, n_resamples)."""
        weights = sizes if self.average == "weighted" else np.ones_like(areas)
        mean: Floats = (areas * weights).sum(axis=0) / weights.sum(axis=0)
        return mean

    def in_cells(self, reduced: ReducedData) -> ReducedData | None:
        """Rows of consecutive scores as two codes: the negatives and the positives of each cell."""
        code, [curve, *others] = reduced.code, reduced.data["curves"]
        if code is None or others or not (reduced.data["equal_weights"] and len(curve.ends)):
            return None
        along = reduced.rows_of_codes, reduced.terms[:, 0], curve.ends
        cells = RankCells.of(*along)
        codes = cells.codes(*along)
        in_cells = _Curve(codes.terms, np.flatnonzero(codes.terms[:, 0]), None, cells)
        data = MappingProxyType({"curves": [in_cells], "equal_weights": True})
        return ReducedData(codes.number[code], len(codes.rows), codes.terms, data, codes.rows)

    def least_in_intervals(
        self,
        positive: NDArray[np.bool_],
        interval: NDArray[Any],
        weights: Floats,
        movable: NDArray[np.bool_],
    ) -> float:
        """Precision if each positive of an interval has a score of its own, below negatives.

        Rows of equal scores are no interval: they stay together. Between thresholds that are ever
        closer, the precision (p + x) / (p + x + n) is integrated.
        """
        at = interval.astype(np.intp)
        gained, wrong = (
            np.bincount(at, weights * side, int(at.max()) + 1)[::-1]
            for side in (positive, ~positive)
        )
        before, false = np.cumsum(gained) - gained, np.cumsum(wrong)
        with np.errstate(divide="ignore", invalid="ignore"):
            lost = false * np.log((before + gained + false) / (before + false))
            of_ties = gained * false / (before + gained + false)
        lost = np.where(np.bincount(at, movable, int(at.max()) + 1)[::-1] > 0, lost, of_ties)
        area = gained - np.where((gained > 0) & (false > 0), lost, 0.0)
        return float(area.sum() / gained.sum())

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """One score for all rows has the share of positives as its precision."""
        y_true, y_pred, sample_weight = rows
        if y_true is None:
            return None
        if y_pred.ndim == 1 or y_pred.shape[1] <= 2:
            positive = positive_rows(y_true, self.pos_label)
            return float(np.average(positive, weights=sample_weight))
        member = _class_columns(y_true, self.labels)
        share = np.average(member, axis=1, weights=sample_weight)
        return float(np.average(share, weights=share if self.average == "weighted" else None))


@fast_path("average_precision_score", response="scores")
def _average_precision(
    request: Request, *, average: Any = "macro", pos_label: Any = 1
) -> AveragePrecision | None:
    if average not in ("macro", "weighted"):
        return None
    return AveragePrecision(request.name, average, request.labels, pos_label)


class _Curve(NamedTuple):
    """Arguments of ``block.sum_over_thresholds``: terms (positives, all), ends and order.

    Of cells, the terms are (positives, negatives).
    """

    terms: NDArray[Any]
    ends: NDArray[np.intp]
    order: NDArray[np.intp] | None
    cells: RankCells | None = None


def _ends_of_positives(
    positive: NDArray[np.bool_], level: NDArray[np.signedinteger] | None
) -> NDArray[np.intp]:
    """Ends of the levels that hold positives: only there precision adds to the sum."""
    if level is None:
        return np.flatnonzero(positive)
    ends = level_ends(level)
    ends = np.arange(len(level)) if ends is None else ends
    with_positives = np.bincount(level - level[0], positive) > 0
    return ends[with_positives[level[ends] - level[0]]]


def _area_under(block: ReadableBlock, curve: _Curve) -> tuple[Floats, Floats]:
    """Average precision and weight of the positives of each resample, (n_resamples,) each."""
    if curve.cells is None:
        area, (positives, _) = block.sum_over_thresholds(
            curve.terms, _precision_steps, curve.ends, curve.order
        )
    else:
        area, positives = curve.cells.area(block, curve.terms, curve.ends)
    with np.errstate(invalid="ignore"):
        return area / positives, positives


def _precision_steps(before: Floats, sums: Floats) -> Floats:
    """Sum over thresholds of precision times positives added."""
    hits, every = sums
    if not every[:, 0].all():
        # No drawn row has a score this high, so that precision is 0 / 0; it adds no recall, and
        # any finite value will do.
        np.maximum(every, np.finfo(np.float64).tiny, out=every)
    precision = np.divide(hits, every, out=every)
    area: Floats = (hits[:, 0] - before[0]) * precision[:, 0]
    area += np.einsum("ij,ij->i", hits[:, 1:] - hits[:, :-1], precision[:, 1:])
    return area


def delong_covariance(y_positive: NDArray[np.bool_], scores: NDArray[Any]) -> tuple[Floats, Floats]:
    """Areas under the ROC curves of several systems on the same rows, and their covariance.

    Parameters
    ----------
    y_positive : ndarray of shape (n_samples,), bool
        Which rows are positive.
    scores : ndarray of shape (n_systems, n_samples)
        Scores of each system, larger for the positive class.

    Returns
    -------
    auc : ndarray of shape (n_systems,)
        NaN if a class is absent.
    covariance : ndarray of shape (n_systems, n_systems)
        NaN with fewer than two rows of either class.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44, 837-845, equations 4 and 5; in
    O(n log n) by mid-ranks after Sun & Xu (2014), IEEE Signal Processing Letters 21, 1389-1393.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot.metrics.ranking import delong_covariance
    >>> scores = np.array([[0.1, 0.4, 0.35, 0.8], [0.2, 0.1, 0.3, 0.4]])
    >>> auc, covariance = delong_covariance(np.array([False, False, True, True]), scores)
    >>> auc.round(3)
    array([0.75, 1.  ])
    """
    y_positive = np.asarray(y_positive, dtype=bool)
    placements = np.stack([_placements(y_positive, score) for score in np.asarray(scores)])
    of_positives, of_negatives = placements[:, y_positive], placements[:, ~y_positive]
    n_systems = len(placements)
    if 0 in (of_positives.shape[1], of_negatives.shape[1]):
        return np.full(n_systems, np.nan), np.full((n_systems, n_systems), np.nan)
    covariance = np.zeros((n_systems, n_systems))
    for side in (of_positives, of_negatives):
        n = side.shape[1]
        centred = side - side.mean(axis=1, keepdims=True)
        covariance += centred @ centred.T / (n * (n - 1)) if n > 1 else np.nan
    return of_positives.mean(axis=1), covariance


def _placements(positive: NDArray[np.bool_], score: NDArray[Any]) -> Floats:
    """Share of the other class that each row is in order with, ties half, (n_samples,)."""
    ranked = rank(positive, score)
    placements, start = np.empty(len(score)), 0
    sides = ranked.positive, ~ranked.positive
    for (upper, _), (of_positive, of_negative) in shares_in_order(*sides, ranked.level):
        rows = ranked.order[start : start + len(upper)]
        placements[rows] = np.where(upper > 0, of_positive, of_negative)
        start += len(upper)
    return placements
