"""Intervals from several runs of one method on one test set, by estimand.

`RunsEvidence` holds the numbers of one set of runs; `runs_interval` makes the interval for an
estimand from them: "method" and "next_run" from variance components, "pooled" from all
replicates of all runs, "system" from the first run alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from .._base.errors import collected, say, tell
from ._tuning import FEW_EVENTS, LEAST_DF
from .automatic import IntervalWithNotes, automatic_interval, bias_told
from .cautions import caution_of_distances, cautions_of
from .evidence import ConfidenceInterval, Drawn, Evidence, notes_of_cut, within_range
from .intervals import confidence_interval, quantile
from .proportions import score_limits
from .variance import Components, Moments, TIntervalParts, satterthwaite

Floats = NDArray[np.float64]

ESTIMANDS = ("system", "method", "next_run", "pooled")
# Names of intervals by estimand, the automatic one first; those of "system" are in intervals/.
RUN_METHODS = {
    "method": ("components", "t"),
    "next_run": ("components",),
    "pooled": ("percentile",),
}


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
        Of the first run alone.
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
        return (
            parts
            | {
                name: value and (*value[:3], tuple(value.parts))
                for name, value in self._spreads().items()
            }
            | {"components": tuple(self.components)}
        )

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

    def _spreads(self) -> dict[str, TIntervalParts | None]:
        return {"method": self.method, "next_run": self.next_run, "seeds": self.seeds}


def runs_interval(
    evidence: RunsEvidence, estimand: str, method: str = "auto", confidence_level: float = 0.95
) -> IntervalWithNotes:
    """Interval for an estimand, from one set of runs.

    Parameters
    ----------
    evidence : RunsEvidence
        Of the runs.
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
    with collected() as told:
        if estimand == "system":
            interval = confidence_interval(evidence.system, method, confidence_level)
        else:
            interval = _over_runs(evidence, estimand, method, confidence_level)
            interval = within_range(interval, evidence.bounds)
    # Those on the number of resamples are of the call, not of the interval.
    tell(*(note for note in told if note.kind == "resamples"))
    notes = (note for note in told if note.kind != "resamples")
    return IntervalWithNotes(interval, (*notes, *notes_of_cut(interval)))


def check_method(estimand: str, method: str) -> None:
    """Refuse the name of an interval that an estimand over runs does not have."""
    methods = RUN_METHODS[estimand]
    if method in ("auto", *methods):
        return
    names = " or ".join(repr(name) for name in ("auto", *methods))
    advice = " The percentiles of all runs are estimand='pooled'." if method == "percentile" else ""
    raise ValueError(
        f"The interval for the estimand {estimand!r} must be {names}. Got {method!r}.{advice}"
    )


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
        return _error_of_pool(evidence, level)
    if method == "t" or evidence.exact:
        return 0.0, 0.0
    spread = evidence.method if estimand == "method" else evidence.next_run
    if spread is None or spread.standard_error == 0:
        return 0.0, 0.0
    noise = (spread.parts.test + spread.parts.interaction) / spread.standard_error**2
    error = (high - low) / 2 * noise / np.sqrt(2 * n_resamples)
    return float(error), float(error)


# ------------------------------------------------------------------ steps


def _over_runs(
    evidence: RunsEvidence, estimand: str, method: str, level: float
) -> ConfidenceInterval:
    """Return the interval of an estimand that is about more runs than one; tell its notes."""
    check_method(estimand, method)
    if estimand in evidence.refused:
        raise ValueError(evidence.refused[estimand])
    if estimand == "pooled":
        tell(*caution_of_distances(evidence.system))
        return _pooled(evidence, level)
    if method == "t":
        if evidence.seeds is None:
            raise ValueError(evidence.refused["t"])
        return _t_interval(evidence.seeds, level, "t")
    spread = evidence.method if estimand == "method" else evidence.next_run
    assert spread is not None
    interval = _t_interval(spread, level, "components")
    if method != "auto":
        return interval
    # What makes an interval of one run unreliable, such as few groups, does so for all of them.
    of_one = evidence.system
    tell(*dict.fromkeys((*cautions_of(of_one, of_runs=True), *caution_of_distances(of_one))))
    return _widened(evidence, estimand, spread, _without_bias(evidence, interval))


def _t_interval(spread: TIntervalParts, level: float, method: str) -> ConfidenceInterval:
    half = float(stats.t.ppf(0.5 + level / 2, spread.degrees_of_freedom)) * spread.standard_error
    return ConfidenceInterval(spread.centre - half, spread.centre + half, level, method)


def _pooled(evidence: RunsEvidence, level: float) -> ConfidenceInterval:
    """Return the percentiles of all replicates of all runs."""
    pool = Evidence(
        float(evidence.scores.mean()),
        evidence.replicates.ravel(),
        Drawn("rows", evidence.replicates.shape[1:]),
    )
    return confidence_interval(pool, "percentile", level)


def _error_of_pool(evidence: RunsEvidence, level: float) -> tuple[float, float]:
    tail, n_batches = (1 - level) / 2, 20
    batches = np.array_split(evidence.replicates, n_batches, axis=1)
    pools = [np.sort(batch[~np.isnan(batch)]) for batch in batches]
    if min(len(pool) for pool in pools) * tail < 1:
        return float("nan"), float("nan")
    limits = np.array([[quantile(pool, tail), quantile(pool, 1 - tail)] for pool in pools])
    errors = limits.std(axis=0, ddof=1) / np.sqrt(n_batches)
    return float(errors[0]), float(errors[1])


def _without_bias(evidence: RunsEvidence, interval: ConfidenceInterval) -> ConfidenceInterval:
    """Return the interval moved by the bias that the interval of one run is free of.

    The bias is of the metric on so many test rows, and averages over runs have it as well.
    """
    of_one, level = evidence.system, interval.confidence_level
    with collected():
        alone = automatic_interval(of_one, level).interval
    if alone.method not in ("jackknife", "bias-corrected"):
        return interval
    bias, told_by = bias_told(alone, of_one)
    say(
        "choice",
        f"The score of a run has a bias of {bias:+.3g} by {told_by}, which the mean over runs has "
        "too: the interval is corrected for it.",
    )
    return interval.with_limits(interval.low - bias, interval.high - bias)


def _widened(
    evidence: RunsEvidence, estimand: str, spread: TIntervalParts, interval: ConfidenceInterval
) -> ConfidenceInterval:
    """Return the interval widened for few errors or hits."""
    n, sign = evidence.n_test_units, evidence.zero_one_sign
    share = spread.centre * sign
    # Errors of one group are dependent: their number of rows does not count, unless it is 0.
    few = FEW_EVENTS if n == evidence.n_rows else 1e-9
    if sign and evidence.n_rows * min(share, 1 - share) < few:
        unit = "rows" if n == evidence.n_rows else "test units"
        say(
            "choice",
            f"{'Few' if few > 1 else 'No'} errors or hits per run: the interval is widened to "
            f"the Wilson interval of the number of {unit} with the same variance.",
        )
        n_rows = n / 2 if estimand == "next_run" else n
        wilson = [sign * limit for limit in _wilson(spread, share, n_rows, interval)]
        low, high = interval
        interval = interval.with_limits(min(low, *wilson), max(high, *wilson))
    return interval


def _wilson(
    spread: TIntervalParts, share: float, most: float, interval: ConfidenceInterval
) -> tuple[float, float]:
    """Return score limits with a t quantile and the number of rows that carry the same variance."""
    binomial = share * (1 - share)
    carried = binomial / spread.standard_error**2 if binomial > 0 else most
    tail = 0.5 + interval.confidence_level / 2
    t = float(stats.t.ppf(tail, spread.degrees_of_freedom))
    return score_limits(share, float(np.clip(carried, 1, most)), t)


# Differences of methods from several runs of each on one test set.
#
# The runs of two methods are independent draws (other seeds, other training samples), the test
# units
# are the same: the variances of the runs add, the test variance is that of the difference. With
# runs that belong together pair by pair, such as the same training sample for both, the differences
# per pair are the runs of one method.


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


class RunsDifference(NamedTuple):
    """Difference of two methods, with its standard error and degrees of freedom.

    Attributes
    ----------
    difference : float
        Mean score of the first less that of the second.
    standard_error : float
        Of the difference.
    degrees_of_freedom : float
        Of the t interval.
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
    first: Moments,
    second: Moments | None,
    of_mean: float,
    test_df: float,
    *,
    divided: bool = True,
    seeds: Sequence[tuple[float, float]] = (),
) -> RunsDifference:
    """Difference by variance components: runs and test units vary.

    Parameters
    ----------
    first : Moments
        Of the runs of the first method, or of the differences of paired runs.
    second : Moments or None
        Of the second; None for paired runs.
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
    (`skboot.inference.variance.crossed_runs` and `trained_runs`).
    """
    sides = [first] if second is None else [first, second]
    centre = first.centre - (0.0 if second is None else second.centre)
    of_runs, noise, terms = 0.0, 0.0, []
    for side in sides:
        weight = 1 / side.n if divided else 1.0
        of_runs += max(side.between - side.interaction, 0.0) * weight
        terms.append((weight * side.between, side.n - 1.0))
        if divided:
            noise += side.interaction / side.n
            terms.append((side.interaction / side.n, (side.n - 1) * test_df))
    of_runs += sum(variance for variance, _ in seeds)
    test = max(of_mean, noise)
    total = of_runs + test
    terms += [*seeds, (test, test_df)]
    df = satterthwaite(total, terms, otherwise=test_df)
    # The test noise within A, which V lacks, can leave next to no degrees of freedom.
    least = 1.0 if divided else LEAST_DF
    return RunsDifference(centre, float(np.sqrt(total)), max(df, least), of_runs, test, noise)


def welch_difference(first: Floats, second: Floats | None) -> RunsDifference:
    """Difference over the runs alone, the test units held fixed.

    Parameters
    ----------
    first : ndarray of shape (n_first,)
        Scores of the runs of the first method, or differences of paired runs.
    second : ndarray of shape (n_second,) or None
        Scores of the second; None for paired runs.

    Returns
    -------
    RunsDifference

    References
    ----------
    Welch (1947), Biometrika 34, 28-35; paired runs: Student's t.
    """
    sides = [scores for scores in (first, second) if scores is not None]
    variances = [float(np.var(scores, ddof=1)) / len(scores) for scores in sides]
    centre = float(sides[0].mean() - (sides[1].mean() if len(sides) > 1 else 0.0))
    freedom = [len(scores) - 1.0 for scores in sides]
    total = sum(variances)
    df = satterthwaite(total, list(zip(variances, freedom, strict=True)), otherwise=min(freedom))
    return RunsDifference(centre, float(np.sqrt(total)), df, total, 0.0)


def advice_on(what: str, sources: Mapping[str, float], savings: Mapping[str, float]) -> str:
    """Say where a variance comes from, and how much twice as many of each would narrow an interval.

    Parameters
    ----------
    what : str
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
    parts = ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in largest_first)
    gains = {
        lever: 1 - np.sqrt(max(1 - saving / variance, 0.0)) for lever, saving in savings.items()
    }
    helpful = sorted((lever for lever in gains if gains[lever] >= _WORTH), key=lambda k: -gains[k])
    idle = [lever for lever in gains if gains[lever] < _WORTH]
    sentences = [f"the variance of the {what} comes from {parts}"]
    if helpful:
        first, *others = (f"by about {100 * gains[lever]:.0f} %" for lever in helpful)
        told = [f"{helpful[0]} would narrow the interval {first}"]
        told += [f"{lever} {gain}" for lever, gain in zip(helpful[1:], others, strict=True)]
        sentences.append(f"twice as many {', '.join(told)}")
    if idle:
        sentences.append(f"more {' or '.join(idle)} would hardly narrow it")
    return "; ".join(sentences)
