"""A call that fails for a usual reason is answered with the call that works."""

import functools
import inspect
import pickle
import re
import warnings

import numpy as np
import pytest
import scipy.special
import sklearn.metrics
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.svm import SVC

import skboot
import skboot.metrics
import skboot.testing
from skboot import (
    BootstrapScorer,
    bootstrap_runs,
    bootstrap_score,
    compare_runs,
    compare_systems,
    search_score,
)
from skboot._base import hints
from skboot._base.hints import Hinting
from skboot.inference import proportion_interval
from skboot.inference.intervals import FOR_ONE_SCORE, canonical_interval, title_of, words_of
from skboot.results import ComparisonResult, DatasetsComparison

RNG = np.random.default_rng(0)
N = 60
TRUTH = RNG.integers(0, 2, N)
DECISION = np.where(RNG.random(N) < 0.2, 1 - TRUTH, TRUTH)
WORDS = np.array(["no", "yes"])[TRUTH]
X = (TRUTH + RNG.normal(size=N))[:, None]
NAMESPACE = {"functools": functools, "sklearn": sklearn, "np": np}


def message_of(call):
    with pytest.raises(ValueError, match="must") as raised:
        call()
    return str(raised.value)


@pytest.mark.filterwarnings("ignore:BootstrapScorer")
@pytest.mark.parametrize("name", ["f1", "precision", "recall", "jaccard"])
def test_labels_that_are_words_get_a_metric_and_a_scorer_that_work(name):
    def fitted(scoring):
        scorer = BootstrapScorer(
            LogisticRegression(), scoring=scoring, n_train_resamples=5, random_state=0
        )
        return scorer.fit(X, WORDS)

    message = message_of(lambda: fitted(name))
    assert message == message_of(lambda: bootstrap_score(WORDS, WORDS, metric=name)).replace(
        "'y_true' parameter of bootstrap_score", "'y' parameter of BootstrapScorer.fit"
    )
    positive = message.partition("pos_label=")[2].partition(", or in a")[0]
    scoring = message.partition("scoring=")[2].removesuffix(".")
    result = bootstrap_score(
        WORDS, WORDS, metric=name, pos_label=eval(positive), n_resamples=399, random_state=0
    )
    assert result.estimate == 1
    scorer = fitted(eval(scoring, NAMESPACE))
    expected = sklearn.metrics.get_scorer(name)(LogisticRegression().fit(X, TRUTH), X, TRUTH)
    assert scorer.score(X, WORDS) == pytest.approx(expected)


def test_words_that_are_numbers_are_to_be_converted():
    text = [f"{value:.2f}" for value in RNG.random(N)]
    for call, argument in (
        (lambda: bootstrap_score(TRUTH, text, metric="roc_auc"), "y_pred"),
        (lambda: bootstrap_score(TRUTH, DECISION, sample_weight=text), "sample_weight"),
    ):
        assert f"np.asarray({argument}, dtype=float)" in message_of(call)


def test_records_are_to_give_their_fields():
    pairs = np.zeros(N, dtype=[("enrol", int), ("test", int)])
    message = message_of(lambda: bootstrap_score(TRUTH, DECISION, groups=pairs))
    assert "['enrol', 'test']" in message
    assert "np.column_stack" in message


def test_two_metrics_of_one_name_are_named_by_it():
    metrics = [functools.partial(sklearn.metrics.fbeta_score, beta=beta) for beta in (0.5, 2)]
    metrics = [*metrics, metrics[0]]
    message = message_of(lambda: bootstrap_score(TRUTH, DECISION, metric=metrics))
    assert "two 'fbeta_score (beta=0.5)'" in message


def test_the_advice_on_average_precision_of_words_works():
    score = RNG.random(N)
    message = message_of(lambda: bootstrap_score(WORDS, score, metric="average_precision"))
    advised = eval(f"dict({message.partition('Name yours: ')[2].partition(', or in a')[0]})")
    expected = sklearn.metrics.average_precision_score(WORDS, score, pos_label="yes")
    options = {"metric": "average_precision", "n_resamples": 999, "random_state": 0}
    result = bootstrap_score(WORDS, score, **advised, **options)
    assert result.estimate == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore:.*smaller class", "ignore:.*rows decide")
@pytest.mark.parametrize("metric", ["roc_auc", "equal_error_rate", "neg_equal_error_rate"])
def test_scores_of_the_other_class_are_told_which_one_is_positive(metric):
    options = dict(metric=metric, n_resamples=399, random_state=0)
    names, score = np.where(TRUTH, "genuine", "impostor"), TRUTH + RNG.normal(0, 0.5, N)
    with (
        pytest.warns(UserWarning, match="The positive class is 'impostor', the greater label: "),
        pytest.warns(UserWarning, match="Worse than scores that ignore the input"),
    ):
        found = bootstrap_score(names, score, **options)
    [note] = [x for x in found.notes if "ignore" in x]
    assert "Larger scores must mean 'impostor', the greater label" in note
    advised = eval(f"dict({note.partition('give ')[2].removesuffix('.')})")
    right = bootstrap_score(names, score, **advised, **options)
    assert not any("ignore" in x for x in right.notes)
    assert right.estimate == pytest.approx(bootstrap_score(TRUTH, score, **options).estimate)


def test_scores_that_may_be_no_worse_than_chance_are_left_alone():
    # The advice needs a whole 95% interval below chance: 2.5% of useless scores at most.
    score = np.random.default_rng(3).normal(size=N)
    result = bootstrap_score(TRUTH, score, metric="equal_error_rate", random_state=0)
    low, high = result.confidence_interval
    assert low < 0.5 < high
    assert not any("ignore" in x for x in result.notes)


def test_two_columns_of_groups_in_a_tuple_are_two_factors_or_members():
    groups = (np.arange(N) % 10, (np.arange(N) * 7) % 12)
    message = message_of(lambda: bootstrap_score(TRUTH, DECISION, groups=groups))
    assert "groups=skboot.Crossed(first, second)" in message
    assert "groups=skboot.Trials(first, second)" in message
    with pytest.warns(UserWarning, match="Only 10 members"):
        result = bootstrap_score(
            TRUTH, DECISION, groups=skboot.Crossed(*groups), n_resamples=399, random_state=0
        )
    assert result.n_samples == N


@pytest.mark.parametrize("values", [(x for x in DECISION), map(int, DECISION), {1: 0}.values()])
def test_generators_are_to_be_lists(values):
    assert "list(y_pred)" in message_of(lambda: bootstrap_score(TRUTH, values))


def test_sets_have_no_order():
    assert "A set has no order" in message_of(lambda: bootstrap_score(TRUTH, {0, 1}))


@pytest.mark.parametrize("model", [LogisticRegression(), LogisticRegression, len])
def test_a_model_is_to_predict(model):
    message = message_of(lambda: bootstrap_score(TRUTH, model))
    assert "model.predict(X_test)" in message
    assert "BootstrapScorer(model).fit(X, y)" in message


def test_a_dict_of_systems_or_test_sets_leads_to_the_call_for_each():
    message = message_of(lambda: bootstrap_score({"a": TRUTH}, {"a": DECISION}))
    assert "compare_systems(y_true, y_preds)" in message
    shown = message.partition("for each: ")[2].removesuffix(".")
    names = {"y_true": {"a": TRUTH}, "y_pred": {"a": DECISION}, "bootstrap_score": bootstrap_score}
    assert list(eval(shown, names)) == ["a"]


def test_a_share_in_the_place_of_a_count_is_turned_into_the_count():
    message = message_of(lambda: proportion_interval(0.93, 200))
    assert message.endswith("for a share of 0.93 of 200 rows use k=186, n=200.")


def test_a_dict_of_runs_leads_to_the_comparison_and_to_the_list():
    message = message_of(lambda: bootstrap_runs(TRUTH, {"a": TRUTH, "b": TRUTH}, metric="accuracy"))
    assert "compare_runs(y_true, y_preds)" in message
    assert "list(y_preds.values())" in message


def test_a_run_that_is_refused_is_called_by_its_method_and_number():
    runs = {"MLP-8": [DECISION[:10], DECISION], "b": [DECISION, TRUTH]}
    message = message_of(lambda: compare_runs(TRUTH, runs, metric="accuracy"))
    assert """"y_preds['MLP-8'][0]" parameter of compare_runs must have as many rows""" in message


def test_a_metric_of_a_pair_is_to_give_one_number_or_a_dict():
    def both(y_true, y_pred):
        return 1.0, 2.0

    message = message_of(lambda: bootstrap_score(TRUTH, DECISION, metric=both))
    assert "metric=lambda y_true, y_pred: f(y_true, y_pred)[0]" in message
    assert "dict" in message


def test_a_misspelt_choice_is_answered_with_the_nearest():
    message = message_of(lambda: bootstrap_score(TRUTH, DECISION, interval="bcaa"))
    assert message.endswith("Did you mean 'bca'?")


@pytest.mark.parametrize("name", ["A", "B"])
@pytest.mark.parametrize(
    ("bad", "options"),
    [
        ([0, 1], {}),
        (np.zeros((N, 2, 2)), {}),
        ([None, *DECISION[1:]], {}),
        ({1: 0}, {}),
        ((x for x in DECISION), {}),
        (X[:, 0], {}),
        (WORDS, {}),
        (WORDS, {"metric": "r2"}),
        (np.zeros((N, 3)), {"metric": "log_loss"}),
        (np.full(N, -1.0), {"metric": "brier_score"}),
    ],
)
def test_an_error_of_compare_systems_names_the_system_whichever_it_is(bad, options, name):
    good = DECISION / 2 if options else DECISION
    systems = {"A": good, "B": good, name: bad}
    message = message_of(lambda: compare_systems(TRUTH, systems, **options))
    assert f"y_preds['{name}']" in message
    assert "'y_pred'" not in message


@pytest.mark.parametrize("argument", ["groups", "strata", "by", "sample_weight"])
def test_a_column_of_another_length_is_not_compared_with_an_argument_that_is_not_there(argument):
    systems = {"A": DECISION, "B": TRUTH}
    message = message_of(lambda: compare_systems(TRUTH, systems, **{argument: [1, 2, 3]}))
    assert f"The {argument!r} parameter of compare_systems must have" in message
    assert "3 rows" in message
    assert "'y_pred'" not in message


@pytest.mark.parametrize("bad", [X[:, 0], WORDS])
def test_a_run_that_the_metric_cannot_take_is_named_by_its_argument_and_number(bad):
    good, some = [DECISION] * 3, [DECISION, bad, TRUTH]
    full = {"A": good, "B": [DECISION, bad]}
    options = {"metric": "accuracy", "varied": "training"}
    calls = {
        "y_preds[1]": lambda: bootstrap_runs(TRUTH, some, metric="accuracy"),
        "y_preds['B'][1]": lambda: compare_runs(TRUTH, {"A": good, "B": some}),
        "full_runs[1]": lambda: bootstrap_runs(TRUTH, good, full_runs=full["B"], **options),
        "full_runs['B'][1]": lambda: compare_runs(
            TRUTH, {"A": good, "B": good}, full_runs=full, **options
        ),
    }
    for name, call in calls.items():
        assert name in message_of(call)


@pytest.mark.parametrize("metric", ["accuracy", "f1", "neg_log_loss", "r2"])
@pytest.mark.parametrize("y_pred", [DECISION == TRUTH, DECISION, X[:, 0]])
def test_values_of_rows_without_a_truth_are_to_be_averaged(metric, y_pred):
    calls = [
        lambda metric: bootstrap_score(None, y_pred, metric=metric),
        lambda metric: bootstrap_runs(None, [y_pred, y_pred], metric=metric),
        lambda metric: compare_systems(None, {"A": y_pred, "B": y_pred}, metric=metric),
        lambda metric: compare_runs(None, {"A": [y_pred] * 2, "B": [y_pred] * 2}, metric=metric),
    ]
    for call in calls:
        assert "give metric='mean'" in message_of(lambda call=call: call(metric))
    mean = bootstrap_score(None, y_pred, metric="mean", n_resamples=199, interval="percentile")
    assert mean.estimate == pytest.approx(np.mean(y_pred))


def test_words_without_a_truth_are_not_to_be_averaged():
    message = message_of(lambda: bootstrap_score(None, WORDS))
    assert "give metric='mean'" not in message


COUNTS = np.random.default_rng(1).poisson(50, 400)
ROUNDED = COUNTS + np.random.default_rng(2).integers(-4, 5, 400)
EXACT_HITS = "y_true holds more than 30 different numbers"


def doors_of_accuracy(y_true, y_pred, **options):
    """Calls of all doors that need no metric."""
    options = {"n_resamples": 399, "random_state": 0} | options
    systems = {"A": y_pred, "B": y_pred[::-1]}
    runs = {name: [one] * 10 for name, one in systems.items()}
    return [
        lambda: bootstrap_score(y_true, y_pred, **options),
        lambda: compare_systems(y_true, systems, **options),
        lambda: compare_runs(y_true, runs, **options),
        lambda: search_score(y_true, systems, **options),
    ]


@pytest.mark.filterwarnings("ignore:.*rows decide this score")
@pytest.mark.parametrize("kind", [int, np.uint8, float, list])
def test_accuracy_of_many_numbers_warns_where_no_metric_is_given(kind):
    assert len(np.unique(COUNTS)) > 30
    y_true, y_pred = (y.tolist() if kind is list else y.astype(kind) for y in (COUNTS, ROUNDED))
    for call in doors_of_accuracy(y_true, y_pred):
        with pytest.warns(UserWarning, match=EXACT_HITS) as caught:
            call()
        [text] = [str(one.message) for one in caught if EXACT_HITS in str(one.message)]
        for name in ("mean_absolute_error", "neg_mean_absolute_error", "r2", "accuracy"):
            assert f"'{name}'" in text
            bootstrap_score(y_true, y_pred, metric=name, n_resamples=399, random_state=0)


@pytest.mark.filterwarnings("ignore:.*rows decide this score")
@pytest.mark.parametrize("metric", ["accuracy", "r2", ["accuracy"]])
def test_who_asks_for_accuracy_of_many_numbers_gets_it_without_a_warning(metric):
    for call in doors_of_accuracy(COUNTS, ROUNDED, metric=metric):
        call()


def test_classes_are_not_taken_for_measured_values():
    rng = np.random.default_rng(0)
    few, many = rng.integers(0, 30, 400), rng.integers(0, 1000, 400)
    hits = np.where(rng.random(400) < 0.6, many, rng.integers(0, 1000, 400))
    text, wrong = many.astype(str), rng.permutation(many).astype(str)
    for y_true, y_pred in [(few, rng.permutation(few)), (many, hits), (text, wrong)]:
        for call in doors_of_accuracy(y_true, y_pred):
            call()
    few_columns = np.eye(400)[rng.permutation(400)]
    bootstrap_score(np.arange(400), few_columns, n_resamples=399, random_state=0)


def test_the_metric_of_a_call_without_one_is_shown_as_accuracy():
    for function in (bootstrap_score, compare_systems, compare_runs, search_score):
        default = inspect.signature(function).parameters["metric"].default
        assert repr(default) == repr("accuracy")
        assert default == "accuracy"
    shown = bootstrap_score(TRUTH, DECISION, n_resamples=399, random_state=0)
    asked = bootstrap_score(TRUTH, DECISION, metric="accuracy", n_resamples=399, random_state=0)
    assert type(shown.metric) is str
    assert shown.to_dict() == asked.to_dict()


def test_real_predictions_of_counts_lead_to_metrics_of_real_values():
    message = message_of(lambda: bootstrap_score(COUNTS, COUNTS + 0.25))
    assert "'neg_mean_absolute_error' or 'r2'" in message


def scores_of(metric, y_true=TRUTH, y_pred=DECISION):
    return lambda: bootstrap_score(y_true, y_pred, metric=metric, n_resamples=199)


THREE = np.arange(N) % 3
COLUMNS = np.eye(3)[THREE]
UNDEFINED = {"mean_test_score": [np.nan], "std_test_score": [0], "split0_test_score": [np.nan]}
# A call that is refused, and what can be done about it.
TO_DO = {
    "weights bound to the metric": (
        scores_of(functools.partial(sklearn.metrics.f1_score, sample_weight=np.ones(N))),
        "Give the weights as sample_weight=",
    ),
    "an option that the metric lacks": (
        scores_of(functools.partial(sklearn.metrics.f1_score, averaging="macro")),
        "It takes labels, pos_label, average, sample_weight, zero_division.",
    ),
    "one class alone": (scores_of("roc_auc", np.ones(N)), "classes are separated: add the other."),
    "several classes for two": (
        scores_of("equal_error_rate", THREE, COLUMNS),
        "y_true == label, and its column of y_pred",
    ),
    "text to be averaged": (scores_of("mean", None, WORDS), "give y_true and another metric"),
    "numbers beside text": (scores_of("accuracy", TRUTH, WORDS), "numpy.asarray(y).astype(str)"),
    "numbers beside text in a metric": (
        lambda: skboot.metrics.expected_cost(TRUTH, WORDS),
        "numpy.asarray(y).astype(str)",
    ),
    "a label that is not given": (
        lambda: skboot.metrics.expected_cost(THREE, THREE, labels=[0, 1]),
        "Give all labels as labels=",
    ),
    "a prior of no rows": (
        lambda: skboot.metrics.expected_cost([0, 0], [0, 1], priors=[0.5, 0.5]),
        "Give classes without rows the prior 0",
    ),
    "a function for its scorer": (
        lambda: skboot.metrics.get_scorer(sklearn.metrics.f1_score),
        "Make a scorer of a function with sklearn.metrics.make_scorer",
    ),
    "text as labels of the test set": (
        lambda: BootstrapScorer(LogisticRegression(), n_train_resamples=3).fit(
            X, TRUTH, X_test=X, y_test=WORDS
        ),
        "numpy.asarray(y).astype(str)",
    ),
    "components of one system": (
        lambda: bootstrap_runs(
            TRUTH, [DECISION] * 3, metric="f1", estimand="system", interval="components"
        ),
        "use interval='auto'",
    ),
    "a search that failed": (
        lambda: skboot.model_selection.one_standard_error()(UNDEFINED),
        "error_score='raise' in the search shows why",
    ),
}


@pytest.mark.parametrize("case", TO_DO)
def test_what_can_be_done_is_said(case):
    call, advice = TO_DO[case]
    assert advice in message_of(call)


def test_labels_of_two_kinds_are_compared_after_what_is_advised():
    digits = TRUTH.astype(str)
    message = message_of(scores_of("accuracy", TRUTH, digits))
    convert = eval(message.partition("by ")[2].rstrip("."), {"numpy": np, "y": TRUTH})
    assert bootstrap_score(convert, digits, n_resamples=199).estimate == 1


def test_an_estimand_that_needs_a_test_set_says_so():
    scorer = BootstrapScorer(LogisticRegression(), n_train_resamples=4, random_state=0)
    with pytest.warns(UserWarning, match="few"):
        scorer.fit(X, TRUTH)
    message = message_of(lambda: scorer.result_.interval(estimand="system"))
    assert "Fit with X_test= and y_test=" in message


def test_few_folds_are_to_be_more():
    with pytest.warns(UserWarning, match="Use ten folds or more"):
        skboot.model_selection.corrected_t([0.8, 0.9, 0.7], n_train=50, n_test=25)


@pytest.mark.parametrize("caller", [bootstrap_runs, compare_runs])
def test_runs_in_columns_are_to_be_transposed(caller):
    columns = np.column_stack([DECISION] * 3)

    def called(runs):
        if caller is compare_runs:
            return compare_runs(TRUTH, {"A": runs, "B": 1 - runs}, n_resamples=99)
        return bootstrap_runs(TRUTH, runs, metric="accuracy", n_resamples=99)

    message = message_of(lambda: called(columns))
    assert f"here (n_runs, {N}). Got shape ({N}, 3). Runs come first: give y_preds" in message
    with pytest.warns(UserWarning, match="Only 3 runs|fewer than"):
        called(columns.T)


# ------------------------------------------------------------------ networks and language models

DIGITS = RNG.integers(0, 3, N)
LOGITS = RNG.normal(size=(N, 3))
SOFTMAX = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)


class Tensor:
    """A tensor of which numpy has no dtype, or that has a gradient or is on another device."""

    dtype = "torch.bfloat16"

    def __init__(self, values, steps=()):
        self.values, self.steps = values, steps

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        if set(self.steps) != {"detach", "cpu", "float"}:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return np.asarray(self.values, dtype=np.float32)

    def detach(self):
        return Tensor(self.values, (*self.steps, "detach"))

    def float(self):
        return Tensor(self.values, (*self.steps, "float"))

    def cpu(self):
        return Tensor(self.values, (*self.steps, "cpu"))


class OnDevice:
    """An array of CuPy, say, that numpy does not copy by itself."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __dlpack_device__(self):
        return 2, 0

    def get(self):
        return self.values


@pytest.mark.parametrize("made", [Tensor, OnDevice, lambda rows: [Tensor(row) for row in rows]])
def test_a_tensor_that_numpy_does_not_convert_is_copied_to_memory(made):
    rows = SOFTMAX.astype(np.float32)
    options = {"metric": "log_loss", "n_resamples": 399, "random_state": 0}
    assert bootstrap_score(DIGITS, made(rows), **options) == bootstrap_score(
        DIGITS, rows, **options
    )


def test_what_cannot_be_copied_is_said():
    class Nowhere(OnDevice):
        get = None

    message = message_of(lambda: bootstrap_score(DIGITS, Nowhere(SOFTMAX), metric="log_loss"))
    assert "Got Nowhere, which numpy does not convert (Implicit conversion" in message
    assert message.endswith("Copy it to a numpy array in main memory first.")


@pytest.mark.parametrize(
    ("truth", "logits", "advice"),
    [
        (DIGITS, LOGITS, "scipy.special.softmax(y_pred, axis=1)"),
        (TRUTH, LOGITS[:, 0], "scipy.special.expit(y_pred)"),
    ],
)
def test_logits_become_probabilities(truth, logits, advice):
    message = message_of(lambda: bootstrap_score(truth, logits, metric="log_loss"))
    assert f"Convert logits to probabilities by {advice}" in message
    probabilities = eval(advice, {"scipy": scipy, "y_pred": logits})
    assert (
        bootstrap_score(
            truth, probabilities, metric="log_loss", n_resamples=399, random_state=0
        ).estimate
        > 0
    )


def test_one_hot_labels_become_numbers():
    one_hot = np.eye(3)[DIGITS]
    message = message_of(lambda: bootstrap_score(one_hot, DIGITS))
    assert "Convert one-hot rows to labels by y_true.argmax(axis=1)." in message
    several = np.ones((N, 3))
    assert "One-hot" not in message_of(lambda: bootstrap_score(several, DIGITS))


@pytest.mark.parametrize(("error", "is_rounding"), [(2**-9, True), (0.1, False)])
def test_rows_that_do_not_sum_to_one_are_told_from_half_precision(error, is_rounding):
    text = f"do not sum to one, but to {1 - error:.4g} to {1 - error:.4g}: make sure"
    with pytest.warns(UserWarning, match=text) as caught:
        bootstrap_score(
            DIGITS, (1 - error) * SOFTMAX, metric="log_loss", n_resamples=399, random_state=0
        )
    assert ("Half precision rounds like this" in str(caught[0].message)) == is_rounding


# ------------------------------------------------------------------ what the library does not take


def test_records_are_for_callables():
    records = np.array([(True, 1.0)] * N, dtype=[("event", bool), ("time", float)])
    message = message_of(lambda: bootstrap_score(records, X[:, 0], metric="roc_auc"))
    assert "Records are for callables that take them" in message


def test_a_test_set_has_the_columns_of_the_training_list():
    y = RNG.normal(size=(N, 2))
    scorer = BootstrapScorer(Ridge(), n_train_resamples=5, random_state=0)
    message = message_of(lambda: scorer.fit(X, y, X_test=X, y_test=y[:, 0]))
    assert (
        f"'y_test' parameter of BootstrapScorer.fit must have the columns of y, of shape {y.shape}"
        in message
    )


def test_real_targets_are_not_told_to_be_scores():
    y_true = RNG.normal(size=N)
    message = message_of(lambda: bootstrap_score(y_true, y_true + 1))
    assert "'y_true'" in message
    assert "'neg_mean_absolute_error'" in message
    assert "roc_auc" not in message


@pytest.mark.parametrize(
    "scoring",
    [sklearn.metrics.mean_absolute_error, functools.partial(sklearn.metrics.fbeta_score, beta=2)],
)
def test_a_metric_function_as_scoring_leads_to_make_scorer(scoring):
    scorer = BootstrapScorer(LogisticRegression(), scoring={"own": scoring})
    message = message_of(lambda: scorer.fit(X, TRUTH))
    assert "scoring=sklearn.metrics.make_scorer of the function" in message


# ------------------------------------------------------------------ probabilities and names


@pytest.mark.filterwarnings("ignore:.*smaller class")
def test_a_column_of_probabilities_is_answered_with_both_columns_that_work():
    p = 1 / (1 + np.exp(-X[:, 0] * 2 + 1))
    metrics = ["accuracy", "roc_auc", "log_loss", "f1_macro"]
    message = message_of(lambda: bootstrap_score(TRUTH, p, metric=metrics))
    both = message.partition("give both columns, ")[2].partition(": ")[0]
    options = {"n_resamples": 399, "random_state": 0}
    results = bootstrap_score(TRUTH, eval(both, {"np": np, "p": p}), metric=metrics, **options)
    decided = (p > 0.5).astype(int)
    assert results["accuracy"].estimate == np.mean(decided == TRUTH)
    assert results["f1_macro"].estimate == pytest.approx(
        sklearn.metrics.f1_score(TRUTH, decided, average="macro"), abs=1e-12
    )
    assert results["roc_auc"].estimate == pytest.approx(
        sklearn.metrics.roc_auc_score(TRUTH, p), abs=1e-12
    )
    assert results["log_loss"].estimate == pytest.approx(
        sklearn.metrics.log_loss(TRUTH, p), abs=1e-12
    )
    assert any("taken from the columns" in note for note in results["accuracy"].notes)
    assert not any("most probable class" in note for note in results["log_loss"].notes)


def test_scores_that_are_no_probabilities_are_not_taken_for_them():
    assert "both columns" not in message_of(lambda: bootstrap_score(TRUTH, X[:, 0]))
    three = np.arange(N) % 3
    assert "both columns" not in message_of(lambda: bootstrap_score(three, np.full(N, 0.3)))


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("c-index", "concordance_index"),
        ("Harrell's C-index", "concordance_index"),
        ("concordance", "concordance_index"),
        ("youden", "balanced_accuracy_score, adjusted=True"),
        ("pass@k", "skboot.metrics.pass_at_k"),
        ("smape", "metric='mean' with y_true=None"),
        ("pinball", "mean_pinball_loss, alpha="),
        ("min_dcf", "skboot.metrics.minimum_detection_cost"),
        ("mean IoU", "'jaccard_macro'"),
        ("intersection over unions", "'jaccard'"),
        ("Dice coefficients", "'f1'"),
        ("mAP@50", "coming_from.md"),
    ],
)
def test_names_that_people_try_are_answered_with_what_to_give(name, offered):
    assert offered in message_of(lambda: bootstrap_score(TRUTH, DECISION, metric=name))


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_hits_without_labels_are_answered_with_the_mean(metric):
    message = message_of(lambda: bootstrap_score(None, TRUTH, metric=metric))
    assert "give metric='mean'" in message
    assert bootstrap_score(None, TRUTH, metric="mean", random_state=0).estimate == TRUTH.mean()


# ------------------------------------------------------------------ keywords of other libraries

MEANT = {
    "seed": (bootstrap_score, {"seed": 0}, "'random_state'"),
    "alpha": (bootstrap_score, {"alpha": 0.1}, "confidence_level=0.9, which is 1 - alpha"),
    "a percentage": (bootstrap_score, {"ci": 95}, "confidence_level=0.95"),
    "a level of text": (bootstrap_score, {"ci": "bca"}, "'confidence_level'"),
    "n_bootstraps": (bootstrap_score, {"n_bootstraps": 99}, "'n_resamples'"),
    "B": (compare_runs, {"B": 99}, "'n_resamples'"),
    "trainings": (BootstrapScorer, {"n_boot": 99}, "'n_train_resamples'"),
    "scoring": (compare_systems, {"scoring": "f1"}, "'metric'"),
    "metric": (skboot.compare_methods, {"metric": "f1"}, "'scoring'"),
    "clusters": (search_score, {"clusters": [0]}, "'groups'"),
    "weights": (bootstrap_runs, {"weights": [0]}, "'sample_weight'"),
    "y_prob": (bootstrap_score, {"y_prob": [0]}, "'y_pred'"),
    "y_pred": (skboot.bootstrap_curve, {"y_pred": [0]}, "'y_score'"),
    "one of several": (compare_systems, {"y_pred": {}}, "'y_preds'"),
    "a slip": (bootstrap_score, {"confidence_levle": 0.9}, "confidence_level=0.9"),
    "a method": (skboot.BootstrapAccumulator.update, {"weights": [0]}, "'sample_weight'"),
}


@pytest.mark.parametrize("case", MEANT)
def test_a_keyword_of_another_library_is_answered_with_the_one_here(case):
    function, options, meant = MEANT[case]
    with pytest.raises(TypeError) as raised:
        function(**options)
    [name] = options
    assert f"got an unexpected keyword argument {name!r}. Did you mean {meant}?" in str(
        raised.value
    )


def test_a_keyword_that_nobody_knows_is_answered_with_all():
    with pytest.raises(TypeError, match="It takes k, n, method, confidence_level"):
        proportion_interval(3, 5, colour=1)


def functions_with_keywords():
    for module in (skboot, skboot.metrics, skboot.inference, skboot.testing):
        for name in module.__all__:
            function = getattr(module, name)
            if inspect.isfunction(function) and inspect.signature(function).parameters:
                yield function


@pytest.mark.parametrize("function", [*functions_with_keywords()], ids=lambda own: own.__name__)
def test_every_public_function_answers_a_slip_and_keeps_its_signature_and_pickles(function):
    known = max(inspect.signature(function).parameters, key=len)
    with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) got .* mean '{known}'\?"):
        function(**{f"{known}_": 0})
    assert pickle.loads(pickle.dumps(function)) is function
    assert str(inspect.signature(function)) == str(inspect.signature(function.__wrapped__))


def test_a_type_error_of_the_users_own_function_is_left_alone():
    def metric(y_true, y_pred):
        return len(y_true, seed=0)

    with pytest.raises(ValueError, match="Got TypeError") as raised:
        bootstrap_score(TRUTH, DECISION, metric=metric, n_resamples=99)
    assert "random_state" not in str(raised.value)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y_pred'"):
        bootstrap_score(TRUTH)


def test_an_object_that_is_being_made_has_no_hints():
    def kinds(parent):
        for kind in parent.__subclasses__():
            yield from (kind, *kinds(kind))

    assert {ComparisonResult, DatasetsComparison} <= set(kinds(Hinting))
    for kind in kinds(Hinting):
        if inspect.isabstract(kind):
            continue
        empty = kind.__new__(kind, (0, 1)) if issubclass(kind, tuple) else kind.__new__(kind)
        for name in ("x", "value", "p", "index", "score", "__deepcopy__"):
            hasattr(empty, name)


def walked():
    """What can be asked for an attribute that it lacks: of one kind each, and of few and many."""
    options = {"n_resamples": 99, "random_state": 0}
    systems = {"A": DECISION, "B": TRUTH, "C": 1 - DECISION}
    score = TRUTH + RNG.normal(size=N)
    two = compare_systems(TRUTH, {name: systems[name] for name in "AB"}, **options)
    three = compare_systems(TRUTH, systems, **options)
    scorer = BootstrapScorer(LogisticRegression(), n_train_resamples=5, random_state=0)
    return {
        "result": bootstrap_score(TRUTH, DECISION, **options),
        "table": bootstrap_score(TRUTH, DECISION, metric=["accuracy", "f1"], **options),
        "runs": bootstrap_runs(TRUTH, [DECISION, TRUTH, DECISION], metric="accuracy", **options),
        "two": two,
        "three": three,
        "against one": compare_systems(TRUTH, systems, reference="A", **options),
        "one-sided": compare_systems(TRUTH, systems, alternative="greater", **options),
        "pair": two.pairs[0],
        "ranks": three.ranks(),
        "verdict": two.verdict(0.02),
        "curve": skboot.bootstrap_curve(TRUTH, score, curve="roc", **options),
        "scorer": clone(scorer),
        "fitted": scorer.fit(X, TRUTH),
    }


@pytest.mark.filterwarnings("ignore")
def test_an_entry_of_a_table_is_meant_by_an_attribute_of_its_name():
    table = bootstrap_score(TRUTH, X[:, 0], metric=["roc_auc", "average_precision"])
    with pytest.raises(AttributeError, match=r"Did you mean \['auc'\]\?"):
        _ = table.auc
    assert table["auc"] == table["roc_auc"]


@pytest.mark.parametrize("level", [0.9, 90])
def test_a_level_in_the_place_of_the_method_is_named(level):
    result = bootstrap_score(TRUTH, DECISION, random_state=0)
    with pytest.raises(ValueError, match=r"Use confidence_level=0\.9\.$"):
        result.interval(level)
    with pytest.raises(ValueError, match=r"Got True\.$"):
        result.interval(True)


@pytest.mark.filterwarnings("ignore")
def test_every_hint_names_what_is_there_and_answers():
    asked = {word for names in hints._ATTRIBUTES.values() for word in names.split()}
    asked |= {"index", "count", "fit_transform", "feature_names_in_", "best_score_", "score"}
    n_hints = 0
    for kind, thing in walked().items():
        near = {name[:-1] for name in dir(thing) if name[0] != "_"}
        for name in sorted(asked | near):
            if hasattr(type(thing), name) or name in dir(thing):
                continue
            with pytest.raises(AttributeError) as raised:
                getattr(thing, name)
            hint = re.search(r"Did you mean (.+)\?$", str(raised.value))
            if hint is None:
                continue
            meant = hint[1] if hint[1][0] in ".[" else f".{eval(hint[1])}"
            meant = re.sub(r"\.to_(csv|excel)\(.*", "", meant)
            assert eval(f"thing{meant}", {"thing": thing}) is not None, (kind, name, meant)
            assert not hasattr(tuple, meant.rpartition(".")[2]), (kind, name, meant)
            n_hints += 1
    assert n_hints > 200


class Short(LogisticRegression):
    def predict(self, X):
        return super().predict(X)[:-3]


LONG = {"dataset": list("ddee"), "method": list("abab"), "score": [0.1, 0.2, 0.3, 0.4]}
FEW = {"n_train_resamples": 5, "random_state": 0}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: BootstrapScorer(Short(), **FEW).fit(X, TRUTH), "Short.predict returns 57 answers"),
        (
            lambda: bootstrap_score(TRUTH, DECISION, resamples=list(KFold(3).split(X))),
            "corrected_t",
        ),
        (
            lambda: skboot.compare_across(
                pytest.importorskip("pandas").DataFrame(LONG), greater_is_better=True
            ),
            "pivot(index='dataset', columns='method', values='score')",
        ),
        (
            lambda: skboot.compare_across({"d": {"a": 1}, "e": {"a": 1}}, methods=1.5),
            "Leave methods= out",
        ),
        (
            lambda: skboot.model_selection.corrected_t({"params": [], "mean_test_score": [1]}),
            "cv_results_ of a search",
        ),
        (lambda: BootstrapScorer(Ridge()).fit(np.array(1.0), TRUTH), "row for each sample"),
        (lambda: BootstrapScorer(Ridge()).fit(X, np.array(1)), "row for each sample"),
        (
            lambda: BootstrapScorer(Ridge()).fit(X, TRUTH, groups=np.array(1)),
            "row for each sample",
        ),
        (
            lambda: bootstrap_score(TRUTH, DECISION, by=np.column_stack([TRUTH, WORDS])),
            "by=list(zip(a, b))",
        ),
        (lambda: proportion_interval(np.array([1, 2]), 10), "call it for each"),
        (
            lambda: BootstrapScorer(SVC(), scoring="neg_log_loss", **FEW).fit(X, TRUTH),
            "CalibratedClassifierCV(SVC(...))",
        ),
        (
            lambda: BootstrapScorer(Ridge(), scoring="neg_log_loss", **FEW).fit(X, TRUTH),
            "Use a metric of values, such as 'r2', or a classifier.",
        ),
        (
            lambda: BootstrapScorer(Ridge(), scoring="f1", **FEW).fit(X, TRUTH),
            "The 'scoring' parameter of BootstrapScorer must be a metric of what the estimator",
        ),
        (
            lambda: BootstrapScorer(SVC(), scoring="f1", **FEW).fit(X, np.arange(N) % 3),
            "Average over classes: 'f1_macro', or the function with average='macro'.",
        ),
        (
            lambda: compare_runs(TRUTH, {"A": DECISION, "B": DECISION}),
            "For one trained system of each method use compare_systems.",
        ),
        (lambda: skboot.inference.mcnemar_exact(np.arange(99) % 2, 3), "0, 1, ..."),
        (lambda: skboot.BootstrapAccumulator("f1", random_state=0).save("x"), "'to_bytes'"),
        (
            lambda: bootstrap_score(TRUTH, DECISION, groups=np.where(TRUTH, np.nan, 1)),
            "Remove these rows from every argument.",
        ),
    ],
)
def test_a_call_that_fails_for_a_usual_reason_says_what_to_do(call, said):
    with pytest.raises((ValueError, AttributeError)) as raised:
        call()
    assert said in str(raised.value)


@pytest.mark.filterwarnings("ignore")
def test_intervals_are_asked_for_by_the_names_that_tables_and_summaries_print():
    for name in FOR_ONE_SCORE:
        for printed in (title_of(name), words_of(name), name.upper()):
            assert (
                canonical_interval(printed) == name
                or title_of(canonical_interval(printed)) == printed
            )
    options = {"n_resamples": 99, "random_state": 0}
    result = bootstrap_score(TRUTH, DECISION, interval="bootstrap-t", **options)
    assert "bootstrap-t" in repr(result)
    systems = {"A": DECISION, "B": 1 - DECISION}
    assert "Tango" in str(compare_systems(TRUTH, systems, interval="Tango", **options))


def test_a_warning_names_five_subgroups_and_counts_the_others():
    y, by = np.tile([0, 1, 0, 0], 30), np.repeat(np.arange(30), 4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bootstrap_score(y, y + by, metric="roc_auc", by=by, n_resamples=99, random_state=0)
    texts = [str(warning.message) for warning in caught if "others" in str(warning.message)]
    assert len(texts) == 2
    assert all(re.search(r"\b4\b.* and 25 others", text) for text in texts)
