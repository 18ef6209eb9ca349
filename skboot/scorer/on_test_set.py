"""Methods on a test set: every run answers for the same test rows, and `bootstrap_runs` judges.

Use it where a test set is at hand: runs on the whole training list and on bootstrap samples of it,
several seeds each, tell the luck of the training list from that of the seed and the test rows. The
rows left out of a bootstrap sample are not looked at.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _checks as check
from .._inputs import Rows, resolved_statistics
from .._streams import stored_seed
from .._warnings import warn_user
from ..evaluation import bootstrap_score
from ..inference.intervals import FOR_ONE_SCORE
from ..inference.run_intervals import ESTIMANDS, check_method
from ..metrics.additive import RowMean
from ..metrics.lookup import check_response
from ..refit.influence import ErrorFunction
from ..refit.samples import TrainingSamples
from ..refit.scoring import Needed, needed_of
from ..refit.training import (
    Answers,
    HeldOut,
    Job,
    Record,
    Scored,
    kept_on_tests,
    key_on_test,
)
from ..results import EvaluationResult, ResultTable
from ..runs import bootstrap_runs

_CALLER = "BootstrapScorer"
_NO_COMPONENTS = dict.fromkeys(("training", "seed", "test", "interaction"), np.nan)


@dataclass(frozen=True, eq=False)
class HeldOutSets:
    """The test sets of a call.

    Attributes
    ----------
    names : list
        As the user named them; a single None for a test set that is not in a dict.
    rows : list of HeldOut
    groups : list of ndarray or None
        Group of each test row.
    """

    names: list[Any]
    rows: list[HeldOut]
    groups: list[Any]


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of the runs.

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
            statistic = check_response(function.statistic, y, found, f"{_CALLER}.fit")
            if isinstance(statistic, RowMean) and statistic.response == "labels":
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
    """Refuse what the runs of these numbers cannot tell."""
    check.check_choice("estimand", estimand, _CALLER, ESTIMANDS)
    known = ["auto", "components", *FOR_ONE_SCORE]
    check.check_choice("interval", interval, _CALLER, known)
    check.check_count("n_train_resamples", n_train_resamples, _CALLER, 0)
    check.check_count("n_seeds", n_seeds, _CALLER, 1)
    check.check_count("n_test_resamples", n_test_resamples, _CALLER, 2)
    if n_train_resamples == 1:
        advice = "Use 0 to keep the training list fixed, or at least ten."
        raise check.fail(_CALLER, "n_train_resamples", "be 0 or at least 2", "1", advice)
    if estimand == "system":
        if interval == "components":
            must = "be one of bootstrap_score's for the estimand 'system'"
            raise check.fail(_CALLER, "interval", must, "'components'")
        return
    if n_train_resamples == 0 and n_seeds == 1:
        raise check.fail(
            _CALLER,
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
        raise check.fail(_CALLER, "interval", must, "'t'", "It is over the seeds: give several.")


def held_out_sets(X_test: Any, y_test: Any, groups_test: Any) -> HeldOutSets:
    """Check the test sets, one or a dict of them."""
    caller = f"{_CALLER}.fit"
    if X_test is None or y_test is None:
        missing = "X_test" if X_test is None else "y_test"
        raise check.fail(caller, missing, "be given with the rest of the test set", "None")
    if not isinstance(X_test, dict):
        return HeldOutSets([None], [_rows("", X_test, y_test)], [_groups("", groups_test, y_test)])
    names = list(X_test)
    if not names:
        raise check.fail(caller, "X_test", "hold at least one test set", "{}")
    for name, own in (("y_test", y_test), ("groups_test", groups_test)):
        if own is None:
            continue
        if not isinstance(own, Mapping) or set(own) != set(names):
            given = f"{list(own)}" if isinstance(own, Mapping) else type(own).__name__
            raise check.fail(caller, name, f"be a dict with the keys of X_test, {names}", given)
    groups = dict.fromkeys(names) if groups_test is None else groups_test
    return HeldOutSets(
        names,
        [_rows(f"[{name!r}]", X_test[name], y_test[name]) for name in names],
        [_groups(f"[{name!r}]", groups[name], y_test[name]) for name in names],
    )


def _rows(of: str, X: Any, y: Any) -> HeldOut:
    caller = f"{_CALLER}.fit"
    check.check_not_masked(f"X_test{of}", X, caller)
    truth = check.check_rows(f"y_test{of}", y, caller)
    if truth.ndim != 1:
        must = "be of shape (n_test,)"
        raise check.fail(caller, f"y_test{of}", must, f"shape {truth.shape}")
    check.check_size(f"y_test{of}", truth, caller)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != len(truth):
        must = f"have as many rows as X_test{of}, {n_rows}"
        raise check.fail(caller, f"y_test{of}", must, f"{len(truth)}")
    return HeldOut(X, truth)


def _groups(of: str, groups: Any, y: Any) -> Any:
    if groups is None:
        return None
    labels = check.check_rows(f"groups_test{of}", groups, f"{_CALLER}.fit")
    if len(labels) != len(y):
        must = f"have as many rows as y_test{of}, {len(y)}"
        raise check.fail(f"{_CALLER}.fit", f"groups_test{of}", must, f"{len(labels)}")
    for column in labels.reshape(len(labels), -1).T:
        check.numbered_labels(f"groups_test{of}", column, f"{_CALLER}.fit", "group")
    return labels


def shared_groups(groups: Any, tests: HeldOutSets) -> list[str]:
    """Say which test sets share groups with the training list."""
    if groups is None:
        return []
    known, told = set(np.asarray(groups).ravel().tolist()), []
    for name, own in zip(tests.names, tests.groups, strict=True):
        shared = set() if own is None else known & set(np.asarray(own).ravel().tolist())
        if shared:
            which = "The test set" if name is None else f"The test set {name!r}"
            told.append(
                f"{which} shares {len(shared)} groups with the training list: the score is that "
                "on known groups, not on new ones."
            )
    return told


def with_classes_of(classes: NDArray[Any], tests: HeldOutSets) -> NDArray[Any]:
    """Classes of the training list and of all test sets."""
    kinds = {own.dtype.kind in "biuf" for own in (classes, *(rows.y for rows in tests.rows))}
    if len(kinds) > 1:
        must = "hold labels of the kind that y holds"
        raise check.fail(f"{_CALLER}.fit", "y_test", must, "numbers here and text there")
    return np.unique(np.concatenate([classes, *(rows.y for rows in tests.rows)]))


def responses_of(scorers: Mapping[str, Any], classes: Any, model: Any) -> dict[str, KeptAnswers]:
    """What each metric reads; metrics that read the same share its key and are kept together."""
    found: dict[str, KeptAnswers] = {}
    by_key: dict[str, KeptAnswers] = {}
    for name, scorer in scorers.items():
        needed = needed_of(name, scorer, classes)
        if needed is None:
            raise check.fail(
                _CALLER,
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
        for response in answers_to_keep:
            answers = found[key_on_test(k, response.key)]
            labels = job.classes if answers.ndim == 2 else None
            checked = Rows(rows.y, answers, None, labels)
            for name in response.metrics:
                resolved_statistics({name: scorers[name]}, checked, None, f"{_CALLER}.fit")
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
    """Results by test set and metric; what must be warned of is said once.

    Parameters
    ----------
    asked : Asked
    tests : HeldOutSets
    samples : TrainingSamples
    responses, scorers : dict by metric
    records : sequence of dict
        Of the first run on all rows, then of those of `TrainingSamples.runs_for_tests`.
    """
    _check_enough(asked, samples, records)
    keys = dict.fromkeys(response.key for response in responses.values())
    found: dict[Any, dict[str, EvaluationResult]] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k, name in enumerate(tests.names):
            own: dict[str, EvaluationResult] = {}
            for key in keys:
                metric = {m: scorers[m] for m in scorers if responses[m].key == key}
                own |= _results(asked, tests, k, samples, key_on_test(k, key), metric, records)
            found[name] = {m: own[m] for m in scorers}
    for category, text in dict.fromkeys((one.category, str(one.message)) for one in caught):
        said = text.removeprefix("bootstrap_runs: ").removeprefix("bootstrap_score: ")
        warn_user(f"{_CALLER}: {said}", category)
    return found


def _check_enough(asked: Asked, samples: TrainingSamples, records: Sequence[Record]) -> None:
    """Refuse to speak of the method where too many runs failed."""
    if asked.estimand == "system":
        return
    good = _good(records)
    n_boot, n_seeds = samples.n_bootstrap_runs, samples.n_seeds
    left = {(run - 1) // n_seeds for run in good if 1 <= run <= n_boot} if n_boot else set(good)
    if len(left) < 2:
        what = "training samples" if n_boot else "runs"
        first = next(one["error"] for one in records if one["error"] is not None)
        raise ValueError(f"{_CALLER}: fewer than two {what} did not fail. The first said: {first}")


def _good(records: Sequence[Record]) -> list[int]:
    return [run for run, one in enumerate(records) if one["error"] is None]


def _results(
    asked: Asked,
    tests: HeldOutSets,
    k: int,
    samples: TrainingSamples,
    key: str,
    metric: dict[str, Any],
    records: Sequence[Record],
) -> dict[str, EvaluationResult]:
    """Results by metric, of metrics that read the same answers for one test set."""
    n_boot, good, y_test = samples.n_bootstrap_runs, _good(records), narrow(tests.rows[k].y)
    first = records[0][key]
    options: dict[str, Any] = {
        "metric": metric,
        "groups": tests.groups[k],
        "labels": asked.classes if first.ndim == 2 else None,
        "n_resamples": asked.n_resamples,
        "confidence_level": asked.confidence_level,
        "random_state": samples.test_resamples(),
        "n_jobs": asked.n_jobs,
    }
    is_system = asked.estimand == "system"
    interval = asked.interval if is_system else "auto"
    with warnings.catch_warnings():
        if not is_system:
            warnings.simplefilter("ignore")
        systems = bootstrap_score(y_test, first, interval=interval, **options)
    sampled = [run for run in good if 1 <= run <= n_boot]
    full = [run for run in good if run == 0 or run > n_boot]
    runs = sampled or full
    if len(runs) < 2:
        return {name: _finished(one, asked, samples) for name, one in systems.items()}
    if sampled:
        options["varied"] = "both" if samples.n_seeds > 1 else "training"
        options["full_runs"] = [records[run][key] for run in full]
        if samples.n_seeds > 1:
            options["training"] = [(run - 1) // samples.n_seeds for run in sampled]
    options |= {"estimand": asked.estimand, "interval": "auto" if is_system else asked.interval}
    several = bootstrap_runs(y_test, [records[run][key] for run in runs], **options)
    return {
        name: _finished(_with_system(found, systems[name], is_system), asked, samples)
        for name, found in several.items()
    }


def _with_system(
    found: EvaluationResult, system: EvaluationResult, is_system: bool
) -> EvaluationResult:
    """The system is the estimator that is kept, not the first run on a bootstrap sample."""
    assert found.over_runs is not None
    evidence = replace(found.over_runs, system=system.evidence)
    if not is_system:
        return replace(found, over_runs=evidence)
    return replace(system, over_runs=evidence, runs=found.runs, settings=found.settings)


def _finished(result: EvaluationResult, asked: Asked, samples: TrainingSamples) -> EvaluationResult:
    fixed = ("the number of training rows of each class",) if asked.stratify else ()
    return replace(
        result,
        held_fixed=(*result.held_fixed, *fixed),
        seed=stored_seed(samples.seed),
        settings={**result.settings, **asked.record},
    )


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
    """What is known of each run, those on all rows first; scores are those of ``result``."""
    n_boot, n_seeds = samples.n_bootstrap_runs, samples.n_seeds
    order = [0, *range(n_boot + 1, len(records)), *range(1, n_boot + 1)]
    scores = np.full(len(records), np.nan)
    good, evidence = _good(records), result.over_runs
    full = [run for run in good if run == 0 or run > n_boot]
    sampled = [run for run in good if 1 <= run <= n_boot]
    if evidence is None:
        scores[0] = result.estimate
    elif sampled:
        scores[sampled], scores[full] = evidence.scores, evidence.full_scores
    else:
        scores[full] = evidence.scores
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
