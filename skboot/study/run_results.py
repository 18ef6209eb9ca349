"""The engine of `bootstrap_runs`: from checked runs and a plan to results.

`evaluate_runs` scores every run on the same test resamples, splits the variance of the scores by
what it comes from, and makes the result of what was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.errors import Notes, tell, texts_of
from ..inference.automatic import degeneracy
from ..inference.distribution import BoundStatistic
from ..inference.evidence import Evidence
from ..inference.runs import (
    Components,
    ResampleNoise,
    RowNoise,
    RunsEvidence,
    RunVariance,
    UnitNoise,
    crossed_runs,
    least_test_variance,
    moments,
    over_runs_alone,
    runs_interval,
    trained_runs,
    within_samples,
)
from ..metrics.responses import of_reversed_scores
from ..metrics.statistic import Facts, Statistic
from ..results import EvaluationResult
from ..results.method_basis import RunsBasis, SystemOfRunsBasis
from .rows import Scores
from .run_scores import RunsCall, ScoredRuns, bootstrapped_runs, bound_runs
from .runs import Runs
from .study import chosen_interval, make_result, result_of

Floats = NDArray[np.float64]

# Number of runs, or of training samples, below which a note says that the variance between them is
# poorly known.
_FEW_RUNS = 10
# Share of runs that fail, and the chance from which a note says that none may be seen: under 29.
_RARE_FAILURE, _UNSEEN = 0.1, 0.05


def evaluate_runs(calls: Mapping[str, RunsCall], scores: Scores) -> dict[str, EvaluationResult]:
    """Evaluate all runs of one method by each metric, on the same test resamples.

    Parameters
    ----------
    calls : mapping of str to RunsCall
        By metric name: metrics may read other answers of the runs, to the same plan.
    scores : Scores
        Of one method.

    Returns
    -------
    dict of str to EvaluationResult
        By metric name.
    """
    bound = [
        bound_runs(calls[metric], metric, runs)
        for metric, by_method in scores.items()
        for runs in by_method.values()
    ]
    scored = zip(scores, bootstrapped_runs(bound), strict=True)
    return {metric: result_of_runs(calls[metric], metric, one) for metric, one in scored}


def refusal(estimand: str, varied: str, runs: Runs) -> str | None:
    """Return why the runs cannot answer for an estimand; None if they can."""
    if varied not in ("training", "both") or len(runs.rows) > runs.n_runs:
        return None
    return (
        f"The estimand {estimand!r} needs full_runs with varied={varied!r}: a bootstrap sample "
        "holds 63.2 % of the rows of the training set, so these runs are worse on average. Give "
        "full_runs=, the predictions of one or more runs on the whole training set, or use "
        "estimand='pooled', the spread of single runs. If each run had its own fresh training "
        "set, use varied='independent'."
    )


# ------------------------------------------------------------------ variance


def result_of_runs(call: RunsCall, name: str, scored: ScoredRuns) -> EvaluationResult:
    """Return the result of one method by one metric.

    Parameters
    ----------
    call : RunsCall
    name : str
        Of the metric.
    scored : ScoredRuns

    Returns
    -------
    EvaluationResult
    """
    scores, replicates, n_runs = scored.scores, scored.replicates, call.runs.n_runs
    sign = _zero_one_sign(scored.bound.subjects)
    refused = _refused(call, scores, replicates)
    noise: UnitNoise
    if scored.bound.row_values is not None:
        noise = RowNoise(scored.bound.row_values)
    else:
        defined = ~np.isnan(replicates).any(axis=0)
        noise = ResampleNoise(replicates[:, defined], call.study.plan.design.inflation)
    split = None if "components" in refused else _split(call, scores, noise, sign != 0)
    is_known = "method" not in refused and split is not None
    evidence = RunsEvidence(
        varied=call.varied,
        scores=scores[:n_runs],
        full_scores=scores[n_runs:],
        replicates=replicates[:n_runs],
        components=split.components if split else Components(*[np.nan] * 4),
        method=split.method if is_known and split else None,
        next_run=split.next_run if is_known and split else None,
        seeds=None if "t" in refused else over_runs_alone(scores[call.centre]),
        refused=refused,
        system=scored.system,
        n_test_units=call.study.plan.design.smallest_side,
        n_rows=call.study.plan.design.n_samples,
        bounds=scored.system.facts.bounds,
        zero_one_sign=sign,
        exact=scored.bound.row_values is not None,
    )
    if call.estimand == "system":
        return _result_of_system(call, scored, evidence)
    notes = _notes(call, evidence, split)
    return _result_over_runs(call, name, scored, evidence, notes)


def _zero_one_sign(subjects: list[BoundStatistic[Statistic]]) -> float:
    """Return 1 or -1 where every run's score is the mean of 0/1 values, or its negative; else 0."""
    proportions = [subject.statistic.proportion(subject.reduced) for subject in subjects]
    whole = all(p is not None and p.exact and p.scale == "identity" for p in proportions)
    return float(proportions[0].sign) if whole and proportions[0] is not None else 0.0


def _refused(
    call: RunsCall, scores: NDArray[np.float64], replicates: NDArray[np.float64]
) -> dict[str, str]:
    """Return why an estimand, the interval "t" or the components cannot be had."""
    refused = {}
    undefined = np.isnan(scores)
    if undefined.any() or np.count_nonzero(~np.isnan(replicates).any(axis=0)) < 2:
        reason = (
            f"The metric is undefined for {int(undefined.sum())} of {len(scores)} runs."
            if undefined.any()
            else "Fewer than two resamples gave a value for every run."
        )
        refused = dict.fromkeys(("components", "method", "next_run", "t"), reason)
    for estimand in ("method", "next_run"):
        if unanswered := refusal(estimand, call.varied, call.runs):
            refused[estimand] = unanswered
    if call.on_samples and (len(call.centre) < 2 or not call.has_full):
        refused["t"] = (
            "The interval 't' needs at least two runs on the whole training set that differ in "
            "their seed. Give them as full_runs=, or use 'components'."
        )
    return refused


def _split(
    call: RunsCall, scores: NDArray[np.float64], noise: UnitNoise, zero_one: bool
) -> RunVariance:
    """Return variance components, and what follows for the method and the next run."""
    test_df = call.study.plan.design.degrees_of_freedom
    options: dict[str, Any] = {"n_units": call.study.plan.design.smallest_side}
    if zero_one:
        options["floor"] = least_test_variance(call.study.plan.design.n_samples)
    if call.varied in ("seed", "independent"):
        source = "seed" if call.varied == "seed" else "training"
        runs = moments(scores, noise, call.samples)
        return crossed_runs(runs, test_df, source=source, **options)
    within = within_samples(scores, noise, call.samples)
    samples = moments(scores, noise, call.samples)
    # Without runs on the full list only the components are shown.
    full = moments(scores, noise, [[run] for run in call.centre])
    return trained_runs(samples, within, full, test_df, **options)


# ------------------------------------------------------------------ results


def _notes(call: RunsCall, evidence: RunsEvidence, split: RunVariance | None) -> Notes:
    """Return what a reader must know of the runs."""
    notes = Notes()
    n_samples = len(call.samples)
    if n_samples < _FEW_RUNS:
        what = "training samples" if call.on_samples else "runs"
        notes.add(
            "few",
            f"Only {n_samples} {what} (fewer than {_FEW_RUNS}): the variance between them is "
            "poorly estimated, and the interval is wide.",
        )
    unseen = (1 - _RARE_FAILURE) ** n_samples
    if unseen > _UNSEEN and call.estimand in ("method", "next_run"):
        notes.add(
            "advice",
            f"If one run in {1 / _RARE_FAILURE:.0f} failed, none of {n_samples} would in "
            f"{unseen:.0%} of such studies: no interval tells of failures that it has not seen.",
        )
    if call.estimand == "pooled":
        share = "a bootstrap sample holds 63.2 % of the training set"
        low = f", and is centred low, since {share}" if call.on_samples else ""
        notes.add(
            "advice",
            f"The pool shows the spread of single runs{low}. It is neither a confidence "
            "interval for the method nor a prediction interval for the next run.",
        )
    elif call.study.interval == "t":
        one_list = call.keeps_training_list or call.on_samples
        fixed = "the test rows and the training set" if one_list else "the test rows"
        notes.add(
            "advice",
            f"The t interval over the runs alone is conditional on {fixed}: over seeds it "
            "covered the mean of the method in 0 to 62 % of simulations.",
        )
    elif split is not None:
        _add_notes_of_components(notes, call, evidence, split)
    return notes


def _add_notes_of_components(
    notes: Notes, call: RunsCall, evidence: RunsEvidence, split: RunVariance
) -> None:
    """Add what a reader must know of the variance components."""
    same = call.varied == "seed" and np.all(evidence.scores == evidence.scores[0])
    no_seeds = call.varied == "both" and "seed" not in split.clipped
    if evidence.components.seed == 0 and (same or no_seeds):
        notes.add(
            "advice",
            "The seed component is 0: runs that differ only in their seed gave the same scores, "
            "as a method without randomness does. More seeds would add nothing.",
        )
    names = {"test": "test-unit", "seed": "seed", "training": "training"}
    for source in split.clipped:
        text = f"The {names[source]} component was estimated below 0 and is set to 0."
        notes.add("advice", text)
    if call.varied in ("training", "independent"):
        notes.add(
            "advice",
            "The training component includes the seed variance: no training sample was run with "
            "several seeds.",
        )
    if call.on_samples:
        notes.add(
            "advice",
            "The training component comes from bootstrap samples of one training set: measured "
            "slightly too large for most learners, too small for unsmooth ones such as "
            "1-nearest-neighbour.",
        )


def _result_of_system(
    call: RunsCall, scored: ScoredRuns, evidence: RunsEvidence
) -> EvaluationResult:
    """Return the result of the system, which holds the evidence of all runs too."""
    basis = SystemOfRunsBasis(scored.system, evidence)
    chosen = chosen_interval(call.of_system, scored.system)
    result = result_of(call.of_system, scored.bound.system, basis, chosen)
    return replace(result, runs=_table_of_runs(call, evidence))


def _result_over_runs(
    call: RunsCall,
    name: str,
    scored: ScoredRuns,
    evidence: RunsEvidence,
    notes: Notes,
) -> EvaluationResult:
    """Return the result of an estimand that is about more runs than one."""
    if "components" in evidence.refused and call.estimand in evidence.refused:
        must = "have a value for every run, and on two resamples or more"
        advice = "Leave such runs out, or take a metric that has a value on these rows."
        got = f"{name!r}. {evidence.refused['components'].rstrip('.')}"
        raise check.fail("metric", must, got, advice)
    chosen = runs_interval(
        evidence, call.estimand, call.study.interval, call.study.confidence_level
    )
    shown = _evidence_for(call, scored, evidence)
    table = _table_of_runs(call, evidence)
    tell(*(*notes, *chosen.notes))
    degenerate = degeneracy(chosen.interval)
    held_fixed = ["the training set" if call.keeps_training_list else "the settings of the method"]
    if call.study.interval == "t":
        held_fixed.append("the test rows")
    subject, rows = scored.bound.subjects[0], call.runs.rows[0]
    reading, columns = rows.notes_for(subject.statistic), rows.of(subject.statistic, None)
    naive = subject.statistic.naive(subject.reduced, columns)
    reading += of_reversed_scores(subject.statistic, columns, naive, chosen.interval)
    tell(*reading)
    return make_result(
        call.of_system,
        name,
        RunsBasis(shown, evidence),
        chosen.interval,
        (*texts_of((*chosen.notes, *notes, *reading)), *([degenerate] if degenerate else [])),
        n_samples=call.study.plan.design.n_samples,
        greater_is_better=subject.statistic.greater_is_better,
        naive_estimate=naive,
        estimand=call.estimand,
        automatic=call.study.interval == "auto",
        held_fixed=held_fixed,
        is_confidence_interval=call.estimand == "method",
        runs=table,
    )


def _table_of_runs(call: RunsCall, evidence: RunsEvidence) -> dict[str, Any]:
    """Properties of all runs, those on the full list last with training sample -1."""
    n_full = len(evidence.full_scores)
    return {
        "score": np.concatenate([evidence.scores, evidence.full_scores]),
        "training": np.concatenate([call.sample, np.full(n_full, -1, np.intp)]),
        "full_list": np.arange(len(evidence.scores) + n_full) >= len(evidence.scores)
        if call.on_samples
        else np.ones(len(evidence.scores), bool),
    }


def _evidence_for(call: RunsCall, scored: ScoredRuns, evidence: RunsEvidence) -> Evidence:
    """Return the estimate, replicates and standard error that the result of the estimand shows."""
    system = scored.system
    if call.estimand == "pooled":
        estimate, replicates = float(evidence.scores.mean()), evidence.replicates.ravel()
        standard_error = None
    else:
        spread = evidence.next_run if call.estimand == "next_run" else evidence.method
        if call.study.interval == "t":
            spread = evidence.seeds
        assert spread is not None
        estimate, standard_error = spread.centre, spread.standard_error
        replicates = scored.centre_replicates
    facts = Facts(system.facts.bounds)
    return system.of_other_values(estimate, replicates, facts, standard_error=standard_error)
