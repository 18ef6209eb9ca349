"""A method on test sets: every run predicts the same rows, evaluated as by `bootstrap_runs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.errors import Note, Notes, collected, refuse, tell
from .._base.work import Workers
from ..refit.samples import TrainingSamples
from ..refit.training import Record, key_on_test
from ..results import EvaluationResult, ResultTable
from ..results.method_basis import SeveralRuns
from ..study.measured import Scores, Scoring, measured_by
from ..study.rows import Sampling, Wanted
from ..study.runs import Columns, RunsCall, evaluate_runs, paired_runs
from ..study.scores import evaluate
from ..study.study import Study
from .fit import FitCall, TestSetRuns, narrow

# Runs of methods on a test set: who succeeded, what each was trained on, and its rows.
#
# Runs on the whole training set and on bootstrap samples of it, with several seeds each, separate
# the variance due to the training set from those due to the seed and to the test rows. The rows
# left
# out of a bootstrap sample are not used.


@dataclass(frozen=True, eq=False)
class UsableRuns:
    """The runs that succeeded with every estimator.

    Attributes
    ----------
    sampled, full : list of int
        Numbers of those on bootstrap samples, and of those on all rows.
    n_seeds : int
        Runs of each sample.
    """

    sampled: list[int]
    full: list[int]
    n_seeds: int

    @classmethod
    def of(cls, samples: TrainingSamples, each: Sequence[Sequence[Record]]) -> UsableRuns:
        """Find them in the records of each estimator."""
        good = [
            run
            for run, records in enumerate(zip(*each, strict=True))
            if all(record["error"] is None for record in records)
        ]
        is_sampled = [1 <= run <= samples.n_bootstrap_runs for run in good]
        return cls(
            [run for run, own in zip(good, is_sampled, strict=True) if own],
            [run for run, own in zip(good, is_sampled, strict=True) if not own],
            samples.n_seeds,
        )

    @property
    def varied(self) -> str:
        """In what the runs differ, as `skboot.bootstrap_runs` has it."""
        if not self.sampled:
            return "seed"
        return "both" if self.n_seeds > 1 else "training"

    @property
    def sample(self) -> NDArray[np.intp]:
        """Number of the training sample of each run, (n_runs,)."""
        if not self.sampled:
            return np.zeros(len(self.full), dtype=np.intp)
        of_each = (np.array(self.sampled) - 1) // self.n_seeds
        return np.unique(of_each, return_inverse=True)[1]


def usable_runs(samples: TrainingSamples, each: Sequence[Sequence[Record]]) -> UsableRuns:
    """Return the runs that succeeded with every estimator; refuse too few for a method."""
    found = UsableRuns.of(samples, each)
    on_samples = samples.n_bootstrap_runs > 0
    n_left = len(set(found.sample.tolist())) if found.sampled else 0
    if (n_left if on_samples else len(found.full)) < 2:
        what = "training samples" if on_samples else "runs"
        by = " by every estimator" if len(each) > 1 else ""
        errors = (record["error"] for records in each for record in records)
        first = next(error for error in errors if error is not None)
        raise refuse(f"fewer than two {what} were usable{by}. First error: {first}")
    return found


def study_of_test(
    runs: Mapping[str, TestSetRuns], k: int, usable: UsableRuns, n_resamples: int, wanted: Wanted
) -> Study:
    """Return the study of a test set, by its number: the same resamples for all methods."""
    own = next(iter(runs.values()))
    sampling = Sampling(
        groups=own.tests.groups[k],
        # Metrics that do not all weigh rows share a plan of rows that count alike.
        sample_weight=own.tests.weights[k] if own.weighing == set(own.scorers) else None,
        n_resamples=n_resamples,
        random_state=own.samples.test_resamples(),
    )
    n_series = (len(usable.sampled) + len(usable.full)) * len(runs)
    return Study.of_rows(sampling, len(own.tests.rows[k].y), n_series, wanted)


def runs_on_test(
    runs: Mapping[str, TestSetRuns],
    k: int,
    usable: UsableRuns,
    study: Study,
    estimand: str = "method",
) -> tuple[dict[str, dict[str, RunsCall]], Scores]:
    """Return the runs of each method on a test set, and their scores, by metric.

    Parameters
    ----------
    runs : mapping of str to TestSetRuns
        By method.
    k : int
        Number of the test set.
    usable : UsableRuns
    study : Study
        Of the test set.
    estimand : str
        Of each method by itself.

    Returns
    -------
    calls : dict of dict of RunsCall
        By metric and method; metrics that read the same answers share theirs.
    scores : Scores
    """
    scorers = next(iter(runs.values())).scorers
    weighing = next(iter(runs.values())).weighing
    by_answers: dict[tuple[bool, tuple[str, ...]], list[str]] = {}
    for metric in scorers:
        keys = tuple(own.responses[metric].key for own in runs.values())
        by_answers.setdefault((metric in weighing, keys), []).append(metric)
    calls: dict[str, dict[str, RunsCall]] = {}
    scores: dict[str, Any] = {}
    for (is_weighted, keys), metrics in by_answers.items():
        of_each = {
            name: _runs_call(own, k, key, is_weighted, usable, study, estimand)
            for (name, own), key in zip(runs.items(), keys, strict=True)
        }
        rows = {name: [("y_pred", one) for one in own.runs.rows] for name, own in of_each.items()}
        scoring = Scoring({metric: scorers[metric] for metric in metrics}, several=False)
        scores |= measured_by(scoring, rows)[0]
        calls |= dict.fromkeys(metrics, of_each)
    return calls, {metric: scores[metric] for metric in scorers}


def _runs_call(
    own: TestSetRuns,
    k: int,
    key: str,
    is_weighted: bool,
    usable: UsableRuns,
    study: Study,
    estimand: str,
) -> RunsCall:
    """Return the runs of a method by the answers that some metrics read."""
    weights = own.tests.weights[k] if is_weighted else None
    columns = Columns(narrow(own.tests.rows[k].y), weights, None)
    full = [own.records[run][key_on_test(k, key)] for run in usable.full]
    sampled = [own.records[run][key_on_test(k, key)] for run in usable.sampled]
    if full[0].ndim == 2:
        columns = replace(columns, labels=own.classes)
    runs = paired_runs(columns, sampled, full) if sampled else paired_runs(columns, full, [])
    return RunsCall(
        study,
        runs,
        usable.sample,
        usable.varied,
        estimand,
        # The estimator that is kept is the first run on the whole list.
        system_run=len(sampled),
    )


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
