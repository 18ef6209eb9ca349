"""Rows cut at random places, in memory or not, give the numbers of rows that come at once."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import mean_squared_error

from skboot import BootstrapAccumulator, bootstrap_score, compare_systems, scan_dataset

# Resamples of so few intervals hide an order that matters, which is warned of.
FEW_INTERVALS = pytest.mark.filterwarnings("ignore:.*Resamples do not see the order")

RNG = np.random.default_rng(8)
N, B = 300, 99
TRUTH = RNG.integers(0, 2, N)
# Some of the scores are equal, and they are more than fit the smaller number of intervals.
SCORES = np.round(RNG.normal(size=N) + TRUTH, 1)
SECOND = 1 / (1 + np.exp(-SCORES))
DATA = {
    "y": TRUTH,
    "good": np.where(RNG.random(N) < 0.9, TRUTH, 1 - TRUTH),
    "fair": np.where(RNG.random(N) < 0.7, TRUTH, 1 - TRUTH),
    "score": SCORES,
    "other": np.round(RNG.normal(size=N) + 0.5 * TRUTH, 1),
    "p0": 1 - SECOND,
    "p1": SECOND,
    "group": RNG.integers(0, 60, N),
    "name": np.array([f"speaker {k}" for k in RNG.integers(0, 50, N)]),
    "count": RNG.integers(1, 4, N).astype(float),
    "weight": RNG.random(N) + 0.1,
}
OPTIONS = {"random_state": 1, "n_resamples": B}
# Metrics of each column of predictions. All that a row adds to these sums is a whole number.
OF_LABELS = {"accuracy": "accuracy", "f1": "f1_macro", "mcc": "matthews_corrcoef"}
OF_SCORES = {"auc": "roc_auc", "ap": "average_precision"}
# And here it is a float.
OF_NUMBERS = {"mse": mean_squared_error, "mae": "mean_absolute_error", "r2": "r2"}
ANY = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def cuts():
    """Ends of parts of the rows, among them parts of a few rows."""
    inner = st.lists(st.integers(1, N - 1), max_size=8, unique=True).map(sorted)
    return inner.map(lambda ends: np.diff([0, *ends, N]).tolist())


@st.composite
def calls(draw):
    """Metrics, predictions, what rows have beside these, and whether all of it is whole."""
    metric, name = draw(
        st.sampled_from([(OF_LABELS, "good"), (OF_SCORES, "score"), (OF_NUMBERS, "score")])
    )
    groups = draw(st.sampled_from([None, "group", "name"]))
    weights = draw(st.sampled_from([None, "count", "weight"]))
    other = draw(st.sampled_from([None, "fair" if name == "good" else "other"]))
    is_whole = metric is not OF_NUMBERS and weights != "weight"
    return metric, name, other, groups, weights, is_whole


def column(name, rows=slice(None)):
    return None if name is None else DATA[name][rows]


def systems_of(name, other):
    return None if other is None else ["first", "second"]


def fed(found, parts, call):
    """The accumulator with these sets of rows."""
    _, name, other, groups, weights, _ = call
    for rows in parts:
        predicted = column(name, rows)
        if other is not None:
            predicted = {"first": predicted, "second": column(other, rows)}
        units = {"ids": np.arange(N)[rows]} if groups is None else {"groups": column(groups, rows)}
        found.update(TRUTH[rows], predicted, sample_weight=column(weights, rows), **units)
    return found


def accumulator(call, **options):
    metric, name, other, *_ = call
    return BootstrapAccumulator(metric, systems=systems_of(name, other), **OPTIONS | options)


def at_once(call, **options):
    """All rows in one update; their places are their ids."""
    return fed(accumulator(call, **options), [np.arange(N)], call)


def evaluated(call, lazy, **options):
    """What bootstrap_score or compare_systems says of columns that are not in memory."""
    metric, name, other, groups, weights, _ = call
    given_ = {} if groups is None else {"groups": lazy(groups)}
    given_ |= {} if weights is None else {"sample_weight": lazy(weights)}
    given_ |= {"metric": metric, **OPTIONS, **options}
    if other is None:
        return bootstrap_score(lazy("y"), lazy(name), **given_)
    return compare_systems(lazy("y"), {"first": lazy(name), "second": lazy(other)}, **given_)


def numbers(result):
    """Estimates, replicates and limits of all metrics, of each system and of their difference."""
    found = {}
    for metric, one in result.items():
        scores = getattr(one, "systems", {"": one})
        for system, score in scores.items():
            limits = (score.estimate, *score.confidence_interval)
            found[metric, system] = np.append(limits, score.bootstrap_distribution)
        for pair in getattr(one, "pairs", ()):
            found[metric, "difference"] = np.array(
                [pair.difference, pair.standard_error, *pair.confidence_interval, pair.p_value]
            )
    return found


def assert_agree(result, expected, call):
    own, its = numbers(result), numbers(expected)
    assert own.keys() == its.keys()
    assert len(own) == 3 * len(call[0]) if call[2] else len(call[0])
    for key, values in own.items():
        if call[-1]:
            np.testing.assert_array_equal(values, its[key])
        else:
            np.testing.assert_allclose(values, its[key], rtol=1e-10, atol=1e-13)


# ------------------------------------------------------------------ accumulators


@FEW_INTERVALS
@pytest.mark.parametrize("n_bins", [1024, 16])
@ANY
@given(call=calls(), parts=cuts(), random=st.randoms(use_true_random=False))
def test_shards_merged_in_any_tree_give_the_numbers_of_one(n_bins, call, parts, random):
    order = np.array(random.sample(range(N), N))
    shards = [
        fed(accumulator(call, n_bins=n_bins), [rows], call)
        for rows in np.split(order, np.cumsum(parts)[:-1])
    ]
    while len(shards) > 1:
        first, second = random.sample(range(len(shards)), 2)
        other = BootstrapAccumulator.from_bytes(shards[second].to_bytes())
        shards[first].merge(other)
        del shards[second]
    expected = at_once(call, n_bins=n_bins)
    assert_agree(shards[0].result(), expected.result(), call)
    if call[-1]:
        assert shards[0].to_bytes() == expected.to_bytes()


@ANY
@given(call=calls(), parts=cuts(), rows_at_once=st.integers(20, N))
def test_rows_made_a_state_together_change_no_number(call, parts, rows_at_once):
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")

    def lazy(name):
        return da.from_array(DATA[name], chunks=(tuple(parts),))

    with pytest.MonkeyPatch.context() as patched, dask.config.set(scheduler="synchronous"):
        patched.setattr("skboot.streams.state.ROWS_AT_ONCE", rows_at_once)
        found = evaluated(call, lazy)
    assert_agree(found, at_once(call).result(), call)


# ------------------------------------------------------------------ dask


@ANY
@given(call=calls(), data=st.data(), scheduler=st.sampled_from(["synchronous", "threads"]))
def test_arrays_of_dask_may_be_cut_anywhere(call, data, scheduler):
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")

    def lazy(name):
        if name != "y" and data.draw(st.booleans()):
            return DATA[name]
        return da.from_array(DATA[name], chunks=(tuple(data.draw(cuts())),))

    with dask.config.set(scheduler=scheduler):
        found = evaluated(call, lazy)
    assert_agree(found, at_once(call).result(), call)


@ANY
@given(call=calls(), parts=cuts(), scheduler=st.sampled_from(["synchronous", "threads"]))
def test_dataframes_of_dask_may_be_cut_anywhere(call, parts, scheduler):
    dd = pytest.importorskip("dask.dataframe", exc_type=ImportError)
    pd = pytest.importorskip("pandas")
    dask = pytest.importorskip("dask")
    frame = pd.DataFrame(DATA)
    ends = np.cumsum(parts).tolist()
    pieces = list(zip([0, *ends[:-1]], ends, strict=True))
    lazy = dd.from_map(lambda piece: frame.iloc[slice(*piece)], pieces, meta=frame.iloc[:0])
    with dask.config.set(scheduler=scheduler):
        found = evaluated(call, lambda name: lazy[name])
    assert_agree(found, at_once(call).result(), call)


@ANY
@given(call=calls().filter(lambda call: call[3]), parts=cuts(), seed=st.integers(0, 99))
def test_groups_are_drawn_alike_in_any_order_of_partitions(call, parts, seed):
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    order = np.random.default_rng(seed).permutation(N)

    def lazy(name):
        return da.from_array(DATA[name][order], chunks=(tuple(parts),))

    with dask.config.set(scheduler="synchronous"):
        found = evaluated(call, lazy)
    assert_agree(found, at_once(call).result(), call)


@settings(ANY, max_examples=6)
@given(parts=cuts(), columns=st.sampled_from([(1, 1), (2,)]))
def test_columns_of_probabilities_of_dask_may_be_cut_anywhere(parts, columns):
    da = pytest.importorskip("dask.array")
    both = np.column_stack((DATA["p0"], DATA["p1"]))
    options = {"metric": "log_loss", "labels": [0, 1], **OPTIONS}
    predicted = da.from_array(both, chunks=(tuple(parts), columns))
    found = bootstrap_score(da.from_array(TRUTH, chunks=(tuple(parts),)), predicted, **options)
    expected = BootstrapAccumulator("log_loss", labels=[0, 1], **OPTIONS)
    expected = expected.update(TRUTH, both, start=0).result().bootstrap_distribution
    np.testing.assert_allclose(found.bootstrap_distribution, expected, rtol=1e-10)


# ------------------------------------------------------------------ files


@ANY
@given(
    call=calls(),
    parts=cuts(),
    data=st.data(),
    n_jobs=st.sampled_from([1, 2]),
    runs=st.sampled_from([1, 5, 64]),
    rows_at_once=st.integers(20, N),
)
def test_files_and_groups_of_rows_may_be_of_any_size(
    tmp_path_factory, call, parts, data, n_jobs, runs, rows_at_once
):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    folder, at = tmp_path_factory.mktemp("files"), 0
    for number, n_rows in enumerate(parts):
        rows = slice(at, at + n_rows)
        table = pa.table({name: values[rows] for name, values in DATA.items()})
        size = data.draw(st.integers(max(n_rows // 6, 1), N))
        pq.write_table(table, folder / f"{number:02}.parquet", row_group_size=size)
        at += n_rows
    files = scan_dataset(folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
        patched.setattr("skboot.streams.columns._RUNS", runs)
        patched.setattr("skboot.streams.columns.ROWS_AT_ONCE", rows_at_once)
        found = evaluated(call, lambda name: files[name], n_jobs=n_jobs)
    assert_agree(found, at_once(call).result(), call)
