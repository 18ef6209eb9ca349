"""Blocks of rows in time: weights, sums and variances of given block starts, one row at a time.

The expected resamples are lists of row numbers that are put together here as R's `tsboot` (with
``sim="fixed"``) and arch's `CircularBlockBootstrap` do: blocks of consecutive rows modulo the
length of the series, the last of which is cut.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skboot.resampling.coding import CodedRows, UnitsOfCodes
from skboot.resampling.plan import ResamplingPlan
from skboot.resampling.series import Circles, SeriesBlock, SeriesDesign, Starts, moving_sums

N = 53
PANEL = np.random.default_rng(5).permutation(np.repeat(np.arange(3), [23, 18, 12]))
CASES = {
    "one series": (None, 7),
    "blocks that fill the series": (np.zeros(N, np.intp), 1),
    "short blocks": (None, 3),
    "half the series": (None, 27),
    "the whole series": (None, N),
    "panel": (PANEL, 5),
    "panel in order": (np.sort(PANEL), 6),
    "panel of even blocks": (np.repeat([0, 1, 2], [24, 16, 13]), 8),
    "panel of single rows": (PANEL, 1),
}


class Case:
    """A design, some resamples of it, and their rows one by one."""

    def __init__(self, name, n_resamples=20):
        series, self.length = CASES[name]
        self.design = SeriesDesign.of(N, self.length, series)
        self.series = np.zeros(N, np.intp) if series is None else series
        (self.starts,) = self.design.draw(np.random.default_rng(1), n_resamples, (), None)
        self.rows = [self._rows_of(starts) for starts in self.starts]
        self.blocks_of_rows = [[rows for _, rows in self._blocks(s)] for s in self.starts]
        self.weights = np.array([np.bincount(rows, minlength=N) for rows in self.rows])

    def block(self, units=None):
        units = UnitsOfCodes(N, (N,)) if units is None else units
        return SeriesBlock(units, Starts(self.design.circles, self.starts))

    def _blocks(self, starts):
        """Yield the series and the rows of each block."""
        of_series = [np.flatnonzero(self.series == s) for s in range(self.series.max() + 1)]
        first, starts = 0, list(starts)
        for s, rows in enumerate(of_series):
            left = len(rows)
            while left:
                position = starts.pop(0) - first
                size = min(self.length, left)
                yield s, [rows[(position + k) % len(rows)] for k in range(size)]
                left -= size
            first += len(rows)
        assert not starts

    def _rows_of(self, starts):
        return np.concatenate([rows for _, rows in self._blocks(starts)])


@pytest.fixture(params=CASES)
def case(request):
    return Case(request.param)


def test_a_row_weighs_as_often_as_the_blocks_hold_it(case):
    assert_array_equal(case.block().sums(), case.weights)


def test_a_resample_has_as_many_rows_of_each_series_as_the_data(case):
    for s in range(case.series.max() + 1):
        assert np.all(case.weights[:, case.series == s].sum(axis=1) == np.sum(case.series == s))


def test_sums_are_those_of_the_rows_of_the_blocks(case):
    terms = np.random.default_rng(2).normal(size=(N, 3))
    expected = [terms[rows].sum(axis=0) for rows in case.rows]
    assert_allclose(case.block().sums(terms), expected, rtol=1e-12, atol=1e-12)
    assert_allclose(case.block().sums(sparse.csr_matrix(terms)), expected, rtol=1e-12, atol=1e-12)


def test_sums_of_codes_are_those_of_their_rows(case):
    code = np.random.default_rng(3).integers(-1, 6, N)
    seen = np.flatnonzero(code >= 0)
    coding = CodedRows(code[seen], 6, "sums", rows=seen)
    (units,), _, _ = case.design.bind([coding])
    terms = np.random.default_rng(4).normal(size=(6, 2))
    of_rows = np.where(code[:, None] >= 0, terms[code], 0.0)
    expected = [of_rows[rows].sum(axis=0) for rows in case.rows]
    assert_allclose(case.block(units).sums(terms), expected, rtol=1e-12, atol=1e-12)


def test_the_variance_of_a_resample_is_that_of_its_blocks(case):
    terms, gradient = np.random.default_rng(2).normal(size=(N, 3)), np.ones((20, 3))
    terms[:, 2] = 0.3
    gradient[:, 1] = np.linspace(-1, 2, 20)
    expected = []
    for starts, slope in zip(case.starts, gradient, strict=True):
        of_series = {}
        for s, rows in case._blocks(starts):
            of_series.setdefault(s, []).append(terms[rows] @ slope)
        total = 0.0
        for blocks in of_series.values():
            # The last block of a series may have fewer rows: it varies about the mean of as many.
            centre = np.concatenate(blocks).mean() if len(of_series) > 1 else 0.0
            total += sum(np.sum(own - centre) ** 2 for own in blocks)
        expected.append(total)
    for given in (terms, sparse.csr_matrix(terms)):
        assert_allclose(case.block().variance(given, gradient), expected, rtol=1e-10, atol=1e-12)


def test_the_variance_on_the_data_is_that_of_all_resamples_of_a_mean(case):
    values = np.random.default_rng(2).normal(size=N)
    (units,), multiplicity, strata = case.design.bind([CodedRows(None, N, "sums")])
    (observed,) = case.design.observed([units], multiplicity, strata)
    found = observed.variance(values[:, None], np.full((1, 1), 1 / N))
    # The blocks of a resample are independent, and each begins anywhere in its series.
    expected, circles = 0.0, case.design.circles
    for s in range(case.series.max() + 1):
        rows = np.flatnonzero(case.series == s)
        n_blocks = -(-len(rows) // case.length)
        for k in range(n_blocks):
            size = case.length if k < n_blocks - 1 else circles.last_length[s]
            sums = [
                sum(values[rows[(start + j) % len(rows)]] for j in range(size))
                for start in range(len(rows))
            ]
            expected += np.var(sums) / N**2
    assert_allclose(found, [expected], rtol=1e-10, atol=1e-20)


def test_the_influence_of_a_block_is_that_of_its_rows(case):
    values = np.random.default_rng(2).normal(size=N)
    (units,), multiplicity, strata = case.design.bind([CodedRows(None, N, "sums")])
    (observed,) = case.design.observed([units], multiplicity, strata)
    found = observed.influence(values[:, None], np.full((1, 1), 2.0))
    expected = []
    for s in range(case.series.max() + 1):
        own = 2 * values[case.series == s]
        own = own - (own.mean() if case.design.strata is not None else 0.0)
        expected += [own[k : k + case.length].sum() for k in range(0, len(own), case.length)]
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_the_jackknife_leaves_out_consecutive_rows_of_a_series(case):
    codings = [CodedRows(None, N, "running")]
    binding = ResamplingPlan(case.design, 5, np.random.SeedSequence(0)).bind(codings)
    (left_out,) = binding.jackknife_resamples()
    missing = 1 - left_out.blocks[0].sums()
    assert missing.sum() == N
    for of_block, stratum in zip(missing, left_out.strata, strict=True):
        rows = np.flatnonzero(of_block)
        assert np.all(case.series[rows] == (stratum if case.design.strata is not None else 0))
        positions = np.searchsorted(np.flatnonzero(case.series == case.series[rows[0]]), rows)
        assert positions[0] % case.length == 0
        assert_array_equal(positions, positions[0] + np.arange(len(rows)))


def test_every_row_begins_a_block_equally_often():
    design = SeriesDesign.of(12, 4, np.repeat([0, 1], [8, 4]))
    (starts,) = design.draw(np.random.default_rng(0), 20_000, (), None)
    assert starts.shape == (20_000, 3)
    # Each count is binomial; 4.5 standard deviations in none of 20 counts, false alarm 1e-4.
    for column, rows in zip(starts.T, (range(8), range(8), range(8, 12)), strict=True):
        counts = np.bincount(column, minlength=12)
        expected = np.where(np.isin(np.arange(12), rows), 20_000 / len(rows), 0)
        assert np.all(abs(counts - expected) <= 4.5 * np.sqrt(expected))


def test_moving_sums_of_equal_values_do_not_round():
    values = np.full((2, 10_000), 0.1)
    for length in (1, 2, 3, 100, 1000, 4096):
        sums = moving_sums(values, length)[:, length - 1 :]
        assert np.ptp(sums) == 0
        assert_allclose(sums, 0.1 * length, rtol=1e-14)


def test_moving_sums_begin_with_those_of_fewer_values():
    assert_array_equal(moving_sums(np.arange(6), 4), [0, 1, 3, 6, 10, 14])


def test_sums_do_not_depend_on_how_many_are_looked_up_at_once(monkeypatch):
    case = Case("panel")
    terms = np.random.default_rng(2).normal(size=(N, 3))
    whole = case.block().sums(terms)
    monkeypatch.setattr("skboot.resampling.series.STARTS_AT_ONCE", 40)
    assert_array_equal(case.block().sums(terms), whole)


@pytest.mark.parametrize("at_once", [1, 1 << 20])
def test_weights_do_not_depend_on_how_many_resamples_are_counted_at_once(
    case, at_once, monkeypatch
):
    monkeypatch.setattr("skboot.resampling.series.PLACES_AT_ONCE", at_once)
    assert_array_equal(case.block().sums(), case.weights)


def test_weights_of_codes_are_those_of_their_rows(case):
    code = np.random.default_rng(3).permutation(N)
    (units,), _, _ = case.design.bind([CodedRows(code, N, "running")])
    assert_array_equal(case.block(units).sums(), case.weights[:, np.argsort(code)])


def test_a_block_as_long_as_the_series_is_the_series():
    circles = Circles(N, np.array([N]), None)
    assert circles.n_blocks.tolist() == [1]
    assert circles.last_length.tolist() == [N]
