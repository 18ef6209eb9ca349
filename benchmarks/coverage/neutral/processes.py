"""Populations of the neutral benchmark: rows, and what the target is expected to be given these.

A truth is a mean of conditional expectations over fresh rows: what a row's target adds by chance is
integrated, so that few fresh rows are needed. `law` is P(y = 1 | row) for labels, and the mean of a
normal target of standard deviation `Process.noise` for numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import erf, expit

HERE = Path(__file__).parent
LEAST_PROBABILITY = 1e-15

# Effects of the columns, each one of -3, -2, -1, -.5, 0, .5, 1, 2, 3. They are those of the paper:
# R's generator with its seeds (42, 43), after the 5,100,000 rows that were drawn before them.
EFFECTS = {
    "colon": (
        "-3 -.5 -2 -3 -3 0 2 -1 1 -1 .5 0 -2 .5 0 -.5 -.5 -2 2 1 2 0 3 .5 -2 1 .5 -.5 0 -3 -3 2 2 "
        "-.5 -1 -2 .5 -1 .5 0 -3 -.5 0 .5 -1 -3 -.5 -1 -.5 -2 0 .5 -1 3 -2 0 -1 -1 -.5 .5 2 -1"
    ),
    "breast": (
        "-2 2 -.5 0 3 -.5 -3 -3 1 2 -1 -1 -1 -.5 0 -3 -3 .5 3 .5 0 -2 -2 1 0 -1 3 -3 -2 0 -2 -.5 2 "
        "3 0 3 2 0 .5 1 -1 -.5 .5 3 -1 -.5 1 1 2 -2 1 -3 3 -3 2 3 -3 0 3 -3 1 2 -.5 0 1 -3 -3 -2 1 "
        "-3 .5 -2 1 .5 2 3 .5"
    ),
}


class Rows(NamedTuple):
    """Rows of a process; `law` is what their targets were drawn from."""

    X: np.ndarray
    y: np.ndarray
    law: np.ndarray


@dataclass(frozen=True)
class Process:
    """A population.

    Attributes
    ----------
    name : str
    n_columns : int
    draw : callable
        (rng, n) -> Rows
    losses : tuple of str
        The loss of the table, and one more of the same models.
    noise : float
        Standard deviation of a normal target about its law; 0 for labels, NaN where the target is
        not normal.
    penalties : dict
        glmnet's lambda of the paper, by the number of rows.
    """

    name: str
    n_columns: int
    draw: Callable[[np.random.Generator, int], Rows]
    losses: tuple[str, str]
    noise: float
    penalties: Mapping[int, float]

    @property
    def is_labels(self) -> bool:
        """Whether targets are labels."""
        return self.losses[0] == "zero-one"

    def risks(self, answers, law) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Risk of each model by loss, and its standard error from the number of fresh rows.

        Parameters
        ----------
        answers : ndarray of shape (n_models, n_fresh)
        law : ndarray of shape (n_fresh,)
        """
        found = {}
        for loss in self.losses:
            expected = self._expected(loss, answers, law)
            error = expected.std(axis=1) / np.sqrt(expected.shape[1])
            found[loss] = expected.mean(axis=1), error
        return found

    def _expected(self, loss, answers, law):
        if loss == "zero-one":
            return np.where(answers > 0.5, 1 - law, law)
        if loss == "log":
            p = np.clip(answers, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
            return -(law * np.log(p) + (1 - law) * np.log1p(-p))
        if np.isnan(self.noise):
            return lognormal_risk(loss, answers)
        gap = answers - law
        if loss == "squared":
            return gap**2 + self.noise**2
        share = gap / self.noise
        density = np.exp(-(share**2) / 2) * np.sqrt(2 / np.pi)
        return self.noise * density + gap * erf(share / np.sqrt(2))


# ------------------------------------------------------------------ losses

LOSSES = {
    "zero-one": lambda answers, y: ((answers > 0.5) != y).astype(float),
    "log": lambda answers, y: (
        -np.log(np.clip(np.where(y == 1, answers, 1 - answers), LEAST_PROBABILITY, 1))
    ),
    "squared": lambda answers, y: (answers - y) ** 2,
    "absolute": lambda answers, y: np.abs(answers - y),
}
"""(answers, y) -> losses; answers are probabilities of 1, or numbers."""


def no_information(loss: str, answers, y) -> float:
    """Mean loss over all pairs of an answer and a target."""
    return float(np.mean([LOSSES[loss](answers, target).mean() for target in y]))


# ------------------------------------------------------------------ bates


def bates(p, labels):
    """Five of `p` standard normal columns with an effect of 1 (Bates, Hastie, Tibshirani 2024)."""

    def draw(rng, n):
        X = rng.normal(size=(n, p))
        signal = X[:, :5].sum(axis=1)
        if labels:
            return _labelled(rng, X, expit(signal))
        return Rows(X, signal + rng.normal(size=n), signal)

    return draw


def _labelled(rng, X, law):
    return Rows(X, (rng.random(len(X)) < law).astype(int), law)


# ------------------------------------------------------------------ friedman1


def friedman(rng, n):
    """Friedman's first function of ten uniform columns, noise of standard deviation 1."""
    X = rng.random((n, 10))
    signal = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    signal += 10 * X[:, 3] + 5 * X[:, 4]
    return Rows(X, signal + rng.normal(size=n), signal)


# ------------------------------------------------------------------ chen

CHEN_NOISE = 0.2
# Of the target of the null process, drawn once: what lies below an answer.
N_TARGETS = 400_000


def _chen_signal(v):
    return 0.25 * np.exp(4 * v[:, 0]) + 4 / (1 + np.exp(-20 * (v[:, 1] - 0.5))) + 3 * v[:, 2]


def chen(null):
    """Ten noisy copies of each of six hidden columns; `null`: of a target that has others."""

    def draw(rng, n):
        hidden = rng.random((n, 6))
        spread = 0.01 + 0.5 * np.arange(10) / 9
        X = np.repeat(hidden, 10, axis=1) + np.tile(spread, 6) * rng.normal(0.3, size=(n, 60))
        signal = _chen_signal(rng.normal(0.2, size=(n, 3)) if null else hidden)
        y = signal + CHEN_NOISE * rng.normal(size=n)
        return Rows(X, y, np.zeros(n) if null else signal)

    return draw


@cache
def _lognormal_targets():
    """Sorted targets of the null process, and running sums, to count what lies below an answer."""
    rng = np.random.default_rng(0)
    y = _chen_signal(rng.normal(0.2, size=(N_TARGETS, 3))) + CHEN_NOISE * rng.normal(size=N_TARGETS)
    y.sort()
    return y, np.concatenate(([0.0], np.cumsum(y)))


def lognormal_moments() -> tuple[float, float]:
    """Mean and variance of the target of the null process, .25 exp(4 N(.2, 1)) and more."""
    nodes = np.linspace(-9, 9, 20_001)
    weights = np.exp(-(nodes**2) / 2)
    weights /= weights.sum()
    curve = 4 / (1 + np.exp(-20 * (0.2 + nodes - 0.5)))
    middle = float(weights @ curve)
    first = 0.25 * np.exp(4 * 0.2 + 8)
    mean = first + middle + 3 * 0.2
    variance = 0.25**2 * np.exp(8 * 0.2 + 16) * (np.exp(16) - 1)
    return mean, variance + float(weights @ curve**2) - middle**2 + 9 + CHEN_NOISE**2


def lognormal_risk(loss, answers):
    """Risk of answers to the target of the null process, which no column knows."""
    mean, variance = lognormal_moments()
    if loss == "squared":
        return variance + (answers - mean) ** 2
    y, sums = _lognormal_targets()
    below = np.searchsorted(y, answers)
    # E|y - a| = E(y - a) + 2 E(a - y)+, and answers are not far out in the tail.
    return mean - answers + 2 * (answers * below - sums[below]) / len(y)


# ------------------------------------------------------------------ gene expressions


@cache
def _janitza(name):
    """Root of the covariance of the columns, and their effects on the odds."""
    covariance = np.loadtxt(HERE / f"cov_{name}.csv", delimiter=",")
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    effects = np.array(EFFECTS[name].split(), dtype=float)
    return root.T, effects / np.sqrt(np.diag(covariance))


def janitza(name):
    """Normal columns with the covariance of gene expressions; labels of a logistic model."""

    def draw(rng, n):
        root, slopes = _janitza(name)
        X = rng.normal(size=(n, len(root))) @ root
        return _labelled(rng, X, expit(X @ slopes))

    return draw


# ------------------------------------------------------------------ all

LABELS, NUMBERS = ("zero-one", "log"), ("squared", "absolute")
PROCESSES = {
    own.name: own
    for own in (
        Process("bates_classif_20", 20, bates(20, True), LABELS, 0.0, {100: 0.1069, 500: 0.01722}),
        Process("bates_classif_100", 100, bates(100, True), LABELS, 0.0, {100: 1.631, 500: 0.1115}),
        Process("colon", 62, janitza("colon"), LABELS, 0.0, {100: 0.03674, 500: 0.03817}),
        Process("breast", 77, janitza("breast"), LABELS, 0.0, {100: 0.08720, 500: 0.01720}),
        Process("bates_regr_20", 20, bates(20, False), NUMBERS, 1.0, {100: 0.1967, 500: 0.1089}),
        Process("bates_regr_100", 100, bates(100, False), NUMBERS, 1.0, {100: 10.12, 500: 0.1407}),
        Process("friedman1", 10, friedman, NUMBERS, 1.0, {100: 0.3106, 500: 0.2641}),
        Process("chen_10", 60, chen(False), NUMBERS, CHEN_NOISE, {100: 3.121, 500: 0.2822}),
        Process("chen_10_null", 60, chen(True), NUMBERS, np.nan, {100: 13391.0, 500: 4863261.0}),
    )
}
