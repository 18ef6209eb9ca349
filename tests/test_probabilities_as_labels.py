"""Metrics of labels on probabilities take the most probable class, as `predict` does."""

from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score, fbeta_score, get_scorer, make_scorer
from sklearn.model_selection import cross_validate
from sklearn.neighbors import KNeighborsClassifier

from skboot import bootstrap_runs, bootstrap_score, compare_runs, compare_systems, search_score

RNG = np.random.default_rng(0)
N = 150
CLASS = RNG.integers(0, 3, N)
X = CLASS[:, None] + RNG.normal(size=(N, 2))
WORDS = np.array(["c", "a", "b"])[CLASS]
TRAINED = LogisticRegression().fit(X, WORDS)
PROBABILITY = TRAINED.predict_proba(X)
OF_LABELS = ["accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef", "neg_expected_cost"]
METRICS = [*OF_LABELS[:-1], "neg_log_loss", "roc_auc_ovr"]
SMALL = {"n_resamples": 99, "random_state": 0, "interval": "percentile"}
RUNS = {"n_resamples": 99, "random_state": 0}
READS_DECISIONS = "Class labels were taken from the columns"

pytestmark = pytest.mark.filterwarnings("ignore:.*resamples are too few", "ignore:.*Only 2 runs")


def probabilities_of(seed):
    """Of the classes a, b and c, from another training sample."""
    rows = np.random.default_rng(seed).integers(0, N, 60)
    return LogisticRegression().fit(X[rows], WORDS[rows]).predict_proba(X)


def decided(probabilities):
    return np.array(["a", "b", "c"])[probabilities.argmax(axis=1)]


def test_several_metrics_on_one_array_are_those_of_cross_validate():
    cv = [(np.arange(N), np.arange(N))]
    expected = cross_validate(LogisticRegression(), X, WORDS, cv=cv, scoring=METRICS)
    table = bootstrap_score(WORDS, PROBABILITY, metric=METRICS, **SMALL)
    for name in METRICS:
        assert table[name].estimate == pytest.approx(expected[f"test_{name}"][0], rel=1e-12)


@pytest.mark.parametrize("name", OF_LABELS)
def test_replicates_are_those_of_the_decisions_in_every_door(name):
    first, second = PROBABILITY, probabilities_of(1)
    one, other = decided(first), decided(second)
    options = {"metric": name, "by": np.arange(N) % 2, **SMALL}
    given, expected = (bootstrap_score(WORDS, y, **options) for y in (first, one))
    for part in (0, 1, "gap"):
        assert np.array_equal(
            given[part].bootstrap_distribution, expected[part].bootstrap_distribution
        )
        assert given[part].naive_estimate == expected[part].naive_estimate
    options = {"metric": name, **SMALL}
    given, expected = (
        compare_systems(WORDS, {"A": a, "B": b}, **options)
        for a, b in ((first, second), (one, other))
    )
    assert given.pairs == expected.pairs
    given, expected = (
        bootstrap_runs(WORDS, [a, b], metric=name, **RUNS)
        for a, b in ((first, second), (one, other))
    )
    assert given.confidence_interval == expected.confidence_interval
    assert given.naive_estimate == expected.naive_estimate
    given, expected = (
        compare_runs(WORDS, {"A": [a, b], "B": [b, b]}, metric=name, **RUNS)
        for a, b in ((first, second), (one, other))
    )
    assert given.pairs == expected.pairs
    given, expected = (
        search_score(WORDS, {"A": a, "B": b}, metric=name, n_resamples=99, random_state=0)
        for a, b in ((first, second), (one, other))
    )
    assert given.confidence_interval == expected.confidence_interval


@pytest.mark.parametrize(
    "metric",
    [
        partial(fbeta_score, beta=2, average="macro"),
        make_scorer(fbeta_score, beta=2, average="weighted"),
        cohen_kappa_score,
        get_scorer("accuracy"),
    ],
)
def test_functions_and_scorers_of_labels_take_decisions_too(metric):
    given, expected = (
        bootstrap_score(WORDS, y, metric=metric, **SMALL)
        for y in (PROBABILITY, decided(PROBABILITY))
    )
    assert np.array_equal(given.bootstrap_distribution, expected.bootstrap_distribution)


def test_a_note_says_so_in_every_result_and_for_metrics_of_labels_alone():
    metrics = ["accuracy", "neg_log_loss"]
    systems = {"A": PROBABILITY, "B": probabilities_of(1)}
    runs = {name: [one, one] for name, one in systems.items()}
    tables = [
        bootstrap_score(WORDS, PROBABILITY, metric=metrics, **SMALL),
        bootstrap_runs(WORDS, runs["A"], metric=metrics, **RUNS),
        bootstrap_runs(WORDS, runs["A"], metric=metrics, estimand="system", **RUNS),
        compare_systems(WORDS, systems, metric=metrics, **SMALL),
        compare_runs(WORDS, runs, metric=metrics, **RUNS),
        search_score(WORDS, systems, metric=metrics, n_resamples=99, random_state=0),
    ]
    for table in tables:
        assert [READS_DECISIONS in table[name].summary() for name in metrics] == [True, False]
        assert sum(READS_DECISIONS in note for note in table["accuracy"].notes) == 1
    labels = bootstrap_score(WORDS, decided(PROBABILITY), **SMALL)
    assert READS_DECISIONS not in labels.summary()


def test_of_equally_probable_classes_the_first_is_taken_as_predict_does():
    neighbours = KNeighborsClassifier(n_neighbors=2).fit(X[::2], WORDS[::2])
    probability = neighbours.predict_proba(X)
    assert np.sum(np.sort(probability)[:, -1] == 0.5) > 20
    result = bootstrap_score(WORDS, probability, **SMALL)
    assert result.estimate == pytest.approx(neighbours.score(X, WORDS))


def test_columns_are_named_by_labels_in_their_order():
    columns = ["d", "c", "a", "b"]  # No row of the truth is "d".
    probability = np.column_stack((np.full(N, 0.7), PROBABILITY[:, [2, 0, 1]]))
    expected = np.mean(np.array(columns)[probability.argmax(axis=1)] == WORDS)
    result = bootstrap_score(WORDS, probability, labels=columns, **SMALL)
    assert result.estimate == pytest.approx(expected)
    assert (np.array(columns)[probability.argmax(axis=1)] == "d").any()


def test_one_system_may_give_labels_and_another_probabilities():
    systems = {"A": PROBABILITY, "B": decided(PROBABILITY)}
    result = compare_systems(WORDS, systems, **SMALL)
    assert result.pairs[0].difference == 0


def test_one_column_of_scores_is_never_thresholded():
    truth = (CLASS > 0).astype(int)
    for scores in (PROBABILITY[:, 0], PROBABILITY[:, :1]):
        with pytest.raises(ValueError, match=r"class labels .* real numbers such as"):
            bootstrap_score(truth, scores)


@pytest.mark.parametrize(
    ("y_pred", "message"),
    [
        (PROBABILITY[:, :2], r"one column for each of the 3 labels.*labels="),
        (np.column_stack([WORDS] * 3), r"probabilities of all classes.*text of shape \(150, 3\)"),
        (np.column_stack([CLASS] * 3), "do not sum to 1 in each row. .*use compare_systems"),
    ],
)
def test_other_columns_than_of_the_classes_are_refused(y_pred, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_score(WORDS, y_pred)
    with pytest.raises(ValueError, match=rf"(?s)y_preds\['B'\].*{message}"):
        compare_systems(WORDS, {"A": PROBABILITY, "B": y_pred})


def test_one_hot_rows_of_integers_are_decisions():
    one_hot = np.eye(3, dtype=int)[PROBABILITY.argmax(axis=1)]
    result = bootstrap_score(WORDS, one_hot, **SMALL)
    assert result.estimate == np.mean(decided(PROBABILITY) == WORDS)
