"""Every public function against arguments that cannot be right, or that numpy changes silently.

Each is refused by a message that names the argument, or answered with the number of scikit-learn on
the same rows under other names.
"""

import importlib
import importlib.util
import inspect
import re
import time
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from golden import hostile
from golden.record import versions
from scipy import sparse
from sklearn import metrics
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

import skboot
from skboot.inference import delong_test, prediction_error, proportion_interval
from skboot.metrics import (
    bayes_decisions,
    brier_score,
    cross_entropy,
    equal_error_rate,
    expected_cost,
    false_positive_rate_at,
)

# Too few resamples, runs and groups for good intervals: none is looked at here.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

N = 40
RNG = np.random.default_rng(0)
Y = np.arange(N) % 2
P, Q = (np.where(RNG.random(N) < 0.8, Y, 1 - Y) for _ in range(2))
PROB = np.clip(0.2 + 0.6 * P + RNG.normal(0, 0.05, N), 0, 1)
X = np.column_stack((Y + RNG.normal(size=N), RNG.normal(size=N)))
WEIGHTS = RNG.multinomial(N, np.full(N, 1 / N), size=10)
LOSSES = RNG.random((10, N))


def fit(X=X, y=Y, groups=None, X_test=None, y_test=None, groups_test=None, **parameters):
    few = {"n_train_resamples": 4, "n_cv_repeats": 1, "n_test_resamples": 10, "random_state": 0}
    scorer = skboot.BootstrapScorer(GaussianNB(), **{**few, **parameters})
    data = {"groups": groups, "X_test": X_test, "y_test": y_test, "groups_test": groups_test}
    return scorer.fit(X, y, **data).result_


def split_groups(y=Y, groups=Y):
    return list(skboot.GroupBootstrapSplit(2, random_state=0).split(X, y, groups))


def split_classes(y=Y):
    return list(skboot.StratifiedBootstrapSplit(2, random_state=0).split(X, y))


FEW = {"n_resamples": 10, "random_state": 0}
TWO = {"A": P, "B": Q}
BASE = {
    "bootstrap_score": (skboot.bootstrap_score, {"y_true": Y, "y_pred": P, **FEW}),
    "bootstrap_runs": (
        skboot.bootstrap_runs,
        {"y_true": Y, "y_preds": [P, Q, P], "metric": "accuracy", **FEW},
    ),
    "compare_systems": (skboot.compare_systems, {"y_true": Y, "y_preds": TWO, **FEW}),
    "compare_runs": (
        skboot.compare_runs,
        {"y_true": Y, "y_preds": {"A": [P, Q], "B": [Q, Q]}, **FEW},
    ),
    "search_score": (skboot.search_score, {"y_true": Y, "y_preds": TWO, **FEW}),
    "BootstrapScorer": (fit, {}),
    "compare_methods": (
        skboot.compare_methods,
        {
            "estimators": {"A": GaussianNB(), "B": GaussianNB(var_smoothing=1.0)},
            **{"X": X, "y": Y, "n_train_resamples": 4, "random_state": 0},
        },
    ),
    "out_of_fold": (
        skboot.model_selection.out_of_fold,
        {
            "search": GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}).fit(X, Y),
            **{"X": X, "y": Y},
        },
    ),
    "corrected_t": (
        skboot.model_selection.corrected_t,
        {"scores_a": [0.8, 0.9], "n_train": 90, "n_test": 10},
    ),
    "prediction_error": (
        prediction_error,
        {
            **{"losses": LOSSES, "weights": WEIGHTS, "resubstitution_losses": LOSSES[0]},
            "no_information_rate": 0.5,
        },
    ),
    "proportion_interval": (proportion_interval, {"k": 3, "n": 5}),
    "expected_cost": (expected_cost, {"y_true": Y, "y_pred": P}),
    "cross_entropy": (cross_entropy, {"y_true": Y, "y_prob": PROB}),
    "brier_score": (brier_score, {"y_true": Y, "y_prob": PROB}),
    "equal_error_rate": (equal_error_rate, {"y_true": Y, "y_score": PROB}),
    "false_positive_rate_at": (
        false_positive_rate_at,
        {"y_true": Y, "y_score": PROB, "false_negative_rate": 0.1},
    ),
    "bayes_decisions": (bayes_decisions, {"y_prob": PROB}),
    "GroupBootstrapSplit": (split_groups, {}),
    "StratifiedBootstrapSplit": (split_classes, {}),
}

MASKED = np.ma.array(Y, mask=Y == 0)
COMPLEX = Y + 1j
MIXED = {
    "mixed list": [1, "1"] * (N // 2),
    "mixed objects": np.array([1, "a"] * (N // 2), dtype=object),
    "text and bytes": ["a", b"a"] * (N // 2),
    "ids that floats merge": [2**60, 2**60 + 1, 0.5, 1.5] * (N // 4),
    "ids beyond 64 bits": [2**70 + k for k in range(N)],
}
COLUMN = {
    "masked": MASKED,
    "complex": COMPLEX,
    "complex objects": COMPLEX.astype(object),
    "ragged": [[1]] * (N - 1) + [[1, 2]],
    "None": [None] * N,
    "text with NaN": ["a", np.nan] * (N // 2),
    "infinity as text's neighbour": [*[0.0] * (N - 1), np.inf],
    "of no dimension": np.float64(1.0),
    "empty": [],
    "records": np.zeros(N, dtype=[("field", int)]),
    "short": Y[:-1],
}
LABELS = {**COLUMN, **MIXED}
SPLITTER = ("masked", "complex", "None", "records", "mixed objects", "text and bytes")


def returning(value):
    def named(y_true, y_pred):
        return value

    return named


def raising(y_true, y_pred):
    raise KeyError("column")


METRICS = {
    "None": returning(None),
    "an array": returning(np.ones(3)),
    "an array of one": returning(np.ones(1)),
    "a matrix": returning(np.ones((2, 3))),
    "an empty array": returning(np.ones(0)),
    "an array of text": returning(np.array(["a", "b"])),
    "a dict of arrays": returning({"a": np.ones(2)}),
    "a tuple": returning((0.5, 0.1)),
    "complex": returning(1j),
    "text": returning("0.5"),
    "infinity": returning(np.inf),
    "a huge number": returning(1e200),
    "a subnormal number": returning(1e-320),
    "an error": raising,
    "no arguments": lambda: 1.0,
    "no metric": 5,
}
HOSTILE = {
    "y_true": LABELS,
    "y_pred": LABELS,
    "y_prob": {**COLUMN, "mixed list": MIXED["mixed list"], "above 1": PROB + 1},
    "y_score": {**COLUMN, "mixed list": MIXED["mixed list"]},
    "y": LABELS,
    "groups": LABELS,
    "strata": LABELS,
    "by": LABELS,
    "training": LABELS,
    "sample_weight": {
        **LABELS,
        "negative": -np.ones(N),
        "zeros": np.zeros(N),
        "of any size": np.r_[1e-200, np.ones(N - 1)],
    },
    "labels": {
        "mixed list": [0, "1"],
        "mixed objects": np.array([0, "1"], dtype=object),
        "complex": [0, 1j],
        "masked": np.ma.array([0, 1], mask=[0, 1]),
        "twice": [0, 0, 1],
        "None": [0, None],
    },
    "full_runs": {"5": 5, "text": "a"},
    "metric": METRICS,
    "n_resamples": {"1": 1, "2.5": 2.5, "None": None, "text": "a"},
    "n_train_resamples": {"2.5": 2.5, "None": None, "beyond memory": 10**15},
    "confidence_level": {
        **{"1 in doubles": 1 - 1e-16, "0 in doubles": 1e-17, "95": 95},
        **{"None": None, "text": "a", "True": True, "NaN": np.nan},
    },
    "interval": {"5": 5, "a list": ["percentile"], "None": None},
    "random_state": {"text": "a", "negative": -1, "1.5": 1.5},
    "n_jobs": {"0": 0, "text": "a", "1.5": 1.5, "True": True},
    "verbose": {"text": "x", "negative": -1, "1.5": 1.5, "a list": [1]},
    "greater_is_better": {"text": "x", "5": 5},
    "paired_runs": {"text": "x", "None": None},
    "reference": {"5": 5, "a list": ["A"]},
    "adjust": {"5": 5, "a list": ["holm"]},
    "memory": {"5": 5, "a list": ["folder"]},
    "relative": {"text": "x"},
    "k": {"None": None, "text": "a", "1.5": 1.5, "NaN": np.nan, "a list": [1], "too many": 6},
    "n": {"None": None, "text": "a", "1.5": 1.5, "infinity": np.inf},
    "scores_a": {**COLUMN, "huge": [1e300, 2e300], "subnormal": [1e-320, 2e-320]},
    "n_train": {"0": 0, "None": None, "1.5": 1.5},
    "losses": {**COLUMN, "huge": LOSSES * 1e300},
    "resubstitution_losses": COLUMN,
    "no_information_rate": {
        **{"-5": -5, "2": 2, "None": None, "text": "a", "NaN": np.nan, "complex": 1j},
        "a list": [0.5],
    },
    "costs": {"complex": [[0, 1j], [1, 0]], "ragged": [[0], [1, 2]], "text": [[0, "a"], [1, 0]]},
    "priors": {"complex": [0.5j, 0.5], "text": [0.5, "a"], "NaN": [0.5, np.nan]},
    "stratify": {"text": "x"},
    "refit": {"text": "x"},
    "y_test": {name: LABELS[name] for name in LABELS if name != "text with NaN"},
    "groups_test": LABELS,
    "false_negative_rate": {"None": None, "text": "a", "NaN": np.nan, "complex": 1j},
}


def nested(function, argument, value):
    """Argument and value as the function takes predictions of one or of several systems."""
    if argument != "y_pred" or "y_pred" in BASE[function][1]:
        return argument, value
    several = {
        "bootstrap_runs": lambda: [P, value],
        "compare_systems": lambda: {"A": P, "B": value},
        "compare_runs": lambda: {"A": [P, Q], "B": [Q, value]},
        "search_score": lambda: {"A": P, "B": value},
    }
    return "y_preds", several[function]()


def takes(function):
    names = set(inspect.signature(BASE[function][0]).parameters)
    if function == "BootstrapScorer":
        names |= set(inspect.signature(skboot.BootstrapScorer).parameters)
    return names | ({"y_pred"} if "y_preds" in names else set())


def cases():
    """Values by name that cannot be right, by function and argument."""
    values = {
        (function, argument): {
            what: value
            for what, value in HOSTILE[argument].items()
            if not is_left_to_others(function, argument, what)
        }
        for function in BASE
        for argument in sorted(takes(function) & set(HOSTILE))
    }
    return {place: named for place, named in values.items() if named}


def is_left_to_others(function, argument, what):
    """What is right for this function, or refused by scikit-learn in its own words."""
    if function.endswith("Split"):
        # Lengths are compared by scikit-learn, whose base class the splitters have.
        ignored = function == "GroupBootstrapSplit" and argument == "y"
        return ignored or what not in SPLITTER
    if argument == "y":
        return what not in ("masked", "short", "mixed objects", "mixed list", "text and bytes")
    if function == "out_of_fold" and argument == "groups":
        return what not in ("masked", "short", "of no dimension", "empty")
    if what == "short":
        return argument == "scores_a" or function == "bayes_decisions"
    if argument == "metric" and what in ("an array", "an array of one"):
        # Each entry has a result there.
        return function != "search_score"
    # In compare_runs it is a dict of these, whatever else.
    return argument == "training" and what.startswith("ids")


def refused(function, argument, value):
    """The error that a function raises for an argument that cannot be right; None for none."""
    call, arguments = BASE[function]
    changes = dict([nested(function, argument, value)])
    if argument in ("training", "full_runs"):
        runs = {"A": [P], "B": [Q]} if function == "compare_runs" else [P]
        changes = {"varied": "both", "full_runs": runs, "training": [0, 1, 1], **changes}
    if argument in ("y_test", "groups_test"):
        changes = {"X_test": X, "y_test": Y, **changes}
    if argument == "memory" or function == "compare_methods":
        changes = {"random_state": 0, **changes}
    if function == "search_score" and argument == "metric":
        changes["greater_is_better"] = True
    if argument == "labels" and "y_prob" not in arguments:
        changes |= probabilities(function)
    try:
        call(**{**arguments, **changes})
    except (ValueError, TypeError) as error:
        return error
    return None


WRITTEN_WITH, WRITTEN = hostile.read()


@pytest.mark.parametrize(("function", "argument"), cases())
def test_an_argument_that_cannot_be_right_is_named(function, argument):
    pattern = rf"(?s)The ['\"]{argument}.*['\"] parameter of {function}.* must .*\. Got .*\."
    # Lengths are compared with those of the truth, or the other way round.
    other = (
        rf"(?s)The ['\"]y_\w+.*['\"] parameter of {function} must have as many rows as '{argument}"
    )
    texts = {
        what: hostile.rendered(refused(function, argument, value))
        for what, value in cases()[function, argument].items()
    }
    unclear = {
        what: text
        for what, text in texts.items()
        if not (re.match(pattern, text) or re.match(other, text))
    }
    assert not unclear
    if versions() == WRITTEN_WITH:
        assert texts == {what: WRITTEN[function, argument, what] for what in texts}


def test_every_refusal_is_written_down():
    assert set(WRITTEN) == {(*place, what) for place, named in cases().items() for what in named}


def probabilities(function):
    both = np.column_stack((1 - PROB, PROB))
    shapes = {
        "bootstrap_score": {"y_pred": both},
        "bootstrap_runs": {"y_preds": [both, both]},
        "compare_systems": {"y_preds": {"A": both, "B": both}},
        "compare_runs": {"y_preds": {"A": [both, both], "B": [both, both]}},
        "search_score": {"y_preds": {"A": both, "B": both}},
        "expected_cost": {},
        "bayes_decisions": {},
    }[function]
    return {**shapes, "metric": "neg_log_loss"} if shapes else {}


@pytest.mark.parametrize("function", [name for name in BASE if "verbose" in takes(name)])
def test_verbose_none_is_quiet_without_a_terminal(function, capsys):
    call, arguments = BASE[function]
    call(**{**arguments, "random_state": 0, "verbose": None})
    assert capsys.readouterr().err == ""


# ------------------------------------------------------------------ integers

HUGE = {
    "objects": np.array([2**60 + k for k in range(4)], dtype=object),
    "objects above 2**63": np.array([2**63 + k for k in range(4)], dtype=object),
    "uint64": np.array([2**63 + k for k in range(4)], dtype=np.uint64),
    "both sides of 2**63": np.array([2**63 - 2 + k for k in range(4)], dtype=object),
    "from -2**63 on": np.array([-(2**63) + k for k in range(4)]),
}


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", "balanced_accuracy"])
@pytest.mark.parametrize("kind", HUGE)
@pytest.mark.parametrize("as_list", [False, True])
def test_ids_above_2_to_the_53_score_as_small_ones(kind, metric, as_list):
    code = np.arange(N) % 4
    other = np.where(RNG.random(N) < 0.7, code, (code + 1) % 4)
    y_true, y_pred = HUGE[kind][code], HUGE[kind][other]
    if as_list:
        y_true, y_pred = y_true.tolist(), y_pred.tolist()
    result = skboot.bootstrap_score(y_true, y_pred, metric=metric, n_resamples=20, random_state=0)
    scorer = metrics.get_scorer(metric)
    assert result.estimate == pytest.approx(
        scorer._score_func(code, other, **scorer._kwargs), abs=1e-12
    )


@pytest.mark.parametrize("kind", HUGE)
def test_systems_that_differ_in_huge_ids_alone_are_told_apart(kind):
    code = np.arange(N) % 4
    systems = {"right": HUGE[kind][code], "wrong": HUGE[kind][(code + 1) % 4]}
    result = skboot.compare_systems(HUGE[kind][code], systems, n_resamples=20, random_state=0)
    assert result.pairs[0].difference == 1.0


@pytest.mark.parametrize("first", [2**60, 2**63 + 5])
def test_each_huge_id_of_a_group_is_a_group(first):
    ids = np.array([first + k for k in range(N)], dtype=object)
    result = skboot.bootstrap_score(Y, P, groups=ids, n_resamples=20, random_state=0)
    assert result.n_units == (N,) or result.n_units == N


def test_signed_and_unsigned_ids_that_share_no_type_are_refused():
    with pytest.raises(ValueError, match=r"'y_pred'.*64 bits.*above 2\*\*63"):
        skboot.bootstrap_score(HUGE["uint64"], [-1, -2, -3, -4], n_resamples=20)


def test_floats_are_no_names_of_huge_ids():
    ids = np.array([2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3])
    with pytest.raises(ValueError, match=r"'y_pred'.*below 2\*\*53"):
        skboot.bootstrap_score(ids, ids.astype(float), n_resamples=20)


def test_exact_numbers_that_are_floats_become_floats():
    values = [Fraction(k, 3) for k in range(N)]
    result = skboot.bootstrap_score(
        np.array(values, dtype=object), np.arange(N) / 3 + Y, metric="r2", **FEW
    )
    assert result.estimate == pytest.approx(
        metrics.r2_score([float(x) for x in values], np.arange(N) / 3 + Y)
    )


# ------------------------------------------------------------------ magnitudes


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "average_precision", "f1", "r2"])
@pytest.mark.parametrize("size", [1e308, 1e200, 1e-200, 1e-300])
def test_the_unit_of_weights_changes_nothing(metric, size):
    weights = RNG.random(N) + 0.1
    predicted = PROB if metric in ("roc_auc", "average_precision", "r2") else P

    def score(sample_weight):
        return skboot.bootstrap_score(
            Y, predicted, metric=metric, sample_weight=sample_weight, n_resamples=99, random_state=0
        )

    one, other = score(weights), score(weights * size / weights.max())
    assert other.estimate == pytest.approx(one.estimate, rel=1e-9)
    assert other.confidence_interval[:2] == pytest.approx(one.confidence_interval[:2], rel=1e-6)


def test_ordinary_weights_are_taken_as_they_are():
    for weights in RNG.integers(1, 1000, (20, N)) * 2.0**90:
        # These sums are exact; those of weights in another unit would not be.
        share = weights[Y == P].sum() / weights.sum()
        options = {"sample_weight": weights, "n_resamples": 99, "random_state": 0}
        assert skboot.bootstrap_score(Y, P, **options).estimate == share


@pytest.mark.parametrize("metric", ["r2", "explained_variance"])
@pytest.mark.parametrize("size", [2.0**990, 2.0**-990])
def test_a_coefficient_does_not_depend_on_the_unit(metric, size):
    y_true = RNG.normal(size=N)
    y_pred = y_true + RNG.normal(size=N)
    one, other = (
        skboot.bootstrap_score(y_true * unit, y_pred * unit, metric=metric, **FEW)
        for unit in (1.0, size)
    )
    expected = metrics.get_scorer(metric)._score_func(y_true, y_pred)
    assert other.estimate == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(other.bootstrap_distribution, one.bootstrap_distribution, rtol=1e-12)


@pytest.mark.parametrize(
    ("metric", "size"),
    [
        ("neg_mean_squared_error", 1e200),
        ("neg_mean_squared_error", 1e-300),
        ("neg_root_mean_squared_error", 1e300),
        ("neg_mean_absolute_error", 1e300),
        ("neg_mean_absolute_error", 1e-320),
        ("neg_median_absolute_error", 1e300),
    ],
)
def test_a_loss_without_a_double_is_refused(metric, size):
    y_true, y_pred = RNG.normal(size=N) * size, RNG.normal(size=N) * size
    with pytest.raises(ValueError, match=r"in size.*another unit"):
        skboot.bootstrap_score(y_true, y_pred, metric=metric, **FEW)


@pytest.mark.parametrize("size", [1e300, 1e-310, 1e-320])
def test_losses_without_a_variance_are_refused(size):
    losses = RNG.random(N) * size
    with pytest.raises(ValueError, match="'y_pred' parameter of bootstrap_score must give losses"):
        skboot.bootstrap_score(None, losses, metric="mean", **FEW)
    with pytest.raises(ValueError, match=r"'y_preds\[0\]' parameter of bootstrap_runs must give"):
        skboot.bootstrap_runs(None, [losses, losses], metric="mean", **FEW)


def test_no_loss_at_all_is_no_matter_of_size():
    tiny = RNG.normal(size=N) * 1e-300
    result = skboot.bootstrap_score(tiny, tiny, metric="neg_mean_squared_error", **FEW)
    assert result.estimate == 0


def test_targets_without_squares_are_refused_in_fit():
    scorer = skboot.BootstrapScorer(Ridge(), n_train_resamples=4, random_state=0)
    with pytest.raises(ValueError, match=r"'y' parameter of BootstrapScorer.fit.*in size"):
        scorer.fit(X, Y * 1e300)


# ------------------------------------------------------------------ memory


def test_an_interval_without_resamples_draws_few_of_a_milliard():
    start = time.perf_counter()
    result = skboot.bootstrap_score(Y, P, n_resamples=10**9, random_state=0)
    assert time.perf_counter() - start < 10
    assert result.n_resamples == 100_000
    assert any("needs no resamples" in note for note in result.notes)
    fewer = skboot.bootstrap_score(Y, P, n_resamples=100, random_state=0)
    assert result.confidence_interval == fewer.confidence_interval
    np.testing.assert_array_equal(result.bootstrap_distribution[:100], fewer.bootstrap_distribution)


def test_an_interval_of_resamples_draws_all():
    result = skboot.bootstrap_score(Y, P, interval="percentile", n_resamples=100_001)
    assert result.n_resamples == 100_001


@pytest.mark.parametrize(
    "function",
    ["bootstrap_score", "bootstrap_runs", "compare_systems", "compare_runs", "search_score"],
)
def test_more_resamples_than_memory_holds_are_refused_with_the_number_it_holds(function):
    call, arguments = BASE[function]
    with pytest.raises(ValueError, match=rf"'n_resamples' parameter of {function} must .*at most"):
        call(**{**arguments, "metric": "f1", "n_resamples": 10**13})


# ------------------------------------------------------------------ found by random calls


def test_lists_of_half_precision_are_read_without_a_warning():
    halves = [np.float16(k) for k in (1.5, 2.5)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        result = skboot.bootstrap_score(halves, halves, metric="neg_max_error", **FEW)
    assert result.estimate == 0


def test_arrays_of_no_dimension_stand_for_their_values():
    labels, groups = [np.array(f"class {k}") for k in Y], [np.array(str(k // 2)) for k in range(N)]
    result = skboot.bootstrap_score(labels, labels, groups=groups, metric="f1_macro", **FEW)
    assert (result.estimate, result.n_units) == (1.0, N // 2)


@pytest.mark.parametrize("function", ["bootstrap_runs", "compare_runs"])
def test_runs_on_one_test_row_are_refused(function):
    y_preds = [[1], [0]] if function == "bootstrap_runs" else {"A": [[1], [0]], "B": [[1], [1]]}
    with pytest.raises(ValueError, match=rf"'?y_preds.* of {function} must .*two test rows"):
        getattr(skboot, function)([1], y_preds, metric="accuracy", **FEW)


def test_a_method_on_one_test_row_is_refused():
    with pytest.raises(ValueError, match=r"'X_test' parameter .* at least two rows"):
        fit(X_test=X[:1], y_test=Y[:1])


def test_a_test_set_without_rows_is_named():
    with pytest.raises(ValueError, match=r"'X_test' parameter .* array-like"):
        fit(X_test=GaussianNB(), y_test=Y)


@pytest.mark.parametrize("y_true", [[1.0, 1.0], [0.0]])
def test_a_metric_without_a_value_for_some_run_is_named(y_true):
    n = len(y_true)
    y_preds = [np.ones(n), np.zeros(n)]
    if n == 1:
        y_true, y_preds = [0, 1, 1], [np.ones((3, 2)) / 2] * 2
    with pytest.raises(ValueError, match=r"'metric' parameter of bootstrap_runs must have a value"):
        skboot.bootstrap_runs(y_true, y_preds, metric=undefined_at_first, **FEW)


def undefined_at_first(y_true, y_pred):
    return np.nan


def test_subgroups_in_a_column_are_subgroups():
    result = skboot.bootstrap_score(Y, P, by=np.array([[k // 20] for k in range(N)]), **FEW)
    assert result[0].estimate == pytest.approx(np.mean(Y[:20] == P[:20]))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((Y, PROB, PROB[:-1]), "second"),
        ((Y, PROB, np.r_[PROB[:-1], np.nan]), "second"),
        ((Y, ["a"] * N, PROB), "first"),
        ((Y + 1, PROB, PROB), "y_positive"),
        ((["yes", "no"] * (N // 2), PROB, PROB), "y_positive"),
    ],
)
def test_delong_test_names_what_cannot_be_right(arguments, named):
    with pytest.raises(ValueError, match=f"'{named}' parameter of delong_test must"):
        delong_test(*arguments)


@pytest.mark.parametrize("name", ["sensitivity", "specificity", "ppv", "npv"])
@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"y_true": [0, "a"] * (N // 2)}, "y_true"),
        ({"y_pred": [0, {}] * (N // 2)}, "y_pred"),
        ({"y_pred": np.ones((N, 3))}, "y_pred"),
        ({"y_pred": ["a"] * N}, "y_pred"),
        ({"pos_label": Y}, "pos_label"),
        ({"labels": ["a", "b"]}, "labels"),
        ({"labels": np.mean}, "labels"),
    ],
)
def test_rates_of_two_classes_name_what_cannot_be_right(name, changes, named):
    with pytest.raises(ValueError, match=f"'{named}' parameter of {name} must"):
        getattr(skboot.metrics, name)(**{"y_true": Y, "y_pred": P, **changes})


def test_a_column_is_no_positive_label():
    with pytest.raises(ValueError, match="'pos_label' parameter of equal_error_rate must be one"):
        equal_error_rate(Y, PROB, pos_label=Y)


@pytest.mark.parametrize(
    ("changes", "named"), [({"reference": Y}, "reference"), ({"paired": Y}, "paired")]
)
def test_a_column_is_no_option_of_a_comparison(changes, named):
    with pytest.raises(ValueError, match=f"'{named}.*' parameter of compare_systems must be"):
        skboot.compare_systems(Y, TWO, **changes, **FEW)


def test_names_of_systems_that_are_no_list_are_refused():
    with pytest.raises(ValueError, match="'systems' parameter of BootstrapAccumulator must"):
        skboot.BootstrapAccumulator(random_state=0, systems=True)


@pytest.mark.parametrize("metric", ["adjusted_rand_score", "neg_log_loss"])
def test_ids_above_2_to_the_63_are_labels_of_any_metric(metric):
    code = np.arange(N) % 3
    ids = (2**63 + code.astype(np.uint64)).astype(np.uint64)
    predicted = np.eye(3)[code] * 0.7 + 0.1 if metric == "neg_log_loss" else ids
    expected = np.log(0.8) if metric == "neg_log_loss" else 1.0
    result = skboot.bootstrap_score(ids, predicted, metric=metric, **FEW)
    assert result.estimate == pytest.approx(expected)


def test_bytes_split_no_rows():
    with pytest.raises(ValueError, match=r"Expected `?cv`? as an integer"):
        list(skboot.BootstrapTestSplit(b"three").split(X, Y))


def test_more_repeats_of_cross_validation_than_memory_holds_are_refused():
    with pytest.raises(ValueError, match="'n_cv_repeats' parameter of BootstrapScorer must"):
        fit(n_cv_repeats=10**30)


def test_a_largest_error_that_every_resample_holds_has_no_width_and_says_so():
    # Of 60 such samples this one has five resamples that all hold its largest error.
    values = np.round(np.random.default_rng(45).normal(size=40), 3)
    options = {"metric": "neg_max_error", "n_resamples": 5, "random_state": 0}
    result = skboot.bootstrap_score(np.zeros(40), values, **options)
    assert result.estimate == -np.abs(values).max()
    assert result.confidence_interval[:2] == (result.estimate, result.estimate)
    assert any("zero width" in note for note in result.notes)


def test_an_id_is_an_integer_in_every_batch_of_a_stream():
    ids = [Fraction(2**60 + k) for k in (0, 0, 1, 2)] * 10
    stream = skboot.BootstrapAccumulator("balanced_accuracy", random_state=0, n_resamples=9)
    # The first batch holds one label alone, which a float would hold exactly.
    stream.update(ids[:2], ids[:2], start=0).update(ids[2:], ids[:1] * 38, start=2)
    assert stream.result().estimate == pytest.approx(1 / 3)


def test_ids_are_not_floats_in_one_batch_alone():
    stream = skboot.BootstrapAccumulator("f1_macro", random_state=0)
    stream.update([2.0**60], [2.0**60], start=0)
    with pytest.raises(ValueError, match="floats in one batch"):
        stream.update([2**60 + 1], [2**60 + 1], start=1)


@pytest.mark.parametrize("name", ["adjust", "estimand"])
def test_a_column_is_no_option_of_compare_methods(name):
    call, arguments = BASE["compare_methods"]
    with pytest.raises(ValueError, match=f"'{name}' parameter of compare_methods must be"):
        call(**arguments, **{name: Y})


def test_a_column_is_no_positive_label_of_a_curve():
    with pytest.raises(ValueError, match="'pos_label' parameter of bootstrap_curve must be one"):
        skboot.bootstrap_curve(Y, PROB, pos_label=Y)


def test_counts_beyond_floats_are_refused():
    with pytest.raises(ValueError, match="'second_only' parameter of mcnemar_exact must be below"):
        skboot.inference.mcnemar_exact(3, 1e300)


def test_test_sides_that_are_no_row_numbers_are_refused():
    folds = [(np.arange(4), np.array([0.5, 1.5]))]
    with pytest.raises(ValueError, match="'cv' parameter of BootstrapTestSplit must give"):
        list(skboot.BootstrapTestSplit(folds).split(X, Y))


def test_strata_of_another_length_than_the_groups_are_refused():
    with pytest.raises(ValueError, match="'strata' parameter of bootstrap_score must have as many"):
        skboot.bootstrap_score(Y, P, groups=np.arange(N) // 4, strata=["a", "b", "a"])


@pytest.mark.parametrize("value", [np.array(["method", "system"]), np.zeros((2, 2))])
def test_an_array_is_no_estimand_without_a_test_set(value):
    with pytest.raises(
        ValueError, match="'estimand' parameter of BootstrapScorer must be 'method'"
    ):
        fit(estimand=value)


def test_numbers_that_no_integer_holds_are_no_generations():
    with pytest.raises(ValueError, match="'n_correct' parameter of pass_at_k must hold whole"):
        skboot.metrics.pass_at_k([1.0, 1e300], 10, k=1)


def test_ragged_numbers_of_generations_are_refused_by_name():
    with pytest.raises(ValueError, match="'n_samples' parameter of pass_at_k"):
        skboot.metrics.pass_at_k([1, 2], [[10], [10, 10]], k=1)


def test_records_are_no_labels_of_a_classifier():
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-8]}).fit(X, Y)
    records = np.array([(label, 1.0) for label in Y], dtype=[("event", int), ("time", float)])
    with pytest.raises(ValueError, match="'y' parameter of out_of_fold must hold labels"):
        skboot.model_selection.out_of_fold(search, X, records)


def test_configurations_without_a_truth_are_refused():
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-8]}).fit(X, Y)
    with pytest.raises(ValueError, match="'y' parameter of out_of_fold"):
        skboot.model_selection.out_of_fold(search, X, None)


def test_a_ragged_grid_is_refused_by_name():
    with pytest.raises(ValueError, match="'grid' parameter of bootstrap_curve"):
        skboot.bootstrap_curve(Y, PROB, grid=[0.1, [0.2, 0.3]])


def test_more_resamples_of_data_sets_than_memory_holds_are_refused():
    scores = {name: dict(zip("abcdefghij", RNG.random(10), strict=True)) for name in ("A", "B")}
    with pytest.raises(ValueError, match="'n_resamples' parameter of compare_across"):
        skboot.compare_across(scores, greater_is_better=True, n_resamples=10**30)


def test_a_module_is_no_splitter():
    with pytest.raises(ValueError, match="'cv' parameter of SeedSplit must be an int"):
        list(skboot.SeedSplit(2, cv=np).split(X, Y))


def test_an_array_of_objects_is_no_adjustment():
    value = np.array(["max-t", None], dtype=object)
    with pytest.raises(ValueError, match="'adjust' parameter of bootstrap_score"):
        skboot.bootstrap_score(Y, P, adjust=value)


class WithArray:
    """What only says how to become an array, and has a length."""

    def __init__(self, values):
        self._values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self._values

    def __len__(self):
        return len(self._values)


def test_weights_that_only_become_an_array_are_drawn_with_their_rows():
    weights = RNG.integers(1, 9, size=N).astype(float)

    def fitted(own):
        scorer = skboot.BootstrapScorer(GaussianNB(), n_train_resamples=5, random_state=0)
        return scorer.fit(X, Y, sample_weight=own).confidence_interval_

    # These were given whole to every training sample, whose rows are others.
    assert fitted(WithArray(weights)) == fitted(weights)


def test_test_rows_that_only_become_an_array_are_answered():
    expected = fit(X_test=X, y_test=Y).confidence_interval
    assert fit(X_test=WithArray(X), y_test=WithArray(Y)).confidence_interval == expected


def test_test_targets_of_a_sparse_column_are_as_many_as_its_rows():
    groups = np.arange(N) // 4
    expected = fit(X_test=X, y_test=Y, groups_test=groups).confidence_interval
    column = sparse.csc_array(Y.reshape(-1, 1))
    found = fit(X_test=X, y_test=column, groups_test=groups).confidence_interval
    assert found == expected


def test_losses_and_groups_may_be_frames_of_one_column():
    groups = np.arange(N) // 4
    counts = RNG.multinomial(10, np.full(10, 0.1), size=10).repeat(4, axis=1)
    given = {"losses": LOSSES, "weights": counts, "no_information_rate": 0.5}
    flat = prediction_error(**given, resubstitution_losses=LOSSES[0], groups=groups)
    found = prediction_error(
        **given, resubstitution_losses=LOSSES[:1].T, groups=groups.reshape(-1, 1)
    )
    assert found.interval() == flat.interval()


def test_text_in_an_index_of_pandas_is_a_target():
    pandas = pytest.importorskip("pandas")
    expected = fit(y=np.array(["no", "yes"])[Y]).confidence_interval
    assert fit(y=pandas.Index(np.array(["no", "yes"])[Y])).confidence_interval == expected


def test_a_fraction_is_a_point_of_a_curve():
    assert CURVE.at(Fraction(1, 2)).estimate == CURVE.at(0.5).estimate


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    RESULT = skboot.bootstrap_score(Y, P, **FEW)
    COMPARED = skboot.compare_systems(Y, TWO, **FEW)
    CURVE = skboot.bootstrap_curve(Y, PROB, **FEW)


@pytest.mark.parametrize(
    ("method", "arguments", "named"),
    [
        (RESULT.interval, {"method": np.array(["auto", "auto"])}, "method"),
        (RESULT.interval, {"method": {}}, "method"),
        (RESULT.interval, {"estimand": np.zeros(2, dtype=[("a", int)])}, "estimand"),
        (RESULT.interval, {"confidence_level": np.array([0.9, 0.95])}, "confidence_level"),
        (RESULT.save, {"path": 3}, "path"),
        (RESULT.save, {"path": ""}, "path"),
        (RESULT.to_html, {"path": object()}, "path"),
        (skboot.results.EvaluationResult.load, {"path": "a\0b"}, "path"),
        (skboot.results.ResultTable.load, {"path": None}, "path"),
        (CURVE.at, {"x": "0.5"}, "x"),
        (CURVE.at, {"x": [0.5]}, "x"),
        (CURVE.at, {"x": np.array("a")}, "x"),
        (COMPARED.is_distinguishable, {"pair": ("A", "B")}, "pair"),
    ],
)
def test_methods_of_results_name_what_cannot_be_right(method, arguments, named):
    with pytest.raises(ValueError, match=rf"'{named}' parameter of [\w.]+ must"):
        method(**arguments)


@pytest.mark.parametrize("names", [("A", "D"), ("A", {}), (np.array(["A", "B"]), "A"), (0, 1)])
@pytest.mark.parametrize("method", ["pair", "replicates"])
def test_systems_that_were_not_compared_are_named(method, names):
    with pytest.raises(KeyError, match=r"were not compared\. Systems: "):
        getattr(COMPARED, method)(*names)


@pytest.mark.parametrize(
    ("shown", "options", "named"),
    [
        (RESULT, {"ax": 5}, "ax"),
        (RESULT, {"name": 0}, "name"),
        (RESULT, {"name": np.zeros(2)}, "name"),
        (RESULT, {"show_naive": np.zeros(2)}, "show_naive"),
        (COMPARED, {"ax": "axes"}, "ax"),
        (COMPARED, {"name": 5}, "name"),
        (COMPARED, {"show_values": "yes"}, "show_values"),
        (COMPARED, {"pairs": np.zeros((2, 2))}, "pairs"),
        (CURVE, {"name": 5}, "name"),
        (CURVE, {"plot_chance_level": Y}, "plot_chance_level"),
        (skboot.results.ResultTable({"a": RESULT}), {"names": 5}, "names"),
        (skboot.results.ResultTable({"a": RESULT}), {"names": "a"}, "names"),
        (skboot.results.ResultTable({"a": RESULT}), {"names": [5]}, "names"),
    ],
)
def test_pictures_name_what_cannot_be_right(shown, options, named):
    pytest.importorskip("matplotlib").use("Agg")
    with pytest.raises(ValueError, match=rf"'{named}' parameter of \w+Display\.\w+ must"):
        shown.plot(**options)


# ------------------------------------------------------------------ arguments of the right shape

DATES = np.datetime64("2026-01-01") + np.arange(N)
WRONG_TRUTH = {
    "dates for classes": ("accuracy", DATES),
    "dates for values": ("neg_mean_absolute_error", DATES),
    "values for classes": ("accuracy", np.linspace(0.5, 1.5, N)),
    "columns": ("accuracy", np.column_stack((Y, Y, Y))),
    "text for values": ("neg_mean_absolute_error", Y.astype(str)),
}
WRONG_GROUPS = {"columns": np.column_stack((Y, Y, Y)), "one": np.zeros(N), "short": Y[1:]}


def trained(metric, compared=False, **data):
    """Methods on a test set, or without one."""
    make = Ridge if "error" in metric else GaussianNB
    options = {"scoring": metric, "n_train_resamples": 60, "random_state": 0}
    data = {"X": X, "y": Y, **data}
    if compared:
        return skboot.compare_methods({"A": make(), "B": make()}, **data, **options)
    return skboot.BootstrapScorer(make(), **options).fit(**data)


@pytest.mark.parametrize("kind", WRONG_TRUTH)
@pytest.mark.parametrize("compared", [False, True])
def test_a_wrong_test_set_is_refused_under_the_names_of_the_call(compared, kind):
    metric, truth = WRONG_TRUTH[kind]
    function = "compare_methods" if compared else "BootstrapScorer.fit"
    sets = {"y_test": (X, truth), "y_test['far']": ({"far": X}, {"far": truth})}
    for name, (X_test, y_test) in sets.items():
        said = rf"^The ['\"]{re.escape(name)}['\"] parameter of {function} must "
        with pytest.raises(ValueError, match=said):
            trained(metric, compared, X_test=X_test, y_test=y_test)


@pytest.mark.parametrize("compared", [False, True])
def test_wrong_dates_in_y_are_refused_under_that_name(compared):
    function = "compare_methods" if compared else "BootstrapScorer.fit"
    with pytest.raises(ValueError, match=f"The 'y' parameter of {function} must .* Got dates"):
        trained("neg_mean_absolute_error", compared, y=DATES)


@pytest.mark.parametrize("kind", WRONG_GROUPS)
def test_wrong_groups_of_a_test_set_are_refused_before_any_training(kind):
    class NeverTrained(GaussianNB):
        def fit(self, X, y):
            raise AssertionError("trained before the test set was checked")

    scorer = skboot.BootstrapScorer(NeverTrained(), n_train_resamples=60, random_state=0)
    tests = {"X_test": X, "y_test": Y, "groups_test": WRONG_GROUPS[kind]}
    with pytest.raises(
        ValueError, match=r"The 'groups_test' parameter of BootstrapScorer\.fit must"
    ):
        scorer.fit(X, Y, groups=np.arange(N) // 2, **tests)


UNPAIRED = {
    "y_true": (np.linspace(0.5, 1.5, N), Y[1:]),
    "groups": (np.column_stack((Y, Y, Y)), Y[1:]),
    "strata": (np.column_stack((Y, Y)), Y[1:]),
    "sample_weight": (Y.astype(str), Y[1:], -Y),
    "average_over": (np.column_stack((Y, Y)), Y[1:], np.arange(N)),
}


@pytest.mark.parametrize("argument", UNPAIRED)
def test_a_wrong_column_of_one_system_on_rows_of_its_own_is_named_with_the_system(argument):
    for wrong in UNPAIRED[argument]:
        given = {"y_true": {"A": Y, "B": Y}, argument: {"A": Y, "B": wrong}}
        said = rf'^The "{argument}\[\'B\'\]" parameter of compare_systems must '
        with pytest.raises(ValueError, match=said):
            skboot.compare_systems(y_preds=TWO, paired=False, **given, **FEW)


@pytest.mark.parametrize("argument", ["groups", "strata", "by", "average_over", "sample_weight"])
def test_the_name_of_a_column_is_refused_with_the_way_to_the_column(argument):
    said = r"Got the text 'patient'\. Give the column itself, not its name: data\['patient'\]\."
    with pytest.raises(
        ValueError, match=f"'{argument}' parameter of bootstrap_score must .*{said}"
    ):
        skboot.bootstrap_score(Y, P, **{argument: "patient"}, **FEW)


def columns_with_nul():
    texts = ["a", "a\0"] * 20
    yield "list", texts
    yield "array of objects", np.array(texts, dtype=object)
    yield "bytes", [text.encode() for text in texts]
    for name in ("pandas", "polars"):
        package = importlib.util.find_spec(name) and importlib.import_module(name)
        if package:
            yield name, package.Series(texts)


def test_text_that_ends_in_nul_is_refused_and_not_merged():
    for _, column in columns_with_nul():
        with pytest.raises(ValueError, match="not hold text that ends in the character NUL"):
            skboot.bootstrap_score(column, column)
    within = ["a\0b", "ab"] * 20
    assert skboot.bootstrap_score(within, within[::-1], n_resamples=99).estimate == 0


def test_decimals_that_are_one_float_are_refused():
    close = [Decimal("0.1"), Decimal("0.10000000000000000001")] * 20
    with pytest.raises(ValueError, match="hold numbers that differ as floats"):
        skboot.bootstrap_score(close, close)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
def test_a_share_of_errors_in_the_place_of_a_level_is_called_so(alpha):
    calls = (
        lambda level: skboot.bootstrap_score(Y, P, confidence_level=level, **FEW),
        lambda level: skboot.compare_systems(Y, TWO, confidence_level=level, **FEW),
        lambda level: skboot.bootstrap_curve(Y, PROB, confidence_level=level, **FEW),
        lambda level: RESULT.interval(confidence_level=level),
    )
    said = re.escape(f"if it is meant as alpha, give confidence_level={1 - alpha:g}.")
    for call in calls:
        with pytest.warns(UserWarning, match=said):
            call(alpha)
