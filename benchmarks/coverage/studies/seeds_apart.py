"""Is "cv-bootstrap" narrower, and still safe, without the noise of the seeds of random learners?

The score of a method is an expectation over seeds too. Each out-of-bag score is a mean over
`n_seeds` runs, whose noise is in the variance between training samples, although cross-validation
averages it over fifty folds. Where there are several seeds it is known, and "seeds apart" takes it
out: `seed_variance` of `skboot.method_error.cv_bootstrap.cv_bootstrap`.

Rule, written before the run. "Seeds apart" becomes the default if

A. every cell covers at least 92.5 %, by coverage plus 2.6 Monte Carlo errors;
B. over the cells the mean of its width over that of the former interval is at most .95;
C. it changes nothing where seeds make no difference (a test).

The designs are of random learners that no study had: some columns drawn for each run, thresholds at
a drawn column, drawn features of a ridge regression, few (much noise) and many (little). 300 data
sets a cell, error 1.3 at 95 %. The study goes on where it was stopped:

    make coverage-study STUDY=seeds_apart
"""

from typing import NamedTuple

import numpy as np

from ..methods.candidates import form_of_0043
from ..methods.designs import Design, linear, ridge, sloped, truth, wavy
from ..methods.parts import bootstrap, parts_of, samples_of
from ..methods.table import HEADER, repeated, rows
from ..runner import titled

SEED, N_SETS = 4500, 300
MSE = "mean squared error"


def drawn_columns(n_columns):
    """Least squares on a few columns, drawn for each model."""
    rng = np.random.default_rng(n_columns)

    def answers(X, y, weights, X_new):
        found = np.empty((len(weights), len(X_new)))
        for number, line in enumerate(weights):
            own = rng.permutation(X.shape[1])[:n_columns]
            found[number] = ridge(0.1)(X[:, own], y, line[None], X_new[:, own])[0]
        return found

    return answers


def drawn_thresholds(seed):
    """Means on both sides of a drawn row's value in a drawn column."""
    rng = np.random.default_rng(seed)

    def answers(X, y, weights, X_new):
        columns = rng.integers(X.shape[1], size=len(weights))
        cuts = X[rng.integers(len(X), size=len(weights)), columns][:, None]
        above, new_above = X.T[columns] > cuts, X_new.T[columns] > cuts
        mean = (weights @ y / weights.sum(axis=1))[:, None]
        sides = []
        for side in (above, ~above):
            own = weights * side
            # A row's worth of the mean, so that an empty side has an answer.
            sides.append((own @ y[:, None] + mean) / (own.sum(axis=1)[:, None] + 1))
        return np.where(new_above, *sides)

    return answers


def drawn_features(n_features, seed):
    """Ridge regression on cosines of drawn projections."""
    rng = np.random.default_rng(seed)

    def answers(X, y, weights, X_new):
        found = np.empty((len(weights), len(X_new)))
        target = 2.0 * y - 1 if y.dtype.kind == "i" else y
        for number, line in enumerate(weights):
            turn = rng.normal(size=(X.shape[1], n_features)) / 2
            shift = rng.uniform(0, 2 * np.pi, n_features)
            old, new = np.cos(X @ turn + shift), np.cos(X_new @ turn + shift)
            middle, level = line @ old / line.sum(), line @ target / line.sum()
            inner = (old - middle) * line[:, None]
            bend = inner.T @ (old - middle) + np.eye(n_features)
            slope = np.linalg.solve(bend, inner.T @ (target - level))
            found[number] = (new - middle) @ slope + level
        return found

    return answers


class Cell(NamedTuple):
    design: Design
    n_seeds: int


CELLS = {
    "3 of 8 columns drawn, 2 seeds, n 80": Cell(
        Design(drawn_columns(3), linear(8), 80, MSE, 100, 3), 2
    ),
    "5 of 8 columns drawn, 4 seeds, n 60": Cell(
        Design(drawn_columns(5), linear(8), 60, MSE, 100, 2), 4
    ),
    "drawn threshold, 2 seeds, n 90": Cell(
        Design(drawn_thresholds(1), sloped(3, 1.5), 90, "error of means", kind="rough"), 2
    ),
    "drawn threshold, 5 seeds, n 80": Cell(
        Design(drawn_thresholds(2), wavy(3), 80, MSE, 200, 2, kind="rough"), 5
    ),
    "10 drawn features, 3 seeds, n 100, error": Cell(
        Design(drawn_features(10, 3), sloped(3, 1.5), 100, "error", 100, 3), 3
    ),
    "10 drawn features, 2 seeds, n 80": Cell(
        Design(drawn_features(10, 4), wavy(3), 80, MSE, 100, 3), 2
    ),
    "50 drawn features, 3 seeds, n 80": Cell(
        Design(drawn_features(50, 5), wavy(3), 80, MSE, 100, 3), 3
    ),
}


def parts_with_seeds(cell, X, y, rng):
    """Parts of the interval, out-of-bag scores averaged over seeds, and the variance of these."""
    n_seeds = cell.n_seeds
    samples = samples_of(cell.design, y, None, rng)
    every = samples._replace(
        counts=np.repeat(samples.counts, n_seeds, axis=0),
        folds=np.repeat(samples.folds, n_seeds, axis=0),
    )
    parts = parts_of(cell.design, X, y, None, every)
    scores = parts.scores.reshape(-1, n_seeds)
    influence = parts.oob_influence.reshape(-1, n_seeds, len(y))
    outside = samples.counts == 0
    # Runs of a sample are scored on the same rows: what these add to their variance goes.
    size = outside.sum(axis=1)
    gaps = influence - influence.mean(axis=1, keepdims=True)
    by_row = np.sum(gaps**2 * outside[:, None], axis=(1, 2)) / ((n_seeds - 1) * (size - 1) * size)
    seed = max(float(np.nanmean(scores.var(axis=1, ddof=1) - by_row)), 0.0)
    averaged = parts._replace(
        counts=samples.counts, scores=scores.mean(axis=1), oob_influence=influence.mean(axis=1)
    )
    return averaged, seed / n_seeds


def rows_of(number, cell):
    design, seed = cell.design, (SEED, number)
    expected = truth(design, np.random.default_rng([*seed, 10**6]))[0]

    def limits_of(rng, _):
        X, y, _ = design.draw(rng, design.size)
        parts, seed_variance = parts_with_seeds(cell, X, y, rng)
        return parts.centres.mean(), {
            name: bootstrap(parts, form=form_of_0043, seed_variance=known).interval()
            for name, known in (("former", 0.0), ("seeds apart", seed_variance))
        }

    return rows(design, expected, *repeated(limits_of, seed, N_SETS), "former")


STUDY = titled("seeds_apart", HEADER, CELLS, rows_of)
