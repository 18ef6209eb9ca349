"""Coefficients of determination: one less a ratio of sums of squares (R2, explained variance)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._tuning import FEW_SPREAD, FEWEST_SPREAD, MOST_SPREAD
from .additive import SumsStatistic
from .facts import Facts
from .magnitudes import in_ordinary_range
from .registry import Request, fast_path
from .statistic import Columns, Floats, ReducedData, Response, Statistic

# Threshold of a sum of squares about the mean (share of the sum of squares); below it the truth is
# taken as constant, because the difference is rounding.
_ROUNDING = 1e-14
# Largest square of the mean of the truth by its variance at which sums about zero keep ten digits.
_FAR_FROM_ZERO = 1e4


@dataclass(frozen=True, eq=False)
class Coefficient(SumsStatistic):
    """R2 or explained variance: one less the residual by the total sum of squares.

    Parameters
    ----------
    name : str
        How results call it.
    about_mean : bool
        Residuals about their mean (explained variance) instead of about zero (R2).
    force_finite : bool
        Whether a constant truth gives 1 for perfect predictions and 0 for others, as in
        scikit-learn, instead of NaN and minus infinity.

    Notes
    -----
    A truth counts as constant where its variance is below the rounding of its sums.
    """

    adds_by_row = True
    sketch = "sums"
    n_sums = 4

    name: str = "r2"
    about_mean: bool = False
    force_finite: bool = True
    bounds: tuple[float, float] = (-np.inf, 1.0)
    response: Response = "values"

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Terms: row, weight, truth, its square, and residual, its square, about data points."""
        assert y_true is not None
        truth, predicted = in_ordinary_range(
            np.asarray(y_true, dtype=np.float64), np.asarray(y_pred, dtype=np.float64)
        )
        return self.reduce_scaled(truth, predicted, sample_weight)

    def reduce_scaled(
        self, truth: Floats, predicted: Floats, sample_weight: Floats | None
    ) -> ReducedData:
        """The same for columns whose squares are in range."""
        # Written in place: there may be as many rows as memory holds a few times.
        terms = np.empty((len(truth), 6))
        _, weights, about, squared_truth, residual, squared_residual = terms.T
        terms[:, :2] = 1.0
        # The origin is a data point, so that the sums of a constant truth are exactly zero; it is
        # the median, because outliers, which a resample may lack, do not move it.
        np.subtract(truth, _middle(truth), out=about)
        np.subtract(truth, predicted, out=residual)
        if self.about_mean:
            residual -= _middle(residual)
        np.multiply(about, about, out=squared_truth)
        np.multiply(residual, residual, out=squared_residual)
        if sample_weight is not None:
            weights[:] = sample_weight
            terms[:, 2:] *= sample_weight[:, None]
        return ReducedData(None, len(truth), terms)

    def reduce_about(
        self, y_true: NDArray[Any], y_pred: NDArray[Any], origin: NDArray[Any]
    ) -> ReducedData:
        """The same terms without weights; see `Statistic.reduce_about`."""
        truth, residual, ones = y_true - origin, y_true - y_pred, np.ones(len(y_true))
        sums = (ones, ones, truth, truth**2, residual, residual**2)
        return ReducedData(None, len(y_true), np.column_stack(sums))

    def as_sums(self, reduced: ReducedData) -> tuple[Statistic, ReducedData] | None:
        """See `Statistic.as_sums`."""
        return self, reduced

    def added_by_rows(self, y_true: NDArray[Any] | None, y_pred: NDArray[Any]) -> Floats:
        """Return truth, its square, residual and its square, all about zero."""
        truth = np.asarray(y_true, dtype=np.float64)
        residual = truth - np.asarray(y_pred, dtype=np.float64)
        return np.stack((truth, truth**2, residual, residual**2))

    def of_sums(self, sums: Floats) -> Floats:
        """See `Statistic.of_sums`; refuse a truth whose sums about zero have lost its variance."""
        mean, square = sums[1, 0] / sums[0, 0], sums[2, 0] / sums[0, 0]
        if mean**2 > _FAR_FROM_ZERO * (square - mean**2) > 0:
            raise ValueError(
                f"The metric {self.name!r} of a stream must have a truth that varies about zero. "
                f"Got values about {mean:.4g}. Subtract this from y_true and y_pred: the metric "
                "stays the same."
            )
        return self.combine(np.vstack((sums[:1], sums)).T, ReducedData(None, 0))

    def combine(self, sums: Floats, reduced: ReducedData) -> Floats:
        """One less the ratio of sums of squares."""
        with np.errstate(invalid="ignore", divide="ignore"):
            total = about_mean(sums[:, 1], sums[:, 2], sums[:, 3])
            residual = sums[:, 5]
            if self.about_mean:
                residual = about_mean(sums[:, 1], sums[:, 4], sums[:, 5])
            value = 1 - residual / total
            if self.force_finite:
                value = np.where(total > 0, value, np.where(residual > 0, 0.0, 1.0))
        fewest = 1 if self.about_mean else 2
        return np.where((sums[:, 0] >= fewest) & (sums[:, 1] > 0), value, np.nan)

    def gradient(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Derivative of a ratio of sums of squares; 0 where the truth is constant."""
        gradient = np.zeros_like(sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            weight = sums[:, 1]
            total = about_mean(weight, sums[:, 2], sums[:, 3])
            residual = sums[:, 5]
            if self.about_mean:
                residual = about_mean(weight, sums[:, 4], sums[:, 5])
                mean = sums[:, 4] / weight
                gradient[:, 1], gradient[:, 4] = -(mean**2), 2 * mean
            ratio, mean = residual / total, sums[:, 2] / weight
            gradient[:, 1] += ratio * mean**2
            gradient[:, 2], gradient[:, 3], gradient[:, 5] = -2 * ratio * mean, ratio, -1.0
            gradient /= total[:, None]
        return np.where((total > 0)[:, None], gradient, 0.0)

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Those of any metric, and what one row carries."""
        known, (total, squares) = super().facts(reduced, rows, members), reduced.terms.T[2:4]
        about = squares - 2 * total * (mean := total.sum() / reduced.terms[:, 1].sum())
        about += mean**2 * reduced.terms[:, 1]
        of_kind, few = self.rows_that_vary(about)
        share = self.largest_share(reduced)
        return replace(known, largest_share=share, of_kind=of_kind, few_of_kind=few)

    def rows_that_vary(self, squares: Floats) -> tuple[float, float]:
        """Rows that carry the variance, of which these are the squares, and how many are few."""
        few = float(np.clip(len(squares) / FEW_SPREAD, FEWEST_SPREAD, MOST_SPREAD))
        return (float(squares.sum() ** 2 / np.sum(squares**2)) if squares.any() else np.inf), few

    def largest_share(self, reduced: ReducedData) -> float | None:
        """Share of the squared residuals that one row carries, whose tail is that of the score."""
        squares = reduced.terms[:, 5]
        total = float(squares.sum())
        return float(squares.max()) / total if total > 0 else None

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """The mean of the truth explains nothing of it."""
        return 0.0


@fast_path("r2_score", response="values")
def _r2_score(request: Request, *, force_finite: bool = True) -> Coefficient:
    return Coefficient(request.name, False, force_finite)


@fast_path("explained_variance_score", response="values")
def _explained_variance(request: Request, *, force_finite: bool = True) -> Coefficient:
    return Coefficient(request.name, True, force_finite)


def about_mean(weight: Floats, total: Floats, squares: Floats) -> Floats:
    """Sum of squares about the mean, from sums about any origin."""
    about = squares - total**2 / weight
    return np.where(about > _ROUNDING * squares, about, 0.0)


def _middle(values: Floats) -> float:
    """The lower median, which is one of the values."""
    at = (len(values) - 1) // 2
    return float(np.partition(values, at)[at])
