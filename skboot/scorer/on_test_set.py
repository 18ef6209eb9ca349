"""Methods on a test set: every run predicts the same test rows, evaluated as by `bootstrap_runs`.

Runs on the whole training list and on bootstrap samples of it, with several seeds each, separate
the variance due to the training list from those due to the seed and to the test rows. The rows left
out of a bootstrap sample are not used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _checks as check
from .._warnings import Note, Notes, collected, tell
from .._workers import Workers
from ..inference.intervals import FOR_ONE_SCORE
from ..inference.run_intervals import ESTIMANDS, check_method
from ..metrics.lookup import check_response
from ..refit.influence import ErrorFunction
from ..refit.samples import TrainingSamples
from ..refit.scoring import Needed, needed_of
from ..refit.training import (
    Answers,
    Job,
    Record,
    Scored,
    kept_on_tests,
    key_on_test,
)
from ..results import EvaluationResult, ResultTable
from ..results.runs_basis import SeveralRuns
from ..study.measured import Scoring, measured_by
from ..study.rows import Rows, Sampling, Wanted, rows_of
from ..study.run_results import evaluate_runs
from ..study.run_scores import RunsCall
from ..study.runs import Columns, checked_columns, checked_runs, training_samples
from ..study.scores import evaluate
from ..study.study import Study
from .held_out import HeldOutSets, name_in

_NO_COMPONENTS = dict.fromkeys(("training", "seed", "test", "interaction"), np.nan)


@dataclass(frozen=True, eq=False)
class Asked:
    """Checked arguments of the evaluation of runs on test sets.

    Attributes
    ----------
    estimand, interval : str
    confidence_level : float
    n_resamples : int
        Of each test set.
    n_jobs : int or None
    classes : ndarray or None
        Labels of the columns of probabilities.
    stratify : bool
        Whether class sizes of the training list are held fixed.
    record : dict
        Arguments of the call, for the result.
    """

    estimand: str
    interval: str
    confidence_level: float
    n_resamples: int
    n_jobs: int | None
    classes: NDArray[Any] | None
    stratify: bool
    record: dict[str, Any]

    @property
    def shown_estimand(self) -> str:
        """The estimand, where the percentiles of all runs, an interval by name, are the pool's."""
        pooled = self.estimand == "method" and self.interval == "percentile"
        return "pooled" if pooled else self.estimand


@dataclass(frozen=True, eq=False)
class KeptAnswers:
    """What is kept of a run for all metrics that read the same answers.

    Attributes
    ----------
    key : str
    needed : Needed
        By the first of these metrics.
    metrics : dict of str to ErrorFunction
        All of them.
    """

    key: str
    needed: Needed
    metrics: dict[str, ErrorFunction]

    def of(self, answers: Answers) -> NDArray[Any]:
        """Answers for the rows of a test set."""
        if self.needed.whole:
            return answers.probabilities
        return answers.scores(self.needed.methods, self.needed.positive)

    def keep(self, answers: Answers, scored: Scored) -> Mapping[str, Any]:
        """Answers by their key; a run fails by those that are no numbers or have no score."""
        found = np.asarray(self.of(answers))
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise ValueError("The answers for the test set hold NaN or infinity.")
        found = narrow(found)
        self.check_defined(answers.y, found)
        return {self.key: found}

    def check_defined(self, y: Any, found: NDArray[Any]) -> None:
        """Refuse answers that a metric has no value for."""
        for name, function in self.metrics.items():
            statistic = check_response(function.statistic, y, found)
            if statistic.of_row_values and statistic.response == "labels":
                # A mean over labels has a value whatever they are.
                continue
            if np.isnan(replace(function, statistic=statistic)(y, found)):
                raise ValueError(f"The metric {name!r} is undefined on the test set.")


def narrow(labels: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers in bytes, where they fit: all runs are kept."""
    if labels.dtype.kind not in "iu" or labels.size == 0:
        return labels
    if labels.min() < -128 or labels.max() > 127:
        return labels
    return labels.astype(np.int8)


# ------------------------------------------------------------------ arguments


def check_asked(
    estimand: str, interval: str, n_train_resamples: int, n_seeds: int, n_test_resamples: int
) -> None:
    """Refuse an estimand or interval that so many runs cannot give."""
    check.check_choice("estimand", estimand, ESTIMANDS)
    known = ["auto", "components", *FOR_ONE_SCORE]
    check.check_choice("interval", interval, known)
    check.check_count("n_train_resamples", n_train_resamples, 0)
    check.check_count("n_seeds", n_seeds, 1)
    check.check_count("n_test_resamples", n_test_resamples, 2)
    if n_train_resamples == 1:
        advice = "Use 0 to keep the training list fixed, or at least ten."
        raise check.fail("n_train_resamples", "be 0 or at least 2", "1", advice)
    if estimand == "system":
        if interval == "components":
            must = "be one of bootstrap_score's for the estimand 'system'"
            raise check.fail("interval", must, "'components'")
        return
    if n_train_resamples == 0 and n_seeds == 1:
        raise check.fail(
            "estimand",
            "be 'system' with n_train_resamples=0 and n_seeds=1",
            repr(estimand),
            "One run says nothing of other runs of the method: use estimand='system' for this "
            "trained model, or more seeds or training samples.",
        )
    # The pooled recipe goes by the name of its interval.
    if not (estimand == "method" and interval == "percentile"):
        check_method(estimand, interval)
    if interval == "t" and n_seeds == 1:
        must = "not be 't' with n_seeds=1"
        raise check.fail("interval", must, "'t'", "It is over the seeds: give several.")


def responses_of(
    scorers: Mapping[str, Any], classes: Any, several_outputs: bool, model: Any
) -> dict[str, KeptAnswers]:
    """Return the answers that each metric reads; metrics that read the same share them."""
    found: dict[str, KeptAnswers] = {}
    by_key: dict[str, KeptAnswers] = {}
    for name, scorer in scorers.items():
        needed = needed_of(name, scorer, classes, several_outputs)
        if needed is None:
            raise check.fail(
                "scoring",
                "be metric-based with a test set",
                f"the callable {name!r} of estimator, X and y",
                "Its answers cannot be drawn again: use a name, or make_scorer of a metric.",
            )
        method = next((own for own in needed.methods if hasattr(model, own)), "none")
        part = "all" if needed.whole else needed.positive
        key = method if method == "predict" else f"{method} {part}"
        found[name] = by_key.setdefault(key, KeptAnswers(key, needed, {}))
        found[name].metrics[name] = ErrorFunction(needed.statistic, 1.0, classes)
    return found


def first_record(
    job: Job,
    model: Any,
    fit_time: float,
    scorers: Mapping[str, Any],
    tests: HeldOutSets,
    answers_to_keep: Sequence[KeptAnswers],
) -> Record:
    """Return the record of the run on all rows; refuse metrics that cannot be had."""
    plain = replace(job, keep=[replace(answers, metrics={}).keep for answers in answers_to_keep])
    found = kept_on_tests(plain, model, None, job.loan)
    for k, rows in enumerate(tests.rows):
        with check.arguments_named({"y_true": name_in("y_test", tests.names[k])}):
            for response in answers_to_keep:
                answers = found[key_on_test(k, response.key)]
                labels = job.classes if answers.ndim == 2 else None
                named = {"": [("y_pred", Rows(rows.y, answers, None, labels))]}
                for name in response.metrics:
                    measured_by(Scoring({name: scorers[name]}, several=False), named)
                response.check_defined(rows.y, answers)
    return {"error": None, "fit_time": fit_time, "n_convergence": 0, **found}


# ------------------------------------------------------------------ results


def results_on_tests(
    asked: Asked,
    tests: HeldOutSets,
    samples: TrainingSamples,
    responses: Mapping[str, KeptAnswers],
    scorers: Mapping[str, Any],
    records: Sequence[Record],
) -> dict[Any, dict[str, EvaluationResult]]:
    """Evaluate the runs on every test set.

    Parameters
    ----------
    asked : Asked
    tests : HeldOutSets
    samples : TrainingSamples
    responses, scorers : dict by metric
    records : sequence of dict
        Of the first run on all rows, then of those of `TrainingSamples.runs_for_tests`.

    Returns
    -------
    dict of dict of EvaluationResult
        By test set and metric.
    """
    _check_enough(asked, samples, records)
    results: dict[Any, dict[str, EvaluationResult]] = {}
    notes: dict[Any, Notes] = {}
    strata = ("the number of training rows of each class",) if asked.stratify else ()
    for k, name in enumerate(tests.names):
        with collected() as notes[name]:
            found = _results(asked, tests, k, samples, responses, scorers, records)
        results[name] = {
            metric: one._with_provenance(
                held_fixed=(*one.provenance.held_fixed, *strata),
                seed=samples.seed,
                settings={**one.provenance.settings, **asked.record},
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


def _check_enough(asked: Asked, samples: TrainingSamples, records: Sequence[Record]) -> None:
    """Refuse a result of the method where too many runs failed."""
    if asked.estimand == "system":
        return
    good = _good(records)
    n_boot, n_seeds = samples.n_bootstrap_runs, samples.n_seeds
    left = {(run - 1) // n_seeds for run in good if 1 <= run <= n_boot} if n_boot else set(good)
    if len(left) < 2:
        few = "fewer than two runs succeeded"
        if n_boot:
            few = "runs succeeded on fewer than two training samples"
        first = next(one["error"] for one in records if one["error"] is not None)
        raise ValueError(f"BootstrapScorer: {few}. First error: {first}")


def _good(records: Sequence[Record]) -> list[int]:
    return [run for run, one in enumerate(records) if one["error"] is None]


def _results(
    asked: Asked,
    tests: HeldOutSets,
    k: int,
    samples: TrainingSamples,
    responses: Mapping[str, KeptAnswers],
    scorers: Mapping[str, Any],
    records: Sequence[Record],
) -> dict[str, EvaluationResult]:
    """Return results and warnings of all metrics for one test set, from the same resamples."""
    good = _good(records)
    y_test = narrow(tests.rows[k].y)
    sampling = Sampling(
        groups=tests.groups[k],
        n_resamples=asked.n_resamples,
        random_state=samples.test_resamples(),
    )
    wanted = Wanted(asked.interval, asked.confidence_level, Workers(asked.n_jobs))
    study = Study.of_rows(sampling, len(y_test), len(good), wanted)
    sampled, full = _sampled_and_full(samples, good)
    several = len(sampled or full) > 1
    calls: dict[str, Any] = {}
    scores: dict[str, Any] = {}
    for key in dict.fromkeys(response.key for response in responses.values()):
        metrics = {name: scorers[name] for name in scorers if responses[name].key == key}
        answers = [None if one["error"] else one[key_on_test(k, key)] for one in records]
        columns = checked_columns(y_test, None, _labels(asked, answers))
        if several:
            of_runs = _call_of_runs(asked, study, columns, samples, answers)
            rows = of_runs.runs.rows
            calls |= dict.fromkeys(metrics, of_runs)
        else:
            [answer, *_] = answers
            assert answer is not None
            predicted = check.check_rows("y_pred", answer)
            rows = [rows_of(columns.truth, predicted, None, columns.given_labels)]
        named = {"": [("y_pred", one) for one in rows]}
        scores |= measured_by(Scoring(metrics, several=False), named)[0]
    in_order = {name: scores[name] for name in scorers}
    return evaluate_runs(calls, in_order) if several else evaluate(replace(study, scores=in_order))


def _sampled_and_full(samples: TrainingSamples, good: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the runs on bootstrap samples, and those on all rows."""
    n_boot = samples.n_bootstrap_runs
    sampled = [run for run in good if 1 <= run <= n_boot]
    return sampled, [run for run in good if run == 0 or run > n_boot]


def _call_of_runs(
    asked: Asked,
    study: Study,
    columns: Columns,
    samples: TrainingSamples,
    answers: Sequence[NDArray[Any] | None],
) -> RunsCall:
    """Return the evaluation of several runs by the answers that some metrics read."""
    good = [run for run, own in enumerate(answers) if own is not None]
    sampled, full = _sampled_and_full(samples, good)
    varied, training = "seed", None
    if sampled:
        varied = "both" if samples.n_seeds > 1 else "training"
    if varied == "both":
        training = [(run - 1) // samples.n_seeds for run in sampled]
    predicted = [answers[run] for run in sampled or full]
    on_full = [answers[run] for run in full] if sampled else None
    runs = checked_runs(columns, predicted, on_full, varied)
    return RunsCall(
        study,
        runs,
        training_samples(training, varied, runs.n_runs),
        varied,
        asked.shown_estimand,
        # The estimator that is kept is the first run on the whole list.
        system_run=runs.n_runs if sampled else 0,
    )


def _labels(asked: Asked, answers: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """Return the labels of the columns of probabilities; None for other answers."""
    assert answers[0] is not None
    return asked.classes if answers[0].ndim == 2 else None


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
    good, basis = _good(records), result.basis
    full = [run for run in good if run == 0 or run > n_boot]
    sampled = [run for run in good if 1 <= run <= n_boot]
    if not isinstance(basis, SeveralRuns):
        scores[0] = result.estimate
    elif sampled:
        scores[sampled] = basis.run_evidence.scores
        scores[full] = basis.run_evidence.full_scores
    else:
        scores[full] = basis.run_evidence.scores
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
