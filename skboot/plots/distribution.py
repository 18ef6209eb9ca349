"""Pictures of one result: how it moves with resamples, training samples, sources of variance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.doors import door
from ..inference.intervals import title_of
from ..results import rendering, wording
from .common import (
    BLUE,
    GREY,
    ORANGE,
    Display,
    check_asked,
    check_drawn,
    ground,
    ink,
    label_axis,
    limit_axis,
    lines_of,
    place_of,
    points_of,
    range_of,
    veil,
    with_direction,
)

if TYPE_CHECKING:
    from ..inference.evidence import ConfidenceInterval
    from ..results import EvaluationResult


# Size (points) of the legend, and bars that fill the axes where few values stand within bounds.
_LEGEND, _FEWEST_BARS = 9.0, 12


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
    bounds : tuple (float, float)
        Smallest and largest value that the metric can have, where bars end.
    digits : int or skboot.results.rendering.Fixed, optional
        Digits after the point in the legend; as the interval supports when None.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure of the axes.
    legend_ : matplotlib Legend
        What the marks are.
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
        bounds: tuple[float, float] = (-math.inf, math.inf),
        digits: int | rendering.Fixed | None = None,
    ) -> None:
        self.replicates = np.asarray(replicates, dtype=float)
        self.estimate = estimate
        self.confidence_interval = confidence_interval
        self.naive_estimate = naive_estimate
        self.name = name
        self.interval_name = interval_name
        self.histogram_name = histogram_name
        self.bounds = bounds
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
        check_drawn("result", result, "EvaluationResult")
        display = cls(
            replicates=result.bootstrap_distribution,
            estimate=result.estimate,
            confidence_interval=result.confidence_interval,
            naive_estimate=wording.baseline(result),
            name=name or with_direction(result._basis.title(result), result.greater_is_better),
            interval_name=result._basis.interval_name(result),
            histogram_name=result._basis.replicates_text(result),
            bounds=result._evidence.facts.bounds,
            digits=wording.digits_of(result, {}),
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
        edges = [bar.get_x() + side * bar.get_width() for bar in self.bars_ for side in (0, 1)]
        if len(edges) == 2:
            # A single bar would fill the axes: it gets room on both sides.
            edges = [3 * edges[0] - 2 * edges[1], 3 * edges[1] - 2 * edges[0]]
            edges = np.clip(edges, *self.bounds).tolist()
        start, stop = range_of(np.array([*edges, self.estimate, *self.confidence_interval]))
        shown = rendering.number(self.estimate, self._digits)
        texts = {
            "interval": self._interval_text(),
            "estimate": f"estimate {shown}",
            "naive": self._naive_text(start, stop) if show_naive else "",
            "histogram": self.histogram_name,
        }
        # Ticks and the label of the counts, and handles of the legend, take eleven letters.
        room = place_of(ax)[0] - 11 * points_of("medium")
        texts = {key: lines_of(text, room, _LEGEND) for key, text in texts.items() if text}
        # The share of the height of the axes that the legend leaves free.
        points = ax.get_window_extent().height * 72 / self.figure_.dpi
        n_lines = sum(len(text.splitlines()) for text in texts.values())
        top = 1 - min((n_lines * 1.35 + 1) * _LEGEND / points, 0.6)
        highest = max((bar.get_height() for bar in self.bars_), default=1)
        limit_axis(ax, "y", 0, highest * 1.04 / top)
        style = {"alpha": veil(ax), "label": texts["interval"], "ymax": top}
        self._draw_interval(start, stop, style | dict(interval_kwargs or {}))
        style = {"color": ORANGE, "linewidth": 2, "ymax": top, **(line_kwargs or {})}
        self.estimate_line_ = ax.axvline(self.estimate, label=texts["estimate"], **style)
        self.naive_line_ = None
        if "naive" in texts:
            assert self.naive_estimate is not None
            style = {"color": ink(ax), "linestyle": ":", "linewidth": 1.5, "label": texts["naive"]}
            if self._is_near(start, stop):
                self.naive_line_ = ax.axvline(self.naive_estimate, ymax=top, **style)
                start, stop = min(start, self.naive_estimate), max(stop, self.naive_estimate)
            else:
                ax.plot([], [], **style)
        if "histogram" in texts:
            self.bars_.set_label(texts["histogram"])
        limit_axis(ax, "x", start, stop, room=0.04)
        label_axis(ax, "x", name or self.name or "score")
        n_undefined = int(np.isnan(self.replicates).sum())
        left_out = f" ({n_undefined} without a value left out)" if n_undefined else ""
        label_axis(ax, "y", f"Number of resamples{left_out}")
        self.legend_ = ax.legend(
            loc="upper left", fontsize=_LEGEND, frameon=False, borderaxespad=0.2, labelspacing=0.3
        )
        return self

    # -------------------------------------------------------------- steps

    @property
    def _digits(self) -> int | rendering.Scale | rendering.Fixed:
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
            centres, heights, widths = rendering.bars(values)
        else:
            heights, edges = np.histogram(values, bins=bins)
            centres, widths = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
        starts, stops = centres - widths / 2, centres + widths / 2
        if bins is None and len(centres) > 1 and not _are_within(starts, stops, self.bounds):
            # Bars of a few values, such as 0 and 1, stand at these.
            widths = np.minimum(widths, np.ptp(centres) / _FEWEST_BARS)
            starts, stops = centres - widths / 2, centres + widths / 2
        starts, stops = np.clip(starts, *self.bounds), np.clip(stops, *self.bounds)
        style = {"color": GREY, "alpha": 0.6, "linewidth": 0, **style}
        return self.ax_.bar(starts, heights, width=stops - starts, align="edge", **style)

    def _interval_text(self) -> str:
        """Return the limits with their level and method, or that there are none."""
        low, high = self.confidence_interval
        level, method = self.confidence_interval.confidence_level, self.confidence_interval.method
        label = f"{rendering.percent(level)} {self.interval_name}"
        if math.isnan(low) or math.isnan(high):
            return f"{label} undefined"
        limits = " to ".join(rendering.number(limit, self._digits) for limit in (low, high))
        limits += ", no width: all resamples are equal" if low == high else ""
        return f"{label} {limits} ({title_of(method)})"

    def _draw_interval(self, start: float, stop: float, style: Mapping[str, Any]) -> None:
        """Shade the interval."""
        low, high = self.confidence_interval
        self.interval_span_ = None
        if math.isnan(low) or math.isnan(high):
            self.ax_.plot([], [], " ", label=style["label"])
            return
        # Ten widths of the axes are as good as infinity: the end is out of sight.
        far = 10 * (stop - start)
        low, high = max(low, start - far), min(high, stop + far)
        style = {"color": BLUE, "linewidth": 0, "zorder": 0, **style}
        self.interval_span_ = self.ax_.axvspan(low, high, **style)

    def _is_near(self, start: float, stop: float) -> bool:
        """Whether the baseline is not further from a range than this is wide."""
        naive = math.nan if self.naive_estimate is None else self.naive_estimate
        return max(start - naive, naive - stop) < stop - start

    def _naive_text(self, start: float, stop: float) -> str:
        """Return the baseline, with an arrow to it where it is not near; empty without one."""
        naive = self.naive_estimate
        if naive is None or not math.isfinite(naive):
            return ""
        label = f"baseline {rendering.number(naive, self._digits)}"
        if self._is_near(start, stop):
            return label
        return f"← {label}, off the axis" if naive < start else f"{label}, off the axis →"


def _are_within(starts: NDArray[Any], stops: NDArray[Any], bounds: tuple[float, float]) -> bool:
    """Whether bars end within the bounds of a metric, but for rounding."""
    room = 1e-9 * (stops.max() - starts.min())
    return bool(starts.min() >= bounds[0] - room and stops.max() <= bounds[1] + room)


Array = NDArray[Any]

_AXES = {
    "probability": "Probability by the model of all rows",
    "value": "Value by the model of all rows",
}
# Bars of the histogram of labels: shares of models from 0 to 1.
_N_BARS = 20


class PredictionInstabilityDisplay(Display):
    """Answers for each row by models of bootstrap samples, against the model of all rows.

    Use `from_scorer`. A score can be certain while the answers for single rows are not: two models
    of equal accuracy may disagree on a fifth of the rows. Each line spans the central 95% of the
    answers of bootstrap models that were trained without the row; the diagonal is the model of all
    rows. For labels, bars show for how many rows which share of the models answers otherwise.

    Parameters
    ----------
    answers : array-like of shape (n_samples,)
        Answers of the model of all rows.
    difference : array-like of shape (n_samples,)
        Mean absolute difference of the models' answers from it; of labels the share that differ.
    low, high : array-like of shape (n_samples,), optional
        Range of the models' answers for each row; not for labels.
    kind : {"probability", "value", "label"}
        What the answers are.
    name : str, optional
        Title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure of the axes.
    ranges_ : matplotlib LineCollection or None
        A line per row; None for labels.
    diagonal_ : matplotlib Line2D or None
        Answers of the model of all rows; None for labels.
    bars_ : matplotlib BarContainer or None
        Rows by the share of models that answer otherwise; None but for labels.

    See Also
    --------
    BootstrapDistributionDisplay : How the score moves from training sample to training sample.

    Notes
    -----
    After Riley and Collins (2023), Biometrical Journal 65:2200302, whose models also answer for the
    rows that they were trained on. Models that left a row out differ from the model of all rows by
    what that row itself does, too.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skboot import BootstrapScorer
    >>> from skboot.plots import PredictionInstabilityDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> options = dict(scoring="neg_brier_score", n_train_resamples=100, n_cv_repeats=1)
    >>> scorer = BootstrapScorer(GaussianNB(), random_state=0, **options).fit(X, y)
    >>> round(float(scorer.prediction_instability_["difference"].mean()), 3)
    0.008
    >>> display = PredictionInstabilityDisplay.from_scorer(scorer)  # doctest: +SKIP
    >>> display.figure_.savefig("instability.png")  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        answers: ArrayLike,
        difference: ArrayLike,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        kind: str = "value",
        name: str | None = None,
    ) -> None:
        self.answers = np.asarray(answers)
        self.difference = np.asarray(difference, dtype=float)
        self.low = None if low is None else np.asarray(low, dtype=float)
        self.high = None if high is None else np.asarray(high, dtype=float)
        self.kind = kind
        self.name = name

    @classmethod
    @door(".from_scorer")
    def from_scorer(
        cls, scorer: Any, ax: Any = None, *, name: str | None = None, **kwargs: Any
    ) -> Self:
        """Draw what a fitted scorer keeps of its runs.

        Parameters
        ----------
        scorer : BootstrapScorer
            Fitted without a test set, with a metric of labels, values or probabilities.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        name : str, optional
            Title; the mean over rows of the difference when None.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        PredictionInstabilityDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the scorer keeps no answers of rows.
        """
        answers = getattr(scorer, "prediction_instability_", None)
        if answers is None:
            raise ValueError(
                "PredictionInstabilityDisplay needs a fitted BootstrapScorer that keeps answers "
                "of rows (prediction_instability_). Got one without. Fit it without a test set, "
                "and with 'neg_brier_score', 'neg_mean_squared_error' or 'accuracy' in scoring."
            )
        kind = next(kind for kind in ("probability", "value", "label") if kind in answers)
        display = cls(
            answers=answers[kind],
            difference=answers["difference"],
            low=answers.get("low"),
            high=answers.get("high"),
            kind=kind,
            name=name,
        )
        return display.plot(ax, **kwargs)

    @door(".plot")
    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        line_kwargs: Mapping[str, Any] | None = None,
        bar_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw the models' answers for each row against the answer of the model of all rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        name : str, optional
            Title.
        line_kwargs : dict, optional
            Passed to ``ax.vlines``.
        bar_kwargs : dict, optional
            Passed to ``ax.bar``, for labels.

        Returns
        -------
        PredictionInstabilityDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = self._take_axes(ax)
        self.ranges_ = self.diagonal_ = self.bars_ = None
        if self.low is None or self.high is None:
            self._draw_labels(bar_kwargs or {})
        else:
            self._draw_ranges(self.low, self.high, line_kwargs or {})
        defined = self.difference[np.isfinite(self.difference)]
        mean = defined.mean() if len(defined) else np.nan
        title = f"Mean absolute difference {rendering.significant(mean)}"
        if self.kind == "label":
            title = f"Another label by {mean:.1%} of the models, mean over rows"
        self._entitle(name, title)
        return self

    # -------------------------------------------------------------- steps

    def _draw_ranges(self, low: Array, high: Array, style: Mapping[str, Any]) -> None:
        """Draw a line per row at its answer, and the diagonal."""
        ax, answers = self.ax_, self.answers.astype(float)
        is_defined = np.isfinite(low)
        style = {"color": BLUE, "alpha": min(1.75 * veil(ax), 1.0), "linewidth": 1, **style}
        self.ranges_ = ax.vlines(answers[is_defined], low[is_defined], high[is_defined], **style)
        if is_defined.any():
            ends = [answers[is_defined].min(), answers[is_defined].max()]
            self.diagonal_ = ax.plot(ends, ends, color=ORANGE, linewidth=1.5)[0]
        label_axis(ax, "x", _AXES[self.kind])
        label_axis(ax, "y", "Central 95% of models trained without the row")

    def _draw_labels(self, style: Mapping[str, Any]) -> None:
        """Draw for how many rows which share of the models answers otherwise."""
        edges = np.linspace(0, 1, _N_BARS + 1)
        counts = np.histogram(self.difference[np.isfinite(self.difference)], edges)[0]
        style = {"color": BLUE, "edgecolor": ground(self.ax_), **style}
        self.bars_ = self.ax_.bar(edges[:-1], counts, np.diff(edges), align="edge", **style)
        if self.ax_.get_yscale() == "linear":
            self.ax_.yaxis.get_major_locator().set_params(integer=True)
        self.ax_.axvline(0.5, color=GREY, linewidth=1, linestyle=":")
        label_axis(self.ax_, "x", "Share of the models that left a row out with another label")
        label_axis(self.ax_, "y", "Number of rows")


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
    another seed, other test units; the text beside each is its length. The marks show the same for
    the estimate, where seeds and interaction are averaged over the runs. Shares of the variance,
    which add up as standard deviations do not, stand in the result's ``summary()``.

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
            Result of `skboot.bootstrap_runs`, for instance.
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
        check_drawn("result", result, "EvaluationResult")
        if not hasattr(result._basis, "run_evidence"):
            raise ValueError(
                "VarianceComponentsDisplay needs a result of several runs. Got one of a single "
                "system; use bootstrap_runs with the predictions of several runs."
            )
        evidence = result._basis.run_evidence
        components = evidence.components.of_score(evidence.n_test_units)._asdict()
        of_estimate = None if evidence.method is None else evidence.method.parts._asdict()
        if name is None:
            name = f"{result._basis.title(result)}, {len(evidence.scores)} runs"
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
        # Beside each bar stands its length.
        for place, (variance, deviation) in enumerate(zip(variances, deviations, strict=True)):
            is_known = not math.isnan(variance)
            text = rendering.significant(deviation, 2) if is_known else "not identified"
            end = max(deviation, marks.get(place, 0.0))
            ax.annotate(text, (end, place), (6, 0), textcoords="offset points", va="center")
        ax.set_yticks(places, [label for label, _ in _SOURCES.values()])
        ax.invert_yaxis()
        ax.set_xlim(0, 1.25 * max(deviations) or 1.0)
        marked = "; diamonds: of the estimate" if self.marks_ else ""
        label_axis(ax, "x", f"Standard deviation of the score of one run{marked}")
        self._entitle(name)
        return self

    # -------------------------------------------------------------- steps

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
                color=ink(self.ax_),
                markersize=7,
                markeredgecolor=ground(self.ax_),
            )[0]
        return deviations
