"""Rows in time: what intervals of areas and of few wrong rows must agree on.

Over random series: the interval of areas by cosines does not depend on how scores are coded, on
the order in which series come, or on the seed; of as many wrong rows those that stand together say
less.
"""

import warnings

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.special import expit, logit
from scipy.stats import t

from skboot import bootstrap_score, compare_systems

SEEDS = range(5)
FEW = {"n_resamples": 99, "random_state": 0}


def quiet(*given, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bootstrap_score(*given, **FEW | options)


def scored_series(seed, n=160):
    """Labels and scores whose errors are slow."""
    rng = np.random.default_rng(seed)
    latent, noise = lfilter([1], [1, -0.7], rng.normal(size=(2, n)))
    label = (latent > rng.normal(scale=0.5)).astype(int)
    return label, label + noise


def limits(result):
    return np.array(result.confidence_interval[:2])


@pytest.mark.parametrize("length", ["auto", 6])
@pytest.mark.parametrize("metric", ["roc_auc", "average_precision"])
@pytest.mark.parametrize("seed", SEEDS)
def test_an_interval_by_cosines_follows_ranks_and_no_seed(seed, metric, length):
    label, score = scored_series(seed)
    options = {"metric": metric, "block_length": length}
    known = quiet(label, score, **options)
    # Where a row tells nothing of the next, rows are drawn.
    assert (known.confidence_interval.method == "ewc") == (known.settings["block_length"] > 1)
    others = [quiet(label, 3 * score + 2, **options), quiet(label, np.exp(score), **options)]
    if metric == "roc_auc":
        others.append(quiet(label, score, sample_weight=np.full(len(label), 2.5), **options))
    if known.settings["block_length"] > 1:
        others.append(quiet(label, score, **options | {"random_state": 7, "n_resamples": 30}))
    for other in others:
        np.testing.assert_allclose(limits(other), limits(known), rtol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_area_of_reversed_scores_has_the_mirrored_interval(seed):
    label, score = scored_series(seed)
    options = {"metric": "roc_auc", "block_length": 5, "interval": "ewc"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        low, high = limits(quiet(label, score, **options))
        mirrored = limits(quiet(1 - label, score, **options))
    np.testing.assert_allclose(mirrored, (1 - high, 1 - low), rtol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_series_may_take_turns(seed):
    label, score = scored_series(seed)
    series = np.repeat([0, 1], [60, 100])
    turns = np.argsort(np.concatenate((np.arange(60), np.arange(100))), kind="stable")
    options = {"metric": "roc_auc", "block_length": 4}
    known = quiet(label, score, strata=series, **options)
    other = quiet(label[turns], score[turns], strata=series[turns], **options)
    np.testing.assert_allclose(limits(other), limits(known), rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_mean_has_student_t_of_its_cosines(seed):
    rng = np.random.default_rng(seed)
    n = 120
    values = lfilter([1], [1, -0.5], rng.normal(size=n))
    found = quiet(None, values, metric="mean", block_length=3, interval="ewc")
    # The coordinates of deviations on the first ten cosines, and n - 1 as for any variance.
    times = (np.arange(n) + 0.5) / n
    waves = np.sqrt(2 / n) * np.cos(np.pi * np.arange(1, 11)[:, None] * times)
    error = np.sqrt(n * np.mean((waves @ values) ** 2)) / (n - 1)
    half = t(10).ppf(0.975) * error
    np.testing.assert_allclose(limits(found), values.mean() + np.array([-half, half]), rtol=1e-9)
    as_share = quiet(np.ones(n, int), (values > -1).astype(int), block_length=3, interval="ewc")
    right = values > -1
    error = np.sqrt(n * np.mean((waves @ right) ** 2)) / (n - 1)
    p = right.mean()
    reach = t(10).ppf(0.975) * error / (p * (1 - p))
    expected = expit(logit(p) + np.array([-reach, reach]))
    np.testing.assert_allclose(limits(as_share), expected, rtol=1e-9)


@pytest.mark.parametrize("length", ["auto", 5])
@pytest.mark.parametrize("n_wrong", [2, 4, 8])
def test_wrong_rows_that_stand_together_say_less(n_wrong, length):
    right = np.ones((2, 300), int)
    right[0, np.linspace(10, 290, n_wrong).astype(int)] = 0
    right[1, 100 : 100 + n_wrong] = 0
    apart, together = (
        quiet(np.ones(300, int), row, block_length=length).confidence_interval for row in right
    )
    assert together.low < apart.low
    assert together.high - together.low > apart.high - apart.low


def test_two_systems_have_the_intervals_that_they_have_alone():
    label, score = scored_series(0)
    other = score + np.random.default_rng(1).normal(size=len(score))
    options = {"metric": "roc_auc", "block_length": 6}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = compare_systems(label, {"a": score, "b": other}, **options, **FEW)
    for name, given in (("a", score), ("b", other)):
        np.testing.assert_allclose(
            limits(both.systems[name]), limits(quiet(label, given, **options)), rtol=1e-12
        )


def test_a_season_is_told_and_whole_seasons_are_not():
    rng = np.random.default_rng(0)
    error = np.abs(rng.normal(size=960) * (1 + 0.8 * np.sin(np.arange(960) * np.pi / 12)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bootstrap_score(None, error, metric="mean", block_length="auto", **FEW)
    said = " ".join(str(one.message) for one in caught)
    assert "repeat every 24 rows or so" in said
    assert "block_length=24" in said
    bootstrap_score(None, error, metric="mean", block_length=24, **FEW)
