"""Checks of the arguments that users give: what cannot be meant is refused by a message.

A message says which argument of which function, what it must be, what was given, and what to do.
Checks return converted values; below the public functions shapes are trusted. From the top:
options, columns and their rows, units that are drawn, labels, and how values become arrays.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from decimal import Decimal
from itertools import pairwise
from numbers import Complex, Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy import typing as npt
from numpy.typing import NDArray
from scipy import sparse

from .errors import arguments_named as arguments_named
from .errors import counted as counted
from .errors import fail as fail
from .errors import say
from .hints import OF_A_MODEL, OF_SEVERAL

# Re-exported, so that modules above this one import messages and checks from one place.
from .work import Workers

# What numpy takes for an array. A type that names itself is told by its name in the messages of
# mypy, in place of the 160 characters of numpy's.
ArrayLike: TypeAlias = npt.ArrayLike | Sequence["ArrayLike"]

_BOOLS: tuple[Any, ...] = (bool, np.bool_)
# Minimum distance of a confidence level from 0 and 1; below it double precision holds no quantile,
# because 0.5 + level / 2 is rounded to 0.5 or 1.
_NEAREST_LEVEL = 1e-15
# Levels below it are hardly ever meant.
_LOWEST_LEVEL = 0.5
# Range of the largest absolute value; outside of it sums of fourth powers leave double precision.
_SIZES = (1e-40, 1e40)
# Maximum ratio of two positive weights; above it products of three weights can underflow.
_WIDEST_WEIGHTS = 1e100
# Maximum binary exponent of the largest weight, in size; above it weights are scaled below 1.
_ORDINARY_EXPONENT = 100
# Kinds of arrays that can hold no missing value.
_WHOLE_KINDS = "iubSU"
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
AS_INDICATORS = (
    "Make columns of 0 and 1 from sets of labels by sklearn.preprocessing.MultiLabelBinarizer."
)
_AS_COLUMNS = (
    "Make columns of 0 and 1 from the labels by sklearn.preprocessing.MultiLabelBinarizer."
)


# ------------------------------------------------------------------ options


def check_confidence_level(value: Any) -> float:
    """Accept a real number in (0, 1)."""
    level = float(value) if isinstance(value, Real) and not isinstance(value, _BOOLS) else np.nan
    if _NEAREST_LEVEL <= level <= 1 - _NEAREST_LEVEL:
        if level < _LOWEST_LEVEL:
            instead = f"if it is meant as alpha, give confidence_level={1 - level:.12g}"
            say("caution", f"confidence_level={level:g} is the level of the interval: {instead}.")
        return level
    if 0 < level < 1:
        must = f"be a float in (0, 1), at least {_NEAREST_LEVEL:g} from its ends"
        raise fail("confidence_level", must, repr(value), "Its quantiles are infinite, or 0.")
    advice = "Use confidence_level=0.95 for a 95% interval."
    if 1 < level < 100:
        advice = f"Use confidence_level={level / 100:g} for a {level:g}% interval."
    raise fail("confidence_level", "be a float in (0, 1)", repr(value), advice)


def check_count(name: str, value: Any, minimum: int, advice: str = "") -> int:
    """Accept an integer that is at least ``minimum``."""
    is_integer = isinstance(value, Integral) and not isinstance(value, _BOOLS)
    if is_integer and int(value) >= minimum:
        return int(value)
    raise fail(name, f"be an integer of at least {minimum}", repr(value), advice)


def check_flag(name: str, value: Any) -> bool:
    """Accept True or False."""
    if isinstance(value, _BOOLS):
        return bool(value)
    raise fail(name, "be True or False", repr(value))


def check_direction(greater_is_better: Any) -> bool | None:
    """Accept True, False or None."""
    if greater_is_better is None or isinstance(greater_is_better, _BOOLS):
        return greater_is_better
    must = "be True, False or None"
    raise fail("greater_is_better", must, repr(greater_is_better))


def check_label(name: str, label: Any) -> Any:
    """Accept one label or None; numbers of numpy become those of Python."""
    if np.ndim(label) != 0 or isinstance(label, dict | set | frozenset):
        raise fail(name, "be one label, or None", repr(label))
    return label.item() if isinstance(label, np.generic | np.ndarray) else label


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Accept one of the known names."""
    if isinstance(value, str) and value in choices:
        return value
    near = difflib.get_close_matches(str(value).lower(), choices, 1)
    advice = f"Did you mean {near[0]!r}?" if near else ""
    raise fail(name, f"be one of {sorted(choices)}", repr(value), advice)


def is_among(value: Any, values: Sequence[Any]) -> bool:
    """Return whether a value is one of those known; what cannot be compared is none of them."""
    try:
        return bool(value in values)
    except (TypeError, ValueError):
        return False


def check_workers(n_jobs: Any, verbose: Any) -> Workers:
    """Accept how many workers there may be (not 0), and whether progress is shown.

    None of both leaves it to joblib and to `skboot._base.work.progress`.
    """
    is_count = isinstance(n_jobs, Integral) and not isinstance(n_jobs, _BOOLS) and n_jobs != 0
    if n_jobs is not None and not is_count:
        must = "be None or an integer that is not 0"
        raise fail("n_jobs", must, repr(n_jobs), "Use n_jobs=-1 for all processors.")
    is_level = isinstance(verbose, Integral | np.bool_) and int(verbose) >= 0
    if verbose is not None and not is_level:
        must = "be None, a bool or an integer of at least 0"
        raise fail("verbose", must, repr(verbose), "Use verbose=1 to see the progress.")
    return Workers(
        None if n_jobs is None else int(n_jobs), None if verbose is None else int(verbose)
    )


def check_folder(memory: Any) -> None:
    """Accept None or the path of a folder."""
    if memory is None or isinstance(memory, str | os.PathLike):
        return
    must = "be None or the path of a folder"
    advice = "Use memory='runs': each run is stored there in one file."
    raise fail("memory", must, repr(memory), advice)


def check_seed(random_state: Any) -> np.random.SeedSequence:
    """Accept what can seed the random streams, and return their root.

    Parameters
    ----------
    random_state : None, int, SeedSequence, RandomState or Generator
        An int or SeedSequence gives the same root at every call and is never changed; a
        RandomState or Generator is drawn from; None takes fresh entropy.

    Returns
    -------
    numpy.random.SeedSequence

    Raises
    ------
    ValueError
        If it is none of these, or a negative int.
    """
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if isinstance(random_state, Integral) and int(random_state) >= 0:
        return np.random.SeedSequence(int(random_state))
    if isinstance(random_state, np.random.Generator):
        words = random_state.integers(0, 2**32, size=4, dtype=np.uint64)
    elif isinstance(random_state, np.random.RandomState):
        words = random_state.randint(0, 2**32, size=4, dtype=np.uint64)
    else:
        raise fail(
            "random_state",
            "be None, an integer of at least 0, a numpy SeedSequence, Generator or RandomState",
            repr(random_state),
            "Use random_state=0 for numbers that can be reproduced.",
        )
    return np.random.SeedSequence(sum(int(word) << (32 * i) for i, word in enumerate(words)))


# ------------------------------------------------------------------ columns

_OF_MISSING = "Remove these rows from every argument."
OF_MISSING_PREDICTIONS = (
    "Remove these rows from every argument, or say what the system predicts for them."
)
"""What to do about missing values of predictions or scores."""


def check_rows(name: str, values: ArrayLike, of_missing: str = _OF_MISSING) -> NDArray[Any]:
    """Convert to a one- or two-dimensional array without missing values.

    ``of_missing`` is the advice on these.
    """
    array = _shaped_rows(name, converted(name, values))
    check_no_missing(name, array, of_missing)
    return array


def check_column(name: str, values: ArrayLike, advice: str = "") -> NDArray[Any]:
    """Convert to a one-dimensional array without missing values; ``advice`` is on other shapes."""
    column = check_rows(name, values)
    if column.ndim != 1:
        raise fail(name, "be of shape (n_samples,)", f"shape {column.shape}", advice)
    return column


def check_names(name: str, values: Any, advice: str = "") -> NDArray[Any]:
    """Convert as `check_column` does; tuples in a list are names, each of its row."""
    is_list = isinstance(values, list | tuple)
    if is_list and all(isinstance(row, tuple) and len(row) > 1 for row in values):
        plain = [
            [item.item() if isinstance(item, np.generic) else item for item in row]
            for row in values
        ]
        values = objects_of(list(map(tuple, plain)))
    return check_column(name, values, advice)


def check_answers(name: str, values: Any) -> NDArray[Any]:
    """Convert as `check_rows` does; rows of any shape or length, and missing ones, are kept.

    Callables may take them; other metrics refuse them by `check_no_missing`.
    """
    if isinstance(values, list | tuple) and all(map(is_sequence, values)):
        shapes = {row.shape if isinstance(row, np.ndarray) else len(row) for row in values}
        if len(shapes) > 1:
            return objects_of(values)
    array = converted(name, values)
    return array if array.ndim > 2 and array.size else _shaped_rows(name, array)


def check_rows_of_each(name: str, values: Iterable[Any]) -> list[NDArray[Any]]:
    """Convert each of several columns as `check_answers` does; messages give its number."""
    arrays: list[NDArray[Any]] = []
    try:
        arrays.extend(as_array(column) for column in values)
    except Unusable as error:
        raise fail(f"{name}[{len(arrays)}]", error.must, error.got, error.advice) from None
    return [_shaped_rows(f"{name}[{k}]", array) for k, array in enumerate(arrays)]


def converted(name: str, values: Any) -> NDArray[Any]:
    """Convert to an array that holds the same values, of any shape."""
    try:
        if type(values) is not np.ndarray:
            refuse_other_things(name, values)
        return as_array(values)
    except Unusable as error:
        raise fail(name, error.must, error.got, error.advice) from None


def _shaped_rows(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of one or two dimensions; one column is flattened."""
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2):
        got = f"an array of shape {array.shape}"
        advice = "Rows come first: (n_samples,) or (n_samples, n_classes)."
        raise fail(name, "have one or two dimensions", got, advice)
    if array.size == 0:
        raise fail(name, "hold at least one row", f"an empty array, {array.shape}")
    return array


def pivot_of(frame: Any) -> str:
    """Advise how a long table, with a row for each score, gets a column for each system.

    Parameters
    ----------
    frame : object
        Where it is a frame of three columns, of which some hold text and some numbers, they are
        named; "" for anything else.
    """
    columns = [*getattr(frame, "columns", ())]
    if is_lazy(frame) or len({*columns}) != 3 or not hasattr(frame, "__getitem__"):
        return ""
    values = {name: np.asarray(frame[name]) for name in columns}
    # A column of objects may hold numbers.
    words = [
        name
        for name, column in values.items()
        if column.dtype.kind in "UST"
        or (column.dtype.kind == "O" and all(isinstance(cell, str) for cell in column))
    ]
    numbers = [name for name in columns if values[name].dtype.kind in "iuf"]
    if not words or not numbers:
        return ""
    system = min(reversed(words), key=lambda name: len(set(values[name].tolist())))
    score = next((name for name in numbers if values[name].dtype.kind == "f"), numbers[-1])
    row = next((name for name in columns if name not in (system, score)), None)
    if row is None:
        return ""
    how = f"index={row!r}, columns={system!r}, values={score!r}"
    if not hasattr(frame, "select_dtypes"):  # of polars
        how = f"{system!r}, index={row!r}, values={score!r}"
    return f"A long table gets a column for each system by table.pivot({how})."


def check_readable(name: str, values: Any) -> None:
    """Refuse masked values, below which other functions would read the data, and queries."""
    if isinstance(values, np.ma.MaskedArray) or is_query(values):
        converted(name, values)


def check_no_missing(name: str, array: NDArray[Any], advice: str = _OF_MISSING) -> None:
    """Refuse NaN, infinities and None; of records in each field."""
    if array.dtype.kind in _WHOLE_KINDS:
        return
    for field in array.dtype.names or ():
        check_no_missing(name, array[field], advice)
    bad = missing_rows(array)
    if bad is not None:
        row = int(np.argwhere(bad)[0][0])
        raise fail(
            name,
            "not contain NaN, infinity or None",
            f"{counted(int(bad.sum()), 'such value')}, the first in row {row}",
            advice,
            about="missing",
        )


def missing_rows(array: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Which values are NaN, infinite or None, in the shape of the array; None where none is."""
    if array.dtype.kind in _WHOLE_KINDS or array.dtype.kind == "V":
        return None
    if array.dtype.kind in "fc":
        # A sum takes one pass without a temporary array, and is finite unless a value is not or it
        # overflows.
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(array.sum()):
                return None
        bad = ~np.isfinite(array)
    elif array.dtype.kind == "O":
        floats = (float, np.floating)
        flat = [
            is_missing(value) or (isinstance(value, floats) and bool(np.isinf(value)))
            for value in array.ravel()
        ]
        bad = np.array(flat, dtype=bool).reshape(array.shape)
    else:
        bad = np.isnat(array) if array.dtype.kind in "mM" else np.zeros(array.shape, bool)
    return bad if bad.any() else None


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


def check_size(name: str, values: NDArray[Any]) -> None:
    """Refuse real values whose squares or cubes leave the range of double precision."""
    if values.dtype.kind != "f" or values.size == 0:
        return
    low, high = _SIZES
    # fmax and fmin skip NaN, which marks values that are not used, without a temporary array.
    largest = float(max(np.fmax.reduce(values, axis=None), -np.fmin.reduce(values, axis=None)))
    if largest != 0 and not np.isnan(largest) and not low <= largest <= high:
        must = f"hold values whose largest is between {low:g} and {high:g} in size"
        advice = "Measure in another unit: multiply the values by the same number."
        raise fail(name, must, f"{largest:g}", advice)


def check_same_length(**columns: Any) -> int:
    """Refuse arguments whose numbers of rows differ; returns the number of rows."""
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    reference = next(iter(lengths))
    for name, length in lengths.items():
        if length != lengths[reference]:
            turned = any(
                np.shape(columns[a])[1:2] == (lengths[b],)
                for a, b in ((name, reference), (reference, name))
            )
            raise fail(
                name,
                f"have as many rows as {reference!r}",
                f"{counted(length, 'row')} and {counted(lengths[reference], 'row')}",
                OF_SEVERAL if turned else "Row order is what pairs them; an index is never used.",
            )
    return lengths[reference]


def check_weights(sample_weight: ArrayLike | None) -> NDArray[np.float64] | None:
    """Accept finite weights that are not negative and not all zero.

    Their scale changes no metric: weights far from 1 come back times a power of two.
    """
    if sample_weight is None:
        return None
    weights = check_rows("sample_weight", sample_weight)
    if weights.ndim != 1 or weights.dtype.kind not in "iubf":
        raise fail(
            "sample_weight",
            "be numbers of shape (n_samples,)",
            f"{weights.dtype} of shape {weights.shape}",
            "Convert text to numbers: np.asarray(sample_weight, dtype=float).",
        )
    weights = weights.astype(np.float64)
    low, high = float(weights.min()), float(weights.max())
    if low < 0 or high <= 0:
        raise fail(
            "sample_weight",
            "be at least 0, and more than 0 for some row",
            f"values from {low:g} to {high:g}",
        )
    if low < high / _WIDEST_WEIGHTS:
        low = float(weights[weights > 0].min())
        if low < high / _WIDEST_WEIGHTS:
            raise fail(
                "sample_weight",
                f"hold positive weights within a factor of {_WIDEST_WEIGHTS:g} of each other",
                f"values from {low:g} to {high:g}",
                "A weight this small has no effect: set it to 0.",
            )
    exponent = int(np.frexp(high)[1])
    return weights if abs(exponent) <= _ORDINARY_EXPONENT else np.ldexp(weights, -exponent)


def unequal(weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Return weights that differ; None of equal ones, since their scale changes nothing."""
    return None if weights is None or weights.min() == weights.max() else weights


def check_parts_weigh(
    weights: NDArray[np.float64] | None, number: NDArray[Any], names: Sequence[Any]
) -> None:
    """Refuse parts of the rows, by the number of each row, whose weights are all zero."""
    if weights is None:
        return
    empty = np.flatnonzero(np.bincount(number, weights, len(names)) == 0)
    if empty.size:
        must = "be more than 0 for some row of each part"
        got = f"zeros alone for {names[empty[0]]!r}"
        advice = "Leave its rows out of every argument: no metric has a value on them."
        raise fail("sample_weight", must, got, advice)


# ------------------------------------------------------------------ units that are drawn


def check_groups(groups: ArrayLike) -> NDArray[np.intp]:
    """Number the groups: (n_samples,) to codes from 0."""
    return _coded_groups("groups", check_rows("groups", groups), "group")


def check_pairs(
    members: Sequence[NDArray[Any]], *, of_one_population: bool = False
) -> NDArray[np.int32]:
    """Number the members of two columns, (n_samples, 2); jointly where they are of one population.

    Members are few and pairs are many, so that narrow numbers halve the memory of pairs.
    """
    if len(members) != 2:
        raise fail(
            "groups",
            "be of shape (n_samples,), or (n_samples, 2) for crossed groups",
            f"shape {(len(members[0]), len(members))}",
        )
    columns = np.empty((len(members[0]), 2), dtype=np.int32)
    if of_one_population:
        mixed = members[0].dtype.kind != members[1].dtype.kind
        joint = np.column_stack([column.astype(object) if mixed else column for column in members])
        numbers = _coded_groups("groups", converted("groups", joint).ravel(), "member")
        columns[:] = numbers.reshape(columns.shape)
        return columns
    for k, column in enumerate(members):
        columns[:, k] = _coded_groups("groups", column, "member")
    return columns


def _coded_groups(name: str, labels: NDArray[Any], unit: str) -> NDArray[np.intp]:
    distinct, codes = numbered_labels(name, labels, unit)
    if len(distinct) < 2:
        advice = f"One {unit} does not show how {unit}s vary; "
        if unit == "member":
            advice += "if a pair names a group, give groups=pandas.MultiIndex.from_tuples(groups)."
        else:
            advice += "leave groups out if the rows are independent."
        got = f"one {unit}, {distinct.tolist()[0]!r}"
        raise fail(name, f"hold at least two {unit}s", got, advice)
    return codes.astype(np.intp, copy=False)


def check_strata(
    strata: ArrayLike | None, groups: NDArray[np.signedinteger] | None
) -> NDArray[np.intp] | None:
    """Number the strata, (n_samples,); a group must lie within one stratum."""
    if strata is None:
        return None
    labels = check_names("strata", strata)
    codes = numbered_labels("strata", labels, "stratum name")[1].astype(np.intp, copy=False)
    if groups is None:
        return codes
    if groups.ndim == 2:
        raise fail(
            "strata",
            "not be combined with crossed groups",
            "",
            "No bootstrap of crossed factors within strata is known; leave strata out.",
        )
    check_same_length(groups=groups, strata=codes)
    low = np.full(groups.max() + 1, np.iinfo(np.intp).max)
    high = np.full(groups.max() + 1, -1)
    np.minimum.at(low, groups, codes)
    np.maximum.at(high, groups, codes)
    if n_split := int(np.sum(low != high)):
        raise fail(
            "strata",
            "be the same for all rows of a group",
            f"{counted(n_split, 'group')} with rows in several strata",
            "Units are resampled within strata, so a group must lie in one stratum.",
        )
    return codes


def check_resamples(resamples: Any, n_samples: int) -> Sequence[NDArray[np.integer]]:
    """Accept 0-based row indices of shape (n_resamples, n_samples), or a list of any numbers."""
    is_list = isinstance(resamples, list | tuple)
    if is_list and resamples and all(isinstance(row, tuple) and len(row) == 2 for row in resamples):
        must = "be rows of each resample, copies included"
        advice = (
            "These are splits to train on, not rows to score: scores of cross-validation go to "
            "skboot.model_selection.corrected_t."
        )
        raise fail("resamples", must, "pairs of train and test rows", advice)
    # A list holds the rows of each resample, in any number, where it holds arrays, or lists of
    # unequal lengths.
    are_arrays = is_list and all(isinstance(rows, np.ndarray) for rows in resamples)
    if is_list and len(resamples) > 1 and (are_arrays or len(set(map(np.size, resamples))) > 1):
        checked = []
        for k, rows in enumerate(resamples):
            indices = converted(f"resamples[{k}]", rows)
            if indices.ndim != 1 or not len(indices) or indices.dtype.kind not in "iu":
                must = "be integer row indices, one or more"
                raise fail(f"resamples[{k}]", must, f"{indices.dtype} of shape {indices.shape}")
            _check_row_numbers(indices, n_samples)
            checked.append(indices)
        return checked
    indices = converted("resamples", resamples)
    shaped = indices.ndim == 2 and len(indices) >= 2 and indices.shape[1] == n_samples
    if not shaped or indices.dtype.kind not in "iu":
        raise fail(
            "resamples",
            f"be integer row indices of shape (n_resamples, n_samples), here (2 or more, "
            f"{n_samples}), or a list of arrays of them",
            f"{indices.dtype} of shape {indices.shape}",
        )
    _check_row_numbers(indices, n_samples)
    return list(indices)


def _check_row_numbers(indices: NDArray[Any], n_samples: int) -> None:
    """Refuse numbers of rows that there are not."""
    if indices.min() < 0 or indices.max() >= n_samples:
        must = f"be row indices from 0 to {n_samples - 1}"
        got = f"values from {indices.min()} to {indices.max()}"
        raise fail("resamples", must, got, "R counts from 1: subtract 1.")


# ------------------------------------------------------------------ labels


def check_labels(labels: ArrayLike | None, truth: NDArray[Any] | None) -> NDArray[Any] | None:
    """Accept the labels of columns of probabilities, each once, beside a truth of one column."""
    if labels is None:
        return None
    if truth is not None and not is_column(truth):
        must = "be None with a y_true of several columns"
        advice = "They name the columns of probabilities of classes; for columns of outputs, none."
        raise fail("labels", must, "labels", advice)
    given_labels = _shaped_rows("labels", converted("labels", labels))
    missing = missing_rows(given_labels)
    if missing is not None:
        # These are classes, not rows.
        advice = "It names the classes, each once: leave these values out of it."
        got = counted(int(missing.sum()), "such value")
        raise fail("labels", "not contain NaN, infinity or None", got, advice)
    if given_labels.ndim != 1:
        raise fail("labels", "be of shape (n_classes,)", f"shape {given_labels.shape}")
    distinct = numbered_labels("labels", given_labels)[0]
    if len(distinct) < len(given_labels):
        raise fail("labels", "hold each label once", f"{given_labels.tolist()}")
    return given_labels if truth is None else check_integers("labels", truth, given_labels)[1]


def check_integers(
    name: str, truth: NDArray[Any], column: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give integers of two columns one type: numpy compares signed with unsigned as floats."""
    kinds = truth.dtype.kind + column.dtype.kind
    if "u" not in kinds or truth.dtype == column.dtype or not set(kinds) <= set("biu"):
        return truth, column
    if np.uint64 not in (truth.dtype, column.dtype):
        return truth, column
    if min(int(truth.min()), int(column.min())) < 0:
        must = "hold integers that fit into one type of 64 bits with those of y_true"
        got = "integers above 2**63 - 1 beside negative ones"
        raise fail(name, must, got, "Give both as text, or scores as floats.")
    return truth.astype(np.uint64), column.astype(np.uint64)


def numbered_labels(
    name: str, labels: NDArray[Any], noun: str = "label"
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Number labels as `numbered` does, after a check that they are of one type."""
    try:
        if labels.dtype.kind != "O":
            return numbered(labels)
        # Lists can be sorted but not hashed, and are refused as labels.
        n_distinct = len(set(labels.ravel().tolist()))
        distinct, codes = numbered(labels)
        rising = all(bool(a < b) for a, b in pairwise(distinct))
        if not rising or len(distinct) != n_distinct:
            types = " and ".join(sorted({type(label).__name__ for label in distinct.tolist()}))
            got = f"{types} objects, of which neither of two need be the greater"
            advice = "Give text: [' '.join(sorted(map(str, one))) for one in labels]."
            raise fail(name, f"hold {noun}s with an order", got, advice)
        return distinct, codes
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.ravel().tolist()})
        got = f"a mixture that cannot be sorted: {', '.join(kinds)}"
        advice = "Convert them all to strings."
        if "list" in kinds:
            got, advice = "lists", AS_INDICATORS
        raise fail(name, f"hold {noun}s of one type", got, advice) from None


def numbered(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Sorted distinct labels and the position of each, without sorting where they are dense."""
    if labels.dtype.kind in "iu" and labels.dtype != np.uint64:
        low, high = int(labels.min()), int(labels.max())
        if high - low < 2 * labels.size:
            at = labels.astype(np.intp) - low
            occurs = np.zeros(high - low + 1, dtype=bool)
            occurs[at] = True
            distinct = (np.flatnonzero(occurs) + low).astype(labels.dtype)
            # Labels without a gap are their own positions.
            return distinct, at if occurs.all() else (np.cumsum(occurs) - 1)[at]
    if labels.dtype.kind == "U" and labels.dtype.isnative and labels.nbytes:
        return numbered_text(labels)
    distinct, codes = np.unique(labels, return_inverse=True)
    return distinct, codes.reshape(labels.shape)


def numbered_text(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Sorted distinct texts and the position of each, in a third of the time of sorting text.

    Their characters, side by side, make up few integers, which are in the order of the texts.
    """
    text = np.ascontiguousarray(labels).reshape(-1)
    characters = text.view(np.uint32).reshape(len(text), -1)
    n_bits = max(1, int(characters.max()).bit_length())
    codes = np.zeros(len(text), dtype=np.intp)
    for start in range(0, characters.shape[1], 64 // n_bits):
        # Some characters of each text side by side in an integer, the first ones above.
        words = np.zeros(len(text), dtype=np.uint64)
        for top in range(0, len(text), _ROWS_AT_ONCE):
            rows = slice(top, top + _ROWS_AT_ONCE)
            for column in characters[rows, start : start + 64 // n_bits].T:
                words[rows] <<= np.uint64(n_bits)
                words[rows] |= column
        if not words.any():
            continue
        distinct, place = np.unique(words, return_inverse=True)
        if codes.any():
            # These are further characters of texts, which the first ones distinguish in part.
            place = np.unique(codes * len(distinct) + place, return_inverse=True)[1]
        codes = place
    example = np.empty(int(codes.max()) + 1, dtype=np.intp)
    example[codes] = np.arange(len(text))
    return text[example], codes.reshape(labels.shape)


def order_of(numbers: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Return positions in rising order of numbers from 0, equal ones as they come; None if so."""
    if np.all(numbers[1:] >= numbers[:-1]):
        return None
    # Integers of 16 bits are sorted in linear time.
    return np.argsort(numbers.astype(np.min_scalar_type(int(numbers.max()))), kind="stable")


# ------------------------------------------------------------------ what a column is


def is_column(truth: NDArray[Any] | None) -> bool:
    """Whether a truth holds one label or number a row, and not several columns or records."""
    return truth is not None and truth.ndim == 1 and truth.dtype.kind != "V"


def is_sequence(value: Any) -> bool:
    """Whether a value is a sequence of further values, which numpy takes apart."""
    return isinstance(value, list | tuple | np.ndarray)


def is_query(values: Any) -> bool:
    """Whether values are a lazy data frame, whose rows are not read before it is collected."""
    return hasattr(values, "collect") and not hasattr(values, "__len__")


def is_dask(values: Any) -> bool:
    """Whether values are a collection of dask, whose rows are computed when they are asked for."""
    is_collection = hasattr(type(values), "__dask_graph__")
    return is_collection and values.__dask_graph__() is not None


def is_lazy(*columns: Any) -> bool:
    """Whether a column is read in parts: one of dask, or of a scanned data set."""
    return any(
        getattr(column, "is_scanned", False) is True
        or (hasattr(type(column), "__dask_graph__") and is_dask(column))
        for column in columns
    )


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
    is_ordered = is_enum or getattr(dtype, "ordered", None) is True
    return dtype.categories if is_ordered and not is_dask(values) else None


def category_order(*columns: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return the categories of the first column that has an order, those that occur in any.

    None where none has one: the order is then that of the values. Categories of another column
    than the first must hold what all columns do.
    """
    if all(column is None or column.dtype.metadata is None for column in columns):
        return None
    occurring: set[Any] = set()
    for column in columns:
        if column is not None and column.ndim == 1:
            occurring.update(column.tolist())
    for column in columns:
        categories = None if column is None else declared_categories(column)
        if categories is None or (column is not columns[0] and occurring - {*categories.tolist()}):
            continue
        return as_array([label for label in categories.tolist() if label in occurring])
    return None


def declared_categories(column: NDArray[Any]) -> NDArray[Any] | None:
    """Return all categories of an ordered column in their order, also those without a row."""
    metadata: Any = column.dtype.metadata
    categories = None if metadata is None else metadata.get(_CATEGORIES)
    return None if categories is None else as_array(list(categories))


# ------------------------------------------------------------------ values to arrays


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
    # What `predict_proba` of several outputs returns.
    if (
        is_answer
        and isinstance(values, list)
        and values
        and all(isinstance(p, np.ndarray) and p.ndim == 2 and p.shape[1] == 2 for p in values)
    ):
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


def as_array(values: Any) -> NDArray[Any]:
    """Convert an array-like.

    numpy changes some values silently: beside a float an integer above 2**53 becomes the nearest
    float, so that ids merge; beside text a number becomes text; a mask is dropped. Here values stay
    the same.

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
    array, categories = values, None
    if type(values) is not np.ndarray:
        categories, array = _ordered_categories(values), _array_of(values)
    if array.dtype.kind == "V" and array.dtype.name == "bfloat16":
        # Half precision of networks is a type of its own, which numpy takes for bytes.
        array = array.astype(np.float64)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind in "OT":
        array = _object_array(array.astype(object, copy=False))
    kind = array.dtype.kind
    if kind == "u" and array.dtype.itemsize == 8:
        # Signed integers if they fit: beside these, numpy converts unsigned ones to floats.
        if array.size == 0 or int(array.max()) in _INT64:
            array = array.astype(np.int64)
    elif kind == "f" and array.dtype.itemsize not in (4, 8):
        # scikit-learn does the same, because half precision would change the value of a metric.
        with np.errstate(over="ignore"):
            array = array.astype(np.float64)
    elif kind in "cV":
        noun, advice = "complex numbers", "Give a real number, text or another label for each row."
        if kind == "V":
            noun = f"records of named fields {list(array.dtype.names or ())}"
            advice = (
                "Give a field, or columns of several (np.column_stack). Only y_true may hold "
                "records, such as event times, for a callable that takes them."
            )
        raise Unusable(_ORDINARY, noun, advice)
    if categories is None or array.ndim != 1:
        return array
    order = {_CATEGORIES: tuple(as_array(categories).tolist())}
    return array.astype(np.dtype(array.dtype, metadata=order))


def _array_of(values: Any) -> NDArray[Any]:
    """Let numpy make an array of what is none, if it changes no value by that."""
    if isinstance(values, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(values)
        if masked.any():
            row = int(np.argwhere(masked)[0][0]) if masked.ndim else 0
            raise Unusable(
                "not hold masked values",
                f"{int(masked.sum())} of them, the first in row {row}",
                "Remove these rows from every argument, or fill them.",
            )
    if sparse.issparse(values):
        if int(np.prod(values.shape, dtype=object)) > _DENSE_ENTRIES:
            advice = (
                "Its zeros do not fit into memory. Leave out labels that do not occur, or reduce "
                "each row to its value and give metric='mean' with y_true=None."
            )
            must = f"be dense, or sparse with at most {_DENSE_ENTRIES:,} entries"
            raise Unusable(must, f"a sparse matrix of shape {values.shape}", advice)
        values = np.asarray(values.toarray())
    if hasattr(getattr(values, "dtype", None), "categories") and not is_dask(values):
        try:
            codes = np.asarray(getattr(values, "cat", values).codes)
            categories = np.asarray(values.dtype.categories)
        except Exception:
            # Such as columns elsewhere than in main memory, of which the whole is to be spoken of.
            codes = np.empty(0, dtype=np.intp)
        if codes.size and codes.min() >= 0:
            # Each category is converted once.
            occurring = np.bincount(codes, minlength=len(categories)) > 0
            return as_array(categories[occurring]).take((np.cumsum(occurring) - 1).take(codes))
    try:
        array = np.asarray(values)
    except Exception as error:
        # Wide integers, tensors, arrays elsewhere. Columns of polars whose integers are of 128 bits
        # say so in an error of their own.
        if hasattr(values, "to_list"):
            return objects_of(values.to_list())
        if hasattr(values, "rows"):
            return np.array(values.rows(), dtype=object)
        head = values[0] if isinstance(values, list | tuple) and values else None
        try:
            array = np.asarray(
                _copied_to_memory(values) if head is None else list(map(_copied_to_memory, values))
            )
        except Exception:
            must, advice = "be an array-like", "Copy it to a numpy array in main memory first."
            if head is not None:
                must = "be an array-like with rows of one shape"
                advice = _AS_COLUMNS if isinstance(head, list | tuple) else ""
            got = f"{type(values).__name__}, which numpy does not convert ({error})".rstrip(".")
            raise Unusable(must, got, advice) from None
    if array.dtype.kind in "fUS" and isinstance(values, list | tuple):
        # Objects where numpy has changed values to give them one type.
        if array.dtype.kind == "f":
            # In half precision the comparison itself would overflow, with a warning.
            is_same = array.dtype.itemsize < 4 or not np.any(np.abs(array) >= EXACT)
        else:
            text = str if array.dtype.kind == "U" else bytes
            kinds = set(map(type, values))
            is_same = array.ndim == 1 and all(issubclass(kind, text) for kind in kinds)
            if is_same:
                _refuse_nul(values)
        objects = array if is_same else np.array(values, dtype=object)
        return objects if objects.shape == array.shape else array
    if array.dtype.kind == "U" and hasattr(values, "to_list"):
        _refuse_nul(values.to_list())  # a column of polars makes an array of text by itself
    return array


def _copied_to_memory(values: Any) -> Any:
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


def objects_of(values: Any) -> NDArray[Any]:
    """An array of the values as they are, (n,), none of which numpy takes apart."""
    return np.fromiter(values, dtype=object, count=len(values))


def _refuse_nul(labels: Any) -> None:
    """Refuse text that ends in NUL: an array of text cuts it off, and what differs would merge."""
    nul: Any = b"\0" if labels and isinstance(labels[0], bytes) else "\0"
    if nul not in nul[:0].join(labels):
        return
    cut = next((label for label in labels if label.endswith(nul)), None)
    if cut is not None:
        advice = "Remove it, where no two texts become the same."
        raise Unusable("not hold text that ends in the character NUL", repr(cut), advice)


def _object_array(array: NDArray[Any]) -> NDArray[Any]:
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
    if all(issubclass(kind, str) for kind in types):
        _refuse_nul(flat)
        return np.array(flat, dtype=str).reshape(array.shape)
    if all(issubclass(kind, bool | np.bool_) for kind in types):
        return array.astype(bool)
    if all(issubclass(kind, Real | Decimal | np.bool_) for kind in types):
        return _numbers(array, flat)
    if any(issubclass(kind, Complex) and not issubclass(kind, Real) for kind in types):
        advice = "Give a real number, text or another label for each row."
        raise Unusable(_ORDINARY, "complex numbers", advice)
    return array


def _numbers(array: NDArray[Any], flat: list[Any]) -> NDArray[Any]:
    """Integers of 64 bits where all are integers that fit; else floats, if none merges."""
    if all(isinstance(x, Integral | np.bool_) for x in flat):
        integers = _integers(flat)
        if integers is not None:
            return integers.reshape(array.shape)
    try:
        floats = np.array([float(x) for x in flat])
    except (TypeError, ValueError, ArithmeticError) as error:
        raise Unusable("hold numbers of 64 bits", f"one that does not fit ({error})") from None
    if not np.isfinite(floats).all():
        return floats.reshape(array.shape)
    exact = [x for x in flat if not isinstance(x, float | np.floating)]
    changed = next((x for x in exact if abs(x) >= EXACT and float(x) != x), None)
    if changed is not None:
        integers = _integers(flat) if all(x == int(x) for x in flat) else None
        if integers is None:
            raise Unusable(
                "hold integers that fit into one type of 64 bits with the other values",
                f"{changed}",
                "Give ids and labels as text, other values as floats.",
            )
        return integers.reshape(array.shape)
    if any(abs(x) >= EXACT for x in exact) and all(x == int(x) for x in flat):
        # An id must not be a float in one column and an integer in another, beside larger ids.
        integers = _integers(flat)
        return floats.reshape(array.shape) if integers is None else integers.reshape(array.shape)
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
    integers = [int(x) for x in flat]
    low, high = min(integers), max(integers)
    if low in _INT64 and high in _INT64:
        return np.array(integers, dtype=np.int64)
    return np.array(integers, dtype=np.uint64) if low in _UINT64 and high in _UINT64 else None
