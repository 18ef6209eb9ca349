"""`IntervalDisplay`: estimates with their intervals, one below the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks as check
from .._base.doors import door
from ..results import rendering, wording
from ..results.table import Entry, decimals_by_metric, entries_of
from .common import (
    BLUE,
    LETTER,
    MAX_LABEL,
    Display,
    check_asked,
    check_drawn,
    ink,
    label_axis,
    lines_of,
    literal,
    make_room,
    place_of,
    pyplot,
    range_of,
    shortened,
    with_direction,
)

if TYPE_CHECKING:
    from ..results import EvaluationResult, TableCheck


# Rows of a column of a picture at most: of more, panels stand side by side, without numbers.
_MOST_ROWS = 60
# Sizes (points) of names and numbers beside intervals, and the smallest that is easily read.
_LARGE, _SMALL = 10.0, 7.0
# Share of the width of given axes that names and numbers take, and letters of a name at least.
_TEXTS, _FEWEST_LETTERS = 0.6, 24


class Panel(NamedTuple):
    """Rows with intervals on axes of their own.

    Attributes
    ----------
    label : str
        Label of the value axis.
    rows : ndarray of shape (n_rows,)
        What is drawn, from the top.
    members : ndarray of shape (n_members,)
        What the value axis has room for: of a long panel that is cut in two also the other half.
    """

    label: str
    rows: NDArray[Any]
    members: NDArray[Any]


class ForestPlot(Display):
    """Axes, labels, texts and legend of rows with intervals, in panels one below the other."""

    def __init__(
        self,
        lows: ArrayLike,
        highs: ArrayLike,
        names: Sequence[str | tuple[str, str]],
        texts: Sequence[str] | None,
        panels: Sequence[tuple[str, Sequence[int]]],
    ) -> None:
        self.lows = np.asarray(lows, dtype=float)
        self.highs = np.asarray(highs, dtype=float)
        self.names = list(names)
        self.texts = [""] * len(self.names) if texts is None else list(texts)
        self.panels = panels

    def _start(self, ax: Any, *, show_values: bool | None) -> list[Panel]:
        """Make the axes and the lists of what will be drawn on them; returns their panels."""
        check_asked(ax=ax, show_values=bool(show_values) if show_values is None else show_values)
        plt = pyplot()
        letters = max(len(shortened(name)) for name in self.names)
        self._most_letters, self._largest_text = MAX_LABEL, _LARGE
        panels = [Panel(label, np.asarray(rows), np.asarray(rows)) for label, rows in self.panels]
        columns = _columns_of_panels(panels) if ax is None else [panels]
        self._has_values = show_values or (show_values is None and len(columns) == 1)
        n_beside = max(map(len, self.texts)) if self._has_values else 0
        if ax is None:
            # Inches: each row, the value axis of each panel, and the legend; labels and numbers.
            width = 4.2 + 0.085 * (letters + n_beside)
            heights = [[0.28 * (len(panel.rows) + 0.5) + 0.75 for panel in c] for c in columns]
            highest = max(map(sum, heights))
            size = (width * len(columns), highest + 0.35)
            figure = plt.figure(figsize=size, layout="constrained")
            axes: list[Any] = []
            for cell, column in zip(figure.add_gridspec(1, len(columns)), heights, strict=True):
                # A short column leaves room at the bottom.
                blank = highest - sum(column)
                ratios = [*column, blank] if blank > 0.5 else column
                grid = cell.subgridspec(len(ratios), 1, height_ratios=ratios)
                axes += [figure.add_subplot(grid[k]) for k in range(len(column))]
            panels = [panel for column in columns for panel in column]
            self._width = 72 * width
        else:
            make_room(ax)
            self._width = place_of(ax)[0]
            # Names are cut before texts get small, and numbers left out before names say little.
            most = int(_TEXTS * self._width / (LETTER * _SMALL))
            if show_values is None and n_beside + min(letters, _FEWEST_LETTERS) > most:
                self._has_values, n_beside = False, 0
            self._most_letters = min(MAX_LABEL, max(_FEWEST_LETTERS, most - n_beside))
            letters = max(len(shortened(name, self._most_letters)) for name in self.names)
            wide = _TEXTS * self._width / (LETTER * (letters + n_beside))
            self._largest_text = min(_LARGE, wide)
            axes = [ax]
            if len(panels) > 1:
                # The panels divide the axes that are given.
                place, ratios = ax.get_subplotspec(), [len(panel.rows) + 0.5 for panel in panels]
                grid = place.subgridspec(len(panels), 1, height_ratios=ratios, hspace=0.7)
                ax.set_axis_off()
                axes = [ax.figure.add_subplot(cell) for cell in grid]
        # What names, and numbers at the other side, leave of the width of a column.
        names, values = (LETTER * self._largest_text * n for n in (letters, n_beside))
        self._legend_width = self._width - names
        self._label_width = self._width - abs(names - values)
        self.axes_ = np.empty(len(axes), dtype=object)
        self.axes_[:] = axes
        self.ax_, self.figure_ = axes[0], axes[0].figure
        self.points_: list[Any] = []
        self.intervals_: list[Any] = []
        self.texts_: list[Any] = []
        return panels

    def _finish(self, name: str | None, handles: Mapping[str, Any]) -> None:
        """Name the last value axis, and draw one legend for all panels, above the first."""
        check_asked(name=name)
        if name is not None:
            label_axis(self.axes_[-1], "x", name, self._label_width)
        room = self._legend_width * self.figure_.dpi / 72
        for n_columns in (3, 2, 1):
            self.legend_ = self.axes_[0].legend(
                handles.values(),
                [lines_of(label, self._legend_width - 36, 9) for label in handles],
                loc="lower left",
                bbox_to_anchor=(0, 1.0),
                ncols=n_columns,
                fontsize=9,
                frameon=False,
                borderaxespad=0.2,
                columnspacing=1.2,
                handletextpad=0.4,
            )
            if self.legend_.get_window_extent().width <= room:
                break

    def _prepare(self, axes: Any, panel: Panel, values: NDArray[Any]) -> float:
        """Set up the axes of a panel that shows some values; returns the size of its texts."""
        rows, finite = panel.rows, values[np.isfinite(values)]
        # The scale of the axis, which may be logarithmic, says what the room at the ends is.
        axes.update_datalim(np.column_stack([finite, np.zeros(len(finite))]))
        axes.margins(x=0.05)
        axes.autoscale(True, axis="x")
        points = axes.get_window_extent().height * 72 / axes.figure.dpi
        size = float(min(self._largest_text, max(4.0, 0.85 * points / (len(rows) + 1))))
        axes.set_ylim(len(rows) - 0.4, -0.6)
        labels = [literal(shortened(self.names[k], self._most_letters)) for k in rows]
        axes.set_yticks(range(len(rows)), labels, fontsize=size)
        axes.tick_params(axis="y", length=0, pad=8)
        label_axis(axes, "x", panel.label, self._label_width)
        axes.grid(axis="x", color=ink(axes), alpha=0.12, zorder=0)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        start, stop = axes.get_xlim()
        if start < 0 < stop:
            axes.axvline(0, color=ink(axes), alpha=0.75, linewidth=1, zorder=1)
        return size

    def _draw_lines(
        self,
        axes: Any,
        places: NDArray[Any],
        limits: tuple[NDArray[Any], NDArray[Any]],
        style: Mapping[str, Any],
    ) -> Any:
        """Draw intervals at their places; returns the artist, one segment per defined interval."""
        from matplotlib.collections import LineCollection

        start, stop = axes.get_xlim()
        far = 10 * (stop - start)
        # An infinite limit is far outside, and does not count for the range of the axis.
        ends = np.column_stack([limits[0].clip(start - far), limits[1].clip(None, stop + far)])
        segments = np.stack([ends, np.column_stack([places, places])], axis=2)
        lines = LineCollection(segments[~np.isnan(ends).any(axis=1)], **style)
        axes.add_collection(lines, autolim=False)
        return lines

    def _write_values(self, axes: Any, rows: NDArray[Any], size: float) -> None:
        """Write the text of each row beside it, if there is room for them."""
        if not self._has_values:
            return
        self.texts_ += [
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


def _columns_of_panels(panels: Sequence[Panel]) -> list[list[Panel]]:
    """Return panels in columns of so many rows at most; a longer panel is cut."""
    columns: list[list[Panel]] = [[]]
    n_above = 0
    for panel in panels:
        n_pieces = -(-len(panel.rows) // _MOST_ROWS)
        for rows in np.array_split(panel.rows, n_pieces):
            if columns[-1] and n_above + len(rows) > _MOST_ROWS:
                columns.append([])
                n_above = 0
            columns[-1].append(panel._replace(rows=rows))
            n_above += len(rows)
    return columns


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
    axes_ : ndarray of shape (n_axes,)
        Axes of all panels; of one that is cut into columns several.
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
        check_drawn("result", result, "EvaluationResult")
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
        for entry in entries:
            check_drawn("results", entry.result, "EvaluationResult")
        if names is not None:
            _check_names(names, len(entries))
        panels = _panels(entries)
        labels = {k: _row_label(entries, members, k) for _, members in panels for k in members}
        scores = [entry.result for entry in entries]
        kinds = {result._basis.interval_label(result) for result in scores}
        by_name = results if isinstance(results, Mapping) else dict(enumerate(results))
        decimals = decimals_by_metric(by_name)
        display = cls(
            estimates=[result.estimate for result in scores],
            lows=[result.confidence_interval.low for result in scores],
            highs=[result.confidence_interval.high for result in scores],
            names=list(names) if names is not None else [labels[k] for k in range(len(scores))],
            naive_estimates=[
                np.nan if naive is None else naive for naive in map(wording.baseline, scores)
            ],
            texts=[
                _text_beside(result, wording.digits_of(result, decimals), len(kinds) > 1)
                for result in scores
            ],
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
        show_values: bool | None = None,
        point_kwargs: Mapping[str, Any] | None = None,
        interval_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; a new figure, as large as the results need, when None: in columns of 60 rows at
            most. Several panels divide axes that are given.
        name : str, optional
            Label of the value axis, of the last panel if there are several.
        show_naive : bool
            Whether to mark the baselines.
        show_values : bool, optional
            Whether to write the numbers beside the intervals; where there is room when None.
        point_kwargs : dict, optional
            Passed to ``ax.plot`` for the estimates.
        interval_kwargs : dict, optional
            Passed to `matplotlib.collections.LineCollection`.

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
        panels = self._start(ax, show_values=show_values)
        self.naive_points_: list[Any] = []
        for axes, panel in zip(self.axes_, panels, strict=True):
            rows = panel.rows
            size = self._prepare(axes, panel, self._shown_values(panel, show_naive))
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
            self._write_values(axes, rows, size)
        handles: dict[str, Any] = {}
        for axes in self.axes_:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        self._finish(name, handles)
        return self

    # -------------------------------------------------------------- steps

    def _shown_values(self, panel: Panel, show_naive: bool) -> NDArray[Any]:
        """Return the values that the axis of a panel has room for."""
        rows = panel.members
        values = np.concatenate([self.estimates[rows], self.lows[rows], self.highs[rows]])
        start, stop = range_of(values)
        # An infinite limit is an arrow at the edge, which needs room.
        room = 0.2 * (stop - start)
        start, stop = (
            start - room * np.isneginf(values).any(),
            stop + room * np.isposinf(values).any(),
        )
        if panel.label == _DIFFERENCE and max(start, -stop) < stop - start:
            # A reader looks for whether a difference could be 0, so 0 is in sight if it is near.
            start, stop = min(start, 0.0), max(stop, 0.0)
        naive = self.naive_estimates[rows]
        near = np.maximum(start - naive, naive - stop) < 3 * (stop - start)
        return np.concatenate([[start, stop], values, naive[near & show_naive]])

    def _draw_intervals(self, axes: Any, rows: NDArray[Any], style: Mapping[str, Any]) -> None:
        """Draw the intervals of a panel, with arrows for infinite limits."""
        places, limits = np.arange(len(rows)), (self.lows[rows], self.highs[rows])
        style = {"color": BLUE, "linewidth": 2, **style}
        self.intervals_.append(self._draw_lines(axes, places, limits, style))
        ends = {"color": style["color"], "linestyle": "", "markersize": 8}
        is_defined = ~np.isnan(limits[0]) & ~np.isnan(limits[1])
        for ends_of_rows, arrow, edge in zip(limits, "<>", (0.0, 1.0), strict=True):
            finite = is_defined & np.isfinite(ends_of_rows)
            axes.plot(ends_of_rows[finite], places[finite], marker="|", **ends)
            _draw_at_edge(axes, places[is_defined & ~finite], arrow, edge, ends)

    def _draw_naive(self, axes: Any, rows: NDArray[Any]) -> None:
        """Mark the baselines of a panel, with arrows for those off the axis."""
        naive = self.naive_estimates[rows]
        start, stop = axes.get_xlim()
        inside = (naive >= start) & (naive <= stop)
        style = {"color": ink(axes), "linestyle": "", "markersize": 6, "zorder": 2}
        style["fillstyle"] = "none"
        places = np.arange(len(rows))
        label = "baseline" if inside.any() else None
        self.naive_points_ += axes.plot(
            naive[inside], places[inside], marker="D", label=label, **style
        )
        for far, arrow, edge in ((naive < start, "<", 0.0), (naive > stop, ">", 1.0)):
            far_style = style | {"label": "baseline, off the axis"}
            # Apart from the arrow of an infinite limit.
            _draw_at_edge(axes, places[far] + 0.3, arrow, edge, far_style)


def _draw_at_edge(
    axes: Any, places: NDArray[Any], arrow: str, edge: float, style: Mapping[str, Any]
) -> None:
    """Draw arrows at the left (0) or right (1) edge of axes, for what is outside."""
    # The layout would count an empty artist.
    if len(places):
        where, transform = np.full(len(places), edge), axes.get_yaxis_transform()
        axes.plot(where, places, marker=arrow, clip_on=False, transform=transform, **style)


def _check_names(names: Any, n_results: int) -> None:
    """Accept a string for each result."""
    must = "hold one name per result"
    is_column = isinstance(names, Iterable) and not isinstance(names, str | bytes)
    if not is_column or not hasattr(names, "__len__"):
        raise check.fail("names", must, repr(names))
    if len(names) != n_results:
        got = f"{check.counted(len(names), 'name')} for {check.counted(n_results, 'result')}"
        raise check.fail("names", must, got)
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
    # A key is the name of a metric where it is that of the result.
    path = tuple(wording.spoken(key) if key == entry.base_metric else key for key in path)
    return ", ".join(path)


def _text_beside(result: EvaluationResult, digits: rendering.Fixed, with_kind: bool) -> str:
    """Write the estimate with its interval."""
    low, high = result.confidence_interval
    if math.isnan(result.estimate):
        return "undefined"
    estimate = rendering.number(result.estimate, digits)
    if math.isnan(low) or math.isnan(high):
        return f"{estimate} (no interval)"
    kind = f"{result._basis.interval_label(result)} " if with_kind else ""
    limits = rendering.limits(result.confidence_interval, digits, marked=False)
    return f"{estimate} ({kind}{limits})"
