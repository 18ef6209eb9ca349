"""Systems on test sets of their own: independent resamples, each from a plan of its own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _checks as check
from .._streams import child_seed
from .._values import in_order_of_content
from .._warnings import tell
from .._workers import Workers
from ..metrics.statistic import Statistic
from ..metrics.task_average import Tasks
from ..resampling.plan import ResamplingPlan
from ..results.comparison import ComparisonResult
from ..study.prepared import ScoreCall, prepare
from ..study.rows import Part, Rows, checked_rows, resampling_plan
from ..study.scores import bootstrapped, chosen_interval, result_of
from ..study.series import warn_of_orders
from ..study.tasks import checked_tasks, over_tasks, settings_of
from .compared_systems import compared_systems
from .contestants import Contestant
from .families import Asked

# Key of the first system's stream below the seed of the call; blocks of one plan have smaller keys.
_OWN_STREAMS = (1 << 31) + 1
# Arguments that hold a column for each system.
_COLUMNS = ("groups", "strata", "sample_weight")
# What pairs of rows are needed for, and what to do instead.
_NEEDS_PAIRS = {
    "tango": "which needs both systems on the same rows",
    "bca": "which needs both systems without each row",
}


@dataclass(frozen=True, eq=False)
class UnpairedCall:
    """Checked arguments of a comparison of systems on test sets of their own.

    Attributes
    ----------
    rows : dict of str to Rows
        Of each system.
    drawn : dict of str to dict
        Groups, strata and the like of each system, for its plan.
    tasks : dict of str to Tasks or None
        That the metrics of each system are averaged over.
    asked : Asked
    reference : str or None
    seed : numpy.random.SeedSequence
    settings : dict
    workers : Workers
    """

    rows: dict[str, Rows]
    drawn: dict[str, dict[str, Any]]
    tasks: dict[str, Tasks | None]
    asked: Asked
    reference: str | None
    seed: np.random.SeedSequence
    settings: dict[str, Any]
    workers: Workers


def check_unpaired(interval: str, by: Any, block_length: Any) -> None:
    """Refuse what needs both systems on the same rows."""
    if by is not None:
        must, advice = "be None with paired=False", "Compare each subgroup by itself."
        raise check.fail("by", must, "subgroups", advice)
    if block_length is not None:
        must = "be None with paired=False"
        advice = "Compare systems on the same rows, or draw whole series by groups."
        raise check.fail("block_length", must, repr(block_length), advice)
    if interval in _NEEDS_PAIRS:
        got = f"{interval!r}, {_NEEDS_PAIRS[interval]}"
        advice = "Use interval='expanded' or 'auto'."
        must = "be one for systems on different rows with paired=False"
        raise check.fail("interval", must, got, advice)


def checked_unpaired(
    y_true: Any, y_preds: Mapping[str, Any], columns: Mapping[str, Any], labels: Any
) -> tuple[dict[str, Rows], dict[str, dict[str, Any]]]:
    """Return the rows of each system, and its groups and strata."""
    truths = _by_name("y_true", y_true, y_preds)
    named = {name: _by_name(name, columns[name], y_preds) for name in _COLUMNS}
    rows = {}
    for name, predicted in y_preds.items():
        weights = named["sample_weight"][name]
        argument = f"y_preds[{name!r}]"
        with _columns_of(name):
            rows[name] = checked_rows(truths[name], predicted, weights, labels, argument)
    given = {"y_true": truths, "y_preds": y_preds, **named}
    warn_of_orders(
        *({f"{key}[{name!r}]": own[name] for key, own in given.items()} for name in y_preds),
    )
    own = {name: {key: named[key][name] for key in ("groups", "strata")} for name in y_preds}
    return rows, own


def _columns_of(name: str) -> AbstractContextManager[None]:
    """Say in errors of which system the rows are."""
    own = ("y_true", "average_over", *_COLUMNS)
    return check.arguments_named({each: f"{each}[{name!r}]" for each in own})


def _by_name(argument: str, values: Any, y_preds: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is given for each system; None for all where nothing is given."""
    if values is None:
        return dict.fromkeys(y_preds)
    must = "be a dict with the names of y_preds with paired=False"
    if not isinstance(values, Mapping):
        got = type(values).__name__
        raise check.fail(argument, must, got, "Each system has rows of its own.")
    named = {str(name): own for name, own in values.items()}
    if set(named) != set(y_preds):
        raise check.fail(argument, must, f"{list(named)} beside {list(y_preds)}")
    return named


def tasks_of_each(average_over: Any, rows: Mapping[str, Rows]) -> dict[str, Any]:
    """Return the tasks of each system; None for all where there are none."""
    named = _by_name("average_over", average_over, rows)
    tasks = {}
    for name, own in rows.items():
        with _columns_of(name):
            tasks[name] = checked_tasks(named[name], own)
    return tasks


def settings_of_tasks(tasks: Mapping[str, Tasks | None]) -> dict[str, Any]:
    """Return the number of tasks as settings hold it, by system where it is not one number."""
    of_each = {name: settings_of(own)["average_over"] for name, own in tasks.items() if own}
    if not of_each:
        return {}
    numbers = set(of_each.values())
    return {"average_over": numbers.pop() if len(numbers) == 1 else of_each}


def compare_unpaired(
    call: UnpairedCall, statistics: Mapping[str, Mapping[str, Statistic]]
) -> dict[str, ComparisonResult]:
    """Compare systems by each metric: the engine of `skboot.compare_systems` with paired=False.

    Parameters
    ----------
    call : UnpairedCall
    statistics : mapping of str to mapping of str to Statistic
        By metric and system.

    Returns
    -------
    dict of str to ComparisonResult
        By metric.
    """
    # The streams do not depend on the order of the call, nor on the names unless rows are the same.
    rows = {name: call.rows[name] for name in sorted(call.rows)}
    order = in_order_of_content(
        {name: (own.y_true, own.y_pred, own.sample_weight) for name, own in rows.items()}
    )
    plans = {
        name: _plans(call, name, rank, {metric: own[name] for metric, own in statistics.items()})
        for rank, name in enumerate(order)
    }
    _check_same_tasks(call, plans)
    contestants: dict[str, dict[str, Contestant]] = {metric: {} for metric in statistics}
    for rank, name in enumerate(order):
        for plan, of_system in plans[name]:
            for metric, one in _contestants(call, name, rank, plan, of_system).items():
                contestants[metric][name] = one
    results = {}
    for metric, by_name in contestants.items():
        in_order = {name: by_name[name] for name in call.rows}
        results[metric] = _comparison(call, metric, in_order)
    return results


def _plans(
    call: UnpairedCall, name: str, rank: int, statistics: Mapping[str, Statistic]
) -> list[tuple[ResamplingPlan, dict[str, Statistic]]]:
    """Return the plans of one system, each with the statistics that are evaluated by it."""
    rows = call.rows[name]
    with _columns_of(name):
        plan = resampling_plan(
            call.drawn[name]["groups"],
            call.drawn[name]["strata"],
            call.settings["same_population"],
            None,
            call.settings["n_resamples"],
            child_seed(call.seed, _OWN_STREAMS + rank),
            rows.n_samples,
        )
        return over_tasks(plan, call.tasks[name], rows, statistics)


def _check_same_tasks(call: UnpairedCall, plans: Mapping[str, Any]) -> None:
    """Refuse averages over different tasks unless the tasks are drawn: the tasks would differ."""
    names = {name: set(own.names) for name, own in call.tasks.items() if own is not None}
    if len({frozenset(own) for own in names.values()}) < 2:
        return
    averaged = [
        own for of_system in plans.values() for _, many in of_system for own in many.values()
    ]
    if all(own.parts == "drawn" for own in averaged):
        return
    lacking = sorted(map(str, set.union(*names.values()) - set.intersection(*names.values())))
    must = "name the same tasks for each system"
    advice = "Give groups=<the tasks> to draw whole tasks, for a claim about new tasks like these."
    got = f"tasks that some of them lack: {', '.join(lacking[:3])}"
    raise check.fail("average_over", must, got, advice)


def _contestants(
    call: UnpairedCall,
    name: str,
    rank: int,
    plan: ResamplingPlan,
    statistics: Mapping[str, Statistic],
) -> dict[str, Contestant]:
    """Return one system by each metric, from resamples of its own rows."""
    rows = call.rows[name]
    settings = {**call.settings, **settings_of_tasks({name: call.tasks[name]})}
    level = call.asked.confidence_level
    alone = ScoreCall(rows, plan, "auto", level, settings, call.workers)
    whole = Part(None, None)
    prepared = [prepare(alone, each, whole) for each in statistics.values()]
    known = bootstrapped(alone, prepared)
    tell(*plan.design.remarks)
    found = {}
    for metric, one, evidence in zip(statistics, prepared, known, strict=True):
        chosen = chosen_interval(alone, evidence)
        statistic = one.subject.statistic
        result = result_of(alone, metric, statistic, whole, evidence, chosen)
        shared = (
            *(note for note in chosen.notes if note.kind == "few"),
            *rows.notes_for(statistic),
            *plan.design.remarks,
        )
        found[metric] = Contestant(name, rank, evidence, result, shared, is_paired=False)
    return found


def _comparison(
    call: UnpairedCall, metric: str, contestants: Mapping[str, Contestant]
) -> ComparisonResult:
    """Return the comparison by one metric."""
    no_delong = [n for n, one in contestants.items() if one.evidence.facts.delong is None]
    if call.asked.interval == "delong" and no_delong:
        must = "be one that all systems have"
        got = f"'delong', for the area under the ROC curve of independent rows, not of {no_delong}"
        raise check.fail("interval", must, got, "Use interval='expanded'.")
    fixed = dict.fromkeys(
        text for one in contestants.values() for text in one.result.held_fixed[1:]
    )
    return compared_systems(
        metric, contestants, call.asked, call.reference, call.settings, held_fixed=fixed
    )
