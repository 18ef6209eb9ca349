"""All trainings of a fit: the run on all rows, those on bootstrap samples and on folds.

`run_all_trainings` reads a `FitCall` and sets nothing on a scorer, so that several methods can be
trained on the same samples (`skboot.compare_methods`).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

from .._base import checks as check
from .._base.errors import Note, only_advises, warn_before
from .._base.sklearn_compat import (
    has_callbacks,
    scorer_parts,
    with_rows,
)
from .._base.versions import versions_used
from .._base.work import check_fits
from ..metrics.lookup import check_response
from ..metrics.statistic import MetricError, NotANumber
from ..refit import training
from ..refit.estimates import MethodError, method_error
from ..refit.identity import Key, UnknownIdentity
from ..refit.lending import Lender, Loan
from ..refit.run_metrics import ErrorFunction, RunMetric, RunRecords, Targets
from ..refit.samples import (
    PERMUTATIONS,
    DrawnSamples,
    TrainingSamples,
    draw_training_samples,
    full_run_seed,
    stream,
)
from ..refit.scoring import (
    MetricAnswers,
    ScorerEntry,
    answers_read_by,
    name_arguments_of_fit,
    named_scorers,
    note_on_callable,
    refused_weights,
    run_metrics_of,
)
from ..refit.training import (
    Answers,
    Job,
    Record,
    Run,
    ScoredRows,
    Tasks,
    kept_on_tests,
    key_on_test,
)
from ..study.rows import Rows, Scoring, measured_by
from .call import (
    FitCall,
    FitData,
    HeldOutSets,
    RoutedParams,
    check_columns,
    name_in,
    scorers_of_test_weights,
    shared_groups,
    with_classes_of,
)

# Parameters that a run on a training sample depends on: a change of another one needs no new run.
_OF_RUNS = (
    "inner_cv",
    "n_cv_repeats",
    "n_seeds",
    "n_train_resamples",
    "strategy",
    "stratify",
)

# Memory that a run takes beside its answers (bytes): the record and the seed.
_BYTES_PER_RUN = 1024


# ------------------------------------------------------------------ answers for test sets
# What runs keep of them, so that metrics can be computed of them later.


@dataclass(frozen=True, eq=False)
class SharedAnswers:
    """What is kept of a run for all metrics that read the same answers.

    Attributes
    ----------
    key : str
    needed : MetricAnswers
        By the first of these metrics.
    metrics : dict of str to ErrorFunction
        All of them.
    """

    key: str
    needed: MetricAnswers
    metrics: dict[str, ErrorFunction]

    def keep(self, answers: Answers, scored: ScoredRows) -> Mapping[str, Any]:
        """Answers by their key; a run fails by those that have no score."""
        kind = self.needed.statistic.response
        response = answers.response(kind, self.needed.methods, self.needed.positive)
        y_pred = narrow(np.asarray(response))
        self.check_defined(answers.y, y_pred)
        return {self.key: y_pred}

    def check_defined(self, y: Any, y_pred: NDArray[Any]) -> None:
        """Refuse answers that a metric has no value for."""
        for name, function in self.metrics.items():
            statistic = check_response(function.statistic, y, y_pred)
            if statistic.of_row_values and statistic.response == "labels":
                # A mean over labels has a value whatever they are.
                continue
            if np.isnan(replace(function, statistic=statistic)(y, y_pred)):
                raise ValueError(f"The metric {name!r} is undefined on the test set.")


def narrow(labels: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers in bytes, where they fit: all runs are kept."""
    if labels.dtype.kind not in "iu" or labels.size == 0:
        return labels
    if labels.min() < -128 or labels.max() > 127:
        return labels
    return labels.astype(np.int8)


def responses_of(
    scorers: Mapping[str, Any], classes: Any, several_outputs: bool, model: Any
) -> dict[str, SharedAnswers]:
    """Return the answers that each metric reads; metrics that read the same share them."""
    by_metric: dict[str, SharedAnswers] = {}
    by_key: dict[str, SharedAnswers] = {}
    for name, scorer in scorers.items():
        with check.arguments_named({"metric": "scoring"}):
            needed = answers_read_by(name, scorer, classes, several_outputs)
        if needed is None:
            raise check.fail(
                "scoring",
                "be metric-based with a test set",
                f"the callable {name!r} of estimator, X and y",
                "Its answers cannot be resampled: use a name, or make_scorer of a metric.",
            )
        method = next(
            (name_of_method for name_of_method in needed.methods if hasattr(model, name_of_method)),
            "none",
        )
        part = "all" if needed.statistic.response == "probabilities" else needed.positive
        key = method if method == "predict" else f"{method} {part}"
        by_metric[name] = by_key.setdefault(key, SharedAnswers(key, needed, {}))
        by_metric[name].metrics[name] = ErrorFunction(needed.statistic, 1.0, classes)
    return by_metric


# ------------------------------------------------------------------ trainings


@dataclass(frozen=True, eq=False)
class TrainedRuns:
    """All runs of a method; as such the run on all rows alone, which nothing was scored on.

    Attributes
    ----------
    model : estimator
        The run on all rows.
    loan : Loan
        How data are lent to it.
    single : bool
        Whether one metric was asked for, not a list or dict.
    notes : list of Note
        Warnings of the trainings.
    estimator_warnings : dict of type to list of str
        By category, texts of the warnings of the estimator on samples and folds, each once.
        Those of the run on all rows were raised when it was fitted.
    train_samples : DrawnSamples or None
        Rows of the bootstrap samples, if there are some.
    metric_names : sequence of str
        Of the metrics that the runs were scored by.
    weighted_metrics : collection of str
        Names of those that weigh rows.
    """

    model: Any
    loan: Loan
    single: bool
    notes: list[Note]
    estimator_warnings: Mapping[type[Warning], Sequence[str]]
    train_samples: DrawnSamples | None
    metric_names: Sequence[str]
    weighted_metrics: Collection[str]


@dataclass(frozen=True, eq=False)
class OutOfBagRuns(TrainedRuns):
    """All runs of a method, scored on the rows that each run left out.

    Attributes
    ----------
    run_records : RunRecords
    metrics : list of RunMetric
    answers : Answers
        Of the model of all rows, for all rows.
    """

    run_records: RunRecords
    metrics: list[RunMetric]
    answers: Answers

    @cached_property
    def errors(self) -> list[MethodError]:
        """Error of the method by each metric."""
        rng = np.random.default_rng(stream(self.run_records.samples.seed, PERMUTATIONS))
        return [
            method_error(metric, self.run_records, metric.no_information(self.answers, rng))
            for metric in self.metrics
        ]


@dataclass(frozen=True, eq=False)
class TestSetRuns(TrainedRuns):
    """All runs of a method, with their answers for the rows of test sets.

    Attributes
    ----------
    tests : HeldOutSets
    samples : TrainingSamples
    classes : ndarray of shape (n_classes,) or None
    responses, scorers : dict by metric
    records : list of dict
        Of the first run on all rows, then of those of `TrainingSamples.runs_for_tests`.
    """

    tests: HeldOutSets
    samples: TrainingSamples
    classes: Any
    responses: dict[str, SharedAnswers]
    scorers: dict[str, Any]
    records: list[Record]


def run_all_trainings(
    call: FitCall, estimator: Any, data: FitData, routed: RoutedParams, owner: Any = None
) -> TrainedRuns:
    """Train an estimator on all training samples, and score its answers or keep them.

    Parameters
    ----------
    call : FitCall
    estimator : estimator
        Cloned for each run.
    data : FitData
    routed : RoutedParams
        Parameters of the estimator's ``fit``, and of the scorers.
    owner : BootstrapScorer, optional
        Whose callbacks hear of the trainings.

    Returns
    -------
    TrainedRuns
        `TestSetRuns` where the data have a test set, else `OutOfBagRuns` where there are training
        samples.
    """
    tags = get_tags(estimator)
    if data.y is None and tags.target_tags.required:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    tasks = None
    # The estimator may have callbacks of its own.
    if owner is not None and (has_callbacks(owner) or has_callbacks(estimator)):
        n_full = 1 if data.tests is not None else call.n_seeds if call.n_train_resamples else 1
        n_others = int(call.n_train_resamples > 0 or (data.tests is not None and call.n_seeds > 1))
        tasks = Tasks.of(owner, n_full + n_others, data.X, data.y)
        if call.verbose is None:
            # A bar or a log that is set on the scorer reports in place of this package.
            call = replace(call, verbose=0)
    job = Job(
        tasks=tasks,
        estimator=estimator,
        X=data.X,
        y=data.y,
        params={name: with_rows(value) for name, value in routed.fit_params.items()},
        unit=data.unit,
        words=data.words,
        classes=None,
        metrics=(),
        pairwise=bool(tags.input_tags.pairwise),
        group_copies=call.inner_cv == "grouped",
        predict_all=data.tests is None and (call.strategy == "optimism" or call.scores_training),
        raise_errors=call.raise_errors,
    )
    trained: TrainedRuns
    if data.tests is None and call.n_train_resamples == 0:
        trained = TrainedRuns(
            _full_model(job, call.seed, 0)[0], job.loan, True, [], {}, None, (), ()
        )
    elif data.tests is None:
        trained = _out_of_bag_runs(call, job, routed.scorer_params)
    else:
        shared = shared_groups(data.groups, data.tests)
        trained = _test_set_runs(call, job, data.tests, [Note("caution", text) for text in shared])
    if tasks is not None:
        tasks.end(X=data.X, y=data.y)
    return trained


def _test_set_runs(call: FitCall, job: Job, tests: HeldOutSets, notes: list[Note]) -> TestSetRuns:
    """Return all runs with their answers for the test sets."""
    scorers, single = named_scorers(call.scoring, job.estimator)
    is_weighted = any(weights is not None for weights in tests.weights)
    weighing = scorers_of_test_weights(call.scoring, job.estimator, is_weighted=is_weighted)
    start = time.perf_counter()
    model, fit_time = _full_model(job, call.seed, 0)
    job, target = _with_target(job)
    check_columns(target.y, tests)
    if job.classes is not None:
        job = replace(job, classes=with_classes_of(job.classes, tests))
    several_outputs = target.y is not None and target.y.ndim == 2
    responses = responses_of(scorers, job.classes, several_outputs, model)
    for name in sorted(weighing):
        if not responses[name].metrics[name].statistic.takes_weights:
            raise refused_weights(name)
    answers = list({part.key: part for part in responses.values()}.values())
    job = replace(job, metrics=answers, tests=tuple(tests.rows))
    # The first run is the one on all rows. Its answers are kept before metrics are taken of them:
    # one that cannot be had, or is undefined, is refused by the name of its argument.
    first_run: Record = {"failure": None, "fit_time": fit_time, "n_convergence": 0}
    with _scoring_of_data():
        plain = replace(job, metrics=[replace(part, metrics={}) for part in answers])
        first_run.update(kept_on_tests(plain, model, None, job.loan))
        for k, rows in enumerate(tests.rows):
            try:
                for part in answers:
                    y_pred = first_run[key_on_test(k, part.key)]
                    labels = job.classes if y_pred.ndim == 2 else None
                    named = {"": [Rows(rows.y, y_pred, None, labels)]}
                    for name in part.metrics:
                        measured_by(Scoring({name: scorers[name]}, several=False), named)
                    part.check_defined(rows.y, y_pred)
            except ValueError as error:
                name_arguments_of_fit(error, name_in("y_test", tests.names[k]))
                raise
    seconds = time.perf_counter() - start
    samples, train_samples = _samples(call, job, target, n_repeats=0)
    records, notes_of_runs = _records(call, job, scorers, samples.runs_for_tests(), seconds)
    return TestSetRuns(
        model=model,
        loan=job.loan,
        single=single,
        notes=[*notes, *notes_of_runs],
        estimator_warnings=_warnings_by_category(records),
        train_samples=train_samples,
        metric_names=list(scorers),
        weighted_metrics=weighing,
        tests=tests,
        samples=samples,
        classes=job.classes,
        responses=responses,
        scorers=scorers,
        records=[first_run, *records],
    )


def _out_of_bag_runs(
    call: FitCall, job: Job, scorer_params: Mapping[str, Mapping[str, Any]]
) -> OutOfBagRuns:
    """Return all runs with their errors on the rows left out."""
    scorers, single = named_scorers(call.scoring, job.estimator)
    # The estimator's own checks of the data come first: its messages are known to users.
    start = time.perf_counter()
    model, fit_time = _full_model(job, call.seed, 0)
    job, target = _with_target(job)
    answers = Answers(model, job.X, job.y, job.classes, job.loan)
    [(name, scorer), *_] = scorers.items()
    if single and scorer_parts(scorer) is None:
        # What the callable returns shows only when it is called, on the model of all rows: where it
        # is a dict, a scorer for each entry takes its place.
        metadata = scorer_params.get(name, {})
        arguments = (answers.X,) if answers.y is None else (answers.X, answers.y)
        scores = answers.lender.call(partial(scorer, answers.estimator), *arguments, **metadata)
        if isinstance(scores, Mapping):
            scorers, single = {str(key): ScorerEntry(scorer, key) for key in scores}, False
            if not scorers:
                raise check.fail("scoring", "return at least one score", "an empty dict")
            scorer_params = dict.fromkeys(scorers, metadata) if metadata else {}
    metrics = run_metrics_of(scorers, target, answers, scorer_params)
    counts_failures = np.isfinite(call.failed_score)
    if counts_failures and (pooling := [metric.name for metric in metrics if metric.pools_runs]):
        must = f"be np.nan or 'raise' for {pooling}, which pool the rows of all runs"
        raise check.fail("error_score", must, f"{call.failed_score:g}")
    # Once, where several metrics need the same of a run.
    by_key = {metric.key: metric for metric in metrics}
    job = replace(job, metrics=list(by_key.values()))
    n_repeats = call.n_cv_repeats if call.strategy == "cv-bootstrap" else 0
    samples, train_samples = _samples(call, job, target, n_repeats)
    with _scoring_of_data():
        full = [_full_record(job, answers, fit_time)]
    seconds = time.perf_counter() - start
    for s in range(1, call.n_seeds):
        model_of_seed, fit_time = _full_model(job, call.seed, s)
        answers_of_seed = Answers(model_of_seed, job.X, job.y, job.classes, job.loan)
        full.append(_full_record(job, answers_of_seed, fit_time))
    runs = samples.runs()
    note = note_on_callable(scorers, metrics, answers, len(runs))
    if note is not None:
        warn_before(note)
    of_key = (scorers, scorer_params) if scorer_params else scorers
    records, notes = _records(call, job, of_key, runs, seconds)
    run_records = RunRecords(target, samples, full, records, job.predict_all, call.failed_score)
    return OutOfBagRuns(
        model=model,
        loan=job.loan,
        single=single,
        notes=notes,
        estimator_warnings=_warnings_by_category(records),
        train_samples=train_samples,
        metric_names=[metric.name for metric in metrics],
        weighted_metrics=[metric.name for metric in metrics if metric.is_weighted],
        run_records=run_records,
        metrics=metrics,
        answers=answers,
    )


def _warnings_by_category(records: Sequence[Record]) -> dict[type[Warning], list[str]]:
    """Return the texts that the estimator warned with in some runs, each once, in a fixed order."""
    texts: dict[type[Warning], list[str]] = {}
    raised = {warning for record in records for warning in record["warnings"]}
    for category, text in sorted(raised, key=str):
        texts.setdefault(category, []).append(text)
    return texts


# ------------------------------------------------------------------ steps of both


@contextmanager
def _scoring_of_data() -> Iterator[None]:
    """Name the argument where a metric has no value for the run on all rows."""
    try:
        yield
    except MetricError as failure:
        raise failure.error_on_data("scoring") from failure.error
    except NotANumber as error:
        must = "return one real number for the data"
        raise check.fail("scoring", must, error.returned) from error


def _full_model(job: Job, seed: np.random.SeedSequence, s: int) -> tuple[Any, float]:
    """Return the model of a run on all rows, and how long its fit took."""

    def work(lender: Lender) -> tuple[Any, float]:
        states = full_run_seed(seed, s)
        model = training.with_states(job.estimator, job.recipe, states, keep=s == 0)
        start = time.perf_counter()
        training.fit(model, job, None, lender, f"all rows, seed {s}")
        return model, time.perf_counter() - start

    return job.loan.attempt(work)


def _with_target(job: Job) -> tuple[Job, Targets]:
    """Return the job with the classes of its targets, and the targets themselves."""
    if job.y is None:
        return job, Targets(None, None, None, job.unit, job.words)
    y = np.asarray(job.y)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    y = check.check_rows("y", y) if y.ndim == 1 else y
    check.check_size("y", y)
    if not is_classifier(job.estimator) or y.ndim != 1:
        return job, Targets(y, None, None, job.unit, job.words)
    classes, codes = np.unique(y, return_inverse=True)
    return replace(job, classes=classes), Targets(y, classes, codes, job.unit, job.words)


def _samples(
    call: FitCall, job: Job, target: Targets, n_repeats: int
) -> tuple[TrainingSamples, DrawnSamples]:
    """Return the training samples and folds of all runs, and what draws the samples again."""
    n_rows = job.n_rows
    if n_rows < 2:
        advice = "One to train on and one to test on are the least."
        must = "have at least two rows"
        raise check.fail("X", must, f"n_samples = {n_rows}", advice)
    if call.stratify and (target.codes is None or job.unit is not None):
        got = "groups" if job.unit is not None else "no class labels"
        must = "be False unless y holds classes and rows are resampled"
        raise check.fail("stratify", must, got)
    bytes_each = call.n_seeds * (_BYTES_PER_RUN + n_rows) + 3 * n_rows
    check_fits("n_train_resamples", call.n_train_resamples, bytes_each)
    check_fits("n_cv_repeats", n_repeats, bytes_each)
    draw = partial(
        draw_training_samples,
        n_rows,
        unit=job.unit,
        codes=target.codes,
        stratify=call.stratify,
        n_resamples=call.n_train_resamples,
        n_repeats=n_repeats,
        n_seeds=call.n_seeds,
        seed=call.seed,
        user_counts=call.train_samples,
        user_rows=call.train_rows,
    )
    about_seeds: tuple[str, ...] = ()
    if job.recipe.is_random and call.n_train_resamples + call.n_seeds > 1:
        exception = "; those that you set are those of the first run on all rows"
        text = f"Random states vary from run to run{exception if job.recipe.sets_states else ''}."
        if call.train_rows is not None and call.n_seeds == 1:
            text = "Random states that you set are those of every run; others vary."
        about_seeds = (text,)
    seeded = job.recipe.is_random or not job.group_copies
    samples = replace(draw(), about_seeds=about_seeds, seeded=seeded)
    return samples, DrawnSamples(draw, job.group_copies)


def _records(
    call: FitCall, job: Job, scorers: Any, runs: Sequence[Run], seconds: float
) -> tuple[list[Record], list[Note]]:
    """Return the records of all runs but the first, and what must be known of them.

    Parameters
    ----------
    call : FitCall
    job : Job
        Without a folder.
    scorers : object
        What of the scorers decides what runs keep.
    runs : sequence of Run
    seconds : float
        What the first run took.
    """
    notes: list[Note] = []
    if call.n_train_resamples and job.group_copies:
        notes += _copies(job)
    if call.memory is not None:
        folder, unseen = _folder(call, job, scorers)
        job, notes = replace(job, folder=folder), notes + unseen
    tasks = None if job.tasks is None or not runs else job.tasks.of_samples(len(runs))
    records = training.run_all(
        replace(job, tasks=tasks),
        runs,
        n_jobs=call.n_jobs,
        verbose=call.verbose,
        seconds_per_run=seconds,
    )
    if tasks is not None:
        tasks.end()
    failures = [record["failure"] for record in records if record["failure"] is not None]
    if failures and len(failures) == len(records):
        raise ValueError(f"All {len(records)} runs failed. First error: {failures[0]}")
    if failures:
        counts = {failure: failures.count(failure) for failure in dict.fromkeys(failures)}
        listed = "\n".join(f"  {count} x {failure}" for failure, count in counts.items())
        score = call.failed_score
        become = f"count as {score:g}" if np.isfinite(score) else "are left out of every average"
        text = f"{len(failures)} of {len(records)} runs failed and {become}."
        notes.append(Note("failed", f"{text}\n{listed}"))
    unkept = [record[training.UNKEPT] for record in records if training.UNKEPT in record]
    if unkept:
        text = (
            f"{len(unkept)} of {len(records)} runs could not be kept in the folder given as "
            f"memory= ({unkept[0]}). This fit is complete without them; a later fit would repeat "
            "them."
        )
        notes.append(Note("caution", text))
    return records, notes


def _folder(call: FitCall, job: Job, scorers: Any) -> tuple[str, list[Note]]:
    """Return the folder of the runs of this very fit within ``memory``, and a caution."""
    # A clone has no attributes of an earlier fit, and clones are what is trained.
    settings = {"estimator": clone(job.estimator)}
    settings |= {name: getattr(call, name) for name in _OF_RUNS}
    if call.train_samples is not None:
        settings["train_samples"] = (call.train_samples, call.train_rows)
    if call.scores_training:
        settings["scores_training"] = True
    data = (job.X, job.y, job.unit, job.params, *job.tests)
    key = Key()
    try:
        key.add((settings, *data, scorers, call.seed.state, versions_used()))
        name = key.finished()
    except (UnknownIdentity, RecursionError) as error:
        must = "be None where a later call cannot tell whether code and data are the same"
        advice = "Define it as a Python function or class, or leave memory= out."
        raise check.fail("memory", must, str(error), advice) from error
    notes = []
    if key.unseen:
        text = (
            f"memory= does not notice changes of {', '.join(sorted(set(key.unseen)))}, "
            "which functions or classes refer to. Use another folder after such a change."
        )
        notes = [Note("caution", text)]
    return str(Path(call.memory) / name), notes


@only_advises()
def _copies(job: Job) -> list[Note]:
    """Return a caution where inner splits have copies of a row on both sides."""
    leaks = training.left_as_they_are(job.estimator, job.n_rows)
    if not leaks:
        return []
    text = (
        f"inner splits by {', '.join(leaks)} have copies of a row on both sides, which is "
        "optimistic. Use an integer cv of the outermost search, or fixed iterations."
    )
    return [Note("caution", text)]


def _full_record(job: Job, answers: Answers, fit_time: float) -> Record:
    """Return what is kept of a run on all rows."""
    all_rows = np.arange(job.n_rows)
    scored = ScoredRows(all_rows, np.ones(job.n_rows, dtype=bool), job.unit, None, "full")
    record: Record = {"failure": None, "fit_time": fit_time, "n_convergence": 0, "warnings": set()}
    for metric in job.metrics:
        record.update(metric.keep(answers, scored))
    return record
