"""One unit has no interval: it does not show how units vary, whatever the metric and the function.

Units that count, such as two columns of a group each, or rows without weight, are one too.
"""

import math

import numpy as np
import pytest

import skboot
from skboot import bootstrap_score, compare_systems
from skboot.testing import assert_not_worse

pytestmark = [pytest.mark.identity, pytest.mark.filterwarnings("ignore")]


RNG = np.random.default_rng(3)


def worst(y_true, y_pred):
    return np.max(np.abs(y_true - y_pred))


METRICS = [
    "mean_absolute_error", "mean_squared_error", "median_absolute_error", "max_error", "accuracy",
    "zero_one_loss", "mean_poisson_deviance", worst, ["mae", "rmse"],
]  # fmt: skip


def columns_of(metric, n):
    if metric in ("accuracy", "zero_one_loss"):
        return RNG.integers(0, 2, n), RNG.integers(0, 2, n), RNG.integers(0, 2, n)
    return tuple(RNG.uniform(1, 2, (3, n)))


# Rows, and what makes one unit of them, or one in each stratum.
ONE = {
    "a row": (1, lambda: {}),
    "a row with a weight": (4, lambda: {"sample_weight": [0.0, 0.0, 2.0, 0.0]}),
    "a group with a weight": (4, lambda: {"groups": list("aabb"), "sample_weight": [1, 2, 0, 0]}),
}


def results_of(answer):
    return answer.values() if isinstance(answer, skboot.results.ResultTable) else [answer]


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize(
    "metric", METRICS, ids=lambda metric: getattr(metric, "__name__", str(metric))
)
def test_one_unit_has_no_interval_and_no_claim(metric, name):
    n, design = ONE[name]
    y, a, b = columns_of(metric, n)
    if metric in ("max_error", worst) and "sample_weight" in design():
        return
    more = {"metric": metric, "n_resamples": 99, "random_state": 0, **design()}
    for interval in ("auto", "percentile", "expanded"):
        for result in results_of(bootstrap_score(y, a, interval=interval, **more)):
            assert not math.isnan(result.estimate)
            assert np.isnan([*result.confidence_interval, result.standard_error]).all()
            assert np.isnan([*result.interval("t", confidence_level=0.9)]).all()
            assert any("does not show how" in note for note in result.notes)
            assert "does not show how" in result.claim()
        for adjust in (None, "max-t", "holm"):
            systems = {"a": a, "b": b, "c": y}
            answer = compare_systems(y, systems, adjust=adjust, interval=interval, **more)
            for result in results_of(answer):
                assert not any(pair.excludes_zero for pair in result.pairs)
                for pair in result.pairs:
                    numbers = [*pair.confidence_interval, pair.p_value, pair.bootstrap_support]
                    assert np.isnan([*numbers, pair.standard_error, pair.p_value_adjusted]).all()
                    assert pair.mcnemar_p_value is None
                    better = result.greater_is_better
                    if better is not None:
                        assert pair.verdict(margin=0.5).outcome == "inconclusive"
                assert any("does not show how" in note for note in result.notes)


@pytest.mark.parametrize("metric", ["mean_absolute_error", "accuracy"])
def test_no_function_makes_an_interval_of_one_unit(metric):
    y, a, b = columns_of(metric, 8)
    by = np.array([0, 1, 1, 1, 1, 1, 1, 1])
    options = {"metric": metric, "n_resamples": 99, "random_state": 0}
    table = bootstrap_score(y, a, by=by, **options)
    assert np.isnan([*table[0].confidence_interval]).all()
    assert not np.isnan([*table[1].confidence_interval]).any()
    groups = np.array([0, 0, 0, 1, 2, 3, 4, 5])
    subgroups = bootstrap_score(y, a, by=(groups > 0).astype(int), groups=groups, **options)
    assert np.isnan([*subgroups[0].confidence_interval]).all()
    apart = {"a": y[:1], "b": y}, {"a": a[:1], "b": b}
    [pair] = compare_systems(*apart, paired=False, **options).pairs
    assert np.isnan([*pair.confidence_interval, pair.p_value]).all()
    stream = skboot.BootstrapAccumulator(metric, n_resamples=99, random_state=0)
    stream.update(y[:1], a[:1])
    assert np.isnan([*stream.result().confidence_interval]).all()
    verdict = assert_not_worse(y[:1], a[:1], b[:1], margin=0.5, inconclusive="pass", **options)
    assert verdict.outcome == "inconclusive"


@pytest.mark.parametrize("name", [name for name in ONE if name != "a row"])
def test_runs_curves_and_searches_of_one_unit_are_refused(name):
    n, design = ONE[name][0], ONE[name][1]()
    y, a, b = columns_of("mae", n)
    truth = np.arange(n) % 2 if "strata" in design else np.array([0, 0, 0, 1])[:n]
    options = {"n_resamples": 99, "random_state": 0}
    calls = [
        lambda: skboot.bootstrap_runs(y, [a, b], metric="mae", **design, **options),
        lambda: skboot.compare_runs(
            y, {"a": [a, b], "b": [b, a]}, metric="mae", **design, **options
        ),
    ]
    if "strata" in design:
        calls.append(lambda: skboot.bootstrap_curve(truth, a, **design, **options))
    else:
        calls.append(lambda: skboot.search_score(y, {"a": a, "b": b}, metric="mae", **design))
    for call in calls:
        with pytest.raises(ValueError, match=r"does not show how|at least two groups"):
            call()
    pair = compare_systems(y, {"a": a, "b": b}, metric="mae", **design, **options).pairs[0]
    with pytest.raises(ValueError, match="a pair without limits"):
        skboot.plan_evaluation(pair, difference=0.1)


def test_a_published_count_of_one_keeps_its_limits():
    # Wilson (1927): 1 / (1 + z^2).
    low, high = skboot.proportion_interval(1, 1)
    assert (low, high) == pytest.approx((1 / (1 + 1.959963984540054**2), 1.0))


def test_metrics_of_ones_own_get_the_caution_of_few_rows_that_names_get():
    y, a, _ = columns_of("mae", 12)

    def mae(y_true, y_pred):
        return np.mean(np.abs(y_true - y_pred))

    notes = [
        [note for note in bootstrap_score(y, a, metric=metric, random_state=0).notes
         if "of the 12 rows decide" in note]
        for metric in ("mae", mae, worst)
    ]  # fmt: skip
    assert notes[0] == notes[1]
    # One row decides the largest error.
    assert notes[2][0].startswith("About 1 of the 12 rows decides")
