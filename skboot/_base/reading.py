"""Columns by name from a file: CSV, TSV, Parquet, npz or JSON lines.

Cells of a text file stay as they are written, a list of strings; what columns of them mean is for
the caller to decide, who sees all of them. Files that hold types give arrays. Only the columns that
are asked for are kept, and no cell may be empty.
"""

from __future__ import annotations

import contextlib
import csv
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks import Unusable, as_array, counted, has_order

Cells = list[str] | NDArray[Any]
CellsByName = dict[str, Cells]
# Names of columns, and whether the file must have each.
Selection = Mapping[str, bool]

# Rows that are taken apart at a time. Python's collector of garbage looks at all objects again and
# again while many new lists are kept, and at none while fewer than 700 are: a million rows take
# 0.6 s instead of 2.8 s.
_ROWS_AT_A_TIME = 500
# Characters of a cell, the most that the standard library takes on every platform: answers of
# language models are longer than its default of 131,072, in columns that nobody asks for.
_LONGEST_CELL = 2**31 - 1


class BadCall(Exception):
    """Error of a call that cannot be carried out; the text says why, in one line.

    Attributes
    ----------
    lacking : tuple (str, list of str) or None
        Name of a column that a file lacks, and of those that it has.
    """

    lacking: tuple[str, list[str]] | None = None


def read_columns(path: str, needed: Sequence[str], optional: Sequence[str] = ()) -> CellsByName:
    """Read columns of a file.

    Parameters
    ----------
    path : str
        File, whose kind the end of its name says; or folder of Parquet files, which are read in the
        order of their names.
    needed : sequence of str
        Names of columns; of arrays in an npz file.
    optional : sequence of str
        Names of columns that are read where the file has them.

    Returns
    -------
    dict of str to list or ndarray
        Cells as they are written, or typed values of shape (n_samples,) or (n_samples, k); all of
        one length, none of them empty.

    Raises
    ------
    BadCall
        If the file cannot be read, or lacks a column or a cell.
    """
    kind = Path(path).suffix.lower()
    if Path(path).is_dir():
        # Parts of a data set, as Spark and dask write them.
        kind = ".parquet"
        if not _parts_of(path):
            raise BadCall(
                f"{path!r} is a folder without Parquet files. Of other files one is read: join "
                "them first, with one header"
            )
    if kind not in _READERS:
        suffixes = ", ".join(_READERS)
        advice = ". Unpack it first: gunzip" if kind == ".gz" else ""
        raise BadCall(f"{path!r}: the file extension must give its kind; known: {suffixes}{advice}")
    selection = dict.fromkeys([*needed, *optional], False) | dict.fromkeys(needed, True)
    try:
        columns = _READERS[kind](path, selection)
    except OSError as error:
        raise BadCall(f"cannot read {path!r}: {error.strerror or error}") from error
    except csv.Error as error:
        raise BadCall(f"{path!r} cannot be read as a table: {error}") from error
    except UnicodeDecodeError as error:
        raise BadCall(f"{path!r} is not a text file in UTF-8: {error}") from error
    for name, cells in columns.items():
        # No cell is empty text or NaN, or an infinite number.
        if isinstance(cells, list):
            are_full = all(map(str.strip, cells))
            row = None if are_full else [not cell.strip() for cell in cells].index(True)
        else:
            missing = cells == "" if cells.dtype.kind == "U" else ~np.isfinite(cells)
            row = int(np.argwhere(missing)[0][0]) if missing.any() else None
            if row is not None and cells.dtype.kind == "f" and np.isinf(cells[row]).any():
                raise BadCall(f"column {name!r}, row {row + 1}: an infinite number")
        if row is not None:
            raise BadCall(f"column {name!r}, row {row + 1}: the cell is empty")
        if isinstance(cells, list):
            _distinct_array(name, cells)
    lengths = {name: len(cells) for name, cells in columns.items()}
    name_of_first, n_rows = next(iter(lengths.items()))
    for name, length in lengths.items():
        if length != n_rows:
            rows = counted(n_rows, "row")
            raise BadCall(f"{name_of_first!r} has {rows}, and {name!r} has {length}")
    if n_rows == 0:
        raise BadCall(f"{path!r} has no rows")
    return columns


# ------------------------------------------------------------------ one function per kind


def _read_csv(path: str, selection: Selection, delimiter: str = ",") -> CellsByName:
    with contextlib.ExitStack() as stack:
        stack.callback(csv.field_size_limit, csv.field_size_limit(_LONGEST_CELL))
        file = stack.enter_context(open(path, encoding="utf-8-sig", newline=""))
        # Otherwise a quote that is not closed takes all rows behind it into its cell.
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        header = next(reader, [])
        columns: dict[str, list[str]] = {
            name: [] for name in _present_names(path, selection, header)
        }
        n_rows = 0
        while True:
            rows: list[list[str]] = []
            try:
                rows.extend(islice(reader, _ROWS_AT_A_TIME))
            except csv.Error as error:
                # The rows before the one that cannot be read are there.
                raise csv.Error(
                    f"row {n_rows + len(rows) + 1}: {error}. A quote within a quoted cell is "
                    "written twice, and every quote that begins a cell is closed"
                ) from error
            if not rows:
                break
            if set(map(len, rows)) != {len(header)}:
                # A blank line is an empty cell in a file of one column, and nothing in others.
                rows = [row or [""] for row in rows if row or len(header) == 1]
                for number, row in enumerate(rows, n_rows + 1):
                    if len(row) != len(header):
                        raise BadCall(
                            f"row {number} has {counted(len(row), 'cell')}, and the header has "
                            f"{len(header)}"
                        )
            if len(header) > 1 and header in rows:
                number = n_rows + rows.index(header) + 1
                raise BadCall(f"row {number} is the header again, as in joined files: leave it out")
            for name, cells in columns.items():
                cells.extend(map(itemgetter(header.index(name)), rows))
            n_rows += len(rows)
    return dict(columns)


def _read_json_lines(path: str, selection: Selection) -> CellsByName:
    columns: dict[str, list[Any]] = {name: [] for name in selection}
    values_seen: dict[str, Any] = {}
    with open(path, encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                raise BadCall(f"line {number} is not JSON: {error}") from error
            if not isinstance(record, dict):
                raise BadCall(f"line {number} is not an object of names and values")
            values_seen.update(record)
            for name, values in columns.items():
                value: Any = record
                if name in record:
                    value = record[name]
                else:
                    # Of the name "doc.subject" the value of "subject" in the object "doc".
                    for key in name.split("."):
                        value = value.get(key) if isinstance(value, dict) else None
                values.append(value)
    # A name that leads into objects is known where it led to a value.
    dotted_names = [
        name
        for name in selection
        if name not in values_seen and any(value is not None for value in columns[name])
    ]
    names = _present_names(path, selection, [*values_seen, *dotted_names])
    return {name: _typed_array(name, columns[name]) for name in names}


def _read_npz(path: str, selection: Selection) -> CellsByName:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {
                name: archive[name] for name in _present_names(path, selection, archive.files)
            }
    except (ValueError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise BadCall(f"{path!r} is not an npz archive of numbers and text: {error}") from error
    for name, array in arrays.items():
        if array.ndim not in (1, 2) or array.dtype.kind not in "biufU":
            shape = f"shape {array.shape} and type {array.dtype}"
            raise BadCall(f"array {name!r} must hold numbers or text of each row. Got {shape}")
    return dict(arrays)


def _read_parquet(path: str, selection: Selection) -> CellsByName:
    try:
        from pyarrow import lib, parquet
    except ImportError:
        try:
            import polars
        except ImportError as error:
            advice = "Install it with: pip install pyarrow"
            raise BadCall(f"Parquet files need pyarrow. {advice}") from error
        parts = _parts_of(path) or [path]
        try:
            names = _present_names(path, selection, polars.read_parquet_schema(parts[0]))
            frame = polars.read_parquet(parts, columns=names)
        except polars.exceptions.ComputeError as error:
            raise BadCall(f"{path!r} is not a Parquet file: {error}") from error
        return {name: _typed_array(name, _column_array(frame[name])) for name in names}
    try:
        if Path(path).is_dir():
            from pyarrow.dataset import dataset

            parts = dataset(_parts_of(path), format="parquet", partitioning="hive")
            names = _present_names(path, selection, parts.schema.names)
            table = parts.to_table(columns=names)
        else:
            with parquet.ParquetFile(path) as file:
                names = _present_names(path, selection, file.schema_arrow.names)
                table = file.read(columns=names)
    except lib.ArrowInvalid as error:
        raise BadCall(f"{path!r} is not a Parquet file: {error}") from error
    return {name: _typed_array(name, _column_array(table.column(name))) for name in names}


def _parts_of(folder: str) -> list[str]:
    """Return the Parquet files in a folder and in those below it, in the order of their names.

    Names that begin with a dot or an underscore are of files that nobody finished, or of caches.
    """
    return sorted(
        str(path)
        for path in Path(folder).rglob("*.parquet")
        if path.is_file() and not any(part[0] in "._" for part in path.relative_to(folder).parts)
    )


def _column_array(column: Any) -> NDArray[Any]:
    """Return a column of a table as an array, that of ordered categories with their order."""
    return as_array(column) if has_order(column) else column.to_numpy()


_READERS: dict[str, Callable[[str, Selection], CellsByName]] = {
    ".csv": _read_csv,
    ".tsv": partial(_read_csv, delimiter="\t"),
    ".tab": partial(_read_csv, delimiter="\t"),
    ".parquet": _read_parquet,
    ".npz": _read_npz,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
}


# ------------------------------------------------------------------ steps


def _present_names(path: str, selection: Selection, present: Any) -> list[str]:
    """Return the columns that are there; refuse a file without one it needs, or with one twice."""
    names = list(present)
    for name, is_needed in selection.items():
        if name not in names and is_needed:
            listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
            mark = next((mark for mark in ";\t|," if len(names) == 1 and mark in names[0]), None)
            cells = "Commas separate the cells of a .csv file, and tabs those of a .tsv file"
            advice = f". {cells}: save this one, which has {mark!r}, in this way" if mark else ""
            text = f"{path!r} has no column {name!r}. Columns: {listed or 'none'}{advice}"
            error = BadCall(text)
            error.lacking = name, names
            raise error
        if names.count(name) > 1:
            raise BadCall(f"{path!r} has {names.count(name)} columns named {name!r}")
    return [name for name in selection if name in names]


def _typed_array(name: str, values: Any) -> NDArray[Any]:
    """Return values of a file that knows types as an array of numbers or text."""
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "biufU":
            return values
        values = values.astype(str).tolist() if values.dtype.kind in "mM" else values.tolist()
    for row, value in enumerate(values):
        if value is None:
            raise BadCall(f"column {name!r}, row {row + 1}: the cell is empty")
    if all(isinstance(value, str) for value in values):
        return _distinct_array(name, values)
    if all(isinstance(value, list | np.ndarray) for value in values):
        lengths = {len(value) for value in values}
        if len(lengths) > 1:
            raise BadCall(f"column {name!r} holds lists of {min(lengths)} to {max(lengths)} values")
        values = [_typed_array(name, list(value)) for value in values]
        return np.array(values)
    if all(isinstance(value, bool | int | float | Decimal) for value in values):
        return _distinct_array(name, values)
    if isinstance(values[0], dict):
        advice = f"Name a value in it, as in {name}.{next(iter(values[0]), 'key')}"
        raise BadCall(f"column {name!r}, row 1: the cell is an object. {advice}")
    kinds = {type(value).__name__: row + 1 for row, value in reversed(list(enumerate(values)))}
    if len(kinds) == 1:
        # Dates and the like are names of what they say.
        return np.array([str(value) for value in values])
    listed = " and ".join(f"{kind} (row {row})" for kind, row in list(kinds.items())[:2])
    raise BadCall(f"column {name!r} holds values of several kinds: {listed}")


def _distinct_array(name: str, values: list[Any]) -> NDArray[Any]:
    """Return values of one kind as an array that keeps them apart."""
    try:
        return as_array(values)
    except Unusable as error:
        text = f"column {name!r} must {error.must}. Got {error.got}. {error.advice}"
        raise BadCall(text.rstrip()) from error
