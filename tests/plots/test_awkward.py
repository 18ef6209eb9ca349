"""Every kind of picture of awkward data: nothing is cut, hidden or on top of something else."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from displayed import misplaced, result, shown_texts

import skboot
from skboot import plots
from skboot.inference import ConfidenceInterval
from skboot.results import ResultTable

plt = pytest.importorskip("matplotlib.pyplot")

RUN = "/data/experiments/2024-11-05/transformer-large-with-adapters/checkpoint-{}000"
NAMES = [RUN.format(k) for k in range(1, 6)]
OPTIONS = {"n_resamples": 99, "random_state": 0}
RNG = np.random.default_rng(0)
Y = np.tile([0, 1, 1, 0, 1], 40)
HARD = RNG.random(200) < 0.4
SYSTEMS = {name: Y ^ (HARD & (RNG.random(200) < 0.2 + 0.1 * k)) for k, name in enumerate(NAMES)}
SCORES = {name: np.round(Y + RNG.normal(size=200) * (1 + k), 1) for k, name in enumerate(NAMES)}
RUNS = np.array([np.where(RNG.random(200) < 0.1 * k, 1 - Y, Y) for k in range(1, 5)])


def test_what_a_display_does_not_draw_is_refused_by_its_argument():
    one = quiet(skboot.bootstrap_score, Y, SYSTEMS[NAMES[0]], **OPTIONS)
    for display in (
        plots.IntervalDisplay,
        plots.ComparisonDisplay,
        plots.RankDisplay,
        plots.CriticalDifferenceDisplay,
        plots.BootstrapDistributionDisplay,
        plots.VarianceComponentsDisplay,
        plots.PlanDisplay,
        plots.CurveBandDisplay,
    ):
        for value in (Y, ResultTable([one])):
            with pytest.raises(ValueError, match=rf"^The 'result' parameter of {display.__name__}"):
                display.from_result(value)


def quiet(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


def compared(**options):
    options = {"metric": "balanced_accuracy", **OPTIONS, **options}
    return quiet(skboot.compare_systems, Y, SYSTEMS, **options)


def across():
    table = {f"set {k}": dict(zip(NAMES, RNG.normal(np.arange(5) / 4), strict=True))
             for k in range(12)}  # fmt: skip
    return quiet(skboot.compare_across, table, greater_is_better=True, **OPTIONS)


def intervals():
    """Infinite and undefined limits, baselines out of sight, several panels."""
    limits = [(-np.inf, 0.9), (0.7, np.inf), (np.nan, np.nan), (0.8, 0.8)]
    rows = {
        name: result(interval=ConfidenceInterval(*pair, 0.95, "t"), naive_estimate=-20.0)
        for name, pair in zip(NAMES, limits, strict=False)
    }
    error = result(metric="rmse", bounds=(0, np.inf), greater_is_better=False)
    return ResultTable({"accuracy": ResultTable(rows), "rmse": error})


def instability(kind):
    difference = RNG.random(200)
    answers = RNG.random(200)
    ranges = {} if kind == "label" else {"low": answers - difference, "high": answers + difference}
    display = plots.PredictionInstabilityDisplay(
        answers=answers, difference=difference, kind=kind, name=" ".join(NAMES), **ranges
    )
    return display.plot


def curves(curve):
    found = quiet(skboot.bootstrap_curve, Y, SCORES, curve=curve, **OPTIONS)
    return lambda ax=None: plots.CurveBandDisplay.from_result(found, ax)


def probabilities(curve):
    found = quiet(skboot.bootstrap_curve, Y, 1 / (1 + np.exp(-SCORES[RUN.format(1)])), curve=curve,
                  **OPTIONS)  # fmt: skip
    return lambda ax=None: plots.CurveBandDisplay.from_result(found, ax, name=RUN)


def distribution(y_pred, metric, **options):
    found = quiet(skboot.bootstrap_score, Y, y_pred, metric=metric, **OPTIONS)
    return lambda ax=None: found.plot(ax=ax, **options)


def plan():
    score = quiet(skboot.bootstrap_score, Y, SCORES[NAMES[0]], metric="roc_auc", **OPTIONS)
    found = quiet(skboot.plan_evaluation, score, half_width=0.01)
    return lambda ax=None: plots.PlanDisplay.from_result(found, ax)


def components():
    found = quiet(skboot.bootstrap_runs, Y, RUNS, metric="accuracy", **OPTIONS)
    return lambda ax=None: plots.VarianceComponentsDisplay.from_result(found, ax)


def checked():
    found = quiet(
        skboot.check_table,
        {"system": NAMES, "score": ["0.81", "0.83", "0.84", "0.9", "0.99"]},
        n=100,
    )
    return lambda ax=None: plots.IntervalDisplay.from_check(found, ax)


KINDS = {
    "intervals": lambda: intervals().plot,
    "printed table": checked,
    "differences": lambda: compared().plot,
    "differences of two metrics": lambda: compared(metric=["accuracy", "f1"]).plot,
    "differences from a reference": lambda: compared(reference=NAMES[2]).plot,
    "ranks": lambda: lambda ax=None: plots.RankDisplay.from_result(compared(), ax),
    "mean ranks": lambda: lambda ax=None: plots.CriticalDifferenceDisplay.from_result(across(), ax),
    "distribution": lambda: distribution(SYSTEMS[NAMES[0]], "f1", name=" ".join(NAMES)),
    "distribution without width": lambda: distribution(Y, "precision"),
    "roc": lambda: curves("roc"),
    "det": lambda: curves("det"),
    "precision_recall": lambda: curves("precision_recall"),
    "calibration": lambda: probabilities("calibration"),
    "decision": lambda: probabilities("decision"),
    "plan": plan,
    "components": components,
    "instability of values": lambda: instability("value"),
    "instability of labels": lambda: instability("label"),
}


@pytest.fixture(scope="module")
def draw():
    made = {}
    return lambda kind: made[kind] if kind in made else made.setdefault(kind, KINDS[kind]())


def test_every_kind_of_picture_is_here():
    source = Path(__file__).read_text(encoding="utf-8")
    for name in set(plots.__all__) - {"BootstrapDistributionDisplay"}:
        assert f"plots.{name}" in source


@pytest.mark.parametrize("shape", [(1, 2), (2, 1)], ids=["side by side", "one below the other"])
@pytest.mark.parametrize("kind", KINDS)
def test_all_texts_are_within_a_figure_of_two_and_on_no_other(kind, shape, draw):
    figure, axes = plt.subplots(*shape, figsize=(5.5 * shape[1], 4.5 * shape[0]))
    for ax in axes:
        draw(kind)(ax=ax)
    assert misplaced(figure) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_display_alone_has_all_texts_in_its_figure_and_axes_that_keep_most_of_it(kind, draw):
    display = draw(kind)()
    assert misplaced(display.figure_) == []  # It draws the figure.
    width = display.figure_.get_figwidth()
    # Names and numbers beside rows are what such a picture is of.
    least = 0.6 if not hasattr(display, "names") else 0.3
    assert display.ax_.get_position().width >= min(least, 2.5 / width)


def luminance(colour):
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


def contrast(colour, ground):
    """As the Web Content Accessibility Guidelines define it, of a colour with its opacity."""
    from matplotlib.colors import to_rgba

    *rgb, alpha = to_rgba(colour)
    seen = alpha * np.array(rgb) + (1 - alpha) * np.array(to_rgba(ground)[:3])
    light, dark = sorted((luminance(seen), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("style", ["dark_background", "ggplot"])
@pytest.mark.parametrize("kind", KINDS)
def test_marks_are_seen_on_every_style(kind, style, draw):
    with plt.style.context(style):
        figure = draw(kind)().figure_
        for text in shown_texts(figure):
            ax = next(
                (ax for ax in figure.axes if ax.bbox.overlaps(text.get_window_extent())), figure
            )
            assert contrast(text.get_color(), ax.get_facecolor()) > 2, text
        for ax in figure.axes:
            ground = ax.get_facecolor()
            for line in ax.lines:
                if line.get_alpha() is None:
                    colours = [line.get_color(), line.get_markerfacecolor()]
                    assert max(contrast(colour, ground) for colour in colours) > 1.7, line
            for area in (*ax.collections, *ax.patches):
                colours = np.atleast_2d(area.get_facecolor())
                for colour in colours[:1] if len(colours) and colours.size else []:
                    assert colour[3] == 0 or contrast(colour, ground) > 1.12, area


def test_positive_scores_of_several_sizes_are_seen_on_a_logarithmic_axis():
    rows = [
        quiet(skboot.bootstrap_score, None, np.exp(RNG.normal(m, 1, 60)), metric="mean", **OPTIONS)
        for m in (-6, -1, 5)
    ]
    _, ax = plt.subplots()
    ax.set_xscale("log")
    before = plots.IntervalDisplay.from_results(rows, ax)
    after = plots.IntervalDisplay.from_results(rows)
    after.ax_.set_xscale("log")
    for display in (before, after):
        display.figure_.canvas.draw()
        start, stop = display.ax_.get_xlim()
        assert start == pytest.approx(display.lows.min(), rel=1)
        assert stop == pytest.approx(display.highs.max(), rel=1)
        places = display.ax_.transAxes.inverted().transform(
            display.ax_.transData.transform(np.column_stack([display.estimates, range(3)]))
        )
        assert np.diff(places[:, 0]).min() > 0.2


@pytest.mark.parametrize("kind", ["distribution", "roc", "precision_recall", "plan"])
def test_axes_that_are_logarithmic_before_show_what_they_can(kind, draw):
    for side in "xy":
        _, ax = plt.subplots()
        getattr(ax, f"set_{side}scale")("log")
        draw(kind)(ax=ax)
        ax.figure.canvas.draw()
        start, stop = getattr(ax, f"get_{side}lim")()
        assert 1e-6 < start < stop < 1e6


@pytest.mark.parametrize("metric", ["precision", "accuracy", "matthews_corrcoef"])
@pytest.mark.parametrize("errors", [0, 2])
def test_bars_and_ticks_stay_in_the_range_of_the_metric(metric, errors):
    y = np.repeat([0, 1], [36, 4])
    y_pred = y.copy()
    y_pred[[*range(errors), *range(36, 36 + errors)]] ^= 1
    found = quiet(skboot.bootstrap_score, y, y_pred, metric=metric, **OPTIONS)
    display = found.plot()
    display.figure_.canvas.draw()
    low, high = found._evidence.facts.bounds
    edges = [edge for bar in display.bars_ for edge in (bar.get_x(), bar.get_x() + bar.get_width())]
    assert low <= min(edges) < max(edges) <= high
    start, stop = display.ax_.get_xlim()
    ticks = [tick for tick in display.ax_.get_xticks() if start <= tick <= stop]
    assert low - 1e-9 <= min(ticks) < max(ticks) <= high + 1e-9


def test_lengths_of_bars_of_components_are_written_beside_them(draw):
    display = draw("components")()
    labels = [text.get_text() for text in display.ax_.texts]
    widths = [bar.get_width() for bar in display.bars_]
    for label, width in zip(labels, widths, strict=True):
        if label != "not identified":
            assert float(label) == pytest.approx(width, rel=0.05)


def test_rows_of_thirty_systems_are_folded():
    systems = {f"system {k:02d}": Y ^ (HARD & (RNG.random(200) < 0.02 * k)) for k in range(30)}
    found = quiet(skboot.compare_systems, Y, systems, **OPTIONS)
    display = plots.ComparisonDisplay.from_result(found, pairs="all")
    assert len(display.differences) == 435
    drawn = [x for line in display.points_ for x in line.get_xdata()]
    assert sorted(drawn) == sorted(display.differences)
    assert display.figure_.get_figheight() < 20
    assert len({ax.get_xlim() for ax in display.axes_}) == 1
    assert misplaced(display.figure_) == []
    # Those with the best alone are shown where nobody asks for all, with their numbers.
    display = found.plot()
    assert len(display.texts_) == len(display.differences) == 29
    assert misplaced(display.figure_) == []


@pytest.mark.parametrize("metric", ["roc_auc", "neg_brier_score", "average_precision"])
def test_metrics_are_written_in_words_on_every_axis(metric):
    p = 1 / (1 + np.exp(-SCORES[NAMES[0]]))
    score = quiet(skboot.bootstrap_score, Y, p, metric=metric, **OPTIONS)
    pairs = quiet(skboot.compare_systems, Y, {"A": p, "B": p[::-1]}, metric=metric, **OPTIONS)
    displays = [
        score.plot(),
        plots.IntervalDisplay.from_result(score),
        plots.IntervalDisplay.from_results({"A": {metric: score}, "B": {metric: score}}),
        pairs.plot(),
        plots.RankDisplay.from_result(pairs),
        quiet(skboot.plan_evaluation, score, half_width=0.01).plot(),
    ]
    for display in displays:
        for text in shown_texts(display.figure_):
            assert metric not in text.get_text()


def test_curves_take_the_keyword_arguments_of_scikit_learn():
    display = plots.CurveBandDisplay.from_predictions(
        Y,
        SCORES[NAMES[0]],
        name="model",
        curve_kwargs={"color": "red"},
        plot_chance_level=True,
        chance_level_kw={"color": "green"},
        despine=True,
        **OPTIONS,
    )
    assert display.lines_[0].get_color() == "red"
    assert display.reference_.get_color() == "green"
    assert not display.ax_.spines["top"].get_visible()
    styles = [{"color": colour} for colour in "rgbkm"]
    found = quiet(skboot.bootstrap_curve, Y, SCORES, **OPTIONS)
    display = plots.CurveBandDisplay.from_result(found, curve_kwargs=styles)
    assert [line.get_color() for line in display.lines_] == list("rgbkm")
    with pytest.raises(ValueError, match="must be a dict, or a list of 5"):
        plots.CurveBandDisplay.from_result(found, curve_kwargs=styles[:2])
