"""How far probabilities of two classes are to be trusted, to call or to give as ``metric=``.

* `calibration_slope`, `calibration_intercept`: the line that probabilities need on the scale of
  logits;
* `expected_calibration_error`: their mean distance from what happens, in bins;
* `net_benefit`: what decisions at a threshold probability are worth.

How they are resampled is in `calibration_statistics`.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import check_count, fail
from .._base.doors import door
from .calibration_line import fitted_lines, logits_of, points_of
from .cost_metrics import posteriors_of

__all__ = [
    "calibration_intercept",
    "calibration_slope",
    "expected_calibration_error",
    "net_benefit",
]

Floats = NDArray[np.float64]


@door("calibration_slope")
def calibration_slope(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Slope that the logits of the probabilities need to be calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_prob : array-like of shape (n_samples, 2) or (n_samples,)
        Probability of each class, or of the second; 0 and 1 are moved inwards by the resolution of
        their type, as `sklearn.metrics.log_loss` does.
    labels : array-like of shape (2,), optional
        Both labels, in the order of the columns; by default those of ``y_true``, sorted.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        1 if the probabilities are as spread as they should be, less if they are overconfident. NaN
        where the fit does not exist: one class alone, or classes that a threshold separates.

    Raises
    ------
    ValueError
        If there are not two classes.

    Notes
    -----
    The slope b of the logistic regression of the truth on a + b logit(p), without penalty.

    References
    ----------
    Cox (1958), Biometrika 45, 562-565; Van Calster et al. (2016), Journal of Clinical Epidemiology
    74, 167-176.

    Examples
    --------
    >>> from skboot.metrics import calibration_slope
    >>> y_true = [0, 0, 1, 0, 1, 0, 1, 1]
    >>> y_prob = [0.02, 0.05, 0.1, 0.2, 0.8, 0.9, 0.95, 0.98]
    >>> round(calibration_slope(y_true, y_prob), 3)
    0.466
    """
    return _line(y_true, y_prob, labels, sample_weight, of_intercept=False)[1]


@door("calibration_intercept")
def calibration_intercept(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Shift that the logits of the probabilities need to be right on average.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_prob : array-like of shape (n_samples, 2) or (n_samples,)
        Probability of each class, or of the second; 0 and 1 are moved inwards by the resolution of
        their type, as `sklearn.metrics.log_loss` does.
    labels : array-like of shape (2,), optional
        Both labels, in the order of the columns; by default those of ``y_true``, sorted.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        0 if the probabilities are right on average (calibration in the large), more if they are too
        low. NaN where one class is absent.

    Raises
    ------
    ValueError
        If there are not two classes.

    Notes
    -----
    The intercept a of the logistic regression of the truth on a + logit(p), whose slope is 1.

    References
    ----------
    Cox (1958), Biometrika 45, 562-565; Van Calster et al. (2016), Journal of Clinical Epidemiology
    74, 167-176.

    Examples
    --------
    >>> from skboot.metrics import calibration_intercept
    >>> round(calibration_intercept([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.3, 0.6, 0.7]), 3)
    0.683
    """
    return _line(y_true, y_prob, labels, sample_weight, of_intercept=True)[0]


@door("expected_calibration_error")
def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: int = 10,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean distance of the probabilities from the shares of the second class, in bins.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_prob : array-like of shape (n_samples, 2) or (n_samples,)
        Probability of each class, or of the second.
    n_bins : int, default=10
        Number of bins of equal width from 0 to 1. A probability on an edge belongs to the upper
        bin.
    labels : array-like of shape (2,), optional
        Both labels, in the order of the columns; by default those of ``y_true``, sorted.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        In [0, 1]; smaller is better.

    Raises
    ------
    ValueError
        If there are not two classes.

    Notes
    -----
    The sum over bins of the distance between the share of the second class and the mean
    probability, weighted by their rows. Distances are never negative, so the value is biased
    upwards, more with fewer rows per bin and once more on resamples: a calibrated system has a
    value above 0. `skboot.bootstrap_score` makes its interval from simultaneous limits of all bins.
    Differences of systems, averages over tasks and several runs have no such interval, and a
    warning says so.

    References
    ----------
    Naeini, Cooper & Hauskrecht (2015), Proceedings of AAAI 29, 2901-2907; Guo et al. (2017),
    Proceedings of ICML 34, 1321-1330.

    Examples
    --------
    >>> from skboot.metrics import expected_calibration_error
    >>> y_true = [0, 0, 1, 1, 1]
    >>> y_prob = [0.1, 0.15, 0.15, 0.8, 0.9]
    >>> round(expected_calibration_error(y_true, y_prob, n_bins=2), 3)
    0.18
    """
    n_bins = check_count("n_bins", n_bins, 1)
    classes, prob, weights = _two(y_true, y_prob, labels, sample_weight)
    gaps = np.bincount(bins_of(prob, n_bins), weights * (classes - prob), n_bins)
    return float(np.abs(gaps).sum() / weights.sum())


@door("net_benefit")
def net_benefit(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    threshold: float,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Net benefit: true positives per row, less false positives weighted by the threshold odds.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, two of them.
    y_prob : array-like of shape (n_samples, 2) or (n_samples,)
        Probability of each class, or of the second.
    threshold : float
        Probability from which on a row is treated, in (0, 1).
    labels : array-like of shape (2,), optional
        Both labels, in the order of the columns; by default those of ``y_true``, sorted.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.

    Returns
    -------
    float
        Larger is better; treat none has 0. `skboot.bootstrap_curve` with ``curve="decision"`` has
        it at all thresholds.

    Raises
    ------
    ValueError
        If there are not two classes.

    Notes
    -----
    TP / n - FP / n t / (1 - t) at the threshold t.

    References
    ----------
    Vickers & Elkin (2006), Medical Decision Making 26, 565-574.

    Examples
    --------
    >>> from skboot.metrics import net_benefit
    >>> net_benefit([0, 0, 0, 1, 1], [0.1, 0.3, 0.6, 0.5, 0.9], threshold=0.2)
    0.3
    """
    threshold = check_threshold(threshold)
    classes, prob, weights = _two(y_true, y_prob, labels, sample_weight)
    return float(np.average(benefits(classes, prob, threshold), weights=weights))


def _two(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> tuple[NDArray[np.intp], NDArray[Any], Floats]:
    """Class of each row, its probability of the second class, and its weight."""
    classes, prob, all_labels, weights = posteriors_of(y_true, y_prob, labels, sample_weight)
    if len(all_labels) != 2:
        advice = "Take one class against the others: y_true == label, and its column."
        raise fail("y_true", "hold two classes", f"{len(all_labels)} labels", advice)
    return classes, prob[:, 1], np.ones(len(classes)) if weights is None else weights


def _line(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    *,
    of_intercept: bool,
) -> tuple[float, float]:
    """Intercept and slope of the logits."""
    classes, prob, weights = _two(y_true, y_prob, labels, sample_weight)
    points, sums = points_of(logits_of(prob), classes, weights)
    line = fitted_lines(points, sums, of_intercept=of_intercept)[0]
    return float(line[0]), float(line[1])


# The statistics share what follows.


def check_threshold(threshold: Any) -> float:
    """A probability strictly between 0 and 1, as a float."""
    if not (isinstance(threshold, Real) and 0 < float(threshold) < 1):
        raise fail("threshold", "be in (0, 1)", repr(threshold))
    return float(threshold)


def bins_of(prob: NDArray[Any], n_bins: int) -> NDArray[np.intp]:
    """Number of the bin of each probability, (n_samples,)."""
    # Steps of np.linspace add up to 0.30000000000000004, which a probability of 0.3 is below.
    edges = np.arange(1, n_bins) / n_bins
    return np.asarray(np.searchsorted(edges, prob, side="right"))


def benefits(classes: NDArray[np.intp], prob: NDArray[Any], threshold: float) -> Floats:
    """What treating each row from the threshold on is worth, (n_samples,)."""
    worth = np.where(classes == 1, 1.0, -threshold / (1.0 - threshold))
    return np.where(prob >= threshold, worth, 0.0)
