"""Releases that pass or fail, and ranks."""

from __future__ import annotations

from math import sqrt

from ...acceptance import LIMIT
from ...runner import RESULTS, read
from ...studies import area_gates as near_one
from ...studies import gates as releases
from ..formats import counted_row, table, with_error
from ..registry import CaseRow, VerdictRow, cases, section, verdict

LEAST_RANKS, MORE_RANKS = 94.0, 0.03
POWER = (76.0, 84.0)


@section("gates", "studies/margins", "gates")
def gates() -> str:
    """How often a release passes or fails that should not."""
    header = (
        "release",
        "passes, worse by the margin, %",
        "fails, where equal, %",
        "fails, worse by the margin, %",
        "passes the detectable margin, where equal, %",
    )
    lines = [
        (row["release"], row["passed"], row["failed_equal"], row["failed_worse"], row["power"])
        for row in read(RESULTS / "gates.csv")
    ]
    return table(header, lines)


def _broken(row: dict[str, str]) -> str:
    """Which part of its rule a release breaks."""
    wrong = max(float(row["passed"]), float(row["failed_equal"]))
    if row["repetitions"] == "exact":
        return "above 2.5 %, exactly" if wrong > 2.5 else ""
    limit = releases.LIMITS[row["release"]]
    room = 100 * LIMIT * sqrt(limit / 100 * (1 - limit / 100) / int(row["repetitions"]))
    if wrong > limit + room:
        return f"above {limit} %"
    return "" if POWER[0] <= float(row["power"]) <= POWER[1] else "power outside 76 to 84 %"


@verdict("gates")
def gates_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    rows = read(RESULTS / "gates.csv")
    outside = tuple(
        (row["release"], f"{row['passed']} / {row['power'] or '–'}", broken)
        for row in rows
        if (broken := _broken(row))
    )
    worst = max(rows, key=lambda row: float(row["passed"]))
    return counted_row(
        "non-inferiority of releases",
        len(rows),
        f"{worst['passed']} pass ({worst['release']})",
        outside,
    )


def _areas_by_cell() -> dict[str, dict[str, dict[str, str]]]:
    """Rows of the confirming run with 20 rows of a class, by cell and form."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for row in read(RESULTS / "area_gates.csv"):
        if row["run"] == "confirm" and int(row["smaller"]) >= near_one.FEWEST:
            found.setdefault(row["cell"], {})[row["form"]] = row
    return found


def _between(values: list[float], digits: int = 1) -> str:
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"


def _apart(row: dict[str, str]) -> float:
    return float(row["passed"]) + float(row["failed"])


def _ratio(forms: dict[str, dict[str, str]]) -> float:
    return float(forms["skboot"]["width"]) / float(forms["normal"]["width"])


def _line_of_areas(name: str, of: list[dict[str, dict[str, str]]]) -> tuple[str, ...]:
    """What the cells of some designs have in common."""
    margin = [forms for forms in of if forms["skboot"]["kind"] == "margin"]
    equal = [forms for forms in of if forms["skboot"]["kind"] == "equal"]
    columns = [
        _between([float(forms[form][what]) for forms in margin], digits)
        for what, digits in (("passed", 1), ("power", 0))
        for form in ("skboot", "normal")
    ]
    apart = [
        _between([_apart(forms[form]) for forms in equal]) if equal else ""
        for form in ("skboot", "normal")
    ]
    return (name, *columns[:2], _between([*map(_ratio, margin)], 2), *columns[2:], *apart)


@section("area_gates", "studies/margins", "area_gates")
def area_gates() -> str:
    """How often an area near 1 passes by mistake, and what that costs."""
    header = (
        "scores, rows of the smaller class",
        "passes, worse by the margin, %",
        "DeLong",
        "width by DeLong's",
        "passes, where equal, %",
        "DeLong",
        "significant, where equal, %",
        "DeLong",
    )
    by_kind: dict[str, list[dict[str, dict[str, str]]]] = {}
    for cell, forms in _areas_by_cell().items():
        scores, which, *_, shared = cell.split(", ")
        few = "20 to 39" if int(forms["skboot"]["smaller"]) < near_one.MANY else "40 to 100"
        scores += ", above .98" if which in near_one.ABOVE else ""
        name = f"{scores}, {shared}" if shared != "correlation 0.6" else scores
        by_kind.setdefault(f"{name}, {few}", []).append(forms)
    return table(header, [_line_of_areas(name, of) for name, of in by_kind.items()])


@verdict("area_gates")
def area_gates_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    cells = _areas_by_cell()
    outside = []
    for cell, forms in cells.items():
        row = forms["skboot"]
        why = {
            "passed": f"above {near_one.MOST_PASSED} %",
            "told apart": f"above {near_one.MOST_APART:g} %",
            "width": "wider than the rule",
        }
        if broken := near_one.broken(row, forms["normal"]):
            measured = f"{row['passed']}, width {_ratio(forms):.2f}"
            outside.append((cell, measured, ", ".join(why[each] for each in broken)))
    worst = max(cells.values(), key=lambda forms: float(forms["skboot"]["passed"]))["skboot"]
    return counted_row(
        "non-inferiority of areas near 1",
        len(cells),
        f"{worst['passed']} pass ({worst['cell']})",
        outside,
        widest=f"{max(map(_ratio, cells.values())):.2f} (DeLong)",
    )


@section("ranks", "studies/ranks", "ranks")
def ranks() -> str:
    """Whether all ranks are held at once, and the width beside Bonferroni's rule and csranks."""
    header = (
        "values",
        "systems",
        "rows",
        "true means",
        "all ranks covered, %",
        "mean width",
        "by t tests and Bonferroni",
        "csranks: covered, %",
        "width",
    )
    rows = read(RESULTS / "ranks.csv")
    named = ("values", "n_systems", "n_rows", "shape")
    lines = [
        (
            *(row[name] for name in named),
            _of_ranks(row),
            row["width"],
            row["width_bonferroni"],
            row["coverage_csranks"],
            row["width_csranks"],
        )
        for row in rows
    ]
    held = [row for row in rows if float(row["coverage_csranks"]) >= LEAST_RANKS]
    ratios = [float(row["width_csranks"]) / float(row["width"]) for row in held]
    narrower = [ratio for ratio in ratios if ratio < 1]
    told = (
        f"The intervals of csranks cover all ranks in {LEAST_RANKS:.0f} % in {len(held)} of the "
        f"{len(rows)} cells, and are narrower than ours in {len(narrower)} of these, at "
        f"{min(narrower):.2f} to {max(narrower):.2f} times the width."
    )
    return f"{table(header, lines)}\n\n{told}"


def _of_ranks(row: dict[str, str]) -> str:
    return with_error(float(row["coverage"]) / 100, float(row["error"]) / 100)


@verdict("ranks")
def ranks_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    rows = read(RESULTS / "ranks.csv")
    outside = tuple(
        (
            f"{row['n_systems']} systems, {row['values']}, {row['n_rows']} rows, {row['shape']}",
            f"{_of_ranks(row)}, width {row['width']}",
            "ranks covered in under 94 %, or wider than Bonferroni's rule",
        )
        for row in rows
        if float(row["coverage"]) < LEAST_RANKS
        or float(row["width"]) > float(row["width_bonferroni"]) + MORE_RANKS
    )
    lowest = min(rows, key=lambda row: float(row["coverage"]))
    name = f"{lowest['n_systems']} systems, {lowest['n_rows']} rows, {lowest['shape']}"
    return counted_row("ranks of models", len(rows), f"{_of_ranks(lowest)} ({name})", outside)


@cases("gates")
def case_rows() -> list[CaseRow]:
    """Their lines of the cases."""
    wrong = [float(row["passed"]) for row in read(RESULTS / "gates.csv")]
    return [
        CaseRow(
            "non-inferiority: does a release pass a margin?",
            "the interval of the difference",
            f"{min(wrong)} to {max(wrong)} pass by mistake, 2.5 nominal ({len(wrong)})",
            "20 groups: 3.5 % pass; scores that few rows tell apart: not in this study",
        )
    ]


@cases("area_gates")
def area_rows() -> list[CaseRow]:
    """Their line of the cases."""
    own = [forms["skboot"] for forms in _areas_by_cell().values()]
    wrong = [float(row["passed"]) for row in own if row["kind"] == "margin"]
    return [
        CaseRow(
            "non-inferiority: area under the ROC curve near 1",
            "DeLong's interval, widened by limits of both areas on the logit scale",
            f"{_between(wrong)} pass by mistake, 2.5 nominal ({len(wrong)})",
            "under 50 rows of a class, and positives far more spread than negatives: 4 to 7 %",
        )
    ]


@cases("ranks")
def rank_rows() -> list[CaseRow]:
    """Their lines of the cases."""
    rows = read(RESULTS / "ranks.csv")
    held = [float(row["coverage"]) for row in rows]
    return [
        CaseRow(
            "ranks of many models",
            "step-down tests of resamples",
            f"{min(held)} to {max(held)} ({len(rows)}), all ranks at once",
            "few rows: wide ranges of ranks",
        )
    ]
