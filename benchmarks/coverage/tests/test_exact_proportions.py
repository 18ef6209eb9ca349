"""The coverage table of the user guide is what its script computes."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "guide" / "intervals.md"


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not part of the installed package")
def test_the_guide_shows_the_exact_coverage():
    study = importlib.import_module("benchmarks.coverage.studies.exact_proportions")

    assert study.table() in GUIDE.read_text()
