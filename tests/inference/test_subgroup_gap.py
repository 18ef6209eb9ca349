"""The critical value and the limits of single subgroups that a gap is made of."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from skboot.inference.evidence import Evidence
from skboot.inference.gap import (
    SubgroupEstimate,
    SubgroupGap,
    critical_value,
    gap_limits,
    side_limits,
)
from skboot.inference.intervals import confidence_interval
from skboot.inference.proportions import score_limits

SIDES = {
    "wilson": SubgroupEstimate(0.9, (0.0, 1.0), "wilson", (27, 30, 0, 0), np.inf),
    "tango": SubgroupEstimate(0.1, (-1.0, 1.0), "tango", (5, 2, 30), np.inf),
    "effective": SubgroupEstimate(0.9, (0.0, 1.0), "effective", (12.0, 30.0), 11.0),
    "spread": SubgroupEstimate(0.9, (-np.inf, np.inf), "spread", (np.inf, 1), 29.0),
}
DRAWS = 0.9 + 0.05 * np.random.default_rng(0).normal(size=999)
any_shape = pytest.mark.parametrize("shape", SIDES)


@pytest.mark.parametrize("n_subgroups", [2, 3, 5, 25, 300])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_critical_value_is_that_of_the_range_of_normal_values(n_subgroups, level):
    expected = stats.studentized_range.ppf(level, n_subgroups, np.inf) / np.sqrt(2)
    assert_allclose(critical_value(n_subgroups, 1, level), expected, rtol=1e-6)
    stricter = stats.studentized_range.ppf(1 - (1 - level) / 6, n_subgroups, np.inf)
    assert_allclose(critical_value(n_subgroups, 6, level), stricter / np.sqrt(2), rtol=1e-6)


def test_levels_next_to_one_have_a_critical_value():
    values = [critical_value(4, 3, 1 - 10.0**-k) for k in range(2, 16)]
    assert np.isfinite(values).all()
    assert (np.diff(values) > 0).all()


@any_shape
def test_limits_hold_the_estimate_and_grow_with_the_critical_value(shape):
    side = SIDES[shape]
    limits = np.array([side_limits(side, DRAWS, c) for c in (0.5, 1.0, 2.0, 3.0, 5.0)])
    assert (limits[:, 0] < side.estimate).all()
    assert (side.estimate < limits[:, 1]).all()
    assert (np.diff(limits[:, 0]) < 0).all()
    assert (np.diff(limits[:, 1]) > 0).all()
    assert side.bounds[0] <= limits.min() <= limits.max() <= side.bounds[1]


def test_a_negated_proportion_has_mirrored_limits():
    low, high = side_limits(SIDES["wilson"], None, 2.0)
    negated = SubgroupEstimate(-0.9, (-1.0, 0.0), "wilson", (27, 30, 0, 1), np.inf)
    assert side_limits(negated, None, 2.0) == (-high, -low)


def test_f1_has_the_limits_of_the_jaccard_index():
    side = SubgroupEstimate(2 * 20 / 45, (0.0, 1.0), "wilson", (20, 25, 1, 0), np.inf)
    low, high = score_limits(0.8, 25, 2.0)
    assert_allclose(side_limits(side, None, 2.0), (2 * low / (1 + low), 2 * high / (1 + high)))


def test_a_share_that_never_varies_is_as_uncertain_as_its_smallest_size_says():
    side = SIDES["effective"]._replace(estimate=1.0)
    q = stats.t.isf(stats.norm.sf(2.0), 11)
    assert_allclose(side_limits(side, np.ones(99), 2.0), (12 / (12 + q**2), 1.0))


def test_rounding_is_no_spread():
    side = SIDES["effective"]
    rounded = np.nextafter(0.9, np.arange(999) % 2)
    assert side_limits(side, rounded, 2.0) == side_limits(side, np.full(999, 0.9), 2.0)


def test_a_difference_that_never_varies_is_as_uncertain_as_without_discordant_rows():
    side = SubgroupEstimate(0.0, (-1.0, 1.0), "spread", (30.0, 0), 29.0)
    q = stats.t.isf(stats.norm.sf(2.0), 29)
    reach = q**2 / (30 + q**2)
    assert_allclose(side_limits(side, np.zeros(99), 2.0), (-reach, reach))


@any_shape
def test_limits_of_a_gap_are_those_of_its_mirror_image(shape):
    one = SIDES[shape]
    two = one._replace(estimate=one.estimate - 0.1)
    if shape == "wilson":
        two = one._replace(estimate=0.8, counts=(24, 30, 0, 0))
    other = 0.8 + 0.04 * np.random.default_rng(1).normal(size=999)
    there = gap_limits(SubgroupGap((one, two), 3, 1, False, DRAWS), DRAWS - other, 0.95)
    back = gap_limits(SubgroupGap((two, one), 3, 1, False, other), other - DRAWS, 0.95)
    assert_allclose(there, (-back[1], -back[0]))


def test_only_a_gap_has_a_simultaneous_interval():
    with pytest.raises(ValueError, match="needs the largest disparity between subgroups"):
        confidence_interval(Evidence.of(0.9, DRAWS, "rows", (30,)), "simultaneous")
