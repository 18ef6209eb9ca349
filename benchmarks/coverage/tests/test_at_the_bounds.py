"""Coverage at the bounds of the exceptions is as decision record 0050 says."""

import pytest

from benchmarks.coverage.acceptance import measured
from benchmarks.coverage.runner import RESULTS, read


def rungs(kind):
    """Coverage of each cell of a kind."""
    rows = measured(RESULTS / "at_the_bounds.csv")
    return {row.cell: row.coverage for row in rows if row.kind == kind}


@pytest.mark.parametrize("kind", ["F1", "MCC", "few erring groups"])
def test_exceptions_on_which_nothing_is_lost_cover_at_every_rung(kind):
    found = rungs(kind)
    assert len(found) >= 6
    assert min(found.values()) >= 0.93


def test_areas_near_one_and_of_ten_positives_lose_coverage():
    assert rungs("AUC near 1")["AUC 0.995, about 100 positives of 1000"] < 0.92
    small = rungs("AUC, smaller class")
    assert min(value for cell, value in small.items() if "about 10 " in cell) < 0.93
    assert min(value for cell, value in small.items() if "about 10 " not in cell) >= 0.93


def test_average_precision_loses_coverage_under_twenty_positives():
    found = rungs("average precision")
    few = [found[cell] for cell in found if "about 6 " in cell or "about 10 " in cell]
    assert len(few) == 4
    assert min(few) < 0.92
    assert min(value for value in found.values() if value not in few) >= 0.93


def test_the_sign_that_is_warned_of_tells_heavy_tails_from_ordinary_ones():
    warned = "share > .1 and 10 / n"
    stated = ("share > .05", "kurtosis > 10")
    rows = {row["cell"]: row for row in read(RESULTS / "warned_losses.csv")}
    assert len(rows) >= 38
    for cell, row in rows.items():
        if "normal errors" in cell:
            assert float(row[warned]) <= 6
            assert max(float(row[sign]) for sign in stated) >= 50
    for cell in ("RMSE, t3 errors, n 200", "R2, houses of Ames, boosting, n 200"):
        assert float(rows[cell][warned]) >= 70
