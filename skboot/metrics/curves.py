"""Curves over a fixed grid, at rows of weights.

* `Roc`, `Det`: the rate of true positives, or of false negatives, at rates of false positives;
* `PrecisionRecall`: precision at recalls;
* `DecisionCurve`: the decision curve, at thresholds;
* `CalibrationBins`: the share of positives in bins of the predicted probability;
* `SmoothCalibration`: the share of positives at predicted probabilities, by local lines;
* `CurveOfCallable`: any function that returns a vector, on repeated rows.

A curve is a metric with a value
for each point of a grid: it reduces the rows to codes, and reads the blocks of resamples by their
readings, as statistics of one number do. What is behind a point, as a number of rows, says to bands
how little is known where all resamples agree.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import comb
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtr, ndtri

from .._base.errors import Note, call_foreign
from .._base.values import equal_units
from ._tuning import FEW_LEVELS
from .ranking import falling_codes, level_ends, score_codes
from .statistic import Evaluated, Floats, MetricError, ReadableBlock, ReducedData

# Steps of a grid that has short numbers, over the whole axis.
_STEPS = 200
# Digits of other rates of a grid, and rates that every such grid has (shares): those that costs of
# detection and errors are reported at.
_DIGITS, _REPORTED = 2, (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
# Minimum number of rows above the last threshold of a decision curve that is not given.
_LEAST_ABOVE = 30


class ClassSizes(NamedTuple):
    """How many rows there are of each class.

    Attributes
    ----------
    negatives, positives : float
        Rows, or how many of equal weight they are worth (Kish 1965).
    share : float
        Share of the positives in the weight of all rows.
    """

    negatives: float
    positives: float
    share: float


@dataclass(frozen=True, eq=False)
class TwoClassRows:
    """Rows of two classes with a score each, of which curves are made.

    Attributes
    ----------
    y_true : ndarray of shape (n_samples,)
        Labels, as they were given.
    positive : ndarray of shape (n_samples,), bool
        Which rows are of the positive class.
    score : ndarray of shape (n_samples,)
        Larger for the positive class.
    sample_weight : ndarray of shape (n_samples,) or None
        Not negative.
    """

    y_true: NDArray[Any]
    positive: NDArray[np.bool_]
    score: NDArray[Any]
    sample_weight: Floats | None

    @property
    def weight(self) -> Floats:
        """Weight of each row, (n_samples,)."""
        return np.ones(len(self.score)) if self.sample_weight is None else self.sample_weight

    @property
    def sizes(self) -> ClassSizes:
        """How many rows of equal weight the classes are worth."""
        weights, positive = self.sample_weight, self.positive
        share = float(np.average(positive, weights=weights))
        if weights is None:
            n = int(np.count_nonzero(positive))
            return ClassSizes(len(positive) - n, n, share)
        return ClassSizes(equal_units(weights[~positive]), equal_units(weights[positive]), share)

    @cached_property
    def that_weigh(self) -> TwoClassRows:
        """The rows that have a weight, which choose the points of a curve."""
        if self.sample_weight is None or self.sample_weight.all():
            return self
        at = self.sample_weight > 0
        return TwoClassRows(
            self.y_true[at], self.positive[at], self.score[at], self.sample_weight[at]
        )


@dataclass(frozen=True, eq=False)
class Curve(Evaluated):
    """A metric that has a value at each point of a grid.

    Attributes
    ----------
    axes : tuple of str
        What is on the horizontal and on the vertical axis.
    grid : ndarray of shape (n_grid,)
        Where it has values.
    bounds : tuple of float
        Range of the values.
    rises : bool or None
        Whether the true curve rises along the grid; False where it falls; None where it may do
        either.
    is_proportion : bool
        Whether the value at a point is a share of the rows behind it.
    of_bins : bool
        Whether each point is of rows of its own.
    """

    noun = "curve"
    axes: ClassVar[tuple[str, str]]
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    rises: ClassVar[bool | None] = None
    is_proportion: ClassVar[bool] = True
    of_bins: ClassVar[bool] = False
    is_curve = True

    grid: Floats

    @property
    def n_values(self) -> int:  # type: ignore[override]
        """Points of the grid."""
        return len(self.grid)

    @abstractmethod
    def reduce(self, rows: TwoClassRows) -> ReducedData:
        """Number the interchangeable rows, and keep what the formula needs of them."""

    @abstractmethod
    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Values on each resample, (n_resamples, n_grid); NaN where undefined."""

    def behind(
        self, block: ReadableBlock, reduced: ReducedData, rows_per_weight: float
    ) -> Floats | None:
        """Rows of equal weight that each point is a share of, (n_grid,), on the data.

        ``rows_per_weight`` is how many of them a unit of weight is worth. None where nothing is
        known.
        """
        return None

    def least_standard_error(
        self, block: ReadableBlock, reduced: ReducedData, rows_per_weight: float
    ) -> Floats | None:
        """Smallest standard error that is believed, (n_grid,); None of shares, whose rows say it.

        ``rows_per_weight`` is how many rows of equal weight a unit of weight is worth.
        """
        return None

    def beyond(self, score: Floats) -> NDArray[np.bool_]:
        """Whether points have no value, being outside the predictions (n_samples,), (n_grid,)."""
        return np.zeros(len(self.grid), dtype=bool)

    def reference(self, sizes: ClassSizes) -> Floats | None:
        """Values of a system that ignores its inputs, (n_grid,); None if there are none."""
        return None

    def area(self, reduced: ReducedData) -> float | None:
        """Area that scikit-learn's displays name beside the curve; None where they name none."""
        return None

    def notes(self, reduced: ReducedData) -> tuple[Note, ...]:
        """Notes on the curve of these rows, for readers of its result."""
        return ()

    def nearby(self, sizes: ClassSizes) -> NDArray[np.intp] | None:
        """First point, and that after the last, over which variances are averaged, (n_grid, 2)."""
        return None

    def free(self, sizes: ClassSizes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether the data say nothing of the lower, and of the upper limit, (n_grid,) each."""
        nothing = np.zeros(len(self.grid), dtype=bool)
        return nothing, nothing


# ------------------------------------------------------------------ curves over thresholds


class Roc(Curve):
    """Rate of true positives at rates of false positives.

    Between neighbouring operating points it is linear (equal scores move together, and a draw
    decides between two thresholds); of several at one rate of false positives it takes the
    highest. NaN where a class is absent.
    """

    name = "roc"
    axes = ("false positive rate", "true positive rate")
    reads = "running"
    rises = True
    # Whether the values are the shares that are missed.
    is_missed: ClassVar[bool] = False

    @classmethod
    def on_own_grid(cls, sizes: ClassSizes) -> Roc:
        """The curve at short numbers from 1 / n to 1 - 1 / n, n the number of negatives.

        Below the first step they are even by their logarithm, since the curve is steepest there.
        """
        n = sizes.negatives
        if n <= 2:
            return cls(np.array([0.5]))
        grid = _short_numbers(1 / n, 1 - 1 / n)
        low = 1 / max(n, _STEPS)
        steep = np.geomspace(low, 1 / _STEPS, max(2, round(_STEPS / 10 * np.log10(n / _STEPS))))
        inside = _round_rates(steep[1:-1]) if n > _STEPS else grid[:0]
        return cls(np.unique(np.concatenate((grid, inside[inside > low]))))

    def reduce(self, rows: TwoClassRows) -> ReducedData:
        """Number rows in rising order of scores; terms are negatives and positives."""
        merge = rows.sample_weight is None
        codes = score_codes(rows.positive, rows.score, merge=merge)
        terms = np.column_stack((~codes.positive, codes.positive)).astype(np.float64)
        if rows.sample_weight is not None:
            terms *= rows.sample_weight[codes.row_of_code][:, None]
        data = MappingProxyType({"ends": codes.ends})
        return ReducedData(codes.code, len(codes.row_of_code), terms, data)

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Interpolate between the operating points on both sides of each rate.

        Terms are negatives (0) and positives (1), in rising order of scores.
        """
        shares, ends = 1.0 - self.grid, reduced.data["ends"]
        missed = np.empty((block.n_resamples, len(shares)))
        start = 0
        for points in block.reached(reduced.terms, shares, ends):
            part = missed[start : start + len(points.total)]
            start += len(part)
            negatives, positives = points.total[:, 0, None], points.total[:, 1, None]
            part[:] = below = points.before(1)
            with np.errstate(invalid="ignore", divide="ignore"):
                if ends is not None:
                    # Rows of both classes have one score; else each threshold passes one class.
                    negatives_below = points.before(0)
                    step = points.after(0) - negatives_below
                    np.multiply(shares, negatives, out=part)
                    part -= negatives_below
                    part /= step
                    np.clip(part, 0.0, 1.0, out=part)
                    np.copyto(part, 0.0, where=~(step > 0))
                    part *= points.after(1) - below
                    part += below
                part /= positives
            part[~(points.total > 0).all(axis=1)] = np.nan
        return missed if self.is_missed else np.subtract(1.0, missed, out=missed)

    def area(self, reduced: ReducedData) -> float | None:
        """Area under the ROC curve: the share of pairs in order, ties half.

        None of a DET curve, beside which displays name no area.
        """
        if self.is_missed:
            return None
        negatives, positives = _sums_of_levels(reduced).T
        in_order = positives.sum() - np.cumsum(positives) + positives / 2
        return float(negatives @ in_order / (negatives.sum() * positives.sum()))

    def behind(self, block: ReadableBlock, reduced: ReducedData, rows_per_weight: float) -> Floats:
        """The positives are behind each point."""
        return np.full(len(self.grid), rows_per_weight * block.sums(reduced.terms)[0, 1])

    def reference(self, sizes: ClassSizes) -> Floats:
        """Scores that ignore the input find as many positives as negatives."""
        return 1.0 - self.grid if self.is_missed else self.grid

    def nearby(self, sizes: ClassSizes) -> NDArray[np.intp]:
        """Points within 1.5 standard errors of a rate of the negatives."""
        return _grid_within_errors(self.grid, sizes.negatives)

    def free(self, sizes: ClassSizes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Below the rate of two negatives nothing is known from below, and of one nothing at all.

        The highest score of the negatives, by itself, is too uncertain for resamples to show how
        uncertain; upside down at the other end, and for the share that is missed.
        """
        one_negative, two_negatives = (k / sizes.negatives * (1 - 1e-9) for k in (1, 2))
        outside = (self.grid < one_negative) | (self.grid > 1 - one_negative)
        low, high = (self.grid < two_negatives) | outside, (self.grid > 1 - two_negatives) | outside
        return (high, low) if self.is_missed else (low, high)


class Det(Roc):
    """Rate of false negatives at rates of false positives: 1 less `Roc`."""

    name = "det"
    axes = ("false positive rate", "false negative rate")
    rises = False
    is_missed = True

    @classmethod
    def on_own_grid(cls, sizes: ClassSizes) -> Det:
        """The curve at short numbers from 1 / n to 1 - 1 / n, even by their normal deviates."""
        n = sizes.negatives
        if n <= 2:
            return cls(np.array([0.5]))
        even = ndtr(np.linspace(ndtri(1 / n), 0, _STEPS // 2))
        lower = np.unique(np.concatenate((_round_rates(even), _REPORTED)))
        lower = lower[(lower > 1 / n * (1 + 1e-9)) & (lower <= 0.5)]
        upper = np.round(1 - lower[::-1], 15)
        return cls(np.unique(np.concatenate(([1 / n], lower, upper, [1 - 1 / n]))))


class PrecisionRecall(Curve):
    """Precision at the highest threshold that reaches each recall, without interpolation.

    Average precision adds up the same steps. NaN without positives.
    """

    name = "precision_recall"
    axes = ("recall", "precision")
    reads = "running"

    @classmethod
    def on_own_grid(cls, sizes: ClassSizes) -> PrecisionRecall:
        """The curve at short numbers from 1 / n to 1 - 1 / n, n the number of positives."""
        n = sizes.positives
        return cls(_short_numbers(1 / n, 1 - 1 / n) if n > 2 else np.array([0.5]))

    def reduce(self, rows: TwoClassRows) -> ReducedData:
        """Number rows in falling order of scores; terms are positives and all."""
        merge = rows.sample_weight is None
        codes = falling_codes(rows.positive, rows.score, merge=merge)
        terms = np.column_stack((codes.positive, np.ones(len(codes.row_of_code)))).astype(
            np.float64
        )
        if rows.sample_weight is not None:
            terms *= rows.sample_weight[codes.row_of_code][:, None]
        data = MappingProxyType({"ends": level_ends(codes.level)})
        return ReducedData(codes.code, len(codes.row_of_code), terms, data)

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Share of positives (term 0) among the rows (term 1) from the threshold up."""
        precision = []
        for points in block.reached(reduced.terms, self.grid, reduced.data["ends"]):
            with np.errstate(invalid="ignore", divide="ignore"):
                part = points.after(0) / points.after(1)
            part[~(points.total[:, 0] > 0)] = np.nan
            precision.append(part)
        return np.concatenate(precision)

    def behind(self, block: ReadableBlock, reduced: ReducedData, rows_per_weight: float) -> Floats:
        """The rows from each threshold up are behind its point."""
        [points] = block.reached(reduced.terms, self.grid, reduced.data["ends"])
        return np.asarray(rows_per_weight * points.after(1)[0])

    def area(self, reduced: ReducedData) -> float | None:
        """Average precision: the precision at each threshold, by the recall that it adds."""
        positives, rows = _sums_of_levels(reduced).T
        hits = np.cumsum(positives)
        # No row may weigh anything at the highest thresholds.
        precision = np.divide(hits, np.cumsum(rows), out=np.zeros_like(hits), where=hits > 0)
        return float(positives @ precision / hits[-1])

    def notes(self, reduced: ReducedData) -> tuple[Note, ...]:
        """Note that the curve is steps, where the levels of the scores are few (record 0089)."""
        ends = reduced.data["ends"]
        n_levels = reduced.n_codes if ends is None else len(ends)
        if n_levels >= FEW_LEVELS:
            return ()
        text = (
            f"The scores have {n_levels} levels (fewer than {FEW_LEVELS}), and precision jumps "
            "between them: bands covered 89 to 98% of whole curves. Read the curve at its levels."
        )
        return (Note("caution", text),)

    def reference(self, sizes: ClassSizes) -> Floats:
        """Scores that ignore the input have the share of positives as their precision."""
        return np.full(len(self.grid), sizes.share)

    def nearby(self, sizes: ClassSizes) -> NDArray[np.intp]:
        """Points within 1.5 standard errors of a recall."""
        return _grid_within_errors(self.grid, sizes.positives)

    def free(self, sizes: ClassSizes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Above the recall of all positives but one nothing is known."""
        outside = self.grid > 1 - 1 / sizes.positives * (1 - 1e-9)
        return outside, outside


def _sums_of_levels(reduced: ReducedData) -> Floats:
    """Sums of the terms of the rows of each level of the score, (n_levels, n_terms)."""
    counts: Any = reduced.counts
    if counts is None:
        counts = np.bincount(reduced.code) if reduced.code is not None else np.ones(reduced.n_codes)
    sums, ends = reduced.terms * counts[:, None], reduced.data["ends"]
    if ends is None:
        return np.asarray(sums)
    return np.asarray(np.add.reduceat(sums, np.append(0, ends[:-1] + 1), axis=0))


def _grid_within_errors(grid: Floats, n: float) -> NDArray[np.intp]:
    """Points around each that are within 1.5 standard errors of a share of n rows, (n_grid, 2)."""
    reach = np.maximum(1.5 * np.sqrt(grid * (1 - grid) / n), 1 / n)
    start = np.searchsorted(grid, grid - reach * (1 + 1e-9))
    after = np.searchsorted(grid, grid + reach * (1 + 1e-9), side="right")
    return np.column_stack((start, after))


# ------------------------------------------------------------------ functions of few sums


class DecisionCurve(Curve):
    """Net benefit of treating rows from a threshold t up: TP / n - FP / n t / (1 - t).

    References
    ----------
    Vickers & Elkin (2006), Medical Decision Making 26, 565-574.
    """

    name = "decision"
    axes = ("threshold probability", "net benefit")
    reads = "sums"
    bounds = (-np.inf, 1.0)
    is_proportion = False

    @classmethod
    def on_own_grid(cls, score: Floats, n_rows: Floats | None = None) -> DecisionCurve:
        """The curve at hundredths that have 30 rows or more above them, at least one of them.

        ``n_rows`` is how many rows have each score, one if None.
        """
        hundredths = np.arange(1, 100) / 100
        between = np.bincount(np.searchsorted(hundredths, score, side="right"), n_rows, 100)
        above = np.cumsum(between[:0:-1])[::-1]
        return cls(hundredths[: max(1, np.count_nonzero(above >= _LEAST_ABOVE))])

    @property
    def odds(self) -> Floats:
        """Cost of a false positive, in true positives, (n_grid,): t / (1 - t)."""
        return np.asarray(self.grid / (1.0 - self.grid))

    def reduce(self, rows: TwoClassRows) -> ReducedData:
        """Number classes and ranges between thresholds; terms are weights of each."""
        below = np.searchsorted(self.grid, rows.score, side="right")
        return _reduce_to_cells(2 * below + rows.positive, rows.sample_weight)

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Sum true and false positives from the highest range down."""
        negative, positive, total = self._above(block, reduced)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((positive - negative * self.odds) / total[:, None])

    def beyond(self, score: Floats) -> NDArray[np.bool_]:
        """Thresholds above the largest prediction, where nobody is treated."""
        return np.asarray(self.grid > score.max())

    def _above(self, block: ReadableBlock, reduced: ReducedData) -> tuple[Floats, Floats, Floats]:
        """Negatives and positives from each threshold up, and all rows."""
        cells = _cells(block, reduced, 2 * len(self.grid) + 2)
        ranges = cells.reshape(len(cells), -1, 2)[:, 1:]
        above = np.cumsum(ranges[:, ::-1], axis=1)[:, ::-1]
        return above[:, :, 0], above[:, :, 1], cells.sum(axis=1)

    def behind(self, block: ReadableBlock, reduced: ReducedData, rows_per_weight: float) -> Floats:
        """All rows are behind each point."""
        return np.full(len(self.grid), rows_per_weight * self._above(block, reduced)[2][0])

    def least_standard_error(
        self, block: ReadableBlock, reduced: ReducedData, rows_per_weight: float
    ) -> Floats:
        """Standard error with two rows added to the true positives, the false, and the others.

        A row is a true positive, a false positive, or is not treated: with shares a and b of the
        first two and the odds w of the threshold, the variance of a - b w of n rows is
        (a + b w^2 - (a - b w)^2) / n.
        """
        false_positives, true_positives, total = (
            rows_per_weight * sums[0] for sums in self._above(block, reduced)
        )
        a, b = ((side + 2) / (total + 6) for side in (true_positives, false_positives))
        variance = a + b * self.odds**2 - (a - b * self.odds) ** 2
        return np.sqrt(variance / total)

    def reference(self, sizes: ClassSizes) -> Floats:
        """Treating everybody; treating nobody is 0."""
        return np.asarray(sizes.share - (1.0 - sizes.share) * self.odds)


@dataclass(frozen=True, eq=False)
class CalibrationBins(Curve):
    """Share of positives in bins of the predicted probability, at the mean prediction in each.

    The edges, and the means, are those of the data in every resample. NaN where a bin is empty.
    """

    edges: Floats
    name = "calibration"
    axes = ("predicted probability", "share of positives")
    reads = "sums"
    of_bins = True

    @classmethod
    def between(cls, edges: Floats, rows: TwoClassRows) -> CalibrationBins:
        """The curve in the bins between these edges that hold rows."""
        number = np.searchsorted(edges[1:-1], rows.score)
        occurs = np.unique(number)
        # A bin without rows joins the one above it, or the last that has some.
        used_edges = np.append(edges[occurs], edges[-1])
        weights = np.bincount(number, rows.weight)[occurs]
        sums = np.bincount(number, rows.weight * rows.score)[occurs]
        means = np.bincount(number, rows.score)[occurs] / np.bincount(number)[occurs]
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls(np.where(weights > 0, sums / weights, means), used_edges)

    def reduce(self, rows: TwoClassRows) -> ReducedData:
        """Number classes and bins; terms are the weights of each."""
        number = np.searchsorted(self.edges[1:-1], rows.score)
        return _reduce_to_cells(2 * number + rows.positive, rows.sample_weight)

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Divide the positives of each bin by all its rows."""
        cells = _cells(block, reduced, 2 * len(self.grid))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(cells[:, 1::2] / (cells[:, ::2] + cells[:, 1::2]))

    def behind(self, block: ReadableBlock, reduced: ReducedData, rows_per_weight: float) -> Floats:
        """The rows of each bin are behind its point."""
        cells = _cells(block, reduced, 2 * len(self.grid))[0]
        return np.asarray(rows_per_weight * (cells[::2] + cells[1::2]))

    def reference(self, sizes: ClassSizes) -> Floats:
        """Predictions that are what they say."""
        return self.grid


def _reduce_to_cells(cell: NDArray[np.intp], sample_weight: Floats | None) -> ReducedData:
    """Reduce rows to what they add to their cells, one term for each cell that occurs.

    Without weights, rows of one cell share a code; with weights each row has its own.
    """
    occurs, code = np.unique(cell, return_inverse=True)
    data = MappingProxyType({"cells": occurs})
    if sample_weight is None:
        return ReducedData(code.reshape(-1), len(occurs), np.eye(len(occurs)), data)
    n = len(cell)
    terms = sparse.csr_matrix((sample_weight, (np.arange(n), code.reshape(-1))))
    return ReducedData(None, n, terms, data)


def _cells(block: ReadableBlock, reduced: ReducedData, n_cells: int) -> Floats:
    """Weight in each cell, (n_resamples, n_cells)."""
    sums = block.sums(reduced.terms)
    cells = np.zeros((len(sums), n_cells))
    cells[:, reduced.data["cells"]] = sums
    return cells


# ------------------------------------------------------------------ any function


@dataclass(frozen=True, eq=False)
class CurveOfCallable(Curve):
    """``function(y_true, y_score, grid)``, called on the repeated rows of each resample."""

    function: Callable[..., Any]
    name: str
    axes = ("x", "value")
    reads = "rows"
    bounds = (-np.inf, np.inf)
    is_proportion = False

    def reduce(self, rows: TwoClassRows) -> ReducedData:
        """Keep the rows themselves."""
        return ReducedData(None, len(rows.score), data=MappingProxyType({"rows": rows}))

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Call the function once per resample."""
        values = np.empty((block.n_resamples, len(self.grid)))
        table = reduced.data["rows"]
        for resample, rows in enumerate(block.rows()):
            weighted = {}
            if table.sample_weight is not None:
                weighted["sample_weight"] = table.sample_weight[rows]
            try:
                value = call_foreign(
                    self.function, table.y_true[rows], table.score[rows], self.grid, **weighted
                )
                array = np.asarray(value, dtype=np.float64)
                if array.shape != self.grid.shape:
                    raise TypeError(
                        f"it returned an array of shape {array.shape}, not one number for each of "
                        f"the {len(self.grid)} points of the grid"
                    )
                values[resample] = array
            except Exception as error:
                raise MetricError(resample, error, self.name, self.noun) from error
        return values


def _round_rates(rates: Floats) -> Floats:
    """Return rates with two significant digits."""
    return np.array([float(f"{rate:.{_DIGITS}g}") for rate in rates])


def _short_numbers(low: float, high: float) -> Floats:
    """Multiples of 1 / 200 between two numbers, and these."""
    inside = np.arange(1, _STEPS) / _STEPS
    inside = inside[(inside > low * (1 + 1e-9)) & (inside < high * (1 - 1e-9))]
    return np.unique(np.concatenate(([low], inside, [high])))


# ------------------------------------------------------------------ the smoothed calibration curve


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
_DETERMINANT_ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class SmoothCalibration(Curve):
    """Local linear share of positives at predicted probabilities.

    The share at a predicted probability x is the height at x of the line that fits the rows near x
    best, each weighted by 1 - ((p - x) / h)^2 within the bandwidth h. Its sums over windows are
    those of powers of p over the pieces between the windows' ends, so that a resample needs a few
    sums of each piece, whatever the number of rows.

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
        """Bounds and centres of the pieces, and the matrix from sums over pieces to windows.

        Its rows are the nine sums of each piece (see `reduce`), its columns the five of each window
        (see `_window`).
        """
        low, high = self.grid - self.bandwidth, self.grid + self.bandwidth
        bounds = np.unique(np.concatenate((low, high)))
        centres = (bounds[1:] + bounds[:-1]) / 2
        blocks = []
        for x, h in zip(self.grid, self.bandwidth, strict=True):
            inside = np.flatnonzero((centres > x - h) & (centres < x + h))
            blocks.append(_window(centres[inside] - x, h, inside, len(centres)))
        return bounds, centres, sparse.hstack(blocks).tocsr()

    def reduce(self, rows: TwoClassRows) -> ReducedData:
        """Terms are powers of the distance from the centre of a row's piece, nine for each piece.

        They are the powers 0 to 4 of all rows, then the powers 0 to 3 of positives.
        """
        bounds, centres, _ = self._pieces
        piece = np.searchsorted(bounds, rows.score, side="right") - 1
        # A row at the very end of a window has no weight in it.
        inside = np.flatnonzero((piece >= 0) & (piece < len(centres)))
        piece, n = piece[inside], len(rows.score)
        away = rows.score[inside] - centres[piece]
        powers = away[:, None] ** np.arange(5) * rows.weight[inside, None]
        values = np.hstack((powers, powers[:, :4] * rows.positive[inside, None]))
        columns = 9 * piece[:, None] + np.arange(9)
        indices = np.repeat(inside, 9), columns.ravel()
        terms = sparse.csr_matrix((values.ravel(), indices), shape=(n, 9 * len(centres)))
        return ReducedData(None, n, terms, MappingProxyType({"rows": rows}))

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """Height of the line of least squares at each point, between 0 and 1."""
        sums = block.sums(reduced.terms) @ self._pieces[2]
        s0, s1, s2, t0, t1 = sums.reshape(len(sums), -1, 5).transpose(2, 0, 1)
        determinant = s0 * s2 - s1 * s1
        with np.errstate(invalid="ignore", divide="ignore"):
            height = (s2 * t0 - s1 * t1) / determinant
        defined = determinant > _DETERMINANT_ROUNDING * s0 * s2
        return np.where(defined, np.clip(height, 0.0, 1.0), np.nan)

    def behind(self, block: ReadableBlock, reduced: ReducedData, rows_per_weight: float) -> Floats:
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
    for column, (offset, power) in enumerate([(0, 0), (0, 1), (0, 2), (5, 0), (5, 1)]):
        for degree, factor in ((power, 1.0), (power + 2, -(h**-2))):
            for j in range(degree + 1):
                rows.append(9 * inside + offset + j)
                columns.append(np.full(len(inside), column))
                values.append(factor * comb(degree, j) * distance ** (degree - j))
    indices = np.concatenate(rows), np.concatenate(columns)
    return sparse.csr_matrix((np.concatenate(values), indices), shape=(9 * n_pieces, 5))


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
