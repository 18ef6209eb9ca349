"""Methods without a test set: the default, other methods, and fewer fits."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean

from ... import acceptance
from ...acceptance import DEFAULT, MOST, Measured, width_ratio
from ...runner import RESULTS, read
from ...studies import fewer_fits as fewer
from ...studies import narrower
from ..formats import WIDTHS, best_of, others_of, pairs_with, percent, row_of, span, table
from ..registry import CaseRow, VerdictRow, cases, section, verdict

OURS, WHOLE, CHEAP = "cv-bootstrap", "200 x 5", "50 x 1"
TITLES = {
    "smooth": "smooth learners",
    "rough": "unstable learners",
    "ranks": "areas under curves, balanced error",
    "skewed": "skewed losses",
    "groups": "20 groups or more",
    "exception": "10 and 12 groups",
    "few positives": "average precision, 15 positives",
    "no resubstitution": "no error on the training rows known",
    "classes": "macro F1 of four classes",
    "seeds": "random learners, several seeds",
}
# Kinds in a stated exception, of which `BootstrapScorer` warns.
EXCEPTED = ("exception", "few positives")
# Other methods, with the models that they train.
FITS = {
    "corrected t": 50,
    "nested CV": 300,
    "conservative z": 315,
    "Bayle": 10,
    "t over folds": 10,
    "t over repeated folds": 50,
    "percentiles, out-of-bag": 200,
}
SHOWN = ("25 x 1", "25 x 5", "50 x 1", "50 x 3", "70 x 1", "100 x 2", "200 x 1", WHOLE)


def _measured(study: str, default: str) -> list[Measured]:
    """Lines of a table of methods; widths over 3.92 standard deviations of the estimate."""
    return [_one(row, default) for row in read(RESULTS / f"{study}.csv")]


def _one(row: dict[str, str], default: str) -> Measured:
    n, kind = int(row["data sets"]), row["kind"]
    missed = round(n * (1 - float(row["covered %"]) / 100))
    is_excepted = n if kind in EXCEPTED else 0
    return Measured(
        row["cell"],
        TITLES[kind],
        "",
        DEFAULT if row["interval"] == default else row["interval"],
        n,
        missed,
        0,
        float(row["width over 3.92 sd"]),
        is_excepted,
        is_excepted,
        float(row["truth"]),
    )


def of_methods() -> list[Measured]:
    """The default and other methods, on the same data sets."""
    rows = [row for row in _measured("narrower", OURS) if not row.tool.startswith("former")]
    customary = _measured("customary", OURS)
    return rows + [row for row in customary if row.tool != DEFAULT]


@section("methods", "studies/methods", "narrower")
def methods() -> str:
    """What the default covers and costs, by kind of cell."""
    rows = of_methods()
    found = acceptance.judge("narrower", rows)
    lines = []
    for kind in dict.fromkeys(row.kind for row in rows):
        ours = [row for row in rows if row.kind == kind and row.tool == DEFAULT]
        widths = [row.width for row in ours]
        low, high = min(widths), max(widths)
        width = f"{low:.2f}" if len(ours) == 1 else f"{low:.2f} to {high:.2f}, {mean(widths):.2f}"
        least = best_of(found.ratios[kind]) if kind in found.ratios else "excluded"
        told = others_of(kind, _all_counted(rows))
        lines.append((kind, span([row.coverage for row in ours]), width, least, told))
    header = (
        "case",
        "covers",
        "width over 3.92 sd, mean",
        *WIDTHS,
    )
    return table(header, lines)


@section("other_methods", "studies/methods", "narrower")
def other_methods() -> str:
    """Each other method over all cells, the excepted ones too."""
    rows = _all_counted(of_methods())
    lines = []
    for name, fits in FITS.items():
        pairs = pairs_with(rows, name)
        if not pairs:
            continue
        ours, theirs = (list(own) for own in zip(*pairs, strict=True))
        lowest = min(theirs, key=lambda row: row.coverage)
        lines.append(
            (
                name,
                str(fits),
                str(len(pairs)),
                f"{percent(lowest.coverage)} ({lowest.cell})",
                str(sum(map(_is_under, theirs))),
                str(sum(map(_is_under, ours))),
                f"{width_ratio(ours, theirs):.2f}",
            )
        )
    header = (
        "method",
        "fits",
        "cells",
        "its lowest coverage",
        "its cells under 93 %",
        "ours under 93 %, of these",
        "our width relative to its",
    )
    return table(header, lines)


def _is_under(row: Measured) -> bool:
    """Whether fewer than 93 % are covered: 93 of 100 are not, which a float would be."""
    return row.missed > row.repetitions * (1 - MOST) + 1e-9


def _all_counted(rows: list[Measured]) -> list[Measured]:
    """The same rows, none of them excepted."""
    return [replace(row, excepted=0, warned_of=0) for row in rows]


@verdict("methods")
def verdict_row() -> VerdictRow:
    """Their line of the verdicts."""
    found = acceptance.judge("narrower", of_methods())
    return row_of("methods without a test set", found, len(narrower.CELLS))


@cases("methods")
def case_rows() -> list[CaseRow]:
    """Their line of the cases."""
    rows = of_methods()
    ours = [row for row in rows if row.tool == DEFAULT and not row.is_excepted]
    return [
        CaseRow(
            "a learning algorithm, without a test set",
            OURS,
            span([row.coverage for row in ours]),
            "skewed losses, few or very unequal groups: 91 to 92 %; under 20 groups, a class of 20 "
            "rows: warns",
        )
    ]


@section("fewer_fits", "studies/methods", "fewer_fits")
def fewer_fits() -> str:
    """What fewer bootstrap samples and repeats of cross-validation cover and cost."""
    rows = _measured("fewer_fits", WHOLE)
    whole = {row.cell: row for row in rows if row.tool == DEFAULT}
    lines = []
    for name in SHOWN:
        own = [row for row in rows if row.tool == (DEFAULT if name == WHOLE else name)]
        samples, repeats = map(int, name.split(" x "))
        lowest = min(own, key=lambda row: row.coverage)
        lines.append(
            (
                str(samples),
                str(repeats),
                str(samples + 10 * repeats + 1),
                f"{percent(lowest.coverage)} ({lowest.cell})",
                f"{sum(not _is_under(row) for row in own)} of {len(own)}",
                f"{mean(row.width / whole[row.cell].width for row in own):.2f}",
            )
        )
    header = (
        "bootstrap samples",
        "repeats of cross-validation",
        "fits",
        "lowest coverage",
        "cells at 93 % or more",
        "width relative to 251 fits",
    )
    return table(header, lines)


@verdict("fewer_fits")
def verdict_row_of_61_fits() -> VerdictRow:
    """The line of the cheapest setting that the documentation names."""
    rows = [row for row in _measured("fewer_fits", CHEAP) if not row.tool.endswith(", few")]
    return row_of("no test set, 61 fits", acceptance.judge("fewer_fits", rows), len(fewer.CELLS))
