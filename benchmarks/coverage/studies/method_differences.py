"""How often two methods of equal merit are told apart by `compare_methods`, by simulation.

``make coverage-study STUDY=method_differences`` makes the table of
docs/studies/method_comparisons.md; about half an hour on one core. A slow test runs a part of it
again and holds it against the limits.

Without a test set the differences are out-of-bag ones (``strategy="oob"``); those at this sample
size are in method_differences_at_n.py.

Each method sees columns of its own. All columns are alike, so that methods with as many columns
are equally good by symmetry; for the power one has fewer. Groups share a shift of their rows.
"""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from skboot import compare_methods

from ..runner import TableStudy, one_line, percent_and_error

SHIFT = 0.6  # between classes, per column, in standard deviations
WIDTH = 5  # columns of each method
N_DATA_SETS = 500


class Centroids(ClassifierMixin, BaseEstimator):
    """Linear rule between the class means of some columns."""

    def __init__(self, start=0, stop=WIDTH):
        self.start, self.stop = start, stop

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        own = X[:, self.start : self.stop]
        low, high = (own[y == k].mean(axis=0) for k in self.classes_)
        self.direction_ = high - low
        self.middle_ = (high + low) @ self.direction_ / 2
        return self

    def decision_function(self, X):
        return X[:, self.start : self.stop] @ self.direction_ - self.middle_

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class Tree(ClassifierMixin, BaseEstimator):
    """Decision tree on some columns."""

    def __init__(self, start=0, stop=WIDTH, random_state=None):
        self.start, self.stop, self.random_state = start, stop, random_state

    def fit(self, X, y):
        tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=self.random_state)
        self.tree_ = tree.fit(X[:, self.start : self.stop], y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X[:, self.start : self.stop])


class Cell(NamedTuple):
    """One line of the table."""

    learner: type
    n: int
    scoring: str = "accuracy"
    n_methods: int = 2
    group_size: int = 1
    n_test: int = 0
    n_train_resamples: int = 200


CELLS = {
    "class means, 60 rows": Cell(Centroids, 60),
    "class means, 200 rows": Cell(Centroids, 200),
    "class means, 100 rows, ROC AUC": Cell(Centroids, 100, "roc_auc"),
    "class means, 40 groups of 4 rows": Cell(Centroids, 160, group_size=4),
    "decision tree, 100 rows": Cell(Tree, 100),
    "class means, four methods, max-t (any two)": Cell(Centroids, 100, n_methods=4),
    "class means, 100 rows, 200 test rows": Cell(Centroids, 100, n_test=200, n_train_resamples=50),
    "decision tree, 100 rows, 200 test rows": Cell(Tree, 100, n_test=200, n_train_resamples=50),
}


def sample(rng, n, n_columns, group_size=1):
    """Rows, labels, groups."""
    y = np.arange(n // group_size) % 2
    X = SHIFT * y[:, None] + rng.normal(size=(len(y), n_columns)) * (group_size > 1) * 0.7
    groups = np.repeat(np.arange(len(y)), group_size)
    return X[groups] + rng.normal(size=(n, n_columns)), y[groups], groups


def told_apart(cell, seed, fewer=0):
    """Whether any two methods are told apart; the last has ``fewer`` columns."""
    rng = np.random.default_rng(seed)
    X, y, groups = sample(rng, cell.n, WIDTH * cell.n_methods, cell.group_size)
    estimators = {}
    for k in range(cell.n_methods):
        stop = WIDTH * (k + 1) - fewer * (k == cell.n_methods - 1)
        estimators[f"m{k}"] = cell.learner(WIDTH * k, stop)
    options = {"groups": groups} if cell.group_size > 1 else {}
    if cell.n_test:
        X_test, y_test, _ = sample(rng, cell.n_test, X.shape[1])
        options |= {"X_test": X_test, "y_test": y_test, "n_test_resamples": 199}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = compare_methods(
            estimators,
            X,
            y,
            scoring=cell.scoring,
            strategy="oob",
            n_train_resamples=cell.n_train_resamples,
            random_state=seed,
            **options,
        )
    return any(result.is_distinguishable(pair) for pair in result.pairs)


def share(cell, repetitions, fewer=0, first=0):
    """Percent of data sets in which methods are told apart, with its standard error."""
    seeds = range(first, first + repetitions)
    return percent_and_error([told_apart(cell, seed, fewer) for seed in seeds])


def row_of(name):
    """Line of the table for one cell."""
    cell = CELLS[name]
    shares = share(cell, N_DATA_SETS)
    if cell.n_methods == 2:
        shares += share(cell, N_DATA_SETS, fewer=3, first=10**6)
    return N_DATA_SETS, *(f"{value:.1f}" for value in shares), *[""] * (4 - len(shares))


HEADER = ("methods", "repetitions", "null", "null_error", "power", "power_error")
STUDY = TableStudy("method_differences", HEADER, [(name,) for name in CELLS], one_line(row_of))
