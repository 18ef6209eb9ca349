"""Each decision record has one section, to which the index leads; no other record is cited."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DECISIONS = ROOT / "docs" / "decisions"
SECTION = re.compile(r"^\(decision-(\d{4})\)=\n## (\d{4}): (.+)$", re.M)
LISTED = re.compile(r"^\| \[(\d{4})\]\((.+\.md)#decision-\1\) \| [\d-]{10} \| (.+) \|$", re.M)
CITED = re.compile(r"(?:[Rr]ecords? |[Dd]ecisions? |decision-)(0\d{3})\b")
LINK = re.compile(r"\[0\d{3}\]\(([a-z-]*(?:\.md)?)#decision-(\d{4})\)")


@pytest.fixture(scope="module", autouse=True)
def in_a_checkout():
    if not DECISIONS.exists():
        pytest.skip("the decisions are not part of the installed package")


def pages():
    return [page for page in sorted(DECISIONS.glob("*.md")) if page.name != "index.md"]


def sections():
    """(number, page, line) of each record, by page."""
    return [
        (number, page.name, line)
        for page in pages()
        for label, number, line in SECTION.findall(page.read_text(encoding="utf-8"))
        if label == number
    ]


def test_each_section_of_a_page_is_a_record_with_its_label():
    headings = [
        heading
        for page in pages()
        for heading in re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.M)
    ]
    assert headings == [f"{number}: {line}" for number, _, line in sections()]
    assert len({number for number, _, _ in sections()}) == len(headings)


def test_the_index_leads_from_each_number_to_its_section():
    index = (DECISIONS / "index.md").read_text(encoding="utf-8")
    assert LISTED.findall(index) == sorted(sections())
    by_subject = re.findall(r"\[(\d{4})\]\((.+?)#", index.partition("## By number")[0])
    assert sorted(by_subject) == [(number, page) for number, page, _ in sorted(sections())]


def test_links_between_records_lead_to_the_page_that_has_them():
    page_of = {number: page for number, page, _ in sections()}
    wrong = [
        (page.name, number)
        for page in pages()
        for target, number in LINK.findall(page.read_text(encoding="utf-8"))
        if page_of.get(number) != (target or page.name)
    ]
    assert wrong == []


def test_every_cited_record_exists():
    known = {number for number, _, _ in sections()}
    files = [
        path
        for folder in ("skboot", "tests", "benchmarks", "docs")
        for suffix in ("*.py", "*.md")
        for path in (ROOT / folder).rglob(suffix)
    ]
    cited = {
        (number, path.relative_to(ROOT).as_posix())
        for path in files
        for number in CITED.findall(path.read_text(encoding="utf-8"))
    }
    assert len({number for number, _ in cited}) > 20
    assert sorted((number, path) for number, path in cited if number not in known) == []
