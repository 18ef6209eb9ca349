"""Convert what a user gives for a column to an array of the same values.

numpy changes some values silently: beside a float an integer above 2**53 becomes the nearest float,
so that ids merge; beside text a number becomes text; a mask is dropped. `as_array` converts only if
the values stay the same, and raises `Unusable` otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping, ValuesView
from decimal import Decimal
from numbers import Complex, Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .wayfinding import OF_A_MODEL

# Floats hold every integer below this size.
EXACT = 2**53
_ORDINARY = "hold real numbers, text or other labels"
_INT64 = range(-(2**63), 2**63)
_UINT64 = range(2**64)
# Texts whose characters are read together: they stay in the cache.
_ROWS_AT_ONCE = 1 << 14
# Maximum number of entries of a sparse matrix that is made dense (512 MB of doubles).
_DENSE_ENTRIES = 2**26
# Under which name the type of an array holds the categories of a column in their order: it stays
# with parts of the array and with its copies, and no reader of values sees it.
_CATEGORIES = "skboot categories"
_AS_COLUMNS = (
    "Make columns of 0 and 1 from the labels by sklearn.preprocessing.MultiLabelBinarizer."
)


class Unusable(ValueError):
    """Values that no array can hold; `must`, `got` and `advice` are parts of a message."""

    def __init__(self, must: str, got: str, advice: str = "") -> None:
        super().__init__(f"must {must}. Got {got}. {advice}")
        self.must, self.got, self.advice = must, got, advice


def refuse_other_things(name: str, values: Any) -> None:
    """Refuse what is often given for rows: names, models, dicts, generators and sets."""
    must, is_answer = "be an array-like, a row for each sample", name.startswith("y_")
    if isinstance(values, str):
        advice = f"Give the column itself, not its name: data[{values!r}]."
        raise Unusable(must, f"the text {values!r}", advice)
    if isinstance(values, Mapping):
        advice = (
            "For systems on one test set use compare_systems(y_true, y_preds); for several test "
            "sets call the function for each: {name: bootstrap_score(y_true[name], y_pred[name]) "
            "for name in y_true}."
        )
        got = f"a dict with the keys {list(values)[:3]}"
        raise Unusable(must, got, advice if is_answer else "Give its values in a list.")
    if isinstance(values, set | frozenset):
        advice = "A set has no order: give a list, in the order of the rows."
        raise Unusable(must, f"a {type(values).__name__}", advice)
    if isinstance(values, Iterator | KeysView | ValuesView):
        raise Unusable(must, f"a {type(values).__name__}", f"Make a list of it: list({name}).")
    if is_answer and isinstance(values, list) and _are_of_outputs(values):
        advice = (
            "Take the column of the positive class from each: "
            f"{name}=np.column_stack([p[:, 1] for p in {name}])."
        )
        raise Unusable(must, "a list of probabilities of each output", advice)
    if is_query(values):
        advice = f"Its rows are not read yet: give {name}.collect()."
        raise Unusable(must, f"a {type(values).__name__}", advice)
    is_model = hasattr(values, "predict") or callable(values)
    if is_answer and is_model and not hasattr(values, "__array__"):
        got = f"a model, {type(values).__name__}" if hasattr(values, "predict") else repr(values)
        raise Unusable(must, got, OF_A_MODEL)


def _are_of_outputs(values: list[Any]) -> bool:
    """Whether a list is what `predict_proba` of several outputs returns."""
    return bool(values) and all(
        isinstance(own, np.ndarray) and own.ndim == 2 and own.shape[1] == 2 for own in values
    )


def is_query(values: Any) -> bool:
    """Whether values are a lazy data frame, whose rows are not read before it is collected."""
    return hasattr(values, "collect") and not hasattr(values, "__len__")


def is_column(truth: NDArray[Any] | None) -> bool:
    """Whether a truth holds one label or number a row, and not several columns or records."""
    return truth is not None and truth.ndim == 1 and truth.dtype.kind != "V"


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or the NA of a table."""
    if value is None:
        return True
    if isinstance(value, np.ndarray) and value.ndim:
        # An array is a row for a metric that takes any values.
        return False
    try:
        return bool(value != value)
    except TypeError:
        # The NA of pandas has no truth value.
        return True
    except Exception:
        # An array or a tensor is a row for a metric that takes any values.
        return False


def is_dask(values: Any) -> bool:
    """Whether values are a collection of dask, whose rows are computed when they are asked for."""
    is_collection = hasattr(type(values), "__dask_graph__")
    return is_collection and values.__dask_graph__() is not None


def as_array(values: Any) -> NDArray[Any]:
    """Convert an array-like.

    Parameters
    ----------
    values : array-like
        Lists, arrays, series and frames; anything that `numpy.asarray` takes.

    Returns
    -------
    ndarray
        Objects become booleans, integers, floats or text where all of them are; integers are of
        64 bits at most, unsigned ones only if they exceed 2**63 - 1; floats of 32 or 64 bits. Of
        ordered categories it knows the order: see `category_order`.

    Raises
    ------
    Unusable
        For masked or complex values, integers that 64 bits cannot hold beside the others, and
        what has no shape.
    """
    categories = _ordered_categories(values)
    array = _plain_array(values)
    if categories is None or array.ndim != 1:
        return array
    order = {_CATEGORIES: tuple(_plain_array(categories).tolist())}
    return array.astype(np.dtype(array.dtype, metadata=order))


def category_order(*columns: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return the categories of the first column that has an order, those that occur in any.

    None where none has one: the order is then that of the values. Categories of another column
    than the first must hold what all columns do.
    """
    if all(own is None or own.dtype.metadata is None for own in columns):
        return None
    occurring = set().union(*(own.tolist() for own in columns if own is not None and own.ndim == 1))
    for column in columns:
        if column is None or column.dtype.metadata is None:
            continue
        categories = declared_categories(column)
        if categories is None or (column is not columns[0] and occurring - {*categories.tolist()}):
            continue
        return _plain_array([one for one in categories.tolist() if one in occurring])
    return None


def declared_categories(column: NDArray[Any]) -> NDArray[Any] | None:
    """Return all categories of an ordered column in their order, also those without a row."""
    metadata: Any = column.dtype.metadata
    categories = None if metadata is None else metadata.get(_CATEGORIES)
    return None if categories is None else _plain_array(list(categories))


def has_order(values: Any) -> bool:
    """Whether a column holds categories that have an order."""
    return _ordered_categories(values) is not None


def _ordered_categories(values: Any) -> Any:
    """Return the categories of a column that says that they have an order; None of any other."""
    dtype: Any = getattr(values, "dtype", None)
    if getattr(dtype, "pyarrow_dtype", None) is not None:
        values = values.array.__arrow_array__() if hasattr(values, "array") else values
    arrow = getattr(values, "type", None)
    if getattr(arrow, "ordered", False) and hasattr(arrow, "value_type"):
        chunks = getattr(values, "unify_dictionaries", lambda: values)()
        return getattr(chunks, "chunks", [chunks])[0].dictionary if len(chunks) else None
    is_enum = type(dtype).__name__ == "Enum" and hasattr(dtype, "categories")
    if is_dask(values) or not (is_enum or getattr(dtype, "ordered", None) is True):
        return None
    return dtype.categories


def _plain_array(values: Any) -> NDArray[Any]:
    """Convert an array-like as `as_array` does, without the order of categories."""
    if isinstance(values, np.ma.MaskedArray):
        _refuse_masked(values)
    if sparse.issparse(values):
        values = _dense(values)
    if hasattr(getattr(values, "dtype", None), "categories"):
        of_categories = _of_categories(values)
        if of_categories is not None:
            return of_categories
    array = _converted(values)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    kind = array.dtype.kind
    if kind in "fUS" and isinstance(values, list | tuple):
        array = _as_given(array, values)
        kind = array.dtype.kind
    if kind == "U" and hasattr(values, "to_list"):
        _refuse_nul(values.to_list())  # a column of polars makes an array of text by itself
    if kind in "OT":
        array = _of_objects(array.astype(object, copy=False))
        kind = array.dtype.kind
    if kind == "u" and array.dtype.itemsize == 8:
        return _signed(array)
    if kind == "f" and array.dtype.itemsize not in (4, 8):
        # scikit-learn does the same, because half precision would change the value of a metric.
        with np.errstate(over="ignore"):
            return array.astype(np.float64)
    if kind in "cV":
        noun, advice = "complex numbers", "Give a real number, text or another label for each row."
        if kind == "V":
            noun = f"records of named fields {list(array.dtype.names or ())}"
            advice = (
                "Give a field, or columns of several (np.column_stack). Only y_true may hold "
                "records, such as event times, for a callable that takes them."
            )
        raise Unusable(_ORDINARY, noun, advice)
    return array


def _refuse_masked(values: np.ma.MaskedArray[Any, Any]) -> None:
    masked = np.ma.getmaskarray(values)
    if masked.any():
        row = int(np.argwhere(masked)[0][0]) if masked.ndim else 0
        raise Unusable(
            "not hold masked values",
            f"{int(masked.sum())} of them, the first in row {row}",
            "Remove these rows from every argument, or fill them.",
        )


def _dense(values: Any) -> NDArray[Any]:
    """A sparse matrix with its zeros, if memory holds these."""
    if int(np.prod(values.shape, dtype=object)) > _DENSE_ENTRIES:
        advice = (
            "Its zeros do not fit into memory. Leave out labels that do not occur, or reduce each "
            "row to its value and give metric='mean' with y_true=None."
        )
        must = f"be dense, or sparse with at most {_DENSE_ENTRIES:,} entries"
        raise Unusable(must, f"a sparse matrix of shape {values.shape}", advice)
    return np.asarray(values.toarray())


def _of_categories(values: Any) -> NDArray[Any] | None:
    """The array of a column of categories, of which each is converted once.

    None for other columns, and where values are missing.
    """
    if is_dask(values):
        return None
    try:
        codes = np.asarray(getattr(values, "cat", values).codes)
        categories = np.asarray(values.dtype.categories)
    except Exception:
        # Such as columns elsewhere than in main memory, of which the whole is to be spoken of.
        return None
    if codes.size == 0 or codes.min() < 0:
        return None
    occurring = np.bincount(codes, minlength=len(categories)) > 0
    found = _plain_array(categories[occurring])
    return found.take((np.cumsum(occurring) - 1).take(codes))


def objects_of(values: Any) -> NDArray[Any]:
    """An array of the values as they are, (n,), none of which numpy takes apart."""
    return np.fromiter(values, dtype=object, count=len(values))


def is_sequence(value: Any) -> bool:
    """Whether a value is a sequence of further values, which numpy takes apart."""
    return isinstance(value, list | tuple | np.ndarray)


def _converted(values: Any) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except Exception as error:
        # Columns of polars whose integers are of 128 bits say so in an error of their own.
        if hasattr(values, "to_list"):
            return objects_of(values.to_list())
        if hasattr(values, "rows"):
            return np.array(values.rows(), dtype=object)
        got = f"{type(values).__name__}, which numpy does not convert ({error})".rstrip(".")
        first = values[0] if isinstance(values, list | tuple) and values else None
        copied = None
        try:
            copied = _in_memory(values) if first is None else list(map(_in_memory, values))
            return np.asarray(copied)
        except Exception:
            advice = _AS_COLUMNS if isinstance(first, list | tuple) else ""
            must = "be an array-like with rows of one shape"
            if first is None:
                must, advice = "be an array-like", "Copy it to a numpy array in main memory first."
            raise Unusable(must, got, advice) from None
    # Half precision of networks is a type of its own, which numpy takes for bytes.
    return array.astype(np.float64) if array.dtype.name == "bfloat16" else array


def _in_memory(values: Any) -> Any:
    """Copy a tensor with a gradient, in half precision or on another device to main memory.

    Other values are returned as they are. Half precision is exact in single precision.
    """
    if hasattr(values, "detach") and hasattr(values, "cpu"):
        values = values.detach().cpu()
        return values.float() if str(values.dtype).endswith("bfloat16") else values
    if hasattr(values, "__dlpack_device__") and not isinstance(values, np.ndarray):
        # Arrays of CuPy copy themselves by `get`, and leave the other way to libraries since 2023.
        return values.get() if hasattr(values, "get") else np.from_dlpack(values, device="cpu")
    return values


def _as_given(array: NDArray[Any], values: Any) -> NDArray[Any]:
    """The array of a list; of objects where numpy has changed values to give them one type."""
    if array.dtype.kind == "f":
        # In half precision the comparison itself would overflow, with a warning.
        if array.dtype.itemsize < 4 or not np.any(np.abs(array) >= EXACT):
            return array
    else:
        text = str if array.dtype.kind == "U" else bytes
        if array.ndim == 1 and all(issubclass(own, text) for own in set(map(type, values))):
            _refuse_nul(values)
            return array
    objects = np.array(values, dtype=object)
    return objects if objects.shape == array.shape else array


def _refuse_nul(labels: Any) -> None:
    """Refuse text that ends in NUL: an array of text cuts it off, and what differs would merge."""
    nul: Any = b"\0" if labels and isinstance(labels[0], bytes) else "\0"
    if nul not in nul[:0].join(labels):
        return
    cut = next((label for label in labels if label.endswith(nul)), None)
    if cut is not None:
        advice = "Remove it, where no two texts become the same."
        raise Unusable("not hold text that ends in the character NUL", repr(cut), advice)


def _signed(array: NDArray[Any]) -> NDArray[Any]:
    """Signed integers if they fit: beside these, numpy converts unsigned ones to floats."""
    fits = array.size == 0 or int(array.max()) in _INT64
    return array.astype(np.int64) if fits else array


def _of_objects(array: NDArray[Any]) -> NDArray[Any]:
    """Text, booleans or numbers where all objects are; else the objects."""
    flat = array.ravel().tolist()
    if not flat:
        return array
    # There are few types, and asking each value takes longer than all that follows.
    types = set(map(type, flat))
    if np.ndarray in types:
        # Arrays of no dimension, such as the losses of single steps, stand for their values.
        flat = [x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x for x in flat]
        array = np.fromiter(flat, dtype=object, count=len(flat)).reshape(array.shape)
        types = set(map(type, flat))
    if all(issubclass(own, str) for own in types):
        _refuse_nul(flat)
        return np.array(flat, dtype=str).reshape(array.shape)
    if all(issubclass(own, bool | np.bool_) for own in types):
        return array.astype(bool)
    if all(issubclass(own, Real | Decimal | np.bool_) for own in types):
        return _numbers(array, flat)
    if any(issubclass(own, Complex) and not issubclass(own, Real) for own in types):
        advice = "Give a real number, text or another label for each row."
        raise Unusable(_ORDINARY, "complex numbers", advice)
    return array


def _numbers(array: NDArray[Any], flat: list[Any]) -> NDArray[Any]:
    """Integers of 64 bits where all are integers that fit; else floats, if none merges."""
    if all(isinstance(x, Integral | np.bool_) for x in flat):
        whole = _integers(flat)
        if whole is not None:
            return whole.reshape(array.shape)
    try:
        floats = np.array([float(x) for x in flat])
    except (TypeError, ValueError, ArithmeticError) as error:
        raise Unusable("hold numbers of 64 bits", f"one that does not fit ({error})") from None
    if not np.isfinite(floats).all():
        return floats.reshape(array.shape)
    exact = [x for x in flat if not isinstance(x, float | np.floating)]
    changed = next((x for x in exact if abs(x) >= EXACT and float(x) != x), None)
    if changed is not None:
        whole = _integers(flat) if all(x == int(x) for x in flat) else None
        if whole is None:
            raise Unusable(
                "hold integers that fit into one type of 64 bits with the other values",
                f"{changed}",
                "Give ids and labels as text, other values as floats.",
            )
        return whole.reshape(array.shape)
    if any(abs(x) >= EXACT for x in exact) and all(x == int(x) for x in flat):
        # An id must not be a float in one column and an integer in another, beside larger ids.
        whole = _integers(flat)
        return floats.reshape(array.shape) if whole is None else whole.reshape(array.shape)
    fractions = {x for x in exact if not isinstance(x, Integral | np.bool_)}
    if len({float(x) for x in fractions}) < len(fractions):
        raise Unusable(
            "hold numbers that differ as floats of 64 bits",
            "decimals or fractions that are closer",
            "Give ids and labels as text.",
        )
    return floats.reshape(array.shape)


def _integers(flat: list[Any]) -> NDArray[Any] | None:
    """Whole numbers as integers of 64 bits, unsigned where they must be; None if too large."""
    whole = [int(x) for x in flat]
    low, high = min(whole), max(whole)
    if low in _INT64 and high in _INT64:
        return np.array(whole, dtype=np.int64)
    return np.array(whole, dtype=np.uint64) if low in _UINT64 and high in _UINT64 else None


def order_of(numbers: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Return positions in rising order of numbers from 0, equal ones as they come; None if so."""
    if np.all(numbers[1:] >= numbers[:-1]):
        return None
    # Integers of 16 bits are sorted in linear time.
    return np.argsort(numbers.astype(np.min_scalar_type(int(numbers.max()))), kind="stable")


def numbered_text(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Sorted distinct texts and the position of each, in a third of the time of sorting text.

    Their characters, side by side, make up few integers, which are in the order of the texts.
    """
    text = np.ascontiguousarray(labels).reshape(-1)
    characters = text.view(np.uint32).reshape(len(text), -1)
    n_bits = max(1, int(characters.max()).bit_length())
    codes = np.zeros(len(text), dtype=np.intp)
    for start in range(0, characters.shape[1], 64 // n_bits):
        words = _words(characters[:, start : start + 64 // n_bits], n_bits)
        if not words.any():
            continue
        distinct, place = np.unique(words, return_inverse=True)
        if codes.any():
            # These are further characters of texts, which the first ones tell apart in part.
            place = np.unique(codes * len(distinct) + place, return_inverse=True)[1]
        codes = place
    first = np.empty(int(codes.max()) + 1, dtype=np.intp)
    first[codes] = np.arange(len(text))
    return text[first], codes.reshape(labels.shape)


def _words(characters: NDArray[np.uint32], n_bits: int) -> NDArray[np.uint64]:
    """The characters of each text side by side in an integer, the first ones above."""
    words = np.zeros(len(characters), dtype=np.uint64)
    for start in range(0, len(words), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        for column in characters[rows].T:
            words[rows] <<= np.uint64(n_bits)
            words[rows] |= column
    return words
