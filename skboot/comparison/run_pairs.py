"""A family of differences between methods, each known from several runs on one test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs import Rows
from .._warnings import Note, Notes, texts_of
from ..inference.differences import share_won
from ..inference.distribution import BoundStatistic, bootstrap
from ..inference.intervals import ConfidenceInterval
from ..inference.outperformance import Outperformance, outperformance, too_few_pairs
from ..inference.run_differences import RunsDifference, components_difference, welch_difference
from ..inference.variance import Moments, ResampleNoise, RowNoise, moments, within_samples
from ..metrics.additive import RowMean
from ..metrics.statistic import ReducedData, Statistic
from ..resampling.coding import CodedRows
from ..resampling.plan import ResamplingPlan
from ..results import EvaluationResult
from ..results.comparison import ComparisonResult
from ..results.pairs import PairedDifference
from .system_pairs import pairs_of
from .t_pairs import adjusted

Floats = NDArray[np.float64]

_FEW_RUNS = 5


@dataclass(frozen=True, eq=False)
class Method:
    """Rows of each run of a method, those on the full training list last.

    ``training`` holds the training sample of each run by name, where several runs share one.
    """

    name: str
    rows: list[Rows]
    n_runs: int
    training: NDArray[Any] | None = None

    @property
    def numbered(self) -> list[tuple[int, Rows]]:
        return list(enumerate(self.rows))

    @property
    def centre(self) -> list[int]:
        """Runs that the difference comes from."""
        first = self.n_runs if len(self.rows) > self.n_runs else 0
        return list(range(first, len(self.rows)))

    @cached_property
    def samples(self) -> list[NDArray[np.intp]]:
        """Runs of each training sample, by its sorted name; each run by itself without names."""
        if self.training is None:
            return [np.array([run]) for run in range(self.n_runs)]
        return [np.flatnonzero(self.training == name) for name in np.unique(self.training)]


@dataclass(frozen=True, eq=False)
class RunsCall:
    """What the steps of one call share."""

    methods: dict[str, Method]
    plan: ResamplingPlan
    varied: str
    paired: bool
    reference: str | None
    adjust: str | None
    interval: str
    confidence_level: float
    settings: dict[str, Any]

    @property
    def keeps_training_list(self) -> bool:
        """Whether the runs share a training list; values that are given need not have any."""
        rows = next(iter(self.methods.values())).rows[0]
        return self.varied == "seed" and rows.y_true is not None

    @property
    def of_one_list(self) -> bool:
        """Whether the runs are on bootstrap samples of one training list."""
        return self.varied in ("training", "both")


# ------------------------------------------------------------------ one metric


@dataclass(frozen=True, eq=False)
class _Evaluated:
    """Scores and noise of all runs of a method.

    Attributes
    ----------
    scores : ndarray of shape (n_runs,)
        Those on the full training list last.
    noise : RowNoise or ResampleNoise
        Of the same runs.
    series : ndarray of shape (n,)
        Average over the runs that give the centre, per row or per resample.
    replicates : ndarray of shape (n_resamples,)
        Mean score of these runs on each resample.
    """

    method: Method
    scores: Floats
    noise: Any
    series: Floats
    replicates: Floats


def compared_by(
    call: RunsCall,
    metric: str,
    statistics: Mapping[str, Statistic],
    alone: Mapping[str, EvaluationResult],
    warned: Notes,
    n_jobs: int | None,
    verbose: int,
) -> ComparisonResult:
    """Compare methods by one metric.

    Parameters
    ----------
    call : RunsCall
        What the call asked for.
    metric : str
        Name of the metric.
    statistics : mapping of str to Statistic
        Of each run, under "method][run".
    alone : mapping of str to EvaluationResult
        Each method by itself.
    warned : Notes
        Takes the notes of the comparison.
    n_jobs : int or None
        Workers at most.
    verbose : int
        1 shows progress.

    Returns
    -------
    ComparisonResult
    """
    evaluated = _evaluated(call, statistics, n_jobs, verbose)
    pairs = pairs_of(call.methods, call.reference)
    differences = [_difference(call, evaluated[one], evaluated[other]) for one, other in pairs]
    greater_is_better = next(iter(alone.values())).greater_is_better
    records = [
        _record(call, evaluated[one], evaluated[other], difference, greater_is_better)
        for (one, other), difference in zip(pairs, differences, strict=True)
    ]
    records = adjusted(
        records,
        differences,
        call.adjust,
        confidence_level=call.confidence_level,
        correlation_of=lambda some: _correlation(call, evaluated, [pairs[k] for k in some]),
        seed=call.plan.seed,
    )
    systems = {
        name: replace(one, evidence=replace(one.evidence, replicates=evaluated[name].replicates))
        for name, one in alone.items()
    }
    held_fixed = ["the training list" if call.keeps_training_list else "settings of the methods"]
    if call.interval == "welch":
        held_fixed.append("the test rows")
    if call.plan.design.strata is not None:
        held_fixed.append("the number of units in each stratum")
    notes = _notes(call, records, differences, greater_is_better)
    warned += notes
    return ComparisonResult(
        metric=metric,
        estimand="method",
        systems=systems,
        pairs=tuple(records),
        reference=call.reference,
        adjust=call.adjust,
        automatic=call.interval == "auto",
        notes=texts_of(notes),
        held_fixed=tuple(held_fixed),
        settings=call.settings,
    )


def _evaluated(
    call: RunsCall, statistics: Mapping[str, Statistic], n_jobs: int | None, verbose: int
) -> dict[str, _Evaluated]:
    """Evaluate all runs of all methods on one plan."""
    subjects, owner = [], []
    for name, method in call.methods.items():
        for k, rows in method.numbered:
            statistic = statistics[f"{name}][{k}"]
            reduced = statistic.reduce(*rows.of(None))
            coding = CodedRows(reduced.code, reduced.n_codes, statistic.reads)
            subjects.append(BoundStatistic(statistic, reduced, coding))
            owner.append(name)
    binding = call.plan.bind([subject.coding for subject in subjects])
    found = bootstrap(binding, subjects, n_jobs=n_jobs, verbose=verbose, caller="compare_runs")
    replicates = np.array([each.replicates for each in found])
    defined = ~np.isnan(replicates).any(axis=0)
    exact = _is_exact(call, subjects[0].statistic)
    results = {}
    for name, method in call.methods.items():
        own = [k for k, each in enumerate(owner) if each == name]
        scores = np.array([found[k].estimate for k in own])
        if exact:
            noise: Any = RowNoise([_row_values(subjects[k]) for k in own])
        else:
            noise = ResampleNoise(
                replicates[np.ix_(np.array(own), np.flatnonzero(defined))],
                call.plan.design.inflation,
            )
        mean = replicates[[own[k] for k in method.centre]].mean(axis=0)
        series = np.asarray(noise.average(method.centre), dtype=np.float64)
        results[name] = _Evaluated(method, scores, noise, series, mean)
    return results


def _is_exact(call: RunsCall, statistic: Statistic) -> bool:
    """Whether scores are plain means of independent rows."""
    design = call.plan.design
    rows = next(iter(call.methods.values())).rows[0]
    return (
        isinstance(statistic, RowMean)
        and statistic.is_row_mean
        and design.draws_independent_rows
        and rows.sample_weight is None
    )


def _row_values(subject: BoundStatistic) -> Floats:
    """Value of each row, with the metric's sign."""
    reduced: ReducedData = subject.reduced
    values = reduced.data["centre"] + reduced.terms[:, 1] / reduced.terms[:, 0]
    values = values * subject.statistic.sign  # type: ignore[attr-defined]
    return np.asarray(values if reduced.code is None else values[reduced.code.astype(np.intp)])


def _difference(call: RunsCall, first: _Evaluated, second: _Evaluated) -> RunsDifference:
    """First method minus second."""
    one, other = first.method, second.method
    if call.interval == "welch":
        sides = first.scores[one.centre], second.scores[other.centre]
        if call.paired:
            return welch_difference(sides[0] - sides[1], None)
        return welch_difference(*sides)
    of_mean = first.noise.variance(first.series - second.series)
    found = components_difference(
        _paired(first, second) if call.paired else _moments(first),
        None if call.paired else _moments(second),
        of_mean,
        call.plan.design.degrees_of_freedom,
        divided=not call.of_one_list,
        seeds=[_of_seeds(each) for each in (first, second)] if call.varied == "both" else [],
    )
    # The centre comes from the runs on the full list, where there are any.
    centre = float(first.scores[one.centre].mean() - second.scores[other.centre].mean())
    return found._replace(difference=centre)


def _moments(one: _Evaluated) -> Moments:
    """Of the training samples, each averaged over its seeds; of the runs where each has its own."""
    return moments(one.scores, one.noise, one.method.samples)


def _paired(first: _Evaluated, second: _Evaluated) -> Moments:
    """Of the differences of training samples (runs) that belong together."""
    both = [
        (np.asarray(one.noise.average(member), dtype=np.float64), one.scores[member].mean())
        for one in (first, second)
        for member in one.method.samples
    ]
    n = len(both) // 2
    pairs = list(zip(both[:n], both[n:], strict=True))
    series = [a[0] - b[0] for a, b in pairs]
    scores = np.array([a[1] - b[1] for a, b in pairs])
    noise: Any = RowNoise(series)
    if isinstance(first.noise, ResampleNoise):
        noise = ResampleNoise(np.array(series), first.noise.inflation)
    return moments(scores, noise, [[k] for k in range(n)])


def _of_seeds(one: _Evaluated) -> tuple[float, float]:
    """What fewer seeds on the whole list than on each sample add, and its degrees of freedom.

    As for one method: `skboot.inference.variance.trained_runs`.
    """
    within = within_samples(one.scores, one.noise, one.method.samples)
    fewer = max(1 / len(one.method.centre) - 1 / within.n_seeds, 0.0)
    seed = 0.0 if np.isnan(within.seed) else within.seed
    return seed * fewer, float(within.degrees_of_freedom)


def _record(
    call: RunsCall,
    first: _Evaluated,
    second: _Evaluated,
    difference: RunsDifference,
    greater_is_better: bool | None,
) -> PairedDifference:
    method = "welch" if call.interval == "welch" else "components"
    low, high = difference.interval(call.confidence_level)
    return PairedDifference(
        first=first.method.name,
        second=second.method.name,
        difference=difference.difference,
        confidence_interval=ConfidenceInterval(low, high, call.confidence_level, method),
        simultaneous_interval=None,
        p_value=difference.p_value,
        p_value_adjusted=np.nan,
        bootstrap_support=share_won(first.replicates - second.replicates, greater_is_better),
        standard_error=difference.standard_error,
        degrees_of_freedom=difference.degrees_of_freedom,
        components={"runs": difference.of_runs, "test": difference.of_test},
        n_runs=(first.method.n_runs, second.method.n_runs),
        outperformance=_outperformance(call, first, second, greater_is_better),
    )


def _outperformance(
    call: RunsCall, first: _Evaluated, second: _Evaluated, greater_is_better: bool | None
) -> Outperformance | None:
    """P(A > B) over runs that belong together, where it is known which score is the better one."""
    samples = first.method.samples, second.method.samples
    sizes = [[len(own) for own in each] for each in samples]
    if not call.paired or greater_is_better is None or sizes[0] != sizes[1]:
        return None
    sign = 1.0 if greater_is_better else -1.0
    scores = [
        sign * one.scores[np.concatenate(own)]
        for one, own in zip((first, second), samples, strict=True)
    ]
    return outperformance(
        *scores,
        samples=np.repeat(np.arange(len(sizes[0])), sizes[0]),
        n_resamples=call.plan.n_resamples,
        confidence_level=call.confidence_level,
        seed=call.plan.seed,
    )


# ------------------------------------------------------------------ all pairs


def _correlation(
    call: RunsCall, evaluated: Mapping[str, _Evaluated], pairs: Sequence[tuple[str, str]]
) -> Floats:
    """Correlation of the errors of differences: common test units, and common methods."""
    names = list(evaluated)
    covariance = np.zeros((len(names), len(names)))
    if call.interval != "welch":
        series = np.array([evaluated[name].series for name in names])
        covariance = np.atleast_2d(np.cov(series))
        first = evaluated[names[0]].noise
        covariance *= first.inflation if isinstance(first, ResampleNoise) else 1 / series.shape[1]
    covariance += _covariance_of_runs(call, [evaluated[name] for name in names])
    contrasts = np.zeros((len(pairs), len(names)))
    for k, (one, other) in enumerate(pairs):
        contrasts[k, names.index(one)], contrasts[k, names.index(other)] = 1.0, -1.0
    of_pairs = contrasts @ covariance @ contrasts.T
    scale = np.sqrt(np.maximum(np.diag(of_pairs), np.finfo(float).tiny))
    return np.asarray(of_pairs / np.outer(scale, scale))


def _covariance_of_runs(call: RunsCall, methods: Sequence[_Evaluated]) -> Floats:
    """What the runs add to the covariance of the methods' scores; without pairs a diagonal."""
    if call.interval == "welch":
        scores = [one.scores[one.method.centre] for one in methods]
        if call.paired:
            return np.cov(np.array(scores)) / len(scores[0])
        return np.diag([float(np.var(own, ddof=1)) / len(own) for own in scores])
    samples = [_moments(one) for one in methods]
    weights = np.array([1.0 if call.of_one_list else 1 / own.n for own in samples])
    if call.paired:
        covariance = np.cov(np.array([own.scores for own in samples])) * weights[0]
    else:
        own_parts = [max(own.between - own.interaction, 0.0) for own in samples]
        covariance = np.diag(own_parts * weights)
    if call.varied == "both":
        covariance += np.diag([_of_seeds(one)[0] for one in methods])
    return np.asarray(covariance)


# ------------------------------------------------------------------ what must be said


def _notes(
    call: RunsCall,
    records: Sequence[PairedDifference],
    differences: Sequence[RunsDifference],
    greater_is_better: bool | None,
) -> Notes:
    """Return what must be known of the differences."""
    notes = Notes()
    fewest = min(len(own.samples) for own in call.methods.values())
    if fewest < _FEW_RUNS:
        what = "training samples" if call.varied == "both" else "runs"
        notes.add(
            "few",
            f"Only {fewest} {what} of a method (fewer than {_FEW_RUNS}): the variance between "
            "them is poorly known, and the intervals are wide.",
        )
    if call.interval == "welch":
        notes.add(
            "advice",
            "Welch's interval varies the runs alone: it does not say how the difference would "
            "come out on other test rows, and for two methods of equal merit it excludes 0 far "
            "more often than stated.",
        )
    for record, difference in zip(records, differences, strict=True):
        if difference.standard_error == 0:
            notes.add(
                "degenerate",
                f"{record.first} and {record.second}: neither the runs nor the test rows vary, so "
                "the interval is degenerate; it does not say that the difference is known exactly.",
            )
    if call.interval != "welch":
        pairs = list(zip(records, differences, strict=True))
        notes += [Note("advice", _advice(call, *pair)) for pair in pairs[:3]]
    if call.paired and greater_is_better is None:
        notes.add("advice", "P(A > B) is left out: the direction of the metric is unknown.")
    too_few = too_few_pairs(record.outperformance for record in records)
    notes += [Note("advice", text) for text in too_few]
    return notes


def _advice(call: RunsCall, record: PairedDifference, difference: RunsDifference) -> str:
    """What would narrow an interval: more runs, or more test rows."""
    total = difference.of_runs + difference.of_test
    if total == 0:
        return f"{record.first} - {record.second}: nothing varies."
    share = difference.of_runs / total
    n = min(call.methods[record.first].n_runs, call.methods[record.second].n_runs)
    divided = not call.of_one_list
    runs = 1 - np.sqrt(1 - share / 2) if divided else 0.0
    rows = 1 - np.sqrt(1 - (1 - share) / 2)
    design = call.plan.design
    units = f"test {design.units_in_advice}"
    options = [(rows, f"add {design.smallest_side} {units}")]
    if divided:
        options.append((runs, f"add {n} runs of each method"))
    options.sort(reverse=True)
    told = ", ".join(f"{what} (about {100 * gain:.0f} % narrower)" for gain, what in options)
    lists = (
        ""
        if divided
        else " The part of the runs shrinks only with more training lists (independent ones), "
        "not with more bootstrap samples of this one."
    )
    return (
        f"{record.first} - {record.second}: {100 * share:.0f} % of the squared standard error "
        f"comes from the runs, {100 * (1 - share):.0f} % from the {units}. To narrow the "
        f"interval: {told}.{lists}"
    )
