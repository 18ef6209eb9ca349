"""Rows whose order says something: alike neighbours, dates, indexes in different orders."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._base.errors import Note, only_advises, tell
from ..inference._tuning import FEWEST_ROWS
from ..inference.dependence import neighbours_are_alike
from ..resampling.plan import ResamplingPlan
from .measured import Measured, Scores
from .rows import Part, part_of_each_row

if TYPE_CHECKING:
    from ..metrics.tasks import Tasks

# Pairs of neighbouring rows whose values are compared, for systems of a metric up to this number.
_PAIRS_LOOKED_AT = 1000
_MOST_LOOKED_AT = 10
# By how much values must correlate more by their labels than by the order of rows, times the
# square root of their number: more than chance in values that have nothing in common.
_PLAINLY = 5

_HAS_DATES = Note(
    "caution",
    "The rows have an index of dates, and intervals are too short where rows depend on those "
    "before them. Give block_length='auto', or the values without their index.",
)
_ARE_SIMILAR = Note(
    "caution",
    "Neighbouring rows have similar values of the metric. If you did not sort them, intervals are "
    "too short: give block_length='auto' for rows in time, groups= for rows of one source.",
)


def with_caution(
    plan: ResamplingPlan,
    has_dates: bool,
    scores: Scores,
    parts: Sequence[Part],
    tasks: Tasks | None,
) -> ResamplingPlan:
    """Return the plan, with a remark where it draws rows one by one that look dependent."""
    design = plan.design
    # Groups of one row each are rows.
    if design.n_units != (design.n_samples,) or plan.resamples is not None:
        return plan
    if has_dates:
        return replace(plan, design=replace(design, remarks=(*design.remarks, _HAS_DATES)))
    of_part = part_of_each_row(parts) if len(parts) > 1 else None
    strata = design.strata
    if strata is not None and design.members is not None:
        strata = strata[design.members[:, 0]]
    kinds = (strata, of_part, None if tasks is None else tasks.number)
    looked_at = [
        own[0]
        for by_name in scores.values()
        for own in itertools.islice(by_name.values(), _MOST_LOOKED_AT)
    ]
    if any(_are_similar(one, kinds, len(looked_at)) for one in looked_at):
        return replace(plan, design=replace(design, remarks=(*design.remarks, _ARE_SIMILAR)))
    return plan


@only_advises(False)
def _are_similar(one: Measured, kinds: Sequence[Any], n_looks: int) -> bool:
    """Whether neighbouring rows of one kind have similar values, as far as a sample tells."""
    statistic, n = one.statistic.unsigned or one.statistic, one.rows.n_samples
    if not statistic.of_row_values or n < FEWEST_ROWS:
        return False
    if n <= 2 * _PAIRS_LOOKED_AT:
        looked_at: NDArray[np.intp] = np.arange(n)
        first, second = looked_at[:-1], looked_at[1:]
    else:
        start = np.linspace(0, n - 2, _PAIRS_LOOKED_AT).astype(np.intp)
        looked_at = np.concatenate((start, start + 1))
        first, second = np.split(np.arange(len(looked_at)), 2)
    y_true, y_pred, _ = one.rows.of(statistic, looked_at)
    values = statistic.row_values_of(y_true, y_pred)
    columns = [np.asarray(of_row)[looked_at] for of_row in kinds if of_row is not None]
    if statistic.response in ("labels", "probabilities"):
        # Rows are often sorted by their class, and classes differ in how hard they are.
        columns.append(y_true)
    kind = None
    for column in columns:
        names, own = np.unique(column, return_inverse=True)
        if kind is not None:
            own = np.unique(kind * len(names) + own, return_inverse=True)[1]
        kind = own
    return neighbours_are_alike(values, first, second, kind, n_looks)


# ------------------------------------------------------------------ indexes of pandas


def dates_of_each(answers: Mapping[str, Any]) -> list[NDArray[np.int64]]:
    """Return each index of dates as numbers; of several levels the first that holds dates."""
    found = []
    for _, index, _ in _labelled(answers):
        for level in range(index.nlevels):
            dates = index.get_level_values(level)
            if isinstance(numbers := getattr(dates, "asi8", None), np.ndarray):
                found.append(numbers)
                break
            if getattr(dates, "inferred_type", "") == "date":
                days: NDArray[Any] = np.asarray(dates, dtype="datetime64[D]")
                found.append(days.view(np.int64))
                break
    return found


@only_advises(None)
def warn_of_orders(*tables: Mapping[str, Any]) -> None:
    """Warn once if two columns of a table have the same labels in different orders, or none.

    Labels are those of rows, and of the columns of frames.

    Parameters
    ----------
    *tables : mapping of str to array-like, or mapping or list of these
        What was given for some rows, by argument; columns without an index are passed over.
    """
    notes = [_note(table, axis) for table in tables for axis in ("index", "columns")]
    if found := [note for note in notes if note is not None]:
        tell(*found)


def _note(columns: Mapping[str, Any], axis: str) -> Note | None:
    seen: list[_Labelled] = []
    for one in _labelled(columns, axis):
        if any(one.index is other.index or one.index.equals(other.index) for other in seen):
            continue
        first = next((other.name for other in seen if _differ_in_order(other, one)), None)
        if first is None:
            apart = (other.name for other in seen if _share_no_label(other, one))
            if axis == "index" and (first := next(apart, None)) is not None:
                text = (
                    f"{first} and {one.name} have no index label in common: row order pairs them. "
                    "Pair a long table by table.pivot(index=<row>, columns=<system>), or give "
                    ".to_numpy() of each."
                )
                return Note("caution", text, about=f"order of {axis}")
            seen.append(one)
            continue
        what, name = ("row", f"{one.name}.loc") if axis == "index" else ("column", one.name)
        aligned = f"{name}[{first}.{axis}]" if one.index.is_unique else "sort both alike"
        text = (
            f"{first} and {one.name} have the same {_LABELS[axis]} in different orders, and {what} "
            f"order pairs them. Align them, {aligned}, or give .to_numpy() of each if their order "
            "is right."
        )
        return Note("caution", text, about=f"order of {axis}")
    return None


_LABELS = {"index": "index labels", "columns": "column labels"}


class _Labelled(NamedTuple):
    """A column of pandas, and the labels of its rows or columns."""

    name: str
    index: Any
    values: Any

    @property
    def is_numbered(self) -> bool:
        """Whether the labels are those that pandas gives by itself."""
        return bool(self.index.equals(sys.modules["pandas"].RangeIndex(len(self.index))))


def _labelled(columns: Mapping[str, Any], axis: str = "index") -> Iterator[_Labelled]:
    """Yield each column of pandas, also of those in a mapping or a list."""
    # While pandas is imported it has no such class yet.
    of_pandas = getattr(sys.modules.get("pandas"), "Index", None)
    if of_pandas is None:
        return
    for name, values in columns.items():
        if values is None or isinstance(values, np.ndarray) or sparse.issparse(values):
            continue
        index = getattr(values, axis, None)
        if isinstance(index, of_pandas):
            yield _Labelled(name, index, values)
        elif isinstance(values, Mapping):
            yield from _labelled({f"{name}[{key!r}]": values[key] for key in values}, axis)
        elif isinstance(values, list | tuple) and values and hasattr(values[0], "iloc"):
            yield from _labelled({f"{name}[{k}]": own for k, own in enumerate(values)}, axis)


def _differ_in_order(first: _Labelled, second: _Labelled) -> bool:
    """Whether two columns hold the same labels, which are not just numbers of rows."""
    if not _holds_the_same(first.index, second.index):
        return False
    return not (first.is_numbered or second.is_numbered) or _pair_by_label(first, second)


def _pair_by_label(first: _Labelled, second: _Labelled) -> bool:
    """Whether values go together by their labels, and not in the order of rows.

    A fresh column of predictions, or a shuffled one, has numbers for labels: values tell which.
    """
    values = [np.asarray(one.values) for one in (first, second)]
    if any(own.ndim != 1 for own in values):
        return False
    try:
        ranks = np.unique(np.concatenate(values), return_inverse=True)[1].astype(np.float64)
    except TypeError:
        # Values that cannot be sorted.
        return False
    one, other = np.split(ranks, 2)
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return False
    by_label = np.corrcoef(one, other[second.index.get_indexer(first.index)])[0, 1]
    by_row = np.corrcoef(one, other)[0, 1]
    return bool(by_label - by_row > _PLAINLY / np.sqrt(len(one)))


def _share_no_label(first: _Labelled, second: _Labelled) -> bool:
    """Whether no label of one column is one of the other's, and both are more than equal steps.

    Every third row of a table, or its first half, is in the order of the table.
    """
    if any(one.is_numbered or _is_in_steps(one.index) for one in (first, second)):
        return False
    counts = _counts_of_labels(first.index, second.index)
    return counts is not None and not (counts[0] * counts[1]).any()


def _is_in_steps(index: Any) -> bool:
    if not len(index) or index.nlevels > 1 or getattr(index.dtype, "kind", "O") not in "iu":
        return not len(index)
    steps = np.diff(index.to_numpy())
    return bool((steps > 0).all() and (steps == steps[:1]).all())


def _holds_the_same(first: Any, second: Any) -> bool:
    """Whether two indexes hold the same labels, each as often."""
    counts = _counts_of_labels(first, second)
    return counts is not None and bool((counts[0] == counts[1]).all())


def _counts_of_labels(first: Any, second: Any) -> list[NDArray[np.intp]] | None:
    """Return how often each index has each label of both; None if they cannot be compared."""
    if len(first) != len(second) or first.nlevels != second.nlevels:
        return None
    try:
        codes, labels = first.append(second).factorize(use_na_sentinel=False)
    except TypeError:
        # Labels that cannot be hashed.
        return None
    halves = (codes[: len(first)], codes[len(first) :])
    return [np.bincount(half, minlength=len(labels)) for half in halves]
