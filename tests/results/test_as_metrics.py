"""Results as a flat dict of numbers, as trackers of experiments take them."""

import math
import re

import numpy as np
import pytest
from made_results import undefined_result

from skboot import bootstrap_curve, bootstrap_score, compare_across, compare_systems
from skboot.results import ResultTable

N = 120
_rng = np.random.default_rng(0)
LABEL = np.tile([0, 1], N // 2)
SEX = np.repeat(["men", "women"], N // 2)
SYSTEMS = {
    name: np.where(_rng.random(N) < 0.2, 1 - LABEL, LABEL) for name in ("new", "old", "base")
}
SHORT = {"n_resamples": 199, "random_state": 0}
# What MLflow accepts in the name of a metric.
ACCEPTED = re.compile(r"[/\w.\- :]+")


def test_a_score_is_three_numbers_named_after_its_metric():
    result = bootstrap_score(LABEL, SYSTEMS["new"], **SHORT)
    low, high = result.confidence_interval
    assert result.as_metrics() == {
        "accuracy": result.estimate,
        "accuracy_ci_low": low,
        "accuracy_ci_high": high,
    }
    assert list(result.as_metrics("test/")) == [f"test/{name}" for name in result.as_metrics()]
    assert all(type(value) is float for value in result.as_metrics().values())


def test_metrics_and_subgroups_stand_in_the_names():
    metrics = bootstrap_score(LABEL, SYSTEMS["new"], metric=["accuracy", "f1"], **SHORT)
    assert list(metrics.as_metrics())[::3] == ["accuracy", "f1"]
    by = bootstrap_score(LABEL, SYSTEMS["new"], by=SEX, **SHORT)
    assert by.as_metrics()["women/accuracy"] == by["women"].estimate
    assert by.as_metrics()["gap/accuracy gap men - women"] == pytest.approx(by["gap"].estimate)


def test_a_comparison_has_its_systems_and_its_differences_with_both_intervals():
    result = compare_systems(LABEL, SYSTEMS, **SHORT)
    numbers = result.as_metrics()
    assert len(numbers) == 3 * 3 + 3 * 5
    for name, system in result.systems.items():
        assert numbers[f"{name}/accuracy"] == system.estimate
        assert numbers[f"{name}/accuracy_ci_high"] == system.confidence_interval.high
    for pair in result.pairs:
        name = f"{pair.first} - {pair.second}/accuracy"
        assert numbers[name] == pair.difference
        assert numbers[f"{name}_ci_low"] == pair.confidence_interval.low
        assert numbers[f"{name}_simultaneous_low"] == pair.simultaneous_interval.low
    alone = compare_systems(LABEL, SYSTEMS, adjust=None, **SHORT).as_metrics()
    assert not [name for name in alone if "simultaneous" in name]


def test_every_name_is_one_that_trackers_accept():
    tables = [
        compare_systems(LABEL, SYSTEMS, metric=["accuracy", "f1"], by=SEX, **SHORT),
        bootstrap_score(LABEL, SYSTEMS["new"], by=SEX, **SHORT),
        compare_systems(LABEL, {"a (small)": SYSTEMS["new"], "b+": SYSTEMS["old"]}, **SHORT),
    ]
    for table in tables:
        names = list(table.as_metrics("run 1/"))
        assert names
        assert all(ACCEPTED.fullmatch(name) for name in names)


def test_comparisons_on_several_data_sets_are_numbers_as_well():
    scores = {f"set {k}": {"a": 0.8 + 0.01 * k, "b": 0.7} for k in range(12)}
    result = compare_across(scores, greater_is_better=True, **SHORT)
    numbers = result.as_metrics()
    assert numbers["a/score"] == result.systems["a"].estimate
    assert numbers["a - b/score"] == result.pairs[0].difference


def test_what_is_undefined_is_nan():
    numbers = undefined_result().as_metrics()
    assert len(numbers) == 3
    assert all(math.isnan(value) for value in numbers.values())


def test_names_that_would_be_alike_are_refused():
    systems = {"a+": SYSTEMS["new"], "a*": SYSTEMS["old"]}
    with pytest.raises(ValueError, match="two numbers would be named 'a/accuracy'"):
        compare_systems(LABEL, systems, **SHORT).as_metrics()


def test_a_prefix_is_a_string_and_a_curve_is_no_number():
    result = bootstrap_score(LABEL, SYSTEMS["new"], **SHORT)
    with pytest.raises(TypeError, match=r"'prefix' .* be a string. Got 1."):
        result.as_metrics(1)
    score = LABEL + _rng.normal(size=N)
    curve = bootstrap_curve(LABEL, score, grid=[0.1, 0.5], **SHORT)
    with pytest.raises(TypeError, match=r"'model' is a curve, which is no number. .*at\(0.1\)"):
        ResultTable({"model": curve}).as_metrics()
    point = curve.at(0.1).as_metrics()
    assert point["true positive rate at false positive rate 0.1"] == curve.estimate[0]
