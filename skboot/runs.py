"""Evaluate several runs of one method on one test set, trained anywhere.

Use `bootstrap_runs` for the predictions of several seeds, training samples or training sets. One
set of runs answers for the method, for the next run, for the first system and for the pool of all
runs; `skboot.evaluation.bootstrap_score` is for a single run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack, overload

from ._base import checks as check
from ._base.arguments import Crossed, Trials
from ._base.doors import door
from ._base.errors import tell
from ._base.typing import (
    ArrayLike,
    BlockLength,
    Estimand,
    Metric,
    Metrics,
    RunsInterval,
    RunsOptions,
    Varied,
)
from .inference.intervals import FOR_ONE_LOOK, checked_interval, method_of
from .inference.runs import ESTIMANDS, check_method
from .metrics.lookup import ACCURACY_IF_NOT_GIVEN
from .results import EvaluationResult, ResultTable
from .study.rows import IntervalOptions, Sampling, Scoring, measured_by, name_all_missing
from .study.runs import (
    OF_RUNS,
    VARIED,
    RunsCall,
    checked_columns,
    checked_runs,
    evaluate_runs,
    refusal,
    training_samples,
)
from .study.study import check_units_vary, study_of


@overload
def bootstrap_runs(
    y_true: ArrayLike | None,
    y_preds: Any,
    *,
    metric: Metric = ...,
    **options: Unpack[RunsOptions],
) -> EvaluationResult: ...
@overload
def bootstrap_runs(
    y_true: ArrayLike | None,
    y_preds: Any,
    *,
    metric: Metrics,
    **options: Unpack[RunsOptions],
) -> ResultTable[EvaluationResult]: ...
@door("bootstrap_runs")
def bootstrap_runs(
    y_true: ArrayLike | None,
    y_preds: Any,
    *,
    metric: Metric | Metrics = ACCURACY_IF_NOT_GIVEN,
    varied: Varied = "seed",
    training: ArrayLike | None = None,
    full_runs: Any = None,
    estimand: Estimand = "method",
    groups: ArrayLike | Crossed | Trials | None = None,
    strata: ArrayLike | None = None,
    average_over: ArrayLike | None = None,
    block_length: BlockLength = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    greater_is_better: bool | None = None,
    pos_label: Any = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    interval: RunsInterval = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int | None = None,
) -> EvaluationResult | ResultTable:
    """Score of a method from several training runs on one test set, with an interval for it.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        True labels or values. Several columns are for metrics of several labels or outputs per row;
        records, such as event times, are for callables that take them. None with ``metric="mean"``
        or a callable of predictions alone.
    y_preds : array-like of shape (n_runs, n_samples) or (n_runs, n_samples, n_classes), or list
        Predictions of each run, as in `bootstrap_score`; per-row values with ``metric="mean"``.
    metric : str, callable, scorer, list or dict
        As in `bootstrap_score`. A list or dict gives a dict of results, and so does a callable that
        returns an array or a dict.
    varied : {"seed", "training", "both", "independent"}
        In what the runs differ. "seed": the seed alone, on one training set. "training": each run
        has its own bootstrap sample of the training set. "both": several seeds on each bootstrap
        sample. "independent": each run has its own fresh training set.
    training : array-like of shape (n_runs,), optional
        The training sample of each run, by number or name, with ``varied="both"``.
    full_runs : array-like of shape (n_full_runs, n_samples[, n_classes]), or list, optional
        Predictions of runs on the whole training set, with ``varied="training"`` or "both". The
        interval is centred on them, because a bootstrap sample holds only 63.2% of the rows.
    estimand : {"method", "next_run", "pooled", "system"}
        What the interval is for. "method": the expected score of the method (the learning algorithm
        with all its choices). "next_run": the score of the next run on as many new test rows, a
        prediction interval. "pooled": the spread of single runs, percentiles of all test replicates
        of all runs, which is no confidence interval. "system": the first run alone.
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
    greater_is_better : bool, optional
        Direction of ``"mean"`` and of callables, which skboot cannot know. None: unknown, and
        nothing is called better or worse. A value that contradicts a known metric is refused.
    pos_label : label, optional
        The positive class of metrics that have one, as in `bootstrap_score`.
    n_resamples : int
        Number of test resamples, at least 2; all runs share them.
    confidence_level : float
        In (0, 1).
    interval : str
        "auto"; "components" (variance components, Student's t); "t" (over the seeds alone,
        conditional on the test rows; for "method"); "percentile" (makes the estimand "pooled"); for
        the estimand "system" any name of `bootstrap_score`.
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same numbers at every call.
    n_jobs : int, optional
        Maximum number of workers, used when the work takes seconds. The numbers do not depend on
        it.
    verbose : None, bool or int
        Progress on stderr: 1 always, 0 never; None on a terminal, if the work takes long.

    Returns
    -------
    EvaluationResult or dict
        ``result.interval(estimand=...)`` has the other estimands without computing again;
        ``variance_components`` has the variance by source; ``runs`` holds the scores.

    Raises
    ------
    ValueError
        For arguments that cannot be right, and for the estimands "method" and "next_run" from
        bootstrap samples without ``full_runs``.

    Warns
    -----
    UserWarning
        With fewer than ten runs, where an interval is known to be unreliable, and on the positive
        class as in `bootstrap_score`.

    Notes
    -----
    The test variances are exact for means of row values of independent rows; for other metrics,
    groups, strata and weights they come from the resamples. The formulas are in
    `skboot.inference.runs`, their measured coverage in the user guide. Where the score of one
    run is corrected for its bias (by the jackknife, as macro F1 of many classes is), so is the mean
    over runs. Runs that fail now and then are seen only where one has failed: if a tenth of all
    seeds collapses, ten runs hold no such run in 35% of studies, and intervals covered 73 to 83%.

    References
    ----------
    Searle, Casella & McCulloch (1992), Variance Components; Satterthwaite (1946), Biometrics
    Bulletin 2, 110-114.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import bootstrap_runs
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, size=500)
    >>> hard = rng.random(500) < 0.3  # rows on which ten trained systems err now and then
    >>> wrong = hard & (rng.random((10, 500)) < 0.5)
    >>> result = bootstrap_runs(y_true, y_true ^ wrong, random_state=0)
    >>> print(result)
    0.861 (0.837 to 0.884)
    >>> print(f"next run {result.interval(estimand='next_run'):.2f}")
    next run 0.81 to 0.91
    """
    check.check_choice("varied", varied, VARIED)
    check.check_choice("estimand", estimand, ESTIMANDS)
    level = check.check_confidence_level(confidence_level)
    interval_wanted = checked_interval(interval, [*FOR_ONE_LOOK, "auto", "components"])
    estimand = _checked_estimand(estimand, method_of(interval_wanted))
    workers = check.check_workers(n_jobs, verbose)
    if isinstance(y_preds, Mapping):
        must = "be an array or a list with the predictions of each run of one method"
        advice = (
            "For methods by name use compare_runs(y_true, y_preds), whose values hold the runs of "
            "each; for runs of one method give list(y_preds.values())."
        )
        raise check.fail("y_preds", must, f"a dict of {list(y_preds)[:3]}", advice)
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
    score_options = IntervalOptions(
        interval=interval_wanted, confidence_level=level, workers=workers
    )
    try:
        columns = checked_columns(y_true, sample_weight, labels)
        runs = checked_runs(columns, y_preds, full_runs, varied)
        sample = training_samples(training, varied, runs.n_runs)
        scored = measured_by(scoring, {"": runs.rows})
        n_arrays = len(runs.rows)
        study = study_of(scored, sampling, answers, score_options, scoring.settings, n_arrays)
    except ValueError as error:
        name_all_missing(error, answers | sampling.columns, runs=OF_RUNS)
        raise
    check_units_vary(study.plan, columns.weights)
    if estimand in ("method", "next_run") and (reason := refusal(estimand, varied, runs)):
        raise ValueError(reason)

    results: dict[str, EvaluationResult] = {}
    for study_of_plan in study.of_tasks or [study]:
        call = RunsCall(study_of_plan, runs, sample, varied, estimand)
        results |= evaluate_runs(dict.fromkeys(study_of_plan.scores, call), study_of_plan.scores)
        tell(*study_of_plan.plan.design.remarks)
    answer: EvaluationResult | ResultTable = study.laid_out(results)
    return answer


def _checked_estimand(estimand: Estimand, interval: str) -> Estimand:
    """Return the estimand of the call; refuse an interval that it does not have."""
    if interval == "percentile" and estimand == "method":
        # The pooled recipe goes by the name of its interval.
        return "pooled"
    if estimand != "system":
        check_method("interval", estimand, interval)
    elif interval == "components":
        raise check.fail(
            "interval",
            "be one of bootstrap_score's for the estimand 'system'",
            "'components'",
            "One system has no variance between runs: use interval='auto', or the estimand "
            "'method'.",
        )
    return estimand
