"""P(A > B): its interval against exact quantiles, ties, training samples, and the verdict."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from skboot.inference.runs import Outperformance, outperformance, pairs_needed


def exact(wins, level):
    """Quantiles of the number of wins among as many pairs drawn again, ties apart."""
    n = len(wins)
    return [stats.binom.ppf(q, n, np.mean(wins)) / n for q in ((1 - level) / 2, (1 + level) / 2)]


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
def test_the_interval_of_p_is_the_bootstrap_of_the_pairs(share):
    n = 60
    wins = np.arange(n) < share * n
    found = outperformance(wins, ~wins, n_resamples=9999, seed=np.random.SeedSequence(0))
    assert found.probability == wins.mean()
    assert_allclose([found.low, found.high], exact(wins, 0.95), atol=1.01 / n)


def test_ties_count_half_and_undefined_pairs_not_at_all():
    found = outperformance([1, 2, 3, 4, np.nan], [1, 1, 4, 3, 0], seed=np.random.SeedSequence(0))
    assert found.probability == (0.5 + 1 + 0 + 1) / 4
    assert found.n_pairs == 4
    nothing = outperformance([np.nan], [1], seed=np.random.SeedSequence(0))
    assert nothing.n_pairs == 0
    assert np.isnan(nothing.low)


def test_pairs_of_one_training_sample_are_drawn_together():
    # Ten samples of eight equal pairs know as much as ten pairs.
    wins = np.repeat(np.arange(10) < 7, 8)
    samples = np.repeat(np.arange(10), 8)
    seed = np.random.SeedSequence(0)
    found = outperformance(wins, ~wins, samples=samples, n_resamples=9999, seed=seed)
    assert_allclose([found.low, found.high], exact(wins[::8], 0.95), atol=0.11)
    apart = outperformance(wins, ~wins, n_resamples=9999, seed=seed)
    assert apart.high - apart.low < 0.5 * (found.high - found.low)


def test_where_all_pairs_go_one_way_the_interval_has_width():
    found = outperformance(np.ones(20), np.zeros(20), seed=np.random.SeedSequence(0))
    assert found.high == 1
    assert_allclose(found.low, 20 / (20 + stats.norm.ppf(0.975) ** 2))


@pytest.mark.parametrize(
    ("limits", "verdict"),
    [
        ((0.45, 0.9), "not significant"),
        ((0.5, 0.9), "not significant"),
        ((0.51, 0.75), "significant, not meaningful"),
        ((0.51, 0.76), "significant and meaningful"),
        ((0.2, 0.45), "significant and meaningful"),
        ((0.3, 0.45), "significant, not meaningful"),
    ],
)
def test_the_rule_of_bouthillier(limits, verdict):
    found = Outperformance(np.mean(limits), *limits, 0.95, 50)
    assert found.verdict == verdict
    assert found._mirrored().verdict == verdict


def test_29_pairs_are_needed():
    assert pairs_needed() == 29
