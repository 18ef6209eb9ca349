"""Records of pairs of methods, from differences with a t interval: each alone, and all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inference.confidence_interval import ConfidenceInterval
from ..inference.multiplicity import simultaneous_t
from ..inference.run_differences import RunsDifference
from ..method_error.method_differences import MethodsDifference
from ..results.pairs import PairedDifference

Floats = NDArray[np.float64]


def t_pair(
    names: tuple[str, str],
    difference: RunsDifference | MethodsDifference,
    method: str,
    confidence_level: float,
    **known: Any,
) -> PairedDifference:
    """Return the record of a pair by itself; ``known`` are its fields besides the t interval."""
    interval = ConfidenceInterval(*difference.interval(confidence_level), confidence_level, method)
    return PairedDifference(
        first=names[0],
        second=names[1],
        difference=difference.difference,
        confidence_interval=interval,
        simultaneous_interval=None,
        p_value=difference.p_value,
        p_value_adjusted=np.nan,
        standard_error=difference.standard_error,
        degrees_of_freedom=difference.degrees_of_freedom,
        **known,
    )


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
    joint = simultaneous_t(
        np.array([record.p_value for record in records]),
        np.array([difference.standard_error for difference in differences]),
        np.array([difference.degrees_of_freedom for difference in differences]),
        adjust,
        confidence_level=confidence_level,
        correlation_of=correlation_of,
        seed=seed,
    )
    method = records[0].confidence_interval.method if len(records) == 1 else joint.method
    several = []
    for record, difference, p in zip(records, differences, joint.p_values, strict=True):
        low, high = difference.interval(joint.level)
        wide = ConfidenceInterval(low, high, confidence_level, method)
        several.append(replace(record, simultaneous_interval=wide, p_value_adjusted=float(p)))
    return several
