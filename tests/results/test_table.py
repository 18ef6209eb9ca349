"""`ResultTable`: one dict of results or comparisons that is shown, saved and loaded as one."""

import copy
import json
import pickle
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from made_results import mean_result
from sklearn.metrics import fbeta_score

from skboot import bootstrap_score, compare_systems
from skboot.metrics import sensitivity_at
from skboot.model_selection import corrected_t
from skboot.results import CorrectedTable, ResultTable

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, size=120)
SYSTEMS = {name: Y ^ (RNG.random(120) < rate) for name, rate in (("A", 0.1), ("B", 0.4))}
OPTIONS = {"n_resamples": 199, "random_state": 0}
METRICS = ["accuracy", "f1"]
SUBGROUP = np.where(np.arange(120) % 2, "odd", "even")


def scores():
    return bootstrap_score(Y, SYSTEMS["A"], metric=METRICS, **OPTIONS)


def scores_of_subgroups():
    return bootstrap_score(Y, SYSTEMS["A"], metric=METRICS, by=SUBGROUP, **OPTIONS)


def comparisons():
    return compare_systems(Y, SYSTEMS, metric=METRICS, **OPTIONS)


def comparisons_of_subgroups():
    return compare_systems(Y, SYSTEMS, by=SUBGROUP, **OPTIONS)


def of_both_kinds():
    return ResultTable({"score": scores()["f1"], "differences": comparisons()["accuracy"]})


def with_keys_that_are_no_text():
    first, second = scores().values()
    return ResultTable({3: first, None: {("a", 2.5): second}})


MAKERS = [
    scores,
    scores_of_subgroups,
    comparisons,
    comparisons_of_subgroups,
    of_both_kinds,
    with_keys_that_are_no_text,
    ResultTable,
]


@pytest.fixture(scope="module", params=MAKERS, ids=lambda make: make.__name__)
def table(request):
    return request.param()


def test_a_table_of_comparisons_is_a_result_table():
    assert type(comparisons()) is type(scores()) is ResultTable


def test_a_table_survives_a_file(table, tmp_path):
    table.save(tmp_path / "table.npz")
    loaded = ResultTable.load(tmp_path / "table.npz")
    assert loaded == table
    assert list(loaded) == list(table)
    assert loaded.summary() == table.summary()


def test_a_table_survives_pickles_and_copies(table):
    assert pickle.loads(pickle.dumps(table)) == table
    assert type(copy.deepcopy(table)) is ResultTable


def test_a_file_of_a_table_holds_no_pickle(tmp_path):
    comparisons().save(tmp_path / "table.npz")
    with np.load(tmp_path / "table.npz", allow_pickle=False) as archive:
        assert "skboot.ResultTable" in str(archive["header"])


def test_a_file_of_one_result_is_no_table(tmp_path):
    scores()["f1"].save(tmp_path / "one.npz")
    wrong = r"holds 'skboot\.EvaluationResult', not 'skboot\.ResultTable'\. Read it by "
    with pytest.raises(ValueError, match=rf"{wrong}skboot\.results\.EvaluationResult\.load\(path"):
        ResultTable.load(tmp_path / "one.npz")


@pytest.mark.parametrize("made", [scores, scores_of_subgroups, comparisons])
def test_what_a_table_answers_to_is_in_it(made):
    table = made()
    for key in ("f1", "F1", "acc", "accuracy"):
        assert key in table
        assert table[key] is table.get(key) is table[{"F1": "f1", "acc": "accuracy"}.get(key, key)]
    for key in ("auc", "odd", "", 0, None, ("f1",)):
        assert key not in table
        assert table.get(key) is None
    assert list(table) == METRICS


def test_a_result_under_a_name_of_the_users_has_no_other_name():
    named = ResultTable({"accuracy": scores()["f1"]})
    assert "acc" not in named
    assert ResultTable({"f1": scores_of_subgroups()["accuracy"]}).get("F1") is None


def test_a_file_that_lacks_a_part_is_refused(tmp_path):
    part = {"$tuple": ["accuracy", "skboot.EvaluationResult", {"metric": "accuracy"}]}
    foreign = {"$tuple": ["a", "os.system", {}]}
    for parts in ({}, {"entries": [part]}, {"entries": [foreign]}):
        header = {"format": "skboot.ResultTable", "version": 1, "parts": parts}
        np.savez(tmp_path / "x.npz", header=np.array(json.dumps(header)))
        with pytest.raises(ValueError, match="does not hold a whole table"):
            ResultTable.load(tmp_path / "x.npz")


def test_every_table_has_every_form(table):
    assert isinstance(table.summary(), str)
    assert isinstance(table.to_markdown(), str)
    assert isinstance(table.to_latex(), str)
    assert table.to_html().startswith("<!DOCTYPE html>")
    json.dumps(table.to_dict())
    pytest.importorskip("pandas")
    table.to_frame()


def test_the_claim_of_a_table_has_a_line_for_each_result():
    lines = comparisons().claim().splitlines()
    assert lines == [each.claim() for each in comparisons().values()]
    lines = scores().claim().splitlines()
    assert lines == [each.claim() for each in scores().values()]


def test_a_claim_begins_with_the_name_that_its_metric_does_not_say():
    table = ResultTable({"model A": scores()["f1"]})
    assert table.claim() == f"model A: {scores()['f1'].claim()}"
    names = [line.split(": ")[0] for line in comparisons_of_subgroups().claim().splitlines()]
    assert names[:2] == ["even", "odd"]


# ------------------------------------------------------------------ lists


def test_results_of_a_list_are_named_by_their_metric():
    table = ResultTable(list(scores().values()))
    assert table == scores()
    assert list(ResultTable(comparisons().values())) == METRICS


def test_two_results_of_one_metric_need_names():
    result = scores()["f1"]
    with pytest.raises(ValueError, match=r"Got 'f1' twice\. Give a dict"):
        ResultTable([result, result])
    assert list(ResultTable({"a": result, "b": result})) == ["a", "b"]


@pytest.mark.parametrize("wrong", [[1], [{"a": 1}], "ab", [None], None, 1], ids=repr)
def test_a_list_of_something_else_is_refused(wrong):
    with pytest.raises(TypeError, match="list of results, which are named by their metrics"):
        ResultTable(wrong)


def test_a_table_is_made_as_a_dict_is():
    result = scores()["f1"]
    assert ResultTable([("a", result)]) == ResultTable(a=result) == ResultTable({"a": result})


def test_what_a_table_was_made_of_may_change_without_it():
    result = bootstrap_score([0, 1] * 20, [0, 1] * 19 + [1, 0], random_state=0)
    inner = {"women": result}
    table = ResultTable({"accuracy": inner, "again": result})
    inner["men"] = result
    assert list(table["accuracy"]) == ["women"]
    assert list(reversed(table)) == ["again", "accuracy"]


def test_values_of_another_type_are_named():
    with pytest.raises(TypeError, match="Got int for 'a'"):
        ResultTable({"a": 1}).summary()


def test_a_result_is_found_by_what_the_call_named_its_metric():
    y_true, y_score = [0, 1] * 50, np.random.default_rng(0).normal(size=100)
    at = partial(sensitivity_at, specificity=0.9)
    table = bootstrap_score(y_true, y_score, metric=["auc", at], n_resamples=99, random_state=0)
    assert table["auc"] is table["roc_auc"]
    assert table["sensitivity_at"] is table["sensitivity at specificity 0.9"]
    with pytest.raises(KeyError, match="'f1' is none of"):
        table["f1"]
    two = [at, partial(sensitivity_at, specificity=0.8)]
    table = bootstrap_score(y_true, y_score, metric=two, n_resamples=99, random_state=0)
    with pytest.raises(KeyError, match="'sensitivity_at' is none of"):
        table["sensitivity_at"]


# ------------------------------------------------------------------ for papers


def decimals_of(text, column):
    """Numbers of decimals in one column of a Markdown table, by row."""
    header, _, *rows = (line.strip("| ").split(" | ") for line in text.splitlines())
    cells = [row[header.index(column)] for row in rows]
    return [{len(one) for one in re.findall(r"\d+(?:\.(\d+))?", cell)} for cell in cells]


def test_rows_of_a_metric_have_equal_decimals_and_other_metrics_their_own():
    near = np.where(np.arange(120) < 1, 1 - Y, Y)
    grams = 1000 * RNG.gamma(2.0, size=120)
    shares = {
        "wide": bootstrap_score(Y[:40], SYSTEMS["B"][:40], **OPTIONS),
        "narrow": bootstrap_score(Y, near, **OPTIONS),
    }
    own = {str(result).split()[0] for result in shares.values()}
    assert len({len(number) for number in own}) == 2
    mass = {"mass": bootstrap_score(None, grams, metric="mean", **OPTIONS)}
    for column in ("estimate", "95% CI"):
        assert decimals_of(ResultTable(shares).to_markdown(), column) == [{2}, {2}]
        for name, result in shares.items():
            of_both = ResultTable({name: result, **mass}).to_markdown()
            assert decimals_of(of_both, column) == [{{"wide": 2, "narrow": 3}[name]}, {0}]


def test_digits_of_a_table_of_scores_are_as_many_as_are_asked_for(table):
    if len(table):
        assert re.search(r"\b\d\.\d{2}\b", table.to_markdown(digits=2))
        assert re.search(r"\b\d\.\d{5}\b", table.to_latex(digits=5))
    [row] = decimals_of(scores()["f1"].to_markdown(digits=4), "estimate")
    assert row == {4}


def test_a_caption_and_a_label_put_a_tabular_of_scores_into_a_table():
    for shown in (scores(), scores()["f1"]):
        latex = shown.to_latex(caption="F1, 95% CI", label="tab:f1")
        start = "\\begin{table}\n\\centering\n\\caption{F1, 95\\% CI}\n\\label{tab:f1}\n"
        assert latex == f"{start}{shown.to_latex()}\n\\end{{table}}"


# ------------------------------------------------------------------ names


@pytest.mark.filterwarnings("ignore:.*rows decide")
def test_two_partials_of_one_function_are_two_results_named_by_their_options():
    at = [partial(sensitivity_at, specificity=share) for share in (0.9, 0.5)]
    names = ["sensitivity at specificity 0.9", "sensitivity at specificity 0.5"]
    found = bootstrap_score(Y, Y + RNG.normal(size=120), metric=at, **OPTIONS)
    assert list(found) == [result.metric for result in found.values()] == names
    assert found[names[0]].claim().startswith("Sensitivity at specificity 0.9 on new data")
    compared = compare_systems(Y, SYSTEMS, metric=partial(fbeta_score, beta=2), **OPTIONS)
    assert compared.metric == "fbeta_score (beta=2)"
    with pytest.raises(
        ValueError, match=r"Got two 'fbeta_score \(beta=2\)'\. Name them with a dict"
    ):
        bootstrap_score(Y, SYSTEMS["A"], metric=2 * [partial(fbeta_score, beta=2)], **OPTIONS)


def test_options_that_are_defaults_are_no_part_of_a_name():
    metric = partial(fbeta_score, beta=2, pos_label=1, average="binary")
    assert (
        bootstrap_score(Y, SYSTEMS["A"], metric=metric, **OPTIONS).metric == "fbeta_score (beta=2)"
    )


def test_an_empty_table_of_folds_is_shown_as_an_empty_table_is():
    assert str(CorrectedTable()) == CorrectedTable().summary() == str(ResultTable({}))
    assert "<table" in CorrectedTable()._repr_html_()


def test_a_table_of_cross_validation_takes_the_names_of_metrics_that_results_do():
    rows = np.arange(100)
    indices = {
        "train": [np.delete(rows, rows[k::10]) for k in range(10)],
        "test": [rows[k::10] for k in range(10)],
    }
    scores = {"test_roc_auc": rows[:10] / 20, "test_f1": rows[:10] / 10, "test_odd": rows[:10] / 10}
    table = corrected_t({**scores, "indices": indices})
    assert isinstance(table, CorrectedTable)
    results = ResultTable(
        {name: replace(mean_result(), metric=name) for name in ("roc_auc", "f1", "odd")}
    )
    for name in ("roc_auc", "auc", "AUC", "f1", "F1", "accuracy", "odd", "", 0, None):
        assert (name in table) == (name in results)
        assert (table.get(name) is None) == (results.get(name) is None)
        if name in results:
            assert table[name] is table[results[name].metric]
        else:
            with pytest.raises(KeyError, match="is none of"):
                table[name]
    assert len(table) == 3
