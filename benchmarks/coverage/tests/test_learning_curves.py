"""Learning curves: the cells, their truths, and what the page makes of the tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.coverage.page.sections import learning
from benchmarks.coverage.runner import read
from benchmarks.coverage.studies import learning_curves as study
from benchmarks.coverage.studies import more_rows


def test_every_cell_was_run_at_every_size():
    rows = read(learning.RESULTS / "learning_curves.csv")
    found = [(row["cell"], float(row["size"])) for row in rows]
    assert found == [(cell, size) for cell in study.CELLS for size in study.SHARES]
    assert {row["data sets"] for row in rows} == {str(study.N_SETS)}


def test_the_truth_of_least_squares_is_that_of_its_formula(monkeypatch):
    """The risk of m rows in p dimensions is 1 + (1 + (p + 1) / (m - p - 2) ...), by Wishart's mean.

    Fixed seed; off by four standard errors in one run of 10,000.
    """
    monkeypatch.setattr(study, "N_TRUTH", 200)
    cell = study.CELLS["least squares, p 8, n 100"]
    found = -study.expected(cell, np.random.default_rng(0))
    X, y, _ = cell.draw(np.random.default_rng(0), 200_000)
    rest = (
        y
        - np.column_stack([np.ones(len(y)), X])
        @ np.linalg.lstsq(np.column_stack([np.ones(len(y)), X]), y, rcond=None)[0]
    )
    sizes, p = np.array([20, 33, 50, 70, 90]), 8
    # E of the quadratic form of a new row, intercept included (Stein 1960).
    expected = rest.var() * (1 + 1 / sizes) * (1 + p / (sizes - p - 2))
    assert_allclose(found, expected, rtol=0.08)


def test_every_cell_of_more_rows_was_run_and_passes():
    rows = read(learning.RESULTS / "more_rows.csv")
    assert [row["cell"] for row in rows] == list(more_rows.CELLS)
    for row in rows:
        n_sets = int(row["subsamples"])
        assert learning.least_coverage(float(row["fitted covered %"]), n_sets) >= learning.LEAST


@pytest.mark.parametrize(("covered", "expected"), [(95.0, 93.1), (92.6, 90.4), (100.0, 99.4)])
def test_the_exact_limit_of_a_coverage(covered, expected):
    assert_allclose(learning.least_coverage(covered, 500), expected, atol=0.06)


def test_a_cell_is_listed_for_what_it_misses():
    good = learning._Cell("a", "b", 500, 95.0, [95.0, 94.0], [1.0, 1.3], [1.0, 1.0], [90.0, 90.0])
    assert good.reasons == []
    assert good._replace(whole=90.0).reasons == ["band 90.0 %"]
    assert good._replace(points=[95.0, 91.0]).reasons == ["a size 91.0 %"]
    assert len(good._replace(errors=[0.8, 1.5]).reasons) == 1
