"""Expected calibration error: does its interval hold the truth, which is 0 for a calibrated model?

Question: a sum of distances is above 0 on every data set, and higher still on resamples. Does the
interval of `expected_calibration_error`, made of exact limits of all bins at once, hold the true
error in 95 % of data sets, and what do percentiles of the resamples hold? Written before the run.

Design. Probabilities of a logistic model, calibrated or too sure (the true slope is .6 of its own,
and the intercept lower by .3), in ten bins of equal width; 200, 1000 and 5000 rows, and 30 groups
of 30 rows that share a third of the variance of the score. The true error is that of two million
rows, and 0 of the calibrated model. 199 resamples, on which the interval does not depend. 1000 data
sets a cell; percentiles on 200.

Rule. It passes if the interval covers at least 93 % in every cell, a cell counting as below where
coverage + 2.6 Monte Carlo standard errors is. Widths are shown and have no rule: an interval of
limits of all bins at once covers more than its level.

If it does not pass, the cells that fail are listed on the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from skboot import bootstrap_score
from skboot.metrics import expected_calibration_error

from ..runner import LEVEL, Cell, Study, Tool

REPETITIONS, OF_PERCENTILES = 1000, 200
N_RESAMPLES = 199
# Share of the variance of a score that the rows of a group share.
SHARED = 1 / 3


@dataclass(frozen=True)
class CalibrationSample:
    """Probabilities of a frozen model on a test set, and its true error."""

    y_true: np.ndarray
    y_prob: np.ndarray
    truth: Mapping[str, float]
    groups: np.ndarray | None = None
    exception: str = ""


def _probabilities(rng, n, calibrated, n_groups=0):
    """Probabilities that a model gives, true ones, and groups."""
    noise, group = rng.normal(size=n), None
    if n_groups:
        group = np.arange(n) % n_groups
        shared = np.sqrt(SHARED) * rng.normal(size=n_groups)[group]
        noise = shared + np.sqrt(1 - SHARED) * noise
    given = 1 / (1 + np.exp(-1.5 * noise))
    return given, given if calibrated else 1 / (1 + np.exp(0.3 - 0.9 * noise)), group


@cache
def true_error(calibrated):
    """Error of two million rows, with their true probabilities in place of labels."""
    if calibrated:
        return 0.0
    given, true, _ = _probabilities(np.random.default_rng(20261122), 2_000_000, False)
    number = np.minimum((10 * given).astype(int), 9)
    return float(np.abs(np.bincount(number, true - given)).sum() / len(given))


def model(n, calibrated, n_groups=0):
    """Data sets of a logistic model."""

    def draw(rng):
        given, true, groups = _probabilities(rng, n, calibrated, n_groups)
        y = (rng.random(n) < true).astype(int)
        return CalibrationSample(y, given, {"": true_error(calibrated)}, groups)

    return draw


def _result(sample, seed):
    return bootstrap_score(
        sample.y_true,
        sample.y_prob,
        metric=expected_calibration_error,
        groups=sample.groups,
        n_resamples=N_RESAMPLES,
        random_state=seed,
    )


def ours(sample, seed):
    """The default interval."""
    low, high = _result(sample, seed).confidence_interval
    return {"": (low, high)}


def percentiles(sample, seed):
    """Quantiles of the replicates, which the library refuses."""
    values = _result(sample, seed).bootstrap_distribution
    tail = (1 - LEVEL) / 2
    return {"": tuple(np.quantile(values, [tail, 1 - tail]))}


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("skboot", ours, note="exact limits of all bins at once"),
        Tool("percentiles", percentiles, note=f"{N_RESAMPLES} resamples"),
    )
}


def _cells():
    tools = {"skboot": REPETITIONS, "percentiles": OF_PERCENTILES}
    for calibrated, words in ((True, "calibrated"), (False, "too sure")):
        for n in (200, 1000, 5000):
            yield Cell(f"{words}, n {n}", words, model(n, calibrated), tools)
        title = f"{words}, 30 groups of 30 rows"
        yield Cell(title, f"{words}, groups", model(900, calibrated, 30), tools)


STUDY = Study("calibration_error", tuple(_cells()), TOOLS, chunk=200)
