"""`PlanDisplay`: half-width or power against the size of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from .._base.doors import door
from ..results import wording
from .common import BLUE, GREY, ORANGE, Display, check_drawn, ink, label_axis, limit_axis, veil

if TYPE_CHECKING:
    from ..results.plan import EvaluationPlan

# Light and dark colours alternate, so that neighbouring lines also differ in grey.
_COLOURS = (ORANGE, BLUE, "#e69f00", "#009e73")
_DASHES = ("-", "--", "-.", ":")


class PlanDisplay(Display):
    """Half-width of an interval, or power of a comparison, against the number of test units.

    Use `from_result`. The dashed line is the target, the point the size that reaches it, and the
    grey band the sizes that the error of the pilot allows.

    Parameters
    ----------
    curves : mapping of str to sequence of tuple (size, value)
        One line per number of runs; "" without runs.
    target : float
        Half-width or power that was asked for.
    n_units : int
        Size that reaches it.
    n_units_range : tuple of float, optional
        Smallest and largest size that the pilot allows.
    unit : str
        What a unit is.
    value_name : str
        What is on the vertical axis.
    name : str, optional
        Title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        One per number of runs.
    point_ : matplotlib Line2D
        The plan.
    band_ : matplotlib artist or None
        Sizes that the pilot allows.

    See Also
    --------
    VarianceComponentsDisplay : What the score of a run varies with.

    Examples
    --------
    >>> from skboot import plan_evaluation
    >>> from skboot.plots import PlanDisplay
    >>> plan = plan_evaluation(proportion=0.9, half_width=0.02)
    >>> display = PlanDisplay.from_result(plan)  # doctest: +SKIP
    >>> display.figure_.savefig("plan.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        curves: Mapping[str, Sequence[tuple[float, float]]],
        target: float,
        n_units: int,
        n_units_range: tuple[float, float] | None = None,
        unit: str = "row",
        value_name: str = "half-width",
        name: str | None = None,
    ) -> None:
        self.curves = dict(curves)
        self.target = target
        self.n_units = n_units
        self.n_units_range = n_units_range
        self.unit = unit
        self.value_name = value_name
        self.name = name

    @classmethod
    @door(".from_result")
    def from_result(cls, result: EvaluationPlan, ax: Any = None, **kwargs: Any) -> Self:
        """Draw a plan.

        Parameters
        ----------
        result : EvaluationPlan
            Result of `skboot.plan_evaluation`.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        PlanDisplay
            The display, drawn.
        """
        check_drawn("result", result, "EvaluationPlan")
        is_width = result.power is None
        display = cls(
            curves=result._curves,
            target=result.target_value if result.power is None else result.power,
            n_units=result.n_units,
            n_units_range=result.n_units_range,
            unit=result.unit,
            value_name=f"{'half-width' if is_width else 'power'}, {wording.spoken(result.metric)}",
            name=str(result),
        )
        return display.plot(ax, **kwargs)

    @door(".plot")
    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        line_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        name : str, optional
            Title.
        line_kwargs : dict, optional
            Passed to ``ax.plot``.

        Returns
        -------
        PlanDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = self._take_axes(ax, figsize=(6.4, 4.0))
        self.lines_ = []
        styles = zip(self.curves.items(), _COLOURS, _DASHES, strict=False)
        for (runs, points), colour, dashes in styles:
            label = wording.counted(int(runs), "run") if runs else None
            style = {"color": colour, "linestyle": dashes, "label": label, **(line_kwargs or {})}
            self.lines_ += ax.plot(*zip(*points, strict=True), **style)
        sizes = [size for points in self.curves.values() for size, _ in points]
        start, stop = (min(sizes), max(sizes)) if sizes else ax.get_xlim()
        ax.axhline(self.target, color=GREY, linestyle=(0, (2, 2)), linewidth=1, zorder=0)
        self.band_ = None
        if self.n_units_range is not None:
            low, high = (min(max(end, start), stop) for end in self.n_units_range)
            label = "sizes that the pilot's error allows"
            self.band_ = ax.axvspan(low, high, color=GREY, alpha=veil(ax), zorder=0, label=label)
        text = f"planned: {wording.counted(self.n_units, self.unit)}"
        style = {"color": ink(ax), "zorder": 3, "label": text}
        [self.point_] = ax.plot([self.n_units], [self.target], "o", **style)
        ax.set_xscale("log")
        ax.set_xlim(start, stop)
        ax.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
        highest = max((value for points in self.curves.values() for _, value in points), default=1)
        is_power = self.value_name.startswith("power")
        limit_axis(ax, "y", 0, 1.02 if is_power else 1.05 * max(highest, self.target))
        label_axis(ax, "x", f"Number of test {wording.plural(self.unit)}")
        label_axis(ax, "y", wording.capitalized(self.value_name))
        self._draw_legend_below()
        self._entitle(name)
        return self
