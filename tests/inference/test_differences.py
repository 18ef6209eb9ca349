"""Paired differences: DeLong, and p-values that agree with their intervals."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skboot.inference import delong_test
from skboot.inference.differences import (
    CLOSED_FORM,
    DIFFERENCE_METHODS,
    Difference,
    difference_interval,
    p_value,
)
from skboot.inference.evidence import Evidence

REFERENCES = Path(__file__).parents[1] / "references" / "delong"
RESAMPLED = [method for method in DIFFERENCE_METHODS if method not in CLOSED_FORM]


# ------------------------------------------------------------------ DeLong


@pytest.mark.parametrize("pair", ["s100b_ndka", "s100b_wfns"])
def test_delong_equals_proc(pair):
    columns = np.genfromtxt(REFERENCES / "delong_aSAH.csv", delimiter=",", names=True)
    expected = json.loads((REFERENCES / "delong_expected.json").read_text())
    outcome = next(name for name in columns.dtype.names if name not in pair.split("_"))
    positive = columns[outcome] == 1
    first, second = pair.split("_")
    found = delong_test(positive, columns[first], columns[second])
    assert_allclose(found.z, expected["paired"][pair]["z"], rtol=1e-9)
    assert_allclose(found.p_value, expected["paired"][pair]["p"], rtol=1e-9)
    areas = {single["var"]: single["auc"] for single in expected["single"]}
    assert_allclose(found.difference, areas[first] - areas[second], rtol=1e-9)


def test_delong_of_the_same_scores_is_one():
    y, scores = [0, 1, 0, 1, 1], [0.2, 0.7, 0.4, 0.3, 0.9]
    assert delong_test(y, scores, scores)[1:] == (0.0, 0.0, 1.0)


# ------------------------------------------------------------------ p-values


def bootstrapped(estimate, seed, n=40, n_resamples=199):
    rng = np.random.default_rng(seed)
    values = rng.normal(estimate, 1.0, size=n)
    replicates = rng.choice(values, size=(n_resamples, n)).mean(axis=1)
    evidence = Evidence.of(
        estimate=values.mean(),
        replicates=replicates,
        kind="rows",
        n_units=(n,),
        acceleration=0.02,
        robust_variance=values.var() / n / 2,
        smoothed=np.stack((replicates, 1.1 * replicates)),
    )
    return Difference(evidence)


@pytest.mark.parametrize("method", RESAMPLED)
@pytest.mark.parametrize("level", [0.8, 0.9, 0.95])
def test_p_is_below_one_minus_level_exactly_when_the_interval_excludes_zero(method, level):
    for seed in range(40):
        difference = bootstrapped(0.3, seed)
        low, high = difference_interval(difference, method, level)
        p = p_value(difference, method, level)
        assert (p <= round(1 - level, 12)) == (low > 0 or high < 0)


@pytest.mark.parametrize("method", RESAMPLED)
def test_the_interval_at_one_minus_p_touches_zero(method):
    difference = bootstrapped(0.3, 3, n_resamples=1999)
    p = p_value(difference, method)
    assert 0.002 < p < 1
    limits = difference_interval(difference, method, 1 - p)[:2]
    assert min(map(abs, limits)) < 1e-6


def test_p_of_a_percentile_interval_counts_resamples():
    # 199 replicates, 3 of them at or below 0: the 4th order statistic is the first above it.
    replicates = np.concatenate([[-3.0, -2.0, -1.0], np.linspace(1e-9, 5, 196)])
    evidence = Evidence.of(estimate=2.0, replicates=replicates, kind="rows", n_units=(50,))
    assert_allclose(p_value(Difference(evidence), "percentile"), 2 * 4 / 200, rtol=1e-4)


@pytest.mark.parametrize("method", RESAMPLED)
def test_p_from_resamples_is_at_least_two_in_b_plus_one(method):
    difference = bootstrapped(20.0, 1)
    assert_allclose(p_value(difference, method), 2 / 200)


def test_identical_systems_have_a_degenerate_interval_and_p_one():
    difference = replace(bootstrapped(0.0, 0), identical=True)
    for method in RESAMPLED:
        assert difference_interval(difference, method, 0.95)[:2] == (0.0, 0.0)
        assert p_value(difference, method) == 1.0


def test_tango_needs_right_and_wrong_rows():
    with pytest.raises(ValueError, match="'tango' needs 0/1 values"):
        difference_interval(bootstrapped(0.3, 0), "tango", 0.95)
