"""Curves of systems: on the data, on the resamples that all systems share, and their bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.errors import Note, collected, tell, texts_of
from .._base.work import single_threaded_blas
from ..inference.automatic import tell_of_groups
from ..inference.bands import CurveEvidence
from ..inference.distribution import BoundStatistic
from ..inference.evidence import Evidence
from ..metrics.curves import ClassSizes, Curve, TwoClassRows
from ..results.curve import CurveResult, with_band
from ..results.result import Provenance
from .curve_rows import DIFFERENCE, CurveCall
from .study import draw

Floats = NDArray[np.float64]

# Shares between which the replicates tell how much less the rows of a group say than others.
_INNER = (0.05, 0.95)


class Drawn(NamedTuple):
    """A curve on the data and on the resamples.

    Attributes
    ----------
    curve : Curve
    sizes : ClassSizes
    estimate : ndarray of shape (n_grid,)
    replicates : ndarray of shape (n_resamples, n_grid)
    behind : ndarray of shape (n_grid,) or None
        Rows of equal weight that each point is a share of.
    floor : ndarray of shape (n_grid,) or None
        Smallest standard error that is believed, where no share says it.
    bin_error : ndarray of shape (n_grid,) or None
        How far each point may be from the curve of all scores, where these were counted in
        intervals.
    notes : tuple of Note
        What a reader must know of the curve on these rows.
    area : float or None
        Of rows in memory: the area under the ROC curve, or the average precision.
    """

    curve: Curve
    sizes: ClassSizes
    estimate: Floats
    replicates: Floats
    behind: Floats | None
    floor: Floats | None
    bin_error: Floats | None = None
    notes: tuple[Note, ...] = ()
    area: float | None = None


def evaluate_curves(call: CurveCall) -> dict[str, CurveResult]:
    """Evaluate the curve of each system, and the difference of exactly two.

    Parameters
    ----------
    call : CurveCall

    Returns
    -------
    dict of str to CurveResult
        By system.
    """
    return results_of_curves(call, dict(zip(call.curves, _replicated(call), strict=True)))


def results_of_curves(
    call: CurveCall, drawn: dict[str, Drawn], remarks: Sequence[Note] = ()
) -> dict[str, CurveResult]:
    """Return the curve of each system with its band, and the difference of exactly two.

    Parameters
    ----------
    call : CurveCall
    drawn : dict of str to Drawn
        By system. The variance of shares is that of independent rows, or a larger one that the
        replicates of groups have.
    remarks : sequence of Note
        Of how the rows were kept.

    Returns
    -------
    dict of str to CurveResult
        By system.
    """
    drawn = {name: _of_units(call, each) for name, each in drawn.items()}
    notes = [*remarks, *_notes_of(call, list(drawn.values()))]
    difference = _difference(*drawn.values()) if len(drawn) == 2 else None
    if len(drawn) == 2 and difference is None:
        names = " and ".join(drawn)
        notes.append(Note("undefined", f"no difference: {names} have no predictions in common."))
    tell(*notes)
    results = {name: _result(call, name, each, notes) for name, each in drawn.items()}
    if difference is not None:
        names = " - ".join(drawn)
        results[DIFFERENCE] = _result(call, names, difference, notes, is_difference=True)
    return results


def _replicated(call: CurveCall) -> list[Drawn]:
    """Evaluate all curves on the data and on the resamples of the plan."""
    subjects = [
        BoundStatistic.of(curve, curve.reduce(rows)) for curve, rows in call.curves.values()
    ]
    draws = draw(call.plan, subjects, call.workers)
    assert draws.binding is not None
    every = (call.curves.values(), subjects, draws.binding.observed(), draws.distributions)
    drawn = []
    with single_threaded_blas():
        for (curve, rows), subject, block, each in zip(*every, strict=True):
            worth = _worth_of_weights(rows)
            behind = curve.behind(block, subject.reduced, worth)
            floor = curve.floor(block, subject.reduced, worth)
            estimate, replicates = each.estimate, each.replicates
            if (beyond := curve.beyond(rows.score)).any():
                estimate, replicates = (
                    np.where(beyond, np.nan, values) for values in (estimate, replicates)
                )
            of_data = (rows.sizes, estimate, replicates, behind, floor)
            area = curve.area(subject.reduced)
            drawn.append(Drawn(curve, *of_data, notes=curve.notes(subject.reduced), area=area))
    return drawn


def _worth_of_weights(rows: TwoClassRows) -> float:
    """Rows of equal weight that are worth a unit of weight (Kish 1965)."""
    if rows.sample_weight is None:
        return 1.0
    relative = rows.sample_weight / rows.sample_weight.max()
    return float(relative.sum() ** 2 / np.sum(relative**2) / rows.sample_weight.sum())


def _of_units(call: CurveCall, drawn: Drawn) -> Drawn:
    """Return the curve with fewer rows behind its points where groups were drawn."""
    behind = drawn.behind
    if behind is None or not drawn.curve.is_proportion or call.plan.design.units_are_rows:
        return drawn
    effect = _design_effect(drawn.estimate, drawn.replicates, behind)
    return drawn._replace(behind=behind / effect)


def _design_effect(estimate: Floats, replicates: Floats, behind: Floats) -> float:
    """How much larger the variance of shares is than that of independent rows, at least 1."""
    inner = (estimate > _INNER[0]) & (estimate < _INNER[1]) & (behind > 0)
    if not inner.any():
        return 1.0
    share = estimate[inner]
    ratios = np.nanvar(replicates[:, inner], axis=0) / (share * (1 - share) / behind[inner])
    return max(1.0, float(np.median(ratios)))


def _difference(first: Drawn, second: Drawn) -> Drawn | None:
    """Return first minus second on the same resamples, at the points of both; None without any.

    Where two systems always agree, the floor is the standard error of a difference of paired
    shares with half a row added to each of four cells (Agresti & Min 2005).
    """
    if not first.curve.of_bins:
        _, *places = np.intersect1d(first.curve.grid, second.curve.grid, return_indices=True)
        first, second = (_at(each, at) for each, at in zip((first, second), places, strict=True))
        if not len(first.estimate):
            return None
    floor = None
    if first.behind is not None and second.behind is not None:
        floor = 1 / (np.minimum(first.behind, second.behind) + 2)
        if isinstance(odds := getattr(first.curve, "odds", None), np.ndarray):
            floor = floor * np.maximum(odds, 1.0)
    replicates = first.replicates - second.replicates
    replicates.flags.writeable = False
    estimate = first.estimate - second.estimate
    errors = [each.bin_error for each in (first, second) if each.bin_error is not None]
    bin_error = np.sum(errors, axis=0) if errors else None
    return Drawn(first.curve, second.sizes, estimate, replicates, None, floor, bin_error)


def _at(drawn: Drawn, places: NDArray[np.intp]) -> Drawn:
    """Return some points of a curve."""
    n = len(drawn.estimate)
    if len(places) == n:
        return drawn
    curve: Any = drawn.curve
    of_curve = {
        each.name: getattr(curve, each.name)[places]
        for each in fields(curve)
        if isinstance(getattr(curve, each.name), np.ndarray)
    }
    of_each: dict[str, Any] = {
        name: None if (values := getattr(drawn, name)) is None else values[..., places]
        for name in ("estimate", "replicates", "behind", "floor", "bin_error")
    }
    return drawn._replace(curve=replace(curve, **of_curve), **of_each)


# ------------------------------------------------------------------ results


def _notes_of(call: CurveCall, drawn: Sequence[Drawn]) -> list[Note]:
    """Return what a reader must know of every curve of the call."""
    notes = list(call.plan.design.remarks)
    notes += dict.fromkeys(note for each in drawn for note in each.notes)
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
    if design.units_are_groups:
        of_design = {"n_strata": design.n_strata, "freedom": design.freedom}
        known = Evidence.of(np.nan, np.empty(0), design.kind, design.n_units, **of_design)
        with collected() as few:
            tell_of_groups(known)
        notes += few
    if caution := design.coverage_caution(design.n_units):
        notes.append(Note("caution", caution))
    return notes


def _defined(drawn: Drawn) -> Floats:
    """Replicates at the points where the data have a value."""
    return drawn.replicates[:, ~np.isnan(drawn.estimate)]


def _evidence_of(call: CurveCall, drawn: Drawn, is_difference: bool) -> CurveEvidence:
    """Return what the band is made of."""
    curve, design = drawn.curve, call.plan.design
    df, inflation = design.degrees_of_freedom, design.inflation
    low, high = curve.bounds
    free_below, free_above = curve.free(drawn.sizes)
    if is_difference:
        # Of one curve a side may be known, of the difference none where the other is unknown.
        unknown = free_below & free_above
        return CurveEvidence(
            drawn.estimate,
            drawn.replicates,
            df,
            inflation,
            floor=drawn.floor,
            bin_error=drawn.bin_error,
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
        bin_error=drawn.bin_error,
        bounds=curve.bounds,
        free_below=free_below,
        free_above=free_above,
        rises=curve.rises,
        of_bins=curve.of_bins,
        nearby=curve.nearby(drawn.sizes),
    )


def _result(
    call: CurveCall, name: str, drawn: Drawn, notes: Sequence[Note], *, is_difference: bool = False
) -> CurveResult:
    """Return a curve with the band that the call asks for."""
    known = _evidence_of(call, drawn, is_difference)
    curve, design = drawn.curve, call.plan.design
    x = curve.grid
    reference = np.zeros(len(x)) if is_difference else curve.reference(drawn.sizes)
    fixed = (f"the trained system{'s' if is_difference else ''}", *design.held_fixed)
    fields: dict[str, Any] = {
        "curve": curve.name,
        "name": name,
        "x": x,
        "estimate": drawn.estimate,
        "band": call.band,
        "confidence_level": call.confidence_level,
        "reference": reference,
        "bootstrap_distribution": drawn.replicates,
        "axes": curve.axes,
        "behind": known.behind,
        "bounds": known.bounds,
        "free_below": known.free_below,
        "free_above": known.free_above,
        "floor": known.floor,
        "bin_error": known.bin_error,
        "kind": design.kind,
        "unit": design.unit,
        "units_of_factors": design.n_units,
        "n_strata": design.n_strata,
        "freedom": design.freedom,
        "n_samples": design.n_samples,
        "weighted": call.facts.weighted,
        "is_difference": is_difference,
        "area": drawn.area,
        "provenance": Provenance(
            texts_of(notes), fixed, call.plan.seed, call.settings, facts=call.facts
        ),
    }
    return with_band(fields, known)
