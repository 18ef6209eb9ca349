"""Files that an earlier skboot wrote still load, and say, give and draw what they did."""

import importlib.util
import json
import math
import shutil
import warnings

import pytest
from golden.record import versions
from kept.keep import HERE, RESULTS, SAID, file_of, remembered, said_of

import skboot

EARLIER = json.loads(SAID.read_text())
# Quantiles of Student's law have other last digits in other releases of scipy.
DIGITS = 1e-9 if EARLIER["versions"] == versions() else 1e-6
DRAWS = importlib.util.find_spec("matplotlib") is not None


def alike(found, expected):
    """Whether two answers are equal: texts and names exactly, numbers to their last digits."""
    if isinstance(expected, float) and isinstance(found, int | float):
        both_undefined = math.isnan(expected) and math.isnan(found)
        return both_undefined or math.isclose(found, expected, rel_tol=DIGITS, abs_tol=1e-9)
    if isinstance(expected, dict):
        # Of a table a later version may say more, never less; what computes now is of now.
        named = expected.keys() - {"versions"}
        return all(key in found and alike(found[key], expected[key]) for key in named)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(alike, found, expected))
    return found == expected


def written(folder):
    """Files of a folder, and when each was written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", RESULTS)
def test_a_file_of_before_says_what_it_said(name):
    expected = dict(EARLIER[name])
    loaded = getattr(skboot.results, expected.pop("kind")).load(file_of(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = said_of(loaded)
        for what, said in expected.items():
            assert alike(found[what], said), what
        if DRAWS:
            import matplotlib.pyplot as plt

            loaded.plot()
            plt.close("all")


def test_the_state_of_an_accumulator_of_before_goes_on():
    data = (HERE / "accumulator.bin").read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = said_of(skboot.BootstrapAccumulator.from_bytes(data).result())
    for what, said in EARLIER["accumulator"].items():
        assert alike(found[what], said), what


def test_a_fit_finds_the_runs_that_were_kept_before(tmp_path):
    if EARLIER["versions"] != versions():
        pytest.skip("runs are kept by the releases of what trained them")
    shutil.copytree(HERE / "memory", tmp_path / "memory")
    before = written(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert remembered(tmp_path / "memory").result_.summary() == EARLIER["memory"]
    assert written(tmp_path) == before
