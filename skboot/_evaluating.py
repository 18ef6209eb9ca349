"""The engine of `bootstrap_score`: from checked rows and a plan to results and their gap.

`evaluate` binds every metric and subgroup to one plan, resamples once, and makes a result of each;
the comparison of systems uses the steps that stand below it.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from itertools import combinations
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from ._inputs import Part, Rows
from ._warnings import warn_user
from .inference.choice import automatic_interval, degeneracy, planned_method
from .inference.distribution import BootstrapDistribution, Subject, acceleration, bootstrap
from .inference.intervals import (
    NEEDS,
    ConfidenceInterval,
    Evidence,
    confidence_interval,
    max_t_deviations,
)
from .metrics.statistic import Reduced, Statistic
from .resampling.design import SamplingDesign
from .resampling.plan import Binding, Coding, ResamplingPlan
from .results import EvaluationResult, ResultTable

# Standard errors per resample are kept unasked where they cost fewer operations than this.
_CHEAP_VARIANCE = 1 << 15

UNITS = {
    "rows": "row",
    "groups": "group",
    "crossed": "member of each factor",
    "one population": "member",
}


@dataclass(frozen=True, eq=False)
class Task:
    """What the steps of one call share."""

    rows: Rows
    plan: ResamplingPlan
    interval: str
    confidence_level: float
    settings: dict[str, Any]
    caller: str


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
    binding = task.plan.bind([subject.coding for subject in subjects])
    distributions = bootstrap(binding, subjects, n_jobs=n_jobs, verbose=verbose)
    accelerations: Sequence[float | None] = [known.acceleration for known in distributions]
    if None in accelerations:
        estimates = [distribution.estimate for distribution in distributions]
        accelerations = accelerations_of(task, binding, subjects, evidence, estimates)
    evidence = [
        with_replicates(known, distribution, a)
        for known, distribution, a in zip(evidence, distributions, accelerations, strict=True)
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


def subject_of(task: Task, statistic: Statistic, part: Part) -> tuple[Subject, Evidence]:
    """Reduce the rows of a part, and gather what is known before resampling."""
    y_true, y_pred, weights = task.rows.of(part.rows)
    reduced = statistic.reduce(y_true, y_pred, weights)
    design = task.plan.design
    proportion = statistic.proportion(reduced)
    known = Evidence(
        estimate=0.0,
        replicates=np.array([0.0, 0.0]),
        kind=design.kind,
        n_units=design.n_units_among(part.rows),
        n_strata=1 if design.strata is None else int(design.strata.max()) + 1,
        bounds=statistic.bounds,
        additive=statistic.reads == "sums",
        row_mean=statistic.is_row_mean and _continuous(reduced.n_codes, len(y_pred)),
        weighted=weights is not None,
        proportion=None
        if proportion is None
        else (proportion.hits, proportion.n, proportion.exact, proportion.scale, proportion.sign),
        delong=statistic.delong(reduced) if weights is None else None,
        largest_share=statistic.largest_share(reduced),
    )
    # Given rows may split groups: then nothing is said by group.
    by_group = design.kind == "groups" and known.additive and task.plan.resamples is None
    if by_group:
        known = _with_groups(known, design, part, weights, len(y_pred))
    coding = Coding(
        _whole_code(reduced, part, design.n_samples),
        reduced.n_codes,
        statistic.reading(reduced),
        reduced.counts if part.rows is None else None,
    )
    wanted = task.interval
    if wanted == "auto":
        wanted = planned_method(known)
    else:
        _refuse_impossible(wanted, known, task.caller)
    cost = statistic.variance_cost(reduced) * min(reduced.n_codes, design.n_units[0])
    with_variance = (
        not design.is_crossed
        and np.isfinite(cost)
        and (wanted == "studentized" or cost <= _CHEAP_VARIANCE)
    )
    if design.kind == "groups" and not by_group:
        with_variance = False
    return Subject(statistic, reduced, coding, bool(with_variance), by_group), known


def _with_groups(
    known: Evidence,
    design: SamplingDesign,
    part: Part,
    weights: NDArray[np.float64] | None,
    n_rows: int,
) -> Evidence:
    """Add the weight of each group's rows, and how many rows of equal weight they are worth."""
    assert design.members is not None
    groups = design.members[:, 0] if part.rows is None else design.members[part.rows, 0]
    of_groups = np.bincount(groups, weights, design.n_units[0]).astype(np.float64)
    n_effective = float(n_rows)
    if weights is not None and weights.any():
        # Relative weights: the squares of very large or very small ones leave the range.
        relative = weights / weights.max()
        n_effective = float(relative.sum() ** 2 / np.sum(relative**2))
    return replace(known, group_weight=of_groups, n_effective_rows=n_effective)


def _continuous(n_values: int, n_rows: int) -> bool:
    """Whether row values are many rather than a few repeated ones."""
    return n_values > min(20, n_rows / 2)


def _whole_code(reduced: Any, part: Part, n_samples: int) -> NDArray[Any] | None:
    if part.rows is None:
        return reduced.code
    code = np.full(n_samples, -1, dtype=np.intp)
    code[part.rows] = np.arange(len(part.rows)) if reduced.code is None else reduced.code
    return code


def _refuse_impossible(method: str, known: Evidence, caller: str) -> None:
    """Refuse an interval that this metric or design cannot have, before any work."""
    hoped = replace(
        known,
        acceleration=0.0,
        standard_error=0.0,
        replicate_standard_errors=np.zeros(2),
    )
    problem = NEEDS[method](hoped)
    if problem:
        raise ValueError(
            f"The 'interval' parameter of {caller} cannot be {method!r} here: {method!r} {problem}"
        )


def accelerations_of(
    task: Task,
    binding: Binding,
    subjects: Sequence[Subject],
    evidence: Sequence[Evidence],
    estimates: Sequence[float],
) -> Sequence[float | None]:
    """Acceleration of each subject, where it is wanted or cheap."""
    if task.plan.design.is_crossed:
        return [None] * len(subjects)
    wanted = [
        task.interval == "bca"
        or (task.interval == "auto" and planned_method(known) == "bca")
        or subject.statistic.reads in ("sums", "pairs")
        for subject, known in zip(subjects, evidence, strict=True)
    ]
    found: list[float | None] = [None] * len(subjects)
    chosen = [k for k, want in enumerate(wanted) if want]
    if chosen:
        values = acceleration(
            binding.only(chosen), [subjects[k] for k in chosen], [estimates[k] for k in chosen]
        )
        for k, value in zip(chosen, values, strict=True):
            found[k] = value
    return found


def with_replicates(
    known: Evidence, distribution: BootstrapDistribution, a: float | None
) -> Evidence:
    """Add what resampling found to what was known before."""
    return replace(
        known,
        estimate=distribution.estimate,
        replicates=distribution.replicates,
        standard_error=distribution.standard_error,
        replicate_standard_errors=distribution.replicate_standard_errors,
        acceleration=a,
        group_influence=distribution.influence,
    )


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
    reduced: Reduced | None = None,
) -> EvaluationResult:
    """Make the interval of one statistic on one part, and the result that holds it."""
    interval, notes = _interval(task, known, said)
    return packed(
        task,
        name if part.name is None else f"{name} ({part.name})",
        known,
        interval,
        notes,
        n_samples=task.rows.n_samples if part.rows is None else len(part.rows),
        greater_is_better=statistic.greater_is_better,
        naive_estimate=statistic.naive_of(reduced, *task.rows.of(part.rows)),
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
    """The pair of subgroups that differ most, with its max-t simultaneous interval."""
    pairs = list(combinations(range(len(parts)), 2))
    differences = np.array([evidence[a].estimate - evidence[b].estimate for a, b in pairs])
    replicates = np.array([evidence[a].replicates - evidence[b].replicates for a, b in pairs])
    errors, largest = max_t_deviations(differences, replicates)
    widest = int(np.nanargmax(np.abs(differences))) if np.isfinite(differences).any() else 0
    sign = -1.0 if differences[widest] < 0 else 1.0
    a, b = pairs[widest] if sign > 0 else pairs[widest][::-1]
    low, high = statistic.bounds
    known = Evidence(
        estimate=float(abs(differences[widest])),
        replicates=sign * replicates[widest],
        kind=task.plan.design.kind,
        n_units=task.plan.design.n_units,
        n_strata=evidence[a].n_strata,
        bounds=(low - high, high - low),
        max_t=(float(errors[widest]), largest),
    )
    note = (
        f"The largest of {len(pairs)} differences between subgroups, with its simultaneous "
        "interval over all of them; the replicates are those of this pair."
        if len(pairs) > 1
        else "The difference between the two subgroups."
    )
    return packed(
        task,
        f"{name} gap ({parts[a].name} - {parts[b].name})",
        known,
        confidence_interval(known, "max-t", task.confidence_level),
        (note,),
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
    degenerate = degeneracy(interval)
    n_undefined = int(np.isnan(known.replicates).sum())
    if n_undefined:
        said.undefined(name, n_undefined, len(known.replicates))
    elif np.isnan(known.estimate):
        said.undefined(name, len(known.replicates), len(known.replicates))
    seed = task.plan.seed
    entropy: Any = seed.entropy
    if seed.spawn_key:
        entropy = {"entropy": seed.entropy, "spawn_key": list(seed.spawn_key)}
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
        notes=(*notes, degenerate) if degenerate else tuple(notes),
        held_fixed=tuple(held_fixed),
        seed=entropy,
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
