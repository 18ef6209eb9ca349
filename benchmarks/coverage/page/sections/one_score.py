"""Intervals of one score: simulated, real, groups and crossed factors."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ... import acceptance
from ...acceptance import DEFAULT, Measured, measured
from ...runner import RESULTS
from ..formats import (
    SCORES_ALONE,
    WIDTHS,
    best_of,
    judged_row,
    others_of,
    span,
    table,
)
from ..registry import CaseRow, cases, section, verdict


class Case(NamedTuple):
    """Kinds of cells that are one line for a reader, what "auto" chooses there, when it fails."""

    name: str
    choice: str
    kinds: tuple[str, ...]
    fails: str


MEANS = ("MSE", "MAE", "pinball", "log loss")
ROWS = (
    Case(
        "accuracy",
        "Wilson; `beta` where under 30 rows decide",
        ("accuracy",),
        "rows that belong together (see groups)",
    ),
    Case(
        "F1, precision, recall",
        "BCa; `smoothed` where under 30 rows decide",
        ("F1",),
        "6 positives: covers, but is wide",
    ),
    Case(
        "macro F1",
        "BCa; `smoothed` where under 30 rows decide; corrected for bias where that is large",
        ("macro F1",),
        "three classes or more, under 8 rows of one: warns",
    ),
    Case(
        "Matthews, kappa",
        "BCa; `smoothed` where under 30 rows decide",
        ("MCC", "kappa"),
        "6 positives: covers, but is wide",
    ),
    Case(
        "area under the ROC curve",
        "BCa",
        ("AUC",),
        "smaller class under 50 rows: warns",
    ),
    Case(
        "average precision",
        "BCa",
        ("average precision",),
        "91 % with 12 positives; under 20: warns",
    ),
    Case(
        "MSE, MAE, pinball, log loss: light tails",
        "bootstrap-t",
        tuple(f"{name}, light tails" for name in MEANS),
        "fewer than 5 to 15 rows decide: warns; under 10 rows beyond a quantile, 64 to 94 %: warns",
    ),
    Case(
        "MSE, MAE, pinball, log loss: heavy tails",
        "bootstrap-t",
        tuple(f"{name}, heavy tails" for name in MEANS),
        "few rows decide: warns, though not of a tail that no row shows",
    ),
    Case(
        "RMSE, R2",
        "BCa",
        ("RMSE", "R2", "R2, light tails"),
        "under 50 rows: 92 to 93 %; skewed or heavy-tailed truth: R2 76 to 93 %, half of the "
        "misses told",
    ),
    Case(
        "RMSE, R2: heavy tails",
        "BCa",
        ("RMSE, heavy tails", "R2, heavy tails"),
        "R2 76 to 93 %, half of the misses told; strata of 2 to 7 rows: RMSE 89 to 91 %, a third "
        "told at most",
    ),
    Case("median absolute error", "expanded percentile", ("median absolute error",), ""),
)
UNITS = (
    Case(
        "accuracy, mean loss of groups",
        "bootstrap-t; score interval where few groups vary",
        ("groups, accuracy", "groups, MAE", "groups, MSE"),
        "under 20 groups: warns; few that decide: losses warn; a class of few groups: few freedoms",
    ),
    Case(
        "area under the ROC curve of groups",
        "expanded percentile; `logit-t` under ten groups",
        ("groups, AUC",),
        "under 50 groups: 92 %; under 20: warns",
    ),
    Case(
        "crossed factors",
        "two-way; under 40 members a side, and for other than sums and AUC, percentile",
        ("crossed, accuracy", "crossed, MAE", "crossed, AUC"),
        "under 40 members a side: flagged; under 15: warns",
    ),
    Case(
        "pairs of one population",
        "two-way; expanded percentile for other than sums and AUC",
        ("one population, accuracy", "one population, AUC"),
        "under 40 members: flagged",
    ),
)


def kinds(study: str) -> str:
    """What "auto" covers and costs, by kind of cell."""
    rows = measured(RESULTS / f"{study}.csv")
    found = acceptance.judge(study, rows)
    lines = []
    for kind in dict.fromkeys(row.kind for row in rows if row.tool == DEFAULT):
        ours = [row for row in rows if row.kind == kind and row.tool == DEFAULT]
        kept = [row.coverage for row in ours if not row.is_excepted]
        out = [row.coverage for row in ours if row.is_excepted]
        best = best_of(found.ratios.get(kind, ("", math.nan)))
        lines.append((kind, span(kept), span(out), best, others_of(kind, rows)))
    header = (
        "case",
        "covers",
        "covers, excluded",
        *WIDTHS,
    )
    return table(header, lines)


def case_rows(chosen: tuple[Case, ...]) -> list[CaseRow]:
    """The same over all studies, by case."""
    rows = [row for study in SCORES_ALONE for row in measured(RESULTS / f"{study}.csv")]
    return [_case_row(case, rows) for case in chosen]


def _case_row(case: Case, rows: list[Measured]) -> CaseRow:
    own = [replace(row, kind=case.name) for row in rows if row.kind in case.kinds]
    ours = tuple(row for row in own if row.tool == DEFAULT and not row.is_excepted)
    return CaseRow(case.name, case.choice, span([r.coverage for r in ours]), case.fails)


for _study, _title in SCORES_ALONE.items():
    section(_study, f"studies/{_study}", _study)(partial(kinds, _study))
    verdict(_study)(partial(judged_row, _study, _title))
cases("frozen_systems")(partial(case_rows, ROWS))
cases("grouped_systems")(partial(case_rows, UNITS))
