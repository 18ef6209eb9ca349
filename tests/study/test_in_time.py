"""Rows in time: what intervals of areas and of few wrong rows must agree on.

Over random series: the interval of areas by cosines does not depend on how scores are coded, on
the order in which series come, or on the seed; of as many wrong rows those that stand together say
less; rows of one date may come in any order.
"""

import re
import warnings

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.special import expit, logit
from scipy.stats import t

from skboot import bootstrap_score, compare_systems

pytestmark = pytest.mark.identity

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


def said_by(*given, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = bootstrap_score(*given, **FEW | options)
    return result, [str(one.message) for one in caught]


def panel_by_date(rng):
    """Errors of dates x series: slow, shared in part, of series with levels of their own."""
    n_dates, n_series = rng.integers(60, 300), rng.integers(2, 25)
    slow = lfilter([1], [1, -rng.choice([0, 0.5, 0.8])], rng.normal(size=(n_series + 1, n_dates)))
    errors = slow[1:] + rng.choice([0, 1]) * slow[0]
    return np.abs(errors.T) * np.linspace(1, rng.choice([1, 8]), n_series)


@pytest.mark.parametrize("seed", range(12))
def test_rows_of_one_date_may_be_exchanged(seed):
    """With an index of dates; the mean over all rows is that over a column per series."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    errors = panel_by_date(rng)
    n_dates, n_series = errors.shape
    days = pd.date_range("2024-01-01", periods=n_dates)
    length = ("auto", 3 * n_series)[seed % 2]
    by_date = pd.Series(errors.ravel(), np.repeat(days, n_series))
    known, words = said_by(None, by_date, metric="mean", block_length=length)
    exchanged = pd.Series(rng.permuted(errors, axis=1).ravel(), by_date.index)
    other, other_words = said_by(None, exchanged, metric="mean", block_length=length)
    np.testing.assert_allclose(limits(other), limits(known), rtol=1e-9)
    assert other_words == words
    assert not any("repeat every" in text or "whole dates" in text for text in words)
    columns = {"metric": "mean", "block_length": "auto" if length == "auto" else 3}
    wide = said_by(None, pd.Series(errors.mean(axis=1), days), **columns)[0]
    # Blocks of one row are drawn as rows are, from other random numbers.
    rtol = 1e-9 if wide.settings["block_length"] > 1 else 0.05
    np.testing.assert_allclose(limits(wide), limits(known), rtol=rtol)
    assert known.settings["block_length"] == n_series * wide.settings["block_length"]
    # Dates without some of the series have fewer rows.
    some = rng.random(len(by_date)) < 0.8
    row = np.lexsort((rng.random(some.sum()), by_date.index[some]))
    few = said_by(None, by_date[some], metric="mean", block_length="auto")
    shuffled = said_by(None, by_date[some].iloc[row], metric="mean", block_length="auto")
    np.testing.assert_allclose(limits(shuffled[0]), limits(few[0]), rtol=1e-9)
    assert shuffled[1] == few[1]


@pytest.mark.parametrize("seed", range(8))
def test_what_is_said_of_seasons_never_shortens_blocks(seed):
    """Nor where what repeats are series that stand side by side."""
    rng = np.random.default_rng(seed)
    values, season = panel_by_date(rng).ravel(), None
    if seed % 2:
        season = int(rng.choice([7, 24]))
        wave = 1 + 0.8 * np.sin(np.arange(1200) * 2 * np.pi / season)
        values = np.abs(rng.normal(size=1200)) * wave
    result, words = said_by(None, values, metric="mean", block_length="auto")
    told = [re.search(r"every (\d+) rows .*block_length=(\d+);", text) for text in words]
    told = [(int(one[1]), int(one[2])) for one in told if one]
    assert len(told) == 1 or season is None
    for rows, length in told:
        assert rows == (season or rows)
        assert length % rows == 0
        assert length >= result.settings["block_length"]
        assert not any(
            "repeat every" in text
            for text in said_by(None, values, metric="mean", block_length=length)[1]
        )


@pytest.mark.parametrize("shared", [True, False])
def test_shocks_that_series_share_are_told_before_a_season(shared):
    rng = np.random.default_rng(0)
    n_dates, n_sites = 720, 5
    slow = lfilter([1], [1, -0.6], rng.normal(size=(n_sites + 1, n_dates)))
    errors = np.abs(slow[1:] + shared * slow[0]).T
    errors *= (1 + 0.8 * np.sin(np.arange(n_dates) * np.pi / 12))[:, None]
    site = np.tile(np.arange(n_sites), n_dates)
    words = said_by(None, errors.ravel(), metric="mean", block_length="auto", strata=site)[1]
    assert any("rise and fall together" in text for text in words) == shared
    assert any("repeat every 24 rows" in text for text in words) != shared
