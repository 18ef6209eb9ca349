"""What is drawn for averages over tasks: rows, or whole groups, within tasks, or the tasks.

* fixed tasks: the claim is for these tasks. Rows are drawn within tasks, or groups that each lie in
  one task, or blocks of rows in time; groups that cross tasks are drawn whole;
* drawn tasks: the claim is for new tasks like these. Each task is a unit, or lies in one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._warnings import Note
from . import streamed  # noqa: F401 (its designs are registered)
from ._tuning import FEW_TASKS, FEW_UNITS
from .design import DESIGNS, GroupDesign, RowDesign, SamplingDesign, registered
from .series import SeriesDesign

# The designs above are entered too, so that who looks one up by its name finds them all.
__all__ = ["DESIGNS"]


@dataclass(frozen=True, eq=False)
class FixedTasks(SamplingDesign):
    """A design of an average over fixed tasks.

    Attributes
    ----------
    n_tasks : int
        Number of tasks.
    """

    n_tasks: int = 0

    averages_tasks = "fixed"

    @staticmethod
    def automatic_interval(*, row_mean: bool, additive: bool) -> str:
        """See `SamplingDesign.automatic_interval`."""
        return "expanded"

    @property
    def remarks(self) -> tuple[Note, ...]:  # type: ignore[override]
        """Note on few tasks, whose average is easily read as one of tasks at large."""
        if self.n_tasks >= FEW_TASKS:
            return ()
        text = (
            f"Only {self.n_tasks} tasks (fewer than {FEW_TASKS}) are averaged, and held fixed: the "
            "interval says nothing of other tasks."
        )
        return (Note("few", text),)


@dataclass(frozen=True, eq=False)
class WithinTasks(FixedTasks):
    """Units that are drawn within fixed tasks, and within strata or classes of these.

    Attributes
    ----------
    task_of_stratum : ndarray of shape (n_strata,) or None
        Task of each stratum.
    by_class : bool
        Whether strata are classes of a task, each of which counts by itself.
    has_given_strata : bool
        Whether units are drawn within strata of the tasks.

    Notes
    -----
    The average has the variance sum_h a_h, a_h = (m_h / m)^2 / m_h for stratum h with m_h of the m
    units of its task, if all units vary alike; that of resamples is less, sum_h a_h (m_h - 1) / m_h
    (Davison & Hinkley 1997, section 3.2). For metrics of two classes m is the number of units of
    the class. Degrees of freedom are those of Satterthwaite (1946).
    """

    task_of_stratum: NDArray[np.intp] | None = None
    by_class: bool = False
    has_given_strata: bool = False

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """Units of each stratum, (n_strata,)."""
        assert self.strata is not None
        return np.bincount(self.strata).astype(np.float64)

    @cached_property
    def units_of_tasks(self) -> NDArray[np.float64]:
        """Units of each task, (n_tasks,)."""
        assert self.task_of_stratum is not None
        return np.bincount(self.task_of_stratum, self.sizes).astype(np.float64)

    @cached_property
    def freedom(self) -> tuple[float, float]:  # type: ignore[override]
        """See `SamplingDesign.freedom`."""
        sizes, whole = self.sizes, self.sizes
        if not self.by_class:
            whole = self.units_of_tasks[self.task_of_stratum]
        variance = sizes / whole**2
        seen = variance * (sizes - 1) / sizes
        varies = sizes > 1
        if not varies.any():
            return 1.0, 1.0
        df = seen.sum() ** 2 / np.sum(seen[varies] ** 2 / (sizes[varies] - 1))
        return float(df), float(variance.sum() / seen.sum())

    @cached_property
    def degrees_of_freedom(self) -> float:
        """See `SamplingDesign.degrees_of_freedom`."""
        return self.freedom[0]

    @property
    def inflation(self) -> float:
        """See `SamplingDesign.inflation`."""
        return self.freedom[1]

    @property
    def held_fixed(self) -> tuple[str, ...]:
        """The tasks, and how many units each has."""
        within = "class of each task" if self.by_class else "task"
        within = f"stratum and {within}" if self.has_given_strata else within
        return ("the tasks", f"the number of {self.unit}s in each {within}")

    @property
    def remarks(self) -> tuple[Note, ...]:  # type: ignore[override]
        """Notes on classes in each task, on strata of one unit, and on tasks of few."""
        notes = list(super().remarks)
        if self.by_class:
            text = "Rows were drawn within task and class, because the metric needs both classes."
            notes.append(Note("choice", text))
        units = self.units_of_tasks
        if np.any(units < FEW_UNITS):
            text = (
                f"{np.count_nonzero(units < FEW_UNITS)} of {len(units)} tasks have fewer than "
                f"{FEW_UNITS} {self.unit}s: the interval is wider for their sake, by the factor "
                f"sqrt(m / (m - 1)) for the part of a task of m {self.unit}s."
            )
            notes.append(Note("choice", text))
        single = int(np.count_nonzero(self.sizes == 1))
        if single:
            what = "classes" if self.by_class else "strata"
            text = (
                f"{single} of {len(self.sizes)} {what} within tasks have one {self.unit}, whose "
                "variation resamples do not show: expect less coverage than stated."
            )
            notes.append(Note("caution", text))
        return tuple(notes)


@registered
@dataclass(frozen=True, eq=False)
class RowsWithinTasks(WithinTasks, RowDesign):
    """Independent rows, drawn within fixed tasks.

    Attributes
    ----------
    remarks_on_rows : tuple of Note
        What is to be said of the rows whatever the tasks.
    """

    remarks_on_rows: tuple[Note, ...] = ()

    kind = "rows within tasks"

    @property
    def remarks(self) -> tuple[Note, ...]:  # type: ignore[override]
        """Notes on the rows, and on the tasks."""
        return (*self.remarks_on_rows, *super().remarks)


@registered
@dataclass(frozen=True, eq=False)
class GroupsWithinTasks(WithinTasks, GroupDesign):
    """Whole groups, each of one task, drawn within fixed tasks."""

    kind = "groups within tasks"


@registered
@dataclass(frozen=True, eq=False)
class SeriesWithinTasks(WithinTasks, SeriesDesign):
    """Blocks of rows in time, drawn within the series of fixed tasks."""

    kind = "series within tasks"

    @property
    def remarks(self) -> tuple[Note, ...]:  # type: ignore[override]
        """Notes on the blocks, and on tasks of few."""
        return (self.remark_on_blocks, *super().remarks)


@registered
@dataclass(frozen=True, eq=False)
class GroupsAcrossTasks(FixedTasks, GroupDesign):
    """Whole groups with rows in several of the fixed tasks."""

    kind = "groups across tasks"

    @property
    def held_fixed(self) -> tuple[str, ...]:
        """The tasks, whose numbers of groups vary."""
        return ("the tasks", *super().held_fixed)


@registered
class DrawnTasks(GroupDesign):
    """Tasks, which are drawn."""

    kind = "tasks"
    unit = "task"
    units_in_advice = "tasks"
    averages_tasks = "drawn"

    @staticmethod
    def automatic_interval(*, row_mean: bool, additive: bool) -> str:
        """See `SamplingDesign.automatic_interval`."""
        return "t"

    @property
    def remarks(self) -> tuple[Note, ...]:  # type: ignore[override]
        """Note on few units."""
        n_units = self.n_units[0]
        if n_units >= FEW_TASKS:
            return ()
        what = self.unit if self.unit == "task" else f"{self.unit} of tasks"
        text = (
            f"Only {n_units} {what.replace(self.unit, self.unit + 's')} were resampled (fewer than "
            f"{FEW_TASKS}): expect less coverage than stated."
        )
        return (Note("few", text),)


@registered
class DrawnGroupsOfTasks(DrawnTasks):
    """Groups of tasks, which are drawn."""

    kind = "groups of tasks"
    unit = "group"
