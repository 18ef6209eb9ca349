"""From the state of a stream to results: one for each metric and system."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtri

from .._base.checks import fail
from .._base.warnings import Note, tell, texts_of
from ..inference.evidence import Drawn, Evidence
from ..metrics.adapters import without_sign
from ..metrics.doubts import note_on_scores
from ..metrics.facts import Facts
from ..metrics.statistic import Statistic
from ..metrics.two_class import of_no_positive, of_reversed_scores, positive_note
from ..resampling.plan import ResamplingPlan
from ..resampling.streamed import StreamedDesign
from ..results import EvaluationResult
from ..results.basis import SystemBasis
from ..results.provenance import CallFacts
from ..study.measured import positive_setting
from ..study.rows import Sampling
from ..study.scores import (
    below_baseline,
    chosen_interval,
    make_result,
    notes_on_limits,
)
from ..study.study import Study
from .few_rows import FEWEST_UNITS, MOST_VALUES, PREDICTED, TRUTH, UNIT, WEIGHT
from .readings import FINE_SCORES, Read
from .state import GROUPS_KEPT, StreamSettings, StreamState

# Share of honest streams whose sizes of resamples may vary as if rows had been added twice.
_FALSE_ALARMS = 1e-6
# Intervals that need neither rows nor values without single units.
STREAMED_SCORES = ("auto", "wilson", "percentile", "expanded", "basic", "normal", "t")


@dataclass(frozen=True, eq=False)
class StreamScore:
    """A metric of one system: what intervals are made of, and the result."""

    statistic: Statistic
    evidence: Evidence
    result: EvaluationResult
    shared_notes: tuple[Note, ...]


class FewGiven(NamedTuple):
    """Rows of few units as the arguments of a function that takes all rows at once.

    Attributes
    ----------
    y_true : ndarray of shape (n_samples,) or None
    y_preds : dict of ndarray
        By system.
    sampling : Sampling
    """

    y_true: Any
    y_preds: dict[str | None, Any]
    sampling: Sampling


def few_given(settings: StreamSettings, state: StreamState) -> FewGiven | None:
    """Return the rows of too few units for Poisson resamples, None where these are enough.

    Raises
    ------
    ValueError
        If there are no rows, none with weight, or few units whose rows were not kept.
    """
    _check_enough(state)
    if state.n_units >= FEWEST_UNITS:
        return None
    assert state.few is not None
    assert state.few.columns is not None
    columns = state.few.columns
    sampling = Sampling(
        groups=columns[UNIT] if state.unit == "groups" else None,
        sample_weight=columns.get(WEIGHT),
        n_resamples=settings.n_resamples,
        random_state=settings.seed,
    )
    y_preds = {name: columns[f"{PREDICTED}{k}"] for k, name in enumerate(settings.systems)}
    return FewGiven(columns.get(TRUTH), y_preds, sampling)


def _check_enough(state: StreamState) -> None:
    """Refuse a stream of no rows, of few units whose rows are not known, or without weight."""
    unit = "groups" if state.unit == "groups" else "rows"
    if not state.n_rows:
        raise fail("update", "have been given rows", "none")
    if state.n_units < FEWEST_UNITS and not state.has_few:
        must = f"have been given at least {FEWEST_UNITS} {unit}"
        advice = (
            f"Rows of fewer are kept while they hold at most {MOST_VALUES:,} numbers and texts, of "
            "the same shapes and kinds in all batches: skboot.bootstrap_score takes any rows."
        )
        raise fail("update", must, f"{state.n_units}", advice)
    if state.weighted and state.terms.values(slice(1, 2))[0, 0] == 0:
        raise fail("sample_weight", "be more than 0 for some row", "0 for all rows")


def plan_of(settings: StreamSettings, state: StreamState) -> ResamplingPlan:
    """Return who was drawn, and how often."""
    kind = "streamed groups" if state.unit == "groups" else "streamed rows"
    design = StreamedDesign.of(state.n_rows, state.n_units, kind)
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
        **positive_setting(settings.pos_label),
    }


def results_of(settings: StreamSettings, state: StreamState) -> dict[str, EvaluationResult]:
    """Return the result of one system by each metric, and the warnings."""
    scores = scores_of(settings, state, settings.interval)
    return {name: own[0].result for name, own in scores.items()}


def scores_of(
    settings: StreamSettings, state: StreamState, interval: str
) -> dict[str, list[StreamScore]]:
    """Return the scores of every system by each metric.

    Parameters
    ----------
    settings : StreamSettings
    state : StreamState
    interval : str
        "auto" or the name of a method, for the systems by themselves.
    """
    notes = _notes_on_rows(state)
    tell(*(*notes, *state.doubts))
    study = Study(
        {},
        plan_of(settings, state),
        interval,
        settings.confidence_level,
        settings_of(settings, state),
        CallFacts(weighted=state.weighted),
        notes=tuple(notes),
    )
    scores = {
        name: [
            _score(study, name, system, state, settings) for system in range(len(settings.systems))
        ]
        for name in settings.readings
    }
    unused = of_no_positive([own[0].statistic for own in scores.values()], settings.pos_label)
    tell(*[unused] if unused is not None else [])
    return scores


def _score(
    study: Study,
    name: str,
    system: int,
    state: StreamState,
    settings: StreamSettings,
) -> StreamScore:
    """Return a metric of one system with its interval."""
    read = state.read(name, system, settings)
    tell(*_doubts(read, settings.systems[system], state.n_rows))
    evidence = _evidence(study, read, state)
    chosen = chosen_interval(study, evidence)
    tell(*chosen.notes)
    truth = settings.labels if read.columns is None else read.columns[0]
    like = np.empty((0, 2) if state.in_columns else 0)
    positive = positive_note(read.statistic, truth, like, "caution")
    naive = None if read.columns is None else read.statistic.naive(None, read.columns)
    of_class = of_reversed_scores(read.statistic, truth, naive, chosen.interval)
    of_class += () if positive is None else (positive,)
    tell(*of_class)
    notes = (*chosen.notes, *_notes(read, settings), *study.notes, *of_class)
    below = () if of_class else below_baseline(evidence, naive, read.statistic.greater_is_better)
    result = make_result(
        study,
        name,
        SystemBasis(evidence),
        chosen.interval,
        notes_on_limits((*texts_of(notes), *below), name, evidence, chosen.interval),
        n_samples=state.n_rows,
        greater_is_better=read.statistic.greater_is_better,
        naive_estimate=naive,
    )
    few = tuple(note for note in chosen.notes if note.kind == "few")
    twice = tuple(note for note in study.notes if note.is_warning)
    return StreamScore(read.statistic, evidence, result, (*few, *twice))


def _evidence(study: Study, read: Read, state: StreamState) -> Evidence:
    """Return the estimate, the replicates and what is known of the rows."""
    # A metric that divides by zero on a resample is undefined there.
    values = np.where(np.isinf(read.values), np.nan, read.values)
    drawn = Drawn.of(study.plan.design)
    return Evidence(float(values[0]), values[1:], drawn, _facts(read, weighted=state.weighted))


def _facts(read: Read, *, weighted: bool) -> Facts:
    """Return what is known of the rows by their sums, or by their cells where there are cells."""
    statistic, additive = read.statistic, read.statistic.reads == "sums"
    if read.reduced is None or read.columns is None:
        share = None if weighted else read.proportion
        return Facts(
            statistic.bounds, additive, False, weighted, share, largest_share=read.largest_share
        )
    truth, other, _ = read.columns
    known = statistic.facts(read.reduced, (truth, other, None))
    if weighted:
        # The weight of a row is not known where rows were counted by cells.
        return Facts(known.bounds, additive, weighted=True)
    return replace(known, row_mean=False, delong=None if read.error else known.delong)


def _doubts(read: Read, system: str | None, n_rows: int) -> list[Note]:
    """Return the warning of decisions that are given as scores."""
    inner: Any = without_sign(read.statistic)
    if read.columns is None:
        return []
    argument = "y_pred" if system is None else f"y_pred of {system!r}"
    note = note_on_scores(inner, read.columns[1], argument, n_rows)
    return [] if note is None else [note]


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


def _notes(read: Read, settings: StreamSettings) -> list[Note]:
    """Return what a reader must know of how the scores of a metric were kept."""
    if not read.intervals:
        return []
    changed = f"changes the estimate by at most {rounded_up(read.error)}"
    changed = changed if read.error else "leaves the estimate as it is"
    return [note_on_intervals(settings, changed, finer=read.intervals == "finer")]


def _notes_on_rows(state: StreamState) -> list[Note]:
    """Return what a reader must know of the units."""
    notes = []
    if state.unit == "groups" and len(state.groups) == GROUPS_KEPT:
        text = "The number of groups is an estimate, with a standard error of 0.4 %."
        notes.append(Note("choice", text))
    if state.unit == "groups" or state.weighted:
        return notes
    # Were each row a unit of its own, the sizes of resamples would be Poisson numbers.
    sizes = state.terms.values(slice(2, None))[0]
    excess = float(np.var(sizes, ddof=1)) / state.n_rows
    freedom = len(sizes) - 1
    if excess > chdtri(freedom, _FALSE_ALARMS) / freedom:
        text = (
            f"{state.n_rows} rows vary like about {state.n_rows / excess:.0f}: some ids seem to "
            "have been added twice. The standard error is right; intervals from counts of rows, "
            f"such as Wilson's, are {excess**0.5:.2f} times too short."
        )
        notes.append(Note("caution", text))
    return notes
