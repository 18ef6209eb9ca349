"""Score-type limits for metrics that few rows of one class decide.

A method that finds two of 15 positives on average finds none on some data sets: there bootstrap and
cross-validation show no spread, and on others too little. Wilson's interval has its width on these
too. It is carried over to metrics of one class, which are functions of one proportion, and to
coefficients of agreement, which are functions of two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inference.proportions import score_limits

Array = NDArray[Any]

FEW_EVENTS = ("set ratio", "matthews", "kappa")
"""Guards of `skboot.method_error.cv_bootstrap` that are made here, with record 0034."""

FEW_DECIDE = (
    "No variation between rows or training samples: score limits from the rows that decide the "
    "metric."
)


def set_ratio_limits(
    position: float, weights: Array, size: float, quantile: float
) -> tuple[float, float]:
    """Wilson limits of precision, recall, F-beta or Jaccard, as an error in [0, 1].

    Parameters
    ----------
    position : float
        The error x, one less the metric.
    weights : ndarray of shape (2,)
        Weights of a miss and of a hit, w and v, in x = w t / (w t + v (1 - t)), where t is the
        share of misses among the rows that count: those of the class (recall), those called so
        (precision), both (F-beta, Jaccard). F1 has (1, 2).
    size : float
        Number of independent rows that count; 0 where none does: the limits are then [0, 1].
    quantile : float
        Of the normal distribution.

    Returns
    -------
    low, high : float
        They contain `position`.
    """
    if size <= 0:
        return 0.0, 1.0
    miss, hit = weights
    share = position * hit / (position * hit + (1 - position) * miss)
    low, high = score_limits(share, size, quantile)
    return _ratio(low, miss, hit), _ratio(high, miss, hit)


def mover_limits(rates: Array, sizes: Array, quantile: float) -> tuple[float, float]:
    """Interval for the mean of independent proportions from their Wilson limits.

    Method of variance estimates recovery (Newcombe 1998, Stat. Med. 17:873; Zou and Donner 2008,
    Stat. Med. 27:1693). `rates` and `sizes` have shape (n_classes,).
    """
    limits = np.array([score_limits(p, n, quantile) for p, n in zip(rates, sizes, strict=True)])
    centre = float(np.mean(rates))
    below = np.sqrt(np.sum((rates - limits[:, 0]) ** 2)) / len(rates)
    above = np.sqrt(np.sum((limits[:, 1] - rates) ** 2)) / len(rates)
    return max(centre - float(below), 0.0), min(centre + float(above), 1.0)


def agreement_reach(
    coefficient: str, class_errors: Array, class_sizes: Array, shares: Array, quantile: float
) -> tuple[float, float]:
    """Distances of the limits of Matthews' coefficient or kappa of two classes from its estimate.

    Parameters
    ----------
    coefficient : {"matthews", "kappa"}
    class_errors : ndarray of shape (2,)
        Error rates of the classes.
    class_sizes : ndarray of shape (2,)
        Independent rows behind them.
    shares : ndarray of shape (2,)
        Shares of the classes among the rows, taken as fixed.
    quantile : float
        Of the normal distribution.

    Returns
    -------
    below, above : float

    Notes
    -----
    Both coefficients fall with each error rate. Each rate in turn is set to its Wilson limit, and
    the changes of the coefficient are added as squares: method of variance estimates recovery (Zou
    and Donner 2008, Stat. Med. 27:1693), for a function of the rates in place of their sum.
    """
    function = _COEFFICIENTS[coefficient]
    centre = function(class_errors, shares)
    squares = np.zeros(2)
    for k in range(2):
        limits = score_limits(class_errors[k], class_sizes[k], quantile)
        for side, limit in enumerate(reversed(limits)):
            moved = np.array(class_errors, dtype=float)
            moved[k] = limit
            squares[side] += (function(moved, shares) - centre) ** 2
    below, above = np.sqrt(squares)
    return float(below), float(above)


def _ratio(share: float, miss: float, hit: float) -> float:
    return float(miss * share / (miss * share + hit * (1 - share)))


def _matthews(class_errors: Array, shares: Array) -> float:
    called = _called(class_errors, shares)
    if called <= 0 or called >= 1:
        return 0.0
    odds = shares[0] * shares[1] / (called * (1 - called))
    return float((1 - class_errors.sum()) * np.sqrt(odds))


def _kappa(class_errors: Array, shares: Array) -> float:
    called = _called(class_errors, shares)
    by_chance = shares[1] * (1 - called) + shares[0] * called
    return float(2 * shares[0] * shares[1] * (1 - class_errors.sum()) / by_chance)


def _called(class_errors: Array, shares: Array) -> float:
    """Return the share of rows that are predicted to be of the second class."""
    return float(shares[1] * (1 - class_errors[1]) + shares[0] * class_errors[0])


_COEFFICIENTS: dict[str, Callable[[Array, Array], float]] = {
    "matthews": _matthews,
    "kappa": _kappa,
}
