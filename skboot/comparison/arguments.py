"""Arguments of a comparison, checked: systems by name, their pairs, interval and adjustment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from .._base import checks as check
from .._base.arguments import Anytime
from .._base.errors import Note, NoteKind, only_advises
from .._base.typing import ArrayLike
from ..inference.differences import DIFFERENCE_METHODS, PROBLEMS
from ..inference.intervals import (
    ALTERNATIVES,
    checked_interval,
    method_of,
)
from ..metrics.statistic import Statistic
from ..results.comparison import check_below_range
from ..study.rows import Rows, checked_rows, rows_of

ADJUSTMENTS = ("max-t", "holm")


@dataclass(frozen=True)
class ComparisonOptions:
    """Options of a comparison, for all its differences.

    Attributes
    ----------
    interval : str
        "auto" or the name of a method.
    adjust : {"max-t", "holm", "bonferroni", None}
        How to adjust for the number of pairs.
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "greater", "less"}
        Alternative of the first minus the second.
    reference : str or None
        The system that all others are compared with; None: all pairs.
    looks : Anytime or None
        The first of the looks that the intervals shall hold at; ``interval`` is then "anytime", and
        that of each system holds at them, too.
    """

    interval: str
    adjust: str | None
    confidence_level: float
    alternative: str = "two-sided"
    reference: str | None = None
    looks: Anytime | None = None

    @property
    def with_ranks(self) -> bool:
        """Whether the pairs are all there are, so that the systems can be ranked by them."""
        all_pairs = self.reference is None and self.alternative == "two-sided"
        return self.adjust in ("max-t", "bonferroni") and all_pairs

    @property
    def settings(self) -> dict[str, Any]:
        """The options as results hold them."""
        settings = {name: value for name, value in vars(self).items() if name != "looks"}
        return settings if self.looks is None else settings | vars(self.looks)


def checked_params(params: Any, groups: Any) -> tuple[Any, dict[str, Any]]:
    """Return the groups, which may be among the parameters, and the other parameters."""
    if params is None:
        return groups, {}
    if not isinstance(params, Mapping):
        advice = "Use params={'sample_weight': weights}."
        raise check.fail("params", "be a dict of parameters by name", type(params).__name__, advice)
    if groups is not None and "groups" in params:
        raise check.fail("groups", "be given once", "groups= and params['groups']")
    further = {name: value for name, value in params.items() if name != "groups"}
    return params.get("groups", groups), further


def checked_options(
    interval: Any,
    adjust: Any,
    confidence_level: Any,
    alternative: Any,
    reference: Any,
    by: Any = None,
) -> ComparisonOptions:
    """Accept the names of an interval that a difference has, an adjustment and an alternative.

    The name of the reference is checked with those of the systems.
    """
    check_adjust(adjust)
    level = check.check_confidence_level(confidence_level)
    interval = checked_interval(interval, ["auto", *DIFFERENCE_METHODS], PROBLEMS, by=by)
    check.check_choice("alternative", alternative, ALTERNATIVES)
    if not isinstance(interval, Anytime):
        return ComparisonOptions(interval, adjust, level, alternative, reference)
    if adjust == "holm":
        advice = "Use adjust='max-t', which is Bonferroni's rule there, or None."
        raise check.fail("adjust", "not be 'holm', which needs p-values", "'holm'", advice)
    adjust = adjust and "bonferroni"
    return ComparisonOptions(method_of(interval), adjust, level, alternative, reference, interval)


def check_adjust(adjust: Any) -> None:
    """Accept the name of an adjustment, or None."""
    if adjust is not None and not check.is_among(adjust, ADJUSTMENTS):
        must = "be 'max-t', 'holm' or None"
        advice = "Use adjust='max-t' for simultaneous intervals."
        raise check.fail("adjust", must, repr(adjust), advice)


def check_reference(reference: Any, names: Iterable[str | None]) -> None:
    """Accept the name of a system, where one is given."""
    if not check.is_among(reference, list(names)):
        raise check.fail("reference", f"be None or one of {list(names)}", repr(reference))


def check_judged(margin: float, statistics: Mapping[str, Sequence[Statistic]]) -> None:
    """Refuse a margin of at least the range of a metric, and metrics of an unknown direction."""
    for metric, by_system in statistics.items():
        for statistic in by_system:
            check_below_range("margin", margin, metric, statistic.bounds)
        if any(statistic.greater_is_better is None for statistic in by_system):
            must = f"be known with the metric {metric!r}"
            advice = "Give greater_is_better=True or False: a verdict needs to know what is better."
            raise check.fail("greater_is_better", must, "None", advice)


@only_advises()
def copy_of_truth_note(name: str, rows: Rows, kind: NoteKind) -> list[Note]:
    """Return the note of a system that equals the truth on every row; none of others."""
    if not rows.are_truth:
        return []
    return [
        Note(
            kind,
            f"{name} equals the truth on every row. That may be right on easy data; make sure that "
            "it is not a copy of the truth.",
        )
    ]


def constant_answers_note(name: str, run_rows: Sequence[Rows]) -> list[Note]:
    """Return the note of a system of which each run answers the same for every row; else none."""
    if not all(rows.are_constant for rows in run_rows):
        return []
    text = f"{name} gives the same answer for every row, so it tells no rows apart."
    return [Note("advice", text)]


def checked_names(
    values: Any,
    noun: str = "system",
    argument: str = "y_preds",
    values_noun: str = "predictions",
    for_one: str = "bootstrap_score",
) -> dict[str, Any]:
    """Check a dict of what is compared, at least two; a data frame of predictions is one, too."""
    if (
        values_noun == "predictions"
        and hasattr(values, "columns")
        and hasattr(values, "__getitem__")
    ):
        if advice := check.pivot_of(values):
            got = f"a table of {', '.join(map(repr, values.columns))}"
            raise check.fail(argument, "have a column for each system", got, advice)
        values = {name: values[name] for name in values.columns}
    if not isinstance(values, Mapping):
        must = f"be a dict of the {values_noun} of each {noun} by its name"
        advice = f"Use {{'A': {values_noun}_a, 'B': {values_noun}_b}}."
        raise check.fail(argument, must, type(values).__name__, advice)
    by_name = {str(name): value for name, value in values.items()}
    if len(by_name) != len(values):
        raise check.fail(argument, "have keys that differ as text", f"{list(values)}")
    if len(by_name) < 2:
        advice = f"For one {noun} use {for_one}."
        raise check.fail(argument, f"hold at least two {noun}s", f"{len(by_name)}", advice)
    return by_name


def checked_systems(
    y_true: ArrayLike | None,
    y_preds: Any,
    sample_weight: ArrayLike | None,
    labels: ArrayLike | None,
    *,
    are_arguments: bool = False,
) -> dict[str, Rows]:
    """Rows of each system, of one length; they share the truth and the weights."""
    rows: dict[str, Rows] = {}
    if isinstance(y_true, Mapping):
        raise check.fail(
            "y_true",
            "be of shape (n_samples,)",
            "a dict",
            "For systems on different test sets use paired=False.",
        )
    y_preds_by_name = checked_names(y_preds)
    arguments = {name: name if are_arguments else f"y_preds[{name!r}]" for name in y_preds_by_name}
    columns = {
        name: check.check_answers(arguments[name], y_pred)
        for name, y_pred in y_preds_by_name.items()
    }
    leading = next(iter(y_preds_by_name))
    for name, predicted in columns.items():
        if len(predicted) != len(columns[leading]):
            way = "compare_systems with paired=False" if are_arguments else "paired=False"
            raise check.fail(
                arguments[name],
                f"have as many rows as {arguments[leading]}",
                f"{check.counted(len(predicted), 'row')} and "
                f"{check.counted(len(columns[leading]), 'row')}",
                "Row order is what pairs them; an index is never used. For systems on different "
                f"test sets use {way}, with y_true by system.",
            )
    for name, values in y_preds_by_name.items():
        if name == leading:
            rows[name] = checked_rows(y_true, values, sample_weight, labels, arguments[name])
        else:
            shared = rows[leading]
            rows[name] = rows_of(
                shared.y_true, columns[name], shared.sample_weight, shared.labels, arguments[name]
            )
    return rows


def pairs_of(names: Iterable[str], reference: str | None) -> list[tuple[str, str]]:
    """All pairs in the order of the call, or each other system with the reference."""
    names = list(names)
    if reference is None:
        return list(combinations(names, 2))
    return [(name, reference) for name in names if name != reference]
