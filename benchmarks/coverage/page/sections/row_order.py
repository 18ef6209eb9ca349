"""How often the caution of rows in time comes."""

from __future__ import annotations

from math import sqrt

from ...acceptance import LIMIT
from ...runner import RESULTS, read
from ...studies import row_order as study
from ..formats import percent, table
from ..registry import VerdictRow, section, verdict

STUDY = "row_order"
MOST, LEAST = 0.05, 0.80
DUE = ("absolute errors, coefficient .5", "400")


def _found():
    """Kind, values, rows and share of the data sets with the caution, in the order of the study."""
    shares = {
        (row["rows are"], row["values"], row["n"]): float(row["cautioned %"]) / 100
        for row in read(RESULTS / f"{STUDY}.csv")
    }
    cells = [(kind, name, str(n)) for kind, name, n in study.CELLS]
    return {cell: shares[cell] for cell in cells if cell in shares}


@section(STUDY, "studies/series", STUDY)
def row_order() -> str:
    """Share of the data sets with the caution by number of rows."""
    found = _found()
    sizes = sorted({n for *_, n in found}, key=int)
    lines = [
        (kind, name, *(percent(found[kind, name, n]) for n in sizes))
        for kind, own in study.KINDS.items()
        for name in own
        if (kind, name, sizes[-1]) in found
    ]
    return table(("rows", "values", *(f"{n} rows" for n in sizes)), lines)


def _is_outside(cell: tuple[str, str, str], share: float) -> bool:
    room = LIMIT * sqrt(max(share * (1 - share), 1e-3) / study.N_DATA_SETS)
    if cell[0] != study.TOGETHER:
        return share - room > MOST
    return cell[1:] == DUE and share + room < LEAST


@verdict(STUDY)
def verdict_row() -> VerdictRow:
    """Their line of the verdicts."""
    found = _found()
    judged = {c: share for c, share in found.items() if c[0] != study.TOGETHER or c[1:] == DUE}
    outside = tuple(
        (f"{name}, {n} rows", percent(share), "flagged without reason, or not flagged with reason")
        for (kind, name, n), share in judged.items()
        if _is_outside((kind, name, n), share)
    )
    (_, name, n), worst = max(
        ((cell, share) for cell, share in judged.items() if cell[0] != study.TOGETHER),
        key=lambda one: one[1],
    )
    whole = "yes" if len(found) == len(study.CELLS) else "so far"
    return VerdictRow(
        "flagging of rows in time",
        f"{len(judged)}",
        percent(1 - len(outside) / len(judged)),
        f"{percent(worst)} ({name}, {n} rows)",
        "",
        "**no**" if outside else whole,
        outside,
    )
