"""Lines through right and wrong on the scale of logits, for many weightings at once.

The logistic regression of the truth on a + b x has two equations, sums over rows of the truth less
the probability. Rows of equal x are one point, so that a resample needs the weight at each point;
where points are many, they share pieces of the axis, in which the probability is a power series
about the centre, and a resample needs the sums of a few powers of the distance from it.
"""

from __future__ import annotations

from math import comb, factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

Floats = NDArray[np.float64]

# Maximum number of distinct logits that are points of their own.
_POINTS = 1000
# Degree of the power series, and half the width of a piece in logits of the fitted line. The series
# of the logistic function has a radius of pi: its rest is (.1 / 3.1) ** 10.
_DEGREE, _HALF_WIDTH = 9, 0.1
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
    if len(distinct) > _POINTS:
        slope = fitted_lines(*points_of(logit, classes, weights), of_intercept=False)[0, 1]
        wide = 2 * _HALF_WIDTH / max(abs(float(np.nan_to_num(slope))), 1.0)
        pieces = np.floor((logit - distinct[0]) / wide).astype(np.intp)
        occurs, piece = np.unique(pieces, return_inverse=True)
        if 4 * len(occurs) < len(distinct):
            number = piece.reshape(-1)
            points = Points(distinct[0] + (occurs + 0.5) * wide, _DEGREE + 3)
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
            equations = _Equations(points, part[both, :2], powers[both])
            lines[start + both] = _solved(equations, of_intercept)
    return lines


class _Equations(NamedTuple):
    """What is solved: the points, the sums of the positives, and sums of powers."""

    points: Points
    hits: Floats
    powers: Floats

    def of(self, which: NDArray[np.intp]) -> _Equations:
        """Those of some of the weightings."""
        return self._replace(hits=self.hits[which], powers=self.powers[which])

    def at(self, lines: Floats) -> tuple[Floats, Floats]:
        """Gaps (n, 2) of both equations, and their derivatives (n, 2, 2)."""
        centres, n_powers = self.points
        share = expit(lines[:, :1] + lines[:, 1:] * centres)
        degree = max(n_powers - 3, 0)
        gap, slope = self.hits.copy(), np.zeros((len(lines), 3))
        for k in range(degree + 1):
            scale = lines[:, 1] ** k / factorial(k)
            value, derivative = (np.polyval(_DERIVATIVES[k + more], share) for more in (0, 1))
            for j in range(3):
                weights = self._shifted(k, j)
                if j < 2:
                    gap[:, j] -= scale * np.einsum("ij,ij->i", value, weights)
                slope[:, j] += scale * np.einsum("ij,ij->i", derivative, weights)
        return gap, slope[:, [[0, 1], [1, 2]]]

    def _shifted(self, k: int, j: int) -> Floats:
        """Sums of (centre + distance) ** j times distance ** k, (n, n_points)."""
        last = min(j, self.points.n_powers - 1 - k)
        parts = (
            comb(j, i) * self.points.centres ** (j - i) * self.powers[:, :, k + i]
            for i in range(last + 1)
        )
        return np.asarray(sum(parts))


def _derivatives(n: int) -> list[Floats]:
    """Derivatives of the logistic function as polynomials in its value s, highest power first."""
    found = [np.array([1.0, 0.0])]
    for _ in range(n):
        # The derivative of s is s (1 - s).
        found.append(np.polymul(np.polyder(found[-1]), [-1.0, 1.0, 0.0]))
    return found


_DERIVATIVES = _derivatives(_DEGREE + 1)


def _solved(equations: _Equations, of_intercept: bool) -> Floats:
    """Newton's steps, none of which moves a logit too far."""
    n = len(equations.hits)
    total = equations.powers[:, :, 0].sum(axis=1)
    lines = np.zeros((n, 2))
    lines[:, 0] = np.log(equations.hits[:, 0]) - np.log(total - equations.hits[:, 0])
    if of_intercept:
        lines[:, 1] = 1.0
    solved, left = np.full((n, 2), np.nan), np.arange(n)
    ends = np.array([equations.points.centres[0], equations.points.centres[-1]])
    near = np.zeros(n, dtype=bool)
    for _ in range(_STEPS):
        gap, slope = equations.of(left).at(lines[left])
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
