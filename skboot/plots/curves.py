"""`CurveBandDisplay`: one or several curves with their bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from .._base.checks import fail
from .._base.doors import door
from ..results import rendering, wording
from .common import (
    BLUE,
    GREY,
    ORANGE,
    Display,
    check_asked,
    ink,
    label_axis,
    limit_axis,
    shortened,
    veil,
)

if TYPE_CHECKING:
    from ..results.curve import CurveResult

# Light and dark colours alternate, and lines differ without colour, too.
_COLOURS = (BLUE, ORANGE, "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))
_REFERENCES = {
    "roc": "chance",
    "det": "chance",
    "precision_recall": "share of positives",
    "calibration": "perfect calibration",
    "calibration_smooth": "perfect calibration",
    "decision": "treat all",
}
# What the area is called in the legend, as scikit-learn's displays do.
_AREAS = {"roc": "AUC", "precision_recall": "AP"}
_DIFFERENCE = "difference"
# Curves whose points are few, and are drawn with marks.
_WITH_MARKS = ("calibration", "learning")
# Share of the height of a decision curve that is shown below 0, at least.
_BELOW = 0.25
# Where the axes of a DET curve end.
_ENDS = (0.0005, 0.9995)
_OF_PROBABILITIES = ("calibration", "calibration_smooth", "decision")


class BandLine(NamedTuple):
    """A curve with its band, as it is drawn.

    Attributes
    ----------
    x, estimate, low, high : ndarray of shape (n_grid,)
        The curve and its band.
    label : str
        Label of the curve in the legend.
    training : ndarray of shape (n_grid,) or None
        Scores on the rows trained on, of a learning curve.
    training_label : str
        Label of these in the legend.
    """

    x: NDArray[Any]
    estimate: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]
    label: str
    training: NDArray[Any] | None = None
    training_label: str = ""


class CurveBandDisplay(Display):
    """Curves with their bands: ROC, precision-recall, DET, calibration, net benefit, and others.

    Use `from_result`, `from_predictions` or `from_estimator`. Curves differ in colour and in
    dashes, and bands are bounded by thin lines, so that an overlay can be read in print.

    Parameters
    ----------
    lines : sequence of tuple (x, estimate, low, high, label[, training, training_label])
        One for each curve; arrays of shape (n_grid,). Last, scores on the rows trained on.
    axes : tuple of str
        Labels of the horizontal and of the vertical axis.
    curve : str
        Name of the curve, which says how axes are limited.
    reference : tuple (x, y), optional
        The curve of a system that ignores its inputs.
    is_difference : bool
        Whether the curves are differences.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        One for each curve.
    bands_ : list of matplotlib artist
        One for each curve.
    reference_ : matplotlib Line2D or None
        The reference.
    results_ : CurveResult or ResultTable
        What `from_predictions` and `from_estimator` made.

    See Also
    --------
    bootstrap_curve : Makes the results.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import bootstrap_curve
    >>> from skboot.plots import CurveBandDisplay
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, 300)
    >>> result = bootstrap_curve(y_true, y_true + rng.normal(size=300), random_state=0)
    >>> display = CurveBandDisplay.from_result(result)  # doctest: +SKIP
    >>> display.figure_.savefig("roc.png")  # doctest: +SKIP
    """

    results_: Any

    def __init__(
        self,
        *,
        lines: Sequence[tuple[Any, ...]],
        axes: tuple[str, str],
        curve: str = "",
        reference: tuple[ArrayLike, ArrayLike] | None = None,
        is_difference: bool = False,
    ) -> None:
        self.lines = []
        for line in lines:
            x, estimate, low, high = (np.asarray(values, dtype=float) for values in line[:4])
            self.lines.append(BandLine(x, estimate, low, high, *line[4:]))
        self.axes = axes
        self.curve = curve
        self.reference = reference
        self.is_difference = is_difference

    @classmethod
    @door(".from_result")
    def from_result(
        cls,
        result: CurveResult | Mapping[str, CurveResult],
        ax: Any = None,
        *,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a curve, or several of one kind on the same axes.

        Parameters
        ----------
        result : CurveResult or mapping of str to CurveResult
            Result of `skboot.bootstrap_curve`. Of a table ``"difference"`` is left out: draw it by
            itself.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        name : str, optional
            Name of a single curve, in the legend.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        CurveBandDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the curves are of different kinds, or several with one name.
        """
        check_asked(name=name)
        curves: list[Any] = [result]
        if isinstance(result, Mapping):
            # The difference is drawn only where it is alone.
            curves = [curve for key, curve in result.items() if key != _DIFFERENCE]
            curves = curves or list(result.values())
        are_curves = all(hasattr(curve, "estimate") and hasattr(curve, "x") for curve in curves)
        if not curves or not are_curves:
            must = "be a CurveResult, or a mapping of them"
            raise fail("result", must, f"{type(result).__name__}")
        sample = curves[0]
        if len({(shown.curve, shown._is_difference) for shown in curves}) > 1:
            kinds = sorted({shown.curve for shown in curves})
            must = "hold curves of one kind"
            raise fail("result", must, f"{kinds}")
        # All areas have the decimals of the one that needs most, as numbers of a table have.
        decimals = [rendering.Scale(2).decimals(shown.area) for shown in curves if shown.area]
        most = min(max(decimals, default=2), 2 + rendering.MOST_MORE_DIGITS)
        areas_as = rendering.Fixed(most, (0.0, 1.0))
        lines = []
        for shown in curves:
            band = f"{rendering.percent(shown.confidence_level)} {shown.band} band"
            if shown.area is not None:
                area = rendering.number(shown.area, areas_as)
                band = f"{_AREAS[shown.curve]} = {area}, {band}"
            label = name or shown.name or wording.capitalized(shown._title)
            line = (shown.x, shown.estimate, shown.low, shown.high, f"{shortened(label)} ({band})")
            training = None if shown.train_scores is None else shown.train_estimate
            lines.append((*line, training, f"{shortened(label)}, on training rows"))
        widest = max(curves, key=lambda shown: float(np.ptp(shown.x)))
        value = f"difference of {sample._axes[1]}" if sample._is_difference else sample._axes[1]
        display = cls(
            lines=lines,
            axes=(sample._axes[0], value),
            curve=sample.curve,
            reference=None if widest.reference is None else (widest.x, widest.reference),
            is_difference=sample._is_difference,
        )
        if len(curves) > 1:
            # One name of several is refused there.
            kwargs["name"] = name
        return display.plot(ax, **kwargs)

    @classmethod
    @door(".from_predictions")
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Any,
        *,
        ax: Any = None,
        name: str | None = None,
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        band_kwargs: Mapping[str, Any] | None = None,
        plot_chance_level: bool = True,
        chance_level_kw: Mapping[str, Any] | None = None,
        despine: bool = False,
        **options: Any,
    ) -> Self:
        """Make a band from predictions, and draw it.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels, of two classes.
        y_score : array-like of shape (n_samples,) or (n_samples, 2), or dict of them
            Scores or probabilities; a dict of systems is drawn as an overlay.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        name : str, optional
            Name of a single curve, in the legend.
        curve_kwargs : dict or list of dict, optional
            As in `plot`.
        band_kwargs : dict, optional
            As in `plot`.
        plot_chance_level : bool, default=True
            As in `plot`.
        chance_level_kw : dict, optional
            As in `plot`.
        despine : bool, default=False
            As in `plot`.
        **options : dict
            Of `skboot.bootstrap_curve`: ``curve``, ``band``, ``groups``, ...

        Returns
        -------
        CurveBandDisplay
            The display, drawn; the curves are in ``results_``.

        Raises
        ------
        ValueError
            For arguments that cannot be right.
        """
        # Pictures stand on results; this one door makes the results that it draws.
        from ..curves import curves_of

        results = curves_of(y_true, y_score, **options)
        display = cls.from_result(
            results,
            ax,
            name=name,
            curve_kwargs=curve_kwargs,
            band_kwargs=band_kwargs,
            plot_chance_level=plot_chance_level,
            chance_level_kw=chance_level_kw,
            despine=despine,
        )
        display.results_ = results
        return display

    @classmethod
    @door(".from_estimator")
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        ax: Any = None,
        name: str | None = None,
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        band_kwargs: Mapping[str, Any] | None = None,
        plot_chance_level: bool = True,
        chance_level_kw: Mapping[str, Any] | None = None,
        despine: bool = False,
        **options: Any,
    ) -> Self:
        """Predict with a fitted classifier, make a band and draw it.

        Parameters
        ----------
        estimator : estimator
            Fitted, of two classes, with ``predict_proba``, or ``decision_function`` for curves that
            need no probabilities.
        X : array-like of shape (n_samples, n_features)
            Test rows, which the estimator has not seen.
        y : array-like of shape (n_samples,)
            True labels.
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        name : str, optional
            In the legend; the name of the estimator's class when None.
        curve_kwargs : dict or list of dict, optional
            As in `plot`.
        band_kwargs : dict, optional
            As in `plot`.
        plot_chance_level : bool, default=True
            As in `plot`.
        chance_level_kw : dict, optional
            As in `plot`.
        despine : bool, default=False
            As in `plot`.
        **options : dict
            Of `skboot.bootstrap_curve`; ``pos_label`` is the second of ``estimator.classes_`` if it
            is not given.

        Returns
        -------
        CurveBandDisplay
            The display, drawn; the curve is in ``results_``.

        Raises
        ------
        ValueError
            If the estimator has not two classes, or has no scores of the kind that is needed.
        """
        scores, positive = _scores_of(estimator, X, **options)
        options = {**options, "pos_label": positive}
        return cls.from_predictions(
            y,
            scores,
            ax=ax,
            name=type(estimator).__name__ if name is None else name,
            curve_kwargs=curve_kwargs,
            band_kwargs=band_kwargs,
            plot_chance_level=plot_chance_level,
            chance_level_kw=chance_level_kw,
            despine=despine,
            **options,
        )

    @door(".plot")
    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        curve_kwargs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        band_kwargs: Mapping[str, Any] | None = None,
        plot_chance_level: bool = True,
        chance_level_kw: Mapping[str, Any] | None = None,
        despine: bool = False,
    ) -> Self:
        """Draw the curves and their bands.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; a new figure when None.
        name : str, optional
            Name of a single curve, in the legend.
        curve_kwargs : dict or list of dict, optional
            Passed to ``ax.plot`` for the curves; of a list one for each curve.
        band_kwargs : dict, optional
            Passed to ``ax.fill_between``.
        plot_chance_level : bool
            Whether to draw the curve of a system that ignores its inputs, or of perfect
            calibration.
        chance_level_kw : dict, optional
            Passed to ``ax.plot`` for that curve.
        despine : bool
            Whether to remove the lines at the top and at the right.

        Returns
        -------
        CurveBandDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_asked(name=name, plot_chance_level=plot_chance_level, despine=despine)
        styles = _styles_of(curve_kwargs, len(self.lines))
        if name is not None and len(self.lines) > 1:
            raise fail("name", "not be given with several curves", repr(name))
        ax = self._take_axes(ax, figsize=(5.6, 4.6))
        self.lines_, self.bands_ = [], []
        for k, line in enumerate(self.lines):
            colour, dashes = _COLOURS[k % len(_COLOURS)], _DASHES[k % len(_DASHES)]
            style: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.8}
            if self.curve in _WITH_MARKS:
                style |= {"marker": "osD^v*"[k % 6], "markersize": 4}
            style |= {"label": name or line.label, "zorder": 3, **styles[k]}
            self.lines_ += ax.plot(line.x, line.estimate, **style)
            shade = self.lines_[-1].get_color()
            fill = {"color": shade, "alpha": veil(ax), "linewidth": 0, **(band_kwargs or {})}
            self.bands_.append(ax.fill_between(line.x, line.low, line.high, **fill))
            for limit in (line.low, line.high):
                ax.plot(line.x, limit, color=shade, linestyle=dashes, linewidth=0.7, zorder=2)
            if line.training is not None:
                on_training = {"color": shade, "linestyle": (0, (4, 2)), "linewidth": 1.2}
                on_training["label"] = line.training_label
                self.lines_ += ax.plot(line.x, line.training, **on_training)
        self.reference_ = None
        if plot_chance_level and self.reference is not None:
            x, y = (np.asarray(values, dtype=float) for values in self.reference)
            curve = "" if self.is_difference else self.curve
            name = "no difference" if self.is_difference else _REFERENCES.get(curve)
            if curve in ("roc", "calibration", "calibration_smooth"):
                x = y = np.array([0.0, 1.0])
            elif curve == "det":
                x, y = np.array([0.0, 1.0]), np.array([1.0, 0.0])
            style = {"color": GREY, "linestyle": (0, (2, 2)), "linewidth": 1.2, "zorder": 1}
            style |= {"label": name, **(chance_level_kw or {})}
            [self.reference_] = ax.plot(x, y, **style)
            if curve == "decision":
                ax.axhline(0, color=ink(ax), linewidth=0.8, zorder=1, label="treat none")
        if despine:
            ax.spines[["top", "right"]].set_visible(False)
        self._finish()
        return self

    def _finish(self) -> None:
        """Set limits, labels and the legend, below the axes where it hides nothing."""
        ax = self.ax_
        for side, label in zip("xy", self.axes, strict=True):
            label_axis(ax, side, wording.capitalized(label))
        if self.curve == "det" and not self.is_difference:
            names = [f"{rate:g}" for rate in rendering.DET_RATES]

            def deviate(rate: Any) -> Any:
                """Return the normal deviate of a rate, of 0 and 1 that of the ends of the axis."""
                return ndtri(np.clip(rate, *_ENDS))

            for side in "xy":
                getattr(ax, f"set_{side}scale")("function", functions=(deviate, ndtr))
                getattr(ax, f"set_{side}ticks")(rendering.DET_RATES, names)
                getattr(ax, f"set_{side}lim")(_ENDS)
        elif self.curve in _REFERENCES and self.curve != "decision":
            limit_axis(ax, "x", 0.0, 1.0, room=0.01)
            if not self.is_difference:
                limit_axis(ax, "y", 0.0, 1.0, room=0.01)
        elif self.curve == "decision" and not self.is_difference:
            highest = max(float(np.nanmax(line.high)) for line in self.lines)
            # A net benefit falls without end towards a threshold of 1.
            lowest = max(min(float(np.nanmin(line.low)) for line in self.lines), -highest)
            ax.set_ylim(min(-_BELOW * highest, 1.05 * lowest), 1.05 * highest)
            limit_axis(ax, "x", 0.0, max(float(line.x[-1]) for line in self.lines))
        self._draw_legend_below()


def _styles_of(styles: Any, n_curves: int) -> list[dict[str, Any]]:
    """Return the style of each curve: that of all, or one of a list."""
    if styles is None or isinstance(styles, Mapping):
        return [dict(styles or {}) for _ in range(n_curves)]
    is_list = isinstance(styles, Sequence) and all(isinstance(style, Mapping) for style in styles)
    if not is_list or len(styles) != n_curves:
        must = f"be a dict, or a list of {n_curves}, one for each curve"
        raise fail("curve_kwargs", must, repr(styles))
    return [dict(style) for style in styles]


def _scores_of(
    estimator: Any, X: Any, *, curve: Any = "roc", pos_label: Any = None, **_: Any
) -> tuple[NDArray[Any], Any]:
    """Return scores of the positive class, and its label."""
    classes = np.asarray(getattr(estimator, "classes_", ())).tolist()
    if len(classes) != 2:
        got = f"{type(estimator).__name__} with {len(classes)} classes"
        advice = "For several classes give y_true == label and its scores to from_predictions."
        raise fail("estimator", "be a fitted classifier of two classes", got, advice)
    positive = classes[1] if pos_label is None else pos_label
    if positive not in classes:
        raise fail("pos_label", f"be one of {classes}", repr(pos_label))
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X))[:, classes.index(positive)], positive
    if curve in _OF_PROBABILITIES or not hasattr(estimator, "decision_function"):
        needed = "predict_proba" if curve in _OF_PROBABILITIES else "scores of the classes"
        advice = "sklearn.calibration.CalibratedClassifierCV adds probabilities."
        got = type(estimator).__name__
        raise fail("estimator", f"have {needed}", got, advice)
    scores = np.asarray(estimator.decision_function(X))
    return scores if positive == classes[1] else -scores, positive
