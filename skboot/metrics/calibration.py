"""How far probabilities of two classes are to be trusted.

* `calibration_slope`, `calibration_intercept`: the line that probabilities need on the scale of
  logits (`CalibrationLine`, from sums over points or pieces of the axis);
* `expected_calibration_error`: their mean distance from what happens, in bins (`CalibrationError`);
* `net_benefit`: what decisions at a threshold probability are worth, a mean of rows.

Calibration curves are in `curves`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import comb, factorial
from numbers import Real
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit

from .._base.checks import check_count, fail
from .._base.doors import door
from .costs import posteriors_of
from .means import PosteriorMean, SumsStatistic, classes_of, oriented
from .statistic import (
    Columns,
    Facts,
    Floats,
    MetricRequest,
    ReadableBlock,
    ReducedData,
    Response,
    Statistic,
    fast_path,
)

__all__ = [
    "calibration_intercept",
    "calibration_slope",
    "expected_calibration_error",
    "net_benefit",
]


@door("calibration_slope")
def calibration_slope(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Slope that the logits of the probabilities need to be calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_prob : array-like of shape (n_samples, 2) or (n_samples,)
        Probability of each class, or of the second; 0 and 1 are moved inwards by the resolution of
        their type, as `sklearn.metrics.log_loss` does.
    labels : array-like of shape (2,), optional
        Both labels, in the order of the columns; by default those of ``y_true``, sorted.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        1 if the probabilities are as spread as they should be, less if they are overconfident. NaN
        where the fit does not exist: one class alone, or classes that a threshold separates.

    Raises
    ------
    ValueError
        If there are not two classes.

    Notes
    -----
    The slope b of the logistic regression of the truth on a + b logit(p), without penalty.

    References
    ----------
    Cox (1958), Biometrika 45, 562-565; Van Calster et al. (2016), Journal of Clinical Epidemiology
    74, 167-176.

    Examples
    --------
    >>> from skboot.metrics import calibration_slope
    >>> y_true = [0, 0, 1, 0, 1, 0, 1, 1]
    >>> y_prob = [0.02, 0.05, 0.1, 0.2, 0.8, 0.9, 0.95, 0.98]
    >>> round(calibration_slope(y_true, y_prob), 3)
    0.466
    """
    return _line(y_true, y_prob, labels, sample_weight, of_intercept=False)[1]


@door("calibration_intercept")
def calibration_intercept(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Shift that the logits of the probabilities need to be right on average.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_prob : array-like of shape (n_samples, 2) or (n_samples,)
        Probability of each class, or of the second; 0 and 1 are moved inwards by the resolution of
        their type, as `sklearn.metrics.log_loss` does.
    labels : array-like of shape (2,), optional
        Both labels, in the order of the columns; by default those of ``y_true``, sorted.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        0 if the probabilities are right on average (calibration in the large), more if they are too
        low. NaN where one class is absent.

    Raises
    ------
    ValueError
        If there are not two classes.

    Notes
    -----
    The intercept a of the logistic regression of the truth on a + logit(p), whose slope is 1.

    References
    ----------
    Cox (1958), Biometrika 45, 562-565; Van Calster et al. (2016), Journal of Clinical Epidemiology
    74, 167-176.

    Examples
    --------
    >>> from skboot.metrics import calibration_intercept
    >>> round(calibration_intercept([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.3, 0.6, 0.7]), 3)
    0.683
    """
    return _line(y_true, y_prob, labels, sample_weight, of_intercept=True)[0]


@door("expected_calibration_error")
def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: int = 10,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean distance of the probabilities from the shares of the second class, in bins.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_prob : array-like of shape (n_samples, 2) or (n_samples,)
        Probability of each class, or of the second.
    n_bins : int, default=10
        Number of bins of equal width from 0 to 1. A probability on an edge belongs to the upper
        bin.
    labels : array-like of shape (2,), optional
        Both labels, in the order of the columns; by default those of ``y_true``, sorted.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        In [0, 1]; smaller is better.

    Raises
    ------
    ValueError
        If there are not two classes.

    Notes
    -----
    The sum over bins of the distance between the share of the second class and the mean
    probability, weighted by their rows. Distances are never negative, so the value is biased
    upwards, more with fewer rows per bin and once more on resamples: a calibrated system has a
    value above 0. `skboot.bootstrap_score` makes its interval from simultaneous limits of all bins.
    Differences of systems, averages over tasks and several runs have no such interval, and a
    warning says so.

    References
    ----------
    Naeini, Cooper & Hauskrecht (2015), Proceedings of AAAI 29, 2901-2907; Guo et al. (2017),
    Proceedings of ICML 34, 1321-1330.

    Examples
    --------
    >>> from skboot.metrics import expected_calibration_error
    >>> y_true = [0, 0, 1, 1, 1]
    >>> y_prob = [0.1, 0.15, 0.15, 0.8, 0.9]
    >>> round(expected_calibration_error(y_true, y_prob, n_bins=2), 3)
    0.18
    """
    n_bins = check_count("n_bins", n_bins, 1)
    classes, prob, weights = _two(y_true, y_prob, labels, sample_weight)
    gaps = np.bincount(bins_of(prob, n_bins), weights * (classes - prob), n_bins)
    return float(np.abs(gaps).sum() / weights.sum())


@door("net_benefit")
def net_benefit(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    threshold: float,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Net benefit: true positives per row, less false positives weighted by the threshold odds.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_prob : array-like of shape (n_samples, 2) or (n_samples,)
        Probability of each class, or of the second.
    threshold : float
        Probability from which on a row is treated, in (0, 1).
    labels : array-like of shape (2,), optional
        Both labels, in the order of the columns; by default those of ``y_true``, sorted.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Larger is better; treat none has 0. `skboot.bootstrap_curve` with ``curve="decision"`` has
        it at all thresholds.

    Raises
    ------
    ValueError
        If there are not two classes.

    Notes
    -----
    TP / n - FP / n t / (1 - t) at the threshold t.

    References
    ----------
    Vickers & Elkin (2006), Medical Decision Making 26, 565-574.

    Examples
    --------
    >>> from skboot.metrics import net_benefit
    >>> net_benefit([0, 0, 0, 1, 1], [0.1, 0.3, 0.6, 0.5, 0.9], threshold=0.2)
    0.3
    """
    threshold = check_threshold(threshold)
    classes, prob, weights = _two(y_true, y_prob, labels, sample_weight)
    return float(np.average(benefits(classes, prob, threshold), weights=weights))


def _two(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> tuple[NDArray[np.intp], NDArray[Any], Floats]:
    """Class of each row, its probability of the second class, and its weight."""
    classes, prob, all_labels, weights = posteriors_of(y_true, y_prob, labels, sample_weight)
    if len(all_labels) != 2:
        advice = "Take one class against the others: y_true == label, and its column."
        raise fail("y_true", "hold two classes", f"{len(all_labels)} labels", advice)
    return classes, prob[:, 1], np.ones(len(classes)) if weights is None else weights


def _line(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    *,
    of_intercept: bool,
) -> tuple[float, float]:
    """Intercept and slope of the logits."""
    classes, prob, weights = _two(y_true, y_prob, labels, sample_weight)
    points, sums = sums_at_points(logits_of(prob), classes, weights)
    line = fitted_lines(points, sums, of_intercept=of_intercept)[0]
    return float(line[0]), float(line[1])


# Lines through right and wrong on the scale of logits, for many weightings at once.
#
# The logistic regression of the truth on a + b x has two equations, sums over rows of the truth
# less the probability. Rows of equal x are one point, so that a resample needs the weight at each
# point; where points are many, they share pieces of the axis, in which the probability is a power
# series about the centre, and a resample needs the sums of a few powers of the distance from it.


# Maximum number of distinct logits that are points of their own.
_LINE_POINTS = 1000
# Degree of the power series, and half the width of a piece in logits of the fitted line. The series
# of the logistic function has a radius of pi: its rest is (.1 / 3.1) ** 10.
_LINE_DEGREE, _HALF_WIDTH = 9, 0.1
# Sums of powers in a piece, from the 0th up: the derivative of the second equation by the slope
# multiplies the series by the square of the logit, which raises its degree by two.
_N_POWERS = _LINE_DEGREE + 3
# Newton steps at most, how far one goes (in logits), and below what the next is the last.
_STEPS, _FAR, _NEAR = 100, 4.0, 1e-7
# Smallest mean of p (1 - p) of a fit: rows out of order have one of the order of their share.
_LEAST_DOUBT = 1e-9
# Range of fitted logits from which on they may be endless, and their smallest variance then,
# weighted by p (1 - p).
_WIDE, _LEAST_VARIANCE = 20.0, 1e-6
# Weights at points that are looked at together.
_AT_ONCE = 1 << 18


class Points(NamedTuple):
    """Where sums are taken.

    Attributes
    ----------
    centres : ndarray of shape (n_points,)
        Logits of the points, or of the centres of pieces.
    n_powers : int
        Number of sums of powers in each: 1 of points, `_N_POWERS` of pieces.
    """

    centres: Floats
    n_powers: int


def logits_of(prob: NDArray[Any]) -> Floats:
    """Logits of probabilities, 0 and 1 clipped as `sklearn.metrics.log_loss` does."""
    epsilon = np.finfo(prob.dtype).eps
    inside = np.clip(prob, epsilon, 1 - epsilon).astype(np.float64)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def sums_at_points(
    logit: Floats, classes: NDArray[np.intp], weights: Floats
) -> tuple[Points, Floats]:
    """Distinct logits, and the sums that `fitted_lines` takes of them, (1, 2 + n_points)."""
    distinct, number = np.unique(logit, return_inverse=True)
    point_weights = np.bincount(number.reshape(-1), weights)
    hits = weights * classes
    return Points(distinct, 1), np.concatenate(([hits.sum(), hits @ logit], point_weights))[None]


def terms_of_logistic_fit(
    logit: Floats, classes: NDArray[np.intp], weights: Floats
) -> tuple[Points, Any]:
    """Points or pieces, and what each row adds to their sums, a sparse matrix.

    Its columns are the sums that `fitted_lines` takes: the weight of the positives, the sum of
    their logits, and the sums of powers at each point.
    """
    n = len(logit)
    distinct, number = np.unique(logit, return_inverse=True)
    points, powers = Points(distinct, 1), np.ones((n, 1))
    number = number.reshape(-1)
    if len(distinct) > _LINE_POINTS:
        slope = fitted_lines(*sums_at_points(logit, classes, weights), of_intercept=False)[0, 1]
        pieces, piece_of_row = _pieces_of(logit, float(np.nan_to_num(slope)))
        # Pieces hold more numbers than points do: they pay where they are few.
        if 4 * len(pieces.centres) < len(distinct):
            points, number = pieces, piece_of_row
            powers = (logit - points.centres[number])[:, None] ** np.arange(points.n_powers)
    hits = weights * classes
    values = np.column_stack((hits, hits * logit, powers * weights[:, None]))
    places = 2 + number[:, None] * points.n_powers + np.arange(points.n_powers)
    columns = np.hstack((np.tile([0, 1], (n, 1)), places))
    indices = np.repeat(np.arange(n), columns.shape[1]), columns.ravel()
    width = 2 + len(points.centres) * points.n_powers
    return points, sparse.csr_matrix((values.ravel(), indices), shape=(n, width))


def _pieces_of(logit: Floats, slope: float) -> tuple[Points, NDArray[np.intp]]:
    """Cut the axis into pieces of equal width that hold rows; return also that of each row.

    A piece is 0.2 logits of the fitted line wide, and at most 0.2 logits of the rows.
    """
    least, width = logit.min(), 2 * _HALF_WIDTH / max(abs(slope), 1.0)
    number = np.floor((logit - least) / width).astype(np.intp)
    occurs, piece = np.unique(number, return_inverse=True)
    return Points(least + (occurs + 0.5) * width, _N_POWERS), piece.reshape(-1)


def fitted_lines(points: Points, sums: Floats, *, of_intercept: bool) -> Floats:
    """Intercept and slope of each weighting, (n_resamples, 2); NaN where there is no fit.

    ``sums`` has the weight of the positives, the sum of their logits, and the sums of powers at
    each point. ``of_intercept`` holds the slope at 1.
    """
    lines = np.full((len(sums), 2), np.nan)
    step = max(1, _AT_ONCE // len(points.centres))
    for start in range(0, len(sums), step):
        part = sums[start : start + step]
        powers = part[:, 2:].reshape(len(part), -1, points.n_powers)
        total = powers[:, :, 0].sum(axis=1)
        mixed = np.flatnonzero((part[:, 0] > 0) & (part[:, 0] < total))
        if len(mixed):
            lines[start + mixed] = _solve_lines(
                points, part[mixed, :2], powers[mixed], of_intercept
            )
    return lines


def _gaps_and_slopes(
    points: Points, hits: Floats, powers: Floats, lines: Floats
) -> tuple[Floats, Floats]:
    """Gaps (n, 2) of both equations, and their derivatives (n, 2, 2), at some lines."""
    centres, n_powers = points
    share = expit(lines[:, :1] + lines[:, 1:] * centres)
    # The degree of the series that so many powers are for (see `_N_POWERS`); 0 of points.
    degree = max(n_powers - 3, 0)
    gap, slope = hits.copy(), np.zeros((len(lines), 3))
    for k in range(degree + 1):
        scale = lines[:, 1] ** k / factorial(k)
        value, derivative = (np.polyval(_DERIVATIVES[k + more], share) for more in (0, 1))
        for j in range(3):
            # Sums of (centre + distance) ** j times distance ** k, (n, n_points).
            last = min(j, n_powers - 1 - k)
            parts = (comb(j, i) * centres ** (j - i) * powers[:, :, k + i] for i in range(last + 1))
            weights = np.asarray(sum(parts))
            if j < 2:
                gap[:, j] -= scale * np.einsum("ij,ij->i", value, weights)
            slope[:, j] += scale * np.einsum("ij,ij->i", derivative, weights)
    return gap, slope[:, [[0, 1], [1, 2]]]


# Derivatives of the logistic function as polynomials in its value s, highest power first: the
# derivative of s is s (1 - s).
_DERIVATIVES = [np.array([1.0, 0.0])]
for _ in range(_LINE_DEGREE + 1):
    _DERIVATIVES.append(np.polymul(np.polyder(_DERIVATIVES[-1]), [-1.0, 1.0, 0.0]))


def _solve_lines(points: Points, hits: Floats, powers: Floats, of_intercept: bool) -> Floats:
    """Newton's steps to where the gaps are 0, none of which moves a logit too far."""
    n = len(hits)
    total = powers[:, :, 0].sum(axis=1)
    lines = np.zeros((n, 2))
    lines[:, 0] = np.log(hits[:, 0]) - np.log(total - hits[:, 0])
    if of_intercept:
        lines[:, 1] = 1.0
    solved, unsolved = np.full((n, 2), np.nan), np.arange(n)
    ends = np.array([points.centres[0], points.centres[-1]])
    near = np.zeros(n, dtype=bool)
    for _ in range(_STEPS):
        gap, slope = _gaps_and_slopes(points, hits[unsolved], powers[unsolved], lines[unsolved])
        with np.errstate(invalid="ignore", divide="ignore"):
            a, b, c = slope[:, 0, 0], slope[:, 0, 1], slope[:, 1, 1]
            if of_intercept:
                step = np.column_stack((gap[:, 0] / a, np.zeros(len(gap))))
            else:
                determinant = a * c - b * b
                rounding = np.abs(determinant) <= 1e-14 * np.abs(a * c)
                determinant = np.where(rounding, np.nan, determinant)
                shift = (c * gap[:, 0] - b * gap[:, 1]) / determinant
                step = np.column_stack((shift, (a * gap[:, 1] - b * gap[:, 0]) / determinant))
        moved = np.abs(step[:, :1] + step[:, 1:] * ends).max(axis=1)
        lines[unsolved] += step * np.minimum(1.0, _FAR / np.maximum(moved, 1e-300))[:, None]
        done = near[unsolved] & (moved < _NEAR)
        near[unsolved] = moved < _NEAR
        wide = np.abs(lines[unsolved, 1]) * (ends[1] - ends[0])
        # Where a threshold separates the classes no row is in doubt in the end, or those of one
        # logit, and rounding ended an endless search.
        doubt = slope[:, 0, 0]
        is_fit = done & (doubt > 0)
        if not of_intercept:
            variance = (slope[:, 1, 1] - slope[:, 0, 1] ** 2 / doubt) / doubt
            spread = (wide < _WIDE) | (lines[unsolved, 1] ** 2 * variance > _LEAST_VARIANCE)
            is_fit = done & (doubt > _LEAST_DOUBT * total[unsolved]) & spread
        solved[unsolved[is_fit]] = lines[unsolved[is_fit]]
        # A step that is no number ends the search: there is no line through one point.
        unsolved = unsolved[~done & np.isfinite(moved)]
        if not len(unsolved):
            break
    return solved


def check_threshold(threshold: Any) -> float:
    """A probability strictly between 0 and 1, as a float."""
    if not (isinstance(threshold, Real) and 0 < float(threshold) < 1):
        raise fail("threshold", "be in (0, 1)", repr(threshold))
    return float(threshold)


def bins_of(prob: NDArray[Any], n_bins: int) -> NDArray[np.intp]:
    """Number of the bin of each probability, (n_samples,)."""
    # Steps of np.linspace add up to 0.30000000000000004, which a probability of 0.3 is below.
    edges = np.arange(1, n_bins) / n_bins
    return np.asarray(np.searchsorted(edges, prob, side="right"))


def benefits(classes: NDArray[np.intp], prob: NDArray[Any], threshold: float) -> Floats:
    """Benefit of each row where those from the threshold on are treated, (n_samples,).

    Probabilities are those of both classes, or of the second.
    """
    prob = prob[:, 1] if prob.ndim == 2 else prob
    worth = np.where(classes == 1, 1.0, -threshold / (1.0 - threshold))
    return np.where(prob >= threshold, worth, 0.0)


# ------------------------------------------------------------------ statistics


# Top-label calibration, as of Guo et al. (2017).
_ONE_OF_SEVERAL = (
    "Score a class against the others, y_true == label and its column of y_pred; or the most "
    "probable class: (y_true == labels[y_pred.argmax(axis=1)]) and y_pred.max(axis=1), with the "
    "labels of the columns."
)


@dataclass(frozen=True, eq=False)
class CalibrationLine(Statistic):
    """Slope or intercept of the truth on the logits of the probabilities.

    Parameters
    ----------
    name : str
        How results call it.
    of_intercept : bool
        Whether it is the intercept at a slope of 1, else the slope.
    labels : ndarray of shape (2,) or None
        Labels of the columns; None: those of ``y_true``, sorted.
    pos_label : label, optional
        The positive class; None: the second of ``labels``.
    """

    name: str
    of_intercept: bool
    labels: NDArray[Any] | None = None
    pos_label: Any = None
    greater_is_better: bool | None = None
    response: Response = "probabilities"
    # Sums of so many terms without each unit would take longer than those of the resamples.
    reads = "running"
    greater_is_positive = True
    advice_on_several = _ONE_OF_SEVERAL

    @property
    def columns_suffice(self) -> bool:  # type: ignore[override]
        """Whether it is the slope, which is that of either class."""
        return not self.of_intercept

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Keep the terms of a logistic fit, which are sums at points or in pieces."""
        classes, prob = _positive_rows(y_true, y_pred, self.labels, self.pos_label)
        weights = np.ones(len(classes)) if sample_weight is None else sample_weight
        points, terms = terms_of_logistic_fit(logits_of(prob), classes, weights)
        return ReducedData(None, len(classes), terms, MappingProxyType({"points": points}))

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Solve the equations of all resamples together."""
        sums = block.sums(reduced.terms)
        lines = fitted_lines(reduced.data["points"], sums, of_intercept=self.of_intercept)
        return lines[:, 0 if self.of_intercept else 1]

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """The share of positives as the probability of all rows is right on average."""
        return 0.0 if self.of_intercept else None


fast_path("calibration_slope", response="probabilities")(
    lambda request, *, labels=None: CalibrationLine(
        request.name, False, request.columns(labels), request.pos_label
    )
)
fast_path("calibration_intercept", response="probabilities")(
    lambda request, *, labels=None: CalibrationLine(
        request.name, True, request.columns(labels), request.pos_label
    )
)


@dataclass(frozen=True, eq=False)
class CalibrationError(SumsStatistic):
    """Sum over bins of the distance of the positives from what their probabilities add up to.

    Parameters
    ----------
    name : str
        How results call it.
    n_bins : int
        Number of bins of equal width.
    labels : ndarray of shape (2,) or None
        Labels of the columns; None: those of ``y_true``, sorted.
    pos_label : label, optional
        The positive class; None: the second of ``labels``.
    """

    adds_distances = True
    greater_is_positive = True
    advice_on_several = _ONE_OF_SEVERAL
    # The share of positives as the probability of all rows is calibrated.
    without_skill = 0.0

    name: str
    n_bins: int = 10
    labels: NDArray[Any] | None = None
    pos_label: Any = None
    greater_is_better: bool | None = False
    response: Response = "probabilities"
    bounds: tuple[float, float] = (0.0, 1.0)

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Terms: the gap of a row in the column of its bin, and its weight."""
        classes, prob = _positive_rows(y_true, y_pred, self.labels, self.pos_label)
        weights = np.ones(len(classes)) if sample_weight is None else sample_weight
        occurs, number = np.unique(bins_of(prob, self.n_bins), return_inverse=True)
        number = number.reshape(-1)
        terms = np.zeros((len(classes), len(occurs) + 1))
        terms[np.arange(len(classes)), number] = weights * (classes - prob)
        terms[:, -1] = weights
        data = {"bin": number, "class": classes, "prob": prob, "weights": weights}
        return ReducedData(None, len(classes), terms, MappingProxyType(data))

    def combine(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Add up the distances."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.abs(sums[:, :-1]).sum(axis=1) / sums[:, -1])

    def gradient(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Each distance has the derivative of its sign."""
        with np.errstate(invalid="ignore", divide="ignore"):
            by_gap = np.sign(sums[:, :-1]) / sums[:, -1:]
            return np.column_stack((by_gap, -self.combine(sums, reduced) / sums[:, -1]))

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Facts of any metric, and the bins: weight, positives, probability and worth in rows."""
        data = reduced.data
        number, weights, classes = data["bin"], data["weights"], data["class"]
        total, hits, prob_sums, squares = (
            np.bincount(number, weights * value) for value in (1.0, classes, data["prob"], weights)
        )
        occupied = total > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            share, mean, worth = hits / total, prob_sums / total, total**2 / squares
        if members is not None:
            # How much larger the variance in bins is than that of independent rows, at least 1.
            residual, variance = weights * (classes - share[number]), 0.0
            row_variance = float(np.nansum(share * (1 - share) * total**2 / worth))
            for factor in members.T:
                _, code = np.unique(factor, return_inverse=True)
                member_sums = np.bincount(code.reshape(-1) * len(total) + number, residual)
                variance += float(np.sum(member_sums**2))
            worth = worth / (max(1.0, variance / row_variance) if row_variance > 0 else 1.0)
        bins = np.array([total / total.sum(), share, mean, worth])[:, occupied]
        return replace(super().facts(reduced, rows, members), bins=bins)


fast_path("expected_calibration_error", response="probabilities")(
    lambda request, *, n_bins=10, labels=None: CalibrationError(
        request.name,
        check_count("n_bins", n_bins, 1),
        request.columns(labels),
        request.pos_label,
    )
)


class NetBenefit(PosteriorMean):
    """Mean over rows of what treating each is worth, of two classes."""

    advice_on_several = "Score a class against the others: y_true == label, and its column."


@fast_path("net_benefit", response="probabilities")
def _net_benefit(
    request: MetricRequest, *, threshold: float, labels: ArrayLike | None = None
) -> NetBenefit:
    threshold = check_threshold(threshold)
    return NetBenefit(
        request.name,
        partial(benefits, threshold=threshold),
        greater_is_better=True,
        bounds=(-threshold / (1 - threshold), 1.0),
        constant=partial(_benefit_of_all, threshold=threshold),
        labels=request.columns(labels),
        pos_label=request.pos_label,
        columns_suffice=False,
    )


def _benefit_of_all(shares: Floats, *, threshold: float) -> float:
    """Net benefit of treating all rows, or none."""
    return max(0.0, float(shares[1] - shares[0] * threshold / (1 - threshold)))


def _positive_rows(
    y_true: NDArray[Any] | None,
    y_pred: NDArray[Any],
    labels: NDArray[Any] | None,
    pos_label: Any,
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Class of each row, 1 if positive, and its probability of the positive class."""
    assert y_true is not None
    order, prob = oriented(y_pred, labels, pos_label)
    return classes_of(y_true, order, 2), prob[:, 1]
