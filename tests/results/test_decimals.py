"""Numbers of one metric have the same decimals, in all rows and panels of a table."""

import math
import re

import numpy as np
import pytest

from skboot import bootstrap_curve, bootstrap_score, compare_systems
from skboot.inference import ConfidenceInterval
from skboot.results import CorrectedT, CorrectedTable, ResultTable, rendering
from skboot.results.rendering import Decimals, Fixed

RNG = np.random.default_rng(5)
Y = RNG.integers(0, 2, 400)
RARE = np.where(np.arange(400) < 40, "rare", "common")
SYSTEMS = {name: Y ^ (RNG.random(400) < rate) for name, rate in (("a", 0.1), ("b", 0.13))}
SYSTEMS["c"] = np.where(np.arange(400) < 3, 1 - SYSTEMS["a"], SYSTEMS["a"])
OPTIONS = {"n_resamples": 199, "random_state": 0}


def decimals_in(text):
    """Numbers of decimals of the estimates and limits in tables of Markdown."""
    pattern = r"(-?\d+\.?\d*) to [<>]?(-?\d+\.?\d*)"
    return {len(number.partition(".")[2]) for pair in re.findall(pattern, text) for number in pair}


@pytest.mark.parametrize("seed", range(40))
def test_rounding_moves_no_number_by_a_fortieth_of_the_widest_and_no_interval_is_one_number(seed):
    widths = 10.0 ** np.random.default_rng(seed).uniform(-6, 3, size=seed % 7 + 1)
    decimals = Decimals.of(widths)
    for width in widths:
        digits = decimals.at(width)
        assert 0.5 * 10.0**-digits <= max(widths) / 40 * (1 + 1e-9)
        assert 10.0**-digits < width
        assert decimals.at(max(widths)) <= digits


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(9.98e21, -20, "1.00e+22"), (9.94e21, -20, "9.9e+21"), (9.996e-12, 14, "1.000e-11")],
)
def test_a_number_that_rounding_makes_longer_has_the_decimals_of_the_others(value, digits, text):
    assert rendering.number(value, digits) == text


def test_intervals_that_differ_by_less_than_a_hundredfold_have_the_same_decimals():
    for narrow in np.geomspace(0.002, 0.2, 9):
        decimals = Decimals.of([0.2, narrow])
        assert decimals.at(narrow) == decimals.at(0.2)
    assert Decimals.of([0.2, 2e-5]).at(0.2) == 2 < Decimals.of([0.2, 2e-5]).at(2e-5)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0004, "<0.001"), (-0.0004, ">-0.001"), (0.9996, ">0.999"), (0.0, "0.000"), (1.0, "1.000"),
     (0.0006, "0.001"), (0.0138, "0.014"), (1e-17, "0.000"), (math.nan, "undefined")],
)  # fmt: skip
def test_a_number_is_written_beside_zero_or_the_end_of_the_range_that_it_is_not(value, text):
    assert rendering.number(value, Fixed(3, (0.0, 1.0), rounding=1e-16)) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(0.0004, math.inf, "above 0.000"), (-0.0004, math.inf, "at least -0.001"),
     (-math.inf, -0.0004, "below 0.000"), (-math.inf, 0.0004, "at most 0.001"),
     (0.2, math.inf, "at least 0.200")],
)  # fmt: skip
def test_the_only_limit_is_never_said_to_be_on_the_other_side_of_zero(low, high, text):
    assert rendering.limits((low, high), Fixed(3)) == text


@pytest.mark.parametrize("form", ["to_markdown", "summary", "to_html", "to_latex"])
def test_all_numbers_of_a_metric_have_the_same_decimals_in_scores_differences_and_panels(form):
    result = compare_systems(Y, SYSTEMS, **OPTIONS)
    by = compare_systems(Y, {"a": SYSTEMS["a"], "b": SYSTEMS["b"]}, by=RARE, **OPTIONS)
    for shown in (result, by):
        text = getattr(shown, form)()
        text = text.split("<h3>gap")[0].split("\ngap\n")[0].split("% gap")[0]
        text = re.sub(r"<svg.*?</svg>|<p .*?</p>", "", text).replace(r"\textless{}", "<")
        assert len(decimals_in(text.replace("&lt;", "<").replace("$-$", "-"))) == 1, text


def test_the_widest_interval_decides_whatever_the_order_of_rows():
    few, many = (bootstrap_score(Y[:n], SYSTEMS["a"][:n], **OPTIONS) for n in (30, 400))
    for rows in ({"few": few, "many": many}, {"many": many, "few": few}):
        assert decimals_in(ResultTable(rows).to_markdown()) == {2}


def test_a_curve_has_the_same_decimals_at_all_points():
    curve = bootstrap_curve(Y, SYSTEMS["a"] + RNG.normal(size=400), **OPTIONS)
    rows = [line.split("|")[2:5] for line in curve.to_markdown().splitlines()[2:]]
    numbers = {cell.strip().lstrip("<>") for row in rows for cell in row if "." in cell}
    assert {len(number.partition(".")[2]) for number in numbers} in ({2}, {3})


def test_digits_that_are_asked_for_hold_in_every_form_of_a_page():
    result = compare_systems(Y, SYSTEMS, **OPTIONS)
    for text in (result.to_markdown(digits=4), result.to_html(digits=4)):
        text = re.sub(r"<svg.*?</svg>|<p .*?</p>", "", text)
        assert decimals_in(text.replace("&lt;", "<").replace("&gt;", ">")) == {4}
    score = bootstrap_score(Y, SYSTEMS["a"], metric=["accuracy", "f1"], **OPTIONS)
    assert decimals_in(re.sub(r"<svg.*?</svg>|<p .*?</p>", "", score.to_html(digits=4))) == {4}


def test_no_table_has_a_share_of_resamples_and_p_values_are_one_option_of_all_forms():
    result = compare_systems(Y, SYSTEMS, **OPTIONS)
    for form in (result.to_markdown, result.to_latex, result.to_html):
        plain, with_p = form(), form(p_values=True)
        assert "resamples won" not in plain + with_p
        assert "P(superiority)" not in plain + with_p
        assert "adjusted p" in with_p
        assert "adjusted p" not in plain
    assert "resamples won" in result.summary()
    assert "bootstrap_support" in result.to_dict()["pairs"][0]


def test_corrected_means_are_told_with_decimals_by_the_interval_of_each_metric():
    table = CorrectedTable(
        roc_auc=CorrectedT(0.91234, ConfidenceInterval(0.861, 0.963, 0.9, "t"), 0.0203, 1e-9),
        mean_squared_error=CorrectedT(5123.4, ConfidenceInterval(4800, 5400, 0.9, "t"), 101.0, 0.1),
    )
    header, auc, error, *_ = table.summary().splitlines()
    assert "90% CI (t)" in header
    assert re.search(r"ROC AUC +0\.912 +0\.861 to 0\.963 +0\.0203", auc)
    assert re.search(r"mean squared error +5120 +4800 to 5400 +101", error)
    assert "Nadeau & Bengio 2003" in table.summary()
    assert "Nadeau &amp; Bengio 2003" in table._repr_html_()
    assert str(table) == table.summary().split("\n\n")[0]
