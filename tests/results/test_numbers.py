"""Answers behave like numbers: `float`, a format, and a short line of text."""

import math
import re

import numpy as np
import pytest
from made_results import ALL_KINDS, accuracy_result, any_kind, subgroups, undefined_result

from skboot import compare_systems
from skboot.inference import proportion_interval
from skboot.results import ResultTable


def one_pair():
    y_true = np.arange(60) % 2
    systems = {"A": np.where(np.arange(60) < 6, 1 - y_true, y_true), "B": np.ones(60, dtype=int)}
    return compare_systems(y_true, systems, n_resamples=99, random_state=0)


def numbers_of(text):
    return re.findall(r"-?\d+\.\d+", text)


def test_a_printed_result_is_its_estimate_and_limits_on_one_line():
    result = accuracy_result()
    assert str(result) == f"{result}" == "0.855 (0.800 to 0.897)"


def test_the_repr_of_a_result_names_its_class_metric_level_and_method():
    text = "<EvaluationResult: accuracy 0.855 (95% CI 0.800 to 0.897, Wilson)>"
    assert repr(accuracy_result()) == text


def test_a_format_applies_to_all_three_numbers_of_a_result():
    result = accuracy_result()
    low, high = result.confidence_interval
    assert f"{result:.1%}" == f"{result.estimate:.1%} ({low:.1%} to {high:.1%})"
    assert f"{result:.5f}" == f"{result.estimate:.5f} ({low:.5f} to {high:.5f})"


@any_kind
def test_the_float_of_a_result_is_its_estimate_and_it_prints_one_line(kind):
    result = ALL_KINDS[kind]()
    np.testing.assert_equal(float(result), result.estimate)
    assert "\n" not in str(result)
    assert "\n" not in repr(result)


def test_results_fill_an_array_of_floats():
    table = subgroups()
    np.testing.assert_array_equal(
        np.array([table["women"], table["men"]], dtype=float),
        [table["women"].estimate, table["men"].estimate],
    )


def test_a_format_that_numbers_do_not_know_is_refused():
    with pytest.raises(ValueError, match=r"Invalid format|Unknown format"):
        f"{accuracy_result():>>q}"


def test_an_undefined_result_is_called_so():
    result = undefined_result()
    assert math.isnan(float(result))
    assert str(result) == "undefined (undefined)"


def test_a_pair_is_a_number_with_limits():
    [pair] = one_pair().pairs
    low, high = pair.confidence_interval
    assert f"{pair:.3f}" == f"{pair.difference:.3f} ({low:.3f} to {high:.3f})"
    assert str(pair) == f"{pair}"
    assert "\n" not in str(pair)
    assert str(pair).startswith("0.4")
    assert float(pair) == pair.difference
    low, high = numbers_of(str(pair))[1:]
    shown = f"accuracy A - B: {numbers_of(str(pair))[0]} (95% CI {low} to {high}, expanded)"
    assert repr(pair) == f"<PairedDifference: {shown}>"
    assert repr(one_pair()) == f"<ComparisonResult: {shown}>"


def test_a_comparison_of_two_is_a_number_and_one_of_more_says_which_numbers_it_has():
    two = one_pair()
    assert float(two) == two.pairs[0].difference
    assert f"{two:.3f}" == f"{two.pairs[0]:.3f}"
    assert f"{two}" == str(two)
    y_true = np.arange(60) % 2
    three = compare_systems(
        y_true, {"A": y_true, "B": 1 - y_true, "C": 0 * y_true}, n_resamples=99, random_state=0
    )
    advice = re.escape(".pair('A', 'B') or .systems['A']")
    with pytest.raises(TypeError, match=f"comparison of 3 systems has many. Use {advice}"):
        float(three)
    with pytest.raises(TypeError, match=f"format '.3f' needs one number.*{advice}"):
        f"{three:.3f}"
    assert f"{three}" == str(three)


def test_a_table_has_a_line_per_result_and_a_format_asks_for_one_of_them():
    table = subgroups()
    lines = repr(ResultTable({"all": table})).splitlines()
    assert lines[:2] == ["ResultTable({", "  'all': ResultTable({"]
    assert lines[2].startswith("    'women': <EvaluationResult: accuracy (women) 0.855 (95% CI")
    assert len(lines) == 2 + len(table) + 2
    assert f"{table}" == str(table)
    with pytest.raises(TypeError, match=re.escape("table['women']")):
        f"{table:.3f}"


def test_a_format_applies_to_both_limits_of_an_interval():
    assert f"{proportion_interval(18, 20):.3f}" == "0.699 to 0.972"
    interval = proportion_interval(18, 20)
    assert f"{interval}" == repr(interval)
