"""P-values that agree with intervals: the smallest 1 - level whose interval excludes 0.

`smallest_excluding_zero` finds it for any interval by bisection. Where the limits are quantiles of
the replicates, or an estimate with a multiple of its standard error, `TAILS` gives the tail area at
which a limit reaches 0 in closed form. Both take one difference or, in closed form, a batch of
them: `skboot.inference.evidence.Evidence` whose estimate is an array (n_differences,) and whose
replicates are (n_differences, n_resamples).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr

from .._base.values import spread_of
from .evidence import Evidence
from .intervals import limits_of, snapped

Floats = NDArray[np.float64]


def p_of_interval(
    evidence: Evidence, method: str, confidence_level: float, alternative: str = "two-sided"
) -> Any:
    """Smallest 1 - level whose interval excludes 0, at least what the resamples can tell.

    Parameters
    ----------
    evidence : Evidence
        With at least two resamples that are defined; a batch of differences for methods in `TAILS`.
    method : str
        A key of `skboot.inference.intervals.INTERVALS` that uses resamples.
    confidence_level : float
        Of the interval that is shown: the p-value is at most 1 - level exactly if it excludes 0.
        So it is at 95 %.
    alternative : {"two-sided", "greater", "less"}

    Returns
    -------
    float or ndarray of shape (n_differences,)
        At least 2 / (n_resamples + 1), or half of it for one side.
    """
    sides = 2 if alternative == "two-sided" else 1
    floor = sides / (evidence.sorted_replicates.shape[-1] + 1)
    tails = _smoothed if method == "smoothed" else TAILS.get(method)
    if tails is None:
        return smallest_excluding_zero(evidence, method, floor, confidence_level, alternative)
    below, above = tails(evidence)
    tail = {"two-sided": np.minimum(below, above), "greater": below, "less": above}[alternative]
    p = np.clip(sides * tail, floor, 1.0)
    for level in dict.fromkeys((0.95, confidence_level)):
        rest = round(1 - level, 12)
        if floor <= rest < 1:
            # Rounding cannot put the number on the wrong side of these two.
            excludes = _excludes_zero(evidence, method, level, alternative)
            wrong = np.where(excludes, rest, np.nextafter(rest, 1.0))
            p = np.where(excludes == (p <= rest), p, wrong)
    return p if p.ndim else float(p)


def _excludes_zero(evidence: Evidence, method: str, level: float, alternative: str) -> Any:
    low, high = snapped(*limits_of(evidence, method, level, alternative))
    return (low > 0) | (high < 0)


def smallest_excluding_zero(
    evidence: Evidence,
    method: str,
    floor: float,
    confidence_level: float,
    alternative: str = "two-sided",
) -> float:
    """Return the smallest 1 - level, at least ``floor``, whose interval excludes 0.

    The shown level and 95 % are tried first, so that rounding cannot put the number on their wrong
    side.
    """

    def excludes(level: float) -> bool:
        return bool(_excludes_zero(evidence, method, level, alternative))

    if excludes(1 - floor):
        return floor
    holding, excluding = floor, 1.0
    for level in (0.95, confidence_level):
        rest = round(1 - level, 12)
        if holding < rest < excluding:
            holding, excluding = (holding, rest) if excludes(level) else (rest, excluding)
    if excluding == 1.0 and not excludes(1e-9):
        return 1.0
    for _ in range(34):
        middle = (holding + excluding) / 2
        if excludes(1 - middle):
            excluding = middle
        else:
            holding = middle
    return excluding


# ------------------------------------------------------------------ closed forms


def _level_of_zero(ordered: Floats, *, mirrored: bool = False) -> Floats:
    """Level above which the quantile of sorted values is above 0; see `intervals.quantile`.

    ``mirrored``: of the values with the other sign, without a copy of all of them.
    """
    n = ordered.shape[-1]
    rising = ordered[..., ::-1] if mirrored else ordered
    n_below = np.count_nonzero(rising >= 0 if mirrored else rising <= 0, axis=-1)
    between = np.clip(n_below, 1, n - 1)
    lines = tuple(np.indices(between.shape, sparse=True))
    start, stop = rising[*lines, between - 1], rising[*lines, between]
    if mirrored:
        start, stop = -start, -stop
    lower, upper = ndtri(between / (n + 1)), ndtri((between + 1) / (n + 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        level = ndtr(lower - start / (stop - start) * (upper - lower))
    # The extreme value stands for all levels beyond it.
    return np.where(n_below == 0, 0.0, np.where(n_below == n, 1.0, level))


def _levels_of_zero(ordered: Floats) -> tuple[Floats, Floats]:
    """The same for the lower quantile, and for the upper one below 0."""
    return _level_of_zero(ordered), _level_of_zero(ordered, mirrored=True)


def _percentile(evidence: Evidence) -> tuple[Any, Any]:
    return _levels_of_zero(evidence.sorted_replicates)


def _expanded(evidence: Evidence) -> tuple[Any, Any]:
    df = evidence.drawn.degrees_of_freedom
    stretch = np.sqrt(evidence.drawn.inflation)
    below, above = _levels_of_zero(evidence.sorted_replicates)
    return stdtr(df, ndtri(below) / stretch), stdtr(df, ndtri(above) / stretch)


def _basic(evidence: Evidence) -> tuple[Any, Any]:
    twice = 2 * np.expand_dims(evidence.estimate, -1)
    return _levels_of_zero(twice - evidence.sorted_replicates[..., ::-1])


def _normal(evidence: Evidence) -> tuple[Any, Any]:
    replicates = evidence.sorted_replicates
    centre = 2 * evidence.estimate - replicates.mean(axis=-1)
    z = _studentized(centre, spread_of(replicates, -1))
    return ndtr(-z), ndtr(z)


def _t(evidence: Evidence) -> tuple[Any, Any]:
    df = evidence.drawn.degrees_of_freedom
    spread = spread_of(evidence.sorted_replicates, -1)
    t = _studentized(evidence.estimate, spread * np.sqrt(evidence.drawn.inflation))
    return stdtr(df, -t), stdtr(df, t)


def _smoothed(evidence: Evidence) -> tuple[Any, Any]:
    # The outer one of both draws, and of the estimate.
    below, above = (tail.max() for tail in _levels_of_zero(evidence.sorted_smoothed))
    return 1.0 if evidence.estimate <= 0 else below, 1.0 if evidence.estimate >= 0 else above


def _studentized(value: Any, error: Any) -> Any:
    """Value by its error; of a value of 0 without error it is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.equal(value, 0), 0.0, np.divide(value, error))


TAILS: Mapping[str, Callable[[Evidence], tuple[Any, Any]]] = {
    "percentile": _percentile,
    "expanded": _expanded,
    "basic": _basic,
    "normal": _normal,
    "t": _t,
}
"""Tail areas at which the lower limit reaches 0 from below, and the upper one from above."""
