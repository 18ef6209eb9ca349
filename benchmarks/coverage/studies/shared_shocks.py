"""Series that share shocks: what blocks within each series lose, and whether the caution comes.

Question: the mean absolute error of several series at later times has an interval from blocks
within each series (``strata=``), or from blocks of dates that hold all series (a column for each).
How much does the first lose where the series have errors in common, what does the second cost where
they have not, and does the caution tell the two apart? Written before the run.

Design. Errors of each series are sqrt(s) times an autoregression that all share plus sqrt(1 - s)
times one of its own, of variance 1, so that the truth is sqrt(2 / pi): 2, 5 or 12 series of 40, 60
or 120 dates, coefficients 0, .6 and .9, s of 0, .2, .5 and .8. 1000 data sets a cell, 999
resamples, ``block_length="auto"``.

Rule. At most 1 % of the data sets without a shared part have the caution; where blocks within
series cover less than 90 % and those of dates do not, 80 % have it; each with 2.6 Monte Carlo
standard errors on the side of the method. Otherwise the guide says what the caution misses.

First run: absolute errors alone. Squared errors and fourth powers (truths 1 and 3) without a shared
part were added after it, since a chi squared law of few dates may not hold for heavy tails.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from skboot import bootstrap_score

from ..runner import TableStudy, one_line, seeds_of
from .series import autoregression

HEADER = (
    *("series", "dates", "coefficient", "shared %", "power", "sets"),
    *("within %", "within width", "dates %", "dates width", "cautioned %"),
)
N_DATA_SETS, N_RESAMPLES = 1000, 999
# Mean of the absolute values of standard normals to each power.
TRUTHS = {1: math.sqrt(2 / math.pi), 2: 1.0, 4: 3.0}
CAUTION = "rise and fall together"
INDEPENDENT = (
    (12, 120, 0.0, 0),
    (12, 120, 0.6, 0),
    (12, 120, 0.9, 0),
    (2, 120, 0.6, 0),
    (5, 60, 0.6, 0),
    (12, 40, 0.6, 0),
)
SHARED = (
    (12, 120, 0.0, 50),
    (12, 120, 0.6, 20),
    (12, 120, 0.6, 50),
    (12, 120, 0.6, 80),
    (12, 120, 0.9, 50),
    (2, 120, 0.6, 50),
    (5, 60, 0.6, 50),
    (12, 40, 0.6, 50),
)
CELLS = (
    *((*cell, 1) for cell in (*INDEPENDENT, *SHARED)),
    *((*cell, power) for power in (2, 4) for cell in INDEPENDENT),
)


def errors_of(rng, n_series, n, coefficient, shared):
    """Errors of variance 1, (n_series, n); ``shared`` percent of it is of all series."""
    every = autoregression(rng, n, coefficient, n_series + 1)
    return math.sqrt(shared / 100) * every[0] + math.sqrt(1 - shared / 100) * every[1:]


def found(errors, seed):
    """The interval by blocks within series, that by blocks of dates, and if the caution came."""
    n_series, n = errors.shape
    options = {
        **{"metric": "mean_absolute_error", "block_length": "auto"},
        **{"n_resamples": N_RESAMPLES, "random_state": seed},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        within = bootstrap_score(
            np.zeros(errors.size),
            errors.ravel(),
            strata=np.repeat(np.arange(n_series), n),
            **options,
        )
        of_dates = bootstrap_score(np.zeros((n, n_series)), errors.T, **options)
    cautioned = any(CAUTION in text for text in within.notes)
    return within.confidence_interval, of_dates.confidence_interval, cautioned


def cell(n_series, n, coefficient, shared, power):
    """Number of data sets; coverage and mean width of both; percent that have the caution."""
    name = f"{n_series}, {n}, {coefficient}, {shared}" + f", {power}" * (power > 1)
    truth = TRUTHS[power]
    intervals, cautioned = [], 0
    for repetition in range(N_DATA_SETS):
        rng, seed = seeds_of("shared_shocks", name, repetition)
        errors = errors_of(rng, n_series, n, coefficient, shared)
        *both, one = found(np.abs(errors) ** power, seed)
        intervals.append(both)
        cautioned += one
    low, high = np.moveaxis(np.array(intervals, dtype=float)[..., :2], -1, 0)
    covered = 100 * np.mean((low <= truth) & (high >= truth), axis=0)
    width = np.mean(high - low, axis=0)
    return (
        N_DATA_SETS,
        *(text for k in (0, 1) for text in (f"{covered[k]:.1f}", f"{width[k]:.3f}")),
        f"{100 * cautioned / N_DATA_SETS:.1f}",
    )


STUDY = TableStudy("shared_shocks", HEADER, CELLS, one_line(cell))
