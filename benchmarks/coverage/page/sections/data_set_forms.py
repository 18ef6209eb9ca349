"""Which interval of a mean difference over few data sets, and of a mean of values of both signs."""

from __future__ import annotations

from collections.abc import Sequence

from ...runner import RESULTS, read
from ...studies import data_set_forms as study
from ..formats import counted_row, table
from ..registry import VerdictRow, section, verdict

STUDY = "data_set_forms"
OURS, SHOWN = "skewed t", ("skewed t", "t", "equal tails")
# What may be found by mistake, in percent, and by how much the exact limit may be above.
MEANT, ROOM = {"symmetric": 6.0, "skewed": 8.5}, 2.0
LEAST_SKEWED = 8


def _found(*parts: str) -> dict[tuple[str, str, str], dict[str, str]]:
    """Lines of the study by law, number of data sets and form."""
    return {
        (row["law"], row["data sets"], row["form"]): row
        for row in read(RESULTS / f"{STUDY}.csv")
        if row["part"] in parts
    }


def _lines(parts: Sequence[str], sizes: Sequence[int], at: int) -> list[tuple[str, ...]]:
    found = _found(*parts)
    lines = []
    for law in dict.fromkeys(law for law, _, _ in found):
        told = [
            " / ".join(f"{float(found[law, str(n), form]['told apart %']):.1f}" for form in SHOWN)
            for n in sizes
        ]
        own = [found[law, str(at), form] for form in SHOWN]
        power = " / ".join(f"{float(row['power %']):.0f}" for row in own)
        width = " / ".join(f"{float(row[WIDTH]):.2f}" for row in own)
        lines.append((law, *told, power, width))
    return lines


WIDTH = "width by t's"


@section(STUDY, "studies/data_sets", STUDY)
def data_sets() -> str:
    """How often each form finds what is not there, over data sets."""
    sizes = (5, 8, 10, 15, 30)
    header = ("differences", *(f"{n} data sets" for n in sizes), "power at 8", "width at 8")
    return table(header, _lines(("confirm",), sizes, 8))


@section("means_of_both_signs", "studies/data_sets", STUDY)
def rows() -> str:
    """The same of means of rows."""
    sizes = study.SIZES_OF_ROWS
    header = ("values", *(f"{n} rows" for n in sizes), "power at 30", "width at 30")
    return table(header, _lines(("rows", "rows, confirm"), sizes, 30))


@verdict(STUDY)
def verdict_row() -> VerdictRow:
    """Its line of the verdicts."""
    judged = [
        row
        for (_, n, form), row in _found("confirm").items()
        if form == OURS
        and (row["kind"] == "symmetric" or (row["kind"] == "skewed" and int(n) >= LEAST_SKEWED))
    ]
    outside = [row for row in judged if float(row["upper limit %"]) > MEANT[row["kind"]] + ROOM]
    far = max(judged, key=lambda row: float(row["told apart %"]))
    return counted_row(
        "means over few data sets, by law",
        len(judged),
        f"{far['told apart %']} significant ({_cell(far)})",
        [(_cell(row), row["told apart %"], f"{MEANT[row['kind']]:g} allowed") for row in outside],
    )


def _cell(row: dict[str, str]) -> str:
    return f"{row['law']}, {row['data sets']} data sets"
