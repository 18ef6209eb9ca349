"""All runs: the same in workers, kept in files that are whole, and gone on with."""

import errno
import io
import os
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import threading
import tracemalloc
import warnings
import zipfile
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from training_jobs import drawn, job_of

from skboot import BootstrapScorer
from skboot.refit import training

pytestmark = pytest.mark.filterwarnings("ignore:BootstrapScorer. 8 resamples are too few")

N = 60
Y = np.arange(N) % 2
X = np.random.default_rng(0).normal(size=(N, 2)) + Y[:, None]


def scorer(estimator, folder, **options):
    options = dict(n_train_resamples=8, strategy="oob", random_state=0, memory=folder) | options
    return BootstrapScorer(estimator, scoring="accuracy", **options)


def test_records_are_the_same_in_workers(monkeypatch):
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    X, y = make_classification(60, random_state=0)
    runs = drawn(n_repeats=0).runs()
    job = job_of(DecisionTreeClassifier(max_features=1), X, y, metrics=(PicklableLabels(),))
    alone, two = (
        training.run_all(job, runs, n_jobs=n, verbose=0, seconds_per_run=1.0) for n in (1, 2)
    )
    for a, b in zip(alone, two, strict=True):
        np.testing.assert_array_equal(a["labels"], b["labels"])


class PicklableLabels:
    key = "labels"

    def keep(self, answers, scored):
        return {"labels": answers.predicted}


# ------------------------------------------------------------------ files


RECORD = {
    "number": 3, "fit_time": 0.5, "n_convergence": 0, "failure": None, "warnings": set(),
    "labels": np.arange(5, dtype=np.int8), "loss": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    training.write_run(str(tmp_path / "key"), RECORD)
    return tmp_path / "key"


def is_right(found):
    return found.keys() == RECORD.keys() and all(
        np.array_equal(found[name], value) for name, value in RECORD.items()
    )


def test_no_damage_to_a_file_makes_a_fit_fail_or_another_record(folder):
    path = folder / "run-000003.npz"
    whole = path.read_bytes()
    assert is_right(training.finished_runs(str(folder), [3], 1000)[3])
    damaged = [whole[:cut] for cut in range(0, len(whole), 50)] + [b""]
    for place in range(len(whole)):
        some = bytearray(whole)
        some[place] ^= (0xFF, 1, 0x20)[place % 3]
        damaged.append(bytes(some))
    refused = 0
    for some in damaged:
        path.write_bytes(some)
        found = training.finished_runs(str(folder), [3], 1000)
        assert not found or is_right(found[3])
        refused += not found
    assert refused > len(damaged) / 3


def test_a_file_under_another_name_is_not_read(folder):
    shutil.copy(folder / "run-000003.npz", folder / "run-000004.npz")
    shutil.copytree(folder, folder.parent / "other")
    assert list(training.finished_runs(str(folder), [3, 4])) == [3]
    assert not training.finished_runs(str(folder.parent / "other"), [3, 4])


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def replaced(path, npy_file, *, compression=zipfile.ZIP_STORED):
    """Put another file in the place of one of the arrays."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in (parts | {"a3.npy": npy_file}).items():
            archive.writestr(name, content)


CLAIMS = {
    "compressed": lambda path: replaced(
        path, npy(np.zeros(20_000_000, "u1")), compression=zipfile.ZIP_DEFLATED
    ),
    "large": lambda path: replaced(path, npy(np.zeros(20_000_000, "u1"))),
    "header": lambda path: replaced(
        path, npy(np.zeros(5, "u1")).replace(b"(5,), }       ", b"(500000000,), }")
    ),
    "objects": lambda path: replaced(path, npy(np.array([{}, {}]))),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_file_that_claims_more_than_a_run_holds_is_not_unpacked(claim, folder):
    before = (folder / "run-000003.npz").read_bytes()
    CLAIMS[claim](folder / "run-000003.npz")
    assert (folder / "run-000003.npz").read_bytes() != before
    tracemalloc.start()
    found = training.finished_runs(str(folder), [3], 1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not found
    assert peak < 2e6


def test_files_of_a_fit_stay_far_below_what_its_runs_may_hold(tmp_path, monkeypatch):
    limits = []
    real = training._most_bytes
    monkeypatch.setattr(training, "_most_bytes", lambda job: limits.append(real(job)) or limits[-1])
    monkeypatch.setattr(training, "_OVERHEAD", 4000)
    options = dict(strategy="optimism", memory=tmp_path)
    for _ in range(2):
        scorer(GaussianNB(), tmp_path, **options).fit(X, Y)
    sizes = [path.stat().st_size for path in tmp_path.rglob("run-*.npz")]
    assert len(sizes) == 8
    assert max(sizes) < min(limits) / 5


def test_passing_files_of_dead_writers_go_and_those_of_live_ones_stay(tmp_path):
    scorer(GaussianNB(), tmp_path).fit(X, Y)
    [own] = tmp_path.iterdir()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    machine = socket.gethostname()
    dead = own / f".run-000001.npz.{gone.pid}@{machine}.0123abcd"
    old = own / f".run-000001.npz.{os.getpid()}@{machine}.0123abcd"
    alive = own / f".run-000002.npz.{os.getpid()}@{machine}.0123abcd"
    elsewhere = own / ".run-000002.npz.1@elsewhere.0123abcd"
    unknown = own / ".run-000001.npz.0123abcd"
    for path in (dead, old, alive, elsewhere, unknown):
        path.write_bytes(b"half a")
    os.utime(old, (0, 0))
    scorer(GaussianNB(), tmp_path).fit(X, Y)
    assert set(own.glob(".run-*")) == {alive, elsewhere}


def test_a_probe_of_a_fit_that_was_killed_goes_with_the_next_fit(tmp_path, monkeypatch):
    def killed(descriptor):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("skboot._base.values.os.fsync", killed)
        # A process that is killed removes nothing.
        patched.setattr("skboot._base.values.Path.unlink", lambda *_, **__: None)
        with pytest.raises(KeyboardInterrupt):
            scorer(GaussianNB(), tmp_path).fit(X, Y)
    [probe] = tmp_path.rglob(".probe.*")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    probe.rename(str(probe).replace(f".{os.getpid()}@", f".{gone.pid}@"))
    scorer(GaussianNB(), tmp_path).fit(X, Y)
    assert len(list(tmp_path.rglob("*"))) == 1 + 8
    assert len(list(tmp_path.rglob("run-*.npz"))) == 8


def test_another_fit_may_have_removed_the_probe(tmp_path, monkeypatch):
    """Two fits that start together in one folder write one probe; the quicker one removes it."""
    write_atomically = training.write_atomically

    def and_gone(path, write, **options):
        write_atomically(path, write, **options)
        if path.name == "probe":
            path.unlink()

    monkeypatch.setattr(training, "write_atomically", and_gone)
    scorer(GaussianNB(), tmp_path).fit(X, Y)
    assert len(list(tmp_path.rglob("run-*.npz"))) == 8


def test_links_in_the_folder_of_runs_are_replaced_and_never_followed(tmp_path):
    expected = scorer(GaussianNB(), tmp_path / "runs").fit(X, Y)
    [own] = (tmp_path / "runs").iterdir()
    mine = tmp_path / "mine"
    mine.write_bytes(b"mine")
    for name in ("run-000001.npz", "run-000002.npz", "probe"):
        (own / name).unlink(missing_ok=True)
        (own / name).symlink_to(mine)
    found = scorer(GaussianNB(), tmp_path / "runs").fit(X, Y)
    assert found.confidence_interval_ == expected.confidence_interval_
    assert mine.read_bytes() == b"mine"
    assert not any(path.is_symlink() for path in own.iterdir())
    assert len(list(own.iterdir())) == 8


def test_a_link_in_the_place_of_the_folder_of_a_fit_is_replaced(tmp_path):
    expected = scorer(GaussianNB(), tmp_path / "runs").fit(X, Y)
    [own] = (tmp_path / "runs").iterdir()
    elsewhere = tmp_path / "elsewhere"
    own.rename(elsewhere)
    for path in elsewhere.iterdir():
        path.unlink()
    own.symlink_to(elsewhere, target_is_directory=True)
    found = scorer(GaussianNB(), tmp_path / "runs").fit(X, Y)
    assert found.confidence_interval_ == expected.confidence_interval_
    assert not own.is_symlink()
    assert len(list(own.iterdir())) == 8
    assert not list(elsewhere.iterdir())


def test_a_folder_that_the_user_names_by_a_link_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "here").symlink_to("there", target_is_directory=True)
    scorer(GaussianNB(), tmp_path / "here").fit(X, Y)
    assert len(list((tmp_path / "there").rglob("run-*.npz"))) == 8


def test_a_damaged_file_counts_as_absent(tmp_path):
    training.write_run(
        str(tmp_path), {"number": 0, "fit_time": 0.5, "failure": None, "warnings": set()}
    )
    (tmp_path / "run-000001.npz").write_bytes(b"PK half a file")
    assert list(training.finished_runs(str(tmp_path), [0, 1, 2])) == [0]


# ------------------------------------------------------------------ fits that are stopped


# How often `Stopped` was fitted: a count in the class itself would be a change of its code.
COUNTED = threading.local()


class Stopped(BaseEstimator):
    """Ends its fourth fit, or its process."""

    def __init__(self, by="key"):
        self.by = by

    def fit(self, X, y):
        COUNTED.n = getattr(COUNTED, "n", 0) + 1
        if self.by == "key" and COUNTED.n == 4:
            raise KeyboardInterrupt
        if self.by == "death" and len(np.unique(X[:, 0])) < N:
            os._exit(1)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_an_interrupted_fit_says_what_is_kept_and_goes_on(tmp_path):
    COUNTED.n = 0
    with pytest.raises(KeyboardInterrupt) as stopped:
        scorer(Stopped(), tmp_path).fit(X, Y)
    [note] = stopped.value.__notes__
    assert note.startswith("2 of 8 runs are kept in the folder given as memory=")
    assert str(tmp_path) in note
    scorer(Stopped(), tmp_path).fit(X, Y)
    assert COUNTED.n == 4 + 1 + 6
    COUNTED.n = 0
    with pytest.raises(KeyboardInterrupt) as stopped:
        scorer(Stopped(), None).fit(X, Y)
    assert "memory=" in stopped.value.__notes__[0]


@pytest.mark.filterwarnings("ignore:A worker stopped", "ignore:resource_tracker")
def test_a_worker_that_died_is_named_with_what_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    with parallel_config("loky"), pytest.raises(BrokenProcessPool) as stopped:
        scorer(Stopped("death"), tmp_path, n_jobs=2).fit(X, Y)
    assert any("0 of 8 runs are kept" in note for note in stopped.value.__notes__)


KILLED = """
import os, signal, sys, warnings
import numpy as np
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier
from skboot.scorer import BootstrapScorer

class Killed(DecisionTreeClassifier):
    def fit(self, X, y, **options):
        # How many fits are left; a count in the module would be a change of its code.
        sys.argv[2] = str(int(sys.argv[2]) - 1)
        if sys.argv[2] == "0":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y, **options)

warnings.simplefilter("ignore")
X, y = make_classification(60, random_state=0)
scorer = BootstrapScorer(
    Killed(max_features=2), scoring=["accuracy", "roc_auc"], n_train_resamples=50, n_cv_repeats=1,
    random_state=3, memory=sys.argv[1] or None,
).fit(X, y)
print([[*scorer.confidence_interval_[k][:2], scorer.score_[k]] for k in scorer.score_])
"""


def test_a_fit_that_was_killed_goes_on_to_the_same_numbers(tmp_path, monkeypatch, capsys):
    program = tmp_path / "program.py"
    program.write_text(KILLED)
    folder = tmp_path / "runs"

    def printed(memory):
        """What the program prints as another process, this one, runs it."""
        monkeypatch.setattr(sys, "argv", [str(program), str(memory), "0"])
        with warnings.catch_warnings():
            runpy.run_path(str(program), run_name="__main__")
        return capsys.readouterr().out

    expected = printed("")
    killed = subprocess.run([sys.executable, str(program), str(folder), "13"], check=False)
    assert killed.returncode == -signal.SIGKILL
    done = {path: path.stat().st_mtime_ns for path in folder.rglob("run-*.npz")}
    assert len(done) == 11  # The run on all rows is not kept.
    assert printed(folder) == expected
    again = {path: path.stat().st_mtime_ns for path in folder.rglob("run-*.npz")}
    assert len(again) == 60
    assert all(again[path] == when for path, when in done.items())


# ------------------------------------------------------------------ disks that fail


def failing(monkeypatch, after):
    """Let every write fail from a certain one on."""
    real, count = os.fsync, iter(range(10**6))

    def fsync(descriptor):
        if next(count) >= after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr("skboot._base.values.os.fsync", fsync)


def test_a_fit_whose_disk_becomes_full_ends_with_its_numbers_and_says_so(tmp_path, monkeypatch):
    expected = scorer(GaussianNB(), None).fit(X, Y)
    # The first write is that of a file which shows that the folder can be written.
    failing(monkeypatch, after=4)
    with pytest.warns(UserWarning, match=r"5 of 8 runs could not be kept .*No space left"):
        found = scorer(GaussianNB(), tmp_path).fit(X, Y)
    assert found.confidence_interval_ == expected.confidence_interval_
    assert len(list(tmp_path.rglob("*.npz"))) == len(list(tmp_path.rglob("*run*"))) == 3


def test_a_folder_that_cannot_be_written_is_refused_before_any_run(tmp_path, monkeypatch):
    failing(monkeypatch, after=0)
    COUNTED.n = 0
    with pytest.raises(ValueError, match=r"'memory' parameter of BootstrapScorer must be a folder"):
        scorer(Stopped("nothing"), tmp_path).fit(X, Y)
    # The run on all rows comes first in every fit.
    assert COUNTED.n == 1


def test_a_folder_of_all_runs_is_read_where_nothing_can_be_written(tmp_path, monkeypatch):
    expected = scorer(GaussianNB(), tmp_path).fit(X, Y)
    failing(monkeypatch, after=0)
    found = scorer(GaussianNB(), tmp_path).fit(X, Y)
    assert found.confidence_interval_ == expected.confidence_interval_
