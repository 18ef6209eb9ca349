"""Pictures draw the numbers of their results: each is where some line, mark or area is."""

import numpy as np
import pytest
from identity_cases import quiet, rows_of

import skboot

pytestmark = pytest.mark.identity

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")

OPTIONS = {"n_resamples": 39, "random_state": 0}


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    y, p = rows_of("probability", rng, 80)
    other = np.round(0.5 * p + 0.5 * rng.random(80), 2)
    systems = {"A": (p > 0.4).astype(int), "B": (other > 0.5).astype(int)}
    systems["C"] = np.where(rng.random(80) < 0.3, 1 - systems["A"], systems["A"])
    return rng, y, p, other, systems


def points_of(ax):
    """All points of lines, marks and areas, (n, 2)."""
    found = [line.get_xydata() for line in ax.lines]
    for one in ax.collections:
        found += [path.vertices for path in one.get_paths() if len(one.get_offsets()) <= 1]
        found.append(np.asarray(one.get_offsets()))
    found += [
        patch.get_patch_transform().transform(patch.get_path().vertices) for patch in ax.patches
    ]
    return np.vstack([np.asarray(one, dtype=float).reshape(-1, 2) for one in found])


def assert_drawn(display, *values, axis=0):
    drawn = np.unique(points_of(display.ax_)[:, axis])
    for value in np.ravel(values):
        assert np.min(np.abs(drawn - value)) < 1e-9, value
    pyplot.close(display.figure_)


def assert_curve(display, x, y):
    """Every point of a curve is drawn as it is."""
    drawn = points_of(display.ax_)
    for point in np.transpose([x, y]):
        if np.isfinite(point).all():
            assert np.abs(drawn - point).max(axis=1).min() < 1e-9, point


def texts_of(display):
    return " ".join(text.get_text() for text in display.ax_.texts)


def test_intervals_are_drawn_where_they_are(case):
    _, y, _, _, systems = case
    results = [
        quiet(skboot.bootstrap_score, y, own, metric="f1", **OPTIONS) for own in systems.values()
    ]
    display = quiet(skboot.plots.IntervalDisplay.from_results, results)
    told = texts_of(display)
    for one in results:
        assert str(one) in told
    assert_drawn(display, *[[one.estimate, *one.confidence_interval] for one in results])


@pytest.mark.parametrize("options", [{}, {"reference": "B"}, {"adjust": None}])
def test_differences_are_drawn_with_both_intervals(case, options):
    _, y, _, _, systems = case
    result = quiet(skboot.compare_systems, y, systems, metric="f1", **options, **OPTIONS)
    display = quiet(skboot.plots.ComparisonDisplay.from_result, result)
    values = []
    for pair in result.pairs:
        wide = pair.simultaneous_interval or pair.confidence_interval
        values.append([pair.difference, *pair.confidence_interval, *wide])
    turned = [value if value[0] in display.differences else [-x for x in value] for value in values]
    drawn = [value for value in turned if value[0] in display.differences]
    assert len(drawn) == len(display.differences) >= 2
    assert_drawn(display, *drawn)


def test_ranks_and_mean_ranks_are_drawn(case):
    _, y, _, _, systems = case
    rng = np.random.default_rng(3)
    result = quiet(skboot.compare_systems, y, systems, metric="f1", **OPTIONS)
    display = quiet(skboot.plots.RankDisplay.from_result, result)
    rows = result.ranks().rows
    for told, values in ((display.lows, [row.low for row in rows]),
                         (display.highs, [row.high for row in rows])):  # fmt: skip
        np.testing.assert_array_equal(np.sort(told), np.sort(values))
    assert_drawn(display, *[[row.rank, row.low, row.high] for row in rows])
    table = {f"set {k}": dict(zip("ABC", rng.normal([0, 0.5, 1]), strict=True)) for k in range(12)}
    result = quiet(skboot.compare_across, table, greater_is_better=True, **OPTIONS)
    display = quiet(skboot.plots.CriticalDifferenceDisplay.from_result, result)
    ranks = result.mean_ranks()
    drawn = np.unique(points_of(display.ax_)[:, 0])
    gaps = np.abs(drawn[:, None] - drawn)
    assert np.min(np.abs(gaps - ranks.critical_difference)) < 1e-9
    assert_drawn(display, *[row.mean_rank for row in ranks.rows])


def test_a_distribution_is_drawn_with_its_limits_and_counts(case):
    _, y, _, _, systems = case
    result = quiet(skboot.bootstrap_score, y, systems["A"], metric="f1", interval="percentile",
                   **OPTIONS)  # fmt: skip
    display = quiet(skboot.plots.BootstrapDistributionDisplay.from_result, result)
    assert any(one.get_extents().height > 0 for one in display.ax_.patches)
    assert_drawn(display, [result.estimate, *result.confidence_interval])


@pytest.mark.parametrize("curve", ["roc", "precision_recall", "decision"])
def test_a_curve_is_drawn_with_its_band_and_reference(case, curve):
    _, y, p, other, _ = case
    found = quiet(skboot.bootstrap_curve, y, {"A": p, "B": other}, curve=curve, band="pointwise",
                  **OPTIONS)  # fmt: skip
    for one in (found["A"], found["difference"]):
        display = quiet(skboot.plots.CurveBandDisplay.from_result, one)
        assert_curve(display, one.x, one.estimate)
        assert_curve(display, one.x, one.low)
        assert_curve(display, one.x, one.high)
        if curve in ("decision", "precision_recall"):
            assert_curve(display, one.x[[0, -1]], one.reference[[0, -1]])
        pyplot.close(display.figure_)


def test_components_of_runs_are_drawn_by_their_sizes(case):
    rng, y, *_ = case
    runs = np.array([np.where(rng.random(80) < 0.1 * k, 1 - y, y) for k in range(1, 5)])
    result = quiet(skboot.bootstrap_runs, y, runs, metric="accuracy", **OPTIONS)
    display = quiet(skboot.plots.VarianceComponentsDisplay.from_result, result)
    parts, n = result.variance_components, result.n_units
    expected = [0, parts["seed"], parts["test"] / n, parts["interaction"] / n]
    widths = [one.get_width() for one in display.ax_.patches]
    np.testing.assert_allclose(np.sort(widths), np.sqrt(np.sort(expected)), atol=1e-9)
    pyplot.close(display.figure_)


def test_a_plan_is_drawn_with_what_sizes_reach(case):
    _, y, _, _, systems = case
    pilot = quiet(skboot.bootstrap_score, y, systems["A"], metric="f1", **OPTIONS)
    plan = quiet(skboot.plan_evaluation, pilot, half_width=0.04)
    display = quiet(skboot.plots.PlanDisplay.from_result, plan)
    for points in plan._curves.values():
        assert_curve(display, *np.transpose(points))
    assert_drawn(display, plan.n_units)
