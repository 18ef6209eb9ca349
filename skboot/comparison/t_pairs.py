"""Simultaneous intervals and adjusted p-values for a family of t intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..inference.differences import holm
from ..inference.intervals import ConfidenceInterval
from ..inference.run_differences import RunsDifference, joint_p_values
from ..method_error.method_differences import MethodsDifference
from ..results.pairs import PairedDifference

Floats = NDArray[np.float64]


def adjusted(
    records: Sequence[PairedDifference],
    differences: Sequence[RunsDifference | MethodsDifference],
    adjust: str | None,
    *,
    confidence_level: float,
    correlation_of: Callable[[Sequence[int]], Floats],
    seed: np.random.SeedSequence,
) -> list[PairedDifference]:
    """Add simultaneous intervals and adjusted p-values.

    Parameters
    ----------
    records : sequence of PairedDifference
        With their own intervals and p-values.
    differences : sequence of RunsDifference or MethodsDifference
        The same, as t intervals are made of them.
    adjust : {"max-t", "holm", None}
    confidence_level : float
    correlation_of : callable
        From the numbers of some differences to the correlation of their errors.
    seed : numpy.random.SeedSequence
        Of the draws from the joint law.

    Returns
    -------
    list of PairedDifference
    """
    if adjust is None:
        return list(records)
    p_values = np.array([record.p_value for record in records])
    rest = 1 - confidence_level
    if len(records) == 1:
        found, cut, name = p_values, rest, records[0].confidence_interval.method
    elif adjust == "holm":
        found, cut, name = holm(p_values), rest / len(records), "bonferroni"
    else:
        name = "max-t"
        vary = [k for k, each in enumerate(differences) if each.standard_error > 0]
        found, cut = p_values, rest
        if vary:
            smallest = joint_p_values([differences[k] for k in vary], correlation_of(vary), seed)
            below = np.searchsorted(smallest, p_values, side="right")
            found = np.maximum(p_values, (1 + below) / (len(smallest) + 1))
            cut = float(smallest[max(int(np.floor(rest * (len(smallest) + 1))) - 1, 0)])
    several = []
    for record, difference, p in zip(records, differences, found, strict=True):
        low, high = difference.interval(1 - cut)
        wide = ConfidenceInterval(low, high, confidence_level, name)
        several.append(replace(record, simultaneous_interval=wide, p_value_adjusted=float(p)))
    return several
