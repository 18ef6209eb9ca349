"""Every metric with a fast path is, on every resample of rows and of groups, the plain function.

The plain function is called on the repeated rows of the same resample, with the labels of the
whole test set where it takes probabilities. A metric added to the registry is tested by itself.
"""

import inspect
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sklearn
import sklearn.metrics
from in_turn import in_turn
from sklearn import config_context

import skboot.metrics
from skboot._base.lazy import import_modules
from skboot.metrics import costs
from skboot.metrics.lookup import check_response, resolve_metrics
from skboot.metrics.means import RowMean
from skboot.metrics.statistic import (
    FAST_PATHS,
    OUTPUT_PATHS,
    OUTPUT_RESPONSES,
    PATHS,
    RESPONSES,
    fast_path,
)
from skboot.resampling.block import UnitBlock
from skboot.resampling.coding import CodedRows, UnitsOfCodes
from skboot.resampling.design import GroupDesign, RowDesign
from skboot.resampling.plan import ResamplingPlan

import_modules("skboot.metrics")  # each registers its statistics
SKLEARN = tuple(map(int, sklearn.__version__.split(".")[:2]))
BEFORE_1_7 = SKLEARN < (1, 7)
# The releases between 1.6, which fails here, and 1.9, which passes, were not tried.
BEFORE_1_9 = SKLEARN < (1, 9)
N_RESAMPLES = 3
N_SAMPLES = 24


class Data(NamedTuple):
    y_true: np.ndarray  # (n_samples,) or (n_samples, n_outputs)
    y_pred: np.ndarray  # (n_samples,), (n_samples, n_classes) or (n_samples, n_outputs)

    @property
    def several_outputs(self):
        return self.y_true.ndim == 2


class Case(NamedTuple):
    function: Any
    options: dict
    data: str
    weighted: bool

    @property
    def response(self):
        return PATHS[DATA[self.data].several_outputs][1][self.function.__name__]

    def __str__(self):
        options = ",".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.function.__name__}({options})-{self.data}{'-weighted' * self.weighted}"


def label_data():
    rng = np.random.default_rng(0)
    truth = np.array([0, 1] * 10 + [0] * 4)
    binary = Data(truth, np.where(rng.random(N_SAMPLES) < 0.25, 1 - truth, truth))
    names = np.array(["ham", "spam"])
    # "cow" has one row and is never predicted; "dog" is predicted but never true.
    three = np.array(["ant"] * 15 + ["bee"] * 8 + ["cow"])
    guess = np.where(rng.random(N_SAMPLES) < 0.3, "bee", three)
    guess[[2, -1]] = "dog"
    return {
        "binary": binary,
        "two strings": Data(names[binary.y_true], names[binary.y_pred]),
        "rare classes": Data(three, guess),
        "integers": Data(rng.integers(-1, 3, N_SAMPLES), rng.integers(-1, 3, N_SAMPLES)),
        # Text and numbers.
        "clusters": Data(three, rng.integers(0, 5, N_SAMPLES) * (three == "ant")),
        "rows of their own": Data(np.arange(N_SAMPLES), np.arange(N_SAMPLES) // 2),
    }


def score_data():
    rng = np.random.default_rng(1)
    truth = np.array([0] * 19 + [1] * 5)
    score = np.round(rng.normal(size=N_SAMPLES) + truth, 1)
    three = np.array(["ant"] * 14 + ["bee"] * 7 + ["cow"] * 3)
    prob = np.round(rng.dirichlet([1, 1, 1], N_SAMPLES), 1)
    prob[:, 0] = 1 - prob[:, 1:].sum(axis=1)
    second = np.clip(np.round(0.5 + score / 6, 2), 0, 1)
    return {
        "scores": Data(truth, score),
        "two columns": Data(truth, np.column_stack((1 - second, second))),
        "one column": Data(truth, second),
        "three columns": Data(three, np.abs(prob)),
    }


def value_data():
    rng = np.random.default_rng(2)
    return {
        "real": Data(np.exp(rng.normal(size=N_SAMPLES)), np.exp(rng.normal(size=N_SAMPLES))),
        "counts": Data(rng.integers(1, 5, N_SAMPLES), rng.integers(1, 5, N_SAMPLES)),
        "far": Data(
            1e6 + np.round(rng.normal(size=N_SAMPLES), 1), 1e6 + rng.normal(size=N_SAMPLES)
        ),
    }


def output_data():
    rng = np.random.default_rng(7)
    sets = (rng.random((N_SAMPLES, 4)) < (0.5, 0.3, 0.1, 0.0)).astype(int)
    # The last label is never true, and the third is never decided; a row has all labels.
    sets[3] = 1
    decided = np.where(rng.random(sets.shape) < 0.2, 1 - sets, sets)
    decided[:, 2] = 0
    few = np.tile(sets[:, :2], 1)
    score = np.round(sets + rng.normal(size=sets.shape), 0)
    real = np.exp(rng.normal(size=(N_SAMPLES, 3))) * (1, 100, 1)
    real[:, 2] = 2.0
    return {
        "label sets": Data(sets, decided),
        "booleans": Data(few > 0, decided[:, :2] > 0),
        "label scores": Data(sets, score),
        "label probabilities": Data(sets, np.clip(0.5 + score / 8, 0, 1)),
        "relevances": Data(rng.integers(0, 4, sets.shape) * (sets.any(axis=1)[:, None]), score),
        "outputs": Data(real, np.abs(real + rng.normal(size=real.shape))),
        "counted outputs": Data(rng.integers(1, 5, (N_SAMPLES, 2)), rng.integers(1, 5, (24, 2))),
    }


DATA = {**label_data(), **score_data(), **value_data(), **output_data()}
AVERAGED = [
    {"average": "macro"},
    {"average": "weighted"},
    {"average": "micro"},
    {"average": "macro", "labels": ["cow", "dog", "eel"], "zero_division": 1},
    {"average": "weighted", "labels": ["dog", "cow"]},
    {"average": "micro", "labels": ["ant", "dog"]},
]
WITH_NAN = [
    {"average": "macro", "zero_division": np.nan},
    {"average": "weighted", "zero_division": np.nan},
]
ONE_CLASS = [{}, {"pos_label": 0, "zero_division": 1}]
COSTS = [[0, 1, 2, 5], [1, 0, 1, 1], [2.5, 1, 0, 1], [1, 1, 1, 0]]
TWO_CLASS = ("sensitivity", "specificity", "ppv", "npv")
LIKELIHOOD_RATIOS = {
    "positive_likelihood_ratio": "positive_likelihood_ratio",
    "negative_likelihood_ratio": "neg_negative_likelihood_ratio",
}
CLUSTERED = ("binary", "rare classes", "integers", "clusters", "rows of their own")
AVERAGE_METHODS = [
    {"average_method": average} for average in ("arithmetic", "geometric", "max", "min")
]
# The last is 0 / 0 after rounding, in scikit-learn, where the truth gives each row its own label.
OPTIONS: dict[str, dict[str, list[dict]]] = {
    "precision_score": {"rare classes": AVERAGED + WITH_NAN, "binary": ONE_CLASS},
    "recall_score": {"rare classes": AVERAGED + WITH_NAN, "binary": ONE_CLASS},
    "f1_score": {
        "rare classes": AVERAGED + WITH_NAN,
        "binary": ONE_CLASS,
        "two strings": [{"pos_label": "spam"}],
    },
    "fbeta_score": {
        "rare classes": [{"beta": 0.5, **options} for options in AVERAGED + WITH_NAN],
        "binary": [{"beta": beta} for beta in (0, 2, np.inf)],
    },
    "jaccard_score": {"rare classes": AVERAGED, "binary": ONE_CLASS},
    "cohen_kappa_score": {
        data: [{}, {"weights": "linear"}, {"weights": "quadratic"}]
        for data in ("rare classes", "integers", "binary")
    },
    "balanced_accuracy_score": {
        "rare classes": [{}, {"adjusted": True}],
        "binary": [{}, {"adjusted": True}],
    },
    "r2_score": {key: [{}, {"force_finite": False}] for key in ("real", "counts", "far")},
    "explained_variance_score": {key: [{}, {"force_finite": False}] for key in ("real", "counts")},
    "mean_pinball_loss": {"real": [{}, {"alpha": 0.9}]},
    "log_loss": {key: [{}] for key in ("one column", "two columns", "three columns")},
    "brier_score_loss": {
        "one column": [{}],
        "two columns": [{}, {"scale_by_half": False}],
        "three columns": [{}, {"scale_by_half": True}],
    },
    "roc_auc_score": {
        "scores": [{}],
        "two columns": [{}],
        "three columns": [
            {"multi_class": kind, "average": average}
            for kind in ("ovr", "ovo")
            for average in ("macro", "weighted")
        ],
    },
    "average_precision_score": {
        "scores": [{}, {"pos_label": 0}],
        "three columns": [{}, {"average": "weighted"}],
    },
    "top_k_accuracy_score": {
        "scores": [{"k": 1}],
        "two columns": [{"k": 1}],
        "three columns": [{}, {"k": 1}, {"k": 2, "labels": ["ant", "bee", "cow"]}],
    },
    "expected_cost": {
        "rare classes": [
            {},
            {"costs": COSTS},
            {"costs": COSTS, "relative": True},
            {"priors": [0.5, 0.25, 0.25, 0]},
            {"costs": COSTS, "priors": [0.5, 0.25, 0.25, 0], "relative": True},
        ],
        "binary": [{"relative": True}],
    },
    "cross_entropy": {
        "three columns": [{}, {"relative": True}, {"priors": [0.2, 0.2, 0.6]}],
        "one column": [{"relative": True, "priors": [0.9, 0.1]}],
    },
    "brier_score": {
        "three columns": [{}, {"relative": True}, {"priors": [0.2, 0.2, 0.6]}],
        "one column": [{"relative": True, "priors": [0.9, 0.1]}],
    },
    **{name: {"binary": [{}], "two strings": [{}]} for name in LIKELIHOOD_RATIOS},
    **{
        name: {data: [{}] for data in CLUSTERED}
        for name in (
            "rand_score",
            "adjusted_rand_score",
            "fowlkes_mallows_score",
            "mutual_info_score",
            "homogeneity_score",
            "completeness_score",
        )
    },
    "v_measure_score": {data: [{}, {"beta": 0.3}] for data in CLUSTERED},
    **{
        f"{name}_mutual_info_score": dict.fromkeys(CLUSTERED, AVERAGE_METHODS)
        | {"rows of their own": AVERAGE_METHODS[:-1]}
        for name in ("normalized", "adjusted")
    },
    **{
        name: {"binary": [{}, {"pos_label": 0}], "two strings": [{}, {"pos_label": "ham"}]}
        for name in TWO_CLASS
    },
    "equal_error_rate": {key: [{}] for key in ("scores", "two columns")},
    **{
        name: {
            "scores": [{option: bound} for bound in (0.0, 0.25, 0.8, 1.0)],
            "two columns": [{option: 0.6}],
        }
        for name, option in (("sensitivity_at", "specificity"), ("specificity_at", "sensitivity"))
    },
    "calibration_slope": {key: [{}] for key in ("one column", "two columns")},
    "calibration_intercept": {key: [{}] for key in ("one column", "two columns")},
    "expected_calibration_error": {
        "one column": [{}, {"n_bins": 1}, {"n_bins": 4}],
        "two columns": [{}],
    },
    "net_benefit": {
        "one column": [{"threshold": 0.2}, {"threshold": 0.6}],
        "two columns": [{"threshold": 0.5}],
    },
    "cllr": {"scores": [{}, {"pos_label": 0}], "two columns": [{}]},
    **{
        name: {
            "scores": [
                {"priors": (0.9, 0.1)},
                {"priors": (0.5, 0.5), "costs": ((0, 1), (3, 0.5)), "relative": True},
                {"priors": (0.2, 0.8), "pos_label": 0},
            ]
        }
        for name in ("actual_detection_cost", "minimum_detection_cost")
    },
    "false_positive_rate_at": {
        "scores": [{"false_negative_rate": rate} for rate in (0.0, 0.2, 0.25, 1.0)]
    },
}
SET_AVERAGES = [
    {"average": average, **options}
    for average in ("micro", "macro", "weighted", "samples")
    for options in ({}, {"zero_division": 1})
]
RATIOS = [*SET_AVERAGES, *WITH_NAN]
COEFFICIENTS = [
    {"multioutput": average, **options}
    for average in ("uniform_average", "variance_weighted")
    for options in ({}, {"force_finite": False})
]
# The same of a truth of several columns.
OPTIONS_OF_OUTPUTS: dict[str, dict[str, list[dict]]] = {
    "precision_score": {"label sets": RATIOS, "booleans": SET_AVERAGES},
    "recall_score": {"label sets": RATIOS},
    "f1_score": {"label sets": RATIOS, "booleans": SET_AVERAGES},
    "fbeta_score": {
        "label sets": [{"beta": beta, **options} for beta in (0.5, 2) for options in SET_AVERAGES]
    },
    "jaccard_score": {"label sets": SET_AVERAGES},
    "r2_score": {"outputs": COEFFICIENTS, "counted outputs": COEFFICIENTS},
    "explained_variance_score": {"outputs": COEFFICIENTS[::2], "counted outputs": COEFFICIENTS},
    "mean_pinball_loss": {"outputs": [{}, {"alpha": 0.9}]},
    **{
        name: {"label scores": [{}, {"average": "weighted"}]}
        for name in ("roc_auc_score", "average_precision_score")
    },
    "log_loss": {"label probabilities": [{}]},
    "brier_score_loss": {
        # Of several labels since scikit-learn 1.7.
        "label probabilities": [{}, {"scale_by_half": True}] if SKLEARN >= (1, 7) else []
    },
    "ndcg_score": {"relevances": [{}, {"k": 2}, {"ignore_ties": True}], "label scores": [{}]},
    "dcg_score": {"relevances": [{}, {"k": 2, "log_base": 3}, {"ignore_ties": True}]},
}
DATA_OF_OUTPUTS = {
    "indicators": ("label sets", "booleans"),
    "label_scores": ("label scores",),
    "outputs": ("outputs", "counted outputs"),
}
# For a function that is not named above: its options at their defaults.
DEFAULT_DATA = {
    "labels": ("binary", "rare classes"),
    "scores": ("scores",),
    "probabilities": ("one column", "three columns"),
    "values": ("real", "counts"),
}


def function_of(name):
    """The plain function; scikit-learn has likelihood ratios by the names of scorers alone."""
    if name in LIKELIHOOD_RATIOS:
        return sklearn.metrics.get_scorer(LIKELIHOOD_RATIOS[name])._score_func
    return getattr(skboot.metrics, name, None) or getattr(sklearn.metrics, name)


# Functions that the oldest supported scikit-learn lacks.
NEWER = {"d2_brier_score"}
KNOWN = [name for name in FAST_PATHS if name not in NEWER or hasattr(sklearn.metrics, name)]


def cases():
    yield from cases_of(KNOWN, OPTIONS, DEFAULT_DATA, RESPONSES)
    yield from cases_of(OUTPUT_PATHS, OPTIONS_OF_OUTPUTS, DATA_OF_OUTPUTS, OUTPUT_RESPONSES)


def cases_of(names, chosen, data_of_response, responses):
    for name in names:
        function = function_of(name)
        by_data = chosen.get(name) or {key: [{}] for key in data_of_response[responses[name]]}
        known = inspect.signature(function).parameters
        takes_weights = "sample_weight" in known
        for data, listed in by_data.items():
            for options in listed:
                if not set(options) <= set(known):
                    continue  # scikit-learn 1.6 has no scale_by_half
                yield Case(function, options, data, weighted=False)
                if takes_weights and options.get("multi_class") != "ovo":
                    yield Case(function, options, data, weighted=True)


CASES = list(cases())
# A metric reads a block and knows nothing of the design: two kinds of units are enough for it, one
# where units are left out, and every reading of every block is claimed in
# tests/resampling/test_block.py.
DESIGNS = ("rows", "groups in strata")
FUNCTIONS = list(dict.fromkeys(case.function.__name__ for case in CASES))


def every_case(test):
    """Run a test of a case once for each function, over all cases of it."""

    @pytest.mark.parametrize("function", FUNCTIONS)
    def run(function):
        in_turn(case=[case for case in CASES if case.function.__name__ == function])(test)()

    run.__doc__ = test.__doc__
    return run


def plain(case):
    """The plain function of (y_true, y_pred, weights), NaN where it is undefined."""
    function, options = case.function, dict(case.options)
    data = DATA[case.data]
    labels = np.unique(data.y_true)
    name = function.__name__
    if name == "expected_cost":
        labels = np.union1d(labels, data.y_pred)
    takes_labels = case.response == "probabilities" or name in (
        "expected_cost",
        "top_k_accuracy_score",
        *TWO_CLASS,
    )
    if takes_labels or "multi_class" in options:
        options["labels"] = labels
    if name == "brier_score_loss" and data.y_true.ndim == 1:
        return partial(_brier, labels, options.get("scale_by_half", "auto"))
    if name == "median_absolute_error" and BEFORE_1_7:
        function = _median_error

    def value(y_true, y_pred, weights):
        weighing = y_true if weights is None else y_true[weights > 0]
        if len(y_true) == 0 or not _is_defined(case, weighing, labels):
            return np.nan
        if name in ("r2_score", "explained_variance_score"):
            columns = [y.reshape(len(y), -1).T for y in (y_true, y_pred, weighing)]
            exact = [_exactly_constant(name, *own) for own in zip(*columns, strict=True)]
            y_true, y_pred = (
                np.column_stack(side).reshape(y_true.shape) for side in zip(*exact, strict=True)
            )
        if case.response == "scores" and y_pred.ndim == 2 and len(labels) == 2:
            y_pred = y_pred[:, 1]
        if name == "top_k_accuracy_score" and y_pred.ndim == 1:
            # scikit-learn's threshold is 1/2 where all scores at hand are in [0, 1]: here that of
            # the whole test set, which numbers outside [0, 1] keep.
            whole = 0.5 if data.y_pred.min() >= 0 and data.y_pred.max() <= 1 else 0.0
            y_pred = np.where(y_pred > whole, 2.0, -1.0)
        if name == "hinge_loss" and (y_true == labels[1]).all():
            # scikit-learn takes a single class for the first one.
            y_pred = -y_pred
        given = {} if weights is None else {"sample_weight": weights}
        try:
            return function(y_true, y_pred, **options, **given)
        except (ValueError, ZeroDivisionError):
            return np.nan

    return value


def _is_defined(case, y_true, labels):
    """Where scikit-learn gives a number that is none: no positives, or an absent class."""
    if case.function.__name__ in ("d2_log_loss_score", "d2_brier_score"):
        # A single class has no loss to save: scikit-learn then divides by a rounding.
        return len(np.unique(y_true)) > 1
    if case.function.__name__ == "average_precision_score" and case.response == "scores":
        if len(labels) == 2:
            return case.options.get("pos_label", 1) in y_true
        return len(np.unique(y_true)) == len(labels)
    return True


def _exactly_constant(name, y_true, y_pred, weighing):
    """Constant truth and residuals, moved to where their mean is exactly themselves.

    scikit-learn's mean of equal numbers may be a rounding off, by whose square it then divides.
    """
    residual = y_true - y_pred
    if np.ptp(weighing) == 0:
        y_true = np.full(len(y_true), 1.0)
        residual = np.sign(residual) if name == "r2_score" else residual - residual[0]
    if name == "explained_variance_score" and np.ptp(residual) == 0:
        residual = 0 * residual
    return y_true, y_true - residual


def _brier(labels, scale_by_half, y_true, y_pred, weights):
    if len(y_true) == 0:
        return np.nan
    prob = np.column_stack((1 - y_pred, y_pred)) if y_pred.ndim == 1 else y_pred
    squares = ((prob - (y_true[:, None] == labels)) ** 2).sum(axis=1)
    halved = len(labels) == 2 if scale_by_half == "auto" else scale_by_half
    return np.average(squares, weights=weights) * (0.5 if halved else 1.0)


def _median_error(y_true, y_pred, sample_weight=None):
    error = np.abs(y_true - y_pred)
    if sample_weight is None:
        return np.median(error)
    order = np.argsort(error)
    upto = np.cumsum(sample_weight[order])
    upto /= upto[-1]
    middle = np.searchsorted(upto, [0.5 - 1e-9, 0.5 + 1e-9])
    return error[order][middle].mean()


def design_of(kind, n=N_SAMPLES):
    rng = np.random.default_rng(4)
    groups = np.concatenate((np.arange(7), rng.integers(0, 7, n - 7)))
    if kind == "rows":
        return RowDesign.of(n)
    return GroupDesign.of(groups, groups % 2 if kind == "groups in strata" else None)


def weights_of(case):
    if not case.weighted:
        return None
    weights = np.random.default_rng(5).integers(0, 4, N_SAMPLES) / 2
    # A class whose only row weighs nothing is still present.
    weights[-1] = 0.0
    return weights


def statistic_of(case):
    metric = partial(case.function, **case.options)
    several_outputs = DATA[case.data].several_outputs
    (statistic,) = resolve_metrics(metric, several_outputs=several_outputs)[0].values()
    return statistic


def reduced_of(case):
    data = DATA[case.data]
    statistic = statistic_of(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        statistic = check_response(statistic, data.y_true, data.y_pred)
    return statistic, statistic.reduce(data.y_true, data.y_pred, weights_of(case))


def assert_plain(case, values, counts):
    """Values are those of the plain function on rows repeated as often as counted."""
    data, weights, function = DATA[case.data], weights_of(case), plain(case)
    if BEFORE_1_9 and (case.function.__name__, case.data) == ("d2_log_loss_score", "three columns"):
        return  # scikit-learn 1.6 refuses rows that lack a class, whatever labels are given
    expected = []
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        config_context(skip_parameter_validation=True),
    ):
        warnings.simplefilter("ignore")
        for line in counts:
            rows = np.repeat(np.arange(len(line)), line.astype(int))
            of_rows = None if weights is None else weights[rows]
            if of_rows is not None and not of_rows.any():
                # Nothing weighs anything: scikit-learn divides by zero, or makes up a number.
                expected.append(None)
                continue
            expected.append(function(data.y_true[rows], data.y_pred[rows], of_rows))
    judged = [k for k, value in enumerate(expected) if value is not None]
    wanted = np.array([expected[k] for k in judged], dtype=float)
    np.testing.assert_allclose(values[judged], wanted, rtol=1e-12, atol=1e-12)


@every_case
def test_a_replicate_is_the_plain_function_on_the_repeated_rows(case):
    statistic, reduced = reduced_of(case)
    codings = [
        CodedRows(reduced.code, reduced.n_codes, statistic.reading(reduced)),
        CodedRows(None, N_SAMPLES, "rows"),
    ]
    for kind in DESIGNS:
        plan = ResamplingPlan(design_of(kind), N_RESAMPLES, np.random.SeedSequence(3))
        block, rows = plan.bind(codings).block(0)
        counts = rows.sums(np.eye(N_SAMPLES))
        assert_plain(case, statistic.evaluate(block, reduced)[:N_RESAMPLES], counts[:N_RESAMPLES])


@every_case
def test_where_codes_are_drawn_a_replicate_is_the_plain_function(case):
    if BEFORE_1_9 and case.function.__name__ == "adjusted_mutual_info_score":
        return  # scikit-learn 1.6 divides 0 by a rounding where all tables have one information
    statistic, reduced = reduced_of(case)
    counts = np.vstack((degenerate_resamples(case), np.ones((1, N_SAMPLES), int)))
    if reduced.code is None:
        of_codes = counts
    else:
        code = np.asarray(reduced.code, dtype=np.intp)
        seen = code >= 0
        of_codes = np.array(
            [np.bincount(code[seen], line[seen], reduced.n_codes) for line in counts]
        ).astype(np.int64)
    block = UnitBlock(UnitsOfCodes(reduced.n_codes, (reduced.n_codes,)), of_codes)
    assert_plain(case, statistic.evaluate(block, reduced), counts)


def degenerate_resamples(case):
    """Counts of rows: one row, one class, all right, all wrong, a class missing."""
    data = DATA[case.data]
    lines = [np.bincount([row] * times, minlength=N_SAMPLES) for row in (0, 23) for times in (1, 5)]
    if data.several_outputs:
        lines += list((data.y_true == data.y_true[0]).T)
        lines += [(data.y_true == data.y_pred).all(axis=1), (data.y_true == 0).all(axis=1)]
        lines += [(data.y_true == row).all(axis=1) for row in data.y_true[:3]]
    elif case.response == "values":
        lines += [data.y_true == value for value in np.unique(data.y_true)[:3]]
    else:
        lines += [data.y_true == label for label in np.unique(data.y_true)]
        lines += [data.y_true != label for label in np.unique(data.y_true)]
    if data.y_pred.ndim == 1:
        lines += [data.y_true == data.y_pred, data.y_true != data.y_pred]
        lines += [data.y_pred == label for label in np.unique(data.y_pred)[:3]]
    lines.append(np.bincount([0, 23], minlength=N_SAMPLES))
    lines.append(np.bincount([1, 1, 22], minlength=N_SAMPLES))
    lines = [line for line in lines if np.any(line)]
    return np.unique(np.array(lines, dtype=np.int64), axis=0)


@every_case
def test_the_observed_value_is_the_plain_function(case):
    statistic, reduced = reduced_of(case)
    coding = CodedRows(reduced.code, reduced.n_codes, statistic.reading(reduced))
    values = []
    for kind in DESIGNS:
        plan = ResamplingPlan(design_of(kind), N_RESAMPLES, np.random.SeedSequence(3))
        (block,) = plan.bind([coding]).observed()
        values.append(statistic.evaluate(block, reduced))
    assert_plain(case, values[0], np.ones((1, N_SAMPLES)))
    for value in values[1:]:
        np.testing.assert_allclose(value, values[0], rtol=1e-12, atol=1e-12)


@every_case
def test_leaving_a_unit_out_is_the_plain_function_without_its_rows(case):
    statistic, reduced = reduced_of(case)
    codings = [
        CodedRows(reduced.code, reduced.n_codes, statistic.reading(reduced)),
        CodedRows(None, N_SAMPLES, statistic.reading(reduced)),
    ]
    plan = ResamplingPlan(design_of("groups in strata"), N_RESAMPLES, np.random.SeedSequence(3))
    for left_out in plan.bind(codings).jackknife_resamples():
        block, rows = left_out.blocks
        values, counts = statistic.evaluate(block, reduced), rows.sums(np.eye(N_SAMPLES))
        # Three of seven groups, of both strata.
        assert_plain(case, values[::3], counts[::3])


@every_case
def test_the_influence_formula_agrees_with_small_changes_of_the_weights(case):
    """The variance of `sums` statistics is that of numerical derivatives by each row."""
    statistic, reduced = reduced_of(case)
    if statistic.reads != "sums" or not np.isfinite(statistic.variance_cost(reduced)):
        return  # no formula
    coding = CodedRows(None if reduced.code is None else reduced.code, reduced.n_codes, "sums")
    plan = ResamplingPlan(design_of("groups"), N_RESAMPLES, np.random.SeedSequence(3))
    binding = plan.bind([coding])
    (block,) = binding.observed()
    value = statistic.evaluate(block, reduced)[0]
    if not np.isfinite(value):
        return  # undefined on these data
    many, n_groups = 100_000, design_of("groups").n_units[0]
    moved = [many + sign * np.eye(n_groups, dtype=np.int64) for sign in (1, -1)]
    up, down = (
        statistic.evaluate(UnitBlock(binding.units_of_codes[0], counts), reduced)
        for counts in moved
    )
    expected = np.sum((many * (up - down) / 2) ** 2)
    assert statistic.variance(block, reduced)[0] == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_every_fast_path_has_a_case_and_every_case_a_fast_path():
    of_one = {case.function.__name__ for case in CASES if not DATA[case.data].several_outputs}
    of_several = {case.function.__name__ for case in CASES if DATA[case.data].several_outputs}
    if SKLEARN < (1, 7):
        of_several.add("brier_score_loss")  # which takes several labels since then
    assert (of_one, of_several) == (set(KNOWN), set(OUTPUT_PATHS))
    for case in CASES:
        statistic = statistic_of(case)
        reduced = statistic.reduce(*DATA[case.data], None)
        assert statistic.reading(reduced) != "rows", str(case)


@pytest.mark.parametrize(
    "in_turn_asked",
    [
        {
            "'f1'": "labels",
            "'accuracy', several_outputs=True": "outputs",
            "sklearn.metrics.max_error": "",  # of no module
        },
        {"functools.partial(sklearn.metrics.recall_score, average=None), several=True": ""},
    ],
    ids=["by name or of no module", "by class"],
)
def test_a_metric_loads_the_module_of_its_factory_or_all_where_none_is_named(in_turn_asked):
    folder = Path(skboot.metrics.__file__).parent
    code = "import functools, sys, sklearn.metrics\n"
    code += "from skboot.metrics.lookup import resolve_metrics\n"
    for asked in in_turn_asked:
        code += f"resolve_metrics({asked})\nprint(*sys.modules)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = {f"skboot.metrics.{path.stem}" for path in folder.glob("*.py")} - {
        "skboot.metrics.__init__"
    }
    loaded = done.stdout.splitlines()
    for (asked, module), line in zip(in_turn_asked.items(), loaded, strict=True):
        wanted = {f"skboot.metrics.{module}"} if module else names
        assert wanted <= set(line.split()), asked


def test_a_metric_is_registered_for_the_predictions_that_its_statistic_takes():
    for case in CASES:
        assert statistic_of(case).response == case.response, str(case)


def test_a_metric_that_is_registered_where_it_stands_is_found(monkeypatch):
    """One decorated function is all that a new metric needs."""

    def share_of_zeros(y_true, y_pred):
        return float(np.mean(y_pred == 0))

    share_of_zeros.__module__ = costs.__name__
    monkeypatch.setattr(costs, "share_of_zeros", share_of_zeros, raising=False)
    for table in (FAST_PATHS, RESPONSES):
        monkeypatch.setitem(table, "share_of_zeros", None)  # gone when the test is over

    @fast_path("share_of_zeros", response="labels")
    def factory(request):
        return RowMean(request.name, lambda y_true, y_pred: y_pred == 0, response="labels")

    (statistic,) = resolve_metrics(share_of_zeros)[0].values()
    assert isinstance(statistic, RowMean)
    assert RESPONSES["share_of_zeros"] == "labels"
