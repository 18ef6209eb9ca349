"""Few groups, members and rows by hand: score intervals, values without each unit, small plans.

Exact: Wilson's interval of as many rows as carry the same variance, the jackknife of metrics that
are no sums, and plans of pilots of four to nine units, whose own width they have.
"""

import numpy as np
import pytest
from identity_cases import (
    MEANS,
    OPTIONS,
    any_seed,
    call_of,
    close,
    each_of,
    freedom_by_hand,
    means_of,
    one_of,
    quiet,
    scored,
)
from scipy.special import ndtri, stdtrit

import skboot
from skboot import Crossed, Trials

pytestmark = pytest.mark.identity


def kish(weight):
    return weight.sum() ** 2 / np.sum(weight**2)


def wilson(share, n, z):
    middle, half = share + z**2 / (2 * n), z * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    return np.array([middle - half, middle + half]) / (1 + z**2 / n)


def range_of(call, values, sign):
    low, high = call.score.bounds
    if np.isin(values, (0, 1)).all() and values.any() and not np.isfinite(low + high):
        return (0.0, 1.0) if sign > 0 else (-1.0, 0.0)
    return low, high


def limits_of_few_groups(call, values, sign, level):
    """Score limits of a mean of values in groups, in strata or not."""
    groups = call.columns["groups"]
    weight = call.columns.get("sample_weight", np.ones(call.n))
    values = sign * values
    mean = np.average(values, weights=weight)
    _, first, unit = np.unique(groups, return_index=True, return_inverse=True)
    strata = call.columns.get("strata", np.zeros(call.n))[first]
    influence = np.bincount(unit, weight * (values - mean)) / weight.sum()
    stratum = np.unique(strata, return_inverse=True)[1]
    influence -= (np.bincount(stratum, influence) / np.bincount(stratum))[stratum]
    (df, inflation), z = freedom_by_hand(call.columns, call.n), ndtri(0.5 + level / 2)
    variance = np.sum(influence**2) * inflation
    carriers = np.sum(influence**2) ** 2 / np.sum(influence**4)
    t = stdtrit(min(carriers + 2, df), 0.5 + level / 2)
    low, high = range_of(call, values, sign)
    if np.isfinite(low + high):
        share = (mean - low) / (high - low)
        n_rows = min((mean - low) * (high - mean) / variance, kish(weight))
        of_groups = np.bincount(unit, weight)
        perfect = (z / stdtrit(df, 0.5 + level / 2)) ** 2
        size = max(n_rows * (z / t) ** 2, min(n_rows, kish(of_groups)) * perfect)
        # The correlation that all groups show, to which each counts by its rows.
        n, rows = kish(weight), of_groups / of_groups.sum() * kish(weight)
        within = n * (mean - low) * (high - mean) - np.sum((influence * n) ** 2 / rows)
        between = 1 - within / ((n - len(rows)) * (mean - low) * (high - mean))
        of_any = n / (1 + (np.sum(rows**2) / n - 1) * np.clip(between, 0, 1))
        size = min(size, of_any * perfect)
        return low + (high - low) * wilson(share, size, z), "wilson"
    end = 1 if np.isfinite(low) else -1
    distance = mean - low if end > 0 else high - mean
    shift = t**2 * variance / (2 * distance)
    half = np.sqrt(t**2 * variance + shift**2)
    return np.array([mean + end * shift - half, mean + end * shift + half]), "score"


@each_of([name for name in MEANS if np.isfinite(call_of(name).score.bounds).any()], n=2)
@pytest.mark.parametrize("design", ["groups", "groups in strata"])
@any_seed
def test_few_groups_have_the_score_interval_of_what_carries_their_variance(name, design, seed):
    weighted = bool((len(name) + len(design) + seed) % 2)
    call = call_of(name, design, weighted, seed, n=36)
    values, sign = means_of(call)
    found = 0
    for level in (0.8, 0.95):
        result = scored(call.y_true, call.y_pred, **call.options, confidence_level=level)
        expected, method = limits_of_few_groups(call, values, sign, level)
        if result.confidence_interval.method == method:
            close([*result.confidence_interval], expected, 1e-6, 1e-9)
            found += 1
    assert found or result.confidence_interval.method not in ("wilson", "score")


@pytest.mark.parametrize("n_groups", [5, 9, 20])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_groups_without_an_error_are_as_many_rows_as_their_t_allows(n_groups, level):
    y = np.arange(6 * n_groups) % 2
    groups = np.arange(6 * n_groups) // 6
    for weight in (None, np.ones(6 * n_groups) + groups % 3):
        result = scored(y, y, groups=groups, sample_weight=weight, confidence_level=level)
        worth = n_groups if weight is None else kish(np.bincount(groups, weight))
        ratio = ndtri(0.5 + level / 2) / stdtrit(worth - 1, 0.5 + level / 2)
        expected = wilson(1.0, worth * ratio**2, ndtri(0.5 + level / 2))
        close([*result.confidence_interval], expected, 1e-7)


# ------------------------------------------------------------------ without each unit


OF_JUMPS = ("eer", "neg eer", "fpr_at", "sensitivity_at", "specificity_at", "min dcf", "median",
            "auc", "ap", "cllr", "slope", "intercept", "r2", "mcc")  # fmt: skip


@pytest.mark.parametrize("name", OF_JUMPS)
@pytest.mark.parametrize("design", ["groups", "groups in strata", "strata"])
@any_seed
def test_every_metric_without_each_unit_is_that_of_the_other_rows(name, design, seed):
    call = call_of(name, design, bool((len(name) + len(design) + seed) % 2), seed)
    result = scored(call.y_true, call.y_pred, **{**call.options, "interval": "bca"})
    groups = call.columns.get("groups", np.arange(call.n))
    names, first, unit = np.unique(groups, return_index=True, return_inverse=True)
    strata = call.columns.get("strata", np.zeros(call.n))[first]
    stratum = np.unique(strata, return_inverse=True)[1]
    values = np.array([call.at(unit != k) for k in range(len(names))])
    if not np.isfinite(values).all():
        return
    sizes = np.bincount(stratum)
    centres = np.bincount(stratum, values) / sizes if len(sizes) > 1 else [result.estimate]
    share = ((sizes - 1) / sizes)[stratum] * (np.asarray(centres)[stratum] - values)
    expected = np.sum(share**3) / (6 * np.sum(share**2) ** 1.5)
    close(result._evidence.acceleration, expected, 1e-5, 1e-7)


# ------------------------------------------------------------------ small pilots


@pytest.mark.parametrize("n", [4, 6, 9])
@pytest.mark.parametrize("design", ["rows", "groups", "strata"])
@pytest.mark.parametrize("method", ["t", "normal"])
def test_a_plan_of_few_units_has_their_correction(design, method, n):
    rng = np.random.default_rng(n)
    values = rng.gamma(3.0, size=(3, n))
    strata = np.arange(n) % 2
    rows = {"rows": (values[0], {}), "strata": (values[0], {"strata": strata}),
            "groups": (values.ravel(), {"groups": np.tile(np.arange(n), 3)})}  # fmt: skip
    own, columns = rows[design]
    k = 2 if design == "strata" else 1
    pilot = scored(None, own, metric="mean", interval=method, **columns, n_resamples=199)
    quantile = (lambda m: stdtrit(m - k, 0.975)) if method == "t" else (lambda m: ndtri(0.975))
    factor = n / (n - k) if method == "t" else 1.0
    error = pilot.bootstrap_distribution.std(ddof=1)

    def half_width(m):
        return quantile(m) * error * np.sqrt(factor * n / m)

    if method == "t" and design != "strata":
        low, high = quiet(pilot.interval, "t")
        close((high - low) / 2, half_width(n), 1e-6)
    for aim in (0.4, 1.0, 1.7):
        plan = quiet(skboot.plan_evaluation, pilot, half_width=aim * half_width(n) * (1 + 1e-9))
        for row in plan.table:
            close(row.value, half_width(row.n_units), 1e-8)
        assert half_width(plan.n_units) <= aim * half_width(n) * (1 + 1e-8)
        smaller = plan.n_units - 1
        assert smaller <= k or half_width(smaller) > aim * half_width(n)
        assert aim != 1.0 or plan.n_units == n
        assert plan.pilot_n_units == n


@pytest.mark.parametrize("n", [4, 6, 9])
@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_a_plan_of_a_pair_of_few_units_has_their_t(side, n):
    rng = np.random.default_rng(n)
    systems = {"A": rng.gamma(3.0, size=n), "B": rng.gamma(3.0, size=n)}
    [pair] = quiet(skboot.compare_systems, None, systems, metric="mean", interval="t",
                   alternative=side, **OPTIONS).pairs  # fmt: skip
    error = pair.standard_error * np.sqrt(n / (n - 1))
    for effect in (1.5 * error, 4 * error):
        plan = quiet(skboot.plan_evaluation, pair, difference=effect)
        sizes = [row.n_units for row in plan.table if row.n_units > 40]
        for row in plan.table:
            m = row.n_units
            if m < 40:
                continue
            quantile = stdtrit(m - 1, 0.95 if side != "two-sided" else 0.975)
            from_normal = effect / (error * np.sqrt(n / m)) - quantile
            close(ndtri(row.value) if row.value < 1 else from_normal, from_normal, 1e-6, 1e-8)
        assert sizes or plan.n_units < 40


@pytest.mark.parametrize("design", ["crossed", "one population"])
@pytest.mark.parametrize("name", ["accuracy", "neg mae", "r2"])
def test_few_members_widen_what_they_vary(design, name):
    """Limits of Student's t with the variance of members, n / (n - 1) times that of cells."""
    call = call_of(name, n=48)
    first, second = call.rng.permutation(np.arange(48) % 4), call.rng.permutation(np.arange(48) % 6)
    same = design == "one population"
    groups = np.column_stack([first, second + (0 if same else 10)])
    units = (Trials if same else Crossed)(*groups.T)
    result = scored(call.y_true, call.y_pred, **call.options, groups=units)
    every = call.at(slice(None))
    influence = np.array([every - call.at(np.arange(48) != k) for k in range(48)])

    def total(keys):
        return np.sum(np.bincount(np.unique(keys, return_inverse=True)[1].ravel(), influence) ** 2)

    if not same:
        cells = total(first * 100 + second)
        sides = [total(own) * m / (m - 1) for own, m in ((first, 4), (second, 6))]
    else:
        apart = first != second
        ends = [influence[(first == k) | ((second == k) & apart)].sum() for k in range(6)]
        key = np.minimum(first, second) * 100 + np.maximum(first, second)
        inside = np.unique(key, return_inverse=True)[1].ravel()
        cells = np.sum(np.bincount(inside, influence * apart) ** 2)
        sides = [np.sum(np.square(ends)) * 6 / 5]
    expected = max(sum(sides) - cells, cells, *sides)
    close(result._evidence.robust_variance, expected, 1e-5)


@each_of(MEANS)
@any_seed
def test_a_width_that_a_pilot_has_is_planned_at_its_own_size(name, seed):
    """For any interval that the pilot shows, in any design: its size, and one unit less is not."""
    design = one_of(("rows", "strata", "groups", "groups in strata"), name, seed)
    call = call_of(name, design, bool(len(name) % 2), seed, n=24)
    for method in ("t", "normal"):
        pilot = scored(call.y_true, call.y_pred, **call.options, interval=method)
        plan = quiet(skboot.plan_evaluation, pilot, half_width=pilot.standard_error)
        [own] = [row.value for row in plan.table if row.n_units == pilot.n_units]
        again = quiet(skboot.plan_evaluation, pilot, half_width=own * (1 + 1e-9))
        assert again.n_units == pilot.n_units
