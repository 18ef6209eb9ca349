"""Columns in whatever people keep them: types of entries, containers, and what no column may hold.

`contained` and `contained_table` put entries into a random container that can hold them.
"""

import array
import collections
import datetime
import importlib
from decimal import Decimal
from fractions import Fraction

import numpy as np
from scipy import sparse

START = datetime.datetime(2020, 1, 1)

# Entries for the codes 0, 1, 2, ..., in the same order as these.
LABELS = {
    "int": lambda k: k,
    "negative": lambda k: k - 3,
    "huge int": lambda k: 2**60 + k,
    "id above 2**63": lambda k: 2**63 + k,
    "whole float": lambda k: float(k),
    "negative zero": lambda k: -0.0 if k == 0 else float(k),
    "whole Decimal": lambda k: Decimal(k),
    "huge Decimal": lambda k: Decimal(2**60 + k),
    "whole Fraction": lambda k: Fraction(k),
    "str": lambda k: f"class {k}",
    "long str": lambda k: f"{k} " + "x" * 300,
    "empty str": lambda k: "" if k == 0 else f"{k}",
    "str of other alphabets": lambda k: "αβγδεζηθικλμνξοπρστυφχψω"[k % 24] + f"{k}",
    "bytes": lambda k: b"class %d" % k,
    "datetime": lambda k: START + datetime.timedelta(days=k),
    "date": lambda k: START.date() + datetime.timedelta(days=k),
    "timedelta": lambda k: datetime.timedelta(hours=k),
    "numpy date": lambda k: np.datetime64("2020-01-01") + np.timedelta64(k, "D"),
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "uint16": np.uint16,
    "int32": np.int32,
    "uint32": np.uint32,
    "int64": np.int64,
    "uint64": np.uint64,
    "float16": np.float16,
    "float32": np.float32,
    "longdouble": np.longdouble,
    "numpy str": np.str_,
    "bool": lambda k: k > 0,
    "numpy bool": lambda k: np.bool_(k > 0),
}
VALUES = {
    "float": float,
    "float32": np.float32,
    "float16": np.float16,
    "longdouble": np.longdouble,
    "int": lambda x: int(x * 10),
    "int8": lambda x: np.int8(x * 10),
    "uint16": lambda x: np.uint16(abs(x) * 100),
    "Decimal": lambda x: Decimal(str(round(x, 3))),
    "Fraction": lambda x: Fraction(int(x * 100), 7),
    "bool": lambda x: bool(x > 0),
    "with negative zeros": lambda x: -0.0 if x < 0 else float(x),
    "mixed numbers": lambda x: int(x) if x < 0 else float(x),
    "huge": lambda x: float(x) * 1e200,
    "tiny": lambda x: float(x) * 1e-200,
}
# What is refused in every column of labels, values or groups.
POISON = {
    "None": None,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "complex": 1j,
    "Decimal NaN": Decimal("nan"),
    "not a time": np.datetime64("NaT"),
    "a list": [1],
    "a dict": {},
}


class WithArray:
    """What only says how to become an array, such as the columns of some data libraries."""

    def __init__(self, values):
        self._values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self._values if dtype is None else self._values.astype(dtype)

    def __len__(self):
        return len(self._values)


class Tensor(WithArray):
    """A tensor in main memory without a gradient."""

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self._values


class OwnArray(np.ndarray):
    """A subclass of arrays."""


def loaded(name):
    """A package that is no requirement; LookupError where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise LookupError(name) from None


def objects(entries):
    """An array of the entries as objects, none of which numpy takes apart."""
    found = np.empty(len(entries), dtype=object)
    for k, entry in enumerate(entries):
        found[k] = entry
    return found


def in_steps(entries, rng):
    found = np.empty(2 * len(entries), dtype=np.asarray(entries).dtype)
    found[::2] = entries
    return found[::2]


def read_only(entries, rng):
    found = np.array(entries)
    found.flags.writeable = False
    return found


def in_other_bytes(entries, rng):
    found = np.array(entries)
    return found.astype(found.dtype.newbyteorder())


def in_a_file(entries, rng, folder):
    found = np.asarray(entries)
    if found.dtype.hasobject:
        raise TypeError("objects have no bytes")
    kept = np.memmap(folder / f"{rng.integers(2**60)}", found.dtype, "w+", shape=found.shape)
    kept[:] = found
    return kept


def in_numpys_text(entries, rng):
    if not isinstance(entries[0], str):
        raise TypeError("for text")
    if not hasattr(np.dtypes, "StringDType"):
        raise TypeError("from numpy 2 on")
    return np.array(entries, dtype=np.dtypes.StringDType())


def of_polars_categories(entries, rng):
    if not isinstance(entries[0], str):
        raise TypeError("for text")
    polars = loaded("polars")
    return polars.Series("column", entries, dtype=polars.Categorical)


def in_a_sparse_column(entries, rng):
    found = np.array(entries)
    if found.dtype.kind not in "iufb" or found.dtype.itemsize > 8 or found.dtype == np.float16:
        raise TypeError("for numbers")
    return sparse.csc_array(found.reshape(-1, 1))


COLUMNS = {
    "list": lambda entries, rng: list(entries),
    "tuple": lambda entries, rng: tuple(entries),
    "deque": lambda entries, rng: collections.deque(entries),
    "list of lists": lambda entries, rng: [[entry] for entry in entries],
    "list of arrays": lambda entries, rng: [np.asarray(entry) for entry in entries],
    "array": lambda entries, rng: np.array(entries),
    "array of Python": lambda entries, rng: array.array(
        "d" if isinstance(entries[0], float) else "q", entries
    ),
    "objects": lambda entries, rng: objects(entries),
    "column": lambda entries, rng: np.array(entries).reshape(-1, 1),
    "column of Fortran": lambda entries, rng: np.asfortranarray(np.array(entries).reshape(-1, 1)),
    "every second": in_steps,
    "backwards": lambda entries, rng: np.array(entries[::-1])[::-1],
    "read-only": read_only,
    "other bytes": in_other_bytes,
    "subclass": lambda entries, rng: np.array(entries).view(OwnArray),
    "masked, without a mask": lambda entries, rng: np.ma.array(entries),
    "text of numpy": in_numpys_text,
    "sparse column": in_a_sparse_column,
    "with __array__": lambda entries, rng: WithArray(entries),
    "tensor": lambda entries, rng: Tensor(entries),
    "pandas": lambda entries, rng: loaded("pandas").Series(
        entries, index=rng.permutation(len(entries))
    ),
    "pandas with one index": lambda entries, rng: loaded("pandas").Series(
        entries, index=np.zeros(len(entries), int)
    ),
    "pandas index": lambda entries, rng: loaded("pandas").Index(entries),
    "pandas nullable": lambda entries, rng: loaded("pandas").Series(entries).convert_dtypes(),
    "pandas category": lambda entries, rng: loaded("pandas").Series(entries).astype("category"),
    "pandas frame": lambda entries, rng: loaded("pandas").DataFrame({"column": entries}),
    "polars": lambda entries, rng: loaded("polars").Series("column", entries),
    "polars category": of_polars_categories,
    "polars frame": lambda entries, rng: loaded("polars").DataFrame({"column": entries}),
}
TABLES = {
    "array": lambda table, rng: np.array(table),
    "Fortran order": lambda table, rng: np.asfortranarray(table),
    "list of lists": lambda table, rng: table.tolist(),
    "tuple of tuples": lambda table, rng: tuple(map(tuple, table.tolist())),
    "list of arrays": lambda table, rng: list(table),
    "objects": lambda table, rng: table.astype(object),
    "every second column": lambda table, rng: np.repeat(table, 2, axis=1)[:, ::2],
    "read-only": read_only,
    "other bytes": in_other_bytes,
    "subclass": lambda table, rng: table.view(OwnArray),
    "masked, without a mask": lambda table, rng: np.ma.array(table),
    "with __array__": lambda table, rng: WithArray(table),
    "tensor": lambda table, rng: Tensor(table),
    "csr": lambda table, rng: sparse.csr_array(table),
    "coordinates": lambda table, rng: sparse.coo_array(table),
    "sparse matrix": lambda table, rng: sparse.csc_matrix(table),
    "pandas": lambda table, rng: loaded("pandas").DataFrame(
        table, index=rng.permutation(len(table))
    ),
    "pandas nullable": lambda table, rng: loaded("pandas").DataFrame(table).convert_dtypes(),
    "polars": lambda table, rng: loaded("polars").DataFrame(table),
}
# Errors of containers that cannot hold some entries; older pandas says so in the last way.
CANNOT_HOLD = (TypeError, ValueError, OverflowError, LookupError, NotImplementedError)


def contained(entries, rng, folder):
    """The entries in a random container that can hold them, and its name."""
    return _contained({**COLUMNS, "memory map": None}, list(entries), rng, folder)


def contained_table(table, rng, folder, sparse_too=True):
    """The rows of an array in a random container for tables, and its name."""
    known = {
        name: make
        for name, make in TABLES.items()
        if sparse_too or name not in ("csr", "coordinates", "sparse matrix")
    }
    return _contained({**known, "memory map": None}, table, rng, folder)


def _contained(makers, entries, rng, folder):
    names = list(makers)
    while True:
        name = names[rng.integers(len(names))]
        try:
            if makers[name] is None:
                return name, in_a_file(entries, rng, folder)
            return name, makers[name](entries, rng)
        except CANNOT_HOLD:
            continue
        except Exception as error:
            # The errors of polars and of arrow are their own.
            if type(error).__module__.split(".")[0] not in ("polars", "pyarrow", "pyo3_runtime"):
                raise


def poisoned(entries, rng):
    """The entries as no column may be, and what is wrong; NaN of a float is one of many."""
    n = len(entries)
    what = rng.choice([*POISON, "masked", "mixed", "short", "of no rows", "of no dimension"])
    if what == "masked":
        return what, np.ma.array(objects(entries), mask=np.arange(n) % 2 == 1)
    if what == "mixed":
        return what, [*entries[:-1], 5 if isinstance(entries[0], str) else "a"]
    if what in ("short", "of no rows", "of no dimension"):
        bad = {"short": entries[:-1], "of no rows": [], "of no dimension": entries[0]}
        return what, bad[what]
    place = int(rng.integers(n))
    bad = [*entries[:place], POISON[what], *entries[place + 1 :]]
    return what, objects(bad) if rng.random() < 0.5 else bad
