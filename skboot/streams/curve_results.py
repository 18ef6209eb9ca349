"""Curves of columns that are not in memory, and of the rows of an accumulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._base import checks as check
from .._base.warnings import Note
from .._base.workers import Workers
from ..inference.distribution import check_replicates_fit
from ..results import wording
from ..results.curve import CurveResult
from ..results.provenance import CallFacts
from ..study.curve_rows import (
    BANDS,
    DIFFERENCE,
    OVER_THRESHOLDS,
    CurveAsked,
    CurveCall,
    check_both_weigh,
    check_no_labels,
    check_range,
    checked_grid,
    own_grid,
    positive_class,
)
from ..study.curves import Drawn, results_of_curves
from .curves import ScoreCells, curve_on_cells
from .lazy import ADVICE
from .readings import SCORES
from .source import note_on_intervals, plan_of, rounded_up
from .state import StreamSettings, StreamState


def check_accumulator(settings: StreamSettings, asked: CurveAsked) -> None:
    """Refuse what no curve of the rows of an accumulator can be read from."""
    if not any(SCORES in reading.tables for reading in settings.readings.values()):
        must = "hold a metric of the scores of two classes, whose sums a curve is read from"
        got = f"{settings.metric!r}"
        advice = "Add one: BootstrapAccumulator([..., 'roc_auc'])."
        raise check.fail("metric", must, got, advice)
    if DIFFERENCE in settings.systems:
        must = f"name no system {DIFFERENCE!r}, which is that of two curves"
        raise check.fail("systems", must, f"{list(settings.systems)}")
    check_asked(asked)


def check_asked(asked: CurveAsked) -> None:
    """Refuse curves that need all rows together, and a band or a grid before a row is read."""
    check.check_count("n_bins", asked.n_bins, 2)
    if not isinstance(asked.curve, str) or asked.curve not in OVER_THRESHOLDS:
        must = f"be one of {list(OVER_THRESHOLDS)} where rows are not together in memory"
        raise check.fail("curve", must, repr(asked.curve), ADVICE)
    check.check_choice("band", asked.band, BANDS)
    checked_grid(asked.grid, asked.curve, {})


def curves_of_state(
    settings: StreamSettings,
    state: StreamState,
    asked: CurveAsked,
    arguments: Mapping[str, str],
) -> dict[str, CurveResult]:
    """Return curves by system; ``arguments`` are what messages call their scores."""
    cells = _checked_cells(state, asked, arguments)
    kind: Any = OVER_THRESHOLDS[asked.curve]
    curves, sizes = {}, next(iter(cells.values())).sizes()
    for name, own in cells.items():
        grid = checked_grid(asked.grid, asked.curve, {})
        if grid is None:
            rows = own.weights() * own.worth_of_weight()
            grid = own_grid(asked.curve, sizes, own.fine.edges()[0], rows)
        curves[name] = kind(grid)
    n_points = sum(len(curve.grid) for curve in curves.values())
    check_replicates_fit(settings.n_resamples, 2 * n_points)
    drawn = {
        name: Drawn(curve, cells[name].sizes(), *curve_on_cells(curve, cells[name]))
        for name, curve in curves.items()
    }
    call = CurveCall(
        {name: (curve, cells[name].rows(cells[name].fine)) for name, curve in curves.items()},
        plan_of(settings, state),
        asked.band,
        settings.confidence_level,
        _settings(settings, state, asked),
        CallFacts(weighted=state.weighted),
        Workers(),
    )
    return results_of_curves(call, drawn, _remarks(settings, list(drawn.values())))


def _checked_cells(
    state: StreamState, asked: CurveAsked, arguments: Mapping[str, str]
) -> dict[str, ScoreCells]:
    """Return the cells of each system; refuse one class, and labels in the place of scores."""
    labels = state.tables[SCORES, 0].labels
    positive = positive_class(labels, asked.pos_label)
    found = {}
    for system, (name, argument) in enumerate(arguments.items()):
        cells = ScoreCells.of(state, system, positive)
        rows = cells.rows(cells.fine)
        if not cells.fine.shift:
            check_no_labels(argument, rows.score, labels)
        check_range(argument, rows.score, asked.curve)
        check_both_weigh(rows.positive, cells.weights())
        found[name] = cells
    return found


def _settings(settings: StreamSettings, state: StreamState, asked: CurveAsked) -> dict[str, Any]:
    """Return the arguments as a result holds them."""
    return {
        "curve": asked.curve,
        "band": asked.band,
        "confidence_level": settings.confidence_level,
        "n_resamples": settings.n_resamples,
        "n_bins": settings.n_bins,
        "grid": asked.grid is not None,
        "pos_label": asked.pos_label,
        "groups": state.unit == "groups",
        "sample_weight": state.weighted,
    }


def _remarks(settings: StreamSettings, drawn: Sequence[Drawn]) -> list[Note]:
    """Return what a reader must know of scores in intervals."""
    if all(each.bin_error is None for each in drawn):
        return []
    grid = np.unique(np.concatenate([each.curve.grid for each in drawn]))
    farthest = np.zeros(len(grid))
    for each in drawn:
        if each.bin_error is not None:
            at = np.searchsorted(grid, each.curve.grid)
            farthest[at] = np.maximum(farthest[at], each.bin_error)
    known = np.isfinite(farthest)
    changed = "leaves the curve as it is"
    if (farthest[known] > 0).any():
        k = int(np.argmax(np.where(known, farthest, -1)))
        changed = (
            f"moves the curve by at most {rounded_up(float(farthest[k]))} (at "
            f"{drawn[0].curve.axes[0]} {grid[k]:.3g}), by which the band is wider"
        )
    notes = [note_on_intervals(settings, changed, finer=True)]
    if not known.all():
        text = (
            f"At {wording.counted(int(np.sum(~known)), 'point')} of {len(known)} an interval of "
            "scores holds too many rows to resolve: limits are the ends of the range there."
        )
        notes.append(Note("choice", text))
    return notes
