"""The columns of a file as arguments of a public function.

Truth and predictions are typed together: numbers if all of them are numbers, else text exactly as
written. One kind in the one and another in the other is refused, because labels would then never
agree, and every row would count as an error.
"""

from __future__ import annotations

import inspect
import re
import shlex
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import metrics as metrics_package
from .._base.reading import BadCall, Cells, CellsByName, read_columns
from ..metrics.lookup import AS_MEAN, CALLABLES, resolve_metrics, without_name
from ..metrics.responses import note_on_unused_positive
from ..metrics.statistic import Statistic
from ..resampling.design import NamedColumn

Array = NDArray[Any]


class FileRows(NamedTuple):
    """Arguments that come from the columns of a file.

    Attributes
    ----------
    y_true : ndarray of shape (n_samples,), or None
        The truth.
    predictions : dict of str to ndarray of shape (n_samples,) or (n_samples, n_classes)
        Predictions by the name of the system.
    options : dict
        Groups, strata, the positive label and the like, by the names that the public functions give
        them.
    """

    y_true: Array | None
    predictions: dict[str, Array]
    options: dict[str, Any]

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(next(iter(self.predictions.values())))


# How a missing value is written, in small letters.
_MISSING = ("na", "nan", "n/a", "none", "null", "-", "?")
# How files without types write True and False, in small letters.
_TRUTH_VALUES = {"true", "false"}
# Options that name a column of ids, and the arguments that they are.
_IDS = ("groups", "strata", "average_over", "by")


def rows_of(call: Namespace, systems: Mapping[str, Sequence[str]], *, are_scores: bool) -> FileRows:
    """Read the columns that a call names.

    Parameters
    ----------
    call : Namespace
        The call.
    systems : mapping of str to sequence of str
        Columns of the predictions of each system; several are those of probabilities.
    are_scores : bool
        Whether predictions are scores, whatever the metric.

    Returns
    -------
    Rows
        What the public function takes.

    Raises
    ------
    BadCall
        If the file lacks a column or a cell, or its cells do not suit.
    """
    ids = {name: name_list(getattr(call, name, None)) for name in _IDS}
    truth = name_list(call.y_true)
    weights = name_list(call.weights)
    needed = [*truth, *(name for names in systems.values() for name in names), *weights]
    needed += [name for names in ids.values() for name in names]
    try:
        columns = read_columns(call.file, needed)
    except BadCall as error:
        if error.lacking is None or not any(
            error.lacking[0] in names for names in systems.values()
        ):
            raise
        raise BadCall(f"{error}{_pivot_of_file(call, *error.lacking, needed)}") from error
    threshold = getattr(call, "threshold", None)
    responses = set() if are_scores else _responses_of_metrics(call)
    if threshold is not None and responses != {"labels"}:
        raise BadCall("--threshold makes labels of scores: every --metric must be one of labels")
    # A threshold makes the labels, of scores.
    responses = responses if threshold is None else {"scores"}
    reads_labels = "labels" in responses
    y_true, predictions = _truth_and_predictions(call, columns, systems, responses)
    options: dict[str, Any] = {
        name: _id_column(columns, names) for name, names in ids.items() if names
    }
    if len(ids["groups"]) == 1 and options["groups"].ndim == 1:
        options["groups"] = NamedColumn(options["groups"], ids["groups"][0])
    if weights:
        options["sample_weight"] = _number_column(columns, weights[0])
    labels = getattr(call, "labels", None)
    if labels and y_true is not None:
        read = {systems[name][0]: cells for name, cells in predictions.items() if reads_labels}
        labels = _labels_of_option(labels, {call.y_true: y_true, **read}, y_true)
    if call.pos_label is not None and y_true is not None:
        options["pos_label"] = _label_of_option(call.pos_label, y_true)
    if labels is not None and y_true is not None:
        options["labels"] = labels
    if threshold is not None and y_true is not None:
        predictions = _labels_by_threshold(call, systems, y_true, predictions, options)
    if reads_labels and y_true is not None and y_true.ndim != 2:
        for name, cells in predictions.items():
            # Of others the metric says what it reads instead.
            reads = cells.ndim != 2 and not _are_real(cells)
            if reads and set(y_true.tolist()).isdisjoint(cells.tolist()):
                raise BadCall(
                    f"column {systems[name][0]!r} shares no label with column {call.y_true!r}: "
                    f"row 1 has {_first(cells)!r} and {_first(y_true)!r}"
                )
    return FileRows(y_true, predictions, options)


# What reads a table by the end of its file's name.
_READ = {
    ".csv": "read_csv({})",
    ".tsv": "read_table({})",
    ".tab": "read_table({})",
    ".parquet": "read_parquet({})",
    ".jsonl": "read_json({}, lines=True)",
    ".ndjson": "read_json({}, lines=True)",
}


def _pivot_of_file(
    call: Namespace, system: str, names: Sequence[str], needed: Sequence[str]
) -> str:
    """Advise how a long table gets a column for each system, which is a value of one of its own.

    "" where no column holds the name of the system, or none the rows that each system has.
    """
    how = _READ.get(Path(call.file).suffix.lower())
    try:
        cells = {name: np.asarray(read_columns(call.file, [name])[name]) for name in names}
    except BadCall:
        return ""
    cells = {name: array for name, array in cells.items() if array.ndim == 1}
    models = [name for name, array in cells.items() if system in set(map(str, array.tolist()))]
    if how is None or len(models) != 1:
        return ""
    [model] = models
    columns_left = [name for name in names if name in needed]
    for row in (name for name in cells if name not in (model, *columns_left)):
        n_rows = len(cells[row])
        labels = cells[row].tolist()
        pairs = set(zip(labels, cells[model].tolist(), strict=True))
        values = [name for name in names if name not in (row, model, *columns_left)]
        if len(pairs) == n_rows > len(set(labels)) and values:
            index = [row, *columns_left] if columns_left else row
            how = how.format(repr(call.file))
            return (
                f". It is a value of {model!r}. A long table gets a column for each system by "
                f"pandas.{how}.pivot(index={index!r}, columns={model!r}, "
                f"values={values[-1]!r}).to_csv('wide.csv')"
            )
    return ""


def metrics_of(call: Namespace) -> Any:
    """Return the metrics of a call; those of costs as functions that have their options.

    Parameters
    ----------
    call : Namespace
        The call.

    Returns
    -------
    str, list of str and callable, or None
        As typed where it gives no such option.

    Raises
    ------
    BadCall
        If a metric takes no such option, or lacks one that it needs.
    """
    names = getattr(call, "metric", None)
    typed = {name: getattr(call, name, None) for name in ("priors", "costs", "relative")}
    options: dict[str, Any] = {
        name: value for name, value in typed.items() if value not in (None, False)
    }
    if len(options.get("priors", ())) == 1:
        share = options["priors"][0]
        if not 0 <= share <= 1:
            must = "must be a share of positives in [0, 1], or that of each class"
            raise BadCall(f"--priors {must}. Got {share:g}")
        options["priors"] = [1 - share, share]
    if costs := options.get("costs"):
        n_classes = round(len(costs) ** 0.5)
        if len(costs) == 2:
            costs, n_classes = [0.0, *costs, 0.0], 2
        if len(costs) != n_classes**2 or n_classes < 2:
            raise BadCall(
                "--costs must be those of a false positive and of a false negative, or of each "
                f"decision for each true class (4, 9, ... numbers). Got {len(costs)}"
            )
        # Results name them: whole numbers as such.
        costs = [int(cost) if cost == int(cost) else cost for cost in costs]
        options["costs"] = np.reshape(np.array(costs, object), (n_classes, n_classes)).tolist()
    metrics: list[Any] = []
    for name in name_list(names or (["accuracy"] if options else [])):
        function = _function_of_costs(name)
        parameters = {} if function is None else inspect.signature(function).parameters
        needed = {
            option
            for option, parameter in parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
        }
        if missing := sorted(needed - set(options)):
            raise BadCall(
                f"--metric {name!r} needs the share of positives where the system will be used: "
                f"--{missing[0]} 0.01. Add --relative for the normalized cost"
            )
        if options and function is None:
            listed = " and ".join(f"--{option}" for option in options)
            raise BadCall(
                f"{listed} go with metrics of costs, such as --metric expected_cost or "
                f"minimum_detection_cost, and {name!r} is none of them"
            )
        if untaken := [option for option in options if option not in parameters]:
            raise BadCall(f"--{untaken[0]} is no option of --metric {name!r}")
        metrics.append(name if function is None else partial(function, **options))
    return metrics if any(callable(metric) for metric in metrics) else names


def _function_of_costs(metric: str) -> Callable[..., float] | None:
    """Return the function of `skboot.metrics` with options of costs that a name means."""
    plain = re.sub(r"[\s-]+", "_", metric.lower())
    named = re.search(r"skboot\.metrics\.(\w+)", CALLABLES.get(plain, ""))
    function: Callable[..., float] | None
    function = getattr(metrics_package, named[1] if named else plain, None)
    if not callable(function) or "priors" not in inspect.signature(function).parameters:
        return None
    return function


def name_list(names: Any) -> list[str]:
    """Return the names that an option gives, as a list."""
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _responses_of_metrics(call: Namespace) -> set[str]:
    """Kinds of predictions that the metrics read: labels, scores, probabilities or values."""
    return {statistic.response for statistic in _statistics(call)}


def _statistics(call: Namespace, pos_label: Any = None) -> list[Statistic]:
    """The metrics of a call; refused are those that no name gives.

    They are functions of Python, or means of values of rows.
    """
    metrics, better = call.metric or ["accuracy"], call.greater_is_better
    for metric in name_list(metrics):
        advice = without_name(metric) if isinstance(metric, str) else ""
        if advice.startswith(AS_MEAN):
            raise BadCall(
                f"--metric {metric!r} has no name, being a mean over rows. Compute the value of "
                "each row, and give --metric mean --y-pred COLUMN of these"
            )
        if advice:
            raise BadCall(f"--metric {metric!r} needs Python. {advice}")
    statistics, _ = resolve_metrics(
        metrics, labels=None, greater_is_better=better, pos_label=pos_label
    )
    return list(statistics.values())


# ------------------------------------------------------------------ truth and predictions


def _truth_and_predictions(
    call: Namespace, columns: CellsByName, systems: Mapping[str, Sequence[str]], responses: set[str]
) -> tuple[Array | None, dict[str, Array]]:
    """Return the truth and the predictions, typed together where these are labels."""
    # Predictions that are one value a row, not a probability of each class.
    alone = {
        name: names[0]
        for name, names in systems.items()
        if len(names) == 1 and np.ndim(columns[names[0]]) == 1
    }
    stacked = {
        name: np.column_stack([_number_column(columns, column) for column in names])
        for name, names in systems.items()
        if name not in alone
    }
    truth = name_list(call.y_true)
    if stacked or "labels" not in responses:
        typed: dict[str, Array] = {name: _number_column(columns, name) for name in alone.values()}
        for name in truth:
            # Values are compared; labels of text are right beside scores and probabilities.
            typed[name] = (_number_column if responses == {"values"} else _column_array)(
                columns, name
            )
            if not alone or typed[name].dtype.kind != "U":
                continue
            cells = typed[name].tolist()
            defined = [cell for cell in cells if not _is_missing(cell)]
            if len(defined) < len(cells) and _read_numbers(defined) is not None:
                raise BadCall(_not_a_number(name, cells))
            labels = positive_options(typed[name])
            if labels and call.pos_label is None:
                raise BadCall(
                    f"column {name!r} holds text. Give the label that large scores stand for: "
                    f"{labels}"
                )
    else:
        together = {name: columns[name] for name in [*truth, *alone.values()]}
        typed = _columns_of_one_type(together, getattr(call, "labels", None))
    predictions = {
        name: stacked[name] if name in stacked else typed[alone[name]] for name in systems
    }
    return (None if call.y_true is None else typed[call.y_true]), predictions


def positive_options(labels: Array) -> str:
    """Return the options that name either of two labels as the positive one; "" of others."""
    names = map(str, np.unique(labels).tolist())
    options = [f"--pos-label {shlex.quote(name)}" for name in names]
    return " or ".join(options) if len(options) == 2 else ""


def _columns_of_one_type(columns: CellsByName, labels: Sequence[str] | None) -> dict[str, Array]:
    """Return numbers if all cells are numbers, else text; refuse columns of different kinds."""
    # Whether all cells are as they are written, or text.
    are_text = all(isinstance(cells, list) or cells.dtype.kind == "U" for cells in columns.values())
    if labels is not None and _read_numbers(list(labels)) is None and are_text:
        return {name: np.array(cells) for name, cells in columns.items()}
    numbers = {name: _read_numbers(cells) for name, cells in columns.items()}
    texts = [name for name, values in numbers.items() if values is None]
    if not texts:
        return {name: values for name, values in numbers.items() if values is not None}
    if all(name in texts or _are_truth_values(columns[name]) for name in columns):
        # "true" and "false" are labels beside a third one.
        return {name: np.array(cells) for name, cells in columns.items()}
    text, numeric = texts[0], next(name for name in columns if name not in texts)
    real = [name for name, values in numbers.items() if values is not None and _are_real(values)]
    if any(
        _distinct_values(columns[text]).isdisjoint(_distinct_values(columns[name])) for name in real
    ):
        # Scores: the metric says what it reads instead.
        return {name: _column_array(columns, name) for name in columns}
    if isinstance(columns[text], np.ndarray):
        cell = _start_of_cell(str(columns[text][0]))
        raise BadCall(
            f"column {text!r} holds text, such as {cell!r} in row 1, and column "
            f"{numeric!r} holds numbers. Write both as numbers, or both as text"
        )
    raise BadCall(
        f"{_not_a_number(text, columns[text])}, and column {numeric!r} holds numbers. If these are "
        "labels, name them all: --labels"
    )


def _are_truth_values(cells: Cells) -> bool:
    """Whether all cells are written True or False."""
    return isinstance(cells, list) and {cell.lower() for cell in set(cells)} <= _TRUTH_VALUES


def _distinct_values(cells: Cells) -> set[Any]:
    return set(cells if isinstance(cells, list) else cells.ravel().tolist())


def _read_numbers(cells: Cells) -> Array | None:
    """Return cells as numbers; None if one of them is none."""
    if isinstance(cells, np.ndarray):
        return cells if cells.dtype.kind in "biuf" else None
    if _are_truth_values(cells):
        # As files that know types hold them.
        return np.array([cell.lower() == "true" for cell in cells])
    if "_" in "".join(cells):
        # Python reads 1_000 as a number.
        return None
    try:
        return np.fromiter(map(int, cells), np.int64, len(cells))
    except OverflowError:
        # Beside floats integers of this size would merge; text keeps them apart.
        return None
    except ValueError:
        pass
    try:
        numbers = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _not_a_number(name: str, cells: Cells) -> str:
    if isinstance(cells, np.ndarray):
        # A file that knows types holds text or numbers in a column, not both.
        row, cell = 0, str(cells[0])
    else:
        row, cell = next((k, cell) for k, cell in enumerate(cells) if _read_numbers([cell]) is None)
    missing = " (a missing value: leave its row out)" if _is_missing(cell) else ""
    return f"column {name!r}, row {row + 1}: {_start_of_cell(cell)!r} is not a number{missing}"


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in _MISSING


def _start_of_cell(cell: str, most: int = 40) -> str:
    """Return the start of a long cell: a message is one line."""
    return cell if len(cell) <= most else f"{cell[:most]}..."


def _column_array(columns: CellsByName, name: str) -> Array:
    """Return a column typed by itself."""
    numbers = _read_numbers(columns[name])
    return np.array(columns[name]) if numbers is None else numbers


def _number_column(columns: CellsByName, name: str) -> Array:
    """Return a column that must hold numbers."""
    numbers = _read_numbers(columns[name])
    if numbers is None:
        raise BadCall(_not_a_number(name, columns[name]))
    return numbers


# ------------------------------------------------------------------ labels


def _label_of_option(text: str, y_true: Array) -> Any:
    """Return a label that was typed as an option, of the kind of the truth."""
    if y_true.dtype.kind == "U":
        return text
    number = _read_numbers([text])
    if number is None:
        raise BadCall(f"the label {text!r} is not a number, and the truth holds numbers")
    return number[0].item()


def _labels_by_threshold(
    call: Namespace,
    systems: Mapping[str, Sequence[str]],
    y_true: Array,
    predictions: Mapping[str, Array],
    options: dict[str, Any],
) -> dict[str, Array]:
    """Return the positive label where a score is at least the threshold, else the negative one."""
    labels, positive = np.unique(y_true), options.get("pos_label")
    if len(labels) != 2:
        raise BadCall(f"--threshold needs two labels, and column {call.y_true!r} has {len(labels)}")
    if positive is None and labels.tolist() not in ([0, 1], [-1, 1]):
        named_labels = positive_options(y_true)
        raise BadCall(f"--threshold needs the label that large scores stand for: {named_labels}")
    two_labels = labels if positive is None or labels[1] == positive else labels[::-1]
    if note_on_unused_positive(_statistics(call, positive), positive):
        # It has named the label that large scores stand for, and no metric takes it.
        del options["pos_label"]
    for name, cells in predictions.items():
        if cells.ndim != 1 or cells.dtype.kind not in "biuf":
            got = ", ".join(systems[name])
            raise BadCall(f"--threshold needs one column of numbers, and got {got}")
    return {
        name: two_labels[(cells >= call.threshold).astype(np.intp)]
        for name, cells in predictions.items()
    }


def _labels_of_option(named: Sequence[str], columns: Mapping[str, Array], y_true: Array) -> Array:
    """Return labels that were typed as an option; refuse cells that are none of them."""
    labels = np.array([_label_of_option(text, y_true) for text in named])
    for name, cells in columns.items():
        is_none = ~np.isin(cells, labels)
        # Of two columns or more the function says what they must hold.
        if cells.ndim == 1 and is_none.any():
            row = int(np.argmax(is_none))
            raise BadCall(
                f"column {name!r}, row {row + 1}: {_first(cells[row:])!r} is none of the --labels"
            )
    return labels


def _are_real(cells: Array) -> bool:
    return cells.dtype.kind == "f" and not np.all(cells == np.round(cells))


def needs_threshold(call: Namespace, rows: FileRows) -> bool:
    """Whether scores stand where a metric reads labels."""
    are_scores = any(cells.ndim == 1 and _are_real(cells) for cells in rows.predictions.values())
    return are_scores and "labels" in _responses_of_metrics(call)


def _first(cells: Array) -> Any:
    value = cells[0].item()
    return _start_of_cell(value) if isinstance(value, str) else value


def _id_column(columns: CellsByName, names: Sequence[str]) -> Array:
    """Return names of groups and the like: numbers where no two that differ would become one."""
    typed = []
    for name in names:
        cells, numbers = columns[name], _read_numbers(columns[name])
        if numbers is not None and not isinstance(cells, np.ndarray):
            numbers = numbers if len(set(cells)) == len(set(numbers.tolist())) else None
        typed.append(numbers)
    kinds = {values.dtype.kind for values in typed if values is not None}
    # Beside floats, and of both signs beside unsigned ones, large integers would merge.
    if any(values is None for values in typed) or len(kinds - {"b"}) > 1:
        typed = [np.array(columns[name], dtype=str) for name in names]
    arrays = [values for values in typed if values is not None]
    return arrays[0] if len(arrays) == 1 else np.column_stack(arrays)
