"""Every method and every text of a result works on every basis, and a file gives it back."""

import copy
import dataclasses
import json
import math
import pickle
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skboot import (
    BootstrapScorer,
    bootstrap_runs,
    bootstrap_score,
    compare_across,
    compare_systems,
    learning_curve,
    search_score,
)
from skboot._base.values import same_values
from skboot.inference.intervals import FOR_ONE_SCORE, problem_with
from skboot.inference.runs import RUN_METHODS
from skboot.method_error.prediction_error import METHOD_INTERVALS
from skboot.results import EvaluationResult, basis

N = 60
_rng = np.random.default_rng(0)
LABEL = np.tile([0, 1], N // 2)
SUBGROUP = np.repeat(["a", "b"], N // 2)
SCORES = [LABEL + _rng.normal(size=N) for _ in range(12)]
RUNS = [(scores > 0.5).astype(int) for scores in SCORES]
SHORT = {"n_resamples": 499, "random_state": 0}


def _system():
    return bootstrap_score(LABEL, SCORES[0], metric="roc_auc", **SHORT)


def _scores():
    return search_score(LABEL, dict(zip("abc", SCORES, strict=False)), metric="roc_auc", **SHORT)


def _one_of_several():
    return bootstrap_score(LABEL, RUNS[0], metric=["accuracy", "f1"], adjust="max-t", **SHORT)["f1"]


def _gap():
    return bootstrap_score(LABEL, RUNS[0], by=SUBGROUP, **SHORT)["gap"]


def _gap_of_systems():
    systems = dict(zip("ab", RUNS, strict=False))
    table = compare_systems(LABEL, systems, by=SUBGROUP, **SHORT)
    return table["gap"]["a - b"]


def _runs(estimand):
    return lambda: bootstrap_runs(LABEL, RUNS, metric="accuracy", estimand=estimand, **SHORT)


def _method():
    scorer = BootstrapScorer(LogisticRegression(), n_train_resamples=20, random_state=0)
    return scorer.fit(np.column_stack(SCORES[:2]), LABEL).result_


def _curve():
    X = np.column_stack(SCORES[:2])
    return learning_curve(LogisticRegression(), X, LABEL, scoring="neg_log_loss", random_state=0)


def _data_sets(estimand):
    def make():
        results = {}
        for k in range(9):
            rows = np.random.default_rng(k).integers(0, N, N)
            systems = {name: run[rows] for name, run in zip("ab", RUNS, strict=False)}
            results[k] = compare_systems(LABEL[rows], systems, **SHORT)
        return compare_across(results, estimand=estimand, **SHORT).systems["a"]

    return make


# A result of each basis, with the intervals that it can name beside "auto".
CASES = {
    "system": (_system, [(name, None) for name in FOR_ONE_SCORE]),
    "scores": (_scores, [("percentile", None), ("basic", None)]),
    "one of several": (_one_of_several, [("percentile", None), ("bca", None), ("max-t", None)]),
    "gap": (_gap, [("simultaneous", None)]),
    "gap, systems": (_gap_of_systems, [("simultaneous", None)]),
    **{
        f"{'system of ' if estimand == 'system' else ''}runs, {estimand}": (
            _runs(estimand),
            [(name, of) for of, names in RUN_METHODS.items() for name in names],
        )
        for estimand in ("system", *RUN_METHODS)
    },
    "method": (_method, [(name, "method") for name in METHOD_INTERVALS]),
    "training-set size": (lambda: _curve().at(30), [("t", None)]),
    "larger training-set size": (lambda: _curve().extrapolate(2 * N), [("t", None)]),
    "drawn data sets": (
        _data_sets("new"),
        [(name, None) for name in ("studentized", "t", "percentile")],
    ),
    "given data sets": (_data_sets("these"), [("t", None)]),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    make, methods = CASES[request.param]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(), methods, request.param


def test_every_basis_has_a_case():
    kinds = {name.partition(",")[0] for name in CASES}
    assert kinds == set(basis._CLASSES)


def test_a_case_stands_on_the_basis_of_its_name(case):
    result, _, name = case
    assert result._basis.kind == name.partition(",")[0]
    assert result._evidence is result._basis.evidence


def test_every_text_is_made_without_a_warning(case):
    result, _, _ = case
    texts = [
        result.summary(),
        result.claim(),
        str(result),
        repr(result),
        result.to_markdown(),
        result.to_latex(),
        result.to_html(),
        result._repr_html_(),
    ]
    for text in texts:
        assert text.strip()
        assert "None" not in text
        assert "nan" not in text.split()
    assert result.metric in repr(result)
    assert result.claim().endswith(".")


def test_facts_name_the_estimand_first_and_each_label_once(case):
    result, _, _ = case
    labels = [label for label, _ in result._basis.facts(result) if label != "note"]
    assert labels[:2] == ["estimand", "estimate"]
    assert len(labels) == len(set(labels))
    facts, remarks = result._basis.facts(result), result._basis.remarks(result)
    assert [fact for fact in facts if fact in remarks] == remarks


def test_a_dict_of_it_is_json_with_its_numbers(case):
    result, _, _ = case
    record = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert record["estimate"] == result.estimate
    assert record["confidence_interval"] == result.confidence_interval.to_dict()
    assert (record["variance_components"] is None) == (result.variance_components is None)
    assert record["estimand"] == result.estimand


def test_a_frame_of_it_has_one_row():
    pytest.importorskip("pandas")
    for make, _ in CASES.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = make()
        frame = result.to_frame()
        assert len(frame) == 1
        assert frame["low"][0] == result.confidence_interval.low


def test_every_interval_that_it_names_can_be_asked_for(case):
    result, methods, _ = case
    assert result.interval() == result.confidence_interval
    for method, estimand in methods:
        needed = estimand is None and problem_with(method, result._evidence)
        refused = getattr(result._basis, "run_evidence", None)
        refused = refused is not None and (method in refused.refused or estimand in refused.refused)
        if needed or refused:
            with pytest.raises(ValueError, match=r"\w"):
                result.interval(method, 0.9, estimand)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            narrow, wide = (result.interval(method, level, estimand) for level in (0.8, 0.9))
        assert (narrow.confidence_level, wide.confidence_level) == (0.8, 0.9)
        assert narrow.method == wide.method == method
        assert wide.low <= narrow.low <= narrow.high <= wide.high


def test_an_automatic_interval_at_the_level_of_the_call_is_that_of_the_call(case):
    result, _, _ = case
    level = result.confidence_interval.confidence_level
    assert result.interval("auto", level) == result.confidence_interval


def test_an_interval_that_does_not_exist_is_refused(case):
    result, _, _ = case
    with pytest.raises(ValueError, match="magic"):
        result.interval("magic")
    with pytest.raises(ValueError, match="estimand"):
        result.interval(estimand="magic")
    with pytest.raises(ValueError, match="confidence_level"):
        result.interval(confidence_level=95)


def test_the_monte_carlo_error_is_a_pair_that_no_warning_comes_with(case):
    result, _, _ = case
    low, high = result.monte_carlo_error
    assert math.isnan(low) == math.isnan(high)
    assert math.isnan(low) or min(low, high) >= 0


def test_a_saved_one_comes_back_equal_and_answers_alike(case, tmp_path):
    result, _, _ = case
    result.save(tmp_path / "result.npz")
    back = EvaluationResult.load(tmp_path / "result.npz")
    assert back == result
    assert type(back._basis) is type(result._basis)
    assert back.summary() == result.summary()
    level = result.confidence_interval.confidence_level
    assert back.interval("auto", level) == result.interval("auto", level)
    assert all(
        copied == result for copied in (pickle.loads(pickle.dumps(back)), copy.deepcopy(back))
    )
    as_dict = dataclasses.asdict(result)
    assert list(as_dict) == [field.name for field in dataclasses.fields(result)]
    assert same_values(as_dict["confidence_interval"], tuple(result.confidence_interval))


def test_its_arrays_are_read_only(case):
    result, _, _ = case
    with pytest.raises(ValueError, match="read-only"):
        result.bootstrap_distribution[0] = 0


def test_it_is_drawn(case):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    result, _, _ = case
    assert result.plot().ax_ is not None
    pyplot.close("all")


def test_a_file_of_an_unknown_basis_is_refused(tmp_path, monkeypatch):
    result = bootstrap_score(LABEL, RUNS[0], **SHORT)
    monkeypatch.setattr(type(result._basis), "kind", "other")
    result.save(tmp_path / "result.npz")
    with pytest.raises(ValueError, match="whole result: 'other'"):
        EvaluationResult.load(tmp_path / "result.npz")
