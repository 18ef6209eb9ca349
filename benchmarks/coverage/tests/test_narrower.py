"""The default interval of a method keeps the rule that was written before its study."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.coverage.methods.candidates import form_of_0043, former
from benchmarks.coverage.methods.parts import bootstrap, parts_of, samples_of
from benchmarks.coverage.methods.table import shares
from benchmarks.coverage.page.registry import as_shown
from benchmarks.coverage.runner import RESULTS, read
from benchmarks.coverage.studies import narrower

PAGE = Path(__file__).parents[3] / "docs" / "studies" / "methods.md"
SHOWN = ("cv-bootstrap", "former", "corrected t", "Bayle", "nested CV", "conservative z")
WIDTH = "width over 3.92 sd"
LEAST = {"skewed": 91.0, "few positives": 93.0, "exception": 0.0}


def table(name="narrower"):
    return read(RESULTS / f"{name}.csv")


def by_cell():
    cells = {}
    for row in table():
        cells.setdefault(row["cell"], {})[row["interval"]] = row
    return cells


def is_bounded(row):
    return row["metric"] not in (
        "log loss",
        "log loss of classes",
        "Poisson deviance",
        "1 - R2",
        "mean squared error",
        "mean absolute error",
        "neg_mean_squared_error",
    )


@pytest.mark.parametrize("interval", ["cv-bootstrap", "former"])
def test_no_cell_is_below_its_bound(interval):
    for own in by_cell().values():
        row = own[interval]
        upper = float(row["covered %"]) + 2.6 * float(row["Monte Carlo error"])
        assert upper >= LEAST.get(row["kind"], 92.5), row["cell"]


def test_most_cells_cover_93_and_few_are_far_above():
    rows = [own["cv-bootstrap"] for own in by_cell().values()]
    rows = [row for row in rows if row["kind"] != "exception"]
    assert np.mean([float(row["covered %"]) >= 93 for row in rows]) >= 0.9
    above = {row["kind"] for row in rows if float(row["covered %"]) > 98.5}
    # The record says why.
    assert above <= {"no resubstitution", "seeds"}


def test_bounded_metrics_are_narrower_than_before():
    ratios = [
        float(own["cv-bootstrap"][WIDTH]) / float(own["former"][WIDTH])
        for own in by_cell().values()
        if is_bounded(own["former"]) and own["former"]["kind"] != "exception"
    ]
    assert np.mean(ratios) <= 0.97


def test_skewed_losses_are_covered_more_often_than_before():
    gains = [
        float(own["cv-bootstrap"]["covered %"]) - float(own["former"]["covered %"])
        for own in by_cell().values()
        if own["former"]["kind"] == "skewed"
    ]
    assert np.mean(gains) >= 1


def test_smooth_losses_without_a_bound_are_hardly_wider_than_before():
    ratios = [
        float(own["cv-bootstrap"][WIDTH]) / float(own["former"][WIDTH])
        for own in by_cell().values()
        if not is_bounded(own["former"]) and own["former"]["kind"] == "smooth"
    ]
    assert np.mean(ratios) <= 1.10


def test_the_cells_of_the_table_are_those_of_the_study():
    assert list(by_cell()) == list(narrower.CELLS)


@pytest.mark.skipif(not PAGE.exists(), reason="the studies are not part of the installed package")
def test_the_page_shows_the_committed_table():
    text = PAGE.read_text(encoding="utf-8")
    for line in shares(table(), SHOWN):
        assert as_shown(line) in text


def test_the_former_interval_is_that_of_its_record():
    design = narrower.CELLS["logistic, n 80, Brier score"]
    rng = np.random.default_rng(0)
    X, y, groups = design.draw(rng, design.size)
    parts = parts_of(design, X, y, groups, samples_of(design, y, groups, rng))
    found, before = (bootstrap(parts, form=form) for form in (form_of_0043, former))
    total = found.variance_cv + max(found.covariance_training, 0.0)
    total += found.training_share * found.variance_training_robust
    expected = max(min(found.variance_cap, total), found.variance_cv_averaged)
    assert before.standard_error**2 == pytest.approx(expected)
    assert before.degrees_of_freedom == design.size - 1
