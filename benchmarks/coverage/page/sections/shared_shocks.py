"""Series that share shocks, by blocks within each and by blocks of dates."""

from __future__ import annotations

from math import sqrt

from ...acceptance import LIMIT
from ...runner import RESULTS, monte_carlo_error, read
from ...studies import shared_shocks as study
from ..formats import counted_row, table, with_error
from ..registry import VerdictRow, section, verdict

STUDY = "shared_shocks"
MOST, DUE, HELD = 0.01, 0.80, 0.90


def _found() -> list[dict[str, str]]:
    return read(RESULTS / f"{STUDY}.csv")


def _share(row: dict[str, str], column: str) -> float:
    return float(row[column]) / 100


def _covered(row: dict[str, str], column: str) -> str:
    share = _share(row, f"{column} %")
    return with_error(share, monte_carlo_error(share, int(row["sets"])))


def _name(row: dict[str, str]) -> str:
    kind = {"1": "", "2": "squared, ", "4": "fourth powers, "}[row["power"]]
    return (
        f"{kind}{row['series']} series of {row['dates']} dates, coefficient {row['coefficient']}, "
        f"{row['shared %']} % shared"
    )


@section(STUDY, "studies/series", STUDY)
def shared_shocks() -> str:
    """Coverage with width of both, and the share of data sets with the caution."""
    lines = [
        (
            _name(row),
            *(f"{_covered(row, kind)}, {row[f'{kind} width']}" for kind in ("within", "dates")),
            row["cautioned %"],
        )
        for row in _found()
    ]
    return table(("errors", "blocks within series", "blocks of dates", "flagged, %"), lines)


def _outside(row: dict[str, str]) -> bool:
    flagged = _share(row, "cautioned %")
    room = LIMIT * sqrt(max(flagged * (1 - flagged), 1e-3) / int(row["sets"]))
    if row["shared %"] == "0":
        return flagged - room > MOST
    is_due = _share(row, "within %") < HELD <= _share(row, "dates %")
    return is_due and flagged + room < DUE


@verdict(STUDY)
def verdict_row() -> VerdictRow:
    """Their line of the verdicts."""
    found = _found()
    outside = tuple(
        (_name(row), row["cautioned %"], "flagged without reason, or not flagged with reason")
        for row in found
        if _outside(row)
    )
    lowest = min(found, key=lambda row: _share(row, "dates %"))
    planned = len(study.CELLS)
    return counted_row(
        "series that share shocks, blocks of dates",
        len(found),
        f"{_covered(lowest, 'dates')} ({_name(lowest)})",
        outside,
        planned=planned,
    )
