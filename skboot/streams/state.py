"""What is known of a stream: sums of all rows so far, whose sum is that of two streams.

A batch is made a state of its own and added, and so are shards: one way of adding, whatever the
partition. `StreamSettings` are what two states must have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.checks import fail
from .._base.streams import child_seed
from .._base.warnings import Note
from ..metrics.lookup import resolve_metrics
from ..metrics.statistic import Floats
from ..resampling.streamed import PoissonWeights, Words
from ..study.measured import Scoring
from .exact_sums import ExactSums
from .few_rows import FEWEST_UNITS, UNIT, FewRows
from .readings import (
    FINE_SCORES,
    LABELS,
    SCORES,
    ColumnsReading,
    Kept,
    Read,
    Reading,
    reading_of,
)
from .tables import Table, in_text

# Number of rows from which pairs of labels are counted before resamples are drawn.
FEWEST_COUNTED = 20_000
# Intervals of a score, if no other number is asked for: 8 MB of sums for 1000 resamples.
N_BINS = 1024
# How many times as many there are for the data alone, which have one sum where resamples have a
# thousand: 5 MB; and above how many there are as many as asked for: 84 MB.
FINER, MOST_FINE = 64, 1 << 20
# What tells rows apart by numbers, which are kept as ranges.
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


@dataclass(frozen=True, eq=False)
class StreamSettings:
    """Checked arguments of an accumulator; ``systems`` is (None,) without systems.

    Where pairs of labels are ``counted``, resamples are drawn of the counts of all rows, and none
    of a batch; see `StreamState.drawn`. They are from many rows on where they ``may_be_counted``:
    nothing else is read, and no other stream will be added.
    """

    metric: Any
    seed: np.random.SeedSequence
    n_resamples: int
    systems: tuple[str | None, ...]
    labels: NDArray[Any] | None
    n_bins: int
    confidence_level: float
    interval: str
    greater_is_better: bool | None
    pos_label: Any
    may_be_counted: bool = False
    counted: bool = False
    first_look: int | None = None

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
    def readings(self) -> dict[str, Reading]:
        """How each metric is read, by its name."""
        statistics = self._resolved[0].items()
        found = {name: reading_of(one, counted=self.counted) for name, one in statistics}
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
        raise fail("metric", must, got, advice)

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
        """What is scored, as functions that take all rows at once are asked for it."""
        return Scoring(self.metric, self.greater_is_better, self.pos_label, self.labels)

    @cached_property
    def weights(self) -> PoissonWeights:
        """Weights of units in resamples."""
        return PoissonWeights(self.seed, self.n_drawn)

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
        Of (n_terms, 2 + n_resamples): of the sizes of what rows add, of what they add to the data,
        and to each resample. The first term is the weight of a row.
    largest : ndarray of shape (n_terms,)
        Largest size of what one row adds.
    zero_one : ndarray of shape (n_terms,)
        Whether each row of weight 1 adds 0 or 1.
    tables : dict of tuple to Table
        By kind and system.
    n_rows : int
    unit : {"", "start", "ids", "groups", "arrival"}
        What tells the units apart; "" before the first row.
    ranges : ndarray of shape (n_ranges, 2)
        First and last number of each run of rows that are told apart by their numbers, rising; no
        two of them touch.
    groups : ndarray of shape (n_kept,)
        Smallest hashes of groups, rising.
    weighted : bool
        Whether rows carry weights.
    doubts : tuple of Note
        Warnings of predictions that are hardly what was meant, which no file keeps.
    in_columns : bool
        Whether predictions have a column for each class.
    few : FewRows or None
        The rows themselves, of few units.
    """

    terms: ExactSums
    largest: Floats
    zero_one: NDArray[np.bool_]
    tables: dict[tuple[str, int], Table] = field(default_factory=dict)
    n_rows: int = 0
    unit: str = ""
    groups: Words = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    weighted: bool = False
    doubts: tuple[Note, ...] = ()
    in_columns: bool = False
    ranges: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    few: FewRows | None = None

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
        return self.few is not None and self.few.columns is not None

    def plus(self, other: StreamState, settings: StreamSettings) -> StreamState:
        """Return the state of the rows of both; refuse rows that both have."""
        if not other.unit:
            return self
        if not self.unit:
            return other
        ranges = joined_ranges(self.ranges, other.ranges)
        few = self._few_with(other)
        groups = np.union1d(self.groups, other.groups)[:GROUPS_KEPT]
        tables = {}
        for key, table in self.tables.items():
            tables[key] = _checked(table + other.tables[key], key, settings)
        both = replace(
            self,
            terms=self.terms + other.terms,
            largest=np.maximum(self.largest, other.largest),
            zero_one=self.zero_one & other.zero_one,
            tables=tables,
            n_rows=self.n_rows + other.n_rows,
            groups=groups,
            doubts=(*self.doubts, *other.doubts)[:1],
            in_columns=self.in_columns or other.in_columns,
            ranges=ranges,
            few=None,
        )
        if few is None or both.n_units >= FEWEST_UNITS:
            return both
        return replace(both, few=few)

    def _few_with(self, other: StreamState) -> FewRows | None:
        """Return the rows of both, where these are kept; refuse an id that both have."""
        few = self.few.plus(other.few) if self.few is not None and other.few is not None else None
        if few is not None and self.unit == "ids":
            ids = np.concatenate([batch[UNIT] for batch in few.batches])
            if len(np.unique(ids)) < len(ids):
                raise fail("ids", _NEW_ROWS, "some id twice", _ADDED_ONCE)
        return few

    def drawn(self, settings: StreamSettings) -> StreamState | None:
        """Return the state of counts of all rows with their counts in each resample.

        A sum of Poisson weights of rows is a Poisson number, so that the law is that of rows which
        are drawn one by one. Each count has a stream of its own. None where counts are so many that
        memory does not hold them: such labels are drawn one by one.
        """
        [(key, table)] = self.tables.items()
        if table.n_cells * (1 + settings.n_resamples) * 8 > _MOST_BYTES:
            return None
        counts = table.sums.values()[:, 0].astype(np.int64)
        drawn = np.empty((len(counts), 1 + settings.n_resamples), dtype=np.int64)
        drawn[:, 0] = counts
        for cell, n in enumerate(counts):
            rng = np.random.Generator(np.random.SFC64(child_seed(settings.seed, 1 + cell)))
            drawn[cell, 1:] = rng.poisson(n, settings.n_resamples)
        sizes = drawn.sum(axis=0)
        terms = ExactSums.of(np.append(sizes[0], sizes)[None])
        return replace(self, terms=terms, tables={key: replace(table, sums=ExactSums.of(drawn))})

    def read(self, name: str, system: int, settings: StreamSettings) -> Read:
        """Return a metric of a system on the data and on every resample."""
        reading = settings.readings[name]
        place = settings.places[name, system]
        return reading.read(
            Kept(
                self.terms.values(rows=[0, *range(place.start, place.stop)]),
                self.largest[place],
                bool(self.zero_one[place].all()),
                [self.tables[kind, system] for kind in reading.tables],
                self.n_rows,
                self.weighted,
            )
        )


def joined_ranges(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the runs of rows of both, those that touch as one; refuse runs that overlap."""
    both = np.concatenate((one, other))
    if not len(one) or not len(other):
        return both
    first, last = both[np.argsort(both[:, 0], kind="stable")].T
    again = first[1:] <= last[:-1]
    if again.any():
        k = int(np.argmax(again))
        got = f"rows {first[k + 1]} to {min(last[k], last[k + 1])} again"
        raise fail("start", _NEW_ROWS, got, _ADDED_ONCE)
    apart = first[1:] > last[:-1] + 1
    return np.column_stack((first[np.append(True, apart)], last[np.append(apart, True)]))


def _checked(table: Table, key: tuple[str, int], settings: StreamSettings) -> Table:
    """Return the table of two, of scores in no more intervals than asked for."""
    if key[0] == LABELS:
        check_size(table.n_cells, settings)
        return table
    if key[0] == SCORES:
        check_classes(table.labels)
    return table.within(settings.bins_of(key[0]))


def check_size(n_cells: int, settings: StreamSettings) -> None:
    """Refuse so many pairs of labels that their sums take too much memory."""
    if n_cells * (1 + settings.n_drawn) * 8 > _MOST_BYTES:
        must = f"hold labels whose pairs fit {_MOST_BYTES >> 20} MB of sums"
        got = f"{n_cells} pairs of labels with {settings.n_drawn} resamples each"
        advice = "Use fewer resamples, or metrics that are means of rows."
        raise fail("y_true", must, got, advice)


def check_classes(labels: NDArray[Any]) -> None:
    """Refuse more than two labels beside scores of one class."""
    if len(labels) > 2:
        must = "hold two classes for a metric of the order of scores"
        advice = "Score a class against the others: y_true == label, and its column of y_pred."
        raise fail("y_true", must, f"the labels {labels.tolist()[:5]}", advice)
