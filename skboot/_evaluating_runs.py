"""The engine of `bootstrap_runs`: from checked runs and a plan to results.

`evaluate_runs` scores every run on the same test resamples, splits the variance of the scores by
what it comes from, and makes the result of what was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._evaluating import evaluate
from ._evidence import ScoreCall
from ._inputs import Part, Rows
from ._runs_inputs import Runs
from ._warnings import Note, Notes, texts_of
from .inference.automatic import degeneracy
from .inference.distribution import BoundStatistic, bootstrap, bootstrap_each
from .inference.intervals import Evidence
from .inference.run_intervals import RunsEvidence, runs_interval
from .inference.variance import (
    Components,
    ResampleNoise,
    RowNoise,
    RunVariance,
    UnitNoise,
    crossed_runs,
    least_test_variance,
    moments,
    over_runs_alone,
    trained_runs,
    within_samples,
)
from .metrics.additive import RowMean, mean_of_values
from .metrics.statistic import ReducedData, Statistic
from .resampling.coding import CodedRows
from .resampling.plan import ResamplingPlan
from .results import EvaluationResult

_FEW_RUNS = 10
# Runs whose rows take few values are drawn by counts of values, each by itself; others together.
_FEW_CODES = 1000


@dataclass(frozen=True, eq=False)
class RunsTask:
    """What the steps of one call share."""

    runs: Runs
    sample: NDArray[np.intp]
    varied: str
    estimand: str
    interval: str
    confidence_level: float
    plan: ResamplingPlan
    settings: dict[str, Any]
    caller: str

    @property
    def has_full(self) -> bool:
        return len(self.runs.rows) > self.runs.n_runs

    @property
    def centre(self) -> list[int]:
        """Runs that the centre comes from."""
        first = self.runs.n_runs if self.has_full else 0
        return list(range(first, len(self.runs.rows)))

    @property
    def keeps_training_list(self) -> bool:
        """Whether the runs share a training list; values that are given need not have any."""
        return self.varied == "seed" and self.runs.rows[0].y_true is not None


def evaluate_runs(
    task: RunsTask, statistics: Mapping[str, Statistic], n_jobs: int | None, verbose: int
) -> tuple[dict[str, EvaluationResult], list[Note]]:
    """Evaluate all runs by each metric.

    Parameters
    ----------
    task : RunsTask
    statistics : mapping of str to Statistic
        By metric name.
    n_jobs, verbose : int
        See `skboot.bootstrap_runs`.

    Returns
    -------
    results : dict of str to EvaluationResult
        By metric name.
    said : list of Note
        What must be warned of.
    """
    systems, said = _systems(task, statistics, n_jobs)
    results = {
        name: _evaluated(task, statistic, systems[name], said, n_jobs, verbose)
        for name, statistic in statistics.items()
    }
    return results, list(dict.fromkeys(said))


def refusal(estimand: str, varied: str, runs: Runs) -> str | None:
    """Say why the runs cannot answer for an estimand; None if they can."""
    if varied not in ("training", "both") or len(runs.rows) > runs.n_runs:
        return None
    return (
        f"The estimand {estimand!r} needs full_runs with varied={varied!r}: a bootstrap sample "
        "holds 63.2 % of the rows of the training list, so the centre of these runs is low. Give "
        "full_runs=, the predictions of one run or more on the whole list; or ask for "
        "estimand='pooled', the spread of single runs. If each run had a fresh training set of "
        "its own, use varied='independent'."
    )


def _systems(
    task: RunsTask, statistics: Mapping[str, Statistic], n_jobs: int | None
) -> tuple[dict[str, EvaluationResult], list[Note]]:
    """Result of the first run by metric, and its warnings where it is what was asked for."""
    asked = task.estimand == "system"
    interval = task.interval if asked else "auto"
    alone = ScoreCall(
        task.runs.rows[0],
        task.plan,
        interval,
        task.confidence_level,
        task.settings,
        task.caller,
        n_jobs,
    )
    found, notes = evaluate(alone, statistics, [Part(None, None)])
    return found, notes if asked else []


def _evaluated(
    task: RunsTask,
    statistic: Statistic,
    system: EvaluationResult,
    said: list[Note],
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
        n_test_units=task.plan.design.smallest_side,
        n_rows=task.plan.design.n_samples,
        bounds=statistic.bounds,
        zero_one_sign=sign,
        exact=exact,
    )
    notes = _notes(task, evidence, split)
    said.extend(note for note in notes if note.is_warning)
    return _packed(task, system, evidence, average, notes, said)


def _subject(statistic: Statistic, rows: Rows) -> BoundStatistic:
    reduced = statistic.reduce(*rows.of(None))
    coding = CodedRows(reduced.code, reduced.n_codes, statistic.reads, reduced.counts)
    return BoundStatistic(statistic, reduced, coding)


def _zero_one_sign(subjects: list[BoundStatistic]) -> float:
    """1 or -1 where every run's score is the mean of 0/1 values, or its negative; else 0."""
    found = [subject.statistic.proportion(subject.reduced) for subject in subjects]
    whole = all(one is not None and one.exact and one.scale == "identity" for one in found)
    return float(found[0].sign) if whole and found[0] is not None else 0.0


def _is_exact(task: RunsTask, statistic: Statistic) -> bool:
    """Whether scores are plain means of independent rows."""
    design = task.plan.design
    return (
        isinstance(statistic, RowMean)
        and statistic.is_row_mean
        and design.draws_independent_rows
        and task.runs.rows[0].sample_weight is None
    )


def _row_values(reduced: ReducedData) -> NDArray[Any]:
    """Value of each row, before its sign, (n_samples,); boolean where it is 0 or 1."""
    values = reduced.data["centre"] + reduced.terms[:, 1] / reduced.terms[:, 0]
    if reduced.code is not None and reduced.code.dtype == bool and tuple(values) == (0, 1):
        return np.asarray(reduced.code)
    if np.all((values == 0) | (values == 1)):
        values = values == 1
    return np.asarray(values if reduced.code is None else values[reduced.code.astype(np.intp)])


def _distributions(
    task: RunsTask,
    subjects: list[BoundStatistic],
    series: list[NDArray[Any]],
    statistic: Statistic,
    n_jobs: int | None,
    verbose: int,
) -> tuple[list[tuple[float, NDArray[np.float64]]], NDArray[np.float64]]:
    """Score and replicates of each run, and replicates of the mean that is the centre."""
    if series and all(subject.coding.n_codes <= _FEW_CODES for subject in subjects):
        # Counts of values are drawn in no time; together, every row would have to be drawn.
        # The test variances do not need common resamples: they come from the rows.
        values = mean_of_values()
        together = RowNoise(series).average(task.centre)
        reduced = values.reduce(None, together, None)
        coding = CodedRows(reduced.code, reduced.n_codes, values.reads)
        alone = [*subjects, BoundStatistic(values, reduced, coding)]
        *found, (_, mean) = bootstrap_each(task.plan, alone)
        return found, statistic.sign * mean  # type: ignore[attr-defined]
    binding = task.plan.bind([subject.coding for subject in subjects])
    drawn = bootstrap(binding, subjects, n_jobs=n_jobs, verbose=verbose)
    centre = np.mean([drawn[run].replicates for run in task.centre], axis=0)
    return [(one.estimate, one.replicates) for one in drawn], centre


def _resample_noise(task: RunsTask, replicates: NDArray[np.float64]) -> ResampleNoise:
    """Noise from the resamples on which every run has a score."""
    defined = ~np.isnan(replicates).any(axis=0)
    return ResampleNoise(replicates[:, defined], task.plan.design.inflation)


def _refused(
    task: RunsTask, scores: NDArray[np.float64], replicates: NDArray[np.float64]
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
        if unanswered := refusal(estimand, task.varied, task.runs):
            refused[estimand] = unanswered
    on_samples = task.varied in ("training", "both")
    if on_samples and (len(task.centre) < 2 or not task.has_full):
        refused["t"] = (
            "The interval 't' needs at least two runs on the whole training list that differ in "
            "their seed. Give them as full_runs=, or use 'components'."
        )
    return refused


def _split(
    task: RunsTask, scores: NDArray[np.float64], noise: UnitNoise, zero_one: bool
) -> RunVariance:
    """Variance components, and what follows for the method and the next run."""
    test_df = task.plan.design.degrees_of_freedom
    singles = [[run] for run in range(task.runs.n_runs)]
    options: dict[str, Any] = {"n_units": task.plan.design.smallest_side}
    if zero_one:
        options["floor"] = least_test_variance(task.plan.design.n_samples)
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


def _notes(task: RunsTask, evidence: RunsEvidence, split: RunVariance | None) -> Notes:
    """Return what a reader must know of the runs."""
    notes = Notes()
    if task.estimand == "system":
        return notes
    n_samples = int(task.sample.max()) + 1 if task.varied == "both" else task.runs.n_runs
    on_samples = task.varied in ("training", "both")
    if n_samples < _FEW_RUNS:
        what = "training samples" if on_samples else "runs"
        notes.add(
            "few",
            f"Only {n_samples} {what} (fewer than {_FEW_RUNS}): the variance between them is "
            "poorly known, and the interval is wide or covers less than stated.",
        )
    if task.estimand == "pooled":
        share = "a bootstrap sample holds 63.2 % of the training list"
        low = f", and centred low, since {share}" if on_samples else ""
        notes.add(
            "advice",
            f"The pool shows the spread of single runs{low}: it is no confidence "
            "interval for the method and no prediction interval for the next run.",
        )
    elif task.interval == "t":
        one_list = task.keeps_training_list or on_samples
        fixed = "test rows and training list" if one_list else "test rows"
        notes.add(
            "advice",
            f"The t interval over the runs alone holds {fixed} fixed: over seeds it "
            "covered the mean of the method in 0 to 62 % of simulations.",
        )
    elif split is not None:
        _add_notes_of_components(notes, task, evidence, split)
    return notes


def _add_notes_of_components(
    notes: Notes, task: RunsTask, evidence: RunsEvidence, split: RunVariance
) -> None:
    """Add what a reader must know of the variance components."""
    same = task.varied == "seed" and np.all(evidence.scores == evidence.scores[0])
    no_seeds = task.varied == "both" and "seed" not in split.clipped
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
    if task.varied in ("training", "independent"):
        notes.add(
            "advice",
            "The training component holds the part of the seeds too: no training sample was run "
            "with several.",
        )
    if task.varied in ("training", "both"):
        notes.add(
            "advice",
            "The training component comes from bootstrap samples of one list: measured a little "
            "large for most learners, too small for unsmooth ones such as 1-nearest-neighbour.",
        )


def _packed(
    task: RunsTask,
    system: EvaluationResult,
    evidence: RunsEvidence,
    average: NDArray[np.float64],
    notes: list[Note],
    said: list[Note],
) -> EvaluationResult:
    runs = _table_of_runs(task, evidence)
    if task.estimand == "system":
        return replace(system, over_runs=evidence, runs=runs, settings=task.settings)
    choice = runs_interval(evidence, task.estimand, task.interval, task.confidence_level)
    said.extend(choice.warnings)
    degenerate = degeneracy(choice.interval)
    held_fixed = ["training list" if task.keeps_training_list else "settings of the method"]
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
        notes=(*texts_of((*choice.notes, *notes)), *([degenerate] if degenerate else [])),
        held_fixed=tuple(held_fixed),
        is_confidence_interval=task.estimand == "method",
        settings=task.settings,
        runs=runs,
        over_runs=evidence,
    )


def _table_of_runs(task: RunsTask, evidence: RunsEvidence) -> dict[str, Any]:
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
    task: RunsTask, system: Evidence, evidence: RunsEvidence, average: NDArray[np.float64]
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
