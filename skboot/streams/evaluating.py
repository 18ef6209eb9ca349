"""From the state of a stream to results: one for each metric and system."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import fail
from .._evaluating import CallWarnings, chosen_interval, make_result, notes_on_limits
from .._evidence import ScoreCall
from .._inputs import Rows
from .._warnings import Note, texts_of
from ..inference.evidence import Evidence
from ..metrics.class_metrics import averaged_sizes
from ..metrics.statistic import Statistic
from ..resampling.plan import ResamplingPlan
from ..resampling.streamed import StreamedGroups, StreamedRows
from ..results import EvaluationResult
from ..results.basis import SystemBasis
from .readings import FINE_SCORES, Read
from .state import GROUPS_KEPT, StreamSettings, StreamState

# Below so many units a Poisson number of them is nowhere near the number there are.
FEWEST_UNITS = 30
# Intervals that need neither rows nor values without single units.
STREAMED_SCORES = ("auto", "wilson", "percentile", "expanded", "basic", "normal", "t")


@dataclass(frozen=True, eq=False)
class StreamScore:
    """A metric of one system: what intervals are made of, and the result."""

    statistic: Statistic
    evidence: Evidence
    result: EvaluationResult
    shared_notes: tuple[Note, ...]


def check_enough(state: StreamState, caller: str) -> None:
    """Refuse a stream of too few units for Poisson resamples, or without weight."""
    unit = "groups" if state.unit == "groups" else "rows"
    if state.n_units < FEWEST_UNITS:
        must = f"have been given at least {FEWEST_UNITS} {unit}"
        advice = "So few fit into memory: skboot.bootstrap_score draws as many as there are."
        raise fail(caller, "update", must, f"{state.n_units}", advice)
    if state.weighted and state.terms.values(slice(1, 2))[0, 0] == 0:
        raise fail(caller, "sample_weight", "be more than 0 for some row", "0 for all rows")


def plan_of(settings: StreamSettings, state: StreamState) -> ResamplingPlan:
    """Return who was drawn, and how often."""
    design_class = StreamedGroups if state.unit == "groups" else StreamedRows
    design = design_class(state.n_rows, (state.n_units,))
    return ResamplingPlan(design, settings.n_resamples, settings.seed)


def settings_of(settings: StreamSettings, state: StreamState) -> dict[str, Any]:
    """Return the arguments as a result holds them."""
    return {
        "confidence_level": settings.confidence_level,
        "interval": settings.interval,
        "n_resamples": settings.n_resamples,
        "groups": state.unit == "groups",
        "sample_weight": state.weighted,
        "n_bins": settings.n_bins,
    }


def results_of(
    settings: StreamSettings, state: StreamState
) -> tuple[dict[str, EvaluationResult], list[Note]]:
    """Return the result of one system by each metric, and the warnings."""
    warned = CallWarnings()
    with warned.collecting():
        scores = scores_of(settings, state, settings.interval, warned)
    return {name: own[0].result for name, own in scores.items()}, warned.notes


def scores_of(
    settings: StreamSettings, state: StreamState, interval: str, warned: CallWarnings
) -> dict[str, list[StreamScore]]:
    """Return the scores of every system by each metric.

    Parameters
    ----------
    settings : StreamSettings
    state : StreamState
    interval : str
        "auto" or the name of a method, for the systems by themselves.
    warned : CallWarnings
        Takes the warnings.
    """
    check_enough(state, settings.caller)
    nothing = Rows(None, np.empty(0), None, settings.labels)
    call = ScoreCall(
        nothing,
        plan_of(settings, state),
        interval,
        settings.confidence_level,
        settings_of(settings, state),
        settings.caller,
    )
    return {
        name: [
            _score(call, name, state.read(name, system, settings), state, settings, warned)
            for system in range(len(settings.systems))
        ]
        for name in settings.readings
    }


def _score(
    call: ScoreCall,
    name: str,
    read: Read,
    state: StreamState,
    settings: StreamSettings,
    warned: CallWarnings,
) -> StreamScore:
    """Return a metric of one system with its interval."""
    evidence = _evidence(call, read, state)
    chosen = chosen_interval(call, evidence)
    warned.add(chosen.notes)
    notes = (*chosen.notes, *_notes(read, state, settings))
    naive = None if read.columns is None else read.statistic.naive(None, read.columns)
    result = make_result(
        call,
        name,
        SystemBasis(evidence),
        chosen.interval,
        notes_on_limits(texts_of(notes), name, evidence, chosen.interval, warned),
        n_samples=state.n_rows,
        greater_is_better=read.statistic.greater_is_better,
        naive_estimate=naive,
    )
    few = tuple(note for note in chosen.notes if note.kind == "few")
    return StreamScore(read.statistic, evidence, result, few)


def _evidence(call: ScoreCall, read: Read, state: StreamState) -> Evidence:
    """Return the estimate, the replicates and what is known of the rows."""
    statistic, proportion, reduced = read.statistic, read.proportion, read.reduced
    counted = reduced is not None and not state.weighted
    is_ranked = counted and statistic.reads == "running"
    # A metric that divides by zero on a resample is undefined there.
    values = np.where(np.isinf(read.values), np.nan, read.values)
    return Evidence(
        estimate=float(values[0]),
        replicates=values[1:],
        kind=call.plan.design.kind,
        n_units=call.plan.design.n_units,
        bounds=statistic.bounds,
        additive=statistic.reads == "sums",
        weighted=state.weighted,
        proportion=None
        if proportion is None or state.weighted
        else (proportion.hits, proportion.n, proportion.exact, proportion.scale, proportion.sign),
        delong=statistic.delong(reduced) if counted and not read.error else None,  # type: ignore[arg-type]
        smaller_class=statistic.smaller_class(reduced) if is_ranked else None,  # type: ignore[arg-type]
        largest_share=read.largest_share,
        class_sizes=None
        if reduced is None or read.columns is None or state.weighted
        else averaged_sizes(statistic, reduced, read.columns[0]),
    )


def rounded_up(error: float) -> str:
    """Return a bound with six decimals, or as many as show it, not below what it is."""
    n_decimals = max(6, 1 - math.floor(math.log10(error))) if error > 0 else 6
    return f"{math.ceil(error * 10**n_decimals) / 10**n_decimals:.{n_decimals}f}"


def note_on_intervals(settings: StreamSettings, changed: str, *, finer: bool) -> Note:
    """Return what a reader must know of scores that were counted in intervals."""
    n, of_resamples = settings.n_bins, ""
    if finer:
        n, of_resamples = settings.bins_of(FINE_SCORES), f" ({settings.n_bins} for resamples)"
    counted = f"Scores were counted in at most {n} intervals{of_resamples}"
    text = f"{counted}, which {changed}; a larger n_bins of BootstrapAccumulator makes them finer."
    return Note("choice", text)


def _notes(read: Read, state: StreamState, settings: StreamSettings) -> list[Note]:
    """Return what a reader must know of how the stream was kept."""
    notes = []
    if read.intervals:
        changed = f"changes the estimate by at most {rounded_up(read.error)}"
        changed = changed if read.error else "leaves the estimate as it is"
        notes.append(note_on_intervals(settings, changed, finer=read.intervals == "finer"))
    if state.unit == "groups" and len(state.groups) == GROUPS_KEPT:
        text = "The number of groups is an estimate, with a standard error of 0.4 %."
        notes.append(Note("choice", text))
    return notes
