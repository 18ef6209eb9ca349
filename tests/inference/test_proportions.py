"""Proportions: limits equal R's, published examples and exact tests; counts are checked."""

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from skboot.inference import mcnemar_exact, proportion_interval, tango_interval
from skboot.inference.proportions import (
    Discordant,
    TwoProportions,
    newcombe_limits,
    tango_statistic,
)

REFERENCES = Path(__file__).parents[1] / "references"


def test_wilson_and_clopper_pearson_equal_r():
    with (REFERENCES / "binomial_ci.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 100
    for row in rows:
        k, n, level = int(row["k"]), int(row["n"]), float(row["level"])
        wilson = proportion_interval(k, n, confidence_level=level)
        exact = proportion_interval(k, n, method="clopper-pearson", confidence_level=level)
        wanted = [float(row[key]) for key in ("wilson_lo", "wilson_hi", "cp_lo", "cp_hi")]
        np.testing.assert_allclose((*wilson[:2], *exact[:2]), wanted, rtol=1e-9, atol=1e-12)


def test_wilson_limit_of_a_perfect_score_on_50_rows_is_0_929():
    low, high = interval = proportion_interval(50, 50)
    level, method = interval.confidence_level, interval.method
    assert (round(low, 3), high, level, method) == (0.929, 1.0, 0.95, "wilson")


def exact_coverage(limits, p, n):
    hits = np.arange(n + 1)
    low, high = np.array([limits(int(k), n) for k in hits]).T
    return stats.binom.pmf(hits, n, p)[(low <= p) & (p <= high)].sum()


@pytest.mark.parametrize("p", [0.7, 0.9, 0.97, 0.99])
@pytest.mark.parametrize("n", [20, 50, 200])
def test_clopper_pearson_covers_at_least_its_level_and_wilson_is_near_it(p, n):
    """Exact binomial coverage, no simulation."""
    exact = exact_coverage(
        lambda k, n: proportion_interval(k, n, method="clopper-pearson")[:2], p, n
    )
    wilson = exact_coverage(lambda k, n: proportion_interval(k, n)[:2], p, n)
    assert exact >= 0.95
    assert wilson >= 0.91


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 5, "n": 4}, "between 0 and n"),
        ({"k": -1, "n": 4}, "between 0 and n"),
        ({"k": 0.93, "n": 200}, "'k' parameter of proportion_interval must be an integer"),
        ({"k": [[1, 2], [3]], "n": 4}, "'k' parameter of proportion_interval must be an integer"),
        ({"k": 0.5, "n": [4, 4]}, "'n' parameter of proportion_interval must be an integer"),
        ({"k": 3, "n": 4, "method": "agresti"}, "one of .*'wilson'"),
        ({"k": 3, "n": 4, "confidence_level": 95}, "Use confidence_level=0.95"),
    ],
)
def test_proportion_interval_says_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        proportion_interval(**arguments)


def test_tango_equals_the_published_airway_example():
    # Airway hyper-responsiveness before and after transplantation (Bentur et al. 2009), cells 1,
    # 1, 7, 12: -0.517 to -0.026 in Fagerland, Lydersen & Laake (2014), Statistics in Medicine 33.
    low, high = tango_interval(1, 7, 21)
    assert (round(low, 3), round(high, 3)) == (-0.517, -0.026)


def test_tango_equals_the_score_interval_of_another_implementation():
    # R's PropCIs::scoreci.mp(25, 28, 618, .90), which is for (28 - 25) / 618: -0.0148, 0.0247.
    low, high = tango_interval(28, 25, 618, confidence_level=0.9)
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
    low, high = tango_interval(b, c, n, confidence_level=level)
    assert_allclose(tango_statistic(Discordant(*counts), low), z, atol=1e-10)
    assert_allclose(tango_statistic(Discordant(*counts), high), -z, atol=1e-10)
    assert_allclose(constrained_score(b, c, n, low), z, atol=1e-5)
    assert_allclose(constrained_score(b, c, n, high), -z, atol=1e-5)


def test_tango_without_discordant_rows_has_the_closed_form():
    z = stats.norm.ppf(0.975)
    low, high = tango_interval(0, 0, 50)
    assert_allclose([low, high], [-(z**2) / (50 + z**2), z**2 / (50 + z**2)], rtol=1e-9)


@pytest.mark.parametrize("counts", [(5, 0, 30), (4, 9, 30), (7, 7, 20), (30, 0, 30)])
def test_tango_of_exchanged_systems_is_the_exact_mirror(counts):
    b, c, n = counts
    low, high = tango_interval(b, c, n)
    mirrored_low, mirrored_high = tango_interval(c, b, n)
    assert (low, high) == (-mirrored_high, -mirrored_low)


def test_newcombes_limits_are_the_published_ones():
    # Newcombe (1998), table II, method 10: 56/70 - 48/80, 9/10 - 3/10, 5/56 - 0/29, 0/10 - 0/10.
    z = stats.norm.ppf(0.975)
    for counts, expected in [
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
        ((0, 10, 0, 10), (-0.2775, 0.2775)),
    ]:
        assert_allclose(newcombe_limits(TwoProportions(*counts), z), expected, atol=6e-5)


def test_tango_at_zero_is_mcnemars_statistic():
    assert_allclose(tango_statistic(Discordant(3, 9, 80), 0.0), (3 - 9) / np.sqrt(12))


def test_tango_refuses_more_discordant_rows_than_rows():
    with pytest.raises(ValueError, match="'n' parameter of tango_interval"):
        tango_interval(5, 6, 10)


@pytest.mark.parametrize("b", [0, 1, 4, 11])
@pytest.mark.parametrize("c", [0, 1, 4, 30])
def test_mcnemar_is_the_exact_binomial_test(b, c):
    expected = stats.binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    assert_allclose(mcnemar_exact(b, c), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((-1, 7, 21), "'first_only' parameter of tango_interval must be an integer of at least 0"),
        ((1.5, 7, 21), r"Got 1\.5\."),
        ((1, True, 21), "'second_only' parameter of tango_interval"),
        ((1, 7, "21"), "'n' parameter of tango_interval must be an integer"),
        ((0, 0, 0), "'n' parameter of tango_interval must be the number of all rows"),
    ],
)
def test_counts_that_are_none_are_refused_by_name(counts, message):
    with pytest.raises(ValueError, match=message):
        tango_interval(*counts)


def test_counts_may_be_whole_floats():
    assert tango_interval(1.0, np.float64(7), 21.0) == tango_interval(1, 7, 21)
    assert mcnemar_exact(2.0, 8) == mcnemar_exact(2, 8)
