"""Rows in time: what ``block_length`` means for each public function.

Resamples are compared with blocks that are put together here, row by row, from the same starts, and
with those of arch; lengths with those of arch; variances with a Newey-West estimate.
"""

import json
import math
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from designs import starts_of_blocks
from scipy import signal
from sklearn.metrics import accuracy_score, f1_score, mean_absolute_error, r2_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB

from skboot import (
    BootstrapAccumulator,
    BootstrapScorer,
    bootstrap_curve,
    bootstrap_runs,
    bootstrap_score,
    compare_runs,
    compare_systems,
    search_score,
)
from skboot.testing import assert_not_worse

# Calls here draw few resamples, and some few blocks, of which they warn.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(too few for a quantile|Most of the variation|decides? th|were resampled .fewer|"
    "are averaged)"
)

N = 240
ARCH = Path(__file__).parents[1] / "references" / "series"


def autoregressive(seed, n=N, coefficient=0.7):
    rng = np.random.default_rng(seed)
    return signal.lfilter([1], [1, -coefficient], rng.standard_normal(n + 200))[200:]


Y = np.sin(np.arange(N) / 10)
ERROR = autoregressive(0)
FORECAST = Y + ERROR
OTHER = Y + 0.8 * ERROR + 0.3 * autoregressive(1)
SERIES = np.random.default_rng(2).permutation(np.repeat(np.arange(4), [90, 70, 50, 30]))
LABEL = (Y + autoregressive(3) > 0).astype(int)
SCORE = LABEL + autoregressive(4, coefficient=0.5)


def rows_of(seed, n_resamples, length, series=None):
    """Rows of each resample: blocks of consecutive rows of a series, the last one cut."""
    series = np.zeros(N, int) if series is None else series
    # A block of resamples is drawn whole, and the first of it are those of the call.
    starts = starts_of_blocks(seed, N, length, series)
    resamples = []
    for of_resample in starts[:n_resamples].tolist():
        rows, first = [], 0
        for s in range(series.max() + 1):
            own = np.flatnonzero(series == s)
            left = len(own)
            while left > 0:
                at = of_resample.pop(0) - first
                rows += [own[(at + k) % len(own)] for k in range(min(length, left))]
                left -= length
            first += len(own)
        resamples.append(np.array(rows))
    return resamples


METRICS = {
    "mean_absolute_error": (mean_absolute_error, Y, FORECAST),
    "r2": (r2_score, Y, FORECAST),
    "roc_auc": (roc_auc_score, LABEL, SCORE),
    "f1": (f1_score, LABEL, (SCORE > 0.5).astype(int)),
}


@pytest.mark.parametrize("length", [1, 2, 7, 50])
@pytest.mark.parametrize("of_panel", [False, True], ids=["series", "panel"])
@pytest.mark.parametrize("metric", METRICS)
def test_a_replicate_is_the_metric_on_blocks_of_rows(metric, of_panel, length):
    if length == 50 and of_panel:
        pytest.skip("The shortest series is shorter.")
    function, y_true, y_pred = METRICS[metric]
    strata = SERIES if of_panel else None
    options = {"n_resamples": 25, "random_state": 5, "interval": "percentile"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = bootstrap_score(
            y_true, y_pred, metric=metric, block_length=length, strata=strata, **options
        )
    if length > 1:
        rows = rows_of(5, 25, length, strata)
        expected = [function(y_true[r], y_pred[r]) for r in rows]
        np.testing.assert_allclose(result.bootstrap_distribution, expected, rtol=1e-12)
    assert result.unit == "block"
    sizes = [90, 70, 50, 30] if of_panel else [N]
    assert result.n_units == sum(math.ceil(n / length) for n in sizes)
    assert result.settings["block_length"] == length


def test_a_callable_and_weights_are_evaluated_on_the_same_blocks():
    weight = np.random.default_rng(6).random(N)
    options = {"block_length": 9, "n_resamples": 20, "random_state": 5, "sample_weight": weight}

    def largest(y_true, y_pred, sample_weight):
        return float(np.average(np.abs(y_true - y_pred) ** 3, weights=sample_weight))

    result = bootstrap_score(Y, FORECAST, metric=largest, **options)
    expected = [largest(Y[r], FORECAST[r], weight[r]) for r in rows_of(5, 20, 9)]
    np.testing.assert_allclose(result.bootstrap_distribution, expected, rtol=1e-12)


@pytest.mark.parametrize("length", [4, 10, 48])
@pytest.mark.parametrize("metric", METRICS)
def test_replicates_are_those_of_arch_on_the_same_blocks(metric, length, monkeypatch):
    """`references/series/make.py` scores the resamples of arch's circular block bootstrap."""
    truth, forecast, label, score = np.loadtxt(ARCH / "data.csv", delimiter=",", skiprows=1).T
    rows = np.loadtxt(ARCH / f"rows_{length}.csv", delimiter=",", dtype=int)
    expected = json.loads((ARCH / "scores.json").read_text())[str(length)][metric]
    starts = rows[:, ::length]
    monkeypatch.setattr("skboot.study.series.FEWEST_BLOCKS", 1)  # the longest makes three
    monkeypatch.setattr(
        "skboot.resampling.series.SeriesDesign.draw",
        lambda *given: (np.resize(starts, (given[2], starts.shape[1])),),
    )
    y_true, y_pred = {
        "roc_auc": (label, score),
        "f1": (label, (score > 0.5).astype(float)),
    }.get(metric, (truth, forecast))
    options = {"block_length": length, "n_resamples": len(rows), "interval": "percentile"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = bootstrap_score(y_true, y_pred, metric=metric, **options)
    np.testing.assert_allclose(result.bootstrap_distribution, expected, rtol=1e-12)


def test_blocks_of_one_row_are_rows():
    rows = bootstrap_score(LABEL, LABEL ^ (np.arange(N) % 9 == 0), random_state=0)
    blocks = bootstrap_score(LABEL, LABEL ^ (np.arange(N) % 9 == 0), block_length=1, random_state=0)
    assert tuple(rows.confidence_interval) == tuple(blocks.confidence_interval)
    np.testing.assert_array_equal(rows.bootstrap_distribution, blocks.bootstrap_distribution)
    assert blocks.unit == "block"


def test_the_standard_error_is_that_of_dependent_rows():
    """The variance of a circular block bootstrap of a mean has a closed form."""
    values, length = np.abs(ERROR), 12
    result = bootstrap_score(
        None, values, metric="mean", block_length=length, n_resamples=20_000, random_state=0
    )
    sums = [np.take(values, range(start, start + length), mode="wrap").sum() for start in range(N)]
    expected = np.sqrt(N / length * np.var(sums)) / N
    # The relative error of a standard deviation of 20000 is .005; false alarm 1e-4.
    assert result.standard_error == pytest.approx(expected, rel=0.02)
    assert result.standard_error > 1.5 * np.std(values) / np.sqrt(N)


@pytest.mark.parametrize(
    "interval", ["percentile", "expanded", "basic", "normal", "t", "bca", "studentized"]
)
def test_blocks_have_the_intervals_of_units(interval):
    options = {"metric": "mean_absolute_error", "block_length": 8, "random_state": 0}
    low, high = bootstrap_score(Y, FORECAST, interval=interval, **options).confidence_interval
    rows = bootstrap_score(Y, FORECAST, metric="mean_absolute_error", block_length=1)
    least, most = rows.confidence_interval
    assert high - low > 1.2 * (most - least)


@pytest.mark.parametrize("interval", ["wilson", "clopper-pearson", "wald", "delong"])
def test_intervals_of_independent_rows_are_refused(interval):
    with pytest.raises(ValueError, match="independent"):
        bootstrap_score(LABEL, SCORE > 0.5, interval=interval, block_length=5, metric="accuracy")


def test_a_system_without_error_has_an_interval():
    with pytest.warns(UserWarning, match=r"Only 12 blocks were resampled \(fewer than 25\)"):
        result = bootstrap_score(LABEL, LABEL, block_length=20, random_state=0)
    low, high = result.confidence_interval
    assert high == 1.0
    assert low < 0.9
    assert any(note.startswith("No block shows any error") for note in result.notes)


# ------------------------------------------------------------------ how long blocks are


def length_of(values):
    """The length for a mean, which is compared with that of arch below."""
    result = bootstrap_score(None, values, metric="mean", block_length="auto", n_resamples=30)
    return result.settings["block_length"]


def test_the_length_of_a_mean_is_that_of_its_values():
    result = bootstrap_score(Y, FORECAST, metric="mean_absolute_error", block_length="auto")
    assert result.settings["block_length"] == length_of(np.abs(ERROR)) > 3


@pytest.mark.parametrize(
    "of", json.loads((ARCH / "lengths.json").read_text()).items(), ids=lambda of: of[0]
)
def test_the_length_is_that_of_arch_rounded_up(of):
    name, found = of
    values = np.array(found["values"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = bootstrap_score(
            None, values, metric="mean", block_length="auto", n_resamples=9, interval="percentile"
        )
    expected = max(1, math.ceil(found["length"] - 1e-9))
    assert result.settings["block_length"] == expected, name


def test_the_length_of_a_ratio_is_that_of_its_influences():
    """R2 = 1 - S / T: a row's influence is -(e^2 - (S / T) (y - mean)^2) / T."""
    result = bootstrap_score(Y, FORECAST, metric="r2", block_length="auto")
    spread = (Y - Y.mean()) ** 2
    influence = ERROR**2 - ERROR @ ERROR / spread.sum() * spread
    # Without one row, as the length is found, is linear up to terms of order 1 / n.
    assert abs(result.settings["block_length"] - length_of(influence)) <= 1


def test_the_length_of_any_callable_is_that_of_the_metric():
    def error(y_true, y_pred):
        return np.abs(y_true - y_pred).mean()

    options = {"block_length": "auto", "n_resamples": 30}
    own = bootstrap_score(Y, FORECAST, metric=error, **options)
    known = bootstrap_score(Y, FORECAST, metric="mean_absolute_error", **options)
    assert own.settings == known.settings


def test_a_callable_on_many_rows_leaves_out_runs_of_rows():
    calls, n = [], 3001
    y_true = autoregressive(8, n, 0.9)

    def mean(y_true, y_pred):
        calls.append(len(y_true))
        return y_pred.mean()

    result = bootstrap_score(y_true, y_true, metric=mean, block_length="auto", n_resamples=3)
    assert len(calls) < 1100
    whole = bootstrap_score(None, y_true, metric="mean", block_length="auto", n_resamples=3)
    assert 0.4 < result.settings["block_length"] / whole.settings["block_length"] < 2.5


def test_one_length_serves_all_metrics_systems_and_differences():
    options = {"block_length": "auto", "n_resamples": 30}
    metrics = ["mean_absolute_error", "mean_squared_error"]
    alone = [
        bootstrap_score(Y, y_pred, metric=metric, **options).settings["block_length"]
        for metric in metrics
        for y_pred in (FORECAST, OTHER)
    ]
    differences = [length_of(loss(FORECAST - Y) - loss(OTHER - Y)) for loss in (np.abs, np.square)]
    systems = {"one": FORECAST, "other": OTHER}
    table = compare_systems(Y, systems, metric=metrics, **options)
    lengths = {table[metric].settings["block_length"] for metric in metrics}
    assert lengths == {max(alone + differences)}


def test_independent_rows_get_short_blocks():
    lengths = [
        bootstrap_score(
            None,
            np.random.default_rng([9, seed]).standard_normal(N),
            metric="mean",
            block_length="auto",
            n_resamples=10,
            interval="percentile",
        ).settings["block_length"]
        for seed in range(20)
    ]
    assert np.median(lengths) <= 5


def test_a_length_is_at_most_a_third_of_the_shortest_series():
    strata = np.repeat(np.arange(30), 8)
    result = bootstrap_score(
        Y, FORECAST, metric="mean_absolute_error", strata=strata, block_length="auto"
    )
    assert result.settings["block_length"] == 2
    assert result.n_units == 120
    assert "the length of each series" in result.held_fixed


# ------------------------------------------------------------------ other functions


def newey_west(values, n_lags):
    x = values - values.mean()
    covariance = [x[k:] @ x[: len(x) - k] / len(x) for k in range(n_lags + 1)]
    weights = 1 - np.arange(1, n_lags + 1) / (n_lags + 1)
    return math.sqrt((covariance[0] + 2 * weights @ covariance[1:]) / len(x))


def test_the_error_of_a_difference_of_forecasts_is_that_of_diebold_and_mariano():
    """Bartlett's weights up to L - 1 are those of blocks of L rows, but for the ends."""
    systems = {"one": FORECAST, "other": OTHER}
    options = {"metric": "mean_squared_error", "block_length": 10, "random_state": 0}
    result = compare_systems(Y, systems, n_resamples=20_000, **options)
    loss = (FORECAST - Y) ** 2 - (OTHER - Y) ** 2
    pair = result.pair("one", "other")
    assert pair.difference == pytest.approx(loss.mean())
    assert pair.standard_error == pytest.approx(newey_west(loss, 9), rel=0.1)
    rows = compare_systems(Y, systems, metric="mean_squared_error", random_state=0, block_length=1)
    assert pair.standard_error > 1.2 * rows.pair("one", "other").standard_error


@pytest.mark.parametrize("adjust", ["max-t", "holm", None])
def test_three_forecasts_are_compared_on_the_same_blocks(adjust):
    systems = {"one": FORECAST, "other": OTHER, "naive": np.roll(Y, 1)}
    options = {"metric": "mean_absolute_error", "block_length": 6, "random_state": 0}
    result = compare_systems(Y, systems, adjust=adjust, n_resamples=300, **options)
    assert {pair.n_units for pair in result.pairs} == {40}
    assert result.settings["block_length"] == 6
    for name, y_pred in systems.items():
        alone = bootstrap_score(Y, y_pred, n_resamples=300, **options)
        np.testing.assert_allclose(
            result.systems[name].bootstrap_distribution, alone.bootstrap_distribution, rtol=1e-12
        )


def test_bca_of_a_difference_leaves_out_blocks():
    systems = {"one": FORECAST, "other": OTHER}
    options = {"metric": "mean_absolute_error", "block_length": 6, "random_state": 0}
    bca = compare_systems(Y, systems, interval="bca", **options).pair("one", "other")
    expanded = compare_systems(Y, systems, **options).pair("one", "other")
    np.testing.assert_allclose(bca.confidence_interval, expanded.confidence_interval, atol=0.03)


def runs(seed, n_runs=10, scale=0.3):
    rng = np.random.default_rng(seed)
    return [FORECAST + scale * rng.standard_normal(N) for _ in range(n_runs)]


@pytest.mark.parametrize("block_length", [12, "auto"])
def test_runs_are_scored_on_blocks(block_length):
    options = {"metric": "mean_absolute_error", "random_state": 0}
    result = bootstrap_runs(Y, runs(1), block_length=block_length, **options)
    rows = bootstrap_runs(Y, runs(1), block_length=1, **options)
    assert result.unit == rows.unit == "block"
    assert result.settings["groups"] is rows.settings["groups"] is False
    assert result.n_units == math.ceil(N / result.settings["block_length"])
    widths = [np.ptp(tuple(one.confidence_interval)) for one in (result, rows)]
    assert widths[0] > 1.2 * widths[1]


@pytest.mark.parametrize("block_length", [12, "auto"])
def test_runs_are_compared_on_blocks(block_length):
    methods = {"one": runs(1), "other": runs(2, scale=1.0)}
    options = {"metric": "mean_absolute_error", "random_state": 0}
    result = compare_runs(Y, methods, block_length=block_length, **options)
    assert result.settings["block_length"] > 1
    assert result.pairs[0].n_units == math.ceil(N / result.settings["block_length"])


def test_tasks_are_the_series():
    options = {"metric": "mean_absolute_error", "block_length": 5, "random_state": 5}
    result = bootstrap_score(Y, FORECAST, average_over=SERIES, n_resamples=25, **options)
    expected = [
        np.mean([mean_absolute_error(Y[r[SERIES[r] == s]], FORECAST[r[SERIES[r] == s]])
                 for s in range(4)])
        for r in rows_of(5, 25, 5, SERIES)
    ]  # fmt: skip
    np.testing.assert_allclose(result.bootstrap_distribution, expected, rtol=1e-12)
    assert result.unit == "block"
    assert result.n_units == 18 + 14 + 10 + 6
    assert result.settings["average_over"] == 4
    assert "the tasks" in result.held_fixed


def test_strata_and_tasks_together_are_the_series():
    half = (np.arange(N) >= N // 2).astype(int)
    result = bootstrap_score(
        Y,
        FORECAST,
        metric="mean_absolute_error",
        strata=half,
        average_over=SERIES,
        block_length="auto",
        n_resamples=99,
    )
    sizes = np.bincount(2 * SERIES + half)
    assert result.n_units == sum(-(-sizes // result.settings["block_length"]))


# ------------------------------------------------------------------ what results say


def test_results_say_how_long_blocks_are_and_keep_it(tmp_path):
    options = {"metric": "mean_absolute_error", "block_length": 6, "random_state": 0}
    result = bootstrap_score(Y, FORECAST, interval="expanded", **options)
    assert "40 blocks of 6 rows resampled" in result.claim()
    assert "40 blocks of 6 rows, 240 rows in all, 1999 times" in result.summary()
    assert "Circular blocks of 6 consecutive rows were resampled." in result.notes
    panel = bootstrap_score(Y, FORECAST, strata=SERIES, **options)
    assert any("resampled within each of 4 series." in note for note in panel.notes)
    for name, one in (("series", result), ("panel", panel)):
        path = tmp_path / f"{name}.npz"
        one.save(path)
        loaded = type(one).load(path)
        assert loaded.summary() == one.summary()
        assert tuple(loaded.interval(confidence_level=0.9)) == tuple(
            one.interval(confidence_level=0.9)
        )
    comparison = compare_systems(Y, {"one": FORECAST, "other": OTHER}, **options)
    assert "40 blocks of 6 rows resampled for both" in comparison.claim()


# ------------------------------------------------------------------ what is refused

BAD_LENGTHS = [0, -3, 2.0, 2.5, True, "7", "Auto", [5], float("nan")]


@pytest.mark.parametrize("block_length", BAD_LENGTHS, ids=repr)
def test_a_length_is_a_whole_number_or_auto(block_length):
    message = r"'block_length' parameter of \w+ must be None, 'auto' or an integer of at least 1"
    options = {"metric": "mean_absolute_error", "block_length": block_length}
    for call in (
        lambda: bootstrap_score(Y, FORECAST, **options),
        lambda: compare_systems(Y, {"one": FORECAST, "other": OTHER}, **options),
        lambda: bootstrap_runs(Y, runs(1), **options),
        lambda: compare_runs(Y, {"one": runs(1), "other": runs(2)}, **options),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize(("length", "strata"), [(N, None), (N + 1, None), (31, SERIES)])
def test_a_block_is_shorter_than_its_series(length, strata):
    with pytest.raises(ValueError, match=r"must be at most (239|30), since .* has (240|30) rows"):
        bootstrap_score(
            Y, FORECAST, metric="mean_absolute_error", block_length=length, strata=strata
        )


@pytest.mark.parametrize(
    ("length", "strata", "most"), [(60, None, 59), (100, None, 59), (60, np.arange(N) % 2, 59)]
)
def test_fewer_than_five_blocks_are_refused_with_the_length_that_makes_five(length, strata, most):
    calls = {
        "bootstrap_score": lambda **how: bootstrap_score(Y, FORECAST, **how),
        "compare_systems": lambda **how: compare_systems(Y, {"a": FORECAST, "b": OTHER}, **how),
        "bootstrap_runs": lambda **how: bootstrap_runs(Y, runs(1), **how),
        "compare_runs": lambda **how: compare_runs(Y, {"a": runs(1), "b": runs(2)}, **how),
    }
    options = {"metric": "mean_absolute_error", "strata": strata, "n_resamples": 20}
    for name, call in calls.items():
        said = f"'block_length' parameter of {name} must be at most 59, for 5 blocks or more. Got"
        with pytest.raises(ValueError, match=said):
            call(block_length=length, **options)
    with pytest.raises(ValueError, match="of bootstrap_curve must be at most 59"):
        bootstrap_curve(LABEL, SCORE, block_length=100, n_resamples=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert calls["bootstrap_score"](block_length=59, **options).n_units >= 5


@pytest.mark.parametrize("n", [20, 21, 24, 30, 60, 61, 100, 224])
def test_auto_leaves_five_blocks_or_more_however_dependent_the_rows(n):
    values = np.cumsum(np.random.default_rng(n).normal(size=n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = bootstrap_score(
            None, values, metric="mean", block_length="auto", n_resamples=20, interval="percentile"
        )
    assert result.n_units >= 5
    assert result.n_units == math.ceil(n / result.settings["block_length"])


def test_four_rows_are_no_blocks():
    with pytest.raises(ValueError, match=r"must be None\. Got 1, which makes 4 blocks of 4 rows"):
        bootstrap_score(None, [1.0, 2.0, 4.0, 3.0], metric="mean", block_length=1)


def test_few_rows_do_not_show_how_far_they_depend_on_each_other():
    with pytest.raises(ValueError, match="'auto' with 19 rows"):
        bootstrap_score(Y[:19], FORECAST[:19], metric="r2", block_length="auto")
    strata = np.repeat(np.arange(N // 2), 2)
    with pytest.raises(ValueError, match="'auto' with 240 rows, 2 in the shortest of 120 series"):
        bootstrap_score(Y, FORECAST, metric="r2", block_length="auto", strata=strata)


def test_auto_with_many_series_needs_a_metric_that_it_knows():
    strata = np.repeat(np.arange(1500), 3)
    y = np.zeros(4500)
    with pytest.raises(ValueError, match="integer with 1500 series and this metric"):
        bootstrap_score(
            y, y, metric=lambda a, b: float(np.mean(b)), block_length="auto", strata=strata
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("groups", SERIES),
        ("groups", np.column_stack((SERIES, SERIES[::-1]))),
        ("by", SERIES),
        ("resamples", np.tile(np.arange(N), (2, 1))),
    ],
)
def test_blocks_do_not_go_with_other_units(name, value):
    with pytest.raises(ValueError, match=f"'block_length' .* must not be combined with {name}"):
        bootstrap_score(Y, FORECAST, metric="mean_absolute_error", block_length=5, **{name: value})


def test_systems_on_rows_of_their_own_have_no_blocks():
    systems = {"one": FORECAST, "other": OTHER}
    with pytest.raises(ValueError, match=r"'block_length' .* must be None with paired=False"):
        compare_systems(
            dict.fromkeys(systems, Y), systems, metric="r2", paired=False, block_length=5
        )


# ------------------------------------------------------------------ dates


def test_dates_rise_within_each_series():
    pd = pytest.importorskip("pandas")
    options = {"metric": "mean_absolute_error", "block_length": 5, "n_resamples": 30}
    dates = pd.date_range("2024-01-01", periods=N)
    sorted_rows = bootstrap_score(pd.Series(Y, dates), pd.Series(FORECAST, dates), **options)
    assert sorted_rows.unit == "block"
    shuffled = dates[np.random.default_rng(0).permutation(N)]
    for index in (shuffled, shuffled.tz_localize("UTC"), shuffled.to_period("D")):
        for columns in ((pd.Series(Y, index), FORECAST), (Y, pd.Series(FORECAST, index))):
            with pytest.raises(ValueError, match="index of dates that goes back in time at row "):
                bootstrap_score(*columns, **options)
    # The rows of a panel may come date by date, or series by series.
    by_series = pd.DatetimeIndex(np.tile(dates[:60], 4))
    panel = np.repeat(np.arange(4), 60)
    found = bootstrap_score(pd.Series(Y, by_series), FORECAST, strata=panel, **options)
    assert found.n_units == 48
    with pytest.raises(ValueError, match="index of dates that goes back in time at row 60"):
        bootstrap_score(pd.Series(Y, by_series), FORECAST, **options)


def test_blocks_of_repeated_dates_are_whole_dates():
    pd = pytest.importorskip("pandas")
    options = {"metric": "mean_absolute_error", "n_resamples": 30}
    by_date = pd.Series(Y, np.repeat(pd.date_range("2024-01-01", periods=60), 4))

    def found(truth=by_date, **given):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            bootstrap_score(truth, FORECAST, **options, **given)
        return [str(one.message) for one in caught if "are not whole dates" in str(one.message)]

    (text,) = found(block_length=6)
    assert "Most dates of the index have 4 rows, and blocks of 6 rows" in text
    assert "block_length=4 * k for k dates" in text
    assert found(block_length=8) == []
    assert found(block_length=6, strata=np.tile(np.arange(4), 60)) == []
    # Few rows of one time, as events have, are no series.
    times = pd.date_range("2024-01-01", periods=N).to_series().sort_index()
    times.iloc[1::10] = times.iloc[::10]
    assert found(pd.Series(Y, pd.DatetimeIndex(times)), block_length=6) == []


def test_an_index_of_dates_without_blocks_or_groups_gives_a_caution():
    pd = pytest.importorskip("pandas")
    dates = pd.date_range("2024-01-01", periods=N)
    right = pd.Series(LABEL, dates)
    with pytest.warns(UserWarning, match="bootstrap_score: The rows have an index of dates"):
        result = bootstrap_score(right, LABEL ^ (np.arange(N) % 7 == 0), n_resamples=99)
    assert any("index of dates" in note for note in result.notes)
    with pytest.warns(UserWarning, match="compare_systems: The rows have an index of dates"):
        compare_systems(
            LABEL, {"one": right, "other": LABEL ^ (np.arange(N) % 7 == 0)}, n_resamples=99
        )
    for options in ({"groups": SERIES}, {"block_length": 5}):
        found = bootstrap_score(
            right, LABEL ^ (np.arange(N) % 7 == 0), n_resamples=99, metric="f1", **options
        )
        assert not any("index of dates" in note for note in found.notes)


def test_a_level_of_dates_is_an_index_of_dates():
    pd = pytest.importorskip("pandas")
    dates = pd.date_range("2024-01-01", periods=60)
    index = pd.MultiIndex.from_product([list("abcd"), dates])
    options = {"metric": "mean_absolute_error", "n_resamples": 30}
    forecast = pd.Series(FORECAST, index)
    with pytest.warns(UserWarning, match="The rows have an index of dates"):
        bootstrap_score(Y, forecast, **options)
    with pytest.raises(
        ValueError, match=r"goes back in time at row 60.* give strata=<the series> where there"
    ):
        bootstrap_score(Y, forecast, block_length=5, **options)
    series = index.get_level_values(0)
    panel = bootstrap_score(Y, forecast, block_length=5, strata=series, **options)
    assert panel.n_units == 48
    with pytest.raises(ValueError, match="index of dates that goes back in time at row 1"):
        bootstrap_score(Y, forecast[::-1], block_length=5, strata=series, **options)


def test_dates_may_be_objects_and_belong_to_runs():
    pd = pytest.importorskip("pandas")
    days = pd.date_range("2024-01-01", periods=N).date
    options = {"metric": "mean_absolute_error", "n_resamples": 30}
    with pytest.warns(UserWarning, match="The rows have an index of dates"):
        bootstrap_score(Y, pd.Series(FORECAST, days), **options)
    methods = {"one": runs(1), "other": [pd.Series(run, days[::-1]) for run in runs(2)]}
    with pytest.warns(UserWarning, match="compare_runs: The rows have an index of dates"):
        compare_runs(Y, methods, **options)
    with pytest.raises(
        ValueError, match=r"compare_runs .* index of dates that goes back in time at row 1"
    ):
        compare_runs(Y, methods, block_length=5, **options)


def test_columns_of_polars_have_blocks_as_well():
    pl = pytest.importorskip("polars")
    options = {"metric": "mean_absolute_error", "block_length": "auto", "random_state": 0}
    theirs = bootstrap_score(pl.Series(Y), pl.Series(FORECAST), strata=pl.Series(SERIES), **options)
    ours = bootstrap_score(Y, FORECAST, strata=SERIES, **options)
    assert tuple(theirs.confidence_interval) == tuple(ours.confidence_interval)
    systems = pl.DataFrame({"one": FORECAST, "other": OTHER})
    theirs = compare_systems(pl.Series(Y), systems, **options)
    ours = compare_systems(Y, {"one": FORECAST, "other": OTHER}, **options)
    assert theirs.summary() == ours.summary()


# ------------------------------------------------------------------ series that share shocks

TOGETHER = "The 8 series rise and fall together"


def panel_of(shared, n=60, n_series=8):
    """Errors of series in columns, row by row in time: of their own, and the shared part."""
    shock = np.repeat(autoregressive(7, n), n_series).reshape(n, n_series)
    return shared * shock + np.random.default_rng(8).normal(size=(n, n_series))


@pytest.mark.parametrize("block_length", [4, "auto"])
@pytest.mark.parametrize("role", ["strata", "average_over"])
@pytest.mark.parametrize("metric", ["mean_absolute_error", "root_mean_squared_error", "r2"])
def test_series_that_share_shocks_give_a_caution(metric, role, block_length):
    truth = np.random.default_rng(9).normal(size=(60, 8))
    series = np.tile(np.arange(8), 60)
    options = {"metric": metric, "block_length": block_length, "n_resamples": 30}
    for shared, found in ((1.0, True), (0.0, False)):
        forecast = truth + panel_of(shared)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = bootstrap_score(truth.ravel(), forecast.ravel(), **{role: series}, **options)
        assert any(f"bootstrap_score: {TOGETHER}" in str(one.message) for one in caught) == found
        assert any(note.startswith(TOGETHER) for note in result.notes) == found
        # What the caution says to do draws the same dates for all series.
        by_date = options | {"block_length": 8 * 4}
        for wide in (
            bootstrap_score(truth, forecast, **options),
            bootstrap_score(truth.ravel(), forecast.ravel(), **by_date),
        ):
            assert not any(note.startswith(TOGETHER) for note in wide.notes)


def test_differences_and_runs_of_series_that_share_shocks_give_a_caution():
    truth, series = np.zeros(480), np.tile(np.arange(8), 60)
    shared, own = panel_of(1.0).ravel(), panel_of(0.0).ravel()
    options = {"metric": "mean_absolute_error", "strata": series, "block_length": 4}
    options["n_resamples"] = 30
    with pytest.warns(UserWarning, match=f"compare_systems: {TOGETHER}"):
        compare_systems(truth, {"one": shared, "other": own}, **options)
    with pytest.warns(UserWarning, match=f"bootstrap_runs: {TOGETHER}"):
        bootstrap_runs(truth, [shared, shared + 0.1 * own] * 5, **options)
    with pytest.warns(UserWarning, match=f"bootstrap_curve: {TOGETHER}"):
        bootstrap_curve(shared > 0.5, abs(shared), strata=series, block_length=4, n_resamples=30)


# ------------------------------------------------------------------ rows that look dependent

CAUTION = "Neighbouring rows have similar values of the metric"


@pytest.mark.parametrize("metric", ["mean_absolute_error", "neg_root_mean_squared_error"])
def test_dependent_rows_that_are_drawn_one_by_one_give_a_caution(metric):
    with pytest.warns(UserWarning, match=f"bootstrap_score: {CAUTION}"):
        result = bootstrap_score(Y, FORECAST, metric=metric, n_resamples=99)
    assert any(note.startswith(CAUTION) for note in result.notes)
    for options in ({"groups": np.arange(N) // 4}, {"block_length": 8}):
        quiet = bootstrap_score(Y, FORECAST, metric=metric, n_resamples=99, **options)
        assert not any(note.startswith(CAUTION) for note in quiet.notes)


def test_other_functions_caution_as_well():
    options = {"metric": "mean_absolute_error", "n_resamples": 99}
    with pytest.warns(UserWarning, match=f"compare_systems: {CAUTION}"):
        compare_systems(Y, {"one": FORECAST, "other": OTHER}, **options)
    with pytest.warns(UserWarning, match=f"bootstrap_runs: {CAUTION}"):
        bootstrap_runs(Y, runs(1, scale=0.05), **options)
    with pytest.warns(UserWarning, match=f"compare_runs: {CAUTION}"):
        compare_runs(Y, {"one": runs(1, scale=0.05), "other": runs(2)}, **options)


def test_groups_of_one_row_each_keep_the_cautions():
    pd = pytest.importorskip("pandas")
    options = {"metric": "mean_absolute_error", "n_resamples": 99}
    one_each = np.random.default_rng(0).permutation(N)
    dates = pd.date_range("2024-01-01", periods=N)
    for given in ({}, {"strata": np.repeat(["a", "b"], N // 2)}):
        with pytest.warns(UserWarning, match=CAUTION):
            bootstrap_score(Y, FORECAST, groups=one_each, **given, **options)
        with pytest.warns(UserWarning, match="The rows have an index of dates"):
            bootstrap_score(Y, pd.Series(FORECAST, dates), groups=dates, **given, **options)
    # Strata are those of the rows, whatever the order of the groups.
    part = np.arange(N) // 12 % 3
    values = np.random.default_rng(1).standard_normal(N) + 3.0 * part
    options["metric"] = "mean"
    quiet = bootstrap_score(None, values, groups=one_each, strata=part, **options)
    assert not any(note.startswith(CAUTION) for note in quiet.notes)


def test_runs_of_subgroups_are_no_dependence():
    kind = np.arange(N) // 12 % 3
    group = np.array(["a", "b", "c"])[kind]
    values = np.random.default_rng(1).standard_normal(N) + 3.0 * kind
    options = {"metric": "mean", "n_resamples": 99}
    bootstrap_score(None, values, by=group, **options)
    bootstrap_score(None, values, strata=group, **options)
    averaged = bootstrap_score(None, values, average_over=group, **options)
    assert not any(note.startswith(CAUTION) for note in averaged.notes)
    with pytest.warns(UserWarning, match=CAUTION):
        bootstrap_score(None, values, **options)


@pytest.mark.parametrize("metric", ["mean_absolute_error", "roc_auc"])
def test_averages_over_tasks_keep_the_caution(metric):
    pd = pytest.importorskip("pandas")
    task = np.repeat(["a", "b", "c"], N // 3)
    truth, score = (LABEL, SCORE) if metric == "roc_auc" else (Y, FORECAST)
    options = {"metric": metric, "average_over": task, "n_resamples": 99}
    if metric == "mean_absolute_error":
        with pytest.warns(UserWarning, match=f"bootstrap_score: {CAUTION}"):
            result = bootstrap_score(truth, score, **options)
        assert any(note.startswith(CAUTION) for note in result.notes)
    dated = pd.Series(score, pd.date_range("2024-01-01", periods=N))
    with pytest.warns(UserWarning, match="bootstrap_score: The rows have an index of dates"):
        result = bootstrap_score(truth, dated, **options)
    assert any("index of dates" in note for note in result.notes)


@pytest.mark.parametrize("by", ["truth", "forecast"])
def test_sorted_rows_are_no_dependence(by):
    rng = np.random.default_rng(3)
    y_true = rng.random(N)
    forecast = y_true + (0.2 + y_true) * rng.standard_normal(N)
    order = np.argsort(y_true if by == "truth" else forecast)
    options = {"metric": "mean_absolute_error", "n_resamples": 99}
    result = bootstrap_score(y_true[order], forecast[order], **options)
    assert not any(note.startswith(CAUTION) for note in result.notes)


@pytest.mark.parametrize("metric", ["log_loss", "neg_brier_score", "accuracy"])
def test_probabilities_of_dependent_rows_give_a_caution(metric):
    truth = np.random.default_rng(2).integers(0, 2, N)
    logit = (2 * truth - 1) * autoregressive(5, coefficient=0.9)
    columns = np.column_stack((1 / (1 + np.exp(logit)), 1 / (1 + np.exp(-logit))))
    with pytest.warns(UserWarning, match=CAUTION):
        bootstrap_score(truth, columns, metric=metric, n_resamples=99)


def test_many_rows_are_looked_at_in_a_sample():
    errors = autoregressive(5, 20_000)
    with pytest.warns(UserWarning, match=CAUTION):
        bootstrap_score(None, np.abs(errors), metric="mean", n_resamples=9, interval="percentile")
    shuffled = np.random.default_rng(0).permutation(errors)
    bootstrap_score(None, shuffled, metric="mean", n_resamples=9, interval="percentile")


# ------------------------------------------------------------------ indexes in other orders

ORDERS = "labels in different orders"


@pytest.fixture
def table():
    """Return a shuffled table of truth and predictions of which 85% are right."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    predicted = np.where(rng.random(300) < 0.85, truth, 1 - truth)
    columns = {"y": truth, "p": predicted, "score": truth + rng.random(300), "g": truth % 2}
    columns["g"] = np.arange(300) // 3
    return pd.DataFrame(columns, index=[f"row {k}" for k in range(300)]).sample(
        frac=1, random_state=1
    )


def again(column):
    """Return the same rows in another order."""
    return column.sample(frac=1, random_state=2)


def orders_told(call):
    """Return the warnings of a call that are about the order of indexes."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    texts = [str(one.message) for one in found]
    return [text for text in texts if ORDERS in text or "no index label in common" in text]


def streamed_in_order(y_true, y_pred, **given):
    accumulator = BootstrapAccumulator("accuracy", random_state=0, n_resamples=99)
    accumulator.update(y_true, y_pred, start=0, **given)


MANY = {"n_resamples": 99, "random_state": 0}
ORDERED_CALLS = {
    "bootstrap_score": lambda y, p, s: bootstrap_score(y, p, **MANY),
    "bootstrap_runs": lambda y, p, s: bootstrap_runs(y, [p] * 10, metric="accuracy", **MANY),
    "compare_systems": lambda y, p, s: compare_systems(y, {"A": p, "B": p.to_numpy()}, **MANY),
    "unpaired": lambda y, p, s: compare_systems(
        {"A": y, "B": y}, {"A": p, "B": p}, paired=False, **MANY
    ),
    "compare_runs": lambda y, p, s: compare_runs(y, {"A": [p] * 10, "B": [p] * 10}, **MANY),
    "search_score": lambda y, p, s: search_score(y, {"A": p, "B": p}, **MANY),
    "gate": lambda y, p, s: assert_not_worse(
        y, p, p, margin=0.9, metric="accuracy", inconclusive="pass", **MANY
    ),
    "bootstrap_curve": lambda y, p, s: bootstrap_curve(y, s, **MANY),
    "accumulator": lambda y, p, s: streamed_in_order(y, p),
}


@pytest.mark.parametrize("name", ORDERED_CALLS)
def test_every_function_tells_of_indexes_in_different_orders(name, table):
    call = ORDERED_CALLS[name]
    texts = orders_told(lambda: call(table.y, again(table.p), again(table.score)))
    assert len(texts) == 1
    assert ".loc[" in texts[0]
    assert ".to_numpy()" in texts[0]
    assert orders_told(lambda: call(table.y, table.p, table.score)) == []


@pytest.mark.parametrize("name", ["groups", "strata", "by", "average_over", "sample_weight"])
def test_every_argument_of_rows_is_looked_at(name, table):
    column = {"groups": table.g, "sample_weight": table.score}.get(name, table.y)
    given = {"metric": "accuracy", **MANY}
    (text,) = orders_told(
        lambda: bootstrap_score(table.y, table.p, **{name: again(column)}, **given)
    )
    assert f"y_true and {name} have" in text
    assert f"{name}.loc[y_true.index]" in text
    assert orders_told(lambda: bootstrap_score(table.y, table.p, **{name: column}, **given)) == []


def test_what_the_warning_says_to_do_gives_the_score_of_the_table(table):
    right = accuracy_score(table.y, table.p)
    predicted = again(table.p)
    with pytest.warns(UserWarning, match=r"y_pred\.loc\[y_true\.index\]"):
        wrong = bootstrap_score(table.y, predicted, **MANY)
    assert bootstrap_score(table.y, predicted.loc[table.y.index], **MANY).estimate == right
    in_order = bootstrap_score(table.y.to_numpy(), predicted.to_numpy(), **MANY)
    assert wrong.estimate == in_order.estimate < right


def test_predictions_of_a_model_beside_a_shuffled_table_are_not_told(table):
    pd = pytest.importorskip("pandas")
    numbered = table.reset_index(drop=True).sample(frac=1, random_state=3)
    fresh = pd.Series(numbered.p.to_numpy())
    for predicted in (fresh, numbered.p.to_numpy(), numbered.p.tolist(), numbered.p):
        assert orders_told(lambda p=predicted: bootstrap_score(numbered.y, p, **MANY)) == []
    explicit = pd.Series(fresh.to_numpy(), index=list(range(len(fresh))))
    assert orders_told(lambda: bootstrap_score(numbered.y, explicit, **MANY)) == []
    assert orders_told(lambda: bootstrap_score(explicit, numbered.p, **MANY)) == []


def test_values_say_whether_numbers_of_rows_pair_them(table):
    numbered = table.reset_index(drop=True)
    text = numbered[["y", "p"]].astype(str)
    for truth, predicted, metric in (
        (numbered.y, numbered.p, "accuracy"),
        (numbered.y, numbered.score, "roc_auc"),
        (text.y, text.p, "accuracy"),
    ):
        call = partial(bootstrap_score, metric=metric, **MANY)
        (told,) = orders_told(lambda c=call, t=truth, p=predicted: c(t, again(p)))
        assert "y_pred.loc[y_true.index]" in told
        assert len(orders_told(lambda c=call, t=truth, p=predicted: c(again(t), p))) == 1
    # What has nothing to do with the truth does not say which.
    weight = again(numbered.score * 0 + np.random.default_rng(0).random(300))
    assert orders_told(lambda: bootstrap_score(numbered.y, numbered.p, sample_weight=weight)) == []


def test_frames_with_columns_in_different_orders_are_told(table):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    truth = pd.DataFrame(rng.normal(size=(50, 3)), columns=list("abc"))
    options = {"metric": "mean_absolute_error", **MANY}
    (text,) = orders_told(lambda: bootstrap_score(truth, truth[list("cab")] + 1, **options))
    assert "y_true and y_pred have the same column labels in different orders" in text
    assert "y_pred[y_true.columns]" in text
    assert orders_told(lambda: bootstrap_score(truth, truth + 1, **options)) == []
    fresh = pd.DataFrame(truth.to_numpy() + 1)
    assert orders_told(lambda: bootstrap_score(truth, fresh, **options)) == []
    systems = {"A": fresh, "B": (fresh + rng.normal(size=(50, 3)))[[2, 0, 1]]}
    assert orders_told(lambda: compare_systems(truth, systems, **options)) == []
    systems = {"A": truth + 1, "B": truth[list("cab")]}
    assert len(orders_told(lambda: compare_systems(truth.to_numpy(), systems, **options))) == 1


def test_labels_of_which_some_are_the_same_are_not_told(table):
    half = again(table.p).iloc[:150]
    assert orders_told(lambda: bootstrap_score(table.y.iloc[:150], half, **MANY)) == []


def test_systems_of_a_shuffled_long_table_are_told_until_they_are_pivoted(table):
    """A group of a long table has the labels of its own rows, in the order of the table."""
    pd = pytest.importorskip("pandas")
    right = (table.y == table.p).astype(int).to_numpy()
    case, ones = np.tile(np.arange(300), 3), np.ones(300, int)
    long = pd.DataFrame({"case": case, "system": np.repeat(list("abc"), 300)})
    long["right"] = np.concatenate((right, 1 - right, right))
    options = {"metric": "accuracy", "reference": "a", **MANY}

    def told(rows):
        systems = dict(list(rows.groupby("system")["right"]))
        return orders_told(lambda: compare_systems(ones, systems, **options))

    shuffled = long.sample(frac=1, random_state=0)
    for rows in (shuffled, shuffled.reset_index(drop=True), shuffled.set_index(shuffled.index * 7)):
        (text,) = told(rows)
        assert "y_preds['a'] and y_preds['b'] have no index label in common" in text
        assert "table.pivot(index=<row>, columns=<system>)" in text
    # Blocks of rows, and rows that take turns, are in one order.
    assert told(long) == told(long.sort_values(["case", "system"], ignore_index=True)) == []
    wide = shuffled.pivot(index="case", columns="system", values="right")
    assert orders_told(lambda: compare_systems(ones, wide, **options)) == []
    by_row = compare_systems(ones, wide, **options)
    assert by_row.systems["b"].estimate == pytest.approx(1 - right.mean())
    named = again(table.p)
    named.index = [f"{label}, again" for label in named.index]
    assert len(orders_told(lambda: bootstrap_score(table.y, named, **MANY))) == 1
    fresh = pd.Series(named.to_numpy())
    assert orders_told(lambda: bootstrap_score(table.y, fresh, **MANY)) == []
    # Test sets of their own have nothing in common.
    assert (
        orders_told(
            lambda: compare_systems(
                {"a": table.y[:150], "b": table.y[150:]},
                {"a": table.p[:150], "b": table.p[150:]},
                paired=False,
                **MANY,
            )
        )
        == []
    )


def test_two_shuffled_copies_of_a_table_without_names_of_rows_are_told(table):
    plain = table.reset_index(drop=True)
    first, second = (plain.sample(frac=1, random_state=k) for k in (1, 2))
    assert len(orders_told(lambda: bootstrap_score(first.y, second.p, **MANY))) == 1


def test_indexes_of_several_levels_and_repeated_labels_are_compared(table):
    pd = pytest.importorskip("pandas")
    levels = [np.arange(300) // 3, np.arange(300) % 3]
    deep = table.set_axis(pd.MultiIndex.from_arrays(levels), axis=0).sample(frac=1, random_state=1)
    assert len(orders_told(lambda: bootstrap_score(deep.y, again(deep.p), **MANY))) == 1
    assert orders_told(lambda: bootstrap_score(deep.y, deep.p, **MANY)) == []
    repeated = table.set_axis(np.arange(300) // 3, axis=0).sample(frac=1, random_state=1)
    (text,) = orders_told(lambda: bootstrap_score(repeated.y, again(repeated.p), **MANY))
    assert ".loc" not in text
    # The same labels, but not each as often.
    one, other = np.repeat([1, 2], [100, 200]), np.repeat([2, 1], [100, 200])
    first, second = table.y.set_axis(one), table.p.set_axis(other)
    assert orders_told(lambda: bootstrap_score(first, second, **MANY)) == []
    mixed = pd.Index([*range(150), *"abc" * 50], dtype=object)
    odd = table.set_axis(mixed, axis=0)
    assert len(orders_told(lambda: bootstrap_score(odd.y, again(odd.p), **MANY))) == 1


def test_a_frame_of_predictions_and_crossed_groups_are_looked_at(table):
    frame = table[["p"]].assign(q=1 - table.p)
    assert orders_told(lambda: compare_systems(table.y, frame, **MANY)) == []
    assert len(orders_told(lambda: compare_systems(table.y, again(frame), **MANY))) == 1
    pairs = table[["g"]].assign(h=np.arange(300) % 7)
    texts = orders_told(lambda: bootstrap_score(table.y, table.p, groups=again(pairs), **MANY))
    assert len(texts) == 1


def test_columns_of_polars_have_no_index(table):
    pl = pytest.importorskip("polars")
    assert orders_told(lambda: bootstrap_score(table.y, pl.Series(again(table.p)), **MANY)) == []


def test_a_fit_tells_of_targets_in_another_order_than_the_rows(table):
    scorer = BootstrapScorer(GaussianNB(), n_train_resamples=2, n_cv_repeats=1, random_state=0)
    X = table[["score"]]

    def told(**given):
        return orders_told(lambda: scorer.fit(X, **given))

    assert told(y=table.y) == []
    assert len(told(y=again(table.y))) == 1
    tests = {"one": X.iloc[:100], "other": again(X.iloc[:100])}
    truths = {name: table.y.loc[own.index] for name, own in tests.items()}
    assert told(y=table.y, X_test=tests, y_test=truths) == []
    truths["one"] = again(truths["one"])
    assert len(told(y=table.y, X_test=tests, y_test=truths)) == 1
