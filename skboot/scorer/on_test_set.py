"""A method on test sets: every run predicts the same rows, evaluated as by `bootstrap_runs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.warnings import Note, Notes, collected, tell
from .._base.workers import Workers
from ..refit.samples import TrainingSamples
from ..refit.training import Record
from ..results import EvaluationResult, ResultTable
from ..results.runs_basis import SeveralRuns
from ..study.rows import Wanted
from ..study.run_results import evaluate_runs
from ..study.scores import evaluate
from .fit_call import FitCall
from .tested_runs import UsableRuns, runs_on_test, study_of_test, usable_runs
from .training_runs import TestSetRuns

_NO_COMPONENTS = dict.fromkeys(("training", "seed", "test", "interaction"), np.nan)


def results_on_tests(
    call: FitCall, runs: TestSetRuns, record: Mapping[str, Any]
) -> dict[Any, dict[str, EvaluationResult]]:
    """Evaluate the runs on every test set.

    Parameters
    ----------
    call : FitCall
    runs : TestSetRuns
    record : mapping
        Arguments of the fit as results hold them.

    Returns
    -------
    dict of dict of EvaluationResult
        By test set and metric.
    """
    find = UsableRuns.of if call.estimand == "system" else usable_runs
    usable = find(runs.samples, [runs.records])
    results: dict[Any, dict[str, EvaluationResult]] = {}
    notes: dict[Any, Notes] = {}
    strata = ("the number of training rows of each class",) if call.stratify else ()
    for k, name in enumerate(runs.tests.names):
        with collected() as notes[name]:
            found = _results(call, runs, k, usable)
        results[name] = {
            metric: one._with_provenance(
                notes=(*one.provenance.notes, *runs.samples.about_seeds),
                held_fixed=(*one.provenance.held_fixed, *strata),
                seed=runs.samples.seed,
                settings={**one.provenance.settings, **record},
            )
            for metric, one in found.items()
        }
    tell(*_with_names(notes))
    return results


def _with_names(notes: Mapping[Any, Notes]) -> list[Note]:
    """Return the notes of all test sets, those of some of them with the name of the set."""
    found = Notes()
    for name, own in notes.items():
        for note in own:
            is_of_all = all(note in others for others in notes.values())
            text = note.text if is_of_all else f"X_test[{name!r}]: {note.text}"
            found.add(note.kind, text)
    return found


def _results(
    call: FitCall, runs: TestSetRuns, k: int, usable: UsableRuns
) -> dict[str, EvaluationResult]:
    """Return results of all metrics for one test set, from the same resamples."""
    # The percentiles of all runs, an interval by name, are the pool's.
    pooled = call.estimand == "method" and call.interval == "percentile"
    wanted = Wanted(call.interval, call.confidence_level, Workers(call.n_jobs))
    study = study_of_test({"": runs}, k, usable, call.n_test_resamples, wanted)
    estimand = "pooled" if pooled else call.estimand
    calls, scores = runs_on_test({"": runs}, k, usable, study, estimand)
    if len(usable.sampled or usable.full) == 1:
        return evaluate(replace(study, scores=scores))
    return evaluate_runs({metric: own[""] for metric, own in calls.items()}, scores)


def attributes_of(
    found: Mapping[Any, Mapping[str, EvaluationResult]], single: bool
) -> dict[str, Any]:
    """Fitted attributes: of one result, or dicts by test set, by metric, or of both."""
    values: dict[str, Any] = {
        "result_": lambda one: one,
        "score_": lambda one: one.estimate,
        "confidence_interval_": lambda one: one.confidence_interval,
        "standard_error_": lambda one: one.standard_error,
        "variance_components_": lambda one: one.variance_components or dict(_NO_COMPONENTS),
    }
    attributes = {}
    for attribute, value in values.items():
        kind: Any = ResultTable if attribute == "result_" else dict
        by_set = {}
        for name, own in found.items():
            of_metric = kind({metric: value(one) for metric, one in own.items()})
            by_set[name] = next(iter(of_metric.values())) if single else of_metric
        attributes[attribute] = by_set[None] if list(by_set) == [None] else kind(by_set)
    return attributes


def runs_of(
    samples: TrainingSamples, records: Sequence[Record], result: EvaluationResult
) -> dict[str, NDArray[Any]]:
    """Return properties of each run, those on all rows first; scores are those of ``result``."""
    n_boot, n_seeds = samples.n_bootstrap_runs, samples.n_seeds
    order = [0, *range(n_boot + 1, len(records)), *range(1, n_boot + 1)]
    scores = np.full(len(records), np.nan)
    usable, basis = UsableRuns.of(samples, [records]), result.basis
    if not isinstance(basis, SeveralRuns):
        scores[0] = result.estimate
    elif usable.sampled:
        scores[usable.sampled] = basis.run_evidence.scores
        scores[usable.full] = basis.run_evidence.full_scores
    else:
        scores[usable.full] = basis.run_evidence.scores
    every = [records[run] for run in order]
    return {
        "sample": np.repeat(["full", "bootstrap"], [n_seeds, n_boot]),
        "training_sample": np.append(np.zeros(n_seeds, int), np.arange(n_boot) // n_seeds),
        "seed": np.append(np.arange(n_seeds), np.arange(n_boot) % n_seeds),
        "score": scores[order],
        "fit_time": np.array([one["fit_time"] for one in every], dtype=float),
        "failed": np.array([one["error"] is not None for one in every]),
        "n_convergence_warnings": np.array([one["n_convergence"] for one in every], dtype=int),
    }
