"""Any argument of any public function in the place of which something else is given.

The call must be refused by a message that names the argument, or the answer must be sound.
"""

import datetime
import decimal
import fractions
import inspect
import itertools
import pathlib

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

import skboot
from skboot import inference, metrics, testing
from skboot.model_selection import corrected_t, out_of_fold

from .case import SOUND, UNCOMPARABLE, Case

N = 24
RNG = np.random.default_rng(0)
Y = np.arange(N) % 2
P, Q = (np.where(RNG.random(N) < 0.7, Y, 1 - Y) for _ in range(2))
PROB = np.clip(0.2 + 0.6 * P + RNG.normal(0, 0.05, N), 0.01, 0.99)
X = np.column_stack((Y + RNG.normal(size=N), RNG.normal(size=N)))
GROUPS = np.arange(N) // 3
WEIGHTS = RNG.multinomial(N, np.full(N, 1 / N), size=10)
LOSSES = RNG.random((10, N))
FEW = {"n_resamples": 9, "random_state": 0}
SMALL = {"n_train_resamples": 3, "n_cv_repeats": 1, "random_state": 0}
TWO = {"A": P, "B": Q}
RUNS = {"A": [P, Q], "B": [Q, Q]}
SCORED = {"x": {"A": 0.5, "B": 0.6}, "y": {"A": 0.7, "B": 0.6}, "z": {"A": 0.7, "B": 0.65}}


def fit(X=X, y=Y, groups=None, X_test=None, y_test=None, groups_test=None, **parameters):
    """The constructor and `fit` in one call."""
    scorer = skboot.BootstrapScorer(GaussianNB(), **{**SMALL, **parameters})
    data = {"groups": groups, "X_test": X_test, "y_test": y_test, "groups_test": groups_test}
    return scorer.fit(X, y, **data).result_


def streamed(y_true=Y, y_pred=P, start=0, ids=None, groups=None, sample_weight=None, **parameters):
    """The constructor, `update` and `result` in one call."""
    stream = skboot.BootstrapAccumulator(**{"metric": "accuracy", **FEW, **parameters})
    if groups is not None or ids is not None:
        start = None
    rows = {"start": start, "ids": ids, "groups": groups, "sample_weight": sample_weight}
    return stream.update(y_true, y_pred, **rows).result()


def curved(y_true=Y, y_pred=PROB, **parameters):
    """The same of a curve."""
    stream = skboot.BootstrapAccumulator("roc_auc", n_bins=4, **FEW)
    return stream.update(y_true, y_pred, start=0).curve(**parameters)


def splits(splitter):
    """The first splits, since a splitter makes as many as it is asked for."""
    return lambda groups=GROUPS, y=Y, **parameters: list(
        itertools.islice(splitter(**parameters).split(X, y, groups), 8)
    )


def searched():
    return GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2).fit(X, Y)


BASE = {
    "bootstrap_score": (skboot.bootstrap_score, {"y_true": Y, "y_pred": P, **FEW}),
    "bootstrap_score of groups": (
        skboot.bootstrap_score,
        {"y_true": Y, "y_pred": P, "metric": "f1", "groups": GROUPS, **FEW},
    ),
    "bootstrap_score of scores": (
        skboot.bootstrap_score,
        {"y_true": Y, "y_pred": PROB, "metric": "roc_auc", **FEW},
    ),
    "bootstrap_runs": (
        skboot.bootstrap_runs,
        {"y_true": Y, "y_preds": [P, Q, P], "metric": "accuracy", **FEW},
    ),
    "bootstrap_curve": (skboot.bootstrap_curve, {"y_true": Y, "y_score": PROB, **FEW}),
    "compare_systems": (skboot.compare_systems, {"y_true": Y, "y_preds": TWO, **FEW}),
    "compare_runs": (skboot.compare_runs, {"y_true": Y, "y_preds": RUNS, **FEW}),
    "search_score": (skboot.search_score, {"y_true": Y, "y_preds": TWO, **FEW}),
    "assert_not_worse": (
        testing.assert_not_worse,
        {"y_true": Y, "y_pred": P, "y_reference": P, "margin": 0.9, "inconclusive": "pass", **FEW},
    ),
    "BootstrapScorer": (fit, {}),
    "BootstrapScorer on a test set": (fit, {"X_test": X, "y_test": Y, "n_test_resamples": 9}),
    "compare_methods": (
        skboot.compare_methods,
        {
            **{"estimators": {"A": GaussianNB(), "B": GaussianNB(var_smoothing=1.0)}},
            **{"X": X, "y": Y, **SMALL},
        },
    ),
    "BootstrapAccumulator": (streamed, {}),
    "BootstrapAccumulator.curve": (curved, {}),
    "out_of_fold": (out_of_fold, {"search": None, "X": X, "y": Y}),
    "corrected_t": (
        corrected_t,
        {"scores_a": [0.8, 0.9], "n_train": 90, "n_test": 10},
    ),
    "compare_across": (
        skboot.compare_across,
        {"scores": SCORED, "greater_is_better": True, "n_resamples": 9, "random_state": 0},
    ),
    "plan_evaluation": (skboot.plan_evaluation, {"proportion": 0.9, "half_width": 0.02}),
    "prediction_error": (
        inference.prediction_error,
        {
            **{"losses": LOSSES, "weights": WEIGHTS, "resubstitution_losses": LOSSES[0]},
            "no_information_rate": 0.5,
        },
    ),
    "proportion_interval": (inference.proportion_interval, {"k": 3, "n": 5}),
    "tango_interval": (inference.tango_interval, {"first_only": 3, "second_only": 2, "n": 9}),
    "mcnemar_exact": (inference.mcnemar_exact, {"first_only": 3, "second_only": 2}),
    "delong_test": (inference.delong_test, {"y_positive": Y == 1, "first": PROB, "second": PROB}),
    "pass_at_k": (metrics.pass_at_k, {"n_correct": [1, 2], "n_samples": [4, 5], "k": 2}),
    "get_scorer": (metrics.get_scorer, {"scoring": "neg_brier"}),
    "bayes_decisions": (metrics.bayes_decisions, {"y_prob": PROB}),
    **{
        name: (getattr(metrics, name), {"y_true": Y, "y_pred": P})
        for name in ("expected_cost", "sensitivity", "specificity", "ppv", "npv")
    },
    **{
        name: (getattr(metrics, name), {"y_true": Y, "y_prob": PROB})
        for name in (
            *("cross_entropy", "brier_score", "calibration_slope", "calibration_intercept"),
            "expected_calibration_error",
        )
    },
    "net_benefit": (metrics.net_benefit, {"y_true": Y, "y_prob": PROB, "threshold": 0.2}),
    **{
        name: (getattr(metrics, name), {"y_true": Y, "y_score": PROB, **further})
        for name, further in {
            "equal_error_rate": {},
            "cllr": {},
            "false_positive_rate_at": {"false_negative_rate": 0.1},
            "sensitivity_at": {"specificity": 0.8},
            "specificity_at": {"sensitivity": 0.8},
            "actual_detection_cost": {"priors": [0.9, 0.1]},
            "minimum_detection_cost": {"priors": [0.9, 0.1]},
        }.items()
    },
    "BootstrapSplit": (splits(skboot.BootstrapSplit), {"n_splits": 2, "groups": None}),
    "GroupBootstrapSplit": (splits(skboot.GroupBootstrapSplit), {"n_splits": 2}),
    "StratifiedBootstrapSplit": (
        splits(skboot.StratifiedBootstrapSplit),
        {"n_splits": 2, "groups": None},
    ),
    "BootstrapTestSplit": (splits(skboot.BootstrapTestSplit), {"cv": 3, "n_resamples": 2}),
    "SeedSplit": (splits(skboot.SeedSplit), {"n_seeds": 2, "cv": 3}),
}
FURTHER = {
    "BootstrapScorer": skboot.BootstrapScorer,
    "BootstrapScorer on a test set": skboot.BootstrapScorer,
    "BootstrapAccumulator": skboot.BootstrapAccumulator,
    "BootstrapAccumulator.curve": skboot.BootstrapAccumulator.curve,
    "BootstrapSplit": skboot.BootstrapSplit,
    "GroupBootstrapSplit": skboot.GroupBootstrapSplit,
    "StratifiedBootstrapSplit": skboot.StratifiedBootstrapSplit,
    "BootstrapTestSplit": skboot.BootstrapTestSplit,
    "SeedSplit": skboot.SeedSplit,
}
# Arguments that are looked at by scikit-learn or by the user's own code, and `memory`, which would
# write into folders of any name.
LEFT_OUT = {"memory", "estimator", "self", "parameters", "params", "verbose", "n_jobs"}


# Whose data scikit-learn looks at before us, in its own words.
SKLEARN_LOOKS_FIRST = (
    *("BootstrapScorer", "compare_methods", "out_of_fold", "BootstrapSplit", "BootstrapTestSplit"),
    *("GroupBootstrapSplit", "StratifiedBootstrapSplit", "SeedSplit"),
)
OWN = (
    "^Found|^Input|^Expected|This BootstrapScorer requires y|n_splits|unpack|least populated"
    "|^y should be|has no len|0-d array"
)


class Uncomparable:
    """An object that nothing can be asked of."""

    def __eq__(self, other):
        raise RuntimeError(UNCOMPARABLE)

    __hash__ = None

    def __repr__(self):
        return "Uncomparable()"


class Lengthless:
    def __len__(self):
        raise TypeError("no length")


def junk(rng):
    """Anything, and how it is written."""
    n = N
    makers = {
        "None": lambda: None,
        "True": lambda: True,
        "0": lambda: 0,
        "1": lambda: 1,
        "2": lambda: 2,
        "3": lambda: 3,
        "-1": lambda: -1,
        "10**30": lambda: 10**30,
        "0.0": lambda: 0.0,
        "-0.0": lambda: -0.0,
        "0.5": lambda: 0.5,
        "1.0": lambda: 1.0,
        "2.0": lambda: 2.0,
        "1.5": lambda: 1.5,
        "1e300": lambda: 1e300,
        "NaN": lambda: float("nan"),
        "inf": lambda: float("inf"),
        "-inf": lambda: float("-inf"),
        "1j": lambda: 1j,
        "float32": lambda: np.float32(0.5),
        "float16": lambda: np.float16(0.5),
        "longdouble": lambda: np.longdouble(0.5),
        "int8": lambda: np.int8(3),
        "uint64": lambda: np.uint64(3),
        "bool_": lambda: np.bool_(True),
        "0-d array": lambda: np.array(0.5),
        "0-d int": lambda: np.array(3),
        "Decimal": lambda: decimal.Decimal("0.5"),
        "Fraction": lambda: fractions.Fraction(1, 2),
        "text": lambda: "text",
        "empty text": lambda: "",
        "text of a number": lambda: "3",
        "nul": lambda: "\0",
        "bytes": lambda: b"accuracy",
        "str_": lambda: np.str_("accuracy"),
        "accuracy": lambda: "accuracy",
        "roc_auc": lambda: "roc_auc",
        "auto": lambda: "auto",
        "percentile": lambda: "percentile",
        "bca": lambda: "bca",
        "mean": lambda: "mean",
        "path": lambda: pathlib.Path("nowhere"),
        "date": lambda: datetime.date(2020, 1, 1),
        "empty list": lambda: [],
        "list of 1": lambda: [1],
        "list of text": lambda: ["A", "B"],
        "nested list": lambda: [[0, 1], [1, 0]],
        "ragged": lambda: [[0], [1, 2]],
        "deep": lambda: np.zeros((2, 2, 2, 2)),
        "empty dict": lambda: {},
        "dict": lambda: {"A": 1, "B": 2},
        "dict of columns": lambda: {"A": P, "B": Q},
        "set": lambda: {1, 2},
        "generator": lambda: (k for k in range(n)),
        "iterator": lambda: iter([1, 2]),
        "range": lambda: range(n),
        "slice": lambda: slice(3),
        "a type": lambda: dict,
        "a function": lambda: len,
        "a lambda": lambda: lambda *a, **k: 0.5,
        "a module": lambda: np,
        "an object": lambda: object(),
        "uncomparable": lambda: Uncomparable(),
        "lengthless": lambda: Lengthless(),
        "an exception": lambda: ValueError("x"),
        "NotImplemented": lambda: NotImplemented,
        "Ellipsis": lambda: ...,
        "column of ones": lambda: np.ones(n),
        "column of zeros": lambda: np.zeros(n, dtype=int),
        "column of text": lambda: np.array(["a", "b"] * (n // 2)),
        "column of NaN": lambda: np.full(n, np.nan),
        "column of huge": lambda: np.full(n, 1e300),
        "column of own": lambda: np.arange(n),
        "column of pairs": lambda: [(k, k % 3) for k in range(n)],
        "column of objects": lambda: [object() for _ in range(n)],
        "column of uncomparables": lambda: [Uncomparable() for _ in range(n)],
        "column of lists": lambda: [[k] for k in range(n)],
        "column of pandas NA": lambda: np.array([None] * n, dtype=object),
        "table": lambda: np.ones((n, 3)),
        "table of probabilities": lambda: np.column_stack((1 - PROB, PROB)),
        "transposed": lambda: np.ones((2, n)),
        "records": lambda: np.zeros(n, dtype=[("a", int)]),
        "short column": lambda: Y[:-1],
        "one row": lambda: Y[:1],
        "an estimator": lambda: GaussianNB(),
        "seed": lambda: np.random.SeedSequence(1),
        "generator of numpy": lambda: np.random.default_rng(1),
    }
    name = str(rng.choice(list(makers)))
    return name, makers[name]()


def arguments_of(name):
    function, given = BASE[name]
    found = dict.fromkeys(given)
    for one in (function, FURTHER.get(name)):
        if one is not None:
            found |= dict.fromkeys(inspect.signature(one).parameters)
    return sorted(set(found) - LEFT_OUT - {"options"})


def of_options(rng, folder):
    name = str(rng.choice(list(BASE)))
    function, given = BASE[name]
    if name == "out_of_fold":
        given = {**given, "search": searched()}
    argument = str(rng.choice(arguments_of(name)))
    what, value = junk(rng)
    arguments = {**given, argument: value}
    text = f"{name}: {argument}={what}"

    def call():
        try:
            return function(**arguments)
        except AssertionError as error:
            # What `assert_not_worse` is for.
            if name != "assert_not_worse":
                raise
            raise ValueError(f"The 'y_pred' parameter of x must pass. Got {error}.") from error

    if argument == "scoring" and callable(value):
        # What the user's own function raises is the user's.
        return Case(text, call, SOUND, own_words=".*")
    looks_first = name.startswith(SKLEARN_LOOKS_FIRST) and argument in ("X", "y", "groups", "cv")
    return Case(text, call, SOUND, own_words=OWN if looks_first else "")


MAKERS = {of_options: 40}
