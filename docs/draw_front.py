"""Draw the picture of the landing page when the site is built.

``python docs/draw_front.py`` draws the copy that the README shows.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np

from skboot import bootstrap_score

PICTURES = Path(__file__).parent / "generated"
BLUE, ORANGE, GREY, INK = "#0072b2", "#d55e00", "#767676", "#333333"
N_PATIENTS, N_ROWS = 25, 8


def draw():
    """Write both halves."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    PICTURES.mkdir(exist_ok=True)
    for figure, name in zip(halves(), ("front_predictions", "front_scores"), strict=True):
        figure.savefig(PICTURES / f"{name}.png", dpi=140)
    plt.close("all")


def how_it_works():
    """Test rows of patients, resampled, scored again, and the interval that follows."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 3.6), layout="constrained")
    for part, draw in zip(figure.subfigures(1, 2, width_ratios=(2, 2.45)), HALVES, strict=True):
        draw(part)
    return figure


def halves():
    """The same in two figures, which stand above each other on a narrow screen."""
    import matplotlib.pyplot as plt

    figures = [plt.figure(figsize=(6, 3.6), layout="constrained") for _ in HALVES]
    for figure, draw in zip(figures, HALVES, strict=True):
        draw(figure)
    return figures


def _predictions(figure):
    """Which test rows are right, and three resamples of the patients."""
    rng, right = _made()
    data, again = figure.subfigures(1, 2, wspace=0.04)
    axes = data.subplots()
    _cells(axes, right)
    axes.set_xlabel(f"{N_PATIENTS} patients, a column each", color=INK)
    axes.set_ylabel(f"{N_ROWS} test rows of each patient", color=INK)
    _key(axes)
    for axes in again.subplots(3, 1):
        drawn = np.sort(rng.integers(0, N_PATIENTS, size=N_PATIENTS))
        _cells(axes, right[drawn])
        axes.set_title(f"accuracy {right[drawn].mean():.3f}", fontsize=9, color=INK, pad=3)
    _title(data, "1  test predictions")
    _title(again, "2  resample the patients")


def _scores(figure):
    """The scores of all resamples, and two intervals, on axes of one scale."""
    _, right = _made()
    patient = np.repeat(np.arange(N_PATIENTS), N_ROWS)
    score = {"metric": "mean", "greater_is_better": True, "random_state": 0}
    whole = bootstrap_score(None, right.ravel(), groups=patient, **score)
    rows = bootstrap_score(None, right.ravel(), **score)

    scored, says = figure.subfigures(1, 2, width_ratios=(1, 1.25), wspace=0.04)
    both = [scored.subplots(), says.subplots()]
    _distribution(both[0], whole)
    _intervals(both[1], {"patients resampled": whole, "rows resampled": rows})
    values = whole.bootstrap_distribution
    for axes in both:
        axes.set_xlim(values.min() - 0.01, values.max() + 0.01)
        axes.set_xticks(np.arange(0.7, 0.91, 0.05))
        axes.tick_params(axis="x", labelsize=9, colors=INK)
    _title(scored, "3  score each resample")
    _title(says, "4  95% interval of the accuracy")


HALVES = (_predictions, _scores)


def _made():
    """Random numbers for the resamples, and which rows of which patient are right."""
    rng = np.random.default_rng(7)
    skill = rng.beta(5, 1.2, size=(N_PATIENTS, 1))
    return rng, rng.random((N_PATIENTS, N_ROWS)) < skill


def _title(figure, title):
    figure.suptitle(title, fontsize=11, weight="bold", color=INK, x=0.03, ha="left")


def _cells(axes, right):
    """A column for each patient, a cell for each row."""
    colours = mpl.colors.ListedColormap([ORANGE, BLUE])
    axes.pcolormesh(right.T, cmap=colours, vmin=0, vmax=1, edgecolor="white", linewidth=0.6)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


def _key(axes):
    """What the two colours mean, above the cells."""
    for colour, name in ((BLUE, "right"), (ORANGE, "wrong")):
        axes.plot([], [], "s", color=colour, label=name)
    axes.legend(
        frameon=False,
        ncols=2,
        fontsize=9,
        handletextpad=0.1,
        columnspacing=1,
        loc="lower left",
        bbox_to_anchor=(-0.03, 0.97),
    )


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
    axes.set_xlabel("accuracy of a resample", color=INK)
    axes.set_ylabel(f"how many of {result.n_resamples} resamples", color=INK)
    axes.set_yticks([])
    axes.spines[["top", "left", "right"]].set_visible(False)


def _intervals(axes, results):
    """An estimate with its interval for each way to resample."""
    for k, (name, result) in enumerate(results.items()):
        low, high = result.confidence_interval
        colour = GREY if k else BLUE
        axes.plot([low, high], [k, k], color=colour, linewidth=3, solid_capstyle="butt")
        axes.plot(result.estimate, k, "o", color=colour, markersize=8)
        says = "for other rows of these patients only" if k else "for other patients"
        centre = {"ha": "center", "x": result.estimate}
        axes.text(
            y=k - 0.17, s=f"{name}: {result}", fontsize=9.5, color=INK, weight="bold", **centre
        )
        axes.text(y=k + 0.24, s=says, fontsize=9, color=colour, **centre)
    axes.set_ylim(1.6, -0.55)
    axes.set_xlabel("accuracy on new data", color=INK)
    axes.set_yticks([])
    axes.spines[["top", "left", "right"]].set_visible(False)


if __name__ == "__main__":
    mpl.use("Agg")
    how_it_works().savefig(Path(__file__).parent / "front.png", dpi=90)
