"""Columns of dask as a stream: a state of each partition, made where it lies, and added in pairs.

Nothing is collected: states travel, rows do not. Dask is imported when one of its columns is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from .._base import checks as check
from .._base.arrays import is_dask
from .._base.workers import Progress, check_dask_workers, single_threaded_blas
from .batches import part_added
from .scanned import release_unused
from .state import StreamSettings, StreamState

Columns = Mapping[str, Any]

_TO_ALIGN = "Take all columns from one dataframe, or give arrays of known chunks."


def state_of_dask(
    settings: StreamSettings, columns: Columns, verbose: int | None
) -> tuple[StreamSettings, StreamState]:
    """Return the state of all rows, computed by the scheduler that dask is set to.

    Parameters
    ----------
    settings : StreamSettings
    columns : mapping of str to array-like
        As of `skboot.streams.batches.part_added`; at least one of them of dask.
    verbose : int or None
        Of the progress of schedulers in this process; a cluster has a dashboard.
    """
    dask = _imported("dask")
    for name, values in columns.items():
        if is_dask(values) and not (_is_frame(values) or _is_array(values)):
            must = "be a dask array, or columns of a dask dataframe"
            raise check.fail(name, must, type(values).__name__)
    check_dask_workers()
    # BLAS has one thread in each thread of dask, which otherwise would all ask for all processors.
    with single_threaded_blas():
        parts, lengths = _parts(columns)
        settings = settings.for_rows(sum(lengths))
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).tolist()
        # What all tasks share is one task, which goes to each worker once.
        shared = dask.delayed(settings, pure=False, traverse=False)
        part_state = dask.delayed(_part_state, pure=False)
        both = dask.delayed(_both, pure=False)
        states = [
            part_state(shared, part, start, n_rows)
            for part, start, n_rows in zip(parts, starts, lengths, strict=True)
        ]
        while len(states) > 1:
            pairs = zip(states[::2], states[1::2], strict=False)
            odd = states[-1:] if len(states) % 2 else []
            states = [both(shared, *pair) for pair in pairs] + odd
        progress = Progress(len(parts), "partitions", verbose)
        with progress, _imported("dask.callbacks").Callback(posttask=partial(_counted, progress)):
            found: StreamState = dask.compute(states[0])[0]
    return settings, found


def _counted(progress: Progress, key: Any, *_: Any) -> None:
    """Count a task that has ended, if it was that of a partition."""
    if str(key).startswith(_part_state.__name__):
        progress.done(1)


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


def _both(settings: StreamSettings, first: StreamState, second: StreamState) -> StreamState:
    return first.plus(second, settings)


# ------------------------------------------------------------------ partitions


def _imported(package: str) -> Any:
    """Return a package, whose types do not name all that it exports."""
    return import_module(package)


def _is_array(values: Any) -> bool:
    # What is delayed has every attribute, and each of these is delayed as well.
    return isinstance(getattr(values, "chunks", None), tuple)


def _is_frame(values: Any) -> bool:
    return isinstance(getattr(values, "divisions", None), tuple)


def _parts(columns: Columns) -> tuple[list[list[Any]], list[int]]:
    """Return the pieces of each partition, dicts of columns, and its number of rows.

    Rows number themselves, so partitions are counted first where dask does not know how long they
    are: this reads, or computes, what is not persisted once more.
    """
    dask = _imported("dask")
    lazy = {name: one for name, one in columns.items() if is_dask(one)}
    frames = {name: one for name, one in lazy.items() if _is_frame(one)}
    uncounted = {
        name: one
        for name, one in lazy.items()
        if name not in frames and np.isnan(one.chunks[0]).any()
    }
    pieces = [_of_frames(frames)] if frames else []
    pieces += [_of_array(name, one) for name, one in uncounted.items()]
    if pieces:
        n_rows = dask.delayed(_n_rows, pure=False)
        lengths = [int(n) for n in dask.compute([n_rows(piece) for piece in pieces[0]])[0]]
    else:
        lengths = list(next(iter(lazy.values())).chunks[0])
    for name, values in columns.items():
        if name not in frames and name not in uncounted:
            pieces.append(_of_known(name, values, lengths))
    for piece, name in zip(pieces, [*list(frames)[:1], *uncounted], strict=False):
        if len(piece) != len(lengths):
            must = f"have partitions like those of other columns, here {len(lengths)}"
            raise check.fail(name, must, f"{len(piece)}", _TO_ALIGN)
    return [list(part) for part in zip(*pieces, strict=True)], lengths


def _of_frames(frames: Columns) -> list[Any]:
    """Return the partitions of columns of dataframes, in one graph: they are read together."""
    frames_of_dask, pd = _imported("dask.dataframe"), _imported("pandas")
    first = next(iter(frames))
    for name, frame in frames.items():
        if frame.npartitions != frames[first].npartitions:
            must = f"have as many partitions as {first!r}"
            got = f"{frame.npartitions} and {frames[first].npartitions}"
            raise check.fail(name, must, got, _TO_ALIGN)
    packed = frames_of_dask.map_partitions(
        _packed,
        *frames.values(),
        names=list(frames),
        meta=pd.Series([], dtype=object),
        align_dataframes=False,
        enforce_metadata=False,
    )
    return list(packed.to_delayed())


def _packed(*columns: Any, names: Sequence[str]) -> Any:
    """Return a partition of several columns as one value."""
    found = {
        name: check.converted(name, column) for name, column in zip(names, columns, strict=True)
    }
    release_unused()
    return found


def _n_rows(piece: Mapping[str, Any]) -> int:
    return len(next(iter(piece.values())))


def _of_array(name: str, array: Any) -> list[Any]:
    dask = _imported("dask")
    whole = array.rechunk({1: -1}) if array.ndim == 2 else array
    named = dask.delayed(_named, pure=False)
    return [named(name, block) for block in whole.to_delayed().ravel()]


def _named(name: str, block: Any) -> dict[str, Any]:
    return {name: block}


def _of_known(name: str, values: Any, lengths: Sequence[int]) -> list[Any]:
    """Return the partitions of an array whose length is known, cut like those of others."""
    dask = _imported("dask")
    column: Any = values if is_dask(values) else check.converted(name, values)
    if len(column) != sum(lengths):
        must, got = "have as many rows as other columns", f"{len(column)} rows and {sum(lengths)}"
        raise check.fail(name, must, got)
    if is_dask(values):
        cut = column if column.chunks[0] == tuple(lengths) else column.rechunk({0: tuple(lengths)})
        return _of_array(name, cut)
    ends = np.cumsum(lengths)[:-1]
    named = dask.delayed(_named, pure=False)
    return [named(name, part) for part in np.split(column, ends)]
