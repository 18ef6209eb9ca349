"""Base of the displays: colours, ranges, labels, and the import of matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.checks import check_flag, fail
from ..results import wording

# Of the Okabe-Ito palette, whose colours differ in grey and for readers with colour blindness.
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#8c8c8c"


# Characters of a label; longer ones are cut, so that they leave room for what they name.
MAX_LABEL = 40


class Display:
    """Base of all displays: the value of a notebook's cell is shown as its picture alone."""

    ax_: Any
    figure_: Any
    name: str | None

    def _take_axes(self, ax: Any, figsize: tuple[float, float] | None = None) -> Any:
        """Draw on the axes that are given, or on those of a new figure; returns them."""
        check_asked(ax=ax)
        plt = pyplot()
        self.ax_ = plt.subplots(figsize=figsize, layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        make_room(self.ax_)
        return self.ax_

    def _entitle(self, name: str | None, otherwise: str = "", **style: Any) -> None:
        """Write the name that is given, or that of the display, or another above the axes."""
        for text in (name, self.name):
            check_asked(name=text)
        title = literal(name or self.name or otherwise)
        self.ax_.set_title(title, fontsize="medium", **style)

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
        figure.set_layout_engine("tight")


def pyplot() -> Any:
    """Import matplotlib, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib. Install it with: pip install 'skboot[plot]'"
        ) from error
    return plt


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


def with_direction(label: str, greater_is_better: bool | None) -> str:
    """Add which direction is better, if it is known."""
    note = wording.direction(greater_is_better)
    return f"{label} ({note})" if note else label


def literal(text: str) -> str:
    """Return a text that matplotlib shows as it is: a dollar sign would start a formula."""
    return text.replace("$", r"\$")


def shortened(text: str, most: int = MAX_LABEL) -> str:
    """Return the text on one line without the middle of a long one: names differ at their ends."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    start = most // 2
    return f"{text[:start].rstrip()}…{text[len(text) - (most - 1 - start) :].lstrip()}"


def shortened_pair(name_a: str, name_b: str) -> str:
    """Return "first - second", each of them cut where both together are long."""
    text = f"{name_a} - {name_b}"
    if len(text) <= MAX_LABEL:
        return text
    half = (MAX_LABEL - 3) // 2
    room = max(half, MAX_LABEL - 3 - min(len(name_a), len(name_b)))
    return f"{shortened(name_a, room)} - {shortened(name_b, room)}"
