"""The engine of `bootstrap_score`: from checked rows and a plan to results and their gap.

`evaluate` binds every metric and subgroup to one plan, resamples once, and makes a result of each;
the comparison of systems uses the steps that stand below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._messages import fail
from .._streams import stored_seed
from .._versions import versions_used
from .._warnings import Note, tell, texts_of
from ..inference.automatic import (
    IntervalWithNotes,
    automatic_interval,
    degeneracy,
    left_out_estimate,
)
from ..inference.cautions import caution_of_distances
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.distribution import bootstrap
from ..inference.evidence import Evidence
from ..inference.intervals import (
    WITHOUT_RESAMPLES,
    confidence_interval,
    problem_with,
)
from ..metrics.statistic import ReducedData, Statistic
from ..metrics.two_class import of_reversed_scores
from ..results import EvaluationResult, ResultTable
from ..results.basis import Basis, SystemBasis
from ..results.gap_basis import GapBasis
from ..results.simultaneous_basis import SimultaneousBasis, bases_together
from ..results.wording import is_worse
from .gaps import NO_PAIR, gap_of, kept_of, measured, no_gap, side_of
from .prepared import LeftOut, Prepared, ScoreCall, jackknives_of, prepare
from .rows import Part

# Maximum number of resamples where no limit is made of them: a picture needs no more.
_MOST_UNNEEDED = 100_000


def evaluate(
    calls: Mapping[str, ScoreCall], statistics: Mapping[str, Statistic], parts: Sequence[Part]
) -> dict[str, Any]:
    """Evaluate each metric on each part, all on the same resamples.

    Parameters
    ----------
    calls : mapping of str to ScoreCall
        By metric name: metrics may read other answers of the system, to the same plan.
    statistics : mapping of str to Statistic
        By metric name.
    parts : sequence of Part
        One part of all rows, or one for each subgroup.

    Returns
    -------
    dict
        By metric name; a table by subgroup within where there are subgroups.
    """
    prepared = [
        prepare(calls[name], statistic, part)
        for name, statistic in statistics.items()
        for part in parts
    ]
    if len(parts) == 1 and all(one.interval in WITHOUT_RESAMPLES for one in prepared):
        calls = {name: _with_fewer_resamples(call) for name, call in calls.items()}
    call = next(iter(calls.values()))
    evidence = bootstrapped(call, prepared)
    bases = _bases(call, evidence)
    results: dict[str, Any] = {}
    for k, (name, statistic) in enumerate(statistics.items()):
        call = calls[name]
        of_metric = slice(k * len(parts), (k + 1) * len(parts))
        table = {}
        for part, basis, one in zip(parts, bases[of_metric], prepared[of_metric], strict=True):
            chosen = _chosen_on(call, basis)
            of_part = (call, name, statistic, part, basis.evidence, chosen)
            table[part.name] = result_of(*of_part, one.subject.reduced, basis)
        if len(parts) > 1:
            table["gap"] = _gap(call, name, statistic, parts, evidence[of_metric])
        results[name] = ResultTable(table) if len(parts) > 1 else table[None]
    return results


def _with_fewer_resamples(call: ScoreCall) -> ScoreCall:
    """Return the call with no more resamples than a picture of the distribution can use."""
    asked = call.plan.n_resamples
    if asked <= _MOST_UNNEEDED or call.plan.resamples is not None:
        return call
    note = Note(
        "choice",
        f"The interval needs no resamples: the first {_MOST_UNNEEDED:,} of the {asked:,} asked for "
        "were drawn, for the distribution.",
    )
    plan = replace(call.plan, n_resamples=_MOST_UNNEEDED)
    settings = {**call.settings, "n_resamples": _MOST_UNNEEDED}
    return replace(call, plan=plan, settings=settings, notes=(note,))


def bootstrapped(call: ScoreCall, prepared: Sequence[Prepared]) -> list[Evidence]:
    """Return the evidence of each metric on each part, from one plan of resamples."""
    subjects = [one.subject for one in prepared]
    binding = call.plan.bind([subject.coding for subject in subjects])
    distributions = bootstrap(binding, subjects, call.workers)
    jackknives: Sequence[LeftOut | None] = [None] * len(prepared)
    if None in (distribution.acceleration for distribution in distributions):
        jackknives = jackknives_of(call, binding, dict(enumerate(prepared)), distributions)
    return [
        one.evidence(distribution, left_out)
        for one, distribution, left_out in zip(prepared, distributions, jackknives, strict=True)
    ]


def _bases(call: ScoreCall, evidence: Sequence[Evidence]) -> Sequence[SystemBasis]:
    """Return what each result stands on: intervals that hold at once, where several shall."""
    if call.adjust is None or len(evidence) < 2:
        return [SystemBasis(known) for known in evidence]
    return bases_together(evidence)


# ------------------------------------------------------------------ results


def chosen_interval(call: ScoreCall, evidence: Evidence) -> IntervalWithNotes:
    """Return the interval that the call asks for."""
    if call.interval == "auto":
        return automatic_interval(evidence, call.confidence_level)
    problem = problem_with(call.interval, evidence)
    if problem:
        got = f"{call.interval!r}, which {problem.removesuffix('.')}"
        raise fail("interval", "be one that these data allow", got)
    return IntervalWithNotes(confidence_interval(evidence, call.interval, call.confidence_level))


def _chosen_on(call: ScoreCall, basis: SystemBasis) -> IntervalWithNotes:
    """Return the interval that the call asks for, or the one of several that hold at once."""
    if not isinstance(basis, SimultaneousBasis):
        return chosen_interval(call, basis.evidence)
    level = call.confidence_level
    own = replace(call, confidence_level=basis.level_of_own(level))
    interval, notes = chosen_interval(own, basis.evidence)
    together = ConfidenceInterval(*interval, level, interval.method)
    return IntervalWithNotes(together, (*notes, basis.note))


def result_of(
    call: ScoreCall,
    name: str,
    statistic: Statistic,
    part: Part,
    evidence: Evidence,
    chosen: IntervalWithNotes,
    reduced: ReducedData | None = None,
    basis: Basis | None = None,
) -> EvaluationResult:
    """Return the result of one statistic on one part, with the interval that was chosen."""
    own = statistic if part.rows is None else statistic.on_rows(part.rows)
    tell(*chosen.notes)
    name = name if part.name is None else f"{name} ({part.name})"
    rows = call.rows.of(statistic, part.rows)
    naive = own.naive(reduced, rows)
    reversed_scores: tuple[Note, ...] = ()
    if statistic.response == "scores":
        reversed_scores = of_reversed_scores(statistic, rows[0], naive, chosen.interval)
        tell(*reversed_scores)
    notes = texts_of(
        (*chosen.notes, *call.rows.notes_for(statistic), *call.notes, *reversed_scores)
    )
    if not reversed_scores:
        notes += below_baseline(evidence, naive, statistic.greater_is_better)
    return make_result(
        call,
        name,
        SystemBasis(evidence) if basis is None else basis,
        chosen.interval,
        notes_on_limits(notes, name, evidence, chosen.interval),
        n_samples=call.plan.design.n_samples if part.rows is None else len(part.rows),
        greater_is_better=statistic.greater_is_better,
        naive_estimate=naive,
    )


def below_baseline(
    evidence: Evidence, naive: float | None, greater_is_better: bool | None
) -> tuple[str, ...]:
    """Say that a score is worse than that of a system that ignores its inputs."""
    best = evidence.facts.bounds[0 if greater_is_better is False else 1]
    if naive == best or not is_worse(evidence.estimate, naive, greater_is_better):
        return ()
    text = f"Worse than the baseline: a system that ignores its inputs scores {naive:.4g} here."
    return (text,)


def _gap(
    call: ScoreCall,
    name: str,
    statistic: Statistic,
    parts: Sequence[Part],
    evidence: Sequence[Evidence],
) -> EvaluationResult:
    """The pair of subgroups that differ most, with its simultaneous interval."""
    subgroups = measured(statistic, call.rows, parts, evidence)
    kept = kept_of(subgroups, evidence, name)
    own = [evidence[k] for k in kept.at]
    n_pairs = len(own) * (len(own) - 1) // 2
    if own:
        sides = [side_of(subgroups[k], evidence[k]) for k in kept.at]
        (a, b), known = gap_of(sides, own, n_families=1)
        pair = f"{subgroups[kept.at[a]].name} - {subgroups[kept.at[b]].name}"
    else:
        known, pair = no_gap(evidence[0], n_families=1), NO_PAIR
    notes = []
    if n_pairs == 1:
        notes = ["The difference between the two subgroups."]
    elif n_pairs:
        notes = [
            f"The largest of {n_pairs} differences between subgroups, with its simultaneous "
            "interval over all of them; the replicates are those of this pair."
        ]
    basis = GapBasis(known, metric=name, pair=pair, of_systems=False)
    cautions = [*kept.cautions, *caution_of_distances(evidence[0])]
    return make_gap_result(call, basis, notes, cautions)


def make_gap_result(
    call: ScoreCall,
    basis: GapBasis,
    notes: Sequence[str],
    cautions: Sequence[Note],
) -> EvaluationResult:
    """Return the result of a gap, with warnings such as of the subgroups it leaves out."""
    drawn = replace(basis.evidence.drawn, n_units=call.plan.design.n_units)
    evidence = replace(basis.evidence, drawn=drawn)
    tell(*cautions)
    interval = confidence_interval(evidence, "simultaneous", call.confidence_level)
    notes = [*texts_of(cautions), *notes]
    return make_result(
        call,
        basis.name,
        replace(basis, evidence=evidence),
        interval,
        notes_on_limits(notes, basis.name, evidence, interval),
        n_samples=call.plan.design.n_samples,
        greater_is_better=None,
        naive_estimate=None,
        automatic=False,
    )


def notes_on_limits(
    notes: Sequence[str],
    name: str,
    known: Evidence,
    interval: ConfidenceInterval,
) -> tuple[str, ...]:
    """Return the notes with those on limits that hold nothing; warn of undefined resamples."""
    about_limits = (degeneracy(interval, known), left_out_estimate(interval, known))
    n_undefined = int(np.isnan(known.replicates).sum())
    if known.gap is not None and np.isnan(known.estimate):
        # The caution about the subgroups that are left out says why.
        return tuple(notes)
    if n_undefined:
        tell(_undefined(name, n_undefined, len(known.replicates)))
    elif np.isnan(known.estimate):
        tell(_undefined(name, len(known.replicates), len(known.replicates)))
    return (*notes, *(text for text in about_limits if text and text not in notes))


def _undefined(metric: str, count: int, total: int) -> Note:
    about, item = (
        "undefined on some resamples, which are left out",
        f"{metric} on {count} of {total}",
    )
    return Note("undefined", f"{about}: {item}.", about, item)


def make_result(
    call: ScoreCall,
    name: str,
    basis: Basis,
    interval: ConfidenceInterval,
    notes: Sequence[str],
    *,
    n_samples: int,
    greater_is_better: bool | None,
    naive_estimate: float | None,
    **other_than_of_system: Any,
) -> EvaluationResult:
    """Return the result of a system, or of what the last fields say, with the call's settings."""
    fields: dict[str, Any] = {
        "estimand": "system",
        "automatic": call.interval == "auto",
        "held_fixed": ("the trained system", *call.plan.design.held_fixed),
    }
    return EvaluationResult(
        metric=name,
        basis=basis,
        confidence_interval=interval,
        n_samples=n_samples,
        unit=call.plan.design.unit,
        greater_is_better=greater_is_better,
        naive_estimate=naive_estimate,
        notes=(*notes, *texts_of(call.plan.design.remarks)),
        seed=stored_seed(call.plan.seed),
        settings=call.settings,
        versions=versions_used(),
        **fields | other_than_of_system,
    )
