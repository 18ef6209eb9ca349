"""Every check of a user's argument, and its message.

A message says which argument of which function, what it must be, what was given, and what to do.
Checks return converted values; below the public functions shapes are trusted.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import (
    Unusable,
    as_array,
    is_column,
    is_missing,
    is_query,
    is_sequence,
    numbered_text,
    objects_of,
    refuse_other_things,
)

# Re-exported, so that modules above this one import messages and checks from one place.
from .messages import arguments_named as arguments_named
from .messages import fail as fail
from .warnings import say
from .wayfinding import OF_SEVERAL
from .workers import Workers

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


def check_confidence_level(value: Any) -> float:
    """Accept a real number in (0, 1)."""
    level = float(value) if isinstance(value, Real) and not _is_bool(value) else np.nan
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
    if isinstance(value, Integral) and not _is_bool(value) and int(value) >= minimum:
        return int(value)
    raise fail(name, f"be an integer of at least {minimum}", repr(value), advice)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def check_flag(name: str, value: Any) -> bool:
    """Accept True or False."""
    if _is_bool(value):
        return bool(value)
    raise fail(name, "be True or False", repr(value))


def check_direction(greater_is_better: Any) -> bool | None:
    """Accept True, False or None."""
    if greater_is_better is None or _is_bool(greater_is_better):
        return greater_is_better
    must = "be True, False or None"
    raise fail("greater_is_better", must, repr(greater_is_better))


def check_label(name: str, label: Any) -> Any:
    """Accept one label or None; numbers of numpy become those of Python."""
    if np.ndim(label) != 0 or isinstance(label, dict | set | frozenset):
        raise fail(name, "be one label, or None", repr(label))
    return label.item() if isinstance(label, np.generic | np.ndarray) else label


def check_workers(n_jobs: Any, verbose: Any) -> Workers:
    """Accept how many workers there may be, and whether progress is shown."""
    return Workers(check_n_jobs(n_jobs), check_verbose(verbose))


def check_n_jobs(n_jobs: Any) -> int | None:
    """Accept None or an integer that is not 0."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, Integral) and not _is_bool(n_jobs) and n_jobs != 0:
        return int(n_jobs)
    must = "be None or an integer that is not 0"
    advice = "Use n_jobs=-1 for all processors."
    raise fail("n_jobs", must, repr(n_jobs), advice)


def check_verbose(verbose: Any) -> int | None:
    """Accept None (see `skboot._base.workers.Progress`), a bool, or an integer of at least 0."""
    if verbose is None:
        return None
    if isinstance(verbose, Integral | np.bool_) and int(verbose) >= 0:
        return int(verbose)
    must = "be None, a bool or an integer of at least 0"
    raise fail("verbose", must, repr(verbose), "Use verbose=1 to see the progress.")


def check_folder(memory: Any) -> None:
    """Accept None or the path of a folder."""
    if memory is None or isinstance(memory, str | os.PathLike):
        return
    must = "be None or the path of a folder"
    advice = "Use memory='runs': each run is stored there in one file."
    raise fail("memory", must, repr(memory), advice)


def is_among(value: Any, known: Sequence[Any]) -> bool:
    """Return whether a value is one of those known; what cannot be compared is none of them."""
    try:
        return bool(value in known)
    except (TypeError, ValueError):
        return False


def check_choice(name: str, value: Any, known: Sequence[str]) -> str:
    """Accept one of the known names."""
    if isinstance(value, str) and value in known:
        return value
    near = difflib.get_close_matches(str(value).lower(), known, 1)
    advice = f"Did you mean {near[0]!r}?" if near else ""
    raise fail(name, f"be one of {sorted(known)}", repr(value), advice)


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


def check_rows(name: str, values: ArrayLike) -> NDArray[Any]:
    """Convert to a one- or two-dimensional array without missing values."""
    return _checked_rows(name, converted(name, values))


def check_rows_of_each(name: str, values: Iterable[Any]) -> list[NDArray[Any]]:
    """Convert each of several columns as `check_answers` does; messages give its number."""
    arrays: list[NDArray[Any]] = []
    try:
        arrays.extend(as_array(one) for one in values)
    except Unusable as error:
        raise fail(f"{name}[{len(arrays)}]", error.must, error.got, error.advice) from None
    return [_shaped_rows(f"{name}[{k}]", array) for k, array in enumerate(arrays)]


def _checked_rows(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of one or two dimensions without missing values; one column is flattened."""
    array = _shaped_rows(name, array)
    check_no_missing(name, array)
    return array


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


def check_column(name: str, values: ArrayLike, advice: str = "") -> NDArray[Any]:
    """Convert to a one-dimensional array without missing values; ``advice`` is on other shapes."""
    column = check_rows(name, values)
    if column.ndim != 1:
        raise fail(name, "be of shape (n_samples,)", f"shape {column.shape}", advice)
    return column


def check_names(name: str, values: Any, advice: str = "") -> NDArray[Any]:
    """Convert as `check_column` does; tuples in a list are names, each of its row."""
    is_list = isinstance(values, list | tuple)
    if is_list and all(isinstance(own, tuple) and len(own) > 1 for own in values):
        plain = [
            [one.item() if isinstance(one, np.generic) else one for one in own] for own in values
        ]
        values = objects_of(list(map(tuple, plain)))
    return check_column(name, values, advice)


def check_answers(name: str, values: Any) -> NDArray[Any]:
    """Convert as `check_rows` does; rows of any shape or length, and missing ones, are kept.

    Callables may take them; other metrics refuse them by `check_no_missing`.
    """
    if _is_ragged(values):
        return objects_of(values)
    array = converted(name, values)
    return array if array.ndim > 2 and array.size else _shaped_rows(name, array)


def _is_ragged(values: Any) -> bool:
    """Whether a list holds sequences of several lengths, or arrays of several shapes."""
    if not isinstance(values, list | tuple) or not all(map(is_sequence, values)):
        return False
    return len({own.shape if isinstance(own, np.ndarray) else len(own) for own in values}) > 1


def converted(name: str, values: Any) -> NDArray[Any]:
    """Convert to an array that holds the same values, of any shape."""
    try:
        refuse_other_things(name, values)
        return as_array(values)
    except Unusable as error:
        raise fail(name, error.must, error.got, error.advice) from None


def check_readable(name: str, values: Any) -> None:
    """Refuse masked values, below which other functions would read the data, and queries."""
    if isinstance(values, np.ma.MaskedArray) or is_query(values):
        converted(name, values)


def missing_rows(array: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Which values are NaN, infinite or None, in the shape of the array; None where none is."""
    if array.dtype.kind in "iubSUV":
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


def check_no_missing(name: str, array: NDArray[Any], advice: str = "") -> None:
    """Refuse NaN, infinities and None; of records in each field."""
    for field in array.dtype.names or ():
        check_no_missing(name, array[field], advice)
    bad = missing_rows(array)
    if bad is not None:
        row = int(np.argwhere(bad)[0][0])
        raise fail(
            name,
            "not contain NaN, infinity or None",
            f"{bad.sum()} such value{'s' if bad.sum() > 1 else ''}, the first in row {row}",
            advice
            or "Remove these rows from every argument, or say what the system predicts for them.",
        )


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
    first = next(iter(lengths))
    for name, length in lengths.items():
        if length != lengths[first]:
            turned = any(
                np.shape(columns[one])[1:] == (lengths[other],)
                for one, other in ((name, first), (first, name))
            )
            raise fail(
                name,
                f"have as many rows as {first!r}",
                f"{length} rows and {lengths[first]} rows",
                OF_SEVERAL if turned else "Row order is what pairs them; an index is never used.",
            )
    return lengths[first]


def check_weights(sample_weight: ArrayLike | None) -> NDArray[np.float64] | None:
    """Accept finite weights that are not negative and not all zero."""
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
    return _ordinary(weights.astype(np.float64))


def unequal(weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Return weights that differ; None of equal ones, since their scale changes nothing."""
    return None if weights is None or weights.min() == weights.max() else weights


def _ordinary(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights, times a power of two if they are far from 1: their scale changes no metric."""
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


def check_groups(groups: ArrayLike) -> NDArray[np.intp]:
    """Number the groups: (n_samples,) to codes from 0."""
    return _coded_groups("groups", check_rows("groups", groups), "group")


def check_pairs(groups: NDArray[Any], same_population: bool) -> NDArray[np.int32]:
    """Number the members of two crossed columns, (n_samples, 2); jointly for one population."""
    if groups.shape[1] != 2:
        raise fail(
            "groups",
            "be of shape (n_samples,), or (n_samples, 2) for crossed groups",
            f"shape {groups.shape}",
        )
    if same_population:
        joint = _coded_groups("groups", groups.ravel(), "member")
        return joint.reshape(groups.shape).astype(np.int32)
    # Members are few and pairs are many, so that narrow numbers halve the memory of pairs.
    columns = np.empty(groups.shape, dtype=np.int32)
    for k, column in enumerate(groups.T):
        columns[:, k] = _coded_groups("groups", column, "member")
    return columns


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


AS_INDICATORS = (
    "Make columns of 0 and 1 from sets of labels by sklearn.preprocessing.MultiLabelBinarizer."
)


def numbered_labels(
    name: str, labels: NDArray[Any], noun: str = "label"
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The same as `numbered`, after a check that the labels are of one type."""
    try:
        if labels.dtype.kind == "O":
            # Lists can be sorted but not hashed, and are refused as labels.
            n_distinct = len(set(labels.ravel().tolist()))
        distinct, codes = numbered(labels)
        if labels.dtype.kind == "O" and not _rise(distinct, n_distinct):
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


def _rise(distinct: NDArray[Any], n_distinct: int) -> bool:
    """Whether sorted labels are as many as differ, and each is greater than the one before it."""
    rising = all(bool(a < b) for a, b in pairwise(distinct))
    return rising and len(distinct) == n_distinct


def check_labels(labels: ArrayLike | None, truth: NDArray[Any] | None) -> NDArray[Any] | None:
    """Accept the labels of columns of probabilities, each once, beside a truth of one column."""
    if labels is None:
        return None
    if truth is not None and not is_column(truth):
        must = "be None with a y_true of several columns"
        advice = "They name the columns of probabilities of classes; for columns of outputs, none."
        raise fail("labels", must, "labels", advice)
    known = check_rows("labels", labels)
    if known.ndim != 1:
        raise fail("labels", "be of shape (n_classes,)", f"shape {known.shape}")
    distinct = numbered_labels("labels", known)[0]
    if len(distinct) < len(known):
        raise fail("labels", "hold each label once", f"{known.tolist()}")
    return known if truth is None else check_integers("labels", truth, known)[1]


def check_integers(
    name: str, truth: NDArray[Any], other: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give integers of two columns one type: numpy compares signed with unsigned as floats."""
    kinds = truth.dtype.kind + other.dtype.kind
    if "u" not in kinds or truth.dtype == other.dtype or not set(kinds) <= set("biu"):
        return truth, other
    if np.uint64 not in (truth.dtype, other.dtype):
        return truth, other
    if min(int(truth.min()), int(other.min())) < 0:
        must = "hold integers that fit into one type of 64 bits with those of y_true"
        got = "integers above 2**63 - 1 beside negative ones"
        raise fail(name, must, got, "Give both as text, or scores as floats.")
    return truth.astype(np.uint64), other.astype(np.uint64)


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
    if np.any(low != high):
        raise fail(
            "strata",
            "be the same for all rows of a group",
            f"{int(np.sum(low != high))} groups that lie in several strata",
            "Units are resampled within strata, so a group must lie in one stratum.",
        )
    return codes


def check_resamples(resamples: Any, n_samples: int) -> Sequence[NDArray[np.integer]]:
    """Accept 0-based row indices of shape (n_resamples, n_samples), or a list of any numbers."""
    is_list = isinstance(resamples, list | tuple)
    if is_list and resamples and all(isinstance(own, tuple) and len(own) == 2 for own in resamples):
        must = "be rows of each resample, copies included"
        advice = (
            "These are splits to train on, not rows to score: scores of cross-validation go to "
            "skboot.model_selection.corrected_t."
        )
        raise fail("resamples", must, "pairs of train and test rows", advice)
    if is_list and len(resamples) > 1 and _are_of_rows(resamples):
        return [_checked_rows_of(k, own, n_samples) for k, own in enumerate(resamples)]
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


def _are_of_rows(resamples: Sequence[Any]) -> bool:
    """Whether a list holds the rows of each resample: arrays, or lists of unequal lengths."""
    are_arrays = all(isinstance(own, np.ndarray) for own in resamples)
    return are_arrays or len({np.size(own) for own in resamples}) > 1


def _checked_rows_of(k: int, rows: ArrayLike, n_samples: int) -> NDArray[np.integer]:
    """Accept the rows of one resample, in any number."""
    indices = converted(f"resamples[{k}]", rows)
    if indices.ndim != 1 or not len(indices) or indices.dtype.kind not in "iu":
        must = "be integer row indices, one or more"
        raise fail(f"resamples[{k}]", must, f"{indices.dtype} of shape {indices.shape}")
    _check_row_numbers(indices, n_samples)
    return indices


def _check_row_numbers(indices: NDArray[Any], n_samples: int) -> None:
    """Refuse numbers of rows that there are not."""
    if indices.min() < 0 or indices.max() >= n_samples:
        must = f"be row indices from 0 to {n_samples - 1}"
        got = f"values from {indices.min()} to {indices.max()}"
        raise fail("resamples", must, got, "R counts from 1: subtract 1.")
