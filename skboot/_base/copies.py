"""Copies of rows: rows that are equal in every column and target.

Where one copy is trained on and another is scored, the score is that of a row that is known
already, and too good. `copies_as_groups` makes a group of each row and its copies. `DistinctRows`
counts copies and distinguishes them from the natural repeats of coarse data (an age and two
flags).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import pairwise
from types import MethodType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .checks import EXACT, Unusable, as_array, check_readable, fail, is_missing, refuse_other_things
from .doors import door
from .sklearn_compat import n_rows_of

Keys = NDArray[np.uint64]
RowNumbers = NDArray[np.intp]

# Values that are worked on at a time (values, 256 kB): their temporaries stay in the cache.
_VALUES_AT_ONCE = 1 << 15
# Rows by which columns are ruled out before all rows are read (rows), and the least share of
# distinct values there: with half in all rows, a column has half in these on average.
_SAMPLE, _LEAST_IN_SAMPLE = 1000, 0.4
# Equal pairs beyond those that chance makes (ratio): chance is measured on distinct rows, where it
# is up to some times too small, since the pairs that are equal by chance are not among them.
_BEYOND_CHANCE = 10.0
# Chance below which no more columns are read (share of pairs): 1e8 rows have 5e15 pairs.
_NO_CHANCE = 1e-18
# Maximum number of rows per distinct text or object (ratio), and minimum number of these (values):
# texts that repeat more, or are fewer, are categories.
_ROOM_OF_TEXTS, _LEAST_TEXTS = 10, 30
# Parts that coarse columns are dealt to, of which halves are made in one way less, and columns that
# are dealt at most: with fewer the halves distinguish fewer rows, and fewer copies are found.
_N_PARTS, _MOST_DEALT = 8, 256
# Odd numbers of 64 bits without pattern: of a column, and by which those of the others differ.
_FACTOR, _STEP = np.uint64(0x94D049BB133111EB), np.uint64(0xBF58476D1CE4E5BA)


@door("copies_as_groups")
def copies_as_groups(X: Any, y: Any = None) -> NDArray[np.intp]:
    """Make a group of each row and its copies, for ``groups=``.

    Rows are copies if they are equal in every column and in their targets. As groups they are
    resampled, and left out, together, so no copy of a scored row was trained on. Natural repeats of
    coarse data, such as an age and two flags, are equal too; they are different cases, and need no
    groups.

    Parameters
    ----------
    X : array-like of shape (n_samples, ...)
        Rows: arrays, sparse matrices, data frames of pandas and polars, lists of numbers, of texts
        or of objects. Missing values equal each other.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
        Targets. Rows of different targets are not copies. Without ``y`` only ``X`` counts.

    Returns
    -------
    ndarray of shape (n_samples,)
        Number of the group of each row, from 0, in the order of the first rows of the groups.
        Without copies these are 0 to ``n_samples - 1``.

    Raises
    ------
    ValueError
        For rows that cannot be read, or a ``y`` of another length.

    See Also
    --------
    skboot.BootstrapScorer : Warns of copies, and takes these groups.

    Notes
    -----
    Rows are compared by keys of 64 bits. Two of ``n`` different rows share a key with probability
    ``n ** 2 / 2 ** 65``, which is 3e-10 for 100,000 rows.

    Examples
    --------
    >>> from skboot.model_selection import copies_as_groups
    >>> copies_as_groups([[1.5, 0.2], [0.7, 0.1], [1.5, 0.2]], ["a", "b", "a"])
    array([0, 1, 0])
    """
    n_rows = None
    for name, values in (("X", X), ("y", y)):
        if values is None and name == "y":
            continue
        check_readable(name, values)
        try:
            refuse_other_things(name, values)
            n_values = n_rows_of(values)
        except Unusable as error:
            raise fail(name, error.must, error.got, error.advice) from None
        except TypeError:
            must = "be an array-like, a row for each sample"
            raise fail(name, must, type(values).__name__) from None
        n_rows = n_values if n_rows is None else n_rows
        if n_values != n_rows:
            raise fail(name, f"have as many rows as X, {n_rows}", f"{n_values}")
    try:
        return DistinctRows(ComparedColumns(X, y)).number
    except Unusable as error:
        raise fail("X", error.must, error.got, error.advice) from None


def can_be_read(values: Any) -> bool:
    """Whether rows are in memory, in a form that is read without computing or loading them."""
    types = (type(None), np.ndarray, list, tuple)
    return isinstance(values, types) or sparse.issparse(values) or _is_table(values)


class _ColumnPart(NamedTuple):
    """Columns of one kind: an array (n_samples, ...) or a sparse matrix by rows.

    `numbered` says that the values are numbers of texts or objects.
    """

    values: Any
    numbered: bool = False


class ComparedColumns:
    """Rows and their targets as columns whose values can be compared.

    Parameters
    ----------
    X, y : array-like of n_samples rows
        Columns and targets.
    numbers : dict, optional
        Numbers of texts and objects; that of other rows makes the keys of both comparable.

    Raises
    ------
    skboot._base.checks.Unusable
        For values that no array can hold.
    """

    def __init__(self, X: Any, y: Any = None, *, numbers: dict[Any, int] | None = None) -> None:
        self.numbers: dict[Any, int] = {} if numbers is None else numbers
        target_parts = [] if y is None else _parts_of(y, self.numbers)
        self._of_rows = _parts_of(X, self.numbers)
        self._parts = self._of_rows + target_parts

    @cached_property
    def keys_without_targets(self) -> Keys:
        """Key of each row of X, (n_samples,): the sum of the mixed values of its columns."""
        return _sums_of(self._of_rows, 0)

    @cached_property
    def keys(self) -> Keys:
        """Key of each row, (n_samples,), its targets included."""
        n_columns = sum(int(np.prod(part.values.shape[1:])) for part in self._of_rows)
        target_parts = self._parts[len(self._of_rows) :]
        return self.keys_without_targets + _sums_of(target_parts, n_columns)

    def blocks(self, n_rows: int, most: int) -> Iterator[tuple[Callable[[RowNumbers], Any], bool]]:
        """Yield blocks of columns: a function from rows to their values, and whether numbered.

        Columns of sparse matrices with fewer than `most` - 1 entries are left out: they hold fewer
        distinct values. `n_rows` is how many rows will be read at a time.
        """
        n_columns = max(_VALUES_AT_ONCE // n_rows, 1)
        for values, numbered in self._parts:
            columns: Any = slice(None)
            if sparse.issparse(values):
                n_entries = np.bincount(values.indices, minlength=values.shape[1])
                columns = np.flatnonzero(n_entries >= most - 1)
            flat = values if sparse.issparse(values) else values.reshape(len(values), -1)
            column_numbers = np.arange(flat.shape[1])[columns]
            for start in range(0, len(column_numbers), n_columns):
                block = column_numbers[start : start + n_columns]
                yield partial(_values_at, flat, block), numbered


class _FineColumns(NamedTuple):
    """How well the fine columns, as a balance, distinguish distinct rows.

    Attributes
    ----------
    chance : float
        Share of pairs of rows that chance makes equal in these columns: the larger of the share of
        pairs of distinct rows and of what their room for values lets expect; 1 without columns.
    alone : ndarray of shape (n_distinct,)
        Whether no other distinct row has its values there, and not all are missing. Many rows have
        a balance of 0, and say nothing where all else is coarse.
    """

    chance: float
    alone: NDArray[np.bool_]


class DistinctRows:
    """The distinct rows among rows, and whether chance makes as many of them equal.

    Attributes
    ----------
    number : ndarray of shape (n_samples,)
        Number of the distinct row that each row is, in their order.
    """

    def __init__(self, columns: ComparedColumns) -> None:
        self._columns = columns
        self._keys, first_rows, number, self._counts = np.unique(
            columns.keys, return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first_rows)
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        # Of distinct rows the first row and how often they occur are in the order of their keys.
        self.number, self._first = place[number], first_rows

    @property
    def n_copies(self) -> int:
        """Rows that are copies of an earlier one; 0 where chance makes as many."""
        if len(self._first) == (n_rows := len(self.number)):
            return 0
        counts = self._counts[self._fine_columns.alone]
        equal = float(np.sum(counts * (counts - 1.0))) / 2
        if self._are_copies(equal, n_rows * (n_rows - 1) / 2):
            return int(np.sum(counts - 1))
        n_by_chance, is_specific = self._chance_pairs_by_halves
        counts = self._counts[is_specific]
        are_copies = np.count_nonzero(counts > 1) > _BEYOND_CHANCE * n_by_chance
        return int(np.sum(counts - 1)) if are_copies else 0

    def n_copies_in(self, columns: ComparedColumns) -> int:
        """Return how many other rows are copies of these; 0 where chance makes as many."""
        place = np.minimum(np.searchsorted(self._keys, columns.keys), len(self._keys) - 1)
        rows = place[self._keys[place] == columns.keys]
        if not len(rows):
            return 0
        alone = rows[self._fine_columns.alone[rows]]
        equal, n_pairs = float(self._counts[alone].sum()), float(len(self.number)) * len(place)
        if self._are_copies(equal, n_pairs):
            return len(alone)
        n_by_chance, is_specific = self._chance_pairs_by_halves
        rows = rows[is_specific[rows]]
        return len(rows) if len(np.unique(rows)) > _BEYOND_CHANCE * n_by_chance else 0

    def _are_copies(self, equal: float, n_pairs: float) -> bool:
        return equal > 0 and equal > _BEYOND_CHANCE * n_pairs * self._fine_columns.chance

    @cached_property
    def _fine_columns(self) -> _FineColumns:
        """How well the fine columns distinguish rows, all of them together.

        Fine columns have distinct values for at least half of the distinct rows, and room for a
        value of each row. An age in years has no room where there are more rows than ages.
        """
        row_keys = self._columns.keys_without_targets[self._first]
        n_distinct, most = len(self._first), (len(np.unique(row_keys)) + 1) // 2
        sample_rows = self._first[:: max(n_distinct // _SAMPLE, 1)]
        total, room = np.zeros(n_distinct, np.uint64), 1.0
        is_known = np.zeros(n_distinct, dtype=bool)
        best, orders = _FineColumns(1.0, np.zeros(n_distinct, dtype=bool)), set[int]()
        for read, numbered in self._columns.blocks(n_distinct, most):
            n_in_sample = _n_distinct(_bits_of(read(sample_rows)))
            for column in np.flatnonzero(n_in_sample >= _LEAST_IN_SAMPLE * len(sample_rows)):
                values = read(self._first)[:, column]
                bits = _bits_of(values)
                n_values = int(_n_distinct(bits[:, None])[0])
                is_text = numbered and n_values >= _LEAST_TEXTS
                if is_text:
                    column_room = float(n_values * _ROOM_OF_TEXTS)
                else:
                    # How many values are possible: those of a grid as fine as the closest two.
                    finite = np.unique(values[np.isfinite(values)].astype(float))
                    gaps = np.diff(finite)
                    column_room = (
                        float((finite[-1] - finite[0]) / gaps.min()) + 1 if len(gaps) else 1
                    )
                # What columns share that order the rows alike, or in reverse: the year of birth
                # says nothing that the age does not say.
                rank = np.unique(bits if numbered else values, return_inverse=True)[1]
                order = hash(min(rank.tobytes(), (rank.max() - rank).tobytes()))
                if n_values < most or column_room < len(self.number) or order in orders:
                    continue
                orders.add(order)
                total = _mix_bits(total + bits)
                room *= np.inf if is_text else column_room
                is_known |= ~np.isnan(values)
                chance, alone = _sharing(total, row_keys, 1 / room)
                best = _FineColumns(chance, alone & is_known)
                if best.chance < _NO_CHANCE:
                    return best
        return best

    @cached_property
    def _chance_pairs_by_halves(self) -> tuple[float, NDArray[np.bool_]]:
        """Pairs of distinct rows that coarse columns make equal by chance, and specific rows.

        The number of pairs is a bound, from the worst half of the columns. Columns are dealt to two
        halves, in several ways. Where each half distinguishes nearly all distinct rows, two cases
        that are equal in both are one case: chance makes fewer pairs equal in all columns than in
        either half, the number that is returned (of the worst half, at least 1). Columns that split
        the rows alike count once. A row is specific, and counts, if it has, in every half, a value
        that is neither missing nor the commonest: those who bought nothing are no copies.
        """
        row_keys = self._columns.keys_without_targets[self._first]
        n_distinct = len(self._first)
        total = np.zeros((_N_PARTS, n_distinct), np.uint64)
        has_rare_value = np.zeros((_N_PARTS, n_distinct), dtype=bool)
        splits = set[int]()
        for read, _ in self._columns.blocks(n_distinct, 2):
            if len(splits) >= _MOST_DEALT:
                break
            for values in read(self._first).T:
                bits = _bits_of(values)
                _, firsts, number, counts = np.unique(
                    bits, return_index=True, return_inverse=True, return_counts=True
                )
                split = hash(firsts[number].tobytes())
                if len(firsts) == 1 or split in splits or len(splits) >= _MOST_DEALT:
                    continue
                part = len(splits) % _N_PARTS
                splits.add(split)
                total[part] = _mix_bits(total[part] + bits)
                has_rare_value[part] |= ~np.isnan(values) & (number != np.argmax(counts))
        n_by_chance, is_specific = 1.0, np.ones(n_distinct, dtype=bool)
        n_rows = len(np.unique(row_keys))
        # Each way splits the parts in two by the parity of the bits that the part's number shares
        # with that of the way, so that any two parts are in different halves in some way.
        for way in range(1, _N_PARTS):
            is_odd = np.array([(way & part).bit_count() % 2 == 1 for part in range(_N_PARTS)])
            for half in (is_odd, ~is_odd):
                share, _ = _sharing(_mix_bits(total[half]).sum(axis=0), row_keys, 0.0)
                n_by_chance = max(n_by_chance, share * n_rows * (n_rows - 1) / 2)
                is_specific &= has_rare_value[half].any(axis=0)
        return n_by_chance, is_specific


def _sharing(total: Keys, row_keys: Keys, least: float) -> tuple[float, NDArray[np.bool_]]:
    """Share of pairs of rows that are equal in some columns, and which rows are alone there.

    ``total`` is the sum of the mixed values of these columns, and ``least`` the smallest share that
    is returned. Rows that differ in their targets alone are one row; see `_FineColumns`.
    """
    number = np.unique(total, return_inverse=True)[1]
    once = np.unique(_mix_bits(row_keys) + total, return_index=True)[1]
    counts, n_rows = np.bincount(number[once]), len(once)
    share = float(np.sum(counts * (counts - 1.0))) / max(n_rows * (n_rows - 1.0), 1.0)
    return max(share, least), counts[number] == 1


# ------------------------------------------------------------------ values as bits


def _values_at(flat: Any, columns: RowNumbers, rows: RowNumbers) -> NDArray[Any]:
    values = flat[:, columns][rows] if sparse.issparse(flat) else flat[np.ix_(rows, columns)]
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def _n_distinct(bits: Keys) -> NDArray[np.intp]:
    """Return the number of distinct values of each column."""
    ordered = np.sort(bits, axis=0)
    return np.asarray(1 + np.count_nonzero(ordered[1:] != ordered[:-1], axis=0))


def _sums_of(parts: Sequence[_ColumnPart], number: int) -> Any:
    """Return the sum of the mixed values of each row; 0 without columns.

    The first column has the number `number`. An entry of zero of a sparse matrix counts as none.
    """
    total: Any = np.uint64(0)
    for values, _ in parts:
        n_rows, n_columns = values.shape[0], int(np.prod(values.shape[1:]))
        sums = np.empty(n_rows, np.uint64)
        if sparse.issparse(values):
            bits = _bits_of(values.data)
            # Rows are as many as have about so many entries, but at least one.
            starts = np.searchsorted(values.indptr, np.arange(0, len(bits), _VALUES_AT_ONCE))
            for start, stop in pairwise(np.unique([0, *starts, n_rows]).tolist()):
                ends = values.indptr[start : stop + 1]
                entries = slice(ends[0], ends[-1])
                mixed = _mix_bits(bits[entries], _factors(number, values.indices[entries]))
                mixed[values.data[entries] == 0] = 0
                before = np.append(np.uint64(0), np.cumsum(mixed))
                sums[start:stop] = np.diff(before[ends - ends[0]])
        else:
            flat, factors = values.reshape(n_rows, -1), _factors(number, np.arange(n_columns))
            n_rows_at_once = max(_VALUES_AT_ONCE // max(n_columns, 1), 1)
            for start in range(0, n_rows, n_rows_at_once):
                bits = _bits_of(flat[start : start + n_rows_at_once])
                sums[start : start + n_rows_at_once] = _mix_bits(bits, factors).sum(axis=1)
        total = total + sums
        number += n_columns
    return total


def _factors(number: int, columns: NDArray[np.integer]) -> Keys:
    """Return an odd factor for each column."""
    return _FACTOR + (columns.astype(np.uint64) + np.uint64(number)) * _STEP


def _bits_of(values: NDArray[Any]) -> Keys:
    """Return the bits of numbers; equal numbers of any type have the same, and all NaN."""
    # -0.0 becomes 0.0; the smallest of some values is NaN where one of them is.
    floats = np.add(values, 0.0, dtype=np.float64)
    if values.size and np.isnan(floats.min()):
        floats[np.isnan(floats)] = np.nan
    bits = floats.view(np.uint64)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        # Floats cannot hold these apart; each by itself, since others are read by other calls.
        far = values > EXACT
        if values.dtype.kind == "i":
            far |= values < -EXACT
        bits[far] = values[far].astype(np.uint64)
    return bits


def _mix_bits(bits: Keys, factors: Any = _FACTOR) -> Keys:
    """Return bits of which each depends on all that are given, by odd factors.

    As in SplitMix64 (Steele, Lea & Flood 2014, OOPSLA, figure 15), with one factor: the keys are
    sums of values that are mixed.
    """
    mixed = bits >> np.uint64(32)
    mixed ^= bits
    mixed *= factors
    mixed ^= mixed >> np.uint64(29)
    return mixed


# ------------------------------------------------------------------ tables as parts


def _is_table(values: Any) -> bool:
    """Whether values are a frame or a series of pandas or polars."""
    return type(values).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(
        values, "shape"
    )


def _parts_of(values: Any, numbers: dict[Any, int]) -> list[_ColumnPart]:
    if sparse.issparse(values):
        compressed_rows = values.tocsr()
        if not compressed_rows.has_canonical_format:
            compressed_rows = compressed_rows.copy()
            compressed_rows.sum_duplicates()
        return [_ColumnPart(compressed_rows)]
    if not isinstance(values, np.ndarray) and _is_table(values) and len(values.shape) == 2:
        columns: list[Any] = [
            values.iloc[:, j] if hasattr(values, "iloc") else values[:, j]
            for j in range(values.shape[1])
        ]
        return [part for column in columns for part in _parts_of(column, numbers)]
    if isinstance(values, np.ndarray) and values.dtype.names:
        field_columns = [values[name] for name in values.dtype.names]
        return [part for column in field_columns for part in _parts_of(column, numbers)]
    array = values
    if not isinstance(values, np.ndarray):
        element: Any = values[0] if isinstance(values, list | tuple) and len(values) else None
        if isinstance(element, Mapping) or (hasattr(element, "__array__") and np.ndim(element) > 0):
            # A list of arrays or pictures becomes an array that refers to them.
            array = np.empty(len(values), dtype=object)
            array[:] = [*values]
        else:
            array = as_array(values)
    elif values.dtype.kind not in "biufMm":
        array = as_array(values)
    if array.dtype.kind in "Mm":
        return [_ColumnPart(array.view(np.int64))]
    if array.dtype.kind in "biuf":
        return [_ColumnPart(array)]
    # Texts and objects are numbered; equal ones have the same number.
    codes: list[int] = []
    for value in array.ravel().tolist():
        try:
            key = value if type(value) is str else _comparable(value)
            codes.append(numbers.setdefault(key, len(numbers)))
        except TypeError:
            # It cannot be compared, but with itself. Methods are equal where their objects are the
            # same, and keep these: the address of one that is gone would be that of a later one.
            codes.append(numbers.setdefault(MethodType(id, value), len(numbers)))
    return [_ColumnPart(np.array(codes, dtype=np.int64).reshape(array.shape), numbered=True)]


def _comparable(value: Any) -> Any:
    """Return what is equal for equal values, and can be looked up."""
    if isinstance(value, Mapping):
        return dict, frozenset((key, _comparable(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return list, tuple(_comparable(item) for item in value)
    if isinstance(value, set):
        return set, frozenset(value)
    if hasattr(value, "__array__") and np.ndim(value) > 0:
        array = np.ascontiguousarray(value)
        if not array.dtype.hasobject:
            digest = hashlib.blake2b(array.view(np.uint8).data, digest_size=16).digest()
            return array.dtype.str, array.shape, digest
        return array.shape, _comparable(array.tolist())
    return None if is_missing(value) else value
