"""What a cluster of dask needs before runs are sent there.

joblib puts what tasks share into every task, or on a single worker, which may die. Here it becomes
the result of a task of its own: it is sent once, workers hand it on, and dask makes it again where
it is lost. Workers that lack this package would say so in their own logs only: they are asked.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from joblib.parallel import get_active_backend

_PACKAGE = __name__.partition(".")[0]
_TO_DO = (
    f"Install {_PACKAGE} on the workers in the version that is here, for example with "
    f"client.register_plugin(distributed.PipInstall(['{_PACKAGE}']))."
)


@contextmanager
def sent(job: Any) -> Iterator[Any]:
    """What tasks take for a job: itself, or its place on the cluster of dask that joblib uses.

    Raises
    ------
    ImportError
        If workers cannot import this package, or have another version.
    RuntimeError
        If the cluster gives up.
    """
    backend, _ = get_active_backend()
    if type(backend).__name__ != "DaskDistributedBackend":
        yield job
        return
    _check_workers(backend.client)
    with warnings.catch_warnings():
        # Data that are sent once, which is what the warning asks for.
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        place = backend.client.submit(_held, job, pure=False)
    try:
        yield place
    except CancelledError as error:
        raise RuntimeError(
            "The dask cluster gave up some of the runs without saying why; the logs of its workers "
            "do. Most often a worker lacks a package that the estimator, the metric or "
            f"{_PACKAGE} needs. {_TO_DO}"
        ) from error


def _held(job: Any) -> Any:
    return job


def _check_workers(client: Any) -> None:
    look = _looker(_PACKAGE)
    here, found = look(), client.run(look)
    wrong = {worker: there for worker, there in found.items() if there != here}
    if not wrong:
        return
    worker, there = next(iter(wrong.items()))
    raise ImportError(
        f"{len(wrong)} of {len(found)} workers of the dask cluster cannot do the runs: {_PACKAGE} "
        f"here is {here}; on {worker} it is {there}. {_TO_DO}",
        name=_PACKAGE,
    )


def _looker(package: str) -> Any:
    """Function that says which version can be imported; a local one is pickled by value."""

    def look() -> str:
        from importlib import import_module

        try:
            return f"version {import_module(package).__version__}"
        except Exception as error:
            return f"not importable ({type(error).__name__}: {error})"

    return look
