"""Series in time: the order of a panel's rows in the table, and one block length for a whole call.

Exact: a panel may be sorted by series or by time; the length that "auto" finds is the largest of
those of each metric, system and difference by itself, and gives the call with this length.
"""

import numpy as np
import pytest
from identity_cases import FAST, MEANS, any_seed, call_of, close, each_of, quiet, scored, unless
from scipy.special import ndtri
from scipy.stats import rankdata

import skboot

pytestmark = pytest.mark.identity

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


# ------------------------------------------------------------------ lengths by hand


def length_by_hand(values, series):
    """Politis & White (2004) with pooled autocovariances; lags that count as in Patton's code."""
    own = [values[series == k] for k in np.unique(series)]
    own = [part - part.mean() for part in own]
    n, longest, shortest = len(values), max(map(len, own)), min(map(len, own))
    few = max(5, int(np.log10(n)))
    most = min(int(np.ceil(np.sqrt(n))) + few, longest - 2)

    def covariance(k):
        return sum(part[k:] @ part[: len(part) - k] for part in own) / n

    def is_small(k):
        later = sum(np.sum(part[k + 1 :] ** 2) for part in own)
        earlier = sum(np.sum(part[: max(len(part) - k - 1, 0)] ** 2) for part in own)
        return abs(covariance(k)) * n / np.sqrt(later * earlier) < 2 * np.sqrt(np.log10(n) / n)

    bandwidth = most
    for lag in range(1, most + 1):
        if lag + few - 1 < most and all(is_small(k) for k in range(lag, lag + few)):
            bandwidth = min(2 * lag, most)
            break
    spectrum, slope = covariance(0), 0.0
    for k in range(1, bandwidth + 1):
        weight = 2 * min(1.0, 2 * (1 - k / bandwidth)) * covariance(k)
        spectrum, slope = spectrum + weight, slope + k * weight
    found = (2 * slope**2 / (4 / 3 * spectrum**2)) ** (1 / 3) * n ** (1 / 3)
    most = min(int(np.ceil(3 * np.sqrt(n))), shortest // 3, (n - 1) // 4)
    return max(1, min(int(np.ceil(max(found, 1.0))), most))


@pytest.mark.parametrize("n_series", [1, 3])
@any_seed
def test_a_length_is_that_of_the_autocovariances(n_series, seed):
    rng = np.random.default_rng([seed, n_series])
    found = []
    for share in np.tile([-0.5, 0.0, 0.3, 0.5, 0.7, 0.8, 0.9], 3):
        n = int(rng.integers(40, 220))
        series = rng.permutation(np.arange(n) % n_series)
        values = dependent(n, rng, share) + series
        for k in range(n_series):
            values[series == k] += dependent(np.sum(series == k), rng, share)
        columns = {"strata": series} if n_series > 1 else {}
        length = length_of(skboot.bootstrap_score, None, values, metric="mean", **columns)
        assert length == length_by_hand(values, series), (n, share)
        found.append(length)
    assert len(set(found)) > 6


@any_seed
def test_the_length_of_a_curve_is_that_of_the_score_it_stands_for(seed):
    rng = np.random.default_rng(seed)
    n, differ = 150, 0
    for share in (0.8, 0.9):
        common = dependent(n, rng, share)
        y = (common + rng.normal(size=n) > 0).astype(int)
        prob = 1 / (1 + np.exp(-2 * (y - 0.5) - dependent(n, rng, share)))
        ranks, squares = (
            length_of(skboot.bootstrap_score, y, prob, metric=metric)
            for metric in ("roc_auc", "mean_squared_error")
        )
        differ += ranks != squares
        for curve in ("roc", "precision_recall", "det", "calibration"):
            expected = squares if curve == "calibration" else ranks
            of_grid = {"grid": [0.0, 0.5, 1.0] if curve == "calibration" else [0.3, 0.6]}
            found = length_of(skboot.bootstrap_curve, y, prob, curve=curve, **of_grid)
            assert found == expected
    assert differ


def looks_dependent(values, kind):
    """Rank correlation of neighbours of one kind, and how far it exceeds that of rows apart."""
    rank = rankdata(values)
    for one in np.unique(kind):
        rank[kind == one] -= rank[kind == one].mean()
    n, size = len(rank), rank @ rank / len(rank)

    def products(last, lag):
        first, second = np.arange(last), np.arange(last) + lag
        return (rank[first] * rank[second])[kind[first] == kind[second]]

    near = np.sort(products(n - 1, 1))
    error = 1 / np.sqrt(len(near))
    correlation = near[:-2].sum() / (size * len(near))
    if correlation <= max(0.08, -ndtri(0.036) * error):
        return False
    apart = max(3, (n - 1) // 80)
    further = [products(n - 1 - lag, lag) for lag in range(apart, 2 * apart + 1)]
    beyond = np.concatenate(further).mean() / size
    most = max(0.06, 4 * apart / (n - 1), 1.9 * error * (1 - beyond))
    return correlation - beyond > most


@pytest.mark.parametrize("in_strata", [False, True])
@any_seed
def test_rows_are_said_to_be_like_their_neighbours_by_their_rank_correlation(in_strata, seed):
    rng = np.random.default_rng([seed, in_strata])
    found = []
    for k in range(24):
        n = int(rng.integers(30, 260))
        values = np.exp(dependent(n, rng, rng.uniform(0, 0.5))).round(1)
        if k % 3 == 0:
            values = values + np.linspace(0, 3, n)
        if k % 4 == 0:
            values = np.sort(values + rng.normal(size=n))
        kind = rng.permutation(np.arange(n) % 2) if in_strata else np.zeros(n, int)
        columns = {"strata": kind} if in_strata else {}
        result = scored(None, values, metric="mean", n_resamples=9, **columns)
        told = any("Neighbouring rows have similar values" in note for note in result.notes)
        assert told == looks_dependent(values, kind), (k, n)
        found.append(told)
    assert 5 < sum(found) < 19
