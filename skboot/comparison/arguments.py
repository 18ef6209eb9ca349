"""Arguments that functions which compare share: systems by name, reference, adjustment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from .. import _checks as check
from .._inputs import Rows, checked_rows
from ..inference.differences import DIFFERENCE_METHODS, PROBLEMS
from ..inference.intervals import ALTERNATIVES
from ..metrics.statistic import Statistic

ADJUSTMENTS = ("max-t", "holm")


def check_interval(interval: Any, caller: str) -> None:
    """Accept the name of an interval that a difference can have."""
    if isinstance(interval, str) and interval in PROBLEMS:
        raise check.fail(
            caller,
            "interval",
            "be one that a paired difference has",
            f"{interval!r}, which {PROBLEMS[interval]}",
            f"Known: {['auto', *DIFFERENCE_METHODS]}.",
        )
    check.check_choice("interval", interval, caller, ["auto", *DIFFERENCE_METHODS])


def check_adjust(adjust: Any, caller: str) -> None:
    """Accept the name of an adjustment, or None."""
    if adjust is not None and adjust not in ADJUSTMENTS:
        must = "be 'max-t', 'holm' or None"
        advice = "Use adjust='max-t' for simultaneous intervals."
        raise check.fail(caller, "adjust", must, repr(adjust), advice)


def check_alternative(alternative: Any, caller: str) -> None:
    """Accept the name of an alternative."""
    check.check_choice("alternative", alternative, caller, ALTERNATIVES)


def check_reference(reference: Any, systems: Mapping[str, Any], caller: str) -> None:
    """Accept the name of a system, or None."""
    if reference is not None and reference not in list(systems):
        raise check.fail(caller, "reference", f"be None or one of {list(systems)}", repr(reference))


def check_directions(statistics: Mapping[str, Mapping[str, Statistic]], caller: str) -> None:
    """Refuse metrics of which it is not known whether larger values are better."""
    for metric, by_system in statistics.items():
        if any(statistic.greater_is_better is None for statistic in by_system.values()):
            must = f"be known with the metric {metric!r}"
            advice = "Give greater_is_better=True or False: a verdict needs to know what is better."
            raise check.fail(caller, "greater_is_better", must, "None", advice)


def checked_names(y_preds: Any, caller: str, noun: str = "system") -> dict[str, Any]:
    """Predictions by name, at least two; a data frame counts as its columns."""
    if hasattr(y_preds, "columns") and hasattr(y_preds, "__getitem__"):
        y_preds = {name: y_preds[name] for name in y_preds.columns}
    return named_values("y_preds", y_preds, caller, "predictions", noun, "bootstrap_score")


def named_columns(y_preds: Any) -> list[Any]:
    """Return the predictions of each system as they were given, those of a data frame as well."""
    if isinstance(y_preds, Mapping):
        return list(y_preds.values())
    return [y_preds]


def named_values(
    argument: str, values: Any, caller: str, what: str, noun: str, for_one: str
) -> dict[str, Any]:
    """Check a dict of what is compare_pairs, at least two."""
    if not isinstance(values, Mapping):
        must = f"be a dict of the {what} of each {noun} by its name"
        advice = f"Use {{'A': {what}_a, 'B': {what}_b}}."
        raise check.fail(caller, argument, must, type(values).__name__, advice)
    named = {str(name): own for name, own in values.items()}
    if len(named) != len(values):
        raise check.fail(caller, argument, "have keys that differ as text", f"{list(values)}")
    if len(named) < 2:
        advice = f"For one {noun} use {for_one}."
        raise check.fail(caller, argument, f"hold at least two {noun}s", f"{len(named)}", advice)
    return named


def checked_systems(
    y_true: ArrayLike | None,
    y_preds: Any,
    sample_weight: ArrayLike | None,
    labels: ArrayLike | None,
    caller: str,
) -> dict[str, Rows]:
    """Rows of each system, of one length; they share the truth and the weights."""
    rows: dict[str, Rows] = {}
    if isinstance(y_true, Mapping):
        raise check.fail(
            caller,
            "y_true",
            "be of shape (n_samples,)",
            "a dict",
            "For systems on different test sets use paired=False.",
        )
    named = checked_names(y_preds, caller)
    arguments = {name: f"y_preds[{name!r}]" for name in named}
    columns = {name: check.check_rows(arguments[name], named[name], caller) for name in named}
    first = next(iter(named))
    for name, predicted in columns.items():
        if len(predicted) != len(columns[first]):
            raise check.fail(
                caller,
                arguments[name],
                f"have as many rows as {arguments[first]}",
                f"{len(predicted)} rows and {len(columns[first])} rows",
                "Row order is what pairs them; an index is never used. For systems on different "
                "test sets use paired=False, with y_true by system.",
            )
    for name, values in named.items():
        if name == first:
            rows[name] = checked_rows(
                y_true, values, sample_weight, labels, caller, arguments[name]
            )
        else:
            rows[name] = rows[first].beside(columns[name], caller, arguments[name])
    return rows
