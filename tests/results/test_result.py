"""A result holds its numbers, cannot be changed, and answers for other intervals."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from made_results import ALL_KINDS, accuracy_result, any_kind, mean_evidence, mean_result, subgroups

from skboot.inference import ConfidenceInterval

# ------------------------------------------------------------------ numbers


def test_numbers_are_those_of_the_replicates():
    replicates = np.array([0.5, np.nan, 0.75, 1.0])
    result = mean_result(
        "percentile",
        evidence=mean_evidence(estimate=0.7, replicates=replicates),
        confidence_interval=ConfidenceInterval(0.5, 1.0, 0.95, "percentile"),
    )
    assert result.estimate == 0.7
    assert result.standard_error == pytest.approx(0.25)
    assert result.bias == pytest.approx(0.05)
    assert (result.n_resamples, result.n_undefined, result.n_units) == (4, 1, 60)
    np.testing.assert_array_equal(result.bootstrap_distribution, replicates)


def test_two_crossed_factors_have_two_numbers_of_units():
    assert ALL_KINDS["crossed"]().n_units == (9, 7)


def test_equal_replicates_have_a_standard_error_of_exactly_zero():
    result = mean_result(
        "percentile", evidence=mean_evidence(estimate=0.2, replicates=np.full(99, 0.2))
    )
    assert result.standard_error == 0


def test_nothing_of_a_result_can_be_changed_from_outside():
    replicates = np.random.default_rng(0).normal(size=99)
    result = mean_result("percentile", evidence=mean_evidence(replicates=replicates))
    before = result.bootstrap_distribution.copy()
    replicates[:] = 0
    np.testing.assert_array_equal(result.bootstrap_distribution, before)
    with pytest.raises(ValueError, match="read-only"):
        result.bootstrap_distribution[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        result._evidence.replicate_standard_errors[0] = 1
    with pytest.raises(FrozenInstanceError):
        result.metric = "other"


@any_kind
def test_a_result_equals_its_copy_and_cannot_be_hashed(kind):
    result = ALL_KINDS[kind]()
    assert result == ALL_KINDS[kind]()
    assert result == pickle.loads(pickle.dumps(result)) == copy.deepcopy(result)
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)


@pytest.mark.parametrize(
    "change",
    [
        {"metric": "other"},
        {"seed": 8},
        {"notes": ("x",)},
        {"naive_estimate": 0.5},
        {"settings": {"interval": "t"}},
        {"runs": {"score": np.array([1.0])}},
        {"_basis": mean_result(evidence=mean_evidence(seed=1))._basis},
        {"_basis": mean_result(evidence=mean_evidence(acceleration=None))._basis},
        {"_basis": mean_result(estimand="method")._basis},
        {"confidence_interval": ConfidenceInterval(0.0, 1.0, 0.95, "t")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_results_that_differ_anywhere_are_not_equal(change):
    assert mean_result() != mean_result(**change)
    assert mean_result() != "a result"


# ------------------------------------------------------------------ other intervals


@pytest.mark.parametrize("method", ["percentile", "basic", "bca", "t", "studentized"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_another_interval_is_that_of_the_evidence(method, level):
    expected = mean_result(method, level).confidence_interval
    assert mean_result().interval(method, level) == expected


def test_without_arguments_the_interval_is_the_one_of_the_call():
    result = accuracy_result()
    assert result.interval() is result.confidence_interval
    assert result.interval(confidence_level=0.95) is result.confidence_interval


def test_an_automatic_interval_is_chosen_again_at_another_level():
    known = {"kind": "groups", "n_units": (10,), "replicates": np.ones(99)}
    expected = accuracy_result(50, 50, level=0.8, **known).confidence_interval
    assert accuracy_result(50, 50, **known).interval(confidence_level=0.8) == expected
    assert mean_result("percentile").interval(confidence_level=0.8).method == "percentile"
    assert mean_result("percentile").interval("auto").method == "studentized"


def test_automatic_intervals_of_the_largest_gap_stay_simultaneous():
    assert subgroups()["gap"].interval("auto", 0.9).method == "simultaneous"


def test_other_estimands_are_refused():
    assert mean_result().interval(estimand="system") == mean_result().confidence_interval
    with pytest.raises(ValueError, match=r"must be 'system'.*Got 'method'.*several trained"):
        mean_result().interval(estimand="method")


def test_unknown_methods_and_levels_are_refused():
    with pytest.raises(ValueError, match="one of"):
        mean_result().interval("magic")
    with pytest.raises(ValueError, match=r"confidence_level=0.95 for a 95% interval"):
        mean_result().interval(confidence_level=95)


def test_an_interval_without_width_says_so():
    with pytest.warns(UserWarning, match="zero width"):
        accuracy_result(50, 50).interval("percentile")
