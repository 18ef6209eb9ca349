"""What is drawn, and what is not: units of few rows, rows without weight, what strata hold fixed.

Exact where nothing varies or the same units are drawn. A row of two crossed factors weighs the
product of the counts of its members, and that of one member paired with itself its count.
"""

import itertools

import numpy as np
import pytest
from identity_cases import (
    DESIGNS,
    FAST,
    MEANS,
    OPTIONS,
    any_seed,
    call_of,
    close,
    compared,
    each_of,
    means_of,
    plain_value,
    product_of,
    quiet,
    same_error,
    scored,
    unless,
)

import skboot
from skboot import Crossed, Trials

pytestmark = pytest.mark.identity

WEIGHED = [name for name in FAST if call_of(name).score.weighs and name != "ece"]


def runs_of(y_true, runs, **options):
    return quiet(skboot.bootstrap_runs, y_true, runs, **{**OPTIONS, **options})


def searched(y_true, systems, **options):
    return quiet(skboot.search_score, y_true, systems, **{**OPTIONS, **options})


# ------------------------------------------------------------------ all resamples of few units


def products_of_counts(n, members, same=False):
    """All weights of rows by counts of members: of n (or n each of two factors) drawn anew."""
    draws = [
        np.bincount(drawn, minlength=n)
        for drawn in itertools.combinations_with_replacement(range(n), n)
    ]
    if same:
        first, second = members.T
        return [np.where(first == second, c[first], c[first] * c[second]) for c in draws]
    columns = members.T
    return [
        np.prod([counts[column] for counts, column in zip(both, columns, strict=True)], axis=0)
        for both in itertools.product(draws, repeat=len(columns))
    ]


@each_of(WEIGHED)
@pytest.mark.parametrize("design", ["strata", "crossed", "one population"])
@any_seed
def test_replicates_are_values_at_counts_that_the_design_allows(name, design, seed):
    call = call_of(name, "rows", bool(seed % 2), seed, n=60)
    rows = call.rng.permutation(60)
    weight = call.columns.pop("sample_weight", np.ones(60))
    if design == "strata":  # two groups in each of two strata
        columns = {"groups": rows % 4, "strata": rows % 4 // 2}
        draws = [(1, 1), (0, 2), (2, 0)]
        counts = [np.array(a + b)[rows % 4] for a, b in itertools.product(draws, repeat=2)]
    else:
        n = 3 if design == "one population" else 2
        pairs = np.column_stack([rows % n, rows // n % n])
        columns = {"groups": (Trials if n == 3 else Crossed)(*pairs.T)}
        counts = products_of_counts(n, pairs, same=n == 3)
    result = scored(
        call.y_true,
        call.y_pred,
        **{**call.options, **columns, "sample_weight": weight, "n_resamples": 19},
    )
    possible = [
        plain_value(call.score, call.y_true[c > 0], call.y_pred[c > 0], (c * weight)[c > 0])
        for c in counts
    ]
    # A metric may be defined without a class where the function is not.
    for value in result.bootstrap_distribution:
        if np.isfinite([value, *possible]).all():
            assert np.abs(np.array(possible) - value).min() < 1e-8


# ------------------------------------------------------------------ strata


@pytest.mark.parametrize("unit", ["row", "group", "block"])
@pytest.mark.parametrize("weighted", [False, True])
@any_seed
def test_what_strata_hold_fixed_varies_in_no_function(unit, weighted, seed):
    """The values are those of strata: of equally many rows in each unit of a stratum."""
    rng = np.random.default_rng(seed)
    strata = np.repeat(rng.permutation(5), (20, 8, 12, 4, 16))
    values = 2.0**strata - strata
    columns = {"strata": strata, "metric": "mean"}
    columns |= {"sample_weight": 1.0 + strata} if weighted else {}
    columns |= {"groups": np.arange(60) // 2} if unit == "group" else {}
    columns |= {"block_length": 2} if unit == "block" else {}
    result = scored(None, values, **columns)
    close(result.bootstrap_distribution, result.estimate)
    assert result.standard_error < 1e-9
    pair = compared(None, {"A": values, "B": values**2}, **columns).pairs[0]
    assert pair.standard_error < 1e-9
    runs = runs_of(None, [values, values + 1, 2 * values], **columns)
    assert runs.variance_components["test"] < 1e-9
    if unit == "block":
        return
    # On rows of their own as well, which differ in size.
    own = {"A": slice(None), "B": slice(0, 40)}
    by_system = {
        key: {name: column[rows] for name, rows in own.items()}
        for key, column in columns.items() if key != "metric"
    }  # fmt: skip
    predicted = {name: values[rows] for name, rows in own.items()}
    [pair] = compared(None, predicted, paired=False, metric="mean", **by_system).pairs
    assert pair.standard_error < 1e-9
    # Of values that vary within strata alone the mean varies, and each row may be drawn.
    within = rng.normal(size=60)
    assert np.ptp(scored(None, within, **columns).bootstrap_distribution) > 0
    seen = [scored(None, (np.arange(60) == k) * 1.0, **columns) for k in (0, 31)]
    assert all(np.ptp(one.bootstrap_distribution) > 0 for one in seen)


@each_of([name for name in FAST if call_of(name).score.data in ("two", "scores", "probability")])
@any_seed
def test_strata_of_the_class_draw_as_many_rows_of_each_class(name, seed):
    """No resample lacks a class, and the share of the class is that of the data."""
    call = call_of(name, seed=seed)
    result = scored(call.y_true, call.y_pred, **call.options, strata=call.y_true)
    assert result.n_undefined == 0
    share = scored(None, call.y_true == 1, metric="mean", strata=call.y_true)
    close(share.bootstrap_distribution, np.mean(call.y_true))
    if name in ("recall", "sensitivity", "specificity"):
        # As of the rows of the class by themselves.
        positive = {"specificity": 0, "sensitivity": 1}.get(name, 1)
        positive = call.score.metric.keywords["pos_label"] if name == "recall" else positive
        p = result.estimate
        known = np.sqrt(p * (1 - p) / np.sum(call.y_true == positive))
        close(result._evidence.standard_error, known)


@each_of(FAST)
@pytest.mark.parametrize("column", ["strata", "average_over"])
@any_seed
def test_where_the_rows_of_a_stratum_or_a_task_stand_changes_nothing(name, column, seed):
    """They are drawn in their own order, also those of the subgroups beside them."""
    call = call_of(name, "rows", bool((len(name) + seed) % 2), seed, n=150)
    columns = {column: call.rng.integers(0, 3, call.n), "by": call.rng.integers(0, 2, call.n)}
    order = np.argsort(columns[column], kind="stable")
    for given in (columns, {column: columns[column]}):
        own = {key: each[order] for key, each in (call.columns | given).items()}
        options = {**call.options, **given}
        scattered = unless("on which the metric", scored, call.y_true, call.y_pred, **options)
        options |= own
        if scattered is None:
            continue
        sorted_rows = scored(call.y_true[order], call.y_pred[order], **options)
        pairs = [(scattered, sorted_rows)]
        if "by" in given:
            pairs = [(scattered[part], sorted_rows[part]) for part in (0, 1)]
        for one, other in pairs:
            close(one.estimate, other.estimate)
            close(one.bootstrap_distribution, other.bootstrap_distribution, 1e-8, 1e-9)
            close([*one.confidence_interval], [*other.confidence_interval], 1e-6, 1e-8)


# ------------------------------------------------------------------ rows without weight


@each_of(WEIGHED)
@any_seed
def test_rows_without_weight_count_nothing_in_any_function(name, seed):
    """They are in the same groups, whose rows are drawn together."""
    design = ("groups", "groups in strata")[(len(name) + seed) % 2]
    call = call_of(name, design, False, seed, n=60)
    other, extra = call.other(), call.rng.integers(0, 60, 25)
    weights = call.rng.integers(1, 3, 60).astype(float)
    rows = np.append(np.arange(60), extra)
    shuffled = np.append(np.arange(60), call.rng.permutation(extra))
    without = {**call.options, "sample_weight": weights}
    more = {key: column[rows] for key, column in call.columns.items()}
    more |= {"metric": call.score.metric, "sample_weight": np.append(weights, np.zeros(25))}
    kept = call.y_true, {"A": call.y_pred, "B": other}
    given = call.y_true[rows], {"A": call.y_pred[shuffled], "B": other[shuffled]}
    results = []
    for (y_true, systems), options in ((kept, without), (given, more)):
        alone = scored(y_true, systems["A"], **options)
        pair = compared(y_true, systems, **options).pairs[0]
        runs = runs_of(y_true, [*systems.values()], **options)
        numbers = [alone.estimate, alone.standard_error, *quiet(alone.interval, "percentile")]
        numbers += [*quiet(alone.interval, "t"), *alone.bootstrap_distribution]
        numbers += [pair.difference, pair.standard_error, *pair.confidence_interval, pair.p_value]
        numbers += [runs.estimate, runs.standard_error, *runs.variance_components.values()]
        results.append(numbers)
    close(results[1], results[0], 1e-6, 1e-9)


# ------------------------------------------------------------------ crossed factors


@each_of(MEANS)
@any_seed
def test_members_paired_with_themselves_are_groups(name, seed):
    call = call_of(name, "groups", product_of(name, seed)[1], seed)
    groups = call.columns["groups"]
    one = scored(call.y_true, call.y_pred, **call.options)
    both = {**call.options, "groups": Trials(groups, groups)}
    other = scored(call.y_true, call.y_pred, **both)
    close(other.estimate, one.estimate)
    close(other.bootstrap_distribution, one.bootstrap_distribution, 1e-8, 1e-10)
    same_error(one, other)


@pytest.mark.parametrize("name", ["accuracy", "neg mse"])
@any_seed
def test_crossed_members_of_one_row_each_weigh_a_row_by_two_draws(name, seed):
    """A product of two counts has three times the variance of one; sides may change places."""
    call = call_of(name, seed=seed, n=300)
    values, _ = means_of(call)
    known = values.std() / np.sqrt(call.n)
    pair = np.column_stack([call.rng.permutation(call.n) for _ in "ab"])
    for groups, same, times in (
        (pair, False, 3),
        (pair[:, ::-1], False, 3),
        (pair + np.array([0, call.n]), True, 3),
        (pair[:, [0, 0]], True, 1),
        (np.arange(call.n), False, 1),
    ):
        result = scored(
            call.y_true, call.y_pred, metric=call.score.metric, n_resamples=499,
            groups=Trials(*groups.T) if same else groups,
        )  # fmt: skip
        close(result.standard_error, np.sqrt(times) * known, 5 / np.sqrt(2 * 499))


# ------------------------------------------------------------------ rows of their own


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", ["accuracy of two", "auc", "neg mae"])
@any_seed
def test_systems_on_rows_of_their_own_vary_by_the_sum_of_their_variances(name, design, seed):
    call = call_of(name, design, seed=seed, n=80)
    by = call.columns.get("groups", np.arange(call.n)) % 2
    options = {"metric": call.score.metric, "n_resamples": 499}
    parts = {k: by == (k == "B") for k in "AB"}
    columns = {key: {k: c[rows] for k, rows in parts.items()} for key, c in call.columns.items()}
    y_true, y_pred = ({k: c[own] for k, own in parts.items()} for c in (call.y_true, call.y_pred))
    result = compared(y_true, y_pred, paired=False, **columns, **options)
    [pair] = result.pairs
    alone = [
        scored(y_true[k], y_pred[k], **options, **{key: c[k] for key, c in columns.items()})
        for k in "AB"
    ]
    both = np.hypot(*(one.standard_error for one in alone))
    close(pair.standard_error, both, 5 / np.sqrt(2 * 499))
    gap = scored(call.y_true, call.y_pred, by=by, **call.columns, **options)["gap"]
    if "strata" not in design and np.isfinite(gap.estimate):
        close(gap.estimate, abs(pair.difference))
        close(gap.standard_error, both, 0.25)


# ------------------------------------------------------------------ searches


@each_of(FAST)
@any_seed
def test_a_search_finds_the_best_candidate_wherever_it_stands(name, seed):
    """Right on every row, it wins in every resample, and has its score on the rows left out."""
    call = call_of(name, ("rows", "groups")[seed % 2], product_of(name, seed)[1], seed)
    kind, y_true = call.score.data, call.y_true
    if name in ("slope", "intercept", "ece"):
        return
    perfect = y_true
    if kind == "columns":
        perfect = np.eye(3)[y_true] * 0.997 + 0.001
    elif kind == "probability":
        perfect = 0.01 + 0.98 * y_true
    elif kind == "scores":
        positive = getattr(call.score.metric, "keywords", {}).get("pos_label", 1)
        perfect = np.where(y_true == positive, 6.0, -6.0)
    systems = {"A": call.y_pred, "best": perfect, "B": call.other()}
    alone = searched(y_true, {"best": perfect, "same": perfect}, **call.options)
    off = abs(alone.estimate - scored(y_true, call.y_pred, **call.options).estimate)
    # Others may be as good in a resample, and are chosen there if they come first.
    for order, share in (("ABbest", 0.2), ("bestBA", 0.0)):
        found = searched(
            y_true, {key: systems[key] for key in sorted(systems, key=order.index)}, **call.options
        )
        close(found.estimate, alone.estimate, 1e-7, 1e-9 + share * off)


# Of candidates that are equally good in a resample the first is chosen: none of these are.
WITHOUT_TIES = [
    name
    for name in FAST
    if call_of(name).score.data in ("values", "positive", "tables", "probability", "columns")
    and name not in ("top_k", "accuracy of columns", "net_benefit", "ece", "slope", "intercept")
]


@each_of(WITHOUT_TIES)
@any_seed
def test_the_order_of_candidates_and_one_that_never_wins_change_no_search(name, seed):
    call = call_of(name, "groups", product_of(name, seed)[1], seed)
    systems = {"A": call.y_pred, "B": call.other(), "C": call.other()}
    worst = call.rng.permutation(call.y_pred)
    if call.score.data == "probability":
        worst = np.where(call.y_true == 1, 0.01, 0.99)
    elif call.score.data == "columns":
        worst = 0.97 * np.eye(3)[(call.y_true + 1) % 3] + 0.01
    one = searched(call.y_true, systems, **call.options)
    turned = searched(call.y_true, dict(reversed(systems.items())), **call.options)
    more = searched(call.y_true, {"worst": worst, **systems}, **call.options)
    for other in (turned, more):
        close(other.estimate, one.estimate)
        close(other.standard_error, one.standard_error)
        close([*other.confidence_interval], [*one.confidence_interval], 1e-7, 1e-9)


def counts_of_groups(groups, n_resamples):
    """How often each group is drawn: what the mean of its indicator says, whatever is computed."""
    drawn = [
        scored(None, groups == k, metric="mean", groups=groups, n_resamples=n_resamples)
        for k in np.unique(groups)
    ]
    counts = np.array([one.bootstrap_distribution for one in drawn]).T * len(drawn)
    return np.round(counts).astype(int)


@each_of([name for name in WEIGHED if name not in ("slope", "intercept", "f1 of sets")])
@any_seed
def test_a_search_chooses_inside_each_resample_and_scores_outside(name, seed):
    """Of a mean the values of each row are averaged over the resamples without it first."""
    call = call_of(name, seed=seed, n=60)
    groups = call.rng.permutation(np.arange(60) % 20)
    systems = [call.y_pred, call.other()]
    counts = counts_of_groups(groups, 19)[:, groups]
    options = {"metric": call.score.metric, "groups": groups, "n_resamples": 19}
    alone = scored(call.y_true, call.y_pred, **options)

    def at(y_pred, weight):
        kept = weight > 0
        return plain_value(call.score, call.y_true[kept], y_pred[kept], weight[kept])

    inside = np.array([[at(own, weight) for weight in counts] for own in systems])
    close(alone.bootstrap_distribution, inside[0], 1e-8, 1e-10)
    if np.any(inside[0] == inside[1]) or not np.isfinite(inside).all():
        return
    sign = 1 if alone.greater_is_better else -1
    chosen = np.argmax(sign * inside, axis=0)
    found = searched(call.y_true, {"A": systems[0], "B": systems[1]}, **options)
    if call.score.values is None:
        outside = [
            at(systems[k], 1 * (weight == 0)) for k, weight in zip(chosen, counts, strict=True)
        ]
        if np.isfinite(outside).all():
            close(found.estimate, np.mean(outside), 1e-8, 1e-10)
        return
    values = np.array([call.score.values(call.y_true, own) for own in systems])[chosen]
    left = counts == 0
    by_row = np.sum(values * left, axis=0)[left.any(axis=0)] / left.sum(axis=0)[left.any(axis=0)]
    close(found.estimate, by_row.mean(), 1e-8, 1e-10)
