"""A table of results shows each of them, and what holds for several once."""

import json
import pickle
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from made_results import (
    ALL_KINDS,
    accuracy_result,
    checked_html,
    mean_result,
    subgroups,
    undefined_result,
)

from skboot.results import ResultTable


def test_a_table_of_results_is_read_as_a_dict_is():
    table = subgroups()
    assert isinstance(table, Mapping)
    assert list(table) == ["women", "men", "gap"]
    assert table == dict(table)
    assert pickle.loads(pickle.dumps(table)) == table
    start = "ResultTable({\n  'women': <EvaluationResult: accuracy (women) 0.855"
    assert repr(table).startswith(start)


def test_a_table_of_results_cannot_be_changed_and_holds_results_alone():
    table = subgroups()
    with pytest.raises(TypeError, match=r"cannot be changed.*ResultTable\(\{\*\*table, 'x': "):
        table["x"] = 3
    with pytest.raises(TypeError, match="cannot be changed"):
        del table["men"]
    assert not hasattr(table, "update")
    for wrong in ({"x": 3}, {"x": {"y": 3}}):
        with pytest.raises(TypeError, match="must be results, comparisons, or dicts of them"):
            ResultTable(wrong)
    longer = ResultTable({**table, "mean": mean_result()})
    assert list(longer) == [*table, "mean"]


def test_the_summary_of_a_table_has_a_line_per_result_and_each_note_once():
    table = ResultTable({"accuracy": subgroups(), "mean": mean_result(notes=("Careful.",))})
    lines = table.summary().splitlines()
    assert re.match(r"accuracy \(women\) +Wilson +0\.855 +0\.800 to 0\.897 ", lines[1])
    assert lines[4].startswith("mean")
    assert table.summary().count("the trained system") == 1
    assert "mean: Careful." in table.summary()
    assert "accuracy gap (women - men): The largest of 1 differences." in table.summary()
    assert str(table) == table.summary()


def test_a_note_of_many_results_does_not_list_them_all():
    plain = {f"{k}": accuracy_result() for k in range(12)}
    some = {f"s{k}": mean_result(notes=("Careful.",)) for k in range(8)}
    text = " ".join(ResultTable(plain | some).summary().split())
    assert "note s0; s1; s2; s3; s4 and 3 others: Careful." in text
    text = " ".join(ResultTable(some | {"last": mean_result()}).summary().split())
    assert "note all but last: Careful." in text
    text = " ".join(ResultTable(some).summary().split())
    assert "note Careful." in text


def test_a_metric_does_not_repeat_the_key_beside_it():
    text = ResultTable({"model": subgroups(), "mean": mean_result()}).to_markdown()
    assert "| model | women | accuracy | Wilson |" in text
    assert "| model | gap | accuracy gap (women - men) | simultaneous |" in text


def test_a_level_of_keys_that_names_metrics_is_no_column_beside_them():
    by_metric = {"accuracy": accuracy_result(), "mean": mean_result()}
    systems = ResultTable({"one": by_metric, "two": by_metric})
    assert systems.to_markdown().startswith("| name | metric | method |")
    assert [line.split(" | ")[:2] for line in systems.to_markdown().splitlines()[2:]] == [
        ["| one", "accuracy"],
        ["| one", "mean value"],
        ["| two", "accuracy"],
        ["| two", "mean value"],
    ]
    below = ResultTable({name: {"accuracy": subgroups()} for name in ("one", "two")})
    assert below.to_markdown().startswith("| name | subgroup | metric | method |")
    assert "| two | women | accuracy | Wilson |" in below.to_markdown()
    assert "| two | gap | accuracy gap (women - men) | simultaneous |" in below.to_markdown()


def test_a_page_has_repeated_keys_as_headings():
    page = ResultTable({"one": subgroups(), "two": subgroups()}).to_html()
    assert page.count('<th scope="rowgroup"') == 2
    assert page.count(">one</th>") == page.count(">two</th>") == 1
    assert ">one</td>" not in page
    plain = ResultTable({"one": accuracy_result(), "two": accuracy_result()}).to_html()
    assert "rowgroup" not in plain
    assert ">one</td>" in plain


def test_a_baseline_that_no_result_has_takes_no_column():
    without = ResultTable({"a": mean_result(), "b": mean_result()})
    assert mean_result().naive_estimate is None
    for text in (without.summary(), without.to_markdown(), without.to_latex(), without.to_html()):
        assert "baseline" not in text
    assert len(without.to_markdown().splitlines()[0].split(" | ")) == 7
    assert "baseline" in ResultTable({"a": mean_result(), "b": accuracy_result()}).summary()


def test_a_note_with_a_long_word_stays_on_a_narrow_page():
    note = f"Of {'long' * 30} no more is known."
    page = ResultTable({"a": mean_result(notes=(note,))}).to_html()
    assert f'overflow-wrap:anywhere">{note}</dd>' in page
    assert "fit-content(40%) minmax(0,1fr)" in page


def test_a_page_breaks_no_short_words_and_a_narrow_screen_moves_the_table_alone():
    name = "fifteen letters"
    page = ResultTable({"short name": accuracy_result(), name: accuracy_result()}).to_html()
    style_of = {text: style for style, text in re.findall(r'<td style="([^"]*)">([^<]*)<', page)}
    assert "white-space:nowrap" in style_of["short name"]
    assert "min-width:14ch" in style_of[name]
    assert "nowrap" not in style_of[name]
    assert '<div style="overflow-x:auto;margin:.5em 0"><table' in page


def _least_width(page):
    """Pixels that all columns of a page's one table need, in the widest of the usual fonts."""
    font_manager = pytest.importorskip("matplotlib.font_manager")

    def width(text, weight="normal"):
        font = font_manager.get_font(font_manager.findfont(f"DejaVu Sans:weight={weight}"))
        font.set_size(0.85 * 16, 72)
        font.set_text(text)
        return font.get_width_height()[0] / 64

    columns = []
    for row in re.findall("<tr>(.*?)</tr>", page, flags=re.DOTALL):
        for k, (tag, style, text) in enumerate(
            re.findall(r'<(td|th scope="col") style="([^"]*)">(.*?)</t[dh]>', row, flags=re.DOTALL)
        ):
            # A drawing is as narrow as it must be.
            words = [] if "<svg" in text else [text] if "nowrap" in style else text.split()
            least = re.search(r"min-width:(\d+)ch", style)
            needed = [width(word, "normal" if tag == "td" else "bold") for word in words]
            needed.append(int(least[1]) * width("0") if least else 0)
            columns += [0] * (k + 1 - len(columns))
            columns[k] = max(columns[k], *needed)
    assert columns
    return sum(columns) + len(columns) * 0.85 * 16


def test_scores_of_several_questions_fit_a_window_of_1000_pixels():
    cost = replace(mean_result(), metric="expected cost (costs=0 1; 3 0)")
    digits = {"one copy of each": accuracy_result(), "five copies of each": accuracy_result()}
    page = ResultTable({"costs": {"expected cost": cost}, "digits": digits, "sex": subgroups()})
    # Less the margins of the page and a scroll bar.
    assert _least_width(page.to_html()) < 1000 - 2 * 16 - 17
    # In one line each, words would not leave this room.
    unbroken = re.sub(r"min-width:\d+ch", "white-space:nowrap", page.to_html())
    assert _least_width(unbroken) > 1000 - 2 * 16 - 17


def test_keys_are_shown_where_the_metric_does_not_say_them():
    same = ResultTable({"model A": accuracy_result(), "model B": accuracy_result(150)})
    assert same.summary().splitlines()[0].startswith("name     metric")
    assert "model B" in same.to_latex()
    by_metric = ResultTable({"accuracy": accuracy_result(), "mean": mean_result()})
    assert by_metric.summary().splitlines()[0].startswith("metric")


def test_a_table_marks_what_is_no_confidence_interval():
    table = ResultTable({"a": accuracy_result(), "b": ALL_KINDS["pooled"]()})
    assert "(95% spread of single runs)" in table.to_markdown()
    assert "(95% CI)" in table.to_markdown()


def test_an_undefined_result_in_a_table_has_its_reason():
    table = ResultTable({"a": accuracy_result(), "b": undefined_result()})
    assert "There are no positives" in table.summary()


def test_dicts_of_a_table_are_nested_as_it_is():
    table = ResultTable({"accuracy": dict(subgroups()), "mean": mean_result()})
    record = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert record["accuracy"]["men"]["estimate"] == 0.75
    assert record["mean"]["metric"] == "mean"


def test_drawings_of_one_metric_share_a_scale():
    html = subgroups()._repr_html_()
    centres = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', html)]
    assert len(centres) == 3
    assert centres[1] < centres[0]  # men, 0.75, left of women, 0.855
    checked_html(html)


def test_an_empty_table_says_so():
    assert ResultTable().summary() == "no results"
    checked_html(ResultTable().to_html())
    assert ResultTable().to_markdown()


def test_a_table_of_other_things_is_refused():
    with pytest.raises(TypeError, match="Got int for 'a'"):
        ResultTable({"a": 1}).summary()
