"""Every reading of a block, and every shorter way to it, against plain sums over repeated rows."""

from functools import partial

import numpy as np
import pytest
from designs import EXAMPLES, GROUPS, PAIRS, TRIALS, N
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skboot.resampling import block as block_module
from skboot.resampling import crossed as crossed_module
from skboot.resampling import draws as draws_module
from skboot.resampling import prefix_sums as running_module
from skboot.resampling.block import Block, UnitBlock
from skboot.resampling.coding import CodedRows, UnitsOfCodes
from skboot.resampling.crossed import CrossedBlock
from skboot.resampling.design import CrossedDesign
from skboot.resampling.jackknife import JackknifeBlock, ObservedBlock
from skboot.resampling.plan import ResamplingPlan
from skboot.resampling.prefix_sums import (
    pairs_by_level,
    pairs_in_order,
    running_sums,
    starts_of_levels,
)

# A reading is of a block, and the examples of designs give these kinds of block: units, units with
# strata and groups, crossed factors, one population, and blocks of a series. That each design binds
# its own kind is claimed in test_design.py.
KINDS = ("rows", "groups in strata", "crossed", "one population", "panel")
N_LINES = 8
RNG = np.random.default_rng(0)
UNSEEN = RNG.integers(-1, 6, N)
# As many entries as groups, one of which has two and one none.
FEW_ROWS = np.full(N, -1)
FEW_ROWS[[np.flatnonzero(g == GROUPS)[0] for g in range(1, 12)]] = 0
FEW_ROWS[np.flatnonzero(GROUPS == 11)[1]] = 1
CODES = {
    "every row": None,
    "every row, shuffled": RNG.permutation(N),
    "few": RNG.integers(0, 6, N),
    "some rows unseen": UNSEEN,
    "true or false": RNG.random(N) < 0.3,
    "one": np.zeros(N, dtype=np.intp),
    "as the groups": GROUPS,
    "groups of two": GROUPS // 2,
    "few rows of some groups": FEW_ROWS,
}


def coding(name, reads="running"):
    code = CODES[name]
    if code is None:
        return CodedRows(None, N, reads)
    seen = np.flatnonzero(code >= 0)
    rows = seen if len(seen) < N else None
    return CodedRows(code[seen], int(code.max()) + 1, reads, rows=rows)


def code_of_rows(name):
    return np.arange(N) if CODES[name] is None else CODES[name].astype(int)


class Case:
    """A block, and the weights of its codes counted on repeated rows."""

    def __init__(self, design, name):
        plan = ResamplingPlan(EXAMPLES[design], N_LINES, np.random.SeedSequence(1))
        self.binding = plan.bind([coding(name), CodedRows(None, N, "rows")])
        self.block, by_row = self.binding.block(0)
        self.block = self.block._part(slice(0, N_LINES))
        self.rows = list(by_row._part(slice(0, N_LINES)).rows())
        self.code = code_of_rows(name)
        self.n_codes = self.code.max() + 1
        seen = [self.code[rows][self.code[rows] >= 0] for rows in self.rows]
        self.weights = np.array([np.bincount(c, minlength=self.n_codes) for c in seen], float)
        self.rng = np.random.default_rng(2)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Many tiles, so that what is carried from one to the next is tested."""
    monkeypatch.setattr(block_module, "TILE_ELEMENTS", 1 << 7)
    monkeypatch.setattr(draws_module, "TILE_ELEMENTS", 1 << 7)
    monkeypatch.setattr(block_module, "SEARCH_WEIGHTS", 1 << 8)
    monkeypatch.setattr(crossed_module, "WINDOW_ROWS", 0)


EVERY_CASE = {
    f"{codes} of {design}": partial(Case, design, codes) for design in KINDS for codes in CODES
}


def plain_pairs(weights, upper, lower, level):
    later = level[:, None] > level[None, :]
    half = level[:, None] == level[None, :]
    counted = np.where(later, 1.0, np.where(half, 0.5, 0.0))
    return np.einsum("li,lj,ij->l", weights * upper, weights * lower, counted)


def sides(rng, n, kind):
    upper = (rng.random(n) < 0.5).astype(float)
    if kind == "flags":
        return upper, 1.0 - upper
    if kind == "some on neither side":
        return upper * (rng.random(n) < 0.7), (1.0 - upper) * (rng.random(n) < 0.7)
    return upper * rng.random(n), (1.0 - upper) * rng.random(n)


def levels(rng, upper, share_tied):
    """Levels in rising order, and the upper side moved behind the lower one in each."""
    n = len(upper)
    level = np.cumsum(rng.random(n) >= share_tied)
    return level - level[0], np.lexsort((upper > 0, level))


def counts_of_units(case, name):
    """How often each row or group was drawn; single rows are atoms stratum by stratum."""
    strata, counts = EXAMPLES[name].strata, case.block.all_atoms.counts
    if strata is None or EXAMPLES[name].members is not None:
        return counts
    return counts[:, np.argsort(np.argsort(strata, kind="stable"))]


# --- what a row weighs


def test_a_row_weighs_as_often_as_its_unit_was_drawn():
    for name in ("rows", "strata", "groups", "groups in strata"):
        case = Case(name, "every row")
        unit = np.arange(N) if EXAMPLES[name].members is None else GROUPS
        assert_array_equal(case.weights, counts_of_units(case, name)[:, unit])


def test_a_pair_weighs_the_product_and_a_member_with_itself_once():
    for name, members in (("crossed", PAIRS), ("one population", TRIALS)):
        case = Case(name, "every row")
        first, second = (side[:, of] for side, of in zip(case.block.counts, members.T, strict=True))
        alone = (members[:, 0] == members[:, 1]) & (name == "one population")
        assert_array_equal(case.weights, first * np.where(alone, 1, second))
    assert alone.any()


def test_products_of_counts_that_do_not_fit_a_byte_are_exact():
    counts = np.array([[20, 300, 1]]), np.array([[40, 0, 300]])
    units = np.array([[0, 0], [0, 2], [1, 2], [2, 1]])
    crossed = CrossedBlock(UnitsOfCodes(4, (3, 3), units=units), counts)
    assert_array_equal(crossed.sums(), [[800, 6000, 90000, 0]])


# --- readings


@in_turn(case=EVERY_CASE)
def test_sums_without_terms_are_the_weights_of_the_codes(case):
    assert_array_equal(case.block.sums(), case.weights)


@in_turn(case=EVERY_CASE, convert=[np.asarray, sparse.csr_matrix])
def test_sums_equal_weights_times_terms(case, convert):
    terms = case.rng.normal(size=(case.n_codes, 3))
    assert_allclose(case.block.sums(convert(terms)), case.weights @ terms, atol=1e-12)
    assert_allclose(Block.sums(case.block, convert(terms)), case.weights @ terms, atol=1e-12)


@in_turn(case=EVERY_CASE)
def test_pieces_hold_the_weights_in_order(case):
    order = case.rng.permutation(case.n_codes)
    for given in (None, order, order[: case.n_codes // 2 + 1]):
        read = np.full((N_LINES, case.n_codes if given is None else len(given)), np.nan)
        for at, weights in case.block._pieces(given):
            read[:, at] = weights
        assert_array_equal(read, case.weights if given is None else case.weights[:, given])


@in_turn(case=EVERY_CASE, kind=["flags", "weights"])
def test_running_sums_stop_at_the_ends(case, kind):
    n = case.n_codes
    terms = np.column_stack(sides(case.rng, n, kind))
    order = case.rng.permutation(n)
    some = np.unique(np.append(case.rng.integers(0, n, n // 3), n - 1))
    for ends in (None, np.arange(n), some):
        stops = np.arange(n) if ends is None else ends
        expected = np.cumsum(case.weights[:, order, None] * terms, axis=1)[:, stops]
        read = np.full((2, N_LINES, len(stops)), np.nan)
        for which, sums in case.block.running(terms, ends, order):
            read[:, :, which] = sums
            sums[:] = -1  # the reader's to change
        assert_allclose(read, expected.transpose(2, 0, 1), rtol=0, atol=1e-12)


@in_turn(case=EVERY_CASE, kind=["flags", "weights"], tile=[1 << 7, 1 << 17])
def test_running_sums_of_a_term_that_is_zero_between_the_ends(case, kind, tile, monkeypatch):
    monkeypatch.setattr(block_module, "TILE_ELEMENTS", tile)
    terms = np.column_stack(sides(case.rng, case.n_codes, kind))
    # Long stretches without an end: some pieces have none.
    terms[case.n_codes // 4 : -case.n_codes // 4, 0] = 0.0
    terms[:, 1] += terms[:, 0]
    ends = np.flatnonzero(terms[:, 0])
    expected = np.cumsum(case.weights[:, :, None] * terms, axis=1)[:, ends]
    read = np.full((2, N_LINES, len(ends)), np.nan)
    for which, sums in case.block.running(terms, ends):
        read[:, :, which] = sums
        sums[:] = -1
    assert_allclose(read, expected.transpose(2, 0, 1), rtol=0, atol=1e-12)


@in_turn(exact=[1, 1 << 31])
def test_running_sums_of_bytes_are_the_same_in_tiles_and_as_integers(exact, monkeypatch):
    monkeypatch.setattr(running_module, "EXACT_INTEGER", exact)
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 256, (3, 1000)).astype(np.uint8)
    flags = rng.integers(0, 2, 1000).astype(np.uint8)
    below = np.array([0.0, 7.0, 1e6])
    expected = below[:, None] + np.cumsum(counts.astype(float) * flags, axis=1)
    assert_array_equal(running_sums(counts, flags, True, below), expected)


@in_turn(
    case=EVERY_CASE,
    kind=["flags", "some on neither side", "weights"],
    share_tied=[None, 0.02, 0.5, 1.0],
)
def test_pairs_count_those_in_order_and_half_of_the_ties(case, kind, share_tied):
    upper, lower = sides(case.rng, case.n_codes, kind)
    order = case.rng.permutation(case.n_codes)
    level = None
    if share_tied is not None:
        level, by = levels(case.rng, upper, share_tied)
        upper, lower = upper[by], lower[by]
    for given in (None, order):
        weights = case.weights if given is None else case.weights[:, given]
        of = np.arange(case.n_codes) if level is None else level
        in_order, all_pairs = case.block.pairs(upper, lower, level, given)
        assert_allclose(in_order, plain_pairs(weights, upper, lower, of), atol=1e-11)
        assert_allclose(all_pairs, (weights @ upper) * (weights @ lower), atol=1e-11)


@in_turn(largest=[1, 9, 10, 255], n_codes=[1, 4, 1003])
def test_pairs_of_bytes_are_whole_however_many_are_read_as_one_number(largest, n_codes):
    """Counts up to 9 are read four at a time, larger ones tile by tile."""
    rng = np.random.default_rng(5)
    counts = rng.integers(0, largest + 1, (3, n_codes + 1)).astype(np.uint8)
    counts[0] = largest
    side = rng.integers(0, 3, n_codes)
    sides = [(flag.astype(float), flag.astype(np.uint8)) for flag in (side == 0, side == 1)]
    below = np.array([0.0, 7.0, 1e6])
    # A part of the counts, whose rows do not begin where numbers of four bytes do.
    pairs, upper, lower = pairs_in_order(counts[:, 1:], *sides, below)
    whole = counts[:, 1:].astype(np.int64)
    lower_before = np.cumsum(whole * (side == 1), axis=1)
    expected = (whole * (side == 0) * (lower_before + below.astype(np.int64)[:, None])).sum(axis=1)
    assert_array_equal(pairs, expected)
    assert_array_equal(upper, (whole * (side == 0)).sum(axis=1))
    assert_array_equal(lower, (whole * (side == 1)).sum(axis=1))


@in_turn(largest=[1, 3, 9, 40, 255], n_codes=[1, 5, 300], given=[False, True])
def test_pairs_by_unit_are_whole_however_large_counts_and_groups_are(largest, n_codes, given):
    """Sums of neighbouring codes are added two by two, in numbers as wide as these can be."""
    rng = np.random.default_rng(6)
    units = UnitsOfCodes(n_codes, (60,), units=rng.integers(0, 60, n_codes)[:, None])
    counts = rng.integers(0, largest + 1, (40, 60)).astype(np.uint8)
    counts[0] = largest
    block, weights = UnitBlock(units, counts), counts[:, units.units[:, 0]].astype(float)
    order = rng.permutation(n_codes)[: n_codes // 2 + 1] if given else None
    n = n_codes if order is None else len(order)
    side = rng.integers(0, 3, n)
    weights = weights if order is None else weights[:, order]
    for level in (None, np.sort(rng.integers(0, 10 * n, n))):
        # Levels that hold both sides have the lower ones first.
        of = np.arange(n) if level is None else level
        upper, lower = np.zeros((2, n), bool)
        by = np.lexsort((side == 0, of))
        upper[:], lower[:] = side[by] == 0, side[by] == 1
        in_order, all_pairs = block.pairs(upper, lower, level, order)
        assert_array_equal(in_order, plain_pairs(weights, upper, lower, of))
        assert_array_equal(all_pairs, (weights @ upper) * (weights @ lower))


@in_turn(case=EVERY_CASE)
def test_pairs_of_some_codes_leave_the_others_out(case):
    some = case.rng.permutation(case.n_codes)[: case.n_codes // 2 + 1]
    upper, lower = sides(case.rng, len(some), "flags")
    expected = plain_pairs(case.weights[:, some], upper, lower, np.arange(len(some)))
    assert_allclose(case.block.pairs(upper, lower, None, some)[0], expected, atol=1e-11)


def gaps(share):
    return (
        lambda running, total: running[:, 0] - share * total[:, 0],
        lambda running, total: running.sum(axis=1) - (1 - share) * total.sum(axis=1),
    )


def plain_crossing(weights, terms, gap, ends):
    running = np.cumsum(weights[:, None] * terms, axis=0)
    total = running[-1]
    at_ends = running[ends]
    reached = np.flatnonzero(gap(at_ends, np.broadcast_to(total, at_ends.shape)) >= 0)
    end = reached[0] if len(reached) else len(ends) - 1
    return end, at_ends[end - 1] if end else 0 * total, at_ends[end], total


@in_turn(case=EVERY_CASE, share=[0.0, 0.31, 0.5, 1.0, 1.5])
def test_a_crossing_is_the_first_end_where_the_gap_is_not_negative(case, share):
    n = case.n_codes
    terms = np.column_stack(sides(case.rng, n, "flags"))
    some = np.unique(np.append(case.rng.integers(0, n, n // 3), n - 1))
    for ends in (None, some):
        stops = np.arange(n) if ends is None else ends
        for gap, found in zip(
            gaps(share), case.block.crossing(terms, *gaps(share), ends=ends), strict=True
        ):
            for line, weights in enumerate(case.weights):
                expected = plain_crossing(weights, terms, gap, stops)
                for value, plain in zip(found[:4], expected, strict=True):
                    assert_array_equal(value[line], plain)


def test_a_window_finds_the_same_crossing_as_all_rows(monkeypatch):
    rng = np.random.default_rng(3)
    pairs = np.column_stack([side.ravel() for side in np.indices((40, 30))])
    plan = ResamplingPlan(CrossedDesign.of(pairs), 16, np.random.SeedSequence(0))
    terms = rng.integers(0, 2, (600, 1)) * [1.0, 0.0] + [0.0, 1.0]
    code = rng.permutation(np.arange(1200) // 2)
    (block,) = plan.bind([CodedRows(code, 600, "crossing")]).block(0)
    ends = np.append(np.flatnonzero(rng.random(599) < 0.5), 599)
    in_window = block.crossing(terms, *gaps(0.4), ends=ends)
    monkeypatch.setattr(crossed_module, "WINDOW_ROWS", 10_000)
    for one, other in zip(in_window, block.crossing(terms, *gaps(0.4), ends=ends), strict=True):
        for value, expected in zip(one[:4], other[:4], strict=True):
            assert_array_equal(value, expected)


def steps(before, sums):
    """A function of the sums on both sides of an end: what is added, times what is there."""
    both = np.concatenate((before[:, :, None], sums), axis=2)
    return (np.diff(both[0]) * sums[1]).sum(axis=1)


@in_turn(case=EVERY_CASE, ordered=[False, True])
def test_what_is_added_along_the_codes_is_the_sum_over_ends(case, ordered):
    n = case.n_codes
    order = case.rng.permutation(n)[: n // 2 + 1] if ordered else None
    weights = case.weights if order is None else case.weights[:, order]
    n = weights.shape[1]
    terms = case.rng.random((n, 2))
    ends = np.unique(np.append(case.rng.integers(0, n, n // 3), n // 2))
    found, last = case.block.sum_over_thresholds(terms, steps, ends, order)
    running = np.cumsum(weights[:, :, None] * terms, axis=1)[:, ends]
    before = np.concatenate((np.zeros((len(weights), 1, 2)), running[:, :-1]), axis=1)
    expected = ((running - before)[:, :, 0] * running[:, :, 1]).sum(axis=1)
    assert_allclose(found, expected, atol=1e-10)
    assert_allclose(last.T, running[:, -1], atol=1e-11)


@in_turn(case=EVERY_CASE)
def test_repeated_rows_are_those_of_a_code_for_each_row(case):
    own = Case("rows", "every row, shuffled") if case.n_codes < N else case
    code = own.code
    for rows, codes in zip(own.rows, own.block.rows(), strict=True):
        assert_array_equal(np.sort(code[rows]), codes)


# --- variance


def plain_variance(counts, rows_of_unit, strata, terms, code, gradient):
    """Sum over units of weight times squared influence, centred within strata."""
    of_rows = np.where(code[:, None] >= 0, terms[code], 0.0)
    of_units = np.array([of_rows[rows].sum(axis=0) for rows in rows_of_unit])
    influence = gradient @ of_units.T
    variance = (counts * influence**2).sum(axis=1)
    if strata is not None:
        for h in np.unique(strata):
            drawn = counts[:, strata == h]
            variance -= (drawn * influence[:, strata == h]).sum(axis=1) ** 2 / drawn.sum(axis=1)
    return variance


@in_turn(name=["rows", "strata", "groups", "groups in strata"], codes=list(CODES))
def test_the_variance_is_that_of_influences_of_units(name, codes):
    case, design = Case(name, codes), EXAMPLES[name]
    unit = np.arange(N) if design.members is None else GROUPS
    rows_of_unit = [np.flatnonzero(unit == u) for u in range(unit.max() + 1)]
    terms = case.rng.normal(size=(case.n_codes, 2))
    gradient = case.rng.normal(size=(N_LINES, 2))
    arguments = rows_of_unit, design.strata, terms, case.code, gradient
    if len(case.block.all_atoms.counts[0]) == len(
        rows_of_unit
    ):  # else atoms stand for several units
        expected = plain_variance(counts_of_units(case, name), *arguments)
        assert_allclose(case.block.variance(terms, gradient), expected, atol=1e-10)
        assert_allclose(
            case.block.variance(sparse.csr_matrix(terms), gradient), expected, atol=1e-10
        )


def test_a_crossed_design_has_no_variance_of_units():
    case = Case("crossed", "few")
    with pytest.raises(TypeError, match="crossed design"):
        case.block.variance(np.ones((6, 1)), np.ones((N_LINES, 1)))


# --- codes as atoms: what a plan for one statistic draws


def test_counts_of_merged_codes_read_as_counts_of_rows():
    multiplicity = np.array([5, 1, 30, 300, 7, 2, 2, 9])
    rng = np.random.default_rng(4)
    counts = rng.multinomial(multiplicity.sum(), multiplicity / multiplicity.sum(), size=6)
    merged = UnitBlock(UnitsOfCodes(8, (8,)), counts)
    upper, lower = np.array([0, 1, 0, 1, 0, 1, 0, 1.0]), np.array([1, 0, 1, 0, 1, 0, 1, 0.0])
    in_order, all_pairs = merged.pairs(upper, lower)
    assert_array_equal(in_order, plain_pairs(counts, upper, lower, np.arange(8)))
    assert_array_equal(all_pairs, (counts @ upper) * (counts @ lower))
    terms = rng.normal(size=(8, 2))
    assert_allclose(merged.sums(terms), counts @ terms, rtol=1e-12)


@in_turn(tile=[1 << 7, 1 << 17])
def test_running_sums_beyond_single_precision_stay_exact(tile, monkeypatch):
    monkeypatch.setattr(block_module, "TILE_ELEMENTS", tile)
    counts = np.full((1, 70_000), 255, dtype=np.uint8)
    whole = UnitBlock(UnitsOfCodes(70_000, (70_000,)), counts)
    for at, sums in whole.running(np.ones((70_000, 1))):
        assert_array_equal(sums[0, 0], 255.0 * np.arange(at.start + 1, at.stop + 1))
    upper = np.tile([0.0, 1.0], 35_000)
    in_order, _ = whole.pairs(upper, 1.0 - upper)
    assert in_order == 255**2 * 35_000 * 35_001 / 2


# --- one unit left out


ONE_FACTOR = [name for name in KINDS if not EXAMPLES[name].no_jackknife]


def unit_left_out(design, codes):
    case = Case(design, codes)
    multiplicity, strata = case.binding.multiplicity[0], case.binding.strata
    atoms = range(len(multiplicity))
    counts = multiplicity - np.eye(len(multiplicity), dtype=int)
    units = case.block.units_of_codes.among_all(len(atoms))
    case.closed = JackknifeBlock(units, multiplicity, atoms, strata)
    case.plain = UnitBlock(units, counts, strata)
    return case


EVERY_UNIT_LEFT_OUT = {
    f"{codes} of {design}": partial(unit_left_out, design, codes)
    for design in ONE_FACTOR
    for codes in CODES
}


@in_turn(left_out=EVERY_UNIT_LEFT_OUT)
def test_sums_less_one_unit(left_out):
    terms = left_out.rng.normal(size=(left_out.n_codes, 2))
    expected = left_out.plain.sums(terms)
    assert_allclose(left_out.closed.sums(terms), expected, atol=1e-12)
    assert_allclose(left_out.closed.sums(sparse.csr_matrix(terms)), expected, atol=1e-12)
    assert_array_equal(left_out.closed.sums(), left_out.plain.sums())


@in_turn(left_out=EVERY_UNIT_LEFT_OUT, share_tied=[None, 0.3])
def test_pairs_less_one_unit(left_out, share_tied):
    n = left_out.n_codes
    upper, lower = sides(left_out.rng, n, "weights")
    level = None
    if share_tied is not None:
        level, by = levels(left_out.rng, upper, share_tied)
        upper, lower = upper[by], lower[by]
    order = left_out.rng.permutation(n)
    for given in (None, order):
        closed, plain = (
            b.pairs(upper, lower, level, given) for b in (left_out.closed, left_out.plain)
        )
        assert_allclose(closed, plain, atol=1e-10)
    some = order[: n // 2 + 1]
    upper, lower = sides(left_out.rng, len(some), "flags")
    closed, plain = (b.pairs(upper, lower, None, some) for b in (left_out.closed, left_out.plain))
    assert_allclose(closed, plain, atol=1e-10)


@in_turn(left_out=EVERY_UNIT_LEFT_OUT)
def test_a_crossing_less_one_unit(left_out):
    n = left_out.n_codes
    terms = np.column_stack(sides(left_out.rng, n, "flags"))
    some = np.unique(np.append(left_out.rng.integers(0, n, n // 3), n - 1))
    for ends in (None, some):
        closed, plain = (
            b.crossing(terms, *gaps(0.4), ends=ends) for b in (left_out.closed, left_out.plain)
        )
        for one, other in zip(closed, plain, strict=True):
            for value, expected in zip(one[:4], other[:4], strict=True):
                assert_array_equal(one.of_resamples(value), expected)


@in_turn(left_out=EVERY_UNIT_LEFT_OUT, kind=["flags", "weights"], ordered=[False, True])
def test_what_is_added_along_the_codes_less_one_unit(left_out, kind, ordered):
    n = left_out.n_codes
    order = left_out.rng.permutation(n)[: n // 2 + 1] if ordered else None
    n = n if order is None else len(order)
    terms = np.column_stack(sides(left_out.rng, n, kind))
    for ends in (None, np.unique(np.append(left_out.rng.integers(0, n, n // 3), n // 2))):
        closed, plain = (
            b.sum_over_thresholds(terms, steps, ends, order)
            for b in (left_out.closed, left_out.plain)
        )
        for value, expected in zip(closed, plain, strict=True):
            assert_allclose(value, expected, atol=1e-10)


def test_a_variance_that_is_nothing_is_no_rounding():
    counts = np.random.default_rng(0).multinomial(50, np.full(50, 0.02), size=4)
    block = UnitBlock(UnitsOfCodes(50, (50,)), counts)
    # The mean of one value: every unit has the same influence, none.
    terms = np.column_stack((np.ones(50), np.full(50, 0.1)))
    gradient = np.column_stack((np.full(4, -0.1 / 50), np.full(4, 1 / 50)))
    assert_allclose(block.variance(terms, gradient), 0, atol=1e-36)


@in_turn(left_out=EVERY_UNIT_LEFT_OUT)
def test_the_variance_less_one_unit(left_out):
    terms = left_out.rng.normal(size=(left_out.n_codes, 2))
    gradient = left_out.rng.normal(size=(left_out.closed.n_resamples, 2))
    closed, plain = (b.variance(terms, gradient) for b in (left_out.closed, left_out.plain))
    assert_allclose(closed, plain, atol=1e-10)


@in_turn(left_out=EVERY_UNIT_LEFT_OUT)
def test_other_readings_less_one_unit(left_out):
    closed, plain = left_out.closed, left_out.plain
    for (_, weights), (_, expected) in zip(closed._pieces(), plain._pieces(), strict=True):
        assert_array_equal(weights, expected)
    for rows, expected in zip(closed.rows(), plain.rows(), strict=True):
        assert_array_equal(rows, expected)


# --- what is cached between blocks


def test_running_counts_are_those_of_the_order_that_is_asked_for():
    multiplicity, terms, order = np.array([1, 2, 3, 4]), np.ones((4, 1)), np.array([3, 1, 0, 2])
    block = ObservedBlock(UnitsOfCodes(4, (4,)), multiplicity[None])
    for given in (np.arange(4), order, order[::-1]):
        counts = block.types_along(terms, None, given).upto[1:, 0]
        assert_array_equal(counts, np.cumsum(multiplicity[given]))


def test_a_window_is_searched_around_the_ends_that_are_asked_for():
    binding = ResamplingPlan(EXAMPLES["crossed"], N_LINES, np.random.SeedSequence(1)).bind(
        [CodedRows(np.arange(N), N, "crossing")]
    )
    (block,) = binding.block(0)
    terms = np.ones((N, 1))

    def gap(running, total):
        return running[:, 0] - 0.5 * total[:, 0]

    for ends in (np.arange(N), np.arange(9, N, 10)):
        for window, plain in zip(
            block.crossing(terms, gap, ends=ends),
            Block.crossing(block, terms, gap, ends=ends),
            strict=True,
        ):
            for value, expected in zip(window[:4], plain[:4], strict=True):
                assert_array_equal(value, expected)


def of_terms(points, side):
    """Sums before or after shares of both terms, (n_resamples, n_shares, 2)."""
    return np.stack([getattr(points, side)(term) for term in (0, 1)], axis=2)


@in_turn(case=EVERY_CASE, weighted=[False, True], ends=[None, "some"], together=[False, True])
def test_shares_are_reached_where_running_sums_of_all_codes_reach_them(
    case, weighted, ends, together
):
    terms = (case.rng.random((case.n_codes, 2)) < 0.6).astype(float)
    if weighted:
        terms *= case.rng.random((case.n_codes, 1))
    shares = np.array([0.0, 0.1, 1 / 3, 0.5, 0.9, 1.0])
    at = np.arange(case.n_codes)
    if ends:
        at = np.unique(np.append(case.rng.integers(0, case.n_codes, 5), case.n_codes - 1))
    # Few shares are searched for in tiles, many in all running sums.
    parts = [shares] if together else np.split(shares, len(shares))
    found = [list(case.block.reached(terms, part, at if ends else None)) for part in parts]
    # Each part's shares, of some resamples after the others.
    before_each, after = (
        np.hstack([np.vstack([of_terms(points, side) for points in pieces]) for pieces in found])
        for side in ("before", "after")
    )
    running = np.cumsum(case.weights[:, :, None] * terms, axis=1)[:, at]
    before = np.concatenate((np.zeros_like(running[:, :1]), running[:, :-1]), axis=1)
    for k in range(N_LINES):
        targets = shares * running[k, -1, 0] * (1 - 1e-12)
        first = [np.argmax(running[k, :, 0] >= target) for target in targets]
        assert_allclose(after[k], running[k, first], rtol=1e-12, atol=1e-12)
        assert_allclose(before_each[k], before[k, first], rtol=1e-12, atol=1e-12)
    total = np.concatenate([points.total for points in found[-1]])
    assert_allclose(total, running[:, -1], rtol=1e-12)


@pytest.mark.parametrize("largest", [3, 255, 70_000])
@pytest.mark.parametrize("piece", [1, 7, 200])
def test_pairs_by_level_are_whole_wherever_a_level_is_cut(largest, piece):
    rng = np.random.default_rng(0)
    n_codes = 200
    level = np.sort(rng.integers(0, 60, n_codes))
    upper = rng.random(n_codes) < 0.5
    # Of each level the lower codes come first.
    upper = upper[np.lexsort((upper, level))]
    weights = rng.integers(0, largest + 1, (6, n_codes)).astype(np.min_scalar_type(largest))
    starts, below = starts_of_levels(level), np.zeros((2, 6), np.int64)
    in_order, n_upper = np.zeros((2, 6))
    for start in range(0, n_codes, piece):
        at = slice(start, start + piece)
        sides = (side[at].view(np.uint8) for side in (upper, ~upper))
        pairs, n_more, below = pairs_by_level(weights[:, at], *sides, starts[at] - start, below)
        in_order, n_upper = in_order + pairs, n_upper + n_more
    counts = weights.astype(np.float64)
    assert_array_equal(in_order, plain_pairs(counts, upper, ~upper, level))
    assert_array_equal(n_upper, counts @ upper)
    assert_array_equal(below[1], counts @ ~upper)
