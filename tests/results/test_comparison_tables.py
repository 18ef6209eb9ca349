"""How comparisons are laid out: systems by metrics, digits that agree, the best in bold."""

import html
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from skboot import compare_systems
from skboot.results import ResultTable

# 200 rows: "good" errs on the first 20, "fair" on 30 others, "poor" on 80 of the rest.
Y = np.tile([0, 1], 100)
WRONG = {"good": range(20), "fair": range(20, 50), "poor": range(50, 130)}
SYSTEMS = {name: np.where(np.isin(np.arange(200), rows), 1 - Y, Y) for name, rows in WRONG.items()}
OPTIONS = {"n_resamples": 199, "random_state": 0}


def compared(systems=SYSTEMS, **options):
    return compare_systems(Y, systems, **OPTIONS, **options)


def loss(y_true, y_pred):
    return np.mean(y_true != y_pred)


@pytest.fixture(scope="module")
def table():
    metrics = {"accuracy": "accuracy", "error_rate": loss}
    known = compared(metric=metrics)
    worse = compared(metric={"error_rate": loss}, greater_is_better=False)["error_rate"]
    return ResultTable({"accuracy": known["accuracy"], "error_rate": worse})


# 180, 170 and 120 of 200 hits, by hand: the first by Beta distributions, the others by Wilson.
SCORES = {"good": "0.900 (0.851 to 0.935)", "fair": "0.850 (0.794 to 0.893)"}
SCORES["poor"] = "0.600 (0.531 to 0.665)"


def test_one_comparison_is_a_column_of_scores_with_the_best_in_bold():
    assert compared().to_markdown(layout="systems") == (
        "| system | accuracy (95% CI) |\n"
        "| :--- | ---: |\n"
        "| good | **0.900** (0.851 to 0.935) |\n"
        "| fair | 0.850 (0.794 to 0.893) |\n"
        "| poor | 0.600 (0.531 to 0.665) |"
    )
    assert compared().to_latex(layout="systems") == (
        "\\begin{tabular}{lr}\n"
        "\\toprule\n"
        "system & accuracy (95\\% CI) \\\\\n"
        "\\midrule\n"
        "good & \\textbf{0.900} (0.851 to 0.935) \\\\\n"
        "fair & 0.850 (0.794 to 0.893) \\\\\n"
        "poor & 0.600 (0.531 to 0.665) \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}"
    )


def bold_of(text):
    """Per row of a Markdown table, whether each column is bold."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines()[2:]]
    return [[cell.startswith("**") for cell in row[1:]] for row in rows]


def test_metrics_are_columns_and_the_best_goes_by_the_direction_of_each(table):
    text = table.to_markdown(layout="systems")
    header = text.splitlines()[0]
    assert header == "| system | accuracy (95% CI) | error rate (95% CI) |"
    assert bold_of(text) == [[True, True], [False, False], [False, False]]
    assert "**0.10** (" in text


def test_subgroups_are_columns():
    by = compared(by=np.where(np.arange(200) < 100, "early", "late"))
    header = by.to_markdown(layout="systems").splitlines()[0]
    assert header == "| system | early (95% CI) | late (95% CI) |"


def test_nothing_is_bold_where_the_direction_is_unknown():
    unknown = compared(metric=loss)
    assert "**" not in unknown.to_markdown(layout="both")
    assert "textbf" not in unknown.to_latex(layout="both")
    assert "<b>" not in unknown.to_html()


def test_all_of_equal_best_scores_are_bold():
    text = compared({**SYSTEMS, "same": SYSTEMS["good"]}).to_markdown(layout="systems")
    assert bold_of(text) == [[True], [False], [False], [True]]


def test_an_undefined_score_is_never_best_and_a_system_may_lack_a_metric():
    def undefined_of_poor(y_true, y_pred):
        hits = y_true == y_pred
        return hits.mean() if hits.mean() > 0.7 else np.nan

    with pytest.warns(UserWarning, match="undefined"):
        one = compared(metric=undefined_of_poor, greater_is_better=True)
    two = {name: SYSTEMS[name] for name in ("good", "fair")}
    table = ResultTable({"some": one, "accuracy": compared(two)})
    rows = table.to_markdown(layout="systems").splitlines()[2:]
    assert rows[2] == "| poor | undefined |  |"
    assert bold_of("\n\n" + "\n".join(rows[:2])) == [[True, True], [False, False]]


def test_a_system_without_an_interval_says_so():
    result = compared()
    interval = type(result.pairs[0].confidence_interval)(np.nan, np.nan, 0.95, "bca")
    without = replace(result.systems["fair"], confidence_interval=interval)
    other = replace(result, systems={**result.systems, "fair": without})
    assert "| fair | 0.850 (no interval) |" in other.to_markdown(layout="systems")


def digits_down(text, column):
    """Set of the numbers of digits after the point in one column of a Markdown table."""
    cells = [line.split(" | ")[column] for line in text.splitlines()[2:]]
    return {len(digits) for cell in cells for digits in re.findall(r"\d\.(\d+)", cell)}


def test_digits_agree_down_each_column():
    # Values of two narrow spreads and one wide: their intervals suggest different digits.
    noise = np.random.default_rng(0).normal(size=(3, 200))
    values = dict(zip("abc", 5 + noise * [[0.01], [0.02], [2.0]], strict=True))
    result = compare_systems(None, values, metric="mean", greater_is_better=True, **OPTIONS)
    own = {len(str(each).split()[1].split(".")[1]) for each in result.systems.values()}
    assert len(own) > 1
    assert len(digits_down(result.to_markdown(layout="systems"), 1)) == 1
    differences = result.to_markdown()
    assert len({frozenset(digits_down(differences, k)) for k in range(1, 6)}) == 1
    assert len(digits_down(differences, 1)) == 1


def test_both_layouts_are_the_systems_above_the_differences(table):
    for shown in (table, compared()):
        for write, between in ((shown.to_markdown, ""), (shown.to_latex, "\\bigskip\n\n")):
            assert write() == write(layout="differences")
            assert write(layout="both") == f"{write(layout='systems')}\n\n{between}{write()}"


def test_a_page_of_comparisons_begins_with_systems_by_metrics(table):
    page = table.to_html()
    assert page.index("<b>0.90</b> (0.85 to 0.94)") < page.index("<h3>accuracy</h3>")
    assert "<b>0.10</b> (" in page


def test_names_are_escaped_in_each_layout():
    names = {"a_b & <c>": SYSTEMS["good"], "50%": SYSTEMS["poor"]}
    result = compared(names)
    assert r"a\_b \& \textless{}c\textgreater{}" in result.to_latex(layout="systems")
    assert "a_b & &lt;c>" in result.to_markdown(layout="systems")
    assert "<c>" not in result.to_html()


def test_a_small_p_value_is_readable_in_markdown_as_it_stands():
    far = compared({"good": SYSTEMS["good"], "bad": 1 - SYSTEMS["good"]})
    far = far.to_markdown(p_values=True)
    assert "| <0.0001 |" in far
    assert "&lt;" not in far


@pytest.mark.parametrize(
    "name",
    [
        *("<0.0001", "1<2", "a < b > c", "p <b>", "a<b>c", "</b>", "<!-- x", "<?x", "x\\<b>"),
        *("<https://a.b>", "A & B", "&lt;", "&#60;", "&copy;", "&copy", "R&D;"),
        *("x|y", "a`b`", "a*b*", "[a](b)", "_a_"),
    ],
)
def test_markdown_shows_each_name_as_it_is(name):
    pytest.importorskip("markdown_it")
    from markdown_it import MarkdownIt

    result = compared({name: SYSTEMS["good"], "poor": SYSTEMS["poor"]})
    page = MarkdownIt("gfm-like", {"linkify": False}).render(result.to_markdown(layout="systems"))
    first = re.findall("<td[^>]*>(.*?)</td>", page)[0]
    assert html.unescape(first) == name


@pytest.mark.parametrize("method", ["to_markdown", "to_latex"])
def test_unknown_layouts_are_refused(method, table):
    for shown in (table, compared()):
        with pytest.raises(ValueError, match=f"'layout' parameter of .*{method} must be one of"):
            getattr(shown, method)(layout="rows")


def test_a_table_of_scores_has_no_layout_of_systems():
    table = ResultTable(compared().systems)
    assert table.to_markdown(layout="differences") == table.to_markdown()
    with pytest.raises(ValueError, match="must be 'differences' for a table that holds no comp"):
        table.to_latex(layout="systems")


LONG = {"a model with a long name, large": "good", "a model with a long name, small": "poor"}
LONG["another model with a long name"] = "fair"


def long_names():
    return compared({name: SYSTEMS[system] for name, system in LONG.items()})


def test_an_interval_that_all_differences_share_is_named_in_the_title():
    header = long_names().to_markdown().splitlines()[0]
    columns = [
        "difference",
        "accuracy of first",
        "of second",
        "estimate",
        "95% CI (expanded)",
        "simultaneous",
    ]
    assert header == f"| {' | '.join(columns)} |"
    # Two systems that differ on eight rows have another interval, of few discordant rows.
    near = np.where(np.arange(200) < 8, Y, SYSTEMS["good"])
    mixed = compared({"near": near, **SYSTEMS})
    header, _, row, *_ = mixed.to_markdown().splitlines()
    assert header.startswith(
        "| difference | interval | accuracy of first | of second | estimate | 95% CI | simult"
    )
    assert row.startswith("| near - good | Tango |")


def test_long_names_of_differences_leave_room_for_the_numbers():
    result = long_names()
    block = result.summary().split("\n\n")[2].splitlines()
    assert max(map(len, block)) <= 100
    assert block[2] == "a model with a long name, large - a model with a long name, small"
    assert numbers_of(block[3])[:3] == ["0.300", "0.199", "0.386"]
    latex = result.to_latex()
    first, second = "a model with a long name, large", "another model with a long name"
    names = f"{first} $-$ {second}"
    assert (
        "\\multicolumn{5}{l}{NAMES} \\\\\n0.900 & 0.850 & 0.050 &".replace("NAMES", names) in latex
    )
    assert f"{first}<br>- {second}</td>" in result._repr_html_()


def test_short_names_of_differences_stay_on_one_line():
    result = compared()
    block = result.summary().split("\n\n")[2].splitlines()
    assert block[1].startswith("good - fair  ")
    assert "\ngood $-$ fair & 0.900 & 0.850 & 0.050 &" in result.to_latex()
    assert ">good - fair</td>" in result._repr_html_()


def numbers_of(text):
    return re.findall(r"-?\d+\.\d+", text)


def test_a_number_is_written_alike_in_tables_claims_and_pairs():
    # The first two systems differ on few rows, the third on many: intervals of different widths.
    close = np.where(np.arange(200) < 16, 1 - Y, Y)
    systems = {"good": SYSTEMS["good"], "close": close, "poor": SYSTEMS["poor"]}
    for reference in (None, "poor"):
        result = compared(systems, reference=reference)
        rows = {row.split(" | ")[0].strip("| "): row for row in result.to_markdown().splitlines()}
        by_system = result.to_markdown(layout="systems").replace("*", "").splitlines()[2:]
        shown = {row.split(" | ")[0].strip("| "): numbers_of(row)[0] for row in by_system}
        for pair in result.pairs:
            row = rows[f"{pair.first} - {pair.second}"]
            # Both scores, then estimate and limits of the row.
            assert numbers_of(row)[:2] == [shown[pair.first], shown[pair.second]]
            assert numbers_of(row)[2:5] == numbers_of(str(pair))
        best = numbers_of(result.claim())[0]
        assert f"{best} (" in result.to_markdown(layout="systems").replace("*", "")
    both = compared({name: systems[name] for name in ("good", "close")})
    scores = [numbers_of(row)[0] for row in both.to_markdown(layout="systems").splitlines()[2:]]
    assert numbers_of(both.claim())[:2] == scores
    assert numbers_of(both.claim())[2:5] == numbers_of(str(both.pairs[0]))


def test_systems_that_can_be_told_apart_are_not_written_alike():
    # The same values but for .02: far less than their spread, and in every row.
    values = np.random.default_rng(0).normal(5, 2, size=200)
    noise = np.random.default_rng(1).normal(0, 0.001, size=200)
    systems = {"a": values, "b": values + 0.02 + noise}
    result = compare_systems(None, systems, metric="mean", greater_is_better=True, **OPTIONS)
    assert result.is_distinguishable(result.pairs[0])
    a, b = (numbers_of(row)[0] for row in result.to_markdown(layout="systems").splitlines()[2:])
    assert a != b
    assert numbers_of(result.claim())[:2] == [a, b]
    assert bold_of(result.to_markdown(layout="systems")) == [[False], [True]]


def test_tabulars_do_not_touch(table):
    for latex in (table.to_latex(), table.to_latex(layout="both")):
        n_tables = latex.count(r"\toprule")
        assert latex.count("\\end{tabular}\n\n\\bigskip\n\n") == n_tables - 1


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="LaTeX is not installed")
def test_latex_compiles(table, tmp_path):
    body = table.to_latex(layout="both") + "\n\n" + long_names().to_latex()
    source = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{body}"
    (tmp_path / "t.tex").write_text(source + "\n\\end{document}\n")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0


# ------------------------------------------------------------------ for papers


P_COLUMNS = ["p", "adjusted p", "McNemar p"]


@pytest.mark.parametrize("layout", ["differences", "both"])
def test_tables_for_papers_have_p_values_only_when_they_are_asked_for(layout, table):
    for shown in (table, compared()):
        for write, cell in ((shown.to_markdown, " {} "), (shown.to_latex, "& {} ")):
            wanted = write(layout=layout, p_values=True)
            assert all(cell.format(column) in wanted for column in P_COLUMNS)
            assert not any(cell.format(column) in write(layout=layout) for column in P_COLUMNS)
    assert all(f" {column}" in compared().summary() for column in P_COLUMNS)
    with pytest.raises(ValueError, match=r"'p_values' parameter of .*to_markdown must be"):
        compared().to_markdown(p_values="yes")


def test_p_values_on_request_are_those_of_the_pairs():
    result = compared()
    header, _, *rows = result.to_markdown(p_values=True).splitlines()
    columns = header.strip("| ").split(" | ")
    for row, pair in zip(rows, result.pairs, strict=True):
        found = dict(zip(columns, row.strip("| ").split(" | "), strict=True))
        for title, p in (("p", pair.p_value), ("adjusted p", pair.p_value_adjusted)):
            # The least that 1999 resamples can give is a bound.
            assert found[title].startswith("<=") == (p == 2 / (result.n_resamples + 1))
            assert float(found[title].lstrip("<=")) == pytest.approx(p, rel=0.05)


def test_the_scores_of_both_systems_stand_beside_their_difference(table):
    for result in (*table.values(), compared(), compared({"fair": Y, "good": SYSTEMS["good"]})):
        header, _, *rows = result.to_markdown(digits=6).splitlines()
        columns = header.strip("| ").split(" | ")
        for row, pair in zip(rows, result.pairs, strict=True):
            found = dict(zip(columns, row.strip("| ").split(" | "), strict=True))
            scores = [result.systems[name].estimate for name in (pair.first, pair.second)]
            [of_first] = [own for own in found if own.endswith(" of first")]
            shown = [float(found[of_first]), float(found["of second"])]
            assert shown == pytest.approx(scores)
            assert float(found["estimate"]) == pytest.approx(scores[0] - scores[1])


def test_digits_are_as_many_as_are_asked_for(table):
    for shown in (table, compared()):
        for layout in ("systems", "differences"):
            text = shown.to_markdown(layout=layout, digits=1)
            assert re.search(r"\d\.\d", text)
            assert {len(one.partition(".")[2]) for one in numbers_of(text)} == {1}
            assert "0.900" in shown.to_latex(layout=layout, digits=3)


@pytest.mark.parametrize("digits", [-1, 1.5, "2", True])
@pytest.mark.parametrize("method", ["to_markdown", "to_latex"])
def test_digits_must_be_a_number_of_them(method, digits, table):
    for shown in (table, compared(), compared().systems["good"]):
        with pytest.raises(ValueError, match=f"'digits' parameter of .*{method} must be an int"):
            getattr(shown, method)(digits=digits)


@pytest.mark.parametrize("layout", ["systems", "differences", "both"])
def test_a_caption_and_a_label_put_the_tabulars_into_one_table(layout, table):
    for shown in (table, compared()):
        latex = shown.to_latex(layout=layout, caption="50% of a_b", label="tab:a_b")
        start = "\\begin{table}\n\\centering\n\\caption{50\\% of a\\_b}\n\\label{tab:a_b}\n"
        assert latex == f"{start}{shown.to_latex(layout=layout)}\n\\end{{table}}"
        labelled = shown.to_latex(layout=layout, label="x")
        start = "\\begin{table}\n\\centering\n\\label{x}\n"
        assert labelled == f"{start}{shown.to_latex(layout=layout)}\n\\end{{table}}"
        assert "table}" not in shown.to_latex(layout=layout)
