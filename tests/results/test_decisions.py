"""Verdicts of pairs: which interval decides, in which direction, in which words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from skboot import compare_runs, compare_systems
from skboot.inference import tango_interval

N = 300


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, size=N)
    hard = rng.random(N) < 0.4
    rates = {"A": 0.2, "B": 0.25, "C": 0.8}
    return y, {name: y ^ (hard & (rng.random(N) < rate)) for name, rate in rates.items()}


def losses(seed=0, n=40):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(loc, 1.0, size=n) for name, loc in (("A", 0.0), ("B", 0.3))}


def test_right_and_wrong_are_judged_by_tangos_interval_whatever_is_shown(data):
    y, systems = data
    two = {name: systems[name] for name in "AC"}
    [pair] = compare_systems(y, two, interval="percentile", random_state=0).pairs
    first, second = two["A"] == y, two["C"] == y
    counts = int((first & ~second).sum()), int((second & ~first).sum()), N
    assert tuple(pair._discordant) == counts
    verdict = pair.verdict(0.01)
    assert_allclose(verdict.interval, tango_interval(*counts))
    assert verdict.interval.method == "tango"
    assert pair.equivalence_margin == max(map(abs, tango_interval(*counts)))


def test_several_systems_are_judged_at_the_simultaneous_quantile(data):
    y, systems = data
    result = compare_systems(y, systems, random_state=0)
    pair = result.pair("A", "B")
    # Three pairs: between the quantile of one and that of Bonferroni.
    quantile = pair._simultaneous_quantile
    assert stats.norm.ppf(0.975) < quantile <= stats.norm.ppf(1 - 0.025 / 3) * 1.03
    level = 2 * stats.norm.cdf(quantile) - 1
    expected = tango_interval(*pair._discordant, confidence_level=level)
    assert_allclose(pair.verdict().interval, expected, rtol=1e-9)


def test_a_loss_is_better_when_smaller():
    options = {"metric": "mean", "greater_is_better": False, "random_state": 0}
    [pair] = compare_systems(None, losses(), **options).pairs
    low, high = pair._widest_interval
    verdict = pair.verdict(0.1)
    assert_allclose(verdict.interval, (-high, -low))
    assert verdict.smallest_margin == max(0.0, high)
    exchanged = pair._mirrored().verdict(0.1)
    assert_allclose(exchanged.interval, (low, high))
    assert pair.equivalence_margin == exchanged.smallest_margin == max(abs(low), abs(high))


@pytest.mark.parametrize("first", ["A", "B"])
def test_margins_on_both_sides_of_the_limits_have_their_outcomes(first):
    options = {"metric": "mean", "greater_is_better": False, "random_state": 0}
    result = compare_systems(None, losses(1), **options)
    pair = result.pair(first, "B" if first == "A" else "A")
    least = pair.verdict(0.0).smallest_margin
    assert pair.verdict(least + 1e-9).passed
    if least:
        assert not pair.verdict(least).passed
    for margin in (0.0, 0.2, 3.0):
        verdict = pair.verdict(margin)
        assert verdict.statement.startswith(f"{verdict.outcome}: ")


def test_the_detectable_margin_is_the_half_width_and_the_power():
    options = {"metric": "mean", "greater_is_better": False, "random_state": 0}
    [pair] = compare_systems(None, losses(), interval="t", **options).pairs
    values = losses()["A"] - losses()["B"]
    # Of the data, not of the resamples: 2% of Monte Carlo noise in the standard error.
    error = values.std(ddof=1) / np.sqrt(len(values))
    expected = (stats.t.ppf(0.975, 39) + stats.t.ppf(0.8, 39)) * error
    assert_allclose(pair.verdict(0.1).detectable_margin, expected, rtol=0.05)


@pytest.mark.parametrize("better", [True, False])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_detectable_margin_is_of_the_side_on_which_the_first_is_worse(better, sign):
    values = sign * np.random.default_rng(0).lognormal(sigma=1.5, size=40)
    options = {"metric": "mean", "greater_is_better": better, "random_state": 0}
    systems = {"A": values, "B": np.zeros(40)}
    [pair] = compare_systems(None, systems, interval="percentile", **options).pairs
    low, high = pair.confidence_interval
    sides = [pair.difference - low, high - pair.difference]
    assert max(sides) > 1.05 * min(sides)
    error = np.std(compare_systems(None, systems, **options).replicates("A", "B"), ddof=1)
    expected = sides[0 if better else 1] + stats.t.ppf(0.8, 39) * error * np.sqrt(40 / 39)
    assert_allclose(pair.verdict(0.1).detectable_margin, expected, rtol=1e-9)


def test_methods_are_judged_by_their_interval(data):
    y, _ = data
    rng = np.random.default_rng(0)
    runs = {name: [y ^ (rng.random(N) < 0.2) for _ in range(5)] for name in "AB"}
    [pair] = compare_runs(y, runs, random_state=0).pairs
    verdict = pair.verdict(0.1)
    assert_allclose(verdict.interval, pair.confidence_interval)
    assert "A" in verdict.statement
    assert pair._discordant is None


def test_few_degrees_of_freedom_are_called_rough():
    rng = np.random.default_rng(0)
    runs = {name: rng.normal(size=(2, 1)) + rng.normal(size=(2, 60)) * 0.01 for name in "AB"}
    options = {"metric": "mean", "greater_is_better": True, "random_state": 0}
    with pytest.warns(UserWarning, match="Only 2 runs"):
        [pair] = compare_runs(None, runs, **options).pairs
    assert pair.degrees_of_freedom < 10
    assert "roughly" in pair.verdict(0.001).statement


@pytest.mark.parametrize("margin", [-0.1, np.nan, np.inf, "0.1", True, None])
def test_a_margin_is_a_number_of_at_least_zero(data, margin):
    y, systems = data
    [pair, *_] = compare_systems(y, systems, n_resamples=99, random_state=0).pairs
    with pytest.raises(ValueError, match="'margin' parameter"):
        pair.verdict(margin)


def test_without_a_direction_there_is_no_verdict_but_an_equivalence_margin():
    [pair] = compare_systems(None, losses(), metric="mean", random_state=0).pairs
    with pytest.raises(ValueError, match="greater_is_better="):
        pair.verdict(0.1)
    assert pair.equivalence_margin == max(map(abs, pair._widest_interval))


def test_identical_systems_are_not_thought_to_agree_on_all_rows(data):
    y, systems = data
    same = {"A": systems["A"], "again": systems["A"]}
    [pair] = compare_systems(y, same, random_state=0).pairs
    z = stats.norm.ppf(0.975) ** 2
    assert_allclose(pair.verdict(0.1).smallest_margin, z / (N + z))
    assert pair.verdict(0.1).passed
    assert pair.verdict(0.0).outcome == "inconclusive"


def test_many_identical_systems_are_judged_by_tangos_interval_at_bonferronis_level():
    y = np.tile([0, 1], 4)
    result = compare_systems(y, {name: y.copy() for name in "ABCD"}, random_state=0)
    z = stats.norm.ppf(1 - 0.025 / 6) ** 2
    for pair in result.pairs:
        verdict = pair.verdict(0.1)
        assert verdict.outcome == "inconclusive"
        assert_allclose(verdict.smallest_margin, z / (8 + z))


def test_a_verdict_is_no_word_but_has_one(data):
    y, systems = data
    pair = compare_systems(y, systems, n_resamples=99, random_state=0).pairs[0]
    verdict = pair.verdict(0.1)
    with pytest.raises(TypeError, match=r"compare \.outcome == 'pass'"):
        _ = verdict == "pass"
    assert verdict == pair.verdict(0.1)
    assert verdict != pair.verdict(0.2)
    assert len({verdict, pair.verdict(0.1)}) == 1


def test_a_verdict_says_of_one_that_is_better_that_no_margin_is_needed(data):
    y, systems = data
    for pair in compare_systems(y, systems, random_state=0).pairs:
        for one in (pair, pair._mirrored()):
            text = one.verdict(0.3).statement
            assert ("and significantly better" in text) == (one.verdict(0.3).interval.low > 0)
            assert ("Margins above" in text) == ("significantly better" not in text)


def test_few_rows_are_a_caution_in_words():
    y = np.tile([0, 1], 5)
    systems = {"A": y, "B": 1 - y, "C": np.zeros(10, int)}
    caution = "Only 9 rows were compared (fewer than 10)"
    few = compare_systems(y[:9], {name: own[:9] for name, own in systems.items()}, random_state=0)
    enough = compare_systems(y, systems, random_state=0)
    for said in (
        lambda r: " ".join(r.notes),
        lambda r: str(r.ranks()),
        lambda r: r.ranks()._repr_html_(),
    ):
        assert caution in said(few)
        assert "Only" not in said(enough)
    assert caution in few.pairs[0].verdict(0.1).statement
    assert "Only" not in enough.pairs[0].verdict(0.1).statement


def test_a_verdict_that_another_interval_decides_names_both(data):
    y, systems = data
    two = {name: systems[name] for name in "AB"}
    [pair] = compare_systems(y, two, interval="percentile", random_state=0).pairs
    by_another = " by Tango's method, which decides instead of the percentile interval)."
    assert by_another in pair.verdict(0.01).statement
    [pair] = compare_systems(y, two, interval="tango", random_state=0).pairs
    assert ", Tango)." in pair.verdict(0.01).statement
    loss = compare_systems(
        None, losses(), metric="mean", greater_is_better=False, random_state=0
    ).pairs[0]
    assert "instead of" not in loss.verdict(0.1).statement
