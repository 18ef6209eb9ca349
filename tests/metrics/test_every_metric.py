"""Every metric in every study is the plain function: on resamples, groups, parts, tasks and runs.

Exact. The metrics are those of `identity_cases` and all others that have a fast path, or none; the
rows have many ties. A plain loop calls the function on repeated rows, with their weights.
"""

import inspect
import itertools
import sys
from functools import partial

import numpy as np
import pytest
from identity_cases import (
    ALL,
    FAST,
    N_SLOW,
    PLAIN_CALLABLES,
    Call,
    Score,
    any_seed,
    close,
    drawn_rows,
    of_each_kind,
    quiet,
    rows_of,
    score_of,
    scored,
    unless,
    worse,
)
from sklearn import metrics as sk

import skboot
from skboot import metrics as own

pytestmark = pytest.mark.identity

FEW = {"n_resamples": 9, "random_state": 0}


def _with(function, kind, sign=1.0, given=None, **options):
    """The function with its options, or another name of it."""
    takes_weights = "sample_weight" in inspect.signature(function).parameters

    def plain(y_true, y_pred, sample_weight=None):
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        return sign * function(y_true, y_pred, **options, **more)

    metric = partial(function, **options) if given is None else given
    return Score(metric, kind, plain, weighs=takes_weights)


def _by_average(function, name, kind, averages=("micro", "macro", "weighted")):
    return {
        f"{name}_{average} of {kind}": _with(
            function, kind, given=f"{name}_{average}", average=average, zero_division=0.0
        )
        for average in averages
    }


def _likelihood(which):
    def ratio(y_true, y_pred, sample_weight=None):
        return sk.class_likelihood_ratios(y_true, y_pred, sample_weight=sample_weight)[which]

    return ratio


MORE = {
    **_by_average(sk.precision_score, "precision", "three"),
    **_by_average(sk.recall_score, "recall", "three"),
    **_by_average(sk.jaccard_score, "jaccard", "words"),
    **_by_average(sk.f1_score, "f1", "words"),
    **_by_average(sk.precision_score, "precision", "sets", ("samples", "macro")),
    **_by_average(sk.recall_score, "recall", "sets", ("micro", "weighted")),
    **_by_average(sk.jaccard_score, "jaccard", "sets", ("samples", "macro", "micro")),
    **_by_average(sk.f1_score, "f1", "sets", ("samples", "weighted")),
    "precision of some": _with(
        sk.precision_score, "three", labels=[2, 0], average="weighted", zero_division=0.0
    ),
    "fbeta of one": _with(
        sk.fbeta_score, "words", beta=2.0, labels=["mole"], average="micro", zero_division=0.0
    ),
    "fbeta of sets": _with(
        sk.fbeta_score, "sets", beta=0.5, average="samples", zero_division=0.0
    ),
    "kappa of some": _with(sk.cohen_kappa_score, "three", labels=[0, 2, 1], weights="linear"),
    "kappa of words": _with(sk.cohen_kappa_score, "words", weights="quadratic"),
    "mcc of two": _with(sk.matthews_corrcoef, "two"),
    "balanced of two": _with(sk.balanced_accuracy_score, "two", adjusted=True),
    "zero_one of sets": _with(sk.zero_one_loss, "sets"),
    "positive_lr": _with(_likelihood(0), "two", given="positive_likelihood_ratio"),
    "negative_lr": _with(_likelihood(1), "two", -1.0, given="neg_negative_likelihood_ratio"),
    "specificity of 0": _with(own.specificity, "two", pos_label=0),
    "ppv of words": _with(own.ppv, "two", pos_label=1),
    "npv of 0": _with(own.npv, "two", pos_label=0),
    "rand": _with(sk.rand_score, "words"),
    "adjusted_rand": _with(sk.adjusted_rand_score, "three"),
    "mutual_info": _with(sk.mutual_info_score, "three"),
    "ami": _with(sk.adjusted_mutual_info_score, "three", average_method="max"),
    "nmi": _with(sk.normalized_mutual_info_score, "words", average_method="geometric"),
    "nmi_min": _with(sk.normalized_mutual_info_score, "three", average_method="min"),
    "homogeneity": _with(sk.homogeneity_score, "three"),
    "completeness": _with(sk.completeness_score, "words"),
    "v_measure": _with(sk.v_measure_score, "three", beta=2.0),
    "fowlkes": _with(sk.fowlkes_mallows_score, "words"),
    "top_1": _with(sk.top_k_accuracy_score, "columns", k=1, labels=[0, 1, 2]),
    "top_2": _with(sk.top_k_accuracy_score, "columns", k=2, labels=[0, 1, 2]),
    "log_loss of columns": _with(sk.log_loss, "columns", labels=[0, 1, 2]),
    "entropy with priors": _with(
        own.cross_entropy, "columns", priors=[0.2, 0.5, 0.3], labels=[0, 1, 2]
    ),
    "brier relative": _with(own.brier_score, "columns", relative=True, labels=[0, 1, 2]),
    "max_error": _with(sk.max_error, "values"),
    "d2_absolute": _with(sk.d2_absolute_error_score, "values"),
    "d2_tweedie": _with(sk.d2_tweedie_score, "positive", power=1.5),
    "explained raw": _with(sk.explained_variance_score, "values", force_finite=False),
    "rmse of outputs": _with(sk.root_mean_squared_error, "tables"),
    "mae of outputs": _with(sk.mean_absolute_error, "tables", multioutput=[0.3, 0.7]),
    "r2 of shares": _with(sk.r2_score, "tables", multioutput=[0.8, 0.2]),
    "pinball of outputs": _with(sk.mean_pinball_loss, "tables", alpha=0.2),
    "explained of outputs": _with(
        sk.explained_variance_score, "tables", multioutput="variance_weighted"
    ),
    "lrap": _with(sk.label_ranking_average_precision_score, "label scores"),
    "ranking_loss": _with(sk.label_ranking_loss, "label scores"),
    "coverage": _with(sk.coverage_error, "label scores"),
    "ndcg": _with(sk.ndcg_score, "relevances", k=3),
    "ndcg without ties": _with(sk.ndcg_score, "relevances", ignore_ties=True),
    "dcg": _with(sk.dcg_score, "relevances", k=2, log_base=3),
    "eer of ties": _with(own.equal_error_rate, "scores"),
    "minimum cost": _with(
        own.minimum_detection_cost, "scores", priors=[0.6, 0.4], relative=True
    ),
    "actual cost": _with(own.actual_detection_cost, "scores", priors=[0.6, 0.4], relative=True),
    "cost of other labels": _with(
        own.expected_cost, "words", costs=[[0, 1, 4], [2, 0, 3], [6, 5, 0]],
        labels=["wren", "ant", "mole"], priors=[0.5, 0.2, 0.3],
    ),
}  # fmt: skip


def more_rows(kind, rng, n):
    """Rows of a kind, with many ties among scores."""
    if kind in ("label scores", "relevances"):
        truth = (rng.random((n, 4)) < [0.5, 0.4, 0.6, 0.3]).astype(int)
        truth[truth.sum(axis=1) == 0, 1] = 1
        scores = np.round(truth + 0.7 * rng.normal(size=truth.shape), 1)
        return (truth, scores) if kind == "label scores" else (truth + rng.integers(0, 3), scores)
    y_true, y_pred = rows_of(kind, rng, n)
    if kind == "scores":
        y_pred = np.round(2 * y_pred) / 2
    return y_true, np.round(y_pred, 1).clip(0.1, 0.9) if kind == "probability" else y_pred


def case_of(name, weighted, seed, n=48):
    rng = np.random.default_rng([seed, *name.encode(), weighted])
    score = MORE[name] if name in MORE else score_of(name, rng)
    y_true, y_pred = more_rows(score.data, rng, n)
    columns = {}
    if weighted and score.weighs:
        columns["sample_weight"] = rng.integers(1, 9, n) / 4
    return Call(score, y_true, y_pred, columns, rng)


def other_of(call):
    kind = call.score.data
    if kind in ("label scores", "relevances"):
        return np.round(call.y_pred + 0.3 * call.rng.normal(size=call.y_pred.shape), 1)
    return worse(kind, call.y_pred, call.rng)


def at(call, y_pred=None, rows=slice(None)):
    return (call if y_pred is None else call._replace(y_pred=y_pred)).at(rows)


def close_where_defined(found, expected):
    """A metric may be undefined where the function has a value by convention, and the reverse."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    both = np.isfinite(found) & np.isfinite(expected)
    assert both.any() or len(found) < 4
    close(found[both], expected[both], 1e-7, 1e-9)


NAMES = [*ALL, *MORE]
# Of resamples that lack a class other releases of scikit-learn say other things.
SLOW = {
    *PLAIN_CALLABLES,
    "ami",
    "kappa of some",
    "max_error",
    "d2_absolute",
    "d2_tweedie",
    "mutual_info",
}


def products():
    """With or without weights by turn; a few of those that other tests look at."""
    found = []
    for k, name in enumerate(NAMES):
        score = MORE[name] if name in MORE else score_of(name, np.random.default_rng(0))
        for weighted in (False, True) if score.weighs else (False,):
            is_fast = weighted == (score.weighs and bool(k % 2))
            is_fast &= name in MORE or k % 16 == 0
            if is_fast or N_SLOW:
                marks = [] if is_fast else [pytest.mark.slow]
                found.append(pytest.param(name, weighted, marks=marks))
    return found


@pytest.mark.parametrize(("name", "weighted"), products())
@any_seed
def test_every_metric_in_every_study_is_the_plain_function(name, weighted, seed):
    call = case_of(name, weighted, seed)
    n, other = call.n, other_of(call)
    options = {"metric": call.score.metric, **call.columns}
    strata = np.where(np.arange(n) % 5 < 2, "b", "a")
    by = call.rng.permutation(np.repeat(["east", "west"], n // 2))
    b = 2 if name in SLOW else 4
    rows = drawn_rows({"strata": np.char.add(by, strata)}, n, b, call.rng)
    whole, one = at(call), at(call, other)
    # Given rows, in strata, of all rows and of parts.
    result = scored(call.y_true, call.y_pred, strata=strata, resamples=rows, **options)
    close(result.estimate, whole, 1e-8)
    close_where_defined(result.bootstrap_distribution, [at(call, rows=own) for own in rows])
    parts = scored(call.y_true, call.y_pred, by=by, resamples=rows, **options)
    for part in ("east", "west"):
        inside = [own[by[own] == part] for own in rows]
        close_where_defined([parts[part].estimate], [at(call, rows=by == part)])
        close_where_defined(parts[part].bootstrap_distribution, [at(call, rows=o) for o in inside])
    # Other studies have its estimates.
    systems = {"A": call.y_pred, "B": other}
    direction = {} if result.greater_is_better is not None else {"greater_is_better": True}
    pairs = quiet(skboot.compare_systems, call.y_true, systems, **options, **FEW)
    close(pairs.pairs[0].difference, whole - one, 1e-7, 1e-9)
    runs = quiet(skboot.bootstrap_runs, call.y_true, [call.y_pred, other, other], **options, **FEW)
    close(runs.estimate, (whole + 2 * one) / 3, 1e-8)
    if name in SLOW:
        return
    values = [at(call, rows=by == part) for part in ("east", "west")]
    # One of the other studies by turn.
    turn = NAMES.index(name) % 3
    if turn == 0:
        methods = {"A": [call.y_pred, other], "B": [other, other]}
        methods = quiet(skboot.compare_runs, call.y_true, methods, **options, **FEW)
        close(methods.pairs[0].difference, (whole - one) / 2, 1e-7, 1e-9)
        found = quiet(skboot.search_score, call.y_true, systems, **options, **direction, **FEW)
        assert np.isfinite(found.estimate)
    if turn == 1:
        of_parts = [
            {part: column[by == part] for part in ("east", "west")}
            for column in (call.y_true, call.y_pred)
        ]
        weights = {
            key: {part: c[by == part] for part in ("east", "west")}
            for key, c in call.columns.items()
        }
        options = {**options, **weights, **FEW}
        apart = quiet(skboot.compare_systems, *of_parts, paired=False, **options)
        close_where_defined([apart.pairs[0].difference], [values[0] - values[1]])
    if turn == 2 and name not in ("slope", "intercept"):  # undefined on many resamples
        tasks = scored(call.y_true, call.y_pred, average_over=by, **options, **FEW)
        close_where_defined([tasks.estimate], [np.mean(values)])


def of_ties():
    """Names of which few are tried elsewhere, and those of ranks."""
    found = []
    for name in NAMES:
        is_fast = name in MORE or score_of_kind(name) == "scores"
        if name not in SLOW and (is_fast or N_SLOW):
            found.append(pytest.param(name, marks=[] if is_fast else [pytest.mark.slow]))
    return found


def score_of_kind(name):
    return score_of(name, np.random.default_rng(0)).data if name in ALL else ""


@pytest.mark.parametrize("name", of_ties())
@any_seed
def test_replicates_of_groups_with_ties_are_values_of_whole_groups(name, seed):
    call = case_of(name, bool((len(name) + seed) % 2), seed)
    groups = call.rng.permutation(np.arange(call.n) % 3)
    options = {"metric": call.score.metric, **call.columns, "groups": groups}
    members = [np.flatnonzero(groups == k) for k in range(3)]
    rows = [
        np.concatenate([members[k] for k in (a, b, c)])
        for a in range(3) for b in range(a, 3) for c in range(b, 3)
    ]  # fmt: skip
    systems = {"A": call.y_pred, "B": other_of(call)}
    options = {**options, "n_resamples": 19, "random_state": 0}
    if NAMES.index(name) % 2:  # beside another one, or alone
        beside = quiet(skboot.compare_systems, call.y_true, systems, **options).systems
        results = [(beside[key], systems[key]) for key in "AB"]
    else:
        results = [(scored(call.y_true, call.y_pred, **options), call.y_pred)]
    for result, y_pred in results:
        possible = np.array([at(call, y_pred, own) for own in rows])
        if np.isnan(possible).any():  # each has a value of its own there, by convention
            continue
        drawn = result.bootstrap_distribution
        defined = drawn[np.isfinite(drawn)]
        assert len(defined) > 9
        assert np.ptp(defined) > 0 or np.nanmax(possible) - np.nanmin(possible) < 1e-9
        assert max(np.nanmin(np.abs(possible - value)) for value in defined) < 1e-7


# ------------------------------------------------------------------ two ways to one number

FEW_AT_A_TIME = {"BLOCK_RESAMPLES": 16, "BLOCK_RESAMPLES_OF_TWO_ATOMS": 16}
# Thresholds between two ways of which one is faster, on the side that few rows do not reach.
SMALL_STEPS = {
    "TILE_ELEMENTS": 64, "SPARSE_TILES": 1, "ENTRIES_PER_WEIGHT": 1, "SEARCH_WEIGHTS": 100,
    "RUNNING_ELEMENTS": 16, "NESTED_TILES": 2, "STARTS_AT_ONCE": 1, "PLACES_AT_ONCE": 1,
    "JACKKNIFE_SUMS": 100, "JACKKNIFE_COUNTS": 500, "JACKKNIFE_VALUES_AT_ONCE": 5, "FIRST_LOOK": 1,
    "ROWS_AT_ONCE": 4, "CONSTANTS_AT_ONCE": 1, "PAIRS_OF_LABELS_AT_ONCE": 1, "WINDOW_ROWS": 0,
    "WINDOW_SHARE": 0.0, "ON_DEMAND_COUNTS": 100, "CACHED_ARRAYS": 1, "NARROW_COUNTS": 0,
}  # fmt: skip
OTHER_FORMS = {
    "EXACT_SINGLE": 1, "EXACT_INTEGER": 1, "TIED_SHARE": -1.0, "PRODUCT_TERMS": 0,
    "INFLUENCE_ATOMS": 0, "JACKKNIFE_TERMS": 0, "KEYS_PER_ROW": 0, "TYPES": 0, "FULL_SHARE": 2.0,
    "FEW_LABELS": 0, "TABLE": 1, "SMALL_TABLE": 0, "TABLE_ENTRIES_PER_ROW": 0, "DENSE_TERMS": 0,
    "DENSE_CLASSES": 0, "SPARSE_SHARE": 2.0, "FEW_CELLS": 0, "SHARED_TERMS": 0, "_POINTS": 3,
    "_AT_ONCE": 1,
}  # fmt: skip
# These change what is drawn, and so only what given rows have in common.
OTHER_CODES = {"ROWS_PER_MERGED_CODE": 0, "ROWS_PER_CELL": 0, "FEW_VALUES": 0, "ROWS_PER_VALUE": 0}
OF_UNITS = {
    "given rows": lambda call, n: {"resamples": drawn_rows({}, n, 9, np.random.default_rng(1))},
    "rows": lambda call, n: {},
    "strata": lambda call, n: {"strata": np.arange(n) % 2},
    "groups": lambda call, n: {"groups": np.arange(n) // 3},
    "crossed": lambda call, n: {"groups": np.column_stack([np.arange(n) // 6, np.arange(n) % 7])},
    "series": lambda call, n: {"block_length": 5, "strata": np.arange(n) % 2},
}


def all_numbers(call, columns):
    how = {"metric": call.score.metric, **call.columns, **columns}
    how |= {} if "resamples" in columns else FEW
    rows = call.y_true, call.y_pred
    result = unless("bca", skboot.bootstrap_score, *rows, **how, interval="bca")
    result = result or quiet(skboot.bootstrap_score, *rows, **how)
    evidence, facts = result._evidence, result._evidence.facts
    found = [result.estimate, *result.bootstrap_distribution, *result.confidence_interval]
    found += [evidence.acceleration, evidence.standard_error, evidence.robust_variance]
    found += [result.naive_estimate, facts.largest_share, facts.smaller_class, *facts.bounds]
    found += [] if facts.class_sizes is None else [*facts.class_sizes]
    found += [] if facts.proportion is None else [facts.proportion.hits, facts.proportion.n]
    return np.array([np.nan if one is None else one for one in found], dtype=float)


@pytest.mark.parametrize("name", [*of_each_kind(FAST, 3), *(n for n in MORE if n not in SLOW)])
def test_numbers_do_not_depend_on_which_way_is_faster(name, monkeypatch):
    turn = NAMES.index(name)
    call = case_of(name, bool(turn % 2), 0, n=42)
    unit = [*OF_UNITS][turn % len(OF_UNITS)]
    if call.score.data == "scores" and turn % 3 == 2:  # searches in a window
        unit = "crossed"
    if name == "ece" and unit == "series":  # has no interval there
        unit = "groups"
    columns = OF_UNITS[unit](call, 42)
    modules = [module for key, module in sys.modules.items() if key[:7] == "skboot."]
    expected = None
    for ways in (FEW_AT_A_TIME, SMALL_STEPS, OTHER_FORMS, OTHER_CODES):
        if ways is OTHER_CODES and unit != "given rows":
            continue
        for module in modules:
            for threshold in ways.keys() & vars(module).keys():
                monkeypatch.setattr(module, threshold, ways[threshold])
        found = all_numbers(call, columns)
        expected = found if expected is None else expected
        close(found, expected, 1e-6, 1e-9, unit)


def constants_of(call):
    """Each answer that is the same for all rows, or the best of them for probabilities."""
    kind, n = call.score.data, call.n
    if kind == "sets":
        return [np.tile(own, (n, 1)) for own in itertools.product([0, 1], repeat=4)]
    if kind == "columns":
        weights = call.columns.get("sample_weight")
        shares = [np.average(call.y_true == k, weights=weights) for k in range(3)]
        return [np.tile(own, (n, 1)) for own in (shares, [0.2, 0.5, 0.3])]
    return [np.full(n, label) for label in np.unique(call.y_true)]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_naive_estimate_of_every_metric_is_that_of_the_best_constant(weighted):
    known = 0
    for name in [*MORE][weighted::2]:
        call = case_of(name, weighted, 3)
        if call.score.data not in ("two", "three", "words", "sets", "columns") or name in SLOW:
            continue
        result = scored(call.y_true, call.y_pred, metric=call.score.metric, **call.columns,
                        n_resamples=2)  # fmt: skip
        if result.naive_estimate is None:
            continue
        values = [at(call, own) for own in constants_of(call)]
        best = np.nanmax(values) if result.greater_is_better else np.nanmin(values)
        close(result.naive_estimate, best, 1e-8, 1e-10, name)
        known += 1
    assert known > 14
