"""Values that hold arrays: locked, compared with NaN equal to NaN, and known by their content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, NoReturn

import numpy as np

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
        for own in fields(value):
            held = getattr(value, own.name)
            if type(held) not in _LOCKED and (locked := read_only(held)) is not held:
                changed[own.name] = locked
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


def same_values(one: Any, other: Any) -> bool:
    """Whether two values are equal, arrays and NaN included; of classes what they compare."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        one, other = np.asarray(one), np.asarray(other)
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
    if is_dataclass(one):
        return type(one) is type(other) and all(
            same_values(getattr(one, f.name), getattr(other, f.name))
            for f in fields(one)
            if f.compare
        )
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_values(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        # An interval is a pair with attributes.
        attributes = [getattr(each, "__dict__", {}) for each in (one, other)]
        same = not all(attributes) or same_values(*attributes)
        return same and len(one) == len(other) and all(map(same_values, one, other))
    both_nan = isinstance(one, float) and isinstance(other, float) and one != one and other != other
    return bool(both_nan or one == other)


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
