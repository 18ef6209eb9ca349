"""The default intervals of sensitivity, specificity and predictive values keep their level."""

import csv
import importlib
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import precision_score, recall_score

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "benchmarks" / "coverage" / "studies" / "two_class_rates.py"
RESULTS = ROOT / "benchmarks" / "coverage" / "results" / "two_class_rates.csv"
PAGE = ROOT / "docs" / "studies" / "two_class_rates.md"
pytestmark = pytest.mark.skipif(not STUDY.exists(), reason="the study is not installed")


@pytest.fixture(scope="module")
def study():
    return importlib.import_module("benchmarks.coverage.studies.two_class_rates")


def committed():
    """Rows of the committed table."""
    with RESULTS.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_committed_table_has_every_cell_and_metric(study):
    found = [
        (int(r["n"]), int(r["positives %"]), float(r["rate"]), r["metric"]) for r in committed()
    ]
    assert found == [(*cell, name) for cell in study.CELLS for name in study.METRICS]


def test_every_cell_keeps_its_level():
    """At a true 95% the Monte Carlo error is .5."""
    for row in committed():
        assert int(row["data sets"]) >= 1800
        assert 93 <= float(row["coverage %"]) <= 97


def test_truths_are_scikit_learns_in_a_large_population(study):
    rng = np.random.default_rng(0)
    y = rng.random(400_000) < 0.2
    called = rng.random(len(y)) < np.where(y, 0.7, 0.1)
    expected = [
        recall_score(y, called),
        recall_score(y, called, pos_label=0),
        precision_score(y, called),
        precision_score(y, called, pos_label=0),
    ]
    np.testing.assert_allclose(study.truths(0.7, 0.9, 0.2), expected, atol=0.01)


@pytest.mark.skipif(not PAGE.exists(), reason="the studies are not part of the installed package")
def test_the_page_gives_the_range_of_the_committed_table():
    rows = committed()
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for name in ("sensitivity", "specificity", "ppv", "npv"):
        covered = [float(row["coverage %"]) for row in rows if row["metric"] == name]
        assert f"| {name} | {min(covered)} to {max(covered)} |" in text


@pytest.mark.slow
def test_fresh_data_sets_are_covered(study):
    """400 data sets a cell: at a true 95% fewer than 91% are covered once in 4000 cells."""
    for cell in (50, 20, 0.9), (200, 5, 0.7):
        for row in study.rows_of(*cell, 400):
            assert float(row[3]) >= 91
