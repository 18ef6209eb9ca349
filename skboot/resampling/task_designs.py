"""What is drawn for averages over tasks: rows, or whole groups, within tasks, or the tasks.

* fixed tasks: the claim is for these tasks. Rows are drawn `within_tasks`, or groups that each lie
  in one task, or blocks of rows in time; groups that cross tasks are drawn whole, `across_tasks`;
* `drawn_tasks`: the claim is for new tasks like these. Each task is a unit, or lies in one.

Each function takes the design of a call without tasks, and returns it with other words, strata,
remarks, and what is held fixed.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .._base.warnings import Note, Notes
from ._tuning import FEW_TASKS, FEW_UNITS
from .design import SamplingDesign, freedom_of_groups

Floats = NDArray[np.float64]
_Design = TypeVar("_Design", bound=SamplingDesign)


def drawn_tasks(design: _Design, group_of_task: NDArray[np.intp]) -> _Design:
    """Return the design of groups as one that draws tasks, each of which lies in a group."""
    n_units = design.n_units[0]
    kind = "tasks" if n_units == len(group_of_task) else "groups of tasks"
    freedom = freedom_of_groups(np.bincount(group_of_task, minlength=n_units), design.strata)
    if n_units >= FEW_TASKS:
        return design.of_kind(kind, freedom=freedom)
    text = (
        f"Only {n_units} {kind} were resampled (fewer than {FEW_TASKS}): expect less "
        "coverage than stated."
    )
    return design.of_kind(kind, Note("few", text), freedom=freedom)


def across_tasks(design: _Design, n_tasks: int) -> _Design:
    """Return the design of groups as one of groups with rows in several of the fixed tasks."""
    held_fixed = ("the tasks", *design.held_fixed)
    few = _few(n_tasks)
    return design.of_kind("groups across tasks", *few, held_fixed=held_fixed, freedom=None)


def within_tasks(
    design: _Design, task: NDArray[np.intp], classes: NDArray[np.intp] | None = None
) -> _Design:
    """Return the design that draws units within fixed tasks, strata and classes of these.

    Parameters
    ----------
    design : SamplingDesign
        Of rows, groups, or blocks of rows in time, whose series each lie in one task.
    task : ndarray of shape (n_units,)
        Task of each unit, from 0.
    classes : ndarray of shape (n_units,), optional
        Class of each unit, from 0, each of which counts by itself in its task.

    Notes
    -----
    The average has the variance sum_h a_h, a_h = (m_h / m)^2 / m_h for stratum h with m_h of the m
    units of its task, if all units vary alike; that of resamples is less, sum_h a_h (m_h - 1) / m_h
    (Davison & Hinkley 1997, section 3.2). For metrics of two classes m is the number of units of
    the class. Degrees of freedom are those of Satterthwaite (1946).
    """
    strata, within = design.strata, "task" if classes is None else "class of each task"
    if strata is not None and not design.units_are_blocks:
        within = f"stratum and {within}"
    if classes is not None:
        strata = classes if strata is None else strata * (int(classes.max()) + 1) + classes
    strata = strata_of_tasks(task, strata)
    sizes, of_task = np.bincount(strata).astype(np.float64), np.bincount(task)
    whole = sizes
    if classes is None:
        task_of_stratum = np.empty(len(sizes), dtype=np.intp)
        task_of_stratum[strata] = task
        whole = of_task[task_of_stratum].astype(np.float64)
    return design.of_kind(
        f"{design.kind} within tasks",
        *_few(len(of_task)),
        *_of_strata(design.unit, sizes, of_task, by_class=classes is not None),
        strata=strata,
        held_fixed=("the tasks", f"the number of {design.unit}s in each {within}"),
        freedom=_freedom(sizes, whole),
    )


def strata_of_tasks(task: NDArray[np.intp], strata: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """Return the number of each unit's stratum within its task, (n_units,); tasks come in order."""
    if strata is None:
        return task
    both = task * (int(strata.max()) + 1) + strata
    return np.unique(both, return_inverse=True)[1].astype(np.intp, copy=False)


def _freedom(sizes: Floats, whole: Floats) -> tuple[float, float]:
    """Degrees of freedom and inflation of strata, by their units and those they are a share of."""
    variance = sizes / whole**2
    seen = variance * (sizes - 1) / sizes
    varies = sizes > 1
    if not varies.any():
        return 1.0, 1.0
    df = seen.sum() ** 2 / np.sum(seen[varies] ** 2 / (sizes[varies] - 1))
    return float(df), float(variance.sum() / seen.sum())


# ------------------------------------------------------------------ remarks


def _few(n_tasks: int) -> Notes:
    """Return a note on few fixed tasks, whose average is easily read as one of tasks at large."""
    notes = Notes()
    if n_tasks < FEW_TASKS:
        text = (
            f"Only {n_tasks} tasks (fewer than {FEW_TASKS}) are averaged, and the interval is "
            "conditional on them: it does not hold for other tasks."
        )
        notes.add("few", text)
    return notes


def _of_strata(unit: str, sizes: Floats, of_task: NDArray[np.intp], *, by_class: bool) -> Notes:
    """Return notes on classes in each task, on strata of one unit, and on tasks of few."""
    notes = Notes()
    if by_class:
        text = "Rows were resampled within task and class, because the metric needs both classes."
        notes.add("choice", text)
    few = int(np.count_nonzero(of_task < FEW_UNITS))
    if few:
        text = (
            f"{few} of {len(of_task)} tasks have fewer than {FEW_UNITS} {unit}s: the standard "
            f"error of a task of m {unit}s is multiplied by sqrt(m / (m - 1)) to allow for this."
        )
        notes.add("choice", text)
    single = int(np.count_nonzero(sizes == 1))
    if single:
        what = "classes" if by_class else "strata"
        text = (
            f"{single} of {len(sizes)} {what} within tasks have one {unit}, whose variation "
            "resamples do not show: expect less coverage than stated."
        )
        notes.add("caution", text)
    return notes
