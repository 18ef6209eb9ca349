"""The coverage table of the page of simulated test sets is what its script computes."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "studies" / "frozen_systems.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the studies are not part of the installed package")
def test_the_page_shows_the_exact_coverage():
    study = importlib.import_module("benchmarks.coverage.studies.exact_proportions")

    assert study.table() in PAGE.read_text()
