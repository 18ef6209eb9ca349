"""Several differences at once: adjusted p-values, and what simultaneous intervals are made of.

* `holm`: from the p-values alone;
* `max_t_deviations`, `max_t_adjusted`: from the joint bootstrap of the differences;
* `simultaneous_t`: several t statistics, each with its own degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from .._streams import child_seed
from ._tuning import JOINT_DRAWS, JOINT_DRAWS_AT_ONCE

Floats = NDArray[np.float64]

# Key of the stream of t statistics below the seed of the plan, whose blocks have smaller keys.
_JOINT_STREAM = 1 << 31
# Share of a studentized difference below which two of them differ by rounding alone.
_ROUNDING = 1e-10


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p-values by Holm's step-down procedure.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        NaN values are left out of the count.

    Returns
    -------
    ndarray of shape (n_tests,)
        At most 1; NaN where NaN.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> from skboot.inference.multiplicity import holm
    >>> holm([0.01, 0.04, 0.03]).round(2)
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full_like(values, np.nan)
    defined = np.flatnonzero(~np.isnan(values))
    order = defined[np.argsort(values[defined], kind="stable")]
    factors = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * values[order]), 1.0)
    return adjusted


# ------------------------------------------------------------------ the joint bootstrap


def max_t_deviations(
    differences: Floats,
    replicates: Floats,
    degrees_of_freedom: int,
    order: NDArray[np.intp] | None = None,
) -> tuple[Floats, Floats]:
    """Studentize several differences jointly (Westfall & Young 1993, section 2.3).

    Parameters
    ----------
    differences : ndarray of shape (n_differences,)
        Differences on the data.
    replicates : ndarray of shape (n_differences, n_resamples)
        The same on common resamples; NaN where undefined.
    degrees_of_freedom : int
        Of the units that were drawn: deviations are divided by independent chi variables with as
        many, as Student's t divides.
    order : ndarray of shape (n_differences,), optional
        Place of each difference in an order that does not depend on that of the call.

    Returns
    -------
    standard_errors : ndarray of shape (n_differences,)
        Standard deviation of each difference's replicates.
    largest : ndarray of shape (n_resamples,)
        Largest |replicate - difference| / standard error over the differences that vary, as the
        normal quantile of the same level; see `t_quantile_of_normal`.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        defined = [row[~np.isnan(row)] for row in replicates]
        errors = np.array([row.std(ddof=1) if len(row) > 1 else np.nan for row in defined])
        vary = errors > 0
        deviations = np.abs(replicates[vary] - differences[vary, None]) / errors[vary, None]
    if not len(deviations):
        return errors, np.zeros(replicates.shape[1])
    df = degrees_of_freedom
    # A fixed stream: the draws are part of the method, not of the resampling.
    squares = np.random.default_rng(0).standard_gamma(df / 2, size=replicates.shape[::-1]).T
    squares = squares if order is None else squares[order]
    deviations /= np.sqrt(squares[vary] * (2 / df))
    largest = np.fmax.reduce(deviations, axis=0)
    return errors, np.abs(special.ndtri(special.stdtr(df, -largest)))


def t_quantile_of_normal(
    deviations: ArrayLike, degrees_of_freedom: int, n_strata: int = 1
) -> Floats:
    """Quantile of Student's t at the level of a normal one, for the spread of resamples.

    Parameters
    ----------
    deviations : array-like of shape (n_resamples,)
        Normal quantiles, such as the largest deviations from `max_t_deviations`.
    degrees_of_freedom : int
        Of the units that were drawn: their number less that of the strata.
    n_strata : int
        Number of strata, 1 without.

    Returns
    -------
    ndarray of shape (n_resamples,)
        sqrt(n / df) t_df(Phi(x)) for x: what Hesterberg (2015, section 3.3) does to the levels of
        percentiles. The standard error of resamples is too small by sqrt(df / n).
    """
    df = degrees_of_freedom
    quantiles = np.abs(special.stdtrit(df, special.ndtr(-np.asarray(deviations))))
    return np.asarray(np.sqrt((df + n_strata) / df) * quantiles)


def max_t_adjusted(
    p_values: Floats, differences: Floats, standard_errors: Floats, largest: Floats
) -> Floats:
    """Adjust p-values by the joint bootstrap of the largest studentized difference.

    Parameters
    ----------
    p_values, differences, standard_errors : ndarray of shape (n_tests,)
        Of each difference by itself.
    largest : ndarray of shape (n_resamples,)
        Largest |replicate - difference| / standard error in each resample.

    Returns
    -------
    ndarray of shape (n_tests,)
        max(p, (1 + #{largest >= t}) / (n_resamples + 1)); 1 where the difference does not vary.

    References
    ----------
    Westfall & Young (1993), Resampling-Based Multiple Testing, section 2.3.
    """
    ordered = np.sort(largest[~np.isnan(largest)])
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.abs(differences) / standard_errors
    # Scores of few rows tie exactly, but their studentized values differ by rounding.
    above = len(ordered) - np.searchsorted(ordered, t * (1 - _ROUNDING), side="left")
    joint = (1 + above) / (len(ordered) + 1)
    adjusted = np.where(standard_errors > 0, np.maximum(p_values, joint), 1.0)
    return np.where(np.isnan(p_values), np.nan, adjusted)


# ------------------------------------------------------------------ t statistics


class SimultaneousT(NamedTuple):
    """Adjusted p-values of several t tests, and the level of intervals that hold jointly.

    Attributes
    ----------
    p_values : ndarray of shape (n_tests,)
        Adjusted.
    level : float
        Confidence level of each single interval.
    method : {"marginal", "bonferroni", "max-t"}
        How the level was found; "marginal" for a single test.
    """

    p_values: Floats
    level: float
    method: str


def simultaneous_t(
    p_values: Floats,
    standard_errors: Floats,
    degrees_of_freedom: Floats,
    adjust: str,
    *,
    confidence_level: float,
    correlation_of: Callable[[Sequence[int]], Floats],
    seed: np.random.SeedSequence,
) -> SimultaneousT:
    """Adjust several t tests for being several.

    Parameters
    ----------
    p_values, standard_errors, degrees_of_freedom : ndarray of shape (n_tests,)
        Of each test by itself.
    adjust : {"max-t", "holm"}
        "holm" adjusts p-values by Holm's procedure and intervals by Bonferroni's.
    confidence_level : float
        Of all intervals jointly.
    correlation_of : callable
        From the numbers of some tests to the correlation of their errors.
    seed : numpy.random.SeedSequence
        Of the draws from the joint law.

    Returns
    -------
    SimultaneousT
    """
    rest = 1 - confidence_level
    if len(p_values) == 1:
        return SimultaneousT(p_values, 1 - rest, "marginal")
    if adjust == "holm":
        return SimultaneousT(holm(p_values), 1 - rest / len(p_values), "bonferroni")
    vary = np.flatnonzero(standard_errors > 0)
    if not len(vary):
        return SimultaneousT(p_values, 1 - rest, "max-t")
    smallest = joint_p_values(degrees_of_freedom[vary], correlation_of(vary.tolist()), seed)
    below = np.searchsorted(smallest, p_values, side="right")
    adjusted = np.maximum(p_values, (1 + below) / (len(smallest) + 1))
    rank = max(int(np.floor(rest * (len(smallest) + 1))) - 1, 0)
    return SimultaneousT(adjusted, 1 - float(smallest[rank]), "max-t")


def joint_p_values(
    degrees_of_freedom: Floats, correlation: Floats, seed: np.random.SeedSequence
) -> Floats:
    """Smallest p-value over several t tests, drawn under the hypothesis that none differs.

    Parameters
    ----------
    degrees_of_freedom : ndarray of shape (n_tests,)
        Of each t statistic.
    correlation : ndarray of shape (n_tests, n_tests)
        Of the errors.
    seed : numpy.random.SeedSequence
        Of the draws.

    Returns
    -------
    ndarray of shape (n_draws,)
        In rising order. A normal vector with these correlations over independent chi variables
        gives t statistics, each with its own degrees of freedom.
    """
    rng = np.random.default_rng(child_seed(seed, _JOINT_STREAM))
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    df = np.asarray(degrees_of_freedom, dtype=np.float64)
    smallest = np.empty(JOINT_DRAWS)
    for start in range(0, JOINT_DRAWS, JOINT_DRAWS_AT_ONCE):
        shape = (JOINT_DRAWS_AT_ONCE, len(df))
        normal = rng.standard_normal(shape) @ root.T
        chi = stats.chi2.ppf(rng.random(shape), df) / df
        t = np.abs(normal) / np.sqrt(chi)
        smallest[start : start + JOINT_DRAWS_AT_ONCE] = 2 * np.min(special.stdtr(df, -t), axis=1)
    return np.sort(smallest)
