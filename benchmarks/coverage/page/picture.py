"""The picture of the page of other tools."""

from __future__ import annotations

from pathlib import Path

from .. import acceptance
from ..acceptance import DEFAULT, measured
from ..runner import RESULTS
from .formats import SCORES_ALONE, names_of_others, pairs_with

LEAST = 60
# Of the Okabe-Ito palette; markers differ as well, so that grey print shows what the colours do.
OURS, THEIRS = "#0072B2", "#555555"


def picture(path: Path) -> None:
    """Draw the coverage of each tool in each cell that is not left out."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    studies = [name for name in SCORES_ALONE if name in acceptance.run_so_far()]
    found = {study: measured(RESULTS / f"{study}.csv") for study in studies}
    others = [tool for rows in found.values() for tool in names_of_others(rows)]
    # What leaves the groups out is no tool, and comes last.
    names = sorted(dict.fromkeys([DEFAULT, *others]), key=lambda name: name == "skboot, rows")
    figure, axes = plt.subplots(
        1,
        len(studies),
        figsize=(10, 0.6 + 0.42 * len(names)),
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    for panel, (study, rows) in zip(axes, found.items(), strict=True):
        for place, tool in enumerate(names):
            _draw(panel, place, tool, [100 * row.coverage for _, row in pairs_with(rows, tool)])
        panel.axvline(95, color="black", linewidth=0.8, zorder=0)
        panel.axvline(93, color="black", linewidth=0.8, linestyle=":", zorder=0)
        panel.set(title=SCORES_ALONE[study], xlabel="coverage, %", xlim=(LEAST - 2, 101))
        panel.set_yticks(range(len(names)), names)
        for line in range(1, len(names)):
            panel.axhline(line - 0.5, color="0.9", linewidth=0.6, zorder=0)
        panel.tick_params(axis="y", length=0)
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _draw(panel, place, tool, coverages):
    """Draw the cells of a tool; those beyond the axis as arrows at its end."""
    ours = tool == DEFAULT
    for number, coverage in enumerate(sorted(coverages)):
        height = place + 0.3 * (number % 5 - 2) / 2
        panel.plot(
            max(LEAST, coverage),
            height,
            "<" if coverage < LEAST else "o" if ours else "D",
            color=OURS if ours else THEIRS,
            fillstyle="full" if ours else "none",
            markersize=4 if ours else 3.5,
            markeredgewidth=0.8,
            clip_on=False,
        )
