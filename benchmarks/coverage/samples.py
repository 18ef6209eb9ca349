"""What a tool is given: predictions of a frozen system, or rows to train on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sklearn.base import BaseEstimator, clone

from skboot import Trials

from .scores import Score


def units_of(groups: np.ndarray | None, same_population: bool) -> np.ndarray | Trials | None:
    """Groups, or two columns of members, as skboot takes them."""
    return Trials(*groups.T) if same_population else groups


@dataclass(frozen=True)
class SystemSample:
    """Predictions of one frozen system on a test set.

    `truth` maps targets to their values; most cells have one, named "". `exception` says which
    stated exception the data set is in, if any.
    """

    y_true: np.ndarray
    y_pred: np.ndarray
    score: Score
    truth: Mapping[str, float]
    groups: np.ndarray | None = None
    same_population: bool = False
    exception: str = ""

    @property
    def units(self) -> np.ndarray | Trials | None:
        """Groups as skboot takes them."""
        return units_of(self.groups, self.same_population)


Learner = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""(X, y, weights (n_models, n_samples), X_new) -> predictions (n_models, n_new)."""


@dataclass(frozen=True)
class MethodSample:
    """Rows that a method is trained and judged on.

    `loss` maps predictions (..., n) and y (n,) to losses of rows (..., n). Weights say how often
    each row is in a training sample, so that one learner serves folds and bootstrap samples.
    """

    X: np.ndarray
    y: np.ndarray
    learner: Learner
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray]
    truth: Mapping[str, float]
    groups: np.ndarray | None = None
    bounds: tuple[float, float] = (0.0, np.inf)
    exception: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def units(self) -> np.ndarray:
        """Number of the unit, a row or a group, of each row."""
        if self.groups is None:
            return np.arange(len(self.y))
        return np.unique(self.groups, return_inverse=True)[1]


def errors(predictions: np.ndarray, y: np.ndarray) -> np.ndarray:
    """0/1 losses of predicted classes."""
    return (predictions != y).astype(float)


def squared_errors(predictions: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Squared losses."""
    return (predictions - y) ** 2


def of_estimator(estimator: BaseEstimator) -> Learner:
    """Learner that fits an estimator of scikit-learn on repeated rows, for each line of weights."""

    def predictions(X, y, weights, X_new):
        found = []
        for line in weights:
            rows = np.repeat(np.arange(len(y)), line.astype(int))
            found.append(clone(estimator).fit(X[rows], y[rows]).predict(X_new))
        return np.array(found)

    return predictions


@dataclass(frozen=True)
class PairSample:
    """Predictions of two or more frozen systems on one test set.

    Of two systems truths are of the score of the first less that of the second; of more, see
    `studies.several_systems`. The target "zero" is no difference: an interval that leaves it out
    tells the systems apart. `values` are the true scores.
    """

    y_true: np.ndarray
    y_preds: Sequence[np.ndarray]
    score: Score
    truth: Mapping[str, float]
    values: Sequence[float]
    groups: np.ndarray | None = None
    same_population: bool = False
    exception: str = ""

    @property
    def units(self) -> np.ndarray | Trials | None:
        """Groups as skboot takes them."""
        return units_of(self.groups, self.same_population)

    @property
    def first(self) -> np.ndarray:
        """Predictions of the first system."""
        return self.y_preds[0]

    @property
    def second(self) -> np.ndarray:
        """Predictions of the second system."""
        return self.y_preds[1]
