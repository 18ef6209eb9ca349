"""How often the intervals of `BootstrapScorer` cover the method's expected score at its defaults.

Usual learners of scikit-learn: the tree by `BootstrapScorer` itself, the others by learners that
train on all samples at once and give the same intervals (`methods`). Both "cv-bootstrap" and
"cv-bootstrap-conservative" come from the same fits; the truth is the mean error or score of the
method over 1000 fresh training sets, 400 of the tree.

Rule, written before the run: no interval of "cv-bootstrap" covers less than 93 %, by coverage plus
2.6 Monte Carlo errors. 600 data sets a cell, 300 of the tree. The study goes on where it was
stopped:

    make coverage-study STUDY=cv_bootstrap_coverage
"""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from ..methods.designs import Design, logit_link, newton, ridge
from ..methods.parts import bootstrap
from ..methods.table import CONSERVATIVE, Fitted, study

SEED = 1000


def noisy_labels(rng, n):
    X = rng.normal(size=(n, 6))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] > 0
    return X, (y ^ (rng.random(n) < 0.13)).astype(int), None


def steep(rng, n):
    X = rng.normal(size=(n, 10))
    logit = X[:, :5] @ np.array([2, -2, 2, -2, 2])
    return X, (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int), None


def linear(rng, n):
    X = rng.normal(size=(n, 15))
    return X, X @ (1 / np.arange(1, 16)) + rng.normal(scale=1.5, size=n), None


def imbalanced(rng, n):
    y = (rng.random(n) < 0.1).astype(int)
    X = rng.normal(size=(n, 8))
    X[:, :3] += 0.7 * y[:, None]
    return X, y, None


def grouped(rng, n_groups):
    groups = np.repeat(np.arange(n_groups), 5)
    X = rng.normal(size=(len(groups), 6)) + rng.normal(scale=0.7, size=(n_groups, 6))[groups]
    logit = X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(size=n_groups)[groups]
    return X, (rng.random(len(groups)) < 1 / (1 + np.exp(-logit))).astype(int), groups


# Penalties are 1 / C of LogisticRegression.
LOGISTIC, STEEP = newton(logit_link, 1.0), newton(logit_link, 0.01)

CELLS = {
    "ridge regression, p 15, n 80": Design(ridge(1.0), linear, 80, "mean squared error"),
    "ridge regression, p 15, n 80, R2": Design(ridge(1.0), linear, 80, "1 - R2"),
    "logistic regression, p 10, n 40": Design(STEEP, steep, 40, "error"),
    "logistic regression, p 10, n 40, AUC": Design(STEEP, steep, 40, "1 - AUC", kind="ranks"),
    "logistic regression, 10 % positives, n 200": Design(
        LOGISTIC, imbalanced, 200, "balanced error", kind="ranks"
    ),
    "logistic regression, 30 groups of 5": Design(LOGISTIC, grouped, 30, "error", kind="groups"),
    "tree, 13 % label noise, n 100": Fitted(
        DecisionTreeClassifier(), noisy_labels, 100, "accuracy", {}, "rough"
    ),
}


def intervals(parts):
    found = bootstrap(parts)
    return {
        "cv-bootstrap": found.interval(),
        CONSERVATIVE: found.interval(0.95, CONSERVATIVE),
    }


def n_sets(cell):
    return 300 if isinstance(cell, Fitted) else 600


STUDY = study("cv_bootstrap_coverage", CELLS, intervals, seed=SEED, n_sets=n_sets)
