"""Groups of unequal size: degrees of freedom, inflation, and the intervals made of them."""

import numpy as np
import pytest
from scipy import stats

from skboot import bootstrap_score, compare_systems
from skboot._base.values import equal_units
from skboot.inference.evidence import DrawnUnits
from skboot.resampling.design import GroupDesign, freedom_of_groups

SIZES = np.repeat([4, 9, 15, 22], [5, 4, 3, 3])
ignore_few = pytest.mark.filterwarnings(
    "ignore:(bootstrap_score|compare_systems). (Only|The|Most) "
)


def of_sizes(sizes, seed=0):
    """Losses and groups of these sizes."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(seed)
    return rng.exponential(size=len(groups)) + rng.exponential(size=len(sizes))[groups], groups


def test_equal_groups_have_nothing_of_their_own():
    assert freedom_of_groups(np.full(7, 3)) is None
    assert freedom_of_groups(np.array([2, 5, 2, 5, 5]), np.array([0, 1, 0, 1, 1])) is None
    design = GroupDesign.of(np.repeat(np.arange(7), 3))
    assert (design.degrees_of_freedom, design.inflation) == (6, 7 / 6)
    assert (DrawnUnits.of(design).n_equal, DrawnUnits.of(design).unequal) == (7, 1)


def test_equal_groups_whose_weights_differ_by_rounding_are_equal():
    rng = np.random.default_rng(3)
    weights = rng.uniform(size=5)
    each = [rng.permutation(weights) for _ in range(6)]
    design = GroupDesign.of(np.repeat(np.arange(6), 5))
    assert DrawnUnits.of(design, None, np.concatenate(each)).freedom is None


def test_the_factor_is_that_of_leaving_out_one_group_of_means_that_vary_alike():
    # Variance of leaving out groups, and of resamples, in expectation: squares by size.
    n, of_groups = SIZES.sum(), SIZES.astype(float) ** 2
    left_out = 14 / 15 * np.sum(of_groups / (n - SIZES) ** 2)
    df, inflation = freedom_of_groups(SIZES)
    assert inflation == pytest.approx(left_out / np.sum(of_groups / n**2))
    assert df == pytest.approx(n**2 / of_groups.sum() - 1)


def test_sizes_count_relative_to_each_other():
    expected = freedom_of_groups(SIZES)
    for factor in (3, 1e-200, 1e200):
        assert freedom_of_groups(SIZES * factor) == pytest.approx(expected)
    assert equal_units(SIZES * 7.0) == pytest.approx(equal_units(SIZES.astype(float)))


def test_a_group_without_weight_changes_nothing():
    assert freedom_of_groups(np.append(SIZES, 0)) == freedom_of_groups(SIZES)
    df, inflation = freedom_of_groups(np.array([4, 4, 0, 4]))
    assert (df, inflation) == pytest.approx((2, 3 / 2))


def test_groups_twice_are_twice_as_many_of_equal_size():
    once, twice = freedom_of_groups(SIZES)[0] + 1, freedom_of_groups(np.tile(SIZES, 2))[0] + 1
    assert twice == pytest.approx(2 * once)


def test_groups_of_each_stratum_are_compared_with_each_other():
    strata = np.repeat([0, 1], [8, 7])
    df, _ = freedom_of_groups(SIZES, strata)
    of_each = [equal_units(SIZES[strata == k].astype(float)) for k in (0, 1)]
    assert df == pytest.approx(sum(of_each) - 2)
    # A group that is alone in its stratum adds nothing, but what it weighs.
    alone = freedom_of_groups(np.append(SIZES, 50), np.append(np.zeros(15, int), 1))
    assert alone[0] == pytest.approx(freedom_of_groups(SIZES)[0])


def test_one_group_that_is_nearly_all_leaves_finite_numbers():
    df, inflation = freedom_of_groups(np.array([1.0, 1.0, 1e300]))
    assert 0 <= df < 1e-12
    assert np.isfinite(inflation)
    design = GroupDesign.of(np.repeat([0, 1, 2], [1, 1, 100_000]))
    assert design.degrees_of_freedom == 1


@ignore_few
@pytest.mark.parametrize("interval", ["t", "expanded", "studentized"])
def test_unequal_groups_make_a_wider_interval_by_the_formula(interval):
    values, groups = of_sizes(SIZES)
    result = bootstrap_score(
        None, values, metric="mean", groups=groups, interval=interval, random_state=0
    )
    df, inflation = freedom_of_groups(SIZES)
    low, high = result.confidence_interval
    replicates = result._evidence.replicates
    if interval == "t":
        half = stats.t.ppf(0.975, df) * np.sqrt(inflation) * replicates.std(ddof=1)
        assert (low, high) == pytest.approx((result.estimate - half, result.estimate + half))
    elif interval == "expanded":
        tail = stats.norm.cdf(-np.sqrt(inflation) * stats.t.ppf(0.975, df))
        assert np.mean(replicates < low) == pytest.approx(tail, abs=2 / len(replicates))
    else:
        # Sizes widen both sides about the estimate alike.
        errors = result._evidence.replicate_standard_errors
        pivots = np.sort((replicates - result.estimate) / errors)
        error = result._evidence.standard_error * np.sqrt(inflation / (15 / 14))
        assert low == pytest.approx(result.estimate - error * pivots[1949])
        assert high == pytest.approx(result.estimate - error * pivots[49])


@ignore_few
@pytest.mark.parametrize("interval", ["auto", "t", "expanded", "studentized"])
def test_a_negated_loss_mirrors_the_interval(interval):
    values, groups = of_sizes(SIZES, seed=4)
    options = {"metric": "mean", "groups": groups, "interval": interval, "random_state": 0}
    low, high = bootstrap_score(None, values, **options).confidence_interval
    mirrored = bootstrap_score(None, -values, **options).confidence_interval
    assert (-mirrored.high, -mirrored.low) == pytest.approx((low, high))


@ignore_few
def test_weights_of_rows_count_as_rows():
    values, groups = of_sizes(np.full(8, 6))
    weights = np.repeat(np.arange(1.0, 9.0), 6)
    options = {"metric": "mean", "groups": groups, "random_state": 0}
    result = bootstrap_score(None, values, sample_weight=weights, **options)
    assert result._evidence.drawn.n_equal == pytest.approx(36**2 / 204)
    # Of a subgroup those of its rows.
    kept = np.tile([True, True, False, False, False, False], 8)
    kept[:6] = True
    parts = bootstrap_score(None, values, by=kept, **options)
    drawn = parts[True]._evidence.drawn
    assert drawn.n_equal == pytest.approx(20**2 / (36 + 7 * 4))


@ignore_few
def test_few_groups_of_equal_size_that_are_worth_many_unequal_ones_are_told():
    values, groups = of_sizes(np.repeat([60, 1], [8, 20]))
    with pytest.warns(UserWarning, match=r"28 resampled groups .* equivalent to 8 of equal size"):
        bootstrap_score(None, values, metric="mean", groups=groups, random_state=0)
    systems = {"a": values, "b": values[::-1]}
    with pytest.warns(UserWarning, match=r"28 resampled groups .* equivalent to 8 of equal size"):
        compare_systems(None, systems, metric="mean", groups=groups, random_state=0)


def test_simultaneous_intervals_know_the_sizes():
    sizes = np.tile([2, 5, 20], 10)
    values, groups = of_sizes(sizes)
    rng = np.random.default_rng(1)
    systems = {name: values + rng.normal(size=len(values)) for name in "abc"}
    result = compare_systems(None, systems, metric="mean", groups=groups, random_state=0)
    df = equal_units(sizes.astype(float)) - 1
    assert all(pair.degrees_of_freedom == pytest.approx(df) for pair in result.pairs)
