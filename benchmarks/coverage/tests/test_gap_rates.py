"""Gaps between subgroups tell equal ones apart as rarely as they promise."""

import pytest

from benchmarks.coverage.runner import RESULTS, read
from benchmarks.coverage.studies import gaps as study

# Percent of data sets in which equal subgroups may be told apart.
MOST = 6.5
# Cells whose subgroups are large enough for a gap, and those whose are not.
WITHOUT_GAP = ("F1, 290/10 rows", "AUC, 200/16 rows", "AUC, 25 subgroups of 300 rows")


def committed():
    rows = read(RESULTS / "gaps.csv")
    return {
        row.pop("cell"): {key: float(value) if value else None for key, value in row.items()}
        for row in rows
    }


def test_the_table_has_all_cells():
    cells = {**study.NULL, **study.POWER}
    assert list(committed()) == list(cells)
    for name, row in committed().items():
        assert (row["data_sets"], row["resamples"]) == cells[name][1:]


def test_equal_subgroups_are_told_apart_rarely():
    for name in study.NULL:
        row = committed()[name]
        assert row["told_apart"] <= MOST + 2 * row["error"], name


def test_only_subgroups_that_are_too_small_have_no_gap():
    for name in study.NULL:
        with_gap = committed()[name]["with_gap"]
        assert with_gap < 1 if name in WITHOUT_GAP else with_gap > 99, name


def test_a_real_gap_is_found_as_often_as_before():
    for name in study.POWER:
        row = committed()[name]
        assert row["told_apart"] >= row["before"] - 2 * 2**0.5 * row["error"]


# A handful of data sets, so that the study keeps running.
@pytest.mark.parametrize("kind", ["NULL", "POWER"])
def test_every_cell_runs(kind):
    for name in getattr(study, kind):
        percent, _, _ = study.rate(name, 2)
        assert 0 <= percent <= 100


# Standard error of the difference of two runs: about .6 % each.
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["accuracy .85, 200/190/10 rows", "AUC, 150/150/60 rows", "F1, 200/60/40 rows"]
)
def test_the_rate_is_that_of_the_table(name):
    percent, error, _ = study.rate(name)
    assert percent <= MOST + 2 * error
    assert percent == pytest.approx(committed()[name]["told_apart"], abs=2 * error + 0.1)
