"""Interval of a score that has two ends, on the logit scale."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit, stdtrit

from ..evidence import Evidence
from . import needs_replicates, registered


def _needs_ends(evidence: Evidence) -> str:
    """Return why there is no logit; "" where there is one."""
    if not np.isfinite(evidence.facts.bounds).all():
        return "needs a metric whose smallest and largest value are known. Use 't'."
    return needs_replicates(evidence)


@registered("logit-t", "t interval on the logit scale", _needs_ends)
def _logit_t(evidence: Evidence, confidence_level: float) -> tuple[float, float]:
    """As "t" of log(p / (1 - p)), with p the place of the estimate between both ends.

    An estimate at an end counts as 1 of n + 2 from it, for n units of equal size.
    """
    low, high = evidence.facts.bounds
    df = evidence.drawn.degrees_of_freedom
    place = np.clip((evidence.estimate - low) / (high - low), 1 / (df + 3), 1 - 1 / (df + 3))
    spread = evidence.sorted_replicates.std(ddof=1) * np.sqrt(evidence.drawn.inflation)
    slope = 1 / ((high - low) * place * (1 - place))
    half = stdtrit(df, 0.5 + confidence_level / 2) * spread * slope
    limits = low + (high - low) * expit(logit(place) + np.array([-half, half]))
    return float(limits[0]), float(limits[1])
