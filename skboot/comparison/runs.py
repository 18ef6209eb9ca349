"""Compare methods by several runs (seeds, training samples) of each on one test set."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks as check
from .._inputs import resampling_plan, statistics_of_systems
from .._runs_inputs import checked_runs, training_samples
from .._warnings import Notes, warn_of
from ..results import EvaluationResult, ResultTable
from ..runs import bootstrap_runs
from .run_pairs import Method, RunsCall, compared_by
from .systems import check_adjust, check_reference, checked_names

_CALLER = "compare_runs"
_VARIED = ("seed", "training", "both", "independent")
_INTERVALS = ("auto", "components", "welch")


def compare_runs(
    y_true: ArrayLike | None,
    y_preds: Mapping[str, Any],
    *,
    metric: Any = "accuracy",
    varied: str = "seed",
    training: Mapping[str, ArrayLike] | None = None,
    paired_runs: bool = False,
    full_runs: Mapping[str, Any] | None = None,
    reference: str | None = None,
    adjust: str | None = "max-t",
    greater_is_better: bool | None = None,
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    interval: str = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int | None = 0,
) -> Any:
    """Compare methods by several runs of each on the same test rows.

    Answers whether one *method* is better than another, where `compare_systems` answers for two
    trained models: both the runs and the test rows are a sample.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels or values. None with ``metric="mean"`` or a callable of predictions alone.
    y_preds : dict of str to array-like of shape (n_runs, n_samples[, n_classes])
        Predictions of each run of each method, as `bootstrap_runs` takes them. The methods may
        have different numbers of runs, at least two each.
    metric : str, callable, scorer, list or dict
        As of `bootstrap_score`. A list or dict gives a dict of results.
    varied : {"seed", "training", "both", "independent"}
        In what the runs differ: the seed alone, on one training list; each run on its own
        bootstrap sample of the list (needs ``full_runs``); several seeds on each such sample
        (needs ``full_runs`` and ``training``); each on its own fresh training set.
    training : dict of str to array-like of shape (n_runs,), optional
        The training sample of each run of each method, by number or name, with
        ``varied="both"``.
    paired_runs : bool
        Whether run k of all methods belongs together, such as the same training sample; the
        differences per run are then what varies. With ``varied="both"``: whether training
        samples of the same name are the same; the methods may have different numbers of seeds.
    full_runs : dict of str to array-like, optional
        Predictions of runs on the whole training list, with ``varied="training"`` or "both": the
        differences come from them.
    reference : str, optional
        Name of the method that all others are compared with; all pairs when None.
    adjust : {"max-t", "holm", None}
        For several differences at once.
    greater_is_better : bool, optional
        Direction of ``"mean"`` and of callables, which skboot cannot know. None: unknown, and then
        nothing is called better or worse. A value that contradicts a known metric is refused.
    groups : array-like of shape (n_samples,) or (n_samples, 2), optional
        Rows of one group are drawn together. Two columns are crossed factors.
    strata : array-like of shape (n_samples,), optional
        Units are drawn within strata.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row.
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of probabilities.
    n_resamples : int
        Number of test resamples, at least 2.
    confidence_level : float
        In (0, 1).
    interval : {"auto", "components", "welch"}
        "auto" is "components": runs and test rows vary. "welch": the runs alone, with the test
        rows held fixed; it says nothing of other test rows.
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same numbers at every call.
    n_jobs : int, optional
        Workers at most; used when the work takes seconds. The numbers do not depend on it.
    verbose : None, bool or int
        1 shows progress on stderr; None and 0 are quiet.

    Returns
    -------
    ComparisonResult or dict
        Its notes say what would narrow the intervals: more runs, or more test rows. Pairs hold
        P(A > B) (``outperformance``) with ``paired_runs=True`` and a known direction.

    Raises
    ------
    ValueError
        For arguments that cannot be right; the message says what to do.

    Warns
    -----
    UserWarning
        With few runs.

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
    >>> [pair] = compare_runs(y_true, runs, random_state=0).pairs
    >>> low, high, *_ = pair.confidence_interval
    >>> print(f"{pair.difference:.3f} ({low:.3f} to {high:.3f})")
    0.065 (0.048 to 0.082)
    """
    level = check.check_confidence_level(confidence_level, _CALLER)
    _check_names(interval, varied, adjust)
    n_jobs, verbose = check.check_workers(n_jobs, verbose, _CALLER)
    methods = _checked_methods(y_true, y_preds, full_runs, sample_weight, labels, varied)
    methods = _with_training(methods, training, varied)
    _check_paired(methods, paired_runs)
    check_reference(reference, methods, _CALLER)
    every = {f"{name}][{k}": rows for name, own in methods.items() for k, rows in own.numbered}
    statistics, single = statistics_of_systems(metric, every, greater_is_better, _CALLER)
    drawn = (groups, strata, False, None, n_resamples, random_state)
    plan = resampling_plan(*drawn, next(iter(every.values())), _CALLER, len(every))
    settings = {
        **{"varied": varied, "paired_runs": bool(paired_runs)},
        **{"interval": interval, "reference": reference, "adjust": adjust},
        "confidence_level": level,
        "n_resamples": plan.n_resamples,
        "n_runs": {name: own.n_runs for name, own in methods.items()},
    }
    given = {"y_true": y_true, "groups": groups, "strata": strata, "sample_weight": sample_weight}
    settings |= {name: value is not None for name, value in given.items()}
    call = RunsCall(
        methods, plan, varied, bool(paired_runs), reference, adjust, interval, level, settings
    )
    options = {**given, "metric": metric, "labels": labels, "n_jobs": n_jobs}
    options |= {"greater_is_better": greater_is_better}
    alone = _alone(call, y_preds, full_runs, options)
    results, notes = {}, Notes()
    for name, by_run in statistics.items():
        own = {method: found[name] for method, found in alone.items()}
        results[name] = compared_by(call, name, by_run, own, notes, n_jobs, verbose)
    warn_of(notes, _CALLER)
    return next(iter(results.values())) if single else ResultTable(results)


# ------------------------------------------------------------------ arguments


def _check_names(interval: Any, varied: Any, adjust: Any) -> None:
    check.check_choice("interval", interval, _CALLER, _INTERVALS)
    check.check_choice("varied", varied, _CALLER, _VARIED)
    check_adjust(adjust, _CALLER)


def _checked_methods(
    y_true: ArrayLike | None,
    y_preds: Any,
    full_runs: Any,
    sample_weight: ArrayLike | None,
    labels: ArrayLike | None,
    varied: str,
) -> dict[str, Method]:
    named = checked_names(y_preds, _CALLER, "method")
    full = _by_name("full_runs", full_runs)
    on_samples = varied in ("training", "both")
    if on_samples != bool(full) or (full and set(full) != set(named)):
        raise check.fail(
            _CALLER,
            "full_runs",
            "hold runs on the whole training list for every method with varied='training' or "
            "'both', and be None otherwise",
            f"runs for {list(full)}" if full else "None",
            "A bootstrap sample holds 63.2 % of the rows, so its runs cannot give the centre.",
        )
    methods = {}
    for name, values in named.items():
        runs = checked_runs(y_true, values, full.get(name), sample_weight, labels, varied, _CALLER)
        methods[name] = Method(name, list(runs.rows), runs.n_runs)
    sizes = {name: own.rows[0].n_samples for name, own in methods.items()}
    if len(set(sizes.values())) > 1:
        raise check.fail(
            _CALLER,
            "y_preds",
            "hold as many rows for every method",
            f"{sizes}",
            "Row order is what pairs them; an index is never used.",
        )
    return methods


def _by_name(argument: str, values: Any) -> dict[str, Any]:
    """What is given for each method, by its name; empty without."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        must = "be a dict by the names of y_preds, or None"
        raise check.fail(_CALLER, argument, must, type(values).__name__)
    return {str(name): own for name, own in values.items()}


def _with_training(methods: dict[str, Method], training: Any, varied: str) -> dict[str, Method]:
    """Methods with the names of their training samples, with varied="both"."""
    if varied != "both":
        training_samples(training, varied, 1, _CALLER)
        return methods
    named = _by_name("training", training)
    if set(named) != set(methods):
        raise check.fail(
            _CALLER,
            "training",
            "name the training sample of each run of every method with varied='both'",
            f"names for {list(named)}" if named else "None",
            "Use training={'A': [0, 0, 1, 1, ...], 'B': ...}.",
        )
    found = {}
    for name, own in methods.items():
        training_samples(named[name], varied, own.n_runs, _CALLER)
        found[name] = replace(own, training=np.asarray(named[name]))
    return found


def _check_paired(methods: Mapping[str, Method], paired_runs: bool) -> None:
    check.check_flag("paired_runs", paired_runs, _CALLER)
    counts = {name: own.n_runs for name, own in methods.items()}
    names = [
        None if own.training is None else set(own.training.tolist()) for own in methods.values()
    ]
    if paired_runs and names[0] is not None:
        if any(each != names[0] for each in names):
            raise check.fail(
                _CALLER,
                "paired_runs",
                "be False where the methods have different training samples",
                "names in training= that differ",
                "Give the same training samples the same names for all methods.",
            )
        return
    if paired_runs and len(set(counts.values())) > 1:
        raise check.fail(
            _CALLER,
            "paired_runs",
            "be False where the methods have different numbers of runs",
            f"{counts}",
            "Give as many runs of each, in the same order.",
        )


def _alone(
    call: RunsCall, y_preds: Any, full_runs: Any, options: dict[str, Any]
) -> dict[str, dict[str, EvaluationResult]]:
    """Result of each method by itself, by method and metric."""
    found = {}
    named = checked_names(y_preds, _CALLER, "method")
    full = _by_name("full_runs", full_runs)
    with warnings.catch_warnings(), check.speaking_as(_CALLER):
        # What holds for the comparison is said of it.
        warnings.simplefilter("ignore")
        for name, values in named.items():
            own = bootstrap_runs(
                y_preds=values,
                varied=call.varied,
                training=call.methods[name].training,
                full_runs=full.get(name),
                n_resamples=call.plan.n_resamples,
                confidence_level=call.confidence_level,
                random_state=call.plan.seed,
                **options,
            )
            found[name] = {own.metric: own} if isinstance(own, EvaluationResult) else dict(own)
    return found
