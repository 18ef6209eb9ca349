"""The law of differences by Student's t, each with degrees of freedom of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..inference._tuning import JOINT_DRAWS
from ..inference.multiplicity import simultaneous_t
from ..inference.normal_law import LowRankRoot
from .asked import Asked
from .families import Law, Limits

Floats = NDArray[np.float64]


class TDifference(Protocol):
    """A difference with its standard error."""

    @property
    def difference(self) -> float: ...
    @property
    def standard_error(self) -> float: ...
    @property
    def degrees_of_freedom(self) -> float: ...
    @property
    def p_value(self) -> float:
        """Two-sided."""

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided."""


class Student(Law):
    """The law of several differences by Student's t.

    Attributes
    ----------
    asked : Asked
    each : sequence of TDifference
    method : str
        Name of the interval of each by itself.
    seed : numpy.random.SeedSequence
        Of the draws from the joint law.
    n_draws : int
        From it.
    bounds : tuple of float
        Range of the metric.
    """

    n_draws = JOINT_DRAWS

    def __init__(
        self,
        asked: Asked,
        each: Sequence[TDifference],
        method: str,
        seed: np.random.SeedSequence,
        bounds: tuple[float, float],
    ) -> None:
        self.asked, self.each, self.method, self.seed = asked, each, method, seed
        self.bounds = bounds

    @cached_property
    def differences(self) -> Floats:
        """See `Law.differences`."""
        return np.array([one.difference for one in self.each], dtype=np.float64)

    @cached_property
    def standard_errors(self) -> Floats:
        """See `Law.standard_errors`."""
        return np.array([one.standard_error for one in self.each], dtype=np.float64)

    @property
    def degrees_of_freedom(self) -> list[float]:
        """See `Law.degrees_of_freedom`."""
        return [one.degrees_of_freedom for one in self.each]

    @abstractmethod
    def root_of_correlation(self, those: Sequence[int]) -> LowRankRoot:
        """Root of the correlation of the errors of some differences, by their numbers."""

    @cached_property
    def alone(self) -> Limits:
        """See `Law.alone`."""
        return self._at(self.asked.confidence_level, self._p_values, self.method)

    def stricter(self) -> Limits:
        """See `Law.stricter`."""
        level = 1 - (1 - self.asked.confidence_level) / len(self.each)
        return self._at(level, self._p_values, "bonferroni")

    @property
    def statistics(self) -> Floats:
        """Each by its standard error, (n_pairs,); NaN where that is 0."""
        errors = self.standard_errors
        return np.divide(
            self.differences, errors, out=np.full_like(errors, np.nan), where=errors > 0
        )

    def largest(self) -> Limits:
        """See `Law.largest`."""
        joint = simultaneous_t(
            self._p_values,
            self.statistics,
            np.array(self.degrees_of_freedom),
            confidence_level=self.asked.confidence_level,
            root_of_correlation=self.root_of_correlation,
            seed=self.seed,
            alternative=self.asked.alternative,
            n_draws=self.n_draws,
        )
        found = self._at(joint.level, joint.p_values, "max-t", joint.signs)
        return self._with_flat(found, ~(self.standard_errors > 0))

    def _with_flat(self, found: Limits, flat: NDArray[np.bool_]) -> Limits:
        """Return limits in which Bonferroni's rule applies to differences without any spread.

        They are not among the largest deviations.
        """
        if not flat.any():
            return found
        strict, n = self.stricter(), len(flat)
        assert found.signs is not None
        signs = (strict.low > 0).astype(np.int8) - (strict.high < 0)
        return replace(
            found,
            low=np.where(flat, strict.low, found.low),
            high=np.where(flat, strict.high, found.high),
            p_values=np.where(flat, np.minimum(n * strict.p_values, 1.0), found.p_values),
            signs=np.where(flat, signs, found.signs),
        )

    @cached_property
    def _p_values(self) -> Floats:
        alternative = self.asked.alternative
        return np.array([_p_value(one, alternative) for one in self.each])

    def _at(
        self, level: float, p_values: Floats, method: str, signs: NDArray[np.int8] | None = None
    ) -> Limits:
        """Return the limits of each difference at a level of its own."""
        limits = [_limits(one, level, self.asked.alternative) for one in self.each]
        low, high = np.array(limits).T
        names: NDArray[Any] = np.full(len(low), method, dtype=object)
        return Limits(low, high, p_values, names, signs=signs)


def root_of(loadings: Floats, covariance: Floats) -> LowRankRoot:
    """Root of the correlation of ``loadings @ covariance @ loadings.T``; 0 of what is constant."""
    variances = np.maximum(((loadings @ covariance) * loadings).sum(axis=1), 0.0)
    scale = np.where(variances > 0, np.sqrt(variances), np.inf)
    return LowRankRoot.of(loadings / scale[:, None], covariance)


def contrasts(pairs: Sequence[tuple[int, int]], n_methods: int) -> Floats:
    """Return what each pair takes of each method, (n_pairs, n_methods): 1, -1 and 0."""
    first, second = np.array(pairs, dtype=np.intp).T
    return np.asarray(np.eye(n_methods)[first] - np.eye(n_methods)[second])


def _limits(difference: TDifference, level: float, alternative: str) -> tuple[float, float]:
    """Limits of the interval; one of them is infinite for a one-sided alternative."""
    if alternative == "two-sided":
        return difference.interval(level)
    if difference.standard_error == 0:
        # Score limits of a quantile below 0 do not exist; the estimate is further out than those.
        level = max(level, 0.5)
    low, high = difference.interval(2 * level - 1)
    return (low, np.inf) if alternative == "greater" else (-np.inf, high)


def _p_value(difference: TDifference, alternative: str) -> float:
    """Two-sided p-value, or its half on the side of the difference."""
    p = difference.p_value
    if alternative == "two-sided" or np.isnan(p):
        return p
    towards = difference.difference * (1 if alternative == "greater" else -1)
    if towards > 0:
        return p / 2
    return 1.0 if difference.standard_error == 0 else 1 - p / 2
