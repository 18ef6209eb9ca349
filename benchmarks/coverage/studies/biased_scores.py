"""Scores that are biased on their own rows: distances added up, and thresholds chosen.

Question: the expected calibration error is too large on every data set, and `bootstrap_score` makes
its interval of exact limits of the bins. What do its differences, averages over tasks and runs
hold, whose intervals have resamples alone? And the minimum detection cost, whose threshold is the
best one of the same rows, with its interval that corrects for the bias which resamples show?
Written before the run.

Design. Calibration: the logit of the truth is the sum of a feature, which has a standard deviation
of 1.5, and another of .8; systems are calibrated, or too sure (1.6 times the logit), or slightly
off (1.1 times, and .1 more). Differences on 200, 1000 and 5000 rows; the average over 20 tasks of
100 rows; five runs on 1000 rows, whose logits have own noise of standard deviation .2. True errors
are those of two million rows with true probabilities, for runs the mean of 20 runs there. Costs:
normal scores of equal variance at areas of .85 and .95, priors of .5 and of .1 for the positives,
at 200 rows (50 % positives) and 1000 (10 %); by themselves and as the difference of two systems,
whose scores have a correlation of .5. The true cost is that at the best threshold. 999 resamples,
300 data sets a cell.

Rule. It passes if the interval covers at least 93 % in every cell, a cell counting as below where
coverage + 2.6 Monte Carlo standard errors is. Cells of calibration are not judged where all
data sets carry the warning: it states what was found here.

If it does not pass, the cells that fail are listed on the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit

from skboot import bootstrap_runs, bootstrap_score, compare_systems
from skboot.metrics import expected_calibration_error, minimum_detection_cost

from ..runner import Cell, Study, Tool

REPETITIONS, N_RESAMPLES = 300, 999
N_TASKS, N_RUNS, OF_SEED = 20, 5, 0.2
N_BINS = 10
# Factor of the logit and shift.
SYSTEMS = {"calibrated": (1.0, 0.0), "too sure": (1.6, 0.0), "slightly off": (1.1, 0.1)}
WARNED = "sum of distances"


@dataclass(frozen=True)
class BiasedSample:
    """Predictions on a test set, what is asked of them, and the true answer."""

    y_true: np.ndarray
    predictions: Any
    metric: Any
    truth: Mapping[str, float]
    tasks: np.ndarray | None = None
    is_of_runs: bool = False
    exception: str = ""


# ------------------------------------------------------------------ calibration


def _logits(rng, n):
    """Logits of the truth."""
    return rng.normal(size=n) * 1.5 + rng.normal(size=n) * 0.8


def _given(logit, system, noise=0.0):
    factor, shift = SYSTEMS[system]
    return expit(factor * logit + shift + noise)


@cache
def true_error(system, n_runs=0):
    """Error of two million rows with their true probabilities; the mean over runs with noise."""
    if system == "calibrated" and not n_runs:
        return 0.0
    rng = np.random.default_rng(20261122)
    logit = _logits(rng, 2_000_000)
    errors = []
    for _ in range(max(n_runs, 1)):
        noise = OF_SEED * rng.normal(size=len(logit)) if n_runs else 0.0
        given = _given(logit, system, noise)
        number = np.minimum((N_BINS * given).astype(int), N_BINS - 1)
        errors.append(np.abs(np.bincount(number, expit(logit) - given)).sum() / len(given))
    return float(np.mean(errors))


def calibrations(n, *systems, of_tasks=False, of_runs=False):
    """Data sets of one system, or two to compare, or of runs of one."""

    def draw(rng):
        logit = _logits(rng, n)
        y = (rng.random(n) < expit(logit)).astype(int)
        known = {"metric": expected_calibration_error, "exception": WARNED}
        if of_runs:
            noise = OF_SEED * rng.normal(size=(N_RUNS, n))
            runs = [_given(logit, systems[0], of_run) for of_run in noise]
            truth = {"": true_error(systems[0], 20)}
            return BiasedSample(y, runs, truth=truth, is_of_runs=True, **known)
        given = {name: _given(logit, name) for name in systems}
        errors = [true_error(name) for name in systems]
        if len(systems) == 2:
            return BiasedSample(y, given, truth={"": errors[0] - errors[1]}, **known)
        tasks = np.arange(n) % N_TASKS if of_tasks else None
        return BiasedSample(y, given[systems[0]], truth={"": errors[0]}, tasks=tasks, **known)

    return draw


# ------------------------------------------------------------------ costs


def least_cost(apart, prior):
    """Expected cost of the best threshold of normal scores of equal variance."""
    threshold = apart / 2 + np.log((1 - prior) / prior) / apart
    return (1 - prior) * stats.norm.sf(threshold) + prior * stats.norm.cdf(threshold - apart)


def costs(n, prevalence, prior, *areas):
    """Data sets of the scores of one detector, or of two to compare."""
    apart = [np.sqrt(2) * stats.norm.ppf(area) for area in areas]
    truth = [least_cost(d, prior) for d in apart]
    metric = partial(minimum_detection_cost, priors=[1 - prior, prior])

    def draw(rng):
        y = (rng.random(n) < prevalence).astype(int)
        common = rng.normal(size=n)
        noise = [np.sqrt(0.5) * (common + rng.normal(size=n)) for _ in areas]
        scores = [d * y + own for d, own in zip(apart, noise, strict=True)]
        if len(areas) == 1:
            return BiasedSample(y, scores[0], metric, {"": truth[0]})
        named = dict(zip("ab", scores, strict=True))
        return BiasedSample(y, named, metric, {"": truth[0] - truth[1]})

    return draw


# ------------------------------------------------------------------ tools


def ours(sample, seed):
    """The default interval."""
    known = {"metric": sample.metric, "n_resamples": N_RESAMPLES, "random_state": seed}
    if sample.is_of_runs:
        result = bootstrap_runs(sample.y_true, sample.predictions, **known)
        return {"": tuple(result.confidence_interval)}
    if isinstance(sample.predictions, dict):
        [pair] = compare_systems(sample.y_true, sample.predictions, **known).pairs
        return {"": tuple(pair.confidence_interval)}
    options = known | {"average_over": sample.tasks}
    result = bootstrap_score(sample.y_true, sample.predictions, **options)
    return {"": tuple(result.confidence_interval)}


TOOLS = {"skboot": Tool("skboot", ours, note=f"{N_RESAMPLES} resamples")}


def _cells():
    def cell(name, kind, draw):
        return Cell(name, kind, draw, {"skboot": REPETITIONS})

    for one, other in (
        ("calibrated", "too sure"),
        ("slightly off", "calibrated"),
        ("too sure", "slightly off"),
    ):
        for n in (200, 1000, 5000):
            name = f"calibration error, {one} - {other}, n {n}"
            yield cell(name, "calibration, difference", calibrations(n, one, other))
    for system in ("calibrated", "too sure"):
        words = f"calibration error, {system}"
        draw = calibrations(100 * N_TASKS, system, of_tasks=True)
        yield cell(f"{words}, {N_TASKS} tasks of 100 rows", "calibration, average", draw)
        draw = calibrations(1000, system, of_runs=True)
        yield cell(f"{words}, {N_RUNS} runs, n 1000", "calibration, runs", draw)
    for n, prevalence in ((200, 0.5), (1000, 0.1)):
        for prior in (0.5, 0.1):
            words = f"minimum cost, n {n}, {prevalence} positives, prior {prior}"
            for area in (0.85, 0.95):
                draw = costs(n, prevalence, prior, area)
                yield cell(f"{words}, AUC {area}", "minimum cost", draw)
            draw = costs(n, prevalence, prior, 0.95, 0.85)
            yield cell(f"{words}, AUC 0.95 - 0.85", "minimum cost, difference", draw)


STUDY = Study("biased_scores", tuple(_cells()), TOOLS, chunk=100)
