"""Rows in order: from the argument ``block_length`` to a plan that draws blocks.

`in_time` replaces the independent rows of a plan by blocks of consecutive rows, within strata and
tasks. With ``"auto"`` their length comes from the influence of each row on every metric and system
of the call, and on the differences of systems: one length for all of them, the longest. The same
influences show whether several series move together, which blocks within each of them lose.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.errors import Note
from ..inference._tuning import FEWEST_BLOCKS, FEWEST_ROWS
from ..inference.dependence import (
    leave_out_blocks,
    longest_block,
    move_together,
    optimal_block_length,
    plain_season,
    shortest_block,
)
from ..inference.distribution import BoundStatistic
from ..metrics.tasks import TaskAverage, Tasks
from ..resampling._tuning import JACKKNIFE_UNITS
from ..resampling.design import RowDesign, strata_of_tasks
from ..resampling.plan import ResamplingPlan
from ..resampling.series import SeriesDesign
from .rows import Measured, Sampling, Scores


def in_time(
    plan: ResamplingPlan,
    sampling: Sampling,
    dates: Sequence[NDArray[np.int64]],
    scores: Scores,
    tasks: Tasks | None,
) -> tuple[ResamplingPlan, int]:
    """Return the plan that draws blocks, and their length.

    Parameters
    ----------
    plan : ResamplingPlan
        Plan of the call without blocks.
    sampling : Sampling
        With a ``block_length``.
    dates : sequence of ndarray
        Each index of dates of truth and predictions.
    scores : Scores
    tasks : Tasks or None
    """
    length = _checked_length(sampling.block_length)
    for name, reason in _REFUSED.items():
        if getattr(sampling, name) is not None:
            raise check.fail("block_length", f"not be combined with {name}", "", reason)
    n_samples, series = plan.design.n_samples, plan.design.strata
    if tasks is not None:
        series = strata_of_tasks(tasks.number, series)
    # Rows of one date come in any order: where blocks can be whole dates, dates are in time order.
    times, n_of_date = _number_dates(dates, series)
    if length is not None and length % n_of_date:
        times = None
    per = 1 if times is None else n_of_date
    of_unit = series
    if times is not None and series is not None:
        of_unit = series[np.unique(times, return_index=True)[1]]
    n_units = n_samples if times is None else int(times.max()) + 1
    sizes = np.array([n_units]) if of_unit is None else np.bincount(of_unit)
    n_blocks = None if length is None else length // per
    _check_sizes(n_blocks, sizes, per, "rows" if times is None else "dates")
    influences, remarks = [], list[Note]()
    if length is None or len(sizes) > 1:
        by_metric = (
            _influences(by_system, series, times, plan, tasks) for by_system in scores.values()
        )
        influences = [of_metric for of_metric in by_metric if of_metric is not None]
    n_in_blocks = n_blocks
    if n_blocks is None:
        if len(influences) < len(scores):
            must = f"be an integer with {len(sizes)} series and this metric"
            got = "'auto', which needs the metric without each of too many blocks"
            raise check.fail("block_length", must, got)
        n_blocks = n_in_blocks = _automatic_length(influences, sizes)
        length = n_blocks * per
        seasons_of_metrics = (of_metric.season for of_metric in influences)
        season = next((n for n in seasons_of_metrics if n is not None), None)
        if season is not None and (seasons := _whole_seasons(influences, sizes, n_blocks, season)):
            n_in_blocks = seasons
            remarks = [_season(season, n_in_blocks, per, bool(dates) or len(sizes) > 1)]
    assert length is not None
    assert n_in_blocks is not None
    # What repeats with each block, as a season, is no shock that series share.
    if len(sizes) > 1 and _move_together(influences, n_in_blocks):
        n_series = len(sizes)
        text = (
            f"The {n_series} series rise and fall together: blocks of each make intervals too "
            "short. Give a column per series, or rows sorted by date, no strata, and "
            f"block_length={n_series} * k for k dates."
        )
        remarks = [Note("caution", text)]
    if length % n_of_date:
        text = (
            f"Most dates of the index have {n_of_date} rows, and blocks of {length} rows are not "
            "whole dates. Give a column per series, or rows sorted by date and "
            f"block_length={n_of_date} * k for k dates."
        )
        remarks.append(Note("caution", text))
    if n_blocks == 1 and tasks is None and times is None:
        design: Any = RowDesign.of(n_samples, series).of_kind("blocks of one row")
    else:
        design = SeriesDesign.of(n_samples, n_blocks, series, times)
    return replace(plan, design=replace(design, remarks=(*design.remarks, *remarks))), length


def _season(n: int, length: int, per: int, is_plain: bool) -> Note:
    """Return the caution for values that repeat: plainly in time, or as series side by side may."""
    what = "rows" if per == 1 else "dates"
    text = (
        f"Values of the metric repeat every {n} {what} or so. Blocks of 'auto' ignore seasons, and "
        f"intervals are too wide: use whole seasons, block_length={length * per}."
    )
    if not is_plain:
        text = (
            f"Values of the metric repeat every {n} rows or so. If that is a season, give whole "
            f"seasons, block_length={length}; if these are {n} series, give a column per series."
        )
    return Note("caution", text)


# ------------------------------------------------------------------ arguments

_REFUSED = {
    "groups": "Groups are resampled whole: give groups=<the series> alone for a claim about new "
    "series. For later times of these series give a row per date and a column per series, or, if "
    "the series share nothing, strata=<the series>.",
    "by": "Score each subgroup by itself, with its rows in time order: y_true[by == name], "
    "y_pred[by == name]. If the subgroups are the series of a panel, give strata=<the series> in "
    "place of by.",
    "resamples": "Blocks are resampled here: give one of the two.",
}


def _checked_length(block_length: Any) -> int | None:
    """Return the number of rows; None for "auto"."""
    if isinstance(block_length, str) and block_length == "auto":
        return None
    is_bool = isinstance(block_length, bool | np.bool_)
    if isinstance(block_length, Integral) and not is_bool and int(block_length) >= 1:
        return int(block_length)
    must = "be None, 'auto' or an integer of at least 1, the number of rows in a block"
    advice = "Use block_length='auto' to have it found from the rows."
    raise check.fail("block_length", must, repr(block_length), advice)


def _check_sizes(length: int | None, sizes: NDArray[Any], per: int, what: str) -> None:
    """Refuse blocks that no series, or none but one, can hold more than once.

    Lengths and sizes are numbers of rows, or of dates of so many rows (`per`).
    """
    shortest, n_units = int(sizes.min()), int(sizes.sum())
    of = f"the shortest of {len(sizes)} series" if len(sizes) > 1 else "the series"
    of_rows = f" of {per} rows" if per > 1 else ""
    if length is None:
        if n_units < FEWEST_ROWS or shortest < 3:
            must = f"be an integer with fewer than {FEWEST_ROWS} {what}, or 3 in a series"
            got = f"'auto' with {n_units} {what}, {shortest} in {of}"
            advice = f"So few {what} do not show how far apart they depend on each other."
            raise check.fail("block_length", must, got, advice)
    elif length > shortest or length >= int(sizes.max()):
        most = min(shortest, int(sizes.max()) - 1) * per
        must = (
            f"be at most {most}, since {of} has {shortest} {what}{of_rows}" if most else "be None"
        )
        advice = (
            "A block as long as its series is the series itself, in every resample. Intervals need "
            "some 10 blocks or more; to resample whole series, give groups=<the series> alone."
        )
        raise check.fail("block_length", must, str(length * per), advice)
    elif (n_blocks := _n_blocks(length, sizes)) < FEWEST_BLOCKS:
        enough = range(1, length)
        most = bisect_left(enough, True, key=lambda n: _n_blocks(n, sizes) < FEWEST_BLOCKS) * per
        must = f"be at most {most}, for {FEWEST_BLOCKS} blocks or more" if most else "be None"
        got = f"{length * per}, which makes {n_blocks} blocks of {n_units} {what}{of_rows}"
        advice = (
            "The blocks are the units that are resampled, and so few do not show how much others "
            "would differ. Use block_length='auto' to have the length found from the rows."
        )
        raise check.fail("block_length", must, got, advice if most else "")


def _n_blocks(length: int, sizes: NDArray[Any]) -> int:
    """Number of blocks of all series together."""
    return int(np.sum(-(-sizes // length)))


def _number_dates(
    indexes: Sequence[NDArray[np.int64]], series: NDArray[np.intp] | None
) -> tuple[NDArray[np.intp] | None, int]:
    """Number the dates of each series, so that blocks can be whole dates; refuse dates that fall.

    Returns the number of the date of each row, series by series, or None where no series has a
    date twice, and the median of the rows per date. Of several indexes, the one with most rows per
    date counts.
    """
    times, most = None, 1
    for dates in indexes:
        order = None if series is None else np.argsort(series, kind="stable")
        if order is not None and len(order) != len(dates):
            # Columns of other lengths are refused where all columns are checked.
            continue
        steps = np.diff(dates if order is None else dates[order])
        within = True if series is None else np.diff(series[order]) == 0
        falls = (steps < 0) & within
        if falls.any():
            at = int(np.argmax(falls)) + 1
            row = at if order is None else int(order[at])
            raise check.fail(
                "block_length",
                "be given with rows in time order, within each series",
                f"an index of dates that goes back in time at row {row}",
                "Sort the rows of every argument by their dates, give strata=<the series> where "
                "there are several, or leave the index out.",
            )
        begins = np.append(True, (steps != 0) | ~np.asarray(within))
        if begins.all():
            continue
        n_rows = int(np.median(np.diff(np.flatnonzero(np.append(begins, True)))))
        if times is None or n_rows > most:
            number = np.cumsum(begins) - 1
            times, most = number, n_rows
            if order is not None:
                times = np.empty_like(number)
                times[order] = number
    return times, most


# ------------------------------------------------------------------ what influences show


class _Influences(NamedTuple):
    """Values of a metric without some consecutive rows, series by series.

    Attributes
    ----------
    of_systems : list of ndarray of shape (n_values,)
        Influences of each system, the mean over its runs.
    sizes : ndarray of shape (n_series,)
        Number of values of each series.
    n_rows : int
        Rows, or dates, for each value: one, unless leaving out every one would take longer than the
        resamples.
    """

    of_systems: list[NDArray[np.float64]]
    sizes: NDArray[np.intp]
    n_rows: int

    @property
    def of_all(self) -> Iterator[NDArray[np.float64]]:
        """Influences of the rows on the scores of the systems and on their differences."""
        yield from self.of_systems
        for system_a, system_b in itertools.combinations(self.of_systems, 2):
            yield system_a - system_b

    @property
    def season(self) -> int | None:
        """A season, where one is plain in the metric of a system."""
        if self.n_rows > 1:
            return None
        seasons = (plain_season(influence, self.sizes) for influence in self.of_systems)
        return next((rows for rows in seasons if rows is not None), None)


def _automatic_length(influences: Sequence[_Influences], sizes: NDArray[np.intp]) -> int:
    """Return the longest of the lengths that the metrics of each system, and differences, need."""
    longest = 1.0
    for of_metric in influences:
        lengths = (
            optimal_block_length(influence, of_metric.sizes) for influence in of_metric.of_all
        )
        longest = max(longest, *(of_metric.n_rows * length for length in lengths))
        longest = max(longest, *map(shortest_block, of_metric.of_systems))
    return min(int(np.ceil(longest)), longest_block(int(sizes.sum()), int(sizes.min())))


def _whole_seasons(
    influences: Sequence[_Influences], sizes: NDArray[np.intp], length: int, season: int
) -> int | None:
    """Return the shortest whole seasons that no metric, also summed over seasons, needs longer.

    They are as long as the blocks of "auto" at least. What repeats may be series that stand side by
    side: their sums over all of them show how far one date depends on another. None where there
    would be too few blocks.
    """
    n_seasons, longest = sizes // season, float(-(-length // season))
    for of_metric in influences:
        if of_metric.n_rows > 1 or not n_seasons.all():
            continue
        starts = np.cumsum(sizes) - sizes
        within = np.concatenate(
            [np.arange(n * season) + at for n, at in zip(n_seasons, starts, strict=True)]
        )
        for influence in of_metric.of_all:
            sums = influence[within].reshape(-1, season).sum(axis=1)
            longest = max(longest, optimal_block_length(sums, n_seasons))
    most = max(longest_block(int(n_seasons.sum()), int(n_seasons.min())), -(-length // season))
    in_seasons = min(int(np.ceil(longest)), most) * season
    fits = in_seasons <= int(sizes.min()) and _n_blocks(in_seasons, sizes) >= FEWEST_BLOCKS
    return in_seasons if fits else None


def _move_together(influences: Sequence[_Influences], length: int) -> bool:
    """Whether series move together by a metric of a system, or by a difference."""
    every = [(of_metric, influence) for of_metric in influences for influence in of_metric.of_all]
    return any(
        move_together(influence, of_metric.sizes, -(-length // of_metric.n_rows), len(every))
        for of_metric, influence in every
    )


def _influences(
    by_name: Mapping[str, Sequence[Measured]],
    series: NDArray[np.intp] | None,
    times: NDArray[np.intp] | None,
    plan: ResamplingPlan,
    tasks: Tasks | None,
) -> _Influences | None:
    """Return the influences on one metric; None where too many blocks would be left out."""
    subjects = []
    for run in itertools.chain.from_iterable(by_name.values()):
        statistic = run.statistic if tasks is None else TaskAverage.of(run.statistic, tasks)
        reduced = statistic.reduce(*run.rows.of(statistic, None))
        subjects.append(BoundStatistic.of(statistic, reduced))
    n_samples, n_rows = plan.design.n_samples, 1
    while True:
        design = SeriesDesign.of(n_samples, n_rows, series, times)
        left_out = leave_out_blocks(replace(plan, design=design), subjects, JACKKNIFE_UNITS)
        if left_out is not None:
            break
        n_rows = max(n_rows + 1, -(-int(design.circles.sizes.sum()) // JACKKNIFE_UNITS))
        if n_rows > int(design.circles.sizes.min()):
            return None
    values = left_out.values
    # Where a metric is undefined without some rows these are taken to have no influence.
    unknown = np.isnan(values)
    mean = np.sum(values, axis=1, where=~unknown) / np.maximum((~unknown).sum(axis=1), 1)
    values = np.where(unknown, mean[:, None], values)
    ends = np.cumsum([len(of_system) for of_system in by_name.values()])
    of_systems = [of_system.mean(axis=0) for of_system in np.split(values, ends[:-1])]
    return _Influences(of_systems, design.circles.n_blocks, n_rows)
