"""Rows of values with intervals, in panels one below the other: what two displays share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .common import Display, check_asked, literal, make_room, pyplot, shortened

# Size of a letter (points) at which as many as fill given axes leave half of them free.
_WIDE_TEXT = 1.3


class ForestPlot(Display):
    """Axes, labels, texts and legend of rows with intervals."""

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
        self.axes_ = self._make_axes(ax, show_values=show_values)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        self.points_: list[Any] = []
        self.intervals_: list[Any] = []
        self.texts_: list[Any] = []

    def _finish(self, name: str | None, handles: Mapping[str, Any]) -> None:
        """Name the last value axis, and draw the legend."""
        check_asked(name=name)
        if name is not None:
            self.axes_[-1].set_xlabel(literal(name))
        self.legend_ = self._draw_legend(handles)

    def _make_axes(self, ax: Any, *, show_values: bool) -> NDArray[Any]:
        """Return one axes per panel: of a new figure, or a division of the one that is given."""
        plt = pyplot()
        heights = [len(members) + 0.5 for _, members in self.panels]
        characters = max(len(shortened(name)) for name in self.names)
        characters += max(map(len, self.texts)) if show_values else 0
        self._largest_text, self._legend_columns = 10.0, 3
        if ax is None:
            # Inches: each row, the value axis of each panel, and the legend; labels and numbers.
            size = (4.2 + 0.085 * characters, 0.28 * sum(heights) + 0.75 * len(heights) + 0.35)
            figure = plt.figure(figsize=size, layout="constrained")
            return np.asarray(figure.subplots(len(heights), squeeze=False, height_ratios=heights))[
                :, 0
            ]
        make_room(ax)
        self._legend_columns = 1
        # Labels and numbers leave half of the width to the intervals.
        points = ax.get_window_extent().width * 72 / ax.figure.dpi
        self._largest_text = min(self._largest_text, _WIDE_TEXT * points / characters)
        if len(heights) == 1:
            return np.array([ax])
        grid = ax.get_subplotspec().subgridspec(len(heights), 1, height_ratios=heights, hspace=0.7)
        ax.set_axis_off()
        return np.array([ax.figure.add_subplot(cell) for cell in grid])

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

    def _draw_legend(self, handles: Mapping[str, Any]) -> Any:
        """Draw one legend for all panels, above the first; returns it."""
        return self.axes_[0].legend(
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


def labelled_handles(every_axes: Iterable[Any]) -> dict[str, Any]:
    """Return the labelled artists of some axes, the first of each label."""
    handles: dict[str, Any] = {}
    for axes in every_axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    return handles
