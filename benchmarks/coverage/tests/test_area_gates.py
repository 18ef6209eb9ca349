"""The table of verdicts on areas near 1: what was chosen, what is made again, and what is known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.coverage.runner import read
from benchmarks.coverage.studies import area_gates as study
from skboot.metrics.ranking import delong_covariance


def committed():
    return read(study.STUDY.path)


def test_the_rule_chooses_the_form_that_skboot_has():
    rows = committed()
    assert study.chosen(rows) == "between"
    by_cell = {(row["run"], row["cell"], row["form"]): row for row in rows}
    for (run, cell, form), row in by_cell.items():
        if form == "skboot":
            chosen = by_cell[run, cell, "between"]
            assert {**row, "form": "", "width": ""} == {**chosen, "form": "", "width": ""}
            assert_allclose(float(row["width"]), float(chosen["width"]), rtol=2e-3)


def test_equal_areas_are_told_apart_in_at_most_five_percent():
    for row in committed():
        if row["form"] == "skboot" and row["kind"] == "equal":
            assert float(row["passed"]) + float(row["failed"]) <= study.MOST_APART


def test_normal_scores_keep_the_share_of_passes_up_to_the_noise_of_a_cell():
    kept = [
        row
        for row in committed()
        if row["form"] == "skboot"
        and row["kind"] == "margin"
        and row["cell"].startswith(("normal, 0.92 for 0.96", "normal, 0.94", "normal, 0.95"))
    ]
    assert len(kept) > 20
    assert all(float(row["passed"]) <= study.MOST_PASSED + 0.5 for row in kept)


def test_a_committed_cell_comes_out_again():
    pair = study.Pair(("normal", "normal"), (0.94, 0.97), 20, 180)
    rows = [row for row in committed() if row["run"] == "confirm" and row["cell"] == pair.title]
    for (form, *shares, width), row in zip(study.rates(pair, 2, 2000), rows, strict=True):
        columns = [row[name] for name in ("passed", "failed", "held", "power")]
        assert [form, *(f"{share:.2f}" for share in shares)] == [row["form"], *columns]
        assert f"{width:.5f}" == row["width"]


@pytest.mark.parametrize("law", ["normal", "exponential", "ten levels", "calibrated", "unequal"])
def test_covariances_are_those_of_delong(law):
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(1, 2, 12)), rng.normal(size=(1, 2, 30))
    positives, negatives = (
        study.scores_of(law, 0.9, 0.3, values, positive)
        for positive, values in zip((1, 0), latent, strict=True)
    )
    areas, covariances = study.areas_and_covariances(positives, negatives)
    scores = np.concatenate([positives[0], negatives[0]], axis=1)
    found = delong_covariance(np.arange(42) < 12, scores)
    assert_allclose(areas[0], found[0])
    assert_allclose(covariances[0], found[1])


# 400 data sets of 200 + 200 rows: the standard error of a mean area is at most .001.
@pytest.mark.parametrize(
    "law", ["normal", "exponential", "ten levels", "calibrated", "unequal", "lost"]
)
def test_scores_have_the_area_that_they_are_made_for(law):
    pair = study.Pair((law, law), (0.92, 0.96), 200, 200)
    areas, _ = study.drawn(pair, 5, 400)
    assert_allclose(areas.mean(axis=0), pair.areas, atol=0.005)
