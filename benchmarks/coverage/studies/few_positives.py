"""Scores of a method on few positives: is the estimate unbiased, does its interval cover?

Average precision, and what else a classifier is judged by, at 5 % positives of 300 rows: 15 of
them, one or two in each fold of cross-validation; and the metrics of labels at 40 % of 200 rows,
where nothing is to be lost by what is done for few. The truth is the mean score of the method over
`N_TRUTH` fresh training sets of the same size, each judged on `N_FRESH` fresh rows. The mean over
folds that scikit-learn's `cross_validate` gives is shown beside the estimate, of the first
`N_FOLDED` data sets. 300 data sets a design, 100 of the one with decision values alone, which is
far off; these and least squares are not in the table yet. The study goes on where it was stopped:

    make coverage-study STUDY=few_positives

Columns: mean estimate, its bias in standard deviations of the estimate, the mean over the folds of
one cross-validation (where a fold has a score), the share of data sets whose 95 % interval holds
the truth with its Monte Carlo error, and the mean width as a multiple of 2 x 1.96 standard
deviations of the estimate.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.metrics import cohen_kappa_score, fbeta_score, get_scorer, make_scorer
from sklearn.model_selection import KFold, StratifiedKFold, cross_validate

from skboot.scorer import BootstrapScorer

from ..runner import titled

LEVEL = 0.95
N_TRUTH, N_FRESH, N_FOLDED = 300, 20000, 100


class Logistic(ClassifierMixin, BaseEstimator):
    """`LogisticRegression()` of two classes 0 and 1 by Newton's method, ten times as fast."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        X = np.column_stack((np.ones(len(X)), X))
        penalty = np.diag(np.r_[0.0, np.ones(X.shape[1] - 1)])
        self.coef_ = np.zeros(X.shape[1])
        for _ in range(50):
            p = expit(X @ self.coef_)
            slope = X.T @ (y - p) - penalty @ self.coef_
            step = np.linalg.solve((X.T * (p * (1 - p))) @ X + penalty, slope)
            self.coef_ += step
            if np.abs(step).max() < 1e-6:
                break
        return self

    def decision_function(self, X):
        return self.coef_[0] + X @ self.coef_[1:]

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)

    def predict_proba(self, X):
        p = expit(self.decision_function(X))
        return np.column_stack((1 - p, p))


def rare(rng, n):
    """5 % positives, shifted by .9 in 3 of 8 columns."""
    y = (rng.random(n) < 0.05).astype(int)
    X = rng.normal(size=(n, 8))
    X[:, :3] += 0.9 * y[:, None]
    return X, y


def common(rng, n):
    """40 % positives, shifted by .9 in 3 of 8 columns."""
    y = (rng.random(n) < 0.4).astype(int)
    X = rng.normal(size=(n, 8))
    X[:, :3] += 0.9 * y[:, None]
    return X, y


def linear(rng, n):
    X = rng.normal(size=(n, 5))
    return X, X @ (1 / np.arange(1, 6)) + rng.normal(scale=1.5, size=n)


class Design(NamedTuple):
    estimator: object
    scoring: tuple
    draw: object  # (rng, n) -> X, y
    size: int
    n_sets: int = 300


OTHERS = {
    "f2": make_scorer(fbeta_score, beta=2, zero_division=0.0),
    "cohen_kappa": make_scorer(cohen_kappa_score),
}
"""Metrics that scikit-learn has no name for."""

OF_LABELS = ("f1", "recall", "precision", "jaccard", "f2", "matthews_corrcoef", "cohen_kappa")

DESIGNS = {
    "logistic regression, 5 % positives, n 300": Design(
        Logistic(),
        ("average_precision", "roc_auc", *OF_LABELS, "balanced_accuracy"),
        rare,
        300,
    ),
    "logistic regression, 40 % positives, n 200": Design(Logistic(), OF_LABELS, common, 200),
    "least squares, p 5, n 60": Design(LinearRegression(), ("r2",), linear, 60),
    "ridge classifier (decision values alone), 5 % positives, n 300": Design(
        RidgeClassifier(), ("average_precision",), rare, 300, 100
    ),
}


def scorers(design):
    """What scores, by metric."""
    return {name: OTHERS.get(name) or get_scorer(name) for name in design.scoring}


def truth(design, rng):
    """Mean scores of the method over fresh training sets, by metric."""
    scores = {name: [] for name in design.scoring}
    for _ in range(N_TRUTH):
        model = design.estimator.fit(*design.draw(rng, design.size))
        X, y = design.draw(rng, N_FRESH)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # precision where nothing is called positive
            for name, scorer in scorers(design).items():
                scores[name].append(scorer(model, X, y))
    return {name: float(np.mean(own)) for name, own in scores.items()}


def over_folds(design, X, y, repeat):
    """Mean over the folds of one cross-validation, by metric."""
    kind = KFold if design.draw is linear else StratifiedKFold
    found = cross_validate(
        design.estimator,
        X,
        y,
        scoring=scorers(design),
        cv=kind(10, shuffle=True, random_state=repeat),
    )
    return {name: np.nanmean(found[f"test_{name}"]) for name in design.scoring}


def cell(design, n_repeats, seed):
    """Rows of the table for one design."""
    rng = np.random.default_rng(seed)
    expected = truth(design, rng)
    limits, estimates, folds = ({name: [] for name in design.scoring} for _ in range(3))
    for repeat in range(n_repeats):
        X, y = design.draw(rng, design.size)
        scorer = BootstrapScorer(
            design.estimator,
            scoring=scorers(design),
            confidence_level=LEVEL,
            refit=False,
            random_state=repeat,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scorer.fit(X, y)
            by_fold = over_folds(design, X, y, repeat) if repeat < N_FOLDED else {}
        for name in design.scoring:
            limits[name].append(scorer.confidence_interval_[name][:2])
            estimates[name].append(scorer.score_[name])
            folds[name].append(by_fold.get(name, np.nan))
    for name in design.scoring:
        low, high = np.transpose(limits[name])
        spread = np.std(estimates[name], ddof=1)
        covered = np.mean((low <= expected[name]) & (expected[name] <= high))
        yield [
            name,
            str(n_repeats),
            f"{expected[name]:.4f}",
            f"{np.mean(estimates[name]):.4f}",
            f"{(np.mean(estimates[name]) - expected[name]) / spread:.2f}",
            f"{np.nanmean(folds[name]):.4f}",
            f"{100 * covered:.1f}",
            f"{100 * np.sqrt(LEVEL * (1 - LEVEL) / n_repeats):.1f}",
            f"{np.mean(high - low) / (2 * 1.96 * spread):.2f}",
        ]


HEADER = [
    "design",
    "metric",
    "repetitions",
    "truth",
    "mean estimate",
    "bias in sd",
    "mean over folds",
    "coverage %",
    "Monte Carlo error",
    "width ratio",
]


def rows_of(number, design):
    return cell(design, design.n_sets, 3450 + number)


STUDY = titled("few_positives", HEADER, DESIGNS, rows_of)
