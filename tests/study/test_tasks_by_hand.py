"""Averages over tasks and series in time: what is drawn by hand, and what changes nothing.

Exact: an average over tasks is the mean of the plain function on the rows of each; blocks are what
a circle allows; units of one stratum are units; series may stand in any order in a table.
"""

import itertools

import numpy as np
import pytest
from identity_cases import (
    FAST,
    MEANS,
    any_seed,
    call_of,
    close,
    drawn_rows,
    each_of,
    each_with,
    means_of,
    one_of,
    plain_value,
    quiet,
    scored,
    two_seeds,
    unless,
)
from scipy.special import stdtrit

import skboot

pytestmark = pytest.mark.identity

OPTIONS = {"n_resamples": 19, "random_state": 0}
# On few rows of a task undefined, or made of rows that are equally many in a bin.
OF_TASKS = [name for name in FAST if name not in ("ece", "slope", "intercept")]


def compared(y_true, systems, **options):
    return quiet(skboot.compare_systems, y_true, systems, **{**OPTIONS, **options})


def runs_of(y_true, runs, **options):
    return quiet(skboot.bootstrap_runs, y_true, runs, **{**OPTIONS, **options})


def tasks_of(n, rng):
    """Three tasks of a half, a third and a sixth of the rows, and two strata across them."""
    tasks = rng.permutation(np.repeat([2, 0, 1], [n // 2, n // 3, n - n // 2 - n // 3]))
    return tasks, np.where(rng.random(n) < 0.35, "south", "north")


def of_each_task(call, tasks, rows, y_pred=None):
    """The plain function on the rows of each task among these."""
    weights = call.columns.get("sample_weight")
    y_pred = call.y_pred if y_pred is None else y_pred
    parts = [rows[tasks[rows] == task] for task in np.unique(tasks)]
    return [plain_value(call.score, call.y_true, y_pred, weights, part) for part in parts]


# ------------------------------------------------------------------ fixed tasks


@each_of(OF_TASKS)
@two_seeds
def test_replicates_over_fixed_tasks_are_means_of_the_plain_function(name, seed):
    call = call_of(name, "rows", bool((len(name) + seed) % 2), seed, n=120)
    tasks, strata = tasks_of(call.n, call.rng)
    columns = {"average_over": tasks} | ({"strata": strata} if len(name) % 3 == 0 else {})
    cells = np.char.add(tasks.astype(str), columns.get("strata", np.full(call.n, "")))
    rows = drawn_rows({"strata": cells}, call.n, 9, call.rng)
    columns |= {**call.options, "resamples": rows}
    result = unless("on which the metric", scored, call.y_true, call.y_pred, **columns)
    if result is None:
        return
    expected = [np.mean(of_each_task(call, tasks, own)) for own in (np.arange(call.n), *rows)]
    found = np.array([result.estimate, *result.bootstrap_distribution])
    known = np.isfinite(found) & np.isfinite(expected)
    assert known[0]
    close(found[known], np.array(expected)[known], 1e-8, 1e-9)


def satterthwaite(sizes, task):
    """Degrees of freedom, and the variance over that of resamples, of an average over tasks."""
    whole = np.bincount(task, sizes)[task]
    variance = sizes / whole**2
    seen = variance * (sizes - 1) / sizes
    return seen.sum() ** 2 / np.sum(seen**2 / (sizes - 1)), variance.sum() / seen.sum()


@each_with(MEANS, ("row", "row in strata", "group"))
@any_seed
def test_limits_over_fixed_tasks_have_the_freedom_of_their_units(name, design, seed):
    call = call_of(name, "rows", bool(seed % 2), seed, n=90)
    tasks, strata = tasks_of(call.n, call.rng)
    columns = {"average_over": tasks}
    if design == "group":
        groups = np.arange(call.n) // 3 + 100 * tasks
        columns["groups"] = groups
        units = np.unique(np.column_stack([tasks, groups]), axis=0)[:, 0]
        sizes, task = np.bincount(units).astype(float), np.arange(3)
    elif design == "row":
        sizes, task = np.bincount(tasks).astype(float), np.arange(3)
    else:
        columns["strata"] = strata
        cells = 2 * tasks + (strata == "south")
        sizes, task = np.bincount(cells).astype(float), np.arange(6) // 2
    df, inflation = satterthwaite(sizes, task)
    result = scored(call.y_true, call.y_pred, **columns, **call.options)
    half = stdtrit(df, 0.95) * np.sqrt(inflation) * result.bootstrap_distribution.std(ddof=1)
    bounds = call.score.bounds
    expected = np.clip([result.estimate - half, result.estimate + half], *bounds)
    close(np.clip([*quiet(result.interval, "t", 0.9)], *bounds), expected, 1e-6)
    # Their variance is the mean of those of the tasks, each of which has its own closed form.
    if design == "row" and not seed % 2:
        values = means_of(call)[0]
        known = sum(np.var(values[tasks == k]) / np.sum(tasks == k) for k in range(3)) / 9
        many = scored(call.y_true, call.y_pred, **columns, **{**call.options, "n_resamples": 499})
        close(many.standard_error, np.sqrt(known), 5 / np.sqrt(2 * 499))


# ------------------------------------------------------------------ drawn tasks


@each_of(OF_TASKS)
@any_seed
def test_drawn_tasks_are_the_rows_of_their_scores_in_every_function(name, seed):
    call = call_of(name, "rows", bool((len(name) + seed) % 2), seed, n=150)
    units = call.rng.permutation(np.repeat(np.arange(9), [30, 15, 15, 15, 15, 15, 15, 15, 15]))
    groups = np.arange(9) // (1 + len(name) % 2)
    columns = {**call.options, "average_over": units, "groups": groups[units]}
    every = np.arange(call.n)
    systems = {"A": call.y_pred, "B": call.other()}
    scores = {key: np.array(of_each_task(call, units, every, own)) for key, own in systems.items()}
    how = {**columns, "n_resamples": 19}
    one = unless("on which the metric", scored, call.y_true, call.y_pred, **how)
    if one is None or not np.isfinite([*scores.values()]).all():
        return
    more = {"metric": "mean", "groups": groups}
    other = scored(None, scores["A"], **more, n_resamples=19)
    close(one.estimate, other.estimate, 1e-8)
    close(one.bootstrap_distribution, other.bootstrap_distribution, 1e-8, 1e-10)
    assert one.n_units == other.n_units
    bounds = one._evidence.facts.bounds
    for method in ("t", "percentile", "bca"):
        asked = [np.clip([*quiet(own.interval, method)], *bounds) for own in (one, other)]
        close(*asked, 1e-6, 1e-8, method)
    interval = one_of(("t", "percentile"), name, seed)
    [pair] = compared(call.y_true, systems, **columns, interval=interval).pairs
    [mean] = compared(None, scores, **more, interval=interval).pairs
    close(pair.difference, mean.difference, 1e-7, 1e-9)
    close(pair.standard_error, mean.standard_error, 1e-7, 1e-9)
    width = bounds[1] - bounds[0]
    limits = [np.clip([*own.confidence_interval], -width, width) for own in (pair, mean)]
    close(*limits, 1e-6, 1e-8)
    close(pair.p_value, mean.p_value, 1e-5)
    runs = runs_of(call.y_true, [*systems.values()], **columns)
    mean = runs_of(None, [*scores.values()], **more)
    components = [[*own.variance_components.values()] for own in (runs, mean)]
    close(*components, 1e-6, 1e-10)


# ------------------------------------------------------------------ one stratum


OF_STRATA = {
    "fixed tasks": lambda tasks, groups: {"average_over": tasks},
    "groups within tasks": lambda tasks, groups: {"average_over": groups % 3, "groups": groups},
    "groups across tasks": lambda tasks, groups: {"average_over": tasks, "groups": groups},
    "drawn tasks": lambda tasks, groups: {"average_over": groups, "groups": groups},
    "groups of tasks": lambda tasks, groups: {"average_over": groups, "groups": groups // 2},
    "series of tasks": lambda tasks, groups: {"average_over": tasks, "block_length": 3},
    "blocks": lambda tasks, groups: {"block_length": 4},
}


@each_with(MEANS, tuple(OF_STRATA), 2)
@any_seed
def test_one_stratum_is_none_with_tasks_and_blocks(name, design, seed):
    call = call_of(name, "rows", bool((len(name) + seed) % 2), seed, n=90)
    tasks, _ = tasks_of(call.n, call.rng)
    groups = call.rng.permutation(np.repeat(np.arange(12), [24, *[6] * 11]))
    columns = {**call.options, **OF_STRATA[design](tasks, groups), "n_resamples": 19}
    systems = {"A": call.y_pred, "B": call.other()}
    found = []
    for strata in ({}, {"strata": np.full(call.n, "all")}):
        one = scored(call.y_true, call.y_pred, **columns, **strata)
        [pair] = compared(call.y_true, systems, **columns, **strata).pairs
        runs = runs_of(call.y_true, [*systems.values()], **columns, **strata)
        found.append([one.estimate, *one.confidence_interval, *one.bootstrap_distribution])
        found[-1] += [*quiet(one.interval, "t"), *quiet(one.interval, "expanded")]
        found[-1] += [pair.difference, *pair.confidence_interval, pair.p_value]
        found[-1] += [runs.estimate, *runs.confidence_interval, *runs.variance_components.values()]
    close(*found, 1e-7, 1e-9)


# ------------------------------------------------------------------ series in time


def sums_of_blocks(values, length):
    """Sums of all that a resample of one series can hold: ceil(n / L) blocks, the last one cut."""
    n = len(values)
    around = np.concatenate([values, values])
    n_whole, last = n // length, n % length
    whole = np.array([around[k : k + length].sum(axis=0) for k in range(n)])
    found = np.zeros((1, values.shape[1]))
    for _ in range(n_whole):
        found = np.unique((found[:, None] + whole).reshape(-1, values.shape[1]).round(9), axis=0)
    if last:
        cut = np.array([around[k : k + last].sum(axis=0) for k in range(n)])
        found = (found[:, None] + cut).reshape(-1, values.shape[1])
    return found


@pytest.mark.parametrize("sizes", [(11,), (5, 8), (8, 5), (4, 6, 5), (6, 6)])
@pytest.mark.parametrize("length", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@any_seed
def test_replicates_of_series_are_made_of_blocks_on_their_circles(sizes, length, weighted, seed):
    rng = np.random.default_rng(seed)
    series = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    n = len(series)
    values = rng.integers(0, 10**5, n).astype(float)
    weights = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    columns = {"block_length": length, "strata": series if len(sizes) > 1 else None}
    columns |= {"sample_weight": weights} if weighted else {}
    columns |= {"metric": "mean", "n_resamples": 19}
    result = unless("block_length", scored, None, values, **columns)
    if result is None:
        return
    terms = np.column_stack([weights * values, weights])
    parts = [sums_of_blocks(terms[series == k], length) for k in range(len(sizes))]
    *others, last = parts
    for value in result.bootstrap_distribution:
        # Of the last series the rest must be one that its blocks have.
        nearest = np.inf
        for chosen in itertools.islice(itertools.product(*others), 4000):
            total = last + sum(chosen, np.zeros(2))
            nearest = min(nearest, np.abs(total[:, 0] / total[:, 1] - value).min())
            if nearest < 1e-6:
                break
        assert nearest < 1e-6
