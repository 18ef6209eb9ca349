"""The table of costs at many rows holds what was measured."""

import csv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "studies" / "large_data.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not part of the package")
def test_each_line_of_the_page_is_measured():
    text = PAGE.read_text(encoding="utf-8")
    with (ROOT / "benchmarks" / "flat_cost.csv").open(encoding="utf-8") as file:
        lines = {
            f"| {row['case']} | {int(row['rows']):,} | {row['nanoseconds']} | "
            f"{row['megabytes']} MB ({row['times']}) |"
            for row in csv.DictReader(file)
        }
    shown = [line for line in text.splitlines() if " MB (" in line]
    assert len(shown) == 21
    assert set(shown) <= lines
