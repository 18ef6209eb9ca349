"""How many independent units stand behind the error of a method: pooled metrics, class averages."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, recall_score
from training_jobs import few_positives

from skboot import BootstrapScorer
from skboot.metrics.lookup import resolve_metrics
from skboot.refit.estimates import class_average_df, guard_of, n_effective_of
from skboot.refit.run_metrics import LabelRunMetric, RunMetricArguments, Targets

SIZES = (250, 100, 48, 2)


@pytest.fixture(scope="module")
def answers():
    """Truth and out-of-fold answers of two repeats, (400,) and (2, 400)."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), SIZES)
    right = rng.random((2, 400)) < 0.7
    return truth, np.where(right, truth, rng.integers(4, size=(2, 400)))


def kept_of(truth, given, unit=None):
    target = Targets(truth, np.arange(4), truth, unit)
    return SimpleNamespace(
        target=target,
        n_units=len(truth) if unit is None else unit.max() + 1,
        of_folds=lambda key: given,
    )


def run_metric_of(metric, truth):
    [statistic] = resolve_metrics(metric)[0].values()
    return LabelRunMetric(
        RunMetricArguments(metric, Targets(truth, np.arange(4), truth, None)),
        statistic,
        np.arange(4),
    )


def plain_df(score, truth, given, weights):
    """Welch and Satterthwaite in plain loops; influence by weighing one row a little more."""
    n, change = len(truth), 1e-5
    both = np.tile(truth, len(given))
    flat = given.ravel()
    mass = np.ones(len(flat))
    value, influence = score(both, flat, mass), np.empty(len(flat))
    for cell in {*zip(both.tolist(), flat.tolist(), strict=True)}:
        own = np.flatnonzero((both == cell[0]) & (flat == cell[1]))
        mass[own[0]] += change
        # Of one of n rows, by its mean answer over the repeats.
        influence[own] = (score(both, flat, mass) - value) * len(given) / change
        mass[own[0]] = 1.0
    total = squares = 0.0
    for k in range(4):
        size = np.count_nonzero(truth == k)
        own = influence[both == k]
        variance = np.sum((own - own.mean()) ** 2) / len(given) * size / max(size - 1, 1)
        hits = np.count_nonzero(flat[both == k] == k) / len(given)
        rate = (hits + 2) / (size + 4)
        variance = max(variance, weights[k] ** 2 * rate * (1 - rate) / size)
        total += variance
        squares += variance**2 / max(size - 1, 1)
    return min(max(total**2 / squares, 2), n - 1)


AVERAGES = {
    "f1_macro": (f1_score, "macro"),
    "precision_macro": (precision_score, "macro"),
    "balanced_accuracy": (recall_score, "macro"),
    "f1_weighted": (f1_score, "weighted"),
}


@pytest.mark.parametrize("metric", AVERAGES)
def test_averages_over_classes_have_the_degrees_of_freedom_of_their_classes(metric, answers):
    truth, given = answers
    function, average = AVERAGES[metric]

    def score(y_true, y_pred, mass):
        return function(y_true, y_pred, average=average, sample_weight=mass, zero_division=0)

    weights = np.full(4, 0.25) if average == "macro" else np.array(SIZES) / 400
    expected = plain_df(score, truth, given, weights)
    found = n_effective_of(run_metric_of(metric, truth), kept_of(truth, given))
    assert found == int(expected + 1e-3) + 1


def test_a_class_whose_two_rows_are_right_by_luck_still_limits_a_macro_average(answers):
    truth, given = answers
    lucky = np.where(truth == 3, 3, given)
    found = n_effective_of(run_metric_of("balanced_accuracy", truth), kept_of(truth, lucky))
    assert found <= 5
    assert n_effective_of(run_metric_of("f1_weighted", truth), kept_of(truth, lucky)) > 100


@pytest.mark.parametrize("metric", ["f1_micro", "jaccard_micro", "matthews_corrcoef"])
def test_pooled_metrics_count_all_units(metric, answers):
    truth, given = answers
    assert n_effective_of(run_metric_of(metric, truth), kept_of(truth, given)) == 400
    groups = np.arange(400) % 40
    assert n_effective_of(run_metric_of(metric, truth), kept_of(truth, given, groups)) == 40


def test_groups_bound_the_degrees_of_freedom_of_class_averages(answers):
    truth, given = answers
    groups = np.arange(400) % 40
    common = np.minimum(truth, 2)
    found = n_effective_of(run_metric_of("f1_weighted", common), kept_of(common, given, groups))
    assert 20 < found <= 40


def test_equal_classes_of_equal_variance_have_the_sum_of_their_degrees_of_freedom():
    """V_k = v: (K v)^2 / (K v^2 / (n_k - 1)) = K (n_k - 1)."""
    same = np.full(5, 0.01)
    sizes = np.full(5, 21.0)
    found = class_average_df(same, sizes, sizes / 2, np.full(5, 0.2), 1000)
    assert found == pytest.approx(100)
    assert class_average_df(same, sizes, sizes / 2, np.full(5, 0.2), 60) == 60
    assert class_average_df(np.r_[1.0, 0, 0], sizes[:3] / 21, sizes[:3], same[:3], 60) == 2


@pytest.mark.filterwarnings("ignore:BootstrapScorer.*smallest class has 2 rows:UserWarning")
def test_f1_micro_is_the_accuracy_and_so_is_its_interval():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), SIZES)
    X = rng.normal(size=(400, 3)) + np.eye(4)[y][:, :3]
    scorer = BootstrapScorer(
        LogisticRegression(),
        scoring=["accuracy", "f1_micro", "matthews_corrcoef", "balanced_accuracy"],
        n_train_resamples=80,
        n_cv_repeats=2,
        random_state=0,
    ).fit(X, y)
    limits = {name: np.array(found[:2]) for name, found in scorer.confidence_interval_.items()}
    assert scorer.score_["f1_micro"] == pytest.approx(scorer.score_["accuracy"])
    np.testing.assert_allclose(limits["f1_micro"], limits["accuracy"], atol=0.01)
    assert np.diff(limits["matthews_corrcoef"]) < 0.3
    assert np.diff(limits["balanced_accuracy"]) > 1.5 * np.diff(limits["matthews_corrcoef"])


# ------------------------------------------------------------------ rows that a guard counts


@pytest.fixture(scope="module")
def rare():
    return few_positives()


def guard(scoring, X, y, unit=None, repeats=1):
    """What is found in given answers of out-of-fold rows."""
    target = Targets(y, np.unique(y), np.searchsorted(np.unique(y), y), unit)
    metric = two_class_metric(scoring, target)
    kept = SimpleNamespace(target=target)
    data = np.tile(X[:, -1].astype(int), (repeats, 1))
    return guard_of(metric, kept, data, np.empty(0))


def two_class_metric(scoring, target):
    statistics, _ = resolve_metrics(scoring, labels=target.classes)
    [statistic] = statistics.values()
    arguments = RunMetricArguments("m", target, 1.0, -1.0, (-1.0, 0.0))
    return LabelRunMetric(arguments, statistic, target.classes)


def test_rows_count_once_without_groups_and_repeats_add_none(rare):
    found = guard("f1", *rare, repeats=3)
    assert (found["guard"], found["class_sizes"]) == ("set ratio", [18.0])
    assert guard("matthews_corrcoef", *rare, repeats=3)["class_sizes"] == [285.0, 15.0]


def test_copies_of_a_row_in_a_group_count_once(rare):
    X, y = rare
    unit = np.repeat(np.arange(300), 4)
    four = np.repeat(X, 4, axis=0), np.repeat(y, 4), unit
    assert guard("f1", *four)["class_sizes"] == [18.0]
    assert guard("recall", *four)["class_sizes"] == [15.0]
    np.testing.assert_allclose(guard("matthews_corrcoef", *four)["class_sizes"], [285, 15])


def test_groups_that_are_alike_count_as_their_rows(rare):
    # Two halves of every group: one found, one not; no variance between the groups.
    y = np.r_[np.ones(20, int), np.zeros(80, int)]
    X = np.r_[np.tile([0.0, 1.0], 10), np.zeros(80)][:, None]
    unit = np.r_[np.repeat(np.arange(10), 2), np.repeat(np.arange(10, 30), 4)]
    # No variance at all is no sign of many rows: the groups count.
    assert guard("recall", X, y, unit)["class_sizes"] == [10.0]
    X[0] = 1.0
    # A group with two hits: variance of the sum of gaps, by hand.
    share = 11 / 20
    gaps = np.r_[2 - 2 * share, np.full(9, 1 - 2 * share)]
    variance = np.sum(gaps**2) / 20**2 * 10 / 9
    expected = min(share * (1 - share) / variance, 20)
    assert guard("recall", X, y, unit)["class_sizes"] == pytest.approx([expected])


def test_other_metrics_have_no_guard(rare):
    for scoring in ("f1_macro", "f1_weighted"):
        assert guard(scoring, *rare) == {}
    y = np.arange(300) % 3
    assert guard("matthews_corrcoef", y[:, None].astype(float), y) == {}
