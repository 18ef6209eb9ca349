"""Numbers and texts of one call on every path are those that were committed.

A change here is a change that users see: it belongs into the changelog. After looking at each
difference, `python tests/golden/record.py commit` writes the files anew.

Draws are not promised across releases of numpy. With other releases than those the files were
written with, only what no resample decides is compared: estimates and differences.
"""

import functools
import json

import numpy as np
import pytest
from golden import record

COMMITTED = json.loads(record.NUMBERS.read_text())
NUMBERS = COMMITTED["numbers"]
SAME_RELEASES = COMMITTED["versions"] == record.versions()


@functools.cache
def answer_to(name):
    """What one call answers; each process of the tests asks only what its tests compare."""
    return record.recorded(record.ALL[name])


def test_every_call_is_written_down():
    assert list(NUMBERS) == list(record.ALL)


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_those_written_down(name):
    found, expected = answer_to(name)["numbers"], NUMBERS[name]
    assert {part: set(each) for part, each in found.items()} == {
        part: set(each) for part, each in expected.items()
    }
    for part, numbers in expected.items():
        for key, value in numbers.items():
            if SAME_RELEASES or key.endswith(("estimate", "difference")):
                np.testing.assert_allclose(
                    found[part][key], value, rtol=1e-9, atol=1e-12, err_msg=f"{name}: {part} {key}"
                )


def test_texts_are_those_written_down():
    records = {name: answer_to(name) for name in record.ALL if name not in record.LARGER}
    found, expected = record.texts_of(records), record.TEXTS.read_text()
    if not SAME_RELEASES:
        found, expected = (of_any_release(page) for page in (found, expected))
    assert found == expected


def of_any_release(page):
    """Sections but those of curves, whose widths are means over many limits, and known names."""
    others = ("curve", "error, no such metric")
    return [section for section in page.split("\n## ") if not section.startswith(others)]
