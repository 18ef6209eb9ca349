"""Names of a package whose modules are imported when they are asked for (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def names_from(
    package: str, names: Mapping[str, Iterable[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a package that has an ``__all__``.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    names : mapping of str to iterable of str
        Names by the module that defines them, seen from the package (``".other.module"`` for
        one beside it); submodules can be asked for as well.

    Returns
    -------
    getattr, dir : callable
        ``dir`` shows the names of ``__all__``, and no submodule.
    """
    homes = {name: module for module, listed in names.items() for name in listed}
    modules = {module.partition(".")[0] for module in names} - {""}

    def find(name: str) -> Any:
        if name in homes:
            value = getattr(import_module(f".{homes[name]}", package), name)
        elif name in modules:
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def shown() -> list[str]:
        module = vars(sys.modules[package])
        return sorted({*module["__all__"], *(name for name in module if name.startswith("__"))})

    return find, shown
