"""Weights that scorers request: the numbers of a weighted loop, and of repeated rows."""

import numpy as np
import pytest
import sklearn
from sklearn.base import is_regressor
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    cohen_kappa_score,
    f1_score,
    log_loss,
    make_scorer,
    max_error,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import resample

from skboot import BootstrapScorer, compare_methods, learning_curve
from skboot.model_selection import out_of_fold

X, Y = (own[:150] for own in load_breast_cancer(return_X_y=True))
X = X[:, :3]
N = len(Y)
EVERY = np.arange(N)
W = np.random.default_rng(0).integers(1, 5, N)
REPEATED = np.repeat(EVERY, W)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def weighted(function, **options):
    return make_scorer(function, **options).set_score_request(sample_weight=True)


def mean_of_squares(y_true, y_pred, *, sample_weight=None):
    """A function that nothing is known of."""
    return float(np.average((y_true - y_pred) ** 2, weights=sample_weight))


class OfEstimator:
    """A callable of estimator, X and y that requests weights."""

    def __call__(self, estimator, X, y, sample_weight=None):
        return np.average(estimator.predict(X) == y, weights=sample_weight)

    def _get_metadata_request(self):
        return weighted(accuracy_score)._get_metadata_request()

    get_metadata_routing = _get_metadata_request


def scorers():
    p, loss = {"response_method": "predict_proba"}, {"greater_is_better": False}
    of_labels = [accuracy_score, balanced_accuracy_score, cohen_kappa_score, f1_score]
    of_values = [mean_squared_error, mean_absolute_error, root_mean_squared_error]
    return (
        {f.__name__: weighted(f) for f in of_labels}
        | {"log loss": weighted(log_loss, **p, **loss), "AUC": weighted(roc_auc_score, **p)}
        | {"Brier": weighted(brier_score_loss, **p, **loss), "callable": OfEstimator()},
        {f.__name__: weighted(f, **loss) for f in of_values}
        | {"r2": weighted(r2_score), "own": weighted(mean_of_squares, **loss)},
    )


def fitted(estimator, scoring, *, rows=None, **options):
    """A fit on weighted rows, or on rows that are repeated, with each row drawn as a unit."""
    y = X[:, 0] + Y if is_regressor(estimator) else Y
    settings = {"n_train_resamples": 40, "n_cv_repeats": 2, "random_state": 0} | options
    scorer = BootstrapScorer(
        estimator.set_fit_request(sample_weight=True), scoring=scoring, **settings
    )
    if rows is None:
        return scorer.fit(X[:, 1:], y, groups=EVERY, sample_weight=W)
    return scorer.fit(X[rows, 1:], y[rows], groups=rows, sample_weight=np.ones(len(rows)))


@pytest.mark.parametrize("estimator", [GaussianNB(), LinearRegression()], ids=["labels", "values"])
def test_scores_of_runs_are_those_of_a_weighted_loop(estimator):
    scoring = scorers()[is_regressor(estimator)]
    y = X[:, 0] + Y if is_regressor(estimator) else Y
    drawn = [resample(EVERY, random_state=k) for k in range(12)]
    samples = [(train, np.setdiff1d(EVERY, train)) for train in drawn]
    for name, scorer in scoring.items():
        options = {"strategy": "oob", "train_samples": samples}
        found = fitted(estimator, scorer, **options)
        expected = []
        for train, test in samples:
            model = type(estimator)().fit(X[train, 1:], y[train], W[train])
            expected.append(scorer(model, X[test, 1:], y[test], sample_weight=W[test]))
        scores = found.runs_["score"][1:]
        np.testing.assert_allclose(scores, expected, rtol=1e-11, atol=1e-12, err_msg=name)
        on_all = type(estimator)().fit(X[:, 1:], y, W)
        apparent = scorer(on_all, X[:, 1:], y, sample_weight=W)
        assert found.resubstitution_score_ == pytest.approx(apparent, rel=1e-11)
        assert found.score(X[:, 1:], y, sample_weight=W) == pytest.approx(apparent, rel=1e-11)
        assert "weighted by sample_weight" in found.result_.summary()


@pytest.mark.parametrize("estimator", [GaussianNB(), LinearRegression()], ids=["labels", "values"])
def test_a_weight_is_a_number_of_rows_that_are_drawn_together(estimator):
    """Estimates, standard errors and scores beside them, by cross-validation and out of bag."""
    scoring = scorers()[is_regressor(estimator)]
    # A callable is left to 64 rows, which differ, and kept apart from metrics of predictions.
    scoring = {name: own for name, own in scoring.items() if name not in ("callable", "own")}
    by_weight = fitted(estimator, scoring)
    by_rows = fitted(estimator, scoring, rows=REPEATED)
    names = ("score_", "standard_error_", "oob_score_", "no_information_score_")
    for attribute in (*names, "point632_plus_score_", "variance_components_"):
        found, expected = getattr(by_weight, attribute), getattr(by_rows, attribute)
        for name in scoring:
            # Out-of-fold areas are taken apart by the jackknife, of rows or of one copy of each.
            rel = 0.03 if name == "AUC" and attribute != "score_" else 1e-6
            close = pytest.approx(expected[name], rel=rel, nan_ok=True)
            assert found[name] == close, (attribute, name)


def test_equal_weights_are_no_weights():
    tree = KNeighborsClassifier()
    plain = BootstrapScorer(tree, strategy="oob", n_train_resamples=20, random_state=0).fit(X, Y)
    scoring = weighted(accuracy_score)
    same = BootstrapScorer(
        tree, scoring=scoring, strategy="oob", n_train_resamples=20, random_state=0
    ).fit(X, Y, sample_weight=np.full(N, 3.0))
    assert same.confidence_interval_ == plain.confidence_interval_


def test_the_model_alone_is_scored_as_by_a_search():
    """The number of `GridSearchCV` and of `cross_validate`, where a scorer requests weights."""
    scoring = weighted(accuracy_score)
    plain = GaussianNB().set_fit_request(sample_weight=True)
    alone = BootstrapScorer(plain, scoring=scoring, n_train_resamples=0)
    for model in (plain, alone):
        found = cross_validate(model, X, Y, scoring=scoring, params={"sample_weight": W})
        search = GridSearchCV(model, {}, scoring=scoring).fit(X, Y, sample_weight=W)
        if model is plain:
            expected = found["test_score"]
        np.testing.assert_array_equal(found["test_score"], expected)
        assert search.best_score_ == np.mean(expected)
    assert alone.fit(X, Y, sample_weight=W).score(X, Y, sample_weight=W) == scoring(
        plain.fit(X, Y, W), X, Y, sample_weight=W
    )


def test_test_rows_are_weighted_for_the_scorers_that_ask():
    train, test = slice(0, 90), slice(90, N)
    scoring = {
        "weighted": weighted(accuracy_score),
        "plain": make_scorer(accuracy_score).set_score_request(sample_weight=False),
    }
    estimator = GaussianNB().set_fit_request(sample_weight=False)
    scorer = BootstrapScorer(estimator, scoring=scoring, n_train_resamples=12, random_state=0)
    tests = {"X_test": X[test], "y_test": Y[test]}
    scorer.fit(X[train], Y[train], **tests, sample_weight_test=W[test])
    model = scorer.estimator_
    expected = accuracy_score(Y[test], model.predict(X[test]), sample_weight=W[test])
    assert scorer.runs_["score"][0] == pytest.approx(expected, abs=1e-12)
    assert scorer.score_["plain"] == pytest.approx(model.score(X[test], Y[test]), abs=1e-12)
    assert scorer.score_["weighted"] == pytest.approx(expected, abs=1e-12)
    # Rows that are repeated, and drawn together, give the same interval.
    rows = np.repeat(np.arange(N)[test], W[test])
    repeated = BootstrapScorer(
        estimator, scoring=scoring["plain"], n_train_resamples=12, random_state=0
    ).fit(X[train], Y[train], X_test=X[rows], y_test=Y[rows], groups_test=rows)
    grouped = scorer.set_params(scoring=scoring["weighted"]).fit(
        X[train], Y[train], **tests, groups_test=EVERY[test], sample_weight_test=W[test]
    )
    np.testing.assert_allclose(
        grouped.confidence_interval_, repeated.confidence_interval_, rtol=1e-9
    )
    with pytest.raises(ValueError, match=r"'sample_weight_test' .* be given with X_test"):
        scorer.fit(X[train], Y[train], **tests)


def test_differences_and_curves_are_weighted():
    scoring = weighted(accuracy_score)
    methods = {
        "bayes": GaussianNB().set_fit_request(sample_weight=True),
        "neighbours": KNeighborsClassifier(),
    }
    options = {"scoring": scoring, "params": {"sample_weight": W}, "random_state": 0}
    settings = {"n_train_resamples": 30, "n_cv_repeats": 1}
    result = compare_methods(methods, X, Y, **settings, **options)
    alone = {
        name: BootstrapScorer(own, scoring=scoring, random_state=0, **settings)
        .fit(X, Y, sample_weight=W)
        .score_
        for name, own in methods.items()
    }
    assert result.pairs[0].difference == pytest.approx(alone["bayes"] - alone["neighbours"])
    assert result.systems["bayes"].estimate == alone["bayes"]
    with sklearn.config_context(enable_metadata_routing=False):
        plain = learning_curve(GaussianNB(), X, Y, n_repeats=4, random_state=0)
    curve = learning_curve(methods["bayes"], X, Y, n_repeats=4, **options)
    assert not np.allclose(curve.estimate, plain.estimate)


def test_out_of_fold_hands_parameters_to_the_fits():
    estimator = GaussianNB().set_fit_request(sample_weight=True)
    search = GridSearchCV(
        estimator, {}, scoring=make_scorer(accuracy_score).set_score_request(sample_weight=False)
    ).fit(X, Y, sample_weight=W)
    expected = cross_val_predict(estimator, X, Y, params={"sample_weight": W})
    found = out_of_fold(search, X, Y, params={"sample_weight": W})
    np.testing.assert_array_equal(found["defaults"], expected)
    with pytest.raises(ValueError, match=r"'params' .* be None for a cross-validation"):
        out_of_fold({"estimator": []}, X, params={"sample_weight": W})


def test_weights_that_nothing_says_what_to_do_with_are_refused():
    estimator = GaussianNB().set_fit_request(sample_weight=True)
    scorer = BootstrapScorer(estimator, strategy="oob", n_train_resamples=4)
    for scoring in (None, "accuracy", ["accuracy", "f1"], make_scorer(f1_score)):
        search = GridSearchCV(estimator, {}, scoring=scoring, refit=False)
        is_refused = []
        for model in (search, scorer.set_params(scoring=scoring)):
            try:
                model.fit(X, Y, sample_weight=W)
                is_refused.append(False)
            except UnsetMetadataPassedError:
                is_refused.append(True)
        # In scikit-learn 1.6 scorers of functions need no request, and get no weights.
        assert is_refused in ([True, True], [False, False])
        assert is_refused[0] or (scoring is not None and sklearn.__version__ < "1.9")
        with pytest.raises(ValueError, match="sample_weight"):
            scorer.fit(X, Y, X_test=X, y_test=Y, sample_weight_test=W)
    with pytest.raises(ValueError, match="be None for the metric 'max_error'"):
        BootstrapScorer(
            LinearRegression().set_fit_request(sample_weight=True), scoring=weighted(max_error)
        ).fit(X, X[:, 0], sample_weight=W)
    with pytest.raises(TypeError, match="not routed to any object"):
        compare_methods({"a": GaussianNB(), "b": GaussianNB()}, X, Y, params={"other": W})
    sklearn.set_config(enable_metadata_routing=False)  # until the fixture ends
    with pytest.raises(ValueError, match="only supported if"):
        scorer.set_params(scoring=None).fit(X, Y).score(X, Y, sample_weight=W)
