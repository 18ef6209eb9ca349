"""Poisson weights of streams depend on the seed, the resample and the id of the unit alone."""

import math
import os
import platform
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from skboot._base.work import child_seed
from skboot.resampling.streamed import PoissonWeights

SEED = np.random.SeedSequence(7)


def weights_of(ids, n_resamples, seed=SEED):
    drawn = PoissonWeights(seed, n_resamples)
    return drawn.weights(drawn.units(np.asarray(ids)))


# ------------------------------------------------------------------ one weight, by itself


def finalized(word):
    """splitmix64's finalizer in Python's integers."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
    return word ^ (word >> 31)


def one_weight(row, resample):
    step = 0x9E3779B97F4A7C15
    keys = [int(key) for key in child_seed(SEED, 0).generate_state(4, np.uint64)]
    unit = finalized((row * step + keys[0]) % 2**64)
    word = finalized((unit + finalized(((resample // 4 + 1) * step + keys[3]) % 2**64)) % 2**64)
    bits = (word >> 16 * (resample % 4)) % 2**16
    cumulated, weight = 0.0, 0
    while weight < 8:
        cumulated += math.exp(-1) / math.factorial(weight)
        if bits < round(cumulated * 2**16):
            break
        weight += 1
    return weight


def test_a_weight_is_that_of_an_independent_loop_over_single_bits():
    rows = [0, 1, 12_345, 2**40, 2**63 - 1]
    expected = [[one_weight(row, resample) for resample in range(4100)] for row in rows]
    np.testing.assert_array_equal(weights_of(rows, 4100), expected)


def test_a_weight_depends_on_no_other_row_and_no_other_resample():
    many = weights_of(np.arange(3000), 1100)
    np.testing.assert_array_equal(weights_of(np.arange(500, 700), 1100), many[500:700])
    np.testing.assert_array_equal(weights_of([2999, 3, 3], 37), many[[2999, 3, 3], :37])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_integers_of_any_width_have_the_same_weights(dtype):
    np.testing.assert_array_equal(
        weights_of(np.arange(100, dtype=dtype), 20), weights_of(np.arange(100), 20)
    )


def test_texts_have_the_same_weights_however_wide_their_array_is():
    ids = np.array(["a", "ab", "abc", "", "b\0c", "long enough", "\U0001f600"])
    wide = ids.astype("U60")
    np.testing.assert_array_equal(weights_of(ids, 400), weights_of(wide, 400))
    assert len(np.unique(weights_of(ids, 400), axis=0)) == len(ids)


def test_another_seed_and_another_kind_of_id_have_other_weights():
    one = weights_of(np.arange(50), 40)
    assert np.mean(one == weights_of(np.arange(50), 40, np.random.SeedSequence(8))) < 0.5
    assert np.mean(one == weights_of(np.arange(50).astype(str), 40)) < 0.5


# ------------------------------------------------------------------ their law


def test_the_table_of_weights_is_poisson_within_half_a_bit_of_16():
    expected = stats.poisson.pmf(np.arange(9), 1.0)
    from skboot.resampling.streamed import _THRESHOLDS

    edges = np.concatenate(([0], _THRESHOLDS.astype(float), [2**16])) / 2**16
    # A probability is a difference of two thresholds, each of them rounded.
    assert np.abs(np.cumsum(np.diff(edges)) - np.cumsum(expected)).max() <= 2**-17
    mean = np.diff(edges) @ np.arange(9)
    assert abs(mean - 1) < 2e-5
    assert abs(np.diff(edges) @ np.arange(9) ** 2 - mean**2 - 1) < 2e-4


@pytest.mark.parametrize("ids", ["rows", "far rows", "texts"])
def test_weights_are_poisson_and_independent(ids):
    # Five tests at 1e-4 each, on three kinds of ids: a false alarm in 1 of 700 seeds.
    n_rows, n_resamples = 4000, 500
    numbers = {"rows": np.arange(n_rows), "far rows": np.arange(n_rows) * 2**32}
    given = numbers.get(ids, np.array([f"utterance-{k:06d}" for k in range(n_rows)]))
    weights = weights_of(given, n_resamples).astype(float)
    counts = np.bincount(np.minimum(weights, 6).astype(int).ravel(), minlength=7)
    shares = stats.poisson.pmf(np.arange(6), 1.0)
    expected = weights.size * np.append(shares, 1 - shares.sum())
    assert stats.chisquare(counts, expected).pvalue > 1e-4
    centred = weights - 1
    # Sums over rows and over resamples have the variance of independent weights.
    for totals, n in ((centred.sum(axis=0), n_rows), (centred.sum(axis=1), n_resamples)):
        p = stats.chi2.cdf((totals**2).sum() / n, len(totals))
        assert 5e-5 < p < 1 - 5e-5
    # So do their products at neighbours, which are uncorrelated.
    for moved in (np.roll(centred, 1, axis=0), np.roll(centred, 1, axis=1)):
        z = (centred * moved).sum() / np.sqrt(weights.size)
        assert abs(z) < stats.norm.isf(5e-5)


def test_pairs_of_rows_meet_in_resamples_as_independent_weights_do():
    # Over all 7,998,000 pairs: the sum of squared covariances has mean 1 per pair and a relative
    # standard deviation below 1e-3; five of these are an alarm in less than one seed in a million.
    weights = weights_of(np.arange(4000), 500).astype(float) - 1
    products = weights @ weights.T / np.sqrt(500)
    squares = products[np.triu_indices(4000, 1)] ** 2
    assert abs(squares.mean() - 1) < 5e-3


# ------------------------------------------------------------------ sums


@pytest.mark.parametrize("n_codes", [1, 3, 700])
@pytest.mark.parametrize("n_resamples", [2, 101, 1500])
def test_sums_are_those_of_the_weights(n_codes, n_resamples):
    rng = np.random.default_rng(0)
    drawn = PoissonWeights(SEED, n_resamples)
    units = drawn.units(np.arange(1300))
    weights = drawn.weights(units).astype(float)
    terms, code = rng.integers(-5, 9, (2, 1300)).astype(float), rng.integers(0, n_codes, 1300)
    by_row = np.arange(n_codes)[:, None] == code
    with_data = np.column_stack((np.ones(1300), weights))
    sums, by_code = drawn.sums(units, terms, code, by_row.sum(axis=1))
    np.testing.assert_array_equal(sums, terms @ weights)
    np.testing.assert_array_equal(by_code, by_row.astype(float) @ with_data)
    again = drawn.sums(units, None, code, by_row.sum(axis=1))[1]
    np.testing.assert_array_equal(again, by_code)
    weighted = drawn.sums_by_code(units, terms[0], code, by_row @ terms[0])
    np.testing.assert_array_equal(weighted, (by_row * terms[0]) @ with_data)
    assert by_code.dtype == np.int32


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_tiles_use_their_memory_again_where_the_allocator_gives_it_back():
    # Workers of dask have this setting. A tile of half a megabyte is 128 pages.
    script = """
import resource
import numpy as np
from skboot.resampling.streamed import PoissonWeights
drawn = PoissonWeights(np.random.SeedSequence(0), 1000)
units, ones, code = drawn.units(np.arange(16_000)), np.ones((1, 16_000)), np.arange(16_000) % 2
for sums in (
    lambda: drawn.sums(units, ones),
    lambda: drawn.sums_by_code(units, ones[0], code, ones[0, :2]),
):
    sums()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    sums()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
    environment = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    # Rows come to 250 tiles.
    assert max(map(int, done.stdout.split())) < 5_000
