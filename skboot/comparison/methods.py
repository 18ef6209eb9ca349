"""Compare methods: estimators trained on the same samples, scored on the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter

from .._base import checks as check
from .._base.doors import door
from .._base.errors import Note, Notes, tell, warn_user
from .._base.sklearn_compat import n_rows_of, routing_enabled
from .._base.typing import (
    Adjustment,
    Alternative,
    ArrayLike,
    InnerCV,
    MethodsDifferenceInterval,
    MethodsOptions,
    Metric,
    Metrics,
    Strategy,
)
from .._base.work import Workers, stage
from ..inference.differences import share_won
from ..inference.intervals import ALTERNATIVES
from ..inference.multiplicity import LowRankRoot
from ..inference.runs import outperformance, too_few_pairs
from ..method_error.cv_bootstrap import MethodsDifference
from ..method_error.out_of_bag import JACKKNIFE_RESAMPLES, OutOfBagError
from ..method_error.prediction_error import STRATEGIES
from ..refit.differences import (
    common_left_out_errors,
    cross_validated_by_all,
    cross_validated_difference,
    difference_error,
    out_of_bag_difference,
)
from ..refit.estimates import LeftOutErrors
from ..results import EvaluationResult, ResultTable
from ..results.comparison import ComparisonResult, PairedDifference
from ..scorer.call import (
    CV_RESAMPLES,
    RESAMPLES,
    FitCall,
    FitData,
    check_estimator,
    notes_on_copies,
    routed_to_fit,
    router_of,
    warn_of_order_of_fit,
)
from ..scorer.fit import OutOfBagRuns, TestSetRuns, run_all_trainings
from ..scorer.results import result_of, runs_on_test, study_of_test, usable_runs
from ..study.rows import IntervalOptions
from .arguments import (
    ComparisonOptions,
    check_adjust,
    check_reference,
    checked_names,
    checked_params,
    pairs_of,
)
from .families import comparison_of, records_of
from .runs import CompareRunsCall, StudentDistribution, compare_runs_of, root_of

Array = NDArray[Any]

# Share of the distinct units that a bootstrap sample holds, where there are many: 1 - 1 / e.
_SHARE_OF_BOOTSTRAP = 0.632

_SMALLER_SAMPLES = (
    "A bootstrap sample holds 63.2% of the distinct rows: the differences are those of methods "
    "trained on that much less data. strategy='cv-bootstrap' compares them at about full size."
)


# Arguments of the call that a result keeps, beside the estimators and the options.
_KEPT_ARGUMENTS = (
    "strategy",
    "n_train_resamples",
    "n_cv_repeats",
    "n_seeds",
    "n_test_resamples",
    "stratify",
    "inner_cv",
)


# ------------------------------------------------------------------ on the rows left out


def compare_left_out(
    estimators: Mapping[str, Any],
    trained_runs: Mapping[str, OutOfBagRuns],
    fit: FitCall,
    options: ComparisonOptions,
    settings: dict[str, Any],
) -> Any:
    """Compare methods by their answers for the rows that their runs left out.

    Parameters
    ----------
    estimators : mapping of str to estimator
    trained_runs : mapping of str to OutOfBagRuns
    fit : FitCall
        Its trainings are those of all estimators.
    options : ComparisonOptions
    settings : dict
        Arguments as a result holds them.

    Returns
    -------
    ComparisonResult or ResultTable
        A table with several metrics.
    """
    results_by_method = {
        name: [
            result_of(fit, estimators[name], method_runs.run_records, error)[0]
            for error in method_runs.errors
        ]
        for name, method_runs in trained_runs.items()
    }
    any_method = next(iter(trained_runs.values()))
    comparisons = {}
    for k, error in enumerate(any_method.errors):
        results = {
            name: results_of_method[k] for name, results_of_method in results_by_method.items()
        }
        comparisons[error.metric.name] = _compare_by_metric(
            trained_runs, k, results, fit, options, settings
        )
    return next(iter(comparisons.values())) if any_method.single else ResultTable(comparisons)


def _compare_by_metric(
    trained_runs: Mapping[str, OutOfBagRuns],
    k: int,
    results: dict[str, EvaluationResult],
    fit: FitCall,
    options: ComparisonOptions,
    settings: dict[str, Any],
) -> ComparisonResult:
    """Return the comparison by the metric of a number, and tell its notes."""
    metrics = [method_runs.errors[k].metric for method_runs in trained_runs.values()]
    run_records = [method_runs.run_records for method_runs in trained_runs.values()]
    losses = dict(zip(trained_runs, common_left_out_errors(metrics, run_records), strict=True))
    samples, any_losses = run_records[0].samples, next(iter(losses.values()))
    pairs = pairs_of(trained_runs, options.reference)
    is_cross_validated = fit.strategy == "cv-bootstrap"
    # Differences of the errors on the rows left out, and those that the intervals are for; NaN
    # where too few samples or folds served all methods.
    errors: list[OutOfBagError] = []
    differences = [MethodsDifference(np.nan, np.nan, np.nan)] * len(pairs)
    reason, folds = "", None
    if len(any_losses.sample_numbers) < 2:
        reason = "fewer than two training samples gave a score for all methods"
    else:
        errors = [difference_error(losses[name_a], losses[name_b]) for name_a, name_b in pairs]
        folds = cross_validated_by_all(losses) if is_cross_validated else None
    if is_cross_validated and not reason and folds is None:
        reason = "no repeat of cross-validation is whole for all methods"
    elif folds is not None:
        resubstitution = {
            name: method_runs.errors[k].full_errors.mean()
            for name, method_runs in trained_runs.items()
        }
        differences = [
            cross_validated_difference(
                folds[name_a],
                folds[name_b],
                error,
                (resubstitution[name_a], resubstitution[name_b]),
            )
            for (name_a, name_b), error in zip(pairs, errors, strict=True)
        ]
        if options.interval == "adjusted":
            # With the out-of-bag standard error; one of 0 stays, and the limits are Tango's.
            differences = [
                difference
                if difference.standard_error == 0
                else difference._replace(standard_error=error.standard_error)
                for difference, error in zip(differences, errors, strict=True)
            ]
    elif not reason:
        differences = [
            out_of_bag_difference(losses[name_a], losses[name_b], error)
            for (name_a, name_b), error in zip(pairs, errors, strict=True)
        ]
    # An error is better the smaller it is; the score may have either direction.
    scores = {name: -method_runs.errors[k].run_errors for name, method_runs in trained_runs.items()}
    run_numbers = np.arange(samples.n_bootstrap_runs)
    samples_of_runs = run_numbers // samples.n_seeds if samples.n_seeds > 1 else None
    records = records_of(
        _MethodsDistribution(options, fit, errors, differences, metrics[0].bounds),
        pairs,
        PairedDifference,
        bootstrap_support=[share_won(error.replicates, greater_is_better=False) for error in errors]
        or [np.nan] * len(pairs),
        outperformance=[
            outperformance(
                scores[name_a],
                scores[name_b],
                samples=samples_of_runs,
                n_resamples=fit.n_test_resamples,
                confidence_level=options.confidence_level,
                seed=fit.seed,
            )
            for name_a, name_b in pairs
        ],
        reason=[reason or difference.reason for difference in differences],
    )
    return comparison_of(
        options,
        results,
        records,
        _notes_on_methods(fit.strategy, records, differences, errors, any_losses),
        ComparisonResult,
        metric=metrics[0].name,
        estimand="method",
        held_fixed=("the number of training rows of each class",) if fit.stratify else (),
        settings=settings,
        training_share=1 - 1 / samples.n_folds if is_cross_validated else _SHARE_OF_BOOTSTRAP,
    )


class _MethodsDistribution(StudentDistribution):
    """Distribution of the differences of methods that are scored on the rows left out."""

    def __init__(
        self,
        options: ComparisonOptions,
        fit: FitCall,
        errors: Sequence[OutOfBagError],
        differences: Sequence[MethodsDifference],
        bounds: tuple[float, float],
    ) -> None:
        self.errors = errors
        name = options.interval
        if name == "auto":
            name = "cv-bootstrap" if fit.strategy == "cv-bootstrap" else "adjusted"
        super().__init__(options, differences, name, fit.seed, bounds)

    def root_of_correlation(self, numbers: Sequence[int]) -> LowRankRoot:
        """See `StudentDistribution.root_of_correlation`: by the influence of units on errors."""
        influence = np.array([self.errors[k].influence for k in numbers])
        # A difference that no unit influences varies by itself.
        uninfluenced = np.eye(len(influence))[:, ~influence.any(axis=1)]
        return root_of(
            np.hstack([influence, uninfluenced]), np.eye(influence.shape[1] + uninfluenced.shape[1])
        )


def _notes_on_methods(
    strategy: str,
    records: Sequence[PairedDifference],
    differences: Sequence[MethodsDifference],
    errors: Sequence[OutOfBagError],
    losses: LeftOutErrors,
) -> Notes:
    """Return what must be known of the differences."""
    notes, is_cross_validated = Notes(), strategy == "cv-bootstrap"
    if strategy not in ("oob", "cv-bootstrap"):
        notes.add(
            "advice",
            f"The methods' own scores are by the strategy {strategy!r}, their differences "
            "are of out-of-bag scores: these can deviate from the differences of the scores shown.",
        )
    if not is_cross_validated:
        notes.add("advice", _SMALLER_SAMPLES)
    n_samples = len(losses.run_records.samples.counts)
    if len(losses.sample_numbers) < n_samples:
        notes.add(
            "advice",
            f"{n_samples - len(losses.sample_numbers)} of {n_samples} training samples gave no "
            "score for some method and are left out of all differences.",
        )
    pairs_by_note: dict[Note, list[str]] = {}
    for k, (record, difference) in enumerate(zip(records, differences, strict=True)):
        if record.reason:
            reason = f"{record.reason[0].upper()}{record.reason[1:]}."
            pair_notes = [Note("degenerate", reason)]
        elif difference.standard_error == 0:
            tango = (
                "The two methods decide every row alike, or every row differently: the limits are "
                f"those of Tango's score interval for {difference.n_units} independent units."
            )
            pair_notes = [Note("choice", tango)]
        else:
            cautions = errors[k].cautions
            texts = cautions if is_cross_validated else errors[k].notes
            pair_notes = [Note("caution" if text in cautions else "advice", text) for text in texts]
        for note in pair_notes:
            pairs_by_note.setdefault(note, []).append(f"{record.first} - {record.second}")
    for note, names in pairs_by_note.items():
        more = f" and {len(names) - 3} others" if len(names) > 3 else ""
        of = "" if len(names) == len(records) else f"{', '.join(names[:3])}{more}: "
        notes.add(note.kind, f"{of}{note.text}")
    few_pairs = too_few_pairs(record.outperformance for record in records)
    notes += [Note("advice", text) for text in few_pairs]
    return notes


# ------------------------------------------------------------------ on test sets


def compare_on_tests(
    trained_runs: Mapping[str, TestSetRuns],
    fit: FitCall,
    options: ComparisonOptions,
    settings: dict[str, Any],
) -> Any:
    """Compare methods by the answers of all their runs for test sets.

    Parameters
    ----------
    trained_runs : mapping of str to TestSetRuns
    fit : FitCall
    options : ComparisonOptions
    settings : dict
        Arguments as a result holds them.

    Returns
    -------
    ComparisonResult or ResultTable
        A table with several metrics, or by test set; of both, a table of tables.
    """
    any_method = next(iter(trained_runs.values()))
    usable = usable_runs(
        any_method.samples, [method_runs.records for method_runs in trained_runs.values()]
    )
    score_options = IntervalOptions(
        interval="auto",
        confidence_level=options.confidence_level,
        workers=Workers(fit.n_jobs),
    )
    strata = ("the number of training rows of each class",) if fit.stratify else ()
    by_set = {}
    for k, name in enumerate(any_method.tests.names):
        study = study_of_test(trained_runs, k, usable, fit.n_test_resamples, score_options)
        calls, scores = runs_on_test(trained_runs, k, usable, study)
        compared = compare_runs_of(
            {
                metric: CompareRunsCall(method_runs, True, options)
                for metric, method_runs in calls.items()
            },
            scores,
        )
        comparisons = {
            metric: result._with_provenance(
                held_fixed=(*result._provenance.held_fixed, *strata),
                settings={**result._provenance.settings, **settings},
            )
            for metric, result in compared.items()
        }
        by_set[name] = (
            next(iter(comparisons.values())) if any_method.single else ResultTable(comparisons)
        )
    return by_set[None] if list(by_set) == [None] else ResultTable(by_set)


_INTERVALS_ON_TESTS = ("auto", "components", "welch")
_INTERVALS_LEFT_OUT = ("auto", "adjusted")
_INTERVALS_OF_FOLDS = ("auto", "cv-bootstrap", "adjusted")


@overload
def compare_methods(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any = ...,
    *,
    X_test: Mapping[Any, Any],
    scoring: Metrics,
    **options: Unpack[MethodsOptions],
) -> ResultTable[ResultTable[ComparisonResult]]: ...
@overload
def compare_methods(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any = ...,
    *,
    X_test: Mapping[Any, Any],
    scoring: Metric | None = ...,
    **options: Unpack[MethodsOptions],
) -> ResultTable[ComparisonResult]: ...
@overload
def compare_methods(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any = ...,
    *,
    X_test: Any = ...,
    scoring: Metrics,
    **options: Unpack[MethodsOptions],
) -> ResultTable[ComparisonResult]: ...
@overload
def compare_methods(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any = ...,
    *,
    X_test: Any = ...,
    scoring: Metric | None = ...,
    **options: Unpack[MethodsOptions],
) -> ComparisonResult: ...
@door("compare_methods")
def compare_methods(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any = None,
    *,
    groups: ArrayLike | None = None,
    X_test: Any = None,
    y_test: Any = None,
    groups_test: Any = None,
    sample_weight_test: Any = None,
    params: Mapping[str, Any] | None = None,
    reference: str | None = None,
    adjust: Adjustment | None = "max-t",
    scoring: Metric | Metrics | None = None,
    strategy: Strategy = "cv-bootstrap",
    n_train_resamples: int | Literal["auto"] = "auto",
    n_cv_repeats: int = 3,
    n_seeds: int = 1,
    n_test_resamples: int = 1999,
    estimand: Literal["method"] = "method",
    interval: MethodsDifferenceInterval = "auto",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    stratify: bool = False,
    inner_cv: InnerCV = "grouped",
    error_score: Any = np.nan,
    n_jobs: int | None = None,
    random_state: Any = None,
    memory: Any = None,
    verbose: bool | int | None = None,
) -> ComparisonResult | ResultTable:
    """Compare estimators trained on the same samples and scored on the same rows.

    The claim is about *methods* (learning algorithms) trained on this many rows (without a test
    set, on 90% of them): training rows, seeds and scored rows are all a sample. Differences are
    paired by training sample, fold and row, so what is hard for all methods cancels.

    Parameters
    ----------
    estimators : dict of str to estimator
        At least two. All steps that learn from data belong inside a `Pipeline`.
    X : array-like of shape (n_samples, n_features)
        Rows to train on.
    y : array-like of shape (n_samples,), default=None
        Targets.
    groups : array-like of shape (n_samples,), optional
        Rows of one group (speaker, patient) are resampled, and left out, together.
    X_test : array-like of shape (n_test, n_features) or dict of these, optional
        Test set that every run is scored on, instead of the rows left out. A dict of test sets
        gives a dict of results, from the same runs.
    y_test : array-like of shape (n_test,) or dict, optional
        Its targets.
    groups_test : array-like of shape (n_test,) or (n_test, 2) or dict, optional
        Test rows of one group are resampled together. Two columns are crossed factors.
    sample_weight_test : array-like of shape (n_test,) or dict, optional
        Weights of test rows in their scores, as in `BootstrapScorer`.
    params : dict, optional
        Parameters of the fits, as in `sklearn.model_selection.cross_validate`. With metadata
        routing on each estimator and scorer gets what it has requested.
    reference : str, optional
        Name of the estimator that all others are compared with; all pairs when None.
    adjust : {"max-t", "holm", None}
        For several differences at once, as in `compare_systems`.
    scoring : str, callable, list, tuple, dict or None
        As in `BootstrapScorer`. A list or dict gives a dict of results, from the same runs.
    strategy : {"cv-bootstrap", "oob", ".632", ".632+", "optimism"}
        Of each method's own score, without a test set, as in `BootstrapScorer`. With "cv-bootstrap"
        the differences are those of repeated cross-validation: of methods trained on 90% of the
        rows (ten folds). With the others they are those of out-of-bag scores, of methods trained on
        bootstrap samples, which hold 63.2% of the rows; the error of a .632 difference is unknown.
    n_train_resamples : int or "auto"
        Bootstrap samples to train on. "auto" is 80 with "cv-bootstrap" and up to 400 rows (or
        groups), with more the 4 sqrt(n) that the variance of a difference needs, and at most 200;
        otherwise it is 200. With a test set 0 makes the claim conditional on the training set.
    n_cv_repeats : int
        Repeats of cross-validation, for ``strategy="cv-bootstrap"``. All estimators get the same
        folds.
    n_seeds : int
        Runs of each training sample, each with its own random states. All estimators get the same.
    n_test_resamples : int
        Resamples of the test set, and of the runs for P(A > B).
    estimand : {"method"}
        What the differences are of. For trained models use `compare_systems`.
    interval : {"auto", "cv-bootstrap", "adjusted", "components", "welch"}
        "auto" is "cv-bootstrap" with that strategy, "adjusted" with the others (t with the adjusted
        standard error of the out-of-bag difference), and "components" with a test set. "welch",
        with a test set, is conditional on the test rows.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis of intervals and p-values, as in `compare_systems`.
    confidence_level : float
        In (0, 1).
    stratify : bool
        Resample within classes: where class sizes are fixed by design, or a class is rare.
    inner_cv : {"grouped", "as-is"}
        Whether cross-validation inside an estimator keeps copies of a row on one side.
    error_score : float or "raise"
        What becomes of a run that fails, or answers NaN or infinity: NaN leaves its training sample
        out for all estimators.
    n_jobs : int, optional
        Maximum number of workers, used when the work takes seconds. The numbers do not depend on
        it. Use 1 for an estimator with threads of its own, such as boosting.
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same numbers at every call, and each estimator the runs
        that a `BootstrapScorer` with these parameters gives it.
    memory : path-like, optional
        Folder for finished runs, shared with `BootstrapScorer`. Needs a ``random_state``.
    verbose : None, bool or int
        Progress on stderr: 1 always, 0 never; None on a terminal, if the work takes long.

    Returns
    -------
    ComparisonResult or ResultTable
        With ``outperformance`` in each pair: P(A > B), how often a run of the first beats the run
        of the second on the same training sample, conditional on this training set (and test set).

    Raises
    ------
    ValueError
        For arguments that cannot be right; the message says what to do.

    Warns
    -----
    sklearn.exceptions.FitFailedWarning
        If some runs failed. Their training samples are left out for all estimators.
    UserWarning
        As in `BootstrapScorer`, and with few runs.

    See Also
    --------
    BootstrapScorer : One method.
    compare_runs : Methods that were trained elsewhere.
    compare_systems : Trained models.

    Notes
    -----
    Without a test set: difference of the scores by repeated cross-validation, with a t interval of
    one degree of freedom less than there are rows (groups; rows of the rarest class for all but
    means). Its variance is that of the out-of-bag difference. Where the infinitesimal jackknife of
    `BootstrapScorer`'s "cv-bootstrap" interval is larger, it is moved towards that: further, the
    less the methods gain between .632 of the rows and all of them. It is at least the sampling
    variance of the out-of-fold differences averaged over repeats, and its root at most that of one
    repeat and half of what both methods gain on the rows that they are trained on. Where every row
    is decided alike (or every row differently), the limits are those of Tango's score interval; for
    losses other than right or wrong there is then no interval, with a note. With the other
    strategies: difference of the out-of-bag errors Err(1), with the standard error of Efron and
    Tibshirani (1997, section 5) for the differences of the losses. With a test set: variance
    components of the differences run by run, centred on the runs trained on all rows.

    P(A > B) and ``bootstrap_support`` are over the runs on bootstrap samples, whatever the
    strategy. P(A > B) has the percentile interval over bootstrap samples of the pairs of runs. It
    is conditional on the training set and the scored rows, and can be far from .5 where the
    difference is not significant. Bouthillier et al. call a difference meaningful if that interval
    lies above .5 and reaches beyond .75; 29 pairs detect .75 against .5 with 5% errors of both
    kinds (Noether 1987, JASA 82:645).

    References
    ----------
    Efron & Tibshirani (1997), JASA 92:548. Bouthillier et al. (2021), "Accounting for Variance in
    Machine Learning Benchmarks", MLSys 3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skboot import compare_methods
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> methods = {"naive Bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1)}
    >>> result = compare_methods(methods, X, y, n_train_resamples=100, random_state=0)
    >>> [pair] = result.pairs
    >>> pair.excludes_zero, pair.outperformance.verdict
    (True, 'significant and meaningful')
    """
    tests = {
        "X_test": X_test,
        "y_test": y_test,
        "groups_test": groups_test,
        "sample_weight_test": sample_weight_test,
    }
    has_test = any(part is not None for part in tests.values())
    estimators_by_name = checked_names(
        estimators, "method", "estimators", "estimator", "BootstrapScorer"
    )
    for name, estimator in estimators_by_name.items():
        check_estimator(f"estimators[{name!r}]", estimator)
    if reference is not None:
        check_reference(reference, estimators_by_name)
    check_adjust(adjust)
    _check_arguments(estimand, interval, strategy, has_test, n_train_resamples, n_seeds)
    check.check_choice("alternative", alternative, ALTERNATIVES)
    groups, fit_parameters = checked_params(params, groups)
    parameters = {
        "scoring": scoring,
        "strategy": strategy,
        "n_train_resamples": n_train_resamples,
        "n_cv_repeats": n_cv_repeats,
        "n_seeds": n_seeds,
        "n_test_resamples": n_test_resamples,
        "estimand": estimand,
        # The interval of each method's own score; those of the differences are asked for below.
        "interval": "auto",
        "confidence_level": confidence_level,
        "stratify": stratify,
        "inner_cv": inner_cv,
        "error_score": error_score,
        "n_jobs": n_jobs,
        "random_state": checked_seed(memory, random_state),
        "memory": memory,
        "verbose": verbose,
    }
    fit = FitCall.of(parameters, has_test=has_test)
    options = ComparisonOptions(interval, adjust, fit.confidence_level, alternative, reference)
    data = FitData.of(X, y, groups=groups, **tests)
    warn_of_order_of_fit(X, y, groups, **tests)
    if fit.n_train_resamples == CV_RESAMPLES and check.is_among(n_train_resamples, ["auto"]):
        # The jackknife of a difference is left out with fewer.
        n_units = n_rows_of(data.X) if data.unit is None else int(data.unit.max()) + 1
        needed = int(np.ceil(JACKKNIFE_RESAMPLES * np.sqrt(n_units)))
        fit = replace(fit, n_train_resamples=min(max(CV_RESAMPLES, needed), RESAMPLES))
    tell(*notes_on_copies(fit, data))
    runs = runs_of_methods(fit, estimators_by_name, data, "compare_methods", fit_parameters)
    settings = {
        "estimators": {name: repr(estimator) for name, estimator in estimators_by_name.items()},
        **{name: getattr(fit, name) for name in _KEPT_ARGUMENTS},
        **options.settings,
    }
    if data.tests is None:
        return compare_left_out(estimators_by_name, runs, fit, options, settings)
    return compare_on_tests(runs, fit, options, settings)


def runs_of_methods(
    fit: FitCall,
    estimators: Mapping[str, Any],
    data: FitData,
    owner: str,
    params: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the runs of all estimators by name; the warnings of each are raised with its name.

    One estimator alone goes by the name "", which is not said. ``owner`` is the public function.
    """
    router = None
    if routing_enabled():
        owner_request = MetadataRequest(owner=owner)
        owner_request.fit.add_request(param="groups", alias=True)
        router = MetadataRouter(owner=owner).add_self_request(owner_request)
        router = router_of(router, estimators, fit.scoring)
        if data.groups is not None:
            params = {**params, "groups": data.groups}
    runs = {}
    for k, (name, estimator) in enumerate(estimators.items(), 1):
        prefix = f"{name}: " if name else ""
        method = f"{name or 'method'} ({k} of {len(estimators)})"
        with stage(method), warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter("always")
            try:
                routed = routed_to_fit(router, estimator, fit.scoring, params, name)
                runs[name] = run_all_trainings(fit, estimator, data, routed)
            except Exception as error:
                if name:
                    error.add_note(f"Raised with the estimator {name!r}.")
                raise
        all_warnings = [(message.category, str(message.message)) for message in caught_warnings]
        for category, texts in runs[name].estimator_warnings.items():
            all_warnings += [(category, text) for text in texts]
        for category, text in dict.fromkeys(all_warnings):
            warn_user(f"{owner}: {prefix}{text}", category)
        tell(*[replace(note, text=f"{prefix}{note.text}") for note in runs[name].notes])
    # A classifier beside a regressor, where the metric comes from the kind of estimator.
    names = {name: list(method_runs.metric_names) for name, method_runs in runs.items()}
    if len({tuple(metric_names) for metric_names in names.values()}) > 1:
        advice = "Give a metric that all of them have, such as scoring='neg_mean_squared_error'."
        raise check.fail("scoring", "be the same for all estimators", f"{names}", advice)
    weighted = {name: sorted(method_runs.weighted_metrics) for name, method_runs in runs.items()}
    if len({tuple(metric_names) for metric_names in weighted.values()}) > 1:
        advice = "Give scoring= with a request of its own: set_score_request(sample_weight=True)."
        raise check.fail("scoring", "weigh rows for all estimators or none", f"{weighted}", advice)
    return runs


# ------------------------------------------------------------------ arguments


def _check_arguments(
    estimand: str,
    interval: str,
    strategy: str,
    has_test: bool,
    n_train_resamples: Any,
    n_seeds: Any,
) -> None:
    check.check_choice("strategy", strategy, STRATEGIES)
    if not check.is_among(n_train_resamples, ["auto"]):
        check.check_count("n_train_resamples", n_train_resamples, 0 if has_test else 2)
    check.check_count("n_seeds", n_seeds, 1)
    if has_test and n_train_resamples == 0 and n_seeds == 1:
        raise check.fail(
            "n_seeds",
            "be at least 2 with n_train_resamples=0",
            "1",
            "One run of each does not show how runs vary: give more seeds or training samples, or "
            "compare these trained models by compare_systems.",
        )
    if not check.is_among(estimand, ["method"]):
        advice = "For trained models use compare_systems with their predictions."
        raise check.fail("estimand", "be 'method'", repr(estimand), advice)
    left_out = _INTERVALS_OF_FOLDS if strategy == "cv-bootstrap" else _INTERVALS_LEFT_OUT
    check.check_choice("interval", interval, _INTERVALS_ON_TESTS if has_test else left_out)


def checked_seed(memory: Any, random_state: Any) -> np.random.SeedSequence:
    """Return the seed of ``random_state``, which ``memory`` needs."""
    check.check_folder(memory)
    if memory is not None and random_state is None:
        advice = "Set random_state=0, so that a later call can find the runs of this one."
        raise check.fail("memory", "be None without a random_state", "a folder", advice)
    return check.check_seed(random_state)
