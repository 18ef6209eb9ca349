"""What a reader can compute by hand: without a unit, with more of it, for one answer to all.

Exact but for derivatives, which are differences of the plain function: leaving out units gives the
acceleration of BCa, weighing units a little more gives the standard error, and the best of all
constant answers is the naive score. What is said of pairs follows from their rows and intervals.
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
    freedom_by_hand,
    one_of,
    plain_value,
    product_of,
    quiet,
    scored,
)
from scipy.special import ndtr, ndtri

import skboot
from skboot import inference

pytestmark = pytest.mark.identity

# Not derivatives of a smooth function, or of other rows than these (bins hold equally many).
OF_THRESHOLDS = ("eer", "neg eer", "fpr_at", "sensitivity_at", "specificity_at", "min dcf", "ece")


def units_of(call):
    """Number of each row's unit, and the stratum of each unit."""
    groups = call.columns.get("groups", np.arange(call.n))
    _, first, unit = np.unique(groups, return_index=True, return_inverse=True)
    strata = call.columns.get("strata", np.zeros(call.n, dtype=int))
    return unit, np.unique(strata[first], return_inverse=True)[1]


# ------------------------------------------------------------------ single units


def without_each_unit(call, y_pred=None):
    """Values of the plain function on the rows of all units but one."""
    unit, stratum = units_of(call)
    call = call if y_pred is None else call._replace(y_pred=y_pred)
    return np.array([call.at(unit != k) for k in range(len(stratum))]), stratum


def acceleration_of(values, stratum, estimate):
    """Davison & Hinkley (1997), equation 5.29; around the estimate without strata."""
    sizes = np.bincount(stratum)
    centres = np.bincount(stratum, values) / sizes if len(sizes) > 1 else np.array([estimate])
    share = ((sizes - 1) / sizes)[stratum] * (centres[stratum] - values)
    squares = np.sum(share**2)
    return np.sum(share**3) / (6 * squares**1.5) if squares > 0 else 0.0


def bca_limits(quantiles, replicates, estimate, acceleration):
    """BCa (Efron 1987) with half of the ties, by the quantiles of percentile intervals."""
    replicates = replicates[np.isfinite(replicates)]
    near = np.abs(replicates - estimate) <= 1e-10 * max(abs(estimate), 1e-3)
    bias = ndtri((np.sum((replicates < estimate) & ~near) + near.sum() / 2) / len(replicates))
    shifted = bias + ndtri([0.1, 0.9])
    return [quantiles(p) for p in ndtr(bias + shifted / (1 - acceleration * shifted))]


@each_of([name for name in FAST if name != "ece"])
@any_seed
def test_bca_is_made_of_the_values_without_each_unit(name, seed):
    call = call_of(name, *product_of(name, seed + 1), seed)
    result = scored(call.y_true, call.y_pred, **{**call.options, "interval": "bca"})
    values, stratum = without_each_unit(call)
    if not np.isfinite(values).all():
        return
    acceleration = acceleration_of(values, stratum, result.estimate)
    close(result._evidence.acceleration, acceleration, 1e-5, 1e-7)

    def quantile(p):
        below = p < 0.5
        level = 1 - 2 * p if below else 2 * p - 1
        return quiet(result.interval, "percentile", level)[0 if below else 1]

    drawn = result.bootstrap_distribution
    expected = bca_limits(quantile, drawn, result.estimate, acceleration)
    found = [*quiet(result.interval, "bca", 0.8)]
    inner = np.isfinite(expected)
    close(np.array(found)[inner], np.array(expected)[inner], 1e-4, 1e-6)


@pytest.mark.parametrize("name", ["eer", "fpr_at", "sensitivity_at", "specificity_at", "median"])
@any_seed
def test_the_jackknife_of_a_metric_that_answers_in_jumps_is_that_of_its_rows(name, seed):
    call = call_of(name, seed=seed)
    result = scored(call.y_true, call.y_pred, **call.options)
    values, _ = without_each_unit(call)
    share = (call.n - 1) / call.n * (result.estimate - values)
    error, n_values, n_left_out = result._evidence.jackknife_jumps
    close(error, np.sqrt(np.sum(share**2)), 1e-6, 1e-9)
    assert n_values == len(np.unique(np.round(values, 9)))
    assert n_left_out == call.n


@each_of([name for name in FAST if call_of(name).score.weighs and name not in OF_THRESHOLDS])
@any_seed
def test_the_standard_error_of_influences_is_the_derivative_by_weights(name, seed):
    """Of the estimate by the weight of each unit, about the mean of its stratum."""
    call = call_of(name, *product_of(name, seed + 2), seed)
    result = scored(call.y_true, call.y_pred, **call.options)
    if result._evidence.standard_error is None:
        return
    unit, stratum = units_of(call)
    weight = call.columns.get("sample_weight", np.ones(call.n))

    def at(k, more):
        heavier = weight * np.where(unit == k, 1 + more, 1.0)
        return plain_value(call.score, call.y_true, call.y_pred, heavier)

    influence = np.array([at(k, 1e-3) - at(k, -1e-3) for k in range(len(stratum))]) / 2e-3
    influence -= (np.bincount(stratum, influence) / np.bincount(stratum))[stratum]
    close(result._evidence.standard_error, np.sqrt(np.sum(influence**2)), 1e-4, 1e-8)
    if result._evidence.group_influence is not None:
        close(result._evidence.group_influence, influence, 1e-3, 1e-5)


# ------------------------------------------------------------------ one answer to all


def constants(call):
    """Predictions that are the same for all rows, the best of each kind of metric among them."""
    weights, y_true, kind = call.columns.get("sample_weight"), call.y_true, call.score.data
    labels = np.unique(y_true)
    if kind in ("two", "three", "words"):
        return [np.full(call.n, label) for label in labels]
    if kind == "probability":
        shares = (0.0, 1.0, np.average(y_true, weights=weights))
        return [np.full(call.n, share) for share in shares]
    if kind == "columns":
        shares = [np.average(y_true == label, weights=weights) for label in labels]
        return [np.tile(shares, (call.n, 1))]
    if kind == "tables":
        return [np.tile(np.average(y_true, axis=0, weights=weights), (call.n, 1))]
    if kind == "scores":
        return [np.zeros(call.n)]
    of_logs = np.expm1(np.average(np.log1p(np.abs(y_true)), weights=weights))
    return [np.full(call.n, c) for c in (*y_true, np.average(y_true, weights=weights), of_logs)]


# Naive answers are drawn by chance, are between rows, know the priors, or are not known.
NO_CONSTANT = ("fpr_at", "sensitivity_at", "specificity_at", "median", "brier with priors",
               "slope", "intercept")  # fmt: skip


@each_of([n for n in FAST if call_of(n).score.data != "sets" and n not in NO_CONSTANT], n=2)
@any_seed
def test_the_naive_estimate_is_the_best_score_of_a_constant_answer(name, seed):
    call = call_of(name, ("rows", "groups")[seed % 2], bool((len(name) + seed) % 2), seed)
    result = scored(call.y_true, call.y_pred, **call.options)
    weights = call.columns.get("sample_weight")
    values = [plain_value(call.score, call.y_true, one, weights) for one in constants(call)]
    best = np.nanmax(values) if result.greater_is_better else np.nanmin(values)
    close(result.naive_estimate, best, 1e-8, 1e-10)
    runs = [call.y_pred, call.other()]
    runs = quiet(skboot.bootstrap_runs, call.y_true, runs, **call.options, **OPTIONS)
    close(runs.naive_estimate, best, 1e-8, 1e-10)


# ------------------------------------------------------------------ pairs


@pytest.mark.parametrize("name", ["accuracy", "accuracy of words", "error", "subset accuracy"])
@any_seed
def test_right_and_wrong_rows_of_a_pair_are_counted_and_give_its_closed_form(name, seed):
    call = call_of(name, seed=seed)
    systems = {"A": call.y_pred, "B": call.other()}
    right = [call.score.values(call.y_true, own) > 0.5 for own in systems.values()]
    only = [int(np.sum(a & ~b)) for a, b in (right, right[::-1])]
    assert only[0] != only[1]
    result = compared(call.y_true, systems, metric=call.score.metric, interval="tango")
    [pair] = result.pairs
    assert tuple(pair._discordant) == (*only, call.n)
    close(pair.difference, (only[0] - only[1]) / call.n)
    z = (only[0] - only[1]) / np.sqrt(sum(only))
    close(pair.p_value, 2 * ndtr(-abs(z)), 1e-6)
    expected = inference.tango_interval(*only, call.n)
    close([*pair.confidence_interval], [*expected], 1e-7)
    exact = inference.mcnemar_exact(*only)
    close(pair.mcnemar_p_value, exact)
    # No count of rows that weigh otherwise, whatever their weights.
    for weights in (np.arange(call.n) % 2, np.arange(call.n) % 3 + 1.0):
        options = {"metric": call.score.metric, "sample_weight": weights}
        assert compared(call.y_true, systems, **options).pairs[0]._discordant is None
        with pytest.raises(ValueError, match="tango"):
            compared(call.y_true, systems, **options, interval="tango")
        alone = scored(call.y_true, call.y_pred, **options)
        for method in ("wilson", "clopper-pearson", "wald"):
            with pytest.raises(ValueError, match=method):
                quiet(alone.interval, method)


@pytest.mark.parametrize("name", ["accuracy", "accuracy of words", "error", "subset accuracy"])
@any_seed
def test_few_rows_that_tell_systems_apart_are_counted_among_any_systems(name, seed):
    call = call_of(name, seed=seed)
    right = (call.score.values(call.y_true, call.y_pred) > 0.5) != (name == "error")
    near = call.y_pred.copy()
    mended, broken = np.flatnonzero(~right)[:4], np.flatnonzero(right)[0]
    near[mended] = call.y_true[mended]
    differs = call.y_true != call.y_true[broken]
    near[broken] = call.y_true[np.flatnonzero(differs.reshape(call.n, -1).any(axis=1))[0]]
    only = (4, 1) if name == "error" else (1, 4)
    for more in ({}, {"other": call.other()}):
        systems = {"A": call.y_pred, **more, "near": near}
        pairs = compared(call.y_true, systems, metric=call.score.metric).pairs
        [pair] = [one for one in pairs if (one.first, one.second) == ("A", "near")]
        assert tuple(pair._discordant) == (*only, call.n)
        assert pair.confidence_interval.method == "tango"
        close([*pair.confidence_interval], [*inference.tango_interval(*only, call.n)], 1e-7)
        turned = {"near": near, **more, "A": call.y_pred}
        turned = compared(call.y_true, turned, metric=call.score.metric).pairs
        [other] = [one for one in turned if (one.first, one.second) == ("near", "A")]
        close([*other.confidence_interval], [-x for x in [*pair.confidence_interval][::-1]], 1e-7)


METHODS_OF_PAIRS = ("expanded", "percentile", "basic", "normal", "t", "bca", "tango", "delong")


@pytest.mark.parametrize("method", METHODS_OF_PAIRS)
@pytest.mark.parametrize("name", ["accuracy", "auc", "neg mae", "f1"])
@any_seed
def test_a_p_value_is_the_level_at_which_the_interval_reaches_zero(name, method, seed):
    call = call_of(name, seed=seed)
    systems = {"A": call.y_pred, "B": call.other()}
    options = {"metric": call.score.metric, "interval": method, "n_resamples": 199}
    if (method == "tango") > (name == "accuracy") or (method == "delong") > (name == "auc"):
        return
    pair = compared(call.y_true, systems, **options).pairs[0]
    p = pair.p_value
    floor = 0.0 if method in ("tango", "delong") else 2 / 200
    for level, excludes in ((1 - 1.02 * p - 1e-6, True), (1 - 0.98 * p + 1e-6, False)):
        if not 0 < level < 1 - floor or p > 1 - 1e-9:
            continue
        same = compared(call.y_true, systems, confidence_level=level, **options).pairs[0]
        low, high = same.confidence_interval
        assert (low > 0 or high < 0) == excludes, (level, p)
        # The shown level moves a p-value that is next to it by rounding alone.
        close(same.p_value, p, 1e-3)


@each_of(FAST)
@any_seed
def test_a_family_of_one_is_the_pair(name, seed):
    adjust = one_of(("max-t", "holm"), name, seed)
    call = call_of(name, *product_of(name, seed), seed)
    systems = {"A": call.y_pred, "B": call.other()}
    pair = compared(call.y_true, systems, **call.options, adjust=adjust).pairs[0]
    assert pair.p_value_adjusted == pair.p_value
    close([*pair.simultaneous_interval], [*pair.confidence_interval])
    alone = compared(call.y_true, systems, **call.options, adjust=None).pairs[0]
    assert alone.simultaneous_interval is None
    close(alone.p_value, pair.p_value)
    close([*alone.confidence_interval], [*pair.confidence_interval])


@each_of([name for name in FAST if name not in ("slope", "intercept")])
@any_seed
def test_methods_whose_runs_are_equal_differ_as_their_systems_do(name, seed):
    """Test units alone: t of the pair, whose variance is that of samples, not of resamples."""
    call = call_of(name, ("groups", "groups in strata")[seed % 2], product_of(name, seed)[1], seed)
    systems = {"A": call.y_pred, "B": call.other()}
    alone = compared(call.y_true, systems, **call.options, interval="t")
    [pair] = alone.pairs
    runs = {key: [own] * (2 + (key == "B")) for key, own in systems.items()}
    [of_runs] = quiet(skboot.compare_runs, call.y_true, runs, **call.options, **OPTIONS).pairs
    close(of_runs.difference, pair.difference)
    defined = [np.isfinite(alone.systems[key].bootstrap_distribution).all() for key in systems]
    if not all(defined):
        return
    df, inflation = freedom_by_hand(call.columns, call.n)
    close(of_runs.standard_error, pair.standard_error * np.sqrt(inflation), 1e-6, 1e-9)
    close(of_runs.degrees_of_freedom, df, 1e-6)
    close([*of_runs.confidence_interval], [*pair.confidence_interval], 1e-6, 1e-9)
