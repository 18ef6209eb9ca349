"""What a statistic of few codes reads of their counts is what it reads of counts of atoms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skboot.resampling import block as blocks_module
from skboot.resampling.coding import CodedRows
from skboot.resampling.design import RowDesign
from skboot.resampling.plan import ResamplingPlan

N = 400


def bound(monkeypatch, *, always):
    """Three statistics of two to four codes, and one of rows."""
    if always:
        monkeypatch.setattr(blocks_module, "CODES_OF_ATOMS", 0)
    rng = np.random.default_rng(0)
    codes = [rng.integers(low, 4, N) for low in (0, 1, 2)]
    codes[1] -= 1
    codes[2] -= 2
    codings = [CodedRows(code, code.max() + 1, "sums") for code in codes]
    terms = [rng.normal(size=(coding.n_codes, 2)) for coding in codings]
    codings.append(CodedRows(None, N, "sums"))
    terms.append(rng.normal(size=(N, 2)))
    drawn = ResamplingPlan(RowDesign.of(N), 20, np.random.SeedSequence(0))
    return drawn.bind(codings), terms


@pytest.mark.parametrize("of", ["block", "observed"])
def test_sums_and_variances_of_few_codes_are_those_of_atoms(monkeypatch, of):
    read = {}
    for always in (False, True):
        binding, terms = bound(monkeypatch, always=always)
        blocks = binding.observed() if of == "observed" else binding.block(0)
        assert [one.counts.shape[1] < N for one in blocks] == [always, always, always, False]
        read[always] = [
            (block.sums(own), block.variance(own, np.ones((block.n_resamples, 2))))
            for block, own in zip(blocks, terms, strict=True)
        ]
    for by_atom, by_code in zip(read[False], read[True], strict=True):
        for one, other in zip(by_atom, by_code, strict=True):
            assert_allclose(other, one, rtol=1e-12, atol=1e-12)


def test_the_units_of_all_codes_are_counted(monkeypatch):
    by_atom, _ = bound(monkeypatch, always=False)
    blocks = by_atom.block(0)
    by_code, _ = bound(monkeypatch, always=True)
    for block, own in zip(blocks[:3], by_code.block(0)[:3], strict=True):
        assert_array_equal(own.counts, block.sums())
