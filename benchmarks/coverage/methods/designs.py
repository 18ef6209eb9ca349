"""Learners that train on many weighted samples at once, populations, and designs made of them.

A learner is a function ``(X, y, weights, X_new) -> answers`` of one model per line of `weights`,
(n_models, n_new) or, for classes, (n_models, n_new, n_classes). A fit of all 251 training samples
of `BootstrapScorer` takes milliseconds, so that a cell can have a thousand data sets. Tests hold
the learners against scikit-learn's on repeated rows.

A population is a function ``(rng, size) -> X, y, groups`` of `size` rows, or groups where it has
some. A `Design` is a learner, a population, a size, a metric and the numbers of training samples.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

# ------------------------------------------------------------------ learners


def products(X):
    return (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)


def ridge(penalty=0.0):
    """Ridge regression with an intercept; without penalty the shortest least squares."""

    def answers(X, y, weights, X_new):
        total = weights.sum(axis=1)[:, None]
        middle, level = weights @ X / total, weights @ y[:, None] / total
        squares = (weights @ products(X)).reshape(-1, X.shape[1], X.shape[1])
        squares -= total[:, :, None] * middle[:, :, None] * middle[:, None, :]
        squares += penalty * np.eye(X.shape[1])
        slopes = weights @ (X * y[:, None]) - total * middle * level
        if penalty:
            slopes = np.linalg.solve(squares, slopes[:, :, None])[..., 0]
        else:
            inverse = np.linalg.pinv(squares, rcond=1e-12, hermitian=True)
            slopes = (inverse @ slopes[:, :, None])[..., 0]
        return slopes @ X_new.T + level - np.sum(slopes * middle, axis=1)[:, None]

    return answers


def discriminant(X, y, weights, X_new):
    """Linear discriminant analysis of two classes; decision values."""
    p, sides = X.shape[1], [weights * (y == k) for k in (0, 1)]
    size = [side.sum(axis=1)[:, None] for side in sides]
    mean = [side @ X / np.maximum(n, 1) for side, n in zip(sides, size, strict=True)]
    within = (weights @ products(X)).reshape(-1, p, p)
    for n, m in zip(size, mean, strict=True):
        within -= n[:, :, None] * m[:, :, None] * m[:, None, :]
    within /= weights.sum(axis=1)[:, None, None]
    slopes = np.linalg.pinv(within, hermitian=True) @ (mean[1] - mean[0])[:, :, None]
    slopes, middle = slopes[..., 0], (mean[0] + mean[1]) / 2
    odds = np.log(np.maximum(size[1], 0.5) / np.maximum(size[0], 0.5))
    return slopes @ X_new.T - np.sum(slopes * middle, axis=1)[:, None] + odds


def centroids(X, y, weights, X_new):
    """Nearest class mean; decision values."""
    mean = [
        (side := weights * (y == k)) @ X / np.maximum(side.sum(axis=1)[:, None], 1) for k in (0, 1)
    ]
    slopes = mean[1] - mean[0]
    return slopes @ X_new.T - np.sum(slopes * (mean[0] + mean[1]) / 2, axis=1)[:, None]


def newton(link, penalty):
    """Regression of a canonical link with ridge penalty `penalty`; linear predictors."""

    def answers(X, y, weights, X_new):
        X, X_new = (np.column_stack((np.ones(len(own)), own)) for own in (X, X_new))
        damping = np.diag(np.r_[1e-9, np.full(X.shape[1] - 1, penalty)])
        found, pairs = np.zeros((len(weights), X.shape[1])), products(X)
        for _ in range(30):
            mean, bend = link(found @ X.T)
            slope = (weights * (y - mean)) @ X - found @ damping
            matrix = ((weights * bend) @ pairs).reshape(-1, *damping.shape) + damping
            step = np.linalg.solve(matrix, slope[:, :, None])[..., 0]
            found += np.clip(step, -3, 3)
            if np.abs(step).max() < 1e-7:
                break
        return found @ X_new.T

    return answers


def logit_link(values):
    p = expit(values)
    return p, p * (1 - p)


def log_link(values):
    mean = np.exp(np.clip(values, -20, 20))
    return mean, mean


def neighbours(k):
    """Mean target of the `k` nearest rows, copies counted; less 1/2 it is a decision value."""

    def answers(X, y, weights, X_new):
        gaps = ((X_new**2).sum(axis=1)[:, None] + (X**2).sum(axis=1)) - 2 * X_new @ X.T
        reach = min(len(X), 4 * k + 30)
        order = np.argsort(gaps, axis=1, kind="stable")[:, :reach]
        found, own = np.empty((len(weights), len(X_new))), weights.astype(np.int16)
        for start in range(0, len(X_new), 500):
            near = order[start : start + 500]
            taken = np.cumsum(own[:, near], axis=2, dtype=np.int16)
            share = np.diff(np.minimum(taken, k, out=taken), axis=2, prepend=0).astype(float)
            found[:, start : start + 500] = np.einsum("mij,ij->mi", share, y[near]) / k
        return found

    return answers


def smoother(width):
    """Nadaraya and Watson's mean of all targets, with a Gaussian kernel."""

    def answers(X, y, weights, X_new):
        gaps = ((X_new**2).sum(axis=1)[:, None] + (X**2).sum(axis=1)) - 2 * X_new @ X.T
        kernel = np.exp(-gaps / (2 * width**2)) + 1e-12
        return (weights * y) @ kernel.T / (weights @ kernel.T)

    return answers


def bayes(n_classes, shared=False, floor=1e-3):
    """Gaussian naive Bayes; logarithms of probabilities, (n_models, n_new, n_classes)."""

    def answers(X, y, weights, X_new):
        found = []
        moments = []
        for k in range(n_classes):
            side = weights * (y == k)
            size = np.maximum(side.sum(axis=1)[:, None], 1e-9)
            mean = side @ X / size
            moments.append((size, mean, np.maximum(side @ X**2 / size - mean**2, floor)))
        if shared:
            total = sum(size for size, *_ in moments)
            pooled = sum(size * spread for size, _, spread in moments) / total
            moments = [(size, mean, pooled) for size, mean, _ in moments]
        for size, mean, spread in moments:
            gaps = (1 / spread) @ (X_new**2).T - 2 * (mean / spread) @ X_new.T
            gaps += np.sum(mean**2 / spread + np.log(spread), axis=1)[:, None]
            found.append(np.log(size) - gaps / 2)
        found = np.stack(found, axis=2)
        found -= found.max(axis=2, keepdims=True)
        return found - np.log(np.exp(found).sum(axis=2, keepdims=True))

    return answers


def difference(learner):
    """Decision values of two classes from logarithms of their probabilities."""

    def answers(X, y, weights, X_new):
        found = learner(X, y, weights, X_new)
        return found[:, :, 1] - found[:, :, 0]

    return answers


def quadratic(X, y, weights, X_new):
    """Quadratic discriminant of two classes, a little regularised; decision values."""
    p, found = X.shape[1], []
    for k in (0, 1):
        side = weights * (y == k)
        size = np.maximum(side.sum(axis=1), 1.0)
        mean = side @ X / size[:, None]
        spread = (side @ products(X)).reshape(-1, p, p) / size[:, None, None]
        spread += 0.05 * np.eye(p) - mean[:, :, None] * mean[:, None, :]
        inverse = np.linalg.inv(spread)
        gaps = X_new[None] - mean[:, None, :]
        distance = np.einsum("mnj,mnj->mn", gaps @ inverse, gaps)
        level = np.log(size) - np.linalg.slogdet(spread)[1] / 2
        found.append(level[:, None] - distance / 2)
    return found[1] - found[0]


def stump(X, y, weights, X_new):
    """Best single threshold on one column by squared error; mean target on its side."""
    n_models, best = len(weights), np.full(len(weights), np.inf)
    column, cut, sides = np.zeros(n_models, int), np.zeros(n_models), np.zeros((n_models, 2))
    total, sums = weights.sum(axis=1), weights @ y
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable")
        own = weights[:, order]
        left, left_sums = np.cumsum(own, axis=1)[:, :-1], np.cumsum(own * y[order], axis=1)[:, :-1]
        right, right_sums = total[:, None] - left, sums[:, None] - left_sums
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = left_sums**2 / left + right_sums**2 / right
        gain[(left <= 0) | (right <= 0)] = -np.inf
        at = gain.argmax(axis=1)
        lines = np.arange(n_models)
        better = -gain[lines, at] < best
        best = np.where(better, -gain[lines, at], best)
        means = np.stack((left_sums / np.maximum(left, 1e-9), right_sums / np.maximum(right, 1e-9)))
        ordered = X[order, j]
        # The threshold is half-way to the next row of the training sample.
        following = _next_present(own, at)
        column = np.where(better, j, column)
        cut = np.where(better, (ordered[at] + ordered[following]) / 2, cut)
        sides = np.where(better[:, None], means[:, lines, at].T, sides)
    above = cut[:, None] < X_new[:, column].T
    return np.where(above, sides[:, 1:], sides[:, :1])


def _next_present(weights, at):
    later = np.arange(weights.shape[1])[None] > at[:, None]
    return np.argmax(later & (weights > 0), axis=1)


def selected(k, learner):
    """Fit `learner` on the `k` columns most correlated with the target."""

    def answers(X, y, weights, X_new):
        total = weights.sum(axis=1)[:, None]
        mean, level = weights @ X / total, weights @ y[:, None] / total
        cross = weights @ (X * y[:, None]) / total - mean * level
        spread = weights @ X**2 / total - mean**2
        chosen = np.argsort(-np.abs(cross) / np.sqrt(np.maximum(spread, 1e-12)), axis=1)[:, :k]
        found = np.empty((len(weights), len(X_new)))
        sets, number = np.unique(np.sort(chosen, axis=1), axis=0, return_inverse=True)
        for one, columns in enumerate(sets):
            lines = np.flatnonzero(number.ravel() == one)
            found[lines] = learner(X[:, columns], y, weights[lines], X_new[:, columns])
        return found

    return answers


class Regressor(RegressorMixin, BaseEstimator):
    """A learner of values as an estimator of scikit-learn."""

    def __init__(self, learner):
        self.learner = learner

    def fit(self, X, y):
        self.rows_ = X, y
        return self

    def _answers(self, X):
        return self.learner(*self.rows_, np.ones((1, len(self.rows_[1]))), X)[0]

    def predict(self, X):
        return self._answers(X)


class Classifier(ClassifierMixin, Regressor):
    """A learner of decision values of two classes, or of logarithms of probabilities."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return super().fit(X, y)

    def decision_function(self, X):
        answers = self._answers(X)
        return answers[:, 1] - answers[:, 0] if answers.shape[1:] == (2,) else answers

    def predict_proba(self, X):
        answers = self._answers(X)
        if answers.ndim == 2:
            return np.exp(answers[:, self.classes_])
        return np.column_stack((expit(-answers), expit(answers)))

    def predict(self, X):
        answers = self._answers(X)
        if answers.ndim == 2:
            return answers.argmax(axis=1)
        return (
            self.classes_[(answers > 0).astype(int)]
            if len(self.classes_) > 1
            else (np.full(len(X), self.classes_[0]))
        )


# ------------------------------------------------------------------ populations


def normal_noise(rng, n):
    return rng.normal(size=n)


def lognormal_noise(sigma):
    """Centred, of standard deviation 1."""
    mean, spread = np.exp(sigma**2 / 2), np.sqrt((np.exp(sigma**2) - 1) * np.exp(sigma**2))
    return lambda rng, n: (rng.lognormal(sigma=sigma, size=n) - mean) / spread


def gamma_noise(shape):
    return lambda rng, n: (rng.gamma(shape, size=n) - shape) / np.sqrt(shape)


def laplace_noise(rng, n):
    return rng.laplace(size=n) / np.sqrt(2)


def linear(p, scale=1.0, noise=normal_noise, decay=False, uneven=False):
    """Linear regression on p normal columns; `uneven`: noise grows with the first column."""
    slopes = (
        1 / np.arange(1, p + 1) if decay else np.r_[np.ones(min(p, 5)), np.zeros(max(p - 5, 0))]
    )

    def draw(rng, n):
        X = rng.normal(size=(n, p))
        own = scale * noise(rng, n)
        return X, X @ slopes + (own * np.exp(0.4 * X[:, 0]) if uneven else own), None

    return draw


def wavy(p, scale=1.0):
    def draw(rng, n):
        X = rng.normal(size=(n, p))
        signal = 2 * np.sin(1.5 * X[:, 0]) + X[:, 1] * (1 + X[:, -1])
        return X, signal + scale * rng.normal(size=n), None

    return draw


def counted(p):
    """Poisson counts of a log-linear mean."""

    def draw(rng, n):
        X = rng.normal(size=(n, p))
        return X, rng.poisson(np.exp(0.5 + 0.4 * X[:, 0] - 0.3 * X[:, 1])).astype(float), None

    return draw


def shifted(share, p, shift, n_shifted=3, scale=1.0):
    """Two normal classes; the rarer is shifted in some columns, and as wide as `scale`."""

    def draw(rng, n):
        y = (rng.random(n) < share).astype(int)
        X = rng.normal(size=(n, p)) * np.where(y, scale, 1.0)[:, None]
        X[:, :n_shifted] += shift * y[:, None]
        return X, y, None

    return draw


def sloped(p, size=1.0, level=0.0):
    """Labels of a logistic model with slopes of alternating sign on three columns."""

    def draw(rng, n):
        X = rng.normal(size=(n, p))
        odds = level + size * (X[:, :3] @ np.array([1, -1, 1])[: min(p, 3)])
        return X, (rng.random(n) < expit(odds)).astype(int), None

    return draw


def bent(p, flips):
    """Labels by a curved boundary, a share of them flipped."""

    def draw(rng, n):
        X = rng.normal(size=(n, p))
        y = X[:, 0] + X[:, 1] * X[:, 2] > 0
        return X, (y ^ (rng.random(n) < flips)).astype(int), None

    return draw


def classes(n_classes, p, shift):
    """Normal classes, each shifted in its own column."""

    def draw(rng, n):
        y = rng.integers(n_classes, size=n)
        X = rng.normal(size=(n, p))
        X[np.arange(n), y % p] += shift
        return X, y, None

    return draw


def in_groups(sizes, p, regression=False, inputs=0.7, effect=1.0, noise=normal_noise):
    """Groups whose sizes go through `sizes` again and again, with effects on inputs and target."""

    def draw(rng, n_groups):
        groups = np.repeat(np.arange(n_groups), np.resize(sizes, n_groups))
        n = len(groups)
        X = rng.normal(size=(n, p)) + inputs * rng.normal(size=(n_groups, p))[groups]
        own = effect * rng.normal(size=n_groups)[groups]
        signal = X[:, 0] + X[:, 1] - X[:, 2] + own
        if regression:
            return X, signal + noise(rng, n), groups
        return X, (rng.random(n) < expit(signal)).astype(int), groups

    return draw


# ------------------------------------------------------------------ losses


def _of_class(answers, y):
    return np.take_along_axis(
        answers, np.broadcast_to(y[None, :, None], (*answers.shape[:2], 1)), 2
    )[..., 0]


LOSSES = {
    "mean squared error": lambda answers, y: (answers - y) ** 2,
    "mean absolute error": lambda answers, y: np.abs(answers - y),
    "error": lambda answers, y: ((answers > 0) != y).astype(float),
    "error of means": lambda answers, y: ((answers > 0.5) != y).astype(float),
    "log loss": lambda answers, y: np.logaddexp(0, -(2 * y - 1) * answers),
    "Brier score": lambda answers, y: (expit(answers) - y) ** 2,
    "Poisson deviance": lambda answers, y: (
        2 * (y * (np.log(np.maximum(y, 1e-300)) - answers) * (y > 0) - y + np.exp(answers))
    ),
    "error of classes": lambda answers, y: (answers.argmax(axis=2) != y).astype(float),
    "log loss of classes": lambda answers, y: -_of_class(answers, y),
}
"""(answers, y) -> loss of every model on every row."""

UNIT = ("error", "error of means", "error of classes", "Brier score")
"""Losses between 0 and 1; the others have no upper bound."""

SHARES = ("balanced error", "1 - AUC", "1 - AP")
"""Metrics between 0 and 1 that are no means of losses, as 1 - R2 is none."""


# ------------------------------------------------------------------ designs


class Design(NamedTuple):
    """A cell: what is trained, on what, how it is judged, and how often it is trained."""

    learner: object
    draw: object
    size: int
    metric: str
    n_resamples: int = 200
    n_repeats: int = 5
    kind: str = "smooth"  # or "rough", "skewed", "groups", "ranks", "no resubstitution"

    @property
    def bounds(self):
        if self.metric in (*UNIT, *SHARES):
            return (0.0, 1.0)
        return (0.0, np.inf)


def truth(design, rng, n_sets=1000, n_fresh=1000):
    """Mean error of the method over fresh training sets, and its Monte Carlo error."""
    from .parts import error_and_influence

    errors = np.empty(n_sets)
    for number in range(n_sets):
        X, y, groups = design.draw(rng, design.size)
        if groups is None:
            X_new, y_new, _ = design.draw(rng, n_fresh)
        else:
            X_new, y_new, _ = design.draw(rng, max(n_fresh * design.size // len(y), design.size))
        answers = design.learner(X, y, np.ones((1, len(y))), X_new)
        errors[number] = error_and_influence(design.metric, answers, y_new)[0][0]
    return float(np.nanmean(errors)), float(np.nanstd(errors) / np.sqrt(n_sets))
