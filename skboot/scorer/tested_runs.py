"""Runs of methods on a test set: who succeeded, what each was trained on, and its rows.

Runs on the whole training set and on bootstrap samples of it, with several seeds each, separate
the variance due to the training set from those due to the seed and to the test rows. The rows left
out of a bootstrap sample are not used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.messages import refuse
from ..refit.samples import TrainingSamples
from ..refit.training import Record, key_on_test
from ..study.measured import Scores, Scoring, measured_by
from ..study.rows import Sampling, Wanted
from ..study.run_scores import RunsCall
from ..study.runs import Columns, paired_runs
from ..study.study import Study
from .kept_answers import narrow
from .training_runs import TestSetRuns


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
