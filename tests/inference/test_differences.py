"""Paired differences: Tango, McNemar, DeLong, and p-values that agree with their intervals."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skboot.inference.differences import (
    DIFFERENCE_METHODS,
    Difference,
    Discordant,
    delong_test,
    difference_interval,
    holm,
    max_t_adjusted,
    mcnemar_exact,
    p_value,
    tango_interval,
    tango_statistic,
)
from skboot.inference.intervals import (
    Evidence,
    confidence_interval,
    max_t_deviations,
    t_quantile_of_normal,
)

REFERENCES = Path(__file__).parents[1] / "references" / "delong"
RESAMPLED = [method for method in DIFFERENCE_METHODS if method not in ("tango", "delong")]


# ------------------------------------------------------------------ Tango


def test_tango_equals_the_published_airway_example():
    # Airway hyper-responsiveness before and after transplantation (Bentur et al. 2009), cells 1,
    # 1, 7, 12: -0.517 to -0.026 in Fagerland, Lydersen & Laake (2014), Statistics in Medicine 33.
    low, high, *_ = tango_interval(1, 7, 21)
    assert (round(low, 3), round(high, 3)) == (-0.517, -0.026)


def test_tango_equals_the_score_interval_of_another_implementation():
    # R's PropCIs::scoreci.mp(25, 28, 618, .90), which is for (28 - 25) / 618: -0.0148, 0.0247.
    low, high, *_ = tango_interval(28, 25, 618, confidence_level=0.9)
    assert (round(low, 4), round(high, 4)) == (-0.0148, 0.0247)


def constrained_score(b, c, n, d):
    """Score statistic with the nuisance maximised numerically, from the multinomial likelihood."""
    from scipy.optimize import minimize_scalar

    def minus_log_likelihood(q):
        agree = 1 - 2 * q - d
        return -(b * np.log(q + d) + c * np.log(q) + (n - b - c) * np.log(agree))

    low, high = max(0.0, -d) + 1e-12, (1 - d) / 2 - 1e-12
    q = minimize_scalar(
        minus_log_likelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-13}
    ).x
    return (b - c - n * d) / np.sqrt(n * (2 * q + d - d * d))


@pytest.mark.parametrize("counts", [(3, 1, 50), (12, 5, 40), (2, 9, 200)])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_tango_limits_are_where_the_constrained_score_is_z(counts, level):
    b, c, n = counts
    z = stats.norm.ppf(0.5 + level / 2)
    low, high, *_ = tango_interval(b, c, n, confidence_level=level)
    assert_allclose(tango_statistic(Discordant(*counts), low), z, atol=1e-10)
    assert_allclose(tango_statistic(Discordant(*counts), high), -z, atol=1e-10)
    assert_allclose(constrained_score(b, c, n, low), z, atol=1e-5)
    assert_allclose(constrained_score(b, c, n, high), -z, atol=1e-5)


def test_tango_without_discordant_rows_has_the_closed_form():
    z = stats.norm.ppf(0.975)
    low, high, *_ = tango_interval(0, 0, 50)
    assert_allclose([low, high], [-(z**2) / (50 + z**2), z**2 / (50 + z**2)], rtol=1e-9)


@pytest.mark.parametrize("counts", [(5, 0, 30), (4, 9, 30), (7, 7, 20), (30, 0, 30)])
def test_tango_of_exchanged_systems_is_the_exact_mirror(counts):
    b, c, n = counts
    low, high, *_ = tango_interval(b, c, n)
    mirrored_low, mirrored_high, *_ = tango_interval(c, b, n)
    assert (low, high) == (-mirrored_high, -mirrored_low)


def test_tango_at_zero_is_mcnemars_statistic():
    assert_allclose(tango_statistic(Discordant(3, 9, 80), 0.0), (3 - 9) / np.sqrt(12))


def test_tango_refuses_more_discordant_rows_than_rows():
    with pytest.raises(ValueError, match="'n' parameter of tango_interval"):
        tango_interval(5, 6, 10)


# ------------------------------------------------------------------ McNemar, DeLong


@pytest.mark.parametrize("b", [0, 1, 4, 11])
@pytest.mark.parametrize("c", [0, 1, 4, 30])
def test_mcnemar_is_the_exact_binomial_test(b, c):
    expected = stats.binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    assert_allclose(mcnemar_exact(b, c), expected, rtol=1e-12)


@pytest.mark.parametrize("pair", ["s100b_ndka", "s100b_wfns"])
def test_delong_equals_proc(pair):
    columns = np.genfromtxt(REFERENCES / "delong_aSAH.csv", delimiter=",", names=True)
    expected = json.loads((REFERENCES / "delong_expected.json").read_text())
    outcome = next(name for name in columns.dtype.names if name not in pair.split("_"))
    positive = columns[outcome] == 1
    first, second = pair.split("_")
    found = delong_test(positive, columns[first], columns[second])
    assert_allclose(found.z, expected["paired"][pair]["z"], rtol=1e-9)
    assert_allclose(found.p_value, expected["paired"][pair]["p"], rtol=1e-9)
    areas = {single["var"]: single["auc"] for single in expected["single"]}
    assert_allclose(found.difference, areas[first] - areas[second], rtol=1e-9)


def test_delong_of_the_same_scores_is_one():
    y, scores = [0, 1, 0, 1, 1], [0.2, 0.7, 0.4, 0.3, 0.9]
    assert delong_test(y, scores, scores)[1:] == (0.0, 0.0, 1.0)


# ------------------------------------------------------------------ p-values


def bootstrapped(estimate, seed, n=40, n_resamples=199):
    rng = np.random.default_rng(seed)
    values = rng.normal(estimate, 1.0, size=n)
    replicates = rng.choice(values, size=(n_resamples, n)).mean(axis=1)
    evidence = Evidence(
        estimate=values.mean(), replicates=replicates, kind="rows", n_units=(n,), acceleration=0.02
    )
    return Difference(evidence)


@pytest.mark.parametrize("method", RESAMPLED)
@pytest.mark.parametrize("level", [0.8, 0.9, 0.95])
def test_p_is_below_one_minus_level_exactly_when_the_interval_excludes_zero(method, level):
    for seed in range(40):
        difference = bootstrapped(0.3, seed)
        low, high, *_ = difference_interval(difference, method, level)
        p = p_value(difference, method, level)
        assert (p <= round(1 - level, 12)) == (low > 0 or high < 0)


@pytest.mark.parametrize("method", RESAMPLED)
def test_the_interval_at_one_minus_p_touches_zero(method):
    difference = bootstrapped(0.3, 3, n_resamples=1999)
    p = p_value(difference, method)
    assert 0.002 < p < 1
    limits = difference_interval(difference, method, 1 - p)[:2]
    assert min(map(abs, limits)) < 1e-6


def test_p_of_a_percentile_interval_counts_resamples():
    # 199 replicates, 3 of them at or below 0: the 4th order statistic is the first above it.
    replicates = np.concatenate([[-3.0, -2.0, -1.0], np.linspace(1e-9, 5, 196)])
    evidence = Evidence(estimate=2.0, replicates=replicates, kind="rows", n_units=(50,))
    assert_allclose(p_value(Difference(evidence), "percentile"), 2 * 4 / 200, rtol=1e-4)


@pytest.mark.parametrize("method", RESAMPLED)
def test_p_from_resamples_is_at_least_two_in_b_plus_one(method):
    difference = bootstrapped(20.0, 1)
    assert_allclose(p_value(difference, method), 2 / 200)


def test_identical_systems_have_a_degenerate_interval_and_p_one():
    difference = replace(bootstrapped(0.0, 0), identical=True)
    for method in RESAMPLED:
        assert difference_interval(difference, method, 0.95)[:2] == (0.0, 0.0)
        assert p_value(difference, method) == 1.0


def test_tango_needs_right_and_wrong_rows():
    with pytest.raises(ValueError, match="'tango' needs 0/1 values"):
        difference_interval(bootstrapped(0.3, 0), "tango", 0.95)


# ------------------------------------------------------------------ several differences


def test_holm_by_hand():
    # Sorted .01, .02, .03, .5: 4 x .01, 3 x .02, 2 x .03 = .06, .5; never falling.
    assert_allclose(holm([0.03, 0.01, 0.5, 0.02]), [0.06, 0.04, 0.5, 0.06])
    assert_allclose(holm([0.9, np.nan, 0.6]), [1.0, np.nan, 1.0])


def test_max_t_counts_resamples_with_a_larger_deviation():
    largest = np.arange(1.0, 100.0)  # 99 resamples
    found = max_t_adjusted(
        np.array([0.001, 0.9, 0.5]), np.array([9.0, 9.0, 0.0]), np.array([0.1, 0.1, 0.0]), largest
    )
    # t = 90: 10 of 99 are as large, (1 + 10) / 100; never below the p of the pair by itself.
    assert_allclose(found, [0.11, 0.9, 1.0])


@pytest.mark.parametrize("n_resamples", [499, 500, 1999, 2003])
@pytest.mark.parametrize("n_units", [8, 1000])
def test_max_t_p_is_below_one_minus_level_exactly_when_its_interval_excludes_zero(
    n_resamples, n_units
):
    # Estimates on, just below and just above every deviation around the limit.
    largest = np.sort(np.random.default_rng(0).chisquare(3, size=n_resamples))
    units = Evidence(0.0, np.zeros(2), "rows", (n_units,))
    around = t_quantile_of_normal(units, largest)[int(0.94 * n_resamples) : int(0.96 * n_resamples)]
    estimates = np.concatenate([around, around * (1 - 1e-6), around * (1 + 1e-6)])
    apart = []
    for estimate in estimates:
        known = replace(units, estimate=estimate, max_t=(1.0, largest))
        apart.append(confidence_interval(known, "max-t", 0.95).low > 1e-9)
    p = max_t_adjusted(
        np.zeros(len(estimates)),
        estimates,
        np.ones(len(estimates)),
        t_quantile_of_normal(units, largest),
    )
    assert 0 < np.mean(apart) < 1
    assert_array_equal(p <= 0.05, apart)


def test_deviations_of_many_units_are_those_of_the_resamples():
    # Chi variables of a million degrees of freedom are 1 within .4 %, six of their deviations.
    rng = np.random.default_rng(0)
    replicates = rng.normal(size=(5, 300)) * np.arange(1, 6)[:, None]
    units = Evidence(0.0, np.zeros(2), "rows", (1_000_000,))
    errors, largest = max_t_deviations(np.zeros(5), replicates, units)
    expected = np.max(np.abs(replicates) / replicates.std(axis=1, ddof=1)[:, None], axis=0)
    assert_allclose(errors, replicates.std(axis=1, ddof=1))
    assert_allclose(t_quantile_of_normal(units, largest), expected, rtol=0.005)


def test_a_single_difference_of_normal_resamples_has_students_interval():
    # 100,000 draws: the quantile of t with 7 degrees of freedom has an error of 1 %.
    replicates = np.random.default_rng(0).normal(size=(1, 99_999))
    units = Evidence(0.0, np.zeros(2), "groups", (8,))
    [error], largest = max_t_deviations(np.zeros(1), replicates, units)
    low, high, *_ = confidence_interval(replace(units, max_t=(error, largest)), "max-t", 0.95)
    expected = np.sqrt(8 / 7) * stats.t.ppf(0.975, 7)
    assert_allclose([low, high], [-expected, expected], rtol=0.03)
