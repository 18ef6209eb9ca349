"""`bootstrap_curve`: what goes in, what comes out, and what is refused."""

import sys
import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.special import ndtr, ndtri
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from skboot import bootstrap_curve, bootstrap_score
from skboot.results import CurveResult, ResultTable

RNG = np.random.default_rng(0)
N = 240
Y = RNG.integers(0, 2, N)
SCORE = Y + RNG.normal(size=N)
P = 1 / (1 + np.exp(0.7 - 1.2 * SCORE))
OTHER = np.clip(P + 0.1 * RNG.normal(size=N), 0, 1)
GROUPS = np.arange(N) % 30
NAMES = ["roc", "det", "precision_recall", "calibration", "calibration_smooth", "decision"]
FEW = {"n_resamples": 99, "random_state": 0}


@pytest.mark.parametrize("curve", NAMES)
@pytest.mark.parametrize("band", ["simultaneous", "pointwise"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"groups": GROUPS},
        {"strata": Y},
        {"sample_weight": RNG.random(N)},
        {"groups": np.column_stack((GROUPS, RNG.integers(0, 20, N)))},
    ],
    ids=["rows", "groups", "strata", "weights", "crossed"],
)
@pytest.mark.filterwarnings("ignore:.*fewer than 40 members on one side")
def test_every_curve_lies_in_its_band_for_every_design(curve, band, options):
    result = bootstrap_curve(Y, P, curve=curve, band=band, **options, **FEW)
    assert (result.low <= result.estimate).all()
    assert (result.estimate <= result.high).all()
    assert (result.low < result.high).all()
    assert result.bootstrap_distribution.shape == (99, len(result.x))
    low, high = result._bounds
    assert result.low.min() >= low
    assert result.high.max() <= high
    assert result.n_resamples == 99


def area_under(heights, x):
    return (heights[..., 1:] + heights[..., :-1]) @ np.diff(x) / 2


@pytest.mark.parametrize("curve", NAMES)
def test_the_scale_of_weights_changes_nothing(curve):
    weight = np.random.default_rng(3).random(N)
    one = bootstrap_curve(Y, P, curve=curve, sample_weight=weight, **FEW)
    other = bootstrap_curve(Y, P, curve=curve, sample_weight=1000 * weight, **FEW)
    assert_allclose(one.low, other.low, atol=1e-10)
    assert_allclose(one.high, other.high, atol=1e-10)


@pytest.mark.parametrize("curve", NAMES)
def test_equal_weights_are_none(curve):
    weighted = bootstrap_curve(Y, P, curve=curve, sample_weight=np.full(N, 3.0), **FEW)
    assert_allclose(weighted.estimate, bootstrap_curve(Y, P, curve=curve, **FEW).estimate)
    n = weighted._behind
    assert n is None or n.max() <= N * (1 + 1e-12)


def test_the_resamples_are_those_of_a_score():
    """The mean height of a fine ROC curve is the area under it, on every resample."""
    result = bootstrap_curve(Y, SCORE, grid=np.linspace(0, 1, 20_001), **FEW)
    area = bootstrap_score(Y, SCORE, metric="roc_auc", **FEW)
    heights = area_under(result.bootstrap_distribution, result.x)
    assert_allclose(heights, area.bootstrap_distribution, atol=1e-4)
    assert area_under(result.estimate, result.x) == pytest.approx(roc_auc_score(Y, SCORE), abs=1e-4)


def test_the_band_is_that_of_the_largest_deviation_of_a_normal_process():
    """Of 100,000 normal draws here and 4000 there: the difference has a standard error of .03."""
    grid = np.linspace(0.1, 0.9, 17)
    result = bootstrap_curve(Y, SCORE, grid=grid, n_resamples=999, random_state=0)
    n, n_negative = Y.sum(), N - Y.sum()
    angle = np.arcsin(np.sqrt((result.bootstrap_distribution * n + 3 / 8) / (n + 3 / 4)))
    least = 0.5 / np.sqrt(n + 0.5)
    variance = np.maximum(angle.var(axis=0, ddof=1), least**2)
    near = np.abs(grid - grid[:, None]) <= 1.5 * np.sqrt(grid * (1 - grid) / n_negative)[:, None]
    spread = np.sqrt([variance[those].mean() for those in near])
    inside = (result.estimate < 1) & (result.estimate > 0)
    covariance = np.cov((angle / spread)[:, inside].T)
    draws = stats.multivariate_normal(cov=covariance, allow_singular=True).rvs(100_000, RNG)
    expected = np.quantile(np.abs(draws).max(axis=1), 0.95)
    assert result._critical == pytest.approx(expected, abs=0.1)


def test_on_a_long_grid_the_band_is_that_of_the_largest_deviation_of_replicates():
    grid = np.linspace(0.1, 0.9, 1001)
    result = bootstrap_curve(Y, SCORE, grid=grid, n_resamples=999, random_state=0)
    shorter = bootstrap_curve(Y, SCORE, grid=grid[::4], n_resamples=999, random_state=0)
    assert result._critical > shorter._critical


def test_the_same_seed_gives_the_same_band_whatever_the_workers():
    one = bootstrap_curve(Y, SCORE, **FEW)
    assert bootstrap_curve(Y, SCORE, n_jobs=2, **FEW) == one
    assert bootstrap_curve(Y, SCORE, n_resamples=99, random_state=1) != one


@pytest.mark.parametrize("kind", ["array", "list", "Series"])
def test_arguments_may_be_arrays_lists_or_columns(kind):
    made = {"array": np.asarray, "list": list}.get(kind) or pytest.importorskip("pandas").Series
    known = bootstrap_curve(Y, P, **FEW)
    assert bootstrap_curve(made(Y), made(P), **FEW) == known
    both = np.column_stack((1 - P, P))
    assert_array_equal(bootstrap_curve(Y, both, **FEW).estimate, known.estimate)


def test_labels_in_text_need_the_positive_one():
    text = np.where(Y == 1, "ill", "well")
    known = bootstrap_curve(Y, P, **FEW)
    found = bootstrap_curve(text, P, pos_label="ill", **FEW)
    assert_array_equal(found.estimate, known.estimate)
    with pytest.raises(ValueError, match=r"'pos_label' .* None, with labels .*pos_label='well'"):
        bootstrap_curve(text, P)
    other = bootstrap_curve(text, -P, pos_label="well", grid=[0.2], **FEW)
    rates, hits, _ = roc_curve(1 - Y, -P, drop_intermediate=False)
    assert other.estimate[0] == pytest.approx(np.interp(0.2, rates, hits))


@pytest.mark.parametrize("curve", NAMES)
def test_rows_in_time_are_drawn_in_blocks(curve):
    """The level of a slow wave is in the scores: blocks keep it, and the band is wider."""
    rng = np.random.default_rng(1)
    wave = np.sin(np.arange(1200) / 40)
    truth = (wave + 0.7 * rng.normal(size=1200) > 0).astype(int)
    scores = 1 / (1 + np.exp(-truth - 1.5 * wave))
    cautioned = curve in ("calibration", "calibration_smooth", "decision")
    with pytest.warns(UserWarning, match="block_length") if cautioned else nullcontext():
        rows = bootstrap_curve(truth, scores, curve=curve, **FEW)
    blocks = bootstrap_curve(truth, scores, curve=curve, block_length=100, **FEW)
    assert blocks.unit == "block"
    assert blocks.n_units == 12
    assert blocks.settings["block_length"] == 100
    spread = blocks.bootstrap_distribution.std(axis=0), rows.bootstrap_distribution.std(axis=0)
    assert np.nanmean(spread[0]) > np.nanmean(spread[1])
    assert (blocks.low <= blocks.estimate).all()
    # The absolute deviations of a wave repeat twice in each round.
    with pytest.warns(UserWarning, match="every 127 rows") if cautioned else nullcontext():
        found = bootstrap_curve(truth, scores, curve=curve, block_length="auto", **FEW)
    assert found.settings["block_length"] > 1


# ------------------------------------------------------------------ several systems


@pytest.mark.parametrize("curve", NAMES)
def test_two_systems_have_a_difference_on_the_same_resamples(curve):
    table = bootstrap_curve(Y, {"new": P, "old": OTHER}, curve=curve, **FEW)
    assert list(table) == ["new", "old", "difference"]
    one, other, difference = table.values()
    places = [slice(None)] * 2
    if curve != "calibration":
        both, *places = np.intersect1d(one.x, other.x, return_indices=True)
        assert_array_equal(difference.x, both)
    assert_allclose(difference.estimate, one.estimate[places[0]] - other.estimate[places[1]])
    assert_allclose(
        difference.bootstrap_distribution,
        one.bootstrap_distribution[:, places[0]] - other.bootstrap_distribution[:, places[1]],
    )
    assert (difference.low <= difference.estimate).all()
    assert (difference.estimate <= difference.high).all()
    assert (difference.reference == 0).all()
    assert difference._is_difference


@pytest.mark.parametrize("curve", [name for name in NAMES if name != "calibration"])
@pytest.mark.parametrize("seed", range(2))
def test_a_system_beside_another_has_the_curve_that_it_has_alone(curve, seed):
    """And no value outside its predictions, on its own grid or on one that is given."""
    rng = np.random.default_rng(seed)
    low, width = rng.uniform(0, 0.5, 2), rng.uniform(0.05, 0.5, 2)
    scores = {"a": low[0] + width[0] * P, "b": low[1] + width[1] * OTHER}
    options = {"curve": curve, "n_resamples": 30, "random_state": seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = bootstrap_curve(Y, scores, **options)
        given = bootstrap_curve(Y, scores, grid=np.linspace(0.01, 0.99, 50), **options)
        alone = {name: bootstrap_curve(Y, score, **options) for name, score in scores.items()}
    for name, known in alone.items():
        found, score = table[name], scores[name]
        at = np.searchsorted(found.x, known.x)
        assert_array_equal(found.x[at], known.x)
        assert_allclose(found.estimate[at], known.estimate, rtol=1e-9, atol=1e-12)
        least = {"calibration_smooth": score.min(), "decision": 0}.get(curve)
        if least is not None:
            assert found.x.max() <= score.max()
            assert found.x.min() >= least
            within = (given[name].x >= least) & (given[name].x <= score.max())
            assert_array_equal(np.isnan(given[name].estimate), ~within)
            assert_array_equal(np.isnan(given[name].high), ~within)
    if "difference" in table:
        assert_array_equal(table["difference"].x, np.intersect1d(table["a"].x, table["b"].x))
        sides = (given["a"], given["b"])
        missing = np.isnan(sides[0].estimate) | np.isnan(sides[1].estimate)
        assert_array_equal(np.isnan(given["difference"].estimate), missing)


def test_predictions_without_a_range_in_common_have_no_difference():
    scores = {"low": 0.1 + 0.2 * P, "high": 0.6 + 0.2 * P}
    with pytest.warns(UserWarning, match="no difference: low and high have no predictions in"):
        table = bootstrap_curve(Y, scores, curve="calibration_smooth", **FEW)
    assert list(table) == ["low", "high"]


def test_a_line_through_the_default_grid_is_the_curve():
    """Near the steps of scikit-learn's curve, also at rates that costs of detection look at."""
    n, rng = 20_000, np.random.default_rng(0)
    y = np.arange(n) % 10 == 0
    score = rng.normal(size=n) + 2.5 * y
    false, true, _ = roc_curve(y, score, drop_intermediate=False)
    least = 5 / np.sum(~y)
    rates = np.concatenate((np.geomspace(least, 0.5, 400), [0.001, 0.01, 0.05]))
    rates = rates[rates >= least]
    # Of several points at a rate of false positives the highest counts.
    exact = np.interp(rates, false, true)
    few = {"n_resamples": 20, "random_state": 0}
    det = bootstrap_curve(y.astype(int), score, curve="det", **few)
    # As it is drawn: straight between points on axes of normal deviates.
    y_axis = ndtri(np.clip(det.estimate, 1e-9, 1 - 1e-9))
    assert_allclose(ndtr(np.interp(ndtri(rates), ndtri(det.x), y_axis)), 1 - exact, atol=0.03)
    roc = bootstrap_curve(y.astype(int), score, curve="roc", **few)
    assert_allclose(np.interp(rates, roc.x, roc.estimate), exact, atol=0.03)
    for rate in rates[-3:]:
        assert det.at(rate).estimate == pytest.approx(1 - exact[rates == rate][0], abs=1e-12)
    # The printed table has the rates that are marked on that axis.
    shown = [float(line.split()[0]) for line in det.summary().splitlines()[-9:]]
    assert shown == [0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999]


def test_the_difference_of_a_curve_with_itself_is_zero_and_no_more_is_claimed_than_its_rows_say():
    difference = bootstrap_curve(Y, {"a": P, "b": P}, **FEW)["difference"]
    assert (difference.estimate == 0).all()
    assert (difference.high >= 1.9 / (Y.sum() + 2)).all()


@pytest.mark.parametrize("band", ["simultaneous", "pointwise"])
def test_a_difference_is_not_certain_where_all_resamples_agree(band):
    """Both curves are at 1 there, on the data and on all resamples."""
    grid = [0.3 / (Y == 0).sum(), 0.5, 0.9]
    sure = {"a": 9 * Y + SCORE, "b": 9 * Y - SCORE}
    difference = bootstrap_curve(Y, sure, band=band, grid=grid, **FEW)["difference"]
    assert (difference.bootstrap_distribution == 0).all()
    assert (difference.low[0], difference.high[0]) == (-1, 1)
    assert (difference.high[1:] >= 1.9 / (Y.sum() + 2)).all()
    assert (difference.low[1:] == -difference.high[1:]).all()


def test_one_and_three_systems_have_no_difference():
    assert list(bootstrap_curve(Y, {"a": P}, **FEW)) == ["a"]
    assert list(bootstrap_curve(Y, {"a": P, "b": OTHER, "c": SCORE}, **FEW)) == ["a", "b", "c"]


def test_a_table_of_curves_is_shown_and_saved(tmp_path):
    table = bootstrap_curve(Y, {"new": P, "old": OTHER}, curve="decision", **FEW)
    assert isinstance(table, ResultTable)
    assert "Decision curve of new on 240 test rows" in table.summary()
    assert table.claim().count("\n") == 2
    assert table.to_markdown().count("threshold probability") == 3
    assert "difference of decision curves (new - old)" in table.to_html()
    table.save(tmp_path / "curves.npz")
    assert ResultTable.load(tmp_path / "curves.npz") == table


# ------------------------------------------------------------------ points


def test_a_point_has_its_own_interval_whatever_the_band():
    for band in ("simultaneous", "pointwise"):
        result = bootstrap_curve(Y, SCORE, band=band, grid=[0.05, 0.1, 0.2], **FEW)
        point = result.at(0.1)
        assert point.estimate == result.estimate[1]
        assert_array_equal(point.bootstrap_distribution, result.bootstrap_distribution[:, 1])
        inside = result.low[1] <= point.confidence_interval.low
        assert inside if band == "simultaneous" else result.low[1] == point.confidence_interval.low
        assert "false positive rate 0.1" in point.summary()


@pytest.mark.parametrize("band", ["simultaneous", "pointwise"])
def test_nothing_is_claimed_of_a_rate_below_that_of_one_negative(band):
    """There the resamples agree, and know nothing of the scores that were not drawn."""
    n = N - Y.sum()
    result = bootstrap_curve(Y, SCORE, band=band, grid=[0.3 / n, 1.5 / n, 0.2], **FEW)
    beyond, between, inside = (result.at(x).confidence_interval for x in result.x)
    assert beyond == (0, 1)
    assert between.low == 0
    assert between.high < 1
    assert 0 < inside.low < inside.high < 1
    miss = bootstrap_curve(Y, SCORE, curve="det", band=band, grid=result.x, **FEW)
    assert_allclose(miss.at(result.x[1]).confidence_interval, 1 - np.array(between)[::-1])
    if band == "pointwise":
        assert_array_equal(result.low, [beyond.low, between.low, inside.low])


def test_a_point_without_a_value_says_so():
    def lacking(y_true, y_score, grid):
        return [np.nan, 1.0]

    with pytest.warns(UndefinedMetricWarning, match="no value at 1 of 2 points"):
        result = bootstrap_curve(Y, P, curve=lacking, grid=[0.2, 0.4], **FEW)
    assert np.isnan([result.low[0], result.high[0]]).all()
    point = result.at(0.2)
    assert np.isnan(point.estimate)
    assert "no value at this point" in point.claim()
    assert result.n_undefined == 0


def test_two_factors_have_two_numbers_of_units():
    groups = np.column_stack((GROUPS, np.arange(N) % 17))
    with pytest.warns(UserWarning, match="fewer than 40 members on one side"):
        result = bootstrap_curve(Y, P, groups=groups, **FEW)
    assert result.n_units == (30, 17)
    assert "30 and 17 members of each factor resampled" in result.claim()


def test_a_point_beside_the_grid_is_refused_with_its_neighbours():
    result = bootstrap_curve(Y, SCORE, grid=[0.05, 0.1, 0.2], **FEW)
    with pytest.raises(ValueError, match=r"nearest points are 0.1 and 0.2.*grid=\[0.16\]"):
        result.at(0.16)
    with pytest.raises(ValueError, match=r"'x' .* nan"):
        result.at(np.nan)


def test_a_bin_of_independent_rows_has_the_interval_of_a_proportion():
    result = bootstrap_curve(Y, P, curve="calibration", **FEW)
    assert result.at(result.x[5]).confidence_interval.method == "wilson"


# ------------------------------------------------------------------ results


def test_a_result_is_constant_and_equal_to_what_was_saved(tmp_path):
    result = bootstrap_curve(Y, P, curve="calibration", groups=GROUPS, **FEW)
    result.save(tmp_path / "curve.npz")
    assert CurveResult.load(tmp_path / "curve.npz") == result
    with pytest.raises(AttributeError):
        result.low = 0
    with pytest.raises(ValueError, match="read-only"):
        result.low[0] = 0
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)
    assert result != bootstrap_curve(Y, OTHER, curve="calibration", groups=GROUPS, **FEW)


def test_data_frames_have_a_row_per_point():
    pytest.importorskip("pandas")
    table = bootstrap_curve(Y, {"new": P, "old": OTHER}, curve="decision", **FEW)
    frame = table.to_frame()
    assert list(frame["name"].unique()) == ["new", "old", "difference"]
    assert len(frame) == sum(len(each.x) for each in table.values())
    columns = ["curve", "x", "estimate", "low", "high", "reference"]
    assert list(table["new"].to_frame()) == columns


def test_a_result_says_what_it_is():
    result = bootstrap_curve(Y, SCORE, n_resamples=199, random_state=0)
    assert result.claim().startswith(
        "The ROC curve was estimated on 240 test rows; its 95% simultaneous confidence band holds "
        "for the whole curve at once"
    )
    assert "240 rows resampled 199 times" in result.summary()
    record = result.to_dict()
    assert "bootstrap_distribution" not in record
    assert record["x"][0] == pytest.approx(1 / (Y == 0).sum())


def test_bins_without_rows_on_a_resample_are_counted_and_warned_of():
    edges = [0, P.min() + 1e-9, 0.5, 1]
    with pytest.warns(UndefinedMetricWarning, match="undefined on .* of 99 resamples"):
        result = bootstrap_curve(Y, P, curve="calibration", grid=edges, **FEW)
    empty = np.isnan(result.bootstrap_distribution[:, 0]).sum()
    assert result.n_undefined == empty > 0


@pytest.mark.parametrize(
    ("score", "told"), [(np.round(SCORE), True), (SCORE, False), (Y + P / 4, False)]
)
@pytest.mark.parametrize("curve", ["precision_recall", "roc"])
def test_precision_of_scores_of_few_levels_is_said_to_be_steps(curve, score, told):
    told = told and curve == "precision_recall"
    with pytest.warns(UserWarning, match="levels") if told else nullcontext():
        result = bootstrap_curve(Y, score, curve=curve, **FEW)
    assert ("levels" in result.summary()) == told


def test_few_groups_are_warned_of():
    with pytest.warns(UserWarning, match="Only 8 groups"):
        bootstrap_curve(Y, P, groups=np.arange(N) % 8, **FEW)


# ------------------------------------------------------------------ functions


def test_a_function_of_rows_is_a_curve_as_well():
    def hits(y_true, y_score, grid):
        return [(y_score[y_true == 1] >= x).mean() for x in grid]

    result = bootstrap_curve(Y, P, curve=hits, grid=[0.2, 0.5, 0.8], **FEW)
    assert result.curve == "hits"
    assert result.reference is None
    assert_allclose(result.estimate, hits(Y, P, [0.2, 0.5, 0.8]))
    assert (result.low < result.high).all()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda y_true, y_score, grid: 1.0, "shape"),
        (lambda y_true, y_score, grid: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_function_that_fails_on_the_data_is_named(function, words):
    with pytest.raises(ValueError, match=words):
        bootstrap_curve(Y, P, curve=function, grid=[0.5], **FEW)


def test_a_function_that_fails_on_a_resample_is_named_with_its_number():
    calls = []

    def fragile(y_true, y_score, grid):
        calls.append(1)
        if len(calls) == 4:
            raise KeyError("late")
        return np.zeros(len(grid))

    with pytest.raises(RuntimeError, match="KeyError on resample 2"):
        bootstrap_curve(Y, P, curve=fragile, grid=[0.5], **FEW)


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"curve": "rok"}, "'curve' .*'rok'. Did you mean 'roc'"),
        ({"curve": "precision_recal"}, "Did you mean 'precision_recall'"),
        ({"band": "both"}, "'band' .*simultaneous"),
        ({"y_score": Y}, "'y_score' .* the labels .*predict_proba"),
        ({"y_score": Y.astype(float)}, "'y_score' .* the labels"),
        ({"y_score": Y == 1}, "'y_score' .* the labels"),
        ({"y_score": np.where(Y, "a", "b")}, "'y_score' .* text"),
        ({"y_score": np.zeros(N)}, "'y_score' .* the labels"),
        ({"y_score": SCORE, "curve": "calibration"}, "probabilities .*expit"),
        ({"y_score": SCORE, "curve": "decision"}, "probabilities"),
        ({"y_score": np.column_stack((P, P, P))}, r"'y_score' .*shape \(240, 3\)"),
        ({"y_score": P[:9]}, "as many rows"),
        ({"y_score": np.append(P[1:], np.nan)}, "NaN"),
        ({"y_score": {"difference": P}}, "'difference'"),
        ({"y_score": {}}, "'y_score'"),
        ({"y_score": {1: P}}, "text as each key"),
        ({"y_true": np.ones(N)}, "'y_true' .*two classes.* alone"),
        ({"y_true": np.arange(N) % 3}, "'y_true' .*two classes.*3 labels"),
        ({"y_true": np.column_stack((Y, Y))}, "'y_true' .*shape .*a curve for each label"),
        ({"pos_label": 2}, "'pos_label'"),
        ({"y_score": [P, OTHER]}, r"'y_score' .*shape \(2, 240\).* a dict"),
        ({"grid": [0.1, np.nan]}, "'grid' .*finite.* nan at position 1"),
        ({"grid": [np.inf, 0.1]}, "'grid' .*finite.* inf at position 0"),
        ({"grid": 0.1}, r"'grid' .*shape \(n_grid,\).* shape \(\).* grid=\[0.1\]"),
        ({"grid": []}, r"'grid' .*shape \(0,\)"),
        ({"grid": [[0.1, 0.2]]}, r"'grid' .*shape \(1, 2\)"),
        ({"grid": [0.5, 0.1]}, r"'grid' .*rise.* 0.5 before 0.1.* np.unique"),
        ({"grid": [0.1, 0.1]}, "'grid' .*rise"),
        ({"grid": [0.1, 1.1]}, r"'grid' .*\[0, 1\]"),
        ({"grid": [0.0, 0.1], "curve": "precision_recall"}, r"'grid' .*\(0, 1\]"),
        ({"grid": [0.5, 1.0], "curve": "decision"}, r"'grid' .*\(0, 1\)"),
        ({"grid": [0.4, 0.5], "curve": "calibration"}, "'grid' .*edges"),
        ({"grid": ["a"]}, "'grid' .*numbers.* <U1"),
        ({"n_bins": 1}, "'n_bins'"),
        ({"curve": lambda y, s, g: g}, "'grid' .*be given"),
        (
            {"curve": lambda y, s, g: g, "grid": [0.5], "sample_weight": np.ones(N)},
            "'sample_weight'",
        ),
        ({"sample_weight": Y}, "'sample_weight' .*each class"),
        ({"groups": GROUPS[:9]}, "'groups'"),
        ({"confidence_level": 95}, "'confidence_level'"),
        ({"n_resamples": 1}, "'n_resamples'"),
    ],
)
def test_bad_input_is_refused_before_any_work(change, words):
    arguments = {"y_true": Y, "y_score": P, "random_state": 0, **change}
    with pytest.raises(ValueError, match=words):
        bootstrap_curve(arguments.pop("y_true"), arguments.pop("y_score"), **arguments)


def test_a_smoothed_curve_needs_different_probabilities():
    with pytest.raises(ValueError, match="three different"):
        bootstrap_curve(Y, np.where(Y, 0.3, 0.6), curve="calibration_smooth")


# ------------------------------------------------------------------ area


AREAS = {"roc": roc_auc_score, "precision_recall": average_precision_score}


@pytest.mark.parametrize("weights", [None, np.arange(N) % 5 / 2])
@pytest.mark.parametrize("levels", [None, 12])
@pytest.mark.parametrize("curve", AREAS)
def test_the_area_is_that_of_scikit_learn_with_ties_and_weights(curve, levels, weights):
    score = SCORE if levels is None else np.round(P * levels)
    result = bootstrap_curve(Y, score, curve=curve, sample_weight=weights, **FEW)
    assert result.area == pytest.approx(AREAS[curve](Y, score, sample_weight=weights), abs=1e-12)
    assert result.to_dict()["area"] == result.area
    text = np.where(Y == 1, "b", "a")
    of_text = bootstrap_curve(text, score, curve=curve, pos_label="a", **FEW)
    assert of_text.area == pytest.approx(AREAS[curve](1 - Y, score), abs=1e-12)


def test_other_curves_and_differences_have_no_area(tmp_path):
    for curve in set(NAMES) - set(AREAS):
        assert bootstrap_curve(Y, P, curve=curve, **FEW).area is None
    table = bootstrap_curve(Y, {"A": P, "B": OTHER}, **FEW)
    assert table["difference"].area is None
    table["A"].save(tmp_path / "a.skboot")
    assert CurveResult.load(tmp_path / "a.skboot").area == table["A"].area


# ------------------------------------------------------------------ in a notebook


def test_a_notebook_shows_the_curve_once_and_the_same_curve_gives_the_same_page():
    plt = pytest.importorskip("matplotlib.pyplot")
    open_figures = plt.get_fignums()
    curves = bootstrap_curve(Y, {"a": SCORE, "b": OTHER}, **FEW)
    page = curves["a"]._repr_html_()
    assert page.count("<img ") == 1
    assert "data:image/svg+xml;base64," in page
    # Its numbers are one click away.
    assert page.index("<img ") < page.index("<details>") < page.index("<table")
    assert page == curves["a"]._repr_html_()
    # With the difference.
    assert curves._repr_html_().count("<img ") == 3
    assert plt.get_fignums() == open_figures


def test_a_notebook_without_matplotlib_shows_points_of_the_curve(monkeypatch):
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    page = bootstrap_curve(Y, SCORE, **FEW)._repr_html_()
    assert "<img" not in page
    assert "<table" in page
    assert "in the table" in page
