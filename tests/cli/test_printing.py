"""What is printed in each form, and the files that a call writes."""

import io
import json
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from skboot import compare_systems

FEW = ("--n-resamples", "199")
# One call of each verb, without its file.
CALLS = {
    "score": (
        "--y-true",
        "digit",
        "--systems",
        "bayes",
        "tree",
        "--metric",
        "accuracy",
        "f1_macro",
    ),
    "compare": ("--y-true", "digit", "--systems", "logistic", "bayes", "tree", "--groups", "batch"),
    "gate": ("--y-true", "digit", "--candidate", "tree", "--reference", "bayes", "--margin", "0.1"),
    "rank": ("--y-true", "digit", "--systems", "logistic", "bayes", "tree"),
    "curve": ("--y-true", "is_eight", "--pos-label", "yes", "--y-pred", "p_bayes"),
    "plan": ("--y-true", "digit", "--y-pred", "bayes", "--half-width", "0.01"),
}
# Elements without an end.
EMPTY = {"meta", "img", "br", "link", "path", "circle"}


class Page(HTMLParser):
    """The elements of a page; one that is closed out of order is an error."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def test_tables_are_those_of_the_result(skboot, file, digits):
    names = ("logistic", "bayes", "tree")
    words = ("compare", file, "--y-true", "digit", "--systems", *names, *FEW)
    options = {"n_resamples": 199, "random_state": 0}
    result = compare_systems(digits["digit"], {name: digits[name] for name in names}, **options)
    assert skboot(*words, "--markdown")[1] == f"{result.to_markdown()}\n"
    assert skboot(*words, "--latex")[1] == f"{result.to_latex()}\n"
    assert skboot(*words)[1].startswith(result.summary())


@pytest.mark.parametrize("form", ["--markdown", "--latex"])
@pytest.mark.parametrize("verb", CALLS)
def test_every_verb_is_a_table(verb, form, skboot, file):
    code, out, err = skboot(verb, file, *CALLS[verb], *FEW, form)
    assert (code, err) == (0, "")
    assert (r"\toprule" if form == "--latex" else "| :---" if verb != "curve" else "| ---:") in out
    if verb == "gate":
        start = "% " if form == "--latex" else ""
        assert out.startswith(f"{start}pass: tree is not worse than bayes")


@pytest.mark.parametrize("verb", CALLS)
def test_a_report_is_one_page_that_holds_all(verb, skboot, file, tmp_path):
    pytest.importorskip("matplotlib")
    report = tmp_path / "report.html"
    words = (verb, file, *CALLS[verb], *FEW, "--report", report)
    assert skboot(*words)[0] == 0
    page = Page(report.read_text(encoding="utf-8"))
    [picture] = [attrs for tag, attrs in page.tags if tag == "img"]
    if verb == "curve":
        assert picture["src"].startswith("data:image/svg+xml;base64,")
        assert picture["alt"]
    else:
        assert picture["src"].startswith("data:image/png;base64,iVBOR")
        assert picture["alt"].startswith("Picture: ")
    # Nothing is fetched from elsewhere, and nothing is run.
    addresses = [attrs.get("src") or attrs.get("href") for _, attrs in page.tags]
    assert all(address.startswith("data:") for address in addresses if address)
    assert not {"script", "link", "iframe"} & {tag for tag, _ in page.tags}
    assert "table" in {tag for tag, _ in page.tags}
    assert f"skboot {verb} {file}" in page.text
    assert re.search(r"\b450 rows\b", page.text)
    assert ("dashed: no difference" in page.text) == (verb in ("compare", "gate", "rank"))
    # Claims of tables of scores stand below them, all others beside what they claim.
    assert ("In words" in page.text) == (verb == "score")
    if verb == "score":
        claim = "tree, f1_macro: F1 macro on new data from the same source is estimated at 0."
        assert claim in page.text
    for heading in ("The call", "Settings", "Versions", "scikit-learn", "seed"):
        assert heading in page.text


def test_a_plan_without_a_file_has_a_report_as_well(skboot, tmp_path):
    report = tmp_path / "plan.html"
    words = ("--proportion", "0.9", "--half-width", "0.02", "--report", report)
    assert skboot("plan", *words)[0] == 0
    assert "868 rows" in Page(report.read_text(encoding="utf-8")).text


@pytest.mark.parametrize("name", ["hard.csv", "soft.csv", "digits.csv", "other/../digits.csv"])
def test_a_report_never_takes_the_place_of_the_file_that_is_read(name, skboot, file, tmp_path):
    own = tmp_path / "digits.csv"
    own.write_bytes(Path(file).read_bytes())
    os.link(own, tmp_path / "hard.csv")
    (tmp_path / "soft.csv").symlink_to(own)
    (tmp_path / "other").mkdir()
    for option in ("--report", "--plot"):
        code, _, said = skboot("score", own, *CALLS["score"], *FEW, option, tmp_path / name)
        assert code == 2
        assert "would take the place of the file that is read" in said
    assert own.read_bytes() == Path(file).read_bytes()


def test_a_report_goes_where_a_link_points_and_to_what_is_no_file(skboot, file, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link.html").symlink_to(tmp_path / "there" / "page.html")
    for place in (tmp_path / "link.html", os.devnull):
        assert skboot("score", file, *CALLS["score"], *FEW, "--report", place)[0] == 0
    assert (tmp_path / "link.html").is_symlink()
    Page((tmp_path / "there" / "page.html").read_text(encoding="utf-8"))


def test_what_is_in_a_file_is_no_markup_of_a_report(skboot, tmp_path):
    path, report = tmp_path / "x.csv", tmp_path / "report.html"
    rows = "".join(f"{k % 2},{k % 2},{k % 3 == 0:d}\n" for k in range(60))
    path.write_text(f"y,<b>a</b>,b & c\n{rows}")
    words = ("--y-true", "y", "--systems", "<b>a</b>", "b & c", *FEW)
    assert skboot("compare", path, *words, "--report", report)[0] == 0
    page = Page(report.read_text(encoding="utf-8"))
    assert "<b>a</b> - b & c" in page.text


@pytest.mark.parametrize(
    ("name", "start"), [("x.png", b"\x89PNG"), ("x.svg", b"<?xml"), ("X.PDF", b"%PDF")]
)
def test_a_picture_is_of_the_kind_of_its_name(name, start, skboot, file, tmp_path):
    pytest.importorskip("matplotlib")
    words = ("score", file, "--y-true", "digit", "--y-pred", "bayes", *FEW)
    assert skboot(*words, "--plot", tmp_path / name)[0] == 0
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize("verb", CALLS)
def test_every_verb_is_drawn(verb, skboot, file, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    open_before = pyplot.get_fignums()
    assert skboot(verb, file, *CALLS[verb], *FEW, "--plot", tmp_path / "x.png")[0] == 0
    assert (tmp_path / "x.png").stat().st_size > 5000
    assert pyplot.get_fignums() == open_before


def test_without_matplotlib_a_plot_is_a_bad_call_and_a_report_has_its_tables(
    skboot, file, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    words = ("compare", file, *CALLS["compare"], *FEW)
    code, out, err = skboot(*words, "--plot", tmp_path / "x.png")
    assert (code, out) == (2, "")
    assert (
        err
        == "skboot compare: --plot needs matplotlib. Install it with: pip install 'skboot[plot]'\n"
    )
    assert skboot(*words, "--report", tmp_path / "x.html")[0] == 0
    page = Page((tmp_path / "x.html").read_text(encoding="utf-8"))
    assert not [tag for tag, _ in page.tags if tag == "img"]
    # The small drawings of a table need no package.
    assert sum(tag == "svg" for tag, _ in page.tags) == 3


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("width", "is_rich"), [(160, True), (40, False)])
def test_rich_lays_out_tables_on_a_terminal_and_breaks_no_number(
    width, is_rich, skboot, file, monkeypatch
):
    pytest.importorskip("rich")
    words = ("compare", file, *CALLS["compare"], *FEW)
    plain = skboot(*words)[1]
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    assert skboot(*words)[0] == 0
    shown = terminal.getvalue()
    assert ("\x1b[1m" in shown) == ("\u2500" in shown) == is_rich
    drawn = re.sub("\x1b\\[[0-9;]*m|\u2500", "", shown)
    assert drawn.split() == plain.split()


@pytest.mark.parametrize("kind", ["a pipe", "no package"])
def test_text_is_plain_where_nobody_looks_or_rich_is_not_installed(kind, skboot, file, monkeypatch):
    words = ("rank", file, *CALLS["rank"], *FEW)
    monkeypatch.setenv("TERM", "xterm")
    plain = skboot(*words)[1]
    if kind == "no package":
        monkeypatch.setitem(sys.modules, "rich", None)
        monkeypatch.setitem(sys.modules, "rich.console", None)
        monkeypatch.setattr(sys, "stdout", terminal := Terminal())
        assert skboot(*words)[0] == 0
        assert terminal.getvalue() == plain
    assert plain.startswith("system    accuracy  rank  95% simultaneous\nlogistic")


@pytest.mark.parametrize("verb", CALLS)
def test_every_kind_of_file_gives_the_same_numbers(verb, skboot, file, digits, tmp_path):
    polars = pytest.importorskip("polars")
    expected = skboot(verb, file, *CALLS[verb], *FEW, "--json")
    assert expected[0] == 0
    columns = {name: column.tolist() for name, column in digits.items()}
    rows = list(zip(*columns.values(), strict=True))
    lines = ["\t".join(map(str, row)) for row in [list(columns), *rows]]
    (tmp_path / "x.tsv").write_text("\n".join(lines) + "\n")
    lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
    (tmp_path / "x.jsonl").write_text("\n".join(lines) + "\n")
    np.savez(tmp_path / "x.npz", **digits)
    polars.DataFrame(columns).write_parquet(tmp_path / "x.parquet")
    for kind in ("tsv", "jsonl", "npz", "parquet"):
        found = skboot(verb, tmp_path / f"x.{kind}", *CALLS[verb], *FEW, "--json")
        assert found == expected


def test_without_pandas_every_verb_works(skboot, file, monkeypatch):
    for package in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
    for verb, words in CALLS.items():
        assert skboot(verb, file, *words, *FEW)[0] == 0


def rows_of(table):
    """Rows of a Markdown table as dicts."""
    header, _, *rows = (line.strip("| ").split(" | ") for line in table.splitlines())
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_a_gate_is_a_row_with_both_scores_the_verdict_and_the_interval_that_decides(
    skboot, file, digits
):
    words = ("gate", file, *CALLS["gate"], *FEW)
    statement, _, table = skboot(*words, "--markdown")[1].partition("\n\n")
    [row] = rows_of(table)
    two = {name: digits[name] for name in ("tree", "bayes")}
    result = compare_systems(digits["digit"], two, n_resamples=199, random_state=0)
    verdict = result.verdict(0.1)
    assert statement == verdict.statement
    assert (row["metric"], row["verdict"], row["n"], row["margin"]) == (
        "accuracy", "pass", "450", "0.1",
    )  # fmt: skip
    for name, one in result.systems.items():
        assert float(row[name]) == pytest.approx(one.estimate, abs=0.0005)
    assert float(row["difference"]) == pytest.approx(result.difference, abs=0.0005)
    limits = [float(limit) for limit in row["95% CI (Tango)"].split(" to ")]
    assert limits == pytest.approx(list(verdict.interval), abs=0.0005)
    other = skboot("gate", file, *CALLS["gate"][:-1], "0", *FEW, "--markdown")[1]
    assert rows_of(other.partition("\n\n")[2])[0]["verdict"] in ("fail", "inconclusive")


@pytest.mark.parametrize("verb", CALLS)
def test_a_report_named_md_is_written_in_markdown(verb, skboot, file, tmp_path):
    words = (verb, file, *CALLS[verb], *FEW)
    report = tmp_path / "Report.MD"
    assert skboot(*words, "--report", report)[::2] == (0, "")
    text = report.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert "<" not in text.replace("<0.0001", "")
    assert skboot(*words, "--markdown")[1].rstrip() in text
    assert f"```text\nskboot {verb} {file}" in text
    for part in ("## The call", "## Settings", "## Versions", "* scikit-learn: ", "* seed: 0"):
        assert part in text
    if verb == "gate":
        assert "\n\npass: tree is not worse than bayes" in text
    if verb == "score":
        assert "\n\ntree, f1\\_macro: " in text or "\n\ntree, f1_macro: " in text
