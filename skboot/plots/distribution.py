"""`BootstrapDistributionDisplay`: how a score moves from resample to resample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.doors import door
from ..inference.intervals import title_of
from ..results import drawing, rendering, wording
from .common import BLUE, GREY, ORANGE, Display, check_asked, literal, range_of, with_direction

if TYPE_CHECKING:
    from ..inference.confidence_interval import ConfidenceInterval
    from ..results import EvaluationResult


class BootstrapDistributionDisplay(Display):
    """Histogram of a bootstrap distribution, with estimate, interval and baseline.

    Use `from_result`. Few distinct values, as for an accuracy on few rows, get a bar each; many are
    binned in whole steps of their lattice, if they have one.

    Parameters
    ----------
    replicates : array-like of shape (n_resamples,)
        The metric on each resample; NaN is left out, and counted on the axis.
    estimate : float
        The metric on the data.
    confidence_interval : ConfidenceInterval
        Limits, level and method.
    naive_estimate : float, optional
        The metric of the best system that ignores its inputs.
    name : str, optional
        Label of the value axis.
    interval_name : str
        What the interval is called.
    histogram_name : str
        What the histogram is, where the interval is not made from it; else empty.
    digits : int or skboot.results.rendering.Scale, optional
        Digits after the point in the legend; as the interval supports when None.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure of the axes.
    bars_ : matplotlib BarContainer
        Bars of the histogram.
    estimate_line_ : matplotlib Line2D
        Line at the estimate.
    interval_span_ : matplotlib Rectangle or None
        Band of the interval; None if its limits are undefined.
    naive_line_ : matplotlib Line2D or None
        Line at the reference; None if it is unknown, or so far away that an arrow in the legend
        points to it.

    See Also
    --------
    IntervalDisplay : Several results side by side.

    Examples
    --------
    >>> from skboot import bootstrap_score
    >>> from skboot.plots import BootstrapDistributionDisplay
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> y_pred = [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20
    >>> result = bootstrap_score(y_true, y_pred, random_state=0)
    >>> display = BootstrapDistributionDisplay.from_result(result)  # doctest: +SKIP
    >>> display.figure_.savefig("accuracy.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        replicates: ArrayLike,
        estimate: float,
        confidence_interval: ConfidenceInterval,
        naive_estimate: float | None = None,
        name: str | None = None,
        interval_name: str = "CI",
        histogram_name: str = "",
        digits: int | rendering.Scale | None = None,
    ) -> None:
        self.replicates = np.asarray(replicates, dtype=float)
        self.estimate = estimate
        self.confidence_interval = confidence_interval
        self.naive_estimate = naive_estimate
        self.name = name
        self.interval_name = interval_name
        self.histogram_name = histogram_name
        self.digits = digits

    @classmethod
    @door(".from_result")
    def from_result(
        cls, result: EvaluationResult, ax: Any = None, *, name: str | None = None, **kwargs: Any
    ) -> Self:
        """Draw the distribution of a result.

        Parameters
        ----------
        result : EvaluationResult
            What to draw.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        name : str, optional
            Label of the value axis; the metric and its direction when None.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        BootstrapDistributionDisplay
            The display, drawn.
        """
        check_asked(name=name)
        display = cls(
            replicates=result.bootstrap_distribution,
            estimate=result.estimate,
            confidence_interval=result.confidence_interval,
            naive_estimate=wording.baseline(result),
            name=name or with_direction(result.basis.title(result), result.greater_is_better),
            interval_name=result.basis.interval_name(result),
            histogram_name=result.basis.replicates_text(result),
            digits=wording.scale_of(result),
        )
        return display.plot(ax, **kwargs)

    @door(".plot")
    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        bins: Any = None,
        show_naive: bool = True,
        hist_kwargs: Mapping[str, Any] | None = None,
        line_kwargs: Mapping[str, Any] | None = None,
        interval_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        name : str, optional
            Label of the value axis.
        bins : int, sequence or str, optional
            As for `numpy.histogram`; chosen by the values when None.
        show_naive : bool
            Whether to mark the baseline.
        hist_kwargs : dict, optional
            Passed to ``ax.bar``.
        line_kwargs : dict, optional
            Passed to ``ax.axvline`` for the estimate.
        interval_kwargs : dict, optional
            Passed to ``ax.axvspan``.

        Returns
        -------
        BootstrapDistributionDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_asked(name=name, show_naive=show_naive)
        ax = self._take_axes(ax)
        values = self.replicates[np.isfinite(self.replicates)]
        self.bars_ = self._draw_bars(values, bins, hist_kwargs or {})
        start, stop = self._range(values)
        naive = self.naive_estimate if show_naive else None
        n_lines = 2 + (naive is not None and math.isfinite(naive)) + bool(self.histogram_name)
        top = self._leave_room_for_legend(n_lines)
        self._draw_interval(start, stop, top, interval_kwargs or {})
        style = {"color": ORANGE, "linewidth": 2, "ymax": top, **(line_kwargs or {})}
        shown = rendering.number(self.estimate, self._digits)
        self.estimate_line_ = ax.axvline(self.estimate, label=f"estimate {shown}", **style)
        start, stop = self._draw_naive(start, stop, top, naive)
        room = 0.04 * (stop - start)
        ax.set_xlim(start - room, stop + room)
        ax.set_xlabel(literal(name or self.name or "score"))
        n_undefined = int(np.isnan(self.replicates).sum())
        left_out = f" ({n_undefined} without a value left out)" if n_undefined else ""
        ax.set_ylabel(f"Number of resamples{left_out}")
        self.legend_ = ax.legend(
            loc="upper left", fontsize=9, frameon=False, borderaxespad=0.2, labelspacing=0.3
        )
        return self

    # -------------------------------------------------------------- steps

    @property
    def _digits(self) -> int | rendering.Scale:
        """Digits after the point of the numbers in the legend."""
        if self.digits is not None:
            return self.digits
        low, high = interval = self.confidence_interval
        has_width = math.isfinite(low) and math.isfinite(high) and low < high
        how = {"width": high - low} if has_width else {"digits": 3}
        return rendering.Scale.of([self.estimate], [interval], **how)

    def _draw_bars(self, values: NDArray[Any], bins: Any, style: Mapping[str, Any]) -> Any:
        """Draw the histogram; returns its bars."""
        if len(values) == 0:
            return self.ax_.bar([], [])
        if bins is None:
            centres, heights, widths = drawing.bars(values)
        else:
            heights, edges = np.histogram(values, bins=bins)
            centres, widths = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
        style = {"color": GREY, "alpha": 0.6, "linewidth": 0, **style}
        style |= {"label": self.histogram_name} if self.histogram_name else {}
        return self.ax_.bar(centres, heights, width=widths, **style)

    def _range(self, values: NDArray[Any]) -> tuple[float, float]:
        """Return the smallest and the largest value to show, which are never equal."""
        edges = [bar.get_x() + side * bar.get_width() for bar in self.bars_ for side in (0, 1)]
        if len(edges) == 2:
            # A single bar would fill the axes: it gets room on both sides.
            edges = [3 * edges[0] - 2 * edges[1], 3 * edges[1] - 2 * edges[0]]
        return range_of(np.array([*edges, self.estimate, *self.confidence_interval]))

    def _leave_room_for_legend(self, n_lines: int) -> float:
        """Set the height of the axes; returns the share of it that the legend leaves free."""
        points = self.ax_.get_window_extent().height * 72 / self.figure_.dpi
        top = 1 - min((n_lines * 1.35 + 1) * 9 / points, 0.6)
        highest = max((bar.get_height() for bar in self.bars_), default=1)
        self.ax_.set_ylim(0, highest * 1.04 / top)
        return top

    def _draw_interval(
        self, start: float, stop: float, top: float, style: Mapping[str, Any]
    ) -> None:
        """Shade the interval; the label gives its limits, or says that there are none."""
        low, high = self.confidence_interval
        level, method = self.confidence_interval.confidence_level, self.confidence_interval.method
        method = title_of(method)
        self.interval_span_ = None
        label = f"{rendering.percent(level)} {self.interval_name}"
        if math.isnan(low) or math.isnan(high):
            self.ax_.plot([], [], " ", label=f"{label} undefined")
            return
        limits = " to ".join(rendering.number(limit, self._digits) for limit in (low, high))
        style = {"color": BLUE, "alpha": 0.2, "linewidth": 0, "ymax": top, **style}
        if low == high:
            limits += ", no width: all resamples are equal"
        # Ten widths of the axes are as good as infinity: the end is out of sight.
        far = 10 * (stop - start)
        low, high = max(low, start - far), min(high, stop + far)
        self.interval_span_ = self.ax_.axvspan(
            low, high, zorder=0, label=f"{label} {limits} ({method})", **style
        )

    def _draw_naive(
        self, start: float, stop: float, top: float, naive: float | None
    ) -> tuple[float, float]:
        """Mark the reference, and widen the range to it if it is near."""
        self.naive_line_ = None
        if naive is None or not math.isfinite(naive):
            return start, stop
        label = f"baseline {rendering.number(naive, self._digits)}"
        style = {"color": "black", "linestyle": ":", "linewidth": 1.5}
        if max(start - naive, naive - stop) < stop - start:
            self.naive_line_ = self.ax_.axvline(naive, ymax=top, label=label, **style)
            return min(start, naive), max(stop, naive)
        arrow = f"← {label}, off the axis" if naive < start else f"{label}, off the axis →"
        self.ax_.plot([], [], label=arrow, **style)
        return start, stop
