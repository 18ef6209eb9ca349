"""The study of large data holds what was measured, and the simulation counts every row once."""

import csv
from pathlib import Path

import pytest

from benchmarks import many_workers

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "studies" / "large_data.md"
NO_PAGE = pytest.mark.skipif(
    not PAGE.exists(), reason="the documentation is not part of the package"
)
COST = "metrics rows workers resamples reading_seconds drawing_seconds merging_seconds"
CONSTANTS = "metrics drawn_ns state_megabytes merge_milliseconds"
RUNS = "workers parts trouble time longest deaths begun_again second_answers_dropped"
LAZY = "call way seconds worker_megabytes allocated_megabytes of_two_files_megabytes"


def read(name):
    with (ROOT / "benchmarks" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def shown(value):
    return f"{int(value):,}" if value.isdecimal() else value


def lines_of(name, columns, **chosen):
    rows = [row for row in read(name) if all(row[key] == chosen[key] for key in chosen)]
    cells = [[shown(row[column]) for column in columns.split()] for row in rows]
    return [f"| {' | '.join(each)} |" for each in cells]


@NO_PAGE
@pytest.mark.parametrize(
    ("name", "columns", "chosen"),
    [
        ("many_workers_cost", CONSTANTS, {"rows": "1000000000", "workers": "1"}),
        ("many_workers_cost", COST, {}),
        ("many_workers", RUNS, {}),
        ("lazy_rows", LAZY, {}),
    ],
)
def test_the_page_holds_every_line_that_was_measured(name, columns, chosen):
    lines = lines_of(name, columns, **chosen)
    text = PAGE.read_text(encoding="utf-8")
    assert "\n".join(lines) in text


def test_no_row_was_lost_or_counted_twice_and_workers_give_the_bits_of_one_process():
    for row in read("many_workers"):
        assert float(row["largest_difference"]) < 1e-10
    assert {row["same_bits"] for row in read("many_workers") + read("lazy_rows")} == {"True"}


@pytest.mark.parametrize("trouble", many_workers.TROUBLES, ids=lambda one: one.name)
def test_slow_and_dying_workers_leave_the_numbers_of_one_process(trouble):
    row = many_workers.simulation_row(5, 3, trouble, many_workers.of_rows(range(15)).result())
    assert row["same_bits"]
    assert float(row["largest_difference"]) < 1e-10
    # Of three runs: each needs one merge less than it has parts, and those that were lost again.
    assert row["merges"] == 3 * 14
    if trouble.deaths:
        assert row["deaths"] == row["begun_again"] > 0


def test_a_part_that_is_added_twice_is_refused():
    first, again = (many_workers.of_rows([0]).to_bytes() for _ in range(2))
    assert first == again
    with pytest.raises(ValueError, match="rows that were not added before"):
        many_workers.merged_bytes(first, again)
