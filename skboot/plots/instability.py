"""`PredictionInstabilityDisplay`: how far the answer for a row depends on the training sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.doors import door
from ..results import rendering
from .common import BLUE, GREY, ORANGE, Display

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
    of equal accuracy may disagree on a fifth of the rows. Each line spans 95 % of the answers of
    the bootstrap models that left the row out; the diagonal is the model of all rows. For labels,
    bars show for how many rows which share of the models answers otherwise.

    Parameters
    ----------
    answers : array-like of shape (n_samples,)
        Of the model of all rows.
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
        found = getattr(scorer, "prediction_instability_", None)
        if found is None:
            raise ValueError(
                "PredictionInstabilityDisplay needs a fitted BootstrapScorer that keeps answers "
                "of rows (prediction_instability_). Got one without. Fit it without a test set, "
                "and with 'neg_brier_score', 'neg_mean_squared_error' or 'accuracy' in scoring."
            )
        kind = next(kind for kind in ("probability", "value", "label") if kind in found)
        display = cls(
            answers=found[kind],
            difference=found["difference"],
            low=found.get("low"),
            high=found.get("high"),
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
        """Draw.

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
        self._entitle(name, self._title())
        return self

    # -------------------------------------------------------------- steps

    def _title(self) -> str:
        """Say the mean over rows of the difference."""
        known = self.difference[np.isfinite(self.difference)]
        mean = known.mean() if len(known) else np.nan
        if self.kind == "label":
            return f"Another label by {mean:.1%} of the models, mean over rows"
        return f"Mean absolute difference {rendering.significant(mean)}"

    def _draw_ranges(self, low: Array, high: Array, style: Mapping[str, Any]) -> None:
        """Draw a line per row at its answer, and the diagonal."""
        ax, answers = self.ax_, self.answers.astype(float)
        known = np.isfinite(low)
        style = {"color": BLUE, "alpha": 0.35, "linewidth": 1, **style}
        self.ranges_ = ax.vlines(answers[known], low[known], high[known], **style)
        if known.any():
            ends = [answers[known].min(), answers[known].max()]
            self.diagonal_ = ax.plot(ends, ends, color=ORANGE, linewidth=1.5)[0]
        ax.set_xlabel(_AXES[self.kind])
        ax.set_ylabel("By models that left the row out, 95 % of them")

    def _draw_labels(self, style: Mapping[str, Any]) -> None:
        """Draw for how many rows which share of the models answers otherwise."""
        edges = np.linspace(0, 1, _N_BARS + 1)
        counts = np.histogram(self.difference[np.isfinite(self.difference)], edges)[0]
        style = {"color": BLUE, "edgecolor": "white", **style}
        self.bars_ = self.ax_.bar(edges[:-1], counts, np.diff(edges), align="edge", **style)
        self.ax_.axvline(0.5, color=GREY, linewidth=1, linestyle=":")
        self.ax_.set_xlabel("Share of the models that left a row out with another label")
        self.ax_.set_ylabel("Number of rows")
