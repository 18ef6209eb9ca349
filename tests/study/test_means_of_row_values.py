"""A score that is a mean of row values is "mean" on these values, at every public function.

Exact where both read the same resamples: given ones, or drawn units (groups, members of crossed
factors, blocks) that do not depend on how a metric numbers rows. Independent rows are numbered by
value (DESIGN section 2), so resamples that a call draws itself agree in law only: there the
estimate and closed forms are equal, and limits within 5 Monte Carlo errors. Values of a score
whose sign is turned are turned too, and limits mirrored. "mean" does not know the baseline of a
metric nor its range: limits are cut to the range, and guards that ask for it are left aside.
"""

import numpy as np
import pytest
from identity_cases import (
    DESIGNS,
    MEANS,
    N_RESAMPLES,
    OPTIONS,
    WEIGHTED,
    any_seed,
    call_of,
    close,
    each_of,
    means_of,
    product_of,
    quiet,
    same_error,
    scored,
    three_seeds,
    two_seeds,
)

import skboot
from skboot import Trials

pytestmark = pytest.mark.identity

METHODS = ("percentile", "expanded", "basic", "normal", "t", "studentized", "bca")
OF_COUNTS = ("wilson", "clopper-pearson", "wald")
# What is said of how labels are read from probabilities, of a range, of a baseline and of rows of
# one class beside each other, none of which "mean" knows.
OF_THE_METRIC = (
    "Class labels were taken from the columns",
    "A limit beyond the range of the metric",
    "Worse than the baseline",
    "Neighbouring rows",
)
each_mean = each_of(MEANS)
each_design = pytest.mark.parametrize("design", DESIGNS)
each_weight = pytest.mark.parametrize("weighted", WEIGHTED, ids=["plain", "weighted"])


def notes_of(result):
    return [note for note in result.notes if not note.startswith(OF_THE_METRIC)]


def limits_of(result, method, level):
    """Limits, and the method that "auto" took; None where the interval is refused."""
    try:
        found = quiet(result.interval, method, level)
    except ValueError:
        return None
    return np.array([*found]), found.method


def knows_as_much(call):
    """Whether no guard of "auto" for weighted shares applies, which needs the range of a metric."""
    return "sample_weight" not in call.columns or not np.isfinite(call.score.bounds).all()


def as_metric(limits, call, sign):
    """Limits of the mean of the values as those of the metric."""
    return np.clip(limits if sign > 0 else -limits[::-1], *call.score.bounds)


def guarded(*results):
    """Whether a guard applied that asks how far the range is: of groups that vary unevenly."""
    words = "of the variation comes from", "reaches the end of the range"
    return any(word in note for one in results for note in one.notes for word in words)


def assert_is_mean(result, mean, call, sign):
    """All that a result says is what it says of the mean of the values."""
    close(result.estimate, sign * mean.estimate)
    close(result.bootstrap_distribution, sign * mean.bootstrap_distribution)
    same_error(mean, result)
    assert (result.n_units, result.unit) == (mean.n_units, mean.unit)
    same_auto = knows_as_much(call) and not guarded(result, mean)
    if same_auto:
        assert notes_of(result) == notes_of(mean)
    # A guard may apply at one level alone.
    levels = [0.8, 0.95] if result.unit == "row" else [0.95]
    asked = [("auto", level) for level in levels] * same_auto
    # A third of the others, and of the levels: other ones for each call.
    turn = len(notes_of(mean)) + call.n
    asked += [
        (method, (0.8, 0.95)[(turn + k) % 2])
        for k, method in enumerate((*METHODS, *OF_COUNTS))
        if (turn + k) % 3
    ]
    for method, level in asked:
        own, expected = (limits_of(one, method, level) for one in (result, mean))
        assert (own is None) == (expected is None), method
        if own is not None:
            assert own[1] == expected[1]
            limits = as_metric(expected[0], call, sign)
            close(own[0], limits, 1e-7, 1e-9, (method, level))


def assert_is_nearly_mean(result, mean, call, sign):
    """The same of resamples that agree in law only."""
    close(result.estimate, sign * mean.estimate)
    assert (result.n_units, result.unit) == (mean.n_units, mean.unit)
    close(result.standard_error, mean.standard_error, 5 / np.sqrt(result.n_resamples))
    if not knows_as_much(call):
        return
    assert notes_of(result) == notes_of(mean)
    (own, method), (limits, other) = (limits_of(one, None, 0.95) for one in (result, mean))
    assert method == other
    errors = [np.array([*errors_of(one)]) for one in (result, mean)]
    errors[1] = errors[1] if sign > 0 else errors[1][::-1]
    limits = as_metric(limits, call, sign)
    assert np.all(np.abs(own - limits) <= 5 * np.hypot(*errors) + 1e-9), method


def errors_of(result):
    return result.monte_carlo_error.low, result.monte_carlo_error.high


# ------------------------------------------------------------------ one system


@each_mean
@each_design
@each_weight
@any_seed
def test_a_score_is_the_mean_of_its_values(name, design, weighted, seed):
    call = call_of(name, design, weighted, seed)
    values, sign = means_of(call)
    # Given rows; or groups that are drawn, whatever the metric.
    given = {} if "groups" in design and seed % 2 == 0 else {"resamples": call.resamples()}
    result = scored(call.y_true, call.y_pred, **given, **call.options)
    mean = scored(None, values, **given, **call.as_mean())
    assert_is_mean(result, mean, call, sign)


def designs_of_units(n, rng):
    """Designs whose units are drawn before a metric reads them."""
    pair = np.stack([rng.permutation(np.arange(n) % k) for k in (11, 9)], axis=1)
    groups = rng.permutation(np.arange(n) % 24)
    return {
        "crossed": {"groups": pair},
        "one population": {"groups": Trials(*pair.T)},
        "blocks": {"block_length": 4},
        "series": {"block_length": 3, "strata": np.arange(n) % 2},
        "tasks": {"groups": groups, "average_over": groups},
        "groups of tasks": {"groups": groups, "average_over": groups % 3},
    }


@each_mean
@pytest.mark.parametrize("design", designs_of_units(99, np.random.default_rng(0)))
@any_seed
def test_a_score_of_other_units_is_the_mean_of_its_values(name, design, seed):
    call = call_of(name, "rows", bool(seed % 2), seed)
    columns = {**call.columns, **designs_of_units(call.n, call.rng)[design]}
    values, sign = means_of(call)
    result = scored(call.y_true, call.y_pred, metric=call.score.metric, **columns)
    mean = scored(None, values, metric="mean", **columns)
    assert_is_mean(result, mean, call, sign)


@each_mean
@any_seed
def test_a_score_of_rows_is_nearly_the_mean_of_its_values(name, seed):
    call = call_of(name, "rows", bool(seed % 2), seed)
    values, sign = means_of(call)
    more = {**OPTIONS, "n_resamples": 499}
    result = scored(call.y_true, call.y_pred, **more, **call.options)
    mean = scored(None, values, **more, **call.as_mean())
    assert_is_nearly_mean(result, mean, call, sign)


def subgroups_of(call):
    """Three subgroups of whole groups."""
    groups = call.columns.get("groups", np.arange(call.n))
    return np.array(["north", "east", "west"])[groups % 3]


@each_mean
@three_seeds
def test_the_subgroups_of_a_score_are_those_of_its_values(name, seed):
    design, weighted = product_of(name, seed)
    call = call_of(name, design, weighted, seed, n=150)
    values, sign = means_of(call)
    by = subgroups_of(call)
    given = {} if "groups" in design else {"resamples": call.resamples()}
    result = scored(call.y_true, call.y_pred, by=by, **given, **call.options)
    mean = scored(None, values, by=by, **given, **call.as_mean())
    for part in ("north", "east", "west"):
        assert_is_mean(result[part], mean[part], call, sign)
    gap, expected = result["gap"], mean["gap"]
    # The pair whose larger value comes first: the names change places with the sign.
    close(gap.estimate, expected.estimate)
    # A gap of shares that are no counts asks for the range, and so does one of losses near 0.
    counted = np.isin(values, (0, 1)).all() or np.isinf(call.score.bounds).any()
    parts = [mean[part] for part in ("north", "east", "west")]
    counted &= np.isin(values, (0, 1)).all() or all(
        part.estimate > 6 * part.standard_error for part in parts
    )
    if sign > 0 and knows_as_much(call) and counted:
        close(gap.bootstrap_distribution, expected.bootstrap_distribution)
        close([*gap.confidence_interval], [*expected.confidence_interval], 1e-7, 1e-9)
        assert gap.metric.partition("gap")[2] == expected.metric.partition("gap")[2]


# ------------------------------------------------------------------ several runs


@each_mean
@pytest.mark.parametrize("estimand", ["method", "next_run", "pooled", "system"])
@two_seeds
def test_runs_of_a_score_are_those_of_its_values(name, estimand, seed):
    design, weighted = product_of(name, seed + len(estimand))
    call = call_of(name, design, weighted, seed)
    runs = [call.y_pred, *(call.other() for _ in range(5))]
    values = [means_of(call, run)[0] for run in runs]
    sign = means_of(call)[1]
    options = {**OPTIONS, "estimand": estimand}
    result = quiet(skboot.bootstrap_runs, call.y_true, runs, **call.options, **options)
    mean = quiet(skboot.bootstrap_runs, None, values, **call.as_mean(), **options)
    close(result.estimate, sign * mean.estimate)
    assert (result.n_units, result.unit) == (mean.n_units, mean.unit)
    if "groups" not in design:
        close(result.standard_error, mean.standard_error, 5 / np.sqrt(N_RESAMPLES))
        return
    own, expected = result.variance_components, mean.variance_components
    close([*own.values()], [*expected.values()], 1e-7)
    close(result.standard_error, mean.standard_error, 1e-7)
    if knows_as_much(call) and not guarded(result, mean):
        assert notes_of(result) == notes_of(mean)
        limits = np.array([*mean.confidence_interval])
        close([*result.confidence_interval], as_metric(limits, call, sign), 1e-7, 1e-9)


# ------------------------------------------------------------------ two systems


def pair_numbers(pair):
    adjusted = pair.simultaneous_interval or (0.0, 0.0)
    return {
        "difference": pair.difference,
        "standard_error": pair.standard_error,
        "interval": [*pair.confidence_interval],
        "simultaneous": [*adjusted],
        "p": [pair.p_value, pair.p_value_adjusted],
        "support": pair.bootstrap_support,
    }


def assert_are_pairs_of_means(result, mean, sign, exact):
    for own, expected in zip(result.pairs, mean.pairs, strict=True):
        assert (own.first, own.second) == (expected.first, expected.second)
        found, wanted = pair_numbers(own), pair_numbers(expected)
        close(found["difference"], sign * wanted["difference"])
        if own._discordant is not None and sign > 0:
            assert own._discordant == expected._discordant
        if not exact:
            close(found["standard_error"], wanted["standard_error"], 5 / np.sqrt(N_RESAMPLES))
            continue
        close(found["standard_error"], wanted["standard_error"])
        for what in ("interval", "simultaneous"):
            limits = np.array(wanted[what])
            close(found[what], limits if sign > 0 else -limits[::-1], 1e-7, 1e-9, what)
        close(found["p"], wanted["p"])
        close(found["support"], wanted["support"])
        for margin in (0.0, 0.05, 0.3):
            verdicts = own.verdict(margin), expected.verdict(margin)
            assert verdicts[0].outcome == verdicts[1].outcome
            close(*(verdict.smallest_margin for verdict in verdicts))
            close(*(verdict.detectable_margin for verdict in verdicts))
    if exact:
        assert notes_of(result) == notes_of(mean)


def directed(result, sign):
    """The direction of the values, which "mean" is told."""
    return {"greater_is_better": result.greater_is_better == (sign > 0)}


@each_mean
@three_seeds
def test_pairs_of_a_score_are_those_of_its_values(name, seed):
    design, weighted = product_of(name, seed)
    call = call_of(name, design, weighted, seed)
    systems = {"A": call.y_pred, "B": call.other()}
    values = {key: means_of(call, own)[0] for key, own in systems.items()}
    sign = means_of(call)[1]
    result = quiet(skboot.compare_systems, call.y_true, systems, **call.options, **OPTIONS)
    more = {**OPTIONS, **directed(result, sign)}
    mean = quiet(skboot.compare_systems, None, values, **call.as_mean(), **more)
    assert_are_pairs_of_means(result, mean, sign, "groups" in design)
