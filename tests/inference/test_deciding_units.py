"""How many units decide a score, or a difference: by leaving out each of them."""

from functools import partial

import numpy as np
import pytest
from scipy import special, stats
from sklearn import metrics
from sklearn.linear_model import LinearRegression

from skboot import BootstrapScorer, bootstrap_runs, bootstrap_score, compare_systems
from skboot.refit.run_metrics import Targets

pytestmark = [pytest.mark.identity, pytest.mark.filterwarnings("ignore::UserWarning")]


rng = np.random.default_rng(25)
N = 80
TRUTH = rng.random(N) < 0.3
SCORES = rng.normal(size=N) + TRUTH
FIRST, SECOND = SCORES > 0.4, SCORES > 0.5
VALUES = rng.exponential(size=N)
FORECAST = VALUES + rng.standard_t(3, size=N)
GROUPS = rng.integers(0, 15, size=N)

# Which rows, at most, the metric knows to decide.
SMALLER = min(TRUTH.sum(), N - TRUTH.sum())
SQUARES = (VALUES - VALUES.mean()) ** 2
PINBALL = partial(metrics.mean_pinball_loss, alpha=0.95)
CASES = {
    "accuracy": (metrics.accuracy_score, TRUTH, FIRST, np.inf),
    "f1": (metrics.f1_score, TRUTH, FIRST, np.inf),
    "matthews": (metrics.matthews_corrcoef, TRUTH, FIRST, np.inf),
    "area": (metrics.roc_auc_score, TRUTH, SCORES, SMALLER),
    "absolute error": (metrics.mean_absolute_error, VALUES, FORECAST, np.inf),
    "R2": (metrics.r2_score, VALUES, FORECAST, SQUARES.sum() ** 2 / np.sum(SQUARES**2)),
    "pinball": (PINBALL, VALUES, FORECAST, 0.05 * N),
}


def carriers(metric, y_true, y_pred, units, second=None):
    """(sum v^2)^2 / sum v^4 of the values without each unit."""
    without = [units != unit for unit in np.unique(units)]
    values = np.array([metric(y_true[left], y_pred[left]) for left in without])
    if second is not None:
        values = values - [metric(y_true[left], second[left]) for left in without]
    v = values - (metric(y_true, y_pred) if second is None else np.mean(values))
    return np.sum(v**2) ** 2 / np.sum(v**4)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("units", [np.arange(N), GROUPS], ids=["rows", "groups"])
def test_a_score_is_decided_by_the_units_that_move_it(name, units):
    metric, y_true, y_pred, most = CASES[name]
    groups = None if len(np.unique(units)) == N else units
    result = bootstrap_score(
        y_true, y_pred, metric=metric, groups=groups, n_resamples=99, random_state=0
    )
    expected = min(carriers(metric, y_true, y_pred, units), most)
    assert result.n_deciding == pytest.approx(expected, rel=1e-6)
    assert result.to_dict()["n_deciding"] == result.n_deciding


@pytest.mark.parametrize("name", ["accuracy", "f1", "matthews"])
@pytest.mark.parametrize("units", [np.arange(N), GROUPS], ids=["rows", "groups"])
def test_a_difference_is_decided_by_the_units_that_differ(name, units):
    metric = CASES[name][0]
    groups = None if len(np.unique(units)) == N else units
    [pair] = compare_systems(
        TRUTH, {"A": FIRST, "B": SECOND}, metric=metric, groups=groups, n_resamples=99,
        random_state=0,
    ).pairs  # fmt: skip
    expected = carriers(metric, TRUTH, FIRST, units, SECOND)
    assert pair.n_deciding == pytest.approx(expected, rel=1e-6)
    assert pair.n_deciding < 1.2 * np.count_nonzero(FIRST != SECOND)
    assert pair._mirrored().n_deciding == pair.n_deciding


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "median_absolute_error"])
@pytest.mark.parametrize("n_apart", [0, 1, 2, 3, 12])
def test_a_gate_tells_of_few_rows_that_differ_whatever_the_metric_counts(metric, n_apart):
    second = SCORES.copy()
    second[:n_apart] = np.random.default_rng(n_apart).permutation(SCORES)[:n_apart] + 0.01
    systems = {"A": SCORES, "B": second}
    result = compare_systems(TRUTH * 1, systems, metric=metric, n_resamples=99, random_state=0)
    [pair] = result.pairs
    assert pair.n_deciding <= 1.5 * n_apart
    is_told = "decide this difference" in str(pair.verdict(0.05)).replace("decides", "decide")
    assert is_told == (pair.n_deciding < 4) == (n_apart < 4)


# ------------------------------------------------------------------ few units in differences


@pytest.mark.parametrize("n_units", [2, 3, 6, 9])
@pytest.mark.parametrize("in_groups", [False, True])
def test_few_units_are_compared_by_student_s_t_of_their_values(n_units, in_groups):
    """Quantiles of resamples of m units cannot leave the range of m values."""
    draw, size = np.random.default_rng(n_units), 5 if in_groups else 1
    first, second = draw.exponential(size=(2, n_units, size))
    by_hand = stats.ttest_rel(first.mean(axis=1), second.mean(axis=1))
    result = compare_systems(
        np.zeros(n_units * size),
        {"A": first.ravel(), "B": second.ravel()},
        metric="mean_absolute_error",
        groups=np.repeat(np.arange(n_units), size) if in_groups else None,
        n_resamples=9999,
        random_state=0,
    )
    [pair] = result.pairs
    low, high = by_hand.confidence_interval()
    # The standard error of so many resamples is known within 3%.
    assert pair.confidence_interval == pytest.approx((low, high), abs=0.03 * (high - low))
    assert pair.p_value == pytest.approx(by_hand.pvalue, abs=0.02)
    assert pair.degrees_of_freedom == n_units - 1


def test_one_large_loss_among_rows_that_all_differ_leaves_the_freedom_of_all():
    first, second = np.random.default_rng(5).normal(size=(2, 100))
    first[:2] = 1000.0, -900.0
    [pair] = compare_systems(
        np.zeros(100), {"A": first, "B": second}, metric="mean_absolute_error", random_state=0
    ).pairs
    assert pair.degrees_of_freedom == 99


def test_rows_that_do_not_differ_do_not_make_a_difference_of_few_rows_sure():
    draw = np.random.default_rng(5)
    first = draw.exponential(size=100)
    second = first.copy()
    second[:4] += [1.0, 1.1, 1.2, 0.9]
    [pair] = compare_systems(
        np.zeros(100), {"A": first, "B": second}, metric="mean_absolute_error", random_state=0
    ).pairs
    assert pair.degrees_of_freedom == 3
    assert not pair.excludes_zero


def test_few_units_that_agree_tell_no_difference():
    y_true, systems = np.zeros(3), {"A": np.array([1.0, 2, 3]), "B": np.array([1.5, 2.5, 3.5])}
    result = compare_systems(y_true, systems, metric="mean_absolute_error", random_state=0)
    [pair] = result.pairs
    assert np.isnan(pair.confidence_interval).all()
    assert not pair.excludes_zero
    assert pair.verdict(5.0).outcome == "inconclusive"
    assert "All 3 rows give the same difference" in result.summary()


# ------------------------------------------------------------------ strata of few rows


@pytest.mark.parametrize("size", [2, 5])
def test_percentiles_in_strata_reach_as_far_as_the_variance_within_that_resamples_lack(size):
    """Strata of n rows have n / (n - 1) times the variance of resamples, and t its freedom."""
    strata = np.arange(N) // size
    result = bootstrap_score(
        TRUTH, SCORES, metric="roc_auc", strata=strata, n_resamples=9999, random_state=0
    )
    df = N - N // size
    level = 1 - 2 * stats.norm.cdf(-np.sqrt(size / (size - 1)) * stats.t.ppf(0.975, df))
    assert result.confidence_interval == pytest.approx(result.interval("percentile", level))
    assert result.confidence_interval.method == "expanded"
    large = bootstrap_score(TRUTH, SCORES, metric="roc_auc", strata=np.arange(N) % 2)
    assert large.confidence_interval.method == "bca"


@pytest.mark.parametrize("in_groups", [False, True])
def test_strata_of_one_unit_are_one_stratum(in_groups):
    groups = np.arange(N) // 4 if in_groups else np.arange(N)
    options = {"groups": groups if in_groups else None, "metric": "roc_auc", "random_state": 0}
    strata = groups // 5
    alone = np.where(strata == 0, 100 + groups, strata)
    result = bootstrap_score(TRUTH, SCORES, strata=alone, n_resamples=99, **options)
    merged = bootstrap_score(TRUTH, SCORES, strata=alone.clip(max=100), n_resamples=99, **options)
    assert result.confidence_interval == merged.confidence_interval
    assert any("strata have one" in note for note in result.notes)
    single = np.where(groups == 0, 100, strata)
    joined = np.where(groups < 5, 100, strata)
    result, merged = (
        bootstrap_score(TRUTH, SCORES, strata=given, n_resamples=99, **options)
        for given in (single, joined)
    )
    assert result.confidence_interval == merged.confidence_interval


# ------------------------------------------------------------------ few groups, groups of a class


@pytest.mark.parametrize("n_groups", [2, 4, 8])
def test_areas_of_few_groups_have_student_s_t_on_the_logit_scale(n_groups):
    groups = np.arange(N) % n_groups
    result = bootstrap_score(TRUTH, SCORES, metric="roc_auc", groups=groups, random_state=0)
    area, error = result.estimate, result.standard_error * np.sqrt(n_groups / (n_groups - 1))
    reach = stats.t.ppf(0.975, n_groups - 1) * error / (area * (1 - area))
    expected = special.expit(special.logit(area) + np.array([-reach, reach]))
    assert result.confidence_interval == pytest.approx(expected, rel=1e-9)
    assert result.confidence_interval.method == "logit-t"


def by_class(parts, sizes):
    """Inflation and freedom of a sum over classes of this variance and this number of groups."""
    inflated = parts * sizes / (sizes - 1)
    return inflated.sum() / parts.sum(), inflated.sum() ** 2 / np.sum(inflated**2 / (sizes - 1))


@pytest.mark.parametrize("n_ill", [6, 10])
def test_groups_whose_label_is_constant_tell_about_their_class_alone(n_ill):
    draw = np.random.default_rng(n_ill)
    groups = np.repeat(np.arange(30), 5)
    y_true = (groups < n_ill).astype(int)
    scores = y_true + draw.normal(size=150) + draw.normal(size=30)[groups]
    decisions = (scores > 0.5).astype(int)
    options = {"groups": groups, "n_resamples": 99, "random_state": 0}
    sizes = np.array([30 - n_ill, n_ill])
    recall = bootstrap_score(y_true, decisions, metric="recall", **options)._evidence.drawn
    assert recall.degrees_of_freedom == pytest.approx(n_ill - 1)
    assert recall.inflation == pytest.approx(n_ill / (n_ill - 1))
    area = bootstrap_score(y_true, scores, metric="roc_auc", **options)._evidence.drawn
    assert (area.inflation, area.degrees_of_freedom) == pytest.approx(by_class(1 / sizes, sizes))
    both = bootstrap_score(y_true, decisions, metric="balanced_accuracy", **options)._evidence.drawn
    rates = np.add.reduceat(decisions == y_true, np.arange(0, 150, 5)) / 5
    parts = [
        np.var(rates[(np.arange(30) < n_ill) == ill]) / sizes[int(ill)] for ill in (False, True)
    ]
    expected = by_class(np.array(parts), sizes)
    assert (both.inflation, both.degrees_of_freedom) == pytest.approx(expected)


def test_a_fit_on_groups_counts_the_groups_of_the_rarest_class():
    codes, unit = np.array([0, 0, 0, 1, 1, 1, 0, 1]), np.array([0, 0, 0, 1, 1, 1, 2, 1])
    assert Targets(codes, np.array([0, 1]), codes, None).smallest_class == 4
    assert Targets(codes, np.array([0, 1]), codes, unit).smallest_class == 1


# ------------------------------------------------------------------ perfect scores, bias of runs


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "equal_error_rate"])
@pytest.mark.parametrize("weight", [None, 3.0])
def test_a_perfect_ranking_has_the_width_of_no_error_on_the_smaller_class(metric, weight):
    y_true = np.repeat([0, 1], [60, 25])
    result = bootstrap_score(
        y_true,
        np.arange(85.0),
        metric=metric,
        sample_weight=None if weight is None else np.full(85, weight),
        random_state=0,
    )
    square = stats.norm.ppf(0.975) ** 2
    reach = (square / 25) / (1 + square / 25)
    low, high = result.confidence_interval
    assert high - low == pytest.approx(reach)
    assert abs(result.estimate - (metric != "equal_error_rate")) < 1e-12


def test_areas_against_the_rest_have_the_width_of_their_smallest_class_and_warn_of_it():
    y_true = np.repeat([0, 1, 2], [3, 30, 30])
    given = np.eye(3)[y_true] * 0.7 + np.random.default_rng(0).random((63, 3)) * 0.1
    given /= given.sum(axis=1, keepdims=True)
    with pytest.warns(UserWarning, match="rows of each class decide this score"):
        result = bootstrap_score(y_true, given, metric="roc_auc_ovr", random_state=0)
    assert result.estimate == 1
    assert 0.3 < result.confidence_interval.low < 0.8


def test_runs_are_free_of_the_bias_that_the_score_of_one_is_free_of():
    draw = np.random.default_rng(0)
    y_true = draw.integers(0, 60, size=600)
    answers = [np.where(draw.random(600) < 0.7, y_true, draw.permutation(y_true)) for _ in range(4)]
    options = {"metric": "f1_macro", "n_resamples": 299, "random_state": 0}
    alone = bootstrap_score(y_true, answers[0], **options)
    assert alone.confidence_interval.method == "jackknife"
    runs = bootstrap_runs(y_true, answers, varied="seed", **options)
    left = [
        metrics.f1_score(np.delete(y_true, k), np.delete(answers[0], k), average="macro")
        for k in range(600)
    ]
    bias = 599 * (np.mean(left) - alone.estimate)
    assert np.mean(runs.confidence_interval) == pytest.approx(runs.estimate - bias, rel=1e-6)
    assert any("the mean over runs has too" in note for note in runs.notes)


@pytest.mark.parametrize("heavy", [True, False])
def test_a_fit_says_where_few_rows_carry_the_variance_of_the_truth(heavy):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(60, 3))
    y = X[:, 0] + (draw.standard_t(2, size=60) if heavy else draw.uniform(-1, 1, size=60))
    scorer = BootstrapScorer(LinearRegression(), scoring="r2", n_train_resamples=40, random_state=0)
    scorer.fit(X, y)
    squares = (y - y.mean()) ** 2
    number = squares.sum() ** 2 / np.sum(squares**2)
    text = f"About {number:.0f} of the 60 rows decide the variance of the truth (fewer than 8)"
    assert any(text in caution for caution in scorer.result_.notes) == heavy == (number < 8)
