"""Two areas under ROC curves: limits by hand, and how interval, p-value and verdict agree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr, ndtri, stdtrit

from skboot import compare_systems
from skboot.inference.differences import normal_p_value
from skboot.inference.proportions import TwoAreas, quantile_at_zero

Z = float(ndtri(0.975))
FEW = "ignore:compare_systems"


def of_areas(first, second, errors, correlation, smaller_class):
    """Areas with the standard error of their difference."""
    variance = errors[0] ** 2 + errors[1] ** 2 - 2 * correlation * errors[0] * errors[1]
    error = np.sqrt(max(variance, 0.0))
    return TwoAreas(first, second, *errors, error, correlation, smaller_class)


def scored(seed, n_positive=20, n_negative=60, shift=(2.0, 2.6), shared=0.6):
    """Truth and normal scores of two systems."""
    rng = np.random.default_rng(seed)
    y_true = np.repeat([1, 0], [n_positive, n_negative])
    common, own = rng.normal(size=len(y_true)), rng.normal(size=(2, len(y_true)))
    latent = np.sqrt(shared) * common + np.sqrt(1 - shared) * own
    return y_true, latent + np.reshape(shift, (2, 1)) * y_true


def compared(y_true, scores, **options):
    systems = dict(zip(["new", "old"], scores, strict=True))
    options = {"n_resamples": 99, "random_state": 0, **options}
    [pair] = compare_systems(y_true, systems, metric="roc_auc", **options).pairs
    return pair


# By the formula, with thirty decimal digits, from logit(a) -/+ k q s / (a (1 - a)), k = 1 and
# (1 - .36)^(1/4), q = 2.2281388519649385 (Student's t, ten degrees of freedom).
BY_HAND = {
    0.0: (-0.144154651085640082, 0.0347179115424997663),
    0.6: (-0.122483975762565710, 0.0037603374886709962),
}


@pytest.mark.parametrize("correlation", BY_HAND)
def test_limits_are_those_computed_by_hand(correlation):
    areas = of_areas(0.9, 0.95, (0.03, 0.02), correlation, 11)
    assert_allclose(areas.limits(Z), BY_HAND[correlation], rtol=1e-9)


@pytest.mark.parametrize("quantile", [0.1, 1.0, Z, 4.0])
@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.6, 0.95, 1 - 1e-9])
def test_an_interval_is_never_narrower_than_delongs_with_students_t(quantile, correlation):
    areas = of_areas(0.97, 0.94, (0.012, 0.02), correlation, 25)
    half = stdtrit(24, ndtr(quantile)) * areas.error
    low, high = areas.limits(quantile)
    assert low <= 0.03 - half + 1e-12
    assert high >= 0.03 + half - 1e-12


def test_limits_are_nested_in_the_level():
    quantiles = np.linspace(0, 12, 200)
    for correlation in (-0.5, 0.0, 0.6, 0.9, 0.99, 0.999, 1.0):
        for first, second in ((0.99, 0.9), (0.9, 0.99), (0.95, 0.95), (1.0, 0.95), (0.999, 0.6)):
            r = 0.0 if first == 1 else correlation
            errors = (0.0 if first == 1 else 0.01, 0.03)
            areas = of_areas(first, second, errors, r, 20)
            low, high = np.transpose([areas.limits(quantile) for quantile in quantiles])
            assert np.all(np.diff(low) <= 1e-15)
            assert np.all(np.diff(high) >= -1e-15)


def test_with_many_rows_the_interval_is_delongs():
    areas = of_areas(0.9, 0.92, (0.003, 0.003), 0.6, 100_000)
    half = Z * areas.error
    assert_allclose(areas.limits(Z), (-0.02 - half, -0.02 + half), atol=0.02 * half)


def test_perfect_areas_reach_to_the_score_limit_of_the_smaller_class():
    both = of_areas(1.0, 1.0, (0.0, 0.0), 0.0, 20)
    q = stdtrit(19, 0.975)
    reach = q**2 / (20 + q**2)
    assert_allclose(both.limits(Z), (-reach, reach))
    assert quantile_at_zero(both.limits) == 0
    against_reversed = of_areas(1.0, 0.0, (0.0, 0.0), 0.0, 20)
    low, high = against_reversed.limits(Z)
    assert_allclose(low, 1 - np.sqrt(2) * reach)
    assert high == 1
    # Both limits meet where q^2 = 20 / (sqrt 2 - 1).
    far = quantile_at_zero(against_reversed.limits)
    assert_allclose(stdtrit(19, normal_p_value(far, "greater")), -np.sqrt(20 / (np.sqrt(2) - 1)))


def test_a_difference_beyond_double_precision_has_a_p_value_of_zero():
    areas = of_areas(0.9, 0.5, (0.001, 0.001), 0.0, 1000)
    assert normal_p_value(quantile_at_zero(areas.limits), "two-sided") == 0


def test_areas_as_if_equal_have_no_difference_and_the_same_error():
    areas = of_areas(0.9, 0.95, (0.03, 0.02), 0.6, 40)
    equal = areas.as_if_equal()
    low, high = equal.limits(Z)
    assert_allclose(-low, high)
    again = of_areas(equal.first, equal.second, equal[2:4], equal.correlation, 40)
    assert_allclose(again.error, areas.error)


# ------------------------------------------------------------------ comparisons


@pytest.mark.filterwarnings(FEW)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_p_value_is_below_the_rest_exactly_where_the_interval_excludes_zero(alternative):
    for seed in range(12):
        y_true, scores = scored(seed, shift=(1.5, 2.4))
        for level in (0.5, 0.9, 0.95, 0.99):
            pair = compared(y_true, scores, confidence_level=level, alternative=alternative)
            assert pair.confidence_interval.method == "logit-delong"
            low, high = pair.confidence_interval
            assert (low > 0 or high < 0) == (pair.p_value < 1 - level)
        at_p = compared(y_true, scores, confidence_level=1 - pair.p_value, alternative=alternative)
        assert min(np.abs(at_p.confidence_interval[:2])) < 1e-9


@pytest.mark.filterwarnings(FEW)
def test_exchanging_the_systems_changes_signs_alone():
    y_true, scores = scored(1)
    pair, other = compared(y_true, scores), compared(y_true, scores[::-1])
    low, high = pair.confidence_interval
    assert other.confidence_interval[:2] == (-high, -low)
    assert other.p_value == pair.p_value
    assert other._areas == pair._areas.mirrored() == pair._mirrored()._areas
    assert pair._mirrored().verdict(0.03).interval == other.verdict(0.03).interval


@pytest.mark.filterwarnings(FEW)
def test_scores_matter_by_their_order_alone():
    y_true, scores = scored(2)
    pair, other = compared(y_true, scores), compared(y_true, [np.exp(scores[0]), scores[1] ** 3])
    assert pair._areas == other._areas
    assert pair.confidence_interval == other.confidence_interval
    assert pair.p_value == other.p_value


@pytest.mark.filterwarnings(FEW)
def test_systems_with_the_same_order_of_rows_are_not_told_apart():
    y_true, scores = scored(3)
    pair = compared(y_true, [scores[0], 2 * scores[0] + 1])
    assert pair.confidence_interval[:2] == (0, 0)
    assert pair.p_value == 1


@pytest.mark.filterwarnings(FEW)
@pytest.mark.parametrize("interval", ["auto", "percentile", "delong"])
def test_a_verdict_is_by_the_same_interval_whatever_is_shown(interval):
    y_true, scores = scored(4)
    shown = compared(y_true, scores, interval=interval)
    verdict = shown.verdict(0.05)
    assert verdict.interval.method == "logit-delong"
    usual = compared(y_true, scores)
    assert verdict.interval[:2] == usual.confidence_interval[:2]
    assert shown.equivalence_margin == max(np.abs(usual.confidence_interval[:2]))
    assert verdict.smallest_margin == -usual.confidence_interval.low


@pytest.mark.filterwarnings(FEW)
@pytest.mark.parametrize("adjust", ["max-t", "holm"])
def test_simultaneous_verdicts_are_by_limits_at_the_joint_quantile(adjust):
    y_true, scores = scored(5)
    third = scores.mean(axis=0)
    systems = {"a": scores[0], "b": scores[1], "c": third}
    result = compare_systems(
        y_true, systems, metric="roc_auc", adjust=adjust, n_resamples=199, random_state=0
    )
    for pair in result.pairs:
        verdict = pair.verdict(0.05)
        assert verdict.interval[:2] == pair._areas.limits(max(pair._simultaneous_quantile, Z))
        low, high = pair.simultaneous_interval
        assert low <= pair.confidence_interval.low
        assert high >= pair.confidence_interval.high


@pytest.mark.filterwarnings("ignore:compare_systems")
@pytest.mark.parametrize("column", ["groups", "strata", "sample_weight"])
def test_areas_of_groups_strata_and_weights_keep_their_interval(column):
    y_true, scores = scored(6)
    given = {
        "groups": np.arange(80) // 2,
        "strata": np.arange(80) % 2,
        "sample_weight": 1 + np.arange(80) % 2,
    }
    pair = compared(y_true, scores, **{column: given[column]})
    assert pair._areas is None
    assert pair.confidence_interval.method == "expanded"
    assert pair.verdict(0.05).interval.method == "expanded"


@pytest.mark.filterwarnings("ignore:compare_systems")
def test_systems_on_rows_of_their_own_keep_their_interval():
    y_true, scores = scored(7)
    systems = dict(zip("ab", scores, strict=True))
    truths = dict.fromkeys("ab", y_true)
    options = {"metric": "roc_auc", "paired": False, "n_resamples": 99, "random_state": 0}
    [pair] = compare_systems(truths, systems, **options).pairs
    assert pair.confidence_interval.method == "expanded"
    assert pair._areas is None
    with pytest.raises(ValueError, match="the same rows"):
        compare_systems(truths, systems, interval="logit-delong", **options)


@pytest.mark.filterwarnings("ignore:compare_systems")
def test_a_single_row_of_a_class_has_no_closed_form():
    y_true, scores = scored(8, n_positive=1)
    pair = compared(y_true, scores)
    assert pair._areas is None
    assert pair.confidence_interval.method == "expanded"


@pytest.mark.filterwarnings("ignore:compare_systems")
def test_a_perfect_system_and_its_reverse_are_told_apart():
    y_true = np.repeat([1, 0], [20, 60])
    pair = compared(y_true, [y_true + 0.0, 0.0 - y_true])
    assert pair.difference == 1
    assert pair.confidence_interval.low > 0.6
    assert pair.p_value < 1e-4
