"""Draws of t statistics with a given correlation, as normal scores.

A t statistic is a normal number by the root of a chi-squared one, and its normal score the normal
quantile of the same level. Both conversions are smooth functions of one number that take a
microsecond each where they are computed, so that each is tabulated once for its degrees of freedom:
by polynomials between equal steps, which are as exact as the functions themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .._base.streams import child_seed
from ._tuning import JOINT_DRAWS, JOINT_DRAWS_AT_ONCE
from .normal_law import LowRankRoot

Floats = NDArray[np.float64]

# Key of the stream of t statistics below the seed of the plan, whose blocks have smaller keys.
_JOINT_STREAM = 1 << 31
# Steps of a table, and terms of the polynomial of each: its error is that of rounding.
_STEPS, _TERMS = 48, 12
# Logit of a probability, and p-value, beyond which a table has the value at its end: one draw in
# 1e10 is there, and a statistic with that p-value is the largest anyway.
_FAR_LOGIT, _FAR_P = 24.0, 1e-13
# More degrees of freedom than these are no different.
_NORMAL = 1e12


def drawn_scores(
    degrees_of_freedom: Floats,
    root: LowRankRoot,
    seed: np.random.SeedSequence,
    n_draws: int = JOINT_DRAWS,
) -> Iterator[Floats]:
    """Draw t statistics whose errors have a given correlation, some draws at a time.

    Parameters
    ----------
    degrees_of_freedom : ndarray of shape (n_tests,)
        Of each statistic. A normal vector over independent chi variables gives t statistics, each
        with its own degrees of freedom.
    root : LowRankRoot
        Of the correlation.
    seed : numpy.random.SeedSequence
        Of the draws.
    n_draws : int
        At least this many, in whole blocks.

    Yields
    ------
    ndarray of shape (n_tests, n_draws)
        Normal quantiles of the levels of the statistics.
    """
    rng = np.random.default_rng(child_seed(seed, _JOINT_STREAM))
    tables = {df: _Tables.of(df) for df in np.unique(np.minimum(degrees_of_freedom, _NORMAL))}
    of_tests = [tables[min(df, _NORMAL)] for df in degrees_of_freedom]
    for _ in range(0, n_draws, JOINT_DRAWS_AT_ONCE):
        shape = (JOINT_DRAWS_AT_ONCE, len(of_tests))
        scores = np.ascontiguousarray(root.times(rng.standard_normal(shape)).T)
        uniform = np.ascontiguousarray(rng.random(shape).T)
        for own, normal, level in zip(of_tests, scores, uniform, strict=True):
            own.to_scores(normal, level)
        yield scores


class _Tables(NamedTuple):
    """Both conversions for some degrees of freedom.

    Attributes
    ----------
    of_chi : _Table
        Logarithm of the root of chi-squared by its degrees of freedom, by the logit of its level.
    of_t : _Table
        Normal score by t, by log(1 + t^2 / df).
    """

    df: float
    of_chi: _Table
    of_t: _Table

    @classmethod
    def of(cls, df: float) -> _Tables:
        def log_root(logit: Floats) -> Floats:
            below, above = np.split(logit, 2, axis=1)
            # Each half by the tail that is small there.
            lower = special.gammaincinv(df / 2, special.expit(below))
            upper = special.gammainccinv(df / 2, special.expit(-above))
            return 0.5 * np.log(2 * np.hstack([lower, upper]) / df)

        def score_by_t(size: Floats) -> Floats:
            t = np.sqrt(df * np.expm1(size))
            return -special.ndtri(special.stdtr(df, -t)) / t

        far = np.log1p(special.stdtrit(df, _FAR_P) ** 2 / df)
        return cls(
            df, _Table.of(log_root, -_FAR_LOGIT, _FAR_LOGIT), _Table.of(score_by_t, 0.0, far)
        )

    def to_scores(self, normal: Floats, level: Floats) -> None:
        """Turn normal numbers into scores, with the levels of chi-squared."""
        with np.errstate(divide="ignore"):
            normal /= np.exp(self.of_chi(np.log(level / (1 - level))))
        normal *= self.of_t(np.log1p(normal * normal / self.df))


class _Table(NamedTuple):
    """A smooth function by a polynomial on each of some equal steps.

    Attributes
    ----------
    coefficients : ndarray of shape (n_terms, n_steps)
        Of powers of the place within a step, from -1 to 1.
    low, width : float
        Where the first step begins, and how wide a step is.
    """

    coefficients: Floats
    low: float
    width: float

    @classmethod
    def of(cls, function: Callable[[Floats], Floats], low: float, high: float) -> _Table:
        width = (high - low) / _STEPS
        places = np.cos(np.pi * (np.arange(_TERMS) + 0.5) / _TERMS)
        values = function(low + width * (np.arange(_STEPS) + 0.5 * (places[:, None] + 1)))
        return cls(np.linalg.solve(np.vander(places, increasing=True), values), low, width)

    def __call__(self, at: Floats) -> Floats:
        place = np.clip((at - self.low) / self.width, 0.0, _STEPS)
        step = np.minimum(place.astype(np.intp), _STEPS - 1)
        place -= step
        place *= 2
        place -= 1
        value = self.coefficients[-1].take(step)
        for of_power in self.coefficients[-2::-1]:
            value *= place
            value += of_power.take(step)
        return value
