"""Metrics at a threshold that the data choose, and medians.

* `equal_error_rate`: where false negatives are as frequent as false positives;
* `false_positive_rate_at`: what false positives a bound on false negatives costs;
* `sensitivity_at`, `specificity_at`: what a bound on one of the two leaves of the other;
* `MedianAbsoluteError`: the median of absolute errors.

Running sums along sorted rows cross a bound at the threshold, so that a resample needs the running
sums near the crossing only; see ``crossing`` in `skboot.resampling.block`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import check_same_length, check_weights, fail, is_among
from .._base.doors import door
from ._tuning import ROWS_PER_MERGED_CODE
from .costs import label_column, labels_in_order, real_numbers
from .ranking import positive_rows, positive_scores, score_codes, smaller_class
from .statistic import (
    Columns,
    Facts,
    Floats,
    ReadableBlock,
    ReducedData,
    Response,
    Statistic,
    fast_path,
)

# Maximum difference of sums of weights that are taken as equal (share of the total), because sums
# in another order differ by rounding.
_WEIGHT_ROUNDING = 1e-12


@door("equal_error_rate")
def equal_error_rate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Error rate of a detector at the threshold where both kinds of error are equally frequent.

    The rates of false negatives and false positives are equal there. They are taken at the
    operating points of all thresholds (equal scores move together), with linear interpolation
    between the two neighbouring points.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Scores, larger for the positive class.
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Smaller is better; 0.5 is useless.

    Raises
    ------
    ValueError
        If there are not exactly two classes.

    References
    ----------
    Brummer, N. and de Villiers, E. (2011). The BOSARIS toolkit. arXiv:1304.2865. (There the
    points are first replaced by their convex hull; here they are taken as they are.)

    Examples
    --------
    >>> from skboot.metrics import equal_error_rate
    >>> equal_error_rate([0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.5, 0.9])
    0.333...
    """
    false_positives, false_negatives = error_rates(y_true, y_score, pos_label, sample_weight)
    gap = false_negatives - false_positives
    end = int(np.argmax(gap <= 0))
    # The gap is 1 at the first point, so that `end` is at least 1.
    share = gap[end - 1] / (gap[end - 1] - gap[end])
    return float(
        false_positives[end - 1] + share * (false_positives[end] - false_positives[end - 1])
    )


@door("false_positive_rate_at")
def false_positive_rate_at(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    false_negative_rate: float,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Smallest false-positive rate of a detector with at most the given false-negative rate.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Scores, larger for the positive class.
    false_negative_rate : float
        Largest share of the positives that may be missed, in [0, 1].
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        False-positive rate of an attained threshold; there is no interpolation.

    Raises
    ------
    ValueError
        If there are not exactly two classes.

    Examples
    --------
    >>> from skboot.metrics import false_positive_rate_at
    >>> y_true, y_score = [0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.5, 0.9]
    >>> false_positive_rate_at(y_true, y_score, false_negative_rate=0.5)
    0.0
    >>> false_positive_rate_at(y_true, y_score, false_negative_rate=0.1)
    0.333...
    """
    rate: Any = false_negative_rate
    if not (isinstance(rate, Real) and 0 <= float(rate) <= 1):
        raise fail("false_negative_rate", "be in [0, 1]", repr(false_negative_rate))
    false_positives, false_negatives = error_rates(y_true, y_score, pos_label, sample_weight)
    return float(false_positives[np.argmax(false_negatives <= false_negative_rate)])


@door("sensitivity_at")
def sensitivity_at(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    specificity: float,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Largest sensitivity of a detector with at least the given specificity.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Scores, larger for the positive class.
    specificity : float
        Smallest share of the negatives that must be rejected, in [0, 1].
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Share of the positives above an attained threshold; there is no interpolation.

    Raises
    ------
    ValueError
        If there are not exactly two classes.

    Examples
    --------
    >>> from skboot.metrics import sensitivity_at
    >>> y_true, y_score = [0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.5, 0.9]
    >>> sensitivity_at(y_true, y_score, specificity=0.9)
    0.5
    >>> sensitivity_at(y_true, y_score, specificity=0.6)
    1.0
    """
    check_share("specificity", specificity)
    columns = (y_true, y_score, pos_label, sample_weight)
    false_positives, false_negatives = error_rates(*columns)
    return float(1 - false_negatives[reaches(1 - false_positives, specificity)].min())


@door("specificity_at")
def specificity_at(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sensitivity: float,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Largest specificity of a detector with at least the given sensitivity.

    One less `skboot.metrics.false_positive_rate_at` with the other bound.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_score : array-like of shape (n_samples,)
        Scores, larger for the positive class.
    sensitivity : float
        Smallest share of the positives that must be found, in [0, 1].
    pos_label : label, optional
        The positive class; by default the greater label.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Share of the negatives below an attained threshold; there is no interpolation.

    Raises
    ------
    ValueError
        If there are not exactly two classes.

    Examples
    --------
    >>> from skboot.metrics import specificity_at
    >>> y_true, y_score = [0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.5, 0.9]
    >>> specificity_at(y_true, y_score, sensitivity=0.5)
    1.0
    >>> specificity_at(y_true, y_score, sensitivity=0.9)
    0.666...
    """
    check_share("sensitivity", sensitivity)
    columns = (y_true, y_score, pos_label, sample_weight)
    false_positives, false_negatives = error_rates(*columns)
    return float(1 - false_positives[reaches(1 - false_negatives, sensitivity)].min())


def detected(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: Any,
    sample_weight: ArrayLike | None,
) -> tuple[NDArray[np.bool_], NDArray[Any], Floats]:
    """Which rows are positive, their scores and their weights, (n_samples,) each, checked."""
    truth, score = label_column("y_true", y_true), real_numbers("y_score", y_score)
    if score.ndim != 1:
        raise fail("y_score", "be of shape (n_samples,)", f"shape {score.shape}")
    checked = check_weights(sample_weight)
    check_same_length(y_true=truth, y_score=score, sample_weight=checked)
    all_labels = labels_in_order(truth)
    if len(all_labels) != 2:
        raise fail("y_true", "hold two classes", f"the labels {all_labels.tolist()}")
    if pos_label is not None and not is_among(pos_label, all_labels.tolist()):
        raise fail("pos_label", f"be one of {all_labels.tolist()}", repr(pos_label))
    positive = truth == (all_labels[1] if pos_label is None else pos_label)
    weights = np.ones(len(score)) if checked is None else checked
    if not (weights[positive].any() and weights[~positive].any()):
        raise fail("sample_weight", "be positive for rows of both classes", "zeros")
    return positive, score, weights


def error_rates(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: Any,
    sample_weight: ArrayLike | None,
) -> tuple[Floats, Floats]:
    """Rates of false positives and false negatives at every threshold, the strictest first."""
    positive, score, weights = detected(y_true, y_score, pos_label, sample_weight)
    order = np.argsort(-score, kind="stable")
    last_of_tie = np.flatnonzero(np.diff(score[order], append=np.inf))
    accepted = [
        np.r_[0.0, np.cumsum(np.where(side, weights, 0.0)[order])[last_of_tie]]
        for side in (~positive, positive)
    ]
    false_positives = accepted[0] / accepted[0][-1]
    # Counts first: 1 - hits / positives would miss a rate such as 0.29 by a rounding.
    false_negatives = (accepted[1][-1] - accepted[1]) / accepted[1][-1]
    return false_positives, false_negatives


def check_share(name: str, share: Any) -> float:
    """A bound in [0, 1], as a float."""
    if not (isinstance(share, Real) and 0 <= float(share) <= 1):
        raise fail(name, "be in [0, 1]", repr(share))
    return float(share)


def reaches(shares: Floats, bound: float) -> NDArray[np.bool_]:
    """Whether shares are at least the bound, but for rounding."""
    return np.asarray(shares >= bound - _WEIGHT_ROUNDING)


class _ErrorRates(Statistic):
    """A function of the rates of the two errors at one threshold."""

    reads = "crossing"
    greater_is_better = False
    bounds = (0.0, 1.0)
    greater_is_positive = True
    columns_suffice = False
    of_order = True
    labels: Any

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Number rows in rising order of scores; terms are positives and negatives."""
        assert y_true is not None
        positive = positive_rows(y_true, self.pos_label)
        score = positive_scores(y_pred, self.labels, self.pos_label)
        codes = score_codes(positive, score, merge=sample_weight is None)
        terms = np.column_stack((codes.positive, ~codes.positive)).astype(np.float64)
        if sample_weight is not None:
            terms = terms * sample_weight[codes.row_of_code][:, None]
        data = {"ends": codes.ends}
        return ReducedData(codes.code, len(codes.row_of_code), terms, MappingProxyType(data))

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Find the threshold of each resample; NaN where a class is absent."""
        (threshold,) = block.crossing(reduced.terms, self._gap, ends=reduced.data["ends"])
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = self._rate(threshold.before, threshold.after, threshold.total)
        return threshold.of_resamples(np.where((threshold.total > 0).all(axis=1), rate, np.nan))

    @abstractmethod
    def _gap(self, running: Floats, total: Floats) -> Floats:
        """A function of running sums that changes sign at the threshold, (n_resamples,)."""

    @abstractmethod
    def _rate(self, before: Floats, after: Floats, total: Floats) -> Floats:
        """Value of the metric from the sums on both sides of the threshold, (n_resamples,)."""


@dataclass(frozen=True, eq=False)
class EqualErrorRate(_ErrorRates):
    """Error rate where the rates of false negatives and of false positives are equal.

    Parameters
    ----------
    name : str
        How results call it.
    pos_label : label, optional
        The positive class; None: the larger label.
    response : {"scores", "probabilities"}
        What predictions it takes.
    labels : array-like of shape (2,), optional
        Label of each column; by default they rise.

    Notes
    -----
    On the operating points of all thresholds (equal scores move together), interpolated linearly
    between the two neighbouring ones; NaN where a class is absent.
    """

    sketch = "scores"
    columns_suffice = True
    # Scores that do not depend on the input err half the time on both sides.
    without_skill = 0.5

    name: str = "equal_error_rate"
    pos_label: Any = None
    response: Response = "scores"
    labels: Any = None

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Facts of any metric, and the size of the smaller class."""
        facts = super().facts(reduced, rows, members)
        return replace(facts, smaller_class=smaller_class(rows, self.pos_label))

    def _gap(self, running: Floats, total: Floats) -> Floats:
        # Misses minus false alarms, times the two totals: exact for counts.
        n_positive, n_negative = total.T
        crossed: Floats = (
            running[:, 0] * n_negative + running[:, 1] * n_positive - n_positive * n_negative
        )
        return crossed

    def _rate(self, before: Floats, after: Floats, total: Floats) -> Floats:
        below, above = self._gap(before, total), self._gap(after, total)
        share = below / (below - above)
        rejected = before[:, 1] + share * (after[:, 1] - before[:, 1])
        rate: Floats = 1.0 - rejected / total[:, 1]
        return rate


fast_path("equal_error_rate", response="scores")(
    lambda request, *, pos_label=None: EqualErrorRate(
        request.name, pos_label=pos_label, labels=request.labels
    )
)


@dataclass(frozen=True, eq=False)
class _RateAt(_ErrorRates):
    """A rate of one class where that of the other is bounded.

    Parameters
    ----------
    bound : float
        Bound of the other rate.
    name : str
        How results call it.
    pos_label : label, optional
        The positive class; None: the larger label.
    response : {"scores", "probabilities"}
        What predictions it takes.
    labels : array-like of shape (2,), optional
        Label of each column; by default they rise.

    Notes
    -----
    Of attained operating points, without interpolation; NaN where a class is absent.
    """

    bound: float
    name: str = "rate at a bound"
    pos_label: Any = None
    response: Response = "scores"
    labels: Any = None

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Scores that do not depend on the input treat both classes alike."""
        return 1.0 - self.bound


class FalsePositiveRateAt(_RateAt):
    """Smallest rate of false positives of a threshold that misses few enough positives.

    The bound is the largest share of the positives that may be missed.
    """

    sketch = "scores"

    def _gap(self, running: Floats, total: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            allowed = running[:, 0] / total[:, 0] <= self.bound
        return np.where(allowed, -1.0, 1.0)

    def _rate(self, before: Floats, after: Floats, total: Floats) -> Floats:
        # The last threshold is the best if all positives may be missed.
        best = np.where(self._gap(after, total) >= 0, before[:, 1], after[:, 1])
        rate: Floats = 1.0 - best / total[:, 1]
        return rate


fast_path("false_positive_rate_at", response="scores")(
    lambda request, *, false_negative_rate, pos_label=None: FalsePositiveRateAt(
        false_negative_rate, request.name, pos_label=pos_label, labels=request.labels
    )
)


class SensitivityAt(_RateAt):
    """Largest share of the positives above a threshold that rejects enough negatives.

    The bound is the smallest share of the negatives that must be rejected.
    """

    greater_is_better = True

    def _gap(self, running: Floats, total: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            return np.where(reaches(running[:, 1] / total[:, 1], self.bound), 1.0, -1.0)

    def _rate(self, before: Floats, after: Floats, total: Floats) -> Floats:
        # Nothing need be rejected for a bound of 0.
        lost = np.where(self._gap(before, total) > 0, before[:, 0], after[:, 0])
        rate: Floats = 1.0 - lost / total[:, 0]
        return rate


fast_path("sensitivity_at", response="scores")(
    lambda request, *, specificity, pos_label=None: SensitivityAt(
        check_share("specificity", specificity),
        request.name,
        pos_label=pos_label,
        labels=request.labels,
    )
)


class SpecificityAt(_RateAt):
    """Largest share of the negatives below a threshold that finds enough positives.

    The bound is the smallest share of the positives that must be found.
    """

    greater_is_better = True

    def _gap(self, running: Floats, total: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            sensitivity = 1.0 - running[:, 0] / total[:, 0]
        return np.where(reaches(sensitivity, self.bound), -1.0, 1.0)

    def _rate(self, before: Floats, after: Floats, total: Floats) -> Floats:
        # All may be rejected if no positive need be found.
        rejected = np.where(self._gap(after, total) > 0, before[:, 1], after[:, 1])
        rate: Floats = rejected / total[:, 1]
        return rate


fast_path("specificity_at", response="scores")(
    lambda request, *, sensitivity, pos_label=None: SpecificityAt(
        check_share("sensitivity", sensitivity),
        request.name,
        pos_label=pos_label,
        labels=request.labels,
    )
)


@dataclass(frozen=True, eq=False)
class MedianAbsoluteError(Statistic):
    """Median of absolute errors, the mean of the two middle ones where two share the middle.

    Parameters
    ----------
    name : str
        How results call it.
    response : {"values"}
        What predictions it takes.

    Notes
    -----
    With weights, half the weight lies on either side (Hyndman & Fan 1996, definition 2), as in
    scikit-learn from 1.7 on.
    """

    name: str = "median_absolute_error"
    response: Response = "values"
    reads = "crossing"
    greater_is_better = False
    bounds = (0.0, np.inf)

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Number rows in rising order of absolute errors, equal ones as one if that pays."""
        assert y_true is not None
        # Differences are of floats, because unsigned integers wrap and booleans have none.
        errors = np.abs(np.subtract(y_pred, y_true, dtype=np.float64))
        # A sort that is not stable would number ties as the processor does.
        order = np.argsort(errors, kind="stable")
        ordered = errors[order]
        n, narrow = len(errors), np.int32 if len(errors) <= np.iinfo(np.int32).max else np.int64
        # There may be as many rows as memory holds a few times.
        del errors
        number: NDArray[Any] = np.arange(n, dtype=narrow)
        terms = np.broadcast_to(1.0, n) if sample_weight is None else sample_weight[order]
        if sample_weight is None:
            new = np.append(True, ordered[1:] != ordered[:-1])
            if np.count_nonzero(new) * ROWS_PER_MERGED_CODE <= n:
                number, ordered = np.cumsum(new, dtype=narrow) - 1, ordered[new]
                terms = terms[: len(ordered)]
        code: NDArray[Any] = np.empty(n, dtype=narrow)
        code[order] = number
        data = MappingProxyType({"errors": ordered})
        return ReducedData(code, len(ordered), terms[:, None], data)

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Mean of the errors at which half the weight is reached and exceeded."""
        lower, upper = block.crossing(
            reduced.terms,
            lambda running, total: 2.0 * running[:, 0] - total[:, 0] * (1.0 - _WEIGHT_ROUNDING),
            lambda running, total: 2.0 * running[:, 0] - total[:, 0] * (1.0 + _WEIGHT_ROUNDING),
        )
        errors = reduced.data["errors"]
        # In place: without a unit each there are as many values as rows.
        median = lower.of_resamples(np.where(lower.total[:, 0] > 0, errors[lower.end], np.nan))
        median += upper.of_resamples(errors[upper.end])
        median *= 0.5
        return median

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Error of the centre of the shortest interval that holds more than half the truth."""
        y_true, _, sample_weight = rows
        if y_true is None:
            return None
        if sample_weight is None:
            values = np.sort(y_true).astype(np.float64)
            n, half = len(values), len(values) // 2
            shortest = int(np.argmin(values[half:] - values[: n - half]))
            away = values - 0.5 * (values[shortest] + values[shortest + half])
            np.abs(away, out=away)
            middle = -(-n // 2) - 1
            away.partition(middle)
            return float(away[middle])
        order = np.argsort(y_true)
        values, weights = y_true[order].astype(np.float64), sample_weight[order]
        upto = np.cumsum(weights)
        last = np.searchsorted(upto, upto - weights + 0.5 * upto[-1], side="right")
        starts = np.flatnonzero(last < len(values))
        shortest = starts[np.argmin(values[last[starts]] - values[starts])]
        centre = 0.5 * (values[shortest] + values[last[shortest]])
        away = np.abs(values - centre)
        outward = np.argsort(away)
        middle = np.searchsorted(np.cumsum(weights[outward]), 0.5 * upto[-1])
        return float(away[outward][middle])


fast_path("median_absolute_error", response="values")(
    lambda request: MedianAbsoluteError(request.name)
)
