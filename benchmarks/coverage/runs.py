"""Several runs of one method on one test set: learners whose seed matters, and their truths.

A learner of this module is a function ``(X, y, weights, X_new, rng) -> answers``, one model per
line of `weights` (how often each row is in its training sample), each with a seed of its own:
decision values of two classes, or values. `of_estimator` makes one of a scikit-learn estimator. A
`Design` says what is trained, on what, and which runs there are; `Design.draw` draws the runs of
one data set with what they are judged by.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from sklearn.base import BaseEstimator, clone

from skboot import BootstrapScorer, bootstrap_runs

from .exceptions import exception_of
from .scores import SCORES, Score

# Fresh training samples and rows each for the expected score; fresh seeds and rows for that of one
# training list, whose noise counts in every data set.
N_LISTS, N_ROWS = 1000, 2000
N_SEEDS, N_SEEDS_OF_ESTIMATOR, N_ROWS_OF_LIST = 60, 30, 5000
# Runs below which the variance between them is poorly known: skboot warns.
FEWEST_RUNS = 10

# ------------------------------------------------------------------ learners


def steady(learner):
    """A learner of `methods.designs`, which has no seed."""
    return lambda X, y, weights, X_new, rng: learner(X, y, weights, X_new)


def means_as_decisions(learner):
    """Decision values from means of labels."""
    return lambda *given: learner(*given) - 0.5


def random_features(n_features, penalty=1.0, centre=0.0):
    """Ridge regression on random hinges: the positive parts of random directions."""

    def answers(X, y, weights, X_new, rng):
        slopes = rng.normal(size=(len(weights), X.shape[1], n_features)) / np.sqrt(X.shape[1])
        starts = rng.normal(size=(len(weights), 1, n_features))
        made, made_new = (np.maximum(own @ slopes + starts, 0) for own in (X, X_new))
        total = weights.sum(axis=1)[:, None]
        level = weights @ y / total[:, 0]
        middle = np.einsum("mn,mnk->mk", weights, made) / total
        made -= middle[:, None, :]
        weighted = made * weights[:, :, None]
        squares = np.swapaxes(weighted, 1, 2) @ made + penalty * np.eye(n_features)
        cross = np.swapaxes(weighted, 1, 2) @ y[:, None]
        found = np.linalg.solve(squares, cross)
        level = level - np.einsum("mk,mk->m", middle, found[..., 0]) - centre
        return (made_new @ found)[..., 0] + level[:, None]

    return answers


def network(n_units, n_steps=60, rate=0.5):
    """One layer of tanh units from random weights, a few steps of gradient descent."""

    def answers(X, y, weights, X_new, rng):
        n_models, n_columns = len(weights), X.shape[1] + 1
        X, X_new = (np.column_stack((np.ones(len(own)), own)) for own in (X, X_new))
        inner = rng.normal(size=(n_models, n_columns, n_units)) / np.sqrt(n_columns)
        outer = rng.normal(size=(n_models, n_units, 1)) / np.sqrt(n_units)
        share = (weights / weights.sum(axis=1)[:, None])[:, :, None]
        for _ in range(n_steps):
            hidden = np.tanh(X @ inner)
            slope = share * (1 / (1 + np.exp(-hidden @ outer)) - y[:, None])
            back = (slope @ np.swapaxes(outer, 1, 2)) * (1 - hidden**2)
            outer = outer - 4 * rate * np.swapaxes(hidden, 1, 2) @ slope
            inner = inner - 4 * rate * X.T @ back
        return (np.tanh(X_new @ inner) @ outer)[..., 0]

    return answers


def stochastic_gradient(n_steps=80, batch=5, rate=0.4):
    """Logistic regression by a few steps on small random batches."""

    def answers(X, y, weights, X_new, rng):
        X, X_new = (np.column_stack((np.ones(len(own)), own)) for own in (X, X_new))
        rows = np.array([np.repeat(np.arange(len(y)), line.astype(int)) for line in weights])
        found = np.zeros((len(weights), X.shape[1]))
        for step in range(n_steps):
            chosen = rng.integers(rows.shape[1], size=(len(weights), batch))
            own = np.take_along_axis(rows, chosen, axis=1)
            near = X[own]
            odds = np.einsum("mbj,mj->mb", near, found)
            slope = 1 / (1 + np.exp(-odds)) - y[own]
            found -= rate / np.sqrt(1 + step / 10) * np.einsum("mb,mbj->mj", slope, near) / batch
        return found @ X_new.T

    return answers


def random_partitions(n_partitions, depth, centre=0.5):
    """Mean over partitions of the rows by random cuts of random columns; one prior row a cell."""

    def answers(X, y, weights, X_new, rng):
        found = np.zeros((len(weights), len(X_new)))
        for line, own in enumerate(weights):
            level = own @ y / own.sum()
            columns = rng.integers(X.shape[1], size=(n_partitions, depth))
            cuts = 0.8 * rng.normal(size=(n_partitions, depth))
            for chosen, at in zip(columns, cuts, strict=True):
                cell, cell_new = ((rows[:, chosen] > at) @ (1 << np.arange(depth))
                                  for rows in (X, X_new))  # fmt: skip
                size = np.bincount(cell, own, minlength=1 << depth) + 1
                sums = np.bincount(cell, own * y, minlength=1 << depth) + level
                found[line] += (sums / size)[cell_new]
        return found / n_partitions - centre

    return answers


def of_estimator(estimator: BaseEstimator, centre: float = 0.0):
    """A learner of a scikit-learn estimator with a random state."""

    def answers(X, y, weights, X_new, rng):
        found = []
        for line in weights:
            model = clone(estimator)
            if "random_state" in model.get_params():
                model.set_params(random_state=int(rng.integers(2**31)))
            rows = np.repeat(np.arange(len(y)), line.astype(int))
            found.append(model.fit(X[rows], y[rows]).predict(X_new) - centre)
        return np.array(found)

    return answers


# ------------------------------------------------------------------ populations


@dataclass(frozen=True)
class Rows:
    """Rows, and the targets that they would have without noise."""

    X: np.ndarray
    y: np.ndarray
    clean: np.ndarray
    groups: np.ndarray | None = None


@dataclass(frozen=True)
class Labels:
    """Labels by a curved boundary, a share of them flipped; groups shift inputs and boundary."""

    n_columns: int = 5
    cut: float = 0.0
    flips: float = 0.1
    effect: float = 0.0

    def draw(self, rng, n, size=1):
        """Draw n rows in groups of one size."""
        X, groups = rng.normal(size=(n, self.n_columns)), np.arange(n) // size
        shift = self.effect * rng.normal(size=groups[-1] + 1)[groups]
        X[:, 3] += shift
        clean = X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * X[:, 3] + shift > self.cut
        y = clean ^ (rng.random(n) < self.flips)
        return Rows(X, y.astype(int), clean.astype(int), groups if size > 1 else None)

    def expected(self, score, rows, answers):
        """Score of answers on these rows, free of the noise of labels where that can be had."""
        if score.name == "accuracy":
            agree = np.mean((answers > 0) == rows.clean, axis=-1)
            return self.flips + (1 - 2 * self.flips) * agree
        return scored(score, rows.y, answers)


@dataclass(frozen=True)
class Values:
    """A curve of normal columns, and noise of variance 1, with heavy tails if `df` is small."""

    n_columns: int = 4
    df: float = np.inf

    def draw(self, rng, n, size=1):
        """Draw n independent rows."""
        X = rng.normal(size=(n, self.n_columns))
        clean = 2 * np.sin(X[:, 0]) + X[:, 1] * (1 + 0.5 * X[:, 2])
        heavy = np.isfinite(self.df)
        scale = np.sqrt(1 - 2 / self.df) if heavy else 1.0
        noise = rng.standard_t(self.df, size=n) if heavy else rng.normal(size=n)
        return Rows(X, clean + scale * noise, clean)

    def expected(self, score, rows, answers):
        """Mean squared error of answers on these rows, free of the noise of targets."""
        return 1.0 + np.mean((answers - rows.clean) ** 2, axis=-1)


def scored(score: Score, y: np.ndarray, answers: np.ndarray):
    """Score of each line of answers."""
    given = (answers > 0).astype(int) if score.name in ("accuracy", "F1") else answers
    return score.function(np.broadcast_to(y, answers.shape), given)


# ------------------------------------------------------------------ runs


@dataclass(frozen=True)
class RunsSample:
    """What is known of one data set: its runs, or how to make them, and the truths.

    `make` trains and evaluates, and returns the result of skboot.
    """

    make: Callable[[int], object]
    score: Score
    truth: Mapping[str, float]
    exception: str = ""


@dataclass(frozen=True)
class Design:
    """A learner, what it learns from, and its runs.

    `varied` is that of `bootstrap_runs`. There are `n_samples` training samples (or independent
    runs, or 1 with "seed") with `n_seeds` runs each, and `n_seeds` runs on the whole list where
    the samples are of one list. With an `estimator`, `BootstrapScorer` makes the runs.
    """

    title: str
    learner: Callable = field(repr=False)
    population: Labels | Values
    n_train: int
    n_test: int
    varied: str
    n_samples: int = 1
    n_seeds: int = 1
    metric: str = "accuracy"
    group_size: int = 1
    estimator: BaseEstimator | None = None

    @property
    def name(self) -> str:
        """The cell."""
        runs = {
            "seed": f"{self.n_seeds} seeds",
            "independent": f"{self.n_samples} lists",
            "training": f"{self.n_samples} samples",
            "both": f"{self.n_samples} samples x {self.n_seeds} seeds",
        }[self.varied]
        rows = f"{self.n_test} test rows"
        if self.group_size > 1:
            rows = f"{self.n_test // self.group_size} test groups of {self.group_size}"
        return f"{self.title}, n {self.n_train}, {self.metric}, {runs}, {rows}"

    def draw(self, rng: np.random.Generator) -> RunsSample:
        """Draw a training list and test rows, and make the runs that skboot does not make."""
        score = SCORES[self.metric]
        train = self.population.draw(rng, self.n_train)
        test = self.population.draw(rng, self.n_test, self.group_size)
        few = (self.n_seeds if self.varied == "seed" else self.n_samples) < FEWEST_RUNS
        exceptions = ["under 10 runs"] if few else []
        if self.estimator is not None:
            make = self._by_scorer(train, test)
        else:
            runs = self._runs(rng, train, test)
            make, first = self._by_runs(runs, test), self._given(runs[0][0])
            exceptions.append(exception_of(score, test.y, first, test.groups))
        truth = self._truths(rng, train)
        return RunsSample(make, score, truth, ", ".join(filter(None, exceptions)))

    def _runs(self, rng, train, test):
        """Answers of the runs, and of those on the whole list."""
        n, whole = self.n_train, np.ones((self.n_seeds, self.n_train))
        if self.varied == "independent":
            lists = [self.population.draw(rng, n) for _ in range(self.n_samples)]
            return np.concatenate([self._learnt(rng, own, whole[:1], test) for own in lists]), None
        full = self._learnt(rng, train, whole, test)
        if self.varied == "seed":
            return full, None
        counts = rng.multinomial(n, np.full(n, 1 / n), size=self.n_samples)
        return self._learnt(rng, train, np.repeat(counts, self.n_seeds, axis=0), test), full

    def _learnt(self, rng, train, weights, test):
        return self.learner(train.X, train.y, np.asarray(weights, float), test.X, rng)

    def _given(self, answers):
        """Answers as the metric reads them."""
        return (answers > 0).astype(int) if self.metric in ("accuracy", "F1") else answers

    def _by_runs(self, runs, test):
        sampled, full = runs
        both = self.varied == "both"

        def make(seed):
            return bootstrap_runs(
                test.y,
                self._given(sampled),
                metric=SCORES[self.metric].ours,
                varied=self.varied,
                training=np.repeat(np.arange(self.n_samples), self.n_seeds) if both else None,
                full_runs=None if full is None else self._given(full),
                groups=test.groups,
                random_state=seed,
            )

        return make

    def _by_scorer(self, train, test):
        def make(seed):
            scorer = BootstrapScorer(
                self.estimator,
                scoring=SCORES[self.metric].ours,
                n_train_resamples=0 if self.varied == "seed" else self.n_samples,
                n_seeds=self.n_seeds,
                random_state=seed,
                n_jobs=1,
            )
            scorer.fit(train.X, train.y, X_test=test.X, y_test=test.y)
            return scorer.result_

        return make

    def _truths(self, rng, train):
        score, population = SCORES[self.metric], self.population
        new = population.draw(rng, self.n_test, self.group_size)
        everywhere, one = expected(self), np.ones((1, self.n_train))
        if self.varied != "seed":
            own = population.draw(rng, self.n_train)
            return {
                "method": everywhere,
                "next run": float(scored(score, new.y, self._learnt(rng, own, one, new))[0]),
            }
        rows = population.draw(rng, N_ROWS_OF_LIST)
        n_seeds = N_SEEDS if self.estimator is None else N_SEEDS_OF_ESTIMATOR
        answers = self._learnt(rng, train, np.repeat(one, n_seeds, axis=0), rows)
        return {
            "method": float(np.mean(population.expected(score, rows, answers))),
            "any training list": everywhere,
            "next run": float(scored(score, new.y, self._learnt(rng, train, one, new))[0]),
        }


@cache
def _expected(title, learner, population, n_train, metric):
    rng = np.random.default_rng(zlib.crc32(f"{title} {n_train} {metric}".encode()))
    found = []
    for _ in range(N_LISTS):
        train, rows = population.draw(rng, n_train), population.draw(rng, N_ROWS)
        answers = learner(train.X, train.y, np.ones((1, n_train)), rows.X, rng)
        found.append(population.expected(SCORES[metric], rows, answers)[0])
    return float(np.mean(found))


def expected(design: Design) -> float:
    """Expected score over training lists, seeds and test rows."""
    known = design.title, design.learner, design.population
    return _expected(*known, design.n_train, design.metric)
