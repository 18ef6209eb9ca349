"""Tables and the picture of docs/guide/trust.md: ``python -m benchmarks.coverage.page``.

The page is written by hand but for the parts between ``<!-- NAME -->`` and ``<!-- end -->``; those
are made here, and a test holds the page to them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from . import acceptance
from .acceptance import DEFAULT, JUDGED, MOST, NULL, Measured, measured, width_ratio
from .runner import RESULTS, read
from .studies.tutorial import PUBLISHED

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "trust.md"
TITLES = {
    "frozen_systems": "simulated systems",
    "real_predictions": "real predictions",
    "grouped_systems": "groups, crossed factors",
    "told_apart": "differences of two systems",
}
# Studies of one score.
SCORES_ALONE = JUDGED[:3]
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


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.1f}"


def table(header: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    rule = "|" + "---|" * len(header)
    return "\n".join([f"| {' | '.join(header)} |", rule, *(f"| {' | '.join(x)} |" for x in lines)])


def verdicts() -> str:
    """One line for each study."""
    lines = []
    for study in acceptance.run_so_far():
        found = acceptance.judge(study)
        whole = len(found.cells) + len(found.left_out) == planned(study)
        lowest = min(found.cells, key=lambda cell: cell.coverage)
        kind, (tool, ratio) = max(found.ratios.items(), key=lambda item: _or_zero(item[1][1]))
        lines.append(
            (
                TITLES[study],
                f"{len(found.cells)} + {len(found.left_out)} of {planned(study)}",
                percent(found.share),
                f"{percent(lowest.coverage)} ({lowest.cell})",
                f"{ratio:.2f} ({kind}; {tool})",
                ("yes" if whole else "so far") if found.passes else "**no**",
            )
        )
    header = (
        "study",
        "cells judged + left out",
        "93 % in % of cells",
        "lowest",
        "widest kind",
        "passes",
    )
    return table(header, lines)


def planned(study: str) -> int:
    """Number of cells of a study, run or not."""
    return len(import_module(f"{__package__}.studies.{study}").STUDY.cells)


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


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


def span(values: list[float]) -> str:
    """From the lowest to the highest, and in how many cells."""
    if not values:
        return ""
    low, high = percent(min(values)), percent(max(values))
    return f"{low} ({len(values)})" if low == high else f"{low} to {high} ({len(values)})"


def _pairs(rows: list[Measured], tool: str, kind: str | None = None):
    """Cells of another tool with the default's beside them."""
    ours = {(row.cell, row.target): row for row in rows if row.tool == DEFAULT}
    return [
        (ours[row.cell, row.target], row)
        for row in rows
        if row.tool == tool
        and kind in (None, row.kind)
        and not ours[row.cell, row.target].is_excepted
    ]


def _names_of_others(rows: list[Measured]) -> list[str]:
    return [
        name
        for name in dict.fromkeys(row.tool for row in rows)
        if not name.startswith(DEFAULT) or name == "skboot, rows"
    ]


def _others(kind: str, rows: list[Measured]) -> str:
    told = []
    for tool in _names_of_others(rows):
        if pairs := _pairs(rows, tool, kind):
            lowest = min(theirs.coverage for _, theirs in pairs)
            ratio = width_ratio(*map(list, zip(*pairs, strict=True)))
            told.append(f"{tool} {percent(lowest)}, {ratio:.2f}")
    return "; ".join(told)


def tools() -> str:
    """Each other tool over the studies: where it covers, and what it costs there."""
    found: dict[str, list[tuple[Measured, Measured]]] = {}
    for study in SCORES_ALONE:
        rows = measured(RESULTS / f"{study}.csv")
        for tool in _names_of_others(rows):
            found.setdefault(tool, []).extend(_pairs(rows, tool))
    lines = []
    for tool, pairs in found.items():
        if not pairs:
            continue
        covering = [(ours, theirs) for ours, theirs in pairs if theirs.covers(MOST)]
        both = [(ours, theirs) for ours, theirs in covering if ours.covers(MOST)]
        lowest = min(pairs, key=lambda pair: pair[1].coverage)[1]
        better = [pair for pair in both if pair[1].width < 0.98 * pair[0].width]
        ratio = f"{width_ratio(*map(list, zip(*both, strict=True))):.2f}" if both else ""
        ours = sum(ours.covers(MOST) for ours, _ in pairs)
        lines.append(
            (
                tool,
                str(len(pairs)),
                f"{len(covering)}",
                f"{ours}",
                f"{percent(lowest.coverage)} ({lowest.cell})",
                ratio,
                f"{len(better)}",
            )
        )
    header = (
        "tool",
        "cells",
        "it covers in",
        "skboot covers in",
        "its lowest",
        "our width to its, where both cover",
        "narrower by 2 % and covers in",
    )
    return table(header, lines)


def outside() -> str:
    """Every cell that misses a bound, and every kind that is too wide."""
    lines = []
    for study in acceptance.run_so_far():
        found = acceptance.judge(study)
        for cell in found.under_most:
            bound = "91" if cell in found.under_all else "93"
            error = f"{percent(cell.coverage)} ({percent(cell.error)})"
            lines.append((TITLES[study], cell.cell, error, f"coverage under {bound}"))
        for kind, (tool, ratio) in found.too_wide.items():
            lines.append((TITLES[study], kind, f"{ratio:.2f}", f"wider than 1.3 times {tool}"))
        lines += [
            (TITLES[study], cell.cell, percent(cell.coverage), "left out: excepted, warned of")
            for cell in found.left_out
        ]
    return table(("study", "cell", "measured", "why it is here"), lines)


def told_apart() -> str:
    """Coverage, level and power of differences."""
    rows = measured(RESULTS / "told_apart.csv")
    names = list(dict.fromkeys(row.tool for row in rows))
    lines = []
    for cell in dict.fromkeys(row.cell for row in rows):
        line = [cell]
        for name in names:
            both = {row.target: row for row in rows if (row.cell, row.tool) == (cell, name)}
            if not both:
                line.append("")
                continue
            covers, null = both["difference"], both[NULL]
            line.append(f"{percent(covers.coverage)} / {percent(1 - null.coverage)}")
        lines.append(tuple(line))
    return table(("systems", *names), lines)


def tutorial() -> str:
    """The tutorial's rows and those it lacks."""
    rows = measured(RESULTS / "tutorial.csv")
    cells = list(dict.fromkeys(row.cell for row in rows))
    names = list(dict.fromkeys(row.tool for row in rows))
    lines = []
    for name in names:
        short = name.partition(": ")[2]
        line = [short, str(PUBLISHED.get(short, ""))]
        for cell in cells:
            both = {row.target: row for row in rows if (row.cell, row.tool) == (cell, name)}
            values = [percent(both[target].coverage) for target in ("system", "method")]
            line += [" / ".join(values), f"{both['method'].width:.3f}"]
        lines.append(tuple(line))
    header = ["interval", "published"]
    for cell in cells:
        header += [f"{cell}: system / method", "width"]
    return table(tuple(header), lines)


def several_runs() -> str:
    """Several runs on one test set."""
    lines = [
        (
            row["design"],
            f"{row['n_test']}",
            row["method"],
            row["next_run"],
            row["pooled_method"],
            row["pooled_next_run"],
        )
        for row in read(RESULTS / "method_next_run.csv")
    ]
    header = (
        "design",
        "test rows",
        '"components": method',
        "next run",
        "pooled: method",
        "next run",
    )
    return table(header, lines)


def gaps() -> str:
    """How often equal subgroups are told apart."""
    lines = [
        (row["cell"], row["told_apart"], row["before"] or "–") for row in read(RESULTS / "gaps.csv")
    ]
    return table(("design", "gap excludes 0, %", "by resamples alone, %"), lines)


PARTS: dict[str, Callable[[], str]] = {
    "verdicts": verdicts,
    "tools": tools,
    "frozen_systems": lambda: kinds("frozen_systems"),
    "real_predictions": lambda: kinds("real_predictions"),
    "grouped_systems": lambda: kinds("grouped_systems"),
    "told_apart": told_apart,
    "tutorial": tutorial,
    "several_runs": several_runs,
    "gaps": gaps,
    "outside": outside,
}


def filled(text: str) -> str:
    """The page with its made parts made again."""

    def made(match):
        name = match[1]
        is_there = (RESULTS / f"{name}.csv").exists() or name not in (*JUDGED, "tutorial")
        return f"<!-- {name} -->\n{PARTS[name]() if is_there else 'Not run yet.'}\n<!-- end -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- end -->", made, text, flags=re.DOTALL)


def picture(path: Path) -> None:
    """Draw the coverage of each tool in each cell that is not left out."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    studies = [name for name in SCORES_ALONE if name in acceptance.run_so_far()]
    figure, axes = plt.subplots(
        1, len(studies), figsize=(11, 4.2), sharex=True, layout="constrained"
    )
    for panel, study in zip(axes, studies, strict=True):
        rows = measured(RESULTS / f"{study}.csv")
        names = [DEFAULT, *_names_of_others(rows)]
        for place, tool in enumerate(names):
            found = [max(60, 100 * theirs.coverage) for _, theirs in _pairs(rows, tool)]
            heights = [place + 0.25 * (k % 5 - 2) / 2 for k in range(len(found))]
            colour = "C0" if tool == DEFAULT else "C7"
            panel.plot(found, heights, ".", color=colour, alpha=0.7)
        panel.axvline(95, color="black", linewidth=0.8)
        panel.axvline(93, color="black", linewidth=0.8, linestyle=":")
        panel.set(title=TITLES[study], xlabel="coverage, %", xlim=(59, 100.5))
        panel.set_yticks(range(len(names)), names, fontsize=8)
        panel.invert_yaxis()
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    picture(PAGE.with_suffix(".png"))
