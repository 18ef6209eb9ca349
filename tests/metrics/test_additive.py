"""Sums, naive systems and proportions of the additive metrics."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn import metrics

from skboot._base.lazy import import_modules
from skboot.metrics.cells import Cells, encode, label_counts
from skboot.metrics.labels import SetRatio
from skboot.metrics.lookup import resolve_metrics
from skboot.metrics.means import Coefficient, RowMean, accuracy
from skboot.metrics.statistic import FAST_PATHS
from skboot.resampling.block import UnitBlock
from skboot.resampling.coding import UnitsOfCodes


def statistic_of(metric):
    (statistic,) = resolve_metrics(metric)[0].values()
    return statistic


def rows_block(counts):
    counts = np.asarray(counts)
    return UnitBlock(UnitsOfCodes(counts.shape[1], (counts.shape[1],)), counts)


# ------------------------------------------------------------------ fewest codes


@pytest.mark.parametrize(
    ("metric", "n_codes"),
    [
        ("accuracy", 2),
        ("neg_expected_cost", 2),
        ("f1_micro", 2),
        ("balanced_accuracy", 8),
        ("f1_macro", 16),
        ("matthews_corrcoef", 16),
        (metrics.cohen_kappa_score, 16),
        (partial(metrics.cohen_kappa_score, weights="linear"), 16),
    ],
)
def test_rows_that_add_the_same_share_a_code(metric, n_codes):
    truth, decision = np.divmod(np.arange(16), 4)
    assert statistic_of(metric).reduce(truth, decision, None).n_codes == n_codes


@pytest.mark.parametrize(
    ("function", "n_codes"),
    [
        (metrics.f1_score, 3),
        (metrics.precision_score, 3),
        (metrics.recall_score, 3),
        (metrics.jaccard_score, 3),
        (partial(metrics.fbeta_score, beta=2), 4),
    ],
)
def test_sets_of_one_class_need_three_codes(function, n_codes):
    truth, decision = np.divmod(np.arange(4), 2)
    assert statistic_of(function).reduce(truth, decision, None).n_codes == n_codes


@pytest.mark.parametrize("metric", ["f1_macro", "balanced_accuracy", "f1"])
def test_codes_are_numbered_by_falling_count_and_all_occur(metric):
    rng = np.random.default_rng(0)
    truth, decision = rng.integers(0, 2, (2, 200))
    reduced = statistic_of(metric).reduce(truth, decision * truth, None)
    counts = np.bincount(np.asarray(reduced.code, dtype=int), minlength=reduced.n_codes)
    assert counts.min() > 0
    assert np.all(np.diff(counts) <= 0)


def test_terms_of_many_classes_stay_sparse_with_weights():
    rng = np.random.default_rng(0)
    truth, decision = rng.integers(0, 200, (2, 3000))
    reduced = statistic_of("f1_macro").reduce(truth, decision, np.ones(3000))
    assert reduced.terms.nnz <= 4 * 3000


# ------------------------------------------------------------------ cells


@pytest.mark.parametrize(
    "labels",
    [
        np.array([False, True]),
        np.array([-3, 0, 5], dtype=np.int8),
        np.array([0, 10**12]),
        np.array([2**63, 2**63 + 5], dtype=np.uint64),
        np.array([-300, -299, -290]),
        np.array([1000, 1001]),
        np.array([-128, 127], dtype=np.int8),
        np.array([True, False]),
        np.array([0.0, 1.0, 7.0]),
        np.array(["a", "bb"]),
        np.array(["a", "bb"], dtype=object),
        np.arange(2000),
    ],
    ids=lambda labels: f"{labels.dtype}-{len(labels)}",
)
def test_cells_are_the_confusion_matrix_whatever_the_labels(labels):
    rng = np.random.default_rng(0)
    truth, decision = labels[rng.integers(0, len(labels), (2, 3000))]
    cells = Cells.of(truth, decision)
    expected = metrics.confusion_matrix(truth, decision, labels=cells.labels)
    assert np.array_equal(cells.labels, np.union1d(truth, decision))
    assert np.array_equal(expected[cells.truth, cells.decision], cells.counts)
    assert cells.counts.sum() == 3000
    assert np.array_equal(cells.labels[cells.rows(cells.truth)], truth)
    assert np.array_equal(cells.labels[cells.rows(cells.decision)], decision)


@pytest.mark.parametrize("n_labels", [1, 2, 15, 17, 3000])
@pytest.mark.parametrize("kind", [np.int16, np.float64, str])
def test_labels_are_counted_as_numpy_counts_them(n_labels, kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_labels, 300_000).astype(kind)
    expected = np.unique(y, return_counts=True)
    found = label_counts(y)
    assert np.array_equal(found[0], expected[0])
    assert np.array_equal(found[1], expected[1])


@pytest.mark.parametrize("low", [-300, -1, 0, 254, 2**40])
@pytest.mark.parametrize("n_labels", [1, 2, 3, 16])
def test_labels_are_counted_wherever_they_begin(low, n_labels):
    y = low + np.random.default_rng(1).integers(0, n_labels, 140_000)
    y[0] = low + n_labels // 2  # a chunk of rows may lack some labels
    expected = np.unique(y, return_counts=True)
    for labels, counts in (label_counts(y), Cells.of(y, y).of_truth()):
        assert np.array_equal(labels, expected[0])
        assert labels.dtype == y.dtype
        assert np.array_equal(counts, expected[1])


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8])
def test_labels_of_one_byte_are_counted(dtype):
    y = np.random.default_rng(2).integers(0, 2, 500).astype(dtype)
    expected = np.unique(y, return_counts=True)
    labels, counts = label_counts(y)
    assert labels.dtype == dtype
    assert np.array_equal(labels, expected[0])
    assert np.array_equal(counts, expected[1])


def test_weights_of_labels_are_summed():
    labels, weight = label_counts(np.array(["b", "a", "b"]), np.array([1.0, 0.0, 2.5]))
    assert labels.tolist() == ["a", "b"]
    assert weight.tolist() == [0.0, 3.5]


@pytest.mark.parametrize("labels", [np.array([7, 3, 5]), np.array(["q", "a", "c"])])
def test_unknown_labels_have_no_position(labels):
    y = np.append(labels[[2, 0, 1]], labels[0])
    y = np.append(y, np.array([99]).astype(y.dtype))
    assert encode(y, labels).tolist() == [2, 0, 1, 0, -1]


@pytest.mark.parametrize("low", [-(2**63), -5, 0, 5, 2**63 - 4])
def test_integers_far_from_the_labels_have_no_position(low):
    ends = [-(2**63), -(2**63) + 6, -1, 0, 1, 2**63 - 6, 2**63 - 1]
    y = np.array([*ends, low, low + 1, low + 3])
    labels = np.array([low + 2, low, low + 3, low + 1])
    place = {label: k for k, label in enumerate(labels.tolist())}
    assert encode(y, labels).tolist() == [place.get(value, -1) for value in y.tolist()]


# ------------------------------------------------------------------ naive systems

LABELS = np.array([0] * 9 + [1] * 6 + [2] * 5)
WEIGHTS = np.linspace(0.5, 2.0, 20)
REAL = np.random.default_rng(0).gamma(2.0, size=20)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize(
    "function",
    [
        metrics.accuracy_score,
        metrics.balanced_accuracy_score,
        metrics.matthews_corrcoef,
        metrics.cohen_kappa_score,
        partial(metrics.cohen_kappa_score, weights="quadratic"),
        partial(metrics.f1_score, average="macro"),
        partial(metrics.precision_score, average="weighted", zero_division=0),
        partial(metrics.jaccard_score, average="micro"),
    ],
)
@pytest.mark.parametrize("y_true", [LABELS, LABELS.astype(str)], ids=["int", "str"])
def test_naive_is_the_best_constant_label(function, weights, y_true):
    constants = [np.full(20, label) for label in np.unique(y_true)]
    expected = max(function(y_true, constant, sample_weight=weights) for constant in constants)
    found = statistic_of(function).naive(None, (y_true, y_true, weights))
    assert found == pytest.approx(np.nan_to_num(expected), abs=1e-12)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize(
    "function",
    [
        metrics.mean_squared_error,
        metrics.root_mean_squared_error,
        metrics.mean_absolute_error,
        metrics.mean_absolute_percentage_error,
        metrics.mean_squared_log_error,
        metrics.mean_poisson_deviance,
        metrics.mean_gamma_deviance,
        partial(metrics.mean_pinball_loss, alpha=0.8),
    ],
)
def test_naive_is_the_best_constant_value(function, weights):
    found = statistic_of(function).naive(None, (REAL, REAL, weights))
    grid = np.concatenate((np.linspace(REAL.min(), REAL.max(), 201), REAL))
    values = [function(REAL, np.full(20, value), sample_weight=weights) for value in grid]
    assert found <= min(values) + 1e-12
    assert found == pytest.approx(min(values), rel=1e-3)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
def test_naive_posteriors_are_the_shares_of_the_classes(weights):
    shares = np.bincount(LABELS, weights) / np.bincount(LABELS, weights).sum()
    prior = np.tile(shares, (20, 1))
    found = statistic_of("neg_log_loss").naive(None, (LABELS, prior, weights))
    assert found == pytest.approx(-metrics.log_loss(LABELS, prior, sample_weight=weights))
    squares = ((prior - np.eye(3)[LABELS]) ** 2).sum(axis=1)
    found = statistic_of("neg_brier_score").naive(None, (LABELS, prior, weights))
    assert found == pytest.approx(-np.average(squares, weights=weights))


def test_naive_regression_explains_nothing():
    assert statistic_of("r2").naive(None, (REAL, REAL, None)) == 0.0


# ------------------------------------------------------------------ proportions

TRUTH = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
DECISION = np.array([1, 1, 1, 0, 1, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("metric", "hits", "n", "exact"),
    [
        ("accuracy", 8, 10, True),
        (metrics.zero_one_loss, 2, 10, True),
        ("neg_expected_cost", 2, 10, True),
        ("precision", 3, 4, False),
        ("recall", 3, 4, False),
        ("jaccard", 3, 5, False),
        ("f1", 3, 5, False),
        ("f1_micro", 8, 10, True),
        ("recall_micro", 8, 10, True),
        ("jaccard_micro", 8, 12, False),
        (partial(metrics.f1_score, average="micro", labels=[1]), 3, 5, False),
    ],
)
def test_the_proportion_gives_the_metric(metric, hits, n, exact):
    statistic = statistic_of(metric)
    reduced = statistic.reduce(TRUTH, DECISION, None)
    found = statistic.proportion(reduced)
    assert (found.hits, found.n, found.exact) == (hits, n, exact)
    counts = np.bincount(np.asarray(reduced.code, int), minlength=reduced.n_codes)
    assert found.to_metric(hits / n) == pytest.approx(
        statistic.evaluate(rows_block(counts[None]), reduced)[0]
    )


@pytest.mark.parametrize("metric", ["f1_macro", "balanced_accuracy", "matthews_corrcoef", "r2"])
def test_other_metrics_are_no_proportion(metric):
    statistic = statistic_of(metric)
    assert statistic.proportion(statistic.reduce(TRUTH, DECISION, None)) is None


@pytest.mark.parametrize("metric", ["accuracy", "f1", "precision_micro"])
def test_weighted_rows_have_no_proportion(metric):
    statistic = statistic_of(metric)
    weights = np.arange(1.0, 11.0)
    assert statistic.proportion(statistic.reduce(TRUTH, DECISION, weights)) is None


def test_a_set_without_members_has_no_proportion():
    statistic = statistic_of("precision")
    assert statistic.proportion(statistic.reduce(TRUTH, 0 * TRUTH, None)) is None


# ------------------------------------------------------------------ means of rows


def test_the_largest_share_is_that_of_one_row():
    statistic = statistic_of("mean")
    losses = np.array([0.0, 1.0, 1.0, 6.0])
    assert statistic.largest_share(statistic.reduce(None, losses, None)) == 0.75
    weights = np.array([1.0, 1.0, 3.0, 1.0])
    assert statistic.largest_share(statistic.reduce(None, losses, weights)) == 0.6
    assert statistic.largest_share(statistic.reduce(None, 0 * losses, None)) is None


def test_a_root_is_no_mean_of_rows():
    assert statistic_of("neg_mean_squared_error").is_row_mean
    assert not statistic_of("neg_root_mean_squared_error").is_row_mean


def test_no_error_is_exactly_none_under_a_root():
    statistic = statistic_of("neg_root_mean_squared_error")
    y_true, y_pred = np.arange(5.0), np.array([0.0, 1.0, 2.0, 3.0, 4.1])
    reduced = statistic.reduce(y_true, y_pred, None)
    atoms = np.array([[5, 0, 0, 0, 0]])
    if reduced.code is not None:
        atoms = np.array([np.bincount(np.asarray(reduced.code, int), atoms[0], reduced.n_codes)])
    assert statistic.evaluate(rows_block(atoms.astype(int)), reduced)[0] == 0.0


def test_weighted_word_errors_are_errors_by_words():
    errors, words = np.array([0, 2, 1]), np.array([4.0, 5.0, 1.0])
    statistic = statistic_of("mean")
    reduced = statistic.reduce(None, errors / words, words)
    assert statistic.evaluate(rows_block([[1, 1, 1]]), reduced)[0] == pytest.approx(0.3)


def test_a_resample_without_rows_has_no_value():
    for metric in ("accuracy", "f1", "f1_macro", "matthews_corrcoef", "r2", "balanced_accuracy"):
        statistic = statistic_of(metric)
        reduced = statistic.reduce(TRUTH, DECISION, None)
        nothing = np.zeros((1, reduced.n_codes), int)
        assert np.isnan(statistic.evaluate(rows_block(nothing), reduced)[0]), metric


def test_r2_survives_an_outlier_that_a_resample_lacks():
    rng = np.random.default_rng(0)
    truth, predicted = rng.normal(size=(2, 40))
    truth[0] = 1e9
    reduced = Coefficient().reduce(truth, predicted, None)
    counts = np.ones((1, 40), int)
    counts[0, 0] = 0
    found = Coefficient().evaluate(rows_block(counts), reduced)[0]
    assert found == pytest.approx(metrics.r2_score(truth[1:], predicted[1:]), rel=1e-12)


def test_accuracy_of_ten_million_rows_makes_no_large_copy():
    """Reducing int8 rows keeps one boolean a row."""
    y = np.zeros(1000, dtype=np.int8)
    y[::3] = 1
    reduced = accuracy().reduce(y, 1 - y, None)
    assert reduced.code.dtype == np.uint8
    y[0] = 0
    assert accuracy().reduce(y, np.zeros_like(y), None).code.dtype == bool


def test_predictions_out_of_range_are_refused():
    for name in ("neg_mean_squared_log_error", "neg_mean_poisson_deviance"):
        with pytest.raises(ValueError, match="can only be used with"):
            statistic_of(name).reduce(np.array([1.0, 2.0]), np.array([-2.0, 1.0]), None)


def test_statistics_can_be_sent_to_other_processes():
    import skboot.metrics

    options = {
        "fbeta_score": {"beta": 1},
        "false_positive_rate_at": {"false_negative_rate": 0.1},
        "sensitivity_at": {"specificity": 0.9},
        "specificity_at": {"sensitivity": 0.9},
        "net_benefit": {"threshold": 0.2},
        "minimum_detection_cost": {"priors": [0.9, 0.1]},
        "actual_detection_cost": {"priors": [0.9, 0.1]},
    }

    import_modules("skboot.metrics")  # each registers its statistics
    for name in FAST_PATHS:
        function = getattr(skboot.metrics, name, None) or getattr(metrics, name, None)
        if function is None:  # of a scorer alone
            names = {name, f"neg_{name}"}.intersection(metrics.get_scorer_names())
            if not names:  # of a later scikit-learn
                continue
            [scorer] = names
            function = metrics.get_scorer(scorer)._score_func
        statistic = statistic_of(partial(function, **options.get(name, {})))
        assert pickle.loads(pickle.dumps(statistic)).name == statistic.name


def test_row_values_that_are_few_share_codes():
    statistic = RowMean("mean", lambda y_true, y_pred: y_pred)
    assert statistic.reduce(None, np.tile([0.0, 0.5, 1.0], 100), None).n_codes == 3
    assert statistic.reduce(None, np.random.default_rng(0).random(300), None).code is None


def test_binary_sets_know_the_class_they_are_of():
    statistic = statistic_of(partial(metrics.f1_score, pos_label="spam"))
    assert isinstance(statistic, SetRatio)
    y_true, y_pred = np.array(["ham", "spam", "spam"]), np.array(["spam", "spam", "ham"])
    reduced = statistic.reduce(y_true, y_pred, None)
    counts = np.bincount(np.asarray(reduced.code, int), minlength=reduced.n_codes)
    assert statistic.evaluate(rows_block(counts[None]), reduced)[0] == 0.5


N_WEIGHTED = 1500
FEW_WEIGHTS = {
    "whole": np.array([0.0, 1.0, 2.0]),
    "fractions": np.array([0.25, 1.5, 0.1]),
    "equal": np.array([1.0]),
}


WEIGHTED = {
    "accuracy": metrics.accuracy_score,
    "f1_macro": partial(metrics.f1_score, average="macro"),
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "mean_squared_error": metrics.mean_squared_error,
}


@pytest.mark.parametrize("weights", FEW_WEIGHTS)
@pytest.mark.parametrize("name", WEIGHTED)
def test_rows_of_few_weights_are_counted_and_give_the_weighted_metric(name, weights):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, N_WEIGHTED)
    predicted = np.where(rng.random(N_WEIGHTED) < 0.7, truth, rng.integers(0, 3, N_WEIGHTED))
    own = rng.choice(FEW_WEIGHTS[weights], N_WEIGHTED)
    statistic = statistic_of(WEIGHTED[name])
    reduced = statistic.reduce(truth, predicted, own)
    assert reduced.n_codes <= 9 * len(FEW_WEIGHTS[weights])
    np.testing.assert_array_equal(np.bincount(reduced.code), reduced.counts)
    resamples = rng.integers(0, N_WEIGHTED, (5, N_WEIGHTED))
    counts = [np.bincount(reduced.code[rows], minlength=reduced.n_codes) for rows in resamples]
    expected = [
        WEIGHTED[name](truth[rows], predicted[rows], sample_weight=own[rows]) for rows in resamples
    ]
    np.testing.assert_allclose(statistic.evaluate(rows_block(counts), reduced), expected, 1e-12)


def test_rows_of_many_weights_have_codes_of_their_own():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, N_WEIGHTED)
    for name in ("accuracy", "f1_macro"):
        assert statistic_of(name).reduce(truth, truth, rng.random(N_WEIGHTED)).code is None
