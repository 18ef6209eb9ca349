"""Intervals from several runs of one method on one test set, by estimand.

`RunsEvidence` holds the numbers of one set of runs; `runs_interval` makes the interval for an
estimand from them: "method" and "next_run" from variance components, "pooled" from all
replicates of all runs, "system" from the first run alone.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .._base.warnings import collected, say, tell
from ._tuning import FEW_EVENTS
from .automatic import IntervalWithNotes, automatic_interval, bias_told
from .cautions import caution_of_distances, cautions_of
from .confidence_interval import ConfidenceInterval, notes_of_cut, within_range
from .evidence import Drawn, Evidence
from .intervals import confidence_interval, quantile
from .proportions import score_limits
from .variance import Components, TIntervalParts

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
