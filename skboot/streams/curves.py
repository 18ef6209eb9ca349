"""Curves over thresholds from the state of a stream, whose cells of scores are rows of a curve.

Resamples are counted in fewer intervals of scores than the data. The curve is that of the data, and
resamples lie around it as they do around the curve of their own intervals, which lack a share of
the variance: that of the order of rows within an interval. Deviations are made larger by what they
lack. Rows of an interval of the data may come in any order, so that each point has a bound on its
error, which is infinite where resamples know too little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.errors import Note, arguments_named
from .._base.work import DEFAULT_WORKERS, Workers
from ..inference.distribution import check_replicates_fit
from ..metrics.curves import ClassSizes, DecisionCurve, Det, PrecisionRecall, Roc, TwoClassRows
from ..metrics.statistic import Floats, ReadableBlock, ReducedData
from ..results import wording
from ..results.curve import CurveResult
from ..results.result import CallFacts
from ..study.curves import (
    BANDS,
    DIFFERENCE,
    OVER_THRESHOLDS,
    CurveAsked,
    CurveCall,
    CurveDraws,
    argument_of,
    check_both_weigh,
    check_no_labels,
    check_range,
    checked_grid,
    evaluate_curves,
    named_scores,
    own_grid,
    positive_class,
    results_of_curves,
)
from ..study.rows import IntervalOptions, Sampling, Scoring
from .columns import ADVICE, streamed
from .source import Stream, note_on_intervals, rounded_up, stream_plan
from .state import StreamSettings
from .sums import FINE_SCORES, SCORES, CellTable, WeightsBlock, weights_of_codes

ThresholdCurve = Roc | PrecisionRecall | DecisionCurve

# Share of the variance that resamples may lack for their deviations to be believed.
_MOST_LACKING = 0.5
# Share of a sum of weights that is rounding.
_WEIGHT_ROUNDING = 1e-12
# Bytes of the weights of cells that are read at once.
_BYTES_AT_ONCE = 1 << 26


class ScoreCells(NamedTuple):
    """Cells of one system as rows of a curve.

    Attributes
    ----------
    coarse, fine : CellTable
        Cells of resamples, and of the data alone.
    positive : ndarray of shape (n_labels,), bool
        Which labels are of the positive class.
    weighted : bool
        Whether rows carry weights.
    n_rows : int
        Number of rows of the stream.
    """

    coarse: CellTable
    fine: CellTable
    positive: NDArray[np.bool_]
    weighted: bool
    n_rows: int

    def rows(self, table: CellTable) -> TwoClassRows:
        """Return the cells of a table, each as one row with the least score of its interval."""
        truth, score = table.labels[table.truth], table.edges()[0]
        return TwoClassRows(truth, self.positive[table.truth], score, None)

    def weights(self) -> Floats:
        """Return the weight of each fine cell in the data, (n_cells,)."""
        return self.fine.sums.values()[:, 0]

    def sizes(self) -> ClassSizes:
        """Return how many rows of equal weight the classes are worth.

        Of rows with weights it is the squared sum by its variance over the resamples, an estimate
        of the number of Kish (1965).
        """
        side = self.positive[self.fine.truth]
        negative, positive = (
            float(self.weights()[class_cells].sum()) for class_cells in (~side, side)
        )
        share = positive / (negative + positive)
        if not self.weighted:
            return ClassSizes(negative, positive, share)
        side, weights = self.positive[self.coarse.truth], self.coarse.sums.values()
        negative, positive = (
            self._worth(weights[class_cells].sum(axis=0)) for class_cells in (~side, side)
        )
        return ClassSizes(negative, positive, share)

    def rows_per_weight(self) -> float:
        """Return how many rows of equal weight a unit of weight is worth."""
        if not self.weighted:
            return 1.0
        total = self.coarse.sums.values().sum(axis=0)
        return self._worth(total) / float(total[0])

    def _worth(self, total: Floats) -> float:
        """Return the rows that a sum is worth, given on the data and on every resample."""
        with np.errstate(divide="ignore"):
            return float(min(total[0] ** 2 / np.var(total[1:], ddof=1), self.n_rows))


def curve_on_cells(curve: ThresholdCurve, cells: ScoreCells) -> CurveDraws:
    """Evaluate a curve on the data and on all resamples.

    Parameters
    ----------
    curve : Curve
        On its grid.
    cells : ScoreCells
    """
    # Resamples, some at a time, with the data first.
    table, binned_curve = cells.coarse, curve
    # Whether scores of resamples were counted in intervals.
    is_binned = bool(table.shift)
    if is_binned and isinstance(curve, PrecisionRecall):
        binned_curve = _PrecisionWithin(curve.grid)
    reduced = binned_curve.reduce(cells.rows(table))
    n_values = table.sums.digits.shape[2]
    replicates = np.empty((n_values, len(curve.grid)))
    step = max(_BYTES_AT_ONCE // (8 * table.n_cells), 1)
    for start in range(0, n_values, step):
        resamples = slice(start, start + step)
        code_weights = weights_of_codes(reduced, table.sums.values(resamples))
        block = WeightsBlock(code_weights.T, binned_curve.reads)
        replicates[resamples] = binned_curve.evaluate(block, reduced)
    lacking = _lacking_variance(curve, table, cells.positive)
    reduced = curve.reduce(cells.rows(cells.fine))
    block = WeightsBlock(weights_of_codes(reduced, cells.weights()[:, None]).T, curve.reads)
    estimate, bin_error = curve.evaluate(block, reduced)[0], None
    if is_binned:
        is_known = lacking <= _MOST_LACKING
        larger = 1 / np.sqrt(1 - np.where(is_known, lacking, 0.0))
        replicates = np.clip(estimate + larger * (replicates - replicates[0]), *curve.bounds)
        bin_error = np.where(is_known, _bin_error(curve, cells, estimate), np.inf)
    if (beyond := curve.beyond(cells.fine.edges()[1])).any():
        estimate, replicates = (
            np.where(beyond, np.nan, values) for values in (estimate, replicates)
        )
    replicates = replicates[1:]
    replicates.flags.writeable = False
    rows_per_weight = cells.rows_per_weight()
    behind = curve.behind(block, reduced, rows_per_weight)
    floor = curve.least_standard_error(block, reduced, rows_per_weight)
    return CurveDraws(curve, cells.sizes(), estimate, replicates, behind, floor, bin_error)


class _PrecisionWithin(PrecisionRecall):
    """Precision at recalls within intervals of scores, whose negatives come evenly among positives.

    At the end of the interval, as of one score, it would not depend on where in it the recall is.
    """

    def evaluate(self, block: ReadableBlock, reduced: ReducedData) -> Floats:
        """See `Curve.evaluate` (Davis & Goadrich 2006, section 4)."""
        precision = []
        for points in block.reached(reduced.terms, self.grid, reduced.data["ends"]):
            needed = self.grid * points.total[:, :1]
            before, rows_before = points.before(0), points.before(1)
            with np.errstate(invalid="ignore", divide="ignore"):
                share = np.clip((needed - before) / (points.after(0) - before), 0.0, 1.0)
                part = needed / (rows_before + share * (points.after(1) - rows_before))
            part[~(points.total[:, 0] > 0)] = np.nan
            precision.append(part)
        return np.concatenate(precision)


# ------------------------------------------------------------------ what intervals hide


class _Around(NamedTuple):
    """Weights around the points of a curve that looks for shares of one class.

    Attributes
    ----------
    shares : ndarray of shape (n_grid,)
        Shares of the class.
    before, after : ndarray of shape (n_grid, 2)
        Weights of this class, and of the other, up to the interval of scores in which the share is
        reached, and with it.
    total : ndarray of shape (2,)
        Total of all intervals.
    of_one_score : ndarray of shape (n_grid,), bool
        Whether the interval holds one score alone, whose rows are ties.
    """

    shares: Floats
    before: Floats
    after: Floats
    total: Floats
    of_one_score: NDArray[np.bool_]

    @classmethod
    def of(
        cls, curve: Roc | PrecisionRecall, table: CellTable, positive: NDArray[np.bool_]
    ) -> Self:
        """Look for negatives from the lowest score up, for recalls of positives downwards."""
        weights, side = table.sums.values(slice(1))[:, 0], positive[table.truth]
        interval, shares = table.rank().astype(np.intp), 1.0 - curve.grid
        class_weights = np.transpose(
            [np.bincount(interval, weights * class_cells) for class_cells in (~side, side)]
        )
        low, high = table.edges()
        of_one_score = np.zeros(len(class_weights), dtype=bool)
        of_one_score[interval] = low == high
        if isinstance(curve, PrecisionRecall):
            class_weights, of_one_score, shares = (
                class_weights[::-1, ::-1],
                of_one_score[::-1],
                curve.grid,
            )
        upto = np.cumsum(class_weights, axis=0)
        reached = np.searchsorted(upto[:, 0], shares * upto[-1, 0] * (1 - _WEIGHT_ROUNDING))
        place = np.minimum(reached, len(upto) - 1)
        return cls(
            shares, upto[place] - class_weights[place], upto[place], upto[-1], of_one_score[place]
        )


def _lacking_variance(
    curve: ThresholdCurve, table: CellTable, positive: NDArray[np.bool_]
) -> Floats:
    """Return the share of the variance of each point that resamples of intervals lack, (n_grid,).

    Between the edges a and b of an interval a share s of the rows is a bridge, of variance
    (s - a) (b - s) / (b - a) in units of 1 / n, of s (1 - s) in all (Shorack & Wellner 1986,
    chapter 3). Of net benefit it is the share of the rows above the threshold.
    """
    if isinstance(curve, DecisionCurve):
        weights = table.sums.values(slice(1))[:, 0]
        unsure = weights @ _unsure_cells(curve, table)
        above = weights @ (table.edges()[0][:, None] >= curve.grid)
        return np.asarray(unsure / np.maximum(unsure + above, np.finfo(float).tiny))
    around = _Around.of(curve, table, positive)
    s, a, b = around.shares, *(sums[:, 0] / around.total[0] for sums in around[1:3])
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (s - a) * (b - s) / ((b - a) * s * (1.0 - s))
    return np.where(around.of_one_score | ~np.isfinite(share), 0.0, np.clip(share, 0.0, 1.0))


def _bin_error(curve: ThresholdCurve, cells: ScoreCells, estimate: Floats) -> Floats:
    """Return how far each point may be from the curve of all scores, (n_grid,).

    The rows of an interval may come in any order. Then a rate lies between those of its edges;
    and a recall is reached by the positives that it needs and all negatives of the interval, or by
    all of its positives and no negative.
    """
    if not cells.fine.shift:
        return np.zeros(len(curve.grid))
    if isinstance(curve, DecisionCurve):
        weights, side = cells.weights(), cells.positive[cells.fine.truth]
        unsure = _unsure_cells(curve, cells.fine)
        gained, lost = (weights[class_cells] @ unsure[class_cells] for class_cells in (side, ~side))
        return np.asarray(np.maximum(gained, lost * curve.odds) / weights.sum())
    around = _Around.of(curve, cells.fine, cells.positive)
    if isinstance(curve, PrecisionRecall):
        needed = around.shares * around.total[0]
        least = needed / (needed + around.after[:, 1])
        most = around.after[:, 0] / (around.after[:, 0] + around.before[:, 1])
    else:
        least, most = (sums[:, 1] / around.total[1] for sums in (around.before, around.after))
        least, most = (least, most) if isinstance(curve, Det) else (1.0 - most, 1.0 - least)
    return np.where(around.of_one_score, 0.0, np.maximum(estimate - least, most - estimate))


def _unsure_cells(curve: DecisionCurve, table: CellTable) -> NDArray[np.bool_]:
    """Return whether a threshold is inside the interval of each cell, (n_cells, n_grid).

    Its rows are all taken for rows below the threshold.
    """
    low, high = (edge[:, None] for edge in table.edges())
    return np.asarray((low < curve.grid) & (high >= curve.grid))


# ------------------------------------------------------------------ curves of a stream


def streamed_curves(
    y_true: Any,
    y_score: Any,
    curve_options: CurveAsked,
    sampling: Sampling,
    score_options: IntervalOptions,
) -> dict[str, CurveResult]:
    """Return curves by system of columns that are read in parts; see `evaluate_curves`."""
    check_curve_of_stream(curve_options)
    scoring = Scoring("roc_auc", pos_label=None)
    systems: dict[str | None, tuple[str, Any]] = {
        name: (argument_of(name), scores) for name, scores in named_scores(y_score).items()
    }
    stream = streamed(y_true, systems, scoring, sampling, score_options)
    return curves_of_stream(stream, curve_options, "y_score", score_options.workers)


def check_accumulator(settings: StreamSettings, curve_options: CurveAsked) -> None:
    """Refuse what no curve of the rows of an accumulator can be read from."""
    if not any(SCORES in reading.tables for reading in settings.readings.values()):
        must = "hold a metric of the scores of two classes, whose sums a curve is read from"
        got = f"{settings.metric!r}"
        advice = "Add one: BootstrapAccumulator([..., 'roc_auc'])."
        raise check.fail("metric", must, got, advice)
    if DIFFERENCE in settings.systems:
        must = f"name no system {DIFFERENCE!r}, which is that of two curves"
        raise check.fail("systems", must, f"{list(settings.systems)}")
    check_curve_of_stream(curve_options)


def check_curve_of_stream(curve_options: CurveAsked) -> None:
    """Refuse curves that need all rows together, and invalid bins, bands and grids early.

    A stream may take hours to read: what is invalid is refused before its first row.
    """
    check.check_count("n_bins", curve_options.n_bins, 2)
    if not isinstance(curve_options.curve, str) or curve_options.curve not in OVER_THRESHOLDS:
        must = f"be one of {list(OVER_THRESHOLDS)} where rows are not together in memory"
        raise check.fail("curve", must, repr(curve_options.curve), ADVICE)
    check.check_choice("band", curve_options.band, BANDS)
    checked_grid(curve_options.grid, curve_options.curve, {})


def curves_of_stream(
    stream: Stream, curve_options: CurveAsked, argument: str, workers: Workers = DEFAULT_WORKERS
) -> dict[str, CurveResult]:
    """Return curves by system; ``argument`` is what messages call their scores.

    Those of few rows are those of rows in memory.
    """
    settings, state = stream.settings, stream.state
    arguments = {name or "": argument_of(name or "", argument) for name in settings.systems}
    if stream.arguments is not None:
        score_options = IntervalOptions(
            interval="percentile", confidence_level=settings.confidence_level, workers=workers
        )
        y_true, y_score, sampling = stream.arguments
        with arguments_named({argument_of(name): arguments[name] for name in arguments}):
            return evaluate_curves(y_true, y_score, curve_options, sampling, score_options)
    # The cells of each system: one class is refused, and labels in the place of scores.
    labels = state.tables[SCORES, 0].labels
    positive = positive_class(labels, curve_options.pos_label)
    cells: dict[str, ScoreCells] = {}
    for system, (name, scores) in enumerate(arguments.items()):
        table, fine = state.tables[SCORES, system], state.tables[FINE_SCORES, system]
        cells[name] = ScoreCells(table, fine, positive, state.weighted, state.n_rows)
        rows = cells[name].rows(fine)
        if not fine.shift:
            check_no_labels(scores, rows.score, labels)
        check_range(scores, rows.score, curve_options.curve)
        check_both_weigh(rows.positive, cells[name].weights())
    kind: Any = OVER_THRESHOLDS[curve_options.curve]
    curves, sizes = {}, next(iter(cells.values())).sizes()
    for name, system_cells in cells.items():
        grid = checked_grid(curve_options.grid, curve_options.curve, {})
        if grid is None:
            n_rows = system_cells.weights() * system_cells.rows_per_weight()
            grid = own_grid(curve_options.curve, sizes, system_cells.fine.edges()[0], n_rows)
        curves[name] = kind(grid)
    n_points = sum(len(curve.grid) for curve in curves.values())
    check_replicates_fit(settings.n_resamples, 2 * n_points)
    draws = {name: curve_on_cells(curve, cells[name]) for name, curve in curves.items()}
    call_settings = {
        "curve": curve_options.curve,
        "band": curve_options.band,
        "confidence_level": settings.confidence_level,
        "n_resamples": settings.n_resamples,
        "n_bins": settings.n_bins,
        "grid": curve_options.grid is not None,
        "pos_label": curve_options.pos_label,
        "groups": state.unit == "groups",
        "sample_weight": state.weighted,
    }
    facts = CallFacts(weighted=state.weighted)
    call = CurveCall(
        stream_plan(settings, state),
        curve_options.band,
        settings.confidence_level,
        call_settings,
        facts,
    )
    return results_of_curves(call, draws, _notes_on_intervals(settings, list(draws.values())))


def _notes_on_intervals(settings: StreamSettings, draws: Sequence[CurveDraws]) -> list[Note]:
    """Return notes on the curve of scores that were counted in intervals."""
    if all(side.bin_error is None for side in draws):
        return []
    grid = np.unique(np.concatenate([side.curve.grid for side in draws]))
    farthest = np.zeros(len(grid))
    for side in draws:
        if side.bin_error is not None:
            place = np.searchsorted(grid, side.curve.grid)
            farthest[place] = np.maximum(farthest[place], side.bin_error)
    resolved = np.isfinite(farthest)
    changed = "leaves the curve as it is"
    if (farthest[resolved] > 0).any():
        k = int(np.argmax(np.where(resolved, farthest, -1)))
        changed = (
            f"moves the curve by at most {rounded_up(float(farthest[k]))} (at "
            f"{draws[0].curve.axes[0]} {grid[k]:.3g}), by which the band is wider"
        )
    notes = [note_on_intervals(settings, changed, finer=True)]
    if not resolved.all():
        text = (
            f"At {wording.counted(int(np.sum(~resolved)), 'point')} of {len(resolved)} an interval "
            "of scores holds too many rows to resolve: limits are the ends of the range there."
        )
        notes.append(Note("choice", text))
    return notes
