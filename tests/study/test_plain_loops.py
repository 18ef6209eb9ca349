"""Sense: a plain loop of resamples over scikit-learn's function, and what decisions must agree on.

The loop knows nothing of the package: rows, or whole groups, within strata, are drawn with
replacement, and the function is called on them. Its standard error is that of 30 resamples (13%),
so an interval of between a third and three times its normal one is asked for, where 10 rows of
each outcome stand behind it and no note speaks of width.
"""

import numpy as np
import pytest
from identity_cases import (
    ALL,
    FAST,
    N_RESAMPLES,
    any_seed,
    call_of,
    close,
    each_of,
    plain_value,
    product_of,
    quiet,
    scored,
)

import skboot

pytestmark = pytest.mark.identity

each_score = each_of(FAST)
OPTIONS = {"n_resamples": 199, "random_state": 0}


def loop(call, n_resamples, y_pred):
    """The values of the plain function on resamples: of rows, or of groups, within strata."""
    rng = np.random.default_rng(5)
    n = call.n
    units = call.columns.get("groups", np.arange(n))
    strata = call.columns.get("strata", np.zeros(n, dtype=int))
    members = {unit: np.flatnonzero(units == unit) for unit in np.unique(units)}
    values = np.empty(n_resamples)
    for k in range(n_resamples):
        rows = []
        for stratum in np.unique(strata):
            own = np.unique(units[strata == stratum])
            rows += [members[unit] for unit in rng.choice(own, len(own))]
        rows = np.concatenate(rows)
        weights = call.columns.get("sample_weight")
        values[k] = plain_value(call.score, call.y_true, y_pred, weights, rows)
    return values


def speaks_of_width(result):
    words = "wide", "width", "fewer", "few ", "cover", "tails", "effective", "no interval"
    return any(word in note for note in result.notes for word in words)


def assert_as_uncertain(one, result, error, most):
    """The error of a spread of 30 resamples is 13%, of one of 199 is 5%."""
    assert 0.5 * error <= one.standard_error <= most * error
    low, high = one.confidence_interval
    if not speaks_of_width(result):
        assert error / 3 <= (high - low) / (2 * 1.96) <= 3 * error


# The error of a calibration by bins is larger on resamples, whose rows repeat.
@each_of([name for name in FAST if name != "ece"])
@any_seed
def test_scores_and_their_difference_are_about_as_uncertain_as_in_a_plain_loop(name, seed):
    call = call_of(name, *product_of(name, seed), seed, n=130)
    systems = {"A": call.y_pred, "B": call.other()}
    weights = call.columns.get("sample_weight")
    plain = [plain_value(call.score, call.y_true, own, weights) for own in systems.values()]
    drawn = np.array([loop(call, 30, own) for own in systems.values()])
    result = scored(call.y_true, call.y_pred, **OPTIONS, **call.options)
    close(result.estimate, plain[0], 1e-8)
    assert_as_uncertain(result, result, np.nanstd(drawn[0], ddof=1), 1.6)
    both = quiet(skboot.compare_systems, call.y_true, systems, **call.options, **OPTIONS)
    [pair] = both.pairs
    sign = 1 if pair.first == "A" else -1
    close(pair.difference, sign * (plain[0] - plain[1]), 1e-7, 1e-9)
    if np.isfinite(drawn).all():
        assert_as_uncertain(pair, both, np.std(drawn[0] - drawn[1], ddof=1), 1.7)


@each_of(ALL, n=2)
@any_seed
def test_replicates_of_given_rows_are_those_of_the_plain_function(name, seed):
    call = call_of(name, *product_of(name, seed), seed)
    rows = call.resamples(9)
    result = scored(call.y_true, call.y_pred, resamples=rows, **call.options)
    expected = [call.at(slice(None)), *(call.at(drawn) for drawn in rows)]
    close([result.estimate, *result.bootstrap_distribution], expected, 1e-8, 1e-9)


@each_score
@any_seed
def test_replicates_of_groups_are_values_of_resampled_groups(name, seed):
    """Groups of one size: each replicate is the plain function on some rows of whole groups."""
    call = call_of(name, "rows", bool(seed % 2), seed, n=60)
    groups = call.rng.permutation(np.arange(60) % 3)
    result = scored(call.y_true, call.y_pred, groups=groups, n_resamples=19, **call.options)
    members = [np.flatnonzero(groups == k) for k in range(3)]
    possible = [
        call.at(np.concatenate([members[k] for k in (a, b, c)]))
        for a in range(3)
        for b in range(a, 3)
        for c in range(b, 3)
    ]
    for value in result.bootstrap_distribution:
        nearest = np.nanmin(np.abs(np.array(possible) - value)) if np.isfinite(value) else 0.0
        assert nearest < 1e-8


# ------------------------------------------------------------------ decisions


@each_score
@any_seed
def test_verdicts_ranks_and_p_values_agree_with_intervals(name, seed):
    call = call_of(name, *product_of(name, seed + 2), seed)
    systems = {"A": call.y_pred, "B": call.other(), "C": call.other()}
    result = quiet(
        skboot.compare_systems, call.y_true, systems, **call.options, n_resamples=99, random_state=0
    )
    better = result.greater_is_better
    for pair in result.pairs:
        low, high = pair.confidence_interval
        assert low <= pair.difference + 1e-12
        assert pair.difference <= high + 1e-12
        assert (pair.p_value <= 0.05 + 1e-9) == (low > 0 or high < 0)
        assert pair.p_value >= 2 / 100 - 1e-12 or pair.confidence_interval.method not in (
            "percentile",
            "expanded",
        )
        wide = pair.simultaneous_interval
        assert (pair.p_value_adjusted <= 0.05 + 1e-9) == (wide.low > 0 or wide.high < 0)
        close(pair.equivalence_margin, max(abs(wide.low), abs(wide.high)), 0.5)
        if better is None:
            continue
        verdict = pair.verdict(pair.standard_error)
        if verdict.passed:
            assert verdict.smallest_margin <= pair.standard_error
        mirrored = pair._mirrored().verdict(pair.standard_error)
        assert not (verdict.failed and mirrored.failed)
        if verdict.failed:
            assert mirrored.passed
    if better is not None:
        rows = result.ranks().rows
        scores = [result.systems[row.system].estimate * (1 if better else -1) for row in rows]
        assert np.all(np.diff(scores) <= 1e-12)
        assert rows[0].system in result.top(1)
        assert all(row.low <= row.rank <= row.high for row in rows)


# On the few rows that resamples leave out, a best threshold is better, and precision larger.
BETTER_ON_FEW_ROWS = {"specificity_at", "sensitivity_at", "fpr_at", "min dcf", "ap"}


@each_of([name for name in ALL if name not in BETTER_ON_FEW_ROWS])
@any_seed
def test_a_search_takes_the_best_and_corrects_towards_worse(name, seed):
    call = call_of(name, ("rows", "groups")[seed % 2], product_of(name, seed)[1], seed)
    systems = {"A": call.y_pred, "B": call.other(), "C": call.other()}
    result = scored(call.y_true, call.y_pred, **call.options)
    if result.greater_is_better is None:
        call = call._replace(columns={**call.columns, "greater_is_better": True})
    found = quiet(
        skboot.search_score, call.y_true, systems, **call.options, n_resamples=99, random_state=0
    )
    values = [scored(call.y_true, own, **call.options).estimate for own in systems.values()]
    if found.greater_is_better:
        assert found.estimate <= max(values) + 0.3 * found.standard_error
    else:
        assert found.estimate >= min(values) - 0.3 * found.standard_error
    assert min(values) - 4 * found.standard_error <= found.estimate
    assert found.estimate <= max(values) + 4 * found.standard_error


def test_number_of_resamples_of_the_cases_is_one_of_order_statistics():
    assert (N_RESAMPLES + 1) * 0.05 / 2 == 1
