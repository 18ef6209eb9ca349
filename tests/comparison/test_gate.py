"""`assert_not_worse`: passes, fails with the statement, or acts on "inconclusive" as told."""

import numpy as np
import pytest

from skboot import compare_across, compare_systems, plan_evaluation
from skboot.testing import assert_not_worse

N = 400


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=N)
    return y, {name: y ^ (rng.random(N) < rate) for name, rate in [("good", 0.1), ("bad", 0.3)]}


def test_it_returns_the_verdict_of_the_comparison(data):
    y, systems = data
    verdict = assert_not_worse(y, systems["good"], systems["bad"], margin=0.02, random_state=0)
    [pair] = compare_systems(y, systems, random_state=0).pairs
    expected = pair.verdict(0.02)
    assert verdict.passed
    assert verdict.interval == expected.interval
    assert verdict.smallest_margin == expected.smallest_margin


def test_a_worse_model_fails_with_the_statement(data):
    y, systems = data
    with pytest.raises(AssertionError, match="fail: y_pred is worse than y_reference in accuracy"):
        assert_not_worse(y, systems["bad"], systems["good"], margin=0.02, random_state=0)


def test_pytest_shows_a_failure_at_the_line_of_the_test(data):
    y, systems = data
    with pytest.raises(AssertionError) as error:
        assert_not_worse(y, systems["bad"], systems["good"], margin=0.02, random_state=0)
    shown = [entry.path.name for entry in error.traceback if not entry.ishidden(error)]
    assert shown == ["test_gate.py"]


def test_what_is_inconclusive_is_acted_on_as_told(data):
    y, systems = data
    few = slice(0, 20)
    call = y[few], systems["good"][few], systems["good"][few][::-1].copy()
    known = {"margin": 0.01, "random_state": 0}
    with pytest.raises(AssertionError, match="inconclusive: it is not shown"):
        assert_not_worse(*call, **known)
    with pytest.warns(UserWarning, match="assert_not_worse: inconclusive"):
        assert_not_worse(*call, inconclusive="warn", **known)
    assert assert_not_worse(*call, inconclusive="pass", **known).outcome == "inconclusive"


def test_options_are_those_of_the_comparison(data):
    y, systems = data
    group = np.arange(N) // 10
    known = {"metric": "f1", "groups": group, "n_resamples": 199, "random_state": 0}
    verdict = assert_not_worse(y, systems["good"], systems["bad"], margin=0.0, **known)
    [pair] = compare_systems(y, systems, **known).pairs
    assert verdict.interval[:] == pair.confidence_interval[:]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": -0.1}, "'margin' parameter of assert_not_worse"),
        ({"margin": 0.1, "inconclusive": "skip"}, "'inconclusive' parameter of assert_not_worse"),
        ({"margin": 0.1, "metric": ["accuracy"]}, "'metric' parameter of assert_not_worse"),
        ({"margin": 0.1, "n_resamples": 0}, "'n_resamples' parameter of assert_not_worse"),
        ({"margin": 0.1, "metric": lambda a, b: 0.0}, "greater_is_better="),
    ],
)
def test_bad_arguments_are_refused_in_its_own_name(data, options, message):
    y, systems = data
    with pytest.raises(ValueError, match=message):
        assert_not_worse(y, systems["good"], systems["bad"], **options)


@pytest.mark.parametrize(
    ("y_pred", "y_reference", "options", "message"),
    [
        (slice(5), slice(N), {}, "'y_reference' .*as many rows as y_pred. Got 400 rows and 5 rows"),
        (slice(5), slice(5), {}, "'y_true' .* as many rows as 'y_pred'"),
        (slice(N), slice(5), {}, "compare_systems with paired=False"),
        (slice(N), slice(N), {"metric": "log_loss"}, "'y_pred' parameter of assert_not_worse"),
    ],
)
def test_predictions_are_called_what_their_arguments_are_called(
    data, y_pred, y_reference, options, message
):
    y, systems = data
    with pytest.raises(ValueError, match=message):
        assert_not_worse(
            y, systems["good"][y_pred], systems["bad"][y_reference], margin=0.1, **options
        )


@pytest.mark.parametrize(
    ("metric", "margin", "unit"),
    [("accuracy", 1, "0.01"), ("f1", 1.5, "0.01"), ("matthews_corrcoef", 2, "0.02")],
)
def test_a_margin_of_the_range_of_the_metric_is_refused_everywhere(data, metric, margin, unit):
    y, systems = data
    result = compare_systems(y, systems, metric=metric, n_resamples=99, random_state=0)
    [pair] = result.pairs
    calls = {
        "assert_not_worse": lambda: assert_not_worse(
            y, systems["good"], systems["bad"], metric=metric, margin=margin
        ),
        "PairedDifference.verdict": lambda: pair.verdict(margin),
        "plan_evaluation": lambda: plan_evaluation(pair, margin=margin),
        "compare_across": lambda: compare_across({"a": result, "b": result}, margin=margin),
    }
    for name, call in calls.items():
        said = f"'margin' parameter of {name} must be below .*, the range of {metric}.*={unit}"
        with pytest.raises(ValueError, match=said):
            call()
    largest = {"matthews_corrcoef": 2}.get(metric, 1)
    assert pair.verdict(largest - 1e-9).passed


def test_a_metric_without_bounds_takes_any_margin(data):
    y, systems = data
    values = {name: (y != predicted).astype(float) for name, predicted in systems.items()}
    known = {"metric": "mean", "greater_is_better": False, "random_state": 0}
    verdict = assert_not_worse(None, values["bad"], values["good"], margin=1000, **known)
    assert verdict.passed
    known = {"metric": "mean_squared_error", "random_state": 0}
    near, far = y + np.random.default_rng(1).normal(size=(2, N))
    assert assert_not_worse(y, near, far, margin=70, **known).passed


def test_a_candidate_that_equals_the_truth_is_called_so_and_passes(data):
    y, systems = data
    with pytest.warns(UserWarning, match="y_pred equals the truth on every row. That may be"):
        verdict = assert_not_worse(y, y.tolist(), systems["good"], margin=0.01, random_state=0)
    assert verdict.passed
    result = compare_systems(y, {"same": y, "good": systems["good"]}, random_state=0)
    assert "same equals the truth on every row" in " ".join(result.notes)
    # One row that differs, or a reference that is the truth, is nothing to warn of.
    other = y.copy()
    other[-1] = 1 - y[-1]
    assert assert_not_worse(y, other, systems["good"], margin=0.01, random_state=0).passed
    assert_not_worse(y, systems["good"], y, margin=0.5, inconclusive="pass", random_state=0)


def test_a_margin_must_be_given(data):
    y, systems = data
    with pytest.raises(TypeError, match="margin"):
        assert_not_worse(y, systems["good"], systems["bad"])
