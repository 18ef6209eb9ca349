"""From the arguments of a batch to a state: checked rows, units and what they add to the sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import checks as check
from .._base.arrays import category_order, is_column
from .._base.messages import parts_of
from .._base.warnings import Note, Notes, collected
from ..metrics.cells import label_counts
from ..metrics.doubts import doubts
from ..metrics.lookup import averaging
from ..resampling.streamed import Words
from ..study.measured import check_averaged, checked_columns
from ..study.rows import Rows, checked_rows
from .few_rows import FEWEST_UNITS, FewRows
from .one_batch import state_of
from .readings import SCORES
from .state import NUMBERED, StreamSettings, StreamState, check_classes
from .tables import in_text

# Rows that are made a state at a time: their terms and codes take some 10 MB, and adding the state
# of a thousand intervals of scores takes a twentieth of the time that its weights take.
ROWS_AT_ONCE = 1 << 18
# Maximum number of rows of the whole data, whose numbers are hashed as integers of 64 bits.
_MOST_ROWS = 1 << 63
# What of an update tells the units apart, and how a message calls each.
UNITS = "start, ids or groups"
WORDS = {"start": "start", "ids": "ids", "groups": "groups", "arrival": "the order of arrival"}


def part_added(
    settings: StreamSettings, state: StreamState, columns: Mapping[str, Any], start: int
) -> StreamState:
    """Return a state with the rows of a part of the data, some of them at a time.

    Parameters
    ----------
    settings : StreamSettings
    state : StreamState
    columns : mapping of str to array
        Truth, groups and weights by these names, where they are given; all others are predictions,
        by the names of their arguments, in the order of the systems.
    start : int
        Number of the first row, which tells rows apart where there are no groups.
    """
    given = {name: np.asarray(column) for name, column in columns.items()}
    n_rows = check.check_same_length(**given)
    for at in range(0, n_rows, ROWS_AT_ONCE):
        own = {name: column[at : at + ROWS_AT_ONCE] for name, column in given.items()}
        truth, groups = own.pop("y_true", None), own.pop("groups", None)
        weights = own.pop("sample_weight", None)
        unit, ids = ("start", start + at) if groups is None else ("groups", groups)
        try:
            state = batch_added(settings, state, truth, own, weights, unit, ids)
        except ValueError as error:
            raise _of_rows(error, start + at) from error.__cause__
    return state


def _of_rows(error: ValueError, first: int) -> ValueError:
    """Return an error that says with which row the batch begins whose rows it counts."""
    bad = parts_of(error)
    if bad is None:
        return error
    return bad._replace(got=f"{bad.got}, in the batch of rows from {first} on").error()


def batch_added(
    settings: StreamSettings,
    state: StreamState,
    y_true: Any,
    predicted: Mapping[str, Any],
    sample_weight: Any,
    unit: str,
    ids: Any,
) -> StreamState:
    """Return a state with the rows of a batch.

    Parameters
    ----------
    settings : StreamSettings
    state : StreamState
    y_true, sample_weight : array-like of shape (n_rows,) or None
    predicted : mapping of str to array-like
        Predictions of each system by the name of the argument.
    unit : {"start", "ids", "groups", "arrival"}
    ids : int, array-like of shape (n_rows,) or None
        Number of the first row, what tells the units apart, or None in the order of arrival.

    Raises
    ------
    ValueError
        For arguments that cannot be right, or that do not fit the rows before.
    """
    weights = _checked_weights(sample_weight)
    rows, found = [], Notes()
    for name, column in predicted.items():
        own = checked_rows(y_true, column, None, settings.labels, name)
        own = replace(own, y_true=in_text(own.y_true), y_pred=in_text(own.y_pred))
        check.check_same_length(**{name: own.y_pred, "sample_weight": weights})
        for argument, values in (("y_true", own.y_true), (name, own.y_pred)):
            if values is not None:
                check.check_no_missing(argument, values)
        with collected(found):
            rows.append(_checked(settings, replace(own, sample_weight=weights), name))
        found += _doubts(settings, own, name)
    _check_alike(settings, state, unit, sample_weight)
    first = state.n_rows if unit == "arrival" else ids
    keys, ranges = _keys(unit, first, rows[0].n_samples)
    units = _units(settings, unit, keys)
    dropped = {key: table.shift or 0 for key, table in state.tables.items()}
    batch = state_of(settings, rows, units, unit, dropped)
    may_be_few = (not state.unit or state.few is not None) and batch.n_units < FEWEST_UNITS
    few = FewRows.of(rows, keys) if may_be_few else None
    batch = replace(batch, ranges=ranges, few=few)
    for (kind, _), table in batch.tables.items():
        if kind == SCORES:
            check_classes(table.labels)
    return state.plus(replace(batch, doubts=tuple(found[:1])), settings)


def _checked_weights(sample_weight: Any) -> NDArray[np.float64] | None:
    """Return weights on a scale that all batches can have: none knows the weights of others."""
    if sample_weight is None:
        return None
    weights = check.check_rows("sample_weight", sample_weight)
    if weights.ndim != 1 or weights.dtype.kind not in "iubf":
        return check.check_weights(sample_weight)
    weights = weights.astype(np.float64)
    low, high = 2.0**-100, 2.0**100
    bad = (weights != 0) & ~((low <= weights) & (weights <= high))
    if bad.any():
        must = f"hold 0 or numbers from {low:.2g} to {high:.2g}"
        advice = "Multiply the weights of all batches by the same number."
        raise check.fail("sample_weight", must, f"values such as {weights[bad][0]:g}", advice)
    return weights


def _checked(settings: StreamSettings, rows: Rows, name: str) -> Rows:
    """Return the rows of a system if the metrics can take them."""
    if rows.y_true is not None and not is_column(rows.y_true):
        must = "hold one label or number a row: streams have no sums of several columns"
        advice = "Give y_true[:, k], y_pred[:, k], or all rows to bootstrap_score."
        raise check.fail("y_true", must, f"shape {rows.y_true.shape}", advice)
    if rows.y_pred.ndim == 2 and rows.y_true is not None:
        with check.arguments_named({"y_pred": name}):
            for reading in settings.readings.values():
                checked_columns(rows, reading.statistic, name)
        if settings.labels is None:
            must = "be given where predictions have columns"
            advice = "Give all labels, in the order of the columns: a batch may lack some."
            raise check.fail("labels", must, "None", advice)
    _check_labels(settings, rows)
    for reading in settings.readings.values():
        if settings.labels is None and reading.assumes_zero_one and rows.y_true is not None:
            _check_zero_one(rows.y_true)
        if rows.y_true is None and reading.tables:
            must = f"hold the true labels for the metric {reading.statistic.name!r}"
            raise check.fail("y_true", must, "None")
        with check.arguments_named({"y_pred": name}):
            reading.check(rows, name)
    return rows


def _check_labels(settings: StreamSettings, rows: Rows) -> None:
    """Refuse labels of the call that a stream cannot read, and an order that a batch may lack."""
    statistics = {name: one.statistic for name, one in settings.readings.items()}
    averaged = averaging(settings.metric, statistics) if settings.labels is not None else ()
    order = category_order(rows.y_true, rows.y_pred)
    for name, statistic in statistics.items():
        inner = statistic.unsigned or statistic
        if settings.labels is not None:
            if name in averaged and inner.labels is None and rows.y_pred.ndim == 1:
                must = f"be None beside one label a row for the metric {name!r} of a stream"
                advice = "Bind them to the metric: functools.partial(f1_score, labels=..., ...)."
                raise check.fail("labels", must, f"{settings.labels.tolist()[:5]}", advice)
            check_averaged(statistic, rows, False)
        if order is None or inner.labels is not None or order.tolist() == sorted(order.tolist()):
            continue
        if inner.orders_labels or (inner.greater_is_positive and inner.pos_label is None):
            must = f"hold categories whose order is that of their names, for {name!r} of a stream"
            advice = (
                f"Give numbers (.cat.codes), or of two classes pos_label={order.tolist()[-1]!r}."
            )
            raise check.fail("y_true", must, f"the categories {order.tolist()[:5]}", advice)


def _doubts(settings: StreamSettings, rows: Rows, name: str) -> list[Note]:
    """Return the warning of labels that are hardly those of the truth."""
    metrics = [reading.statistic for reading in settings.readings.values()]
    rows_of_each = (rows.y_true, rows.y_pred, rows.labels, name)
    return doubts([(one, *rows_of_each) for one in metrics if not rows.decides(one)], of_part=True)


def _check_zero_one(y_true: NDArray[Any]) -> None:
    """Refuse labels that a batch cannot know to be all."""
    labels = label_counts(y_true)[0].tolist()
    if not set(labels) <= {0, 1}:
        must = "be given for probabilities of other labels than 0 and 1"
        advice = "Give all labels, in the order of the columns: a batch may lack some."
        raise check.fail("labels", must, f"None, with {labels[:5]} in y_true", advice)


def _check_alike(settings: StreamSettings, state: StreamState, unit: str, weights: Any) -> None:
    """Refuse units or weights that other batches do not have."""
    if state.unit and unit != state.unit:
        must = f"identify rows by {WORDS[state.unit]}, as in other batches"
        raise check.fail(UNITS, must, WORDS[unit])
    if state.unit and (weights is not None) != state.weighted:
        must = f"be {'given' if state.weighted else 'None'}, as in other batches"
        got = "None" if weights is None else "weights"
        raise check.fail("sample_weight", must, got)


def _keys(unit: str, ids: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return what tells the unit of each row from others, and the run of numbers of the rows."""
    if unit in NUMBERED:
        first = check.check_count("start", ids, 0)
        if first + n_rows > _MOST_ROWS:
            must = "be the number of the first row in the whole data, of fewer than 2**63 rows"
            raise check.fail("start", must, f"{first}")
        numbers = np.arange(first, first + n_rows)
        return numbers, np.array([[first, first + n_rows - 1]], dtype=np.int64)
    given = _checked_ids(unit, ids)
    if len(given) != n_rows:
        must = f"have an entry for each of the {n_rows} rows"
        raise check.fail(unit, must, f"{len(given)}")
    return given, np.empty((0, 2), dtype=np.int64)


def _units(settings: StreamSettings, unit: str, keys: NDArray[Any]) -> Words:
    """Return a hash of the unit of each row; refuse an id that two rows have."""
    units = settings.weights.units(keys)
    if unit == "ids" and len(np.unique(units)) < len(units):
        must = "be different for all rows"
        advice = "Rows that belong together have groups= in common."
        raise check.fail("ids", must, "some id twice", advice)
    return units


def _checked_ids(name: str, values: Any) -> NDArray[Any]:
    """Return ids as 64-bit integers, or as text."""
    found = check.check_column(name, values)
    if found.dtype.kind == "O":
        found = np.array(found.tolist())
    if found.dtype.kind not in "iuUS":
        got = f"values such as {found[:1].tolist()[0]!r}"
        raise check.fail(name, "hold integers or text", got)
    return found
