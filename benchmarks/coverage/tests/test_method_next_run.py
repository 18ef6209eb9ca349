"""The method and the next run are covered, and the method's interval is the narrower one."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "studies" / "runs.md"
LEAST = 93.0


def _study():
    return importlib.import_module("benchmarks.coverage.studies.method_next_run")


def _check(study, cells, errors):
    for cell in cells:
        for share in (cell.method, cell.next_run):
            assert share >= LEAST - errors * study.Cell.error(share, cell.repetitions), cell
        assert cell.method_width < cell.pooled_width, cell


def test_the_committed_table_covers_the_method_and_the_next_run():
    study = _study()
    cells = study.committed()
    assert len(cells) == 2 * (len(study.SIMULATED) + len(study.LEARNERS))
    _check(study, cells, errors=1)


@pytest.mark.skipif(not PAGE.exists(), reason="the studies are not part of the installed package")
def test_the_page_shows_the_committed_table():
    study = _study()
    assert study.table(study.committed()) in PAGE.read_text()


@pytest.mark.slow
def test_the_method_and_the_next_run_are_covered_in_every_cell():
    """False alarms: 40 shares that are 93 % at worst, each at z = -3.5: below 1 % together."""
    study = _study()
    _check(
        study,
        [cell for name in study.DESIGNS for cell in study.cells_of(*name, 120, seed=7)],
        errors=3.5,
    )
