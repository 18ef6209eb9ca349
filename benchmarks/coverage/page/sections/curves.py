"""Bands of curves, their points, and scores that are biased on their own rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ...acceptance import LIMIT, is_shown, measured
from ...runner import RESULTS, monte_carlo_error, read
from ...studies import (
    biased_scores,
    calibration_error,
    class_losses,
    clusterings,
    curve_bands,
    curve_points,
    curve_shapes,
)
from ..formats import counted_row, percent, table, with_error
from ..registry import CaseRow, VerdictRow, cases, section, verdict

LEAST, LEAST_NEAR_ONE, WIDEST = 0.93, 0.91, 1.3
OURS, NEAR_ONE = "skboot", "AUC 0.95, n 200,"


class _Found(NamedTuple):
    """What a tool did in a cell, over all parts."""

    coverage: float
    width: float
    error: float
    repetitions: int
    below: int
    above: int

    def covers(self, least: float) -> bool:
        """Whether the upper Monte Carlo limit reaches so far."""
        return self.coverage + LIMIT * self.error >= least


def _found(study=curve_bands.STUDY) -> dict[str, dict[str, _Found]]:
    """Cells and tools, in the order of the study."""
    parts: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in read(RESULTS / f"{study.name}.csv"):
        parts.setdefault((row["cell"], row["tool"]), []).append(row)
    found: dict[str, dict[str, _Found]] = {}
    for cell in study.cells:
        for tool in cell.tools:
            rows = parts.get((cell.name, tool), [])
            n = sum(int(row["repetitions"]) for row in rows)
            if not n:
                continue
            below, above = (
                sum(int(row[f"truth {side}"]) for row in rows) for side in ("below", "above")
            )
            width = sum(float(row["width"]) * int(row["repetitions"]) for row in rows) / n
            share = 1 - (below + above) / n
            error = math.sqrt(max(share * (1 - share), 1 / n * (1 - 1 / n)) / n)
            one = _Found(share, width, error, n, below, above)
            found.setdefault(cell.name, {})[tool] = one
    return {cell: by_tool for cell, by_tool in found.items() if OURS in by_tool}


def _least(cell: str) -> float:
    return LEAST_NEAR_ONE if NEAR_ONE in cell else LEAST


def _best(cell: str, by_tool: dict[str, _Found]) -> tuple[str, float] | None:
    """The narrowest of the other tools that cover, and our width by its."""
    others = {t: one for t, one in by_tool.items() if t != OURS and one.covers(_least(cell))}
    if not others:
        return None
    tool = min(others, key=lambda name: others[name].width)
    return tool, by_tool[OURS].width / others[tool].width


def _bands_table(study) -> str:
    """Coverage of whole curves, and mean widths of the band and of other regions."""
    others = [name for name in study.TOOLS if name != OURS]
    header = ("curve", "curve covered, %", "mean width", *(f"{name}: width" for name in others))
    lines = []
    for cell, by_tool in _found(study.STUDY).items():
        ours = by_tool[OURS]
        beside = [
            f"{by_tool[name].width:.3f} ({percent(by_tool[name].coverage)})"
            if name in by_tool
            else ""
            for name in others
        ]
        share = with_error(ours.coverage, ours.error)
        lines.append((cell, share, f"{ours.width:.3f}", *beside))
    return table(header, lines)


@section("curve_bands", "studies/curves", "curve_bands")
def curve_bands_table() -> str:
    """Curves of normal scores."""
    return _bands_table(curve_bands)


@section("curve_shapes", "studies/curves", "curve_shapes")
def curve_shapes_table() -> str:
    """Curves of other shapes."""
    return _bands_table(curve_shapes)


def _shown(title: str, study, aim: float, judged: Callable[[str], bool]) -> VerdictRow:
    """Line of a study whose cells are shown to be at most two points under an aim, or are not."""
    found = {cell: tools[OURS] for cell, tools in _found(study.STUDY).items() if judged(cell)}
    outside = tuple(
        (cell, with_error(one.coverage, one.error), f"not shown to be {percent(aim)} %")
        for cell, one in found.items()
        if not is_shown(aim, one.repetitions - one.below - one.above, one.repetitions)
    )
    lowest, planned = min(found, key=lambda cell: found[cell].coverage), study.STUDY.cells
    complete = len(_found(study.STUDY)) == len(planned)
    return VerdictRow(
        title,
        f"{len(_found(study.STUDY))} of {len(planned)}",
        percent(1 - len(outside) / len(found)),
        f"{percent(found[lowest].coverage)} ({lowest})",
        "no rule",
        "**no**" if outside else "yes" if complete else "so far",
        outside,
    )


@verdict("curve_shapes")
def curve_shapes_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    return _shown("bands of curves of other shapes", curve_shapes, LEAST_NEAR_ONE, lambda _: True)


@verdict("curve_bands")
def curve_bands_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    found = _found()
    outside, ratios = [], {}
    for cell, by_tool in found.items():
        ours, best = by_tool[OURS], _best(cell, by_tool)
        if not ours.covers(_least(cell)):
            bound = f"under {100 * _least(cell):.0f} %"
            outside.append((cell, with_error(ours.coverage, ours.error), bound))
        if best is not None:
            ratios[cell] = best
            if best[1] > WIDEST:
                outside.append((cell, f"{best[1]:.2f}", f"wider than {WIDEST} times {best[0]}"))
    lowest = min(found, key=lambda cell: found[cell][OURS].coverage)
    widest = max(ratios, key=lambda cell: ratios[cell][1])
    planned = len(curve_bands.STUDY.cells)
    return counted_row(
        "bands of curves",
        len(found),
        f"{percent(found[lowest][OURS].coverage)} ({lowest})",
        outside,
        planned=planned,
        n_outside=len({cell for cell, *_ in outside}),
        widest=f"{ratios[widest][1]:.2f} ({widest}; {ratios[widest][0]})",
    )


@cases("curve_bands")
def curve_rows() -> list[CaseRow]:
    """Their lines of the cases, with those of other shapes."""
    found = _found() | _found(curve_shapes.STUDY)
    held = [by_tool[OURS].coverage for by_tool in found.values()]
    return [
        CaseRow(
            "a whole curve",
            "simultaneous band, `bootstrap_curve`",
            f"{percent(min(held))} to {percent(max(held))} ({len(held)})",
            "few rows above a threshold with a large weight",
        )
    ]


# ------------------------------------------------------------------ points

LEAST_OF_ALL, SHARE_OF_POINTS = 0.91, 0.9


class _Point(NamedTuple):
    """What the interval of a point did in a cell."""

    cell: str
    x: str
    coverage: float
    error: float
    width: float

    def is_under(self, least: float) -> bool:
        """Whether the upper Monte Carlo limit stays below."""
        return self.coverage + LIMIT * self.error < least


def _points() -> list[_Point]:
    """Points of all cells, in the order of the study."""
    parts: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in read(RESULTS / f"{curve_points.STUDY.name}.csv"):
        parts.setdefault((row["cell"], row["target"]), []).append(row)
    points = []
    for (cell, x), rows in parts.items():
        n = sum(int(row["repetitions"]) for row in rows)
        sides = ("truth below", "truth above", "no interval")
        share = 1 - sum(int(row[side]) for row in rows for side in sides) / n
        width = sum(float(row["width"]) * int(row["repetitions"]) for row in rows) / n
        points.append(_Point(cell, x, share, monte_carlo_error(share, n), width))
    order = [cell.name for cell in curve_points.STUDY.cells]
    return sorted(points, key=lambda point: order.index(point.cell))


@section("curve_points", "studies/curves", "curve_points")
def curve_points_table() -> str:
    """Coverage of points, and their mean widths in brackets."""
    header = ("curve", "at: covered, % (mean width)")
    lines: dict[str, list[str]] = {}
    for one in _points():
        text = f"{one.x}: {percent(one.coverage)} ({one.width:.3f})"
        lines.setdefault(one.cell, []).append(text)
    return table(header, [(cell, ", ".join(texts)) for cell, texts in lines.items()])


@verdict("curve_points")
def curve_points_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    points = _points()
    under = [one for one in points if one.is_under(LEAST)]
    share = 1 - len(under) / len(points)
    passes = share >= SHARE_OF_POINTS and not any(one.is_under(LEAST_OF_ALL) for one in under)
    lowest = min(points, key=lambda one: one.coverage)
    found, planned = {one.cell for one in points}, curve_points.STUDY.cells
    return VerdictRow(
        "points of curves",
        f"{len(found)} of {len(planned)}",
        percent(share),
        f"{percent(lowest.coverage)} ({lowest.cell}, at {lowest.x})",
        "no rule",
        "**no**" if not passes else "yes" if len(found) == len(planned) else "so far",
        tuple(
            (
                f"{one.cell}, at {one.x}",
                with_error(one.coverage, one.error),
                f"under {100 * LEAST:.0f} %",
            )
            for one in under
        ),
    )


# ------------------------------------------------------------------ calibration error


@section("calibration_error", "studies/calibration", "calibration_error")
def calibration_error_table() -> str:
    """Coverage and mean widths of the interval of all bins, and of percentiles."""
    header = ("system", "covered, %", "mean width", "percentiles: covered, %", "width")
    lines = []
    for cell, by_tool in _found(calibration_error.STUDY).items():
        line = [cell]
        for tool in calibration_error.TOOLS:
            one = by_tool.get(tool)
            line += [with_error(one.coverage, one.error), f"{one.width:.3f}"] if one else ["", ""]
        lines.append(tuple(line))
    return table(header, lines)


@verdict("calibration_error")
def calibration_error_verdict() -> VerdictRow:
    """Their line of the verdicts."""
    found = {cell: tools[OURS] for cell, tools in _found(calibration_error.STUDY).items()}
    outside = tuple(
        (cell, with_error(one.coverage, one.error), f"under {100 * LEAST:.0f} %")
        for cell, one in found.items()
        if not one.covers(LEAST)
    )
    lowest, planned = min(found, key=lambda cell: found[cell].coverage), calibration_error.STUDY
    return counted_row(
        "expected calibration error",
        len(found),
        f"{percent(found[lowest].coverage)} ({lowest})",
        outside,
        planned=len(planned.cells),
        widest="no rule",
    )


# ------------------------------------------------------------------ losses of two classes


def _warned(study) -> dict[str, float]:
    """Share of the data sets of each cell that carry a warning."""
    counts: dict[str, list[int]] = {}
    for row in read(RESULTS / f"{study.STUDY.name}.csv"):
        if row["tool"] == OURS:
            counts.setdefault(row["cell"], []).append(int(row["warned"]))
    found = _found(study.STUDY)
    return {cell: sum(own) / found[cell][OURS].repetitions for cell, own in counts.items()}


def _with_warnings(study, others: tuple[str, ...] = ()) -> str:
    """Coverage, sides of the misses, mean widths and warnings; coverage of other intervals."""
    header = ("score", "covered, %", "truth below, above", "mean width", "warned, %", *others)
    lines, warned = [], _warned(study)
    every = measured(RESULTS / f"{study.STUDY.name}.csv")
    by_name = {(one.cell, one.tool): one.coverage for one in every}
    for cell, by_tool in _found(study.STUDY).items():
        one = by_tool[OURS]
        share = with_error(one.coverage, one.error)
        sides = f"{one.below}, {one.above}", f"{one.width:.3f}"
        covered = [percent(by_name[cell, f"{OURS}: {name}"]) for name in others]
        lines.append((cell, share, *sides, percent(warned[cell]), *covered))
    return table(header, lines)


@section("class_losses", "studies/calibration", "class_losses")
def class_losses_table() -> str:
    """See `_with_warnings`."""
    return _with_warnings(class_losses)


@verdict("class_losses")
def class_losses_verdict() -> VerdictRow:
    """Their line of the verdicts: of cells that are not meant to warn."""
    return _shown(
        "losses of two classes under priors",
        class_losses,
        LEAST,
        lambda cell: f" {class_losses.JUDGED_FROM // 2} positives" not in cell,
    )


# ------------------------------------------------------------------ clusterings


@section("clusterings", "studies/clusterings", "clusterings")
def clusterings_table() -> str:
    """The same, and what two other intervals of the same resamples cover."""
    return _with_warnings(clusterings, ("bca", "bias-corrected"))


@verdict("clusterings")
def clusterings_verdict() -> VerdictRow:
    """Their line of the verdicts: of cells under half of whose data sets warn."""
    warned = _warned(clusterings)
    title = "clusterings, averages over many classes"
    return _shown(title, clusterings, LEAST, lambda cell: warned[cell] < 0.5)


# ------------------------------------------------------------------ biased scores


@section("biased_scores", "studies/calibration", "biased_scores")
def biased_scores_table() -> str:
    """Coverage, sides of the misses and mean widths."""
    header = ("score", "covered, %", "truth below, above", "mean width")
    lines = []
    for cell, by_tool in _found(biased_scores.STUDY).items():
        one = by_tool[OURS]
        share = with_error(one.coverage, one.error)
        lines.append((cell, share, f"{one.below}, {one.above}", f"{one.width:.3f}"))
    return table(header, lines)


@verdict("biased_scores")
def biased_scores_verdict() -> VerdictRow:
    """Their line of the verdicts: of costs; the others carry a warning, if all do."""
    warned = {
        row["cell"]
        for row in read(RESULTS / f"{biased_scores.STUDY.name}.csv")
        if row["excepted and warned"] == row["repetitions"]
    }
    of_all = {cell: tools[OURS] for cell, tools in _found(biased_scores.STUDY).items()}
    found = {cell: one for cell, one in of_all.items() if cell not in warned}
    outside = tuple(
        (cell, with_error(one.coverage, one.error), f"under {100 * LEAST:.0f} %")
        for cell, one in found.items()
        if not one.covers(LEAST)
    )
    shown, planned = found or of_all, biased_scores.STUDY.cells
    lowest = min(shown, key=lambda cell: shown[cell].coverage)
    return VerdictRow(
        "minimum costs, and calibration errors without bins",
        f"{len(of_all)} of {len(planned)}",
        percent(1 - len(outside) / len(shown)),
        f"{percent(shown[lowest].coverage)} ({lowest})",
        "no rule",
        "**no**" if outside else "yes" if len(of_all) == len(planned) else "so far",
        outside,
    )
