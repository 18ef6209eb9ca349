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
from .asked import Asked

Floats = NDArray[np.float64]


def t_pair(
    names: tuple[str, str],
    difference: RunsDifference | MethodsDifference,
    method: str,
    asked: Asked,
    **known: Any,
) -> PairedDifference:
    """Return the record of a pair by itself; ``known`` are its fields besides the t interval."""
    confidence_level, alternative = asked.confidence_level, asked.alternative
    limits = _limits(difference, confidence_level, alternative)
    return PairedDifference(
        first=names[0],
        second=names[1],
        difference=difference.difference,
        confidence_interval=ConfidenceInterval(*limits, confidence_level, method),
        simultaneous_interval=None,
        p_value=_p_value(difference, alternative),
        p_value_adjusted=np.nan,
        standard_error=difference.standard_error,
        degrees_of_freedom=difference.degrees_of_freedom,
        alternative=alternative,
        **known,
    )


def adjusted(
    records: Sequence[PairedDifference],
    differences: Sequence[RunsDifference | MethodsDifference],
    asked: Asked,
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
    asked : Asked
    correlation_of : callable
        From the numbers of some differences to the correlation of their errors.
    seed : numpy.random.SeedSequence
        Of the draws from the joint law.

    Returns
    -------
    list of PairedDifference
    """
    if asked.adjust is None:
        return list(records)
    joint = simultaneous_t(
        np.array([record.p_value for record in records]),
        _statistics(differences),
        np.array([difference.degrees_of_freedom for difference in differences]),
        asked.adjust,
        confidence_level=asked.confidence_level,
        correlation_of=correlation_of,
        seed=seed,
        alternative=records[0].alternative,
    )
    told = asked.with_ranks and joint.signs is not None
    signs = joint.signs.tolist() if told else [None] * len(records)  # type: ignore[union-attr]
    method = records[0].confidence_interval.method if len(records) == 1 else joint.method
    several = []
    for record, difference, p, sign in zip(
        records, differences, joint.p_values, signs, strict=True
    ):
        low, high = _limits(difference, joint.level, record.alternative)
        wide = ConfidenceInterval(low, high, asked.confidence_level, method)
        several.append(
            replace(
                record, simultaneous_interval=wide, p_value_adjusted=float(p), step_down_sign=sign
            )
        )
    return several


def _statistics(differences: Sequence[RunsDifference | MethodsDifference]) -> Floats:
    """Return differences by their standard errors; NaN without any."""
    errors = np.array([difference.standard_error for difference in differences])
    values = np.array([difference.difference for difference in differences])
    return np.asarray(np.divide(values, errors, out=np.full_like(errors, np.nan), where=errors > 0))


def _limits(
    difference: RunsDifference | MethodsDifference, level: float, alternative: str
) -> tuple[float, float]:
    """Limits of the interval; one of them is infinite for a one-sided alternative."""
    if alternative == "two-sided":
        return difference.interval(level)
    if difference.standard_error == 0:
        # Score limits of a quantile below 0 do not exist; the estimate is further out than those.
        level = max(level, 0.5)
    low, high = difference.interval(2 * level - 1)
    return (low, np.inf) if alternative == "greater" else (-np.inf, high)


def _p_value(difference: RunsDifference | MethodsDifference, alternative: str) -> float:
    """Two-sided p-value, or its half on the side of the difference."""
    p = difference.p_value
    if alternative == "two-sided" or np.isnan(p):
        return p
    towards = difference.difference * (1 if alternative == "greater" else -1)
    if towards > 0:
        return p / 2
    return 1.0 if difference.standard_error == 0 else 1 - p / 2
