"""Intervals from several runs of one method on one test set, by variance components.

The runs and the test units are a crossed design. The score of a run varies with its training sample
and its seed, the mean over runs varies with the test units, and the difference between two runs
varies with the test units too (interaction). `UnitNoise` gives the variance over test units of the
average of some runs: from the rows where the score is a mean of row values, else from the
resamples. `crossed_runs` and `trained_runs` turn it into the parts of the intervals for the method
and for the next run.

Variances of scores enter as A, the variance between runs (it holds test noise: each run's own),
c, the interaction's part of it, and te, the variance of the mean over runs that is due to the test
units. In the terms of the analysis of variance of S runs on n units, A = MS_run / n,
c = MS_residual / n and te = MS_unit / (S n).

`RunsEvidence` holds the numbers of one set of runs; `runs_interval` makes the interval for an
estimand from them: "method" and "next_run" from variance components, "pooled" from all replicates
of all runs, "system" from the first run alone. `RunsDifference` is of two methods,
`Outperformance` says how often a run of one beats a run of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import ceil
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats
from scipy.special import ndtri

from .._base.errors import collected, fail, say, tell
from .._base.values import size_of
from ..metrics.means import mean_of_values
from ..resampling.design import GroupDesign
from ..resampling.plan import ResamplingPlan
from ._tuning import FEW_EVENTS, LEAST_DF
from .automatic import (
    IntervalWithNotes,
    automatic_interval,
    caution_of_distances,
    cautions_of,
    estimated_bias,
)
from .distribution import BoundStatistic, bootstrap
from .evidence import ConfidenceInterval, DrawnUnits, Evidence, notes_of_cut, within_range
from .intervals import confidence_interval, quantile
from .proportions import score_limits

Floats = NDArray[np.float64]

# Share of the larger variance below which the difference of two variances is rounding.
_VARIANCE_ROUNDING = 1e-12
# Normal quantile (standard errors) of the Wilson interval whose variance is the least one. It is
# that of 95% at every level: a bound of the variance needs no exact level (record 0022).
_WILSON_Z = 1.96

ESTIMANDS = ("system", "method", "next_run", "pooled")
# Names of intervals by estimand, the automatic one first; those of "system" are `INTERVALS`.
RUN_METHODS = {
    "method": ("components", "t"),
    "next_run": ("components",),
    "pooled": ("percentile",),
}
# Sources of variance, in words.
SOURCES = {
    "runs": "runs",
    "training": "training samples",
    "seed": "seeds",
    "test": "test units",
    "interaction": "interaction of runs and test units",
}
# Narrowing of an interval that is not worth advice.
_WORTH = 0.01
MEANINGFUL = 0.75
"""P(A > B) from which a method is called meaningfully better (Bouthillier et al. 2021)."""


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
        Variance of the interaction of a run with a test unit, and of all that is left.
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
        Standard error of the centre, or of the prediction.
    degrees_of_freedom : float
        Degrees of freedom by Satterthwaite's rule.
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
        if difference <= _VARIANCE_ROUNDING * self.single:
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
        Noise of the same runs.
    members : sequence of sequences of int
        Each member is the average of these runs.

    Returns
    -------
    Moments
    """
    member_scores = np.array([scores[np.asarray(member)].mean() for member in members])
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
    return Moments(member_scores, np.array(variances), noise.variance(mean_series))


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


# ------------------------------------------------------------------ parts of t intervals


def crossed_runs(
    runs: Moments,
    test_df: float,
    *,
    n_units: int,
    source: str,
    floor: Callable[[float], float] = float,
) -> RunVariance:
    """Runs that are independent draws of what varies: seeds, or fresh training sets.

    Parameters
    ----------
    runs : Moments
        Moments of S >= 2 runs.
    test_df : float
        Degrees of freedom of the test units.
    n_units : int
        Number of test units.
    source : {"seed", "training"}
        What the runs differ in.
    floor : callable
        Least test variance; that of the runs itself by default.

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
    parts_of_mean = zero._replace(**{source: a / n}, test=test, interaction=c / n)
    parts_of_next = zero._replace(
        **{source: a * (1 + 1 / n)},
        test=test + max(single - c, 0.0),
        interaction=c / n + min(c, single),
    )

    def interval(sources: Components, weight: float, noise: float) -> TIntervalParts:
        mean_squares = (weight * between, n - 1), (noise, test_df), (weight * c, (n - 1) * test_df)
        return _t_interval_parts(runs.centre, sources, mean_squares)

    components = Components(np.nan, np.nan, test * n_units, c * n_units)._replace(**{source: a})
    clipped = [source] if between < c * (1 - _VARIANCE_ROUNDING) else []
    # Where the floor lifts the test variance, the component is above 0 after all.
    if test == 0 and runs.of_mean < c / n * (1 - _VARIANCE_ROUNDING):
        clipped.append("test")
    return RunVariance(
        components,
        interval(parts_of_mean, 1 / n, te),
        interval(parts_of_next, 1 + 1 / n, te + single),
        tuple(clipped),
    )


class SeedVariance(NamedTuple):
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


def within_samples(
    scores: Floats, noise: UnitNoise, members: Sequence[NDArray[np.intp]]
) -> SeedVariance:
    """Variance between seeds, pooled over the training samples with several runs.

    Parameters
    ----------
    scores : ndarray of shape (n_runs,)
        Score of each run.
    noise : UnitNoise
        Noise of the same runs.
    members : sequence of ndarrays of int
        Runs of each training sample.

    Returns
    -------
    SeedVariance
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
        return SeedVariance(np.nan, np.nan, n_seeds, 0, single)
    variance = squares / df
    return SeedVariance(
        _positive(variance - interaction / df, variance), variance, n_seeds, df, single
    )


def trained_runs(
    samples: Moments,
    within: SeedVariance,
    full: Moments,
    test_df: float,
    *,
    n_units: int,
    floor: Callable[[float], float] = float,
) -> RunVariance:
    """Runs on bootstrap samples of the training set, centred at runs on the full set.

    Parameters
    ----------
    samples : Moments
        Moments of K >= 2 training samples, each averaged over its seeds.
    within : SeedVariance
        Seeds within training samples.
    full : Moments
        Moments of the S runs on the full list.
    test_df : float
        Degrees of freedom of the test units.
    n_units : int
        Number of test units.
    floor : callable
        Least test variance; that of the runs itself by default.

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
    centre_interaction = min(interaction / n_full, te)
    run_interaction = min(interaction, single)
    parts_of_method = Components(training, seeds, te - centre_interaction, centre_interaction)
    parts_of_next = Components(
        2 * training,
        (1 + 1 / n_full) * seed,
        te + single - centre_interaction - run_interaction,
        centre_interaction + run_interaction,
    )
    terms = (between, samples.n - 1), (extra, within.degrees_of_freedom), (te, test_df)
    # The variance between samples holds seed / n_seeds: the rest is added with its own freedom.
    seed_variance = abs(1 + 1 / n_full - 2 / within.n_seeds) * (seed and within.variance)
    terms_of_next = (
        (2 * between, samples.n - 1),
        (seed_variance, within.degrees_of_freedom),
        (te + single, test_df),
    )
    clipped = []
    if between - c < seed / within.n_seeds - _VARIANCE_ROUNDING * between:
        clipped.append("training")
    if within.seed == 0 and within.variance > 0:
        clipped.append("seed")
    return RunVariance(
        Components(training, within.seed, test * n_units, interaction * n_units),
        _t_interval_parts(full.centre, parts_of_method, terms, LEAST_DF),
        _t_interval_parts(full.centre, parts_of_next, terms_of_next, LEAST_DF),
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
    return difference if difference > _VARIANCE_ROUNDING * scale else 0.0


def _variance(values: NDArray[Any]) -> float:
    """Return the variance with divisor n - 1, exactly 0 for equal values."""
    if len(values) < 2:
        return float("nan")
    return float(np.var(values, ddof=1)) if np.any(values != values[0]) else 0.0


# ------------------------------------------------------------------ intervals by estimand


@dataclass(frozen=True, eq=False)
class RunsEvidence:
    """Scores and replicates of several runs of one method, with their variance components.

    Attributes
    ----------
    varied : {"seed", "training", "both", "independent"}
        In what the runs differ.
    scores : ndarray of shape (n_runs,)
        Score of each run.
    full_scores : ndarray of shape (n_full_runs,)
        Score of each run on the full training set, where the others are on samples of it.
    replicates : ndarray of shape (n_runs, n_resamples)
        Score of each run on each test resample; NaN where undefined.
    components : Components
        Variance by source, per run and test unit.
    method, next_run, seeds : TIntervalParts or None
        Parts of the t intervals; None where refused. ``seeds`` holds the test units fixed.
    refused : dict
        Reason why an estimand, or the interval "t", is refused.
    system : Evidence
        Evidence of the first run alone.
    n_test_units : int
        Test units; of the factor with the fewest where there are two.
    n_rows : int
        Test rows.
    bounds : tuple of float
        Range of the metric.
    zero_one_sign : float
        1 or -1 where the metric is a proportion of 0/1 losses, or its negative; else 0.
    exact : bool
        Whether test variances are computed from the rows, without resamples.
    """

    varied: str
    scores: Floats
    full_scores: Floats
    replicates: Floats
    components: Components
    method: TIntervalParts | None
    next_run: TIntervalParts | None
    seeds: TIntervalParts | None
    refused: dict[str, str]
    system: Evidence
    n_test_units: int
    n_rows: int
    bounds: tuple[float, float]
    zero_one_sign: float = 0.0
    exact: bool = False

    def __post_init__(self) -> None:
        for name in ("scores", "full_scores", "replicates"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def to_parts(self) -> dict[str, Any]:
        """Return dicts, tuples, numbers and arrays, for a file."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        parts["system"] = self.system.to_parts()
        parts["components"] = tuple(self.components)
        for name in ("method", "next_run", "seeds"):
            if (spread := parts[name]) is not None:
                parts[name] = (*spread[:3], tuple(spread.parts))
        return parts

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> RunsEvidence:
        """Rebuild from what `to_parts` returned."""
        spreads = {}
        for name in ("method", "next_run", "seeds"):
            if parts[name] is not None:
                centre, error, df, of_source = parts[name]
                spreads[name] = TIntervalParts(centre, error, df, Components(*of_source))
        rebuilt = {
            "components": Components(*parts["components"]),
            "system": Evidence.of(**parts["system"]),
        }
        return cls(**(parts | rebuilt | spreads))


def runs_interval(
    evidence: RunsEvidence, estimand: str, method: str = "auto", confidence_level: float = 0.95
) -> IntervalWithNotes:
    """Interval for an estimand, from one set of runs.

    Parameters
    ----------
    evidence : RunsEvidence
        Evidence of the runs.
    estimand : {"method", "next_run", "pooled", "system"}
        Quantity that the interval is for.
    method : str
        "auto", or a name: "components" or "t" for the method, "components" for the next run,
        "percentile" for the pool, any of `skboot.inference.intervals.INTERVALS` for the system.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    IntervalWithNotes
        The interval with its notes.

    Raises
    ------
    ValueError
        If the runs do not identify the estimand, or the estimand does not have the method.
    """
    if estimand == "system" and method == "auto":
        return automatic_interval(evidence.system, confidence_level)
    with collected() as all_notes:
        if estimand == "system":
            interval = confidence_interval(evidence.system, method, confidence_level)
        else:
            check_method("method", estimand, method)
            if estimand in evidence.refused:
                raise ValueError(evidence.refused[estimand])
            if estimand == "pooled":
                # The percentiles of all replicates of all runs.
                tell(*caution_of_distances(evidence.system))
                pool = Evidence(
                    float(evidence.scores.mean()),
                    evidence.replicates.ravel(),
                    DrawnUnits("rows", evidence.replicates.shape[1:]),
                )
                interval = confidence_interval(pool, "percentile", confidence_level)
            elif method == "t":
                if evidence.seeds is None:
                    raise ValueError(evidence.refused["t"])
                interval = _t_interval(evidence.seeds, confidence_level, "t")
            else:
                spread = evidence.method if estimand == "method" else evidence.next_run
                assert spread is not None
                interval = _t_interval(spread, confidence_level, "components")
                if method == "auto":
                    interval = _correct_and_widen(evidence, estimand, spread, interval)
            interval = within_range(interval, evidence.bounds)
    # Those on the number of resamples are of the call, not of the interval.
    tell(*(note for note in all_notes if note.kind == "resamples"))
    notes = (note for note in all_notes if note.kind != "resamples")
    return IntervalWithNotes(interval, (*notes, *notes_of_cut(interval)))


def _t_interval(spread: TIntervalParts, level: float, method: str) -> ConfidenceInterval:
    half = float(stats.t.ppf(0.5 + level / 2, spread.degrees_of_freedom)) * spread.standard_error
    return ConfidenceInterval(spread.centre - half, spread.centre + half, level, method)


def _correct_and_widen(
    evidence: RunsEvidence, estimand: str, spread: TIntervalParts, interval: ConfidenceInterval
) -> ConfidenceInterval:
    """Return the interval corrected for bias, and widened for few errors or hits; warn of both.

    The bias that the interval of one run is free of is of the metric on so many test rows, and
    averages over runs have it as well.
    """
    system, level = evidence.system, interval.confidence_level
    # What makes an interval of one run unreliable, such as few groups, does so for all of them.
    tell(*dict.fromkeys((*cautions_of(system, several_runs=True), *caution_of_distances(system))))
    with collected():
        alone = automatic_interval(system, level).interval
    if alone.method in ("jackknife", "bias-corrected"):
        bias, source = estimated_bias(alone, system)
        say(
            "choice",
            f"The score of a run has a bias of {bias:+.3g} by {source}, which the mean over runs "
            "has too: the interval is corrected for it.",
        )
        interval = interval._with_limits(interval.low - bias, interval.high - bias)
    n, sign = evidence.n_test_units, evidence.zero_one_sign
    share = spread.centre * sign
    # Errors of one group are dependent: their number of rows does not count, unless it is 0.
    fewest = FEW_EVENTS if n == evidence.n_rows else 1e-9
    if not (sign and evidence.n_rows * min(share, 1 - share) < fewest):
        return interval
    unit = "rows" if n == evidence.n_rows else "test units"
    say(
        "choice",
        f"{'Few' if fewest > 1 else 'No'} errors or hits per run: the interval is widened to "
        f"the Wilson interval of the number of {unit} with the same variance.",
    )
    # Score limits with a quantile of Student's t.
    n_rows = n / 2 if estimand == "next_run" else n
    binomial = share * (1 - share)
    carried = binomial / spread.standard_error**2 if binomial > 0 else n_rows
    t = float(stats.t.ppf(0.5 + level / 2, spread.degrees_of_freedom))
    limits = score_limits(share, float(np.clip(carried, 1, n_rows)), t)
    wilson = [sign * limit for limit in limits]
    low, high = interval
    return interval._with_limits(min(low, *wilson), max(high, *wilson))


def check_method(argument: str, estimand: str, method: str) -> None:
    """Refuse the name of an interval that an estimand over runs does not have."""
    methods = RUN_METHODS[estimand]
    if method in ("auto", *methods):
        return
    names = " or ".join(repr(name) for name in ("auto", *methods))
    advice = "The percentiles of all runs are estimand='pooled'." if method == "percentile" else ""
    raise fail(argument, f"be {names} for the estimand {estimand!r}", repr(method), advice)


def monte_carlo_error(
    evidence: RunsEvidence, estimand: str, interval: ConfidenceInterval
) -> tuple[float, float]:
    """Standard errors of the limits that are due to the finite number of resamples.

    Notes
    -----
    A variance over B resamples has relative standard error sqrt(2 / B), and only the test units'
    part of V is one: half-width x share / sqrt(2 B). For the pool: from 20 batches of resamples.
    """
    (low, high), level, method = interval, interval.confidence_level, interval.method
    n_resamples = evidence.replicates.shape[1]
    if estimand == "pooled":
        tail, n_batches = (1 - level) / 2, 20
        batches = np.array_split(evidence.replicates, n_batches, axis=1)
        pools = [np.sort(batch[~np.isnan(batch)]) for batch in batches]
        if min(len(pool) for pool in pools) * tail < 1:
            return float("nan"), float("nan")
        limits = np.array([[quantile(pool, tail), quantile(pool, 1 - tail)] for pool in pools])
        errors = limits.std(axis=0, ddof=1) / np.sqrt(n_batches)
        return float(errors[0]), float(errors[1])
    if method == "t" or evidence.exact:
        return 0.0, 0.0
    spread = evidence.method if estimand == "method" else evidence.next_run
    if spread is None or spread.standard_error == 0:
        return 0.0, 0.0
    noise = (spread.parts.test + spread.parts.interaction) / spread.standard_error**2
    error = (high - low) / 2 * noise / np.sqrt(2 * n_resamples)
    return float(error), float(error)


# ------------------------------------------------------------------ differences of methods
#
# The runs of two methods are independent draws (other seeds, other training samples), the test
# units are the same: the variances of the runs add, the test variance is that of the difference.
# With runs that belong together pair by pair, such as the same training sample for both, the
# differences per pair are the runs of one method.


class RunsDifference(NamedTuple):
    """Difference of two methods, with its standard error and degrees of freedom.

    Attributes
    ----------
    difference : float
        Mean score of the first less that of the second.
    standard_error : float
        Standard error of the difference.
    degrees_of_freedom : float
        Degrees of freedom of the t interval.
    of_runs : float
        Part of the squared standard error that more runs would lessen; NaN if not identified.
    of_test : float
        Part that more test units would lessen; NaN if not identified.
    of_both : float
        Part of ``of_test`` that more runs would lessen as well: their interaction.
    """

    difference: float
    standard_error: float
    degrees_of_freedom: float
    of_runs: float = np.nan
    of_test: float = np.nan
    of_both: float = 0.0

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Limits of the t interval."""
        half = float(special.stdtrit(self.degrees_of_freedom, 0.5 + confidence_level / 2))
        half *= self.standard_error
        return self.difference - half, self.difference + half

    @property
    def statistic(self) -> float:
        """The difference by its standard error; NaN without any spread."""
        return self.difference / self.standard_error if self.standard_error > 0 else np.nan

    @property
    def p_value(self) -> float:
        """Two-sided; 1 for a difference of 0 without any spread."""
        if self.standard_error == 0:
            return 1.0 if self.difference == 0 else 0.0
        t = abs(self.difference) / self.standard_error
        return float(2 * special.stdtr(self.degrees_of_freedom, -t))


def components_difference(
    moments_a: Moments,
    moments_b: Moments | None,
    of_mean: float,
    test_df: float,
    *,
    divided: bool = True,
    seeds: Sequence[tuple[float, float]] = (),
) -> RunsDifference:
    """Difference by variance components: runs and test units vary.

    Parameters
    ----------
    moments_a : Moments
        Moments of the runs of the first method, or of the differences of paired runs.
    moments_b : Moments or None
        Moments of the second; None for paired runs.
    of_mean : float
        Variance over test units of the difference of the means.
    test_df : float
        Degrees of freedom of the test units.
    divided : bool
        Whether more runs lessen the variance between them; not so where the runs are bootstrap
        samples of one training set.
    seeds : sequence of tuple (variance, degrees of freedom)
        What the seeds of the runs on the whole training set add, for each method.

    Returns
    -------
    RunsDifference

    Notes
    -----
    With A the variance between the runs of a method, c the part of it that is test noise and S
    their number, V = sum of max(A - c, 0) / S over both methods + max(te, sum of c / S). Where the
    runs are bootstrap samples of one training set, V = sum of max(A - c, 0) + te + the part of the
    seeds. The degrees of freedom are Satterthwaite's over the mean squares, as for one method
    (`skboot.inference.runs.crossed_runs` and `trained_runs`).
    """
    sides = [moments_a] if moments_b is None else [moments_a, moments_b]
    centre = moments_a.centre - (0.0 if moments_b is None else moments_b.centre)
    run_variance, noise, terms = 0.0, 0.0, []
    for side in sides:
        weight = 1 / side.n if divided else 1.0
        run_variance += max(side.between - side.interaction, 0.0) * weight
        terms.append((weight * side.between, side.n - 1.0))
        if divided:
            noise += side.interaction / side.n
            terms.append((side.interaction / side.n, (side.n - 1) * test_df))
    run_variance += sum(variance for variance, _ in seeds)
    test = max(of_mean, noise)
    total = run_variance + test
    terms += [*seeds, (test, test_df)]
    df = satterthwaite(total, terms, otherwise=test_df)
    # The test noise within A, which V lacks, can leave next to no degrees of freedom.
    least = 1.0 if divided else LEAST_DF
    return RunsDifference(centre, float(np.sqrt(total)), max(df, least), run_variance, test, noise)


def welch_difference(scores_a: Floats, scores_b: Floats | None) -> RunsDifference:
    """Difference over the runs alone, the test units held fixed.

    Parameters
    ----------
    scores_a : ndarray of shape (n_first,)
        Scores of the runs of the first method, or differences of paired runs.
    scores_b : ndarray of shape (n_second,) or None
        Scores of the second; None for paired runs.

    Returns
    -------
    RunsDifference

    References
    ----------
    Welch (1947), Biometrika 34, 28-35; paired runs: Student's t.
    """
    sides = [scores for scores in (scores_a, scores_b) if scores is not None]
    variances = [float(np.var(scores, ddof=1)) / len(scores) for scores in sides]
    centre = float(sides[0].mean() - (sides[1].mean() if len(sides) > 1 else 0.0))
    freedom = [len(scores) - 1.0 for scores in sides]
    total = sum(variances)
    df = satterthwaite(total, list(zip(variances, freedom, strict=True)), otherwise=min(freedom))
    return RunsDifference(centre, float(np.sqrt(total)), df, total, 0.0)


def advice_on(noun: str, sources: Mapping[str, float], savings: Mapping[str, float]) -> str:
    """Say where a variance comes from, and how much twice as many of each would narrow an interval.

    Parameters
    ----------
    noun : str
        What varies.
    sources : mapping of str to float
        Parts of the variance, by the names in `SOURCES`.
    savings : mapping of str to float
        What twice as many would save of it, by what there would be more of.

    Returns
    -------
    str
        Without a full stop. What would hardly narrow the interval is named as such.
    """
    variance = sum(sources.values())
    shares = {SOURCES[name]: part / variance for name, part in sources.items() if part > 0}
    largest_first = sorted(shares.items(), key=lambda share: -share[1])
    parts = ", ".join(f"{name} ({100 * share:.0f}%)" for name, share in largest_first)
    gains = {
        lever: 1 - np.sqrt(max(1 - saving / variance, 0.0)) for lever, saving in savings.items()
    }
    helpful = sorted((lever for lever in gains if gains[lever] >= _WORTH), key=lambda k: -gains[k])
    idle = [lever for lever in gains if gains[lever] < _WORTH]
    sentences = [f"the variance of the {noun} comes from {parts}"]
    if helpful:
        largest, *smaller = (f"by about {100 * gains[lever]:.0f}%" for lever in helpful)
        phrases = [f"{helpful[0]} would narrow the interval {largest}"]
        phrases += [f"{lever} {gain}" for lever, gain in zip(helpful[1:], smaller, strict=True)]
        sentences.append(f"twice as many {', '.join(phrases)}")
    if idle:
        sentences.append(f"more {' or '.join(idle)} would hardly narrow it")
    return "; ".join(sentences)


# ------------------------------------------------------------------ how often one beats another
#
# The difference of expected scores says which method is better on average; P(A > B) says how often
# a run of the first beats a run of the second that was trained on the same sample. Two methods of
# nearly equal mean can differ in it, and a large difference of means can come from few runs: report
# both.


class Outperformance(NamedTuple):
    """P(A > B) of two methods over paired runs.

    Attributes
    ----------
    probability : float
        Share of the pairs of runs in which the first method scored better, ties half.
    low, high : float
        Percentile interval over bootstrap samples of the pairs.
    confidence_level : float
        Confidence level of the interval.
    n_pairs : int
        Number of pairs of runs.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_runs
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, size=300)
    >>> runs = {name: [y_true ^ (rng.random(300) < rate) for _ in range(8)]
    ...         for name, rate in [("A", 0.1), ("B", 0.3)]}
    >>> result = compare_runs(y_true, runs, paired_runs=True, random_state=0)
    >>> wins = result.pairs[0].outperformance
    >>> wins.probability, wins.verdict
    (1.0, 'significant and meaningful')
    """

    probability: float
    low: float
    high: float
    confidence_level: float
    n_pairs: int

    @property
    def is_significant(self) -> bool:
        """Whether the interval lies on one side of .5."""
        return self.low > 0.5 or self.high < 0.5

    @property
    def verdict(self) -> str:
        """Verdict by the rule of Bouthillier et al. (2021), in favour of either method.

        "not significant" where the interval holds .5; "significant, not meaningful" where it does
        not reach beyond .75 (.25); else "significant and meaningful".
        """
        if not self.is_significant:
            return "not significant"
        farthest = max(self.high, 1 - self.low)
        return f"significant{', not' if farthest <= MEANINGFUL else ' and'} meaningful"

    def _mirrored(self) -> Outperformance:
        """Return P(B > A) with its interval."""
        return self._replace(probability=1 - self.probability, low=1 - self.high, high=1 - self.low)


def outperformance(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    samples: ArrayLike | None = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    seed: np.random.SeedSequence,
) -> Outperformance:
    """P(A > B) with its bootstrap interval.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_runs,)
        Scores of paired runs, larger is better; pairs with a NaN are left out.
    samples : array-like of shape (n_runs,), optional
        Training sample of each pair: pairs of one sample are drawn together.
    n_resamples : int
    confidence_level : float
    seed : numpy.random.SeedSequence

    Returns
    -------
    Outperformance
        All NaN without a pair. Where one method wins all pairs, every resample equals the data: the
        interval is then Wilson's, and [.5, .5] if all pairs are ties.

    References
    ----------
    Bouthillier et al. (2021), MLSys 3: section on P(A > B), with the percentile bootstrap.
    """
    a, b = np.asarray(scores_a, dtype=float), np.asarray(scores_b, dtype=float)
    defined = np.isfinite(a) & np.isfinite(b)
    n_pairs = int(np.count_nonzero(defined))
    if n_pairs == 0:
        return Outperformance(np.nan, np.nan, np.nan, confidence_level, 0)
    wins = np.where(a > b, 1.0, np.where(a == b, 0.5, 0.0))[defined]
    codes = np.arange(n_pairs)
    if samples is not None:
        codes = np.unique(np.asarray(samples)[defined], return_inverse=True)[1]
    share = float(wins.mean())
    if np.all(wins == wins[0]):
        low, high = share, share
        if wins[0] != 0.5:
            normal = float(ndtri(0.5 + confidence_level / 2))
            low, high = score_limits(share, int(codes.max()) + 1, normal)
        return Outperformance(share, low, high, confidence_level, n_pairs)
    statistic = mean_of_values()
    subject = BoundStatistic.of(statistic, statistic.reduce(None, wins, None))
    plan = ResamplingPlan(GroupDesign.of(codes), n_resamples, seed)
    [distribution] = bootstrap(plan.bind([subject.coding]), [subject])
    shares = np.sort(distribution.replicates)
    low, high = (quantile(shares, (1 + side * confidence_level) / 2) for side in (-1, 1))
    return Outperformance(share, low, high, confidence_level, n_pairs)


def pairs_needed(
    probability: float = MEANINGFUL, *, level: float = 0.05, power: float = 0.95
) -> int:
    """Number of paired runs that distinguishes P(A > B) from one half.

    Parameters
    ----------
    probability : float
        P(A > B) that a test is to find.
    level, power : float
        Level and power of the one-sided test.

    Returns
    -------
    int
        29 at the defaults.

    References
    ----------
    Noether (1987), JASA 82:645-647, for the sign test.
    """
    size = (ndtri(1 - level) + ndtri(power)) / (np.sqrt(6) * (0.5 - probability))
    return ceil(float(size**2))


def too_few_pairs(outperformances: Iterable[Outperformance | None]) -> list[str]:
    """Return a note where the fewest pairs of runs cannot distinguish .75 from one half."""
    fewest = min((shares.n_pairs for shares in outperformances if shares is not None), default=None)
    needed = pairs_needed()
    if fewest is None or fewest >= needed:
        return []
    return [
        f"P(A > B) is estimated from {fewest} pairs of runs: {needed} are needed to detect "
        f"{MEANINGFUL} against .5 with 5% errors of both kinds."
    ]
