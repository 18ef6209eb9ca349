"""CurveBandDisplay: curves and bands as they are drawn."""

import numpy as np
import pytest
from displayed import labels_of
from numpy.testing import assert_allclose
from scipy.special import ndtr, ndtri
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.svm import LinearSVC

from skboot import bootstrap_curve
from skboot.plots import CurveBandDisplay

pytest.importorskip("matplotlib")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = (X[:, 0] + RNG.normal(size=200) > 0).astype(int)
P = 1 / (1 + np.exp(-X[:, 0]))
OTHER = 1 / (1 + np.exp(-X[:, 0] - RNG.normal(size=200)))
FEW = {"n_resamples": 99, "random_state": 0}
AREAS = {
    "roc": f"AUC = {roc_auc_score(Y, P):.2f}, ",
    "precision_recall": f"AP = {average_precision_score(Y, P):.2f}, ",
}
NAMES = ["roc", "det", "precision_recall", "calibration", "calibration_smooth", "decision"]


@pytest.mark.parametrize("curve", NAMES)
def test_a_curve_is_drawn_with_its_band_and_reference(curve):
    result = bootstrap_curve(Y, P, curve=curve, **FEW)
    display = result.plot()
    assert isinstance(display, CurveBandDisplay)
    [line], [band] = display.lines_, display.bands_
    assert_allclose(line.get_xydata(), np.column_stack((result.x, result.estimate)))
    corners = band.get_paths()[0].vertices
    assert corners[:, 1].min() == pytest.approx(result.low.min())
    assert corners[:, 1].max() == pytest.approx(result.high.max())
    assert display.reference_ is not None
    title = result._title[0].upper() + result._title[1:]
    band = f"{title} ({AREAS.get(curve, '')}95% simultaneous band)"
    assert labels_of(display.ax_.get_legend())[0] == band
    assert display.figure_ is display.ax_.figure


def test_a_det_curve_is_a_straight_line_where_scores_are_normal():
    # Both rates are normal deviates of the threshold: the axes are those of scikit-learn's display.
    display = bootstrap_curve(Y, P, curve="det", **FEW).plot()
    deviates = ndtri([0.01, 0.2, 0.5, 0.95])
    shown = display.ax_.transData.transform(np.column_stack((ndtr(deviates), ndtr(-deviates))))
    for places, sign in zip(shown.T, (1, -1), strict=True):
        slopes = np.diff(places) / np.diff(deviates)
        assert_allclose(slopes, slopes[0])
        assert sign * slopes[0] > 0
    # Rates of 0 and 1 stand at the ends.
    ends = display.ax_.transAxes.inverted().transform(display.ax_.transData.transform([[0.0, 1.0]]))
    assert_allclose(ends, [[0.0, 1.0]], atol=1e-9)


def test_a_decision_curve_shows_its_whole_band():
    result = bootstrap_curve(Y, 1 - P, curve="decision", grid=[0.05, 0.2, 0.4, 0.5], **FEW)
    assert result.plot().ax_.get_ylim()[0] < result.low.min()


def test_curves_on_given_axes_have_their_legend_within_the_figure():
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, ax = plt.subplots()
    bootstrap_curve(Y, {"new": P, "old": OTHER}, **FEW).plot(ax=ax)
    figure.canvas.draw()
    box, around = ax.get_legend().get_window_extent(), figure.bbox
    assert around.y0 <= box.y0
    assert box.y1 <= around.y1


def test_an_overlay_differs_in_colour_and_dashes():
    table = bootstrap_curve(Y, {"new": P, "old": OTHER}, **FEW)
    display = table.plot()
    first, second = display.lines_
    assert first.get_color() != second.get_color()
    assert first.get_linestyle() != second.get_linestyle()
    labels = labels_of(display.ax_.get_legend())
    areas = [f"AUC = {roc_auc_score(Y, score):.2f}" for score in (P, OTHER)]
    assert labels[:2] == [
        f"new ({areas[0]}, 95% simultaneous band)",
        f"old ({areas[1]}, 95% simultaneous band)",
    ]


@pytest.mark.parametrize("errors", [3, 30, 300])
def test_areas_of_one_picture_have_the_same_decimals(errors):
    """Of a system that is nearly always right the area is no 1.00, and that of others as long."""
    truth = np.arange(2000) % 2
    best = truth.astype(float)
    best[:errors] = 0.5
    table = bootstrap_curve(truth, {"best": best, "other": truth + 1.2 * np.sin(np.arange(2000))})
    texts = [
        label.split(" = ")[1].split(",")[0]
        for label in labels_of(table.plot().ax_.get_legend())[:2]
    ]
    areas = [table[name].area for name in ("best", "other")]
    [n_decimals] = {len(text.partition(".")[2]) for text in texts}
    assert 2 <= n_decimals <= 4
    for text, area in zip(texts, areas, strict=True):
        assert float(text.lstrip(">")) == pytest.approx(area, abs=10.0**-n_decimals)
        assert float(text.lstrip(">")) < 1


def test_a_difference_is_drawn_by_itself_around_zero():
    table = bootstrap_curve(Y, {"new": P, "old": OTHER}, **FEW)
    display = CurveBandDisplay.from_result(table["difference"])
    assert (display.reference_.get_ydata() == 0).all()
    assert display.ax_.get_ylabel() == "Difference of true positive rate"


def test_curves_of_two_kinds_are_refused():
    one, other = (bootstrap_curve(Y, P, curve=curve, **FEW) for curve in ("roc", "det"))
    with pytest.raises(ValueError, match="one kind"):
        CurveBandDisplay.from_result({"a": one, "b": other})
    with pytest.raises(ValueError, match="CurveResult"):
        CurveBandDisplay.from_result({"a": 3})


def test_several_curves_have_no_common_name():
    results = bootstrap_curve(Y, {"a": P, "b": 1 - P}, curve="roc", **FEW)
    display = CurveBandDisplay.from_result(results)
    for draw in (display.plot, results.plot):
        with pytest.raises(ValueError, match=r"'name' parameter .* with several curves"):
            draw(name="model")
    legend = results["a"].plot(name="model").ax_.get_legend()
    assert labels_of(legend)[0].startswith("model (")


def test_predictions_are_drawn_as_their_result():
    display = CurveBandDisplay.from_predictions(Y, P, name="Model", curve="det", **FEW)
    assert display.results_ == bootstrap_curve(Y, P, curve="det", **FEW)
    assert labels_of(display.ax_.get_legend())[0] == "Model (95% simultaneous band)"
    again = CurveBandDisplay.from_predictions(Y, {"a": P, "b": OTHER}, ax=display.ax_, **FEW)
    assert again.ax_ is display.ax_
    assert len(again.lines_) == 2
    with pytest.raises(TypeError, match="unexpected keyword argument 'metric'"):
        CurveBandDisplay.from_predictions(Y, P, metric="roc_auc")
    with pytest.raises(ValueError, match=r"'curve' .* CurveBandDisplay\.from_predictions"):
        CurveBandDisplay.from_predictions(Y, P, curve="auc")


@pytest.mark.parametrize("positive", [None, "no"])
def test_an_estimator_is_drawn_by_its_probabilities(positive):
    text = np.where(Y == 1, "yes", "no")
    model = LogisticRegression().fit(X[:100], text[:100])
    display = CurveBandDisplay.from_estimator(
        model, X[100:], text[100:], pos_label=positive, curve="calibration", **FEW
    )
    column = model.predict_proba(X[100:])[:, 1 if positive is None else 0]
    wanted = bootstrap_curve(
        text[100:], column, pos_label=positive or "yes", curve="calibration", **FEW
    )
    assert display.results_ == wanted
    assert labels_of(display.ax_.get_legend())[0].startswith("LogisticRegression")


@pytest.mark.parametrize("positive", [0, 1])
def test_an_estimator_without_probabilities_has_curves_of_scores_alone(positive):
    model = LinearSVC().fit(X[:100], Y[:100])
    display = CurveBandDisplay.from_estimator(model, X[100:], Y[100:], pos_label=positive, **FEW)
    sign = 1 if positive else -1
    scores = sign * model.decision_function(X[100:])
    assert display.results_ == bootstrap_curve(Y[100:], scores, pos_label=positive, **FEW)
    with pytest.raises(ValueError, match="predict_proba"):
        CurveBandDisplay.from_estimator(model, X[100:], Y[100:], curve="decision")
    with pytest.raises(ValueError, match="two classes"):
        CurveBandDisplay.from_estimator(LinearSVC(), X, Y)
    with pytest.raises(ValueError, match="'pos_label'"):
        CurveBandDisplay.from_estimator(model, X, Y, pos_label=3)
