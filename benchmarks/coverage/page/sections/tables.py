"""Functions of a table of truth and decision that few rows decide."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from ...runner import RESULTS, read
from ..formats import table
from ..registry import section

METHODS = ("auto", "before", "wilson", "wald", "percentile", "bca", "delta")
# What the rule asks for: in each cell, and in how many of them; and widths.
LEAST, MOST, IN_SHARE, WIDER, WIDEST = 0.92, 0.93, 0.97, 1.06, 1.15
SHOWN = ("recall", "matthews_corrcoef", "f1_macro")


def _by_metric():
    """Coverage and width, (n_cells, n_methods), by rows and metric."""
    found = defaultdict(list)
    for row in read(RESULTS / "tables.csv"):
        cell = [[float(row[kind + name]) for name in METHODS] for kind in ("", "width ")]
        found[int(row["n"]), row["metric"]].append(cell)
    return {key: np.moveaxis(np.array(cells), 1, 0) for key, cells in found.items()}


def _of(coverage, least):
    """Lowest coverage, and the share of cells under the least."""
    return f"{coverage.min():.1f}; {np.mean(coverage < least):.0%}"


def passes(coverage):
    """Whether each method keeps the rule on coverage, (n_methods,)."""
    with np.errstate(invalid="ignore"):
        return (coverage.min(axis=0) >= LEAST) & ((coverage >= MOST).mean(axis=0) >= IN_SHARE)


@section("tables_counted", "studies/tables", "tables")
def counted() -> str:
    """Lowest coverage, share of cells under 93 %, and mean width, by method."""
    lines = []
    for (n, metric), (coverage, width) in sorted(_by_metric().items()):
        cells = [
            ""
            if np.isnan(own).any()
            else f"{100 * own.min():.1f}; {np.mean(own < MOST):.0%}; {w:.3f}"
            for own, w in zip(coverage.T, width.mean(axis=0), strict=True)
        ]
        lines.append((str(n), metric, *cells))
    return table(("rows", "metric", *METHODS), lines)


@section("tables_widths", "studies/tables", "tables")
def widths() -> str:
    """Width of "auto" over that of the narrowest other method that keeps the rule."""
    lines = []
    for (n, metric), (coverage, width) in sorted(_by_metric().items()):
        holds = passes(coverage)
        others = [k for k in range(1, len(METHODS)) if holds[k]]
        text = ("none", "", "")
        if others:
            best = min(others, key=lambda k: width[:, k].mean())
            ratio = width[:, 0] / width[:, best]
            mean = width[:, 0].mean() / width[:, best].mean()
            text = (METHODS[best], f"{mean:.2f}", f"{ratio.max():.2f}")
        lines.append((str(n), metric, "yes" if holds[0] else "**no**", *text))
    return table(
        ("rows", "metric", "auto keeps the coverage", "narrowest", "mean", "widest cell"), lines
    )


@section("tables_drawn", "studies/tables", "tables_drawn")
def drawn() -> str:
    """Lowest coverage and mean widths of what is drawn, by kind and metric."""
    found = defaultdict(list)
    for row in read(RESULTS / "tables_drawn.csv"):
        n = row["n"] if row["kind"].endswith("classes") else ""
        found[row["kind"], n, row["metric"]].append(row)
    lines = []
    for (kind, n, metric), rows in found.items():
        now, before, width, old = (
            np.array([float(row[name]) for row in rows])
            for name in ("coverage %", "before %", "width", "width before")
        )
        lines.append(
            (
                kind,
                n,
                metric,
                f"{_of(now, 93)}; {width.mean():.3f}",
                f"{_of(before, 93)}; {old.mean():.3f}",
            )
        )
    return table(("kind", "rows", "metric", "auto", "before"), lines)


def picture(path: Path) -> None:
    """Draw coverage on 40 rows, or 20, over both rates, at the least prevalence."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    every = read(RESULTS / "tables.csv")
    n_rows = "40" if any(row["n"] == "40" for row in every) else "20"
    rows = [row for row in every if (row["n"], row["prevalence"]) == (n_rows, "0.1")]
    rates = sorted({row["sensitivity"] for row in rows})
    methods = ("before", "auto", "percentile", "bca")
    figure, axes = plt.subplots(
        len(SHOWN), len(methods), figsize=(9, 7), sharex=True, sharey=True, layout="constrained"
    )
    for line, metric in zip(axes, SHOWN, strict=True):
        for panel, method in zip(line, methods, strict=True):
            shown = np.full((len(rates), len(rates)), np.nan)
            for row in rows:
                if row["metric"] == metric:
                    at = rates.index(row["sensitivity"]), rates.index(row["specificity"])
                    shown[at] = 100 * float(row[method])
            image = panel.imshow(shown, origin="lower", vmin=80, vmax=100, cmap="RdYlBu")
            for (k, m), value in np.ndenumerate(shown):
                panel.text(m, k, f"{value:.0f}", ha="center", va="center", fontsize=7)
            panel.set_xticks(range(len(rates)), rates, fontsize=7)
            panel.set_yticks(range(len(rates)), rates, fontsize=7)
        line[0].set_ylabel(f"{metric}\nsensitivity", fontsize=8)
    for panel, method in zip(axes[0], methods, strict=True):
        panel.set_title({"before": "auto, before"}.get(method, method), fontsize=9)
    for panel in axes[-1]:
        panel.set_xlabel("specificity", fontsize=8)
    figure.colorbar(image, ax=axes, label=f"coverage on {n_rows} rows, %", shrink=0.6)
    figure.savefig(path, dpi=130)
    plt.close(figure)
