"""The workloads, each with its data, its peers and its goals."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from harness import Goal, Peer, Row, clock, same_estimate, same_spread
from packages import (
    Import,
    bare_fits,
    confidence_intervals,
    confidenceinterval,
    cross_validation,
    equal_error_rate,
    estimate_of_answer,
    mlxtend_632_plus,
    numpy_concatenation,
    scipy_mean,
    sklearn_loop,
    spread_of_result,
    spread_of_values,
    told,
    torchmetrics,
    trials_loop,
    wilcoxon_of_pairs,
)
from sklearn import metrics

from skboot import (
    BootstrapScorer,
    bootstrap_score,
    compare_across,
    compare_runs,
    compare_systems,
)
from skboot.inference.distribution import BoundStatistic, jackknife
from skboot.metrics.lookup import resolve_metrics
from skboot.resampling.coding import CodedRows
from skboot.resampling.design import RowDesign
from skboot.resampling.plan import ResamplingPlan

# Most rows of a workload; a test makes it small.
MOST_ROWS = 10_000_000
# Most systems, methods or data sets of a comparison; a test makes it small.
MOST_COMPARED = 180
# Fits of a logistic regression, and of naive Bayes.
N_FITS = (200, 1000)


def labels(n: int, n_classes: int, dtype: type = np.int64, accuracy: float = 0.8):
    """Draw labels, and predictions that are right about as often as said."""
    rng, n = np.random.default_rng(0), min(n, MOST_ROWS)
    y_true = rng.integers(0, n_classes, n).astype(dtype)
    other = rng.integers(0, n_classes, n).astype(dtype)
    return y_true, np.where(rng.random(n) < accuracy, y_true, other)


def scores(n: int, prevalence: float = 0.5):
    """Draw two classes, and scores."""
    rng, n = np.random.default_rng(0), min(n, MOST_ROWS)
    y_true = (rng.random(n) < prevalence).astype(int)
    return y_true, rng.normal(size=n) + 1.5 * y_true


def faster(times: float) -> Goal:
    """Ask for a peer's time by ours."""
    return Goal(f"at least {times:,g}x", at_least=times)


def within(seconds: float, text: str) -> Goal:
    """Ask for a time of this machine, without a peer."""
    return Goal(text, seconds=seconds)


def against_interval_package(row: str, ours, metric, y, p, n: int, of: int, goal: Goal) -> Row:
    """Compare with `confidence_intervals`, which loops over resamples."""
    call = partial(confidence_intervals, metric, y, p, n)
    agrees = same_estimate(estimate_of_answer)
    return Row(row, ours, goal, Peer("confidence_intervals 0.0.3", call, n / of, agrees))


def against_loop(row: str, ours, metric, y, p, n: int, of: int, goal: Goal) -> Row:
    """Compare with a plain loop over a function of scikit-learn."""
    agrees = same_spread(spread_of_result, spread_of_values, of, n)
    call = partial(sklearn_loop, metric, y, p, n)
    return Row(row, ours, goal, Peer("loop over scikit-learn", call, n / of, agrees))


def against_scipy(row: str, ours, values, of: int, goal: Goal) -> Row:
    """Compare with the vectorised bootstrap of scipy."""
    n = 100
    agrees = same_spread(spread_of_result, spread_of_result, of, n)
    peer = Peer("scipy.stats.bootstrap, vectorised", partial(scipy_mean, values, n), n / of, agrees)
    return Row(row, ours, goal, peer)


def accuracy_rows() -> Iterator[Row]:
    """Accuracy: one binomial a resample."""
    y, p = labels(100_000, 2)
    correct, plain = (y == p).astype(float), metrics.accuracy_score
    for n, by_scipy, by_package in ((1000, 700, 7000), (10_000, 3000, 30_000)):
        ours = partial(bootstrap_score, y, p, n_resamples=n, random_state=0)
        name = f"accuracy, n 1e5, {n:,} resamples"
        yield against_scipy(name, ours, correct, n, faster(by_scipy))
        yield against_interval_package(name, ours, plain, y, p, 50, n, faster(by_package))
    name = "accuracy, n 1e5, 1,000 resamples"
    ours = partial(bootstrap_score, y, p, n_resamples=1000, random_state=0)
    agrees = same_estimate(estimate_of_answer)
    peer = Peer("confidenceinterval 1.0.5", partial(confidenceinterval, y, p, 50), 0.05, agrees)
    yield Row(name, ours, faster(1000), peer)
    if importlib.util.find_spec("torchmetrics") is not None:
        peer = Peer("torchmetrics", partial(torchmetrics, y, p, 50), 0.05)
        yield Row(name, ours, faster(1000), peer)
    for dtype in (np.int8, np.int64):
        y, p = labels(10_000_000, 2, dtype)
        megabytes = 20 + 3 * (y.nbytes + p.nbytes) / 1e6
        yield Row(
            f"accuracy, n 1e7 {np.dtype(dtype)}, 10,000 resamples",
            partial(bootstrap_score, y, p, n_resamples=10_000, random_state=0),
            Goal("at most 1.8 of its time", at_most=1.8),
            Peer("one (y == p).mean()", lambda y=y, p=p: (y == p).mean()),
            megabytes=megabytes,
        )


def label_rows() -> Iterator[Row]:
    """Functions of the confusion matrix: counts of cells."""
    macro = partial(metrics.f1_score, average="macro")
    for n_classes, times in ((2, 10_000), (10, 1000), (100, 150)):
        y, p = labels(100_000, n_classes)
        ours = partial(bootstrap_score, y, p, metric=macro, n_resamples=1000, random_state=0)
        name = f"macro F1, n 1e5, {n_classes} classes, 1,000 resamples"
        yield against_interval_package(name, ours, macro, y, p, 20, 1000, faster(times))
        if n_classes == 10:
            yield against_loop(name, ours, macro, y, p, 40, 1000, faster(500))
    kappa = partial(metrics.cohen_kappa_score, labels=list(range(9)))
    y, p = labels(100_000, 10)
    ours = partial(bootstrap_score, y, p, metric=kappa, n_resamples=200, random_state=0)
    name = "kappa of 9 of 10 labels (no fast path: weighted cells), n 1e5, 200 resamples"
    yield against_loop(name, ours, kappa, y, p, 40, 200, faster(8))


def cliff_rows() -> Iterator[Row]:
    """Calls beside nearly the same ones, which once took many times as long."""
    few = {"n_resamples": 199, "random_state": 0}
    rng, n = np.random.default_rng(0), min(1_000_000, MOST_ROWS)
    y, p = labels(n, 5)
    names = np.array(["ant", "bee", "cow", "dog", "elephant"])
    plain = partial(bootstrap_score, y, p, metric="f1_macro", **few)
    integers = Peer("integers", plain)
    for kind, column in (("text", names), ("objects", names.astype(object))):
        ours = partial(bootstrap_score, column[y], column[p], metric="f1_macro", **few)
        goal = Goal("at most 60 of its time", at_most=60.0)
        yield Row(f"macro F1 of labels as {kind}, n 1e6", ours, goal, integers, megabytes=None)
    weights = rng.integers(1, 5, n)
    for name in ("accuracy", "f1_macro"):
        ours = partial(bootstrap_score, y, p, metric=name, sample_weight=weights, **few)
        peer = Peer("without", partial(bootstrap_score, y, p, metric=name, **few))
        goal = Goal("at most 20 of its time", at_most=20.0)
        yield Row(f"{name} with weights of 1 to 4, n 1e6", ours, goal, peer)
    sets = rng.integers(0, 2, (500, 4))
    ours = partial(bootstrap_score, sets, rng.random((500, 4)) + sets / 2, metric="roc_auc")
    yield Row("ROC AUC of 4 labels a row, n 500, 1,999 resamples", ours, within(0.1, "100 ms"))
    each = partial(metrics.recall_score, average=None)
    y, p = labels(20_000, 500)
    ours = partial(bootstrap_score, y, p, metric=each, random_state=0)
    goal = within(1.5, "1.5 s")
    yield Row("recall of each of 500 classes, n 2e4, 1,999 resamples", ours, goal, megabytes=None)
    large, small = (
        partial(bootstrap_score, *labels(rows, 1000), metric="f1_macro", **few)
        for rows in (1_000_000, 100_000)
    )
    goal = Goal("at most 12.6 of its time", at_most=12.6)
    yield Row("macro F1, 1,000 classes, n 1e6", large, goal, Peer("n 1e5", small), megabytes=128)
    truth = rng.normal(size=min(20_000, MOST_ROWS))
    ours = partial(bootstrap_score, truth, truth[::-1].copy(), metric=_mean_distance, **few)
    calls = partial(_called, truth, truth[::-1].copy(), 1200)
    goal = Goal("at most 4 of their time", at_most=4.0)
    peer = Peer("1,200 calls on as many rows", calls)
    yield Row("any function, n 2e4, 199 resamples", ours, goal, peer)


def _mean_distance(y_true, y_pred) -> float:
    return float(np.abs(y_true - y_pred).mean())


def _called(truth, predicted, times: int) -> None:
    rows = np.random.default_rng(0).integers(0, len(truth), len(truth))
    for _ in range(times):
        _mean_distance(truth[rows], predicted[rows])


def loss_rows() -> Iterator[Row]:
    """Means of continuous losses: counts of rows."""
    rng, n = np.random.default_rng(0), min(100_000, MOST_ROWS)
    losses = rng.exponential(size=n)
    settings = {"n_resamples": 1000, "random_state": 0, "interval": "percentile"}
    ours = partial(bootstrap_score, None, losses, metric="mean", **settings)
    name = "mean of continuous losses, n 1e5, 1,000 resamples"
    yield against_scipy(name, ours, losses, 1000, faster(2.5))
    yield Row(name, ours, within(0.3, "3 ns per resample and row"))
    studentized = {**settings, "interval": "auto"}
    ours_studentized = partial(bootstrap_score, None, losses, metric="mean", **studentized)
    goal = Goal("at most 2 of its time", at_most=2.0)
    yield Row(f"{name}, studentized", ours_studentized, goal, Peer("percentile", ours))
    truth, guess = rng.normal(size=(2, n))
    quantiles = {
        f"pinball {k}": partial(metrics.mean_pinball_loss, alpha=k / 17) for k in range(1, 17)
    }
    one = partial(bootstrap_score, truth, guess, metric=quantiles["pinball 8"], **settings)
    sixteen = partial(bootstrap_score, truth, guess, metric=quantiles, **settings)
    goal = Goal("at most 3 of its time", at_most=3.0)
    yield Row("16 paired means, n 1e5, 1,000 resamples", sixteen, goal, Peer("one mean", one))


def rank_rows() -> Iterator[Row]:
    """Ranks and thresholds: running sums."""
    y, s = scores(100_000)
    settings = {"n_resamples": 1000, "random_state": 0}
    for name, metric, times, nanoseconds in (
        ("ROC AUC", metrics.roc_auc_score, 70, 5.0),
        ("average precision", metrics.average_precision_score, 40, 6.5),
    ):
        name = f"{name}, n 1e5, 1,000 resamples"
        ours = partial(bootstrap_score, y, s, metric=metric, **settings)
        yield against_loop(name, ours, metric, y, s, 20, 1000, faster(times))
        goal = within(nanoseconds * 0.1, f"{nanoseconds:g} ns per resample and row")
        yield Row(name, ours, goal)
    rare = scores(100_000, 0.01)
    ours = partial(bootstrap_score, *rare, metric="roc_auc", **settings)
    name = "ROC AUC, n 1e5, 1% positives, 1,000 resamples"
    yield against_loop(name, ours, metrics.roc_auc_score, *rare, 20, 1000, faster(150))
    ours = partial(bootstrap_score, y, s, metric="neg_equal_error_rate", **settings)
    peer = Peer("one sklearn roc_curve", partial(metrics.roc_curve, y, s))
    name = "equal error rate, n 1e5, 1,000 resamples"
    yield Row(name, ours, Goal("cheaper", at_most=1.0), peer)
    yield against_loop(name, ours, equal_error_rate, y, s, 40, 1000, faster(1000))


def group_rows() -> Iterator[Row]:
    """Whole groups: sums per group."""
    y, p = labels(100_000, 2)
    groups = np.random.default_rng(1).integers(0, 1000, len(y))
    ours = partial(bootstrap_score, y, p, groups=groups, n_resamples=1000, random_state=0)
    name = "grouped accuracy, n 1e5, 1,000 groups, 1,000 resamples"
    agrees = same_spread(spread_of_result, spread_of_values, 1000, 100)
    call = partial(numpy_concatenation, (y == p).astype(float), groups, 100)
    yield Row(name, ours, faster(60), Peer("numpy concatenation", call, 0.1, agrees))
    call = partial(confidence_intervals, metrics.accuracy_score, y, p, 2, groups)
    peer = Peer(
        "confidence_intervals 0.0.3 (its own two-stage scheme)",
        call,
        0.002,
        same_estimate(estimate_of_answer),
    )
    yield Row(name, ours, faster(10_000), peer)


def part_rows() -> Iterator[Row]:
    """Subgroups, strata and fixed tasks, scattered over the rows: what they add to the call."""
    for rows, n_resamples in ((100_000, 1000), (1_000_000, 100)):
        rng, n = np.random.default_rng(1), min(rows, MOST_ROWS)
        columns = {
            "20 subgroups": {"by": rng.integers(0, 20, n)},
            "10 strata": {"strata": rng.integers(0, 10, n)},
            "100 strata": {"strata": rng.integers(0, 100, n)},
            "20 fixed tasks": {"average_over": rng.integers(0, 20, n)},
        }
        truth = rng.normal(size=n)
        metric_data = {
            "accuracy": labels(n, 2),
            "neg_mean_absolute_error": (truth, truth + rng.normal(size=n)),
            "roc_auc": scores(n),
        }
        settings = {"n_resamples": n_resamples, "random_state": 0}
        goal = Goal("at most 3 of its time", at_most=3.0)
        for metric, data in metric_data.items():
            plain = partial(bootstrap_score, *data, metric=metric, **settings)
            megabytes = 20 + 2 * (sum(column.nbytes for column in data) + 8 * n) / 1e6
            for name, column in columns.items():
                yield Row(
                    f"{metric}, {name}, n 1e{len(str(rows)) - 1}, {n_resamples:,} resamples",
                    partial(plain, **column),
                    goal,
                    Peer("the call without", plain),
                    megabytes=megabytes,
                )


def crossed_rows() -> Iterator[Row]:
    """Trials of two crossed factors: bilinear forms."""
    n = math.isqrt(min(10**6, MOST_ROWS))
    enrolled, tested = (a.ravel() for a in np.indices((n, n)))
    y, s = scores(n * n, 0.05)
    pairs = np.column_stack((enrolled, tested))
    for name, metric, plain, times in (
        ("equal error rate", "neg_equal_error_rate", equal_error_rate, 150),
        ("ROC AUC", "roc_auc", metrics.roc_auc_score, 60),
    ):
        settings = {"metric": metric, "groups": pairs, "n_resamples": 200, "random_state": 0}
        agrees = same_spread(spread_of_result, spread_of_values, 200, 8)
        call = partial(trials_loop, plain, y, s, enrolled, tested, 8)
        yield Row(
            f"crossed 1,000 x 1,000 trials, {name}, 200 resamples",
            partial(bootstrap_score, y, s, **settings),
            faster(times),
            Peer("indexing + scikit-learn", call, 0.04, agrees),
        )


def jackknife_rows() -> Iterator[Row]:
    """Acceleration of BCa from data that are reduced already."""
    y, s = scores(100_000)
    losses = np.random.default_rng(0).exponential(size=len(y))
    for name, metric, data, seconds in (
        ("mean", "mean", (None, losses), 0.001),
        ("ROC AUC", "roc_auc", (y, s), 0.010),
        ("average precision", "average_precision", (y, s), 0.020),
    ):
        (statistic,) = resolve_metrics(metric)[0].values()
        reduced = statistic.reduce(*data, None)
        coding = CodedRows(reduced.code, reduced.n_codes, statistic.reading(reduced))
        plan = ResamplingPlan(RowDesign.of(len(y)), 2, np.random.SeedSequence(0))
        bound = BoundStatistic(statistic, reduced, coding)

        def call(plan=plan, coding=coding, bound=bound):
            return jackknife(plan.bind([coding]), [bound], [1.0])

        goal = within(seconds, f"{1e3 * seconds:g} ms")
        yield Row(f"acceleration of BCa, n 1e5, {name}", call, goal)


def refit_rows() -> Iterator[Row]:
    """Refits: how much is added to the fits themselves."""
    from sklearn.datasets import load_iris, make_classification
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    X, y = make_classification(min(5000, MOST_ROWS), 20, random_state=0)
    n_fits, n_quick = N_FITS
    model = LogisticRegression(max_iter=1000)
    ours = partial(_scored, model, ".632+", n_fits, X, y)
    name = ".632+ of a logistic regression, n 5,000, 200 fits"
    fits = Peer("the bare fits", partial(bare_fits, model, X, y, n_fits))
    yield Row(name, ours, Goal("at most 1.15 of their time", at_most=1.15), fits)
    plus = Peer("mlxtend 0.25", partial(mlxtend_632_plus, model, X, y, 1), 1 / n_fits)
    yield Row(name, ours, faster(500), plus)
    X, y = load_iris(return_X_y=True)
    ours = partial(_scored, GaussianNB(), "oob", n_quick, X, y)
    name = "out-of-bag score of GaussianNB on iris, 1,000 fits"
    fits = Peer("the bare fits", partial(bare_fits, GaussianNB(), X, y, n_quick))
    yield Row(name, ours, Goal("at most 120 us more per fit", over=0.12), fits)
    folds = Peer("sklearn cross_validate", partial(cross_validation, GaussianNB(), X, y, n_quick))
    yield Row(name, ours, faster(1.7), folds)


def _scored(model, strategy, n_fits, X, y, n_jobs=None):
    scorer = BootstrapScorer(
        model,
        strategy=strategy,
        n_train_resamples=n_fits,
        refit=False,
        n_jobs=n_jobs,
        random_state=0,
    )
    return scorer.fit(X, y).score_


def large_fit_rows() -> Iterator[Row]:
    """Trainings on many rows: memory beside one training sample, and what two workers gain."""
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.linear_model import SGDClassifier

    rng, n = np.random.default_rng(0), min(625_000, MOST_ROWS)
    X = rng.normal(size=(n, 100))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    sgd = SGDClassifier(max_iter=1, tol=None)
    for name, model in (("nothing", DummyClassifier()), ("SGD, one pass", sgd)):
        ours = partial(_scored, model, "oob", 8, X, y)
        fits = Peer("the bare fits", partial(bare_fits, model, X, y, 8))
        goal = Goal("at most 5 s more", over=5.0)
        yield Row(f"8 fits of {name}, X of 500 MB", ours, goal, fits, 20 + 1.3 * X.nbytes / 1e6)
    two, one = (partial(_scored, sgd, "oob", 8, X, y, n_jobs) for n_jobs in (2, 1))
    goal, peer = Goal("no slower, by the clock", at_most=1.0), Peer("one worker", one)
    yield Row("two workers, SGD, X of 500 MB", two, goal, peer, megabytes=None, timer=clock)
    few = n // 25
    for name, model, times in (
        ("labels", DummyClassifier(), 2.0),
        ("values", DummyRegressor(), 5.5),
    ):
        ours = partial(_scored, model, "oob", N_FITS[0], X[:few], y[:few])
        goal = Goal("at most 2.5 s more", over=2.5)
        fits = Peer("the bare fits", partial(bare_fits, model, X[:few], y[:few], N_FITS[0]))
        megabytes = 20 + times * X[:few].nbytes / 1e6
        yield Row(f"answers of 200 runs, {name}, X of 20 MB", ours, goal, fits, megabytes)


def overhead_rows() -> Iterator[Row]:
    """What a call and an import cost in any case."""
    base = "import sklearn.metrics, scipy.stats"
    yield Row(
        "import skboot",
        Import(f"{base}\nimport skboot"),
        Goal("at most 1.06 of its time", at_most=1.06),
        Peer("import sklearn.metrics, scipy.stats", Import(base)),
        megabytes=None,
        timer=told,
    )


def comparison_rows() -> Iterator[Row]:
    """Many systems, methods and data sets: the time of a pair does not grow with their number."""
    many, some, few = (min(n, MOST_COMPARED) for n in (180, 60, 16))
    yield _against_fewer("systems by accuracy, n 1e3", _systems, many, some, 1000)
    for n in (100_000, 1_000_000):
        for metric in ("accuracy", "mean_squared_error"):
            name = f"{few} systems by {metric}, n {n:.0e}, 200 resamples"
            ours, peer = (_systems(count, n, metric, n_resamples=200) for count in (few, 2))
            goal = Goal("at most 16 of its time", at_most=16.0)
            yield Row(name, ours, goal, Peer("two systems", peer), megabytes=None)
    yield _against_fewer("methods of 5 runs, n 500", _methods_of_runs, some // 2, some // 6, 500)
    scores = np.random.default_rng(0).normal(size=(30, some))
    of_sets = {f"set {k}": {f"{m}": x for m, x in enumerate(own)} for k, own in enumerate(scores)}
    ours = partial(compare_across, of_sets, greater_is_better=True, random_state=0)
    peer = Peer("scipy's Wilcoxon test of each pair", partial(wilcoxon_of_pairs, scores))
    name = f"{some} methods on 30 data sets, new ones"
    yield Row(name, ours, Goal("cheaper", at_most=1.0), peer, megabytes=None)
    compared = _systems(many, 1000)()
    name = f"to_dict of {len(compared.pairs):,} differences"
    peer = Peer("json.dumps of it", partial(json.dumps, compared.to_dict()))
    goal = Goal("at most 4 of its time", at_most=4.0)
    yield Row(name, compared.to_dict, goal, peer, megabytes=None)
    y, p = labels(1000, 2)
    scores_of = ["accuracy", "f1", "balanced_accuracy"]
    table = bootstrap_score(y, p, metric=scores_of, by=np.arange(len(y)) % 20, random_state=0)
    goal = within(0.003, "under 3 ms")
    yield Row("summary of 3 metrics in 20 subgroups", table.summary, goal, megabytes=None)


def _against_fewer(what: str, call, many: int, fewer: int, n: int) -> Row:
    """Compare with fewer of the same: the time may grow with the number of pairs to the 1.1."""
    n_pairs, n_fewer = (k * (k - 1) / 2 for k in (many, fewer))
    most = (n_pairs / n_fewer) ** 1.1
    goal = Goal(f"at most {most:.0f} of its time", at_most=most)
    return Row(f"{many} {what}", call(many, n), goal, Peer(f"{fewer}", call(fewer, n)), None)


def _answers(n_systems: int, n: int, n_runs: int = 1):
    """Draw labels, and the answers of systems that are right more and more often, of each run."""
    rng, n = np.random.default_rng(0), min(n, MOST_ROWS)
    y = rng.integers(0, 2, n)
    shares = np.linspace(0.7, 0.9, n_systems)
    return y, {
        f"system {k}": [np.where(rng.random(n) < share, y, 1 - y) for _ in range(n_runs)]
        for k, share in enumerate(shares)
    }


def _systems(n_systems: int, n: int, metric: str = "accuracy", **settings):
    y, answers = _answers(n_systems, n)
    systems = {name: run for name, (run,) in answers.items()}
    if metric == "mean_squared_error":
        rng = np.random.default_rng(1)
        y = rng.normal(size=len(y))
        systems = {name: y + rng.normal(size=len(y)) for name in systems}
    return partial(compare_systems, y, systems, metric=metric, random_state=0, **settings)


def _methods_of_runs(n_methods: int, n: int):
    return partial(compare_runs, *_answers(n_methods, n, 5), random_state=0)


WORKLOADS = {
    "accuracy": accuracy_rows,
    "labels": label_rows,
    "cliffs": cliff_rows,
    "losses": loss_rows,
    "ranks": rank_rows,
    "groups": group_rows,
    "parts": part_rows,
    "crossed": crossed_rows,
    "jackknife": jackknife_rows,
    "refits": refit_rows,
    "large fits": large_fit_rows,
    "comparisons": comparison_rows,
    "overhead": overhead_rows,
}
