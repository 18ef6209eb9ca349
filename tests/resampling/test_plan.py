"""Plans: streams, prefixes, leave-one-unit-out, and the variances of crossed designs."""

import numpy as np
import pytest

from skboot.resampling.coding import CodedRows, bind_rows
from skboot.resampling.design import CrossedDesign, GroupDesign, OnePopulationDesign, RowDesign
from skboot.resampling.plan import ResamplingPlan

N = 60
RNG = np.random.default_rng(0)
GROUPS = RNG.permutation(np.repeat(np.arange(12), 5))
STRATA_OF_GROUPS = np.arange(12) % 3
PAIRS = np.array([(i, j) for i in range(6) for j in range(10)])
ONE_POPULATION = np.array([(i, j) for i in range(11) for j in range(i, 11)])[:N]

DESIGNS = {
    "rows": RowDesign.of(N),
    "rows in strata": RowDesign.of(N, np.repeat([0, 1, 2], [30, 20, 10])),
    "groups": GroupDesign.of(GROUPS),
    "groups in strata": GroupDesign.of(GROUPS, STRATA_OF_GROUPS[GROUPS]),
    "crossed": CrossedDesign.of(PAIRS),
    "one population": OnePopulationDesign.of(ONE_POPULATION),
}
EVERY_ROW = CodedRows(None, N, "running")


def weights(design, n_resamples=50, seed=1, coding=EVERY_ROW):
    """Weights of the codes in every resample of the plan."""
    binding = ResamplingPlan(design, n_resamples, np.random.SeedSequence(seed)).bind([coding])
    blocks = [binding.block(k)[0] for k in range(binding.n_blocks)]
    return np.vstack([block.sums() for block in blocks])[:n_resamples]


@pytest.mark.parametrize("name", DESIGNS)
def test_the_first_resamples_do_not_depend_on_how_many_follow(name):
    many = weights(DESIGNS[name], 3000)
    few = weights(DESIGNS[name], 100)
    np.testing.assert_array_equal(many[:100], few)


@pytest.mark.parametrize("n", [130, 700, 5000])
def test_divided_blocks_hold_the_same_resamples_whatever_follows(n):
    """The first block is short where a resample has many counts."""
    design, coding = RowDesign.of(n), CodedRows(None, n, "running")
    many = weights(design, 1100, coding=coding)
    for n_resamples in (99, 199, 200, 201, 499, 501, 999, 1001):
        binding = ResamplingPlan(design, n_resamples, np.random.SeedSequence(1)).bind([coding])
        np.testing.assert_array_equal(
            weights(design, n_resamples, coding=coding), many[:n_resamples]
        )
        starts = binding.block_starts
        assert starts[0] == 0
        assert starts == sorted(set(starts))
        assert starts[-2] < n_resamples <= starts[-1]
        assert starts[1] < binding.block_size


def test_199_resamples_are_one_short_block():
    binding = ResamplingPlan(RowDesign.of(1000), 199, np.random.SeedSequence(1)).bind(
        [CodedRows(None, 1000, "sums")]
    )
    [block] = binding.block(0)
    assert (binding.n_blocks, block.n_resamples) == (1, 200)


def test_many_small_strata_are_drawn_in_whole_blocks():
    """Their calls take the time, not their counts."""
    whole, short = [
        ResamplingPlan(
            RowDesign.of(1000, np.arange(1000) % n_strata), 1999, np.random.SeedSequence(1)
        ).bind([CodedRows(None, 1000, "sums")])
        for n_strata in (100, 10)
    ]
    assert whole.n_blocks == 2
    assert short.n_blocks == 3


@pytest.mark.parametrize("name", DESIGNS)
def test_the_same_seed_gives_the_same_resamples_and_is_not_spawned(name):
    seed = np.random.SeedSequence(5)
    plan = ResamplingPlan(DESIGNS[name], 20, seed)
    first = plan.bind([EVERY_ROW]).block(0)[0].sums()
    second = plan.bind([EVERY_ROW]).block(0)[0].sums()
    np.testing.assert_array_equal(first, second)
    assert seed.n_children_spawned == 0


@pytest.mark.parametrize("name", DESIGNS)
def test_observed_data_weigh_one_each(name):
    binding = ResamplingPlan(DESIGNS[name], 2, np.random.SeedSequence(0)).bind([EVERY_ROW])
    np.testing.assert_array_equal(binding.observed()[0].sums(), np.ones((1, N)))


def test_rows_in_strata_keep_the_size_of_each_stratum():
    design = DESIGNS["rows in strata"]
    drawn = weights(design)
    for stratum in range(3):
        members = design.strata == stratum
        assert np.all(drawn[:, members].sum(axis=1) == members.sum())


def test_all_rows_of_a_group_weigh_the_same():
    drawn = weights(DESIGNS["groups"])
    for group in range(12):
        members = drawn[:, group == GROUPS]
        np.testing.assert_array_equal(members, members[:, :1].repeat(5, axis=1))
    assert np.all(drawn.sum(axis=1) == N)


def test_as_many_groups_as_a_stratum_holds_are_drawn_in_it():
    drawn = weights(DESIGNS["groups in strata"])
    for stratum in range(3):
        groups = np.flatnonzero(stratum == STRATA_OF_GROUPS)
        one_row_each = [np.flatnonzero(g == GROUPS)[0] for g in groups]
        assert np.all(drawn[:, one_row_each].sum(axis=1) == len(groups))


def test_a_trial_of_two_members_weighs_their_product_and_a_same_member_trial_weighs_once():
    drawn = weights(DESIGNS["one population"], 200)
    same = {s: k for k, (s, t) in enumerate(ONE_POPULATION) if s == t}
    for k, (s, t) in enumerate(ONE_POPULATION):
        if s in same and t in same:
            of_s, of_t = drawn[:, same[s]], drawn[:, same[t]]
            np.testing.assert_array_equal(drawn[:, k], of_s if s == t else of_s * of_t)


def test_same_member_trials_have_the_variance_of_one_multinomial_weight():
    """Var of a mean of same-member trials: (1/S) sigma^2, as for S independent units.

    False-alarm rate about 1e-5: the variance of 40,000 replicates has a standard error of
    sqrt(2 / 40000) = 0.7%; 3.2% is allowed. With squared weights it would be 2.75 times.
    """
    n_members = 40
    design = OnePopulationDesign.of(np.repeat(np.arange(n_members)[:, None], 2, axis=1))
    values = np.random.default_rng(3).normal(size=n_members)
    binding = ResamplingPlan(design, 40_000, np.random.SeedSequence(4)).bind(
        [CodedRows(None, n_members, "sums")]
    )
    terms = np.column_stack((np.ones(n_members), values))
    sums = np.vstack([binding.block(k)[0].sums(terms) for k in range(binding.n_blocks)])[:40_000]
    means = sums[:, 1] / sums[:, 0]
    np.testing.assert_allclose(means.var(), values.var() / n_members, rtol=0.032)


def pigeonhole_variance(values):
    """Owen (2007), "The pigeonhole bootstrap", theorem 1, for complete I x J data.

    The variance of the resampled mean is that of a product of two independent multinomial
    weights: (A + B + C) with A, B the variances by row and column means, and the rest.
    """
    n_rows, n_columns = values.shape
    centred = values - values.mean()
    rows = (centred.mean(axis=1) ** 2).sum() / n_rows**2
    columns = (centred.mean(axis=0) ** 2).sum() / n_columns**2
    both = (centred**2).sum() / (n_rows * n_columns) ** 2
    # E[u_i u_k] = delta_ik + 1 - 1/I, and likewise v: expand the double sum of products.
    return rows * (1 - 1 / n_columns) + columns * (1 - 1 / n_rows) + both


def test_the_two_way_bootstrap_of_a_mean_has_owens_pigeonhole_variance():
    """40,000 resamples, analytic value; false-alarm rate about 1e-5 at 3.2%."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(6, 1)) + 0.5 * rng.normal(size=(1, 10)) + rng.normal(size=(6, 10))
    n_resamples = 40_000
    binding = ResamplingPlan(DESIGNS["crossed"], n_resamples, np.random.SeedSequence(6)).bind(
        [CodedRows(None, N, "sums")]
    )
    terms = np.column_stack((np.ones(N), values.ravel()))
    sums = np.vstack([binding.block(k)[0].sums(terms) for k in range(binding.n_blocks)])
    means = sums[:n_resamples, 1] / sums[:n_resamples, 0]
    np.testing.assert_allclose(means.var(), pigeonhole_variance(values), rtol=0.032)


@pytest.mark.parametrize("name", ["rows", "rows in strata", "groups", "groups in strata"])
def test_each_unit_is_left_out_once_with_all_its_rows(name):
    design = DESIGNS[name]
    binding = ResamplingPlan(design, 2, np.random.SeedSequence(0)).bind(
        [CodedRows(None, N, "sums")]
    )
    parts = list(binding.jackknife_resamples())
    drawn = np.vstack([part.blocks[0].sums() for part in parts])
    units = np.arange(N) if design.members is None else design.members[:, 0]
    assert drawn.shape == (design.n_units[0], N)
    for line, unit in enumerate(drawn):
        np.testing.assert_array_equal(unit, (units != line).astype(float))
    assert sum(part.times.sum() for part in parts) == design.n_units[0]


def test_interchangeable_rows_are_left_out_once_with_their_multiplicity():
    code = np.repeat([0, 1, 2], [10, 20, 30])
    binding = ResamplingPlan(DESIGNS["rows"], 2, np.random.SeedSequence(0)).bind(
        [CodedRows(code, 3, "sums")]
    )
    (part,) = binding.jackknife_resamples()
    np.testing.assert_array_equal(part.times, [10, 20, 30])
    np.testing.assert_array_equal(part.blocks[0].sums(), [[9, 20, 30], [10, 19, 30], [10, 20, 29]])


@pytest.mark.parametrize(("n_resamples", "n_sets"), [(2, 200), (549, 549), (1999, 1000)])
def test_many_units_without_a_closed_form_are_left_out_in_groups_that_cover_them_once(
    n_resamples, n_sets
):
    """As many groups as resamples, but 200 at least and 1000 at most."""
    n = 5000
    binding = ResamplingPlan(RowDesign.of(n), n_resamples, np.random.SeedSequence(0)).bind(
        [CodedRows(None, n, "running")]
    )
    missing = np.zeros(n)
    lines = 0
    for part in binding.jackknife_resamples():
        missing += (1 - part.blocks[0].sums()).sum(axis=0)
        lines += len(part.times)
    np.testing.assert_array_equal(missing, np.ones(n))
    assert lines == n_sets


def test_statistics_of_one_call_see_the_same_resamples():
    code = RNG.integers(0, 4, N)
    few = CodedRows(code, 4, "sums")
    for design in DESIGNS.values():
        binding = ResamplingPlan(design, 20, np.random.SeedSequence(8)).bind([few, EVERY_ROW])
        coded, rows = binding.block(0)
        by_row = rows.sums()
        by_code = np.column_stack([by_row[:, code == c].sum(axis=1) for c in range(4)])
        np.testing.assert_array_equal(coded.sums(), by_code)


def test_rows_a_statistic_does_not_see_do_not_count():
    rows = np.sort(RNG.permutation(N)[:20])
    code = np.arange(20) % 2
    for design in DESIGNS.values():
        binding = ResamplingPlan(design, 20, np.random.SeedSequence(8)).bind(
            [CodedRows(code, 2, "sums", rows=rows), EVERY_ROW]
        )
        coded, every = binding.block(0)
        by_row = every.sums()
        by_code = np.column_stack([by_row[:, rows[code == c]].sum(axis=1) for c in range(2)])
        np.testing.assert_array_equal(coded.sums(), by_code)


def subgroups_beside_all(n, rng):
    """Codings of all rows and of subgroups, some of which overlap; a code or -1 for each row."""
    part, flags = rng.integers(0, 4, n), rng.random(n) < 0.3
    codings, columns = [CodedRows(flags, 2, "sums")], [flags.astype(int)]
    for rows in (*(np.flatnonzero(part == k) for k in range(4)), np.flatnonzero(part > 1)):
        code = rng.integers(0, 3, len(rows))
        codings.append(CodedRows(code, 3, "sums", rows=rows))
        columns.append(np.full(n, -1))
        columns[-1][rows] = code
    return [*codings, CodedRows(part, 4, "sums")], [*columns, part]


@pytest.mark.parametrize("n_strata", [0, 3, 40])
def test_interchangeable_rows_are_atoms_in_rising_order_of_stratum_and_codes(n_strata):
    rng, n = np.random.default_rng(1), 20_000
    codings, columns = subgroups_beside_all(n, rng)
    strata = rng.integers(0, n_strata, n) if n_strata else None
    units_of_codes, (multiplicity,), stratum = bind_rows(codings, n, strata)

    rows = np.column_stack(columns if strata is None else [strata, *columns])
    atoms, counts = np.unique(rows, axis=0, return_counts=True)
    np.testing.assert_array_equal(multiplicity, counts)
    if strata is not None:
        np.testing.assert_array_equal(stratum, atoms[:, 0])
    for units, expected in zip(units_of_codes, atoms.T[-len(codings) :], strict=True):
        code = np.full(len(counts), -1)
        code[slice(None) if units.atoms is None else units.atoms] = units.code_of_atom
        np.testing.assert_array_equal(code, expected)


@pytest.mark.parametrize("n_seen", [3, 4])
def test_codes_of_parts_without_a_row_in_common_are_atoms_in_the_same_order(n_seen):
    """With rows that no part has, and without."""
    rng, n = np.random.default_rng(1), 20_000
    part, code = rng.integers(0, 4, n), rng.integers(0, 3, n)
    rows_of_parts = [np.flatnonzero(part == k) for k in range(n_seen)]
    codings = [CodedRows(code[rows], 3, "sums", rows=rows) for rows in rows_of_parts]
    units_of_codes, (multiplicity,), _ = bind_rows(codings, n, None)
    columns = [np.where(part == k, code, -1) for k in range(n_seen)]
    atoms, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    np.testing.assert_array_equal(multiplicity, counts)
    for units, expected in zip(units_of_codes, atoms.T, strict=True):
        atom_code = np.full(len(counts), -1)
        atom_code[units.atoms] = units.code_of_atom
        np.testing.assert_array_equal(atom_code, expected)


@pytest.mark.parametrize("n", [400, 20_000])
@pytest.mark.parametrize("n_strata", [0, 5, 100])
def test_statistics_of_subgroups_see_the_resamples_of_all_rows(n, n_strata):
    """As single rows, or as sets of interchangeable ones."""
    rng = np.random.default_rng(2)
    codings, columns = subgroups_beside_all(n, rng)
    # Every combination of codes, for one statistic of all rows.
    distinct, code = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    every = CodedRows(code.reshape(-1), len(distinct), "sums")
    strata = np.unique(rng.integers(0, n_strata, n), return_inverse=True)[1] if n_strata else None
    plan = ResamplingPlan(RowDesign.of(n, strata), 10, np.random.SeedSequence(8))
    for blocks in (plan.bind([*codings, every]).block(0), plan.bind([*codings, every]).observed()):
        drawn = blocks[-1].sums()
        for block, own in zip(blocks[:-1], distinct.T, strict=True):
            expected = [drawn[:, own == k].sum(axis=1) for k in range(block.n_codes)]
            np.testing.assert_array_equal(block.sums(), np.column_stack(expected))
            terms = rng.normal(size=(block.n_codes, 2))
            np.testing.assert_allclose(block.sums(terms), np.column_stack(expected) @ terms)


def test_given_resamples_are_used_as_they_are():
    picks = RNG.integers(0, N, size=(7, N))
    plan = ResamplingPlan(DESIGNS["rows"], 7, np.random.SeedSequence(0), picks)
    drawn = plan.bind([EVERY_ROW]).block(0)[0].sums()
    np.testing.assert_array_equal(drawn, [np.bincount(line, minlength=N) for line in picks])


def test_a_block_never_holds_more_counts_than_its_budget():
    """Memory: no array of n_resamples x n_samples, whatever n is."""
    for n in (10, 10_000, 1_000_000):
        binding = ResamplingPlan(RowDesign.of(n), 10_000, np.random.SeedSequence(0)).bind(
            [CodedRows(None, n, "running")]
        )
        assert binding.block_size * n <= 1 << 22


# ------------------------------------------------------------------ two atoms, and few

TWO = CodedRows(np.arange(1000) % 3 == 0, 2, "sums")


def test_resamples_of_two_atoms_do_not_depend_on_how_many_follow():
    """These blocks are cut where they are drawn, and so are the sums of terms."""
    terms = np.array([[0.1, 1.0], [1 / 3, 0.7]])
    drawn, sums = [], []
    for n_resamples in (100, 1999, 40_000):
        plan = ResamplingPlan(RowDesign.of(1000), n_resamples, np.random.SeedSequence(1))
        binding = plan.bind([TWO])
        blocks = [binding.block(k)[0] for k in range(binding.n_blocks)]
        drawn.append(np.vstack([block.sums() for block in blocks]))
        sums.append(np.vstack([block.sums(terms) for block in blocks]))
        assert len(drawn[-1]) == n_resamples
    assert binding.n_blocks > 1
    for each in (drawn, sums):
        np.testing.assert_array_equal(each[2][:1999], each[1])
        np.testing.assert_array_equal(each[2][:100], each[0])


def test_resamples_of_two_atoms_are_binomial():
    """Mean and variance of 40,000 draws; false alarm below 1e-4 each."""
    plan = ResamplingPlan(RowDesign.of(1000), 40_000, np.random.SeedSequence(2))
    binding = plan.bind([TWO])
    hits = np.concatenate([binding.block(k)[0].sums()[:, 1] for k in range(binding.n_blocks)])
    p, n = 334 / 1000, 1000
    assert abs(hits.mean() - n * p) < 4 * np.sqrt(n * p * (1 - p) / 40_000)
    assert hits.var() == pytest.approx(n * p * (1 - p), rel=4 * np.sqrt(2 / 40_000))


@pytest.mark.parametrize("counts", [[700, 300], [500, 300, 150, 50], [3, 2, 1]])
def test_the_data_and_the_jackknife_come_along_after_the_resamples(counts):
    code = np.repeat(np.arange(len(counts)), counts)
    plan = ResamplingPlan(RowDesign.of(len(code)), 50, np.random.SeedSequence(3))
    for known in (None, np.array(counts)):
        binding = plan.bind([CodedRows(code, len(counts), "sums", known)])
        rows = binding.rows_with_data
        alone = binding.block(0)[0].sums()
        more = binding.block(0, with_data=True)[0].sums()
        assert rows.resamples == slice(0, 50)
        np.testing.assert_array_equal(more[: len(alone)], alone)
        np.testing.assert_array_equal(more[rows.data], counts)
        np.testing.assert_array_equal(more[rows.without_unit], counts - np.eye(len(counts)))
        assert len(more) == rows.without_unit.stop


def test_small_parts_are_read_on_the_resamples_of_several_streams():
    """With the counts that all rows have, stream by stream, where the rows of each part are."""
    n, n_resamples = 20_000, 300
    part = np.random.default_rng(3).permutation(n) % 100
    rows_of_parts = [np.flatnonzero(part == k) for k in range(100)]
    codings = [CodedRows(None, len(rows), "sums", rows=rows) for rows in rows_of_parts]
    plan = ResamplingPlan(RowDesign.of(n), n_resamples, np.random.SeedSequence(8))
    all_rows = plan.bind([CodedRows(None, n, "sums")])
    binding = plan.bind(codings)
    assert binding.block_size == 4 * all_rows.block_size
    drawn = np.vstack([all_rows.block(k)[0].sums() for k in range(all_rows.n_blocks)])
    for number in range(binding.n_blocks):
        blocks = binding.block(number)
        start = number * binding.block_size
        expected = drawn[start : start + binding.block_size]
        for block, rows in zip(blocks, rows_of_parts, strict=True):
            assert block.n_resamples == binding.block_size
            np.testing.assert_array_equal(block.sums()[: len(expected)], expected[:, rows])
    for block in binding.observed():
        np.testing.assert_array_equal(block.sums(), np.ones((1, 200)))


def test_rows_of_a_part_are_drawn_in_the_order_of_its_codes():
    rng = np.random.default_rng(4)
    part = rng.integers(0, 2, 300)
    rows_of_parts = [np.flatnonzero(part == k) for k in range(2)]
    codes = [rng.permutation(len(rows)) for rows in rows_of_parts]
    codings = [
        CodedRows(code, len(rows), "pairs", rows=rows)
        for code, rows in zip(codes, rows_of_parts, strict=True)
    ]
    plan = ResamplingPlan(RowDesign.of(300), 40, np.random.SeedSequence(8))
    binding = plan.bind(codings)
    drawn = plan.bind([CodedRows(None, 300, "sums")]).block(0)[0].sums()
    blocks = binding.block(0)
    for block, rows, code in zip(blocks, rows_of_parts, codes, strict=True):
        assert block.units_of_codes.units is None
        in_order = rows[np.argsort(code)]
        np.testing.assert_array_equal(block.sums()[: len(drawn)], drawn[:, in_order])


def test_parts_that_share_rows_or_leave_some_out_stay_as_they_are():
    rows_of_parts = [np.arange(0, 60, 2), np.arange(0, 60, 3)]
    codings = [CodedRows(None, len(rows), "sums", rows=rows) for rows in rows_of_parts]
    plan = ResamplingPlan(DESIGNS["rows"], 40, np.random.SeedSequence(8))
    for some in (codings, codings[:1]):
        binding = plan.bind(some)
        assert binding.atom_order is None
        drawn = weights(DESIGNS["rows"], 40, 8)
        for block, rows in zip(binding.block(0), rows_of_parts, strict=False):
            np.testing.assert_array_equal(block.sums()[:40], drawn[:, rows])
