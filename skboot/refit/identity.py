"""The key of a fit, which names its folder of finished runs: of its settings, data and code.

joblib hashes parameters and data. The key is the same in every process, whatever the order of sets
and the addresses of objects, so that a fit that was killed goes on. Functions and classes of an
installed package enter by their name and the version of the package; any others enter by their
code, with the functions, classes and values that it refers to.
"""

from __future__ import annotations

import builtins
import hashlib
import pickle
import sys
import types
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy.special
from joblib.hashing import NumpyHasher

_PACKAGE = __name__.partition(".")[0]
# Packages whose code enters by its version even where they are developed.
_ALWAYS_BY_VERSION = frozenset(("joblib", "numpy", "scipy", "sklearn", "threadpoolctl", _PACKAGE))

# Types of which many values in a row are hashed by how they print, in a tenth of the time.
_ATOMS = frozenset((type(None), bool, int, float, complex, str, bytes))
_FEW = 10

# Packages whose objects enter as the function that they wrap: caches, and compiled functions.
_WRAPPERS = ("_functools", "functools", "joblib", "numba")

# Attributes that Python puts into every class, or that change nothing that the class does.
_OF_EVERY_CLASS = frozenset(
    ("__dict__", "__weakref__", "__module__", "__qualname__", "__doc__", "__firstlineno__")
) | {"__static_attributes__", "_abc_impl"}
# What Python knows of the code of a function, but for constants and places in a file.
_OF_CODE = (
    *("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags"),
    *("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_exceptiontable"),
)


class UnknownIdentity(TypeError):
    """A value that has no identity outside this process."""


class _Hasher(NumpyHasher):
    """joblib's hash of a value; code of the user in it enters by name, and is put on a list.

    Code is listed by id, in the order in which it is met. It is described once, because functions
    may refer to each other.
    """

    def __init__(self, code: dict[int, Any]) -> None:
        super().__init__()
        self._code = code

    def save(self, value: Any) -> None:
        """Hash a value, or what stands for one that pickle does not take apart in this way."""
        kind, part = type(value), value
        if isinstance(value, type | types.FunctionType):
            part = self._named(value, value.__qualname__)
        elif isinstance(value, types.ModuleType):
            part = ("module", value.__name__, version_of(value.__name__))
        elif isinstance(value, types.BuiltinFunctionType) and isinstance(
            value.__self__, types.ModuleType | types.NoneType
        ):
            # A compiled function that is no method of a value.
            part = self._named(value, value.__qualname__)
        elif kind in (list, tuple) and len(value) > _FEW and _ATOMS.issuperset(map(type, value)):
            part = (kind.__name__, repr(value))
        elif isinstance(value, np.ndarray) and value.dtype.hasobject:
            part = ("objects", repr(value.dtype.descr), value.shape, value.ravel().tolist())
        elif isinstance(value, np.ndarray):
            # The layout enters too, because BLAS rounds by it; other strides do not.
            by_columns = value.flags.f_contiguous and not value.flags.c_contiguous
            flat = (value.T if by_columns else np.ascontiguousarray(value)).reshape(-1)
            self._hash.update(flat.view(np.uint8).data if flat.nbytes else b"")
            part = ("array", repr(value.dtype.descr), value.shape, by_columns)
        elif _module_of(kind).partition(".")[0] in _WRAPPERS and "__wrapped__" in dir(value):
            # Other parts of a wrapper, such as its cache, differ from process to process.
            part = (kind.__qualname__, value.__wrapped__)
        elif isinstance(value, staticmethod | classmethod):
            part = (kind.__name__, value.__func__)
        elif isinstance(value, property):
            part = ("property", value.fget, value.fset, value.fdel)
        elif isinstance(value, cached_property):
            part = ("cached_property", value.func)
        elif isinstance(value, types.MappingProxyType):
            part = ("mapping", dict(value))
        elif isinstance(value, frozenset):
            part = ("frozenset", set(value))
        elif isinstance(value, types.CodeType):
            part = (*(getattr(value, name) for name in _OF_CODE), value.co_consts)
        try:
            super().save(part)
        except (UnknownIdentity, RecursionError):
            raise
        except Exception as error:
            raise UnknownIdentity(f"{kind.__name__} ({error})") from error

    def save_global(self, value: Any, name: Any = None, pack: Any = None) -> None:
        """Hash what pickle finds by name: a compiled function, a constant of a package."""
        if isinstance(value, np.ufunc) and not any(
            getattr(module, value.__name__, None) is value for module in (np, scipy.special)
        ):
            raise UnknownIdentity(f"the compiled function {name!r}, whose code cannot be read")
        self.save(self._named(value, name))

    def _named(self, value: Any, name: str) -> tuple[Any, ...]:
        """What stands for a value that is found by name."""
        module = _module_of(value if hasattr(value, "__module__") else type(value))
        version, of_class = version_of(module), None
        if version is None and isinstance(value, type | types.FunctionType):
            self._code.setdefault(id(value), value)
        elif version is None:
            version = _file_of(module)
            if version is None and isinstance(value, types.BuiltinFunctionType):
                raise UnknownIdentity(f"{name!r} of {module}, whose code cannot be read")
            # A constant of the user's code enters with its class, whose code is described.
            of_class = type(value) if version is None else None
        return "name", module, name, version, of_class

    # joblib sorts the items of a dict, whose order can matter.
    _batch_setitems = pickle._Pickler._batch_setitems  # type: ignore[attr-defined]


class Key:
    """The key of the values that were added to it.

    Attributes
    ----------
    unseen : list of str
        Values that functions refer to and that could not enter: a change of them goes unnoticed.
    """

    def __init__(self) -> None:
        self.unseen: list[str] = []
        self._parts: list[str] = []
        self._code: dict[int, Any] = {}

    def add(self, value: Any) -> None:
        """Add a value.

        Raises
        ------
        UnknownIdentity
            For a value that exists in this process only.
        """
        self._parts.append(_Hasher(self._code).hash(value))

    def finished(self) -> str:
        """The key, once all code that was met has been described."""
        described = 0
        while described < len(self._code):
            for code in list(self._code.values())[described:]:
                self._parts.append(f"{_module_of(code)}.{code.__qualname__}")
                if isinstance(code, type):
                    # A class of compiled code enters by its file.
                    self.add((code.__bases__, type(code), _file_of(_module_of(code))))
                    for name, value in sorted(vars(code).items()):
                        if name not in _OF_EVERY_CLASS and not name.startswith("__annot"):
                            self._add_if_possible(f"{code.__qualname__}.{name}", value)
                else:
                    self._describe_function(code)
                described += 1
        return str(joblib.hash(self._parts))

    def _describe_function(self, function: Any) -> None:
        code, values = function.__code__, function.__globals__
        self.add(code)
        parts = {"defaults": function.__defaults__}
        parts["options"] = (function.__kwdefaults__, vars(function))
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                parts[name] = cell.cell_contents
            except ValueError:
                # The function has not bound the name yet.
                parts[name] = None
        for name, value in parts.items():
            self._add_if_possible(f"{function.__qualname__}.{name}", value)
        names = _names_in(code)
        for name in sorted(names):
            if name in values:
                self._add_global(name, values[name], names, set())
            for module in (name, f"{values.get('__package__')}.{name}"):
                if module in sys.modules and version_of(module) is None:
                    self._add_global(module, sys.modules[module], names, set())

    def _add_global(self, name: str, value: Any, names: frozenset[str], within: set[int]) -> None:
        """Add a value that a function reads; of a user's module the attributes that it may read."""
        if not isinstance(value, types.ModuleType) or version_of(value.__name__) is not None:
            self._add_if_possible(name, value)
        elif id(value) not in within:
            self.add((name, value, _file_of(value.__name__)))
            for attribute in sorted(names & vars(value).keys()):
                inner = within | {id(value)}
                self._add_global(f"{name}.{attribute}", vars(value)[attribute], names, inner)

    def _add_if_possible(self, name: str, value: Any) -> None:
        try:
            self.add((name, value))
        except (UnknownIdentity, RecursionError):
            self._parts.append(f"{name} is a {type(value).__qualname__}")
            if type(value).__module__ not in ("_thread", "_abc", "weakref"):
                self.unseen.append(f"{name} ({type(value).__name__})")


# ------------------------------------------------------------------ what code is


@cache
def version_of(module: str | None) -> str | None:
    """Version of the installed package that a module is of; None for a user's own code."""
    top = (module or "").partition(".")[0]
    if top in sys.stdlib_module_names or top == builtins.__name__:
        return "python"
    if top == "__main__":
        # The file of __main__ may be of an installed program that runs the user's code.
        return None
    package = sys.modules.get(top)
    if top in _ALWAYS_BY_VERSION:
        return str(getattr(package, "__version__", ""))
    places = [getattr(package, "__file__", None), *getattr(package, "__path__", ())]
    if not any({"site-packages", "dist-packages"} & set(Path(p).parts) for p in places if p):
        return None
    version = getattr(package, "__version__", None)
    if not version:
        try:
            version = metadata.version(top)
        except metadata.PackageNotFoundError:
            # The package was installed under another name, which is among those of all packages.
            names = metadata.packages_distributions().get(top)
            version = metadata.version(names[0]) if names else None
    return None if version is None else str(version)


def _module_of(code: Any) -> str:
    module = getattr(code, "__module__", None)
    # A type of compiled functions has a descriptor there, which gives the module of each function.
    return module if isinstance(module, str) else builtins.__name__


def _file_of(module: str) -> str | None:
    """Return the digest of the file of a compiled module; None for other modules."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or file.endswith((".py", ".pyc")):
        return None
    return hashlib.blake2b(Path(file).read_bytes(), digest_size=16).hexdigest()


def _names_in(code: types.CodeType) -> frozenset[str]:
    """Return the names that code reads, those of functions inside it included."""
    inner = [_names_in(part) for part in code.co_consts if isinstance(part, types.CodeType)]
    return frozenset(code.co_names).union(*inner)
