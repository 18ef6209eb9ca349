"""Coverage of the automatic interval of medians and other functions of quantiles, by simulation.

``make coverage-study STUDY=medians`` makes the table that record 0033 speaks of; about six minutes
on one core. A slow test runs a part of it again.

Errors are exponential; the truth of each metric is its value on the distribution itself. Every data
set has seeds of its own: number i of n rows draws from (i, n) and resamples by i, 999 times.
"""

import warnings
from itertools import product

import numpy as np
from scipy import optimize, stats

from skboot import bootstrap_score

from ..runner import TableStudy, one_line

N_DATA_SETS, N_RESAMPLES = 600, 999
SIZES = (20, 50, 200)
ERRORS = {"exponential": stats.expon}
METRICS = {
    "median absolute error": lambda truth, given: np.median(abs(given - truth)),
    "ninth decile": lambda truth, given: np.quantile(abs(given - truth), 0.9),
    "median deviation": lambda truth, given: _median_deviation(given - truth),
}


def _median_deviation(errors):
    return np.median(abs(errors - np.median(errors)))


def true_value(metric, law):
    """Value of a metric on a distribution of errors."""
    centre, share = 0.0, 0.5
    if metric == "ninth decile":
        share = 0.9
    if metric == "median deviation":
        centre = law.median()
    return optimize.brentq(lambda x: law.cdf(centre + x) - law.cdf(centre - x) - share, 0, 50)


def cell(metric, errors, n_rows, n_data_sets=N_DATA_SETS):
    """Row of the table for one metric, law and size."""
    law, found = ERRORS[errors], []
    truth = true_value(metric, law)
    for i in range(n_data_sets):
        sample = law.rvs(size=n_rows, random_state=np.random.default_rng([i, n_rows]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = bootstrap_score(
                np.zeros(n_rows),
                sample,
                metric=METRICS[metric],
                n_resamples=N_RESAMPLES,
                random_state=i,
            )
            limits = [result.confidence_interval]
            limits += [result.interval(name) for name in ("bca", "percentile", "normal")]
        held = [low <= truth <= high for low, high in limits]
        widths = [high - low for low, high in limits[:2]]
        found.append((*held, *widths, result.confidence_interval.method == "expanded"))
    means = np.mean(found, axis=0)
    shares = [f"{100 * share:.1f}" for share in (*means[:4], means[6])]
    width = f"{means[4] / means[5]:.2f}"
    return [n_data_sets, *shares[:4], width, shares[4]]


HEADER = ["metric", "errors", "rows", "data_sets", "auto", "bca", "percentile", "normal"]
HEADER += ["width", "expanded"]


CELLS = [*product(METRICS, ERRORS, SIZES)]
STUDY = TableStudy("medians", HEADER, CELLS, one_line(cell))
