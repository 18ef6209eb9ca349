"""Names of a package whose modules are imported when they are asked for (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType
from typing import Any


def names_from(
    package: str,
    names: Mapping[str, Iterable[str]],
    moved: Mapping[str, Iterable[str]] = MappingProxyType({}),
    others: str = "",
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a package that has an ``__all__``.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    names : mapping of str to iterable of str
        Names by the module that defines them, seen from the package (``".other.module"`` for
        one beside it); submodules can be asked for as well.
    moved : mapping of str to iterable of str
        Names that were here, by the module that has them now.
    others : str
        A module whose classes are found as well; none if empty.

    Returns
    -------
    getattr, dir : callable
        ``dir`` shows the names of ``__all__``, and no submodule.
    """
    places = {name: module for module, listed in moved.items() for name in listed}
    homes = {name: module for module, listed in names.items() for name in listed}
    modules = {module.partition(".")[0] for module in names} - {""}

    def find(name: str) -> Any:
        if name in homes:
            value = getattr(import_module(f".{homes[name]}", package), name)
        elif name in modules:
            value = import_module(f"{package}.{name}")
        elif name in places:
            raise AttributeError(f"{package}.{name} is {package}.{places[name]}.{name} now.")
        else:
            value = vars(import_module(f".{others}", package)).get(name) if others else None
            if not isinstance(value, type):
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def shown() -> list[str]:
        module = vars(sys.modules[package])
        return sorted({*module["__all__"], *(name for name in module if name.startswith("__"))})

    return find, shown


def import_modules(package: str) -> list[ModuleType]:
    """Import every module of a package, in alphabetical order, so that each can register itself."""
    found = sorted(own.name for own in iter_modules(sys.modules[package].__path__))
    return [import_module(f"{package}.{name}") for name in found]
