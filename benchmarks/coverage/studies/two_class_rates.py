"""How often the default intervals of the two-class rates hold the truth, by simulation.

Sensitivity, specificity and the predictive values are shares of random numbers of rows: a data set
of 50 patients with 5 % events has two or three of them, or none. Rows are independent. Each data
set draws its sensitivity, and by itself its specificity, on the logit scale within `LOGIT_REACH` of
the rate of its cell, which takes out the lattice of the binomial as in `exact_proportions.py`;
predictive values follow from both and the prevalence by Bayes' rule. About half an hour:

    make coverage-study STUDY=two_class_rates

Columns: rows, percent positives, the rate of the cell, the metric, the truth at that rate, data
sets on which the metric is defined, percent of them whose 95 % interval holds the truth with its
Monte Carlo error, percent whose interval lies above the truth and below it, mean width, percent of
the intervals that are Wilson's, and percent of all data sets on which the metric is undefined.
"""

import warnings
from functools import cache
from itertools import product

import numpy as np
from scipy.special import expit, logit

from skboot import bootstrap_score

from ..runner import TableStudy

METRICS = ["sensitivity", "specificity", "ppv", "npv"]
SIZES = (50, 200, 1000)
PREVALENCES = (5, 20, 50)
RATES = (0.7, 0.9, 0.98)
LOGIT_REACH = 0.3

HEADER = [
    "n",
    "positives %",
    "rate",
    "metric",
    "truth",
    "data sets",
    "coverage %",
    "Monte Carlo error",
    "above truth %",
    "below truth %",
    "mean width",
    "Wilson %",
    "undefined %",
]


def truths(sensitivity, specificity, prevalence):
    """The four rates of a test in a population, (4,)."""
    true_positive, false_negative = prevalence * sensitivity, prevalence * (1 - sensitivity)
    true_negative = (1 - prevalence) * specificity
    false_positive = (1 - prevalence) * (1 - specificity)
    ppv = true_positive / (true_positive + false_positive)
    npv = true_negative / (true_negative + false_negative)
    return np.array([sensitivity, specificity, ppv, npv])


@cache
def limits(true_positive, false_negative, false_positive, true_negative):
    """Low, high and whether it is Wilson's, of each metric on a table of decisions, (4, 3)."""
    if not true_positive + false_negative + false_positive:
        # One class alone is refused: nothing says which it is.
        return np.full((4, 3), np.nan)
    counts = (true_positive, false_negative, false_positive, true_negative)
    truth = np.repeat([1, 1, 0, 0], counts)
    decided = np.repeat([1, 0, 1, 0], counts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # metrics that are undefined on some resamples
        found = bootstrap_score(truth, decided, metric=METRICS, random_state=sum(counts))
    intervals = [found[name].confidence_interval for name in METRICS]
    return np.array([[*interval, interval.method == "wilson"] for interval in intervals])


CELLS = [*product(SIZES, PREVALENCES, RATES)]


def rows_of(n, percent, rate, n_data_sets=2000):
    """Rows of the table for one cell: rows, percent positives and rate."""
    rng = np.random.default_rng(5210 + CELLS.index((n, percent, rate)))
    prevalence = percent / 100
    found, expected = np.empty((n_data_sets, 4, 3)), np.empty((n_data_sets, 4))
    for k in range(n_data_sets):
        own = expit(logit(rate) + rng.uniform(-LOGIT_REACH, LOGIT_REACH, size=2))
        positives = rng.binomial(n, prevalence)
        hits = rng.binomial(positives, own[0])
        rejected = rng.binomial(n - positives, own[1])
        found[k] = limits(hits, positives - hits, n - positives - rejected, rejected)
        expected[k] = truths(*own, prevalence)
    for column, name in enumerate(METRICS):
        low, high, wilson = found[:, column].T
        defined = ~np.isnan(low)
        low, high, wilson = low[defined], high[defined], wilson[defined]
        own = expected[defined, column]
        above, below = low > own, high < own
        covered = 1 - np.mean(above | below)
        yield [
            name,
            f"{truths(rate, rate, prevalence)[column]:.3f}",
            str(len(low)),
            f"{100 * covered:.1f}",
            f"{100 * np.sqrt(covered * (1 - covered) / len(low)):.1f}",
            f"{100 * np.mean(above):.1f}",
            f"{100 * np.mean(below):.1f}",
            f"{np.mean(high - low):.3f}",
            f"{100 * np.mean(wilson):.0f}",
            f"{100 * np.mean(~defined):.1f}",
        ]


STUDY = TableStudy("two_class_rates", HEADER, CELLS, rows_of)
