"""Scores of a study and the results that are made of them: the engine of `bootstrap_score`.

`evaluate` draws for every metric and subgroup at once, and makes a result of each; comparisons of
systems, runs and streams use the steps that stand below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.errors import Note, collected, fail, tell, texts_of
from ..inference.automatic import (
    IntervalWithNotes,
    automatic_interval,
    degeneracy,
    left_out_estimate,
)
from ..inference.cautions import caution_of_distances
from ..inference.evidence import ConfidenceInterval, Evidence, notes_of_cut
from ..inference.intervals import WITHOUT_RESAMPLES, confidence_interval, problem_with
from ..metrics.responses import of_reversed_scores
from ..results import EvaluationResult, ResultTable
from ..results.basis import Basis, SystemBasis
from ..results.result import Provenance, evaluation_result
from ..results.wording import is_worse
from .draws import Score
from .study import Study

if TYPE_CHECKING:
    from ..results.basis import GapBasis

# Maximum number of resamples where no limit is made of them: a picture needs no more.
_MOST_UNNEEDED = 100_000


def results_of(study: Study) -> Any:
    """Draw for the one system of a study, and make a result of each metric on each part.

    Metrics are evaluated on the same resamples, unless averages over tasks need other ones.

    Returns
    -------
    EvaluationResult or ResultTable
        Of each metric where it belongs; a table by subgroup within where there are subgroups.
    """
    results: dict[str, Any] = {}
    for of_plan in [study] if study.tasks is None else study.by_plan():
        results |= evaluate(of_plan)
        tell(*of_plan.plan.design.remarks)
    return study.laid_out(results)


def evaluate(study: Study) -> dict[str, Any]:
    """Return the results of a study of one plan, all on the same resamples."""
    parts = study.parts
    scores = [
        study.source.prepare(study.plan, study.interval, metric, one, part, study.first_look)
        for metric, by_system in study.scores.items()
        for [one] in by_system.values()
        for part in parts
    ]
    if len(parts) == 1 and all(one.interval in WITHOUT_RESAMPLES for one in scores):
        study = _with_fewer_resamples(study)
    draws = study.source.draw(study.plan, scores, study.workers)
    evidence = list(draws.evidence.values())
    bases = _bases(study, evidence)
    results: dict[str, Any] = {}
    for k, metric in enumerate(study.scores):
        of_metric = slice(k * len(parts), (k + 1) * len(parts))
        table = {
            one.part.name: result_of(study, one, basis, _chosen_on(study, basis))
            for one, basis in zip(scores[of_metric], bases[of_metric], strict=True)
        }
        if len(parts) > 1:
            table["gap"] = _gap(study, scores[of_metric], evidence[of_metric])
        results[metric] = ResultTable(table) if len(parts) > 1 else table[None]
    return results


def _with_fewer_resamples(study: Study) -> Study:
    """Return the study with no more resamples than a picture of the distribution can use."""
    asked = study.plan.n_resamples
    if asked <= _MOST_UNNEEDED or study.plan.resamples is not None:
        return study
    note = Note(
        "choice",
        f"The interval needs no resamples: the first {_MOST_UNNEEDED:,} of the {asked:,} asked for "
        "were made, for the distribution.",
    )
    plan = replace(study.plan, n_resamples=_MOST_UNNEEDED)
    settings = {**study.settings, "n_resamples": _MOST_UNNEEDED}
    return replace(study, plan=plan, settings=settings, notes=(note,))


def _bases(study: Study, evidence: Sequence[Evidence]) -> Sequence[SystemBasis]:
    """Return what each result stands on: intervals that hold at once, where several shall."""
    if study.adjust is None or len(evidence) < 2:
        return [SystemBasis(known) for known in evidence]
    # Imported here, because few calls ask for it.
    from ..results.basis import bases_together

    return bases_together(evidence)


# ------------------------------------------------------------------ results


def chosen_interval(study: Study, evidence: Evidence) -> IntervalWithNotes:
    """Return the interval that the study asks for."""
    if study.interval == "auto" or not evidence.drawn.varies:
        return automatic_interval(evidence, study.confidence_level)
    problem = problem_with(study.interval, evidence)
    if problem:
        got = f"{study.interval!r}, which {problem.removesuffix('.')}"
        raise fail("interval", "be one that these data allow", got)
    with collected() as told:
        interval = confidence_interval(evidence, study.interval, study.confidence_level)
    # Those on the number of resamples are of the call, not of the interval.
    tell(*(note for note in told if note.kind == "resamples"))
    notes = (note for note in told if note.kind != "resamples")
    return IntervalWithNotes(interval, (*notes, *notes_of_cut(interval)))


def _chosen_on(study: Study, basis: SystemBasis) -> IntervalWithNotes:
    """Return the interval that the study asks for, or the one of several that hold at once."""
    if study.adjust is None:
        return chosen_interval(study, basis.evidence)
    from ..results.basis import SimultaneousBasis

    if not isinstance(basis, SimultaneousBasis):
        return chosen_interval(study, basis.evidence)
    level = study.confidence_level
    own = replace(study, confidence_level=basis.level_of_own(level))
    interval, notes = chosen_interval(own, basis.evidence)
    return IntervalWithNotes(interval.at_level(level), (*notes, basis.note))


def result_of(
    study: Study, score: Score, basis: Basis, chosen: IntervalWithNotes
) -> EvaluationResult:
    """Return the result of a score, with the interval that was chosen."""
    statistic, rows, evidence = score.subject.statistic, score.columns, basis.evidence
    tell(*chosen.notes)
    naive = statistic.naive(score.subject.reduced, rows)
    reversed_scores: tuple[Note, ...] = ()
    if statistic.response in ("scores", "probabilities"):
        reversed_scores = of_reversed_scores(statistic, rows, naive, chosen.interval)
        tell(*reversed_scores)
    notes = texts_of((*chosen.notes, *score.notes, *study.notes, *reversed_scores))
    if not reversed_scores:
        notes += below_baseline(evidence, naive, statistic.greater_is_better)
    n_samples = study.plan.design.n_samples
    return make_result(
        study,
        score.name,
        basis,
        chosen.interval,
        notes_on_limits(notes, score.name, evidence, chosen.interval),
        n_samples=n_samples if score.part.rows is None else len(score.part.rows),
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


def _gap(study: Study, scores: Sequence[Score], evidence: Sequence[Evidence]) -> EvaluationResult:
    """The pair of subgroups that differ most, with its simultaneous interval."""
    # Imported here, because few calls have subgroups.
    from ..results.basis import GapBasis
    from .gaps import NO_PAIR, gap_of, kept_of, measured, no_gap, side_of

    name = scores[0].metric
    subgroups = measured(scores[0].statistic, scores[0].rows, study.parts, evidence)
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
    return make_gap_result(study, basis, notes, cautions)


def make_gap_result(
    study: Study,
    basis: GapBasis,
    notes: Sequence[str],
    cautions: Sequence[Note],
) -> EvaluationResult:
    """Return the result of a gap, with warnings such as of the subgroups it leaves out."""
    drawn = replace(basis.evidence.drawn, n_units=study.plan.design.n_units)
    evidence = replace(basis.evidence, drawn=drawn)
    tell(*cautions)
    interval = confidence_interval(evidence, "simultaneous", study.confidence_level)
    notes = [*texts_of((*cautions, *notes_of_cut(interval))), *notes]
    return make_result(
        study,
        basis.name,
        replace(basis, evidence=evidence),
        interval,
        notes_on_limits(notes, basis.name, evidence, interval),
        n_samples=study.plan.design.n_samples,
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
    study: Study,
    name: str,
    basis: Basis,
    interval: ConfidenceInterval,
    notes: Sequence[str],
    *,
    automatic: bool | None = None,
    held_fixed: Sequence[str] = ("the trained system",),
    **fields: Any,
) -> EvaluationResult:
    """Return the result of a system, or of what ``fields`` say, with the study's settings."""
    design = study.plan.design
    provenance = Provenance(
        (*notes, *texts_of(design.remarks)),
        (*held_fixed, *design.held_fixed),
        study.plan.seed,
        study.settings,
        facts=study.facts,
    )
    return evaluation_result(
        provenance,
        metric=name,
        basis=basis,
        confidence_interval=interval,
        automatic=study.interval == "auto" if automatic is None else automatic,
        unit=design.unit,
        **fields,
    )
