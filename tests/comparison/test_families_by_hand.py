"""Pairs and families by hand: Holm's steps, Welch's test, Newcombe's gap, verdicts in any design.

Exact: all of it follows from p-values, scores of runs and limits of each system by itself.
"""

import numpy as np
import pytest
from identity_cases import (
    DESIGNS,
    FAST,
    MEANS,
    OPTIONS,
    any_seed,
    call_of,
    close,
    compared,
    each_of,
    each_with,
    means_of,
    one_of,
    plain_value,
    quiet,
    scored,
    spread_of,
)
from scipy import stats
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from sklearn.metrics import zero_one_loss

import skboot
from skboot.testing import assert_not_worse

pytestmark = pytest.mark.identity

SIDES = ("two-sided", "greater", "less")


def compared_runs(y_true, runs, **options):
    return quiet(skboot.compare_runs, y_true, runs, **{**OPTIONS, **options})


def drawn_columns(design, n, rng):
    """More designs of units than those of `DESIGNS`."""
    groups = rng.permutation(
        np.repeat(np.arange(n // 6), [n - 6 * (n // 6) + 6, *[6] * (n // 6 - 1)])
    )
    members = np.column_stack([groups, rng.permutation(n) % 7])
    return {
        "groups": {"groups": groups},
        "groups in strata": {"groups": groups, "strata": groups % 3 // 2},
        "crossed": {"groups": members},
        "one population": {"groups": skboot.Trials(*members.T)},
        "drawn tasks": {"groups": groups, "average_over": groups},
        "groups across tasks": {"groups": groups, "average_over": rng.permutation(n) % 3},
        "panel": {"block_length": 3, "strata": np.arange(n) % 5 // 3},
    }[design]


UNITS = ("groups", "groups in strata", "crossed", "one population", "drawn tasks",
         "groups across tasks", "panel")  # fmt: skip


# ------------------------------------------------------------------ pairs


@each_with(MEANS, UNITS, 2)
@any_seed
def test_a_difference_of_means_is_the_mean_of_the_differences(name, design, seed):
    call = call_of(name, "rows", bool((len(name) + seed) % 2), seed, n=90)
    columns = {**call.columns, **drawn_columns(design, call.n, call.rng)}
    other = call.other()
    first, second = (means_of(call, own)[0] for own in (call.y_pred, other))
    sign = means_of(call)[1]
    both = compared(
        call.y_true, {"A": call.y_pred, "B": other}, metric=call.score.metric, **columns
    )
    alone = scored(None, first - second, metric="mean", **columns)
    [pair] = both.pairs
    close(pair.difference, sign * alone.estimate, 1e-9, 1e-12)
    close(pair.standard_error, spread_of(alone), 1e-7, 1e-10)
    for method in ("percentile", "basic", "t", "expanded"):
        [own] = compared(call.y_true, {"A": call.y_pred, "B": other}, metric=call.score.metric,
                         interval=method, **columns).pairs  # fmt: skip
        limits = np.array([*quiet(alone.interval, method)])
        close([*own.confidence_interval], limits if sign > 0 else -limits[::-1], 1e-7, 1e-9)


@each_with(FAST, UNITS)
@any_seed
def test_a_gate_is_the_verdict_of_the_pair_in_every_design(name, design, seed):
    call = call_of(name, "rows", bool((len(name) + seed) % 2), seed, n=120)
    columns = {**call.options, **drawn_columns(design, call.n, call.rng)}
    if name in ("slope", "intercept"):
        columns["greater_is_better"] = True
    if design == "drawn tasks":
        columns["groups"] = columns["average_over"] = columns["groups"] // 4
    other = call.other()
    level = one_of((0.95, 0.8), name, seed)
    columns["confidence_level"] = level
    if design == "panel":  # a gate knows no blocks
        columns.pop("block_length")
    try:
        result = compared(call.y_true, {"c": call.y_pred, "r": other}, **columns)
    except ValueError:
        return
    [pair] = result.pairs
    pair = pair if pair.first == "c" else pair._mirrored()
    better = 1 if pair.greater_is_better else -1
    low, high = pair.simultaneous_interval
    close(pair.equivalence_margin, max(abs(low), abs(high)), 1e-9)
    close(pair._mirrored().equivalence_margin, pair.equivalence_margin)
    close([*pair._mirrored().simultaneous_interval], [-high, -low])
    for margin in (0.3 * pair.standard_error + 1e-4, 4 * pair.standard_error + 1e-4):
        if margin >= np.ptp(result.systems["c"]._evidence.facts.bounds):
            continue
        expected = pair.verdict(margin)
        if pair._discordant is None:
            close([*expected.interval], sorted([better * low, better * high]), 1e-9)
            worst = low if better > 0 else -high
            assert expected.passed == (worst > -margin)
        inconclusive = "pass" if not expected.failed else "warn"
        try:
            found = quiet(
                assert_not_worse, call.y_true, call.y_pred, other, margin=margin,
                inconclusive=inconclusive, **columns, **OPTIONS,
            )  # fmt: skip
        except AssertionError:
            assert expected.failed
            continue
        assert found.outcome == expected.outcome
        assert found.interval.confidence_level == expected.interval.confidence_level
        close([*found.interval], [*expected.interval])
        close(found.smallest_margin, expected.smallest_margin)
        close(found.detectable_margin, expected.detectable_margin)


@pytest.mark.parametrize("name", ["accuracy", "accuracy of words", "error", "subset accuracy"])
@pytest.mark.parametrize("share", [0.3, 0.6])
@any_seed
def test_a_gap_of_two_subgroups_is_newcombes_interval_of_two_systems(name, share, seed):
    call = call_of(name, seed=seed, n=70)
    by = np.where(call.rng.random(call.n) < share, "A", "B")
    parts = {key: by == key for key in "AB"}
    options = {"metric": call.score.metric, "n_resamples": 39}
    result = scored(call.y_true, call.y_pred, by=by, **options)
    own = [
        {key: column[rows] for key, rows in parts.items()} for column in (call.y_true, call.y_pred)
    ]
    [pair] = compared(*own, paired=False, **options).pairs
    close(result["gap"].estimate, abs(pair.difference))
    if result["gap"].estimate == 0:
        return
    larger = max("AB", key=lambda key: result[key].estimate)
    pair = pair if pair.first == larger else pair._mirrored()
    # The distances to Wilson's limits add up by their squares (Newcombe 1998, method 10).
    (a, la, ha), (b, lb, hb) = (
        (result[key].estimate, *quiet(result[key].interval, "wilson"))
        for key in (larger, "B" if larger == "A" else "A")
    )
    low = a - b - np.hypot(a - la, hb - b)
    high = a - b + np.hypot(ha - a, b - lb)
    close([*result["gap"].confidence_interval], [low, high], 1e-8)
    if pair.confidence_interval.method == "newcombe":
        close([*pair.confidence_interval], [low, high], 1e-8)


@each_of(FAST)
@any_seed
def test_unpaired_systems_have_the_freedom_of_the_smaller_and_mirror(name, seed):
    call = call_of(name, one_of(DESIGNS, name, seed), seed=seed, n=90)
    keep = call.columns.get("groups", np.arange(call.n)) % 3 > 0
    rows = {"A": slice(None), "B": keep}
    other = call.other()
    columns = {key: {k: c[rows[k]] for k in "AB"} for key, c in call.columns.items()}
    y_true = {k: call.y_true[rows[k]] for k in "AB"}
    y_pred = {"A": call.y_pred, "B": other[keep]}
    options = {"metric": call.score.metric, "paired": False, "interval": "t", **columns}
    one, turned = (
        compared(y_true, {k: y_pred[k] for k in order}, **options) for order in ("AB", "BA")
    )
    alone = [
        scored(y_true[k], y_pred[k], metric=call.score.metric,
               **{key: c[k] for key, c in columns.items()}) for k in "AB"
    ]  # fmt: skip
    fewest = min(result._evidence.drawn.degrees_of_freedom for result in alone)
    [pair] = one.pairs
    pair = pair if pair.first == "A" else pair._mirrored()
    drawn = np.subtract(*(one.systems[k].bootstrap_distribution for k in "AB"))
    drawn = drawn[np.isfinite(drawn)]
    inflation = max(result._evidence.drawn.inflation for result in alone)
    low, high = pair.confidence_interval
    half = stats.t.ppf(0.975, fewest) * drawn.std(ddof=1)
    assert (1 - 1e-6) * half - 1e-12 <= (high - low) / 2
    assert (high - low) / 2 <= half * np.sqrt(inflation) * (1 + 1e-6) + 1e-12
    for result in (one, turned):
        assert result.pairs[0].n_units == min(each.n_units for each in alone)
    [other] = turned.pairs
    other = other if other.first == "B" else other._mirrored()
    close(other.difference, -pair.difference)


# ------------------------------------------------------------------ Holm


def holm(p_values):
    order = np.argsort(p_values, kind="stable")
    steps = np.maximum.accumulate((len(p_values) - np.arange(len(p_values))) * p_values[order])
    found = np.empty(len(p_values))
    found[order] = np.minimum(steps, 1.0)
    return found


def assert_is_holm(pairs):
    p_values = np.array([pair.p_value for pair in pairs])
    close([pair.p_value_adjusted for pair in pairs], holm(p_values))
    for pair in pairs:
        (low, high), (least, most) = pair.confidence_interval, pair.simultaneous_interval
        assert least <= low + 1e-12
        assert most >= high - 1e-12


@each_of(FAST)
@any_seed
def test_holm_is_by_hand_for_any_side_reference_and_function(name, seed):
    call = call_of(name, one_of(DESIGNS, name, seed), bool(len(name) % 2), seed)
    systems = {"A": call.y_pred, "B": call.other(), "C": call.other(), "D": call.other()}
    reference = one_of((None, "C", "A"), name, seed)
    options = {**call.options, "adjust": "holm", "alternative": one_of(SIDES, name, seed)}
    result = compared(call.y_true, systems, **options, reference=reference)
    assert len(result.pairs) == (6 if reference is None else 3)
    assert_is_holm(result.pairs)
    alone = compared(call.y_true, systems, **{**options, "adjust": None}, reference=reference)
    close([pair.p_value for pair in alone.pairs], [pair.p_value for pair in result.pairs])
    if reference is None:
        # A one-sided pair that changes places asks the other side.
        sides = {"greater": "less", "less": "greater"}
        options["alternative"] = sides.get(options["alternative"], "two-sided")
        if "groups" not in call.columns:
            return
        turned = compared(call.y_true, dict(reversed(systems.items())), **options)
        assert_is_holm(turned.pairs)
        for pair in turned.pairs:
            [same] = [p for p in result.pairs if {p.first, p.second} == {pair.first, pair.second}]
            if same.first != pair.first:
                close(pair.p_value, same.p_value, 1e-6)
                close(pair.p_value_adjusted, same.p_value_adjusted, 1e-6)


@pytest.mark.parametrize("interval", ["components", "welch"])
@pytest.mark.parametrize("side", SIDES)
@any_seed
def test_methods_have_welchs_test_and_holms_steps(interval, side, seed):
    rng = np.random.default_rng([seed, len(interval), len(side)])
    sizes = {"A": 5, "B": 7, "C": 4}
    runs = {
        key: rng.normal(size=(k, 1)) * 0.5 + rng.normal(size=40) + 0.3 * rng.normal(size=(k, 40))
        for key, k in sizes.items()
    }
    result = compared_runs(None, runs, metric="mean", adjust="holm", interval=interval,
                           alternative=side)  # fmt: skip
    assert_is_holm(result.pairs)
    scores = {key: own.mean(axis=1) for key, own in runs.items()}
    for pair in result.pairs:
        first, second = scores[pair.first], scores[pair.second]
        close(pair.difference, first.mean() - second.mean())
        if interval == "components":
            continue
        test = stats.ttest_ind(first, second, equal_var=False, alternative=side)
        close(pair.p_value, test.pvalue, 1e-6)
        close([*pair.confidence_interval], [*test.confidence_interval(0.95)], 1e-6)
        close(pair.degrees_of_freedom, test.df, 1e-6)
        close(
            pair.standard_error, np.sqrt(sum(np.var(s, ddof=1) / len(s) for s in (first, second)))
        )
    paired = {key: own[:4] for key, own in runs.items()}
    result = compared_runs(None, paired, metric="mean", adjust="holm", interval=interval,
                           paired_runs=True, alternative=side)  # fmt: skip
    assert_is_holm(result.pairs)
    for pair in result.pairs:
        if interval == "welch":
            test = stats.ttest_rel(
                scores[pair.first][:4], scores[pair.second][:4], alternative=side
            )
            close(pair.p_value, test.pvalue, 1e-6)
            close([*pair.confidence_interval], [*test.confidence_interval(0.95)], 1e-6)


@each_of(FAST)
@any_seed
def test_a_method_outperforms_on_the_share_of_its_paired_runs(name, seed):
    call = call_of(name, "groups", seed=seed)
    runs = {key: [call.other() for _ in range(6)] for key in "AB"}
    options = {**call.options, "paired_runs": True}
    if name in ("slope", "intercept"):
        options["greater_is_better"] = True
    [pair] = compared_runs(call.y_true, runs, **options).pairs
    scores = [
        np.array([plain_value(call.score, call.y_true, run) for run in runs[key]])
        for key in (pair.first, pair.second)
    ]
    better = 1 if pair.greater_is_better else -1
    gap = better * (scores[0] - scores[1])
    gap = np.where(np.abs(gap) < 1e-12, 0.0, gap)
    close(pair.outperformance.probability, np.mean((np.sign(gap) + 1) / 2))
    assert pair.outperformance.n_pairs == 6
    mirrored = pair._mirrored().outperformance
    close(
        [mirrored.low, mirrored.high], [1 - pair.outperformance.high, 1 - pair.outperformance.low]
    )


# ------------------------------------------------------------------ several metrics

# Another metric of rows of this kind; "f1_macro" of all others.
BESIDE = {"probability": "roc_auc", "columns": "balanced_accuracy", "sets": "f1_micro"}
BESIDE |= dict.fromkeys(("values", "positive", "tables"), "r2")


@each_with(MEANS, ("groups", "groups in strata", "crossed", "panel"))
@any_seed
def test_the_order_of_metrics_changes_nothing_and_together_they_are_wider(name, design, seed):
    call = call_of(name, "rows", bool((len(name) + seed) % 2), seed, n=90)
    columns = {**call.columns, **drawn_columns(design, call.n, call.rng), "interval": "percentile"}
    beside = BESIDE.get(call.score.data, "f1_macro")
    metrics = {"own": call.score.metric, "other": beside, "same": call.score.metric}
    one = scored(call.y_true, call.y_pred, metric=metrics, adjust="max-t", **columns)
    back = dict(reversed(metrics.items()))
    other = scored(call.y_true, call.y_pred, metric=back, adjust="max-t", **columns)
    plain = scored(call.y_true, call.y_pred, metric=metrics, **columns)
    for key in metrics:
        close(other[key].estimate, one[key].estimate)
        close(other[key].bootstrap_distribution, one[key].bootstrap_distribution)
        close([*other[key].confidence_interval], [*one[key].confidence_interval], 1e-9)
        (low, high), (least, most) = plain[key].confidence_interval, one[key].confidence_interval
        assert least <= low + 1e-12
        assert most >= high - 1e-12
    close([*one["same"].confidence_interval], [*one["own"].confidence_interval])


def newcombe(hits, sizes, z):
    """Limits of the difference of two shares on rows of their own."""
    shares, low, high = np.divide(hits, sizes), [], []
    for p, n in zip(shares, sizes, strict=True):
        centre, half = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        low.append((centre - half) / (1 + z**2 / n))
        high.append((centre + half) / (1 + z**2 / n))
    d = shares[0] - shares[1]
    below = np.hypot(shares[0] - low[0], high[1] - shares[1])
    return d - below, d + np.hypot(high[0] - shares[0], shares[1] - low[1])


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("level", [0.95, 0.8, 0.3])
@pytest.mark.parametrize("errors", [(3, 8), (7, 2), (0, 5), (4, 3)])
@pytest.mark.parametrize("metric", ["accuracy", "zero_one_loss"])
def test_shares_of_rows_of_their_own_have_newcombes_interval_of_any_side(
    side, level, errors, metric
):
    sizes = np.array([60, 45])
    y = {name: np.arange(n) % 2 for name, n in zip("AB", sizes, strict=True)}
    said = {name: np.where(np.arange(len(y[name])) < k, 1 - y[name], y[name])
            for name, k in zip("AB", errors, strict=True)}  # fmt: skip
    how = {"metric": zero_one_loss if metric == "zero_one_loss" else metric, "paired": False}
    options = {"alternative": side, "confidence_level": level, "n_resamples": 19}
    result = quiet(skboot.compare_systems, y, said, random_state=0, **how, **options)
    [pair] = result.pairs
    hits = np.array(errors) if metric == "zero_one_loss" else sizes - errors
    z = ndtri(0.5 + level / 2) if side == "two-sided" else ndtri(level)
    low, high = newcombe(hits, sizes, abs(z))
    low, high = (low, high) if z >= 0 else (high, low)
    low, high = (-np.inf if side == "less" else low), (np.inf if side == "greater" else high)
    assert pair.confidence_interval.method == "newcombe"
    close([*pair.confidence_interval], [low, high], 1e-8)
    d = hits[0] / sizes[0] - hits[1] / sizes[1]
    reach = brentq(lambda z: newcombe(hits, sizes, z)[0 if d > 0 else 1], 0, 50, xtol=1e-12)
    tails = {"two-sided": 2 * ndtr(-reach), "greater": ndtr(-reach if d > 0 else reach),
             "less": ndtr(reach if d > 0 else -reach)}  # fmt: skip
    close(pair.p_value, tails[side], 1e-7)


@pytest.mark.parametrize("count", [8, 9, 10, 11])
def test_fewer_than_ten_rows_have_closed_forms_of_their_own(count):
    y = np.arange(120) % 2
    one = np.where(np.arange(120) < count // 2, 1 - y, y)
    other = np.where((np.arange(120) >= 60) & (np.arange(120) < 60 + (count + 1) // 2), 1 - y, y)
    [pair] = quiet(skboot.compare_systems, y, {"A": one, "B": other}, **OPTIONS).pairs
    assert sum(pair._discordant[:2]) == count
    assert pair.confidence_interval.method == ("tango" if count < 10 else "expanded")
    many, few = np.arange(120) < 30, np.arange(120) < count
    systems = {name: np.where(own, 1 - y, y) for name, own in (("A", many), ("B", few))}
    options = {"paired": False, **OPTIONS}
    [pair] = quiet(skboot.compare_systems, {"A": y, "B": y}, systems, **options).pairs
    assert pair.confidence_interval.method == ("newcombe" if count < 10 else "expanded")
    turned = quiet(skboot.compare_systems, {"A": y, "B": y},
                   {name: 1 - own for name, own in systems.items()}, **options)  # fmt: skip
    assert turned.pairs[0].confidence_interval.method == pair.confidence_interval.method
