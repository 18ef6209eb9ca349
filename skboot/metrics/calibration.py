"""The smoothed calibration curve: a local line through right and wrong, on a fixed grid.

The share of positives at a predicted probability x is the height at x of the line that fits the
rows near x best, each weighted by 1 - ((p - x) / h)^2 within the bandwidth h. Its sums over windows
are those of powers of p over the pieces between the windows' ends, so that a resample needs a few
sums of each piece, whatever the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
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
from .curves import ClassSizes, Curve, TwoClassRows
from .means import PosteriorMean, SumsStatistic, classes_of, oriented
from .statistic import (
    Columns,
    Facts,
    Floats,
    ReadableBlock,
    ReducedData,
    Request,
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


# Constant of the rule of thumb for a local line and this kernel (Fan & Gijbels 1996, table 3.2).
_RULE = 1.719
# Degree of the polynomial that stands for the curve in the rule.
_DEGREE = 4
# Shares of the rows between which the rule looks at it, and between which the grid lies.
_INNER, _OUTER = (0.05, 0.95), (0.01, 0.99)
# Points of a grid that is not given.
_POINTS = 50
# Minimum rows within a bandwidth: this many, or this share of all.
_LEAST_ROWS, _LEAST_SHARE = 20, 0.1
# Share of the product of its parts below which a determinant is rounding.
_ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class SmoothCalibration(Curve):
    """Local linear share of positives at predicted probabilities.

    Parameters
    ----------
    grid, bandwidth : ndarray of shape (n_grid,)
        Where it has values, and how far each looks.

    Notes
    -----
    The band is of the smoothed curve: what the local lines tend to with the same bandwidths.

    References
    ----------
    Fan & Gijbels (1996), Local Polynomial Modelling and Its Applications, sections 2.2 and 4.2.
    """

    bandwidth: Floats
    name = "calibration_smooth"
    axes = ("predicted probability", "share of positives")
    reads = "sums"

    @staticmethod
    def own_grid(score: Floats) -> Floats:
        """Points from the first to the last hundredth of the rows."""
        low, high = np.quantile(score, _OUTER)
        return np.linspace(low, high, _POINTS) if low < high else np.array([low])

    @classmethod
    def at(cls, grid: Floats, rows: TwoClassRows) -> SmoothCalibration:
        """The curve on a grid, with bandwidths chosen by the rows."""
        n = len(rows.score)
        k = min(max(_LEAST_ROWS, int(np.ceil(_LEAST_SHARE * n))), n) - 1
        # Distances within which each point has enough rows. Rows at the very end of a window have
        # no weight, and one value alone carries no line.
        distances = np.array([np.partition(np.abs(rows.score - x), k)[k] for x in grid])
        far_enough = np.maximum(distances * (1 + 1e-9), 1e-6)
        return cls(grid, np.maximum(_rule_of_thumb(rows), far_enough))

    @cached_property
    def _pieces(self) -> tuple[Floats, Floats, Any]:
        """Bounds and centres of the pieces, and how windows are made of sums over them."""
        low, high = self.grid - self.bandwidth, self.grid + self.bandwidth
        bounds = np.unique(np.concatenate((low, high)))
        centres = (bounds[1:] + bounds[:-1]) / 2
        blocks = []
        for x, h in zip(self.grid, self.bandwidth, strict=True):
            inside = np.flatnonzero((centres > x - h) & (centres < x + h))
            blocks.append(_window(centres[inside] - x, h, inside, len(centres)))
        return bounds, centres, sparse.hstack(blocks).tocsr()

    def reduce(self, rows: TwoClassRows) -> ReducedData:
        """Sums of powers of the distance from the centre of a row's piece, of all and positives."""
        bounds, centres, _ = self._pieces
        piece = np.searchsorted(bounds, rows.score, side="right") - 1
        # A row at the very end of a window has no weight in it.
        seen = np.flatnonzero((piece >= 0) & (piece < len(centres)))
        piece, n = piece[seen], len(rows.score)
        away = rows.score[seen] - centres[piece]
        powers = away[:, None] ** np.arange(5) * rows.weight[seen, None]
        values = np.hstack((powers, powers[:, :4] * rows.positive[seen, None]))
        columns = 9 * piece[:, None] + np.arange(9)
        at = np.repeat(seen, 9), columns.ravel()
        terms = sparse.csr_matrix((values.ravel(), at), shape=(n, 9 * len(centres)))
        return ReducedData(None, n, terms, MappingProxyType({"rows": rows}))

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Height of the line of least squares at each point, between 0 and 1."""
        sums = block.sums(reduced.terms) @ self._pieces[2]
        s0, s1, s2, t0, t1 = sums.reshape(len(sums), -1, 5).transpose(2, 0, 1)
        determinant = s0 * s2 - s1 * s1
        with np.errstate(invalid="ignore", divide="ignore"):
            height = (s2 * t0 - s1 * t1) / determinant
        defined = determinant > _ROUNDING * s0 * s2
        return np.where(defined, np.clip(height, 0.0, 1.0), np.nan)

    def behind(self, block: ReadableBlock, reduced: ReducedData, worth: float) -> Floats:
        """Rows of equal weight that are worth those in each window."""
        rows, within = reduced.data["rows"], np.empty(len(self.grid))
        for k, (x, h) in enumerate(zip(self.grid, self.bandwidth, strict=True)):
            kernel = rows.weight * np.maximum(1 - ((rows.score - x) / h) ** 2, 0)
            within[k] = kernel.sum() ** 2 / np.sum(kernel**2)
        return within

    def beyond(self, score: Floats) -> NDArray[np.bool_]:
        """Points below the least and above the largest prediction."""
        return (self.grid < score.min()) | (self.grid > score.max())

    def reference(self, sizes: ClassSizes) -> Floats:
        """Predictions that are what they say."""
        return self.grid


def _window(distance: Floats, h: float, inside: Any, n_pieces: int) -> Any:
    """Sparse (9 n_pieces, 5) matrix from sums over pieces to those of one window.

    The columns are the sums of k, k u, k u^2, k y and k y u, where u is the distance of a row from
    the point and k = 1 - (u / h)^2. With d the distance of a piece's centre, u = v + d is a sum of
    powers of v, the distance of the row from the centre.
    """
    rows, columns, values = [], [], []
    for column, (of_positives, power) in enumerate([(0, 0), (0, 1), (0, 2), (5, 0), (5, 1)]):
        for degree, factor in ((power, 1.0), (power + 2, -(h**-2))):
            for j in range(degree + 1):
                rows.append(9 * inside + of_positives + j)
                columns.append(np.full(len(inside), column))
                values.append(factor * comb(degree, j) * distance ** (degree - j))
    at = np.concatenate(rows), np.concatenate(columns)
    return sparse.csr_matrix((np.concatenate(values), at), shape=(9 * n_pieces, 5))


def _rule_of_thumb(rows: TwoClassRows) -> float:
    """Bandwidth for a curve as bent as the polynomial of degree 4 through the rows."""
    low, high = np.quantile(rows.score, _INNER)
    span = float(rows.score.max() - rows.score.min())
    if len(np.unique(rows.score)) <= _DEGREE + 1:
        return span
    fit = np.polynomial.Polynomial.fit(rows.score, rows.positive, _DEGREE, w=np.sqrt(rows.weight))
    residual: Floats = rows.positive - fit(rows.score)
    n = len(rows.score)
    noise = float(np.average(residual**2, weights=rows.weight)) * n / max(n - _DEGREE - 1, 1)
    inner = (rows.score >= low) & (rows.score <= high)
    bend = float(np.sum(rows.weight[inner] * fit.deriv(2)(rows.score[inner]) ** 2))
    bend *= n / float(rows.weight.sum())
    if bend <= noise * (high - low) / (span / _RULE) ** 5:
        return span
    return _RULE * float(noise * (high - low) / bend) ** 0.2


# Lines through right and wrong on the scale of logits, for many weightings at once.
#
# The logistic regression of the truth on a + b x has two equations, sums over rows of the truth
# less
# the probability. Rows of equal x are one point, so that a resample needs the weight at each point;
# where points are many, they share pieces of the axis, in which the probability is a power series
# about the centre, and a resample needs the sums of a few powers of the distance from it.


# Maximum number of distinct logits that are points of their own.
_LINE_POINTS = 1000
# Degree of the power series, and half the width of a piece in logits of the fitted line. The series
# of the logistic function has a radius of pi: its rest is (.1 / 3.1) ** 10.
_LINE_DEGREE, _HALF_WIDTH = 9, 0.1
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
        Number of sums of powers in each: 1 of points.
    """

    centres: Floats
    n_powers: int


def logits_of(prob: NDArray[Any]) -> Floats:
    """Logits of probabilities, 0 and 1 clipped as `sklearn.metrics.log_loss` does."""
    epsilon = np.finfo(prob.dtype).eps
    inside = np.clip(prob, epsilon, 1 - epsilon).astype(np.float64)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def points_of(logit: Floats, classes: NDArray[np.intp], weights: Floats) -> tuple[Points, Floats]:
    """Distinct logits, and the sums that `fitted_lines` takes of them, (1, 2 + n_points)."""
    distinct, number = np.unique(logit, return_inverse=True)
    at_points = np.bincount(number.reshape(-1), weights)
    of_hits = weights * classes
    return Points(distinct, 1), np.concatenate(([of_hits.sum(), of_hits @ logit], at_points))[None]


def terms_of(logit: Floats, classes: NDArray[np.intp], weights: Floats) -> tuple[Points, Any]:
    """Points or pieces, and what each row adds to their sums, a sparse matrix."""
    n = len(logit)
    distinct, number = np.unique(logit, return_inverse=True)
    points, powers = Points(distinct, 1), np.ones((n, 1))
    number = number.reshape(-1)
    if len(distinct) > _LINE_POINTS:
        slope = fitted_lines(*points_of(logit, classes, weights), of_intercept=False)[0, 1]
        wide = 2 * _HALF_WIDTH / max(abs(float(np.nan_to_num(slope))), 1.0)
        pieces = np.floor((logit - distinct[0]) / wide).astype(np.intp)
        occurs, piece = np.unique(pieces, return_inverse=True)
        if 4 * len(occurs) < len(distinct):
            number = piece.reshape(-1)
            points = Points(distinct[0] + (occurs + 0.5) * wide, _LINE_DEGREE + 3)
            powers = (logit - points.centres[number])[:, None] ** np.arange(points.n_powers)
    hits = weights * classes
    values = np.column_stack((hits, hits * logit, powers * weights[:, None]))
    places = 2 + number[:, None] * points.n_powers + np.arange(points.n_powers)
    columns = np.hstack((np.tile([0, 1], (n, 1)), places))
    at = np.repeat(np.arange(n), columns.shape[1]), columns.ravel()
    width = 2 + len(points.centres) * points.n_powers
    return points, sparse.csr_matrix((values.ravel(), at), shape=(n, width))


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
        both = np.flatnonzero((part[:, 0] > 0) & (part[:, 0] < total))
        if len(both):
            lines[start + both] = _solved(points, part[both, :2], powers[both], of_intercept)
    return lines


def _gaps_and_slopes(
    points: Points, hits: Floats, powers: Floats, lines: Floats
) -> tuple[Floats, Floats]:
    """Gaps (n, 2) of both equations, and their derivatives (n, 2, 2), at some lines."""
    centres, n_powers = points
    share = expit(lines[:, :1] + lines[:, 1:] * centres)
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


def _derivatives(n: int) -> list[Floats]:
    """Derivatives of the logistic function as polynomials in its value s, highest power first."""
    found = [np.array([1.0, 0.0])]
    for _ in range(n):
        # The derivative of s is s (1 - s).
        found.append(np.polymul(np.polyder(found[-1]), [-1.0, 1.0, 0.0]))
    return found


_DERIVATIVES = _derivatives(_LINE_DEGREE + 1)


def _solved(points: Points, hits: Floats, powers: Floats, of_intercept: bool) -> Floats:
    """Newton's steps, none of which moves a logit too far."""
    n = len(hits)
    total = powers[:, :, 0].sum(axis=1)
    lines = np.zeros((n, 2))
    lines[:, 0] = np.log(hits[:, 0]) - np.log(total - hits[:, 0])
    if of_intercept:
        lines[:, 1] = 1.0
    solved, left = np.full((n, 2), np.nan), np.arange(n)
    ends = np.array([points.centres[0], points.centres[-1]])
    near = np.zeros(n, dtype=bool)
    for _ in range(_STEPS):
        gap, slope = _gaps_and_slopes(points, hits[left], powers[left], lines[left])
        step = _newton_step(gap, slope, of_intercept)
        moved = np.abs(step[:, :1] + step[:, 1:] * ends).max(axis=1)
        lines[left] += step * np.minimum(1.0, _FAR / np.maximum(moved, 1e-300))[:, None]
        done = near[left] & (moved < _NEAR)
        near[left] = moved < _NEAR
        wide = np.abs(lines[left, 1]) * (ends[1] - ends[0])
        found = done & _is_finite(slope, lines[left, 1], total[left], wide, of_intercept)
        solved[left[found]] = lines[left[found]]
        # A step that is no number ends the search: there is no line through one point.
        left = left[~done & np.isfinite(moved)]
        if not len(left):
            break
    return solved


def _is_finite(
    slope: Floats, b: Floats, total: Floats, wide: Floats, of_intercept: bool
) -> NDArray[np.bool_]:
    """Whether a fit is one, (n,), and not where rounding ended an endless search.

    Where a threshold tells the classes apart no row is in doubt in the end, or those of one logit.
    """
    doubt = slope[:, 0, 0]
    if of_intercept:
        return doubt > 0
    variance = (slope[:, 1, 1] - slope[:, 0, 1] ** 2 / doubt) / doubt
    spread = (wide < _WIDE) | (b**2 * variance > _LEAST_VARIANCE)
    return np.asarray((doubt > _LEAST_DOUBT * total) & spread)


def _newton_step(gap: Floats, slope: Floats, of_intercept: bool) -> Floats:
    """What solves the linear equations, (n, 2)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if of_intercept:
            return np.column_stack((gap[:, 0] / slope[:, 0, 0], np.zeros(len(gap))))
        a, b, c = slope[:, 0, 0], slope[:, 0, 1], slope[:, 1, 1]
        determinant = a * c - b * b
        rounding = np.abs(determinant) <= 1e-14 * np.abs(a * c)
        determinant = np.where(rounding, np.nan, determinant)
        first = (c * gap[:, 0] - b * gap[:, 1]) / determinant
        return np.column_stack((first, (a * gap[:, 1] - b * gap[:, 0]) / determinant))


# How far probabilities of two classes are to be trusted, to call or to give as ``metric=``.
#
# * `calibration_slope`, `calibration_intercept`: the line that probabilities need on the scale of
#   logits;
# * `expected_calibration_error`: their mean distance from what happens, in bins;
# * `net_benefit`: what decisions at a threshold probability are worth.
#
# How they are resampled is in `calibration_statistics`.


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
    points, sums = points_of(logits_of(prob), classes, weights)
    line = fitted_lines(points, sums, of_intercept=of_intercept)[0]
    return float(line[0]), float(line[1])


# The statistics share what follows.


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
    """What treating each row from the threshold on is worth, (n_samples,).

    Probabilities are those of both classes, or of the second.
    """
    prob = prob[:, 1] if prob.ndim == 2 else prob
    worth = np.where(classes == 1, 1.0, -threshold / (1.0 - threshold))
    return np.where(prob >= threshold, worth, 0.0)


# Calibration of probabilities of two classes, at rows of weights.
#
# * `CalibrationLine`: slope or intercept on the scale of logits, from sums over points or pieces;
# * `CalibrationError`: mean distance in bins, from a sum a bin;
# * the net benefit at a threshold is a mean of rows.


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
        """Terms are those of `terms_of`."""
        classes, prob = _of_positive(y_true, y_pred, self.labels, self.pos_label)
        weights = np.ones(len(classes)) if sample_weight is None else sample_weight
        points, terms = terms_of(logits_of(prob), classes, weights)
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
        classes, prob = _of_positive(y_true, y_pred, self.labels, self.pos_label)
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
        """Those of any metric, and the bins: weight, positives, probability and worth in rows."""
        data = reduced.data
        number, weights, classes = data["bin"], data["weights"], data["class"]
        total, of_hits, of_prob, of_squares = (
            np.bincount(number, weights * value) for value in (1.0, classes, data["prob"], weights)
        )
        kept = total > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            share, mean, worth = of_hits / total, of_prob / total, total**2 / of_squares
        if members is not None:
            worth = worth / _design_effect(
                number,
                weights * (classes - share[number]),
                members,
                (share * (1 - share) * total**2 / worth),
            )
        bins = np.array([total / total.sum(), share, mean, worth])[:, kept]
        return replace(super().facts(reduced, rows, members), bins=bins)


def _design_effect(
    number: NDArray[np.intp], residual: Floats, members: NDArray[Any], of_rows: Floats
) -> float:
    """How much larger the variance in bins is than that of independent rows, at least 1."""
    n_bins, variance = len(of_rows), 0.0
    for factor in members.T:
        _, code = np.unique(factor, return_inverse=True)
        sums = np.bincount(code.reshape(-1) * n_bins + number, residual)
        variance += float(np.sum(sums**2))
    return max(1.0, variance / float(np.nansum(of_rows))) if np.nansum(of_rows) > 0 else 1.0


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
    request: Request, *, threshold: float, labels: ArrayLike | None = None
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


def _of_positive(
    y_true: NDArray[Any] | None,
    y_pred: NDArray[Any],
    labels: NDArray[Any] | None,
    pos_label: Any,
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Class of each row, 1 if positive, and its probability of the positive class."""
    assert y_true is not None
    order, prob = oriented(y_pred, labels, pos_label)
    return classes_of(y_true, order, 2), prob[:, 1]
