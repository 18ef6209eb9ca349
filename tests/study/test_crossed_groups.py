"""Crossed groups: the two columns change places, members stand with themselves, two-way limits.

Exact: the influence of a row is the score less that of the plain function without it, and the
variance of two factors is that of their members less that of their cells. In one population the
members of both columns are drawn together, so that the columns may change places; two factors that
change places have other resamples, and the same variance. Variances of systems on rows of their
own add up.
"""

import numpy as np
import pytest
from identity_cases import (
    FAST,
    OPTIONS,
    any_seed,
    call_of,
    close,
    compared,
    each_of,
    quiet,
    scored,
    spread_of,
)
from scipy.special import ndtri, stdtrit

import skboot
from skboot import Crossed, Trials

pytestmark = pytest.mark.identity

# Not smooth, or with bins and lines that rows are sorted into.
NOT_SMOOTH = ("ece", "slope", "intercept", "median")
SMOOTH = [name for name in FAST if name not in NOT_SMOOTH]


def members_of(n, rng):
    """Two columns of members, of which some rows pair a member with itself."""
    return np.column_stack([rng.integers(0, 9, n), rng.integers(2, 8, n)])


def case_of(name, same, seed, n=50):
    weighted = bool((len(name) + same + seed) % 2)
    call = call_of(name, "rows", weighted, seed, n=n)
    return call, members_of(n, call.rng)


def sums_by(influence, key):
    return np.bincount(np.unique(key, return_inverse=True, axis=0)[1].ravel(), influence)


def two_way_variance(influence, members, same):
    """V_1 + V_2 - V_cells, at least its largest term (STATISTICS, two-way crossed)."""
    first, second = members.T
    if not same:
        cells = np.sum(sums_by(influence, members) ** 2)
        sides = [sums_by(influence, column) for column in (first, second)]
    else:
        apart = first != second
        names = np.unique(members)
        ends = [np.sum(influence[(first == k) | ((second == k) & apart)]) for k in names]
        ordered = np.sort(members, axis=1)
        cells = np.sum(sums_by(influence * apart, ordered) ** 2)
        sides = [np.array(ends)]
    of_sides = [np.sum(side**2) * len(side) / (len(side) - 1) for side in sides]
    return max(sum(of_sides) - cells, cells, *of_sides), min(map(len, sides)) - 1


def two_way_limits(replicates, percentiles, variance, df, level=0.95):
    ratio = stdtrit(df, (1 - level) / 2) / ndtri((1 - level) / 2)
    share = min(ratio * np.sqrt(variance) / replicates.std(ddof=1), 1.0)
    centre = replicates.mean()
    return [centre + share * (limit - centre) for limit in percentiles]


def influence_of(call, y_pred):
    call = call._replace(y_pred=y_pred)
    every = np.arange(call.n)
    return call.at(every) - np.array([call.at(every != k) for k in every])


@each_of(SMOOTH)
@pytest.mark.parametrize("same", [False, True])
@any_seed
def test_two_way_limits_follow_from_the_score_without_each_row(name, same, seed):
    call, members = case_of(name, same, seed)
    options = {**call.options, "groups": (Trials if same else Crossed)(*members.T)}
    result = scored(call.y_true, call.y_pred, **options)
    if result._evidence.robust_variance is None:
        with pytest.raises(ValueError, match="two-way"):
            quiet(result.interval, "two-way")
        return
    other = call.other()
    influence = [influence_of(call, own) for own in (call.y_pred, other)]
    if not np.isfinite(influence).all():
        return
    variance, df = two_way_variance(influence[0], members, same)
    close(result._evidence.robust_variance, variance, 1e-5)
    assert result._evidence.drawn.degrees_of_freedom == df
    if np.ptp(result.bootstrap_distribution) > 1e-9:
        percentiles = quiet(result.interval, "percentile")
        expected = two_way_limits(result.bootstrap_distribution, percentiles, variance, df)
        close([*quiet(result.interval, "two-way")], expected, 1e-5, 1e-8)
    both = compared(call.y_true, {"A": call.y_pred, "B": other}, **options, interval="two-way")
    drawn = np.subtract(*(both.systems[key].bootstrap_distribution for key in "AB"))
    if not np.ptp(drawn) > 1e-9:  # NaN, or all alike
        return
    [pair] = both.pairs
    sign = 1 if pair.first == "A" else -1
    variance, df = two_way_variance(influence[0] - influence[1], members, same)
    [plain] = compared(
        call.y_true, {"A": call.y_pred, "B": other}, **options, interval="percentile"
    ).pairs
    expected = two_way_limits(sign * drawn, plain.confidence_interval, variance, df)
    close([*pair.confidence_interval], expected, 1e-4, 1e-7)


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("name", ["accuracy of two", "mae", "f1_macro", "auc"])
def test_two_way_limits_of_rows_of_their_own_have_the_sum_of_the_variances(name, same):
    calls = [call_of(name, n=n, seed=n) for n in (50, 70)]
    members = [members_of(call.n, call.rng) for call in calls]
    groups = [(Trials if same else Crossed)(*own.T) for own in members]
    rows = [dict(zip("AB", own, strict=True)) for own in (
        [call.y_true for call in calls], [call.y_pred for call in calls], groups)]  # fmt: skip
    options = {"metric": calls[0].score.metric}
    result = compared(*rows[:2], groups=rows[2], paired=False, interval="two-way", **options)
    alone = [
        scored(call.y_true, call.y_pred, groups=own, **options)
        for call, own in zip(calls, groups, strict=True)
    ]
    variance = sum(one._evidence.robust_variance for one in alone)
    df = min(one._evidence.drawn.degrees_of_freedom for one in alone)
    [pair] = result.pairs
    drawn = result.replicates("A", "B")
    plain = compared(*rows[:2], groups=rows[2], paired=False, interval="percentile", **options)
    percentiles = plain.pairs[0].confidence_interval
    expected = two_way_limits(drawn, percentiles, variance, df)
    close([*pair.confidence_interval], expected, 1e-6, 1e-9)


@each_of(SMOOTH)
@any_seed
def test_columns_of_members_may_change_places(name, seed):
    call, members = case_of(name, True, seed)
    systems = {"A": call.y_pred, "B": call.other()}
    by = (members.sum(axis=1) % 2).astype(bool)
    found, variances = [], []
    for groups in (members, members[:, ::-1]):
        options = {**call.options, "groups": groups}
        two = scored(call.y_true, call.y_pred, **options)
        variances.append([two.estimate, two._evidence.robust_variance or 0.0])
        variances[-1] += [two._evidence.drawn.degrees_of_freedom]
        assert [*two.n_units] == [len(np.unique(column)) for column in groups.T]
        options["groups"] = Trials(*groups.T)
        one = scored(call.y_true, call.y_pred, **options)
        [pair] = compared(call.y_true, systems, **options).pairs
        parts = scored(call.y_true, call.y_pred, by=by, **options)
        found.append([one.estimate, *one.bootstrap_distribution, *one.confidence_interval])
        found[-1] += [pair.difference, pair.standard_error, *pair.confidence_interval]
        found[-1] += [pair.p_value, parts[True].standard_error, parts["gap"].estimate]
        assert one.n_units == len(np.unique(members))
    close(*found, 1e-6, 1e-9)
    close(*variances, 1e-7, 1e-10)


@each_of(SMOOTH)
@any_seed
def test_members_with_themselves_are_groups_for_pairs_and_subgroups(name, seed):
    call = call_of(name, "groups", bool((len(name) + seed) % 2), seed, n=80)
    groups = call.columns["groups"]
    # Sizes of members are not looked at, those of groups are.
    groups[:] = np.unique(call.rng.permutation(80) % 20, return_inverse=True)[1]
    call.columns.pop("sample_weight", None)
    systems = {"A": call.y_pred, "B": call.other()}
    both = {"groups": Trials(groups, groups)}
    found = []
    for own in ({}, both):
        options = {**call.options, **own}
        one = scored(call.y_true, call.y_pred, **options)
        pairs = compared(call.y_true, systems, **options, interval="percentile")
        [pair] = pairs.pairs
        parts = scored(call.y_true, call.y_pred, by=groups % 2, **options)
        found.append([one.estimate, *one.bootstrap_distribution, *quiet(one.interval, "t")])
        found[-1] += [*quiet(one.interval, "percentile"), one.n_units]
        found[-1] += [pair.difference, pair.standard_error, *pair.confidence_interval]
        found[-1] += [pair.p_value, spread_of(pairs.systems["B"])]
        found[-1] += [spread_of(parts[k]) for k in (0, 1)]
    close(*found, 1e-6, 1e-9)


@pytest.mark.parametrize("curve", ["roc", "det", "precision_recall", "calibration", "decision"])
@any_seed
def test_curves_of_members_follow_their_pairs(curve, seed):
    call, members = case_of("log_loss", True, seed)
    grid = [0.0, 0.4, 0.6, 1.0] if curve == "calibration" else [0.2, 0.5]
    options = {**OPTIONS, **call.columns, "curve": curve, "grid": grid}
    first, second = members.T
    for both in (
        (Trials(first, second), Trials(second, first)),
        (first, Trials(first, first)),
    ):
        one, other = (
            quiet(skboot.bootstrap_curve, call.y_true, call.y_pred, **options, groups=groups)
            for groups in both
        )
        close(other.estimate, one.estimate)
        close(other.bootstrap_distribution, one.bootstrap_distribution, 1e-8, 1e-10)
        if isinstance(both[0], Trials):
            close([other.low, other.high], [one.low, one.high], 1e-7, 1e-9)
