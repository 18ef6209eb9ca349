"""Bands: limits from exact laws, and what any band must do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from skboot.inference.bands import (
    CurveEvidence,
    PointwiseFacts,
    pointwise_interval,
    simultaneous_band,
)
from skboot.inference.evidence import Evidence

RNG = np.random.default_rng(0)


def shares(p, n, n_resamples=20_000, **changes):
    """Independent shares, and resamples of them."""
    replicates = RNG.binomial(n, p, size=(n_resamples, len(p))) / n
    known = {
        "estimate": np.asarray(p, dtype=float),
        "replicates": replicates,
        "degrees_of_freedom": 1e6,
        "inflation": 1.0,
        "behind": np.full(len(p), float(n)),
        "bounds": (0.0, 1.0),
        "of_bins": True,
    }
    return CurveEvidence(**{**known, **changes})


def test_of_independent_shares_the_band_reaches_out_to_the_quantile_of_their_largest():
    """20,000 resamples: the quantile has a standard error of .02."""
    band = simultaneous_band(shares([0.3, 0.5, 0.6, 0.4], 2000), 0.95)
    exact = stats.norm.ppf(0.5 + 0.95 ** (1 / 4) / 2)
    assert band.critical == pytest.approx(exact, abs=0.08)
    scale = np.arcsin(np.sqrt((np.array([band.low, band.high]) * 2000 + 3 / 8) / 2000.75))
    assert_allclose(scale[1] - scale[0], 2 * exact / np.sqrt(4 * 2000), rtol=0.05)


def test_where_rows_are_of_one_label_the_limit_is_exact():
    band = simultaneous_band(shares([1.0, 0.5, 0.0], 40), 0.95)
    tail = stats.norm.sf(band.critical)
    assert band.low[0] == pytest.approx(stats.beta.ppf(tail, 40, 1))
    assert band.high[2] == pytest.approx(stats.beta.ppf(1 - tail, 1, 40))
    assert (band.high[0], band.low[2]) == (1, 0)


def test_bins_of_one_label_count_as_points_that_can_miss():
    """Without resamples that vary the quantile is Sidak's."""
    band = simultaneous_band(shares([1.0, 0.0, 1.0], 40), 0.95)
    assert band.critical == pytest.approx(stats.norm.ppf(0.5 + 0.95 ** (1 / 3) / 2))
    one_run = simultaneous_band(shares([1.0, 1.0, 1.0], 40, of_bins=False), 0.95)
    assert one_run.critical == pytest.approx(stats.norm.ppf(0.975))


def over_a_cliff(rng, n_resamples=999):
    """A curve over thresholds that falls from 1, which some resamples do earlier."""
    n_points = 30
    at = rng.integers(10, 20)
    falls = np.clip(rng.normal(at, 2, n_resamples).astype(int), 1, n_points)
    low = rng.uniform(0.3, 0.8)

    def curve(after):
        share = np.where(np.arange(n_points) < after, 1.0, low)
        return np.minimum(share + 0.02 * rng.normal(size=n_points) * (share < 1), 1.0)

    every = np.arange(n_points)
    nearby = np.column_stack((np.maximum(every - 1, 0), np.minimum(every + 2, n_points)))
    return CurveEvidence(
        estimate=curve(at),
        replicates=np.array([curve(after) for after in falls]),
        degrees_of_freedom=1e6,
        inflation=1.0,
        behind=np.full(n_points, 100.0),
        bounds=(0.0, 1.0),
        nearby=nearby,
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_band_over_thresholds_holds_as_many_resamples_as_it_says(seed):
    """Also those that jump where the curve does not, and where it is of one label alone."""
    known = over_a_cliff(np.random.default_rng(seed))
    band = simultaneous_band(known, 0.95)
    within = (known.replicates >= band.low) & (known.replicates <= band.high)
    assert within.all(axis=1).mean() >= 0.93


@pytest.mark.parametrize("seed", range(20))
def test_a_point_of_one_label_over_thresholds_reaches_out_to_what_resamples_say(seed):
    known = over_a_cliff(np.random.default_rng(seed))
    band = simultaneous_band(known, 0.95)
    facts = PointwiseFacts(100.0, is_fixed=False, over_thresholds=True)
    for point in np.flatnonzero(known.estimate == 1.0):
        evidence = Evidence.of(1.0, known.replicates[:, point], "rows", (1000,), bounds=(0.0, 1.0))
        low = pointwise_interval(evidence, facts, 0.95).low
        of_resamples = np.quantile(known.replicates[:, point], 0.025)
        assert low <= min(of_resamples, 0.025 ** (1 / 100)) + 1e-12
        tail = stats.norm.sf(band.critical)
        of_resamples = np.quantile(known.replicates[:, point], tail)
        assert band.low[point] <= of_resamples + 1e-12


def test_rounding_does_not_change_a_band_of_points_that_move_together():
    """Their covariance has no inverse, and a triangular root of it hangs on the last digits."""
    steps = np.random.default_rng(1).binomial(40, 0.05, size=(199, 12)).cumsum(axis=1)
    together = np.repeat(1 - steps / 40 / 2, 5, axis=1)
    noise = 1e-16 * np.random.default_rng(2).choice([-1.0, 0.0, 1.0], size=together.shape)
    near = np.column_stack([np.arange(60), np.arange(60) + 1])
    bands = [
        simultaneous_band(
            shares(together.mean(axis=0), 40, replicates=each, of_bins=False, nearby=near), 0.95
        )
        for each in (together, together + noise)
    ]
    assert_allclose(bands[1].critical, bands[0].critical, rtol=1e-9)
    assert_allclose(bands[1].low, bands[0].low, rtol=1e-9)


def test_a_spread_is_not_believed_below_that_of_independent_rows():
    known = shares([0.98, 0.5], 100, replicates=np.tile([0.98, 0.5], (500, 1)))
    band = simultaneous_band(known, 0.95)
    share = np.sin(np.arcsin(np.sqrt(98.375 / 100.75)) - 1.96 * 0.5 / np.sqrt(100.5)) ** 2
    assert band.low[0] == pytest.approx((share * 100.75 - 0.375) / 100, abs=1e-4)


def test_limits_of_a_curve_that_is_no_share_are_symmetric():
    replicates = RNG.normal([1.0, 5.0], [0.1, 2.0], size=(20_000, 2))
    known = CurveEvidence(np.array([1.0, 5.0]), replicates, 1e6, 1.0)
    band = simultaneous_band(known, 0.95)
    assert_allclose(band.high - known.estimate, known.estimate - band.low)
    half = stats.norm.ppf(0.5 + 0.95**0.5 / 2) * np.array([0.1, 2.0])
    assert_allclose(band.high - known.estimate, half, rtol=0.03)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_limits_hold_the_curve_and_stay_in_the_range(level):
    estimate = np.linspace(0, 1, 21)
    known = shares(estimate, 30, rises=True, of_bins=False)
    band = simultaneous_band(known, level)
    assert (band.low >= 0).all()
    assert (band.high <= 1).all()
    assert (band.low <= estimate).all()
    assert (band.high >= estimate).all()
    wider = simultaneous_band(known, level + 0.005)
    assert (wider.low <= band.low).all()
    assert (wider.high >= band.high).all()


@pytest.mark.parametrize("rises", [True, False])
def test_limits_of_a_monotone_curve_are_monotone(rises):
    estimate = np.linspace(0.1, 0.9, 9)[:: 1 if rises else -1]
    behind = RNG.integers(20, 400, 9).astype(float)
    replicates = RNG.binomial(behind.astype(int), estimate, size=(999, 9)) / behind
    free = np.zeros(9, dtype=bool)
    free[0] = True
    known = shares(estimate, 1, replicates=replicates, behind=behind, of_bins=False)
    changes = {"free_below": free, "free_above": free[::-1]}
    values = {**vars(known), **changes, "rises": rises}
    band = simultaneous_band(CurveEvidence(**values), 0.95)
    for limit in (band.low, band.high):
        assert (np.diff(limit) * (1 if rises else -1) >= 0).all()


def test_where_nothing_is_known_a_limit_is_that_of_the_range():
    free = np.array([True, False, False])
    band = simultaneous_band(shares([0.5, 0.5, 0.5], 100, free_below=free), 0.95)
    assert band.low[0] == 0
    assert band.low[1] > 0.3


def test_an_undefined_point_has_no_limits_and_changes_no_other():
    known = shares([0.5, 0.4], 100)
    replicates = np.column_stack((known.replicates, np.full(len(known.replicates), np.nan)))
    estimate, behind = np.array([0.5, 0.4, np.nan]), np.full(3, 100.0)
    values = {**vars(known), "replicates": replicates, "estimate": estimate, "behind": behind}
    band = simultaneous_band(CurveEvidence(**values), 0.95)
    assert np.isnan([band.low[2], band.high[2]]).all()
    assert_allclose(band.low[:2], simultaneous_band(known, 0.95).low)


def point(value, n, **changes):
    replicates = RNG.binomial(n, value, 1999) / n
    return Evidence.of(value, replicates, "rows", (500,), bounds=(0.0, 1.0), **changes)


@pytest.mark.parametrize(
    ("hits", "fixed", "method"),
    [(100, False, "clopper-pearson"), (97, False, "wilson"), (60, True, "wilson")],
)
def test_a_point_of_few_misses_has_the_interval_of_a_proportion(hits, fixed, method):
    interval = pointwise_interval(point(hits / 100, 100), PointwiseFacts(100.0, fixed), 0.9)
    exact = stats.binomtest(hits, 100).proportion_ci(
        0.9, "wilson" if method == "wilson" else "exact"
    )
    assert interval.method == method
    assert_allclose(interval, (exact.low, exact.high))


def test_another_point_has_the_interval_of_its_replicates():
    interval = pointwise_interval(point(0.5, 100), PointwiseFacts(100.0, False), 0.95)
    assert interval.method == "expanded"
    assert interval.low == pytest.approx(0.4, abs=0.02)


def test_of_few_groups_alike_no_more_is_claimed_than_of_as_many_rows():
    known = Evidence.of(1.0, np.ones(99), "groups", (12,), bounds=(0.0, 1.0))
    interval = pointwise_interval(known, PointwiseFacts(400.0, True), 0.95)
    assert interval.low == pytest.approx(0.025 ** (1 / 12))


@pytest.mark.parametrize("kind", ["rows", "groups"])
def test_a_share_over_thresholds_reaches_out_where_its_variance_is_constant(kind):
    replicates = RNG.binomial(80, 0.7, 5000) / 80
    evidence = Evidence.of(0.7, replicates, kind, (40,), bounds=(0.0, 1.0))
    facts = PointwiseFacts(80.0, is_fixed=False, over_thresholds=True)
    interval = pointwise_interval(evidence, facts, 0.9)
    angle = np.arcsin(np.sqrt((replicates * 80 + 3 / 8) / 80.75))
    half = np.sqrt(40 / 39) * stats.t.ppf(0.95, 39) * max(angle.std(ddof=1), 0.5 / np.sqrt(80.5))
    centre = np.arcsin(np.sqrt((0.7 * 80 + 3 / 8) / 80.75))
    expected = (np.sin([centre - half, centre + half]) ** 2 * 80.75 - 3 / 8) / 80
    assert_allclose(interval, expected)
    assert interval.method == "arcsine"


def test_resamples_that_agree_do_not_narrow_a_share_over_thresholds():
    evidence = Evidence.of(0.7, np.full(500, 0.7), "rows", (40,), bounds=(0.0, 1.0))
    facts = PointwiseFacts(80.0, is_fixed=False, over_thresholds=True)
    low, high = pointwise_interval(evidence, facts, 0.95)
    assert low < 0.62
    assert high > 0.78


@pytest.mark.parametrize("below", [True, False])
@pytest.mark.parametrize("value", [0.0, 0.7])
def test_a_free_limit_of_a_point_is_that_of_the_range(below, value):
    evidence = Evidence.of(value, RNG.binomial(80, 0.7, 500) / 80, "rows", (40,), bounds=(0.0, 1.0))
    facts = PointwiseFacts(80.0, False, True, free_below=below, free_above=not below)
    low, high = pointwise_interval(evidence, facts, 0.95)
    assert (low == 0 and high < 1) if below else (high == 1)
