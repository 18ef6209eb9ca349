"""From a user's arguments to checked rows, a resampling plan and subgroups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _checks as check
from .._arrays import is_column, is_dask
from .._messages import rename
from .._warnings import Note, tell
from ..inference.distribution import check_replicates_fit
from ..metrics.doubts import LookedAt, doubts
from ..metrics.lookup import resolve_metrics
from ..metrics.names import NotGiven
from ..metrics.responses import check_decidable, check_response
from ..metrics.statistic import Statistic
from ..metrics.two_class import of_no_positive, positive_note
from ..metrics.vectors import each_entry
from ..resampling.design import (
    CrossedDesign,
    GroupDesign,
    OnePopulationDesign,
    RowDesign,
    SamplingDesign,
)
from ..resampling.plan import ResamplingPlan

# Maximum number of different numbers that a truth of labels has without a doubt.
_MANY_NUMBERS = 30
_ROWS_LOOKED_AT = 10_000
_EXACT_HITS = Note(
    "caution",
    f"y_true holds more than {_MANY_NUMBERS} different numbers, and accuracy counts exact hits. "
    "Give metric='mean_absolute_error', 'neg_mean_absolute_error' or 'r2'; of classes 'accuracy'.",
)
_DECIDED = Note(
    "advice",
    "The predictions are probabilities: the most probable class of each row counts, of equally "
    "probable ones the first.",
)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a call: arrays of n_samples, and the labels of probability columns."""

    y_true: NDArray[Any] | None
    y_pred: NDArray[Any]
    sample_weight: NDArray[np.float64] | None
    labels: NDArray[Any] | None

    @property
    def n_samples(self) -> int:
        return len(self.y_pred)

    @property
    def has_outputs(self) -> bool:
        """Whether the truth has several columns."""
        return self.y_true is not None and self.y_true.ndim == 2

    @property
    def truth_column(self) -> NDArray[Any] | None:
        """The truth where it holds one label or number a row; None for columns and records."""
        return self.y_true if is_column(self.y_true) else None

    def decides(self, statistic: Statistic) -> bool:
        """Whether the metric reads labels and the predictions are probabilities of classes."""
        return self.y_pred.ndim == 2 and statistic.response == "labels" and self.labels is not None

    @cached_property
    def are_truth(self) -> bool:
        """Whether the predictions equal the truth on every row."""
        truth, few = self.y_true, slice(100)
        if truth is None or truth.dtype.kind in "VO" or truth.shape != self.y_pred.shape:
            # Objects need not compare as values do; labels in objects are numbers and texts by now.
            return False
        # Most calls are done with the first rows.
        return np.array_equal(truth[few], self.y_pred[few]) and np.array_equal(truth, self.y_pred)

    @cached_property
    def decisions(self) -> NDArray[Any]:
        """The most probable class of each row, of equal ones the first."""
        assert self.labels is not None
        return self.labels[np.argmax(self.y_pred, axis=1)]

    def predicted_for(self, statistic: Statistic) -> NDArray[Any]:
        """Predictions as the metric reads them: probabilities or scores, or the decisions."""
        return self.decisions if self.decides(statistic) else self.y_pred

    def of(self, statistic: Statistic, rows: NDArray[np.intp] | None) -> tuple[Any, Any, Any]:
        """Arguments of `Statistic.reduce` on some rows (all when None)."""
        columns = (self.y_true, self.predicted_for(statistic), self.sample_weight)
        if rows is None:
            return columns
        y_true, y_pred, weights = (None if c is None else c[rows] for c in columns)
        return y_true, y_pred, weights

    def notes_for(self, statistic: Statistic) -> tuple[Note, ...]:
        """What a reader must know of how the metric reads these predictions."""
        positive = positive_note(statistic, self.y_true, self.y_pred)
        decided = (_DECIDED,) if self.decides(statistic) else ()
        return decided if positive is None else (*decided, positive)

    def beside(self, predicted: NDArray[Any], name: str) -> Rows:
        """Return the same rows with other predictions, which are checked already."""
        return rows_of(self.y_true, predicted, self.sample_weight, self.labels, name)


def columns_of_each(rows: Sequence[Rows], statistics: Sequence[Statistic]) -> list[Any]:
    """Return the arguments of `Statistic.reduce` on all rows of each array, by its statistic."""
    return [own.of(statistic, None) for own, statistic in zip(rows, statistics, strict=True)]


@dataclass(frozen=True, eq=False)
class Part:
    """A subgroup: its name and rows (None: all)."""

    name: Any
    rows: NDArray[np.intp] | None


def is_lazy(*columns: Any) -> bool:
    """Whether a column is read in parts: one of dask, or of a scanned data set."""
    return any(
        getattr(one, "is_scanned", False) is True
        or (hasattr(type(one), "__dask_graph__") and is_dask(one))
        for one in columns
    )


def checked_rows(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    sample_weight: ArrayLike | None,
    labels: ArrayLike | None,
    name: str = "y_pred",
) -> Rows:
    """Check the columns of a call and pair them by row order; ``name`` is that of ``y_pred``."""
    truth = check_truth(y_true)
    predicted = check.check_answers(name, y_pred)
    weights = check.check_weights(sample_weight)
    check.check_same_length(**{name: predicted, "y_true": truth, "sample_weight": weights})
    known = check.check_labels(labels, truth)
    return rows_of(truth, predicted, weights, known, name)


def check_truth(y_true: ArrayLike | None) -> NDArray[Any] | None:
    """Convert as `check_rows` does; records, such as event times, are kept as they are."""
    if y_true is None:
        return None
    names = getattr(getattr(y_true, "dtype", None), "names", None)
    if names is None or not isinstance(y_true, np.ndarray) or y_true.ndim != 1:
        return check.check_answers("y_true", y_true)
    if len(y_true) == 0:
        raise check.fail("y_true", "hold at least one row", "an empty array")
    for field in names:
        check.check_no_missing("y_true", y_true[field])
    return y_true


def rows_of(
    truth: NDArray[Any] | None,
    predicted: NDArray[Any],
    weights: NDArray[np.float64] | None,
    labels: NDArray[Any] | None,
    name: str = "y_pred",
) -> Rows:
    """Pair checked columns; labels of probabilities are those of the truth unless given."""
    if truth is None or not is_column(truth):
        return Rows(truth, predicted, weights, labels)
    if labels is None and predicted.ndim == 2:
        labels = check.numbered_labels("y_true", truth)[0]
    if predicted.ndim == 1:
        truth, predicted = check.check_integers(name, truth, predicted)
    return Rows(truth, predicted, weights, labels)


class Places(NamedTuple):
    """Where the results of metrics belong.

    Attributes
    ----------
    single : bool
        Whether one metric alone was asked for.
    paths : dict of str to tuple
        Keys of the result of each statistic: the metric, and its entry where it has several.
    alone : bool
        Whether there is one result, with nothing to tell it apart from.
    """

    single: bool
    paths: dict[str, tuple[Any, ...]]
    alone: bool


class _OfScorers:
    """In place of a positive class: scorers name theirs, and estimators answer for it."""


OF_SCORERS = _OfScorers()


def resolved_statistics(
    metric: Any,
    rows: Rows,
    greater_is_better: bool | None,
    several: bool = False,
    pos_label: Any = OF_SCORERS,
) -> tuple[dict[str, Statistic], Places]:
    """Return statistics by name, checked against the rows, and where their results belong."""
    named = [("y_pred", rows)]
    statistics, places = statistics_of_each(
        metric, named, greater_is_better, several, pos_label=pos_label
    )
    return {name: one for name, [one] in statistics.items()}, places


def statistics_of_systems(
    metric: Any,
    rows: Mapping[str, Rows],
    greater_is_better: bool | None,
    several: bool = False,
    *,
    pos_label: Any,
    are_arguments: bool = False,
    paired: bool = True,
) -> tuple[dict[str, dict[str, Statistic]], Places]:
    """Return statistics by metric and system, and where their results belong.

    The systems came in a dict ``y_preds``, or each in an argument of its name; unless they are
    paired, the truth came in a dict, too.
    """
    named = [(name if are_arguments else f"y_preds[{name!r}]", own) for name, own in rows.items()]
    truths = {} if paired else {f"y_preds[{name!r}]": f"y_true[{name!r}]" for name in rows}
    statistics, places = statistics_of_each(
        metric, named, greater_is_better, several, truths, pos_label
    )
    return {key: dict(zip(rows, own, strict=True)) for key, own in statistics.items()}, places


def statistics_of_each(
    metric: Any,
    rows: Sequence[tuple[str, Rows]],
    greater_is_better: bool | None,
    several: bool = False,
    truths: Mapping[str, str] = MappingProxyType({}),
    pos_label: Any = OF_SCORERS,
) -> tuple[dict[str, list[Statistic]], Places]:
    """Return statistics by metric, one for each array, and where their results belong.

    ``rows`` are those of each array, after the name of the argument it came in. The metric is
    looked up once; each statistic is fixed to the labels of its own predictions. With ``several``
    a metric may return several numbers, each of which has a statistic. ``truths`` names the
    argument that the truth of an array came in, where it is not ``y_true``. ``pos_label`` names the
    positive class of metrics that have one; of scorers, whose estimators answer for it, nothing is
    doubted.
    """
    better = check.check_direction(greater_is_better)
    not_given = isinstance(metric, NotGiven)
    if not_given:
        metric = str(metric)
    asked: dict[str, Any] = {"greater_is_better": better, "several": several}
    if pos_label is not OF_SCORERS and pos_label is not None:
        asked["pos_label"] = pos_label = check.check_label("pos_label", pos_label)
    resolved: dict[str, Statistic] = {}
    single, labels = True, None
    found: dict[str, list[Statistic]] = {}
    looked_at: list[LookedAt] = []
    for argument, own in rows:
        if not resolved or own.labels is not labels:
            labels = own.labels
            resolved, single = resolve_metrics(
                metric, labels=labels, several_outputs=own.has_outputs, **asked
            )
        try:
            for name, statistic in resolved.items():
                predicted = own.y_pred
                if predicted.ndim == 2:
                    predicted = _checked_columns(own, statistic)
                checked = check_response(statistic, own.y_true, predicted, argument)
                looked_at.append((statistic, own.y_true, predicted, own.labels, argument))
                if own.sample_weight is not None and not checked.takes_weights:
                    raise _refused_weights(checked)
                found.setdefault(name, []).append(checked)
        except ValueError as error:
            names = {"y_pred": argument, "y_true": truths.get(argument, "y_true")}
            rename(error, names)
            raise
    if not_given and _hardly_labels([own for _, own in rows]):
        tell(_EXACT_HITS)
    if pos_label is not OF_SCORERS:
        tell(*doubts(looked_at))
        tell(*_of_positive([own for _, own in rows], found, pos_label))
    if not several or not any(own[0].calls_function for own in found.values()):
        return found, Places(single, {name: (name,) for name in found}, single)
    columns = {
        name: columns_of_each([own for _, own in rows], statistics)
        for name, statistics in found.items()
    }
    entries = each_entry(found, columns)
    alone = single and all(len(path) == 1 for path in entries.paths.values())
    return entries.statistics, Places(single, entries.paths, alone)


def _refused_weights(statistic: Statistic) -> ValueError:
    """Return the error of weights of rows for a metric that takes none."""
    must = f"be None with the metric {statistic.name!r}"
    advice = "The metric has no sample_weight argument: give it one, or leave weights out."
    return check.fail("sample_weight", must, "weights", advice)


def _of_positive(
    rows: Sequence[Rows], found: Mapping[str, Sequence[Statistic]], pos_label: Any
) -> list[Note]:
    """Warn of a class that is positive because nobody named it, or named where none is."""
    if pos_label is not None:
        note = of_no_positive([own[0] for own in found.values()], pos_label)
        return [] if note is None else [note]
    truth = rows[0].y_true
    if truth is None or truth.dtype.kind not in "USO":
        return []
    for statistics in found.values():
        for own, one in zip(rows, statistics, strict=True):
            note = positive_note(one, own.y_true, own.predicted_for(one), "caution")
            if note is not None:
                return [note]
    return []


def positive_setting(pos_label: Any) -> dict[str, Any]:
    """Return what settings hold of a positive class: nothing where none is named."""
    plain = pos_label is None or isinstance(pos_label, str | int | float)
    return {} if pos_label is None else {"pos_label": pos_label if plain else repr(pos_label)}


def _checked_columns(own: Rows, statistic: Statistic) -> NDArray[Any]:
    """Return two-dimensional predictions as the metric reads them."""
    if own.decides(statistic):
        assert own.labels is not None
        check_decidable(statistic.name, own.y_true, own.y_pred, own.labels)
    return own.predicted_for(statistic)


def _hardly_labels(rows: Sequence[Rows]) -> bool:
    """Whether the truth takes many numbers that nobody predicts exactly in half of the rows.

    Ten thousand rows, evenly spaced, are looked at.
    """
    truth = rows[0].y_true
    if truth is None or truth.dtype.kind not in "iuf":
        return False
    every = slice(None, None, -(-len(truth) // _ROWS_LOOKED_AT))
    looked_at = truth[every]
    for own in rows:
        if own.y_pred.ndim == 2:
            return False
        if 2 * np.count_nonzero(looked_at == own.y_pred[every]) >= len(looked_at):
            return False
    return len(np.unique(looked_at)) > _MANY_NUMBERS


def resampling_plan(
    groups: ArrayLike | None,
    strata: ArrayLike | None,
    same_population: bool,
    resamples: ArrayLike | None,
    n_resamples: int,
    random_state: Any,
    n_samples: int,
    n_series: int = 0,
) -> ResamplingPlan:
    """Return the plan of a call; refuse one whose replicates memory does not hold.

    They are counted ``n_series`` times where it is known how many statistics there are.
    """
    seed = check.check_seed(random_state)
    same_population = check.check_flag("same_population", same_population)
    advice = "1999 is enough for a 95% interval."
    n_resamples = check.check_count("n_resamples", n_resamples, 2, advice)
    if n_series:
        check_replicates_fit(n_resamples, n_series)
    design = _design(groups, strata, same_population, n_samples)
    if resamples is None:
        return ResamplingPlan(design, n_resamples, seed)
    if design.no_given_rows:
        must = f"be None with {design.groups_in_messages}"
        raise check.fail("resamples", must, "both", design.no_given_rows)
    indices = check.check_resamples(resamples, n_samples)
    drawn = design.units_drawn(indices)
    if drawn is not None:
        return ResamplingPlan(design, len(indices), seed, drawn=drawn)
    return ResamplingPlan(design, len(indices), seed, indices)


def _design(
    groups: ArrayLike | None,
    strata: ArrayLike | None,
    same_population: bool,
    n_samples: int,
) -> SamplingDesign:
    if groups is None:
        if same_population:
            raise check.fail(
                "same_population",
                "be False without crossed groups",
                "True",
                "Give groups of shape (n_samples, 2).",
            )
        codes = check.check_strata(strata, None)
        _check_row_each("strata", codes, n_samples)
        return RowDesign.of(n_samples, codes)
    pair: Any = groups if isinstance(groups, list | tuple) and len(groups) == 2 else None
    if pair and n_samples != 2 and all(np.shape(column) == (n_samples,) for column in pair):
        must = "be of shape (n_samples,), or (n_samples, 2) for crossed groups"
        advice = "Give two columns: groups=np.column_stack((first, second))."
        raise check.fail("groups", must, "two sequences", advice)
    columns = check.check_rows("groups", groups)
    _check_row_each("groups", columns, n_samples)
    if columns.ndim == 2:
        pairs = check.check_pairs(columns, same_population)
        check.check_strata(strata, pairs)
        design = OnePopulationDesign if same_population else CrossedDesign
        return design.of(pairs)
    if same_population:
        raise check.fail(
            "same_population",
            "be False unless groups has two columns",
            "True",
            "Give groups of shape (n_samples, 2).",
        )
    units = check.check_groups(columns)
    within = check.check_strata(strata, units)
    _check_row_each("strata", within, n_samples)
    return GroupDesign.of(units, within)


def _check_row_each(name: str, column: Any, n_samples: int) -> None:
    """Refuse a column that has not one value for each of the rows that are predicted."""
    if column is not None and len(column) != n_samples:
        must = f"have a row for each of the {n_samples} rows that are predicted"
        advice = "Row order is what pairs them; an index is never used."
        raise check.fail(name, must, f"{len(column)} rows", advice)


def subgroups(by: ArrayLike | None, rows: Rows) -> list[Part]:
    """Return the subgroups of ``by``; without it one part of all rows, without a name."""
    if by is None:
        return [Part(None, None)]
    labels = check.check_names("by", by)
    _check_row_each("by", labels, rows.n_samples)
    distinct, codes = check.numbered_labels("by", labels, "subgroup name")
    names = distinct.tolist()
    if len(names) < 2 or "gap" in names:
        raise check.fail("by", "name at least two subgroups, none of them 'gap'", f"{names}")
    check.check_parts_weigh(rows.sample_weight, codes, names)
    return [Part(name, np.flatnonzero(codes == k)) for k, name in enumerate(names)]


def part_of_each_row(parts: Sequence[Part]) -> NDArray[np.intp] | None:
    """Return the number of the part that each row is in, (n_samples,); None for all rows."""
    if parts[0].rows is None:
        return None
    number = np.empty(sum(len(part.rows) for part in parts if part.rows is not None), dtype=np.intp)
    for k, part in enumerate(parts):
        number[part.rows] = k
    return number
