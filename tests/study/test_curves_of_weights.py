"""Curves of rows with weights: those of repeated rows, of scikit-learn, and of single points."""

from functools import partial

import numpy as np
import pytest
from identity_cases import any_seed, close, quiet, rows_of
from sklearn import metrics as sk

import skboot
from skboot import metrics as own

pytestmark = pytest.mark.identity

OPTIONS = {"n_resamples": 39, "random_state": 0}
GRIDS = {
    "roc": [0.1, 0.3, 0.7],
    "det": [0.1, 0.3, 0.7],
    "precision_recall": [0.2, 0.5, 0.9],
    "calibration": [0.0, 0.355, 0.505, 1.0],
    "calibration_smooth": [0.4, 0.6],
    "decision": [0.2, 0.45, 0.6],
}
each_curve = pytest.mark.parametrize("curve", GRIDS)


def case(seed, n=70):
    rng = np.random.default_rng([seed, n])
    y, score = rows_of("probability", rng, n)
    other = np.round(0.6 * score + 0.4 * rng.random(n), 2).clip(0.01, 0.99)
    groups = rng.permutation(np.concatenate([np.arange(20), rng.integers(0, 20, n - 20)]))
    return y, score, other, groups, rng.integers(1, 5, n)


def curve_of(y, score, **options):
    return quiet(skboot.bootstrap_curve, y, score, **{**OPTIONS, **options})


@each_curve
@pytest.mark.parametrize("band", ["simultaneous", "pointwise"])
@pytest.mark.parametrize("in_strata", [False, True])
@any_seed
def test_whole_weights_are_repeated_rows_for_every_curve(curve, band, in_strata, seed):
    y, score, other, groups, times = case(seed)
    rows = np.repeat(np.arange(len(y)), times)
    columns = {"groups": groups} | ({"strata": groups % 2} if in_strata else {})
    options = {"curve": curve, "band": band, "grid": GRIDS[curve]}
    one = curve_of(y, {"A": score, "B": other}, sample_weight=times, **options, **columns)
    columns = {key: column[rows] for key, column in columns.items()}
    same = curve_of(y[rows], {"A": score[rows], "B": other[rows]}, **options, **columns)
    assert [*one] == [*same]
    for key in one:
        close(same[key].x, one[key].x, 1e-8)
        # The bandwidth is chosen by the number of rows.
        if curve == "calibration_smooth":
            continue
        close(same[key].estimate, one[key].estimate, 1e-8, 1e-10)
        close(same[key].bootstrap_distribution, one[key].bootstrap_distribution, 1e-8, 1e-10)


@each_curve
@any_seed
def test_a_curve_is_that_of_each_replicate_of_its_groups(curve, seed):
    """Groups of which two are drawn: each replicate is the curve of rows of whole groups."""
    y, score, _, _, weights = case(seed, 90)
    if curve == "calibration_smooth":
        return
    groups = np.arange(90) % 3
    options = {"curve": curve, "grid": GRIDS[curve], "sample_weight": weights}
    drawn = curve_of(y, score, groups=groups, **options).bootstrap_distribution
    possible = []
    for counts in [(a, b, 3 - a - b) for a in range(4) for b in range(4 - a)]:
        own_weights = weights * np.array(counts)[groups]
        kept = own_weights > 0
        how = {**options, "sample_weight": own_weights[kept], "n_resamples": 2}
        possible.append(curve_of(y[kept], score[kept], **how).estimate)
    for value in drawn[:9]:
        gap = np.abs(np.array(possible) - value)
        assert np.nanmin(np.nanmax(np.where(np.isnan(value), 0, gap), axis=1)) < 1e-8


@pytest.mark.parametrize("weighted", [False, True])
@any_seed
def test_curves_are_those_of_scikit_learn(weighted, seed):
    y, score, _, _, times = case(seed)
    weight = times / 2 if weighted else None
    how = {"sample_weight": weight}
    precision, recall, _ = sk.precision_recall_curve(y, score, **how)
    asked = np.unique(recall[recall > 0])[::3]
    found = curve_of(y, score, curve="precision_recall", grid=asked, **how)
    highest = [precision[np.abs(recall - x) < 1e-9].max() for x in asked]
    close(found.estimate, highest, 1e-8)
    fpr, tpr, _ = sk.roc_curve(y, score, drop_intermediate=False, **how)
    asked = np.unique(fpr[(fpr > 0) & (fpr < 1)])[::3]
    highest = np.array([tpr[np.abs(fpr - x) < 1e-9].max() for x in asked])
    close(curve_of(y, score, curve="roc", grid=asked, **how).estimate, highest, 1e-8)
    close(curve_of(y, score, curve="det", grid=asked, **how).estimate, 1 - highest, 1e-8, 1e-10)


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("design", ["rows", "groups", "blocks", "crossed"])
@any_seed
def test_a_decision_curve_is_net_benefit_of_either_class_in_any_design(positive, design, seed):
    y, score, _, groups, weights = case(seed)
    columns = {"groups": {"groups": groups}, "blocks": {"block_length": 3}}
    columns["crossed"] = {"groups": np.column_stack([groups, np.arange(70) % 9])}
    how = {**columns.get(design, {}), "sample_weight": weights, "pos_label": positive}
    grid = [0.15, 0.4, 0.7]
    curve = curve_of(y, score, curve="decision", grid=grid, **how)
    metrics = {str(t): partial(own.net_benefit, threshold=t) for t in grid}
    points = quiet(skboot.bootstrap_score, y, score, metric=metrics, **how, **OPTIONS)
    for k, t in enumerate(grid):
        point, at = points[str(t)], quiet(curve.at, t)
        close([curve.estimate[k], at.estimate], [point.estimate] * 2)
        if design in ("groups", "blocks"):
            close(curve.bootstrap_distribution[:, k], point.bootstrap_distribution, 1e-8, 1e-10)
            asked = ([*quiet(one.interval, "percentile")] for one in (at, point))
            close(*asked, 1e-7, 1e-9)


@each_curve
@pytest.mark.parametrize("has_grid", [False, True])
@any_seed
def test_rows_without_weight_choose_nothing(curve, has_grid, seed):
    y, score, *_ = case(seed)
    rng = np.random.default_rng(seed)
    # Without weight: the highest and the lowest scores of all, and some between.
    more = np.concatenate(([0.999, 0.998, 0.001], rng.uniform(0.002, 0.997, 300)))
    order = rng.permutation(len(y) + len(more))
    weights = np.append(np.ones(len(y)), np.zeros(len(more)))[order]
    y_all = np.append(y, np.arange(len(more)) % 2)[order]
    options = {"curve": curve} | ({"grid": GRIDS[curve]} if has_grid else {})
    few = curve_of(y, score, **options)
    same = curve_of(y_all, np.append(score, more)[order], sample_weight=weights, **options)
    close(same.x, few.x, 1e-12)
    close(same.estimate, few.estimate, 1e-8, 1e-10)
    # Where the data say nothing of a limit, and how much they say elsewhere.
    for name in ("_free_below", "_free_above"):
        assert np.array_equal(getattr(same, name), getattr(few, name))
    if few._behind is not None:
        close(same._behind, few._behind, 1e-8)
    if few.area is not None:
        close(same.area, few.area, 1e-12)


@pytest.mark.parametrize("curve", ["roc", "det", "precision_recall"])
@any_seed
def test_points_of_weighted_rows_are_those_of_as_many_as_their_classes_are_worth(curve, seed):
    """Half of the rows of a class weigh three times as much: 40 are worth 32 (Kish 1965)."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [40, 80])
    weights = np.tile([1.0, 3.0], 60) * np.where(y == 1, 0.7, 5.0)
    weighted = curve_of(y, rng.random(120), sample_weight=weights, curve=curve)
    equal = curve_of(np.repeat([0, 1], [32, 64]), rng.random(96), curve=curve)
    np.testing.assert_allclose(weighted.x, equal.x, rtol=1e-12)
