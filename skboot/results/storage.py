"""Values of Python and numpy in one file that is data only: arrays as npz, all else as JSON.

Nothing is pickled, so a file from elsewhere can be read without running anything in it. A crash
leaves the old file or the new one.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.files import arrays_of, json_of, write_whole
from ..inference.confidence_interval import ConfidenceInterval

# Types of values that every file has as they are.
_PLAIN = frozenset((str, bool, int, type(None)))
# Maximum bytes of arrays that are read: these, or so many times the size of the file. Zeros are
# compressed a thousand times, so that a small file could claim any memory.
_ALWAYS_READ, _MOST_COMPRESSED = 1 << 26, 100
# A dict with one of these keys stands for a value that JSON lacks.
_ARRAY, _TUPLE, _FLOAT, _ITEMS = "$array", "$tuple", "$float", "$items"


def save(
    path: str | os.PathLike[str], parts: Mapping[str, Any], *, format_name: str, version: int
) -> None:
    """Write named values to a file.

    Parameters
    ----------
    path : path-like
        File to write; used as it is, without adding a suffix.
    parts : mapping
        Numbers, strings, None, arrays, and lists, tuples and dicts of them. An interval is written
        as a tuple of its limits, level and method.
    format_name : str
        What the file is, for the reader.
    version : int
        Of the format.

    Raises
    ------
    TypeError
        If a value is of another type, or an array holds Python objects.
    """
    arrays: dict[str, NDArray[Any]] = {}
    header = {name: _encoded(value, name, arrays) for name, value in parts.items()}
    text = json.dumps({"format": format_name, "version": version, "parts": header}, allow_nan=False)
    contents: dict[str, Any] = {"header": np.array(text), **arrays}
    is_small = sum(array.nbytes for array in contents.values()) < _ALWAYS_READ
    write = np.savez_compressed if is_small else np.savez
    write_whole(path, lambda file: write(file, **contents))


def load(path: str | os.PathLike[str], *, format_name: str, version: int) -> dict[str, Any]:
    """Read what `save` wrote.

    Parameters
    ----------
    path : path-like
        File to read.
    format_name : str
        What the file must be.
    version : int
        The version that can be read.

    Returns
    -------
    dict
        The named values, equal to those saved.

    Raises
    ------
    ValueError
        If the file is something else, damaged, or of another version.
    """
    name = os.fspath(path)
    other = f"{name!r} is not a file of {format_name}, or it is damaged"
    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError(f"{other}: it is not an npz archive. Only files of save() are read.")
    try:
        arrays = arrays_of(path, max(_ALWAYS_READ, _MOST_COMPRESSED * os.path.getsize(path)))
        header = json_of(str(arrays.pop("header")))
        found, found_version, parts = header["format"], header["version"], header["parts"]
    except Exception as error:
        # A damaged file can make its readers raise anything.
        raise ValueError(f"{other}: {error}") from error
    if found != format_name:
        raise ValueError(f"{name!r} holds {found!r}, not {format_name!r}.")
    if not isinstance(found_version, int) or found_version > version:
        raise ValueError(
            f"{name!r} was written by a newer skboot (format version {found_version}; this one "
            f"reads up to {version}). Upgrade skboot to read it."
        )
    if found_version < version:
        raise ValueError(
            f"{name!r} was written before the first release of skboot (format version "
            f"{found_version}; this one reads {version}). Make the result again."
        )
    try:
        values = {key: _decoded(value, arrays) for key, value in parts.items()}
        if arrays:
            raise ValueError(f"the array {min(arrays)!r} is of no value.")
        return values
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{other}: {error}") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, whole or not at all."""
    write_whole(path, lambda file: file.write(text.encode()))


def plain(value: Any, *, for_json: bool = False) -> Any:
    """Turn a value into lists, dicts with string keys, numbers, strings and None.

    Parameters
    ----------
    value : object
        What is of no known type becomes its string.
    for_json : bool
        Replace numbers that JSON lacks: NaN by None, infinities by "inf" and "-inf".

    Returns
    -------
    object
        A copy.
    """
    kind = type(value)
    is_plain = not for_json or math.isfinite(value) if kind is float else kind in _PLAIN
    if is_plain:
        # Most values; the checks that follow take a microsecond each.
        return value
    if kind is dict or isinstance(value, Mapping):
        return {str(key): plain(item, for_json=for_json) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, for_json=for_json) for item in value]
    if isinstance(value, float) and for_json and not math.isfinite(value):
        return None if math.isnan(value) else str(float(value))
    return value if isinstance(value, bool | int | float | str | None) else str(value)


# ------------------------------------------------------------------ steps


def _encoded(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Value as JSON; arrays go to ``arrays`` under the name of the place they stand at."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError(f"The array {name!r} holds Python objects, which are not saved.")
        arrays[name] = value
        return {_ARRAY: name}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        items = {key: _encoded(item, f"{name}.{key}", arrays) for key, item in value.items()}
        safe = all(isinstance(key, str) and not key.startswith("$") for key in items)
        return items if safe else {_ITEMS: [list(item) for item in items.items()]}
    if isinstance(value, ConfidenceInterval):
        value = tuple(value.to_dict().values())
    if isinstance(value, list | tuple):
        items_ = [_encoded(item, f"{name}.{k}", arrays) for k, item in enumerate(value)]
        return {_TUPLE: items_} if isinstance(value, tuple) else items_
    if isinstance(value, float) and not math.isfinite(value):
        return {_FLOAT: str(value)}
    if isinstance(value, bool | int | float | str | None):
        return value
    raise TypeError(f"{name!r} is of type {type(value).__name__}, which is not saved.")


def _decoded(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return a value of JSON, for which its arrays are taken out of ``arrays``."""
    if isinstance(value, list):
        return [_decoded(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        [(key, content)] = value.items()
        if key == _ARRAY:
            return arrays.pop(content)
        if key == _TUPLE:
            return tuple(_decoded(item, arrays) for item in content)
        if key == _FLOAT:
            return float(content)
        if key == _ITEMS:
            return {name: _decoded(item, arrays) for name, item in content}
    return {key: _decoded(item, arrays) for key, item in value.items()}
