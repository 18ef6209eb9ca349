"""The order in which scores put the rows, and codes of rows in that order.

`rank` sorts rows; `score_codes` and `falling_codes` number them, runs of rows that are
interchangeable by one number where that pays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._tuning import ROWS_AT_ONCE, ROWS_PER_MERGED_CODE

Floats = NDArray[np.float64]


class Ranked(NamedTuple):
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
    first : ndarray of shape (n_codes,)
        A row of each code.
    """

    code: NDArray[np.signedinteger]
    positive: NDArray[np.bool_]
    level: NDArray[np.signedinteger] | None
    first: NDArray[np.intp]

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
        n_found = sum(np.count_nonzero(y_true == label) for label in set(labels.tolist()))
        several = n_found < len(y_true)
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
    of_columns = [] if labels is None else np.asarray(labels).tolist()
    if len(of_columns) == 2:
        positive = max(of_columns) if pos_label is None else pos_label
        return y_pred[:, 0] if of_columns[0] == positive else y_pred[:, 1]
    return y_pred[:, -1]


def rank(positive: NDArray[np.bool_], score: NDArray[Any], *, in_row_order: bool = False) -> Ranked:
    """Sort rows by score; at equal scores put the negatives first.

    With ``in_row_order`` rows of one class and score stay in their order, which else depends on the
    processor: the fastest sort is not stable.
    """
    order = np.argsort(score, kind="stable" if in_row_order else None)
    by_score = score[order]
    new = by_score[1:] != by_score[:-1]
    if new.all():
        return Ranked(order, positive[order], None)
    level: NDArray[Any] = np.zeros(len(order), _narrow(len(order)))
    np.cumsum(new, out=level[1:])
    positive = positive[order]
    # Only rows that tie with the other class may have to change places.
    mixed = np.flatnonzero(_is_mixed(positive, level))
    by_class = mixed[np.argsort(2 * level[mixed].astype(np.intp) + positive[mixed], kind="stable")]
    order[mixed], positive[mixed] = order[by_class], positive[by_class]
    return Ranked(order, positive, level)


def _narrow(n: int) -> type:
    """Type of the numbers of n rows: half as large where it does."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


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
            new[1:] |= (np.diff(ranked.level) > 0) & (tied[1:] | tied[:-1])
    return _numbered(ranked, new)


def falling(ranked: Ranked) -> Ranked:
    """The same rows from the highest score down."""
    level = None if ranked.level is None else ranked.level[-1] - ranked.level[::-1]
    return Ranked(ranked.order[::-1], ranked.positive[::-1], level)


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
    return _numbered(ranked, new)


def _is_mixed(positive: NDArray[np.bool_], level: NDArray[np.signedinteger]) -> NDArray[np.bool_]:
    """Whether rows of both classes have the score of a row, for rows in rising order."""
    n_positive = np.bincount(level, positive)
    mixed: NDArray[np.bool_] = (n_positive > 0) & (n_positive < np.bincount(level))
    return mixed[level]


def _numbered(ranked: Ranked, new: NDArray[np.bool_]) -> Codes:
    """Codes that begin where ``new`` is true, or one for each row if that leaves many."""
    n = len(new)
    narrow = _narrow(n)
    starts: slice | NDArray[np.intp] = slice(None)
    number: NDArray[Any]
    if np.count_nonzero(new) * ROWS_PER_MERGED_CODE > n:
        number = np.arange(n, dtype=narrow)
    else:
        starts = np.flatnonzero(new)
        number = np.cumsum(new, dtype=narrow) - 1
    code: NDArray[np.signedinteger] = np.empty(n, dtype=narrow)
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
    for of_sides, shares in shares_in_order(upper, lower, level):
        means += [side @ share / n for side, share, n in zip(of_sides, shares, sizes, strict=True)]
    for of_sides, shares in shares_in_order(upper, lower, level):
        for k, (side, share) in enumerate(zip(of_sides, shares, strict=True)):
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
        of_upper = upper[start:stop].astype(np.float64)
        of_lower = lower[start:stop].astype(np.float64)
        own: Any = slice(None)
        up: Any = of_upper
        low: Any = of_lower
        if level is not None:
            own = level[start:stop] - level[start]
            up, low = np.bincount(own, up), np.bincount(own, low)
        up_to, low_to = np.cumsum(up), np.cumsum(low)
        with np.errstate(invalid="ignore", divide="ignore"):
            lower_below = (below + low_to - 0.5 * low) / n_lower
            upper_above = (above - up_to + 0.5 * up) / n_upper
        yield (of_upper, of_lower), (lower_below[own], upper_above[own])
        start, below, above = stop, below + low_to[-1], above - up_to[-1]
