"""A stream as bytes, and from bytes, which are data only: nothing in them is ever run.

The bytes are a mark, a version, a checksum (BLAKE2b), the length of a header, the header as JSON
and the arrays one after the other. Arrays are read by their type and shape, which the header gives;
metrics are named, and names are looked up among the public ones alone.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import sklearn.metrics
from numpy.typing import NDArray

from .. import metrics as own_metrics
from .._base.checks import fail
from .._base.files import json_of
from .batches import WORDS
from .exact_sums import ExactSums
from .few_rows import FEWEST_UNITS, FewRows
from .readings import FINE_SCORES, LABELS
from .state import GROUPS_KEPT, StreamSettings, StreamState
from .tables import Table

# Version 1 had neither the numbers of rows nor few rows.
_MARK, _VERSION = b"skboot-stream\n", 2
_HEAD = struct.Struct("<14sI32sQ")
_MODULES = {"sklearn.metrics": sklearn.metrics, "skboot.metrics": own_metrics}
_TYPES = {"<i8", "<u8", "<f8", "|b1"}


# ------------------------------------------------------------------ metrics by name


def metric_record(metric: Any) -> Any:
    """Return a metric as JSON holds it; refuse one without a public name."""
    if isinstance(metric, str):
        return str(metric)
    if isinstance(metric, Mapping):
        return {"by name": {str(name): metric_record(one) for name, one in metric.items()}}
    if isinstance(metric, list | tuple):
        return [metric_record(one) for one in metric]
    if isinstance(metric, partial) and not metric.args:
        options = _as_json(metric.keywords)
        if options is not None:
            return {"function": metric_record(metric.func), "options": options}
    for module, public in _MODULES.items():
        name = getattr(metric, "__name__", "")
        if name in public.__all__ and getattr(public, name) is metric:
            return {"function": f"{module}.{name}", "options": {}}
    must = "be a scoring name, or a function of sklearn.metrics or skboot.metrics"
    advice = (
        "A stream is saved and merged by the names of its metrics; functools.partial may set "
        "options that are numbers, texts, None, or lists of these."
    )
    raise fail("metric", must, repr(metric), advice)


def metric_of_record(record: Any) -> Any:
    """Return the metric of a record."""
    if isinstance(record, str):
        return record
    if isinstance(record, list):
        return [metric_of_record(one) for one in record]
    if set(record) == {"by name"}:
        return {name: metric_of_record(one) for name, one in record["by name"].items()}
    function, options = record["function"], record["options"]
    if isinstance(function, dict):
        return partial(metric_of_record(function), **options)
    module, _, name = function.rpartition(".")
    public = _MODULES[module]
    if name not in public.__all__:
        raise ValueError(f"{function!r} is no public metric")
    found = getattr(public, name)
    return partial(found, **options) if options else found


def _as_json(options: Mapping[str, Any]) -> Any:
    """Return options as JSON gives them back, None if it cannot."""
    plain = {
        name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        for name, value in options.items()
    }
    try:
        return json.loads(json.dumps(plain, allow_nan=True))
    except (TypeError, ValueError):
        return None


def settings_record(settings: StreamSettings) -> dict[str, Any]:
    """Return settings as JSON holds them; two accumulators are merged if these are equal."""
    seed, labels = settings.seed, settings.labels
    entropy: Any = seed.entropy
    return {
        "metric": metric_record(settings.metric),
        "entropy": entropy if isinstance(entropy, int | None) else [int(one) for one in entropy],
        "spawn_key": [int(key) for key in seed.spawn_key],
        "pool_size": seed.pool_size,
        "n_resamples": settings.n_resamples,
        "systems": None if settings.systems == (None,) else list(settings.systems),
        "labels": None if labels is None else labels.tolist(),
        "n_bins": settings.n_bins,
        "confidence_level": settings.confidence_level,
        "interval": settings.interval,
        "first_look": settings.first_look,
        "greater_is_better": settings.greater_is_better,
        "pos_label": settings.pos_label,
    }


# ------------------------------------------------------------------ bytes


def pack(settings: StreamSettings, state: StreamState) -> bytes:
    """Return the bytes of settings and a state."""
    arrays: list[NDArray[Any]] = []

    def kept(array: NDArray[Any]) -> int:
        arrays.append(np.ascontiguousarray(array))
        return len(arrays) - 1

    tables = [
        {
            "kind": kind,
            "system": system,
            "labels": kept(table.labels),
            "truth": kept(table.truth),
            "other": kept(table.other),
            "shift": table.shift,
            "ends": None if table.ends is None else kept(table.ends),
            **_record_of(table.sums, kept),
        }
        for (kind, system), table in sorted(state.tables.items())
    ]
    record = {
        "settings": settings_record(settings),
        "n_rows": state.n_rows,
        "unit": state.unit,
        "weighted": state.weighted,
        "in_columns": state.in_columns,
        "terms": _record_of(state.terms, kept),
        "largest": kept(state.largest),
        "zero_one": kept(state.zero_one),
        "groups": kept(state.groups),
        "ranges": kept(state.ranges),
        "few": {name: kept(one) for name, one in _few_columns(state).items()},
        "tables": tables,
        "arrays": [[_type_of(array), array.shape] for array in arrays],
    }
    header = json.dumps(record).encode()
    body = header + b"".join(_ordered(array).tobytes() for array in arrays)
    digest = hashlib.blake2b(body, digest_size=32).digest()
    return _HEAD.pack(_MARK, _VERSION, digest, len(header)) + body


def _few_columns(state: StreamState) -> Mapping[str, NDArray[Any]]:
    """Return the columns of few rows, which are in the order of their keys; none of many."""
    return (state.few.columns if state.few else None) or {}


def _record_of(sums: ExactSums, kept: Any) -> dict[str, int]:
    return {"digits": kept(sums.digits.astype(np.int64, copy=False)), "lowest": sums.lowest}


def _ordered(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array with the bytes in the order of the file."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _type_of(array: NDArray[Any]) -> str:
    return array.dtype.newbyteorder("<").str


def unpack(data: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the record of the settings, and the fields of a state, checked.

    Raises
    ------
    ValueError
        If the bytes are something else, damaged, of another version, or do not fit together.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ValueError(
            f"data must be bytes, as to_bytes() gives them. Got {type(data).__name__}."
        )
    whole = bytes(data)
    if len(whole) < _HEAD.size or not whole.startswith(_MARK):
        raise ValueError("data must be what to_bytes() gave. Got other bytes.")
    _, version, digest, length = _HEAD.unpack_from(whole)
    if not 1 <= version <= _VERSION:
        raise ValueError(
            f"data must be of format version {_VERSION} or before. Got version {version}: read it "
            "with the skboot that wrote it."
        )
    body = whole[_HEAD.size :]
    if hashlib.blake2b(body, digest_size=32).digest() != digest:
        raise ValueError(
            "data must be what to_bytes() gave. Got damaged bytes: the checksum differs."
        )
    try:
        record = json_of(body[:length])
        if version == 1:
            record |= {"ranges": None, "few": {}}
        arrays = _arrays(record["arrays"], body[length:])
        return record["settings"], _fields(record, arrays)
    except (
        AttributeError,
        IndexError,
        KeyError,
        OverflowError,
        RecursionError,
        TypeError,
        UnicodeDecodeError,
        ValueError,
    ) as error:
        raise ValueError(f"data must be what to_bytes() gave: {error}") from error


def _arrays(described: Any, body: bytes) -> list[NDArray[Any]]:
    arrays, at = [], 0
    for kind, shape in described:
        dtype = np.dtype(kind)
        if kind not in _TYPES and dtype.kind not in "biufU":
            raise ValueError(f"an array of type {kind!r}")
        if any(not isinstance(n, int) or n < 0 for n in shape):
            raise ValueError(f"an array of shape {shape}")
        size = dtype.itemsize * math.prod(shape)
        if at + size > len(body):
            raise ValueError("arrays longer than the bytes")
        array = np.frombuffer(body[at : at + size], dtype=dtype).reshape(shape)
        arrays.append(array.astype(dtype.newbyteorder("=")))
        at += size
    if at != len(body):
        raise ValueError("bytes beyond the arrays")
    return arrays


def _fields(record: Mapping[str, Any], arrays: list[NDArray[Any]]) -> dict[str, Any]:
    """Return the fields of a state."""

    def array(number: Any, kind: str, n_dimensions: int) -> NDArray[Any]:
        found = arrays[_whole(number, 0)]
        if found.dtype.kind not in kind or found.ndim != n_dimensions:
            raise ValueError(f"an array of type {found.dtype} and shape {found.shape}")
        return found

    def sums(one: Mapping[str, Any]) -> ExactSums:
        digits = array(one["digits"], "i", 3)
        lowest = one["lowest"]
        if not isinstance(lowest, int) or not -40 <= lowest <= 0 or not 1 <= len(digits) <= 80:
            raise ValueError("sums of other digits")
        return ExactSums.of_digits(digits, lowest)

    tables = {}
    for one in record["tables"]:
        labels, truth = array(one["labels"], "biufU", 1), array(one["truth"], "i", 1)
        other, own = array(one["other"], "u", 1), sums(one)
        shift = one["shift"]
        if len(truth) != len(other) or own.digits.shape[1] != len(truth):
            raise ValueError("a table whose columns differ in length")
        decided = other if shift is None else truth.astype(np.uint64)
        for number in (truth, decided):
            if len(number) and not (number.min() >= 0 and number.max() < len(labels)):
                raise ValueError("a table of other labels")
        ends = None
        if shift is not None:
            ends = array(one["ends"], "u", 2)
            if _whole(shift, 0) > 64 or ends.shape != (2, len(truth)) or np.any(ends[0] > ends[1]):
                raise ValueError("a table of other scores")
        found = Table(labels, truth, other, own, shift, ends)
        tables[str(one["kind"]), _whole(one["system"], 0)] = found
    ranges = np.empty((0, 2), dtype=np.int64)
    if record["ranges"] is not None:
        ranges = array(record["ranges"], "i", 2)
        first, last = ranges.T
        if np.any(last < first) or np.any(first[1:] <= last[:-1]):
            raise ValueError("numbers of rows that do not rise")
    few = {str(name): arrays[_whole(one, 0)] for name, one in record["few"].items()}
    groups = array(record["groups"], "u", 1)
    if len(groups) > GROUPS_KEPT or np.any(groups[1:] <= groups[:-1]):
        raise ValueError("groups that are not sorted")
    if record["unit"] not in ("", *WORDS):
        raise ValueError(f"units identified by {record['unit']!r}")
    return {
        "terms": sums(record["terms"]),
        "largest": array(record["largest"], "f", 1),
        "zero_one": array(record["zero_one"], "b", 1),
        "tables": tables,
        "n_rows": _whole(record["n_rows"], 0),
        "unit": record["unit"],
        "groups": groups,
        "weighted": bool(record["weighted"]),
        "in_columns": bool(record.get("in_columns", True)),
        "ranges": ranges,
        "few": FewRows((few,)) if few else None,
    }


def _whole(value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{value!r} in place of a whole number")
    return value


def check_fits(state: StreamState, settings: StreamSettings) -> None:
    """Refuse a state that does not fit its settings.

    Raises
    ------
    ValueError
        Says what does not.
    """
    columns = 1 + settings.n_resamples
    shapes = [state.terms.digits.shape[1:], state.largest.shape, state.zero_one.shape]
    n = settings.n_terms
    fits = shapes == [(n, 1 + columns), (n,), (n,)]
    if state.unit:
        fits &= sorted(state.tables) == sorted(settings.tables)
    fits &= all(
        table.sums.digits.shape[2] == (1 if kind == FINE_SCORES else columns)
        for (kind, _), table in state.tables.items()
    )
    scores = [
        (key[0] != LABELS) == (table.shift is not None) for key, table in state.tables.items()
    ]
    if state.few is not None:
        fits &= state.n_units < FEWEST_UNITS and state.few.fits(
            state.n_rows, len(settings.systems), state.weighted
        )
    if not fits or not all(scores):
        raise ValueError("sums that do not fit its settings")
