"""Metrics that return several numbers: a statistic for each, from one call of the function.

A callable that returns a 1-d array, a list or a dict is called once a resample, whatever the
number of its entries: each entry is a statistic of its own, and all of them read what the call
returned. Metrics of single classes, ``average=None`` of scikit-learn, become the metric of each
class where that has a way of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.checks import fail
from .._base.values import content_of
from .adapters import LibraryCallable
from .cells import SharedCells, label_counts
from .lookup import asks_for_several, metric_of_class, metric_of_column
from .responses import check_response
from .statistic import CallableStatistic, Columns, Floats, NotANumber, Statistic, as_number

# Maximum number of calls whose numbers wait for their entries. Runs of one method are evaluated
# entry by entry, so that all resamples of all runs wait: 100 runs of 1999 resamples.
_MOST_WAITING = 1 << 18


_LACKING = (
    "A resample can lack a class or a group: have the function return an entry for each of them "
    "all the same, NaN where it is undefined, as with labels= in metrics of scikit-learn"
)
_OF_ROWS = "Values of rows are no metric: give them as predictions, with metric='mean'. "


class OtherEntries(TypeError):
    """A function returned other entries than on the data."""


class Calls:
    """The calls of a function that returns several numbers, each made once for all entries.

    Parameters
    ----------
    names : sequence
        Of the entries, as the function returned them on the data.

    Notes
    -----
    Entries are evaluated one after the other, on the same resamples. What a call returned waits
    until each entry has read its number, by the content of the data and the rows of the resample.
    """

    def __init__(self, names: Sequence[Any]) -> None:
        self.names = tuple(names)
        self._waiting: dict[Any, list[Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        # A worker has calls of its own.
        return {"names": self.names, "_waiting": {}}

    def number(self, call: partial[Any], place: int) -> float:
        """Return the number of an entry, from a call of the function on some rows."""
        key = _key(call)
        found = self._waiting.get(key)
        if found is None:
            found = self._kept(key, call())
        found[1] -= 1
        if found[1] == 0:
            self._waiting.pop(key, None)
        return float(found[0][place])

    def know(self, call: partial[Any], returned: Any) -> None:
        """Take what a call has returned already."""
        self._kept(_key(call), returned)

    def _kept(self, key: Any, returned: Any) -> list[Any]:
        """Keep the numbers of a call, with how often they will be read."""
        if len(self._waiting) >= _MOST_WAITING:
            self._waiting.clear()
        self._waiting[key] = [self._numbers(returned), len(self.names)]
        return self._waiting[key]

    def _numbers(self, returned: Any) -> Floats:
        """Return the numbers of the entries; NaN for each where the whole is NaN."""
        entries = entries_of(returned)
        if entries is None and np.isnan(number := as_number(returned)):
            return np.full(len(self.names), number)
        names = () if entries is None else tuple(entries)
        if entries is None or set(names) != set(self.names) or len(names) != len(self.names):
            of_rows = _OF_ROWS if _are_numbered(names) and _are_numbered(self.names) else ""
            raise OtherEntries(
                f"it returned {_listed(names)}, and on the data {_listed(self.names)}. "
                f"{of_rows}{_LACKING}"
            )
        return np.array([as_number(entries[name]) for name in self.names])


@dataclass(frozen=True)
class Entry:
    """One of the numbers that a function returns.

    Attributes
    ----------
    place : int
        Its place among them.
    calls : Calls
        Of the function, which all entries share.
    """

    place: int
    calls: Calls

    def number(self, call: partial[Any]) -> float:
        """Return the number, from a call of the function on some rows."""
        return self.calls.number(call, self.place)


class CalledOnData:
    """A function that was called on the data already: that call is not made again.

    Parameters
    ----------
    function : callable
        The function.
    call : partial
        Of it on the data.
    returned : object
        What that call returned.
    """

    def __init__(self, function: Any, call: partial[Any], returned: Any) -> None:
        self.function = function
        self._known: Any = (_content(call), returned)

    def __call__(self, *columns: Any, **weights: Any) -> Any:
        # The data come first, and if not these they do not come again.
        known, self._known = self._known, None
        if known is not None and known[0] == content_of((*columns, *weights.values())):
            return known[1]
        return self.function(*columns, **weights)


class Found(NamedTuple):
    """Statistics by name, and where their results belong.

    Attributes
    ----------
    statistics : dict of str to list of Statistic
        By the name of the metric, or of an entry of it; one for each array of predictions.
    paths : dict of str to tuple
        Keys of the result of each: the metric, and the entry of a metric with several.
    columns : dict of str to list of tuple (ndarray, ndarray)
        Truth and predictions of entries that are of one column, in the place of those of the call.
    """

    statistics: dict[str, list[Statistic]]
    paths: dict[str, tuple[Any, ...]]
    columns: dict[str, list[tuple[NDArray[Any], NDArray[Any]]]]


def each_entry(
    statistics: Mapping[str, Sequence[Statistic]],
    columns: Mapping[str, Sequence[Columns]],
) -> Found:
    """Return a statistic for each number that a metric returns.

    Parameters
    ----------
    statistics : mapping of str to sequence of Statistic
        By metric, one for each array of predictions, checked against it.
    columns : mapping of str to sequence of tuple of arrays
        Truth, predictions and weights by metric, one for each array of predictions.

    Returns
    -------
    Found
        Metrics of one number as they are.
    """
    found = Found({}, {}, {})
    for name, own in statistics.items():
        read = columns[name]
        of_columns = _of_columns(own, read)
        entries: Any = {key: [one for one, *_ in each] for key, each in of_columns.items()}
        entries = entries or _of_classes(own, read) or _of_calls(own, read)
        if isinstance(entries, list):
            found.statistics[name], found.paths[name] = entries, (name,)
            continue
        for key, many in entries.items():
            # Keys of a dict are names; a number or a class says little without the metric.
            plain = isinstance(key, str) and key not in found.paths and key not in statistics
            flat = key if plain and not _has_classes(own[0]) else f"{name} ({key})"
            found.statistics[flat] = [replace(each, name=flat) for each in many]
            found.paths[flat] = (name, key)
            if key in of_columns:
                found.columns[flat] = [tuple(two) for _, *two in of_columns[key]]  # type: ignore[misc]
    return found


def entries_of(returned: Any) -> dict[Any, Any] | None:
    """Return what a function returned by name or index; None where it is no array, list or dict."""
    if isinstance(returned, Mapping):
        return dict(returned)
    if isinstance(returned, list):
        return dict(enumerate(returned))
    if getattr(returned, "ndim", 0) != 1:
        return None
    if hasattr(returned, "to_dict"):
        return dict(returned.to_dict())
    return dict(enumerate(np.asarray(returned).tolist()))


def _key(call: partial[Any]) -> Any:
    """Return what a call of a function on some rows of some data is known by."""
    return call.func.__name__, _content(call), len(call.args[1]), hash(call.args[1].tobytes())


def _content(call: partial[Any]) -> Any:
    """Return what the data of a call are known by."""
    data = call.args[0]
    return data.get("content") or content_of(
        (data["y_true"], data["y_pred"], data["sample_weight"])
    )


def _are_numbered(names: tuple[Any, ...]) -> bool:
    """Whether entries are those of an array, or list."""
    return names == tuple(range(len(names)))


def _listed(names: Sequence[Any], most: int = 6) -> str:
    if not names:
        return "one number or none"
    shown = ", ".join(repr(name) for name in names[:most])
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return f"{len(names)} entries ({shown}{more})"


# ------------------------------------------------------------------ any function


def _of_calls(
    statistics: Sequence[Statistic], columns: Sequence[Columns]
) -> dict[Any, list[Statistic]] | list[Statistic]:
    """Return the statistics of each entry that the function returns, or those of its one number.

    What the function returns on the data decides.
    """
    first, others = statistics[0], list(statistics[1:])
    if not isinstance(first, CallableStatistic) or _is_of_one_number(first):
        return [first, *others]
    call, returned = first.returned(first.reduce(*columns[0]))
    entries = entries_of(returned)
    if returned is None:
        return [first, *others]
    if entries is None and asks_for_several(_options(first)) and first.pos_label is None:
        # Of two classes, or one column, options of several say nothing.
        alone = metric_of_column(first)
        if alone is not None:
            return [check_response(alone, truth, predicted) for truth, predicted, _ in columns]
    if entries is None:
        once = CalledOnData(first.function, call, returned)
        return [replace(first, function=once), *others]
    _check_entries(entries, first.name)
    names = list(entries)
    if _has_classes(first) and names == list(range(len(_labels(first, columns)))):
        names = _labels(first, columns).tolist()
    calls = Calls(list(entries))
    calls.know(call, returned)
    return {
        name: [replace(one, entry=Entry(place, calls)) for one in statistics]  # type: ignore[type-var]
        for place, name in enumerate(names)
    }


def _check_entries(entries: Mapping[Any, Any], metric: str) -> None:
    """Refuse entries that are no numbers."""
    must = "return one real number, or several in a 1-d array or a dict, for the data"
    if not entries:
        raise fail("metric", must, f"nothing from {metric!r}")
    for name, value in entries.items():
        try:
            as_number(value)
        except NotANumber as error:
            got = f"{error.returned} for the entry {name!r} from {metric!r}"
            raise fail("metric", must, got) from error
    if len({str(name) for name in entries}) < len(entries):
        raise fail("metric", "return entries of different names", f"{list(entries)}")


# ------------------------------------------------------------------ single classes


def _is_of_one_number(statistic: CallableStatistic) -> bool:
    """Whether a metric is of scikit-learn, and not asked for single classes or outputs."""
    return bool(statistic.undefined) and not asks_for_several(_options(statistic))


def _has_classes(statistic: Statistic) -> bool:
    """Whether a metric of scikit-learn is asked for each class, by ``average=None``."""
    return isinstance(statistic, LibraryCallable) and _options(statistic).get("average", "") is None


def _options(statistic: CallableStatistic) -> Mapping[str, Any]:
    """Return the options of the function."""
    return statistic.function.keywords if isinstance(statistic.function, partial) else {}


def _labels(statistic: Any, columns: Sequence[Columns]) -> NDArray[Any]:
    """Return the classes that a metric of scikit-learn is asked for, in its order."""
    given = statistic.function.keywords.get("labels")
    if given is not None:
        return np.asarray(given)
    if statistic.response != "labels" and statistic.labels is not None:
        return np.sort(statistic.labels)
    # The systems of a call need not predict the same labels.
    occurring = [label_counts(truth)[0] for truth, _, _ in columns if truth is not None]
    if statistic.response == "labels":
        occurring += [label_counts(predicted)[0] for _, predicted, _ in columns]
    if statistic.labels is not None:
        occurring.append(np.asarray(statistic.labels))
    return np.unique(np.concatenate(occurring))


def _of_classes(
    statistics: Sequence[Statistic], columns: Sequence[Columns]
) -> dict[Any, list[Statistic]] | None:
    """Return the metric of each class, for metrics of labels; None for other metrics."""
    first = statistics[0]
    if not _has_classes(first) or first.response != "labels":
        return None
    found: dict[Any, list[Statistic]] = {}
    each = [(truth, predicted, SharedCells()) for truth, predicted, _ in columns]
    for label in _labels(first, columns).tolist():
        found[label] = [
            check_response(metric_of_class(first, label, cells), truth, predicted)
            for truth, predicted, cells in each
        ]
    return found


def _of_columns(
    statistics: Sequence[Statistic], columns: Sequence[Columns]
) -> dict[Any, list[tuple[Statistic, NDArray[Any], NDArray[Any]]]]:
    """Return the metric of each class, label or output by its column, with what it reads.

    Empty where the metric is not asked for each column, where a column has no way of its own, or
    where a class does not occur.
    """
    first = statistics[0]
    if not isinstance(first, LibraryCallable) or not asks_for_several(_options(first)):
        return {}
    if first.response == "labels" or "pos_label" in _options(first):
        return {}
    of_column = metric_of_column(first)
    found: dict[Any, list[tuple[Statistic, NDArray[Any], NDArray[Any]]]] = {}
    for one, (truth, predicted, _) in zip(statistics, columns, strict=True):
        if of_column is None or truth is None or predicted.ndim != 2:
            return {}
        names: Any = range(predicted.shape[1])
        if truth.ndim == 1:
            labels = one.labels
            names = (label_counts(truth)[0] if labels is None else np.asarray(labels)).tolist()
        if not 3 - truth.ndim < len(names) == predicted.shape[1] or predicted.dtype.hasobject:
            return {}
        for k, name in enumerate(names):
            own = truth[:, k] if truth.ndim == 2 else (truth == name).astype(np.intp)
            if first.response != "outputs" and own.min() == own.max():
                return {}
            checked = check_response(of_column, own, predicted[:, k])
            found.setdefault(name, []).append((checked, own, predicted[:, k]))
    order = sorted(found) if first.response == "scores" else found
    return {name: found[name] for name in order}
