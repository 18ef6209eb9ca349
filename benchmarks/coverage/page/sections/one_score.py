"""Intervals of one score by kind: simulated, real, groups and crossed factors."""

from __future__ import annotations

import math
from functools import partial

from ... import acceptance
from ...acceptance import DEFAULT, Measured, measured, width_ratio
from ...runner import RESULTS
from ..formats import SCORES_ALONE, judged_row, names_of_others, pairs_with, percent, span, table
from ..registry import section, verdict

# What "auto" chooses for the kinds of a study.
CHOICES = {
    "accuracy": "Wilson",
    "F1": "BCa; Wilson under ten hits or errors",
    "MCC": "BCa",
    "kappa": "BCa",
    "macro F1": "BCa; bias-corrected where biased",
    "AUC": "BCa",
    "average precision": "BCa",
    "R2": "BCa",
    "RMSE": "BCa",
    "median absolute error": "expanded percentile",
    "groups, AUC": "expanded percentile",
    "groups": "studentized; score interval where few groups vary",
    "crossed": "percentile",
    "one population": "expanded percentile",
}
MEANS = ("MSE", "MAE", "pinball", "log loss")


def choice(kind: str) -> str:
    """What "auto" does for a kind."""
    if kind.startswith(MEANS):
        return "studentized"
    for name in (kind, kind.partition(",")[0]):
        if name in CHOICES:
            return CHOICES[name]
    raise KeyError(kind)


def kinds(study: str) -> str:
    """What "auto" chooses, covers and costs, by kind."""
    rows = measured(RESULTS / f"{study}.csv")
    found = acceptance.judge(study, rows)
    lines = []
    for kind in dict.fromkeys(row.kind for row in rows if row.tool == DEFAULT):
        ours = [row for row in rows if row.kind == kind and row.tool == DEFAULT]
        kept = [row.coverage for row in ours if not row.is_excepted]
        out = [row.coverage for row in ours if row.is_excepted]
        tool, ratio = found.ratios.get(kind, ("", math.nan))
        best = "itself" if tool == DEFAULT else tool
        width = "" if math.isnan(ratio) else f"{best} {ratio:.2f}"
        lines.append((kind, choice(kind), span(kept), span(out), width, _others(kind, rows)))
    header = (
        "case",
        '"auto"',
        "covers",
        "covers, excepted",
        "width against the narrowest that covers",
        "others: lowest coverage, our width to theirs",
    )
    return table(header, lines)


def _others(kind: str, rows: list[Measured]) -> str:
    told = []
    for tool in names_of_others(rows):
        if pairs := pairs_with(rows, tool, kind):
            lowest = min(theirs.coverage for _, theirs in pairs)
            ratio = width_ratio(*map(list, zip(*pairs, strict=True)))
            told.append(f"{tool} {percent(lowest)}, {ratio:.2f}")
    return "; ".join(told)


for _study, _title in SCORES_ALONE.items():
    section(_study, _study)(partial(kinds, _study))
    verdict(_study)(partial(judged_row, _study, _title))
