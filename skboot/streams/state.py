"""State of a stream: sums of all rows so far, which add up to those of two streams together.

A batch is made a state of its own and added, and so are shards: one way of adding, whatever the
partition. `StreamSettings` are what two states must have in common.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import sklearn.metrics
from numpy.typing import NDArray

from .. import metrics as own_metrics
from .._base import checks as check
from .._base.arguments import Anytime
from .._base.checks import category_order, fail, is_column
from .._base.errors import Note, Notes, collected, parts_of
from .._base.values import bytes_of_arrays
from .._base.work import child_seed
from ..inference.intervals import first_look_of, method_of
from ..metrics.cells import encode, label_counts
from ..metrics.lookup import averaging, resolve_metrics
from ..metrics.responses import doubts
from ..metrics.statistic import Floats, Statistic
from ..resampling.design import words_of_groups
from ..resampling.streamed import PoissonWeights, Words
from ..study.rows import Rows, Scoring, check_averaged, check_columns, checked_rows
from .sums import (
    FINE_SCORES,
    LABELS,
    NOTHING,
    SCORES,
    CellTable,
    CodedTable,
    ColumnsReading,
    ExactSums,
    KeptSums,
    MetricReading,
    StreamedMetric,
    bits_of,
    cells_within,
    distinct_cells,
    in_text,
    joined_ends,
    joined_labels,
    reading_of,
    spare_bits,
)

# ------------------------------------------------------------------ rows of few units

# Below `FEWEST_UNITS` a Poisson number of units is nowhere near the number there are. So few rows
# fit into memory: they are kept beside the sums until there are enough, and scored as rows that
# were given at once.


FEWEST_UNITS = 30
# Numbers and texts that are kept at most: few groups may have any number of rows.
MOST_VALUES = 1 << 20
# Names of columns; those of predictions are followed by the number of the system.
UNIT, TRUTH, WEIGHT, PREDICTED = "unit", "y_true", "sample_weight", "y_pred "


@dataclass(frozen=True, eq=False)
class FewRows:
    """Rows of few units, batch by batch.

    Attributes
    ----------
    batches : tuple of dict of str to ndarray
        Columns of each batch: the key of each row's unit, truth, weights and predictions.
    """

    batches: tuple[Mapping[str, NDArray[Any]], ...]

    @classmethod
    def of(cls, rows: Sequence[Rows], keys: NDArray[Any]) -> FewRows | None:
        """Return the rows of a batch, of each system; None where they cannot be kept.

        Labels of several types cannot, nor what is neither a number nor a text.
        """
        arguments = {UNIT: keys, TRUTH: rows[0].y_true, WEIGHT: rows[0].sample_weight}
        arguments |= {f"{PREDICTED}{k}": system_rows.y_pred for k, system_rows in enumerate(rows)}
        columns: dict[str, NDArray[Any]] = {}
        column: Any
        for name, column in arguments.items():
            if column is None:
                continue
            # A type that does not depend on the batch.
            if column.dtype.kind in "iu" and column.dtype != np.uint64:
                column = column.astype(np.int64)
            if column.dtype.kind == "S":
                column = np.char.decode(column, "latin-1")
            if column.dtype.kind == "U":
                column = column.astype(f"U{max(int(np.char.str_len(column).max()), 1)}")
            if column.dtype.kind not in "biufU":
                return None
            columns[name] = column
        return cls((columns,))._if_bounded()

    def plus(self, rows: FewRows) -> FewRows | None:
        """Return the rows of both; None where these cannot be kept together."""
        kinds, kinds_b = (
            {name: (column.dtype.kind == "U", column.shape[1:]) for name, column in batch.items()}
            for batch in (self.batches[0], rows.batches[0])
        )
        if kinds != kinds_b:
            return None
        return FewRows((*self.batches, *rows.batches))._if_bounded()

    def _if_bounded(self) -> FewRows | None:
        """Return the rows; None where there are more values than are kept."""
        n_values = sum(column.size for batch in self.batches for column in batch.values())
        return self if n_values <= MOST_VALUES else None

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]] | None:
        """Columns of all rows in the order of their keys, those of a group in that of their values.

        None where one type does not hold the values of all batches.
        """
        joined = {}
        for name in self.batches[0]:
            parts = [batch[name] for batch in self.batches]
            joined[name] = np.concatenate(parts)
            ends = np.cumsum([len(part) for part in parts])[:-1]
            for part, converted in zip(parts, np.split(joined[name], ends), strict=True):
                # Floats round integers above 2**53.
                if not np.array_equal(converted.astype(part.dtype), part):
                    return None
        # Rows are in the order of their keys, truth, predictions and weight.
        kinds = [UNIT, TRUTH, PREDICTED, WEIGHT]
        names = sorted(
            joined, key=lambda name: (kinds.index(name.rstrip("0123456789")), len(name), name)
        )
        keys = [column for name in names for column in np.atleast_2d(joined[name].T)]
        order = np.lexsort(keys[::-1])
        return {name: column[order] for name, column in joined.items()}


# ------------------------------------------------------------------ settings and state

# Number of rows from which pairs of labels are counted before resamples are drawn.
FEWEST_COUNTED = 20_000
# Intervals of a score, if no other number is asked for: 8 MB of sums for 1000 resamples.
N_BINS = 1024
# How many times as many there are for the data alone, which have one sum where resamples have a
# thousand: 5 MB; and above how many there are as many as asked for: 84 MB.
FINER, MOST_FINE = 64, 1 << 20
# Units that are distinguished by the numbers of rows, which are kept as ranges.
NUMBERED = ("start", "arrival")
# Hashes of groups that are kept; as many groups are counted exactly.
GROUPS_KEPT = 1 << 16
# Bytes of the sums of one table, at eight for each; more pairs of labels than that are refused.
_MOST_BYTES = 1 << 29
# Bytes of the sums of all scores of several classes, were there a sum in each of their intervals.
_MOST_BYTES_OF_COLUMNS = 1 << 31
# What to do where rows are added again.
_NEW_ROWS = "be of rows that were not added before"
_ADDED_ONCE = "Add each row once: leave out what a worker that tried again has added before."
# Number of intervals of a score below which a message does not offer them.
_FEWEST_BINS = 16


# Kind of a table, and the number of the system that it is of.
TableKey = tuple[str, int]


@dataclass(frozen=True, eq=False)
class StreamSettings:
    """Checked arguments of an accumulator; ``systems`` is (None,) without systems.

    Where pairs of labels are ``counted``, resamples are drawn of the counts of all rows, and none
    of a batch; see `StreamState.with_resamples`. They are from many rows on where they
    ``may_be_counted``: nothing else is read, and no other stream will be added.
    """

    metric: Any
    seed: np.random.SeedSequence
    n_resamples: int
    systems: tuple[str | None, ...]
    labels: NDArray[Any] | None
    n_bins: int
    confidence_level: float
    interval: str | Anytime
    greater_is_better: bool | None
    pos_label: Any
    may_be_counted: bool = False
    counted: bool = False

    def __post_init__(self) -> None:
        # Labels in bytes are text in a stream, and so is what names them.
        object.__setattr__(self, "labels", in_text(self.labels))
        if isinstance(self.pos_label, bytes):
            object.__setattr__(self, "pos_label", in_text(np.array([self.pos_label])).tolist()[0])

    def for_rows(self, n_rows: int) -> StreamSettings:
        """Return the settings for so many rows in all."""
        if not self.may_be_counted or n_rows < FEWEST_COUNTED:
            return self
        return replace(self, counted=True)

    @property
    def n_drawn(self) -> int:
        """Number of resamples that are drawn of each batch."""
        return 0 if self.counted else self.n_resamples

    @cached_property
    def readings(self) -> dict[str, MetricReading]:
        """How each metric is read, by its name."""
        readings = {
            name: reading_of(statistic, counted=self.counted)
            for name, statistic in self._resolved[0].items()
        }
        # Averages over so many classes are refused that their histograms may not fit.
        averages = {
            name: reading
            for name, reading in readings.items()
            if isinstance(reading, ColumnsReading)
        }
        sides = {kind: reading.n_sides for reading in averages.values() for kind in reading.tables}
        per_bin = sum(sides.values()) * len(self.systems) * (1 + self.n_resamples) * 8
        if per_bin * self.n_bins > _MOST_BYTES_OF_COLUMNS:
            must = f"hold averages over classes whose sums fit {_MOST_BYTES_OF_COLUMNS >> 20} MB"
            n_classes = max(len(reading.labels) for reading in averages.values())
            got = (
                f"{' and '.join(map(repr, averages))} of {n_classes} classes, which may take "
                f"{per_bin * self.n_bins >> 20} MB with {self.n_resamples} resamples"
            )
            advice = "Use fewer resamples, or one class against the others."
            if (n_bins := _MOST_BYTES_OF_COLUMNS // per_bin) >= _FEWEST_BINS:
                advice = f"Use fewer resamples, or BootstrapAccumulator with n_bins={n_bins}."
            raise fail("metric", must, got, advice)
        return readings

    @property
    def statistics(self) -> dict[str, list[Statistic]]:
        """The metrics, by their names; in lists, as those of several systems are."""
        return {name: [reading.statistic] for name, reading in self.readings.items()}

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
            pos_label=self.pos_label,
        )

    @property
    def scoring(self) -> Scoring:
        """The metric and its options, as functions take them that have all rows at once."""
        return Scoring(
            metric=self.metric,
            greater_is_better=self.greater_is_better,
            pos_label=self.pos_label,
            labels=self.labels,
        )

    @cached_property
    def weights(self) -> PoissonWeights:
        """Weights of units in resamples."""
        return PoissonWeights(self.seed, self.n_drawn)

    @cached_property
    def n_terms(self) -> int:
        """Sums of terms of all metrics and systems, with that of the weights."""
        return 1 + len(self.systems) * sum(reading.n_terms for reading in self.readings.values())

    @cached_property
    def tables(self) -> list[TableKey]:
        """Kinds of tables, and of which system each is."""
        kinds = sorted({kind for reading in self.readings.values() for kind in reading.tables})
        return [(kind, system) for kind in kinds for system in range(len(self.systems))]

    def bins_of(self, kind: str) -> int:
        """Return how many intervals of a score a kind of table may have."""
        finer = max(min(FINER * self.n_bins, MOST_FINE), self.n_bins)
        return finer if kind == FINE_SCORES else self.n_bins


@dataclass(frozen=True, eq=False)
class StreamState:
    """Sums of the rows of a stream.

    Attributes
    ----------
    terms : ExactSums
        Sums of shape (n_terms, 2 + n_resamples): of the sizes of what rows add, of what they add to
        the data, and to each resample. The first term is the weight of a row.
    largest : ndarray of shape (n_terms,)
        Largest size of what one row adds.
    zero_one : ndarray of shape (n_terms,)
        Whether each row of weight 1 adds 0 or 1.
    tables : dict of tuple to CellTable
        Tables by kind and system.
    n_rows : int
    unit : {"", "start", "ids", "groups", "arrival"}
        What the units are distinguished by; "" before the first row.
    ranges : ndarray of shape (n_ranges, 2)
        First and last number of each run of rows that are distinguished by numbers, rising; no
        two of them touch.
    groups : ndarray of shape (n_kept,)
        Smallest hashes of groups, rising.
    weighted : bool
        Whether rows carry weights.
    doubts : tuple of Note
        Warnings of predictions that are hardly what was meant, which no file keeps.
    in_columns : bool
        Whether predictions have a column for each class.
    few_rows : FewRows or None
        The rows themselves, of few units.
    named : str
        Name of the user's column of groups, the same in all batches; else empty.
    """

    terms: ExactSums
    largest: Floats
    zero_one: NDArray[np.bool_]
    tables: dict[TableKey, CellTable] = field(default_factory=dict)
    n_rows: int = 0
    unit: str = ""
    groups: Words = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    weighted: bool = False
    doubts: tuple[Note, ...] = ()
    in_columns: bool = False
    ranges: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    few_rows: FewRows | None = None
    named: str = ""

    @classmethod
    def empty(cls, settings: StreamSettings) -> StreamState:
        """Return the state before the first row."""
        n = settings.n_terms
        columns = 2 + settings.n_drawn
        return cls(ExactSums.zeros(n, columns), np.zeros(n), np.ones(n, dtype=bool))

    @property
    def n_units(self) -> int:
        """Number of rows or groups; of very many groups an estimate (Beyer et al. 2007)."""
        if self.unit != "groups":
            return self.n_rows
        if len(self.groups) < GROUPS_KEPT:
            return len(self.groups)
        return round((GROUPS_KEPT - 1) / (float(self.groups[-1]) / 2.0**64))

    @property
    def has_few(self) -> bool:
        """Whether the rows themselves are known."""
        return self.few_rows is not None and self.few_rows.columns is not None

    def plus(self, state: StreamState, settings: StreamSettings) -> StreamState:
        """Return the state of the rows of both; refuse rows that both have."""
        if not state.unit:
            return self
        if not self.unit:
            return state
        ranges = joined_ranges(self.ranges, state.ranges)
        few_rows = (
            self.few_rows.plus(state.few_rows)
            if self.few_rows is not None and state.few_rows is not None
            else None
        )
        if few_rows is not None and self.unit == "ids":
            ids = np.concatenate([batch[UNIT] for batch in few_rows.batches])
            if len(np.unique(ids)) < len(ids):
                raise fail("ids", _NEW_ROWS, "some id twice", _ADDED_ONCE)
        groups = np.union1d(self.groups, state.groups)[:GROUPS_KEPT]
        tables = {}
        for (kind, system), table in self.tables.items():
            table = table + state.tables[kind, system]
            if kind == LABELS:
                check_table_size(table.n_cells, settings)
            else:
                if kind == SCORES:
                    check_classes(table.labels)
                table = table.within(settings.bins_of(kind))
            tables[kind, system] = table
        total = replace(
            self,
            terms=self.terms + state.terms,
            largest=np.maximum(self.largest, state.largest),
            zero_one=self.zero_one & state.zero_one,
            tables=tables,
            n_rows=self.n_rows + state.n_rows,
            groups=groups,
            doubts=(*self.doubts, *state.doubts)[:1],
            in_columns=self.in_columns or state.in_columns,
            ranges=ranges,
            few_rows=None,
            named=self.named if self.named == state.named else "",
        )
        if few_rows is None or total.n_units >= FEWEST_UNITS:
            return total
        return replace(total, few_rows=few_rows)

    def with_resamples(self, settings: StreamSettings) -> StreamState | None:
        """Return the state of counts of all rows with their counts in each resample.

        A sum of Poisson weights of rows is a Poisson number, so that the distribution is that of
        rows which are drawn one by one. Each count has a stream of its own. None where counts are
        so many that memory does not hold them: such labels are drawn one by one.
        """
        [(key, table)] = self.tables.items()
        if table.n_cells * (1 + settings.n_resamples) * 8 > _MOST_BYTES:
            return None
        counts = table.sums.values()[:, 0].astype(np.int64)
        resampled = np.empty((len(counts), 1 + settings.n_resamples), dtype=np.int64)
        resampled[:, 0] = counts
        for cell, n in enumerate(counts):
            rng = np.random.Generator(np.random.SFC64(child_seed(settings.seed, 1 + cell)))
            resampled[cell, 1:] = rng.poisson(n, settings.n_resamples)
        sizes = resampled.sum(axis=0)
        terms = ExactSums.of(np.append(sizes[0], sizes)[None])
        return replace(
            self, terms=terms, tables={key: replace(table, sums=ExactSums.of(resampled))}
        )

    def read(self, settings: StreamSettings) -> dict[str, list[StreamedMetric]]:
        """Return each metric of each system on the data and on every resample, by metric."""
        values: dict[str, list[StreamedMetric]] = {name: [] for name in settings.readings}
        # The first sums are of the weights; those of terms are by metric, and by system.
        start = 1
        for name, reading in settings.readings.items():
            for system in range(len(settings.systems)):
                place = slice(start, start + reading.n_terms)
                start = place.stop
                summary = KeptSums(
                    self.terms.values(rows=[0, *range(place.start, place.stop)]),
                    self.largest[place],
                    bool(self.zero_one[place].all()),
                    [self.tables[kind, system] for kind in reading.tables],
                    self.n_rows,
                    self.weighted,
                )
                values[name].append(reading.read(summary))
        return values


def joined_ranges(ranges: NDArray[np.int64], ranges_b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the runs of rows of both, those that touch as one; refuse runs that overlap."""
    runs = np.concatenate((ranges, ranges_b))
    if not len(ranges) or not len(ranges_b):
        return runs
    start, last = runs[np.argsort(runs[:, 0], kind="stable")].T
    overlaps = start[1:] <= last[:-1]
    if overlaps.any():
        k = int(np.argmax(overlaps))
        got = f"rows {start[k + 1]} to {min(last[k], last[k + 1])} again"
        raise fail("start", _NEW_ROWS, got, _ADDED_ONCE)
    apart = start[1:] > last[:-1] + 1
    return np.column_stack((start[np.append(True, apart)], last[np.append(apart, True)]))


def check_table_size(n_cells: int, settings: StreamSettings) -> None:
    """Refuse so many pairs of labels that their sums take too much memory."""
    if n_cells * (1 + settings.n_drawn) * 8 > _MOST_BYTES:
        must = f"hold labels whose pairs fit {_MOST_BYTES >> 20} MB of sums"
        got = f"{check.counted(n_cells, 'pair of labels')} with {settings.n_drawn} resamples each"
        advice = "Use fewer resamples, or metrics that are means of rows."
        raise fail("y_true", must, got, advice)


def check_classes(labels: NDArray[Any]) -> None:
    """Refuse more than two labels beside scores of one class."""
    if len(labels) > 2:
        must = "hold two classes for a metric of the order of scores"
        advice = "Score a class against the others: y_true == label, and its column of y_pred."
        raise fail("y_true", must, f"the labels {labels.tolist()[:5]}", advice)


# ------------------------------------------------------------------ the state of one batch


# Pairs of codes of two tables that are summed together.
_JOINT_CODES = 256


def state_of_batch(
    settings: StreamSettings,
    rows: Sequence[Rows],
    units: Words,
    unit: str,
    bits_dropped: Mapping[TableKey, int],
) -> StreamState:
    """Return the state of one batch.

    Parameters
    ----------
    settings : StreamSettings
    rows : sequence of Rows
        Rows of each system.
    units : ndarray of shape (n_rows,)
        Hash of the unit of each row.
    unit : {"start", "ids", "groups"}
    bits_dropped : mapping
        By table of scores, bits that other batches have dropped.
    """
    sample_weight = rows[0].sample_weight
    coded: dict[TableKey, CodedTable] = {}
    for kind, system in settings.tables:
        dropped = bits_dropped.get((kind, system), 0)
        if kind == SCORES and (FINE_SCORES, system) in coded:
            coded[kind, system] = _coarser_cells(settings, coded[FINE_SCORES, system], dropped)
        else:
            coded[kind, system] = _cells_of_batch(settings, rows[system], kind, dropped)
    # What each row adds to each sum, before its weight.
    reading_terms = [
        reading.terms(system_rows)
        for reading in settings.readings.values()
        if reading.n_terms
        for system_rows in rows
    ]
    terms = np.vstack([np.ones((1, rows[0].n_samples)), *reading_terms])
    largest = np.abs(terms).max(axis=1)
    if not np.all(np.isfinite(largest)):
        must = "give a finite value of each metric for every row"
        raise fail("y_pred", must, "an infinite one")
    zero_one = np.all((terms == 0) | (terms == 1), axis=1) & (sample_weight is None)
    if sample_weight is not None:
        terms *= sample_weight
        largest = np.abs(terms).max(axis=1)
    resampled = {key: item for key, item in coded.items() if key[0] != FINE_SCORES}
    # Rows are units of their own, which need no sorting.
    groups, group = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.intp)
    if unit == "groups":
        groups, group = np.unique(units, return_inverse=True)
    if 0 < 2 * len(groups) <= len(units):
        grouped = groups, group.reshape(-1)
        sums, table_sums = _resampled_sums_of_groups(
            settings, units, grouped, terms, resampled, sample_weight
        )
    else:
        sums, table_sums = _resampled_sums(settings, units, terms, resampled, sample_weight)
    for key in coded.keys() - resampled.keys():
        table, code = coded[key]
        table_sums[key] = np.bincount(code, sample_weight, table.n_cells)[:, None]
    sums = np.column_stack((np.abs(terms).sum(axis=1), terms.sum(axis=1), sums))
    return StreamState(
        ExactSums.of(sums),
        largest,
        zero_one,
        {key: replace(coded[key][0], sums=ExactSums.of(table_sums.pop(key))) for key in coded},
        len(units),
        unit,
        groups[:GROUPS_KEPT],
        sample_weight is not None,
        in_columns=any(item.y_pred.ndim == 2 for item in rows),
    )


def _cells_of_batch(
    settings: StreamSettings, rows: Rows, kind: str, bits_dropped: int
) -> CodedTable:
    """Return the table of a batch without its sums, and the cell of each row."""
    reading: Any = next(
        candidate for candidate in settings.readings.values() if kind in candidate.tables
    )
    y_true, predicted = reading.columns(rows, kind)
    truth = _label_array(y_true, "y_true")
    labels = label_counts(truth)[0]
    if kind == LABELS:
        decided = _label_array(predicted, "y_pred")
        labels = joined_labels(labels, label_counts(decided)[0])
        truth_code, decision_code = encode(truth, labels), encode(decided, labels).astype(np.uint64)
        cells = distinct_cells(truth_code, decision_code)
        check_table_size(len(cells[0]), settings)
        return CellTable(labels, cells[0], cells[1], NOTHING), cells[2]
    bits, n_bins = bits_of(predicted), settings.bins_of(kind)
    return cells_within(labels, encode(truth, labels), bits, bits_dropped, n_bins)


def _coarser_cells(settings: StreamSettings, fine: CodedTable, bits_dropped: int) -> CodedTable:
    """Return the cells of scores in the intervals of resamples, from the cells of the data."""
    table, code = fine
    assert table.shift is not None
    shift = max(bits_dropped, table.shift)
    bits = table.keys >> np.uint64(shift - table.shift)
    spare = spare_bits(np.unique(bits), settings.n_bins)
    truth, interval, cell = distinct_cells(table.truth, bits >> np.uint64(spare))
    assert table.ends is not None
    ends = joined_ends(table.ends, cell, len(truth))
    return CellTable(table.labels, truth, interval, NOTHING, shift + spare, ends), cell[code]


def _label_array(y: NDArray[Any] | None, name: str) -> NDArray[Any]:
    """Return labels as an array of numbers or of text."""
    assert y is not None
    labels = np.array(y.tolist()) if y.dtype.kind == "O" else y
    if labels.dtype.kind not in "biufU":
        raise fail(name, "hold labels that are numbers, or text", f"{labels.dtype}")
    return labels


def _resampled_sums(
    settings: StreamSettings,
    units: Words,
    terms: Floats,
    coded: Mapping[TableKey, CodedTable],
    sample_weight: Floats | None,
) -> tuple[Floats, dict[TableKey, NDArray[Any]]]:
    """Return the sums of terms on resamples, and those of cells on the data and on resamples."""
    weights = settings.weights
    table_sums: dict[TableKey, NDArray[Any]] = {}
    n_cells = {key: table.n_cells for key, (table, _) in coded.items()}
    if sample_weight is not None:
        for key, (_, code) in coded.items():
            data_weights = np.bincount(code, sample_weight, n_cells[key])
            table_sums[key] = weights.sums_by_code(units, sample_weight, code, data_weights)
        return weights.sums(units, terms)[0], table_sums
    # Tables of few cells are summed together.
    sets: list[list[TableKey]] = []
    joint = _JOINT_CODES + 1
    for key, n in sorted(n_cells.items(), key=lambda item: item[1]):
        if joint * n > _JOINT_CODES:
            sets.append([])
            joint = 1
        sets[-1].append(key)
        joint *= n
    sums = None
    for keys in sets:
        sizes = [n_cells[key] for key in keys]
        codes = [coded[key][1] for key in keys]
        code = codes[0] if len(codes) == 1 else np.ravel_multi_index(codes, sizes)
        data_weights = np.bincount(code, minlength=int(np.prod(sizes)))
        # The terms are added up with the first set of tables.
        terms_of_set = terms if sums is None else None
        term_sums, code_sums = weights.sums(units, terms_of_set, code, data_weights)
        sums = term_sums if sums is None else sums
        joint_sums = code_sums.reshape(*sizes, -1)
        for k, key in enumerate(keys):
            axes = tuple(axis for axis in range(len(sizes)) if axis != k)
            table_sums[key] = (
                joint_sums.sum(axis=axes, dtype=joint_sums.dtype) if axes else joint_sums
            )
    return weights.sums(units, terms)[0] if sums is None else sums, table_sums


def _resampled_sums_of_groups(
    settings: StreamSettings,
    units: Words,
    grouped: tuple[Words, NDArray[np.intp]],
    terms: Floats,
    coded: Mapping[TableKey, CodedTable],
    sample_weight: Floats | None,
) -> tuple[Floats, dict[TableKey, NDArray[Any]]]:
    """Return the sums of `_resampled_sums`, with rows of a group added up before it is drawn.

    ``grouped`` are the groups and the group of each row. Where most rows of a group are in cells of
    their own, there is nothing to add up.
    """
    distinct_groups, group = grouped
    table_sums, ungrouped = {}, {}
    for key, (table, code) in coded.items():
        pairs, pair_of_row = np.unique(group * table.n_cells + code, return_inverse=True)
        if 2 * len(pairs) > len(units):
            ungrouped[key] = table, code
            continue
        size = np.bincount(pair_of_row.reshape(-1), sample_weight, len(pairs)).astype(np.float64)
        group_of_pair, cell = np.divmod(pairs, table.n_cells)
        data_weights = np.bincount(code, sample_weight, table.n_cells)
        table_sums[key] = settings.weights.sums_by_code(
            distinct_groups[group_of_pair], size, cell, data_weights
        )
    if ungrouped:
        table_sums |= _resampled_sums(settings, units, terms[:0], ungrouped, sample_weight)[1]
    group_terms = np.array([np.bincount(group, term, len(distinct_groups)) for term in terms])
    return settings.weights.sums(distinct_groups, group_terms)[0], table_sums


# ------------------------------------------------------------------ rows as they are given


# Rows that are made a state at a time: their terms and codes take some 10 MB, and adding the state
# of a thousand intervals of scores takes a twentieth of the time that its weights take.
ROWS_AT_ONCE = 1 << 18
# Maximum number of rows of the whole data, whose numbers are hashed as integers of 64 bits.
_MOST_ROWS = 1 << 63
# Arguments of an update that distinguish units, and how a message calls each.
UNITS = "start, ids or groups"
WORDS = {"start": "start", "ids": "ids", "groups": "groups", "arrival": "the order of arrival"}


def part_added(
    settings: StreamSettings, state: StreamState, columns: Mapping[str, Any], start: int
) -> StreamState:
    """Return a state with the rows of a part of the data, some of them at a time.

    Parameters
    ----------
    settings : StreamSettings
    state : StreamState
    columns : mapping of str to array
        Truth, groups and weights by these names, where they are given; all others are predictions,
        by the names of their arguments, in the order of the systems.
    start : int
        Number of the first row, which distinguishes rows where there are no groups.
    """
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    n_rows = check.check_same_length(**arrays)
    for offset in range(0, n_rows, ROWS_AT_ONCE):
        batch = {name: column[offset : offset + ROWS_AT_ONCE] for name, column in arrays.items()}
        truth, groups = batch.pop("y_true", None), batch.pop("groups", None)
        weights = batch.pop("sample_weight", None)
        unit, ids = ("start", start + offset) if groups is None else ("groups", groups)
        try:
            state = batch_added(settings, state, truth, batch, weights, unit, ids)
        except ValueError as error:
            if (bad := parts_of(error)) is None:
                raise
            got = f"{bad.got}, in the batch of rows from {start + offset} on"
            raise bad._replace(got=got).error() from error.__cause__
    return state


def batch_added(
    settings: StreamSettings,
    state: StreamState,
    y_true: Any,
    predicted: Mapping[str, Any],
    sample_weight: Any,
    unit: str,
    ids: Any,
) -> StreamState:
    """Return a state with the rows of a batch.

    Parameters
    ----------
    settings : StreamSettings
    state : StreamState
    y_true, sample_weight : array-like of shape (n_rows,) or None
    predicted : mapping of str to array-like
        Predictions of each system by the name of the argument.
    unit : {"start", "ids", "groups", "arrival"}
    ids : int, array-like of shape (n_rows,) or None
        Number of the first row, labels of the units, or None in the order of arrival.

    Raises
    ------
    ValueError
        For arguments that cannot be right, or that do not fit the rows before.
    """
    weights = None if sample_weight is None else _checked_weights(sample_weight)
    rows, notes = [], Notes()
    for name, column in predicted.items():
        checked = checked_rows(y_true, column, None, settings.labels, name)
        checked = replace(checked, y_true=in_text(checked.y_true), y_pred=in_text(checked.y_pred))
        check.check_same_length(**{name: checked.y_pred, "sample_weight": weights})
        if checked.y_true is not None:
            check.check_no_missing("y_true", checked.y_true)
        check.check_no_missing(name, checked.y_pred, check.OF_MISSING_PREDICTIONS)
        with collected(notes):
            rows.append(_checked_batch(settings, replace(checked, sample_weight=weights), name))
        # Labels that are hardly those of the truth.
        system_columns = (checked.y_true, checked.y_pred, checked.labels, name)
        metrics = [reading.statistic for reading in settings.readings.values()]
        read = [(metric, *system_columns) for metric in metrics if not checked.decides(metric)]
        notes += doubts(read, is_part=True)
    if state.unit and unit != state.unit:
        must = f"identify rows by {WORDS[state.unit]}, as in other batches"
        raise check.fail(UNITS, must, WORDS[unit])
    if state.unit and (sample_weight is not None) != state.weighted:
        must = f"be {'given' if state.weighted else 'None'}, as in other batches"
        got = "None" if sample_weight is None else "weights"
        raise check.fail("sample_weight", must, got)
    start = state.n_rows if unit == "arrival" else ids
    keys, ranges = _unit_keys(unit, start, rows[0].n_samples)
    units = settings.weights.units(keys)
    if unit == "ids" and len(np.unique(units)) < len(units):
        must = "be different for all rows"
        advice = "Rows that belong together have groups= in common."
        raise check.fail("ids", must, "some id twice", advice)
    dropped = {key: table.shift or 0 for key, table in state.tables.items()}
    batch = state_of_batch(settings, rows, units, unit, dropped)
    may_be_few = (not state.unit or state.few_rows is not None) and batch.n_units < FEWEST_UNITS
    few_rows = FewRows.of(rows, keys) if may_be_few else None
    named = words_of_groups(ids).named if unit == "groups" else ""
    batch = replace(batch, ranges=ranges, few_rows=few_rows, named=named)
    for (kind, _), table in batch.tables.items():
        if kind == SCORES:
            check_classes(table.labels)
    return state.plus(replace(batch, doubts=tuple(notes[:1])), settings)


def _checked_weights(sample_weight: Any) -> NDArray[np.float64] | None:
    """Return weights on a scale that all batches can have: none knows the weights of others."""
    weights = check.check_rows("sample_weight", sample_weight)
    if weights.ndim != 1 or weights.dtype.kind not in "iubf":
        return check.check_weights(sample_weight)
    weights = weights.astype(np.float64)
    low, high = 2.0**-100, 2.0**100
    bad = (weights != 0) & ~((low <= weights) & (weights <= high))
    if bad.any():
        must = f"hold 0 or numbers from {low:.2g} to {high:.2g}"
        advice = "Multiply the weights of all batches by the same number."
        raise check.fail("sample_weight", must, f"values such as {weights[bad][0]:g}", advice)
    return weights


def _checked_batch(settings: StreamSettings, rows: Rows, name: str) -> Rows:
    """Return the rows of a system if the metrics can take them."""
    if rows.y_true is not None and not is_column(rows.y_true):
        must = "hold one label or number a row: streams have no sums of several columns"
        advice = "Give y_true[:, k], y_pred[:, k], or all rows to bootstrap_score."
        raise check.fail("y_true", must, f"shape {rows.y_true.shape}", advice)
    if rows.y_pred.ndim == 2 and rows.y_true is not None:
        with check.arguments_named({"y_pred": name}):
            for reading in settings.readings.values():
                check_columns(rows, reading.statistic)
        if settings.labels is None:
            must = "be given where predictions have columns"
            advice = "Give all labels, in the order of the columns: a batch may lack some."
            raise check.fail("labels", must, "None", advice)
    statistics = {name: reading.statistic for name, reading in settings.readings.items()}
    averaged = averaging(settings.metric, statistics) if settings.labels is not None else ()
    order = category_order(rows.y_true, rows.y_pred)
    for metric, statistic in statistics.items():
        unsigned = statistic.unsigned or statistic
        if settings.labels is not None:
            if metric in averaged and unsigned.labels is None and rows.y_pred.ndim == 1:
                must = f"be None beside one label a row for the metric {metric!r} of a stream"
                advice = "Bind them to the metric: functools.partial(f1_score, labels=..., ...)."
                raise check.fail("labels", must, f"{settings.labels.tolist()[:5]}", advice)
            check_averaged(statistic, rows, False)
        if order is None or unsigned.labels is not None or order.tolist() == sorted(order.tolist()):
            continue
        if unsigned.orders_labels or (unsigned.greater_is_positive and unsigned.pos_label is None):
            # A batch may lack some of the categories.
            must = f"hold categories whose order is that of their names, for {metric!r} of a stream"
            advice = (
                f"Give numbers (.cat.codes), or of two classes pos_label={order.tolist()[-1]!r}."
            )
            raise check.fail("y_true", must, f"the categories {order.tolist()[:5]}", advice)
    for reading in settings.readings.values():
        if settings.labels is None and reading.assumes_zero_one and rows.y_true is not None:
            labels = label_counts(rows.y_true)[0].tolist()
            # A batch cannot know others to be all.
            if not set(labels) <= {0, 1}:
                must = "be given for probabilities of other labels than 0 and 1"
                advice = "Give all labels, in the order of the columns: a batch may lack some."
                raise check.fail("labels", must, f"None, with {labels[:5]} in y_true", advice)
        if rows.y_true is None and reading.tables:
            must = f"hold the true labels for the metric {reading.statistic.name!r}"
            raise check.fail("y_true", must, "None")
        with check.arguments_named({"y_pred": name}):
            reading.check(rows, name)
    return rows


def _unit_keys(argument: str, ids: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the labels that distinguish the units of rows, and the run of the rows' numbers."""
    if argument in NUMBERED:
        start = check.check_count("start", ids, 0)
        if start + n_rows > _MOST_ROWS:
            must = "be the number of the first row in the whole data, of fewer than 2**63 rows"
            raise check.fail("start", must, f"{start}")
        numbers = np.arange(start, start + n_rows)
        return numbers, np.array([[start, start + n_rows - 1]], dtype=np.int64)
    keys = check.check_column(argument, ids)
    if keys.dtype.kind == "O":
        keys = np.array(keys.tolist())
    if keys.dtype.kind not in "biuUS":
        got = f"values such as {keys[:1].tolist()[0]!r}"
        raise check.fail(argument, "hold integers or text", got)
    if len(keys) != n_rows:
        must = f"have an entry for each of the {n_rows} rows"
        raise check.fail(argument, must, f"{len(keys)}")
    return keys, np.empty((0, 2), dtype=np.int64)


# ------------------------------------------------------------------ as bytes and from bytes
#
# Metrics are named, and names are looked up among the public ones alone; `skboot._base.values` has
# the arrays.


_MODULES = {"sklearn.metrics": sklearn.metrics, "skboot.metrics": own_metrics}


def metric_record(metric: Any) -> Any:
    """Return a metric as JSON holds it; refuse one without a public name."""
    if isinstance(metric, str):
        return str(metric)
    if isinstance(metric, Mapping):
        return {"by name": {str(name): metric_record(entry) for name, entry in metric.items()}}
    if isinstance(metric, list | tuple):
        return [metric_record(entry) for entry in metric]
    if isinstance(metric, partial) and not metric.args:
        plain = {
            name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
            for name, value in metric.keywords.items()
        }
        options = None
        with suppress(TypeError, ValueError):
            options = json.loads(json.dumps(plain))
        if options is not None:
            return {"function": metric_record(metric.func), "options": options}
    for module, public in _MODULES.items():
        name = getattr(metric, "__name__", "")
        if name in public.__all__ and getattr(public, name) is metric:
            return {"function": f"{module}.{name}", "options": {}}
    must = "be a scoring name, or a function of sklearn.metrics or skboot.metrics"
    advice = (
        "A stream is saved and merged by the names of its metrics; functools.partial may set "
        "options that are numbers, texts, None, or lists of these."
    )
    raise fail("metric", must, repr(metric), advice)


def metric_of_record(record: Any) -> Any:
    """Return the metric of a record."""
    if isinstance(record, str):
        return record
    if isinstance(record, list):
        return [metric_of_record(entry) for entry in record]
    if set(record) == {"by name"}:
        return {name: metric_of_record(entry) for name, entry in record["by name"].items()}
    function, options = record["function"], record["options"]
    if isinstance(function, dict):
        return partial(metric_of_record(function), **options)
    module, _, name = function.rpartition(".")
    public = _MODULES[module]
    if name not in public.__all__:
        raise ValueError(f"{function!r} is no public metric")
    public_function = getattr(public, name)
    return partial(public_function, **options) if options else public_function


def settings_record(settings: StreamSettings) -> dict[str, Any]:
    """Return settings as JSON holds them; two accumulators are merged if these are equal."""
    seed, labels = settings.seed, settings.labels
    entropy: Any = seed.entropy
    return {
        "metric": metric_record(settings.metric),
        "entropy": entropy if isinstance(entropy, int | None) else [int(word) for word in entropy],
        "spawn_key": [int(key) for key in seed.spawn_key],
        "pool_size": seed.pool_size,
        "n_resamples": settings.n_resamples,
        "systems": None if settings.systems == (None,) else list(settings.systems),
        "labels": None if labels is None else labels.tolist(),
        "n_bins": settings.n_bins,
        "confidence_level": settings.confidence_level,
        "interval": method_of(settings.interval),
        "first_look": first_look_of(settings.interval),
        "greater_is_better": settings.greater_is_better,
        "pos_label": settings.pos_label,
    }


def bytes_of_state(settings: StreamSettings, state: StreamState) -> bytes:
    """Return the bytes of settings and a state."""
    arrays: list[NDArray[Any]] = []

    def number_of(array: NDArray[Any]) -> int:
        arrays.append(array)
        return len(arrays) - 1

    def sums_record(sums: ExactSums) -> dict[str, int]:
        digits = sums.digits.astype(np.int64, copy=False)
        return {"digits": number_of(digits), "lowest": sums.lowest}

    tables = [
        {
            "kind": kind,
            "system": system,
            "labels": number_of(table.labels),
            "truth": number_of(table.truth),
            "other": number_of(table.keys),
            "shift": table.shift,
            "ends": None if table.ends is None else number_of(table.ends),
            **sums_record(table.sums),
        }
        for (kind, system), table in sorted(state.tables.items())
    ]
    # The columns of few rows are in the order of their keys.
    few_columns = (state.few_rows.columns if state.few_rows else None) or {}
    head = {
        "settings": settings_record(settings),
        "n_rows": state.n_rows,
        "unit": state.unit,
        "named": state.named,
        "weighted": state.weighted,
        "in_columns": state.in_columns,
        "terms": sums_record(state.terms),
        "largest": number_of(state.largest),
        "zero_one": number_of(state.zero_one),
        "groups": number_of(state.groups),
        "ranges": number_of(state.ranges),
        "few": {name: number_of(column) for name, column in few_columns.items()},
        "tables": tables,
    }
    return bytes_of_arrays(head, arrays)


def state_of_record(record: Mapping[str, Any], arrays: Sequence[NDArray[Any]]) -> StreamState:
    """Return the state that `bytes_of_state` packed; ValueError says what cannot be right."""

    def array(number: Any, kinds: str, n_dimensions: int) -> NDArray[Any]:
        numbered = arrays[_whole_number(number, 0)]
        if numbered.dtype.kind not in kinds or numbered.ndim != n_dimensions:
            raise ValueError(f"an array of type {numbered.dtype} and shape {numbered.shape}")
        return numbered

    def exact_sums(sums: Mapping[str, Any]) -> ExactSums:
        digits, lowest = array(sums["digits"], "i", 3), sums["lowest"]
        if not isinstance(lowest, int) or not -40 <= lowest <= 0 or not 1 <= len(digits) <= 80:
            raise ValueError("sums of other digits")
        return ExactSums.of_digits(digits, lowest)

    tables = {}
    for table in record["tables"]:
        labels, truth = array(table["labels"], "biufU", 1), array(table["truth"], "i", 1)
        key, sums = array(table["other"], "u", 1), exact_sums(table)
        shift = table["shift"]
        if len(truth) != len(key) or sums.digits.shape[1] != len(truth):
            raise ValueError("a table whose columns differ in length")
        decision = key if shift is None else truth.astype(np.uint64)
        for number in (truth, decision):
            if len(number) and not (number.min() >= 0 and number.max() < len(labels)):
                raise ValueError("a table of other labels")
        ends = None
        if shift is not None:
            ends = array(table["ends"], "u", 2)
            if (
                _whole_number(shift, 0) > 64
                or ends.shape != (2, len(truth))
                or np.any(ends[0] > ends[1])
            ):
                raise ValueError("a table of other scores")
        place = str(table["kind"]), _whole_number(table["system"], 0)
        tables[place] = CellTable(labels, truth, key, sums, shift, ends)
    # Version 1 had neither the numbers of rows nor few rows.
    ranges = np.empty((0, 2), dtype=np.int64)
    if record.get("ranges") is not None:
        ranges = array(record["ranges"], "i", 2)
        start, last = ranges.T
        if np.any(last < start) or np.any(start[1:] <= last[:-1]):
            raise ValueError("numbers of rows that do not rise")
    few_columns = {
        str(name): arrays[_whole_number(number, 0)]
        for name, number in record.get("few", {}).items()
    }
    groups = array(record["groups"], "u", 1)
    if len(groups) > GROUPS_KEPT or np.any(groups[1:] <= groups[:-1]):
        raise ValueError("groups that are not sorted")
    if record["unit"] not in ("", *WORDS):
        raise ValueError(f"units identified by {record['unit']!r}")
    return StreamState(
        exact_sums(record["terms"]),
        array(record["largest"], "f", 1),
        array(record["zero_one"], "b", 1),
        tables,
        _whole_number(record["n_rows"], 0),
        record["unit"],
        groups,
        bool(record["weighted"]),
        in_columns=bool(record.get("in_columns", True)),
        ranges=ranges,
        few_rows=FewRows((few_columns,)) if few_columns else None,
        named=str(record.get("named", "")),
    )


def _whole_number(value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{value!r} in place of a whole number")
    return value


def check_state_fits(state: StreamState, settings: StreamSettings) -> None:
    """Refuse a state that does not fit its settings.

    Raises
    ------
    ValueError
        Says what does not.
    """
    columns = 1 + settings.n_resamples
    shapes = [state.terms.digits.shape[1:], state.largest.shape, state.zero_one.shape]
    n = settings.n_terms
    fits = shapes == [(n, 1 + columns), (n,), (n,)]
    if state.unit:
        fits &= sorted(state.tables) == sorted(settings.tables)
    fits &= all(
        table.sums.digits.shape[2] == (1 if kind == FINE_SCORES else columns)
        for (kind, _), table in state.tables.items()
    )
    scores = [
        (key[0] != LABELS) == (table.shift is not None) for key, table in state.tables.items()
    ]
    if state.few_rows is not None:
        # These are all rows of the stream, with the columns that it has.
        [few_columns] = state.few_rows.batches
        needed = {UNIT, *(f"{PREDICTED}{k}" for k in range(len(settings.systems)))}
        needed |= {WEIGHT} if state.weighted else set()
        fits &= state.n_units < FEWEST_UNITS and needed == few_columns.keys() - {TRUTH}
        fits &= all(
            len(column) == state.n_rows and column.ndim <= (2 if name.startswith(PREDICTED) else 1)
            for name, column in few_columns.items()
        )
    if not fits or not all(scores):
        raise ValueError("sums that do not fit its settings")
