"""Sums that do not depend on the order in which they are added up.

A float is an integer times a power of two. Sums are kept as integers: digits of 32 bits, the
highest with its sign in up to 64, so that adding them is associative. Merging shards in any order
then gives the same bits; integers need one digit, and losses of rows three.

Sums of scores are large, and a process has those of its rows, of a batch and of both. So digits
take four bytes where all of them fit, and are worked on in eight, some rows at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._base.checks import EXACT, fail
from .._base.errors import collected
from ..metrics.callables import Negated
from ..metrics.cells import check_two_columns, label_counts
from ..metrics.ranking import positive_scores, rank
from ..metrics.responses import check_response
from ..metrics.statistic import Facts, Floats, ReducedData, Statistic, SumsOfRows
from ..resampling.block import Block
from ..resampling.coding import UnitsOfCodes
from ..study.rows import Measured, Rows

Digits = NDArray[np.int32] | NDArray[np.int64]
# Digits of some rows, the lowest first.
Pieces = list[NDArray[np.int64]]

_BITS = 32
_HALF = np.int64(2 ** (_BITS - 1))
# Exponent of two from which on a number, or a highest digit, gets one more digit.
_LARGE = 61
# Digits of a kind that are worked on at a time: 512 kB, which stay in the cache.
_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class ExactSums:
    """An array of sums.

    Attributes
    ----------
    digits : ndarray of shape (n_digits, n_rows, n_columns)
        The sum over digits of ``digits[k] * 2 ** (32 * (lowest + k))``; all but the last are from
        -2**31 to 2**31 - 1, so that a small negative number has small digits. They are of 32 bits
        if the last are in this range too, else of 64.
    lowest : int
        Power of the first digit, 0 or below.
    """

    digits: Digits
    lowest: int = 0

    @classmethod
    def zeros(cls, n_rows: int, n_columns: int) -> Self:
        """Return sums of nothing."""
        return cls(np.zeros((1, n_rows, n_columns), dtype=np.int32))

    @classmethod
    def of(cls, values: NDArray[Any]) -> Self:
        """Return finite numbers, (n_rows, n_columns), integers or floats, as sums."""
        if values.dtype == np.int32:
            return cls(values[None])
        if values.dtype.kind in "iu":
            return cls.of_digits(values.astype(np.int64, copy=False)[None])
        pieces = list(_row_slices(values.shape))
        largest = max((np.abs(values[part]).max(initial=0.0) for part in pieces), default=0.0)
        highest = max(0, -(-(int(np.frexp(largest)[1]) - _LARGE) // _BITS))
        lowest = min((_lowest_power(values[part]) for part in pieces), default=0)
        return cls._from_digits(
            lambda part: _digits_of_numbers(values[part], lowest, highest),
            (highest - lowest + 1, *values.shape),
            lowest,
        )

    @classmethod
    def of_digits(cls, digits: Digits, lowest: int = 0) -> Self:
        """Return the sums that have these digits, in however many bits."""
        return cls._from_digits(
            lambda part: list(digits[:, part].astype(np.int64)), digits.shape, lowest
        )

    @classmethod
    def _from_digits(
        cls, read_digits: Callable[[slice], Pieces], shape: tuple[int, ...], lowest: int
    ) -> Self:
        """Return sums from the digits of some rows, which need not be in their range yet."""
        digits: Digits = np.empty(shape, dtype=np.int32)
        for part in _row_slices(shape[1:]):
            pieces = read_digits(part)
            for k in range(len(pieces) - 1):
                pieces[k], carried = _carry(pieces[k])
                pieces[k + 1] = pieces[k + 1] + carried
            if digits.dtype == np.int32 and not _is_small(pieces[-1]):
                digits = digits.astype(np.int64)
            for k, piece in enumerate(pieces):
                digits[k, part] = piece
        while digits.dtype == np.int64:
            # Whether the highest digit needs one more.
            largest = max(int(digits[-1].max(initial=0)), -int(digits[-1].min(initial=0)))
            if not largest >> _LARGE:
                break
            digit, carried = _carry(digits[-1])
            digits = np.array([*digits[:-1], digit, carried])
            if _is_small(carried):
                digits = digits.astype(np.int32)
        spare = 0
        while lowest + spare < 0 and not digits[spare].any():
            spare += 1
        return cls(digits[spare:].copy() if spare else digits, lowest + spare)

    def __add__(self, sums_b: ExactSums) -> ExactSums:
        """Return the sums of both."""
        rows = np.arange(self.digits.shape[1])
        return self.added_at(rows, sums_b, rows, len(rows))

    def placed(self, rows: NDArray[np.intp], n_rows: int) -> ExactSums:
        """Return ``n_rows`` sums, those of ``self`` added up at the given rows, the others 0."""
        if n_rows == len(rows) and np.array_equal(rows, np.arange(n_rows)):
            return self
        nothing = ExactSums.zeros(0, self.digits.shape[2])
        return self.added_at(rows, nothing, np.empty(0, dtype=np.intp), n_rows)

    def added_at(
        self,
        rows: NDArray[np.intp],
        sums_b: ExactSums,
        rows_b: NDArray[np.intp],
        n_rows: int,
    ) -> ExactSums:
        """Return ``n_rows`` sums: those of both, added up at the rows of each, the others 0."""
        parts = []
        for sums, row_numbers in ((self, rows), (sums_b, rows_b)):
            order = (
                None
                if np.all(row_numbers[1:] >= row_numbers[:-1])
                else np.argsort(row_numbers, kind="stable")
            )
            sorted_at = row_numbers if order is None else row_numbers[order]
            are_different = bool(np.all(sorted_at[1:] != sorted_at[:-1]))
            parts.append((sums, order, sorted_at, are_different))
        lowest = min(self.lowest, sums_b.lowest)
        highest = max(part.lowest + len(part.digits) for part in (self, sums_b))
        shape = highest - lowest, n_rows, self.digits.shape[2]

        def digits_of(row_slice: slice) -> Pieces:
            total = np.zeros((shape[0], row_slice.stop - row_slice.start, shape[2]), dtype=np.int64)
            for sums, order, row_numbers, are_different in parts:
                start, last = np.searchsorted(row_numbers, (row_slice.start, row_slice.stop))
                rows_of_sums: Any = slice(start, last) if order is None else order[start:last]
                places = row_numbers[start:last] - row_slice.start
                for k, digit in enumerate(sums.digits, sums.lowest - lowest):
                    if are_different:
                        total[k, places] += digit[rows_of_sums]
                    else:
                        # Fewer than 2**31 digits below 2**32 fit a digit of 64 bits.
                        np.add.at(total[k], places, digit[rows_of_sums])
            return list(total)

        return ExactSums._from_digits(digits_of, shape, lowest)

    def values(self, columns: slice = slice(None), rows: Any = slice(None)) -> NDArray[np.float64]:
        """Return the sums as floats, (n_rows, n_columns); those of some columns or rows alone."""
        digits = self.digits[:, rows][:, :, columns]
        total = np.zeros(digits.shape[1:])
        for power, digit in enumerate(digits, self.lowest):
            for part in _row_slices(digit.shape):
                total[part] += np.ldexp(digit[part].astype(np.float64), _BITS * power)
        return total


def _row_slices(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield rows that are worked on at a time."""
    n_rows, n_columns = shape
    step = max(_AT_ONCE // max(n_columns, 1), 1)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _lowest_power(values: NDArray[Any]) -> int:
    """Return the power of the lowest digit of any of the numbers, 0 or below."""
    remainder, power = np.array(values, dtype=np.float64), 0
    remainder -= np.trunc(remainder)
    while remainder.any():
        remainder = np.ldexp(remainder, _BITS)
        remainder -= np.trunc(remainder)
        power -= 1
    return power


def _digits_of_numbers(values: NDArray[Any], lowest: int, highest: int) -> Pieces:
    """Return the digits of numbers from the lowest to the highest power."""
    remainder = np.array(values, dtype=np.float64)
    digits = []
    for power in range(highest, lowest - 1, -1):
        digit = np.trunc(np.ldexp(remainder, -_BITS * power))
        remainder -= np.ldexp(digit, _BITS * power)
        digits.append(digit.astype(np.int64))
    return digits[::-1]


def _is_small(digit: NDArray[np.int64]) -> bool:
    """Whether digits fit 32 bits."""
    return bool(digit.max(initial=0) < _HALF and digit.min(initial=0) >= -_HALF)


def _carry(digit: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the part of a digit that is in its range, and what goes to the next one."""
    carried = (digit + _HALF) >> _BITS
    return digit - (carried << _BITS), carried


# Weights of rows by what they hold: pairs of labels, or labels and intervals of a score.
#
# A `CellTable` of labels has a cell for each pair of truth and decision that occurs. One of scores
# has a cell for each class in each interval of the score. While the distinct scores fit, each has
# its own; then intervals are those of equal leading bits of the floating-point number, and one bit
# is dropped wherever they become too many. Which bits are left depends on the set of scores alone,
# so that a table does not depend on the order of rows, batches or shards. Between one half and one
# the bits are those of the distance from one, so that probabilities have intervals as fine near one
# as near zero.


# Pairs of keys per row up to which those that occur are counted, and not sorted.
_KEYS_PER_ROW = 4
_SIGN = np.uint64(1 << 63)
# Of numbers from one half to one the distances from one take 52 binades more, which are made up for
# where numbers are largest: of those from 2**950 on the last two bits are not distinguished.
_MORE = np.uint64(52 << 52)
_HALF_OF_TABLE, _ONE, _LARGE_TABLE = (np.float64(x).view(np.uint64) for x in (0.5, 1.0, 2.0**950))
# The distance that one has from itself, below that of all other numbers.
_LEAST_DISTANCE = 2.0**-54


@dataclass(frozen=True, eq=False)
class CellTable:
    """Sums of cells, in rising order of their keys.

    Attributes
    ----------
    labels : ndarray of shape (n_labels,)
        Labels that occur, sorted.
    truth : ndarray of shape (n_cells,)
        Number of the true label of each cell.
    keys : ndarray of shape (n_cells,)
        Number of the decision, or the leading bits of the score.
    sums : ExactSums
        Weights of shape (n_cells, 1 + n_resamples): the weight in the data, then in each resample.
    shift : int or None
        Bits of a score that are dropped; None for decisions.
    ends : ndarray of shape (2, n_cells) or None
        All bits of the least and of the greatest score of each cell.
    """

    labels: NDArray[Any]
    truth: NDArray[np.int64]
    keys: NDArray[np.uint64]
    sums: ExactSums
    shift: int | None = None
    ends: NDArray[np.uint64] | None = None

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.truth)

    def __add__(self, table_b: CellTable) -> CellTable:
        """Return the table of the rows of both, of scores still in as many intervals."""
        labels = joined_labels(self.labels, table_b.labels)
        tables = []
        for table in (self, table_b):
            # The numbers of labels among those of both.
            number = np.searchsorted(labels, table.labels)
            decision = table.keys
            if table.shift is None:
                decision = number[table.keys.astype(np.intp)].astype(np.uint64)
            tables.append(replace(table, labels=labels, truth=number[table.truth], keys=decision))
        shift = self.shift
        if shift is not None and table_b.shift is not None:
            shift = max(shift, table_b.shift)
            tables = [table.coarser(shift) for table in tables]
        truth, keys, cell = distinct_cells(
            np.concatenate([table.truth for table in tables]),
            np.concatenate([table.keys for table in tables]),
        )
        places, places_b = np.split(cell, [tables[0].n_cells])
        sums = tables[0].sums.added_at(places, tables[1].sums, places_b, len(truth))
        ends = None
        if tables[0].ends is not None and tables[1].ends is not None:
            ends = joined_ends(np.hstack([tables[0].ends, tables[1].ends]), cell, len(truth))
        return CellTable(labels, truth, keys, sums, shift, ends)

    def coarser(self, shift: int) -> CellTable:
        """Return the table with at least so many bits dropped."""
        if self.shift is None or shift <= self.shift:
            return self
        truth, keys, cell = distinct_cells(self.truth, self.keys >> np.uint64(shift - self.shift))
        ends = None if self.ends is None else joined_ends(self.ends, cell, len(truth))
        return CellTable(self.labels, truth, keys, self.sums.placed(cell, len(truth)), shift, ends)

    def within(self, n_bins: int) -> CellTable:
        """Return the table with as few bits dropped as leave no more than ``n_bins`` intervals."""
        assert self.shift is not None
        return self.coarser(self.shift + spare_bits(np.unique(self.keys), n_bins))

    def edges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least and the greatest score in the interval of each cell, (n_cells,) each."""
        assert self.ends is not None
        interval = self.rank().astype(np.intp)
        ends = joined_ends(self.ends, interval, int(interval.max(initial=-1)) + 1)
        low, high = (scores_of(end)[interval] for end in ends)
        return low, high

    def rank(self) -> NDArray[np.float64]:
        """Return the number of the interval of each cell, (n_cells,): a score of the same order."""
        return np.unique(self.keys, return_inverse=True)[1].reshape(-1).astype(np.float64)


def joined_ends(ends: NDArray[np.uint64], place: NDArray[np.intp], n: int) -> NDArray[np.uint64]:
    """Return the least of the least, and the greatest of the greatest, at each of n places."""
    joined = np.empty((2, n), dtype=np.uint64)
    joined[0], joined[1] = ~np.uint64(0), 0
    np.minimum.at(joined[0], place, ends[0])
    np.maximum.at(joined[1], place, ends[1])
    return joined


def distinct_cells(
    truth: NDArray[np.int64], keys: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.intp]]:
    """Return both keys of each cell that occurs, in rising order, and the cell of each row."""
    values, number = np.unique(keys, return_inverse=True)
    return cells_of(truth, values, number.reshape(-1))


def cells_of(
    truth: NDArray[np.int64], values: NDArray[np.uint64], number: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.intp]]:
    """Return cells as `distinct_cells` does, of rows whose second keys are numbered, rising."""
    key, n_values = truth * len(values) + number, max(len(values), 1)
    n_keys = n_values * (int(truth.max(initial=0)) + 1)
    if n_keys <= _KEYS_PER_ROW * len(key):
        occurs = np.bincount(key, minlength=n_keys) > 0
        cells, cell = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[key]
    else:
        cells, cell = np.unique(key, return_inverse=True)
    truths, key_numbers = np.divmod(cells, n_values)
    return truths, values[key_numbers], cell.reshape(-1)


# A table without its sums, and the cell of each row.
CodedTable = tuple[CellTable, NDArray[np.intp]]
NOTHING = ExactSums.zeros(0, 0)


def cells_within(
    labels: NDArray[Any],
    truth: NDArray[np.int64],
    bits: NDArray[np.uint64],
    shift: int,
    n_bins: int,
) -> CodedTable:
    """Return cells of scores in at most so many intervals, of at least ``shift`` dropped bits."""
    distinct, number = np.unique(bits, return_inverse=True)
    leading = distinct >> np.uint64(shift)
    spare = spare_bits(np.unique(leading), n_bins)
    leading = leading >> np.uint64(spare)
    starts = np.flatnonzero(np.append(True, leading[1:] != leading[:-1])[: len(leading)])
    interval = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(leading))))
    truths, keys, cell = cells_of(truth, leading[starts], interval[number.reshape(-1)])
    ends = joined_ends(np.broadcast_to(bits, (2, len(bits))), cell, len(truths))
    return CellTable(labels, truths, keys, NOTHING, shift + spare, ends), cell


def joined_labels(labels: NDArray[Any], labels_b: NDArray[Any]) -> NDArray[Any]:
    """Return the labels of both, sorted; all are numbers, or all are text."""
    if "U" in (labels.dtype.kind, labels_b.dtype.kind) and labels.dtype.kind != labels_b.dtype.kind:
        if len(labels) and len(labels_b):
            raise ValueError("Labels are numbers in one batch and text in another.")
        return labels if len(labels) else labels_b
    for floats, integers in ((labels, labels_b), (labels_b, labels)):
        if not (
            floats.dtype.kind == "f"
            and integers.dtype.kind in "iu"
            and len(floats)
            and len(integers)
        ):
            continue
        # numpy would make floats of all of them, which merge large integers.
        if (
            max(float(np.abs(floats).max()), abs(int(integers.max())), abs(int(integers.min())))
            >= EXACT
        ):
            raise ValueError("Labels of 2**53 or more are floats in one batch, not in another.")
    return np.union1d(labels, labels_b)


def in_text(labels: Any) -> Any:
    """Return labels in bytes as text, and any others as they are."""
    if labels is None or labels.ndim != 1 or labels.dtype.kind not in "SO":
        return labels
    is_bytes = labels.dtype.kind == "S" or all(isinstance(label, bytes) for label in labels)
    return np.char.decode(labels.astype(bytes), "latin-1") if is_bytes else labels


def bits_of(scores: NDArray[Any]) -> NDArray[np.uint64]:
    """Return integers in the order of the scores, whose leading bits are those of the scores."""
    # Adding zero makes the negative zero the positive one.
    numbers = scores.astype(np.float64) + 0.0
    bits = numbers.view(np.uint64)
    is_negative = bits >= _SIGN
    ordered = np.where(is_negative, ~bits, bits | _SIGN)
    upper = np.flatnonzero(~is_negative & (bits > _HALF_OF_TABLE))
    if len(upper):
        upper_bits = bits[upper]
        distance = np.maximum(1.0 - numbers[upper], _LEAST_DISTANCE).view(np.uint64)
        beyond = (
            np.where(
                upper_bits < _LARGE_TABLE,
                upper_bits,
                _LARGE_TABLE + ((upper_bits - _LARGE_TABLE) >> np.uint64(2)),
            )
            + _MORE
        )
        ordered[upper] = (
            np.where(upper_bits < _ONE, (_HALF_OF_TABLE << np.uint64(1)) - distance, beyond) | _SIGN
        )
    return ordered


def scores_of(bits: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the scores whose `bits_of` are given; between two of them the one above."""
    magnitude = bits & ~_SIGN
    # Some are of no number: they are the edges of intervals that hold the largest ones.
    distance = ((_HALF_OF_TABLE << np.uint64(1)) - magnitude).view(np.float64)
    beyond = magnitude - _MORE
    beyond = np.where(
        beyond < _LARGE_TABLE, beyond, _LARGE_TABLE + ((beyond - _LARGE_TABLE) << np.uint64(2))
    )
    with np.errstate(invalid="ignore"):
        upper = np.where(magnitude < _ONE + _MORE, 1.0 - distance, beyond.view(np.float64))
    positive = np.where(magnitude > _HALF_OF_TABLE, upper, magnitude.view(np.float64))
    return np.where(bits & _SIGN, positive, (~bits).view(np.float64))


def spare_bits(distinct: NDArray[np.uint64], n_bins: int) -> int:
    """Return how many bits must be dropped to leave no more than ``n_bins`` different keys."""
    spare = 0
    while len(distinct) > n_bins:
        distinct = distinct >> np.uint64(1)
        distinct = distinct[np.append(True, distinct[1:] != distinct[:-1])]
        spare += 1
    return spare


# How a metric reads a stream: which sums it needs of each batch, and its value from the sums.
#
# What suffices, its statistic says in ``sketch``:
#
# * `SumsReading`: the sums of what each row adds;
# * `CellsReading`: functions of the confusion matrix, from the pairs of labels that occur;
# * `ScoresReading`: metrics of the order of scores, from the weight of each class at each score,
#   of which there are more for the data than for resamples;
# * `ColumnsReading`: their averages over several classes, from the same for each column of scores.
#
# A metric that needs all rows together has none, and is refused by name.


# Labels of one column of probabilities, if none are given.
ZERO_ONE = np.array([0, 1])
# Kinds of tables; that of fine scores has the weights of the data alone, and comes first.
LABELS, SCORES, FINE_SCORES = "labels", "scores", "fine scores"
# Bytes of the weights of cells that are read at once.
_BYTES_AT_ONCE = 1 << 26
_NO_CELLS = ReducedData(None, 0)


@dataclass(frozen=True, eq=False)
class StreamedMetric(Measured):
    """A metric on the data and on every resample of a stream.

    Its rows are the cells, each with its weight, where there are cells; its statistic has the
    labels of all rows.

    Attributes
    ----------
    values : ndarray of shape (1 + n_resamples,)
        Value on the data, then on each resample.
    facts : Facts
        What it knows of the rows.
    reduced : ReducedData
        The cells, reduced as rows are.
    error : float
        Largest error of the estimate that intervals of scores leave.
    intervals : {"", "all", "finer"}
        Whether scores of resamples were counted in intervals, and those of the data in finer ones.
    hidden : float
        How far the order of rows in the intervals of resamples might move the value.
    """

    values: Floats
    facts: Facts
    reduced: ReducedData = _NO_CELLS
    error: float = 0.0
    intervals: str = ""
    hidden: float = 0.0


@dataclass(frozen=True, eq=False)
class KeptSums:
    """Sums and tables that a stream keeps of a metric of a system.

    Attributes
    ----------
    sums : ndarray of shape (1 + n_terms, 2 + n_resamples)
        Sums of weights, then of the terms that rows add. The first column has the sizes of what
        rows add, the second sums of the data, and each other one those of a resample.
    largest : ndarray of shape (n_terms,)
        Largest size of what one row adds.
    zero_one : bool
        Whether each row of weight 1 adds 0 or 1.
    tables : sequence of CellTable
    n_rows : int
    weighted : bool
        Whether rows carry weights.
    """

    sums: Floats
    largest: Floats
    zero_one: bool
    tables: Sequence[CellTable]
    n_rows: int
    weighted: bool

    @property
    def sizes(self) -> Floats:
        """Sums of the sizes of what rows add to each term, (n_terms,)."""
        return self.sums[1:, 0]

    @property
    def of_data(self) -> Floats:
        """Weight of the data, then the sum of each term, (1 + n_terms,)."""
        return self.sums[:, 1]

    @property
    def of_data_and_resamples(self) -> Floats:
        """Weight and sums of terms on data and resamples, (1 + n_terms, 1 + n_resamples)."""
        return self.sums[:, 1:]


class MetricReading(ABC):
    """How one metric reads a stream: what rows add, and its value from the sums."""

    # Names of the tables that it shares with other metrics of the system; none for sums of terms.
    tables: tuple[str, ...] = ()
    # Number of sums of terms, beside that of the weights.
    n_terms = 0
    # Whether the labels are 0 and 1 because none were given.
    assumes_zero_one = False

    def __init__(self, statistic: Statistic) -> None:
        self.statistic = statistic
        self.inner: Any = statistic.unsigned or statistic

    @abstractmethod
    def check(self, rows: Rows, argument: str) -> None:
        """Refuse rows of a batch that the metric cannot take."""

    @abstractmethod
    def read(self, summary: KeptSums) -> StreamedMetric:
        """Return the metric from what is kept of all rows."""

    def columns(self, rows: Rows, kind: str) -> tuple[NDArray[Any] | None, NDArray[Any]]:
        """Return the truth, and decisions or scores, as the table of this kind has them."""
        return rows.y_true, rows.predicted_for(self.statistic)

    def terms(self, rows: Rows) -> Floats:
        """Return what each row adds to each sum, before its weight, (n_terms, n_rows)."""
        return np.empty((0, rows.n_samples))


class SumsReading(MetricReading):
    """A metric of sums to which each row adds what it adds in any sample."""

    def __init__(self, statistic: Statistic) -> None:
        super().__init__(statistic)
        self.n_terms = self.inner.n_sums

    def check(self, rows: Rows, argument: str) -> None:
        """Refuse rows that the metric cannot take, and top-k accuracy of one column of scores."""
        predicted = rows.predicted_for(self.statistic)
        with collected():  # the batch is looked at as a whole
            check_response(self.statistic, rows.y_true, predicted, argument)
        if self.inner.ranks_columns and rows.y_pred.ndim == 1:
            must = "have a column for each class for a top-k accuracy of a stream"
            advice = "The threshold of one column depends on all rows together."
            raise fail(argument, must, "one column", advice)

    def terms(self, rows: Rows) -> Floats:
        """See `MetricReading.terms`."""
        predicted = rows.predicted_for(self.statistic)
        added: Floats = self.inner.added_by_rows(rows.y_true, predicted)
        return added

    def read(self, summary: KeptSums) -> StreamedMetric:
        """See `MetricReading.read`."""
        values = self.inner.of_sums(summary.of_data_and_resamples)
        size = float(summary.sizes.sum())
        share = float(summary.largest.max()) / size if size > 0 else None
        sums_of_rows = SumsOfRows(
            summary.of_data, summary.n_rows, share, summary.zero_one, summary.weighted
        )
        facts = self.statistic.facts_of_sums(sums_of_rows)
        values = values if self.inner is self.statistic else 0.0 - values
        # The rows themselves are not kept.
        no_rows = Rows(None, np.empty(0), None, None)
        return StreamedMetric(no_rows, self.statistic, values, facts)


class CellsReading(MetricReading):
    """A function of the confusion matrix."""

    tables = (LABELS,)

    def check(self, rows: Rows, argument: str) -> None:
        """Refuse other predictions than labels; the labels are checked when all are known."""
        predicted = rows.predicted_for(self.statistic)
        if predicted.ndim != 1 or (predicted.dtype.kind == "f" and np.any(predicted % 1)):
            must = f"hold class labels for the metric {self.statistic.name!r}"
            raise fail(argument, must, "scores or probabilities", "Decide first.")

    def read(self, summary: KeptSums) -> StreamedMetric:
        """See `MetricReading.read`."""
        [table] = summary.tables
        decisions = table.labels[table.keys.astype(np.intp)]
        return _read_cells(self.statistic, table, decisions, decisions, weighted=summary.weighted)


def _read_cells(
    statistic: Statistic,
    table: CellTable,
    decisions: NDArray[Any],
    predictions: NDArray[Any],
    *,
    weighted: bool,
) -> StreamedMetric:
    """Return a metric of the weights of the cells of one table.

    It reads ``decisions``, or the order of scores, in the place of the ``predictions`` of cells.
    """
    truth, weights = table.labels[table.truth], table.sums.values()
    with collected():  # the batch is looked at as a whole
        statistic = check_response(statistic, truth, decisions, "y_pred")
    reduced, code_weights = _reduced_cells(statistic, truth, decisions, weights)
    values = statistic.evaluate(WeightsBlock(code_weights.T, statistic.reads), reduced)
    cell_facts = statistic.facts(reduced, (truth, decisions, None))
    facts = replace(cell_facts, row_mean=False)
    if weighted:
        # The weight of a row is not known where rows were counted by cells.
        facts = Facts(cell_facts.bounds, statistic.reads == "sums", weighted=True)
    cells = Rows(truth, predictions, weights[:, 0], None)
    return StreamedMetric(cells, statistic, values, facts, reduced)


class ScoresReading(MetricReading):
    """A metric of the order in which scores put the rows of two classes."""

    tables = (SCORES, FINE_SCORES)

    def check(self, rows: Rows, argument: str) -> None:
        """Refuse other predictions than one score a row."""
        y_pred = rows.y_pred
        if y_pred.dtype.kind in "iu" and max(int(y_pred.max()), -int(y_pred.min())) > EXACT:
            # Floats, as which scores are counted, would merge such integers.
            must = "hold scores that floats of 64 bits tell apart, in a stream"
            got = f"integers such as {int(y_pred[np.argmax(np.abs(y_pred))])}"
            advice = "Subtract the same number from the scores of all batches."
            raise fail(argument, must, got, advice)
        if y_pred.dtype.kind not in "biuf" or (y_pred.ndim == 2 and y_pred.shape[1] != 2):
            must = f"hold one score per row for the metric {self.statistic.name!r} of a stream"
            got = f"an array of shape {y_pred.shape}"
            if y_pred.ndim != 2:
                raise fail(argument, must, got)
            advice = "For the scores of several systems use compare_systems."
            raise fail(argument, must, got, advice, about="systems")
        must = f"be one score per row, or probabilities of two classes, for {self.inner.name!r}"
        check_two_columns(argument, y_pred, must)

    def columns(self, rows: Rows, kind: str) -> tuple[NDArray[Any] | None, NDArray[Any]]:
        """See `MetricReading.columns`."""
        return rows.y_true, positive_scores(rows.y_pred, self.inner.labels, self.inner.pos_label)

    def read(self, summary: KeptSums) -> StreamedMetric:
        """See `MetricReading.read`; an interval of scores may hold rows in any order.

        The estimate is that of the finer intervals. Resamples lie around it as they do around that
        of the intervals in which they were counted.
        """
        coarse, finer = summary.tables
        # The metrics know the order of scores alone.
        coarse_metric, finer_metric = (
            _read_cells(
                self.statistic, table, table.rank(), table.edges()[0], weighted=summary.weighted
            )
            for table in (coarse, finer)
        )
        if not coarse.shift:
            return coarse_metric
        estimate = finer_metric.values[0]
        values = np.clip(
            coarse_metric.values + (estimate - coarse_metric.values[0]),
            *coarse_metric.statistic.bounds,
        )
        values[0] = estimate
        error, hidden = (
            _movement(*pair) for pair in ((finer_metric, finer), (coarse_metric, coarse))
        )
        facts = replace(finer_metric.facts, delong=None if error else finer_metric.facts.delong)
        return replace(
            finer_metric, values=values, facts=facts, error=error, intervals="finer", hidden=hidden
        )


class ColumnsReading(MetricReading):
    """An area averaged over several classes, each of which has a column of scores.

    A table has the scores of one column, beside the true class of pairs of classes, or else beside
    whether the class of the column is the true one.
    """

    def __init__(self, statistic: Statistic) -> None:
        super().__init__(statistic)
        self.labels: NDArray[Any] = np.asarray(self.inner.labels)
        self.by_pairs = self.inner.sketch == "pairs of columns"
        sides = ("all classes" for _ in self.labels)
        if not self.by_pairs:
            sides = (f"the class {label!r}" for label in self.labels.tolist())
        self.tables = tuple(f"column {k} beside {name}" for k, name in enumerate(sides))
        # Classes that a table distinguishes.
        self.n_sides = len(self.labels) if self.by_pairs else 2

    def check(self, rows: Rows, argument: str) -> None:
        """Refuse other predictions than a column for each class, and weights of pairs."""
        with collected():  # the batch is looked at as a whole
            check_response(self.statistic, rows.y_true, rows.y_pred, argument)
        if rows.sample_weight is not None and not self.statistic.takes_weights:
            must = f"be None with the metric {self.statistic.name!r}"
            advice = "Pairs of classes have no weights in scikit-learn: use 'roc_auc_ovr'."
            raise fail("sample_weight", must, "weights", advice)

    def columns(self, rows: Rows, kind: str) -> tuple[NDArray[Any] | None, NDArray[Any]]:
        """See `MetricReading.columns`."""
        column = self.tables.index(kind)
        assert rows.y_true is not None
        truth = rows.y_true if self.by_pairs else rows.y_true == self.labels[column]
        return truth, rows.y_pred[:, column]

    def read(self, summary: KeptSums) -> StreamedMetric:
        """See `MetricReading.read`; some of the resamples at a time."""
        tables = summary.tables
        n_codes = sum(table.n_cells for table in tables)
        # Which cells of all tables belong to each class, (n_classes, n_cells).
        members = []
        for column, table in enumerate(tables):
            truth = table.labels[table.truth]
            is_class = np.arange(len(self.labels)) == column
            if self.by_pairs:
                members.append(truth == self.labels[:, None])
            else:
                members.append(truth & is_class[:, None])
        member = np.concatenate(members, axis=1)
        # What each cell adds to the size of each class: of pairs of classes one table says all.
        counted = np.arange(n_codes) < tables[0].n_cells if self.by_pairs else True
        class_weights = np.where(counted, member, False).T.astype(np.float64)
        reduced = self._reduced(tables, member, class_weights, [table.rank() for table in tables])
        n_values = tables[0].sums.digits.shape[2]
        step = max(_BYTES_AT_ONCE // (8 * n_codes), 1)
        values = np.empty(n_values)
        for start in range(0, n_values, step):
            resamples = slice(start, start + step)
            weights = np.concatenate([table.sums.values(resamples) for table in tables])
            block = WeightsBlock(weights.T, self.statistic.reads)
            values[resamples] = self.statistic.evaluate(block, reduced)
        data_weights = np.concatenate([table.sums.values(slice(1)) for table in tables])
        sizes = data_weights[:, 0] @ class_weights
        cells = Rows(self.labels, np.zeros((len(self.labels),) * 2), sizes, None)
        facts = Facts(self.statistic.bounds, weighted=summary.weighted)
        result = StreamedMetric(cells, self.statistic, values, facts)
        if not any(table.shift for table in tables) or np.isnan(values[0]):
            return result
        extremes = self._extremes(tables, member, class_weights, data_weights)
        error = max(abs(value - values[0]) for value in extremes)
        return replace(result, error=error, intervals="all", hidden=error)

    def _reduced(
        self,
        tables: Sequence[CellTable],
        member: NDArray[np.bool_],
        class_weights: Floats,
        scores: Sequence[Floats],
    ) -> ReducedData:
        """Return the cells of all tables as rows, each table in the order of its scores."""
        starts = np.cumsum([0, *(table.n_cells for table in tables)])
        ranked = []
        for column, score in enumerate(scores):
            ranking = rank(member[column, starts[column] : starts[column + 1]], score)
            ranked.append(ranking._replace(order=ranking.order + starts[column]))
        reduced: ReducedData = self.inner.of_ranked(ranked, member, class_weights)
        return reduced

    def _extremes(
        self,
        tables: Sequence[CellTable],
        member: NDArray[np.bool_],
        class_weights: Floats,
        data_weights: Floats,
    ) -> list[float]:
        """Values with each class above the others in every interval of its scores, and below."""
        starts = np.cumsum([table.n_cells for table in tables])[:-1]
        sides = [part[k] for k, part in enumerate(np.split(member, starts, axis=1))]
        extremes = []
        for is_upper in (True, False):
            scores = [
                2 * table.rank() + ((side == is_upper) & _movable_cells(table))
                for table, side in zip(tables, sides, strict=True)
            ]
            reduced = self._reduced(tables, member, class_weights, scores)
            block = WeightsBlock(data_weights.T, self.statistic.reads)
            extremes.append(float(self.statistic.evaluate(block, reduced)[0]))
        weights = np.split(data_weights[:, 0], starts)
        least = [
            self.inner.least_in_intervals(side, table.rank(), part, _movable_cells(table))
            for table, side, part in zip(tables, sides, weights, strict=True)
        ]
        if None not in least:
            sizes = [part @ side for part, side in zip(weights, sides, strict=True)]
            size_weights = sizes if self.inner.average == "weighted" else None
            extremes[1] = float(np.average(least, weights=size_weights))
        return extremes


_READINGS: Mapping[str, type[MetricReading]] = {
    "sums": SumsReading,
    "cells": CellsReading,
    "scores": ScoresReading,
    "columns": ColumnsReading,
    "pairs of columns": ColumnsReading,
}


def reading_of(statistic: Statistic, *, counted: bool = False) -> MetricReading:
    """Return how a metric reads a stream, of labels by their pairs alone if these are counted.

    A metric that needs all rows together is refused.
    """
    if counted:
        return CellsReading(statistic)
    unsigned: Any = statistic.unsigned or statistic
    if unsigned.lacks_labels and unsigned.response == "probabilities":
        with_labels = replace(unsigned, labels=ZERO_ONE)
        reading = reading_of(with_labels if unsigned is statistic else Negated(with_labels))
        reading.assumes_zero_one = True
        return reading
    if unsigned.lacks_labels:
        must = f"be given for the metric {statistic.name!r} of a stream"
        advice = "Give all labels, in the order of the columns: a batch may lack some."
        raise fail("labels", must, "None", advice)
    if unsigned.sketch:
        return _READINGS[unsigned.sketch](statistic)
    must = "hold metrics that can be computed from sums, or from the order of scores"
    advice = (
        "Batches are not kept. Give a mean of rows, a metric of labels, R2, the area under the ROC "
        "curve, average precision or an error rate at a threshold; others need all rows as arrays: "
        "skboot.bootstrap_score."
    )
    raise fail("metric", must, f"{statistic.name!r}, which needs all rows", advice)


class WeightsBlock(Block):
    """Resamples of which the weight of every code is known, (n_resamples, n_codes)."""

    def __init__(self, weights: Floats, reads: str) -> None:
        n = weights.shape[1]
        super().__init__(UnitsOfCodes(n, (n,), reads=reads), len(weights))
        self._by_resample = weights

    def _weights_by_entry(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        return self._by_resample[:, entries].T

    def _entry_weights(self, entries: slice | NDArray[np.intp]) -> NDArray[Any]:
        return np.ascontiguousarray(self._by_resample[:, entries])

    def _part(self, resamples: slice) -> WeightsBlock:
        return WeightsBlock(self._by_resample[resamples], self.units_of_codes.reads)


def weights_of_codes(reduced: ReducedData, weights: Floats) -> Floats:
    """Return the weights of cells, (n_cells, n_resamples), as those of codes."""
    code = np.arange(len(weights)) if reduced.code is None else reduced.code.astype(np.intp)
    code_weights = np.zeros((reduced.n_codes, weights.shape[1]))
    np.add.at(code_weights, code, weights)
    return code_weights


def _reduced_cells(
    statistic: Statistic, truth: NDArray[Any], answers: NDArray[Any], weights: Floats
) -> tuple[ReducedData, Floats]:
    """Reduce cells as rows; return also the weight of each code, (n_codes, 1 + n_resamples)."""
    reduced = statistic.reduce(truth, answers, None)
    code_weights = weights_of_codes(reduced, weights)
    data, observed = dict(reduced.data), code_weights[:, 0]
    if "observed" in data:
        data["observed"] = np.asarray(observed @ reduced.terms).reshape(-1)
        data["truth_counts"] = label_counts(truth, weights[:, 0])
        data["decision_counts"] = label_counts(answers, weights[:, 0])
    counts = observed.astype(np.int64)
    return replace(reduced, data=MappingProxyType(data), counts=counts), code_weights


def _movable_cells(table: CellTable) -> NDArray[np.bool_]:
    """Return whether the rows of each cell may lie on either side of others in their interval."""
    low, high = table.edges()
    return np.asarray(low < high)


def _movement(streamed: StreamedMetric, table: CellTable) -> float:
    """How far the value moves at most with the order of rows in the intervals of a table."""
    statistic, rank, movable = streamed.statistic, table.rank(), _movable_cells(table)
    if not movable.any():
        return 0.0
    truth, weights = streamed.rows.y_true, streamed.rows.sample_weight
    assert truth is not None
    assert weights is not None
    unsigned = statistic.unsigned or statistic
    positive = truth == (truth.max() if unsigned.pos_label is None else unsigned.pos_label)
    moved = []
    for upper in (positive, ~positive):
        scores = 2 * rank + (upper & movable)
        reduced, code_weights = _reduced_cells(statistic, truth, scores, weights[:, None])
        block = WeightsBlock(code_weights.T, statistic.reads)
        moved.append(float(statistic.evaluate(block, reduced)[0]))
    least = unsigned.least_in_intervals(positive, rank, weights, movable)
    if least is not None:
        moved[1] = least if unsigned is statistic else -least
    return max(abs(value - float(streamed.values[0])) for value in moved)
