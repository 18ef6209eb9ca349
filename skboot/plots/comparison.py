"""`ComparisonDisplay`: differences of systems with their intervals, one below the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks as check
from .._base.doors import door
from .._base.typing import ShownPairs
from ..results import comparison_tables, rendering, wording
from ..results.entries import comparisons_of
from .common import BLUE, GREY, ORANGE, range_of, shortened_pair, with_direction
from .forest import ForestPlot

if TYPE_CHECKING:
    from ..results.comparison import ComparisonResult
    from ..results.pairs import PairedDifference


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
    names : sequence of str
        One per difference.
    is_distinguishable : sequence of bool
        Whether the systems of each pair differ significantly.
    texts : sequence of str, optional
        What is written beside each difference.
    label : str
        Of the value axis, of all in one panel.
    panels : sequence of tuple (str, sequence of int), optional
        Label of the value axis and the differences of each panel; all in one when None.
    interval_names : tuple of str
        What both kinds of intervals are called.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the first panel.
    axes_ : ndarray of shape (n_panels,)
        Axes of all panels.
    figure_ : matplotlib Figure
        Figure of the axes.
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
        names: Sequence[str],
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
        panels = []
        for name, result in named:
            shown = _shown(result, pairs)
            common = _common_first(shown)
            panels.append(
                (_axis_label(name, result, common), range(len(rows), len(rows) + len(shown)))
            )
            rows += [_row(result, pair, common) for pair in shown]
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
        show_values: bool = True,
        point_kwargs: Mapping[str, Any] | None = None,
        interval_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; a new figure, as high as the differences need, when None. Several panels divide
            it.
        name : str, optional
            Label of the value axis, of the last panel if there are several.
        show_values : bool
            Whether to write the numbers beside the intervals.
        point_kwargs : dict, optional
            Passed to ``ax.plot`` for the differences.
        interval_kwargs : dict, optional
            Passed to ``ax.hlines`` for the intervals of each difference by itself.

        Returns
        -------
        ComparisonDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        self._start(ax, show_values=show_values)
        self.simultaneous_intervals_: list[Any] = []
        for axes, (label, members) in zip(self.axes_, self.panels, strict=True):
            rows = np.asarray(members)
            size = self._prepare(axes, rows, label, self._extent(rows))
            for differs, colour, marker in ((True, ORANGE, "o"), (False, BLUE, "s")):
                places = np.flatnonzero(self.is_distinguishable[rows] == differs)
                if len(places):
                    styles = (point_kwargs or {}, interval_kwargs or {})
                    self._draw_rows(axes, rows[places], places, colour, marker, *styles)
            if show_values:
                self.texts_ += self._write_values(axes, rows, size)
        self._finish(name, self._handles(show_values))
        return self

    # -------------------------------------------------------------- steps

    def _extent(self, rows: NDArray[Any]) -> tuple[float, float]:
        """Return the smallest and the largest value of a panel, 0 included."""
        limits = [self.lows, self.highs, self.simultaneous_lows, self.simultaneous_highs]
        values = [each[rows] for each in (self.differences, *limits)]
        return range_of(np.concatenate([[0.0], *values]))

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
        start, stop = axes.get_xlim()
        kinds = (
            (self.simultaneous_intervals_, self.simultaneous_lows, self.simultaneous_highs, 1.0),
            (self.intervals_, self.lows, self.highs, 3.0),
        )
        for artists, lows, highs, width in kinds:
            has_limits = ~np.isnan(lows[rows]) & ~np.isnan(highs[rows])
            style = {"color": colour, "linewidth": width, "zorder": 2}
            style |= dict(interval_style) if width > 1 else {}
            low, high = lows[rows][has_limits], highs[rows][has_limits]
            limits = low.clip(start), high.clip(None, stop)
            artists.append(axes.hlines(places[has_limits], *limits, **style))
            if width == 1:
                ends = {"color": colour, "linestyle": "", "marker": "|", "markersize": 7}
                for side in limits:
                    axes.plot(side, places[has_limits], **ends)
        style = {"color": colour, "marker": marker, "linestyle": "", "markersize": 5, "zorder": 3}
        self.points_ += axes.plot(self.differences[rows], places, **style | dict(point_style))

    def _handles(self, show_values: bool) -> dict[str, Any]:
        """Return what the legend shows, by label."""
        from matplotlib.lines import Line2D

        handles = {self.interval_names[0]: Line2D([], [], color=GREY, linewidth=3)}
        if not np.isnan(self.simultaneous_lows).all():
            written = " (and numbers at the right)" if show_values and any(self.texts) else ""
            handles[f"{self.interval_names[1]}{written}"] = Line2D([], [], color=GREY, linewidth=1)
        if self.is_distinguishable.any():
            handles["significantly different from 0"] = Line2D(
                [], [], color=ORANGE, marker="o", linestyle=""
            )
        return handles


# ------------------------------------------------------------------ what is drawn


def _shown(result: ComparisonResult, pairs: str) -> Sequence[PairedDifference]:
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


def _common_first(pairs: Sequence[PairedDifference]) -> str | None:
    """Return the system from which all others are subtracted, if there is one."""
    firsts = {pair.first for pair in pairs}
    return firsts.pop() if len(firsts) == 1 and len(pairs) > 1 else None


def _axis_label(name: str, result: ComparisonResult, common: str | None) -> str:
    """Return what the value axis of a comparison shows; its name, unless the metric says it."""
    label = f"difference in {wording.spoken(result.metric)}"
    label = with_direction(label, result.greater_is_better)
    label = label if common is None else f"{common} minus ...: {label}"
    return label if name in ("", result.metric) else f"{name}: {label}"


def _row(result: ComparisonResult, pair: PairedDifference, common: str | None) -> dict[str, Any]:
    """Return what the display holds of a pair."""
    # Of a single difference both intervals are one.
    wide = pair.simultaneous_interval if len(result.pairs) > 1 else None
    return {
        "differences": pair.difference,
        "lows": pair.confidence_interval.low,
        "highs": pair.confidence_interval.high,
        "simultaneous_lows": math.nan if wide is None else wide.low,
        "simultaneous_highs": math.nan if wide is None else wide.high,
        "names": shortened_pair(pair.first, pair.second) if common is None else pair.second,
        "is_distinguishable": result.is_distinguishable(pair),
        "texts": _text_beside(result, pair),
    }


def _text_beside(result: ComparisonResult, pair: PairedDifference) -> str:
    """Write the difference with its widest interval and its p-value."""
    if math.isnan(pair.difference):
        return "undefined"
    scale = comparison_tables.scale_of(pair)
    value = rendering.number(pair.difference, scale)
    interval = rendering.limits(pair.widest_interval, scale, marked=False)
    own, adjusted = comparison_tables.p_numbers(result, pair)
    p = own if result.adjust is None else adjusted
    return f"{value} ({interval}), {comparison_tables.p_text(p)}"
