"""Averages over tasks: the metric within each task, the tasks averaged equally."""

import re
import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn import metrics as sk

from skboot import bootstrap_runs, bootstrap_score, compare_runs, compare_systems
from skboot.results import EvaluationResult
from skboot.study import tasks as tasks_module
from skboot.testing import assert_not_worse

SIZES = (25, 40, 12, 30, 18, 60, 22, 35, 15, 28, 33)
TASK = np.repeat([f"task {k:02d}" for k in range(len(SIZES))], SIZES)
N = len(TASK)
_RNG = np.random.default_rng(7)
ORDER = _RNG.permutation(N)
TASK = TASK[ORDER]
NAMES, NUMBER = np.unique(TASK, return_inverse=True)
Y = _RNG.integers(0, 2, N)
SCORE = Y + _RNG.normal(size=N)
LABEL = (SCORE > 0.5).astype(int)
VALUE = _RNG.normal(size=N) + NUMBER
GUESS = VALUE + 0.5 * _RNG.normal(size=N)
WEIGHT = 0.5 + _RNG.random(N)
ROWS = [np.flatnonzero(k == NUMBER) for k in range(len(SIZES))]
SPEAKER = _RNG.integers(0, 30, N)  # each has rows in several tasks
PART = NUMBER * 4 + _RNG.integers(0, 4, N)  # groups that each lie in one task


def within_tasks(n_resamples, by=NUMBER):
    """Rows drawn within strata, as given resamples, in an order that mixes the strata."""
    rng = np.random.default_rng(3)
    drawn = np.empty((n_resamples, N), dtype=int)
    for stratum in np.unique(by):
        rows = np.flatnonzero(by == stratum)
        drawn[:, rows] = rng.choice(rows, (n_resamples, len(rows)))
    return rng.permuted(drawn, axis=1)


RESAMPLES = within_tasks(40, NUMBER * 2 + Y)
FEW = RESAMPLES[:15]

# Resamples, or groups, that are fewer than intervals need: the values on each are tested.
of_few = pytest.mark.filterwarnings("ignore::UserWarning")

macro_f1 = partial(sk.f1_score, average="macro")
METRICS = {
    "accuracy": (sk.accuracy_score, Y, LABEL),
    "f1_macro": (macro_f1, Y, LABEL),
    "matthews_corrcoef": (sk.matthews_corrcoef, Y, LABEL),
    "roc_auc": (sk.roc_auc_score, Y, SCORE),
    "average_precision": (sk.average_precision_score, Y, SCORE),
    "log_loss": (sk.log_loss, Y, np.column_stack((1 - LABEL, LABEL)) * 0.8 + 0.1),
    "r2": (sk.r2_score, VALUE, GUESS),
    "neg_mean_squared_error": (lambda *a, **k: -sk.mean_squared_error(*a, **k), VALUE, GUESS),
    "neg_median_absolute_error": (
        lambda *a, **k: -sk.median_absolute_error(*a, **k),
        VALUE,
        GUESS,
    ),
}


def average(metric, y_true, y_pred, rows, weight=None):
    """The average by a loop over tasks."""
    of_tasks = []
    for name in NAMES:
        own = rows[TASK[rows] == name]
        options = {} if weight is None else {"sample_weight": weight[own]}
        of_tasks.append(metric(y_true[own], y_pred[own], **options))
    return float(np.mean(of_tasks))


# ------------------------------------------------------------------ values


@of_few
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("name", METRICS)
def test_replicates_are_loops_over_tasks_on_the_rows_of_each_resample(name, weight):
    metric, y_true, y_pred = METRICS[name]
    options = {"sample_weight": weight, "resamples": FEW, "average_over": TASK}
    result = bootstrap_score(y_true, y_pred, metric=name, **options)
    expected = [average(metric, y_true, y_pred, rows, weight) for rows in FEW]
    assert_allclose(result.bootstrap_distribution, expected, rtol=0, atol=1e-12)
    assert_allclose(
        result.estimate, average(metric, y_true, y_pred, np.arange(N), weight), atol=1e-12
    )


@of_few
@pytest.mark.parametrize("response", ["a function", "values alone"])
def test_any_callable_is_averaged_over_tasks(response):
    def spread(*columns):
        return float(np.ptp(columns[-1]))

    y_true = None if response == "values alone" else VALUE
    result = bootstrap_score(y_true, GUESS, metric=spread, resamples=RESAMPLES, average_over=TASK)
    expected = [average(spread, VALUE, GUESS, rows) for rows in RESAMPLES]
    assert_allclose(result.bootstrap_distribution, expected, rtol=0, atol=1e-12)


@of_few
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("units", ["tasks", "coarser"])
def test_drawn_tasks_keep_their_values_and_are_averaged_as_often_as_they_are_drawn(name, units):
    metric, y_true, y_pred = METRICS[name]
    of_task = np.array([metric(y_true[rows], y_pred[rows]) for rows in ROWS])
    groups = np.arange(len(NAMES)) // (1 if units == "tasks" else 2)
    options = {"n_resamples": 200, "random_state": 5}
    result = bootstrap_score(
        y_true, y_pred, metric=name, average_over=TASK, groups=groups[NUMBER], **options
    )
    # The mean of one value per task, with the same groups, draws the same numbers.
    expected = bootstrap_score(None, of_task, metric="mean", groups=groups, **options)
    assert_allclose(
        result.bootstrap_distribution, expected.bootstrap_distribution, rtol=0, atol=1e-12
    )
    # Beside an interval without resamples, as few groups of values have, the error has none either.
    spread = np.std(expected.bootstrap_distribution, ddof=1)
    assert_allclose(result.standard_error, spread, rtol=1e-9)
    assert result.n_units == groups.max() + 1
    assert result.confidence_interval.method == "t"


@of_few
def test_weights_act_within_tasks_only():
    other = WEIGHT * np.array([1.0, 7.0, 0.1])[NUMBER % 3]
    one, two = (
        bootstrap_score(
            Y, LABEL, sample_weight=weight, average_over=TASK, resamples=RESAMPLES
        ).bootstrap_distribution
        for weight in (WEIGHT, other)
    )
    assert_allclose(one, two, atol=1e-12)


def test_a_replicate_without_a_row_of_a_task_is_undefined():
    lacking = RESAMPLES.copy()
    lacking = np.concatenate([lacking] * 5)
    lacking[0, np.isin(lacking[0], ROWS[2])] = ROWS[0][0]
    with pytest.warns(match="undefined on some resamples"):
        result = bootstrap_score(Y, LABEL, average_over=TASK, resamples=lacking)
    assert np.flatnonzero(np.isnan(result.bootstrap_distribution)).tolist() == [0]


@pytest.mark.parametrize("groups", [None, TASK], ids=["fixed", "drawn"])
def test_the_naive_reference_is_that_of_each_task(groups):
    result = bootstrap_score(Y, LABEL, average_over=TASK, groups=groups, n_resamples=50)
    expected = np.mean([max(np.mean(Y[rows]), 1 - np.mean(Y[rows])) for rows in ROWS])
    assert_allclose(result.naive_estimate, expected)
    assert "(best system that ignores its inputs in each task, on" in result.summary()


# ------------------------------------------------------------------ what is drawn


def counting(by):
    """A metric of predictions that number rows: how many of them have a certain mark."""
    return lambda rows: float(np.count_nonzero(by[rows.astype(int)]))


def replicates_of(metric, y_true=None, y_pred=None, **options):
    y_pred = np.arange(N, dtype=float) if y_pred is None else y_pred
    options = {"n_resamples": 60, "random_state": 0, "average_over": TASK} | options
    result = bootstrap_score(y_true, y_pred, metric=metric, **options)
    return result.bootstrap_distribution


@of_few
@pytest.mark.parametrize("task", [0, 2, 5])
def test_a_fixed_task_keeps_its_number_of_rows(task):
    rows = replicates_of(counting(task == NUMBER))
    assert set(np.round(rows * len(NAMES), 9)) == {SIZES[task]}


def test_strata_are_crossed_with_the_tasks():
    marked = NUMBER == 5
    strata = VALUE - NUMBER > 0
    with pytest.warns(UserWarning, match="rows moves this score"):
        counts = replicates_of(counting(marked & strata), strata=strata)
    assert set(np.round(counts * len(NAMES), 9)) == {np.count_nonzero(marked & strata)}


@of_few
def test_groups_of_one_task_are_drawn_within_it():
    groups = np.unique(PART[NUMBER == 3])
    drawn = replicates_of(lambda rows: float(len(np.unique(NUMBER[rows.astype(int)]))), groups=PART)
    assert set(drawn) == {1.0}
    per_group = 1 / np.bincount(PART, minlength=PART.max() + 1)

    def n_groups(rows):
        rows = rows.astype(int)
        return float(per_group[PART[rows]].sum() * (NUMBER[rows[0]] == 3))

    counts = replicates_of(n_groups, groups=PART)
    assert_allclose(counts * len(NAMES), len(groups))


def test_groups_that_cross_tasks_are_drawn_whole():
    per_speaker = 1 / np.bincount(SPEAKER, minlength=SPEAKER.max() + 1)

    def speakers(rows):
        rows = rows.astype(int)
        return float(per_speaker[SPEAKER[rows]].sum())

    # The rows of a speaker come as often as the speaker: 30 speakers in every resample.
    with pytest.warns(UserWarning, match="None of the 30 groups moves this score"):
        drawn = replicates_of(speakers, groups=SPEAKER)
    assert_allclose(drawn * len(NAMES), SPEAKER.max() + 1)
    counts = replicates_of(counting(NUMBER == 5), groups=SPEAKER)
    assert len(set(counts)) > 10


def test_metrics_that_need_both_classes_are_drawn_within_task_and_class():
    def share(y_true, y_pred):
        if len(np.unique(y_true)) < 2:
            raise ValueError("one class")
        return float(np.mean(y_true))

    with pytest.warns(UserWarning, match="None of the 318 rows moves this score"):
        replicates = replicates_of(share, Y, SCORE)
    assert_allclose(replicates, np.mean([np.mean(Y[rows]) for rows in ROWS]))
    result = bootstrap_score(Y, SCORE, metric="roc_auc", average_over=TASK, n_resamples=99)
    assert "within task and class" in result.summary()
    assert "each class of each task" in result.held_fixed[-1]


def test_other_metrics_of_the_call_are_not_drawn_within_classes():
    alone, together = (
        bootstrap_score(Y, SCORE, metric=metric, average_over=TASK, n_resamples=99, random_state=0)
        for metric in (["neg_mean_squared_error"], ["roc_auc", "neg_mean_squared_error"])
    )
    assert list(together) == ["roc_auc", "neg_mean_squared_error"]
    name = "neg_mean_squared_error"
    assert alone[name] == together[name]


# ------------------------------------------------------------------ intervals


def test_the_variance_of_fixed_tasks_is_that_of_rows_within_them():
    # Exact: sum p (1 - p) / m / T^2. The standard error of 8000 resamples is off by 0.8% in one
    # standard deviation; 4% is five of them, a false alarm in less than one of a million seeds.
    result = bootstrap_score(Y, LABEL, average_over=TASK, n_resamples=8000, random_state=1)
    p = np.array([np.mean(Y[rows] == LABEL[rows]) for rows in ROWS])
    exact = np.sqrt(np.sum(p * (1 - p) / np.array(SIZES))) / len(SIZES)
    assert_allclose(result.standard_error, exact, rtol=0.04)


@pytest.mark.parametrize("grouped", [False, True], ids=["rows", "groups"])
def test_fixed_tasks_of_few_units_have_intervals_wider_by_sqrt_m_over_m_less_1(grouped):
    tasks = np.repeat(np.arange(12), 5)
    values = np.random.default_rng(0).normal(size=60)
    options = {}
    if grouped:
        tasks, values = np.repeat(tasks, 2), np.repeat(values, 2)
        options = {"groups": np.arange(120) // 2}
    result = bootstrap_score(
        None, values, metric="mean", average_over=tasks, interval="t", random_state=0, **options
    )
    low, high = result.confidence_interval
    expected = stats.t.ppf(0.975, 12 * 4) * np.sqrt(5 / 4) * result.standard_error
    assert_allclose((high - low) / 2, expected, rtol=1e-9)
    unit = "groups" if grouped else "rows"
    assert f"12 of 12 tasks have fewer than 10 {unit}" in " ".join(result.notes)


def test_each_task_is_widened_by_its_own_number_of_rows():
    # With equal variances the average has sum 1 / m, its resamples sum (m - 1) / m^2.
    sizes = np.array([3] * 6 + [60] * 6)
    tasks = np.repeat(np.arange(12), sizes)
    values = np.random.default_rng(0).normal(size=len(tasks))
    result = bootstrap_score(
        None, values, metric="mean", average_over=tasks, interval="t", random_state=0
    )
    variances = (sizes - 1) / sizes**2
    df = variances.sum() ** 2 / np.sum(variances**2 / (sizes - 1))
    widened = np.sqrt(np.sum(1 / sizes) / variances.sum())
    low, high = result.confidence_interval
    expected = stats.t.ppf(0.975, df) * widened * result.standard_error
    assert_allclose((high - low) / 2, expected, rtol=1e-9)
    assert "6 of 12 tasks have fewer than 10 rows" in " ".join(result.notes)


def test_limits_of_differences_and_p_values_use_the_same_widening():
    tasks = np.repeat(np.arange(12), 4)
    rng = np.random.default_rng(0)
    values = {name: rng.normal(size=48) for name in "abc"}
    options = {"metric": "mean", "average_over": tasks, "interval": "t", "random_state": 0}
    result = compare_systems(None, values, **options)
    for pair in result.pairs:
        t = pair.difference / (pair.standard_error * np.sqrt(4 / 3))
        assert_allclose(pair.p_value, 2 * stats.t.sf(abs(t), 36), rtol=1e-6)
        low, high = pair.confidence_interval
        half = stats.t.ppf(0.975, 36) * np.sqrt(4 / 3) * pair.standard_error
        assert_allclose((high - low) / 2, half, rtol=1e-9)
        low, high = pair.simultaneous_interval
        assert (high - low) / 2 > half


def test_fixed_tasks_have_the_expanded_interval_and_drawn_ones_that_of_student():
    fixed = bootstrap_score(Y, LABEL, average_over=TASK, random_state=0)
    drawn = bootstrap_score(Y, LABEL, average_over=TASK, groups=TASK, random_state=0)
    assert fixed.confidence_interval.method == "expanded"
    assert drawn.confidence_interval.method == "t"
    low, high = drawn.confidence_interval
    p = [np.mean(Y[rows] == LABEL[rows]) for rows in ROWS]
    # The bootstrap's standard error of a mean of 11 values is exact up to 1999 resamples: 1.6% in
    # one standard deviation, and 8% in five.
    exact = stats.t.ppf(0.975, len(p) - 1) * stats.sem(p)
    assert_allclose((high - low) / 2, exact, rtol=0.08)


def test_the_claim_says_whether_tasks_are_fixed_or_drawn():
    fixed = bootstrap_score(Y, LABEL, average_over=TASK, n_resamples=99)
    assert "Accuracy averaged over 11 tasks" in fixed.claim()
    assert "on new data from these tasks" in fixed.claim()
    assert fixed.held_fixed == (
        "the trained system",
        "the tasks",
        "the number of rows in each task",
    )
    drawn = bootstrap_score(Y, LABEL, average_over=TASK, groups=TASK, n_resamples=99)
    assert "on new tasks like these" in drawn.claim()
    assert "11 tasks resampled" in drawn.claim()
    assert drawn.held_fixed == ("the trained system",)
    across = bootstrap_score(Y, LABEL, average_over=TASK, groups=SPEAKER, n_resamples=99)
    assert "the tasks" in across.held_fixed
    assert across.unit == "group"


def test_fewer_than_ten_tasks_are_warned_of():
    kept = NUMBER < 9
    options = {"average_over": TASK[kept], "n_resamples": 99}
    with pytest.warns(UserWarning, match="Only 9 tasks .* does not hold for other tasks"):
        bootstrap_score(Y[kept], LABEL[kept], **options)
    with pytest.warns(UserWarning, match="Only 9 tasks were resampled"):
        bootstrap_score(Y[kept], LABEL[kept], groups=TASK[kept], **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bootstrap_score(Y, LABEL, average_over=TASK, n_resamples=99)


@pytest.mark.parametrize("groups", [None, TASK, PART, SPEAKER], ids=["", "drawn", "in", "across"])
def test_a_stored_result_answers_as_the_one_that_was_saved(tmp_path, groups):
    result = bootstrap_score(
        Y, LABEL, average_over=TASK, groups=groups, n_resamples=199, random_state=0
    )
    result.save(tmp_path / "result.npz")
    loaded = EvaluationResult.load(tmp_path / "result.npz")
    assert loaded == result
    assert loaded.interval("t", 0.9) == result.interval("t", 0.9)


def test_bca_leaves_out_one_row_of_a_task_at_a_time():
    result = bootstrap_score(
        None, VALUE, metric="mean", average_over=TASK, interval="bca", random_state=0
    )
    # Davison & Hinkley (1997), equation 5.29, on the empirical influence values of a mean of means.
    squares = cubes = 0.0
    for rows in ROWS:
        influence = (VALUE[rows] - VALUE[rows].mean()) / len(ROWS)
        squares += np.sum(influence**2) / len(rows) ** 2
        cubes += np.sum(influence**3) / len(rows) ** 3
    assert_allclose(result._evidence.acceleration, cubes / (6 * squares**1.5), rtol=1e-9)


# ------------------------------------------------------------------ the other functions


def test_a_difference_of_systems_is_that_of_their_averages_on_the_same_rows():
    other = 1 - LABEL
    result = compare_systems(
        Y, {"one": LABEL, "other": other}, average_over=TASK, n_resamples=300, random_state=0
    )
    [pair] = result.pairs
    one, two = (average(sk.accuracy_score, Y, each, np.arange(N)) for each in (LABEL, other))
    assert_allclose(pair.difference, one - two)
    sums = [
        result.systems[name].bootstrap_distribution for name in ("one", "other")
    ]  # right by one is wrong by the other
    assert_allclose(sums[0] + sums[1], 1.0)
    assert "averaged over 11 tasks" in result.claim()


def test_a_release_gate_judges_the_average_over_tasks():
    options = {"average_over": TASK, "n_resamples": 300, "random_state": 0}
    verdict = assert_not_worse(Y, LABEL, 1 - LABEL, margin=0.0, **options)
    [pair] = compare_systems(Y, {"one": LABEL, "other": 1 - LABEL}, adjust=None, **options).pairs
    assert verdict.smallest_margin == pair.verdict().smallest_margin
    with pytest.raises(AssertionError, match="fail"):
        assert_not_worse(Y, 1 - LABEL, LABEL, margin=0.05, **options)


def on_own_rows(tasks_of_other=TASK):
    """Two systems on test sets of their own, and the task of each row."""
    rng = np.random.default_rng(0)
    half = rng.permutation(len(Y))[: len(Y) * 2 // 3]
    truth = {"one": Y, "other": Y[half]}
    return truth, {"one": LABEL, "other": LABEL[half]}, {"one": TASK, "other": tasks_of_other[half]}


@pytest.mark.parametrize("kind", ["fixed", "drawn"])
def test_averages_over_tasks_of_test_sets_of_their_own_vary_independently(kind):
    truth, systems, tasks = on_own_rows()
    groups = tasks if kind == "drawn" else None
    options = {"n_resamples": 9999, "random_state": 0}
    result = compare_systems(
        truth, systems, average_over=tasks, groups=groups, paired=False, **options
    )
    alone = [
        bootstrap_score(
            truth[name],
            systems[name],
            average_over=tasks[name],
            groups=groups and groups[name],
            **options,
        )
        for name in systems
    ]
    [pair] = result.pairs
    assert_allclose(pair.difference, alone[0].estimate - alone[1].estimate)
    # Two standard deviations of 9999 draws differ by 1%; five of them.
    assert_allclose(pair.standard_error, np.hypot(*(r.standard_error for r in alone)), rtol=0.05)
    assert "averaged over 11 tasks" in result.summary()
    assert any("tasks" in text for text in result.held_fixed) == (kind == "fixed")


def test_the_bias_of_a_metric_within_small_tasks_is_taken_out():
    rng = np.random.default_rng(0)
    tasks, y = np.repeat(np.arange(30), 30), np.tile([0, 1], 450)
    said = (rng.normal(size=900) + 1.6 * (y - 0.5) > 0).astype(int)
    f1 = bootstrap_score(y, said, metric="f1_macro", average_over=tasks, random_state=0)
    replicates = f1.bootstrap_distribution
    bias = replicates.mean() - f1.estimate
    # Below the half standard error from which BCa is replaced.
    assert -0.5 < bias / replicates.std() < -0.1
    assert f1.confidence_interval.method == "bias-corrected"
    assert_allclose(np.mean(f1.confidence_interval), f1.estimate - bias)
    # The mean of right and wrong has no bias.
    accuracy = bootstrap_score(y, said, average_over=tasks, random_state=0)
    assert accuracy.confidence_interval.method == "expanded"


def test_metrics_drawn_within_classes_and_others_share_a_comparison_of_own_test_sets():
    truth, _, tasks = on_own_rows()
    rng = np.random.default_rng(1)
    scores = {name: y + rng.normal(size=len(y)) for name, y in truth.items()}
    metric = ["roc_auc", "average_precision"]
    options = {"average_over": tasks, "paired": False, "n_resamples": 499, "random_state": 0}
    table = compare_systems(truth, scores, metric=metric, **options)
    assert list(table) == metric
    [pair] = table["roc_auc"].pairs
    by_task = [
        np.mean([sk.roc_auc_score(y[t == k], s[t == k]) for k in np.unique(t)])
        for y, s, t in ((truth[name], scores[name], tasks[name]) for name in truth)
    ]
    assert_allclose(pair.difference, by_task[0] - by_task[1])


def test_fixed_tasks_of_test_sets_of_their_own_are_the_same_and_drawn_ones_need_not_be():
    others = np.where(TASK == "task 04", "task 99", TASK)
    truth, systems, tasks = on_own_rows(others)
    options = {"average_over": tasks, "paired": False, "n_resamples": 499, "random_state": 0}
    with pytest.raises(ValueError, match=r"lack: task 04, task 99.*groups=<the tasks>"):
        compare_systems(truth, systems, **options)
    drawn = compare_systems(truth, systems, groups=tasks, **options)
    assert "new tasks" in drawn.summary()
    kept = others[others != "task 99"], others != "task 99"
    truth["other"], systems["other"], tasks["other"] = Y[kept[1]], LABEL[kept[1]], kept[0]
    fewer = compare_systems(truth, systems, groups=tasks, **options)
    assert "averaged over 11 and 10 tasks" in fewer.summary()


def test_tasks_of_test_sets_of_their_own_are_given_by_system():
    truth, systems, _ = on_own_rows()
    with pytest.raises(ValueError, match=r"average_over.*dict with the names of y_preds"):
        compare_systems(truth, systems, paired=False, average_over=TASK)


@pytest.mark.parametrize("groups", [None, TASK], ids=["fixed", "drawn"])
def test_runs_are_averaged_over_tasks(groups):
    rng = np.random.default_rng(0)
    runs = {
        name: [Y ^ (rng.random(N) < rate) for _ in range(10)]
        for name, rate in [("A", 0.1), ("B", 0.3)]
    }
    options = {"average_over": TASK, "groups": groups, "n_resamples": 200, "random_state": 0}
    result = bootstrap_runs(Y, runs["A"], metric="accuracy", **options)
    scores = {
        name: [average(sk.accuracy_score, Y, run, np.arange(N)) for run in own]
        for name, own in runs.items()
    }
    assert_allclose(result.runs["score"], scores["A"])
    assert_allclose(result.estimate, np.mean(scores["A"]))
    assert result.settings["average_over"] == 11
    [pair] = compare_runs(Y, runs, metric="accuracy", **options).pairs
    assert_allclose(pair.difference, np.mean(scores["A"]) - np.mean(scores["B"]))


def test_subgroups_are_averaged_over_the_same_tasks():
    by, tasks = np.where(np.arange(N) % 2, "odd", "even"), np.arange(N) // 2 % 10
    table = bootstrap_score(Y, LABEL, average_over=tasks, by=by, n_resamples=99, random_state=0)
    for name in ("odd", "even"):
        own = [(by == name) & (tasks == task) for task in range(10)]
        expected = np.mean([np.mean(Y[rows] == LABEL[rows]) for rows in own])
        assert_allclose(table[name].estimate, expected)
    assert_allclose(table["gap"].estimate, abs(table["odd"].estimate - table["even"].estimate))


# ------------------------------------------------------------------ refusals


def refused(match, **options):
    with pytest.raises(ValueError, match=match):
        bootstrap_score(options.pop("y", Y), options.pop("pred", LABEL), **options)


def test_tasks_of_one_row_are_refused_with_the_way_out():
    tasks = TASK.copy()
    tasks[0] = "alone"
    refused("one row in the task 'alone'.*groups=<the tasks>", average_over=tasks)
    drawn = bootstrap_score(Y, LABEL, average_over=tasks, groups=tasks, n_resamples=99)
    assert drawn.n_units == 12


def test_tasks_of_one_group_are_refused_unless_all_tasks_are_groups():
    groups = np.where(NUMBER == 4, 99, PART)
    refused("one group in the task 'task 04'.*groups=<the tasks>", average_over=TASK, groups=groups)


def test_an_undefined_task_is_named():
    pure = np.where(NUMBER == 4, 1, Y)
    for groups in (None, TASK):
        refused(
            "the task 'task 04', where it is not",
            y=pure,
            pred=SCORE,
            metric="roc_auc",
            average_over=TASK,
            groups=groups,
        )


def test_a_task_that_is_undefined_on_more_than_one_percent_of_the_resamples_is_named():
    rare = np.where(NUMBER == 4, 0, Y)
    rare[ROWS[4][:2]] = 1
    refused(
        r"(?s)at least 99% of the resamples.*'task 04'",
        y=rare,
        pred=SCORE,
        metric="roc_auc",
        average_over=TASK,
        groups=np.arange(N) // 3,
        n_resamples=400,
        random_state=0,
    )


@pytest.mark.parametrize(
    ("tasks", "match"),
    [
        (TASK[:-1], "lengths differ|have the same length|rows"),
        (np.zeros(N), "at least two tasks"),
        (np.column_stack((TASK, TASK)), "shape"),
    ],
)
def test_tasks_are_one_column_of_at_least_two(tasks, match):
    refused(match, average_over=tasks)


def test_crossed_groups_are_refused():
    refused("crossed groups", average_over=TASK, groups=np.column_stack((SPEAKER, PART)))


def test_subgroups_that_lack_a_task_are_refused():
    by = np.where(NUMBER == 4, "odd", np.where(np.arange(N) % 2, "odd", "even"))
    refused(re.escape("subgroup 'even' without the task 'task 04'"), average_over=TASK, by=by)


def test_missing_tasks_are_refused():
    tasks = TASK.astype(object)
    tasks[3] = None
    refused("average_over", average_over=tasks)


@pytest.mark.parametrize(
    "metric",
    ["accuracy", "balanced_accuracy", "f1", "matthews_corrcoef", "roc_auc", "average_precision"],
)
def test_few_rows_of_each_class_show_whether_a_metric_needs_all(metric, monkeypatch):
    rng = np.random.default_rng(0)
    y, tasks = rng.integers(0, 2, 600), np.arange(600) % 12
    needs_scores = metric in ("roc_auc", "average_precision")
    y_pred = y + rng.normal(size=600)
    y_pred = y_pred if needs_scores else (y_pred > 0.5).astype(int)

    options = {"metric": metric, "average_over": tasks, "n_resamples": 99, "random_state": 0}
    within = set()
    for n_rows in (5, 1000):
        monkeypatch.setattr(tasks_module, "_ROWS_OF_CLASS", n_rows)
        within.add(bootstrap_score(y, y_pred, **options).held_fixed)
    assert len(within) == 1
    assert ("class of each task" in str(within)) == needs_scores


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_remark_on_tasks_is_no_reason_for_a_gap_that_is_undefined(tmp_path):
    subgroup = np.where(np.arange(80) < 72, "many", "few")
    task, y, guess = np.arange(80) % 4, Y[:80], LABEL[:80]
    options = {"by": subgroup, "n_resamples": 99, "random_state": 0}
    drawn = {"average_over": task, "groups": task}
    gap = bootstrap_score(y, guess, **drawn, **options)["gap"]
    assert np.isnan(gap.estimate)
    gap.save(tmp_path / "gap.npz")
    remark = "Only 4 tasks were resampled (fewer than 10): expect less coverage than stated."
    why = "fewer than two are left. Left out for fewer than 10 rows of a class: few"
    for result in (gap, EvaluationResult.load(tmp_path / "gap.npz")):
        assert result == gap
        assert remark in result.notes
        assert why in result.claim()
        assert "tasks were resampled" not in result.claim()
        summary = " ".join(result.summary().split())
        assert (
            summary.count("tasks were resampled") == summary.count("fewer than two are left") == 1
        )
        assert f"note {remark}" in summary


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_positive_class_is_no_reason_for_a_rate_that_is_undefined():
    words = np.array(["no", "yes"])
    result = bootstrap_score(
        words[Y[:60]], np.repeat("no", 60), metric="ppv", n_resamples=99, random_state=0
    )
    assert np.isnan(result.estimate)
    assert "The positive class is 'yes'" in " ".join(result.notes)
    assert "positive class" not in result.claim()
    assert "note The positive class is 'yes'" in " ".join(result.summary().split())
