"""One call of every public function on every design, kind of metric and interval: small, seeded.

60 rows and 199 resamples, or 50 training samples: what matters is that each path is walked.
"""

from functools import partial

import numpy as np
from scipy.special import expit
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.metrics import (
    f1_score,
    fbeta_score,
    hamming_loss,
    label_ranking_loss,
    median_absolute_error,
    ndcg_score,
)
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import skboot
from skboot import Trials
from skboot.inference import prediction_error, proportion_interval
from skboot.metrics import (
    calibration_slope,
    cllr,
    expected_calibration_error,
    minimum_detection_cost,
    pass_at_k,
)
from skboot.testing import assert_not_worse

N = 60
_rng = np.random.default_rng(20)
LABEL = np.tile([0, 1], N // 2)
SCORE = np.round(_rng.normal(size=N) + 1.3 * LABEL, 1)
OTHER = np.round(_rng.normal(size=N) + 1.1 * LABEL, 1)
DECISION = (SCORE > 0.6).astype(int)
SECOND = (OTHER > 0.6).astype(int)
THIRD = np.where(_rng.random(N) < 0.4, 1 - LABEL, LABEL)
CLASSES = np.array(["ant", "bee", "cat"])[np.repeat([0, 1, 2], [30, 20, 10])]
PROBABILITIES = _rng.dirichlet(np.ones(3), size=N) + 0.7 * (CLASSES[:, None] == np.unique(CLASSES))
PROBABILITIES /= PROBABILITIES.sum(axis=1, keepdims=True)
SAID = np.unique(CLASSES)[PROBABILITIES.argmax(axis=1)]
TARGET = _rng.normal(size=N)
VALUE = TARGET + 0.5 * _rng.normal(size=N)
LOSS = _rng.exponential(size=N)
MEMORY = np.convolve(LOSS, np.ones(4) / 4, "same")
WEIGHT = _rng.integers(1, 4, size=N).astype(float)
GROUP = np.repeat(np.arange(20), 3)
STRATUM = np.repeat(["left", "right"], N // 2)
SUBGROUP = np.tile(["a", "a", "a", "b", "b", "c"], N // 6)
TRIALS = np.array([(speaker, clip) for speaker in range(10) for clip in range(6)])
PAIRS = np.array([(a, b) for a in range(11) for b in range(a, 11)])[:N]
TASK = np.repeat([f"task {k:02d}" for k in range(12)], N // 12)
GIVEN = _rng.integers(0, N, size=(99, N))
RUNS = np.array([np.where(_rng.random(N) < 0.2, 1 - LABEL, LABEL) for _ in range(6)])
WORSE = np.array([np.where(_rng.random(N) < 0.3, 1 - LABEL, LABEL) for _ in range(6)])
SCORE_RUNS = np.array([np.round(_rng.normal(size=N) + LABEL, 1) for _ in range(5)])
LOSS_RUNS = _rng.exponential(size=(5, N))
SAMPLES = np.array(["s1", "s1", "s2", "s2", "s3", "s3"])
X = np.c_[SCORE, OTHER, _rng.normal(size=(N, 2))]
X_TEST, LABEL_TEST = X[::-1] + 0.1, LABEL[::-1]
SYSTEMS = {"first": DECISION, "second": SECOND, "third": THIRD}
SCORES = {"first": SCORE, "second": OTHER}
MANY = {str(k): _rng.integers(0, 2, size=N) for k in range(8)}
ACROSS = {
    f"set {k:02d}": dict(zip("abc", row, strict=True))
    for k, row in enumerate(np.random.default_rng(21).normal([0.5, 0.4, 0.2], 0.3, (14, 3)))
}
_several = np.random.default_rng(22)
SETS = (_several.random((N, 3)) < (0.6, 0.4, 0.2)).astype(int)
SAID_SETS, OTHER_SETS = (
    np.where(_several.random((N, 3)) < share, 1 - SETS, SETS) for share in (0.1, 0.2)
)
SET_SCORES = np.round(SETS + _several.normal(size=(N, 3)), 1)
SET_RUNS = np.array([np.where(_several.random((N, 3)) < 0.2, 1 - SETS, SETS) for _ in range(6)])
OUTPUTS = np.column_stack((TARGET, 10 * LOSS))
OUTPUT_VALUES = OUTPUTS + _several.normal(size=(N, 2))
OWN_ROWS = {"first": slice(None), "second": slice(0, 45)}
FEW = {"n_resamples": 199, "random_state": 0}
FITS = {"n_train_resamples": 50, "n_cv_repeats": 2, "random_state": 0}


def share_right(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def right_and_bias(y_true, y_pred):
    return {"right": np.mean(y_true == y_pred), "bias": np.mean(y_pred) - np.mean(y_true)}


def share_above(y_true, y_score, grid):
    return [np.mean(y_score > at) for at in grid]


def sure_and_right(estimator, X, y):
    probabilities = estimator.predict_proba(X)
    return float(np.mean(probabilities[np.arange(len(X)), y] > 0.7))


def _score(*args, **options):
    return partial(skboot.bootstrap_score, *args, **FEW | options)


def _runs(*args, **options):
    return partial(skboot.bootstrap_runs, *args, **FEW | options)


def _systems(*args, **options):
    return partial(skboot.compare_systems, *args, **FEW | options)


def _streamed(y_true, y_pred, metric, groups=None, **options):
    """Rows in three batches."""

    def call():
        found = skboot.BootstrapAccumulator(metric, **FEW | options)
        for rows in np.array_split(np.arange(len(y_true)), 3):
            own = y_pred[rows]
            if options.get("systems"):
                own = {name: SYSTEMS[name][rows] for name in options["systems"]}
            units = {"start": rows[0]} if groups is None else {"groups": groups[rows]}
            found.update(y_true[rows], own, **units)
        return found.result()

    return call


def _compare_runs(*args, **options):
    return partial(skboot.compare_runs, *args, **FEW | options)


def _search(*args, **options):
    return partial(skboot.search_score, *args, **FEW | options)


def _fit(estimator, y, test=None, groups=None, **options):
    def call():
        scorer = skboot.BootstrapScorer(estimator, **FITS | options)
        return scorer.fit(X, y, groups=groups, **(test or {})).result_

    return call


def _own(values):
    """One array, or one for each of two systems, on test sets of their own."""
    if not isinstance(values, dict):
        values = dict.fromkeys(OWN_ROWS, values)
    return {name: np.asarray(values[name])[rows] for name, rows in OWN_ROWS.items()}


def _unpaired(y_true, y_preds, **options):
    columns = {
        name: _own(options.pop(name)) for name in ("average_over", "groups") if name in options
    }
    truth = None if y_true is None else _own(y_true)
    return _systems(truth, _own(y_preds), paired=False, **columns, **options)


def _curve(**options):
    return partial(skboot.bootstrap_curve, LABEL, expit(SCORE), **FEW | options)


def _across(scores, **options):
    known = {"greater_is_better": True} if scores is ACROSS else {}
    return partial(skboot.compare_across, scores, **FEW | known | options)


def _results(y_true=LABEL, **options):
    """Two systems on three data sets, which are thirds of the rows."""
    return {
        f"third {k}": _systems(
            y_true[k::3], {name: SYSTEMS[name][k::3] for name in ("first", "second")}, **options
        )()
        for k in range(3)
    }


def _ranks(comparison):
    return lambda: [(row.rank, row.low, row.high) for row in comparison().ranks().values()]


def _curve_at(k):
    def call():
        found = _curve()()
        return found.at(found.x[k])

    return call


def _curve_of_a_stream(curve):
    """A curve of two systems whose rows come in three batches."""

    def call():
        found = skboot.BootstrapAccumulator("roc_auc", systems=list(SCORES), n_bins=64, **FEW)
        for rows in np.array_split(np.arange(N), 3):
            own = {name: score[rows] for name, score in SCORES.items()}
            found.update(LABEL[rows], own, start=rows[0])
        return found.curve(curve)

    return call


def _mean_ranks(comparison):
    def call():
        found = comparison()
        rows = [(row.mean_rank, row.low, row.high) for row in found.mean_ranks().values()]
        return rows, tuple(found.friedman), [pair.wilcoxon_p_value for pair in found.pairs]

    return call


def _verdict(first, second, **options):
    return partial(assert_not_worse, LABEL, first, second, inconclusive="pass", **FEW | options)


def _plan(pilot, **options):
    def call():
        made = pilot() if pilot else None
        return skboot.plan_evaluation(made.pairs[0] if hasattr(made, "pairs") else made, **options)

    return call


def _methods(estimators, y, **options):
    return partial(skboot.compare_methods, estimators, X, y, **FITS | options)


def _proportion():
    interval = proportion_interval(50, 60)
    return *interval, interval.confidence_level


def _prediction_error(method):
    rng = np.random.default_rng(1)
    counts = rng.multinomial(N, np.full(N, 1 / N), size=50)
    losses = (rng.random((50, N)) < 0.3).astype(float)
    return prediction_error(
        losses,
        counts,
        resubstitution_losses=(rng.random(N) < 0.2).astype(float),
        no_information_rate=0.5,
        cv_losses=(rng.random((2, N)) < 0.3).astype(float),
    ).interval(method)


def _folds(splitter, groups=None):
    return lambda: [
        (train.tolist(), test.tolist()) for train, test in splitter.split(X, LABEL, groups)
    ]


def _out_of_fold():
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}, cv=3)
    return skboot.model_selection.out_of_fold(search.fit(X, LABEL), X, LABEL)


BAYES, TREE = GaussianNB(), DecisionTreeClassifier(max_depth=3)
TEST = {"X_test": X_TEST, "y_test": LABEL_TEST}
INTERVALS = [
    "wald",
    "wilson",
    "clopper-pearson",
    "percentile",
    "expanded",
    "basic",
    "normal",
    "t",
    "studentized",
    "bca",
]

CALLS = {
    **{f"score, {name}": _score(LABEL, DECISION, interval=name) for name in INTERVALS},
    "score, delong": _score(LABEL, SCORE, metric="roc_auc", interval="delong"),
    "score, rows": _score(LABEL, DECISION),
    "score, weights": _score(LABEL, DECISION, sample_weight=WEIGHT),
    "score, groups": _score(LABEL, DECISION, groups=GROUP),
    "score, strata": _score(LABEL, DECISION, strata=STRATUM),
    "score, groups in strata": _score(LABEL, DECISION, groups=GROUP, strata=GROUP % 2),
    "score, crossed": _score(LABEL, DECISION, groups=TRIALS),
    "score, one population": _score(LABEL, SCORE, metric="roc_auc", groups=Trials(*PAIRS.T)),
    "stream, rows": _streamed(LABEL, DECISION, ["accuracy", "f1", "matthews_corrcoef"]),
    "stream, scores in few intervals": _streamed(LABEL, SCORE, "roc_auc", n_bins=8),
    "stream, groups": _streamed(LABEL, DECISION, "balanced_accuracy", groups=np.arange(N) * 2 // 3),
    "stream, systems": _streamed(LABEL, DECISION, "f1", systems=["first", "second"]),
    "score, given resamples": _score(LABEL, DECISION, resamples=GIVEN),
    "score, by": _score(LABEL, DECISION, by=SUBGROUP),
    "score, several": _score(LABEL, DECISION, metric=["accuracy", "f1", "recall_macro"]),
    "score, f1": _score(LABEL, DECISION, metric="f1"),
    "score, f1 macro": _score(CLASSES, SAID, metric="f1_macro"),
    "score, mcc": _score(LABEL, DECISION, metric="matthews_corrcoef"),
    "score, roc_auc": _score(LABEL, SCORE, metric="roc_auc"),
    "score, roc_auc of groups": _score(LABEL, SCORE, metric="roc_auc", groups=GROUP),
    "score, average precision": _score(LABEL, SCORE, metric="average_precision"),
    "score, equal error rate": _score(LABEL, SCORE, metric="neg_equal_error_rate"),
    "score, eer crossed": _score(LABEL, SCORE, metric="neg_equal_error_rate", groups=TRIALS),
    "score, log loss": _score(CLASSES, PROBABILITIES, metric="neg_log_loss"),
    "score, one-vs-rest": _score(CLASSES, PROBABILITIES, metric="roc_auc_ovr"),
    "score, squared error": _score(TARGET, VALUE, metric="neg_mean_squared_error"),
    "score, r2": _score(TARGET, VALUE, metric="r2"),
    "score, r2 of groups": _score(TARGET, VALUE, metric="r2", groups=GROUP),
    "score, median": _score(TARGET, VALUE, metric=median_absolute_error),
    "score, mean": _score(None, LOSS, metric="mean"),
    "score, mean of groups": _score(None, LOSS, metric="mean", groups=GROUP),
    "score, blocks": _score(None, MEMORY, metric="mean", block_length=5),
    "score, blocks of automatic length": _score(TARGET, MEMORY, metric="r2", block_length="auto"),
    "score, blocks of a panel": _score(
        LABEL, SCORE, metric="roc_auc", block_length=4, strata=STRATUM
    ),
    "score, callable": _score(LABEL, DECISION, metric=share_right),
    "score, fixed tasks": _score(LABEL, DECISION, average_over=TASK),
    "score, drawn tasks": _score(LABEL, DECISION, average_over=TASK, groups=TASK),
    "score, f1 of fixed tasks": _score(LABEL, DECISION, metric="f1", average_over=TASK),
    "score, roc_auc of fixed tasks": _score(LABEL, SCORE, metric="roc_auc", average_over=TASK),
    "score, tasks of groups": _score(LABEL, DECISION, average_over=STRATUM, groups=GROUP),
    "score, pass at k": _score(
        None, pass_at_k(np.arange(N) % 11, 10, 3), metric="mean", greater_is_better=True
    ),
    "score, label sets": _score(
        SETS, SAID_SETS, metric=["f1_macro", "f1_micro", "f1_samples", "accuracy"]
    ),
    "score, label sets of groups": _score(SETS, SAID_SETS, metric="jaccard_macro", groups=GROUP),
    "score, weighted label sets": _score(
        SETS, SAID_SETS, metric=["recall_weighted", hamming_loss], sample_weight=WEIGHT
    ),
    "score, scores of labels": _score(
        SETS, SET_SCORES, metric=["roc_auc", label_ranking_loss, ndcg_score]
    ),
    "score, outputs": _score(
        OUTPUTS, OUTPUT_VALUES, metric=["r2", "mean_absolute_error", "root_mean_squared_error"]
    ),
    "score, partial": _score(LABEL, DECISION, metric=partial(fbeta_score, beta=2)),
    "score, expected cost": _score(LABEL, DECISION, metric="neg_expected_cost"),
    "runs, seeds": _runs(LABEL, RUNS, metric="accuracy"),
    "runs, label sets": _runs(SETS, SET_RUNS, metric="f1_macro"),
    "runs, training": _runs(LABEL, RUNS, metric="accuracy", varied="training", full_runs=RUNS[:2]),
    "runs, both": _runs(
        LABEL, RUNS, metric="accuracy", varied="both", training=SAMPLES, full_runs=RUNS[:2]
    ),
    "runs, independent": _runs(LABEL, RUNS, metric="accuracy", varied="independent"),
    "runs, next run": _runs(LABEL, RUNS, metric="accuracy", estimand="next_run"),
    "runs, pooled": _runs(LABEL, RUNS, metric="accuracy", estimand="pooled"),
    "runs, system": _runs(LABEL, RUNS, metric="accuracy", estimand="system"),
    "runs, groups": _runs(LABEL, RUNS, metric="accuracy", groups=GROUP),
    "runs, roc_auc": _runs(LABEL, SCORE_RUNS, metric="roc_auc"),
    "runs, fixed tasks": _runs(LABEL, RUNS, metric="accuracy", average_over=TASK),
    "runs, drawn tasks": _runs(LABEL, RUNS, metric="accuracy", average_over=TASK, groups=TASK),
    "runs, blocks": _runs(None, LOSS_RUNS, metric="mean", block_length=4),
    "runs, mean": _runs(None, LOSS_RUNS, metric="mean"),
    "systems, rows": _systems(LABEL, SYSTEMS),
    "systems, holm": _systems(LABEL, SYSTEMS, adjust="holm"),
    "systems, reference": _systems(LABEL, SYSTEMS, reference="third"),
    "systems, tango": _systems(LABEL, SYSTEMS, interval="tango"),
    "systems, groups": _systems(LABEL, SYSTEMS, groups=GROUP),
    "systems, crossed": _systems(LABEL, SYSTEMS, groups=TRIALS),
    "systems, roc_auc": _systems(LABEL, SCORES, metric="roc_auc"),
    "systems, delong": _systems(LABEL, SCORES, metric="roc_auc", interval="delong"),
    "systems, blocks": _systems(LABEL, SCORES, metric="roc_auc", block_length=4),
    "systems, callable": _systems(LABEL, SYSTEMS, metric=share_right),
    "systems, by": _systems(LABEL, SYSTEMS, by=SUBGROUP),
    "systems, label sets": _systems(
        SETS, {"first": SAID_SETS, "second": OTHER_SETS}, metric="f1_macro"
    ),
    "systems, several": _systems(LABEL, SYSTEMS, metric=["accuracy", "f1"]),
    "systems, one side": _systems(LABEL, SYSTEMS, alternative="greater"),
    "systems, fixed tasks": _systems(LABEL, SYSTEMS, average_over=TASK),
    "systems, drawn tasks": _systems(LABEL, SYSTEMS, average_over=TASK, groups=TASK),
    "systems, on rows of their own": _unpaired(LABEL, SYSTEMS),
    "systems, groups of their own": _unpaired(LABEL, SYSTEMS, groups=GROUP),
    "systems, roc_auc of rows of their own": _unpaired(LABEL, SCORES, metric="roc_auc"),
    "systems, drawn tasks of their own": _unpaired(LABEL, SYSTEMS, average_over=TASK, groups=TASK),
    "curve, roc": _curve(),
    "curve, roc of groups": _curve(groups=GROUP),
    "curve, roc, pointwise": _curve(band="pointwise"),
    "curve, det of weights": _curve(curve="det", sample_weight=WEIGHT),
    "curve, precision": _curve(curve="precision_recall"),
    "curve, calibration": _curve(curve="calibration"),
    "curve, smoothed calibration": _curve(curve="calibration_smooth"),
    "curve, decision": _curve(curve="decision"),
    "curve, own": _curve(curve=share_above, grid=[0.2, 0.5, 0.8]),
    "curve, two systems": partial(
        skboot.bootstrap_curve, LABEL, {k: expit(v) for k, v in SCORES.items()}, **FEW
    ),
    "curve, a point": _curve_at(20),
    "curve, of a stream": _curve_of_a_stream("roc"),
    "curve, precision of a stream": _curve_of_a_stream("precision_recall"),
    "score, calibration slope": _score(LABEL, expit(SCORE), metric=calibration_slope),
    "score, calibration error": _score(LABEL, expit(SCORE), metric=expected_calibration_error),
    "score, minimum detection cost": _score(
        LABEL, SCORE, metric=partial(minimum_detection_cost, priors=(0.9, 0.1))
    ),
    "score, cllr": _score(LABEL, SCORE, metric=cllr),
    "ranks, rows": _ranks(_systems(LABEL, MANY)),
    "ranks, mean": _ranks(
        _systems(None, {k: LOSS_RUNS[k] for k in range(5)}, metric="mean", greater_is_better=False)
    ),
    "ranks, runs": _ranks(_compare_runs(LABEL, {"a": RUNS, "b": WORSE})),
    "gate, rows": _verdict(DECISION, SECOND, margin=0.1),
    "gate, groups": _verdict(DECISION, SECOND, margin=0.1, groups=GROUP),
    "gate, f1": _verdict(DECISION, SECOND, margin=0.1, metric="f1"),
    "gate, superior": _verdict(DECISION, THIRD, margin=0.0),
    "gate, roc_auc in strata": partial(
        assert_not_worse,
        *(LABEL, SCORE, OTHER),
        **{"metric": "roc_auc", "margin": 0.3, "inconclusive": "pass", "strata": STRATUM, **FEW},
    ),
    "across, scores": _across(ACROSS),
    "across, holm": _across(ACROSS, adjust="holm", margin=0.1),
    "across, reference": _across(ACROSS, reference="c", alternative="greater"),
    "across, mean ranks": _mean_ranks(_across(ACROSS)),
    "across, results": lambda: _across(_results())(),
    "across, these": lambda: _across(_results(), estimand="these")(),
    "plan, half-width of rows": _plan(_score(LABEL, DECISION), half_width=0.05),
    "plan, half-width of groups": _plan(_score(LABEL, DECISION, groups=GROUP), half_width=0.05),
    "plan, half-width of runs": _plan(_runs(LABEL, RUNS, metric="accuracy"), half_width=0.08),
    "plan, difference": _plan(_systems(LABEL, SYSTEMS), difference=0.1),
    "plan, margin": _plan(_systems(LABEL, SCORES, metric="roc_auc"), margin=0.1, power=0.9),
    "plan, margin of runs": _plan(
        _compare_runs(LABEL, {"a": RUNS, "b": WORSE}), margin=0.1, n_runs=8
    ),
    "plan, difference of f1": _plan(_systems(LABEL, SYSTEMS, metric="f1"), difference=0.2),
    "plan, proportion": _plan(None, proportion=0.9, half_width=0.02),
    "several numbers, rows": _score(LABEL, DECISION, metric=right_and_bias),
    "several numbers, groups": _score(LABEL, DECISION, metric=right_and_bias, groups=GROUP),
    "several numbers, each class": _score(
        CLASSES, np.roll(CLASSES, 4), metric=partial(f1_score, average=None)
    ),
    "several numbers, among others": _score(
        LABEL, DECISION, metric={"own": right_and_bias, "f1": "f1"}
    ),
    "several numbers, at once": _score(LABEL, DECISION, metric=right_and_bias, adjust="max-t"),
    "several numbers, systems": _systems(LABEL, SYSTEMS, metric=right_and_bias),
    "several numbers, runs": _runs(LABEL, RUNS, metric=right_and_bias),
    "compare runs, seeds": _compare_runs(LABEL, {"a": RUNS, "b": WORSE}),
    "compare runs, fixed tasks": _compare_runs(LABEL, {"a": RUNS, "b": WORSE}, average_over=TASK),
    "compare runs, paired": _compare_runs(LABEL, {"a": RUNS, "b": WORSE}, paired_runs=True),
    "compare runs, welch": _compare_runs(LABEL, {"a": RUNS, "b": WORSE}, interval="welch"),
    "compare runs, independent": _compare_runs(
        LABEL, {"a": RUNS, "b": WORSE}, varied="independent"
    ),
    "search, accuracy": _search(LABEL, MANY),
    "search, groups": _search(LABEL, MANY, groups=GROUP),
    "search, roc_auc": _search(LABEL, SCORES, metric="roc_auc"),
    "scorer, cv-bootstrap": _fit(BAYES, LABEL),
    "scorer, oob": _fit(BAYES, LABEL, strategy="oob"),
    "scorer, .632": _fit(TREE, LABEL, strategy=".632"),
    "scorer, .632+": _fit(TREE, LABEL, strategy=".632+"),
    "scorer, groups": _fit(BAYES, LABEL, groups=GROUP),
    "scorer, roc_auc": _fit(BAYES, LABEL, scoring="roc_auc"),
    "scorer, a callable of estimator, X and y": _fit(BAYES, LABEL, scoring=sure_and_right),
    "scorer, label sets on a test set": _fit(
        DecisionTreeClassifier(max_depth=2),
        SETS,
        test={"X_test": X_TEST, "y_test": SETS[::-1]},
        scoring=["f1_macro", "roc_auc"],
        n_train_resamples=10,
        n_test_resamples=49,
        random_state=0,
    ),
    "scorer, several": _fit(BAYES, LABEL, scoring=["accuracy", "neg_log_loss", "f1"]),
    "scorer, r2": _fit(Ridge(), TARGET),
    "scorer, squared error of a tree": _fit(
        DecisionTreeRegressor(max_depth=2), TARGET, scoring="neg_mean_squared_error"
    ),
    "scorer, dummy": _fit(DummyClassifier(), LABEL),
    "scorer, test set": _fit(TREE, LABEL, TEST, n_seeds=2),
    "scorer, test set, next run": _fit(TREE, LABEL, TEST, n_seeds=2, estimand="next_run"),
    "methods, out of bag": _methods({"bayes": BAYES, "tree": TREE}, LABEL),
    "methods, roc_auc": _methods({"bayes": BAYES, "tree": TREE}, LABEL, scoring="roc_auc"),
    "methods, groups": _methods({"bayes": BAYES, "tree": TREE}, LABEL, groups=GROUP),
    "methods, test set": _methods({"bayes": BAYES, "tree": TREE}, LABEL, **TEST),
    "out of fold": _out_of_fold,
    "corrected t": lambda: skboot.model_selection.corrected_t(
        [0.8, 0.82, 0.79, 0.85, 0.81], [0.78, 0.8, 0.8, 0.79, 0.8], n_train=54, n_test=6
    ),
    "proportion interval": _proportion,
    "error, label sets and costs": _score(SETS, SAID_SETS, metric="neg_expected_cost"),
    "error, an interval of crossed factors": _score(
        LABEL, SCORE, metric="roc_auc", groups=TRIALS, interval="bca"
    ),
    "error, a curve of three classes": partial(skboot.bootstrap_curve, CLASSES, SCORE, **FEW),
    "error, systems of two lengths": _systems(LABEL, {"first": DECISION, "second": SECOND[1:]}),
    "error, no direction": lambda: _systems(
        None, {"a": LOSS, "b": MEMORY}, metric="mean"
    )().ranks(),
    "error, no such metric": _score(LABEL, DECISION, metric="acuracy"),
    "error, a stream of bca": _streamed(LABEL, DECISION, "accuracy", interval="bca"),
    "error, a method of a system": _fit(BAYES, LABEL, estimand="system"),
    "error, a plan of nothing": _plan(None, proportion=0.9),
    **{
        f"prediction error, {method}": partial(_prediction_error, method)
        for method in ("adjusted", "hull", "cv-bootstrap")
    },
    "folds, rows": _folds(skboot.BootstrapSplit(3, random_state=0)),
    "folds, classes": _folds(skboot.StratifiedBootstrapSplit(3, random_state=0)),
    "folds, groups": _folds(skboot.GroupBootstrapSplit(3, random_state=0), GROUP),
    "folds, test": _folds(skboot.BootstrapTestSplit(KFold(2), n_resamples=2, random_state=0)),
    "folds, seeds": _folds(skboot.SeedSplit(2, StratifiedKFold(2))),
}
