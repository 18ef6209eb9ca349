"""Intervals of several scores that hold all at once, by ``adjust="max-t"``."""

import numpy as np
import pytest

from skboot import bootstrap_score
from skboot.results import EvaluationResult, ResultTable

N = 200
RNG = np.random.default_rng(0)
LOSSES = RNG.normal(size=(N, 4)) + RNG.normal(size=(N, 1))
OPTIONS = {"n_resamples": 1999, "random_state": 0}


def means(losses):
    return losses.mean(axis=0)


def results(**options):
    return bootstrap_score(None, LOSSES, metric=means, adjust="max-t", **OPTIONS | options)


def test_each_interval_is_its_own_at_the_level_that_holds_all_at_once():
    together, alone = results(), bootstrap_score(None, LOSSES, metric=means, **OPTIONS)
    levels = {one._basis.level_of_own(0.95) for one in together.values()}
    [level] = levels
    assert 0.95 < level < 1 - 0.05 / 4
    for key, one in together.items():
        assert np.array_equal(one.bootstrap_distribution, alone[key].bootstrap_distribution)
        assert tuple(one.confidence_interval) == tuple(alone[key].interval("bca", level))
        low, high = alone[key].confidence_interval
        assert one.confidence_interval.low < low < high < one.confidence_interval.high
        assert one.confidence_interval.confidence_level == 0.95


def test_as_many_resamples_as_the_level_says_have_every_score_in_its_percentile_interval():
    together = results(interval="percentile")
    inside = [
        (one.bootstrap_distribution >= one.confidence_interval.low)
        & (one.bootstrap_distribution <= one.confidence_interval.high)
        for one in together.values()
    ]
    assert np.all(inside, axis=0).mean() == pytest.approx(0.95, abs=0.003)


def test_other_intervals_of_a_result_hold_all_at_once_too():
    one = results()[0]
    asked = one.interval("percentile", 0.9)
    level = one._basis.level_of_own(0.9)
    assert 0.9 < level < one._basis.level_of_own(0.95)
    alone = bootstrap_score(None, LOSSES, metric=means, **OPTIONS)[0]
    assert tuple(asked) == tuple(alone.interval("percentile", level))
    assert (asked.confidence_level, asked.method) == (0.9, "percentile")
    assert one.interval("auto") == one.confidence_interval


def test_words_say_that_the_intervals_are_simultaneous():
    table = results()
    assert "95% simultaneous CI" in table.summary()
    assert "95% simultaneous CI" in table[0].claim()
    assert "simultaneous over 4 scores" in table[0].summary()
    assert any("hold all at once" in note for note in table[0].notes)
    assert table[0].settings["adjust"] == "max-t"


def test_metrics_of_different_kinds_hold_at_once():
    truth = RNG.integers(0, 2, N)
    predicted = np.where(RNG.random(N) < 0.8, truth, 1 - truth)
    metrics = ["accuracy", "sensitivity", "specificity"]
    together = bootstrap_score(truth, predicted, metric=metrics, adjust="max-t", **OPTIONS)
    alone = bootstrap_score(truth, predicted, metric=metrics, **OPTIONS)
    for key, one in together.items():
        assert one.confidence_interval.method == alone[key].confidence_interval.method
        assert one.confidence_interval.low < alone[key].confidence_interval.low


def test_one_score_needs_no_adjustment():
    truth = RNG.integers(0, 2, N)
    one = bootstrap_score(truth, truth, metric="balanced_accuracy", adjust="max-t", **OPTIONS)
    other = bootstrap_score(truth, truth, metric="balanced_accuracy", **OPTIONS)
    assert isinstance(one, EvaluationResult)
    assert one.confidence_interval == other.confidence_interval
    assert one.summary() == other.summary()


def test_the_monte_carlo_error_holds_that_of_the_level():
    options = {"interval": "percentile", "n_resamples": 999}
    together = results(**options)[0]
    # Limits of runs with other seeds vary as much as it says: 20 of them tell it up to 16%.
    limits = np.array(
        [results(**options, random_state=seed)[0].confidence_interval for seed in range(20)]
    )
    assert together.monte_carlo_error == pytest.approx(limits.std(axis=0, ddof=1), rel=0.7)


def test_they_are_saved_and_loaded(tmp_path):
    table = results()
    table.save(tmp_path / "table.npz")
    loaded = ResultTable.load(tmp_path / "table.npz")
    assert loaded == table
    assert loaded[1].interval("percentile", 0.9) == table[1].interval("percentile", 0.9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adjust": "holm"}, "None or 'max-t'. Got 'holm'"),
        ({"adjust": "max-t", "by": np.arange(N) % 2}, "None with by"),
        ({"adjust": "max-t", "average_over": np.arange(N) % 2}, "None with average_over"),
    ],
)
def test_adjustments_that_cannot_be_are_refused(options, message):
    with pytest.raises(
        ValueError, match=f"'adjust' parameter of bootstrap_score must be {message}"
    ):
        bootstrap_score(None, LOSSES, metric=means, **options)
