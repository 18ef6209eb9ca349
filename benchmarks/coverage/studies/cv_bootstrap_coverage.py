"""How often intervals of BootstrapScorer cover the method's expected score.

In each design, data sets are drawn, and both intervals of each, "cv-bootstrap" and
"cv-bootstrap-conservative" from the same fits, are compared with the truth: the mean score of the
method over `N_TRUTH` fresh training sets of the same size, each judged on `N_FRESH` fresh rows. 300
data sets a design, 60 of the forest, which takes seconds for each. The study goes on where it was
stopped:

    make coverage-study STUDY=cv_bootstrap_coverage
"""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.tree import DecisionTreeClassifier

from skboot.scorer import BootstrapScorer

from ..methods.table import in_turn
from ..runner import RESULTS

N_TRUTH = 400
N_FRESH = 2000
LEVEL = 0.95
INTERVALS = ("cv-bootstrap", "cv-bootstrap-conservative")


class Design(NamedTuple):
    estimator: object
    scoring: tuple
    draw: object  # (rng, number of rows or of groups) -> X, y, groups
    size: int
    n_sets: int = 300


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


DESIGNS = {
    "tree, 13 % label noise, n 100": Design(
        DecisionTreeClassifier(), ("accuracy",), noisy_labels, 100
    ),
    "ridge regression, p 15, n 80": Design(Ridge(), ("neg_mean_squared_error", "r2"), linear, 80),
    "logistic regression, 10 % positives, n 200": Design(
        LogisticRegression(), ("balanced_accuracy",), imbalanced, 200
    ),
    "logistic regression, 30 groups of 5": Design(LogisticRegression(), ("accuracy",), grouped, 30),
    "logistic regression, p 10, n 40": Design(
        LogisticRegression(C=100.0), ("accuracy", "roc_auc"), steep, 40
    ),
    "random forest, 13 % label noise, n 100": Design(
        RandomForestClassifier(15, max_features=2), ("accuracy",), noisy_labels, 100, 60
    ),
}


def truth(design, rng):
    """Mean score of the method over fresh training sets, by metric."""
    scores = {name: [] for name in design.scoring}
    n_fresh = N_FRESH // 5 if design.draw is grouped else N_FRESH
    for _ in range(N_TRUTH):
        X, y, _ = design.draw(rng, design.size)
        model = design.estimator.fit(X, y)
        X, y, _ = design.draw(rng, n_fresh)
        for name in design.scoring:
            scores[name].append(get_scorer(name)(model, X, y))
    return {name: float(np.mean(own)) for name, own in scores.items()}


def coverage(design, n_repeats, seed):
    """Share of data sets whose interval holds the truth, mean width, truth: by metric, interval."""
    rng = np.random.default_rng(seed)
    expected = truth(design, rng)
    limits = {(name, kind): [] for name in design.scoring for kind in INTERVALS}
    for repeat in range(n_repeats):
        X, y, groups = design.draw(rng, design.size)
        scorer = BootstrapScorer(
            design.estimator,
            scoring=list(design.scoring),
            confidence_level=LEVEL,
            refit=False,
            random_state=repeat,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scorer.fit(X, y, groups=groups)
        for name, kind in limits:
            limits[name, kind].append(scorer.result_[name].interval(kind)[:2])
    found = {}
    for (name, kind), pairs in limits.items():
        low, high = np.transpose(pairs)
        covered = (low <= expected[name]) & (expected[name] <= high)
        found[name, kind] = covered.mean(), (high - low).mean(), expected[name]
    return found


def cell(title, design, n_repeats, seed):
    """Rows of the table for one design."""
    for (name, kind), (share, width, expected) in coverage(design, n_repeats, seed).items():
        yield [
            title,
            name,
            kind,
            str(n_repeats),
            f"{expected:.4f}",
            f"{100 * share:.1f}",
            f"{100 * np.sqrt(LEVEL * (1 - LEVEL) / n_repeats):.1f}",
            f"{width:.4f}" if width < 1e4 else f"{width:.1e}",
        ]


def markdown(rows):
    """Lines of the guide's table: all columns but the truth."""
    yield "| design | metric | interval | data sets | covered % | Monte Carlo error | mean width |"
    for title, metric, kind, n, _, share, error, width in rows:
        yield f"| {title} | {metric} | {kind} | {n} | {share} | {error} | {width} |"


HEADER = [
    "design",
    "metric",
    "interval",
    "repetitions",
    "truth",
    "coverage %",
    "Monte Carlo error",
    "width",
]


def go_on(minutes):
    """Run designs for some time; return whether all are there."""

    def rows_of(number, title, design):
        return cell(title, design, design.n_sets, 1000 + number)

    return in_turn(RESULTS / "cv_bootstrap_coverage.csv", HEADER, DESIGNS, rows_of, minutes)
