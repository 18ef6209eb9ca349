"""Rows of values with intervals, in panels one below the other: what two displays share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .common import Display, literal

# Characters of a row's label; longer ones are cut, so that they leave room for the intervals.
_MAX_LABEL = 40


class ForestPlot(Display):
    """Axes, labels, texts and legend of rows with intervals."""

    names: list[str]
    texts: list[str]
    panels: Sequence[tuple[str, Sequence[int]]]
    axes_: NDArray[Any]

    def _make_axes(self, plt: Any, ax: Any, *, show_values: bool) -> NDArray[Any]:
        """Return one axes per panel: of a new figure, or a division of the one that is given."""
        heights = [len(members) + 0.5 for _, members in self.panels]
        if ax is None:
            # Inches: each row, the value axis of each panel, and the legend; labels and numbers.
            characters = max(len(_shortened(name)) for name in self.names)
            characters += max(map(len, self.texts)) if show_values else 0
            size = (4.2 + 0.085 * characters, 0.28 * sum(heights) + 0.75 * len(heights) + 0.35)
            figure = plt.figure(figsize=size, layout="constrained")
            return np.asarray(figure.subplots(len(heights), squeeze=False, height_ratios=heights))[
                :, 0
            ]
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
        size = float(min(10.0, max(4.0, 0.85 * points / (len(rows) + 1))))
        axes.set_ylim(len(rows) - 0.4, -0.6)
        labels = [literal(_shortened(self.names[k])) for k in rows]
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
            ncols=3,
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


def _shortened(text: str) -> str:
    """Return the text on one line, cut if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= _MAX_LABEL else f"{text[: _MAX_LABEL - 1]}…"
