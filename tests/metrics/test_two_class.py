"""Sensitivity, specificity and predictive values: of two classes, whatever these are called."""

import re
import warnings
from functools import partial

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import class_likelihood_ratios, make_scorer, precision_score, recall_score
from sklearn.naive_bayes import GaussianNB

import skboot.metrics
from skboot import BootstrapScorer, bootstrap_score, compare_systems

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 300)
DECISION = np.where(RNG.random(300) < 0.1, 1 - TRUTH, TRUTH)
WORDS = np.array(["no", "yes"])
OF_SCIKIT_LEARN = {
    "sensitivity": (recall_score, 1),
    "specificity": (recall_score, 0),
    "ppv": (precision_score, 1),
    "npv": (precision_score, 0),
}
every_metric = pytest.mark.parametrize("name", OF_SCIKIT_LEARN)


@every_metric
def test_each_is_a_recall_or_precision_of_scikit_learn(name):
    function, label = OF_SCIKIT_LEARN[name]
    weights = RNG.integers(0, 3, 300)
    expected = function(TRUTH, DECISION, pos_label=label, sample_weight=weights)
    given = getattr(skboot.metrics, name)(TRUTH, DECISION, sample_weight=weights)
    assert given == pytest.approx(expected)


@every_metric
def test_a_name_and_words_for_labels_give_the_same_result(name):
    options = {"metric": name, "n_resamples": 199, "random_state": 0}
    result = bootstrap_score(TRUTH, DECISION, **options)
    worded = bootstrap_score(WORDS[TRUTH], WORDS[DECISION], pos_label="yes", **options)
    assert result.metric == name
    assert worded.estimate == result.estimate
    assert worded.confidence_interval == result.confidence_interval


@every_metric
def test_few_errors_get_smoothed_tables_of_the_members_of_the_class(name):
    """Two cells of a Dirichlet distribution alone have a Beta distribution (record 0116)."""
    function, label = OF_SCIKIT_LEARN[name]
    decision = TRUTH.copy()
    decision[np.flatnonzero(TRUTH == 1)[:2]] = 0
    decision[np.flatnonzero(TRUTH == 0)[:3]] = 1
    result = bootstrap_score(TRUTH, decision, metric=name, random_state=0)
    members = (TRUTH if function is recall_score else decision) == label
    hits = members & (decision == TRUTH)
    cells = hits.sum(), members.sum() - hits.sum()
    laws = [beta(*(n + part for n in cells)) for part in (0.3, 0.5)]
    assert result.confidence_interval.method == "smoothed"
    assert result.confidence_interval.low == pytest.approx(
        min(law.ppf(0.025) for law in laws), abs=0.005
    )
    assert result.confidence_interval.high == pytest.approx(
        max(law.ppf(0.975) for law in laws), abs=0.002
    )


def test_the_positive_class_can_be_named():
    metric = partial(skboot.metrics.sensitivity, pos_label="no")
    result = bootstrap_score(
        WORDS[TRUTH], WORDS[DECISION], metric=metric, n_resamples=399, random_state=0
    )
    assert result.estimate == recall_score(TRUTH, DECISION, pos_label=0)


def test_a_resample_or_subgroup_without_negatives_has_no_specificity():
    assert np.isnan(skboot.metrics.specificity([1, 1], [1, 1], labels=[0, 1]))
    assert skboot.metrics.npv([1, 0], [1, 0]) == 1


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (np.arange(300) % 3, "two classes.*3 labels.*y_true == label"),
        (np.zeros(300, int), "two classes.*1 label, .*labels="),
    ],
)
@every_metric
def test_other_than_two_classes_are_refused(name, truth, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_score(truth, truth, metric=name)
    with pytest.raises(ValueError, match=message):
        getattr(skboot.metrics, name)(truth, truth)


def test_a_positive_class_that_does_not_occur_is_refused():
    with pytest.raises(ValueError, match=r"be one of \['no', 'yes'\]"):
        skboot.metrics.ppv(WORDS[TRUTH], WORDS[DECISION], pos_label="maybe")


@pytest.mark.filterwarnings("ignore:BootstrapScorer")
@every_metric
def test_each_scores_an_estimator_whose_classes_are_words(name):
    X = (TRUTH + RNG.normal(size=300))[:, None]
    scorer = BootstrapScorer(
        LogisticRegression(), scoring=name, n_train_resamples=5, random_state=0
    ).fit(X, WORDS[TRUTH])
    function, label = OF_SCIKIT_LEARN[name]
    expected = function(WORDS[TRUTH], scorer.predict(X), pos_label=WORDS[label])
    assert scorer.score(X, WORDS[TRUTH]) == pytest.approx(expected)
    assert 0 < scorer.result_.estimate < 1


@every_metric
def test_a_gap_and_its_guards_know_the_one_class_that_is_counted(name):
    function, label = OF_SCIKIT_LEARN[name]
    options = {"by": np.arange(300) % 2, "n_resamples": 199, "random_state": 0}
    expected = bootstrap_score(
        TRUTH, DECISION, metric=partial(function, pos_label=label), **options
    )
    result = bootstrap_score(TRUTH, DECISION, metric=name, **options)
    assert result["gap"].confidence_interval == expected["gap"].confidence_interval


@pytest.mark.filterwarnings("ignore:BootstrapScorer")
@every_metric
def test_a_method_gets_the_interval_of_recall_or_precision(name):
    function, label = OF_SCIKIT_LEARN[name]
    X = (3 * TRUTH + RNG.normal(size=300))[:, None]
    own, expected = (
        BootstrapScorer(
            LogisticRegression(), scoring=scoring, n_train_resamples=20, random_state=0
        ).fit(X, TRUTH)
        for scoring in (name, make_scorer(function, pos_label=label))
    )
    assert own.result_.confidence_interval == expected.result_.confidence_interval


@pytest.mark.parametrize("name", ["positive_likelihood_ratio", "negative_likelihood_ratio"])
def test_likelihood_ratios_of_three_classes_are_refused(name):
    three = np.arange(300) % 3
    with pytest.raises(ValueError, match=r"two classes.*3 labels.*y_true == label"):
        bootstrap_score(three, three, metric=name)


@pytest.mark.parametrize("name", ["positive_likelihood_ratio", "neg_negative_likelihood_ratio"])
def test_likelihood_ratios_take_weights(name):
    weights = RNG.integers(1, 3, 300)
    rows = np.repeat(np.arange(300), weights)
    options = {"metric": name, "n_resamples": 399, "random_state": 0}
    weighted = bootstrap_score(TRUTH, DECISION, sample_weight=weights, **options)
    assert weighted.estimate == pytest.approx(
        bootstrap_score(TRUTH[rows], DECISION[rows], **options).estimate
    )


# ------------------------------------------------------------------ which class is positive

EVENTS = np.array(["no event", "event"])


def notes_of(y_true, y_pred, **options):
    return " ".join(
        bootstrap_score(y_true, y_pred, n_resamples=399, random_state=0, **options).notes
    )


def notes_and_warning_of(y_true, y_pred, **options):
    with pytest.warns(UserWarning, match="The positive class is 'no event'"):
        return notes_of(y_true, y_pred, **options)


@pytest.mark.parametrize("name", [*OF_SCIKIT_LEARN, "positive_likelihood_ratio"])
def test_the_positive_class_of_labels_in_text_is_said(name):
    said = notes_and_warning_of(EVENTS[TRUTH], EVENTS[DECISION], metric=name)
    assert "The positive class is 'no event', the greater label." in said
    advised = bootstrap_score(
        EVENTS[TRUTH], EVENTS[DECISION], metric=name, pos_label="event", random_state=0
    )
    assert (
        advised.estimate == bootstrap_score(TRUTH, DECISION, metric=name, random_state=0).estimate
    )
    assert "positive class" not in " ".join(advised.notes)


@pytest.mark.parametrize("name", ["roc_auc", "equal_error_rate", "log_loss"])
def test_scores_of_labels_in_text_are_said_to_mean_the_greater_one(name):
    score = np.where(DECISION == 1, 0.9, 0.2) + np.arange(300) % 7 / 100
    # The greater label is "no event".
    said = notes_and_warning_of(EVENTS[TRUTH], 1 - score, metric=name)
    assert "larger values of y_pred must mean it" in said
    # Two columns say which is which; and numbers, or a label that is named, leave no doubt.
    columns = np.column_stack((score, 1 - score))
    if name != "equal_error_rate":
        assert "positive class" not in notes_of(EVENTS[TRUTH], columns, metric=name)
    assert "positive class" not in notes_of(TRUTH, score, metric=name)
    named = partial(skboot.metrics.equal_error_rate, pos_label="event")
    assert "positive class" not in notes_of(EVENTS[TRUTH], score, metric=named)


def test_a_comparison_and_a_method_say_the_positive_class_too():
    systems = {"a": EVENTS[DECISION], "b": EVENTS[1 - DECISION]}
    with pytest.warns(UserWarning, match="compare_systems: The positive class is 'no event'"):
        pair = compare_systems(
            EVENTS[TRUTH], systems, metric="sensitivity", n_resamples=999, random_state=0
        )
    assert sum("positive class is 'no event'" in note for note in pair.notes) == 1
    X = (TRUTH + RNG.normal(size=300))[:, None]
    options = {"scoring": "npv", "strategy": "oob", "n_train_resamples": 80, "random_state": 0}
    with pytest.warns(UserWarning, match="BootstrapScorer: The positive class is 'no event'"):
        scorer = BootstrapScorer(LogisticRegression(), **options).fit(X, EVENTS[TRUTH])
    assert sum("positive class is 'no event'" in note for note in scorer.result_.notes) == 1


@pytest.mark.parametrize("name", [*OF_SCIKIT_LEARN, "roc_auc", "accuracy"])
def test_a_fit_warns_of_the_positive_class_where_a_call_with_its_answers_does(name):
    X = (TRUTH + RNG.normal(size=300))[:, None]
    y = EVENTS[TRUTH]
    model = GaussianNB().fit(X, y)
    ranks = name == "roc_auc"
    answers = model.predict_proba(X) if ranks else model.predict(X)
    options = {"strategy": "oob", "n_train_resamples": 4, "random_state": 0}

    def classes_said(call):
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            call()
        said = [re.search(r"The positive class is '([^']*)'", str(one.message)) for one in raised]
        return [one[1] for one in said if one is not None]

    expected = classes_said(lambda: notes_of(y, answers, metric=name))
    assert expected == (["no event"] if name in OF_SCIKIT_LEARN else [])
    fit = BootstrapScorer(GaussianNB(), scoring=name, **options).fit
    assert classes_said(lambda: fit(X, y)) == expected
    methods = {"a": GaussianNB(), "b": GaussianNB(var_smoothing=0.1)}
    compare = partial(skboot.compare_methods, methods, X, y, scoring=name, **options)
    assert classes_said(compare) == expected
    if name in OF_SCIKIT_LEARN:
        # Who does what the warning advises is not warned.
        named = make_scorer(getattr(skboot.metrics, name), pos_label="event")
        fit = BootstrapScorer(GaussianNB(), scoring=named, **options).fit
        assert classes_said(lambda: fit(X, y)) == []


def test_a_baseline_that_reaches_the_best_value_there_is_is_not_printed():
    result = bootstrap_score(TRUTH, DECISION, metric="sensitivity", random_state=0)
    assert result.naive_estimate == 1.0
    for text in (result.summary(), result.claim(), result.to_html(), *result.notes):
        assert "baseline" not in text
        assert "ignores its inputs" not in text
    share = bootstrap_score(TRUTH, DECISION, metric="ppv", random_state=0).summary()
    assert "(best system that ignores its inputs, on the same rows)" in share


@pytest.mark.parametrize("metric", [class_likelihood_ratios, "class_likelihood_ratios"])
def test_the_function_of_both_likelihood_ratios_is_refused_with_their_names(metric):
    with pytest.raises(ValueError, match=r"'positive_likelihood_ratio'.* 'negative_likelihood"):
        bootstrap_score(TRUTH, DECISION, metric=metric)
