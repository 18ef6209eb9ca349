"""Sensitivity, specificity and predictive values."""

from __future__ import annotations

from ...acceptance import ALL, LIMIT, MOST
from ...runner import RESULTS, read
from ..formats import percent, span, table, with_error
from ..registry import CaseRow, VerdictRow, cases, section, verdict

METRICS = ("sensitivity", "specificity", "ppv", "npv")


def _rows():
    """Lines of the results, with the coverage and its error as shares."""
    for row in read(RESULTS / "two_class_rates.csv"):
        error = float(row["Monte Carlo error"]) / 100
        yield row, float(row["coverage %"]) / 100, error


@section("two_class_rates", "studies/two_class_rates", "two_class_rates")
def two_class_rates() -> str:
    """Coverage of each rate by number of rows and prevalence."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row, coverage, _ in _rows():
        cell = found.setdefault((row["n"], row["positives %"]), {name: [] for name in METRICS})
        cell[row["metric"]].append(coverage)
    lines = [
        (n, share, *(span(cell[name]).partition(" (")[0] for name in METRICS))
        for (n, share), cell in found.items()
    ]
    return table(("rows", "positives, %", *METRICS), lines)


@cases("two_class_rates")
def case_rows() -> list[CaseRow]:
    """Its line of the cases."""
    covered = span([coverage for _, coverage, _ in _rows()])
    choice = "BCa; `smoothed` where under 30 rows decide"
    fails = "one or two rows of a class: wide"
    return [CaseRow("sensitivity, specificity, ppv, npv", choice, covered, fails)]


@verdict("two_class_rates")
def verdict_row() -> VerdictRow:
    """Its line of the verdicts."""
    found = [(row, at, error) for row, at, error in _rows()]
    under = [one for one in found if one[1] + LIMIT * one[2] < MOST]
    lowest, at, error = min(found, key=lambda one: one[1])
    name = (
        f"{lowest['metric']} {lowest['rate']}, n {lowest['n']}, {lowest['positives %']} % positives"
    )
    return VerdictRow(
        "sensitivity, specificity, ppv, npv",
        str(len(found)),
        percent(1 - len(under) / len(found)),
        f"{with_error(at, error)} ({name})",
        "",
        "**no**" if any(at + LIMIT * error < ALL for _, at, error in under) else "yes",
        tuple(
            (row["metric"], with_error(at, error), "coverage under 93") for row, at, error in under
        ),
    )
