"""`CriticalDifferenceDisplay`: mean ranks over data sets, and which of them do not differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import fail
from .._base.doors import door
from ..results import rendering, wording
from .common import BLUE, GREY, Display, check_asked, literal, shortened

if TYPE_CHECKING:
    from ..results.data_sets import DatasetsComparison

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
        Of the axis.

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
        characters = max(len(shortened(each)) for each in self.names)
        size = (4.0 + 0.19 * max(characters, 12), 1.1 + 0.28 * (height + _ABOVE))
        self._take_axes(ax, size)
        self._prepare(name, height)
        self._draw_names(below, dict(line_kwargs or {}))
        self._draw_bars(runs, dict(bar_kwargs or {}))
        self._draw_scale(scale_name)
        return self

    def _prepare(self, name: str | None, height: float) -> None:
        """Put the axis of ranks on top, and hide the rest."""
        ax, n = self.ax_, len(self.names)
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
        ax.set_title(literal(self.label if name is None else name), fontsize="medium")

    def _draw_names(self, below: float, own: dict[str, Any]) -> None:
        """Lead a line from each rank to its name: the better half on the left."""
        n = len(self.names)
        n_left = (n + 1) // 2
        style = {"color": GREY, "linewidth": 1, "clip_on": False} | own
        self.lines_, self.texts_ = [], []
        for k, (rank, name) in enumerate(zip(self.mean_ranks.tolist(), self.names, strict=True)):
            is_left = k < n_left
            y = below + 0.3 + (k if is_left else n - 1 - k)
            x, offset, side = (1, -6, "right") if is_left else (n, 6, "left")
            [line] = self.ax_.plot([rank, rank, x], [0, y, y], **style)
            self.lines_.append(line)
            shown = shortened(name)
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

    def _draw_bars(self, runs: Sequence[tuple[int, int]], own: dict[str, Any]) -> None:
        """Join the methods of each group."""
        style = {"color": BLUE, "linewidth": 4, "solid_capstyle": "round", "zorder": 3} | own
        self.groups_ = [tuple(self.names[start:stop]) for start, stop in runs]
        self.bars_ = []
        for k, (start, stop) in enumerate(runs):
            ends = self.mean_ranks[start], self.mean_ranks[stop - 1]
            [bar] = self.ax_.plot(ends, [_FIRST_BAR + _STEP * k] * 2, **style)
            self.bars_.append(bar)

    def _draw_scale(self, scale_name: str) -> None:
        """Show the length of the critical difference above the axis."""
        ends = [1, 1 + self.critical_difference]
        style = {"color": "black", "linewidth": 1.5, "marker": "|", "clip_on": False}
        [self.scale_] = self.ax_.plot(ends, [-_ABOVE] * 2, **style)
        self.ax_.annotate(
            literal(
                f"{scale_name}: {rendering.number(self.critical_difference, rendering.Scale(2))}"
            ),
            (ends[1], -_ABOVE),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            annotation_clip=False,
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
