"""What is known of a stream: sums of all rows so far, whose sum is that of two streams.

A batch is made a state of its own and added, and so are shards: one way of adding, whatever the
partition. `StreamSettings` are what two states must have in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import fail
from .._inputs import Rows
from ..metrics.cells import encode, label_counts
from ..metrics.lookup import resolve_metrics
from ..metrics.statistic import Floats
from ..resampling.streamed import PoissonWeights, Words
from .exact_sums import ExactSums
from .readings import LABELS, SCORES, ColumnsReading, Read, Reading, reading_of
from .tables import Table, bits_of, distinct_cells, joined_labels, spare_bits

# Intervals of a score, if no other number is asked for: 16 MB of sums for 1000 resamples.
N_BINS = 1024
# Hashes of groups that are kept; as many groups are counted exactly.
GROUPS_KEPT = 1 << 16
# Bytes of the sums of one table; more pairs of labels than that are refused.
_MOST_BYTES = 1 << 29
# Bytes of the sums of all scores of several classes, were there a sum in each of their intervals.
_MOST_BYTES_OF_COLUMNS = 1 << 31
# Number of intervals of a score below which a message does not offer them.
_FEWEST_BINS = 16
# Pairs of codes of two tables that are summed together.
_JOINT_CODES = 256


@dataclass(frozen=True, eq=False)
class StreamSettings:
    """Checked arguments of an accumulator; ``systems`` is (None,) without systems."""

    metric: Any
    seed: np.random.SeedSequence
    n_resamples: int
    systems: tuple[str | None, ...]
    labels: NDArray[Any] | None
    n_bins: int
    confidence_level: float
    interval: str
    greater_is_better: bool | None
    caller: str

    @cached_property
    def readings(self) -> dict[str, Reading]:
        """How each metric is read, by its name."""
        found = {name: reading_of(one, self.caller) for name, one in self._resolved[0].items()}
        self._check_histograms(found)
        return found

    def _check_histograms(self, readings: Mapping[str, Reading]) -> None:
        """Refuse averages over so many classes that their histograms may not fit."""
        averages = {name: one for name, one in readings.items() if isinstance(one, ColumnsReading)}
        sides = {kind: one.n_sides for one in averages.values() for kind in one.tables}
        each = sum(sides.values()) * len(self.systems) * (1 + self.n_resamples) * 8
        if each * self.n_bins <= _MOST_BYTES_OF_COLUMNS:
            return
        must = f"hold averages over classes whose sums fit {_MOST_BYTES_OF_COLUMNS >> 20} MB"
        n_classes = max(len(one.labels) for one in averages.values())
        got = (
            f"{' and '.join(map(repr, averages))} of {n_classes} classes, which may take "
            f"{each * self.n_bins >> 20} MB with {self.n_resamples} resamples"
        )
        advice = "Use fewer resamples, or one class against the others."
        if (n_bins := _MOST_BYTES_OF_COLUMNS // each) >= _FEWEST_BINS:
            advice = f"Use fewer resamples, or BootstrapAccumulator with n_bins={n_bins}."
        raise fail(self.caller, "metric", must, got, advice)

    @cached_property
    def is_single(self) -> bool:
        """Whether one metric alone is asked for."""
        return self._resolved[1]

    @cached_property
    def _resolved(self) -> Any:
        return resolve_metrics(
            self.metric,
            labels=self.labels,
            greater_is_better=self.greater_is_better,
            caller=self.caller,
        )

    @cached_property
    def weights(self) -> PoissonWeights:
        """Weights of units in resamples."""
        return PoissonWeights(self.seed, self.n_resamples)

    @cached_property
    def n_terms(self) -> int:
        """Sums of terms of all metrics and systems, with that of the weights."""
        return 1 + len(self.systems) * sum(one.n_terms for one in self.readings.values())

    @cached_property
    def places(self) -> dict[tuple[str, int], slice]:
        """Where the terms of a metric and system are."""
        found, at = {}, 1
        for name, reading in self.readings.items():
            for system in range(len(self.systems)):
                found[name, system] = slice(at, at + reading.n_terms)
                at += reading.n_terms
        return found

    @cached_property
    def tables(self) -> list[tuple[str, int]]:
        """Kinds of tables, and of which system each is."""
        kinds = sorted({kind for one in self.readings.values() for kind in one.tables})
        return [(kind, system) for kind in kinds for system in range(len(self.systems))]


@dataclass(frozen=True, eq=False)
class StreamState:
    """Sums of the rows of a stream.

    Attributes
    ----------
    terms : ExactSums
        Of (n_terms, 2 + n_resamples): of the sizes of what rows add, of what they add to the data,
        and to each resample. The first term is the weight of a row.
    largest : ndarray of shape (n_terms,)
        Largest size of what one row adds.
    zero_one : ndarray of shape (n_terms,)
        Whether each row of weight 1 adds 0 or 1.
    tables : dict of tuple to Table
        By kind and system.
    n_rows : int
    unit : {"", "start", "ids", "groups"}
        What tells the units apart; "" before the first row.
    groups : ndarray of shape (n_kept,)
        Smallest hashes of groups, rising.
    weighted : bool
        Whether rows carry weights.
    """

    terms: ExactSums
    largest: Floats
    zero_one: NDArray[np.bool_]
    tables: dict[tuple[str, int], Table] = field(default_factory=dict)
    n_rows: int = 0
    unit: str = ""
    groups: Words = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    weighted: bool = False

    @classmethod
    def empty(cls, settings: StreamSettings) -> StreamState:
        """Return the state before the first row."""
        n = settings.n_terms
        columns = 2 + settings.n_resamples
        return cls(ExactSums.zeros(n, columns), np.zeros(n), np.ones(n, dtype=bool))

    @property
    def n_units(self) -> int:
        """Number of rows or groups; of very many groups an estimate (Beyer et al. 2007)."""
        if self.unit != "groups":
            return self.n_rows
        if len(self.groups) < GROUPS_KEPT:
            return len(self.groups)
        return round((GROUPS_KEPT - 1) / (float(self.groups[-1]) / 2.0**64))

    def plus(self, other: StreamState, settings: StreamSettings) -> StreamState:
        """Return the state of the rows of both."""
        if not other.unit:
            return self
        if not self.unit:
            return other
        groups = np.union1d(self.groups, other.groups)[:GROUPS_KEPT]
        tables = {}
        for key, table in self.tables.items():
            both = table + other.tables[key]
            tables[key] = _checked(both, key, settings)
        return replace(
            self,
            terms=self.terms + other.terms,
            largest=np.maximum(self.largest, other.largest),
            zero_one=self.zero_one & other.zero_one,
            tables=tables,
            n_rows=self.n_rows + other.n_rows,
            groups=groups,
        )

    def read(self, name: str, system: int, settings: StreamSettings) -> Read:
        """Return a metric of a system on the data and on every resample."""
        reading: Any = settings.readings[name]
        if reading.tables:
            own = [self.tables[kind, system] for kind in reading.tables]
            found: Read = reading.read(own, settings.caller)
            return found
        place = settings.places[name, system]
        sums = self.terms.values()
        size = float(sums[place, 0].sum())
        largest = float(self.largest[place].max()) / size if size > 0 else None
        facts = largest, bool(self.zero_one[place].all())
        read: Read = reading.read(sums[0, 1:], sums[place, 1:], facts, self.n_rows)
        return read


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
    coded = {key: _coded(settings, rows[key[1]], key, bits_dropped) for key in settings.tables}
    terms = _terms(settings, rows)
    largest = np.abs(terms).max(axis=1)
    if not np.all(np.isfinite(largest)):
        must = "give a finite value of each metric for every row"
        raise fail(settings.caller, "y_pred", must, "an infinite one")
    zero_one = np.all((terms == 0) | (terms == 1), axis=1) & (sample_weight is None)
    if sample_weight is not None:
        terms *= sample_weight
        largest = np.abs(terms).max(axis=1)
    own_groups, group = np.unique(units, return_inverse=True)
    if 2 * len(own_groups) <= len(units):
        drawn = own_groups, group.reshape(-1)
        sums, by_table = _resampled_groups(settings, units, drawn, terms, coded, sample_weight)
    else:
        sums, by_table = _resampled(settings, units, terms, coded, sample_weight)
    sums = np.column_stack((np.abs(terms).sum(axis=1), terms.sum(axis=1), sums))
    groups = own_groups[:GROUPS_KEPT] if unit == "groups" else np.empty(0, dtype=np.uint64)
    return StreamState(
        ExactSums.of(sums),
        largest,
        zero_one,
        {key: replace(coded[key][0], sums=ExactSums.of(by_table[key])) for key in coded},
        len(units),
        unit,
        groups,
        sample_weight is not None,
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


def _coded(
    settings: StreamSettings,
    rows: Rows,
    key: tuple[str, int],
    bits_dropped: Mapping[tuple[str, int], int],
) -> tuple[Table, NDArray[np.intp]]:
    """Return the table of a batch without its sums, and the cell of each row."""
    kind = key[0]
    reading: Any = next(one for one in settings.readings.values() if kind in one.tables)
    given, predicted = reading.columns(rows, kind)
    truth = _as_labels(given, "y_true", settings.caller)
    labels = label_counts(truth)[0]
    nothing = ExactSums.zeros(0, 0)
    if kind == LABELS:
        decided = _as_labels(predicted, "y_pred", settings.caller)
        labels = joined_labels(labels, label_counts(decided)[0])
        first, second = encode(truth, labels), encode(decided, labels).astype(np.uint64)
        found = distinct_cells(first, second)
        _check_size(len(found[0]), settings)
        return Table(labels, found[0], found[1], nothing), found[2]
    shift = bits_dropped.get(key, 0)
    bits = bits_of(predicted) >> np.uint64(shift)
    spare = spare_bits(np.unique(bits), settings.n_bins)
    found = distinct_cells(encode(truth, labels), bits >> np.uint64(spare))
    return Table(labels, found[0], found[1], nothing, shift + spare), found[2]


def _as_labels(y: NDArray[Any] | None, name: str, caller: str) -> NDArray[Any]:
    """Return labels as an array of numbers or of text."""
    assert y is not None
    found = np.array(y.tolist()) if y.dtype.kind == "O" else y
    found = found.astype(str) if found.dtype.kind == "S" else found
    if found.dtype.kind not in "biufU":
        raise fail(caller, name, "hold labels that are numbers, or text", f"{found.dtype}")
    return found


def _resampled(
    settings: StreamSettings,
    units: Words,
    terms: Floats,
    coded: Mapping[tuple[str, int], tuple[Table, NDArray[np.intp]]],
    sample_weight: Floats | None,
) -> tuple[Floats, dict[tuple[str, int], NDArray[Any]]]:
    """Return the sums of terms on resamples, and those of cells on the data and on resamples."""
    weights = settings.weights
    by_table: dict[tuple[str, int], NDArray[Any]] = {}
    n_cells = {key: table.n_cells for key, (table, _) in coded.items()}
    if sample_weight is not None:
        for key, (_, code) in coded.items():
            on_data = np.bincount(code, sample_weight, n_cells[key])
            drawn = weights.sums_by_code(units, sample_weight, code, n_cells[key])
            by_table[key] = np.column_stack((on_data, drawn))
        return weights.sums(units, terms)[0], by_table
    sums = None
    for keys in _together(n_cells):
        sizes = [n_cells[key] for key in keys]
        code = np.ravel_multi_index([coded[key][1] for key in keys], sizes)
        # The terms are added up with the first set of tables.
        own_terms = terms if sums is None else None
        of_terms, by_code = weights.sums(units, own_terms, code, int(np.prod(sizes)))
        sums = of_terms if sums is None else sums
        of_cells = np.column_stack((np.bincount(code, minlength=len(by_code)), by_code))
        both = of_cells.reshape(*sizes, -1)
        for k, key in enumerate(keys):
            others = tuple(axis for axis in range(len(sizes)) if axis != k)
            by_table[key] = both.sum(axis=others) if others else both
    return weights.sums(units, terms)[0] if sums is None else sums, by_table


def _resampled_groups(
    settings: StreamSettings,
    units: Words,
    drawn: tuple[Words, NDArray[np.intp]],
    terms: Floats,
    coded: Mapping[tuple[str, int], tuple[Table, NDArray[np.intp]]],
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
        of_cells = settings.weights.sums_by_code(own_groups[at], size, cell, table.n_cells)
        on_data = np.bincount(code, sample_weight, table.n_cells)
        by_table[key] = np.column_stack((on_data, of_cells))
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


def _checked(table: Table, key: tuple[str, int], settings: StreamSettings) -> Table:
    """Return the table of two, of scores in no more intervals than asked for."""
    if key[0] == LABELS:
        _check_size(table.n_cells, settings)
        return table
    if key[0] == SCORES:
        check_classes(table.labels, settings.caller)
    return table.within(settings.n_bins)


def _check_size(n_cells: int, settings: StreamSettings) -> None:
    """Refuse so many pairs of labels that their sums take too much memory."""
    if n_cells * (1 + settings.n_resamples) * 8 > _MOST_BYTES:
        must = f"hold labels whose pairs fit {_MOST_BYTES >> 20} MB of sums"
        got = f"{n_cells} pairs of labels with {settings.n_resamples} resamples each"
        advice = "Use fewer resamples, or metrics that are means of rows."
        raise fail(settings.caller, "y_true", must, got, advice)


def check_classes(labels: NDArray[Any], caller: str) -> None:
    """Refuse more than two labels beside scores of one class."""
    if len(labels) > 2:
        must = "hold two classes for a metric of the order of scores"
        advice = "Score a class against the others: y_true == label, and its column of y_pred."
        raise fail(caller, "y_true", must, f"the labels {labels.tolist()[:5]}", advice)
