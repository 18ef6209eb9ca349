"""Bytes of a stream are data: damaged and hostile ones give a clear error."""

import contextlib
import copy
import hashlib
import json
import struct
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skboot import BootstrapAccumulator

# What bytes begin with: a mark, the version, a checksum, the length of the header.
HEAD, MARK, VERSION = struct.Struct("<14sI32sQ"), b"skboot-stream\n", 2
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 50)
FOUND = BootstrapAccumulator(["roc_auc", "f1", "accuracy"], random_state=0, n_resamples=5)
DATA = FOUND.update(TRUTH, TRUTH ^ (RNG.random(50) < 0.2), groups=np.arange(50)).to_bytes()


def taken_apart(data=DATA):
    *_, length = HEAD.unpack_from(data)
    body = data[HEAD.size :]
    return json.loads(body[:length]), body[length:]


def with_header(record, arrays):
    """Bytes with a right checksum."""
    header = json.dumps(record).encode()
    body = header + arrays
    digest = hashlib.blake2b(body, digest_size=32).digest()
    return HEAD.pack(MARK, VERSION, digest, len(header)) + body


def test_the_helper_packs_as_the_module_does():
    assert with_header(*taken_apart()) == DATA


@pytest.mark.parametrize("data", [None, "text", 3, [1, 2]])
def test_what_is_no_bytes_is_refused(data):
    with pytest.raises(ValueError, match="data must be bytes"):
        BootstrapAccumulator.from_bytes(data)


@pytest.mark.parametrize("data", [b"", b"other", MARK, DATA[1:]])
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError, match="data must be what to_bytes"):
        BootstrapAccumulator.from_bytes(data)


def test_another_version_is_refused():
    _, version, digest, length = HEAD.unpack_from(DATA)
    other = HEAD.pack(MARK, version + 1, digest, length) + DATA[HEAD.size :]
    with pytest.raises(ValueError, match=r"format version 2 or before\. Got version 3"):
        BootstrapAccumulator.from_bytes(other)


def test_every_damaged_byte_is_found():
    for at in range(len(MARK), len(DATA), 97):
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


# ------------------------------------------------------------------ the version before

# `to_bytes()` of version 1, which had neither numbers of rows nor few rows, of these 40 rows.
VERSION_1 = Path(__file__).parent / "version_1"
K = np.arange(40)
SCORE = (K * 11 % 13) / 13 + 0.3 * (K * 7 % 5 < 2)
OLD_TRUTH, OLD_GUESS = (K * 7 % 5 < 2).astype(int), (SCORE > 0.5).astype(int)


def old(name):
    return BootstrapAccumulator.from_bytes((VERSION_1 / f"{name}.bin").read_bytes())


def test_bytes_of_version_1_are_read_and_go_on():
    rows = BootstrapAccumulator({"acc": "accuracy"}, random_state=0, n_resamples=5)
    rows.update(OLD_TRUTH, OLD_GUESS, start=0)
    more = BootstrapAccumulator.from_bytes(rows.to_bytes())
    with pytest.raises(ValueError, match="rows 0 to 39 again"):
        more.update(OLD_TRUTH, OLD_GUESS, start=0)
    of_version_1, more = old("rows"), more.update(OLD_TRUTH, OLD_GUESS, start=40)
    assert of_version_1.result() == rows.result()
    of_version_1.update(OLD_TRUTH, OLD_GUESS, start=40)
    assert of_version_1.n_samples == 80
    for one in (of_version_1, BootstrapAccumulator.from_bytes(of_version_1.to_bytes())):
        np.testing.assert_array_equal(one._state.terms.values(), more._state.terms.values())
        with pytest.raises(ValueError, match="rows 40 to 79 again"):
            one.merge(more)


def test_groups_and_systems_of_version_1_are_read():
    found = BootstrapAccumulator(
        ["roc_auc", "f1"], random_state=0, n_resamples=5, systems=["new", "old"]
    )
    both = {"new": OLD_GUESS, "old": 1 - OLD_GUESS}
    found.update(OLD_TRUTH, both, groups=K % 35)
    with warnings.catch_warnings():
        # Decisions for scores, and five resamples.
        warnings.simplefilter("ignore")
        results = [one.result() for one in (old("groups"), found)]
    assert results[0] == results[1]


def test_few_rows_of_version_1_are_lacking_until_there_are_enough():
    found = old("few")
    with pytest.raises(ValueError, match=r"20 rows are too few: fewer than 30"):
        found.result()
    found.update(OLD_TRUTH[20:], OLD_GUESS[20:], start=20)
    expected = BootstrapAccumulator("accuracy", random_state=0, n_resamples=5)
    expected.update(OLD_TRUTH, OLD_GUESS, start=0)
    assert found.result() == expected.result()


# ------------------------------------------------------------------ few rows

FEW = BootstrapAccumulator("roc_auc", random_state=0, n_resamples=39)
FEW.update(TRUTH[:9], np.round(RNG.random(9), 2), start=4, sample_weight=np.arange(9) + 1.0)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sampled_from(list(places(taken_apart(FEW.to_bytes())[0]))[1:]), ODD)
def test_a_hostile_header_of_few_rows_gives_an_error_or_an_accumulator(path, value):
    record, arrays = taken_apart(FEW.to_bytes())
    inside = record
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    data = with_header(record, arrays)
    try:
        found = BootstrapAccumulator.from_bytes(data)
    except ValueError:
        with pytest.raises(ValueError, match="data must be what to_bytes"):
            BootstrapAccumulator.from_bytes(data)
        return
    with warnings.catch_warnings(), contextlib.suppress(ValueError):
        warnings.simplefilter("ignore")
        found.result()


def bytes_of_changed_state(**changes):
    other = copy.copy(FEW)
    other._state = replace(FEW._state, **changes)
    return other.to_bytes()


@pytest.mark.parametrize("ranges", [[[5, 4]], [[0, 9], [9, 12]], [[7, 9], [0, 3]], [[1, 2, 3]]])
def test_ranges_that_overlap_or_do_not_rise_are_refused(ranges):
    with pytest.raises(ValueError, match="data must be what to_bytes"):
        BootstrapAccumulator.from_bytes(bytes_of_changed_state(ranges=np.array(ranges)))


@pytest.mark.parametrize("lacking", ["unit", "y_pred 0", "sample_weight"])
def test_few_rows_without_a_column_are_refused(lacking):
    [columns] = FEW._state.few_rows.batches
    left = {name: one for name, one in columns.items() if name != lacking}
    with pytest.raises(ValueError, match="data must be what to_bytes"):
        BootstrapAccumulator.from_bytes(
            bytes_of_changed_state(few_rows=SimpleNamespace(columns=left))
        )
