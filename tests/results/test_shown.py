"""Results become dicts, frames, tables and pages."""

import json
import math
import re
import sys
from functools import partial

import numpy as np
import pytest
from made_results import (
    ALL_KINDS,
    accuracy_result,
    any_kind,
    checked_html,
    mean_result,
    subgroups,
    undefined_result,
)
from sklearn.metrics import recall_score

from skboot import bootstrap_runs, bootstrap_score
from skboot.inference import ConfidenceInterval
from skboot.results import ResultTable


def test_a_dict_of_a_result_is_json():
    for make in ALL_KINDS.values():
        record = json.loads(json.dumps(make().to_dict(), allow_nan=False))
        assert record["metric"] == make().metric
    record = undefined_result().to_dict()
    assert record["estimate"] is None
    assert record["confidence_interval"]["low"] is None
    assert ALL_KINDS["infinite"]().to_dict()["confidence_interval"]["low"] == "-inf"


def test_settings_that_json_lacks_become_plain():
    settings = {1: (np.float64(0.5), np.int64(3)), "f": len, "a": np.arange(2), "n": None}
    result = mean_result(settings=settings)
    assert result.settings == {"1": [0.5, 3], "f": str(len), "a": [0, 1], "n": None}
    json.dumps(result.to_dict())


def test_a_frame_has_a_row_per_result():
    pytest.importorskip("pandas")
    frame = accuracy_result().to_frame()
    assert frame.shape[0] == 1
    low, high = accuracy_result().confidence_interval[:2]
    assert (frame.loc[0, "low"], frame.loc[0, "high"]) == (low, high)
    nested = ResultTable({"accuracy": subgroups(), "mean": mean_result()}).to_frame()
    assert list(nested["name"]) == ["accuracy"] * 3 + ["mean"]
    assert list(nested["subgroup"]) == ["women", "men", "gap", ""]


def test_a_frame_calls_subgroups_what_subgroups_are():
    pytest.importorskip("pandas")
    y, p = np.arange(60) % 2, np.arange(60) // 3 % 2
    options = {"n_resamples": 499, "random_state": 0}
    runs = bootstrap_runs(y, [p, 1 - p] * 5, metric=["accuracy", "f1"], **options)
    by = bootstrap_score(y, p, by=np.arange(60) // 30, **options)
    several = bootstrap_score(y, p, metric=["accuracy", "f1"], by=np.arange(60) // 30, **options)
    classes = bootstrap_score(y, p, metric=partial(recall_score, average=None), **options)
    tables = [
        ({"A": runs, "B": runs}, ["name", "entry"], ["name", "metric", "method"]),
        ({"A": classes, "B": classes}, ["name", "entry"], ["name", "entry", "metric"]),
        ({"A": by, "B": by}, ["name", "subgroup"], ["name", "subgroup", "metric"]),
        (
            {"A": several, "B": several},
            ["name", "entry", "subgroup"],
            # A text needs no column for keys that the metric names.
            ["name", "subgroup", "metric"],
        ),
    ]
    for results, in_frame, in_text in tables:
        table = ResultTable(results)
        assert list(table.to_frame().columns[: len(in_frame) + 1]) == [*in_frame, "metric"]
        assert table.summary().split()[:3] == in_text


def test_without_pandas_a_frame_is_refused_and_all_else_works(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for value in (accuracy_result(), subgroups()):
        with pytest.raises(ImportError, match=re.escape("pip install 'skboot[dataframe]'")):
            value.to_frame()
        assert value.to_markdown()
        assert value.to_latex()
        assert value.to_html()


def test_without_matplotlib_a_plot_is_refused_and_all_else_works(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for value in (accuracy_result(), subgroups()):
        with pytest.raises(ImportError, match=re.escape("pip install 'skboot[plot]'")):
            value.plot()
        assert value.summary()


def test_a_page_says_what_its_drawings_show():
    drawn = "grey: bootstrap distribution; dot and line: estimate and interval"
    for value in (accuracy_result(), subgroups(), mean_result()):
        page = value.to_html()
        assert page.count(drawn) == 1
        assert page.index("<svg") < page.index(drawn)
    assert "dashed: baseline" in subgroups().to_html()
    # Where nothing is drawn there is nothing to explain.
    assert "<svg" not in undefined_result().to_html()
    assert drawn not in undefined_result().to_html()


@pytest.mark.parametrize("suffix", ["png", "PDF", "csv", "json", "md", "html", "tex", "pkl"])
def test_no_file_is_saved_under_the_suffix_of_another_format(tmp_path, suffix):
    path = tmp_path / f"result.{suffix}"
    with pytest.raises(ValueError, match=rf"A file \.{suffix.lower()} is made by"):
        accuracy_result().save(path)
    assert not path.exists()


def test_markdown_has_as_many_cells_in_each_line():
    names = ["a|b", "two\nlines", "*bold*", "__init__", "<b>", "[link](x)", "`code`", "back\\slash"]
    table = ResultTable({name: accuracy_result() for name in names}).to_markdown()
    lines = table.splitlines()
    assert len(lines) == 2 + len(names)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {9}
    for escaped in (r"a\|b", "two lines", r"\*bold\*", r"\_\_init\_\_", "&lt;b>", r"\[link\]"):
        assert escaped in table
    assert "ROC AUC" in accuracy_result(metric="roc_auc").to_markdown()
    assert "snake_case" in ResultTable(snake_case=accuracy_result()).to_markdown()


def test_latex_reads_names_as_text():
    name = r"50% & #1_a {b} \x ~y^z $5 <c>"
    text = ResultTable({name: accuracy_result(), "[x]": mean_result(), "*": mean_result()})
    latex = text.to_latex()
    assert (
        r"50\% \& \#1\_a \{b\} \textbackslash{}x \textasciitilde{}y\textasciicircum{}z \$5 "
        r"\textless{}c\textgreater{}"
    ) in latex
    # After \\ a bracket or an asterisk would be an argument.
    assert "\n{[}x]" in latex
    assert "\n{*}" in latex
    for command in (r"\begin{tabular}{lllrrrrr}", r"\toprule", r"\bottomrule", r"\end{tabular}"):
        assert command in latex
    rows = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {7}


def test_latex_writes_negative_numbers_with_a_minus_sign():
    result = mean_result(confidence_interval=ConfidenceInterval(-0.5, -0.25, 0.95, "t"))
    assert "$-$0.50 to $-$0.25" in result.to_latex()
    assert "& Clopper-Pearson &" in accuracy_result(method="clopper-pearson").to_latex()


@any_kind
def test_html_is_well_formed_and_needs_nothing_from_elsewhere(kind):
    result = ALL_KINDS[kind]()
    page = result.to_html()
    checker = checked_html(page)
    assert page.startswith("<!DOCTYPE html>")
    assert '<meta charset="utf-8">' in page
    assert "title" in checker.tags
    assert not re.search(r'(src|href)="|url\(|@import', page)
    checked_html(result._repr_html_())
    if not math.isnan(result.estimate):
        assert {"svg", "desc"} <= set(checker.tags)


def test_html_escapes_names():
    result = accuracy_result(metric="<script>&", notes=("<b>",))
    for html in (result.to_html(), ResultTable({"<i>": result}).to_html()):
        checker = checked_html(html)
        assert not {"script", "b", "i"} & set(checker.tags)


def test_html_is_readable_on_dark_and_light_pages():
    html = accuracy_result()._repr_html_()
    assert "currentColor" in html
    assert not re.search(r"(?<![-\w])(color|background|fill):(#|black|white)", html)


def test_terms_keep_their_width_beside_the_rules_of_notebooks():
    # Notebooks style dt with "float: left; width: 20%", of a column of its own a fifth.
    terms = re.findall('<dt style="([^"]*)"', accuracy_result()._repr_html_())
    assert terms
    assert all("float:none;width:auto" in style for style in terms)


def test_the_same_result_gives_the_same_html():
    assert accuracy_result()._repr_html_() == accuracy_result()._repr_html_()


def test_a_page_is_written_where_it_was_asked(tmp_path):
    for value in (accuracy_result(metric="größe"), subgroups()):
        path = tmp_path / "page.html"
        assert value.to_html(path) is None
        assert path.read_text(encoding="utf-8") == value.to_html()
        assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("digits", [-1, 16, 10**30, 2.5])
def test_decimals_that_no_number_has_are_refused(digits):
    result = bootstrap_score([0, 1] * 20, [0, 1] * 20, random_state=0)
    for write in (result.to_latex, result.to_markdown):
        with pytest.raises(ValueError, match="The 'digits' parameter of EvaluationResult"):
            write(digits=digits)
