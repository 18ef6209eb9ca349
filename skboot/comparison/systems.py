"""Compare trained systems: on the same rows, or each on a test set of its own.

Systems on the same rows share their resamples, and all that is known of pairs of rows; systems on
test sets of their own are independent. `compare_studies` takes them from wherever they come,
streams among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Unpack, overload

import numpy as np

from .._base import checks as check
from .._base.arguments import Anytime, Crossed, Judge, Trials
from .._base.doors import door
from .._base.errors import Note, collected, tell
from .._base.typing import (
    Adjustment,
    Alternative,
    ArrayLike,
    BlockLength,
    BySystem,
    DifferenceInterval,
    Metric,
    Metrics,
    SystemsOptions,
)
from .._base.values import in_order_of_content
from .._base.work import child_seed
from ..inference.automatic import caution_of_distances
from ..inference.dependence import has_influence
from ..inference.evidence import Evidence
from ..inference.intervals import LEAVING_OUT, OF_STANDARD_ERRORS
from ..inference.proportions import AreasOfSystems
from ..metrics.lookup import ACCURACY_IF_NOT_GIVEN
from ..metrics.ranking import delong_covariance
from ..results import EvaluationResult, ResultTable, wording
from ..results.basis import GapBasis, SystemBasis
from ..results.comparison import ComparisonResult, PairedDifference
from ..study.gaps import (
    NO_PAIR,
    counted_subgroups,
    gap_of,
    no_gap,
    side_of_difference,
    varying_subgroups,
)
from ..study.rows import (
    CallScores,
    IntervalOptions,
    Sampling,
    Scoring,
    checked_rows,
    measured_by,
    name_all_missing,
)
from ..study.study import (
    Draws,
    Score,
    Study,
    chosen_interval,
    make_gap_result,
    score_result,
    study_of,
)
from .arguments import (
    ComparisonOptions,
    check_judged,
    check_reference,
    checked_names,
    checked_options,
    checked_systems,
    constant_answers_note,
    copy_of_truth_note,
    pairs_of,
)
from .families import comparison_of, records_of
from .pairs import ReplicatedDifferences, SameRows, ScoredSystems, SystemPairs, notes_on_pairs

# Maximum units times scores that are left out one by one so that plans of a test set know how sure
# the standard error is: a millisecond. Of more units it is known well.
_MOST_LEFT_OUT = 1 << 15
# Key of the first system's stream below the seed of the call; blocks of one plan have smaller keys.
_OWN_STREAMS = (1 << 31) + 1
# Arguments that hold a column for each system.
_COLUMNS = ("groups", "strata", "average_over", "sample_weight")
# What pairs of rows are needed for, and what to do instead.
_NEEDS_PAIRS = {
    "tango": "which needs both systems on the same rows",
    "logit-delong": "which needs both systems on the same rows",
    "anytime": "which needs both systems on the same rows",
    "bca": "which needs both systems without each row",
}


@overload
def compare_systems(
    y_true: ArrayLike | Mapping[str, ArrayLike] | None,
    y_preds: BySystem,
    *,
    metric: Metric = ...,
    by: None = ...,
    **options: Unpack[SystemsOptions],
) -> ComparisonResult: ...
@overload
def compare_systems(
    y_true: ArrayLike | Mapping[str, ArrayLike] | None,
    y_preds: BySystem,
    *,
    metric: Metrics,
    by: None = ...,
    **options: Unpack[SystemsOptions],
) -> ResultTable[ComparisonResult]: ...
@overload
def compare_systems(
    y_true: ArrayLike | Mapping[str, ArrayLike] | None,
    y_preds: BySystem,
    *,
    metric: Metrics,
    by: ArrayLike,
    **options: Unpack[SystemsOptions],
) -> ResultTable[ResultTable]: ...
@overload
def compare_systems(
    y_true: ArrayLike | Mapping[str, ArrayLike] | None,
    y_preds: BySystem,
    *,
    metric: Metric = ...,
    by: ArrayLike,
    **options: Unpack[SystemsOptions],
) -> ResultTable: ...
@door("compare_systems")
def compare_systems(
    y_true: ArrayLike | Mapping[str, ArrayLike] | None,
    y_preds: BySystem,
    *,
    metric: Metric | Metrics = ACCURACY_IF_NOT_GIVEN,
    reference: str | None = None,
    adjust: Adjustment | None = "max-t",
    groups: ArrayLike | Crossed | Trials | Mapping[str, Any] | None = None,
    strata: ArrayLike | None = None,
    average_over: ArrayLike | None = None,
    block_length: BlockLength = None,
    sample_weight: ArrayLike | None = None,
    by: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    interval: DifferenceInterval | Anytime = "auto",
    alternative: Alternative = "two-sided",
    paired: bool = True,
    proxy: ArrayLike | Mapping[str, ArrayLike] | Judge | None = None,
    greater_is_better: bool | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int | None = None,
) -> ComparisonResult | ResultTable:
    """Compare trained systems on the same test rows, with intervals for their differences.

    Every resample has the same rows for all systems (trained models), so that rows that are hard
    for all of them cancel out of the differences. For systems with test sets of their own use
    ``paired=False``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        True labels or values. Several columns are for metrics of several labels or outputs per row;
        records, such as event times, are for callables that take them. None with ``metric="mean"``
        or a callable of predictions alone.
    y_preds : dict of str to array-like of shape (n_samples,) or (n_samples, n_classes), or frame
        Predictions of each system by its name, as in `bootstrap_score`, also from dask or
        `skboot.scan_dataset`. Row order pairs them.
    metric : str, callable, scorer, list or dict
        As in `bootstrap_score`. A list or dict gives a dict of results, and so does a callable that
        returns an array or a dict; ``adjust`` is for the differences by each of them.
    reference : str, optional
        Name of the system that all others are compared with; all pairs when None.
    adjust : {"max-t", "holm", None}
        For several differences at once. "max-t": simultaneous intervals and p-values from the joint
        bootstrap. "holm": Holm's p-values with Bonferroni intervals. None: neither.
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
    by : array-like of shape (n_samples,), optional
        A category per row: gives a comparison per subgroup and, under ``"gap"``, for each pair of
        systems the two subgroups between which its difference changes most, with an interval that
        is simultaneous over all of these. Subgroups that are too small are left out and named, as
        in `bootstrap_score`.
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of probabilities; beside one label a row, ``labels`` of the metric, as
        in scikit-learn.
    n_resamples : int
        Number of resamples, at least 2.
    confidence_level : float
        In (0, 1).
    interval : str or Anytime
        Of the differences. `skboot.Anytime` holds at every look at growing data: the systems by
        themselves have such intervals too, there are no p-values, and ``adjust`` is Bonferroni's
        rule. ``"auto"`` is ``"expanded"``, but ``"tango"`` where independent rows have fewer than
        ten discordant ones (on which one system alone is right),
        ``"smoothed"`` where fewer than 30 rows decide another difference of functions of a table,
        ``"logit-delong"`` for areas under ROC curves of independent rows without weights or strata,
        and ``"t"`` for other differences of fewer than ten units, or that as few move.
        Or a name: percentile, expanded, two-way (crossed groups), basic, normal, t, bca, smoothed
        (as in `bootstrap_score`), tango
        (right or wrong on independent rows), delong (area under the ROC curve of independent rows),
        logit-delong (the same).
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis of intervals and p-values, as in scipy. "greater": lower limits of
        the first minus the second (a larger loss is greater), and p-values against a difference of
        0 or less. "less": the reverse. The other limit is infinite. With a ``reference`` the other
        system is the first.
    paired : bool
        Whether all systems were scored on the same rows. False: each has its own test set, and
        independent resamples; ``y_true``, ``groups``, ``strata``, ``average_over`` and
        ``sample_weight`` are then dicts with the names of ``y_preds`` (or None), and fixed tasks
        are the same for all systems. Where fewer than ten rows of a system are right, or wrong, the
        interval is Newcombe's (1998). Tango's, BCa, logit-delong and ``by`` need the same rows.
    proxy : array-like of shape (n_samples,), dict of str to array-like, or Judge, optional
        A judge's labels for all rows, where ``y_true`` has human ones for some, as in
        `bootstrap_score`. With ``metric="mean"`` by system, beside human values in ``y_preds``.
        All systems have one weight, by default that of the smallest variance of their differences.
    greater_is_better : bool, optional
        Direction of ``"mean"`` and of callables, which skboot cannot know. None: unknown, and
        nothing is called better or worse. A value that contradicts a known metric is refused.
    pos_label : label, optional
        The positive class of metrics that have one, as in `bootstrap_score`.
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same numbers at every call, whatever the order of the
        systems.
    n_jobs : int, optional
        Maximum number of workers, used when the work takes seconds. The numbers do not depend on
        it.
    verbose : None, bool or int
        Progress on stderr: 1 always, 0 never; None on a terminal, if the work takes long.

    Returns
    -------
    ComparisonResult or dict
        ``pairs`` holds a record per difference, ``systems`` each system by itself. A dict for a
        list or dict of metrics, and for ``by``.

    Raises
    ------
    ValueError
        For arguments that cannot be right; the message says what to do.
    RuntimeError
        If the metric raises on a resample.

    Warns
    -----
    sklearn.exceptions.UndefinedMetricWarning
        If the metric is undefined on some resamples; they are left out and counted.
    UserWarning
        If an interval is known to be unreliable in the case at hand, and on the positive class as
        in `bootstrap_score`.

    See Also
    --------
    bootstrap_score : One system.

    Notes
    -----
    The p-value of a difference is the smallest 1 - level whose interval of the same method excludes
    0, at least 2 / (n_resamples + 1). It is at most 0.05 exactly when the 95% interval excludes 0.
    Simultaneous intervals are d -/+ c se: se is the standard deviation of the difference over the
    resamples, and c the quantile of the largest studentized deviation over all differences
    (Westfall & Young 1993, section 2.3). They contain the interval of the difference by itself.

    "logit-delong" is the outer of DeLong's interval and of one that is recovered from limits of
    both areas on the logit scale, both with Student's t of one less than the rows of the smaller
    class. The second is needed because near an area of 1 DeLong's standard error is smallest where
    the area came out too large.

    References
    ----------
    Westfall & Young (1993), Resampling-Based Multiple Testing; Tango (1998), Statistics in
    Medicine 17, 891-908; DeLong et al. (1988), Biometrics 44, 837-845; Zou & Donner (2008),
    Statistics in Medicine 27, 1693-1702.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import compare_systems
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, size=500)
    >>> hard = rng.random(500) < 0.2  # rows on which both systems often err
    >>> predictions = {
    ...     "large": y_true ^ (hard & (rng.random(500) < 0.5)),
    ...     "small": y_true ^ (hard & (rng.random(500) < 0.7)),
    ... }
    >>> result = compare_systems(y_true, predictions, random_state=0)
    >>> pair = result.pair("large", "small")
    >>> print(f"{pair:.3f}, p = {pair.p_value:.3f}")
    0.034 (0.008 to 0.062), p = 0.010
    """
    sampling = Sampling(
        groups=groups,
        strata=strata,
        average_over=average_over,
        block_length=block_length,
        sample_weight=sample_weight,
        by=by,
        n_resamples=n_resamples,
        random_state=random_state,
    )
    options = checked_options(interval, adjust, confidence_level, alternative, reference, by)
    scoring = Scoring(
        metric=metric, greater_is_better=greater_is_better, pos_label=pos_label, labels=labels
    )
    workers = check.check_workers(n_jobs, verbose)
    score_options = IntervalOptions(
        interval=options.looks or "auto",
        confidence_level=options.confidence_level,
        workers=workers,
    )
    is_paired = check.check_flag("paired", paired)
    if proxy is not None:
        if not is_paired:
            raise check.fail("paired", "be True with proxy", "False")
        return _systems_with_judge(
            proxy, y_true, y_preds, sampling, scoring, score_options, options
        )
    if is_paired:
        study = study_of_systems(y_true, y_preds, sampling, scoring, score_options, options)
        return compare_studies(options, {"": study})
    studies = studies_of_each(y_true, y_preds, sampling, scoring, score_options, options)
    return compare_studies(options, studies, [str(name) for name in checked_names(y_preds)])


def _systems_with_judge(
    proxy: Any,
    y_true: Any,
    y_preds: Any,
    sampling: Sampling,
    scoring: Scoring,
    score_options: IntervalOptions,
    options: ComparisonOptions,
) -> Any:
    """Return the comparison by human labels on few rows and a judge's on all."""
    # Imported here, because few calls have a judge.
    from ..streams.columns import STREAMED_DIFFERENCES
    from ..study.judge import LabelledTwice, with_judge

    labels = LabelledTwice.checked(
        proxy,
        y_true,
        y_preds,
        sampling,
        score_options,
        by_argument=by_argument(y_preds) if y_true is None else {},
        interval=options.interval,
        intervals=STREAMED_DIFFERENCES,
    )
    with collected():
        alone = study_of_systems(*labels.alone, scoring, score_options, options)
    with labels.naming_the_judge():
        by_human = study_of_systems(*labels.by_human, scoring, score_options, options)
        with collected():
            by_judge = study_of_systems(*labels.by_judge, scoring, score_options, options)
    results = {}
    for metric, (study_alone, study) in labels.studies(alone, by_human, by_judge).items():
        with collected() as notes_alone:
            comparison_alone = compare_studies(options, {"": study_alone})
        with collected() as notes_corrected:
            corrected = None if labels.weight == 0 else compare_studies(options, {"": study})
        results[metric] = with_judge(
            labels, study_alone, comparison_alone, notes_alone, corrected, notes_corrected
        )
    return by_human.laid_out(results)


def study_of_systems(
    y_true: Any,
    y_preds: Any,
    sampling: Sampling,
    scoring: Scoring,
    score_options: IntervalOptions,
    options: ComparisonOptions,
    *,
    margin: float | None = None,
) -> Study:
    """Return the study of systems on the same rows, wherever these are.

    Parameters
    ----------
    y_true : array-like or None
    y_preds : mapping of str to array-like
        Predictions by system.
    sampling : Sampling
    scoring : Scoring
    score_options : IntervalOptions
        Options of each system by itself.
    options : ComparisonOptions
    margin : float, optional
        Of a gate: the direction must be known, and systems are called as arguments.
    """
    settings, is_gate = scoring.settings | options.settings, margin is not None
    if check.is_lazy(y_true, *(y_preds.values() if isinstance(y_preds, Mapping) else [y_preds])):
        # Imported here, because few columns are read in parts.
        from ..streams.columns import STREAMED_DIFFERENCES, settings_of_columns, stream_of_columns

        columns = by_argument(y_preds)
        if options.reference is not None:
            check_reference(options.reference, columns)
        stream_settings = settings_of_columns(
            tuple(columns),
            scoring,
            sampling,
            score_options,
            options.looks or options.interval,
            STREAMED_DIFFERENCES,
        )
        if margin is not None:
            check_judged(margin, stream_settings.statistics)
        stream = stream_of_columns(
            stream_settings, y_true, columns, sampling, score_options.workers
        )
        if stream.arguments is None:
            return stream.study(score_options, settings)
        y_true, y_preds, sampling = stream.arguments
    answers = {"y_true": y_true, **(y_preds if is_gate else {"y_preds": y_preds})}
    weights = sampling.sample_weight
    try:
        rows = checked_systems(y_true, y_preds, weights, scoring.labels, are_arguments=is_gate)
        if options.reference is not None:
            check_reference(options.reference, rows)
        scored = measured_by(scoring, {name: [of_system] for name, of_system in rows.items()})
    except ValueError as error:
        name_all_missing(error, answers | sampling.columns)
        raise
    if margin is not None:
        statistics = {
            metric: [measured_system.statistic for [measured_system] in by_system.values()]
            for metric, by_system in scored[0].items()
        }
        check_judged(margin, statistics)
    return study_of(scored, sampling, answers, score_options, settings)


def by_argument(y_preds: Any) -> dict[str | None, tuple[str, Any]]:
    """Return the argument that the predictions of each system came in, and these."""
    return {name: (f"y_preds[{name!r}]", y_pred) for name, y_pred in checked_names(y_preds).items()}


# ------------------------------------------------------------------ systems of studies


def compare_studies(
    options: ComparisonOptions, studies: Mapping[str, Study], names: Sequence[str] | None = None
) -> Any:
    """Compare systems by each metric, wherever their draws come from.

    Parameters
    ----------
    options : ComparisonOptions
    studies : mapping of str to Study
        One study of all systems; or that of each system that has rows of its own, in an order that
        does not depend on the call.
    names : sequence of str, optional
        Names of systems on rows of their own, in the order of the call.

    Returns
    -------
    ComparisonResult or ResultTable
        As of `skboot.compare_systems`.
    """
    any_study = next(iter(studies.values()))
    settings = dict(any_study.settings)
    if names is None:
        names = list(next(iter(any_study.scores.values())))
    else:
        # Settings are by system where they differ.
        settings_by_system = {name: studies[name].settings for name in names}
        for key in dict.fromkeys(
            key for system_settings in settings_by_system.values() for key in system_settings
        ):
            values = {
                name: system_settings[key]
                for name, system_settings in settings_by_system.items()
                if key in system_settings
            }
            value, *further = values.values()
            settings[key] = (
                values if any(system_settings != value for system_settings in further) else value
            )
    pairs = pairs_of(names, options.reference)
    # By metric and subgroup.
    systems_by_metric: dict[str, dict[Any, ScoredSystems]] = {}
    study_of_metric: dict[str, Study] = {}
    remarks: list[Note] = []
    studies_of_plans = [
        study_of_plan for study in studies.values() for study_of_plan in study.of_tasks or [study]
    ]
    for study in studies_of_plans:
        for (metric, part), systems in _scored_systems(options, study).items():
            by_part = systems_by_metric.setdefault(metric, {})
            by_part[part] = by_part[part].beside(systems) if part in by_part else systems
            study_of_metric[metric] = study
        remarks += study.plan.design.remarks
    comparisons: dict[str, Any] = {}
    for metric in any_study.scores:
        by_part = systems_by_metric[metric]
        table: dict[Any, Any] = {
            part: _comparison(options, systems, names, pairs, settings)
            for part, systems in by_part.items()
        }
        comparisons[metric] = table.get(None)
        if len(by_part) > 1:
            gaps = _largest_gaps(options, study_of_metric[metric], metric, by_part, pairs)
            comparisons[metric] = ResultTable(table | {"gap": ResultTable(gaps)})
    tell(*remarks)
    return any_study.laid_out(comparisons)


def _comparison(
    options: ComparisonOptions,
    systems: ScoredSystems,
    names: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    settings: dict[str, Any],
) -> ComparisonResult:
    """Return the comparison by one metric on one subgroup, and note what its pairs lack."""
    system_pairs = SystemPairs(systems, pairs, options)
    with collected() as notes_on_resamples:
        intervals = system_pairs.separate_intervals()
    distribution = ReplicatedDifferences(system_pairs, intervals)
    records = records_of(distribution, pairs, PairedDifference, **distribution.further_columns())
    notes_on_differences = notes_on_pairs(system_pairs, intervals.n_undefined, records)
    notes = [*dict.fromkeys(notes_on_resamples), *notes_on_differences]
    too_few = [note for note in notes if note.kind == "resamples"][:1]
    results = {name: systems.results[name] for name in names}
    fixed = [text for result in results.values() for text in result._provenance.held_fixed[1:]]
    # A note on systems by themselves stands once, with the systems that it holds for.
    holders: dict[Note, list[str]] = {}
    for name in names:
        for note in dict.fromkeys(systems.shared_notes[name]):
            holders.setdefault(note, []).append(name)
    return comparison_of(
        options,
        results,
        records,
        [
            *notes,
            *(note for name in names for note in systems.answer_notes[name]),
            *(
                replace(note, text=f"{wording.holders_of_note(with_note, names)}{note.text}")
                for note, with_note in holders.items()
            ),
        ],
        ComparisonResult,
        warned=[*too_few, *(note for note in notes if note.kind == "caution")],
        metric=systems.metric,
        estimand="system",
        held_fixed=("the trained systems", *dict.fromkeys(fixed)),
        settings=settings,
        paired=systems.same_rows is not None,
    )


def _scored_systems(
    options: ComparisonOptions, study: Study
) -> dict[tuple[str, Any], ScoredSystems]:
    """Return the systems of a plan by metric and subgroup, drawn on common resamples."""
    scores_by_system = _prepared_scores(study)
    names = [name for name, scores in scores_by_system.items() for _ in scores]
    scores = [score for scores in scores_by_system.values() for score in scores]
    draws = study.source.draw(study, scores)
    if options.interval in ("delong", "logit-delong"):
        _check_delong(options, draws)
    # Where the scores of all systems by a metric on a subgroup stand.
    places: dict[tuple[str, Any], list[int]] = {}
    for k, score in enumerate(scores):
        places.setdefault((score.metric, score.part.name), []).append(k)
    same_rows = _same_rows(options, draws, places) if len(scores_by_system) > 1 else {}
    # Each system by itself.
    results, shared_notes, answer_notes = [], [], []
    for name, score, evidence in zip(names, scores, draws.evidence.values(), strict=True):
        chosen = chosen_interval(study, evidence)
        results.append(score_result(study, score, SystemBasis(evidence), chosen))
        notes_on_few = (note for note in chosen.notes if note.kind == "few")
        shared_notes.append((*notes_on_few, *score.notes, *study.notes, *study.plan.design.remarks))
        answers = list(copy_of_truth_note(name, score.rows, "advice"))
        if score.rows.are_constant:
            answers += constant_answers_note(name, [score.rows])
        answer_notes.append(answers)
    return {
        key: ScoredSystems(
            {names[k]: results[k] for k in at},
            {names[k]: shared_notes[k] for k in at},
            {names[k]: answer_notes[k] for k in at},
            same_rows.get(key),
        )
        for key, at in places.items()
    }


def _prepared_scores(study: Study) -> dict[str, list[Score]]:
    """Return the scores of each system by all metrics on all subgroups, before resampling.

    The order of several systems does not depend on that of the call.
    """
    scores_by_system = {
        name: [
            study.source.prepare(study, metric, by_system[name][0], part)
            for metric, by_system in study.scores.items()
            for part in study.parts
        ]
        for name in next(iter(study.scores.values()))
    }
    if len(scores_by_system) == 1:
        return scores_by_system
    numbers = {
        name: [column for score in scores for column in score.numbers]
        for name, scores in scores_by_system.items()
    }
    # Differences do without standard errors on every resample.
    return {
        name: [
            replace(
                score,
                subject=replace(score.subject, with_variance=score.interval in OF_STANDARD_ERRORS),
            )
            for score in scores_by_system[name]
        ]
        for name in in_order_of_content(numbers)
    }


def _check_delong(options: ComparisonOptions, draws: Draws) -> None:
    """Refuse intervals of two areas of what has none."""
    for k, score in draws.scores.items():
        evidence, statistic = draws.evidence[k], score.subject.statistic
        statistic = statistic.unsigned or statistic
        has_delong = evidence.facts.delong is not None and evidence.independent_rows
        if not has_delong or statistic.reads != "pairs":
            raise check.fail(
                "interval",
                f"not be {options.interval!r} unless the metric is the area under the ROC curve of "
                "two classes, on independent, unweighted rows",
                repr(options.interval),
                "Use interval='expanded'.",
            )


def _same_rows(
    options: ComparisonOptions, draws: Draws, places: Mapping[tuple[str, Any], list[int]]
) -> dict[tuple[str, Any], SameRows]:
    """Return the evidence that systems share on the same rows, by metric and subgroup."""
    plan, design = draws.plan, draws.plan.design
    scores, evidence = list(draws.scores.values()), list(draws.evidence.values())
    right = [score.right(system) for score, system in zip(scores, evidence, strict=True)]
    # How sure a standard error is, plans of a test set ask: shares of right rows have closed forms,
    # of others values without single units say it.
    has_error_freedom = all(score.subject.coding.reads in ("sums", "pairs") for score in scores)
    has_error_freedom &= any(rows_right is None for rows_right in right)
    has_error_freedom &= min(design.n_units) * len(scores) <= _MOST_LEFT_OUT
    has_error_freedom &= not design.no_jackknife and draws.binding is not None
    # Rows on which two shares differ are all that looks need.
    by_counts = options.looks is not None and all(system.share is not None for system in evidence)
    left_out = covariances = None
    if (options.interval in LEAVING_OUT and not by_counts) or has_error_freedom:
        if design.no_jackknife:
            must = f"not be {options.interval!r} with {design.groups_in_messages}"
            advice = f"{design.no_jackknife.capitalize()}. Use interval='expanded'."
            raise check.fail("interval", must, repr(options.interval), advice)
        left_out = draws.values_left_out()
    if options.interval == "two-way":
        if design.n_factors == 1 or not all(
            has_influence(score.subject.statistic) for score in scores
        ):
            must = (
                "not be 'two-way' unless groups are crossed, of shape (n_samples, 2), and the "
                "metrics functions of sums or areas under ROC curves"
            )
            advice = "Use interval='expanded'."
            raise check.fail("interval", must, "'two-way'", advice)
        covariances = draws.covariances
    same_rows = {}
    for key, at in places.items():
        tables = [scores[k].table for k in at]
        if options.interval == "auto":
            # Of shares of right rows few that differ have a closed form.
            tables = [None if right[k] is not None else scores[k].table for k in at]
        same_rows[key] = SameRows(
            predicted=[None if options.looks else scores[k].answers for k in at],
            right=[right[k] for k in at],
            left_out=None if left_out is None else replace(left_out, values=left_out.values[at]),
            areas=None
            if evidence[at[0]].facts.delong is None
            else _areas([scores[k] for k in at], [evidence[k] for k in at]),
            covariances=None if covariances is None else covariances[:, at][:, :, at],
            tables=tables,
            seed=plan.seed,
        )
    return same_rows


def _areas(scores: Sequence[Score], evidence: Sequence[Evidence]) -> AreasOfSystems | None:
    """Return the areas under ROC curves of systems, computed in the order of this metric alone."""
    order = in_order_of_content({str(k): score.numbers for k, score in enumerate(scores)})
    rankings = [scores[int(k)].ranking(evidence[int(k)]) for k in order]
    columns = [ranking[1] for ranking in rankings if ranking is not None]
    if rankings[0] is None or len(columns) < len(scores):
        return None
    positive = rankings[0][0]
    areas, covariance = delong_covariance(positive, np.array(columns))
    n_positive, at = int(positive.sum()), np.argsort([int(k) for k in order])
    smaller_class = min(n_positive, len(positive) - n_positive)
    return AreasOfSystems(areas[at], covariance[np.ix_(at, at)], smaller_class)


def _largest_gaps(
    options: ComparisonOptions,
    study: Study,
    metric: str,
    systems_by_part: Mapping[Any, ScoredSystems],
    pairs: Sequence[tuple[str, str]],
) -> dict[str, EvaluationResult]:
    """For each pair of systems, the two subgroups between which its difference changes most.

    The intervals are simultaneous over all pairs of subgroups and all pairs of systems.
    """
    any_system, parts = next(iter(study.scores[metric].values()))[0], study.parts
    evidence_of_all = [
        system_evidence
        for systems in systems_by_part.values()
        for system_evidence in systems.evidence
    ]
    subgroups = counted_subgroups(any_system.statistic, any_system.rows, parts, evidence_of_all)
    number = {name: k for k, name in enumerate(systems_by_part[parts[0].name].results)}
    gaps = {}
    for name_a, name_b in pairs:
        within = [
            systems_by_part[part.name].difference(number[name_a], number[name_b], options)
            for part in parts
        ]
        evidence = [difference.evidence for difference in within]
        numbers, cautions = varying_subgroups(subgroups, evidence, metric)
        pair = NO_PAIR
        gap = no_gap(evidence[0], len(pairs))
        if numbers:
            sides = [
                side_of_difference(
                    any_system.statistic, subgroups[k], evidence[k], within[k].discordant
                )
                for k in numbers
            ]
            (a, b), gap = gap_of(sides, [evidence[k] for k in numbers], len(pairs))
            pair = f"{subgroups[numbers[a]].name} - {subgroups[numbers[b]].name}"
        n_pairs = len(numbers) * (len(numbers) - 1) // 2
        name = f"{name_a} - {name_b}"
        n_changes = n_pairs * len(pairs)
        subject = f"The largest of {n_pairs} changes between subgroups"
        if n_pairs == 1:
            subject = "The change between the two subgroups"
        over_changes = f", with its simultaneous interval over {n_changes} changes"
        notes = [f"{subject} of the difference {name}{over_changes if n_changes > 1 else ''}."]
        result = make_gap_result(
            study,
            GapBasis(gap, metric=metric, pair=f"{name}: {pair}", of_systems=True),
            notes if n_pairs else [],
            [*cautions, *caution_of_distances(evidence_of_all[0])],
        )
        fixed = ("the trained systems", *result.held_fixed[1:])
        gaps[name] = result._with_provenance(held_fixed=fixed)
    return gaps


# ------------------------------------------------------------------ systems on rows of their own


def studies_of_each(
    y_true: Any,
    y_preds: Any,
    sampling: Sampling,
    scoring: Scoring,
    score_options: IntervalOptions,
    options: ComparisonOptions,
) -> dict[str, Study]:
    """Return the study of each system, in an order that does not depend on the call.

    Parameters
    ----------
    y_true, y_preds : mapping of str to array-like
        Truths and predictions by system.
    sampling : Sampling
        Whose columns are given by system, too.
    scoring : Scoring
    score_options : IntervalOptions
        Options of each system.
    options : ComparisonOptions
    """
    columns: list[Any] = []
    for argument in (y_true, y_preds):
        columns += argument.values() if isinstance(argument, Mapping) else [argument]
    if check.is_lazy(*columns):
        advice = "Systems on test sets of their own need arrays: .compute(), or .collect()."
        must = "be True with columns that are not in memory"
        raise check.fail("paired", must, "False", advice)
    if sampling.by is not None:
        must, advice = "be None with paired=False", "Compare each subgroup by itself."
        raise check.fail("by", must, "subgroups", advice)
    if sampling.block_length is not None:
        must = "be None with paired=False"
        advice = "Compare systems on the same rows, or resample whole series by groups."
        raise check.fail("block_length", must, repr(sampling.block_length), advice)
    if options.interval in _NEEDS_PAIRS:
        got = f"{options.interval!r}, {_NEEDS_PAIRS[options.interval]}"
        advice = "Use interval='expanded' or 'auto'."
        must = "be one for systems on different rows with paired=False"
        raise check.fail("interval", must, got, advice)
    named = checked_names(y_preds)
    truths = _values_by_system("y_true", y_true, named)
    by_row = {name: _values_by_system(name, getattr(sampling, name), named) for name in _COLUMNS}
    rows = {}
    for name, predicted in named.items():
        weights = by_row["sample_weight"][name]
        with _columns_of(name):
            of_system = checked_rows(
                truths[name], predicted, weights, scoring.labels, f"y_preds[{name!r}]"
            )
        rows[name] = replace(of_system, truth_argument=f"y_true[{name!r}]")
    if options.reference is not None:
        check_reference(options.reference, rows)
    scores, places = measured_by(scoring, {name: [run] for name, run in rows.items()})
    seed = check.check_seed(sampling.random_state)
    settings = scoring.settings | options.settings | {"paired": False}
    # Names decide the order of systems on the same rows alone.
    contents = {
        name: (rows[name].y_true, rows[name].y_pred, rows[name].sample_weight)
        for name in sorted(rows)
    }
    studies = {}
    for rank, name in enumerate(in_order_of_content(contents)):
        system_sampling = sampling._replace(
            **{key: of_each[name] for key, of_each in by_row.items()},
            random_state=child_seed(seed, _OWN_STREAMS + rank),
            system=name,
        )
        answers = {f"y_true[{name!r}]": truths[name], f"y_preds[{name!r}]": named[name]}
        of_metrics = {metric: {name: by_system[name]} for metric, by_system in scores.items()}
        with _columns_of(name):
            studies[name] = study_of(
                CallScores(of_metrics, places), system_sampling, answers, score_options, settings
            )
    _check_same_tasks(studies)
    return studies


def _columns_of(name: str) -> AbstractContextManager[None]:
    """Say in errors of which system the rows are."""
    arguments = ("y_true", *_COLUMNS)
    return check.arguments_named({argument: f"{argument}[{name!r}]" for argument in arguments})


def _values_by_system(argument: str, values: Any, y_preds: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an argument by system; None for all without any."""
    if values is None:
        return dict.fromkeys(y_preds)
    must = "be a dict with the names of y_preds with paired=False"
    if not isinstance(values, Mapping):
        got = type(values).__name__
        raise check.fail(argument, must, got, "Each system has rows of its own.")
    named = {str(name): value for name, value in values.items()}
    if set(named) != set(y_preds):
        raise check.fail(argument, must, f"{list(named)} beside {list(y_preds)}")
    return named


def _check_same_tasks(studies: Mapping[str, Study]) -> None:
    """Refuse averages over different tasks unless the tasks are drawn: the tasks would differ."""
    names = [set(study.tasks.names) for study in studies.values() if study.tasks is not None]
    if len({frozenset(tasks) for tasks in names}) < 2:
        return
    tasks_are_drawn = True
    for study in studies.values():
        for study_of_plan in study.of_tasks:
            # A study of one system has one score of each metric.
            for by_system in study_of_plan.scores.values():
                for [measured] in by_system.values():
                    tasks_are_drawn &= measured.statistic.parts == "drawn"
    if tasks_are_drawn:
        return
    lacking = sorted(map(str, set.union(*names) - set.intersection(*names)))
    must = "name the same tasks for each system"
    advice = "Give groups=<the tasks> to resample whole tasks, for a claim about new tasks."
    got = f"tasks that some of them lack: {', '.join(lacking[:3])}"
    raise check.fail("average_over", must, got, advice)
