"""Scores of several runs of one method: reduced before resampling, and on the resamples.

`bound_runs` reduces the rows of every run of a method for one metric. `bootstrapped_runs` draws for
one method, and `drawn_together` for several: all metrics and methods of a call on the same
resamples. One of the runs is the system: it has the evidence that `bootstrap_score` would have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inference.distribution import BootstrapDistribution, BoundStatistic, bootstrap_each
from ..inference.evidence import Evidence
from ..inference.runs import RowNoise
from ..metrics.means import mean_of_values
from ..metrics.statistic import Statistic
from .rows import Measured
from .runs import Runs
from .study import Score, Study, draw

Floats = NDArray[np.float64]

# Maximum number of values of the rows of a run; above it all runs are drawn together, since counts
# of so many values are drawn no faster than rows.
_FEW_CODES = 1000


@dataclass(frozen=True, eq=False)
class RunsCall:
    """Checked arguments of an evaluation of one method by several runs.

    Attributes
    ----------
    study : Study
        Of all methods of the call.
    runs : Runs
    sample : ndarray of shape (n_runs,)
        Number of the training sample of each run.
    varied, estimand : str
        As of `skboot.bootstrap_runs`.
    system_run : int
        Number of the run that the estimand "system" is about.
    """

    study: Study
    runs: Runs
    sample: NDArray[np.intp]
    varied: str
    estimand: str = "method"
    system_run: int = 0

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the call as a result holds them."""
        return {
            **self.study.settings,
            "varied": self.varied,
            "estimand": self.estimand,
            "n_runs": self.runs.n_runs,
            "n_full_runs": len(self.runs.rows) - self.runs.n_runs,
            "y_true": self.runs.rows[0].y_true is not None,
        }

    @cached_property
    def has_full(self) -> bool:
        """Whether there are runs on the full training set beside those on samples of it."""
        return len(self.runs.rows) > self.runs.n_runs

    @cached_property
    def on_samples(self) -> bool:
        """Whether the runs are on bootstrap samples of one training set."""
        return self.varied in ("training", "both")

    @cached_property
    def centre(self) -> list[int]:
        """Runs that the centre comes from."""
        first = self.runs.n_runs if self.has_full else 0
        return list(range(first, len(self.runs.rows)))

    @cached_property
    def samples(self) -> list[NDArray[np.intp]]:
        """Runs of each training sample with varied="both"; else each run by itself."""
        if self.varied != "both":
            return [np.array([run]) for run in range(self.runs.n_runs)]
        return [np.flatnonzero(self.sample == k) for k in range(int(self.sample.max()) + 1)]

    @cached_property
    def keeps_training_list(self) -> bool:
        """Whether the runs share a training set; values that are given need not have any."""
        return self.varied == "seed" and self.runs.rows[0].y_true is not None

    @cached_property
    def of_system(self) -> Study:
        """Study of the system alone."""
        interval = self.study.interval if self.estimand == "system" else "auto"
        of_values = self.runs.rows[0].y_true is None
        facts = replace(self.study.facts, varied=self.varied, runs_of_values=of_values)
        return replace(self.study, interval=interval, settings=self.settings, facts=facts)


@dataclass(frozen=True, eq=False)
class BoundRuns:
    """The rows of every run, reduced for one metric, and what is known before resampling.

    Attributes
    ----------
    call : RunsCall
    subjects : list of BoundStatistic
        One per run.
    system : Score
        The system.
    row_values : list of ndarray of shape (n_samples,), or None
        Value of each row in each run, before the metric's sign, where scores are plain means of
        independent rows.
    """

    call: RunsCall
    subjects: list[BoundStatistic[Statistic]]
    system: Score
    row_values: list[NDArray[Any]] | None


@dataclass(frozen=True, eq=False)
class ScoredRuns:
    """Scores of every run of a method by one metric, those on the full training set last.

    Attributes
    ----------
    bound : BoundRuns
    scores : ndarray of shape (n_runs,)
    replicates : ndarray of shape (n_runs, n_resamples)
    centre_replicates : ndarray of shape (n_resamples,)
        Mean over the runs that the centre comes from.
    system : Evidence
        Of the system, with replicates.
    """

    bound: BoundRuns
    scores: Floats
    replicates: Floats
    centre_replicates: Floats
    system: Evidence


def bound_runs(call: RunsCall, metric: str, runs: Sequence[Measured]) -> BoundRuns:
    """Return the reduced rows of every run.

    Parameters
    ----------
    call : RunsCall
    metric : str
        Its name.
    runs : sequence of Measured
        The metric on the rows of each run.

    Returns
    -------
    BoundRuns
    """
    keeps_values = _is_mean_of_independent_rows(call, runs[0].statistic)
    study, own = call.of_system, runs[call.system_run]
    system = study.source.prepare(study.plan, study.interval, metric, own)
    subjects = []
    for run, one in enumerate(runs):
        if run == call.system_run:
            subjects.append(system.subject)
        else:
            reduced = one.statistic.reduce(*one.rows.of(one.statistic, None))
            subjects.append(BoundStatistic.of(one.statistic, reduced))
    values = None
    if keeps_values:
        values = [subject.statistic.values_of(subject.reduced) for subject in subjects]
    return BoundRuns(call, subjects, system, values)


def _is_mean_of_independent_rows(call: RunsCall, statistic: Statistic) -> bool:
    """Return whether scores are plain means of independent rows."""
    design = call.study.plan.design
    return (
        design.draws_independent_rows
        and statistic.of_row_values
        and statistic.is_row_mean
        and call.runs.rows[0].sample_weight is None
    )


def bootstrapped_runs(metrics: Sequence[BoundRuns]) -> list[ScoredRuns]:
    """Return the scores of every run of one method, with replicates.

    Parameters
    ----------
    metrics : sequence of BoundRuns
        The runs, reduced for each metric; their calls have the same plan.

    Returns
    -------
    list of ScoredRuns
        By each metric, all on the same resamples. A single mean of rows that take few values is
        drawn by counts of these, run by run.
    """
    if len(metrics) == 1 and metrics[0].row_values is not None:
        [bound] = metrics
        if all(subject.coding.n_codes <= _FEW_CODES for subject in bound.subjects):
            return [_drawn_by_counts(bound)]
    return drawn_together(metrics)


def drawn_together(bound: Sequence[BoundRuns]) -> list[ScoredRuns]:
    """Return the scores of every run of several methods, or by several metrics.

    Parameters
    ----------
    bound : sequence of BoundRuns
        The runs of each method, reduced for each metric; their calls have the same plan.

    Returns
    -------
    list of ScoredRuns
        All on the same resamples.
    """
    call = bound[0].call
    subjects = [subject for own in bound for subject in own.subjects]
    stops = np.cumsum([len(own.subjects) for own in bound]).tolist()
    starts = [0, *stops[:-1]]
    systems = {
        start + own.call.system_run: own.system for start, own in zip(starts, bound, strict=True)
    }
    draws = draw(call.study.plan, subjects, call.study.workers, systems)
    return [
        _scored_runs(own, draws.distributions[start:stop], system)
        for own, start, stop, system in zip(
            bound, starts, stops, draws.evidence.values(), strict=True
        )
    ]


def _scored_runs(
    bound: BoundRuns, drawn: Sequence[BootstrapDistribution], system: Evidence
) -> ScoredRuns:
    """Return the scores of the runs of a method from the distribution of each."""
    replicates = np.array([each.replicates for each in drawn])
    scores = np.array([each.estimate for each in drawn])
    centre = replicates[bound.call.centre].mean(axis=0)
    return ScoredRuns(bound, scores, replicates, centre, system)


def _drawn_by_counts(bound: BoundRuns) -> ScoredRuns:
    """Return the scores of runs whose rows take few values, each drawn by counts of its values.

    Drawn together, every row would have to be drawn. The test variances need no common resamples,
    since they come from the rows; the mean of the runs is drawn as a run of its own.
    """
    assert bound.row_values is not None
    call, subjects, run = bound.call, bound.subjects, bound.call.system_run
    study = call.study
    system = study.source.draw(study.plan, [bound.system], study.workers)
    [drawn] = system.distributions
    mean = mean_of_values()
    of_centre = mean.reduce(None, RowNoise(bound.row_values).average(call.centre), None)
    last: BoundStatistic[Any] = BoundStatistic.of(mean, of_centre)
    others = [*subjects[:run], *subjects[run + 1 :], last]
    *pairs, (_, centre) = bootstrap_each(call.study.plan, others)
    pairs.insert(run, (drawn.estimate, drawn.replicates))
    return ScoredRuns(
        bound,
        np.array([score for score, _ in pairs]),
        np.array([replicates for _, replicates in pairs]),
        subjects[0].statistic.sign * centre,
        system.evidence[0],
    )
