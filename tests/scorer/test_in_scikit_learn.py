"""`BootstrapScorer` inside scikit-learn: the model alone, how often it trains, and its manners."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skboot import BootstrapScorer

X, Y = load_breast_cancer(return_X_y=True)
FEW = {"n_train_resamples": 4, "n_cv_repeats": 1}
GRID = {"estimator__var_smoothing": [1e-9, 1e-3]}
ADVICE = "Use n_train_resamples=0"


class Counted(GaussianNB):
    """Counts its fits."""

    n_fits = 0

    def fit(self, X, y):
        Counted.n_fits += 1
        return super().fit(X, y)


def counted(call):
    """Fits of a call, and the advice that it gave."""
    Counted.n_fits = 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return Counted.n_fits, {str(one.message) for one in caught if ADVICE in str(one.message)}


def alone(estimator=None, **options):
    estimator = GaussianNB() if estimator is None else estimator
    return BootstrapScorer(estimator, n_train_resamples=0, **options)


# ------------------------------------------------------------------ the model alone

PATTERNS = {
    "cross_validate": (lambda model: cross_validate(model, X, Y, cv=5), 5),
    "cross_val_predict": (lambda model: cross_val_predict(model, X, Y, cv=5), 5),
    "learning_curve": (lambda model: learning_curve(model, X, Y, cv=3, train_sizes=[0.5, 1.0]), 6),
    "search": (lambda model: GridSearchCV(model, GRID, cv=5).fit(X, Y), 11),
    "nested": (lambda model: cross_val_score(GridSearchCV(model, GRID, cv=3), X, Y, cv=2), 14),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_model_alone_trains_as_often_as_its_estimator(pattern):
    call, n_fits = PATTERNS[pattern]
    assert counted(lambda: call(alone(Counted()))) == (n_fits, set())
    fits, advice = counted(lambda: call(BootstrapScorer(Counted(), random_state=0, **FEW)))
    assert fits == 15 * n_fits  # all rows, four samples, ten folds
    assert len(advice) == 1
    assert "up to 15 trainings for one fold" in advice.pop()


@pytest.mark.parametrize("pattern", ["cross_val_score", "search", "pipeline"])
def test_copies_of_a_scorer_warn_once_and_not_for_every_fold(pattern):
    scorer = BootstrapScorer(GaussianNB(), random_state=0, **FEW)
    model = make_pipeline(StandardScaler(), scorer) if pattern == "pipeline" else scorer
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if pattern == "search":
            GridSearchCV(model, {"random_state": [0, 1]}, cv=3).fit(X, Y)
        else:
            cross_val_score(model, X, Y, cv=4)
            cross_val_score(model, X, Y, cv=3)
    texts = [str(one.message) for one in caught if "for one fold" in str(one.message)]
    assert len(texts) == 1


def test_copies_do_not_tell_again_where_earlier_ones_lay_in_memory():
    def advice(model):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(np.repeat(X[:40], 2, axis=0), np.repeat(Y[:40], 2))
        return sum("copies" in str(one.message) for one in caught)

    for _ in range(20):
        scorer = alone(random_state=0)
        first = clone(scorer)
        assert [advice(first), advice(first)] == [1, 1]  # The copy itself tells it at each fit.
        del first
        # Each is gone before the next is made, which often takes its address.
        assert [advice(clone(scorer)) for _ in range(4)] == [0] * 4


def test_a_refit_after_a_search_and_a_fit_by_itself_have_no_advice():
    search = GridSearchCV(alone(Counted()), GRID).fit(X, Y)
    assert counted(lambda: search.best_estimator_.set_params(**FEW).fit(X, Y)) == (15, set())


def test_a_model_alone_predicts_and_scores_as_its_estimator():
    scorer, plain = alone().fit(X, Y), GaussianNB().fit(X, Y)
    np.testing.assert_array_equal(scorer.predict_proba(X), plain.predict_proba(X))
    assert scorer.score(X, Y) == plain.score(X, Y)
    np.testing.assert_array_equal(
        cross_val_score(alone(), X, Y), cross_val_score(GaussianNB(), X, Y)
    )
    assert list(scorer.classes_) == [0, 1]
    assert scorer.n_features_in_ == 30
    assert repr(scorer) == "BootstrapScorer(estimator=GaussianNB(), n_train_resamples=0)"


def test_it_is_the_model_of_a_fit_with_samples():
    options = {"random_state": 3, "strategy": "oob"}
    tree = DecisionTreeClassifier(max_features=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = BootstrapScorer(tree, n_train_resamples=4, **options).fit(X, Y)
    np.testing.assert_array_equal(alone(tree, **options).fit(X, Y).predict(X), whole.predict(X))


def test_results_of_an_earlier_fit_are_gone():
    scorer = BootstrapScorer(GaussianNB(), random_state=0, **FEW)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scorer.fit(X, Y)
    assert hasattr(scorer, "result_")
    scorer.set_params(n_train_resamples=0).fit(X, Y)
    left = {name for name in vars(scorer) if name.endswith("_") and not name.startswith("_")}
    assert left == {"estimator_", "classes_", "n_features_in_"}


def test_a_model_that_is_not_kept_or_a_single_sample_is_refused():
    with pytest.raises(ValueError, match=r"integer of at least 2\. Got 0"):
        alone(refit=False).fit(X, Y)
    for no_count in (False, 0.0, "0"):
        with pytest.raises(ValueError, match="be an integer"):
            BootstrapScorer(GaussianNB(), n_train_resamples=no_count).fit(X, Y)
    with pytest.raises(ValueError, match=r"at least 2\. Got 1\. Use 0 to have the model alone"):
        BootstrapScorer(GaussianNB(), n_train_resamples=1).fit(X, Y)


# ------------------------------------------------------------------ what is passed on


class Halves(TransformerMixin, ClassifierMixin, BaseEstimator):
    """A classifier that transforms, without names of what it returns."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), int)

    def transform(self, X):
        return X / 2

    def inverse_transform(self, X):
        return 2 * X


def test_methods_are_those_of_the_estimator():
    scorer = alone(Halves()).fit(X, Y)
    np.testing.assert_array_equal(scorer.transform(X), X / 2)
    np.testing.assert_array_equal(scorer.inverse_transform(scorer.transform(X)), X)
    np.testing.assert_array_equal(
        make_pipeline(alone(Halves()), Halves()).fit(X, Y).transform(X), X / 4
    )
    for name in ("score_samples", "get_feature_names_out", "decision_function"):
        assert not hasattr(scorer, name)
    assert not hasattr(alone(GaussianNB()), "transform")
    with pytest.raises(NotFittedError):
        alone(Halves()).transform(X)
    pca = alone(make_pipeline(StandardScaler(), PCA(3))).fit(X)
    plain = make_pipeline(StandardScaler(), PCA(3)).fit(X)
    np.testing.assert_allclose(np.abs(pca.transform(X)), np.abs(plain.transform(X)))
    density = alone(GaussianMixture(random_state=0), random_state=0).fit(X[:, :3])
    assert density.score_samples(X[:, :3]).shape == (len(X),)


def test_containers_and_names_are_those_that_were_asked_for():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(30)])
    before = alone(SelectKBest(k=3)).set_output(transform="pandas").fit(frame, Y)
    after = alone(SelectKBest(k=3)).fit(frame, Y)
    assert after.set_output(transform="pandas") is after
    for scorer in (before, after):
        found = scorer.transform(frame)
        assert list(found.columns) == list(scorer.get_feature_names_out())
        assert found.shape == (len(X), 3)
    assert not hasattr(alone(LogisticRegression()), "set_output")


@pytest.mark.parametrize(
    ("fit", "absent", "present", "why"),
    [
        ({}, "result_", "estimator_", r"makes no result\. .*X_test=.*n_train_resamples='auto'"),
        ({}, "score_", "estimator_", r"makes no result"),
        ({}, "train_samples_", "estimator_", r"makes no result"),
        ({"refit": False, "n_train_resamples": 4}, "estimator_", "result_", "Set refit=True"),
        ({"on_test": True}, "oob_score_", "result_", "fit without X_test="),
        ({"on_test": True}, "train_samples_", "result_", "no samples are trained on"),
        ({"n_train_resamples": 4}, "nothing_", "result_", "'nothing_'$"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_attribute_that_a_fit_has_not_set_says_why_and_which_fit_sets_it(
    fit, absent, present, why
):
    options = {key: value for key, value in fit.items() if key != "on_test"}
    test = {"X_test": X[:40], "y_test": Y[:40]} if "on_test" in fit else {}
    scorer = BootstrapScorer(GaussianNB(), **{"n_train_resamples": 0, "random_state": 0} | options)
    with pytest.raises(AttributeError, match=r"Call fit first|no attribute 'nothing_'"):
        getattr(scorer, absent)
    scorer.set_params(n_seeds=2, estimand="system") if test else None
    for model in (scorer.fit(X, Y, **test), pickle.loads(pickle.dumps(scorer))):
        assert hasattr(model, present)
        assert not hasattr(model, absent)
        with pytest.raises(AttributeError, match=f"no attribute '{absent}'.*{why}|{why}"):
            getattr(model, absent)
