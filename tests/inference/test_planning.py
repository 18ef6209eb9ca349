"""Spreads answer for other sizes as formulas and scipy's laws do."""

import math

import numpy as np
import pytest
import scipy
from scipy import stats

from skboot.inference.planning import ShareSpread, Spread, smallest, variance_factors
from skboot.inference.proportions import SHARE_LIMITS

# Relative error that scipy's noncentral t law may have: scipy 1.11 gives eight digits of it.
NONCENTRAL = 1e-9 if tuple(map(int, scipy.__version__.split(".")[:2])) > (1, 11) else 1e-7


def test_the_standard_error_of_rows_falls_with_the_square_root_of_their_number():
    spread = Spread(50, 0.04)
    assert spread.variance(200) == pytest.approx(0.01)
    assert spread.half_width(0.9, 200, None) == pytest.approx(stats.t.ppf(0.95, 199) * 0.1)
    normal = Spread(50, 0.04, student=False)
    assert normal.half_width(0.9, 200, None) == pytest.approx(stats.norm.ppf(0.95) * 0.1)


def test_runs_and_units_lessen_their_own_parts():
    spread = Spread(100, 0.4, 0.3, 0.2, 0.1, n_runs=5, df_runs=4)
    expected = 0.1 + 0.2 * 5 / 20 + (0.4 + 0.3 * 5 / 20) * 100 / 400
    assert spread.variance(400, 20) == pytest.approx(expected)
    assert spread.variance(math.inf, 20) == pytest.approx(0.1 + 0.05)


@pytest.mark.parametrize("df", [4.5, 6.0, 11.0])
def test_degrees_of_freedom_at_the_pilots_size_are_the_pilots(df):
    spread = Spread(100, 0.5, 0.1, 0.4, 0.0, n_runs=6, df_runs=5)
    found = spread.with_degrees_of_freedom(df)
    assert found.degrees_of_freedom(100, 6) == pytest.approx(df)


def test_with_many_runs_the_units_degrees_of_freedom_are_left_and_the_reverse():
    spread = Spread(40, 0.5, 0.0, 0.5, 0.0, n_runs=4, df_runs=3)
    assert spread.degrees_of_freedom(40, 10**7) == pytest.approx(39, rel=1e-3)
    assert spread.degrees_of_freedom(10**9, 8) == pytest.approx(7, rel=1e-3)


def test_runs_on_samples_of_one_list_do_not_lessen_the_part_of_the_training():
    spread = Spread(100, 0.1, 0.0, 0.0, 0.2, n_runs=2, df_runs=9, of_one_list=True)
    assert spread.variance(math.inf, 1000) == pytest.approx(0.2)
    assert spread.degrees_of_freedom(math.inf, 1000) == pytest.approx(9)


@pytest.mark.parametrize("n", [6, 12, 20])
def test_the_power_of_few_units_is_that_of_the_noncentral_t(n):
    spread, effect = Spread(10, 0.1), 0.9
    shift = effect / math.sqrt(1 / n)
    exact = stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, shift)
    assert spread.power(effect, 0.95, n, None) == pytest.approx(exact, rel=NONCENTRAL)
    one_sided = stats.nct.sf(stats.t.ppf(0.95, n - 1), n - 1, shift)
    found = spread.power(effect, 0.95, n, None, one_sided=True)
    assert found == pytest.approx(one_sided, rel=NONCENTRAL)


def test_the_normal_law_of_many_units_is_within_two_points_of_the_noncentral_t():
    spread = Spread(10, 0.1)
    for n in (21, 30, 60):
        for shift in (2.0, 2.8, 3.5):
            exact = stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, shift)
            found = spread.power(shift / math.sqrt(n), 0.95, n, None)
            assert found == pytest.approx(exact, abs=0.02)


def test_the_paired_t_test_needs_as_many_pairs_as_rs_power_t_test_says():
    # power.t.test(delta = .5, sd = 1, power = .8, type = "paired"): n = 33.37.
    spread = Spread(10, 0.1)
    assert smallest(lambda n: spread.power(0.5, 0.95, n, None) >= 0.8, 2) == 34
    # delta = 1: n = 9.94.
    assert smallest(lambda n: spread.power(1.0, 0.95, n, None) >= 0.8, 2) == 10


def test_a_large_shift_has_power_one_where_the_noncentral_law_has_no_digits():
    assert Spread(5, 1e-12).power(1.0, 0.95, 5, None) == 1.0
    assert Spread(5, 0.0).power(1.0, 0.95, 5, None) == 1.0


@pytest.mark.parametrize("share", [0.5, 0.8, 0.1, 1.0])
@pytest.mark.parametrize("n", [10, 50, 1000])
def test_widths_of_a_share_are_those_of_scipys_intervals(share, n):
    for name, theirs in (("wilson", "wilson"), ("clopper-pearson", "exact")):
        found = ShareSpread(share, SHARE_LIMITS[name]).half_width(0.95, n, None)
        test = stats.binomtest(round(share * n), n).proportion_ci(0.95, method=theirs)
        assert found == pytest.approx((test.high - test.low) / 2, rel=1e-9)


def test_the_smallest_number_that_is_enough_is_found():
    for wanted in (1, 2, 3, 17, 1000, 123_457):
        assert smallest(lambda n, wanted=wanted: n >= wanted) == wanted
    assert smallest(lambda n: n >= 3, least=5) == 5
    assert smallest(lambda n: False) is None


def test_the_limits_of_a_variance_are_those_of_its_chi_square_law():
    low, high = variance_factors(19, 0.95)
    assert low == pytest.approx(19 / stats.chi2.ppf(0.975, 19))
    assert high == pytest.approx(19 / stats.chi2.ppf(0.025, 19))
    # 95% of the estimates have limits about the truth: 5,000 draws, off by .01 once in 1,000.
    found = np.random.default_rng(0).chisquare(19, 5000) / 19
    assert np.mean((low * found <= 1) & (high * found >= 1)) == pytest.approx(0.95, abs=0.01)
