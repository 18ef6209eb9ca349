"""Metrics of several columns: outputs, labels that a row has or lacks, entries of one call.

* Of real outputs a mean of losses is a mean over rows, of the mean loss of a row's outputs; roots
  of means and R2 are functions of sums of each output (`OutputAverage`).
* A function that returns several numbers is called once a resample, and each number is a statistic
  of its own (`each_entry`).
* Of label sets, precision and its like are averaged over labels (`LabelSetAverage`), pooled
  (`LabelSetRatio`), or averaged over rows; areas under curves are averaged over labels.
* How a row ranks its labels or items is a mean over rows.

Labels are those of the columns: none leaves an average because a resample lacks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._base.checks import fail
from .._base.errors import Note, tell
from .._base.values import content_of
from ._tuning import FIRST_LOOK, RANKED_AT_ONCE, ROWS_PER_MERGED_CODE, SPARSE_SHARE
from .callables import LibraryCallable
from .cells import SharedCells, label_counts
from .labels import (
    JACCARD,
    PRECISION,
    RECALL,
    SetAverage,
    SetFormula,
    SetRatio,
    f_beta,
)
from .lookup import asks_for_several, metric_of_class, metric_of_column
from .means import Coefficient, RowMean, SumsStatistic, about_mean, halved, in_ordinary_range
from .ranking import AveragePrecision, RocAuc
from .responses import check_response
from .statistic import (
    FAST_PATHS,
    CallableStatistic,
    Columns,
    Facts,
    Floats,
    MetricRequest,
    NotANumber,
    ReducedData,
    Response,
    Statistic,
    as_number,
    fast_path,
)


@dataclass(frozen=True, eq=False)
class OutputAverage(SumsStatistic):
    """A function of sums of each output, averaged over the outputs.

    Parameters
    ----------
    name : str
        How results call it.
    column : SumsStatistic
        The metric of one output.
    by_variance : bool
        Weigh an output by the variance of its truth; for coefficients of determination alone.
    """

    adds_by_row = True
    varies_smoothly = True

    name: str
    column: Any
    by_variance: bool = False
    response: Response = "outputs"

    def __post_init__(self) -> None:
        column = self.column
        self.set_facts(bounds=column.bounds, greater_is_better=column.greater_is_better)

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Terms of each output, side by side."""
        assert y_true is not None
        weights = np.ones(len(y_true)) if sample_weight is None else sample_weight
        truth, predicted = (np.asarray(y, dtype=np.float64) for y in (y_true, y_pred))
        reduce = self.column.reduce
        if self.by_variance:
            # Variances of outputs are compared, so that all have one scale.
            truth, predicted = in_ordinary_range(truth, predicted)
            reduce = self.column.reduce_scaled
        return _side_by_side(
            [reduce(*column, weights) for column in zip(truth.T, predicted.T, strict=True)]
        )

    def reduce_about(
        self, y_true: NDArray[Any], y_pred: NDArray[Any], origin: NDArray[Any]
    ) -> ReducedData:
        """Reduce each output about a point of its own; see `Statistic.reduce_about`."""
        columns = zip(y_true.T, y_pred.T, origin, strict=True)
        return _side_by_side([self.column.reduce_about(*column) for column in columns])

    def combine(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Average of the values of the outputs."""
        values, shares = self._values_and_shares(sums, reduced)
        with np.errstate(invalid="ignore"):
            mean: Floats = np.sum(values * shares, axis=0)
        return mean

    def gradient(self, sums: Floats, reduced: ReducedData) -> Floats:
        """Derivatives of each output's value times its share, and of the shares."""
        values, shares = self._values_and_shares(sums, reduced)
        by_output = np.split(sums, len(values), axis=1)
        gradients = [
            share[:, None] * self.column.gradient(part, output)
            for part, output, share in zip(by_output, reduced.data["outputs"], shares, strict=True)
        ]
        if self.by_variance:
            with np.errstate(invalid="ignore"):
                mean = np.sum(values * shares, axis=0)
            total = sum(map(_total, by_output))
            for k, part in enumerate(by_output):
                pull = np.divide(values[k] - mean, total, out=np.zeros_like(mean), where=total > 0)
                with np.errstate(invalid="ignore", divide="ignore"):
                    middle = part[:, 2] / part[:, 1]
                gradients[k][:, 1] += pull * middle**2
                gradients[k][:, 2] -= 2 * pull * middle
                gradients[k][:, 3] += pull
        return np.hstack(gradients)

    def _values_and_shares(self, sums: Floats, reduced: ReducedData) -> tuple[Floats, Floats]:
        """Value of each output and its share in the average, (n_outputs, n_resamples) each."""
        by_output = np.split(sums, len(reduced.data["outputs"]), axis=1)
        outputs = zip(by_output, reduced.data["outputs"], strict=True)
        values = np.array([self.column.combine(part, output) for part, output in outputs])
        shares = np.full(values.shape, 1 / len(values))
        if self.by_variance:
            totals = np.array([_total(part) for part in by_output])
            # Where no truth varies all outputs count the same, as in scikit-learn.
            totals_of_all = totals.sum(axis=0)
            np.divide(totals, totals_of_all, out=shares, where=totals_of_all > 0)
        return values, shares

    def facts(
        self, reduced: ReducedData, rows: Columns, members: NDArray[Any] | None = None
    ) -> Facts:
        """Facts of any metric, and the largest share of the losses that one row carries."""
        outputs = reduced.data["outputs"]
        shares = [self.column.largest_share(output) for output in outputs]
        positive_shares = [share for share in shares if share is not None]
        largest = sum(positive_shares) / len(outputs) if positive_shares else None
        return replace(super().facts(reduced, rows, members), largest_share=largest)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Average of the values of the best constants of the outputs."""
        y_true, y_pred, sample_weight = rows
        if y_true is None:
            return None
        columns = zip(y_true.T, y_pred.T, strict=True)
        values = [self.column.naive(None, (*column, sample_weight)) for column in columns]
        return None if None in values else float(np.mean(values))


def _side_by_side(outputs: list[ReducedData]) -> ReducedData:
    terms = np.hstack([reduced.terms for reduced in outputs])
    return ReducedData(None, len(terms), terms, MappingProxyType({"outputs": outputs}))


def _total(sums: Floats) -> Floats:
    """Sum of squares of the truth about its mean, from the sums of `Coefficient`."""
    with np.errstate(invalid="ignore", divide="ignore"):
        total = about_mean(sums[:, 1], sums[:, 2], sums[:, 3])
    return np.nan_to_num(total)


def _mean_over_outputs(
    y_true: NDArray[Any], y_pred: NDArray[Any], *, loss: Any, weights: Any
) -> Floats:
    return np.asarray(np.average(loss(y_true, y_pred), axis=1, weights=weights))


def _constant_of_outputs(
    y_true: NDArray[Any], sample_weight: Floats | None, *, constant: Any, weights: Any
) -> float:
    return float(
        np.average([constant(column, sample_weight) for column in y_true.T], weights=weights)
    )


def _averaged(request: MetricRequest, column: Any, multioutput: Any) -> Any:
    """The metric of one output, averaged over outputs; other averages are left to the function."""
    weights = None
    is_mean = isinstance(column, RowMean) and not column.root
    by_variance = isinstance(column, Coefficient) and isinstance(multioutput, str)
    by_variance = by_variance and multioutput == "variance_weighted"
    if not isinstance(multioutput, str):
        weights = np.asarray(multioutput)
        if not is_mean or weights.ndim != 1 or weights.dtype.kind not in "iuf":
            return None
    elif not by_variance and multioutput != "uniform_average":
        return None
    if not is_mean:
        return OutputAverage(request.name, column, by_variance)
    return replace(
        column,
        response="outputs",
        row_values=partial(_mean_over_outputs, loss=column.row_values, weights=weights),
        constant=partial(_constant_of_outputs, constant=column.constant, weights=weights),
    )


fast_path(
    "mean_squared_error",
    "mean_squared_log_error",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    response="outputs",
    several_outputs=True,
)(
    lambda request, *, multioutput="uniform_average": _averaged(
        request, FAST_PATHS[request.function_name](request), multioutput
    )
)
fast_path("mean_pinball_loss", response="outputs", several_outputs=True)(
    lambda request, *, alpha=0.5, multioutput="uniform_average": _averaged(
        request, FAST_PATHS["mean_pinball_loss"](request, alpha=alpha), multioutput
    )
)
fast_path("r2_score", response="outputs", several_outputs=True)(
    lambda request, *, force_finite=True, multioutput="uniform_average": _averaged(
        request, Coefficient(request.name, False, force_finite), multioutput
    )
)
fast_path("explained_variance_score", response="outputs", several_outputs=True)(
    lambda request, *, force_finite=True, multioutput="uniform_average": _averaged(
        request, Coefficient(request.name, True, force_finite), multioutput
    )
)


# ------------------------------------------------------------------ several numbers of one call


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
        Names of the entries, as the function returned them on the data.

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
        numbers = self._waiting.get(key)
        if numbers is None:
            numbers = self.know(call, call())
        numbers[1] -= 1
        if numbers[1] == 0:
            self._waiting.pop(key, None)
        return float(numbers[0][place])

    def know(self, call: partial[Any], returned: Any) -> list[Any]:
        """Keep the numbers that a call has returned, with how often they will be read.

        Each is NaN where the whole is NaN.
        """
        entries = entries_of(returned)
        if entries is None and np.isnan(number := as_number(returned)):
            numbers = np.full(len(self.names), number)
        else:
            names = () if entries is None else tuple(entries)
            if entries is None or set(names) != set(self.names) or len(names) != len(self.names):
                advice_on_rows = (
                    _OF_ROWS if _are_numbered(names) and _are_numbered(self.names) else ""
                )
                raise OtherEntries(
                    f"it returned {_listed(names)}, and on the data {_listed(self.names)}. "
                    f"{advice_on_rows}{_LACKING}"
                )
            numbers = np.array([as_number(entries[name]) for name in self.names])
        if len(self._waiting) >= _MOST_WAITING:
            self._waiting.clear()
        key = _key(call)
        self._waiting[key] = [numbers, len(self.names)]
        return self._waiting[key]


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
        answer, self._known = self._known, None
        if answer is not None and answer[0] == content_of((*columns, *weights.values())):
            return answer[1]
        return self.function(*columns, **weights)


class EntryStatistics(NamedTuple):
    """Statistics by name, and where their results belong.

    Attributes
    ----------
    statistics : dict of str to list of Statistic
        Statistics by the name of the metric, or of an entry of it; one for each array of
        predictions.
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
) -> EntryStatistics:
    """Return a statistic for each number that a metric returns.

    Parameters
    ----------
    statistics : mapping of str to sequence of Statistic
        Statistics by metric, one for each array of predictions, checked against it.
    columns : mapping of str to sequence of tuple of arrays
        Truth, predictions and weights by metric, one for each array of predictions.

    Returns
    -------
    EntryStatistics
        Metrics of one number as they are.
    """
    results = EntryStatistics({}, {}, {})
    for name, metrics in statistics.items():
        read = columns[name]
        column_entries = _entries_of_columns(metrics, read)
        entries: Any = {
            key: [read[0] for read in systems] for key, systems in column_entries.items()
        }
        entries = entries or _entries_of_classes(metrics, read) or _entries_of_calls(metrics, read)
        if isinstance(entries, list):
            results.statistics[name], results.paths[name] = entries, (name,)
            continue
        for key, entry_statistics in entries.items():
            # Keys of a dict are names; a number or a class says little without the metric.
            plain = isinstance(key, str) and key not in results.paths and key not in statistics
            flat = key if plain and not _has_classes(metrics[0]) else f"{name} ({key})"
            results.statistics[flat] = [
                replace(statistic, name=flat) for statistic in entry_statistics
            ]
            results.paths[flat] = (name, key)
            if key in column_entries:
                results.columns[flat] = [tuple(two) for _, *two in column_entries[key]]  # type: ignore[misc]
    return results


def entries_of(returned: Any) -> dict[Any, Any] | None:
    """Return the values of a function by name or index; None of no array, list or dict."""
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
    """Return the key of a call of a function on some rows of some data."""
    return call.func.__name__, _content(call), len(call.args[1]), hash(call.args[1].tobytes())


def _content(call: partial[Any]) -> Any:
    """Return the key of the data of a call."""
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


def _entries_of_calls(
    statistics: Sequence[Statistic], columns: Sequence[Columns]
) -> dict[Any, list[Statistic]] | list[Statistic]:
    """Return the statistics of each entry that the function returns, or those of its one number.

    What the function returns on the data decides.
    """
    metric, more = statistics[0], list(statistics[1:])
    if not isinstance(metric, CallableStatistic):
        return [metric, *more]
    if metric.undefined and not asks_for_several(_options(metric)):
        # Of scikit-learn, and asked for no single classes or outputs.
        return [metric, *more]
    call, returned = metric.returned(metric.reduce(*columns[0]))
    entries = entries_of(returned)
    if returned is None:
        return [metric, *more]
    if entries is None and asks_for_several(_options(metric)) and metric.pos_label is None:
        # Of two classes, or one column, options of several say nothing.
        alone = metric_of_column(metric)
        if alone is not None:
            return [check_response(alone, truth, predicted) for truth, predicted, _ in columns]
    if entries is None:
        once = CalledOnData(metric.function, call, returned)
        return [replace(metric, function=once), *more]
    must = "return one real number, or several in a 1-d array or a dict, for the data"
    if not entries:
        raise fail("metric", must, f"nothing from {metric.name!r}")
    for name, value in entries.items():
        try:
            as_number(value)
        except NotANumber as error:
            got = f"{error.returned} for the entry {name!r} from {metric.name!r}"
            raise fail("metric", must, got) from error
    if len({str(name) for name in entries}) < len(entries):
        raise fail("metric", "return entries of different names", f"{list(entries)}")
    names = list(entries)
    if _has_classes(metric) and names == list(range(len(_labels(metric, columns)))):
        names = _labels(metric, columns).tolist()
    calls = Calls(list(entries))
    calls.know(call, returned)
    callables: Any = statistics
    return {
        name: [replace(item, entry=partial(calls.number, place=place)) for item in callables]
        for place, name in enumerate(names)
    }


def _has_classes(statistic: Statistic) -> bool:
    """Whether a metric of scikit-learn is asked for each class, by ``average=None``."""
    return isinstance(statistic, LibraryCallable) and _options(statistic).get("average", "") is None


def _options(statistic: CallableStatistic) -> Mapping[str, Any]:
    """Return the options of the function."""
    return statistic.function.keywords if isinstance(statistic.function, partial) else {}


def _labels(statistic: Any, columns: Sequence[Columns]) -> NDArray[Any]:
    """Return the classes that a metric of scikit-learn is asked for, in its order."""
    labels = statistic.function.keywords.get("labels")
    if labels is not None:
        return np.asarray(labels)
    if statistic.response != "labels" and statistic.labels is not None:
        return np.sort(statistic.labels)
    # The systems of a call need not predict the same labels.
    occurring = [label_counts(truth)[0] for truth, _, _ in columns if truth is not None]
    if statistic.response == "labels":
        occurring += [label_counts(predicted)[0] for _, predicted, _ in columns]
    if statistic.labels is not None:
        occurring.append(np.asarray(statistic.labels))
    return np.unique(np.concatenate(occurring))


def _entries_of_classes(
    statistics: Sequence[Statistic], columns: Sequence[Columns]
) -> dict[Any, list[Statistic]] | None:
    """Return the metric of each class, for metrics of labels; None for other metrics."""
    metric = statistics[0]
    if not _has_classes(metric) or metric.response != "labels":
        return None
    by_label: dict[Any, list[Statistic]] = {}
    systems = [(truth, predicted, SharedCells()) for truth, predicted, _ in columns]
    for label in _labels(metric, columns).tolist():
        by_label[label] = [
            check_response(metric_of_class(metric, label, shared_cells), truth, predicted)
            for truth, predicted, shared_cells in systems
        ]
    return by_label


def _entries_of_columns(
    statistics: Sequence[Statistic], columns: Sequence[Columns]
) -> dict[Any, list[tuple[Statistic, NDArray[Any], NDArray[Any]]]]:
    """Return the metric of each class, label or output by its column, with what it reads.

    Empty where the metric is not asked for each column, where a column has no way of its own, or
    where a class does not occur.
    """
    metric = statistics[0]
    if not isinstance(metric, LibraryCallable) or not asks_for_several(_options(metric)):
        return {}
    if metric.response == "labels" or "pos_label" in _options(metric):
        return {}
    column_metric = metric_of_column(metric)
    entries: dict[Any, list[tuple[Statistic, NDArray[Any], NDArray[Any]]]] = {}
    for statistic, (truth, predicted, _) in zip(statistics, columns, strict=True):
        if column_metric is None or truth is None or predicted.ndim != 2:
            return {}
        names: Any = range(predicted.shape[1])
        if truth.ndim == 1:
            labels = statistic.labels
            names = (label_counts(truth)[0] if labels is None else np.asarray(labels)).tolist()
        if not 3 - truth.ndim < len(names) == predicted.shape[1] or predicted.dtype.hasobject:
            return {}
        for k, name in enumerate(names):
            target = truth[:, k] if truth.ndim == 2 else (truth == name).astype(np.intp)
            if metric.response != "outputs" and target.min() == target.max():
                return {}
            checked = check_response(column_metric, target, predicted[:, k])
            entries.setdefault(name, []).append((checked, target, predicted[:, k]))
    order = sorted(entries) if metric.response == "scores" else entries
    return {name: entries[name] for name in order}


# ------------------------------------------------------------------ label sets


Flags = NDArray[np.bool_]


class LabelSetAverage(SetAverage):
    """Precision, recall, F-beta or Jaccard of each label, averaged over the labels."""

    response: Response = "indicators"

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Terms: row; hits, true and predicted members of each label."""
        truth, decision = _sets(y_true, y_pred, self.classes)
        flags = np.hstack((np.ones((len(truth), 1), bool), truth & decision, truth, decision))
        # The hits follow from the others.
        key = None if sample_weight is not None else _bits(flags[:, 1 + truth.shape[1] :])
        sizes = truth.sum(axis=0)
        columns = np.arange(len(sizes)) if self.classes is None else self.classes
        counted = {
            "truth_counts": (columns, sizes),
            "decision_counts": (columns, decision.sum(axis=0)),
        }
        return _reduce_by_keys(flags, key, sample_weight, counted)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Value where each label is always decided, or never, whichever is better."""
        share = _shares(rows, self.classes)
        if share is None:
            return None
        always, never = (
            _ratio(self.ratio, hits, share, decided, self.zero_division)
            for hits, decided in ((share, 1.0), (0.0, 0.0))
        )
        values = np.fmax(always, never)
        weight = np.where(np.isnan(values), 0.0, share if self.weighted and share.any() else 1.0)
        return float(np.nansum(weight * values) / weight.sum()) if weight.any() else None

    def _occur(self, row_sums: Floats) -> Any:
        """Every label is in the average, whatever the resample."""
        return True


class LabelSetRatio(SetRatio):
    """Precision, recall, F-beta or Jaccard of all labels pooled."""

    response: Response = "indicators"

    def reduce(
        self, y_true: NDArray[Any] | None, y_pred: NDArray[Any], sample_weight: Floats | None
    ) -> ReducedData:
        """Terms: row, numerator, denominator."""
        assert y_true is not None
        hits, true, predicted = _sizes_of_rows(y_true, y_pred, self.classes)
        above, below = _sides(self.ratio, hits, true, predicted)
        key = None
        if sample_weight is None:
            n = y_true.shape[1] + 1
            key = (hits * n + true) * n + predicted
        terms = np.column_stack((np.ones(len(hits)), above, below))
        observed = {} if sample_weight is not None else {"observed": terms.sum(axis=0)}
        return _reduce_by_keys(terms, key, sample_weight, observed)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """Value of the best set that is always decided: the most frequent labels, of some number.

        Of two sets of one size, the one whose labels are more frequent has more hits.
        """
        share = _shares(rows, self.classes)
        if share is None:
            return None
        hits = np.append(0.0, np.cumsum(np.sort(share)[::-1]))
        values = _ratio(self.ratio, hits, share.sum(), np.arange(len(hits)), self.zero_division)
        return None if np.isnan(values).all() else float(np.nanmax(values))


def _sets(
    y_true: NDArray[Any] | None, y_pred: NDArray[Any], columns: NDArray[Any] | None
) -> tuple[Flags, Flags]:
    """Whether each row has each label, and whether that is decided, (n_samples, n_labels)."""
    assert y_true is not None
    if columns is not None:
        n = y_true.shape[1]
        if columns.min() < 0 or columns.max() >= n:
            must = f"have labels= that are numbers of columns, from 0 to {n - 1}"
            raise fail("metric", must, f"labels={columns.tolist()}")
        y_true, y_pred = y_true[:, columns], y_pred[:, columns]
    return y_true == 1, y_pred == 1


def _sizes_of_rows(
    y_true: NDArray[Any], y_pred: NDArray[Any], columns: NDArray[Any] | None
) -> list[NDArray[np.intp]]:
    """Hits, true and decided labels of each row."""
    truth, decision = _sets(y_true, y_pred, columns)
    return [np.count_nonzero(flags, axis=1) for flags in (truth & decision, truth, decision)]


def _shares(rows: Columns, columns: NDArray[Any] | None) -> Floats | None:
    """Share of the rows, by their weights, that have each label."""
    y_true, _, sample_weight = rows
    if y_true is None or (sample_weight is not None and not sample_weight.any()):
        return None
    truth, _ = _sets(y_true, y_true, columns)
    return np.asarray(np.average(truth, axis=0, weights=sample_weight))


def _sides(ratio: SetFormula, hits: Any, true: Any, predicted: Any) -> tuple[Any, Any]:
    """Numerator and denominator from the sizes of the sets."""
    below = ratio.by_tp * hits + ratio.by_true * true + ratio.by_predicted * predicted
    return ratio.of_tp * hits, below


def _ratio(ratio: SetFormula, hits: Any, true: Any, predicted: Any, undefined: float) -> Floats:
    above, below = np.broadcast_arrays(*_sides(ratio, hits, true, predicted))
    return np.divide(above, below, out=np.full(above.shape, float(undefined)), where=below > 0)


def _bits(flags: Flags) -> NDArray[Any]:
    """One value for each row of flags, equal for equal rows."""
    packed = np.ascontiguousarray(np.packbits(flags, axis=1))
    return packed.view(f"V{packed.shape[1]}").ravel()


def _reduce_by_keys(
    terms: NDArray[Any], key: NDArray[Any] | None, sample_weight: Floats | None, data: Any
) -> ReducedData:
    """Rows by what they add; those of equal keys share a code where they are many."""
    data = MappingProxyType({"n_terms": terms.shape[1], **data})
    n_rows = len(terms)
    if key is not None and len(np.unique(key[:FIRST_LOOK])) * ROWS_PER_MERGED_CODE <= n_rows:
        _, examples, code, counts = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        if len(examples) * ROWS_PER_MERGED_CODE <= n_rows:
            return ReducedData(
                code.ravel(), len(examples), _matrix(terms[examples], None), data, counts
            )
    return ReducedData(None, n_rows, _matrix(terms, sample_weight), data)


def _matrix(terms: NDArray[Any], weights: Floats | None) -> Any:
    """Terms times weights, sparse where most are 0."""
    if np.count_nonzero(terms) < SPARSE_SHARE * terms.size:
        entries = sparse.csr_matrix(terms, dtype=np.float64)
        return entries if weights is None else sparse.csr_matrix(entries.multiply(weights[:, None]))
    return terms.astype(np.float64) if weights is None else terms * weights[:, None]


def _whole_sets(y_true: NDArray[Any], y_pred: NDArray[Any], *, error: bool) -> Flags:
    """Whether all labels of each row are right, or one is wrong."""
    return np.asarray((y_true != y_pred).any(axis=1) if error else (y_true == y_pred).all(axis=1))


def _largest_set(y_true: NDArray[Any], sample_weight: Floats | None, *, error: bool) -> float:
    """Share of the rows that have the most frequent set of labels, or of all others."""
    set_numbers = np.unique(_bits(y_true == 1), return_inverse=True)[1].ravel()
    weights = np.bincount(set_numbers, sample_weight)
    share = float(weights.max() / weights.sum())
    return 1.0 - share if error else share


def _share_wrong(y_true: NDArray[Any], y_pred: NDArray[Any]) -> Floats:
    return np.count_nonzero(y_true != y_pred, axis=1) / y_true.shape[1]


def _least_share_wrong(y_true: NDArray[Any], sample_weight: Floats | None) -> float:
    share = np.average(y_true == 1, axis=0, weights=sample_weight)
    return float(np.minimum(share, 1 - share).mean())


def _mean_of_sets(
    request: MetricRequest, row_values: Any, constant: Any, *, error: bool
) -> RowMean:
    return RowMean(
        request.name,
        row_values,
        greater_is_better=not error,
        response="indicators",
        bounds=(0.0, 1.0),
        constant=constant,
    )


def _subset_accuracy(
    request: MetricRequest, *, error: bool, normalize: bool = True
) -> RowMean | None:
    """Share of the rows whose labels are all right, or of the others."""
    values, constant = (partial(function, error=error) for function in (_whole_sets, _largest_set))
    return _mean_of_sets(request, values, constant, error=error) if normalize else None


fast_path("accuracy_score", response="indicators", several_outputs=True)(
    partial(_subset_accuracy, error=False)
)
fast_path("zero_one_loss", response="indicators", several_outputs=True)(
    partial(_subset_accuracy, error=True)
)
fast_path("hamming_loss", response="indicators", several_outputs=True)(
    lambda request: _mean_of_sets(request, _share_wrong, _least_share_wrong, error=True)
)


class RatioOfRows(RowMean):
    """Mean over rows of the ratio of a row's sets, which counts as 0 where it has no value."""

    # It takes the value of rows without labels, too.
    row_values: Any

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Warn of rows without labels to divide by, as scikit-learn does."""
        n = np.count_nonzero(np.isnan(self.row_values(y_true, y_pred, undefined=np.nan)))
        if n:
            text = (
                f"{self.name} counts as 0 in {n} of {len(y_true)} rows, which have no labels to "
                "divide by: choose by a functools.partial of the function with average='samples' "
                "and zero_division=0 or 1."
            )
            tell(Note("undefined", text, about="rows without labels"))


def _ratio_of_row(
    y_true: NDArray[Any],
    y_pred: NDArray[Any],
    *,
    ratio: SetFormula,
    columns: NDArray[Any] | None,
    undefined: float,
) -> Floats:
    hits, true, predicted = _sizes_of_rows(y_true, y_pred, columns)
    return _ratio(ratio, hits, true, predicted, undefined)


class LossOfSets(RowMean):
    """Mean over rows of a loss of the probability of each of a row's labels."""

    def check(self, y_true: NDArray[Any], y_pred: NDArray[Any]) -> None:
        """Refuse other numbers than probabilities."""
        if y_pred.min() < 0 or y_pred.max() > 1:
            must = f"hold probabilities for the metric {self.name!r}"
            raise fail("y_pred", must, f"numbers from {y_pred.min():g} to {y_pred.max():g}")


def _log_losses(y_true: NDArray[Any], y_pred: NDArray[Any]) -> Floats:
    """Log loss of each row, (n_samples,); as in scikit-learn, labels that it lacks add nothing."""
    prob = y_pred if y_pred.dtype.kind == "f" else y_pred.astype(np.float64)
    epsilon = np.finfo(prob.dtype).eps
    logs = np.log(np.clip(prob, epsilon, 1 - epsilon))
    return -np.where(y_true == 1, logs, 0.0).sum(axis=1, dtype=np.float64)


def _squared_distances(y_true: NDArray[Any], y_pred: NDArray[Any], *, halve: bool | None) -> Floats:
    squares = ((y_true - y_pred.astype(np.float64)) ** 2).sum(axis=1)
    return squares / 2 if halved(y_pred, halve) else squares


fast_path("log_loss", response="label_scores", several_outputs=True)(
    lambda request: LossOfSets(request.name, _log_losses, response="label_scores")
)
fast_path("brier_score_loss", response="label_scores", several_outputs=True)(
    lambda request, *, scale_by_half="auto": LossOfSets(
        request.name,
        partial(_squared_distances, halve=None if scale_by_half == "auto" else bool(scale_by_half)),
        response="label_scores",
    )
)


def _set_metric(
    request: MetricRequest,
    *,
    ratio_formula: SetFormula | None = None,
    beta: float = 1.0,
    labels: ArrayLike | None = None,
    pos_label: Any = 1,
    average: str = "binary",
    zero_division: Any = "warn",
) -> Statistic | None:
    """A ratio of set sizes, pooled over labels or averaged over them, or over rows.

    Without a formula it is that of F-beta. Averages over labels have no positive one; scorers give
    None for it.
    """
    ratio = f_beta(beta) if ratio_formula is None else ratio_formula
    undefined = 0.0 if isinstance(zero_division, str) else float(zero_division)
    columns = None if labels is None else np.asarray(labels)
    if columns is not None and (columns.ndim != 1 or columns.dtype.kind not in "iu"):
        # What is no list of columns, or an empty one, the function refuses.
        return None
    if average == "micro":
        return LabelSetRatio(request.name, ratio, columns, undefined)
    if average in ("macro", "weighted"):
        weighted = average == "weighted"
        return LabelSetAverage(request.name, ratio, weighted, columns, undefined)
    if average != "samples" or np.isnan(undefined):
        # Rows of undefined ratios then leave the average.
        return None
    values = partial(_ratio_of_row, ratio=ratio, columns=columns, undefined=undefined)
    kind = RatioOfRows if isinstance(zero_division, str) else RowMean
    return kind(request.name, values, True, "indicators", (0.0, 1.0))


for _name, _formula in (
    ("precision_score", PRECISION),
    ("recall_score", RECALL),
    ("jaccard_score", JACCARD),
    ("f1_score", None),
    ("fbeta_score", None),
):
    fast_path(_name, response="indicators", several_outputs=True)(
        partial(_set_metric, ratio_formula=_formula)
    )


# ------------------------------------------------------------------ rankings of each row
#
# The labels of a row are sorted by their scores once; labels of equal score make up a tie, whose
# ends say how many labels score as much or more. A row of L labels costs L log L, a few rows at a
# time.


Array = NDArray[Any]


class _RankedLabels(NamedTuple):
    """Labels of each row, the largest score first, (n_rows, n_labels) each.

    Attributes
    ----------
    truth : ndarray
        Truth of the label at each place.
    start, end : ndarray
        First and last place of the tie that it is in.
    """

    truth: Array
    start: NDArray[np.intp]
    end: NDArray[np.intp]

    @classmethod
    def of(cls, truth: Array, score: Array) -> _RankedLabels:
        """Sort the labels of each row."""
        order = np.argsort(-score, axis=1, kind="stable")
        ordered = np.take_along_axis(score, order, axis=1)
        n_labels = score.shape[1]
        differs = ordered[:, 1:] != ordered[:, :-1]
        edge = np.ones((len(score), 1), dtype=bool)
        place = np.arange(n_labels)
        start = np.maximum.accumulate(np.where(np.hstack((edge, differs)), place, 0), axis=1)
        last = np.where(np.hstack((differs, edge)), place, n_labels)
        end = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
        return cls(np.take_along_axis(truth, order, axis=1), start, end)


def _piecewise(row_values: Callable[..., Floats]) -> Callable[..., Floats]:
    """The values of rows, a few of them at a time, because each has several temporary arrays."""

    def values(y_true: Array, y_pred: Array, **options: Any) -> Floats:
        step = max(1, RANKED_AT_ONCE // y_true.shape[1])
        truth, score = (y.astype(np.float64, copy=False) for y in (y_true, y_pred))
        pieces = (slice(start, start + step) for start in range(0, len(truth), step))
        return np.concatenate([row_values(truth[at], score[at], **options) for at in pieces])

    return values


@_piecewise
def _precision_of_row(truth: Array, score: Array, *, without: float = 1.0) -> Floats:
    """Mean over the labels of a row of the share of its labels among those that score as much.

    A row without labels has the value ``without``.
    """
    ranked = _RankedLabels.of(truth, score)
    hits = np.take_along_axis(np.cumsum(ranked.truth, axis=1), ranked.end, axis=1)
    total = np.sum(ranked.truth * hits / (ranked.end + 1), axis=1)
    n_true = truth.sum(axis=1)
    value = np.divide(total, n_true, out=np.full(len(truth), without), where=n_true > 0)
    # Where a row has all labels their order has no meaning either.
    return np.where(n_true == truth.shape[1], 1.0, value)


@_piecewise
def _loss_of_row(truth: Array, score: Array) -> Floats:
    """Share of the pairs of a label of the row and another that are out of order or tied."""
    ranked = _RankedLabels.of(truth, score)
    n_true = truth.sum(axis=1)
    above = np.cumsum(ranked.truth, axis=1) - ranked.truth
    before = np.take_along_axis(above, ranked.start, axis=1)
    wrong = np.sum((1 - ranked.truth) * (n_true[:, None] - before), axis=1)
    n_pairs = n_true * (truth.shape[1] - n_true)
    return np.divide(wrong, n_pairs, out=np.zeros(len(truth)), where=n_pairs > 0)


@_piecewise
def _area_of_row(truth: Array, score: Array) -> Floats:
    """Share of the pairs of a label of the row and another that are in order; a tie is half."""
    ranked = _RankedLabels.of(truth, score)
    n_true = truth.sum(axis=1)
    negatives = np.cumsum(1 - ranked.truth, axis=1)
    upto = np.take_along_axis(negatives, ranked.end, axis=1)
    before = np.take_along_axis(negatives - (1 - ranked.truth), ranked.start, axis=1)
    wrong = np.sum(ranked.truth * (before + upto), axis=1) / 2
    n_pairs = n_true * (truth.shape[1] - n_true)
    return 1 - np.divide(wrong, n_pairs, out=np.full(len(truth), np.nan), where=n_pairs > 0)


@_piecewise
def _coverage_of_row(truth: Array, score: Array) -> Floats:
    """How far to go down the ranking of a row to cover its labels."""
    lowest = np.min(np.where(truth == 1, score, np.inf), axis=1, keepdims=True)
    return np.count_nonzero(score >= lowest, axis=1).astype(np.float64)


@_piecewise
def _gain_of_row(
    truth: Array, score: Array, *, k: int | None, log_base: float, ignore_ties: bool
) -> Floats:
    """Discounted cumulative gain; items of equal score share the mean of their discounts."""
    discounts = 1 / (np.log(np.arange(truth.shape[1]) + 2) / np.log(log_base))
    if k is not None:
        discounts[k:] = 0
    if ignore_ties:
        # As scikit-learn does: the last of equal scores comes first.
        order = np.argsort(score, axis=1)[:, ::-1]
        return np.asarray(np.take_along_axis(truth, order, axis=1) @ discounts)
    ranked = _RankedLabels.of(truth, score)
    upto = np.append(0.0, np.cumsum(discounts))
    shared = (upto[ranked.end + 1] - upto[ranked.start]) / (ranked.end + 1 - ranked.start)
    return np.asarray(np.sum(ranked.truth * shared, axis=1))


def _share_of_best_gain(y_true: Array, y_pred: Array, **options: Any) -> Floats:
    """Gain of a row by that of the best ranking; 0 where no item is relevant."""
    gain = _gain_of_row(y_true, y_pred, **options)
    best = _gain_of_row(y_true, y_true, **(options | {"ignore_ties": True}))
    return np.divide(gain, best, out=np.zeros(len(gain)), where=best > 0)


class AreaOfRows(RowMean):
    """Area under the ROC curve of the labels of each row, averaged over rows."""

    def check(self, y_true: Array, y_pred: Array) -> None:
        """Refuse rows that have all labels or none, which have no area."""
        n_true = y_true.sum(axis=1)
        bad = np.flatnonzero((n_true == 0) | (n_true == y_true.shape[1]))
        if len(bad):
            must = f"hold a label and lack one in each row for the metric {self.name!r}"
            got = f"{len(bad)} rows with all labels or none, the first in row {bad[0]}"
            raise fail("y_true", must, got, "Leave these rows out, or take average='macro'.")


fast_path("label_ranking_average_precision_score", response="label_scores", several_outputs=True)(
    lambda request: RowMean(request.name, _precision_of_row, True, "label_scores", (0.0, 1.0))
)
fast_path("label_ranking_loss", response="label_scores", several_outputs=True)(
    lambda request: RowMean(request.name, _loss_of_row, False, "label_scores", (0.0, 1.0))
)
fast_path("coverage_error", response="label_scores", several_outputs=True)(
    lambda request: RowMean(request.name, _coverage_of_row, False, "label_scores", (0.0, np.inf))
)


@fast_path("ndcg_score", response="relevances", several_outputs=True)
def _ndcg(request: MetricRequest, *, k: Any = None, ignore_ties: bool = False) -> RowMean | None:
    options = _ranking_options(k, 2, ignore_ties)
    if options is None:
        return None
    values = partial(_share_of_best_gain, **options)
    return RowMean(request.name, values, True, "relevances", (0.0, 1.0))


@fast_path("dcg_score", response="outputs", several_outputs=True)
def _dcg(
    request: MetricRequest, *, k: Any = None, log_base: Any = 2, ignore_ties: bool = False
) -> RowMean | None:
    options = _ranking_options(k, log_base, ignore_ties)
    if options is None:
        return None
    return RowMean(
        request.name, partial(_gain_of_row, **options), True, "outputs", (-np.inf, np.inf)
    )


def _ranking_options(k: Any, log_base: Any, ignore_ties: bool) -> dict[str, Any] | None:
    """Options of gains; None for those that scikit-learn refuses."""
    if k is not None and (isinstance(k, bool) or not isinstance(k, Integral) or int(k) < 1):
        return None
    if not isinstance(log_base, Real) or log_base <= 0:
        return None
    k = None if k is None else int(k)
    return {"k": k, "log_base": float(log_base), "ignore_ties": bool(ignore_ties)}


# ------------------------------------------------------------------ areas under curves of labels


class LabelsRocAuc(RocAuc):
    """Area under the ROC curve of the scores of each label, averaged over the labels.

    Notes
    -----
    NaN where all rows have a label or none has it; weighted, a label that none has counts for
    nothing, and where none has any the mean is 0 (both as in scikit-learn).
    """

    def _averaged(self, areas: Floats, totals: Floats) -> Floats:
        return _mean_over_labels(areas, totals, self.average)


class LabelsAveragePrecision(AveragePrecision):
    """Average precision of the scores of each label, averaged over the labels.

    Notes
    -----
    0 for a label that no row has, as in scikit-learn.
    """

    def _averaged(self, areas: Floats, sizes: Floats) -> Floats:
        return _mean_over_labels(np.where(sizes > 0, areas, 0.0).T, sizes.T, self.average)

    def naive(self, reduced: ReducedData | None, rows: Columns) -> float | None:
        """One score for all rows has the share of the rows that have a label as its precision."""
        y_true, _, sample_weight = rows
        if y_true is None:
            return None
        share = np.average(y_true == 1, axis=0, weights=sample_weight)
        return float(_mean_over_labels(share[None], share[None], self.average)[0])


def _mean_over_labels(values: Floats, sizes: Floats, average: str) -> Floats:
    """Mean over labels, plain or by the rows that have them, of (n_resamples, n_labels)."""
    if average == "macro":
        return np.asarray(values.mean(axis=1))
    total = sizes.sum(axis=1)
    mean = np.where(sizes > 0, values * sizes, 0.0).sum(axis=1)
    return np.divide(mean, total, out=np.zeros(len(total)), where=total > 0)


@fast_path("roc_auc_score", response="label_scores", several_outputs=True)
def _roc_auc(
    request: MetricRequest,
    *,
    average: Any = "macro",
    multi_class: Any = "raise",
    labels: Any = None,
) -> Statistic | None:
    # How classes would be averaged, and in which order, is of no matter to labels.
    if average == "samples":
        return AreaOfRows(request.name, _area_of_row, True, "label_scores", (0.0, 1.0))
    if average not in ("macro", "weighted"):
        return None
    return LabelsRocAuc(request.name, "ovr", average, response="label_scores")


@fast_path("average_precision_score", response="label_scores", several_outputs=True)
def _area_average_precision(request: MetricRequest, *, average: Any = "macro") -> Any:
    if average == "samples":
        # A row without labels counts as 0.
        values = partial(_precision_of_row, without=0.0)
        return RowMean(request.name, values, True, "label_scores", (0.0, 1.0))
    if average not in ("macro", "weighted"):
        return None
    return LabelsAveragePrecision(request.name, average, response="label_scores")
