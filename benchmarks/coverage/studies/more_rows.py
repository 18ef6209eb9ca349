"""What more rows would give: does an inverse power law, fitted to a learning curve, foretell it?

Question: a + b m^-c, fitted to `skboot.learning_curve` of n rows, gives a score at 2 n rows, and
fitted to each of many draws from the law of the curve an interval. Does it hold the expected score
of the method trained on 2 n rows?

Design. Subsamples of n rows of real data: digits (1797 rows of ten classes, n 300), breast cancer
(569, n 200), diabetes (442, n 150). Methods of different slopes. The truth is the mean score of 300
trainings on 2 n random rows of all data, each tested on all others. Fits are by least squares with
weights 1 / variance over sizes of 20, 33, 50, 70 and 90 %, with c from .1 to 2. 200 subsamples a
cell, 999 draws each. Beside it the interval of the curve at .9 n, as if more rows gave nothing.

Rule, written before the run. `learning_curve` goes beyond the data, up to 2 n, if the exact
one-sided 95 % lower limit of the coverage of the fitted interval is at least 90 % in every cell.
Otherwise the documentation says why it does not.

All cells passed, and the fit is now `CurveResult.extrapolate`, which has the percentiles of 9999
draws, expanded as of t: a little wider than here.

    make coverage-study STUDY=more_rows
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skboot import learning_curve
from skboot.method_error.learning_curve import extended

from ..methods.table import versions
from ..runner import titled

SEED, N_SETS, N_TRUTH, N_DRAWS = 9900, 200, 300, 999


class OnRows(NamedTuple):
    """A cell: a method on n rows of some data."""

    estimator: object
    data: str
    n: int
    scoring: str = "accuracy"


def _scaled(estimator):
    return make_pipeline(StandardScaler(), estimator)


CELLS = {
    "digits, naive Bayes": OnRows(GaussianNB(var_smoothing=1e-2), "digits", 300),
    "digits, 3-NN": OnRows(KNeighborsClassifier(3), "digits", 300),
    "digits, tree": OnRows(DecisionTreeClassifier(random_state=0), "digits", 300),
    "digits, logistic": OnRows(_scaled(LogisticRegression(C=0.1, max_iter=50)), "digits", 300),
    "breast cancer, naive Bayes": OnRows(GaussianNB(), "breast_cancer", 200),
    "breast cancer, 3-NN": OnRows(_scaled(KNeighborsClassifier(3)), "breast_cancer", 200),
    "breast cancer, tree": OnRows(DecisionTreeClassifier(random_state=0), "breast_cancer", 200),
    "diabetes, ridge, R2": OnRows(_scaled(Ridge(1.0)), "diabetes", 150, "r2"),
    "diabetes, 5-NN, R2": OnRows(_scaled(KNeighborsRegressor(5)), "diabetes", 150, "r2"),
}

HEADER = [
    "cell",
    "n",
    "subsamples",
    "score at .9 n",
    "score at 2 n",
    "fitted at 2 n",
    "fitted covered %",
    "fitted width",
    "last covered %",
    "last width",
    "versions",
]


def rows_of(number, cell):
    """The line of a cell."""
    X, y = getattr(datasets, f"load_{cell.data}")(return_X_y=True)
    scorer, rng = get_scorer(cell.scoring), np.random.default_rng([SEED, number, 10**6])
    truth = []
    for _ in range(N_TRUTH):
        order = rng.permutation(len(y))
        train, test = order[: 2 * cell.n], order[2 * cell.n :]
        truth.append(scorer(cell.estimator.fit(X[train], y[train]), X[test], y[test]))
    truth = np.mean(truth)
    lines = []
    for k in range(N_SETS):
        own = np.random.default_rng([SEED, number, k]).permutation(len(y))[: cell.n]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            curve = learning_curve(
                cell.estimator, X[own], y[own], scoring=cell.scoring, random_state=k, n_jobs=1
            )
        draws = curve.bootstrap_distribution[:N_DRAWS]
        weights = 1 / np.maximum(draws.var(axis=0), 1e-12)
        every = np.vstack([curve.estimate, draws])
        fitted = extended(curve.x, every, weights, 2.0 * cell.n)
        low, high = np.quantile(fitted[1:], [0.025, 0.975])
        last = curve.at(curve.x[-1]).confidence_interval
        lines.append((curve.estimate[-1], fitted[0], low, high, last.low, last.high))
    score, fit, low, high, last_low, last_high = np.array(lines).T
    yield [
        cell.n,
        N_SETS,
        f"{score.mean():.4f}",
        f"{truth:.4f}",
        f"{fit.mean():.4f}",
        f"{100 * ((low <= truth) & (truth <= high)).mean():.1f}",
        f"{(high - low).mean():.4g}",
        f"{100 * ((last_low <= truth) & (truth <= last_high)).mean():.1f}",
        f"{(last_high - last_low).mean():.4g}",
        versions(),
    ]


STUDY = titled("more_rows", HEADER, CELLS, rows_of)
