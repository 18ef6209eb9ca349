"""Names of metrics: the right one is known, and a wrong one is answered with the nearest."""

import numpy as np
import pytest
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
    "top-5": "top_k_accuracy",
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
        assert "sklearn.metrics.make_scorer of that function" in first_line(call, name)


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


@pytest.mark.parametrize("name", ["precision@k", "precision@10", "P@5", "recall_at_5"])
def test_precision_at_k_shows_a_callable(name):
    for calls in doors():
        for call in calls.values():
            line = first_line(call, name)
            assert "No metric has this name: give a callable" in line
            assert "y[np.argsort(-score)[:" in line


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
    if "deviance" in name:
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
