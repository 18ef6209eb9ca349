"""The smoothed calibration curve: a local line through right and wrong, on a fixed grid.

The share of positives at a predicted probability x is the height at x of the line that fits the
rows near x best, each weighted by 1 - ((p - x) / h)^2 within the bandwidth h. Its sums over windows
are those of powers of p over the pieces between the windows' ends, so that a resample needs a few
sums of each piece, whatever the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .curves import ClassSizes, Curve, TwoClassRows
from .statistic import Floats, ReadableBlock, ReducedData

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

    grid: Floats
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
        return cls(grid, np.maximum(_rule_of_thumb(rows), _far_enough(grid, rows.score)))

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


def _far_enough(grid: Floats, score: Floats) -> Floats:
    """Distances within which each point has enough rows, (n_grid,)."""
    n = len(score)
    k = min(max(_LEAST_ROWS, int(np.ceil(_LEAST_SHARE * n))), n) - 1
    distances = np.array([np.partition(np.abs(score - x), k)[k] for x in grid])
    # Rows at the very end of a window have no weight, and one value alone carries no line.
    return np.maximum(distances * (1 + 1e-9), 1e-6)
