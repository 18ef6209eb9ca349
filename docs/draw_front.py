"""Draw the picture of the landing page and the tree of questions, when the site is built.

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
    """Write all pictures."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    PICTURES.mkdir(exist_ok=True)
    for figure, name in zip(halves(), ("front_predictions", "front_scores"), strict=True):
        figure.savefig(PICTURES / f"{name}.png", dpi=140)
    tree().savefig(PICTURES / "which_function.png", dpi=110)
    plt.close("all")


# ------------------------------------------------------------------ the idea


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
    _title(says, "4  95 % interval of the accuracy")


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


# ------------------------------------------------------------------ the tree

TREE = {
    "predictions of one\ntrained system": {
        "what would other test\ndata differ in?": [
            ("rows", "bootstrap_score(y_true, y_pred)"),
            ("persons, documents", "... groups="),
            ("both sides of a pair", "... groups= of two columns"),
            ("stretches of time", "... block_length="),
        ],
        "what is the claim\nabout?": [
            ("subgroups, their disparity", "... by="),
            ("average over tasks", "... average_over="),
            ("each class, at once", '... adjust="max-t"'),
            ("few human labels, a judge", "... proxy="),
            ("a whole curve", "bootstrap_curve"),
            ("a published accuracy", "proportion_interval"),
        ],
    },
    "many batches": {"": [("or many machines", "BootstrapAccumulator")]},
    "runs of one method": {"": [("ten seeds, ...", "bootstrap_runs")]},
    "an estimator\nand its data": {
        "a test set as well?": [
            ("no", "BootstrapScorer(...).fit(X, y)"),
            ("yes", "... .fit(X, y, X_test=, y_test=)"),
            ("it is a search", "search_score"),
            ("fold scores alone", "corrected_t"),
            ("would more rows help", "learning_curve"),
        ]
    },
    "two or more\nto compare": {
        "what was, or will be,\ntrained?": [
            ("systems, same rows", "compare_systems"),
            ("who is best?", "... .ranks(), .top(k)"),
            ("a release", "... .verdict(margin)"),
            ("after every batch", '... interval="anytime"'),
            ("test sets of their own", "... paired=False"),
            ("runs of each method", "compare_runs"),
            ("estimators", "compare_methods"),
            ("scores by data set", "compare_across"),
            ("a printed table", "check_table"),
        ]
    },
    "nothing yet": {"": [("how much data?", "plan_evaluation")]},
}


def tree():
    """What you have, the question, its answers, and the call of each."""
    import matplotlib.pyplot as plt

    n_leaves = sum(len(answers) for asked in TREE.values() for answers in asked.values())
    figure, axes = plt.subplots(figsize=(10, 0.3 * n_leaves + 0.6), layout="constrained")
    y = 0.0
    for have, asked in TREE.items():
        first = y
        for question, answers in asked.items():
            start = y
            for answer, call in answers:
                axes.text(0.485, y, answer, va="center", fontsize=10, color=INK)
                axes.text(0.69, y, call, va="center", fontsize=9.5, family="monospace", color=BLUE)
                y += 1
            centre = (start + y - 1) / 2
            if question:
                axes.text(
                    0.26, centre, question, va="center", fontsize=10, color=INK, style="italic"
                )
            for k in range(len(answers)):
                axes.plot([0.44, 0.475], [centre, start + k], color=GREY, linewidth=0.8)
        box = {"boxstyle": "round,pad=0.4", "facecolor": "#cfe3f5", "edgecolor": "none"}
        middle = (first + y - 1) / 2
        axes.text(
            0.01, middle, have, va="center", fontsize=10.5, weight="bold", color=INK, bbox=box
        )
        y += 0.7
    axes.set_xlim(0, 1)
    axes.set_ylim(y - 0.5, -0.7)
    axes.set_axis_off()
    return figure


if __name__ == "__main__":
    mpl.use("Agg")
    how_it_works().savefig(Path(__file__).parent / "front.png", dpi=90)
