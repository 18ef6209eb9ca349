"""Draws from a normal law: their covariance, and that rounding does not change them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skboot.inference.multiplicity import LowRankRoot, symmetric_root

RNG = np.random.default_rng(0)
LOADINGS = RNG.normal(size=(6, 4))
COVARIANCES = {
    "regular": np.cov(RNG.normal(size=(30, 5)), rowvar=False),
    # What numbers measured against one reference have: all eigenvalues but one are the same.
    "equal correlations": 0.5 + 0.5 * np.eye(5),
    "of lower rank": LOADINGS @ LOADINGS.T,
    "two that are the same": np.array([[2.0, 2.0, 0.5], [2.0, 2.0, 0.5], [0.5, 0.5, 1.0]]),
    "without variance": np.zeros((3, 3)),
}


@pytest.mark.parametrize("name", COVARIANCES)
def test_the_square_is_the_covariance(name):
    root = symmetric_root(COVARIANCES[name])
    assert_allclose(root @ root, COVARIANCES[name], atol=1e-12)
    assert_allclose(root, root.T, atol=1e-15)


@pytest.mark.parametrize("name", COVARIANCES)
def test_rounding_and_order_change_nothing(name):
    covariance = COVARIANCES[name]
    noise = 1e-16 * covariance.max() * RNG.normal(size=covariance.shape)
    root = symmetric_root(covariance)
    assert_allclose(symmetric_root(covariance + noise + noise.T), root, atol=1e-10)
    order = RNG.permutation(len(covariance))
    assert_allclose(
        symmetric_root(covariance[np.ix_(order, order)]), root[np.ix_(order, order)], atol=1e-10
    )


@pytest.mark.parametrize("n", [3, 5, 12])
@pytest.mark.parametrize("name", COVARIANCES)
def test_the_root_of_few_parts_is_that_of_the_whole_matrix(name, n):
    # A covariance that was put together of single variances can have some below zero.
    for covariance in (COVARIANCES[name], COVARIANCES[name] - 0.2 * np.eye(len(COVARIANCES[name]))):
        loadings = RNG.normal(size=(n, len(covariance)))
        whole = symmetric_root(loadings @ covariance @ loadings.T)
        normal = RNG.normal(size=(7, n))
        found = LowRankRoot.of(loadings, covariance).times(normal)
        # Rounding of a variance of 0 has a root of 1e-8 where there is no larger one beside it.
        assert_allclose(found, normal @ whole, atol=1e-6)
