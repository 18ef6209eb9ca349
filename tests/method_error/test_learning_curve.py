"""Errors by size: a U-statistic and its variance, against written-out sums; power laws, scipy's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import curve_fit

from skboot.method_error.learning_curve import errors_by_size, extended


def nested(rng, n, sizes, n_samples):
    """Which units are outside of each subsample, (n_sizes, n_samples, n)."""
    outside = np.ones((len(sizes), n_samples, n), dtype=bool)
    for k in range(n_samples):
        order = rng.permutation(n)
        for own, size in zip(outside, sizes, strict=True):
            own[k, order[:size]] = False
    return outside


def of_means(rng, n, sizes, n_samples=20, loss="squared"):
    """Losses of the mean of the training rows."""
    y = rng.normal(size=n)
    outside = nested(rng, n, sizes, n_samples)
    values = np.full(outside.shape, np.nan)
    for own, out in zip(values, outside, strict=True):
        for line, left in zip(own, out, strict=True):
            gap = y[left] - y[~left].mean()
            line[left] = gap**2 if loss == "squared" else np.abs(gap)
    return values


@pytest.mark.parametrize("seed", range(5))
def test_the_estimate_is_the_mean_over_units_of_the_means_of_each(seed):
    rng = np.random.default_rng(seed)
    values = of_means(rng, 30, (6, 15, 27))
    expected = []
    for own in values:
        of_units = [np.mean(line[~np.isnan(line)]) for line in own.T if not np.isnan(line).all()]
        expected.append(np.mean(of_units))
    assert_allclose(errors_by_size(values).estimate, expected)


@pytest.mark.parametrize("seed", range(3))
def test_the_variance_is_the_sum_of_its_parts(seed):
    rng = np.random.default_rng(seed)
    n, size, n_samples = 24, 8, 10
    values = of_means(rng, n, (size,), n_samples)
    [own] = values
    outside = ~np.isnan(own)
    times = outside.sum(axis=0)
    seen = times > 0
    mean = np.array([own[outside[:, i], i].mean() if seen[i] else np.nan for i in range(n)])
    of_tests = np.var(mean[seen], ddof=1) / seen.sum()
    rest = [[own[r, i] - mean[i] for i in np.flatnonzero(outside[r])] for r in range(n_samples)]
    of_samples = np.array([np.mean(line) for line in rest])
    scatter = sum(x**2 for line in rest for x in line) / (times[seen] - 1).sum()
    noise = np.mean(
        [
            sum(1 - 1 / times[i] for i in np.flatnonzero(outside[r])) / outside[r].sum() ** 2
            for r in range(n_samples)
        ]
    )
    between = max(np.var(of_samples, ddof=1) - scatter * noise, 0)
    center = np.mean(mean[seen])
    hard = [
        np.mean([mean[i] - center for i in np.flatnonzero(~outside[r]) if seen[i]])
        for r in range(n_samples)
    ]
    covariance = np.cov(hard, of_samples)
    scale = np.sqrt(between * covariance[0, 0])
    rho = np.clip(covariance[0, 1] / scale, -1, 1) if scale > 0 else 0
    share = size / n
    of_training = between * share / (1 - share)
    expected = of_tests + of_training + between / n_samples
    expected += 2 * rho * np.sqrt(of_tests * of_training)
    assert_allclose(errors_by_size(values).covariance, [[expected]])


@pytest.mark.parametrize("seed", range(5))
def test_units_subsamples_and_the_scale_may_be_exchanged(seed):
    rng = np.random.default_rng(seed)
    values = of_means(rng, 30, (6, 15, 27))
    found = errors_by_size(values)
    units, samples = rng.permutation(30), rng.permutation(20)
    other = errors_by_size(3 - 2 * values[:, samples][:, :, units])
    assert_allclose(other.estimate, 3 - 2 * found.estimate)
    assert_allclose(other.covariance, 4 * found.covariance)


@pytest.mark.parametrize("seed", range(5))
def test_a_subsample_without_values_is_as_if_it_was_never_drawn(seed):
    rng = np.random.default_rng(seed)
    values = of_means(rng, 30, (6, 15))
    lacking = values.copy()
    lacking[:, 3] = np.nan
    found, fewer = errors_by_size(lacking), errors_by_size(np.delete(values, 3, axis=1))
    assert_allclose(found.estimate, fewer.estimate)
    assert_allclose(found.covariance, fewer.covariance)


def test_the_covariance_has_no_negative_variance():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        found = errors_by_size(of_means(rng, 25, (3, 8, 12, 20), loss="absolute"))
        values = np.linalg.eigvalsh(found.covariance)
        assert values.min() > -1e-12 * values.max()


def test_equal_values_have_no_variance():
    values = np.where(nested(np.random.default_rng(0), 20, (5, 10), 8), 0.25, np.nan)
    found = errors_by_size(values)
    assert_allclose(found.estimate, 0.25)
    assert_allclose(found.covariance, 0, atol=1e-30)


def test_the_mean_of_normal_rows_has_the_variance_that_data_sets_show():
    """Fixed seed; a ratio of variances over 400 data sets is off by 10% in one run of six."""
    rng = np.random.default_rng(98)
    sizes = (8, 20, 36)
    found = [errors_by_size(of_means(rng, 40, sizes)) for _ in range(400)]
    estimates = np.array([one.estimate for one in found])
    # The risk of a mean of m rows is 1 + 1 / m.
    truth = 1 + 1 / np.array(sizes)
    error = estimates.std(axis=0, ddof=1) / 20
    assert (np.abs(estimates.mean(axis=0) - truth) < 4 * error).all()
    variance = np.mean([np.diag(one.covariance) for one in found], axis=0)
    ratio = variance / estimates.var(axis=0, ddof=1)
    assert (ratio > 0.75).all()
    assert (ratio < 1.6).all()


# ------------------------------------------------------------------ inverse power laws

X = np.array([40.0, 66.0, 100.0, 140.0, 180.0])


@pytest.mark.parametrize("power", [0.1, 0.5, 1.0, 2.0])
def test_a_law_of_a_power_of_the_grid_is_continued(power):
    values = np.array([0.2 + 3 * X**-power, 0.9 - 2 * X**-power])
    expected = [0.2 + 3 * 400**-power, 0.9 - 2 * 400**-power]
    assert_allclose(extended(X, values, np.ones(5), 400.0), expected, rtol=1e-9)


def test_a_noisy_curve_is_fitted_as_by_scipy():
    rng = np.random.default_rng(0)
    values = 0.3 + 2 * X**-0.7 + rng.normal(scale=2e-4, size=5)
    weights = np.array([1.0, 2.0, 3.0, 2.0, 1.0])

    def law(x, a, b, c):
        return a + b * x**-c

    bounds = ([-np.inf, -np.inf, 0.1], [np.inf, np.inf, 2.0])
    found = curve_fit(law, X, values, [0.3, 1.0, 0.5], sigma=weights**-0.5, bounds=bounds)[0]
    assert_allclose(extended(X, values[None], weights, 360.0), law(360.0, *found), atol=2e-4)


def test_values_may_be_shifted_and_scaled():
    values = np.random.default_rng(1).normal(size=(3, 5))
    one = extended(X, values, np.arange(1.0, 6), 300.0)
    assert_allclose(extended(X, 5 - 2 * values, np.arange(1.0, 6), 300.0), 5 - 2 * one, rtol=1e-8)


def test_a_level_curve_stays_level():
    assert_allclose(extended(X, np.full((1, 5), 0.7), np.ones(5), 400.0), 0.7)
