"""Evaluate methods: one call from an estimator and a data set to an interval.

Use `BootstrapScorer` to say how well an estimator, with its search and all its steps, does when
trained on this many rows. For the predictions of one trained model on a test set, use
`bootstrap_score`.
"""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._base import checks as check
from .._base.doors import door
from .._base.errors import Notes, collected, tell, warn_user
from .._base.hints import Hinting
from .._base.sklearn_compat import (
    CallbackSupportMixin,
    printed_as_estimator,
    refuse_params_without_routing,
    routing_enabled,
    unfitted_copy,
    with_callbacks,
)
from .._base.typing import (
    Estimand,
    InnerCV,
    MethodInterval,
    Metric,
    Metrics,
    RunsInterval,
    Strategy,
)
from ..refit.scoring import named_scorers
from . import results
from .call import (
    FitCall,
    FitData,
    by_scorer,
    check_estimator,
    note_on_folds,
    notes_on_copies,
    routed_to_fit,
    router_of,
    warn_of_order_of_fit,
    with_own_samples,
)
from .fit import OutOfBagRuns, TestSetRuns, run_all_trainings

if TYPE_CHECKING:
    from ..inference.evidence import ConfidenceInterval
    from ..refit.samples import DrawnSamples
    from ..results import EvaluationResult


def _estimator_has(name: str) -> Any:
    """Return the condition of `available_if`: the estimator has the method."""

    def has(self: BootstrapScorer) -> bool:
        # This raises the estimator's own AttributeError, whose words say what is missing.
        getattr(self.estimator_ if hasattr(self, "estimator_") else self.estimator, name)
        return True

    return has


# What the copies of a scorer have told in this process, and which of them did so first. Of this
# one the reference stands: its id would be that of a later copy, once it is gone.
_TOLD_BY_COPIES: WeakKeyDictionary[BootstrapScorer, dict[str, ReferenceType[BootstrapScorer]]]
_TOLD_BY_COPIES = WeakKeyDictionary()


def _has_score(self: BootstrapScorer) -> bool:
    """Condition of `available_if`: there is a scorer, given or by the kind of estimator."""
    if self.scoring is None and not (is_classifier(self.estimator) or is_regressor(self.estimator)):
        # This raises the estimator's own AttributeError.
        getattr(self.estimator, "score")  # noqa: B009
    return True


@printed_as_estimator
class BootstrapScorer(CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator, Hinting):
    """Score of a method at this training-set size, with a confidence interval.

    The estimator is trained on all rows, on bootstrap samples of them and, for the default
    strategy, in repeated cross-validation, and scored on rows that it was not trained on. The claim
    is about the *method* (the learning algorithm): the estimator with its hyper-parameters, search
    and steps, trained on this many rows from this source.

    Parameters
    ----------
    estimator : estimator
        What is evaluated. All steps that learn from data belong inside, as in
        ``BootstrapScorer(make_pipeline(...))``; a step outside would have seen the rows left out.
    scoring : str, callable, list, tuple, dict or None, default=None
        As in `sklearn.model_selection.GridSearchCV`. None is accuracy or R2. A list or dict, or a
        callable that returns a dict, gives dicts of results, from the same runs.
    strategy : {"cv-bootstrap", "oob", ".632", ".632+", "optimism"}, default="cv-bootstrap"
        How the score is estimated. "cv-bootstrap": repeated 10-fold cross-validation, with an
        interval from the bootstrap samples. "oob": the out-of-bag score. ".632", ".632+": the
        scores by these rules. "optimism": the optimism-corrected score, which has no interval.
    n_train_resamples : int or "auto", default="auto"
        Bootstrap samples to train on. "auto" is 80 for the "cv-bootstrap" interval, with three
        repeats of cross-validation 111 fits, and 200 otherwise. "cv-bootstrap-conservative" and
        standard errors of out-of-bag scores need ``8 * sqrt(n_samples)``; with a test set 50
        suffice, and 0 makes the claim conditional on the training set: only seeds vary. Without a
        test set 0 trains the estimator once, to predict and score without a result, for
        `sklearn.model_selection.cross_validate` and searches, which would train all samples anew on
        each fold.
    n_cv_repeats : int, default=3
        Repeats of cross-validation, for ``strategy="cv-bootstrap"``.
    n_seeds : int, default=1
        Runs of each training sample, each with its own random states.
    n_test_resamples : int, default=1999
        Resamples of a test set.
    estimand : {"method", "next_run", "pooled", "system"}, default="method"
        What the interval is for, as in `skboot.bootstrap_runs`; "system" is ``estimator_``. Only
        "method" without a test set.
    interval : str, default="auto"
        With a test set "components", "t" or "percentile" (`skboot.bootstrap_runs`). Without:
        "cv-bootstrap" or the wider "cv-bootstrap-conservative" (with that strategy), "adjusted"
        (with the others), "hull", "normal", "t" or "percentile"; "auto" takes "cv-bootstrap" or
        "adjusted" by strategy.
    confidence_level : float, default=0.95
        In (0, 1).
    stratify : bool, default=False
        Resample within classes: where class sizes are fixed by design, or a class is rare.
    inner_cv : {"grouped", "as-is"}, default="grouped"
        Whether cross-validation inside the estimator keeps copies of a row on one side.
    refit : bool, default=True
        Keep the run on all rows as ``estimator_``, for ``predict`` and the like.
    error_score : float or "raise", default=np.nan
        Score of a run that fails, or answers NaN or infinity, as in `GridSearchCV`: NaN leaves it
        out of every average, and counts it; "raise" raises its error. Of the run on all rows an
        error is raised. A number needs a metric that is a mean over rows, an area under the ROC
        curve, or a callable; others pool the rows of all runs.
    n_jobs : int, optional
        Maximum number of workers, used when the work takes seconds. The numbers do not depend on
        it. Use 1 for an estimator with threads of its own, such as boosting.
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same numbers at every call. See the notes for random states
        of the estimator.
    memory : path-like, optional
        Folder for finished runs: a fit that was stopped resumes where it was. Needs a
        ``random_state``. Runs are found again by data, parameters and code, including the bodies of
        your own functions and classes and the versions of packages.
    verbose : None, bool or int, default=None
        Progress on stderr: 1 always, 0 never; None on a terminal, if the work takes long, and not
        inside a search or a worker.
    train_samples : splitter, or list of tuple (train, test), default=None
        Your own bootstrap samples in place of ``n_train_resamples``, with a test set or for the
        strategies "oob", ".632" and ".632+": 0-based, with as many draws as there are rows (or
        groups), and all rows left out as the test side. Rows are trained on in the order given.

    Attributes
    ----------
    result_ : EvaluationResult or ResultTable
        The result, with ``summary()`` and ``claim()``. With several scorers this and all below are
        dicts by name; with a dict of test sets, dicts by test set, then by scorer.
    score_ : float
        Estimate of the strategy.
    confidence_interval_ : ConfidenceInterval
        (low, high, confidence_level, method).
    standard_error_ : float
        Of the estimate.
    resubstitution_score_ : float
        Of the run on all rows, on all rows.
    oob_score_, point632_score_, point632_plus_score_ : float
        Out-of-bag, .632 and .632+ scores, whatever the strategy.
    no_information_score_ : float
        Expected score if targets were independent of the answers.
    relative_overfitting_rate_, weight_ : float
        Of .632+.
    variance_components_ : dict
        Variance of a run's score by "training", "seed", "test" and "interaction". With one seed
        "training" includes the seed variance. With a test set "test" and "interaction" are per test
        unit, as in ``result_.variance_components``.
    runs_ : dict of ndarrays of shape (n_runs,)
        By the first scorer: "sample" ("full", "bootstrap", "fold"), "training_sample", "seed",
        "score", "fit_time", "failed", "n_convergence_warnings". Scores of bootstrap runs are
        out-of-bag, NaN for folds; with a test set, those on the first test set.
    train_samples_ : sequence of tuple (train, test)
        Rows of each bootstrap sample, copies included, and the rows that it left out, drawn again
        from the seed when they are asked for; ``to_dict()`` makes lists of all, for a file. It may
        be given as ``train_samples``, or as ``cv`` of scikit-learn. Absent without samples.
    prediction_instability_ : dict of ndarrays of shape (n_samples,)
        How far answers for a row depend on the training sample. "probability" (of the second of two
        classes, for log loss and Brier score), "value" or "label": by the run on all rows.
        "difference": the mean absolute difference from it of the bootstrap runs that left the row
        out (share of other labels). "low", "high": the 2.5th and 97.5th percentiles of their
        answers. "n_models": how many they are. One dict for all scorers; absent where none keeps
        answers of rows, as with rank metrics. See `skboot.plots.PredictionInstabilityDisplay`.
    estimator_ : estimator
        The run on all rows with the first seed; absent with ``refit=False``.
    classes_ : ndarray of shape (n_classes,)
        For classifiers.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they have some.

    See Also
    --------
    bootstrap_score : Score of a trained system on a test set.

    Notes
    -----
    An integer ``random_state`` that you set (in the estimator, nested, or in an inner splitter) is
    kept in the fit on all rows and in fits on samples that you gave as ``train_samples``; over
    samples that skboot draws, and for ``n_seeds > 1``, seeds vary. So ``estimator_`` is
    ``clone(estimator).fit(X, y)``, and the first of several seeds is yours. States left at None are
    made from the scorer's ``random_state``; a ``RandomState`` object is copied with the estimator,
    as scikit-learn does, and then treated as an integer is.

    From scikit-learn 1.9 on ``set_callbacks`` takes callbacks, as `GridSearchCV` does: each
    training is a task, with the estimator's own tasks below it, and no other progress is shown
    unless ``verbose`` asks for it. The interface is experimental there, and so is this.

    At 95%, "cv-bootstrap" covered 91 to 99% in 36 simulated cells, 95.8 on average (least for
    skewed losses). .632+ is optimistic by .03 to .05 for forests, boosting and support vectors on
    500 rows. See the user guide.

    Cross-validation pools the answers of all folds of a repeat for average precision, R2, F1 and
    other metrics that are biased on the few rows of a fold; areas under the ROC curve are means
    over folds. Estimators with decision values alone, and callables of estimator, X and y, keep the
    mean over folds, with a note.

    References
    ----------
    Efron (1983), JASA 78:316. Efron & Tibshirani (1997), JASA 92:548.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skboot.scorer import BootstrapScorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = BootstrapScorer(GaussianNB(), n_train_resamples=100, random_state=0).fit(X, y)
    >>> low, high = scorer.confidence_interval_
    >>> bool(low < scorer.score_ < high)
    True
    """

    # Whether `sklearn.base.clone` made it: of folds, and points of a search, each has a copy.
    _is_copy: bool = False

    # Of one scorer, and without a dict of test sets; else dicts of these, which is the "Any".
    result_: EvaluationResult | Any
    score_: float | Any
    confidence_interval_: ConfidenceInterval | Any
    standard_error_: float | Any
    resubstitution_score_: float | Any
    oob_score_: float | Any
    point632_score_: float | Any
    point632_plus_score_: float | Any
    no_information_score_: float | Any
    relative_overfitting_rate_: float | Any
    weight_: float | Any
    variance_components_: dict[str, float] | Any
    runs_: dict[str, NDArray[Any]]
    train_samples_: DrawnSamples
    prediction_instability_: dict[str, NDArray[np.float64]]
    estimator_: Any
    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    __metadata_request__fit: ClassVar = {
        "groups": True,
        "X_test": False,
        "y_test": False,
        "groups_test": False,
        "sample_weight_test": False,
    }

    @door("BootstrapScorer")
    def __init__(
        self,
        estimator: Any,
        *,
        scoring: Metric | Metrics | None = None,
        strategy: Strategy = "cv-bootstrap",
        n_train_resamples: int | Literal["auto"] = "auto",
        n_cv_repeats: int = 3,
        n_seeds: int = 1,
        n_test_resamples: int = 1999,
        estimand: Estimand = "method",
        interval: MethodInterval | RunsInterval = "auto",
        confidence_level: float = 0.95,
        stratify: bool = False,
        inner_cv: InnerCV = "grouped",
        refit: bool = True,
        error_score: Any = np.nan,
        n_jobs: int | None = None,
        random_state: Any = None,
        memory: Any = None,
        verbose: bool | int | None = None,
        train_samples: Any = None,
    ) -> None:
        self.estimator = estimator
        self.scoring = scoring
        self.strategy = strategy
        self.n_train_resamples = n_train_resamples
        self.n_cv_repeats = n_cv_repeats
        self.n_seeds = n_seeds
        self.n_test_resamples = n_test_resamples
        self.estimand = estimand
        self.interval = interval
        self.confidence_level = confidence_level
        self.stratify = stratify
        self.inner_cv = inner_cv
        self.refit = refit
        self.error_score = error_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.memory = memory
        self.verbose = verbose
        self.train_samples = train_samples

    # -------------------------------------------------------------- fitting

    @door("BootstrapScorer.fit")
    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        X_test: Any = None,
        y_test: Any = None,
        groups_test: Any = None,
        sample_weight_test: Any = None,
        **params: Any,
    ) -> BootstrapScorer:
        """Train on all training samples and score on the rows left out, or on a test set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; also data frames of pandas and polars, and sparse matrices.
        y : array-like of shape (n_samples,), default=None
            Targets.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group (speaker, patient) are resampled, and left out, together.
        X_test : array-like of shape (n_test, n_features) or dict of these, optional
            Test set that every run is scored on, instead of the rows left out: ``strategy`` and
            ``n_cv_repeats`` are then not used, and ``estimand`` can be any of
            `skboot.bootstrap_runs`. A dict of test sets gives dicts of results, from the same runs.
        y_test : array-like of shape (n_test,) or (n_test, n_outputs) or dict, optional
            Its targets.
        groups_test : array-like of shape (n_test,) or (n_test, 2) or dict, optional
            Test rows of one group are resampled together. Two columns are crossed factors.
        sample_weight_test : array-like of shape (n_test,) or dict, optional
            Weights of test rows in their scores; with metadata routing on for scorers that
            request ``sample_weight``.
        **params : dict
            Parameters of the estimator's ``fit``; those with a value per row are sliced with the
            rows. With metadata routing on, what the estimator has requested, and scorers: as in
            `GridSearchCV`, ``sample_weight`` must be requested or refused by each
            (``make_scorer(accuracy_score).set_score_request(sample_weight=True)``). Scores of rows
            left out, and their intervals, are then weighted.

        Returns
        -------
        BootstrapScorer
            The fitted scorer itself.

        Raises
        ------
        ValueError
            For arguments that cannot be right, or if all runs on training samples failed.

        Warns
        -----
        sklearn.exceptions.FitFailedWarning
            If some runs failed; they are left out and counted.
        UserWarning
            If the interval is known to be unreliable in the case at hand, inner cross-validation
            sees copies of rows on both sides, test set and training set share groups, or all
            training samples are run within a fold of scikit-learn's cross-validation. If rows are
            copies of each other, or test rows copies of rows trained on: see
            `skboot.model_selection.copies_as_groups`.
        """
        check.check_flag("refit", self.refit)
        check_estimator("estimator", self.estimator)
        tests = {
            "X_test": X_test,
            "y_test": y_test,
            "groups_test": groups_test,
            "sample_weight_test": sample_weight_test,
        }
        data = FitData.of(X, y, groups=groups, **tests)
        warn_of_order_of_fit(X, y, groups, **tests)
        notes = Notes()
        try:
            with collected(notes):
                self._run(data, groups, params)
        finally:
            texts_told = _TOLD_BY_COPIES.get(self, {}) if self._is_copy else {}
            for note in notes:
                is_new = texts_told.setdefault(note.text, ref(self))() is self
                if is_new or note.kind in ("failed", "undefined"):
                    tell(note)
        return self

    def _run(self, data: FitData, groups: Any, params: dict[str, Any]) -> None:
        """Run all trainings, set their results, and tell what a reader must know of them."""
        has_test = data.tests is not None
        if routing_enabled() and groups is not None:
            params = {**params, "groups": groups}
        routed = routed_to_fit(self, self.estimator, self.scoring, params)
        call = FitCall.of(self.get_params(deep=False), has_test=has_test, one_method=True)
        if call.train_samples is not None:
            call = with_own_samples(call, data)
        tell(*notes_on_copies(call, data))
        if call.n_train_resamples:
            tell(note_on_folds(call, has_test))
        trained = run_all_trainings(call, self.estimator, data, routed, owner=self)
        tell(*trained.notes)
        for category, texts in trained.estimator_warnings.items():
            for text in texts:
                warn_user(text, category)
        attributes: dict[str, Any] = {}
        if isinstance(trained, OutOfBagRuns):
            attributes = results.attributes_of(call, self.estimator, trained)
        elif isinstance(trained, TestSetRuns):
            attributes = results.attributes_on_tests(call, self.estimator, trained)
        model = trained.model
        attributes |= {
            name: getattr(model, name, None)
            for name in ("n_features_in_", "feature_names_in_", "classes_")
        }
        attributes["estimator_"] = model if self.refit else None
        attributes["train_samples_"] = trained.train_samples if call.n_train_resamples else None
        self._loan = trained.loan
        for name in (*results.FITTED, *attributes):
            value = attributes.get(name)
            if value is not None:
                setattr(self, name, value)
            elif name in vars(self):
                # An earlier fit has set what this one has not.
                delattr(self, name)

    def __sklearn_clone__(self) -> Any:
        """Return an unfitted copy; what one copy of a scorer has told the others do not repeat."""
        twin = unfitted_copy(self)
        twin._is_copy = True
        _TOLD_BY_COPIES[twin] = _TOLD_BY_COPIES.setdefault(self, {})
        return twin

    # -------------------------------------------------------------- as an estimator

    @available_if(_estimator_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Call ``predict`` of ``estimator_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels or values.
        """
        return self._answer("predict", X)

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Call ``predict_proba`` of ``estimator_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return self._answer("predict_proba", X)

    @available_if(_estimator_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Call ``predict_log_proba`` of ``estimator_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms of probabilities.
        """
        return self._answer("predict_log_proba", X)

    @available_if(_estimator_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Call ``decision_function`` of ``estimator_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Decision values.
        """
        return self._answer("decision_function", X)

    @available_if(_estimator_has("score_samples"))  # type: ignore[untyped-decorator]
    def score_samples(self, X: Any) -> Any:
        """Call ``score_samples`` of ``estimator_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Logarithms of densities, or scores of how usual rows are.
        """
        return self._answer("score_samples", X)

    @available_if(_estimator_has("transform"))  # type: ignore[untyped-decorator]
    def transform(self, X: Any) -> Any:
        """Call ``transform`` of ``estimator_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array-like of shape (n_samples, n_features_out)
            In the container that `set_output` asks for.
        """
        return self._answer("transform", X)

    @available_if(_estimator_has("transform"))  # type: ignore[untyped-decorator]
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, and call ``transform`` of ``estimator_`` on the same rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), default=None
            Targets.
        **params : dict
            As in `fit`.

        Returns
        -------
        array-like of shape (n_samples, n_features_out)
            In the container that `set_output` asks for.
        """
        return self.fit(X, y, **params).transform(X)

    @available_if(_estimator_has("inverse_transform"))  # type: ignore[untyped-decorator]
    def inverse_transform(self, X: Any) -> Any:
        """Call ``inverse_transform`` of ``estimator_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_out)
            Transformed rows.

        Returns
        -------
        array-like of shape (n_samples, n_features)
            Rows.
        """
        return self._answer("inverse_transform", X)

    @available_if(_estimator_has("get_feature_names_out"))  # type: ignore[untyped-decorator]
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Call ``get_feature_names_out`` of ``estimator_``.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the features.

        Returns
        -------
        ndarray of str
            Names of what ``transform`` returns.
        """
        return self._fitted().get_feature_names_out(input_features)

    @available_if(_estimator_has("set_output"))  # type: ignore[untyped-decorator]
    def set_output(self, *, transform: Any = None) -> BootstrapScorer:
        """Call ``set_output`` of the estimator, and of ``estimator_`` where there is one.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            Container that ``transform`` returns.

        Returns
        -------
        BootstrapScorer
            The scorer itself.
        """
        self.estimator.set_output(transform=transform)
        if hasattr(self, "estimator_"):
            self.estimator_.set_output(transform=transform)
        return self

    @available_if(_has_score)  # type: ignore[untyped-decorator]
    @door("BootstrapScorer.score")
    def score(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Score ``estimator_`` by ``scoring``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), default=None
            Targets.
        **params : dict
            What scorers have requested, with metadata routing on, such as ``sample_weight``.

        Returns
        -------
        float or dict
            A dict by name with several scorers.
        """
        refuse_params_without_routing(params, self, "score")
        model = self._fitted()
        scorers, single = named_scorers(self.scoring, model)
        arguments = (X,) if y is None else (X, y)
        of_scorers: dict[str, dict[str, Any]] = {}
        if params:
            routed = process_routing(self, "score", **params)
            of_scorers = by_scorer(self.scoring, model, routed.scorer.score)
        scores = {
            name: self._loan.call(partial(scorer, model), *arguments, **of_scorers.get(name, {}))
            for name, scorer in scorers.items()
        }
        return next(iter(scores.values())) if single else scores

    def _answer(self, method: str, X: Any) -> Any:
        """Return what a method of the estimator answers to data that are lent to it."""
        answer = getattr(self._fitted(), method)
        return self._loan.call(answer, X)

    def _fitted(self) -> Any:
        """Return ``estimator_``, or raise where there is none."""
        check_is_fitted(self)
        return self.estimator_

    def _why_absent(self, name: str) -> str:
        present = vars(self)
        if name == "estimator_":
            return "With refit=False no estimator is kept. Set refit=True to predict and score."
        if name not in (*results.FITTED, "train_samples_"):
            return ""
        if "result_" not in present:
            return (
                "With n_train_resamples=0 and without a test set, fit trains the estimator once "
                "and makes no result. For a result give X_test= and y_test= to fit, or leave "
                "n_train_resamples='auto'."
            )
        if name == "train_samples_":
            return "With n_train_resamples=0 no samples are trained on."
        if "oob_score_" not in present:
            return "With a test set no rows that are left out are scored: fit without X_test=."
        return "Only metrics that are computed from the answers for each row have it."

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = super().__repr__(N_CHAR_MAX)
        return "\n".join([text, *results.score_lines(self.result_)]) if self._has_result else text

    def _repr_html_inner(self) -> str:
        return self._with_claims(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._with_claims(bundle["text/html"])
        return dict(bundle)

    def _with_claims(self, html: str) -> str:
        """Return scikit-learn's diagram with the scores of a fitted scorer below it."""
        claims = self.result_.claim().splitlines() if self._has_result else []
        return html + "".join(f'<p style="margin:.3em 0">{escape(claim)}</p>' for claim in claims)

    @property
    def _has_result(self) -> bool:
        return hasattr(self, "result_")

    def __sklearn_is_fitted__(self) -> bool:
        return self._has_result or hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags"):
            setattr(tags, name, deepcopy(getattr(inner, name)))
        tags.input_tags = deepcopy(inner.input_tags)
        tags.transformer_tags = deepcopy(inner.transformer_tags)
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Say which metadata goes where.

        Returns
        -------
        MetadataRouter
            ``groups`` to this scorer, what the estimator has requested to its ``fit``, and what
            scorers have requested to them, in ``fit`` and ``score``.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        return router_of(router, {"": self.estimator}, self.scoring)
