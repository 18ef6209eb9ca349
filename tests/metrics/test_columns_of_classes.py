"""Probabilities in columns: either class may be positive, and columns may stand in any order.

Exact. What counts both classes alike (log loss, the Brier score of two columns, the area) does not
know which one is positive; what is of one class is that of its column.
"""

from functools import partial

import numpy as np
import pytest
from identity_cases import any_seed, close, drawn_rows, quiet, rows_of, scored
from sklearn import metrics as sk

import skboot
from skboot import metrics as own

pytestmark = pytest.mark.identity

OPTIONS = {"n_resamples": 39, "random_state": 0}
NAMES = np.array(["yes", "no"])
OF_NO_CLASS = {
    "log_loss": "neg_log_loss",
    "cross_entropy": own.cross_entropy,
    "relative entropy": partial(own.cross_entropy, relative=True),
    "brier": own.brier_score,
    "auc": "roc_auc",
    "accuracy": "accuracy",
    "balanced": "balanced_accuracy",
    "top": partial(sk.top_k_accuracy_score, k=1),
    "mcc": "matthews_corrcoef",
    "cost": partial(own.expected_cost, costs=[[0, 1], [1, 0]]),
}
# Of one column: its scores are those of the positive class.
OF_ONE_CLASS = {
    "ap": "average_precision",
    "ece": partial(own.expected_calibration_error, n_bins=4),
    "slope": own.calibration_slope,
    "net_benefit": partial(own.net_benefit, threshold=0.4),
    "eer": "equal_error_rate",
    "sensitivity_at": partial(own.sensitivity_at, specificity=0.7),
    "brier of one": sk.brier_score_loss,
    "f1": "f1",
    "precision": "precision",
    "specificity": "specificity",
    "act dcf": partial(own.actual_detection_cost, costs=[[0, 1], [4, 0]], priors=[0.3, 0.7]),
}


def by_turns(names):
    """A design for each name, other ones for the next; all of them in `make slow`."""
    slow = pytest.mark.slow
    found = [
        pytest.param(name, design, marks=[slow] if (j - k) % 4 else [])
        for k, name in enumerate(names)
        for j, design in enumerate(("rows", "groups", "strata", "weights"))
    ]
    return pytest.mark.parametrize(("name", "design"), found)


def case(seed, design):
    """A truth in text, and the probability of "yes" beside that of "no"; few of them are 0.5."""
    rng = np.random.default_rng([seed, len(design)])
    y, p = rows_of("probability", rng, 80)
    columns = {"groups": {"groups": np.arange(80) // 3}, "rows": {}}
    columns["strata"] = {"strata": np.arange(80) % 3 // 2}
    columns["weights"] = {"sample_weight": rng.integers(1, 5, 80) / 2}
    own_columns = columns[design]
    p = np.where(p == 0.5, 0.51, p)
    given = {} if design == "groups" else {"resamples": drawn_rows(own_columns, 80, 19, rng)}
    return y, p, {**own_columns, **given}


def in_columns(p, labels):
    """Columns in this order of labels; "yes" has the probability."""
    return np.column_stack([p if label == "yes" else 1 - p for label in labels])


def assert_same(one, other):
    close(other.estimate, one.estimate)
    close(other.bootstrap_distribution, one.bootstrap_distribution, 1e-8, 1e-10)
    for method in ("percentile", "t", "bca"):
        found = []
        for result in (one, other):
            try:
                found.append([*quiet(result.interval, method)])
            except ValueError:
                found.append([0.0, 0.0])
        close(*found, 1e-6, 1e-8)
    assert one.greater_is_better == other.greater_is_better
    if one.naive_estimate is not None:
        close(other.naive_estimate, one.naive_estimate)


@by_turns(OF_NO_CLASS)
@any_seed
def test_what_is_of_both_classes_does_not_depend_on_the_positive_one(name, design, seed):
    y, p, columns = case(seed, design)
    truth, metric = NAMES[1 - y], OF_NO_CLASS[name]
    found = [
        scored(
            truth, in_columns(p, order), metric=metric, labels=order, pos_label=positive, **columns
        )
        for order in (["no", "yes"], ["yes", "no"])
        for positive in ("yes", "no", None)
    ]
    found.append(scored(y, in_columns(p, ["no", "yes"]), metric=metric, **columns))
    for other in found[1:]:
        assert_same(found[0], other)


@by_turns(OF_ONE_CLASS)
@any_seed
def test_what_is_of_one_class_is_that_of_its_column(name, design, seed):
    y, p, columns = case(seed, design)
    metric = OF_ONE_CLASS[name]
    is_decision = name in ("f1", "precision", "specificity")
    for positive in ("yes", "no"):
        score = p if positive == "yes" else 1 - p
        is_positive = (NAMES[1 - y] == positive).astype(int)
        alone = scored(
            is_positive, (score > 0.5) * 1 if is_decision else score, metric=metric, **columns
        )
        for order in (["no", "yes"], ["yes", "no"]):
            both = scored(NAMES[1 - y], in_columns(p, order), metric=metric, labels=order,
                          pos_label=positive, **columns)  # fmt: skip
            assert_same(alone, both)
        if not is_decision:
            column = scored(NAMES[1 - y], score, metric=metric, pos_label=positive, **columns)
            assert_same(alone, column)


@pytest.mark.parametrize(
    "metric",
    [
        "neg_log_loss",
        "brier_score",
        "accuracy",
        "roc_auc_ovr",
        "roc_auc_ovo",
        "top_k_accuracy",
        partial(sk.d2_log_loss_score),
        partial(own.expected_cost, costs=[[0, 1, 2], [3, 0, 1], [1, 5, 0]]),
        "f1_macro",
    ],
)
@any_seed
def test_columns_of_several_classes_may_stand_in_any_order(metric, seed):
    rng = np.random.default_rng(seed)
    y, p = rows_of("columns", rng, 80)
    groups = np.arange(80) // 3
    names = np.array(["ant", "bee", "cat"])
    calls = []
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        how = {"metric": metric, "groups": groups, "labels": names[order].tolist()}
        if isinstance(metric, partial) and "costs" in metric.keywords:
            costs = np.array(metric.keywords["costs"])[np.ix_(order, order)]
            how["metric"] = partial(
                own.expected_cost, costs=costs.tolist(), labels=names[order].tolist()
            )
        one = scored(names[y], p[:, order], **how)
        systems = {"A": p[:, order], "B": (0.7 * p + 0.1)[:, order]}
        [pair] = quiet(skboot.compare_systems, names[y], systems, **how, **OPTIONS).pairs
        runs = quiet(skboot.bootstrap_runs, names[y], [*systems.values()], **how, **OPTIONS)
        calls.append((one, [pair.difference, *pair.confidence_interval, pair.p_value, runs.estimate,
                            *runs.confidence_interval]))  # fmt: skip
    for one, numbers in calls[1:]:
        assert_same(calls[0][0], one)
        close(numbers, calls[0][1], 1e-6, 1e-9)
