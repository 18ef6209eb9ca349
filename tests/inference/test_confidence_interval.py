"""A confidence interval is a pair that knows its level and its method."""

import copy
import operator
import pickle

import numpy as np
import pytest

from skboot.inference import ConfidenceInterval

INTERVAL = ConfidenceInterval(0.25, 0.75, 0.95, "wilson")


def test_an_interval_is_the_pair_of_its_limits():
    low, high = INTERVAL
    assert (low, high) == (INTERVAL.low, INTERVAL.high) == (0.25, 0.75)
    assert len(INTERVAL) == 2
    np.testing.assert_array_equal(np.asarray(INTERVAL), [0.25, 0.75])


def test_a_slice_of_an_interval_is_a_plain_tuple():
    assert type(INTERVAL[:2]) is type(INTERVAL[1:]) is tuple


@pytest.mark.parametrize(
    "other",
    [
        ConfidenceInterval(0.2, 0.75, 0.95, "wilson"),
        ConfidenceInterval(0.25, 0.7, 0.95, "wilson"),
        ConfidenceInterval(0.25, 0.75, 0.9, "wilson"),
        ConfidenceInterval(0.25, 0.75, 0.95, "wald"),
    ],
)
def test_intervals_that_differ_in_limits_level_or_method_are_not_equal(other):
    assert operator.ne(INTERVAL, other)
    assert not operator.eq(INTERVAL, other)
    assert other == ConfidenceInterval(*other, other.confidence_level, other.method)


def test_an_interval_equals_the_plain_pair_of_its_limits_and_has_its_hash():
    pair = (0.25, 0.75)
    assert operator.eq(INTERVAL, pair)
    assert operator.eq(pair, INTERVAL)
    assert not operator.ne(INTERVAL, pair)
    assert operator.ne(INTERVAL, (0.25, 0.7))
    assert hash(INTERVAL) == hash((0.25, 0.75))
    assert INTERVAL != [0.25, 0.75]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_interval_comes_back_whole(protocol):
    back = pickle.loads(pickle.dumps(INTERVAL, protocol))
    assert type(back) is ConfidenceInterval
    assert back == INTERVAL
    assert back.to_dict() == INTERVAL.to_dict()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copied_interval_is_whole(copied):
    assert copied(INTERVAL) == INTERVAL
    assert copied(INTERVAL).method == "wilson"


def test_an_interval_cannot_be_changed():
    for name in ("low", "method", "note"):
        with pytest.raises(AttributeError, match=f"cannot be changed: '{name}'"):
            setattr(INTERVAL, name, 0.0)


def test_a_dict_of_an_interval_names_all_four():
    found = ConfidenceInterval(np.float64(0.25), 1, np.float64(0.9), "t").to_dict()
    assert found == {"low": 0.25, "high": 1.0, "confidence_level": 0.9, "method": "t"}
    assert [type(value) for value in found.values()] == [float, float, float, str]


def test_other_limits_leave_the_level_and_the_method():
    other = INTERVAL._with_limits(0, 1)
    assert other == ConfidenceInterval(0.0, 1.0, 0.95, "wilson")
    assert INTERVAL.low == 0.25


def test_an_interval_shows_all_four():
    assert eval(repr(INTERVAL)) == INTERVAL
    assert repr(INTERVAL) == (
        "ConfidenceInterval(low=0.25, high=0.75, confidence_level=0.95, method='wilson')"
    )


def test_limits_beyond_one_end_of_a_range_are_this_end():
    beyond = ConfidenceInterval(-0.2, -3e-7, 0.95, "normal")
    assert beyond._within(0.0, 1.0) == ConfidenceInterval(0.0, 0.0, 0.95, "normal")
    assert beyond._within(-1.0, 0.0) == beyond
    assert beyond._within(-2.0, -1.0) == (-1.0, -1.0)


def test_limits_that_rounding_put_in_the_wrong_order_change_places():
    above = np.nextafter(0.3, 1)
    assert ConfidenceInterval(above, 0.3, 0.95, "bca") == (0.3, above)
    assert ConfidenceInterval(0.4, 0.3, 0.95, "bca") == (0.4, 0.3)
