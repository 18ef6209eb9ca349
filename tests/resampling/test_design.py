"""What every registered design promises to plans, intervals and texts.

The words of a new design are registered, and it gets an example in ``tests/designs.py``; the
contract of blocks (``test_block.py``) then reads its resamples as well.
"""

import numpy as np
import pytest
from designs import EXAMPLES, N
from numpy.testing import assert_allclose

from skboot.inference.automatic import automatic_interval
from skboot.inference.distribution import BoundStatistic, bootstrap
from skboot.inference.evidence import Evidence
from skboot.inference.intervals import INTERVALS, confidence_interval
from skboot.metrics.means import mean_of_values
from skboot.resampling.coding import CodedRows, bind_rows
from skboot.resampling.design import (
    DESIGNS,
    CrossedDesign,
    DesignWords,
    GroupDesign,
    OnePopulationDesign,
    RowDesign,
    SamplingDesign,
    registered,
    within_tasks,
)
from skboot.resampling.plan import ResamplingPlan
from skboot.resampling.streamed import StreamedDesign

STRATA = np.repeat([0, 1, 2], 4)
PAIRS = np.column_stack((np.arange(12) % 3, np.arange(12) % 4))
ROWS_AND_CODES = [CodedRows(None, N, "rows"), CodedRows(np.arange(N) % 4, 4, "sums")]


@pytest.fixture(params=EXAMPLES)
def design(request):
    return EXAMPLES[request.param]


def bound(design, n_resamples=20):
    return ResamplingPlan(design, n_resamples, np.random.SeedSequence(1)).bind(ROWS_AND_CODES)


STREAMED = ("streamed rows", "streamed groups")


def test_every_registered_design_has_an_example():
    kinds = {example.kind for example in EXAMPLES.values()}
    assert kinds | set(STREAMED) == set(DESIGNS)
    assert not kinds & set(STREAMED)


def test_a_design_says_what_results_look_up_by_its_name(design):
    said = dict(vars(DESIGNS[design.kind]))
    remarks = said.pop("remarks")
    assert said == {name: getattr(design, name) for name in said}
    assert set(remarks) <= set(design.remarks)


@pytest.mark.parametrize("kind", STREAMED)
def test_no_plan_draws_a_stream(kind):
    design = StreamedDesign.of(N, 30, kind)
    assert design.remarks == DESIGNS[kind].remarks
    assert design.degrees_of_freedom == 29
    with pytest.raises(TypeError, match="stream"):
        bound(design)


# ------------------------------------------------------------------ numbers and words


@pytest.mark.parametrize(
    ("design", "n_strata", "degrees_of_freedom", "inflation"),
    [
        (RowDesign.of(12), 1, 11, 12 / 11),
        (RowDesign.of(12, STRATA), 3, 9, 12 / 9),
        (GroupDesign.of(np.repeat(np.arange(6), 2)), 1, 5, 6 / 5),
        (GroupDesign.of(np.repeat(np.arange(6), 2), STRATA), 3, 3, 6 / 3),
        (CrossedDesign.of(PAIRS), 1, 2, 1.0),
        (OnePopulationDesign.of(PAIRS), 1, 3, 1.0),
        (RowDesign.of(1), 1, 1, 1.0),
    ],
)
def test_degrees_of_freedom_are_units_less_strata_of_the_smaller_side(
    design, n_strata, degrees_of_freedom, inflation
):
    assert design.n_strata == n_strata
    assert design.degrees_of_freedom == degrees_of_freedom
    assert design.inflation == inflation


@pytest.mark.parametrize("strata", [None, np.arange(12) % 2])
def test_fixed_tasks_have_the_freedom_of_satterthwaite(strata):
    """The average of tasks has the sum of their variances, each of an unknown variance."""
    task = np.repeat(np.arange(3), [2, 4, 6])
    design = within_tasks(RowDesign.of(12, strata), task)
    parts = task if strata is None else 2 * task + strata
    # Shares and numbers of units of each part; of parts alike in the variance of a unit.
    n, of_task = np.unique(parts, return_counts=True)[1], np.array([2, 4, 6])
    share = n / (of_task if strata is None else np.repeat(of_task, 2))
    if strata is not None:
        varies = n > 1
        n, share = n[varies], share[varies]
    plug_in = share**2 * (n - 1) / n**2
    expected = plug_in.sum() ** 2 / np.sum(plug_in**2 / (n - 1))
    assert_allclose(design.degrees_of_freedom, expected)


def test_a_resample_is_as_large_as_the_sample_on_each_side(design):
    binding = bound(design)
    drawn = design.draw(np.random.default_rng(0), 5, binding.multiplicity, binding.drawn_within)
    assert len(drawn) == len(design.n_units)
    for counts, n_units in zip(drawn, design.n_units, strict=True):
        if design.units_are_blocks:
            # Of blocks of rows in time it is drawn where they begin.
            assert counts.shape == (5, n_units)
            assert np.all((counts >= 0) & (counts < N))
        else:
            assert np.all(counts.sum(axis=1) == n_units)


def test_all_rows_have_all_units_and_one_row_has_one_of_each_factor(design):
    assert design.among(np.arange(N)) == design.among(None) == (design.n_units, design.freedom)
    assert all(1 <= n <= design.n_factors for n in design.among(np.array([N // 2]))[0])


@pytest.mark.parametrize("words", DESIGNS.values(), ids=DESIGNS)
def test_a_design_has_words_for_its_units(words):
    assert words.unit
    assert not words.unit.endswith("s")
    assert "groups" in words.groups_in_messages


@pytest.mark.parametrize("row_mean", [True, False])
@pytest.mark.parametrize("additive", [True, False])
@pytest.mark.parametrize("words", DESIGNS.values(), ids=DESIGNS)
def test_auto_tries_an_interval_that_the_design_can_have(words, row_mean, additive):
    method = words.automatic_interval(row_mean=row_mean, additive=additive or row_mean)
    assert method in INTERVALS
    assert not (words.no_jackknife and method in ("bca", "studentized"))


# ------------------------------------------------------------------ resamples


def test_the_data_are_a_resample_in_which_every_row_occurs_once(design):
    rows, codes = bound(design).observed()
    np.testing.assert_array_equal(rows.sums(), np.ones((1, N)))
    np.testing.assert_array_equal(codes.sums(), [np.bincount(np.arange(N) % 4)])


def test_all_units_are_left_out_or_the_design_says_why_none_can_be(design):
    binding = bound(design)
    if design.no_jackknife:
        with pytest.raises(TypeError, match=design.no_jackknife):
            next(iter(binding.jackknife_resamples()))
        return
    parts = list(binding.jackknife_resamples())
    missing = np.vstack([1 - part.blocks[0].sums() for part in parts])
    times = np.concatenate([part.times for part in parts])
    assert times.sum() == design.n_units[0]
    np.testing.assert_array_equal(times @ missing, np.ones(N))


def test_units_drawn_give_the_rows_back_unless_units_were_split(design):
    rng = np.random.default_rng(3)
    split = rng.integers(0, N, (3, N))
    if not design.units_are_groups:
        assert design.units_drawn(split) is None
        return
    drawn = rng.multinomial(design.n_units[0], np.full(*design.n_units, 1 / design.n_units[0]), 3)
    whole = [np.repeat(np.arange(N), counts[design.members[:, 0]]) for counts in drawn]
    read = np.vstack([design.units_drawn(rows[None]) for rows in whole])
    np.testing.assert_array_equal(read, drawn)
    assert design.units_drawn(split) is None


def test_a_design_states_whether_its_units_are_rows_or_sets_of_rows(design):
    rows, _ = bound(design).block(0)
    weights = rows.sums()
    same = (
        [
            np.unique(weights[:, design.members[:, 0] == unit], axis=1).shape[1] == 1
            for unit in range(design.n_units[0])
        ]
        if design.members is not None
        else [True]
    )
    assert design.units_are_rows == (design.members is None)
    assert design.units_are_groups == (design.members is not None and all(same))
    assert design.draws_independent_rows == (design.units_are_rows and design.strata is None)


def test_the_base_is_no_design():
    with pytest.raises(TypeError, match="abstract"):
        SamplingDesign(3, (3,))


# ------------------------------------------------------------------ one more design


MOVING_BLOCKS = DesignWords(kind="moving blocks", unit="block", no_jackknife="blocks overlap")


class MovingBlocks(SamplingDesign):
    """Circular blocks of rows in time, as one class outside the package."""

    length = 7

    def bind(self, codings, *, as_rows=False):
        return bind_rows(codings, self.n_samples, None, as_rows=True)

    def draw(self, rng, n_resamples, multiplicity, strata):
        shares = np.full(self.n_samples, 1 / self.n_samples)
        starts = rng.multinomial(*self.n_units, shares, n_resamples)
        return (sum(np.roll(starts, shift, axis=1) for shift in range(self.length)),)


def test_one_more_design_is_one_class_and_words_that_are_registered():
    values = np.sin(np.arange(N))
    statistic = mean_of_values()
    reduced = statistic.reduce(None, values, None)
    coding = CodedRows(reduced.code, reduced.n_codes, statistic.reads)
    try:
        words = vars(registered(MOVING_BLOCKS))
        design = MovingBlocks(N, (N // MovingBlocks.length,), **words)
        binding = ResamplingPlan(design, 999, np.random.SeedSequence(0)).bind([coding])
        (found,) = bootstrap(binding, [BoundStatistic(statistic, reduced, coding)])
        evidence = Evidence.of(found.estimate, found.replicates, design.kind, design.n_units)
        chosen = automatic_interval(evidence)
        assert chosen.interval.method == "expanded"
        assert chosen.interval.low < found.estimate < chosen.interval.high
        assert evidence.drawn.design is MOVING_BLOCKS
        with pytest.raises(ValueError, match=MOVING_BLOCKS.no_jackknife):
            confidence_interval(evidence, "bca")
    finally:
        del DESIGNS[MOVING_BLOCKS.kind]
    weights = ResamplingPlan(design, 5, np.random.SeedSequence(0)).bind([coding]).block(0)[0]
    assert np.all(weights.counts.sum(axis=1) == N)
