"""Pictures of comparisons: differences of systems, their ranks, mean ranks over data sets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks as check
from .._base.checks import fail
from .._base.doors import door
from .._base.typing import ShownPairs
from ..results import comparison_texts, rendering, wording
from ..results.table import comparisons_of, decimals_by_metric
from .common import (
    BLUE,
    GREY,
    LETTER,
    MAX_LABEL,
    ORANGE,
    Display,
    check_asked,
    check_drawn,
    ink,
    lines_of,
    literal,
    place_of,
    points_of,
    range_of,
    shortened,
    with_direction,
)
from .intervals import ForestPlot

if TYPE_CHECKING:
    from ..results.comparison import ComparisonResult, PairedDifference
    from ..results.data_sets import DatasetsComparison


class ComparisonDisplay(ForestPlot):
    """Differences of systems with their intervals, one below the other.

    Use `from_result`, or `from_results` for several metrics or subgroups, each in a panel of its
    own. The thick line is the interval of the difference by itself, the thin one the simultaneous
    interval; systems differ significantly where the thin one excludes 0.

    Parameters
    ----------
    differences : array-like of shape (n_pairs,)
        Differences.
    lows, highs : array-like of shape (n_pairs,)
        Limits of each difference by itself.
    simultaneous_lows, simultaneous_highs : array-like of shape (n_pairs,)
        Simultaneous limits; NaN for none.
    names : sequence of str, or of tuple (str, str)
        One per difference; or the two systems, which are both cut where they are long.
    is_distinguishable : sequence of bool
        Whether the systems of each pair differ significantly.
    texts : sequence of str, optional
        What is written beside each difference.
    label : str
        Label of the value axis, of all in one panel.
    panels : sequence of tuple (str, sequence of int), optional
        Label of the value axis and the differences of each panel; all in one when None.
    interval_names : tuple of str
        What both kinds of intervals are called.

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
        Differences: of each panel those significantly different from 0, and the others.
    intervals_, simultaneous_intervals_ : list of matplotlib LineCollection
        Intervals, in the same order.
    texts_ : list of matplotlib Text
        What is written beside the differences.

    See Also
    --------
    IntervalDisplay : Scores of several systems, each by itself.

    Examples
    --------
    >>> from skboot import compare_systems
    >>> from skboot.plots import ComparisonDisplay
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> predictions = {"A": y_true, "B": [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20}
    >>> result = compare_systems(y_true, predictions, random_state=0)
    >>> display = ComparisonDisplay.from_result(result)  # doctest: +SKIP
    >>> display.figure_.savefig("differences.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        differences: ArrayLike,
        lows: ArrayLike,
        highs: ArrayLike,
        simultaneous_lows: ArrayLike,
        simultaneous_highs: ArrayLike,
        names: Sequence[str | tuple[str, str]],
        is_distinguishable: Sequence[bool],
        texts: Sequence[str] | None = None,
        label: str = "difference",
        panels: Sequence[tuple[str, Sequence[int]]] | None = None,
        interval_names: tuple[str, str] = ("interval", "simultaneous interval"),
    ) -> None:
        self.differences = np.asarray(differences, dtype=float)
        panels = panels or [(label, range(len(self.differences)))]
        super().__init__(lows, highs, names, texts, panels)
        self.simultaneous_lows = np.asarray(simultaneous_lows, dtype=float)
        self.simultaneous_highs = np.asarray(simultaneous_highs, dtype=float)
        self.is_distinguishable = np.asarray(is_distinguishable, dtype=bool)
        self.label = label
        self.interval_names = interval_names

    @classmethod
    @door(".from_result")
    def from_result(
        cls,
        result: ComparisonResult,
        ax: Any = None,
        *,
        pairs: ShownPairs = "auto",
        **kwargs: Any,
    ) -> Self:
        """Draw the differences of a comparison.

        Parameters
        ----------
        result : ComparisonResult
            What to draw.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        pairs : {"auto", "all", "best"}
            All differences; those with the best system; "auto" takes all of up to fifteen, else
            those with the best. With a reference: always those with it.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        ComparisonDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If ``pairs`` is none of these, or the best system is not known.
        """
        check_drawn("result", result, "ComparisonResult")
        return cls._of([("", result)], pairs).plot(ax, **kwargs)

    @classmethod
    @door(".from_results")
    def from_results(
        cls,
        results: Mapping[Any, Any],
        ax: Any = None,
        *,
        pairs: ShownPairs = "auto",
        **kwargs: Any,
    ) -> Self:
        """Draw the differences of several comparisons, one panel below the other.

        Parameters
        ----------
        results : mapping
            Comparisons by name, from the top; dicts may be nested. Results that are no comparisons
            are left out.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        pairs : {"auto", "all", "best"}
            As in `from_result`.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        ComparisonDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If there is no comparison, ``pairs`` is none of these, or the best system of a
            comparison is not known.
        """
        named = comparisons_of(results)
        if not named:
            raise check.fail("results", "hold a comparison", "none")
        return cls._of(named, pairs).plot(ax, **kwargs)

    @classmethod
    def _of(cls, named: Sequence[tuple[str, ComparisonResult]], pairs: str) -> Self:
        """Return the display of some comparisons, one panel each."""
        rows: list[dict[str, Any]] = []
        panels, decimals = [], decimals_by_metric(dict(enumerate(result for _, result in named)))
        for name, result in named:
            shown = _pairs_to_draw(result, pairs)
            # The system from which all others are subtracted stands beside the axis.
            firsts = {pair.first for pair in shown}
            common = firsts.pop() if len(firsts) == 1 and len(shown) > 1 else None
            label = f"difference in {wording.spoken(result.metric)}"
            label = with_direction(label, result.greater_is_better)
            label = label if common is None else f"{shortened(common)} minus ...: {label}"
            label = label if name in ("", result.metric) else f"{name}: {label}"
            panels.append((label, range(len(rows), len(rows) + len(shown))))
            for pair in shown:
                # Of a single difference both intervals are one.
                wide = pair.simultaneous_interval if len(result.pairs) > 1 else None
                names = (pair.first, pair.second) if common is None else pair.second
                rows.append(
                    {
                        "differences": pair.difference,
                        "lows": pair.confidence_interval.low,
                        "highs": pair.confidence_interval.high,
                        "simultaneous_lows": math.nan if wide is None else wide.low,
                        "simultaneous_highs": math.nan if wide is None else wide.high,
                        "names": names,
                        "is_distinguishable": result.is_distinguishable(pair),
                        "texts": _text_beside(result, pair, decimals[result._metric_name]),
                    }
                )
        levels = {rendering.percent(result.confidence_level) for _, result in named}
        kind = f"{levels.pop()} CI" if len(levels) == 1 else "CI"
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        return cls(
            **columns,
            label=panels[0][0],
            panels=panels,
            interval_names=(kind, f"simultaneous {kind}"),
        )

    @door(".plot")
    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        show_values: bool | None = None,
        point_kwargs: Mapping[str, Any] | None = None,
        interval_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; a new figure, as large as the differences need, when None: in columns of 60 rows
            at most. Several panels divide axes that are given.
        name : str, optional
            Label of the value axis, of the last panel if there are several.
        show_values : bool, optional
            Whether to write the numbers beside the intervals; where there is room when None.
        point_kwargs : dict, optional
            Passed to ``ax.plot`` for the differences.
        interval_kwargs : dict, optional
            Passed to `matplotlib.collections.LineCollection` for the intervals of each difference
            by itself.

        Returns
        -------
        ComparisonDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        panels = self._start(ax, show_values=show_values)
        self.simultaneous_intervals_: list[Any] = []
        limits = [self.lows, self.highs, self.simultaneous_lows, self.simultaneous_highs]
        for axes, panel in zip(self.axes_, panels, strict=True):
            rows = panel.rows
            values = [ends[panel.members] for ends in (self.differences, *limits)]
            # 0 is always in sight.
            extent = range_of(np.concatenate([[0.0], *values]))
            size = self._prepare(axes, panel, np.array(extent))
            for differs, colour, marker in ((True, ORANGE, "o"), (False, BLUE, "s")):
                places = np.flatnonzero(self.is_distinguishable[rows] == differs)
                if len(places):
                    styles = (point_kwargs or {}, interval_kwargs or {})
                    self._draw_rows(axes, rows[places], places, colour, marker, *styles)
            self._write_values(axes, rows, size)
        from matplotlib.lines import Line2D

        handles = {self.interval_names[0]: Line2D([], [], color=GREY, linewidth=3)}
        if not np.isnan(self.simultaneous_lows).all():
            written = " (and numbers at the right)" if self.texts_ else ""
            handles[f"{self.interval_names[1]}{written}"] = Line2D([], [], color=GREY, linewidth=1)
        if self.is_distinguishable.any():
            handles["significantly different from 0"] = Line2D(
                [], [], color=ORANGE, marker="o", linestyle=""
            )
        self._finish(name, handles)
        return self

    def _draw_rows(
        self,
        axes: Any,
        rows: NDArray[Any],
        places: NDArray[Any],
        colour: str,
        marker: str,
        point_style: Mapping[str, Any],
        interval_style: Mapping[str, Any],
    ) -> None:
        """Draw some differences of a panel at their places from the top."""
        kinds = (
            (self.simultaneous_intervals_, self.simultaneous_lows, self.simultaneous_highs, 1.0),
            (self.intervals_, self.lows, self.highs, 3.0),
        )
        for artists, lows, highs, width in kinds:
            limits = lows[rows], highs[rows]
            style = {"color": colour, "linewidth": width, "zorder": 2}
            style |= dict(interval_style) if width > 1 else {}
            artists.append(self._draw_lines(axes, places, limits, style))
            if width == 1:
                ends = {"color": colour, "linestyle": "", "marker": "|", "markersize": 7}
                for side in limits:
                    finite = np.isfinite(side)
                    axes.plot(side[finite], places[finite], **ends)
        style = {"color": colour, "marker": marker, "linestyle": "", "markersize": 5, "zorder": 3}
        self.points_ += axes.plot(self.differences[rows], places, **style | dict(point_style))


def _pairs_to_draw(result: ComparisonResult, pairs: str) -> Sequence[PairedDifference]:
    """Return the pairs to draw."""
    if not check.is_among(pairs, ("auto", "all", "best")):
        raise check.fail("pairs", "be 'auto', 'all' or 'best'", repr(pairs))
    if result.reference is not None or pairs == "all":
        return result.pairs
    if pairs == "auto":
        return result._shown_pairs
    if result.best is None:
        must = "not be 'best' where the direction of the metric is unknown"
        advice = "Give greater_is_better= to the comparison."
        raise check.fail("pairs", must, "'best'", advice)
    return [result.pair(result.best, name) for name in result.ranking if name != result.best]


def _text_beside(
    result: ComparisonResult, pair: PairedDifference, decimals: rendering.Decimals
) -> str:
    """Write the difference with its widest interval and its p-value."""
    if math.isnan(pair.difference):
        return "undefined"
    digits = rendering.Fixed(decimals.at(pair._width), rounding=pair._facts.rounding)
    value = rendering.number(pair.difference, digits)
    interval = rendering.limits(pair._widest_interval, digits, marked=False)
    p_alone, adjusted = comparison_texts.p_numbers(result, pair)
    p = p_alone if result.adjust is None else adjusted
    return f"{value} ({interval}), {comparison_texts.p_text(p)}"


# Heights in rows of names: of the bar that shows the critical difference, of the first bar below
# the axis, and from one bar to the next.
_ABOVE, _FIRST_BAR, _STEP = 1.2, 0.45, 0.35
# Ranks that are written on the axis at most: more of them would touch.
_MOST_TICKS = 15


class CriticalDifferenceDisplay(Display):
    """Mean ranks of methods on an axis, with bars that join those which do not differ.

    Use `from_result`. The best method is on the left. Methods joined by a thick bar are less than
    the critical difference apart, whose length stands above the axis (Demsar 2006).

    Parameters
    ----------
    mean_ranks : array-like of shape (n_methods,)
        Over the data sets; 1 is the best.
    names : sequence of str
        One per method.
    critical_difference : float
        Mean ranks that are further apart differ.
    label : str
        Label of the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the ranks.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        From the axis to each name, the best first.
    bars_ : list of matplotlib Line2D
        One per group of methods that do not differ.
    scale_ : matplotlib Line2D
        The critical difference.
    texts_ : list of matplotlib Text
        Names with mean ranks, the best first.
    groups_ : list of tuple of str
        Names of the methods that each bar joins.

    See Also
    --------
    RankDisplay : Ranks by the mean score, with simultaneous intervals.

    Notes
    -----
    The mean rank of a method depends on which others are ranked with it: adding one can part two
    others, or join them (Benavoli, Corani & Mangili 2016, Journal of Machine Learning Research
    17:5). The picture is what readers expect; pairs are better judged by the difference of their
    scores, or by Wilcoxon's test.

    References
    ----------
    Demsar (2006), Journal of Machine Learning Research 7:1.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_across
    >>> from skboot.plots import CriticalDifferenceDisplay
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.uniform(0.6, 0.9, size=(15, 1)) + rng.normal(0, 0.02, size=(15, 4))
    >>> result = compare_across(scores, datasets=range(15), methods=list("ABCD"),
    ...                         greater_is_better=True, random_state=0)
    >>> display = CriticalDifferenceDisplay.from_result(result)  # doctest: +SKIP
    >>> display.figure_.savefig("ranks.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        mean_ranks: ArrayLike,
        names: Sequence[str],
        critical_difference: float,
        label: str = "mean rank",
    ) -> None:
        order = np.argsort(np.asarray(mean_ranks, dtype=float), kind="stable")
        self.mean_ranks: NDArray[np.float64] = np.asarray(mean_ranks, dtype=float)[order]
        self.names = [names[k] for k in order.tolist()]
        self.critical_difference = float(critical_difference)
        self.label = label

    @classmethod
    @door(".from_result")
    def from_result(cls, result: DatasetsComparison, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the mean ranks of a comparison across data sets.

        Parameters
        ----------
        result : DatasetsComparison
            From `skboot.compare_across`.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        CriticalDifferenceDisplay
            The display, drawn.
        """
        check_drawn("result", result, "DatasetsComparison")
        ranks = result.mean_ranks()
        counted = wording.counted(ranks.n_datasets, "data set")
        display = cls(
            mean_ranks=[row.mean_rank for row in ranks.rows],
            names=list(ranks),
            critical_difference=ranks.critical_difference,
            label=f"mean rank by {wording.spoken(ranks.metric)} on {counted} (1 is the best)",
        )
        level = rendering.percent(1 - ranks.confidence_level)
        return display.plot(ax, **{"scale_name": f"critical difference at {level}", **kwargs})

    @door(".plot")
    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        scale_name: str = "critical difference",
        line_kwargs: Mapping[str, Any] | None = None,
        bar_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        name : str, optional
            Label of the axis.
        scale_name : str
            What the bar above the axis is called.
        line_kwargs : dict, optional
            Passed to ``ax.plot`` for the lines to the names.
        bar_kwargs : dict, optional
            Passed to ``ax.plot`` for the bars.

        Returns
        -------
        CriticalDifferenceDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_asked(name=name)
        if not isinstance(scale_name, str):
            raise fail("scale_name", "be a string", repr(scale_name))
        n = len(self.names)
        runs = _runs_within(self.mean_ranks, self.critical_difference)
        below = _FIRST_BAR + _STEP * len(runs)
        height = below + (n + 1) // 2
        # Inches: the axis, and the longest name on either side of it.
        characters = max(len(shortened(label)) for label in self.names)
        size = (4.0 + 0.19 * max(characters, 12), 1.1 + 0.28 * (height + _ABOVE))
        ax = self._take_axes(ax, size)
        # The axis of ranks is on top, the rest is hidden.
        margin = 0.02 * (n - 1)
        ax.set_xlim(1 - margin, n + margin)
        ax.set_ylim(height, -_ABOVE - 0.6)
        ax.set_yticks([])
        step = -(-n // _MOST_TICKS)
        ax.set_xticks([1, *range(step, n + 1, step)] if step > 1 else range(1, n + 1))
        ax.xaxis.set_ticks_position("top")
        ax.xaxis.set_label_position("top")
        ax.spines[["left", "right", "bottom"]].set_visible(False)
        ax.spines["top"].set_position(("data", 0.0))
        title = self.label if name is None else name
        ax.set_title(lines_of(title, place_of(ax)[0], "medium"), fontsize="medium")
        self._draw_names(below, dict(line_kwargs or {}))
        # A bar joins the methods of each group.
        style: dict[str, Any] = {"color": BLUE, "linewidth": 4, "solid_capstyle": "round"}
        style |= {"zorder": 3, **(bar_kwargs or {})}
        self.groups_ = [tuple(self.names[start:stop]) for start, stop in runs]
        self.bars_ = []
        for k, (start, stop) in enumerate(runs):
            ends = self.mean_ranks[start], self.mean_ranks[stop - 1]
            self.bars_ += ax.plot(ends, [_FIRST_BAR + _STEP * k] * 2, **style)
        # Above the axis stands the length of the critical difference.
        end, shown = 1 + self.critical_difference, rendering.Scale(2)
        style = {"color": ink(ax), "linewidth": 1.5, "marker": "|", "clip_on": False}
        [self.scale_] = ax.plot([1, end], [-_ABOVE] * 2, **style)
        ax.annotate(
            literal(f"{scale_name}: {rendering.number(self.critical_difference, shown)}"),
            (end, -_ABOVE),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            annotation_clip=False,
        )
        return self

    def _draw_names(self, below: float, line_kwargs: dict[str, Any]) -> None:
        """Lead a line from each rank to its name: the better half on the left."""
        n = len(self.names)
        n_left = (n + 1) // 2
        style = {"color": GREY, "linewidth": 1, "clip_on": False} | line_kwargs
        # Names at both sides leave the axis at least a third of the width.
        letters = int(place_of(self.ax_)[0] / (3 * LETTER * points_of("medium"))) - 6
        letters = MAX_LABEL if self._has_own_figure else min(MAX_LABEL, max(letters, 6))
        self.lines_, self.texts_ = [], []
        for k, (rank, name) in enumerate(zip(self.mean_ranks.tolist(), self.names, strict=True)):
            is_left = k < n_left
            y = below + 0.3 + (k if is_left else n - 1 - k)
            x, offset, side = (1, -6, "right") if is_left else (n, 6, "left")
            [line] = self.ax_.plot([rank, rank, x], [0, y, y], **style)
            self.lines_.append(line)
            shown = shortened(name, letters)
            value = rendering.number(rank, rendering.Scale(2))
            text = f"{shown}  {value}" if is_left else f"{value}  {shown}"
            self.texts_.append(
                self.ax_.annotate(
                    literal(text),
                    (x, y),
                    xytext=(offset, 0),
                    textcoords="offset points",
                    ha=side,
                    va="center",
                    annotation_clip=False,
                )
            )


def _runs_within(ranks: NDArray[np.float64], length: float) -> list[tuple[int, int]]:
    """Return start and stop of the longest runs of sorted ranks that are less than a length apart.

    Runs of one method, and those inside another, are left out.
    """
    # A critical difference is never a mean rank, but for rounding.
    stops = np.searchsorted(ranks, ranks + length, side="right").tolist()
    runs: list[tuple[int, int]] = []
    for start, stop in enumerate(stops):
        if stop - start > 1 and (not runs or stop > runs[-1][1]):
            runs.append((start, stop))
    return runs


class RankDisplay(ForestPlot):
    """Ranks of systems with their simultaneous intervals, the best system on top.

    Use `from_result`. Systems that cannot be excluded from the first rank are in orange.

    Parameters
    ----------
    ranks, lows, highs : array-like of shape (n_systems,)
        Rank of each estimate, and the best and the worst rank that the system may have.
    names : sequence of str
        One per system.
    texts : sequence of str, optional
        What is written beside each rank.
    label : str
        Label of the value axis.
    interval_name : str
        What the intervals are called.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the ranks.
    axes_ : ndarray of shape (n_axes,)
        The same axes; several where the rows fill more than one column.
    panels : list of tuple (str, sequence of int)
        Label of the value axis, and the places of all ranks.
    figure_ : matplotlib Figure
        Figure of the axes.
    legend_ : matplotlib Legend
        What the marks are.
    points_ : list of matplotlib Line2D
        Ranks: of systems that may be the best, and of the others.
    intervals_ : list of matplotlib LineCollection
        Intervals, in the same order.
    texts_ : list of matplotlib Text
        What is written beside the ranks.

    See Also
    --------
    ComparisonDisplay : Differences of systems.

    Examples
    --------
    >>> from skboot import compare_systems
    >>> from skboot.plots import RankDisplay
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> predictions = {"A": y_true, "B": [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20}
    >>> result = compare_systems(y_true, predictions, random_state=0)
    >>> display = RankDisplay.from_result(result)  # doctest: +SKIP
    >>> display.figure_.savefig("ranks.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        ranks: ArrayLike,
        lows: ArrayLike,
        highs: ArrayLike,
        names: Sequence[str],
        texts: Sequence[str] | None = None,
        label: str = "rank",
        interval_name: str = "simultaneous interval",
    ) -> None:
        self.ranks = np.asarray(ranks, dtype=float)
        label_of_axis = f"{label}, {interval_name}"
        super().__init__(lows, highs, names, texts, [(label_of_axis, range(len(self.ranks)))])
        self.label = label
        self.interval_name = interval_name

    @classmethod
    @door(".from_result")
    def from_result(cls, result: ComparisonResult, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the ranks of the systems of a comparison.

        Parameters
        ----------
        result : ComparisonResult
            All pairs, with ``adjust="max-t"``.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        RankDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the comparison has no ranks; see `ComparisonResult.ranks`.
        """
        check_drawn("result", result, "ComparisonResult")
        ranks = result.ranks()
        level = rendering.percent(ranks.confidence_level)
        rows = ranks.rows
        display = cls(
            ranks=[row.rank for row in rows],
            lows=[row.low for row in rows],
            highs=[row.high for row in rows],
            names=[row.system for row in rows],
            texts=[
                f"{text}, rank {row.low} to {row.high}"
                for row, text in zip(rows, ranks._texts, strict=True)
            ],
            label=f"rank by {wording.spoken(result.metric)} (1 is the best)",
            interval_name=f"simultaneous {level} interval",
        )
        return display.plot(ax, **kwargs)

    @door(".plot")
    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        show_values: bool | None = None,
        point_kwargs: Mapping[str, Any] | None = None,
        interval_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        name : str, optional
            Label of the value axis.
        show_values : bool, optional
            Whether to write the estimates and the intervals beside the ranks; where there is room
            when None.
        point_kwargs : dict, optional
            Passed to ``ax.plot`` for the ranks.
        interval_kwargs : dict, optional
            Passed to `matplotlib.collections.LineCollection`.

        Returns
        -------
        RankDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        panels = self._start(ax, show_values=show_values)
        groups = ((True, ORANGE, "may be the best"), (False, BLUE, "not the best"))
        handles = {}
        for axes, panel in zip(self.axes_, panels, strict=True):
            size = self._prepare(axes, panel, np.array([1.0, max(len(self.ranks), 2)]))
            axes.xaxis.get_major_locator().set_params(integer=True)
            for may_be_best, colour, group in groups:
                places = np.flatnonzero((self.lows[panel.rows] <= 1) == may_be_best)
                rows = panel.rows[places]
                style = {"color": colour, "linewidth": 2, **(interval_kwargs or {})}
                limits = self.lows[rows], self.highs[rows]
                self.intervals_.append(self._draw_lines(axes, places, limits, style))
                style = {"color": colour, "marker": "o", "linestyle": "", "zorder": 3}
                style |= dict(point_kwargs or {})
                [points] = axes.plot(self.ranks[rows], places, **style)
                self.points_.append(points)
                if len(places):
                    handles[group] = points
            self._write_values(axes, panel.rows, size)
        self._finish(name, handles)
        return self
