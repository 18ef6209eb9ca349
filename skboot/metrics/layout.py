"""What a row of each cell of a confusion matrix adds to which sum, as a matrix of terms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .statistic import Floats

# Terms up to this size are kept dense: a small product of matrices beats a sparse one.
_DENSE = 1 << 14
# Rows of a layout that are told apart as tuples: `numpy.unique` takes 30 us in any case.
_FEW_ROWS = 32


class Layout(NamedTuple):
    """What a row of each cell adds to which sum; the first sum is the number of rows.

    Attributes
    ----------
    slots : ndarray of shape (n_cells, n_slots)
        Columns.
    values : ndarray of shape (n_cells, n_slots)
        What is added to them; 0 where a slot is not used.
    n_terms : int
        Number of columns.
    """

    slots: NDArray[np.intp]
    values: Floats
    n_terms: int


def distinct_rows(rows: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Distinct rows in rising order, and the number of each row's own."""
    if len(rows) <= _FEW_ROWS:
        each = [tuple(row) for row in rows.tolist()]
        number = {row: k for k, row in enumerate(sorted(set(each)))}
        return np.array(list(number)), np.array([number[row] for row in each])
    distinct, of_row = np.unique(rows, axis=0, return_inverse=True)
    return distinct, of_row.reshape(-1)


def matrix(layout: Layout, weights: Floats | None = None) -> Any:
    """Terms (n_codes, n_terms), sparse if large; sums over rows follow if weights can be 0."""
    n_codes = len(layout.slots)
    both = weights is not None and bool(np.any(weights == 0))
    weighted = layout
    if weights is not None:
        weighted = layout._replace(values=layout.values * weights[:, None])
    if n_codes * layout.n_terms * (1 + both) <= _DENSE:
        every = np.arange(n_codes)
        parts = [added(one, every, n_codes) for one in (weighted, layout)[: 1 + both]]
        return np.hstack(parts)
    parts = [_sparse(one) for one in (weighted, layout)[: 1 + both]]
    return sparse.csr_matrix(sparse.hstack(parts)) if both else parts[0]


def added(layout: Layout, line: NDArray[np.intp], n_lines: int) -> Floats:
    """Add up what the cells of each line add to each sum, (n_lines, n_terms)."""
    at = line[:, None] * layout.n_terms + layout.slots
    sums = np.bincount(at.ravel(), layout.values.ravel(), n_lines * layout.n_terms)
    return sums.astype(np.float64, copy=False).reshape(n_lines, layout.n_terms)


def _sparse(layout: Layout) -> Any:
    n_codes, n_slots = layout.slots.shape
    line = np.repeat(np.arange(n_codes), n_slots)
    terms = sparse.csr_matrix(
        (layout.values.ravel(), (line, layout.slots.ravel())), shape=(n_codes, layout.n_terms)
    )
    terms.eliminate_zeros()
    return terms


def side_by_side(sums: Floats, n_parts: int) -> list[Floats]:
    """Parts of equal width; `numpy.split` takes longer than the formulas."""
    width = sums.shape[1] // n_parts
    return [sums[:, k * width : (k + 1) * width] for k in range(n_parts)]
