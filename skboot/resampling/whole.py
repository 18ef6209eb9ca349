"""The data as they are: one line in which every unit occurs once.

Searches on resamples start from running counts of the data; these are kept for all who ask.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .block import Floats, UnitBlock
from .membership import Membership, types_of
from .searching import Crossing, Gap, search


class Types(NamedTuple):
    """Units of each distinct row of terms, along the ends.

    Attributes
    ----------
    number : ndarray of shape (n_positions,), uint8
        Type of each code, in reading order.
    values : ndarray of shape (n_types, n_terms)
        The distinct rows of terms.
    upto : ndarray of shape (n_ends + 1, n_types)
        Units of each type before the first end, and up to each.
    """

    number: NDArray[np.uint8]
    values: Floats
    upto: NDArray[np.int64]

    def running_at(self, end: NDArray[np.intp]) -> Floats:
        """Running sums of all units at some ends, (len(end), n_terms)."""
        return self.upto[end + 1] @ self.values


class WholeBlock(UnitBlock):
    """The data as they are.

    Parameters
    ----------
    membership : Membership
        The statistic's codes.
    multiplicity : ndarray of shape (n_atoms,)
        Units in each atom.
    strata : ndarray of shape (n_atoms,), optional
        Stratum of each atom, numbered from 0.
    """

    def __init__(
        self,
        membership: Membership,
        multiplicity: NDArray[np.int64],
        strata: NDArray[np.intp] | None = None,
    ) -> None:
        super().__init__(membership, multiplicity[None], strata)

    def influence(self, terms: Any, gradient: Floats) -> Floats:
        """Influence of a unit of each atom; see `Block.influence`."""
        influence: Floats = np.asarray(self.membership.totals(terms) @ gradient[0])
        if self.strata is not None:
            n_units = np.bincount(self.strata, self.counts[0])
            means = np.bincount(self.strata, self.counts[0] * influence) / n_units
            influence = influence - means[self.strata]
        return influence

    def crossing(
        self, terms: Floats, *gaps: Gap, ends: NDArray[np.intp] | None = None
    ) -> tuple[Crossing, ...]:
        """Search in running counts of the few kinds of units there are."""
        types = self.types_along(terms, ends)
        if types is None:
            return super().crossing(terms, *gaps, ends=ends)
        n_ends = len(types.upto) - 1
        total = types.running_at(np.array([n_ends - 1]))
        return tuple(search(types.running_at, total, n_ends, gap) for gap in gaps)

    def types_along(
        self,
        terms: Floats,
        ends: NDArray[np.intp] | None = None,
        order: NDArray[np.intp] | None = None,
    ) -> Types | None:
        """Running counts of each type, kept; None if there are more than a few types."""
        return self.membership.kept(
            "types", (terms, ends), lambda: self._types_along(terms, ends, order)
        )

    def _types_along(
        self, terms: Floats, ends: NDArray[np.intp] | None, order: NDArray[np.intp] | None
    ) -> Types | None:
        found = types_of(terms)
        if found is None:
            return None
        number, values = found
        weights = self._weights(slice(0, self.n_codes))[0]
        weights = weights if order is None else weights[order]
        ones = int(weights.max()) == 1
        upto = np.zeros((len(values), (len(terms) if ends is None else len(ends)) + 1), np.int64)
        for k in range(len(values)):
            of_type = number == k
            running = np.cumsum(of_type if ones else of_type * weights, dtype=np.int64)
            upto[k, 1:] = running if ends is None else running[ends]
        return Types(number, values, np.ascontiguousarray(upto.T))
