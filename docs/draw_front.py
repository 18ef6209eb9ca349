"""Draw the picture of the landing page when the site is built.

``python docs/draw_front.py`` draws the copy that the README shows.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np

from skboot import bootstrap_score

PICTURES = Path(__file__).parent / "generated"
BLUE, ORANGE, GREY, INK = "#0072b2", "#d55e00", "#8c8c8c", "#333333"
N_PATIENTS, N_ROWS = 25, 8


def draw():
    """Write the picture."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    PICTURES.mkdir(exist_ok=True)
    how_it_works().savefig(PICTURES / "front.png", dpi=110)
    plt.close("all")


def how_it_works():
    """Test rows of patients, drawn again, scored again, and what follows."""
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(7)
    skill = rng.beta(5, 1.2, size=(N_PATIENTS, 1))
    right = rng.random((N_PATIENTS, N_ROWS)) < skill
    patient = np.repeat(np.arange(N_PATIENTS), N_ROWS)
    score = {"metric": "mean", "greater_is_better": True, "random_state": 0}
    whole = bootstrap_score(None, right.ravel(), groups=patient, **score)
    rows = bootstrap_score(None, right.ravel(), **score)

    figure = plt.figure(figsize=(12, 3.6), layout="constrained")
    data, again, scored, says = figure.subfigures(1, 4, width_ratios=[1, 1, 1, 1.35], wspace=0.04)
    axes = data.subplots()
    _cells(axes, right)
    axes.set_xlabel(f"{N_PATIENTS} patients, {N_ROWS} rows each", color=INK)
    for axes in again.subplots(3, 1):
        drawn = np.sort(rng.integers(0, N_PATIENTS, size=N_PATIENTS))
        _cells(axes, right[drawn])
        axes.set_title(f"accuracy {right[drawn].mean():.3f}", fontsize=9, color=INK, pad=3)
    _distribution(scored.subplots(), whole)
    _intervals(says.subplots(), {"patients drawn": whole, "rows drawn": rows})
    titles = [
        "1  test rows, right or wrong",
        "2  patients drawn again",
        "3  scored again, 1999 times",
        "4  how far to trust the number",
    ]
    for part, title in zip((data, again, scored, says), titles, strict=True):
        part.suptitle(title, fontsize=11, weight="bold", color=INK, x=0.03, ha="left")
    return figure


def _cells(axes, right):
    """A column for each patient, a cell for each row."""
    colours = mpl.colors.ListedColormap([ORANGE, BLUE])
    axes.pcolormesh(right.T, cmap=colours, vmin=0, vmax=1, edgecolor="white", linewidth=0.6)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


def _distribution(axes, result):
    """The scores of all resamples, with the interval in colour."""
    values = result.bootstrap_distribution
    step = 2 / (N_PATIENTS * N_ROWS)  # two rows: bins of equally many possible scores
    edges = np.arange(values.min() - step / 4, values.max() + step, step)
    counts, _ = np.histogram(values, edges)
    low, high = result.confidence_interval
    middle = (edges[1:] + edges[:-1]) / 2
    inside = (middle >= low) & (middle <= high)
    axes.bar(middle, counts, step, color=np.where(inside, BLUE, "#c9d7e2"))
    axes.set_xlabel("accuracy", color=INK)
    axes.set_yticks([])
    axes.spines[["top", "left", "right"]].set_visible(False)


def _intervals(axes, results):
    """An estimate with its interval for each way to draw."""
    for k, (name, result) in enumerate(results.items()):
        low, high = result.confidence_interval
        colour = GREY if k else BLUE
        axes.plot([low, high], [k, k], color=colour, linewidth=3, solid_capstyle="butt")
        axes.plot(result.estimate, k, "o", color=colour, markersize=8)
        says = "for other rows of these patients only" if k else "for other patients"
        axes.text(low, k - 0.17, f"{name}: {result}", fontsize=10, color=INK, weight="bold")
        axes.text(low, k + 0.24, says, fontsize=9, color=colour)
    axes.set_ylim(1.6, -0.55)
    axes.set_xlabel("accuracy", color=INK)
    axes.set_yticks([])
    axes.spines[["top", "left", "right"]].set_visible(False)


if __name__ == "__main__":
    mpl.use("Agg")
    how_it_works().savefig(Path(__file__).parent / "front.png", dpi=90)
