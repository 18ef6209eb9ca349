"""Whatever the design, the metric and the interval: a sound answer, which no order or name changes.

A sound answer has limits in order, and says so where they are missing or have no width. Resamples
are given where rows are permuted, so that the same rows are drawn under their new numbers.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skboot
from benchmarks.reliability.fuzz.case import NAMED, what_is_unsound

# The same examples at every run: a new one would find its fault in someone else's change.
same_examples = settings(max_examples=80, deadline=None, derandomize=True, database=None)

LABELS = ("accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef", "neg_expected_cost")
SCORES = ("roc_auc", "average_precision", "neg_equal_error_rate", "neg_log_loss", "neg_brier_score")
VALUES = ("r2", "neg_mean_absolute_error", "neg_root_mean_squared_error", "mean")
INTERVALS = (
    *("auto", "percentile", "expanded", "basic", "normal", "t", "studentized", "bca", "wilson"),
    *("wald", "clopper-pearson", "delong"),
)
DESIGNS = ("rows", "strata", "groups", "groups in strata", "crossed", "one population", "tasks")


@st.composite
def calls(draw):
    """Arguments of `skboot.bootstrap_score`."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.sampled_from([2, 3, 5, 8, 20, 45]))
    metric = draw(st.sampled_from([*LABELS, *SCORES, *VALUES]))
    error = draw(st.sampled_from([0.0, 0.05, 0.4, 1.0]))
    y_true = rng.integers(0, draw(st.sampled_from([1, 2, 2, 2])), n)
    if metric in LABELS:
        y_pred = np.where(rng.random(n) < error, 1 - y_true, y_true)
    elif metric in SCORES:
        y_pred = np.clip(0.5 + 0.4 * (y_true - 0.5) + error * rng.normal(size=n), 0.01, 0.99)
        y_pred = np.round(y_pred, 2)
    else:
        y_true = rng.normal(size=n)
        y_pred = y_true + error * rng.normal(size=n)
    if metric == "mean":
        y_true = None
    return {
        "y_true": y_true,
        "y_pred": y_pred,
        "metric": metric,
        **columns_of(draw(st.sampled_from(DESIGNS)), n, rng),
        "sample_weight": rng.random(n) + 0.1 if draw(st.booleans()) else None,
        "interval": draw(st.sampled_from(INTERVALS)),
        "confidence_level": draw(st.sampled_from([0.5, 0.8, 0.95, 0.999])),
        "n_resamples": draw(st.sampled_from([2, 3, 19, 99])),
        "random_state": 0,
    }


def columns_of(design, n, rng):
    groups = rng.integers(0, max(2, n // 3), n)
    groups[:2] = 0, 1
    first, second = rng.integers(0, 6, (2, n))
    first[:2] = second[:2] = 0, 1
    return {
        "rows": {},
        "strata": {"strata": np.arange(n) % 2},
        "groups": {"groups": groups},
        "groups in strata": {"groups": groups, "strata": groups % 2},
        "crossed": {"groups": np.column_stack((first, second))},
        "one population": {"groups": skboot.Trials(first, second)},
        "tasks": {"average_over": np.arange(n) % 2},
    }[design]


@given(calls())
@same_examples
def test_any_call_is_refused_by_name_or_answers_soundly(arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        try:
            result = skboot.bootstrap_score(**arguments)
        except ValueError as error:
            if not NAMED.match(str(error)):
                raise
            return
        assert list(what_is_unsound(result)) == []
        assert result.n_undefined == np.isnan(result.bootstrap_distribution).sum()
        assert np.isfinite(result.estimate) or result.notes


def quiet(**arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return skboot.bootstrap_score(**arguments)


def same_answers(one, other):
    assert other.estimate == pytest.approx(one.estimate, rel=1e-9, abs=1e-12, nan_ok=True)
    found, expected = other.bootstrap_distribution, one.bootstrap_distribution
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    low, high = one.confidence_interval
    limits = [*other.confidence_interval]
    assert limits == pytest.approx([low, high], rel=1e-6, abs=1e-9, nan_ok=True)


@given(
    metric=st.sampled_from([*LABELS, *SCORES, *VALUES]),
    interval=st.sampled_from(["percentile", "expanded", "bca", "auto"]),
    with_groups=st.booleans(),
    weighted=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@same_examples
def test_the_order_of_the_rows_changes_nothing(metric, interval, with_groups, weighted, seed):
    rng = np.random.default_rng(seed)
    n = 30
    y_true = rng.permutation(np.arange(n) % 2)
    y_pred = np.where(rng.random(n) < 0.2, 1 - y_true, y_true)
    if metric not in LABELS:
        y_pred = np.round(np.clip(0.5 + 0.3 * (y_pred - 0.5) + rng.normal(0, 0.1, n), 0, 1), 2)
    columns = {"y_true": y_true, "y_pred": y_pred}
    if with_groups:
        columns["groups"] = rng.permutation(np.arange(n) // 2)
    if weighted:
        columns["sample_weight"] = rng.random(n) + 0.1
    rows = rng.integers(0, n, (19, n))
    order = rng.permutation(n)
    moved = {name: column[order] for name, column in columns.items()}
    if metric == "mean":
        columns["y_true"] = moved["y_true"] = None
    options = {"metric": metric, "interval": interval}
    same_answers(
        quiet(**columns, resamples=rows, **options),
        quiet(**moved, resamples=np.argsort(order)[rows], **options),
    )


@given(
    metric=st.sampled_from(["accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef"]),
    names=st.permutations(["ant", "bee", "cow", "dog"]),
    seed=st.integers(0, 2**32 - 1),
)
@same_examples
def test_names_of_classes_and_groups_change_nothing(metric, names, seed):
    rng = np.random.default_rng(seed)
    n = 40
    y_true, y_pred = rng.integers(0, 4, (2, n))
    groups = rng.permutation(np.arange(n) // 4)
    rows = rng.integers(0, n, (19, n))
    named = np.array(names)
    options = {"metric": metric, "resamples": rows, "interval": "percentile"}
    same_answers(
        quiet(y_true=y_true, y_pred=y_pred, groups=groups, **options),
        quiet(y_true=named[y_true], y_pred=named[y_pred], groups=groups * -7 + 3, **options),
    )


@given(design=st.sampled_from(DESIGNS), seed=st.integers(0, 2**32 - 1))
@same_examples
def test_names_of_units_in_the_same_order_draw_the_same(design, seed):
    rng = np.random.default_rng(seed)
    n = 30
    y_true = np.arange(n) % 2
    y_pred = np.where(rng.random(n) < 0.3, 1 - y_true, y_true)
    columns = columns_of(design, n, rng)

    def named(column):
        if isinstance(column, skboot.Trials):
            return skboot.Trials(named(column.a), named(column.b))
        return np.char.add("unit ", np.char.zfill(np.asarray(column).astype(str), 3))

    renamed = {name: named(column) for name, column in columns.items()}
    options = {"y_true": y_true, "y_pred": y_pred, "n_resamples": 19, "random_state": 1}
    same_answers(quiet(**options, **columns), quiet(**options, **renamed))
