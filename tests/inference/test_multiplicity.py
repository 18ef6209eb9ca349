"""Several differences at once: by hand, against the joint law, and against their intervals."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skboot.inference.intervals import Evidence, confidence_interval
from skboot.inference.multiplicity import (
    holm,
    joint_p_values,
    max_t_adjusted,
    max_t_deviations,
    t_quantile_of_normal,
)


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
    around = t_quantile_of_normal(largest, n_units - 1)[
        int(0.94 * n_resamples) : int(0.96 * n_resamples)
    ]
    estimates = np.concatenate([around, around * (1 - 1e-6), around * (1 + 1e-6)])
    apart = []
    for estimate in estimates:
        known = replace(units, estimate=estimate, max_t=(1.0, largest))
        apart.append(confidence_interval(known, "max-t", 0.95).low > 1e-9)
    p = max_t_adjusted(
        np.zeros(len(estimates)),
        estimates,
        np.ones(len(estimates)),
        t_quantile_of_normal(largest, n_units - 1),
    )
    assert 0 < np.mean(apart) < 1
    assert_array_equal(p <= 0.05, apart)


def test_deviations_of_many_units_are_those_of_the_resamples():
    # Chi variables of a million degrees of freedom are 1 within .4 %, six of their deviations.
    rng = np.random.default_rng(0)
    replicates = rng.normal(size=(5, 300)) * np.arange(1, 6)[:, None]
    errors, largest = max_t_deviations(np.zeros(5), replicates, 999_999)
    expected = np.max(np.abs(replicates) / replicates.std(axis=1, ddof=1)[:, None], axis=0)
    assert_allclose(errors, replicates.std(axis=1, ddof=1))
    assert_allclose(t_quantile_of_normal(largest, 999_999), expected, rtol=0.005)


def test_a_single_difference_of_normal_resamples_has_students_interval():
    # 100,000 draws: the quantile of t with 7 degrees of freedom has an error of 1 %.
    replicates = np.random.default_rng(0).normal(size=(1, 99_999))
    units = Evidence(0.0, np.zeros(2), "groups", (8,))
    [error], largest = max_t_deviations(np.zeros(1), replicates, units.degrees_of_freedom)
    low, high = confidence_interval(replace(units, max_t=(error, largest)), "max-t", 0.95)
    expected = np.sqrt(8 / 7) * stats.t.ppf(0.975, 7)
    assert_allclose([low, high], [-expected, expected], rtol=0.03)


def test_the_joint_law_of_one_difference_is_students():
    # Level of the smallest p-value of one difference: uniform; error of 40,000 draws 0.1 %.
    smallest = joint_p_values([7.0], np.eye(1), np.random.SeedSequence(0))
    assert abs(np.mean(smallest <= 0.05) - 0.05) < 0.004
    many = joint_p_values([7.0] * 4, np.eye(4), np.random.SeedSequence(0))
    assert abs(np.mean(many <= 0.05) - (1 - 0.95**4)) < 0.008
    same = joint_p_values([7.0] * 2, np.ones((2, 2)), np.random.SeedSequence(0))
    assert np.mean(same <= 0.05) < 0.09
