"""What "cv-bootstrap" gives where training samples explode, beside its conservative form.

Least squares on hardly more rows than columns, and some usual designs. The learners are weighted
and vectorised over training samples, because sixty thousand fits of each design would take too
long by an estimator; their losses and counts go to `skboot.inference.prediction_error`, or to
`skboot.method_error.cv_bootstrap.cv_bootstrap` for balanced error and AUC: 200 bootstrap samples
and 5 x 10 folds, the defaults of BootstrapScorer. The truth is the mean error over `N_TRUTH` fresh
training sets of the same size, each judged on `N_FRESH` fresh rows.

    make coverage-study STUDY=cv_bootstrap_s

Columns: share of data sets whose 95 % interval holds the truth, its Monte Carlo error, mean width
as a multiple of 2 x 1.96 standard deviations of the estimate, largest upper limit as a multiple of
the truth, and the share of data sets whose interval says that it is wide because of the training
samples.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from skboot.inference import prediction_error
from skboot.method_error.cv_bootstrap import (
    auc_error_influence,
    cv_bootstrap,
)

from ..methods.designs import discriminant
from ..runner import titled
from .cv_bootstrap_coverage import grouped

INTERVALS = ("cv-bootstrap", "cv-bootstrap-conservative")
LEVEL = 0.95
N_TRUTH, N_FRESH = 1000, 2000
N_RESAMPLES, N_REPEATS, N_FOLDS = 200, 5, 10


def ridge(penalty=0.0):
    """Weighted ridge regression with an intercept; without penalty the shortest solution."""

    def answers(X, y, weights, X_new):
        total = weights.sum(axis=1)[:, None]
        middle, level = weights @ X / total, weights @ y[:, None] / total
        products = (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)
        squares = (weights @ products).reshape(-1, X.shape[1], X.shape[1])
        squares -= total[:, :, None] * middle[:, :, None] * middle[:, None, :]
        squares += penalty * np.eye(X.shape[1])
        slopes = weights @ (X * y[:, None]) - total * middle * level
        slopes = (np.linalg.pinv(squares, rcond=1e-12, hermitian=True) @ slopes[:, :, None])[..., 0]
        return slopes @ X_new.T + level - np.sum(slopes * middle, axis=1)[:, None]

    return answers


def logistic(X, y, weights, X_new):
    """Decision values of weighted logistic regression, with scikit-learn's default penalty."""
    X, X_new = (np.column_stack((np.ones(len(own)), own)) for own in (X, X_new))
    penalty = np.diag(np.r_[0.0, np.ones(X.shape[1] - 1)])
    products = (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)
    found = np.zeros((len(weights), X.shape[1]))
    for _ in range(25):
        p = expit(found @ X.T)
        slope = (weights * (y - p)) @ X - found @ penalty
        bend = ((weights * p * (1 - p)) @ products).reshape(-1, *penalty.shape) + penalty
        step = np.linalg.solve(bend, slope[:, :, None])[..., 0]
        found += step
        if np.abs(step).max() < 1e-8:
            break
    return found @ X_new.T


def linear(p, noise=1.0):
    def draw(rng, n):
        X = rng.normal(size=(n, p))
        return X, X[:, :5].sum(axis=1) + rng.normal(scale=noise, size=n), None

    return draw


def shifted(share):
    def draw(rng, n):
        y = (rng.random(n) < share).astype(int)
        X = rng.normal(size=(n, 6))
        X[:, :3] += 0.8 * y[:, None]
        return X, y, None

    return draw


def sloped(rng, n):
    X = rng.normal(size=(n, 6))
    return X, (rng.random(n) < expit(X[:, :3] @ [1, -1, 1])).astype(int), None


LOSSES = {
    "mean squared error": lambda answers, y: (answers - y) ** 2,
    "error": lambda answers, y: ((answers > 0) != y).astype(float),
    "log loss": lambda answers, y: np.logaddexp(0, -(2 * y - 1) * answers),
}


def balanced_error_influence(losses, y_true):
    """Mean over classes of the class's mean loss, and its influence values."""
    classes, codes, sizes = np.unique(y_true, return_inverse=True, return_counts=True)
    means = np.bincount(codes, weights=losses) / sizes
    scale = len(losses) / (len(classes) * sizes)
    return float(means.mean()), scale[codes] * (losses - means[codes])


INFLUENCE = {
    "balanced error": lambda answers, y: balanced_error_influence((answers > 0) != y, y),
    "1 - AUC": lambda answers, y: auc_error_influence(y == 1, answers),
}


class Design(NamedTuple):
    answers: object  # (X, y, weights, X_new) -> values or decision values, (n_models, n_new)
    draw: object  # (rng, number of rows or of groups) -> X, y, groups
    size: int
    metric: str = "mean squared error"


DESIGNS = {
    "least squares, p 15, n 40": Design(ridge(), linear(15), 40),
    "least squares, p 20, n 40": Design(ridge(), linear(20), 40),
    "least squares, p 30, n 60": Design(ridge(), linear(30), 60),
    "least squares, p 5, n 100": Design(ridge(), linear(5), 100),
    "ridge regression, p 15, n 80": Design(ridge(1.0), linear(15, 1.5), 80),
    "linear discriminant, 20 groups of 5": Design(discriminant, grouped, 20, "error"),
    "linear discriminant, 15 % positives, n 100": Design(
        discriminant, shifted(0.15), 100, "balanced error"
    ),
    "logistic regression, n 100, error": Design(logistic, sloped, 100, "error"),
    "logistic regression, n 100, log loss": Design(logistic, sloped, 100, "log loss"),
    "logistic regression, n 100, AUC": Design(logistic, sloped, 100, "1 - AUC"),
}


def truth(design, rng):
    """Mean error of the method over fresh training sets."""
    errors = []
    for _ in range(N_TRUTH):
        X, y, groups = design.draw(rng, design.size)
        n_new = N_FRESH if groups is None else N_FRESH // 5
        X_new, y_new, _ = design.draw(rng, n_new)
        answers = design.answers(X, y, np.ones((1, len(y))), X_new)[0]
        if design.metric in LOSSES:
            errors.append(LOSSES[design.metric](answers, y_new).mean())
        else:
            errors.append(INFLUENCE[design.metric](answers, y_new)[0])
    return float(np.mean(errors))


def judged(design, rng):
    """Parts of the interval for a fresh data set."""
    X, y, groups = design.draw(rng, design.size)
    n_units = design.size
    unit = np.arange(n_units) if groups is None else groups
    counts = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=N_RESAMPLES)
    folds = np.array([rng.permutation(n_units) % N_FOLDS for _ in range(N_REPEATS)])[:, unit]
    in_fold = folds[:, None, :] == np.arange(N_FOLDS)[:, None]
    weights = np.concatenate((np.ones((1, len(y))), counts[:, unit], *(~in_fold).astype(float)))
    answers = design.answers(X, y, weights, X)
    full, left_out = answers[0], answers[1 : N_RESAMPLES + 1]
    by_fold = answers[N_RESAMPLES + 1 :].reshape(N_REPEATS, N_FOLDS, len(y))
    if design.metric not in LOSSES:
        return of_metric(design.metric, y, full, left_out, counts, by_fold, in_fold)
    losses = LOSSES[design.metric]
    return prediction_error(
        losses(left_out, y),
        counts[:, unit],
        resubstitution_losses=losses(full, y),
        no_information_rate=1.0,
        groups=groups,
        bounds=(0, 1) if design.metric == "error" else (0, np.inf),
        cv_losses=losses(np.sum(np.where(in_fold, by_fold, 0), axis=1), y),
    ).cv


def of_metric(name, y, full, left_out, counts, by_fold, in_fold):
    """As `judged`, for metrics that are no means of losses."""
    metric = INFLUENCE[name]
    scores, influence = np.full(len(counts), np.nan), np.zeros(counts.shape)
    for b, count in enumerate(counts):
        rows = count == 0
        if len(np.unique(y[rows])) == 2 and len(np.unique(y[~rows])) == 2:
            scores[b], influence[b, rows] = metric(left_out[b, rows], y[rows])
    out_of_fold = np.sum(np.where(in_fold, by_fold, 0), axis=1)
    together, cv = zip(*(metric(own, y) for own in out_of_fold), strict=True)
    centre, guard = np.mean(together), {}
    sizes = np.bincount(y)
    if name == "1 - AUC":
        lines = zip(by_fold.reshape(-1, len(y)), in_fold.reshape(-1, len(y)), strict=True)
        centre = np.nanmean([metric(own[rows], y[rows])[0] for own, rows in lines])
    else:
        rates = [((out_of_fold > 0) != y)[:, y == k].mean() for k in (0, 1)]
        guard = {"guard": "balanced", "class_errors": rates, "class_sizes": sizes}
    return cv_bootstrap(
        centre,
        cv,
        counts,
        scores,
        influence,
        n_effective=sizes.min(),
        resubstitution=metric(full, y)[0],
        **guard,
    )


def rows_of(number, design, n_repeats=300):
    """Rows of the table for one design."""
    rng = np.random.default_rng(3400 + number)
    expected = truth(design, rng)
    found = [judged(design, rng) for _ in range(n_repeats)]
    spread = 2 * 1.96 * np.std([one.centre for one in found], ddof=1)
    for kind in INTERVALS:
        low, high = np.transpose([tuple(one.interval(LEVEL, kind)) for one in found])
        covered = np.mean((low <= expected) & (expected <= high))
        yield [
            design.metric,
            kind,
            n_repeats,
            f"{expected:.4f}",
            f"{100 * covered:.1f}",
            f"{100 * np.sqrt(LEVEL * (1 - LEVEL) / n_repeats):.1f}",
            f"{np.mean(high - low) / spread:.3g}",
            f"{high.max() / expected:.3g}",
            f"{100 * np.mean([one.is_unstable(kind) for one in found]):.0f}",
        ]


HEADER = [
    "design",
    "metric",
    "interval",
    "repetitions",
    "truth",
    "coverage %",
    "Monte Carlo error",
    "width ratio",
    "largest limit",
    "says why %",
]
STUDY = titled("cv_bootstrap_s", HEADER, DESIGNS, rows_of)
