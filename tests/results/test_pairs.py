"""A record of `pairs` is a constant value that knows the comparison it is from."""

import dataclasses
import json
import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import skboot
from skboot.results import ComparisonResult

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, size=120)
RATES = [("A", 0.1), ("B", 0.2), ("C", 0.4)]
SYSTEMS = {name: Y ^ (RNG.random(120) < rate) for name, rate in RATES}
RUNS = {name: [Y ^ (RNG.random(120) < 0.3) for _ in range(n)] for name, n in (("a", 6), ("b", 5))}
GROUPS = np.arange(120) // 4


def systems(**options):
    return skboot.compare_systems(Y, SYSTEMS, n_resamples=199, random_state=0, **options)


def two_systems():
    two = {name: SYSTEMS[name] for name in "AC"}
    return skboot.compare_systems(Y, two, n_resamples=199, random_state=0)


def runs():
    return skboot.compare_runs(Y, RUNS, n_resamples=199, random_state=0)


def methods():
    return skboot.compare_methods(
        {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2)},
        Y[:, None] + RNG.normal(size=(120, 2)),
        Y,
        n_train_resamples=60,
        n_cv_repeats=1,
        random_state=0,
    )


@pytest.fixture(scope="module", params=[systems, runs, methods], ids=lambda make: make.__name__)
def comparison(request):
    return request.param()


def test_a_pair_knows_its_metric_direction_units_and_estimand(comparison):
    for pair in comparison.pairs:
        assert pair.metric == comparison.metric
        assert pair.greater_is_better is True
        assert pair.estimand == comparison.estimand
        assert (pair.unit, pair.n_units) == ("row", 120)
        assert pair._mirrored().metric == comparison.metric


def test_groups_are_the_units_of_a_pair():
    [pair, *_] = systems(groups=GROUPS).pairs
    assert (pair.unit, pair.n_units, pair.degrees_of_freedom) == ("group", 30, 29)


def test_all_pairs_refer_to_one_record_of_what_they_share():
    assert len({id(pair._comparison) for pair in systems().pairs}) == 1


def test_an_interval_without_resamples_has_no_degrees_of_freedom():
    assert systems(interval="tango").pairs[0].degrees_of_freedom is None


def test_the_components_of_runs_add_up_to_the_squared_standard_error():
    [pair] = runs().pairs
    assert set(pair.components) == {"runs", "test"}
    assert sum(pair.components.values()) == pytest.approx(pair.standard_error**2, rel=1e-12)
    assert pair.n_runs == (6, 5)
    assert pair._mirrored().n_runs == (5, 6)


def test_the_interval_of_methods_is_students_t_with_the_degrees_of_freedom_of_the_pair():
    for comparison in (runs(), methods()):
        [pair] = comparison.pairs
        low, high = pair.confidence_interval[:2]
        half = stats.t.ppf(0.975, pair.degrees_of_freedom) * pair.standard_error
        assert (high - low) / 2 == pytest.approx(half, rel=1e-9)


def test_a_pair_is_no_tuple(comparison):
    pair = comparison.pairs[0]
    assert not isinstance(pair, tuple)
    with pytest.raises(TypeError):
        pair[0]
    with pytest.raises(TypeError):
        _, *_ = pair


def test_a_pair_cannot_be_changed_or_hashed(comparison):
    pair = comparison.pairs[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        pair.difference = 0.0
    with pytest.raises(TypeError, match="unhashable"):
        hash(pair)


def test_pairs_are_equal_when_all_they_hold_is_undefined_numbers_included():
    pair = systems(adjust=None).pairs[0]
    assert np.isnan(pair.p_value_adjusted)
    assert pair == dataclasses.replace(pair)
    assert pair != dataclasses.replace(pair, p_value=0.5)
    assert pair != systems(adjust=None, metric="f1").pairs[0]
    assert pair != "a pair"


def test_two_exchanges_give_the_pair_again(comparison):
    for pair in comparison.pairs:
        assert pair._mirrored()._mirrored() == pair


def test_pairs_survive_files_and_pickles(comparison, tmp_path):
    comparison.save(tmp_path / "comparison.npz")
    assert ComparisonResult.load(tmp_path / "comparison.npz").pairs == comparison.pairs
    assert pickle.loads(pickle.dumps(comparison)).pairs == comparison.pairs


def test_a_call_makes_no_records_and_one_that_is_asked_for_is_made_once():
    result = skboot.compare_systems(Y, SYSTEMS, n_resamples=199, random_state=0)
    assert all(record is None for record in result._pair_records._values)
    pair = result.pair("B", "C")
    assert [record for record in result._pair_records._values if record is not None] == [pair]
    assert isinstance(result.pairs, tuple)
    assert result.pairs[2] is pair
    assert result.pairs is result.pairs


def test_pairs_stand_in_the_order_of_the_call_whatever_the_order_of_computing():
    turned = skboot.compare_systems(
        Y, dict(reversed(SYSTEMS.items())), n_resamples=199, random_state=0
    )
    assert [(p.first, p.second) for p in turned.pairs] == [("C", "B"), ("C", "A"), ("B", "A")]
    assert all(turned.pair(p.first, p.second) == p for p in systems().pairs)


def test_the_dict_of_a_comparison_holds_what_its_pairs_know():
    [record] = json.loads(json.dumps(runs().to_dict()))["pairs"]
    assert set(record["components"]) == {"runs", "test"}
    assert record["degrees_of_freedom"] > 0
    assert "comparison" not in record


def test_a_pair_that_no_comparison_holds_says_so():
    pair = dataclasses.replace(systems().pairs[0], _comparison=None)
    with pytest.raises(ValueError, match="not from a ComparisonResult"):
        pair.metric  # noqa: B018


def test_a_comparison_of_two_has_the_numbers_of_its_pair(comparison):
    two = two_systems() if len(comparison.systems) > 2 else comparison
    [pair] = two.pairs
    assert two.difference == pair.difference
    assert two.confidence_interval == pair.confidence_interval
    assert two.p_value == pair.p_value
    assert two.verdict(0.03) == pair.verdict(0.03)
    assert two.verdict() == pair.verdict()


@pytest.mark.parametrize("name", ["difference", "confidence_interval", "p_value", "verdict"])
def test_a_comparison_of_three_says_which_pairs_have_the_number(name):
    result = systems()
    error = ValueError if name == "verdict" else AttributeError
    with pytest.raises(error, match=rf"\.{name} needs one number.*\.pair\('A', 'B'\)"):
        getattr(result, name)(0.03) if name == "verdict" else getattr(result, name)
    assert name == "verdict" or not hasattr(result, name)
    with pytest.raises(error) as told:
        getattr(result, name)(0.03) if name == "verdict" else getattr(result, name)
    # A system by itself has an interval, and nothing of a difference.
    assert (".systems['A']" in str(told.value)) == hasattr(result.systems["A"], name)
