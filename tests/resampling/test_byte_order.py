"""Counts and their sums are those of every machine, whichever byte of a number comes first.

A machine that stores the highest byte first is imitated: what is read as numbers of another width
has its bytes in the other order, unless the width is asked for with an order.
"""

from types import SimpleNamespace

import numpy as np
from in_turn import in_turn
from numpy.testing import assert_array_equal

from skboot.resampling import prefix_sums
from skboot.resampling.draws import multinomial_counts
from skboot.resampling.prefix_sums import pairs_in_order


class HighestByteFirst(np.ndarray):
    """An array in the memory of such a machine."""

    def view(self, dtype):
        dtype = np.dtype(dtype) if isinstance(dtype, str) else np.dtype(dtype).newbyteorder(">")
        if dtype.itemsize == self.itemsize:
            dtype = dtype.newbyteorder("=")
        return super().view(dtype)


class NumPy:
    """NumPy of such a machine."""

    def __getattr__(self, name):
        return getattr(np, name)

    def zeros(self, shape, dtype):
        return np.zeros(shape, dtype).view(HighestByteFirst)


class Generator:
    """A generator of such a machine: its words are the same numbers, their bytes are not."""

    def __init__(self, seed):
        self._generator = np.random.Generator(np.random.SFC64(seed))
        raw = self._generator.bit_generator.random_raw
        self.bit_generator = SimpleNamespace(
            random_raw=lambda size: raw(size).astype(">u8").view(HighestByteFirst)
        )

    def __getattr__(self, name):
        return getattr(self._generator, name)


def test_pairs_of_small_counts_are_the_same_on_every_machine(monkeypatch):
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 4, (5, 203)).astype(np.uint8)
    side = rng.integers(0, 3, 203)
    sides = [(flag.astype(float), flag.astype(np.uint8)) for flag in (side == 0, side == 1)]
    monkeypatch.setattr(prefix_sums, "np", NumPy())
    pairs = pairs_in_order(counts.view(HighestByteFirst), *sides, np.zeros(5))[0]
    lower_before = np.cumsum(counts.astype(int) * (side == 1), axis=1)
    assert_array_equal(pairs, (counts * (side == 0) * lower_before).sum(axis=1))


@in_turn(
    multiplicity={
        "units": lambda: [1] * 400,
        "rare": lambda: [1, 2, 5, 30, 99] * 12,
        "heavy": lambda: [130] * 128,
    }
)
def test_a_seed_draws_the_same_counts_on_every_machine(multiplicity):
    law = np.array(multiplicity)
    expected = multinomial_counts(np.random.Generator(np.random.SFC64(3)), 50, law)
    assert_array_equal(multinomial_counts(Generator(3), 50, law), expected)
