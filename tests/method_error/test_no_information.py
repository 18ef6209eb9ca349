"""No-information rates: against the double loop, and against permutations."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, r2_score

from skboot.method_error.out_of_bag import (
    NO_INFORMATION_SCORE,
    no_information_absolute,
    no_information_squared,
)


@pytest.fixture
def pairs():
    rng = np.random.default_rng(3)
    return rng.normal(100, 1, size=40), np.round(rng.normal(101, 2, size=40)), rng.random(40)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("rate", "loss"),
    [
        (no_information_squared, lambda y, f: (y - f) ** 2),
        (no_information_absolute, lambda y, f: np.abs(y - f)),
    ],
)
def test_closed_forms_equal_the_double_loop(pairs, rate, loss, weighted):
    y, f, weight = pairs
    shares = weight / weight.sum() if weighted else np.full(40, 1 / 40)
    expected = shares @ loss(y[:, None], f[None, :]) @ shares
    np.testing.assert_allclose(rate(y, f, sample_weight=weight if weighted else None), expected)


def test_kappa_without_information_is_the_limit_over_permutations():
    rng = np.random.default_rng(5)
    y, f = (rng.random(4000) < 0.3).astype(int), (rng.random(4000) < 0.6).astype(int)
    kappa = [cohen_kappa_score(rng.permutation(y), f) for _ in range(100)]
    # Mean of 100 permutations, four standard errors: false alarm in 1 of 15000 seeds.
    assert abs(np.mean(kappa) - NO_INFORMATION_SCORE["cohen_kappa"]) < 4 * np.std(kappa) / 10


def test_no_information_rate_of_unexplained_variance_is_that_of_mse_over_variance(pairs):
    y, f, _ = pairs
    expected = np.mean([1 - r2_score(np.roll(y, k), f) for k in range(40)])
    np.testing.assert_allclose(no_information_squared(y, f) / y.var(), expected)
