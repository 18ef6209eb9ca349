"""A family of differences between methods, each known from several runs on one test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.warnings import Note, Notes, collected
from ..inference.cautions import caution_of_distances, cautions_of
from ..inference.evidence import joint_bounds
from ..inference.normal_law import LowRankRoot
from ..inference.outperformance import Outperformance, outperformance, too_few_pairs
from ..inference.run_differences import (
    RunsDifference,
    advice_on,
    components_difference,
    welch_difference,
)
from ..inference.variance import (
    Moments,
    ResampleNoise,
    RowNoise,
    UnitNoise,
    moments,
    within_samples,
)
from ..metrics.statistic import Statistic
from ..resampling.plan import ResamplingPlan
from ..results import EvaluationResult
from ..results.comparison import ComparisonResult
from ..results.pairs import PairedDifference
from ..study.measured import Scores
from ..study.run_results import result_of_runs
from ..study.run_scores import RunsCall, ScoredRuns, bound_runs, drawn_together
from .arguments import constant_answers
from .asked import Asked, answered
from .contestants import pairs_of
from .families import records_of
from .student import Student, contrasts, root_of

Floats = NDArray[np.float64]

_FEW_RUNS = 5
# Pairs of which advice is given, of many.
_MOST_ADVISED = 3
_ONE_LIST = (
    " The part of the runs shrinks only with more training sets (independent ones), not with more "
    "bootstrap samples of this one."
)

# Settings of each method by itself that a comparison has too.
_SHARED = (
    "y_true",
    "groups",
    "strata",
    "sample_weight",
    "average_over",
    "block_length",
    "pos_label",
)


@dataclass(frozen=True, eq=False)
class CompareRunsCall:
    """Checked arguments of a comparison of methods by several runs of each.

    Attributes
    ----------
    methods : dict of str to RunsCall
        Call of each method by itself; the plan, the level and what varies are the same.
    paired : bool
        Whether runs, or training samples, of the same number belong together.
    asked : Asked
    """

    methods: dict[str, RunsCall]
    paired: bool
    asked: Asked

    @cached_property
    def of_any(self) -> RunsCall:
        """Call of the first method, for what all have in common."""
        return next(iter(self.methods.values()))

    @cached_property
    def plan(self) -> ResamplingPlan:
        """What is drawn."""
        return self.of_any.study.plan

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the call as a result holds them."""
        of_any = self.of_any.settings
        return {
            "varied": self.of_any.varied,
            "paired_runs": self.paired,
            **self.asked.settings,
            "n_resamples": self.plan.n_resamples,
            "n_runs": {name: own.runs.n_runs for name, own in self.methods.items()},
            **{name: of_any[name] for name in _SHARED if name in of_any},
        }


def compare_runs_of(
    calls: Mapping[str, CompareRunsCall], scores: Scores
) -> dict[str, ComparisonResult]:
    """Compare methods by each metric: the engine of `skboot.compare_runs`.

    Parameters
    ----------
    calls : mapping of str to CompareRunsCall
        By metric name: metrics may read other answers of the runs, to the same plan.
    scores : Scores
        Of all methods.

    Returns
    -------
    dict of str to ComparisonResult
        By metric name.
    """
    bound = [
        bound_runs(calls[metric].methods[name], metric, runs)
        for metric, by_method in scores.items()
        for name, runs in by_method.items()
    ]
    scored = iter(drawn_together(bound))
    results = {}
    for metric, by_method in scores.items():
        statistic = next(iter(by_method.values()))[0].statistic
        of_metric = {name: next(scored) for name in by_method}
        results[metric] = _compare_by(calls[metric], metric, statistic, of_metric)
    return results


# ------------------------------------------------------------------ one metric


@dataclass(frozen=True, eq=False)
class _Method:
    """Scores and noise of all runs of a method.

    Attributes
    ----------
    name : str
    call : RunsCall
    scores : ndarray of shape (n_runs,)
        Those on the full training set last.
    noise : RowNoise or ResampleNoise
        Of the same runs.
    series : ndarray of shape (n,)
        Average over the runs that give the centre, per row or per resample.
    result : EvaluationResult
        The method by itself.
    cautions : list of Note
        What makes intervals on these test data unreliable.
    """

    name: str
    call: RunsCall
    scores: Floats
    noise: UnitNoise
    series: Floats
    result: EvaluationResult
    cautions: Notes

    @cached_property
    def moments(self) -> Moments:
        """Of the training samples, averaged over their seeds; of runs where each has its own."""
        return moments(self.scores, self.noise, self.call.samples)


def _compare_by(
    call: CompareRunsCall,
    metric: str,
    statistic: Statistic,
    scored: Mapping[str, ScoredRuns],
) -> ComparisonResult:
    """Return the comparison by one metric, and its notes."""
    methods = _scored_methods(call, metric, scored)
    law = _RunsLaw(call, methods)
    records = _records(law)
    one_list = call.of_any.keeps_training_list
    held_fixed = ["the training set" if one_list else "the settings of the methods"]
    if call.asked.interval == "welch":
        held_fixed.append("the test rows")
    notes = _notes(call, records, law.each, statistic.greater_is_better)
    for method in methods.values():
        # Welch's interval takes the test rows as they are.
        cautions = [] if call.asked.interval == "welch" else method.cautions
        own = [*cautions, *method.call.runs.rows[0].notes_for(statistic)]
        own += constant_answers(method.name, method.call.runs.rows)
        notes += (note for note in own if note not in notes)
    return answered(
        call.asked,
        {name: method.result for name, method in methods.items()},
        records,
        [*notes, *call.plan.design.remarks],
        ComparisonResult,
        warned=notes,
        metric=metric,
        estimand="method",
        held_fixed=(*held_fixed, *call.plan.design.held_fixed),
        settings=call.settings,
        paired_runs=call.paired,
    )


def _scored_methods(
    call: CompareRunsCall, metric: str, scored: Mapping[str, ScoredRuns]
) -> dict[str, _Method]:
    """Return what is known of each method by one metric."""
    every = np.concatenate([own.replicates for own in scored.values()])
    defined = ~np.isnan(every).any(axis=0)
    methods = {}
    for name, of_method in scored.items():
        own, bound = call.methods[name], of_method.bound
        noise: UnitNoise
        if bound.row_values is not None:
            sign = bound.subjects[0].statistic.sign
            noise = RowNoise([values * sign for values in bound.row_values])
        else:
            noise = ResampleNoise(of_method.replicates[:, defined], call.plan.design.inflation)
        with collected():  # the comparison repeats what must be warned of
            result = result_of_runs(own, metric, of_method)
        series = np.asarray(noise.average(own.centre), dtype=np.float64)
        methods[name] = _Method(
            name,
            own,
            of_method.scores,
            noise,
            series,
            result,
            Notes(
                (
                    *cautions_of(of_method.system, of_runs=True),
                    *caution_of_distances(of_method.system),
                )
            ),
        )
    return methods


def _difference(call: CompareRunsCall, first: _Method, second: _Method) -> RunsDifference:
    """First method minus second."""
    one, other = first.call, second.call
    if call.asked.interval == "welch":
        sides = first.scores[one.centre], second.scores[other.centre]
        if call.paired:
            return welch_difference(sides[0] - sides[1], None)
        return welch_difference(*sides)
    of_mean = first.noise.variance(first.series - second.series)
    found = components_difference(
        _paired(first, second) if call.paired else first.moments,
        None if call.paired else second.moments,
        of_mean,
        call.plan.design.degrees_of_freedom,
        divided=not call.of_any.on_samples,
        seeds=[_of_seeds(each) for each in (first, second)] if call.of_any.varied == "both" else [],
    )
    # The centre comes from the runs on the full list, where there are any.
    centre = float(first.scores[one.centre].mean() - second.scores[other.centre].mean())
    return found._replace(difference=centre)


def _paired(first: _Method, second: _Method) -> Moments:
    """Of the differences of training samples (runs) that belong together."""
    both = [
        (np.asarray(one.noise.average(member), dtype=np.float64), one.scores[member].mean())
        for one in (first, second)
        for member in one.call.samples
    ]
    n = len(both) // 2
    pairs = list(zip(both[:n], both[n:], strict=True))
    series = [a[0] - b[0] for a, b in pairs]
    scores = np.array([a[1] - b[1] for a, b in pairs])
    noise: Any = RowNoise(series)
    if isinstance(first.noise, ResampleNoise):
        noise = ResampleNoise(np.array(series), first.noise.inflation)
    return moments(scores, noise, [[k] for k in range(n)])


def _of_seeds(one: _Method) -> tuple[float, float]:
    """What fewer seeds on the whole list than on each sample add, and its degrees of freedom.

    As for one method: `skboot.inference.variance.trained_runs`.
    """
    within = within_samples(one.scores, one.noise, one.call.samples)
    fewer = max(1 / len(one.call.centre) - 1 / within.n_seeds, 0.0)
    seed = 0.0 if np.isnan(within.seed) else within.seed
    return seed * fewer, float(within.degrees_of_freedom)


def _outperformance(
    call: CompareRunsCall, first: _Method, second: _Method
) -> Outperformance | None:
    """P(A > B) over runs that belong together, where it is known which score is the better one."""
    samples = first.call.samples, second.call.samples
    sizes = [[len(own) for own in each] for each in samples]
    greater_is_better = first.result.greater_is_better
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
        confidence_level=call.asked.confidence_level,
        seed=call.plan.seed,
    )


# ------------------------------------------------------------------ all pairs


class _RunsLaw(Student):
    """The law of the differences of methods by several runs of each.

    Attributes
    ----------
    call : CompareRunsCall
    methods : mapping of str to _Method
    pairs : list of tuple of str
    each : list of RunsDifference
    """

    each: list[RunsDifference]

    def __init__(self, call: CompareRunsCall, methods: Mapping[str, _Method]) -> None:
        self.call, self.methods = call, methods
        self.pairs = pairs_of(methods, call.asked.reference)
        differences = [_difference(call, methods[one], methods[other]) for one, other in self.pairs]
        method = "welch" if call.asked.interval == "welch" else "components"
        bounds = joint_bounds(each.result.evidence for each in methods.values())
        super().__init__(call.asked, differences, method, call.plan.seed, bounds)

    def root_of_correlation(self, those: Sequence[int]) -> LowRankRoot:
        """See `Student.root_of_correlation`: of common test units, and of common methods."""
        names, methods = list(self.methods), list(self.methods.values())
        covariance = np.zeros((len(names), len(names)))
        if self.asked.interval != "welch":
            series = np.array([one.series for one in methods])
            covariance = np.atleast_2d(np.cov(series))
            noise = methods[0].noise
            covariance *= (
                noise.inflation if isinstance(noise, ResampleNoise) else 1 / series.shape[1]
            )
        covariance += _covariance_of_runs(self.call, methods)
        number = {name: k for k, name in enumerate(names)}
        pairs = [(number[one], number[other]) for one, other in (self.pairs[k] for k in those)]
        return root_of(contrasts(pairs, len(names)), covariance)


def _records(law: _RunsLaw) -> list[PairedDifference]:
    """Return the record of each pair."""
    sides = [(law.methods[one], law.methods[other]) for one, other in law.pairs]
    # Of the law that the intervals are of: resamples of test rows do not say how runs vary.
    towards = -1 if sides[0][0].result.greater_is_better is False else 1
    higher = [0.5 + 0.5 * np.sign(towards * one.difference) * (1 - one.p_value) for one in law.each]
    return records_of(
        law,
        law.pairs,
        PairedDifference,
        bootstrap_support=list(map(float, higher)),
        components=[{"runs": one.of_runs, "test": one.of_test} for one in law.each],
        n_runs=[(one.call.runs.n_runs, other.call.runs.n_runs) for one, other in sides],
        outperformance=[_outperformance(law.call, one, other) for one, other in sides],
    )


def _covariance_of_runs(call: CompareRunsCall, methods: Sequence[_Method]) -> Floats:
    """What the runs add to the covariance of the methods' scores; without pairs a diagonal."""
    if call.asked.interval == "welch":
        scores = [one.scores[one.call.centre] for one in methods]
        if call.paired:
            return np.cov(np.array(scores)) / len(scores[0])
        return np.diag([float(np.var(own, ddof=1)) / len(own) for own in scores])
    samples = [one.moments for one in methods]
    weights = np.array([1.0 if call.of_any.on_samples else 1 / own.n for own in samples])
    if call.paired:
        covariance = np.cov(np.array([own.scores for own in samples])) * weights[0]
    else:
        own_parts = [max(own.between - own.interaction, 0.0) for own in samples]
        covariance = np.diag(own_parts * weights)
    if call.of_any.varied == "both":
        covariance += np.diag([_of_seeds(one)[0] for one in methods])
    return np.asarray(covariance)


# ------------------------------------------------------------------ what must be said


def _notes(
    call: CompareRunsCall,
    records: Sequence[PairedDifference],
    differences: Sequence[RunsDifference],
    greater_is_better: bool | None,
) -> Notes:
    """Return what must be known of the differences."""
    notes = Notes()
    fewest = min(len(own.samples) for own in call.methods.values())
    if fewest < _FEW_RUNS:
        what = "training samples" if call.of_any.varied == "both" else "runs"
        notes.add(
            "few",
            f"Only {fewest} {what} of a method (fewer than {_FEW_RUNS}): the variance between "
            "them is poorly estimated, and the intervals are wide.",
        )
    if call.asked.interval == "welch":
        notes.add(
            "advice",
            "Welch's interval varies the runs alone and is conditional on the test rows. For two "
            "methods of equal merit it excludes 0 far more often than stated.",
        )
    of_narrowing: list[Note] = []
    divided = not call.of_any.on_samples
    for record, difference in zip(records, differences, strict=True):
        if difference.standard_error == 0:
            notes.add(
                "degenerate",
                f"{record.first} and {record.second}: neither the runs nor the test rows vary, so "
                "the interval is degenerate; this does not show that the difference is exact.",
            )
        elif call.asked.interval != "welch" and len(of_narrowing) < _MOST_ADVISED:
            both = difference.of_both
            sources = {"runs": difference.of_runs, "test": difference.of_test - both}
            savings = {"test units": difference.of_test / 2}
            if divided:
                savings["runs of each method"] = (difference.of_runs + both) / 2
            text = advice_on("difference", sources | {"interaction": both}, savings)
            names = f"{record.first} - {record.second}"
            of_narrowing.append(Note("advice", f"{names}: {text}.{'' if divided else _ONE_LIST}"))
    notes += of_narrowing
    if call.paired and greater_is_better is None:
        notes.add("advice", "P(A > B) is left out: the direction of the metric is unknown.")
    too_few = too_few_pairs(record.outperformance for record in records)
    notes += [Note("advice", text) for text in too_few]
    return notes
