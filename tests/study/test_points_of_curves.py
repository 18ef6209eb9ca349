"""A point of a curve is the metric at it, its area the area, a difference the difference.

Heights are exact on the rows and on every replicate of groups, which are drawn alike whatever is
computed; grids hold the operating points, where a curve is no interpolation.
"""

from functools import partial

import numpy as np
import pytest
from identity_cases import N_RESAMPLES, any_seed, close, columns_of, quiet, rows_of, two_seeds
from scipy.integrate import trapezoid
from sklearn import metrics as sk

import skboot
from skboot import metrics as own

pytestmark = pytest.mark.identity

DESIGNS = ("rows", "strata", "groups", "groups in strata")
OPTIONS = {"n_resamples": N_RESAMPLES, "random_state": 0}
CURVES = ("roc", "det", "precision_recall", "calibration", "calibration_smooth", "decision")
each_design = pytest.mark.parametrize("design", DESIGNS)


def case(seed, design, weighted, kind="probability", n=80):
    rng = np.random.default_rng([seed, *design.encode(), weighted])
    y_true, y_score = rows_of(kind, rng, n)
    columns = columns_of(design, n, rng)
    if weighted:
        columns["sample_weight"] = rng.integers(1, 9, n) / 4
    return y_true, y_score, columns, rng


def curve_of(y_true, y_score, **options):
    return quiet(skboot.bootstrap_curve, y_true, y_score, **{**OPTIONS, **options})


def rates(y_true, is_positive, weight):
    weight = np.ones(len(y_true)) if weight is None else weight
    of = [np.average(is_positive[y_true == k], weights=weight[y_true == k]) for k in (0, 1)]
    return of[0], of[1]


@each_design
@pytest.mark.parametrize("weighted", [False, True])
@any_seed
def test_points_of_a_roc_and_a_det_curve_are_those_of_thresholds(design, weighted, seed):
    y_true, score, columns, _ = case(seed, design, weighted, "scores")
    weight = columns.get("sample_weight")
    thresholds = np.unique(score)[1:-1:3]
    found = np.array([rates(y_true, score >= t, weight) for t in thresholds])
    # At one false-positive rate a curve takes the largest of its true-positive rates.
    order = np.lexsort((found[:, 1], found[:, 0]))
    found = found[order]
    keep = np.append(np.diff(found[:, 0]) > 1e-9, True) & (found[:, 0] > 0)
    every = np.array([rates(y_true, score >= t, weight) for t in np.unique(score)])
    grid = found[keep, 0]
    highest = np.array([every[np.abs(every[:, 0] - x) < 1e-9, 1].max() for x in grid])
    roc = curve_of(y_true, score, curve="roc", grid=grid, **columns)
    close(roc.estimate, highest, 1e-8)
    det = curve_of(y_true, score, curve="det", grid=grid, **columns)
    close(det.estimate, 1 - highest, 1e-8, 1e-9)
    close(det.bootstrap_distribution, 1 - roc.bootstrap_distribution, 1e-8, 1e-9)


@each_design
@pytest.mark.parametrize("weighted", [False, True])
@any_seed
def test_heights_of_a_roc_curve_are_the_sensitivity_at_a_specificity(design, weighted, seed):
    y_true, score, columns, _ = case(seed, design, weighted, "scores")
    roc = curve_of(y_true, score, grid=[0.2, 0.4], **columns)
    for k, rate in enumerate((0.2, 0.4)):
        metric = partial(own.sensitivity_at, specificity=1 - rate)
        at = quiet(skboot.bootstrap_score, y_true, score, metric=metric, **columns, **OPTIONS)
        close(roc.estimate[k], sk_height(y_true, score, rate, columns.get("sample_weight")))
        point = quiet(roc.at, rate)
        close(point.estimate, roc.estimate[k])
        close(point.bootstrap_distribution, roc.bootstrap_distribution[:, k])
        assert (point.unit, point.n_units) == (at.unit, at.n_units)


def sk_height(y_true, score, rate, weight):
    fpr, tpr, _ = sk.roc_curve(y_true, score, sample_weight=weight, drop_intermediate=False)
    return np.interp(rate, fpr, tpr)


@each_design
@pytest.mark.parametrize("weighted", [False, True])
@any_seed
def test_the_area_of_a_roc_curve_is_the_area(design, weighted, seed):
    y_true, score, columns, _ = case(seed, design, weighted, "scores")
    weight = columns.get("sample_weight")
    fpr, _tpr, _ = sk.roc_curve(y_true, score, sample_weight=weight, drop_intermediate=False)
    grid = np.unique(np.concatenate([np.linspace(0, 1, 201), fpr]))
    roc = curve_of(y_true, score, grid=grid, **columns)
    area = quiet(skboot.bootstrap_score, y_true, score, metric="roc_auc", **columns, **OPTIONS)
    close(trapezoid(roc.estimate, grid), area.estimate, 2e-3)
    if "groups" in columns:
        areas = trapezoid(roc.bootstrap_distribution, grid, axis=1)
        close(areas, area.bootstrap_distribution, 3e-3)


@each_design
@pytest.mark.parametrize("weighted", [False, True])
@two_seeds
def test_heights_of_a_decision_curve_are_net_benefits(design, weighted, seed):
    y_true, score, columns, _ = case(seed, design, weighted)
    grid = np.array([0.1, 0.35, 0.6])
    curve = curve_of(y_true, score, curve="decision", grid=grid, **columns)
    weight = columns.get("sample_weight")
    for k, threshold in enumerate(grid):
        gain = (score >= threshold) * np.where(y_true == 1, 1, -threshold / (1 - threshold))
        close(curve.estimate[k], np.average(gain, weights=weight))
        metric = partial(own.net_benefit, threshold=float(threshold))
        at = quiet(skboot.bootstrap_score, y_true, score, metric=metric, **columns, **OPTIONS)
        close(quiet(curve.at, threshold).estimate, at.estimate)
        if "groups" in columns:
            close(curve.bootstrap_distribution[:, k], at.bootstrap_distribution, 1e-8, 1e-10)


@each_design
@pytest.mark.parametrize("weighted", [False, True])
@any_seed
def test_points_of_a_calibration_curve_are_shares_of_its_bins(design, weighted, seed):
    y_true, score, columns, _ = case(seed, design, weighted)
    edges = np.array([0.0, 0.301, 0.452, 0.633, 1.0])
    curve = curve_of(y_true, score, curve="calibration", grid=edges, **columns)
    weight = columns.get("sample_weight", np.ones(len(score)))
    for k in range(4):
        inside = (score >= edges[k]) & (score < edges[k + 1])
        close(curve.estimate[k], np.average(y_true[inside], weights=weight[inside]))
        close(curve.x[k], np.average(score[inside], weights=weight[inside]))
        if "groups" in columns:
            values = {"groups": columns["groups"][inside], "sample_weight": weight[inside]}
            share = quiet(
                skboot.bootstrap_score, None, y_true[inside], metric="mean", **values, **OPTIONS
            )
            close(quiet(curve.at, curve.x[k]).estimate, share.estimate)


@pytest.mark.parametrize("curve", CURVES)
@two_seeds
def test_the_difference_of_curves_is_that_of_the_two(curve, seed):
    y_true, score, columns, rng = case(seed, DESIGNS[len(curve) % 2 * 2 + seed % 2], bool(seed % 2))
    other = np.round(0.6 * score + 0.4 * rng.random(len(score)), 2)
    grids = {"roc": [0.2, 0.5], "det": [0.2, 0.5], "precision_recall": [0.3, 0.6]}
    grids |= {"calibration_smooth": [0.4, 0.6], "decision": [0.2, 0.5]}
    # Without edges the bins are those of all systems together.
    grids |= {"calibration": [0.0, 0.355, 0.505, 1.0]}
    options = {"curve": curve, **columns}
    if curve in grids:
        options["grid"] = grids[curve]
    both = curve_of(y_true, {"A": score, "B": other}, **options)
    alone = {name: curve_of(y_true, own_, **options) for name, own_ in (("A", score), ("B", other))}
    for name, one in alone.items():
        close(both[name].estimate, one.estimate)
        if "groups" in columns:
            close(both[name].bootstrap_distribution, one.bootstrap_distribution, 1e-9, 1e-10)
    if curve == "calibration":
        return
    difference = both["difference"]
    close(difference.estimate, alone["A"].estimate - alone["B"].estimate, 1e-9, 1e-10)
    expected = both["A"].bootstrap_distribution - both["B"].bootstrap_distribution
    close(difference.bootstrap_distribution, expected, 1e-9, 1e-10)
    assert np.all(difference.low <= difference.estimate)
    turned = curve_of(y_true, {"B": other, "A": score}, **options)["difference"]
    close(turned.estimate, -difference.estimate)
    # A decision curve numbers rows by the values of its first system (DESIGN section 2).
    drawn_alike = curve != "decision" or "groups" in columns
    width = 0.0 if drawn_alike else (difference.high - difference.low).max()
    close(turned.low, -difference.high, 1e-7, 1e-9 + 5 * width / np.sqrt(2 * N_RESAMPLES))


@pytest.mark.parametrize("curve", CURVES)
@any_seed
def test_a_curve_does_not_depend_on_order_or_scale_of_weights(curve, seed):
    y_true, score, columns, rng = case(seed, "groups in strata", True)
    order = rng.permutation(len(score))
    grid = {} if curve == "calibration" else {"grid": [0.3, 0.5]}
    one = curve_of(y_true, score, curve=curve, **grid, **columns)
    moved = {key: column[order] for key, column in columns.items()}
    moved["sample_weight"] = 8 * moved["sample_weight"]
    other = curve_of(y_true[order], score[order], curve=curve, **grid, **moved)
    for what in ("x", "estimate", "low", "high", "bootstrap_distribution"):
        close(getattr(other, what), getattr(one, what), 1e-7, 1e-9, what)
    renamed = curve_of(
        np.where(y_true == 1, "yes", "no"), score, curve=curve, pos_label="yes", **grid, **columns
    )
    close(renamed.estimate, one.estimate)
    close(renamed.low, one.low)


@pytest.mark.parametrize("curve", CURVES)
def test_a_curve_after_loading_is_the_curve(curve, tmp_path):
    y_true, score, columns, _ = case(0, "groups", False)
    one = curve_of(y_true, score, curve=curve, **columns)
    one.save(tmp_path / "curve.npz")
    other = skboot.results.CurveResult.load(tmp_path / "curve.npz")
    assert other == one
    assert other.summary() == one.summary()
    assert other.to_dict() == one.to_dict()
    x = one.x[len(one.x) // 2]
    assert quiet(other.at, x) == quiet(one.at, x)


@pytest.mark.parametrize("curve", ["roc", "precision_recall", "calibration", "decision"])
@pytest.mark.parametrize("band", ["simultaneous", "pointwise"])
def test_rows_k_times_in_groups_have_the_band_of_the_rows(curve, band):
    y_true, score, columns, _ = case(0, "groups", False)
    grid = [0.0, 0.355, 0.505, 1.0] if curve == "calibration" else [0.3, 0.5]
    bands = []
    for times in (3, 12):
        rows = np.repeat(np.arange(len(score)), times)
        options = {"curve": curve, "grid": grid, "band": band}
        groups = columns["groups"][rows]
        bands.append(curve_of(y_true[rows], score[rows], groups=groups, **options))
    close(bands[1].estimate, bands[0].estimate)
    # Three eighths of a row are added to the hits and to the misses of a share.
    close(bands[1].low, bands[0].low, 0.03, 0.02)
    close(bands[1].high, bands[0].high, 0.03, 0.02)


@pytest.mark.parametrize("curve", ["roc", "det", "precision_recall", "calibration"])
@pytest.mark.parametrize("weighted", [False, True])
@any_seed
def test_shares_of_groups_are_of_as_many_rows_as_their_replicates_vary_like(curve, weighted, seed):
    """Each row k times in its group is worth no more rows; rows without weight are worth none."""
    y_true, score, columns, rng = case(seed, "groups", weighted)
    weight = columns.setdefault("sample_weight", np.ones(80)) if weighted else np.ones(80)
    grid = [0.0, 0.355, 0.505, 1.0] if curve == "calibration" else [0.25, 0.5, 0.75]
    options = {"curve": curve, "grid": grid}
    one = curve_of(y_true, score, **options, **columns)
    # Groups whose rows are alike, so that they are worth fewer rows than they have.
    behind = []
    for times in (3, 12):
        rows = np.repeat(np.arange(80), times)
        own = {key: column[rows] for key, column in columns.items()}
        same = curve_of(y_true[rows], score[rows], **options, **own)
        close(same.bootstrap_distribution, one.bootstrap_distribution, 1e-8, 1e-10)
        behind.append(same._behind)
    close(*behind)
    worth = weight.sum() / np.sum(weight**2)
    if curve in ("roc", "det"):
        positives = worth * weight[y_true == 1].sum()
        inner = (one.estimate > 0.05) & (one.estimate < 0.95)
        share, drawn = one.estimate[inner], one.bootstrap_distribution[:, inner]
        effect = np.median(drawn.var(axis=0) / (share * (1 - share) / positives))
        close(one._behind, np.full(3, positives / max(1, effect)))
        rows = curve_of(y_true, score, **options, sample_weight=weight if weighted else None)
        close(rows._behind, np.full(3, positives))
    assert np.all(behind[0] <= worth * weight.sum() + 1e-9)
    if weighted:
        rows = np.append(np.arange(80), rng.integers(0, 80, 30))
        own = {key: column[rows] for key, column in columns.items()}
        own["sample_weight"] = np.append(weight, np.zeros(30))
        more = curve_of(y_true[rows], score[rows], **options, **own)
        close(more._behind, one._behind)
        close(more.bootstrap_distribution, one.bootstrap_distribution, 1e-8, 1e-10)


@pytest.mark.parametrize("curve", ["roc", "det", "precision_recall"])
@each_design
@any_seed
def test_ranks_alone_count_for_curves_over_thresholds(curve, design, seed):
    y_true, score, columns, _ = case(seed, design, bool(len(design) % 2), "scores")
    options = {"curve": curve, "grid": [0.2, 0.5, 0.8], **columns}
    one = curve_of(y_true, score, **options)
    for rise in (lambda s: 8 * s - 3, lambda s: np.exp(s / 2)):
        other = curve_of(y_true, rise(score), **options)
        for what in ("estimate", "low", "high", "bootstrap_distribution", "_behind"):
            close(getattr(other, what), getattr(one, what), 1e-9, 1e-11, what)
