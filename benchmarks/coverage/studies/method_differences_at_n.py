"""Intervals for the difference of two methods at this training-set size: which spread to take.

``make coverage-study STUDY=method_differences_at_n`` makes the table; about six minutes on one
core. ``python method_differences_at_n.py 1000 NAME`` runs 1000 data sets of one cell.

Which spread `compare_methods` takes was chosen on the first 1000 data sets of each cell. The table
is of later ones, which no choice has seen. It stands after record 0043, which changed the
"cv-bootstrap" interval of one method: what is taken here needs its V_fl and V_IJ alone, and these
are what they were. Run again with that code, every line came out the same but those of
"conservative", which is not taken: they were made before it was read by its own name.
How the tests that are
in use fare is in `methods_compared`.

All intervals of a data set stand on the same runs: the 200 bootstrap samples and the 5 repeats of
10-fold cross-validation of `compare_methods` with the data set's number as ``random_state``. The
learners have closed forms, so that all runs of a data set are solved at once; a test holds the
numbers against `compare_methods`.

* ``oob``: difference of the out-of-bag errors with its own standard error (Efron and Tibshirani
  1997), at .632 of the rows.
* ``V_fl, SE``: difference of repeated cross-validation; variance max(V_fl, SE^2), V_fl the
  sampling variance of the out-of-fold differences averaged over repeats, SE that of ``oob``.
* ``V_fl, V_IJ, SE``: the largest of these and V_IJ, the infinitesimal jackknife of the
  "cv-bootstrap" interval.
* ``shared V_IJ``: max(V_fl, SE^2 + lam max(V_IJ - SE^2, 0)), which `compare_methods` takes; lam as
  under ``capped``.
* ``conservative``: the same centre, the standard error of the "cv-bootstrap" interval of one
  method, of the differences.
* ``capped``: the same with extreme training samples drawn in, and the part of the training sample
  scaled by lam, the smaller the further the out-of-bag errors of both methods lie above their
  errors by cross-validation (at least .15 there).

Truth is the expected difference of methods trained on n rows: 0 by symmetry, or from 20,000 fresh
training sets (standard error at most .0006), whose errors on new rows are exact.

Columns: share of data sets whose interval leaves out 0 and share whose interval covers the truth,
in percent with standard errors; mean width over that of ``oob``, and over 3.92 standard deviations
of the centre; mean estimate and truth (error of the first method less that of the second).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from skboot.method_error.cv_bootstrap import auc_error_influence, cv_bootstrap, group_influence
from skboot.method_error.out_of_bag import out_of_bag_error, out_of_bag_metric
from skboot.refit.samples import draw_training_samples

from ..runner import TableStudy, percent_and_error

N_RESAMPLES, N_REPEATS = 200, 5
# Number, and seed, of the first data set of a cell.
N_DATA_SETS, FIRST = 600, 1000
SPREADS = ("oob", "V_fl, SE", "shared V_IJ", "V_fl, V_IJ, SE", "conservative", "capped")
HEADER = ["cell", "interval", "data sets", "rejects", "error of rejects", "covers"]
HEADER += ["error of covers", "width to oob", "width to oracle", "mean estimate", "truth"]


# ------------------------------------------------------------------ learners


class _Linear(BaseEstimator):
    """A linear rule on some columns, for any number of weightings of the rows at once."""

    def fit(self, X, y):
        y = np.asarray(y)
        if isinstance(self, ClassifierMixin):
            self.classes_, y = np.unique(y, return_inverse=True)
        own = np.asarray(X)[:, self.start : self.stop]
        self.coef_, self.intercept_ = (
            part[0] for part in self.solved(own, y.astype(float), np.ones((1, len(y))))
        )
        return self

    def _values(self, X):
        return np.asarray(X)[:, self.start : self.stop] @ self.coef_ + self.intercept_

    def answers(self, X, y, weights):
        """Answers for all rows of each model, (n_weights, n_samples)."""
        own = X[:, self.start : self.stop]
        coef, intercept = self.solved(own, y.astype(float), weights)
        return coef @ own.T + intercept[:, None]


class Ridge(RegressorMixin, _Linear):
    """Ridge regression; least squares without a penalty."""

    def __init__(self, penalty=0.0, start=0, stop=None):
        self.penalty, self.start, self.stop = penalty, start, stop

    def solved(self, X, y, weights):
        n = weights.sum(axis=1)
        mean, mean_y = weights @ X / n[:, None], weights @ y / n
        second = (weights @ _products(X)).reshape(-1, X.shape[1], X.shape[1])
        second = second - n[:, None, None] * mean[:, :, None] * mean[:, None, :]
        first = weights @ (X * y[:, None]) - (n * mean_y)[:, None] * mean
        coef = np.linalg.solve(second + self.penalty * np.eye(X.shape[1]), first[..., None])[..., 0]
        return coef, mean_y - (mean * coef).sum(axis=1)

    def predict(self, X):
        return self._values(X)

    @staticmethod
    def loss(answers, y):
        return (answers - y) ** 2


class _Classifier(ClassifierMixin, _Linear):
    def decision_function(self, X):
        return self._values(X)

    def predict(self, X):
        return self.classes_[(self._values(X) > 0).astype(int)]

    @staticmethod
    def loss(answers, y):
        return ((answers > 0) != y).astype(float)

    @staticmethod
    def means(X, y, weights):
        """Means of both classes."""
        # A sample of groups may lack a class; it gives no score and is left out.
        with np.errstate(invalid="ignore"):
            return [weights @ (X * own[:, None]) / (weights @ own)[:, None] for own in (1.0 - y, y)]


class Centroids(_Classifier):
    """Linear rule between the class means."""

    def __init__(self, start=0, stop=None):
        self.start, self.stop = start, stop

    def solved(self, X, y, weights):
        low, high = self.means(X, y, weights)
        return high - low, -((high + low) * (high - low)).sum(axis=1) / 2


class Discriminant(_Classifier):
    """Linear discriminant with a common covariance matrix, a multiple of the identity added."""

    def __init__(self, start=0, stop=None, added=1e-6):
        self.start, self.stop, self.added = start, stop, added

    def solved(self, X, y, weights):
        low, high = self.means(X, y, weights)
        p = X.shape[1]
        second = (weights @ _products(X)).reshape(-1, p, p)
        for own, mean in ((1 - y, low), (y, high)):
            second = second - (weights @ own)[:, None, None] * mean[:, :, None] * mean[:, None, :]
        second = second / weights.sum(axis=1)[:, None, None] + self.added * np.eye(p)
        coef = np.linalg.solve(second, (high - low)[..., None])[..., 0]
        return coef, -((high + low) * coef).sum(axis=1) / 2


class Nearest(ClassifierMixin, BaseEstimator):
    """The class of the nearest row."""

    def __init__(self, start=0, stop=None):
        self.start, self.stop = start, stop

    def fit(self, X, y):
        self.classes_, self.X_, self.y_ = np.unique(y), np.asarray(X), np.asarray(y)
        return self

    def predict(self, X):
        return self.y_[_distances(np.asarray(X), self.X_, self.start, self.stop).argmin(axis=1)]

    def answers(self, X, y, weights):
        order = np.argsort(_distances(X, X, self.start, self.stop), axis=1)
        found = [y[own][np.argmax(weights[:, own] > 0, axis=1)] for own in order]
        return np.array(found).T - 0.5

    loss = staticmethod(_Classifier.loss)


def _products(X):
    return (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)


def _distances(X, other, start, stop):
    gaps = X[:, None, start:stop] - other[None, :, start:stop]
    return np.einsum("ijk,ijk->ij", gaps, gaps)


# ------------------------------------------------------------------ designs


class Cell(NamedTuple):
    """Two methods, and what their rows are like."""

    first: BaseEstimator
    second: BaseEstimator
    n: int
    shift: tuple  # between classes, per column; of regression, the coefficients
    truth: float = 0.0
    group_sizes: tuple = ()  # repeated from group to group; rows when empty
    metric: str = "loss"

    @property
    def scoring(self):
        if isinstance(self.first, RegressorMixin):
            return "neg_mean_squared_error"
        return "roc_auc" if self.metric == "auc" else "accuracy"

    @property
    def is_null(self):
        return self.truth == 0


_FIVE = (0.6,) * 10
CELLS = {
    "null, class means, 60 rows": Cell(Centroids(0, 5), Centroids(5, 10), 60, _FIVE),
    "null, discriminant, 60 rows": Cell(Discriminant(0, 5), Discriminant(5, 10), 60, _FIVE),
    "null, nearest row, 80 rows": Cell(Nearest(0, 3), Nearest(3, 6), 80, (0.8,) * 6),
    "null, least squares, 60 rows": Cell(Ridge(0.0, 0, 6), Ridge(0.0, 6, 12), 60, (0.3,) * 12),
    "null, class means, 15 groups of 6": Cell(
        Centroids(0, 5), Centroids(5, 10), 90, _FIVE, group_sizes=(6,)
    ),
    "null, least squares, 15 groups of 6": Cell(
        Ridge(0.0, 0, 4), Ridge(0.0, 4, 8), 90, (0.3,) * 8, group_sizes=(6,)
    ),
    "null, class means, 20 groups of 2 to 10": Cell(
        Centroids(0, 5), Centroids(5, 10), 108, _FIVE, group_sizes=(2, 2, 4, 4, 8, 8, 10, 10)
    ),
    "null, class means, 80 rows, ROC AUC": Cell(
        Centroids(0, 5), Centroids(5, 10), 80, _FIVE, metric="auc"
    ),
    "null, class means, 400 rows": Cell(Centroids(0, 5), Centroids(5, 10), 400, (0.4,) * 10),
    "two penalties, 60 rows": Cell(Ridge(1.25), Ridge(0.1), 60, (0.3,) * 5, truth=np.nan),
    "steep against flat, 80 rows": Cell(
        Discriminant(0, 10), Centroids(10, 11), 80, (0.5,) * 10 + (1.366,), truth=np.nan
    ),
    "steep against flat, squares, 80 rows": Cell(
        Ridge(0.0, 0, 12), Ridge(0.0, 0, 2), 80, (0.6, 0.3) + (0.123,) * 10, truth=np.nan
    ),
    "steep against flat, 80 rows, ROC AUC": Cell(
        Discriminant(0, 10), Centroids(10, 11), 80, (0.5,) * 10 + (1.366,), np.nan, metric="auc"
    ),
    "two shrinkages that agree, 60 rows": Cell(
        Discriminant(0, 4, 0.1), Discriminant(0, 4, 0.3), 60, (0.6,) * 4, truth=np.nan
    ),
    "power, class means, 100 rows": Cell(Centroids(0, 5), Centroids(5, 7), 100, _FIVE, np.nan),
}


def sample(rng, cell):
    """Rows, targets, and the groups, or None."""
    sizes = np.resize(cell.group_sizes or (1,), cell.n)
    groups = np.repeat(np.arange(cell.n), sizes)[: cell.n]
    n_units, p = groups[-1] + 1, len(cell.shift)
    shared = rng.normal(size=(n_units, p)) * (0.7 if cell.group_sizes else 0.0)
    X = shared[groups] + rng.normal(size=(cell.n, p))
    if isinstance(cell.first, RegressorMixin):
        y = X @ np.array(cell.shift) + rng.normal(size=cell.n)
    else:
        y = (np.arange(n_units) % 2)[groups]
        X = X + y[:, None] * np.array(cell.shift)
    return X, y, groups if cell.group_sizes else None


def true_difference(cell, n_sets=20_000, seed=1):
    """Expected error of the first less that of the second at n rows, and its standard error."""
    rng = np.random.default_rng(seed)
    found = np.empty(n_sets)
    shift, one = np.array(cell.shift), np.ones((1, cell.n))
    for k in range(n_sets):
        X, y, _ = sample(rng, cell)
        errors = []
        for method in (cell.first, cell.second):
            own = slice(method.start, method.stop)
            coef, intercept = (part[0] for part in method.solved(X[:, own], y.astype(float), one))
            if isinstance(method, Ridge):
                missing = shift.copy()
                missing[own] -= coef
                errors.append(1 + missing @ missing + intercept**2)
            else:
                mean, size = shift[own] @ coef, np.linalg.norm(coef)
                if cell.metric == "auc":
                    errors.append(ndtr(-mean / size / np.sqrt(2)))
                else:
                    errors.append((ndtr(-(mean + intercept) / size) + ndtr(intercept / size)) / 2)
        found[k] = errors[0] - errors[1]
    return found.mean(), found.std() / np.sqrt(n_sets)


# ------------------------------------------------------------------ one data set


class Runs(NamedTuple):
    """What all intervals of a difference stand on; errors, smaller is better."""

    counts: np.ndarray  # (n_resamples, n_units)
    centres: np.ndarray  # (2,) by cross-validation
    influence: np.ndarray  # (n_repeats, n_units) on the difference
    scores: np.ndarray  # (2, n_resamples) on the rows left out
    oob_influence: np.ndarray  # (n_resamples, n_units) on their difference
    resubstitution: np.ndarray  # (2,)
    oob: object  # OutOfBagError of the difference
    df: int


def runs_of(cell, seed):
    """All runs of one data set."""
    return runs_on(cell, *sample(np.random.default_rng(seed), cell), seed)


def runs_on(cell, X, y, groups, seed):
    """All runs on these rows."""
    codes = None if isinstance(cell.first, RegressorMixin) else y
    samples = draw_training_samples(
        cell.n,
        unit=groups,
        codes=codes,
        stratify=False,
        n_resamples=N_RESAMPLES,
        n_repeats=N_REPEATS,
        n_seeds=1,
        seed=np.random.SeedSequence(seed),
    )
    row_counts = samples.counts if groups is None else samples.counts[:, groups]
    inside = np.concatenate([samples.folds != k for k in range(samples.n_folds)])
    weights = np.concatenate([row_counts, inside, np.ones((1, cell.n))]).astype(float)
    answers = [method.answers(X, y, weights) for method in (cell.first, cell.second)]
    parts = _auc_parts if cell.metric == "auc" else _loss_parts
    return parts(cell, y, groups, samples, row_counts, answers)


def _out_of_fold(samples, values):
    """Of models by fold and repeat the values of the rows that each left out."""
    by_fold = values.reshape(samples.n_folds, N_REPEATS, -1)
    return np.take_along_axis(by_fold, samples.folds[None], axis=0)[0]


def _loss_parts(cell, y, groups, samples, row_counts, answers):
    losses = np.array([cell.first.loss(own, y) for own in answers])
    boot, folds, full = np.split(losses, [N_RESAMPLES, losses.shape[1] - 1], axis=1)
    cv = np.array([_out_of_fold(samples, own) for own in folds])
    gaps = cv[0] - cv[1]
    influence = gaps - gaps.mean(axis=1, keepdims=True)
    outside = row_counts == 0
    scores = (boot * outside).sum(axis=2) / outside.sum(axis=1)
    change = boot[0] - boot[1]
    own = np.where(outside, change - (scores[0] - scores[1])[:, None], 0.0)
    n_units = samples.counts.shape[1]
    if groups is not None:
        influence = group_influence(influence, groups, n_units)
        own = np.array(
            [
                group_influence(line[out], groups[out], n_units)
                for line, out in zip(own, outside, strict=True)
            ]
        )
    oob = out_of_bag_error(change, row_counts, groups=groups)
    resubstitution = full[:, 0].mean(axis=1)
    centres = cv.mean(axis=(1, 2))
    return Runs(samples.counts, centres, influence, scores, own, resubstitution, oob, n_units - 1)


def _auc_parts(cell, y, groups, samples, row_counts, answers):
    values = np.array(answers)
    boot, folds, full = np.split(values, [N_RESAMPLES, values.shape[1] - 1], axis=1)
    pooled = np.array([_out_of_fold(samples, own) for own in folds])
    positive = y == 1
    centres = np.zeros(2)
    for fold_of, given in zip(samples.folds, pooled.transpose(1, 0, 2), strict=True):
        for k in range(samples.n_folds):
            rows = fold_of == k
            centres += [auc_error_influence(positive[rows], own[rows])[0] for own in given]
    centres /= N_REPEATS * samples.n_folds
    of_cv = [[auc_error_influence(positive, own)[1] for own in side] for side in pooled]
    scores = np.empty((2, N_RESAMPLES))
    oob_influence = np.zeros((N_RESAMPLES, cell.n))
    for b, counts in enumerate(row_counts):
        out = counts == 0
        for side, sign in ((0, 1), (1, -1)):
            scores[side, b], found = auc_error_influence(positive[out], boot[side, b, out])
            oob_influence[b, out] += sign * found
    resubstitution = np.array([auc_error_influence(positive, own[0])[0] for own in full])
    oob = out_of_bag_metric(scores[0] - scores[1], samples.counts, oob_influence)
    df = int(np.bincount(y).min()) - 1
    influence = np.subtract(*of_cv)
    return Runs(samples.counts, centres, influence, scores, oob_influence, resubstitution, oob, df)


def spreads(runs):
    """Centre and standard error of each interval."""
    change = runs.scores[0] - runs.scores[1]
    centre = runs.centres[0] - runs.centres[1]
    n_units = runs.counts.shape[1]
    averaged = runs.influence.mean(axis=0).var(ddof=1) / n_units
    plain = cv_bootstrap(centre, runs.influence, runs.counts, change, runs.oob_influence)
    left_out, jackknife = runs.oob.standard_error**2, plain.variance_jackknife
    return {
        "oob": (runs.oob.error, runs.oob.standard_error),
        "V_fl, SE": (centre, np.sqrt(max(averaged, left_out))),
        "shared V_IJ": (
            centre,
            np.sqrt(max(averaged, left_out + share(runs) * max(jackknife - left_out, 0.0))),
        ),
        "V_fl, V_IJ, SE": (centre, np.sqrt(max(averaged, jackknife, left_out))),
        "conservative": (centre, plain.standard_error_conservative),
        "capped": (centre, np.sqrt(capped_variance(runs, change, averaged))),
    }


def capped_variance(runs, change, averaged):
    """Variance of the difference with extreme training samples drawn in."""
    low, middle, high = np.percentile(change, [25, 50, 75])
    factor = np.ones(len(change))
    if high > low:
        fences = np.array([low - 1.5 * (high - low), high + 1.5 * (high - low)])
        for far, fence in ((change < fences[0], fences[0]), (change > fences[1], fences[1])):
            factor[far] = (fence - middle) / (change[far] - middle)
    scores = middle + factor * (change - middle)
    influence = runs.oob_influence * factor[:, None]
    found = cv_bootstrap(0.0, runs.influence, runs.counts, scores, influence)
    outside = runs.counts == 0
    mean = np.where(outside, influence, 0).sum(axis=0) / np.maximum(outside.sum(axis=0), 1)
    size = outside.sum(axis=1)
    residual = scores - (outside @ mean) / np.maximum(size, 1)
    residual -= residual.mean()
    own = [
        (line[out] - mean[out]).var(ddof=1) / out.sum()
        for line, out in zip(influence, outside, strict=True)
        if out.sum() > 1
    ]
    quartiles = np.percentile(residual, [25, 75])
    robust = max(0.0, (np.diff(quartiles)[0] / 1.349) ** 2 - np.median(own))
    drawn = runs.counts.astype(float)
    through = ((drawn - drawn.mean(axis=0)) * residual[:, None]).mean(axis=0)
    covariance = 2 / runs.counts.shape[1] * (runs.influence.mean(axis=0) @ through)
    most = max(found.variance_jackknife, averaged, found.variance_cv + found.variance_training)
    return max(
        averaged,
        min(most, found.variance_cv + max(share(runs), 0.15) * robust + max(covariance, 0.0)),
    )


def share(runs):
    """Lam: the share of the spread of bootstrap models that holds at this size."""
    found = []
    for side in range(2):
        resubstitution, centre = runs.resubstitution[side], runs.centres[side]
        median, middle = np.median(runs.scores[side]), (resubstitution + centre) / 2
        if centre <= resubstitution:
            found.append(0.0)
        elif median <= middle or centre >= median:
            found.append(1.0)
        else:
            found.append(((centre - middle) / (median - middle)) ** 2)
    return max(found)


def limits(runs):
    """Limits of each interval at 95 %, (n_intervals, 2)."""
    found = []
    for centre, error in spreads(runs).values():
        half = stdtrit(runs.df, 0.975) * error
        if error == 0:
            # Hits and misses of which none differs.
            half = ndtri(0.975) ** 2 / (runs.counts.shape[1] + ndtri(0.975) ** 2)
        found.append((centre - half, centre + half))
    return np.array(found)


# ------------------------------------------------------------------ the table


def rows_of(name, repetitions=N_DATA_SETS, first=FIRST):
    """Lines of the table for one cell."""
    cell = CELLS[name]
    truth = 0.0 if cell.is_null else true_difference(cell)[0]
    found = np.array([limits(runs_of(cell, first + k)) for k in range(repetitions)])
    low, high = found[..., 0], found[..., 1]
    width = (high - low).mean(axis=0)
    for k, spread in enumerate(SPREADS):
        rejects = (low[:, k] > 0) | (high[:, k] < 0)
        covers = (low[:, k] <= truth) & (truth <= high[:, k])
        centre = (low[:, k] + high[:, k]) / 2
        shares = [*percent_and_error(rejects), *percent_and_error(covers)]
        oracle = width[k] / (3.92 * centre.std())
        numbers = [f"{width[k] / width[0]:.2f}", f"{oracle:.2f}", f"{centre.mean():.4f}"]
        yield [spread, repetitions, *(f"{value:.1f}" for value in shares), *numbers, f"{truth:.4f}"]


STUDY = TableStudy("method_differences_at_n", HEADER, [(name,) for name in CELLS], rows_of)
