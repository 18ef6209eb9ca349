"""Evaluate frozen systems: one call from predictions to an interval.

Use `bootstrap_score` for the predictions of one trained model on a test set. Its interval says
how far the number would move on new data from the same source; the model is held fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, overload

from ._base import checks as check
from ._base.arguments import Anytime, Crossed, Judge, Trials
from ._base.doors import door
from ._base.errors import collected
from ._base.typing import (
    ArrayLike,
    BlockLength,
    Metric,
    Metrics,
    ScoreInterval,
    ScoreOptions,
    Simultaneous,
)
from .inference.intervals import FOR_ONE_SCORE, checked_interval, method_of
from .metrics.lookup import ACCURACY_IF_NOT_GIVEN
from .results import EvaluationResult, ResultTable
from .study.rows import IntervalOptions, Sampling, Scoring
from .study.study import results_of, study_of_system


@overload
def bootstrap_score(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    metric: Metric = ...,
    by: None = ...,
    **options: Unpack[ScoreOptions],
) -> EvaluationResult: ...
@overload
def bootstrap_score(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    metric: Metrics,
    by: None = ...,
    **options: Unpack[ScoreOptions],
) -> ResultTable[EvaluationResult]: ...
@overload
def bootstrap_score(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    metric: Metrics,
    by: ArrayLike,
    **options: Unpack[ScoreOptions],
) -> ResultTable[ResultTable[EvaluationResult]]: ...
@overload
def bootstrap_score(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    metric: Metric = ...,
    by: ArrayLike,
    **options: Unpack[ScoreOptions],
) -> ResultTable[EvaluationResult]: ...
@door("bootstrap_score")
def bootstrap_score(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    metric: Metric | Metrics = ACCURACY_IF_NOT_GIVEN,
    groups: ArrayLike | Crossed | Trials | None = None,
    strata: ArrayLike | None = None,
    average_over: ArrayLike | None = None,
    block_length: BlockLength = None,
    sample_weight: ArrayLike | None = None,
    by: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    interval: ScoreInterval | Anytime = "auto",
    adjust: Simultaneous | None = None,
    resamples: ArrayLike | Sequence[ArrayLike] | None = None,
    proxy: ArrayLike | Judge | None = None,
    greater_is_better: bool | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int | None = None,
) -> EvaluationResult | ResultTable:
    """Score of a trained model on a test set, with a confidence interval.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        True labels or values. Several columns are for metrics of several labels or outputs per row;
        records, such as event times, are for callables that take them. None with ``metric="mean"``
        or a callable of predictions alone.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels, scores, or probabilities with columns in sorted label order (or as in ``labels``);
        per-row values with ``metric="mean"``. Metrics of labels take the most probable class of
        columns of probabilities (the first of equal ones); scores of one column are never
        thresholded. For several columns of truth give the same columns: 0 or 1 for each label,
        scores, or values.
    metric : str, callable, scorer, list or dict
        A scikit-learn scoring name (signed as scikit-learn does) or function name, a loss by its
        own name (``"log_loss"``: smaller is better), what people call it (``"auc"``, ``"mae"``,
        ``"kappa"``), a metric of `skboot.metrics` that needs no option (``"cllr"``), ``"mean"`` for
        the mean of per-row values, a scorer, or any function ``f(y_true, y_pred)``, with options by
        `functools.partial`. A list or dict gives a dict of results. So does a callable that returns
        a 1-d array, a list or a dict: one result per entry, from one call per resample. With
        ``average=None`` a metric of scikit-learn gives a result for each class.
    groups : array-like of shape (n_samples,) or (n_samples, 2), Crossed or Trials, optional
        Rows of one group (speaker, patient) are resampled together. Two columns, or
        `skboot.Crossed`, are crossed factors (readers and cases); `skboot.Trials` are two members
        of one population (trials of two speakers).
    strata : array-like of shape (n_samples,), optional
        Units are resampled within strata. Give it where the design fixed their numbers.
    average_over : array-like of shape (n_samples,), optional
        A task (subject, language, site) per row. The metric is computed within each task and
        averaged over tasks with equal weights; ``sample_weight`` acts within tasks. The claim is
        conditional on these tasks, unless ``groups`` holds the tasks themselves or coarser groups:
        these are then resampled, for a claim about new tasks.
    block_length : int or "auto", optional
        For rows in time order that depend on those shortly before them, as errors of forecasts do:
        resample blocks of so many consecutive rows, on a circle. Blocks lie within ``strata``, the
        series of a panel, and within tasks of ``average_over``. ``"auto"`` finds the length from
        the rows (Politis & White 2004), and ``settings`` keep it. For a claim about new series give
        ``groups=<the series>`` instead.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row; words per utterance turn a mean of word error rates into the overall
        word error rate.
    by : array-like of shape (n_samples,), optional
        A category per row: gives a result per subgroup and, under ``"gap"``, the largest disparity
        between subgroups, with its simultaneous interval. Subgroups that are too small for it are
        left out and named (see Notes).
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of probabilities; beside one label a row, ``labels`` of the metric, as
        in scikit-learn.
    n_resamples : int
        Number of resamples, at least 2. At 1999 the usual levels are order statistics. Intervals
        without resamples (wilson, clopper-pearson, wald, beta, skewed-t, ewc, delong, bins,
        anytime) make at most 100 000, for the distribution. More than memory holds are refused.
    confidence_level : float
        In (0, 1).
    interval : str or Anytime
        Limits are cut at the range of the metric, and ``interval.uncut`` has those of the formula.
        `skboot.Anytime` holds at every look at growing data.
        ``"auto"`` (the best-measured method for the case, with guards; where fewer than 30 rows
        decide a function of a table, smoothed, or beta for accuracy), or the name of a method:
        wald, wilson, clopper-pearson, beta (of proportions, for few hits or errors), percentile,
        expanded, two-way, basic, normal, t, logit-t, bias-corrected, skewed-t, studentized
        (bootstrap-t), jackknife, ewc, bca, delong, bins, smoothed (tables of truth and decision,
        drawn with a part of a row in each cell).
    adjust : {None, "max-t"}
        For several scores at once, of several metrics or of a metric with several numbers. "max-t":
        simultaneous intervals, each by its own method at the level that the joint bootstrap
        requires. None: each holds by itself.
    resamples : array-like of shape (n_resamples, n_samples), or list of arrays, optional
        0-based row indices to use in place of resampling; ``groups`` then gives the units of the
        jackknife. Arrays of a list may have any number of rows, such as the rows that a training
        sample left out: the spread of the scores is then that of samples of this size.
    proxy : array-like of shape (n_samples,) or Judge, optional
        Labels by a judge, such as a language model, for all rows, where humans labelled only a
        random part: ``y_true`` is NaN or None on the other rows. With ``metric="mean"`` the judge's
        values, and human ones in ``y_pred``. The judge's error is estimated on the labelled rows,
        at least 30 units, and corrected for. The weight of the judge is that of the smallest
        variance, unless `skboot.Judge` gives one.
    greater_is_better : bool, optional
        Direction of ``"mean"`` and of callables, which skboot cannot know. None: unknown, and
        nothing is called better or worse. A value that contradicts a known metric is refused.
    pos_label : label, optional
        The positive class of metrics that have one: F1, precision, recall, areas, error rates at a
        threshold, and all that read scores or probabilities in one column, which are then those of
        this class. None: 1 where that is the default of scikit-learn's function, else the greater
        label, with a warning if labels are text or these differ; of ordered categories the last.
        A metric that names another class is refused.
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
        A dict for a list or dict of metrics, for a metric of several numbers (by entry), and for
        ``by`` (by subgroup, and ``"gap"``).

    Raises
    ------
    ValueError
        For arguments that cannot be right; the message says what to do.
    RuntimeError
        If the metric raises on a resample; the message gives its number.

    Warns
    -----
    sklearn.exceptions.UndefinedMetricWarning
        If the metric is undefined on some resamples; they are left out and counted.
    UserWarning
        If the interval is known to be unreliable in the case at hand, a subgroup is left out of the
        largest disparity, the positive one of two labels in text is not named, ``pos_label`` is
        given for metrics without a positive class, scores rank the rows worse than chance, or no
        metric is given and ``y_true`` looks continuous (more than 30 different numbers, fewer than
        half predicted exactly).

    Notes
    -----
    Arrays of dask, columns of its dataframes, and columns of `skboot.scan_dataset` are read in
    parts and never collected. Rows are then resampled one by one, as by
    `skboot.BootstrapAccumulator`, for fewer metrics and intervals.

    The largest disparity is the difference of the subgroups with the largest and the smallest
    value. Its interval is simultaneous over all pairs; it combines limits of each subgroup,
    Wilson's for 0/1 rows, by recovery of the variances (Newcombe 1998, method 10; Zou & Donner
    2008). A subgroup is left out if it has fewer than 10 rows, fewer than 10 rows of a class where
    the metric is no mean over rows, fewer than 20 rows with a value each, an undefined value on
    some resample, or a value of unbounded range that never varies. With fewer than two left the
    disparity is NaN.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap; Westfall & Young (1993),
    Resampling-Based Multiple Testing, section 2.3; Newcombe (1998), Statistics in Medicine 17,
    873-890; Zou & Donner (2008), Statistics in Medicine 27, 1693-1702; Politis & Romano (1992), A
    circular block-resampling procedure for stationary data; Politis & White (2004), Econometric
    Reviews 23, 53-70, with the correction of 28 (2009), 372-375; Angelopoulos, Duchi & Zrnic
    (2023), PPI++, arXiv:2311.01453; Zrnic (2024), arXiv:2405.18379. The user guide says which
    interval "auto" chooses, and how often each covers.

    Examples
    --------
    >>> from skboot import bootstrap_score
    >>> y_true = [0, 1, 1, 0, 1, 0, 1, 1, 0, 1] * 20
    >>> y_pred = [0, 1, 1, 0, 1, 0, 1, 0, 0, 1] * 20
    >>> result = bootstrap_score(y_true, y_pred, metric="accuracy", random_state=0)
    >>> print(result)
    0.900 (0.851 to 0.935)
    >>> low, high = result.confidence_interval

    A score for each class:

    >>> from functools import partial
    >>> from sklearn.metrics import recall_score
    >>> each = partial(recall_score, average=None)
    >>> by_class = bootstrap_score(y_true, y_pred, metric=each, random_state=0)
    >>> print(by_class[1])
    0.833 (0.763 to 0.894)
    """
    sampling = Sampling(
        groups=groups,
        strata=strata,
        average_over=average_over,
        block_length=block_length,
        sample_weight=sample_weight,
        by=by,
        resamples=resamples,
        n_resamples=n_resamples,
        random_state=random_state,
    )
    scoring = Scoring(
        metric=metric, greater_is_better=greater_is_better, pos_label=pos_label, labels=labels
    )
    level = check.check_confidence_level(confidence_level)
    method = checked_interval(interval, ["auto", *FOR_ONE_SCORE], by=by, adjust=adjust)
    if adjust is not None:
        _check_adjust(adjust, sampling)
    score_options = IntervalOptions(
        interval=method,
        confidence_level=level,
        workers=check.check_workers(n_jobs, verbose),
        adjust=adjust,
    )
    if proxy is not None:
        return _score_with_judge(proxy, y_true, y_pred, sampling, scoring, score_options)
    if check.is_lazy(y_true, y_pred):
        # Imported here, because few columns are read in parts.
        from .streams.columns import streamed

        stream = streamed(y_true, {None: ("y_pred", y_pred)}, scoring, sampling, score_options)
        if stream.arguments is None:
            return results_of(stream.study(score_options, scoring.settings))
        y_true, y_pred, sampling = stream.arguments
    return results_of(study_of_system(y_true, y_pred, sampling, scoring, score_options))


def _score_with_judge(
    proxy: Any,
    y_true: Any,
    y_pred: Any,
    sampling: Sampling,
    scoring: Scoring,
    score_options: IntervalOptions,
) -> Any:
    """Return the score by human labels on few rows and a judge's on all."""
    # Imported here, because few calls have a judge.
    from .streams.columns import STREAMED_SCORES
    from .study.judge import LabelledTwice, with_judge

    labels = LabelledTwice.checked(
        proxy,
        y_true,
        y_pred,
        sampling,
        score_options,
        by_argument={None: ("y_pred", y_pred)},
        interval=method_of(score_options.interval),
        intervals=STREAMED_SCORES,
    )
    with collected():
        alone = study_of_system(*labels.alone, scoring, score_options)
    with labels.naming_the_judge():
        by_human = study_of_system(*labels.by_human, scoring, score_options)
        with collected():
            by_judge = study_of_system(*labels.by_judge, scoring, score_options)
    results = {}
    for metric, (of_labels, study) in labels.studies(alone, by_human, by_judge).items():
        with collected() as notes_alone:
            score_alone = results_of(of_labels)
        with collected() as notes_corrected:
            corrected = None if labels.weight == 0 else results_of(study)
        results[metric] = with_judge(
            labels, of_labels, score_alone, notes_alone, corrected, notes_corrected
        )
    return by_human.laid_out(results)


def _check_adjust(adjust: Any, sampling: Sampling) -> None:
    """Accept "max-t" where all scores are evaluated on the same resamples."""
    if not check.is_among(adjust, ["max-t"]):
        advice = "Use adjust='max-t' for simultaneous intervals."
        raise check.fail("adjust", "be None or 'max-t'", repr(adjust), advice)
    if sampling.by is not None:
        advice = "The largest disparity between subgroups has a simultaneous interval without it."
        raise check.fail("adjust", "be None with by", "'max-t'", advice)
    if sampling.average_over is not None:
        advice = "Some metrics are resampled within classes there, and others are not."
        raise check.fail("adjust", "be None with average_over", "'max-t'", advice)
