"""Calls of the functions that take predictions; what is expected comes from scikit-learn.

Where the resamples are given, every replicate must be the metric of scikit-learn on the repeated
rows, NaN where scikit-learn has none.
"""

import operator
import warnings
from functools import partial

import numpy as np
from sklearn import metrics

import skboot

from . import columns
from .case import REFUSAL, Case

N_RESAMPLES = 5
SIZES = (1, 2, 3, 10, 40)
LABEL_METRICS = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "f1_macro": lambda t, p: metrics.f1_score(t, p, average="macro"),
    "f1_weighted": lambda t, p: metrics.f1_score(t, p, average="weighted"),
    "recall_micro": lambda t, p: metrics.recall_score(t, p, average="micro"),
    "matthews_corrcoef": metrics.matthews_corrcoef,
    "adjusted_rand_score": metrics.adjusted_rand_score,
}


def explained_variance(truth, predicted):
    """scikit-learn's, but for one row that is repeated: rounding leaves it 0 or 1."""
    if all((column == column[0]).all() for column in (truth, predicted)):
        return 1.0
    return metrics.explained_variance_score(truth, predicted)


VALUE_METRICS = {
    "r2": metrics.r2_score,
    "explained_variance": explained_variance,
    "neg_mean_squared_error": lambda t, p: -metrics.mean_squared_error(t, p),
    "neg_root_mean_squared_error": lambda t, p: -metrics.root_mean_squared_error(t, p),
    "neg_mean_absolute_error": lambda t, p: -metrics.mean_absolute_error(t, p),
    "neg_median_absolute_error": lambda t, p: -metrics.median_absolute_error(t, p),
    "neg_max_error": lambda t, p: -metrics.max_error(t, p),
}
SCORE_METRICS = {
    "roc_auc": metrics.roc_auc_score,
    # scikit-learn's 0 without positives stands for no value.
    "average_precision": lambda t, p: metrics.average_precision_score(t, p) if t.any() else np.nan,
}
PROBABILITY_METRICS = {
    "neg_log_loss": lambda t, p: -metrics.log_loss(t, p, labels=np.arange(p.shape[1])),
    "roc_auc_ovr": lambda t, p: metrics.roc_auc_score(t, p, multi_class="ovr"),
    "top_k": lambda t, p: metrics.top_k_accuracy_score(t, p, k=2, labels=np.arange(p.shape[1])),
}
LABEL_SET_METRICS = {
    "accuracy": metrics.accuracy_score,
    "f1_samples": lambda t, p: metrics.f1_score(t, p, average="samples", zero_division=0),
    "f1_micro": lambda t, p: metrics.f1_score(t, p, average="micro", zero_division=0),
    "jaccard_macro": lambda t, p: metrics.jaccard_score(t, p, average="macro", zero_division=0),
}
DATES = ("datetime", "date", "timedelta", "numpy date")
NAMES = ("y_true", "y_pred", "y_preds", "y_reference", "metric")


def value_of(function, y_true, y_pred):
    """The metric of scikit-learn; NaN where it has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = float(function(y_true, y_pred))
            # Where the truth is one value scikit-learn divides by the rounding of its mean.
            of_one = len(np.unique(y_true)) == 1
            return 0.0 if of_one and abs(value) > 1e12 else value
        except (ValueError, ZeroDivisionError):
            return np.nan


def evaluated(y_true, y_pred, rng, **options):
    """A call for the estimate to one of the functions that take predictions, and its name."""
    options = {"n_resamples": N_RESAMPLES, "random_state": 0, **options}
    systems = {"A": y_pred, "B": y_pred}
    runs = [y_pred, y_pred]
    calls = {
        "bootstrap_score": lambda: skboot.bootstrap_score(y_true, y_pred, **options).estimate,
        "compare_systems": lambda: (
            skboot.compare_systems(y_true, systems, **options).systems["B"].estimate
        ),
        "bootstrap_runs": lambda: skboot.bootstrap_runs(y_true, runs, **options).estimate,
        "compare_runs": lambda: (
            skboot.compare_runs(y_true, {"A": runs, "B": runs}, **options).systems["A"].estimate
        ),
    }
    name = str(rng.choice(list(calls)))
    return name, calls[name]


def by_resamples(y_true, y_pred, function, columns_of, rng, **options):
    """A call with given resamples: the estimate and each replicate, and what is expected."""
    n = len(columns_of[0])
    rows = rng.integers(0, n, size=(N_RESAMPLES, n))
    expected = [
        value_of(function, *columns_of),
        *(value_of(function, *(own[drawn] for own in columns_of)) for drawn in rows),
    ]

    def call():
        result = skboot.bootstrap_score(y_true, y_pred, resamples=rows, **options)
        return [result.estimate, *result.bootstrap_distribution]

    return call, expected


def scored(text, y_true, y_pred, name, function, columns_of, rng, may_refuse, **further):
    """The case of one metric, by the resamples or by one of the functions."""
    may_refuse = may_refuse or np.isnan(value_of(function, *columns_of))
    options = {"metric": further.pop("metric", name), **further}
    if rng.random() < 0.4 and len(columns_of[0]) > 1:
        call, expected = by_resamples(y_true, y_pred, function, columns_of, rng, **options)
        door = "bootstrap_score with resamples"
    else:
        door, call = evaluated(y_true, y_pred, rng, **options)
        expected = value_of(function, *columns_of)
    case = f"{door}: {text}, {name}, {len(columns_of[0])} rows"
    return Case(case, call, expected, (*NAMES, "n_resamples"), (y_true, y_pred), may_refuse)


def of_labels(rng, folder):
    n, kind = int(rng.choice(SIZES)), str(rng.choice(list(columns.LABELS)))
    n_classes = 2 if "bool" in kind else int(rng.integers(2, 5))
    codes = [rng.integers(n_classes, size=n) for _ in range(2)]
    make = columns.LABELS[kind]
    stored = [columns.contained([make(int(k)) for k in own], rng, folder) for own in codes]
    name = str(rng.choice(list(LABEL_METRICS)))
    text = f"labels of {kind} in {stored[0][0]} and {stored[1][0]}"
    # Ids beyond 64 bits, and dates as objects of different classes, share no type.
    may_refuse = n == 1 or kind in ("huge Decimal", "id above 2**63", *DATES)
    columns_of = (stored[0][1], stored[1][1])
    return scored(text, *columns_of, name, LABEL_METRICS[name], codes, rng, may_refuse)


def of_values(rng, folder):
    n, kind = int(rng.choice(SIZES)), str(rng.choice(list(columns.VALUES)))
    make = columns.VALUES[kind]
    entries = [[make(x) for x in rng.normal(size=n)] for _ in range(2)]
    stored = [columns.contained(own, rng, folder) for own in entries]
    name = str(rng.choice(list(VALUE_METRICS)))
    unit = {"huge": 1e-200, "tiny": 1e200}.get(kind, 1.0)
    floats = [np.array([float(x) for x in own]) * unit for own in entries]
    text = f"values of {kind} in {stored[0][0]} and {stored[1][0]}"
    case = scored(text, stored[0][1], stored[1][1], name, VALUE_METRICS[name], floats, rng, n == 1)
    if unit != 1.0 and name not in ("r2", "explained_variance"):
        return case._replace(expected=REFUSAL)
    return case


def of_scores(rng, folder):
    n, kind = int(rng.choice(SIZES)), str(rng.choice(list(columns.LABELS)))
    codes = rng.integers(2, size=n)
    kinds = [k for k in columns.VALUES if k not in ("bool", "huge", "tiny")]
    value = columns.VALUES[str(rng.choice(kinds))]
    values = [value(x) for x in rng.normal(size=n) + codes]
    in_truth, y_true = columns.contained([columns.LABELS[kind](int(k)) for k in codes], rng, folder)
    in_scores, y_score = columns.contained(values, rng, folder)
    name = str(rng.choice(list(SCORE_METRICS)))
    text = f"{kind} in {in_truth} and scores in {in_scores}"
    floats = np.array([float(x) for x in values])
    # Without labels 0 and 1 scikit-learn's average precision asks for the positive class.
    may_refuse = n < 3 or len(np.unique(codes)) < 2 or name == "average_precision"
    # No type of 64 bits holds such ids and negative integers, and scores may turn out to be labels.
    may_refuse |= kind == "id above 2**63" and isinstance(values[0], int | np.integer)
    return scored(
        text, y_true, y_score, name, SCORE_METRICS[name], (codes, floats), rng, may_refuse
    )


def of_probabilities(rng, folder):
    n, n_classes = int(rng.choice((5, 10, 40))), int(rng.integers(3, 5))
    codes = rng.permutation(np.arange(n) % n_classes)
    kind = str(rng.choice([k for k in columns.LABELS if "bool" not in k]))
    y_true = columns.contained([columns.LABELS[kind](int(k)) for k in codes], rng, folder)
    prob = rng.dirichlet(np.ones(n_classes), size=n)
    y_prob = columns.contained_table(prob, rng, folder)
    name = str(rng.choice(list(PROBABILITY_METRICS)))
    # As text labels have another order, and so have the columns of their probabilities.
    further = {"metric": metrics.top_k_accuracy_score} if name == "top_k" else {}
    text = f"{kind} in {y_true[0]} and probabilities in {y_prob[0]}"
    return scored(
        *(text, y_true[1], y_prob[1], name, PROBABILITY_METRICS[name], (codes, prob), rng, n < 10),
        **further,
    )


def of_tables(rng, folder):
    n, n_outputs = int(rng.choice((2, 3, 10, 40))), int(rng.integers(2, 5))
    if rng.random() < 0.5:
        tables = [rng.integers(0, 2, size=(n, n_outputs)) for _ in range(2)]
        dtype = rng.choice(["bool", "int8", "uint8", "int64", "float32", "float64"])
        name = str(rng.choice(list(LABEL_SET_METRICS)))
        function = LABEL_SET_METRICS[name]
    else:
        # Quarters, whose mean is exact where a column of resampled rows holds one value.
        tables = [rng.integers(-12, 12, size=(n, n_outputs)) / 4 for _ in range(2)]
        dtype = rng.choice(["float32", "float64", "float16"])
        name = str(rng.choice([k for k in VALUE_METRICS if k != "neg_max_error"]))
        function = VALUE_METRICS[name]
    tables = [own.astype(dtype) for own in tables]
    stored = [columns.contained_table(own, rng, folder) for own in tables]
    exact = [own.astype(float) if own.dtype.kind == "f" else own.astype(int) for own in tables]
    if name in LABEL_SET_METRICS:
        exact = [own.astype(int) for own in exact]
    text = f"tables of {dtype} in {stored[0][0]} and {stored[1][0]}"
    return scored(text, stored[0][1], stored[1][1], name, function, exact, rng, False)


def of_weights(rng, folder):
    n = int(rng.choice((2, 3, 10, 40)))
    codes = [rng.integers(3, size=n) for _ in range(2)]
    kind = str(rng.choice([k for k in columns.VALUES if k not in ("huge", "tiny")]))
    weights = [columns.VALUES[kind](abs(x) + 0.2) for x in rng.normal(size=n)]
    container, stored = columns.contained(weights, rng, folder)
    exact = np.array([float(x) for x in weights])
    name = str(rng.choice(["accuracy", "f1_macro", "balanced_accuracy"]))
    scorer = metrics.get_scorer(name)
    expected = scorer._score_func(*codes, sample_weight=exact, **scorer._kwargs)
    door, call = evaluated(*codes, rng, metric=name, sample_weight=stored)
    text = f"{door}: weights of {kind} in {container}, {name}, {n} rows"
    return Case(text, call, expected, ("sample_weight", *NAMES), (stored,), not exact.all())


def of_units(rng, folder):
    """Groups, strata, tasks and subgroups, which count as many as there are names."""
    n, kind = 24, str(rng.choice([k for k in columns.LABELS if "bool" not in k]))
    what = str(rng.choice(["groups", "strata", "by", "average_over"]))
    codes = rng.permutation(np.arange(n) // (2 if what == "groups" else 8))
    container, stored = columns.contained(
        [columns.LABELS[kind](int(k)) for k in codes], rng, folder
    )
    y_true, y_pred = rng.integers(0, 2, size=(2, n))
    options = {what: stored, "metric": "accuracy", "n_resamples": N_RESAMPLES, "random_state": 0}
    shares = np.array([np.mean((y_true == y_pred)[codes == k]) for k in np.unique(codes)])

    def call():
        result = skboot.bootstrap_score(y_true, y_pred, **options)
        if what == "by":
            return sorted(result[name].estimate for name in result if name != "gap")
        if what == "average_over":
            return result.estimate
        return [result.estimate, float(np.ravel(result.n_units)[0])]

    if what == "by":
        expected = np.sort(shares)
    elif what == "average_over":
        expected = shares.mean()
    else:
        expected = [np.mean(y_true == y_pred), 12.0 if what == "groups" else float(n)]
    text = f"bootstrap_score: {what} of {kind} in {container}"
    return Case(text, call, expected, (what,), (stored,))


def of_curves(rng, folder):
    n = int(rng.choice((4, 10, 40)))
    codes = rng.permutation(np.arange(n) % 2)
    kind = str(rng.choice([k for k in columns.VALUES if k not in ("bool", "huge", "tiny")]))
    values = [columns.VALUES[kind](x) for x in rng.normal(size=n) + codes]
    exact = np.array([float(x) for x in values])
    curve = str(rng.choice(["roc", "decision"]))
    if curve == "decision":
        exact = (exact - exact.min() + 0.1) / (np.ptp(exact) + 0.2)
        values, kind = exact.tolist(), "float"
    in_truth, y_true = columns.contained(codes.tolist(), rng, folder)
    in_scores, y_score = columns.contained(values, rng, folder)
    # Between the rates of so few rows, since at a rate the curve may rise.
    grid = np.array([0.213, 0.5017, 0.7031])
    if curve == "roc":
        fpr, tpr, _ = metrics.roc_curve(codes, exact, drop_intermediate=False)
        expected = np.interp(grid, fpr, tpr)
    else:
        positive = exact[:, None] >= grid
        hits, alarms = (np.mean(positive & (codes == k)[:, None], axis=0) for k in (1, 0))
        expected = hits - alarms * grid / (1 - grid)

    def call():
        result = skboot.bootstrap_curve(
            *(y_true, y_score), curve=curve, grid=grid, n_resamples=N_RESAMPLES, random_state=0
        )
        return result.estimate

    text = f"bootstrap_curve: {curve}, {in_truth} and {kind} in {in_scores}, {n} rows"
    return Case(text, call, expected, ("y_true", "y_score", "grid"), (y_true, y_score), n < 10)


def of_streams(rng, folder):
    n = int(rng.choice((30, 40, 60)))
    codes = [rng.integers(3, size=n) for _ in range(2)]
    # A stream keeps its labels as numbers or text.
    kind = str(rng.choice([k for k in columns.LABELS if "bool" not in k and k not in DATES]))
    name = str(rng.choice(["accuracy", "f1_macro", "balanced_accuracy"]))
    cuts = np.sort(rng.integers(1, n, size=2))
    batches = [rows for rows in np.split(np.arange(n), cuts) if len(rows)]
    stored = [
        [
            columns.contained([columns.LABELS[kind](int(k)) for k in own[rows]], rng, folder)[1]
            for own in codes
        ]
        for rows in batches
    ]

    def call():
        stream = skboot.BootstrapAccumulator(name, random_state=0, n_resamples=N_RESAMPLES)
        for rows, columns_of in zip(batches, stored, strict=True):
            stream.update(*columns_of, start=int(rows[0]))
        return stream.result().estimate

    text = f"BootstrapAccumulator: labels of {kind} in {len(batches)} batches, {name}"
    return Case(text, call, LABEL_METRICS[name](*codes), NAMES, tuple(stored))


def of_poison(rng, folder):
    n, kind = 12, str(rng.choice(list(columns.LABELS)))
    codes = np.arange(n) % 2
    entries = [columns.LABELS[kind](int(k)) for k in codes]
    what, bad = columns.poisoned(entries, rng)
    where = str(rng.choice(["y_true", "y_pred", "groups", "strata", "sample_weight"]))
    if where == "y_true":
        _, call = evaluated(bad, entries, rng, metric="accuracy")
    elif where == "y_pred":
        _, call = evaluated(entries, bad, rng, metric="accuracy")
    else:
        _, call = evaluated(codes, codes, rng, metric="accuracy", **{where: bad})
    return Case(f"{kind}, {what} in {where}", call, REFUSAL, (where, *NAMES), (bad,))


# ------------------------------------------------------------------ callables


def accuracy(y_true, y_pred):
    return float(np.mean(np.asarray(y_true) == np.asarray(y_pred)))


class Broken(Exception):
    """The user's own error."""


def writes(y_true, y_pred):
    value = accuracy(y_true, y_pred)
    y_true[...] = y_true[0]
    y_pred.sort()
    return value


def raises(error):
    def metric(y_true, y_pred):
        raise error

    return metric


def raises_at_times(y_true, y_pred):
    if y_pred[0] == y_true[-1]:
        raise Broken("not on these rows")
    return accuracy(y_true, y_pred)


def returns(value):
    return lambda y_true, y_pred: value


GOOD = {
    "a function": accuracy,
    "of numpy": lambda t, p: np.mean(t == p),
    "of float32": lambda t, p: np.float64(np.mean(t == p)),
    "an array of no dimension": lambda t, p: np.asarray(np.mean(t == p)),
    "of lists": lambda t, p: sum(map(operator.eq, t.tolist(), p.tolist())) / len(t),
    "of arguments by name": lambda y_true, y_pred: accuracy(y_true, y_pred),
    "of any arguments": lambda *arguments: accuracy(*arguments),
    "with defaults": lambda t, p, half=0.5: accuracy(t, p) * 2 * half,
    "that writes": writes,
}
BAD = {
    "an error": raises(Broken("no")),
    "a KeyError": raises(KeyError("column")),
    "a StopIteration": raises(StopIteration()),
    "an assertion": raises(AssertionError()),
    "an error at times": raises_at_times,
    "None": returns(None),
    "text": returns("0.5"),
    "NaN": returns(np.nan),
    "infinity": returns(np.inf),
    "complex": returns(1j),
    "a table": returns(np.ones((2, 2))),
    "an empty array": returns(np.ones(0)),
    "an empty dict": returns({}),
    "a set": returns({1.0}),
    "a dict of text": returns({"a": "b"}),
    "other shapes": lambda t, p: np.ones(int(np.sum(t)) + 1),
    "other keys": lambda t, p: {str(int(np.sum(t))): 1.0},
    "one argument": lambda t: 1.0,
    "three arguments": lambda t, p, q: 1.0,
    "a type": dict,
    "a huge number": returns(1e300),
    "an object": returns(object()),
}


OF_TABLES = ("a table", "an empty array", "an empty dict", "other shapes", "other keys")


def of_callables(rng, folder):
    n = int(rng.choice((2, 10, 40)))
    codes = [rng.integers(0, 2, size=n) for _ in range(2)]
    is_good = rng.random() < 0.5
    what = str(rng.choice(list(GOOD if is_good else BAD)))
    metric = (GOOD if is_good else BAD)[what]
    weight_of_rows = codes[0].copy(), codes[1].copy()
    if is_good and rng.random() < 0.5:
        call, expected = by_resamples(*weight_of_rows, accuracy, codes, rng, metric=metric)
        door = "bootstrap_score with resamples"
    else:
        door, call = evaluated(*weight_of_rows, rng, metric=metric)
        expected = accuracy(*codes)
    if what in OF_TABLES:
        # Entries that happen to be the same on all of these rows make a table.
        door, call = (
            "bootstrap_score",
            partial(
                skboot.bootstrap_score, *weight_of_rows, metric=metric, n_resamples=N_RESAMPLES
            ),
        )
    text = f"{door}: a metric, {what}, {n} rows"
    if not is_good:
        expected = "a refusal or a sound answer"
    own = r"metric|'y_(true|pred)|resample"
    return Case(text, call, expected, (), weight_of_rows, False, "" if is_good else own)


MAKERS = {
    of_labels: 20,
    of_values: 16,
    of_scores: 10,
    of_probabilities: 6,
    of_tables: 8,
    of_weights: 6,
    of_units: 8,
    of_curves: 4,
    of_streams: 4,
    of_poison: 12,
    of_callables: 10,
}
