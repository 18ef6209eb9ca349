"""Systems on test sets of their own: each with rows, groups and resamples of its own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from .._base import checks as check
from .._base.values import in_order_of_content
from .._base.work import child_seed
from ..study.rows import Rows, Sampling, Scoring, Wanted, checked_rows, measured_by
from ..study.study import Study, study_of
from .arguments import arguments_of, check_reference, checked_names
from .asked import Asked

# Key of the first system's stream below the seed of the call; blocks of one plan have smaller keys.
_OWN_STREAMS = (1 << 31) + 1
# Arguments that hold a column for each system.
_COLUMNS = ("groups", "strata", "average_over", "sample_weight")
# What pairs of rows are needed for, and what to do instead.
_NEEDS_PAIRS = {
    "tango": "which needs both systems on the same rows",
    "logit-delong": "which needs both systems on the same rows",
    "anytime": "which needs both systems on the same rows",
    "bca": "which needs both systems without each row",
}


def _check_unpaired(interval: str, sampling: Sampling) -> None:
    """Refuse what needs both systems on the same rows."""
    if sampling.by is not None:
        must, advice = "be None with paired=False", "Compare each subgroup by itself."
        raise check.fail("by", must, "subgroups", advice)
    if sampling.block_length is not None:
        must = "be None with paired=False"
        advice = "Compare systems on the same rows, or resample whole series by groups."
        raise check.fail("block_length", must, repr(sampling.block_length), advice)
    if interval in _NEEDS_PAIRS:
        got = f"{interval!r}, {_NEEDS_PAIRS[interval]}"
        advice = "Use interval='expanded' or 'auto'."
        must = "be one for systems on different rows with paired=False"
        raise check.fail("interval", must, got, advice)


def studies_of_each(
    y_true: Any,
    y_preds: Any,
    scoring: Scoring,
    sampling: Sampling,
    asked: Asked,
    wanted: Wanted,
) -> dict[str, Study]:
    """Return the study of each system, in an order that does not depend on the call.

    Parameters
    ----------
    y_true, y_preds : mapping of str to array-like
        By system.
    scoring : Scoring
    sampling : Sampling
        Whose columns are given by system, too.
    asked : Asked
    wanted : Wanted
        Of each system.
    """
    _check_unpaired(asked.interval, sampling)
    named = checked_names(y_preds)
    truths = _by_name("y_true", y_true, named)
    columns = {name: _by_name(name, getattr(sampling, name), named) for name in _COLUMNS}
    rows = {}
    for name, predicted in named.items():
        weights = columns["sample_weight"][name]
        with _columns_of(name):
            rows[name] = checked_rows(
                truths[name], predicted, weights, scoring.labels, f"y_preds[{name!r}]"
            )
    check_reference(asked.reference, rows)
    of_truth = {f"y_preds[{name!r}]": f"y_true[{name!r}]" for name in rows}
    scores, places = measured_by(scoring, arguments_of(rows), of_truth)
    seed = check.check_seed(sampling.random_state)
    settings = scoring.settings | asked.settings | {"paired": False}
    studies = {}
    for rank, name in enumerate(_sorted_by_rows(rows)):
        own = sampling._replace(
            **{key: of_each[name] for key, of_each in columns.items()},
            random_state=child_seed(seed, _OWN_STREAMS + rank),
            system=name,
        )
        answers = {f"y_true[{name!r}]": truths[name], f"y_preds[{name!r}]": named[name]}
        of_system = {metric: {name: every[name]} for metric, every in scores.items()}
        with _columns_of(name):
            studies[name] = study_of((of_system, places), own, answers, wanted, settings)
    _check_same_tasks(studies)
    return studies


def _sorted_by_rows(rows: Mapping[str, Rows]) -> list[str]:
    """Return the names in an order that they do not decide, unless rows are the same."""
    by_name = {name: rows[name] for name in sorted(rows)}
    return in_order_of_content(
        {name: (own.y_true, own.y_pred, own.sample_weight) for name, own in by_name.items()}
    )


def _columns_of(name: str) -> AbstractContextManager[None]:
    """Say in errors of which system the rows are."""
    own = ("y_true", *_COLUMNS)
    return check.arguments_named({each: f"{each}[{name!r}]" for each in own})


def _by_name(argument: str, values: Any, y_preds: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is given for each system; None for all where nothing is given."""
    if values is None:
        return dict.fromkeys(y_preds)
    must = "be a dict with the names of y_preds with paired=False"
    if not isinstance(values, Mapping):
        got = type(values).__name__
        raise check.fail(argument, must, got, "Each system has rows of its own.")
    named = {str(name): own for name, own in values.items()}
    if set(named) != set(y_preds):
        raise check.fail(argument, must, f"{list(named)} beside {list(y_preds)}")
    return named


def _check_same_tasks(studies: Mapping[str, Study]) -> None:
    """Refuse averages over different tasks unless the tasks are drawn: the tasks would differ."""
    names = [set(study.tasks.names) for study in studies.values() if study.tasks is not None]
    if len({frozenset(own) for own in names}) < 2:
        return
    averaged = [
        one.statistic
        for study in studies.values()
        for own in study.by_plan()
        for by_system in own.scores.values()
        for [one] in by_system.values()
    ]
    if all(own.parts == "drawn" for own in averaged):
        return
    lacking = sorted(map(str, set.union(*names) - set.intersection(*names)))
    must = "name the same tasks for each system"
    advice = "Give groups=<the tasks> to resample whole tasks, for a claim about new tasks."
    got = f"tasks that some of them lack: {', '.join(lacking[:3])}"
    raise check.fail("average_over", must, got, advice)
