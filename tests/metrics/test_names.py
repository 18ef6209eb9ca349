"""Names of metrics: the right one is known, and a wrong one is answered with the nearest."""

import functools
import warnings

import numpy as np
import pytest
import sklearn.metrics
from sklearn.linear_model import LinearRegression, LogisticRegression

import skboot
from skboot import BootstrapScorer, bootstrap_runs, bootstrap_score, compare_methods
from skboot.metrics import calibration_slope, cllr, cross_entropy, expected_cost


def negated_losses():
    """Name of the scorer by the name of the loss, of those that an error lists."""
    with pytest.raises(ValueError, match="Known names") as raised:
        bootstrap_score([0, 1], [0, 1], metric="nothing of this kind")
    listed = str(raised.value).partition("Known names: ")[2].partition(";")[0].split(", ")
    return {name.removeprefix("neg_"): name for name in listed if name.startswith("neg_")}


LOSSES = negated_losses()
RNG = np.random.default_rng(0)
N = 80
BINARY = RNG.integers(0, 2, N)
DECISION = np.where(RNG.random(N) < 0.2, 1 - BINARY, BINARY)
SCORE = BINARY + RNG.normal(size=N)
PROBABILITY = 1 / (1 + np.exp(-SCORE))

# What people write, near enough to a name for it to be asked.
NEAR = {
    "macro F1": "f1_macro",
    "adjusted R2": "r2",
    "accuracys": "accuracy",
    "balanced acurracy": "balanced_accuracy",
}
NEAR_LOSS = {"mean_square_error": "mean_squared_error", "log_lose": "log_loss"}


def doors():
    """Calls of all entry points that take a metric, by name: functions of that metric."""
    runs = np.array([DECISION, BINARY, 1 - DECISION])
    X = SCORE[:, None]

    def scored(scoring):
        scorer = BootstrapScorer(LogisticRegression(), scoring=scoring, n_train_resamples=3)
        return scorer.fit(X, BINARY)

    def methods(scoring):
        pair = {"a": LogisticRegression(), "b": LogisticRegression(C=2)}
        return compare_methods(pair, X, BINARY, scoring=scoring, n_train_resamples=3)

    by_metric = {
        "bootstrap_score": lambda m: bootstrap_score(BINARY, DECISION, metric=m),
        "bootstrap_runs": lambda m: bootstrap_runs(BINARY, runs, metric=m),
        "compare_systems": lambda m: skboot.compare_systems(
            BINARY, {"a": DECISION, "b": BINARY}, metric=m
        ),
        "compare_runs": lambda m: skboot.compare_runs(BINARY, {"a": runs, "b": runs}, metric=m),
    }
    by_scoring = {
        "BootstrapScorer": scored,
        "compare_methods": methods,
        "get_scorer": skboot.metrics.get_scorer,
    }
    return by_metric, by_scoring


def first_line(call, name):
    with pytest.raises(ValueError, match=name) as raised:
        call(name)
    return str(raised.value).splitlines()[0]


@pytest.mark.parametrize(("given", "meant"), [*NEAR.items(), *NEAR_LOSS.items()])
def test_the_first_line_of_the_error_is_the_one_nearest_name(given, meant):
    by_metric, by_scoring = doors()
    negated = LOSSES.get(meant, meant)
    for call in by_metric.values():
        assert f"Did you mean {meant!r}?" in first_line(call, given)
    for call in by_scoring.values():
        assert first_line(call, given).endswith(f"Did you mean {negated!r}?")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("mae", "mean_absolute_error"),
        ("RMSE", "root_mean_squared_error"),
        ("eer", "equal_error_rate"),
        ("brier_loss", "brier_score"),
    ],
)
def test_scoring_refuses_what_people_call_a_loss_and_names_the_negated_one(given, meant):
    for call in doors()[1].values():
        assert first_line(call, given).endswith(f"Did you mean {LOSSES[meant]!r}?")


@pytest.mark.parametrize("name", ["kappa", "cllr", "nec", "ece"])
def test_scoring_shows_how_to_make_a_scorer_of_what_has_none(name):
    for call in doors()[1].values():
        assert "wrap that function in sklearn.metrics.make_scorer" in first_line(call, name)


def test_several_near_names_are_named_and_all_only_where_none_is_near():
    call = doors()[0]["bootstrap_score"]
    with pytest.raises(ValueError, match="Did you mean 'f1_micro' or 'f1_macro'") as raised:
        call("f1_mcro")
    assert "Known names" not in str(raised.value)
    with pytest.raises(ValueError, match="\nKnown names: accuracy, "):
        call("qwerty")


@pytest.mark.parametrize(
    ("name", "function", "options"),
    [
        ("nec", expected_cost, {"relative": True}),
        ("nte", expected_cost, {"relative": True}),
        ("nce", cross_entropy, {"relative": True}),
        ("cllr", cllr, {}),
        ("calibration_slope", calibration_slope, {}),
    ],
)
def test_a_name_of_skboot_is_its_function_with_these_options(name, function, options):
    y_pred = np.column_stack((1 - PROBABILITY, PROBABILITY))
    y_pred = {expected_cost: DECISION, cllr: SCORE}.get(function, y_pred)
    few = {"n_resamples": 99, "interval": "percentile", "random_state": 0}
    found = bootstrap_score(BINARY, y_pred, metric=name, **few)
    assert found.estimate == pytest.approx(function(BINARY, y_pred, **options), rel=1e-12)


TEN = np.arange(N) % 10
OF_TEN = RNG.random((N, 10)) + 0.3 * np.eye(10)[TEN]


@pytest.mark.parametrize(
    ("name", "k"),
    {
        "top5": 5, "top-5": 5, "Top 5 accuracy": 5, "top_5_accuracy": 5, "top5_acc": 5, "acc@5": 5,
        "accuracy@3": 3, "top_4_accuracy_score": 4, "top_k_accuracy": 2, "acc_at_3": 3,
        "top_k_accuracy_score": 2, "top_3": 3,
    }.items(),
)  # fmt: skip
def test_a_name_of_a_top_k_accuracy_holds_its_k_and_so_does_the_result(name, k):
    few = {"n_resamples": 99, "interval": "percentile", "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bootstrap_score(TEN, OF_TEN, metric=[name, "accuracy"], **few)
    expected = sklearn.metrics.top_k_accuracy_score(TEN, OF_TEN, k=k)
    assert found[name].estimate == found[f"top_{k}_accuracy"].estimate == pytest.approx(expected)
    assert found[name].metric == f"top_{k}_accuracy"


@pytest.mark.parametrize("name", ["top1", "acc@1", "top-1 accuracy"])
def test_a_top_1_accuracy_is_the_accuracy(name):
    few = {"n_resamples": 99, "interval": "percentile", "random_state": 0}
    found = bootstrap_score(TEN, OF_TEN, metric=name, **few)
    assert found.metric == "accuracy"
    assert found.estimate == np.mean(OF_TEN.argmax(axis=1) == TEN)


def test_the_function_of_a_top_k_accuracy_shows_its_k():
    top = sklearn.metrics.top_k_accuracy_score
    few = {"n_resamples": 99, "interval": "percentile", "random_state": 0}
    for metric, k in ((top, 2), (functools.partial(top, k=3), 3)):
        found = bootstrap_score(TEN, OF_TEN, metric=metric, **few)
        assert found.metric == f"top_k_accuracy_score (k={k})"


def test_scoring_names_the_function_of_a_top_k_accuracy():
    for call in doors()[1].values():
        line = first_line(call, "top5")
        assert "functools.partial(sklearn.metrics.top_k_accuracy_score, k=5)" in line


SETS = RNG.integers(0, 2, (N, 3))
SAID = np.where(RNG.random((N, 3)) < 0.2, 1 - SETS, SETS)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted", "samples"])
@pytest.mark.parametrize(
    ("name", "function"), {"iou": "jaccard", "dice": "f1", "Dice Score": "f1"}.items()
)
@pytest.mark.filterwarnings("ignore:.*counts as 0 in")
def test_what_people_call_a_ratio_has_the_averages_of_its_name(name, function, average):
    few = {"n_resamples": 99, "interval": "percentile", "random_state": 0}
    found = bootstrap_score(SETS, SAID, metric=f"{name}_{average}", **few)
    expected = getattr(sklearn.metrics, f"{function}_score")(
        SETS, SAID, average=average, zero_division=0
    )
    assert found.estimate == pytest.approx(expected)


@pytest.mark.parametrize("name", ["brier_skill_score", "BSS", "scaled Brier"])
def test_the_skill_of_a_brier_score_is_not_the_score(name):
    few = {"n_resamples": 99, "interval": "percentile", "random_state": 0}
    if not hasattr(sklearn.metrics, "d2_brier_score"):
        assert "relative=True" in first_line(doors()[0]["bootstrap_score"], name)
        return
    found = bootstrap_score(BINARY, PROBABILITY, metric=name, **few)
    base = np.mean((BINARY - BINARY.mean()) ** 2)
    assert found.estimate == pytest.approx(1 - np.mean((BINARY - PROBABILITY) ** 2) / base)


@pytest.mark.parametrize(
    ("name", "shown"),
    {
        "sensitivity_at_specificity": "sensitivity_at, specificity=0.9)",
        "sens@spec=0.95": "sensitivity_at, specificity=0.95)",
        "Sensitivity at 95% specificity": "sensitivity_at, specificity=0.95)",
        "tpr@fpr=0.1": "sensitivity_at, specificity=0.9)",
        "TPR at 0.1% FPR": "sensitivity_at, specificity=0.999)",
        "tpr@fpr=0.1%": "sensitivity_at, specificity=0.999)",
        "tpr_at_fpr": "sensitivity_at, specificity=0.99)",
        "specificity_at_sensitivity": "specificity_at, sensitivity=0.9)",
        "spec@sens 0.8": "specificity_at, sensitivity=0.8)",
        "fpr@tpr=0.95": "false_positive_rate_at, false_negative_rate=0.05)",
    }.items(),
)
def test_a_rate_at_a_bound_on_another_is_shown_with_its_bound(name, shown):
    assert f"functools.partial(skboot.metrics.{shown}" in first_line(
        doors()[0]["bootstrap_score"], name
    )


@pytest.mark.parametrize("name", ["precision@k", "precision@10", "P@5", "recall_at_5"])
def test_precision_at_k_shows_a_callable(name):
    for calls in doors():
        for call in calls.values():
            line = first_line(call, name)
            assert "No metric has this name: give a callable" in line
            assert "y[np.argsort(-score)[:" in line


@pytest.mark.filterwarnings("ignore:.*rows moves this score")
def test_the_callable_that_is_shown_for_precision_at_k_works():
    line = first_line(doors()[0]["bootstrap_score"], "precision@10")
    shown = line.partition("metric=")[2].partition(" of labels")[0]
    metric = eval(shown, {"np": np})
    top = BINARY[np.argsort(-SCORE)[:10]]
    result = bootstrap_score(BINARY, SCORE, metric=metric, n_resamples=199, random_state=0)
    assert result.estimate == pytest.approx(top.mean())


@pytest.mark.parametrize("name", ["qwerty", "confusion_matrix", "roc_curve"])
def test_a_name_that_is_near_to_none_gets_the_names_and_a_callable(name):
    assert first_line(doors()[0]["bootstrap_score"], name).endswith(f"Got {name!r}.")
    with pytest.raises(ValueError, match="is a callable: metric=lambda y_true, y_pred"):
        bootstrap_score(BINARY, DECISION, metric=name)


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_without_its_sign_is_the_negated_scorer_and_smaller_is_better(name):
    y_pred = {"log_loss": PROBABILITY, "cross_entropy": PROBABILITY}.get(name, DECISION)
    if "brier" in name:
        y_pred = PROBABILITY
    if "equal_error" in name:
        y_pred = SCORE
    y_true = BINARY
    if "deviance" in name or "percentage" in name:
        y_true, y_pred = BINARY + 1, DECISION + 1
    options = {"n_resamples": 199, "random_state": 0, "interval": "percentile"}
    loss = bootstrap_score(y_true, y_pred, metric=name, **options)
    score = bootstrap_score(y_true, y_pred, metric=LOSSES[name], **options)
    assert loss.metric == name
    assert loss.estimate == -score.estimate
    assert loss.confidence_interval.low == -score.confidence_interval.high
    assert (loss.greater_is_better, score.greater_is_better) == (False, True)


def test_a_comparison_by_a_loss_finds_the_smaller_one_better():
    systems = {"good": DECISION, "bad": 1 - DECISION}
    result = skboot.compare_systems(BINARY, systems, metric="expected_cost", random_state=0)
    pair = result.pairs[0]
    assert pair.bootstrap_support == 1


@pytest.mark.parametrize("name", LOSSES)
def test_scoring_refuses_every_loss_without_its_sign_and_names_the_negated_one(name):
    scorer = BootstrapScorer(LinearRegression(), scoring=name, n_train_resamples=3)
    message = rf"'scoring' parameter .* Got '{name}'\. Did you mean 'neg_{name}'\?"
    with pytest.raises(ValueError, match=message):
        scorer.fit(SCORE[:, None], BINARY)
