"""Averages over tasks: from the argument ``average_over`` to statistics and what is drawn for them.

`over_tasks` takes the plan and the scores of a call without tasks. Tasks are drawn where each
of them lies in one group, and fixed otherwise; rows, or groups of one task, are then drawn within.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _checks as check
from ..inference.distribution import BoundStatistic
from ..metrics.statistic import MetricError, ReducedData, Statistic
from ..metrics.task_average import DrawnTaskAverage, TaskAverage, Tasks
from ..resampling.design import GroupDesign, RowDesign, SamplingDesign
from ..resampling.plan import ResamplingPlan
from ..resampling.series import SeriesDesign
from ..resampling.task_designs import (
    DrawnGroupsOfTasks,
    DrawnTasks,
    GroupsAcrossTasks,
    GroupsWithinTasks,
    RowsWithinTasks,
    SeriesWithinTasks,
)
from .measured import Measured, Scores
from .rows import Part, Rows

# Maximum number of labels in which a truth is asked whether a metric needs each of them.
_MOST_CLASSES = 20


@dataclass(frozen=True, eq=False)
class _TaskPlan:
    """The design of a call over tasks, and whether it draws the tasks."""

    design: SamplingDesign
    are_drawn: bool


def checked_tasks(average_over: ArrayLike, rows: Rows) -> Tasks:
    """Return the task of each row."""
    labels = check.check_names("average_over", average_over, "Give a task for each row.")
    check.check_same_length(y_pred=rows.y_pred, average_over=labels)
    distinct, number = check.numbered_labels("average_over", labels, "task")
    if len(distinct) < 2:
        got = f"one task, {distinct.tolist()[0]!r}"
        raise check.fail("average_over", "name at least two tasks", got, "Leave average_over out.")
    check.check_parts_weigh(rows.sample_weight, number, distinct.tolist())
    return Tasks(tuple(distinct.tolist()), number.astype(np.intp, copy=False))


def over_tasks(
    plan: ResamplingPlan, tasks: Tasks, scores: Scores
) -> list[tuple[ResamplingPlan, Scores]]:
    """Return the plans of a call over tasks, each with the scores that are evaluated by it.

    Parameters
    ----------
    plan : ResamplingPlan
        Of the call without tasks.
    tasks : Tasks
    scores : Scores
        On the same truth.

    Returns
    -------
    list of tuple
        One plan, or two where some of the metrics are drawn within classes.
    """
    found = _task_plan(plan, tasks)
    by_class: dict[str, Any] = {}
    others: dict[str, Any] = {}
    draws_rows = isinstance(found.design, RowsWithinTasks) and plan.resamples is None
    rows = None
    for name, by_system in scores.items():
        rows, statistic = next(iter(by_system.values()))[0]
        needs = draws_rows and _needs_classes(statistic, rows)
        averaged = {
            system: [Measured(each.rows, _averaged(each.statistic, tasks, found)) for each in own]
            for system, own in by_system.items()
        }
        (by_class if needs else others)[name] = averaged
    plans: list[tuple[ResamplingPlan, Scores]] = []
    if others:
        plans.append((replace(plan, design=found.design), others))
    if by_class:
        assert rows is not None
        classes = check.numbered_labels("y_true", np.asarray(rows.y_true))[1]
        design = _rows_within(plan.design, tasks, classes)
        plans.append((replace(plan, design=design), by_class))
    return plans


def settings_of(tasks: Tasks) -> dict[str, int]:
    """Return the number of tasks, as settings hold it."""
    return {"average_over": len(tasks.names)}


def check_parts(parts: Sequence[Part], tasks: Tasks) -> None:
    """Refuse subgroups that lack a task."""
    for part in parts:
        if part.rows is None:
            continue
        counts = np.bincount(tasks.number[part.rows], minlength=len(tasks.names))
        if not counts.all():
            lacking = tasks.names[int(np.argmin(counts))]
            must = "name subgroups that have rows in every task of average_over"
            got = f"the subgroup {part.name!r} without the task {lacking!r}"
            raise check.fail("by", must, got, "Leave either of the two out.")


# ------------------------------------------------------------------ what is drawn


def _task_plan(plan: ResamplingPlan, tasks: Tasks) -> _TaskPlan:
    """Return what is drawn for averages over tasks."""
    design = plan.design
    if design.n_factors > 1:
        raise check.fail(
            "average_over",
            "be None with crossed groups",
            "both",
            "Give groups of one column: the tasks to draw tasks, or those that rows come in.",
        )
    given = plan.resamples is not None or plan.drawn is not None
    if isinstance(design, SeriesDesign):
        return _TaskPlan(_series_within(design, tasks), False)
    if not isinstance(design, GroupDesign):
        found: SamplingDesign = _rows_within(design, tasks, None)
        _check_sizes(found, tasks, tasks.number)
        return _TaskPlan(found, False)
    groups, facts = design.group_of_row, (design.n_samples, design.n_units, design.members)
    if _is_function(tasks.number, groups) and not given:
        kind = DrawnTasks if design.n_units[0] == len(tasks.names) else DrawnGroupsOfTasks
        return _TaskPlan(kind(*facts, design.strata), True)
    if given or not _is_function(groups, tasks.number):
        n_tasks = len(tasks.names)
        return _TaskPlan(GroupsAcrossTasks(*facts, design.strata, n_tasks), False)
    task_of_group = np.empty(design.n_units[0], dtype=np.intp)
    task_of_group[groups] = tasks.number
    crossed = within_tasks(task_of_group, design.strata)
    found = GroupsWithinTasks(*facts, *crossed, False, design.strata is not None)
    _check_sizes(found, tasks, task_of_group)
    return _TaskPlan(found, False)


def _series_within(design: SeriesDesign, tasks: Tasks) -> SamplingDesign:
    """Return the design of blocks within tasks, of each of which some series are parts."""
    assert design.circles is not None
    in_time = design.circles.in_time(tasks.number)
    facts = (design.n_samples, design.n_units, design.members, design.strata, design.circles)
    return SeriesWithinTasks(
        *facts, n_tasks=len(tasks.names), task_of_stratum=in_time[design.circles.first]
    )


def _rows_within(
    design: SamplingDesign, tasks: Tasks, classes: NDArray[np.intp] | None
) -> SamplingDesign:
    """Return the design of rows within tasks, strata and classes."""
    assert isinstance(design, RowDesign)
    strata = design.strata
    if classes is not None:
        strata = classes if strata is None else strata * (int(classes.max()) + 1) + classes
    crossed = within_tasks(tasks.number, strata)
    facts = (design.n_samples, design.n_units, None)
    return RowsWithinTasks(
        *facts, *crossed, classes is not None, design.strata is not None, design.remarks
    )


def within_tasks(task: NDArray[np.intp], strata: NDArray[np.intp] | None) -> tuple[Any, int, Any]:
    """Return the stratum within a task of each unit, the number of tasks, and each stratum's."""
    n_tasks = int(task.max()) + 1
    if strata is None:
        return task, n_tasks, np.arange(n_tasks)
    n_strata = int(strata.max()) + 1
    distinct, number = np.unique(task * n_strata + strata, return_inverse=True)
    return number.astype(np.intp, copy=False), n_tasks, distinct // n_strata


def _is_function(of: NDArray[Any], value: NDArray[Any]) -> bool:
    """Whether rows with the same first number have the same second one."""
    last = np.empty(int(of.max()) + 1, dtype=np.intp)
    last[of] = value
    return bool(np.all(last[of] == value))


def _check_sizes(design: SamplingDesign, tasks: Tasks, task_of_unit: NDArray[np.intp]) -> None:
    """Refuse fixed tasks of one unit."""
    single = np.flatnonzero(np.bincount(task_of_unit, minlength=len(tasks.names)) == 1)
    if not len(single):
        return
    named = ", ".join(repr(tasks.names[k]) for k in single[:3])
    more = f" and {len(single) - 3} more" if len(single) > 3 else ""
    raise check.fail(
        "average_over",
        f"name tasks of at least two {design.unit}s each",
        f"one {design.unit} in the task {named}{more}",
        "One shows no variation within a task. Give groups=<the tasks> to draw whole tasks, for a "
        "claim about new tasks like these.",
    )


# ------------------------------------------------------------------ statistics


def value_of(statistic: Statistic, reduced: ReducedData) -> float:
    """Return the value of a statistic on its rows."""
    coding = BoundStatistic.of(statistic, reduced).coding
    design = RowDesign.of(reduced.n_codes if coding.code is None else len(coding.code))
    [block] = design.observed(*design.bind([coding]))
    return float(statistic.evaluate(block, reduced)[0])


def _averaged(statistic: Statistic, tasks: Tasks, of: _TaskPlan) -> Statistic:
    """Return the average of a statistic over tasks."""
    if of.are_drawn:
        return DrawnTaskAverage(statistic, tasks, value_of)
    return TaskAverage.of(statistic, tasks)


def _needs_classes(statistic: Statistic, rows: Rows) -> bool:
    """Whether the metric is undefined on rows that lack a class of the truth."""
    truth = rows.truth_column
    if truth is None or statistic.response == "values":
        return False
    classes = np.unique(truth)
    if not 2 <= len(classes) <= _MOST_CLASSES:
        return False
    for label in classes:
        kept = np.flatnonzero(truth != label)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                value = value_of(statistic, statistic.reduce(*rows.of(statistic, kept)))
        except (MetricError, ValueError):
            return True
        if np.isnan(value):
            return True
    return False
