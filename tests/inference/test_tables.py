"""Tables drawn with a part of a row in each cell: against Beta distributions, and identities."""

from datetime import date, timedelta

import numpy as np
import pytest
from scipy import stats

from skboot import bootstrap_score, compare_systems
from skboot.inference.tables import AMOUNTS, ConfusionTable

COUNTS = np.array([11, 3, 2, 34])


def columns(counts):
    order = np.random.default_rng(0).permutation(np.sum(counts))
    return tuple(np.repeat(labels, counts)[order] for labels in ((1, 1, 0, 0), (1, 0, 1, 0)))


def limits_of_beta(rows, cells, level=0.95):
    """Limits of a share of rows of two kinds, each of so many cells."""
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    found = np.array(
        [
            stats.beta.ppf(tails, *(n + k * a for n, k in zip(rows, cells, strict=True)))
            for a in AMOUNTS
        ]
    )
    return found[:, 0].min(), found[:, 1].max()


@pytest.mark.parametrize(
    ("metric", "rows", "cells"),
    [
        ("recall", (11, 3), (1, 1)),
        ("precision", (11, 2), (1, 1)),
        ("specificity", (34, 2), (1, 1)),
        ("jaccard", (11, 5), (1, 2)),
        ("accuracy", (45, 5), (2, 2)),
    ],
)
def test_shares_of_cells_have_the_limits_of_beta_distributions(metric, rows, cells):
    found = bootstrap_score(
        *columns(COUNTS), metric=metric, interval="smoothed", n_resamples=39_999, random_state=0
    )
    expected = limits_of_beta(rows, cells)
    np.testing.assert_allclose(tuple(found.confidence_interval), expected, atol=0.006)


def test_few_errors_have_the_limits_that_tables_tend_to():
    found = bootstrap_score(*columns(COUNTS), random_state=0, n_resamples=2)
    assert found.confidence_interval.method == "beta"
    np.testing.assert_allclose(tuple(found.confidence_interval), limits_of_beta((45, 5), (2, 2)))
    many = bootstrap_score(*columns(10 * COUNTS), random_state=0, n_resamples=2)
    assert many.confidence_interval.method == "wilson"


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_accuracy_has_the_same_limits_of_any_number_of_classes(n_classes):
    y_true = np.arange(60) % n_classes
    y_pred = np.where(np.arange(60) < 54, y_true, (y_true + 1) % n_classes)
    found = bootstrap_score(y_true, y_pred, interval="smoothed", n_resamples=39_999, random_state=1)
    expected = limits_of_beta((54, 6), (2, 2))
    np.testing.assert_allclose(tuple(found.confidence_interval), expected, atol=0.006)


def test_the_first_of_many_tables_are_those_of_few_and_no_worker_changes_them():
    options = {"metric": "matthews_corrcoef", "random_state": 3}
    few = bootstrap_score(*columns(COUNTS), n_resamples=100, **options)
    many = bootstrap_score(*columns(COUNTS), n_resamples=250, n_jobs=2, **options)
    np.testing.assert_array_equal(few._evidence.smoothed, many._evidence.smoothed[:, :100])


def test_strata_keep_their_shares_and_the_variance_of_their_rows_less_one():
    rng = np.random.default_rng(0)
    strata = np.repeat(np.arange(30), 4)
    y_true = np.repeat([0, 1], 60)
    y_pred = np.where(rng.random(120) < 0.75, y_true, 1 - y_true)
    table = ConfusionTable.of(y_true, [y_pred], None, strata)
    masses = table.draw_masses(4000, np.random.SeedSequence(0))
    assert masses.shape == (2, 4000, 1, 4)
    np.testing.assert_allclose(masses.sum(axis=3), 120)
    right = masses[0][:, 0, [0, 3]].sum(axis=1) / 120
    hits = np.bincount(strata, y_true == y_pred) / 4
    expected = np.sum(hits * (1 - hits) / 3) / 30**2
    assert right.var() == pytest.approx(expected, rel=0.15)


METRICS = ["accuracy", "f1", "recall", "precision", "jaccard", "specificity", "npv"]
METRICS += ["balanced_accuracy", "f1_macro", "f1_weighted", "precision_macro"]
METRICS += ["matthews_corrcoef", "cohen_kappa"]


@pytest.mark.parametrize("metric", METRICS)
def test_perfect_scores_have_limits_and_are_among_them(metric):
    rows = columns([12, 0, 0, 30])
    for options in ({}, {"sample_weight": np.linspace(1, 2, 42)}, {"strata": rows[0]}):
        found = bootstrap_score(*rows, metric=metric, random_state=0, n_resamples=499, **options)
        low, high = found.confidence_interval
        assert high == pytest.approx(1, abs=1e-12)
        assert 0.6 < low < 0.97


@pytest.mark.parametrize("metric", ["f1", "recall", "matthews_corrcoef", "balanced_accuracy"])
def test_few_rows_that_differ_do_not_tell_systems_apart(metric):
    y_true, first = columns(COUNTS)
    second = first.copy()
    second[np.flatnonzero((y_true == 1) & (first == 1))[:3]] = 0
    forth, back = (
        compare_systems(y_true, systems, metric=metric, random_state=0).pairs[0]
        for systems in ({"a": first, "b": second}, {"b": second, "a": first})
    )
    low, high = forth.confidence_interval
    assert forth.confidence_interval.method == "smoothed"
    # Three rows of one kind: the sign test has .25.
    assert low < 0 < high
    assert forth.p_value > 0.05
    assert tuple(back.confidence_interval) == (-high, -low)


@pytest.mark.parametrize(
    "label",
    [b"a", "a", True, 1e17, 2**63 - 1, 2**64 - 1, date(2020, 1, 1), timedelta(1)],
    ids=lambda label: repr(label)[:20],
)
def test_rows_of_one_label_have_the_same_limits_whatever_its_type(label):
    found, expected = (
        bootstrap_score([k] * 8, [k] * 8, metric="f1_macro", n_resamples=99, random_state=0)
        for k in (label, 0)
    )
    # Another label that is the smaller one comes first in the draws.
    limits = (tuple(one.confidence_interval) for one in (found, expected))
    np.testing.assert_allclose(*limits, atol=0.02)


@pytest.mark.filterwarnings("ignore:bootstrap_score")
def test_strata_without_a_row_of_a_subgroup_do_not_change_its_limits():
    y_true, y_pred = columns((11, 3, 2, 8))
    strata = np.arange(24) // 6
    options = {"metric": "f1_macro", "interval": "smoothed", "n_resamples": 99, "random_state": 0}
    parts = bootstrap_score(y_true, y_pred, strata=strata, by=strata // 2, **options)
    for part in (0, 1):
        rows = strata // 2 == part
        alone = bootstrap_score(y_true[rows], y_pred[rows], strata=strata[rows], **options)
        assert parts[part].confidence_interval == alone.confidence_interval


@pytest.mark.filterwarnings("ignore:bootstrap_score")
def test_subgroups_of_rows_of_whole_groups_in_strata_have_scores():
    half, third, group = np.arange(24) % 2, np.arange(24) // 3 % 2, np.arange(24) // 4
    options = {"groups": group, "strata": group % 2, "by": half, "n_resamples": 19}
    parts = bootstrap_score(third, half, metric="accuracy", random_state=0, **options)
    assert parts[1].estimate == np.mean(third[half == 1])


@pytest.mark.parametrize("rate", [0.8, 0.9, 0.95])
def test_few_heavy_rows_leave_a_share_its_coverage(rate):
    """Recall of four rows of weight 10 and 36 of weight 1: all outcomes, by their chances."""
    weight = np.append(np.repeat([10.0, 1.0], [4, 36]), np.ones(6))
    y_true, covered = np.repeat([1, 0], [40, 6]), 0.0
    for heavy in range(5):
        for light in range(37):
            chance = stats.binom.pmf(heavy, 4, 1 - rate) * stats.binom.pmf(light, 36, 1 - rate)
            if chance < 1e-4:
                continue
            y_pred = y_true.copy()
            y_pred[:heavy] = y_pred[4 : 4 + light] = 0
            found = bootstrap_score(
                y_true, y_pred, metric="recall", sample_weight=weight, n_resamples=499,
                random_state=0,
            ).confidence_interval  # fmt: skip
            covered += chance * (found.low <= rate <= found.high)
    assert covered > 0.93


def test_rows_of_a_class_that_weigh_alike_are_worth_as_many_as_they_are():
    y_true, y_pred = columns(COUNTS)
    table = ConfusionTable.of(y_true, [y_pred], np.where(y_true == 1, 7.0, 0.5))
    np.testing.assert_allclose(table.rows, ConfusionTable.of(y_true, [y_pred]).rows)


# ------------------------------------------------------------------ tasks


def tasks_of(rng, sizes, rate):
    task = np.repeat(np.arange(len(sizes)), sizes)
    y_true = np.concatenate([np.arange(n) % 2 for n in sizes])
    return task, y_true, np.where(rng.random(len(task)) < rate, y_true, 1 - y_true)


def test_tasks_of_one_size_have_about_the_limits_of_strata():
    """The mean over tasks is then that over rows, drawn within tasks."""
    rng = np.random.default_rng(0)
    for rate in (0.8, 0.9, 1.0):
        task, y_true, y_pred = tasks_of(rng, [6] * 10, rate)
        options = {"n_resamples": 9999, "random_state": 0, "interval": "smoothed"}
        tasks = bootstrap_score(y_true, y_pred, average_over=task, **options)
        strata = bootstrap_score(y_true, y_pred, strata=task, **options)
        assert tasks.estimate == pytest.approx(strata.estimate)
        np.testing.assert_allclose(
            tuple(tasks.confidence_interval), tuple(strata.confidence_interval), atol=0.004
        )


def test_a_share_of_right_rows_has_the_same_limits_however_answers_are_written():
    rng = np.random.default_rng(1)
    task, y_true, y_pred = tasks_of(rng, [2, 3, 8, 5, 9] * 2, 0.9)
    right = (y_true == y_pred).astype(float)
    texts = np.array([f"answer {k}" for k in range(len(task))])
    answers = np.where(right == 1, texts, "none")
    options = {"average_over": task, "n_resamples": 9999, "random_state": 0}
    limits = [
        tuple(bootstrap_score(*columns, metric=metric, **options).confidence_interval)
        for columns, metric in (
            ((None, right), "mean"),
            ((y_true, y_pred), "accuracy"),
            ((texts, answers), "accuracy"),
        )
    ]
    loss = bootstrap_score(y_true, y_pred, metric="zero_one_loss", **options)
    assert loss.confidence_interval.method == "smoothed"
    np.testing.assert_allclose(limits, [limits[0]] * 3, rtol=1e-12)
    low, high = loss.confidence_interval
    np.testing.assert_allclose((1 - high, 1 - low), limits[0], atol=0.01)


@pytest.mark.parametrize(
    ("sizes", "rate", "least"),
    [([2] * 10, 0.97, 0.95), ([5] * 12, 0.97, 0.93), ([2, 9] * 5, 0.9, 0.93)],
)
def test_averages_over_tasks_of_few_rows_cover_what_they_state(sizes, rate, least):
    rng, n_held = np.random.default_rng(2), 0
    for k in range(120):
        task, y_true, y_pred = tasks_of(rng, sizes, rate)
        low, high = bootstrap_score(
            y_true, y_pred, average_over=task, n_resamples=299, random_state=k
        ).confidence_interval
        n_held += low <= rate <= high
    assert n_held / 120 >= least


def test_perfect_tasks_have_limits_and_so_has_the_difference_of_two_systems():
    task, y_true, y_pred = tasks_of(np.random.default_rng(3), [4] * 12, 1.0)
    result = bootstrap_score(y_true, y_pred, average_over=task, random_state=0)
    assert result.confidence_interval.low < 0.99
    assert result.confidence_interval.high == result.estimate == 1.0
    one_wrong = y_pred.copy()
    one_wrong[0] = 1 - one_wrong[0]
    pair = compare_systems(
        y_true, {"A": y_pred, "B": one_wrong}, average_over=task, random_state=0
    ).pairs[0]
    assert pair.confidence_interval.method == "smoothed"
    assert pair.confidence_interval.low < 0 < pair.confidence_interval.high


@pytest.mark.parametrize("metric", ["balanced_accuracy", "f1_macro"])
def test_perfect_tasks_say_so_where_the_metric_is_no_share_of_rows(metric):
    """Such metrics are biased within small tasks: tables drawn around the data are as well."""
    task, y_true, y_pred = tasks_of(np.random.default_rng(3), [4] * 12, 1.0)
    with pytest.warns(UserWarning, match="None of the 48 rows moves this score"):
        result = bootstrap_score(y_true, y_pred, metric=metric, average_over=task, random_state=0)
    assert result.confidence_interval.method == "expanded"


@pytest.mark.parametrize("value", [0.1, 1 / 3, 7.0])
def test_equal_values_in_all_tasks_say_that_nothing_moves_though_means_round(value):
    task = np.repeat(np.arange(11), 3)
    with pytest.warns(UserWarning, match="None of the 33 rows moves this score"):
        bootstrap_score(None, np.full(33, value), metric="mean", average_over=task, random_state=0)
