"""Where the cross-validated estimate of a method is centred: folds read together, or their mean."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    get_scorer,
    make_scorer,
    median_absolute_error,
    roc_auc_score,
)

from skboot import BootstrapScorer
from skboot.results import EvaluationResult

pytestmark = pytest.mark.filterwarnings("ignore:.*smallest class has 10 rows")

FEW = dict(n_train_resamples=60, n_cv_repeats=2, random_state=0)


@pytest.fixture(scope="module")
def rare():
    rng = np.random.default_rng(0)
    y = (np.arange(150) % 15 == 0).astype(int)
    X = rng.normal(size=(150, 3))
    X[:, :2] += 0.9 * y[:, None]
    return X, y


class Watched(BaseEstimator):
    """Fits `model`, and notes which rows it was given; the first column of X numbers them."""

    seen = None

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        Watched.seen.append(X[:, 0].astype(int))
        self.model.fit(X[:, 1:], y)
        return self

    @property
    def classes_(self):
        return self.model.classes_

    def predict(self, X):
        return self.model.predict(X[:, 1:])


class Decides(ClassifierMixin, Watched):
    def decision_function(self, X):
        return self.model.decision_function(X[:, 1:])


class Weighs(Decides):
    def predict_proba(self, X):
        return self.model.predict_proba(X[:, 1:])


class Values(Watched):
    def __sklearn_tags__(self):
        return LinearRegression().__sklearn_tags__()


def fitted(estimator, X, y, **options):
    """A fitted scorer, and the rows that each fold leaves out, (n_repeats, n_folds)."""
    Watched.seen = []
    numbered = np.column_stack((np.arange(len(X)), X))
    scorer = BootstrapScorer(estimator, **FEW, **options).fit(numbered, y)
    left_out = [np.setdiff1d(np.arange(len(y)), rows) for rows in Watched.seen[61:]]
    return scorer, [left_out[:10], left_out[10:]]


def answers(model, X, y, folds, method):
    """Out-of-fold answers of a fresh model."""
    found = np.full(len(y), np.nan)
    for test in folds:
        train = np.setdiff1d(np.arange(len(y)), test)
        given = getattr(model.fit(X[train], y[train]), method)(X[test])
        found[test] = given[:, 1] if given.ndim == 2 else given
    return found


def test_average_precision_is_that_of_all_folds_of_a_repeat_together(rare):
    X, y = rare
    model = LogisticRegression()
    scorer, repeats = fitted(Weighs(model), X, y, scoring="average_precision")
    pooled = [
        average_precision_score(y, answers(LogisticRegression(), X, y, folds, "predict_proba"))
        for folds in repeats
    ]
    assert scorer.score_ == pytest.approx(np.mean(pooled), abs=1e-12)
    cv = scorer.result_._basis.error.prediction_error.cv
    assert cv.n_effective == y.sum() == 10
    assert cv.training_share == 1.0


def test_decision_values_alone_keep_the_mean_over_folds_and_say_how_far_it_may_be_off(rare):
    X, y = rare
    scorer, repeats = fitted(Decides(RidgeClassifier()), X, y, scoring="average_precision")
    given = [answers(RidgeClassifier(), X, y, folds, "decision_function") for folds in repeats]
    by_fold = [
        average_precision_score(y[test], own[test])
        for own, folds in zip(given, repeats, strict=True)
        for test in folds
        if y[test].any()
    ]
    together = np.mean([average_precision_score(y, own) for own in given])
    assert scorer.score_ == pytest.approx(np.mean(by_fold), abs=1e-12)
    (note,) = [note for note in scorer.result_.notes if "mean over folds" in note]
    assert f"estimate {np.mean(by_fold):.4g} is" in note
    assert f"the folds give {together:.4g} together" in note
    assert f"off by about {np.mean(by_fold) - together:.2g}" in note


def test_an_area_under_the_roc_curve_stays_the_mean_over_folds(rare):
    X, y = rare
    scorer, repeats = fitted(Weighs(LogisticRegression()), X, y, scoring="roc_auc")
    by_fold = []
    for folds in repeats:
        given = answers(LogisticRegression(), X, y, folds, "decision_function")
        by_fold += [roc_auc_score(y[test], given[test]) for test in folds]
    assert scorer.score_ == pytest.approx(np.mean(by_fold), abs=1e-12)
    assert not any("mean over folds" in note for note in scorer.result_.notes)


def test_a_function_of_predictions_is_centred_as_the_metric_of_that_name(rare):
    X, y = rare
    scoring = {
        "by name": "f1_macro",
        "called": make_scorer(lambda a, b: f1_score(a, b, average="macro")),
    }
    model = LogisticRegression(class_weight="balanced")
    scorer = BootstrapScorer(model, scoring=scoring, **FEW).fit(X, y)
    assert scorer.score_["called"] == pytest.approx(scorer.score_["by name"], abs=1e-12)


def test_a_median_of_values_is_that_of_all_folds_together():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.exponential(size=80)
    scorer, repeats = fitted(Values(LinearRegression()), X, y, scoring="neg_median_absolute_error")
    pooled = [
        median_absolute_error(y, answers(LinearRegression(), X, y, folds, "predict"))
        for folds in repeats
    ]
    assert scorer.score_ == pytest.approx(-np.mean(pooled), abs=1e-12)


def test_clusters_of_different_models_are_not_read_together():
    class Clusters(ClusterMixin, Watched):
        pass

    rng = np.random.default_rng(2)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + 4 * np.eye(3)[y][:, :2]
    model = KMeans(3, n_init=1, random_state=0)
    scorer, repeats = fitted(Clusters(model), X, y, scoring="adjusted_rand_score")
    by_fold = []
    for folds in repeats:
        given = answers(model, X, y, folds, "predict")
        by_fold += [get_scorer("adjusted_rand_score")._score_func(y[t], given[t]) for t in folds]
    assert scorer.score_ == pytest.approx(np.mean(by_fold), abs=1e-12)


def test_a_callable_of_the_estimator_says_that_its_estimate_is_the_mean_over_folds(rare):
    X, y = rare
    options = dict(FEW, n_train_resamples=50, n_cv_repeats=1)
    found = BootstrapScorer(
        LogisticRegression(), scoring=lambda m, X, y: np.mean(m.predict(X) == y), **options
    )
    found.fit(X, y)
    assert "averaged over folds of about 15 rows" in found.result_.summary()


# ------------------------------------------------------------------ the conservative interval


def test_the_conservative_interval_comes_from_the_same_runs_and_is_saved(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 20))
    y = X[:, :5].sum(axis=1) + rng.normal(size=40)
    options = dict(scoring="neg_mean_squared_error", n_train_resamples=200, random_state=0)
    usual = BootstrapScorer(LinearRegression(), **options).fit(X, y)
    wide = BootstrapScorer(LinearRegression(), interval="cv-bootstrap-conservative", **options)
    wide.fit(X, y)
    low, high = usual.confidence_interval_
    assert -15 < low < usual.score_ < high < -0.1
    assert "bootstrap samples are unstable" in " ".join(usual.result_.summary().split())
    assert wide.confidence_interval_.low < -1e100
    assert wide.confidence_interval_.method == "cv-bootstrap-conservative"
    assert wide.score_ == usual.score_
    assert wide.standard_error_ > 100 * usual.standard_error_
    same = usual.result_.interval("cv-bootstrap-conservative")
    assert same == wide.confidence_interval_
    wide.result_.save(tmp_path / "wide.skboot")
    again = EvaluationResult.load(tmp_path / "wide.skboot")
    assert again == wide.result_
    assert again.interval() == wide.confidence_interval_
    assert again.interval("cv-bootstrap") == usual.confidence_interval_
