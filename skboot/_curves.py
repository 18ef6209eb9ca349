"""The engine of `bootstrap_curve`: from checked rows and a plan to curves with their bands.

All systems are evaluated on the same resamples, so that the difference of two curves is that of
their replicates.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._curves_inputs import DIFFERENCE, CurveCall, checked_call
from ._evaluating import versions_used
from ._streams import stored_seed
from ._warnings import Note, texts_of, warn_of
from ._workers import Progress, in_chunks, single_threaded_blas
from .inference._tuning import FEW_GROUPS
from .inference.bands import CurveEvidence, simultaneous_band
from .metrics.curves import Curve, TwoClassRows
from .metrics.statistic import MetricError, ReducedData
from .resampling.coding import CodedRows
from .resampling.plan import Binding
from .results import ResultTable
from .results.curve import CurveResult

Floats = NDArray[np.float64]

# Shares between which the replicates tell how much less the rows of a group say than others.
_INNER = (0.05, 0.95)


class _Drawn(NamedTuple):
    """A curve on the data and on the resamples.

    Attributes
    ----------
    curve : Curve
    rows : TwoClassRows
    estimate : ndarray of shape (n_grid,)
    replicates : ndarray of shape (n_resamples, n_grid)
    behind : ndarray of shape (n_grid,) or None
        Units of equal weight that each point is a share of.
    floor : ndarray of shape (n_grid,) or None
        Smallest standard error that is believed, where no share says it.
    """

    curve: Curve
    rows: TwoClassRows
    estimate: Floats
    replicates: Floats
    behind: Floats | None
    floor: Floats | None


def evaluate_curves(call: CurveCall) -> tuple[dict[str, CurveResult], list[Note]]:
    """Evaluate the curve of each system, and the difference of exactly two.

    Parameters
    ----------
    call : CurveCall

    Returns
    -------
    results : dict of str to CurveResult
        By system.
    notes : list of Note
        Warnings of the call.
    """
    drawn = dict(zip(call.curves, _replicated(call), strict=True))
    notes = _notes_of(call, list(drawn.values()))
    results = {name: _result(call, name, each, notes) for name, each in drawn.items()}
    if len(drawn) == 2:
        first, second = drawn.values()
        difference = _difference(first, second)
        names = " - ".join(drawn)
        results[DIFFERENCE] = _result(call, names, difference, notes, is_difference=True)
    return results, notes


def curves_of(y_true: Any, y_score: Any, caller: str, **options: Any) -> Any:
    """Check arguments, evaluate, warn, and return a result, or a table of several systems."""
    call = checked_call(y_true, y_score, caller, **options)
    results, notes = evaluate_curves(call)
    warn_of(notes, caller)
    return ResultTable(results) if isinstance(y_score, Mapping) else results[""]


# ------------------------------------------------------------------ replicates


def _replicated(call: CurveCall) -> list[_Drawn]:
    """Evaluate all curves on the data and on the resamples of the plan."""
    pairs = list(call.curves.values())
    reduced = [curve.reduce(rows) for curve, rows in pairs]
    subjects = [(curve, each) for (curve, _), each in zip(pairs, reduced, strict=True)]
    codings = [CodedRows(each.code, each.n_codes, c.reads, each.counts) for c, each in subjects]
    binding = call.plan.bind(codings)
    with single_threaded_blas():
        observed = binding.observed()
        try:
            on_data = [
                curve.evaluate(block, each)[0]
                for block, (curve, each) in zip(observed, subjects, strict=True)
            ]
        except MetricError as failure:
            raise failure.on_data(call.caller, "curve") from failure.error
        replicates = _all_blocks(call, binding, subjects)
        by_row = call.plan.design.units_are_rows
        drawn = []
        for k, ((curve, rows), each) in enumerate(zip(pairs, reduced, strict=True)):
            worth = _worth_of_weights(rows)
            behind = curve.behind(observed[k], each, worth)
            floor = curve.floor(observed[k], each, worth)
            if behind is not None and curve.is_proportion and not by_row:
                behind = behind / _design_effect(on_data[k], replicates[k], behind)
            drawn.append(_Drawn(curve, rows, on_data[k], replicates[k], behind, floor))
    return drawn


def _all_blocks(
    call: CurveCall, binding: Binding, subjects: Sequence[tuple[Curve, ReducedData]]
) -> list[Floats]:
    """Return the replicates of each curve, (n_resamples, n_grid)."""
    n_resamples = call.plan.n_resamples
    shared = (binding, subjects)
    with Progress(n_resamples, "resamples", call.workers.verbose) as progress:
        started = time.perf_counter()
        blocks = dict([_numbered_block(shared, 0)])
        seconds = time.perf_counter() - started
        progress.done(binding.block_size)
        rest = range(1, binding.n_blocks)
        n_jobs = call.workers.n_jobs
        for chunk in in_chunks(_numbered_block, shared, rest, n_jobs=n_jobs, seconds_each=seconds):
            blocks.update(chunk)
            progress.done(len(chunk) * binding.block_size)
    replicates = []
    for k in range(len(subjects)):
        parts = [blocks[number][k] for number in range(binding.n_blocks)]
        replicates.append(np.concatenate(parts)[:n_resamples])
        replicates[-1].flags.writeable = False
    return replicates


def _numbered_block(
    shared: tuple[Binding, Sequence[tuple[Curve, ReducedData]]], number: int
) -> tuple[int, list[Floats]]:
    """Return the number of a block, and the curves on its resamples."""
    binding, subjects = shared
    try:
        blocks = zip(binding.block(number), subjects, strict=True)
        return number, [curve.evaluate(block, reduced) for block, (curve, reduced) in blocks]
    except MetricError as failure:
        resample = number * binding.block_size + failure.resample
        raise RuntimeError(
            f"The curve raised {type(failure.error).__name__} on resample {resample}: "
            f"{failure.error}"
        ) from failure.error


def _worth_of_weights(rows: TwoClassRows) -> float:
    """Rows of equal weight that are worth a unit of weight (Kish 1965)."""
    if rows.sample_weight is None:
        return 1.0
    relative = rows.sample_weight / rows.sample_weight.max()
    return float(relative.sum() ** 2 / np.sum(relative**2) / rows.sample_weight.sum())


def _design_effect(estimate: Floats, replicates: Floats, behind: Floats) -> float:
    """How much larger the variance of shares is than that of independent rows, at least 1."""
    inner = (estimate > _INNER[0]) & (estimate < _INNER[1]) & (behind > 0)
    if not inner.any():
        return 1.0
    share = estimate[inner]
    ratios = np.nanvar(replicates[:, inner], axis=0) / (share * (1 - share) / behind[inner])
    return max(1.0, float(np.median(ratios)))


def _difference(first: _Drawn, second: _Drawn) -> _Drawn:
    """Return first minus second on the same resamples.

    Where two systems always agree, the floor is the standard error of a difference of paired
    shares with half a row added to each of four cells (Agresti & Min 2005).
    """
    floor = None
    if first.behind is not None and second.behind is not None:
        floor = 1 / (np.minimum(first.behind, second.behind) + 2)
        if isinstance(odds := getattr(first.curve, "odds", None), np.ndarray):
            floor = floor * np.maximum(odds, 1.0)
    replicates = first.replicates - second.replicates
    replicates.flags.writeable = False
    estimate = first.estimate - second.estimate
    return _Drawn(first.curve, second.rows, estimate, replicates, None, floor)


# ------------------------------------------------------------------ results


def _notes_of(call: CurveCall, drawn: Sequence[_Drawn]) -> list[Note]:
    """Return what a reader must know of every curve of the call."""
    notes = list(call.plan.design.remarks)
    undefined = max(int(np.isnan(_defined(each)).any(axis=1).sum()) for each in drawn)
    if undefined:
        text = (
            f"undefined on {undefined} of {call.plan.n_resamples} resamples at some point, which "
            "are left out there."
        )
        notes.append(Note("undefined", text))
    lacking = [int(np.isnan(each.estimate).sum()) for each in drawn]
    if any(lacking):
        k = int(np.argmax(lacking))
        text = f"no value at {lacking[k]} of {len(drawn[k].estimate)} points of the grid."
        notes.append(Note("undefined", text))
    design = call.plan.design
    if design.units_are_groups and design.n_units[0] < FEW_GROUPS:
        text = (
            f"Only {design.n_units[0]} groups were resampled (fewer than {FEW_GROUPS}): expect "
            "less coverage than stated."
        )
        notes.append(Note("few", text))
    if caution := design.coverage_caution(design.n_units):
        notes.append(Note("caution", caution))
    return notes


def _defined(drawn: _Drawn) -> Floats:
    """Replicates at the points where the data have a value."""
    return drawn.replicates[:, ~np.isnan(drawn.estimate)]


def _evidence_of(call: CurveCall, drawn: _Drawn, is_difference: bool) -> CurveEvidence:
    """Return what the band is made of."""
    curve, design = drawn.curve, call.plan.design
    df, inflation = design.degrees_of_freedom, design.inflation
    low, high = curve.bounds
    free_below, free_above = curve.free(drawn.rows)
    if is_difference:
        # Of one curve a side may be known, of the difference none where the other is unknown.
        unknown = free_below & free_above
        return CurveEvidence(
            drawn.estimate,
            drawn.replicates,
            df,
            inflation,
            floor=drawn.floor,
            bounds=(low - high, high - low),
            free_below=unknown,
            free_above=unknown,
        )
    return CurveEvidence(
        drawn.estimate,
        drawn.replicates,
        df,
        inflation,
        behind=drawn.behind if curve.is_proportion else None,
        floor=drawn.floor,
        bounds=curve.bounds,
        free_below=free_below,
        free_above=free_above,
        rises=curve.rises,
        of_bins=curve.of_bins,
        nearby=curve.nearby(drawn.rows),
    )


def _result(
    call: CurveCall, name: str, drawn: _Drawn, notes: Sequence[Note], *, is_difference: bool = False
) -> CurveResult:
    """Return a curve with the band that the call asks for."""
    known = _evidence_of(call, drawn, is_difference)
    curve, design = drawn.curve, call.plan.design
    x, nothing = curve.grid, np.full(len(curve.grid), np.nan)
    reference = np.zeros(len(x)) if is_difference else curve.reference(drawn.rows)
    fields: dict[str, Any] = {
        "curve": curve.name,
        "name": name,
        "x": x,
        "estimate": drawn.estimate,
        "low": nothing,
        "high": nothing,
        "band": call.band,
        "confidence_level": call.confidence_level,
        "reference": reference,
        "bootstrap_distribution": drawn.replicates,
        "axes": curve.axes,
        "critical": None,
        "behind": known.behind,
        "bounds": known.bounds,
        "free_below": known.free_below,
        "free_above": known.free_above,
        "floor": known.floor,
        "kind": design.kind,
        "unit": design.unit,
        "units_of_factors": design.n_units,
        "n_strata": design.n_strata,
        "n_samples": design.n_samples,
        "weighted": drawn.rows.sample_weight is not None,
        "is_difference": is_difference,
        "notes": texts_of(notes),
        "held_fixed": ("the trained system", *design.held_fixed),
        "seed": stored_seed(call.plan.seed),
        "settings": call.settings,
        "versions": versions_used(),
    }
    if call.band == "simultaneous":
        low, high, critical = simultaneous_band(known, call.confidence_level)
        return CurveResult(**fields | {"low": low, "high": high, "critical": critical})
    low, high = CurveResult(**fields).pointwise_limits()
    return CurveResult(**fields | {"low": low, "high": high})
