"""P-values in closed form, of one side, and of batches: against bisection, scipy and one by one."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from skboot._base.errors import collected
from skboot.inference.differences import (
    CLOSED_FORM,
    DIFFERENCE_METHODS,
    TAILS,
    Difference,
    difference_interval,
    p_of_interval,
    p_value,
    smallest_excluding_zero,
)
from skboot.inference.evidence import Evidence
from skboot.inference.intervals import ALTERNATIVES, limits_of
from skboot.inference.proportions import Discordant, mcnemar_p_values, tango_limits

RESAMPLED = [name for name in DIFFERENCE_METHODS if name not in CLOSED_FORM]


def batch(seed, n_differences=40, n_resamples=199, n_units=30, n_strata=1):
    """Means of normal values, some of them rounded so that replicates tie with 0."""
    rng = np.random.default_rng(seed)
    shift = rng.normal(size=n_differences) * 0.4
    values = shift[:, None] + rng.normal(size=(n_differences, n_units))
    values[::3] = np.round(values[::3])
    drawn = rng.integers(n_units, size=(n_resamples, n_units))
    replicates = np.sort(values[:, drawn].mean(axis=2), axis=1)
    return Evidence.of(values.mean(axis=1), replicates, "rows", (n_units,), n_strata=n_strata)


def one_of(evidence, k):
    replicates = evidence.replicates[k]
    return replace(
        evidence,
        estimate=float(evidence.estimate[k]),
        replicates=replicates,
        robust_variance=replicates.var() / 2,
        smoothed=np.stack((replicates, 1.1 * replicates)),
    )


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("method", [*TAILS, "smoothed"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_closed_forms_are_what_bisection_finds(method, alternative, level):
    known = batch(1)
    floor = (2 if alternative == "two-sided" else 1) / 200
    with collected():
        alone = [one_of(known, k) for k in range(len(known.replicates))]
        if method in TAILS:
            found = p_of_interval(known, method, level, alternative)
        else:
            found = [p_of_interval(single, method, level, alternative) for single in alone]
        expected = [
            smallest_excluding_zero(single, method, floor, level, alternative) for single in alone
        ]
    assert_allclose(found, expected, atol=3e-9)
    assert len(np.unique(found)) > 15


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("method", TAILS)
def test_a_batch_is_its_differences_one_by_one(method, alternative):
    known = batch(2, n_strata=2)
    low, high = limits_of(known, method, 0.9, alternative)
    p = p_of_interval(known, method, 0.9, alternative)
    for k in range(len(p)):
        single = one_of(known, k)
        limits = limits_of(single, method, 0.9, alternative)
        assert_allclose([low[k], high[k]], limits, rtol=1e-12)
        assert_allclose(p[k], p_of_interval(single, method, 0.9, alternative), rtol=1e-12)


@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize("method", RESAMPLED)
@pytest.mark.parametrize("level", [0.3, 0.8, 0.95])
def test_a_one_sided_p_agrees_with_its_interval(method, alternative, level):
    known = replace(batch(3), acceleration=0.03)
    for k in range(40):
        difference = Difference(one_of(known, k))
        low, high = difference_interval(difference, method, level, alternative)
        p = p_value(difference, method, level, alternative)
        assert (p <= round(1 - level, 12)) == (low > 0 or high < 0)
        assert np.isinf(high if alternative == "greater" else low)
        assert 1 / 200 <= p <= 1


@pytest.mark.parametrize("method", RESAMPLED)
def test_one_side_at_a_level_is_a_side_of_the_interval_that_leaves_out_twice_as_much(method):
    difference = Difference(replace(one_of(batch(4), 0), acceleration=0.03))
    low, high = difference_interval(difference, method, 0.9)
    assert difference_interval(difference, method, 0.95, "greater").low == pytest.approx(low)
    assert difference_interval(difference, method, 0.95, "less").high == pytest.approx(high)


def test_the_t_interval_and_its_p_value_are_scipys():
    # Replicates whose standard deviation is that of the mean, times sqrt((n - 1) / n).
    values = np.random.default_rng(5).normal(0.3, size=12)
    spread = values.std(ddof=0) / np.sqrt(12)
    replicates = values.mean() + spread * stats.zscore(np.arange(99.0), ddof=1)
    known = Difference(Evidence.of(values.mean(), replicates, "rows", (12,)))
    for alternative in ALTERNATIVES:
        test = stats.ttest_1samp(values, 0.0, alternative=alternative)
        interval = difference_interval(known, "t", 0.95, alternative)
        assert_allclose(interval, test.confidence_interval(0.95), rtol=1e-10)
        assert_allclose(p_value(known, "t", 0.95, alternative), test.pvalue, rtol=1e-8)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_mcnemars_p_value_is_the_binomial_test(alternative):
    pairs = [(0, 0), (5, 1), (1, 5), (3, 3), (0, 9)]
    found = mcnemar_p_values(*np.array(pairs).T, alternative)
    expected = [
        stats.binomtest(one, one + other, 0.5, alternative=alternative).pvalue
        if one + other
        else 1.0
        for one, other in pairs
    ]
    assert_allclose(found, expected)


@pytest.mark.parametrize("level", [0.2, 0.95])
def test_tangos_one_sided_limits_are_those_of_its_quantile(level):
    counts = Discordant(12, 4, 80)
    known = Difference(Evidence.of(0.1, np.zeros(2), "rows", (80,)), counts)
    z = stats.norm.ppf(level)
    side = tango_limits(counts, abs(z))
    low = difference_interval(known, "tango", level, "greater").low
    assert low == (side[0] if z > 0 else side[1])
    p = p_value(known, "tango", level, "greater")
    assert (p <= 1 - level) == (low > 0)
    # McNemar's statistic without correction.
    assert_allclose(p, stats.norm.sf((12 - 4) / np.sqrt(16)))
