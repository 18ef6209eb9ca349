"""Resamples that are drawn only where a search reads them.

A search for a sign change needs the running sums at some twenty places of a resample, not the
counts of all rows. The number of units on each side of a place is a binomial split of those around
it, so a search can draw the splits it passes and leave the rest open: the resample has the same
law, at a cost that grows with the logarithm of the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._tuning import ON_DEMAND_COUNTS
from .block import Floats, UnitBlock
from .coding import UnitsOfCodes
from .draws import multinomial_counts
from .jackknife import ObservedBlock
from .prefix_sums import Gap, SignChange, joined

Counts = NDArray[np.int64]


class OnDemandBlock(UnitBlock):
    """Resamples of codes, drawn when they are read, which can be done once.

    Parameters
    ----------
    units_of_codes : UnitsOfCodes
        The statistic's codes, which are the atoms.
    multiplicity : ndarray of shape (n_codes,)
        Units in each atom.
    n_resamples : int
        Number of resamples.
    rng : numpy.random.Generator
        The block's own stream.
    """

    def __init__(
        self,
        units_of_codes: UnitsOfCodes,
        multiplicity: NDArray[np.int64],
        n_resamples: int,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(units_of_codes, np.empty((n_resamples, 0)))
        del self.counts
        self._multiplicity = multiplicity
        self._rng: np.random.Generator | None = rng

    @cached_property
    def counts(self) -> NDArray[Any]:  # type: ignore[override]
        return multinomial_counts(self._stream(), self.n_resamples, self._multiplicity)

    def _stream(self) -> np.random.Generator:
        rng, self._rng = self._rng, None
        if rng is None:
            raise RuntimeError("A block whose resamples are drawn when read can be read once.")
        return rng

    def crossing(
        self, terms: Floats, *gaps: Gap, ends: NDArray[np.intp] | None = None
    ) -> tuple[SignChange, ...]:
        """Split the units of each type on the way to the sign change; see `Block.crossing`."""
        if "counts" in self.__dict__:
            return super().crossing(terms, *gaps, ends=ends)
        rng = self._stream()
        observed = ObservedBlock(self.units_of_codes, self._multiplicity[None])
        types = observed.types_along(terms, ends)
        if types is None:
            ends = np.arange(self.n_codes) if ends is None else ends
            return self._drawn_whole(rng, terms, gaps, ends)
        values, upto = types.values, types.upto
        n_of_types = upto[-1].astype(np.int64)
        drawn = multinomial_counts(rng, self.n_resamples, n_of_types).astype(np.int64)
        total = drawn @ values
        return tuple(
            SignChange(
                node.high - 1, node.below @ values, (node.below + node.inside) @ values, total
            )
            for node in _descend(rng, upto, drawn, values, gaps)
        )

    def _drawn_whole(
        self, rng: np.random.Generator, terms: Floats, gaps: Sequence[Gap], ends: NDArray[np.intp]
    ) -> tuple[SignChange, ...]:
        """Search in whole resamples, as many at a time as memory should hold."""
        step = max(1, ON_DEMAND_COUNTS // self.n_codes)
        pieces = []
        for start in range(0, self.n_resamples, step):
            n_resamples = min(step, self.n_resamples - start)
            counts = multinomial_counts(rng, n_resamples, self._multiplicity)
            pieces.append(UnitBlock(self.units_of_codes, counts).crossing(terms, *gaps, ends=ends))
        return joined(pieces)


class _Node(NamedTuple):
    """The ends between which the search of each resample stands, and the units drawn there.

    ``low`` and ``high`` (n_resamples,) count ends from 1, 0 is before the first; ``below`` and
    ``inside`` (n_resamples, n_types) are units up to ``low``, and from there to ``high``.
    """

    low: NDArray[np.intp]
    high: NDArray[np.intp]
    below: Counts
    inside: Counts


def _descend(
    rng: np.random.Generator,
    upto: NDArray[np.signedinteger],
    drawn: Counts,
    values: Floats,
    gaps: Sequence[Gap],
) -> list[_Node]:
    """Halve the ends around each sign change, drawing how many units lie on the left."""
    n_resamples = len(drawn)
    total = drawn @ values
    root = _Node(
        np.zeros(n_resamples, dtype=np.intp),
        np.full(n_resamples, len(upto) - 1, dtype=np.intp),
        np.zeros_like(drawn),
        drawn,
    )
    nodes = [root for _ in gaps]
    # All intervals of one step have about the same length, and the longest is `span`.
    span = len(upto) - 1
    while span > 1:
        lefts: list[Counts] = []
        for k, node in enumerate(nodes):
            left = _split(rng, upto, node)
            for other, left_of_other in zip(nodes[:k], lefts, strict=True):
                # Two searches that stand between the same ends must read the same resample.
                shared = (other.low == node.low) & (other.high == node.high)
                left = np.where(shared[:, None], left_of_other, left)
            lefts.append(left)
        nodes = [
            _step(node, left, values, total, gap)
            for node, left, gap in zip(nodes, lefts, gaps, strict=True)
        ]
        span -= span // 2
    return nodes


def _split(rng: np.random.Generator, upto: NDArray[np.signedinteger], node: _Node) -> Counts:
    """Draw how many of the units inside lie in the left half, (n_resamples, n_types)."""
    at_low = upto[node.low]
    units = upto[node.high] - at_low
    left = upto[(node.low + node.high) // 2] - at_low
    drawn: Counts = rng.binomial(node.inside, left / np.maximum(units, 1))
    return drawn


def _step(node: _Node, left: Counts, values: Floats, total: Floats, gap: Gap) -> _Node:
    """Return the half that holds the sign change."""
    middle = (node.low + node.high) // 2
    reached = (middle > node.low) & (gap((node.below + left) @ values, total) >= 0)
    in_left = reached[:, None]
    return _Node(
        np.where(reached, node.low, middle),
        np.where(reached, middle, node.high),
        np.where(in_left, node.below, node.below + left),
        np.where(in_left, left, node.inside - left),
    )
