"""Normal scores of t statistics from tables, against the functions that they are tables of."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special, stats

from skboot._base.work import child_seed
from skboot.inference.multiplicity import LowRankRoot, drawn_scores

SEED = np.random.SeedSequence(5)


def scores_of(df, correlation):
    root = LowRankRoot.of(np.eye(len(df)), correlation)
    return np.hstack(list(drawn_scores(np.array(df), root, SEED)))


@pytest.mark.parametrize("df", [1.0, 1.3, 2.0, 4.0, 8.7, 40.0, 1e3, 1e7])
def test_levels_are_those_of_students_t(df):
    found = scores_of([df, df], np.eye(2))[:, :4000]
    rng = np.random.default_rng(child_seed(SEED, 1 << 31))
    normal = rng.standard_normal((4000, 2)).T
    t = normal / np.sqrt(stats.chi2.ppf(rng.random((4000, 2)).T, df) / df)
    assert_allclose(special.ndtr(-np.abs(found)), special.stdtr(df, -np.abs(t)), rtol=2e-12)
    assert_allclose(np.sign(found), np.sign(t))


def test_statistics_that_are_known_exactly_are_normal():
    found = scores_of([np.inf], np.eye(1))
    assert stats.kstest(found[0], "norm").pvalue > 1e-4  # 40,000 draws, one in ten thousand


def test_a_statistic_that_does_not_vary_is_zero():
    assert np.all(scores_of([3.0, 3.0], np.diag([1.0, 0.0]))[1] == 0)
