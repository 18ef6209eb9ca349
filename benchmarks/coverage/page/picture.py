"""The picture of the page."""

from __future__ import annotations

from pathlib import Path

from .. import acceptance
from ..acceptance import DEFAULT, measured
from ..runner import RESULTS
from .formats import SCORES_ALONE, names_of_others, pairs_with


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
        names = [DEFAULT, *names_of_others(rows)]
        for place, tool in enumerate(names):
            found = [max(60, 100 * theirs.coverage) for _, theirs in pairs_with(rows, tool)]
            heights = [place + 0.25 * (k % 5 - 2) / 2 for k in range(len(found))]
            colour = "C0" if tool == DEFAULT else "C7"
            panel.plot(found, heights, ".", color=colour, alpha=0.7)
        panel.axvline(95, color="black", linewidth=0.8)
        panel.axvline(93, color="black", linewidth=0.8, linestyle=":")
        panel.set(title=SCORES_ALONE[study], xlabel="coverage, %", xlim=(59, 100.5))
        panel.set_yticks(range(len(names)), names, fontsize=8)
        panel.invert_yaxis()
    figure.savefig(path, dpi=110)
    plt.close(figure)
