"""Around a search: its out-of-fold predictions, a more cautious choice, a t interval.

`out_of_fold` makes what `search_score` needs, `one_standard_error` chooses more cautiously within a
search, `corrected_t` serves those who have scores of `sklearn.model_selection.cross_validate` only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv, cross_val_predict

from .._base import checks as check
from .._base.doors import door
from .._base.sklearn_compat import scorer_parts
from .._base.warnings import Note, tell
from ..inference.confidence_interval import ConfidenceInterval
from ..scorer.fit_call import check_rows_of_fit

Floats = NDArray[np.float64]


@door("out_of_fold")
def out_of_fold(
    search: Any,
    X: Any,
    y: Any,
    *,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> dict[str, NDArray[Any]]:
    """Out-of-fold predictions of every configuration of a fitted search.

    Fits each configuration again on each fold: as much work as the search itself.

    Parameters
    ----------
    search : estimator
        A fitted `sklearn.model_selection.GridSearchCV`, ``RandomizedSearchCV`` or the like.
    X : array-like of shape (n_samples, n_features)
        The data it was fitted on.
    y : array-like of shape (n_samples,)
        Its target.
    groups : array-like of shape (n_samples,), optional
        For the splitter of the search.
    n_jobs : int, optional
        Workers over the folds.

    Returns
    -------
    dict of str to ndarray of shape (n_samples,) or (n_samples, n_classes)
        What the scoring of the search looks at: labels, or else probabilities or scores, by the
        parameters of the configuration.

    Raises
    ------
    ValueError
        If the folds of the search do not hold each row once.

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
    """
    n_jobs = check.check_n_jobs(n_jobs)
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
    tested = np.sort(np.concatenate([test for _, test in folds]))
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    if not np.array_equal(tested, np.arange(n_samples)):
        raise check.fail(
            "search",
            "have folds that test each row once",
            f"cv={search.cv!r}",
            "Fit it with cv=5, KFold or the like; repeated or random splits will not do.",
        )
    method = _response_method(search)
    found: dict[str, NDArray[Any]] = {}
    for params in search.cv_results_["params"]:
        estimator = clone(search.estimator).set_params(**clone(params, safe=False))
        name = ", ".join(f"{key}={value}" for key, value in params.items()) or "defaults"
        name = name if name not in found else f"{name} ({len(found)})"
        found[name] = cross_val_predict(estimator, X, y, cv=folds, n_jobs=n_jobs, method=method)
    return found


def _response_method(search: Any) -> str:
    """Method of the estimator whose results the scoring of the search looks at."""
    scorer = search.scorer_
    if isinstance(scorer, Mapping):
        first = next(iter(scorer))
        scorer = scorer[search.refit if isinstance(search.refit, str) else first]
    parts = scorer_parts(scorer)
    wanted = ("predict",) if parts is None else parts.response_methods
    for method in wanted:
        if hasattr(search.estimator, method):
            return str(method)
    return "predict"


# ------------------------------------------------------------------ choosing with caution


@door("one_standard_error")
def one_standard_error(scoring: str | None = None) -> Callable[[Mapping[str, Any]], int]:
    """Make a ``refit=`` that takes the first configuration hardly worse than the best.

    List the configurations from the simplest to the most complex: the first one whose score is
    within one standard error of the best score is chosen. The standard error is that of the
    paired differences over the folds, since what is hard in a fold is hard for all.

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
        known = sorted(
            key.removeprefix("mean_test_") for key in cv_results if key.startswith("mean_test_")
        )
        raise check.fail(
            "scoring",
            f"be one of {known}, the scorers of the search",
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


class CorrectedT(NamedTuple):
    """Mean of scores over splits, or mean difference, with Nadeau and Bengio's correction.

    Attributes
    ----------
    estimate : float
        Mean score, or mean difference first minus second.
    confidence_interval : ConfidenceInterval
        Student's t interval.
    standard_error : float
        sd sqrt(1 / J + n_test / n_train).
    p_value : float
        Two-sided, that the mean is 0.
    """

    estimate: float
    confidence_interval: ConfidenceInterval
    standard_error: float
    p_value: float


@door("corrected_t")
def corrected_t(
    scores_a: ArrayLike,
    scores_b: ArrayLike | None = None,
    *,
    n_train: int,
    n_test: int,
    confidence_level: float = 0.95,
) -> CorrectedT:
    """Corrected resampled t interval from the scores of cross-validation.

    For people who have results of `sklearn.model_selection.cross_validate` only. Splits share
    training rows, so their scores are correlated, and the usual t interval is far too short.

    Parameters
    ----------
    scores_a : array-like of shape (n_splits,)
        Scores of random splits or of (repeated) k-fold cross-validation, at least two.
    scores_b : array-like of shape (n_splits,), optional
        Scores of a second method on the same splits: the interval is for the difference.
    n_train, n_test : int
        Training and test rows of a split. Keep nine tenths for training: with less the
        correction is not enough.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    CorrectedT
        Mean, interval, standard error and p-value.

    Raises
    ------
    ValueError
        For scores that are not finite or of different lengths, and sizes below 1.

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
    """
    level = check.check_confidence_level(confidence_level)
    n_train = check.check_count("n_train", n_train, 1)
    n_test = check.check_count("n_test", n_test, 1)
    values = _checked_scores("scores_a", scores_a)
    if scores_b is not None:
        second = _checked_scores("scores_b", scores_b)
        check.check_same_length(scores_a=values, scores_b=second)
        values = values - second
    if n_test / n_train > 1 / 9 + 1e-9 and n_test > 1 + n_train / 9:
        text = (
            f"{n_test} test rows for {n_train} training rows: with less than nine tenths for "
            "training the interval covered 65 to 80 %. Use ten folds or more."
        )
        tell(Note("caution", text))
    n_splits = len(values)
    mean = float(values.mean())
    error = float(values.std(ddof=1) * np.sqrt(1 / n_splits + n_test / n_train))
    half = float(stdtrit(n_splits - 1, 0.5 + level / 2)) * error
    if error == 0:
        p = 1.0 if mean == 0 else 0.0
    else:
        p = 2 * float(stdtr(n_splits - 1, -abs(mean) / error))
    interval = ConfidenceInterval(mean - half, mean + half, level, "corrected-t")
    return CorrectedT(mean, interval, error, p)


def _checked_scores(name: str, scores: ArrayLike) -> Floats:
    values = check.check_rows(name, scores)
    if values.ndim != 1 or values.dtype.kind not in "iuf" or len(values) < 2:
        raise check.fail(
            name,
            "hold at least two scores, one per split",
            f"{values.dtype} of shape {values.shape}",
        )
    check.check_size(name, values)
    return values.astype(np.float64)
