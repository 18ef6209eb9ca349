"""Finished runs in a folder, one file each, so that a fit that was stopped can go on.

Files hold arrays and numbers only and are read without unpickling. They are written under a passing
name and then renamed: a file is whole or absent. Each says of which fit and which run it is, and is
read only if it is that one and every byte that counts is as it was written; else the run is done
again.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import secrets
import socket
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .training import Record

_NUMBERS = ("number", "fit_time", "n_convergence")
_MAGIC = np.lib.format.magic(1, 0)
# Process and machine that write under a passing name.
_PASSING = re.compile(r"^\.run-.*\.(?P<process>\d+)@(?P<machine>.*)\.[0-9a-f]{8}$")
# Seconds; a write takes milliseconds, and a number of a process may be given again.
_LONGEST_WRITE = 3600
# Bytes beside the arrays: headers, and numbers of a run.
_OVERHEAD = 1 << 20


def write(folder: str, record: Record) -> None:
    """Write the record of a run that did not fail."""
    path = _path(folder, record["number"])
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = f"{os.getpid()}@{_machine()}.{secrets.token_hex(4)}"
    passing = path.with_name(f".{path.name}.{writer}")
    arrays = {key: np.asarray(v) for key, v in record.items() if key not in ("error", "warnings")}
    if any(array.dtype.hasobject for array in arrays.values()):
        raise TypeError("With memory=, labels must be strings or numbers, not Python objects.")
    contents = {f"a{k}": array for k, array in enumerate(arrays.values())}
    contents |= {"names": np.array(list(arrays)), "run": np.array(_run(path))}
    try:
        with passing.open("wb") as file:
            np.savez(file, **contents)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        passing.replace(path)
    finally:
        passing.unlink(missing_ok=True)


def finished(folder: str, numbers: Sequence[int], n_bytes: float = np.inf) -> dict[int, Record]:
    """Records of the runs that are there.

    Parameters
    ----------
    folder : str
    numbers : sequence of int
        Of the runs.
    n_bytes : float
        What the arrays of a run can hold at most; a file that claims more is not unpacked.
    """
    found = {}
    for number in numbers:
        path = _path(folder, number)
        if not path.exists():
            continue
        try:
            arrays = _arrays(path, n_bytes + _OVERHEAD)
            if arrays.pop("run").item() != _run(path):
                continue
            names = arrays.pop("names").tolist()
            record: Record = {name: arrays[f"a{k}"] for k, name in enumerate(names)}
        except Exception:
            # Whatever a damaged file makes its readers raise.
            continue
        for name, value in record.items():
            if value.ndim == 0:
                record[name] = (
                    int(value) if name in _NUMBERS and name != "fit_time" else float(value)
                )
        found[number] = {**record, "error": None, "warnings": set()}
    return found


def n_finished(folder: str, numbers: Sequence[int]) -> int:
    """How many of the runs have a file."""
    return sum(_path(folder, number).exists() for number in numbers)


def clear(folder: str) -> None:
    """Remove what writers that were killed have left under passing names."""
    if not Path(folder).is_dir():
        return
    for path in Path(folder).glob(".run-*"):
        # A file may go meanwhile, and one that is open cannot be removed on some systems.
        with contextlib.suppress(OSError):
            if not _may_be_written(path):
                path.unlink()


# ------------------------------------------------------------------ steps


def _path(folder: str, number: int) -> Path:
    return Path(folder) / f"run-{number:06d}.npz"


def _run(path: Path) -> str:
    """Which run of which fit a file is of, by its place."""
    return f"{path.parent.name}/{path.stem}"


def _arrays(path: Path, n_bytes: float) -> dict[str, NDArray[Any]]:
    """Arrays of a file, by name; ValueError before anything large is read."""
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        claimed = sum(part.file_size for part in parts)
        if claimed > min(n_bytes, path.stat().st_size):
            raise ValueError("More than a run can hold, or than the file does.")
        if any(part.compress_type != zipfile.ZIP_STORED for part in parts):
            raise ValueError("Files of runs are not compressed.")
        # Read to the end, where zip compares checksums.
        return {part.filename.removesuffix(".npy"): _array(archive.read(part)) for part in parts}


def _array(npy: bytes) -> NDArray[Any]:
    """The array of a file in numpy's format, if it is as long as its header says."""
    file = io.BytesIO(npy)
    if file.read(len(_MAGIC)) != _MAGIC:
        raise ValueError("Not in version 1.0 of numpy's format.")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
    rest = len(npy) - file.tell()
    n_elements = int(np.prod(shape, dtype=object))
    if dtype.hasobject or n_elements < 0 or n_elements * dtype.itemsize != rest:
        raise ValueError("The header does not fit what follows it.")
    flat = np.frombuffer(npy, dtype, n_elements, file.tell()) if rest else np.empty(0, dtype)
    return flat.reshape(shape, order="F" if by_columns else "C").copy(order="K")


def _may_be_written(path: Path) -> bool:
    """Whether the writer of a passing name may be alive."""
    found = _PASSING.match(path.name)
    if found is None or time.time() - path.stat().st_mtime > _LONGEST_WRITE:
        return False
    if found["machine"] != _machine():
        return True
    if os.name == "nt":
        # An open file cannot be removed there; asking for a process would end it.
        return False
    try:
        os.kill(int(found["process"]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # The process of another user.
        return True
    return True


def _machine() -> str:
    return re.sub(r"[^\w-]", "-", socket.gethostname())
