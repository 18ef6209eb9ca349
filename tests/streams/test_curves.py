"""Curves of streams: those of repeated rows, and bounds on what intervals of scores change."""

import numpy as np
import pytest
from designs import weights_in_a_stream
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_curve

from skboot import BootstrapAccumulator, Trials, bootstrap_curve, scan_dataset
from skboot.plots import CurveBandDisplay
from skboot.results import CurveResult

# Resamples of so few intervals hide an order that matters, which is warned of.
FEW_INTERVALS = pytest.mark.filterwarnings("ignore:.*Resamples do not see the order")

N, B = 1500, 60
RNG = np.random.default_rng(5)
TRUTH = (RNG.random(N) < 0.4).astype(int)
SCORES = np.round(RNG.normal(size=N) + 1.2 * TRUTH, 2)
OTHERS = np.round(RNG.normal(size=N) + 0.8 * TRUTH, 2)
WEIGHTS = RNG.random(N) + 0.5
RATES = np.array([0.01, 0.05, 0.1, 0.3, 0.5, 0.9])
CURVES = ["roc", "det", "precision_recall", "decision"]
SHAPES = {
    "normal": lambda z: z,
    "probabilities": expit,
    "saturated": lambda z: expit(12 * z - 3),
    "log-odds": lambda z: np.exp(3 * z),
}


def accumulator(n_bins=1024, systems=None, n_resamples=B, metric="roc_auc"):
    options = {"n_resamples": n_resamples, "n_bins": n_bins, "systems": systems}
    return BootstrapAccumulator(metric, random_state=3, **options)


def true_positives(y, s, w, grid):
    fpr, tpr, _ = roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    return np.interp(grid, fpr, tpr)


def precisions(y, s, w, grid):
    precision, recall, _ = precision_recall_curve(y, s, sample_weight=w)
    return np.array([precision[np.flatnonzero(recall >= x - 1e-12)[-1]] for x in grid])


def benefits(y, s, w, grid):
    w = np.ones(len(y)) if w is None else w
    treated = s[:, None] >= grid
    return ((w * y) @ treated - (w * (1 - y)) @ treated * grid / (1 - grid)) / w.sum()


FUNCTIONS = {
    "roc": true_positives,
    "det": lambda *rows: 1 - true_positives(*rows),
    "precision_recall": precisions,
    "decision": benefits,
}


# ------------------------------------------------------------------ the same rows


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weights"])
@pytest.mark.parametrize("curve", CURVES)
def test_replicates_are_those_of_scikit_learn_on_rows_repeated_by_their_number(curve, weights):
    scores = expit(SCORES)
    found = accumulator().update(TRUTH, scores, start=0, sample_weight=weights)
    result = found.curve(curve, grid=RATES)
    repeated = weights_in_a_stream(3, B, np.arange(N))
    for resample in (0, 7, B - 1):
        rows = np.repeat(np.arange(N), repeated[:, resample])
        own = None if weights is None else weights[rows]
        expected = FUNCTIONS[curve](TRUTH[rows], scores[rows], own, RATES)
        assert_allclose(result.bootstrap_distribution[resample], expected, rtol=0, atol=1e-9)
    assert_allclose(result.estimate, FUNCTIONS[curve](TRUTH, scores, weights, RATES), atol=1e-9)
    assert result.bin_error is None


@pytest.mark.parametrize("n_bins", [16, 1024])
def test_any_partition_and_order_gives_the_same_bits(n_bins):
    whole = accumulator(n_bins).update(TRUTH, SCORES, start=0)
    order = np.random.default_rng(1).permutation(N)
    shards = [
        accumulator(n_bins).update(TRUTH[rows], SCORES[rows], ids=rows)
        for rows in np.array_split(order, 7)
    ]
    merged = BootstrapAccumulator.from_bytes(shards.pop(3).to_bytes())
    for shard in shards:
        merged.merge(BootstrapAccumulator.from_bytes(shard.to_bytes()))
    for curve in ("roc", "precision_recall"):
        assert merged.curve(curve) == whole.curve(curve)


def test_columns_of_dask_and_of_files_give_the_bits_of_one_process(tmp_path):
    da = pytest.importorskip("dask.array")
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    expected = accumulator().update(TRUTH, SCORES, start=0).curve()
    options = {"n_resamples": B, "random_state": 3}
    lazy = [da.from_array(column, chunks=400) for column in (TRUTH, SCORES)]
    parquet.write_table(pa.table({"y": TRUTH, "s": SCORES}), tmp_path / "rows.parquet")
    data = scan_dataset(tmp_path)
    for columns in (lazy, (data["y"], data["s"]), (TRUTH, data["s"])):
        found = bootstrap_curve(*columns, **options)
        for name in ("x", "estimate", "low", "high", "bootstrap_distribution"):
            assert_array_equal(getattr(found, name), getattr(expected, name))
        assert "Poisson resamples" in found.summary()


def test_of_groups_whole_groups_are_drawn():
    groups = np.arange(N) // 10
    found = accumulator().update(TRUTH, SCORES, groups=groups).curve(grid=RATES)
    in_memory = bootstrap_curve(TRUTH, SCORES, groups=groups, grid=RATES, random_state=0)
    assert found.unit == "group"
    assert found.n_units == 150
    assert_allclose(found.estimate, in_memory.estimate, atol=1e-12)
    assert_allclose(found.high - found.low, in_memory.high - in_memory.low, rtol=0.4)


@pytest.mark.parametrize("curve", CURVES)
def test_the_grid_of_a_curve_is_that_of_rows_in_memory(curve):
    scores = expit(SCORES)
    found = accumulator().update(TRUTH, scores, start=0).curve(curve)
    assert_array_equal(found.x, bootstrap_curve(TRUTH, scores, curve=curve, n_resamples=2).x)


def test_rows_with_weights_are_worth_about_as_many_as_by_kish():
    found = accumulator(n_resamples=999).update(TRUTH, SCORES, start=0, sample_weight=WEIGHTS)
    result = found.curve(grid=RATES)
    own = WEIGHTS[TRUTH == 1]
    worth = own.sum() ** 2 / np.sum(own**2)
    # A variance of 999 resamples has a standard error of 4.5%.
    assert_allclose(result._behind, worth, rtol=0.18)
    assert result._weighted


# ------------------------------------------------------------------ several systems


def test_two_systems_have_the_difference_of_the_same_resamples():
    systems = {"new": SCORES, "old": OTHERS}
    found = accumulator(systems=list(systems)).update(TRUTH, systems, start=0)
    table = found.curve(grid=RATES)
    assert list(table) == ["new", "old", "difference"]
    drawn = [table[name].bootstrap_distribution for name in table]
    assert_allclose(drawn[2], drawn[0] - drawn[1], atol=1e-15)
    alone = accumulator().update(TRUTH, OTHERS, start=0).curve(grid=RATES)
    assert_array_equal(drawn[1], alone.bootstrap_distribution)


def test_a_dict_of_lazy_columns_is_a_table():
    da = pytest.importorskip("dask.array")
    scores = {"new": da.from_array(SCORES, chunks=700), "old": da.from_array(OTHERS, chunks=700)}
    table = bootstrap_curve(TRUTH, scores, n_resamples=B, random_state=3)
    assert list(table) == ["new", "old", "difference"]
    assert table["difference"]._is_difference


# ------------------------------------------------------------------ scores in intervals


@pytest.mark.parametrize("n_bins", [2, 8])
@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_curve_of_all_scores_is_within_the_bound_and_inside_the_band(shape, curve, n_bins):
    if curve == "decision" and shape not in ("probabilities", "saturated"):
        pytest.skip("net benefit is of probabilities")
    rng = np.random.default_rng(n_bins)
    truth = rng.integers(0, 2, 3000)
    scores = SHAPES[shape](rng.normal(size=3000) + 1.5 * truth)
    result = accumulator(n_bins).update(truth, scores, start=0).curve(curve)
    exact = bootstrap_curve(truth, scores, curve=curve, grid=result.x, n_resamples=2).estimate
    off = np.abs(result.estimate - exact)
    assert off.max() > 0
    assert np.all(off <= result.bin_error + 1e-12)
    assert np.all((result.low <= exact + 1e-12) & (exact <= result.high + 1e-12))
    at = len(result.x) // 2
    point = result.at(result.x[at]).confidence_interval
    assert point.low <= exact[at] + 1e-12
    assert exact[at] <= point.high + 1e-12


@pytest.fixture(scope="module", params=["probabilities", "saturated"])
def streams(request):
    """Streams of the same rows, by the number of intervals."""
    rng = np.random.default_rng(8)
    truth = (rng.random(30_000) < 0.3).astype(int)
    scores = SHAPES[request.param](rng.normal(size=30_000) + 1.5 * truth)
    return {
        n_bins: accumulator(n_bins, n_resamples=499).update(truth, scores, start=0)
        for n_bins in (60, 300, 30_000)
    }


@pytest.mark.parametrize("curve", CURVES)
def test_resamples_in_intervals_vary_as_those_of_all_scores(curve, streams):
    grid = [0.02, 0.05, 0.1, 0.2, 0.5, 0.8]
    all_scores = streams[30_000].curve(curve, grid=grid)
    # Of the same 499 resamples; intervals and what they lack leave the rest.
    for few, most in ((60, 1.25), (300, 1.15)):
        found = streams[few].curve(curve, grid=grid)
        spreads = [each.bootstrap_distribution.std(axis=0) for each in (found, all_scores)]
        ratio = spreads[0] / spreads[1]
        assert np.all(ratio > 0.85)
        assert np.all(ratio < most)
        off = np.abs(found.estimate - all_scores.estimate)
        assert np.all(off <= found.bin_error + 1e-12)


@pytest.mark.parametrize("curve", ["roc", "det", "precision_recall"])
def test_the_bound_is_that_of_the_worst_order_within_the_intervals(curve):
    rng = np.random.default_rng(3)
    n = 20_000
    truth = (rng.random(n) < 0.4).astype(int)
    # 4096 intervals of the data, of eight numbers each.
    interval = 2**15 + 8 * rng.integers(0, 4096, n)
    grid = [0.03, 0.2, 1 / 3, 0.5, 0.8, 0.97]
    found = accumulator(64).update(truth, interval + rng.integers(0, 8, n), start=0)
    result = found.curve(curve, grid=grid)
    inside = [rng.integers(0, 8, n) for _ in range(30)] + [7 * truth, 7 * (1 - truth)]
    options = {"curve": curve, "grid": grid, "n_resamples": 2}
    curves = [bootstrap_curve(truth, interval + each, **options).estimate for each in inside]
    off = np.abs(curves - result.estimate).max(axis=0)
    assert np.all(off <= result.bin_error + 1e-12)
    if curve != "precision_recall":
        assert_allclose(off, result.bin_error, atol=1e-12)


@pytest.mark.parametrize("curve", ["roc", "det", "precision_recall"])
def test_scores_that_are_equal_stay_ties(curve):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 5000)
    spread = expit(9 * rng.normal(size=5000) + 14 * truth - 7).astype(np.float32)
    assert np.mean(spread == 1) > 0.05
    result = accumulator(8).update(truth, spread, start=0).curve(curve, grid=[0.002, 0.05, 0.2])
    exact = bootstrap_curve(truth, spread, curve=curve, grid=result.x, n_resamples=2)
    assert_allclose(result.estimate[0], exact.estimate[0], atol=1e-12)
    assert result.bin_error[0] == 0


@FEW_INTERVALS
def test_ties_add_nothing_to_the_bound_of_an_area():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 3000)
    # Intervals of sixteen numbers, and one number alone.
    scores = np.append(rng.integers(1024, 2048, 2000), np.full(1000, 4096)).astype(float)
    result = accumulator(2).update(truth, scores, start=0).result()
    interval, tied = (scores // 16).astype(int), scores == 4096
    pairs = np.bincount(interval, truth * ~tied) @ np.bincount(interval, (1 - truth) * ~tied)
    expected = 0.5 * pairs / (truth.sum() * (1 - truth).sum())
    (note,) = [note for note in result.notes if "intervals" in note]
    assert 0 <= float(note.split("at most ")[2].split(";")[0]) - expected < 1e-6


def test_ties_add_nothing_to_the_bound_of_an_average_precision():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 3000)
    few = np.append(rng.integers(1024, 2048, 200), np.full(2800, 4096)).astype(float)
    result = accumulator(2, metric="average_precision").update(truth, few, start=0).result()
    (note,) = [note for note in result.notes if "intervals" in note]
    bound = float(note.split("at most ")[2].split(";")[0])
    # Only the lowest can move.
    assert abs(result.estimate - average_precision_score(truth, few)) <= bound < 200 / truth.sum()


def test_where_an_interval_holds_most_rows_the_limits_are_free():
    found = accumulator(2).update(TRUTH, SCORES, start=0)
    result = found.curve("precision_recall", grid=[0.001, 0.5, 0.999])
    wide = np.isinf(result.bin_error)
    assert wide.any()
    assert (result.low[wide] == 0).all()
    assert (result.high[wide] == 1).all()
    (note,) = [note for note in result.notes if "too many rows" in note]
    assert note.startswith(f"At {wide.sum()} point")


def test_the_note_names_the_largest_bound():
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 4000), rng.normal(size=4000)
    result = accumulator(16).update(truth, scores, start=0).curve(grid=[0.2, 0.5])
    (note,) = [note for note in result.notes if "at most 1024 intervals (16 for resamples)" in note]
    said = float(note.split("at most ")[2].split(" ")[0])
    assert 0 <= said - result.bin_error.max() < 1e-6


def test_a_curve_in_intervals_is_saved_drawn_and_laid_out(tmp_path):
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 4000), rng.normal(size=4000)
    result = accumulator(16).update(truth, scores, start=0).curve()
    result.save(tmp_path / "curve")
    assert CurveResult.load(next(tmp_path.iterdir())) == result
    assert result.to_dict()["bin_error"] is not None
    pytest.importorskip("pandas")
    assert "bin_error" in result.to_frame()
    pytest.importorskip("matplotlib")
    assert CurveBandDisplay.from_result(result).ax_ is not None


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize("curve", ["calibration", "calibration_smooth", lambda *rows: 0.0])
def test_curves_that_need_all_rows_are_refused(curve):
    found = accumulator().update(TRUTH, SCORES, start=0)
    with pytest.raises(ValueError, match=r"'curve' parameter of BootstrapAccumulator\.curve"):
        found.curve(curve)
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="'curve' parameter of bootstrap_curve"):
        bootstrap_curve(da.from_array(TRUTH), SCORES, curve=curve, grid=[0.5])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("strata", TRUTH),
        ("block_length", 5),
        ("groups", Trials(TRUTH, TRUTH)),
        ("band", "wide"),
        ("grid", [2.0]),
        ("n_resamples", 1),
        ("confidence_level", 95),
    ],
)
def test_arguments_are_refused_by_name_before_a_row_is_read(name, value):
    da = pytest.importorskip("dask.array")
    never = da.from_array(TRUTH).map_blocks(lambda _: 1 / 0, dtype=int)
    with pytest.raises(ValueError, match=f"'{name}' parameter of bootstrap_curve"):
        bootstrap_curve(never, SCORES, **{name: value})


def test_a_metric_without_scores_has_no_curve():
    found = accumulator(metric="accuracy").update(TRUTH, TRUTH, start=0)
    with pytest.raises(ValueError, match="'metric' parameter of BootstrapAccumulator"):
        found.curve()


def test_no_system_is_called_like_the_difference():
    systems = {"difference": SCORES, "other": OTHERS}
    found = accumulator(systems=list(systems)).update(TRUTH, systems, start=0)
    with pytest.raises(ValueError, match="'systems' parameter of BootstrapAccumulator"):
        found.curve()


@pytest.mark.parametrize(
    ("truth", "scores", "argument"),
    [
        (TRUTH, TRUTH, "y_pred"),
        (np.ones(N, dtype=int), SCORES, "y_true"),
        (np.where(TRUTH, "yes", "no"), SCORES, "pos_label"),
    ],
)
def test_labels_one_class_and_nameless_classes_are_refused(truth, scores, argument):
    found = accumulator().update(truth, scores, start=0)
    with pytest.raises(ValueError, match=f"'{argument}' parameter of BootstrapAccumulator.curve"):
        found.curve()


def test_a_positive_label_of_text_is_named():
    named = accumulator().update(np.where(TRUTH, "yes", "no"), SCORES, start=0)
    plain = accumulator().update(TRUTH, SCORES, start=0).curve()
    assert_array_equal(named.curve(pos_label="yes").low, plain.low)


def test_decision_curves_are_of_probabilities():
    found = accumulator().update(TRUTH, SCORES, start=0)
    with pytest.raises(ValueError, match=r"'y_pred' .* probabilities"):
        found.curve("decision")


@pytest.mark.parametrize("curve", ["roc", "det", "precision_recall"])
def test_curves_of_fewer_than_thirty_rows_are_those_of_arrays(curve):
    found = accumulator().update(TRUTH[:20], SCORES[:20], start=0)
    options = {"random_state": 3, "n_resamples": B}
    expected = bootstrap_curve(TRUTH[:20], SCORES[:20], curve=curve, **options)
    assert found.curve(curve) == expected
