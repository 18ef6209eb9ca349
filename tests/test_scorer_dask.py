"""One fit on a cluster of dask: the numbers of this machine, also when a worker dies."""

import os

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import skboot.refit.engine
from skboot.scorer import BootstrapScorer

distributed = pytest.importorskip("distributed")

# It starts processes and kills one: left to `make slow`, away from busy machines.
pytestmark = pytest.mark.slow

OPTIONS = dict(n_train_resamples=12, n_seeds=2, random_state=0, scoring=["accuracy", "roc_auc"])


class DyingForest(RandomForestClassifier):
    """The first fit in a worker of the cluster kills its process; a file remembers."""

    def __init__(self, scar=None, n_estimators=5, random_state=None):
        super().__init__(n_estimators=n_estimators, random_state=random_state)
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


def in_the_test_process():
    try:
        distributed.get_worker()
    except ValueError:
        return True
    return False


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("dask"))
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=folder,
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def data():
    X, y = make_classification(300, 6, flip_y=0.1, random_state=0)
    return (X[:120], y[:120]), dict(X_test=X[120:], y_test=y[120:])


def fitted(estimator, data):
    (X, y), test = data
    return BootstrapScorer(estimator, **OPTIONS).fit(X, y, **test)


def on_cluster(estimator, data, monkeypatch):
    monkeypatch.setattr(skboot.refit.engine, "_WORTH_WORKERS", 0.0)
    with joblib.parallel_config(backend="dask"):
        return fitted(estimator, data)


def same_numbers(here, there):
    assert here.confidence_interval_ == there.confidence_interval_
    assert here.variance_components_ == there.variance_components_
    np.testing.assert_array_equal(here.runs_["score"], there.runs_["score"])


def test_a_fit_on_a_cluster_gives_the_numbers_of_this_machine(client, data, monkeypatch):
    forest = RandomForestClassifier(5)
    here = fitted(forest, data)
    started = len(client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_log))
    there = on_cluster(forest, data, monkeypatch)
    ended = len(client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_log))
    assert ended > started  # the cluster did the work
    same_numbers(here, there)


def test_without_a_test_set_as_well(client, data, monkeypatch):
    (X, y), _ = data
    options = dict(strategy="oob", n_train_resamples=60, random_state=0)
    here = BootstrapScorer(RandomForestClassifier(5), **options).fit(X, y)
    monkeypatch.setattr(skboot.refit.engine, "_WORTH_WORKERS", 0.0)
    with joblib.parallel_config(backend="dask"):
        there = BootstrapScorer(RandomForestClassifier(5), **options).fit(X, y)
    assert here.confidence_interval_ == there.confidence_interval_


def test_a_worker_that_is_killed_changes_no_number(client, data, monkeypatch, tmp_path):
    here = fitted(DyingForest(), data)
    scar = tmp_path / "scar"
    there = on_cluster(DyingForest(str(scar)), data, monkeypatch)
    assert scar.exists()  # a worker died
    assert not there.runs_["failed"].any()
    same_numbers(here, there)
    client.wait_for_workers(2, timeout=30)
