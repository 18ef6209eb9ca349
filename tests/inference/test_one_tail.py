"""Simultaneous limits of one side are of the tail on that side, and of no other.

Differences that are multiples of one another deviate as one does, so that their joint law is known:
limits reach as far as the quantile of one deviation, or of its size where signs differ.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from skboot import compare_systems

pytestmark = [pytest.mark.identity, pytest.mark.filterwarnings("ignore")]


N, LEVEL = 30, 0.95


def reaches(systems, alternative, seed=0):
    """How far simultaneous limits are from the differences, in standard errors of resamples."""
    result = compare_systems(
        None, {**systems, "zero": np.zeros(N)}, metric="mean", greater_is_better=True,
        reference="zero", alternative=alternative, interval="t", adjust="max-t",
        n_resamples=9999, random_state=seed,
    )  # fmt: skip
    found = []
    for pair in result.pairs:
        low, high = pair.simultaneous_interval
        assert (high == np.inf) == (alternative == "greater")
        assert (low == -np.inf) == (alternative == "less")
        limits = [limit for limit in (low, high) if np.isfinite(limit)]
        found += [abs(limit - pair.difference) / pair.standard_error for limit in limits]
    return found


def expected(values, signs, alternative):
    """The quantile of the largest deviation of the mean, each divided by a chi of its own."""
    rng = np.random.default_rng(1)
    means = values[rng.integers(0, N, (40_000, N))].mean(axis=1)
    deviations = (means - values.mean())[:, None] / means.std() * np.array(signs)
    deviations /= np.sqrt(rng.chisquare(N - 1, deviations.shape) / (N - 1))
    deviations *= {"greater": 1, "less": -1}.get(alternative, 1)
    if alternative == "two-sided":
        deviations = np.abs(deviations)
    joint = np.quantile(deviations.max(axis=1), LEVEL) * np.sqrt(N / (N - 1))
    tail = (1 + LEVEL) / 2 if alternative == "two-sided" else LEVEL
    # It holds the interval of the difference by itself.
    return max(joint, stats.t.ppf(tail, N - 1) * np.sqrt(N / (N - 1)))


@pytest.mark.parametrize("skew", [1, -1])
@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, -1)])
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_joint_limits_of_one_side_are_those_of_its_tail(alternative, signs, skew):
    values = skew * np.random.default_rng(0).lognormal(size=N)
    systems = {"a": signs[0] * values, "b": 2 * signs[1] * values}
    far = expected(values, signs, alternative)
    assert_allclose(reaches(systems, alternative), far, rtol=0.04)
