"""Names of a package whose modules are imported when they are asked for (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_from(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to str
        Name to the module that defines it, seen from the package (``".other.module"`` for
        one beside it); submodules can be asked for as well.

    Returns
    -------
    getattr, dir : callable
    """
    modules = {home.partition(".")[0] for home in homes.values()} - {""}

    def find(name: str) -> Any:
        if name in homes:
            found = getattr(import_module(f".{homes[name]}", package), name)
        elif name in modules:
            found = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, found)
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes, *modules})

    return find, names
