"""Metrics of the order in which scores put the rows.

* `RocAuc`: area under the ROC curve, of two classes or averaged over several;
* `AveragePrecision`: area under the precision-recall curve, as a step function;
* `delong_covariance`: variances and covariances of areas, without resampling.

Codes are numbered in the order of the scores. Consecutive scores of one class are merged where
that leaves few codes (rare positives, rounded scores): their order among themselves does not change
these metrics, and counts of merged codes are cheaper to draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import fail
from .._base.values import equal_units
from ._tuning import (
    RANK_CELLS,
    ROWS_AT_ONCE,
    ROWS_BY_THEMSELVES,
    ROWS_PER_MERGED_CODE,
    SECOND_ORDER_SHARE,
)
from .cells import known_labels, label_counts, sums_to_one
from .means import mean_of_values
from .statistic import (
    Columns,
    DeLong,
    Facts,
    Floats,
    MetricRequest,
    ReadableBlock,
    Reading,
    ReducedData,
    Response,
    Sketch,
    Statistic,
    TermColumns,
    fast_path,
)

# ------------------------------------------------------------------ codes in the order of scores


class RankedRows(NamedTuple):
    """Rows in rising order of their scores.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        Rows in rising order; at equal scores the negatives first.
    positive : ndarray of shape (n_samples,), bool
        Whether these rows are positive, in this order.
    level : ndarray of shape (n_samples,) or None
        Number of the score of these rows; None if no two scores are equal.
    """

    order: NDArray[np.intp]
    positive: NDArray[np.bool_]
    level: NDArray[np.signedinteger] | None


class Codes(NamedTuple):
    """Codes in the order of the scores.

    Attributes
    ----------
    code : ndarray of shape (n_samples,)
        Code of each row, of a narrow type.
    positive : ndarray of shape (n_codes,), bool
        Class of each code.
    level : ndarray of shape (n_codes,) or None
        Rising numbers, equal where scores are equal; None if no two are.
    row_of_code : ndarray of shape (n_codes,)
        A row of each code.
    """

    code: NDArray[np.signedinteger]
    positive: NDArray[np.bool_]
    level: NDArray[np.signedinteger] | None
    row_of_code: NDArray[np.intp]

    @property
    def ends(self) -> NDArray[np.intp] | None:
        """Codes after which a threshold can lie, the last among them; None: after each."""
        return level_ends(self.level)


def positive_rows(y_true: NDArray[Any], pos_label: Any = None) -> NDArray[np.bool_]:
    """Find the rows of the positive class: `pos_label`, or the larger of two labels.

    Parameters
    ----------
    y_true : ndarray of shape (n_samples,)
        Labels of two classes; if one alone occurs, it is positive unless it is 0, -1 or False.
    pos_label : label, optional
        The positive class.

    Returns
    -------
    ndarray of shape (n_samples,), bool

    Raises
    ------
    ValueError
        If more than two classes occur.
    """
    if y_true.dtype == bool and pos_label is None:
        return y_true
    if y_true.dtype.kind in "biuf":
        labels = np.array([y_true.min(), y_true.max()])
        n_labelled = sum(np.count_nonzero(y_true == label) for label in set(labels.tolist()))
        several = n_labelled < len(y_true)
    else:
        labels = np.unique(y_true)
        several = len(labels) > 2
    if several:
        raise ValueError("Scores of one class need a y_true of two classes. Got more.")
    if pos_label is None and labels[0] == labels[-1] and labels[0] in (0, -1):
        return np.zeros(len(y_true), dtype=bool)
    positive: NDArray[np.bool_] = y_true == (labels[-1] if pos_label is None else pos_label)
    return positive


def positive_scores(
    y_pred: NDArray[Any], labels: ArrayLike | None = None, pos_label: Any = None
) -> NDArray[Any]:
    """Scores of the positive class: its one of two columns, or the scores themselves.

    Parameters
    ----------
    y_pred : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Scores.
    labels : array-like of shape (n_classes,), optional
        Label of each column; by default they rise.
    pos_label : label, optional
        The positive class; by default the larger label.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    if y_pred.ndim == 1:
        return y_pred
    if y_pred.shape[1] > 2:
        raise ValueError("Scores of several classes need multi_class='ovr' or 'ovo'.")
    column_labels = [] if labels is None else np.asarray(labels).tolist()
    if len(column_labels) == 2:
        positive = max(column_labels) if pos_label is None else pos_label
        return y_pred[:, 0] if column_labels[0] == positive else y_pred[:, 1]
    return y_pred[:, -1]


def rank(
    positive: NDArray[np.bool_], score: NDArray[Any], *, in_row_order: bool = False
) -> RankedRows:
    """Sort rows by score; at equal scores put the negatives first.

    With ``in_row_order`` rows of one class and score stay in their order, which else depends on the
    processor: the fastest sort is not stable.
    """
    order = np.argsort(score, kind="stable" if in_row_order else None)
    n = len(order)
    new = np.empty(max(n - 1, 0), dtype=bool)
    for start in range(0, len(new), ROWS_AT_ONCE):
        # No copy of all scores: there may be as many rows as memory holds a few times.
        scores = score[order[start : start + ROWS_AT_ONCE + 1]]
        np.not_equal(scores[1:], scores[:-1], out=new[start : start + ROWS_AT_ONCE])
    if new.all():
        return RankedRows(order, positive[order], None)
    level: NDArray[Any] = np.zeros(n, _narrow(n))
    np.cumsum(new, out=level[1:])
    positive = positive[order]
    # Only rows that tie with the other class may have to change places.
    mixed = np.flatnonzero(_is_mixed(positive, level))
    class_order = mixed[
        np.argsort(2 * level[mixed].astype(np.intp) + positive[mixed], kind="stable")
    ]
    order[mixed], positive[mixed] = order[class_order], positive[class_order]
    return RankedRows(order, positive, level)


def _narrow(n: int) -> type:
    """Type of the numbers of n rows: half as large where it does."""
    return np.int32 if n < 1 << 31 else np.int64


def score_codes(positive: NDArray[np.bool_], score: NDArray[Any], *, merge: bool) -> Codes:
    """Number rows in rising order of scores, runs of one class as one code if that pays.

    Parameters
    ----------
    positive : ndarray of shape (n_samples,), bool
        Which rows are positive.
    score : ndarray of shape (n_samples,)
        Larger for the positive class.
    merge : bool
        Whether rows may share a code (rows of equal weight).

    Returns
    -------
    Codes
    """
    ranked = rank(positive, score, in_row_order=not merge)
    new = np.ones(len(score), dtype=bool)
    if merge:
        new[1:] = ranked.positive[1:] != ranked.positive[:-1]
        if ranked.level is not None:
            # A row that ties with the other class is interchangeable only with rows of its own
            # class and score.
            tied = _is_mixed(ranked.positive, ranked.level)
            new[1:] |= (ranked.level[1:] != ranked.level[:-1]) & (tied[1:] | tied[:-1])
    return _number_codes(ranked, new)


def falling(ranked: RankedRows) -> RankedRows:
    """Turn ranked rows around: from the highest score down."""
    level = None if ranked.level is None else ranked.level[-1] - ranked.level[::-1]
    return RankedRows(ranked.order[::-1], ranked.positive[::-1], level)


def falling_codes(positive: NDArray[np.bool_], score: NDArray[Any], *, merge: bool) -> Codes:
    """Number rows in falling order; negatives between two scores of positives as one code."""
    ranked = falling(rank(positive, score, in_row_order=not merge))
    new = np.ones(len(score), dtype=bool)
    if merge:
        # Precision is taken at scores of positives, so that negatives between two of these may
        # share a code.
        after_positives = ranked.positive[:-1]
        if ranked.level is not None:
            level, with_positives = ranked.level, np.bincount(ranked.level, ranked.positive) > 0
            after_positives = (level[1:] != level[:-1]) & with_positives[level[:-1]]
        new[1:] = after_positives | (ranked.positive[1:] != ranked.positive[:-1])
    return _number_codes(ranked, new)


def _is_mixed(positive: NDArray[np.bool_], level: NDArray[np.signedinteger]) -> NDArray[np.bool_]:
    """Whether rows of both classes have the score of a row, for rows in rising order."""
    # Such rows have two neighbours of one score and unlike classes somewhere.
    unlike = (positive[1:] != positive[:-1]) & (level[1:] == level[:-1])
    mixed = np.zeros(int(level[-1]) + 1, dtype=bool)
    mixed[level[1:][unlike]] = True
    return mixed[level]


def _number_codes(ranked: RankedRows, new: NDArray[np.bool_]) -> Codes:
    """Codes that begin where ``new`` is true, or one for each row if that leaves many."""
    n = len(new)
    narrow = _narrow(n)
    starts: slice | NDArray[np.intp] = slice(None)
    code: NDArray[np.signedinteger] = np.empty(n, dtype=narrow)
    if np.count_nonzero(new) * ROWS_PER_MERGED_CODE > n:
        for start in range(0, n, ROWS_AT_ONCE):
            rows = ranked.order[start : start + ROWS_AT_ONCE]
            code[rows] = np.arange(start, start + len(rows), dtype=narrow)
    else:
        starts = np.flatnonzero(new)
        number: NDArray[np.signedinteger] = np.cumsum(new, dtype=narrow)
        number -= 1
        code[ranked.order] = number
    level = None if ranked.level is None else ranked.level[starts]
    return Codes(code, ranked.positive[starts], level, ranked.order[starts])


def level_ends(level: NDArray[np.signedinteger] | None) -> NDArray[np.intp] | None:
    """Last position of each level; None if every position is a level."""
    if level is None:
        return None
    last = np.append(level[1:] != level[:-1], True)
    return None if last.all() else np.flatnonzero(last)


def delong_variance(
    upper: NDArray[Any], lower: NDArray[Any], level: NDArray[np.signedinteger] | None
) -> float:
    """Variance of an area under the ROC curve (DeLong et al. 1988), of two rows or more of a class.

    Parameters are those of `shares_in_order`.
    """
    sizes = np.array([upper.sum(), lower.sum()], dtype=np.float64)
    means, squares = np.zeros((2, 2))
    parts: Any = None
    if len(upper) <= ROWS_AT_ONCE:
        # One part, which is read twice; of more rows each is made again, to save memory.
        parts = list(shares_in_order(upper, lower, level))
    for sides, shares in parts or shares_in_order(upper, lower, level):
        means += [side @ share / n for side, share, n in zip(sides, shares, sizes, strict=True)]
    for sides, shares in parts or shares_in_order(upper, lower, level):
        for k, (side, share) in enumerate(zip(sides, shares, strict=True)):
            centred = share - means[k]
            squares[k] += side @ (centred * centred)
    return float((squares / (sizes * (sizes - 1))).sum())


def shares_in_order(
    upper: NDArray[Any], lower: NDArray[Any], level: NDArray[np.signedinteger] | None
) -> Iterator[tuple[tuple[Floats, Floats], tuple[Floats, Floats]]]:
    """Yield both sides of consecutive positions, and how much of the other is in order with each.

    That is the share of the lower rows below each position and of the upper ones above it, ties
    half. A part holds whole levels.
    """
    n_upper, n_lower = upper.sum(), lower.sum()
    start, below, above = 0, 0.0, float(n_upper)
    while start < len(upper):
        stop = min(start + ROWS_AT_ONCE, len(upper))
        if level is not None:
            stop = int(np.searchsorted(level, level[stop - 1], side="right"))
        upper_part = upper[start:stop].astype(np.float64)
        lower_part = lower[start:stop].astype(np.float64)
        level_in_part: Any = slice(None)
        up: Any = upper_part
        low: Any = lower_part
        if level is not None:
            level_in_part = level[start:stop] - level[start]
            up, low = np.bincount(level_in_part, up), np.bincount(level_in_part, low)
        up_to, low_to = np.cumsum(up), np.cumsum(low)
        with np.errstate(invalid="ignore", divide="ignore"):
            lower_below = (below + low_to - 0.5 * low) / n_lower
            upper_above = (above - up_to + 0.5 * up) / n_upper
        yield (upper_part, lower_part), (lower_below[level_in_part], upper_above[level_in_part])
        start, below, above = stop, below + low_to[-1], above - up_to[-1]


# ------------------------------------------------------------------ cells of consecutive scores
#
# Rows of a cell are counted together, positives and negatives. Precision then is known between
# cells, and within one it is taken at the mean share of its rows that a positive has above it.
# Cells are fine where few rows decide: at the top of each class, and where recall or precision is
# lost. What they leave of the distribution of resamples is in record 0083.


# Thresholds at a time; there are some twenty arrays of as many.
_AT_ONCE = ROWS_AT_ONCE >> 3
_TINY = np.finfo(np.float64).tiny


class RankCells(NamedTuple):
    """Cells of consecutive scores, from the highest down.

    Attributes
    ----------
    last : ndarray of shape (n_cells,)
        Last threshold of each.
    size : ndarray of shape (2, n_cells)
        Its positives and negatives.
    shares : ndarray of shape (2, n_cells)
        Share of these that its positives have at or above them.
    apart : ndarray of shape (n_cells,)
        Mean precision at its positives, less the precision at these shares.
    curvature : ndarray of shape (n_cells,)
        What rows within it that are drawn again add, by squared deviation of its positives.
    """

    last: NDArray[np.intp]
    size: Floats
    shares: Floats
    apart: Floats
    curvature: Floats

    @classmethod
    def of(
        cls, rows: NDArray[np.integer], positive: NDArray[np.bool_], ends: NDArray[np.intp]
    ) -> Self:
        """Put thresholds into cells.

        Parameters
        ----------
        rows : ndarray of shape (n_codes,)
            Rows of each code, from the highest score down.
        positive : ndarray of shape (n_codes,), bool
            Class of each code.
        ends : ndarray of shape (n_thresholds,)
            Last code of each score that has positives.
        """
        sums = _sums_of_cells(rows, positive, ends)
        n_thresholds, gained, added, hits, every, precision, once, twice = sums
        size = np.array((gained, added - gained))
        before = np.cumsum(size, axis=1) - size
        reached = np.array((hits, every - hits)) / gained
        shares = (reached - before) / np.maximum(size, 1.0)
        apart = precision / gained - hits / every
        # A row that is drawn again is above itself: to second order the precision at a threshold
        # rises by that of one more positive, times the share of the cell that comes later.
        square = np.maximum((before[0] + gained) * once - twice, 0.0) / gained**2
        last = np.cumsum(n_thresholds).astype(np.intp) - 1
        return cls(last, size, shares, apart, square)

    def codes(
        self, rows: NDArray[np.integer], positive: NDArray[np.bool_], ends: NDArray[np.intp]
    ) -> ReducedData:
        """Return the codes of the cells that were made of these arrays; see `of`.

        They are the negatives and then the positives of each, with a code for each code before;
        terms say whether each is of positives, and of negatives.
        """
        # Negatives below all positives are a cell that is not read.
        length = np.diff(ends[self.last], prepend=-1, append=len(positive) - 1)
        counts = np.append(self.size[::-1].T, (rows[ends[-1] + 1 :].sum(), 0)).astype(np.int64)
        codes_in_use = np.flatnonzero(counts)
        number = np.zeros(len(counts), np.int16)
        number[codes_in_use] = np.arange(len(codes_in_use))
        side = np.repeat(np.arange(0, len(counts), 2, dtype=np.int16), length)
        side += positive
        terms = np.array((codes_in_use % 2 == 1, codes_in_use % 2 == 0)).T
        return ReducedData(number[side], len(codes_in_use), terms, counts=counts[codes_in_use])

    def area(
        self, block: ReadableBlock, terms: NDArray[Any], ends: NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        """Sum over cells of precision times positives, and all positives, (n_resamples,) each.

        Parameters
        ----------
        block : Block
        terms : ndarray of shape (n_codes, 2), bool
            Whether each code is of positives, and of negatives.
        ends : ndarray of shape (n_cells,)
            Last code of each cell.
        """
        area, above = np.zeros(block.n_resamples), np.zeros((2, block.n_resamples, 1))
        for which, upto in block.running(terms, ends):
            before = np.concatenate((above, upto[:, :, :-1]), axis=2)
            counts = upto - before
            reached = before + self.shares[:, None, which] * counts
            precision = reached[0] / np.maximum(reached.sum(axis=0), _TINY)
            precision += self.apart[which]
            part_area: Floats = np.einsum("ij,ij->i", counts[0], precision)
            # Counts are as far from those of the data, in any resample, as rows are drawn again.
            away = counts[0]
            away -= self.size[0, which]
            away *= away
            part_area += away @ self.curvature[which]
            area += part_area
            above = upto[:, :, -1:]
        positives = above[0, :, 0]
        return np.minimum(area, positives), positives


def _sums_of_cells(
    rows: NDArray[Any], positive: NDArray[np.bool_], ends: NDArray[np.intp]
) -> Floats:
    """Return sums over the thresholds of each cell, (8, n_cells): see `RankCells.of`."""
    lost_at_all = sum(float(g @ (1.0 - h / e)) for g, _, h, e in _pieces(rows, positive, ends))
    n_positive = float(np.sum(rows, where=positive))
    parts, n_cells, lost, along, large = list[tuple[int, Floats]](), 0, 0.0, -1.0, False
    for gained, added, hits, every in _pieces(rows, positive, ends):
        precision = hits / every
        losses = gained * (1.0 - precision)
        lost_upto = lost + np.cumsum(losses)
        # How many cells there are up to each threshold.
        upto = RANK_CELLS / 2 * (hits / n_positive + lost_upto / max(lost_at_all, _TINY))
        for above in (hits, every - hits):
            upto += ROWS_BY_THEMSELVES * np.log1p(above / ROWS_BY_THEMSELVES)
        # A score of many rows ends its cell.
        ended = np.append(large, np.diff(upto, prepend=along) >= 1)
        new = (np.diff(np.floor(upto), prepend=np.floor(along)) > 0) | ended[:-1]
        cell = np.cumsum(new) + (n_cells - 1)
        slopes = losses / every
        summands: list[Floats] = [np.ones(len(cell)), gained, added, gained * hits, gained * every]
        summands += [gained * precision, slopes, slopes * hits]
        parts.append(
            (
                cell[0],
                np.array([np.bincount(cell - cell[0], sums_of_part) for sums_of_part in summands]),
            )
        )
        n_cells, lost, along, large = int(cell[-1]) + 1, lost_upto[-1], upto[-1], ended[-1]
    sums = np.zeros((8, n_cells))
    for begin, sums_of_part in parts:
        sums[:, begin : begin + sums_of_part.shape[1]] += sums_of_part
    return sums


def _pieces(
    rows: NDArray[Any], positive: NDArray[np.bool_], ends: NDArray[np.intp]
) -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
    """Yield positives and rows that consecutive thresholds add, and those at or above each."""
    above, begin = np.zeros((2, 1)), 0
    for start in range(0, len(ends), _AT_ONCE):
        last = ends[start : start + _AT_ONCE]
        codes = slice(begin, int(last[-1]) + 1)
        counts = rows[codes] * np.array((positive[codes], np.ones(codes.stop - begin, dtype=bool)))
        upto = above + np.cumsum(counts, axis=1)[:, last - begin]
        yield (*np.diff(upto, axis=1, prepend=above), *upto)
        above, begin = upto[:, -1:], codes.stop


def cells_of_areas(
    rows: NDArray[np.integer], upper: NDArray[np.bool_], level: NDArray[np.intp] | None
) -> ReducedData:
    """Codes of cells that share both classes, and pairs out of order, evenly.

    Parameters
    ----------
    rows : ndarray of shape (n_codes_before,)
        Rows of each code, from the lowest score up.
    upper : ndarray of shape (n_codes_before,), bool
        Whether each is of positives.
    level : ndarray of shape (n_codes_before,) or None
        Number of its score; None: each has its own.

    Returns
    -------
    ReducedData
        ``code`` has the new code of each code before. A cell is a level of its negatives and
        positives; what the area of the scores has beyond that of the levels is "apart".
    """
    level = np.arange(len(rows)) if level is None else level
    sides = np.array([np.bincount(level, rows * side) for side in (upper, ~upper)])
    before, total = np.cumsum(sides, axis=1) - sides, sides.sum(axis=1, keepdims=True)
    # Pairs out of order, half of which each of their rows loses.
    lost = sides[0] * (total[1] - before[1]) + sides[1] * before[0]
    lost_before = (np.cumsum(lost) - lost) / max(lost.sum(), _TINY)
    along = np.floor(RANK_CELLS / 2 * ((before / total).sum(axis=0) + lost_before))
    # It rises with the scores.
    cell = np.cumsum(np.append(False, along[1:] != along[:-1]))
    sides_of_cells = np.array([np.bincount(cell, side) for side in sides])
    key = 2 * cell[level] + upper
    counts = np.bincount(key, rows).astype(np.int64)
    codes_in_use = np.flatnonzero(counts)
    number = np.zeros(len(counts), np.intp)
    number[codes_in_use] = np.arange(len(codes_in_use))
    data = {
        "upper": codes_in_use % 2 == 1,
        "lower": codes_in_use % 2 == 0,
        "level": codes_in_use // 2,
        "apart": _area_of(*sides) - _area_of(*sides_of_cells),
    }
    return ReducedData(
        number[key], len(codes_in_use), None, MappingProxyType(data), counts[codes_in_use]
    )


def _area_of(upper: Floats, lower: Floats) -> float:
    """Area under the ROC curve of positives and negatives at rising levels."""
    below = np.cumsum(lower) - lower / 2
    return float(upper @ below / (upper.sum() * lower.sum()))


# ------------------------------------------------------------------ metrics


def _sides(
    positive: NDArray[np.bool_], sample_weight: Floats | None, rows: NDArray[np.intp]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Weight of each position as a positive and as a negative; flags without weights."""
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
    # Scores that do not depend on the input put pairs in order half the time.
    without_skill = 0.5

    def __post_init__(self) -> None:
        if self.average not in ("macro", "weighted"):
            raise ValueError(f"average must be 'macro' or 'weighted'. Got {self.average!r}.")
        has_label_sets, several = self.response == "label_scores", self.multi_class is not None
        column_sketch: Sketch = "pairs of columns" if self.multi_class == "ovo" else "columns"
        has_two_classes = not several or (self.labels is not None and len(self.labels) < 3)
        self.set_facts(
            sketch="" if has_label_sets else "scores" if has_two_classes else column_sketch,
            averages_columns=several,
            lacks_labels=several and self.labels is None and not has_label_sets,
            # Pair by pair rows have no weights, as in scikit-learn.
            takes_weights=self.multi_class != "ovo",
        )

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Refuse columns of several classes that are no probabilities, as scikit-learn does."""
        reads_scores = self.averages_columns and self.response == "scores"
        several = reads_scores and len(known_labels(self.labels, y_true)) > 2
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

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Number rows in score order; with several classes, keep an order for each."""
        assert y_true is not None
        several = self.multi_class is not None and y_pred.ndim == 2 and y_pred.shape[1] > 2
        if several or y_true.ndim == 2:
            member = _class_columns(y_true, self.labels)
            weights = np.ones(len(y_true)) if sample_weight is None else sample_weight
            ranked = [rank(is_member, y_pred[:, k]) for k, is_member in enumerate(member)]
            return self.of_ranked(ranked, member, member.T * weights[:, None], sample_weight)
        positive = positive_rows(y_true, self.pos_label)
        score = positive_scores(y_pred, self.labels, self.pos_label)
        codes = score_codes(positive, score, merge=sample_weight is None)
        upper, lower = _sides(codes.positive, sample_weight, codes.row_of_code)
        data = {"upper": upper, "lower": lower, "level": codes.level, "apart": 0.0}
        return ReducedData(codes.code, len(codes.row_of_code), data=MappingProxyType(data))

    def of_ranked(
        self,
        ranked: Sequence[RankedRows],
        member: NDArray[np.bool_],
        terms: Floats,
        sample_weight: Floats | None = None,
    ) -> ReducedData:
        """Reduce codes of several classes that have been put in order, for each by its scores.

        Parameters
        ----------
        ranked : sequence of RankedRows
            Order of codes by the scores of each class.
        member : ndarray of shape (n_classes, n_codes), bool
            Which codes belong to each class.
        terms : ndarray of shape (n_codes, n_classes)
            What each code adds to the size of each class.
        sample_weight : ndarray of shape (n_codes,), optional
        """
        data = {"member": member, "sample_weight": sample_weight, "ranked": ranked}
        return ReducedData(None, len(terms), terms, MappingProxyType(data))

    def value_on_rows(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> float | None:
        """See `Statistic.value_on_rows`; of two classes."""
        if y_true.ndim != 1 or y_pred.ndim != 1 or not len(y_true):
            return None
        positive = positive_rows(y_true, self.pos_label)
        lower, upper = np.sort(y_pred[~positive]), y_pred[positive]
        if not len(lower) or not len(upper):
            return float("nan")
        # Pairs that tie count half.
        twice = sum(int(lower.searchsorted(upper, side).sum()) for side in ("left", "right"))
        return 0.5 * twice / (len(lower) * len(upper))

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Share of the pairs of a positive and a negative that are in order."""
        data = reduced.data
        with np.errstate(invalid="ignore", divide="ignore"):
            if "ranked" not in data:
                in_order, all_pairs = block.pairs(data["upper"], data["lower"], data["level"])
                return np.clip(in_order / all_pairs + data["apart"], 0.0, 1.0)
            totals = block.sums(reduced.terms)
            if self.multi_class != "ovr":
                return self._pair_by_pair(block, data, totals)
            # Each class against the rest.
            areas = np.empty_like(totals)
            for k, ranked in enumerate(data["ranked"]):
                upper, lower = _sides(ranked.positive, data["sample_weight"], ranked.order)
                in_order, all_pairs = block.pairs(upper, lower, ranked.level, ranked.order)
                areas[:, k] = in_order / all_pairs
            return self._averaged(areas, totals)

    def adds_without_rounding(self, reduced: ReducedData) -> bool:
        """Pairs are whole, and halves, where rows have no weights."""
        data = reduced.data
        return data["sample_weight"] is None if "ranked" in data else data["upper"].dtype == bool

    def _averaged(self, areas: Floats, totals: Floats) -> Floats:
        """Mean over classes, by their sizes where asked, (n_resamples,)."""
        if self.average == "macro":
            return areas.mean(axis=1)
        return np.where(totals > 0, areas * totals, 0.0).sum(axis=1) / totals.sum(axis=1)

    def _pair_by_pair(self, block: ReadableBlock, data: Any, totals: Floats) -> Floats:
        """Mean area over ordered pairs of classes that both occur."""
        area, total_weight = np.zeros((2, len(totals)))
        member = data["member"]
        for upper_class, lower_class in permutations(range(len(member)), 2):
            ranked = data["ranked"][upper_class]
            among = np.flatnonzero((member[upper_class] | member[lower_class])[ranked.order])
            upper = ranked.positive[among]
            level = None if ranked.level is None else ranked.level[among]
            in_order, all_pairs = block.pairs(upper, ~upper, level, ranked.order[among])
            share = (
                totals[:, upper_class] + totals[:, lower_class]
                if self.average == "weighted"
                else 1.0
            )
            weight = np.where(all_pairs > 0, share, 0.0)
            area += weight * in_order / np.maximum(all_pairs, 1.0)
            total_weight += weight
        return area / total_weight

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Facts of any metric, and the standard error of rows without weights."""
        facts = super().facts(reduced, rows, members)
        if "ranked" in reduced.data:
            return replace(facts, class_sizes=sizes_of_columns(rows))
        if facts.weighted or reduced.code is None:
            return replace(facts, smaller_class=smaller_class(rows, self.pos_label))
        counts, data = reduced.rows_of_codes, reduced.data
        sides = data["upper"], data["lower"]
        # Rows of a stream are counted already: as many codes as entries are then no single rows.
        if reduced.counts is not None or len(counts) < len(reduced.code):
            sides = counts * sides[0], counts * sides[1]
        n_smaller = int(min(float(side.sum()) for side in sides))
        error = np.nan
        if n_smaller > 1:
            error = float(np.sqrt(delong_variance(*sides, data["level"])))
        return replace(
            facts,
            # Without the truth of the rows no class is known to have them.
            smaller_class=None if rows[0] is None else n_smaller or None,
            delong=DeLong(error, n_smaller) if n_smaller else None,
        )

    def as_sums(self, reduced: ReducedData) -> tuple[Statistic, ReducedData] | None:
        """The area of two classes, and the mean of what rows change it by to first order.

        That is in proportion to the share of the other class that is in order with the row (DeLong
        et al. 1988). What is left out has at most the variance of a pair by the number of pairs.
        """
        data = reduced.data
        if "ranked" in data:
            return None
        rows, sides = reduced.rows_of_codes, (data["upper"], data["lower"])
        values: Floats = np.empty(reduced.n_codes)
        # Without weights each side is a flag.
        weights = None if sides[0].dtype == bool else np.add(*sides)
        if reduced.n_codes < len(values if reduced.code is None else reduced.code):
            sides = rows * sides[0], rows * sides[1]
        sizes = [float(side.sum()) for side in sides]
        if 0 in sizes:
            return None
        start = 0
        for (up, _), (upper_shares, lower_shares) in shares_in_order(*sides, data["level"]):
            values[start : start + len(up)] = np.where(up > 0, upper_shares, lower_shares)
            start += len(up)
        area = float(np.einsum("i,i->", sides[0], values)) / sizes[0]
        values -= area
        pair_variance = area * (1 - area)
        for side, size in zip(sides, sizes, strict=True):
            np.multiply(values, sum(sizes) / size, out=values, where=side > 0)
            pair_variance *= (
                size if weights is None else float(np.einsum("i,i->", side, weights))
            ) / size**2
        if weights is not None:
            values *= weights
        variance = float(np.einsum("i,i,i->", rows, values, values)) / sum(sizes) ** 2
        if pair_variance > SECOND_ORDER_SHARE * variance:
            return None
        # Handed over, because there may be as many rows as memory holds a few times.
        columns = TermColumns(
            reduced.n_codes, (1.0 if weights is None else [weights].pop, [values].pop)
        )
        about = MappingProxyType({"centre": area})
        return mean_of_values(self.name), replace(reduced, summands=columns, data=about)

    def in_cells(self, reduced: ReducedData) -> ReducedData | None:
        """Rows of consecutive scores as two codes: the negatives and the positives of each cell."""
        code, data = reduced.code, reduced.data
        if code is None or "ranked" in data or data["upper"].dtype != bool:
            return None
        reduced_cells = cells_of_areas(reduced.rows_of_codes, data["upper"], data["level"])
        assert reduced_cells.code is not None
        return replace(reduced_cells, coded=reduced_cells.code[code])


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
    return min(int(equal_units(weights[side]) + 1e-9) for side in sides) or None


def sizes_of_columns(rows: Columns) -> NDArray[np.int64] | None:
    """Rows of each class, or label, or all others if these are fewer, (n_classes,); at least 1."""
    y_true = rows[0]
    if y_true is None:
        return None
    counts = np.unique(y_true, return_counts=True)[1] if y_true.ndim == 1 else y_true.sum(axis=0)
    return np.maximum(np.minimum(counts, len(y_true) - counts), 1).astype(np.int64)


@fast_path("roc_auc_score", response="scores")
def _roc_auc(
    request: MetricRequest,
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
        class_sketch: Sketch = (
            "scores" if self.labels is None or len(self.labels) < 3 else "columns"
        )
        self.set_facts(sketch="" if self.response == "label_scores" else class_sketch)

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Number rows in falling order of scores; with several classes, keep an order for each."""
        assert y_true is not None
        if y_true.ndim == 2 or (y_pred.ndim == 2 and y_pred.shape[1] > 2):
            member = _class_columns(y_true, self.labels)
            ranked = [rank(is_member, y_pred[:, k]) for k, is_member in enumerate(member)]
            return self.of_ranked(ranked, member, member.T, sample_weight)
        positive = positive_rows(y_true, self.pos_label)
        score = positive_scores(y_pred, self.labels, self.pos_label)
        codes = falling_codes(positive, score, merge=sample_weight is None)
        # Flags take an eighth of the memory of numbers.
        terms: NDArray[Any] = np.ones((len(codes.positive), 2), dtype=bool, order="F")
        terms[:, 0] = codes.positive
        if sample_weight is not None:
            terms = terms * sample_weight[codes.row_of_code][:, None]
        curve = _PrecisionCurve(terms, _ends_of_positives(codes.positive, codes.level), None)
        data = {"curves": [curve], "equal_weights": sample_weight is None}
        return ReducedData(codes.code, len(codes.row_of_code), terms, MappingProxyType(data))

    def of_ranked(
        self,
        ranked: Sequence[RankedRows],
        member: NDArray[np.bool_],
        terms: NDArray[Any],
        sample_weight: Floats | None = None,
    ) -> ReducedData:
        """Reduce codes of several classes that have been put in order, for each by its scores.

        Parameters
        ----------
        ranked : sequence of RankedRows
            Order of codes by the scores of each class.
        member, terms : ndarray
            See `RocAuc.of_ranked`; here one row of ``terms`` for each code is all that is read.
        sample_weight : ndarray of shape (n_codes,), optional
        """
        weights = np.ones(len(terms)) if sample_weight is None else sample_weight
        curves = []
        for rising in ranked:
            down = falling(rising)
            code_weights = weights[down.order]
            terms = np.column_stack((code_weights * down.positive, code_weights))
            ends = _ends_of_positives(down.positive, down.level)
            curves.append(_PrecisionCurve(terms, ends, down.order))
        data = {"curves": curves, "equal_weights": sample_weight is None}
        return ReducedData(None, len(terms), data=MappingProxyType(data))

    def value_on_rows(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> float | None:
        """See `Statistic.value_on_rows`; of two classes."""
        thresholds = self._thresholds(y_true, y_pred)
        return None if thresholds is None else thresholds.average_precision()

    def without_each_row(
        self, y_true: NDArray[Any], y_pred: NDArray[Any]
    ) -> tuple[float, Floats] | None:
        """See `Statistic.without_each_row`; of two classes.

        A row counts in the precision at its own threshold and at those below. So the area without
        it is that above its threshold, and that of thresholds with a row, and of positives with a
        hit, less from there on: two cumulative sums.
        """
        thresholds = self._thresholds(y_true, y_pred)
        if thresholds is None:
            return None
        positive, level, hits, every = thresholds
        added = np.diff(hits, prepend=0.0)
        above = np.concatenate(([0.0], np.cumsum(added * (hits / every))[:-1]))
        # Without the only row at or above a threshold there is no recall to be added.
        remaining = np.maximum(every - 1, np.finfo(np.float64).tiny)
        with np.errstate(invalid="ignore", divide="ignore"):
            # What thresholds add without a negative row, and without a positive one, above it; at
            # its own threshold a positive row adds no recall either.
            of_negative, of_positive = added * hits / remaining, added * (hits - 1) / remaining
            at_own = (added - 1) * (hits - 1) / remaining
            below = np.cumsum(of_negative[::-1])[::-1], np.cumsum(of_positive[::-1])[::-1]
            without_negative = (above + below[0]) / hits[-1]
            without_positive = (above + at_own + (below[1] - of_positive)) / (hits[-1] - 1)
        without = np.where(positive, without_positive[level], without_negative[level])
        return thresholds.average_precision(), without

    def _thresholds(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> _Thresholds | None:
        """Hits and rows at or above each score; None of several classes or columns."""
        if y_true.ndim != 1 or y_pred.ndim != 1 or not len(y_true):
            return None
        return _Thresholds.of(positive_rows(y_true, self.pos_label), y_pred)

    def reading(self, reduced: ReducedData) -> Reading:
        """Units of equal weight have few terms, and so a closed form without one of them."""
        return "thresholds" if reduced.data["equal_weights"] else "running"

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Facts of any metric, and the size of the smaller class of rows without weights."""
        facts = super().facts(reduced, rows, members)
        if len(reduced.data["curves"]) > 1:
            return replace(facts, class_sizes=sizes_of_columns(rows))
        return replace(facts, smaller_class=smaller_class(rows, self.pos_label))

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Sum over thresholds of precision times recall added, averaged over classes."""
        areas, sizes = [], []
        for curve in reduced.data["curves"]:
            if curve.rank_cells is None:
                area, (positives, _) = block.sum_over_thresholds(
                    curve.terms, _precision_steps, curve.ends, curve.order
                )
            else:
                area, positives = curve.rank_cells.area(block, curve.terms, curve.ends)
            with np.errstate(invalid="ignore"):
                areas.append(area / positives)
            sizes.append(positives)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self._averaged(np.stack(areas), np.stack(sizes))

    def _averaged(self, areas: Floats, sizes: Floats) -> Floats:
        """Mean over classes, by their sizes where asked, of (n_classes, n_resamples)."""
        weights = sizes if self.average == "weighted" else np.ones_like(areas)
        mean: Floats = (areas * weights).sum(axis=0) / weights.sum(axis=0)
        return mean

    def in_cells(self, reduced: ReducedData) -> ReducedData | None:
        """Rows of consecutive scores as two codes: the negatives and the positives of each cell."""
        code, [curve, *more] = reduced.code, reduced.data["curves"]
        if code is None or more or not (reduced.data["equal_weights"] and len(curve.ends)):
            return None
        along = reduced.rows_of_codes, reduced.terms[:, 0], curve.ends
        rank_cells = RankCells.of(*along)
        reduced_cells = rank_cells.codes(*along)
        assert reduced_cells.code is not None
        cell_curve = _PrecisionCurve(
            reduced_cells.terms, np.flatnonzero(reduced_cells.terms[:, 0]), None, rank_cells
        )
        data = MappingProxyType({"curves": [cell_curve], "equal_weights": True})
        return replace(reduced_cells, coded=reduced_cells.code[code], data=data)

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
        position = interval.astype(np.intp)
        gained, wrong = (
            np.bincount(position, weights * side, int(position.max()) + 1)[::-1]
            for side in (positive, ~positive)
        )
        before, false = np.cumsum(gained) - gained, np.cumsum(wrong)
        with np.errstate(divide="ignore", invalid="ignore"):
            lost = false * np.log((before + gained + false) / (before + false))
            tie_losses = gained * false / (before + gained + false)
        lost = np.where(
            np.bincount(position, movable, int(position.max()) + 1)[::-1] > 0, lost, tie_losses
        )
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
    request: MetricRequest, *, average: Any = "macro", pos_label: Any = 1
) -> AveragePrecision | None:
    if average not in ("macro", "weighted"):
        return None
    return AveragePrecision(request.name, average, request.labels, pos_label)


class _PrecisionCurve(NamedTuple):
    """Arguments of ``block.sum_over_thresholds``: terms (positives, all), ends and order.

    Of cells, the terms are (positives, negatives).
    """

    terms: NDArray[Any]
    ends: NDArray[np.intp]
    order: NDArray[np.intp] | None
    rank_cells: RankCells | None = None


class _Thresholds(NamedTuple):
    """Rows of two classes by their scores.

    Attributes
    ----------
    positive : ndarray of shape (n_rows,), bool
    level : ndarray of shape (n_rows,)
        Number of the score of each row among the distinct ones, from the highest.
    hits, every : ndarray of shape (n_levels,)
        Positives, and rows, whose score is at least that of the level.
    """

    positive: NDArray[np.bool_]
    level: NDArray[np.intp]
    hits: Floats
    every: Floats

    @classmethod
    def of(cls, positive: NDArray[np.bool_], score: NDArray[Any]) -> _Thresholds:
        """Sort rows by their scores."""
        order = np.argsort(score)[::-1]
        falling_score = score[order]
        is_last = np.ones(len(order), dtype=bool)
        np.not_equal(falling_score[1:], falling_score[:-1], out=is_last[:-1])
        ends, level = np.flatnonzero(is_last), np.empty(len(order), dtype=np.intp)
        level[order] = np.cumsum(is_last) - is_last
        hits = np.cumsum(positive[order], dtype=np.float64)[ends]
        return cls(positive, level, hits, (ends + 1).astype(np.float64))

    def average_precision(self) -> float:
        """As `AveragePrecision.evaluate` on the rows themselves."""
        adds = np.diff(self.hits, prepend=0.0) > 0
        if not adds.any():
            return float("nan")
        sums = np.stack((self.hits[adds], self.every[adds]))[:, None]
        return float(_precision_steps(np.zeros((2, 1)), sums)[0] / self.hits[-1])


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
    # Share of the other class that each row is in order with, ties half.
    placements = np.empty(np.shape(scores))
    for row_placements, score in zip(placements, np.asarray(scores), strict=True):
        ranked, start = rank(y_positive, score), 0
        sides = ranked.positive, ~ranked.positive
        for (upper, _), (positive_shares, negative_shares) in shares_in_order(*sides, ranked.level):
            rows = ranked.order[start : start + len(upper)]
            row_placements[rows] = np.where(upper > 0, positive_shares, negative_shares)
            start += len(upper)
    positive_placements, negative_placements = placements[:, y_positive], placements[:, ~y_positive]
    n_systems = len(placements)
    if 0 in (positive_placements.shape[1], negative_placements.shape[1]):
        return np.full(n_systems, np.nan), np.full((n_systems, n_systems), np.nan)
    covariance = np.zeros((n_systems, n_systems))
    for side in (positive_placements, negative_placements):
        n = side.shape[1]
        centred = side - side.mean(axis=1, keepdims=True)
        covariance += centred @ centred.T / (n * (n - 1)) if n > 1 else np.nan
    return positive_placements.mean(axis=1), covariance
