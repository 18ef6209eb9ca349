"""How far the limits of a result would move with other resamples."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inference.intervals import INTERVALS, Evidence, confidence_interval
from ..inference.subgroup_gap import SubgroupGap
from . import wording

if TYPE_CHECKING:
    from .result import EvaluationResult

# Repeats for the Monte Carlo error: its own relative error is then 1 / sqrt(2 * 200) = 5 %.
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


def monte_carlo_error(result: EvaluationResult) -> MonteCarloError:
    """Standard deviation of each limit over bootstrap resamples of the replicates."""
    evidence = result.evidence
    low, high = result.confidence_interval
    level, method = result.confidence_interval.confidence_level, result.confidence_interval.method
    if math.isnan(low) or math.isnan(high):
        return MonteCarloError(math.nan, math.nan)
    if result.over_runs is not None and result.estimand != "system":
        # Imported where several runs are there.
        from ..inference.run_intervals import monte_carlo_error as error_over_runs

        own = error_over_runs(result.over_runs, result.estimand, result.confidence_interval)
        return MonteCarloError(*own)
    if result.refits is not None:
        # The runs themselves are not stored.
        return MonteCarloError(math.nan, math.nan)
    if wording.uses_no_resamples(result):
        return MonteCarloError(0.0, 0.0)
    if method not in INTERVALS or INTERVALS[method].needs(evidence):
        return MonteCarloError(math.nan, math.nan)
    defined = np.flatnonzero(~np.isnan(evidence.replicates))
    rng = np.random.default_rng(0)
    limits = np.empty((_N_REPEATS, 2))
    with warnings.catch_warnings():
        # That the resamples are too few for the level was said when the interval was made.
        warnings.simplefilter("ignore")
        for k in range(_N_REPEATS):
            drawn = _with_resamples(
                evidence, defined[rng.integers(len(defined), size=len(defined))]
            )
            limits[k] = confidence_interval(drawn, method, level)
    if result.automatic:
        limits = np.clip(limits, *evidence.bounds)
    return MonteCarloError(*(_spread(column) for column in limits.T))


def _with_resamples(evidence: Evidence, lines: NDArray[np.intp]) -> Evidence:
    """Evidence with these resamples only; what is known per resample stays together."""
    errors, max_t = evidence.replicate_standard_errors, evidence.max_t
    gap = evidence.gap
    if gap is not None:
        whole = SubgroupGap.of_stored(gap)
        own = whole.replicates
        gap = whole._replace(replicates=None if own is None else own[lines])
    return replace(
        evidence,
        replicates=evidence.replicates[lines],
        replicate_standard_errors=None if errors is None else errors[lines],
        max_t=None if max_t is None else (max_t[0], max_t[1][lines]),
        gap=gap,
    )


def _spread(values: NDArray[np.float64]) -> float:
    if np.all(values == values[0]):
        return 0.0  # infinities included: the limit is infinite whatever is drawn
    return float(values.std(ddof=1)) if np.isfinite(values).all() else math.inf
