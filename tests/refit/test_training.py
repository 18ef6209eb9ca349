"""One run: the rows it is trained on, its seeds, and its answers for the other rows."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import average_precision_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedKFold,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from training_jobs import drawn, job_of

from skboot.inference import prediction_error
from skboot.refit import training
from skboot.refit.training import Answers, Recipe, Run, in_order_of, record_of, with_states

REFERENCES = Path(__file__).parents[1] / "references" / "ipred"


def a_seed(k=0):
    return np.random.SeedSequence(k).generate_state(4)


def test_linear_discriminants_on_the_indices_of_ipred_agree_with_r():
    """Both fit the same discriminant; one row of a tie in 1e5 may fall on the other side."""
    y = load_iris().target
    with gzip.open(REFERENCES / "iris_lda" / "indices.csv.gz") as file:
        indices = np.loadtxt(file, delimiter=",", dtype=int) - 1
    with gzip.open(REFERENCES / "iris_lda" / "loss_all.csv.gz") as file:
        expected_losses = np.loadtxt(file, delimiter=",", dtype=int)
    expected = json.loads((REFERENCES / "iris_lda" / "expected.json").read_text())
    # R's iris is the original; scikit-learn's copy differs from it in two rows.
    table = np.genfromtxt(REFERENCES / "iris.csv", delimiter=",", skip_header=1)[:, :4]
    weights = np.array([np.bincount(row, minlength=150) for row in indices])
    job = job_of(LinearDiscriminantAnalysis(), table, y, predict_all=True)
    runs = [Run(k, counts, None, a_seed(k)) for k, counts in enumerate(weights)]
    losses = np.array([record_of(job, run)["labels"] != y for run in runs])
    assert np.mean(losses != expected_losses) < 1e-3
    full = LinearDiscriminantAnalysis().fit(table, y).predict(table)
    found = prediction_error(
        losses,
        weights,
        resubstitution_losses=full != y,
        no_information_rate=np.mean(y[:, None] != full),
    )
    assert found.resubstitution == pytest.approx(expected["err_resub"], abs=1e-12)
    assert found.no_information_rate == pytest.approx(expected["gamma"], abs=1e-12)
    assert found.oob == pytest.approx(expected["Err1"], abs=2e-4)
    assert found.point632_plus == pytest.approx(expected["e632plus_fully_clipped"], abs=2e-4)


def test_a_run_is_never_judged_on_rows_it_was_trained_on():
    X, y = make_classification(60, random_state=0)
    X[:, 0] = np.arange(60)

    class Remembers(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.rows_, self.classes_ = set(X[:, 0]), np.unique(y)
            return self

        def predict(self, X):
            assert not self.rows_ & set(X[:, 0])
            return np.zeros(len(X), dtype=int)

    job = job_of(Remembers(), X, y)
    for run in drawn().runs():
        assert record_of(job, run)["failure"] is None


def test_bootstrap_samples_keep_the_order_of_the_data_unless_copies_are_left_apart():
    class Order(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.rows_ = X[:, 0].astype(int)
            return self

    class Kept:
        key = "order"

        def keep(self, answers, scored):
            return {"order": answers.estimator.rows_}

    X, y = np.arange(60.0)[:, None], np.repeat([0, 1], 30)
    samples = drawn(n_seeds=2)
    for grouped in (True, False):
        job = job_of(Order(), X, y, metrics=(Kept(),), group_copies=grouped)
        orders = [record_of(job, run)["order"] for run in samples.runs()[:40]]
        for run, order in zip(samples.runs(), orders, strict=False):
            np.testing.assert_array_equal(np.bincount(order, minlength=60), run.counts)
            assert (np.diff(order) >= 0).all() == grouped
        # Runs that differ only in their seed have the rows in one order.
        for first, second in zip(orders[::2], orders[1::2], strict=True):
            np.testing.assert_array_equal(first, second)


# ------------------------------------------------------------------ seeds


def prepared(estimator, seed, keep=False):
    return with_states(estimator, Recipe.of(estimator), seed, keep=keep)


def test_runs_are_seeded_as_a_clone_of_the_estimator_is():
    """What is to be set is looked up once for all runs."""
    X, y = make_classification(60, random_state=0)
    search = GridSearchCV(
        DecisionTreeClassifier(),
        {"max_depth": [1, 2]},
        cv=StratifiedKFold(3, shuffle=True, random_state=7),
    )

    class States:
        key = "states"

        def keep(self, answers, scored):
            params = answers.estimator.get_params()
            cv = params["cv"]
            cv = cv.cv if isinstance(cv, training.UniqueRowsSplit) else cv
            return {"states": (params["estimator__random_state"], cv.random_state)}

    job = job_of(search, X, y, metrics=(States(),))
    for run in (drawn().runs()[0], drawn().runs()[-1]):
        params = prepared(search, run.seed).get_params()
        expected = params["estimator__random_state"], params["cv"].random_state
        assert record_of(job, run)["states"] == expected
    assert search.cv.random_state == 7


def test_every_random_state_is_overwritten_those_of_inner_splitters_included():
    search = GridSearchCV(
        make_pipeline(SelectKBest(), GradientBoostingClassifier(random_state=7)),
        {"selectkbest__k": [1]},
        cv=StratifiedKFold(3, shuffle=True, random_state=7),
    )
    estimator = VotingClassifier([("search", search), ("tree", DecisionTreeClassifier())])

    def states(seed):
        params = prepared(estimator, seed).get_params()
        key = "search__estimator__gradientboostingclassifier__random_state"
        return params["search__cv"].random_state, params[key], params["tree__random_state"]

    assert len(set(states(0))) == 3
    assert states(0) == states(0)
    assert all(isinstance(s, int) for s in states(0))
    assert not set(states(0)) & set(states(1))
    assert search.cv.random_state == 7


def test_repeated_splitters_are_seeded_and_unshuffled_ones_left():
    def folds(cv, seed):
        search = prepared(GridSearchCV(GaussianNB(), {}, cv=cv), seed)
        return [test.tolist() for _, test in search.cv.split(np.zeros((8, 1)))]

    repeated = RepeatedKFold(n_splits=2)
    assert folds(repeated, 0) == folds(repeated, 0)
    assert folds(repeated, 0) != folds(repeated, 1)
    assert folds(KFold(2), 0) == [test.tolist() for _, test in KFold(2).split(np.zeros((8, 1)))]


# ------------------------------------------------------------------ answers


def test_classes_missing_from_a_training_sample_get_probability_zero():
    X, y = np.arange(12.0)[:, None], np.repeat(["a", "b", "c"], 4)
    model = GaussianNB().fit(X[4:], y[4:])
    answers = Answers(model, X, y, np.unique(y))
    np.testing.assert_array_equal(answers.probabilities[:, 0], 0)
    np.testing.assert_allclose(answers.probabilities[:, 1:], model.predict_proba(X))


def test_decisions_of_a_missing_class_are_below_all_others():
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4)
    model = LinearDiscriminantAnalysis().fit(X[:8], y[:8])
    answers = Answers(model, X, y, np.unique(y))
    assert answers.decisions.shape == (12, 3)
    assert (answers.decisions[:, 2] < answers.decisions[:, :2].min(axis=1)).all()


def test_values_are_handed_out_in_the_order_of_others():
    rng = np.random.default_rng(3)
    values, order = rng.random(50), np.round(rng.normal(size=50), 1)
    found = in_order_of(values, order)
    for i in range(50):
        for j in range(50):
            assert np.sign(order[i] - order[j]) == np.sign(found[i] - found[j])
    assert found.sum() == pytest.approx(values.sum())
    np.testing.assert_allclose(in_order_of(values, 3 * values - 1), values)


def test_probabilities_in_another_order_than_decisions_keep_the_ranks_of_the_decisions():
    y = (np.arange(150) % 15 == 0).astype(int)
    X = np.random.default_rng(0).normal(size=(150, 3))
    X[:, :2] += 0.9 * y[:, None]

    class Inconsistent:
        classes_ = np.array([0, 1])

        def decision_function(self, X):
            return X[:, 0]

        def predict_proba(self, X):
            p = 1 / (1 + np.exp(-X[:, 0] - X[:, 1]))
            return np.column_stack((1 - p, p))

    given = Answers(Inconsistent(), X, y, np.array([0, 1]))
    methods = ("decision_function", "predict_proba")
    for positive, truth in ((1, y), (0, 1 - y)):
        found = given.comparable(methods, positive)
        probabilities = given.probabilities[:, positive]
        np.testing.assert_allclose(np.sort(found), np.sort(probabilities))
        expected = average_precision_score(truth, X[:, 0] * (2 * positive - 1))
        assert average_precision_score(truth, found) == pytest.approx(expected)
