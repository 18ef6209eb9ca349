"""Columns that are not in memory: the numbers of one process, and refusals by name."""

import numpy as np
import pytest
import sklearn.metrics as sk
from designs import assert_same_bits, weights_in_a_stream

import skboot
from skboot import (
    BootstrapAccumulator,
    Crossed,
    Trials,
    bootstrap_curve,
    bootstrap_score,
    compare_systems,
)
from skboot.testing import assert_not_worse

da = pytest.importorskip("dask.array")

RNG = np.random.default_rng(2)
N, B = 1000, 99
TRUTH = RNG.integers(0, 2, N)
SCORES = np.round(RNG.normal(size=N) + TRUTH, 2)
GOOD = np.where(RNG.random(N) < 0.9, TRUTH, 1 - TRUTH)
FAIR = np.where(RNG.random(N) < 0.8, TRUTH, 1 - TRUTH)
SECOND = 1 / (1 + np.exp(-SCORES))
COLUMNS = np.column_stack((1 - SECOND, SECOND))
GROUPS = np.arange(N) // 7
WEIGHTS = RNG.random(N) + 0.5
TEXTS = np.array(["no", "yes"])
OPTIONS = {"random_state": 0, "n_resamples": B}


def cut(values, size):
    """An array of dask, in chunks of so many rows."""
    chunks = (size, *np.shape(values)[1:])
    return da.from_array(np.asarray(values), chunks=chunks)


def of_one_process(metric, y_true, y_pred, labels=None, **units):
    found = BootstrapAccumulator(metric, labels=labels, **OPTIONS)
    return found.update(y_true, y_pred, **(units or {"start": 0})).result()


# ------------------------------------------------------------------ the same numbers


@pytest.mark.parametrize("chunks", [(1000, 1000), (130, 130), (130, 71), (13, 400)])
@pytest.mark.parametrize("metric", ["accuracy", "f1", "matthews_corrcoef"])
def test_chunks_give_the_bits_of_one_process(metric, chunks):
    found = bootstrap_score(cut(TRUTH, chunks[0]), cut(GOOD, chunks[1]), metric=metric, **OPTIONS)
    assert_same_bits(found, of_one_process(metric, TRUTH, GOOD))


def test_replicates_are_the_metric_on_rows_repeated_by_their_number_in_all_data():
    weights = weights_in_a_stream(0, B, np.arange(N))
    found = bootstrap_score(cut(TRUTH, 300), cut(SCORES, 300), metric="roc_auc", **OPTIONS)
    for resample in range(0, B, 10):
        rows = np.repeat(np.arange(N), weights[:, resample])
        expected = sk.roc_auc_score(TRUTH[rows], SCORES[rows])
        assert found.bootstrap_distribution[resample] == pytest.approx(expected, abs=1e-12)


def test_columns_of_probabilities_may_be_cut_between_classes():
    predicted = da.from_array(COLUMNS, chunks=(300, 1))
    options = {"metric": "log_loss", "labels": [0, 1], **OPTIONS}
    found = bootstrap_score(cut(TRUTH, 300), predicted, **options)
    expected = of_one_process("log_loss", TRUTH, COLUMNS, [0, 1])
    assert found.estimate == pytest.approx(sk.log_loss(TRUTH, SECOND), rel=1e-12)
    np.testing.assert_allclose(
        found.bootstrap_distribution, expected.bootstrap_distribution, rtol=1e-12
    )


def test_groups_and_weights_go_along_in_whatever_form():
    for groups, weights in ((cut(GROUPS, 90), cut(WEIGHTS, 500)), (GROUPS, WEIGHTS.tolist())):
        options = {"groups": groups, "sample_weight": weights, **OPTIONS}
        found = bootstrap_score(cut(TRUTH, 300), cut(GOOD, 300), **options)
        units = {"groups": GROUPS, "sample_weight": WEIGHTS}
        expected = of_one_process("accuracy", TRUTH, GOOD, **units)
        assert found.unit == "group"
        np.testing.assert_allclose(
            found.bootstrap_distribution, expected.bootstrap_distribution, rtol=1e-10
        )


def test_an_array_in_memory_goes_beside_one_of_dask():
    expected = of_one_process("accuracy", TRUTH, GOOD)
    assert_same_bits(bootstrap_score(TRUTH, cut(GOOD, 300), **OPTIONS), expected)
    assert_same_bits(bootstrap_score(cut(TRUTH, 300), GOOD.tolist(), **OPTIONS), expected)


def test_rows_of_chunks_of_unknown_length_are_counted_first():
    kept = SCORES > -1
    mask = cut(kept, 300)
    y_true, y_pred = cut(TRUTH, 300)[mask], cut(GOOD, 300)[mask]
    assert np.isnan(y_true.chunks[0]).all()
    expected = of_one_process("accuracy", TRUTH[kept], GOOD[kept])
    assert_same_bits(bootstrap_score(y_true, y_pred, **OPTIONS), expected)


def test_a_chunk_without_rows_is_none():
    mask = cut(np.arange(N) >= 300, 300)
    found = bootstrap_score(cut(TRUTH, 300)[mask], cut(GOOD, 300)[mask], **OPTIONS)
    assert_same_bits(found, of_one_process("accuracy", TRUTH[300:], GOOD[300:]))


def test_a_mean_of_rows_needs_no_truth():
    found = bootstrap_score(None, cut(WEIGHTS, 300), metric="mean", **OPTIONS)
    assert found.estimate == pytest.approx(WEIGHTS.mean(), rel=1e-14)


def test_several_metrics_are_a_table():
    table = bootstrap_score(cut(TRUTH, 300), cut(GOOD, 300), metric=["accuracy", "f1"], **OPTIONS)
    assert_same_bits(table["f1"], of_one_process("f1", TRUTH, GOOD))


def test_the_result_says_poisson_resamples():
    found = bootstrap_score(cut(TRUTH, 300), cut(GOOD, 300), **OPTIONS)
    assert "Poisson resamples" in found.summary()
    assert "Poisson resamples" not in bootstrap_score(TRUTH, GOOD, **OPTIONS).summary()


def test_processes_of_dask_give_the_bits_of_threads():
    dask = pytest.importorskip("dask")
    expected = of_one_process("accuracy", TRUTH, GOOD)
    for scheduler in ("synchronous", "threads", "processes"):
        with dask.config.set(scheduler=scheduler, num_workers=2):
            assert_same_bits(bootstrap_score(cut(TRUTH, 300), cut(GOOD, 300), **OPTIONS), expected)


# ------------------------------------------------------------------ systems


def test_systems_are_those_of_one_process():
    predicted = {"good": GOOD, "fair": FAIR}
    one = BootstrapAccumulator(systems=list(predicted), **OPTIONS)
    expected = one.update(TRUTH, predicted, start=0).result()
    lazy = {name: cut(own, 300) for name, own in predicted.items()}
    found = compare_systems(cut(TRUTH, 170), lazy, **OPTIONS)
    assert found.pair("good", "fair") == expected.pair("good", "fair")


@pytest.mark.parametrize(
    "asked",
    [
        {"reference": "fair", "adjust": "holm"},
        {"adjust": None, "alternative": "greater"},
        {"interval": "percentile", "confidence_level": 0.9},
    ],
)
def test_differences_are_as_asked_for_and_near_those_of_arrays(asked):
    predicted = {"good": GOOD, "fair": FAIR, "same": GOOD}
    lazy = {name: cut(own, 300) for name, own in predicted.items()}
    options = {**asked, "random_state": 0}
    found = compare_systems(cut(TRUTH, 300), lazy, **options)
    expected = compare_systems(TRUTH, predicted, **options)
    assert found.settings["alternative"] == asked.get("alternative", "two-sided")
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        (pair.first, pair.second) for pair in expected.pairs
    ]
    for one, other in zip(found.pairs, expected.pairs, strict=True):
        assert one.difference == pytest.approx(other.difference, abs=1e-14)
        # Two standard deviations of 1999 replicates: a ratio with an error of 2.3%, four of them.
        assert one.standard_error == pytest.approx(other.standard_error, rel=0.1)


def test_a_gate_reads_columns_of_dask():
    columns = (cut(TRUTH, 300), cut(GOOD, 300), cut(FAIR, 300))
    assert assert_not_worse(*columns, margin=0.02, random_state=0).outcome == "pass"
    values = (None, cut(WEIGHTS, 300), cut(WEIGHTS + 1, 300))
    with pytest.raises(ValueError, match="'greater_is_better' parameter"):
        assert_not_worse(*values, metric="mean", margin=0.1, random_state=0)


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("strata", TRUTH),
        ("by", TRUTH),
        ("average_over", GROUPS),
        ("block_length", 5),
        ("block_length", "auto"),
        ("groups", Trials(TRUTH, GROUPS)),
        ("groups", Crossed(TRUTH, GROUPS)),
        ("resamples", [[0, 1]]),
        ("adjust", "max-t"),
        ("interval", "bca"),
        ("interval", "studentized"),
        ("interval", "delong"),
        ("interval", "clopper-pearson"),
    ],
)
def test_what_needs_all_rows_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=rf"'{name}' parameter of bootstrap_score.*not in memory"):
        bootstrap_score(cut(TRUTH, 300), cut(GOOD, 300), **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("strata", TRUTH), ("by", TRUTH), ("paired", False), ("interval", "tango")],
)
def test_comparisons_refuse_it_as_well(name, value):
    lazy = {"good": cut(GOOD, 300), "fair": cut(FAIR, 300)}
    with pytest.raises(ValueError, match=rf"'{name}' parameter of compare_systems.*not in memory"):
        compare_systems(cut(TRUTH, 300), lazy, **{name: value})


def test_crossed_groups_and_metrics_of_all_rows_are_refused():
    columns = (cut(TRUTH, 300), cut(GOOD, 300))
    with pytest.raises(ValueError, match="'groups' parameter"):
        bootstrap_score(*columns, groups=cut(np.column_stack((GROUPS, TRUTH)), 300))
    with pytest.raises(ValueError, match=r"'metric' parameter.*median_absolute_error"):
        bootstrap_score(*columns, metric="neg_median_absolute_error")
    with pytest.raises(ValueError, match=r"'metric' parameter.*all rows"):
        bootstrap_score(*columns, metric=lambda y_true, y_pred: 0.0)


def test_few_rows_and_few_groups_have_the_numbers_of_arrays():
    found = bootstrap_score(cut(TRUTH[:29], 10), cut(GOOD[:29], 10), **OPTIONS)
    assert found == bootstrap_score(TRUTH[:29], GOOD[:29], **OPTIONS)
    lazy = {"good": cut(GOOD[:29], 10), "fair": cut(FAIR[:29], 10)}
    rows = {"good": GOOD[:29], "fair": FAIR[:29]}
    options = {"reference": "fair", "adjust": "holm", **OPTIONS}
    expected = compare_systems(TRUTH[:29], rows, **options)
    assert compare_systems(cut(TRUTH[:29], 10), lazy, **options) == expected
    found = bootstrap_curve(cut(TRUTH[:29], 10), cut(SCORES[:29], 10), **OPTIONS)
    assert found == bootstrap_curve(TRUTH[:29], SCORES[:29], **OPTIONS)
    groups = np.arange(N) % 29
    found = bootstrap_score(cut(TRUTH, 300), cut(GOOD, 300), groups=cut(groups, 300), **OPTIONS)
    expected = bootstrap_score(TRUTH, GOOD, groups=groups, **OPTIONS)
    assert tuple(found.confidence_interval) == tuple(expected.confidence_interval)


def test_few_groups_of_too_many_rows_are_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr("skboot.streams.state.MOST_VALUES", 2 * N)
    with pytest.raises(ValueError, match=r"'groups' parameter.*at least 30 groups.*compute"):
        bootstrap_score(cut(TRUTH, 300), cut(GOOD, 300), groups=cut(np.arange(N) % 29, 300))


def test_one_column_of_probabilities_of_0_and_1_needs_no_labels():
    found = bootstrap_score(cut(TRUTH, 300), cut(SECOND, 300), metric="neg_log_loss", **OPTIONS)
    assert found.estimate == pytest.approx(-sk.log_loss(TRUTH, SECOND), rel=1e-12)
    with pytest.raises(ValueError, match=r"'labels' parameter of bootstrap_score .* 0 and 1"):
        bootstrap_score(cut(TRUTH + 1, 300), cut(SECOND, 300), metric="neg_log_loss")


def test_columns_of_other_lengths_and_other_collections_are_refused():
    with pytest.raises(ValueError, match=r"'y_pred' parameter.*as many rows.*999"):
        bootstrap_score(cut(TRUTH, 300), GOOD[:-1])
    with pytest.raises(ValueError, match=r"'y_pred' parameter.*as many rows.*999"):
        bootstrap_score(cut(TRUTH, 300), cut(GOOD[:-1], 300))
    mask = cut(TRUTH == 1, 300)
    with pytest.raises(ValueError, match=r"'y_pred' parameter.*as many rows in each partition"):
        bootstrap_score(cut(TRUTH, 300)[mask], cut(GOOD, 300)[~mask])
    with pytest.raises(ValueError, match=r"'y_pred' parameter.*partitions"):
        bootstrap_score(cut(TRUTH, 300)[mask], cut(GOOD, 100)[cut(TRUTH == 1, 100)])
    dask = pytest.importorskip("dask")
    with pytest.raises(ValueError, match=r"'y_pred' parameter.*dask array.*Delayed"):
        bootstrap_score(cut(TRUTH, 300), dask.delayed(GOOD))


def test_a_missing_value_is_named_by_its_batch():
    scores = np.where(np.arange(N) == 730, np.nan, SCORES)
    with pytest.raises(ValueError, match=r"'y_pred'.*first in row 130, in the batch of .* 600"):
        bootstrap_score(cut(TRUTH, 300), cut(scores, 300), metric="roc_auc")


def test_nothing_is_read_before_the_arguments_are_right():
    dask = pytest.importorskip("dask")

    def never():
        raise AssertionError("a row was read")

    unread = da.from_delayed(dask.delayed(never)(), shape=(N,), dtype=int)
    for bad in ({"n_resamples": 1}, {"metric": "max_error"}, {"interval": "bca"}):
        with pytest.raises(ValueError, match=f"'{next(iter(bad))}' parameter"):
            bootstrap_score(unread, unread, **bad)


# ------------------------------------------------------------------ dataframes


def test_columns_of_a_dataframe_give_the_bits_of_one_process():
    dd = pytest.importorskip("dask.dataframe", exc_type=ImportError)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"y": TRUTH, "good": GOOD, "fair": FAIR, "text": TEXTS[TRUTH], "said": TEXTS[GOOD]}
    )
    frame[["p0", "p1"]] = COLUMNS
    frame["group"] = GROUPS
    lazy = dd.from_pandas(frame, npartitions=7)
    expected = of_one_process("accuracy", TRUTH, GOOD)
    assert_same_bits(bootstrap_score(lazy["y"], lazy["good"], **OPTIONS), expected)
    assert_same_bits(bootstrap_score(lazy["y"], cut(GOOD, 300), **OPTIONS), expected)
    assert_same_bits(bootstrap_score(lazy["text"], lazy["said"], **OPTIONS), expected)
    kept = lazy["group"] > 20
    expected = of_one_process("accuracy", TRUTH[GROUPS > 20], GOOD[GROUPS > 20])
    assert_same_bits(bootstrap_score(lazy["y"][kept], lazy["good"][kept], **OPTIONS), expected)
    found = bootstrap_score(lazy["y"], lazy["good"], groups=lazy["group"], **OPTIONS)
    assert_same_bits(found, of_one_process("accuracy", TRUTH, GOOD, groups=GROUPS))
    options = {"metric": "log_loss", "labels": [0, 1], **OPTIONS}
    found = bootstrap_score(lazy["y"], lazy[["p0", "p1"]], **options)
    assert found.estimate == pytest.approx(sk.log_loss(TRUTH, SECOND), rel=1e-12)
    systems = compare_systems(lazy["y"], lazy[["good", "fair"]], **OPTIONS)
    alone = of_one_process("accuracy", TRUTH, FAIR)
    np.testing.assert_array_equal(
        systems.systems["fair"].bootstrap_distribution, alone.bootstrap_distribution
    )
    other = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(ValueError, match=r"'y_pred' parameter.*as many partitions"):
        bootstrap_score(lazy["y"], other["good"])


def test_a_partition_that_is_computed_is_computed_once_for_all_its_columns():
    dd = pytest.importorskip("dask.dataframe", exc_type=ImportError)
    pd = pytest.importorskip("pandas")
    dask = pytest.importorskip("dask")
    frame = pd.DataFrame({"y": TRUTH, "x": SCORES})
    calls = []

    def predicted(part):
        calls.append(len(part))
        return part.assign(label=(part.x > 0.5).astype(int), score=part.x)

    meta = frame.iloc[:0].assign(label=0, score=0.0)
    lazy = dd.from_pandas(frame, npartitions=4).map_partitions(predicted, meta=meta)
    with dask.config.set(scheduler="synchronous"):
        compare_systems(lazy["y"], lazy[["label", "y"]], **OPTIONS)
    # Once for the rows to be counted, and once for the numbers.
    assert len(calls) == 2 * 4


def test_a_cluster_of_dask_gives_the_bits_of_one_process():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with (
        distributed.LocalCluster(**options, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
    ):
        found = bootstrap_score(cut(TRUTH, 300), cut(GOOD, 300), **OPTIONS)
    assert_same_bits(found, of_one_process("accuracy", TRUTH, GOOD))


def test_other_functions_still_collect_arrays_of_dask():
    columns = cut(TRUTH, 300), [cut(GOOD, 300), cut(FAIR, 300)]
    with pytest.warns(UserWarning, match="Only 2 runs"):
        result = skboot.bootstrap_runs(*columns, metric="accuracy", **OPTIONS)
    assert result.n_samples == N
