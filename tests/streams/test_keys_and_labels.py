"""Keys of streams and labels of columns: any names are names, and each row has draws of its own.

Exact, but for the law of the counts of a stream, which are Poisson: within five errors.
"""

from functools import partial

import numpy as np
import pytest
from identity_cases import any_seed, close, quiet, rows_of, scored
from sklearn import metrics as sk

import skboot
from skboot import metrics as own

pytestmark = pytest.mark.identity

OPTIONS = {"n_resamples": 39, "random_state": 0}
N = 60

# ------------------------------------------------------------------ keys


def stream(metric, y_true, y_pred, n_resamples=39, **units):
    found = skboot.BootstrapAccumulator(metric, random_state=0, n_resamples=n_resamples)
    return quiet(found.update(y_true, y_pred, **units).result)


KEYS = {
    "ids from 0": {"ids": np.arange(N)},
    "ids from 1": {"ids": np.arange(1, N + 1)},
    "ids below 0": {"ids": np.arange(N) - N // 2},
    "large ids": {"ids": np.arange(N) * 2**40},
    "ids in text": {"ids": np.char.mod("%d", np.arange(N))},
    "start": {"start": 0},
    "a later start": {"start": 10**12},
    "groups": {"groups": np.arange(N)},
    "groups in text": {"groups": np.char.mod("g%d", np.arange(N))},
}


@pytest.mark.parametrize("keys", KEYS)
def test_each_row_of_a_stream_is_drawn_by_itself(keys):
    """Counts of every row are Poisson, whatever its key, and those of two rows unrelated."""
    counts = []
    for row in (0, 1, 30, 59):
        # Of the sums of one row's indicator and of all rows: its share of a resample.
        result = stream("mean", None, (np.arange(N) == row) * 1.0, 399, **KEYS[keys])
        counts.append(result.bootstrap_distribution * N)
    counts = np.array(counts)
    assert np.abs(counts.mean(axis=1) - 1).max() < 5 / np.sqrt(399)
    assert np.abs(counts.var(axis=1) - 1).max() < 0.5
    assert np.abs(np.mean(counts < 0.2, axis=1) - np.exp(-1)).max() < 0.12
    related = np.corrcoef(counts) - np.eye(4)
    assert np.abs(related).max() < 5 / np.sqrt(399)


@pytest.mark.parametrize("unit", ["ids", "groups"])
@pytest.mark.parametrize("n", [8, 60])
def test_keys_are_read_by_their_values_alone(unit, n):
    rng = np.random.default_rng(0)
    y, p = rows_of("two", rng, n)
    keys = rng.permutation(n) if unit == "ids" else rng.permutation(np.arange(n) % (n // 2))
    forms = (keys, keys.astype(np.int32), keys.tolist(), keys.astype(np.uint8))
    results = [stream("f1", y, p, **{unit: form}) for form in forms]
    texts = np.char.mod("%d", keys)
    texts = [stream("f1", y, p, **{unit: form}) for form in (texts, texts.tolist(),
                                                             texts.astype(object))]  # fmt: skip
    for same in (results, texts):
        for one in same[1:]:
            close(one.bootstrap_distribution, same[0].bootstrap_distribution)
            assert one.n_units == same[0].n_units
    order = rng.permutation(n)
    moved = stream("f1", y[order], p[order], **{unit: keys[order]})
    close(moved.bootstrap_distribution, results[0].bootstrap_distribution)


@pytest.mark.parametrize("n", [8, 60, 400])
@any_seed
def test_true_and_false_are_the_groups_1_and_0(n, seed):
    """In one batch, cut into batches of other types, and in the columns of dask."""
    rng = np.random.default_rng(seed)
    y, p = rows_of("two", rng, n)
    is_late = rng.permutation(n) % 2 == 0
    numbers = stream("accuracy", y, p, groups=is_late.astype(int))
    cut = skboot.BootstrapAccumulator("accuracy", random_state=0, n_resamples=39)
    for k, groups in enumerate((is_late, is_late.tolist(), is_late.astype(object), is_late * 1)):
        cut.update(y[k::4], p[k::4], groups=groups[k::4])
    da = pytest.importorskip("dask.array")
    lazy = partial(da.from_array, chunks=n // 2)
    columns = lazy(y), lazy(p)
    results = [
        stream("accuracy", y, p, groups=is_late),
        quiet(cut.result),
        quiet(skboot.bootstrap_score, *columns, groups=lazy(is_late), **OPTIONS),
    ]
    for result in results:
        close(result.bootstrap_distribution, numbers.bootstrap_distribution)
        assert result.n_units == numbers.n_units == 2
    in_memory = [scored(y, p, groups=groups) for groups in (is_late, is_late * 1)]
    close(*(result.bootstrap_distribution for result in in_memory))


@pytest.mark.parametrize("metric", ["accuracy", "f1", "roc_auc", "mean"])
def test_a_stream_by_ids_from_0_is_that_by_places(metric):
    rng = np.random.default_rng(0)
    y, p = rows_of("scores" if metric == "roc_auc" else "two", rng, 90)
    y = None if metric == "mean" else y
    for start in (0, 7):
        places = stream(metric, y, p, start=start)
        ids = stream(metric, y, p, ids=np.arange(start, start + 90))
        for result in (places, ids):
            close(result.estimate, scored(y, p, metric=metric).estimate)
        error = 5 / np.sqrt(2 * 39)
        close(ids.standard_error, places.standard_error, error)


# ------------------------------------------------------------------ labels of columns

OF_COLUMNS = {
    "log_loss": "neg_log_loss",
    "brier": own.brier_score,
    "entropy": partial(own.cross_entropy, relative=True),
    "accuracy": "accuracy",
    "balanced": "balanced_accuracy",
    "f1_macro": "f1_macro",
    "kappa": sk.cohen_kappa_score,
    "auc": "roc_auc_ovr",
    "auc weighted": partial(sk.roc_auc_score, multi_class="ovr", average="weighted"),
    "top_2": partial(sk.top_k_accuracy_score, k=2),
    "top_1": partial(sk.top_k_accuracy_score, k=1),
    "cost": partial(own.expected_cost, costs=[[0, 1, 5], [2, 0, 3], [7, 4, 0]]),
    "d2": sk.d2_log_loss_score,
}
NAMES = np.array(["ant", "mole", "wren"])


def every_study(y, p, other, metric, labels, columns):
    """Numbers of all functions that take labels."""
    more = {"metric": metric, "labels": labels, **columns, **OPTIONS}
    if callable(metric) and "greater_is_better" not in more:
        more["greater_is_better"] = None
    score = quiet(skboot.bootstrap_score, y, p, **more)
    systems = {"A": p, "B": other}
    pair = quiet(skboot.compare_systems, y, systems, **more).pairs[0]
    runs = quiet(skboot.bootstrap_runs, y, [p, other], **more)
    methods = quiet(skboot.compare_runs, y, {"A": [p, other], "B": [other, other]}, **more)
    [between] = methods.pairs
    parts = quiet(skboot.bootstrap_score, y, p, by=np.arange(len(y)) // 2 % 2, **more)
    found = [score.estimate, *score.bootstrap_distribution, pair.difference, pair.p_value]
    found += [runs.estimate, runs.standard_error, between.difference, between.standard_error]
    found += [parts[0].estimate, parts[1].estimate, parts["gap"].estimate]
    if score.naive_estimate is not None:
        found.append(score.naive_estimate)
    return np.array(found)


ORDERS = [
    pytest.param(name, order, marks=[] if k % 2 == j else [pytest.mark.slow])
    for k, name in enumerate(OF_COLUMNS)
    for j, order in enumerate(([2, 0, 1], [1, 0, 2]))
]


@pytest.mark.parametrize(("name", "order"), ORDERS)
@any_seed
def test_columns_in_any_order_are_those_of_their_labels_in_every_study(name, order, seed):
    rng = np.random.default_rng([seed, *name.encode()])
    y, p = rows_of("columns", rng, N)
    other = 0.5 * p + 0.5 * rng.dirichlet(np.ones(3), N)
    columns = [{}, {"groups": np.arange(N) // 2}][len(name) % 2]
    columns = {"groups": np.arange(N) // 2, **columns}
    columns |= {"sample_weight": rng.integers(1, 5, N) / 2} if order[0] == 2 else {}
    one = every_study(NAMES[y], p, other, OF_COLUMNS[name], [*NAMES], columns)
    moved = every_study(
        NAMES[y], p[:, order], other[:, order], OF_COLUMNS[name], [*NAMES[order]], columns
    )
    if name == "cost":
        # Its costs are those of labels in this order, as its own labels are.
        costs = np.array(OF_COLUMNS[name].keywords["costs"])
        own_labels = partial(own.expected_cost, costs=costs, labels=[*NAMES])
        moved = every_study(
            NAMES[y], p[:, order], other[:, order], own_labels, [*NAMES[order]], columns
        )
        one = every_study(NAMES[y], p, other, own_labels, [*NAMES], columns)
    close(moved, one, 1e-8, 1e-10)
    numbers = every_study(y, p, other, OF_COLUMNS[name], None, columns)
    if name != "cost":
        close(one, numbers, 1e-8, 1e-10)


@pytest.mark.parametrize("name", ["log_loss", "accuracy", "f1_macro", "cost"])
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_streams_of_columns_are_read_by_their_labels(name, order):
    rng = np.random.default_rng(0)
    y, p = rows_of("columns", rng, 24)
    metric = OF_COLUMNS[name]
    if name == "cost":
        metric = partial(own.expected_cost, costs=metric.keywords["costs"], labels=[*NAMES])
    found = skboot.BootstrapAccumulator(metric, labels=[*NAMES[order]], **OPTIONS)
    for rows in (slice(0, 9), slice(9, 24)):
        found.update(NAMES[y][rows], p[rows][:, order], ids=np.arange(24)[rows])
    result = quiet(found.result)
    expected = quiet(skboot.bootstrap_score, NAMES[y], p, metric=metric, **OPTIONS)
    close(result.estimate, expected.estimate)
    close(result.bootstrap_distribution, expected.bootstrap_distribution, 1e-9)


@pytest.mark.parametrize("function", [sk.f1_score, sk.precision_score, sk.recall_score,
                                      sk.jaccard_score])  # fmt: skip
@pytest.mark.parametrize("labels", [None, [2, 0], [1, 2, 0]])
def test_each_class_has_its_own_entry_in_any_order(function, labels):
    rng = np.random.default_rng(0)
    y, p = rows_of("three", rng, N)
    rows = rng.integers(0, N, (9, N))
    weight = rng.integers(1, 5, N) / 2
    options = {"average": None, "zero_division": 0.0} | ({} if labels is None else
                                                         {"labels": labels})  # fmt: skip
    table = scored(y, p, metric=partial(function, **options), resamples=rows, sample_weight=weight)
    plain = function(y, p, sample_weight=weight, **options)
    drawn = [function(y[own], p[own], sample_weight=weight[own], **options) for own in rows]
    keys = [0, 1, 2] if labels is None else labels
    assert [*table] == keys
    for k, key in enumerate(keys):
        close(table[key].estimate, plain[k])
        close(table[key].bootstrap_distribution, [one[k] for one in drawn], 1e-9)
    runs = quiet(skboot.bootstrap_runs, y, [p, y, p], metric=partial(function, **options),
                 sample_weight=weight, **OPTIONS)  # fmt: skip
    for k, key in enumerate(keys):
        close(runs[key].estimate, (2 * plain[k] + 1) / 3)
