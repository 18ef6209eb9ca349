"""Learners and populations near as many columns as rows, kernel ridge regression, and trees.

As in `designs`, a learner is a function ``(X, y, weights, X_new) -> answers`` of one model per line
of `weights`, and a population a function ``(rng, size) -> X, y, groups``.
"""

import numpy as np
from scipy.special import expit
from sklearn.tree import DecisionTreeRegressor


def least_squares(X, y, weights, X_new):
    """Least squares with an intercept, the shortest where it interpolates; as `designs.ridge()`.

    A model at a time, by the normal equations where there are more distinct rows than columns, and
    by the inner products of rows otherwise: any weights interpolate there.
    """
    slopes, level = np.empty((len(weights), X.shape[1])), np.empty(len(weights))
    for line, weight in enumerate(weights):
        rows = weight > 0
        own, of_rows, target = X[rows], weight[rows], y[rows]
        middle, mean = of_rows @ own / of_rows.sum(), of_rows @ target / of_rows.sum()
        gaps, target = own - middle, target - mean
        if len(own) > X.shape[1]:
            scaled = gaps.T * of_rows
            slopes[line] = np.linalg.solve(scaled @ gaps, scaled @ target)
        else:
            gaps, target = gaps - gaps.mean(axis=0), target - target.mean()
            products = gaps @ gaps.T
            products += np.trace(products) / len(products) ** 2
            slopes[line] = gaps.T @ np.linalg.solve(products, target)
        level[line] = mean - middle @ slopes[line]
    return slopes @ X_new.T + level[:, None]


def kernel_ridge(width, penalty):
    """Ridge regression with a Gaussian kernel and an intercept at the mean."""

    def answers(X, y, weights, X_new):
        between = np.exp(-_squares(X, X) / (2 * width**2))
        to_new = np.exp(-_squares(X_new, X) / (2 * width**2))
        level = weights @ y / weights.sum(axis=1)
        root = np.sqrt(weights)
        matrix = root[:, :, None] * between * root[:, None, :] + penalty * np.eye(len(X))
        target = root * (y - level[:, None])
        found = np.linalg.solve(matrix, target[:, :, None])[..., 0]
        return (found * root) @ to_new.T + level[:, None]

    return answers


def _squares(X, other):
    gaps = (X**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * X @ other.T
    return np.maximum(gaps, 0.0)


def tree(X, y, weights, X_new):
    """Mean target in the leaf; at least 20 rows to split and 7 in a leaf, as rpart has it."""
    found = np.empty((len(weights), len(X_new)))
    for line, weight in enumerate(weights.astype(int)):
        rows = np.repeat(np.arange(len(X)), weight)
        model = DecisionTreeRegressor(min_samples_split=20, min_samples_leaf=7, random_state=0)
        found[line] = model.fit(X[rows], y[rows]).predict(X_new)
    return found


def on(start, stop, learner):
    """`learner` on some of the columns."""
    return lambda X, y, weights, X_new: learner(X[:, start:stop], y, weights, X_new[:, start:stop])


def friedman(rng, n):
    """Friedman's first function of ten uniform columns."""
    X = rng.random((n, 10))
    signal = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, signal + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=n), None


def chen(is_null):
    """Sixty columns of six hidden ones; with `is_null` a target that no column knows.

    chen_10 and chen_10_null of Schulz-Kuempel and others (2024, arXiv 2409.18836).
    """

    def draw(rng, n):
        hidden = rng.random((n, 6))
        reach = np.repeat(0.01 + 0.5 * np.arange(10) / 9, 6)
        X = np.tile(hidden, 10) + reach * rng.normal(0.3, 1.0, size=(n, 60))
        if is_null:
            hidden = rng.normal(0.2, 1.0, size=(n, 3))
        steep = 4 / (1 + np.exp(-20 * (hidden[:, 1] - 0.5)))
        signal = 0.25 * np.exp(4 * hidden[:, 0]) + steep + 3 * hidden[:, 2]
        return X, signal + 0.2 * rng.normal(size=n), None

    return draw


def checkered(p):
    """Labels by the signs of two columns, 10 % flipped."""

    def draw(rng, n):
        X = rng.normal(size=(n, p))
        y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
        return X, (y ^ (rng.random(n) < 0.1)).astype(int), None

    return draw


def alike(p, size):
    """Labels, or with `size` of 0 values, that depend on all columns alike."""

    def draw(rng, n):
        X = rng.normal(size=(n, p))
        signal = X.sum(axis=1)
        if size:
            return X, (rng.random(n) < expit(size * signal)).astype(int), None
        return X, 0.5 * signal + rng.normal(size=n), None

    return draw
