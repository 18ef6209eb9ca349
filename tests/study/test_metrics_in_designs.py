"""A metric by name is its plain function, called on the rows of each resample, in every design.

All is exact: the metrics of one call share its resamples, and where units are drawn before a metric
reads them, two calls do too. A plain function knows nothing of sums, ranks or groups; what it says
of a system, a pair and several runs is what the fast form must say.
"""

from functools import partial

import numpy as np
import pytest
from identity_cases import (
    FAST,
    MEANS,
    any_seed,
    call_of,
    close,
    each_of,
    each_with,
    means_of,
    one_of,
    plain_value,
    quiet,
    unless,
)
from sklearn import config_context

import skboot
from skboot import Trials

pytestmark = pytest.mark.identity

B = 9
OPTIONS = {"n_resamples": B, "random_state": 0, "confidence_level": 0.8}
# Bins of copies of equal probabilities are cut elsewhere; lines are fitted to rows.
OF_ROWS = [name for name in FAST if name not in ("ece", "slope", "intercept")]


def designs(n, rng):
    """Every way to draw, with units, strata, series and tasks of unequal sizes."""
    groups = np.concatenate([np.arange(n // 5), rng.integers(0, n // 5, n - n // 5)])
    groups = rng.permutation(groups)
    tasks = rng.permutation(np.repeat([2, 0, 1], [n // 2, n // 3, n - n // 2 - n // 3]))
    units = rng.permutation(np.repeat(np.arange(6), [n - 5 * (n // 8), *[n // 8] * 5]))
    strata = np.where(rng.random(n) < 0.35, "south", "north")
    place = np.argsort(np.argsort(tasks, kind="stable"))
    of_time = np.where(place % 5 < 2, "south", "north")
    pair = np.stack([rng.permutation(np.arange(n) % k) for k in (11, 9)], axis=1)
    of_groups = np.where(groups % 3 == 0, "b", "a")
    return {
        "rows": {},
        "strata": {"strata": strata},
        "groups": {"groups": groups},
        "groups in strata": {"groups": groups, "strata": of_groups},
        "crossed": {"groups": pair},
        "one population": {"groups": Trials(*pair.T)},
        "blocks": {"block_length": 4},
        "panel": {"block_length": 3, "strata": strata},
        "drawn tasks": {"groups": units, "average_over": units},
        "drawn tasks in strata": {"groups": units, "average_over": units, "strata": units % 2},
        "groups of tasks": {"groups": units // 2, "average_over": units},
        "fixed tasks": {"average_over": tasks},
        "fixed tasks in strata": {"average_over": tasks, "strata": strata},
        "groups within tasks": {"groups": groups, "average_over": groups % 3},
        "groups across tasks": {"groups": groups, "average_over": tasks},
        "series of tasks": {"average_over": tasks, "block_length": 3},
        "panel of tasks": {"average_over": tasks, "block_length": 2, "strata": of_time},
    }


NAMES = tuple(designs(90, np.random.default_rng(0)))
OF_RUNS = tuple(design for design in NAMES if design != "one population")
# These are resampled within the classes of a fixed task; no class is known to be asked for by a
# function that answers without it.
ASKS_FOR_CLASSES = ("ap", "auc ovr", "relative entropy", "d2_log_loss")


def value_on(y_true, y_pred, sample_weight=None, *, score):
    """The plain function on rows, as a user's callable."""
    return plain_value(score, y_true, y_pred, sample_weight)


def both_forms(call):
    return {"name": call.score.metric, "rows": partial(value_on, score=call.score)}


def called(function, *arguments, **options):
    """The answer for both forms; None of tasks on which the metric is undefined."""
    with config_context(skip_parameter_validation=True, assume_finite=True):
        return unless("on which the metric", function, *arguments, **{**OPTIONS, **options})


def case_of(name, design, seed, n=72):
    weighted = bool((len(name) + len(design) + seed) % 2)
    call = call_of(name, "rows", weighted, seed, n=n)
    return call, {**call.columns, **designs(n, call.rng)[design]}


def assert_same_limits(one, other, bounds, rtol=1e-6):
    """The function's range is not known, at which limits are cut."""
    close(*(np.clip([*each], *bounds) for each in (one, other)), rtol, 1e-8)


@each_with(OF_ROWS, NAMES, 2)
@any_seed
def test_a_score_by_name_is_that_of_the_function_on_rows(name, design, seed):
    call, columns = case_of(name, design, seed)
    refused = "crossed", "one population", "fixed", "within", "across", "of tasks"
    bca = not design.startswith(refused[:3]) and not design.endswith(refused[3:])
    columns["interval"] = "bca" if bca or design == "groups of tasks" else "basic"
    found = called(
        skboot.bootstrap_score, call.y_true, call.y_pred, metric=both_forms(call), **columns
    )
    if found is None or (name in ASKS_FOR_CLASSES and design.startswith("fixed")):
        return
    one, other = found.values()
    close(one.estimate, other.estimate, 1e-8)
    close(one.bootstrap_distribution, other.bootstrap_distribution, 1e-8, 1e-9)
    for method in (None, "percentile"):
        asked = (quiet(result.interval, method) for result in (one, other))
        assert_same_limits(*asked, one._evidence.facts.bounds)


@each_with(OF_ROWS, NAMES, 2)
@any_seed
def test_a_pair_by_name_is_that_of_the_function_on_rows(name, design, seed):
    call, columns = case_of(name, design, seed)
    columns["interval"] = one_of(("percentile", "basic", "t"), name, len(design))
    columns["adjust"] = one_of(("max-t", "holm"), name, len(design))
    systems = {"A": call.y_pred, "B": call.other()}
    systems |= {"C": call.other()} if columns["adjust"] == "holm" else {}
    found = called(skboot.compare_systems, call.y_true, systems, metric=both_forms(call), **columns)
    if found is None or (name in ASKS_FOR_CLASSES and design.startswith("fixed")):
        return
    low, high = found["name"].systems["A"]._evidence.facts.bounds
    for one, other in zip(*(result.pairs for result in found.values()), strict=True):
        close(one.difference, other.difference, 1e-8, 1e-10)
        close(one.standard_error, other.standard_error, 1e-6, 1e-9)
        for kind in ("confidence_interval", "simultaneous_interval"):
            asked = (getattr(pair, kind) for pair in (one, other))
            assert_same_limits(*asked, (low - high, high - low))
        close([one.p_value, one.p_value_adjusted], [other.p_value, other.p_value_adjusted], 1e-5)


@each_of(MEANS)
@any_seed
def test_given_rows_that_split_groups_leave_a_name_what_its_function_is(name, seed):
    """What is known of whole groups says nothing of resamples that do not hold them whole."""
    call = call_of(name, one_of(("groups", "groups in strata"), name, seed), seed=seed)
    columns = {**call.columns, "resamples": call.resamples()}
    found = quiet(skboot.bootstrap_score, call.y_true, call.y_pred, metric=both_forms(call),
                  **columns)  # fmt: skip
    one, other = found.values()
    assert one.confidence_interval.method == other.confidence_interval.method
    assert_same_limits(one.confidence_interval, other.confidence_interval, call.score.bounds)
    close(one.standard_error, other.standard_error)
    assert one._evidence.standard_error is None


@each_with(OF_ROWS, OF_RUNS)
@any_seed
def test_runs_by_name_are_those_of_the_function_on_rows(name, design, seed):
    call, columns = case_of(name, design, seed)
    runs = [call.y_pred, call.other(), call.other()]
    columns["estimand"] = one_of(("method", "next_run", "pooled"), name, len(design))
    found = called(skboot.bootstrap_runs, call.y_true, runs, metric=both_forms(call), **columns)
    if found is None or (name in ASKS_FOR_CLASSES and design.startswith("fixed")):
        return
    one, other = found.values()
    close(one.estimate, other.estimate, 1e-8)
    close(one.runs["score"], other.runs["score"], 1e-8, 1e-10)
    # The test variance of a mean of single rows is that of their values; that of shares is at
    # least as large as Wilson's (STATISTICS, O5).
    is_mean = call.score.values is not None or name == "f1 of sets"
    counted = call.score.values is not None and np.isin(means_of(call)[0], (0, 1)).all()
    if counted or (one.unit == "row" and is_mean):
        return
    close(one.standard_error, other.standard_error, 1e-6, 1e-9)
    close(*([*result.variance_components.values()] for result in (one, other)), 1e-6, 1e-10)
    for estimand in ("method", "next_run"):
        asked = (quiet(result.interval, estimand=estimand) for result in (one, other))
        assert_same_limits(*asked, one._evidence.facts.bounds)


DRAWN_FIRST = ("groups", "one population", "blocks", "panel", "drawn tasks", "groups of tasks",
               "drawn tasks in strata", "groups across tasks", "series of tasks")  # fmt: skip


@pytest.mark.parametrize("design", DRAWN_FIRST)
@pytest.mark.parametrize("n_kinds", [2, 4])
@any_seed
def test_values_of_few_kinds_are_those_that_differ_by_nearly_nothing(n_kinds, design, seed):
    """Rows of equal value are counted together, and rows that differ by 1e-11 are not."""
    rng = np.random.default_rng([seed, n_kinds, len(design)])
    values = rng.integers(0, n_kinds, 72).astype(float)
    apart = values + 1e-11 * rng.permutation(72)
    columns = {**designs(72, rng)[design], "metric": "mean", **OPTIONS}
    columns |= {"sample_weight": rng.integers(1, 5, 72) / 2} if len(design) % 2 else {}
    one, other = (quiet(skboot.bootstrap_score, None, own, **columns) for own in (values, apart))
    close(one.bootstrap_distribution, other.bootstrap_distribution, 1e-8, 1e-9)
    for method in ("percentile", "basic", "normal", "t", "expanded", "bca", "studentized"):
        asked = [unless("interval", each.interval, method) for each in (one, other)]
        assert (asked[0] is None) == (asked[1] is None)
        # BCa counts replicates that equal the estimate by halves.
        if asked[0] is not None and method != "bca":
            close([*asked[0]], [*asked[1]], 1e-5, 1e-8)
    if one._evidence.acceleration is not None:
        close(one._evidence.acceleration, other._evidence.acceleration, 1e-6, 1e-8)
