"""The key of a fit, which names its folder of finished runs: of its settings, data and code.

The key is the same in every process, whatever the order of sets and the addresses of objects, so
that a fit that was killed goes on. Functions and classes of an installed package enter by their
name and the version of the package; any others enter by their bytecode, with the functions, classes
and values that it refers to.
"""

from __future__ import annotations

import builtins
import copyreg
import dis
import hashlib
import sys
import types
from collections.abc import Iterator
from functools import cache, cached_property, partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special

_PACKAGE = __name__.partition(".")[0]
# Packages whose code enters by its version even where they are developed, never by its bytecode.
_ALWAYS_BY_VERSION = frozenset(("joblib", "numpy", "scipy", "sklearn", "threadpoolctl", _PACKAGE))

_ATOMS = frozenset((type(None), bool, int, float, complex, str, bytes, type(...)))
_SET = (set, frozenset)
_DESCRIPTORS = (staticmethod, classmethod)

# Packages whose objects enter as the function that they wrap: caches, and compiled functions.
_WRAPPERS = ("_functools", "functools", "joblib", "numba")

# Attributes that Python puts into every class, or that change nothing that the class does.
_OF_EVERY_CLASS = frozenset(
    ("__dict__", "__weakref__", "__module__", "__qualname__", "__doc__", "__firstlineno__")
) | {"__static_attributes__", "_abc_impl"}


class UnknownIdentity(TypeError):
    """A value that has no identity outside this process."""


class Key:
    """The key of the values that were added to it.

    Attributes
    ----------
    unseen : list of str
        Values that functions refer to and that could not enter: a change of them goes unnoticed.
    """

    def __init__(self) -> None:
        self.unseen: list[str] = []
        self._hash = hashlib.blake2b(digest_size=16)
        self._open: list[int] = []
        # Code by id, in the order in which it was met. It is described once, because functions may
        # refer to each other.
        self._code: dict[int, Any] = {}

    def add(self, value: Any) -> None:
        """Add a value.

        Raises
        ------
        UnknownIdentity
            For a value that exists in this process only.
        """
        if type(value) in _ATOMS:
            self._write(type(value).__name__, repr(value))
        elif id(value) in self._open:
            self._write("itself", str(self._open.index(id(value))))
        else:
            self._open.append(id(value))
            try:
                self._add_compound(value)
            finally:
                self._open.pop()

    def finished(self) -> str:
        """The key, once all code that was met has been described."""
        described = 0
        while described < len(self._code):
            for value in list(self._code.values())[described:]:
                self._describe(value)
                described += 1
        return self._hash.hexdigest()

    # ------------------------------------------------------------------ values

    def _write(self, *texts: str | bytes) -> None:
        for text in texts:
            encoded = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
            self._hash.update(len(encoded).to_bytes(8, "little") + encoded)

    def _add_compound(self, value: Any) -> None:
        kind = type(value)
        if kind in (list, tuple):
            self._add_sequence(kind.__name__, value)
        elif kind in (dict, types.MappingProxyType):
            self._add_sequence("dict", [part for item in value.items() for part in item])
        elif kind in _SET:
            self._write(kind.__name__, *sorted(self._apart(element) for element in value))
        elif kind in (np.ndarray, np.memmap):
            self._add_array(np.asarray(value))
        elif isinstance(value, np.generic) and not isinstance(value, np.void):
            self._write("number", value.dtype.str, value.tobytes())
        elif isinstance(value, type | types.FunctionType):
            self._refer(value)
        elif isinstance(value, types.ModuleType):
            self._write("module", value.__name__, version_of(value.__name__) or "")
        elif isinstance(value, types.MethodType):
            self._add_sequence("method", (value.__func__, value.__self__))
        elif isinstance(value, _DESCRIPTORS):
            self._add_sequence(kind.__name__, (value.__func__,))
        elif isinstance(value, property):
            self._add_sequence("property", (value.fget, value.fset, value.fdel))
        elif isinstance(value, cached_property):
            self._add_sequence("cached_property", (value.func,))
        elif isinstance(value, partial):
            self._add_sequence("partial", (value.func, value.args, value.keywords))
        else:
            self._add_reduced(value)

    def _add_sequence(self, kind: str, parts: Any) -> None:
        self._write(kind, str(len(parts)))
        if _ATOMS.issuperset(map(type, parts)):
            self._write(repr(parts))
            return
        for part in parts:
            self.add(part)

    def _add_array(self, array: Any) -> None:
        # The layout enters too, because BLAS rounds by it.
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        self._write("array", repr(array.dtype.descr), repr(array.shape), repr(by_columns))
        if array.dtype.hasobject:
            self.add(array.tolist())
        elif array.nbytes:
            flat = (array.T if by_columns else np.ascontiguousarray(array)).reshape(-1)
            self._hash.update(flat.view(np.uint8).data)

    def _add_reduced(self, value: Any) -> None:
        """Add the parts into which pickle takes a value apart."""
        kind = type(value)
        if _module_of(kind).partition(".")[0] in _WRAPPERS and "__wrapped__" in dir(value):
            # Other parts of a wrapper, such as its cache, differ from process to process.
            self._write(kind.__qualname__)
            self.add(value.__wrapped__)
            return
        try:
            reduce = copyreg.dispatch_table.get(kind)
            reduced = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception as error:
            raise UnknownIdentity(f"{kind.__name__} ({error})") from error
        if isinstance(reduced, str):
            self._add_by_name(value, reduced)
            return
        self._write("made by")
        for part in reduced:
            self.add(list(part) if isinstance(part, Iterator) else part)

    def _add_by_name(self, value: Any, name: str) -> None:
        """Add a value that pickle finds by name: a compiled function, a constant of a package."""
        module = _module_of(value if hasattr(value, "__module__") else type(value))
        # A compiled function is known where numpy or scipy has it under its name.
        is_compiled, name_there = isinstance(value, np.ufunc), getattr(value, "__name__", "")
        libraries = (np, scipy.special)
        if is_compiled and all(
            getattr(library, name_there, None) is not value for library in libraries
        ):
            raise UnknownIdentity(f"the compiled function {name!r}, whose code cannot be read")
        version = version_of(module) or _file_of(module)
        if version is None and isinstance(value, types.BuiltinFunctionType):
            raise UnknownIdentity(f"{name!r} of {module}, whose code cannot be read")
        self._write("name", module, name, version or "")
        if version is None:
            # A constant of the user's code enters with its class, whose code is described.
            self._refer(type(value))

    def _apart(self, value: Any) -> bytes:
        """Return the digest of one value, for values that have no order or may fail."""
        outer, self._hash = self._hash, hashlib.blake2b(digest_size=16)
        try:
            self.add(value)
            return self._hash.digest()
        finally:
            self._hash = outer

    # ------------------------------------------------------------------ code

    def _refer(self, code: Any) -> None:
        """Add the name of a function or class; code of the user is described afterwards."""
        module = _module_of(code)
        version = version_of(module)
        self._write("code", module, code.__qualname__, version or "")
        if version is None:
            self._code.setdefault(id(code), code)

    def _describe(self, code: Any) -> None:
        self._write("described", _module_of(code), code.__qualname__)
        if isinstance(code, type):
            self._describe_class(code)
        else:
            self._describe_function(code)

    def _describe_class(self, cls: type) -> None:
        for base in (*cls.__bases__, type(cls)):
            self._refer(base)
        # A class of compiled code enters by its file.
        self._write(_file_of(_module_of(cls)) or "")
        for name, value in sorted(vars(cls).items()):
            if name not in _OF_EVERY_CLASS and not name.startswith("__annot"):
                self._add_if_possible(f"{cls.__qualname__}.{name}", value)

    def _describe_function(self, function: Any) -> None:
        self._write_bytecode(function.__code__)
        cells = [_content(cell) for cell in function.__closure__ or ()]
        options = function.__kwdefaults__, vars(function)
        names = ("defaults", "options", *function.__code__.co_freevars)
        for name, value in zip(names, (function.__defaults__, options, *cells), strict=True):
            self._add_if_possible(f"{function.__qualname__}.{name}", value)
        attributes = frozenset(
            name for part in _nested(function.__code__) for name in part.co_names
        )
        values = function.__globals__
        for name in sorted(_read_by(function.__code__, "LOAD_GLOBAL", "LOAD_NAME")):
            if name in values:
                self._add_global(name, values[name], attributes)
        for name in sorted(_read_by(function.__code__, "IMPORT_NAME")):
            for full in (name, f"{values.get('__package__')}.{name}"):
                if full in sys.modules:
                    self._add_global(full, sys.modules[full], attributes)

    def _write_bytecode(self, code: types.CodeType) -> None:
        self._write("bytecode", code.co_code, repr((code.co_names, code.co_varnames)))
        self._write(repr((code.co_freevars, code.co_cellvars, code.co_flags, code.co_argcount)))
        self._write(repr((code.co_posonlyargcount, code.co_kwonlyargcount)), code.co_exceptiontable)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._write_bytecode(constant)
            else:
                self.add(constant)

    def _add_global(self, name: str, value: Any, attributes: frozenset[str]) -> None:
        """Add a value that a function reads; of a user's module the attributes that it may read."""
        self._write("global", name)
        if not isinstance(value, types.ModuleType) or version_of(value.__name__) is not None:
            self._add_if_possible(name, value)
            return
        self._write("module", value.__name__, _file_of(value.__name__) or "")
        if id(value) in self._open:
            return
        self._open.append(id(value))
        for attribute in sorted(attributes & vars(value).keys()):
            self._add_global(f"{name}.{attribute}", vars(value)[attribute], attributes)
        self._open.pop()

    def _add_if_possible(self, name: str, value: Any) -> None:
        self._write("named", name)
        try:
            self._write(self._apart(value))
        except (UnknownIdentity, RecursionError):
            self._write("unseen", type(value).__qualname__)
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
    version = getattr(package, "__version__", None) or _installed_version(top)
    return None if version is None else str(version)


def _installed_version(top: str) -> str | None:
    try:
        return metadata.version(top)
    except metadata.PackageNotFoundError:
        # The package was installed under another name, which is among those of all packages.
        names = metadata.packages_distributions().get(top)
        return metadata.version(names[0]) if names else None


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


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        # The function has not bound the name yet.
        return None


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)


def _read_by(code: types.CodeType, *operations: str) -> set[str]:
    """Return the names that operations of code read, those of functions inside it included."""
    return {
        instruction.argval
        for part in _nested(code)
        for instruction in dis.get_instructions(part)
        if instruction.opname in operations
    }
