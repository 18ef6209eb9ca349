"""Identities between fits of methods: copies, the order of rows, and intervals that make sense."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skboot import BootstrapScorer, compare_methods
from skboot.model_selection import copies_as_groups

pytestmark = pytest.mark.identity

N = 100
# Answers of these do not change where every row is there k times.
BLIND_TO_COPIES = {
    "accuracy": KNeighborsClassifier(1),
    "neg_log_loss": GaussianNB(),
    "neg_mean_squared_error": LinearRegression(),
}


@pytest.fixture(scope="module")
def rows():
    X, y = load_breast_cancer(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(X))[:N]
    return X[chosen][:, :4] / X[:, :4].std(axis=0), y[chosen]


def fitted(estimator, X, y, **options):
    options = {"n_train_resamples": 50, "strategy": "oob", "random_state": 0} | options
    groups = options.pop("groups", None)
    return BootstrapScorer(estimator, **options).fit(X, y, groups=groups)


class Sign(ClassifierMixin, BaseEstimator):
    """Decides by the sign of the first column, or against it, whatever it was trained on."""

    def __init__(self, turned=False):
        self.turned = turned

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return ((np.asarray(X)[:, 0] > 0) != self.turned).astype(int)


@pytest.mark.parametrize("strategy", ["cv-bootstrap", "oob"])
@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_pairs_that_never_vary_share_the_level(strategy, side):
    """Exact: each of three has the interval it has alone at 1 - .05 / 3, and thrice its p-value."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    methods = {"right": Sign(), "wrong": Sign(True), "as wrong": Sign(True)}
    options = {"strategy": strategy, "alternative": side, "random_state": 0}
    options |= {"n_train_resamples": 10, "n_cv_repeats": 1}
    with warnings.catch_warnings(action="ignore"):
        alone = compare_methods(
            methods, X, y, adjust=None, confidence_level=1 - 0.05 / 3, **options
        )
        together, by_holm = (
            compare_methods(methods, X, y, adjust=adjust, **options) for adjust in ("max-t", "holm")
        )
        two = compare_methods({"right": Sign(), "wrong": Sign(True)}, X, y, **options)
    for pair, one, other in zip(together.pairs, alone.pairs, by_holm.pairs, strict=True):
        for own in (pair, other):
            assert_allclose(own.simultaneous_interval[:2], one.confidence_interval[:2])
            assert own.p_value == one.p_value
        assert_allclose(pair.p_value_adjusted, min(3 * one.p_value, 1))
    if side == "two-sided":
        for result in (two, together):
            names = {(row.low, row.high) for row in result.ranks().values()}
            assert names == {(1, 1), (2, len(result.systems))}


@pytest.mark.parametrize("scoring", BLIND_TO_COPIES)
def test_copies_in_groups_are_the_rows_alone(scoring, rows):
    # Exact but for rounding: the same groups are drawn as rows are.
    X, y = rows
    alone = fitted(BLIND_TO_COPIES[scoring], X, y, scoring=scoring)
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    copied = fitted(BLIND_TO_COPIES[scoring], X, y, scoring=scoring, groups=copies_as_groups(X, y))
    assert_allclose(copied.score_, alone.score_, rtol=1e-6)
    assert_allclose(copied.standard_error_, alone.standard_error_, rtol=1e-6)
    assert_allclose(copied.confidence_interval_[:2], alone.confidence_interval_[:2], rtol=1e-6)


def test_copies_in_groups_are_the_rows_alone_for_the_default_strategy_too(rows):
    # Folds of groups are others than folds of rows: within Monte Carlo error.
    X, y = rows
    alone = fitted(GaussianNB(), X, y, strategy="cv-bootstrap")
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    groups = copies_as_groups(X, y)
    copied = fitted(GaussianNB(), X, y, strategy="cv-bootstrap", groups=groups)
    assert abs(copied.score_ - alone.score_) < 0.01
    assert_allclose(copied.standard_error_, alone.standard_error_, rtol=0.25)


def test_copies_in_groups_leave_a_comparison_as_it_is(rows):
    X, y = rows
    methods = {"neighbour": KNeighborsClassifier(1), "bayes": GaussianNB()}
    options = dict(strategy="oob", n_train_resamples=50, random_state=0)
    [alone] = compare_methods(methods, X, y, **options).pairs
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    [copied] = compare_methods(methods, X, y, groups=copies_as_groups(X, y), **options).pairs
    assert_allclose(copied.difference, alone.difference, rtol=1e-6)
    assert_allclose(copied.confidence_interval[:2], alone.confidence_interval[:2], rtol=1e-6)


def test_groups_of_single_rows_are_rows(rows):
    X, y = rows
    groups = copies_as_groups(X, y)
    assert_array_equal(groups, np.arange(N))
    alone, single = (fitted(GaussianNB(), X, y, groups=g) for g in (None, groups))
    assert single.score_ == alone.score_
    assert single.confidence_interval_[:2] == alone.confidence_interval_[:2]


def test_groups_of_copies_follow_their_rows_into_any_order(rows):
    X, y = (np.repeat(part, 3, axis=0) for part in rows)
    order = np.random.default_rng(1).permutation(len(y))
    before, after = copies_as_groups(X, y)[order], copies_as_groups(X[order], y[order])
    assert_array_equal(before[:, None] == before, after[:, None] == after)


def test_the_order_of_rows_moves_a_fit_within_monte_carlo_error(rows):
    X, y = rows
    order = np.random.default_rng(1).permutation(N)
    one, other = (
        fitted(GaussianNB(), X[rows_], y[rows_], strategy="cv-bootstrap")
        for rows_ in (np.arange(N), order)
    )
    assert abs(one.score_ - other.score_) < 0.01
    assert_allclose(other.standard_error_, one.standard_error_, rtol=0.25)


@pytest.mark.parametrize(
    ("n", "distance"),
    [
        (50, 0.0),
        *(
            pytest.param(n, distance, marks=pytest.mark.slow)
            for n in (50, 80, 150)
            for distance in (0.0, 2.0, 4.0)
            if (n, distance) != (50, 0.0)
        ),
    ],
)
@pytest.mark.parametrize("estimator", [GaussianNB(), DecisionTreeClassifier()], ids=["nb", "tree"])
def test_an_interval_has_the_width_of_its_standard_error(estimator, distance, n):
    """Between a third and three times the normal interval, where no estimate is at its bound."""
    rng = np.random.default_rng(n)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 3)) + distance * y[:, None] * [1, 0, 0]
    found = fitted(estimator, X, y, strategy="cv-bootstrap", n_train_resamples=50)
    low, high, *_ = found.confidence_interval_
    if found.standard_error_ == 0 or found.score_ == 1:
        return
    normal = 2 * 1.96 * found.standard_error_
    assert normal / 3 < high - low < 3 * normal
