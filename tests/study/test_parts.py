"""A part of an answer is the answer of the part: subgroups, systems, pairs, metrics, runs, sets.

Exact where both read the same resamples: given ones, or groups. A system beside others shares its
reduction with them (DESIGN section 2), so for rows that a call draws itself the estimate and
closed forms are equal, and the standard error is within 5 Monte Carlo errors.
"""

import warnings

import numpy as np
import pytest
from identity_cases import (
    ALL,
    FAST,
    MEANS,
    N_RESAMPLES,
    OPTIONS,
    any_seed,
    call_of,
    close,
    drawn_rows,
    each_of,
    freedom_by_hand,
    labels_of_columns,
    means_of,
    plain_value,
    product_of,
    quiet,
    same_error,
    scored,
    spread_of,
    two_seeds,
)
from scipy import stats
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import skboot
from skboot.testing import assert_not_worse

pytestmark = pytest.mark.identity

each_score = each_of(FAST)
each_mean = each_of(MEANS)


def assert_same_answer(one, other, replicates=True, limits=True):
    close(other.estimate, one.estimate)
    if replicates:
        close(other.bootstrap_distribution, one.bootstrap_distribution, 1e-8, 1e-10)
        same_error(one, other)
        if limits:
            close([*other.confidence_interval], [*one.confidence_interval], 1e-6, 1e-9)
    # Wilson's of groups reads the spread of the replicates.
    elif one.unit == "row" and one.confidence_interval.method in ("wilson", "delong"):
        close([*other.confidence_interval], [*one.confidence_interval])
    else:
        assert_same_error(one, other)
    if replicates and limits:
        assert other.confidence_interval.method == one.confidence_interval.method
    assert (other.n_units, other.unit, other.n_samples) == (one.n_units, one.unit, one.n_samples)
    assert other.greater_is_better == one.greater_is_better
    assert (other.naive_estimate is None) == (one.naive_estimate is None)
    if one.naive_estimate is not None:
        close(other.naive_estimate, one.naive_estimate)


def assert_same_error(one, other):
    """Standard errors differ by less than 5 Monte Carlo errors, which are larger of long tails.

    The error of a spread of B replicates is sqrt((kurtosis - 1) / 4B) of it.
    """
    replicates = one.bootstrap_distribution, other.bootstrap_distribution
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # replicates may be all alike
        kurtosis = np.nanmax(
            [3.0, *(stats.kurtosis(r, fisher=False, nan_policy="omit") for r in replicates)]
        )
    error = np.sqrt((kurtosis - 1) / (4 * min(map(len, replicates))))
    ratio = abs(np.log(max(other.standard_error, 1e-9) / max(one.standard_error, 1e-9)))
    assert ratio < 5 * np.sqrt(2) * error


def compared(y_true, systems, options, **more):
    return quiet(skboot.compare_systems, y_true, systems, **{**OPTIONS, **options, **more})


def pair_of(result, first, second):
    """The pair, with the systems in this order."""
    for pair in result.pairs:
        if {pair.first, pair.second} == {first, second}:
            return pair if pair.first == first else pair._mirrored()
    raise LookupError((first, second))


def assert_same_pair(one, other, sign=1, simultaneous=True, exact=True):
    """The other is the first, or the first with its systems exchanged."""
    close(other.difference, sign * one.difference)
    if not exact:
        # The logarithm of a deviation of n draws has a standard error of 1 / sqrt(2 n), here twice.
        errors = np.log([max(pair.standard_error, 1e-9) for pair in (one, other)])
        close(*errors, 0, 5 / np.sqrt(N_RESAMPLES))
        return
    close(other.standard_error, one.standard_error, 1e-7, 1e-10)
    kinds = ["confidence_interval", *["simultaneous_interval"] * simultaneous]
    for limits in ([getattr(pair, kind) for pair in (one, other)] for kind in kinds):
        assert (limits[0] is None) == (limits[1] is None)
        if limits[0] is not None:
            expected = sign * np.array([*limits[0]])
            close([*limits[1]], expected if sign > 0 else expected[::-1], 1e-6, 1e-9)
            assert limits[0].method == limits[1].method
    close(other.p_value, one.p_value, 1e-6)
    if simultaneous:
        close(other.p_value_adjusted, one.p_value_adjusted, 1e-6)
    close(other.bootstrap_support, one.bootstrap_support if sign > 0 else 1 - one.bootstrap_support)
    assert other._discordant == (
        one._discordant if sign > 0 else one._discordant and one._discordant.mirrored()
    )


# ------------------------------------------------------------------ subgroups


@each_score
@two_seeds
def test_a_subgroup_is_the_call_on_its_rows(name, seed):
    """Each resample draws as many rows of each subgroup, so its part is a resample of the part."""
    call = call_of(name, *product_of(name, 2 * seed + 1), seed, n=120)
    key = call.columns.get("groups", call.rng.permutation(call.n))
    by = np.array(["north", "east"])[key % 2]
    strata = call.columns.get("strata", np.zeros(call.n, int)).astype(str)
    cells = {"strata": np.char.add(by, strata)}
    rows = drawn_rows(cells, call.n, N_RESAMPLES, call.rng)
    result = scored(call.y_true, call.y_pred, by=by, resamples=rows, **call.options)
    parts = []
    for part in ("north", "east"):
        own = np.flatnonzero(by == part)
        columns = {key: column[own] for key, column in call.columns.items()}
        drawn = np.searchsorted(own, rows[:, own])
        options = {**call.options, **columns, "resamples": drawn}
        parts.append(scored(call.y_true[own], call.y_pred[own], **options))
        # A stratum has more rows than the subgroup has of it, of which BCa leaves out one.
        assert_same_answer(parts[-1], result[part], limits="strata" not in columns)
        if "strata" not in columns:
            assert result[part].notes == parts[-1].notes
    gap = result["gap"]
    if np.isfinite(gap.estimate) and gap.estimate > 1e-12:
        larger = max(parts, key=lambda part: part.estimate)
        smaller = parts[1 - parts.index(larger)]
        close(gap.estimate, larger.estimate - smaller.estimate)
        replicates = larger.bootstrap_distribution - smaller.bootstrap_distribution
        close(gap.bootstrap_distribution, replicates, 1e-8, 1e-10)
        order = ("north", "east") if larger is parts[0] else ("east", "north")
        assert "({} - {})".format(*order) in gap.metric
        low, high = gap.confidence_interval
        assert low <= gap.estimate <= high


@pytest.mark.parametrize("name", ["median", "fpr_at"])
@pytest.mark.parametrize("n_parts", [2, 5])
def test_a_subgroup_of_a_metric_that_answers_in_jumps_has_the_method_of_its_rows(name, n_parts):
    call = call_of(name, n=120 * n_parts)
    by = call.rng.permutation(call.n) % n_parts
    more = {"n_resamples": 199, **call.options}
    result = scored(call.y_true, call.y_pred, by=by, **more)
    for part in range(n_parts):
        own = by == part
        alone = scored(call.y_true[own], call.y_pred[own], **more)
        assert result[part].confidence_interval.method == alone.confidence_interval.method
        assert result[part].notes == alone.notes


@each_score
@any_seed
def test_pairs_of_a_subgroup_are_the_pairs_on_its_rows(name, seed):
    call = call_of(name, ("groups", "rows")[seed % 2], product_of(name, seed)[1], seed, n=120)
    key = call.columns.get("groups", np.arange(call.n))
    by, other = key % 2, call.other()
    result = compared(call.y_true, {"A": call.y_pred, "B": other}, call.options, by=by)
    differences = []
    for part in (0, 1):
        own = np.flatnonzero(by == part)
        columns = {key: column[own] for key, column in call.columns.items()}
        systems = {"A": call.y_pred[own], "B": other[own]}
        alone = compared(call.y_true[own], systems, {**call.options, **columns})
        assert_same_pair(alone.pairs[0], result[part].pairs[0], exact=False)
        for system in "AB":
            assert_same_answer(alone.systems[system], result[part].systems[system], False)
        differences.append(alone.pairs[0].difference)
    [gap] = result["gap"].values()
    if np.isfinite(gap.estimate):
        close(gap.estimate, abs(differences[0] - differences[1]), 1e-9, 1e-12)


# ------------------------------------------------------------------ systems and pairs


@each_score
@two_seeds
def test_a_system_beside_others_is_the_system_by_itself(name, seed):
    call = call_of(name, *product_of(name, seed + 2), seed)
    other = call.other()
    result = compared(call.y_true, {"A": call.y_pred, "B": other}, call.options)
    exact = "groups" in call.columns
    for system, y_pred in (("A", call.y_pred), ("B", other)):
        alone = scored(call.y_true, y_pred, **call.options)
        assert_same_answer(alone, result.systems[system], exact)
    pair = pair_of(result, "A", "B")
    replicates = np.subtract(*(result.systems[k].bootstrap_distribution for k in "AB"))
    close(pair.difference, result.systems["A"].estimate - result.systems["B"].estimate)
    defined = replicates[~np.isnan(replicates)]
    close(pair.standard_error, defined.std(ddof=1), 1e-6, 1e-9)
    better = result.systems["A"].greater_is_better
    won = defined if better is not False else -defined
    won = np.where(np.abs(won) < 1e-12, 0.0, won)
    close(
        pair.bootstrap_support,
        np.mean(np.sign(won) + 1) / 2,
        1e-9,
        1.5 / len(defined) * (not exact),
    )
    low, high = pair.confidence_interval
    assert (pair.p_value <= 0.05 + 1e-9) == (low > 0 or high < 0)


@each_score
@any_seed
def test_second_minus_first_is_first_minus_second_turned(name, seed):
    call = call_of(name, ("groups", "groups in strata")[seed % 2], product_of(name, seed)[1], seed)
    other = call.other()
    one = compared(call.y_true, {"A": call.y_pred, "B": other}, call.options)
    turned = compared(call.y_true, {"B": other, "A": call.y_pred}, call.options)
    assert_same_pair(pair_of(one, "A", "B"), pair_of(turned, "B", "A"), -1)
    assert sorted(one.notes) == sorted(turned.notes) or len(one.notes) == len(turned.notes)
    if list(ALL).index(name) % 2:
        return
    sides = [
        compared(call.y_true, systems, call.options, alternative=side).pairs[0]
        for systems, side in (
            ({"A": call.y_pred, "B": other}, "greater"),
            ({"B": other, "A": call.y_pred}, "less"),
        )
    ]
    first, second = sides if sides[0].first == sides[1].second else (sides[0], sides[1]._mirrored())
    assert_same_pair(first, second, -1)


@each_score
@any_seed
def test_a_pair_among_three_is_the_pair_alone(name, seed):
    call = call_of(name, ("groups", "groups in strata")[seed % 2], product_of(name, seed)[1], seed)
    systems = {"A": call.y_pred, "B": call.other(), "C": call.other()}
    three = compared(call.y_true, systems, call.options)
    for first, second in ("AB", "AC", "BC"):
        two = {key: systems[key] for key in (first, second)}
        alone = pair_of(compared(call.y_true, two, call.options), first, second)
        pair = pair_of(three, first, second)
        assert_same_pair(alone, pair, simultaneous=False)
        # Simultaneous limits hold the marginal ones, adjusted p-values are not smaller.
        wide, low = pair.simultaneous_interval, pair.confidence_interval
        assert wide.low <= low.low + 1e-12
        assert low.high <= wide.high + 1e-12
        assert pair.p_value_adjusted >= pair.p_value - 1e-12
    holm = compared(call.y_true, systems, call.options, adjust="holm")
    ordered = sorted(holm.pairs, key=lambda pair: pair.p_value)
    adjusted = np.maximum.accumulate([(3 - k) * p.p_value for k, p in enumerate(ordered)]).clip(
        max=1
    )
    close([pair.p_value_adjusted for pair in ordered], adjusted)


@each_score
@any_seed
def test_a_system_with_itself_differs_by_nothing(name, seed):
    call = call_of(name, *product_of(name, seed + 1), seed)
    pair = compared(call.y_true, {"A": call.y_pred, "B": call.y_pred}, call.options).pairs[0]
    assert pair.difference == 0
    assert pair.p_value == 1.0
    low, high = pair.confidence_interval
    assert low <= 0 <= high
    assert pair.bootstrap_support == 0.5


@each_score
@any_seed
def test_a_gate_is_the_verdict_of_the_pair(name, seed):
    call = call_of(name, ("groups", "rows")[seed % 2], product_of(name, seed)[1], seed)
    # What a calibration line is off by has no direction.
    if name in ("slope", "intercept"):
        call = call._replace(columns={**call.columns, "greater_is_better": True})
    other = call.other()
    pair = compared(call.y_true, {"candidate": call.y_pred, "reference": other}, call.options)
    pair = pair_of(pair, "candidate", "reference")
    spread = max(pair.standard_error, 1e-3)
    for margin in (0.01 * spread, spread, 6 * spread):
        expected = pair.verdict(margin)
        more = {**OPTIONS, **call.options, "margin": margin, "inconclusive": "pass"}
        try:
            found = quiet(assert_not_worse, call.y_true, call.y_pred, other, **more)
        except AssertionError:
            assert expected.failed
        else:
            assert found.outcome == expected.outcome
            close(found.smallest_margin, expected.smallest_margin, 1e-6, 1e-9)
        # The verdict and the interval that it is read from agree.
        sign = -1 if pair.greater_is_better is False else 1
        low, high = sorted(sign * limit for limit in pair._widest_interval)
        outcome = "pass" if low > -margin else "fail" if high < -margin else "inconclusive"
        if pair._discordant is None:
            assert expected.outcome == outcome


@each_score
@any_seed
def test_systems_on_test_sets_of_their_own_are_the_systems_alone(name, seed):
    design, weighted = product_of(name, seed)
    calls = {"A": call_of(name, design, weighted, seed)}
    calls["B"] = call_of(name, design, weighted, seed)
    keep = np.arange(calls["B"].n) % 5 > 0
    rows = {"A": slice(None), "B": keep}
    columns = {key: {k: calls[k].columns[key][rows[k]] for k in "AB"} for key in calls["A"].columns}
    y_true = {k: calls[k].y_true[rows[k]] for k in "AB"}
    y_pred = {k: calls[k].y_pred[rows[k]] for k in "AB"}
    options = {"metric": calls["A"].score.metric, **columns, "paired": False}
    result = compared(y_true, y_pred, options)
    pair = pair_of(result, "A", "B")
    for k in "AB":
        own = {key: column[k] for key, column in columns.items()}
        alone = scored(y_true[k], y_pred[k], metric=calls["A"].score.metric, **own)
        close(result.systems[k].estimate, alone.estimate)
        assert result.systems[k].n_units == alone.n_units
        close(result.systems[k].standard_error, alone.standard_error, 5 / np.sqrt(N_RESAMPLES))
    close(pair.difference, result.systems["A"].estimate - result.systems["B"].estimate)
    both = np.hypot(*(result.systems[k].standard_error for k in "AB"))
    close(pair.standard_error, both, 5 / np.sqrt(N_RESAMPLES))
    turned = compared(
        *({k: one[k] for k in "BA"} for one in (y_true, y_pred)),
        {**options, **{key: {k: column[k] for k in "BA"} for key, column in columns.items()}},
    )
    close(pair_of(turned, "A", "B").difference, pair.difference)


# ------------------------------------------------------------------ metrics of one call


@each_score
@two_seeds
def test_a_metric_in_a_list_is_the_metric_alone(name, seed):
    call = call_of(name, *product_of(name, seed), seed)
    beside = {"two": "accuracy", "three": "f1_macro", "words": "accuracy", "values": "r2"}
    beside |= {"scores": "roc_auc", "probability": "roc_auc", "columns": "accuracy"}
    beside |= {"positive": "neg_mean_absolute_error", "sets": "accuracy", "tables": "r2"}
    metrics = {"beside": beside[call.score.data], "own": call.score.metric}
    given = {"resamples": call.resamples()} if "groups" not in call.columns else {}
    options = {**call.columns, **given}
    alone = scored(call.y_true, call.y_pred, metric=call.score.metric, **options)
    listed = scored(call.y_true, call.y_pred, metric=metrics, **options)
    assert_same_answer(alone, listed["own"])
    systems = {"A": call.y_pred, "B": call.other()}
    if "groups" in call.columns:
        pairs = compared(call.y_true, systems, {"metric": metrics, **call.columns})["own"].pairs
        assert_same_pair(compared(call.y_true, systems, call.options).pairs[0], pairs[0])


# ------------------------------------------------------------------ runs


def evaluated_runs(y_true, runs, options, **more):
    return quiet(skboot.bootstrap_runs, y_true, runs, **{**OPTIONS, **options, **more})


@each_score
@any_seed
def test_equal_runs_are_the_system(name, seed):
    call = call_of(name, *product_of(name, seed + 3), seed)
    alone = scored(call.y_true, call.y_pred, **call.options)
    result = evaluated_runs(call.y_true, [call.y_pred] * 4, call.options)
    close(result.estimate, alone.estimate)
    exact = "groups" in call.columns
    system = evaluated_runs(call.y_true, [call.y_pred] * 4, call.options, estimand="system")
    assert_same_answer(alone, system, exact)
    assert abs(result.variance_components["seed"]) < 1e-12
    error = 0.35 if not exact else 0.12
    n_strata = len(np.unique(call.columns.get("strata", 0)))
    n, (_, inflation) = alone.n_units, freedom_by_hand(call.columns, call.n)
    factor = np.sqrt(inflation / (n / (n - n_strata)))
    close(result.standard_error, factor * spread_of(alone), error, 1e-9)
    same = quiet(
        skboot.compare_runs,
        call.y_true,
        {"A": [call.y_pred] * 3, "B": [call.y_pred] * 3},
        **call.options,
        **OPTIONS,
    )
    assert same.pairs[0].difference == 0
    assert same.pairs[0].p_value == 1.0


@each_score
@any_seed
def test_a_method_beside_others_is_the_method_by_itself(name, seed):
    call = call_of(name, ("groups", "groups in strata")[seed % 2], product_of(name, seed)[1], seed)
    runs = {"A": [call.y_pred, call.other(), call.other()], "B": [call.other() for _ in range(4)]}
    one, turned = (
        quiet(skboot.compare_runs, call.y_true, order, **call.options, **OPTIONS)
        for order in (runs, dict(reversed(runs.items())))
    )
    for method in "AB":
        alone = evaluated_runs(call.y_true, runs[method], call.options)
        assert_same_answer(alone, one.systems[method], replicates=False)
        close(one.systems[method].standard_error, alone.standard_error, 1e-6, 1e-9)
        close([*one.systems[method].confidence_interval], [*alone.confidence_interval], 1e-6)
        weights = call.columns.get("sample_weight")
        estimates = [plain_value(call.score, call.y_true, run, weights) for run in runs[method]]
        close(alone.estimate, np.mean(estimates), 1e-8)
    pair = pair_of(one, "A", "B")
    close(pair.difference, one.systems["A"].estimate - one.systems["B"].estimate)
    close(
        [*pair_of(turned, "B", "A").confidence_interval],
        [-limit for limit in pair.confidence_interval][::-1],
        1e-6,
        1e-9,
    )
    low, high = pair.confidence_interval
    assert (pair.p_value <= 0.05 + 1e-9) == (low > 0 or high < 0)


# ------------------------------------------------------------------ searches and plans


@each_mean
@any_seed
def test_a_search_of_equal_candidates_is_the_score_of_one(name, seed):
    """Of means: of other metrics the out-of-bag score is that of samples of fewer rows."""
    call = call_of(name, ("rows", "groups")[seed % 2], product_of(name, seed)[1], seed)
    if scored(call.y_true, call.y_pred, **call.options).greater_is_better not in (True, False):
        call = call._replace(columns={**call.columns, "greater_is_better": True})
    alone = scored(call.y_true, call.y_pred, **call.options)
    found = quiet(
        skboot.search_score,
        call.y_true,
        {"one": call.y_pred, "same": call.y_pred},
        **call.options,
        **OPTIONS,
    )
    close(found.estimate, alone.estimate)
    assert found.n_samples == alone.n_samples
    close(found.standard_error, alone.standard_error, 5 / np.sqrt(N_RESAMPLES), 1e-9)


@each_mean
@any_seed
def test_a_search_of_a_mean_is_that_of_its_values(name, seed):
    call = call_of(name, "groups", product_of(name, seed)[1], seed)
    systems = {"A": call.y_pred, "B": call.other(), "C": call.other()}
    values = {key: means_of(call, own)[0] for key, own in systems.items()}
    sign = means_of(call)[1]
    result = quiet(skboot.search_score, call.y_true, systems, **call.options, **OPTIONS)
    more = {**OPTIONS, "greater_is_better": result.greater_is_better == (sign > 0)}
    mean = quiet(skboot.search_score, None, values, **call.as_mean(), **more)
    close(result.estimate, sign * mean.estimate)
    close(result.standard_error, mean.standard_error)


@each_mean
@any_seed
def test_the_plan_of_a_mean_is_that_of_its_values(name, seed):
    design, weighted = product_of(name, seed)
    call = call_of(name, design, weighted, seed)
    given = {} if "groups" in design else {"resamples": call.resamples()}
    values, sign = means_of(call)
    pilots = (
        scored(call.y_true, call.y_pred, **given, **call.options),
        scored(None, values, **given, **call.as_mean()),
    )
    half = pilots[0].standard_error
    plans = [quiet(skboot.plan_evaluation, pilot, half_width=half) for pilot in pilots]
    counted = np.isin(values, (0, 1)).all() and not weighted
    if counted or np.isinf(call.score.bounds).any():
        assert plans[0].n_units == plans[1].n_units
    assert plans[0].unit == plans[1].unit
    other = call.other()
    if "groups" in design:
        systems = {"A": call.y_pred, "B": other}
        both = {"A": values, "B": means_of(call, other)[0]}
        pair = compared(call.y_true, systems, call.options).pairs[0]
        mean = compared(
            None, both, call.as_mean(), greater_is_better=pair.greater_is_better == (sign > 0)
        )
        sizes = [
            quiet(skboot.plan_evaluation, one, difference=half).n_units
            for one in (pair, mean.pairs[0])
        ]
        assert sizes[0] == sizes[1]


# ------------------------------------------------------------------ streams

# Streams have no sums of several columns, and none of metrics that ask for all rows at once.
NOT_STREAMED = (
    *("sensitivity_at", "specificity_at", "min dcf", "act dcf", "cllr", "median"),
    *("ece", "slope", "intercept"),
)
STREAMED = [
    name
    for name in FAST
    if call_of(name).score.data not in ("sets", "tables") and name not in NOT_STREAMED
]


@each_of(STREAMED)
@any_seed
def test_a_stream_in_parts_is_the_stream_and_its_estimate_the_score(name, seed):
    design = ("rows", "groups")[(list(ALL).index(name) + seed) % 2]
    call = call_of(name, design, product_of(name, seed)[1], seed, n=150)
    options = {"random_state": 0, "n_resamples": N_RESAMPLES}
    options["labels"] = labels_of_columns(call)
    weight, groups = (call.columns.get(key) for key in ("sample_weight", "groups"))

    def fed(parts):
        found = []
        for rows in parts:
            one = skboot.BootstrapAccumulator(call.score.metric, **options)
            units = {"ids": rows} if groups is None else {"groups": groups[rows]}
            own = None if weight is None else weight[rows]
            found.append(
                one.update(call.y_true[rows], call.y_pred[rows], sample_weight=own, **units)
            )
        for one in found[1:]:
            found[0].merge(skboot.BootstrapAccumulator.from_bytes(one.to_bytes()))
        return quiet(found[0].result)

    whole = fed([np.arange(call.n)])
    parts = fed(np.split(call.rng.permutation(call.n), [call.n // 5, call.n // 2]))
    close(parts.estimate, whole.estimate)
    close(parts.bootstrap_distribution, whole.bootstrap_distribution, 1e-9, 1e-10)
    close([*parts.confidence_interval], [*whole.confidence_interval], 1e-7, 1e-9)
    assert parts.notes == whole.notes
    alone = scored(call.y_true, call.y_pred, **call.options)
    # Calibration is read from fine histograms.
    tolerance = 2e-2 if name in ("ece", "slope", "intercept") else 1e-8
    close(whole.estimate, alone.estimate, tolerance, tolerance)
    assert (whole.unit, whole.n_units) == (alone.unit, alone.n_units)
    assert whole.n_samples == alone.n_samples
    if alone.confidence_interval.method == whole.confidence_interval.method == "wilson":
        close([*whole.confidence_interval], [*alone.confidence_interval])


# ------------------------------------------------------------------ methods


@pytest.fixture(scope="module")
def classes():
    X, y = make_classification(160, 5, n_informative=3, flip_y=0.15, random_state=3)
    return X[:90], y[:90], X[90:], y[90:]


@pytest.mark.parametrize(
    "scoring", ["accuracy", "roc_auc", "neg_log_loss", "f1", "neg_brier_score"]
)
def test_a_fixed_training_set_is_the_score_of_the_fitted_model(classes, scoring):
    X, y, X_test, y_test = classes
    options = {"scoring": scoring, "n_train_resamples": 0, "estimand": "system", "random_state": 0}
    scorer = skboot.BootstrapScorer(LogisticRegression(), n_test_resamples=99, **options)
    groups = np.arange(len(y_test)) // 2
    for more in ({}, {"groups_test": groups}):
        quiet(scorer.fit, X, y, X_test=X_test, y_test=y_test, **more)
        fitted = scorer.estimator_
        y_pred = fitted.predict(X_test)
        if scoring not in ("accuracy", "f1"):
            y_pred = fitted.predict_proba(X_test)[:, 1]
        given = {"groups": groups} if more else {}
        alone = scored(y_test, y_pred, metric=scoring, n_resamples=99, random_state=0, **given)
        close(scorer.result_.estimate, alone.estimate)
        close(scorer.score_, alone.estimate)
        assert scorer.result_.confidence_interval.method == alone.confidence_interval.method
        assert scorer.result_.n_units == alone.n_units
        # The seed of the test resamples is drawn below that of the trainings.
        close(scorer.standard_error_, alone.standard_error, 5 / np.sqrt(99))
        if alone.confidence_interval.method == "wilson":
            close([*scorer.confidence_interval_], [*alone.confidence_interval], 1e-7, 1e-9)


def test_one_test_set_by_name_is_the_test_set(classes):
    X, y, X_test, y_test = classes
    options = {"n_train_resamples": 4, "n_seeds": 2, "n_test_resamples": 39, "random_state": 0}
    scorer = skboot.BootstrapScorer(DecisionTreeClassifier(max_depth=2), **options)
    alone = quiet(scorer.fit, X, y, X_test=X_test, y_test=y_test).result_
    named = quiet(scorer.fit, X, y, X_test={"only": X_test}, y_test={"only": y_test}).result_
    assert_same_answer(alone, named["only"])
    close([*alone.variance_components.values()], [*named["only"].variance_components.values()])


@pytest.mark.parametrize("on_test", [False, True])
@pytest.mark.parametrize("strategy", ["cv-bootstrap", "oob"])
def test_a_method_in_a_comparison_has_its_own_estimate(classes, on_test, strategy):
    X, y, X_test, y_test = classes
    methods = {
        "tree": DecisionTreeClassifier(max_depth=2, random_state=0),
        "line": LogisticRegression(),
    }
    options = {"n_train_resamples": 12, "n_cv_repeats": 2, "random_state": 0, "strategy": strategy}
    options |= {"n_test_resamples": 39, "scoring": "accuracy"}
    given = {"X_test": X_test, "y_test": y_test} if on_test else {}
    result = quiet(skboot.compare_methods, methods, X, y, **given, **options)
    for name, method in methods.items():
        alone = quiet(skboot.BootstrapScorer(method, **options).fit, X, y, **given)
        close(result.systems[name].estimate, alone.score_, 1e-9)
    pair = pair_of(result, "tree", "line")
    difference = result.systems["tree"].estimate - result.systems["line"].estimate
    close(pair.difference, difference, 1e-9, 1e-12)
    low, high = pair.confidence_interval
    assert (pair.p_value <= 0.05 + 1e-9) == (low > 0 or high < 0)


def test_the_scale_of_the_target_changes_no_method():
    X, y = make_regression(60, 3, noise=20.0, random_state=0)
    options = {"n_train_resamples": 10, "n_cv_repeats": 2, "random_state": 0}
    results = [
        quiet(
            skboot.BootstrapScorer(
                LinearRegression(), scoring="neg_mean_absolute_error", **options
            ).fit,
            X,
            scale * y,
        ).result_
        for scale in (1.0, 8.0)
    ]
    close(results[1].estimate, 8 * results[0].estimate, 1e-7)
    close(
        [*results[1].confidence_interval],
        [8 * limit for limit in results[0].confidence_interval],
        1e-6,
    )
