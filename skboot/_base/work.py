"""Work in this process or in others: the same numbers, in chunks, with progress, on dask and Ray.

Matrix products have one thread each, here as in workers, so that they round alike. Workers get
chunks of items, about eight each: what the items share is then sent (or mapped, if it is large) a
few times, not once per item.

joblib puts what tasks share into every task, or on a single worker of dask, which may die. Here it
becomes the result of a task of its own: dask sends it to each worker once, and makes it again where
it is lost. Workers that lack this package would report that in their own logs only, so they are
asked for it before any work.

On Ray what tasks share is put into its store once, and tasks take it from there.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from .errors import CALLED, fail

_Shared = TypeVar("_Shared")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# Least work (seconds in one process, predicted) for workers: these take seconds to start.
_WORTH_WORKERS = 3.0
# Chunks per worker: few enough to send what they share rarely, enough to even out slow ones.
CHUNKS_PER_WORKER = 8
# Least time (seconds) between two reports of progress.
_REPORT_EVERY = 0.5
# Time (seconds) after which a call that is not done says unasked what it does.
_WORTH_A_LINE = 5.0

_PACKAGE = __name__.partition(".")[0]
_TO_DO = (
    f"Install {_PACKAGE} on the workers in the version that is here, for example with "
    f"client.register_plugin(distributed.PipInstall(['{_PACKAGE}']))."
)


class Workers(NamedTuple):
    """How a call is worked off.

    Attributes
    ----------
    n_jobs : int or None
        Workers at most, as joblib counts them; the numbers do not depend on it.
    verbose : int or None
        Whether progress is shown; see `progress` and `Watch`.
    """

    n_jobs: int | None = None
    verbose: int | None = None


# One worker, unless a backend of joblib is active, and progress where someone waits for it.
DEFAULT_WORKERS = Workers()


def results_in_chunks(
    work: Callable[[_Shared, _Item], _Result],
    shared: _Shared,
    items: Sequence[_Item],
    *,
    n_jobs: int | None,
    seconds_each: float,
) -> Iterator[list[_Result]]:
    """Yield the results of all items in lists, one a chunk, in the order of their ends.

    Parameters
    ----------
    work : callable
        Takes `shared` and an item; a function of a module, which can be pickled by its name.
    shared : object
        What all items share.
    items : sequence
    n_jobs : int or None
        Workers at most, as joblib counts them; started only for work of seconds.
    seconds_each : float
        Predicted time of an item.

    Raises
    ------
    ImportError
        If workers of dask cannot import this package, or have another version.
    RuntimeError
        If the cluster of dask gives up.
    """
    if not items and n_jobs in (None, 1):
        return
    n_workers = effective_n_jobs(n_jobs)
    if n_workers == 1 or seconds_each * len(items) < _WORTH_WORKERS:
        with single_threaded_blas():
            for item in items:
                yield [work(shared, item)]
        return
    n_chunks = min(len(items), CHUNKS_PER_WORKER * n_workers)
    # Neighbours go to different chunks: folds of cross-validation, which come last, take longer
    # than bootstrap samples.
    chunks = [list(items[start::n_chunks]) for start in range(n_chunks)]
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    except ValueError:
        # Some joblib backends only return lists.
        parallel = Parallel(n_jobs=n_jobs)
    # Threads that catch warnings at the same time would leave those of this process caught.
    with sent(shared) as place, warnings.catch_warnings():
        yield from parallel(delayed(_work_on_chunk)(place, work, chunk) for chunk in chunks)


def _work_on_chunk(
    shared: _Shared, work: Callable[[_Shared, _Item], _Result], items: Sequence[_Item]
) -> list[_Result]:
    if isinstance(shared, _StoredByRay):
        shared = sys.modules["ray"].get(shared.place)
    with single_threaded_blas():
        return [work(shared, item) for item in items]


def single_threaded_blas() -> AbstractContextManager[Any]:
    """Limit matrix products to one thread: sums then do not depend on the number of workers."""
    # A library may come with any import.
    controller = _blas_libraries(len(sys.modules))
    # Within another such context nothing is to be done, which is quicker.
    if all(library.num_threads == 1 for library in controller.lib_controllers):
        return nullcontext()
    return controller.limit(limits=1)


@lru_cache(maxsize=1)
def _blas_libraries(n_modules: int) -> ThreadpoolController:
    # Only the libraries that are limited: asking others for their threads takes time.
    return ThreadpoolController().select(user_api="blas")


class Watch:
    """Tells someone who waits for a call, after five seconds, what it does and how far it is.

    On a terminal a line is kept up to date by a thread, whatever the call is at, and cleared at its
    end. A notebook, which is saved, has one line.
    """

    def __init__(self, name: str, *, keeps_lines: bool) -> None:
        self.name, self.keeps_lines = name, keeps_lines
        # What is at work, from the whole to its parts: "method 2 of 3", "15/100 runs, 20 s left".
        self.stages: list[str] = []
        self._start, self._width = time.perf_counter(), 0
        self._shown = -math.inf
        self._ended, self._lock = threading.Event(), threading.Lock()
        threading.Thread(target=self._keep_up, daemon=True).start()

    def _keep_up(self) -> None:
        wait = _WORTH_A_LINE
        while not self._ended.wait(wait):
            self.show()
            wait = _REPORT_EVERY

    def show(self) -> None:
        """Write the line, if the call is long and the line is not of this moment."""
        with self._lock:
            now = time.perf_counter()
            seconds = now - self._start
            is_done = self.keeps_lines and self._width > 0
            if self._ended.is_set() or is_done or seconds < _WORTH_A_LINE:
                return
            if now - self._shown < _REPORT_EVERY:
                return
            self._shown = now
            stages = self.stages or ["at work"]
            text = f"{self.name}: {seconds:.0f} s, {', '.join(stages)}"
            # Shorter numbers leave nothing of the longer line before.
            _write(f"{text}\n" if self.keeps_lines else f"\r{text.ljust(self._width)}")
            self._width = max(self._width, len(text))

    def end(self) -> None:
        """Clear the line, before an error or what the call returns is shown."""
        _WATCHES.remove(self)
        with self._lock:
            self._ended.set()
            if self._width and not self.keeps_lines:
                _write(f"\r{' ' * self._width}\r")


# That of the outermost call, which alone has one.
_WATCHES: list[Watch] = []


def start_watch(name: str, verbose: Any = None) -> Watch | None:
    """Watch a call that nobody is watching yet, for someone who waits for it; None for others.

    Parameters
    ----------
    name : str
        What the user called.
    verbose : object
        What was asked for: only where it is None, or no number, does a call tell unasked.

    Returns
    -------
    Watch or None
        To be ended with the call.
    """
    if _WATCHES or isinstance(verbose, int | np.integer | np.bool_):
        return None
    in_notebook = type(sys.stderr).__module__.startswith("ipykernel")
    if not (in_notebook or _is_terminal()) or not _is_waited_for():
        return None
    _WATCHES.append(Watch(name, keeps_lines=in_notebook))
    return _WATCHES[-1]


@contextmanager
def stage(text: str) -> Iterator[Callable[[str], None]]:
    """Name a part of a call to whom it tells what it does; yields what changes the text."""
    # Calls in other threads, such as tasks of joblib, are parts of what is watched.
    is_main = threading.current_thread() is threading.main_thread()
    watch = _WATCHES[-1] if _WATCHES and is_main else None
    if watch is None:
        yield lambda text: None
        return
    depth = len(watch.stages)
    watch.stages.append(text)

    def change(text: str) -> None:
        watch.stages[depth] = text
        watch.show()

    try:
        yield change
    finally:
        del watch.stages[depth:]


@contextmanager
def progress(n_items: int, noun: str, verbose: int | None) -> Iterator[Callable[..., None]]:
    """Report items done and time left, on stderr.

    Parameters
    ----------
    n_items : int
    noun : str
        What the items are, in the plural.
    verbose : int or None
        0 reports nothing. None reports it to the watch of the call, if there is one. 1 always
        reports; a notebook then shows a bar of tqdm, where that is installed.

    Yields
    ------
    done : callable
        ``done(n_items, resumed=False)`` counts items, and reports at times; resumed ones took no
        time and predict none.
    """
    if not verbose and (verbose is not None or not _WATCHES):
        yield lambda n_more, resumed=False: None
        return
    if verbose and "ipykernel" in sys.modules and find_spec("tqdm") is not None:
        with import_module("tqdm.auto").tqdm(total=n_items, unit=f" {noun}") as bar:
            yield lambda n_more, resumed=False: bar.update(n_more)
        return
    start = reported = time.perf_counter()
    n_done = n_resumed = 0
    line: AbstractContextManager[Callable[[str], None] | None]
    line = stage(f"0/{n_items} {noun}") if verbose is None else nullcontext()
    with line as change:

        def done(n_more: int, resumed: bool = False) -> None:
            nonlocal reported, n_done, n_resumed
            n_done = min(n_done + n_more, n_items)
            n_resumed += n_more if resumed else 0
            now, finished = time.perf_counter(), n_done == n_items
            n_timed = n_done - n_resumed
            if n_timed == 0:
                return
            seconds_left = (now - start) * (n_items - n_done) / n_timed
            text = f"{n_done}/{n_items} {noun}, {seconds_left:.0f} s left"
            if change is not None:
                change(text)
            elif now - reported >= _REPORT_EVERY or finished:
                reported = now
                _write(f"\r{text}  " + ("\n" if finished else ""))

        yield done


def _write(text: str) -> None:
    # A terminal that is gone, or that lacks a character, ends no work.
    stream: Any = sys.stderr
    with suppress(OSError, ValueError):
        if stream is not None:
            print(text, end="", file=stream, flush=True)


def is_watched() -> bool:
    """Whether someone looks at a terminal and waits for this call alone."""
    return _is_terminal() and _is_waited_for()


def _is_terminal() -> bool:
    try:
        return bool(sys.stderr.isatty())
    except (AttributeError, ValueError):
        # Programs without a console have no stderr, and some have a closed one.
        return False


def _is_waited_for() -> bool:
    """Whether a call is part of no other work: of another call, process or task."""
    call = CALLED.get()
    return (
        threading.current_thread() is threading.main_thread()
        and multiprocessing.parent_process() is None
        and not (call is not None and call.is_inner)
        and not get_active_backend()[0].nesting_level
    )


# ------------------------------------------------------------------ dask and Ray


class _StoredByRay(NamedTuple):
    """Reference that tasks take in the place of an object in the store of Ray."""

    place: Any


@contextmanager
def sent(shared: Any) -> Iterator[Any]:
    """Give what tasks take in place of an object: itself, or its place on a cluster."""
    backend, _ = get_active_backend()
    if type(backend).__name__ == "RayBackend":
        yield _StoredByRay(sys.modules["ray"].put(shared))
        return
    if type(backend).__name__ != "DaskDistributedBackend":
        yield shared
        return
    _check_workers(backend.client)
    with warnings.catch_warnings():
        # The warning advises to send large data once, which is what this task does.
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        place = backend.client.submit(_itself, shared, pure=False)
    try:
        yield place
    except CancelledError as error:
        raise RuntimeError(
            "The dask cluster gave up some of the runs without saying why; the logs of its workers "
            "do. Most often a worker lacks a package that the estimator, the metric or "
            f"{_PACKAGE} needs. {_TO_DO}"
        ) from error


def check_dask_workers() -> None:
    """Refuse a cluster of dask whose workers cannot import this package, where there is one.

    Raises
    ------
    ImportError
        Says which of them, and what to do.
    """
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return
    try:
        client = distributed.default_client()
    except ValueError:
        # There is no cluster: dask works in this process, or in its children.
        return
    _check_workers(client)


def _itself(value: Any) -> Any:
    return value


def _check_workers(client: Any) -> None:
    package = _PACKAGE

    def version_here() -> str:
        # A local function is pickled by value: workers need not have its module.
        from importlib import import_module

        try:
            return f"version {import_module(package).__version__}"
        except Exception as error:
            return f"not importable ({type(error).__name__}: {error})"

    here, versions_by_worker = version_here(), client.run(version_here)
    wrong = {worker: there for worker, there in versions_by_worker.items() if there != here}
    if not wrong:
        return
    worker, there = next(iter(wrong.items()))
    raise ImportError(
        f"{len(wrong)} of {len(versions_by_worker)} workers of the dask cluster cannot do the "
        f"runs: {_PACKAGE} here is {here}; on {worker} it is {there}. {_TO_DO}",
        name=_PACKAGE,
    )


# Refuse what memory cannot hold, before any work.
#
# An array of resamples that is too large does not fail when it is made: the system grants the pages
# and ends the process when they are written.


# Maximum size that is not checked (bytes); above it the available memory is read, in 50 us.
_ALWAYS = 1 << 28
_MEMINFO = Path("/proc/meminfo")
_LIMIT = Path("/sys/fs/cgroup/memory.max")


def check_fits(name: str, count: int, bytes_each: int) -> None:
    """Refuse a number of items, of so many bytes each, that do not fit into memory.

    Parameters
    ----------
    name : str
        Argument that says how many.
    count, bytes_each : int
        Number of items, and bytes of each.

    Raises
    ------
    ValueError
        Says how many would fit.
    """
    if count * bytes_each <= _ALWAYS:
        return
    available = available_bytes()
    if available is None or count * bytes_each <= available:
        return
    raise fail(
        name,
        f"be small enough for its results to fit into memory, here at most "
        f"{available // bytes_each}",
        f"{count}, which takes {count * bytes_each / 2**30:.3g} GiB of the "
        f"{available / 2**30:.3g} available",
        "Monte Carlo error falls only with the square root: use fewer.",
    )


def available_bytes() -> int | None:
    """Memory that is available without swapping, in bytes; None where the system does not say.

    It is the least of what the system and the control group of the process allow.
    """
    sizes = []
    try:
        lines = _MEMINFO.read_text().splitlines()
        texts = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
        sizes += [int(size) * 1024 for size in texts]
    except (OSError, ValueError, IndexError):
        pass
    if not sizes:
        with suppress(AttributeError, OSError, ValueError):
            sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    # There may be no control group, or its limit is "max", which is none.
    with suppress(OSError, ValueError):
        sizes.append(int(_LIMIT.read_text()))
    return min(sizes, default=None)


# Random streams below a seed, and the seed in the form that results show and save.


def child_seed(seed: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    """Return the child that `SeedSequence.spawn` would give, without changing the seed itself.

    Without a key it is a copy, which has spawned nothing yet.
    """
    return np.random.SeedSequence(
        seed.entropy, spawn_key=(*seed.spawn_key, *key), pool_size=seed.pool_size
    )


def child_words(seed: np.random.SeedSequence, keys: Iterable[Sequence[int]]) -> list[NDArray[Any]]:
    """Return four words of each of many children, which seed generators as these would."""
    key, options = seed.spawn_key, {"pool_size": seed.pool_size}
    return [
        np.random.SeedSequence(
            seed.entropy, spawn_key=(*key, *child_key), **options
        ).generate_state(4)
        for child_key in keys
    ]


def stored_seed(seed: np.random.SeedSequence) -> Any:
    """Return the entropy of a seed, for a spawned one in a dict with its spawn key."""
    if seed.spawn_key:
        return {"entropy": seed.entropy, "spawn_key": list(seed.spawn_key)}
    return seed.entropy
