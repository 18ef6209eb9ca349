"""`VarianceComponentsDisplay`: what the score of a run varies with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from .._base.doors import door
from .common import BLUE, GREY, ORANGE, Display

if TYPE_CHECKING:
    from ..results import EvaluationResult

# Light and dark colours alternate, so that neighbouring bars also differ in grey.
_SOURCES = {
    "training": ("training samples", ORANGE),
    "seed": ("seeds", "#e69f00"),
    "test": ("test units", BLUE),
    "interaction": ("interaction of\nruns and test units", GREY),
}


class VarianceComponentsDisplay(Display):
    """Standard deviation of the score of one run by source, and what an interval is made of.

    Use `from_result`. The bars say how much one run's score moves with another training sample,
    another seed, other test units; the text beside each is its share of the variance. The marks
    show the same for the estimate, where seeds and interaction are averaged over the runs.

    Parameters
    ----------
    components : mapping of str to float
        Variance of the score of one run by source: training, seed, test, interaction; NaN where
        it is not identified.
    of_estimate : mapping of str to float, optional
        Variance of the estimate by source.
    name : str, optional
        Title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure of the axes.
    bars_ : matplotlib BarContainer
        One bar per source.
    marks_ : matplotlib Line2D or None
        Standard deviations within the estimate.

    See Also
    --------
    BootstrapDistributionDisplay : How a score moves from resample to resample.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import bootstrap_runs
    >>> from skboot.plots import VarianceComponentsDisplay
    >>> rng = np.random.default_rng(0)
    >>> losses = rng.random(300) + 0.1 * rng.normal(size=(10, 1)) + rng.random((10, 300))
    >>> result = bootstrap_runs(None, losses, metric="mean", random_state=0)
    >>> display = VarianceComponentsDisplay.from_result(result)  # doctest: +SKIP
    >>> display.figure_.savefig("components.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        components: Mapping[str, float],
        of_estimate: Mapping[str, float] | None = None,
        name: str | None = None,
    ) -> None:
        self.components = dict(components)
        self.of_estimate = None if of_estimate is None else dict(of_estimate)
        self.name = name

    @classmethod
    @door(".from_result")
    def from_result(
        cls, result: EvaluationResult, ax: Any = None, *, name: str | None = None, **kwargs: Any
    ) -> Self:
        """Draw the components of a result that stands on several runs.

        Parameters
        ----------
        result : EvaluationResult
            Of `skboot.bootstrap_runs`, for instance.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        name : str, optional
            Title; metric and number of runs when None.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        VarianceComponentsDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the result stands on a single run.
        """
        if not hasattr(result.basis, "run_evidence"):
            raise ValueError(
                "VarianceComponentsDisplay needs a result of several runs. Got one of a single "
                "system; use bootstrap_runs with the predictions of several runs."
            )
        evidence = result.basis.run_evidence
        components = evidence.components.of_score(evidence.n_test_units)._asdict()
        of_estimate = None if evidence.method is None else evidence.method.parts._asdict()
        if name is None:
            name = f"{result.basis.title(result)}, {len(evidence.scores)} runs"
        display = cls(components=components, of_estimate=of_estimate, name=name)
        return display.plot(ax, **kwargs)

    @door(".plot")
    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        bar_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        name : str, optional
            Title.
        bar_kwargs : dict, optional
            Passed to ``ax.barh``.

        Returns
        -------
        VarianceComponentsDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = self._take_axes(ax, figsize=(6.4, 3.2))
        variances = [self.components.get(source, math.nan) for source in _SOURCES]
        deviations = [0.0 if math.isnan(v) else math.sqrt(v) for v in variances]
        places = range(len(_SOURCES))
        style = {"color": [colour for _, colour in _SOURCES.values()], "height": 0.6}
        self.bars_ = ax.barh(places, deviations, **{**style, **(bar_kwargs or {})})
        marks = self._mark_estimate()
        self._write_shares(variances, deviations, marks)
        ax.set_yticks(places, [label for label, _ in _SOURCES.values()])
        ax.invert_yaxis()
        ax.set_xlim(0, 1.25 * max(deviations) or 1.0)
        marked = "; diamonds: of the estimate" if self.marks_ else ""
        ax.set_xlabel(f"Standard deviation of the score of one run{marked}")
        self._entitle(name)
        return self

    # -------------------------------------------------------------- steps

    def _write_shares(
        self, variances: list[float], deviations: list[float], marks: Mapping[int, float]
    ) -> None:
        """Write beside each bar its share of the variance."""
        total = sum(v for v in variances if not math.isnan(v))
        for place, (variance, deviation) in enumerate(zip(variances, deviations, strict=True)):
            share = f"{variance / total:.0%}" if total > 0 else "0%"
            text = "not identified" if math.isnan(variance) else share
            end = max(deviation, marks.get(place, 0.0))
            self.ax_.annotate(text, (end, place), (6, 0), textcoords="offset points", va="center")

    def _mark_estimate(self) -> dict[int, float]:
        """Mark the standard deviations within the estimate; returns them by place."""
        self.marks_ = None
        variances = self.of_estimate or {}
        deviations = {
            place: math.sqrt(variances[source])
            for place, source in enumerate(_SOURCES)
            if variances.get(source, 0.0) > 0
        }
        if deviations:
            self.marks_ = self.ax_.plot(
                list(deviations.values()),
                list(deviations),
                "d",
                color="black",
                markersize=7,
                markeredgecolor="white",
            )[0]
        return deviations
