"""A score with its limits for each fold, wherever scikit-learn takes several values."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from skboot import BootstrapScorer, bootstrap_score
from skboot.metrics import interval_scorer

X, Y = load_breast_cancer(return_X_y=True)
CV = KFold(3, shuffle=True, random_state=0)
FEW = {"n_resamples": 499, "random_state": 0}


def answers(model, X, method):
    found = getattr(model, method)(X)
    return found[:, 1] if found.ndim == 2 and found.shape[1] == 2 else found


CASES = {
    "accuracy": (GaussianNB(), "predict"),
    "f1": (GaussianNB(), "predict"),
    "roc_auc": (GaussianNB(), "predict_proba"),
    "average_precision": (SVC(), "decision_function"),
    "neg_log_loss": (GaussianNB(), "predict_proba"),
}


@pytest.mark.filterwarnings("ignore:(interval_scorer|bootstrap_score)")
@pytest.mark.parametrize("metric", CASES)
def test_a_fold_has_the_interval_of_its_model_on_its_rows(metric):
    model, method = CASES[metric]
    found = cross_validate(
        model, X, Y, cv=CV, scoring=interval_scorer(metric, **FEW), return_estimator=True
    )
    plain = cross_val_score(model, X, Y, cv=CV, scoring=metric)
    # Of log losses scikit-learn reads one column of two, and takes the other for 1 less it.
    assert_allclose(found[f"test_{metric}"], plain, rtol=1e-6)
    for k, (_, test) in enumerate(CV.split(X)):
        given = answers(found["estimator"][k], X[test], method)
        known = bootstrap_score(Y[test], given, metric=metric, **FEW)
        limits = [found[f"test_{metric}_{end}"][k] for end in ("low", "high")]
        assert_allclose(limits, known.confidence_interval[:2], rtol=1e-6)


@pytest.mark.filterwarnings("ignore:.*rows decide this score")
def test_several_classes_and_numbers():
    X, y = load_iris(return_X_y=True)
    found = cross_validate(
        GaussianNB(), X, y, cv=CV, scoring=interval_scorer("balanced_accuracy", **FEW)
    )
    assert np.all(found["test_balanced_accuracy_low"] <= found["test_balanced_accuracy"])
    X, y = load_diabetes(return_X_y=True)
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    found = cross_validate(LinearRegression(), X, y, cv=CV, scoring=interval_scorer(scorer, **FEW))
    low, high = (found[f"test_neg_mean_absolute_error_{end}"] for end in ("low", "high"))
    assert np.all(low < found["test_neg_mean_absolute_error"])
    assert np.all(high < 0)


def test_a_search_is_refitted_by_the_score():
    search = GridSearchCV(
        GaussianNB(),
        {"var_smoothing": [1e-9, 1e-3]},
        scoring=interval_scorer("accuracy", **FEW),
        refit="accuracy",
        cv=CV,
    ).fit(X, Y)
    plain = GridSearchCV(search.estimator, search.param_grid, cv=CV).fit(X, Y)
    assert search.best_params_ == plain.best_params_
    assert search.best_score_ == plain.best_score_
    assert np.all(
        search.cv_results_["mean_test_accuracy_low"] < plain.cv_results_["mean_test_score"]
    )
    assert search.score(X, Y) == plain.score(X, Y)


def test_where_one_number_is_taken_a_message_says_what_to_do():
    scorer = interval_scorer("accuracy", **FEW)
    model = GaussianNB()
    by_itself = "returns three values, and is for scoring= of cross_validate, or of GridSearchCV"
    with pytest.raises(ValueError, match=by_itself):
        cross_val_score(model, X, Y, scoring=scorer)
    with pytest.raises(ValueError, match=by_itself):
        cross_validate(model, X, Y, scoring={"accuracy": scorer})
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        GridSearchCV(model, {"var_smoothing": [1e-9]}, scoring=scorer).fit(X, Y)


def test_groups_of_the_rows_are_routed():
    groups = np.arange(len(Y)) // 4
    with config_context(enable_metadata_routing=True):
        scorer = interval_scorer("accuracy", **FEW).set_score_request(groups=True)
        found = cross_validate(
            GaussianNB(),
            X,
            Y,
            cv=GroupKFold(3),
            params={"groups": groups},
            scoring=scorer,
            return_estimator=True,
            return_indices=True,
        )
    for k, test in enumerate(found["indices"]["test"]):
        given = found["estimator"][k].predict(X[test])
        known = bootstrap_score(Y[test], given, metric="accuracy", groups=groups[test], **FEW)
        assert found["test_accuracy_low"][k] == known.confidence_interval.low


def test_a_column_that_rows_cannot_have_is_refused():
    scorer = interval_scorer("accuracy")
    with pytest.raises(RuntimeError, match=r"sklearn\.set_config\(enable_metadata_routing=True\)"):
        scorer.set_score_request(groups=True)
    with pytest.raises(ValueError, match="Did you mean 'groups'"):
        scorer.set_score_request(group=True)


@pytest.mark.filterwarnings("ignore:(interval_scorer|bootstrap_score)")
def test_it_is_the_scorer_of_its_metric_elsewhere():
    scorer = interval_scorer("neg_log_loss", n_resamples=99, random_state=0)
    assert repr(scorer) == "interval_scorer('neg_log_loss')"
    copy = pickle.loads(pickle.dumps(scorer))
    model = LogisticRegression(max_iter=5000).fit(X[:300], Y[:300])
    assert copy(model, X[300:], Y[300:]) == scorer(model, X[300:], Y[300:])
    runs = {"n_train_resamples": 0, "n_seeds": 1, "estimand": "system", "random_state": 0}
    one, other = (
        BootstrapScorer(GaussianNB(), scoring=each, **runs)
        .fit(X[:300], Y[:300], X_test=X[300:], y_test=Y[300:])
        .score_
        for each in (interval_scorer("accuracy"), "accuracy")
    )
    assert one == other


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (["accuracy", "f1"], {}, "be a single metric"),
        ("acuracy", {}, "Did you mean 'accuracy'"),
        (lambda estimator, X, y: 1.0, {}, "a scorer made of a metric function"),
        ("accuracy", {"n_resamples": 1}, "be an integer of at least 2"),
        ("accuracy", {"interval": "wilsen"}, "Did you mean 'wilson'"),
        ("accuracy", {"confidence_level": 95}, "Use confidence_level=0.95"),
    ],
)
def test_what_is_no_metric_or_option_of_a_fold_is_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        interval_scorer(arguments, **options)
