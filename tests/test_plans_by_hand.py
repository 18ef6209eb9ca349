"""Plans by hand: the pilot's own size and level, closed forms of its variance, saved pilots."""

import numpy as np
import pytest
from identity_cases import (
    MEANS,
    OPTIONS,
    any_seed,
    call_of,
    close,
    compared,
    each_with,
    freedom_by_hand,
    one_of,
    quiet,
    scored,
)
from scipy import stats
from scipy.optimize import brentq
from scipy.special import nctdtr, ndtr, ndtri, stdtrit

import skboot

pytestmark = pytest.mark.identity


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
    df, inflation = n - k, n / (n - k)
    if design not in ("blocks", "panel", "drawn tasks"):
        df, inflation = freedom_by_hand(call.columns, call.n)
    worth = (df + k) / n

    def half_width(size, level):
        if method in ("normal", "percentile"):
            return ndtri(0.5 + level / 2) * error * np.sqrt(n / size)
        t = stdtrit(size * worth - k, 0.5 + level / 2)
        return t * error * np.sqrt(inflation * n / size)

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
    df, inflation = n - k, n / (n - k)
    if design not in ("blocks", "panel", "drawn tasks"):
        df, inflation = freedom_by_hand(call.columns, call.n)
    # A pair that few units move has their degrees of freedom.
    df = min(df, pair.degrees_of_freedom)
    error, worth = pair.standard_error * np.sqrt(inflation), (df + k) / n
    effect, freedom = 0.9 * pair.standard_error, pair._error_freedom or np.inf

    def power(size, level):
        # Of few rows that decide the error is less sure than of normal values.
        df = max(min(size * worth - k, freedom * size / n), 1)
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
    mirrored = planned(pair._mirrored(), difference=effect, power=0.6, confidence_level=0.8)
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


# ------------------------------------------------------------------ parts by size


class Parts:
    """Squared standard error by what lessens it, with Satterthwaite's degrees of freedom."""

    def __init__(self, units, both, runs, sizes, df, n_strata=1, df_runs=None):
        self.units, self.both, self.runs = units, both, runs
        self.m, self.s, self.k = *sizes, n_strata
        self.df_runs = self.s - 1 if df_runs is None else df_runs
        total = units + both + runs
        rest = total**2 / df - (units + both) ** 2 / (self.m - self.k)
        self.noise = max(np.sqrt(max(rest, 0) * self.df_runs) - runs, 0)

    def error_and_freedom(self, m, s):
        more_units, more_runs = self.m / m, self.s / s
        test = (self.units + self.both * more_runs) * more_units
        between = (self.runs + self.noise * more_units) * more_runs
        df_runs = self.df_runs * (s - 1) / (self.s - 1)
        variance = self.runs * more_runs + test
        squares = test**2 / (m - self.k) + between**2 / df_runs
        return np.sqrt(variance), max(variance**2 / squares, 1)

    def factors(self, m, s, level):
        """Of the variance, by what the pilot knows of it."""
        more_units, more_runs = self.m / m, self.s / s
        test, between = (self.units + self.both) * more_units, (self.runs + self.noise) * more_runs
        variance = self.error_and_freedom(m, s)[0] ** 2
        df = variance**2 / (test**2 / (self.m - self.k) + between**2 / self.df_runs)
        return [df / stats.chi2.ppf(0.5 + side * level / 2, df) for side in (1, -1)]


def freedom_of(half_by_error, level):
    """Degrees of freedom at which Student's quantile is this many standard errors."""
    return brentq(lambda df: stdtrit(df, 0.5 + level / 2) - half_by_error, 0.5, 1e7)


@pytest.mark.parametrize("design", ["rows", "strata"])
@pytest.mark.parametrize("n_runs", [None, 9])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_a_plan_of_runs_has_satterthwaites_freedom_at_every_size(design, n_runs, level):
    rng = np.random.default_rng(len(design))
    values = values_of_runs(rng, 6, 60, 0.25)
    columns = {"strata": np.arange(60) % 3} if design == "strata" else {}
    options = {"metric": "mean", "varied": "seed", "confidence_level": level, **columns, **OPTIONS}
    pilot = quiet(skboot.bootstrap_runs, None, values, **options)
    m, s, k = 60, 6, 3 if columns else 1
    parts = pilot.variance_components
    half = np.diff([*pilot.confidence_interval])[0] / 2
    df = freedom_of(half / pilot.standard_error, level)
    own = Parts(parts["test"] / m, parts["interaction"] / m / s, parts["seed"] / s, (m, s), df, k)
    target = 0.85 * half
    plan = planned(pilot, half_width=target, n_runs=n_runs)

    def half_width(units, runs):
        error, freedom = own.error_and_freedom(units, runs)
        return stdtrit(freedom, 0.5 + level / 2) * error

    for row in plan.table:
        if row.n_units is not None:
            close(row.value, half_width(row.n_units, row.n_runs), 1e-5)
            assert row.value <= target * (1 + 1e-9)
    for end, factor in zip(plan.n_units_range, own.factors(plan.n_units, plan.n_runs, level),
                           strict=True):  # fmt: skip
        if np.isfinite(end):
            assert half_width(end, plan.n_runs) * np.sqrt(factor) <= target * (1 + 1e-4)
            if end > k + 1:
                assert half_width(end - 1, plan.n_runs) * np.sqrt(factor) > target * (1 - 1e-4)


@pytest.mark.parametrize("sizes", [(5, 5), (4, 8)])
@pytest.mark.parametrize("paired", [False, True])
def test_a_plan_of_methods_has_the_freedom_of_the_runs_of_both(sizes, paired):
    rng = np.random.default_rng(1)
    if paired:
        sizes = (sizes[1], sizes[1])
    methods = {name: values_of_runs(rng, n, 60, 0.2) for name, n in zip("AB", sizes, strict=True)}
    result = quiet(skboot.compare_runs, None, methods, metric="mean", paired_runs=paired, **OPTIONS)
    [pair] = result.pairs
    runs, test = pair.components["runs"], pair.components["test"]
    s = 2 / sum(1 / n for n in sizes)
    df_runs = (s - 1) * (1 if paired else 2)
    own = Parts(test, 0, runs, (60, s), pair.degrees_of_freedom, df_runs=df_runs)
    effect = 3 * pair.standard_error
    plan = planned(pair, difference=effect, power=0.7, n_runs=12)
    for row in plan.table:
        if row.n_units is None:
            continue
        error, df = own.error_and_freedom(row.n_units, row.n_runs)
        quantile, shift = stdtrit(df, 0.975), effect / error
        power = ndtr(shift - quantile) if df >= 20 else 1 - nctdtr(df, shift, quantile)
        close(row.value, power, 1e-6)
        assert row.value >= 0.7


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_a_margin_of_right_and_wrong_rows_is_planned_by_tangos_limits(level):
    y = np.arange(200) % 2
    systems = {"A": y, "B": y.copy()}
    systems["A"] = np.where(np.arange(200) % 10 == 3, 1 - y, y)
    systems["B"] = np.where(np.arange(200) % 10 == 4, 1 - y, y)
    [pair] = compared(y, systems, confidence_level=level).pairs
    assert (*pair._discordant,) == (20, 20, 200)
    plan = planned(pair, margin=0.09)

    def power(n, share=0.2):
        half = round(share * n / 2)
        low = skboot.inference.tango_interval(half, half, n, confidence_level=level).low
        return ndtr((0.09 + low) / np.sqrt(share / n))

    sizes = [row for row in plan.table if row.n_units % 10 == 0]
    assert sizes
    for row in sizes:
        close(row.value, power(row.n_units), 1e-7)
    # The range is of Wilson's limits of the share of rows that differ.
    share = skboot.inference.proportion_interval(40, 200, method="wilson", confidence_level=level)
    for end, one in zip(plan.n_units_range, share, strict=True):
        assert abs(power(end, one) - 0.8) < 0.02


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_range_of_a_plan_adds_up_what_is_unknown_of_the_variance(level):
    call = call_of("f1", n=80)
    pilot = scored(call.y_true, call.y_pred, metric="f1", interval="t", confidence_level=level)
    plan = planned(pilot, half_width=0.05)
    x, (low, high) = pilot.estimate, pilot.confidence_interval
    nearest = min(max(0.5, low), high)
    by_score = [one * (1 - one) / (x * (1 - x)) for one in (low, high, nearest)]
    others = min(1, max(min(by_score), 0.01)), max(1, *by_score)
    error = pilot.standard_error * np.sqrt(80 / 79)
    for end, side, other in zip(plan.n_units_range, (1, -1), others, strict=True):
        own = 79 / stats.chi2.ppf(0.5 + side * level / 2, 79)
        factor = np.exp(-side * np.hypot(np.log(own), np.log(other)))
        for n, is_enough in ((end, True), (end - 1, False)):
            half = stdtrit(n - 1, 0.5 + level / 2) * error * np.sqrt(80 / n * factor)
            assert (half <= 0.05) == is_enough


@pytest.mark.parametrize("hits", [19, 30, 6])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_range_of_a_plan_of_a_share_is_by_its_wilson_limits(hits, level):
    y = np.ones(40, dtype=int)
    pilot = scored(y, (np.arange(40) < hits).astype(int), metric="accuracy", interval="wilson",
                   confidence_level=level)  # fmt: skip
    plan = planned(pilot, half_width=0.06)
    low, high = skboot.inference.proportion_interval(
        hits, 40, method="wilson", confidence_level=level
    )
    sizes = [
        planned(None, proportion=share, half_width=0.06, confidence_level=level).n_units
        for share in (low, high, min(max(0.5, low), high))
    ]
    assert plan.n_units_range == (min(sizes), max(sizes))
