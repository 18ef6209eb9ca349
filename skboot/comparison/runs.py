"""Compare methods by several runs (seeds, training samples) of each on one test set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks as check
from .._base.doors import door
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
from ..metrics.names import ACCURACY_IF_NOT_GIVEN
from ..results import ResultTable
from ..results.comparison import ComparisonResult
from ..study.measured import Scoring, measured_by
from ..study.rows import Sampling, Wanted
from ..study.run_scores import RunsCall
from ..study.runs import Columns, Runs, checked_columns, checked_runs, training_samples
from ..study.study import Study, check_units_vary, study_of
from .arguments import check_adjust, check_alternative, check_reference, checked_names
from .asked import Asked
from .run_pairs import CompareRunsCall, compare_runs_of

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
