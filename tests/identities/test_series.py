"""Series in time: the order of a panel's rows in the table, and one block length for a whole call.

Exact: a panel may be sorted by series or by time; the length that "auto" finds is the largest of
those of each metric, system and difference by itself, and gives the call with this length.
"""

import numpy as np
import pytest
from identity_cases import FAST, MEANS, any_seed, call_of, close, each_of, quiet, scored, unless

import skboot

OPTIONS = {"n_resamples": 9, "random_state": 0}
SIZES = (30, 20, 16)


def compared(y_true, systems, **options):
    return quiet(skboot.compare_systems, y_true, systems, **{**OPTIONS, **options})


def runs_of(y_true, runs, **options):
    return quiet(skboot.bootstrap_runs, y_true, runs, **{**OPTIONS, **options})


def compared_runs(y_true, runs, **options):
    return quiet(skboot.compare_runs, y_true, runs, **{**OPTIONS, **options})


def numbers_of(y_true, systems, **columns):
    """What a score, a pair, runs and methods say of the same rows."""
    first = next(iter(systems.values()))
    one = scored(y_true, first, **{**columns, "n_resamples": 9})
    [pair] = compared(y_true, systems, **columns).pairs
    runs = runs_of(y_true, [*systems.values()], **columns)
    twice = {key: [own, first] for key, own in systems.items()}
    [methods] = compared_runs(y_true, twice, **columns).pairs
    found = [one.estimate, *one.bootstrap_distribution, *one.confidence_interval]
    found += [*quiet(one.interval, "t"), one.standard_error]
    found += [pair.difference, pair.standard_error, *pair.confidence_interval, pair.p_value]
    found += [runs.estimate, runs.standard_error, *runs.variance_components.values()]
    found += [methods.difference, methods.standard_error, *methods.confidence_interval]
    return found, [own.settings["block_length"] for own in (one, runs)]


@each_of(FAST)
@any_seed
def test_a_panel_sorted_by_series_is_the_panel_sorted_by_time(name, seed):
    call = call_of(name, "rows", bool((len(name) + seed) % 2), seed, n=sum(SIZES))
    series = call.rng.permutation(np.repeat([7, 2, 5], SIZES))
    block_length = "auto" if call.score.values is not None else 3
    key = "average_over" if len(name) % 3 == 0 else "strata"
    systems = {"A": call.y_pred, "B": call.other()}
    found = []
    for order in (np.arange(call.n), np.argsort(series, kind="stable")):
        columns = {key_: column[order] for key_, column in call.columns.items()}
        columns |= {key: series[order], "metric": call.score.metric, "block_length": block_length}
        own = {key_: column[order] for key_, column in systems.items()}
        found.append(unless("on which the metric", numbers_of, call.y_true[order], own, **columns))
    if found == [None, None]:
        return
    (one, length), (other, same) = found
    assert length == same
    close(other, one, 1e-7, 1e-9)


@pytest.mark.parametrize("curve", ["roc", "precision_recall", "decision"])
@any_seed
def test_a_curve_of_a_sorted_panel_is_that_of_an_interleaved_one(curve, seed):
    call = call_of("log_loss", seed=seed, n=sum(SIZES))
    series = call.rng.permutation(np.repeat([7, 2, 5], SIZES))
    order = np.argsort(series, kind="stable")
    options = {"curve": curve, "grid": [0.2, 0.4], "block_length": 3, **OPTIONS}
    one, other = (
        quiet(skboot.bootstrap_curve, call.y_true[own], call.y_pred[own], strata=series[own],
              **options)
        for own in (np.arange(call.n), order)
    )  # fmt: skip
    for what in ("estimate", "low", "high", "bootstrap_distribution"):
        close(getattr(other, what), getattr(one, what), 1e-8, 1e-10, what)


# ------------------------------------------------------------------ one length for a call


def dependent(n, rng, share):
    """Values of which each has a share of the one before it."""
    values = rng.normal(size=n)
    for k in range(1, n):
        values[k] += share * values[k - 1]
    return values


def length_of(function, *arguments, **options):
    return quiet(function, *arguments, **{**OPTIONS, "block_length": "auto", **options}).settings[
        "block_length"
    ]


def panel_of(panel, rng):
    series = rng.permutation(np.repeat([1, 0, 2], (120, 80, 70)))
    return {"strata": series} if panel else {}


@pytest.mark.parametrize("panel", [False, True])
@pytest.mark.parametrize("shares", [(0.0, 0.7), (0.8, 0.3), (0.5, 0.5), (0.85, 0.85)])
@any_seed
def test_the_length_of_several_is_the_largest_of_each_alone(panel, shares, seed):
    rng = np.random.default_rng([seed, panel, *(int(100 * share) for share in shares)])
    columns = panel_of(panel, rng)
    n = 270
    y_true = rng.normal(size=n) + 5
    first, second = (y_true + dependent(n, rng, share) for share in shares)
    metrics = {
        "mse": "mean_squared_error",
        "mae": "mean_absolute_error",
        "r2": "r2",
        "first": lambda t, p: np.mean(p),
    }
    score = skboot.bootstrap_score
    alone = {
        key: length_of(score, y_true, first, metric=metric, **columns)
        for key, metric in metrics.items()
    }
    for names in (["mse", "mae"], ["mae", "first"], ["first", "mse"], ["r2", "mae", "first"]):
        for order in (names, names[::-1]):
            own = {key: metrics[key] for key in order}
            table = quiet(score, y_true, first, metric=own, block_length="auto", **columns,
                          **OPTIONS)  # fmt: skip
            found = {result.settings["block_length"] for result in table.values()}
            assert found == {max(alone[key] for key in names)}
    losses = [(own - y_true) ** 2 for own in (first, second)]
    mean = {"metric": "mean", **columns}
    by_name = {"metric": "mean_squared_error", **columns}
    own, other, between = (
        length_of(score, None, values, **mean) for values in (*losses, losses[0] - losses[1])
    )
    for systems in ({"A": first, "B": second}, {"B": second, "A": first}):
        found = length_of(skboot.compare_systems, y_true, systems, **by_name)
        assert found == max(own, other, between)
    several = {"metric": ["mean_absolute_error", "mean_squared_error"], **columns}
    table = quiet(skboot.compare_systems, y_true, {"A": first, "B": second}, **several,
                  block_length="auto", **OPTIONS)  # fmt: skip
    by_mae = length_of(skboot.compare_systems, y_true, {"A": first, "B": second}, **columns,
                       metric="mean_absolute_error")  # fmt: skip
    assert {one.settings["block_length"] for one in table.values()} == {max(found, by_mae)}
    # Runs of one method are read by their mean, and methods by the difference of these.
    of_runs = length_of(score, None, np.mean(losses, axis=0), **mean)
    assert length_of(skboot.bootstrap_runs, y_true, [first, second], **by_name) == of_runs
    methods = {"A": [first, second], "B": [second, second]}
    between = length_of(score, None, np.mean(losses, axis=0) - losses[1], **mean)
    found = length_of(skboot.compare_runs, y_true, methods, **by_name)
    assert found == max(of_runs, other, between)


@each_of(MEANS)
@any_seed
def test_auto_is_the_call_with_the_length_that_it_finds(name, seed):
    call = call_of(name, "rows", bool((len(name) + seed) % 2), seed, n=sum(SIZES))
    # Neighbours are alike: rows by their values, a little shuffled.
    order = np.argsort(means_of_rows(call) + 0.2 * call.rng.normal(size=call.n))
    columns = {key: column[order] for key, column in call.columns.items()}
    columns["metric"] = call.score.metric
    systems = {"A": call.y_pred[order], "B": call.other()[order]}
    if len(name) % 2:
        columns["strata"] = np.arange(call.n) % 2
    y_true = call.y_true[order]
    one, lengths = numbers_of(y_true, {"A": systems["A"], "B": systems["A"]}, **columns,
                              block_length="auto")  # fmt: skip
    assert lengths[0] == lengths[1]
    assert lengths[0] > 1
    other, _ = numbers_of(y_true, {"A": systems["A"], "B": systems["A"]}, **columns,
                          block_length=lengths[0])  # fmt: skip
    close(one, other)


def means_of_rows(call):
    values = call.score.values(call.y_true, call.y_pred)
    return values / max(np.std(values), 1e-9)


@pytest.mark.parametrize("panel", [False, True])
@any_seed
def test_the_length_of_a_pair_is_that_of_its_difference_where_this_is_larger(panel, seed):
    """What two systems have in common hides how far their difference depends on rows before."""
    rng = np.random.default_rng([seed, panel])
    columns = {"metric": "mean", **panel_of(panel, rng)}
    common, own = 3 * rng.normal(size=270), 0.3 * dependent(270, rng, 0.85)
    first, second = common + own, common
    alone = [
        length_of(skboot.bootstrap_score, None, values, **columns)
        for values in (first, second, first - second)
    ]
    assert alone[2] > max(alone[:2])
    found = length_of(skboot.compare_systems, None, {"A": first, "B": second}, **columns)
    three = {"C": second + 0.1 * rng.normal(size=270), "A": first, "B": second}
    assert found == alone[2]
    assert length_of(skboot.compare_systems, None, three, **columns) >= found
    runs = {"A": [first, first], "B": [second, second]}
    assert length_of(skboot.compare_runs, None, runs, **columns) == alone[2]
