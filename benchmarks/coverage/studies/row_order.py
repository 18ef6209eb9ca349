"""How often is the caution of rows in time given, where it is due and where it is not?

Question: rows that are drawn one by one, without ``block_length`` or ``groups``, have a caution if
neighbours are alike. Is it rare on independent rows, also where these were sorted by something that
their values depend on, and does it come where rows in time depend on each other? Written before the
run.

Design. Values of 100, 400 and 2000 rows, 1000 data sets a cell, looked at as `bootstrap_score` does
before it draws. Independent rows in random order:
absolute errors, heavy tails, an accuracy of .8 and of .97, errors of which nine in ten are 0; ten
systems of a comparison. Independent rows that were sorted: by a truth with which errors grow, by
one at both ends of which they are large, by the score of a classifier that is right where it is
sure, by their errors, by a level of five. Rows that belong together: autoregressions of coefficient
.5, .85 and .95 whose absolute errors are averaged, or whose large values are wrong decisions; rows
that occur twice; groups of five; twenty sites one after the other, which differ.

Rule. At most 5 % of the data sets of independent rows have the caution, in random order and sorted,
and at least 80 % of those of 400 absolute errors with coefficient .5; each with 2.6 Monte Carlo
standard errors on the side of the method. All other cells are shown. If it does not pass, the
thresholds of `skboot.inference.dependence` stay as they were before, and the message says what it
cannot tell apart.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from skboot._base.work import DEFAULT_WORKERS
from skboot.study.rows import IntervalOptions, Sampling, Scoring, checked_rows, measured_by
from skboot.study.study import study_of

from ..runner import TableStudy, one_line, seeds_of
from .series import autoregression

HEADER = ("rows are", "values", "n", "sets", "cautioned %")
N_DATA_SETS = 1000
CAUTION = "Neighbouring rows have similar values"
RANDOM, SORTED, TOGETHER = "independent, in random order", "independent, sorted", "together"


def _errors_that_grow(rng, n):
    by = np.sort(rng.random(n))
    return (0.2 + by) * np.abs(rng.standard_normal(n))


def _errors_at_both_ends(rng, n):
    return np.abs(rng.standard_normal(n) + 4 * (np.sort(rng.random(n)) - 0.5))


def _right_where_sure(rng, n):
    score = np.sort(rng.standard_normal(n))
    return rng.random(n) < 1 / (1 + np.exp(-2 * np.abs(score)))


def _five_levels(rng, n):
    level = np.sort(rng.integers(0, 5, n))
    return rng.standard_normal(n) + np.array([0, 1, 0.5, 2, 1.2])[level]


def _twenty_sites(rng, n):
    return rng.standard_normal(n) + 0.7 * rng.standard_normal(20)[np.sort(rng.integers(0, 20, n))]


def _groups_of_five(rng, n):
    own = np.repeat(rng.standard_normal(n // 5), 5)
    return np.sqrt(0.7) * rng.standard_normal(n) + np.sqrt(0.3) * own


def _absolute(coefficient):
    return lambda rng, n: np.abs(autoregression(rng, n, coefficient)[0])


def _wrong(coefficient, share):
    return lambda rng, n: autoregression(rng, n, coefficient)[0] > norm.isf(share)


KINDS = {
    RANDOM: {
        "absolute errors": _absolute(0.0),
        "heavy tails": lambda rng, n: rng.standard_cauchy(n),
        "accuracy .8": lambda rng, n: rng.random(n) < 0.8,
        "accuracy .97": lambda rng, n: rng.random(n) < 0.97,
        "nine in ten are 0": lambda rng, n: np.where(
            rng.random(n) < 0.9, 0, rng.exponential(size=n)
        ),
        "ten systems": lambda rng, n: np.abs(rng.standard_normal((10, n))),
    },
    SORTED: {
        "by a truth, errors grow": _errors_that_grow,
        "by a truth, large at both ends": _errors_at_both_ends,
        "by a score, right where sure": _right_where_sure,
        "by their errors": lambda rng, n: np.sort(rng.exponential(size=n)),
        "by five levels": _five_levels,
    },
    TOGETHER: {
        "absolute errors, coefficient .5": _absolute(0.5),
        "absolute errors, coefficient .85": _absolute(0.85),
        "absolute errors, coefficient .95": _absolute(0.95),
        "wrong decisions (.2), coefficient .5": _wrong(0.5, 0.2),
        "wrong decisions (.1), coefficient .85": _wrong(0.85, 0.1),
        "each row twice": lambda rng, n: np.repeat(rng.standard_normal(n // 2), 2),
        "groups of five, correlation .3": _groups_of_five,
        "twenty sites in turn": _twenty_sites,
    },
}
CELLS = [(kind, name, n) for n in (400, 100, 2000) for kind, own in KINDS.items() for name in own]


def is_cautioned(values) -> bool:
    """Whether a call on values of rows, or on those of several systems, has the caution."""
    named = {
        str(k): [checked_rows(None, own, None, None)] for k, own in enumerate(np.atleast_2d(values))
    }
    scored = measured_by(Scoring("mean"), named)
    sampling = Sampling(n_resamples=2, random_state=0)
    study = study_of(
        scored, sampling, {"y_pred": values}, IntervalOptions("auto", 0.95, DEFAULT_WORKERS), {}
    )
    return any(note.text.startswith(CAUTION) for note in study.plan.design.remarks)


def cell(kind, name, n, n_data_sets=N_DATA_SETS):
    """Number of data sets, and percent of them that have the caution."""
    count = 0
    for repetition in range(n_data_sets):
        rng, _ = seeds_of("row_order", f"{name}, {n}", repetition)
        count += is_cautioned(KINDS[kind][name](rng, n))
    return n_data_sets, f"{100 * count / n_data_sets:.1f}"


STUDY = TableStudy("row_order", HEADER, CELLS, one_line(cell))
