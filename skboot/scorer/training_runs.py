"""What a fit of `BootstrapScorer` does before there are results: check, train, and judge all runs.

`judge` reads the parameters of a scorer and sets nothing on it, so that several methods can be
judged on the same training samples (`skboot.compare_methods`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import process_routing

from .. import _checks as check
from .._evaluating import versions_used
from .._memory import check_fits
from .._sklearn_compat import routing_enabled
from .._warnings import warn_user
from ..metrics.statistic import MetricError, NotANumber
from ..refit import inner_cv, runner, training
from ..refit.estimates import MethodError, method_error
from ..refit.identity import Key, UnknownIdentity
from ..refit.lending import Lender, Loan
from ..refit.measures import Measure, Target
from ..refit.resolving import measures_of, named_scorers
from ..refit.run_records import RunRecords
from ..refit.samples import Samples, draw, full_run_seed
from ..refit.training import Answers, Channel, Job, Record, Run, Scored
from . import on_test_set, packing, parameters

_CALLER = "BootstrapScorer"

# What does not change a run.
_OUTSIDE_RUNS = frozenset(
    ("confidence_level", "error_score", "estimand", "interval", "memory", "n_jobs")
) | {"n_test_resamples", "random_state", "refit", "verbose", "scoring"}

# What is kept of a run beside its answers: their record, and its seed.
_BYTES_PER_RUN = 1024


@dataclass(frozen=True, eq=False)
class Judged:
    """All runs of a method, judged on the rows left out.

    Attributes
    ----------
    model : estimator
        The run on all rows.
    loan : Loan
        How data are lent to it.
    kept : RunRecords
    errors : list of MethodError
        One per metric.
    single : bool
        Whether one metric was asked for, not a list or dict.
    """

    model: Any
    loan: Loan
    kept: RunRecords
    errors: list[MethodError]
    single: bool


@dataclass(frozen=True, eq=False)
class JudgedOnTests:
    """All runs of a method, with what they answer for the rows of test sets.

    Attributes
    ----------
    model : estimator
        The run on all rows.
    loan : Loan
        How data are lent to it.
    tests : HeldOutSets
    samples : Samples
    classes : ndarray of shape (n_classes,) or None
    responses, scorers : dict by metric
    records : list of dict
        Of the first run on all rows, then of those of `Samples.runs_for_tests`.
    single : bool
        Whether one metric was asked for, not a list or dict.
    """

    model: Any
    loan: Loan
    tests: on_test_set.HeldOutSets
    samples: Samples
    classes: Any
    responses: dict[str, on_test_set.Response]
    scorers: dict[str, Any]
    records: list[Record]
    single: bool


def judge(
    scorer: Any,
    X: Any,
    y: Any,
    *,
    groups: Any,
    X_test: Any,
    y_test: Any,
    groups_test: Any,
    params: Mapping[str, Any],
) -> Judged | JudgedOnTests:
    """Check everything, train all runs, and keep what they answer.

    Parameters
    ----------
    scorer : BootstrapScorer
        Its parameters are read.
    X, y, groups, X_test, y_test, groups_test
        As given to its ``fit``.
    params : dict
        Parameters of the estimator's ``fit``.

    Returns
    -------
    Judged or JudgedOnTests
    """
    tests = None
    if any(part is not None for part in (X_test, y_test, groups_test)):
        tests = on_test_set.held_out_sets(X_test, y_test, groups_test)
    parameters.check_parameters(scorer, has_test=tests is not None)
    if y is None and get_tags(scorer.estimator).target_tags.required:
        raise ValueError(
            f"This {type(scorer).__name__} requires y to be passed, but the target y is None."
        )
    parameters.check_rows_of_fit(X, y, groups, f"{_CALLER}.fit")
    params = _routed(scorer, groups, params)
    X, y, groups = indexable(X, y, groups)
    unit = None if groups is None else parameters.checked_groups(groups)
    seed = check.check_seed(scorer.random_state, _CALLER)
    job = Job(
        estimator=scorer.estimator,
        X=X,
        y=y,
        params=params,
        unit=unit,
        classes=None,
        channels=(),
        pairwise=bool(get_tags(scorer.estimator).input_tags.pairwise),
        group_copies=scorer.inner_cv == "grouped",
        predict_all=tests is None and scorer.strategy == "optimism",
        raise_errors=scorer.error_score == "raise",
    )
    if tests is None:
        return _on_rows_left_out(scorer, job, seed)
    for sentence in on_test_set.shared_groups(groups, tests):
        warn_user(f"{_CALLER}: {sentence}")
    return _on_tests(scorer, job, seed, tests)


def _routed(scorer: Any, groups: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of the estimator's fit."""
    if not routing_enabled():
        return dict(params)
    given = dict(params) if groups is None else {**params, "groups": groups}
    if not given:
        return {}
    return dict(process_routing(scorer, "fit", **given).estimator.fit)


def _on_tests(
    scorer: Any, job: Job, seed: np.random.SeedSequence, tests: on_test_set.HeldOutSets
) -> JudgedOnTests:
    scorers, single = named_scorers(scorer.scoring, scorer.estimator)
    start = time.perf_counter()
    model, fit_time = _full_model(job, seed, 0)
    job, target = _with_target(job)
    if job.classes is not None:
        job = replace(job, classes=on_test_set.with_classes_of(job.classes, tests))
    responses = on_test_set.responses_of(scorers, job.classes, model)
    channels = {response.key: response for response in responses.values()}
    job = replace(job, channels=tuple(channels.values()), tests=tuple(tests.rows))
    with _scoring_of_data():
        first = on_test_set.first_record(job, model, fit_time, scorers, tests)
    seconds = time.perf_counter() - start
    samples = _samples(scorer, job, target, seed, n_repeats=0)
    if scorer.n_train_resamples:
        _warn_of_copies(job)
    job = replace(job, folder=_folder(scorer, job, scorers, seed))
    others = _records(scorer, job, samples.runs_for_tests(), seconds)
    packing.warn_of_runs(others, _CALLER)
    records = [first, *others]
    return JudgedOnTests(
        model, job.loan, tests, samples, job.classes, responses, scorers, records, single
    )


def _on_rows_left_out(scorer: Any, job: Job, seed: np.random.SeedSequence) -> Judged:
    scorers, single = named_scorers(scorer.scoring, scorer.estimator)
    # The estimator's own checks of the data come first: its messages are known to users.
    start = time.perf_counter()
    model, fit_time = _full_model(job, seed, 0)
    job, target = _with_target(job)
    answers = Answers(model, job.X, job.y, job.classes, job.loan)
    measures = measures_of(scorers, target, answers)
    job = replace(job, channels=_channels(measures))
    n_repeats = scorer.n_cv_repeats if scorer.strategy == "cv-bootstrap" else 0
    samples = _samples(scorer, job, target, seed, n_repeats)
    with _scoring_of_data():
        full = [_full_record(job, answers, fit_time)]
    seconds = time.perf_counter() - start
    for s in range(1, scorer.n_seeds):
        other, fit_time = _full_model(job, seed, s)
        own = Answers(other, job.X, job.y, job.classes, job.loan)
        full.append(_full_record(job, own, fit_time))
    _warn_of_copies(job)
    job = replace(job, folder=_folder(scorer, job, scorers, seed))
    records = _records(scorer, job, samples.runs(), seconds)
    packing.warn_of_runs(records, _CALLER)
    kept = RunRecords(target, samples, full, records, job.predict_all)
    rng = samples.permutations()
    errors = [
        method_error(measure, kept, measure.no_information(answers, rng)) for measure in measures
    ]
    return Judged(model, job.loan, kept, errors, single)


# ------------------------------------------------------------------ steps of both


@contextmanager
def _scoring_of_data() -> Iterator[None]:
    """Name the argument where a metric has no value for the run on all rows."""
    try:
        yield
    except MetricError as failure:
        raise failure.on_data(_CALLER, "scoring") from failure.error
    except NotANumber as error:
        must = "return one real number for the data"
        raise check.fail(_CALLER, "scoring", must, error.returned) from error


def _full_model(job: Job, seed: np.random.SeedSequence, s: int) -> tuple[Any, float]:
    """A run on all rows, and how long its fit took."""

    def work(lender: Lender) -> tuple[Any, float]:
        model = training.prepared(job.estimator, np.random.default_rng(full_run_seed(seed, s)))
        start = time.perf_counter()
        training.fit(model, job, None, lender)
        return model, time.perf_counter() - start

    return job.loan.attempt(work)


def _with_target(job: Job) -> tuple[Job, Target]:
    """Targets, their classes, and the job that knows them."""
    if job.y is None:
        return job, Target(None, None, None, job.unit)
    y = np.asarray(job.y)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    y = check.check_rows("y", y, f"{_CALLER}.fit") if y.ndim == 1 else y
    check.check_size("y", y, f"{_CALLER}.fit")
    if not is_classifier(job.estimator) or y.ndim != 1:
        return job, Target(y, None, None, job.unit)
    classes, codes = np.unique(y, return_inverse=True)
    return replace(job, classes=classes), Target(y, classes, codes, job.unit)


def _samples(
    scorer: Any, job: Job, target: Target, seed: np.random.SeedSequence, n_repeats: int
) -> Samples:
    n_rows = job.n_rows
    if n_rows < 2:
        advice = "One to train on and one to test on are the least."
        must = "have at least two rows"
        raise check.fail(f"{_CALLER}.fit", "X", must, f"n_samples = {n_rows}", advice)
    if scorer.stratify and (target.codes is None or job.unit is not None):
        got = "groups" if job.unit is not None else "no class labels"
        must = "be False unless y holds classes and rows are drawn"
        raise check.fail(_CALLER, "stratify", must, got)
    bytes_each = scorer.n_seeds * (_BYTES_PER_RUN + n_rows) + 3 * n_rows
    check_fits("n_train_resamples", scorer.n_train_resamples, bytes_each, _CALLER)
    return draw(
        n_rows,
        unit=job.unit,
        codes=target.codes,
        stratify=scorer.stratify,
        n_resamples=scorer.n_train_resamples,
        n_repeats=n_repeats,
        n_seeds=scorer.n_seeds,
        seed=seed,
    )


def _records(scorer: Any, job: Job, runs: Sequence[Run], seconds: float) -> list[Record]:
    """All runs but the first, which took ``seconds``."""
    return runner.run_all(
        job, runs, n_jobs=scorer.n_jobs, verbose=scorer.verbose or 0, seconds_per_run=seconds
    )


def _folder(
    scorer: Any, job: Job, scorers: Mapping[str, Any], seed: np.random.SeedSequence
) -> str | None:
    """Folder of the runs of this very fit."""
    if scorer.memory is None:
        return None
    settings = {
        name: value
        for name, value in scorer.get_params(deep=False).items()
        if name not in _OUTSIDE_RUNS
    }
    # A clone, which is what is trained: attributes of an earlier fit do not count.
    settings["estimator"] = clone(scorer.estimator)
    data = (job.X, job.y, job.unit, job.params, *job.tests)
    key = Key()
    try:
        key.add((settings, *data, scorers, seed.state, versions_used()))
        name = key.finished()
    except (UnknownIdentity, RecursionError) as error:
        must = "be None where a later call cannot tell whether code and data are the same"
        advice = "Put what is meant into a function or class of Python, or leave memory= out."
        raise check.fail(_CALLER, "memory", must, str(error), advice) from error
    if key.unseen:
        warn_user(
            f"{_CALLER}: memory= does not notice changes of {', '.join(sorted(set(key.unseen)))}, "
            "which functions or classes refer to. Use another folder after such a change."
        )
    return str(Path(scorer.memory) / name)


def _warn_of_copies(job: Job) -> None:
    if not job.group_copies:
        return
    found = inner_cv.left_as_they_are(job.estimator, job.n_rows)
    if found:
        warn_user(
            f"{_CALLER}: copies of a row are on both sides of what {', '.join(found)} splits "
            "inside a bootstrap sample, and make it optimistic there; these are left as they "
            "are."
        )


def _channels(measures: Sequence[Measure]) -> tuple[Channel, ...]:
    """What is kept of a run: once, where several metrics need the same."""
    return tuple({measure.key: measure for measure in measures}.values())


def _full_record(job: Job, answers: Answers, fit_time: float) -> Record:
    """What is kept of a run on all rows."""
    every = np.arange(job.n_rows)
    scored = Scored(every, np.ones(job.n_rows, dtype=bool), job.unit, None, "full")
    record: Record = {"error": None, "fit_time": fit_time, "n_convergence": 0, "warnings": set()}
    for channel in job.channels:
        record.update(channel.keep(answers, scored))
    return record
