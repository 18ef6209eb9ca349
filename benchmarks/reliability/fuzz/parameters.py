"""Metric functions of scikit-learn with random parameters, on random data, weights and designs.

Every replicate on given resamples must be scikit-learn's number on the repeated rows, to 1e-9, or
undefined where that is; so must the estimate of every design, and of each subgroup on its rows.
Limits must be in order and inside of what the metric can be. `METRICS` says of each function which
data it takes, what its parameters may be, and its range.
"""

import inspect
import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn import metrics

import skboot

from .case import Case

N_RESAMPLES = 6
TOLERANCE = 1e-9
INFINITE = float("inf")
NAMES = ("y_true", "y_pred", "metric", "sample_weight", "labels", "interval")
LABELS = {
    "int": lambda k: k,
    "other int": lambda k: 2 * k - 1,
    "bool": lambda k: k > 0,
    "str": lambda k: "abcde"[k],
    "object": lambda k: "abcde"[k],
    "float": lambda k: float(k),
    "uint8": np.uint8,
}


class Rows(NamedTuple):
    """Data as scikit-learn takes them, and the labels that they may hold."""

    y_true: np.ndarray  # (n_samples,) or (n_samples, n_columns)
    y_pred: np.ndarray  # of the same, or (n_samples, n_classes)
    labels: np.ndarray | None = None

    def of(self, rows):
        return self._replace(y_true=self.y_true[rows], y_pred=self.y_pred[rows])


class Metric(NamedTuple):
    """How a function is tried.

    `data` makes rows of a size; `options` draws parameters for them; `bounds` are of the value.
    """

    function: Any
    data: Any
    options: Any
    bounds: Any


# ------------------------------------------------------------------ data


def _codes(rng, n, n_classes):
    """Codes of classes, at times very unequal, with classes that do not occur."""
    shares = rng.dirichlet(np.full(n_classes, rng.choice([0.3, 1.0, 20.0])))
    return rng.choice(n_classes, size=n, p=shares)


def _labelled(rng, *codes, n_classes):
    kinds = [kind for kind in LABELS if kind != "bool" or n_classes == 2]
    kind = str(rng.choice(kinds))
    names = [LABELS[kind](k) for k in range(n_classes)]
    known = np.array(names, dtype=object if kind == "object" else None)
    return [known[own] for own in codes], known


def classes(rng, n):
    n_classes = int(rng.choice([2, 2, 3, 5]))
    truth = _codes(rng, n, n_classes)
    error = float(rng.choice([0.0, 0.02, 0.2, 0.7]))
    decided = np.where(rng.random(n) < error, _codes(rng, n, n_classes), truth)
    (y_true, y_pred), labels = _labelled(rng, truth, decided, n_classes=n_classes)
    return Rows(y_true, y_pred, labels)


def _two(rng, n):
    truth = _codes(rng, n, 2)
    truth[: min(n, 2)] = np.arange(min(n, 2))
    return rng.permutation(truth)


def _with_ties(rng, values):
    return np.round(values, 1) if rng.random() < 0.4 else values


def scores(rng, n):
    truth = _two(rng, n)
    values = _with_ties(rng, rng.normal(size=n) + truth * rng.choice([0, 1, 4]))
    (y_true,), labels = _labelled(rng, truth, n_classes=2)
    return Rows(y_true, values * float(rng.choice([1, 1, 1e-12, 1e12])), labels)


def probabilities(rng, n):
    """Of two classes in one column or two, of more in a column for each."""
    n_classes = int(rng.choice([2, 2, 3, 4]))
    truth = _two(rng, n) if n_classes == 2 else _codes(rng, n, n_classes)
    truth[: min(n, n_classes)] = np.arange(n_classes)[:n]
    prob = rng.dirichlet(np.full(n_classes, 0.7), size=n)
    prob[np.arange(n), truth] += rng.choice([0, 0.5, 5])
    if rng.random() < 0.4:
        # Zeros and ones among them.
        prob = np.round(prob / prob.sum(axis=1, keepdims=True), 1)
        prob[:, 0] += prob.sum(axis=1) == 0
    prob /= prob.sum(axis=1, keepdims=True)
    (y_true,), labels = _labelled(rng, truth, n_classes=n_classes)
    one_column = n_classes == 2 and rng.random() < 0.6
    return Rows(y_true, prob[:, 1] if one_column else prob, labels)


def two_probabilities(rng, n):
    truth = _two(rng, n)
    prob = _with_ties(rng, np.clip(0.5 + 0.3 * (truth - 0.5) + rng.normal(0, 0.3, n), 0, 1))
    (y_true,), labels = _labelled(rng, truth, n_classes=2)
    return Rows(y_true, prob, labels)


def values(rng, n, positive=False):
    n_outputs = int(rng.choice([1, 1, 1, 3]))
    truth, error = rng.normal(size=(2, n, n_outputs))
    truth += rng.choice([0.0, 3.0])
    predicted = truth + error * float(rng.choice([0, 0.1, 1, 1e3]))
    if rng.random() < 0.3:
        truth, predicted = np.round(truth), np.round(predicted)
    if positive:
        truth, predicted = (np.abs(own) + 0.01 for own in (truth, predicted))
    size = float(rng.choice([1, 1, 1, 1e-12, 1e12]))
    columns = [size * (own[:, 0] if n_outputs == 1 else own) for own in (truth, predicted)]
    return Rows(*columns)


positives = partial(values, positive=True)


def one_output(rng, n, make=values):
    drawn = make(rng, n)
    return (
        drawn
        if drawn.y_true.ndim == 1
        else drawn._replace(y_true=drawn.y_true[:, 0], y_pred=drawn.y_pred[:, 0])
    )


one_positive = partial(one_output, make=positives)


def counts(rng, n):
    """Zeros among the truth, none among the predictions."""
    return Rows(rng.poisson(1.0, n).astype(float), rng.gamma(2.0, 0.5, n) + 0.05)


def _sets(rng, n):
    n_labels = int(rng.integers(2, 5))
    return (rng.random((n, n_labels)) < rng.random(n_labels)).astype(int)


def label_sets(rng, n):
    truth = _sets(rng, n)
    flips = rng.random(truth.shape) < rng.choice([0, 0.1, 0.5])
    return Rows(truth, np.where(flips, 1 - truth, truth), np.arange(truth.shape[1]))


def label_scores(rng, n):
    truth = _sets(rng, n)
    return Rows(truth, _with_ties(rng, truth + rng.normal(size=truth.shape)))


def relevances(rng, n):
    truth = rng.integers(0, 4, size=(n, int(rng.integers(2, 6))))
    return Rows(truth, _with_ties(rng, truth + rng.normal(size=truth.shape)))


def decisions(rng, n):
    """Values of a decision function: of two classes one column, of more a column for each."""
    drawn = probabilities(rng, n)
    prob = drawn.y_pred[:, 1] if len(drawn.labels) == 2 and drawn.y_pred.ndim == 2 else drawn.y_pred
    return drawn._replace(y_pred=np.round(6 * prob - 3, 2))


# ------------------------------------------------------------------ parameters


def drawn_from(**known):
    """Parameters of which each is left out at times."""

    def options(rng, rows):
        return {
            name: choices[rng.integers(len(choices))]
            for name, choices in known.items()
            if rng.random() < 0.6
        }

    return options


def _averaged(rng, rows, **known):
    options = drawn_from(zero_division=[0, 1, np.nan])(rng, rows)
    options |= {name: choices[rng.integers(len(choices))] for name, choices in known.items()}
    if rows.y_true.ndim == 2:
        options["average"] = str(rng.choice(["micro", "macro", "weighted", "samples"]))
    elif len(rows.labels) == 2 and rng.random() < 0.6:
        if rng.random() < 0.8:
            options["pos_label"] = rows.labels[rng.integers(2)]
    else:
        options["average"] = str(rng.choice(["micro", "macro", "weighted"]))
        if rng.random() < 0.3:
            options["labels"] = _some(rng, rows.labels)
    return options


def averaged(**known):
    return partial(_averaged, **known)


def _jaccard(rng, rows):
    options = _averaged(rng, rows)
    if np.isnan(options.get("zero_division", 0)):
        del options["zero_division"]
    return options


def _some(rng, labels):
    size = int(rng.integers(1, len(labels) + 1))
    return list(rng.choice(labels, size=size, replace=False))


def of_kappa(rng, rows):
    options = drawn_from(weights=[None, "linear", "quadratic"])(rng, rows)
    if rng.random() < 0.3:
        options["labels"] = _some(rng, rows.labels)
    return options


def of_positive_class(**known):
    def options(rng, rows):
        drawn = drawn_from(**known)(rng, rows)
        if len(rows.labels) == 2 and rng.random() < 0.7:
            drawn["pos_label"] = rows.labels[rng.integers(2)]
        return drawn

    return options


def of_labels(**known):
    """The labels of the columns, at times."""

    def options(rng, rows):
        drawn = drawn_from(**known)(rng, rows)
        if rng.random() < 0.4:
            drawn["labels"] = list(rows.labels)
        return drawn

    return options


def of_areas(rng, rows):
    if rows.y_true.ndim == 2:
        return drawn_from(average=["micro", "macro", "weighted", "samples"])(rng, rows)
    if rows.y_pred.ndim == 1:
        return drawn_from(max_fpr=[0.1, 0.5, 1.0])(rng, rows)
    if rows.y_pred.shape[1] == 2:
        return {}
    kind, average = str(rng.choice(["ovr", "ovo"])), str(rng.choice(["macro", "weighted"]))
    return {"multi_class": kind, "average": average}


def of_precision(rng, rows):
    if rows.y_true.ndim == 2:
        return drawn_from(average=["micro", "macro", "weighted", "samples"])(rng, rows)
    if rows.y_pred.ndim == 2:
        return drawn_from(average=["macro", "weighted"])(rng, rows)
    return of_positive_class()(rng, rows)


def outputs(**known):
    """Parameters, and how several outputs are averaged."""

    def options(rng, rows):
        drawn = drawn_from(**known)(rng, rows)
        if rows.y_true.ndim == 2 and rng.random() < 0.7:
            shares = np.round(rng.dirichlet(np.ones(rows.y_true.shape[1])), 3)
            drawn["multioutput"] = shares if rng.random() < 0.4 else "uniform_average"
        return drawn

    return options


def coefficients(rng, rows):
    drawn = outputs(force_finite=[True, False])(rng, rows)
    if rows.y_true.ndim == 2 and rng.random() < 0.3:
        drawn["multioutput"] = "variance_weighted"
    return drawn


# ------------------------------------------------------------------ metrics

UNIT, SIGNED, LOSS, GAIN = (0, 1), (-1, 1), (0, INFINITE), (-INFINITE, 1)
NO_OPTIONS = drawn_from()
RATIOS = ("precision_score", "recall_score", "f1_score")
COUNTED = {"normalize": [True, False]}
AVERAGE_METHODS = {"average_method": ["arithmetic", "geometric", "max", "min"]}


def _share(options):
    return (0, 1) if options.get("normalize", True) else (0, INFINITE)


def _metric(name, data, options=NO_OPTIONS, bounds=LOSS):
    return Metric(getattr(metrics, name, None), data, options, bounds)


LABEL_METRICS = (
    _metric("accuracy_score", classes, drawn_from(**COUNTED), _share),
    _metric("zero_one_loss", classes, drawn_from(**COUNTED), _share),
    _metric("hamming_loss", classes, NO_OPTIONS, UNIT),
    _metric("balanced_accuracy_score", classes, drawn_from(adjusted=[False, True]), SIGNED),
    _metric("matthews_corrcoef", classes, NO_OPTIONS, SIGNED),
    _metric("cohen_kappa_score", classes, of_kappa, SIGNED),
    *(_metric(name, classes, averaged(), UNIT) for name in RATIOS),
    _metric("fbeta_score", classes, averaged(beta=[0, 0.5, 2, INFINITE]), UNIT),
    _metric("jaccard_score", classes, _jaccard, UNIT),
)
CLUSTER_METRICS = (
    _metric("rand_score", classes, NO_OPTIONS, UNIT),
    _metric("adjusted_rand_score", classes, NO_OPTIONS, SIGNED),
    _metric("fowlkes_mallows_score", classes, NO_OPTIONS, UNIT),
    _metric("mutual_info_score", classes),
    _metric("normalized_mutual_info_score", classes, drawn_from(**AVERAGE_METHODS), UNIT),
    _metric("adjusted_mutual_info_score", classes, drawn_from(**AVERAGE_METHODS), GAIN),
    _metric("homogeneity_score", classes, NO_OPTIONS, UNIT),
    _metric("completeness_score", classes, NO_OPTIONS, UNIT),
    _metric("v_measure_score", classes, drawn_from(beta=[0.3, 2.0]), UNIT),
)
SCORE_METRICS = (
    _metric("roc_auc_score", scores, of_areas, UNIT),
    _metric("average_precision_score", scores, of_precision, UNIT),
    _metric("top_k_accuracy_score", scores, of_labels(k=[1]), UNIT),
    _metric("hinge_loss", decisions, of_labels()),
)
PROBABILITY_METRICS = (
    _metric("roc_auc_score", probabilities, of_areas, UNIT),
    _metric("average_precision_score", probabilities, of_precision, UNIT),
    _metric("log_loss", probabilities, of_labels(**COUNTED)),
    _metric("brier_score_loss", probabilities, of_labels(scale_by_half=[True, False]), (0, 2)),
    _metric("brier_score_loss", two_probabilities, of_positive_class(), UNIT),
    _metric("d2_log_loss_score", probabilities, of_labels(), GAIN),
    _metric("d2_brier_score", probabilities, of_labels(), GAIN),
    _metric("top_k_accuracy_score", probabilities, of_labels(k=[1, 2, 3], **COUNTED), _share),
)
VALUE_METRICS = (
    _metric("mean_squared_error", values, outputs()),
    _metric("root_mean_squared_error", values, outputs()),
    _metric("mean_absolute_error", values, outputs()),
    _metric("median_absolute_error", values, outputs()),
    _metric("mean_absolute_percentage_error", positives, outputs()),
    _metric("mean_squared_log_error", positives, outputs()),
    _metric("root_mean_squared_log_error", positives, outputs()),
    _metric("mean_pinball_loss", values, outputs(alpha=[0, 0.1, 0.9, 1])),
    _metric("max_error", one_output),
    _metric("r2_score", values, coefficients, GAIN),
    _metric("explained_variance_score", values, coefficients, GAIN),
    _metric("d2_absolute_error_score", values, outputs(), GAIN),
    _metric("d2_pinball_score", values, outputs(alpha=[0.1, 0.9]), GAIN),
    _metric("mean_tweedie_deviance", one_positive, drawn_from(power=[-1, 0, 1, 1.5, 2, 3])),
    _metric("mean_tweedie_deviance", counts, drawn_from(power=[0, 1, 1.5])),
    _metric("mean_poisson_deviance", counts),
    _metric("mean_gamma_deviance", one_positive),
    _metric("d2_tweedie_score", one_positive, drawn_from(power=[0, 1, 1.5, 2, 3]), GAIN),
)
SET_METRICS = (
    _metric("accuracy_score", label_sets, drawn_from(**COUNTED), _share),
    _metric("zero_one_loss", label_sets, drawn_from(**COUNTED), _share),
    _metric("hamming_loss", label_sets, NO_OPTIONS, UNIT),
    *(_metric(name, label_sets, averaged(), UNIT) for name in RATIOS),
    _metric("fbeta_score", label_sets, averaged(beta=[0.5, 2]), UNIT),
    _metric("jaccard_score", label_sets, _jaccard, UNIT),
    _metric("roc_auc_score", label_scores, of_areas, UNIT),
    _metric("average_precision_score", label_scores, of_precision, UNIT),
    _metric("coverage_error", label_scores),
    _metric("label_ranking_average_precision_score", label_scores, NO_OPTIONS, UNIT),
    _metric("label_ranking_loss", label_scores, NO_OPTIONS, UNIT),
    _metric("ndcg_score", relevances, drawn_from(k=[1, 2, 9], ignore_ties=[True, False]), UNIT),
    # Relevances below 0 have gains below 0.
    _metric("dcg_score", relevances, drawn_from(k=[1, 2], log_base=[2, 3]), (-INFINITE, INFINITE)),
)


# ------------------------------------------------------------------ scikit-learn's number

COEFFICIENTS = ("r2_score", "explained_variance_score")
OF_COLUMNS = (probabilities, two_probabilities, decisions, scores)


def reference(metric, options, whole):
    """The function of rows and their weights; NaN where it is undefined or infinite."""
    name, fixed = metric.function.__name__, dict(options)
    known = np.unique(whole.y_true)
    n_columns = 2 if whole.y_pred.ndim == 1 else whole.y_pred.shape[1]
    of_two = metric.data in OF_COLUMNS and len(known) == n_columns == 2
    if metric.data in OF_COLUMNS and "labels" in _parameters(metric.function):
        # The columns are those of the whole test set, whatever classes a resample has.
        fixed.setdefault("labels", known)
    if of_two and name in ("brier_score_loss", "d2_brier_score"):
        # scikit-learn asks for the positive class of text; the greater label has the column.
        fixed = {"pos_label": known[1], **fixed}
        del fixed["labels"]

    def value(rows, weights):
        y_true, y_pred = rows.y_true, rows.y_pred
        weighing = y_true if weights is None else y_true[weights > 0]
        if not _is_defined(name, options, weighing, whole):
            return np.nan
        if name in COEFFICIENTS and not isinstance(options.get("multioutput"), np.ndarray):
            y_true, y_pred = exactly_constant(name, y_true, y_pred, weighing)
        if of_two and y_pred.ndim == 2:
            y_pred = y_pred[:, 1]
        if name == "top_k_accuracy_score" and y_pred.ndim == 1:
            # scikit-learn's threshold, of the whole test set.
            is_prob = whole.y_pred.min() >= 0 and whole.y_pred.max() <= 1
            y_pred = np.where(y_pred > (0.5 if is_prob else 0.0), 2.0, -1.0)
        if name == "hinge_loss":
            # scikit-learn's two classes are those of the rows: rows of weight 0 hold both.
            of_rows = np.ones(len(y_true)) if weights is None else weights
            weights = np.concatenate([of_rows, np.zeros(len(known))])
            y_true = np.concatenate([y_true, known])
            y_pred = np.concatenate([y_pred, np.zeros((len(known), *y_pred.shape[1:]))])
        given = {} if weights is None else {"sample_weight": weights}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                found = float(metric.function(y_true, y_pred, **fixed, **given))
            except (ValueError, ZeroDivisionError, IndexError):
                return np.nan
        return found if np.isfinite(found) else np.nan

    return value


def _is_defined(name, options, y_true, whole):
    """Where scikit-learn gives a number that is none: no positives, or a single class."""
    if name in ("d2_log_loss_score", "d2_brier_score"):
        return len(np.unique(y_true)) > 1
    if name == "average_precision_score":
        if y_true.ndim == 2:
            return True
        known = np.unique(whole.y_true)
        if len(known) == 2:
            return options.get("pos_label", 1) in y_true.tolist()
        return len(np.unique(y_true)) == len(known)
    return True


def exactly_constant(name, y_true, y_pred, weighing):
    """Columns of constant truth or residuals, moved to where their mean is exactly themselves.

    scikit-learn's mean of equal numbers may be a rounding off, by whose square it then divides.
    """
    columns = []
    for truth, guess, weighed in zip(
        *(own.reshape(len(own), -1).T for own in (y_true, y_pred, weighing)), strict=True
    ):
        residual, moved = truth - guess, truth
        if np.ptp(weighed) == 0:
            moved = np.zeros(len(truth))
            residual = np.sign(residual) if name == "r2_score" else residual - residual[0]
        if name == "explained_variance_score" and np.ptp(residual) == 0:
            residual = 0 * residual
        columns.append((moved, moved - residual))
    sides = zip(*columns, strict=True)
    return [np.column_stack(side).reshape(y_true.shape) for side in sides]


def _parameters(function):
    return inspect.signature(function).parameters


# ------------------------------------------------------------------ calls


def tried(known, rng, folder):
    """A case of one of the metrics that are known."""
    # An older scikit-learn lacks some.
    known = [metric for metric in known if metric.function is not None]
    metric = known[rng.integers(len(known))]
    n = int(rng.choice([2, 3, 6, 15, 40, 90], p=[0.05, 0.05, 0.2, 0.35, 0.3, 0.05]))
    rows, accepted = metric.data(rng, n), _parameters(metric.function)
    options = {key: own for key, own in metric.options(rng, rows).items() if key in accepted}
    weights = _weights(rng, n) if "sample_weight" in accepted else None
    value = reference(metric, options, rows)
    way = WAYS[rng.choice(len(WAYS), p=SHARES)]
    given = {"metric": partial(metric.function, **options) if options else metric.function}
    if weights is not None:
        given["sample_weight"] = weights
    call, expected, units = way(rows, weights, value, given, rng)

    def judged_call():
        found, results = call()
        for result in results:
            check_sound(result, metric, options)
        return found

    weighted = " with weights" if weights is not None else ""
    text = f"{metric.function.__name__}({options}), {n} rows{weighted}, {units}"
    # bca needs the metric without each unit.
    may_refuse = n < 3 or "bca" in units or bool(np.isnan(np.ravel(expected)).any())
    inputs = (rows.y_true, rows.y_pred, *([] if weights is None else [weights]))
    # scikit-learn rounds sums of weights, also where they cancel.
    rounding = max(1e-9, 4 * np.finfo(float).eps * (n if weights is None else weights.sum()))
    return Case(text, judged_call, expected, NAMES, inputs, may_refuse, "", TOLERANCE, rounding)


def _weights(rng, n):
    """None mostly; counts with zeros, or any size."""
    kind = rng.random()
    if kind < 0.6:
        return None
    if kind < 0.8:
        weights = rng.integers(0, 4, n).astype(float)
        weights[rng.integers(n)] = 1.0
        return weights
    return (rng.random(n) + 0.05) * float(rng.choice([1, 1e-6, 1e6]))


def by_resamples(rows, weights, value, given, rng):
    n = len(rows.y_true)
    drawn = rng.integers(0, n, size=(N_RESAMPLES, n))
    # One row repeated, and no row twice.
    drawn[0] = drawn[0, 0]
    drawn[1] = rng.permutation(n)
    if weights is not None:
        # Where nothing weighs anything scikit-learn divides by zero, or makes up a number.
        drawn[weights[drawn].sum(axis=1) == 0] = np.arange(n)
    further = _units(rng, n) if rng.random() < 0.3 else {}
    expected = [value(rows, weights)]
    expected += [value(rows.of(one), None if weights is None else weights[one]) for one in drawn]

    def call():
        result = skboot.bootstrap_score(
            rows.y_true, rows.y_pred, resamples=drawn, **given, **further
        )
        return [result.estimate, *result.bootstrap_distribution], [result]

    return call, expected, " and ".join(["resamples", *further])


def _units(rng, n):
    groups = rng.integers(0, max(2, n // 3), n)
    groups[:2] = 0, 1
    return {"groups": groups}


def by_design(rows, weights, value, given, rng):
    n = len(rows.y_true)
    kind = str(rng.choice(["rows", "strata", "groups", "groups in strata"]))
    further = _units(rng, n) if "groups" in kind else {}
    if "strata" in kind:
        further["strata"] = further.get("groups", np.arange(n)) % 2
    interval = str(rng.choice(["auto", "auto", "percentile", "bca", "basic", "normal", "expanded"]))

    def call():
        result = skboot.bootstrap_score(
            rows.y_true, rows.y_pred, n_resamples=19, interval=interval, random_state=0,
            **given, **further,
        )  # fmt: skip
        return result.estimate, [result]

    return call, value(rows, weights), f"{kind}, {interval}"


def by_subgroups(rows, weights, value, given, rng):
    n = len(rows.y_true)
    by = np.array(["x", "y"])[rng.permutation(np.arange(n) % 2)]
    expected = []
    for name in "xy":
        own = np.flatnonzero(by == name)
        if weights is not None and not weights[own].any():
            weights[own[0]] = 1.0
        expected.append(value(rows.of(own), None if weights is None else weights[own]))

    def call():
        found = skboot.bootstrap_score(
            rows.y_true, rows.y_pred, by=by, n_resamples=19, random_state=0, **given
        )
        return [found[name].estimate for name in "xy"], [found["x"], found["y"]]

    return call, expected, "two subgroups"


WAYS, SHARES = (by_resamples, by_design, by_subgroups), (0.5, 0.35, 0.15)


def check_sound(result, metric, options):
    """Limits in order and inside of what the metric can be; nothing undefined without a count."""
    low, high = result.confidence_interval
    assert not low > high, f"limits {low} and {high} are in the wrong order"
    bounds = metric.bounds
    least, most = bounds(options) if callable(bounds) else bounds
    # Intervals that were asked for by name may leave the range; an estimate is as scikit-learn
    # rounds it.
    for number in (low, high) if result._automatic else ():
        rounding = TOLERANCE * max(1.0, abs(result.estimate))
        assert not number < least - rounding, f"{number} is below {least}, the least there is"
        assert not number > most + rounding, f"{number} is above {most}, the most there is"
    assert result.notes or not np.isnan([low, high]).any(), "no limits, without a word"
    assert result.n_undefined == np.isnan(result.bootstrap_distribution).sum()


# ------------------------------------------------------------------ makers


def of_label_metrics(rng, folder):
    return tried(LABEL_METRICS, rng, folder)


def of_cluster_metrics(rng, folder):
    return tried(CLUSTER_METRICS, rng, folder)


def of_score_metrics(rng, folder):
    return tried(SCORE_METRICS, rng, folder)


def of_probability_metrics(rng, folder):
    return tried(PROBABILITY_METRICS, rng, folder)


def of_value_metrics(rng, folder):
    return tried(VALUE_METRICS, rng, folder)


def of_set_metrics(rng, folder):
    return tried(SET_METRICS, rng, folder)


MAKERS = {
    of_label_metrics: 24,
    of_cluster_metrics: 10,
    of_score_metrics: 12,
    of_probability_metrics: 16,
    of_value_metrics: 24,
    of_set_metrics: 14,
}
