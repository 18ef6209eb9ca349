"""The engine of `bootstrap_score`: from checked rows and a plan to results and their gap.

`evaluate` binds every metric and subgroup to one plan, resamples once, and makes a result of each;
the comparison of systems uses the steps that stand below it.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn
from sklearn.exceptions import UndefinedMetricWarning

from ._evidence import Task, jackknives_of, subject_of, with_replicates
from ._gaps import NO_PAIR, gap_of, kept_of, measured, no_gap, side_of
from ._inputs import Part
from ._streams import stored_seed
from ._warnings import warn_user
from .inference.automatic import automatic_interval, degeneracy, left_out_estimate, planned_method
from .inference.distribution import (
    Jackknife,
    bootstrap,
)
from .inference.intervals import (
    WITHOUT_REPLICATES,
    ConfidenceInterval,
    Evidence,
    confidence_interval,
)
from .metrics.statistic import ReducedData, Statistic
from .results import EvaluationResult, ResultTable

# Resamples that are drawn at most where no limit is made of them.
_MOST_UNNEEDED = 100_000

UNITS = {
    "rows": "row",
    "groups": "group",
    "crossed": "member of each factor",
    "one population": "member",
}


def evaluate(
    task: Task,
    statistics: Mapping[str, Statistic],
    parts: Sequence[Part],
    n_jobs: int | None,
    verbose: int,
) -> dict[str, Any]:
    """Evaluate each metric on each part.

    Parameters
    ----------
    task : Task
    statistics : mapping of str to Statistic
        By metric name.
    parts : sequence of Part
        One part of all rows, or one for each subgroup.
    n_jobs, verbose : int
        See `skboot.bootstrap_score`.

    Returns
    -------
    dict
        Results by metric name; a table by subgroup within where there are subgroups.
    """
    subjects, evidence = [], []
    for statistic in statistics.values():
        for part in parts:
            subject, known = subject_of(task, statistic, part)
            subjects.append(subject)
            evidence.append(known)
    if len(parts) == 1 and all(_needs_no_replicates(task, known) for known in evidence):
        task = _with_fewer_resamples(task)
    binding = task.plan.bind([subject.coding for subject in subjects])
    distributions = bootstrap(binding, subjects, n_jobs=n_jobs, verbose=verbose, caller=task.caller)
    jackknives: Sequence[Jackknife | None] = [None] * len(subjects)
    if None in (distribution.acceleration for distribution in distributions):
        estimates = [distribution.estimate for distribution in distributions]
        jackknives = jackknives_of(task, binding, subjects, evidence, estimates)
    evidence = [
        with_replicates(*parts) for parts in zip(evidence, distributions, jackknives, strict=True)
    ]
    said = Cautions(task.caller)
    results: dict[str, Any] = {}
    for k, (name, statistic) in enumerate(statistics.items()):
        at = slice(k * len(parts), (k + 1) * len(parts))
        own, same = evidence[at], subjects[at]
        table = {
            part.name: result_of(task, name, statistic, part, known, said, subject.reduced)
            for part, known, subject in zip(parts, own, same, strict=True)
        }
        if len(parts) > 1:
            table["gap"] = _gap(task, name, statistic, parts, own, said)
        results[name] = ResultTable(table) if len(parts) > 1 else table[None]
    said.warn()
    return results


def _needs_no_replicates(task: Task, known: Evidence) -> bool:
    """Whether the limits come from counts, or from a standard error, on the data alone."""
    wanted = planned_method(known) if task.interval == "auto" else task.interval
    return wanted in WITHOUT_REPLICATES


def _with_fewer_resamples(task: Task) -> Task:
    """The task with no more resamples than a picture of the distribution can use."""
    asked = task.plan.n_resamples
    if asked <= _MOST_UNNEEDED or task.plan.resamples is not None:
        return task
    note = (
        f"The interval needs no resamples: the first {_MOST_UNNEEDED:,} of the {asked:,} asked for "
        "were drawn, for the distribution."
    )
    plan = replace(task.plan, n_resamples=_MOST_UNNEEDED)
    settings = {**task.settings, "n_resamples": _MOST_UNNEEDED}
    return replace(task, plan=plan, settings=settings, notes=(note,))


# ------------------------------------------------------------------ results


class Cautions:
    """Warnings of a call, each said once."""

    def __init__(self, caller: str) -> None:
        self._caller = caller
        self._said: list[str] = []
        self._undefined: list[str] = []

    def caution(self, sentences: Sequence[str]) -> None:
        self._said.extend(sentence for sentence in sentences if sentence not in self._said)

    def undefined(self, metric: str, count: int, total: int) -> None:
        self._undefined.append(f"{metric} on {count} of {total}")

    def warn(self) -> None:
        for sentence in self._said:
            warn_user(f"{self._caller}: {sentence}")
        if self._undefined:
            warn_user(
                f"{self._caller}: undefined on some resamples, which are left out: "
                f"{'; '.join(self._undefined)}.",
                UndefinedMetricWarning,
            )


def result_of(
    task: Task,
    name: str,
    statistic: Statistic,
    part: Part,
    known: Evidence,
    said: Cautions,
    reduced: ReducedData | None = None,
) -> EvaluationResult:
    """Make the interval of one statistic on one part, and the result that holds it."""
    interval, notes = _interval(task, known, said)
    return packed(
        task,
        name if part.name is None else f"{name} ({part.name})",
        known,
        interval,
        (*notes, *task.notes),
        n_samples=task.rows.n_samples if part.rows is None else len(part.rows),
        greater_is_better=statistic.greater_is_better,
        naive_estimate=statistic.naive(reduced, task.rows.of(part.rows)),
        said=said,
    )


def _interval(
    task: Task, known: Evidence, said: Cautions
) -> tuple[ConfidenceInterval, tuple[str, ...]]:
    if task.interval == "auto":
        choice = automatic_interval(known, task.confidence_level)
        said.caution(choice.warnings)
        return choice.interval, choice.notes
    return confidence_interval(known, task.interval, task.confidence_level), ()


def _gap(
    task: Task,
    name: str,
    statistic: Statistic,
    parts: Sequence[Part],
    evidence: Sequence[Evidence],
    said: Cautions,
) -> EvaluationResult:
    """The pair of subgroups that differ most, with its simultaneous interval."""
    subgroups = measured(statistic, task.rows, parts, evidence)
    kept = kept_of(subgroups, evidence, name)
    own = [evidence[k] for k in kept.at]
    n_pairs = len(own) * (len(own) - 1) // 2
    if own:
        sides = [side_of(subgroups[k], evidence[k]) for k in kept.at]
        (a, b), known = gap_of(sides, own, n_families=1)
        pair = f"{subgroups[kept.at[a]].name} - {subgroups[kept.at[b]].name}"
    else:
        known, pair = no_gap(evidence[0], n_families=1), NO_PAIR
    notes = []
    if n_pairs == 1:
        notes = ["The difference between the two subgroups."]
    elif n_pairs:
        notes = [
            f"The largest of {n_pairs} differences between subgroups, with its simultaneous "
            "interval over all of them; the replicates are those of this pair."
        ]
    return packed_gap(task, f"{name} gap ({pair})", known, notes, kept.caution, said)


def packed_gap(
    task: Task, name: str, known: Evidence, notes: Sequence[str], caution: str, said: Cautions
) -> EvaluationResult:
    """Pack a gap, and say which subgroups it leaves out."""
    known = replace(known, n_units=task.plan.design.n_units)
    cautions = [caution] if caution else []
    said.caution(cautions)
    return packed(
        task,
        name,
        known,
        confidence_interval(known, "simultaneous", task.confidence_level),
        [*cautions, *notes],
        n_samples=task.rows.n_samples,
        greater_is_better=None,
        naive_estimate=None,
        said=said,
        automatic=False,
    )


def packed(
    task: Task,
    name: str,
    known: Evidence,
    interval: ConfidenceInterval,
    notes: Sequence[str],
    *,
    n_samples: int,
    greater_is_better: bool | None,
    naive_estimate: float | None,
    said: Cautions,
    automatic: bool | None = None,
) -> EvaluationResult:
    """Pack evidence and interval with what a result says of the call."""
    said_of_it = (degeneracy(interval, known), left_out_estimate(interval, known))
    n_undefined = int(np.isnan(known.replicates).sum())
    if known.gap is not None and np.isnan(known.estimate):
        # Too few subgroups are left, and a caution says why.
        said_of_it = (None, None)
    elif n_undefined:
        said.undefined(name, n_undefined, len(known.replicates))
    elif np.isnan(known.estimate):
        said.undefined(name, len(known.replicates), len(known.replicates))
    held_fixed = ["the trained system"]
    if task.plan.design.strata is not None:
        held_fixed.append("the number of units in each stratum")
    return EvaluationResult(
        metric=name,
        estimand="system",
        evidence=known,
        confidence_interval=interval,
        automatic=task.interval == "auto" if automatic is None else automatic,
        n_samples=n_samples,
        unit=UNITS[known.kind],
        greater_is_better=greater_is_better,
        naive_estimate=naive_estimate,
        notes=(*notes, *(text for text in said_of_it if text and text not in notes)),
        held_fixed=tuple(held_fixed),
        seed=stored_seed(task.plan.seed),
        settings=task.settings,
        versions=versions_used(),
    )


@cache
def versions_used() -> dict[str, str]:
    """Versions of skboot and of what its numbers depend on."""
    return {
        "skboot": version("skboot"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "joblib": joblib.__version__,
    }
