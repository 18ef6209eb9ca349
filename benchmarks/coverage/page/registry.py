"""What the sections register: parts of the page by marker, lines of the tables that span it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..runner import RESULTS

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "trust.md"
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
    """A line of the table of cases: what is to be judged, the choice, and what it is worth."""

    case: str
    choice: str
    covers: str
    best: str
    others: str
    fails: str


class Section(NamedTuple):
    """A made part of the page, and the study whose results it needs; None: no single one."""

    make: Callable[[], str]
    study: str | None

    @property
    def is_run(self) -> bool:
        """Whether there is something to show."""
        return self.study is None or (RESULTS / f"{self.study}.csv").exists()


SECTIONS: dict[str, Section] = {}
VERDICTS: dict[str, Callable[[], VerdictRow]] = {}
CASES: dict[str, Callable[[], list[CaseRow]]] = {}


def section(name: str, study: str | None = None):
    """Register a function that makes what stands between ``<!-- NAME -->`` and ``<!-- end -->``."""

    def registered(make):
        assert name not in SECTIONS, name
        SECTIONS[name] = Section(make, study)
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
    """Lines of the studies that were run, in the order of the page."""
    return [VERDICTS[name]() for name in _in_order(VERDICTS)]


def case_rows() -> list[CaseRow]:
    """Lines of the cases that were run, in the order of the page."""
    return [row for name in _in_order(CASES) for row in CASES[name]()]


def _in_order(names):
    text = PAGE.read_text(encoding="utf-8")
    run = [name for name in names if SECTIONS[name].is_run]
    return sorted(run, key=lambda name: text.index(f"<!-- {name} -->"))


def filled(text: str) -> str:
    """The page with its made parts made again."""

    def made(match):
        found = SECTIONS[match[1]]
        return f"<!-- {match[1]} -->\n{found.make() if found.is_run else NOT_RUN}\n<!-- end -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- end -->", made, text, flags=re.DOTALL)
