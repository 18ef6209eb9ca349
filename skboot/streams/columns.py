"""Columns whose rows are not in memory, read once into the sums of a stream.

They are columns of dask, and those of `skboot.scan_dataset`. They go the way of a stream: partition
by partition, and without being collected. What a stream cannot do is refused by name, before any
row is read (`settings_of_columns`); few rows are handed back, to be resampled as arrays are.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from .._base import checks as check
from .._base.arguments import Anytime
from .._base.checks import has_order, is_dask
from .._base.doors import door
from .._base.work import (
    CHUNKS_PER_WORKER,
    Workers,
    check_dask_workers,
    progress,
    results_in_chunks,
    single_threaded_blas,
)
from ..inference.distribution import check_replicates_fit
from ..inference.intervals import method_of
from ..metrics.lookup import NotGiven
from ..resampling.design import words_of_groups
from ..study.rows import IntervalOptions, Sampling, Scoring
from .source import Stream
from .state import FEWEST_UNITS, N_BINS, ROWS_AT_ONCE, StreamSettings, StreamState, part_added

# Intervals that need neither rows nor values without single units, of scores and of differences.
STREAMED_SCORES = (
    *("auto", "wilson", "percentile", "expanded", "basic", "normal", "t", "logit-t", "anytime"),
)
STREAMED_DIFFERENCES = ("auto", "percentile", "expanded", "basic", "normal", "t", "anytime")


# ------------------------------------------------------------------ files larger than memory

# pyarrow reads them, batch by batch, and is imported when a data set is scanned.

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
        ``columns`` are the names, and ``collect()`` reads them into memory. ``["score"] >= 0.2``
        is a column of True and False, compared batch by batch; so are <, <=, >, == and !=.

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
        names = [os.fspath(path) for path in paths]
        # Reading ahead pays where each read waits for a network; its threads keep memory each.
        kind = ParquetFileFormat(pre_buffer=any("://" in path for path in names))
        try:
            scanned = dataset(
                names if len(names) > 1 else names[0], format=kind, partitioning="hive"
            )
        except (OSError, ArrowInvalid) as error:
            must = "be a Parquet file or a folder of these"
            reason = "not found" if isinstance(error, FileNotFoundError) else error
            raise check.fail("source", must, f"{source!r} ({reason})", _OF_FILES) from error
    else:
        scanned = source
    files = _Files(scanned)
    if not files.n_rows:
        raise check.fail("source", "hold at least one row", f"none in {source!r}")
    return DatasetColumns(files, tuple(scanned.schema.names), False)


_SIGNS = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}


class DatasetColumns:
    """Columns of a scanned data set, of which no row is read before it is needed.

    Made by `skboot.scan_dataset`, for `skboot.bootstrap_score` and `skboot.compare_systems`.

    Attributes
    ----------
    columns : list of str
        Their names.
    """

    is_scanned = True

    # Scalars of numpy leave comparisons to the column.
    __array_ufunc__ = None

    def __init__(
        self,
        files: _Files,
        names: tuple[str, ...],
        is_single: bool,
        comparison: tuple[Callable[[Any, Any], Any], Any] | None = None,
    ) -> None:
        self._files, self._names, self._is_single = files, names, is_single
        # What the values of a single column are compared by, and with; None where they are not.
        self._comparison = comparison

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._names)

    @property
    def name(self) -> str | None:
        """Name of a single column; None of several, and of one that is compared."""
        return self._names[0] if self._is_single and self._comparison is None else None

    def __getitem__(self, name: str | list[str]) -> DatasetColumns:
        names = [name] if isinstance(name, str) else list(name)
        for column in names:
            if column not in self._names:
                must = f"be one of {list(self._names)}"
                raise check.fail("name", must, repr(column))
        return DatasetColumns(self._files, tuple(names), isinstance(name, str))

    def __lt__(self, value: Any) -> DatasetColumns:
        return self._compared(operator.lt, value)

    def __le__(self, value: Any) -> DatasetColumns:
        return self._compared(operator.le, value)

    def __gt__(self, value: Any) -> DatasetColumns:
        return self._compared(operator.gt, value)

    def __ge__(self, value: Any) -> DatasetColumns:
        return self._compared(operator.ge, value)

    def __eq__(self, value: object) -> DatasetColumns:  # type: ignore[override]
        return self._compared(operator.eq, value)

    def __ne__(self, value: object) -> DatasetColumns:  # type: ignore[override]
        return self._compared(operator.ne, value)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise ValueError(
            f"{self!r} has a value in each row, and none for all of them. Give it as it is, or "
            "read the values by collect()."
        )

    def _compared(self, comparison: Callable[[Any, Any], Any], value: Any) -> DatasetColumns:
        """Return the column of True and False that a comparison with one value gives."""
        if not self._is_single or self._comparison is not None:
            raise ValueError(f"{self!r} cannot be compared. Name one column: data['score'] >= 0.2.")
        if not isinstance(value, str | bytes | int | float | np.generic):
            raise ValueError(
                f"{self!r} must be compared with one number or label. Got "
                f"{type(value).__name__}. In memory, where collect() reads a column, it is "
                "compared with others."
            )
        value = value.item() if isinstance(value, np.generic) else value
        return DatasetColumns(self._files, self._names, True, (comparison, value))

    def __repr__(self) -> str:
        names = ", ".join(self._names)
        if self._comparison is not None:
            names += f" {_SIGNS[self._comparison[0]]} {self._comparison[1]!r}"
        return f"<DatasetColumns: {names}>"

    def collect(self) -> NDArray[Any]:
        """Read all rows into memory.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_columns)
        """
        reader = _Reader(self._files, self._names, 0)
        return self._array(reader.take(self._files.n_rows), "columns")

    def _array(self, table: Any, argument: str) -> NDArray[Any]:
        from pyarrow import types

        arrays = []
        for name in self._names:
            column = table.column(name)
            if has_order(column):
                arrays.append(check.converted(argument, column))
                continue
            values: NDArray[Any] = column.to_numpy()
            is_list = types.is_list(column.type) or types.is_large_list(column.type)
            if is_list or types.is_fixed_size_list(column.type):
                # Lists of one length are rows of an array.
                lengths = {-1 if row is None else len(row) for row in values}
                if len(lengths) > 1 or -1 in lengths:
                    must = "hold lists of one length"
                    got = f"lengths {sorted(lengths)[:3]}, with -1 for none"
                    raise check.fail(argument, must, got)
                values = np.stack(values.tolist())
            arrays.append(values)
        if self._comparison is not None:
            comparison, value = self._comparison
            values = np.asarray(arrays[0])
            # A score that is missing would be below every threshold.
            nothing: Any = None
            if values.ndim != 1 or bool(np.any((values != values) | (values == nothing))):
                must = "hold one value in each row where it is compared"
                raise check.fail(argument, must, "a missing one, or lists")
            try:
                return np.asarray(comparison(values, value), dtype=bool)
            except TypeError as error:
                must = f"hold numbers or labels that have an order with {value!r}"
                got = f"{type(values[0]).__name__} values"
                raise check.fail(argument, must, got) from error
        return arrays[0] if self._is_single else np.column_stack(arrays)


def state_of_scanned(
    settings: StreamSettings, columns: Mapping[str, Any], workers: Workers
) -> tuple[StreamSettings, StreamState]:
    """Return the state of all rows, which does not depend on the number of workers.

    The settings are those for so many rows.

    Parameters
    ----------
    settings : StreamSettings
    columns : mapping of str to array-like
        As of `skboot.streams.state.part_added`; at least one of them scanned.
    workers : Workers
    """
    arrays: dict[str, Any] = {
        name: column if isinstance(column, DatasetColumns) else check.converted(name, column)
        for name, column in columns.items()
    }
    name_of_files = next(
        name for name, column in arrays.items() if isinstance(column, DatasetColumns)
    )
    files = arrays[name_of_files]._files
    n_rows = files.n_rows
    for name, column in arrays.items():
        n = column._files.n_rows if isinstance(column, DatasetColumns) else len(column)
        if n != n_rows:
            must = f"have as many rows as {name_of_files!r}"
            got = f"{check.counted(n, 'row')} and {check.counted(n_rows, 'row')}"
            raise check.fail(name, must, got)
    settings = settings.for_rows(n_rows)
    # Runs of rows begin and end with parts of the files, and are of about one size.
    edges, step = [0], max(n_rows // _RUNS, 1)
    for end in files.ends:
        if end - edges[-1] >= step or end == n_rows:
            edges.append(end)
    runs = [range(*pair) for pair in pairwise(edges) if pair[0] < pair[1]]
    # A data set with a filter is one part, and loses the filter when it is pickled.
    n_jobs = workers.n_jobs if len(runs) > 1 else 1
    # States are added up where they are made: a worker keeps one for its share of the runs.
    n_workers, n_shares = effective_n_jobs(n_jobs), len(runs)
    if n_workers > 1:
        n_shares = min(len(runs), CHUNKS_PER_WORKER * n_workers)
    shares = [runs[k::n_shares] for k in range(n_shares)]
    seconds = n_rows * settings.n_drawn * _SECONDS_PER_WEIGHT / len(shares)
    work = (_state_of_runs, (settings, arrays), shares)
    total = StreamState.empty(settings)
    with progress(n_rows, "rows", workers.verbose) as done:
        for states in results_in_chunks(*work, n_jobs=n_jobs, seconds_each=seconds):
            for state in states:
                total = total.plus(state, settings)
                done(state.n_rows)
    return settings, total


def _state_of_runs(
    shared: tuple[StreamSettings, Mapping[str, Any]], runs: Sequence[range]
) -> StreamState:
    """Return the state of some runs of rows."""
    settings, columns = shared
    names: dict[int, dict[str, None]] = {}
    files: dict[int, _Files] = {}
    for column in columns.values():
        if isinstance(column, DatasetColumns):
            files[id(column._files)] = column._files
            names.setdefault(id(column._files), {}).update(dict.fromkeys(column.columns))
    total: StreamState | None = None
    for run in runs:
        state = StreamState.empty(settings)
        readers = {
            key: _Reader(parts, tuple(names[key]), run.start) for key, parts in files.items()
        }
        for start in range(run.start, run.stop, ROWS_AT_ONCE):
            stop = min(start + ROWS_AT_ONCE, run.stop)
            tables = {key: reader.take(stop - start) for key, reader in readers.items()}
            batch = {
                name: column._array(tables[id(column._files)], name)
                if isinstance(column, DatasetColumns)
                else column[start:stop]
                for name, column in columns.items()
            }
            state = part_added(settings, state, batch, start)
        total = state if total is None else total.plus(state, settings)
    assert total is not None
    return total


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
        self._lengths: list[int] = []
        for part in self._parts:
            # A fragment counts the rows of its whole file, and not of some groups of its rows.
            groups = getattr(part, "row_groups", None)
            n = part.count_rows() if groups is None else sum(group.num_rows for group in groups)
            self._lengths.append(int(n))
        # Number of rows up to the end of each part.
        self.ends: list[int] = np.cumsum(self._lengths, dtype=np.int64).tolist()
        self.n_rows = sum(self._lengths)

    def batches(self, names: Sequence[str], start: int) -> Iterator[Any]:
        """Yield batches of columns from a row on, the first rows of its part cut off."""
        for part, n, end in zip(self._parts, self._lengths, self.ends, strict=True):
            if end <= start:
                continue
            skipped, n_read = max(start - (end - n), 0), 0
            for batch in part.to_batches(columns=list(names), **self._options):
                n_read += batch.num_rows
                if skipped < batch.num_rows:
                    yield batch.slice(skipped)
                skipped = max(skipped - batch.num_rows, 0)
            if n_read != n:
                raise RuntimeError(
                    f"A part of the data set had {check.counted(n, 'row')} when it was scanned, "
                    f"and has {n_read} now. Scan it again when nothing writes to it."
                )


def release_unused() -> None:
    """Give memory that pyarrow keeps for later columns back, where it has been imported."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()


class _Reader:
    """Takes rows in turn, from a row on."""

    def __init__(self, files: _Files, names: tuple[str, ...], start: int) -> None:
        self._batches = files.batches(names, start)
        self._left: list[Any] = []

    def take(self, n_rows: int) -> Any:
        """Return the next rows as a table of pyarrow."""
        from pyarrow import Table

        pieces, n = [], 0
        while n < n_rows:
            batch = self._left.pop() if self._left else next(self._batches)
            rows = batch.slice(0, n_rows - n)
            if rows.num_rows < batch.num_rows:
                self._left.append(batch.slice(rows.num_rows))
            pieces.append(rows)
            n += rows.num_rows
        # What was read on the way would stay beside the sums until the next rows are read.
        release_unused()
        return Table.from_batches(pieces)


# ------------------------------------------------------------------ columns of dask

# A state of each partition is made where it lies, and states are added in pairs. Nothing is
# collected: states travel, rows do not. Dask is imported when one of its columns is given.

_TO_ALIGN = "Take all columns from one dataframe, or give arrays of known chunks."


def state_of_dask(
    settings: StreamSettings, columns: Mapping[str, Any], verbose: int | None
) -> tuple[StreamSettings, StreamState]:
    """Return the state of all rows, computed by the scheduler that dask is set to.

    Parameters
    ----------
    settings : StreamSettings
    columns : mapping of str to array-like
        As of `skboot.streams.state.part_added`; at least one of them of dask.
    verbose : int or None
        Verbosity of the progress of schedulers in this process; a cluster has a dashboard.
    """
    dask = _import("dask")
    for name, values in columns.items():
        # What is delayed has every attribute, and each of these is delayed as well.
        is_array = isinstance(getattr(values, "chunks", None), tuple)
        if is_dask(values) and not (_is_frame(values) or is_array):
            must = "be a dask array, or columns of a dask dataframe"
            raise check.fail(name, must, type(values).__name__)
    check_dask_workers()
    # BLAS has one thread in each thread of dask, which otherwise would all ask for all processors.
    with single_threaded_blas():
        parts, lengths = _pieces_of_partitions(columns)
        settings = settings.for_rows(sum(lengths))
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).tolist()
        # What all tasks share is one task, which goes to each worker once.
        shared = dask.delayed(settings, pure=False, traverse=False)
        part_state = dask.delayed(_part_state, pure=False)
        plus = dask.delayed(StreamState.plus, pure=False)
        states = [
            part_state(shared, part, start, n_rows)
            for part, start, n_rows in zip(parts, starts, lengths, strict=True)
        ]
        while len(states) > 1:
            pairs = zip(states[::2], states[1::2], strict=False)
            odd = states[-1:] if len(states) % 2 else []
            states = [plus(*pair, shared) for pair in pairs] + odd
        with progress(len(parts), "partitions", verbose) as done:

            def count(key: Any, *_: Any) -> None:
                """Count a task that has ended, if it was that of a partition."""
                if str(key).startswith(_part_state.__name__):
                    done(1)

            with _import("dask.callbacks").Callback(posttask=count):
                total: StreamState = dask.compute(states[0])[0]
    return settings, total


def _part_state(
    settings: StreamSettings, columns: Sequence[Any], start: int, n_rows: int
) -> StreamState:
    """Return the state of a partition; pieces hold one or several columns."""
    joined = {name: column for piece in columns for name, column in piece.items()}
    for name, column in joined.items():
        if len(column) != n_rows:
            must = f"have as many rows in each partition as other columns, here {n_rows}"
            raise check.fail(name, must, f"{len(column)}", _TO_ALIGN)
    return part_added(settings, StreamState.empty(settings), joined, start)


def _import(package: str) -> Any:
    """Return a package, whose types do not name all that it exports."""
    return import_module(package)


def _is_frame(values: Any) -> bool:
    return isinstance(getattr(values, "divisions", None), tuple)


def _pieces_of_partitions(columns: Mapping[str, Any]) -> tuple[list[list[Any]], list[int]]:
    """Return the pieces of each partition, dicts of columns, and its number of rows.

    Rows number themselves, so partitions are counted first where dask does not know how long they
    are: this reads, or computes, what is not persisted once more.
    """
    dask = _import("dask")
    lazy = {name: column for name, column in columns.items() if is_dask(column)}
    frames = {name: column for name, column in lazy.items() if _is_frame(column)}
    uncounted = {
        name: column
        for name, column in lazy.items()
        if name not in frames and np.isnan(column.chunks[0]).any()
    }
    pieces = []
    if frames:
        # Columns of dataframes are in one graph: they are read together.
        leading = next(iter(frames))
        for name, frame in frames.items():
            if frame.npartitions != frames[leading].npartitions:
                must = f"have as many partitions as {leading!r}"
                got = f"{frame.npartitions} and {frames[leading].npartitions}"
                raise check.fail(name, must, got, _TO_ALIGN)
        packed = _import("dask.dataframe").map_partitions(
            _packed_columns,
            *frames.values(),
            names=list(frames),
            meta=_import("pandas").Series([], dtype=object),
            align_dataframes=False,
            enforce_metadata=False,
        )
        pieces.append(list(packed.to_delayed()))
    pieces += [_pieces_of_array(name, column) for name, column in uncounted.items()]
    if pieces:
        n_rows = dask.delayed(lambda piece: len(next(iter(piece.values()))), pure=False)
        lengths = [int(n) for n in dask.compute([n_rows(piece) for piece in pieces[0]])[0]]
    else:
        lengths = list(next(iter(lazy.values())).chunks[0])
    named = dask.delayed(_named_piece, pure=False)
    for name, values in columns.items():
        if name in frames or name in uncounted:
            continue
        # The length of an array is known: it is cut like the others.
        column: Any = values if name in lazy else check.converted(name, values)
        if len(column) != sum(lengths):
            must = "have as many rows as other columns"
            raise check.fail(name, must, f"{check.counted(len(column), 'row')} and {sum(lengths)}")
        if name not in lazy:
            parts = np.split(column, np.cumsum(lengths)[:-1])
            pieces.append([named(name, part) for part in parts])
        elif column.chunks[0] == tuple(lengths):
            pieces.append(_pieces_of_array(name, column))
        else:
            pieces.append(_pieces_of_array(name, column.rechunk({0: tuple(lengths)})))
    for piece, name in zip(pieces, [*list(frames)[:1], *uncounted], strict=False):
        if len(piece) != len(lengths):
            must = f"have partitions like those of other columns, here {len(lengths)}"
            raise check.fail(name, must, f"{len(piece)}", _TO_ALIGN)
    return [list(part) for part in zip(*pieces, strict=True)], lengths


def _packed_columns(*columns: Any, names: Sequence[str]) -> Any:
    """Return a partition of several columns as one value."""
    arrays = {
        name: check.converted(name, column) for name, column in zip(names, columns, strict=True)
    }
    release_unused()
    return arrays


def _pieces_of_array(name: str, array: Any) -> list[Any]:
    """Return the blocks of rows of an array of dask, each under the name of its column."""
    dask = _import("dask")
    row_blocks = array.rechunk({1: -1}) if array.ndim == 2 else array
    named = dask.delayed(_named_piece, pure=False)
    return [named(name, block) for block in row_blocks.to_delayed().ravel()]


def _named_piece(name: str, block: Any) -> dict[str, Any]:
    return {name: block}


# ------------------------------------------------------------------ both, read once

ADVICE = (
    "Rows that are not in memory are resampled as a stream, one by one. If they fit into memory, "
    "give arrays: .compute(), or .collect()."
)


def streamed(
    y_true: Any,
    y_preds: Mapping[str | None, tuple[str, Any]],
    scoring: Scoring,
    sampling: Sampling,
    score_options: IntervalOptions,
    *,
    interval: str | Anytime | None = None,
    intervals: Sequence[str] = STREAMED_SCORES,
) -> Stream:
    """Read columns in parts, once; refuse what a stream cannot do before the first row is read.

    Parameters
    ----------
    y_true : array-like or None
    y_preds : mapping of str or None to tuple (str, array-like)
        By the name of each system, None of one that has none: the argument that its predictions
        came in, and these.
    scoring : Scoring
    sampling : Sampling
    score_options : IntervalOptions
        Options of each system by itself.
    interval : str or Anytime, optional
        Interval of differences, where these are what is asked for.
    intervals : sequence of str
        Those that a stream can have.

    Returns
    -------
    Stream
        Of few rows it has these: they are resampled together, as arrays are.
    """
    interval_of_call = score_options.interval if interval is None else interval
    settings = settings_of_columns(
        tuple(y_preds), scoring, sampling, score_options, interval_of_call, intervals
    )
    return stream_of_columns(settings, y_true, y_preds, sampling, score_options.workers)


def settings_of_columns(
    systems: tuple[str | None, ...],
    scoring: Scoring,
    sampling: Sampling,
    score_options: IntervalOptions,
    interval: str | Anytime,
    intervals: Sequence[str],
) -> StreamSettings:
    """Return the settings of a stream of columns, checked before a row is read; any seed will do.

    See `streamed`, whose first step it is; ``statistics`` of the settings are the metrics.
    """
    refused = {**sampling.not_streamed, "adjust": score_options.adjust}
    for name, value in refused.items():
        if value is not None and value is not False:
            must = "not be given with columns that are not in memory"
            is_scalar = np.ndim(value) == 0 and np.isscalar(value)
            got = repr(value) if is_scalar else type(value).__name__
            raise check.fail(name, must, got, ADVICE)
    if method_of(interval) not in intervals:
        must = f"be one of {list(intervals)} with columns that are not in memory"
        raise check.fail("interval", must, repr(interval), ADVICE)
    metric = scoring.metric
    settings = StreamSettings(
        metric=str(metric) if isinstance(metric, NotGiven) else metric,
        seed=check.check_seed(sampling.random_state),
        n_resamples=check.check_count(
            "n_resamples", sampling.n_resamples, 2, "1999 is enough for a 95% interval."
        ),
        systems=systems,
        labels=check.check_labels(scoring.labels, None),
        n_bins=N_BINS,
        confidence_level=score_options.confidence_level,
        interval=interval,
        greater_is_better=check.check_direction(scoring.greater_is_better),
        pos_label=check.check_label("pos_label", scoring.pos_label),
    )
    # Metrics that a stream cannot have are refused here.
    n_scores = len(settings.readings) * len(systems)
    check_replicates_fit(settings.n_resamples, n_scores)
    return settings


def stream_of_columns(
    settings: StreamSettings,
    y_true: Any,
    y_preds: Mapping[str | None, tuple[str, Any]],
    sampling: Sampling,
    workers: Workers,
) -> Stream:
    """Return the stream of all rows of columns; see `streamed`."""
    unit_columns = sampling.streamed
    columns = {"y_true": y_true, **unit_columns, **dict(y_preds.values())}
    # Pairs of labels, of one system whose rows are units, are counted where they are all that is
    # read; few pairs are drawn after that.
    metrics = settings.statistics.values()
    if (
        len(y_preds) == 1
        and all(column is None for column in unit_columns.values())
        and all(statistic.response == "labels" for [statistic] in metrics)
    ):
        counting, counts = _state_of_columns(
            replace(settings, may_be_counted=True), columns, workers
        )
        state = counts.with_resamples(counting) if counting.counted else counts
        if state is not None:
            return Stream.of(counting, state)
    return Stream.of(*_state_of_columns(settings, columns, workers))


def _state_of_columns(
    settings: StreamSettings, columns: Mapping[str, Any], workers: Workers
) -> tuple[StreamSettings, StreamState]:
    """Return the state of all rows of columns by argument, and its settings."""
    values = {name: column for name, column in columns.items() if column is not None}
    dask_columns = [name for name, column in values.items() if is_dask(column)]
    scanned_columns = [
        name for name, column in values.items() if isinstance(column, DatasetColumns)
    ]
    if dask_columns and scanned_columns:
        must = "be of the same kind as other columns"
        got = f"a column of dask, and of scan_dataset in {scanned_columns[0]!r}"
        raise check.fail(dask_columns[0], must, got)
    if dask_columns:
        settings, state = state_of_dask(settings, values, workers.verbose)
    else:
        settings, state = state_of_scanned(settings, values, workers)
    # Parts are read as arrays, which have no name.
    state = replace(state, named=words_of_groups(values.get("groups")).named)
    if state.n_units < FEWEST_UNITS and not state.has_few:
        name, unit = (
            ("groups", f"{words_of_groups(values['groups']).unit}s")
            if "groups" in values
            else ((dask_columns or scanned_columns)[0], "rows")
        )
        must = f"hold at least {FEWEST_UNITS} {unit} where they are not in memory"
        advice = "Give arrays, which are resampled together: .compute(), or .collect()."
        raise check.fail(name, must, f"{state.n_units}", advice)
    return settings, state
