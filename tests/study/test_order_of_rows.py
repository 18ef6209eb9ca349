"""What rows are called, in which order they stand, and how often they are repeated.

All is exact: resamples are given, with their rows renumbered, or units are drawn that keep their
order. Two identities hold the estimate and the standard error only: rows against blocks of one
row, whose resamples are drawn otherwise, and rows against groups of one row in the default
interval, which is Wilson's for rows and bootstrap-t for groups (DESIGN 4.7).
"""

from functools import partial

import numpy as np
import pytest
from identity_cases import (
    ALL,
    FAST,
    MEANS,
    OPTIONS,
    any_seed,
    call_of,
    close,
    each_of,
    one_of,
    product_of,
    quiet,
    same_error,
    scored,
    three_seeds,
    two_seeds,
    worse,
)
from sklearn import metrics as sk

import skboot
from skboot import metrics as own

pytestmark = pytest.mark.identity

each_score = each_of(FAST)
METHODS = ("percentile", "expanded", "basic", "normal", "t", "studentized", "bca")


def methods_of(name):
    """A third of the methods, others for each score, and "auto"."""
    return ("auto", *METHODS[len(name) % 3 :: 3])


def limits_of(result, methods=("auto", *METHODS)):
    """Limits by method, None where one is refused."""
    found = {}
    for method in methods:
        try:
            found[method] = np.array([*quiet(result.interval, method)])
        except ValueError:
            found[method] = None
    return found


def assert_same(one, other, *, methods=("auto", *METHODS), scale=1.0, shift=0.0):
    """The other says of ``scale * score + shift`` what the first says of the score."""
    close(other.estimate, scale * one.estimate + shift)
    replicates = scale * one.bootstrap_distribution + shift
    close(other.bootstrap_distribution, replicates, 1e-8, 1e-9 * max(1, abs(scale)))
    same_error(one, other, scale=scale)
    expected, found = limits_of(one, methods), limits_of(other, methods)
    for method, limits in expected.items():
        assert (limits is None) == (found[method] is None), method
        if limits is not None:
            limits = scale * limits + shift
            limits = limits if scale > 0 else limits[::-1]
            close(found[method], limits, 1e-6, 1e-8 * max(1, abs(scale)), method)


def moved(call, order):
    """The columns in another order of rows."""
    columns = {name: column[order] for name, column in call.columns.items()}
    return call.y_true[order], call.y_pred[order], {**call.options, **columns}


# ------------------------------------------------------------------ order


@each_score
@two_seeds
def test_the_order_of_rows_changes_nothing(name, seed):
    call = call_of(name, *product_of(name, seed), seed)
    rows, order = call.resamples(), call.rng.permutation(call.n)
    one = scored(call.y_true, call.y_pred, resamples=rows, **call.options)
    y_true, y_pred, options = moved(call, order)
    other = scored(y_true, y_pred, resamples=np.argsort(order)[rows], **options)
    assert_same(one, other, methods=methods_of(name))
    assert one.notes == other.notes


@each_score
@any_seed
def test_the_order_of_rows_of_groups_changes_no_subgroup_pair_or_run(name, seed):
    call = call_of(name, "groups", bool(seed % 2), seed, n=120)
    order = call.rng.permutation(call.n)
    other = call.other()
    y_true, y_pred, options = moved(call, order)
    by = call.columns["groups"] % 2
    one = scored(call.y_true, call.y_pred, by=by, **call.options)
    same = scored(y_true, y_pred, by=by[order], **options)
    for part in (0, 1):
        assert_same(one[part], same[part], methods=("auto", "percentile"))
    close([*one["gap"].confidence_interval], [*same["gap"].confidence_interval], 1e-7, 1e-9)
    pairs = [
        quiet(skboot.compare_systems, truth, {"A": a, "B": b}, **more, **OPTIONS).pairs[0]
        for truth, a, b, more in (
            (call.y_true, call.y_pred, other, call.options),
            (y_true, y_pred, other[order], options),
        )
    ]
    assert_same_pair(*pairs)
    runs = [
        quiet(skboot.bootstrap_runs, truth, both, **more, **OPTIONS)
        for truth, both, more in (
            (call.y_true, [call.y_pred, other], call.options),
            (y_true, [y_pred, other[order]], options),
        )
    ]
    assert_same(*runs, methods=("auto",))


def assert_same_pair(one, other, sign=1.0):
    """The other is the first, or the first with its systems exchanged."""
    close(other.difference, sign * one.difference)
    close(other.standard_error, one.standard_error, 1e-7, 1e-10)
    for interval in ("confidence_interval", "simultaneous_interval"):
        limits = [getattr(pair, interval) for pair in (one, other)]
        assert (limits[0] is None) == (limits[1] is None)
        if limits[0] is not None:
            expected = sign * np.array([*limits[0]])
            close([*limits[1]], expected if sign > 0 else expected[::-1], 1e-7, 1e-9, interval)
            assert limits[0].method == limits[1].method
    close(other.p_value, one.p_value, 1e-6)
    close(other.p_value_adjusted, one.p_value_adjusted, 1e-6)
    close(other.bootstrap_support, one.bootstrap_support if sign > 0 else 1 - one.bootstrap_support)


# ------------------------------------------------------------------ names


def renamed(call, names):
    """The call with classes 0, 1, 2 under other names, wherever they stand."""
    before = np.unique(call.y_true).tolist()
    name_of = dict(zip(before, names, strict=False))
    after = np.array([name_of[label] for label in before])

    def mapped(labels):
        return after[np.searchsorted(before, labels)]

    y_pred = call.y_pred
    order = np.argsort(after)
    if call.score.data in ("two", "three", "words"):
        y_pred = mapped(y_pred)
    elif call.score.data == "columns":
        y_pred = y_pred[:, order]
    metric = call.score.metric
    if isinstance(metric, partial):
        known = dict(metric.keywords)
        if "pos_label" in known:
            known["pos_label"] = name_of[known["pos_label"]]
        if known.get("labels") is not None:
            known["labels"] = [name_of[label] for label in known["labels"]]
        elif call.score.data in ("two", "three") and ("costs" in known or "priors" in known):
            known["labels"] = after.tolist()
        metric = partial(metric.func, **known)
    return mapped(call.y_true), y_pred, {**call.options, "metric": metric}


# One class is the positive one unless a metric names it, and kappa weighs how far labels are apart.
OF_LAST_CLASS = {
    "specificity", "sensitivity", "npv", "ppv", "auc", "partial auc", "eer", "neg eer", "fpr_at",
    "sensitivity_at", "specificity_at", "cllr", "ece", "slope", "intercept", "brier",
    "neg brier", "log_loss", "cross_entropy", "brier_score_loss", "net_benefit", "min dcf",
    "act dcf", "brier with priors", "kappa",
}  # fmt: skip
OF_CLASSES = [
    name
    for name in FAST
    if call_of(name).score.data in ("two", "three", "words", "scores", "probability", "columns")
]


IN_ORDER = ((-7, 3, 12), ("ann", "bob", "cy"))
IN_ANOTHER_ORDER = ((30, 20, 10), ("z", "b", "k"))


@each_of(OF_CLASSES)
@pytest.mark.parametrize("of", [IN_ORDER, IN_ANOTHER_ORDER], ids=["in order", "in another order"])
@any_seed
def test_the_names_of_classes_change_nothing(name, of, seed):
    names = one_of(of, name, seed)
    if name in OF_LAST_CLASS and (names[0] > names[1] or call_of(name).score.data == "two"):
        names = (-7, 3, 12)
    call = call_of(name, *product_of(name, seed), seed)
    if isinstance(names[0], str) and call.score.data in ("scores", "probability"):
        names = (5, 8)
    rows = call.resamples()
    one = scored(call.y_true, call.y_pred, resamples=rows, **call.options)
    y_true, y_pred, options = renamed(call, names)
    other = scored(y_true, y_pred, resamples=rows, **options)
    assert_same(one, other, methods=methods_of(name))


@each_score
@any_seed
def test_the_names_of_groups_and_strata_in_order_change_nothing(name, seed):
    call = call_of(name, "groups in strata", bool(seed % 2), seed)
    numbers = call.columns["groups"]
    columns = {
        "groups": np.char.add("unit ", np.char.zfill(numbers.astype(str), 4)),
        "strata": np.where(call.columns["strata"] == "a", 3, 17),
    }
    one = scored(call.y_true, call.y_pred, **call.options)
    other = scored(call.y_true, call.y_pred, **{**call.options, **columns})
    assert_same(one, other, methods=methods_of(name))


# ------------------------------------------------------------------ scales

OF_RANKS = (
    "auc", "partial auc", "ap", "eer", "neg eer", "fpr_at", "sensitivity_at", "specificity_at",
    "min dcf",
)  # fmt: skip


RISES = (lambda s: 4 * s + 1, lambda s: np.exp(s / 2), lambda s: s**3)


@pytest.mark.parametrize("name", OF_RANKS)
@two_seeds
def test_ranks_alone_count_for_metrics_of_ranks(name, seed):
    rise = one_of(RISES, name, seed)
    call = call_of(name, *product_of(name, seed), seed)
    rows = call.resamples()
    one = scored(call.y_true, call.y_pred, resamples=rows, **call.options)
    other = scored(call.y_true, rise(call.y_pred), resamples=rows, **call.options)
    assert_same(one, other, methods=methods_of(name))


# By which power of the scale of the values a score grows.
POWERS = {
    "mse": 2, "neg mse": 2, "mae": 1, "neg mae": 1, "pinball": 1, "rmse": 1, "median": 1,
    "r2": 0, "explained_variance": 0, "d2_pinball": 0, "mse of outputs": 2, "r2 of outputs": 0,
}  # fmt: skip


@pytest.mark.parametrize("name", POWERS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
@two_seeds
def test_scores_of_values_follow_shift_and_scale(name, sign, seed):
    scale, shift = one_of(((4.0, 16.0), (0.125, -8.0)), name, seed)
    scale *= sign
    call = call_of(name, *product_of(name, seed), seed)
    rows = call.resamples()
    options = {"resamples": rows, **call.options}
    one = scored(call.y_true, call.y_pred, **options)
    if scale < 0 and "pinball" in name:
        level = 1 - call.score.metric.keywords["alpha"]
        options["metric"] = partial(call.score.metric.func, alpha=level)
    other = scored(scale * call.y_true + shift, scale * call.y_pred + shift, **options)
    assert_same(one, other, scale=abs(scale) ** POWERS[name])


# ------------------------------------------------------------------ weights and copies

WEIGHED = [name for name in FAST if call_of(name).score.weighs]


@each_of(WEIGHED)
@any_seed
def test_weights_count_by_their_shares(name, seed):
    factor = (3.0, 2.0**-20)[(seed + len(name)) % 2]
    design, _ = product_of(name, seed)
    call = call_of(name, design, True, seed)
    rows = call.resamples()
    one = scored(call.y_true, call.y_pred, resamples=rows, **call.options)
    scaled = {**call.options, "sample_weight": factor * call.columns["sample_weight"]}
    assert_same(
        one, scored(call.y_true, call.y_pred, resamples=rows, **scaled), methods=methods_of(name)
    )


@each_score
@any_seed
def test_equal_weights_are_none(name, seed):
    design, _ = product_of(name, seed)
    call = call_of(name, design, False, seed)
    if not call.score.weighs:
        pytest.skip("the metric takes no weights")
    rows = call.resamples()
    one = scored(call.y_true, call.y_pred, resamples=rows, **call.options)
    weighted = {**call.options, "sample_weight": np.full(call.n, 2.5)}
    other = scored(call.y_true, call.y_pred, resamples=rows, **weighted)
    assert_same(one, other, methods=METHODS)


def copies(call, times):
    """Columns of rows that stand as often as said."""
    rows = np.repeat(np.arange(call.n), times)
    return rows, call.y_true[rows], call.y_pred[rows]


@each_of([name for name in WEIGHED if name != "ece"])
@any_seed
def test_whole_weights_are_repeated_rows_of_a_group(name, seed):
    call = call_of(name, "groups", False, seed)
    times = call.rng.integers(1, 4, call.n)
    groups = call.columns["groups"]
    one = scored(call.y_true, call.y_pred, sample_weight=times, **call.options)
    rows, y_true, y_pred = copies(call, times)
    other = scored(y_true, y_pred, **{**call.options, "groups": groups[rows]})
    assert_same(one, other, methods=("percentile", "expanded", "basic", "normal", "t", "bca"))


# Bins that hold equally many rows are cut elsewhere among copies of equal probabilities.
@each_score
@two_seeds
def test_rows_k_times_with_themselves_as_groups_are_the_rows_alone(name, seed):
    with_groups, weighted = bool(seed % 2), product_of(name, seed)[1]
    call = call_of(name, "groups in strata" if with_groups else "rows", weighted, seed)
    groups = call.columns.get("groups", np.arange(call.n))
    # Groups of one row are rows; groups of two or more of one label count by class, unless the
    # score is a mean over all rows.
    one, other = (
        scored(y_true, y_pred, **{**call.options, **columns, "groups": groups[rows]})
        for k in (1 if name in MEANS or with_groups else 2, 3)
        for rows, y_true, y_pred in [copies(call, k)]
        for columns in [{key: column[rows] for key, column in call.columns.items()}]
    )
    # A guard of groups that vary unevenly counts rows, of which there are more.
    guard = any("effective rows" in note for note in one.notes + other.notes)
    assert_same(one, other, methods=METHODS if guard else ("auto", *METHODS))


@each_score
@two_seeds
def test_groups_of_one_row_are_rows(name, seed):
    call = call_of(name, ("rows", "strata")[seed % 2], product_of(name, seed)[1], seed)
    rows = call.resamples()
    one = scored(call.y_true, call.y_pred, resamples=rows, **call.options)
    groups = {"groups": call.rng.permutation(call.n) * 7}
    other = scored(call.y_true, call.y_pred, resamples=rows, **call.options, **groups)
    assert other.n_units == one.n_units
    assert_same(one, other, methods=("percentile", "basic", "normal"))


@each_of(ALL)
@any_seed
def test_one_stratum_is_none(name, seed):
    design, weighted = product_of(name, seed)
    design = design if "strata" not in design else "rows" if design == "strata" else "groups"
    call = call_of(name, design, weighted, seed)
    given = {"resamples": call.resamples()} if design == "rows" else {}
    one = scored(call.y_true, call.y_pred, **given, **call.options)
    strata = {"strata": np.full(call.n, "all")}
    other = scored(call.y_true, call.y_pred, **given, **call.options, **strata)
    assert_same(one, other, methods=methods_of(name))
    assert one.notes == other.notes


@each_of(MEANS)
@any_seed
def test_blocks_of_one_row_are_rows(name, seed):
    call = call_of(name, ("rows", "strata")[seed % 2], False, seed)
    options = {**call.options, "n_resamples": 499, "random_state": seed}
    one = scored(call.y_true, call.y_pred, **options)
    other = scored(call.y_true, call.y_pred, block_length=1, **options)
    close(other.estimate, one.estimate)
    close(other.standard_error, one.standard_error, 5 / np.sqrt(499))


# ------------------------------------------------------------------ tasks


@each_of(MEANS)
@any_seed
def test_tasks_of_one_row_are_the_rows(name, seed):
    """Each row is a task that is drawn with its group: the mean of tasks is the mean of rows."""
    call = call_of(name, "rows", False, seed)
    groups = {"groups": np.arange(call.n)}
    one = scored(call.y_true, call.y_pred, **call.options, **groups)
    other = scored(
        call.y_true, call.y_pred, average_over=np.arange(call.n), **call.options, **groups
    )
    assert_same(one, other, methods=("percentile", "normal"))


@each_of(MEANS)
@any_seed
def test_the_average_over_drawn_tasks_of_equal_size_is_the_mean_of_groups(name, seed):
    call = call_of(name, "rows", False, seed, n=60)
    groups = call.rng.permutation(np.arange(60) % 20)
    one = scored(call.y_true, call.y_pred, groups=groups, **call.options)
    other = scored(call.y_true, call.y_pred, groups=groups, average_over=groups, **call.options)
    assert_same(one, other, methods=("percentile", "normal"))


@each_score
@any_seed
def test_the_average_over_tasks_is_the_mean_of_the_scores_of_each(name, seed):
    design = ("rows", "groups")[list(ALL).index(name) % 2]
    call = call_of(name, design, product_of(name, seed)[1], seed, n=150)
    tasks = call.columns.get("groups", np.arange(call.n)) % 3
    result = scored(call.y_true, call.y_pred, average_over=tasks, **call.options)
    close(result.estimate, np.mean([call.at(tasks == task) for task in range(3)]), 1e-8)


def test_the_worse_system_is_another_system():
    """The cases of pairs are none of a system with itself."""
    rng = np.random.default_rng(0)
    for name in ALL:
        call = call_of(name)
        assert np.any(worse(call.score.data, call.y_pred, rng) != call.y_pred)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (sk.zero_one_loss, "expected_cost"),
        ("accuracy", partial(sk.recall_score, average="weighted", zero_division=0)),
        ("accuracy", partial(sk.f1_score, average="micro")),
        ("balanced_accuracy", partial(sk.recall_score, average="macro")),
        ("mean_absolute_error", partial(sk.mean_pinball_loss, alpha=0.5)),
        ("cross_entropy", "log_loss"),
        ("roc_auc", partial(sk.roc_auc_score, max_fpr=1.0)),
        (own.sensitivity, partial(sk.recall_score, pos_label=1)),
        (own.specificity, partial(sk.recall_score, pos_label=0)),
        (own.ppv, partial(sk.precision_score, pos_label=1)),
        ("f1", partial(sk.fbeta_score, beta=1.0)),
        ("matthews_corrcoef", sk.matthews_corrcoef),
        (partial(sk.f1_score, pos_label=0), partial(sk.f1_score, labels=[0], average="macro")),
    ],
)
@three_seeds
def test_two_names_of_one_score_give_one_answer(one, other, seed):
    kind = "accuracy of two"
    if one in ("mean_absolute_error",):
        kind = "mae"
    elif one in ("cross_entropy", "roc_auc"):
        kind = "log_loss"
    call = call_of(kind, *product_of(kind, seed * 3), seed)
    options = {**call.columns, "resamples": call.resamples()}
    first, second = (
        scored(call.y_true, call.y_pred, metric=metric, **options) for metric in (one, other)
    )
    factor = 0.5 if one == "mean_absolute_error" else 1.0
    close(second.estimate, factor * first.estimate)
    close(second.bootstrap_distribution, factor * first.bootstrap_distribution)
