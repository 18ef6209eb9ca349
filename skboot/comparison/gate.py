"""A release gate: fail a test where a model is worse than a reference by more than a margin."""

from __future__ import annotations

from typing import Any, Literal

from .._base import checks as check
from .._base.arguments import Anytime, Crossed, Trials
from .._base.doors import door
from .._base.errors import Note, tell
from .._base.typing import ArrayLike, DifferenceInterval, Metric
from ..metrics.lookup import ACCURACY_IF_NOT_GIVEN
from ..results.comparison import Verdict, check_margin, verdict_of
from ..study.rows import IntervalOptions, Sampling, Scoring
from .arguments import checked_options, copy_of_truth_note
from .systems import compare_studies, study_of_systems

_INCONCLUSIVE = ("fail", "warn", "pass")


@door("assert_not_worse")
def assert_not_worse(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    y_reference: ArrayLike,
    *,
    metric: Metric = ACCURACY_IF_NOT_GIVEN,
    margin: float,
    inconclusive: Literal["fail", "warn", "pass"] = "fail",
    groups: ArrayLike | Crossed | Trials | None = None,
    strata: ArrayLike | None = None,
    average_over: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    interval: DifferenceInterval | Anytime = "auto",
    greater_is_better: bool | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int | None = None,
) -> Verdict:
    """Assert that predictions are not worse than those of a reference by more than a margin.

    A test of non-inferiority for tests and continuous integration: a new release must not lose more
    than ``margin``. The verdict is that of `PairedDifference.verdict` on the paired difference.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
        True labels or values. Several columns are for metrics of several labels or outputs per row;
        records, such as event times, are for callables that take them. None with ``metric="mean"``
        or a callable of predictions alone.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predictions of the model that is judged.
    y_reference : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predictions of the model that it is compared with, on the same rows.
    metric : str, callable or scorer
        As in `skboot.bootstrap_score`; one metric.
    margin : float
        Non-inferiority margin: how much worse ``y_pred`` may be, in units of the metric (0.01 is
        one percentage point of accuracy). At least 0, where it must be better, and below the range
        of the metric.
    inconclusive : {"fail", "warn", "pass"}
        What happens where the data do not decide: an AssertionError, a UserWarning, or nothing.
    groups : array-like of shape (n_samples,) or (n_samples, 2), Crossed or Trials, optional
        Rows of one group (speaker, patient) are resampled together. Two columns are crossed
        factors, as in `skboot.bootstrap_score`.
    strata : array-like of shape (n_samples,), optional
        Units are resampled within strata. Give it where the design fixed their numbers.
    average_over : array-like of shape (n_samples,), optional
        A task (subject, language, site) per row, over which the metric is averaged with equal
        weights. The claim is conditional on these tasks unless ``groups`` holds them, as in
        `skboot.bootstrap_score`.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of probabilities; beside one label a row, ``labels`` of the metric, as
        in scikit-learn.
    n_resamples : int
        Number of resamples, at least 2.
    confidence_level : float
        In (0, 1). At .95 a model that is worse by the margin passes in about 2.5% of data sets.
    interval : str or Anytime
        As in `skboot.compare_systems`. Right and wrong on independent rows are judged by Tango's,
        and areas under ROC curves by ``"logit-delong"``; with `skboot.Anytime` by that.
    greater_is_better : bool, optional
        Direction of ``"mean"`` and of callables, which skboot cannot know; it must be given for
        them.
    pos_label : label, optional
        The positive class of metrics that have one, as in `skboot.bootstrap_score`.
    random_state : None, int, SeedSequence, RandomState or Generator
        Give an int, so that a test has the same outcome at every call.
    n_jobs : int, optional
        Maximum number of workers, used when the work takes seconds. The numbers do not depend on
        it.
    verbose : None, bool or int
        Progress on stderr: 1 always, 0 never; None on a terminal, if the work takes long.

    Returns
    -------
    Verdict
        With the smallest margin that would have passed, and the smallest that these data could
        show.

    Raises
    ------
    AssertionError
        With the statement of the verdict on "fail", and on "inconclusive" unless set otherwise.
    ValueError
        For arguments that cannot be right; the message says what to do.

    Warns
    -----
    UserWarning
        With the statement on "inconclusive", with ``inconclusive="warn"``; where ``y_pred`` equals
        the truth on every row; and as in `skboot.compare_systems`.

    See Also
    --------
    skboot.compare_systems : The comparison behind it.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot.testing import assert_not_worse
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, size=2000)
    >>> released, candidate = (y_true ^ (rng.random(2000) < 0.1) for _ in range(2))
    >>> verdict = assert_not_worse(y_true, candidate, released, margin=0.03, random_state=0)
    >>> verdict.outcome
    'pass'
    """
    # A failure is shown by pytest at the line of the test, not inside this module.
    __tracebackhide__ = True
    check.check_choice("inconclusive", inconclusive, _INCONCLUSIVE)
    margin = check_margin(margin)
    metrics: Any = metric
    if isinstance(metrics, list | tuple | dict | set | frozenset):
        advice = "Assert one metric after the other."
        raise check.fail("metric", "be one metric", f"{type(metrics).__name__}", advice)
    sampling = Sampling(
        groups=groups,
        strata=strata,
        average_over=average_over,
        sample_weight=sample_weight,
        n_resamples=n_resamples,
        random_state=random_state,
    )
    options = checked_options(interval, None, confidence_level, "two-sided", None)
    workers = check.check_workers(n_jobs, verbose)
    study = study_of_systems(
        y_true,
        {"y_pred": y_pred, "y_reference": y_reference},
        sampling,
        Scoring(
            metric=metric,
            greater_is_better=greater_is_better,
            pos_label=pos_label,
            labels=labels,
            several=False,
        ),
        IntervalOptions(
            interval=options.looks or "auto",
            confidence_level=options.confidence_level,
            workers=workers,
        ),
        options,
        margin=margin,
    )
    result = compare_studies(options, {"": study})
    [judged] = next(iter(study.scores.values()))["y_pred"]
    tell(*copy_of_truth_note("y_pred", judged.rows, "caution"))
    verdict = verdict_of(result.pairs[0], margin)
    if verdict.failed or (verdict.outcome == "inconclusive" and inconclusive == "fail"):
        raise AssertionError(verdict.statement)
    if verdict.outcome == "inconclusive" and inconclusive == "warn":
        tell(Note("caution", verdict.statement))
    return verdict
