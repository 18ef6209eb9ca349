"""Exact error rates of verdicts: the statistics are those of the package, the table is theirs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from benchmarks.coverage.runner import read
from benchmarks.coverage.studies import exact_gates as study
from skboot.inference import tango_interval


@pytest.fixture(scope="module")
def rows():
    return read(study.STUDY.path)


def test_the_score_statistic_is_that_of_verdicts():
    for won, lost in [(3, 12), (0, 1), (7, 7)]:
        [found] = study.statistics(np.array([won]), np.array([lost]), 200, -0.02)["tango"]
        # The level at which a limit of the interval is the hypothesis.
        limits = tango_interval(won, lost, 200, confidence_level=1 - 2 * stats.norm.sf(abs(found)))
        assert_allclose(limits[0 if found > 0 else 1], -0.02, rtol=1e-9)


def test_rates_of_two_rows_are_those_of_nine_cases():
    # Of two rows one system alone has right 0 to 2, the other as many of the rest.
    apart, margin = 0.5, 0.3
    shares = {1: (apart - margin) / 2, -1: (apart + margin) / 2, 0: 1 - apart}
    expected = dict.fromkeys(study.INTERVALS, 0.0)
    for one, p in shares.items():
        for other, q in shares.items():
            won, lost = [one, other].count(1), [one, other].count(-1)
            found = study.statistics(np.array([won]), np.array([lost]), 2, -margin)
            for name in expected:
                expected[name] += 100 * p * q * float(found[name][0] > study.Z)
    for name, (passed, _) in study.rates(2, apart, margin, margin).items():
        assert_allclose(passed, expected[name], atol=1e-8)


def test_the_committed_table_is_what_the_script_computes(rows):
    for name, (passed, failed) in study.rates(200, 0.05, 0.02, 0.02).items():
        [row] = [
            row
            for row in rows
            if (row["rows"], row["apart"], row["margin"], row["interval"])
            == ("200", "0.05", "0.02", name)
        ]
        assert (row["passed"], row["failed"]) == (f"{passed:.2f}", f"{failed:.2f}")


def test_a_worse_release_passes_as_seldom_as_the_documentation_says(rows):
    assert max(float(row["passed"]) for row in rows if row["interval"] == "tango") <= 2.6
