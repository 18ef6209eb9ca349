"""One fit on Ray, through joblib: the numbers of this machine, and errors in their own words."""

import os
from pathlib import Path

import joblib
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import ExtraTreeClassifier

from skboot import BootstrapScorer

ray = pytest.importorskip("ray")

OPTIONS = dict(strategy="oob", n_train_resamples=60, random_state=0, error_score="raise")
X, Y = make_classification(300, 6, flip_y=0.1, random_state=0)


class CountedTree(ExtraTreeClassifier):
    """Notes in a file each time that it arrives somewhere with the data it is sent with."""

    def __init__(self, log=None, random_state=None):
        super().__init__(random_state=random_state)
        self.log = log

    def __setstate__(self, state):
        super().__setstate__(state)
        with Path(self.log).open("a") as file:
            file.write(f"{os.getpid()}\n")


class FailingTree(ExtraTreeClassifier):
    """Fails, or ends its process, everywhere but where it was made."""

    def __init__(self, home=None, dies=False, random_state=None):
        super().__init__(random_state=random_state)
        self.home, self.dies = home, dies

    def fit(self, X, y):
        if os.getpid() != self.home:
            if self.dies:
                os._exit(1)
            raise ValueError("the estimator's own words")
        return super().fit(X, y)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    from joblib.pool import PicklingPool
    from ray.util.joblib import register_ray

    bases = PicklingPool.__bases__
    # Workers find the classes of this module by its name.
    before = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(Path(__file__).parents[1]), *([before] if before else [])])
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": path}},
    )
    register_ray()
    yield
    ray.shutdown()
    # Ray changes what the backend "multiprocessing" of joblib is, for the rest of the process.
    PicklingPool.__bases__ = bases


def on_ray(estimator, monkeypatch):
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    with joblib.parallel_config(backend="ray", n_jobs=-1):
        return BootstrapScorer(estimator, **OPTIONS).fit(X, Y)


def test_a_fit_on_ray_gives_the_numbers_of_this_machine(monkeypatch, tmp_path):
    here = BootstrapScorer(ExtraTreeClassifier(), **OPTIONS).fit(X, Y)
    monkeypatch.setattr("skboot._base.work._WORTH_WORKERS", 0.0)
    by_loky = BootstrapScorer(ExtraTreeClassifier(), **OPTIONS, n_jobs=2).fit(X, Y)
    log = tmp_path / "arrivals"
    there = on_ray(CountedTree(str(log)), monkeypatch)
    assert here.confidence_interval_ == by_loky.confidence_interval_ == there.confidence_interval_
    # The work was done elsewhere.
    assert set(log.read_text().split()) - {str(os.getpid())}


def test_what_tasks_share_is_put_into_the_store_once(monkeypatch):
    put, given = ray.put, []

    def counted(value, *options, **named):
        given.append(value)
        return put(value, *options, **named)

    monkeypatch.setattr(ray, "put", counted)
    on_ray(ExtraTreeClassifier(), monkeypatch)
    jobs = [value for value in given if hasattr(value, "estimator")]
    assert len(jobs) == 1
    assert jobs[0].X is X


def test_an_error_on_ray_has_the_words_of_the_estimator(monkeypatch):
    with pytest.raises(ValueError, match="the estimator's own words"):
        on_ray(FailingTree(os.getpid()), monkeypatch)


def test_a_worker_of_ray_that_dies_ends_the_fit(monkeypatch):
    with pytest.raises(ray.exceptions.RayActorError, match="died"):
        on_ray(FailingTree(os.getpid(), dies=True), monkeypatch)
