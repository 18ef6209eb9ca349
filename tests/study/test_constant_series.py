"""Runs on the whole training list carry the score, and series that do not vary carry no error.

Exact, but for test rows that come several times: within Monte Carlo error.
"""

import numpy as np
import pytest
from identity_cases import any_seed, close, quiet, same_interval
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import skboot

pytestmark = pytest.mark.identity

N = 60
OPTIONS = {"n_resamples": 99, "random_state": 0}


def runs_of(rng, y, n, share=0.25):
    return [np.where(rng.random(N) < share, 1 - y, y) for _ in range(n)]


# ------------------------------------------------------------------ runs on the whole list


@pytest.mark.parametrize(
    "metric", ["accuracy", "f1", "mean_squared_error", "neg_mean_absolute_error"]
)
@pytest.mark.parametrize("units", ["rows", "groups"])
@any_seed
def test_the_distribution_is_that_of_the_runs_on_the_whole_list(metric, units, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    first, second, full = (runs_of(rng, y, n) for n in (4, 4, 2))
    options = {"metric": metric, "groups": np.arange(N) // 3 if units == "groups" else None}
    options |= {"full_runs": full, "varied": "training", **OPTIONS}
    one, other = (quiet(skboot.bootstrap_runs, y, runs, **options) for runs in (first, second))
    close(one.estimate, other.estimate)
    alone = quiet(
        skboot.bootstrap_runs, y, full, **{**options, "varied": "seed", "full_runs": None}
    )
    close(one.estimate, alone.estimate)
    if units == "groups":  # rows that take few values are drawn run by run
        close(one.bootstrap_distribution, other.bootstrap_distribution)
        close(one.bootstrap_distribution, alone.bootstrap_distribution)
    close(one.bootstrap_distribution.mean(), one.estimate, 0.05, 0.02)


@pytest.mark.parametrize("adjust", [None, "holm"])
@any_seed
def test_welchs_test_is_that_of_the_runs_that_carry_the_score(adjust, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    full = {"A": runs_of(rng, y, 4, 0.1), "B": runs_of(rng, y, 5, 0.3)}
    runs = {"A": runs_of(rng, y, 6, 0.4), "B": runs_of(rng, y, 3, 0.2)}
    options = {"metric": "accuracy", "interval": "welch", "adjust": adjust, **OPTIONS}
    one = quiet(skboot.compare_runs, y, runs, full_runs=full, varied="training", **options)
    other = quiet(skboot.compare_runs, y, full, varied="seed", **options)
    first, second = one.pairs[0], other.pairs[0]
    close(
        [first.difference, first.standard_error, first.p_value],
        [second.difference, second.standard_error, second.p_value],
    )
    same_interval(first.confidence_interval, second.confidence_interval)


# ------------------------------------------------------------------ test rows of methods


@any_seed
def test_test_rows_with_their_copies_as_groups_vary_as_the_rows_alone(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    y = (X[:, 0] + rng.normal(size=N) > 0).astype(int)
    X_test = rng.normal(size=(40, 3))
    y_test = (X_test[:, 0] + rng.normal(size=40) > 0).astype(int)
    at = np.repeat(np.arange(40), 5)
    few = {"n_train_resamples": 10, "n_test_resamples": 999, "random_state": 0}
    alone = {"X_test": X_test, "y_test": y_test}
    copies = {"X_test": X_test[at], "y_test": y_test[at], "groups_test": at}
    methods = {"A": GaussianNB(), "B": DecisionTreeClassifier(max_depth=2, random_state=0)}
    pairs = [
        quiet(skboot.compare_methods, methods, X, y, **few, **test).pairs[0]
        for test in (alone, copies)
    ]
    close(pairs[0].difference, pairs[1].difference)
    # Of methods that learn nothing the test rows alone vary.
    methods = {str(k): DummyClassifier(strategy="constant", constant=k) for k in (0, 1)}
    pairs = [
        quiet(skboot.compare_methods, methods, X, y, **few, **test).pairs[0]
        for test in (alone, copies)
    ]
    close(pairs[0].difference, pairs[1].difference)
    assert 0.85 < pairs[1].standard_error / pairs[0].standard_error < 1.2
    scorers = [
        quiet(skboot.BootstrapScorer(GaussianNB(), **few).fit, X, y, **test).result_
        for test in (alone, copies)
    ]
    close(scorers[0].estimate, scorers[1].estimate)
    parts = [scorer.variance_components["test"] for scorer in scorers]
    assert 0.75 < parts[1] / parts[0] < 1.35


# ------------------------------------------------------------------ series


@pytest.mark.parametrize("n_series", [2, 3, 5])
@pytest.mark.parametrize("interleaved", [False, True])
@any_seed
def test_series_that_do_not_vary_have_no_error_however_they_differ(n_series, interleaved, seed):
    rng = np.random.default_rng(seed)
    size = 30
    series = np.repeat(np.arange(n_series), size)
    if interleaved:
        series = np.tile(np.arange(n_series), size)
    values = rng.permutation(10.0 ** np.arange(n_series))[series]
    options = {"metric": "mean", "strata": series, "block_length": 4, **OPTIONS}
    result = quiet(skboot.bootstrap_score, None, values, interval="studentized", **options)
    close(result.bootstrap_distribution, result.estimate)
    close(result._evidence.standard_error, 0.0, atol=1e-9)
    close(result._evidence.replicate_standard_errors, 0.0, atol=1e-9)
    if result._evidence.group_influence is not None:
        close(result._evidence.group_influence, 0.0, atol=1e-9)


@pytest.mark.parametrize("n_series", [2, 3])
@any_seed
def test_what_a_series_is_about_changes_neither_errors_nor_notes(n_series, seed):
    """Deviations decide: a shift of one series moves the mean alone."""
    rng = np.random.default_rng(seed)
    series = np.repeat(np.arange(n_series), 40)
    values = rng.normal(size=40 * n_series)
    options = {"metric": "mean", "strata": series, "block_length": 3, **OPTIONS}
    results = [
        quiet(skboot.bootstrap_score, None, values + shift * (series == 0), **options)
        for shift in (0.0, 64.0)
    ]
    one, other = results
    moved = 64.0 * 40 / len(values)
    close(other.estimate, one.estimate + moved)
    close(other.bootstrap_distribution, one.bootstrap_distribution + moved, 1e-9)
    close(other._evidence.standard_error, one._evidence.standard_error, 1e-7)
    close(other._evidence.replicate_standard_errors, one._evidence.replicate_standard_errors, 1e-6)
    close([*other.confidence_interval], [x + moved for x in one.confidence_interval], 1e-7)
    assert other.notes == one.notes
