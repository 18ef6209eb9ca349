"""Files give back what was saved, and refuse what is something else."""

import io
import json
import pickle
import re
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from made_results import (
    ALL_KINDS,
    ROWS,
    accuracy_result,
    any_kind,
    mean_evidence,
    mean_result,
    subgroups,
)

from skboot.inference import ConfidenceInterval
from skboot.results import EvaluationResult


@any_kind
def test_a_saved_result_comes_back_equal(kind, tmp_path):
    result = ALL_KINDS[kind]()
    result.save(tmp_path / "result.npz")
    back = EvaluationResult.load(tmp_path / "result.npz")
    assert back == result
    assert back.summary() == result.summary()


@pytest.mark.parametrize("method", ["wilson", "bca", "studentized", "max-t"])
def test_a_loaded_result_can_be_asked_for_other_intervals(method, tmp_path):
    made = {"wilson": accuracy_result, "max-t": lambda: subgroups()["gap"]}
    result = made.get(method, lambda: mean_result(method))()
    result.save(tmp_path / "r.npz")
    back = EvaluationResult.load(tmp_path / "r.npz")
    assert back.interval(confidence_level=0.8) == result.interval(confidence_level=0.8)
    assert back.monte_carlo_error == result.monte_carlo_error


def test_everything_a_result_can_hold_comes_back(tmp_path):
    result = mean_result(
        metric="größe ≥ 0 🎲",
        evidence=mean_evidence(
            bounds=(-np.inf, np.inf), largest_share=np.float64(0.1), delong=(0.1, 3),
            proportion=(np.int64(3), 60, False, "f1", -1.0), replicates=np.r_[np.nan, ROWS],
            replicate_standard_errors=None, max_t=(0.5, np.arange(3.0)),
        ),
        confidence_interval=ConfidenceInterval(-np.inf, np.nan, 0.95, "studentized"),
        greater_is_better=None,
        seed={"entropy": 2**127 + 1, "spawn_key": [1, 2]},
        settings={"$tuple": 1, "x": [None, True, float("inf")], "y": {"$array": "no"}},
        runs={"score": np.arange(3.0), "name": np.array(["ä", "b"]), "$float": (1, [2.5])},
    )  # fmt: skip
    result.save(str(tmp_path / "no suffix"))
    assert (tmp_path / "no suffix").exists()
    back = EvaluationResult.load(tmp_path / "no suffix")
    assert back == result
    assert isinstance(back._evidence.drawn.n_units, tuple)
    assert back._evidence.facts.proportion.to_metric(0.5) == -2 / 3
    assert not back.bootstrap_distribution.flags.writeable


def test_the_header_is_json_that_other_programs_can_read(tmp_path):
    ALL_KINDS["infinite"]().save(tmp_path / "r.npz")
    with np.load(tmp_path / "r.npz", allow_pickle=False) as archive:
        header = json.loads(str(archive["header"]), parse_constant=pytest.fail)
        assert header["format"] == "skboot.EvaluationResult"
        assert archive["basis.evidence.replicates"].shape == (999,)


def test_python_objects_are_neither_saved_nor_loaded(tmp_path):
    path = tmp_path / "r.npz"
    with pytest.raises(TypeError, match="Python objects"):
        mean_result(runs={"x": np.array([{}])}).save(path)
    assert not path.exists()
    np.savez(path, header=np.array([{"format": "skboot.EvaluationResult"}], dtype=object))
    with pytest.raises(ValueError, match="not a file of skboot"):
        EvaluationResult.load(path)
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ValueError, match="not an npz archive"):
        EvaluationResult.load(path)


def _header(**changes):
    return np.array(json.dumps({"format": "skboot.EvaluationResult", "version": 2, **changes}))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.arange(3)}, "not a file of"),
        ({"header": np.array("{")}, "not a file of"),
        ({"header": np.array("[1]")}, "not a file of"),
        ({"header": _header(format="other", parts={})}, "holds 'other'"),
        ({"header": _header(version=3, parts={})}, "newer skboot.*Upgrade"),
        ({"header": _header(version=1, parts={})}, "before the first release.*again"),
        ({"header": _header(version="x", parts={})}, "newer skboot"),
        ({"header": _header(parts={})}, "does not hold a whole result"),
        ({"header": _header(parts={"a": {"$array": "gone"}})}, "not a file of"),
        ({"header": _header(parts={"evidence": {"a": 1}})}, "does not hold a whole result"),
    ],
)
def test_other_files_are_refused_with_the_reason(arrays, message, tmp_path):
    np.savez(tmp_path / "r.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        EvaluationResult.load(tmp_path / "r.npz")


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / "r.npz"
    mean_result().save(path)
    content = path.read_bytes()
    for end in (0, 10, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:end])
        with pytest.raises(ValueError, match="damaged"):
            EvaluationResult.load(path)
    broken = bytearray(content)
    broken[len(content) // 2] ^= 0xFF
    path.write_bytes(broken)
    with pytest.raises(ValueError, match="damaged"):
        EvaluationResult.load(path)


@pytest.mark.parametrize(
    ("member", "array"),
    [
        # 72 MB, where 67 are always read.
        ("basis.evidence.replicates", np.zeros(9_000_000)),
        ("more", np.zeros(9_000_000)),
        ("more", np.zeros(3)),
        ("basis.evidence.replicates", None),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_large_unknown_or_there_twice_is_refused(member, array, tmp_path):
    mean_result().save(tmp_path / "r.npz")
    with (
        zipfile.ZipFile(tmp_path / "r.npz") as whole,
        zipfile.ZipFile(tmp_path / "other.npz", "w", zipfile.ZIP_DEFLATED) as other,
    ):
        for name in whole.namelist():
            if array is None or name != f"{member}.npy":
                other.writestr(name, whole.read(name))
        content = io.BytesIO()
        if array is None:
            content.write(whole.read(f"{member}.npy"))
        else:
            np.save(content, array)
        other.writestr(f"{member}.npy", content.getvalue())
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"damaged: .*(claims more|one name|of no value)"):
        EvaluationResult.load(tmp_path / "other.npz")
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_a_large_result_of_equal_values_comes_back(tmp_path):
    runs = {"x": np.zeros(9_000_000)}
    mean_result(runs=runs).save(tmp_path / "r.npz")
    assert EvaluationResult.load(tmp_path / "r.npz") == mean_result(runs=runs)


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        EvaluationResult.load(tmp_path / "no.npz")


@pytest.mark.parametrize("place", ["none", "none/below", "file", "folder"])
def test_a_place_that_cannot_be_written_is_named_as_given(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("text")
    (tmp_path / "folder" / "x.npz").mkdir(parents=True)
    path = f"{place}/x.npz"
    with pytest.raises(OSError, match=re.escape(f": {path!r}")) as caught:
        accuracy_result().save(path)
    assert str(caught.value).count("npz") == 1
    assert (f"There is no folder {place!r}" in str(caught.value)) == place.startswith("none")
    assert sorted(found.name for found in tmp_path.rglob("*")) == ["file", "folder", "x.npz"]


def test_a_full_disk_is_told_with_the_path_as_given(tmp_path, monkeypatch):
    def fsync(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("skboot._base.values.os.fsync", fsync)
    with pytest.raises(OSError, match=r"No space left on device: '.*/x\.npz'$"):
        accuracy_result().save(tmp_path / "x.npz")
    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "r.npz"
    mean_result().save(path)

    def fail(file, **arrays):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        accuracy_result().save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["r.npz"]
    assert EvaluationResult.load(path) == mean_result()


def test_all_texts_are_made_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in ALL_KINDS.values():
            result = make()
            result.summary(), result.claim(), result.to_html(), result.to_dict()


def endless(path):
    """An array of 2**60 numbers, of which none is there."""
    file = io.BytesIO()
    np.save(file, np.zeros(0))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "x.npy", file.getvalue().replace(b"(0,), }" + b" " * 18, b"(%d,), }" % 2**60)
        )
        archive.writestr("header.npy", file.getvalue())


def encrypted(path):
    """An archive that says of its member that it needs a password."""
    mean_result().save(path)
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.find(mark) + place] |= 1
    path.write_bytes(content)


def deep(path):
    np.savez(path, header=np.array("[" * 100_000))


@pytest.mark.parametrize("write", [endless, encrypted, deep])
def test_hostile_archives_are_refused_whatever_their_readers_raise(write, tmp_path):
    write(tmp_path / "r.npz")
    with pytest.raises(ValueError, match="not a file of skboot"):
        EvaluationResult.load(tmp_path / "r.npz")
