"""Areas averaged over several classes, from histograms of the scores of each class."""

import pickle
from functools import partial

import numpy as np
import pytest
import sklearn.metrics as sk
from designs import weights_in_a_stream
from hypothesis import given, settings
from hypothesis import strategies as st

from skboot import BootstrapAccumulator, bootstrap_score, compare_systems, scan_dataset

# Resamples of so few intervals hide an order that matters, which is warned of.
FEW_INTERVALS = pytest.mark.filterwarnings("ignore:.*Resamples do not see the order")

RNG = np.random.default_rng(12)
N, B, C = 400, 60, 4
TRUTH = np.append(RNG.integers(0, C, N - 30), RNG.integers(0, 2, 30))
NAMES = np.array(["pear", "apple", "fig", "plum"])


def probabilities(truth, strength, seed):
    """Columns whose rows sum to 1, larger for the true class."""
    found = np.random.default_rng(seed).dirichlet(np.ones(C), len(truth))
    found[np.arange(len(truth)), truth] += strength
    return found / found.sum(axis=1, keepdims=True)


def in_eighths(columns):
    """Probabilities of which many are equal, and whose sums are exact."""
    found = np.floor(8 * columns)
    found[:, -1] += 8 - found.sum(axis=1)
    return found / 8


COLUMNS = probabilities(TRUTH, 0.3, 1)
TIED = in_eighths(probabilities(TRUTH, 0.3, 2))
MEMBER = np.equal.outer(np.arange(C), TRUTH)
WEIGHTS = RNG.random(N) + 0.1
AREA = sk.roc_auc_score
METRICS = {
    "roc_auc_ovr": partial(AREA, multi_class="ovr"),
    "roc_auc_ovo": partial(AREA, multi_class="ovo"),
    "roc_auc_ovr_weighted": partial(AREA, multi_class="ovr", average="weighted"),
    "roc_auc_ovo_weighted": partial(AREA, multi_class="ovo", average="weighted"),
    "average_precision": sk.average_precision_score,
    "weighted average precision": partial(sk.average_precision_score, average="weighted"),
}
WEIGHTED = [name for name in METRICS if "ovo" not in name]


def metric_of(name):
    return METRICS[name] if " " in name else name


def accumulator(name, **options):
    asked = {"random_state": 3, "n_resamples": B, "labels": range(C)} | options
    return BootstrapAccumulator(metric_of(name), **asked)


def drawn(n=N):
    return weights_in_a_stream(3, B, np.arange(n))


# ------------------------------------------------------------------ against repeated rows


@pytest.mark.parametrize("columns", [COLUMNS, TIED], ids=["distinct", "tied"])
@pytest.mark.parametrize("name", METRICS)
def test_replicates_are_those_of_scikit_learn_on_repeated_rows(name, columns):
    result = accumulator(name).update(TRUTH, columns, start=0).result()
    assert result.estimate == pytest.approx(METRICS[name](TRUTH, columns), rel=1e-12)
    weights = drawn()
    for resample in range(0, B, 6):
        rows = np.repeat(np.arange(N), weights[:, resample])
        expected = METRICS[name](TRUTH[rows], columns[rows])
        assert result.bootstrap_distribution[resample] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_of_rows_multiply_those_of_resamples(name):
    found = accumulator(name)
    for rows in np.array_split(np.arange(N), 3):
        found.update(TRUTH[rows], COLUMNS[rows], start=rows[0], sample_weight=WEIGHTS[rows])
    result = found.result()
    expected = METRICS[name](TRUTH, COLUMNS, sample_weight=WEIGHTS)
    assert result.estimate == pytest.approx(expected, rel=1e-12)
    weights = drawn() * WEIGHTS[:, None]
    for resample in range(0, B, 7):
        rows = np.flatnonzero(weights[:, resample])
        own = {"sample_weight": weights[rows, resample]}
        expected = METRICS[name](TRUTH[rows], COLUMNS[rows], **own)
        assert result.bootstrap_distribution[resample] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", METRICS)
def test_columns_are_in_the_order_of_the_labels(name):
    # The labels are not sorted, as scikit-learn would have them, and neither are the columns.
    found = accumulator(name, labels=NAMES).update(NAMES[TRUTH], COLUMNS, start=0).result()
    by_number = accumulator(name).update(TRUTH, COLUMNS, start=0).result()
    np.testing.assert_allclose(
        found.bootstrap_distribution, by_number.bootstrap_distribution, rtol=1e-13
    )


@pytest.mark.parametrize("name", METRICS)
def test_estimates_and_words_are_those_of_rows_in_memory(name):
    found = accumulator(name, n_resamples=999).update(TRUTH, COLUMNS, start=0).result()
    options = {"metric": metric_of(name), "labels": range(C), "random_state": 3}
    expected = bootstrap_score(TRUTH, COLUMNS, n_resamples=999, **options)
    assert found.estimate == pytest.approx(expected.estimate, rel=1e-12)
    assert found.naive_estimate == pytest.approx(expected.naive_estimate, rel=1e-12)
    assert found.greater_is_better is expected.greater_is_better
    # Two standard deviations of 999 replicates: a ratio with an error of 3.2%, four of them.
    assert found.standard_error == pytest.approx(expected.standard_error, rel=0.13)
    assert found.confidence_interval.method == "expanded"


@pytest.mark.parametrize("name", METRICS)
def test_a_class_that_no_row_has_is_what_it_is_in_memory(name):
    kept = TRUTH != 2
    options = {"metric": metric_of(name), "labels": range(C), "random_state": 3}
    asked = {"n_resamples": 99, "interval": "percentile"}
    found = accumulator(name, **asked)
    with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patched:
        patched.setattr("skboot._base.errors.warn_user", lambda *_: None)
        found = found.update(TRUTH[kept], COLUMNS[kept], start=0).result()
        if name == "roc_auc_ovr":
            # All rows are refused by the name of the class; more rows of a stream may follow.
            with pytest.raises(ValueError, match=r"rows of each class .* Got none of \[2\]"):
                bootstrap_score(TRUTH[kept], COLUMNS[kept], **options, **asked)
            assert np.isnan(found.estimate)
            return
        expected = bootstrap_score(TRUTH[kept], COLUMNS[kept], **options, **asked)
    assert found.estimate == pytest.approx(expected.estimate, nan_ok=True)
    assert found.n_undefined == expected.n_undefined


# ------------------------------------------------------------------ any partition


@st.composite
def partitions(draw):
    order = np.random.default_rng(draw(st.integers(0, 2**32))).permutation(N)
    cuts = sorted(set(draw(st.lists(st.integers(1, N - 1), max_size=5))))
    return np.split(order, cuts), draw(st.randoms(use_true_random=False))


@FEW_INTERVALS
@pytest.mark.parametrize("n_bins", [1024, 16])
@pytest.mark.parametrize("name", ["roc_auc_ovr", "roc_auc_ovo_weighted", "average_precision"])
@settings(max_examples=6, deadline=None, derandomize=True)
@given(partition=partitions())
def test_any_partition_has_the_same_bits(name, n_bins, partition):
    batches, random = partition
    shards = [
        accumulator(name, n_bins=n_bins).update(TRUTH[rows], COLUMNS[rows], ids=rows)
        for rows in batches
    ]
    while len(shards) > 1:
        random.shuffle(shards)
        last = BootstrapAccumulator.from_bytes(shards.pop().to_bytes())
        shards[0].merge(last)
    whole = accumulator(name, n_bins=n_bins).update(TRUTH, COLUMNS, ids=np.arange(N))
    assert shards[0].to_bytes() == whole.to_bytes()
    assert pickle.loads(pickle.dumps(whole)).result() == whole.result()


@settings(max_examples=4, deadline=None, derandomize=True)
@given(cuts=st.lists(st.integers(1, N - 1), max_size=5, unique=True).map(sorted))
def test_columns_that_are_not_in_memory_have_the_same_bits(tmp_path_factory, cuts):
    da = pytest.importorskip("dask.array")
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    metric, labels = ["roc_auc_ovr", "roc_auc_ovo", "average_precision"], range(C)
    options = {"random_state": 3, "n_resamples": 99, "labels": labels}
    expected = BootstrapAccumulator(metric, **options).update(TRUTH, COLUMNS, start=0).result()
    parts = tuple(np.diff([0, *cuts, N]).tolist())
    lazy = [
        bootstrap_score(
            da.from_array(TRUTH, chunks=(parts,)),
            da.from_array(COLUMNS, chunks=(parts, (1, 3))),
            metric=metric,
            **options,
        )
    ]
    folder = tmp_path_factory.mktemp("files")
    for number, rows in enumerate(np.split(np.arange(N), cuts)):
        own = {"y": TRUTH[rows], "p": pa.array(COLUMNS[rows].tolist())}
        path = folder / f"{number:02}.parquet"
        pq.write_table(pa.table(own), path, row_group_size=max(len(rows) // 3, 1))
    files = scan_dataset(folder)
    lazy.append(bootstrap_score(files["y"], files["p"], metric=metric, **options))
    for found in lazy:
        for name in metric:
            np.testing.assert_array_equal(
                found[name].bootstrap_distribution, expected[name].bootstrap_distribution
            )


def test_systems_are_paired_on_the_same_resamples():
    systems = {"good": probabilities(TRUTH, 0.5, 4), "fair": probabilities(TRUTH, 0.3, 5)}
    options = {"random_state": 0, "n_resamples": 1999, "labels": range(C), "n_bins": 64}
    found = BootstrapAccumulator("roc_auc_ovo", systems=list(systems), **options)
    for rows in np.array_split(np.arange(N), 3):
        batch = {name: own[rows] for name, own in systems.items()}
        found.update(TRUTH[rows], batch, start=rows[0])
    alone = BootstrapAccumulator("roc_auc_ovo", **options).update(TRUTH, systems["fair"], start=0)
    result, own = found.result(), alone.result()
    np.testing.assert_array_equal(
        result.systems["fair"].bootstrap_distribution, own.bootstrap_distribution
    )
    del options["n_bins"]
    expected = compare_systems(TRUTH, systems, metric="roc_auc_ovo", **options)
    mine, its = result.pair("good", "fair"), expected.pair("good", "fair")
    bounds = [error_of(score) for score in result.systems.values()]
    assert abs(mine.difference - its.difference) <= sum(bounds)
    assert mine.standard_error == pytest.approx(its.standard_error, rel=0.1)


# ------------------------------------------------------------------ scores in intervals


def error_of(result):
    """The bound that the note of a result states."""
    (note,) = [note for note in result.notes if "intervals" in note]
    return float(note.split("at most ")[2].split(";")[0])


@FEW_INTERVALS
@pytest.mark.parametrize("n_bins", [4, 16, 64, 256])
@pytest.mark.parametrize("name", METRICS)
def test_the_error_of_intervals_is_within_its_bound(name, n_bins):
    truth = np.random.default_rng(n_bins).integers(0, C, 2000)
    columns = probabilities(truth, 0.4, n_bins)
    found = accumulator(name, n_bins=n_bins).update(truth, columns, start=0)
    result = found.result()
    exact = METRICS[name](truth, columns)
    assert 0 < abs(result.estimate - exact) <= error_of(result) * (1 + 1e-6)


def intervals(scores, n_bins):
    """Number of the interval of each score: equal leading bits, as many as leave so few.

    Those above one half are as far above it as their distance from one is below it.
    """
    half = np.float64(0.5).view(np.uint64)
    bits = np.ascontiguousarray(scores).view(np.uint64)
    bits = np.where(scores > 0.5, half + half - (1 - scores).view(np.uint64), bits)
    while len(np.unique(bits)) > n_bins:
        bits = bits >> np.uint64(1)
    return np.unique(bits, return_inverse=True)[1]


def pairs_of_classes(multi_class):
    """Column, rows of its class, and rows of what it is told apart from."""
    for k in range(C):
        if multi_class == "ovr":
            yield k, MEMBER[k], ~MEMBER[k]
        else:
            yield from ((k, MEMBER[k], MEMBER[j]) for j in range(C) if j != k)


@FEW_INTERVALS
@pytest.mark.parametrize("n_bins", [2, 20])
@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_the_bound_is_the_average_of_half_of_the_pairs_in_one_interval(
    multi_class, average, n_bins
):
    metric = partial(AREA, multi_class=multi_class, average=average)
    asked = {"random_state": 3, "n_resamples": B, "labels": range(C), "n_bins": n_bins}
    result = BootstrapAccumulator(metric, **asked).update(TRUTH, COLUMNS, start=0).result()
    bounds, areas, sizes = [], [], []
    for k, own, other in pairs_of_classes(multi_class):
        interval = intervals(COLUMNS[:, k], n_bins)
        shared = np.bincount(interval, own) @ np.bincount(interval, other)
        bounds.append(0.5 * shared / (own.sum() * other.sum()))
        areas.append(AREA(own[own | other], interval[own | other]))
        sizes.append(own.sum() + (other.sum() if multi_class == "ovo" else 0))
    weights = sizes if average == "weighted" else None
    assert result.estimate == pytest.approx(np.average(areas, weights=weights), abs=1e-12)
    assert error_of(result) == pytest.approx(np.average(bounds, weights=weights), abs=1e-6)


@FEW_INTERVALS
@pytest.mark.parametrize("n_bins", [4, 20])
@pytest.mark.parametrize("name", ["average_precision", "weighted average precision"])
def test_the_bound_of_a_precision_is_met_by_scores_within_the_intervals(name, n_bins):
    result = accumulator(name, n_bins=n_bins).update(TRUTH, COLUMNS, start=0).result()
    best, worst, sizes = [], [], []
    for k in range(C):
        own, interval = MEMBER[k], intervals(COLUMNS[:, k], n_bins)
        best.append(sk.average_precision_score(own, interval + 0.5 * own))
        # Each positive has a threshold of its own, below all negatives of its interval.
        one_by_one = interval + np.where(own, np.arange(N) / (4 * N), 0.5)
        worst.append(sk.average_precision_score(own, one_by_one))
        sizes.append(own.sum())
    weights = sizes if name.startswith("weighted") else None
    extremes = [np.average(values, weights=weights) for values in (best, worst)]
    found = max(abs(value - result.estimate) for value in extremes)
    assert 0.95 * error_of(result) <= found <= error_of(result) * (1 + 1e-5)


@pytest.mark.parametrize("name", METRICS)
def test_distinct_scores_that_fit_leave_no_note(name):
    result = accumulator(name).update(TRUTH, COLUMNS, start=0).result()
    assert not [note for note in result.notes if "interval" in note]


# ------------------------------------------------------------------ several metrics


def test_metrics_share_the_histograms_of_their_kind():
    metric = ["roc_auc_ovr", "roc_auc_ovr_weighted", "average_precision", "roc_auc_ovo", "accuracy"]
    options = {"random_state": 3, "n_resamples": B, "labels": range(C)}
    found = BootstrapAccumulator(metric, **options).update(TRUTH, COLUMNS, start=0)
    for name, result in found.result().items():
        alone = BootstrapAccumulator(name, **options).update(TRUTH, COLUMNS, start=0).result()
        np.testing.assert_array_equal(result.bootstrap_distribution, alone.bootstrap_distribution)
    ovr = BootstrapAccumulator("roc_auc_ovr", **options).update(TRUTH, COLUMNS, start=0)
    both = BootstrapAccumulator(metric[:3], **options).update(TRUTH, COLUMNS, start=0)
    assert len(both.to_bytes()) < 1.05 * len(ovr.to_bytes())


def test_labels_of_a_metric_are_its_own():
    own = partial(AREA, multi_class="ovr", labels=[0, 1, 2, 3])
    options = {"random_state": 3, "n_resamples": B, "labels": [3, 2, 1, 0]}
    both = BootstrapAccumulator({"own": own, "given": "roc_auc_ovr"}, **options)
    both.update(TRUTH, COLUMNS, start=0)
    for name, columns in (("own", COLUMNS), ("given", COLUMNS[:, ::-1])):
        expected = AREA(TRUTH, columns, multi_class="ovr")
        assert both.result()[name].estimate == pytest.approx(expected, rel=1e-12)


def test_two_labels_are_the_two_classes_of_one_score():
    truth, score = (TRUTH > 1).astype(int), COLUMNS[:, 2:].sum(axis=1)
    found = accumulator("roc_auc_ovr", labels=[0, 1]).update(truth, score, start=0).result()
    assert found.estimate == pytest.approx(AREA(truth, score), rel=1e-12)


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize("metric", ["roc_auc_ovr", "roc_auc_ovo_weighted"])
def test_labels_are_required(metric):
    with pytest.raises(ValueError, match=r"'labels' parameter.*roc_auc_ov"):
        BootstrapAccumulator(metric, random_state=0)


@pytest.mark.parametrize("n_classes", [100, 1000])
def test_so_many_classes_that_memory_may_not_hold_them_are_refused_with_what_to_do(n_classes):
    options = {"random_state": 0, "labels": np.arange(n_classes)}
    with pytest.raises(ValueError, match=rf"'metric'.*{n_classes} classes.*resamples") as caught:
        BootstrapAccumulator("roc_auc_ovr", **options)
    n_bins = int(str(caught.value).partition("n_bins=")[2].rstrip("."))
    assert BootstrapAccumulator("roc_auc_ovr", **options, n_bins=n_bins).n_samples == 0
    with pytest.raises(ValueError, match="'metric'"):
        BootstrapAccumulator("roc_auc_ovr", **options, n_bins=n_bins + 1)
    da = pytest.importorskip("dask.array")
    columns = da.zeros(50), da.zeros((50, n_classes))
    with pytest.raises(ValueError, match="'metric' parameter of bootstrap_score"):
        bootstrap_score(*columns, metric="roc_auc_ovr", **options)


def test_pairs_of_very_many_classes_are_not_offered_intervals():
    options = {"random_state": 0, "labels": np.arange(1000)}
    with pytest.raises(ValueError, match="one class against the others"):
        BootstrapAccumulator("roc_auc_ovo", **options)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"y_pred": COLUMNS[:, 0]}, "4 labels"),
        ({"y_pred": COLUMNS[:, :3]}, "4 labels"),
        ({"y_pred": 2 * COLUMNS}, "sum 1 in each row"),
        ({"y_true": TRUTH + 1}, r"labels among \[0, 1, 2, 3\]"),
        ({"sample_weight": WEIGHTS}, "'sample_weight'.*roc_auc_ovo"),
    ],
)
def test_rows_that_cannot_be_right_are_refused(change, match):
    rows = {"y_true": TRUTH, "y_pred": COLUMNS} | change
    with pytest.raises(ValueError, match=match):
        accumulator("roc_auc_ovo").update(**rows, start=0)
