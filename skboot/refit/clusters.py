"""What a cluster of dask needs before runs are sent there.

joblib sends an argument to a cluster once, and not with every task, where it is large as
`sys.getsizeof` has it: so `training.Job` tells its size. Workers that lack this package would only
say in their own logs why they fail: `check_workers` asks them first.
"""

from __future__ import annotations

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


def check_workers() -> None:
    """Raise where a worker of the cluster in use, if one is, cannot run what it will be sent."""
    client = _client()
    if client is None:
        return
    found = client.run(_looker(_PACKAGE))
    here = _looker(_PACKAGE)()
    wrong = {worker: there for worker, there in found.items() if there != here}
    if not wrong:
        return
    worker, there = next(iter(wrong.items()))
    raise ImportError(
        f"{len(wrong)} of {len(found)} workers of the dask cluster cannot do the runs: {_PACKAGE} "
        f"here is {here}; on {worker} it is {there}. {_TO_DO}",
        name=_PACKAGE,
    )


@contextmanager
def explained() -> Iterator[None]:
    """Say what to look for where a cluster gives up without a reason."""
    try:
        yield
    except CancelledError as error:
        if _client() is None:
            raise
        raise RuntimeError(
            "The dask cluster gave up some of the runs without saying why; the logs of its workers "
            "do. Most often a worker lacks a package that the estimator, the metric or "
            f"{_PACKAGE} needs. {_TO_DO}"
        ) from error


def _client() -> Any:
    """Client of the cluster that joblib uses now; None for anything else."""
    backend, _ = get_active_backend()
    is_dask = type(backend).__name__ == "DaskDistributedBackend"
    return backend.client if is_dask else None


def _looker(package: str) -> Any:
    """Function that says which version can be imported; a local one is pickled by value."""

    def look() -> str:
        from importlib import import_module

        try:
            return f"version {import_module(package).__version__}"
        except Exception as error:
            return f"not importable ({type(error).__name__}: {error})"

    return look
