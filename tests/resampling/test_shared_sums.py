"""Sums of several statistics in one product are the sums of each by itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skboot.resampling.block import ReadTerms, SharedSums, SideBySide, UnitBlock
from skboot.resampling.coding import CodedRows, UnitsOfCodes
from skboot.resampling.design import GroupDesign, RowDesign
from skboot.resampling.plan import ResamplingPlan

N = 60


def designs():
    rng = np.random.default_rng(0)
    return {
        "rows": RowDesign.of(N, None),
        "strata": RowDesign.of(N, rng.integers(0, 3, N)),
        "groups": GroupDesign.of(rng.permutation(np.arange(N) % 12), None),
    }


def statistics():
    """Codings and terms: cells, the same cells, single rows, and one that reads no sums."""
    rng = np.random.default_rng(1)
    code = np.concatenate([[0, 1, 2], rng.integers(0, 3, N - 3)])
    terms = rng.normal(size=(3, 2))
    return (
        [
            CodedRows(code, 3, "sums"),
            CodedRows(code.copy(), 3, "sums"),
            CodedRows(None, N, "sums"),
            CodedRows(None, N, "rows"),
        ],
        [terms, terms.copy(), rng.normal(size=(N, 3)), None],
    )


@pytest.mark.parametrize("name", designs())
def test_shared_sums_are_those_of_each_statistic(name):
    codings, terms = statistics()
    binding = ResamplingPlan(designs()[name], 40, np.random.SeedSequence(0)).bind(codings)
    for number in range(binding.n_blocks):
        alone = [
            block.sums(own)
            for block, own in zip(binding.block(number), terms, strict=True)
            if own is not None
        ]
        blocks = binding.block(number)
        binding.share_sums(blocks, [own if own is None else ReadTerms(own, False) for own in terms])
        shared = [
            block.sums(own) for block, own in zip(blocks, terms, strict=True) if own is not None
        ]
        for one, other in zip(alone, shared, strict=True):
            assert_allclose(other, one[: len(other)], atol=1e-12)


@pytest.mark.parametrize("at_once", ["all", "some"])
def test_shared_variances_are_those_of_each_statistic(at_once):
    n, rng = 3000, np.random.default_rng(2)
    terms = [rng.normal(size=(n, width)) for width in (2, 1, 5)]
    codings = [CodedRows(None, n, "sums") for _ in terms]
    binding = ResamplingPlan(RowDesign.of(n), 40, np.random.SeedSequence(0)).bind(codings)
    alone, blocks = binding.block(0), binding.block(0)
    shared = SharedSums.of(blocks, [ReadTerms(own, True) for own in terms])
    assert [len(own) for own in shared.of_products] == [3, 1, 0]
    if at_once == "some":
        shared = shared._replace(columns=SideBySide(list(shared.columns.T)))
    shared.hand_out(blocks)
    for one, other, own in zip(alone, blocks, terms, strict=True):
        gradient = rng.normal(size=one.sums(own).shape)
        assert_allclose(other.sums(own), one.sums(own), atol=1e-10)
        assert_allclose(other.variance(own, gradient), one.variance(own, gradient), rtol=1e-9)
        # Other terms than those that were shared have a variance of their own.
        twice = 2 * own
        assert_allclose(other.variance(twice, gradient), one.variance(twice, gradient), rtol=1e-9)


def test_statistics_with_equal_terms_have_equal_sums_to_the_last_bit():
    codings, terms = statistics()
    binding = ResamplingPlan(designs()["rows"], 40, np.random.SeedSequence(0)).bind(codings)
    blocks = binding.block(0)
    binding.share_sums(blocks, [own if own is None else ReadTerms(own, False) for own in terms])
    assert_array_equal(blocks[0].sums(terms[0]), blocks[1].sums(terms[1]))
    # Other terms than those that were shared are summed as ever.
    assert_allclose(blocks[0].sums(2 * terms[0]), 2 * blocks[0].sums(terms[0]))


@pytest.mark.parametrize(("n", "n_resamples"), [(30, 64), (300, 128), (900, 2), (300, 1000)])
@pytest.mark.parametrize("n_terms", [1, 2, 3])
def test_sums_beside_their_products_are_those_by_themselves(n, n_resamples, n_terms):
    rng = np.random.default_rng(4)
    terms, units = rng.normal(size=(n, n_terms)), UnitsOfCodes(n, (n,), reads="sums")
    counts = rng.poisson(1, (n_resamples, n)).astype(np.uint8)
    alone, beside = UnitBlock(units, counts), UnitBlock(units, counts)
    beside.with_variance = True
    gradient = rng.normal(size=alone.sums(terms).shape)
    # Most kernels of OpenBLAS round both alike; those without AVX sum them in another order.
    rounding = n * np.finfo(float).eps * (counts @ np.abs(terms))
    assert np.all(np.abs(beside.sums(terms) - alone.sums(terms)) <= rounding)
    assert (beside.known_products is not None) == (n_terms == 2 and n_resamples < 1000)
    assert_allclose(beside.variance(terms, gradient), alone.variance(terms, gradient), rtol=1e-11)
