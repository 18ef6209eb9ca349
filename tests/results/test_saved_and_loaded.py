"""Save and load is nothing; what is asked of a result later is what the call would have said."""

import numpy as np
import pytest
from identity_cases import (
    FAST,
    OPTIONS,
    any_seed,
    call_of,
    close,
    each_of,
    product_of,
    quiet,
    scored,
)
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

import skboot
from skboot.results import ComparisonResult, EvaluationResult, ResultTable

pytestmark = pytest.mark.identity

each_score = each_of(FAST)
METHODS = (
    *("auto", "wilson", "clopper-pearson", "wald", "percentile", "expanded", "basic", "normal"),
    *("t", "studentized", "bca", "bias-corrected", "jackknife", "delong"),
)


def interval_of(result, *arguments):
    """The interval, or the words of its refusal."""
    try:
        return quiet(result.interval, *arguments)
    except ValueError as error:
        return str(error)


def loaded(result, folder):
    path = folder / "kept.npz"
    result.save(path)
    return type(result).load(path)


def assert_unchanged(one, other):
    assert other == one
    assert other.summary() == one.summary()
    assert other.claim() == one.claim()
    assert other.to_dict() == one.to_dict()


def assert_same_intervals(one, other, turn=0, step=1):
    for method in (None, *METHODS[turn % step :: step]):
        for level in (None, 0.8):
            asked = (method, level)
            assert repr(interval_of(one, *asked)) == repr(interval_of(other, *asked))


@each_score
@any_seed
def test_a_score_after_loading_is_the_score(name, seed, tmp_path):
    call = call_of(name, *product_of(name, seed), seed)
    one = scored(call.y_true, call.y_pred, **call.options)
    other = loaded(one, tmp_path)
    assert_unchanged(one, other)
    assert_same_intervals(one, other)
    assert other.standard_error == one.standard_error or np.isnan(one.standard_error)
    assert other.monte_carlo_error == one.monte_carlo_error or np.isnan(one.standard_error)


@each_score
@any_seed
def test_a_comparison_after_loading_is_the_comparison(name, seed, tmp_path):
    call = call_of(name, *product_of(name, seed + 1), seed)
    systems = {"A": call.y_pred, "B": call.other(), "C": call.other()}
    one = quiet(skboot.compare_systems, call.y_true, systems, **call.options, **OPTIONS)
    other = loaded(one, tmp_path)
    assert_unchanged(one, other)
    for first, second in zip(one.pairs, other.pairs, strict=True):
        assert first == second
        if first.greater_is_better is not None:
            assert first.verdict(0.02) == second.verdict(0.02)
    for turn, system in enumerate(systems):
        assert other.systems[system] == one.systems[system]
        assert_same_intervals(one.systems[system], other.systems[system], turn + len(name), 6)
    if one.greater_is_better is not None:
        assert other.ranks() == one.ranks()
        assert other.top(1) == one.top(1)


@each_score
@any_seed
def test_runs_after_loading_are_the_runs(name, seed, tmp_path):
    call = call_of(name, *product_of(name, seed + 2), seed)
    runs = [call.y_pred, call.other(), call.other()]
    one = quiet(skboot.bootstrap_runs, call.y_true, runs, **call.options, **OPTIONS)
    other = loaded(one, tmp_path)
    assert_unchanged(one, other)
    for estimand in ("method", "next_run", "pooled", "system"):
        for method in (None, "components", "t", "percentile", "normal"):
            for level in (None, 0.8):
                asked = (method, level, estimand)
                assert interval_of(one, *asked) == interval_of(other, *asked)


@each_score
@any_seed
def test_subgroups_after_loading_are_the_subgroups(name, seed, tmp_path):
    call = call_of(name, "groups", bool(seed % 2), seed, n=100)
    by = np.array(["north", "east"])[call.columns["groups"] % 2]
    one = scored(call.y_true, call.y_pred, by=by, **call.options)
    other = loaded(one, tmp_path)
    assert [*one] == [*other]
    assert_unchanged(one["gap"], other["gap"])
    for turn, (part, result) in enumerate(one.items()):
        assert other[part] == result
        assert_same_intervals(result, other[part], turn + len(name), 6)
    assert isinstance(other, ResultTable)


def test_a_method_after_loading_is_the_method(tmp_path):
    X, y = make_classification(80, 4, flip_y=0.2, random_state=0)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    options = {"n_train_resamples": 12, "n_cv_repeats": 2, "random_state": 0}
    for strategy in ("cv-bootstrap", "oob", ".632", ".632+"):
        scorer = skboot.BootstrapScorer(tree, strategy=strategy, **options)
        one = quiet(scorer.fit, X, y).result_
        other = loaded(one, tmp_path)
        assert isinstance(other, EvaluationResult)
        assert_unchanged(one, other)
        for method in (None, "cv-bootstrap", "adjusted", "hull", "percentile", "t", "normal"):
            for level in (None, 0.8):
                assert interval_of(one, method, level) == interval_of(other, method, level)
    methods = {"deep": DecisionTreeClassifier(random_state=0), "shallow": tree}
    one = quiet(skboot.compare_methods, methods, X, y, **options)
    assert isinstance(one, ComparisonResult)
    assert_unchanged(one, loaded(one, tmp_path))


NAMES = ([1, 22], [False, True], [0.5, -2.0], [(1, "a"), (2, "b")], ["1", "$x"], [None, 1])


@pytest.mark.parametrize("names", NAMES, ids=str)
def test_names_of_entries_keep_their_types(names, tmp_path):
    """Names of results and subgroups are what they were, and so are labels in settings."""
    call = call_of("accuracy of two", n=60)
    one = scored(call.y_true, call.y_pred, metric="accuracy")
    table = ResultTable({names[0]: one, "beside": ResultTable({names[1]: one})})
    tables = [table, loaded(table, tmp_path)]
    # 1 equals True and 1.0.
    assert repr([*tables[1]]) == repr([*tables[0]])
    assert repr([*tables[1]["beside"]]) == repr([*tables[0]["beside"]])
    if not isinstance(names[0], tuple | None):
        by = np.array(names)[call.rng.permutation(60) % 2]
        parts = scored(call.y_true, call.y_pred, by=by, metric="accuracy")
        again = loaded(parts, tmp_path)
        assert repr([*again]) == repr([*parts])
        assert repr(again["gap"]) == repr(parts["gap"])
    labels = names if len(names) == 2 and isinstance(names[0], bool | int | str) else ["n", "y"]
    y_true, y_pred = (np.array(labels)[column] for column in (call.y_true, call.y_pred))
    options = {"metric": "f1", "pos_label": labels[1]}
    systems = {"A": y_pred, "B": np.array(labels)[call.other()]}
    for result in (
        scored(y_true, y_pred, **options),
        quiet(skboot.compare_systems, y_true, systems, **options, **OPTIONS),
        quiet(skboot.bootstrap_runs, y_true, [*systems.values()], **options, **OPTIONS),
        quiet(skboot.search_score, y_true, systems, **options, **OPTIONS),
    ):
        again = loaded(result, tmp_path)
        assert repr(again.settings) == repr(result.settings)
        assert type(again.settings["pos_label"]) is type(labels[1])


# ------------------------------------------------------------------ what is asked later


@each_score
@any_seed
def test_an_interval_asked_later_is_that_of_the_call(name, seed):
    call = call_of(name, *product_of(name, seed + 3), seed)
    one = scored(call.y_true, call.y_pred, **call.options)
    asked = METHODS[1 + (len(name) + seed) % 4 :: 4]
    for method in asked:
        for level in (0.8, 0.95):
            more = {**call.options, "interval": method, "confidence_level": level}
            try:
                expected = scored(call.y_true, call.y_pred, **more)
            except ValueError:
                assert isinstance(interval_of(one, method, level), str)
                continue
            found = interval_of(one, method, level)
            # What costs more than it may is computed if asked for in the call.
            if not isinstance(found, str):
                assert found.method == expected.confidence_interval.method
                assert found.confidence_level == level
                close([*found], [*expected.confidence_interval])
                assert interval_of(expected) == expected.confidence_interval


@each_score
@any_seed
def test_an_interval_of_a_smaller_level_lies_inside(name, seed):
    call = call_of(name, *product_of(name, seed), seed)
    result = scored(call.y_true, call.y_pred, **call.options)
    for method in METHODS[1:]:
        inner, outer = (interval_of(result, method, level) for level in (0.6, 0.9))
        assert isinstance(inner, str) == isinstance(outer, str)
        if not isinstance(inner, str) and not np.isnan([*inner, *outer]).any():
            assert outer.low <= inner.low + 1e-12
            assert inner.high <= outer.high + 1e-12
            assert inner.low <= inner.high
            assert (inner.confidence_level, outer.confidence_level) == (0.6, 0.9)
