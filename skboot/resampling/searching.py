"""Search every line of a block at once for where a monotone gap changes sign along the codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .running import WIDTH

Floats = NDArray[np.float64]
Gap = Callable[[Floats, Floats], Floats]


class Crossing(NamedTuple):
    """Where a gap changes sign.

    Attributes
    ----------
    end : ndarray of shape (n_lines,)
        First end at which the gap is not negative.
    before, after : ndarray of shape (n_lines, n_terms)
        Running sums at the end before that one, and at it.
    total : ndarray of shape (n_lines, n_terms)
        Sums over all codes.
    outcome : ndarray of shape (n_lines,) or None
        Where many lines share few outcomes, the other attributes hold these, and this says which
        one each line has.
    """

    end: NDArray[np.intp]
    before: Floats
    after: Floats
    total: Floats
    outcome: NDArray[np.intp] | None = None

    def of_lines(self, values: Floats) -> Floats:
        """Values of the lines, from those of the outcomes."""
        return values if self.outcome is None else values[self.outcome]


def joined(parts: Sequence[Sequence[Crossing]]) -> tuple[Crossing, ...]:
    """Crossings of all lines, from those of some lines each."""
    return tuple(
        Crossing(*(np.concatenate(column) for column in zip(*(p[:4] for p in part), strict=True)))
        for part in zip(*parts, strict=True)
    )


def search_tiles(
    weights: NDArray[Any],
    terms: Floats,
    before: Floats,
    ends: NDArray[np.intp],
    total: Floats,
    gap: Gap,
    start: Floats | float = 0.0,
) -> Crossing:
    """Search in running sums that are known between tiles and made up inside them."""
    lines = np.arange(len(weights))
    inside = np.arange(WIDTH)

    def running_at(end: NDArray[np.intp]) -> Floats:
        code = ends[end]
        tile = code // WIDTH
        codes = tile[:, None] * WIDTH + inside
        counted = codes <= code[:, None]
        codes = np.where(counted, codes, 0)
        some = weights[lines[:, None], codes] * counted
        return before[lines, tile] + np.einsum("ij,ijk->ik", some, terms[codes])

    return search(running_at, total, len(ends), gap, start)


def sum_of_first(
    weights: NDArray[Any], terms: Floats, before: Floats, n: int
) -> NDArray[np.float64]:
    """Sums over the first codes, (n_lines, n_terms), from those before each tile."""
    tile = min(n // WIDTH, before.shape[1] - 1)
    some = slice(tile * WIDTH, n)
    sums: Floats = before[:, tile] + weights[:, some].astype(np.float64) @ terms[some]
    return sums


def search(
    running_at: Callable[[NDArray[np.intp]], Floats],
    total: Floats,
    n_ends: int,
    gap: Gap,
    start: Floats | float = 0.0,
) -> Crossing:
    """Bisect every line at once for the first end at which the gap is not negative.

    ``start`` are the sums before the first end.
    """
    low = np.full(len(total), -1)
    high = np.full(len(total), n_ends - 1)
    while np.any(high - low > 1):
        # Rounded up, the middle of a line that is settled is its end, which stays.
        middle = (low + high + 1) // 2
        reached = gap(running_at(middle), total) >= 0
        high = np.where(reached, middle, high)
        low = np.where(reached, low, middle)
    before = np.where((high > 0)[:, None], running_at(np.maximum(high - 1, 0)), start)
    return Crossing(high, before, running_at(high), total)
