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
from ..inference.evidence import ConfidenceInterval, Drawn, Evidence
from ..method_error.prediction_error import MethodErrorSummary, method_interval
from ..metrics.statistic import Facts
from ..refit.estimates import MethodError
from ..refit.run_metrics import LabelRunMetric, LossRunMetric, RunMetric, RunRecords, ValueRunMetric
from ..refit.samples import TEST_RESAMPLES, TrainingSamples, stream
from ..refit.training import Record, key_on_test
from ..resampling.design import GROUPS, ROWS
from ..results import EvaluationResult, ResultTable, wording
from ..results.basis import ScoresBasis
from ..results.method_basis import MethodBasis, SeveralRuns
from ..results.result import Provenance, evaluation_result
from ..results.table import Entry, leaves
from ..study.rows import Sampling, Scores, Scoring, Wanted, measured_by
from ..study.runs import Columns, RunsCall, evaluate_runs, paired_runs
from ..study.study import Study, evaluate
from .call import FitCall
from .fit import OutOfBagRuns, TestSetRuns, narrow

# Rows of the rarest class up to which every interval of a method was measured to be unreliable.
_SMALL_CLASS = 20

_SMALLER_SAMPLES = (
    "A bootstrap sample holds 63.2 % of the distinct rows, so that the out-of-bag score is that of "
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

_NO_COMPONENTS = dict.fromkeys(("training", "seed", "test", "interaction"), np.nan)

# Metrics that keep the answers of rows, the most telling first.
_KEEP_ANSWERS: dict[str, type[RunMetric]] = {
    "probability": LossRunMetric,
    "value": ValueRunMetric,
    "label": LabelRunMetric,
}
# Tails of the models' answers for a row that its range leaves out.
_TAILS = (0.025, 0.975)


def record_of(call: FitCall, estimator: Any, names: Sequence[str]) -> dict[str, Any]:
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


def attributes_of(call: FitCall, estimator: Any, runs: OutOfBagRuns) -> dict[str, Any]:
    """Fitted attributes of a fit without a test set, and tell its cautions."""
    by_name: dict[str, dict[str, Any]] = {}
    cautions: dict[str, list[str]] = {}
    for found in runs.errors:
        result, own_cautions = result_of(call, estimator, runs.kept, found)
        for sentence in own_cautions:
            cautions.setdefault(sentence, []).append(found.metric.name)
        attributes = {
            "result_": result,
            "score_": result.estimate,
            "confidence_interval_": result.confidence_interval,
            "standard_error_": result.standard_error,
            "relative_overfitting_rate_": np.nan,
            "weight_": np.nan,
            "variance_components_": dict(found.components),
        }
        for attribute, name in _SCORES.items():
            error = found.error
            value = np.nan if error is None else found.metric.score(float(getattr(error, name)))
            attributes[attribute] = value
        if found.error is not None:
            attributes["relative_overfitting_rate_"] = found.error.relative_overfitting_rate
            attributes["weight_"] = found.error.weight
        by_name[found.metric.name] = attributes
    runs_ = columns_of_runs(runs.kept, runs.errors[0])
    instability = instability_of(runs.kept, runs.errors)
    # Each caution once, with the names of the metrics where several were asked for.
    for sentence, names in cautions.items():
        tell(Note("caution", sentence if runs.single else f"{', '.join(names)}: {sentence}"))
    fitted: dict[str, Any] = {"runs_": runs_, "prediction_instability_": instability}
    for attribute in attributes:
        values: Any = {name: own[attribute] for name, own in by_name.items()}
        if attribute == "result_":
            values = ResultTable(values)
        fitted[attribute] = next(iter(values.values())) if runs.single else values
    return fitted


def columns_of_runs(kept: RunRecords, found: MethodError) -> dict[str, NDArray[Any]]:
    """Return a column per property of the runs: on all rows, on bootstrap samples, on folds."""
    samples, n_full = kept.samples, len(kept.full)
    n_boot, n_folds = samples.n_bootstrap_runs, len(kept.records) - samples.n_bootstrap_runs
    every = [*kept.full, *kept.records]
    scores = np.full(len(every), np.nan)
    scores[:n_full] = found.metric.score(found.full_errors)
    scores[n_full : n_full + n_boot] = found.metric.score(found.run_errors)
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
        **_columns_of_records(every),
    }


def _columns_of_records(records: Sequence[Record]) -> dict[str, NDArray[Any]]:
    """Return the properties of runs that their records hold."""
    return {
        "fit_time": np.array([one["fit_time"] for one in records], dtype=float),
        "failed": np.array([one["error"] is not None for one in records]),
        "n_convergence_warnings": np.array([one["n_convergence"] for one in records], dtype=int),
    }


def instability_of(
    kept: RunRecords, errors: Sequence[MethodError]
) -> dict[str, NDArray[Any]] | None:
    """Spread of the answers for each row over the models that left it out.

    Parameters
    ----------
    kept : RunRecords
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
    y = kept.target.y
    # What is kept of the answers of rows, and under which key, the most telling first.
    found = (
        (kind, getattr(error.metric, "probability_key", error.metric.key), error.metric)
        for kind, own in _KEEP_ANSWERS.items()
        for error in errors
        if isinstance(error.metric, own)
    )
    kind, key, metric = next((each for each in found if each[1] is not None), ("", "", None))
    full: Any = kept.full[0].get(key)
    if full is None or (y is not None and y.ndim > 1):
        return None
    blocks = []
    for rows, data, outside in kept.by_rows(key):
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
    call: FitCall, estimator: Any, kept: RunRecords, found: MethodError
) -> tuple[EvaluationResult, tuple[str, ...]]:
    """Return the result of a method by one metric, and its cautions."""
    metric, level = found.metric, call.confidence_level
    summary = None
    interval = ConfidenceInterval(np.nan, np.nan, level, call.interval)
    notes, cautions = list(found.notes), tuple[str, ...]()
    if found.error is not None:
        summary = MethodErrorSummary(
            call.strategy, metric.sign, found.optimism, found.error.summary()
        )
        made = method_interval(summary, call.interval, level)
        interval, cautions = made.interval, _cautions(kept, summary, made, metric)
        notes = [
            *cautions,
            *(text for text in texts_of(made.notes) if text not in cautions),
            *notes,
        ]
    if found.reason:
        notes.insert(0, f"The score is undefined: {found.reason}.")
    if call.strategy == "oob":
        notes.append(_SMALLER_SAMPLES)
    if metric.is_weighted:
        notes.append("Rows are weighted by sample_weight, in the estimate and in the interval.")
    notes += kept.samples.about_seeds
    low, high = metric.bounds
    words = ROWS if kept.target.unit is None else GROUPS
    evidence = Evidence(
        estimate=np.nan if summary is None else metric.score(summary.point),
        replicates=metric.score(found.run_errors),
        drawn=Drawn(words.kind, (kept.n_units,)),
        facts=Facts((0.0 - high, 0.0 - low) if metric.sign > 0 else (low, high)),
        standard_error=np.nan if summary is None else summary.standard_error_for(call.interval),
    )
    fixed = ("the number of training rows of each class",) if call.stratify else ()
    result = evaluation_result(
        Provenance(tuple(notes), fixed, kept.samples.seed, record_of(call, estimator, _RECORDED)),
        metric=metric.name,
        estimand="method",
        basis=ScoresBasis(evidence) if summary is None else MethodBasis(evidence, summary),
        confidence_interval=interval,
        automatic=call.interval == "auto",
        n_samples=kept.n_rows,
        unit=words.unit,
        greater_is_better=metric.sign > 0,
        runs=columns_of_runs(kept, found),
    )
    return result, cautions


def _cautions(
    kept: RunRecords, summary: MethodErrorSummary, made: IntervalWithNotes, metric: RunMetric
) -> tuple[str, ...]:
    """Return why this interval may be unreliable."""
    cautions = [note.text for note in made.notes if note.is_warning]
    known: Any = getattr(metric, "statistic", None)
    truth = kept.target.y
    if hasattr(known, "rows_that_vary") and truth is not None and truth.ndim == 1:
        # What the score is divided by, its variance, is known from the truth alone.
        number, few = known.rows_that_vary((truth - np.mean(truth)) ** 2)
        if number < few:
            cautions.append(
                f"About {min(round(number), math.ceil(few) - 1)} of the {len(truth)} rows decide "
                f"the variance of the truth (fewer than {few:.0f}): expect less coverage than "
                "stated."
            )
    rarest = kept.target.smallest_class
    if rarest is not None and rarest <= _SMALL_CLASS and not np.isnan(made.interval.low):
        unit = "rows" if kept.target.unit is None else "groups"
        cautions.append(
            f"The smallest class has {rarest} {unit} ({_SMALL_CLASS} or fewer): expect less "
            "coverage than stated."
        )
    if kept.target.unit is not None and kept.n_units < FEW_GROUPS:
        cautions.append(
            f"Only {kept.n_units} groups were resampled (fewer than {FEW_GROUPS}): expect less "
            "coverage than stated."
        )
    if summary.strategy == "cv-bootstrap" and summary.error.cv is None:
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
        random_state=stream(own.samples.seed, TEST_RESAMPLES),
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


def attributes_on_tests(call: FitCall, estimator: Any, runs: TestSetRuns) -> dict[str, Any]:
    """Fitted attributes: of one result, or dicts by test set, by metric, or of both; tell notes."""
    record = record_of(call, estimator, _RECORDED_WITH_TEST)
    find = UsableRuns.of if call.estimand == "system" else usable_runs
    usable = find(runs.samples, [runs.records])
    # The percentiles of all runs, an interval by name, are the pool's.
    pooled = call.estimand == "method" and call.interval == "percentile"
    estimand = "pooled" if pooled else call.estimand
    wanted = Wanted(call.interval, call.confidence_level, Workers(call.n_jobs))
    strata = ("the number of training rows of each class",) if call.stratify else ()
    results: dict[Any, dict[str, EvaluationResult]] = {}
    notes: dict[Any, Notes] = {}
    for k, set_name in enumerate(runs.tests.names):
        # Results of all metrics from the same resamples.
        with collected() as notes[set_name]:
            study = study_of_test({"": runs}, k, usable, call.n_test_resamples, wanted)
            calls, scores = runs_on_test({"": runs}, k, usable, study, estimand)
            if len(usable.sampled or usable.full) == 1:
                found = evaluate(replace(study, scores=scores))
            else:
                found = evaluate_runs({metric: own[""] for metric, own in calls.items()}, scores)
        results[set_name] = {
            metric: one._with_provenance(
                notes=(*one.provenance.notes, *runs.samples.about_seeds),
                held_fixed=(*one.provenance.held_fixed, *strata),
                seed=runs.samples.seed,
                settings={**one.provenance.settings, **record},
            )
            for metric, one in found.items()
        }
    # The notes of all test sets, those of some of them with the name of the set.
    told = Notes()
    for set_name, own_notes in notes.items():
        for note in own_notes:
            is_of_all = all(note in others for others in notes.values())
            told.add(note.kind, note.text if is_of_all else f"X_test[{set_name!r}]: {note.text}")
    tell(*told)
    first = next(iter(next(iter(results.values())).values()))
    attributes = {"runs_": _columns_of_tested_runs(runs, first)}
    values: dict[str, Any] = {
        "result_": lambda one: one,
        "score_": lambda one: one.estimate,
        "confidence_interval_": lambda one: one.confidence_interval,
        "standard_error_": lambda one: one.standard_error,
        "variance_components_": lambda one: one.variance_components or dict(_NO_COMPONENTS),
    }
    for attribute, value in values.items():
        kind: Any = ResultTable if attribute == "result_" else dict
        by_set = {}
        for set_name, own in results.items():
            of_metric = kind({metric: value(one) for metric, one in own.items()})
            by_set[set_name] = next(iter(of_metric.values())) if runs.single else of_metric
        attributes[attribute] = by_set[None] if list(by_set) == [None] else kind(by_set)
    return attributes


def _columns_of_tested_runs(runs: TestSetRuns, result: EvaluationResult) -> dict[str, NDArray[Any]]:
    """Return properties of each run, those on all rows first; scores are those of ``result``."""
    samples, records = runs.samples, runs.records
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
    return {
        "sample": np.repeat(["full", "bootstrap"], [n_seeds, n_boot]),
        "training_sample": np.append(np.zeros(n_seeds, int), np.arange(n_boot) // n_seeds),
        "seed": np.append(np.arange(n_seeds), np.arange(n_boot) % n_seeds),
        "score": scores[order],
        **_columns_of_records([records[run] for run in order]),
    }
