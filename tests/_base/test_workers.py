"""Work in chunks: one thread of BLAS, results from workers, progress, and what memory holds."""

import concurrent.futures
import io
import multiprocessing
import re
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from joblib import parallel_config
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_validate
from threadpoolctl import ThreadpoolController

from skboot import BootstrapScorer, bootstrap_score, compare_methods
from skboot._base import work
from skboot._base.doors import door
from skboot._base.work import progress, results_in_chunks, single_threaded_blas


def times(factor, item):
    return factor * item


def test_matrix_products_have_one_thread_within():
    with single_threaded_blas(), single_threaded_blas():
        blas = ThreadpoolController().select(user_api="blas")
        assert all(library["num_threads"] == 1 for library in blas.info())


def test_results_of_workers_are_those_of_this_process(monkeypatch):
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    items = range(1, 40)
    alone = list(results_in_chunks(times, 3, items, n_jobs=1, seconds_each=1.0))
    assert alone == [[3 * item] for item in items]
    with parallel_config("threading"):
        chunks = list(results_in_chunks(times, 3, items, n_jobs=2, seconds_each=1.0))
    assert sorted([result] for chunk in chunks for result in chunk) == alone
    assert 1 < len(chunks) < len(items)


def test_an_impossible_number_of_workers_is_refused_even_for_no_work():
    with pytest.raises(ValueError, match="n_jobs == 0"):
        list(results_in_chunks(times, 3, [], n_jobs=0, seconds_each=1.0))


# What WebAssembly has not: processes, threads, and what is shared between processes. scikit-learn
# itself imports multiprocessing.connection, for which an empty module stands in.
IN_A_BROWSER = """
import _thread, os, sys, threading, types, warnings

def no_thread(*args, **kwargs):
    raise RuntimeError("There is one thread.")

def no_process(*args, **kwargs):
    # numpy 1.26 asks for a process when it is imported, and goes on after this error.
    raise OSError("There is one process.")

sys.modules.update(_multiprocessing=types.ModuleType("_multiprocessing"), _posixshmem=None)
sys.modules["_posixsubprocess"] = types.SimpleNamespace(fork_exec=no_process)
_thread.start_new_thread = threading._start_new_thread = threading.Thread.start = no_thread
_thread.start_joinable_thread = threading._start_joinable_thread = no_thread  # Python 3.13
for name in ("fork", "forkpty", "posix_spawn", "posix_spawnp", "system"):
    setattr(os, name, no_process)
# joblib says that it will work one by one.
warnings.filterwarnings("ignore", message=".*joblib will operate in serial mode")

import numpy as np
from skboot import bootstrap_score

y_true, answers = np.array([0, 1] * 30), np.array([0, 1, 1] * 20)
probability = np.column_stack((1 - answers / 2, answers / 2))
for metric in ("accuracy", "f1", "roc_auc", "log_loss", lambda a, b: np.mean(a == b[:, 1].round())):
    for groups in (None, np.arange(60) // 3):
        print(bootstrap_score(
            y_true, probability, metric=metric, groups=groups, n_resamples=99, random_state=0
        ).estimate)
"""


def test_a_score_asks_for_neither_processes_nor_threads():
    command = [sys.executable, "-c", IN_A_BROWSER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 10


# ------------------------------------------------------------------ progress unasked


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


def set_stderr(monkeypatch, stream):
    # pytest puts its own stderr into sys before each test.
    system = SimpleNamespace(stderr=stream, modules=sys.modules)
    monkeypatch.setattr(work, "sys", system)
    return stream


@pytest.fixture
def terminal(monkeypatch):
    return set_stderr(monkeypatch, Terminal())


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(work, "time", clock)
    return clock


def slow_metric(clock, seconds):
    def metric(truth, predicted):
        clock.now += seconds
        return float(np.mean(truth == predicted))

    return metric


LABELS = np.array([0, 1] * 10)


def score(clock, seconds=0.1, **options):
    settings = {"metric": slow_metric(clock, seconds), "interval": "percentile", "n_resamples": 320}
    return bootstrap_score(LABELS, LABELS, **{**settings, "random_state": 0, **options})


def test_progress_is_predicted_from_items_that_took_time(monkeypatch, clock):
    stream = set_stderr(monkeypatch, io.StringIO())
    with progress(20, "runs", 1) as done:
        clock.now = 10.0
        done(10, resumed=True)
        assert stream.getvalue() == ""
        done(5)
        assert stream.getvalue() == "\r15/20 runs, 10 s left  "
        done(8)
    assert stream.getvalue().endswith("\r20/20 runs, 0 s left  \n")


@contextmanager
def watched(name="fit"):
    watch = work.start_watch(name)
    try:
        yield
    finally:
        if watch is not None:
            watch.end()


def test_long_work_reports_unasked_after_five_seconds_and_clears_its_line(terminal, clock):
    with watched(), progress(100, "runs", None) as done:
        clock.now = 4.0
        done(4)
        assert terminal.getvalue() == ""
        clock.now = 6.0
        done(2)
        assert terminal.getvalue() == "\rfit: 6 s, 6/100 runs, 94 s left"
        clock.now = 97.0
        done(91)
        # Reported to the end, also when less than five seconds are left.
        assert terminal.getvalue().split("\r")[-1].rstrip() == "fit: 97 s, 97/100 runs, 3 s left"
    last, cleared = terminal.getvalue().split("\r")[-3:-1]
    assert len(cleared) >= len(last)
    assert cleared.strip() == ""
    assert terminal.getvalue().endswith("\r")


def test_the_verbosity_of_an_estimator_that_is_given_is_not_that_of_the_call(monkeypatch):
    class Quiet:
        def __init__(self):
            self.verbose = 0

        @door(".fit")
        def fit(self, model):
            return model

    seen = []

    def start(name, verbose):
        seen.append(verbose)

    monkeypatch.setattr("skboot._base.doors.start_watch", start)
    door("learning_curve")(lambda model: model)(Quiet())
    Quiet().fit(None)
    assert seen == [None, 0]


def test_a_line_is_cleared_before_an_error_is_shown(terminal, clock):
    def stopped():
        with watched(), progress(100, "runs", None) as done:
            clock.now = 10.0
            done(10)
            raise KeyError

    with pytest.raises(KeyError):
        stopped()
    assert terminal.getvalue().endswith(" \r")


def test_work_that_counts_nothing_is_told_while_it_goes_on(terminal, monkeypatch):
    monkeypatch.setattr(work, "_WORTH_A_LINE", 0.05)
    monkeypatch.setattr(work, "_REPORT_EVERY", 0.05)
    with watched("compare_methods"), work.stage("forest (2 of 3)"):
        deadline = time.monotonic() + 60
        # Nothing here asks for a line, as where an estimator is trained for minutes.
        while terminal.getvalue().count("forest (2 of 3)") < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
    ended = terminal.getvalue()
    # A busy machine may not come to it within the first second.
    assert re.match(r"\rcompare_methods: \d+ s, forest \(2 of 3\)", ended)
    time.sleep(0.2)
    assert terminal.getvalue() == ended


def test_parts_are_told_from_the_whole_on_and_end_with_it(terminal, clock):
    with watched("compare_methods"):
        with work.stage("forest (1 of 2)"), progress(20, "runs", None) as done:
            clock.now = 10.0
            done(5)
        assert "10 s, forest (1 of 2), 5/20 runs, 30 s left" in terminal.getvalue()
        with work.stage("tree (2 of 2)") as change:
            clock.now = 20.0
            change("tree (2 of 2)")
        assert terminal.getvalue().split("\r")[-1].rstrip() == (
            "compare_methods: 20 s, tree (2 of 2)"
        )


def test_a_notebook_has_one_line_of_a_long_call(monkeypatch, clock):
    class OutStream(io.StringIO):
        __module__ = "ipykernel.iostream"

    stream = set_stderr(monkeypatch, OutStream())
    score(clock)
    [line] = stream.getvalue().splitlines()
    assert re.fullmatch(r"bootstrap_score: \d+ s, \d+/320 resamples, \d+ s left", line)
    score(clock, seconds=0.01)
    assert len(stream.getvalue().splitlines()) == 1


def test_three_methods_are_told_by_name(terminal, clock):
    X = np.zeros((20, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        methods = {name: scorer_of(clock).estimator for name in ("one", "two", "three")}
        compare_methods(methods, X, LABELS, n_train_resamples=60, strategy="oob", random_state=0)
    for k, name in enumerate(methods, 1):
        assert f"s, {name} ({k} of 3), " in terminal.getvalue()
    assert terminal.getvalue().endswith(" \r")


def test_a_long_call_shows_its_progress_by_itself_on_a_terminal(terminal, clock):
    score(clock)
    assert "320 resamples" in terminal.getvalue()
    assert terminal.getvalue().endswith(" \r")


def test_a_short_call_shows_nothing(terminal, clock):
    score(clock, seconds=0.01)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("verbose", [0, False])
def test_zero_never_shows_progress(terminal, clock, verbose):
    score(clock, verbose=verbose)
    assert terminal.getvalue() == ""


def test_one_shows_progress_where_there_is_no_terminal(monkeypatch, clock):
    stream = set_stderr(monkeypatch, io.StringIO())
    score(clock, seconds=0.0, verbose=True)
    assert stream.getvalue().endswith("320/320 resamples, 0 s left  \n")


def test_a_notebook_shows_a_bar_of_tqdm(monkeypatch):
    calls = []

    class Bar:
        def __init__(self, total, unit):
            calls.append((total, unit))

        def __enter__(self):
            return self

        def __exit__(self, *raised):
            calls.append("closed")

        def update(self, n):
            calls.append(n)

    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(__spec__="found"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm=Bar))
    with progress(5, "runs", 1) as done:
        done(2, resumed=True)
        done(3)
    assert calls == [(5, " runs"), 2, 3, "closed"]


@pytest.mark.parametrize("stderr", [io.StringIO(), None])
def test_none_shows_nothing_without_a_terminal(monkeypatch, capsys, clock, stderr):
    set_stderr(monkeypatch, stderr)
    score(clock)
    assert stderr is None or stderr.getvalue() == ""
    assert capsys.readouterr().out == ""


def test_none_shows_nothing_outside_the_main_thread(terminal, clock):
    thread = threading.Thread(target=score, args=(clock,))
    thread.start()
    thread.join()
    assert clock.now > 30
    assert terminal.getvalue() == ""


def test_none_shows_nothing_in_another_process(terminal, clock, monkeypatch):
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: "a parent")
    score(clock)
    assert terminal.getvalue() == ""


def test_none_shows_nothing_in_a_task_of_joblib(terminal, clock):
    joblib.Parallel(n_jobs=2, backend="threading")([joblib.delayed(score)(clock)])
    assert clock.now > 30
    assert terminal.getvalue() == ""


def test_none_shows_nothing_in_a_task_of_dask(terminal, clock):
    dask = pytest.importorskip("dask")
    dask.compute(dask.delayed(score)(clock), scheduler="threads")
    assert clock.now > 30
    assert terminal.getvalue() == ""


def test_only_the_outermost_call_shows_progress(terminal, clock):
    def nested(truth, predicted):
        assert score(clock).estimate == 1.0
        return 0.5

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bootstrap_score(
            LABELS, LABELS, metric=nested, n_resamples=2, interval="percentile", verbose=0
        )
    assert clock.now > 30
    assert terminal.getvalue() == ""


def scorer_of(clock, **options):
    """Return a scorer whose runs take a second each."""

    class Slow(DummyClassifier):
        def fit(self, X, y):
            clock.now += 1.0
            return super().fit(X, y)

    return BootstrapScorer(Slow(), strategy="oob", n_train_resamples=20, random_state=0, **options)


def test_a_fit_shows_progress_by_itself_but_not_in_workers_of_a_cross_validation(terminal, clock):
    X = np.zeros((20, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with parallel_config("threading", n_jobs=2):
            cross_validate(scorer_of(clock), X, LABELS, cv=2)
        assert clock.now > 40
        assert terminal.getvalue() == ""
        scorer_of(clock).fit(X, LABELS)
    assert "/20 runs" in terminal.getvalue()


def test_a_scorer_inside_a_scorer_shows_nothing(terminal, clock):
    X = np.zeros((20, 1))
    outer = BootstrapScorer(
        scorer_of(clock), strategy="oob", n_train_resamples=2, random_state=0, verbose=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outer.fit(X, LABELS)
    assert clock.now > 40
    assert terminal.getvalue() == ""


def test_progress_is_no_part_of_a_result(terminal, clock):
    assert score(clock) == score(clock, verbose=0) == score(clock, verbose=1)
    assert "verbose" not in score(clock).settings


# ------------------------------------------------------------------ clusters


class DaskDistributedBackend:
    """Stands for joblib's, with a client that runs nothing."""

    def __init__(self, found):
        self.client, self._found = self, found

    def run(self, function):
        return {"tcp://here": function(), **self._found}

    def submit(self, function, job, pure):
        return "place"


def test_a_worker_with_another_version_is_found(monkeypatch):
    backend = DaskDistributedBackend({"tcp://there": "version 0.0.0"})
    monkeypatch.setattr(work, "get_active_backend", lambda: (backend, 2))
    with (
        pytest.raises(ImportError, match=r"1 of 2 workers .* on tcp://there it is version 0\.0\.0"),
        work.sent("job"),
    ):
        pass


def test_a_cluster_that_gives_up_is_said_to_lack_a_package_most_often(monkeypatch):
    monkeypatch.setattr(work, "get_active_backend", lambda: (DaskDistributedBackend({}), 2))
    given_up = concurrent.futures.CancelledError("already forgotten")
    with pytest.raises(RuntimeError, match="lacks a package"), work.sent("job"):
        raise given_up


def test_elsewhere_a_job_is_taken_as_it_is():
    with work.sent("job") as place:
        assert place == "job"


# ------------------------------------------------------------------ memory


def test_what_fits_is_said_from_the_memory_there_is(monkeypatch):
    monkeypatch.setattr(work, "available_bytes", lambda: 10**9)
    with pytest.raises(ValueError, match=r"at most 10000000\. Got 10000001"):
        work.check_fits("n_resamples", 10**7 + 1, 100)
    work.check_fits("n_resamples", 10**7, 100)


def test_memory_is_that_of_the_system_or_less_in_a_container(monkeypatch, tmp_path):
    limit = tmp_path / "memory.max"
    limit.write_text("1048576\n")
    monkeypatch.setattr(work, "_LIMIT", limit)
    assert work.available_bytes() == 1 << 20
    limit.write_text("max\n")
    assert work.available_bytes() is None or work.available_bytes() > 1 << 20
    monkeypatch.setattr(work, "_MEMINFO", Path("nowhere"))
    assert work.available_bytes() is None or work.available_bytes() > 1 << 20
