"""Formulas of .632 and .632+, and the intervals about their points."""

import numpy as np
import pytest
from method_error_problems import Oracle, drawn, nearest_mean_scores, small_problem

from skboot.inference import prediction_error
from skboot.inference.proportions import score_limits
from skboot.method_error.cv_bootstrap import auc_error_influence
from skboot.method_error.error632 import error632, optimism, point632_plus
from skboot.method_error.out_of_bag import NO_INFORMATION_SCORE, out_of_bag_metric


@pytest.fixture
def null():
    return Oracle("null40_knn1")


@pytest.mark.parametrize("seed", range(20))
def test_fully_clipped_632_plus_is_never_above_resubstitution_and_no_information(seed):
    resubstitution, oob, gamma = np.random.default_rng(seed).random(3)
    rate, weight, point = point632_plus(resubstitution, oob, gamma)
    assert 0 <= rate <= 1
    assert 0.632 <= weight <= 1
    assert point <= max(resubstitution, gamma) + 1e-15


def test_one_nearest_neighbour_on_random_labels_scores_the_no_information_rate(null):
    assert null.result().oob > 0.5
    assert null.result().point632_plus == 0.5
    assert null.result(clipping="literal").point632_plus > 0.5


def test_relative_overfitting_is_zero_without_overfitting():
    assert point632_plus(0.3, 0.2, 0.5)[:2] == (0.0, 0.632)
    assert point632_plus(0.5, 0.6, 0.5)[0] == 0.0


def test_models_worse_than_no_information_are_not_flattered():
    assert point632_plus(1.0, 1.0, 0.5)[2] == pytest.approx(1.0)
    assert point632_plus(0.5, 0.6, 0.4)[2] == pytest.approx(0.5)


def test_optimism_is_what_models_gain_on_their_own_sample():
    assert optimism([0.1, np.nan, 0.3], [0.2, 0.4, 0.6]) == pytest.approx(0.2)


def test_auc_goes_through_the_same_points():
    rng = np.random.default_rng(6)
    y = np.arange(40) % 2
    x = y[:, None] + rng.normal(size=(40, 2))
    weights = drawn(rng, 100, 40)
    all_scores = nearest_mean_scores(x, y, weights)
    scores, influence = np.empty(100), np.zeros((100, 40))
    for b, line in enumerate(weights):
        rows = line == 0
        scores[b], influence[b, rows] = auc_error_influence(y[rows] == 1, all_scores[b, rows])
    resubstitution = auc_error_influence(y == 1, nearest_mean_scores(x, y, np.ones((1, 40)))[0])[0]
    result = error632(
        out_of_bag_metric(scores, weights, influence),
        resubstitution=resubstitution,
        no_information_rate=1 - NO_INFORMATION_SCORE["roc_auc"],
        n_effective=20,
    )
    assert resubstitution < result.point632_plus < result.oob
    low, high = result.interval("hull")
    assert 0 < low < resubstitution < high < 0.5


@pytest.mark.parametrize("bounds", [(0, 1), (0, None), (-np.inf, np.inf), (None, 3)])
@pytest.mark.parametrize("seed", range(5))
def test_hull_holds_the_out_of_bag_and_the_632_plus_intervals(seed, bounds):
    losses, weights, full = small_problem(seed)
    result = prediction_error(
        losses, weights, resubstitution_losses=full, no_information_rate=0.5, bounds=bounds
    )
    hull = result.interval("hull")
    for point, value in (("oob", result.oob), (".632+", result.point632_plus)):
        low, high = result.interval("adjusted", point=point)
        assert hull.low <= low < value < high <= hull.high


def test_limits_stay_within_the_bounds():
    losses, weights, full = small_problem()
    result = prediction_error(losses, weights, resubstitution_losses=full, no_information_rate=0.5)
    for method in ("adjusted", "hull", "t", "percentile"):
        low, high = result.interval(method, 0.9999)
        assert 0 <= low < high <= 1


def test_higher_confidence_gives_a_wider_interval_around_the_named_point():
    losses, weights, full = small_problem()
    result = prediction_error(losses, weights, resubstitution_losses=full, no_information_rate=0.5)
    narrow, wide = result.interval(confidence_level=0.8), result.interval(confidence_level=0.99)
    assert wide.low < narrow.low < result.point632_plus < narrow.high < wide.high
    assert narrow.method == "adjusted"
    assert narrow.confidence_level == 0.8


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(10), 3)])
@pytest.mark.parametrize("method", ["adjusted", "hull", "cv-bootstrap"])
def test_no_error_at_all_gives_an_interval_of_positive_width(groups, method):
    losses, weights, _ = small_problem(groups=groups)
    zeros = np.zeros_like(losses)
    result = prediction_error(
        zeros,
        weights,
        resubstitution_losses=np.zeros(30),
        no_information_rate=0.5,
        groups=groups,
        cv_losses=zeros[:2],
    )
    low, high = result.interval(method)
    assert result.standard_error == 0
    n = 30 if groups is None else 10
    assert low == 0
    assert score_limits(0, n, 1.959)[1] < high < 0.4
    wrong = prediction_error(
        zeros + 1,
        weights,
        resubstitution_losses=np.ones(30),
        no_information_rate=0.5,
        groups=groups,
        cv_losses=zeros[:2] + 1,
    )
    np.testing.assert_allclose(wrong.interval(method), (1 - high, 1))


def test_less_than_half_an_error_is_no_narrower_than_wilson():
    losses, weights, _ = small_problem()
    rare = np.zeros(losses.shape)
    rare[np.flatnonzero(weights[:, 0] == 0)[:3], 0] = 1
    result = prediction_error(
        rare, weights, resubstitution_losses=np.zeros(30), no_information_rate=0.5
    )
    assert 0 < result.oob < 0.5 / 30
    low, high = result.interval("adjusted", point="oob")
    assert low == 0
    assert high >= score_limits(result.oob, 30, 1.96)[1]


def test_constant_unbounded_losses_have_no_width_and_say_so():
    _, weights, _ = small_problem()
    flat = np.full(weights.shape, 2.0)
    result = prediction_error(
        flat,
        weights,
        resubstitution_losses=flat[0],
        no_information_rate=3.0,
        bounds=(0, np.inf),
        cv_losses=flat[:2],
    )
    for method in ("adjusted", "cv-bootstrap"):
        interval, notes = result.interval_with_notes(method)
        assert interval == (2.0, 2.0)
        assert any("no width" in note.text for note in notes)


def test_intervals_over_replicates_state_their_measured_coverage():
    losses, weights, full = small_problem()
    result = prediction_error(losses, weights, resubstitution_losses=full, no_information_rate=0.5)
    replicates = result.out_of_bag.replicates
    for method, claim in (("t", "98.2 to 100"), ("percentile", "97.5 to 100")):
        interval, notes = result.interval_with_notes(method)
        assert claim in notes[-1].text
        assert interval.low < replicates.mean() < interval.high
    inside = np.mean((replicates >= interval.low) & (replicates <= interval.high))
    assert 0.93 <= inside < 1


def test_near_perfect_resubstitution_warns_of_optimism(null):
    assert any("optimistic" in note for note in null.result().notes)
    assert not Oracle("pima_lda").result().notes


def test_no_information_rate_below_resubstitution_is_said():
    losses, weights, full = small_problem()
    result = prediction_error(losses, weights, resubstitution_losses=full, no_information_rate=0.0)
    assert any("no-information rate is not above" in note for note in result.notes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "wald"}, "'method' parameter of PredictionError.interval must be one of"),
        ({"method": "cv-bootstrap"}, "Give cv_losses to prediction_error"),
        ({"confidence_level": 95}, "Use confidence_level=0.95"),
        ({"point": "632"}, "'point' parameter of PredictionError.interval must be one of"),
    ],
)
def test_interval_names_what_it_cannot_do(arguments, message):
    losses, weights, full = small_problem()
    result = prediction_error(losses, weights, resubstitution_losses=full, no_information_rate=0.5)
    with pytest.raises(ValueError, match=message):
        result.interval(**arguments)
