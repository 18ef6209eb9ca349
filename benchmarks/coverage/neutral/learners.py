"""The four learners, each on many training samples of one data set at once.

A learner is ``fit(process, X, y, counts, X_new, seed) -> answers``: one line of `counts` is a
training sample, how often it holds each row; `answers` (n_samples, n_new) are the predicted numbers
or the probabilities of label 1. Tests hold each against scikit-learn's estimator on repeated rows.

| here | in the paper (R) | what differs |
|---|---|---|
| `LinearRegression` | `lm` | too few rows: the shortest solution, where R sets columns to 0 |
| `LogisticRegression(C=inf)` | `glm` | too few rows: the same |
| `Ridge`, `LogisticRegression` behind `StandardScaler` | `glmnet`, `alpha=0` | nothing: n lambda \
(over the standard deviation of the numbers predicted, as glmnet has it) |
| `DecisionTree*` (`min_samples_split=20`, `min_samples_leaf=7`, `max_depth=30`, `ccp_alpha=.01` \
of the impurity of the root) | `rpart` | labels: pruned by impurity, where R counts wrong labels, \
so that log losses are larger |
| `RandomForest*` (50 trees, `max_features="sqrt"`, `min_samples_split` 6 for numbers, 11 for \
labels) | `ranger` (nodes above 5 rows are split, above 10 for probabilities) | nodes count \
distinct rows, where R counts copies |

Where labels are separated, a logistic model without penalty has no finite coefficients. As R's
`glm` does, Newton's method then stops after 25 steps or when the deviance changes by less than 1e-8
of itself (plus .1); probabilities are 0 and 1 by then, and are cut at 1e-15, as in the paper. A
penalty of 1e-7 keeps the equations solvable, and the boundary stays that of separated rows. That of
`glm` does not: its last steps lose columns to rounding, and it errs in 27 % on "colon" at 100 rows,
where this and scikit-learn err in 8 %.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.tree._criterion import MSE
from sklearn.tree._splitter import BestSplitter
from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

CHUNK = 200  # training samples whose matrices are held at once
STEPS, HARDLY = 25, 1e-7


def _in_chunks(fit):
    """A learner of few training samples as one of many."""

    def fit_all(process, X, y, counts, X_new, seed=0):
        parts = np.array_split(counts, max(1, -(-len(counts) // CHUNK)))
        return np.concatenate([fit(process, X, y, part, X_new) for part in parts])

    return fit_all


def _products(X):
    return (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)


# ------------------------------------------------------------------ linear


@_in_chunks
def _least_squares(process, X, y, counts, X_new):
    middle = X.mean(axis=0)
    X, X_new, p = X - middle, X_new - middle, X.shape[1]
    answers = np.empty((len(counts), len(X_new)))
    distinct = (counts > 0).sum(axis=1)
    enough = distinct > p + 1
    ones, ones_new = np.ones((len(X), 1)), np.ones((len(X_new), 1))
    if enough.any():
        root = np.sqrt(counts[enough])
        design = root[:, :, None] * np.hstack((ones, X))
        q, r = np.linalg.qr(design)
        right = np.einsum("bij,bi->bj", q, root * y)
        slopes = np.linalg.solve(r, right[:, :, None])[..., 0]
        answers[enough] = slopes @ np.hstack((ones_new, X_new)).T
    for line in np.flatnonzero(~enough):
        # The shortest slopes that fit every row: weights and the centre do not matter.
        rows = np.flatnonzero(counts[line])
        inside = X[rows] - X[rows].mean(axis=0)
        level = y[rows].mean()
        gram = inside @ inside.T + 1.0
        slopes = inside.T @ np.linalg.solve(gram, y[rows] - level)
        answers[line] = (X_new - X[rows].mean(axis=0)) @ slopes + level
    return answers


@_in_chunks
def _logistic(process, X, y, counts, X_new):
    scale = X.std(axis=0)
    X, X_new = (np.column_stack((np.ones(len(own)), own / scale)) for own in (X, X_new))
    damping = np.full(X.shape[1], HARDLY)
    damping[0] = 0.0
    return expit(_newton(X, y, counts, damping[None]) @ X_new.T)


def _newton(X, y, counts, damping, steps=STEPS):
    """Slopes of logistic models, (n_samples, n_columns); `damping` is the penalty of each."""
    n_models, p = len(counts), X.shape[1]
    found, pairs = np.zeros((n_models, p)), _products(X)
    damping = np.broadcast_to(damping, (n_models, p))
    signs = 1 - 2 * y
    deviance = np.full(n_models, np.inf)
    open_ = np.arange(n_models)
    diagonal = np.arange(p)
    for _ in range(steps):
        own, slopes = counts[open_], found[open_]
        values = slopes @ X.T
        mean = expit(values)
        gradient = (own * (y - mean)) @ X - slopes * damping[open_]
        matrix = ((own * mean * (1 - mean)) @ pairs).reshape(-1, p, p)
        matrix[:, diagonal, diagonal] += damping[open_] + 1e-12
        step = np.linalg.solve(matrix, gradient[:, :, None])[..., 0]
        new = slopes + step
        now = _deviance(new, X, signs, own, damping[open_])
        worse = now > deviance[open_] + 1e-9
        for _ in range(20):
            if not worse.any():
                break
            step[worse] /= 2
            new[worse] = slopes[worse] + step[worse]
            now[worse] = _deviance(new[worse], X, signs, own[worse], damping[open_][worse])
            worse = now > deviance[open_] + 1e-9
        found[open_] = new
        change = np.abs(now - deviance[open_]) / (np.abs(now) + 0.1)
        deviance[open_] = now
        open_ = open_[change >= 1e-8]
        if not len(open_):
            break
    return found


def _deviance(slopes, X, signs, counts, damping):
    losses = np.logaddexp(0, signs * (slopes @ X.T))
    return 2 * np.einsum("ij,ij->i", counts, losses) + np.einsum("ij,ij->i", damping, slopes**2)


def linear(process, X, y, counts, X_new, seed=0):
    """Least squares, or logistic regression."""
    fit = _logistic if process.is_labels else _least_squares
    return fit(process, X, y, counts, X_new, seed)


# ------------------------------------------------------------------ ridge


@_in_chunks
def _ridge_of_numbers(process, X, y, counts, X_new):
    total = counts.sum(axis=1)[:, None]
    middle, level = X.mean(axis=0), y.mean()
    X, X_new, y = X - middle, X_new - middle, y - level
    centre, mean = counts @ X / total, counts @ y[:, None] / total
    p = X.shape[1]
    squares = (counts @ _products(X)).reshape(-1, p, p)
    squares -= total[:, :, None] * centre[:, :, None] * centre[:, None, :]
    right = counts @ (X * y[:, None]) - total * centre * mean
    spread = np.sqrt(counts @ y[:, None] ** 2 / total - mean**2)
    penalty = total * process.penalties[len(X)] / spread
    # The penalty is on the slopes of columns of variance 1.
    variance = np.einsum("bii->bi", squares) / total
    diagonal = np.arange(p)
    squares[:, diagonal, diagonal] += penalty * variance
    slopes = np.linalg.solve(squares, right[:, :, None])[..., 0]
    return slopes @ X_new.T + level + mean - np.sum(slopes * centre, axis=1)[:, None]


@_in_chunks
def _ridge_of_labels(process, X, y, counts, X_new):
    total = counts.sum(axis=1)[:, None]
    scale = X.std(axis=0)
    X, X_new = X / scale, X_new / scale
    centre = counts @ X / total
    variance = counts @ X**2 / total - centre**2
    penalty = total * process.penalties[len(X)] * variance
    X, X_new = (np.column_stack((np.ones(len(own)), own)) for own in (X, X_new))
    # A label alone has no finite intercept.
    damping = np.column_stack((np.full(len(counts), HARDLY), penalty))
    return expit(_newton(X, y, counts, damping, steps=60) @ X_new.T)


def ridge(process, X, y, counts, X_new, seed=0):
    """Ridge regression, or logistic regression, with the penalty of the paper."""
    fit = _ridge_of_labels if process.is_labels else _ridge_of_numbers
    return fit(process, X, y, counts, X_new, seed)


# ------------------------------------------------------------------ trees


def _grower(n_rows, n_columns, n_features, split, leaf, depth, random):
    """``grow(X, y, weight)``: trees as scikit-learn grows them, without its checks.

    The variance of labels is half of Gini's impurity.
    """
    splitter = BestSplitter(MSE(1, n_rows), n_features, leaf, 0.0, random, None)
    builder = DepthFirstTreeBuilder(splitter, split, leaf, 0.0, depth, 0.0)

    def grow(X, y, weight=None):
        found = Tree(n_columns, np.array([1], dtype=np.intp), 1)
        builder.build(found, X, y, weight, None)
        return found

    return grow


def _pruned_values(found, share):
    """Value of each node where the weakest links up to `share` of the root's impurity are cut.

    For one penalty a leaf, a node keeps its branches where these cost less than it does: the
    smallest subtree of the least cost (Breiman et al. 1984), bottom up.
    """
    left, right = found.children_left.tolist(), found.children_right.tolist()
    impurity = found.impurity.tolist()
    size = found.weighted_n_node_samples.tolist()
    values = found.value[:, 0, 0].tolist()
    alpha = share * impurity[0]
    cost, cut = [0.0] * len(left), [False] * len(left)
    for node in range(len(left) - 1, -1, -1):
        alone = impurity[node] * size[node] / size[0] + alpha
        if left[node] < 0:
            cost[node] = alone
            continue
        below = cost[left[node]] + cost[right[node]]
        cut[node] = alone <= below + 1e-12 * alone
        cost[node] = min(alone, below)
    for node, start in enumerate(left):
        if start >= 0 and cut[node]:
            for child in (start, right[node]):
                values[child], cut[child] = values[node], True
    return np.array(values)


def tree(process, X, y, counts, X_new, seed=0):
    """A pruned regression or classification tree."""
    X, X_new = np.asarray(X, dtype=np.float32), np.asarray(X_new, dtype=np.float32)
    y = np.asarray(y, dtype=float)[:, None]
    random = np.random.RandomState(seed)
    answers = np.empty((len(counts), len(X_new)))
    rows = np.arange(len(X))
    for line, own in enumerate(counts.astype(int)):
        taken = np.repeat(rows, own)
        grow = _grower(len(taken), X.shape[1], X.shape[1], 20, 7, 30, random)
        found = grow(X[taken], y[taken])
        answers[line] = _pruned_values(found, 0.01)[found.apply(X_new)]
    return answers


N_TREES = 50


def forest(process, X, y, counts, X_new, seed=0):
    """The mean of 50 trees of bootstrap samples, each split by the best of sqrt(p) columns."""
    X, X_new = np.asarray(X, dtype=np.float32), np.asarray(X_new, dtype=np.float32)
    y = np.asarray(y, dtype=float)[:, None]
    n_features, split = int(np.sqrt(X.shape[1])), 11 if process.is_labels else 6
    # One generator, seeded anew for each tree: to make one takes as long as to grow a tree.
    seeds, random = np.random.RandomState(seed), np.random.RandomState()
    answers, depth = np.zeros((len(counts), len(X_new))), np.iinfo(np.int32).max
    rows = np.arange(len(X))
    for line, own in enumerate(counts.astype(int)):
        taken = np.repeat(rows, own)
        X_own, y_own, n = X[taken], y[taken], len(taken)
        grow = _grower(n, X.shape[1], n_features, split, 1, depth, random)
        # Of each tree the samples and the columns have the same seed, as scikit-learn has it.
        for start in seeds.randint(np.iinfo(np.int32).max, size=N_TREES):
            random.seed(start)
            inside = random.randint(0, n, n, dtype=np.int32)
            weight = np.bincount(inside, minlength=n).astype(float)
            random.seed(start)
            grown = grow(X_own, y_own, weight)
            answers[line] += grown.value[:, 0, 0][grown.apply(X_new)]
    return answers / N_TREES


LEARNERS = {"linear": linear, "ridge": ridge, "tree": tree, "forest": forest}
