"""The pages of studies show the committed results, and the defaults keep their bounds in them."""

import re

import pytest

from benchmarks.coverage import acceptance, page
from benchmarks.coverage.runner import RESULTS, read

NO_PAGE = pytest.mark.skipif(
    not page.INDEX.exists(), reason="the studies are not part of the installed package"
)


@NO_PAGE
def test_the_pages_show_the_committed_results():
    texts = {path: path.read_text(encoding="utf-8") for path in page.pages()}
    for text in texts.values():
        assert without_ages(page.filled(text)) == without_ages(text)
    for name, section in page.SECTIONS.items():
        on = [path for path, text in texts.items() if f"<!-- {name} -->" in text]
        assert on == [page.registry.DOCS / f"{section.page}.md"]


@NO_PAGE
def test_the_index_lists_every_page_of_a_study():
    listed = [path for path in page.pages() if path.parent == page.INDEX.parent]
    assert sorted(listed) == sorted(page.INDEX.parent.glob("*.md"))


def without_ages(text):
    """A page without what every change of the package's code changes: how old the results are."""
    return re.sub(r"(?s)<!-- ages -->.*?<!-- end -->", "", text)


@NO_PAGE
def test_the_page_says_on_a_day_how_many_tables_are_of_the_code_of_that_day():
    [said] = re.findall(
        r"(?s)<!-- ages -->\n(.*?)<!-- end -->", page.INDEX.read_text(encoding="utf-8")
    )
    day, today, every, older, unknown = re.findall(r"\d[\d-]*", said)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", day)
    assert int(today) + int(older) + int(unknown) == int(every) == len(list(RESULTS.glob("*.csv")))


def test_at_least_eight_other_tools_were_measured():
    rows = [
        row
        for name in acceptance.run_so_far()
        for row in acceptance.measured(RESULTS / f"{name}.csv")
    ]
    others = {row.tool for row in rows if not row.tool.startswith("skboot")}
    assert len(others) >= 8


@pytest.mark.parametrize("study", acceptance.run_so_far())
def test_the_default_has_a_thousand_data_sets_in_every_cell(study):
    rows = acceptance.measured(RESULTS / f"{study}.csv")
    for row in rows:
        if row.tool == acceptance.DEFAULT:
            assert row.repetitions >= 1000


@pytest.mark.parametrize("study", acceptance.run_so_far())
def test_the_default_covers_as_the_rule_asks(study):
    verdict = acceptance.judge(study)
    assert verdict.share >= acceptance.SHARE_OF_CELLS
    assert [cell.cell for cell in verdict.under_all] == []


@NO_PAGE
def test_studies_that_break_their_rule_list_the_cells_that_do():
    broken = [row for row in page.registry.verdict_rows() if row.passes == "**no**"]
    assert broken
    assert all(row.outside for row in broken)


@NO_PAGE
def test_the_table_of_cases_stands_before_every_other_one():
    text = "".join(path.read_text(encoding="utf-8") for path in page.pages())
    assert min(page.SECTIONS, key=lambda name: text.index(f"<!-- {name} -->")) == "cases"


def test_no_kind_is_too_wide():
    found = {kind for study in acceptance.run_so_far() for kind in acceptance.judge(study).too_wide}
    # The page lists it: Tango's interval on few rows that differ, 1.32 times as wide as the t test.
    assert found == {"accuracy, few differ"}


def test_ninety_three_of_a_hundred_are_not_under_93_percent():
    section = page.registry.SECTIONS["other_methods"].make()
    lines = [line.split(" | ") for line in section.splitlines()[2:]]
    rows = read(RESULTS / "narrower.csv")
    for name, _, _, _, under, *_ in lines:
        own = [float(row["covered %"]) for row in rows if row["interval"] == name.strip("| ")]
        if own:
            assert int(under) == sum(share < 93 for share in own)
