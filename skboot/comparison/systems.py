"""Compare trained systems on one test set: paired differences from one plan of resamples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack, overload

from numpy.typing import ArrayLike

from .._base import checks as check
from .._base.doors import door
from .._base.errors import tell
from .._base.typing import (
    Adjustment,
    Alternative,
    BlockLength,
    DifferenceInterval,
    Metric,
    Metrics,
    ProxyWeight,
    SystemsOptions,
)
from ..metrics.lookup import ACCURACY_IF_NOT_GIVEN
from ..metrics.statistic import Statistic
from ..results import ResultTable
from ..results.comparison import ComparisonResult
from ..streams.columns import STREAMED_DIFFERENCES, Request, columns_in, of_columns
from ..study.measured import Scoring, measured_by
from ..study.rows import Judge, Sampling, Wanted, is_lazy
from ..study.study import Study, study_of
from .arguments import (
    arguments_of,
    check_judged,
    check_reference,
    checked_asked,
    checked_names,
    checked_systems,
    copy_of_truth,
)
from .asked import Asked
from .system_studies import compare_systems_of
from .unpaired_systems import studies_of_each


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
    first_look: int | None = None,
    alternative: Alternative = "two-sided",
    paired: bool = True,
    same_population: bool = False,
    proxy: ArrayLike | Mapping[str, ArrayLike] | None = None,
    proxy_weight: ProxyWeight = "auto",
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
    y_preds : dict of str to array-like of shape (n_samples,) or (n_samples, n_classes)
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
    interval : str
        Of the differences. ``"auto"`` is ``"expanded"``, but ``"tango"`` where independent rows
        have fewer than ten discordant ones (on which one system alone is right),
        ``"smoothed"`` where fewer than 30 rows decide another difference of functions of a table,
        ``"logit-delong"`` for areas under ROC curves of independent rows without weights or strata,
        and ``"t"`` for other differences of fewer than ten units, or that as few move.
        Or a name: percentile, expanded, two-way (crossed groups), basic, normal, t, bca, smoothed
        (as in `bootstrap_score`), tango
        (right or wrong on independent rows), delong (area under the ROC curve of independent rows),
        logit-delong (the same), anytime (holds at every look).
    first_look : int, optional
        With ``interval="anytime"``: the number of rows, or groups, at the first look, as in
        `bootstrap_score`. The systems by themselves have such intervals too; there are no p-values,
        and ``adjust`` is Bonferroni's rule.
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
    same_population : bool
        With crossed groups: both columns name members of one population (trials of two speakers).
    proxy : array-like of shape (n_samples,), or dict of str to array-like, optional
        A judge's labels for all rows, where ``y_true`` has human ones for some, as in
        `bootstrap_score`. With ``metric="mean"`` by system, beside human values in ``y_preds``.
    proxy_weight : "auto" or float
        As in `bootstrap_score`, one for all systems: "auto" is the weight of the smallest variance
        of their differences.
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
    0, at least 2 / (n_resamples + 1). It is at most 0.05 exactly when the 95 % interval excludes 0.
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
        same_population=same_population,
        n_resamples=n_resamples,
        random_state=random_state,
    )
    asked = checked_asked(
        interval, adjust, confidence_level, alternative, reference, first_look, by
    )
    request = SystemsRequest(
        y_true,
        y_preds,
        Scoring(metric, greater_is_better, pos_label, labels),
        sampling,
        Wanted(
            asked.of_systems,
            asked.confidence_level,
            check.check_workers(n_jobs, verbose),
            first_look=asked.first_look,
        ),
        asked,
    )
    is_paired = check.check_flag("paired", paired)
    if proxy is None and isinstance(proxy_weight, str) and proxy_weight == "auto":
        return compared(request) if is_paired else _unpaired(request)
    if not is_paired:
        raise check.fail("paired", "be True with proxy", "False")
    # Imported here, because few calls have a judge.
    from ..study.judged import with_judge

    return with_judge(
        Judge(proxy, proxy_weight),
        y_true,
        y_preds,
        sampling,
        request.wanted,
        lambda *given: replace(
            request, **dict(zip(("y_true", "y_preds", "sampling"), given, strict=True))
        ).in_memory(),
        partial(_compared_on, request),
        by_argument=request.by_argument if y_true is None else {},
        interval=request.interval,
        intervals=request.intervals,
    )


@dataclass(frozen=True, eq=False)
class SystemsRequest(Request):
    """What is given of systems, and asked of them.

    Attributes
    ----------
    asked : Asked
    margin : float or None
        Of a gate: the direction must be known, and systems are called as arguments.
    """

    intervals = STREAMED_DIFFERENCES

    asked: Asked
    margin: float | None = None

    @property
    def are_arguments(self) -> bool:
        """Whether each system has an argument of its name."""
        return self.margin is not None

    @property
    def interval(self) -> str:
        """Of differences."""
        return self.asked.interval

    @property
    def settings(self) -> dict[str, Any]:
        """See `Request.settings`."""
        return self.scoring.settings | self.asked.settings

    @property
    def by_argument(self) -> dict[str | None, tuple[str, Any]]:
        """See `Request.by_argument`."""
        named = checked_names(self.y_preds)
        return {name: (f"y_preds[{name!r}]", one) for name, one in named.items()}

    def check_before_reading(self) -> None:
        """Refuse a reference that is no system."""
        check_reference(self.asked.reference, checked_names(self.y_preds))

    def check_statistics(self, statistics: Mapping[str, Sequence[Statistic]]) -> None:
        """Refuse metrics by which a gate cannot judge."""
        if self.margin is not None:
            check_judged(self.margin, statistics)

    def in_memory(self) -> Study:
        """Return the study of rows in memory."""
        systems = checked_systems(
            self.y_true,
            self.y_preds,
            self.sampling.sample_weight,
            self.scoring.labels,
            are_arguments=self.are_arguments,
        )
        check_reference(self.asked.reference, systems)
        scored = measured_by(self.scoring, arguments_of(systems, are_arguments=self.are_arguments))
        self.check_statistics(
            {metric: [one.statistic for [one] in own.values()] for metric, own in scored[0].items()}
        )
        given = self.y_preds if self.are_arguments else {"y_preds": self.y_preds}
        answers = {"y_true": self.y_true, **given}
        return study_of(scored, self.sampling, answers, self.wanted, self.settings)


def compared(request: SystemsRequest) -> Any:
    """Return the comparison of systems on the same rows."""
    study = of_columns(request)
    systems = {name: own.rows for name, [own] in next(iter(study.scores.values())).items()}
    result = compare_systems_of(request.asked, list(systems), {"": study})
    if request.are_arguments:
        tell(*copy_of_truth(*next(iter(systems.items())), "caution"))
    return result


def _compared_on(request: SystemsRequest, study: Study) -> Any:
    """Return the comparison of the systems of a study."""
    return compare_systems_of(request.asked, list(next(iter(study.scores.values()))), {"": study})


def _unpaired(request: SystemsRequest) -> Any:
    """Return the comparison of systems on test sets of their own."""
    y_true, y_preds, asked = request.y_true, request.y_preds, request.asked
    if is_lazy(*columns_in(y_true), *columns_in(y_preds)):
        advice = "Systems on test sets of their own need arrays: .compute(), or .collect()."
        must = "be True with columns that are not in memory"
        raise check.fail("paired", must, "False", advice)
    studies = studies_of_each(
        y_true, y_preds, request.scoring, request.sampling, asked, request.wanted
    )
    return compare_systems_of(asked, [str(name) for name in y_preds], studies)
