"""How long blocks must be, and when rows look dependent, by formulas written out and by arch."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import fft, signal

from skboot.inference.dependence import (
    longest_block,
    move_together,
    neighbours_are_alike,
    optimal_block_length,
    over_time,
    plain_season,
    shortest_block,
)


def autoregressive(rng, n, coefficient):
    return signal.lfilter([1], [1, -coefficient], rng.standard_normal(n + 200))[200:]


def written_out(values):
    """Politis & White (2004, section 3.2) and the correction of 2009, one lag at a time."""
    n = len(values)
    x = values - values.mean()
    few = max(5, int(np.log10(n)))
    most = int(np.ceil(np.sqrt(n))) + few
    limit = 2 * np.sqrt(np.log10(n) / n)

    def small(lag):
        later, earlier = x[lag + 1 :], x[: n - lag - 1]
        own = np.sqrt(np.sum(later**2) * np.sum(earlier**2))
        return abs(np.sum(x[lag:] * x[: n - lag])) / own < limit

    bandwidth = most
    for lag in range(1, most - few + 1):
        if all(small(lag + k) for k in range(few)):
            bandwidth = min(2 * lag, most)
            break
    slope = spectrum = 0.0
    for k in range(-bandwidth, bandwidth + 1):
        weight = 1.0 if abs(k) / bandwidth <= 0.5 else 2 * (1 - abs(k) / bandwidth)
        covariance = np.sum(x[abs(k) :] * x[: n - abs(k)]) / n
        slope += weight * abs(k) * covariance
        spectrum += weight * covariance
    return max(1.0, (2 * slope**2 / (4 / 3 * spectrum**2)) ** (1 / 3) * n ** (1 / 3))


ARCH = Path(__file__).parents[1] / "references" / "series"
LENGTHS = json.loads((ARCH / "lengths.json").read_text())
SERIES = [
    (seed, n, coefficient)
    for seed, (n, coefficient) in enumerate(
        (n, coefficient) for n in (30, 100, 400, 2000) for coefficient in (-0.4, 0.0, 0.5, 0.85)
    )
]


@pytest.mark.parametrize(("seed", "n", "coefficient"), SERIES)
def test_the_length_is_that_of_the_formula(seed, n, coefficient):
    values = autoregressive(np.random.default_rng([1, seed]), n, coefficient)
    found = optimal_block_length(values, np.array([n]))
    np.testing.assert_allclose(found, written_out(values), rtol=1e-10)


@pytest.mark.parametrize("name", LENGTHS)
def test_the_length_is_that_of_arch(name):
    """`references/series/make.py` asks arch, which bounds the length itself, from above alone."""
    values = np.array(LENGTHS[name]["values"])
    n = len(values)
    found = min(optimal_block_length(values, np.array([n])), np.ceil(min(3 * np.sqrt(n), n / 3)))
    np.testing.assert_allclose(found, max(LENGTHS[name]["length"], 1.0), rtol=1e-12)


def test_the_length_does_not_depend_on_unit_or_sign():
    values = autoregressive(np.random.default_rng(3), 500, 0.7)
    size = np.array([500])
    length = optimal_block_length(values, size)
    for other in (1e-9 * values, -values, 5.0 + values):
        np.testing.assert_allclose(optimal_block_length(other, size), length, rtol=1e-6)


def test_rows_that_do_not_differ_need_no_blocks():
    assert optimal_block_length(np.full(100, 0.1), np.array([100])) == 1.0


def test_a_panel_of_copies_has_autocovariances_of_the_series():
    """Twenty copies differ from one series by the number of rows alone, in limits and rates."""
    values = autoregressive(np.random.default_rng(4), 100, 0.6)
    copies = np.tile(values, 20)
    found = optimal_block_length(copies, np.full(20, 100))
    x = values - values.mean()
    # With 2000 rows a lag is small below .081 and the bandwidth is at most 50.
    rho = [
        abs(x[k:] @ x[: 100 - k]) / np.sqrt((x[k + 1 :] @ x[k + 1 :]) * (x[: -k - 1] @ x[: -k - 1]))
        for k in range(1, 60)
    ]
    small = np.array(rho) < 2 * np.sqrt(np.log10(2000) / 2000)
    first = next((k for k in range(1, 45) if small[k - 1 : k + 4].all()), 25)
    k = np.arange(1, 2 * first + 1)
    weight = 2 * np.minimum(1, 2 * (1 - k / k[-1])) * [x[j:] @ x[: 100 - j] / 100 for j in k]
    ratio = (k @ weight) / (x @ x / 100 + weight.sum())
    np.testing.assert_allclose(found, max(1, (1.5 * 2000 * ratio**2) ** (1 / 3)), rtol=1e-10)


def test_series_are_centred_one_by_one():
    rng = np.random.default_rng(5)
    values = rng.standard_normal(600)
    level = np.repeat(rng.normal(size=6) * 100, 100)
    sizes = np.full(6, 100)
    np.testing.assert_allclose(
        optimal_block_length(values + level, sizes), optimal_block_length(values, sizes), rtol=1e-6
    )


@pytest.mark.parametrize(
    ("n_samples", "shortest", "expected"),
    [
        (400, 400, 60),
        (400, 40, 13),
        (30, 30, 7),
        (20, 20, 4),
        (60, 30, 10),
        (100_000, 100_000, 949),
        (20, 3, 1),
        (20, 2, 1),
    ],
)
def test_blocks_are_at_most_a_third_of_the_shortest_series_and_five_or_more(
    n_samples, shortest, expected
):
    assert longest_block(n_samples, shortest) == expected


# ------------------------------------------------------------------ do rows look dependent


def alike(values, strata=None, n_looks=1):
    every = np.arange(len(values))
    return neighbours_are_alike(values, every[:-1], every[1:], strata, n_looks)


INDEPENDENT = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n),
    "few errors": lambda rng, n: rng.random(n) < min(0.05, 5 / n),
    "right or wrong": lambda rng, n: rng.random(n) < 0.8,
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.9, 0, rng.exponential(size=n)),
    "equal": lambda rng, n: np.ones(n),
}


@pytest.mark.parametrize("n", [20, 100, 400, 1000])
@pytest.mark.parametrize("kind", INDEPENDENT)
def test_independent_rows_look_independent(kind, n):
    """At most 1 in 40: of 400 samples at most 19 give an alarm (false alarm of the test .5%)."""
    rng = np.random.default_rng([6, n])
    assert sum(alike(INDEPENDENT[kind](rng, n)) for _ in range(400)) <= 19


def test_many_looks_give_no_more_alarms():
    """Of 200 sets of ten at most 11 are expected; 19 are exceeded in 1 of 100 tests."""
    rng = np.random.default_rng(16)
    sets = rng.standard_normal((200, 10, 400))
    assert sum(any(alike(values, n_looks=10) for values in one) for one in sets) <= 19


def test_dependent_rows_do_not():
    rng = np.random.default_rng(7)
    for _ in range(50):
        values = autoregressive(rng, 400, 0.85)
        assert alike(np.abs(values))
        assert alike(values > 1)
    assert sum(alike(np.abs(autoregressive(rng, 1000, 0.5))) for _ in range(50)) >= 45


def test_weak_dependence_is_found_in_four_of_five():
    """Expected are 84%; 150 of 200 are missed in 1 of 1000 tests."""
    rng = np.random.default_rng(17)
    assert sum(alike(np.abs(autoregressive(rng, 400, 0.5))) for _ in range(200)) >= 150


def _of_sorted(rng, n):
    """Values of independent rows that depend on what the rows are sorted by."""
    by = np.sort(rng.random(n))
    score = np.sort(rng.standard_normal(n))
    noise = rng.standard_normal(n)
    return {
        "errors that grow": np.abs(noise) * (0.2 + by),
        "errors at both ends": np.abs(noise + 4 * (by - 0.5)),
        "the values themselves": np.sort(noise),
        "right where sure": rng.random(n) < 1 / (1 + np.exp(-2 * np.abs(score))),
    }


@pytest.mark.parametrize("n", [60, 400, 2000])
def test_sorted_rows_look_independent(n):
    """At most 5 in 100: of 200 samples at most 19 give an alarm (false alarm of the test 1%)."""
    rng = np.random.default_rng([18, n])
    alarms = {}
    for _ in range(200):
        for kind, values in _of_sorted(rng, n).items():
            alarms[kind] = alarms.get(kind, 0) + alike(values)
    assert max(alarms.values()) <= 19, alarms


def test_short_runs_of_strata_are_no_dependence():
    strata = np.repeat(np.tile([0, 1, 2], 10), 10)
    values = np.random.default_rng(8).standard_normal(300) + 5.0 * strata
    assert alike(values)
    assert not alike(values, strata)


def test_too_few_rows_show_nothing():
    pairs = np.repeat(np.random.default_rng(9).permutation(30), 2)
    assert not alike(pairs[:20])
    assert alike(pairs)


# ------------------------------------------------------------------ cosines, seasons, few rows


def cosines_written_out(shares, sizes, length):
    """Variance and degrees of freedom, by the cosines of scipy, one series after the other."""
    terms = []
    for own in np.split(shares, np.cumsum(sizes)[:-1]):
        n = len(own)
        n_cosines = min(max(min(round(0.4 * n ** (2 / 3)), n // (2 * length)), 3), n - 1)
        coordinates = fft.dct(own - own.mean(), norm="ortho")[1 : n_cosines + 1]
        terms.append((n * np.mean(coordinates**2), n_cosines))
    variance = sum(square for square, _ in terms)
    return variance, variance**2 / sum(square**2 / df for square, df in terms)


@pytest.mark.parametrize("length", [1, 4, 20])
@pytest.mark.parametrize("sizes", [(200,), (80, 120), (5, 30, 4, 161)])
def test_the_variance_over_time_is_that_of_the_first_cosines(sizes, length):
    shares = autoregressive(np.random.default_rng(len(sizes)), 200, 0.6)
    found = over_time(shares, np.array(sizes), length)
    variance, df = cosines_written_out(shares, sizes, length)
    assert found.standard_error == pytest.approx(np.sqrt(variance), rel=1e-12)
    assert found.degrees_of_freedom == pytest.approx(df, rel=1e-12)


def test_few_cosines_are_for_long_blocks_and_rows_that_do_not_move_have_none():
    shares = np.random.default_rng(0).normal(size=300)
    known = [
        over_time(shares, np.array([300]), length).degrees_of_freedom for length in (1, 10, 90)
    ]
    np.testing.assert_allclose(known, [18, 15, 3])
    assert over_time(np.full(300, 0.1), np.array([300]), 1) == (0.0, 18.0, 0.5)


def test_the_correlation_of_few_wrong_rows_is_the_share_that_follow_one():
    """(n_11 + 1) / (n_1 + 2) beyond chance, up to the share of wrong rows."""
    n = 4000
    for places in ([100, 900, 2000, 3500], [100, 101, 102, 2000], list(range(50, 60))):
        wrong = np.zeros(n)
        wrong[places] = 1
        following = np.sum(wrong[1:] * wrong[:-1])
        again, share = (following + 1) / (len(places) + 2), len(places) / n
        found = over_time(wrong, np.array([n]), 2).correlation
        assert found == pytest.approx((again - share) / (1 - share), abs=0.003)


def test_consecutive_rows_are_those_of_one_series():
    wrong = np.zeros(200)
    wrong[[49, 50, 120]] = 1
    apart = over_time(wrong, np.array([50, 150]), 2).correlation
    assert apart < over_time(wrong, np.array([200]), 2).correlation


@pytest.mark.parametrize(("n", "period"), [(300, 7), (1000, 24), (1000, 52), (365, 7)])
def test_a_plain_season_is_found(n, period):
    rng = np.random.default_rng(n)
    values = np.abs(rng.normal(size=n)) * (1 + 0.8 * np.sin(2 * np.pi * np.arange(n) / period))
    assert plain_season(values, np.array([n])) == period
    # The longest series is looked at.
    both = np.concatenate((rng.normal(size=n // 2), values))
    assert plain_season(both, np.array([n // 2, n])) == period


@pytest.mark.parametrize("coefficient", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("n", [20, 60, 300, 1000])
def test_a_season_is_seen_in_one_of_a_hundred_series_without_any(n, coefficient):
    """Chance of more than 4 of 100 with a rate of 1%: .4%."""
    rng = np.random.default_rng([n, int(10 * coefficient)])
    found = [
        plain_season(np.abs(autoregressive(rng, n, coefficient)), np.array([n])) for _ in range(100)
    ]
    assert sum(rows is not None for rows in found) <= 4


def test_few_rows_that_vary_do_not_show_whether_they_stand_together():
    assert [shortest_block(np.arange(1000) < k) for k in (0, 1, 9, 15, 500)] == [2, 2, 2, 1, 1]
    assert shortest_block(np.random.default_rng(0).normal(size=50)) == 1


# ------------------------------------------------------------------ series that move together


def errors_of_panel(rng, n, n_series, coefficient, shared):
    """Errors of which a part of the variance is the same in every series, (n_series, n)."""
    start = rng.standard_normal((n_series + 1, n + 200))
    errors = signal.lfilter([1], [1, -coefficient], start)[:, 200:]
    return np.sqrt(1 - shared) * errors[1:] + np.sqrt(shared) * errors[0]


def found_together(values):
    sizes = np.full(len(values), values.shape[1])
    rows = values.ravel()
    most = longest_block(len(rows), values.shape[1])
    length = min(int(np.ceil(optimal_block_length(rows, sizes))), most)
    return move_together(rows, sizes, length)


@pytest.mark.parametrize("coefficient", [0.0, 0.6, 0.95, 0.99])
@pytest.mark.parametrize("n_series", [2, 5, 12])
@pytest.mark.parametrize("n", [60, 300])
def test_independent_series_seldom_move_together(n, n_series, coefficient):
    """At most 1%: chance of more than 5 of 100 at that rate: .05%, in 24 cells 1.3%."""
    rng = np.random.default_rng([n, n_series, int(100 * coefficient)])
    found = [
        found_together(np.abs(errors_of_panel(rng, n, n_series, coefficient, 0)))
        for _ in range(100)
    ]
    assert sum(found) <= 5


@pytest.mark.parametrize(
    ("n", "n_series", "coefficient", "shared", "least"),
    [
        (120, 12, 0.6, 0.5, 95),
        (120, 12, 0.9, 0.5, 75),
        (200, 20, 0.6, 0.4, 90),
        (120, 2, 0, 0.9, 95),
    ],
)
@pytest.mark.parametrize("loss", [np.abs, lambda error: error**2, lambda error: error > 1])
def test_shared_shocks_are_found(n, n_series, coefficient, shared, least, loss):
    rng = np.random.default_rng([n, n_series])
    found = [
        found_together(loss(errors_of_panel(rng, n, n_series, coefficient, shared)).astype(float))
        for _ in range(100)
    ]
    assert sum(found) >= least


def test_a_season_that_series_share_goes_into_whole_blocks():
    rng = np.random.default_rng(0)
    season = 1 + 0.8 * np.sin(2 * np.pi * np.arange(364) / 7)
    sizes = np.full(20, 364)
    found = dict.fromkeys((1, 7), 0)
    for _ in range(50):
        values = np.abs(errors_of_panel(rng, 364, 20, 0.3, 0)) * season
        for length in found:
            found[length] += move_together(values.ravel(), sizes, length)
    assert found[1] == 50
    assert found[7] <= 15


def test_series_of_the_most_common_length_are_compared():
    rng = np.random.default_rng(0)
    shared = np.abs(errors_of_panel(rng, 100, 6, 0.3, 0.8))
    alone = np.abs(rng.normal(size=(3, 57)))
    rows = np.concatenate((alone[0], *shared[:4], alone[1], *shared[4:], alone[2]))
    sizes = np.array([57, *[100] * 4, 57, *[100] * 2, 57])
    assert move_together(rows, sizes, 3)
    assert move_together(1000 * rows, sizes, 3)
    # Many looks need more.
    assert not move_together(rows, sizes, 3, n_looks=10**300)
    assert not move_together(np.abs(rng.normal(size=150)), np.array([40, 50, 60]), 3)
    assert not move_together(np.ones(200), np.array([100, 100]), 3)
    # A series that does not move is no partner.
    assert not move_together(np.concatenate((shared[0], np.ones(100))), np.array([100, 100]), 3)
