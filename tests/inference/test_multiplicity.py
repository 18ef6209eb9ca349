"""Several differences at once: by hand, against the joint law, and against their intervals."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats

from skboot.inference import multiplicity
from skboot.inference.evidence import Evidence
from skboot.inference.intervals import confidence_interval
from skboot.inference.multiplicity import (
    JointDeviations,
    LowRankRoot,
    holm,
    joint_deviations,
    joint_p_values,
    level_of_each,
    max_t_adjusted,
    step_down,
    t_quantile_of_normal,
)
from skboot.results.basis import bases_together


def evidence_of(replicates, estimate=0.0):
    return Evidence.of(estimate, replicates, "rows", (200,))


def test_holm_by_hand():
    # Sorted .01, .02, .03, .5: 4 x .01, 3 x .02, 2 x .03 = .06, .5; never falling.
    assert_allclose(holm([0.03, 0.01, 0.5, 0.02]), [0.06, 0.04, 0.5, 0.06])
    assert_allclose(holm([0.9, np.nan, 0.6]), [1.0, np.nan, 1.0])


def test_max_t_counts_resamples_with_a_larger_deviation():
    largest = np.arange(1.0, 100.0)  # 99 resamples
    found = max_t_adjusted(
        np.array([0.001, 0.9, 0.5]), np.array([9.0, 9.0, 0.0]), np.array([0.1, 0.1, 0.0]), largest
    )
    # t = 90: 10 of 99 are as large, (1 + 10) / 100; never below the p of the pair by itself.
    assert_allclose(found, [0.11, 0.9, 1.0])


@pytest.mark.parametrize("n_resamples", [499, 500, 1999, 2003])
@pytest.mark.parametrize("n_units", [8, 1000])
def test_max_t_p_is_below_one_minus_level_exactly_when_its_interval_excludes_zero(
    n_resamples, n_units
):
    # Estimates on, just below and just above every deviation around the limit.
    largest = np.sort(np.random.default_rng(0).chisquare(3, size=n_resamples))
    units = Evidence.of(0.0, np.zeros(2), "rows", (n_units,))
    around = t_quantile_of_normal(largest, n_units - 1)[
        int(0.94 * n_resamples) : int(0.96 * n_resamples)
    ]
    estimates = np.concatenate([around, around * (1 - 1e-6), around * (1 + 1e-6)])
    apart = []
    for estimate in estimates:
        known = replace(units, estimate=estimate, max_t=(1.0, largest))
        apart.append(confidence_interval(known, "max-t", 0.95).low > 1e-9)
    p = max_t_adjusted(
        np.zeros(len(estimates)),
        estimates,
        np.ones(len(estimates)),
        t_quantile_of_normal(largest, n_units - 1),
    )
    assert 0 < np.mean(apart) < 1
    assert_array_equal(p <= 0.05, apart)


def test_deviations_of_many_units_are_those_of_the_resamples():
    # Chi variables of a million degrees of freedom are 1 within .4%, six of their deviations.
    rng = np.random.default_rng(0)
    replicates = rng.normal(size=(5, 300)) * np.arange(1, 6)[:, None]
    errors = replicates.std(axis=1, ddof=1)
    largest = joint_deviations(np.zeros(5), errors, [replicates.T.copy()], 999_999).largest
    expected = np.max(np.abs(replicates) / replicates.std(axis=1, ddof=1)[:, None], axis=0)
    assert_allclose(t_quantile_of_normal(largest, 999_999), expected, rtol=0.005)


def test_a_single_difference_of_normal_resamples_has_students_interval():
    # 100,000 draws: the quantile of t with 7 degrees of freedom has an error of 1%.
    replicates = np.random.default_rng(0).normal(size=(1, 99_999))
    units = Evidence.of(0.0, np.zeros(2), "groups", (8,))
    error = replicates.std(axis=1, ddof=1)
    joint = joint_deviations(
        np.zeros(1), error, [replicates.T.copy()], units.drawn.degrees_of_freedom
    )
    known = replace(units, max_t=(float(error[0]), joint.largest))
    low, high = confidence_interval(known, "max-t", 0.95)
    expected = np.sqrt(8 / 7) * stats.t.ppf(0.975, 7)
    assert_allclose([low, high], [-expected, expected], rtol=0.03)


def _root(correlation):
    return LowRankRoot.of(np.eye(len(correlation)), correlation)


def test_the_joint_law_of_one_difference_is_students():
    # Level of the smallest p-value of one difference: uniform; error of 40,000 draws 0.1%.
    smallest, _ = joint_p_values([7.0], _root(np.eye(1)), np.random.SeedSequence(0))
    assert abs(np.mean(smallest <= 0.05) - 0.05) < 0.004
    many, _ = joint_p_values([7.0] * 4, _root(np.eye(4)), np.random.SeedSequence(0))
    assert abs(np.mean(many <= 0.05) - (1 - 0.95**4)) < 0.008
    same, _ = joint_p_values([7.0] * 2, _root(np.ones((2, 2))), np.random.SeedSequence(0))
    assert np.mean(same <= 0.05) < 0.09


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_the_joint_law_of_one_sided_tests_is_uniform(alternative):
    # Error of 40,000 draws at 5%: 0.1%; four of them.
    smallest, joint = joint_p_values(
        [7.0], _root(np.eye(1)), np.random.SeedSequence(0), alternative
    )
    assert joint is None
    assert abs(np.mean(smallest <= 0.05) - 0.05) < 0.0045


def test_blocks_of_resamples_do_not_change_the_joint_deviations():
    replicates = np.random.default_rng(2).normal(size=(50, 4))
    whole = joint_deviations(np.zeros(4), np.ones(4), [replicates.copy()], 9, with_signs=True)
    parts = [replicates[:7].copy(), replicates[7:].copy()]
    cut = joint_deviations(np.zeros(4), np.ones(4), parts, 9, with_signs=True)
    assert_array_equal(whole.largest, cut.largest)
    assert_array_equal(*(np.concatenate(each.large_rows) for each in (whole, cut)))


def test_one_sided_deviations_keep_their_sign():
    replicates = np.array([[-3.0, 1.0], [2.0, -4.0], [np.nan, 0.5]])
    joint = joint_deviations(
        np.zeros(2), np.ones(2), [replicates.copy()], 10**7, signs=np.array([1.0, -1.0])
    )
    # A chi variable of ten million degrees of freedom is 1 within .1%.
    assert_allclose(joint.largest, [-1.0, 4.0, -0.5], rtol=2e-3)


# ------------------------------------------------------------------ step-down


def by_brute_force(statistics, rows, level, at_most):
    """The definition: ordered hypotheses one by one, the quantile over those that are left."""
    left = {(k, side) for k in range(len(statistics)) for side in (1, -1)}
    signs = np.zeros(len(statistics), dtype=int)
    while True:
        largest = sorted(max(side * row[k] for k, side in left) for row in rows)
        rank = min(int(np.ceil((len(rows) + 1) * level)), len(rows))
        critical = min(largest[rank - 1], at_most(len(left)))
        rejected = {(k, side) for k, side in left if side * statistics[k] > critical}
        if not rejected:
            return signs
        for k, side in rejected:
            signs[k] = side
        left -= rejected


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cap", [np.inf, 2.3])
def test_step_down_is_its_definition(seed, cap):
    rng = np.random.default_rng(seed)
    rows = (rng.normal(size=(99, 6)) + rng.normal(size=(99, 1))).astype(np.float32)
    statistics = rng.normal(size=6) * 3
    joint = JointDeviations(np.empty(0), (rows,), np.empty(0))
    found = step_down(statistics, joint, 0.9, lambda m: cap)
    assert_array_equal(found, by_brute_force(statistics, rows, 0.9, lambda m: cap))


def test_step_down_tells_more_than_one_step():
    # Two clear differences leave; the quantile of the third's own deviations is smaller.
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(999, 20)).astype(np.float32)
    statistics = np.array([9.0] * 19 + [2.95])
    joint = JointDeviations(np.empty(0), (rows,), np.empty(0))
    one_step = np.sort(np.abs(rows).max(axis=1))[949]
    assert one_step > 2.95
    assert_array_equal(step_down(statistics, joint, 0.95, lambda m: np.inf), np.ones(20))


def test_resamples_that_are_not_kept_leave_step_down_as_it_is():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1999, 30)).astype(np.float32)
    statistics = rng.normal(size=30) * 3
    largest = np.abs(rows).max(axis=1)
    high = largest >= np.quantile(largest, 0.7)
    few = JointDeviations(np.empty(0), (rows[high],), largest[~high].astype(float))
    every = JointDeviations(np.empty(0), (rows,), np.empty(0))
    told = [step_down(statistics, joint, 0.95, lambda m: np.inf) for joint in (few, every)]
    assert_array_equal(*told)


def test_a_difference_that_does_not_vary_is_not_told():
    joint = JointDeviations(np.empty(0), (np.zeros((99, 2), np.float32),), np.empty(0))
    assert_array_equal(step_down(np.array([np.nan, 5.0]), joint, 0.95, lambda m: 2.0), [0, 1])


# ------------------------------------------------------------------ the level of each score


@pytest.mark.parametrize("n_scores", [2, 5, 20])
def test_independent_scores_have_sidaks_level(n_scores):
    # The quantile of 20,000 draws has a standard error of .0015; 4 of them are an alarm in 16,000.
    draws = np.random.default_rng(1).normal(size=(n_scores, 20_000))
    basis = bases_together([evidence_of(own) for own in draws])[0]
    at_once = basis.level_of_own(0.95) ** n_scores
    assert at_once == pytest.approx(0.95, abs=4 * 0.0015)


def test_the_level_does_not_depend_on_the_scale_of_the_scores():
    draws = np.random.default_rng(1).normal(size=(4, 1999)) + np.random.default_rng(2).normal(
        size=1999
    )
    of_normal = bases_together([evidence_of(own) for own in draws])[0]
    of_others = bases_together([evidence_of(np.exp(3 * own), 1.0) for own in draws])[0]
    assert of_normal.level_of_own(0.95) == of_others.level_of_own(0.95)


def test_equal_scores_have_the_level_of_the_call():
    draws = np.random.default_rng(1).normal(size=1999)
    assert bases_together([evidence_of(draws)] * 7)[0].level_of_own(0.95) == 0.95


def test_normal_scores_with_a_common_part_have_the_exact_level():
    # Equal correlations: the largest of |z| has a distribution function of one integral.
    n_scores, correlation = 6, 0.5
    rng = np.random.default_rng(3)
    common = rng.normal(size=40_000)
    draws = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(
        size=(n_scores, 40_000)
    )
    basis = bases_together([evidence_of(own) for own in draws])[0]
    c = stats.norm.ppf((1 + basis.level_of_own(0.95)) / 2)
    x = np.linspace(-8, 8, 4001)
    inside = [
        stats.norm.cdf((end - np.sqrt(correlation) * x) / np.sqrt(1 - correlation))
        for end in (-c, c)
    ]
    at_once = integrate.trapezoid(stats.norm.pdf(x) * (inside[1] - inside[0]) ** n_scores, x)
    assert at_once == pytest.approx(0.95, abs=4 * 0.0011)


def test_the_level_is_between_that_of_the_call_and_bonferronis():
    far, near = np.full(1999, 9.0), np.zeros(1999)
    assert level_of_each(far, 0.95, n_scores=4) == 1 - 0.05 / 4
    assert level_of_each(near, 0.95, n_scores=4) == 0.95


def test_scores_that_never_vary_count_as_independent():
    varying = evidence_of(np.random.default_rng(1).normal(size=20_000))
    constant = evidence_of(np.zeros(20_000))
    basis = bases_together([varying, constant, constant])[0]
    assert basis.level_of_own(0.95) == pytest.approx(0.95 ** (1 / 3), abs=0.003)
    only = bases_together([constant, constant])[0]
    assert only.level_of_own(0.95) == pytest.approx(0.95**0.5, abs=1e-12)


def test_undefined_replicates_are_left_out():
    draws = np.random.default_rng(1).normal(size=(3, 1999))
    draws[1, ::7] = np.nan
    basis = bases_together([evidence_of(own) for own in draws])[0]
    assert 0.975 < basis.level_of_own(0.95) <= 1 - 0.05 / 3


@pytest.mark.parametrize("one_sided", [False, True])
def test_of_many_differences_those_near_the_largest_alone_are_divided(monkeypatch, one_sided):
    values = np.random.default_rng(0).normal(size=(4000, 20))
    values[:3] = np.nan
    errors, blocks = np.ones(20), np.array_split(values, 9)
    signs = np.where(np.arange(20) % 2, 1.0, -1.0) if one_sided else None

    def largest(limit):
        monkeypatch.setattr(multiplicity, "DEVIATIONS_ALL_DIVIDED", limit)
        copies = (block.copy() for block in blocks)
        return joint_deviations(np.zeros(20), errors, copies, 999.0, signs=signs).largest

    all_divided, few_divided = largest(21), largest(20)
    assert np.isnan(few_divided[:3]).all()
    # The draws are others, the law is the same.
    assert (all_divided[3:] != few_divided[3:]).all()
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    expected = np.nanquantile(all_divided, levels)
    np.testing.assert_allclose(np.nanquantile(few_divided, levels), expected, atol=0.03)
