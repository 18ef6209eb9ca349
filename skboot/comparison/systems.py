"""Compare trained systems on one test set: paired differences from one plan of resamples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack, overload

from numpy.typing import ArrayLike

from .. import _checks as check
from .._doors import door
from .._typing import (
    Adjustment,
    Alternative,
    BlockLength,
    DifferenceInterval,
    Metric,
    Metrics,
    SystemsOptions,
)
from .._warnings import tell
from .._workers import Workers
from ..metrics.names import ACCURACY_IF_NOT_GIVEN
from ..metrics.statistic import Statistic
from ..resampling.plan import ResamplingPlan
from ..results import ResultTable
from ..results.comparison import ComparisonResult
from ..results.table import laid_out
from ..study.prepared import ScoreCall
from ..study.rows import (
    is_lazy,
    part_of_each_row,
    positive_setting,
    resampling_plan,
    statistics_of_systems,
    subgroups,
)
from ..study.series import RowsInTime, in_time
from ..study.tasks import checked_tasks, evaluated
from .arguments import (
    check_asked,
    check_judged,
    check_reference,
    checked_names,
    copy_of_truth,
    named_columns,
    scored,
)
from .families import Asked
from .paired_systems import CompareSystemsCall, compare_systems_of
from .unpaired_systems import (
    UnpairedCall,
    check_unpaired,
    checked_unpaired,
    compare_unpaired,
    settings_of_tasks,
    tasks_of_each,
)

# Arguments of a value for each row, beside truth and predictions.
_BY_ROW = ("groups", "strata", "average_over", "sample_weight")


@overload
def compare_systems(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, ArrayLike],
    *,
    metric: Metric = ...,
    by: None = ...,
    **options: Unpack[SystemsOptions],
) -> ComparisonResult: ...
@overload
def compare_systems(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, ArrayLike],
    *,
    metric: Metrics,
    by: None = ...,
    **options: Unpack[SystemsOptions],
) -> ResultTable[ComparisonResult]: ...
@overload
def compare_systems(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, ArrayLike],
    *,
    metric: Metrics,
    by: ArrayLike,
    **options: Unpack[SystemsOptions],
) -> ResultTable[ResultTable]: ...
@overload
def compare_systems(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, ArrayLike],
    *,
    metric: Metric = ...,
    by: ArrayLike,
    **options: Unpack[SystemsOptions],
) -> ResultTable: ...
@door("compare_systems")
def compare_systems(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, ArrayLike],
    *,
    metric: Metric | Metrics = ACCURACY_IF_NOT_GIVEN,
    reference: str | None = None,
    adjust: Adjustment | None = "max-t",
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    average_over: ArrayLike | None = None,
    block_length: BlockLength = None,
    sample_weight: ArrayLike | None = None,
    by: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    interval: DifferenceInterval = "auto",
    alternative: Alternative = "two-sided",
    paired: bool = True,
    same_population: bool = False,
    greater_is_better: bool | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int | None = None,
) -> ComparisonResult | ResultTable:
    """Compare trained systems on the same test rows, with intervals for their differences.

    Every resample draws the same rows for all systems, so that what is hard for all of them
    cancels out of the differences. Systems on test sets of their own go with ``paired=False``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        True labels or values; several columns for metrics of several labels or outputs a row, and
        records, such as event times, for callables that take them. None with ``metric="mean"`` or
        a callable of predictions alone.
    y_preds : dict of str to array-like of shape (n_samples,) or (n_samples, n_classes)
        Predictions of each system by its name, as `bootstrap_score` takes them, also in parts, from
        dask or `skboot.scan_dataset`. Row order is what pairs them.
    metric : str, callable, scorer, list or dict
        As of `bootstrap_score`. A list or dict gives a dict of results, and so does a callable
        that returns an array or a dict; ``adjust`` is for the differences by each of them.
    reference : str, optional
        Name of the system that all others are compared with; all pairs when None.
    adjust : {"max-t", "holm", None}
        For several differences at once: simultaneous intervals and p-values from the joint
        bootstrap; Holm's p-values with Bonferroni intervals; or none.
    groups : array-like of shape (n_samples,) or (n_samples, 2), optional
        Rows of one group (speaker, patient) are drawn together. Two columns are crossed factors.
    strata : array-like of shape (n_samples,), optional
        Units are drawn within strata.
    average_over : array-like of shape (n_samples,), optional
        A task (subject, language, site) per row: the metric is computed within each task, and the
        tasks are averaged equally, whatever their numbers of rows; ``sample_weight`` acts within
        tasks. Tasks are held fixed, and units drawn within them, unless ``groups`` holds the tasks
        themselves, or coarser groups: then tasks are drawn, for a claim about new tasks.
    block_length : int or "auto", optional
        As of `bootstrap_score`: blocks of so many consecutive rows in time order are drawn.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.
    by : array-like of shape (n_samples,), optional
        A category per row: gives a comparison per subgroup and, under ``"gap"``, for each pair
        of systems the two subgroups between which its difference changes most, with an
        interval that is simultaneous over all of these. Subgroups that say too little leave the
        gap by name, as in `bootstrap_score`.
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of probabilities.
    n_resamples : int
        Number of resamples, at least 2.
    confidence_level : float
        In (0, 1).
    interval : str
        Of the differences: ``"auto"`` (``"expanded"``; ``"tango"`` where fewer than ten
        independent rows tell two systems apart), percentile, expanded, two-way (crossed groups),
        basic, normal, t, bca, tango (right or wrong on independent rows), delong (area under the
        ROC curve of independent rows).
    alternative : {"two-sided", "greater", "less"}
        What intervals and p-values of the differences are against, in scipy's words: "greater"
        gives lower limits of the first minus the second (a larger loss is greater), and p-values
        against a difference of 0 or less; "less" the reverse. The other limit is infinite. With a
        ``reference`` the other system is the first.
    paired : bool
        Whether all systems were scored on the same rows. With False each has a test set of its
        own, and independent resamples: ``y_true``, ``groups``, ``strata``, ``average_over`` and
        ``sample_weight`` are then dicts with the names of ``y_preds`` (or None); fixed tasks are
        the same for all systems. Where fewer than ten rows of a
        system are right, or wrong, the interval is Newcombe's (1998). Tango's, BCa and ``by`` need
        the same rows.
    same_population : bool
        With crossed groups: both columns name members of one population.
    greater_is_better : bool, optional
        Direction of ``"mean"`` and of callables, which skboot cannot know. None: unknown, and then
        nothing is called better or worse. A value that contradicts a known metric is refused.
    pos_label : label, optional
        The positive class of metrics that have one, as of `bootstrap_score`.
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same numbers at every call, whatever the order of the
        systems.
    n_jobs : int, optional
        Workers at most; used when the work takes seconds. The numbers do not depend on it.
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
        `bootstrap_score`.

    See Also
    --------
    bootstrap_score : One system.

    Notes
    -----
    The p-value of a difference is the smallest 1 - level whose interval of the same method
    excludes 0, at least 2 / (n_resamples + 1): it is at most 0.05 exactly when the 95 % interval
    excludes 0. Simultaneous intervals are d -/+ c se, with se the standard deviation of the
    difference over the resamples and c the quantile of the largest studentized deviation over
    all differences (Westfall & Young 1993, section 2.3), never inside the interval of the
    difference by itself.

    References
    ----------
    Westfall & Young (1993), Resampling-Based Multiple Testing; Tango (1998), Statistics in
    Medicine 17, 891-908; DeLong et al. (1988), Biometrics 44, 837-845.

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
    return compared(
        y_true,
        y_preds,
        metric=metric,
        reference=reference,
        adjust=adjust,
        groups=groups,
        strata=strata,
        average_over=average_over,
        block_length=block_length,
        sample_weight=sample_weight,
        by=by,
        labels=labels,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        interval=interval,
        alternative=alternative,
        paired=paired,
        same_population=same_population,
        greater_is_better=greater_is_better,
        pos_label=pos_label,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )


def compared(
    y_true: Any,
    y_preds: Any,
    *,
    metric: Any,
    reference: Any,
    adjust: Any,
    by: Any,
    interval: Any,
    alternative: Any,
    confidence_level: Any,
    n_jobs: Any,
    verbose: Any,
    paired: Any = True,
    margin: float | None = None,
    **rows: Any,
) -> Any:
    """Check the arguments of a public function, and return what it returns and its notes.

    With a margin, of a gate, the direction must be known, and systems are called as arguments.
    """
    level = check.check_confidence_level(confidence_level)
    check_asked(interval, adjust, alternative)
    workers = check.check_workers(n_jobs, verbose)
    asked = Asked.of(interval, adjust, level, alternative, reference)
    settings = _settings(asked, reference, by, rows)
    block_length = rows.get("block_length")
    paired = check.check_flag("paired", paired)
    columns = (*named_columns(y_true), *named_columns(y_preds))
    if is_lazy(*columns):
        given = {"y_true": y_true, "by": by, "metric": metric, "paired": paired, **rows}
        return _streamed(given, y_preds, asked, reference, margin, workers)
    if not paired:
        check_unpaired(interval, by, block_length)
        return _unpaired(y_true, y_preds, metric, asked, reference, rows, settings, workers)
    systems, statistics, places = scored(y_true, y_preds, metric, reference, rows, margin)
    first = next(iter(systems.values()))
    drawn = (rows["groups"], rows["strata"], rows["same_population"], None, rows["n_resamples"])
    plan = resampling_plan(*drawn, rows["random_state"], first.n_samples)
    tasks = checked_tasks(rows["average_over"], first)
    parts = subgroups(by, first)
    scores = {
        metric: {name: [(systems[name], one)] for name, one in own.items()}
        for metric, own in statistics.items()
    }
    of_systems = {"y_preds": y_preds} if margin is None else y_preds
    given = {"y_true": y_true, **of_systems, "by": by}
    given |= {name: rows[name] for name in _BY_ROW}
    asked_of = (rows["groups"], part_of_each_row(parts))
    in_order = RowsInTime(block_length, columns, *asked_of, given=given)
    plan, of_rows = in_time(in_order, plan, tasks, scores)

    def by_plan(plan: ResamplingPlan, own: Mapping[str, Mapping[str, Statistic]]) -> Any:
        alone = ScoreCall(first, plan, "auto", level, settings | of_rows, workers)
        return compare_systems_of(CompareSystemsCall(alone, systems, asked, reference), own, parts)

    results = evaluated(by_plan, plan, tasks, first, statistics, parts)
    if margin is not None:
        tell(*copy_of_truth(next(iter(systems)), first, "caution"))
    return next(iter(results.values())) if places.alone else laid_out(results, *places)


def _streamed(
    given: Mapping[str, Any],
    y_preds: Any,
    asked: Asked,
    reference: Any,
    margin: float | None,
    workers: Workers,
) -> Any:
    """Return what `compared` returns, for columns that are not in memory."""
    # Few calls need a stream.
    from ..streams.lazy import check_streamed, settings_of_lazy, state_of_lazy
    from .streamed_systems import STREAMED_DIFFERENCES

    if not given["paired"]:
        advice = "Systems on test sets of their own need arrays: .compute(), or .collect()."
        must = "be True with columns that are not in memory"
        raise check.fail("paired", must, "False", advice)
    refused = ("strata", "average_over", "block_length", "by", "same_population")
    not_streamed = {name: given.get(name) for name in refused}
    check_streamed(STREAMED_DIFFERENCES, asked.interval, not_streamed)
    by_name = checked_names(y_preds)
    check_reference(reference, by_name)
    options = ("metric", "labels", "n_resamples", "random_state", "greater_is_better", "pos_label")
    settings = settings_of_lazy(
        systems=tuple(by_name),
        interval=asked.interval,
        confidence_level=asked.confidence_level,
        **{name: given[name] for name in options},
    )
    if margin is not None:
        metrics = settings.readings.items()
        check_judged(margin, {name: {"": one.statistic} for name, one in metrics})
    columns = {name: given[name] for name in ("y_true", "groups", "sample_weight")}
    columns |= {f"y_preds[{name!r}]": one for name, one in by_name.items()}
    state = state_of_lazy(settings, columns, workers)
    return compared_stream(settings, state, asked, reference, margin)


def compared_stream(
    settings: Any,
    state: Any,
    asked: Asked,
    reference: Any = None,
    margin: float | None = None,
) -> Any:
    """Return what `compared` returns, for a stream of several systems.

    Parameters
    ----------
    settings : skboot.streams.state.StreamSettings
    state : skboot.streams.state.StreamState
    asked : Asked
    reference, margin
        As of `compared`.
    """
    from ..streams.evaluating import few_given
    from .streamed_systems import compare_streamed

    few = few_given(settings, state)
    if few is None:
        results = compare_streamed(settings, state, asked, reference)
        alone = settings.is_single
        return next(iter(results.values())) if alone else ResultTable(results)
    return compared(
        few.y_true,
        few.y_preds,
        metric=settings.metric,
        reference=reference,
        adjust=asked.adjust,
        by=None,
        interval=asked.interval,
        alternative=asked.alternative,
        confidence_level=asked.confidence_level,
        n_jobs=None,
        verbose=None,
        margin=margin,
        labels=settings.labels,
        greater_is_better=settings.greater_is_better,
        pos_label=settings.pos_label,
        strata=None,
        average_over=None,
        same_population=False,
        **few.options,
    )


def _settings(asked: Asked, reference: Any, by: Any, rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the call as a result holds them."""
    positive = rows["pos_label"]
    if positive is not None:
        positive = check.check_label("pos_label", positive)
    return ({} if positive is None else positive_setting(positive)) | {
        "confidence_level": asked.confidence_level,
        "interval": asked.interval,
        "alternative": asked.alternative,
        "reference": reference,
        "adjust": asked.adjust,
        "n_resamples": rows["n_resamples"],
        "groups": rows["groups"] is not None,
        "strata": rows["strata"] is not None,
        "sample_weight": rows["sample_weight"] is not None,
        "by": by is not None,
        "same_population": check.check_flag("same_population", rows["same_population"]),
    }


def _unpaired(
    y_true: Any,
    y_preds: Any,
    metric: Any,
    asked: Asked,
    reference: Any,
    rows: Mapping[str, Any],
    settings: dict[str, Any],
    workers: Workers,
) -> Any:
    """Return what `compared` returns, for systems on test sets of their own."""
    by_name = checked_names(y_preds)
    systems, drawn = checked_unpaired(y_true, by_name, rows, rows["labels"])
    check_reference(reference, systems)
    better = rows["greater_is_better"]
    statistics, places = statistics_of_systems(
        metric, systems, better, True, pos_label=rows["pos_label"], paired=False
    )
    seed = check.check_seed(rows["random_state"])
    tasks = tasks_of_each(rows["average_over"], systems)
    settings = {**settings, "paired": False, **settings_of_tasks(tasks)}
    call = UnpairedCall(systems, drawn, tasks, asked, reference, seed, settings, workers)
    results = compare_unpaired(call, statistics)
    return next(iter(results.values())) if places.alone else laid_out(results, *places)
