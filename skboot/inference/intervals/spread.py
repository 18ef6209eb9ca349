"""Intervals from the spread of the replicates."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit, ndtri, stdtrit

from ..._base.values import spread_of
from ..evidence import Evidence
from . import needs_replicates, registered

# Least distance of an estimate from an end (share of the range) at which it has a logit.
_FROM_AN_END = 1e-6


@registered("normal", "normal bootstrap interval", needs_replicates, for_difference=True)
def _normal(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """Estimate without its bias, -/+ z standard deviations of the replicates."""
    z = ndtri(0.5 + confidence_level / 2)
    replicates = evidence.sorted_replicates
    centre = 2 * evidence.estimate - replicates.mean(axis=-1)
    half = z * spread_of(replicates, -1)
    return centre - half, centre + half


@registered("t", "t interval with bootstrap standard error", needs_replicates, for_difference=True)
def _t(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    spread = spread_of(evidence.sorted_replicates, -1) * np.sqrt(evidence.drawn.inflation)
    half = stdtrit(evidence.drawn.degrees_of_freedom, 0.5 + confidence_level / 2) * spread
    return evidence.estimate - half, evidence.estimate + half


def _needs_ends(evidence: Evidence) -> str:
    """Return why there is no logit; "" where there is one."""
    if not np.isfinite(evidence.facts.bounds).all():
        return "needs a metric whose smallest and largest value are known. Use 't'."
    return needs_replicates(evidence)


@registered("logit-t", "t interval on the logit scale", _needs_ends)
def _logit_t(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """As "t" of log(p / (1 - p)), with p the place of the estimate between both ends.

    With labels of a judge an estimate near an end counts as 1 of n + 2 from it, for n units of
    equal size; without them one at an end does not vary, and has no such interval.
    """
    low, high = evidence.facts.bounds
    judged = evidence.facts.proxy_weight is not None
    nearest = 1 / (evidence.drawn.degrees_of_freedom + 3) if judged else _FROM_AN_END
    place = np.clip((evidence.estimate - low) / (high - low), nearest, 1 - nearest)
    limits = np.array(_t(evidence, confidence_level))
    slope = 1 / ((high - low) * place * (1 - place))
    on_logits = logit(place) + (limits - evidence.estimate) * slope
    return tuple((low + (high - low) * expit(on_logits)).tolist())


# Not for a difference: the biases of two systems are nearly equal.
@registered("bias-corrected", "t interval about the bias-corrected estimate", needs_replicates)
def _bias_corrected(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """As "t" about 2 t - mean t*, the estimate without its bias (Davison & Hinkley 1997, 2.1.2)."""
    low, high = _t(evidence, confidence_level)
    bias = evidence.sorted_replicates.mean() - evidence.estimate
    return low - bias, high - bias
