"""The settings that the guide names for fewer fits keep the promise in their study."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.coverage.methods.candidates import presence_variance
from benchmarks.coverage.methods.table import shares
from benchmarks.coverage.page.registry import as_shown
from benchmarks.coverage.runner import RESULTS, read
from benchmarks.coverage.studies import fewer_fits

PAGE = Path(__file__).parents[3] / "docs" / "studies" / "methods.md"
SHOWN = ("25 x 1", "50 x 1", "50 x 3", "100 x 2", "200 x 5")


def table():
    return read(RESULTS / "fewer_fits.csv")


def test_every_cell_and_setting_is_in_the_table():
    rows = table()
    assert list(dict.fromkeys(row["cell"] for row in rows)) == list(fewer_fits.CELLS)
    settings = {row["interval"] for row in rows}
    assert {f"{b} x {r}" for b, r in fewer_fits.GRID} <= settings
    near = {row["cell"] for row in rows if int(row["data sets"]) == 1000}
    assert near == fewer_fits.NEAR
    assert all(int(row["data sets"]) >= 500 for row in rows)


def test_sixty_one_fits_cover_93_but_for_a_stump_at_hardly_more_width():
    rows = [row for row in table() if row["interval"] == "50 x 1"]
    covered = {row["cell"]: float(row["covered %"]) for row in rows}
    assert {cell for cell, share in covered.items() if share < 93} == {"stump, n 100"}
    assert covered["stump, n 100"] >= 91
    assert np.mean([float(row["width over reference"]) for row in rows]) <= 1.05


def test_degrees_of_freedom_for_few_samples_are_too_few():
    rows = [row for row in table() if row["interval"] == "50 x 1, few"]
    assert np.mean([float(row["width over reference"]) for row in rows]) > 1.2


@pytest.mark.skipif(not PAGE.exists(), reason="the studies are not part of the installed package")
def test_the_page_shows_the_committed_table():
    text = PAGE.read_text(encoding="utf-8")
    for line in shares(table(), SHOWN):
        assert as_shown(line) in text


def test_the_monte_carlo_variance_is_that_of_fresh_samples():
    rng = np.random.default_rng(0)
    n, n_resamples = 30, 60
    influence = rng.normal(size=n)
    found, told = [], []
    for _ in range(400):
        counts = rng.multinomial(n, np.full(n, 1 / n), size=n_resamples)
        residual = rng.normal(size=n_resamples)
        (without, once) = ((counts == times) for times in (0, 1))
        presence = residual @ once / once.sum(axis=0) - residual @ without / without.sum(axis=0)
        found.append(2 * influence @ presence / n)
        told.append(presence_variance(influence, counts, residual))
    # The standard error of a variance of 400 values is 7 %.
    assert np.mean(told) == pytest.approx(np.var(found), rel=0.3)
