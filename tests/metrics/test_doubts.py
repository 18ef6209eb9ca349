"""Predictions that are hardly what was meant are told as such, and ordinary ones are not."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

import skboot
from skboot.testing import assert_not_worse

RNG = np.random.default_rng(0)
N = 400
TRUTH = RNG.integers(0, 2, N)
RIGHT = RNG.random(N) < 0.853
DECISION = np.where(RIGHT, TRUTH, 1 - TRUTH)
SCORE = np.clip(0.3 * TRUTH + 0.7 * RNG.random(N), 0, 1)
SIGNED = 2 * TRUTH - 1
FEW = {"n_resamples": 199, "random_state": 0}
UNMET = "labels that do not occur in y_true"
DECIDED = "two distinct values"


def said(call):
    """Return the texts of the warnings of a call."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in found]


def streamed(metric, truth, predicted, **given):
    accumulator = skboot.BootstrapAccumulator(metric, random_state=0, n_resamples=199)
    accumulator.update(truth, predicted, start=0, **given)
    return accumulator.result()


def systems(one, other):
    return {"A": one, "B": other}


# Every public function that takes predictions, on a truth and predictions of a metric.
DOORS = {
    "bootstrap_score": lambda y, p, m: skboot.bootstrap_score(y, p, metric=m, **FEW),
    "bootstrap_runs": lambda y, p, m: skboot.bootstrap_runs(y, [p] * 10, metric=m, **FEW),
    "compare_systems": lambda y, p, m: skboot.compare_systems(
        y, systems(p, p[::-1]), metric=m, **FEW
    ),
    "unpaired": lambda y, p, m: skboot.compare_systems(
        systems(y, y), systems(p, p[::-1]), metric=m, paired=False, **FEW
    ),
    "compare_runs": lambda y, p, m: skboot.compare_runs(
        y, systems([p] * 10, [p[::-1]] * 10), metric=m, **FEW
    ),
    "search_score": lambda y, p, m: skboot.search_score(y, systems(p, p[::-1]), metric=m, **FEW),
    "gate": lambda y, p, m: assert_not_worse(
        y, p, p, metric=m, margin=0.1, inconclusive="pass", **FEW
    ),
    "accumulator": lambda y, p, m: streamed(m, y, p),
}


# ------------------------------------------------------------------ labels that do not meet


@pytest.mark.parametrize("door", DOORS)
def test_every_function_says_once_that_labels_do_not_meet(door):
    texts = [
        text for text in said(lambda: DOORS[door](SIGNED, DECISION, "accuracy")) if UNMET in text
    ]
    assert len(texts) == 1
    assert "y_true holds [-1, 1]" in texts[0]
    assert texts[0].endswith("[0, 1]. Use the same labels in both.")
    assert len(texts[0]) <= 200


UNMET_PAIRS = {
    "other sign": (SIGNED, DECISION),
    "few of the other class": (np.where(RNG.random(N) < 0.1, -1, 1), RNG.random(N) > 0.1),
    "from 1": (TRUTH, DECISION + 1),
    "text": (np.array(["no", "yes"])[TRUTH], np.array(["No", "Yes"])[DECISION]),
    "ten classes from 1": (np.arange(N) % 10, np.arange(N) % 10 + 1),
    "percent": (TRUTH, (97 * SCORE).astype(int)),
    "another task": (TRUTH, np.arange(N) % 10),
}


@pytest.mark.parametrize("name", UNMET_PAIRS)
def test_labels_of_another_coding_are_told(name):
    truth, predicted = UNMET_PAIRS[name]
    if predicted.dtype == bool:
        predicted = predicted.astype(int)
    texts = said(lambda: skboot.bootstrap_score(truth, predicted, metric="accuracy", **FEW))
    assert any(UNMET in text for text in texts)


def good_of(n_classes, n, accuracy, seed=0):
    """Return classes and predictions of which as many are right."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    return truth, np.where(rng.random(n) < accuracy, truth, rng.integers(0, n_classes, n))


def few_of_ten(accuracy):
    """Return a test set of three classes, and predictions by a model of ten."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, N)
    return truth, np.where(rng.random(N) < accuracy, truth, rng.integers(0, 10, N))


MEETING = {
    "two classes": (TRUTH, DECISION),
    "all wrong": (TRUTH, 1 - TRUTH),
    "never the positive": (TRUTH, np.zeros(N, int)),
    "one class alone": (np.ones(N, int), np.where(RIGHT, 1, 0)),
    "one class, always wrong": (np.ones(N, int), np.zeros(N, int)),
    "one class of ten": (np.full(N, 3), np.where(RIGHT, 3, np.arange(N) % 10)),
    "three of ten classes": few_of_ten(0.6),
    "three of ten classes, bad model": few_of_ten(0.35),
    "a thousand classes in 50 rows": good_of(1000, 50, 0.4),
    "a thousand classes in 2,000 rows": good_of(1000, 2000, 0.5),
    "100 classes in 1,000 rows": good_of(100, 1000, 0.3),
    "a rare class of both": (
        np.array([0] * 95 + [1] * 4 + [2]),
        np.array([0] * 95 + [3] * 2 + [1] * 2 + [3]),
    ),
    "four rows": (np.array([0, 1, 0, 1]), np.array([2, 3, 2, 3])),
    "floats beside integers": (TRUTH, DECISION.astype(float)),
    "booleans beside integers": (TRUTH, DECISION.astype(bool)),
}


@pytest.mark.parametrize("name", MEETING)
@pytest.mark.parametrize("metric", ["accuracy", "f1_macro"])
def test_labels_that_meet_are_not_told(name, metric):
    truth, predicted = MEETING[name]
    texts = said(lambda: skboot.bootstrap_score(truth, predicted, metric=metric, **FEW))
    assert not any(UNMET in text for text in texts)


@pytest.mark.parametrize(
    "metric", ["adjusted_rand_score", "mean_absolute_error", lambda y, p: float(np.mean(y == p))]
)
def test_labels_need_not_meet_for_clusters_values_and_functions_of_the_user(metric):
    better = True if callable(metric) else None
    given = {"metric": metric, "greater_is_better": better, **FEW}
    texts = said(lambda: skboot.bootstrap_score(SIGNED, DECISION + 5, **given))
    assert not any(UNMET in text for text in texts)
    assert not any(
        UNMET in text
        for text in said(lambda: skboot.bootstrap_score(None, DECISION, metric="mean", **FEW))
    )


def test_labels_that_the_call_names_are_known():
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 3, N), rng.dirichlet(np.ones(10), N)
    texts = said(lambda: skboot.bootstrap_score(truth, scores, labels=range(10), **FEW))
    assert not any(UNMET in text for text in texts)
    given = {"labels": range(10), "costs": 2 - 2 * np.eye(10)}
    metric = partial(skboot.metrics.expected_cost, **given)
    predicted = rng.integers(3, 10, N)
    texts = said(lambda: skboot.bootstrap_score(truth, predicted, metric=metric, **FEW))
    assert not any(UNMET in text for text in texts)


def test_all_rows_are_looked_at_only_where_ten_thousand_disagree():
    n = 100_000
    truth, tenth = np.random.default_rng(0).integers(0, 2, n), np.arange(n) % 10 == 0

    def said_of(decision):
        return said(lambda: skboot.bootstrap_score(truth, decision, metric="accuracy", **FEW))

    # Every tenth row is looked at first. Where these agree the others, of another coding, are not.
    assert not said_of(np.where(tenth, truth, 7))
    assert any(UNMET in text for text in said_of(np.where(np.roll(tenth, 1), truth, 7)))
    # Every tenth row is of another coding, and no other row is: all are looked at.
    assert not said_of(np.where(tenth, 7, truth))


@pytest.mark.parametrize("metric", ["f1", "precision", "jaccard", "sensitivity", "npv"])
def test_an_error_on_other_labels_offers_no_average_over_classes(metric):
    with pytest.raises(ValueError, match=r"must hold the labels of y_true, \[-1, 1\]") as caught:
        skboot.bootstrap_score(SIGNED, DECISION, metric=metric, **FEW)
    assert "[0, 1]" in str(caught.value)
    assert "macro" not in str(caught.value)


def test_f1_of_a_truth_of_three_labels_still_offers_averages():
    three = np.arange(N) % 3
    with pytest.raises(ValueError, match="f1_macro"):
        skboot.bootstrap_score(three, three, metric="f1", **FEW)


def test_several_metrics_and_systems_tell_of_labels_once():
    metrics = ["accuracy", "balanced_accuracy", "cohen_kappa", "f1_macro"]
    metrics = {"accuracy": "accuracy", "f1": "f1_macro", "kappa": cohen_kappa_score}
    given = {"A": DECISION, "B": DECISION[::-1], "C": DECISION + 5}
    texts = said(lambda: skboot.compare_systems(SIGNED, given, metric=metrics, **FEW))
    assert sum(UNMET in text for text in texts) == 1


def test_a_batch_of_rows_sorted_by_class_tells_nothing():
    truth, predicted = few_of_ten(0.35)
    order = np.argsort(truth, kind="stable")
    accumulator = skboot.BootstrapAccumulator("accuracy", random_state=0, n_resamples=199)
    for at in range(0, N, 50):
        rows = order[at : at + 50]
        texts = said(
            lambda at=at, rows=rows: accumulator.update(truth[rows], predicted[rows], start=at)
        )
        assert not any(UNMET in text for text in texts)


def test_a_warning_as_an_error_leaves_an_accumulator_as_it_was():
    accumulator = skboot.BootstrapAccumulator("accuracy", random_state=0, n_resamples=199)
    with pytest.raises(UserWarning, match=UNMET):
        accumulator.update(SIGNED, DECISION, start=0)
    assert accumulator.n_samples == 0


def test_columns_of_dask_tell_of_labels_and_decisions():
    array = pytest.importorskip("dask.array")
    truth, predicted = (array.from_array(one, chunks=100) for one in (SIGNED, DECISION))
    texts = said(lambda: skboot.bootstrap_score(truth, predicted, metric="accuracy", **FEW))
    assert sum(UNMET in text for text in texts) == 1
    texts = said(lambda: skboot.bootstrap_score(truth, predicted, metric="roc_auc", **FEW))
    assert sum(DECIDED in text for text in texts) == 1


# ------------------------------------------------------------------ decisions in place of scores


@pytest.mark.parametrize("door", DOORS)
def test_every_function_says_once_that_scores_are_decisions(door):
    given = (TRUTH, DECISION, "roc_auc")
    texts = [text for text in said(lambda: DOORS[door](*given)) if DECIDED in text]
    assert len(texts) == 1
    assert len(texts[0]) <= 200


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "equal_error_rate"])
def test_rankings_tell_of_decisions(metric):
    for scores in (DECISION, DECISION.astype(bool), 0.2 + 0.6 * DECISION):
        texts = said(lambda s=scores: skboot.bootstrap_score(TRUTH, s, metric=metric, **FEW))
        assert sum(DECIDED in text for text in texts) == 1
    columns = np.column_stack((1 - DECISION, DECISION)).astype(float)
    texts = said(lambda: skboot.bootstrap_score(TRUTH, columns, metric=metric, **FEW))
    assert sum(DECIDED in text for text in texts) == 1


def test_the_auc_of_decisions_is_their_balanced_accuracy():
    given = {"metric": ["roc_auc", "balanced_accuracy"], **FEW}
    with pytest.warns(UserWarning, match="is then balanced accuracy"):
        found = skboot.bootstrap_score(TRUTH, DECISION, **given)
    assert found["roc_auc"].estimate == pytest.approx(found["balanced_accuracy"].estimate)


LEAVES = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(SCORE[:, None], TRUTH)
RANKED = {
    "scores": SCORE,
    "three leaves": LEAVES.predict_proba(SCORE[:, None])[:, 1],
    "two columns": np.column_stack((1 - SCORE, SCORE)),
    "constant": np.full(N, 0.5),
    "one row differs late": np.where(np.arange(N) == N - 1, 0.5, DECISION),
}


@pytest.mark.parametrize("name", RANKED)
@pytest.mark.parametrize("metric", ["roc_auc", "average_precision"])
def test_scores_of_other_than_two_values_are_not_told(name, metric):
    texts = said(lambda: skboot.bootstrap_score(TRUTH, RANKED[name], metric=metric, **FEW))
    assert not any(DECIDED in text for text in texts)


def test_two_values_of_few_rows_are_not_told():
    given = (TRUTH[:9], DECISION[:9])
    texts = said(lambda: skboot.bootstrap_score(*given, metric="roc_auc", **FEW))
    assert not any(DECIDED in text for text in texts)


def test_an_estimator_that_gives_two_scores_is_not_told():
    stump = skboot.BootstrapScorer(
        DecisionTreeClassifier(random_state=0),
        scoring="roc_auc",
        n_train_resamples=0,
        estimand="system",
        random_state=0,
    )
    X = SCORE[:, None]
    texts = said(lambda: stump.fit(X[:200], TRUTH[:200], X_test=X[200:], y_test=TRUTH[200:]))
    assert not any(DECIDED in text for text in texts)


def test_a_curve_of_two_scores_is_told():
    texts = said(lambda: skboot.bootstrap_curve(TRUTH, 0.2 + 0.6 * DECISION, **FEW))
    assert sum(DECIDED in text for text in texts) == 1
    assert not any(
        DECIDED in text for text in said(lambda: skboot.bootstrap_curve(TRUTH, SCORE, **FEW))
    )


# ------------------------------------------------------------------ the other class, and ratios

REVERSED = "Worse than scores that ignore the input"
RATIOS = 3.0 * SIGNED + RNG.normal(size=N) * 3
COSTS = partial(skboot.metrics.actual_detection_cost, priors=[0.5, 0.5], relative=True)
CHANCE = 1 / (1 + np.exp(-RATIOS))


# Those that make a result of each system from all rows.
WITH_RESULTS = ["bootstrap_score", "bootstrap_runs", "compare_systems", "unpaired", "gate"]


@pytest.mark.parametrize("door", WITH_RESULTS)
@pytest.mark.parametrize(
    ("metric", "scores"),
    [("cllr", RATIOS), (COSTS, RATIOS), ("log_loss", CHANCE), ("roc_auc", RATIOS)],
    ids=["cllr", "cost", "log_loss", "roc_auc"],
)
def test_every_function_says_that_scores_are_those_of_the_other_class(door, metric, scores):
    def texts(truth):
        found = said(lambda: DOORS[door](truth, scores, metric))
        return [text for text in found if REVERSED in text]

    assert any("give pos_label=1." in text for text in texts(2 - TRUTH))
    if door in ("bootstrap_score", "bootstrap_runs", "gate"):
        # Others compare with a system that is in no order.
        assert not texts(TRUTH)


def test_losses_of_miscalibrated_scores_are_not_called_reversed():
    noise = 10 * np.random.default_rng(1).normal(size=N)
    for scores in (noise, RATIOS + 20, 0.1 * RATIOS - 8):
        found = skboot.bootstrap_score(TRUTH, scores, metric="cllr", **FEW)
        assert found.confidence_interval[0] > 1
        assert not any(REVERSED in text for text in found.notes)
        assert any("Worse than the baseline" in text for text in found.notes)


@pytest.mark.parametrize("metric", ["cllr", "roc_auc", "log_loss", "brier_score"])
def test_columns_of_the_other_order_are_told_with_what_mends_them(metric):
    columns = np.column_stack((CHANCE, 1 - CHANCE))
    columns = np.log(columns) if metric == "cllr" else columns
    columns = columns - columns[:, ::-1] if metric == "cllr" else columns
    with pytest.warns(UserWarning, match=r"if they mean 0, give labels=\[1, 0\]"):
        skboot.bootstrap_score(TRUTH, columns, metric=metric, **FEW)
    given = dict(metric=metric, **FEW)
    mended = skboot.bootstrap_score(TRUTH, columns, labels=[1, 0], **given)
    right = skboot.bootstrap_score(TRUTH, columns[:, ::-1], **given)
    assert mended.estimate == pytest.approx(right.estimate)
    assert not any(REVERSED in text for text in mended.notes)


@pytest.mark.parametrize("door", [name for name in DOORS if name != "accumulator"])
@pytest.mark.parametrize("metric", ["cllr", COSTS], ids=["cllr", "cost"])
def test_every_function_says_once_that_ratios_are_probabilities(door, metric):
    def texts(scores):
        found = said(lambda: DOORS[door](TRUTH, scores, metric))
        return [text for text in found if "as probabilities do" in text]

    assert len(texts(CHANCE)) == 1
    assert not texts(RATIOS)
    assert not texts(np.zeros(N))


# ------------------------------------------------------------------ columns of several systems

PROBABILITIES = np.column_stack((1 - SCORE, SCORE))
TWO = np.column_stack((SCORE, RNG.random(N)))


@pytest.mark.parametrize("metric", ["accuracy", "f1", "balanced_accuracy", "log_loss", "brier"])
def test_two_columns_within_0_and_1_that_are_no_classes_are_doubted(metric):
    options = dict(metric=metric, **FEW)
    texts = said(lambda: skboot.bootstrap_score(TRUTH, TWO, **options))
    assert sum("Two systems go to compare_systems." in text for text in texts) == 1
    for columns in (PROBABILITIES, PROBABILITIES.astype(np.float32)):
        assert not said(lambda c=columns: skboot.bootstrap_score(TRUTH, c, **options))


def test_two_columns_of_logits_and_the_systems_of_two_columns_are_not_doubted():
    logits = 10 * TWO - 5
    assert not said(lambda: skboot.bootstrap_score(TRUTH, logits, metric="accuracy", **FEW))
    texts = said(
        lambda: skboot.compare_systems(
            TRUTH, systems(PROBABILITIES, TWO), metric=["accuracy", "f1"], **FEW
        )
    )
    [text] = [text for text in texts if "do not sum" in text]
    assert "y_preds['B']" in text


@pytest.mark.parametrize("n_systems", [2, 3, 10])
def test_columns_of_labels_are_those_of_several_systems(n_systems):
    ten = np.arange(N) % 10
    labels = np.random.default_rng(0).integers(0, 10, (N, n_systems))
    with pytest.raises(ValueError, match=r"shape \(400, .*use compare_systems") as caught:
        skboot.bootstrap_score(ten, labels, **FEW)
    assert "labels=" not in str(caught.value)


# ------------------------------------------------------------------ numbers without a meaning


@pytest.mark.parametrize("metric", ["ece", "calibration_slope", "calibration_intercept"])
def test_calibration_of_ten_classes_is_told_as_that_of_two(metric):
    rng = np.random.default_rng(0)
    labels = np.array(list("abcdefghij"))
    y_true, y_pred = labels[np.arange(N) % 10], rng.dirichlet(np.ones(10), N)
    with pytest.raises(ValueError, match=r"hold two classes.*Got 10 classes") as caught:
        skboot.bootstrap_score(y_true, y_pred, metric=metric, **FEW)
    advised = str(caught.value).partition("probable class: ")[2].partition(", with")[0]
    known = {"y_true": y_true, "y_pred": y_pred, "labels": labels}
    right, confidence = (eval(text, known) for text in advised.split(" and "))
    assert skboot.bootstrap_score(right, confidence, metric=metric, **FEW).estimate is not None


def test_the_net_benefit_of_three_classes_is_refused():
    metric = partial(skboot.metrics.net_benefit, threshold=0.2)
    columns = np.random.default_rng(0).dirichlet(np.ones(3), N)
    with pytest.raises(ValueError, match=r"hold two classes.*y_true == label"):
        skboot.bootstrap_score(np.arange(N) % 3, columns, metric=metric, **FEW)


def test_relative_errors_of_0_are_told():
    truth = SCORE.copy()
    truth[:3] = 0
    texts = said(lambda: skboot.bootstrap_score(truth, truth + 0.1, metric="mape", **FEW))
    assert any("y_true is 0 in 3 of 400 rows" in text for text in texts)
    for other in (np.where(truth == 0, 0, 0.5), truth):
        texts = said(lambda p=other: skboot.bootstrap_score(truth, p, metric="mape", **FEW))
        assert not any("y_true is 0" in text for text in texts)


# ------------------------------------------------------------------ exchanged, and percent


@pytest.mark.parametrize(
    "metric", ["accuracy", "f1", "roc_auc", "log_loss", "brier_score", "equal_error_rate"]
)
def test_truth_and_scores_exchanged_are_told(metric):
    with pytest.raises(ValueError, match="Truth and scores seem to be swapped"):
        skboot.bootstrap_score(SCORE, TRUTH, metric=metric, **FEW)


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "log_loss"])
def test_truth_and_probabilities_exchanged_are_told(metric):
    scores = PROBABILITIES
    with pytest.raises(ValueError, match="Truth and scores seem to be swapped"):
        skboot.bootstrap_score(scores, TRUTH, metric=metric, **FEW)


def test_a_curve_tells_of_truth_and_scores_exchanged():
    with pytest.raises(ValueError, match="Truth and scores seem to be swapped"):
        skboot.bootstrap_curve(SCORE, TRUTH, **FEW)
    with pytest.raises(ValueError, match="Truth and scores seem to be swapped"):
        skboot.bootstrap_curve(SCORE, {"A": TRUTH, "B": TRUTH}, **FEW)


def test_real_targets_beside_few_whole_predictions_are_no_exchange():
    texts = said(
        lambda: skboot.bootstrap_score(SCORE, DECISION, metric="mean_absolute_error", **FEW)
    )
    assert texts == []
    with pytest.raises(ValueError, match="class labels") as caught:
        skboot.bootstrap_score(SCORE, 0.5 + SCORE, metric="accuracy", **FEW)
    assert "exchanged" not in str(caught.value)


@pytest.mark.parametrize("metric", ["log_loss", "brier_score"])
@pytest.mark.parametrize(
    "given",
    [97 * SCORE, (97 * SCORE).astype(int), 100 * PROBABILITIES],
    ids=["real", "whole", "2-D"],
)
def test_percent_in_the_place_of_probabilities_are_told(metric, given):
    with pytest.raises(ValueError, match="Divide percent by 100; convert logits to probabilities"):
        skboot.bootstrap_score(TRUTH, given, metric=metric, **FEW)


def test_curves_of_probabilities_tell_of_percent():
    with pytest.raises(ValueError, match="Divide percent by 100; convert logits to probabilities"):
        skboot.bootstrap_curve(TRUTH, 97 * SCORE, curve="calibration", **FEW)


@pytest.mark.parametrize("given", [10 * SCORE - 5, 1000 * SCORE])
def test_logits_and_large_scores_are_not_called_percent(given):
    with pytest.raises(ValueError, match="Convert logits to probabilities") as caught:
        skboot.bootstrap_score(TRUTH, given, metric="log_loss", **FEW)
    assert "Percent" not in str(caught.value)


def test_scikit_learn_gives_the_number_that_is_doubted():
    with pytest.warns(UserWarning, match=DECIDED):
        found = skboot.bootstrap_score(TRUTH, DECISION, metric="roc_auc", **FEW)
    assert found.estimate == pytest.approx(roc_auc_score(TRUTH, DECISION))
    with pytest.warns(UserWarning, match=UNMET):
        found = skboot.bootstrap_score(SIGNED, DECISION, metric="f1_macro", **FEW)
    assert found.estimate == pytest.approx(
        f1_score(SIGNED, DECISION, average="macro", zero_division=0)
    )
