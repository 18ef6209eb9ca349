"""Random calls for the tests of identities: scores with random parameters, data, designs.

A score knows its metric as a user gives it, the plain function of scikit-learn or of
numpy on rows and weights, and the value of each row where it is a mean of them. A seed decides the
parameters, the rows and the design, so every run looks at the same calls; `any_seed` runs a test
on one seed in ``make test`` and on more in ``make slow``.
"""

import os
import warnings
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import xlogy
from sklearn import config_context
from sklearn import metrics as sk
from sklearn.linear_model import LinearRegression

import skboot
from skboot import metrics as own

N_RESAMPLES = 39
OPTIONS = {"n_resamples": N_RESAMPLES, "random_state": 0}


# More examples of each test in `make slow`; as many as said by this variable beside those. With 0
# those of `make test` alone are made.
N_SLOW = int(os.environ.get("SKBOOT_IDENTITY_SEEDS", "1"))


def _seeds(n):
    slow = [pytest.param(k, marks=pytest.mark.slow) for k in range(n, n + N_SLOW)]
    return pytest.mark.parametrize("seed", [*range(n), *slow])


any_seed, two_seeds, three_seeds = _seeds(1), _seeds(1), _seeds(2)


class Score(NamedTuple):
    """A metric with its parameters.

    Attributes
    ----------
    metric : str or callable
        As a user gives it.
    data : str
        Kind of rows, a key of `DATA`.
    plain : callable
        ``f(y_true, y_pred, sample_weight)`` with the same sign; None where the value of rows says
        all.
    values : callable or None
        ``f(y_true, y_pred)``, (n_samples,): what the score is the mean of.
    bounds : tuple of float
        Range that limits cannot leave, which the mean of the values does not know.
    weighs : bool
        Whether it takes weights of rows.
    """

    metric: Any
    data: str
    plain: Callable[..., Any]
    values: Callable[..., Any] | None = None
    bounds: tuple[float, float] = (-np.inf, np.inf)
    weighs: bool = True


# ------------------------------------------------------------------ rows


def _two(rng, n):
    share = rng.uniform(0.3, 0.6)
    truth = rng.permutation(np.arange(n) < round(share * n)).astype(int)
    wrong = np.where(truth == 1, rng.uniform(0.25, 0.35), rng.uniform(0.2, 0.3))
    return truth, np.where(rng.random(n) < wrong, 1 - truth, truth)


def _three(rng, n):
    truth = rng.permutation(np.repeat([0, 1, 2], [n - n // 2, n // 2 - n // 5, n // 5]))
    wrong = rng.random(n) < np.array([0.2, 0.3, 0.4])[truth]
    return truth, np.where(wrong, (truth + rng.integers(1, 3, n)) % 3, truth)


def _words(rng, n):
    """Labels whose order is not that of the alphabet of their first use."""
    truth, said = _three(rng, n)
    names = np.array(["wren", "ant", "mole"])
    return names[truth], names[said]


def _scores(rng, n):
    truth, _ = _two(rng, n)
    return truth, np.round(rng.normal(size=n) + rng.uniform(0.8, 1.2) * truth, 1)


def _probability(rng, n):
    truth, scores = _scores(rng, n)
    return truth, np.round(1 / (1 + np.exp(0.4 - scores)), 2).clip(0.01, 0.99)


def _columns(rng, n):
    truth, _ = _three(rng, n)
    logits = rng.normal(size=(n, 3)) + 1.2 * np.eye(3)[truth]
    return truth, np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


def _values(rng, n):
    truth = rng.normal(size=n) + 3
    return truth, truth + rng.uniform(0.3, 0.6) * rng.normal(size=n)


def _positive(rng, n):
    truth = rng.gamma(4.0, size=n) + 0.2
    return truth, truth * np.exp(rng.uniform(0.2, 0.4) * rng.normal(size=n))


def _sets(rng, n):
    truth = (rng.random((n, 4)) < [0.5, 0.4, 0.6, 0.5]).astype(int)
    return truth, np.where(rng.random((n, 4)) < 0.25, 1 - truth, truth)


def _tables(rng, n):
    truth = rng.normal(size=(n, 2)) * [1, 3]
    return truth, truth + rng.normal(size=(n, 2)) * [0.5, 1]


DATA = {
    "two": _two,
    "three": _three,
    "words": _words,
    "scores": _scores,
    "probability": _probability,
    "columns": _columns,
    "values": _values,
    "positive": _positive,
    "sets": _sets,
    "tables": _tables,
}


def rows_of(kind, rng, n=None):
    """(y_true, y_pred) of 40 to 60 rows."""
    return DATA[kind](rng, int(rng.integers(40, 61)) if n is None else n)


# ------------------------------------------------------------------ scores that are means


def _cost_matrix(rng, n_classes, which):
    """Costs: 0/1, 0/c, or any, whose rows and columns differ."""
    matrix = 1.0 - np.eye(n_classes)
    if which == "0/c":
        return matrix * float(rng.integers(2, 20))
    if which == "any":
        matrix *= rng.integers(1, 11, matrix.shape) / 2
        matrix[0, 1], matrix[1, 0] = 1.0, 6.5
    return matrix


def _cost(kind, which, negate=False, reverse=False):
    def score(rng):
        labels = {"two": [0, 1], "three": [0, 1, 2], "words": ["ant", "mole", "wren"]}[kind]
        matrix = _cost_matrix(rng, len(labels), which)
        options = {"costs": matrix.tolist()}
        if reverse:
            labels = labels[::-1]
            options["labels"] = labels

        def values(t, p):
            place = {label: k for k, label in enumerate(labels)}
            return np.array([matrix[place[a], place[b]] for a, b in zip(t, p, strict=True)])

        metric = partial(own.expected_cost, **options)
        return mean_of(metric, kind, values, bounds=(0.0, matrix.max()))

    return score


def mean_of(metric, kind, values, bounds=(-np.inf, np.inf)):
    """A score that is the mean of the values, which is also its plain form."""

    def plain(y_true, y_pred, sample_weight=None):
        return np.average(values(y_true, y_pred), weights=sample_weight)

    return Score(metric, kind, plain, values, bounds)


def _fixed(metric, kind, values, bounds=(-np.inf, np.inf)):
    return lambda rng: mean_of(metric, kind, values, bounds)


def _is_equal(t, p):
    return (t == p).astype(float)


def _is_wrong(t, p):
    return (t != p).astype(float)


def _squared(t, p):
    return (t - p) ** 2


def _relative(t, p):
    return np.abs(p - t) / np.abs(t)


def _squared_log(t, p):
    return (np.log1p(t) - np.log1p(p)) ** 2


def _pinball(kind="values"):
    def score(rng):
        alpha = float(np.round(rng.uniform(0.1, 0.9), 2))

        def values(t, p):
            return np.where(t > p, alpha * (t - p), (1 - alpha) * (p - t))

        metric = partial(sk.mean_pinball_loss, alpha=alpha)
        return mean_of(metric, kind, values, (0.0, np.inf))

    return score


def _poisson(t, p):
    return 2 * (xlogy(t, t / p) - t + p)


def _gamma(t, p):
    return 2 * (np.log(p / t) + t / p - 1)


def _tweedie(rng):
    power = float(rng.choice([-1.0, 0.0, 1.0, 1.3, 1.7, 2.0, 2.6, 3.0]))

    def values(t, p):
        return np.array(
            [
                sk.mean_tweedie_deviance(t[k : k + 1], p[k : k + 1], power=power)
                for k in range(len(t))
            ]
        )

    return mean_of(partial(sk.mean_tweedie_deviance, power=power), "positive", values, LOSS)


def _weighted_outputs(rng):
    metric = partial(sk.mean_absolute_error, multioutput=[0.3, 0.7])
    return mean_of(
        metric, "tables", lambda t, p: np.average(np.abs(t - p), axis=1, weights=[0.3, 0.7]), LOSS
    )


def _log_two(t, p):
    return -np.log(np.where(t == 1, p, 1 - p))


def _log_columns(t, p):
    return -np.log(p[np.arange(len(t)), t])


def _brier_columns(t, p):
    return ((np.eye(3)[t] - p) ** 2).sum(axis=1)


def _top(rng):
    return mean_of(
        "top_k_accuracy" if rng.random() < 0.5 else partial(sk.top_k_accuracy_score, k=2),
        "columns",
        lambda t, p: (np.argsort(-p, axis=1, kind="stable")[:, :2] == t[:, None]).any(axis=1) * 1.0,
        (0.0, 1.0),
    )


def _actual_cost(rng):
    """Decisions at the Bayes threshold of fixed costs; the priors are those of the rows' own."""
    threshold = float(np.round(rng.uniform(0.2, 0.8), 2))
    return mean_of(
        partial(own.net_benefit, threshold=threshold),
        "probability",
        lambda t, p: (p >= threshold) * np.where(t == 1, 1.0, -threshold / (1 - threshold)),
        (-threshold / (1 - threshold), 1.0),
    )


UNIT = (0.0, 1.0)
LOSS = (0.0, np.inf)
GAIN = (-np.inf, 0.0)
MEANS = {
    "accuracy": _fixed("accuracy", "three", _is_equal, UNIT),
    "accuracy of two": _fixed("accuracy", "two", _is_equal, UNIT),
    "accuracy of words": _fixed(sk.accuracy_score, "words", _is_equal, UNIT),
    "accuracy of columns": _fixed(
        "accuracy", "columns", lambda t, p: (p.argmax(axis=1) == t) * 1.0, UNIT
    ),
    "zero_one_loss": _fixed(sk.zero_one_loss, "two", _is_wrong, UNIT),
    "hamming_loss": _fixed(sk.hamming_loss, "words", _is_wrong, UNIT),
    "error": _fixed("expected_cost", "three", _is_wrong, UNIT),
    "neg error": _fixed("neg_expected_cost", "two", lambda t, p: -_is_wrong(t, p), (-1.0, 0.0)),
    "cost 0/1": _cost("two", "0/1"),
    "cost 0/1 of three": _cost("three", "0/1"),
    "cost 0/c": _cost("two", "0/c"),
    "cost 0/c of words": _cost("words", "0/c", reverse=True),
    "cost": _cost("two", "any"),
    "cost in other order": _cost("two", "any", reverse=True),
    "cost of three": _cost("three", "any"),
    "cost of words": _cost("words", "any", reverse=True),
    "mse": _fixed("mean_squared_error", "values", _squared, LOSS),
    "neg mse": _fixed("neg_mean_squared_error", "values", lambda t, p: -_squared(t, p), GAIN),
    "mae": _fixed(sk.mean_absolute_error, "values", lambda t, p: np.abs(t - p), LOSS),
    "neg mae": _fixed("neg_mean_absolute_error", "values", lambda t, p: -np.abs(t - p), GAIN),
    "mape": _fixed("mean_absolute_percentage_error", "positive", _relative, LOSS),
    "pinball": _pinball(),
    "msle": _fixed("mean_squared_log_error", "positive", _squared_log, LOSS),
    "poisson": _fixed(sk.mean_poisson_deviance, "positive", _poisson, LOSS),
    "neg poisson": _fixed(
        "neg_mean_poisson_deviance", "positive", lambda t, p: -_poisson(t, p), GAIN
    ),
    "gamma": _fixed(sk.mean_gamma_deviance, "positive", _gamma, LOSS),
    "tweedie": _tweedie,
    "log_loss": _fixed("log_loss", "probability", _log_two, LOSS),
    "neg log_loss": _fixed("neg_log_loss", "columns", lambda t, p: -_log_columns(t, p), GAIN),
    "cross_entropy": _fixed(own.cross_entropy, "probability", _log_two, LOSS),
    "cross_entropy of columns": _fixed("cross_entropy", "columns", _log_columns, LOSS),
    "brier": _fixed("brier_score", "probability", _squared, UNIT),
    "brier of columns": _fixed(own.brier_score, "columns", _brier_columns, (0.0, 2.0)),
    "neg brier": _fixed("neg_brier_score", "probability", lambda t, p: -_squared(t, p), (-1.0, 0)),
    "brier_score_loss": _fixed(sk.brier_score_loss, "probability", _squared, UNIT),
    "top_k": _top,
    "net_benefit": _actual_cost,
    "subset accuracy": _fixed(
        sk.accuracy_score, "sets", lambda t, p: (t == p).all(axis=1) * 1.0, UNIT
    ),
    "hamming of sets": _fixed(sk.hamming_loss, "sets", lambda t, p: (t != p).mean(axis=1), UNIT),
    "mse of outputs": _fixed(
        sk.mean_squared_error, "tables", lambda t, p: _squared(t, p).mean(axis=1), LOSS
    ),
    "mae of weighted outputs": _weighted_outputs,
}

# ------------------------------------------------------------------ other scores


def _plain(function, sign=1.0, **options):
    """The function itself on rows and weights, with its sign."""

    def plain(y_true, y_pred, sample_weight=None):
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        return sign * function(y_true, y_pred, **options, **more)

    return plain


def _function(function, kind, **draws):
    """The function with parameters that are drawn: a list is chosen from, a pair is a range."""

    def score(rng):
        options = {name: _drawn(what, rng) for name, what in draws.items()}
        return Score(partial(function, **options), kind, _plain(function, **options))

    return score


def _drawn(what, rng):
    if isinstance(what, list):
        return what[rng.integers(len(what))]
    return float(np.round(rng.uniform(*what), 2)) if isinstance(what, tuple) else what


def _median_error(y_true, y_pred, sample_weight=None):
    """Of rows that come as often as they weigh, in quarters: releases of scikit-learn differ."""
    errors = np.abs(y_true - y_pred)
    if sample_weight is not None:
        errors = np.repeat(errors, np.round(4 * sample_weight).astype(int))
    return np.median(errors)


def _named(name, kind, function, sign=1.0, **options):
    return lambda rng: Score(name, kind, _plain(function, sign, **options))


def _with_priors(kind, relative):
    def score(rng):
        n_classes = 2 if kind == "two" else 3
        options = {
            "costs": _cost_matrix(rng, n_classes, "any").tolist(),
            "priors": rng.dirichlet(np.full(n_classes, 5.0)).tolist(),
            "relative": relative,
        }
        return Score(
            partial(own.expected_cost, **options), kind, _plain(own.expected_cost, **options)
        )

    return score


OTHERS = {
    "balanced": _named("balanced_accuracy", "three", sk.balanced_accuracy_score),
    "adjusted": _function(sk.balanced_accuracy_score, "words", adjusted=True),
    "f1": _function(sk.f1_score, "two", pos_label=[0, 1]),
    "f1_macro": _named("f1_macro", "three", sk.f1_score, average="macro"),
    "f1_weighted": _named("f1_weighted", "words", sk.f1_score, average="weighted"),
    "fbeta": _function(sk.fbeta_score, "two", beta=(0.3, 3.0), pos_label=[0, 1]),
    "fbeta_macro": _function(sk.fbeta_score, "words", beta=(0.3, 3.0), average="macro"),
    "precision": _function(sk.precision_score, "two", pos_label=[0, 1]),
    "recall": _function(sk.recall_score, "two", pos_label=[0, 1]),
    "recall of some": _function(sk.recall_score, "three", labels=[[0, 2], [2, 1]], average="macro"),
    "jaccard": _function(sk.jaccard_score, "two", pos_label=[0, 1]),
    "specificity": _named("specificity", "two", own.specificity),
    "sensitivity": _named("sensitivity", "two", own.sensitivity),
    "ppv": _function(own.ppv, "two", pos_label=[0, 1]),
    "npv": _named("npv", "two", own.npv),
    "mcc": _named("matthews_corrcoef", "three", sk.matthews_corrcoef),
    "kappa": _function(sk.cohen_kappa_score, "three", weights=["linear", "quadratic", None]),
    "cost with priors": _with_priors("two", relative=False),
    "cost of three with priors": _with_priors("three", relative=True),
    "relative cost": _function(own.expected_cost, "three", relative=True),
    "relative entropy": _function(own.cross_entropy, "columns", relative=True),
    "brier of one": _function(sk.brier_score_loss, "probability", pos_label=[0, 1]),
    "brier with priors": _function(
        own.brier_score, "probability", priors=[[0.3, 0.7], [0.8, 0.2]], relative=[True, False]
    ),
    "auc": _named("roc_auc", "scores", sk.roc_auc_score),
    "partial auc": _function(sk.roc_auc_score, "scores", max_fpr=(0.2, 0.8)),
    "auc ovr": _function(
        sk.roc_auc_score, "columns", multi_class="ovr", average=["macro", "weighted"]
    ),
    "auc ovo": lambda rng: Score(
        "roc_auc_ovo",
        "columns",
        _plain(sk.roc_auc_score, multi_class="ovo"),
        weighs=False,
    ),
    "ap": _function(sk.average_precision_score, "scores", pos_label=[0, 1]),
    "eer": _named("equal_error_rate", "scores", own.equal_error_rate),
    "neg eer": _named("neg_equal_error_rate", "scores", own.equal_error_rate, -1.0),
    "fpr_at": _function(own.false_positive_rate_at, "scores", false_negative_rate=(0.1, 0.5)),
    "sensitivity_at": _function(own.sensitivity_at, "scores", specificity=(0.5, 0.9)),
    "specificity_at": _function(own.specificity_at, "scores", sensitivity=(0.5, 0.9)),
    "cllr": _function(own.cllr, "scores"),
    "min dcf": _function(
        own.minimum_detection_cost,
        "scores",
        costs=[[[0, 1], [4, 0]], [[0, 2], [1, 0]]],
        priors=[[0.3, 0.7]],
    ),
    "act dcf": _function(
        own.actual_detection_cost,
        "scores",
        costs=[[[0, 1], [4, 0]], [[0, 2], [1, 0]]],
        priors=[[0.3, 0.7]],
    ),
    "ece": _function(own.expected_calibration_error, "probability", n_bins=[4, 5]),
    "slope": _function(own.calibration_slope, "probability"),
    "intercept": _function(own.calibration_intercept, "probability"),
    "r2": _named("r2", "values", sk.r2_score),
    "r2 of outputs": _function(
        sk.r2_score, "tables", multioutput=["uniform_average", "variance_weighted"]
    ),
    "explained_variance": _named("explained_variance", "values", sk.explained_variance_score),
    "rmse": _named("root_mean_squared_error", "values", sk.root_mean_squared_error),
    "neg rmsle": _named(
        "neg_root_mean_squared_log_error", "positive", sk.root_mean_squared_log_error, -1.0
    ),
    "median": _named("median_absolute_error", "values", _median_error),
    "d2_log_loss": _function(sk.d2_log_loss_score, "columns"),
    "d2_pinball": _function(sk.d2_pinball_score, "values", alpha=(0.2, 0.8)),
    "f1 of sets": _function(
        sk.f1_score, "sets", average=["samples", "micro", "macro"], zero_division=0.0
    ),
}
ALL = {**MEANS, **OTHERS}
# Those that skboot has no fast path for are called on repeated rows, which costs 100 times as much:
# a few tests look at them.
PLAIN_CALLABLES = ("partial auc", "d2_pinball", "brier of one", "auc ovo")
FAST = [name for name in ALL if name not in PLAIN_CALLABLES]


# What a score is made of; an identity that holds for one of a kind hardly fails for another.
KINDS = {
    "0/1 rows": ["accuracy", "accuracy of two", "accuracy of words", "accuracy of columns"],
    "0/1 rows that are turned": ["zero_one_loss", "hamming_loss", "error", "neg error"],
    "costs of one value": ["cost 0/1", "cost 0/1 of three", "cost 0/c", "cost 0/c of words"],
    "costs": ["cost", "cost in other order", "cost of three", "cost of words", "net_benefit"],
    "values": [
        "mae",
        "mse",
        "pinball",
        "mape",
        "msle",
        "mse of outputs",
        "mae of weighted outputs",
    ],
    "turned values": ["neg mse", "neg mae", "neg poisson", "neg log_loss"],
    "losses without end": ["log_loss", "poisson", "gamma", "tweedie", "cross_entropy of columns"],
    "losses": ["brier", "brier of columns", "neg brier", "brier_score_loss", "cross_entropy"],
    "label sets": ["subset accuracy", "hamming of sets", "f1 of sets"],
    "places": ["top_k"],
    "costs of classes": ["cost with priors", "cost of three with priors", "relative cost"],
    "relative losses": ["relative entropy", "brier with priors", "d2_log_loss"],
    "shares of one class": ["recall", "specificity", "sensitivity"],
    "shares of decisions": ["precision", "ppv", "npv", "jaccard", "f1", "fbeta"],
    "averages over classes": ["balanced", "adjusted", "f1_macro", "f1_weighted", "recall of some"],
    "tables of classes": ["mcc", "kappa", "fbeta_macro"],
    "ranks": ["auc", "ap", "auc ovr"],
    "operating points": ["eer", "fpr_at", "sensitivity_at", "specificity_at", "neg eer"],
    "detection costs": ["min dcf", "act dcf", "cllr"],
    "calibration": ["ece", "slope", "intercept"],
    "shares of variance": ["r2", "r2 of outputs", "explained_variance"],
    "other errors": ["rmse", "neg rmsle", "median"],
}


def of_each_kind(names, turn, n=1):
    """So many names of each kind, others by turn; the rest in `make slow`."""
    kind_of = {name: kind for kind, own in KINDS.items() for name in own}
    own = {
        kind: [name for name in kind_of if kind_of[name] == kind and name in names]
        for kind in KINDS
    }
    fast = {
        those[(turn + k) % len(those)] for those in own.values() for k in range(min(n, len(those)))
    }
    if N_SLOW == 0:
        return [name for name in names if name in fast]
    slow = pytest.mark.slow
    return [name if name in fast else pytest.param(name, marks=slow) for name in names]


def each_of(names, n=1):
    """Run a test on so many names of each kind: other ones for each test."""

    def with_names(test):
        turn = zlib.crc32(test.__name__.encode())
        return pytest.mark.parametrize("name", of_each_kind(names, turn, n))(test)

    return with_names


def each_with(names, choices, n=1):
    """Run a test on one name of each kind with so many designs, others for the next; rest slow."""

    def with_both(test):
        turn, kind_of = zlib.crc32(test.__name__.encode()), {}
        for k, those in enumerate(KINDS.values()):
            kind_of |= dict.fromkeys(those, turn + 5 * k)
        fast = {name for name in of_each_kind(names, turn) if isinstance(name, str)}
        step, found = len(choices) / n, []
        for name in names:
            first = kind_of.get(name, turn)
            chosen = {choices[int(first + k * step) % len(choices)] for k in range(n)}
            for one in choices:
                if name in fast and one in chosen:
                    found.append((name, one))
                elif N_SLOW:
                    found.append(pytest.param(name, one, marks=pytest.mark.slow))
        return pytest.mark.parametrize(("name", "design"), found)(test)

    return with_both


def score_of(name, rng):
    return ALL[name](rng)


def labels_of_columns(call):
    """What ``labels=`` names beside columns of probabilities, of which a batch may lack some."""
    return np.unique(call.y_true) if call.score.data == "columns" else None


# ------------------------------------------------------------------ designs

DESIGNS = ("rows", "strata", "groups", "groups in strata")
WEIGHTED = (False, True)
PRODUCTS = tuple((design, weighted) for design in DESIGNS for weighted in WEIGHTED)


def product_of(name, turn):
    """A design, with or without weights: another one for each score, and for each turn."""
    return PRODUCTS[(list(ALL).index(name) * 3 + turn) % len(PRODUCTS)]


def one_of(choices, name, turn=0):
    """One of the choices: another one for each score, and for each turn."""
    return choices[(list(ALL).index(name) + turn) % len(choices)]


class Call(NamedTuple):
    """A score on rows: what a user gives to a public function."""

    score: Score
    y_true: Any
    y_pred: Any
    columns: dict[str, Any]
    rng: np.random.Generator

    @property
    def n(self):
        return len(self.y_pred)

    @property
    def options(self):
        """Arguments of a call beside the predictions."""
        return {"metric": self.score.metric, **self.columns}

    def resamples(self, b=N_RESAMPLES):
        """Row indices as the design would draw them."""
        return drawn_rows(self.columns, self.n, b, self.rng)

    def other(self):
        """Predictions of another system for the same rows."""
        return worse(self.score.data, self.y_pred, self.rng)

    def as_mean(self):
        """The same call with "mean" on the values of the rows."""
        return {**self.options, "metric": "mean"}

    def at(self, rows):
        """The value on these rows by the plain function, NaN where it has none."""
        weights = self.columns.get("sample_weight")
        return plain_value(self.score, self.y_true, self.y_pred, weights, rows)


def call_of(name, design="rows", weighted=False, seed=0, n=None):
    """The call of a score, a design and a seed: always the same."""
    rng = np.random.default_rng([seed, *name.encode(), *design.encode(), weighted])
    score = score_of(name, rng)
    y_true, y_pred = rows_of(score.data, rng, n)
    columns = columns_of(design, len(y_pred), rng)
    if weighted and score.weighs:
        columns["sample_weight"] = rng.integers(1, 9, len(y_pred)) / 4
    return Call(score, y_true, y_pred, columns, rng)


def columns_of(design, n, rng):
    """Groups of unequal sizes that lie in one stratum each; strata of unequal sizes."""
    groups = rng.permutation(
        np.concatenate([np.arange(n // 3), rng.integers(0, n // 3, n - n // 3)])
    )
    strata = np.where(rng.random(n) < 0.35, "south", "north")
    return {
        "rows": {},
        "strata": {"strata": strata},
        "groups": {"groups": groups},
        "groups in strata": {
            "groups": groups,
            "strata": np.where(groups % 3 == 0, "b", "a"),
        },
    }[design]


def freedom_by_hand(columns, n):
    """Degrees of freedom and inflation: units less strata; those of groups by their sizes."""
    groups = columns.get("groups", np.arange(n))
    strata = np.broadcast_to(columns.get("strata", 0), n)
    weights = np.asarray(columns.get("sample_weight", np.ones(n)), float)
    units, names = np.unique(groups), np.unique(strata)
    df = len(units) - len(names)
    if "groups" not in columns:
        return df, len(units) / df
    worth, factors, squares = 0.0, 0.0, 0.0
    for name in names:
        here = strata == name
        share = np.array([weights[here & (groups == one)].sum() for one in np.unique(groups[here])])
        size, k = share.sum(), len(share)
        worth += size**2 / np.sum(share**2)
        # What leaving out a group multiplies its influence by, over that of k equal ones.
        more = np.ones(k) if k == 1 else (size / (size - share)) * ((k - 1) / k)
        factors += np.sum(share**2 * more**2)
        squares += np.sum(share**2)
    return max(worth - len(names), 1), len(units) / df * factors / squares


def drawn_rows(columns, n, b, rng):
    """Row indices, (b, n), within strata; rows alone, since groups give other numbers of rows."""
    strata = columns.get("strata")
    if strata is None:
        return rng.integers(0, n, (b, n))
    found = np.empty((b, n), dtype=np.intp)
    for one in np.unique(strata):
        within = np.flatnonzero(strata == one)
        found[:, within] = rng.choice(within, (b, len(within)))
    return found


def worse(kind, y_pred, rng):
    """Predictions that are somewhat worse."""
    n = len(y_pred)
    if kind in ("two", "three", "words"):
        known = np.unique(y_pred)
        return np.where(rng.random(n) < 0.25, rng.choice(known, n), y_pred)
    if kind == "sets":
        return np.where(rng.random(y_pred.shape) < 0.15, 1 - y_pred, y_pred)
    if kind == "probability":
        return np.round(0.6 * y_pred + 0.4 * rng.random(n), 2).clip(0.01, 0.99)
    if kind == "columns":
        return 0.6 * y_pred + 0.4 * rng.dirichlet(np.ones(3), n)
    if kind == "positive":
        return y_pred * np.exp(0.2 * rng.normal(size=n))
    return y_pred + 0.3 * rng.normal(size=y_pred.shape)


# ------------------------------------------------------------------ estimators


class Kept(LinearRegression):
    """A regression that keeps what each model was trained on."""

    MADE = ()

    def fit(self, X, y):
        super().fit(X, y)
        Kept.MADE = (*Kept.MADE, (np.array(X), self))
        return self


# ------------------------------------------------------------------ calls and comparisons


def quiet(function, *arguments, **options):
    """The answer of a public function, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


def told(function, *arguments, **options):
    """The answer, its notes, and its warnings as they were raised."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        result = function(*arguments, **{"n_resamples": N_RESAMPLES, "random_state": 0, **options})
    return result, "\n".join(result.notes), "\n".join(str(one.message) for one in raised)


def unless(words, function, *arguments, **options):
    """The answer of a function; None where it is refused in these words."""
    try:
        return quiet(function, *arguments, **options)
    except ValueError as error:
        if words in str(error):
            return None
        raise


def scored(y_true, y_pred, **options):
    if "resamples" not in options:
        options = {**OPTIONS, **options}
    return quiet(skboot.bootstrap_score, y_true, y_pred, **options)


def compared(y_true, systems, **options):
    return quiet(skboot.compare_systems, y_true, systems, **{**OPTIONS, **options})


def plain_value(score, y_true, y_pred, weights=None, rows=slice(None)):
    # What scikit-learn checks of its parameters takes a fifth of the time of a score.
    with warnings.catch_warnings(), config_context(skip_parameter_validation=True):
        warnings.simplefilter("ignore")
        try:
            drawn = None if weights is None else weights[rows]
            return float(score.plain(y_true[rows], y_pred[rows], drawn))
        except ValueError:
            return np.nan


def close(found, expected, rtol=1e-9, atol=1e-11, what=""):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol, err_msg=str(what))


def spread_of(result):
    """Standard deviation of the defined replicates, whatever stands beside the interval."""
    drawn = result.bootstrap_distribution
    return np.std(drawn[np.isfinite(drawn)], ddof=1)


def varies_with_resamples(result):
    """Whether other resamples would give another interval: no closed form stands beside it."""
    return any(result.monte_carlo_error)


def same_error(one, other, rtol=1e-7, atol=1e-10, scale=1.0):
    """Standard errors agree beside intervals of one kind; of two kinds the replicates do.

    Beside an interval that uses no resamples stands the error in closed form.
    """
    alike = one.confidence_interval.method == other.confidence_interval.method
    errors = [r.standard_error if alike else spread_of(r) for r in (one, other)]
    close(errors[1], abs(scale) * errors[0], rtol, atol)


def same_interval(one, other, rtol=1e-7, atol=1e-9):
    close([*one], [*other], rtol, atol, f"{one.method} and {other.method}")


def means_of(call, y_pred=None):
    """Values whose mean the score is, 0 or larger where it turns a loss, and the sign to it."""
    values = call.score.values(call.y_true, call.y_pred if y_pred is None else y_pred)
    turned = call.score.bounds[1] == 0
    return (-values, -1.0) if turned else (values, 1.0)
