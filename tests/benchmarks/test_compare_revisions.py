"""The comparison of revisions is slow only where the noise does not explain it."""

import math
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


class Timed:
    """A revision whose runs take the times that it is given, in turns."""

    def __init__(self, seconds):
        self.seconds = iter(seconds)

    def ask(self, workload):
        return next(self.seconds)


def compared(before, after):
    from compare_revisions import compare

    return compare(Timed([9.0, *before]), Timed([9.0, *after]), "work", len(before))


def test_the_limits_hold_the_median_in_95_percent():
    from compare_revisions import limits_of_median

    # P(fewer than 4 of 15 fair coins fall on one side) = 576 / 2^15 = 1.8%; fewer than 5: 5.9%.
    assert limits_of_median(list(range(1, 16))) == (4, 12)
    assert sum(math.comb(15, k) for k in range(4)) / 2**15 < 0.025
    assert limits_of_median([3.0, 1.0, 2.0]) == (1.0, 3.0)


@pytest.mark.parametrize(
    ("ratios", "slower"),
    [
        ([1.06] * 15, True),
        ([1.04] * 15, False),
        # The median is above, but four of fifteen turns are not.
        ([1.0] * 4 + [1.2] * 11, False),
        ([1.0] * 3 + [1.2] * 12, True),
        # A few turns show nothing.
        ([2.0] * 5, False),
    ],
)
def test_a_revision_is_slower_where_the_lower_limit_says_so(ratios, slower):
    row, found = compared([1.0] * len(ratios), ratios)
    assert found == slower
    assert row.startswith("| work | 1e+03 ms |")


def test_what_one_revision_cannot_run_is_said():
    row, slower = compared([None], [1.0])
    assert "cannot be run by both" in row
    assert not slower
