"""Plans by hand: the pilot's own size and level, closed forms of its variance, saved pilots."""

import numpy as np
import pytest
from identity_cases import MEANS, any_seed, call_of, close, each_with, one_of, quiet, scored
from scipy.special import nctdtr, ndtr, ndtri, stdtrit

import skboot

OPTIONS = {"n_resamples": 39, "random_state": 0}


def compared(y_true, systems, **options):
    return quiet(skboot.compare_systems, y_true, systems, **{**OPTIONS, **options})


def planned(pilot, **target):
    return quiet(skboot.plan_evaluation, pilot, **target)


def assert_same_plan(one, other):
    assert (one.n_units, one.n_runs, one.unit) == (other.n_units, other.n_runs, other.unit)
    close(one.value, other.value)
    close([row.value for row in one.table], [row.value for row in other.table])
    close(one.n_units_range, other.n_units_range)
    assert one.confidence_level == other.confidence_level
    assert len(one.notes) == len(other.notes)


DESIGNS = ("rows", "strata", "groups", "groups in strata", "blocks", "panel", "drawn tasks")


def case_of(name, design, seed, n=90):
    known = {"blocks": "rows", "panel": "strata", "drawn tasks": "groups"}.get(design, design)
    call = call_of(name, known, bool((len(name) + len(design) + seed) % 2), seed, n=n)
    columns = {**call.options}
    if design in ("blocks", "panel"):
        columns["block_length"] = 3
    if design == "drawn tasks":
        columns["average_over"] = columns["groups"]
    return call, columns


@each_with(MEANS, DESIGNS)
@any_seed
def test_a_plan_says_of_the_size_of_its_pilot_what_the_pilot_said(name, design, seed, tmp_path):
    call, columns = case_of(name, design, seed)
    method = one_of(("t", "normal", "percentile"), name, len(design))
    pilot = scored(call.y_true, call.y_pred, **columns, interval=method)
    n, k = pilot.n_units, len(np.unique(call.columns.get("strata", 0)))
    error = pilot.bootstrap_distribution.std(ddof=1)

    def half_width(size, level):
        if method in ("normal", "percentile"):
            return ndtri(0.5 + level / 2) * error * np.sqrt(n / size)
        return stdtrit(size - k, 0.5 + level / 2) * error * n / np.sqrt((n - k) * size)

    for level in (None, 0.8):
        known = 0.95 if level is None else level
        plan = planned(pilot, half_width=0.7 * error, confidence_level=level)
        for row in plan.table:
            close(row.value, half_width(row.n_units, known))
        assert n in [row.n_units for row in plan.table]
        assert half_width(plan.n_units, known) <= 0.7 * error * (1 + 1e-9)
        assert half_width(plan.n_units - 1, known) > 0.7 * error
        assert plan.confidence_level == known
    at_level = scored(call.y_true, call.y_pred, **columns, interval=method, confidence_level=0.8)
    assert_same_plan(planned(at_level, half_width=0.7 * error), plan)
    pilot.save(tmp_path / "pilot.npz")
    kept = type(pilot).load(tmp_path / "pilot.npz")
    assert_same_plan(planned(kept, half_width=0.7 * error, confidence_level=0.8), plan)


@pytest.mark.parametrize("name", ["accuracy", "zero_one_loss", "subset accuracy", "cost 0/1"])
@pytest.mark.parametrize("method", ["wilson", "clopper-pearson", "wald"])
def test_a_plan_of_counts_is_the_interval_of_as_many_rows(name, method):
    call = call_of(name, n=80)
    pilot = scored(call.y_true, call.y_pred, **call.options, interval=method)
    plan = planned(pilot, half_width=0.06)
    for row in plan.table:
        if row.n_units % 80:
            continue
        rows = np.tile(np.arange(80), row.n_units // 80)
        same = scored(call.y_true[rows], call.y_pred[rows], **call.options, interval=method)
        low, high = same.confidence_interval
        close(row.value, (high - low) / 2, 1e-6)
    assert any(row.n_units == 80 for row in plan.table)


# ------------------------------------------------------------------ pairs


@each_with(MEANS, DESIGNS)
@any_seed
def test_the_power_of_a_plan_is_that_of_the_normal_or_the_t_law(name, design, seed, tmp_path):
    call, columns = case_of(name, design, seed)
    systems = {"A": call.y_pred, "B": call.other()}
    side = one_of(("two-sided", "greater", "less"), name, len(design))
    more = {**columns, "interval": "t", "alternative": side}
    result = compared(call.y_true, systems, **more)
    [pair] = result.pairs
    n, k = result.systems["A"].n_units, len(np.unique(call.columns.get("strata", 0)))
    error = pair.standard_error * np.sqrt(n / (n - k))
    effect = 0.9 * pair.standard_error

    def power(size, level):
        df = size - k
        quantile = stdtrit(df, level if side != "two-sided" else 0.5 + level / 2)
        shift = effect / (error * np.sqrt(n / size))
        return ndtr(shift - quantile) if df >= 20 else 1 - nctdtr(df, shift, quantile)

    for level, share in ((None, 0.8), (0.8, 0.6)):
        known = 0.95 if level is None else level
        plan = planned(pair, difference=effect, power=share, confidence_level=level)
        for row in plan.table:
            close(row.value, power(row.n_units, known), 1e-7, 1e-9)
        assert power(plan.n_units, known) >= share > power(plan.n_units - 1, known)
    [at_level] = compared(call.y_true, systems, **more, confidence_level=0.8).pairs
    assert_same_plan(planned(at_level, difference=effect, power=0.6), plan)
    result.save(tmp_path / "pairs.npz")
    [kept] = type(result).load(tmp_path / "pairs.npz").pairs
    assert_same_plan(planned(kept, difference=effect, power=0.6, confidence_level=0.8), plan)
    mirrored = planned(pair.mirrored(), difference=effect, power=0.6, confidence_level=0.8)
    assert_same_plan(mirrored, plan)


# ------------------------------------------------------------------ runs


def values_of_runs(rng, n_runs, n, scale=0.4):
    own = scale * rng.normal(size=(n_runs, 1))
    return 4 + own + rng.normal(size=n) + 0.9 * rng.normal(size=(n_runs, n))


@pytest.mark.parametrize("varied", ["seed", "independent"])
@pytest.mark.parametrize("design", ["rows", "groups", "strata"])
@any_seed
def test_a_plan_of_runs_has_the_variance_of_its_components(varied, design, seed):
    rng = np.random.default_rng([seed, len(varied), len(design)])
    s, n = 6, 60
    columns = {"groups": {"groups": np.arange(60) // 2}, "strata": {"strata": np.arange(60) % 3}}
    columns = {"metric": "mean", "varied": varied, **columns.get(design, {})}
    values = values_of_runs(rng, s, n)
    pilot = quiet(skboot.bootstrap_runs, None, values, **columns, **OPTIONS)
    m, k = pilot.n_units, 3 if design == "strata" else 1
    parts = pilot.variance_components
    of_runs = parts["seed" if varied == "seed" else "training"]
    test, both = parts["test"], parts["interaction"]
    low, high = pilot.confidence_interval

    def variance(runs, units):
        return of_runs / runs + test / units + both / (runs * units)

    close(pilot.standard_error, np.sqrt(variance(s, m)), 1e-7)
    plan = planned(pilot, half_width=(high - low) / 2)
    assert (plan.n_units, plan.n_runs) == (m, s)
    close(plan.value, (high - low) / 2, 1e-6)
    # So many runs that only the test units are left to vary, by which t has its freedom.
    many = 10**9
    plan = planned(pilot, half_width=0.8 * (high - low) / 2, n_runs=many)
    half = stdtrit(plan.n_units - k, 0.975) * np.sqrt(variance(many, plan.n_units))
    close(plan.value, half, 1e-4)
    # So many units that only the runs vary.
    plan = planned(pilot, half_width=2.2 * np.sqrt(of_runs / 40), n_runs=40)
    for row in plan.table:
        if row.n_units is not None and row.n_units > 10**7:
            close(row.value, stdtrit(row.n_runs - 1, 0.975) * np.sqrt(of_runs / row.n_runs), 1e-3)
    # Between these t is of between that of the runs and that of all degrees of freedom.
    for row in plan.table:
        if row.n_units is None or row.n_runs == 1:
            continue
        error = np.sqrt(variance(row.n_runs, row.n_units))
        assert row.value >= ndtri(0.975) * error * (1 - 1e-9)
        least = min(row.n_runs, row.n_units - k + 1) - 1
        assert row.value <= stdtrit(least, 0.975) * error * (1 + 1e-9)


@pytest.mark.parametrize("paired", [False, True])
@any_seed
def test_a_plan_of_methods_has_the_parts_of_their_difference(paired, seed):
    rng = np.random.default_rng([seed, paired])
    methods = {"A": values_of_runs(rng, 5, 60), "B": values_of_runs(rng, 5, 60) + 0.3}
    result = quiet(skboot.compare_runs, None, methods, metric="mean", paired_runs=paired, **OPTIONS)
    [pair] = result.pairs
    runs, test = pair.components["runs"], pair.components["test"]
    effect = 1.5 * pair.standard_error
    many = 10**9
    if runs == 0:
        return
    # Of very many runs of each the part of the test units stays.
    plan = planned(pair, difference=effect, n_runs=many)
    error = np.sqrt(runs * 5 / many + test * 60 / plan.n_units)
    close(plan.value, ndtr(effect / error - stdtrit(plan.n_units - 1, 0.975)), 1e-4)
    for row in plan.table:
        if row.n_units is None:
            continue
        error = np.sqrt(runs * 5 / row.n_runs + test * 60 / row.n_units)
        assert row.value <= ndtr(effect / error - ndtri(0.975)) + 1e-3
