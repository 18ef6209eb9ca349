"""Pairs of frozen systems on one test set: generators with the truth, and tools.

Each function returns `draw(rng) -> PairSample`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special, stats

from skboot import compare_systems

from .peers import N_RESAMPLES
from .runner import Tool
from .samples import PairSample
from .scores import SCORES
from .systems import binormal_auc

Draw = Callable[[np.random.Generator], PairSample]
# Correlation of what two systems find hard.
SHARED = 0.6


def _latent(rng, n):
    """Two normal qualities of each row, correlated by `SHARED`."""
    common = np.sqrt(SHARED) * rng.normal(size=n)
    return common + np.sqrt(1 - SHARED) * rng.normal(size=(2, n))


def _drawn(name: str, difference: float, rows: Callable) -> Draw:
    truth = {"difference": difference, "zero": 0.0}

    def draw(rng):
        y, (first, second) = rows(rng)
        return PairSample(y, first, second, SCORES[name], truth)

    return draw


def accuracies(n: int, first: float, second: float) -> Draw:
    """Systems with two accuracies; rows that are hard for one tend to be hard for the other."""
    limits = special.ndtri([[first], [second]])

    def rows(rng):
        y = rng.integers(0, 2, size=n)
        return y, np.where(_latent(rng, n) < limits, y, 1 - y)

    return _drawn("accuracy", first - second, rows)


def f1_scores(n: int, prevalence: float, first: tuple[float, float], second: tuple[float, float]):
    """Systems with recalls and rates of false alarms."""

    def f1(recall, false):
        return 2 * prevalence * recall / (prevalence * (1 + recall) + (1 - prevalence) * false)

    rates = np.array([first, second])

    def rows(rng):
        y = (rng.random(n) < prevalence).astype(int)
        found = np.where(y == 1, rates[:, :1], rates[:, 1:])
        return y, (special.ndtr(_latent(rng, n)) < found).astype(int)

    return _drawn("F1", f1(*first) - f1(*second), rows)


def areas(n: int, prevalence: float, first: float, second: float) -> Draw:
    """Systems whose scores are normal in both classes."""
    shift = np.sqrt(2) * special.ndtri([[first], [second]])

    def rows(rng):
        y = (rng.random(n) < prevalence).astype(int)
        return y, _latent(rng, n) + shift * y

    difference = binormal_auc(shift[0, 0], 1) - binormal_auc(shift[1, 0], 1)
    return _drawn("AUC", float(difference), rows)


def absolute_errors(n: int, ratio: float) -> Draw:
    """Predictions with normal errors, the first's `ratio` times as large."""
    scale = np.array([[ratio], [1.0]])

    def rows(rng):
        return np.zeros(n), scale * _latent(rng, n)

    return _drawn("MAE", (ratio - 1) * np.sqrt(2 / np.pi), rows)


def ours(sample: PairSample, seed: int) -> dict:
    """The default of `compare_systems`."""
    [pair] = compare_systems(
        sample.y_true,
        {"first": sample.first, "second": sample.second},
        metric=sample.score.ours,
        random_state=seed,
    ).pairs
    return {"": pair.confidence_interval[:2]}


def _columns(sample: PairSample):
    score = sample.score.function
    whole = sample.first.dtype.kind in "iu"

    def difference(rows):
        y, p, q = rows.T.astype(int) if whole else (rows[:, 0], rows[:, 1], rows[:, 2])
        return float(score(y, p) - score(y, q))

    return np.column_stack((sample.y_true, sample.first, sample.second)), difference


def stambo(sample: PairSample, seed: int) -> dict:
    """Percentiles of paired differences; stambo subtracts the first from the second."""
    import stambo as package

    score = sample.score.function
    sides = [np.column_stack((sample.y_true, p)) for p in (sample.second, sample.first)]
    found = package.two_sample_test(
        *sides,
        {"score": lambda rows: float(score(rows[:, 0], rows[:, 1]))},
        n_bootstrap=N_RESAMPLES,
        seed=seed,
        silent=True,
    )["score"]
    return {"": found[2:4]}


def scipy_bootstrap(sample: PairSample, seed: int) -> dict:
    """BCa of the difference."""
    score = sample.score.function
    result = stats.bootstrap(
        (sample.y_true, sample.first, sample.second),
        lambda y, p, q, axis: score(y, p) - score(y, q),
        paired=True,
        vectorized=True,
        n_resamples=N_RESAMPLES,
        rng=np.random.default_rng(seed),
    )
    return {"": result.confidence_interval[:2]}


def arch(sample: PairSample, seed: int) -> dict:
    """The basic bootstrap."""
    from arch.bootstrap import IIDBootstrap

    rows, difference = _columns(sample)
    return {"": IIDBootstrap(rows, seed=seed).conf_int(difference, N_RESAMPLES)[:, 0]}


def unpaired(sample: PairSample, seed: int) -> dict:
    """Percentiles of the difference of two bootstraps with different resamples (wrong)."""
    rng, score = np.random.default_rng(seed), sample.score.function
    n = len(sample.y_true)
    values = []
    for p in (sample.first, sample.second):
        rows = rng.integers(0, n, size=(N_RESAMPLES, n))
        values.append(score(sample.y_true[rows], p[rows]))
    return {"": np.quantile(values[0] - values[1], [0.025, 0.975])}


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("skboot", ours, note="compare_systems, all defaults"),
        Tool("stambo", stambo, "stambo", "two_sample_test, 1000 of its 5000 resamples"),
        Tool("scipy", scipy_bootstrap, "scipy", "stats.bootstrap, BCa, 1000 of its 9999 resamples"),
        Tool("arch", arch, "arch", "IIDBootstrap.conf_int, 1000 resamples"),
        Tool("unpaired percentiles", unpaired, "numpy", "1000 resamples"),
    )
}
