"""Peers and data of the study of slow series, by formulas written out and by the library."""

import math

import numpy as np
import pytest
from scipy.stats import norm, t
from sklearn.metrics import roc_auc_score

from benchmarks.coverage.studies import slow_series as study
from skboot import proportion_interval


def series(seed, n=120):
    return np.abs(np.random.default_rng(seed).normal(size=n)).cumsum() % 3


def half(limits):
    return (limits[1] - limits[0]) / 2


@pytest.mark.parametrize("seed", range(3))
def test_cosines_are_those_of_the_formula(seed):
    values = series(seed)
    n, times = len(values), (np.arange(len(values)) + 0.5) / len(values)
    n_cosines = round(0.4 * n ** (2 / 3))
    waves = [math.sqrt(2 / n) * np.cos(np.pi * j * times) @ values for j in range(1, n_cosines + 1)]
    expected = t(n_cosines).ppf(0.975) * math.sqrt(np.mean(np.square(waves)) / n)
    assert half(study.ewc("mean", None, values)) == pytest.approx(expected, rel=1e-10)


def autocovariance(values, lag):
    x = values - values.mean()
    return sum(x[i] * x[i + lag] for i in range(len(x) - lag)) / len(x)


@pytest.mark.parametrize("seed", range(3))
def test_standard_errors_of_lags_are_those_of_their_formulas(seed):
    values = series(seed)
    n, lags = len(values), int(4 * (len(values) / 100) ** (2 / 9))
    spectrum = autocovariance(values, 0) + 2 * sum(
        (1 - k / (lags + 1)) * autocovariance(values, k) for k in range(1, lags + 1)
    )
    expected = norm.ppf(0.975) * math.sqrt(spectrum / n)
    assert half(study.newey_west("mean", None, values)) == pytest.approx(expected, rel=1e-10)
    # Harvey, Leybourne & Newbold (1997), equation 9, of forecasts h = n^(1/3) + 1 steps ahead.
    h = round(n ** (1 / 3)) + 1
    variance = autocovariance(values, 0) + 2 * sum(autocovariance(values, k) for k in range(1, h))
    factor = math.sqrt((n + 1 - 2 * h + h * (h - 1) / n) / n)
    expected = t(n - 1).ppf(0.975) * math.sqrt(max(variance, 0) / n) / factor
    assert half(study.diebold_mariano("mean", None, values)) == pytest.approx(expected, rel=1e-10)


def test_wilson_s_interval_is_that_of_the_library():
    right = (series(0) > 0.2).astype(int)
    found = study.wilson("accuracy", np.ones(len(right), int), right)
    known = proportion_interval(int(right.sum()), len(right))
    np.testing.assert_allclose(found, known[:2], rtol=1e-10)


def test_influences_of_an_area_are_those_of_leaving_out_rows():
    rng = np.random.default_rng(0)
    label, n = rng.integers(0, 2, 200), 200
    score = label + rng.normal(size=n)
    estimate, influence = study.influence("roc_auc", label, score)
    assert estimate == pytest.approx(roc_auc_score(label, score))
    every = np.arange(n)
    left_out = [roc_auc_score(label[every != i], score[every != i]) for i in range(n)]
    np.testing.assert_allclose(influence, (n - 1) * (estimate - np.array(left_out)), atol=0.03)


@pytest.mark.parametrize(
    "name", [name for name in study.CELLS if "n 1000" not in name], ids=lambda name: name
)
def test_data_tend_to_the_truth_of_their_cell(name):
    """Mean estimate of 400 data sets, within 4.5 standard errors: once in 150,000 is chance."""
    metric, estimates = study.CELLS[name][0], []
    for number in range(400):
        y, given, truth = study.data_of(name, number)
        estimates.append(study.influence(metric, y, given)[0] - truth)
    error = np.std(estimates, ddof=1) / math.sqrt(len(estimates))
    bias, spread = np.mean(estimates), np.std(estimates)
    if name == "held out: AUC 0.8, long memory, n 300":
        # Rows of a short series have the slow part of the noise in common: they are too easily told
        # apart, by a quarter of a deviation (.015 of .061; .001 of .024 with 3000 rows).
        assert 0 < bias < 0.5 * spread
        return
    # An area of few effective rows is a ratio, and has a bias of a tenth of its deviation.
    assert abs(bias) < 4.5 * error + 0.1 * spread * (metric == "roc_auc")
