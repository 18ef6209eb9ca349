"""Names of a package whose modules are imported when they are asked for (PEP 562)."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType
from typing import Any

from .hints import either, name_for

# Names that an error offers at most, and how like the given one they are at least.
_MOST_NEAR = 3
_LEAST_LIKENESS = 0.88


def names_from(
    package: str,
    names: Mapping[str, Iterable[str]],
    elsewhere: Iterable[str] = (),
    class_module: str = "",
    synonyms: Mapping[str, str] = MappingProxyType({}),
    metric_advice: Callable[[str], str] | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a package that has an ``__all__``.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    names : mapping of str to iterable of str
        Names by the module that defines them, seen from the package (``".other.module"`` for
        one beside it); submodules can be asked for as well.
    elsewhere : iterable of str
        Modules of the package whose names are looked for here, too.
    class_module : str
        A module whose classes are found as well; none if empty.
    synonyms : mapping of str to str
        Names by what else people call them, for errors.
    metric_advice : callable, optional
        What an error says of a name that is a metric's; "" for any other.

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
            value = (
                vars(import_module(f".{class_module}", package)).get(name) if class_module else None
            )
            if not isinstance(value, type):
                raise refused(name)
        setattr(sys.modules[package], name, value)
        return value

    def refused(name: str) -> AttributeError:
        """Say that the package has no attribute of this name, or where it is."""
        text, names = f"module {package!r} has no attribute {name!r}", sys.modules[package].__all__
        if name.startswith("_"):
            return AttributeError(text)
        for place in elsewhere:
            if name in import_module(f".{place}", package).__all__:
                return AttributeError(f"{package}.{name} is {package}.{place}.{name}.")
        near = [
            similar
            for similar in names
            if similar.startswith(f"{name}_") or similar == synonyms.get(name)
        ]
        near = near or difflib.get_close_matches(name, names, _MOST_NEAR, _LEAST_LIKENESS)
        advice = f"Did you mean {either(near)}?" if near else name_for(name, metric_advice)
        return AttributeError(f"{text}. {advice}" if names and advice else text)

    def shown() -> list[str]:
        module = vars(sys.modules[package])
        return sorted({*module["__all__"], *(name for name in module if name.startswith("__"))})

    return find, shown


@cache
def import_modules(package: str) -> tuple[ModuleType, ...]:
    """Import every module of a package, in alphabetical order, so that each can register itself."""
    names = sorted(module.name for module in iter_modules(sys.modules[package].__path__))
    return tuple(import_module(f"{package}.{name}") for name in names)
