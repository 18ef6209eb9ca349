"""Around a search: its out-of-fold predictions, a more cautious choice, a t interval.

`out_of_fold` makes what `search_score` needs, `one_standard_error` chooses more cautiously within a
search, `corrected_t` serves those who have scores of `sklearn.model_selection.cross_validate` only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import stdtr, stdtrit
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv, cross_val_predict

from .._base import checks as check
from .._base.doors import door
from .._base.errors import Note, tell
from .._base.sklearn_compat import n_rows_of, scorer_parts, take
from .._base.typing import ArrayLike
from ..inference.evidence import ConfidenceInterval, range_of_difference
from ..metrics.lookup import known_names, resolve_metrics
from ..results.comparison import CorrectedT, CorrectedTable
from ..scorer.call import check_rows_of_fit
from .arguments import checked_params

Floats = NDArray[np.float64]

_METHODS = ("predict", "predict_proba", "decision_function")
_ASK_FOR_INDICES = "The whole dict of cross_validate(..., return_indices=True) has the sizes."


@overload
def out_of_fold(
    search: Mapping[str, Any],
    X: Any,
    y: Any = None,
    *,
    method: str | None = None,
) -> NDArray[Any]: ...
@overload
def out_of_fold(
    search: Any,
    X: Any,
    y: Any,
    *,
    groups: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    method: str | None = None,
    n_jobs: int | None = None,
) -> dict[str, NDArray[Any]]: ...
@door("out_of_fold")
def out_of_fold(
    search: Any,
    X: Any,
    y: Any = None,
    *,
    groups: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    method: str | None = None,
    n_jobs: int | None = None,
) -> dict[str, NDArray[Any]] | NDArray[Any]:
    """Out-of-fold predictions: of every configuration of a fitted search, or of a cross-validation.

    Fits each configuration of a search again on each fold, which takes as long as the search
    itself. The models of a cross-validation are not fitted again. An interval of
    `skboot.bootstrap_score` for these predictions is conditional on the models: it does not include
    the variation between training sets.

    Parameters
    ----------
    search : estimator or dict
        A fitted `sklearn.model_selection.GridSearchCV`, ``RandomizedSearchCV`` or the like; or what
        ``cross_validate(..., return_estimator=True, return_indices=True)`` returned.
    X : array-like of shape (n_samples, n_features)
        The data that it was fitted on.
    y : array-like of shape (n_samples,), optional
        The target of a search.
    groups : array-like of shape (n_samples,), optional
        For the splitter of the search.
    params : dict, optional
        Parameters of the fits of a search, such as ``sample_weight``, as in
        `sklearn.model_selection.cross_val_predict`.
    method : {"predict", "predict_proba", "decision_function"}, optional
        Method of the models to call. None: what the scoring of a search reads, and "predict" for a
        cross-validation, which does not keep its scoring.
    n_jobs : int, optional
        Workers over the folds of a search.

    Returns
    -------
    dict of str to ndarray of shape (n_samples,) or (n_samples, n_classes), or one such array
        For a search, by the parameters of each configuration; for a cross-validation, the array.

    Raises
    ------
    ValueError
        If the folds do not hold each row once, a dict lacks models or indices, or its models know
        different classes.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skboot import search_score
    >>> from skboot.model_selection import out_of_fold
    >>> X, y = make_classification(n_samples=200, flip_y=0.2, random_state=0)
    >>> search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1, 100]}).fit(X, y)
    >>> predictions = out_of_fold(search, X, y)
    >>> list(predictions)
    ['C=0.01', 'C=1', 'C=100']
    >>> result = search_score(y, predictions, random_state=0)
    >>> bool(result.estimate <= search.best_score_ + 0.02)
    True

    Of models that `cross_validate` has fitted:

    >>> from sklearn.model_selection import cross_validate
    >>> from skboot import bootstrap_score
    >>> found = cross_validate(LogisticRegression(), X, y, return_estimator=True,
    ...                        return_indices=True)
    >>> print(bootstrap_score(y, out_of_fold(found, X), random_state=0))
    0.800 (0.739 to 0.850)
    """
    n_jobs = check.check_workers(n_jobs, None).n_jobs
    if method is not None:
        check.check_choice("method", method, _METHODS)
    groups, fit_parameters = checked_params(params, groups)
    if isinstance(search, Mapping):
        if fit_parameters:
            must = "be None for a cross-validation, whose models are fitted"
            raise check.fail("params", must, f"{sorted(fit_parameters)}")
        return _answers_out_of_fold(search, X, method or "predict")
    if not hasattr(search, "cv_results_"):
        must = "be a fitted search, such as GridSearchCV"
        raise check.fail("search", must, type(search).__name__, "Call its fit first.")
    check_rows_of_fit(X, y, groups)
    if y is None:
        raise check.fail("y", "hold what the search was fitted to", "None")
    if is_classifier(search.estimator) and getattr(getattr(y, "dtype", None), "names", None):
        raise check.fail("y", "hold labels for a classifier", "records")
    # Once, so that a splitter that shuffles gives all configurations the same folds.
    cv = check_cv(search.cv, y, classifier=is_classifier(search.estimator))
    folds = list(cv.split(X, y, groups))
    _check_folds([test for _, test in folds], X, f"cv={search.cv!r}")
    method = method or _response_method(search)
    answers_by_name: dict[str, NDArray[Any]] = {}
    for settings in search.cv_results_["params"]:
        estimator = clone(search.estimator).set_params(**clone(settings, safe=False))
        name = ", ".join(f"{key}={value}" for key, value in settings.items()) or "defaults"
        name = name if name not in answers_by_name else f"{name} ({len(answers_by_name)})"
        answers = cross_val_predict(
            estimator, X, y, cv=folds, n_jobs=n_jobs, method=method, params=fit_parameters or None
        )
        answers_by_name[name] = _checked_answers(answers, name)
    return answers_by_name


def _checked_answers(answers: Any, name: str) -> NDArray[Any]:
    """Return answers of models as an array; refuse NaN, as scikit-learn's metrics do."""
    values = np.asarray(answers.toarray() if sparse.issparse(answers) else answers)
    if check.missing_rows(values) is not None:
        must = "answer with finite numbers or labels on every row"
        advice = "Mend the estimator, or leave this configuration out of the search."
        raise check.fail("search", must, f"NaN, infinity or None from {name}", advice)
    return values


def _check_folds(tested: Sequence[NDArray[Any]], X: Any, got: str) -> None:
    """Refuse folds that do not test each row once."""
    rows, n_rows = np.sort(np.concatenate(tested)), n_rows_of(X)
    if np.array_equal(rows, np.arange(len(rows))) and len(rows) != n_rows:
        raise check.fail("X", f"be the {len(rows)} rows that the folds were made of", f"{n_rows}")
    if not np.array_equal(rows, np.arange(n_rows)):
        advice = "Fit it with cv=5, KFold or the like; not with repeated or random splits."
        raise check.fail("search", "have folds that test each row once", got, advice)


def _answers_out_of_fold(scores: Mapping[str, Any], X: Any, method: str) -> NDArray[Any]:
    """Return what the models of a cross-validation say of the rows that they were not fitted to."""
    models = scores.get("estimator")
    if models is None:
        advice = "Call cross_validate with return_estimator=True and return_indices=True."
        raise check.fail(
            "search", "hold the models of its splits", f"keys {sorted(scores)}", advice
        )
    tested = [test for _, test in _splits_of("search", scores)]
    _check_folds(tested, X, f"{len(tested)} splits")
    lacking = next((model for model in models if not hasattr(model, method)), None)
    if lacking is not None:
        raise check.fail("method", f"be one that {type(lacking).__name__} has", repr(method))
    classes: list[Any] = [getattr(model, "classes_", None) for model in models]
    if method != "predict" and not all(np.array_equal(classes[0], labels) for labels in classes):
        advice = "Use a cv that keeps all classes in each training side, or method='predict'."
        raise check.fail("search", "have models that know the same classes", "others", advice)
    answers = [
        _checked_answers(getattr(model, method)(take(X, test)), type(model).__name__)
        for model, test in zip(models, tested, strict=True)
    ]
    return np.concatenate(answers)[np.argsort(np.concatenate(tested), kind="stable")]


def _response_method(search: Any) -> str:
    """Method of the estimator whose results the scoring of the search looks at."""
    scorer = search.scorer_
    if isinstance(scorer, Mapping):
        name = next(iter(scorer))
        scorer = scorer[search.refit if isinstance(search.refit, str) else name]
    parts = scorer_parts(scorer)
    methods = ("predict",) if parts is None else parts.response_methods
    for method in methods:
        if hasattr(search.estimator, method):
            return str(method)
    return "predict"


# ------------------------------------------------------------------ choosing with caution


@door("one_standard_error")
def one_standard_error(scoring: str | None = None) -> Callable[[Mapping[str, Any]], int]:
    """Make a ``refit=`` that takes the simplest configuration within one standard error.

    List the configurations from the simplest to the most complex: the first one whose score is
    within one standard error of the best is chosen. The standard error is that of the paired
    differences over the folds, because a hard fold is hard for all.

    Parameters
    ----------
    scoring : str, optional
        Name of the scorer, for searches with several.

    Returns
    -------
    callable
        From ``cv_results_`` to the number of the configuration, for ``refit=`` of a search.

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), Classification and Regression Trees, section 3.4.3,
    for the rule.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skboot.model_selection import one_standard_error
    >>> X, y = make_classification(n_samples=300, flip_y=0.2, random_state=0)
    >>> search = GridSearchCV(DecisionTreeClassifier(random_state=0),
    ...                       {"max_depth": [1, 2, 3, 5, 8, 13]}, refit=one_standard_error())
    >>> search.fit(X, y).best_params_
    {'max_depth': 1}
    """
    return partial(_first_within_one_error, scoring="score" if scoring is None else scoring)


@door("one_standard_error")
def _first_within_one_error(cv_results: Mapping[str, Any], *, scoring: str) -> int:
    end = f"_test_{scoring}"
    keys = [key for key in cv_results if key.startswith("split") and key.endswith(end)]
    if not keys:
        names = sorted(
            key.removeprefix("mean_test_") for key in cv_results if key.startswith("mean_test_")
        )
        raise check.fail(
            "scoring",
            f"be one of {names}, the scorers of the search",
            repr(scoring),
        )
    scores = np.array([np.asarray(cv_results[key], dtype=float) for key in keys])
    means = scores.mean(axis=0)
    if np.isnan(means).all():
        must = "have a configuration with defined scores to choose from"
        advice = "error_score='raise' in the search shows why."
        raise check.fail("refit", must, "NaN for all", advice)
    behind = scores[:, [int(np.nanargmax(means))]] - scores
    errors = behind.std(axis=0, ddof=1) / np.sqrt(len(behind)) if len(behind) > 1 else 0.0
    return int(np.flatnonzero(behind.mean(axis=0) <= errors)[0])


# ------------------------------------------------------------------ scores of cross-validation


@overload
def corrected_t(
    scores_a: Mapping[str, Any],
    scores_b: Mapping[str, Any] | None = None,
    *,
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> CorrectedTable: ...
@overload
def corrected_t(
    scores_a: ArrayLike,
    scores_b: ArrayLike | None = None,
    *,
    n_train: int,
    n_test: int,
    confidence_level: float = 0.95,
) -> CorrectedT: ...
@door("corrected_t")
def corrected_t(
    scores_a: ArrayLike | Mapping[str, Any],
    scores_b: ArrayLike | Mapping[str, Any] | None = None,
    *,
    n_train: int | None = None,
    n_test: int | None = None,
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> CorrectedT | CorrectedTable:
    """Corrected resampled t interval from the scores of cross-validation.

    Use it if you have only results of `sklearn.model_selection.cross_validate`. Splits share
    training rows, so their scores are correlated, and the usual t interval is far too short. At
    95% this one covered 70 to 99% in simulations. If you have the data, use
    `skboot.BootstrapScorer`, which covered 91% or more, or `skboot.compare_methods`, 88% or more.

    Parameters
    ----------
    scores_a : array-like of shape (n_splits,), or dict
        Scores of random splits or of (repeated) k-fold cross-validation, at least two; or what
        ``cross_validate(..., return_indices=True)`` returned, with all its metrics.
    scores_b : of the same type, optional
        Scores of a second method on the same splits: the interval is for the difference.
    n_train, n_test : int
        Training and test rows of a split, for scores without a dict, whose indices give them. Use
        nine tenths for training: with less the correction is not enough.
    groups : array-like of shape (n_samples,), optional
        For a dict: group of each row, where rows of one belong together. Splits then count groups.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    CorrectedT or CorrectedTable
        Mean, interval, standard error and p-value; for a dict one of these by metric, with
        ``to_frame``. In splits of a dict, distinct training rows count, and limits are cut at the
        range of metrics that have the name of a scorer; ``confidence_interval.uncut`` has them as
        published. Scores without a name have no known range.

    Raises
    ------
    ValueError
        For scores that are not finite or of different lengths, sizes below 1, and dicts without
        indices or of different splits.

    Warns
    -----
    UserWarning
        If less than nine tenths of the rows are for training.

    References
    ----------
    Nadeau & Bengio (2003), Machine Learning 52, 239-281, equation 9.

    Examples
    --------
    >>> from skboot.model_selection import corrected_t
    >>> found = corrected_t([0.80, 0.85, 0.78, 0.83, 0.82], n_train=90, n_test=10)
    >>> print(f"{found.estimate:.3f} ({found.confidence_interval:.3f})")
    0.816 (0.774 to 0.858)

    From what `cross_validate` returned:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scores = cross_validate(GaussianNB(), X, y, cv=10, scoring=["accuracy", "roc_auc"],
    ...                         return_indices=True)
    >>> print(corrected_t(scores))
    metric    estimate      95% CI (t)  standard error
    accuracy     0.937  0.906 to 0.968          0.0138
    ROC AUC      0.988  0.976 to 1.000          0.0054
    """
    level = check.check_confidence_level(confidence_level)
    if isinstance(scores_a, Mapping):
        return _corrected_table(scores_a, scores_b, (n_train, n_test), groups, level)
    if isinstance(scores_b, Mapping):
        raise check.fail("scores_b", "be an array, as 'scores_a' is", "a dict")
    if groups is not None:
        advice = "Give n_train and n_test in groups."
        raise check.fail("groups", "be None with scores without indices", "groups", advice)
    n_train = check.check_count("n_train", n_train, 1, _ASK_FOR_INDICES)
    n_test = check.check_count("n_test", n_test, 1, _ASK_FOR_INDICES)
    values = _checked_scores("scores_a", scores_a)
    if scores_b is not None:
        values_b = _checked_scores("scores_b", scores_b)
        check.check_same_length(scores_a=values, scores_b=values_b)
        values = values - values_b
    sizes = np.array([[n_train, n_test]], dtype=float)
    _tell_of_shares(sizes)
    return _corrected_mean(values, sizes, level)


def _corrected_table(
    scores_a: Mapping[str, Any], scores_b: Any, n_train_and_test: Any, groups: Any, level: float
) -> CorrectedTable:
    """Return the intervals of all metrics of a dict, or of their differences from another one."""
    if "params" in scores_a or any(str(key).startswith("split0_") for key in scores_a):
        # The candidates of a search are chosen by these very scores.
        must = "be scores of cross-validation"
        advice = (
            "Score the whole search: corrected_t(cross_validate(search, X, y, cv=..., "
            "return_indices=True)), or its best score by skboot.search_score."
        )
        raise check.fail("scores_a", must, "the cv_results_ of a search", advice)
    if n_train_and_test != (None, None):
        advice = "Leave them out: the indices of the dict give the sizes."
        raise check.fail(
            "n_train", "be None, as 'n_test', with a dict of scores", repr(n_train_and_test), advice
        )
    splits = _splits_of("scores_a", scores_a)
    scores = _scores_of("scores_a", scores_a)
    ranges = {name: _range_of(name, values) for name, values in scores.items()}
    if scores_b is not None:
        if not isinstance(scores_b, Mapping):
            raise check.fail("scores_b", "be a dict, as 'scores_a' is", type(scores_b).__name__)
        splits_b = _splits_of("scores_b", scores_b)
        sides, sides_b = (
            [rows for split in lists for rows in split] for lists in (splits, splits_b)
        )
        if len(splits) != len(splits_b) or not all(map(np.array_equal, sides, sides_b)):
            advice = "Give both calls of cross_validate the same cv, with a random_state."
            raise check.fail("scores_b", "have the splits of 'scores_a'", "other splits", advice)
        subtracted = _scores_of("scores_b", scores_b)
        if list(subtracted) != list(scores):
            raise check.fail("scores_b", f"have the metrics {list(scores)}", str(list(subtracted)))
        ranges = {
            name: _range_of(name, metric_scores, subtracted[name])
            for name, metric_scores in scores.items()
        }
        ranges = {name: range_of_difference(ends) for name, ends in ranges.items()}
        scores = {name: values - subtracted[name] for name, values in scores.items()}
    if groups is not None:
        number = check.check_groups(groups)
        n_rows = 1 + max(int(side.max()) for split in splits for side in split)
        if len(number) < n_rows:
            raise check.fail("groups", f"have a group for each of {n_rows} rows", str(len(number)))
        splits = [(number[train], number[test]) for train, test in splits]
    sizes = np.array([[len(np.unique(side)) for side in split] for split in splits], dtype=float)
    _tell_of_shares(sizes)
    return CorrectedTable(
        {
            name: _corrected_mean(metric_scores, sizes, level, ranges[name])
            for name, metric_scores in scores.items()
        }
    )


def _range_of(name: str, *scores: Floats) -> tuple[float, float]:
    """Range of a scorer by its name; unknown where scores of this name lie beyond it."""
    unknown = (-np.inf, np.inf)
    if name not in set(known_names()) - {"mean"}:
        return unknown
    statistics, _ = resolve_metrics(name, several_outputs=name.endswith("_samples"))
    [statistic] = statistics.values()
    low, high = statistic.bounds
    within = all(low <= values.min() and values.max() <= high for values in scores)
    return (low, high) if within else unknown


def _splits_of(name: str, scores: Mapping[str, Any]) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Training and test rows of each split of a dict."""
    indices = scores.get("indices")
    if indices is None:
        advice = "Call it with return_indices=True."
        raise check.fail(name, "hold the indices of its splits", f"keys {sorted(scores)}", advice)
    return list(zip(indices["train"], indices["test"], strict=True))


def _scores_of(name: str, columns: Mapping[str, Any]) -> dict[str, Floats]:
    """Scores of each metric on the test rows of the splits."""
    scores = {
        key.removeprefix("test_"): _checked_scores(f"{name}[{key!r}]", values)
        for key, values in columns.items()
        if key.startswith("test_")
    }
    if not scores:
        must = "hold scores, as 'test_score', of cross_validate"
        raise check.fail(name, must, f"keys {sorted(columns)}")
    return scores


def _tell_of_shares(sizes: Floats) -> None:
    """Warn of splits with less than nine tenths for training; sizes (n_splits, 2) of both sides."""
    n_train, n_test = sizes.mean(axis=0)
    if n_test / n_train > 1 / 9 + 1e-9 and n_test > 1 + n_train / 9:
        text = (
            f"{n_test:.4g} test rows for {n_train:.4g} training rows: with less than nine tenths "
            "for training the interval covered 65 to 80%. Use ten folds or more."
        )
        tell(Note("caution", text))


def _corrected_mean(
    values: Floats,
    sizes: Floats,
    level: float,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> CorrectedT:
    """Return the interval of the mean of scores, for training and test rows (n_splits or 1, 2)."""
    n_splits = len(values)
    mean = float(values.mean())
    share = float(np.mean(sizes[:, 1] / sizes[:, 0]))
    error = float(values.std(ddof=1) * np.sqrt(1 / n_splits + share))
    half = float(stdtrit(n_splits - 1, 0.5 + level / 2)) * error
    if error == 0:
        p = 1.0 if mean == 0 else 0.0
    else:
        p = 2 * float(stdtr(n_splits - 1, -abs(mean) / error))
    interval = ConfidenceInterval(mean - half, mean + half, level, "corrected-t")
    return CorrectedT(mean, interval._within(*bounds), error, p)


def _checked_scores(name: str, scores: ArrayLike) -> Floats:
    values = check.check_rows(name, scores, "Leave these splits out of all arguments.")
    if values.ndim != 1 or values.dtype.kind not in "iuf" or len(values) < 2:
        raise check.fail(
            name,
            "hold at least two scores, one per split",
            f"{values.dtype} of shape {values.shape}",
        )
    check.check_size(name, values)
    return values.astype(np.float64)
