"""How far the limits of a result would move with other resamples."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.warnings import collected
from ..inference.confidence_interval import ConfidenceInterval
from ..inference.evidence import Evidence
from ..inference.intervals import INTERVALS, confidence_interval, problem_with

# Repeats for the Monte Carlo error (number); its own relative error is 1 / sqrt(2 * 200) = 5 %.
_N_REPEATS = 200


class MonteCarloError(NamedTuple):
    """Standard error of each limit that is due to the finite number of resamples.

    Attributes
    ----------
    low, high : float
        Standard error of the lower and of the upper limit.
    """

    low: float
    high: float


def error_of_replicates(
    evidence: Evidence,
    interval: ConfidenceInterval,
    with_resamples: Callable[[NDArray[np.intp]], Evidence],
    level_of: Callable[[Evidence], float] | None = None,
) -> MonteCarloError:
    """Return the standard deviation of each limit over bootstrap resamples of the replicates.

    Parameters
    ----------
    evidence : Evidence
        What the interval was made from.
    interval : ConfidenceInterval
        The interval.
    with_resamples : callable
        Returns the evidence of the resamples whose numbers it is given.
    level_of : callable, optional
        Returns the level of the interval from the evidence of some resamples; that of ``interval``
        without.

    Returns
    -------
    MonteCarloError
        NaN where the interval cannot be made again.
    """
    level, method = interval.confidence_level, interval.method
    if method not in INTERVALS or problem_with(method, evidence):
        return MonteCarloError(math.nan, math.nan)
    defined = np.flatnonzero(~np.isnan(evidence.replicates))
    rng = np.random.default_rng(0)
    limits = np.empty((_N_REPEATS, 2))
    # The call that made the interval warned where resamples are too few for the level.
    with collected():
        for k in range(_N_REPEATS):
            drawn = with_resamples(defined[rng.integers(len(defined), size=len(defined))])
            own = level if level_of is None else level_of(drawn)
            limits[k] = confidence_interval(drawn, method, own)
    return MonteCarloError(*(_deviation(column) for column in limits.T))


def with_resamples(evidence: Evidence, resamples: NDArray[np.intp]) -> Evidence:
    """Return the evidence of these resamples alone, values and standard errors together."""
    errors, smoothed = evidence.replicate_standard_errors, evidence.smoothed
    return replace(
        evidence,
        replicates=evidence.replicates[resamples],
        replicate_standard_errors=None if errors is None else errors[resamples],
        smoothed=None if smoothed is None else smoothed[:, resamples],
    )


def _deviation(values: NDArray[np.float64]) -> float:
    """Return the standard deviation of a limit, 0 if it is infinite in every repeat."""
    if np.all(values == values[0]):
        return 0.0
    return float(values.std(ddof=1)) if np.isfinite(values).all() else math.inf
