"""Several differences at once: adjusted p-values, and what simultaneous intervals are made of.

* `holm`: from the p-values alone;
* `joint_deviations`, `max_t_adjusted`: from the joint bootstrap of the differences;
* `simultaneous_t`: several t statistics, each with its own degrees of freedom;
* `step_down`: which differences are surely above 0, and which below, for ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from .._base.work import child_seed
from ._tuning import (
    DEVIATIONS_ALL_DIVIDED,
    DEVIATIONS_ALL_KEPT,
    JOINT_DRAWS,
    JOINT_DRAWS_AT_ONCE,
    LEAST_SHARE,
    NEVER,
    SHARE_KEPT,
)

# Draws from a normal distribution with a given covariance that are the same on every machine.


# Share of the largest variance of a combination below which one is rounding.
_NO_VARIANCE = 1e-12


def symmetric_root(covariance: Floats) -> Floats:
    """Return the symmetric matrix whose square is a covariance.

    Parameters
    ----------
    covariance : ndarray of shape (n, n)
        Symmetric; variances below zero, or all but, are rounding and become 0.

    Returns
    -------
    ndarray of shape (n, n)
        Unlike a triangular root, or eigenvectors, it does not depend on the order of a
        decomposition, on signs, or on the last digits of a covariance that has no inverse. So
        ``standard_normal((n_draws, n)) @ root`` are the same draws whichever library decomposes.
    """
    values, vectors = _variances(covariance)
    return np.asarray((vectors * np.sqrt(values)) @ vectors.T)


class LowRankRoot(NamedTuple):
    """The symmetric root of a covariance of many numbers that few parts make up.

    Differences of some methods are as many as their pairs, but vary as the methods do.

    Attributes
    ----------
    vectors : ndarray of shape (n, n_parts)
        Vectors of unit length, orthogonal.
    deviations : ndarray of shape (n_parts,)
        Root of the variance along each.
    """

    vectors: Floats
    deviations: Floats

    @classmethod
    def of(cls, loadings: Floats, covariance: Floats) -> LowRankRoot:
        """Return the root of ``loadings @ covariance @ loadings.T``, (n, n), without that matrix.

        Parameters
        ----------
        loadings : ndarray of shape (n, n_parts)
            What each number is made of.
        covariance : ndarray of shape (n_parts, n_parts)
            Covariance of the parts; see `symmetric_root`.
        """
        basis, parts = np.linalg.qr(loadings)
        values, vectors = _variances(parts @ covariance @ parts.T)
        return cls(basis @ vectors[:, values > 0], np.sqrt(values[values > 0]))

    def times(self, normal: Floats) -> Floats:
        """Return ``normal @ root``, draws with the covariance, (n_draws, n)."""
        return np.asarray((normal @ self.vectors * self.deviations) @ self.vectors.T)


def _variances(covariance: Floats) -> tuple[Floats, Floats]:
    """Return the variances along the eigenvectors, and these; what is rounding is 0."""
    values, vectors = np.linalg.eigh(covariance)
    values[values <= _NO_VARIANCE * values[-1]] = 0.0
    return values, vectors


# Draws of t statistics with a given correlation, as normal scores.
#
# A t statistic is a normal number by the root of a chi-squared one, and its normal score the normal
# quantile of the same level. Both conversions are smooth functions of one number that take a
# microsecond each where they are computed, so that each is tabulated once for its degrees of
# freedom: by polynomials between equal steps, which are as exact as the functions themselves.


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
        Degrees of freedom of each statistic. A normal vector over independent chi variables gives t
        statistics, each with its own degrees of freedom.
    root : LowRankRoot
        Root of the correlation.
    seed : numpy.random.SeedSequence
        Seed of the draws.
    n_draws : int
        At least this many, in whole blocks.

    Yields
    ------
    ndarray of shape (n_tests, n_draws)
        Normal quantiles of the levels of the statistics.
    """
    rng = np.random.default_rng(child_seed(seed, _JOINT_STREAM))
    by_df = {df: _ScoresOfT.of(df) for df in np.unique(np.minimum(degrees_of_freedom, _NORMAL))}
    scores_of_tests = [by_df[min(df, _NORMAL)] for df in degrees_of_freedom]
    for _ in range(0, n_draws, JOINT_DRAWS_AT_ONCE):
        shape = (JOINT_DRAWS_AT_ONCE, len(scores_of_tests))
        scores = np.ascontiguousarray(root.times(rng.standard_normal(shape)).T)
        uniform = np.ascontiguousarray(rng.random(shape).T)
        for scores_of_t, normal, level in zip(scores_of_tests, scores, uniform, strict=True):
            scores_of_t.to_scores(normal, level)
        yield scores


class _ScoresOfT(NamedTuple):
    """Both conversions from normal numbers to scores of t, for some degrees of freedom.

    Attributes
    ----------
    chi : _Interpolated
        Logarithm of the root of chi-squared by its degrees of freedom, by the logit of its level.
    score : _Interpolated
        Normal score by t, by log(1 + t^2 / df).
    """

    df: float
    chi: _Interpolated
    score: _Interpolated

    @classmethod
    def of(cls, df: float) -> _ScoresOfT:
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
            df,
            _Interpolated.of(log_root, -_FAR_LOGIT, _FAR_LOGIT),
            _Interpolated.of(score_by_t, 0.0, far),
        )

    def to_scores(self, normal: Floats, level: Floats) -> None:
        """Turn normal numbers into scores, with the levels of chi-squared."""
        with np.errstate(divide="ignore"):
            normal /= np.exp(self.chi(np.log(level / (1 - level))))
        normal *= self.score(np.log1p(normal * normal / self.df))


class _Interpolated(NamedTuple):
    """A smooth function by a polynomial on each of some equal steps.

    Attributes
    ----------
    coefficients : ndarray of shape (n_terms, n_steps)
        Coefficients of powers of the place within a step, from -1 to 1.
    low, width : float
        Where the first step begins, and how wide a step is.
    """

    coefficients: Floats
    low: float
    width: float

    @classmethod
    def of(cls, function: Callable[[Floats], Floats], low: float, high: float) -> _Interpolated:
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
        for coefficients in self.coefficients[-2::-1]:
            value *= place
            value += coefficients.take(step)
        return value


Floats = NDArray[np.float64]

# Share of a studentized difference below which two of them differ by rounding alone.
_DEVIATION_ROUNDING = 1e-10


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


class JointDeviations(NamedTuple):
    """Deviations of several differences on common resamples, each studentized.

    Attributes
    ----------
    largest : ndarray of shape (n_resamples,)
        The largest over all differences that vary, as the normal quantile of the same level; see
        `t_quantile_of_normal`.
    large_rows : sequence of ndarray of shape (n_large_of_block, n_differences)
        All of the resamples whose largest is large, with their signs, block by block: joined they
        would need twice the memory. See `step_down`.
    other_maxima : ndarray of shape (n_resamples - n_large,)
        Largest of each other resample, on the scale of ``large_rows``.
    """

    largest: Floats
    large_rows: Sequence[NDArray[np.float32]]
    other_maxima: Floats


def joint_deviations(
    differences: Floats,
    standard_errors: Floats,
    blocks: Iterable[Floats],
    degrees_of_freedom: float,
    *,
    signs: Floats | None = None,
    with_signs: bool = False,
) -> JointDeviations:
    """Studentize several differences jointly (Westfall & Young 1993, section 2.3).

    Parameters
    ----------
    differences, standard_errors : ndarray of shape (n_differences,)
        On the data, and standard deviation over the resamples. Those without any are left out.
    blocks : iterable of ndarray of shape (n_resamples_of_block, n_differences)
        Differences on the resamples, NaN where undefined, in an order of the differences that does
        not depend on that of the call. The arrays are written to.
    degrees_of_freedom : float
        Degrees of freedom of the units that were drawn: deviations are divided by independent chi
        variables with as many, as Student's t divides.
    signs : ndarray of shape (n_differences,), optional
        1 or -1: the largest is that of the deviations times these. Without, of their sizes.
    with_signs : bool
        Whether to keep deviations for `step_down`.

    Returns
    -------
    JointDeviations
    """
    df = degrees_of_freedom
    vary = standard_errors > 0
    errors = np.where(vary, standard_errors, np.inf)
    # A fixed stream: the draws are part of the method, not of the resampling.
    rng = np.random.default_rng(0)
    maxima, store = [], _LargeRows(len(differences))
    gammas = np.empty((0, len(differences)))
    # Share of the largest deviation of a resample below which no other can exceed it, whatever
    # both are divided by.
    share = 0.0
    if len(differences) >= DEVIATIONS_ALL_DIVIDED and not with_signs:
        share = np.sqrt(special.chdtri(df, 1 - NEVER) / special.chdtri(df, NEVER))
    for block in blocks:
        block -= differences
        block /= errors
        if share > LEAST_SHARE:
            sizes = np.abs(block, out=block) if signs is None else np.multiply(block, signs, block)
            maxima.append(_largest_divided(sizes, share, df, rng))
            continue
        if len(gammas) < len(block):
            gammas = np.empty_like(block)
        squares = rng.standard_gamma(df / 2, out=gammas[: len(block)])
        squares *= 2 / df
        block /= np.sqrt(squares, out=squares)
        largest = _largest(block if signs is None else block * signs, two_sided=signs is None)
        maxima.append(largest)
        if with_signs:
            store.add(block[store.are_large(largest)])
    largest = np.concatenate(maxima)
    normal = -special.ndtri(special.stdtr(df, -largest)) + 0.0
    if not vary.any():
        normal = np.zeros_like(normal)
    return store.joint(normal)


def _largest_divided(
    sizes: Floats, share: float, degrees_of_freedom: float, rng: np.random.Generator
) -> Floats:
    """Return the largest of each row over chi variables, which those near the largest alone need.

    Of a hundred systems with 4,950 differences that is one in a hundred: the draws of all would
    take as long as everything else.
    """
    df, largest = degrees_of_freedom, _largest(sizes, two_sided=False)
    least = np.where(largest > 0, share * largest, largest / share)
    rows, columns = np.nonzero(sizes >= least[:, None])
    divided = sizes[rows, columns] / np.sqrt(rng.standard_gamma(df / 2, len(rows)) * (2 / df))
    # An undefined row has none.
    result = np.full(len(sizes), -np.inf)
    np.maximum.at(result, rows, divided)
    return np.where(np.isnan(largest), np.nan, result)


def _largest(values: Floats, *, two_sided: bool) -> Floats:
    """Return the largest of each row, or the largest size; undefined values are left out."""
    largest = np.asarray(values.max(axis=1))
    if two_sided:
        largest = np.maximum(largest, -values.min(axis=1))
    undefined = np.isnan(largest)
    if undefined.any():
        rows = np.abs(values[undefined]) if two_sided else values[undefined]
        largest[undefined] = np.fmax.reduce(rows, axis=1)
    return largest


class _LargeRows:
    """Rows of deviations whose largest is large: enough of them for `step_down`, in any order."""

    def __init__(self, n_differences: int) -> None:
        self.n_differences = n_differences
        self.rows: list[NDArray[np.float32]] = []
        self.maxima: list[Floats] = []
        self.other_maxima: list[Floats] = [np.empty(0)]

    def are_large(self, largest: Floats) -> NDArray[np.bool_]:
        """Return which rows of the next block to keep, from the largest of each."""
        self.maxima.append(largest)
        is_large = np.ones(len(largest), dtype=bool)
        if self.n_differences * sum(map(len, self.maxima)) > DEVIATIONS_ALL_KEPT:
            is_large = largest >= np.quantile(np.concatenate(self.maxima), 1 - SHARE_KEPT)
        self.other_maxima.append(largest[~is_large])
        return is_large

    def add(self, rows: Floats) -> None:
        """Keep rows; an undefined deviation is evidence of nothing."""
        self.rows.append(np.nan_to_num(rows.astype(np.float32, order="C"), nan=0.0))

    def joint(self, largest: Floats) -> JointDeviations:
        """Return the deviations of all rows, with the largest of each as normal quantiles."""
        return JointDeviations(largest, tuple(self.rows), np.concatenate(self.other_maxima))


def step_down(
    statistics: Floats,
    joint: JointDeviations | None,
    confidence_level: float,
    at_most: Callable[[int], float],
) -> NDArray[np.int8]:
    """Tell which differences are surely above 0 and which below, all jointly.

    Parameters
    ----------
    statistics : ndarray of shape (n_differences,)
        Difference by standard error, on the scale of ``joint``; NaN where it does not vary.
    joint : JointDeviations or None
        With rows of deviations; None where Bonferroni's rule alone decides.
    confidence_level : float
        Confidence level of all statements together.
    at_most : callable
        From a number of one-sided hypotheses to the critical value of Bonferroni's rule.

    Returns
    -------
    ndarray of shape (n_differences,)
        1, -1, or 0 where the difference is not significant.

    Notes
    -----
    Each difference has two hypotheses: not above 0, and not below 0. One is rejected if its
    statistic is larger than the quantile of the largest deviation over all hypotheses that are
    left; its mirror image stays. This is repeated until none is rejected (Romano & Wolf 2005,
    Econometrica 73:1237, in the form for ranks of Mogstad et al. 2024). Resamples that were not
    kept count with the largest over all hypotheses, which can only make the quantile larger.
    """
    sign = np.zeros(len(statistics), dtype=np.int8)
    # Those that are not rejected, of either side.
    hypotheses = {1: ~np.isnan(statistics), -1: ~np.isnan(statistics)}
    while n_hypotheses := int(hypotheses[1].sum() + hypotheses[-1].sum()):
        critical = at_most(n_hypotheses)
        if joint is not None:
            critical = min(critical, _critical_value(joint, hypotheses, confidence_level))
        rejected = {side: hypotheses[side] & (side * statistics > critical) for side in hypotheses}
        if not any(mask.any() for mask in rejected.values()):
            break
        for side, mask in rejected.items():
            sign[mask] = side
            hypotheses[side] = hypotheses[side] & ~mask
    return sign


def _critical_value(
    joint: JointDeviations, hypotheses: dict[int, NDArray[np.bool_]], confidence_level: float
) -> float:
    """Quantile over the resamples of the largest deviation among some one-sided hypotheses.

    ``hypotheses`` says for either side, 1 and -1, which differences have one: a deviation counts
    upwards where side 1 has one, downwards where side -1 has one. Resamples without a row have the
    largest over all hypotheses, which may be of another one: the quantile is then too large.
    """
    # Minus infinity takes a difference out of a maximum.
    upwards, downwards = (
        np.where(hypotheses[side], 0, -np.inf).astype(np.float32) for side in (1, -1)
    )
    maxima = [joint.other_maxima]
    rows_at_once = 16
    for block in joint.large_rows:
        for start in range(0, len(block), rows_at_once):
            rows = block[start : start + rows_at_once]
            above, below = (rows + upwards).max(axis=1), (downwards - rows).max(axis=1)
            maxima.append(np.maximum(above, below))
    ordered = np.sort(np.fmax(np.concatenate(maxima), 0.0))
    rank = min(int(np.ceil((len(ordered) + 1) * confidence_level - 1e-9)), len(ordered))
    return float(ordered[rank - 1])


def t_quantile_of_normal(
    deviations: ArrayLike, degrees_of_freedom: float, inflation: float | None = None
) -> Floats:
    """Quantile of Student's t at the level of a normal one, for the spread of resamples.

    Parameters
    ----------
    deviations : array-like of shape (n_resamples,)
        Normal quantiles, such as the largest deviations from `joint_deviations`.
    degrees_of_freedom : float
        Degrees of freedom of the units that were drawn: their number less that of the strata.
    inflation : float, optional
        Factor from the variance of resamples to that of samples, n / df; of one stratum without.

    Returns
    -------
    ndarray of shape (n_resamples,)
        sqrt(n / df) t_df(Phi(x)) for x: what Hesterberg (2015, section 3.3) does to the levels of
        percentiles. The standard error of resamples is too small by sqrt(df / n).
    """
    df = degrees_of_freedom
    quantiles = -special.stdtrit(df, special.ndtr(-np.asarray(deviations))) + 0.0
    return np.asarray(np.sqrt((df + 1) / df if inflation is None else inflation) * quantiles)


def max_t_quantile(largest: Floats, confidence_level: float) -> float:
    """Quantile of the largest deviations that simultaneous intervals reach out to.

    A whole rank: adjusted p-values count deviations, and would disagree with a value between two.
    Of too few resamples the largest deviation of all.
    """
    ordered = np.sort(largest[~np.isnan(largest)])
    if len(ordered) < 2:
        return np.nan
    rank = int(np.ceil((len(ordered) + 1) * confidence_level - 1e-9))
    return float(ordered[min(max(rank, 1), len(ordered)) - 1])


def critical_deviation(largest: Floats, confidence_level: float, n_exact: int) -> float:
    """Deviation that all of several stay within at once.

    Parameters
    ----------
    largest : ndarray of shape (n_resamples,)
        Largest deviation over those that vary, as a normal quantile.
    confidence_level : float
        In (0, 1).
    n_exact : int
        Number of others, independent of these, whose intervals have the level of a single one.

    Returns
    -------
    float
        Normal quantile, at least that of one deviation.
    """
    single = -float(special.ndtri((1 - confidence_level) / 2))
    largest = largest[~np.isnan(largest)]
    if len(largest) < 2:
        # Sidak's level, without resamples.
        return -float(special.ndtri((1 - confidence_level ** (1 / max(n_exact, 1))) / 2))
    if not n_exact:
        return max(single, max_t_quantile(largest, confidence_level))
    ordered = np.sort(largest)
    share = np.arange(1, len(ordered) + 1) / (len(ordered) + 1)
    joint = share * (2 * special.ndtr(ordered) - 1) ** n_exact
    reached = np.flatnonzero(joint >= confidence_level - 1e-12)
    return max(single, float(ordered[reached[0]] if len(reached) else ordered[-1]))


def level_of_each(
    largest: Floats, confidence_level: float, n_scores: int, n_exact: int = 0
) -> float:
    """Level of several intervals, each by itself, at which all hold at once with another level.

    See `critical_deviation`; at least the other level, and at most that of Bonferroni's rule.
    """
    critical = critical_deviation(largest, confidence_level, n_exact)
    level = max(2 * float(special.ndtr(critical)) - 1, confidence_level)
    return min(level, 1 - (1 - confidence_level) / max(n_scores, 1))


def max_t_adjusted(
    p_values: Floats,
    differences: Floats,
    standard_errors: Floats,
    largest: Floats,
    signs: Floats | None = None,
) -> Floats:
    """Adjust p-values by the joint bootstrap of the largest studentized difference.

    Parameters
    ----------
    p_values, differences, standard_errors : ndarray of shape (n_tests,)
        P-values, differences and standard errors of each difference by itself.
    largest : ndarray of shape (n_resamples,)
        Largest |replicate - difference| / standard error in each resample.
    signs : ndarray of shape (n_tests,), optional
        Signs of one-sided tests, as in `joint_deviations`.

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
        t = (np.abs(differences) if signs is None else signs * differences) / standard_errors
    # Scores of few rows tie exactly, but their studentized values differ by rounding.
    least = np.where(t > 0, t * (1 - _DEVIATION_ROUNDING), t * (1 + _DEVIATION_ROUNDING))
    above = len(ordered) - np.searchsorted(ordered, least, side="left")
    joint = (1 + above) / (len(ordered) + 1)
    adjusted = np.where(standard_errors > 0, np.maximum(p_values, joint), 1.0)
    return np.where(np.isnan(p_values), np.nan, adjusted)


# ------------------------------------------------------------------ t statistics


class SimultaneousT(NamedTuple):
    """P-values of several t tests adjusted by the largest, and the level of joint intervals.

    Attributes
    ----------
    p_values : ndarray of shape (n_tests,)
        Adjusted.
    level : float
        Confidence level of each single interval.
    signs : ndarray of shape (n_tests,)
        Signs that `step_down` returns for two-sided tests; 0 by one-sided ones.
    """

    p_values: Floats
    level: float
    signs: NDArray[np.int8]


def simultaneous_t(
    p_values: Floats,
    statistics: Floats,
    degrees_of_freedom: Floats,
    *,
    confidence_level: float,
    root_of_correlation: Callable[[Sequence[int]], LowRankRoot],
    seed: np.random.SeedSequence,
    alternative: str = "two-sided",
    n_draws: int = JOINT_DRAWS,
) -> SimultaneousT:
    """Adjust several t tests by the joint distribution of the smallest p-value.

    Parameters
    ----------
    p_values, statistics, degrees_of_freedom : ndarray of shape (n_tests,)
        P-values, statistics and degrees of freedom of each test by itself; the statistic is NaN
        where the difference has no standard error.
    confidence_level : float
        Confidence level of all intervals jointly.
    root_of_correlation : callable
        From the numbers of some tests to the root of the correlation of their errors.
    seed : numpy.random.SeedSequence
        Seed of the draws from the joint distribution.
    alternative : {"two-sided", "greater", "less"}
        Alternative of all tests.
    n_draws : int
        From the joint distribution.

    Returns
    -------
    SimultaneousT
    """
    alpha, signs = 1 - confidence_level, np.zeros(len(p_values), dtype=np.int8)
    vary = np.flatnonzero(~np.isnan(statistics))
    if not len(vary):
        return SimultaneousT(p_values, confidence_level, signs)
    smallest, joint = joint_p_values(
        degrees_of_freedom[vary], root_of_correlation(vary.tolist()), seed, alternative, n_draws
    )
    below = np.searchsorted(smallest, p_values, side="right")
    adjusted = np.maximum(p_values, (1 + below) / (len(smallest) + 1))
    rank = max(int(np.floor(alpha * (len(smallest) + 1))) - 1, 0)
    if joint is not None:
        # Normal quantiles of the levels of the statistics, exact far out on both sides.
        levels = special.stdtr(degrees_of_freedom, -np.abs(statistics))
        scores = np.asarray(np.copysign(-special.ndtri(levels), statistics))
        signs[vary] = step_down(
            scores[vary],
            joint,
            confidence_level,
            lambda m: -float(special.ndtri(alpha / m)),
        )
    return SimultaneousT(adjusted, 1 - float(smallest[rank]), signs)


def joint_p_values(
    degrees_of_freedom: Floats,
    correlation: LowRankRoot,
    seed: np.random.SeedSequence,
    alternative: str = "two-sided",
    n_draws: int = JOINT_DRAWS,
) -> tuple[Floats, JointDeviations | None]:
    """Smallest p-value over several t tests, drawn under the hypothesis that none differs.

    Parameters
    ----------
    degrees_of_freedom : ndarray of shape (n_tests,)
        Degrees of freedom of each t statistic.
    correlation : LowRankRoot
        Correlation of the errors.
    seed : numpy.random.SeedSequence
        Seed of the draws; see `skboot.inference.multiplicity.drawn_scores`.
    alternative : {"two-sided", "greater", "less"}
        Alternative of the tests.
    n_draws : int
        From the joint distribution.

    Returns
    -------
    smallest : ndarray of shape (n_draws,)
        In rising order.
    joint : JointDeviations or None
        The same draws as normal quantiles, with their signs, for `step_down`; None for one side.
    """
    df, two_sided = np.asarray(degrees_of_freedom, dtype=np.float64), alternative == "two-sided"
    maxima, store = [], _LargeRows(len(df))
    for scores in drawn_scores(df, correlation, seed, n_draws):
        # The distribution of the draws is symmetric: the upper side serves for the lower one, too.
        largest = _largest(scores.T, two_sided=two_sided)
        maxima.append(largest)
        if two_sided:
            store.add(scores[:, store.are_large(largest)].T)
    smallest = np.sort(special.ndtr(-np.concatenate(maxima))) * (2 if two_sided else 1)
    return smallest, store.joint(np.empty(0)) if two_sided else None
