"""Resamples drawn only where they are looked at have the law of those drawn whole."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skboot.resampling import plan
from skboot.resampling.block import UnitBlock
from skboot.resampling.coding import CodedRows, UnitsOfCodes
from skboot.resampling.design import GroupDesign, RowDesign
from skboot.resampling.draws import multinomial_counts
from skboot.resampling.plan import OnDemandBlock, ResamplingPlan

N_LINES = 4000
N = 60
TYPES = np.random.default_rng(0).integers(0, 2, N)
TERMS = np.column_stack((TYPES, 1 - TYPES)).astype(float)


def share(level):
    return lambda running, total: running.sum(axis=1) - level * total.sum(axis=1)


GAPS = share(0.3), share(0.3 + 1e-9), share(0.6)


def on_demand(multiplicity, seed=1, n_resamples=N_LINES):
    membership = UnitsOfCodes(N, (N,), reads="crossing")
    return OnDemandBlock(membership, multiplicity, n_resamples, np.random.default_rng(seed))


def dense(multiplicity, seed=2):
    counts = multinomial_counts(np.random.default_rng(seed), N_LINES, multiplicity)
    return UnitBlock(UnitsOfCodes(N, (N,), reads="crossing"), counts)


def same_law(one, other):
    """p-value of a chi-square test that two samples of whole numbers have one law."""
    values, places = np.unique(np.concatenate((one, other)), return_inverse=True)
    table = np.array([np.bincount(p, minlength=len(values)) for p in np.split(places, 2)])
    rare = table.sum(axis=0) < 20
    table = np.column_stack((table[:, ~rare], table[:, rare].sum(axis=1)))
    return stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue


@pytest.mark.parametrize("case", ["single rows", "merged rows", "few ends", "many types"])
def test_a_search_has_the_law_of_one_in_resamples_drawn_whole(case):
    # Chi-square at 1e-5 each, 4 cases x 13 variables: a false alarm in 1900 seeds.
    multiplicity = np.ones(N, dtype=np.int64)
    if case == "merged rows":
        multiplicity = np.random.default_rng(3).integers(1, 9, N)
    ends = np.array([4, 11, 12, 30, 40, N - 1]) if case == "few ends" else None
    terms = TERMS * (1 + np.arange(N) % 10)[:, None] if case == "many types" else TERMS
    found, expected = (
        block.crossing(terms, *GAPS, ends=ends)
        for block in (on_demand(multiplicity), dense(multiplicity))
    )
    for one, other in zip(found, expected, strict=True):
        assert same_law(one.end, other.end) > 1e-5
        for k in range(2):
            assert same_law(one.before[:, k], other.before[:, k]) > 1e-5
            assert same_law(one.after[:, k], other.after[:, k]) > 1e-5
    # Two searches of one resample see the same draws: how far apart they end has the same law too.
    between = [two[2].before.sum(axis=1) - two[0].after.sum(axis=1) for two in (found, expected)]
    assert same_law(*between) > 1e-5


def test_a_crossing_found_lazily_is_where_its_gap_changes_sign():
    for found, gap in zip(
        on_demand(np.ones(N, dtype=np.int64)).crossing(TERMS, *GAPS), GAPS, strict=True
    ):
        assert (gap(found.after, found.total) >= 0).all()
        assert (gap(found.before, found.total) < 0).all()
        assert_array_equal(found.total.sum(axis=1), N)
        assert (found.after >= found.before).all()


def test_searches_for_one_place_find_the_same_place():
    one, other = on_demand(np.ones(N, dtype=np.int64)).crossing(TERMS, GAPS[2], GAPS[2])
    for value, same in zip(one, other, strict=True):
        assert_array_equal(value, same)


def test_a_gap_that_stays_negative_ends_at_the_last_end():
    (found,) = on_demand(np.ones(N, dtype=np.int64)).crossing(TERMS, share(1.5))
    assert_array_equal(found.end, N - 1)
    assert_array_equal(found.after, found.total)
    (found,) = on_demand(np.ones(N, dtype=np.int64)).crossing(TERMS, share(-1.0))
    assert_array_equal(found.end, 0)
    assert_array_equal(found.before, 0)


def test_many_types_are_drawn_a_few_lines_at_a_time(monkeypatch):
    monkeypatch.setattr(plan, "ON_DEMAND_COUNTS", 10 * N)
    weights = np.random.default_rng(5).random((N, 1))
    (found,) = on_demand(np.ones(N, dtype=np.int64), n_resamples=25).crossing(weights, share(0.5))
    assert found.end.shape == (25,)
    assert (found.after > 0.5 * found.total).all()
    assert (found.before <= 0.5 * found.total).all()


def test_other_readings_draw_whole_resamples():
    block = on_demand(np.ones(N, dtype=np.int64), n_resamples=5)
    sums = block.sums()
    assert_array_equal(sums.sum(axis=1), N)
    # What has been drawn stays drawn.
    (found,) = block.crossing(TERMS, share(0.5))
    (expected,) = UnitBlock(block.units_of_codes, sums).crossing(TERMS, share(0.5))
    assert_array_equal(found.end, expected.end)
    assert_allclose(found.after, expected.after)


def test_a_block_drawn_on_demand_is_read_once():
    block = on_demand(np.ones(N, dtype=np.int64), n_resamples=5)
    block.crossing(TERMS, share(0.5))
    with pytest.raises(RuntimeError, match="read once"):
        block.crossing(TERMS, share(0.5))
    with pytest.raises(RuntimeError, match="read once"):
        block.sums()


def test_a_plan_draws_on_demand_for_a_search_alone():
    crossing, sums = CodedRows(np.arange(N), N, "crossing"), CodedRows(None, N, "sums")
    rows, groups = RowDesign.of(N), GroupDesign.of(np.arange(N) // 2)
    strata = RowDesign.of(N, np.arange(N) % 2)
    seed = np.random.SeedSequence(0)
    assert ResamplingPlan(rows, 10, seed).bind([crossing]).on_demand
    assert not ResamplingPlan(rows, 10, seed).bind([crossing, sums]).on_demand
    assert not ResamplingPlan(rows, 10, seed).bind([sums]).on_demand
    assert not ResamplingPlan(groups, 10, seed).bind([crossing]).on_demand
    assert not ResamplingPlan(strata, 10, seed).bind([crossing]).on_demand
    picks = np.zeros((10, N), dtype=int)
    assert not ResamplingPlan(rows, 10, seed, picks).bind([crossing]).on_demand


def test_a_block_drawn_on_demand_is_a_function_of_its_number():
    plan = ResamplingPlan(RowDesign.of(N), 5000, np.random.SeedSequence(0))
    binding = plan.bind([CodedRows(np.arange(N), N, "crossing")])
    found = [binding.block(k)[0].crossing(TERMS, share(0.5))[0] for k in (0, 1, 0)]
    assert_array_equal(found[0].after, found[2].after)
    assert (found[0].after != found[1].after).any()
