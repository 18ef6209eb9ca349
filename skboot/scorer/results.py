"""From the runs of a fit to results and fitted attributes.

On the rows left out `result_of` makes the result of a method's error by each metric. On test sets
every run predicts the same rows, and is evaluated as by `skboot.bootstrap_runs`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.errors import Note, Notes, collected, refuse, tell, texts_of
from .._base.work import Workers
from ..inference._tuning import FEW_GROUPS
from ..inference.automatic import IntervalWithNotes
from ..inference.evidence import ConfidenceInterval, DrawnUnits, Evidence
from ..method_error.prediction_error import MethodErrorSummary, method_interval
from ..metrics.statistic import Facts
from ..refit.estimates import NO_COMPONENTS, MethodError
from ..refit.run_metrics import LabelRunMetric, LossRunMetric, RunMetric, RunRecords, ValueRunMetric
from ..refit.samples import TEST_RESAMPLES, TrainingSamples, stream
from ..refit.training import Record, key_on_test
from ..results import EvaluationResult, ResultTable, wording
from ..results.basis import ScoresBasis
from ..results.method_basis import MethodBasis, SeveralRuns
from ..results.result import Provenance, evaluation_result
from ..results.table import Entry, leaves
from ..study.rows import IntervalOptions, Sampling, Scores, Scoring, measured_by
from ..study.runs import RunsCall, SharedColumns, evaluate_runs, paired_runs
from ..study.study import Study, evaluate
from .call import FitCall
from .fit import OutOfBagRuns, TestSetRuns, narrow

# Rows of the rarest class up to which every interval of a method was measured to be unreliable.
_SMALL_CLASS = 20

_SMALLER_SAMPLES = (
    "A bootstrap sample holds 63.2% of the distinct rows, so that the out-of-bag score is that of "
    "a method trained on less data: low for most methods."
)
_NO_INTERVAL = "No interval of the optimism-corrected score is known; use another strategy for one."

# Parameters that a result keeps.
_RECORDED = (
    "strategy",
    "n_train_resamples",
    "n_cv_repeats",
    "n_seeds",
    "interval",
    "confidence_level",
    "stratify",
    "inner_cv",
)
_RECORDED_WITH_TEST = (
    *(name for name in _RECORDED if name not in ("strategy", "n_cv_repeats")),
    "n_test_resamples",
    "estimand",
)

# Attributes that a fit may leave without, and that are then deleted.
FITTED = (
    "result_",
    "score_",
    "confidence_interval_",
    "standard_error_",
    "variance_components_",
    "runs_",
    "resubstitution_score_",
    "oob_score_",
    "point632_score_",
    "point632_plus_score_",
    "no_information_score_",
    "relative_overfitting_rate_",
    "weight_",
    "prediction_instability_",
)

# Points of a method's error that are attributes.
_SCORES = {
    "resubstitution_score_": "resubstitution",
    "oob_score_": "oob",
    "point632_score_": "point632",
    "point632_plus_score_": "point632_plus",
    "no_information_score_": "no_information_rate",
}

# Metrics that keep the answers of rows, the most telling first.
_KEEP_ANSWERS: dict[str, type[RunMetric]] = {
    "probability": LossRunMetric,
    "value": ValueRunMetric,
    "label": LabelRunMetric,
}
# Tails of the models' answers for a row that its range leaves out.
_TAILS = (0.025, 0.975)


def arguments_of(call: FitCall, estimator: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of the call that a result keeps."""
    return {"estimator": repr(estimator)} | {name: getattr(call, name) for name in names}


def score_lines(result: EvaluationResult | ResultTable) -> list[str]:
    """Return a line for each score, after its name where the metric does not say it."""
    if isinstance(result, EvaluationResult):
        return [wording.short(result)]
    lines = []
    for path, score in leaves(result):
        assert isinstance(score, EvaluationResult)
        name = Entry(path, score).name
        lines.append(("" if name == score.metric else f"{name}: ") + wording.short(score))
    return lines


def attributes_of(call: FitCall, estimator: Any, out_of_bag_runs: OutOfBagRuns) -> dict[str, Any]:
    """Fitted attributes of a fit without a test set, and tell its cautions."""
    by_name: dict[str, dict[str, Any]] = {}
    cautions: dict[str, list[str]] = {}
    for method_error in out_of_bag_runs.errors:
        prediction_error = method_error.prediction_error
        result, own_cautions = result_of(call, estimator, out_of_bag_runs.run_records, method_error)
        for sentence in own_cautions:
            cautions.setdefault(sentence, []).append(method_error.metric.name)
        attributes = {
            "result_": result,
            "score_": result.estimate,
            "confidence_interval_": result.confidence_interval,
            "standard_error_": result.standard_error,
            "relative_overfitting_rate_": np.nan,
            "weight_": np.nan,
            "variance_components_": dict(method_error.components),
        }
        for attribute, name in _SCORES.items():
            attributes[attribute] = (
                np.nan
                if prediction_error is None
                else method_error.metric.score(float(getattr(prediction_error, name)))
            )
        if prediction_error is not None:
            rate = prediction_error.relative_overfitting_rate
            attributes |= {"relative_overfitting_rate_": rate, "weight_": prediction_error.weight}
        by_name[method_error.metric.name] = attributes
    runs_ = columns_of_runs(out_of_bag_runs.run_records, out_of_bag_runs.errors[0])
    instability = instability_of(out_of_bag_runs.run_records, out_of_bag_runs.errors)
    # Each caution once, with the names of the metrics where several were asked for.
    for sentence, names in cautions.items():
        tell(
            Note(
                "caution", sentence if out_of_bag_runs.single else f"{', '.join(names)}: {sentence}"
            )
        )
    fitted: dict[str, Any] = {"runs_": runs_, "prediction_instability_": instability}
    for attribute in attributes:
        values: Any = {name: of_metric[attribute] for name, of_metric in by_name.items()}
        if attribute == "result_":
            values = ResultTable(values)
        fitted[attribute] = next(iter(values.values())) if out_of_bag_runs.single else values
    return fitted


def columns_of_runs(run_records: RunRecords, method_error: MethodError) -> dict[str, NDArray[Any]]:
    """Return a column per property of the runs: on all rows, on bootstrap samples, on folds."""
    samples, n_full = run_records.samples, len(run_records.full_records)
    n_boot, n_folds = (
        samples.n_bootstrap_runs,
        len(run_records.sample_records) - samples.n_bootstrap_runs,
    )
    all_records = [*run_records.full_records, *run_records.sample_records]
    scores = np.full(len(all_records), np.nan)
    scores[:n_full] = method_error.metric.score(method_error.full_errors)
    scores[n_full : n_full + n_boot] = method_error.metric.score(method_error.run_errors)
    sample = np.concatenate(
        [
            np.zeros(n_full, dtype=int),
            np.arange(n_boot) // samples.n_seeds,
            np.arange(n_folds) // samples.n_seeds,
        ]
    )
    return {
        "sample": np.repeat(["full", "bootstrap", "fold"], [n_full, n_boot, n_folds]),
        "training_sample": sample,
        "seed": np.concatenate([np.arange(n_full), np.arange(n_boot + n_folds) % samples.n_seeds]),
        "score": scores,
        **_columns_of_records(all_records),
    }


def _columns_of_records(records: Sequence[Record]) -> dict[str, NDArray[Any]]:
    """Return the properties of runs that their records hold."""
    return {
        "fit_time": np.array([record["fit_time"] for record in records], dtype=float),
        "failed": np.array([record["failure"] is not None for record in records]),
        "n_convergence_warnings": np.array(
            [record["n_convergence"] for record in records], dtype=int
        ),
    }


def instability_of(
    run_records: RunRecords, errors: Sequence[MethodError]
) -> dict[str, NDArray[Any]] | None:
    """Spread of the answers for each row over the models that left it out.

    Parameters
    ----------
    run_records : RunRecords
    errors : sequence of MethodError

    Returns
    -------
    dict or None
        As the attribute ``prediction_instability_``; None where no metric keeps the one answer of
        each row.

    Notes
    -----
    Riley and Collins (2023) take the answers of all models for all rows, those that a model was
    trained on included, which are nearer to the answers of the model of all rows.
    """
    y = run_records.target.y
    # What is kept of the answers of rows, and under which key, the most telling first.
    candidates = (
        (kind, getattr(error.metric, "probability_key", error.metric.key), error.metric)
        for kind, kind_of_metric in _KEEP_ANSWERS.items()
        for error in errors
        if isinstance(error.metric, kind_of_metric)
    )
    kind, key, metric = next(
        (candidate for candidate in candidates if candidate[1] is not None), ("", "", None)
    )
    full: Any = run_records.full_records[0].get(key)
    if full is None or (y is not None and y.ndim > 1):
        return None
    blocks = []
    for rows, data, outside in run_records.by_rows(key):
        n_models = outside.sum(axis=0)
        gaps = data != full[rows] if kind == "label" else np.abs(data - full[rows])
        # Run after run, so that the sum of a row does not depend on the rows beside it.
        sums = reduce(np.add, np.multiply(gaps, outside, dtype=float))
        difference = np.where(n_models > 0, sums / np.maximum(n_models, 1), np.nan)
        low, high = np.full((2, len(sums)), np.nan)
        for number in np.unique(n_models[n_models > 0]) if kind != "label" else ():
            of_number = n_models == number
            answers = data.T[of_number][outside.T[of_number]].reshape(-1, number)
            low[of_number], high[of_number] = np.quantile(answers, _TAILS, axis=1)
        blocks.append((n_models, difference, low, high))
    if not blocks:
        return None
    names = ("n_models", "difference", *(() if kind == "label" else ("low", "high")))
    columns = dict(zip(names, map(np.concatenate, zip(*blocks, strict=True)), strict=False))
    return {kind: metric.labels[full] if isinstance(metric, LabelRunMetric) else full, **columns}


def result_of(
    call: FitCall, estimator: Any, run_records: RunRecords, method_error: MethodError
) -> tuple[EvaluationResult, tuple[str, ...]]:
    """Return the result of a method by one metric, and its cautions."""
    metric, level = method_error.metric, call.confidence_level
    summary = None
    interval = ConfidenceInterval(np.nan, np.nan, level, call.interval)
    notes, cautions = list(method_error.notes), tuple[str, ...]()
    if method_error.prediction_error is not None:
        summary = MethodErrorSummary(
            call.strategy,
            metric.sign,
            method_error.optimism_corrected,
            method_error.prediction_error._summary(),
        )
        interval_made = method_interval(summary, call.interval, level)
        interval, cautions = (
            interval_made.interval,
            _cautions(run_records, summary, interval_made, metric),
        )
        notes = [
            *cautions,
            *(text for text in texts_of(interval_made.notes) if text not in cautions),
            *notes,
        ]
    if method_error.reason:
        notes.insert(0, f"The score is undefined: {method_error.reason}.")
    if call.strategy == "oob":
        notes.append(_SMALLER_SAMPLES)
    if metric.is_weighted:
        notes.append("Rows are weighted by sample_weight, in the estimate and in the interval.")
    notes += run_records.samples.about_seeds
    # Errors are minus the score, or the score itself where smaller is better; so are their bounds.
    low, high = metric.bounds
    words = run_records.target.words
    evidence = Evidence(
        estimate=np.nan if summary is None else metric.score(summary.point),
        replicates=metric.score(method_error.run_errors),
        drawn=DrawnUnits(words.kind, (run_records.n_units,), named=words.named),
        facts=Facts((0.0 - high, 0.0 - low) if metric.sign > 0 else (low, high)),
        standard_error=np.nan if summary is None else summary.standard_error_for(call.interval),
    )
    fixed = ("the number of training rows of each class",) if call.stratify else ()
    result = evaluation_result(
        Provenance(
            tuple(notes), fixed, run_records.samples.seed, arguments_of(call, estimator, _RECORDED)
        ),
        metric=metric.name,
        estimand="method",
        basis=ScoresBasis(evidence) if summary is None else MethodBasis(evidence, summary),
        confidence_interval=interval,
        automatic=call.interval == "auto",
        n_samples=run_records.n_rows,
        unit=words.unit,
        greater_is_better=metric.sign > 0,
        runs=columns_of_runs(run_records, method_error),
    )
    return result, cautions


def _cautions(
    run_records: RunRecords,
    summary: MethodErrorSummary,
    interval: IntervalWithNotes,
    metric: RunMetric,
) -> tuple[str, ...]:
    """Return why this interval may be unreliable."""
    words = run_records.target.words
    cautions = [note.text for note in interval.notes if note.is_warning]
    statistic: Any = getattr(metric, "statistic", None)
    truth = run_records.target.y
    if hasattr(statistic, "rows_that_vary") and truth is not None and truth.ndim == 1:
        # What the score is divided by, its variance, is known from the truth alone.
        number, few_rows = statistic.rows_that_vary((truth - np.mean(truth)) ** 2)
        if number < few_rows:
            cautions.append(
                f"About {min(round(number), math.ceil(few_rows) - 1)} of the {len(truth)} rows "
                f"decide the variance of the truth (fewer than {few_rows:.0f}): expect less "
                "coverage than stated."
            )
    rarest = run_records.target.smallest_class
    if rarest is not None and rarest <= _SMALL_CLASS and not np.isnan(interval.interval.low):
        cautions.append(
            f"The smallest class has {rarest} {words.unit}{'s' * (rarest > 1)} ({_SMALL_CLASS} or "
            "fewer): expect less coverage than stated."
        )
    if run_records.target.unit is not None and run_records.n_units < FEW_GROUPS:
        cautions.append(
            f"Only {run_records.n_units} {words.unit}s were resampled (fewer than {FEW_GROUPS}): "
            "expect less coverage than stated."
        )
    if summary.strategy == "cv-bootstrap" and summary.prediction_error.cv is None:
        cautions.append(
            "In every repeat of cross-validation a fit failed or the metric was undefined, as "
            "precision is without positive decisions: the score is undefined."
        )
    return tuple(cautions)


# ------------------------------------------------------------------ on test sets
# Runs on the whole training set and on bootstrap samples of it, with several seeds each, separate
# the variance due to the training set from those due to the seed and to the test rows. The rows
# left out of a bootstrap sample are not used.


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
    def of(cls, samples: TrainingSamples, of_estimators: Sequence[Sequence[Record]]) -> UsableRuns:
        """Find them in the records of each estimator."""
        good = [
            run
            for run, records in enumerate(zip(*of_estimators, strict=True))
            if all(record["failure"] is None for record in records)
        ]
        is_sampled = [1 <= run <= samples.n_bootstrap_runs for run in good]
        return cls(
            [run for run, on_sample in zip(good, is_sampled, strict=True) if on_sample],
            [run for run, on_sample in zip(good, is_sampled, strict=True) if not on_sample],
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


def usable_runs(samples: TrainingSamples, of_estimators: Sequence[Sequence[Record]]) -> UsableRuns:
    """Return the runs that succeeded with every estimator; refuse too few for a method."""
    usable = UsableRuns.of(samples, of_estimators)
    on_samples = samples.n_bootstrap_runs > 0
    n_left = len(set(usable.sample.tolist())) if usable.sampled else 0
    if (n_left if on_samples else len(usable.full)) < 2:
        noun = "training samples" if on_samples else "runs"
        by = " by every estimator" if len(of_estimators) > 1 else ""
        failures = (record["failure"] for records in of_estimators for record in records)
        first_failure = next(failure for failure in failures if failure is not None)
        raise refuse(f"fewer than two {noun} were usable{by}. First error: {first_failure}")
    return usable


def study_of_test(
    test_set_runs: Mapping[str, TestSetRuns],
    k: int,
    usable: UsableRuns,
    n_resamples: int,
    score_options: IntervalOptions,
) -> Study:
    """Return the study of a test set, by its number: the same resamples for all methods."""
    of_method = next(iter(test_set_runs.values()))
    sampling = Sampling(
        groups=of_method.tests.groups[k],
        # Metrics that do not all weigh rows share a plan of rows that count alike.
        sample_weight=of_method.tests.weights[k]
        if of_method.weighted_metrics == set(of_method.scorers)
        else None,
        n_resamples=n_resamples,
        random_state=stream(of_method.samples.seed, TEST_RESAMPLES),
    )
    n_series = (len(usable.sampled) + len(usable.full)) * len(test_set_runs)
    return Study.of_rows(sampling, len(of_method.tests.rows[k].y), n_series, score_options)


def runs_on_test(
    test_set_runs: Mapping[str, TestSetRuns],
    k: int,
    usable: UsableRuns,
    study: Study,
    estimand: str = "method",
) -> tuple[dict[str, dict[str, RunsCall]], Scores]:
    """Return the runs of each method on a test set, and their scores, by metric.

    Parameters
    ----------
    test_set_runs : mapping of str to TestSetRuns
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
    scorers = next(iter(test_set_runs.values())).scorers
    weighing = next(iter(test_set_runs.values())).weighted_metrics
    by_answers: dict[tuple[bool, tuple[str, ...]], list[str]] = {}
    for metric in scorers:
        keys = tuple(of_method.responses[metric].key for of_method in test_set_runs.values())
        by_answers.setdefault((metric in weighing, keys), []).append(metric)
    calls: dict[str, dict[str, RunsCall]] = {}
    scores: dict[str, Any] = {}
    for (is_weighted, keys), metrics in by_answers.items():
        call_of_method = {}
        for (name, of_method), key in zip(test_set_runs.items(), keys, strict=True):
            weights = of_method.tests.weights[k] if is_weighted else None
            columns = SharedColumns(narrow(of_method.tests.rows[k].y), weights, None)
            full = [of_method.records[run][key_on_test(k, key)] for run in usable.full]
            sampled = [of_method.records[run][key_on_test(k, key)] for run in usable.sampled]
            if full[0].ndim == 2:
                columns = replace(columns, labels=of_method.classes)
            paired = paired_runs(columns, sampled or full, full if sampled else [])
            # The estimator that is kept is the first run on the whole list.
            call_of_method[name] = RunsCall(
                study,
                paired,
                usable.sample,
                usable.varied,
                estimand,
                system_run=len(sampled),
            )
        rows = {
            name: [replace(run, argument="y_pred") for run in call.runs.rows]
            for name, call in call_of_method.items()
        }
        scoring = Scoring({metric: scorers[metric] for metric in metrics}, several=False)
        scores |= measured_by(scoring, rows)[0]
        calls |= dict.fromkeys(metrics, call_of_method)
    return calls, {metric: scores[metric] for metric in scorers}


def attributes_on_tests(
    call: FitCall, estimator: Any, test_set_runs: TestSetRuns
) -> dict[str, Any]:
    """Fitted attributes: of one result, or dicts by test set, by metric, or of both; tell notes."""
    record = arguments_of(call, estimator, _RECORDED_WITH_TEST)
    find = UsableRuns.of if call.estimand == "system" else usable_runs
    usable = find(test_set_runs.samples, [test_set_runs.records])
    # The percentiles of all runs, an interval by name, are the pool's.
    pooled = call.estimand == "method" and call.interval == "percentile"
    estimand = "pooled" if pooled else call.estimand
    score_options = IntervalOptions(
        interval=call.interval,
        confidence_level=call.confidence_level,
        workers=Workers(call.n_jobs),
    )
    strata = ("the number of training rows of each class",) if call.stratify else ()
    results: dict[Any, dict[str, EvaluationResult]] = {}
    notes: dict[Any, Notes] = {}
    for k, set_name in enumerate(test_set_runs.tests.names):
        # Results of all metrics from the same resamples.
        with collected() as notes[set_name]:
            study = study_of_test(
                {"": test_set_runs}, k, usable, call.n_test_resamples, score_options
            )
            calls, scores = runs_on_test({"": test_set_runs}, k, usable, study, estimand)
            if len(usable.sampled or usable.full) == 1:
                of_set = evaluate(replace(study, scores=scores))
            else:
                of_set = evaluate_runs(
                    {metric: by_metric[""] for metric, by_metric in calls.items()}, scores
                )
        results[set_name] = {
            metric: result._with_provenance(
                notes=(*result._provenance.notes, *test_set_runs.samples.about_seeds),
                held_fixed=(*result._provenance.held_fixed, *strata),
                seed=test_set_runs.samples.seed,
                settings={**result._provenance.settings, **record},
            )
            for metric, result in of_set.items()
        }
    # The notes of all test sets, those of some of them with the name of the set.
    notes_of_sets = Notes()
    for set_name, own_notes in notes.items():
        for note in own_notes:
            is_of_all = all(note in notes_of_set for notes_of_set in notes.values())
            notes_of_sets.add(
                note.kind, note.text if is_of_all else f"X_test[{set_name!r}]: {note.text}"
            )
    tell(*notes_of_sets)
    first_result = next(iter(next(iter(results.values())).values()))
    attributes = {"runs_": _columns_of_tested_runs(test_set_runs, first_result)}
    values: dict[str, Any] = {
        "result_": lambda result: result,
        "score_": lambda result: result.estimate,
        "confidence_interval_": lambda result: result.confidence_interval,
        "standard_error_": lambda result: result.standard_error,
        "variance_components_": lambda result: result.variance_components or dict(NO_COMPONENTS),
    }
    for attribute, value in values.items():
        kind: Any = ResultTable if attribute == "result_" else dict
        by_set = {}
        for set_name, by_metric in results.items():
            of_metric = kind({metric: value(result) for metric, result in by_metric.items()})
            by_set[set_name] = next(iter(of_metric.values())) if test_set_runs.single else of_metric
        attributes[attribute] = by_set[None] if list(by_set) == [None] else kind(by_set)
    return attributes


def _columns_of_tested_runs(
    test_set_runs: TestSetRuns, result: EvaluationResult
) -> dict[str, NDArray[Any]]:
    """Return properties of each run, those on all rows first; scores are those of ``result``."""
    samples, records = test_set_runs.samples, test_set_runs.records
    n_boot, n_seeds = samples.n_bootstrap_runs, samples.n_seeds
    order = [0, *range(n_boot + 1, len(records)), *range(1, n_boot + 1)]
    scores = np.full(len(records), np.nan)
    usable, basis = UsableRuns.of(samples, [records]), result._basis
    if not isinstance(basis, SeveralRuns):
        scores[0] = result.estimate
    elif usable.sampled:
        scores[usable.sampled] = basis.run_evidence.scores
        scores[usable.full] = basis.run_evidence.full_scores
    else:
        scores[usable.full] = basis.run_evidence.scores
    return {
        "sample": np.repeat(["full", "bootstrap"], [n_seeds, n_boot]),
        "training_sample": np.append(np.zeros(n_seeds, int), np.arange(n_boot) // n_seeds),
        "seed": np.append(np.arange(n_seeds), np.arange(n_boot) % n_seeds),
        "score": scores[order],
        **_columns_of_records([records[run] for run in order]),
    }
