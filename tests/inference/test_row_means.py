"""A metric that is a mean of row values has the interval of the mean of these values.

Values of rows are those of scikit-learn on each row alone, or follow from its definition.
"""

from functools import cache, partial

import numpy as np
import pytest
import sklearn.metrics as sk
from in_turn import in_turn
from numpy.testing import assert_allclose
from sklearn.svm import LinearSVC

from skboot import BootstrapScorer, bootstrap_score

pytestmark = [pytest.mark.identity, pytest.mark.filterwarnings("ignore")]


N = 40
RNG = np.random.default_rng(7)
TWO, OF_TWO = RNG.integers(0, 2, N), RNG.normal(size=N)
THREE, OF_THREE = RNG.permutation(np.arange(N) % 3), RNG.normal(size=(N, 3))
DECIDED = np.where(RNG.uniform(size=N) < 0.7, THREE, (THREE + 1) % 3)
# Each row has a label and lacks one.
SETS = (RNG.uniform(size=(N, 4)) < 0.5) | (np.arange(4) == RNG.integers(0, 4, (N, 1)))
SETS &= np.arange(4) != ((SETS.argmax(axis=1) + 1) % 4)[:, None]
SETS = SETS.astype(int)
OF_SETS = RNG.uniform(0.05, 0.95, (N, 4)).round(1)
SETS_DECIDED = np.where(RNG.uniform(size=(N, 4)) < 0.75, SETS, 1 - SETS)
REAL, POSITIVE = (RNG.normal(size=(2, N)), RNG.uniform(0.5, 2, (2, N)))


def of_rows(function, y_true, y_pred, **options):
    return [function(y_true[[k]], y_pred[[k]], **options) for k in range(N)]


def case(function, y_true, y_pred, **options):
    values = partial(of_rows, function, y_true, y_pred, **options)
    return partial(function, **options), y_true, y_pred, values


@cache
def row_values(name):
    """The values of a case, where they are not written down: those of the function on each row."""
    values = CASES[name][3]
    return np.array(values() if callable(values) else values, dtype=float)


HITS = (THREE == DECIDED).astype(float)
OTHERS = np.where(np.eye(3, dtype=bool)[THREE], -np.inf, OF_THREE).max(axis=1)
CASES = {
    "hinge of two": (sk.hinge_loss, TWO, OF_TWO, np.maximum(1 - (2 * TWO - 1) * OF_TWO, 0)),
    "hinge of three": (
        sk.hinge_loss, THREE, OF_THREE,
        np.maximum(1 - OF_THREE[np.arange(N), THREE] + OTHERS, 0),
    ),
    "average precision of rows": case(
        sk.average_precision_score, SETS, OF_SETS, average="samples"
    ),
    "area of rows": case(sk.roc_auc_score, SETS, OF_SETS, average="samples"),
    "ranking precision": case(sk.label_ranking_average_precision_score, SETS, OF_SETS),
    "log loss of sets": case(sk.log_loss, SETS, OF_SETS),
    "Brier of sets": case(sk.brier_score_loss, SETS, OF_SETS),
    "half Brier of sets": case(sk.brier_score_loss, SETS, OF_SETS, scale_by_half=True),
    "weighted recall": ("recall_weighted", THREE, DECIDED, HITS),
    **{
        f"weighted recall of {labels}": (
            partial(sk.recall_score, average="weighted", labels=labels), THREE, DECIDED, HITS
        )
        for labels in ([0, 1, 2], [2, 1, 0, 5])
    },
    **{
        f"micro {function.__name__} {options}": (
            partial(function, average="micro", **options), THREE, DECIDED, HITS
        )
        for function, options in (
            (sk.precision_score, {}), (sk.recall_score, {"labels": [1, 0, 2]}),
            (sk.f1_score, {"zero_division": 1}), (sk.f1_score, {"labels": [0, 1, 2, 3]}),
            (sk.fbeta_score, {"beta": 2.0}),
        )
    },
    **{
        f"{function.__name__} of rows {options}": case(
            function, SETS, SETS_DECIDED, average="samples", **options
        )
        for function, options in (
            (sk.precision_score, {"zero_division": 1}), (sk.recall_score, {"labels": [0, 2]}),
            (sk.f1_score, {"labels": [3, 1]}), (sk.jaccard_score, {}),
            (sk.fbeta_score, {"beta": 0.5, "labels": [2]}),
        )
    },
    "pinball": case(sk.mean_pinball_loss, *REAL, alpha=0.9),
    **{
        f"Tweedie {power}": case(sk.mean_tweedie_deviance, *POSITIVE, power=power)
        for power in (-1, 1.5, 3)
    },
}  # fmt: skip
GROUPS, WEIGHTS = np.arange(N) // 4, RNG.uniform(0.5, 2, N)
DESIGNS = {
    "rows": {},
    "weights": {"sample_weight": WEIGHTS},
    "strata": {"strata": np.arange(N) % 2},
    "groups": {"groups": GROUPS},
    "blocks": {"block_length": 3},
}


@pytest.mark.parametrize("name", CASES)
@in_turn(design=list(DESIGNS))
def test_a_mean_of_row_values_has_the_interval_of_their_mean(name, design):
    metric, y_true, y_pred, _ = CASES[name]
    values = row_values(name)
    if design == "weights":
        assert_allclose(
            metric(y_true, y_pred, sample_weight=WEIGHTS)
            if callable(metric)
            else sk.recall_score(y_true, y_pred, average="weighted", sample_weight=WEIGHTS),
            np.average(values, weights=WEIGHTS),
        )
    options = {"n_resamples": 99, "random_state": 0, **DESIGNS[design]}
    result = bootstrap_score(y_true, y_pred, metric=metric, **options)
    of_values = bootstrap_score(None, values, metric="mean", **options)
    assert_allclose(result.estimate, of_values.estimate)
    assert_allclose(result.standard_error, of_values.standard_error)
    methods = {one.confidence_interval.method for one in (result, of_values)}
    # The range of a metric, which a mean of numbers has not, decides on limits of few groups. Of
    # labels with weights or strata that few rows decide tables are drawn, which numbers have not.
    if not methods & {"score", "smoothed"}:
        assert len(methods) == 1
        assert_allclose([*result.confidence_interval], [*of_values.confidence_interval])


@pytest.mark.parametrize("labels", [[2], [3, 1], [0, 0]])
@pytest.mark.parametrize("average", ["macro", "micro", "weighted", "samples"])
@pytest.mark.parametrize("ratio", ["precision", "recall", "f1", "jaccard"])
def test_labels_of_sets_are_columns(ratio, average, labels):
    function = getattr(sk, f"{ratio}_score")
    metric = partial(function, average=average, labels=labels)
    result = bootstrap_score(SETS, SETS_DECIDED, metric=metric, n_resamples=9, random_state=0)
    assert_allclose(result.estimate, metric(SETS, SETS_DECIDED))


def test_labels_of_sets_beyond_the_columns_are_refused():
    metric = partial(sk.f1_score, average="samples", labels=[1, 7])
    with pytest.raises(ValueError, match="numbers of columns, from 0 to 3"):
        bootstrap_score(SETS, SETS_DECIDED, metric=metric)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_hinge_loss_of_trainings_is_that_of_the_function(classes):
    y = TWO if classes == 2 else THREE
    X = OF_THREE + y[:, None]
    scorer = sk.make_scorer(
        sk.hinge_loss, greater_is_better=False, response_method="decision_function"
    )

    def of_estimator(estimator, X, y):
        return -sk.hinge_loss(y, estimator.decision_function(X))

    scores = [
        BootstrapScorer(LinearSVC(random_state=0), scoring=one, strategy="oob", n_train_resamples=5)
        .fit(X, y)
        .resubstitution_score_
        for one in (scorer, of_estimator)
    ]
    assert_allclose(*scores)
