"""`RankDisplay`: where each system stands, with simultaneous intervals of ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._base.doors import door
from ..results import rendering, wording
from .common import BLUE, ORANGE
from .forest import ForestPlot

if TYPE_CHECKING:
    from ..results.comparison import ComparisonResult


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
        Of the value axis.
    interval_name : str
        What the intervals are called.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the ranks.
    figure_ : matplotlib Figure
        Figure of the axes.
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
        super().__init__(lows, highs, names, texts, [(label, range(len(self.ranks)))])
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
                for row, text in zip(rows, ranks.texts, strict=True)
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
        show_values: bool = True,
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
        show_values : bool
            Whether to write the estimates and the intervals beside the ranks.
        point_kwargs : dict, optional
            Passed to ``ax.plot`` for the ranks.
        interval_kwargs : dict, optional
            Passed to ``ax.hlines``.

        Returns
        -------
        RankDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        self._start(ax, show_values=show_values)
        rows = np.arange(len(self.ranks))
        label = f"{self.label}, {self.interval_name}"
        size = self._prepare(self.ax_, rows, label, (1.0, float(max(len(rows), 2))))
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        may_be_best = self.lows <= 1
        groups = ((may_be_best, ORANGE, "may be the best"), (~may_be_best, BLUE, "not the best"))
        handles = {}
        for those, colour, group in groups:
            places = np.flatnonzero(those)
            style = {"color": colour, "linewidth": 2, **(interval_kwargs or {})}
            limits = self.lows[places], self.highs[places]
            self.intervals_.append(self.ax_.hlines(places, *limits, **style))
            style = {"color": colour, "marker": "o", "linestyle": "", "zorder": 3}
            [points] = self.ax_.plot(self.ranks[places], places, **style | dict(point_kwargs or {}))
            self.points_.append(points)
            if len(places):
                handles[group] = points
        if show_values:
            self.texts_ += self._write_values(self.ax_, rows, size)
        self._finish(name, handles)
        return self
