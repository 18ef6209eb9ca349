"""Every number of a fit is that of a loop over the models that it trained, for every metric.

Models keep the rows that they were trained on. From these and from their answers one program makes
all: scores, errors, degrees of freedom, guards and limits. A metric is a function of weights of
rows, whose derivatives, exact by a complex step, are its influence values; metrics without one
leave out a unit at a time.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from identity_cases import close, quiet
from scipy import optimize, special, stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import (
    average_precision_score,
    cohen_kappa_score,
    fbeta_score,
    get_scorer,
    hamming_loss,
    make_scorer,
    precision_score,
    zero_one_loss,
)

import skboot

pytestmark = pytest.mark.identity

# ------------------------------------------------------------------ methods that are looked at

RUNS = []


def kept(X, model):
    """Note on which rows, by their numbers in the last column, a model is trained."""
    RUNS.append((X[:, -1].astype(int), model))
    return X[:, : model.size]


class Means(ClassifierMixin, BaseEstimator):
    """The class whose mean is nearest; chance moves the means."""

    def __init__(self, noise=0.0, size=3, random_state=None):
        self.noise, self.size, self.random_state = noise, size, random_state

    def fit(self, X, y):
        X = kept(X, self)
        self.classes_ = np.unique(y)
        means = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        chance = np.random.default_rng(self.random_state).normal(size=means.shape)
        self.means_ = means + self.noise * chance
        return self

    def predict_proba(self, X):
        far = -np.sum((X[:, None, : self.size] - self.means_) ** 2, axis=2)
        return special.softmax(far, axis=1)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Slope(RegressorMixin, BaseEstimator):
    """Least squares that is drawn to 0; chance moves the slopes."""

    def __init__(self, noise=0.0, size=3, random_state=None):
        self.noise, self.size, self.random_state = noise, size, random_state

    def fit(self, X, y):
        X = kept(X, self)
        self.slopes_ = np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ (y - y.mean()))
        chance = np.random.default_rng(self.random_state).normal(size=X.shape[1])
        self.slopes_ = self.slopes_ + self.noise * chance
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        return self.mean_ + X[:, : self.size] @ self.slopes_


class Tables(Slope):
    """The same for several columns, as values or as labels that a row has."""

    def __init__(self, noise=0.0, size=3, is_set=False, random_state=None):
        super().__init__(noise, size, random_state)
        self.is_set = is_set

    def fit(self, X, y):
        X = kept(X, self)
        self.mean_ = y.mean(axis=0)
        self.slopes_ = np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ (y - self.mean_))
        chance = np.random.default_rng(self.random_state).normal(size=self.slopes_.shape)
        self.slopes_ += self.noise * chance
        return self

    def predict(self, X):
        values = super().predict(X)
        return (values > 0.5).astype(int) if self.is_set else values


# ------------------------------------------------------------------ metrics by weights


def table(y, a, w, size=None):
    """Tables of classes, truth first, of each line of weights: (n_lines, size, size)."""
    size = int(y.max()) + 1 if size is None else size
    every = np.eye(size * size)[y * size + a]
    return (w @ every).reshape(len(w), size, size)


def mean_of(values):
    return lambda y, a, w: w @ values(y, a) / w.sum(axis=1)


def f_of(y, a, w, size):
    counts = table(y, a, w, size)
    right = np.diagonal(counts, axis1=1, axis2=2)
    return 2 * right / (counts.sum(axis=1) + counts.sum(axis=2)), right, counts


def recalls(y, a, w, size):
    _, right, counts = f_of(y, a, w, size)
    return right / counts.sum(axis=2)


def matthews(y, a, w):
    counts = table(y, a, w)
    true, said, n = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=(1, 2))
    right = np.trace(counts, axis1=1, axis2=2)
    over = (n**2 - (true**2).sum(axis=1)) * (n**2 - (said**2).sum(axis=1))
    return (n * right - (true * said).sum(axis=1)) / np.sqrt(over)


def kappa(y, a, w):
    counts = table(y, a, w)
    n = counts.sum(axis=(1, 2))
    right = np.trace(counts, axis1=1, axis2=2) / n
    chance = (counts.sum(axis=1) * counts.sum(axis=2)).sum(axis=1) / n**2
    return (right - chance) / (1 - chance)


def r2(y, a, w):
    mean = (w @ y / w.sum(axis=1))[:, None]
    return 1 - (w @ (y - a) ** 2) / np.sum(w * (y - mean) ** 2, axis=1)


def explained(y, a, w):
    n = w.sum(axis=1)
    of_gaps, of_truth = (w @ v**2 / n - (w @ v / n) ** 2 for v in (y - a, y))
    return 1 - of_gaps / of_truth


def area(y, a, w):
    higher = (np.sign(a[y == 1][:, None] - a[y == 0]) + 1) / 2
    first, second = w[:, y == 1], w[:, y == 0]
    if not higher.size:
        return np.full(len(w), np.nan)
    return np.sum(first @ higher * second, axis=1) / (first.sum(axis=1) * second.sum(axis=1))


def average_precision(y, a, w):
    assert (w == 1).all()
    positive = a[y == 1]
    above, right_above = (own[None] >= positive[:, None] for own in (a, positive))
    return np.array([np.mean(right_above.sum(axis=1) / above.sum(axis=1))])


def r2_of_columns(y, a, w):
    return np.mean([r2(*own, w) for own in zip(y.T, a.T, strict=True)], axis=0)


def f_of_labels(y, a, w):
    both, size = w @ (y * a), w @ (y + a)
    ratios = np.divide(2 * both, size, out=np.zeros_like(both, dtype=w.dtype), where=size != 0)
    return ratios.mean(axis=1)


def median_error(model, X, y):
    return -np.median(np.abs(y - model.predict(X)))


UNIT, AROUND = (0.0, 1.0), (-1.0, 1.0)


class Metric(NamedTuple):
    """A metric: how it is asked for, and what it is made of.

    Attributes
    ----------
    ask : {"label", "value", "probability", "columns"}
    score : callable
        From truth, answers and weights (n_lines, n) to the score of each line.
    bounds : tuple of float
    kind : {"mean", "sums", "ranks", "jumps"}
        Means of rows, functions of sums over rows, means over pairs, and all else.
    classes : int
        0 for values.
    rule : str
        Of the guard and the degrees of freedom.
    """

    ask: str
    score: Callable[..., Any]
    bounds: tuple[float, float]
    kind: str = "sums"
    classes: int = 2
    rule: str = ""


def right(y, a):
    return (y == a) * 1.0


def log_of(y, a):
    return np.log(a[np.arange(len(y)), y])


METRICS = {
    "accuracy": Metric("label", mean_of(right), UNIT, "mean", 2, "share"),
    "neg_log_loss": Metric("columns", mean_of(log_of), (-np.inf, 0.0), "mean", 3),
    "neg_brier_score": Metric(
        "probability", mean_of(lambda y, a: -((y - a) ** 2)), (-1.0, 0.0), "mean"
    ),
    "f1": Metric("label", lambda y, a, w: f_of(y, a, w, 2)[0][:, 1], UNIT, rule="f1"),
    "precision": Metric(
        "label",
        lambda y, a, w: w @ ((a == 1) * (y == 1)) / (w @ (a == 1)),
        UNIT,
        rule="precision",
    ),
    "recall": Metric("label", lambda y, a, w: recalls(y, a, w, 2)[:, 1], UNIT, rule="recall"),
    "f1_micro": Metric("label", mean_of(right), UNIT, "sums", 3, "f1_micro"),
    "f1_macro": Metric(
        "label", lambda y, a, w: f_of(y, a, w, 3)[0].mean(axis=1), UNIT, "sums", 3, "classes"
    ),
    "recall_macro": Metric(
        "label", lambda y, a, w: recalls(y, a, w, 3).mean(axis=1), UNIT, "sums", 3, "classes"
    ),
    "balanced_accuracy": Metric(
        "label", lambda y, a, w: recalls(y, a, w, 2).mean(axis=1), UNIT, "sums", 2, "balanced"
    ),
    "matthews_corrcoef": Metric("label", matthews, AROUND, rule="matthews"),
    "cohen_kappa_score": Metric("label", kappa, AROUND, rule="kappa"),
    "neg_mean_absolute_error": Metric(
        "value", mean_of(lambda y, a: -np.abs(y - a)), (-np.inf, 0.0), "mean", 0
    ),
    "neg_mean_squared_error": Metric(
        "value", mean_of(lambda y, a: -((y - a) ** 2)), (-np.inf, 0.0), "mean", 0
    ),
    "neg_root_mean_squared_error": Metric(
        "value",
        lambda y, a, w: -np.sqrt(w @ (y - a) ** 2 / w.sum(axis=1)),
        (-np.inf, 0.0),
        "root",
        0,
    ),
    "r2": Metric("value", r2, (-np.inf, 1.0), "sums", 0),
    "explained_variance": Metric("value", explained, (-np.inf, 1.0), "sums", 0),
    "roc_auc": Metric("probability", area, UNIT, "ranks", rule="ranks"),
    "average_precision": Metric("probability", average_precision, UNIT, "jumps", rule="ranks"),
}
# Of columns of values or labels; of estimator, X and y, a mean over samples and folds.
TABLES, SETS, CALLABLES = -1, -2, -3
METRICS |= {
    "r2 of columns": Metric("value", r2_of_columns, (-np.inf, 1.0), "sums", TABLES),
    "accuracy of sets": Metric(
        "value", mean_of(lambda y, a: (y == a).all(axis=1) * 1.0), UNIT, "mean", SETS, "share"
    ),
    "f1_macro of sets": Metric("value", f_of_labels, UNIT, "sums", SETS),
    "median": Metric(
        "value",
        lambda y, a, w: -np.median(np.abs(y - a))[None],
        (-np.inf, np.inf),
        "folds",
        CALLABLES,
    ),
}
SCORING = {"median": median_error, "cohen_kappa_score": make_scorer(cohen_kappa_score)}
kappa_of = cohen_kappa_score


def derivatives(score, y, a, w):
    """Derivative of a score by the weight of each row, exact to the last digits."""
    lines = w + 1e-30j * np.eye(len(y))
    return np.imag(score(y, a, lines)) / 1e-30


# ------------------------------------------------------------------ a fit and its models


class Fit(NamedTuple):
    """A method by one metric, and what its models answer for all rows.

    Attributes
    ----------
    scorer : BootstrapScorer
    result : EvaluationResult
    metric : Metric
    y : ndarray of shape (n,)
        Numbers of classes, or values.
    unit : ndarray of shape (n,)
    counts : ndarray of shape (b, n)
        How often each row is in each bootstrap sample.
    full, drawn, folds : ndarray
        Answers by run of all rows: (n_seeds, n, ...), (b, n_seeds, n, ...), and those out of fold,
        (n_repeats * n_seeds, n, ...).
    places : ndarray of shape (n_repeats * n_seeds, n)
        Number of the fold of each row.
    """

    scorer: Any
    result: Any
    metric: Metric
    y: Any
    unit: Any
    counts: Any
    full: Any
    drawn: Any
    folds: Any
    places: Any

    @property
    def n_units(self):
        return self.unit.max() + 1

    def by_unit(self, values):
        """Sums over the rows of each unit, (..., n_units)."""
        return values @ np.eye(self.n_units)[self.unit]


def rows_for(classes, gap, seed=6):
    """Truth, and columns that tell it by so much; the last one is the number of the row."""
    n, rng = 42, np.random.default_rng([abs(classes), seed])
    if classes in (TABLES, SETS):
        X = rng.normal(size=(n, 3))
        y = X + rng.normal(size=(n, 3))
        y = (y > 0.3).astype(int) if classes == SETS else y
    elif classes <= 0:
        X = rng.normal(size=(n, 3))
        y = X[:, 0] + rng.standard_t(5, n) + 3
    else:
        y = rng.permutation(np.repeat([0, 1, 2], [26, 16, 0] if classes == 2 else 14))
        X = gap * np.eye(3)[y] + rng.normal(size=(n, 3))
    return np.column_stack((X, np.arange(n))), y


def answers_of(model, X, ask, classes):
    if ask in ("label", "value"):
        said = model.predict(X)
        return np.searchsorted(classes, said) if ask == "label" else said
    columns = np.zeros((len(X), len(classes)))
    columns[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X)
    return columns[:, 1] if ask == "probability" else columns


B = 30


def groups_of(n, seed):
    """Most of one row, some of two."""
    return np.random.default_rng(seed).permutation(np.r_[np.arange(n - 12), np.arange(12)])


class Trained(NamedTuple):
    """What a call says, by metric, and what each model that it trained was given and answers."""

    found: Any
    y: Any
    groups: Any
    inside: Any
    answers: dict[str, Any]


@cache
def trained(function, classes, grouped, n_seeds, gap, strategy="cv-bootstrap"):
    """One call for all metrics of so many classes, of one method or of two."""
    X, y = rows_for(classes, gap)
    noise = 0.3 if n_seeds > 1 else 0.0
    of_kind = {0: Slope, TABLES: Tables, SETS: partial(Tables, is_set=True), CALLABLES: Slope}
    of_kind = of_kind.get(classes, Means)
    scoring = {
        name: SCORING.get(name, name.split(" of ")[0])
        for name in METRICS
        if METRICS[name].classes == classes
    }
    options = {"n_train_resamples": B, "n_cv_repeats": 2, "n_seeds": n_seeds, "random_state": 0}
    options |= {"scoring": scoring, "strategy": strategy}
    groups = groups_of(len(y), 0) if grouped else None
    RUNS.clear()
    if function is skboot.compare_methods:
        methods = {"three": of_kind(noise), "two": of_kind(noise, size=1 + (classes < 3))}
        found = quiet(function, methods, X, y, groups=groups, **options)
    else:
        found = quiet(function(of_kind(noise), **options).fit, X, y, groups=groups)
    inside = np.array([np.bincount(rows, minlength=len(y)) for rows, _ in RUNS])
    asked = {METRICS[name].ask for name in scoring}
    answers = {
        ask: np.array([answers_of(model, X, ask, np.unique(y)) for _, model in RUNS])
        for ask in asked
    }
    return Trained(found, y, groups, inside, answers)


def fitted(name, grouped=False, n_seeds=1, gap=1.5, strategy="cv-bootstrap"):
    classes = METRICS[name].classes
    of_call = trained(skboot.BootstrapScorer, classes, grouped, n_seeds, gap, strategy)
    return read(name, of_call, slice(None), n_seeds)


def read(name, of_call, some, n_seeds):
    """The fit of a method, by some of the models that the call trained."""
    found, y, groups, inside, answers = of_call
    inside, said, n = inside[some], answers[METRICS[name].ask][some], len(y)
    full, drawn, folds = np.split(np.arange(len(inside)), [n_seeds, n_seeds * (1 + B)])
    out, places = [], []
    if len(folds):
        k = len(folds) // (2 * n_seeds)
        for those in folds.reshape(2, k, n_seeds).transpose(0, 2, 1).reshape(-1, k):
            place = np.argmin(inside[those], axis=0)
            assert (inside[those].sum(axis=0) == k - 1).all()
            places.append(place)
            out.append(said[those[place], np.arange(n)])
    drawn = drawn.reshape(B, n_seeds)
    for of_seed in drawn.T:
        np.testing.assert_array_equal(inside[of_seed], inside[drawn[:, 0]])
    result = found.result_[name] if hasattr(found, "result_") else found[name]
    return Fit(
        found, result, METRICS[name], y, np.arange(n) if groups is None else groups,
        inside[drawn[:, 0]], said[full], said[drawn], np.array(out), np.array(places),
    )  # fmt: skip


def value(fit, answers, rows=slice(None)):
    y, a = fit.y[rows], answers[rows]
    return float(fit.metric.score(y, a, np.ones((1, len(y))))[0])


def influence(fit, answers, outside):
    """Of each unit outside on the score of the rows outside, (n_units,); 0 inside."""
    found, rows = np.zeros(fit.n_units), np.flatnonzero(outside)
    units = np.unique(fit.unit[rows])
    grouped = fit.n_units < len(fit.y)
    if fit.metric.kind in ("jumps", "folds") or (fit.metric.kind == "ranks" and grouped):
        whole = value(fit, answers, rows)
        for u in units:
            less = value(fit, answers, rows[fit.unit[rows] != u])
            found[u] = (len(units) - 1) * (whole - less)
        return found
    y, a = fit.y[rows], answers[rows]
    by_row = np.zeros(len(fit.y))
    by_row[rows] = derivatives(fit.metric.score, y, a, np.ones(len(y)))
    return len(units) * fit.by_unit(by_row)


# ------------------------------------------------------------------ out of bag


def left_out(fit):
    """Scores of samples on the rows left out (b,), and influence of units on them (b, n_units)."""
    outside = fit.counts == 0
    b, n_seeds = fit.drawn.shape[:2]
    scores = np.array([[value(fit, fit.drawn[k, s], outside[k]) for s in range(n_seeds)]
                       for k in range(b)])  # fmt: skip
    moves = np.array([[influence(fit, fit.drawn[k, s], outside[k]) for s in range(n_seeds)]
                      for k in range(b)])  # fmt: skip
    return scores, moves


def out_of_bag(fit, scores, moves, other=None):
    """Err(1) with its standard error, as scores; of a difference where there is another fit."""
    b, n = fit.counts.shape
    outside, u = fit.counts == 0, fit.n_units
    first = np.unique(fit.unit, return_index=True)[1]
    drawn, sizes = fit.counts[:, first], np.bincount(fit.unit)
    if fit.metric.kind in ("ranks", "jumps", "folds"):
        psi, of_unit = moves.mean(axis=1), outside[:, first]
        times = of_unit.sum(axis=0)
        mean = np.where(of_unit, psi, 0).sum(axis=0) / times
        point = scores.mean()
        base = (mean - mean.mean()) / u
        slope = scores.mean(axis=1) - np.array([mean[own].mean() for own in of_unit])
        noise = np.where(of_unit, psi - mean, 0) * b / (u * times)
        noise_of_sample, share = noise.sum(axis=1), np.full(u, 1 / u)
    else:
        losses, point = row_losses(fit, outside)
        if other is not None:
            others, other_point = row_losses(other, outside)
            losses, point = losses - others, point - other_point
        times = outside.sum(axis=0)
        by_row = np.where(outside, losses, 0).sum(axis=0) / times
        gaps = np.where(outside, losses - by_row, 0)
        base = fit.by_unit(by_row - by_row.mean()) / n
        slope = (1 - 1 / u) ** -u * gaps.sum(axis=1) / n
        noise = fit.by_unit(gaps * b / (n * times))
        noise_of_sample, share = noise.sum(axis=1), sizes / n
    moved = (drawn - drawn.mean(axis=0)) * (slope - slope.mean())[:, None]
    parts = base + moved.mean(axis=0)
    linear = moved + (2 + 1 / (u - 1)) * noise
    linear -= noise_of_sample[:, None] * (share + 1 / (u - 1))
    chance = linear.var(axis=0, ddof=1).sum() / b
    squares = max(np.sum(parts**2) - chance, np.sum(base**2))
    return point, np.sqrt(squares)


def row_losses(fit, outside):
    """Values of rows by sample whose mean over rows, each over the models without it, is the score.

    Of a function of sums they are its derivatives, at the sums over all rows and models.
    """
    b, n_seeds, n = fit.drawn.shape[:3]
    times = outside.sum(axis=0)
    weight = np.repeat(outside / times, n_seeds, axis=0).ravel() / n_seeds
    y = np.concatenate([fit.y] * (b * n_seeds))
    a = fit.drawn.reshape(b * n_seeds * n, *fit.drawn.shape[3:])
    point = float(fit.metric.score(y, a, weight[None])[0])
    # A row more, of every answer there is, moves the score by its derivative.
    kinds, of_kind = np.unique(np.column_stack((y, a)), axis=0, return_inverse=True)
    n_columns = fit.y[0].size
    truth = kinds[:, :n_columns].astype(fit.y.dtype).reshape(-1, *fit.y.shape[1:])
    answer = kinds[:, n_columns:].astype(a.dtype).reshape(-1, *a.shape[1:])
    moves = np.empty(len(kinds))
    for some in np.array_split(np.arange(len(kinds)), 1 + len(kinds) // 100):
        lines = np.hstack((np.tile(weight, (len(some), 1)), 1e-30j * np.eye(len(some))))
        longer = np.concatenate((y, truth[some])), np.concatenate((a, answer[some]))
        moves[some] = np.imag(fit.metric.score(*longer, lines)) / 1e-30
    losses = point + n * moves[of_kind.ravel()].reshape(b, n_seeds, n)
    return losses.mean(axis=1), point


# ------------------------------------------------------------------ cross-validation


def folded(fit):
    """Score by cross-validation, and the influence of units by repeat."""
    every = np.ones(len(fit.y), dtype=bool)
    if fit.metric.kind == "folds":
        return within_folds(fit)
    scores = [value(fit, answers) for answers in fit.folds]
    rows = fit._replace(unit=np.arange(len(fit.y)))
    moves = np.array([influence(rows, answers, every) for answers in fit.folds])
    if fit.metric.kind == "ranks":
        scores = [
            [value(fit, answers, place == k) for k in range(place.max() + 1)]
            for answers, place in zip(fit.folds, fit.places, strict=True)
        ]
    return np.nanmean(scores), fit.by_unit(moves) * fit.n_units / len(fit.y)


def within_folds(fit):
    """Mean over folds, and the influence of units within their folds."""
    scores, moves, n = [], np.zeros((len(fit.folds), fit.n_units)), len(fit.y)
    for k, (answers, place) in enumerate(zip(fit.folds, fit.places, strict=True)):
        by_row = np.empty(n)
        for fold in range(place.max() + 1):
            inside = place == fold
            scores.append(value(fit, answers, inside))
            own = influence(fit, answers, inside)
            sizes = np.bincount(fit.unit[inside], minlength=fit.n_units)
            shares = own / np.maximum(sizes, 1) * inside.sum() / np.sum(sizes > 0)
            by_row[inside] = shares[fit.unit[inside]]
        moves[k] = fit.by_unit(by_row - by_row.mean())
    return np.mean(scores), moves * fit.n_units / n


def spread(counts, scores, moves, of_chance, factors):
    """Residuals of samples, their noise, and what units do by training."""
    outside, b = counts == 0, len(counts)
    moves = np.where(outside, moves * factors[:, None], np.nan)
    mean = np.nanmean(moves, axis=0)
    residual, noise = np.empty(b), np.empty(b)
    for k in range(b):
        own = outside[k]
        residual[k] = scores[k] - mean[own].mean()
        noise[k] = np.var(moves[k, own] - mean[own], ddof=1) / own.sum() + of_chance
    return residual - residual.mean(), noise


def parts_of(fit, counts, scores, moves, cv, of_chance, factors):
    """Variance of training, the same by quartiles, jackknife, and the covariance."""
    b, u = counts.shape
    residual, noise = spread(counts, scores, moves, of_chance, factors)
    products = (counts - counts.mean(axis=0)) * residual[:, None]
    effect, of_cv = products.mean(axis=0), cv.mean(axis=0)
    jackknife = np.sum((of_cv / u + effect) ** 2) - products.var(axis=0, ddof=1).sum() / b
    first, third = np.percentile(residual, [25, 75])
    robust = max(((third - first) / 1.349) ** 2 - np.median(noise), 0)
    training = max(residual.var(ddof=1) - noise.mean(), 0)
    return training, robust, jackknife, 2 * of_cv @ effect / u


def share_left(apparent, centre, median):
    """Of the variance of training at the size of bootstrap samples, by how errors fall."""
    middle = -(apparent + centre) / 2
    if centre >= apparent:
        return 0.0
    if -median <= max(middle, -centre):
        return 1.0
    return ((-centre - middle) / (-median - middle)) ** 2


def cross_validated(fit, scores, moves, seed_variance):
    """Centre, both standard errors, variance components and influence values, as scores."""
    counts = fit.counts[:, np.unique(fit.unit, return_index=True)[1]]
    centre, cv = folded(fit)
    b, u = counts.shape
    scores, moves = scores.mean(axis=1), moves.mean(axis=1)
    of_chance = seed_variance / fit.drawn.shape[1]
    first, median, third = np.percentile(scores, [25, 50, 75])
    reach = 1.5 * (third - first)
    moved = scores.clip(first - reach, third + reach)
    factors = np.where(moved == scores, 1, (moved - median) / np.where(scores == median, 1, scores - median))  # fmt: skip # noqa: E501
    plain = parts_of(fit, counts, scores, moves, cv, of_chance, np.ones(b))
    fenced = parts_of(fit, counts, moved, moves, cv, of_chance, factors)
    test, averaged = cv.var(axis=1, ddof=1).mean() / u, cv.mean(axis=0).var(ddof=1) / u
    apparent = np.mean([value(fit, answers) for answers in fit.full])
    share = 1.0
    if fit.metric.kind != "jumps":
        share = share_left(apparent, centre, median)
    total = test + share * fenced[1] + np.sqrt(share) * max(fenced[3], 0)
    narrow = max(min(most_by_optimism(test, apparent - centre), total), averaged)
    wide = max(narrow, test + plain[0], plain[2] if b >= 4 * np.sqrt(u) else -np.inf)
    return centre, np.sqrt([narrow, wide]), {"training": plain[0], "test": test}, cv


def most_by_optimism(test, *gains):
    """Largest variance, by what models gain on their own rows."""
    return (np.sqrt(test) + sum(max(gain, 0) for gain in gains) / 2) ** 2


def of_seeds(fit, scores, moves):
    """Variance of the seed, and of seed and rows together."""
    n_seeds, first = fit.drawn.shape[1], np.unique(fit.unit, return_index=True)[1]
    if n_seeds == 1:
        return 0.0, np.nan
    between, on_test, interaction = [], [], []
    for k, own in enumerate(fit.counts[:, first] == 0):
        gaps = moves[k][:, own] - moves[k][:, own].mean(axis=0)
        m = own.sum()
        one_row = np.sum(gaps**2) / ((n_seeds - 1) * (m - 1))
        between.append(scores[k].var(ddof=1))
        on_test.append(one_row / m)
        interaction.append(one_row / fit.n_units)
    return max(np.mean(between) - np.mean(on_test), 0), np.mean(interaction)


# ------------------------------------------------------------------ limits


def wilson(share, n, quantile):
    square = quantile**2 / n
    centre = (share + square / 2) / (1 + square)
    half = quantile * np.sqrt(share * (1 - share) / n + square / (4 * n)) / (1 + square)
    return np.array([centre - half, centre + half]).clip(0, 1)


def effective_size(fit):
    """Units behind the degrees of freedom."""
    rule, u = fit.metric.rule, fit.n_units
    if rule in ("", "share", "f1_micro", "matthews", "kappa"):
        return u
    rows = np.bincount(fit.y)
    # Units that hold rows of each class.
    sizes = (np.eye(len(rows))[fit.y].T @ np.eye(u)[fit.unit] > 0).sum(axis=1)
    if rule != "classes":
        return max(min(u, sizes.min()), 2)
    # Satterthwaite's for the parts of the classes in the variance.
    answers, n = fit.folds, len(fit.y)
    every = np.tile(fit.y, len(answers)), answers.ravel()
    shares = np.full(len(every[0]), 1 / len(answers))
    moves = derivatives_by_cell(fit, *every, shares)
    counts = table(*every, shares[None])[0]
    parts, hits = np.empty(len(rows)), np.diag(counts) / rows
    for k, own in enumerate(counts):
        mean = own @ moves[k] / own.sum()
        parts[k] = own @ (moves[k] - mean) ** 2 * sizes[k] / (sizes[k] - 1)
    weights = (np.ones(len(rows)) if fit.metric.score is not None else rows) / len(rows)
    rate = (hits * sizes + 2) / (sizes + 4)
    parts = np.maximum(parts, weights**2 * rate * (1 - rate) / sizes)
    df = parts.sum() ** 2 / np.sum(parts**2 / (sizes - 1))
    assert n >= u
    return min(int(min(max(df, 2), u - 1)) + 1, u)


def derivatives_by_cell(fit, y, a, weight):
    """Derivative of the score by the weight of a row of each cell."""
    size = int(fit.y.max()) + 1
    truth, answer = np.divmod(np.arange(size * size), size)
    lines = np.hstack((np.tile(weight, (size * size, 1)), 1e-30j * np.eye(size * size)))
    longer = np.concatenate((y, truth)), np.concatenate((a, answer))
    return (np.imag(fit.metric.score(*longer, lines)) / 1e-30).reshape(size, size)


def limits_on_scale(point, error, quantile, bounds, size):
    """Of a score; the scale is logit, log or its own."""
    low, high = bounds
    half = quantile * error
    if np.isfinite(bounds).all():
        edge, span = 0.5 / size, high - low

        def farther(share):
            if share >= 1 - edge:
                return 1.0
            start = max(share, edge)

            def limit(place):
                return special.logit(place) + half / span / (place * (1 - place))

            # The limit does not rise again where the point is nearer to its bound.
            least = optimize.minimize_scalar(limit, bounds=(start, 1 - 1e-9), method="bounded")
            return special.expit(min(limit(start), least.fun))

        share = (point - low) / span
        return low + span * (1 - farther(1 - share)), low + span * farther(share)
    if np.isfinite(low) or np.isfinite(high):
        bound = low if np.isfinite(low) else high
        gap = abs(point - bound)
        near, far = gap / np.exp(half / gap), gap * np.exp(half / gap)
        return (bound + near, bound + far) if np.isfinite(low) else (bound - far, bound - near)
    return point - half, point + half


def freedom(fit, cv):
    """Degrees of freedom of the interval by cross-validation."""
    most = effective_size(fit) - 1
    if np.isfinite(fit.metric.bounds).all():
        return most
    kurtosis = stats.kurtosis(cv.mean(axis=0), fisher=False)
    return min(most, max(2 * cv.shape[1] / (kurtosis - 1), 6))


def guarded(fit, centre, test, quantile):
    """Limits that an interval of few errors contains; None where there is no guard."""
    rule, u, n = fit.metric.rule, fit.n_units, len(fit.y)
    y, answers, repeats = fit.y, fit.folds, len(fit.folds)
    if rule == "share":
        size = u if test == 0 else np.clip(centre * (1 - centre) / test, u, n)
        return wilson(centre, size, quantile)
    if rule not in ("balanced", "f1", "precision", "recall", "f1_micro", "matthews", "kappa"):
        return None

    def share_and_size(misses, members):
        """Share of the misses, and the rows that would vary as much as the units do."""
        size, share = members.sum() / repeats, misses.sum() / members.sum()
        if u == n:
            return share, size
        in_groups = [(fit.by_unit(own * 1.0) > 0).sum() for own in members]
        gaps = fit.by_unit(misses - share * members)
        spread = np.mean(np.sum(gaps**2, axis=1)) / size**2
        spread *= np.mean(in_groups) / (np.mean(in_groups) - 1)
        varies = share * (1 - share) / spread if spread > 0 else np.mean(in_groups)
        return share, np.clip(varies, np.mean(in_groups), size)

    wrong = answers != y
    if rule == "balanced":
        rates = [(wrong[:, y == k]).mean() for k in (0, 1)]
        own = [wilson(rate, np.sum(y == k), quantile) for k, rate in enumerate(rates)]
        below = np.hypot(*(rate - one[0] for rate, one in zip(rates, own, strict=True))) / 2
        above = np.hypot(*(one[1] - rate for rate, one in zip(rates, own, strict=True))) / 2
        return 1 - min(1 - centre + above, 1), 1 - max(1 - centre - below, 0)
    if rule in ("matthews", "kappa"):
        rates, sizes = zip(*(
            share_and_size(wrong & (y == k), np.tile(y == k, (repeats, 1)) * 1.0) for k in (0, 1)
        ), strict=True)  # fmt: skip
        shares = np.bincount(y) / n

        def coefficient(missed, added):
            """From the table of these error rates."""
            cells = np.array([[1 - missed, missed], [added, 1 - added]]) * shares[:, None]
            truth, said = np.divmod(np.arange(4), 2)
            with np.errstate(invalid="ignore"):
                return np.nan_to_num(fit.metric.score(truth, said, cells.reshape(1, 4))[0])

        middle, squares = coefficient(*rates), np.zeros(2)
        for k in (0, 1):
            for side, limit in enumerate(wilson(rates[k], sizes[k], quantile)[::-1]):
                own = list(rates)
                own[k] = limit
                squares[side] += (coefficient(*own) - middle) ** 2
        below, above = np.sqrt(squares)
        return max(centre - below, -1), min(centre + above, 1)
    # One class decides, or in the micro average all do alike: misses of two kinds and hits.
    hit = ~wrong if rule == "f1_micro" else ~wrong & (y == 1)
    missed = wrong & (y == 1) if rule in ("f1", "recall") else wrong & False
    added = wrong & (answers == 1) if rule in ("f1", "precision") else wrong & False
    misses = wrong * 1.0 if rule == "f1_micro" else missed * 1.0 + added
    _, size = share_and_size(misses, misses + hit)
    # F1 = 2 hits / (2 hits + misses); the others are shares of hits.
    of_hit = 2.0 if rule.startswith("f1") else 1.0
    of_miss = 2.0 if rule == "f1_micro" else 1.0
    if size == 0:
        return 0.0, 1.0
    error = 1 - centre
    share = error * of_hit / (error * of_hit + centre * of_miss)
    ends = wilson(share, size, quantile)
    errors = of_miss * ends / (of_miss * ends + of_hit * (1 - ends))
    return 1 - errors[1], 1 - errors[0]


# ------------------------------------------------------------------ tests


DESIGNS = [(False, 1), (True, 2)]


LOOPS = [
    (name, *design)
    for name, metric in METRICS.items()
    for design in (DESIGNS if metric.classes != TABLES else DESIGNS[:1])
    if metric.kind != "root"
]


@pytest.mark.parametrize(("name", "grouped", "n_seeds"), LOOPS)
def test_scores_errors_and_parts_of_a_fit_are_those_of_a_loop_over_its_models(
    name, grouped, n_seeds
):
    fit = fitted(name, grouped, n_seeds)
    scorer, result, (scores, moves) = fit.scorer, fit.result, left_out(fit)
    apparent = [value(fit, answers) for answers in fit.full]
    close(scorer.resubstitution_score_[name], np.mean(apparent))
    runs = result.runs
    n_folds = min(10, np.bincount(fit.y).min()) if fit.metric.classes > 0 else 10
    n_of_kinds = [n_seeds, scores.size, 2 * n_folds * n_seeds]
    kinds = np.repeat(["full", "bootstrap", "fold"], n_of_kinds)
    np.testing.assert_array_equal(runs["sample"], kinds)
    of_run = [*np.zeros(n_seeds), *np.repeat(np.arange(B), n_seeds)]
    of_fold = np.repeat(np.arange(2 * n_folds), n_seeds)
    np.testing.assert_array_equal(runs["training_sample"], [*of_run, *of_fold])
    np.testing.assert_array_equal(runs["seed"], np.arange(len(kinds)) % n_seeds)
    close(runs["score"][: len(of_run)], [*apparent, *scores.ravel()])
    of_folds = f"averaged over folds of about {len(fit.y) // n_folds} rows"
    said = " ".join(result.notes)
    assert (of_folds in said) == (fit.metric.kind == "folds")
    no_chance = n_seeds > 1 and np.ptp(scores, axis=1).max() == 0
    assert ("The seed component is 0" in said) == no_chance
    point, error = out_of_bag(fit, scores, moves)
    close(scorer.oob_score_[name], point)
    seeds = of_seeds(fit, scores, moves)
    centre, (narrow, wide), parts, cv = cross_validated(fit, scores, moves, seeds[0])
    close(scorer.score_[name], centre)
    close(scorer.standard_error_[name], narrow, 1e-6)
    found = scorer.variance_components_[name]
    close([found["training"], found["test"]], [parts["training"], parts["test"]], 1e-6)
    if n_seeds > 1:
        close([found["seed"], found["interaction"]], seeds, 1e-6)
    size = effective_size(fit)
    cautious = quiet(result.interval, "cv-bootstrap-conservative")
    for one, own in ((result.confidence_interval, narrow), (cautious, wide)):
        quantile = special.stdtrit(freedom(fit, cv), 0.975)
        close([*one], within_guard(fit, centre, own, quantile, parts["test"]), 1e-4, 1e-5)
    quantile = special.stdtrit(size - 1, 0.975)
    expected = limits_on_scale(centre, error, quantile, fit.metric.bounds, size)
    close([*quiet(result.interval, "adjusted")], expected, 1e-4, 1e-5)
    replicates, bounds = scores.mean(axis=1), fit.metric.bounds
    expected = np.quantile(replicates, [0.1, 0.9], method="weibull")
    close([*quiet(result.interval, "percentile", 0.8)], expected)
    half = special.stdtrit(B - 1, 0.9) * replicates.std(ddof=1)
    expected = np.clip([replicates.mean() - half, replicates.mean() + half], *bounds)
    close([*quiet(result.interval, "t", 0.8)], expected)
    if fit.metric.kind in ("jumps", "folds") or fit.y.ndim > 1:
        return  # the no-information score is a mean over permutations
    # Every truth meets every answer.
    every = np.repeat(fit.y, len(fit.y)), np.concatenate([fit.full[0]] * len(fit.y))
    pairs = fit.metric.score(*every, np.ones((1, len(every[0]))))[0]
    chance = 0.5 if name == "roc_auc" else pairs
    close(scorer.no_information_score_[name], chance, 1e-9, 1e-9)
    apparent = np.mean(apparent)
    within = max(point, chance)
    rate = (apparent - within) / (apparent - chance) if apparent > max(within, chance) else 0.0
    weight = 0.632 / (1 - 0.368 * rate)
    close([scorer.relative_overfitting_rate_[name], scorer.weight_[name]], [rate, weight], 1e-7)
    plus = (1 - weight) * apparent + weight * within
    close(scorer.point632_score_[name], 0.368 * apparent + 0.632 * point)
    close(scorer.point632_plus_score_[name], plus, 1e-7)
    both = [limits_on_scale(one, error, quantile, bounds, size) for one in (point, plus)]
    low, high = min(own[0] for own in both), max(own[1] for own in both)
    close([*quiet(result.interval, "hull")], [low, high], 1e-4, 1e-5)


@pytest.mark.parametrize("name", [name for name in METRICS if METRICS[name].classes != TABLES])
def test_the_optimism_of_any_metric_is_what_samples_lose_on_all_rows(name):
    fit = fitted(name, True, 1, 1.5, "optimism")
    y, gaps = fit.y, []
    for counts, of_seeds_ in zip(fit.counts, fit.drawn, strict=True):
        rows = np.repeat(np.arange(len(y)), counts)
        for answers in of_seeds_:
            inside, on_all = value(fit, answers, rows), value(fit, answers)
            gaps.append(on_all - inside)
    apparent = np.mean([value(fit, answers) for answers in fit.full])
    close(fit.scorer.score_[name], apparent + np.mean(gaps))
    limits = fit.result.confidence_interval[:2]
    assert np.isnan([*limits, fit.scorer.standard_error_[name]]).all()


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_the_instability_of_a_row_is_that_of_the_models_that_left_it_out(classes):
    kind, ask = {0: ("value", "value"), 2: ("probability", "probability"), 3: ("label", "label")}[
        classes
    ]
    name = {0: "r2", 2: "neg_brier_score", 3: "f1_macro"}[classes]
    fit = fitted(name, True, 2)
    found = fit.scorer.prediction_instability_
    if kind == "probability":
        of_call = trained(skboot.BootstrapScorer, 2, True, 2, 1.5)
        fit = fit._replace(full=of_call.answers[ask][:2])
    close(found[kind], fit.full[0])
    for row in range(len(fit.y)):
        answers = fit.drawn[fit.counts[:, row] == 0, :, row].ravel()
        assert found["n_models"][row] == len(answers)
        if kind == "label":
            close(found["difference"][row], np.mean(answers != fit.full[0, row]))
            continue
        close(found["difference"][row], np.mean(np.abs(answers - fit.full[0, row])))
        ends = np.quantile(answers, [0.025, 0.975])
        close([found["low"][row], found["high"][row]], ends)


# Resamples of test sets have a stream of their own below the seed.
OF_TESTS = np.random.SeedSequence(0, spawn_key=(0x5EED, 7))


@pytest.mark.parametrize(
    ("classes", "estimand", "n_seeds", "b"),
    [
        (0, "method", 1, 4), (2, "method", 2, 4), (3, "method", 2, 0), (3, "next_run", 2, 4),
        (0, "pooled", 2, 4), (2, "system", 1, 3), (3, "system", 2, 0),
    ],
)  # fmt: skip
def test_runs_on_test_sets_are_those_of_their_answers(classes, estimand, n_seeds, b):
    (X, y), (X_test, y_test) = (rows_for(classes, 1.5, seed) for seed in (6, 7))
    groups = {"all": np.arange(42) // 2, "some": np.arange(30) // 3}
    sets = {"all": (X_test, y_test), "some": (X_test[12:], y_test[12:])}
    scoring = {
        name: SCORING.get(name, name) for name in METRICS if METRICS[name].classes == classes
    }
    scorer = skboot.BootstrapScorer(
        (Means if classes else Slope)(0.3), scoring=scoring, n_train_resamples=b, n_seeds=n_seeds,
        n_test_resamples=19, estimand=estimand, random_state=0,
    )  # fmt: skip
    RUNS.clear()
    quiet(
        scorer.fit, X, y, X_test={key: own[0] for key, own in sets.items()},
        y_test={key: own[1] for key, own in sets.items()}, groups_test=groups,
    )  # fmt: skip
    models = [model for _, model in RUNS]
    assert len(models) == n_seeds * (b + 1) == len({model.random_state for model in models})
    sampled, full = models[1 : 1 + n_seeds * b], [models[0], *models[1 + n_seeds * b :]]
    varied = "seed" if not b else "both" if n_seeds > 1 else "training"
    options = {"n_resamples": 19, "random_state": OF_TESTS}
    of_runs = {"varied": varied, "estimand": estimand, **options}
    if b:
        of_runs["training"] = np.arange(len(sampled)) // n_seeds if n_seeds > 1 else None
    for key, (X_own, y_own) in sets.items():
        for name, metric in scoring.items():
            answers = [
                [answers_of(model, X_own, METRICS[name].ask, np.unique(y)) for model in own]
                for own in (sampled, full)
            ]
            more = {"labels": np.unique(y)} if METRICS[name].ask == "columns" else {}
            more |= {
                "groups": groups[key],
                "metric": metric if isinstance(metric, str) else kappa_of,
            }
            result = scorer.result_[key][name]
            close(result.estimate, scorer.score_[key][name])
            if estimand == "system":
                expected = quiet(skboot.bootstrap_score, y_own, answers[1][0], **more, **options)
                close([*result.confidence_interval], [*expected.confidence_interval])
                assert result.confidence_interval.method == expected.confidence_interval.method
                close(result.estimate, expected.estimate)
                assert result.n_units == expected.n_units
                continue
            runs = answers[0] or answers[1]
            more |= {"full_runs": answers[1]} if b else {}
            expected = quiet(skboot.bootstrap_runs, y_own, runs, **of_runs, **more)
            close(result.estimate, expected.estimate)
            close([*result.variance_components.values()],
                  [*expected.variance_components.values()], 1e-6, 1e-9)  # fmt: skip
            close([*result.confidence_interval], [*expected.confidence_interval], 1e-6)
            if expected.standard_error is not None:
                close(result.standard_error, expected.standard_error, 1e-6)
            # Notes of the runs are those of the call on them, and of the fit its own.
            # Few units are looked for in one run: in that of all rows here, in the first there.
            states = [note for note in result.notes if note.startswith("Random states vary")]
            told, also_told = (
                [note for note in notes if "decide this score (fewer than 4)" not in note]
                for notes in (result.notes, expected.notes)
            )
            assert told == [*also_told, *states], name
            assert len(states) == (n_seeds > 1 or b > 0)
            assert result.n_units == expected.n_units
    first = next(iter(scoring))
    ask, y_own = METRICS[first].ask, sets["all"][1]
    own = [
        METRICS[first].score(y_own, answers_of(model, X_test, ask, np.unique(y)), np.ones((1, 42)))
        for model in (*full, *sampled)
    ]
    close(scorer.runs_["score"], np.ravel(own))
    samples = [*np.zeros(n_seeds), *np.repeat(np.arange(b), n_seeds)]
    np.testing.assert_array_equal(scorer.runs_["training_sample"], samples)
    np.testing.assert_array_equal(scorer.runs_["seed"], np.arange(len(samples)) % n_seeds)
    assert [*scorer.runs_["sample"]] == ["full"] * n_seeds + ["bootstrap"] * (n_seeds * b)


@pytest.mark.parametrize(("n_seeds", "b"), [(2, 4), (3, 0), (1, 4)])
def test_methods_on_a_test_set_are_the_runs_of_their_answers(n_seeds, b):
    """Runs of both methods on one sample belong together, whichever the seed."""
    (X, y), (X_test, y_test) = (rows_for(0, 1.5, seed) for seed in (6, 7))
    methods = {"small": Slope(0.3, 1), "large": Slope(0.5)}
    RUNS.clear()
    result = quiet(
        skboot.compare_methods, methods, X, y, X_test=X_test, y_test=y_test,
        scoring="neg_mean_absolute_error", n_train_resamples=b, n_seeds=n_seeds,
        n_test_resamples=19, random_state=0,
    )  # fmt: skip
    models = [model for _, model in RUNS]
    each = dict(zip(methods, np.array_split(np.arange(len(models)), 2), strict=True))
    said = {key: [models[k].predict(X_test) for k in own] for key, own in each.items()}
    options = {"varied": "seed", "n_resamples": 19, "random_state": OF_TESTS}
    runs = said
    if b:
        runs = {key: own[1 : 1 + n_seeds * b] for key, own in said.items()}
        full = {key: [own[0], *own[1 + n_seeds * b :]] for key, own in said.items()}
        options |= {"varied": "training", "full_runs": full}
    if b and n_seeds > 1:
        training = dict.fromkeys(methods, np.arange(n_seeds * b) // n_seeds)
        options |= {"varied": "both", "training": training}
    expected = quiet(skboot.compare_runs, y_test, runs, metric="neg_mean_absolute_error",
                     paired_runs=True, **options)  # fmt: skip
    for one, other in zip(result.pairs, expected.pairs, strict=True):
        close(one.difference, other.difference)
        close([one.standard_error, one.degrees_of_freedom, one.p_value],
              [other.standard_error, other.degrees_of_freedom, other.p_value], 1e-6)  # fmt: skip
        close([*one.confidence_interval], [*other.confidence_interval], 1e-6)
        assert (one.n_runs, one.components.keys()) == (other.n_runs, other.components.keys())
        close([*one.components.values()], [*other.components.values()], 1e-6, 1e-9)


FEW = [name for name, metric in METRICS.items() if metric.rule and metric.rule != "classes"]


def within_guard(fit, centre, error, quantile, test):
    """Limits on the scale of the metric that hold those of its guard."""
    low, high = limits_on_scale(centre, error, quantile, fit.metric.bounds, effective_size(fit))
    guard = guarded(fit, centre, test, 1.959964)
    return (low, high) if guard is None else (min(low, guard[0]), max(high, guard[1]))


def exact_limits(fit, centre):
    """Where nothing varies: of no event among the units, or Wilson's where there are some."""
    n, (low, high) = min(fit.n_units, effective_size(fit)), fit.metric.bounds
    if centre == high:
        limits = np.array([1 - (1 - 0.025 ** (1 / n)), 1])
    else:
        limits = wilson((centre - low) / (high - low), n, 1.959964)
    guard = guarded(fit, centre, 0.0, 1.959964)
    low, high = low + (high - low) * limits
    if guard is None or fit.metric.rule in ("share", "balanced"):
        return low, high
    return min(low, guard[0]), max(high, guard[1])


OF_THREE = "f1_micro", True, 4.4
OF_TWO = [(name, grouped, gap) for name in FEW if name != "f1_micro"
          for grouped, gap in ((False, 4.4), (True, 4.4), (True, 7.0), (False, -3.0))]  # fmt: skip


@pytest.mark.parametrize(("name", "grouped", "gap"), [*OF_TWO, OF_THREE])
def test_limits_of_few_errors_hold_score_limits_of_the_rows_that_decide(name, grouped, gap):
    fit = fitted(name, grouped, 1, gap)
    centre, error = fit.scorer.score_[name], fit.scorer.standard_error_[name]
    expected = exact_limits(fit, centre)
    if error > 0:
        quantile = special.stdtrit(effective_size(fit) - 1, 0.975)
        test = fit.scorer.variance_components_[name]["test"]
        expected = within_guard(fit, centre, error, quantile, test)
    close([*fit.result.confidence_interval], expected, 1e-4, 1e-5)


def of_means_under_roots(fits, centres, counts, cv):
    """Share and jackknife of the mean errors, of whose roots each is the derivative."""
    shares, scores, moves = [], 0.0, 0.0
    for sign, fit, centre in zip((1, -1), fits, centres, strict=True):
        mean = fit._replace(metric=METRICS["neg_mean_squared_error"])
        own, of_units = left_out(mean)
        apparent = np.mean([value(fit, answers) for answers in fit.full])
        shares.append(share_left(-(apparent**2), -(centre**2), np.median(own.mean(axis=1))))
        scores = scores + sign * own.mean(axis=1) / (2 * abs(centre))
        moves = moves + sign * of_units.mean(axis=1) / (2 * abs(centre))
    return max(shares), parts_of(mean, counts, scores, moves, cv[None], 0.0, np.ones(B))[2]


BOTH = [(name, "cv-bootstrap") for name in METRICS if METRICS[name].classes != TABLES]
BOTH += [(name, "oob") for name, metric in METRICS.items() if metric.classes == 2]


@pytest.mark.parametrize(("name", "strategy"), BOTH)
def test_a_difference_of_methods_is_that_of_a_loop_over_the_models_of_both(name, strategy):
    classes = METRICS[name].classes
    grouped, n_seeds = DESIGNS[(classes + (strategy == "oob")) % 2]
    of_call = trained(skboot.compare_methods, classes, grouped, n_seeds, 1.5, strategy)
    half = len(of_call.inside) // 2
    fits = [read(name, of_call, some, n_seeds) for some in (slice(half), slice(half, None))]
    first, second = fits
    np.testing.assert_array_equal(first.counts, second.counts)
    [pair] = first.result.pairs
    (scores, moves), (others, other_moves) = (left_out(fit) for fit in fits)
    of_both, moves = scores - others, moves - other_moves
    point, error = out_of_bag(first, of_both, moves, second)
    if strategy == "cv-bootstrap":
        (centre, cv), (other_centre, other_cv) = (folded(fit) for fit in fits)
        by_repeat, u = cv - other_cv, first.n_units
        cv, test = by_repeat.mean(axis=0), by_repeat.var(axis=1, ddof=1).mean() / u
        point = centre - other_centre
        counts = first.counts[:, np.unique(first.unit, return_index=True)[1]]
        means = of_both.mean(axis=1), moves.mean(axis=1)
        jackknife = parts_of(first, counts, *means, cv[None], 0.0, np.ones(B))[2]
        apparent = [np.mean([value(fit, one) for one in fit.full]) for fit in fits]
        share = max(
            share_left(apparent[0], centre, np.median(scores.mean(axis=1))),
            share_left(apparent[1], other_centre, np.median(others.mean(axis=1))),
        )
        if first.metric.kind == "root":
            share, jackknife = of_means_under_roots(fits, (centre, other_centre), counts, cv)
        more = max(jackknife - error**2, 0) if 4 * np.sqrt(u) <= B else 0.0
        most = most_by_optimism(test, apparent[0] - centre, apparent[1] - other_centre)
        error = np.sqrt(max(cv.var(ddof=1) / u, min(most, error**2 + share * more)))
    close(pair.difference, point)
    close(pair.standard_error, error, 1e-6)
    won = np.sign(np.round(of_both.mean(axis=1), 12))
    close(pair.bootstrap_support, np.mean(won + 1) / 2)
    if strategy == "cv-bootstrap":
        df = min(effective_size(fit) for fit in fits) - 1
        half = special.stdtrit(df, 0.975) * error
        close([*pair.confidence_interval], [point - half, point + half], 1e-6)
        close(pair.p_value, 2 * stats.t.sf(abs(point) / error, df), 1e-6)


# ------------------------------------------------------------------ answers of other forms


OF_SETS = {
    name: name
    for name in (
        "f1_micro",
        "precision_weighted",
        "recall_samples",
        "recall_weighted",
        "jaccard_macro",
    )
}
OF_SETS |= {
    "hamming": make_scorer(hamming_loss, greater_is_better=False),
    "wrong": make_scorer(zero_one_loss, greater_is_better=False),
    "f2": make_scorer(fbeta_score, beta=2.0, average="weighted", zero_division=1.0),
    "one": make_scorer(precision_score, average="macro", zero_division=1.0),
}


def test_scores_of_label_sets_are_those_of_scikit_learn():
    X, y = rows_for(SETS, 1.5)
    y[:, 1] = np.arange(42) < 6
    y[20:] = 0
    RUNS.clear()
    options = {"n_train_resamples": 6, "strategy": "oob", "random_state": 0}
    scorer = skboot.BootstrapScorer(Tables(is_set=True), scoring=OF_SETS, **options)
    quiet(scorer.fit, X, y)
    for k, (rows, model) in enumerate(RUNS[1:]):
        outside = np.setdiff1d(np.arange(42), rows)
        for name, scoring in OF_SETS.items():
            expected = quiet(get_scorer(scoring), model, X[outside], y[outside])
            close(scorer.result_[name].runs["score"][1 + k], expected)


@pytest.mark.parametrize("n_classes", [15, 17, 33])
def test_scores_of_many_labels_are_those_of_scikit_learn(n_classes):
    """Cells of the confusion matrix are more than a byte tells apart from 17 labels on."""
    y = np.arange(6 * n_classes) % n_classes
    X = np.random.default_rng(0).normal(size=(len(y), 4)) + np.c_[y, y**2, -y, 0 * y] / 3
    X[:, -1] = np.arange(len(y))
    scoring = ["f1_macro", "balanced_accuracy", "accuracy", "matthews_corrcoef"]
    RUNS.clear()
    options = {"n_train_resamples": 4, "strategy": "oob", "random_state": 0}
    scorer = skboot.BootstrapScorer(Means(), scoring=scoring, **options)
    quiet(scorer.fit, X, y)
    for k, (rows, model) in enumerate(RUNS[1:]):
        outside = np.setdiff1d(np.arange(len(y)), rows)
        for name in scoring:
            expected = quiet(get_scorer(name), model, X[outside], y[outside])
            close(scorer.result_[name].runs["score"][1 + k], expected)


class Decides(Means):
    """The same by decision values, whose scale is another one for each model."""

    predict_proba = None
    step = 0.0

    def _values(self, X):
        far = -np.sum((X[:, None, : self.size] - self.means_) ** 2, axis=2)
        return np.round(far / self.step) * self.step if self.step else far

    def decision_function(self, X):
        if len(self.classes_) == 1:
            return np.zeros((len(X), 1))
        far = (1 + len(np.unique(X[:, 0]))) * self._values(X)
        return far[:, 1] - far[:, 0] if len(self.classes_) == 2 else far

    def predict(self, X):
        return self.classes_[self._values(X).argmax(axis=1)]


class DecidesWithout(Decides):
    """Without probabilities."""

    def __getattribute__(self, name):
        if name == "predict_proba":
            raise AttributeError(name)
        return super().__getattribute__(name)


class DecidesInSteps(Decides):
    """With probabilities that are finer than its decision values."""

    step = 0.5

    def predict_proba(self, X):
        return Means.predict_proba(self, X)


def counts_of(n):
    return [np.bincount(rows, minlength=n) for rows, _ in RUNS]


@pytest.mark.parametrize("made", [Means, DecidesWithout])
def test_a_class_that_a_sample_lacks_has_no_probability_and_the_lowest_value(made):
    rng = np.random.default_rng(0)
    y = np.array(["b", "c", "a"])[np.repeat([0, 1, 2], [20, 18, 2])]
    X = np.column_stack((rng.normal(size=(40, 3)), np.arange(40)))
    scoring = ["accuracy", "top_k_accuracy"] + ["neg_brier_score"] * (made is Means)
    scorer = skboot.BootstrapScorer(
        made(), scoring=scoring, strategy="oob", n_train_resamples=B, random_state=0
    )
    RUNS.clear()
    quiet(scorer.fit, X, y)
    known, lacking = np.array(["a", "b", "c"]), 0
    for k, (rows, model) in enumerate(RUNS[1:]):
        outside = np.setdiff1d(np.arange(40), rows)
        columns = np.full((len(outside), 3), -np.inf)
        ask = model.predict_proba if made is Means else model.decision_function
        own = ask(X[outside])
        own = np.column_stack((-own, own)) if own.ndim == 1 else own
        columns[:, np.searchsorted(known, model.classes_)] = own
        lacking += np.isinf(columns[:, 0]).all()
        truth = y[outside][:, None] == known
        placed = np.argsort(-columns, axis=1, kind="stable")[:, :2]
        scores = {
            "accuracy": np.mean(model.predict(X[outside]) == y[outside]),
            "top_k_accuracy": np.take_along_axis(truth, placed, axis=1).any(axis=1).mean(),
            "neg_brier_score": -np.sum((truth - columns.clip(0)) ** 2, axis=1).mean(),
        }
        for name in scoring:
            close(scorer.result_[name].runs["score"][1 + k], scores[name])
    assert lacking > 2


class Sets(ClassifierMixin, Tables):
    """Probabilities of each label, one table for each as forests give them."""

    def fit(self, X, y):
        self.classes_ = [np.unique(label) for label in y.T]
        return super().fit(X, y)

    def predict_proba(self, X):
        shares = special.expit(Slope.predict(self, X))
        return [
            np.column_stack((1 - own, own)) if len(seen) == 2 else np.ones((len(X), 1))
            for own, seen in zip(shares.T, self.classes_, strict=True)
        ]


AP_OF_ALL = make_scorer(average_precision_score, average="micro", response_method="predict_proba")


def test_a_label_that_no_row_of_a_sample_has_scores_nothing_on_a_test_set():
    rng = np.random.default_rng(0)
    X = np.column_stack((rng.normal(size=(70, 3)), np.arange(70)))
    y = (X[:, :3] + rng.normal(size=(70, 3)) > 0.3).astype(int)
    y[:40, 2] = np.arange(40) < 2
    scorer = skboot.BootstrapScorer(
        Sets(),
        scoring=AP_OF_ALL,
        n_train_resamples=16,
        n_test_resamples=2,
        random_state=0,
    )
    RUNS.clear()
    quiet(scorer.fit, X[:40], y[:40], X_test=X[40:], y_test=y[40:])
    lacking = 0
    for (_, model), score in zip(RUNS, scorer.runs_["score"], strict=True):
        columns = np.column_stack([
            own[:, -1] * (len(seen) == 2)
            for own, seen in zip(model.predict_proba(X[40:]), model.classes_, strict=True)
        ])  # fmt: skip
        lacking += len(model.classes_[2]) == 1
        close(score, average_precision_score(y[40:], columns, average="micro"))
    assert lacking


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("made", [DecidesWithout, Means])
def test_scores_of_either_class_are_those_of_its_answers(made, positive):
    rng = np.random.default_rng(1)
    y = (np.arange(40) < 3) * 1
    X = np.column_stack((y[:, None] + rng.normal(size=(40, 3)), np.arange(40)))
    scoring = {
        "ap": make_scorer(
            average_precision_score, pos_label=positive,
            response_method=("decision_function", "predict_proba"),
        ),
        "area": "roc_auc",
    }  # fmt: skip
    scorer = skboot.BootstrapScorer(
        made(), scoring=scoring, strategy="oob", n_train_resamples=B, random_state=0
    )
    RUNS.clear()
    quiet(scorer.fit, X, y)
    constant = 0
    for k, (rows, model) in enumerate(RUNS[1:]):
        outside = np.setdiff1d(np.arange(40), rows)
        if len(np.unique(y[outside])) < 2:
            assert np.isnan(scorer.result_["area"].runs["score"][1 + k])
            continue
        if len(model.classes_) == 1:
            own = np.zeros(40)
            constant += 1
        elif made is Means:
            own = model.predict_proba(X)[:, 1]
        else:
            # A scale that depends on the rows that are asked for keeps their order.
            own = np.empty(40)
            own[outside] = model.decision_function(X[outside])
        of_class = own if positive else -own
        truth = (y == positive) * 1
        close(scorer.result_["area"].runs["score"][1 + k],
              area(y[outside], own[outside], np.ones((1, len(outside)))))  # fmt: skip
        close(scorer.result_["ap"].runs["score"][1 + k],
              average_precision_score(truth[outside], of_class[outside]))  # fmt: skip
    assert constant


def test_decision_values_of_folds_are_ranked_by_probabilities_or_else_fold_by_fold():
    X, y = rows_for(2, 1.5)
    for made in (DecidesInSteps, DecidesWithout):
        scorer = skboot.BootstrapScorer(
            made(), scoring=["average_precision", "roc_auc"], n_train_resamples=6,
            n_cv_repeats=1, random_state=0,
        )  # fmt: skip
        RUNS.clear()
        quiet(scorer.fit, X, y)
        together, folds, decided = np.empty(42), [], np.empty(42)
        for rows, model in RUNS[7:]:
            own = np.setdiff1d(np.arange(42), rows)
            values = model.decision_function(X[own])
            decided[own] = values
            folds.append([average_precision(y[own], values, np.ones((1, 1)))[0],
                          area(y[own], values, np.ones((1, len(own))))[0]])  # fmt: skip
            if made is DecidesInSteps:
                chance = np.sort(model.predict_proba(X[own])[:, 1])
                ranks = np.argsort(np.argsort(values, kind="stable"))
                handed = chance[ranks]
                together[own] = [handed[values == value].mean() for value in values]
        means = np.mean(folds, axis=0)
        close(scorer.score_["roc_auc"], means[1])
        said = " ".join(scorer.result_["average_precision"].notes)
        if made is DecidesInSteps:
            pooled = average_precision(y, together, np.ones((1, 1)))[0]
            close(scorer.score_["average_precision"], pooled)
            assert "mean over folds" not in said
        else:
            close(scorer.score_["average_precision"], means[0])
            pooled = average_precision(y, decided, np.ones((1, 1)))[0]
            assert f"The estimate {means[0]:.4g} is the mean over folds" in said
            assert f"the folds give {pooled:.4g} together" in said
            assert f"off by about {abs(means[0] - pooled):.2g}," in said


class Fails(Slope):
    """Is trained on some samples and folds alone."""

    def fit(self, X, y):
        rows = X[:, -1].astype(int)
        is_fold = len(np.unique(rows)) == len(rows)
        if len({0, 1, 2, 3} & set(rows)) < 3 if is_fold else rows.sum() % 7 == 1:
            raise ValueError("cannot be trained on these rows")
        return super().fit(X, y)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("strategy", ["oob", "cv-bootstrap"])
def test_what_fails_for_one_method_is_left_out_for_both(strategy, order):
    X, y = rows_for(0, 1.5)
    options = {"scoring": "neg_mean_absolute_error", "n_train_resamples": B, "n_cv_repeats": 4,
               "random_state": 0, "strategy": strategy}  # fmt: skip
    RUNS.clear()
    methods = dict([("all", Slope()), ("some", Fails(size=1))][::order])
    result = quiet(skboot.compare_methods, methods, X, y, **options)
    by_model = [(np.bincount(rows, minlength=42), model) for rows, model in RUNS]
    of_all, of_some = (
        [(tuple(c), np.abs(y - m.predict(X))) for c, m in by_model if m.size == size]
        for size in (3, 1)
    )
    some = dict(of_some)
    both = [(np.array(c), own, some[c]) for c, own in of_all if c in some and max(c) > 1]
    assert B / 2 < len(both) < B
    outside = np.array([c == 0 for c, *_ in both])
    gaps = np.array([other - own for _, own, other in both])
    by_row = np.where(outside, gaps, 0).sum(axis=0) / outside.sum(axis=0)
    [pair] = result.pairs
    if strategy == "oob":
        close(pair.difference, order * by_row.mean())
    else:
        folds = [
            (np.array(c), own, some.get(c)) for c, own in of_all if max(c) == 1 and min(c) == 0
        ]
        whole, expected = 0, []
        for k in range(4):
            repeat = folds[10 * k : 10 * k + 10]
            if all(other is not None for *_, other in repeat):
                whole += 1
                expected.append(sum((other - own)[c == 0].sum() for c, own, other in repeat) / 42)
        assert 0 < whole < 4
        close(pair.difference, order * np.mean(expected))
    said = " ".join(result.notes)
    assert f"{B - len(both)} of {B} training samples gave no score" in said
