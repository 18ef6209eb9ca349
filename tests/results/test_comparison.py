"""`ComparisonResult`: what it holds, in words, tables and files."""

import copy
import dataclasses
import json
import pickle

import numpy as np
import pytest
from made_results import four_systems, two

from skboot import compare_systems
from skboot.results import ComparisonResult

N = 400


@pytest.fixture(scope="module")
def data():
    return four_systems()


@pytest.fixture(scope="module")
def result(data):
    y, systems = data
    return compare_systems(y, systems, n_resamples=199, random_state=0)


def test_a_comparison_survives_a_file(result, tmp_path):
    result.save(tmp_path / "comparison.npz")
    loaded = ComparisonResult.load(tmp_path / "comparison.npz")
    assert loaded == result
    assert loaded.summary() == result.summary()
    assert (
        pickle.loads(pickle.dumps(result)) == copy.deepcopy(result) == copy.copy(result) == result
    )
    as_dict = dataclasses.asdict(result)
    assert as_dict["systems"]["A"]["metric"] == result.metric
    assert as_dict["pairs"][0]["confidence_interval"] == result.pairs[0].confidence_interval
    with pytest.raises(TypeError, match="cannot be changed"):
        result.systems["A"] = result.systems["B"]


def test_a_file_of_something_else_is_refused(result, tmp_path):
    result.systems["A"].save(tmp_path / "one.npz")
    with pytest.raises(ValueError, match=r"holds 'skboot\.EvaluationResult'"):
        ComparisonResult.load(tmp_path / "one.npz")


def test_the_dict_is_json_and_holds_every_pair(result):
    record = json.loads(json.dumps(result.to_dict()))
    assert [pair["first"] for pair in record["pairs"]] == ["A", "A", "A", "B", "B", "C"]
    assert record["best"] == "A"
    assert set(record["systems"]) == set("ABCD")


def test_every_table_holds_every_pair(result):
    frame = pytest.importorskip("pandas") and result.to_frame()
    assert list(frame["first"] + frame["second"]) == ["AB", "AC", "AD", "BC", "BD", "CD"]
    assert result.to_markdown().count("\n") == 7
    assert result.to_latex().count(r"\\") == 7
    page = result.to_html()
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<svg") == 6


def test_names_cannot_break_a_page(data):
    y, systems = data
    names = {"<script>": systems["A"], "a|b_c": systems["C"]}
    result = compare_systems(y, names, n_resamples=199, random_state=0)
    assert "<script>" not in result.to_html()
    assert r"a\|b_c" in result.to_markdown()


def test_many_differences_are_cut_to_those_with_the_best(data):
    y, _ = data
    rng = np.random.default_rng(0)
    systems = {f"s{k:02}": np.where(rng.random(N) < 0.2, 1 - y, y) for k in range(20)}
    result = compare_systems(y, systems, n_resamples=198, random_state=0)
    assert len(result.pairs) == 190
    assert "171 differences" in result.summary()
    assert result.to_markdown().count("\n") == 191


def test_tables_of_metrics_show_all_comparisons(data, tmp_path):
    pytest.importorskip("pandas")
    y, systems = data
    table = compare_systems(
        y, two(systems), metric=["accuracy", "f1"], n_resamples=199, random_state=0
    )
    assert list(table.to_frame()["name"]) == ["accuracy", "f1"]
    for text in (table.summary(), table.to_markdown(), table.to_latex()):
        assert "f1" in text
    table.to_html(tmp_path / "page.html")
    assert "F1" in (tmp_path / "page.html").read_text()
    assert set(table.to_dict()) == {"accuracy", "f1"}


def test_two_comparisons_are_equal_when_all_they_hold_is(data, result):
    y, systems = data
    assert compare_systems(y, systems, n_resamples=199, random_state=0) == result
    assert compare_systems(y, systems, n_resamples=199, random_state=1) != result
