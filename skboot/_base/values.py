"""Values that hold arrays: locked, equal with NaN in them, known by content, and in files."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import re
import secrets
import socket
import stat
import struct
import sys
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import IO, Any, Literal, NoReturn, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

# Types of most values, which nobody can write to.
_LOCKED = {float, int, bool, str, type(None), np.float64}
# The numbers of `repeated`.
_ZERO_AND_ONE = np.array([0, 1], np.int64)
_ZERO_AND_ONE.flags.writeable = False
T = TypeVar("T")


class ReadOnlyDict(dict[Any, Any]):
    """A dict that nobody can write to, which can be pickled and copied as others can."""

    def _refused(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("This mapping cannot be changed: make a dict of it.")

    __setitem__ = __delitem__ = __ior__ = _refused
    clear = pop = popitem = setdefault = update = _refused

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


class LazySequence(Sequence[T]):
    """Values that are made when they are asked for, and stay.

    Parameters
    ----------
    make : callable
        Returns the value at a place from 0.
    n : int
        Number of values, none of which is None.
    """

    def __init__(self, make: Callable[[int], T], n: int) -> None:
        self._make = make
        self._values: list[T | None] = [None] * n

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        places = range(len(self._values))[index]
        if isinstance(places, range):
            return [self[place] for place in places]
        value = self._values[places]
        if value is None:
            value = self._values[places] = self._make(places)
        return value


def read_only(value: Any) -> Any:
    """The value with its arrays copied, if they could be written to, and locked."""
    if type(value) in _LOCKED:
        return value
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            # The copy has the same layout, by which sums round.
            value = np.array(value)
            value.flags.writeable = False
    elif isinstance(value, tuple):
        items = tuple(read_only(item) for item in value)
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    elif is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for name in _field_names(type(value)):
            field_value = getattr(value, name)
            if (
                type(field_value) not in _LOCKED
                and (locked := read_only(field_value)) is not field_value
            ):
                changed[name] = locked
        return replace(value, **changed) if changed else value
    elif isinstance(value, list):
        return [read_only(item) for item in value]
    elif isinstance(value, dict):
        return {key: read_only(item) for key, item in value.items()}
    return value


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """Names of the fields of a dataclass: every result asks for those of the same few."""
    return tuple(field.name for field in fields(kind))


def equal_units(weights: NDArray[Any]) -> float:
    """Return the number of units of equal weight that are worth these (Kish 1965).

    Parameters
    ----------
    weights : ndarray of shape (n_units,)
        Not negative.

    Returns
    -------
    float
        (sum w)^2 / sum w^2; 0 without any weight.
    """
    largest = weights.max(initial=0.0)
    if largest == 0:
        return 0.0
    # Relative weights: the squares of very large or very small ones leave the range.
    relative = weights / largest
    return float(relative.sum() ** 2 / np.sum(relative**2))


def size_of(values: Any) -> float:
    """Return a power of two near the largest size of some numbers; 1 where that is 0 or undefined.

    What is divided by it has the same digits, and its powers stay in the range of double precision.
    """
    # Without an array of all sizes; NaN is both the highest and the lowest.
    values = np.asarray(values)
    highest, lowest = float(values.max(initial=0.0)), float(values.min(initial=0.0))
    return power_of_two(highest if highest > -lowest else -lowest)


def power_of_two(size: float) -> float:
    """Return the power of two above a size, for `size_of`."""
    if not 0 < size < math.inf:
        return 1.0
    return math.ldexp(1.0, min(math.frexp(size)[1], 1023))


def repeated(number: Literal[0, 1], n: int) -> NDArray[np.int64]:
    """Return 0 or 1 n times: one number that is read n times, which takes no memory.

    Nobody can write to it. `numpy.broadcast_to` takes ten times as long.
    """
    return np.ndarray(n, np.int64, _ZERO_AND_ONE, number * _ZERO_AND_ONE.itemsize, (0,))


def spread_of(values: Any, axis: int | None = None) -> Any:
    """Return the standard deviation (divisor n - 1) of numbers of any size."""
    size = size_of(values)
    if 1e-100 < size < 1e100:
        return values.std(axis=axis, ddof=1)
    return (values / size).std(axis=axis, ddof=1) * size


def same_values(a: Any, b: Any) -> bool:
    """Whether two values are equal, arrays and NaN included; of classes what they compare."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    if is_dataclass(a):
        return type(a) is type(b) and all(
            same_values(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.compare
        )
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_values(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        # An interval is a pair with attributes.
        attributes = [getattr(value, "__dict__", {}) for value in (a, b)]
        are_same = not all(attributes) or same_values(*attributes)
        return are_same and len(a) == len(b) and all(map(same_values, a, b))
    both_nan = isinstance(a, float) and isinstance(b, float) and a != a and b != b
    return bool(both_nan or a == b)


def content_of(columns: Sequence[Any]) -> bytes:
    """Return a digest of the numbers in some columns, of which some may be None."""
    digest = hashlib.blake2b(digest_size=16)
    for array in columns:
        if isinstance(array, np.ndarray) and array.dtype.hasobject:
            digest.update(repr(array.tolist()).encode())
        elif isinstance(array, np.ndarray):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()


def in_order_of_content(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return names in an order that hangs on their columns alone; equal ones stay as they are."""
    return sorted(columns, key=lambda name: content_of(columns[name]))


# ------------------------------------------------------------------ files that are whole or absent
#
# They are, whatever stops the process that writes them.
#
# A file is written under a temporary name and then renamed. The temporary name holds the process
# and the machine, so that files of a writer that was killed can be distinguished from those of one
# at work.
#
# A path that the user named is followed: the file at the end of its links is written, and what is
# no regular file, such as ``/dev/stdout`` or a pipe, takes the bytes where it is. In a folder that
# the package keeps (``memory=``) no link is followed, since others may have put it there: a link in
# the place of a file is replaced by the file.


_TEMPORARY = re.compile(r"^\..*\.(?P<process>\d+)@(?P<machine>.*)\.[0-9a-f]{8}$")
# Longest time of a write (seconds), of which most take milliseconds; a temporary file that is older
# is abandoned even if its process number is in use, because systems give such numbers again.
_LONGEST_WRITE = 3600


# Names of open descriptors. To open one of a regular file again would write from its start.
_DESCRIPTOR = re.compile(r"^/(?:dev|proc/self)/fd/(?P<number>\d+)$")
_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


def write_atomically(
    path: str | os.PathLike[str], write: Callable[[IO[bytes]], Any], *, follow: bool = True
) -> None:
    """Write a file whole or not at all, an atomic write.

    The content is written beside the file, and takes its place once it is on the disk.

    Parameters
    ----------
    path : path-like
        File to write.
    write : callable
        Takes the open file.
    follow : bool
        Whether the user named this very path: of a link the file is written that it points to, and
        what is no regular file is written as it is. Otherwise a link is replaced.

    Raises
    ------
    OSError
        If the file cannot be written; it names the path as given, whatever name was tried.
    """
    if follow and takes_bytes(path):
        # To a pipe, a device or a descriptor once all is there to be written.
        content, number = io.BytesIO(), _descriptor(path)
        write(content)
        if number in (1, 2):
            # What was printed before comes before.
            (sys.stdout if number == 1 else sys.stderr).flush()
        with open(path if number is None else os.dup(number), "wb") as place:
            place.write(content.getbuffer())
        return
    target = Path(os.path.realpath(path) if follow else path)
    writer = f"{os.getpid()}@{_machine()}.{secrets.token_hex(4)}"
    temporary = target.with_name(f".{target.name}.{writer}")
    try:
        with temporary.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(temporary)):
            raise
        reason = error.strerror
        if not target.parent.exists():
            reason = f"There is no folder {str(Path(path).parent)!r}"
        raise type(error)(error.errno, reason, os.fspath(path)) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def takes_bytes(path: str | os.PathLike[str]) -> bool:
    """Whether a path is written where it is: a pipe, a device, an open descriptor."""
    if _descriptor(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def is_same_file(path: str | os.PathLike[str], path_b: str | os.PathLike[str]) -> bool:
    """Whether two paths lead to one regular file, by links of any kind, or will once it is made."""
    if os.path.realpath(path) == os.path.realpath(path_b):
        return not takes_bytes(path)
    try:
        return os.path.samefile(path, path_b) and os.path.isfile(path)
    except (OSError, ValueError):
        return False


def replace_link(path: str | os.PathLike[str]) -> None:
    """Remove a link that stands in the place of a file or folder of the package."""
    if os.path.islink(path):
        os.unlink(path)


def remove_abandoned(folder: str | os.PathLike[str], pattern: str) -> None:
    """Remove the temporary files that match a pattern of names and whose writer was killed."""
    if not Path(folder).is_dir():
        return
    for path in Path(folder).glob(pattern):
        # A file may go meanwhile, and one that is open cannot be removed on some systems.
        with contextlib.suppress(OSError):
            if not _may_be_written(path):
                path.unlink()


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    """Return the number of the open descriptor that a path names."""
    name = os.fspath(path)
    if name in _STANDARD:
        return _STANDARD[name]
    match = _DESCRIPTOR.match(name)
    return int(match["number"]) if match else None


def _may_be_written(path: Path) -> bool:
    """Return whether the writer of a temporary file may be alive."""
    writer = _TEMPORARY.match(path.name)
    if writer is None or time.time() - path.stat().st_mtime > _LONGEST_WRITE:
        return False
    if writer["machine"] != _machine():
        return True
    if os.name == "nt":
        # An open file cannot be removed there, and `os.kill` would end the process.
        return False
    try:
        os.kill(int(writer["process"]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # The process of another user.
        return True
    return True


def _machine() -> str:
    return re.sub(r"[^\w-]", "-", socket.gethostname())


# ------------------------------------------------------------------ arrays in files
#
# A file is data only: arrays, and a head in JSON that says all else. Nothing is ever pickled, so
# that what comes from elsewhere can be read without running anything in it. An array is read by the
# type and shape that its header gives, once these are known to fit the bytes that are there.
#
# Results (`save`, `load`) and the runs of a fit (`arrays_of`) are npz archives. The state of a
# stream, which is pickled and sent often, is one piece of bytes with a checksum
# (`bytes_of_arrays`): an archive of the same arrays takes two to six times as long.

# Maximum bytes of arrays that are read: these, or so many times the size of the file. Zeros are
# compressed a thousand times, so that a small file could claim any memory.
_ALWAYS_READ, _MOST_COMPRESSED = 1 << 26, 100
# A dict with one of these keys stands for a value that JSON lacks.
_ARRAY, _TUPLE, _FLOAT, _ITEMS = "$array", "$tuple", "$float", "$items"
# Start of an array in numpy's format.
_MAGIC = np.lib.format.magic(1, 0)
# Bytes of a stream begin with a mark, a version, a checksum (BLAKE2b) and the length of the head;
# then come the head and the arrays one after the other. What a version lacks, its reader knows.
_START = struct.Struct("<14sI32sQ")
_MARK, _VERSION = b"skboot-stream\n", 2


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
        Version of the format.

    Raises
    ------
    TypeError
        If a value is of another type, or an array holds Python objects.
    """
    arrays: dict[str, NDArray[Any]] = {}
    header = {name: _encode(value, name, arrays) for name, value in parts.items()}
    text = json.dumps({"format": format_name, "version": version, "parts": header}, allow_nan=False)
    contents: dict[str, Any] = {"header": np.array(text), **arrays}
    is_small = sum(array.nbytes for array in contents.values()) < _ALWAYS_READ
    write = np.savez_compressed if is_small else np.savez
    write_atomically(path, lambda file: write(file, **contents))


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
    damaged = f"{name!r} is not a file of {format_name}, or it is damaged"
    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError(f"{damaged}: it is not an npz archive. Only files of save() are read.")
    try:
        arrays = arrays_of(path, max(_ALWAYS_READ, _MOST_COMPRESSED * os.path.getsize(path)))
        header = json_of(str(arrays.pop("header")))
        kind, found_version, parts = header["format"], header["version"], header["parts"]
    except Exception as error:
        # A damaged file can make its readers raise anything.
        raise ValueError(f"{damaged}: {error}") from error
    if kind != format_name:
        # A format has the name of the class that writes it.
        match = re.fullmatch(r"skboot\.(\w+)", str(kind))
        advice = f" Read it by skboot.results.{match[1]}.load(path)." if match else ""
        raise ValueError(f"{name!r} holds {kind!r}, not {format_name!r}.{advice}")
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
        values = {key: _decode(value, arrays) for key, value in parts.items()}
        if arrays:
            raise ValueError(f"the array {min(arrays)!r} is of no value.")
        return values
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{damaged}: {error}") from error


def arrays_of(path: str | os.PathLike[str], n_bytes: float) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file by name.

    Parameters
    ----------
    path : path-like
        The file, which may come from anywhere.
    n_bytes : float
        What all arrays hold at most.

    Raises
    ------
    ValueError
        If it claims more bytes, before anything large is read; if a name is there twice, or an
        array holds Python objects.
    zipfile.BadZipFile
        If it is no archive, or damaged.
    """
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > n_bytes:
            raise ValueError("The archive claims more bytes than such a file has.")
        if len({member.filename for member in members}) < len(members):
            raise ValueError("The archive has two arrays of one name.")
        # Members are read to their end, where zip compares checksums.
        arrays = {}
        for member in members:
            npy = archive.read(member)
            file = io.BytesIO(npy)
            if file.read(len(_MAGIC)) != _MAGIC:
                raise ValueError("Not in version 1.0 of numpy's format.")
            shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
            n_array, n_elements = len(npy) - file.tell(), int(np.prod(shape, dtype=object))
            if dtype.hasobject or n_elements < 0 or n_elements * dtype.itemsize != n_array:
                raise ValueError(
                    "The header describes another number of bytes than the file holds."
                )
            flat = np.empty(0, dtype)
            if n_array:
                flat = np.frombuffer(npy, dtype, n_elements, file.tell())
            array = flat.reshape(shape, order="F" if by_columns else "C").copy(order="K")
            arrays[member.filename.removesuffix(".npy")] = array
        return arrays


def json_of(text: str | bytes) -> Any:
    """Return what JSON holds; ValueError if an object has a key twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(items := dict(pairs)) < len(pairs):
            raise ValueError("An object has a key twice.")
        return items

    return json.loads(text, object_pairs_hook=once)


def _encode(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Value as JSON; arrays go to ``arrays`` under the name of the place they stand at."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError(f"The array {name!r} holds Python objects, which are not saved.")
        arrays[name] = value
        return {_ARRAY: name}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        items = {key: _encode(item, f"{name}.{key}", arrays) for key, item in value.items()}
        safe = all(isinstance(key, str) and not key.startswith("$") for key in items)
        return items if safe else {_ITEMS: [list(item) for item in items.items()]}
    if isinstance(value, tuple) and hasattr(value, "to_dict"):
        # An interval.
        value = tuple(value.to_dict().values())
    if isinstance(value, list | tuple):
        items_ = [_encode(item, f"{name}.{k}", arrays) for k, item in enumerate(value)]
        return {_TUPLE: items_} if isinstance(value, tuple) else items_
    if isinstance(value, float) and not math.isfinite(value):
        return {_FLOAT: str(value)}
    if isinstance(value, bool | int | float | str | None):
        return value
    raise TypeError(f"{name!r} is of type {type(value).__name__}, which is not saved.")


def _decode(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return a value of JSON, for which its arrays are taken out of ``arrays``."""
    if isinstance(value, list):
        return [_decode(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        [(key, content)] = value.items()
        if key == _ARRAY:
            return arrays.pop(content)
        if key == _TUPLE:
            return tuple(_decode(item, arrays) for item in content)
        if key == _FLOAT:
            return float(content)
        if key == _ITEMS:
            return {name: _decode(item, arrays) for name, item in content}
    return {key: _decode(item, arrays) for key, item in value.items()}


def bytes_of_arrays(head: Mapping[str, Any], arrays: Sequence[NDArray[Any]]) -> bytes:
    """Return a head of JSON, which numbers the arrays, and the arrays as one piece of bytes."""
    ordered = [array.astype(array.dtype.newbyteorder("<"), copy=False) for array in arrays]
    described = [[array.dtype.str, array.shape] for array in ordered]
    text = json.dumps({**head, "arrays": described}).encode()
    body = text + b"".join(array.tobytes() for array in ordered)
    digest = hashlib.blake2b(body, digest_size=32).digest()
    return _START.pack(_MARK, _VERSION, digest, len(text)) + body


def arrays_of_bytes(data: Any) -> tuple[Any, list[NDArray[Any]]]:
    """Return the head and the arrays of what `bytes_of_arrays` gave.

    Raises
    ------
    ValueError
        If the bytes are something else, damaged, or of a later version.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ValueError(
            f"data must be bytes, as to_bytes() gives them. Got {type(data).__name__}."
        )
    packed = bytes(data)
    if len(packed) < _START.size or not packed.startswith(_MARK):
        raise ValueError("data must be what to_bytes() gave. Got other bytes.")
    _, version, digest, length = _START.unpack_from(packed)
    if not 1 <= version <= _VERSION:
        raise ValueError(
            f"data must be of format version {_VERSION} or before. Got version {version}: read it "
            "with the skboot that wrote it."
        )
    body = packed[_START.size :]
    if hashlib.blake2b(body, digest_size=32).digest() != digest:
        raise ValueError(
            "data must be what to_bytes() gave. Got damaged bytes: the checksum differs."
        )
    try:
        head, arrays, start = json_of(body[:length]), [], length
        for kind, shape in head["arrays"]:
            dtype = np.dtype(kind)
            if dtype.kind not in "biufU":
                raise ValueError(f"an array of type {kind!r}")
            if any(not isinstance(n, int) or n < 0 for n in shape):
                raise ValueError(f"an array of shape {shape}")
            end = start + dtype.itemsize * math.prod(shape)
            if end > len(body):
                raise ValueError("arrays longer than the bytes")
            array = np.frombuffer(body[start:end], dtype=dtype).reshape(shape)
            arrays.append(array.astype(dtype.newbyteorder("=")))
            start = end
        if start != len(body):
            raise ValueError("bytes beyond the arrays")
    except Exception as error:
        # Bytes with a right checksum may hold anything all the same.
        raise ValueError(f"data must be what to_bytes() gave: {error}") from error
    return head, arrays
