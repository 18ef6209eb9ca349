"""Averages over tasks: from the argument ``average_over`` to statistics and what is drawn for them.

`over_tasks` takes the plan and the scores of a call without tasks. Tasks are drawn where each
of them lies in one group, and fixed otherwise; rows, or groups of one task, are then drawn within.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks as check
from ..inference.distribution import BoundStatistic
from ..metrics.cells import label_counts
from ..metrics.statistic import MetricError, ReducedData, Statistic
from ..metrics.tasks import DrawnTaskAverage, TaskAverage, Tasks
from ..resampling.design import RowDesign, SamplingDesign, across_tasks, drawn_tasks, within_tasks
from ..resampling.plan import ResamplingPlan
from .rows import Measured, Part, Rows, Scores

# Maximum number of labels in which a truth is asked whether a metric needs each of them.
_MOST_CLASSES = 20
# Rows of each label that it is asked on.
_ROWS_OF_CLASS = 1000


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
    plan: ResamplingPlan, tasks: Tasks, scores: Scores, parts: Sequence[Part]
) -> list[tuple[ResamplingPlan, Scores]]:
    """Return the plans of a call over tasks, each with the scores that are evaluated by it.

    Parameters
    ----------
    plan : ResamplingPlan
        Plan of the call without tasks.
    tasks : Tasks
    scores : Scores
        On the same truth.
    parts : sequence of Part
        All rows, or subgroups, which must have rows of every task.

    Returns
    -------
    list of tuple
        One plan, or two where some of the metrics are drawn within classes.
    """
    _check_parts(parts, tasks)
    design = _design_over(plan, tasks)
    by_class: dict[str, Any] = {}
    by_row: dict[str, Any] = {}
    draws_rows = design.units_are_rows and plan.resamples is None
    measured_first = None
    for name, by_system in scores.items():
        measured_first = next(iter(by_system.values()))[0]
        needs = draws_rows and _needs_classes(measured_first.statistic, measured_first.rows)
        averages: dict[str, list[Measured]] = {}
        for system, runs in by_system.items():
            averages[system] = []
            for measured in runs:
                statistic = measured.statistic
                if design.averages_tasks == "drawn":
                    average: Statistic = DrawnTaskAverage(statistic, tasks, value_of)
                else:
                    average = TaskAverage.of(statistic, tasks)
                averages[system].append(Measured(measured.rows, average))
        (by_class if needs else by_row)[name] = averages
    plans: list[tuple[ResamplingPlan, Scores]] = []
    if by_row:
        plans.append((replace(plan, design=design), by_row))
    if by_class:
        assert measured_first is not None
        classes = check.numbered_labels("y_true", np.asarray(measured_first.rows.y_true))[1]
        design = within_tasks(plan.design, tasks.number, classes)
        plans.append((replace(plan, design=design), by_class))
    return plans


def _check_parts(parts: Sequence[Part], tasks: Tasks) -> None:
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


def _design_over(plan: ResamplingPlan, tasks: Tasks) -> SamplingDesign:
    """Return the plan of the resamples for averages over tasks."""
    design, n_tasks = plan.design, len(tasks.names)
    if design.n_factors > 1:
        raise check.fail(
            "average_over",
            "not be combined with crossed groups",
            "",
            "Give groups of one column: the tasks to resample tasks, or those that rows come in.",
        )
    task_of_unit = tasks.number
    if design.members is not None:
        # Of blocks of rows in time each lies in a task, and none are given.
        unit, has_resamples = (
            design.members[:, 0],
            plan.resamples is not None or plan.unit_counts is not None,
        )
        shared = _shared_value(unit, tasks.number)
        if design.units_are_groups and not has_resamples:
            group_of_task = _shared_value(tasks.number, unit)
            if group_of_task is not None:
                return drawn_tasks(design, group_of_task)
        if has_resamples or shared is None:
            return across_tasks(design, n_tasks)
        task_of_unit = shared
    if not design.units_are_blocks:
        _check_sizes(design, tasks, task_of_unit)
    return within_tasks(design, task_of_unit)


def _shared_value(unit: NDArray[Any], value: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Return the value that all rows of each unit share; None where those of one differ."""
    shared = np.empty(int(unit.max()) + 1, dtype=np.intp)
    shared[unit] = value
    return shared if np.array_equal(shared[unit], value) else None


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
        "One shows no variation within a task. Give groups=<the tasks> to resample whole tasks, "
        "for a claim about new tasks.",
    )


# ------------------------------------------------------------------ statistics


def value_of(statistic: Statistic, reduced: ReducedData) -> float:
    """Return the value of a statistic on its rows."""
    coding = BoundStatistic.of(statistic, reduced).coding
    design = RowDesign.of(reduced.n_codes if coding.code is None else len(coding.code))
    [block] = design.observed(*design.bind([coding]))
    return float(statistic.evaluate(block, reduced)[0])


def _needs_classes(statistic: Statistic, rows: Rows) -> bool:
    """Whether the metric is undefined on rows that lack a class of the truth."""
    truth = rows.truth_column
    if truth is None or statistic.response == "values":
        return False
    classes = label_counts(truth)[0]
    if not 2 <= len(classes) <= _MOST_CLASSES:
        return False
    # Whether a metric has a value does not hang on how many rows the other classes have.
    n_rows = _ROWS_OF_CLASS if rows.sample_weight is None else None
    firsts = [np.flatnonzero(truth == label)[:n_rows] for label in classes]
    for k in range(len(classes)):
        without = np.sort(np.concatenate(firsts[:k] + firsts[k + 1 :]))
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                value = value_of(statistic, statistic.reduce(*rows.of(statistic, without)))
        except (MetricError, ValueError):
            return True
        if np.isnan(value):
            return True
    return False
