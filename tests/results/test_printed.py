"""A printed table is held to every table of right and wrong rows that it may stand for."""

import json
import math
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_turn import in_turn
from scipy.stats import binomtest

import skboot
from skboot import check_table
from skboot.inference import mcnemar_exact, proportion_interval
from skboot.results import TableCheck

SIZES = range(1, 31)
ROUNDINGS = (ROUND_HALF_UP, ROUND_HALF_DOWN)


def printed(k, n, decimals, rounding=ROUND_HALF_UP, unit=1):
    share = Decimal(unit * k) / Decimal(n)
    return str(share.quantize(Decimal(1).scaleb(-decimals), rounding=rounding))


@cache
def exact_p(only_first, only_second):
    """By scipy: 1 where no row tells the two apart."""
    both = only_first + only_second
    return binomtest(only_first, both, 0.5).pvalue if both else 1.0


@cache
def extremes(k_1, k_2, n):
    """Smallest and largest p over all tables of rows with these numbers of right ones."""
    both_right = range(max(0, k_1 + k_2 - n), min(k_1, k_2) + 1)
    p_values = [exact_p(k_1 - both, k_2 - both) for both in both_right]
    return min(p_values), max(p_values)


def counts_printed_so(text, n, decimals):
    return [
        k
        for k in range(n + 1)
        if text in {printed(k, n, decimals, rounding) for rounding in ROUNDINGS}
    ]


def rows_checked(scores, n):
    """The row of each score, checked in small tables: a large one has a pair of any two."""
    size = math.ceil(len(scores) / math.ceil(len(scores) / 25))
    for start in range(0, len(scores), size):
        yield from check_table(table_of(scores[start : start + size]), n=n).rows


def table_of(texts, **columns):
    return {"system": [f"s{k}" for k in range(len(texts))], "score": list(texts), **columns}


# ------------------------------------------------------------------ against every possible table


@in_turn(n=SIZES, decimals=[1, 2, 6])
def test_p_values_are_the_extremes_over_all_tables_of_right_and_wrong_rows(n, decimals):
    texts = {printed(k, n, decimals, own) for k in range(n + 1) for own in ROUNDINGS}
    texts = sorted(texts) * 2  # a score beside itself as well
    allowed = {text: counts_printed_so(text, n, decimals) for text in texts}
    check = check_table(table_of(texts), n=n)
    assert [list(range(row.k_low, row.k_high + 1)) for row in check.rows] == [
        allowed[text] for text in texts
    ]
    assert len(check.pairs) == math.comb(len(texts), 2)
    for (first, second), pair in zip(combinations(texts, 2), check.pairs, strict=True):
        found = [extremes(a, b, n) for a in allowed[first] for b in allowed[second]]
        assert pair.p_smallest == pytest.approx(min(low for low, _ in found), rel=1e-9)
        assert pair.p_largest == pytest.approx(max(high for _, high in found), rel=1e-9)


def test_p_rises_with_the_rows_that_differ_and_falls_with_the_difference():
    for apart in range(31):
        p_values = [exact_p(apart + fewer, fewer) for fewer in range(31 - apart)]
        assert p_values == sorted(p_values)
    for n in SIZES:
        for fewer in range(n + 1):
            for place in (0, 1):
                p_values = [extremes(more, fewer, n)[place] for more in range(fewer, n + 1)]
                assert all(one >= next_ - 1e-12 for one, next_ in pairwise(p_values))


@in_turn(n=[*SIZES, 40, 99, 100, 101, 125, 800, 999, 1000, 1250], decimals=[0, 1, 2, 3])
def test_possible_counts_are_those_that_either_rounding_prints_so(n, decimals):
    grid = [f"{k / 10**decimals:.{decimals}f}" for k in range(10**decimals + 1)]
    expected = {text: [] for text in grid}
    for k in range(n + 1):
        for text in {printed(k, n, decimals, rounding) for rounding in ROUNDINGS}:
            expected[text].append(k)
    for row in rows_checked(grid, n):
        counts = expected[row.printed]
        assert [row.k_low, row.k_high] == ([counts[0], counts[-1]] if counts else [None, None])
        assert counts == list(range(row.k_low, row.k_high + 1)) if counts else True


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 400),
    st.sampled_from([0, 1, 2, 3]),
    st.sampled_from(ROUNDINGS),
    st.booleans(),
)
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
def test_the_p_value_of_any_predictions_is_within_those_of_their_printed_scores(
    seed, n, decimals, rounding, in_percent
):
    rng = np.random.default_rng(seed)
    shared = rng.random(n)
    right = [np.where(rng.random(n) < rng.random(), shared, rng.random(n)) < rng.random()
             for _ in range(3)]  # fmt: skip
    counts = [int(own.sum()) for own in right]
    unit = 100 if in_percent else 1
    texts = [printed(k, n, decimals, rounding, unit) + "%" * in_percent for k in counts]
    check = check_table(table_of(texts), n=n)
    for k, row in zip(counts, check.rows, strict=True):
        assert row.k_low <= k <= row.k_high
    for (first, second), pair in zip(combinations(right, 2), check.pairs, strict=True):
        p = mcnemar_exact(int((first & ~second).sum()), int((second & ~first).sum()))
        assert pair.p_smallest * (1 - 1e-9) <= p <= pair.p_largest * (1 + 1e-9)
        expected = {"always": {True}, "depends": {True, False}, "never": {False}}
        assert (p <= 0.05) in expected[pair.significant]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(4))
def test_a_comparison_of_the_predictions_themselves_agrees(seed):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, 300)
    shared = rng.random(300)
    wrong = {"a": shared < 0.1, "b": shared < 0.14, "c": rng.random(300) < 0.3}
    systems = {name: np.where(own, 1 - y_true, y_true) for name, own in wrong.items()}
    comparison = skboot.compare_systems(y_true, systems, n_resamples=99, random_state=0)
    texts = [f"{np.mean(y_true == own):.3f}" for own in systems.values()]
    check = check_table({"system": list(systems), "score": texts}, n=300)
    for pair in check.pairs:
        p = comparison.pair(pair.first, pair.second).mcnemar_p_value
        assert pair.p_smallest * (1 - 1e-9) <= p <= pair.p_largest * (1 + 1e-9)


# ------------------------------------------------------------------ reading the table


def counts_of(table, **options):
    return [(row.k_low, row.k_high) for row in check_table(table, **options).rows]


def test_percent_is_told_by_size_or_by_its_sign_and_said():
    shares, n = ["0.0934", "0.9290", "0.1000"], 20_000
    plain = check_table(table_of(shares), n=n)
    assert not plain.in_percent
    for texts in (["9.34", "92.90", "10.00"], ["9.34%", "92.90%", "10.00%"]):
        check = check_table(table_of(texts), n=n)
        assert check.in_percent
        assert any("percent" in note for note in check.notes)
        assert [row[4:] for row in check.rows] == [row[4:] for row in plain.rows]
        assert check.pairs == plain.pairs
    small = check_table(table_of(["0.5%", "0.7%"]), n=1000)
    assert [row.k_low for row in small.rows] == [5, 7]


def test_a_score_that_may_be_a_fraction_beside_percent_is_warned_of():
    with pytest.warns(UserWarning, match=r"read as percent too: s1 \(0.9\)"):
        check = check_table(table_of(["93.4", "0.9"]), n=1000)
    assert check.rows[1].k_low == 9
    check_table(table_of(["93.4", "0.9%", "0"]), n=1000)  # a sign and 0 leave no doubt


def test_text_keeps_its_zeros_and_numbers_are_taken_to_have_lost_them():
    assert counts_of(table_of(["0.90", "0.934"]), n=1000) == [(895, 905), (934, 934)]
    assert counts_of(table_of([0.9, 0.934]), n=1000) == [(900, 900), (934, 934)]
    said = check_table(table_of([0.9, 0.934]), n=1000).notes
    assert any("3 decimals" in note for note in said)
    told = check_table(table_of([0.9, 0.8]), n=1000, decimals=2)
    assert not any("decimals" in note for note in told.notes)
    assert [row.printed for row in told.rows] == ["0.90", "0.80"]
    assert counts_of(table_of([0.9, 0.8]), n=1000, decimals=2) == [(895, 905), (795, 805)]
    own = table_of(["0.9", "0.8"], decimals=[3, 1], n=[1000, 1000])
    assert counts_of(own) == [(900, 900), (750, 850)]


@pytest.mark.parametrize("kind", [float, np.float32, np.float64])
def test_numbers_of_any_precision_are_read_as_they_are_shown(kind):
    scores = np.array([0.1 + 0.2, 0.7], dtype=kind)
    assert counts_of(table_of(scores), n=10) == [(3, 3), (7, 7)]
    whole = np.array([93, 92], dtype=kind)
    assert [row.printed for row in check_table(table_of(whole), n=100).rows] == ["93", "92"]


def test_unrounded_shares_are_possible():
    for n in (*range(1, 60), *range(60, 200, 7)):
        shares = [k / n for k in range(n + 1)]
        assert [row.k_low for row in rows_checked(shares, n)] == list(range(n + 1))


def test_a_tie_may_have_been_rounded_to_either_side():
    assert counts_of(table_of(["0.12", "0.13"]), n=8) == [(1, 1), (1, 1)]
    assert counts_of(table_of(["0.12", "0.13"]), n=10**15) == [
        (115 * 10**12, 125 * 10**12),
        (125 * 10**12, 135 * 10**12),
    ]


def test_frames_dicts_and_files_give_the_same(tmp_path):
    table = {"system": ["A", "B"], "score": ["0.90", "0.934"], "n": [500, 1000], "other": [1, 2]}
    expected = check_table(table)
    for kind, mark in (("csv", ","), ("tsv", "\t")):
        path = tmp_path / f"table.{kind}"
        rows = [list(table), *zip(*table.values(), strict=True)]
        path.write_text("".join(mark.join(map(str, row)) + "\n" for row in rows))
        assert check_table(path) == check_table(str(path)) == expected
    pd = pytest.importorskip("pandas")
    assert check_table(pd.DataFrame(table)) == expected
    assert check_table(pd.DataFrame(table, index=[5, 3])) == expected
    pl = pytest.importorskip("polars")
    assert check_table(pl.DataFrame(table)) == expected


GOOD = {"system": ["A", "B"], "score": ["0.9", "0.8"], "n": [10, 10]}


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        ([1, 2], {}, "'table' parameter of check_table must be a frame, a dict or a file"),
        ({"system": ["A"]}, {}, r"Got the columns \['system'\]"),
        ({**GOOD, "system": ["A", "A"]}, {}, "name each system once"),
        ({**GOOD, "score": ["0.9"]}, {}, "as many rows"),
        ({**GOOD, "score": ["0.9", "best"]}, {}, "Got 'best' of 'B'"),
        ({**GOOD, "score": ["0.9", "0.8 ± 0.1"]}, {}, "without a standard deviation"),
        ({**GOOD, "score": ["0.9", "-0.8"]}, {}, "from 0 to 100"),
        ({**GOOD, "score": [93, 101]}, {}, "from 0 to 100"),
        ({**GOOD, "score": ["0.9", "NaN"]}, {}, "from 0 to 100"),
        ({**GOOD, "score": [0.9, np.nan]}, {}, "not contain NaN"),
        ({**GOOD, "score": [True, False]}, {}, "Got 'True' of 'A'"),
        ({**GOOD, "n": [10, 0]}, {}, "integer of at least 1"),
        ({**GOOD, "n": ["10", "about 10"]}, {}, "Got 'about 10'"),
        (GOOD, {"n": 10}, "'n' parameter of check_table must be None"),
        ({"system": ["A"], "score": [0.9]}, {}, "'n' parameter .* must be given"),
        ({"system": ["A"], "score": [0.9]}, {"n": 2.5}, "integer"),
        ({"system": ["A"], "score": [0.9]}, {"n": 10**400}, "below"),
        (GOOD, {"decimals": 0}, "at least the number of decimals of each score"),
        (GOOD, {"decimals": -1}, "integer of at least 0"),
        (GOOD, {"confidence_level": 95}, "confidence_level=0.95"),
        ("nothing.csv", {}, "cannot read 'nothing.csv'"),
        ("table.txt", {}, "the file extension must give its kind"),
    ],
)  # fmt: skip
def test_what_is_no_printed_table_is_refused(table, options, said):
    with pytest.raises(ValueError, match=said):
        check_table(table, **options)


def test_a_file_without_a_column_says_which_it_has(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("model,score\nA,0.9\n")
    with pytest.raises(ValueError, match="has no column 'system'"):
        check_table(path, n=10)


# ------------------------------------------------------------------ what is said


PAPER = {
    "system": ["ours", "big", "base", "old", "small set"],
    "score": ["93.4", "93.2", "86.0", "85.37", "90.0"],
    "n": [500, 500, 500, 500, 200],
}


def test_wilson_limits_are_those_of_the_fewest_and_the_most_right_rows():
    for row in check_table(table_of(["0.9", "0.85"]), n=1000, confidence_level=0.9).rows:
        low, high = (
            proportion_interval(k, 1000, confidence_level=0.9) for k in (row.k_low, row.k_high)
        )
        assert (row.low, row.high) == pytest.approx((low.low, high.high))


def test_bold_type_that_no_predictions_support_and_impossible_scores_are_named():
    check = check_table(PAPER)
    text = " ".join(check.summary().split())
    assert (
        "No number of right rows of 500 gives the score of old, 85.37 (426 would give 85.20" in text
    )
    assert "Does it average several runs" in text
    assert "ours has the highest score, and no predictions make it significantly different" in text
    assert "Not tested: 7 pairs" in text
    found = {(pair.first, pair.second): pair.significant for pair in check.pairs}
    assert found == {
        ("ours", "big"): "never",
        ("ours", "base"): "always",
        ("big", "base"): "always",
    }
    for sentence in ("1 is not significantly different, whatever the predictions (ours vs big)",
                     "2 are significantly different whatever the predictions"):  # fmt: skip
        assert sentence in text
        assert sentence in check.claim()
    assert "old, 85.37" in check.claim()
    lone = check_table({"system": ["A"], "score": ["0.5"]}, n=2)
    assert lone.claim() == "No pair of these printed scores can be tested."
    assert lone.pairs == ()
    assert "not adjusted" not in lone.summary()


def test_systems_of_different_n_are_not_tested():
    check = check_table(table_of(["0.9", "0.8"], n=[10, 20]))
    assert check.pairs == ()
    assert any("needs the same rows" in note for note in check.notes)
    assert "A vs B" not in check.summary()


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_significant_is_a_p_of_at_most_one_minus_the_level(level):
    # Five rows apart: p is 2 / 32 at least; 0.0625 is 1 - 0.9375 exactly.
    texts = [f"{k / 20:.2f}" for k in (20, 15, 14, 10)]
    for own in (level, 0.9375):
        for pair in check_table(table_of(texts), n=20, confidence_level=own).pairs:
            p_low, p_high = Fraction(pair.p_smallest), Fraction(pair.p_largest)
            alpha = 1 - Fraction(str(own))
            expected = "never" if p_low > alpha else "always" if p_high <= alpha else "depends"
            assert pair.significant == expected


def test_of_many_pairs_the_summary_shows_those_with_the_highest_score():
    texts = [f"{k / 100:.2f}" for k in range(60, 80)]
    check = check_table(table_of(texts), n=100)
    assert len(check.pairs) == 190
    lines = check.summary().splitlines()
    assert sum(" - " in line for line in lines) == 19
    assert check.to_markdown().count(" - s") == 190
    # The highest score is impossible: pairs with the next one are shown.
    check = check_table(table_of([*texts, "0.995"]), n=100)
    assert sum(" - s" in line for line in check.summary().splitlines()) == 19
    assert "bold type" not in check.summary()


def test_a_check_is_kept_shown_and_drawn(tmp_path):
    check = check_table(PAPER)
    check.save(tmp_path / "check.npz")
    assert TableCheck.load(tmp_path / "check.npz") == check
    assert check != check_table(PAPER, confidence_level=0.9)
    record = json.loads(json.dumps(check.to_dict(), allow_nan=False))
    assert record["rows"][3]["k_low"] is None
    assert record["pairs"][0]["significant"] == "never"
    assert "ours" in check.to_html()
    assert r"\toprule" in check.to_latex()
    assert repr(check) == "<TableCheck: 5 printed scores, 3 pairs>"
    pd = pytest.importorskip("pandas")
    assert list(check.to_frame()["second"]) == ["big", "base", "base"]
    assert list(pd.DataFrame(check.rows)["system"]) == PAPER["system"]
    pyplot = pytest.importorskip("matplotlib.pyplot")
    display = check.plot()
    assert [text.get_text() for text in display.texts_][3] == "85.37 (no interval)"
    assert display.points_[0].get_xdata().tolist() == pytest.approx([93.4, 93.2, 86, 85.37, 90])
    pyplot.close(display.figure_)
