"""A metric on the rows left out of a run, and the influence of each unit on it."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, r2_score, roc_auc_score

from skboot.metrics.lookup import resolve_metrics
from skboot.refit.run_metrics import ErrorFunction, replicate


def error_function(metric, classes=None):
    statistics, _ = resolve_metrics(metric, labels=classes)
    return ErrorFunction(next(iter(statistics.values())), -1.0, classes)


def by_hand(metric, y, given, units):
    value = metric(y, given)
    names = np.unique(units)
    left = [metric(y[units != u], given[units != u]) for u in names]
    return -value, -(len(names) - 1) * (value - np.array(left))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    ("name", "metric"),
    [("average_precision", average_precision_score), ("f1", f1_score), ("roc_auc", roc_auc_score)],
)
def test_influence_is_the_jackknife_of_scikit_learns_metric(name, metric, grouped):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    given = np.round(rng.normal(size=60) + y, 1)
    given = (given > 0.5).astype(int) if name == "f1" else given
    units = np.repeat(np.arange(15), 4) if grouped else None
    error, influence = replicate(error_function(name, np.array([0, 1])), y, given, units, 0)
    expected = by_hand(metric, y, given, np.arange(60) if units is None else units)
    assert error == pytest.approx(expected[0], abs=1e-12)
    # The placement values of the AUC are its derivative, not its difference.
    exact = dict(atol=1e-10) if grouped or name != "roc_auc" else dict(atol=0.2)
    np.testing.assert_allclose(influence, expected[1], **exact)


@pytest.mark.parametrize("rounded", [None, 1, 0])
@pytest.mark.parametrize("n_positives", [0, 1, 2, 40, 80])
@pytest.mark.parametrize("name", ["average_precision", "roc_auc"])
def test_values_by_one_sort_are_those_of_blocks(monkeypatch, name, n_positives, rounded):
    rng = np.random.default_rng(n_positives)
    y = rng.permutation(np.arange(80) < n_positives).astype(int)
    given = rng.normal(size=80) + y
    given = given if rounded is None else np.round(given, rounded)
    function = error_function(name, np.array([0, 1]))
    value, (by_sort, influence) = function(y, given), replicate(function, y, given, None, 0)
    monkeypatch.setattr(type(function.statistic), "value_on_rows", lambda *_: None)
    np.testing.assert_array_equal(value, function(y, given))
    if name == "average_precision":
        np.testing.assert_array_equal(by_sort, value)
        without = function.without_each(y, given, np.arange(80))
        expected = 79 * (value - without) if np.isfinite(value) else np.full(80, np.nan)
        np.testing.assert_allclose(influence, expected, rtol=1e-10, atol=1e-11)


def test_functions_that_must_be_called_are_called_for_some_rows_only():
    rng = np.random.default_rng(0)
    y, given = rng.normal(size=(2, 500))
    calls = []

    def metric(a, b):
        calls.append(len(a))
        return r2_score(a, b)

    error, influence = replicate(error_function(metric), y, given, None, 3)
    assert error == pytest.approx(-r2_score(y, given))
    assert len(calls) == 65
    assert np.isfinite(influence).sum() == 64
