"""The state of one batch: what its rows add to the data and to each resample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.checks import fail
from ..metrics.cells import encode, label_counts
from ..metrics.statistic import Floats
from ..resampling.streamed import Words
from ..study.rows import Rows
from .exact_sums import ExactSums
from .readings import FINE_SCORES, LABELS, SCORES
from .state import GROUPS_KEPT, StreamSettings, StreamState, check_size
from .tables import (
    Table,
    bits_of,
    cells_within,
    distinct_cells,
    joined_ends,
    joined_labels,
    spare_bits,
)

# A table without its sums, and the cell of each row.
Coded = tuple[Table, NDArray[np.intp]]

_NOTHING = ExactSums.zeros(0, 0)
# Pairs of codes of two tables that are summed together.
_JOINT_CODES = 256


def state_of(
    settings: StreamSettings,
    rows: Sequence[Rows],
    units: Words,
    unit: str,
    bits_dropped: Mapping[tuple[str, int], int],
) -> StreamState:
    """Return the state of one batch.

    Parameters
    ----------
    settings : StreamSettings
    rows : sequence of Rows
        Of each system.
    units : ndarray of shape (n_rows,)
        Hash of the unit of each row.
    unit : {"start", "ids", "groups"}
    bits_dropped : mapping
        By table of scores, bits that other batches have dropped.
    """
    sample_weight = rows[0].sample_weight
    coded: dict[tuple[str, int], Coded] = {}
    for key in settings.tables:
        own = rows[key[1]], key, bits_dropped.get(key, 0)
        fine = coded.get((FINE_SCORES, key[1])) if key[0] == SCORES else None
        coded[key] = _coded(settings, *own) if fine is None else _coarser(settings, fine, own[2])
    terms = _terms(settings, rows)
    largest = np.abs(terms).max(axis=1)
    if not np.all(np.isfinite(largest)):
        must = "give a finite value of each metric for every row"
        raise fail("y_pred", must, "an infinite one")
    zero_one = np.all((terms == 0) | (terms == 1), axis=1) & (sample_weight is None)
    if sample_weight is not None:
        terms *= sample_weight
        largest = np.abs(terms).max(axis=1)
    resampled = {key: one for key, one in coded.items() if key[0] != FINE_SCORES}
    # Rows are units of their own, which need no sorting.
    groups, group = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.intp)
    if unit == "groups":
        groups, group = np.unique(units, return_inverse=True)
    if 0 < 2 * len(groups) <= len(units):
        drawn = groups, group.reshape(-1)
        sums, by_table = _resampled_groups(settings, units, drawn, terms, resampled, sample_weight)
    else:
        sums, by_table = _resampled(settings, units, terms, resampled, sample_weight)
    for key in coded.keys() - resampled.keys():
        table, code = coded[key]
        by_table[key] = np.bincount(code, sample_weight, table.n_cells)[:, None]
    sums = np.column_stack((np.abs(terms).sum(axis=1), terms.sum(axis=1), sums))
    return StreamState(
        ExactSums.of(sums),
        largest,
        zero_one,
        {key: replace(coded[key][0], sums=ExactSums.of(by_table.pop(key))) for key in coded},
        len(units),
        unit,
        groups[:GROUPS_KEPT],
        sample_weight is not None,
        in_columns=any(one.y_pred.ndim == 2 for one in rows),
    )


def _terms(settings: StreamSettings, rows: Sequence[Rows]) -> Floats:
    """Return what each row adds to each sum, before its weight, (n_terms, n_rows)."""
    terms = [np.ones((1, rows[0].n_samples))]
    terms += [
        own
        for reading in settings.readings.values()
        for one in rows
        for own in [reading.terms(one)]
    ]
    return np.vstack(terms)


def _coded(settings: StreamSettings, rows: Rows, key: tuple[str, int], bits_dropped: int) -> Coded:
    """Return the table of a batch without its sums, and the cell of each row."""
    kind = key[0]
    reading: Any = next(one for one in settings.readings.values() if kind in one.tables)
    given, predicted = reading.columns(rows, kind)
    truth = _as_labels(given, "y_true")
    labels = label_counts(truth)[0]
    if kind == LABELS:
        decided = _as_labels(predicted, "y_pred")
        labels = joined_labels(labels, label_counts(decided)[0])
        first, second = encode(truth, labels), encode(decided, labels).astype(np.uint64)
        found = distinct_cells(first, second)
        check_size(len(found[0]), settings)
        return Table(labels, found[0], found[1], _NOTHING), found[2]
    bits, n_bins = bits_of(predicted), settings.bins_of(kind)
    cells = cells_within(encode(truth, labels), bits, bits_dropped, n_bins)
    own = cells.truth, cells.other, _NOTHING, cells.shift, cells.ends
    return Table(labels, *own), cells.at


def _coarser(settings: StreamSettings, fine: Coded, bits_dropped: int) -> Coded:
    """Return the same of scores in intervals that resamples have, from those of the data."""
    table, code = fine
    assert table.shift is not None
    shift = max(bits_dropped, table.shift)
    bits = table.other >> np.uint64(shift - table.shift)
    spare = spare_bits(np.unique(bits), settings.n_bins)
    truth, other, at = distinct_cells(table.truth, bits >> np.uint64(spare))
    assert table.ends is not None
    ends = joined_ends(table.ends, at, len(truth))
    return Table(table.labels, truth, other, _NOTHING, shift + spare, ends), at[code]


def _as_labels(y: NDArray[Any] | None, name: str) -> NDArray[Any]:
    """Return labels as an array of numbers or of text."""
    assert y is not None
    found = np.array(y.tolist()) if y.dtype.kind == "O" else y
    if found.dtype.kind not in "biufU":
        raise fail(name, "hold labels that are numbers, or text", f"{found.dtype}")
    return found


def _resampled(
    settings: StreamSettings,
    units: Words,
    terms: Floats,
    coded: Mapping[tuple[str, int], Coded],
    sample_weight: Floats | None,
) -> tuple[Floats, dict[tuple[str, int], NDArray[Any]]]:
    """Return the sums of terms on resamples, and those of cells on the data and on resamples."""
    weights = settings.weights
    by_table: dict[tuple[str, int], NDArray[Any]] = {}
    n_cells = {key: table.n_cells for key, (table, _) in coded.items()}
    if sample_weight is not None:
        for key, (_, code) in coded.items():
            on_data = np.bincount(code, sample_weight, n_cells[key])
            by_table[key] = weights.sums_by_code(units, sample_weight, code, on_data)
        return weights.sums(units, terms)[0], by_table
    sums = None
    for keys in _together(n_cells):
        sizes = [n_cells[key] for key in keys]
        codes = [coded[key][1] for key in keys]
        code = codes[0] if len(codes) == 1 else np.ravel_multi_index(codes, sizes)
        on_data = np.bincount(code, minlength=int(np.prod(sizes)))
        # The terms are added up with the first set of tables.
        own_terms = terms if sums is None else None
        of_terms, by_code = weights.sums(units, own_terms, code, on_data)
        sums = of_terms if sums is None else sums
        both = by_code.reshape(*sizes, -1)
        for k, key in enumerate(keys):
            others = tuple(axis for axis in range(len(sizes)) if axis != k)
            by_table[key] = both.sum(axis=others, dtype=both.dtype) if others else both
    return weights.sums(units, terms)[0] if sums is None else sums, by_table


def _resampled_groups(
    settings: StreamSettings,
    units: Words,
    drawn: tuple[Words, NDArray[np.intp]],
    terms: Floats,
    coded: Mapping[tuple[str, int], Coded],
    sample_weight: Floats | None,
) -> tuple[Floats, dict[tuple[str, int], NDArray[Any]]]:
    """Return the same, rows of a group being added up before it is drawn.

    ``drawn`` are the groups and the group of each row. Where most rows of a group are in cells of
    their own, there is nothing to add up.
    """
    own_groups, group = drawn
    by_table, others = {}, {}
    for key, (table, code) in coded.items():
        pairs, of_row = np.unique(group * table.n_cells + code, return_inverse=True)
        if 2 * len(pairs) > len(units):
            others[key] = table, code
            continue
        size = np.bincount(of_row.reshape(-1), sample_weight, len(pairs)).astype(np.float64)
        at, cell = np.divmod(pairs, table.n_cells)
        on_data = np.bincount(code, sample_weight, table.n_cells)
        by_table[key] = settings.weights.sums_by_code(own_groups[at], size, cell, on_data)
    if others:
        by_table |= _resampled(settings, units, terms[:0], others, sample_weight)[1]
    of_groups = np.array([np.bincount(group, term, len(own_groups)) for term in terms])
    return settings.weights.sums(own_groups, of_groups)[0], by_table


def _together(n_cells: Mapping[tuple[str, int], int]) -> list[list[tuple[str, int]]]:
    """Return the tables in sets that are summed together: those of few cells."""
    sets: list[list[tuple[str, int]]] = []
    joint = _JOINT_CODES + 1
    for key, n in sorted(n_cells.items(), key=lambda item: item[1]):
        if joint * n > _JOINT_CODES:
            sets.append([])
            joint = 1
        sets[-1].append(key)
        joint *= n
    return sets
