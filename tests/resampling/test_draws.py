"""Counts of atoms are exactly multinomial, whichever way they are drawn.

False-alarm rates: chi-square tests at 1e-4 with fixed seeds, so that a correct change of the
stream fails about once in a thousand such changes.
"""

import numpy as np
import pytest
from scipy import stats

from skboot._base.work import child_seed, child_words, stored_seed
from skboot.resampling import draws
from skboot.resampling.draws import Strata, multinomial_counts, single_units

ALARM = 1e-4


def rng(seed=0):
    return np.random.Generator(np.random.SFC64(seed))


MULTIPLICITIES = {
    "two atoms": [7, 93],
    "heavy atoms only": [500, 300, 200],
    "heavy and rare atoms": [400, 90, 60, 5, 3, 1, 1],
    "rare atoms only": [3, 2, 1, 1, 1],
    "one atom": [50],
    "few single units": [1] * 20,
    "many single units": [1] * 400,
    "many rare atoms": [1, 2, 5, 30, 99] * 12,
    "heavy and many rare atoms": [4000, 700, 101] + [1, 3, 20, 80] * 25,
    "many equal heavy atoms": [130] * 128,
    "equal heavy atoms among others": [5000, 400] + [1500] * 200 + [101, 60, 5] + [1] * 50,
}


@pytest.mark.parametrize("name", MULTIPLICITIES)
def test_each_count_is_binomial_and_lines_sum_to_n(name):
    multiplicity = np.array(MULTIPLICITIES[name])
    n = multiplicity.sum()
    counts = multinomial_counts(rng(), 4000, multiplicity).astype(int)

    assert np.all(counts.sum(axis=1) == n)
    for atom in {0, len(multiplicity) // 2, len(multiplicity) - 1}:
        law = stats.binom(n, multiplicity[atom] / n)
        assert chi_square_p(counts[:, atom], law) > ALARM


@pytest.mark.parametrize(
    "name",
    [
        "heavy and rare atoms",
        "many single units",
        "many rare atoms",
        "heavy and many rare atoms",
        "many equal heavy atoms",
        "equal heavy atoms among others",
    ],
)
def test_covariances_are_multinomial(name):
    multiplicity = np.array(MULTIPLICITIES[name])
    n, share = multiplicity.sum(), multiplicity / multiplicity.sum()
    n_resamples = 40_000
    counts = multinomial_counts(rng(1), n_resamples, multiplicity).astype(float)

    # The sum of any subset is binomial, which holds for all subsets only if the joint law does.
    subset = np.arange(len(multiplicity)) % 3 == 0
    p = share[subset].sum()
    total = counts[:, subset].sum(axis=1)
    standard_error = np.sqrt(2 / n_resamples)
    assert abs(total.var() / (n * p * (1 - p)) - 1) < 4.5 * standard_error


def test_a_pool_of_rare_atoms_as_a_whole_is_binomial():
    multiplicity = np.array([4000, 700] + [1, 3, 20, 80] * 25)
    counts = multinomial_counts(rng(7), 4000, multiplicity)
    n = multiplicity.sum()
    law = stats.binom(n, multiplicity[2:].sum() / n)
    assert chi_square_p(counts[:, 2:].sum(axis=1), law) > ALARM
    # Given the pool, an atom is a binomial share of it, whether the pool is large or small.
    pool = counts[:, 2:].sum(axis=1)
    share = multiplicity[-1] / multiplicity[2:].sum()
    for half in (pool <= np.median(pool), pool > np.median(pool)):
        rank = stats.binom.cdf(counts[half, -1] - 1, pool[half], share)
        width = stats.binom.pmf(counts[half, -1], pool[half], share)
        uniform = rank + rng(8).random(half.sum()) * width
        assert stats.kstest(uniform, "uniform").pvalue > ALARM


def test_poisson_fill_counts_of_a_block_of_columns_are_binomial():
    counts = multinomial_counts(rng(2), 3000, np.ones(1000, dtype=np.int64))

    law = stats.binom(1000, 0.25)
    assert chi_square_p(counts[:, 100:350].sum(axis=1, dtype=int), law) > ALARM
    assert chi_square_p(counts.ravel(), stats.binom(1000, 1 / 1000)) > ALARM


@pytest.mark.parametrize("multiplicity", [[60, 45], [1, 2], [30, 20, 10], [100, 100, 55]])
def test_units_placed_by_comparison_are_those_placed_one_by_one(multiplicity):
    multiplicity = np.array(multiplicity)
    totals = np.random.default_rng(0).integers(1, 200, size=300)
    # An odd number of 32-bit draws leaves half of a raw number for the next one.
    one, other = rng(), rng()
    for source in (one, other):
        source.integers(0, 7, size=3, dtype=np.int32)

    counts = draws._rare(one, totals, multiplicity, int(multiplicity.sum()))

    picks = other.integers(0, multiplicity.sum(), size=totals.sum())
    atoms = np.repeat(np.arange(len(multiplicity)), multiplicity)[picks]
    for row, members in zip(counts, np.split(atoms, np.cumsum(totals)[:-1]), strict=True):
        assert row.tolist() == np.bincount(members, minlength=len(multiplicity)).tolist()
    assert one.random() == other.random()


@pytest.mark.parametrize("multiplicity", [(1, 1), (3, 1), (40, 60), (1, 254), (128, 127)])
def test_a_binomial_of_few_units_is_the_inverse_of_its_distribution(multiplicity):
    # Most of 20,000 numbers are looked up by cells, and those near a step of the law are not.
    n, rare = sum(multiplicity), int(np.argmin(multiplicity))
    counts = multinomial_counts(np.random.default_rng(0), 20_000, np.array(multiplicity))
    law = stats.binom(n, multiplicity[rare] / n).cdf(np.arange(n))
    uniform = np.random.default_rng(0).random(20_000)
    np.testing.assert_array_equal(counts[:, rare], np.searchsorted(law, uniform, side="right"))


@pytest.mark.parametrize("n_strata", [3, 100])
def test_as_many_units_as_a_stratum_holds_are_drawn_in_it(n_strata):
    strata = np.sort(np.r_[np.arange(n_strata), rng(3).integers(0, n_strata, 300)])
    strata = rng(4).permutation(strata)
    multiplicity = np.ones(len(strata), dtype=np.int64)
    counts = multinomial_counts(rng(5), 500, multiplicity, Strata.of(strata))

    for stratum in range(n_strata):
        members = strata == stratum
        assert np.all(counts[:, members].sum(axis=1) == members.sum())
    size = int(np.sum(strata == 0))
    first = np.flatnonzero(strata == 0)[0]
    assert chi_square_p(counts[:, first], stats.binom(size, 1 / size)) > ALARM


def chi_square_p(sample, law):
    """p-value of a chi-square test against a discrete law, cells pooled to at least 8 expected."""
    sample = np.asarray(sample).ravel()
    values = np.arange(sample.max() + 2)
    expected = law.pmf(values) * len(sample)
    expected[-1] = law.sf(values[-1] - 1) * len(sample)
    observed = np.bincount(sample, minlength=len(values)).astype(float)
    if expected.max() > len(sample) * (1 - 1e-12):
        return 1.0 if observed[np.argmax(expected)] == len(sample) else 0.0
    cells, total = [[0.0, 0.0]], 0.0
    for seen, hoped in zip(observed, expected, strict=True):
        cells[-1][0] += seen
        cells[-1][1] += hoped
        if cells[-1][1] >= 8:
            cells.append([0.0, 0.0])
    seen, hoped = np.array(cells[:-1]).T
    seen[-1] += cells[-1][0]
    hoped[-1] += cells[-1][1]
    total = np.sum((seen - hoped) ** 2 / hoped)
    return stats.chi2.sf(total, max(len(seen) - 1, 1))


@pytest.mark.parametrize("n", [5, 200, 3000])
def test_units_that_take_no_memory_are_drawn_as_those_that_do(n):
    counts = multinomial_counts(rng(6), 20, single_units(n))
    np.testing.assert_array_equal(counts, multinomial_counts(rng(6), 20, np.ones(n, np.int64)))


def test_counts_within_large_strata_take_a_byte_each():
    strata = Strata.of(rng(8).integers(0, 3, 3000))
    assert multinomial_counts(rng(9), 4, single_units(3000), strata).dtype == np.uint8


# ------------------------------------------------------------------ children of a seed


@pytest.mark.parametrize(
    "root", [np.random.SeedSequence(3), np.random.SeedSequence(3, pool_size=8)]
)
def test_a_child_is_the_one_that_numpy_would_spawn_and_the_seed_spawns_none(root):
    grandchild = np.random.SeedSequence(3, pool_size=root.pool_size).spawn(3)[2].spawn(2)[1]
    ours = child_seed(child_seed(root, 2), 1)
    assert ours.generate_state(4).tolist() == grandchild.generate_state(4).tolist()
    assert child_seed(root, 2, 1).generate_state(4).tolist() == ours.generate_state(4).tolist()
    assert root.n_children_spawned == 0


def test_words_of_many_children_are_those_that_each_child_would_generate():
    seed = np.random.SeedSequence(3, spawn_key=(4,), pool_size=8)
    keys = [(1, 2), (0,), (1, 2, 3)]
    expected = [child_seed(seed, *key).generate_state(4).tolist() for key in keys]
    assert [words.tolist() for words in child_words(seed, iter(keys))] == expected


def test_a_child_without_a_key_is_a_copy_that_has_spawned_nothing():
    seed = np.random.SeedSequence(3, spawn_key=(4,), pool_size=8)
    seed.spawn(5)
    first, second = child_seed(seed).spawn(2)
    assert first.generate_state(4).tolist() == child_seed(seed, 0).generate_state(4).tolist()
    assert second.generate_state(4).tolist() == child_seed(seed, 1).generate_state(4).tolist()
    assert seed.n_children_spawned == 5


def test_a_stored_seed_holds_what_the_same_streams_are_made_of():
    seed = np.random.SeedSequence(3)
    assert stored_seed(seed) == 3
    child = child_seed(seed, 2, 1)
    again = np.random.SeedSequence(**stored_seed(child))
    assert again.generate_state(4).tolist() == child.generate_state(4).tolist()
