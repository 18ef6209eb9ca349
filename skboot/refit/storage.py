"""Finished runs in a folder, one file each, so that a killed fit can go on.

Files hold arrays and numbers only and are read without unpickling. They are written under a passing
name and then renamed: a file is whole or absent.
"""

from __future__ import annotations

import os
import secrets
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .training import Record

_NUMBERS = ("number", "fit_time", "n_convergence")


def write(folder: str, record: Record) -> None:
    """Write the record of a run that did not fail."""
    path = Path(folder) / f"run-{record['number']:06d}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    arrays = {key: np.asarray(v) for key, v in record.items() if key not in ("error", "warnings")}
    if any(array.dtype.hasobject for array in arrays.values()):
        raise TypeError("With memory=, labels must be strings or numbers, not Python objects.")
    names = np.array(list(arrays))
    contents = {f"a{k}": array for k, array in enumerate(arrays.values())}
    try:
        with passing.open("wb") as file:
            np.savez(file, names=names, **contents)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        passing.replace(path)
    finally:
        passing.unlink(missing_ok=True)


def finished(folder: str, numbers: Sequence[int]) -> dict[int, Record]:
    """Records of the runs that are there; a damaged file counts as absent."""
    found = {}
    for number in numbers:
        path = Path(folder) / f"run-{number:06d}.npz"
        if not path.exists():
            continue
        try:
            with np.load(path, allow_pickle=False) as archive:
                names = archive["names"].tolist()
                record: Record = {name: archive[f"a{k}"] for k, name in enumerate(names)}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            continue
        for name, value in record.items():
            if value.ndim == 0:
                record[name] = (
                    int(value) if name in _NUMBERS and name != "fit_time" else float(value)
                )
        found[number] = {**record, "error": None, "warnings": set()}
    return found
