"""Curves by hand: local lines, steps of precision and recall, limits of points, own functions.

Exact: by a loop over the points of the grid, with weights, on the data and on replicates of groups.
"""

import numpy as np
import pytest
from identity_cases import any_seed, close, quiet
from scipy import stats
from sklearn import metrics as sk

import skboot

pytestmark = pytest.mark.identity

OPTIONS = {"n_resamples": 39, "random_state": 0}
GRID = [0.25, 0.4, 0.6]
N = 120


def case(seed, weighted):
    rng = np.random.default_rng([seed, weighted])
    p = np.round(rng.beta(2, 2, N), 2)
    y = (rng.random(N) < p).astype(int)
    groups = rng.permutation(np.arange(N) // 2)
    columns = {"sample_weight": rng.integers(1, 5, N) / 2} if weighted else {}
    return y, p, groups, columns


def curve_of(y, p, **options):
    return quiet(skboot.bootstrap_curve, y, p, **{**OPTIONS, **options})


def bandwidths(y, p, weight, grid):
    """Fan and Gijbels (1996, section 4.2), and at least so far as a tenth of the rows or 20."""
    fit = np.polynomial.Polynomial.fit(p, y, 4, w=np.sqrt(weight))
    n, span = len(y), np.ptp(p)
    noise = np.average((y - fit(p)) ** 2, weights=weight) * n / (n - 5)
    low, high = np.quantile(p, INNER)
    inner = (p >= low) & (p <= high)
    bend = np.sum(weight[inner] * fit.deriv(2)(p[inner]) ** 2) * n / weight.sum()
    wide = span
    if bend > noise * (high - low) / (span / RULE) ** 5:
        wide = RULE * (noise * (high - low) / bend) ** 0.2
    k = max(20, int(np.ceil(0.1 * n)))
    return [max(wide, np.sort(np.abs(p - x))[k - 1]) for x in grid]


INNER, RULE = (0.05, 0.95), 1.719


def local_line(y, p, weight, x, h):
    kernel = weight * np.maximum(1 - ((p - x) / h) ** 2, 0)
    design = np.column_stack([np.ones_like(p), p - x])
    inside = kernel > 1e-12
    root = np.sqrt(kernel[inside])
    solution = np.linalg.lstsq(design[inside] * root[:, None], y[inside] * root, rcond=None)[0]
    return np.clip(solution[0], 0, 1)


@pytest.mark.parametrize("weighted", [False, True])
@any_seed
def test_a_smooth_calibration_is_made_of_local_lines(weighted, seed):
    y, p, groups, columns = case(seed, weighted)
    weight = columns.get("sample_weight", np.ones(N))
    curve = curve_of(y, p, curve="calibration_smooth", grid=GRID, groups=groups, **columns)
    widths = bandwidths(y, p, weight, GRID)
    found = [local_line(y, p, weight, x, h) for x, h in zip(GRID, widths, strict=True)]
    close(curve.estimate, found, 1e-5)
    close(np.array(curve.reference, dtype=float), GRID)
    # The largest count of each group in a resample is what the mean of its indicator says.
    counts = [
        quiet(skboot.bootstrap_score, None, (groups == g) * 1.0, metric="mean", groups=groups,
              **OPTIONS).bootstrap_distribution * N / 2 for g in np.unique(groups)
    ]  # fmt: skip
    counts = np.round(np.array(counts)).T[:, np.unique(groups, return_inverse=True)[1]]
    for line, drawn in zip(counts[:5], curve.bootstrap_distribution[:5], strict=True):
        again = [local_line(y, p, weight * line, x, h) for x, h in zip(GRID, widths, strict=True)]
        close(drawn, again, 1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@any_seed
def test_precision_at_a_recall_is_that_of_the_threshold_that_reaches_it(weighted, seed):
    y, p, groups, columns = case(seed, weighted)
    weight = columns.get("sample_weight")
    grid = np.array([0.2, 0.5, 0.8])
    curve = curve_of(y, p, curve="precision_recall", grid=grid, groups=groups, **columns)
    precision, recall, _ = sk.precision_recall_curve(y, p, sample_weight=weight)
    for k, x in enumerate(grid):
        reached = np.flatnonzero(recall >= x - 1e-12)
        near = [precision[reached[-1]], precision[reached].max()]
        assert min(near) - 1e-9 <= curve.estimate[k] <= max(near) + 1e-9
    close(np.array(curve.reference, dtype=float).ravel()[0], np.average(y, weights=weight))


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("n", [60, 200])
def test_points_of_calibration_have_the_limits_of_their_counts(level, n):
    """Wilson's of a bin with fixed edges; of hits or errors alone Clopper and Pearson's."""
    rng = np.random.default_rng(n)
    p = np.round(rng.beta(1, 1, n), 3)
    y = (rng.random(n) < p).astype(int)
    # No row is at an edge.
    edges = [0.0, 0.1505, 0.4005, 0.7005, 0.9005, 1.0]
    y[p < edges[1]], y[p > edges[4]] = 0, 1
    curve = curve_of(y, p, curve="calibration", grid=edges, band="pointwise",
                     confidence_level=level)  # fmt: skip
    for k in range(5):
        inside = (p >= edges[k]) & (p <= edges[k + 1])
        hits, m = int(y[inside].sum()), int(inside.sum())
        close(curve.estimate[k], hits / m)
        close(curve.x[k], p[inside].mean())
        method = "exact" if hits in (0, m) else "wilson"
        expected = stats.binomtest(hits, m).proportion_ci(level, method=method)
        found = quiet(curve.at, curve.x[k]).confidence_interval
        close([*found], [expected.low, expected.high], 1e-6, 1e-8)
        close([curve.low[k], curve.high[k]], [*found], 1e-6, 1e-8)
        assert found.confidence_level == level


def share_above(y, score, grid):
    return np.array([np.mean(y[score >= x]) if (score >= x).any() else np.nan for x in grid])


@pytest.mark.parametrize("grouped", [False, True])
def test_a_function_of_ones_own_is_called_on_rows_of_the_resample(grouped):
    y, p, groups, _ = case(3, False)
    columns = {"groups": groups} if grouped else {}
    curve = curve_of(y, p, curve=share_above, grid=GRID, **columns)
    close(curve.estimate, share_above(y, p, GRID))
    for k, x in enumerate(GRID):
        share = quiet(skboot.bootstrap_score, y, p, metric=lambda a, b, x=x: np.mean(a[b >= x]),
                      **columns, **OPTIONS)  # fmt: skip
        close(curve.bootstrap_distribution[:, k], share.bootstrap_distribution, 1e-9)
        close(quiet(curve.at, x).estimate, share.estimate)


CURVES = ("roc", "det", "precision_recall", "calibration", "calibration_smooth", "decision")


@pytest.mark.parametrize("curve", CURVES)
@any_seed
def test_the_other_class_by_name_is_the_class_of_turned_labels(curve, seed):
    y, p, groups, columns = case(seed, True)
    grid = {"calibration": [0, 0.3, 0.6, 1]}.get(curve, GRID)
    more = {"curve": curve, "grid": grid, "groups": groups, **columns}
    one = curve_of(y, p, pos_label=0, **more)
    other = curve_of(1 - y, p, **more)
    words = curve_of(np.array(["yes", "no"])[y], p, pos_label="yes", **more)
    columns_of_two = curve_of(y, np.column_stack([1 - p, p]), **more)
    for same in (other, words):
        close(same.estimate, one.estimate)
        close(same.bootstrap_distribution, one.bootstrap_distribution)
        close([same.low, same.high], [one.low, one.high], 1e-7)
    close(columns_of_two.estimate, curve_of(y, p, **more).estimate)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("band", ["simultaneous", "pointwise"])
def test_bands_nest_by_level_and_hold_their_points(curve, band):
    y, p, groups, _ = case(5, False)
    grid = {"calibration": [0, 0.3, 0.6, 1]}.get(curve, GRID)
    more = {"curve": curve, "grid": grid, "groups": groups, "band": band, "n_resamples": 399}
    inner, outer = (curve_of(y, p, confidence_level=level, **more) for level in (0.6, 0.95))
    assert (outer.low <= inner.low + 1e-9).all()
    assert (inner.high <= outer.high + 1e-9).all()
    assert (inner.low <= inner.estimate + 1e-9).all()
    assert (inner.estimate <= inner.high + 1e-9).all()
    assert (inner.band, inner.confidence_level) == (band, 0.6)
    other = curve_of(y, p, confidence_level=0.95, **{**more, "band": "pointwise"})
    assert (outer.low <= other.low + 1e-9).all()
    assert (other.high <= outer.high + 1e-9).all()
    for k, x in enumerate(other.x):
        point = quiet(other.at, x)
        close([point.estimate, *point.confidence_interval],
              [other.estimate[k], other.low[k], other.high[k]], 1e-7, 1e-9)  # fmt: skip
