"""Curves on resamples against scikit-learn's functions on the repeated rows of each."""

import numpy as np
import pytest
from designs import EXAMPLES, N
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.calibration import calibration_curve
from sklearn.metrics import det_curve, precision_recall_curve, roc_curve

from skboot.metrics.calibration import fitted_lines, sums_at_points, terms_of_logistic_fit
from skboot.metrics.curves import (
    CalibrationBins,
    CurveOfCallable,
    DecisionCurve,
    Det,
    PrecisionRecall,
    Roc,
    SmoothCalibration,
    TwoClassRows,
)
from skboot.resampling.coding import CodedRows
from skboot.resampling.plan import ResamplingPlan

N_RESAMPLES = 7
RATES = np.array([0.0, 0.003, 0.05, 0.1, 1 / 3, 0.5, 0.77, 0.95, 1.0])


def drawn(kind, rng):
    """Truth and probabilities: all different, or tied, or with rare positives."""
    rare = kind == "rare positives"
    positive = rng.random(N) < (0.05 if rare else 0.4)
    positive[:2] = True, False
    score = 1 / (1 + np.exp(0.5 - rng.normal(size=N) - 1.5 * positive))
    return positive, score.round(1) if kind == "tied" else score


def interpolated(grid, rates, values):
    """Linear between operating points; of several at one rate the last, also after rounding."""
    nearest = rates[np.argmin(np.abs(rates - grid[:, None]), axis=1)]
    return np.interp(np.where(np.abs(nearest - grid) < 1e-12, nearest, grid), rates, values)


def roc(y, s, w, grid):
    fpr, tpr, _ = roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    # Sums of weights in another order differ by rounding.
    fpr = fpr[np.searchsorted(fpr, fpr - 1e-14)]
    return interpolated(grid, fpr, tpr)


def det(y, s, w, grid):
    fpr, fnr, _ = det_curve(y, s, sample_weight=w)
    # Where the rates that det_curve keeps end, it tells nothing.
    known = (grid > fpr.min()) & (grid < fpr.max())
    return np.where(known, interpolated(grid, fpr[::-1], fnr[::-1]), np.nan)


def precision(y, s, w, grid):
    precisions, recalls, _ = precision_recall_curve(y, s, sample_weight=w)
    return [precisions[np.flatnonzero(recalls >= x - 1e-12)[-1]] for x in grid]


def net_benefit(y, s, w, grid):
    w = np.ones(len(y)) if w is None else w
    treated = s[:, None] >= grid
    hits, alarms = (w * y) @ treated, (w * ~y) @ treated
    return (hits - alarms * grid / (1 - grid)) / w.sum()


def local_line(y, s, w, grid, bandwidth):
    w = np.ones(len(y)) if w is None else w
    values = []
    for x, h in zip(grid, bandwidth, strict=True):
        root = np.sqrt(w * np.maximum(1 - ((s - x) / h) ** 2, 0))
        lines = np.column_stack((root, root * (s - x)))
        values.append(np.linalg.lstsq(lines, root * y, rcond=None)[0][0])
    return np.clip(values, 0, 1)


def replicates(curve, rows, design):
    """The curve on each resample, with the rows of each, and the curve on the data."""
    reduced = curve.reduce(rows)
    coding = CodedRows(reduced.code, reduced.n_codes, curve.reads, reduced.counts)
    plan = ResamplingPlan(design, N_RESAMPLES, np.random.SeedSequence(3))
    binding = plan.bind([coding, CodedRows(None, N, "rows")])
    block, by_row = binding.block(0)
    values = curve.evaluate(block, reduced)[:N_RESAMPLES]
    observed = curve.evaluate(binding.observed()[0], reduced)[0]
    return values, list(by_row.rows())[:N_RESAMPLES], observed


# As in test_contract.py: readings of other blocks are claimed in tests/resampling/test_block.py.
@pytest.fixture(params=["rows", "groups in strata"])
def design(request):
    return EXAMPLES[request.param]


@pytest.fixture(params=["different", "tied", "rare positives"])
def rows(request):
    positive, score = drawn(request.param, np.random.default_rng(1))
    return TwoClassRows(positive, positive, score, None)


@pytest.fixture(params=[False, True], ids=["equal", "weights"])
def weighted(request, rows):
    weight = np.random.default_rng(2).random(N) if request.param else None
    return TwoClassRows(rows.y_true, rows.positive, rows.score, weight)


def holds(curve, rows, design, function):
    """Hold every resample, and the data, against a function of repeated rows."""
    values, resamples, observed = replicates(curve, rows, design)
    resamples.append(np.arange(N))
    for found, of in zip([*values, observed], resamples, strict=True):
        weight = None if rows.sample_weight is None else rows.sample_weight[of]
        y, s = rows.positive[of], rows.score[of]
        if not y.any() or y.all():
            continue
        wanted = np.asarray(function(y, s, weight, curve.grid), dtype=float)
        assert_allclose(found[~np.isnan(wanted)], wanted[~np.isnan(wanted)], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("kind", "function"), [(Roc, roc), (Det, det)])
def test_rates_are_those_of_scikit_learn_on_repeated_rows(kind, function, weighted, design):
    holds(kind(RATES), weighted, design, function)


def test_precisions_are_those_of_scikit_learn_on_repeated_rows(weighted, design):
    holds(PrecisionRecall(RATES[1:]), weighted, design, precision)


def test_net_benefits_are_those_of_repeated_rows(weighted, design):
    holds(DecisionCurve(np.array([0.05, 0.1, 0.4, 0.95])), weighted, design, net_benefit)


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_bins_are_those_of_scikit_learn(rows, strategy):
    edges = np.linspace(0, 1, 11)
    if strategy == "quantile":
        edges = np.quantile(rows.score, np.linspace(0, 1, 6))
    curve = CalibrationBins.between(edges, rows)
    _, _, observed = replicates(curve, rows, EXAMPLES["rows"])
    n_bins = len(edges) - 1
    shares, means = calibration_curve(rows.positive, rows.score, n_bins=n_bins, strategy=strategy)
    assert_allclose(observed, shares, rtol=0, atol=1e-12)
    assert_allclose(curve.grid, means, rtol=0, atol=1e-12)


def test_bins_keep_their_edges_on_repeated_rows(weighted, design):
    curve = CalibrationBins.between(np.array([0.0, 0.2, 0.5, 0.6, 1.0]), weighted)

    def shares(y, s, w, grid):
        number = np.digitize(s, [0.2, 0.5, 0.6], right=True)
        w = np.ones(len(y)) if w is None else w
        return np.bincount(number, w * y, 4) / np.bincount(number, w, 4)

    holds(curve, weighted, design, shares)


def test_smoothed_shares_are_heights_of_local_lines(weighted, design):
    grid = np.array([0.2, 0.35, 0.5, 0.71])
    curve = SmoothCalibration.at(grid, weighted)
    holds(curve, weighted, design, lambda *rows: local_line(*rows, curve.bandwidth))


def test_a_function_is_called_on_repeated_rows(weighted, design):
    def net(y, s, grid, sample_weight=None):
        return net_benefit(y, s, sample_weight, grid)

    curve = CurveOfCallable(np.array([0.1, 0.4]), net, "net")
    holds(curve, weighted, design, net_benefit)


@pytest.mark.parametrize("kind", [Roc, PrecisionRecall])
def test_a_curve_is_undefined_where_a_class_is_absent(kind):
    positive = np.zeros(N, dtype=bool)
    positive[3] = True
    rows = TwoClassRows(positive, positive, np.arange(N) / N, None)
    values, resamples, _ = replicates(kind(np.array([0.5])), rows, EXAMPLES["rows"])
    lacks = np.array([not positive[of].any() for of in resamples])
    assert lacks.any()
    assert not lacks.all()
    assert (np.isnan(values[:, 0]) == lacks).all()


@pytest.mark.parametrize("n", [2, 3, 40, 4000])
def test_the_grid_of_a_curve_begins_and_ends_one_row_from_the_ends(n):
    positive = np.repeat([True, False], n)
    rows = TwoClassRows(positive, positive, np.arange(2 * n) / (2 * n), None)
    for kind in (Roc, PrecisionRecall, Det):
        grid = kind.on_own_grid(rows.sizes).grid
        assert_allclose(grid[[0, -1]], [1 / n, 1 - 1 / n])
        assert (np.diff(grid) > 0).all()


def test_a_decision_curve_ends_where_fewer_than_thirty_rows_are_treated(rows):
    grid = DecisionCurve.on_own_grid(rows.score).grid
    assert np.count_nonzero(rows.score >= grid[-1]) >= 30
    assert np.count_nonzero(rows.score >= grid[-1] + 0.01) < 30


def test_an_edge_on_a_bin_without_rows_is_left_out():
    positive = np.array([True, False, True, False])
    rows = TwoClassRows(positive, positive, np.array([0.1, 0.15, 0.8, 0.9]), None)
    curve = CalibrationBins.between(np.linspace(0, 1, 6), rows)
    assert_allclose(curve.grid, [0.125, 0.8, 0.9])
    assert_allclose(curve.edges, [0, 0.6, 0.8, 1])


def test_a_bin_of_weight_zero_is_at_the_mean_of_its_rows():
    positive = np.array([True, False, True, False])
    weight = np.array([0.0, 0.0, 1.0, 3.0])
    rows = TwoClassRows(positive, positive, np.array([0.1, 0.2, 0.8, 0.9]), weight)
    curve = CalibrationBins.between(np.array([0, 0.5, 1]), rows)
    assert_allclose(curve.grid, [0.15, 0.875])


def test_windows_of_smoothed_shares_hold_a_tenth_of_the_rows():
    """A point far from most rows needs a wider window to hold as many."""
    score = np.concatenate([np.linspace(0, 0.1, 380), np.linspace(0.9, 1, 20)])
    positive = np.random.default_rng(2).random(400) < score
    grid = np.array([0.05, 0.5, 0.95])
    curve = SmoothCalibration.at(grid, TwoClassRows(positive, positive, score, None))
    n_inside = np.count_nonzero(np.abs(score - grid[:, None]) <= curve.bandwidth[:, None], axis=1)
    assert n_inside.min() >= 40
    # Between the two heaps a window is as wide as that takes, and no wider.
    assert_allclose(curve.bandwidth[1], np.sort(np.abs(score - 0.5))[39], rtol=1e-6)


def test_limits_of_rates_are_free_where_one_row_decides():
    positive = np.repeat([True, False], [5, 10])
    rows = TwoClassRows(positive, positive, np.arange(15) / 15, None)
    grid = np.array([0.05, 0.1, 0.19, 0.2, 0.5, 0.8, 0.81, 0.9, 0.95])
    below, above = Roc(grid).free(rows.sizes)
    assert below.tolist() == [True] * 3 + [False] * 5 + [True]
    assert above.tolist() == [True] + [False] * 5 + [True] * 3
    assert np.array_equal(Det(grid).free(rows.sizes), (above, below))


# ------------------------------------------------------------------ lines of calibration


@pytest.mark.parametrize("of_intercept", [False, True])
@pytest.mark.parametrize("steep", [1.0, 8.0])
def test_pieces_are_as_good_as_points(of_intercept, steep):
    rng = np.random.default_rng(3)
    x = rng.normal(size=20_000)
    y = (rng.random(len(x)) < expit(steep * x)).astype(np.intp)
    weights = rng.integers(0, 3, (4, len(x))).astype(float)
    points, terms = terms_of_logistic_fit(x, y, np.ones(len(x)))
    assert points.n_powers > 1
    by_pieces = fitted_lines(points, weights @ terms, of_intercept=of_intercept)
    by_points = [
        fitted_lines(*sums_at_points(x, y, one), of_intercept=of_intercept)[0] for one in weights
    ]
    assert_allclose(by_pieces, by_points, rtol=1e-11, atol=1e-11)
