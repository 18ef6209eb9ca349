"""Numbers that follow from others: means of rows, sums beside huge values, ranges, limits."""

import inspect
import math
import warnings
from functools import partial

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given, settings
from hypothesis import strategies as st

import skboot
from skboot import bootstrap_score
from skboot.metrics import expected_cost

pytestmark = pytest.mark.identity

# The same examples at every run: a new one would find its fault in someone else's change.
same_examples = settings(max_examples=20, deadline=None, derandomize=True, database=None)

seeds = st.integers(0, 2**32 - 1)


def scored(*arguments, **options):
    """A result, and the texts of its warnings without the name of the function."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        result = bootstrap_score(*arguments, **{"n_resamples": 99, "random_state": 0} | options)
    return result, [str(warning.message) for warning in raised]


def assert_same(one, other):
    """Estimate, interval, notes and warnings agree."""
    (result, raised), (expected, also_raised) = one, other
    assert result.estimate == pytest.approx(expected.estimate, rel=1e-12)
    limits, expected_limits = result.confidence_interval, expected.confidence_interval
    np.testing.assert_allclose(limits, expected_limits, rtol=1e-9)
    assert limits.method == expected_limits.method
    # "mean" knows no baseline, and not that no row costs more than any of the matrix: of means
    # without a range, more rows must decide.
    apart = ("baseline", "decide this score (fewer than 15)")
    for told, also_told in ((result.notes, expected.notes), (raised, also_raised)):
        kept, also_kept = (
            [note for note in notes if not any(words in str(note) for words in apart)]
            for notes in (told, also_told)
        )
        assert kept == also_kept


# ------------------------------------------------------------------ means of costs


COSTS = ([[0, 1], [1, 0]], [[0, 1], [10, 0]], [[0, 2], [2, 0]], [[0, 0.5], [3.25, -1]])


@given(seeds, st.sampled_from(COSTS), st.sampled_from([60, 500]), st.sampled_from(["", "w", "s"]))
@same_examples
def test_a_mean_cost_has_the_interval_notes_and_warnings_of_the_mean_of_the_costs(
    seed, costs, n, design
):
    rng = np.random.default_rng(seed)
    y_true = (rng.random(n) < 0.3).astype(int)
    y_pred = np.where(rng.random(n) < 0.1, 1 - y_true, y_true)
    options = {"sample_weight": rng.random(n)} if design == "w" else {}
    options |= {"strata": np.arange(n) % 2} if design == "s" else {}
    of_rows = np.asarray(costs, dtype=float)[y_true, y_pred]
    metric = partial(expected_cost, costs=costs, labels=[0, 1])
    assert_same(
        scored(y_true, y_pred, metric=metric, **options),
        scored(None, of_rows, metric="mean", **options),
    )


def test_a_mean_cost_of_which_the_expensive_error_does_not_occur_is_a_share_of_the_rows():
    rng = np.random.default_rng(0)
    y_true = (rng.random(500) < 0.05).astype(int)
    y_pred = np.where((y_true == 0) & (rng.random(500) < 0.1), 1, y_true)
    result, raised = scored(y_true, y_pred, metric=partial(expected_cost, costs=COSTS[1]))
    hits = int((y_true != y_pred).sum())
    expected = skboot.inference.proportion_interval(hits, 500)
    np.testing.assert_allclose(result.confidence_interval, expected)
    assert (result.notes, raised) == ((), [])


def test_a_mean_cost_of_many_values_is_resampled_as_the_mean_of_its_rows():
    rng = np.random.default_rng(0)
    costs = rng.random((12, 12))
    y_true, y_pred = rng.integers(0, 12, (2, 400))
    assert_same(
        scored(y_true, y_pred, metric=partial(expected_cost, costs=costs)),
        scored(None, costs[y_true, y_pred], metric="mean"),
    )


def test_runs_subgroups_and_plans_count_the_rows_of_a_mean_cost():
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 2000)
    runs = [np.where(rng.random(2000) < 0.1, 1 - y_true, y_true) for _ in range(4)]
    costly, plain = (
        partial(expected_cost, costs=[[0, 1], [1, 0]]),
        sk.zero_one_loss,
    )
    options = {"n_resamples": 199, "random_state": 0}
    with warnings.catch_warnings():
        # Four runs are few.
        warnings.simplefilter("ignore")
        cost, error = (
            skboot.bootstrap_runs(y_true, runs, metric=metric, **options)
            for metric in (costly, plain)
        )
    np.testing.assert_allclose(cost.confidence_interval, error.confidence_interval, rtol=0.02)
    by = np.arange(2000) % 3
    cost, error = (
        bootstrap_score(y_true, runs[0], metric=metric, by=by, **options)["gap"]
        for metric in (costly, plain)
    )
    np.testing.assert_allclose(cost.confidence_interval, error.confidence_interval, atol=1e-3)
    sizes = {
        skboot.plan_evaluation(
            bootstrap_score(y_true, runs[0], metric=metric, **options), half_width=0.01
        ).n_units
        for metric in (costly, plain)
    }
    assert len(sizes) == 1
    assert sizes.pop() > 2000


def test_a_stream_of_mean_costs_has_the_interval_of_its_rows():
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 400)
    y_pred = np.where(rng.random(400) < 0.1, 1 - y_true, y_true)
    metric = partial(expected_cost, costs=[[0, 1], [1, 0]])
    stream = skboot.BootstrapAccumulator(metric, random_state=0, n_resamples=99)
    for start in (0, 100, 200):
        stop = 400 if start == 200 else start + 100
        stream.update(y_true[start:stop], y_pred[start:stop], start=start)
    found = stream.result().confidence_interval
    expected = scored(y_true, y_pred, metric=metric)[0].confidence_interval
    assert (found.method, tuple(found)) == (expected.method, pytest.approx(tuple(expected)))


# ------------------------------------------------------------------ sums beside huge values


VALUE_METRICS = {
    "neg_mean_squared_error": sk.mean_squared_error,
    "neg_mean_absolute_error": sk.mean_absolute_error,
    "neg_mean_absolute_percentage_error": sk.mean_absolute_percentage_error,
    "neg_mean_squared_log_error": sk.mean_squared_log_error,
    "neg_root_mean_squared_error": sk.root_mean_squared_error,
    "neg_mean_poisson_deviance": sk.mean_poisson_deviance,
    "neg_mean_gamma_deviance": sk.mean_gamma_deviance,
}


@st.composite
def values(draw):
    """Sizes of rows from 1e-12 to 1e12, alike or not, and weights."""
    rng = np.random.default_rng(draw(seeds))
    n = draw(st.sampled_from([3, 8, 40, 300]))
    sizes = 10.0 ** rng.uniform(-12, 12, n)
    if draw(st.booleans()):
        # One value beside others that are alike.
        sizes = np.where(np.arange(n) == 0, sizes, rng.random(n) + 5)
    weights = 10.0 ** rng.uniform(-3, 3, n) if draw(st.booleans()) else None
    return rng, sizes, weights


def means(rows, weights, resamples):
    """The mean of the rows of each resample by exact sums."""
    weights = np.ones(len(rows)) if weights is None else weights
    return np.array(
        [math.fsum(rows[drawn] * weights[drawn]) / math.fsum(weights[drawn]) for drawn in resamples]
    )


@given(values())
@same_examples
def test_a_replicate_of_a_mean_is_the_exact_sum_of_its_rows(case):
    rng, rows, weights = case
    drawn = rng.integers(0, len(rows), (30, len(rows)))
    for sign in (1, -1):
        result, _ = scored(None, sign * rows, metric="mean", resamples=drawn, sample_weight=weights)
        expected = sign * means(rows, weights, drawn)
        np.testing.assert_allclose(result.bootstrap_distribution, expected, rtol=1e-9)


@given(values())
@same_examples
def test_replicates_of_metrics_that_share_a_call_are_those_of_scikit_learn(case):
    rng, sizes, weights = case
    n = len(sizes)
    y_true, y_pred = sizes * rng.lognormal(size=(2, n))
    drawn = rng.integers(0, n, (8, n))
    results, _ = scored(
        y_true, y_pred, metric=list(VALUE_METRICS), resamples=drawn, sample_weight=weights
    )
    for name, function in VALUE_METRICS.items():
        expected = [
            -function(
                y_true[rows],
                y_pred[rows],
                sample_weight=None if weights is None else weights[rows],
            )
            for rows in drawn
        ]
        found = results[name].bootstrap_distribution
        np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=name)


@given(values(), st.sampled_from([1, 3]))
@same_examples
def test_replicates_of_groups_in_time_and_of_rows_lose_no_digits_to_a_huge_value(case, size):
    rng, rows, weights = case
    rows = np.repeat(rows, size) * rng.lognormal(size=size * len(rows))
    weights = None if weights is None else np.repeat(weights, size)
    options = {"sample_weight": weights, "n_resamples": 99}
    groups = np.arange(len(rows)) // size
    few, _ = scored(None, rows, metric="mean", groups=groups, **options)
    # Less than the least of all rows by more than rounding: no resample has such a mean.
    least, greatest = rows.min(), rows.max()
    for result in (few, scored(None, rows, metric="mean", **options)[0]):
        replicates = result.bootstrap_distribution
        assert replicates.min() >= least * (1 - 1e-9)
        assert replicates.max() <= greatest * (1 + 1e-9)


def test_the_percentiles_of_an_error_beside_a_huge_one_are_those_of_its_replicates():
    rng = np.random.default_rng(0)
    y_true = rng.normal(size=200)
    y_pred = y_true + rng.normal(size=200)
    y_pred[17] = 1e9
    drawn = rng.integers(0, 200, (199, 200))
    result, _ = scored(
        y_true, y_pred, metric="mean_squared_error", interval="percentile", resamples=drawn
    )
    replicates = np.sort([sk.mean_squared_error(y_true[rows], y_pred[rows]) for rows in drawn])
    np.testing.assert_allclose(result.confidence_interval, replicates[[4, 194]], rtol=1e-9)


# ------------------------------------------------------------------ ranges of metrics


def two(rng, n=12):
    return rng.permutation(np.arange(n) % 2), rng.integers(0, 2, n)


def three(rng, n=12):
    return rng.permutation(np.arange(n) % 3), rng.integers(0, 3, n)


def chance(rng):
    y_true, _ = two(rng)
    return y_true, rng.random(len(y_true))


def reals(rng):
    return rng.lognormal(size=(2, 12))


def worst(y_true):
    """Each row decided as the next class."""
    return (y_true + 1) % (y_true.max() + 1)


# Metric, rows, and its range (low, high), infinite where it has no end.
RANGES = {
    "accuracy": (sk.accuracy_score, three, (0, 1)),
    "error": (sk.zero_one_loss, three, (0, 1)),
    "hamming": (sk.hamming_loss, three, (0, 1)),
    "balanced": (sk.balanced_accuracy_score, three, (0, 1)),
    "adjusted, two": (partial(sk.balanced_accuracy_score, adjusted=True), two, (-1, 1)),
    "adjusted, three": (partial(sk.balanced_accuracy_score, adjusted=True), three, (-0.5, 1)),
    "precision": (sk.precision_score, two, (0, 1)),
    "recall": (sk.recall_score, two, (0, 1)),
    "f1": (sk.f1_score, two, (0, 1)),
    "f1 macro": (partial(sk.f1_score, average="macro"), three, (0, 1)),
    "f1 micro": (partial(sk.f1_score, average="micro"), three, (0, 1)),
    "f1 weighted": (partial(sk.f1_score, average="weighted"), three, (0, 1)),
    "f2": (partial(sk.fbeta_score, beta=2), two, (0, 1)),
    "jaccard": (sk.jaccard_score, two, (0, 1)),
    "matthews": (sk.matthews_corrcoef, two, (-1, 1)),
    "kappa": (sk.cohen_kappa_score, two, (-1, 1)),
    "linear kappa": (partial(sk.cohen_kappa_score, weights="linear"), two, (-1, 1)),
    "quadratic kappa": (partial(sk.cohen_kappa_score, weights="quadratic"), two, (-1, 1)),
    "rand": (sk.rand_score, three, (0, 1)),
    "adjusted rand": (sk.adjusted_rand_score, three, (-0.5, 1)),
    "v measure": (partial(sk.v_measure_score, beta=2.0), three, (0, 1)),
    "normalized information": (sk.normalized_mutual_info_score, three, (0, 1)),
    "roc auc": (sk.roc_auc_score, chance, (0, 1)),
    "average precision": (sk.average_precision_score, chance, (0, 1)),
    "brier": (sk.brier_score_loss, chance, (0, 1)),
    "log loss": (sk.log_loss, chance, (0, math.inf)),
    "r2": (sk.r2_score, reals, (-math.inf, 1)),
    "explained variance": (sk.explained_variance_score, reals, (-math.inf, 1)),
    "squared": (sk.mean_squared_error, reals, (0, math.inf)),
    "root": (sk.root_mean_squared_error, reals, (0, math.inf)),
    "squared log": (sk.mean_squared_log_error, reals, (0, math.inf)),
    "absolute": (sk.mean_absolute_error, reals, (0, math.inf)),
    "relative": (sk.mean_absolute_percentage_error, reals, (0, math.inf)),
    "pinball": (partial(sk.mean_pinball_loss, alpha=0.9), reals, (0, math.inf)),
    "poisson": (sk.mean_poisson_deviance, reals, (0, math.inf)),
    "gamma": (sk.mean_gamma_deviance, reals, (0, math.inf)),
}


@pytest.mark.parametrize("name", RANGES)
def test_the_range_of_a_metric_holds_its_values_and_its_extremes(name):
    metric, rows, (low, high) = RANGES[name]
    y_true, drawn = rows(np.random.default_rng(0))
    decided = drawn.dtype.kind == "i"
    opposite = worst(y_true) if decided else 1.0 - y_true if rows is chance else drawn
    for y_pred in (drawn, y_true * 1 if decided else y_true.astype(float), opposite):
        result, _ = scored(y_true, y_pred, metric=metric, n_resamples=19)
        least, greatest = result._evidence.facts.bounds
        assert least - 1e-12 <= metric(y_true, y_pred) <= greatest + 1e-12
        limits = result.confidence_interval
        if not np.isnan(limits.low):
            assert least <= limits.low <= limits.high <= greatest
        if name != "brier":
            assert (least, greatest) == pytest.approx((low, high))


@pytest.mark.parametrize("relative", [False, True])
def test_the_range_of_costs_holds_profits(relative):
    y_true = np.arange(40) % 2
    costs = [[-1.0, 5.0], [5.0, -1.0]]
    metric = partial(expected_cost, costs=costs, priors=[0.5, 0.5])
    result, _ = scored(y_true, y_true, metric=partial(metric, relative=relative))
    least, greatest = result._evidence.facts.bounds
    assert least <= result.estimate < 0 < greatest


def test_limits_of_an_adjusted_balanced_accuracy_below_chance_are_in_order():
    y_true = np.arange(60) % 3
    y_pred = np.where(np.arange(60) < 55, worst(y_true), y_true)
    metric = partial(sk.balanced_accuracy_score, adjusted=True)
    result, _ = scored(y_true, y_pred, metric=metric, n_resamples=199)
    low, high = result.confidence_interval
    assert -0.5 <= low < result.estimate < high < 0


# ------------------------------------------------------------------ undefined resamples


@pytest.mark.parametrize("function", [sk.log_loss, sk.brier_score_loss])
def test_rows_of_one_class_have_a_loss_where_the_metric_names_both(function):
    prob = np.random.default_rng(0).random(40)
    options = {"normalize": False} if function is sk.log_loss else {"pos_label": 1}
    if "labels" not in inspect.signature(function).parameters:
        pytest.skip("this release of scikit-learn has no labels= there")
    metric = partial(function, labels=[0, 1], **options)
    result, _ = scored(np.zeros(40, int), prob, metric=metric, n_resamples=19)
    assert result.estimate == pytest.approx(metric(np.zeros(40, int), prob))


@pytest.mark.parametrize("power", [0, 1, 1.5])
def test_a_constant_resample_of_an_explained_deviance_is_undefined_and_not_an_end(power):
    y_true = np.array([1.0, 1, 1, 1, 1, 2])
    metric = partial(sk.d2_tweedie_score, power=power)
    resamples = [[0, 1, 2, 3, 4, 0], *np.random.default_rng(0).permuted([range(6)] * 9, axis=1)]
    result, raised = scored(y_true, y_true + 0.1, metric=metric, resamples=np.array(resamples))
    assert result.n_undefined == 1
    assert np.isnan(result.bootstrap_distribution[0])
    assert any("undefined" in text for text in raised)
