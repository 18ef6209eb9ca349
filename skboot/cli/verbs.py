"""Each verb: the call of a public function, and what is to be said of its result."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._base.errors import BadArgument, arguments_named, parts_of, warn_user
from .._base.reading import BadCall
from ..metrics.cells import check_two_columns
from ..results.rendering import Table
from ..results.result import plain
from ..results.wording import counted
from .columns import Rows, needs_threshold, positive_options, rows_of


class Answer(NamedTuple):
    """What came out of a call.

    Attributes
    ----------
    title : str
        Of a page.
    shown : tuple of EvaluationResult, ComparisonResult, Ranks, ...
        What writes itself as HTML; the first also as Markdown and LaTeX.
    text : str
        In plain text.
    record : dict
        All numbers, ready for JSON.
    facts : list of tuple of str
        What the call itself says, as label and text.
    picture : callable
        Draws it, and returns the display.
    settings : EvaluationResult, ComparisonResult, ... or None
        What holds the settings and the versions.
    statement : str
        The verdict in words; empty without one.
    tables : tuple of Table
        In the place of those of what is shown, in Markdown and LaTeX.
    sentences : tuple of str
        Claims that what is shown does not hold itself.
    code : int
        Exit code.
    warns : bool
        Whether the verdict is to be said as a warning.
    """

    title: str
    shown: tuple[Any, ...]
    text: str
    record: dict[str, Any]
    facts: list[tuple[str, str]]
    picture: Callable[[], Any]
    settings: Any
    statement: str = ""
    tables: tuple[Table, ...] = ()
    sentences: tuple[str, ...] = ()
    code: int = 0
    warns: bool = False


def answer_of(asked: Namespace) -> Answer:
    """Carry out a call.

    Parameters
    ----------
    asked : Namespace
        What the parser made of it.

    Returns
    -------
    Answer
        To be printed.
    """
    return _VERBS[asked.verb](asked)


# ------------------------------------------------------------------ one function per verb


def _score(asked: Namespace) -> Answer:
    from ..evaluation import bootstrap_score
    from ..results import ResultTable

    systems = getattr(asked, "systems", None)
    rows = _rows(asked, systems)
    results = {}
    for name, predicted in rows.predictions.items():
        with arguments_named({"y_pred": f"systems[{name!r}]"} if systems else {}):
            results[name] = _called(bootstrap_score, asked, rows, predicted)
    shown = ResultTable(results) if systems else next(iter(results.values()))
    answer = _of_result(asked, rows, shown)
    if isinstance(shown, ResultTable):
        answer = answer._replace(sentences=tuple(shown.claim().splitlines()))
    return answer


def _compare(asked: Namespace) -> Answer:
    from ..comparison import compare_systems

    rows = _rows(asked, asked.systems)
    _check_systems(rows)
    if asked.reference is not None and asked.reference not in rows.predictions:
        listed = ", ".join(rows.predictions)
        raise BadCall(f"--reference {asked.reference!r} is none of the systems: {listed}")
    shown = _called(compare_systems, asked, rows, rows.predictions, reference=asked.reference)
    return _of_result(asked, rows, shown)


# Exit codes of verdicts, and of open ones as told.
_CODES = {"pass": 0, "fail": 1, "inconclusive": 3, "warn": 0}


def _gate(asked: Namespace) -> Answer:
    from ..comparison import compare_systems
    from ..comparison.asked import copy_of_truth
    from ..results.comparison import verdict_table
    from ..study.rows import Rows as InMemory

    if asked.candidate == asked.reference:
        raise BadCall("--candidate and --reference are the same column")
    rows = _rows(asked, [asked.candidate, asked.reference])
    _check_direction(asked)
    shown = _called(compare_systems, asked, rows, rows.predictions, adjust=None)
    verdict = shown.pairs[0].verdict(asked.margin)
    candidate = InMemory(rows.y_true, rows.predictions[asked.candidate], None, None)
    for note in copy_of_truth(asked.candidate, candidate, "caution"):
        warn_user(note.text)
    answer = _of_result(asked, rows, shown)
    outcome = verdict.outcome
    if outcome == "inconclusive" and asked.inconclusive is not None:
        outcome = asked.inconclusive
    record = plain(vars(verdict) | {"interval": verdict.interval.to_dict()}, for_json=True)
    return answer._replace(
        text=f"{verdict.statement}\n\n{answer.text}",
        record=answer.record | {"verdict": record},
        statement=verdict.statement,
        tables=(verdict_table(shown, verdict),),
        code=_CODES[outcome],
        warns=outcome == "warn",
    )


def _rank(asked: Namespace) -> Answer:
    from ..comparison import compare_systems
    from ..plots import RankDisplay

    rows = _rows(asked, asked.systems)
    _check_systems(rows)
    _check_direction(asked)
    result = _called(compare_systems, asked, rows, rows.predictions)
    ranks, answer = result.ranks(), _of_result(asked, rows, result)
    may_be_best = ", ".join(result.top())
    return answer._replace(
        shown=(ranks, result),
        text=str(ranks),
        record=answer.record | {"ranks": ranks.to_dict()},
        facts=[("may be the best", may_be_best), *answer.facts],
        picture=lambda: RankDisplay.from_result(result),
    )


def _curve(asked: Namespace) -> Answer:
    from ..curves import bootstrap_curve

    rows = _rows(asked, asked.systems, of_scores=True)
    predicted = rows.predictions if asked.systems else next(iter(rows.predictions.values()))
    shown = _called(bootstrap_curve, asked, rows, predicted, curve=asked.curve)
    return _of_result(asked, rows, shown)


def _plan(asked: Namespace) -> Answer:
    from ..planning import plan_evaluation

    pilot, answer = _pilot(asked)
    plan = plan_evaluation(
        pilot,
        half_width=asked.half_width,
        difference=asked.difference,
        margin=asked.margin,
        power=asked.power,
        confidence_level=asked.confidence_level,
        proportion=asked.proportion,
    )
    return Answer(
        title=plan._heading(),
        shown=(plan,),
        text=plan.summary(),
        record=plan.to_dict(),
        facts=[] if answer is None else answer.facts,
        picture=plan.plot,
        settings=None if answer is None else answer.settings,
    )


def _check(asked: Namespace) -> Answer:
    from ..results.printed import check_table

    shown = check_table(
        asked.file, n=asked.n, decimals=asked.decimals, confidence_level=asked.confidence_level
    )
    return Answer(
        title=f"{shown._heading()} ({Path(asked.file).name})",
        shown=(shown,),
        text=shown.summary(),
        record=shown.to_dict(),
        facts=[("file", asked.file)],
        picture=shown.plot,
        settings=shown,
    )


def _pilot(asked: Namespace) -> tuple[Any, Answer | None]:
    """Return the pilot of a plan, a result or a pair, and what is said of it; None without one."""
    if asked.file is None and asked.proportion is None:
        raise BadCall("FILE is missing, or --proportion in its place")
    if asked.file is not None and asked.proportion is not None:
        raise BadCall("--proportion replaces FILE: give one of them")
    if asked.file is None:
        _check_no_columns(asked)
        return None, None
    if asked.candidate is None and asked.reference is None:
        for name in ("difference", "margin"):
            if getattr(asked, name) is not None:
                raise BadCall(f"--{name} needs a pair: --candidate and --reference")
        if asked.y_pred is None:
            raise BadCall("--y-pred is missing, or --candidate and --reference")
        answer = _score(asked)
        return answer.settings, answer
    if asked.y_pred is not None or None in (asked.candidate, asked.reference):
        raise BadCall("a pair needs --candidate and --reference, and no --y-pred")
    from ..comparison import compare_systems

    rows = _rows(asked, [asked.candidate, asked.reference])
    result = _called(compare_systems, asked, rows, rows.predictions, adjust=None)
    return result.pairs[0], _of_result(asked, rows, result)


def _check_no_columns(asked: Namespace) -> None:
    columns = ("y_true", "y_pred", "candidate", "reference", "weights", "groups", "strata")
    for name in (*columns, "average_over", "block_length"):
        if getattr(asked, name) is not None:
            raise BadCall(f"--{name.replace('_', '-')} belongs to a FILE, and there is none")


_VERBS: dict[str, Callable[[Namespace], Answer]] = {
    "score": _score,
    "compare": _compare,
    "gate": _gate,
    "rank": _rank,
    "curve": _curve,
    "plan": _plan,
    "check": _check,
}


# ------------------------------------------------------------------ steps


def _rows(asked: Namespace, systems: list[str] | None, *, of_scores: bool = False) -> Rows:
    """Read the rows of a call, for several systems or for one."""
    if asked.file is None:
        # An option that takes several columns takes a file behind it for one of them.
        raise BadCall(f"FILE is missing: it comes first, as in skboot {asked.verb} FILE ...")
    if asked.y_true is None and (of_scores or _listed(asked.metric) != ["mean"]):
        raise BadCall("--y-true is missing: the column of the truth (--metric mean needs none)")
    metrics = _listed(getattr(asked, "metric", None))
    if metrics == ["mean"] and asked.y_true is not None:
        raise BadCall("--metric mean is that of a column of values: leave --y-true out")
    for metric in metrics:
        if metrics.count(metric) > 1:
            raise BadCall(f"--metric {metric!r} is named twice")
    if asked.same_population and len(asked.groups or ()) != 2:
        raise BadCall("--same-population needs two columns: --groups COLUMN COLUMN")
    if systems is None:
        return rows_of(asked, {"": asked.y_pred}, of_scores=of_scores)
    repeated = next((name for name in systems if systems.count(name) > 1), None)
    if repeated is not None:
        raise BadCall(f"the column {repeated!r} is named twice as a system")
    return rows_of(asked, {name: [name] for name in systems}, of_scores=of_scores)


def _listed(metric: str | list[str] | None) -> list[str]:
    return [] if metric is None else [metric] if isinstance(metric, str) else metric


def _called(
    function: Callable[..., Any], asked: Namespace, rows: Rows, predicted: Any, **options: Any
) -> Any:
    """Call a public function, and put its errors into the words of the command line."""
    try:
        _check_classes(rows, predicted)
        return function(rows.y_true, predicted, **_options(asked, rows), **options)
    except ValueError as error:
        bad = parts_of(error)
        if bad is None:
            raise
        raise bad._replace(
            name=_option(bad, asked), advice=_advice(bad, asked, rows)
        ).error() from None


def _check_classes(rows: Rows, predicted: Any) -> None:
    """Refuse two columns of numbers in [0, 1] that are hardly probabilities of both classes."""
    is_column = rows.y_true is not None and rows.y_true.ndim == 1
    if is_column and np.ndim(predicted) == 2 and predicted.min() >= 0 and predicted.max() <= 1:
        check_two_columns("y_pred", predicted, "be a column, or probabilities of each class")


def _option(bad: BadArgument, asked: Namespace) -> str:
    """Return the argument as it was given: that of a system by the option that names this one."""
    argument, bracket, system = bad.name.partition("[")
    if argument not in ("y_pred", "y_preds", "y_score") or not bracket:
        return bad.name
    given = (name for name in ("candidate", "reference") if "systems" not in asked)
    option = next((name for name in given if f"{getattr(asked, name)!r}]" == system), "systems")
    return f"{option}[{system}"


def _advice(bad: BadArgument, asked: Namespace, rows: Rows) -> str:
    """Return what to give on the command line, where a function advises something of Python."""
    if bad.name.startswith("y_pred") and needs_threshold(asked, rows):
        return "Give --threshold 0.5, or a metric of scores, such as --metric roc_auc."
    names = getattr(asked, "y_pred", None) or ()
    if bad.name == "y_pred" and len(names) > 1:
        systems = f"--systems {shlex.join(names)}"
        if "systems" not in asked:
            systems = "--candidate {} --reference {}".format(*map(shlex.quote, names))
        return f"{bad.advice} For the predictions of several systems give {systems}."
    if bad.name != "y_true" or rows.y_true is None or asked.pos_label is not None:
        return bad.advice
    options = positive_options(rows.y_true)
    return f"Name the positive label: {options}." if options else bad.advice


def _options(asked: Namespace, rows: Rows) -> dict[str, Any]:
    """Return the options of the public function: those of the columns, and those of the call."""
    options = {
        name: getattr(asked, name, None)
        for name in (
            "block_length",
            "greater_is_better",
            "n_resamples",
            "confidence_level",
            "first_look",
        )
    }
    metric = _listed(getattr(asked, "metric", None))
    options["metric"] = metric[0] if len(metric) == 1 else metric or None
    options["interval"] = getattr(asked, "interval", None)
    options["same_population"] = asked.same_population or None
    given = {name: value for name, value in options.items() if value is not None}
    return given | rows.options | {"random_state": asked.seed}


def _check_systems(rows: Rows) -> None:
    if len(rows.predictions) < 2:
        raise BadCall("--systems needs two columns or more; for one use skboot score")


def _check_direction(asked: Namespace) -> None:
    if _listed(asked.metric) == ["mean"] and asked.greater_is_better is None:
        raise BadCall("--metric mean: say --greater-is-better or --smaller-is-better")


def _of_result(asked: Namespace, rows: Rows, shown: Any) -> Answer:
    """Return what is said of a result, a comparison or a table of them."""
    settings = shown
    while isinstance(settings, Mapping):
        settings = next(iter(settings.values()))
    facts = [
        ("file", f"{asked.file}, {counted(rows.n_samples, 'row')}"),
        ("seed", str(asked.seed)),
    ]
    if getattr(asked, "y_pred", None):
        facts.insert(1, ("scored", ", ".join(asked.y_pred)))
    if asked.pos_label is not None:
        facts.insert(1, ("positive label", asked.pos_label))
    if getattr(asked, "threshold", None) is not None:
        facts.insert(1, ("threshold", f"{asked.threshold:g}: scores from it on are positive"))
    return Answer(
        title=f"{shown._heading()} ({Path(asked.file).name})",
        shown=(shown,),
        text=shown.summary(),
        record=shown.to_dict(),
        facts=facts,
        picture=shown.plot,
        settings=settings,
    )
