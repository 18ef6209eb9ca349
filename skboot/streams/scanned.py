"""Columns of files that are larger than memory: `scan_dataset`, and a stream of their rows.

pyarrow reads the files, batch by batch, and is imported when a data set is scanned.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from .._base import checks as check
from .._base.arrays import has_order
from .._base.doors import door
from .._base.workers import CHUNKS_PER_WORKER, Progress, Workers, in_chunks
from .batches import ROWS_AT_ONCE, part_added
from .state import StreamSettings, StreamState

# Runs of rows that become a state each: enough for the workers, and to report progress.
_RUNS = 64
# Predicted time of a weight, and of what is done with it.
_SECONDS_PER_WEIGHT = 4e-9


_OF_FILES = (
    "Give a folder, or the list of its files: sorted(glob.glob('predictions/*.parquet')). For CSV "
    "give pyarrow.dataset.dataset(folder, format='csv')."
)


@door("scan_dataset")
def scan_dataset(source: Any) -> DatasetColumns:
    """Columns of a Parquet folder, or of a pyarrow data set, whose rows are not read yet.

    `skboot.bootstrap_score` and `skboot.compare_systems` take them in place of arrays and read them
    batch by batch, so files may be larger than memory.

    Parameters
    ----------
    source : str, path, list of these, or pyarrow.dataset.Dataset
        A Parquet file, a folder of these, several files in the order of their rows, or a data set
        of any format. Files of a folder are in the order of their names.

    Returns
    -------
    DatasetColumns
        All columns. ``["name"]`` gives one, as an array of shape (n_samples,), and ``[["a", "b"]]``
        two, of shape (n_samples, 2); a column of lists of one length has two dimensions too.
        ``columns`` are the names, and ``collect()`` reads them into memory.

    Raises
    ------
    ValueError
        If there are no such files, or they hold no rows.
    ImportError
        Without pyarrow.

    Examples
    --------
    >>> from skboot import bootstrap_score, compare_systems, scan_dataset
    >>> data = scan_dataset("predictions/")  # doctest: +SKIP
    >>> bootstrap_score(data["label"], data["score"], metric="roc_auc")  # doctest: +SKIP
    >>> compare_systems(data["label"], data[["new", "old"]])  # doctest: +SKIP
    """
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.dataset import Dataset, ParquetFileFormat, dataset
    except ImportError as error:
        raise ImportError(
            "scan_dataset needs pyarrow. Install it with pip install pyarrow, or skboot[arrow]."
        ) from error
    if not isinstance(source, Dataset):
        paths = source if isinstance(source, list | tuple) else [source]
        if not paths or not all(isinstance(path, str | os.PathLike) for path in paths):
            must = "be a path, a list of paths, or a pyarrow data set"
            raise check.fail("source", must, repr(source))
        given = [os.fspath(path) for path in paths]
        # Reading ahead pays where each read waits for a network; its threads keep memory each.
        kind = ParquetFileFormat(pre_buffer=any("://" in path for path in given))
        try:
            found = dataset(given if len(given) > 1 else given[0], format=kind, partitioning="hive")
        except (OSError, ArrowInvalid) as error:
            must = "be a Parquet file or a folder of these"
            said = "not found" if isinstance(error, FileNotFoundError) else error
            raise check.fail("source", must, f"{source!r} ({said})", _OF_FILES) from error
    else:
        found = source
    files = _Files(found)
    if not files.n_rows:
        raise check.fail("source", "hold at least one row", f"none in {source!r}")
    return DatasetColumns(files, tuple(found.schema.names), False)


class DatasetColumns:
    """Columns of a scanned data set, of which no row is read before it is needed.

    Made by `skboot.scan_dataset`, for `skboot.bootstrap_score` and `skboot.compare_systems`.

    Attributes
    ----------
    columns : list of str
        Their names.
    """

    is_scanned = True

    def __init__(self, files: _Files, names: tuple[str, ...], is_single: bool) -> None:
        self._files, self._names, self._is_single = files, names, is_single

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._names)

    def __getitem__(self, name: str | list[str]) -> DatasetColumns:
        names = [name] if isinstance(name, str) else list(name)
        for one in names:
            if one not in self._names:
                must = f"be one of {list(self._names)}"
                raise check.fail("name", must, repr(one))
        return DatasetColumns(self._files, tuple(names), isinstance(name, str))

    def __repr__(self) -> str:
        return f"<DatasetColumns: {', '.join(self._names)}>"

    def collect(self) -> NDArray[Any]:
        """Read all rows into memory.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_columns)
        """
        reader = _Reader(self._files, self._names, 0)
        return self._array(reader.take(self._files.n_rows), "columns")

    def _array(self, table: Any, argument: str) -> NDArray[Any]:
        columns = [_as_numpy(table.column(name), argument) for name in self._names]
        return columns[0] if self._is_single else np.column_stack(columns)


def _as_numpy(column: Any, argument: str) -> NDArray[Any]:
    """Return a column of a table of pyarrow; lists of one length are rows of an array."""
    from pyarrow import types

    if has_order(column):
        return check.converted(argument, column)
    found: NDArray[Any] = column.to_numpy()
    is_nested = types.is_list(column.type) or types.is_large_list(column.type)
    if not is_nested and not types.is_fixed_size_list(column.type):
        return found
    lengths = {-1 if row is None else len(row) for row in found}
    if len(lengths) > 1 or -1 in lengths:
        must, got = "hold lists of one length", f"lengths {sorted(lengths)[:3]}, with -1 for none"
        raise check.fail(argument, must, got)
    return np.stack(found.tolist())


def state_of_scanned(
    settings: StreamSettings, columns: Mapping[str, Any], workers: Workers
) -> tuple[StreamSettings, StreamState]:
    """Return the state of all rows, which does not depend on the number of workers.

    The settings are those for so many rows.

    Parameters
    ----------
    settings : StreamSettings
    columns : mapping of str to array-like
        As of `skboot.streams.batches.part_added`; at least one of them scanned.
    workers : Workers
    """
    given: dict[str, Any] = {
        name: one if isinstance(one, DatasetColumns) else check.converted(name, one)
        for name, one in columns.items()
    }
    first = next(name for name, one in given.items() if isinstance(one, DatasetColumns))
    files = given[first]._files
    n_rows = files.n_rows
    for name, one in given.items():
        n = one._files.n_rows if isinstance(one, DatasetColumns) else len(one)
        if n != n_rows:
            must = f"have as many rows as {first!r}"
            raise check.fail(name, must, f"{n} rows and {n_rows} rows")
    settings = settings.for_rows(n_rows)
    runs = _runs(files.ends)
    found = StreamState.empty(settings)
    # A data set with a filter is one part, and loses the filter when it is pickled.
    n_jobs = workers.n_jobs if len(runs) > 1 else 1
    shares = _shares(runs, effective_n_jobs(n_jobs))
    seconds = n_rows * settings.n_drawn * _SECONDS_PER_WEIGHT / len(shares)
    work = (_state_of_share, (settings, given), shares)
    with Progress(n_rows, "rows", workers.verbose) as progress:
        for states in in_chunks(*work, n_jobs=n_jobs, seconds_each=seconds):
            for state in states:
                found = found.plus(state, settings)
                progress.done(state.n_rows)
    return settings, found


class _Run(NamedTuple):
    first: int
    last: int


def _runs(ends: Sequence[int]) -> list[_Run]:
    """Return runs of rows that begin and end with parts of the files, of about one size."""
    edges, step = [0], max(ends[-1] // _RUNS, 1)
    for end in ends:
        if end - edges[-1] >= step or end == ends[-1]:
            edges.append(end)
    return [_Run(*pair) for pair in pairwise(edges) if pair[0] < pair[1]]


def _shares(runs: Sequence[_Run], n_workers: int) -> list[Sequence[_Run]]:
    """Return runs in sets whose states are added up where they are made: a worker keeps one."""
    n_shares = len(runs) if n_workers == 1 else min(len(runs), CHUNKS_PER_WORKER * n_workers)
    return [runs[k::n_shares] for k in range(n_shares)]


def _state_of_share(
    shared: tuple[StreamSettings, Mapping[str, Any]], runs: Sequence[_Run]
) -> StreamState:
    """Return the state of some runs of rows."""
    states = (_run_state(shared, run) for run in runs)
    return reduce(lambda one, other: one.plus(other, shared[0]), states)


def _run_state(shared: tuple[StreamSettings, Mapping[str, Any]], run: _Run) -> StreamState:
    """Return the state of a run of rows."""
    settings, columns = shared
    state = StreamState.empty(settings)
    names: dict[int, dict[str, None]] = {}
    files: dict[int, _Files] = {}
    for one in columns.values():
        if isinstance(one, DatasetColumns):
            files[id(one._files)] = one._files
            names.setdefault(id(one._files), {}).update(dict.fromkeys(one.columns))
    readers = {key: _Reader(own, tuple(names[key]), run.first) for key, own in files.items()}
    for at in range(run.first, run.last, ROWS_AT_ONCE):
        until = min(at + ROWS_AT_ONCE, run.last)
        tables = {key: reader.take(until - at) for key, reader in readers.items()}
        batch = {
            name: one._array(tables[id(one._files)], name)
            if isinstance(one, DatasetColumns)
            else one[at:until]
            for name, one in columns.items()
        }
        state = part_added(settings, state, batch, at)
    return state


# ------------------------------------------------------------------ files


class _Files:
    """Parts of a data set in their order, and how many rows each has."""

    def __init__(self, dataset: Any) -> None:
        self._options: dict[str, Any] = {"batch_readahead": 1, "use_threads": False}
        self._parts: list[Any] = []
        try:
            for fragment in dataset.get_fragments():
                split = getattr(fragment, "split_by_row_group", None)
                self._parts += [fragment] if split is None else split()
            self._options["schema"] = dataset.schema
        except ValueError:
            # A data set with a filter has no parts that know of it.
            self._parts = [dataset]
        self._lengths = [_n_rows(part) for part in self._parts]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self._lengths)

    @cached_property
    def ends(self) -> list[int]:
        """Number of rows up to the end of each part."""
        return list(np.cumsum(self._lengths).tolist())

    def batches(self, names: Sequence[str], first: int) -> Iterator[Any]:
        """Yield batches of columns from a row on, the first rows of its part cut off."""
        for part, n, end in zip(self._parts, self._lengths, self.ends, strict=True):
            if end <= first:
                continue
            skipped, n_read = max(first - (end - n), 0), 0
            for batch in part.to_batches(columns=list(names), **self._options):
                n_read += batch.num_rows
                if skipped < batch.num_rows:
                    yield batch.slice(skipped)
                skipped = max(skipped - batch.num_rows, 0)
            if n_read != n:
                raise RuntimeError(
                    f"A part of the data set had {n} rows when it was scanned, and has {n_read} "
                    "rows now. Scan it again when nothing writes to it."
                )


def release_unused() -> None:
    """Give memory that pyarrow keeps for later columns back, where it has been imported."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()


def _n_rows(part: Any) -> int:
    """Return the number of rows of a file, or of some groups of rows of a Parquet file."""
    groups = getattr(part, "row_groups", None)
    # A fragment counts the rows of its whole file.
    n = part.count_rows() if groups is None else sum(group.num_rows for group in groups)
    return int(n)


class _Reader:
    """Takes rows in turn, from a row on."""

    def __init__(self, files: _Files, names: tuple[str, ...], first: int) -> None:
        self._batches = files.batches(names, first)
        self._left: list[Any] = []

    def take(self, n_rows: int) -> Any:
        """Return the next rows as a table of pyarrow."""
        from pyarrow import Table

        taken, n = [], 0
        while n < n_rows:
            batch = self._left.pop() if self._left else next(self._batches)
            own = batch.slice(0, n_rows - n)
            if own.num_rows < batch.num_rows:
                self._left.append(batch.slice(own.num_rows))
            taken.append(own)
            n += own.num_rows
        # What was read on the way would stay beside the sums until the next rows are read.
        release_unused()
        return Table.from_batches(taken)
