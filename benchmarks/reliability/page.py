"""The counts of all runs: one table of data, and the page of the documentation that shows it."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parent / "results" / "reliability.csv"
MUTANTS = DATA.with_name("mutants.csv")
PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
PARTS = {
    "fuzz": (
        "Random calls",
        "Each case is a call of a public function, drawn by its number: types of entries, "
        "containers, sizes, metrics, options, functions of the user's. It must give the number of "
        "scikit-learn, on the same or on the repeated rows, or of the same call with plain arrays, "
        "or a message that names the argument; warn of nothing that a library says, and change "
        "none of its inputs.",
    ),
    "parameters": (
        "Random parameters of metrics",
        "Each case calls a metric function of scikit-learn with random parameters on random data: "
        "kinds of labels, classes that are rare or missing, ties, values from 1e-12 to 1e12, "
        "weights with zeros, groups, strata and subgroups. The estimate, and each replicate on "
        "given resamples, must be scikit-learn's number on these rows to 1e-9, or undefined where "
        "that is; limits must be in order and inside the metric's range.",
    ),
    "faults": (
        "Faults of files, disks and processes",
        "Each trial breaks something at a random place or time. Finished runs must be kept, the "
        "fit that goes on must find the same numbers bit for bit, a damaged file must be refused "
        "or hold what was written, and nothing may be left behind.",
    ),
    "soak": (
        "Many calls in one process",
        "Memory and open files must stay where they are.",
    ),
}


class Row(NamedTuple):
    """What was tried in one part, and what came of it."""

    part: str
    name: str
    what: str
    tried: int
    survived: int
    lost: int
    note: str


class Mutant(NamedTuple):
    """A fault put into a line; how many tests were asked, and if one failed."""

    path: str
    line: int
    what: str
    n_tests: int
    verdict: str


def read() -> list[Row]:
    """All rows of the data."""
    if not DATA.exists():
        return []
    with DATA.open(newline="", encoding="utf-8") as file:
        return [
            Row(
                own["part"], own["name"], own["what"], int(own["tried"]), int(own["survived"]),
                int(own["lost"]), own["note"],
            )
            for own in csv.DictReader(file)
        ]  # fmt: skip


def put(rows: Iterable[Row]) -> None:
    """Put rows in the place of those of the same part and name, and write the page anew."""
    new = {(row.part, row.name): row for row in rows}
    kept = {(row.part, row.name): row for row in read()} | new
    ordered = sorted(kept.values(), key=lambda row: (list(PARTS).index(row.part), row.name))
    DATA.parent.mkdir(exist_ok=True)
    with DATA.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(ordered)
    PAGE.write_text(text_of(ordered), encoding="utf-8")


def text_of(rows: list[Row]) -> str:
    """The page."""
    tried, lost = sum(row.tried for row in rows), sum(row.lost for row in rows)
    parts = [
        "# Stress tests: what was tried, and what failed\n",
        f"{tried:,} times something was tried that can go wrong, and {lost:,} times a number, a "
        "file or the reason was lost. This page is written by `make soak`, which runs everything "
        "again; the counts are in `benchmarks/reliability/results/reliability.csv`. Whatever an "
        "earlier run found was put right, with a test of its own.\n",
    ]
    for part, (title, text) in PARTS.items():
        own = [row for row in rows if row.part == part]
        if own:
            parts += [f"## {title}\n", f"{text}\n", _table(own)]
    return "\n".join([*parts, "## Faults put into the code\n", _text_of_mutants(), ""])


def put_mutants(rows: Iterable[Mutant]) -> None:
    """Write the table of mutants, and the page anew."""
    with MUTANTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Mutant._fields)
        writer.writerows(sorted(rows))
    put([])


def _text_of_mutants() -> str:
    with MUTANTS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    n_passed = sum(row["verdict"] == "passed" for row in rows)
    n_unread = sum(row["n_tests"] == "0" for row in rows)
    packages = " and ".join(sorted({f"`{row['path'].split('/')[1]}`" for row in rows}))
    return (
        f"{len(rows)} faults, one at a time, were put into lines drawn at random from functions of "
        f"{packages}: another operator, a condition turned round, a number or a slice that is one "
        f"off. Tests of these packages failed of {len(rows) - n_passed}. Of the other {n_passed}, "
        f"{n_unread} are in lines that none of these tests runs, and some change speed alone. "
        "`python -m benchmarks.reliability.mutants` tries them again, which `make soak` does not; "
        "they are in `benchmarks/reliability/results/mutants.csv`."
    )


def _table(rows: list[Row]) -> str:
    lines = ["| what | tried | survived | lost | |", "|---|---:|---:|---:|---|"]
    lines += [
        f"| {row.what} | {row.tried:,} | {row.survived:,} | {row.lost:,} | {row.note} |"
        for row in rows
    ]
    return "\n".join([*lines, ""])
