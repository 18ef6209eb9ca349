"""Lend the caller's data to estimators and scorers, some of which write into what they are given.

Runs share X, test sets and parameters of ``fit``. An array is lent as a view that cannot be written
to, which costs nothing. An estimator that fails on such a view gets a copy of its own, then and in
all later runs: most write for the sake of speed, some only ask for a buffer that could be written.
What cannot be locked (a data frame that does not copy on write, an object) is always copied.

`Loan` repeats a call, `Loan.attempt` a whole run. Code that writes behind numpy's back is not seen.
"""

from __future__ import annotations

import copy
import datetime
import numbers
import secrets
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from .._base.errors import call_foreign
from .._base.sklearn_compat import take

_T = TypeVar("_T")

# Warnings of libraries that write into a locked array all the same; torch warns once a process.
_IGNORES_THE_LOCK = r"(?s).*(not writ|non-writ|read-?only)"

# Arrays that are indexed directly; workers of joblib get large arrays as memory maps.
_PLAIN_ARRAYS = (np.ndarray, np.memmap)
# Types whose values cannot be written into.
_ATOMS = (type(None), str, bytes, bool, numbers.Number, np.generic, datetime.date, type)
# Formats of sparse matrices that hold lists and dicts instead of arrays.
_SPARSE_OF_OBJECTS = ("lil", "dok")

# Names of loans that needed copies in this process; a worker is sent the same loan several times.
_needed_copies: set[str] = set()


@dataclass
class Lender:
    """Lends data to one attempt of a run.

    Attributes
    ----------
    copies : bool
        Whether copies are given away instead.
    refused : bool
        Whether a call has failed on locked data.
    is_strict : bool
        Whether warnings of the lock are errors already, until the end of the attempt.
    """

    copies: bool
    refused: bool = False
    is_strict: bool = False

    def be_strict(self) -> None:
        """Make errors of warnings of the lock, within a `warnings.catch_warnings` of the caller.

        One such context for an attempt takes a third of the time of one for each call.
        """
        if not self.copies:
            warnings.filterwarnings("error", _IGNORES_THE_LOCK)
            self.is_strict = True

    def call(self, function: Callable[..., _T], *lent: Any, **options: Any) -> _T:
        """Call a function with data that it does not own, and keep it from writing into them."""
        hand_over = copy_of if self.copies else locked
        arguments = [hand_over(value) for value in lent]
        named = {name: hand_over(value) for name, value in options.items()}
        is_lent = lent or (options and not _all_atoms(options.values()))
        if self.copies or not is_lent:
            return call_foreign(function, *arguments, **named)
        try:
            if self.is_strict:
                return call_foreign(function, *arguments, **named)
            with warnings.catch_warnings():
                warnings.filterwarnings("error", _IGNORES_THE_LOCK)
                return call_foreign(function, *arguments, **named)
        except Exception:
            self.refused = True
            raise


@dataclass
class Loan:
    """How data are lent to the runs of one estimator: locked, until one of them failed by that.

    Attributes
    ----------
    name : str
        Name under which this process remembers that copies are needed.
    copies : bool
        Whether copies are given away.
    """

    name: str = field(default_factory=lambda: secrets.token_hex(8))
    copies: bool = False

    def attempt(self, work: Callable[[Lender], _T]) -> _T:
        """Work with locked data, and again with copies if a call with these failed."""
        lender = Lender(self.copies or self.name in _needed_copies)
        try:
            return work(lender)
        except Exception as error:
            # Under a strict lender a metric may fail by a warning that is about its own arrays.
            is_warning = lender.is_strict and isinstance(error, Warning)
            if not (lender.refused or is_warning):
                raise
        result = work(Lender(copies=True))
        # If the second attempt fails too, the lock was not the cause, and nothing is remembered.
        self.copies = True
        _needed_copies.add(self.name)
        return result

    def call(self, function: Callable[..., _T], *lent: Any, **options: Any) -> _T:
        """As `Lender.call`; on copies if that failed."""
        return self.attempt(lambda lender: lender.call(function, *lent, **options))


# ------------------------------------------------------------------ values


def locked(value: Any) -> Any:
    """The same data, locked against writing; a copy of data that cannot be locked."""
    kind: Any = type(value)
    if _is_atomic(kind):
        return value
    if _is_plain(value):
        view = value.view()
        view.flags.writeable = False
        return view
    if type(value) in (list, tuple):
        return _sequence(value, locked)
    if type(value) is dict:
        return {key: locked(item) for key, item in value.items()}
    if sparse.issparse(value) and value.format not in _SPARSE_OF_OBJECTS:
        shallow = copy.copy(value)
        for name, part in vars(shallow).items():
            if isinstance(part, np.ndarray | tuple):
                vars(shallow)[name] = locked(part)
        return shallow
    if _is_frame("pandas", value):
        pandas = sys.modules["pandas"]
        is_version_3 = int(pandas.__version__.partition(".")[0]) >= 3
        if is_version_3 or pandas.get_option("mode.copy_on_write") is True:
            return with_copied_objects(value.copy(deep=False))
    return copy_of(value)


def copy_of(value: Any) -> Any:
    """A copy of the same layout, changes of which the caller does not see."""
    kind: Any = type(value)
    if _is_atomic(kind):
        return value
    if _is_plain(value):
        # The copy has the same layout, by which BLAS rounds: numbers may not depend on who got one.
        return np.array(value, order="K", subok=True)
    if type(value) in (list, tuple):
        return _sequence(value, copy_of)
    if type(value) is dict:
        return {key: copy_of(item) for key, item in value.items()}
    if _is_frame("polars", value):
        return value.clone()
    if sparse.issparse(value):
        return value.copy()
    if _is_frame("pandas", value):
        return with_copied_objects(value.copy())
    try:
        return copy.deepcopy(value)
    except Exception:
        # An open file or a handle of a device cannot be copied, and holds no data in memory.
        return value


def copy_of_rows(data: Any, rows: Any, columns: Any = None) -> Any:
    """Rows by position with copies of the Python objects in them; a row given twice is two.

    Of a matrix with a value for each pair of rows only some columns may be asked for.
    """
    if columns is not None:
        return data[np.ix_(rows, columns)]
    if type(data) in _PLAIN_ARRAYS and data.flags.c_contiguous:
        # ndarray.take is twice as fast as an index, and scikit-learn would first examine the data.
        copied = np.asarray(data).take(rows, axis=0)
        return with_copied_objects(copied) if copied.dtype.hasobject else copied
    return with_copied_objects(take(data, rows))


def with_copied_objects(value: Any) -> Any:
    """The same data, which may be written into, with each Python object inside them copied."""
    if isinstance(value, np.ndarray):
        if not value.dtype.hasobject or value.dtype.names or _all_atoms(value.flat):
            return value
        copied = np.empty_like(value)
        for place in np.ndindex(value.shape):
            copied[place] = copy_of(value[place])
        return copied
    if type(value) in (list, tuple):
        return _sequence(value, copy_of)
    if not _is_frame("pandas", value):
        return value
    if value.ndim == 1:
        if value.dtype != np.dtype(object) or _all_atoms(value):
            return value
        return type(value)(with_copied_objects(value.to_numpy()), value.index, object, value.name)
    frame = value
    for k, dtype in enumerate(value.dtypes):
        if dtype == np.dtype(object) and not _all_atoms(value.iloc[:, k]):
            frame = value.copy() if frame is value else frame
            frame.isetitem(k, with_copied_objects(value.iloc[:, k].to_numpy()))
    return frame


def _all_atoms(values: Iterable[Any]) -> bool:
    return all(map(_is_atomic, set(map(type, values))))


@lru_cache(maxsize=256)
def _is_atomic(kind: type) -> bool:
    # The answer is cached: it is asked for each row of a list, and abstract classes answer slowly.
    return issubclass(kind, _ATOMS)


def _sequence(value: Any, hand_over: Callable[[Any], Any]) -> Any:
    kinds = set(map(type, value))
    if all(map(_is_atomic, kinds)):
        return type(value)(value)
    if kinds == {list} and _all_atoms(chain.from_iterable(value)):
        # For rows of numbers this takes a tenth of the time of the general way.
        return type(value)(map(list, value))
    return type(value)(map(hand_over, value))


def _is_plain(value: Any) -> bool:
    """Return whether this is an array of one buffer: no Python objects, no mask."""
    if not isinstance(value, np.ndarray) or value.dtype.hasobject:
        return False
    return not isinstance(value, np.ma.MaskedArray)


def _is_frame(package: str, value: Any) -> bool:
    module = sys.modules.get(package)
    return module is not None and isinstance(value, module.DataFrame | module.Series)
