"""Intervals from quantiles of the replicates."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from ..evidence import Evidence
from . import needs_replicates, quantile, registered


def _needs_robust_variance(evidence: Evidence) -> str:
    if evidence.robust_variance is not None:
        return needs_replicates(evidence)
    if evidence.drawn.design.n_factors == 1:
        return "is for crossed groups, of shape (n_samples, 2). Use interval='expanded'."
    return (
        "needs the metric without each pair of members: a function of sums, or the area under the "
        "ROC curve, that is defined without any of them. Use interval='percentile'."
    )


@registered("percentile", "percentile bootstrap interval", needs_replicates, for_difference=True)
def _percentile(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    tail = (1 - confidence_level) / 2
    ordered = evidence.sorted_replicates
    return quantile(ordered, tail), quantile(ordered, 1 - tail)


@registered(
    "expanded", "expanded percentile bootstrap interval", needs_replicates, for_difference=True
)
def _expanded(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Percentiles at Phi(sqrt(n / df) t_df) (Hesterberg 2015, section 3.3)."""
    t = stdtrit(evidence.drawn.degrees_of_freedom, (1 - confidence_level) / 2)
    tail = float(ndtr(np.sqrt(evidence.drawn.inflation) * t))
    ordered = evidence.sorted_replicates
    return quantile(ordered, tail), quantile(ordered, 1 - tail)


@registered(
    "two-way",
    "two-way percentile bootstrap interval",
    _needs_robust_variance,
    for_difference=True,
)
def _two_way(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Percentiles drawn in to the mean of the resamples, for the robust variance of two factors.

    Their distances from it are multiplied by t_df / z times the robust standard error over that of
    the resamples, but never by more than 1.
    """
    assert evidence.robust_variance is not None
    low, high = _percentile(evidence, confidence_level)
    ordered, tail = evidence.sorted_replicates, (1 - confidence_level) / 2
    centre, spread = ordered.mean(), ordered.std(ddof=1) if len(ordered) > 1 else 0.0
    robust = np.sqrt(evidence.robust_variance)
    # The median of resamples, at a level of 0, stays where it is.
    ratio = stdtrit(evidence.drawn.degrees_of_freedom, tail) / ndtri(tail) if tail != 0.5 else 1.0
    share = min(float(ratio * robust / spread), 1.0) if spread > 0 else 1.0
    return centre + share * (low - centre), centre + share * (high - centre)


@registered("basic", "basic bootstrap interval", needs_replicates, for_difference=True)
def _basic(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    low, high = _percentile(evidence, confidence_level)
    return 2 * evidence.estimate - high, 2 * evidence.estimate - low
