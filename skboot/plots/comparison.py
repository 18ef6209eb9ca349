"""`ComparisonDisplay`: differences of systems with their intervals, one below the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..results import comparison_tables, rendering, wording
from ..results.comparison import ComparisonResult
from .common import BLUE, GREY, ORANGE, literal, pyplot, range_of

_MAX_LABEL = 40  # characters of a row's label


class ComparisonDisplay:
    """Differences of systems with their intervals, one below the other.

    Use `from_result`. The thick line is the interval of the difference by itself, the thin one
    the simultaneous interval; systems are told apart where the thin one does not reach 0.

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
        Whether the systems of each pair can be told apart.
    texts : sequence of str, optional
        What is written beside each difference.
    label : str
        Of the value axis.
    interval_names : tuple of str
        What both kinds of intervals are called.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the picture.
    figure_ : matplotlib Figure
        Figure of the axes.
    points_ : list of matplotlib Line2D
        Differences: those told from 0, and those not.
    intervals_, simultaneous_intervals_ : list of matplotlib LineCollection
        Intervals, in the same two lots.
    texts_ : list of matplotlib Text
        What is written beside the differences.

    See Also
    --------
    IntervalDisplay : Scores of several systems, each by itself.

    Examples
    --------
    >>> from skboot import ComparisonDisplay, compare_systems
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
        interval_names: tuple[str, str] = ("interval", "simultaneous interval"),
    ) -> None:
        self.differences = np.asarray(differences, dtype=float)
        self.lows = np.asarray(lows, dtype=float)
        self.highs = np.asarray(highs, dtype=float)
        self.simultaneous_lows = np.asarray(simultaneous_lows, dtype=float)
        self.simultaneous_highs = np.asarray(simultaneous_highs, dtype=float)
        self.names = list(names)
        self.is_distinguishable = np.asarray(is_distinguishable, dtype=bool)
        self.texts = [""] * len(self.differences) if texts is None else list(texts)
        self.label = label
        self.interval_names = interval_names

    @classmethod
    def from_result(
        cls,
        result: ComparisonResult,
        ax: Any = None,
        *,
        pairs: str = "auto",
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
        shown = _shown(result, pairs)
        # Of a single difference both intervals are one.
        drawn = [pair.simultaneous_interval if len(result.pairs) > 1 else None for pair in shown]
        none = (math.nan, math.nan)
        centre = {pair.first for pair in shown}
        common = centre.pop() if len(centre) == 1 and len(shown) > 1 else None
        level = rendering.percent(result.confidence_level)
        metric = wording.spoken(result.metric)
        direction = wording.direction(result.greater_is_better)
        label = f"difference in {metric}" + (f" ({direction})" if direction else "")
        if common is not None:
            label = f"{common} minus ...: {label}"
        display = cls(
            differences=[pair.difference for pair in shown],
            lows=[pair.confidence_interval.low for pair in shown],
            highs=[pair.confidence_interval.high for pair in shown],
            simultaneous_lows=[(each or none)[0] for each in drawn],
            simultaneous_highs=[(each or none)[1] for each in drawn],
            names=[
                pair.second if common is not None else f"{pair.first} - {pair.second}"
                for pair in shown
            ],
            is_distinguishable=[result.is_distinguishable(pair) for pair in shown],
            texts=[_beside(pair, result.adjust) for pair in shown],
            label=label,
            interval_names=(f"{level} CI", f"simultaneous {level} CI"),
        )
        return display.plot(ax, **kwargs)

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
            Where; a new figure, as high as the differences need, when None.
        name : str, optional
            Label of the value axis.
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
        plt = pyplot(f"{type(self).__name__}.plot")
        if ax is None:
            n = len(self.differences)
            words = max(len(_shortened(label)) for label in self.names)
            words += max(map(len, self.texts)) if show_values else 0
            figsize = (4.2 + 0.085 * words, 0.28 * n + 1.25)
            ax = plt.figure(figsize=figsize, layout="constrained").add_subplot()
        self.ax_, self.figure_ = ax, ax.figure
        size = self._prepare(ax, self.label if name is None else name)
        self.points_: list[Any] = []
        self.intervals_: list[Any] = []
        self.simultaneous_intervals_: list[Any] = []
        for told, colour, marker in ((True, ORANGE, "o"), (False, BLUE, "s")):
            rows = np.flatnonzero(self.is_distinguishable == told)
            if len(rows):
                self._draw_rows(rows, colour, marker, point_kwargs or {}, interval_kwargs or {})
        self.texts_ = self._write_values(size) if show_values else []
        self._draw_legend()
        return self

    # -------------------------------------------------------------- steps

    def _prepare(self, ax: Any, label: str) -> float:
        """Set up the axes; returns the font size that the rows leave room for."""
        n = len(self.differences)
        limits = [self.lows, self.highs, self.simultaneous_lows, self.simultaneous_highs]
        start, stop = range_of(np.concatenate([self.differences, [0.0], *limits]))
        room = 0.05 * (stop - start)
        ax.set_xlim(start - room, stop + room)
        points = ax.get_window_extent().height * 72 / ax.figure.dpi
        size = float(min(10.0, max(4.0, 0.85 * points / (n + 1))))
        ax.set_ylim(n - 0.4, -0.6)
        ax.set_yticks(range(n), [literal(_shortened(each)) for each in self.names], fontsize=size)
        ax.tick_params(axis="y", length=0, pad=8)
        ax.set_xlabel(literal(label))
        ax.grid(axis="x", color="0.9", zorder=0)
        ax.set_axisbelow(True)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.axvline(0, color="0.3", linewidth=1, zorder=1)
        return size

    def _draw_rows(
        self,
        rows: NDArray[Any],
        colour: str,
        marker: str,
        point_style: Mapping[str, Any],
        interval_style: Mapping[str, Any],
    ) -> None:
        start, stop = self.ax_.get_xlim()
        kinds = (
            (self.simultaneous_intervals_, self.simultaneous_lows, self.simultaneous_highs, 1.0),
            (self.intervals_, self.lows, self.highs, 3.0),
        )
        for found, lows, highs, width in kinds:
            known = rows[~np.isnan(lows[rows]) & ~np.isnan(highs[rows])]
            style = {"color": colour, "linewidth": width, "zorder": 2}
            style |= dict(interval_style) if width > 1 else {}
            limits = lows[known].clip(start), highs[known].clip(None, stop)
            found.append(self.ax_.hlines(known, *limits, **style))
            if width == 1:
                ends = {"color": colour, "linestyle": "", "marker": "|", "markersize": 7}
                for side in limits:
                    self.ax_.plot(side, known, **ends)
        style = {"color": colour, "marker": marker, "linestyle": "", "markersize": 5, "zorder": 3}
        self.points_ += self.ax_.plot(self.differences[rows], rows, **style | dict(point_style))

    def _write_values(self, size: float) -> list[Any]:
        return [
            self.ax_.annotate(
                text,
                (1.0, row),
                xycoords=("axes fraction", "data"),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                fontsize=size,
                parse_math=False,
            )
            for row, text in enumerate(self.texts)
            if text
        ]

    def _draw_legend(self) -> None:
        from matplotlib.lines import Line2D

        handles = [Line2D([], [], color=GREY, linewidth=3, label=self.interval_names[0])]
        if not np.isnan(self.simultaneous_lows).all():
            handles.append(Line2D([], [], color=GREY, linewidth=1, label=self.interval_names[1]))
        if self.is_distinguishable.any():
            handles.append(
                Line2D([], [], color=ORANGE, marker="o", linestyle="", label="told from 0")
            )
        self.legend_ = self.ax_.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=3,
            fontsize=9,
            frameon=False,
            borderaxespad=0.2,
            columnspacing=1.2,
            handletextpad=0.4,
        )


# ------------------------------------------------------------------ what is drawn


def _shown(result: ComparisonResult, pairs: str) -> Sequence[Any]:
    if pairs not in ("auto", "all", "best"):
        raise ValueError(
            "The 'pairs' parameter of ComparisonDisplay.from_result must be 'auto', 'all' or "
            f"'best'. Got {pairs!r}."
        )
    if result.reference is not None or pairs == "all":
        return result.pairs
    if pairs == "auto":
        return comparison_tables.shown_pairs(result)
    if result.best is None:
        raise ValueError(
            "The 'pairs' parameter of ComparisonDisplay.from_result must not be 'best' where the "
            "direction of the metric is unknown. Got 'best'. Give greater_is_better= to the "
            "comparison."
        )
    return [result.pair(result.best, name) for name in result.ranking if name != result.best]


def _beside(pair: Any, adjust: str | None) -> str:
    if math.isnan(pair.difference):
        return "undefined"
    digits = comparison_tables.digits_of(pair)
    value = rendering.number(pair.difference, digits)
    interval = comparison_tables.limits(pair.widest_interval, digits)
    p = pair.p_value if adjust is None else pair.p_value_adjusted
    return f"{value} ({interval.removesuffix(' (no width)')}), {comparison_tables.p_text(p)}"


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_LABEL else f"{text[: _MAX_LABEL - 1]}…"
