"""One fit on a cluster of dask: the numbers of this machine, also when a worker dies.

The data are sent once, and workers without this package are found before any run.
"""

import logging
import os
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import ExtraTreeClassifier

from skboot import BootstrapScorer

distributed = pytest.importorskip("distributed")

OPTIONS = dict(n_train_resamples=12, n_seeds=2, random_state=0, scoring=["accuracy", "roc_auc"])


class DyingTree(ExtraTreeClassifier):
    """The first fit in a worker of the cluster kills its process; a file remembers."""

    def __init__(self, scar=None, random_state=None):
        super().__init__(random_state=random_state)
        self.scar = scar

    def fit(self, X, y):
        if self.scar is not None and not in_the_test_process():
            try:
                os.close(os.open(self.scar, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                os._exit(1)
        return super().fit(X, y)


class CountedTree(ExtraTreeClassifier):
    """Notes in a file each time that it arrives somewhere with the data it is sent with."""

    def __init__(self, log=None, random_state=None):
        super().__init__(random_state=random_state)
        self.log = log

    def __setstate__(self, state):
        super().__setstate__(state)
        if not in_the_test_process():
            with Path(self.log).open("a") as file:
                file.write(f"{os.getpid()}\n")


# Run in a worker before anything else: as if the package were not installed there.
WITHOUT_THE_PACKAGE = """
import sys


class NotThere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "skboot":
            raise ModuleNotFoundError("No module named 'skboot'", name="skboot")


for name in [name for name in sys.modules if name.partition(".")[0] == "skboot"]:
    del sys.modules[name]
sys.meta_path.insert(0, NotThere())
"""


def in_the_test_process():
    # The scheduler of a local cluster runs here, too.
    return os.getpid() == int(os.environ["PID_OF_THE_TESTS"])


def local_cluster(folder, **options):
    return distributed.LocalCluster(
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        local_directory=str(folder),
        silence_logs=logging.CRITICAL,
        **options,
    )


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    os.environ["PID_OF_THE_TESTS"] = str(os.getpid())
    folder = tmp_path_factory.mktemp("dask")
    with local_cluster(folder, n_workers=2) as cluster, distributed.Client(cluster) as client:
        yield client
    del os.environ["PID_OF_THE_TESTS"]


@pytest.fixture
def data():
    X, y = make_classification(300, 6, flip_y=0.1, random_state=0)
    return (X[:120], y[:120]), dict(X_test=X[120:], y_test=y[120:])


def fitted(estimator, data):
    (X, y), test = data
    return BootstrapScorer(estimator, **OPTIONS).fit(X, y, **test)


def on_cluster(estimator, data, monkeypatch):
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    with joblib.parallel_config(backend="dask"):
        return fitted(estimator, data)


def same_numbers(here, there):
    assert here.confidence_interval_ == there.confidence_interval_
    assert here.variance_components_ == there.variance_components_
    np.testing.assert_array_equal(here.runs_["score"], there.runs_["score"])


def test_a_fit_on_a_cluster_gives_the_numbers_of_this_machine(client, data, monkeypatch):
    tree = ExtraTreeClassifier()
    here = fitted(tree, data)
    started = len(client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_log))
    there = on_cluster(tree, data, monkeypatch)
    ended = len(client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_log))
    assert ended > started  # the cluster did the work
    same_numbers(here, there)


def test_each_worker_is_sent_the_data_once(client, data, monkeypatch, tmp_path):
    (X, y), _ = data
    options = dict(strategy="oob", n_train_resamples=60, random_state=0)
    here = BootstrapScorer(ExtraTreeClassifier(), **options).fit(X, y)
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    log = tmp_path / "arrivals"
    with joblib.parallel_config(backend="dask"):
        there = BootstrapScorer(CountedTree(str(log)), **options).fit(X, y)
    assert here.confidence_interval_ == there.confidence_interval_
    arrivals = log.read_text().split()
    assert set(arrivals) <= {str(pid) for pid in client.run(os.getpid).values()}
    assert len(arrivals) == len(set(arrivals))


def test_a_worker_that_is_killed_changes_no_number(client, data, monkeypatch, tmp_path):
    here = fitted(DyingTree(), data)
    scar = tmp_path / "scar"
    there = on_cluster(DyingTree(str(scar)), data, monkeypatch)
    assert scar.exists()  # a worker died
    assert not there.runs_["failed"].any()
    same_numbers(here, there)
    client.wait_for_workers(2, timeout=60)


def test_workers_without_the_package_are_found_before_any_run(data, monkeypatch, tmp_path):
    with (
        local_cluster(tmp_path, n_workers=2, preload=[WITHOUT_THE_PACKAGE]) as cluster,
        distributed.Client(cluster),
        pytest.raises(ImportError, match="No module named 'skboot'") as caught,
    ):
        on_cluster(ExtraTreeClassifier(), data, monkeypatch)
    assert "2 of 2 workers" in str(caught.value)
    assert "Install skboot on the workers" in str(caught.value)
