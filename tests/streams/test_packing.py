"""Bytes of a stream are data: damaged and hostile ones give a clear error."""

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skboot import BootstrapAccumulator
from skboot.streams.packing import _HEAD, _MARK, _VERSION

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 50)
FOUND = BootstrapAccumulator(["roc_auc", "f1", "accuracy"], random_state=0, n_resamples=5)
DATA = FOUND.update(TRUTH, TRUTH ^ (RNG.random(50) < 0.2), groups=np.arange(50)).to_bytes()


def taken_apart():
    *_, length = _HEAD.unpack_from(DATA)
    body = DATA[_HEAD.size :]
    return json.loads(body[:length]), body[length:]


def with_header(record, arrays):
    """Bytes with a right checksum."""
    header = json.dumps(record).encode()
    body = header + arrays
    digest = hashlib.blake2b(body, digest_size=32).digest()
    return _HEAD.pack(_MARK, _VERSION, digest, len(header)) + body


def test_the_helper_packs_as_the_module_does():
    assert with_header(*taken_apart()) == DATA


@pytest.mark.parametrize("data", [None, "text", 3, [1, 2]])
def test_what_is_no_bytes_is_refused(data):
    with pytest.raises(ValueError, match="data must be bytes"):
        BootstrapAccumulator.from_bytes(data)


@pytest.mark.parametrize("data", [b"", b"other", _MARK, DATA[1:]])
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError, match="data must be what to_bytes"):
        BootstrapAccumulator.from_bytes(data)


def test_another_version_is_refused():
    _, version, digest, length = _HEAD.unpack_from(DATA)
    other = _HEAD.pack(_MARK, version + 1, digest, length) + DATA[_HEAD.size :]
    with pytest.raises(ValueError, match=r"format version 1\. Got version 2"):
        BootstrapAccumulator.from_bytes(other)


def test_every_damaged_byte_is_found():
    for at in range(len(_MARK), len(DATA), 97):
        damaged = bytearray(DATA)
        damaged[at] ^= 0x10
        with pytest.raises(ValueError, match=r"data must be"):
            BootstrapAccumulator.from_bytes(bytes(damaged))
    for length in range(0, len(DATA), 501):
        with pytest.raises(ValueError, match=r"data must be"):
            BootstrapAccumulator.from_bytes(DATA[:length])


def test_nothing_but_public_metrics_is_looked_up():
    for function in ("os.system", "sklearn.metrics.os", "builtins.eval", "sklearn.metrics._scorer"):
        record, arrays = taken_apart()
        record["settings"]["metric"] = {"function": function, "options": {}}
        with pytest.raises(ValueError, match="data must be what to_bytes"):
            BootstrapAccumulator.from_bytes(with_header(record, arrays))


ODD = st.sampled_from(
    [None, True, -1, 0, 1, 2**70, 0.5, float("1e300"), "", "ids", "|O", "<f8", [], {}, [3], [[1]]]
)


def places(value, path=()):
    """Every place in nested lists and dicts."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for key, item in enumerate(value):
            yield from places(item, (*path, key))


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.sampled_from(list(places(taken_apart()[0]))[1:]), ODD)
def test_a_hostile_header_gives_an_error_or_an_accumulator(path, value):
    record, arrays = taken_apart()
    inside = record
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    data = with_header(record, arrays)
    try:
        BootstrapAccumulator.from_bytes(data)
    except ValueError:
        with pytest.raises(ValueError, match="data must be what to_bytes"):
            BootstrapAccumulator.from_bytes(data)
