"""Numbers and texts of one call on every path are those that were committed.

A change here is a change that users see: it belongs into the changelog. After looking at each
difference, `python tests/golden/record.py commit` writes the files anew.

Draws are not promised across releases of numpy. With other releases than those the files were
written with, only what no resample decides is compared: estimates and differences.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import record
from calls import CALLS

COMMITTED = json.loads(record.NUMBERS.read_text())
NUMBERS = COMMITTED["numbers"]
SAME_RELEASES = COMMITTED["versions"] == record.versions()


@pytest.fixture(scope="module")
def records():
    return record.everything()


def test_every_call_is_written_down():
    assert list(NUMBERS) == list(CALLS)


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_those_written_down(name, records):
    found, expected = records[name]["numbers"], NUMBERS[name]
    assert {part: set(each) for part, each in found.items()} == {
        part: set(each) for part, each in expected.items()
    }
    for part, numbers in expected.items():
        for key, value in numbers.items():
            if SAME_RELEASES or key in ("estimate", "difference"):
                np.testing.assert_allclose(
                    found[part][key], value, rtol=1e-9, atol=1e-12, err_msg=f"{name}: {part} {key}"
                )


def test_texts_are_those_written_down(records):
    assert record.texts_of(records) == record.TEXTS.read_text()
