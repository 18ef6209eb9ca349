"""A truth of several columns: every function that takes rows takes them, and says what is wrong.

Expected numbers are those of scikit-learn, or of a function of the user, on repeated rows.
"""

import functools

import numpy as np
import pytest
import sklearn.metrics as metrics
from scipy import sparse

from skboot import bootstrap_runs, bootstrap_score, compare_runs, compare_systems

N = 60
RNG = np.random.default_rng(0)
SETS = (RNG.random((N, 4)) < 0.4).astype(int)
DECIDED, OTHER = (np.where(RNG.random((N, 4)) < share, 1 - SETS, SETS) for share in (0.1, 0.3))
SCORES = SETS + RNG.normal(size=SETS.shape)
REAL = RNG.normal(size=(N, 3))
PREDICTED = REAL + RNG.normal(size=REAL.shape)
GROUPS = np.arange(N) // 4
WEIGHTS = RNG.integers(1, 4, N)
TIMES = np.zeros(N, dtype=[("event", bool), ("time", float)])
TIMES["event"], TIMES["time"] = RNG.random(N) < 0.7, RNG.exponential(size=N)
RISK = RNG.normal(size=N) - TIMES["time"]
DRAWN = RNG.integers(0, N, (99, N))
ONE_HOT = np.eye(3)[RNG.integers(0, 3, N)]


def concordance(y_true, risk):
    earlier = y_true["event"][:, None] & (y_true["time"][:, None] < y_true["time"])
    return (earlier * (np.sign(risk[:, None] - risk) + 1) / 2).sum() / earlier.sum()


def same_sets(y_true, y_pred, sample_weight=None):
    return float(np.average((y_true == y_pred).all(axis=1), weights=sample_weight))


CASES = {
    "f1_macro": (SETS, DECIDED, functools.partial(metrics.f1_score, average="macro")),
    "jaccard_samples": (
        SETS,
        DECIDED,
        functools.partial(metrics.jaccard_score, average="samples", zero_division=0),
    ),
    "r2": (REAL, PREDICTED, metrics.r2_score),
    "roc_auc": (SETS, SCORES, metrics.roc_auc_score),
    functools.partial(metrics.r2_score, multioutput=np.array([0.2, 0.3, 0.5])): (
        REAL,
        PREDICTED,
        functools.partial(metrics.r2_score, multioutput=[0.2, 0.3, 0.5]),
    ),
    "median_absolute_error": (REAL, PREDICTED, metrics.median_absolute_error),
    same_sets: (SETS, DECIDED, same_sets),
    concordance: (TIMES, RISK, concordance),
}


@pytest.mark.filterwarnings("ignore:.*counts as 0 in .* rows")
@pytest.mark.parametrize("metric", CASES, ids=lambda one: getattr(one, "__name__", str(one)[:20]))
def test_resamples_repeat_whole_rows(metric):
    y_true, y_pred, function = CASES[metric]
    result = bootstrap_score(y_true, y_pred, metric=metric, resamples=DRAWN, interval="percentile")
    expected = [function(y_true[rows], y_pred[rows]) for rows in DRAWN]
    np.testing.assert_allclose(result.bootstrap_distribution, expected, rtol=1e-12)
    assert result.estimate == pytest.approx(function(y_true, y_pred), rel=1e-12)


@pytest.mark.parametrize(
    "rows",
    [
        {"groups": GROUPS},
        {"strata": GROUPS % 3},
        {"sample_weight": WEIGHTS},
        {"block_length": 5},
        {"average_over": GROUPS % 2},
    ],
    ids=lambda rows: next(iter(rows)),
)
@pytest.mark.filterwarnings("ignore:.*Only:UserWarning")
def test_rows_are_drawn_as_those_of_one_column(rows):
    """A mean of rows draws the same resamples as its values with metric="mean"."""
    options = {"n_resamples": 99, "interval": "percentile", "random_state": 0}
    result = bootstrap_score(REAL, PREDICTED, metric="mean_squared_error", **rows, **options)
    losses = ((REAL - PREDICTED) ** 2).mean(axis=1)
    expected = bootstrap_score(None, losses, metric="mean", **rows, **options)
    np.testing.assert_allclose(
        result.bootstrap_distribution, expected.bootstrap_distribution, rtol=1e-12
    )


def test_systems_are_compared_on_the_same_rows():
    systems = {"first": DECIDED, "second": OTHER}
    result = compare_systems(SETS, systems, metric="f1_macro", n_resamples=99, random_state=0)
    f1 = functools.partial(metrics.f1_score, average="macro")
    [pair] = result.pairs
    assert pair.difference == pytest.approx(f1(SETS, DECIDED) - f1(SETS, OTHER), rel=1e-12)


def test_unpaired_systems_have_their_own_columns():
    truths, systems = {"a": SETS, "b": SETS[:40]}, {"a": DECIDED, "b": OTHER[:40]}
    result = compare_systems(
        truths, systems, metric="f1_micro", paired=False, n_resamples=999, random_state=0
    )
    f1 = functools.partial(metrics.f1_score, average="micro")
    expected = f1(SETS, DECIDED) - f1(SETS[:40], OTHER[:40])
    assert result.pairs[0].difference == pytest.approx(expected, rel=1e-12)


def test_runs_of_a_method_have_the_columns_of_the_truth():
    runs = [np.where(RNG.random((N, 4)) < 0.2, 1 - SETS, SETS) for _ in range(12)]
    options = {"metric": "f1_macro", "n_resamples": 99, "random_state": 0}
    f1 = [metrics.f1_score(SETS, run, average="macro") for run in runs]
    result = bootstrap_runs(SETS, np.array(runs), **options)
    assert result.estimate == pytest.approx(np.mean(f1), rel=1e-12)
    compared = compare_runs(SETS, {"a": runs[:6], "b": runs[6:]}, **options)
    [pair] = compared.pairs
    assert pair.difference == pytest.approx(np.mean(f1[:6]) - np.mean(f1[6:]), rel=1e-12)


def test_a_column_of_one_is_a_column():
    options = {"n_resamples": 99, "random_state": 0}
    result = bootstrap_score(SETS[:, :1], DECIDED[:, :1], metric="f1", **options)
    assert result == bootstrap_score(SETS[:, 0], DECIDED[:, 0], metric="f1", **options)


def test_sparse_indicators_are_those_of_their_zeros():
    options = {"metric": "f1_macro", "n_resamples": 99, "random_state": 0}
    result = bootstrap_score(sparse.csr_matrix(SETS), sparse.csr_array(DECIDED), **options)
    assert result == bootstrap_score(SETS, DECIDED, **options)
    with pytest.raises(ValueError, match=r"'y_true'.*at most 67,108,864 entries.*metric='mean'"):
        bootstrap_score(sparse.csr_matrix((10**6, 1000)), DECIDED, metric="f1_macro")


def test_the_rarest_label_is_warned_of_as_the_rarest_class_is():
    rare = SETS.copy()
    rare[:, 0] = np.arange(N) < 2
    with pytest.warns(UserWarning, match="rows of each class decide"):
        bootstrap_score(rare, DECIDED, metric="f1_macro", n_resamples=99, random_state=0)


NAIVE = {
    "f1_macro": np.mean([2 * p / (1 + p) for p in SETS.mean(axis=0)]),
    "f1_micro": max(
        metrics.f1_score(SETS, np.tile(decided, (N, 1)), average="micro", zero_division=0)
        for decided in np.ndindex(2, 2, 2, 2)
    ),
    "accuracy": max(np.mean((row == SETS).all(axis=1)) for row in SETS),
    "r2": 0.0,
    "mean_squared_error": REAL.var(axis=0).mean(),
}


@pytest.mark.parametrize("metric", NAIVE)
def test_the_naive_reference_is_the_best_constant(metric):
    columns = (SETS, DECIDED) if metric in ("f1_macro", "f1_micro", "accuracy") else (REAL, REAL)
    result = bootstrap_score(*columns, metric=metric, n_resamples=99, interval="percentile")
    assert result.naive_estimate == pytest.approx(NAIVE[metric], rel=1e-12)


MESSAGES = {
    "shapes that differ": (
        (SETS, DECIDED[:, :3], "f1_macro"),
        r"'y_pred'.*have the shape of y_true, \(60, 4\).*Got shape \(60, 3\)",
    ),
    "one column beside several": ((SETS, DECIDED[:, 0], "roc_auc"), r"'y_pred'.*Got shape \(60,\)"),
    "scores for a metric of labels": (
        (SETS, SCORES, "f1_macro"),
        "'y_pred'.*hold 0 or 1 for each label.*y_pred >= 0.5",
    ),
    "real outputs for a metric of labels": (
        (REAL, PREDICTED, "accuracy"),
        "'y_true'.*hold 0 or 1 for each label.*'r2' or 'neg_mean_absolute_error'",
    ),
    "one-hot truth": ((ONE_HOT, np.zeros(N), "accuracy"), r"y_true\.argmax\(axis=1\)"),
    "no average": ((SETS, DECIDED, "f1"), "name an average.*'f1_macro', 'f1_micro'"),
    "averages over samples of classes": (
        (SETS[:, 0], DECIDED[:, 0], "f1_samples"),
        "'metric'.*where a row has one label.*use 'macro'",
    ),
    "a metric of one column": (
        (SETS, DECIDED, "matthews_corrcoef"),
        "'metric'.*take a y_true of several columns.*multilabel-indicator is not supported"
        ".*each column by itself",
    ),
    "options that do not fit the columns": (
        (REAL, PREDICTED, functools.partial(metrics.r2_score, multioutput=[0.5, 0.5])),
        r"'metric'.*'r2_score \(multioutput=0\.5 0\.5\)', which raises a ValueError on it"
        r".*weights \(2\) as outputs \(3\)",
    ),
    "one column for a metric of rankings": (
        (SETS[:, 0], SCORES[:, 0], metrics.ndcg_score),
        "'metric'.*'ndcg_score', which ranks the columns of each row.*average_over=",
    ),
    "sets in lists": (
        ([["a"], ["a", "b"]] * 30, DECIDED, "f1_macro"),
        "'y_true'.*labels of one type.*lists.*MultiLabelBinarizer",
    ),
    "a metric of this package": ((SETS, DECIDED, "sensitivity"), "'sensitivity', which takes one"),
    "text": ((SETS.astype(str), DECIDED.astype(str), "accuracy"), "MultiLabelBinarizer"),
    "negative relevances": ((SETS - 1, SCORES, metrics.ndcg_score), "relevances of at least 0"),
    "graded truth of a ranking": (
        (2 * SETS, SCORES, metrics.label_ranking_loss),
        "'y_true'.*0 or 1.*ndcg_score",
    ),
    "a gain of no item": (
        (SETS, SCORES, functools.partial(metrics.ndcg_score, k=0)),
        "'k' parameter of ndcg_score",
    ),
    "probabilities of each output": (
        (SETS, [np.column_stack((1 - p, p)) for p in DECIDED.T], "roc_auc"),
        r"a list of probabilities.*y_pred=np.column_stack\(\[p\[:, 1\] for p in y_pred",
    ),
    "missing values": (
        (np.where(REAL > 1, np.nan, REAL), PREDICTED, "r2"),
        "'y_true'.*not contain NaN",
    ),
    "records for a metric of labels": ((TIMES, RISK, "accuracy"), "'y_true'.*records of"),
}


@pytest.mark.parametrize("what", MESSAGES)
def test_a_message_names_what_is_wrong_with_the_columns(what):
    (y_true, y_pred, metric), message = MESSAGES[what]
    with pytest.raises(ValueError, match=message):
        bootstrap_score(y_true, y_pred, metric=metric, n_resamples=9)


def test_one_hot_truth_is_told_of_labels_alone():
    scores = RNG.random((N, ONE_HOT.shape[1]))
    with pytest.raises(ValueError, match="Convert one-hot rows") as caught:
        bootstrap_score(ONE_HOT, scores, metric="accuracy", n_resamples=9)
    assert "0.5" not in str(caught.value)


@pytest.mark.parametrize("name", ["f1", "jaccard", "precision", "recall"])
def test_rows_without_labels_are_counted_where_scikit_learn_warns(name):
    truth, decided = SETS.copy(), DECIDED.copy()
    truth[::12], decided[::15] = 0, 0
    function = getattr(metrics, f"{name}_score")
    members = {"precision": decided, "recall": truth}.get(name, truth + decided)
    n = int(np.sum(members.sum(axis=1) == 0))
    options = dict(n_resamples=399, random_state=0)
    with pytest.warns(UserWarning, match="samples with no"):
        expected = function(truth, decided, average="samples")
    with pytest.warns(UserWarning, match=rf"counts as 0 in {n} of 60 rows"):
        found = bootstrap_score(truth, decided, metric=f"{name}_samples", **options)
    assert found.estimate == pytest.approx(expected)
    chosen = functools.partial(function, average="samples", zero_division=1)
    found = bootstrap_score(truth, decided, metric=chosen, **options)
    assert found.estimate == pytest.approx(expected + n / N)


def test_event_times_may_be_missing_where_the_metric_has_a_value_without_them():
    def of_all(y_true, risk):
        return np.nan if np.isnan(y_true["time"]).any() else concordance(y_true, risk)

    missing = TIMES.copy()
    missing["time"][3] = np.nan
    with pytest.raises(ValueError, match=r"'y_true'.*NaN.*the first in row 3"):
        bootstrap_score(missing, RISK, metric=of_all, n_resamples=9)
    found = bootstrap_score(missing, RISK, metric=concordance, n_resamples=2999, random_state=0)
    assert found.estimate == concordance(missing, RISK)


def test_labels_name_no_columns_of_outputs():
    with pytest.raises(ValueError, match=r"'labels'.*be None with a y_true of several columns"):
        bootstrap_score(SETS, DECIDED, metric="f1_macro", labels=[0, 1, 2, 3])
