"""Versions of what numbers depend on: in results, and for a bug report, `show_versions`."""

from __future__ import annotations

import platform
import sys
from functools import cache
from importlib import metadata

import joblib
import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info

# Names of the distributions that numbers, pictures, tables and files can depend on.
_REQUIRED = ("scikit-learn", "numpy", "scipy", "joblib", "threadpoolctl")
_OPTIONAL = ("matplotlib", "pandas", "polars", "pyarrow", "dask", "distributed")

_PACKAGE = __name__.partition(".")[0]


def show_versions() -> None:
    """Print what a bug report needs: versions of Python, of packages and of BLAS libraries.

    See Also
    --------
    sklearn.show_versions : The same for scikit-learn.

    Examples
    --------
    >>> from skboot import show_versions
    >>> show_versions()
    <BLANKLINE>
    System:
        python: ...
    """
    system = {
        "python": sys.version.replace("\n", " "),
        "executable": sys.executable,
        "machine": platform.platform(),
    }
    # The metadata of an installation are those of another copy where this one is a checkout on the
    # path.
    packages = {"skboot": sys.modules[_PACKAGE].__version__}
    for name in (*_REQUIRED, *_OPTIONAL):
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            packages[name] = "not installed"
    lists = [("System", system), ("Packages", packages)]
    for pool in threadpool_info():
        facts = {name: str(pool[name]) for name in ("version", "num_threads", "filepath")}
        lists.append((f"Threads of {pool['internal_api']}", facts))
    for title, lines in lists:
        print(f"\n{title}:")
        width = max(map(len, lines))
        for name, text in lines.items():
            print(f"{name:>{width}}: {text}")


@cache
def versions_used() -> dict[str, str]:
    """Versions of skboot and of what its numbers depend on."""
    return {
        # The metadata of an installation are those of another copy where this one is a checkout on
        # the path.
        "skboot": sys.modules[_PACKAGE].__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "joblib": joblib.__version__,
    }
