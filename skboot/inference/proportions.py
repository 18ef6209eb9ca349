"""Score intervals of a proportion, and of the difference of two on the same rows.

Limits are made for a quantile, so that simultaneous intervals can borrow them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq


class Discordant(NamedTuple):
    """Rows on which two systems differ in being right.

    Attributes
    ----------
    first_only : int
        Rows on which the first is right and the second wrong.
    second_only : int
        Rows on which the second is right and the first wrong.
    n : int
        All rows.
    """

    first_only: int
    second_only: int
    n: int


def score_limits(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Score interval of a proportion (Wilson 1927), for a quantile of the normal or another law."""
    square = quantile**2 / n
    centre = (share + square / 2) / (1 + square)
    half = quantile * np.sqrt(share * (1 - share) / n + square / (4 * n)) / (1 + square)
    low = 0.0 if share <= 0 else max(float(centre - half), 0.0)
    return low, 1.0 if share >= 1 else min(float(centre + half), 1.0)


def tango_statistic(counts: Discordant, difference: float) -> float:
    """Score statistic of a difference of paired proportions; falls as the difference rises.

    Parameters
    ----------
    counts : Discordant
        Discordant rows.
    difference : float
        Hypothesis, in (-1, 1).

    Returns
    -------
    float
        Standard normal under the hypothesis; Tango (1998), equation 26. At 0 it is McNemar's
        (b - c) / sqrt(b + c).
    """
    b, c, n = counts
    linear = -b - c + (2 * n - b + c) * difference
    constant = -c * difference * (1 - difference)
    root = np.sqrt(max(linear * linear - 8 * n * constant, 0.0))
    second = (root - linear) / (4 * n)
    variance = n * (2 * second + difference * (1 - difference))
    score = b - c - n * difference
    if variance <= 0:
        return 0.0 if score == 0 else float(np.copysign(np.inf, score))
    return float(score / np.sqrt(variance))


def tango_limits(counts: Discordant, quantile: float) -> tuple[float, float]:
    """Limits of Tango's score interval, for a quantile of the normal."""
    if counts.second_only > counts.first_only:
        # The mirror image, so that exchanging the systems changes nothing but the sign.
        low, high = tango_limits(Discordant(counts[1], counts[0], counts.n), quantile)
        return -high, -low
    estimate = (counts.first_only - counts.second_only) / counts.n
    edge = 1 - 1e-12

    def limit(sign: float, start: float, stop: float) -> float:
        def gap(difference: float) -> float:
            # Infinite where the variance vanishes; a finite bound keeps the search going.
            return float(np.clip(tango_statistic(counts, difference), -1e6, 1e6)) - sign * quantile

        if gap(start) * gap(stop) >= 0:
            return stop if abs(gap(stop)) < abs(gap(start)) else start
        return float(brentq(gap, start, stop, xtol=1e-15, rtol=1e-14))

    low = limit(1.0, -edge, estimate)
    if counts.first_only == counts.second_only:
        return low, -low
    return low, 1.0 if estimate == 1 else limit(-1.0, estimate, edge)
