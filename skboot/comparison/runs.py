"""Methods compared by several runs (seeds, training samples) of each on one test set.

`compare_runs` checks the runs of each method, and `compare_runs_of` compares them by each metric:
what the test rows and the runs add to the variance of a difference decides its interval by
Student's t, whose joint distribution of several differences is in `StudentDistribution`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.arguments import Crossed, Trials
from .._base.doors import door
from .._base.errors import Note, Notes, collected, tell
from .._base.typing import (
    Adjustment,
    Alternative,
    ArrayLike,
    BlockLength,
    CompareRunsOptions,
    Metric,
    Metrics,
    RunsDifferenceInterval,
    Varied,
)
from ..inference._tuning import JOINT_DRAWS
from ..inference.automatic import caution_of_distances, cautions_of
from ..inference.evidence import joint_bounds
from ..inference.intervals import ALTERNATIVES
from ..inference.multiplicity import LowRankRoot, simultaneous_t
from ..inference.runs import (
    Moments,
    Outperformance,
    ResampleNoise,
    RowNoise,
    RunsDifference,
    UnitNoise,
    advice_on,
    components_difference,
    moments,
    outperformance,
    too_few_pairs,
    welch_difference,
    within_samples,
)
from ..metrics.lookup import ACCURACY_IF_NOT_GIVEN
from ..metrics.statistic import Statistic
from ..resampling.plan import ResamplingPlan
from ..results import EvaluationResult, ResultTable
from ..results.comparison import ComparisonResult, PairedDifference
from ..study.rows import IntervalOptions, Sampling, Scores, Scoring, measured_by, name_all_missing
from ..study.runs import (
    OF_RUNS,
    VARIED,
    Runs,
    RunsCall,
    ScoredRuns,
    SharedColumns,
    checked_columns,
    checked_runs,
    result_of_runs,
    scored_runs,
    training_samples,
)
from ..study.study import check_units_vary, study_of
from .arguments import (
    ComparisonOptions,
    check_adjust,
    check_reference,
    checked_names,
    constant_answers_note,
    pairs_of,
)
from .families import DifferenceDistribution, DifferenceLimits, comparison_of, records_of

Floats = NDArray[np.float64]

_INTERVALS = ("auto", "components", "welch")
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


# ------------------------------------------------------------------ the public function


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
    groups: ArrayLike | Crossed | Trials | None = None,
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
    groups : array-like of shape (n_samples,) or (n_samples, 2), Crossed or Trials, optional
        Rows of one group (speaker, patient) are resampled together. Two columns are crossed
        factors, as in `bootstrap_score`.
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
    check.check_choice("varied", varied, VARIED)
    check_adjust(adjust)
    level = check.check_confidence_level(confidence_level)
    check.check_choice("interval", interval, _INTERVALS)
    check.check_choice("alternative", alternative, ALTERNATIVES)
    workers = check.check_workers(n_jobs, verbose)
    scoring = Scoring(
        metric=metric, greater_is_better=greater_is_better, pos_label=pos_label, labels=labels
    )
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
    score_options = IntervalOptions(interval="auto", confidence_level=level, workers=workers)
    try:
        columns = checked_columns(y_true, sample_weight, labels)
        runs = _checked_runs(columns, y_preds, full_runs, varied)
        samples = _training_samples(runs, training, varied, paired_runs)
        if reference is not None:
            check_reference(reference, runs)
        rows = {name: of_method.rows for name, of_method in runs.items()}
        scored = measured_by(scoring, rows)
        n_arrays = sum(map(len, rows.values()))
        study = study_of(scored, sampling, answers, score_options, scoring.settings, n_arrays)
    except ValueError as error:
        name_all_missing(error, answers | sampling.columns, runs=OF_RUNS)
        raise
    check_units_vary(study.plan, columns.weights)
    options = ComparisonOptions(interval, adjust, level, alternative, reference)
    results: dict[str, ComparisonResult] = {}
    for study_of_plan in study.of_tasks or [study]:
        methods = {
            name: RunsCall(study_of_plan, runs[name], samples[name], varied) for name in runs
        }
        call = CompareRunsCall(methods, bool(paired_runs), options)
        results |= compare_runs_of(dict.fromkeys(study_of_plan.scores, call), study_of_plan.scores)
        tell(*study_of_plan.plan.design.remarks)
    answer: ComparisonResult | ResultTable = study.laid_out(results)
    return answer


def _checked_runs(
    columns: SharedColumns, y_preds: Any, full_runs: Any, varied: str
) -> dict[str, Runs]:
    """Return the checked runs of each method."""
    predictions = checked_names(y_preds, "method")
    full = _values_by_method("full_runs", full_runs)
    on_samples = varied in ("training", "both")
    if on_samples != bool(full) or (full and set(full) != set(predictions)):
        raise check.fail(
            "full_runs",
            "hold runs on the whole training set for every method with varied='training' or "
            "'both', and be None otherwise",
            f"runs for {list(full)}" if full else "None",
            "A bootstrap sample holds 63.2% of the rows, so its runs cannot give the centre.",
        )
    runs = {
        name: checked_runs(columns, values, full.get(name), varied, f"[{name!r}]")
        for name, values in predictions.items()
    }
    sizes = {name: method_runs.rows[0].n_samples for name, method_runs in runs.items()}
    if len(set(sizes.values())) > 1:
        raise check.fail(
            "y_preds",
            "hold as many rows for every method",
            f"{sizes}",
            "Row order is what pairs them; an index is never used.",
        )
    return runs


def _training_samples(
    runs: Mapping[str, Runs], training: Any, varied: str, paired_runs: bool
) -> dict[str, NDArray[np.intp]]:
    """Return the number of each run's training sample by method.

    Pairs of runs, or of training samples by name, that do not belong together are refused.
    """
    n_runs = {name: method_runs.n_runs for name, method_runs in runs.items()}
    if varied != "both":
        training_samples(training, varied, 1)
        samples = {name: training_samples(None, varied, n) for name, n in n_runs.items()}
        check.check_flag("paired_runs", paired_runs)
        if paired_runs and len(set(n_runs.values())) > 1:
            raise check.fail(
                "paired_runs",
                "be False where the methods have different numbers of runs",
                f"{n_runs}",
                "Give as many runs of each, in the same order.",
            )
        return samples
    names_by_method = _values_by_method("training", training)
    if set(names_by_method) != set(runs):
        raise check.fail(
            "training",
            "name the training sample of each run of every method with varied='both'",
            f"names for {list(names_by_method)}" if names_by_method else "None",
            "Use training={'A': [0, 0, 1, 1, ...], 'B': ...}.",
        )
    samples = {
        name: training_samples(names_by_method[name], varied, n) for name, n in n_runs.items()
    }
    check.check_flag("paired_runs", paired_runs)
    names = [set(np.asarray(names_by_method[name]).tolist()) for name in runs]
    if paired_runs and any(names_of_method != names[0] for names_of_method in names):
        raise check.fail(
            "paired_runs",
            "be False where the methods have different training samples",
            "names in training= that differ",
            "Give the same training samples the same names for all methods.",
        )
    return samples


def _values_by_method(argument: str, values: Any) -> dict[str, Any]:
    """Return the values of an argument by the name of their method; empty without any."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        must = "be a dict by the names of y_preds, or None"
        raise check.fail(argument, must, type(values).__name__)
    return {str(name): value for name, value in values.items()}


# ------------------------------------------------------------------ one metric


@dataclass(frozen=True, eq=False)
class CompareRunsCall:
    """Checked arguments of a comparison of methods by several runs of each.

    Attributes
    ----------
    methods : dict of str to RunsCall
        Call of each method by itself; the plan, the level and what varies are the same.
    paired : bool
        Whether runs, or training samples, of the same number belong together.
    options : ComparisonOptions
    """

    methods: dict[str, RunsCall]
    paired: bool
    options: ComparisonOptions

    @cached_property
    def any_method(self) -> RunsCall:
        """Runs of the first method, for what all have in common."""
        return next(iter(self.methods.values()))

    @cached_property
    def plan(self) -> ResamplingPlan:
        """Plan of the resamples of test units, which all methods share."""
        return self.any_method.study.plan


@dataclass(frozen=True, eq=False)
class _ScoredMethod:
    """Scores and noise of all runs of a method.

    Attributes
    ----------
    name : str
    runs_call : RunsCall
    scores : ndarray of shape (n_runs,)
        Those on the full training set last.
    noise : RowNoise or ResampleNoise
        Noise of the same runs.
    series : ndarray of shape (n,)
        Average over the runs that give the centre, per row or per resample.
    result : EvaluationResult
        The method by itself.
    cautions : list of Note
        What makes intervals on these test data unreliable.
    """

    name: str
    runs_call: RunsCall
    scores: Floats
    noise: UnitNoise
    series: Floats
    result: EvaluationResult
    cautions: Notes

    @cached_property
    def moments(self) -> Moments:
        """Moments of training samples, averaged over seeds; of runs where each has its own."""
        return moments(self.scores, self.noise, self.runs_call.samples)

    def fewer_seeds(self) -> tuple[float, float]:
        """Variance that fewer seeds on the whole list than on each sample add, and its freedom.

        As for one method: `skboot.inference.runs.trained_runs`.
        """
        within = within_samples(self.scores, self.noise, self.runs_call.samples)
        fewer = max(1 / len(self.runs_call.centre) - 1 / within.n_seeds, 0.0)
        seed = 0.0 if np.isnan(within.seed) else within.seed
        return seed * fewer, float(within.degrees_of_freedom)


def compare_runs_of(
    calls: Mapping[str, CompareRunsCall], scores_by_metric: Scores
) -> dict[str, ComparisonResult]:
    """Compare methods by each metric: the engine of `skboot.compare_runs`.

    Parameters
    ----------
    calls : mapping of str to CompareRunsCall
        Calls by metric name: metrics may read other answers of the runs, to the same plan.
    scores_by_metric : Scores
        Scores of all methods.

    Returns
    -------
    dict of str to ComparisonResult
        By metric name.
    """
    scored = scored_runs({metric: call.methods for metric, call in calls.items()}, scores_by_metric)
    return {
        metric: _compare_by(calls[metric], metric, scored[metric]) for metric in scores_by_metric
    }


def _compare_by(
    call: CompareRunsCall, metric: str, scored: Mapping[str, ScoredRuns]
) -> ComparisonResult:
    """Return the comparison by one metric, and give its notes to the call."""
    is_welch, plan = call.options.interval == "welch", call.plan
    statistic: Statistic = next(iter(scored.values())).subjects[0].statistic
    methods = _scored_methods(call, metric, scored)
    distribution = _RunsDistribution(call, methods)
    differences = distribution.t_differences
    sides = [(methods[name], methods[name_b]) for name, name_b in distribution.pairs]
    # By the distribution of the intervals: resamples of test rows do not say how runs vary.
    towards = -1 if sides[0][0].result.greater_is_better is False else 1
    higher = [
        0.5 + 0.5 * np.sign(towards * pair.difference) * (1 - pair.p_value) for pair in differences
    ]
    records = records_of(
        distribution,
        distribution.pairs,
        PairedDifference,
        bootstrap_support=list(map(float, higher)),
        components=[{"runs": pair.of_runs, "test": pair.of_test} for pair in differences],
        n_runs=[
            (method.runs_call.runs.n_runs, method_b.runs_call.runs.n_runs)
            for method, method_b in sides
        ],
        outperformance=[_outperformance(call, method, method_b) for method, method_b in sides],
    )
    one_list = call.any_method.keeps_training_list
    held_fixed = ["the training set" if one_list else "the settings of the methods"]
    if is_welch:
        held_fixed.append("the test rows")
    notes = _notes_on_runs(call, records, differences, statistic.greater_is_better)
    for method in methods.values():
        # Welch's interval takes the test rows as they are.
        method_notes = Notes() if is_welch else Notes(method.cautions)
        method_notes += method.runs_call.runs.rows[0].notes_for(statistic)
        method_notes += constant_answers_note(method.name, method.runs_call.runs.rows)
        notes += (note for note in method_notes if note not in notes)
    arguments = call.any_method.study_of_system.settings
    return comparison_of(
        call.options,
        {name: method.result for name, method in methods.items()},
        records,
        [*notes, *plan.design.remarks],
        ComparisonResult,
        warned=notes,
        metric=metric,
        estimand="method",
        held_fixed=(*held_fixed, *plan.design.held_fixed),
        settings={
            "varied": call.any_method.varied,
            "paired_runs": call.paired,
            **call.options.settings,
            "n_resamples": plan.n_resamples,
            "n_runs": {name: method.runs.n_runs for name, method in call.methods.items()},
            **{name: arguments[name] for name in _SHARED if name in arguments},
        },
        paired_runs=call.paired,
    )


def _scored_methods(
    call: CompareRunsCall, metric: str, scored: Mapping[str, ScoredRuns]
) -> dict[str, _ScoredMethod]:
    """Return the scores and the noise of each method by one metric."""
    replicates = np.concatenate([runs.replicates for runs in scored.values()])
    defined = ~np.isnan(replicates).any(axis=0)
    methods = {}
    for name, runs in scored.items():
        noise: UnitNoise
        if runs.row_values is not None:
            sign = runs.subjects[0].statistic.sign
            noise = RowNoise([values * sign for values in runs.row_values])
        else:
            noise = ResampleNoise(runs.replicates[:, defined], call.plan.design.inflation)
        with collected():  # the comparison repeats what must be warned of
            result = result_of_runs(metric, runs)
        cautions = Notes(cautions_of(runs.system, several_runs=True))
        cautions += caution_of_distances(runs.system)
        series = np.asarray(noise.average(runs.call.centre), dtype=np.float64)
        methods[name] = _ScoredMethod(name, runs.call, runs.scores, noise, series, result, cautions)
    return methods


def _difference(
    call: CompareRunsCall, method: _ScoredMethod, method_b: _ScoredMethod
) -> RunsDifference:
    """First method minus second."""
    # The centre comes from the runs on the full list, where there are any.
    scores, scores_b = (
        method.scores[method.runs_call.centre],
        method_b.scores[method_b.runs_call.centre],
    )
    if call.options.interval == "welch":
        if call.paired:
            return welch_difference(scores - scores_b, None)
        return welch_difference(scores, scores_b)
    difference = components_difference(
        _paired_moments(method, method_b) if call.paired else method.moments,
        None if call.paired else method_b.moments,
        method.noise.variance(method.series - method_b.series),
        call.plan.design.degrees_of_freedom,
        divided=not call.any_method.on_samples,
        seeds=[method.fewer_seeds(), method_b.fewer_seeds()]
        if call.any_method.varied == "both"
        else [],
    )
    return difference._replace(difference=float(scores.mean() - scores_b.mean()))


def _paired_moments(method: _ScoredMethod, method_b: _ScoredMethod) -> Moments:
    """Moments of the differences of training samples (runs) that belong together."""
    scores, series = [], []
    for runs, runs_b in zip(method.runs_call.samples, method_b.runs_call.samples, strict=True):
        scores.append(method.scores[runs].mean() - method_b.scores[runs_b].mean())
        average = np.asarray(method.noise.average(runs), dtype=np.float64)
        series.append(average - np.asarray(method_b.noise.average(runs_b), dtype=np.float64))
    noise: UnitNoise = RowNoise(series)
    if isinstance(method.noise, ResampleNoise):
        noise = ResampleNoise(np.array(series), method.noise.inflation)
    return moments(np.array(scores), noise, [[k] for k in range(len(series))])


def _outperformance(
    call: CompareRunsCall, method: _ScoredMethod, method_b: _ScoredMethod
) -> Outperformance | None:
    """P(A > B) over runs that belong together, where it is known which score is the better one."""
    sizes = [len(runs) for runs in method.runs_call.samples]
    greater_is_better = method.result.greater_is_better
    are_alike = sizes == [len(runs) for runs in method_b.runs_call.samples]
    if not call.paired or greater_is_better is None or not are_alike:
        return None
    sign = 1.0 if greater_is_better else -1.0
    return outperformance(
        sign * method.scores[np.concatenate(method.runs_call.samples)],
        sign * method_b.scores[np.concatenate(method_b.runs_call.samples)],
        samples=np.repeat(np.arange(len(sizes)), sizes),
        n_resamples=call.plan.n_resamples,
        confidence_level=call.options.confidence_level,
        seed=call.plan.seed,
    )


# ------------------------------------------------------------------ the distribution of differences


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


class StudentDistribution(DifferenceDistribution):
    """Distribution of several differences by Student's t.

    Attributes
    ----------
    options : ComparisonOptions
    t_differences : sequence of TDifference
    method : str
        Name of the interval of each by itself.
    seed : numpy.random.SeedSequence
        Seed of the draws from the joint distribution.
    n_draws : int
        How many there are.
    bounds : tuple of float
        Range of the metric.
    """

    n_draws = JOINT_DRAWS

    def __init__(
        self,
        options: ComparisonOptions,
        t_differences: Sequence[TDifference],
        method: str,
        seed: np.random.SeedSequence,
        bounds: tuple[float, float],
    ) -> None:
        self.options, self.bounds, self.seed = options, bounds, seed
        self.t_differences, self.method = t_differences, method
        self.differences = np.array([pair.difference for pair in t_differences], dtype=np.float64)
        self.standard_errors = np.array(
            [pair.standard_error for pair in t_differences], dtype=np.float64
        )
        self.degrees_of_freedom = [pair.degrees_of_freedom for pair in t_differences]

    @abstractmethod
    def root_of_correlation(self, numbers: Sequence[int]) -> LowRankRoot:
        """Root of the correlation of the errors of some differences, by their numbers."""

    @cached_property
    def separate_limits(self) -> DifferenceLimits:
        """See `DifferenceDistribution.separate_limits`."""
        return self._limits_at(self.options.confidence_level, self._p_values, self.method)

    def bonferroni_limits(self) -> DifferenceLimits:
        """See `DifferenceDistribution.bonferroni_limits`."""
        level = 1 - (1 - self.options.confidence_level) / len(self.t_differences)
        return self._limits_at(level, self._p_values, "bonferroni")

    @property
    def statistics(self) -> Floats:
        """Differences by their standard errors, (n_pairs,); NaN where these are 0."""
        errors = self.standard_errors
        return np.divide(
            self.differences, errors, out=np.full_like(errors, np.nan), where=errors > 0
        )

    def max_t_limits(self) -> DifferenceLimits:
        """See `DifferenceDistribution.max_t_limits`."""
        joint = simultaneous_t(
            self._p_values,
            self.statistics,
            np.array(self.degrees_of_freedom),
            confidence_level=self.options.confidence_level,
            root_of_correlation=self.root_of_correlation,
            seed=self.seed,
            alternative=self.options.alternative,
            n_draws=self.n_draws,
        )
        limits = self._limits_at(joint.level, joint.p_values, "max-t", joint.signs)
        flat = ~(self.standard_errors > 0)
        if not flat.any():
            return limits
        # Differences without any spread are not among the largest deviations: Bonferroni's rule.
        strict = self.bonferroni_limits()
        assert limits.signs is not None
        signs = (strict.low_uncut > 0).astype(np.int8) - (strict.high_uncut < 0)
        p_values = np.minimum(len(flat) * strict.p_values, 1.0)
        return replace(
            limits,
            low_uncut=np.where(flat, strict.low_uncut, limits.low_uncut),
            high_uncut=np.where(flat, strict.high_uncut, limits.high_uncut),
            p_values=np.where(flat, p_values, limits.p_values),
            signs=np.where(flat, signs, limits.signs),
        )

    @cached_property
    def _p_values(self) -> Floats:
        """Two-sided p-values, or their halves on the side of the difference, (n_pairs,)."""
        p_values = np.array([pair.p_value for pair in self.t_differences], dtype=np.float64)
        if self.options.alternative == "two-sided":
            return p_values
        towards = self.differences * (1 if self.options.alternative == "greater" else -1)
        away = np.where(self.standard_errors == 0, 1.0, 1 - p_values / 2)
        halves = np.where(towards > 0, p_values / 2, away)
        return np.where(np.isnan(p_values), p_values, halves)

    def _limits_at(
        self, level: float, p_values: Floats, method: str, signs: NDArray[np.int8] | None = None
    ) -> DifferenceLimits:
        """Return the limits of each difference at a level; one is infinite if one-sided."""
        alternative, limits = self.options.alternative, []
        for pair in self.t_differences:
            if alternative == "two-sided":
                limits.append(pair.interval(level))
                continue
            # Score limits of a quantile below 0 do not exist; the estimate of a difference without
            # any spread is further out than those.
            at_least = level if pair.standard_error != 0 else max(level, 0.5)
            low, high = pair.interval(2 * at_least - 1)
            limits.append((low, np.inf) if alternative == "greater" else (-np.inf, high))
        low, high = np.array(limits).T
        names: NDArray[Any] = np.full(len(low), method, dtype=object)
        return DifferenceLimits(low, high, p_values, names, signs=signs)


def root_of(loadings: Floats, covariance: Floats) -> LowRankRoot:
    """Root of the correlation of ``loadings @ covariance @ loadings.T``; 0 of what is constant."""
    variances = np.maximum(((loadings @ covariance) * loadings).sum(axis=1), 0.0)
    scale = np.where(variances > 0, np.sqrt(variances), np.inf)
    return LowRankRoot.of(loadings / scale[:, None], covariance)


def contrasts(pairs: Sequence[tuple[int, int]], n_methods: int) -> Floats:
    """Return what each pair takes of each method, (n_pairs, n_methods): 1, -1 and 0."""
    methods, methods_b = np.array(pairs, dtype=np.intp).T
    return np.asarray(np.eye(n_methods)[methods] - np.eye(n_methods)[methods_b])


class _RunsDistribution(StudentDistribution):
    """Distribution of the differences of methods by several runs of each.

    Attributes
    ----------
    call : CompareRunsCall
    methods : mapping of str to _ScoredMethod
    pairs : list of tuple of str
    t_differences : list of RunsDifference
    """

    t_differences: list[RunsDifference]

    def __init__(self, call: CompareRunsCall, methods: Mapping[str, _ScoredMethod]) -> None:
        self.call, self.methods = call, methods
        self.pairs = pairs_of(methods, call.options.reference)
        differences = [
            _difference(call, methods[name], methods[name_b]) for name, name_b in self.pairs
        ]
        method = "welch" if call.options.interval == "welch" else "components"
        bounds = joint_bounds(of_method.result._evidence for of_method in methods.values())
        super().__init__(call.options, differences, method, call.plan.seed, bounds)

    def root_of_correlation(self, numbers: Sequence[int]) -> LowRankRoot:
        """See `StudentDistribution.root_of_correlation`: by common test units and methods."""
        call, methods = self.call, list(self.methods.values())
        if self.options.interval == "welch":
            scores = [method.scores[method.runs_call.centre] for method in methods]
            if call.paired:
                covariance = np.cov(np.array(scores)) / len(scores[0])
            else:
                errors = [float(np.var(of_method, ddof=1)) / len(of_method) for of_method in scores]
                covariance = np.diag(errors)
        else:
            series = np.array([method.series for method in methods])
            covariance, noise = np.atleast_2d(np.cov(series)), methods[0].noise
            covariance *= (
                noise.inflation if isinstance(noise, ResampleNoise) else 1 / series.shape[1]
            )
            covariance += self._covariance_of_runs()
        number = {name: k for k, name in enumerate(self.methods)}
        pairs = [
            (number[name], number[name_b]) for name, name_b in (self.pairs[k] for k in numbers)
        ]
        return root_of(contrasts(pairs, len(number)), covariance)

    def _covariance_of_runs(self) -> Floats:
        """Covariance of the scores that the runs add; without pairs a diagonal."""
        call, methods = self.call, self.methods.values()
        samples = [method.moments for method in methods]
        weights = np.array(
            [1.0 if call.any_method.on_samples else 1 / of_method.n for of_method in samples]
        )
        if call.paired:
            covariance = np.cov(np.array([of_method.scores for of_method in samples])) * weights[0]
        else:
            parts = [max(of_method.between - of_method.interaction, 0.0) for of_method in samples]
            covariance = np.diag(parts * weights)
        if call.any_method.varied == "both":
            covariance += np.diag([method.fewer_seeds()[0] for method in methods])
        return np.asarray(covariance)


# ------------------------------------------------------------------ what must be said


def _notes_on_runs(
    call: CompareRunsCall,
    records: Sequence[PairedDifference],
    differences: Sequence[RunsDifference],
    greater_is_better: bool | None,
) -> Notes:
    """Return notes on the differences, for readers of the result."""
    notes = Notes()
    fewest = min(len(runs.samples) for runs in call.methods.values())
    if fewest < _FEW_RUNS:
        noun = "training samples" if call.any_method.varied == "both" else "runs"
        notes.add(
            "few",
            f"Only {fewest} {noun} of a method (fewer than {_FEW_RUNS}): the variance between "
            "them is poorly estimated, and the intervals are wide.",
        )
    if call.options.interval == "welch":
        notes.add(
            "advice",
            "Welch's interval varies the runs alone and is conditional on the test rows. For two "
            "methods of equal merit it excludes 0 far more often than stated.",
        )
    narrowing_notes: list[Note] = []
    divided = not call.any_method.on_samples
    for record, difference in zip(records, differences, strict=True):
        if difference.standard_error == 0:
            notes.add(
                "degenerate",
                f"{record.first} and {record.second}: neither the runs nor the test rows vary, so "
                "the interval is degenerate; this does not show that the difference is exact.",
            )
        elif call.options.interval != "welch" and len(narrowing_notes) < _MOST_ADVISED:
            interaction = difference.of_both
            sources = {"runs": difference.of_runs, "test": difference.of_test - interaction}
            savings = {"test units": difference.of_test / 2}
            if divided:
                savings["runs of each method"] = (difference.of_runs + interaction) / 2
            text = advice_on("difference", sources | {"interaction": interaction}, savings)
            names = f"{record.first} - {record.second}"
            narrowing_notes.append(
                Note("advice", f"{names}: {text}.{'' if divided else _ONE_LIST}")
            )
    notes += narrowing_notes
    if call.paired and greater_is_better is None:
        notes.add("advice", "P(A > B) is left out: the direction of the metric is unknown.")
    too_few = too_few_pairs(record.outperformance for record in records)
    notes += [Note("advice", text) for text in too_few]
    return notes
