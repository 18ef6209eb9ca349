"""Labels mean in every function what scikit-learn, or their own type, says that they mean.

Numbers are those of scikit-learn's functions on the rows of given resamples, or those of the same
labels as whole numbers in their order.
"""

import re
import warnings
from functools import partial

import numpy as np
import pytest
from identity_cases import any_seed, close, quiet
from sklearn import metrics as sk
from sklearn.naive_bayes import GaussianNB

import skboot
from skboot import metrics as own
from skboot.testing import assert_not_worse

pytestmark = pytest.mark.identity

pandas = pytest.importorskip("pandas")
N = 60


def drawn(rng, n=N, n_resamples=5):
    return rng.integers(0, n, (n_resamples, n))


def warned(function, *arguments, **options):
    """The answer of a public function, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        answer = function(*arguments, **options)
    return answer, [str(one.message) for one in raised]


def same(one, other):
    close(
        [one.estimate, *one.bootstrap_distribution], [other.estimate, *other.bootstrap_distribution]
    )


# ------------------------------------------------------------------ the positive class

OF_LABELS = ["recall", "precision", "f1", "jaccard", "sensitivity", "specificity", "ppv", "npv"]
OF_SCORES = ["roc_auc", "average_precision", "neg_equal_error_rate"]


def run_pair(y, one, other, **options):
    runs = {"a": [one, other], "b": [other, one]}
    return skboot.compare_runs(y, runs, varied="seed", **options)


FUNCTIONS = {
    "score": lambda y, one, other, **o: skboot.bootstrap_score(y, one, **o),
    "systems": lambda y, one, other, **o: skboot.compare_systems(y, {"a": one, "b": other}, **o),
    "runs": lambda y, one, other, **o: skboot.bootstrap_runs(y, [one, other], varied="seed", **o),
    "pairs of runs": run_pair,
    "search": lambda y, one, other, **o: skboot.search_score(y, {"a": one, "b": other}, **o),
}


def numbers(result):
    """Estimates by metric."""
    each = result if hasattr(result, "items") else {"": result}
    return {
        name: float(value.estimate if hasattr(value, "estimate") else value.pairs[0].difference)
        for name, value in each.items()
    }


@pytest.mark.parametrize("function", FUNCTIONS)
@any_seed
def test_metrics_of_a_call_have_the_class_that_its_one_warning_names(function, seed):
    rng = np.random.default_rng(seed)
    greater = int(rng.integers(2, 9))
    y = np.where(rng.permutation(N) < N // 2, 1, greater)
    if rng.integers(2):
        metrics = [*rng.choice(OF_LABELS, 3, replace=False)]
        systems = [np.where(rng.random(N) < 0.7, y, greater + 1 - y) for _ in "ab"]
    else:
        metrics = [*rng.choice(OF_SCORES, 2, replace=False)]
        systems = [y + greater * rng.normal(size=N) for _ in "ab"]
    options = {"metric": list(map(str, metrics)), "n_resamples": 9, "random_state": 0}
    result, raised = warned(FUNCTIONS[function], y, *systems, **options)
    classes = [re.search(r"The positive class is (\d+),", one) for one in raised]
    [named] = [int(one[1]) for one in classes if one is not None]
    assert named == (1 if set(metrics) <= {*OF_LABELS[:4], "average_precision"} else greater)
    by_name, raised = warned(FUNCTIONS[function], y, *systems, pos_label=named, **options)
    assert not [one for one in raised if "The positive class" in one]
    close([*numbers(result).values()], [*numbers(by_name).values()])


def test_a_gate_warns_of_the_class_and_a_metric_that_names_it_does_not():
    y = np.repeat([1, 2], 30)
    arguments = (y, y, np.roll(y, 3))
    options = {"margin": 0.5, "n_resamples": 9, "random_state": 0}
    _, raised = warned(assert_not_worse, *arguments, metric="recall", **options)
    assert any(
        "The positive class is 1, scikit-learn's default, and not 2" in one for one in raised
    )
    bound = {"bound": partial(sk.recall_score, pos_label=1)}
    _, raised = warned(skboot.bootstrap_score, y, y, metric=bound, n_resamples=99)
    assert not [one for one in raised if "positive class" in one]


@pytest.mark.parametrize("metrics", [["recall"], ["sensitivity"], ["recall", "sensitivity"]])
def test_a_stream_has_one_positive_class_or_asks_for_it(metrics):
    y = np.repeat([1, 2], 40)
    p = np.roll(y, 7)
    stream = skboot.BootstrapAccumulator(metrics, n_resamples=9, random_state=0)
    stream.update(y, p, start=0)
    if len(metrics) == 2:
        with pytest.raises(ValueError, match=r"'pos_label'.*must be given"):
            stream.result()
        return
    result, raised = warned(stream.result)
    [named] = [re.search(r"class is (\d)", one)[1] for one in raised if "class is" in one]
    close(result[metrics[0]].estimate, sk.recall_score(y, p, pos_label=int(named)))


@pytest.mark.parametrize("scoring", ["recall", "average_precision", "roc_auc", "two"])
def test_a_fit_has_one_positive_class_and_says_which(scoring):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    y = 1 + (X[:, 0] + 0.5 * rng.normal(size=N) > 0)
    model, names = GaussianNB(), ["recall", "sensitivity"] if scoring == "two" else scoring
    options = {"n_train_resamples": 4, "random_state": 0}
    fit = skboot.BootstrapScorer(model, scoring=names, **options).fit
    if scoring == "two":
        with pytest.raises(ValueError, match=r"'scoring'.*one positive class"):
            fit(X, y)
        return
    _, raised = warned(fit, X, y)
    said = [one for one in raised if "The positive class is 1" in one]
    assert len(said) == (scoring != "roc_auc")
    bound = sk.make_scorer(sk.recall_score, pos_label=1)
    _, raised = warned(skboot.BootstrapScorer(model, scoring=bound, **options).fit, X, y)
    assert not [one for one in raised if "The positive class" in one]


@pytest.mark.parametrize("n", [25, N])
@pytest.mark.parametrize("positive", [0, 1])
def test_a_stream_reads_labels_in_bytes_as_what_they_name(n, positive):
    rng = np.random.default_rng(n)
    codes, answers = rng.permutation(np.arange(n) % 2), rng.random(n)
    names = np.array([b"no", b"yes"])
    for metric, given, expected in (
        ("recall", names[1 * (answers > 0.5)], sk.recall_score),
        ("roc_auc", answers, lambda y, p, pos_label: sk.roc_auc_score(y == pos_label, answers)),
    ):
        stream = skboot.BootstrapAccumulator(
            metric, pos_label=names[positive], n_resamples=9, random_state=0
        )
        found = quiet(stream.update(names[codes], given, start=0).result).estimate
        close(found, expected(codes, 1 * (answers > 0.5), pos_label=positive))


# ------------------------------------------------------------------ labels=

AVERAGES = {
    f"{name} {average}": (function, average)
    for name, function in (
        ("f1", sk.f1_score),
        ("precision", sk.precision_score),
        ("recall", sk.recall_score),
        ("jaccard", sk.jaccard_score),
    )
    for average in ("macro", "micro", "weighted")
}


@pytest.mark.parametrize("name", AVERAGES)
@any_seed
def test_labels_beside_one_label_a_row_are_those_of_scikit_learn(name, seed):
    rng = np.random.default_rng(seed)
    function, average = AVERAGES[name]
    y, p = rng.choice([*"abcd"], (2, N))
    labels = [*rng.permutation([*"abcd", "none"])[: rng.integers(2, 6)]]
    metric = partial(function, average=average, zero_division=0.0)
    rows = drawn(rng)
    result = quiet(skboot.bootstrap_score, y, p, metric=metric, labels=labels, resamples=rows)
    expected = [metric(y[at], p[at], labels=labels) for at in (slice(None), *rows)]
    close([result.estimate, *result.bootstrap_distribution], expected)


def test_labels_that_a_metric_cannot_mean_are_refused():
    y, p = np.array([*"abcabc"]), np.array([*"abcacb"])
    whole = quiet(skboot.bootstrap_score, y, p, metric="accuracy", labels=[*"abcd"], n_resamples=9)
    close(whole.estimate, 4 / 6)
    for function in (skboot.bootstrap_score, lambda y, p, **o: FUNCTIONS["systems"](y, p, p, **o)):
        for metric, labels, reason in (
            ("f1_macro", ["q", "r"], "a label of y_true"),
            ("accuracy", ["a", "b"], "each label that occurs"),
        ):
            with pytest.raises(ValueError, match=f"'labels'.*{reason}"):
                function(y, p, metric=metric, labels=labels, n_resamples=9)
    for metric, reason in (("f1_macro", "functools.partial"), ("accuracy", "each label")):
        stream = skboot.BootstrapAccumulator(
            metric, labels=["a", "b"], n_resamples=9, random_state=0
        )
        with pytest.raises(ValueError, match=f"'labels'.*{reason}"):
            stream.update(y, p, start=0)


# ------------------------------------------------------------------ ordered categories

COSTS = [[0, 1, 5], [2, 0, 1], [9, 3, 0]]
ORDERED = {
    "roc_auc": "two",
    "average_precision": "two",
    "neg_brier_score": "probability",
    "expected_calibration_error": "probability",
    "f1": "decision",
    "specificity": "decision",
    "linear": partial(sk.cohen_kappa_score, weights="linear"),
    "quadratic": partial(sk.cohen_kappa_score, weights="quadratic"),
    "costs": partial(own.expected_cost, costs=COSTS),
    "costs with priors": partial(own.expected_cost, costs=COSTS, priors=[0.5, 0.3, 0.2]),
    "neg_log_loss": "columns",
    "roc_auc_ovr": "columns",
    "accuracy": "columns",
}


def as_categories(codes, names, kind):
    if kind == "enum":
        polars = pytest.importorskip("polars")
        return polars.Series([names[code] for code in codes], dtype=polars.Enum(names))
    found = pandas.Categorical.from_codes(codes, names, ordered=True)
    return found if kind == "categorical" else pandas.Series(found)


@pytest.mark.parametrize("name", ORDERED)
@any_seed
def test_ordered_categories_are_whole_numbers_in_their_order(name, seed):
    rng = np.random.default_rng(seed)
    form = ORDERED[name]
    metric, form = (name, form) if isinstance(form, str) else (form, "labels")
    n_classes = 3 if form in ("columns", "labels") else 2
    names = [*rng.permutation(["low", "mid", "high", "1", "z"])[:n_classes]]
    codes = rng.permutation(np.arange(N) % n_classes)
    answers = np.where(rng.random(N) < 0.6, codes, rng.permutation(codes))
    kind = rng.choice(["categorical", "series", "enum"])
    y = as_categories(codes, names, kind)
    if form in ("labels", "decision"):
        given = as_categories(answers, names, kind)
    elif form == "columns":
        given = answers = rng.dirichlet(np.ones(3), N)
    else:
        given = answers = rng.random(N)
    options = {"metric": metric, "resamples": drawn(rng)}
    same(
        quiet(skboot.bootstrap_score, y, given, **options),
        quiet(skboot.bootstrap_score, codes, answers, **options),
    )
    pairs = [
        quiet(skboot.compare_systems, *of, metric=metric, n_resamples=9, random_state=0).pairs[0]
        for of in (
            (y, {"a": given, "b": given[::-1]}),
            (codes, {"a": answers, "b": answers[::-1]}),
        )
    ]
    close(pairs[0].difference, pairs[1].difference)
    runs = [
        quiet(skboot.bootstrap_runs, *of, varied="seed", metric=metric, n_resamples=9).estimate
        for of in ((y, [given, given[::-1]]), (codes, [answers, answers[::-1]]))
    ]
    close(runs[0], runs[1])


@any_seed
def test_functions_and_curves_read_the_order_of_categories(seed):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(N) % 2)
    names = [*rng.permutation(["low", "high"])]
    y, said = (as_categories(one, names, "series") for one in (codes, np.roll(codes, 5)))
    score = codes + rng.normal(size=N)
    for function in (own.sensitivity, own.specificity, own.ppv, own.npv):
        close(function(y, said), function(codes, np.roll(codes, 5)))
    close(own.equal_error_rate(y, score), own.equal_error_rate(codes, score))
    one, other = (
        quiet(skboot.bootstrap_curve, truth, score, grid=[0.2, 0.5], n_resamples=9, random_state=0)
        for truth in (y, codes)
    )
    close(one.estimate, other.estimate)


def test_columns_in_another_order_than_scikit_learns_are_told():
    y = as_categories(np.arange(N) % 3, ["low", "mid", "high"], "series")
    columns = np.random.default_rng(0).dirichlet(np.ones(3), N)
    options = {"metric": "neg_log_loss", "n_resamples": 9, "random_state": 0}
    for labels in (None, ["high", "low", "mid"]):
        _, raised = warned(skboot.bootstrap_score, y, columns, labels=labels, **options)
        assert any("order of the categories" in one for one in raised) == (labels is None)


@pytest.mark.parametrize("kind", ["accumulator", "dask", "parquet"])
@any_seed
def test_a_stream_reads_the_order_of_categories_or_refuses_it(kind, seed, tmp_path):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(N) % 2)
    score = codes + rng.normal(size=N)
    names = [["low", "high"], ["a", "b"]][rng.integers(2)]
    y = as_categories(codes, names, "series")

    def value(**options):
        options |= {"n_resamples": 9, "random_state": 0}
        if kind == "accumulator":
            stream = skboot.BootstrapAccumulator("roc_auc", **options)
            return stream.update(y, score, start=0).result()
        frame = pandas.DataFrame({"y": y, "score": score})
        if kind == "dask":
            frame = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)
        else:
            pytest.importorskip("pyarrow")
            frame.to_parquet(tmp_path / "rows.parquet")
            frame = skboot.scan_dataset(tmp_path / "rows.parquet")
        return skboot.bootstrap_score(frame["y"], frame["score"], metric="roc_auc", **options)

    expected = sk.roc_auc_score(codes, score)
    close(quiet(value, pos_label=names[1]).estimate, expected)
    if names == sorted(names):
        close(quiet(value).estimate, expected)
    else:
        with pytest.raises(ValueError, match=f"categories whose order.*pos_label={names[1]!r}"):
            value()


# ------------------------------------------------------------------ integers, and what has no order


@pytest.mark.parametrize("kind", ["accumulator", "dask"])
@any_seed
def test_large_integers_are_what_they_are_or_refused(kind, seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) % 2)
    start = 2 ** int(rng.integers(52, 62))
    score = start + rng.integers(0, 300, N) + 90 * y
    ids = start + y
    for truth, answer, metric in (
        (y, score, "roc_auc"),
        (y, score, "average_precision"),
        (ids, np.where(rng.random(N) < 0.8, ids, 2 * start + 1 - ids), "accuracy"),
        (ids, np.roll(ids, 3), "f1_macro"),
    ):
        expected = quiet(skboot.bootstrap_score, truth, answer, metric=metric, n_resamples=9)
        options = {"n_resamples": 9, "random_state": 0}
        try:
            if kind == "accumulator":
                stream = skboot.BootstrapAccumulator(metric, **options)
                for at in (slice(0, 25), slice(25, None)):
                    stream.update(truth[at], answer[at], start=at.start)
                found = quiet(stream.result)
            else:
                dask = pytest.importorskip("dask.dataframe")
                frame = pandas.DataFrame({"y": truth, "p": answer})
                frame = dask.from_pandas(frame, npartitions=2)
                found = quiet(skboot.bootstrap_score, frame.y, frame.p, metric=metric, **options)
        except ValueError as error:
            if start <= 2**52 or "floats of 64 bits tell apart" not in str(error):
                raise
        else:
            close(found.estimate, expected.estimate)


@any_seed
def test_labels_without_an_order_are_refused_and_those_of_a_chain_are_not(seed):
    rng = np.random.default_rng(seed)
    chain = [frozenset(range(k)) for k in range(4)]
    for sets, is_chain in ((chain, True), ([*chain, frozenset({"other"})], False)):
        y, p, by = (np.empty(N, dtype=object) for _ in "abc")
        numbers_of_sets = [rng.permutation(np.arange(N) % len(sets)) for _ in "abc"]
        for column, codes in zip((y, p, by), numbers_of_sets, strict=True):
            column[:] = [sets[code] for code in codes]
        codes = numbers_of_sets[0]
        calls = {
            "f1_macro": lambda y=y, p=p: skboot.bootstrap_score(y, p, metric="f1_macro"),
            "by": lambda codes=codes, by=by: skboot.bootstrap_score(codes, codes, by=by),
            "groups": lambda codes=codes, by=by: skboot.bootstrap_score(codes, codes, groups=by),
            "strata": lambda codes=codes, by=by: skboot.bootstrap_score(codes, codes, strata=by),
        }
        for name, call in calls.items():
            if not is_chain:
                with pytest.raises(ValueError, match=r"with an order. Got frozenset"):
                    call()
            elif name == "f1_macro":
                expected = sk.f1_score(*numbers_of_sets[:2], average="macro")
                close(quiet(call).estimate, expected)
            else:
                quiet(call)
    # Each column has an order, and both together have none.
    first, second = np.empty(N, dtype=object), np.empty(N, dtype=object)
    first[:] = [chain[k % 2] for k in range(N)]
    second[:] = [[chain[0], frozenset({"other"})][k % 2] for k in range(N)]
    with pytest.raises(ValueError, match=r"'y_pred'.*with an order"):
        skboot.bootstrap_score(first, second, metric="accuracy")


# ------------------------------------------------------------------ classes that have no row


@pytest.mark.parametrize("metric", ["brier_score_loss", "neg_brier_score", sk.brier_score_loss])
@pytest.mark.parametrize("label", [0, 1, -1, True, False, 7, "x"])
@any_seed
def test_a_brier_score_of_one_class_is_that_of_scikit_learn(metric, label, seed):
    rng = np.random.default_rng(seed)
    y, prob, rows = np.full(N, label), rng.random(N), drawn(rng)
    sign = -1 if metric == "neg_brier_score" else 1
    for positive in (None, label, "other" if label == "x" else 9):
        options = {"metric": metric, "pos_label": positive, "resamples": rows}
        if positive is None and label in (7, "x"):
            with pytest.raises(ValueError, match=r"'pos_label'.*be given"):
                skboot.bootstrap_score(y, prob, **options)
            continue
        result = quiet(skboot.bootstrap_score, y, prob, **options)
        hit = float(label == positive if positive is not None else label in (1, True))
        expected = [sign * np.mean((prob[at] - hit) ** 2) for at in (slice(None), *rows)]
        close([result.estimate, *result.bootstrap_distribution], expected)
        if positive is None or positive == label:
            close(result.estimate, sign * sk.brier_score_loss(y, prob, pos_label=positive))


def test_what_probabilities_priors_and_classes_lack_is_said():
    rng = np.random.default_rng(0)
    y, columns = np.array([*"ab"] * 15), rng.dirichlet(np.ones(3), 30)
    with pytest.raises(ValueError, match=r"rows of each class.*none of \['c'\]"):
        skboot.bootstrap_score(y, columns, metric="roc_auc_ovr", labels=[*"abc"])
    with pytest.raises(ValueError, match=r"rows of each class.*none of \['b'\]"):
        skboot.bootstrap_score(["a"] * 30, columns[:, 0], metric="roc_auc", labels=["a", "b"])
    prob = np.append(columns[:-1, 0], 1.0000001)
    for metric in ("neg_log_loss", "neg_brier_score"):
        with pytest.raises(ValueError, match=r"to 1\.0000001\. If rounding .* np\.clip"):
            skboot.bootstrap_score(y, prob, metric=metric, pos_label="b")
    for option in ("priors", "costs"):
        metric = partial(own.expected_cost, **{option: "uniform"})
        with pytest.raises(ValueError, match=f"'{option}'.*must hold numbers. Got 'uniform'"):
            skboot.bootstrap_score(y, y, metric=metric)


# ------------------------------------------------------------------ missing values


def mean_distance(y_true, y_pred):
    return float(np.nanmean(np.abs(y_true - y_pred)))


def weighed_distance(y_true, y_pred, sample_weight=None):
    distance = np.abs(y_true - y_pred)
    used = ~np.isnan(distance)
    weight = np.ones(len(distance)) if sample_weight is None else sample_weight
    return float(np.average(distance[used], weights=weight[used]))


@any_seed
def test_a_function_of_ones_own_gets_missing_values_as_they_are(seed):
    rng = np.random.default_rng(seed)
    y, one, other = rng.normal(size=(3, N))
    for column in (y, one, other):
        column[rng.permutation(N)[:4]] = np.nan
    rows = drawn(rng)
    result = quiet(skboot.bootstrap_score, y, one, metric=mean_distance, resamples=rows)
    expected = [mean_distance(y[at], one[at]) for at in (slice(None), *rows)]
    close([result.estimate, *result.bootstrap_distribution], expected)
    options = {"n_resamples": 19, "random_state": 0}
    systems = {"a": one, "b": other}
    each = [mean_distance(y, system) for system in (one, other)]
    for more in ({}, {"groups": np.arange(N) // 3}, {"strata": np.arange(N) % 2}):
        given = {"metric": mean_distance, **options, **more}
        pair = quiet(skboot.compare_systems, y, systems, **given).pairs[0]
        close(pair.difference, each[0] - each[1])
        close(quiet(skboot.bootstrap_runs, y, [one, other], **given).estimate, np.mean(each))
    weight = rng.integers(1, 4, N).astype(float)
    weighed = {"metric": weighed_distance, "sample_weight": weight, **options}
    found = quiet(skboot.bootstrap_score, y, one, **weighed).estimate
    close(found, weighed_distance(y, one, weight))
    by = np.arange(N) % 2
    parts = quiet(skboot.bootstrap_score, y, one, metric=mean_distance, by=by, **options)
    close(parts[0].estimate, mean_distance(y[by == 0], one[by == 0]))


def share_above(y_true, y_score, grid):
    return [np.mean(y_true[y_score > threshold]) for threshold in grid]


@any_seed
def test_a_curve_of_ones_own_gets_missing_scores_as_they_are(seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) % 2)
    score = y + rng.normal(size=N)
    score[rng.permutation(N)[:6]] = np.nan
    options = {"grid": [0.0, 0.5], "n_resamples": 9, "random_state": 0}
    for more in ({}, {"groups": np.arange(N) // 3}):
        curve = quiet(skboot.bootstrap_curve, y, score, curve=share_above, **options, **more)
        close(curve.estimate, share_above(y, score, [0.0, 0.5]))
    for curve in ("roc", lambda y_true, y_score, grid: grid * y_score.sum()):
        with pytest.raises(ValueError, match=r"'y_score'.*must not contain NaN"):
            skboot.bootstrap_curve(y, score, curve=curve, **options)


def test_tables_with_missing_values_are_averaged_by_class():
    rng = np.random.default_rng(0)
    table = rng.random((30, 3))
    table[rng.random((30, 3)) < 0.3] = np.nan
    by_class = quiet(
        skboot.bootstrap_score, None, table, metric=partial(np.nanmean, axis=0), n_resamples=9
    )
    close([one.estimate for one in by_class.values()], np.nanmean(table, axis=0))
    whole = quiet(skboot.bootstrap_score, None, table, metric=np.nanmean, n_resamples=9)
    close(whole.estimate, np.nanmean(table))


@pytest.mark.parametrize("metric", ["mean", "mae", sk.mean_absolute_error, np.mean])
def test_missing_values_are_refused_where_the_metric_has_no_value(metric):
    values = np.append(np.arange(29.0), np.nan)
    truth = None if metric in ("mean", np.mean) else np.arange(30.0)
    for call in (
        partial(skboot.bootstrap_score, truth, values),
        partial(skboot.compare_systems, truth, {"a": np.arange(30.0), "b": values}),
        partial(skboot.bootstrap_runs, truth, [values, np.arange(30.0)]),
    ):
        with pytest.raises(ValueError, match=r"must not contain NaN.*first in row 29"):
            call(metric=metric)
    for name in ("sample_weight", "groups"):
        options = {"metric": lambda y, p, sample_weight=None: 0.5, name: values}
        with pytest.raises(ValueError, match=f"'{name}'.*must not contain NaN"):
            skboot.bootstrap_score(np.arange(30.0), np.arange(30.0), **options)


def test_the_order_of_predictions_is_that_of_labels_where_the_truth_has_none():
    truth = np.array(["low", "high", "high", "low", "high", "low", "high", "high"])
    decided = np.array(["low", "high", "low", "low", "high", "low", "high", "high"])
    pd = pytest.importorskip("pandas")
    ordered = pd.Categorical(decided, categories=["low", "high"], ordered=True)
    result = skboot.bootstrap_score(
        truth, ordered, metric="sensitivity", n_resamples=99, random_state=0
    )
    assert result.estimate == sk.recall_score(truth, decided, pos_label="high")
