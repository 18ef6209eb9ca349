"""`IntervalDisplay`: estimates with their intervals, one below the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks as check
from .._base.doors import door
from ..results import rendering, wording
from ..results.table import Entry, entries_of
from .common import (
    BLUE,
    Display,
    check_asked,
    literal,
    make_room,
    pyplot,
    range_of,
    shortened,
    with_direction,
)

if TYPE_CHECKING:
    from ..results import EvaluationResult, TableCheck


# Size of a letter (points) at which as many as fill given axes leave half of them free.
_WIDE_TEXT = 1.3


class ForestPlot(Display):
    """Axes, labels, texts and legend of rows with intervals, in panels one below the other."""

    def __init__(
        self,
        lows: ArrayLike,
        highs: ArrayLike,
        names: Sequence[str],
        texts: Sequence[str] | None,
        panels: Sequence[tuple[str, Sequence[int]]],
    ) -> None:
        self.lows = np.asarray(lows, dtype=float)
        self.highs = np.asarray(highs, dtype=float)
        self.names = list(names)
        self.texts = [""] * len(self.names) if texts is None else list(texts)
        self.panels = panels

    def _start(self, ax: Any, *, show_values: bool) -> None:
        """Make the axes, and the lists of what will be drawn on them."""
        check_asked(ax=ax, show_values=show_values)
        plt = pyplot()
        heights = [len(members) + 0.5 for _, members in self.panels]
        characters = max(len(shortened(name)) for name in self.names)
        characters += max(map(len, self.texts)) if show_values else 0
        self._largest_text, self._legend_columns = 10.0, 3
        if ax is None:
            # Inches: each row, the value axis of each panel, and the legend; labels and numbers.
            size = (4.2 + 0.085 * characters, 0.28 * sum(heights) + 0.75 * len(heights) + 0.35)
            figure = plt.figure(figsize=size, layout="constrained")
            grid = figure.subplots(len(heights), squeeze=False, height_ratios=heights)
            self.axes_ = np.asarray(grid)[:, 0]
        else:
            make_room(ax)
            self._legend_columns = 1
            # Labels and numbers leave half of the width to the intervals.
            points = ax.get_window_extent().width * 72 / ax.figure.dpi
            self._largest_text = min(self._largest_text, _WIDE_TEXT * points / characters)
            self.axes_ = np.array([ax])
            if len(heights) > 1:
                # The panels divide the axes that are given.
                place = ax.get_subplotspec()
                grid = place.subgridspec(len(heights), 1, height_ratios=heights, hspace=0.7)
                ax.set_axis_off()
                self.axes_ = np.array([ax.figure.add_subplot(cell) for cell in grid])
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        self.points_: list[Any] = []
        self.intervals_: list[Any] = []
        self.texts_: list[Any] = []

    def _finish(self, name: str | None, handles: Mapping[str, Any]) -> None:
        """Name the last value axis, and draw one legend for all panels, above the first."""
        check_asked(name=name)
        if name is not None:
            self.axes_[-1].set_xlabel(literal(name))
        self.legend_ = self.axes_[0].legend(
            handles.values(),
            handles.keys(),
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=self._legend_columns,
            fontsize=9,
            frameon=False,
            borderaxespad=0.2,
            columnspacing=1.2,
            handletextpad=0.4,
        )

    def _prepare(
        self, axes: Any, rows: NDArray[Any], label: str, extent: tuple[float, float]
    ) -> float:
        """Set up the axes of a panel; returns the font size that its rows leave room for."""
        room = 0.05 * (extent[1] - extent[0])
        start, stop = extent[0] - room, extent[1] + room
        axes.set_xlim(start, stop)
        points = axes.get_window_extent().height * 72 / axes.figure.dpi
        size = float(min(self._largest_text, max(4.0, 0.85 * points / (len(rows) + 1))))
        axes.set_ylim(len(rows) - 0.4, -0.6)
        labels = [literal(shortened(self.names[k])) for k in rows]
        axes.set_yticks(range(len(rows)), labels, fontsize=size)
        axes.tick_params(axis="y", length=0, pad=8)
        axes.set_xlabel(literal(label))
        axes.grid(axis="x", color="0.9", zorder=0)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        if start < 0 < stop:
            axes.axvline(0, color="0.3", linewidth=1, zorder=1)
        return size

    def _write_values(self, axes: Any, rows: NDArray[Any], size: float) -> list[Any]:
        """Write the text of each row beside it; returns the artists."""
        return [
            axes.annotate(
                self.texts[k],
                (1.0, place),
                xycoords=("axes fraction", "data"),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                fontsize=size,
                parse_math=False,
            )
            for place, k in enumerate(rows)
            if self.texts[k]
        ]


_DIFFERENCE = "difference between two subgroups"


class IntervalDisplay(ForestPlot):
    """Estimates with their intervals, one below the other (a forest plot).

    Use `from_results`. Results on different scales, such as an accuracy and an error in metres,
    or a difference between subgroups, are drawn in panels of their own.

    Parameters
    ----------
    estimates, lows, highs : array-like of shape (n_results,)
        Estimates and limits; limits may be infinite or NaN.
    names : sequence of str
        One per result.
    naive_estimates : array-like of shape (n_results,), optional
        References, NaN where unknown.
    texts : sequence of str, optional
        What is written beside each result.
    panels : sequence of tuple (str, sequence of int), optional
        Label of the value axis and the results of each panel; all in one when None.
    interval_name : str
        What the intervals are called.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the first panel.
    axes_ : ndarray of shape (n_panels,)
        Axes of all panels.
    figure_ : matplotlib Figure
        Figure of the axes.
    legend_ : matplotlib Legend
        What the marks are.
    points_ : list of matplotlib Line2D
        Estimates, one artist per panel.
    intervals_ : list of matplotlib LineCollection
        Intervals, one artist per panel, one segment per result with limits.
    naive_points_ : list of matplotlib Line2D
        References within the axes, one artist per panel.
    texts_ : list of matplotlib Text
        What is written beside the results.

    See Also
    --------
    BootstrapDistributionDisplay : One result and its bootstrap distribution.

    Examples
    --------
    >>> from skboot import bootstrap_score
    >>> from skboot.plots import IntervalDisplay
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> y_pred = [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20
    >>> results = bootstrap_score(y_true, y_pred, metric=["accuracy", "f1"], random_state=0)
    >>> display = IntervalDisplay.from_results(results)  # doctest: +SKIP
    >>> display.figure_.savefig("scores.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        estimates: ArrayLike,
        lows: ArrayLike,
        highs: ArrayLike,
        names: Sequence[str],
        naive_estimates: ArrayLike | None = None,
        texts: Sequence[str] | None = None,
        panels: Sequence[tuple[str, Sequence[int]]] | None = None,
        interval_name: str = "interval",
    ) -> None:
        self.estimates = np.asarray(estimates, dtype=float)
        panels = panels or [("score", range(len(self.estimates)))]
        super().__init__(lows, highs, names, texts, panels)
        unknown = np.full(len(self.estimates), np.nan)
        self.naive_estimates = (
            unknown if naive_estimates is None else np.asarray(naive_estimates, dtype=float)
        )
        self.interval_name = interval_name

    @classmethod
    @door(".from_result")
    def from_result(cls, result: EvaluationResult, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the interval of one result.

        Parameters
        ----------
        result : EvaluationResult
            What to draw.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        IntervalDisplay
            The display, drawn.
        """
        return cls.from_results([result], ax, **kwargs)

    @classmethod
    @door(".from_results")
    def from_results(
        cls,
        results: Mapping[Any, Any] | Sequence[EvaluationResult],
        ax: Any = None,
        *,
        names: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the intervals of several results.

        Parameters
        ----------
        results : mapping or sequence of EvaluationResult
            What to draw, from the top; dicts may be nested.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        names : sequence of str, optional
            One per result, instead of the keys or metrics.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        IntervalDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If there is no result, or not one name for each.
        """
        if isinstance(results, Mapping):
            entries = entries_of(results)
        else:
            entries = [Entry((), result) for result in results]
        if not entries:
            raise check.fail("results", "hold a result", "none")
        if names is not None:
            _check_names(names, len(entries))
        panels = _panels(entries)
        labels = {k: _row_label(entries, members, k) for _, members in panels for k in members}
        scores = [entry.result for entry in entries]
        kinds = {result._basis.interval_label(result) for result in scores}
        display = cls(
            estimates=[result.estimate for result in scores],
            lows=[result.confidence_interval.low for result in scores],
            highs=[result.confidence_interval.high for result in scores],
            names=list(names) if names is not None else [labels[k] for k in range(len(scores))],
            naive_estimates=[
                np.nan if naive is None else naive for naive in map(wording.baseline, scores)
            ],
            texts=[_text_beside(result, len(kinds) > 1) for result in scores],
            panels=panels,
            interval_name=kinds.pop() if len(kinds) == 1 else "interval",
        )
        return display.plot(ax, **kwargs)

    @classmethod
    @door(".from_check")
    def from_check(cls, check: TableCheck, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the scores of a printed table with Wilson's intervals.

        Parameters
        ----------
        check : TableCheck
            What to draw, in the order of the table.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        IntervalDisplay
            The display, drawn; a score that no number of right rows gives has no interval.
        """
        rows, unit = check.rows, 100 if check.in_percent else 1
        display = cls(
            estimates=[unit * row.score for row in rows],
            lows=[unit * row.low for row in rows],
            highs=[unit * row.high for row in rows],
            names=[row.system for row in rows],
            texts=[f"{row.printed} ({check._limits(row)})" for row in rows],
            panels=[
                ("printed score (%)" if check.in_percent else "printed score", range(len(rows)))
            ],
            interval_name=f"{rendering.percent(check.confidence_level)} Wilson interval",
        )
        return display.plot(ax, **kwargs)

    @door(".plot")
    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        show_naive: bool = True,
        show_values: bool = True,
        point_kwargs: Mapping[str, Any] | None = None,
        interval_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; a new figure, as high as the results need, when None. Several panels divide it.
        name : str, optional
            Label of the value axis, of the last panel if there are several.
        show_naive : bool
            Whether to mark the baselines.
        show_values : bool
            Whether to write the numbers beside the intervals.
        point_kwargs : dict, optional
            Passed to ``ax.plot`` for the estimates.
        interval_kwargs : dict, optional
            Passed to ``ax.hlines``.

        Returns
        -------
        IntervalDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_asked(show_naive=show_naive)
        self._start(ax, show_values=show_values)
        self.naive_points_: list[Any] = []
        for axes, (label, members) in zip(self.axes_, self.panels, strict=True):
            rows = np.asarray(members)
            size = self._prepare(axes, rows, label, self._range(rows, label, show_naive))
            self._draw_intervals(axes, rows, interval_kwargs or {})
            if show_naive:
                self._draw_naive(axes, rows)
            style = {"color": BLUE, "marker": "o", "linestyle": "", "zorder": 3}
            label = f"estimate and {self.interval_name}"
            self.points_ += axes.plot(
                self.estimates[rows],
                range(len(rows)),
                label=label,
                **style | dict(point_kwargs or {}),
            )
            if show_values:
                self.texts_ += self._write_values(axes, rows, size)
        handles: dict[str, Any] = {}
        for axes in self.axes_:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        self._finish(name, handles)
        return self

    # -------------------------------------------------------------- steps

    def _range(self, rows: NDArray[Any], label: str, show_naive: bool) -> tuple[float, float]:
        """Return the smallest and the largest value that a panel shows."""
        values = np.concatenate([self.estimates[rows], self.lows[rows], self.highs[rows]])
        start, stop = range_of(values)
        # An infinite limit is an arrow at the edge, which needs room.
        room = 0.2 * (stop - start)
        start, stop = (
            start - room * np.isneginf(values).any(),
            stop + room * np.isposinf(values).any(),
        )
        if label == _DIFFERENCE and max(start, -stop) < stop - start:
            # A reader looks for whether a difference could be 0, so 0 is in sight if it is near.
            start, stop = min(start, 0.0), max(stop, 0.0)
        naive = self.naive_estimates[rows]
        near = np.maximum(start - naive, naive - stop) < 3 * (stop - start)
        if not show_naive or not near.any():
            return start, stop
        return min(start, naive[near].min()), max(stop, naive[near].max())

    def _draw_intervals(self, axes: Any, rows: NDArray[Any], style: Mapping[str, Any]) -> None:
        """Draw the intervals of a panel, with arrows for infinite limits."""
        lows, highs = self.lows[rows], self.highs[rows]
        places = np.flatnonzero(~np.isnan(lows) & ~np.isnan(highs))
        lows, highs = lows[places], highs[places]
        start, stop = axes.get_xlim()
        style = {"color": BLUE, "linewidth": 2, **style}
        ends = {"color": style["color"], "linestyle": "", "markersize": 8}
        self.intervals_.append(
            axes.hlines(places, lows.clip(start), highs.clip(None, stop), **style)
        )
        for limits, arrow, edge in ((lows, "<", start), (highs, ">", stop)):
            infinite = np.isinf(limits)
            axes.plot(limits[~infinite], places[~infinite], marker="|", **ends)
            if infinite.any():
                # The layout would count an empty artist, so arrows are drawn only where needed.
                where = np.full(int(infinite.sum()), edge)
                axes.plot(where, places[infinite], marker=arrow, clip_on=False, **ends)

    def _draw_naive(self, axes: Any, rows: NDArray[Any]) -> None:
        """Mark the baselines of a panel, with arrows for those off the axis."""
        naive = self.naive_estimates[rows]
        start, stop = axes.get_xlim()
        inside = (naive >= start) & (naive <= stop)
        style = {"color": "black", "linestyle": "", "markersize": 6, "zorder": 2}
        lines = np.arange(len(rows))
        label = "baseline" if inside.any() else None
        self.naive_points_ += axes.plot(
            naive[inside], lines[inside], marker="D", fillstyle="none", label=label, **style
        )
        for far, arrow, edge in ((naive < start, "<", start), (naive > stop, ">", stop)):
            if far.any():
                where = np.full(int(far.sum()), edge)
                label = "baseline, off the axis"
                axes.plot(
                    where,
                    lines[far] + 0.3,  # apart from the arrow of an infinite limit
                    marker=arrow,
                    fillstyle="none",
                    clip_on=False,
                    label=label,
                    **style,
                )


def _check_names(names: Any, n_results: int) -> None:
    """Accept a string for each result."""
    must = "hold one name per result"
    is_column = isinstance(names, Iterable) and not isinstance(names, str | bytes)
    if not is_column or not hasattr(names, "__len__"):
        raise check.fail("names", must, repr(names))
    if len(names) != n_results:
        raise check.fail("names", must, f"{len(names)} names for {n_results} results")
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise check.fail("names", "hold strings", repr(wrong[0]))


# ------------------------------------------------------------------ panels and labels


def _panels(entries: Sequence[Entry]) -> list[tuple[str, list[int]]]:
    """Return the results of each panel with the label of its axis: those of one range and sign."""
    members: dict[Any, list[int]] = {}
    for k, entry in enumerate(entries):
        result, bounds = entry.result, entry.result._evidence.facts.bounds
        kind = entry.path[:-1] if entry.is_gap else entry.base_metric
        scale = bounds if all(map(math.isfinite, bounds)) else kind
        members.setdefault((entry.is_gap, scale, result.greater_is_better), []).append(k)
    panels = []
    for (is_gap, _, greater_is_better), places in members.items():
        # The metric with its direction; "score" if there are several.
        names = {entries[k].base_metric for k in places}
        label = wording.spoken(names.pop()) if len(names) == 1 else "score"
        label = _DIFFERENCE if is_gap else with_direction(label, greater_is_better)
        panels.append((label, places))
    return panels


def _row_label(entries: Sequence[Entry], members: Sequence[int], k: int) -> str:
    """Return the keys of a result, without what the axis of its panel says."""
    entry, path = entries[k], entries[k].path
    if entry.is_gap or not path:
        return wording.spoken(entry.result.metric)
    alone = len({entries[j].base_metric for j in members}) == 1
    if alone and len(path) > 1 and path[0] == entry.base_metric:
        path = path[1:]
    if path[0] == entry.base_metric:
        path = (wording.spoken(path[0]), *path[1:])
    return ", ".join(path)


def _text_beside(result: EvaluationResult, with_kind: bool) -> str:
    """Write the estimate with its interval."""
    low, high = result.confidence_interval
    if math.isnan(result.estimate):
        return "undefined"
    if math.isnan(low) or math.isnan(high):
        return f"{wording.estimate(result)} (no interval)"
    kind = f"{result._basis.interval_label(result)} " if with_kind else ""
    return f"{wording.estimate(result)} ({kind}{wording.limits(result, marked=False)})"
