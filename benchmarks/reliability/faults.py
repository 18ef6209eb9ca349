"""Faults of files, disks and processes, each tried many times at random places.

A trial raises `Lost` where a number is lost or another one comes, where a file is taken for what it
is not, or where something stays behind. Processes are forked from this one, so that a trial takes
no import.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

import skboot
from skboot._base import values
from skboot.cli.main import main as command_line
from skboot.refit import training

N_RUNS = 40
SECONDS = "SECONDS_OF_A_FIT"
X, Y = make_classification(60, random_state=0)


class Lost(Exception):
    """A number or a file is lost, or something is left behind."""


class Slow(DecisionTreeClassifier):
    """A tree that takes its time, so that there is time to be stopped."""

    def fit(self, X, y, **options):
        # An attribute would be part of what the folder of runs is named by.
        time.sleep(float(os.environ.get(SECONDS, "0")))
        return super().fit(X, y, **options)


def fitted(folder: Any, seconds: float = 0.0, **options: Any) -> Any:
    """A fit of 30 bootstrap samples and ten folds."""
    os.environ[SECONDS] = str(seconds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return skboot.BootstrapScorer(
            Slow(max_features=2),
            scoring=["accuracy", "roc_auc"],
            n_train_resamples=N_RUNS - 10,
            n_cv_repeats=1,
            random_state=3,
            memory=folder,
            **options,
        ).fit(X, Y)


def numbers_of(scorer: Any) -> bytes:
    """All that a fit found, bit for bit, but for the times."""
    found = [[*scorer.confidence_interval_[k][:2], scorer.score_[k]] for k in scorer.score_]
    runs = [scorer.runs_[key] for key in sorted(scorer.runs_) if "time" not in key]
    parts = [np.asarray(found), *(np.asarray(one) for of in runs for one in _arrays(of))]
    return b"".join(part.tobytes() for part in parts)


def _arrays(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, Mapping) else [value]


_EXPECTED: list[bytes] = []


def expected() -> bytes:
    """The numbers of the fit that nothing stops."""
    if not _EXPECTED:
        _EXPECTED.append(numbers_of(fitted(None)))
    return _EXPECTED[0]


def check_resumed(folder: Path) -> None:
    """Go on with a fit, and compare it with the one that nothing stopped."""
    if numbers_of(fitted(folder)) != expected():
        raise Lost("the fit that went on found other numbers")
    if left := [path.name for path in folder.rglob(".run-*")]:
        raise Lost(f"temporary files are left: {left}")
    if len(kept_in(folder)) != N_RUNS:
        raise Lost("the fit did not go on in its folder")


def kept_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("run-*.npz")}


def forked(work: Callable[[], Any]) -> int:
    """Do some work in a process of its own group; return its number."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        os.setsid()
        sys.stderr = io.StringIO()
        work()
        code = 0
    except BaseException:
        if os.environ.get("SHOW_FORKED"):
            traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(code)


def waited(process: int) -> int:
    """Wait for a process of `forked`, and return how it ended; negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


# ------------------------------------------------------------------ processes


def killed(rng: np.random.Generator, folder: Path) -> None:
    """A fit is killed at a random time, three times over, and then goes on."""
    expected()
    for _ in range(3):
        before = kept_in(folder)
        process = forked(lambda: fitted(folder, 0.005))
        time.sleep(rng.uniform(0.0, 0.35))
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        waited(process)
        after = kept_in(folder)
        if any(after.get(path) != content for path, content in before.items()):
            raise Lost("a run that was kept has gone or changed")
    kept = kept_in(folder)
    check_resumed(folder)
    if any(kept_in(folder).get(path) != content for path, content in kept.items()):
        raise Lost("a run that was kept was done again")


def shared(rng: np.random.Generator, folder: Path) -> None:
    """Three processes fit the same into one folder at the same time, one of which is killed."""
    expected()

    def work() -> None:
        if numbers_of(fitted(folder, 0.002)) != expected():
            raise Lost("another number")

    processes = [forked(work) for _ in range(3)]
    time.sleep(rng.uniform(0.0, 0.2))
    with contextlib.suppress(ProcessLookupError):
        os.kill(processes[0], signal.SIGKILL)
    codes = [waited(process) for process in processes]
    if codes[1:] != [0, 0]:
        raise Lost(f"processes that share a folder ended with {codes}")
    check_resumed(folder)


INTERRUPTED = """
import sys, warnings
warnings.simplefilter("ignore")
from skboot._base import work
work._WORTH_WORKERS = 0.0
from benchmarks.reliability import faults
try:
    print("ready", flush=True)
    faults.fitted(sys.argv[1], 0.05, n_jobs=int(sys.argv[2]))
except KeyboardInterrupt as stopped:
    print(*stopped.__notes__, flush=True)
    raise SystemExit(130)
"""


def interrupted(rng: np.random.Generator, folder: Path) -> None:
    """Ctrl-C with two workers: no process stays, and it is said how to go on."""
    expected()
    runs = folder / "runs"
    command = [sys.executable, "-c", INTERRUPTED, str(runs), str(rng.integers(1, 3))]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        while not kept_in(runs) and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.5))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        said = process.stdout.read()
        code = process.wait(60)
    deadline = time.monotonic() + 10
    while (alive := members_of(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    if alive:
        os.killpg(process.pid, signal.SIGKILL)
        raise Lost(f"{len(alive)} processes stay after Ctrl-C: {alive}")
    if code != 0 and (code != 130 or "resumes from there" not in said):
        raise Lost(f"ended with {code}, and said {said!r}")
    check_resumed(runs)


def members_of(group: int) -> list[str]:
    """Commands of the processes of a group that are alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = path.read_text().partition(" (")[2].rpartition(") ")
            state, _, own = rest.split()[:3]
            if int(own) == group and state != "Z":
                found.append(name)
    return found


class Dying(Slow):
    """The first fit in another process than that of the caller ends its process."""

    def __init__(
        self,
        scar: Any = None,
        caller: int = 0,
        max_features: Any = 2,
        random_state: Any = None,
    ) -> None:
        super().__init__(max_features=max_features, random_state=random_state)
        self.scar, self.caller = scar, caller

    def fit(self, X, y, **options):
        if self.scar is not None and os.getpid() != self.caller:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.scar, os.O_CREAT | os.O_EXCL))
                os._exit(1)
        return super().fit(X, y, **options)


def fitted_by_two(scar: Any, memory: Any, backend: str) -> Any:
    from joblib import parallel_config

    estimator = Dying(scar and str(scar), os.getpid())
    with (
        warnings.catch_warnings(),
        parallel_config(backend),
        mock.patch("skboot._base.work._WORTH_WORKERS", 0.0),
    ):
        warnings.simplefilter("ignore")
        return skboot.BootstrapScorer(
            *(estimator,), scoring=["accuracy"], n_train_resamples=12, strategy="oob",
            random_state=3, memory=memory, n_jobs=2,
        ).fit(X, Y)  # fmt: skip


def dead_worker(rng: np.random.Generator, folder: Path) -> None:
    """A worker of loky dies: the error says what is kept, and the same call goes on."""
    scar = folder / "scar"
    try:
        fitted_by_two(scar, folder / "runs", "loky")
    except Exception as error:
        notes = " ".join(getattr(error, "__notes__", ()))
        if "resumes from there" not in notes:
            raise Lost(f"{type(error).__name__} without a word on how to go on") from error
    if not scar.exists():
        raise Lost("no worker died")
    resumed = numbers_of(fitted_by_two(scar, folder / "runs", "loky"))
    if resumed != numbers_of(fitted_by_two(scar, None, "loky")):
        raise Lost("the fit that went on found other numbers")


def dead_dask_worker(rng: np.random.Generator, folder: Path) -> None:
    """A worker of dask dies: another one does its work, to the same numbers."""
    import logging

    import distributed

    scar = folder / "scar"
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0",
            local_directory=str(folder), silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster),
    ):  # fmt: skip
        found = numbers_of(fitted_by_two(scar, None, "dask"))
    if not scar.exists():
        raise Lost("no worker died")
    if found != numbers_of(fitted_by_two(None, None, "threading")):
        raise Lost("other numbers after the death of a worker")


# ------------------------------------------------------------------ disks


@contextlib.contextmanager
def failing_disk(rng: np.random.Generator, after: int) -> Iterator[None]:
    """From a write on every further one fails, at one of the steps of writing a file."""
    code = int(rng.choice([errno.ENOSPC, errno.EIO, errno.EDQUOT]))
    step = str(rng.choice(["fsync", "write", "replace"]))
    count = iter(range(10**9))

    def fails(*arguments: Any, **options: Any) -> Any:
        raise OSError(code, os.strerror(code))

    real_fsync, real_replace = os.fsync, Path.replace

    def fsync(descriptor: int) -> None:
        if step != "replace" and next(count) >= after:
            fails()
        real_fsync(descriptor)

    def replace(path: Path, target: Any) -> Any:
        if step == "replace" and next(count) >= after:
            fails()
        return real_replace(path, target)

    with mock.patch.object(values.os, "fsync", fsync), mock.patch.object(Path, "replace", replace):
        yield


def full_disk(rng: np.random.Generator, folder: Path) -> None:
    """The disk is full after some runs: the fit ends with its numbers and says so."""
    after = int(rng.integers(1, N_RUNS))
    with failing_disk(rng, after):
        _fit_on_full_disk(folder)
    check_resumed(folder)


def _fit_on_full_disk(folder: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = numbers_of(fitted_loudly(folder))
    if found != expected():
        raise Lost("other numbers on a full disk")
    if not any("could not be kept" in str(one.message) for one in caught):
        raise Lost("nothing was said of runs that were not kept")
    if left := [path.name for path in folder.rglob(".run-*")]:
        raise Lost(f"temporary files are left: {left}")


def fitted_loudly(folder: Path) -> Any:
    """`fitted` with its warnings."""
    with mock.patch.object(warnings, "simplefilter"):
        return fitted(folder)


def full_tmpfs(rng: np.random.Generator, folder: Path) -> None:
    """The same on a real file system of some kilobytes; needs the right to mount one."""
    size = int(rng.integers(16, 64)) * 1024
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        raise NotTried("file systems cannot be mounted here")
    try:
        _fit_on_full_disk(folder / "runs")
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def unwritable(rng: np.random.Generator, folder: Path) -> None:
    """A folder that cannot be written is refused before any run, by name; a full one is read."""
    code = int(rng.choice([errno.EACCES, errno.EROFS, errno.ENOSPC]))
    if rng.random() < 0.5:
        fitted(folder)

    def fails(*arguments: Any, **options: Any) -> Any:
        raise OSError(code, os.strerror(code))

    was_full = len(kept_in(folder)) == N_RUNS
    with mock.patch.object(values.os, "fsync", fails):
        try:
            found = numbers_of(fitted(folder))
        except ValueError as error:
            if was_full or "'memory' parameter of BootstrapScorer must" not in str(error):
                raise Lost(f"refused by {error}") from error
            return
    if not was_full:
        raise Lost("runs were done that could not be kept")
    if found != expected():
        raise Lost("other numbers from a folder that cannot be written")


def unsaved(rng: np.random.Generator, folder: Path) -> None:
    """A result that cannot be saved leaves the file that was there."""
    path = folder / "result.npz"
    old, new = (result_of(np.random.default_rng(k)) for k in (0, 1))
    old.save(path)
    before = path.read_bytes()
    try:
        with failing_disk(rng, 0):
            new.save(path)
    except OSError:
        pass
    else:
        raise Lost("a failed write was no error")
    if path.read_bytes() != before or list(folder.iterdir()) != [path]:
        raise Lost("the old file has changed, or another is left")


# ------------------------------------------------------------------ files


def result_of(rng: np.random.Generator) -> Any:
    """A result of one of several kinds."""
    y, p, q = rng.integers(0, 2, size=(3, 40))
    options = {"n_resamples": 20, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            lambda: skboot.bootstrap_score(y, p, **options),
            lambda: skboot.bootstrap_score(y, p, metric=["accuracy", "f1"], **options),
            lambda: skboot.compare_systems(y, {"A": p, "B": q}, **options),
            lambda: skboot.bootstrap_runs(y, [p, q, p], metric="accuracy", **options),
            lambda: skboot.bootstrap_curve(y, rng.normal(size=40) + y, **options),
        ][rng.integers(5)]()


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes changed, a piece cut out or put in twice, or the end cut off."""
    some = bytearray(content)
    kind, place = rng.integers(5), int(rng.integers(len(some)))
    if kind == 0:
        del some[place:]
    elif kind == 1:
        for _ in range(rng.integers(1, 5)):
            some[rng.integers(len(some))] = rng.integers(256)
    elif kind == 2:
        some[place : place + 64] = rng.bytes(64)
    elif kind == 3:
        some[place:place] = some[place : place + int(rng.integers(1, 200))]
    else:
        del some[place : place + int(rng.integers(1, 200))]
    return bytes(some)


def hostile(content: bytes, rng: np.random.Generator) -> bytes:
    """A whole archive whose header says something else at one place."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(str(np.load(io.BytesIO(parts["header.npy"]))))
    places = list(_places(header))
    node, key = places[rng.integers(len(places))]
    anything = [None, -1, 1e308, "", "x" * 50, [], {}, [[]], {"$array": "none"}, {"$float": "x"}]
    anything += [{"$tuple": 3}, {"$items": [1]}, True, 10**40, {"$array": "header"}]
    node[key] = anything[rng.integers(len(anything))]
    file = io.BytesIO()
    np.save(file, np.array(json.dumps(header)))
    parts["header.npy"] = file.getvalue()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return file.getvalue()


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(items):
        yield node, key
        if isinstance(value, dict | list):
            yield from _places(value)


def save_file(rng: np.random.Generator, folder: Path) -> None:
    """A damaged file of a result is refused, or holds the result."""
    path, result = folder / "result.npz", result_of(rng)
    result.save(path)
    path.write_bytes(damaged(path.read_bytes(), rng))
    try:
        found = type(result).load(path)
    except ValueError:
        return
    if found != result:
        raise Lost("a damaged file gave another result")


def hostile_file(rng: np.random.Generator, folder: Path) -> None:
    """A file with another header is refused by `load`, or what it gives can be shown or refused."""
    path, result = folder / "result.npz", result_of(rng)
    result.save(path)
    path.write_bytes(hostile(path.read_bytes(), rng))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(ValueError):
            type(result).load(path)


def stream_bytes(rng: np.random.Generator, folder: Path) -> None:
    """Damaged bytes of an accumulator are refused, or are those."""
    stream = skboot.BootstrapAccumulator(random_state=0, n_resamples=20)
    stream.update(rng.integers(0, 2, 40), rng.integers(0, 2, 40), start=0)
    content = stream.to_bytes()
    try:
        found = skboot.BootstrapAccumulator.from_bytes(damaged(content, rng))
    except ValueError:
        return
    if found.to_bytes() != content:
        raise Lost("damaged bytes gave another accumulator")


def memory_file(rng: np.random.Generator, folder: Path) -> None:
    """Damaged files of runs are done again, or hold the run."""
    fitted(folder)
    paths = sorted(kept_in(folder))
    for path in rng.permutation(np.array(paths, dtype=object))[: rng.integers(1, 6)]:
        path.write_bytes(damaged(path.read_bytes(), rng))
    one, other = (paths[k] for k in rng.integers(len(paths), size=2))
    other.write_bytes(one.read_bytes())
    check_resumed(folder)


def table_file(rng: np.random.Generator, folder: Path) -> None:
    """A damaged table is refused in one line with exit code 2, or scored."""
    kind = str(rng.choice(["csv", "tsv", "jsonl", "npz"]))
    path = folder / f"table.{kind}"
    y, p = rng.integers(0, 2, size=(2, 30))
    if kind == "npz":
        np.savez(path, y=y, p=p)
    elif kind == "jsonl":
        rows = zip(y.tolist(), p.tolist(), strict=True)
        path.write_text("\n".join(json.dumps({"y": a, "p": b}) for a, b in rows))
    else:
        mark = "," if kind == "csv" else "\t"
        rows = zip(y, p, strict=True)
        path.write_text("\n".join([f"y{mark}p", *(f"{a}{mark}{b}" for a, b in rows)]))
    path.write_bytes(damaged(path.read_bytes(), rng))
    words = ["score", str(path), "--y-true", "y", "--y-pred", "p", "--n-resamples", "20"]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = command_line(words)
    if code not in (0, 2) or (code == 2 and "Traceback" in err.getvalue()):
        raise Lost(f"exit code {code}: {err.getvalue()[:200]}")
    if code == 0 and not out.getvalue():
        raise Lost("nothing was printed")


def run_of_another(rng: np.random.Generator, folder: Path) -> None:
    """A file of a run whose arrays are others, in the right form, is not taken for it."""
    record = {
        **{"number": 3, "fit_time": 0.5, "n_convergence": 0, "failure": None, "warnings": set()},
        "labels": rng.integers(0, 2, 40),
    }
    training.write_run(str(folder / "key"), record)
    path = folder / "key" / "run-000003.npz"
    path.write_bytes(damaged(path.read_bytes(), rng))
    found = training.finished_runs(str(folder / "key"), [3], 1000)
    if found and not np.array_equal(found[3]["labels"], record["labels"]):
        raise Lost("a damaged file was read as another run")


class NotTried(Exception):
    """The fault cannot be made on this machine."""


class Trials(NamedTuple):
    """A kind of fault, how often it is tried, and how often where time is short."""

    text: str
    trial: Callable[[np.random.Generator, Path], None]
    n: int
    n_short: int


FAULTS = {
    "killed": Trials("a fit is killed three times at random times, and goes on", killed, 50, 2),
    "shared": Trials("three processes share a folder of runs; one is killed", shared, 20, 1),
    "interrupted": Trials("Ctrl-C during a fit with one worker or two", interrupted, 5, 0),
    "dead worker": Trials("a worker of loky dies", dead_worker, 3, 0),
    "dead dask worker": Trials("a worker of dask dies", dead_dask_worker, 3, 0),
    "full disk": Trials("writes of runs fail from some run on", full_disk, 50, 3),
    "full file system": Trials("a file system of some kilobytes fills", full_tmpfs, 20, 1),
    "unwritable": Trials("the folder of runs cannot be written", unwritable, 50, 3),
    "unsaved": Trials("the disk is full when a result is saved", unsaved, 200, 5),
    "save file": Trials("a file of a result is damaged", save_file, 500, 20),
    "hostile file": Trials("a file of a result says something else", hostile_file, 500, 20),
    "stream": Trials("bytes of an accumulator are damaged", stream_bytes, 1000, 40),
    "memory": Trials("files in a folder of runs are damaged or exchanged", memory_file, 20, 1),
    "run": Trials("a file of a run is damaged", run_of_another, 1000, 40),
    "table": Trials("a table for the command line is damaged", table_file, 1000, 40),
}


class Counted(NamedTuple):
    """How often a fault was tried, and how often nothing was lost."""

    name: str
    text: str
    tried: int
    survived: int
    lost: int
    seconds: float


def counted(name: str, n: int, folder: Path, seed: int = 17) -> tuple[Counted, list[str]]:
    """Try a fault; return the counts, and what was lost in which trial."""
    lost, tried, start = [], 0, time.perf_counter()
    for k in range(n):
        own = folder / f"{name.replace(' ', '-')}-{k}"
        own.mkdir()
        rng = np.random.default_rng([seed, *name.encode(), k])
        try:
            FAULTS[name].trial(rng, own)
            tried += 1
        except NotTried:
            break
        except Exception as error:
            tried += 1
            lost.append(f"{name}, trial {k}: {type(error).__name__}: {error}")
    seconds = time.perf_counter() - start
    text = FAULTS[name].text
    return Counted(name, text, tried, tried - len(lost), len(lost), round(seconds, 1)), lost
