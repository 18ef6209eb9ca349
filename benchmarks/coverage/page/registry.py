"""What the sections register: parts of the pages by marker, lines of the tables that span them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..runner import RESULTS

DOCS = Path(__file__).parents[3] / "docs"
INDEX = DOCS / "studies" / "index.md"
NOT_RUN = "Not run yet."


class VerdictRow(NamedTuple):
    """What came of the rule of a study, in words, and its cells that the page has to list.

    `outside` has lines of cell, what was measured, and why it is listed.
    """

    study: str
    cells: str
    share: str
    lowest: str
    widest: str
    passes: str
    outside: tuple[tuple[str, str, str], ...] = ()


class CaseRow(NamedTuple):
    """A line of the table of cases: what is judged, the choice, how often it covers."""

    case: str
    choice: str
    covers: str
    fails: str


class Section(NamedTuple):
    """A made part of a page of `DOCS`; the study whose results it needs, None: no single one."""

    make: Callable[[], str]
    page: str
    study: str | None

    @property
    def is_run(self) -> bool:
        """Whether there is something to show."""
        return self.study is None or (RESULTS / f"{self.study}.csv").exists()


SECTIONS: dict[str, Section] = {}
VERDICTS: dict[str, Callable[[], VerdictRow]] = {}
CASES: dict[str, Callable[[], list[CaseRow]]] = {}


def section(name: str, page: str, study: str | None = None):
    """Register a function that makes what stands between ``<!-- NAME -->`` and ``<!-- end -->``."""

    def registered(make):
        assert name not in SECTIONS, name
        SECTIONS[name] = Section(make, page, study)
        return make

    return registered


def verdict(name: str):
    """Register a function that makes the line of a section in the table of verdicts."""

    def registered(make):
        assert name not in VERDICTS, name
        VERDICTS[name] = make
        return make

    return registered


def cases(name: str):
    """Register a function that makes the lines of a section in the table of cases."""

    def registered(make):
        assert name not in CASES, name
        CASES[name] = make
        return make

    return registered


def verdict_rows() -> list[VerdictRow]:
    """Lines of the studies that were run, in the order of the pages, with links to these."""
    rows = ((name, VERDICTS[name]()) for name in _in_order(VERDICTS))
    return [row._replace(study=_linked(row.study, name)) for name, row in rows]


def case_rows() -> list[CaseRow]:
    """Lines of the cases that were run, in the order of the pages, with links to these."""
    rows = ((name, row) for name in _in_order(CASES) for row in CASES[name]())
    return [row._replace(case=_linked(row.case, name)) for name, row in rows]


def _in_order(names):
    text = "".join(page.read_text(encoding="utf-8") for page in pages())
    run = [name for name in names if SECTIONS[name].is_run]
    return sorted(run, key=lambda name: text.index(f"<!-- {name} -->"))


def _linked(title, name):
    # From any page, since each stands in a folder of `DOCS`.
    return f"[{title}](../{SECTIONS[name].page}.md)"


def pages() -> list[Path]:
    """Pages with made parts in reading order: of trust, the index of studies, what it lists."""
    toctree = INDEX.read_text(encoding="utf-8").partition("{toctree}")[2]
    listed = re.findall(r"^\w+$", toctree, flags=re.MULTILINE)
    return [DOCS / "guide" / "trust.md", INDEX, *(INDEX.with_name(f"{name}.md") for name in listed)]


def as_shown(text: str) -> str:
    """A text as pages show it: titles of cells, the keys of their seeds, have a space before %."""
    return re.sub(r"(?<=\d) %", "%", text)


def filled(text: str) -> str:
    """A page with its made parts made again."""

    def made(match):
        found = SECTIONS[match[1]]
        part = as_shown(found.make()) if found.is_run else NOT_RUN
        return f"<!-- {match[1]} -->\n{part}\n<!-- end -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- end -->", made, text, flags=re.DOTALL)
