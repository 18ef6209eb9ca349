"""Evaluate several runs of one method on one test set, trained anywhere.

Use `bootstrap_runs` for the predictions of several seeds, training samples or training sets. One
set of runs answers for the method, for the next run, for the first system and for the pool of all
runs; `skboot.evaluation.bootstrap_score` is for a single run.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _validation as check
from ._inputs import Rows, resampling_plan, resolved_statistics
from ._runs_inputs import Runs, checked_runs, training_samples
from ._warnings import warn_user
from .evaluation import bootstrap_score
from .inference.choice import degeneracy
from .inference.distribution import Subject, bootstrap, bootstrap_each
from .inference.intervals import FOR_ONE_SCORE, Evidence
from .inference.run_intervals import (
    ESTIMANDS,
    RunsEvidence,
    check_method,
    runs_interval,
)
from .inference.variance import (
    Components,
    ResampleNoise,
    RowNoise,
    RunVariance,
    UnitNoise,
    crossed_runs,
    moments,
    over_runs_alone,
    trained_runs,
    wilson_floor,
    within_samples,
)
from .metrics.additive import RowMean, mean_of_losses
from .metrics.lookup import check_response
from .metrics.statistic import Reduced, Statistic
from .resampling.plan import Coding, ResamplingPlan
from .results import EvaluationResult, ResultTable

_CALLER = "bootstrap_runs"
_VARIED = ("seed", "training", "both", "independent")
_FEW_RUNS = 10
# Runs whose rows take few values are drawn by counts of values, each by itself; others together.
_FEW_CODES = 1000


def bootstrap_runs(
    y_true: ArrayLike | None,
    y_preds: Any,
    *,
    metric: Any,
    varied: str = "seed",
    training: ArrayLike | None = None,
    full_runs: Any = None,
    estimand: str = "method",
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    interval: str = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Any:
    """Score of a method from several runs on one test set, with an interval for it.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels or values. None with ``metric="mean"`` or a callable of predictions alone.
    y_preds : array-like of shape (n_runs, n_samples) or (n_runs, n_samples, n_classes), or list
        Predictions of each run, as `bootstrap_score` takes them; per-row losses with
        ``metric="mean"``.
    metric : str, callable, scorer, list or dict
        As of `bootstrap_score`. A list or dict gives a dict of results.
    varied : {"seed", "training", "both", "independent"}
        In what the runs differ. "seed": the seed alone, on one training list. "training": each
        run on its own bootstrap sample of the list. "both": several seeds on each bootstrap
        sample. "independent": each run on its own fresh training set.
    training : array-like of shape (n_runs,), optional
        The training sample of each run, by number or name, with ``varied="both"``.
    full_runs : array-like of shape (n_full_runs, n_samples[, n_classes]), or list, optional
        Predictions of runs on the whole training list, with ``varied="training"`` or "both". The
        centre comes from them: a bootstrap sample holds 63.2 % of the list's rows.
    estimand : {"method", "next_run", "pooled", "system"}
        What the interval is for: the expected score of the method; the score of the next run, on
        as many new test rows (a prediction interval); the spread of single runs, percentiles of
        all test replicates of all runs (no confidence interval); the first run alone.
    groups : array-like of shape (n_samples,) or (n_samples, 2), optional
        Rows of one group are drawn together. Two columns are crossed factors.
    strata : array-like of shape (n_samples,), optional
        Units are drawn within strata.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of probabilities.
    n_resamples : int
        Number of test resamples, at least 2; all runs share them.
    confidence_level : float
        In (0, 1).
    interval : str
        "auto"; "components" (variance components, Student's t); "t" (over the seeds alone, test
        rows held fixed; for "method"); "percentile" (makes the estimand "pooled"); for the
        estimand "system" any name `bootstrap_score` takes.
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same numbers at every call.
    n_jobs : int, optional
        Workers at most; used when the work takes seconds. The numbers do not depend on it.
    verbose : int
        1 shows progress on stderr.

    Returns
    -------
    EvaluationResult or dict
        ``result.interval(estimand=...)`` answers for the other estimands, computing nothing
        again; ``variance_components`` says what the score varies with; ``runs`` holds the scores.

    Raises
    ------
    ValueError
        For arguments that cannot be right, and for what the runs cannot tell: the method from
        bootstrap samples without ``full_runs``.

    Warns
    -----
    UserWarning
        With fewer than ten runs, and where an interval is known to be unreliable.

    Notes
    -----
    For means of row values of independent rows the test variances are exact; for other metrics,
    groups, strata and weights they come from the resamples. The formulas are those of
    `skboot.inference.variance`; the user guide has their measured coverage.

    References
    ----------
    Searle, Casella & McCulloch (1992), Variance Components; Satterthwaite (1946), Biometrics
    Bulletin 2, 110-114.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import bootstrap_runs
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, size=500)
    >>> hard = rng.random(500) < 0.3  # rows on which ten trained systems err now and then
    >>> wrong = hard & (rng.random((10, 500)) < 0.5)
    >>> result = bootstrap_runs(y_true, y_true ^ wrong, metric="accuracy", random_state=0)
    >>> print(f"{result.estimate:.3f}, {result.standard_error:.4f}")
    0.861, 0.0119
    >>> low, high, *_ = result.interval(estimand="next_run")
    >>> print(f"next run {low:.2f} to {high:.2f}")
    next run 0.81 to 0.91
    """
    check.check_confidence_level(confidence_level, _CALLER)
    check.check_choice("varied", varied, _CALLER, _VARIED)
    estimand = _checked_estimand(estimand, interval)
    runs = checked_runs(y_true, y_preds, full_runs, sample_weight, labels, varied, _CALLER)
    sample = training_samples(training, varied, runs.n_runs, _CALLER)
    statistics, single = _statistics(metric, runs)
    plan = resampling_plan(
        groups, strata, False, None, n_resamples, random_state, runs.rows[0], _CALLER
    )
    if estimand in ("method", "next_run") and (refusal := _refusal(estimand, varied, runs)):
        raise ValueError(refusal)
    options = {
        "groups": groups,
        "strata": strata,
        "sample_weight": sample_weight,
        "labels": labels,
        "n_jobs": n_jobs,
    }
    task = _Task(runs, sample, varied, estimand, interval, float(confidence_level), plan, {})
    task = replace(task, settings=_recorded(task, options))
    systems, said = _systems(task, metric, single, options)
    results = {
        name: _evaluated(task, statistic, systems[name], said, n_jobs, verbose)
        for name, statistic in statistics.items()
    }
    for sentence in dict.fromkeys(said):
        warn_user(f"{_CALLER}: {sentence}")
    return next(iter(results.values())) if single else ResultTable(results)


# ------------------------------------------------------------------ arguments


def _statistics(metric: Any, runs: Runs) -> tuple[dict[str, Statistic], bool]:
    """Statistics by name, checked against the predictions of every run."""
    statistics, single = resolved_statistics(metric, runs.rows[0], None, _CALLER)
    for statistic in statistics.values():
        for rows in runs.rows[1:]:
            check_response(statistic, rows.y_true, rows.y_pred, _CALLER)
    return statistics, single


@dataclass(frozen=True, eq=False)
class _Task:
    """What the steps of one call share."""

    runs: Runs
    sample: NDArray[np.intp]
    varied: str
    estimand: str
    interval: str
    confidence_level: float
    plan: ResamplingPlan
    settings: dict[str, Any]

    @property
    def has_full(self) -> bool:
        return len(self.runs.rows) > self.runs.n_runs

    @property
    def centre(self) -> list[int]:
        """Runs that the centre comes from."""
        first = self.runs.n_runs if self.has_full else 0
        return list(range(first, len(self.runs.rows)))

    @property
    def n_strata(self) -> int:
        strata = self.plan.design.strata
        return 1 if strata is None else int(strata.max()) + 1

    @property
    def n_units(self) -> int:
        return self.plan.design.smallest_side


def _recorded(task: _Task, options: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of the call, for the result."""
    return {
        "varied": task.varied,
        "estimand": task.estimand,
        "interval": task.interval,
        "confidence_level": task.confidence_level,
        "n_resamples": task.plan.n_resamples,
        "n_runs": task.runs.n_runs,
        "n_full_runs": len(task.runs.rows) - task.runs.n_runs,
        **{name: options[name] is not None for name in ("groups", "strata", "sample_weight")},
    }


def _checked_estimand(estimand: str, interval: str) -> str:
    """Estimand of the call, and whether it has the interval."""
    check.check_choice("estimand", estimand, _CALLER, ESTIMANDS)
    known = [*FOR_ONE_SCORE, "auto", "components"]
    check.check_choice("interval", interval, _CALLER, known)
    if interval == "percentile" and estimand == "method":
        # The pooled recipe goes by the name of its interval.
        return "pooled"
    if estimand != "system":
        check_method(estimand, interval)
    elif interval == "components":
        raise check.fail(
            _CALLER,
            "interval",
            "be one of bootstrap_score's for the estimand 'system'",
            "'components'",
            "One system has no variance between runs.",
        )
    return estimand


def _refusal(estimand: str, varied: str, runs: Runs) -> str | None:
    if varied not in ("training", "both") or len(runs.rows) > runs.n_runs:
        return None
    return (
        f"The estimand {estimand!r} needs full_runs with varied={varied!r}: a bootstrap sample "
        "holds 63.2 % of the rows of the training list, so the centre of these runs is low. Give "
        "full_runs=, the predictions of one run or more on the whole list; or ask for "
        "estimand='pooled', the spread of single runs. If each run had a fresh training set of "
        "its own, use varied='independent'."
    )


# ------------------------------------------------------------------ evaluation


def _systems(
    task: _Task, metric: Any, single: bool, options: Mapping[str, Any]
) -> tuple[dict[str, EvaluationResult], list[str]]:
    """Result of the first run by metric, and its warnings where it is what was asked for."""
    rows = task.runs.rows[0]
    asked = task.estimand == "system"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = bootstrap_score(
            rows.y_true,
            rows.y_pred,
            metric=metric,
            n_resamples=task.plan.n_resamples,
            confidence_level=task.confidence_level,
            interval=task.interval if asked else "auto",
            random_state=task.plan.seed,
            **options,
        )
    results = {found.metric: found} if single else dict(found)
    said = [str(warning.message).removeprefix("bootstrap_score: ") for warning in caught]
    return results, said if asked else []


def _evaluated(
    task: _Task,
    statistic: Statistic,
    system: EvaluationResult,
    said: list[str],
    n_jobs: int | None,
    verbose: int,
) -> EvaluationResult:
    """Result for one metric."""
    subjects = [_subject(statistic, rows) for rows in task.runs.rows]
    exact = _is_exact(task, statistic)
    series = [_row_values(subject.reduced) for subject in subjects] if exact else []
    distributions, average = _distributions(task, subjects, series, statistic, n_jobs, verbose)
    scores = np.array([score for score, _ in distributions])
    replicates = np.array([values for _, values in distributions])
    sign = _zero_one_sign(subjects)
    refused = _refused(task, scores, replicates)
    noise: UnitNoise = RowNoise(series) if exact else _resample_noise(task, replicates)
    split = None if "components" in refused else _split(task, scores, noise, sign != 0)
    known = "method" not in refused and split is not None
    evidence = RunsEvidence(
        varied=task.varied,
        scores=scores[: task.runs.n_runs],
        full_scores=scores[task.runs.n_runs :],
        replicates=replicates[: task.runs.n_runs],
        components=split.components if split else Components(*[np.nan] * 4),
        method=split.method if known and split else None,
        next_run=split.next_run if known and split else None,
        seeds=None if "t" in refused else over_runs_alone(scores[task.centre]),
        refused=refused,
        system=system.evidence,
        n_test_units=task.n_units,
        n_rows=task.plan.design.n_samples,
        bounds=statistic.bounds,
        zero_one_sign=sign,
        exact=exact,
    )
    notes = _notes(task, evidence, split)
    said.extend(note for note in notes if note.startswith("Only"))
    return _packed(task, system, evidence, average, notes, said)


def _subject(statistic: Statistic, rows: Rows) -> Subject:
    reduced = statistic.reduce(*rows.of(None))
    coding = Coding(reduced.code, reduced.n_codes, statistic.reads, reduced.counts)
    return Subject(statistic, reduced, coding)


def _zero_one_sign(subjects: list[Subject]) -> float:
    """1 or -1 where every run's score is the mean of 0/1 values, or its negative; else 0."""
    found = [subject.statistic.proportion(subject.reduced) for subject in subjects]
    whole = all(one is not None and one.exact and one.scale == "identity" for one in found)
    return float(found[0].sign) if whole and found[0] is not None else 0.0


def _is_exact(task: _Task, statistic: Statistic) -> bool:
    """Whether scores are plain means of independent rows."""
    design = task.plan.design
    plain = design.kind == "rows" and design.strata is None
    return (
        isinstance(statistic, RowMean)
        and statistic.is_row_mean
        and plain
        and task.runs.rows[0].sample_weight is None
    )


def _row_values(reduced: Reduced) -> NDArray[Any]:
    """Value of each row, before its sign, (n_samples,); boolean where it is 0 or 1."""
    values = reduced.data["centre"] + reduced.terms[:, 1] / reduced.terms[:, 0]
    if reduced.code is not None and reduced.code.dtype == bool and tuple(values) == (0, 1):
        return np.asarray(reduced.code)
    if np.all((values == 0) | (values == 1)):
        values = values == 1
    return np.asarray(values if reduced.code is None else values[reduced.code.astype(np.intp)])


def _distributions(
    task: _Task,
    subjects: list[Subject],
    series: list[NDArray[Any]],
    statistic: Statistic,
    n_jobs: int | None,
    verbose: int,
) -> tuple[list[tuple[float, NDArray[np.float64]]], NDArray[np.float64]]:
    """Score and replicates of each run, and replicates of the mean that is the centre."""
    if series and all(subject.coding.n_codes <= _FEW_CODES for subject in subjects):
        # Counts of values are drawn in no time; together, every row would have to be drawn.
        # The test variances do not need common resamples: they come from the rows.
        losses = mean_of_losses()
        together = RowNoise(series).average(task.centre)
        reduced = losses.reduce(None, together, None)
        coding = Coding(reduced.code, reduced.n_codes, losses.reads)
        alone = [*subjects, Subject(losses, reduced, coding)]
        *found, (_, mean) = bootstrap_each(task.plan, alone)
        return found, statistic.sign * mean  # type: ignore[attr-defined]
    binding = task.plan.bind([subject.coding for subject in subjects])
    drawn = bootstrap(binding, subjects, n_jobs=n_jobs, verbose=verbose)
    centre = np.mean([drawn[run].replicates for run in task.centre], axis=0)
    return [(one.estimate, one.replicates) for one in drawn], centre


def _resample_noise(task: _Task, replicates: NDArray[np.float64]) -> ResampleNoise:
    """Noise from the resamples on which every run has a score."""
    defined = ~np.isnan(replicates).any(axis=0)
    n = task.n_units
    inflation = 1.0 if task.plan.design.is_crossed else n / max(n - task.n_strata, 1)
    return ResampleNoise(replicates[:, defined], inflation)


def _refused(
    task: _Task, scores: NDArray[np.float64], replicates: NDArray[np.float64]
) -> dict[str, str]:
    """Why an estimand, the interval "t" or the components cannot be had."""
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
        if refusal := _refusal(estimand, task.varied, task.runs):
            refused[estimand] = refusal
    on_samples = task.varied in ("training", "both")
    if on_samples and (len(task.centre) < 2 or not task.has_full):
        refused["t"] = (
            "The interval 't' needs at least two runs on the whole training list that differ in "
            "their seed. Give them as full_runs=, or use 'components'."
        )
    return refused


def _split(
    task: _Task, scores: NDArray[np.float64], noise: UnitNoise, zero_one: bool
) -> RunVariance:
    """Variance components, and what follows for the method and the next run."""
    n, n_runs = task.n_units, task.runs.n_runs
    test_df = max(n - task.n_strata, 1)
    singles = [[run] for run in range(n_runs)]
    options: dict[str, Any] = {"n_units": n}
    if zero_one:
        options["floor"] = wilson_floor(task.plan.design.n_samples)
    if task.varied in ("seed", "independent"):
        source = "seed" if task.varied == "seed" else "training"
        runs = moments(scores, noise, singles)
        return crossed_runs(runs, test_df, source=source, **options)
    members = [np.flatnonzero(task.sample == k) for k in range(int(task.sample.max()) + 1)]
    within = within_samples(scores, noise, members)
    samples = moments(scores, noise, members)
    # Without runs on the full list only the components are shown.
    full = moments(scores, noise, [[run] for run in task.centre])
    return trained_runs(samples, within, full, test_df, **options)


# ------------------------------------------------------------------ results


def _notes(task: _Task, evidence: RunsEvidence, split: RunVariance | None) -> list[str]:
    """What a reader must know of the runs."""
    notes: list[str] = []
    if task.estimand == "system":
        return notes
    n_samples = int(task.sample.max()) + 1 if task.varied == "both" else task.runs.n_runs
    what = {"both": "training samples", "training": "training samples"}.get(task.varied, "runs")
    if n_samples < _FEW_RUNS:
        notes.append(
            f"Only {n_samples} {what} (fewer than {_FEW_RUNS}): the variance between them is "
            "poorly known, and the interval is wide or covers less than stated."
        )
    if task.estimand == "pooled":
        low = (
            ""
            if task.varied in ("seed", "independent")
            else (", and centred low, since a bootstrap sample holds 63.2 % of the training list")
        )
        return [
            *notes,
            f"The pool shows the spread of single runs{low}: it is no confidence "
            "interval for the method and no prediction interval for the next run.",
        ]
    if task.interval == "t":
        fixed = "test rows" if task.varied == "independent" else "test rows and training list"
        return [
            *notes,
            f"The t interval over the runs alone holds {fixed} fixed: over seeds it "
            "covered the mean of the method in 0 to 62 % of simulations.",
        ]
    if split is None:
        return notes
    seed = evidence.components.seed
    same = task.varied == "seed" and np.all(evidence.scores == evidence.scores[0])
    if seed == 0 and (same or (task.varied == "both" and "seed" not in split.clipped)):
        notes.append(
            "The seed component is 0: runs that differ only in their seed gave the same scores, "
            "as a method without randomness does. More seeds would add nothing."
        )
    names = {"test": "test-unit", "seed": "seed", "training": "training"}
    notes += [
        f"The {names[source]} component was estimated below 0 and is set to 0."
        for source in split.clipped
    ]
    if task.varied in ("training", "independent"):
        notes.append(
            "The training component holds the part of the seeds too: no training sample was run "
            "with several."
        )
    if task.varied in ("training", "both"):
        notes.append(
            "The training component comes from bootstrap samples of one list: measured a little "
            "large for most learners, too small for unsmooth ones such as 1-nearest-neighbour."
        )
    return notes


def _packed(
    task: _Task,
    system: EvaluationResult,
    evidence: RunsEvidence,
    average: NDArray[np.float64],
    notes: list[str],
    said: list[str],
) -> EvaluationResult:
    runs = _table_of_runs(task, evidence)
    if task.estimand == "system":
        return replace(system, over_runs=evidence, runs=runs, settings=task.settings)
    choice = runs_interval(evidence, task.estimand, task.interval, task.confidence_level)
    said.extend(choice.warnings)
    degenerate = degeneracy(choice.interval)
    held_fixed = ["training list"] if task.varied == "seed" else ["settings of the method"]
    if task.interval == "t":
        held_fixed.append("test rows")
    if task.plan.design.strata is not None:
        held_fixed.append("the number of units in each stratum")
    return replace(
        system,
        estimand=task.estimand,
        evidence=_evidence_for(task, system.evidence, evidence, average),
        confidence_interval=choice.interval,
        automatic=task.interval == "auto",
        notes=(*choice.notes, *notes, *([degenerate] if degenerate else [])),
        held_fixed=tuple(held_fixed),
        is_confidence_interval=task.estimand == "method",
        settings=task.settings,
        runs=runs,
        over_runs=evidence,
    )


def _table_of_runs(task: _Task, evidence: RunsEvidence) -> dict[str, Any]:
    """Properties of all runs, those on the full list last with training sample -1."""
    n_full = len(evidence.full_scores)
    return {
        "score": np.concatenate([evidence.scores, evidence.full_scores]),
        "training": np.concatenate([task.sample, np.full(n_full, -1, np.intp)]),
        "full_list": np.arange(len(evidence.scores) + n_full) >= len(evidence.scores)
        if task.varied in ("training", "both")
        else np.ones(len(evidence.scores), bool),
    }


def _evidence_for(
    task: _Task, system: Evidence, evidence: RunsEvidence, average: NDArray[np.float64]
) -> Evidence:
    """What the result of the estimand shows: its estimate, replicates and standard error."""
    design = Evidence(
        0.0, system.replicates, system.kind, system.n_units, system.n_strata, system.bounds
    )
    if task.estimand == "pooled":
        pool = evidence.replicates.ravel()
        return replace(design, estimate=float(evidence.scores.mean()), replicates=pool)
    spread = evidence.next_run if task.estimand == "next_run" else evidence.method
    if task.interval == "t":
        spread = evidence.seeds
    assert spread is not None
    return replace(
        design, estimate=spread.centre, replicates=average, standard_error=spread.standard_error
    )
