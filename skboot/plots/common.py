"""Base of the displays: colours, ranges, labels, and the import of matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.checks import check_flag, fail
from ..results import wording

# Of the Okabe-Ito palette, whose colours differ in grey and for readers with colour blindness.
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#8c8c8c"


# Characters of a label; longer ones are cut, so that they leave room for what they name.
MAX_LABEL = 40
# Width of a letter on average, in sizes of the font; what is written fits, and is seldom narrower.
LETTER = 0.6
# Lines of an axis label at most, and characters that a line has at least.
_MOST_LINES, _FEWEST_LETTERS = 3, 12
# Opacity of an area on a light and on a dark ground, where as much is seen of it.
_VEILS = 0.2, 0.45
# Share of the place of given axes that a legend below them takes at most.
_MOST_LEGEND = 0.5


def check_drawn(name: str, value: Any, kind: str) -> None:
    """Refuse what a display does not draw: what is not of a class of results, by its name."""
    if kind not in [base.__name__ for base in type(value).__mro__]:
        is_table = isinstance(value, Mapping)
        advice = "Draw a table by its plot(), or give a result of it by its name."
        must = f"be of the class {kind}"
        raise fail(name, must, type(value).__name__, advice if is_table else "")


class Display:
    """Base of all displays: the value of a notebook's cell is shown as its picture alone."""

    ax_: Any
    figure_: Any
    name: str | None

    def _take_axes(self, ax: Any, figsize: tuple[float, float] | None = None) -> Any:
        """Draw on the axes that are given, or on those of a new figure; returns them."""
        check_asked(ax=ax)
        plt = pyplot()
        self._has_own_figure = ax is None
        self.ax_ = plt.subplots(figsize=figsize, layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        make_room(self.ax_)
        return self.ax_

    def _entitle(self, name: str | None, otherwise: str = "") -> None:
        """Write the name that is given, or that of the display, or another above the axes."""
        for text in (name, self.name):
            check_asked(name=text)
        title = name or self.name or otherwise
        title = lines_of(title, room_above(self.ax_), "medium")
        self.ax_.set_title(title, fontsize="medium")

    def _draw_legend_below(self) -> Any:
        """Draw the legend below the labels of the axes; inside of axes that it would squeeze."""
        ax = self.ax_
        handles, labels = ax.get_legend_handles_labels()
        if not handles:
            return None
        size = points_of("small")
        width, height = place_of(ax)
        # Handles, and the space around them, are four letters wide.
        lines = [lines_of(label, width - 4 * size, "small") for label in labels]
        dpi = self.figure_.dpi
        depth = ax.get_window_extent().y0 - ax.xaxis.get_tightbbox().y0
        gap = (depth * 72 / dpi + 4) / size
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": gap}
        style = {"frameon": False, "fontsize": "small"}
        legend = ax.legend(handles, lines, **below, **style)
        legend_height = legend.get_window_extent().height
        if self._has_own_figure:
            figure = self.figure_
            figure.set_figheight(figure.get_figheight() + legend_height / dpi)
        elif legend_height * 72 / dpi > _MOST_LEGEND * height:
            lines = [lines_of(label, room_above(ax) - 5 * size, "small") for label in labels]
            legend = ax.legend(handles, lines, loc="best", **style)
        return legend

    def _ipython_display_(self) -> None:
        figure = getattr(self, "figure_", None)
        if figure is None:
            # IPython then shows the object as text.
            raise NotImplementedError
        plt, number = pyplot(), getattr(figure, "number", None)
        is_held = number is not None and plt.fignum_exists(number) and plt.figure(number) is figure
        if is_held and plt.isinteractive():
            return  # Figures that pyplot holds are then shown at the end of the cell.
        from IPython.display import display

        display(figure)


def check_asked(*, ax: Any = None, name: Any = None, **flags: Any) -> None:
    """Refuse axes, a title and switches that are something else."""
    if ax is not None and not hasattr(ax, "get_subplotspec"):
        raise fail("ax", "be axes of matplotlib", repr(ax), "Use ax=plt.gca().")
    if name is not None and not isinstance(name, str):
        raise fail("name", "be a string", repr(name))
    for flag, value in flags.items():
        check_flag(flag, value)


def make_room(ax: Any) -> None:
    """Lay out the figure of given axes so that nothing beside them is cut, if nothing else does."""
    figure = ax.figure.canvas.figure
    in_a_grid = all(axes.get_subplotspec() is not None for axes in figure.axes)
    if figure.get_layout_engine() is None and in_a_grid:
        # Numbers at the right of one display stand apart from names at the left of the next.
        figure.set_layout_engine("tight", w_pad=2.0)


def pyplot() -> Any:
    """Import matplotlib, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib. Install it with: pip install 'skboot[plot]'"
        ) from error
    return plt


# ------------------------------------------------------------------ colours


def ink(ax: Any) -> Any:
    """Return the colour in which labels of axes are written, which is seen on any style."""
    return ax.xaxis.label.get_color()


def ground(ax: Any) -> tuple[float, ...]:
    """Return the colour behind what is drawn, as red, green, blue and opacity."""
    from matplotlib.colors import to_rgba

    colours = [to_rgba(ax.get_facecolor()), to_rgba(ax.figure.get_facecolor())]
    return next((colour for colour in colours if colour[3] > 0), to_rgba("white"))


def veil(ax: Any) -> float:
    """Return the opacity at which an area is seen, and what is behind it too."""
    red, green, blue, _ = ground(ax)
    # Relative luminance, to a half.
    is_light = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5
    return _VEILS[not is_light]


# ------------------------------------------------------------------ ranges


def range_of(values: NDArray[Any]) -> tuple[float, float]:
    """Return the smallest and the largest finite value, widened where they are equal."""
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return 0.0, 1.0
    start, stop = float(finite.min()), float(finite.max())
    if stop - start > 1e-9 * max(abs(start), abs(stop)):
        return start, stop
    room = abs(start) * 0.05 or 0.05
    return start - room, stop + room


def limit_axis(ax: Any, side: str, start: float, stop: float, room: float = 0.0) -> None:
    """Show a range on the x or y axis, with a share of it as room, on whatever scale that has.

    A scale that lacks an end, as a logarithmic one lacks 0, starts at the smallest value drawn.
    """
    axis = getattr(ax, f"{side}axis")
    ends = axis.limit_range_for_scale(start, stop)
    scale = axis.get_transform()
    low, high = scale.transform(np.array(ends, dtype=float))
    ends = scale.inverted().transform(
        np.array([low - room * (high - low), high + room * (high - low)])
    )
    getattr(ax, f"set_{side}lim")(*ends)


# ------------------------------------------------------------------ texts


def with_direction(label: str, greater_is_better: bool | None) -> str:
    """Add which direction is better, if it is known."""
    note = wording.direction(greater_is_better)
    return f"{label} ({note})" if note else label


def literal(text: str) -> str:
    """Return a text that matplotlib shows as it is: a dollar sign would start a formula."""
    return text.replace("$", r"\$")


def points_of(size: str | float) -> float:
    """Return a size of a font, such as "small", in points."""
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=size).get_size_in_points())


def place_of(ax: Any) -> tuple[float, float]:
    """Return width and height (points) of axes with all that stands beside them."""
    figure, cell = ax.figure, ax.get_subplotspec()
    width, height = figure.bbox.size * 72 / figure.dpi
    if cell is None:
        box = ax.get_position()
        return width * box.width, height * box.height
    box, margins = cell.get_position(figure), figure.subplotpars
    width *= box.width / (margins.right - margins.left)
    height *= box.height / (margins.top - margins.bottom)
    return float(width), float(height)


def room_above(ax: Any) -> float:
    """Return the width (points) that a text above or below the middle of axes can have."""
    width, beside = place_of(ax)[0], ax.yaxis.get_tightbbox()
    if beside is None:
        return width
    # Labels stand apart from their axes, on either side.
    extent = ax.get_window_extent()
    pixels_beside = max(extent.x0 - beside.x0, 0.0) + max(beside.x1 - extent.x1, 0.0)
    return width - pixels_beside * 72 / float(ax.figure.dpi)


def lines_of(text: str, width: float, size: str | float) -> str:
    """Return a text that fits a width (points), in few lines; a longer one lacks its middle."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    if not text:
        return text
    font = FontProperties(size=size)
    measured = text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]
    n_letters = max(_FEWEST_LETTERS, int(0.95 * len(text) * width / max(measured, 1.0)))
    lines = textwrap.wrap(text, n_letters)
    if len(lines) > _MOST_LINES:
        lines = textwrap.wrap(shortened(text, (_MOST_LINES - 1) * n_letters), n_letters)
    return literal("\n".join(lines))


def label_axis(ax: Any, side: str, text: str, room: float | None = None) -> None:
    """Write what is on the x or y axis, in lines as long as the cell of the axes has room for."""
    size = getattr(ax, f"{side}axis").label.get_size()
    if room is None:
        # Ticks and a label below leave the vertical axis the rest of the height.
        room = room_above(ax) if side == "x" else place_of(ax)[1] - 4 * size
    getattr(ax, f"set_{side}label")(lines_of(text, room, size))


def shortened(text: str | tuple[str, str], most: int = MAX_LABEL) -> str:
    """Return the text on one line without the middle of a long one: names differ at their ends.

    Of two names it is "first - second", each of them cut where both together are long.
    """
    if isinstance(text, tuple):
        lengths = [len(" ".join(name.split())) for name in text]
        half = max((most - 3) // 2, 3)
        room = most if sum(lengths) + 3 <= most else max(half, most - 3 - min(lengths))
        return " - ".join(shortened(name, room) for name in text)
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    start = most // 2
    return f"{text[:start].rstrip()}…{text[len(text) - (most - 1 - start) :].lstrip()}"
