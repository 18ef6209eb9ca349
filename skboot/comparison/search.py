"""Scores of tuned searches: the score of the winner, corrected for having been chosen.

`search_score` needs out-of-fold predictions of every configuration, which
`skboot.comparison.tuning.out_of_fold` makes from a fitted search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.doors import door
from .._base.errors import collected, texts_of
from .._base.typing import ArrayLike, BySystem, Metric, Metrics, SearchInterval, SearchOptions
from .._base.work import Workers
from ..inference.automatic import degeneracy
from ..inference.distribution import BoundStatistic, bootstrap, over_blocks
from ..inference.evidence import DrawnUnits, Evidence
from ..inference.intervals import canonical_interval, confidence_interval
from ..method_error.error632 import error632
from ..method_error.out_of_bag import OutOfBagError, out_of_bag_error_of_selection
from ..method_error.prediction_error import MethodErrorSummary, method_interval
from ..metrics.lookup import ACCURACY_IF_NOT_GIVEN
from ..metrics.statistic import Facts, MetricError, Statistic
from ..resampling.block import UnitBlock
from ..resampling.coding import CodedRows
from ..resampling.plan import Binding, ResamplingPlan
from ..results import EvaluationResult, ResultTable
from ..results.basis import ScoresBasis
from ..results.method_basis import MethodBasis
from ..results.result import Provenance, evaluation_result
from ..results.table import laid_out
from ..study.rows import Rows, Sampling, Scoring, measured_by, warn_of_orders
from ..study.study import check_units_vary, resampling_plan
from .arguments import checked_systems

Floats = NDArray[np.float64]

_INTERVALS = ("auto", "adjusted", "percentile")


@overload
def search_score(
    y_true: ArrayLike | None,
    y_preds: BySystem,
    *,
    metric: Metric = ...,
    **options: Unpack[SearchOptions],
) -> EvaluationResult: ...
@overload
def search_score(
    y_true: ArrayLike | None,
    y_preds: BySystem,
    *,
    metric: Metrics,
    **options: Unpack[SearchOptions],
) -> ResultTable[EvaluationResult]: ...
@door("search_score")
def search_score(
    y_true: ArrayLike | None,
    y_preds: BySystem,
    *,
    metric: Metric | Metrics = ACCURACY_IF_NOT_GIVEN,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    interval: SearchInterval = "auto",
    greater_is_better: bool | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int | None = None,
) -> EvaluationResult | ResultTable:
    """Score of a tuned search, corrected for having chosen the best configuration.

    The best score of a search is optimistic, because it is the largest of many noisy numbers. Here
    the choice is repeated on bootstrap samples of the rows, and the chosen configuration is scored
    on the rows left out. Nothing is fitted again.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels or values. None with ``metric="mean"``.
    y_preds : dict of str to array-like of shape (n_samples,) or (n_samples, n_classes), or frame
        Out-of-fold predictions of each configuration on the same folds; see `out_of_fold`.
    metric : str, callable, scorer, list or dict
        As in `bootstrap_score`; the configuration is chosen by it, too.
    groups : array-like of shape (n_samples,), optional
        Rows of one group (speaker, patient) are resampled together.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row, in the choice and in the score.
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of probabilities; beside one label a row, ``labels`` of the metric, as
        in scikit-learn.
    n_resamples : int
        Number of resamples, at least 2.
    confidence_level : float
        In (0, 1).
    interval : {"auto", "adjusted", "percentile"}
        "adjusted": from the standard error of the out-of-bag score, for means of row values.
        "percentile": of the out-of-bag scores of single resamples, the published form; measured
        to be 1.2 to 1.4 times too wide. "auto" takes the first where it exists.
    greater_is_better : bool, optional
        Direction of ``"mean"`` and of callables, which skboot cannot know; it must be given for
        them. A value that contradicts a known metric is refused.
    pos_label : label, optional
        The positive class of metrics that have one, as in `bootstrap_score`.
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
        ``estimate`` is the corrected score. ``notes`` name the configuration chosen on all rows,
        its uncorrected score, and how often the resamples chose it.

    Raises
    ------
    ValueError
        For arguments that cannot be right, and where the direction of the metric is unknown.
    RuntimeError
        If the metric raises on a resample.

    Warns
    -----
    UserWarning
        On the positive class as in `bootstrap_score`.

    See Also
    --------
    out_of_fold : Make the predictions from a fitted search.

    Notes
    -----
    For means of row values the estimate averages, per row, the losses of the configurations chosen
    without it (Efron's Err(1) with the choice as the fit), with its standard error by the
    infinitesimal jackknife. For other metrics it is the mean of the out-of-bag scores. Memory
    grows with the number of rows times that of configurations, not with that of resamples.

    References
    ----------
    Tsamardinos, Greasidou & Borboudakis (2018), Machine Learning 107, 1895-1922; Efron &
    Tibshirani (1997), JASA 92, 548-560.

    Examples
    --------
    >>> import numpy as np
    >>> from skboot import search_score
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.integers(0, 2, size=200)
    >>> noise = {f"configuration {k}": rng.integers(0, 2, size=200) for k in range(50)}
    >>> best = max(np.mean(y_true == predicted) for predicted in noise.values())
    >>> result = search_score(y_true, noise, random_state=0)
    >>> print(f"best {best:.3f}, corrected {result}")
    best 0.580, corrected 0.505 (0.438 to 0.572)
    """
    level = check.check_confidence_level(confidence_level)
    interval = canonical_interval(interval)
    check.check_choice("interval", interval, _INTERVALS)
    workers = check.check_workers(n_jobs, verbose)
    rows = checked_systems(y_true, y_preds, sample_weight, labels)
    scoring = Scoring(
        metric=metric,
        greater_is_better=greater_is_better,
        pos_label=pos_label,
        labels=labels,
        several=False,
    )
    scores, places = measured_by(scoring, {name: [of_system] for name, of_system in rows.items()})
    sampling = Sampling(
        groups=groups,
        sample_weight=sample_weight,
        n_resamples=n_resamples,
        random_state=random_state,
    )
    warn_of_orders({"y_true": y_true, "y_preds": y_preds, **sampling.columns})
    any_rows = next(iter(rows.values()))
    if any_rows.n_samples < 2:
        advice = "The configuration is chosen on some rows and scored on others."
        raise check.fail("y_preds", "hold at least two rows", "one row", advice)
    plan = resampling_plan(sampling, any_rows.n_samples)
    check_units_vary(plan, any_rows.sample_weight)
    if plan.design.n_factors > 1:
        raise check.fail("groups", "be of shape (n_samples,)", "two columns")
    arguments = {"groups": groups is not None} | scoring.settings
    results = {}
    for name, by_name in scores.items():
        statistics = {key: measured.statistic for key, [measured] in by_name.items()}
        candidates = _Candidates(name, statistics, rows, plan, interval, level, arguments, workers)
        if candidates.any_statistic.greater_is_better is None:
            must = "be given for a metric of unknown direction"
            advice = "The best configuration is chosen by it."
            raise check.fail("greater_is_better", must, "None", advice)
        if interval == "adjusted" and not candidates.are_row_means:
            must = "be 'percentile' or 'auto' for a metric that is no mean of row values"
            advice = "The out-of-bag score of such a metric has no known standard error."
            raise check.fail("interval", must, "'adjusted'", advice)
        results[name] = _corrected_score(candidates, _choose(candidates))
    return next(iter(results.values())) if places.alone else laid_out(results, *places)


# ------------------------------------------------------------------ steps of search_score


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Configurations of a search, by one metric, with the checked arguments of the call."""

    metric: str
    statistics: Mapping[str, Statistic]
    rows: Mapping[str, Rows]
    plan: ResamplingPlan
    interval: str
    confidence_level: float
    arguments: Mapping[str, Any]
    workers: Workers

    @property
    def sample_weight(self) -> Floats | None:
        """Weights of the rows, which all configurations share."""
        return next(iter(self.rows.values())).sample_weight

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of the call as a result holds them."""
        return {
            "confidence_level": self.confidence_level,
            "interval": self.interval,
            "n_resamples": self.plan.n_resamples,
            **self.arguments,
            "sample_weight": self.sample_weight is not None,
            "n_configurations": len(self.rows),
        }

    @property
    def any_statistic(self) -> Statistic:
        """The metric; those of other configurations differ in their labels alone."""
        return next(iter(self.statistics.values()))

    @property
    def sign(self) -> float:
        """1 if greater is better, -1 otherwise."""
        return 1.0 if self.any_statistic.greater_is_better else -1.0

    @property
    def are_row_means(self) -> bool:
        """Whether every score is a mean of row values."""
        return all(s.of_row_values and s.is_row_mean for s in self.statistics.values())

    @cached_property
    def subjects(self) -> list[BoundStatistic[Statistic]]:
        """Each configuration with its reduced rows."""
        return [
            BoundStatistic.of(statistic, statistic.reduce(*rows.of(statistic, None)))
            for statistic, rows in zip(self.statistics.values(), self.rows.values(), strict=True)
        ]

    @cached_property
    def binding(self) -> Binding:
        """The plan, bound to all configurations and, last, to the rows or groups as they are."""
        of_units = CodedRows(None, self.plan.design.n_samples, "sums")
        return self.plan.bind([*(subject.coding for subject in self.subjects), of_units])

    def unit_counts(self) -> Iterator[NDArray[np.integer]]:
        """Yield how often each row or group occurs in the resamples, block by block."""
        of_units = self.binding.only([len(self.subjects)])
        for number in range(of_units.n_blocks):
            [block] = of_units.block(number)
            assert isinstance(block, UnitBlock)
            yield block.counts


class _Choices(NamedTuple):
    """Configurations that the resamples chose, and their scores.

    Attributes
    ----------
    observed : ndarray of shape (n_candidates,)
        Score of each on all rows.
    chosen : ndarray of shape (n_resamples,)
        Number of the best one in each resample.
    outside : ndarray of shape (n_resamples,)
        Its score on the rows left out.
    error : OutOfBagError or None
        Error of what was chosen, for means of row values.
    """

    observed: Floats
    chosen: NDArray[np.intp]
    outside: Floats
    error: OutOfBagError | None


def _choose(candidates: _Candidates) -> _Choices:
    """Return the best configuration in every resample, and its score on the rows left out."""
    sign, subjects, plan = candidates.sign, candidates.subjects, candidates.plan
    binding = candidates.binding.only(range(len(subjects)))
    inside = bootstrap(binding, subjects, candidates.workers)
    observed = np.array([distribution.estimate for distribution in inside])
    scores = sign * np.array([distribution.replicates for distribution in inside])
    chosen = np.argmax(np.where(np.isnan(scores), -np.inf, scores), axis=0)
    if not candidates.are_row_means:
        shared = binding, subjects, chosen
        outside = over_blocks(binding, _scores_outside, shared, candidates.workers)
        return _Choices(observed, chosen, np.concatenate(outside), None)
    members = plan.design.members
    statistics: Any = [subject.statistic for subject in subjects]
    row_values = [
        statistic.values_of(subject.reduced) * statistic.sign
        for statistic, subject in zip(statistics, subjects, strict=True)
    ]
    error = out_of_bag_error_of_selection(
        -sign * np.array(row_values),
        chosen,
        candidates.unit_counts,
        sample_weight=candidates.sample_weight,
        unit=None if members is None else members[:, 0],
    )
    # 0.0 - x: no score is shown as -0.
    return _Choices(observed, chosen, 0.0 - sign * error.replicates, error)


def _scores_outside(
    shared: tuple[Binding, list[BoundStatistic[Statistic]], NDArray[np.intp]], number: int
) -> Floats:
    """Return the scores of the choices of a block's resamples on the rows that each leaves out."""
    binding, subjects, chosen = shared
    start, stop = binding.block_starts[number : number + 2]
    blocks, choices_of_block = binding.block(number), chosen[start:stop]
    scores = np.full(len(choices_of_block), np.nan)
    for k in np.unique(choices_of_block):
        block, chose_k = blocks[k], np.flatnonzero(choices_of_block == k)
        assert isinstance(block, UnitBlock)
        # Only the resamples that chose k are read row by row, which is slow. Products are taken
        # of whole blocks, since their rounding may depend on which resamples come together.
        by_row = subjects[k].coding.reads == "rows"
        read = chose_k if by_row else np.arange(block.n_resamples)
        outside = UnitBlock(block.units_of_codes, (block.counts[read] == 0).astype(np.uint8))
        try:
            values = subjects[k].statistic.evaluate(outside, subjects[k].reduced)
        except MetricError as failure:
            left_out = f"on the rows left out of resample {start + read[failure.resample]}"
            raise failure.error_on_rows(left_out) from failure.error
        scores[chose_k] = values[np.searchsorted(read, chose_k)]
    scores[np.isinf(scores)] = np.nan
    return scores


def _corrected_score(candidates: _Candidates, choices: _Choices) -> EvaluationResult:
    """Return the result: the score of what is chosen, its interval, and a note on the choice."""
    sign, design, summary = candidates.sign, candidates.plan.design, None
    low, high = candidates.any_statistic.bounds
    estimate = np.nan
    if choices.error is not None:
        # The search is a method whose fit is the choice. Of losses, smaller is better.
        losses = -sign * choices.observed
        error_632 = error632(
            choices.error,
            resubstitution=float(np.min(losses)),
            no_information_rate=float(np.max(losses)),
            bounds=(-high, -low) if sign > 0 else (low, high),
        )
        summary = MethodErrorSummary("oob", sign, np.nan, error_632._summary())
        estimate = 0.0 - sign * summary.prediction_error.oob
    elif np.isfinite(choices.outside).any():
        estimate = float(np.nanmean(choices.outside))
    evidence = Evidence(
        estimate,
        choices.outside,
        DrawnUnits(design.kind, design.n_units, named=design.named),
        Facts((low, high), weighted=candidates.sample_weight is not None),
        standard_error=None if summary is None else summary.standard_error_for("auto"),
    )
    notes: list[str] = []
    if summary is not None:
        method = "adjusted" if candidates.interval == "auto" else candidates.interval
        interval = method_interval(summary, method, candidates.confidence_level)
        limits, notes = interval.interval, list(texts_of(interval.notes))
    else:
        with collected():
            limits = confidence_interval(evidence, "percentile", candidates.confidence_level)
    if limits.method == "percentile":
        notes = [
            "Percentiles of the out-of-bag scores of single resamples, the published form: "
            "measured to be 1.2 to 1.4 times too wide."
        ]
    basis = ScoresBasis(evidence) if summary is None else MethodBasis(evidence, summary)
    names = list(candidates.rows)
    counts = np.bincount(choices.chosen, minlength=len(names))
    winner = int(np.nanargmax(candidates.sign * choices.observed))
    on_choice = (
        f"Chosen on all rows among {len(counts)} configurations: {names[winner]}, with "
        f"the uncorrected score {choices.observed[winner]:.4g}; on the resamples it was chosen in "
        f"{100 * counts[winner] / counts.sum():.0f}%, and {np.count_nonzero(counts)} "
        "configurations at least once."
    )
    reading_notes = dict.fromkeys(
        note
        for rows in candidates.rows.values()
        for note in rows.notes_for(candidates.any_statistic)
    )
    degenerate = degeneracy(limits)
    notes = [on_choice, *notes, *texts_of(reading_notes), *([degenerate] if degenerate else [])]
    fixed = ("the out-of-fold predictions of each configuration",)
    return evaluation_result(
        Provenance(tuple(notes), fixed, candidates.plan.seed, candidates.settings),
        metric=candidates.metric,
        estimand="method",
        basis=basis,
        confidence_interval=limits,
        automatic=basis.is_on_rows_left_out and candidates.interval == "auto",
        n_samples=design.n_samples,
        unit=design.unit,
        greater_is_better=candidates.sign > 0,
    )
