"""Callables that return several numbers: the same results as one callable for each, from one call.

The reference is the entry by itself, or scikit-learn on the rows that ``resamples=`` repeats.
"""

from collections.abc import Mapping
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

import skboot
from skboot import bootstrap_runs, bootstrap_score, compare_runs, compare_systems
from skboot.study.rows import Rows, Scoring, measured_by
from skboot.testing import assert_not_worse

N = 60
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 3, N)
PREDICTED = np.where(RNG.random(N) < 0.7, TRUTH, RNG.integers(0, 3, N))
OTHER = np.where(RNG.random(N) < 0.6, TRUTH, RNG.integers(0, 3, N))
NAMES = np.array(["cat", "dog", "owl"])
OPTIONS = {"n_resamples": 499, "random_state": 1}
FEW_RUNS = pytest.mark.filterwarnings("ignore:.*runs.*poorly estimated")


def clinical(y_true, y_pred):
    return {"hits": np.mean(y_true == y_pred), "later": np.mean(y_pred > 0)}


def weighted(y_true, y_pred, sample_weight=None):
    hits = np.average(y_true == y_pred, weights=sample_weight)
    return {"hits": hits, "twice": 2 * hits}


def alone(function, key):
    return lambda *columns, **weights: function(*columns, **weights)[key]


class Counted:
    """A function that counts how often it is called."""

    def __init__(self, function):
        self.function, self.n_calls = function, 0

    def __call__(self, *columns):
        self.n_calls += 1
        return self.function(*columns)


# ------------------------------------------------------------------ each entry is a metric


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"groups": np.arange(N) // 4},
        {"strata": TRUTH},
        {"block_length": 2},
        {"average_over": np.arange(N) % 12 // 2, "interval": "percentile"},
        {"by": np.arange(N) % 2},
        {"groups": np.column_stack((np.arange(N) % 6, np.arange(N) // 6))},
    ],
    ids=["rows", "groups", "strata", "blocks", "tasks", "by", "crossed"],
)
@pytest.mark.filterwarnings("ignore:.*(Only .* (groups|tasks|members)|rows decide this score)")
def test_each_entry_equals_the_metric_by_itself(options):
    result = bootstrap_score(TRUTH, PREDICTED, metric=clinical, **OPTIONS, **options)
    assert list(result) == ["hits", "later"]
    for key in result:
        own = {key: alone(clinical, key)}
        assert (
            bootstrap_score(TRUTH, PREDICTED, metric=own, **OPTIONS, **options)[key]
            == (result[key])
        )


def test_a_function_of_weights_is_called_on_weighted_cells_for_all_entries():
    truth, predicted = np.tile(TRUTH, 20), np.tile(PREDICTED, 20)
    result = bootstrap_score(truth, predicted, metric=weighted, **OPTIONS)
    for key in result:
        [own] = bootstrap_score(
            truth, predicted, metric={key: _with_weights(key)}, **OPTIONS
        ).values()
        assert own == result[key]
    assert np.array_equal(
        2 * result["hits"].bootstrap_distribution, result["twice"].bootstrap_distribution
    )


def _with_weights(key):
    return lambda y_true, y_pred, sample_weight=None: weighted(y_true, y_pred, sample_weight)[key]


def test_systems_compared_by_each_entry_equal_those_compared_by_it_alone():
    systems = {"A": PREDICTED, "B": OTHER}
    result = compare_systems(TRUTH, systems, metric=clinical, **OPTIONS)
    for key in result:
        own = compare_systems(TRUTH, systems, metric={key: alone(clinical, key)}, **OPTIONS)[key]
        assert own == result[key]


def test_systems_on_rows_of_their_own_are_compared_by_each_entry():
    truths, systems = {"A": TRUTH, "B": TRUTH[:50]}, {"A": PREDICTED, "B": OTHER[:50]}
    options = {"paired": False, "n_resamples": 1999, "random_state": 1}
    result = compare_systems(truths, systems, metric=clinical, **options)
    for key in result:
        own = {key: alone(clinical, key)}
        other = compare_systems(truths, systems, metric=own, **options)
        assert other[key] == result[key]


@FEW_RUNS
def test_runs_by_each_entry_equal_those_by_it_alone():
    runs = [PREDICTED, OTHER, OTHER]
    result = bootstrap_runs(TRUTH, runs, metric=clinical, **OPTIONS)
    methods = {"A": runs, "B": runs[::-1]}
    compared = compare_runs(TRUTH, methods, metric=clinical, **OPTIONS)
    for key in result:
        own = {key: alone(clinical, key)}
        assert bootstrap_runs(TRUTH, runs, metric=own, **OPTIONS)[key] == result[key]
        assert compare_runs(TRUTH, methods, metric=own, **OPTIONS)[key] == compared[key]


def test_workers_do_not_change_the_entries():
    one = bootstrap_score(TRUTH, PREDICTED, metric=clinical, **OPTIONS)
    with joblib.parallel_config(backend="threading"):
        assert bootstrap_score(TRUTH, PREDICTED, metric=clinical, n_jobs=2, **OPTIONS) == one


# ------------------------------------------------------------------ how often it is called


@pytest.mark.parametrize("function", [clinical, alone(clinical, "hits")], ids=["two", "one"])
def test_the_function_is_called_once_on_the_data_and_once_a_resample(function):
    counted = Counted(function)
    bootstrap_score(TRUTH, PREDICTED, metric=counted, interval="percentile", **OPTIONS)
    assert counted.n_calls == 1 + 499


def test_the_function_is_called_once_a_resample_for_each_system_and_run():
    counted = Counted(clinical)
    systems = {"A": PREDICTED, "B": OTHER}
    # Rows of a system by itself are left out for its own interval, by "bca".
    compare_systems(TRUTH, systems, metric=counted, **OPTIONS)
    assert counted.n_calls == 2 * (1 + 499 + N)


@FEW_RUNS
def test_the_function_is_called_once_a_resample_for_each_run():
    counted = Counted(clinical)
    bootstrap_runs(TRUTH, [PREDICTED, OTHER], metric=counted, interval="components", **OPTIONS)
    assert counted.n_calls <= 2 * (1 + 499) + N


@pytest.mark.filterwarnings("ignore:.*Only .* tasks")
def test_the_function_is_called_once_a_resample_for_each_task():
    counted = Counted(clinical)
    tasks = np.arange(N) % 4
    options = {"average_over": tasks, "interval": "percentile", **OPTIONS}
    bootstrap_score(TRUTH, PREDICTED, metric=counted, **options)
    # A call on all rows tells what it returns, and one without each class whether it needs them.
    assert counted.n_calls == 1 + 3 + 4 * (1 + 499)


# ------------------------------------------------------------------ names


def test_entries_of_an_array_are_numbered_and_those_of_a_dict_named():
    array = bootstrap_score(
        TRUTH,
        PREDICTED,
        metric=lambda y, p: np.array([np.mean(y == p), 0.5 * np.mean(y)]),
        **OPTIONS,
    )
    assert list(array) == [0, 1]
    assert [one.metric for one in array.values()] == ["metric (0)", "metric (1)"]
    named = bootstrap_score(TRUTH, PREDICTED, metric=clinical, **OPTIONS)
    assert [one.metric for one in named.values()] == ["hits", "later"]


def test_a_metric_of_several_numbers_is_a_table_among_other_metrics():
    result = bootstrap_score(TRUTH, PREDICTED, metric=[clinical, "accuracy"], **OPTIONS)
    assert list(result) == ["clinical", "accuracy"]
    assert list(result["clinical"]) == ["hits", "later"]
    assert result["clinical"]["hits"].estimate == result["accuracy"].estimate


def test_a_table_says_which_entry_of_which_metric_a_row_is():
    table = bootstrap_score(TRUTH, PREDICTED, metric=[clinical, "accuracy"], **OPTIONS)
    assert str(table).split()[:3] == ["name", "entry", "metric"]
    pandas = pytest.importorskip("pandas")
    expected = pandas.Series(["hits", "later", ""], name="entry")
    pandas.testing.assert_series_equal(table.to_frame()["entry"], expected, check_dtype=False)
    by = bootstrap_score(TRUTH, PREDICTED, metric=["accuracy"], by=np.arange(N) % 2, **OPTIONS)
    assert "subgroup" in by.to_frame()


def test_an_entry_named_like_another_metric_is_told_apart():
    result = bootstrap_score(
        TRUTH, PREDICTED, metric={"hits": "accuracy", "own": clinical}, **OPTIONS
    )
    assert result["hits"].metric == "hits"
    assert result["own"]["hits"].metric == "own (hits)"


def test_a_series_of_pandas_names_its_entries():
    pandas = pytest.importorskip("pandas")
    result = bootstrap_score(
        TRUTH, PREDICTED, metric=lambda y, p: pandas.Series(clinical(y, p)), **OPTIONS
    )
    assert list(result) == ["hits", "later"]


def test_a_table_of_entries_is_saved_and_loaded(tmp_path):
    result = bootstrap_score(TRUTH, PREDICTED, metric=[clinical, "accuracy"], **OPTIONS)
    result.save(tmp_path / "table.npz")
    assert skboot.results.ResultTable.load(tmp_path / "table.npz") == result


# ------------------------------------------------------------------ single classes


@pytest.mark.parametrize(
    "function",
    [
        metrics.f1_score,
        metrics.precision_score,
        metrics.recall_score,
        metrics.jaccard_score,
        partial(metrics.fbeta_score, beta=2),
        partial(metrics.f1_score, zero_division=1.0),
        partial(metrics.f1_score, labels=["owl", "cat"]),
    ],
)
@pytest.mark.filterwarnings("ignore:.*is ill-defined")
def test_average_none_gives_each_class_as_scikit_learn_does_on_the_rows(function):
    rows = np.random.default_rng(2).integers(0, N, (49, N))
    result = bootstrap_score(
        NAMES[TRUTH],
        NAMES[PREDICTED],
        metric=partial(function, average=None),
        resamples=rows,
        interval="percentile",
    )
    options = {"labels": NAMES} | getattr(function, "keywords", {})
    assert list(result) == list(options["labels"])
    for k, one in enumerate(result.values()):
        expected = [
            function(NAMES[TRUTH[r]], NAMES[PREDICTED[r]], **options, average=None)[k] for r in rows
        ]
        assert one.bootstrap_distribution == pytest.approx(expected, abs=1e-12)
        assert one.greater_is_better


def test_classes_that_one_of_two_systems_never_predicts_are_entries_of_both():
    systems = {"A": np.minimum(PREDICTED, 1), "B": PREDICTED + (PREDICTED == 2)}
    with pytest.warns(UserWarning, match="labels that do not occur in y_true"):
        result = compare_systems(
            TRUTH, systems, metric=partial(metrics.recall_score, average=None), **OPTIONS
        )
    assert list(result) == [0, 1, 2, 3]


PROB = np.random.default_rng(3).dirichlet(np.ones(3), N)
SETS, REAL = (PROB > 0.3).astype(int), np.random.default_rng(4).normal(size=(2, N, 3))
OF_COLUMNS = [
    (partial(metrics.roc_auc_score, multi_class="ovr", average=None), NAMES[TRUTH], PROB),
    (partial(metrics.average_precision_score, average=None), NAMES[TRUTH], PROB),
    (partial(metrics.roc_auc_score, average=None), SETS, REAL[0]),
    (partial(metrics.average_precision_score, average=None), SETS, REAL[0]),
    *(
        (partial(function, average=None), SETS, SETS[::-1])
        for function in (metrics.f1_score, metrics.precision_score, metrics.jaccard_score)
    ),
    *(
        (partial(function, multioutput="raw_values"), *REAL)
        for function in (metrics.r2_score, metrics.mean_squared_error, metrics.mean_absolute_error)
    ),
    # Of two classes there is one number.
    (partial(metrics.roc_auc_score, average=None), TRUTH > 0, PROB[:, 1]),
    (partial(metrics.average_precision_score, average=None), TRUTH > 0, PROB[:, 1]),
]


@pytest.mark.parametrize(("metric", "truth", "predicted"), OF_COLUMNS)
def test_a_partial_for_each_column_has_the_values_and_the_speed_of_its_column(
    metric, truth, predicted
):
    rows = np.random.default_rng(2).integers(0, N, (79, N))
    options = {"metric": metric, "resamples": rows, "interval": "percentile"}
    result = bootstrap_score(truth, predicted, **options)
    results = list(result.values()) if isinstance(result, Mapping) else [result]
    expected = np.array([metric(truth[r], predicted[r]) for r in rows]).reshape(len(rows), -1)
    if truth.dtype.kind == "U":
        assert list(result) == NAMES.tolist()
    for one, values in zip(results, expected.T, strict=True):
        assert one.bootstrap_distribution == pytest.approx(values, abs=1e-10)
    columns = Rows(truth, predicted, None, NAMES if truth.dtype.kind == "U" else None)
    scores, _ = measured_by(Scoring(metric), {"": [columns]})
    assert not any(own.statistic.calls_function for each in scores.values() for own in each[""])


# ------------------------------------------------------------------ undefined


@pytest.mark.filterwarnings("ignore:.*rows moves? this score")
def test_an_entry_is_undefined_on_resamples_where_it_is_nan():
    truth = np.r_[np.zeros(57, int), np.ones(3, int)]

    def function(y, p):
        with np.errstate(invalid="ignore"):
            return {"accuracy": np.mean(y == p), "recall": np.sum(y & p) / np.sum(y)}

    with pytest.warns(UndefinedMetricWarning, match="recall on "):
        result = bootstrap_score(truth, truth, metric=function, **OPTIONS)
    assert result["accuracy"].n_undefined == 0
    assert result["recall"].n_undefined > 0


def test_one_nan_is_undefined_for_each_entry():
    def function(y, p):
        return {"a": 1.0, "b": 2.0} if np.any(y == 2) else np.nan

    few = np.r_[np.zeros(58, int), 2, 2]
    with pytest.warns(UndefinedMetricWarning, match="a on .*; b on "):
        result = bootstrap_score(few, few, metric=function, interval="percentile", **OPTIONS)
    assert result["a"].n_undefined == result["b"].n_undefined > 0


# ------------------------------------------------------------------ bad functions


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda y, p: {}, "Got nothing"),
        (lambda y, p: np.array([]), "Got nothing"),
        (lambda y, p: {"a": "x"}, "Got 'x' for the entry 'a'"),
        (lambda y, p: [[1.0], [2.0]], r"Got \[1.0\] for the entry 0"),
        (lambda y, p: {1: 0.0, "1": 0.0}, "entries of different names"),
        (lambda y, p: (0.5, 0.5), "take several in a 1-d array or a dict"),
        (metrics.confusion_matrix, "take several in a 1-d array or a dict"),
    ],
)
def test_functions_that_return_no_numbers_are_refused(function, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_score(TRUTH, PREDICTED, metric=function, **OPTIONS)


def test_a_function_that_returns_values_of_rows_is_told_to_give_them_as_predictions():
    def function(y, p):
        return (y == p).astype(float)

    with pytest.raises(RuntimeError, match=r"Values of rows .* with metric='mean'"):
        bootstrap_score(TRUTH, PREDICTED, metric=function, interval="bca", **OPTIONS)


def test_a_function_that_returns_other_entries_on_a_resample_is_reported():
    few = np.r_[np.zeros(57, int), 1, 1, 2]

    def function(y, p):
        return metrics.f1_score(y, p, average=None)

    message = (
        r"on resample \d+: it returned 2 entries \(0, 1\), and on the data 3 entries .*labels="
    )
    with pytest.raises(RuntimeError, match=message):
        bootstrap_score(few, few, metric=function, **OPTIONS)


def test_functions_of_one_metric_refuse_several_numbers():
    with pytest.raises(ValueError, match="return one real number"):
        assert_not_worse(
            TRUTH, PREDICTED, OTHER, metric=clinical, margin=0.1, greater_is_better=True, **OPTIONS
        )
    with pytest.raises(ValueError, match="return one number"):
        assert_not_worse(
            TRUTH, PREDICTED, OTHER, metric=partial(metrics.f1_score, average=None), margin=0.1
        )
    with pytest.raises(ValueError, match="return one real number"):
        skboot.search_score(
            TRUTH, {"A": PREDICTED, "B": OTHER}, metric=clinical, greater_is_better=True, **OPTIONS
        )
