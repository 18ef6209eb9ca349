"""Resamples that are given as lists of rows, of equal and unequal lengths, by scikit-learn.

A replicate is the metric on the rows of its resample, repeated ones included, whatever their
number; a list of as many rows as there are is the array of these.
"""

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    median_absolute_error,
    r2_score,
    roc_auc_score,
)

from skboot import bootstrap_score

pytestmark = pytest.mark.identity

N = 80
SEEDS = range(3)


def data(seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, N)
    score = label + rng.normal(size=N)
    return rng, label, score, (score > 0.5).astype(int)


METRICS = {
    "accuracy": (accuracy_score, 1),
    "f1": (f1_score, 1),
    "roc_auc": (roc_auc_score, 0),
    "average_precision": (average_precision_score, 0),
    "r2": (r2_score, 0),
    "callable": (median_absolute_error, 0),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_replicate_is_the_metric_on_its_rows(seed, metric):
    rng, label, *answers = data(seed)
    function, which = METRICS[metric]
    given = answers[which]
    rows = [rng.integers(0, N, size) for size in rng.integers(20, 3 * N, size=30)]
    found = bootstrap_score(
        label,
        given,
        metric=function if metric == "callable" else metric,
        resamples=rows,
        interval="percentile",
    )
    expected = [function(label[own], given[own]) for own in rows]
    np.testing.assert_allclose(found.bootstrap_distribution, expected, rtol=1e-12, atol=1e-12)
    assert found.settings["n_resamples"] == 30


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", SEEDS)
def test_lists_of_rows_are_the_array_of_them(seed):
    rng, label, score, _ = data(seed)
    rows = rng.integers(0, N, size=(40, N))
    by_array, by_list = (
        bootstrap_score(label, score, metric="roc_auc", resamples=given)
        for given in (rows, list(rows))
    )
    np.testing.assert_array_equal(by_array.bootstrap_distribution, by_list.bootstrap_distribution)
    assert by_array.confidence_interval == by_list.confidence_interval
    # As many rows of each as the half of all.
    halves = [own[: N // 2] for own in rows]
    found = bootstrap_score(label, score, metric="roc_auc", resamples=halves)
    expected = [roc_auc_score(label[own], score[own]) for own in halves]
    np.testing.assert_allclose(found.bootstrap_distribution, expected, rtol=1e-12)


def test_whole_groups_of_lists_are_units():
    _, label, _, predicted = data(0)
    groups = np.arange(N) // 4
    rng = np.random.default_rng(1)
    drawn = [rng.integers(0, N // 4, size) for size in rng.integers(10, 30, size=50)]
    rows = [np.concatenate([np.flatnonzero(groups == own) for own in one]) for one in drawn]
    found = bootstrap_score(label, predicted, groups=groups, resamples=rows)
    expected = [accuracy_score(label[own], predicted[own]) for own in rows]
    np.testing.assert_allclose(found.bootstrap_distribution, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([np.array([0, 1]), np.array([1, 99, 2])], "be row indices from 0 to 79"),
        ([np.array([0, 1]), np.array([], int)], r"'resamples\[1\]' .* one or more"),
        ([[0, 1], [0.5, 1, 2]], r"'resamples\[1\]' .* integer row indices"),
        ([[0, 1], [2, 3]], "or a list of arrays of them"),
        ([np.arange(N)], "2 or more"),
    ],
)
def test_other_lists_are_refused(rows, message):
    _, label, _, predicted = data(0)
    with pytest.raises(ValueError, match=message):
        bootstrap_score(label, predicted, resamples=rows)
