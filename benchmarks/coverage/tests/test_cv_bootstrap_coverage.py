"""Intervals of the default strategy cover the method's expected score."""

from pathlib import Path

import pytest

from benchmarks.coverage.methods.table import CONSERVATIVE, shares
from benchmarks.coverage.page.registry import as_shown
from benchmarks.coverage.runner import RESULTS, read
from benchmarks.coverage.studies import cv_bootstrap_coverage as study

PAGE = Path(__file__).parents[3] / "docs" / "studies" / "methods.md"
SHOWN = ("cv-bootstrap", CONSERVATIVE)


def table():
    return read(RESULTS / "cv_bootstrap_coverage.csv")


def test_the_committed_table_has_every_cell():
    rows = table()
    assert list(dict.fromkeys(row["cell"] for row in rows)) == list(study.CELLS)
    for row in rows:
        assert row["interval"] in SHOWN
        assert int(row["data sets"]) == study.n_sets(study.CELLS[row["cell"]])


def test_no_cell_is_below_its_bound():
    for row in table():
        upper = float(row["covered %"]) + 2.6 * float(row["Monte Carlo error"])
        assert upper >= 93.0, row["cell"]


@pytest.mark.skipif(not PAGE.exists(), reason="the studies are not part of the installed package")
def test_the_page_shows_the_committed_table():
    text = PAGE.read_text(encoding="utf-8")
    for line in shares(table(), SHOWN):
        assert as_shown(line) in text
