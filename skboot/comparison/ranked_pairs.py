"""Pairs of systems in an order of their own, and what all of them share.

180 systems have 16,110 differences, so that no array of all of them on all resamples is made: what
concerns each by itself is computed for some pairs on all resamples, and what they have in common
for all pairs on some resamples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inference._tuning import DIFFERENCES_AT_ONCE
from ..inference.differences import Difference
from ..inference.evidence import Drawn, Evidence, deciding_units
from ..inference.intervals import MIRRORED
from ..inference.proportions import Discordant, TwoAreas, TwoProportions
from .asked import Asked
from .contestants import (
    Contestant,
    are_identical,
    areas_of,
    difference_of,
    drawn_of_moving,
    estimated_differences,
    fewest_units,
    proportions_of,
    rows_apart,
    smoothed_difference,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankedPairs:
    """The pairs in an order that does not depend on that of the call.

    Attributes
    ----------
    contestants : list of Contestant
        By rank.
    first, second : ndarray of shape (n_pairs,)
        Numbers of the systems of each pair, the first of the lower rank.
    places : ndarray of shape (n_pairs,)
        Of each pair in the call.
    swapped : ndarray of shape (n_pairs,)
        Whether the call asked for the second minus the first.
    asked : Asked
    has_areas : bool
        Whether systems have areas under ROC curves on the same independent rows.
    """

    contestants: list[Contestant]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    places: NDArray[np.intp]
    swapped: NDArray[np.bool_]
    asked: Asked
    has_areas: bool = False

    @classmethod
    def of(
        cls,
        contestants: Mapping[str, Contestant],
        pairs: Sequence[tuple[str, str]],
        asked: Asked,
    ) -> RankedPairs:
        """Sort the pairs by the ranks of their systems."""
        ordered = sorted(contestants.values(), key=lambda each: each.rank)
        number = {each.name: k for k, each in enumerate(ordered)}
        both = np.array([(number[one], number[other]) for one, other in pairs], dtype=np.intp)
        low, high = both.min(axis=1), both.max(axis=1)
        places = np.lexsort((high, low))
        swapped = (both[:, 0] > both[:, 1])[places]
        has_areas = any(each.areas is not None for each in ordered)
        return cls(ordered, low[places], high[places], places, swapped, asked, has_areas)

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Where each pair of the call stands here, (n_pairs,)."""
        return np.argsort(self.places)

    def alternative(self, swapped: Any) -> str:
        """Return the alternative of a pair, whose systems may be swapped."""
        return MIRRORED[self.asked.alternative] if swapped else self.asked.alternative

    @cached_property
    def like(self) -> Evidence:
        """Evidence of the system with the fewest units, for what was drawn."""
        return fewest_units(self.contestants)

    @cached_property
    def replicates(self) -> Floats:
        """Of all systems, (n_systems, n_resamples)."""
        return np.array([each.evidence.replicates for each in self.contestants])

    @cached_property
    def differences(self) -> Floats:
        """On the data, (n_pairs,)."""
        scores = np.array([each.evidence.estimate for each in self.contestants], dtype=np.float64)
        return estimated_differences(scores[self.first], scores[self.second])

    @cached_property
    def counts(self) -> NDArray[np.int64] | None:
        """Rows on which the first alone is right, and the second alone, (n_pairs, 2)."""
        right = [each.right for each in self.contestants]
        if any(each is None for each in right):
            return None
        # Numbers of rows are whole, and products of double precision are much faster.
        rows = np.array(right, dtype=np.float64)
        both = (rows @ rows.T)[self.first, self.second]
        alone = rows.sum(axis=1)
        of_each = np.stack([alone[self.first] - both, alone[self.second] - both], axis=1)
        return of_each.astype(np.int64)

    def discordant(self, k: int) -> Discordant | None:
        """Return the discordant rows of a pair."""
        if self.counts is None:
            return None
        n = len(self.contestants[0].right)  # type: ignore[arg-type]
        return Discordant(int(self.counts[k, 0]), int(self.counts[k, 1]), n)

    def proportions(self, k: int) -> TwoProportions | None:
        """Return the hits of both systems of a pair on rows of their own."""
        if self.counts is not None:
            return None
        return proportions_of(self.contestants[self.first[k]], self.contestants[self.second[k]])

    def areas(self, k: int, *, as_called: bool = False) -> TwoAreas | None:
        """Return the areas under ROC curves of both systems of a pair, by rank or as called."""
        areas = areas_of(self.contestants[self.first[k]], self.contestants[self.second[k]])
        return areas.mirrored() if areas is not None and as_called and self.swapped[k] else areas

    def error_freedom(self, k: int) -> float | None:
        """Return the degrees of freedom of the standard error of a pair, None if unknown."""
        first, second = (self.contestants[each[k]].left_out for each in (self.first, self.second))
        if first is None or second is None:
            return None
        found = first[0].error_freedom(first[1] - second[1])
        return found if np.isfinite(found) else None

    def drawn(self, k: int) -> Drawn:
        """Return what was drawn for a pair, which few units may move."""
        pair = self.contestants[self.first[k]], self.contestants[self.second[k]]
        return drawn_of_moving(self.like.drawn, *pair)

    def n_deciding(self, k: int) -> float | None:
        """Return how many units carry the variation of a difference; see `deciding_units`."""
        if self.counts is not None:
            first, second = self.counts[k].tolist()
            n = len(self.contestants[0].right)  # type: ignore[arg-type]
            mean = (first - second) / n
            influence = np.array([1.0, -1.0, 0.0]) - mean
            return deciding_units(influence, np.array([first, second, n - first - second]))
        first, second = self.contestants[self.first[k]], self.contestants[self.second[k]]
        numbers = [first.evidence.facts.deciding, second.evidence.facts.deciding]
        if first.left_out is not None and second.left_out is not None:
            jackknife, values = first.left_out
            numbers.append(jackknife.n_deciding(values - second.left_out[1]))
        elif first.is_paired and self.like.drawn.design.units_are_rows:
            numbers.append(rows_apart(first, second))
        return min((float(n) for n in numbers if n is not None), default=None)

    def smoothed(self, k: int) -> Floats | None:
        """Return the values of a pair on drawn tables; None where many rows decide."""
        if self.identical[k]:
            return None
        return smoothed_difference(
            self.contestants[self.first[k]], self.contestants[self.second[k]]
        )

    def difference(self, k: int) -> Difference:
        """Return the difference of a pair with its replicates."""
        return difference_of(self.contestants[self.first[k]], self.contestants[self.second[k]])

    @cached_property
    def identical(self) -> NDArray[np.bool_]:
        """Whether both systems predict the same on every row, (n_pairs,)."""
        identical = self.differences == 0
        for k in np.flatnonzero(identical):
            pair = self.contestants[self.first[k]], self.contestants[self.second[k]]
            identical[k] = are_identical(*pair)
        return identical

    def blocks_of_resamples(self) -> Iterator[Floats]:
        """Yield the differences of all pairs on some resamples, (n_resamples, n_pairs)."""
        by_resample = np.ascontiguousarray(self.replicates.T)
        step = max(1, DIFFERENCES_AT_ONCE // len(self))
        for start in range(0, len(by_resample), step):
            rows = by_resample[start : start + step]
            yield np.take(rows, self.first, axis=1) - np.take(rows, self.second, axis=1)
