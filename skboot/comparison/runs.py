"""Compare methods by several runs (seeds, training samples) of each on one test set."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks as check
from .._base.doors import door
from .._base.errors import Note, Notes, collected
from .._base.typing import (
    Adjustment,
    Alternative,
    BlockLength,
    CompareRunsOptions,
    Metric,
    Metrics,
    RunsDifferenceInterval,
    Varied,
)
from ..inference._tuning import JOINT_DRAWS
from ..inference.cautions import caution_of_distances, cautions_of
from ..inference.evidence import joint_bounds
from ..inference.gap import Outperformance, outperformance, too_few_pairs
from ..inference.multiplicity import LowRankRoot, simultaneous_t
from ..inference.runs import RunsDifference, advice_on, components_difference, welch_difference
from ..inference.variance import (
    Moments,
    ResampleNoise,
    RowNoise,
    UnitNoise,
    moments,
    within_samples,
)
from ..metrics.lookup import ACCURACY_IF_NOT_GIVEN
from ..metrics.statistic import Statistic
from ..resampling.plan import ResamplingPlan
from ..results import EvaluationResult, ResultTable
from ..results.comparison import ComparisonResult, PairedDifference
from ..study.measured import Scores, Scoring, measured_by
from ..study.rows import Sampling, Wanted
from ..study.run_results import result_of_runs
from ..study.run_scores import RunsCall, ScoredRuns, bound_runs, drawn_together
from ..study.runs import Columns, Runs, checked_columns, checked_runs, training_samples
from ..study.study import Study, check_units_vary, study_of
from .asked import (
    Asked,
    check_adjust,
    check_alternative,
    check_reference,
    checked_names,
    constant_answers,
    pairs_of,
)
from .families import Law, Limits, answered, records_of

# The law of differences by Student's t, each with degrees of freedom of its own.


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


# A family of differences between methods, each known from several runs on one test set.


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


_VARIED = ("seed", "training", "both", "independent")
_INTERVALS = ("auto", "components", "welch")


@overload
def compare_runs(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, Any],
    *,
    metric: Metric = ...,
    **options: Unpack[CompareRunsOptions],
) -> ComparisonResult: ...
@overload
def compare_runs(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, Any],
    *,
    metric: Metrics,
    **options: Unpack[CompareRunsOptions],
) -> ResultTable[ComparisonResult]: ...
@door("compare_runs")
def compare_runs(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, Any],
    *,
    metric: Metric | Metrics = ACCURACY_IF_NOT_GIVEN,
    varied: Varied = "seed",
    training: Mapping[str, ArrayLike] | None = None,
    paired_runs: bool = False,
    full_runs: Mapping[str, Any] | None = None,
    reference: str | None = None,
    adjust: Adjustment | None = "max-t",
    greater_is_better: bool | None = None,
    pos_label: Any = None,
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    average_over: ArrayLike | None = None,
    block_length: BlockLength = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    interval: RunsDifferenceInterval = "auto",
    alternative: Alternative = "two-sided",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int | None = None,
) -> ComparisonResult | ResultTable:
    """Compare methods by several training runs of each on the same test rows.

    The claim is about *methods* (learning algorithms with all their choices): both the runs and the
    test rows are a sample. For trained models use `compare_systems`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        True labels or values. Several columns are for metrics of several labels or outputs per row;
        records, such as event times, are for callables that take them. None with ``metric="mean"``
        or a callable of predictions alone.
    y_preds : dict of str to array-like of shape (n_runs, n_samples[, n_classes])
        Predictions of each run of each method, as in `bootstrap_runs`. Methods may have different
        numbers of runs, at least two each.
    metric : str, callable, scorer, list or dict
        As in `bootstrap_score`. A list or dict gives a dict of results, and so does a callable that
        returns an array or a dict; ``adjust`` is for the differences by each of them.
    varied : {"seed", "training", "both", "independent"}
        In what the runs differ, as in `bootstrap_runs`. "training" needs ``full_runs``; "both"
        needs ``full_runs`` and ``training``.
    training : dict of str to array-like of shape (n_runs,), optional
        The training sample of each run of each method, by number or name, with ``varied="both"``.
    paired_runs : bool
        Whether run k of all methods belongs together, for example by the same training sample; then
        the differences per run vary. With ``varied="both"``: whether training samples of the same
        name are the same; methods may then have different numbers of seeds.
    full_runs : dict of str to array-like, optional
        Predictions of runs on the whole training set, with ``varied="training"`` or "both"; the
        differences come from them.
    reference : str, optional
        Name of the method that all others are compared with; all pairs when None.
    adjust : {"max-t", "holm", None}
        For several differences at once, as in `compare_systems`.
    greater_is_better : bool, optional
        Direction of ``"mean"`` and of callables, which skboot cannot know. None: unknown, and
        nothing is called better or worse. A value that contradicts a known metric is refused.
    pos_label : label, optional
        The positive class of metrics that have one, as in `bootstrap_score`.
    groups : array-like of shape (n_samples,) or (n_samples, 2), optional
        Rows of one group (speaker, patient) are resampled together. Two columns are crossed
        factors.
    strata : array-like of shape (n_samples,), optional
        Units are resampled within strata. Give it where the design fixed their numbers.
    average_over : array-like of shape (n_samples,), optional
        A task (subject, language, site) per row, over which the metric is averaged with equal
        weights. The claim is conditional on these tasks unless ``groups`` holds them, as in
        `skboot.bootstrap_score`.
    block_length : int or "auto", optional
        For rows in time order: resample blocks of so many consecutive rows, as in
        `bootstrap_score`.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of probabilities; beside one label a row, ``labels`` of the metric, as
        in scikit-learn.
    n_resamples : int
        Number of test resamples, at least 2.
    confidence_level : float
        In (0, 1).
    interval : {"auto", "components", "welch"}
        "auto" is "components": runs and test rows vary. "welch": the runs alone vary, conditional
        on the test rows, with no claim about other test rows.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis of intervals and p-values, as in `compare_systems`.
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same numbers at every call.
    n_jobs : int, optional
        Maximum number of workers, used when the work takes seconds. The numbers do not depend on
        it.
    verbose : None, bool or int
        Progress on stderr: 1 always, 0 never; None on a terminal, if the work takes long.

    Returns
    -------
    ComparisonResult or dict
        Its notes say whether more runs or more test rows would narrow the intervals. Pairs hold P(A
        > B) (``outperformance``) with ``paired_runs=True`` and a known direction.

    Raises
    ------
    ValueError
        For arguments that cannot be right; the message says what to do.

    Warns
    -----
    UserWarning
        With few runs; with test data on which no interval does well (few rows, groups or rows of a
        class, one row that carries much of a mean, neighbouring rows that are alike); and on the
        positive class as in `bootstrap_score`.

    See Also
    --------
    bootstrap_runs : One method.
    compare_systems : Trained models.

    References
    ----------
    Satterthwaite (1946), Biometrics Bulletin 2, 110-114; Welch (1947), Biometrika 34, 28-35.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_runs
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, size=500)
    >>> hard = rng.random(500) < 0.3
    >>> runs = {name: [y_true ^ (hard & (rng.random(500) < rate)) for _ in range(10)]
    ...         for name, rate in [("A", 0.4), ("B", 0.6)]}
    >>> result = compare_runs(y_true, runs, random_state=0)
    >>> print(f"{result:.3f}")
    0.065 (0.048 to 0.082)
    """
    level = check.check_confidence_level(confidence_level)
    _check_names(interval, varied, adjust)
    check_alternative(alternative)
    workers = check.check_workers(n_jobs, verbose)
    columns = checked_columns(y_true, sample_weight, labels)
    runs = _checked_runs(columns, y_preds, full_runs, varied)
    samples, names = _training_samples(runs, training, varied)
    _check_paired(runs, names, paired_runs)
    check_reference(reference, runs)
    scoring = Scoring(metric, greater_is_better, pos_label, labels)
    named = {name: own.named(f"[{name!r}]") for name, own in runs.items()}
    scored = measured_by(scoring, named)
    sampling = Sampling(
        groups=groups,
        strata=strata,
        average_over=average_over,
        block_length=block_length,
        sample_weight=sample_weight,
        n_resamples=n_resamples,
        random_state=random_state,
    )
    answers = {"y_true": y_true, "y_preds": y_preds, "full_runs": full_runs}
    n_arrays = sum(map(len, named.values()))
    wanted = Wanted("auto", level, workers)
    study = study_of(scored, sampling, answers, wanted, scoring.settings, n_arrays)
    check_units_vary(study.plan, columns.weights)
    asked = Asked(interval, adjust, level, alternative, reference)

    def evaluate(study: Study) -> dict[str, ComparisonResult]:
        methods = {k: RunsCall(study, of, samples[k], varied) for k, of in runs.items()}
        call = CompareRunsCall(methods, bool(paired_runs), asked)
        return compare_runs_of(dict.fromkeys(study.scores, call), study.scores)

    return study.answered(evaluate)


# ------------------------------------------------------------------ arguments


def _check_names(interval: Any, varied: Any, adjust: Any) -> None:
    check.check_choice("interval", interval, _INTERVALS)
    check.check_choice("varied", varied, _VARIED)
    check_adjust(adjust)


def _checked_runs(columns: Columns, y_preds: Any, full_runs: Any, varied: str) -> dict[str, Runs]:
    """Return the checked runs of each method."""
    named = checked_names(y_preds, "method")
    full = _by_name("full_runs", full_runs)
    on_samples = varied in ("training", "both")
    if on_samples != bool(full) or (full and set(full) != set(named)):
        raise check.fail(
            "full_runs",
            "hold runs on the whole training set for every method with varied='training' or "
            "'both', and be None otherwise",
            f"runs for {list(full)}" if full else "None",
            "A bootstrap sample holds 63.2 % of the rows, so its runs cannot give the centre.",
        )
    runs = {
        name: checked_runs(columns, values, full.get(name), varied, f"[{name!r}]")
        for name, values in named.items()
    }
    sizes = {name: own.rows[0].n_samples for name, own in runs.items()}
    if len(set(sizes.values())) > 1:
        raise check.fail(
            "y_preds",
            "hold as many rows for every method",
            f"{sizes}",
            "Row order is what pairs them; an index is never used.",
        )
    return runs


def _by_name(argument: str, values: Any) -> dict[str, Any]:
    """Return what is given for each method, by its name; empty without."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        must = "be a dict by the names of y_preds, or None"
        raise check.fail(argument, must, type(values).__name__)
    return {str(name): own for name, own in values.items()}


def _training_samples(
    runs: Mapping[str, Runs], training: Any, varied: str
) -> tuple[dict[str, NDArray[np.intp]], dict[str, set[Any]]]:
    """Return the number of each run's training sample by method, and with "both" their names."""
    if varied != "both":
        training_samples(training, varied, 1)
        return {name: training_samples(None, varied, own.n_runs) for name, own in runs.items()}, {}
    named = _by_name("training", training)
    if set(named) != set(runs):
        raise check.fail(
            "training",
            "name the training sample of each run of every method with varied='both'",
            f"names for {list(named)}" if named else "None",
            "Use training={'A': [0, 0, 1, 1, ...], 'B': ...}.",
        )
    samples = {
        name: training_samples(named[name], varied, own.n_runs) for name, own in runs.items()
    }
    return samples, {name: set(np.asarray(named[name]).tolist()) for name in runs}


def _check_paired(
    runs: Mapping[str, Runs], names: Mapping[str, set[Any]], paired_runs: bool
) -> None:
    """Refuse pairs of runs, or of training samples by name, that do not belong together."""
    check.check_flag("paired_runs", paired_runs)
    counts = {name: own.n_runs for name, own in runs.items()}
    if paired_runs and names:
        first, *others = names.values()
        if any(each != first for each in others):
            raise check.fail(
                "paired_runs",
                "be False where the methods have different training samples",
                "names in training= that differ",
                "Give the same training samples the same names for all methods.",
            )
        return
    if paired_runs and len(set(counts.values())) > 1:
        raise check.fail(
            "paired_runs",
            "be False where the methods have different numbers of runs",
            f"{counts}",
            "Give as many runs of each, in the same order.",
        )
