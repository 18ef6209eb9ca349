"""Values that hold arrays: locked, compared with NaN equal to NaN, and known by their content."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import secrets
import socket
import stat
import sys
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

# Types of most values, which nobody can write to.
_LOCKED = {float, int, bool, str, type(None), np.float64}


class ReadOnlyDict(dict[Any, Any]):
    """A dict that nobody can write to, which can be pickled and copied as others can."""

    def _refused(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("This mapping cannot be changed: make a dict of it.")

    __setitem__ = __delitem__ = __ior__ = _refused
    clear = pop = popitem = setdefault = update = _refused

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


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
        for field in fields(value):
            held = getattr(value, field.name)
            if type(held) not in _LOCKED and (locked := read_only(held)) is not held:
                changed[field.name] = locked
        return replace(value, **changed) if changed else value
    elif isinstance(value, list):
        return [read_only(item) for item in value]
    elif isinstance(value, dict):
        return {key: read_only(item) for key, item in value.items()}
    return value


def size_of(values: Any) -> float:
    """Return a power of two near the largest size of some numbers; 1 where that is 0 or undefined.

    What is divided by it has the same digits, and its powers stay in the range of double precision.
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    if not 0 < largest < np.inf:
        return 1.0
    return float(np.ldexp(1.0, min(int(np.frexp(largest)[1]), 1023)))


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
        same = not all(attributes) or same_values(*attributes)
        return same and len(a) == len(b) and all(map(same_values, a, b))
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


# Files that are whole or absent, whatever stops the process that writes them.
#
# A file is written under a temporary name and then renamed. The temporary name holds the process
# and the machine, so that files of a writer that was killed can be told from those of one at work.
#
# A path that the user named is followed: the file at the end of its links is written, and what is
# no regular file, such as ``/dev/stdout`` or a pipe, takes the bytes where it is. In a folder that
# the package keeps (``memory=``) no link is followed, since others may have put it there: a link in
# the place of a file is replaced by the file.


_TEMPORARY = re.compile(r"^\..*\.(?P<process>\d+)@(?P<machine>.*)\.[0-9a-f]{8}$")
# Longest time of a write (seconds), of which most take milliseconds; a temporary file that is older
# is abandoned even if its process number is in use, because systems give such numbers again.
_LONGEST_WRITE = 3600


# Start of an array in numpy's format.
_MAGIC = np.lib.format.magic(1, 0)
# Names of open descriptors. To open one of a regular file again would write from its start.
_DESCRIPTOR = re.compile(r"^/(?:dev|proc/self)/fd/(?P<number>\d+)$")
_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


def write_whole(
    path: str | os.PathLike[str], write: Callable[[IO[bytes]], Any], *, follow: bool = True
) -> None:
    """Put what `write` writes in the place of a file, once it is on the disk.

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
