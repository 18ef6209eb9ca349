"""`BootstrapAccumulator`: the same numbers in any batches, and those of repeated rows."""

import pickle
import warnings
from functools import partial

import numpy as np
import pytest
import sklearn.metrics as sk
from designs import weights_in_a_stream
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

import skboot
from skboot import BootstrapAccumulator, bootstrap_score, compare_systems
from skboot.metrics import (
    brier_score,
    cross_entropy,
    equal_error_rate,
    expected_cost,
    false_positive_rate_at,
)

# Resamples of so few intervals hide an order that matters, which is warned of.
FEW_INTERVALS = pytest.mark.filterwarnings("ignore:.*Resamples do not see the order")

RNG = np.random.default_rng(5)
N, B = 400, 60
TRUTH = RNG.integers(0, 2, N)
SCORES = np.round(RNG.normal(size=N) + TRUTH, 1)
DECISIONS = (SCORES > 0.5).astype(int)
CLASSES = RNG.integers(0, 3, N)
DECIDED = np.where(RNG.random(N) < 0.6, CLASSES, RNG.integers(0, 3, N))
COLUMNS = RNG.dirichlet(np.ones(3), N)
VALUES = RNG.normal(size=N)
PREDICTED = VALUES + RNG.normal(size=N)
POSITIVE = np.exp(VALUES / 4), np.exp(PREDICTED / 4)
COSTS = [[0, 1, 5], [2, 0, 1], [1, 3, 0]]
WEIGHTS = RNG.random(N) + 0.1

# Metric, truth, predictions, labels, and the same on rows by other means.
LABELS = {
    "accuracy": ("accuracy", sk.accuracy_score),
    "zero_one_loss": (sk.zero_one_loss, sk.zero_one_loss),
    "balanced_accuracy": ("balanced_accuracy", sk.balanced_accuracy_score),
    "macro F1": ("f1_macro", partial(sk.f1_score, average="macro")),
    "weighted F1": ("f1_weighted", partial(sk.f1_score, average="weighted")),
    "macro jaccard": ("jaccard_macro", partial(sk.jaccard_score, average="macro")),
    "mcc": ("matthews_corrcoef", sk.matthews_corrcoef),
    "kappa": (sk.cohen_kappa_score, sk.cohen_kappa_score),
    "quadratic kappa": (
        partial(sk.cohen_kappa_score, weights="quadratic"),
        partial(sk.cohen_kappa_score, weights="quadratic"),
    ),
    "cost": (partial(expected_cost, costs=COSTS), partial(expected_cost, costs=COSTS)),
    "cost under priors": (
        partial(expected_cost, costs=COSTS, priors=[0.2, 0.3, 0.5]),
        partial(expected_cost, costs=COSTS, priors=[0.2, 0.3, 0.5]),
    ),
}
CASES = {
    **{name: (one, CLASSES, DECIDED, None, own) for name, (one, own) in LABELS.items()},
    "F1": ("f1", TRUTH, DECISIONS, None, sk.f1_score),
    "precision": ("precision", TRUTH, DECISIONS, None, sk.precision_score),
    "sensitivity": ("sensitivity", TRUTH, DECISIONS, None, sk.recall_score),
    "texts": (
        "f1_macro",
        np.array(list("abc"))[CLASSES],
        np.array(list("abc"))[DECIDED],
        None,
        partial(sk.f1_score, average="macro"),
    ),
    "decided columns": (
        "accuracy",
        CLASSES,
        COLUMNS,
        [0, 1, 2],
        lambda y, p: sk.accuracy_score(y, p.argmax(axis=1)),
    ),
    "log loss": (
        "log_loss",
        CLASSES,
        COLUMNS,
        [0, 1, 2],
        partial(sk.log_loss, labels=[0, 1, 2]),
    ),
    "negated log loss": (
        "neg_log_loss",
        CLASSES,
        COLUMNS,
        [0, 1, 2],
        lambda y, p: -sk.log_loss(y, p, labels=[0, 1, 2]),
    ),
    "Brier": (
        "brier_score",
        TRUTH,
        COLUMNS[:, 0],
        [0, 1],
        sk.brier_score_loss,
    ),
    "cross entropy under priors": (
        partial(cross_entropy, priors=[0.5, 0.25, 0.25]),
        CLASSES,
        COLUMNS,
        [0, 1, 2],
        partial(cross_entropy, priors=[0.5, 0.25, 0.25], labels=[0, 1, 2]),
    ),
    "top 2": (
        "top_k_accuracy",
        CLASSES,
        COLUMNS,
        [0, 1, 2],
        partial(sk.top_k_accuracy_score, labels=[0, 1, 2]),
    ),
    "mse": ("mean_squared_error", VALUES, PREDICTED, None, sk.mean_squared_error),
    "mae": ("mean_absolute_error", VALUES, PREDICTED, None, sk.mean_absolute_error),
    "rmse": ("root_mean_squared_error", VALUES, PREDICTED, None, sk.root_mean_squared_error),
    "pinball": (
        partial(sk.mean_pinball_loss, alpha=0.8),
        VALUES,
        PREDICTED,
        None,
        partial(sk.mean_pinball_loss, alpha=0.8),
    ),
    "deviance": (sk.mean_poisson_deviance, *POSITIVE, None, sk.mean_poisson_deviance),
    "r2": ("r2", VALUES, PREDICTED, None, sk.r2_score),
    "explained variance": (
        "explained_variance",
        VALUES,
        PREDICTED,
        None,
        sk.explained_variance_score,
    ),
    "mean": ("mean", None, VALUES, None, lambda y, p: p.mean()),
    "AUC": ("roc_auc", TRUTH, SCORES, None, sk.roc_auc_score),
    "AP": ("average_precision", TRUTH, SCORES, None, sk.average_precision_score),
    "EER": (equal_error_rate, TRUTH, SCORES, None, equal_error_rate),
    "FPR at FNR": (
        partial(false_positive_rate_at, false_negative_rate=0.1),
        TRUTH,
        SCORES,
        None,
        partial(false_positive_rate_at, false_negative_rate=0.1),
    ),
}
# Functions of sums over rows that are whole numbers: their bits do not depend on batches.
WHOLE = ["accuracy", "macro F1", "mcc", "texts", "AUC", "AP", "top 2", "decided columns"]


def accumulator(case, **options):
    metric, _, _, labels, _ = CASES[case]
    settings = {"random_state": 3, "n_resamples": B, "labels": labels}
    return BootstrapAccumulator(metric, **settings | options)


def fed(case, batches, ids=None, **options):
    """An accumulator that was given these sets of rows."""
    _, truth, predicted, _, _ = CASES[case]
    ids = np.arange(N) if ids is None else ids
    found = accumulator(case, **options)
    for rows in batches:
        y_true = None if truth is None else truth[rows]
        found.update(y_true, predicted[rows], ids=ids[rows])
    return found


def whole(case, **options):
    return fed(case, [np.arange(N)], **options)


def result_of(found):
    with np.errstate(all="ignore"):
        return found.result()


# ------------------------------------------------------------------ against repeated rows


@pytest.mark.parametrize("case", CASES)
def test_replicates_are_the_metric_on_repeated_rows(case):
    _, truth, predicted, _, on_rows = CASES[case]
    weights = weights_in_a_stream(3, B, np.arange(N))
    result = whole(case).result()
    for resample in range(-1, B):
        rows = np.arange(N) if resample < 0 else np.repeat(np.arange(N), weights[:, resample])
        expected = on_rows(None if truth is None else truth[rows], predicted[rows])
        value = result.estimate if resample < 0 else result.bootstrap_distribution[resample]
        np.testing.assert_allclose(value, expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("case", ["accuracy", "macro F1", "mcc", "log loss", "mse", "AUC", "AP"])
def test_weights_of_rows_multiply_those_of_resamples(case):
    _, truth, predicted, _, on_rows = CASES[case]
    weights = weights_in_a_stream(3, B, np.arange(N)) * WEIGHTS[:, None]
    found = accumulator(case)
    for rows in np.array_split(np.arange(N), 3):
        found.update(truth[rows], predicted[rows], start=rows[0], sample_weight=WEIGHTS[rows])
    replicates = found.result().bootstrap_distribution
    for resample in range(0, B, 7):
        rows = np.flatnonzero(weights[:, resample])
        weighted = on_rows(truth[rows], predicted[rows], sample_weight=weights[rows, resample])
        np.testing.assert_allclose(replicates[resample], weighted, rtol=1e-10)


def test_rows_of_a_group_are_drawn_together_also_from_different_batches():
    groups = np.arange(N) % 37
    weights = weights_in_a_stream(3, B, groups)
    found = accumulator("mse")
    for rows in np.array_split(np.random.default_rng(0).permutation(N), 5):
        found.update(VALUES[rows], PREDICTED[rows], groups=groups[rows])
    result = found.result()
    assert (result.n_units, result.unit) == (37, "group")
    for resample in range(B):
        rows = np.repeat(np.arange(N), weights[:, resample])
        expected = sk.mean_squared_error(VALUES[rows], PREDICTED[rows])
        np.testing.assert_allclose(result.bootstrap_distribution[resample], expected, rtol=1e-11)


@pytest.mark.parametrize("sample_weight", [None, WEIGHTS])
@pytest.mark.parametrize("case", CASES)
def test_rows_of_a_group_in_one_batch_or_each_in_its_own_give_the_same(case, sample_weight):
    """In one batch the rows of a group are added up before the group is drawn."""
    _, truth, predicted, _, _ = CASES[case]
    groups = np.arange(N) % 40

    def drawn(batches):
        found = accumulator(case)
        for rows in batches:
            weight = None if sample_weight is None else sample_weight[rows]
            batch = None if truth is None else truth[rows], predicted[rows]
            found.update(*batch, groups=groups[rows], sample_weight=weight)
        return found.result().bootstrap_distribution

    apart = [np.flatnonzero(np.arange(N) // 40 == k) for k in range(10)]
    np.testing.assert_allclose(drawn([np.arange(N)]), drawn(apart), rtol=1e-10, atol=1e-14)


# ------------------------------------------------------------------ any partition


@st.composite
def partitions(draw):
    """Rows in any order and any batches, and an order of merging their shards."""
    order = np.random.default_rng(draw(st.integers(0, 2**32))).permutation(N)
    cuts = sorted(set(draw(st.lists(st.integers(1, N - 1), max_size=6))))
    batches = np.split(order, cuts)
    shards = draw(st.lists(st.integers(0, 3), min_size=len(batches), max_size=len(batches)))
    merges = draw(st.randoms(use_true_random=False))
    return batches, shards, merges


def merged(case, partition, **options):
    batches, shards, random = partition
    found = [
        fed(
            case, [rows for rows, at in zip(batches, shards, strict=True) if at == shard], **options
        )
        for shard in range(4)
    ]
    while len(found) > 1:
        random.shuffle(found)
        last = found.pop()
        found[-1].merge(last)
    return found[0]


@pytest.mark.parametrize("case", WHOLE)
@pytest.mark.parametrize("n_bins", [1024, 16])
@settings(max_examples=12, deadline=None, derandomize=True)
@given(partition=partitions())
def test_whole_numbers_have_the_same_bits_in_any_partition(case, n_bins, partition):
    found = merged(case, partition, n_bins=n_bins)
    assert found.to_bytes() == whole(case, n_bins=n_bins).to_bytes()


@pytest.mark.parametrize("case", ["log loss", "rmse", "r2", "cross entropy under priors"])
@settings(max_examples=12, deadline=None, derandomize=True)
@given(partition=partitions())
def test_floats_have_ten_digits_in_any_partition(case, partition):
    replicates = merged(case, partition).result().bootstrap_distribution
    expected = whole(case).result().bootstrap_distribution
    np.testing.assert_allclose(replicates, expected, rtol=1e-10)


def test_eight_shards_have_the_same_bits_in_any_order_of_merging_also_of_floats():
    rows = np.array_split(np.arange(N), 8)
    options = {"random_state": 0, "n_resamples": 40, "labels": [0, 1, 2]}
    found = []
    for seed in range(6):
        random = np.random.default_rng(seed)
        shards = [
            BootstrapAccumulator(["accuracy", "log_loss"], **options).update(
                CLASSES[own], COLUMNS[own], start=own[0]
            )
            for own in rows
        ]
        while len(shards) > 1:
            random.shuffle(shards)
            last = shards.pop()
            shards[0].merge(last)
        found.append(shards[0].to_bytes())
    assert len(set(found)) == 1


def test_more_rows_may_follow_a_result():
    found = fed("mae", [np.arange(100)])
    first = found.result()
    found.update(VALUES[100:], PREDICTED[100:], ids=np.arange(100, N))
    assert first.n_samples == 100
    assert found.n_samples == N
    assert found.result() == fed("mae", [np.arange(100), np.arange(100, N)]).result()


def test_fewer_resamples_are_the_first_of_more():
    few, many = whole("AUC", n_resamples=41).result(), whole("AUC").result()
    np.testing.assert_array_equal(few.bootstrap_distribution, many.bootstrap_distribution[:41])


# ------------------------------------------------------------------ scores in intervals


@FEW_INTERVALS
@pytest.mark.parametrize("n_bins", [2, 4, 8, 16])
@pytest.mark.parametrize("case", ["AUC", "AP", "EER", "FPR at FNR"])
@pytest.mark.parametrize("shape", ["normal", "probabilities", "log-odds"])
def test_the_error_of_intervals_is_within_its_bound(case, n_bins, shape):
    rng = np.random.default_rng(n_bins)
    truth = rng.integers(0, 2, 3000)
    scores = rng.normal(size=3000) + 1.5 * truth
    scores = {
        "normal": scores,
        "probabilities": 1 / (1 + np.exp(-scores)),
        "log-odds": np.exp(3 * scores),
    }[shape]
    found = accumulator(case, n_bins=n_bins).update(truth, scores, start=0)
    result = found.result()
    exact = CASES[case][4](truth, scores)
    (note,) = [note for note in result.notes if "intervals" in note]
    bound = float(note.split("at most ")[2].split(";")[0])
    assert abs(result.estimate - exact) <= bound
    assert bound > 0


@FEW_INTERVALS
def test_the_bound_of_an_area_is_half_the_share_of_pairs_in_one_interval():
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 2000), rng.integers(1024, 2048, 2000).astype(float)
    # Up to 128 intervals of the data: the first seven bits after the leading one, of ten.
    found = accumulator("AUC", n_bins=2).update(truth, scores, start=0)
    result = found.result()
    interval = (scores // 8).astype(int)
    pairs = np.bincount(interval, truth) @ np.bincount(interval, 1 - truth)
    expected = 0.5 * pairs / (truth.sum() * (1 - truth).sum())
    assert result.estimate == pytest.approx(sk.roc_auc_score(truth, interval), abs=1e-12)
    assert abs(result.estimate - sk.roc_auc_score(truth, scores)) > 0
    (note,) = [note for note in result.notes if "intervals" in note]
    assert 0 <= float(note.split("at most ")[2].split(";")[0]) - expected < 1e-6


def test_the_estimate_is_exact_while_distinct_scores_fit_the_intervals_of_the_data():
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 2000), rng.integers(1024, 2048, 2000).astype(float)
    result = accumulator("AUC", n_bins=16).update(truth, scores, start=0).result()
    assert result.estimate == pytest.approx(sk.roc_auc_score(truth, scores), abs=1e-12)
    (note,) = [note for note in result.notes if "intervals" in note]
    assert "at most 1024 intervals (16 for resamples), which leaves the estimate as it is" in note


def test_replicates_lie_about_the_estimate_as_those_of_their_intervals_do():
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 2000), rng.normal(size=2000)
    truth = (scores + rng.normal(size=2000) > 0).astype(int)
    result = accumulator("AUC", n_bins=64).update(truth, scores, start=0).result()
    exact = accumulator("AUC", n_bins=2000).update(truth, scores, start=0).result()
    moved = result.bootstrap_distribution - exact.bootstrap_distribution
    assert np.abs(moved).max() < 0.002
    assert result.bootstrap_distribution.std() == pytest.approx(
        exact.bootstrap_distribution.std(), rel=0.1
    )


def test_distinct_scores_that_fit_leave_no_note():
    assert not [note for note in whole("AUC").result().notes if "interval" in note]


# ------------------------------------------------------------------ intervals and words


def test_wilson_is_for_right_and_wrong_rows_and_expanded_for_others():
    assert whole("accuracy").result().confidence_interval.method == "wilson"
    expected = bootstrap_score(CLASSES, DECIDED, random_state=0).confidence_interval
    assert tuple(whole("accuracy").result().confidence_interval) == tuple(expected)
    for case in ("F1", "macro F1", "AUC", "r2", "log loss", "AP"):
        assert whole(case).result().confidence_interval.method == "expanded"
    grouped = accumulator("accuracy").update(CLASSES, DECIDED, groups=np.arange(N) // 4)
    assert grouped.result().confidence_interval.method == "expanded"


@pytest.mark.parametrize("interval", ["percentile", "expanded", "basic", "normal", "t"])
def test_an_interval_by_name_is_that_of_the_replicates(interval):
    result = whole("mse", interval=interval, n_resamples=999).result()
    assert result.confidence_interval.method == interval
    assert result.interval(interval, 0.8).high < result.confidence_interval.high


@pytest.mark.parametrize("interval", ["bca", "studentized", "clopper-pearson", "delong", "other"])
def test_other_intervals_are_refused_by_name(interval):
    with pytest.raises(ValueError, match=f"'interval' parameter.*{interval}"):
        accumulator("AUC", interval=interval)


@pytest.mark.parametrize("method", ["bca", "studentized"])
def test_a_result_refuses_intervals_that_leave_out_rows(method):
    with pytest.raises(ValueError, match="stream"):
        whole("mse").result().interval(method)


def test_a_result_says_poisson_resamples_and_is_like_any_other(tmp_path):
    result = whole("AUC", n_resamples=199).result()
    assert "Poisson resamples" in result.summary()
    assert result.settings["n_resamples"] == result.n_resamples == 199
    assert (result.n_samples, result.n_units, result.seed) == (N, N, 3)
    assert result.naive_estimate == 0.5
    result.save(tmp_path / "result")
    assert skboot.results.EvaluationResult.load(tmp_path / "result") == result


def test_perfect_scores_and_perfect_decisions_have_an_interval_with_a_width():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        perfect = accumulator("AUC").update(TRUTH, TRUTH + 0.1 * DECISIONS, start=0).result()
    right = accumulator("accuracy").update(CLASSES, CLASSES, start=0).result()
    for result in (perfect, right):
        assert result.confidence_interval.low < result.estimate == 1


def test_a_metric_undefined_on_some_resamples_warns_of_it():
    rare = np.arange(N) == 7
    found = accumulator("AUC").update(rare, SCORES, start=0)
    with pytest.warns((UserWarning, UndefinedMetricWarning)) as caught:
        result = found.result()
    assert any("undefined on some resamples" in str(one.message) for one in caught)
    assert 0 < result.n_undefined < B


# ------------------------------------------------------------------ several metrics and systems


def test_several_metrics_share_their_resamples_and_are_those_of_each_alone():
    options = {"random_state": 3, "n_resamples": B}
    both = BootstrapAccumulator({"a": "accuracy", "f": "f1", "b": "balanced_accuracy"}, **options)
    table = both.update(TRUTH, DECISIONS, start=0).result()
    for name, metric in (("a", "accuracy"), ("f", "f1"), ("b", "balanced_accuracy")):
        alone = BootstrapAccumulator(metric, **options).update(TRUTH, DECISIONS, start=0).result()
        np.testing.assert_array_equal(
            table[name].bootstrap_distribution, alone.bootstrap_distribution
        )


def test_systems_are_paired_on_the_same_resamples():
    noisy = np.where(RNG.random(N) < 0.2, RNG.integers(0, 2, N), DECISIONS)
    systems = {"one": DECISIONS, "other": noisy, "same": DECISIONS}
    found = BootstrapAccumulator("f1", random_state=0, n_resamples=1999, systems=list(systems))
    for rows in np.array_split(np.arange(N), 3):
        batch = {name: column[rows] for name, column in systems.items()}
        found.update(TRUTH[rows], batch, start=rows[0])
    result = found.result()
    alone = BootstrapAccumulator("f1", random_state=0).update(TRUTH, noisy, start=0).result()
    own = result.systems["other"]
    np.testing.assert_array_equal(own.bootstrap_distribution, alone.bootstrap_distribution)
    expected = compare_systems(TRUTH, systems, metric="f1", random_state=0)
    for pair in (("one", "other"), ("other", "same")):
        mine, its = result.pair(*pair), expected.pair(*pair)
        assert mine.difference == pytest.approx(its.difference, abs=1e-15)
        # Two standard deviations of 1999 replicates: a ratio with an error of 2.3%, four of them.
        assert mine.standard_error == pytest.approx(its.standard_error, rel=0.1)
    assert result.pair("one", "same").difference == 0
    assert any("Identical predictions: one and same" in note for note in result.notes)
    assert any("Poisson resamples" in note for note in result.notes)


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    "metric",
    ["neg_median_absolute_error", "max_error", sk.d2_pinball_score, "rand_score"],
)
def test_metrics_that_need_all_rows_are_refused_by_name(metric):
    name = metric if isinstance(metric, str) else metric.__name__
    with pytest.raises(ValueError, match=f"'metric' parameter.*{name.split('_')[0]}.*all rows"):
        BootstrapAccumulator(metric, random_state=0)


def test_own_functions_are_refused():
    with pytest.raises(ValueError, match=r"'metric' parameter.*function of sklearn\.metrics"):
        BootstrapAccumulator(lambda y_true, y_pred: 0.0, random_state=0)


@pytest.mark.parametrize("random_state", [None, np.random.default_rng(0), -1])
def test_a_seed_that_shards_cannot_share_is_refused(random_state):
    with pytest.raises(ValueError, match="'random_state' parameter"):
        BootstrapAccumulator(random_state=random_state)


def test_labels_are_required_for_scores_of_classes():
    with pytest.raises(ValueError, match="'labels' parameter"):
        BootstrapAccumulator("top_k_accuracy", random_state=0)


@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "brier_score"])
def test_labels_are_required_for_columns(metric):
    with pytest.raises(ValueError, match="'labels' parameter"):
        BootstrapAccumulator(metric, random_state=0).update(CLASSES, COLUMNS, start=0)


OF_PROBABILITIES = ["log_loss", "neg_log_loss", "neg_brier_score", cross_entropy, brier_score]
OF_PROBABILITIES += [partial(cross_entropy, priors=[0.5, 0.5]), sk.d2_log_loss_score]


@pytest.mark.parametrize("dtype", [int, bool, float])
@pytest.mark.parametrize("metric", OF_PROBABILITIES)
def test_one_column_of_probabilities_of_0_and_1_needs_no_labels(metric, dtype):
    def of(batches, **options):
        found = BootstrapAccumulator(metric, **options, random_state=3, n_resamples=B)
        for rows in batches:
            found.update(TRUTH[rows].astype(dtype), COLUMNS[rows, 0], start=rows[0])
        return found.result()

    # The first batch has one label alone.
    first = np.flatnonzero(TRUTH - TRUTH[0])[0]
    found = of(np.split(np.arange(N), [first, 200]))
    expected = of([np.arange(N)], labels=[0, 1])
    np.testing.assert_allclose(
        found.bootstrap_distribution, expected.bootstrap_distribution, rtol=1e-10
    )
    whole = bootstrap_score(TRUTH, COLUMNS[:, 0], metric=metric, n_resamples=9, interval="normal")
    assert found.estimate == pytest.approx(whole.estimate, rel=1e-12)


@pytest.mark.parametrize("truth", [2 * TRUTH - 1, TRUTH + 1, CLASSES, np.array(["n", "y"])[TRUTH]])
def test_other_labels_than_0_and_1_are_required_for_one_column(truth):
    found = BootstrapAccumulator("neg_log_loss", random_state=0)
    with pytest.raises(ValueError, match=r"'labels' parameter .* other labels than 0 and 1"):
        found.update(truth, COLUMNS[:, 0], start=0)


@pytest.mark.parametrize(
    ("units", "match"),
    [
        ({"start": 0, "ids": np.arange(N)}, "start and ids"),
        ({"start": -1}, "'start' parameter"),
        ({"start": 1.5}, "'start' parameter"),
        ({"ids": np.arange(N - 1)}, "'ids' parameter"),
        ({"ids": np.zeros(N, dtype=int)}, "some id twice"),
        ({"ids": np.linspace(0, 1, N)}, "integers or text"),
        ({"groups": np.ones((N, 2), dtype=int)}, "'groups' parameter"),
    ],
)
def test_units_that_cannot_be_right_are_refused(units, match):
    with pytest.raises(ValueError, match=match):
        accumulator("mse").update(VALUES, PREDICTED, **units)


def test_an_error_leaves_the_accumulator_as_it_was():
    found = fed("AUC", [np.arange(200)])
    before = found.to_bytes()
    with pytest.raises(ValueError, match="two classes"):
        found.update(CLASSES, SCORES, ids=np.arange(N) + N)
    with pytest.raises(ValueError, match="identify rows by ids"):
        found.update(TRUTH, SCORES, start=0)
    with pytest.raises(ValueError, match="'sample_weight' parameter"):
        found.update(TRUTH, SCORES, ids=np.arange(N), sample_weight=WEIGHTS)
    assert found.to_bytes() == before


def test_no_rows_have_no_result():
    with pytest.raises(ValueError, match=r"no rows yet. Call update\(y_true, y_pred\) first"):
        accumulator("mse").result()


@pytest.mark.parametrize("metric", ["accuracy", "f1", "roc_auc"])
@pytest.mark.parametrize("n_systems", [2, 3])
@pytest.mark.parametrize("labels", [None, [0, 1]])
def test_predictions_of_systems_are_no_columns_of_classes(metric, n_systems, labels):
    systems = [(cut < SCORES).astype(int) for cut in (0.2, 0.5, 0.8)[:n_systems]]
    predicted = np.column_stack(systems)
    with pytest.raises(ValueError, match="'y_pred' parameter of bootstrap_score"):
        bootstrap_score(TRUTH, predicted, metric=metric, labels=labels)
    found = BootstrapAccumulator(metric, random_state=0, n_resamples=B, labels=labels)
    said = "'labels' parameter" if labels is None and metric == "roc_auc" else "systems="
    with pytest.raises(ValueError, match=said):
        found.update(TRUTH, predicted)
    assert found.n_samples == 0


@pytest.mark.parametrize("predicted", [[[1], [1, 2]], [[0.2, 0.8], [np.nan, 0.5]]])
def test_what_is_wrong_with_columns_of_classes_has_its_own_advice(predicted):
    found = BootstrapAccumulator("roc_auc", labels=[0, 1], random_state=0)
    with pytest.raises(ValueError, match=r"Got (an array of shape|1 such value)") as error:
        found.update([0, 1], predicted)
    assert "systems" not in str(error.value)


# ------------------------------------------------------------------ rows that come twice


def test_a_range_of_rows_is_added_once():
    found = accumulator("accuracy").update(CLASSES, DECIDED, start=1000)
    before = found.to_bytes()
    for start in (1000, 1399, 601, 1200):
        with pytest.raises(ValueError, match=r"'start' parameter .* not added before. Got rows"):
            found.update(CLASSES, DECIDED, start=start)
    other = accumulator("accuracy").update(CLASSES[:9], DECIDED[:9], start=1395)
    for theirs in (other, BootstrapAccumulator.from_bytes(other.to_bytes())):
        mine = BootstrapAccumulator.from_bytes(before)
        with pytest.raises(
            ValueError,
            match=r"'other' parameter of BootstrapAccumulator.merge .* rows 1395 to 1399",
        ):
            mine.merge(theirs)
        assert mine.to_bytes() == before
    found.update(CLASSES, DECIDED, start=600).update(CLASSES, DECIDED, start=1400)
    assert found.n_samples == 3 * N
    assert found._state.ranges.tolist() == [[600, 1799]]


def test_rows_up_to_the_last_number_are_added_once():
    found = accumulator("accuracy").update(CLASSES[:9], DECIDED[:9], start=2**63 - 9)
    with pytest.raises(ValueError, match="rows 9223372036854775807 to 9223372036854775807"):
        found.update(CLASSES[:1], DECIDED[:1], start=2**63 - 1)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(
    ends=st.lists(st.integers(1, 199), max_size=12, unique=True).map(sorted),
    random=st.randoms(use_true_random=False),
    again=st.integers(0, 199),
)
def test_ranges_hold_the_numbers_of_rows_however_they_come(ends, random, again):
    def added(parts):
        every = accumulator("accuracy")
        for first, last in parts:
            every.update(CLASSES[first : last + 1], DECIDED[first : last + 1], start=first)
        return every

    parts = [[first, end - 1] for first, end in zip([0, *ends], [*ends, 200], strict=True)]
    random.shuffle(parts)
    kept, left = parts[: len(parts) // 2 + 1], parts[len(parts) // 2 + 1 :]
    found = added(kept)
    ranges = found._state.ranges
    numbers = {k for first, last in kept for k in range(first, last + 1)}
    assert {k for first, last in ranges for k in range(first, last + 1)} == numbers
    assert np.all(ranges[1:, 0] > ranges[:-1, 1] + 1)
    if again in numbers:
        with pytest.raises(ValueError, match=f"rows {again} to {again} again"):
            found.update(CLASSES[:1], DECIDED[:1], start=again)
    np.testing.assert_array_equal(found.merge(added(left))._state.ranges, [[0, 199]])


@pytest.mark.parametrize(("share", "factor"), [(1.0, 2**0.5), (0.5, (2.5 / 1.5) ** 0.5)])
def test_ids_that_come_twice_are_warned_of_with_the_factor(share, factor):
    """Rows that count twice have Wilson's interval of too many rows; a sum of squares says more."""
    found = accumulator("accuracy", n_resamples=1999).update(CLASSES, DECIDED, ids=np.arange(N))
    n = round(share * N)
    found.merge(
        accumulator("accuracy", n_resamples=1999).update(CLASSES[:n], DECIDED[:n], ids=np.arange(n))
    )
    with pytest.warns(UserWarning, match="rows vary like about") as caught:
        result = found.result()
    assert len(caught) == 1
    text = str(caught[0].message)
    said = float(text.split(" times too short")[0].split()[-1])
    # A variance of 1999 normal numbers has a standard error of 3.2%, of which this is five.
    assert said == pytest.approx(factor, rel=0.08)
    assert any("some ids seem to have been added twice" in note for note in result.notes)
    low, high = result.confidence_interval
    wilson = 1.96 * np.std(result.bootstrap_distribution) / ((high - low) / 2)
    if share == 1:
        assert wilson == pytest.approx(factor, rel=0.1)


def test_an_id_that_comes_twice_among_few_is_refused():
    found = accumulator("accuracy").update(CLASSES[:9], DECIDED[:9], ids=np.arange(9))
    with pytest.raises(ValueError, match=r"'ids' parameter .* not added before. Got some id twice"):
        found.update(CLASSES[:9], DECIDED[:9], ids=np.arange(8, 17))
    other = accumulator("accuracy").update(CLASSES[:9], DECIDED[:9], ids=np.arange(8, 17))
    with pytest.raises(
        ValueError, match=r"'other' parameter of BootstrapAccumulator.merge .* some id twice"
    ):
        found.merge(other)
    assert found.n_samples == 9


@pytest.mark.parametrize("n_resamples", [2, 3, 9, 99, 999])
def test_honest_streams_are_not_taken_for_rows_that_came_twice(n_resamples):
    """The warning is wrong once in 1e6 streams: here 0 of 1000 seeds and sizes."""
    rng = np.random.default_rng(n_resamples)
    for seed in range(200):
        n = int(rng.choice([30, 31, 50, 120]))
        metric, values = ("mean", rng.random(n) < 0.02) if seed % 2 else ("mean", rng.random(n))
        found = BootstrapAccumulator(metric, random_state=seed, n_resamples=n_resamples)
        found.update(None, values.astype(float), ids=rng.choice(10**12, n, replace=False))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few resamples
            notes = found.result().notes
        assert not [note for note in notes if "added twice" in note]


# ------------------------------------------------------------------ the order of arrival


def test_rows_without_a_key_are_counted_in_the_order_of_arrival_and_a_note_says_so():
    found, numbered = accumulator("mse"), accumulator("mse")
    for rows in np.array_split(np.arange(N), 7):
        found.update(VALUES[rows], PREDICTED[rows])
        numbered.update(VALUES[rows], PREDICTED[rows], start=rows[0])
        found = BootstrapAccumulator.from_bytes(found.to_bytes())
        result, expected = found.result(), numbered.result()
        np.testing.assert_array_equal(
            result.bootstrap_distribution, expected.bootstrap_distribution
        )
        assert tuple(result.confidence_interval) == tuple(expected.confidence_interval)
        assert result.notes[:-1] == expected.notes
        assert "order of arrival" in result.notes[-1]
        assert "start=" in result.notes[-1]


def test_results_of_several_metrics_systems_and_curves_say_the_order_too():
    options = {"random_state": 0, "n_resamples": 99}
    table = BootstrapAccumulator(["roc_auc", "average_precision"], **options)
    table.update(TRUTH, SCORES)
    systems = BootstrapAccumulator("roc_auc", systems=["a", "b"], **options)
    systems.update(TRUTH, {"a": SCORES, "b": SCORES**3})
    found = [*table.result().values(), table.curve(), systems.result(), *systems.curve().values()]
    assert len(found) == 7
    assert all("order of arrival" in one.notes[-1] for one in found)


def test_accumulators_that_counted_rows_are_not_merged():
    counted = accumulator("accuracy").update(CLASSES, DECIDED)
    numbered = accumulator("accuracy").update(CLASSES, DECIDED, start=N)
    for mine, theirs in (
        (counted, accumulator("accuracy").update(CLASSES, DECIDED)),
        (counted, numbered),
        (numbered, counted),
    ):
        with pytest.raises(
            ValueError, match=r"'other' parameter of BootstrapAccumulator.merge.*of arrival.*start"
        ):
            mine.merge(theirs)
    with pytest.raises(ValueError, match="identify rows by the order of arrival"):
        counted.update(CLASSES, DECIDED, start=N)
    with pytest.raises(ValueError, match="identify rows by start"):
        numbered.update(CLASSES, DECIDED)
    empty = accumulator("accuracy").merge(counted)
    assert empty.merge(accumulator("accuracy")).to_bytes() == counted.to_bytes()


def test_r2_far_from_zero_is_refused_and_near_it_has_ten_digits():
    found = accumulator("r2").update(VALUES + 1e3, PREDICTED + 1e3, start=0)
    with pytest.raises(ValueError, match=r"varies about zero.*Subtract"):
        found.result()
    moved = accumulator("r2").update(VALUES + 50, PREDICTED + 50, start=0).result()
    replicates = whole("r2").result().bootstrap_distribution
    np.testing.assert_allclose(moved.bootstrap_distribution, replicates, atol=1e-10)


@pytest.mark.parametrize(
    "options",
    [
        {"random_state": 4},
        {"n_resamples": 61},
        {"n_bins": 64},
        {"confidence_level": 0.9},
        {"interval": "percentile"},
    ],
)
def test_other_settings_are_not_merged(options):
    (name,) = options
    with pytest.raises(ValueError, match=f"another {name}"):
        whole("AUC").merge(whole("AUC", **options))


def test_only_another_accumulator_of_the_same_metric_and_units_is_merged():
    found = whole("accuracy")
    with pytest.raises(ValueError, match="metric"):
        found.merge(whole("macro F1"))
    with pytest.raises(ValueError, match="the same one"):
        found.merge(found)
    with pytest.raises(ValueError, match="'other' parameter"):
        found.merge(3)
    with pytest.raises(ValueError, match="identified by ids"):
        found.merge(accumulator("accuracy").update(CLASSES, DECIDED, start=N))
    weighted = accumulator("accuracy")
    weighted.update(CLASSES, DECIDED, ids=np.arange(N) + N, sample_weight=WEIGHTS)
    with pytest.raises(ValueError, match="no weights"):
        found.merge(weighted)


# ------------------------------------------------------------------ groups without end


def test_many_groups_are_counted_within_their_error():
    n = 4 * 65536  # of which a quarter are kept
    found = BootstrapAccumulator("mean", random_state=0, n_resamples=2)
    for start in range(0, n, n // 4):
        found.update(None, np.ones(n // 2), groups=np.arange(start, start + n // 2) % n)
    # The standard error is 1 / sqrt(65536) = .4%; five of these are a false alarm in 2e6 seeds.
    result = found.result()
    assert result.n_units == pytest.approx(n, rel=0.02)
    assert any("number of groups is an estimate" in note for note in result.notes)


# ------------------------------------------------------------------ bytes


@pytest.mark.parametrize("case", CASES)
def test_bytes_and_pickles_give_the_accumulator_back(case):
    found = whole(case)
    for copy in (
        BootstrapAccumulator.from_bytes(found.to_bytes()),
        pickle.loads(pickle.dumps(found)),
    ):
        assert copy.to_bytes() == found.to_bytes()
        assert copy.result() == found.result()
        assert copy.n_samples == N


def test_an_empty_accumulator_and_a_spawned_seed_survive_bytes():
    seed = np.random.SeedSequence(9, spawn_key=(3, 1))
    empty = BootstrapAccumulator("roc_auc", random_state=seed, n_resamples=B)
    copy = BootstrapAccumulator.from_bytes(empty.to_bytes())
    copy.update(TRUTH, SCORES, start=0)
    assert copy.to_bytes() == empty.update(TRUTH, SCORES, start=0).to_bytes()


def test_more_pairs_of_labels_than_memory_holds_are_refused_before_work():
    many = np.arange(5000)
    found = BootstrapAccumulator("f1_macro", random_state=0, n_resamples=20_000)
    with pytest.raises(ValueError, match="5000 pairs of labels"):
        found.update(many, many, start=0)
    mean = BootstrapAccumulator("accuracy", random_state=0, n_resamples=99)
    assert mean.update(many, many, start=0).result().estimate == 1


def test_several_columns_of_truth_are_refused():
    with pytest.raises(ValueError, match=r"'y_true'.*one label or number a row.*y_true\[:, k\]"):
        BootstrapAccumulator("f1_macro", random_state=0).update(np.eye(4), np.eye(4), start=0)


# ------------------------------------------------------------------ weights of batches


def in_batches(metric, truth, predicted, weights, size):
    found = BootstrapAccumulator(metric, random_state=3, n_resamples=B)
    for at in range(0, N, size):
        rows = slice(at, at + size)
        found.update(truth[rows], predicted[rows], start=at, sample_weight=weights[rows])
    return found


@pytest.mark.parametrize(
    ("metric", "predicted"), [("accuracy", DECISIONS), ("f1", DECISIONS), ("roc_auc", SCORES)]
)
def test_a_batch_may_hold_nothing_but_rows_of_weight_zero(metric, predicted):
    weights = np.where(np.arange(N) < 150, 0, RNG.integers(1, 4, N)).astype(float)
    whole = in_batches(metric, TRUTH, predicted, weights, N).result()
    for size in (1, 50, 100):
        assert in_batches(metric, TRUTH, predicted, weights, size).result() == whole


@pytest.mark.parametrize("metric", ["accuracy", "f1", "average_precision"])
def test_weights_that_are_all_zero_are_refused_when_all_rows_are_known(metric):
    found = in_batches(metric, TRUTH, DECISIONS, np.zeros(N), 100)
    with pytest.raises(ValueError, match=r"'sample_weight' parameter .* more than 0 for some row"):
        found.result()


@pytest.mark.parametrize("weight", [1e31, 1e-31, 1e300, 1e-300])
def test_weights_that_each_batch_would_scale_by_itself_are_refused(weight):
    # Scaled batch by batch, 200 rows of 1e31 would weigh as much as 200 rows of 1.
    weights = np.where(np.arange(N) < 200, 1.0, weight)
    with pytest.raises(ValueError, match=r"'sample_weight' parameter .* numbers from 7\.9e-31 to"):
        in_batches("accuracy", TRUTH, DECISIONS, weights, 200)


@pytest.mark.parametrize("weight", [2.0**100, 2.0**-100])
def test_weights_of_different_size_in_different_batches_keep_their_ratio(weight):
    weights = np.where(np.arange(N) < 200, 1.0, weight)
    found = in_batches("accuracy", TRUTH, DECISIONS, weights, 200).result()
    rows = slice(200, None) if weight > 1 else slice(200)
    assert found.estimate == pytest.approx(sk.accuracy_score(TRUTH[rows], DECISIONS[rows]))


@pytest.mark.parametrize("start", [2**63 - 10, 2**63, 2**64, 10**30])
def test_numbers_of_rows_that_64_bits_do_not_hold_are_refused(start):
    with pytest.raises(ValueError, match=r"'start' parameter .* fewer than 2\*\*63 rows"):
        accumulator("accuracy").update(TRUTH, DECISIONS, start=start)


@pytest.mark.parametrize(("scores", "told"), [([0.3, 0.8], False), ([0.0, 1.0], True)])
def test_scores_that_equal_the_truth_are_told_and_others_that_order_it_are_not(scores, told):
    y_true = np.arange(60) % 2
    systems = {"new": np.array(scores)[y_true], "old": np.arange(60) / 60}
    found = BootstrapAccumulator("roc_auc", random_state=0, n_resamples=49, systems=list(systems))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = found.update(y_true, systems, start=0).result()
    assert any("new equals the truth" in note for note in result.notes) is told


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision"])
@pytest.mark.parametrize("alike", [True, False])
def test_scores_that_are_nearly_equal_are_warned_of(metric, alike):
    rng = np.random.default_rng(0)
    y = (rng.random(20_000) < 0.3).astype(int)
    score = rng.normal(size=len(y)) + y
    if alike:
        score = np.where(rng.random(len(y)) < 0.8, 0.3 + 1e-12 * score, score)
    accumulator = BootstrapAccumulator(metric, n_resamples=19, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = accumulator.update(y, score, start=0).result()
    told = [str(one.message) for one in caught if "Resamples do not see" in str(one.message)]
    assert len(told) == alike
    assert ("Resamples do not see" in result.summary()) == alike
    # The estimate is that of finer intervals, which tell these scores apart.
    name = {"roc_auc": sk.roc_auc_score, "average_precision": sk.average_precision_score}[metric]
    assert result.estimate == pytest.approx(name(y, score), abs=1e-3)
