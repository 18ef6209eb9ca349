"""A family of differences: each by itself, all of them at once, and the records that say both.

Systems, runs, methods and data sets differ in the *law* of their differences, which tells how far
these may be from the true ones: replicates on common resamples, Student's t, or pivots. A law gives
limits; what is asked of the family decides which.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..inference.evidence import ConfidenceInterval, range_of_difference, within_range
from ..inference.multiplicity import holm
from ..results.comparison import PairedDifference
from .asked import Asked

Floats = NDArray[np.float64]
# Differences of scores below this share of the scores are rounding.
SCORE_ROUNDING = 1e-12
Pair = TypeVar("Pair", bound=PairedDifference)


def estimated_differences(first: Floats, second: Floats) -> Floats:
    """Return differences of scores, 0 where they differ by rounding alone."""
    differences = first - second
    scale = SCORE_ROUNDING * np.maximum(np.abs(first), np.abs(second))
    return np.where(np.abs(differences) <= scale, 0.0, differences)


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits and p-values of several differences, arrays of shape (n_pairs,).

    Attributes
    ----------
    low, high, p_values : ndarray
    method : ndarray of str
        Names of the intervals.
    quantiles : ndarray or None
        Quantiles of the normal distribution that limits of replicates reach out to.
    signs : ndarray or None
        1 where a difference is told to be above 0, -1 below, 0 neither, all at once.
    """

    low: Floats
    high: Floats
    p_values: Floats
    method: NDArray[Any]
    quantiles: Floats | None = None
    signs: NDArray[np.int8] | None = None

    def named(self, method: str) -> Limits:
        """Return the same limits under another name."""
        return replace(self, method=np.full(len(self.low), method, dtype=object))

    def intervals(
        self, confidence_level: float, bounds: tuple[float, float], alternative: str
    ) -> list[ConfidenceInterval]:
        """Return the interval of each difference, cut at the range of differences."""
        columns = (self.low.tolist(), self.high.tolist(), self.method.tolist())
        return [
            within_range(
                ConfidenceInterval(low, high, confidence_level, method), bounds, alternative
            )
            for low, high, method in zip(*columns, strict=True)
        ]


class Law(ABC):
    """How far the differences of a family may be from the true ones.

    Attributes
    ----------
    asked : Asked
    differences, standard_errors : ndarray of shape (n_pairs,)
    degrees_of_freedom : sequence of length n_pairs
        None where an interval uses no resamples.
    bounds : tuple of float
        Range of the metric.
    """

    asked: Asked
    bounds: tuple[float, float]

    @property
    @abstractmethod
    def differences(self) -> Floats: ...

    @property
    @abstractmethod
    def standard_errors(self) -> Floats: ...

    @property
    @abstractmethod
    def degrees_of_freedom(self) -> Sequence[float | None]: ...

    @property
    @abstractmethod
    def alone(self) -> Limits:
        """Each difference by itself."""

    @abstractmethod
    def stricter(self) -> Limits:
        """Each at Bonferroni's level."""

    @abstractmethod
    def largest(self) -> Limits:
        """All at once, by the largest deviation among them: "max-t"."""

    def at_once(self) -> Limits | None:
        """All differences at once, as it is asked for; None where it is not."""
        alone, adjust = self.alone, self.asked.adjust
        if adjust is None:
            return None
        if len(alone.low) == 1:
            return replace(alone, signs=(alone.low > 0).astype(np.int8) - (alone.high < 0))
        if adjust == "bonferroni":
            wide = self.stricter()
            return replace(wide, signs=(wide.low > 0).astype(np.int8) - (wide.high < 0))
        if adjust == "holm":
            return replace(self.stricter(), p_values=holm(alone.p_values))
        return self.largest()


def records_of(
    law: Law,
    pairs: Sequence[tuple[str, str]],
    kind: type[Pair],
    **further: Sequence[Any],
) -> list[Pair]:
    """Return the record of each pair.

    Parameters
    ----------
    law : Law
    pairs : sequence of tuple of str
        Names.
    kind : type
        Of the records.
    **further : sequence of length n_pairs
        Other attributes of the records.

    Returns
    -------
    list
        In the order of ``pairs``.
    """
    asked, n = law.asked, len(pairs)
    of_range = asked.confidence_level, range_of_difference(law.bounds), asked.alternative
    wide = law.at_once()
    quantiles = None if wide is None else wide.quantiles
    signs = wide.signs if wide is not None and asked.with_ranks else None
    columns: dict[str, Sequence[Any]] = {
        "first": [one for one, _ in pairs],
        "second": [other for _, other in pairs],
        "difference": law.differences.tolist(),
        "confidence_interval": law.alone.intervals(*of_range),
        "simultaneous_interval": [None] * n if wide is None else wide.intervals(*of_range),
        "p_value": law.alone.p_values.tolist(),
        "p_value_adjusted": [np.nan] * n if wide is None else wide.p_values.tolist(),
        "standard_error": law.standard_errors.tolist(),
        "degrees_of_freedom": law.degrees_of_freedom,
        "alternative": [asked.alternative] * n,
        "simultaneous_quantile": [None] * n if quantiles is None else quantiles.tolist(),
        "step_down_sign": [None] * n if signs is None else signs.astype(int).tolist(),
        **further,
    }
    return [
        kind(**dict(zip(columns, values, strict=True)))
        for values in zip(*columns.values(), strict=True)
    ]
