"""The rows of a stream of few units, kept until there are enough for Poisson resamples.

Below `FEWEST_UNITS` a Poisson number of units is nowhere near the number there are. So few rows fit
into memory: they are kept beside the sums, and scored as rows that were given at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..study.rows import Rows

FEWEST_UNITS = 30
# Numbers and texts that are kept at most: few groups may have any number of rows.
MOST_VALUES = 1 << 20
# Names of columns; those of predictions are followed by the number of the system.
UNIT, TRUTH, WEIGHT, PREDICTED = "unit", "y_true", "sample_weight", "y_pred "

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class FewRows:
    """Rows of few units, batch by batch.

    Attributes
    ----------
    batches : tuple of dict of str to ndarray
        Columns of each batch: the key of each row's unit, truth, weights and predictions.
    """

    batches: tuple[Columns, ...]

    @classmethod
    def of(cls, rows: Sequence[Rows], keys: NDArray[Any]) -> FewRows | None:
        """Return the rows of a batch, of each system; None where they cannot be kept.

        Labels of several types cannot, nor what is neither a number nor a text.
        """
        given = {UNIT: keys, TRUTH: rows[0].y_true, WEIGHT: rows[0].sample_weight}
        given |= {f"{PREDICTED}{k}": one.y_pred for k, one in enumerate(rows)}
        columns = {name: _plain(one) for name, one in given.items() if one is not None}
        if any(column.dtype.kind not in "biufU" for column in columns.values()):
            return None
        return cls((columns,))._within_bounds()

    def fits(self, n_rows: int, n_systems: int, weighted: bool) -> bool:
        """Whether these are all rows of a stream, with the columns that it has."""
        [columns] = self.batches
        needed = {UNIT, *(f"{PREDICTED}{k}" for k in range(n_systems))}
        needed |= {WEIGHT} if weighted else set()
        shapes = {name: (len(one), one.ndim) for name, one in columns.items()}
        return needed == columns.keys() - {TRUTH} and all(
            n == n_rows and n_dimensions <= (2 if name.startswith(PREDICTED) else 1)
            for name, (n, n_dimensions) in shapes.items()
        )

    def plus(self, other: FewRows) -> FewRows | None:
        """Return the rows of both; None where these cannot be kept together."""
        if _kinds(self.batches[0]) != _kinds(other.batches[0]):
            return None
        return FewRows((*self.batches, *other.batches))._within_bounds()

    def _within_bounds(self) -> FewRows | None:
        n_values = sum(column.size for batch in self.batches for column in batch.values())
        return self if n_values <= MOST_VALUES else None

    @cached_property
    def columns(self) -> Columns | None:
        """Columns of all rows in the order of their keys, those of a group in that of their values.

        None where one type does not hold the values of all batches.
        """
        joined = {}
        for name in self.batches[0]:
            parts = [batch[name] for batch in self.batches]
            joined[name] = np.concatenate(parts)
            ends = np.cumsum([len(part) for part in parts])[:-1]
            if not all(map(_holds, np.split(joined[name], ends), parts)):
                return None
        names = sorted(joined, key=_precedence)
        keys = [one for name in names for one in np.atleast_2d(joined[name].T)]
        order = np.lexsort(keys[::-1])
        return {name: column[order] for name, column in joined.items()}


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column in a type that does not depend on its batch."""
    if column.dtype.kind in "iu" and column.dtype != np.uint64:
        return column.astype(np.int64)
    if column.dtype.kind == "S":
        column = np.char.decode(column, "latin-1")
    if column.dtype.kind == "U":
        return column.astype(f"U{max(int(np.char.str_len(column).max()), 1)}")
    return column


def _holds(joined: NDArray[Any], part: NDArray[Any]) -> bool:
    """Whether a common type keeps the values apart: floats round integers above 2**53."""
    return np.array_equal(joined.astype(part.dtype), part)


def _kinds(columns: Columns) -> dict[str, Any]:
    """Return what the columns of two batches must have in common to be joined."""
    return {name: (one.dtype.kind == "U", one.shape[1:]) for name, one in columns.items()}


def _precedence(name: str) -> tuple[int, int, str]:
    """Return the place of a column in the order of rows: its key, truth, predictions, weight."""
    kinds = [UNIT, TRUTH, PREDICTED, WEIGHT]
    return kinds.index(name.rstrip("0123456789")), len(name), name
