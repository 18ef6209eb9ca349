"""One score in every design, by hand: its units, its limits at any level, and what it leaves out.

Exact. A design says by hand which unit each row belongs to and which stratum each unit: that gives
the degrees of freedom, the values without each unit, and what is held fixed. Limits are those of a
quantile that the tests compute for themselves.
"""

import numpy as np
import pytest
from identity_cases import (
    FAST,
    MEANS,
    any_seed,
    call_of,
    close,
    each_with,
    freedom_by_hand,
    quiet,
    scored,
    unless,
    varies_with_resamples,
)
from scipy.special import ndtr, ndtri, stdtrit

pytestmark = pytest.mark.identity

N = 47
UNITS = "the number of units in each stratum"


def in_order(numbers):
    """The place of each row among those with its number."""
    place = np.empty(len(numbers), dtype=int)
    for one in np.unique(numbers):
        place[numbers == one] = np.arange(np.sum(numbers == one))
    return place


def numbered(*columns):
    """Number of the values of each row among those that occur."""
    return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].ravel()


def rows(rng):
    return {}, np.arange(N), np.zeros(N, int), ()


def strata(rng):
    own = rng.permutation(np.arange(N) % 3)
    return {"strata": own}, np.arange(N), own, (UNITS,)


def many_strata(rng):
    own = rng.permutation(np.arange(N) // 4)
    return {"strata": own}, np.arange(N), own, (UNITS,)


def groups(rng):
    own = rng.permutation(np.r_[np.arange(17), rng.integers(0, 17, N - 17)])
    return {"groups": own}, own, np.zeros(N, int), ()


def groups_in_many_strata(rng):
    own = rng.permutation(np.r_[np.arange(17), rng.integers(0, 17, N - 17)])
    return {"groups": own, "strata": own // 3}, own, own // 3, (UNITS,)


def series(rng):
    """Six blocks of eight rows, the last of which has seven."""
    return {"block_length": 8}, np.arange(N) // 8, np.zeros(N, int), ()


def series_with_a_short_block(rng):
    return {"block_length": 9}, np.arange(N) // 9, np.zeros(N, int), ()


def several_series(rng):
    own = rng.permutation(np.repeat([2, 0, 1], [20, 15, N - 35]))
    columns = {"block_length": 4, "strata": own}
    return columns, numbered(own, in_order(own) // 4), own, ("the length of each series",)


def two_series(rng):
    """Blocks of five rows; the last of each series has fewer."""
    own = rng.permutation(np.repeat([1, 0], [29, N - 29]))
    columns = {"block_length": 5, "strata": own}
    return columns, numbered(own, in_order(own) // 5), own, ("the length of each series",)


DESIGNS = (rows, strata, many_strata, groups, groups_in_many_strata, series,
           series_with_a_short_block, several_series, two_series)  # fmt: skip


class Case:
    """The call of a score in a design, its units and their strata."""

    def __init__(self, name, design, seed, n=N):
        weighted = bool((len(name) + len(design.__name__) + seed) % 2)
        self.call = call_of(name, "rows", weighted, seed, n=n)
        self.columns, self.unit, stratum, self.fixed = design(self.call.rng)
        first = np.unique(self.unit, return_index=True)[1]
        self.stratum = numbered(stratum[first])
        self.n_units = len(first)
        columns = {**self.call.columns, **self.columns}
        self.df = self.n_units - len(np.unique(stratum))
        self.inflation = self.unequal = self.n_units / self.df
        if "groups" in columns:
            self.df, self.inflation = freedom_by_hand(columns, n)
        self.unequal = self.inflation / self.unequal

    def scored(self, **options):
        options = {**self.call.options, **self.columns, "n_resamples": 19, **options}
        return scored(self.call.y_true, self.call.y_pred, **options)


def quantile(values, level):
    """Order statistic (B + 1) level, between two of them on the scale of normal quantiles."""
    ordered = np.sort(values[~np.isnan(values)])
    b = len(ordered)
    rank = (b + 1) * level
    k = int(np.floor(rank + 1e-9))
    if k < 1 or k >= b:
        return ordered[0] if k < 1 else ordered[-1]
    if abs(rank - k) < 1e-9:
        return ordered[k - 1]
    at = ndtri(np.array([k, k + 1]) / (b + 1))
    share = (ndtri(level) - at[0]) / (at[1] - at[0])
    return ordered[k - 1] + share * (ordered[k] - ordered[k - 1])


# ------------------------------------------------------------------ units


@each_with([name for name in FAST if name != "ece"], DESIGNS)
@any_seed
def test_bca_leaves_out_each_unit_of_any_design(name, design, seed):
    case = Case(name, design, seed)
    values = np.array([case.call.at(case.unit != k) for k in range(case.n_units)])
    result = unless("bca", case.scored, interval="bca")
    if result is None or not np.isfinite(values).all():
        return
    sizes = np.bincount(case.stratum)
    centres = np.array([result.estimate])
    if len(sizes) > 1:
        centres = np.bincount(case.stratum, values) / sizes
    share = ((sizes - 1) / sizes * centres)[case.stratum] - ((sizes - 1) / sizes)[
        case.stratum
    ] * values
    squares = np.sum(share**2)
    expected = np.sum(share**3) / (6 * squares**1.5) if squares > 1e-20 else 0.0
    close(result._evidence.acceleration, expected, 1e-5, 1e-7)
    if result._evidence.jackknife_bias is None or squares <= 1e-20:
        return
    bias = (1 - len(sizes) / case.n_units) * np.sum(values - result.estimate)
    close([*result._evidence.jackknife_bias], [bias, np.sqrt(squares)], 1e-5, 1e-7)


@each_with(FAST, DESIGNS)
@any_seed
def test_units_less_strata_are_the_freedom_of_any_design(name, design, seed):
    case = Case(name, design, seed)
    # Calibration errors of blocks of rows have no interval.
    result = unless("here 'bins'", case.scored, n_resamples=39)
    if result is None:
        assert name == "ece"
        assert "block_length" in design(np.random.default_rng(0))[0]
        return
    assert result.n_units == case.n_units
    assert result.n_samples == N
    assert result.held_fixed == ("the trained system", *case.fixed)
    drawn = result.bootstrap_distribution
    known = drawn[np.isfinite(drawn)]
    assert result.n_undefined == len(drawn) - len(known)
    close(result.bias, known.mean() - result.estimate, 1e-7, 1e-9)
    if varies_with_resamples(result):
        close(result.standard_error, known.std(ddof=1), 1e-7)
    if result._evidence.facts.bins is not None:
        return
    for level in (0.9, 0.6):
        half = stdtrit(case.df, 0.5 + level / 2) * np.sqrt(case.inflation) * known.std(ddof=1)
        limits = [result.estimate - half, result.estimate + half]
        close([*quiet(result.interval, "t", level).uncut], limits, 1e-6, 1e-9)
        corrected = np.array(limits) - result.bias
        shifted = quiet(result.interval, "bias-corrected", level).uncut
        close([*shifted], corrected, 1e-6, 1e-9)
        tail = ndtr(np.sqrt(case.inflation) * stdtrit(case.df, 0.5 - level / 2))
        limits = [quantile(known, tail), quantile(known, 1 - tail)]
        close([*quiet(result.interval, "expanded", level)], limits, 1e-7, 1e-9)


# ------------------------------------------------------------------ levels


@each_with([name for name in FAST if name != "ece"], DESIGNS)
@any_seed
def test_limits_are_quantiles_of_replicates_at_any_level(name, design, seed):
    """Resamples whose number suits no level, and those of which some have no value."""
    case = Case(name, design, seed)
    result = unless("bca", case.scored, interval="bca", n_resamples=50)
    if result is None:
        return
    drawn, estimate = result.bootstrap_distribution, result.estimate
    known = drawn[np.isfinite(drawn)]
    error, a = known.std(), result._evidence.acceleration
    near = np.abs(known - estimate) <= 1e-10 * error + 1e-14 * abs(estimate)
    share = np.mean(np.where(near, 0.5, known < estimate))
    for level in (0.95, 0.9, 0.63):
        tails = np.array([0.5 - level / 2, 0.5 + level / 2])
        low, high = (quantile(known, tail) for tail in tails)
        z = ndtri(tails)
        expected = {
            "percentile": [low, high],
            "basic": [2 * estimate - high, 2 * estimate - low],
            "normal": 2 * estimate - known.mean() + z * known.std(ddof=1),
        }
        if 0 < share < 1:
            bias = ndtri(share)
            levels = ndtr(bias + (bias + z) / (1 - a * (bias + z)))
            if ((1 - a * (bias + z)) > 0).all():
                expected["bca"] = [quantile(known, one) for one in levels]
        for method, limits in expected.items():
            found = quiet(result.interval, method, level)
            assert found.confidence_level == level
            assert found.method == method
            close(found.uncut, limits, 1e-6, 1e-9, method)


@each_with(MEANS, DESIGNS)
@any_seed
def test_studentized_limits_are_quantiles_of_pivots(name, design, seed):
    """Those of rows leave out resamples without spread; those of groups have them at infinity."""
    case = Case(name, design, seed)
    result = unless("studentized", case.scored, interval="studentized", n_resamples=50)
    if result is None:
        return
    errors, estimate = result._evidence.replicate_standard_errors, result.estimate
    shift, of_data = result.bootstrap_distribution - estimate, result._evidence.standard_error
    with np.errstate(divide="ignore", invalid="ignore"):
        pivots = np.where(shift == 0, 0.0, shift / errors)
    if design in (rows, strata, many_strata):
        pivots = pivots[errors > 0]
    if not np.isfinite(pivots).all():
        return
    for level in (0.95, 0.8, 0.63):
        tails = 0.5 + level / 2, 0.5 - level / 2
        error = of_data * np.sqrt(case.unequal)
        expected = [estimate - error * quantile(pivots, tail) for tail in tails]
        close(quiet(result.interval, "studentized", level).uncut, expected, 1e-6, 1e-9)


def single_groups_in_strata(rng):
    own = rng.permutation(np.arange(N) // 9)
    return {"groups": np.arange(N), "strata": own}, np.arange(N), own, (UNITS,)


@each_with(
    MEANS, (rows, groups, strata, many_strata, groups_in_many_strata, single_groups_in_strata)
)
@any_seed
def test_the_error_of_each_resample_is_that_of_its_units(name, design, seed):
    """Root of the sum, over units drawn, of squared influences about those of their stratum."""
    case = Case(name, design, seed)
    call = case.call
    values = call.score.values(call.y_true, call.y_pred)
    weights = call.columns.get("sample_weight", np.ones(N))
    members = [np.flatnonzero(case.unit == k) for k in range(case.n_units)]
    sums = np.array([[weights[own].sum(), (weights * values)[own].sum()] for own in members])
    # Units of equally many rows take each other's place, so that resamples are of N rows.
    alike = numbered(case.stratum, [len(own) for own in members])
    within = [np.flatnonzero(alike == one) for one in np.unique(alike)]
    drawn = [np.concatenate([call.rng.choice(own, len(own)) for own in within]) for _ in range(5)]
    given = [np.concatenate([members[k] for k in units]) for units in drawn]
    asked = {"interval": "studentized", "resamples": given, "n_resamples": 1999}
    result = unless("studentized", case.scored, **asked)
    if result is None:
        return
    for units, found in zip(drawn, result._evidence.replicate_standard_errors, strict=True):
        total, mean = sums[units, 0].sum(), sums[units, 1].sum() / sums[units, 0].sum()
        influence = (sums[units, 1] - mean * sums[units, 0]) / total
        stratum = numbered(case.stratum[units])
        influence -= (np.bincount(stratum, influence) / np.bincount(stratum))[stratum]
        close(found, np.sqrt(np.sum(influence**2)), 1e-6, 1e-9)


@each_with([*MEANS, "mcc", "r2", "rmse"], ("rows", "strata", "groups"))
@any_seed
def test_bca_over_fixed_tasks_leaves_out_each_unit_of_a_task(name, design, seed):
    """Units are drawn within tasks, and within strata of these."""
    call = call_of(name, "rows", bool((len(name) + seed) % 2), seed, n=N)
    tasks = call.rng.permutation(np.repeat([2, 0, 1], [20, 15, N - 35]))
    unit, stratum, columns = np.arange(N), tasks, {"average_over": tasks}
    if design == "strata":
        columns["strata"] = in_order(tasks) % 2
        stratum = numbered(tasks, columns["strata"])
    if design == "groups":
        unit = numbered(tasks, in_order(tasks) // 3)
        columns["groups"] = unit
        stratum = tasks[np.unique(unit, return_index=True)[1]]
    options = {**call.options, **columns, "interval": "bca", "n_resamples": 19}
    result = unless("on which the metric", scored, call.y_true, call.y_pred, **options)
    if result is None:
        return

    whole = np.array([call.at(tasks == task) for task in range(3)])
    close(result.estimate, whole.mean(), 1e-8)
    values = np.full(unit.max() + 1, whole.mean())
    for k in range(len(values)):
        task = tasks[unit == k][0]
        values[k] += (call.at((unit != k) & (tasks == task)) - whole[task]) / 3
    if not np.isfinite(values).all():
        return
    sizes = np.bincount(stratum)
    centres = np.bincount(stratum, values) / sizes
    share = ((sizes - 1) / sizes)[stratum] * (centres[stratum] - values)
    squares = np.sum(share**2)
    expected = np.sum(share**3) / (6 * squares**1.5) if squares > 1e-20 else 0.0
    close(result._evidence.acceleration, expected, 1e-5, 1e-7)


# ------------------------------------------------------------------ many rows


# False alarms: the mean and the variance of 999 replicates are within 5 of their errors, 1e-6.
MANY = {
    "rows of many values": (600, lambda k, rng: rng.normal(size=600), {}),
    "60 values": (600, lambda k, rng: (k % 60) ** 1.5, {}),
    "three values": (300, lambda k, rng: (k % 7 > 3) + 3.0 * (k % 50 == 0), {}),
    "two values": (2000, lambda k, rng: 1.0 * (k % 9 == 0), {}),
    "70 strata": (210, lambda k, rng: rng.normal(size=210) + k % 70,
                  {"strata": np.arange(210) % 70}),
    "values in strata": (600, lambda k, rng: (k % 60) % 7.0, {"strata": np.arange(600) % 2}),
}  # fmt: skip


@pytest.mark.parametrize("name", MANY)
@any_seed
def test_replicates_of_many_rows_have_the_mean_and_the_variance_of_their_strata(name, seed):
    n, make, columns = MANY[name]
    values = make(np.arange(n), np.random.default_rng(seed))
    strata = columns.get("strata", np.zeros(n, int))
    parts = [values[strata == one] for one in np.unique(strata)]
    variance = sum(np.var(part) * len(part) for part in parts) / n**2
    result = scored(None, values, metric="mean", n_resamples=999, random_state=seed, **columns)
    drawn = result.bootstrap_distribution
    assert abs(drawn.mean() - values.mean()) < 5 * np.sqrt(variance / 999)
    assert abs(drawn.var(ddof=1) / variance - 1) < 5 * np.sqrt(2 / 999)
    # An error in closed form is that of the strata, and another that of the resamples.
    uses_resamples = result.monte_carlo_error != (0.0, 0.0)
    close(result.standard_error, drawn.std(ddof=1) if uses_resamples else np.sqrt(variance))
    # What strata tell does not vary.
    if len(parts) > 1:
        of_strata = scored(None, strata * 1.0, metric="mean", n_resamples=99, **columns)
        close(of_strata.bootstrap_distribution, strata.mean())


@pytest.mark.parametrize("in_strata", [False, True])
def test_of_many_rows_random_sets_are_left_out(in_strata):
    """Sets of two or three have the skewness of their rows, but for products of chance."""
    rng = np.random.default_rng(0)
    # Of strata that differ much, sets across them would have the variance between them.
    # Those of 800 rows have two or three each, and the level of a stratum is no influence.
    n = 2400
    strata = np.arange(n) % (1 + 2 * in_strata)
    values = rng.exponential(size=n) ** 2 + 30 * strata
    off = values - np.array([values[strata == one].mean() for one in np.unique(strata)])[strata]
    expected = np.sum(off**3) / (6 * np.sum(off**2) ** 1.5)
    columns = {"strata": strata} if in_strata else {}
    result = scored(None, values, metric=lambda y: float(np.mean(y)), interval="bca",
                    n_resamples=1000, **columns)  # fmt: skip
    close(result._evidence.acceleration, expected, 0.1)
    error, _, n_left_out = result._evidence.jackknife_jumps
    close(error, np.sqrt(np.sum(off**2)) / n, 0.05)
    assert n_left_out == (999 if in_strata else 1000)
