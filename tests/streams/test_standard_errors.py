"""Standard errors of streams beside those of the multinomial bootstrap.

Given how many rows a Poisson resample has, M, its rows are M draws as the multinomial bootstrap
makes n. The variance of a mean is then that of the rows times E[1/M], here summed over the law of
M, and not that times 1/n: by the series of E[1/M] the standard error is 1 + 1/(2 n) times as large.
"""

import numpy as np
import pytest
from designs import weights_in_a_stream
from scipy.stats import poisson

from skboot import BootstrapAccumulator, bootstrap_score, compare_systems

# Standard deviations at which a test fails: a false alarm in some 15,000 seeds.
FAR = 4


def mean_inverse(n, power=1):
    """n E[1/M], or the mean of its square, of a Poisson number of mean n that is not 0."""
    sizes = np.arange(1, 40 * n + 100)
    law = poisson.pmf(sizes, n) / poisson.sf(0, n)
    return float(law @ (n / sizes) ** power)


def standard_error(values, n_resamples, **units):
    found = BootstrapAccumulator("mean", random_state=2, n_resamples=n_resamples, interval="normal")
    return found.update(None, values, **(units or {"start": 0})).result().standard_error


@pytest.mark.parametrize("n", [30, 60, 100, 300, 1000])
def test_by_the_law_the_ratio_is_one_and_half_of_a_row_to_first_order(n):
    excess = np.sqrt(mean_inverse(n)) - 1
    # The next term of the series is 7 / (8 n^2), the one after it at most 4 / n^3.
    assert excess == pytest.approx(1 / (2 * n) + 7 / (8 * n**2), abs=4 / n**3)


# Rows and resamples: of more rows the noise hides what the law adds, 1 / (2 n).
@pytest.mark.parametrize(("n", "n_resamples"), [(30, 1_000_000), (100, 1_000_000)])
def test_the_standard_error_of_a_mean_is_that_of_the_law(n, n_resamples):
    # Half of the values are 1: an excess kurtosis of -2 / n, so replicates are as good as normal.
    values = np.arange(n) % 2
    ratio = standard_error(values, n_resamples) / (0.5 / np.sqrt(n))
    noise = 1 / np.sqrt(2 * n_resamples)
    assert ratio == pytest.approx(np.sqrt(mean_inverse(n)), rel=FAR * noise)


@pytest.mark.parametrize("n", [30, 100])
def test_sizes_of_resamples_have_the_mean_inverse_of_the_law(n):
    # A total of ones is the size of a resample; the score of a mean does not show it.
    n_resamples = 400_000
    sizes = weights_in_a_stream(4, n_resamples, np.arange(n)).sum(axis=0)
    spread = np.sqrt(mean_inverse(n, 2) - mean_inverse(n) ** 2)
    noise = spread / np.sqrt(n_resamples)
    assert np.mean(n / sizes) == pytest.approx(mean_inverse(n), abs=FAR * noise)


@pytest.mark.parametrize("n_groups", [30, 1000])
def test_groups_count_in_the_place_of_rows(n_groups):
    # Groups of 3 equal rows are as many units, and their number is what is divided by.
    values = np.repeat(np.arange(n_groups) % 2, 3)
    n_resamples = 120_000_000 // (3 * n_groups)
    found = standard_error(values, n_resamples, groups=np.repeat(np.arange(n_groups), 3))
    ratio = found / (0.5 / np.sqrt(n_groups))
    noise = 1 / np.sqrt(2 * n_resamples)
    assert ratio == pytest.approx(np.sqrt(mean_inverse(n_groups)), rel=FAR * noise)


# ------------------------------------------------------------------ other metrics


def rows_of(n):
    rng = np.random.default_rng(n)
    truth = np.arange(n) % 2
    scores = np.round(rng.normal(size=n) + truth, 1)
    return truth, scores, (scores > 0.5).astype(int)


# A ratio of two standard deviations has twice the variance of one.
@pytest.mark.parametrize(("n", "n_resamples"), [(50, 100_000), (200, 40_000), (1000, 10_000)])
@pytest.mark.parametrize("metric", ["f1_macro", "matthews_corrcoef", "roc_auc", "r2"])
def test_the_standard_error_is_near_that_of_the_multinomial_bootstrap(metric, n, n_resamples):
    truth, scores, decisions = rows_of(n)
    predicted = decisions if metric in ("f1_macro", "matthews_corrcoef") else scores
    options = {"metric": metric, "random_state": 6, "n_resamples": n_resamples}
    stream = BootstrapAccumulator(**options, interval="normal").update(truth, predicted, start=0)
    whole = bootstrap_score(truth, predicted, **options, interval="normal")
    ratio = stream.result().standard_error / whole.standard_error
    allowed = 0 if n >= 1000 else 1 / (2 * n)
    assert abs(ratio - 1) < allowed + FAR / np.sqrt(n_resamples)


def test_so_is_that_of_a_difference_of_systems():
    truth, scores, decisions = rows_of(1000)
    predicted = {"one": decisions, "other": (scores > 0).astype(int)}
    options = {"metric": "f1", "random_state": 6, "n_resamples": 20_000, "interval": "normal"}
    stream = BootstrapAccumulator(systems=list(predicted), **options)
    mine = stream.update(truth, predicted, start=0).result().pair("one", "other")
    its = compare_systems(truth, predicted, **options).pair("one", "other")
    noise = 1 / np.sqrt(options["n_resamples"])
    assert mine.standard_error == pytest.approx(its.standard_error, rel=FAR * noise)
