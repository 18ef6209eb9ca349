"""The coverage table of the user guide is what its script computes."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "benchmarks" / "coverage" / "studies"
RESULTS = STUDIES.parent / "results"
GUIDE = ROOT / "docs" / "guide" / "intervals.md"


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not part of the installed package")
def test_the_guide_shows_the_exact_coverage():
    spec = importlib.util.spec_from_file_location("study", STUDIES / "exact_proportions.py")
    study = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(study)

    assert study.table() in GUIDE.read_text()
