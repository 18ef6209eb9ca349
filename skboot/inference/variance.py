"""Variance components of runs x test units: how much of a score is training, seed, test rows.

Several runs of one method are scored on the same test units: a crossed design. The score of a run
varies with its training sample and its seed, the mean over runs varies with the test units, and
the difference between two runs varies with the test units too (interaction). `UnitNoise` gives the
variance over test units of the average of some runs: from the rows where the score is a mean of row
values, else from the resamples. `crossed_runs` and `trained_runs` turn it into the parts of the
intervals for the method and for the next run.

Variances of scores enter as A, the variance between runs (it holds test noise: each run's own),
c, the interaction's part of it, and te, the variance of the mean over runs that is due to the test
units. In the terms of the analysis of variance of S runs on n units, A = MS_run / n,
c = MS_residual / n and te = MS_unit / (S n).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._base.values import size_of
from ._tuning import LEAST_DF

Floats = NDArray[np.float64]

# Share of the larger variance below which the difference of two variances is rounding.
_ROUNDING = 1e-12
# Normal quantile (standard errors) of the Wilson interval whose variance is the least one. It is
# that of 95 % at every level: a bound of the variance needs no exact level (record 0022).
_WILSON_Z = 1.96


class Components(NamedTuple):
    """Variance of one value (one run, one test unit) by source; NaN where not identified.

    Attributes
    ----------
    training : float
        Between training samples.
    seed : float
        Between seeds on one training sample.
    test : float
        Between test units, common to all runs.
    interaction : float
        Of a run with a test unit, and all that is left.
    """

    training: float
    seed: float
    test: float
    interaction: float

    def of_score(self, n_units: int) -> Components:
        """Return the components of the score of one run: the mean over ``n_units`` test units."""
        return self._replace(test=self.test / n_units, interaction=self.interaction / n_units)


class TIntervalParts(NamedTuple):
    """A t interval of any level: centre, standard error and degrees of freedom.

    Attributes
    ----------
    centre : float
        Middle of the interval.
    standard_error : float
        Of the centre, or of the prediction.
    degrees_of_freedom : float
        By Satterthwaite's rule.
    parts : Components
        Squared standard error by source; parts that are not identified are 0.
    """

    centre: float
    standard_error: float
    degrees_of_freedom: float
    parts: Components


class RunVariance(NamedTuple):
    """Components of a set of runs, and the t intervals that follow from them.

    Attributes
    ----------
    components : Components
        Per run and test unit, clipped at 0.
    method, next_run : TIntervalParts
        For the expected score of the method; for the score of the next run.
    clipped : tuple of str
        Components whose estimate was below 0.
    """

    components: Components
    method: TIntervalParts
    next_run: TIntervalParts
    clipped: tuple[str, ...]


# ------------------------------------------------------------------ noise of the test units


class UnitNoise(Protocol):
    """Variance of scores of runs that is due to the test units."""

    def average(self, runs: Sequence[int] | NDArray[np.intp]) -> NDArray[Any]:
        """Average of some runs, value by value: per test row, or per test resample."""
        ...

    def variance(self, series: NDArray[Any]) -> float:
        """Variance over test units of the score whose values are ``series``."""
        ...


@dataclass(frozen=True, eq=False)
class RowNoise:
    """Exact noise of scores that are means of row values, of independent rows.

    Attributes
    ----------
    values : ndarray of shape (n_runs, n_rows), or list of n_runs arrays
        Value of each row in each run, real or boolean.
    """

    values: Any

    def average(self, runs: Sequence[int] | NDArray[np.intp]) -> NDArray[Any]:
        """Average over some runs, (n_rows,)."""
        if len(runs) == 1:
            return np.asarray(self.values[runs[0]])
        return np.asarray(sum_of_runs([self.values[run] for run in runs]) / len(runs))

    def variance(self, series: NDArray[Any]) -> float:
        """Variance of the mean of the rows."""
        n = len(series)
        if series.dtype == bool:
            share = np.count_nonzero(series) / n
            return share * (1 - share) / (n - 1)
        return _variance(series) / n


def sum_of_runs(runs: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Sum over runs, row by row.

    Parameters
    ----------
    runs : sequence of ndarrays of shape (n_rows,)
        Values of the rows in each run, real or boolean.

    Returns
    -------
    ndarray of shape (n_rows,)
        Whole numbers if all runs are boolean.
    """
    if any(values.dtype != bool for values in runs):
        total = np.zeros(len(runs[0]))
        for values in runs:
            total += values
        return total
    # Bytes are added 10 times as fast as floats: 1.4 times in `bootstrap_runs` of 50 runs on 1e6
    # rows, although only 1.04 times for 20 runs on 20,000.
    hits = np.zeros(len(runs[0]), np.min_scalar_type(len(runs)))
    for flags in runs:
        hits += flags.view(np.uint8)
    return hits


@dataclass(frozen=True, eq=False)
class ResampleNoise:
    """Noise of any score, from its replicates on common test resamples.

    Attributes
    ----------
    replicates : ndarray of shape (n_runs, n_resamples)
        Score of each run on each resample, all defined.
    inflation : float
        What the variance of resamples is multiplied by: n / (n - 1) for n units, since a
        resample is drawn from the data and not from the population.
    """

    replicates: Floats
    inflation: float = 1.0

    def average(self, runs: Sequence[int] | NDArray[np.intp]) -> NDArray[Any]:
        """Average over some runs, (n_resamples,)."""
        return np.asarray(self.replicates[np.asarray(runs)].mean(axis=0))

    def variance(self, series: NDArray[Any]) -> float:
        """Variance over resamples."""
        return _variance(series) * self.inflation


class Moments(NamedTuple):
    """Scores of k members (runs, or averages of runs) and their noise from the test units.

    Attributes
    ----------
    scores : ndarray of shape (k,)
        Score of each.
    variances : ndarray of shape (k,)
        Variance of each over test units.
    of_mean : float
        Variance of their mean over test units.
    """

    scores: Floats
    variances: Floats
    of_mean: float

    @property
    def n(self) -> int:
        """Number of members."""
        return len(self.scores)

    @property
    def centre(self) -> float:
        """Mean score."""
        return float(self.scores.mean())

    @property
    def single(self) -> float:
        """Variance over test units of one member."""
        return float(self.variances.mean())

    @property
    def between(self) -> float:
        """Variance between members, which holds the test noise of each; NaN for one member."""
        return _variance(self.scores) if self.n > 1 else np.nan

    @property
    def interaction(self) -> float:
        """Part of `between` that is test noise: c = k / (k - 1) (mean v - v of the mean)."""
        if self.n < 2:
            return np.nan
        difference = self.single - self.of_mean
        if difference <= _ROUNDING * self.single:
            return 0.0
        return self.n / (self.n - 1) * difference


def moments(
    scores: Floats, noise: UnitNoise, members: Sequence[Sequence[int] | NDArray[np.intp]]
) -> Moments:
    """Moments of averages of runs.

    Parameters
    ----------
    scores : ndarray of shape (n_runs,)
        Score of each run.
    noise : UnitNoise
        Of the same runs.
    members : sequence of sequences of int
        Each member is the average of these runs.

    Returns
    -------
    Moments
    """
    of_members = np.array([scores[np.asarray(member)].mean() for member in members])
    if all(len(member) == 1 for member in members):
        variances = [noise.variance(noise.average(member)) for member in members]
        mean_series = noise.average([member[0] for member in members])
    else:
        variances = []
        total: Any = 0.0
        for member in members:
            series = noise.average(member)
            variances.append(noise.variance(series))
            total = total + series
        mean_series = total / len(members)
    return Moments(of_members, np.array(variances), noise.variance(mean_series))


def least_test_variance(n_rows: int) -> Callable[[float], float]:
    """Lower bound of the test variance of 0/1 losses, which is 0 where no run makes an error.

    Parameters
    ----------
    n_rows : int
        Number of test rows n.

    Returns
    -------
    callable
        From a variance v to the larger of v and (v + z^2 / 4n^2) / (1 + z^2 / n)^2, the variance
        of the score interval (Wilson 1927) with v in the place of p (1 - p) / n: averaged over
        runs that disagree, v is rightly smaller than p (1 - p) / n.
    """
    square = _WILSON_Z**2 / n_rows

    def at_least(variance: float) -> float:
        return max(variance, (variance + square / (4 * n_rows)) / (1 + square) ** 2)

    return at_least


def _unchanged(variance: float) -> float:
    return variance


# ------------------------------------------------------------------ parts of t intervals


def crossed_runs(
    runs: Moments,
    test_df: float,
    *,
    n_units: int,
    source: str,
    floor: Callable[[float], float] = _unchanged,
) -> RunVariance:
    """Runs that are independent draws of what varies: seeds, or fresh training sets.

    Parameters
    ----------
    runs : Moments
        Of S >= 2 runs.
    test_df : float
        Degrees of freedom of the test units.
    n_units : int
        Number of test units.
    source : {"seed", "training"}
        What the runs differ in.
    floor : callable
        Least test variance.

    Returns
    -------
    RunVariance

    Notes
    -----
    With A, c and te as in the module's docstring and a = max(A - c, 0), the variance of the mean
    is V = a / S + max(te, c / S), that of the prediction (1 + 1/S) a + max(te, c / S) + v, v the
    test variance of one run. The degrees of freedom are Satterthwaite's over the mean squares
    (Searle, Casella & McCulloch 1992, section 4.5; Satterthwaite 1946).
    """
    n, between, c = runs.n, runs.between, runs.interaction
    te, single = floor(runs.of_mean), floor(runs.single)
    a = _positive(between - c, between)
    test = max(te - c / n, 0.0)
    zero = Components(0.0, 0.0, 0.0, 0.0)
    of_mean = zero._replace(**{source: a / n}, test=test, interaction=c / n)
    of_next = zero._replace(
        **{source: a * (1 + 1 / n)},
        test=test + max(single - c, 0.0),
        interaction=c / n + min(c, single),
    )

    def interval(sources: Components, weight: float, noise: float) -> TIntervalParts:
        mean_squares = (weight * between, n - 1), (noise, test_df), (weight * c, (n - 1) * test_df)
        return _t_interval_parts(runs.centre, sources, mean_squares)

    components = Components(np.nan, np.nan, test * n_units, c * n_units)._replace(**{source: a})
    clipped = [source] if between < c * (1 - _ROUNDING) else []
    # Where the floor lifts the test variance, the component is above 0 after all.
    if test == 0 and runs.of_mean < c / n * (1 - _ROUNDING):
        clipped.append("test")
    return RunVariance(
        components,
        interval(of_mean, 1 / n, te),
        interval(of_next, 1 + 1 / n, te + single),
        tuple(clipped),
    )


class Within(NamedTuple):
    """Seeds within training samples.

    Attributes
    ----------
    seed : float
        Variance between seeds, its test noise taken out and clipped at 0; NaN if no training
        sample has two runs.
    variance : float
        The same before that.
    n_seeds : float
        Seeds per training sample (harmonic mean).
    degrees_of_freedom : int
        Runs less training samples.
    single : float
        Test variance of one run.
    """

    seed: float
    variance: float
    n_seeds: float
    degrees_of_freedom: int
    single: float


def within_samples(scores: Floats, noise: UnitNoise, members: Sequence[NDArray[np.intp]]) -> Within:
    """Variance between seeds, pooled over the training samples with several runs.

    Parameters
    ----------
    scores : ndarray of shape (n_runs,)
        Score of each run.
    noise : UnitNoise
        Of the same runs.
    members : sequence of ndarrays of int
        Runs of each training sample.

    Returns
    -------
    Within
    """
    n_seeds = len(members) / sum(1 / len(member) for member in members)
    squares = interaction = single = 0.0
    df = 0
    for member in members:
        runs = moments(scores, noise, [[run] for run in member])
        single += runs.single * runs.n
        if runs.n > 1:
            squares += runs.between * (runs.n - 1)
            interaction += runs.interaction * (runs.n - 1)
            df += runs.n - 1
    single /= sum(len(member) for member in members)
    if df == 0:
        return Within(np.nan, np.nan, n_seeds, 0, single)
    variance = squares / df
    return Within(_positive(variance - interaction / df, variance), variance, n_seeds, df, single)


def trained_runs(
    samples: Moments,
    within: Within,
    full: Moments,
    test_df: float,
    *,
    n_units: int,
    floor: Callable[[float], float] = _unchanged,
) -> RunVariance:
    """Runs on bootstrap samples of the training set, centred at runs on the full set.

    Parameters
    ----------
    samples : Moments
        Of K >= 2 training samples, each averaged over its seeds.
    within : Within
        Seeds within training samples.
    full : Moments
        Of the S runs on the full list.
    test_df : float
        Degrees of freedom of the test units.
    n_units : int
        Number of test units.
    floor : callable
        Least test variance.

    Returns
    -------
    RunVariance
        ``seed`` is NaN, and ``training`` holds both, where no sample has two runs.

    Notes
    -----
    V = max(A - c, 0) + te: the training variance is not divided by K, since all K samples are of
    one list. A holds the seeds' part; taking it out before adding it again would ruin the degrees
    of freedom V^2 / (A^2 / (K - 1) + te^2 / test_df). Where the full list was run with fewer
    seeds than the samples, the difference is added. The prediction has
    2 tr + (1 + 1/S) seed + te + v, with tr = max(A - c - seed / S, 0) and v the test variance of
    one run: the new training set and the given one, the new seed, the new test rows.
    """
    between, c, n_full = samples.between, samples.interaction, full.n
    seed = 0.0 if np.isnan(within.seed) else within.seed
    te, single = floor(full.of_mean), floor(full.single)
    training = _positive(between - c - seed / within.n_seeds, between)
    # Rounding aside, training + seeds is max(A - c, 0) where the full list has as many seeds as
    # each sample.
    extra = seed * max(1 / n_full - 1 / within.n_seeds, 0.0)
    seeds = _positive(between - c, between) - training + extra
    test = max(samples.of_mean - c / samples.n, 0.0)
    interaction = max(within.single - test, 0.0)
    of_centre = min(interaction / n_full, te)
    of_run = min(interaction, single)
    of_method = Components(training, seeds, te - of_centre, of_centre)
    of_next = Components(
        2 * training,
        (1 + 1 / n_full) * seed,
        te + single - of_centre - of_run,
        of_centre + of_run,
    )
    terms = (between, samples.n - 1), (extra, within.degrees_of_freedom), (te, test_df)
    # The variance between samples holds seed / n_seeds: the rest is added with its own freedom.
    rest = abs(1 + 1 / n_full - 2 / within.n_seeds) * (seed and within.variance)
    terms_of_next = (
        (2 * between, samples.n - 1),
        (rest, within.degrees_of_freedom),
        (te + single, test_df),
    )
    clipped = []
    if between - c < seed / within.n_seeds - _ROUNDING * between:
        clipped.append("training")
    if within.seed == 0 and within.variance > 0:
        clipped.append("seed")
    return RunVariance(
        Components(training, within.seed, test * n_units, interaction * n_units),
        _t_interval_parts(full.centre, of_method, terms, LEAST_DF),
        _t_interval_parts(full.centre, of_next, terms_of_next, LEAST_DF),
        tuple(clipped),
    )


def over_runs_alone(scores: Floats) -> TIntervalParts:
    """Mean of runs with its standard error sd / sqrt(S): the test units are held fixed.

    Parameters
    ----------
    scores : ndarray of shape (n_runs,)
        At least two scores.

    Returns
    -------
    TIntervalParts
        With S - 1 degrees of freedom; all of it counts as the seeds' part.
    """
    sources = Components(0.0, _variance(scores) / len(scores), 0.0, 0.0)
    error = float(np.sqrt(sources.seed))
    return TIntervalParts(float(scores.mean()), error, len(scores) - 1.0, sources)


# ------------------------------------------------------------------ steps


def _t_interval_parts(
    centre: float,
    sources: Components,
    terms: Sequence[tuple[float, float]],
    least_df: float = 0.0,
) -> TIntervalParts:
    """Return the parts of a t interval whose squared standard error is the sum of the sources.

    ``terms`` are the mean squares that the sum is estimated from, each with its degrees of freedom.
    """
    variance = sum(sources)
    df = satterthwaite(variance, terms, otherwise=max(df for _, df in terms))
    df = max(df, least_df)
    return TIntervalParts(centre, float(np.sqrt(variance)), float(df), sources)


def satterthwaite(
    variance: float, terms: Sequence[tuple[float, float]], *, otherwise: float
) -> float:
    """Degrees of freedom of a sum of mean squares (Satterthwaite 1946).

    Parameters
    ----------
    variance : float
        The sum.
    terms : sequence of tuple (mean square, degrees of freedom)
    otherwise : float
        Degrees of freedom where all mean squares are 0.

    Returns
    -------
    float
    """
    size = size_of(variance)
    squares = sum((square / size) ** 2 / df for square, df in terms if square > 0)
    return (variance / size) ** 2 / squares if squares > 0 else otherwise


def _positive(difference: float, scale: float) -> float:
    """Return a difference of variances, 0 where it is negative or rounding."""
    return difference if difference > _ROUNDING * scale else 0.0


def _variance(values: NDArray[Any]) -> float:
    """Return the variance with divisor n - 1, exactly 0 for equal values."""
    if len(values) < 2:
        return float("nan")
    return float(np.var(values, ddof=1)) if np.any(values != values[0]) else 0.0
